"""Figures of a paper drawn from runs of ours: one HTML file that opens without a network."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import polars as pl

from mayfly.show import page
from mayfly.show.palette import Style, styles
from mayfly.show.plots import axis, figures_of, shown
from mayfly.show.plotted_table import framed, line
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.exhibits import cited

Points = Sequence[float] | np.ndarray | pl.Series
"""Coordinates of a curve."""


@dataclass(frozen=True)
class Curve:
    """A line or a cloud of points.

    Parameters
    ----------
    kind : str
        What it is, in the words of the legend; of one colour in all figures, and shown and hidden in all at once.
    about : str
        The same in a sentence.
    x, y : sequence of float, numpy.ndarray or polars.Series
        Of one length; what is not finite is left out.
    points : bool
        Drawn as points, else as a line.
    half : sequence of float
        Half the width of the interval of each y; empty where there are none.
    """

    kind: str
    about: str
    x: Points
    y: Points
    points: bool = False
    half: Points = ()


@dataclass(frozen=True)
class Figure:
    """A figure.

    Parameters
    ----------
    key : str
        Of letters, digits and dashes, unique on its page.
    title, caption : str
        Head, and what there is to see.
    x, y : str
        Titles of the axes.
    curves : tuple of Curve
        Points first: lines are drawn over them.
    logarithms : bool or str
        Of both axes; ``x`` or ``y``: of that one.
    source : str
        What it draws, as claims cite it: ``Chen 2012, Fig. 5.3``.
    places : tuple of str
        Names of x = 0, 1, ...; the curves are bars then.
    """

    key: str
    title: str
    caption: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    logarithms: bool | str = True
    source: str = ""
    places: tuple[str, ...] = ()

    @property
    def exhibits(self) -> list[str]:
        """Figures of the catalogue that it draws, by id."""
        return cited(self.source)


@dataclass(frozen=True)
class Drawn:
    """Figures of a page that are drawn together.

    Parameters
    ----------
    source : str
        What it draws when everything that it needs is there, as claims cite it.
    make : callable
        Measured numbers, or None, to figures.
    """

    source: str
    make: Callable[[Runs | None], Iterable[Figure]]

    @property
    def exhibits(self) -> list[str]:
        """Figures of the catalogue that it draws, by id."""
        return cited(self.source)

    @classmethod
    def of_own_runs(cls, source: str, make: Callable[[], Iterable[Figure]]) -> "Drawn":
        """Figures that have runs of their own, whatever the page has measured."""
        return cls(source, lambda runs: make())

    def __call__(self, runs: Runs | None = None) -> list[Figure]:
        """Draw them.

        Parameters
        ----------
        runs : Runs, optional
            Of the page, so that nothing is simulated twice that the claims measured; its own otherwise.

        Returns
        -------
        list of Figure
            In order; fewer where a capture is not there.
        """
        return list(self.make(runs))


def figures_page(title: str, figures: Sequence[Figure]) -> str:
    """Make the page as a string.

    Parameters
    ----------
    title : str
        Of the page.
    figures : sequence of Figure
        In order.

    Returns
    -------
    str
        HTML.
    """
    kinds = {curve.kind: curve.about for figure in figures for curve in figure.curves}
    colours = styles(list(kinds))
    plots = plots_of(figures)
    lines = [line(kind, colours[kind], [(escape(about), None, "words")]) for kind, about in kinds.items()]
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<h2>Curves</h2>{framed(('curve', 'what it is'), lines)}",
        '<p class="soft">The box before a name puts it into the plots; a click on its row brings it out.</p>',
        *(page.place(p.key, page.LAYOUT["height"], p.title, p.caption) for p in figures),
        '<footer class="soft">Made by Mayfly. Click a name in a legend to hide or show it in every plot.</footer>',
    ]
    return page.document(title, body, plots)


def plots_of(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Plots of a page, a colour for each kind of curve.

    Parameters
    ----------
    figures : sequence of Figure
        In order.

    Returns
    -------
    list of dict
        As :func:`mayfly.show.page.document` takes them.
    """
    colours = styles(list(dict.fromkeys(curve.kind for figure in figures for curve in figure.curves)))
    return [{"key": p.key, "data": _traces(p, colours), "layout": page.LAYOUT | _layout(p)} for p in figures]


def _layout(figure: Figure) -> dict[str, Any]:
    def values(name: str) -> list[float | None]:
        return [value for curve in figure.curves for value in figures_of(getattr(curve, name))]

    titles = {"xaxis": figure.x, "yaxis": figure.y}
    found = {name: axis(title, figure.logarithms in (True, name[0]), values(name[0])) for name, title in titles.items()}
    if figure.places:
        ticks = {"tickmode": "array", "tickvals": list(range(len(figure.places)))}
        found["xaxis"] = axis(figure.x) | ticks | {"ticktext": [shown(name) for name in figure.places]}
    return found | {"showlegend": True}


def _traces(figure: Figure, colours: dict[str, Style]) -> list[dict[str, Any]]:
    return [_trace(curve, colours[curve.kind], bool(figure.places)) for curve in figure.curves]


def _trace(curve: Curve, style: Style, bars: bool) -> dict[str, Any]:
    pairs = list(zip(figures_of(curve.x), figures_of(curve.y), strict=True))
    kept = [pair for pair in pairs if None not in pair]
    look: dict[str, Any] = {"line": {"color": style.colour, "dash": style.dash, "width": style.width}}
    # A line of one point is none.
    points = curve.points or len(kept) == 1
    if points:
        look = {"marker": {"color": style.faint(0.45), "size": 4, "symbol": style.symbol}}
    kind: dict[str, Any] = {"type": "scatter", "mode": "markers" if points else "lines"}
    if bars:
        kind, look = {"type": "bar"}, {"marker": {"color": style.colour}}
    if len(curve.half):
        halves = zip(figures_of(curve.half), pairs, strict=True)
        look["error_y"] = {"array": [half for half, pair in halves if None not in pair], "thickness": 1, "width": 3}
    return (
        kind
        | {
            "name": shown(curve.kind),
            "meta": curve.kind,
            "legendgroup": curve.kind,
            "x": [x for x, _ in kept],
            "y": [y for _, y in kept],
            "hovertemplate": "%{x:.4~g}: %{y:.4~g}",
        }
        | look
    )
