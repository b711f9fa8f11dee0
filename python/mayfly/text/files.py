"""Files that appear under their name only when complete, and who is writing what."""

import contextlib
import errno
import fcntl
import glob
import os
import secrets
import shutil
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.text.readable import printable


@contextmanager
def complete(path: str | os.PathLike[str], *, clear: bool = True) -> Iterator[Path]:
    """A file to write beside ``path``, which takes its name at the end; nothing is left when writing fails.

    The file is on the disk before it takes its name: a power cut leaves all of it or nothing.

    Parameters
    ----------
    path : path
        Name of the complete file.
    clear : bool
        Whether to remove what killed processes left of the same file, which looks through the whole folder.

    Yields
    ------
    pathlib.Path
        To be written. Nobody can guess the name: in a folder that others may write it is no link that they laid.

    Raises
    ------
    OSError
        The place cannot be written.
    """
    path = Path(path)
    # Short enough for any name that a file system takes.
    short = f".{path.name[:40]}."
    partial = path.with_name(f"{short}{secrets.token_hex(8)}.partial")
    if clear:
        clear_abandoned(path.parent, f"{glob.escape(short)}{'[0-9a-f]' * 16}.partial")
    UNFINISHED.add(partial)
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        with in_use(partial):
            yield partial
            flushed(partial)
            partial.replace(path)
            flushed(path.parent)
    finally:
        partial.unlink(missing_ok=True)
        UNFINISHED.discard(partial)


@contextmanager
def when_complete(path: str | os.PathLike[str]) -> Iterator[Path]:
    """As :func:`complete`, for a file that the user named: what fails is one line.

    Parameters
    ----------
    path : path
        Name of the complete file.

    Yields
    ------
    pathlib.Path
        To be written.

    Raises
    ------
    MayflyError
        The place cannot be written.
    """
    try:
        with complete(path) as partial:
            yield partial
    except Exception as error:
        if not isinstance(error, (OSError, *_of_tables())):
            raise
        raise MayflyError(f"{printable(path)}: cannot be written: {first_line(error)}") from None


def _of_tables() -> tuple[type[Exception], ...]:
    """Errors of the library for tables, where something has imported it."""
    return (sys.modules["polars"].exceptions.PolarsError,) if "polars" in sys.modules else ()


LARGEST_TEXT = 10 << 20
"""Bytes of a file that a person writes: a scenario, a sweep, a workload."""


def bounded_text(path: Path, most: int = LARGEST_TEXT) -> str:
    """Text of a file that a person wrote: one that is larger, or never ends, is refused before it fills the memory.

    Parameters
    ----------
    path : Path
    most : int
        Bytes at most, 10 MiB when not given.

    Returns
    -------
    str

    Raises
    ------
    OSError
        It cannot be read.
    ValueError
        It is larger, or no UTF-8.
    """
    with path.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise ValueError(f"longer than {most:,} bytes")
    return content.decode("utf-8")


def first_line(error: BaseException) -> str:
    """Cut the complaint of a library to its first line."""
    return printable((str(error).strip().splitlines() or [type(error).__name__])[0])


@contextmanager
def reading(source: str) -> Iterator[None]:
    """What fails while a file is read, its compression included, becomes one line.

    Parameters
    ----------
    source : str
        What messages call the file.

    Raises
    ------
    MayflyError
        The file cannot be read.
    """
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise MayflyError(f"{source}: cannot be read: {first_line(error)}") from None


@contextmanager
def without_panics() -> Iterator[None]:
    """Damage that polars did not foresee is an error like the one it did.

    Its native code panics then: it prints a trace to standard error, and raises what is no exception of polars, nor an
    ``Exception`` at all. Standard error is closed meanwhile, so only the reading itself belongs inside.

    Raises
    ------
    polars.exceptions.ComputeError
        The native code panicked.
    """
    from polars.exceptions import ComputeError, PanicException

    told = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    except PanicException as error:
        raise ComputeError(f"damaged: {first_line(error)}") from None
    finally:
        os.dup2(told, 2)
        os.close(told)
        os.close(nowhere)


UNFINISHED: set[Path] = set()
"""Files and folders that are being written: whoever ends the process at once removes them."""


REMOVALS = 5
"""How often the removal of a folder is tried."""


def remove_unfinished() -> None:
    """Removes what is half written, in whatever thread."""
    for path in list(UNFINISHED):
        # Another thread may put files into a folder meanwhile.
        for _ in range(REMOVALS):
            if not path.is_dir():
                path.unlink(missing_ok=True)
                break
            shutil.rmtree(path, ignore_errors=True)


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
