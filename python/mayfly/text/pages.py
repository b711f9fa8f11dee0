"""Long tables as pages of a file, which the system takes back when it needs memory and reads again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import limits
from mayfly.text.waiting import WaitingFolder

if TYPE_CHECKING:
    import polars as pl

LONG = 1 << 19
"""Rows from which on a table takes so much memory that its pages are worth a file."""


def in_pages(table: pl.DataFrame) -> pl.DataFrame:
    """Move the values of a long table into a file that nobody else sees; a short one stays as it is.

    Parameters
    ----------
    table : polars.DataFrame, shape (n_rows, n_columns)

    Returns
    -------
    polars.DataFrame
        An equal one.

    Raises
    ------
    MayflyError
        The file cannot be written.
    """
    if table.height < LONG:
        return table
    import polars as pl

    empty = [name for name in table.columns if table[name].null_count() == table.height]
    folder = WaitingFolder()
    try:
        pages = _native.Pages(table.drop(empty), os.path.join(folder.name, "pages"))
    except OSError as error:
        raise MayflyError(
            f"{folder.name}: has no room for tables beyond memory, set TMPDIR to another folder: {error}"
        ) from None
    finally:
        # The mapping holds the file as long as there is a row of it.
        folder.cleanup()
    limits.maps_data = True
    found = pl.DataFrame(pages).with_columns(pl.lit(None, table.schema[name]).alias(name) for name in empty)
    return found.select(table.columns)
