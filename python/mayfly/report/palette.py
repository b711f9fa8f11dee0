"""One colour, dash and symbol per discipline, the same in every plot; readable on white and on black."""

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


@dataclass(frozen=True)
class Style:
    """How the traces of one discipline look."""

    colour: str
    dash: str
    symbol: str

    def faint(self, alpha: float) -> str:
        """Give the colour an opacity in [0, 1], as CSS."""
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{alpha:g})"


def styles(labels: list[str]) -> dict[str, Style]:
    """Style of each label, by its place; above ten, colours return with another dash.

    Examples
    --------
    >>> styles(["fifo", "efd"])["efd"].dash
    'solid'
    """
    return {
        label: Style(
            _COLOURS[place % len(_COLOURS)],
            _DASHES[place // len(_COLOURS) % len(_DASHES)],
            _SYMBOLS[place % len(_SYMBOLS)],
        )
        for place, label in enumerate(labels)
    }
