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

    Returns
    -------
    str
        HTML.
    """
    data = [{"key": plot.key, "data": plot.data, "layout": page.LAYOUT | plot.layout} for plot in plots]
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(about)}</p>',
        f'<div class="answer">{"".join(f"<p>{escape(text)}.</p>" for text in sentences)}</div>',
        *(page.place(plot.key, page.LAYOUT["height"], plot.title, plot.caption) for plot in plots),
        '<footer class="soft">Made by Mayfly.</footer>',
    ]
    return page.document(title, body, data)


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
