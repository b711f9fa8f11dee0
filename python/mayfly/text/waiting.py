"""Folders for what does not fit into memory: nothing of them stays, however the process ends."""

import glob
import tempfile
import time
import weakref
from contextlib import ExitStack
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.text.files import UNFINISHED, clear_abandoned, in_use
from mayfly.text.folder import UNFINISHED_FOLDER

MADE_S = 60.0
"""Within this time a new folder is locked, s: until then nobody takes it for an abandoned one."""


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
            place = Path(tempfile.gettempdir())
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
