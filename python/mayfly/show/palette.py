"""One colour, dash and symbol per discipline, for good: the same in every report, whatever else is in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

NEUTRAL = "#868b95"
"""Of what belongs to no discipline."""

# Found by search: any two of the first nine, and each against grey, are at least 0.08 apart in OKLab, also as
# protanopes, deuteranopes and tritanopes see them (Machado et al. 2009), and stand out from white and from black.
_GREEN, _BLUE, _OCHRE, _OLIVE, _MAGENTA, _PURPLE, _AZURE, _CRIMSON = (
    "#2d7869",
    "#4b87c3",
    "#c38700",
    "#696900",
    "#ff2df0",
    "#a500d2",
    "#0096ff",
    "#e10f4b",
)
# Of rarer ones, which have a dash and a symbol of their own beside it: at least 0.05 apart.
_VIOLET, _ORANGE, _LILAC = "#782dff", "#c36900", "#785ab4"

_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star", "pentagon", "hexagon")
_OTHERS = (_BLUE, _OCHRE, _CRIMSON, _GREEN, _PURPLE, _MAGENTA, _OLIVE, _AZURE, _VIOLET, _ORANGE)
"""Colours of labels that are no disciplines, in their order."""


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


PALETTE: Mapping[str, Style] = {
    # What the others are compared with is thicker.
    "fifo": Style(NEUTRAL, "solid", "diamond", 3.0),
    # Size-based: circles.
    "las": Style(_CRIMSON, "solid", "circle"),
    "lasack": Style(_CRIMSON, "dash", "circle-open"),
    "lars": Style(_ORANGE, "solid", "hexagon"),
    "srpt": Style(_ORANGE, "dot", "hexagon-open"),
    "ranked": Style(_ORANGE, "dash", "hexagon2-open"),
    "efd": Style(_BLUE, "solid", "pentagon"),
    "efdack": Style(_BLUE, "dash", "pentagon-open"),
    "pefd": Style(_BLUE, "dot", "octagon"),
    "pias": Style(_BLUE, "dashdot", "octagon-open"),
    "run2c": Style(_VIOLET, "solid", "circle-cross"),
    "run2cack": Style(_VIOLET, "dash", "circle-cross-open"),
    "sift": Style(_VIOLET, "dot", "circle-x"),
    "xprotect": Style(_VIOLET, "dashdot", "circle-x-open"),
    "lfq": Style(_GREEN, "solid", "star"),
    "passport": Style(_GREEN, "dash", "star-open"),
    # Fair queueing: squares.
    "fq_codel": Style(_OCHRE, "solid", "square"),
    "fq": Style(_OCHRE, "dash", "square-open"),
    "fq_pie": Style(_OCHRE, "dot", "square-cross"),
    "cake": Style(_OLIVE, "solid", "diamond-tall"),
    "dqfq": Style(_OLIVE, "dash", "diamond-tall-open"),
    "drr": Style(_LILAC, "solid", "square-x"),
    "sfq": Style(_LILAC, "dash", "square-x-open"),
    "scfq": Style(_LILAC, "dot", "square-cross-open"),
    # Processor sharing, which only models have.
    "ps": Style(_LILAC, "dashdot", "square-dot"),
    # Queue management: triangles.
    "codel": Style(_MAGENTA, "solid", "triangle-up"),
    "pie": Style(_PURPLE, "solid", "triangle-down"),
    "dualpi2": Style(_PURPLE, "dash", "triangle-down-open"),
    "red": Style(_AZURE, "solid", "triangle-right"),
    "estmred": Style(_AZURE, "dash", "triangle-right-open"),
    "choke": Style(_AZURE, "dot", "triangle-left"),
}
"""By id of the registry: a row here is never given to another discipline."""

_ID = re.compile(r"[\w-]+")
_SHADES = (0.0, -0.35, 0.2)
"""Of variants of one discipline: towards black, and towards white."""


def styles(labels: Sequence[str]) -> dict[str, Style]:
    """Style of each label, in the order given.

    Parameters
    ----------
    labels : sequence of str
        A discipline, with its options or what ran it: ``efd``, ``efd(threshold=3000)``, ``efd (linux)``; or anything
        else.

    Returns
    -------
    dict of Style
        A discipline has that of `PALETTE`, whatever the order and whatever else is there; what is written with options
        has a shade of its colour and another dash, of several each its own up to a dozen. Other labels have colours
        by their order, those of the disciplines present last; above ten the colours return with another dash.

    Examples
    --------
    >>> styles(["las", "fifo"])["fifo"] == styles(["fifo", "efd"])["fifo"] == PALETTE["fifo"]
    True
    >>> found = styles(["efd", "efd(threshold=3000)"])
    >>> [(style.colour, style.dash) for style in found.values()]
    [('#4b87c3', 'solid'), ('#31587f', 'dash')]
    >>> styles(["ours", "printed"])["printed"].colour
    '#c38700'
    """
    known = {label: name for label in labels if (name := _id(label)) is not None}
    variants: dict[str, int] = {}
    taken = {PALETTE[name].colour for name in known.values()}
    free = sorted(_OTHERS, key=lambda colour: colour in taken)
    # The discipline itself comes first, wherever it stands, then its variants by their names.
    of_known = {}
    for label in sorted(known, key=lambda label: (label != known[label], label)):
        name = known[label]
        place = variants[name] = variants.get(name, -1) + 1
        of_known[label] = _variant(PALETTE[name], place)
    found, others = {}, 0
    for label in labels:
        if label in of_known:
            found[label] = of_known[label]
        elif label not in found:
            dash = _DASHES[others // len(free) % len(_DASHES)]
            found[label] = Style(free[others % len(free)], dash, _SYMBOLS[others % len(_SYMBOLS)])
            others += 1
    return found


def _id(label: str) -> str | None:
    """Id of the discipline a label is about; None when it is about something else."""
    match = _ID.match(label)
    rest = "" if match is None else label[match.end() :]
    return match[0] if match and match[0] in PALETTE and (not rest or rest.startswith(("(", " ("))) else None


def _variant(style: Style, place: int) -> Style:
    if place == 0:
        return style
    first = _DASHES.index(style.dash)
    shade = _SHADES[place % len(_SHADES)]
    return replace(style, dash=_DASHES[(first + place) % len(_DASHES)], colour=_shaded(style.colour, shade))


def _shaded(colour: str, shade: float) -> str:
    """Mix a colour with white, or with black where the share is negative."""
    end = 255 if shade > 0 else 0
    mixed = (round(value + (end - value) * abs(shade)) for value in (int(colour[at : at + 2], 16) for at in (1, 3, 5)))
    return "#" + "".join(f"{value:02x}" for value in mixed)
