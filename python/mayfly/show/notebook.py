"""Results in an interpreter and in a notebook: one line each, and a plot with tables that need no script."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mayfly.show.table import Table, html

STYLE = (
    "<style>.mayfly table{border-collapse:collapse;margin:.4em 0}"
    ".mayfly th,.mayfly td{padding:.15em .6em;text-align:right;white-space:pre-line}"
    ".mayfly th:first-child{text-align:left}.mayfly .good{font-weight:bold}.mayfly .scroll{overflow-x:auto}"
    ".mayfly h4{margin:.8em 0 .2em}.mayfly svg{max-width:100%;height:auto}</style>"
)
_WIDE, _NAME, _BAR = 640, 150, 22


class Result:
    """What a result prints in an interpreter, and shows in a notebook.

    A class of this base that is a dataclass is declared with ``repr=False``, since the one of dataclasses would print
    every row of every table.
    """

    def __repr__(self) -> str:
        """Write the name of the class and what it holds, on one line."""
        return f"<{type(self).__name__}: {self._in_short()}>"

    def _in_short(self) -> str:
        fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(self) if dataclasses.is_dataclass(self) else ()
        return ", ".join(f"{field.name} {_held(getattr(self, field.name))}" for field in fields if field.repr)

    def _shown(self) -> list[Any]:
        """Tables, plots as SVG, and sentences, in the order of a notebook."""
        found: list[Any] = []
        if hasattr(self, "tables"):
            found += [table for table in self.tables() if not getattr(table, "page_only", False)]
        elif hasattr(self, "table"):
            found.append(self.table())
        return found + (list(self.sentences()) if hasattr(self, "sentences") else [])

    def _repr_html_(self) -> str:
        """Draw the tables and sentences of the result; no script, nothing loaded from elsewhere."""
        parts = [_drawn(part) for part in self._shown()]
        return f'<div class="mayfly">{STYLE}{"".join(parts)}</div>'


def _held(value: Any) -> str:
    """A value in a few characters: of what is long, how much there is."""
    if hasattr(value, "height") and hasattr(value, "columns"):
        return f"of {value.height:,} rows"
    if getattr(value, "shape", ()):
        return f"of shape {tuple(value.shape)}"
    if dataclasses.is_dataclass(value):
        return f"of {type(value).__name__}"
    if not isinstance(value, str) and isinstance(value, Mapping | Sequence | set):
        return f"of {len(value):,}"
    text = f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


def _drawn(part: Any) -> str:
    if isinstance(part, Table):
        return html(part, level=4)
    if isinstance(part, str):
        return part if part.startswith("<svg ") else f"<p>{escape(part)}</p>"
    return html(_of_terminal(part), level=4)


def _of_terminal(table: Any) -> Table:
    """A table that was made for the terminal, as one for pages."""
    columns = [[_text(cell) for cell in column.cells] for column in table.columns]
    heads = tuple(_text(column.header) for column in table.columns)
    return Table(_text(table.title or ""), heads, tuple(zip(*columns, strict=True)))


def _text(cell: Any) -> str:
    return cell.plain if hasattr(cell, "plain") else str(cell)


@dataclasses.dataclass(frozen=True)
class Bars:
    """One panel of horizontal bars.

    Parameters
    ----------
    title : str
        What is drawn, with its unit.
    values : sequence of (float or None)
        One of each name, at least 0; None leaves a gap.
    intervals : sequence of ((float, float) or None)
        Drawn over the bars.
    texts : sequence of str
        Written behind each bar.
    """

    title: str
    values: Sequence[float | None]
    intervals: Sequence[Sequence[float] | None]
    texts: Sequence[str]


def bars(names: Sequence[str], colours: Sequence[str], panels: Sequence[Bars]) -> str:
    """Draw panels of bars, one below the other, as SVG.

    Parameters
    ----------
    names, colours : sequence of str
        Of the bars of each panel, from the top.
    panels : sequence of Bars

    Returns
    -------
    str
        An ``svg`` element; its text has the colour of the text around it.

    Examples
    --------
    >>> drawn = bars(["fifo"], ["#868b95"], [Bars("ping, ms", [112.0], [(100.0, 120.0)], ["112 ms"])])
    >>> drawn.count("<rect"), "112 ms" in drawn
    (1, True)
    """
    parts, top = [], 0.0
    for panel in panels:
        parts.append(f'<text x="0" y="{top + 16:.0f}" font-weight="bold">{escape(panel.title)}</text>')
        ends = [end for interval in panel.intervals if interval for end in interval]
        drawn = [value for value in (*panel.values, *ends) if value is not None and math.isfinite(value)]
        # A tenth of the width is left for the text behind the longest bar.
        scale = (_WIDE - _NAME - 110) / max(drawn, default=1.0) if max(drawn, default=0.0) > 0 else 0.0
        for place, (name, colour, value, interval, text) in enumerate(
            zip(names, colours, panel.values, panel.intervals, panel.texts, strict=True)
        ):
            line = top + 26 + place * _BAR
            middle, wide = line + 8, 0.0 if value is None else value * scale
            parts.append(f'<text x="{_NAME - 8}" y="{line + 12:.0f}" text-anchor="end">{escape(_cut(name))}</text>')
            if value is not None:
                parts.append(f'<rect x="{_NAME}" y="{line:.0f}" width="{wide:.1f}" height="16" fill="{colour}"/>')
            if interval:
                low, high = (_NAME + max(end, 0.0) * scale for end in interval)
                parts.append(f'<path d="M{low:.1f} {middle:.0f}H{high:.1f}" stroke="currentColor" stroke-width="2"/>')
                wide = max(wide, high - _NAME)
            parts.append(f'<text x="{_NAME + wide + 6:.1f}" y="{line + 12:.0f}">{escape(text)}</text>')
        top += 26 + len(names) * _BAR + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {top:.0f}" width="{_WIDE}" height="{top:.0f}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">{"".join(parts)}</svg>'
    )


def steps(title: str, values: Sequence[float], width_s: float, text: str) -> str:
    """Draw a value of each bin of time as SVG.

    Parameters
    ----------
    title : str
        What is drawn.
    values : sequence of float, shape (n_bins,)
        At least 0.
    width_s : float
        Width of a bin, s.
    text : str
        The largest value with its unit, written at the top.

    Returns
    -------
    str
        An ``svg`` element, as :func:`bars` gives it.

    Examples
    --------
    >>> "M0.0 90.0H310.0L310.0 0.0H620.0" in steps("load", [1.0, 4.0], 5.0, "4 Mbit/s")
    True
    """
    high, each = 120, (_WIDE - 20) / max(len(values), 1)
    scale = high / max(values) if max(values, default=0.0) > 0 else 0.0
    corners = [(at * each, high - value * scale) for at, value in enumerate(values)]
    path = "".join(f"{'L' if left else 'M'}{left:.1f} {top:.1f}H{left + each:.1f}" for left, top in corners)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -26 {_WIDE} {high + 50}" width="{_WIDE}" '
        f'height="{high + 50}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">'
        f'<text x="0" y="-10"><tspan font-weight="bold">{escape(title)}</tspan>, at most {escape(text)}</text>'
        f'<path d="{path}" fill="none" stroke="#4269d0" stroke-width="1.5"/>'
        f'<path d="M0 {high}H{_WIDE - 20}" stroke="currentColor"/><text x="0" y="{high + 18}">0 s</text>'
        f'<text x="{_WIDE - 20}" y="{high + 18}" text-anchor="end">{len(values) * width_s:.4g} s</text></svg>'
    )


def _cut(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:19]}…"
