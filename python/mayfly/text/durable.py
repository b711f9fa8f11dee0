"""What is being written, by whom, and what is on the disk."""

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED: set[Path] = set()
"""Files and folders that are being written: whoever ends the process at once removes them."""


def remove_unfinished() -> None:
    """Removes what is half written, in whatever thread."""
    for path in list(UNFINISHED):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


PATIENCE_S = 10.0
"""What is waited at most for another process: it holds a folder for the moment in which files take their names."""


@contextmanager
def in_use(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Locks a file or folder, so that others see that a process is at work there; a process that dies leaves no lock.

    Parameters
    ----------
    path : Path
    wait : bool
        For whoever has it locked, as long as `PATIENCE_S`.

    Yields
    ------
    bool
        Whether it is locked now: not when it is gone or a symbolic link, another process has it, or the file system
        knows no locks.
    """
    descriptor = None
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor is not None and _locked(descriptor, PATIENCE_S if wait else 0.0)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _locked(descriptor: int, patience_s: float) -> bool:
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.01)
        except OSError:
            return False
        else:
            return True


def clear_abandoned(folder: Path, pattern: str) -> None:
    """Removes what processes that were killed left half-written.

    Parameters
    ----------
    folder : Path
    pattern : str
        Of the names that unfinished files or folders have; one that is in use stays.
    """
    for path in folder.glob(pattern):
        with in_use(path) as abandoned:
            if abandoned and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif abandoned:
                with contextlib.suppress(OSError):
                    path.unlink()


def flushed(path: Path) -> None:
    """Has a file, or the names in a folder, on the disk.

    Parameters
    ----------
    path : Path

    Raises
    ------
    OSError
        It cannot be: the disk is full, or broken.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        # A folder that may be written and not read: what is in it is as safe as it gets there.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        # File systems that know no such thing: what was written is as safe as it gets there.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise
    finally:
        os.close(descriptor)
