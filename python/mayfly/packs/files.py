"""What the packs have in common: progress over their cases, and the files of a result."""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.simulate.run import Progress
from mayfly.tables import Table
from mayfly.text.folder import filled, write_table


def progress_of(progress: Progress | None, place: int, count: int) -> Progress | None:
    """Progress of one case of so many, told as that of all.

    Parameters
    ----------
    progress : callable, optional
        Called with the fraction done of all.
    place, count : int
        Of the case, from 0, and of all.

    Returns
    -------
    callable or None
        To be called with the fraction done of the case.
    """
    return None if progress is None else partial(_told, progress, place, count)


def _told(progress: Progress, place: int, count: int, fraction: float) -> None:
    progress((place + fraction) / count)


def write_pack(
    folder: str | os.PathLike[str],
    table: pl.DataFrame,
    about: Table,
    summary: Mapping[str, Any],
    pages: Mapping[str, Callable[[], str]] | None = None,
) -> dict[str, str]:
    """Writes the table of a pack, its pages and ``summary.json``.

    Parameters
    ----------
    folder : path
        Created when absent. Files appear under their names only when all are complete.
    table : polars.DataFrame
        The rows.
    about : Table
        What its columns mean; the file has its name.
    summary : mapping
        Gets the paths as ``files``.
    pages : mapping, optional
        Of keys to what makes the HTML of ``KEY.html``.

    Returns
    -------
    dict of str
        Path of each file.

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    pages = pages or {}
    name = f"{about.name}.parquet"
    names = {"table": name, **{key: f"{key}.html" for key in pages}, "summary": "summary.json"}
    files = {key: str(Path(folder) / file) for key, file in names.items()}
    with filled(folder, names.values()) as made:
        write_table(table, made / name, metadata=about.metadata())
        for key, page in pages.items():
            (made / names[key]).write_text(page(), encoding="utf-8")
        text = json.dumps({**summary, "files": files}, indent=1, allow_nan=False)
        (made / names["summary"]).write_text(text + "\n", encoding="utf-8")
    return files
