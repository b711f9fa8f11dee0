"""What is being written, and what is on the disk."""

import errno
import os
import shutil
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
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # File systems that know no such thing: what was written is as safe as it gets there.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise
    finally:
        os.close(descriptor)
