"""The figure of the first screen: what users feel under each discipline, as bars with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from mayfly.comparison.user_metrics import MEASURES, Measure, measured
from mayfly.show.palette import Style
from mayfly.show.plots import Bar, Figure, Panel, bar_panels
from mayfly.text.readable import MISSING, time_text

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow


def felt_figure(rows: Sequence[DisciplineRow], styles: Mapping[str, Style]) -> Figure | None:
    """Bars of short transfers, ping, pages and long transfers; of the classes' means where none of these was measured.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary (docs/tables.md).
    styles : mapping of Style
        By label, in the order of the bars.

    Returns
    -------
    Figure or None
        Panels of what the run had traffic for; None where nothing was measured at all.
    """
    panels = [panel for measure in MEASURES if measure.pictured and (panel := _panel(measure, rows))]
    if panels:
        caption = (
            "What users feel, lower is better: 95 % of the pings, transfers and pages take no longer. Lines: 95 % "
            "intervals. Short: at most 100 kB; long: above 1 MB, or the largest 1 %."
        )
        return bar_panels("felt", "What users feel", caption, panels, styles)
    panels = [panel for name in ("short", "long") if (panel := _means(name, rows))]
    caption = "Mean response time of completed transfers, lower is better. Lines: 95 % intervals."
    return bar_panels("felt", "Short and long flows", caption, panels, styles) if panels else None


def _panel(measure: Measure, rows: Sequence[DisciplineRow]) -> Panel | None:
    found = {row["label"]: measured(row, measure) for row in rows}
    known = {label: own for label, own in found.items() if own is not None}
    return _timed(measure.title, {label: (own.value, own.ci95, own.unfinished) for label, own in known.items()})


def _means(name: Literal["short", "long"], rows: Sequence[DisciplineRow]) -> Panel | None:
    found = {row["label"]: (row[name]["mean_s"], row[name]["ci95"], False) for row in rows if row[name]["flows"]}
    return _timed(f"{name} flows, mean", found)


Timed = Mapping[str, tuple[float | None, Sequence[float] | None, bool]]


def _timed(title: str, found: Timed) -> Panel | None:
    """A panel of times, in the unit of the longest."""
    values = [value for value, _, _ in found.values() if value is not None]
    if not values:
        return None
    scale, unit = (1e3, "ms") if max(values) < 1 else (1.0, "s")
    scaled: Callable[[Sequence[float]], list[float]] = lambda ends: [end * scale for end in ends]  # noqa: E731
    bars = {
        label: Bar(
            None if value is None else value * scale,
            time_text(value) if value is not None else "never ends" if unfinished else MISSING,
            None if ci95 is None or value is None else scaled(ci95),
        )
        for label, (value, ci95, unfinished) in found.items()
    }
    return Panel(f"{title} ({unit})", bars)
