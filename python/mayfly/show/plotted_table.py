"""A table of a page whose rows choose what the plots show."""

from collections.abc import Iterable
from html import escape

from mayfly.show.palette import Style

_DASHES = {"solid": "", "dash": "6 3", "dot": "2 2", "dashdot": "6 2 2 2"}

Cell = tuple[str, float | None, str]
"""What is shown, what it is sorted by, and whether it is the best or the worst."""


def framed(heads: Iterable[str], lines: Iterable[str]) -> str:
    """Write the table that the page's script sorts, with headings and lines in HTML."""
    shown = "".join(
        f'<th scope="col" aria-sort="none"><button type="button" class="sort">{name}</button></th>' for name in heads
    )
    return (
        f'<div class="scroll"><table id="disciplines"><thead><tr>{shown}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def line(label: str, style: Style, cells: Iterable[Cell], family: str = "", plotted: bool = True) -> str:
    """Write a line of the table, with the box that puts its name into the plots."""
    label = escape(label)
    checked = " checked" if plotted else ""
    return (
        f'<tr data-discipline="{label}" data-family="{escape(family)}"><th scope="row"><span class="who">'
        f'<input type="checkbox" autocomplete="off"{checked} aria-label="plot {label}">{_swatch(style)}'
        f'<button type="button" class="name" aria-pressed="false">{label}</button></span></th>'
        f"{''.join(map(_cell, cells))}</tr>"
    )


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
    known = "" if value is None else f' data-value="{value:.9g}"'
    return f"<td{known}{f' class={mark}' if mark else ''}>{text}</td>"
