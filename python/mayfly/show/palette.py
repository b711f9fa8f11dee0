"""One colour, dash and symbol per discipline, the same in every plot; readable on white and on black."""

from collections.abc import Mapping
from dataclasses import dataclass

_COLOURS = (
    "#4269d0",
    "#e0930f",
    "#e8503f",
    "#2aa38b",
    "#8f5be8",
    "#d6589b",
    "#3f9a48",
    "#4aa3df",
    "#a3704f",
    "#868b95",
)
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star", "pentagon", "hexagon")

# Found by search: any two colours of different families are at least 0.08 apart in OKLab, also as protanopes,
# deuteranopes and tritanopes see them (Machado et al. 2009), blue, orange and pink against grey at least 0.06.
_FAMILIES = {
    "size-based": (("#3f78ff", "#106ed7", "#449ed7"), "circle"),
    "fair queueing": (("#be5a0a", "#d18e45", "#bd7c31"), "square"),
    "queue management": (("#f45bba", "#8e5374", "#a15e9c"), "triangle-up"),
}
_NEUTRAL = (("#868b95",), "diamond")


@dataclass(frozen=True)
class Style:
    """How the traces of one discipline look."""

    colour: str
    dash: str
    symbol: str
    width: float = 2.0

    def faint(self, alpha: float) -> str:
        """Give the colour an opacity in [0, 1], as CSS."""
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{alpha:g})"


def styles(labels: list[str], families: Mapping[str, str] | None = None) -> dict[str, Style]:
    """Style of each label, in the order given.

    Parameters
    ----------
    labels : list of str
    families : mapping of str, optional
        Family of each label. With three families or more, a family has its colours and symbol, and a member its shade
        and dash; otherwise each label has a colour of its own, and above ten these return with another dash.

    Returns
    -------
    dict of Style

    Examples
    --------
    >>> styles(["fifo", "efd"])["efd"].dash
    'solid'
    >>> kinds = {"fifo": "plain", "efd": "size-based", "red": "queue management"}
    >>> styles(list(kinds), kinds)["red"].symbol
    'triangle-up'
    """
    if families is None or len({families[label] for label in labels}) < 3:
        return {
            label: Style(
                _COLOURS[place % len(_COLOURS)],
                _DASHES[place // len(_COLOURS) % len(_DASHES)],
                _SYMBOLS[place % len(_SYMBOLS)],
            )
            for place, label in enumerate(labels)
        }
    found: dict[str, Style] = {}
    members: dict[str, int] = {}
    for label in labels:
        place = members[families[label]] = members.get(families[label], -1) + 1
        colours, symbol = _FAMILIES.get(families[label], _NEUTRAL)
        dash = _DASHES[place // len(colours) % len(_DASHES)]
        open_symbol = "-open" if place % (2 * len(colours)) >= len(colours) else ""
        # The first is what the others are compared with.
        found[label] = Style(colours[place % len(colours)], dash, symbol + open_symbol, 3.0 if not found else 2.0)
    return found
