"""A series with its plots: a table, or one HTML page that opens without a network."""

import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import polars as pl

from mayfly.show import page
from mayfly.show.plots import Figure
from mayfly.text.folder import filled

POINTS = 2000
"""Most points of a curve that is drawn."""


def series_page(title: str, about: str, sentences: Sequence[str], plots: Sequence[Figure]) -> str:
    """Make the page as a string.

    Parameters
    ----------
    title : str
        Plain text.
    about : str
        What is shown, plain text.
    sentences : sequence of str
        The answer in words, without full stops.
    plots : sequence of Figure
        The first leads the page.

    Returns
    -------
    str
        HTML.
    """
    lead, others = page.leading(plots[0]), plots[1:]
    body = [
        f"<h1>{escape(title)}</h1>",
        page.answer(sentences),
        page.place_of(lead, leads=True),
        f'<p class="soft">{escape(about)}</p>',
        *map(page.place_of, others),
        '<footer class="soft">Made by Mayfly.</footer>',
    ]
    return page.document(title, body, [page.for_script(plot) for plot in (lead, *others)])


def write_series(path: str | os.PathLike[str], series: Callable[[], pl.DataFrame], document: Callable[[], str]) -> Path:
    """Write a series; the file appears under its name when it is complete.

    Parameters
    ----------
    path : path-like
        Ends in ``.csv`` for the series as a table, else a page; its folder is created when absent.
    series, document : callable
        What makes the table, and the page.

    Returns
    -------
    pathlib.Path
        ``path``.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    path = Path(path)
    with filled(path.parent, [path.name]) as partial:
        if path.suffix == ".csv":
            series().write_csv(partial / path.name)
        else:
            page.write(partial / path.name, document())
    return path
