"""Folders for what does not fit into memory: nothing of them stays, however the process ends."""

import glob
import os
import tempfile
import time
import weakref
from contextlib import ExitStack
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.text.files import UNFINISHED, clear_abandoned, in_use
from mayfly.text.folder import UNFINISHED_FOLDER

NAMED = ("TMPDIR", "TEMP", "TMP")
"""Variables that say where temporary files are (:func:`tempfile.gettempdir`)."""

ON_DISK = Path("/var/tmp")
"""Where large ones are: in many systems ``/tmp`` is memory (the Filesystem Hierarchy Standard 3.0, 5.15, and systemd's
``file-hierarchy(7)``)."""

MADE_S = 60.0
"""Within this time a new folder is locked, s: until then nobody takes it for an abandoned one."""


def roomy() -> Path:
    """The folder for large temporary files: the one that a variable names, else one on a disk.

    Raises
    ------
    OSError
        There is none.
    """
    named = any(os.environ.get(name) for name in NAMED)
    if not named and ON_DISK.is_dir() and os.access(ON_DISK, os.W_OK | os.X_OK):
        return ON_DISK
    return Path(tempfile.gettempdir())


class WaitingFolder(tempfile.TemporaryDirectory[str]):
    """A folder among the temporary files, which is removed with this object.

    It is removed as well where a limit or a signal ends the process at once. What a process left that was killed is
    removed when the next folder is made, :data:`MADE_S` later at the earliest.

    Raises
    ------
    MayflyError
        There is no folder for temporary files.
    """

    def __init__(self) -> None:
        try:
            place = roomy()
            _clear(place)
            super().__init__(prefix=UNFINISHED_FOLDER, dir=place, ignore_cleanup_errors=True)
        except OSError as error:
            raise MayflyError(f"TMPDIR: no folder for temporary files: {error.strerror or error}") from None
        path, lock = Path(self.name), ExitStack()
        UNFINISHED.add(path)
        lock.enter_context(in_use(path))
        weakref.finalize(self, _given_back, path, lock)


def _given_back(path: Path, lock: ExitStack) -> None:
    lock.close()
    UNFINISHED.discard(path)


def _clear(place: Path) -> None:
    for path in place.glob(f"{UNFINISHED_FOLDER}*"):
        try:
            is_old = time.time() - path.lstat().st_mtime > MADE_S
        except OSError:
            continue
        if is_old:
            clear_abandoned(place, glob.escape(path.name))
