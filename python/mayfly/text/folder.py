"""The folder of a command's files: checked before the work, filled at one stroke after it."""

import errno
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.text.files import UNFINISHED, clear_abandoned, flushed, in_use

if TYPE_CHECKING:
    import polars as pl


UNFINISHED_FOLDER = ".mayfly-unfinished-"
"""How the folder begins that files are written in before they take their names."""


def refuse_unwritable(folder: str | os.PathLike[str]) -> None:
    """Refuses a folder that cannot be made or written, and makes none.

    Parameters
    ----------
    folder : path
        Need not exist.

    Raises
    ------
    MayflyError
        It is a file or lies under one, or the rights are lacking.
    """
    try:
        folder = Path(folder).absolute()
        nearest = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if not nearest.is_dir():
            raise MayflyError(f"{folder}: cannot be written: {nearest} is not a folder")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise MayflyError(f"{folder}: cannot be written: no right to write in {nearest}")
    except (OSError, ValueError) as error:
        raise _refused(folder, error) from None


@contextmanager
def filled(folder: str | os.PathLike[str], names: Iterable[str]) -> Iterator[Path]:
    """A place for files that appear in the folder together, or not at all.

    Parameters
    ----------
    folder : path
        Created when absent; removed again when the body fails and it was.
    names : iterable of str
        The files the body writes.

    Yields
    ------
    pathlib.Path
        Where to write them.

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    folder, partial, done, working = Path(folder), None, False, ExitStack()
    absent = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        with _undisturbed():
            folder.mkdir(parents=True, exist_ok=True)
            with in_use(folder.resolve(), wait=True):
                clear_abandoned(folder, f"{UNFINISHED_FOLDER}*")
                partial = Path(tempfile.mkdtemp(prefix=UNFINISHED_FOLDER, dir=folder))
                UNFINISHED.add(partial)
                working.enter_context(in_use(partial))
        yield partial
        names = list(names)
        if taken := [name for name in names if (folder / name).is_dir()]:
            raise IsADirectoryError(errno.EISDIR, f"{taken[0]} is a folder")
        for name in names:
            flushed(partial / name)
        # Of two commands that end at once, one gives all files their names before the other does.
        with _undisturbed(), in_use(folder.resolve(), wait=True):
            _name(partial, folder, names)
            for path in absent:
                flushed(path.parent)
            done = True
    except (OSError, ValueError) as error:
        raise _refused(folder, error) from None
    finally:
        with _undisturbed():
            if partial is not None:
                shutil.rmtree(partial, ignore_errors=True)
                UNFINISHED.discard(partial)
            working.close()
            for path in () if done else absent:
                with suppress(OSError):
                    path.rmdir()


def _name(partial: Path, folder: Path, names: Iterable[str]) -> None:
    """Gives the files their names; when one of them cannot have its own, all is as it was before."""
    before = partial / ".before"
    before.mkdir()
    replaced: list[tuple[Path, Path]] = []
    try:
        for number, name in enumerate(names):
            path, kept = folder / name, before / str(number)
            with suppress(OSError):
                # File systems without hard links keep the new file.
                os.link(path, kept, follow_symlinks=False)
            there = os.path.lexists(path)
            os.replace(partial / name, path)
            if not there or kept.exists():
                replaced.append((path, kept))
        flushed(folder)
    except OSError:
        for path, kept in reversed(replaced):
            with suppress(OSError):
                if kept.exists():
                    os.replace(kept, path)
                else:
                    path.unlink()
        raise


def write_table(table: "pl.DataFrame", path: str | os.PathLike[str], **how: Any) -> None:
    """Writes a table as Parquet, in the body of :func:`filled`.

    Parameters
    ----------
    table : polars.DataFrame
    path : path
        File to write.
    **how
        As ``polars.DataFrame.write_parquet`` takes it.

    Raises
    ------
    OSError
        It cannot be written.
    """
    from polars.exceptions import PolarsError

    try:
        table.write_parquet(Path(path), **how)
    except PolarsError as error:
        # A full disk is told as a mistake of the computation.
        raise OSError(str(error)) from None


def _refused(folder: str | os.PathLike[str], error: Exception) -> MayflyError:
    reason = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
    return MayflyError(f"{folder}: cannot be written: {reason}")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that would raise wait for the end of the body."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in held:
        signal.signal(number, lambda came_now, _: came.append(came_now))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for first in came[:1]:
            signal.raise_signal(first)
