"""A table of a page whose rows choose what the plots show."""

import math
from collections.abc import Iterable
from html import escape

from mayfly.show.palette import Style

_DASHES = {"solid": "", "dash": "6 3", "dot": "2 2", "dashdot": "6 2 2 2"}

Cell = tuple[str, float | None, str]
"""What is shown, what it is sorted by, and whether it is ``best``, ``worst`` or ``words``, which may be folded."""


def framed(heads: Iterable[str], lines: Iterable[str], chooses: bool = True) -> str:
    """Write a table that the page's script sorts, with headings and lines in HTML.

    Parameters
    ----------
    heads, lines : iterable of str
        HTML; lines are those of :func:`line`, or of :func:`plain_line`.
    chooses : bool
        Whether it is the table of the page whose boxes choose what the plots show.

    Returns
    -------
    str
        HTML.
    """
    which = 'id="disciplines"' if chooses else 'class="sorted"'
    shown = "".join(
        f'<th scope="col" aria-sort="none"><button type="button" class="sort">{name}</button></th>' for name in heads
    )
    return (
        f'<div class="scroll"><table {which}><thead><tr>{shown}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def line(
    label: str, style: Style, cells: Iterable[Cell], family: str = "", plotted: bool = True, marked: bool = False
) -> str:
    """Write a line of the table, with the box that puts its name into the plots, and a star where it is ``marked``."""
    label = escape(label)
    checked = " checked" if plotted else ""
    star = '<span class="star" title="recommended">\u2605</span>' if marked else ""
    return (
        f'<tr data-discipline="{label}" data-family="{escape(family)}"><th scope="row"><span class="who">'
        f'<input type="checkbox" autocomplete="off"{checked} aria-label="plot {label}">{_swatch(style)}'
        f'<button type="button" class="name" aria-pressed="false">{label}</button>{star}</span></th>'
        f"{''.join(map(_cell, cells))}</tr>"
    )


def plain_line(label: str, style: Style, cells: Iterable[Cell]) -> str:
    """Write a line of a table that chooses nothing: the name beside its piece of line, and its cells."""
    name = f'<th scope="row"><span class="who">{_swatch(style)}<span>{escape(label)}</span></span></th>'
    return f"<tr>{name}{''.join(map(_cell, cells))}</tr>"


def _swatch(style: Style) -> str:
    """Draw a piece of the line of a discipline."""
    dash = _DASHES[style.dash]
    broken = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        '<svg class="swatch" width="26" height="10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5" '
        f'stroke="{style.colour}" stroke-width="{style.width + 1:g}"{broken}/></svg>'
    )


def _cell(cell: Cell) -> str:
    text, value, mark = cell
    known = "" if value is None else f' data-value="{"Infinity" if value == math.inf else format(value, ".9g")}"'
    return f"<td{known}{f' class={mark}' if mark else ''}>{text}</td>"
