"""What users feel, as the summary holds it under ``users``: which figures there are, and how each is read and shown.

The one list of them: terminal, page, first figure, notebook, criteria of the recommendation and the second run with
other hosts all read :data:`MEASURES`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

_SECONDS = {"s": 1.0, "ms": 1e-3}


@dataclass(frozen=True)
class Measure:
    """A figure of what users feel.

    Parameters
    ----------
    id : str
        One word, unique in :data:`MEASURES`.
    key : str
        Of the mapping in ``users``.
    field, interval : str
        Of the figure and of its 95 % interval in that mapping.
    unit : str
        Of both in the summary: ``s``, ``ms``, ``mos``, ``share`` or ``mbps``.
    what : str
        What is measured, in a sentence.
    statistic : str
        Which figure of it: ``95th percentile``.
    head : str
        Of its column in the terminal, a line each; empty where the terminal leaves it out.
    on_page : bool
        Whether the page has a column of it.
    pictured : bool
        Whether the first figure of the page and the notebook draw it.
    """

    id: str
    key: str
    field: str
    interval: str
    unit: str
    what: str
    statistic: str
    head: str = ""
    on_page: bool = True
    pictured: bool = False

    @property
    def is_time(self) -> bool:
        """Whether it is a time, which can be without bound."""
        return self.unit in _SECONDS

    @property
    def title(self) -> str:
        """Head of a column or panel, without a unit.

        Examples
        --------
        >>> MEASURES[0].title
        'short transfers, p95'
        """
        return f"{self.what}, {self._short}"

    @property
    def phrase(self) -> str:
        """The figure within a sentence: ``p95 of short transfers``."""
        return f"{self._short} of {self.what}"

    @property
    def _short(self) -> str:
        return "p95" if self.statistic == "95th percentile" else self.statistic


MEASURES = (
    Measure(
        "short_p95",
        "short",
        "p95_s",
        "p95_ci95",
        "s",
        "short transfers",
        "95th percentile",
        head="short\ntransfers\np95",
        pictured=True,
    ),
    Measure(
        "ping_p95",
        "ping",
        "p95_ms",
        "p95_ci95",
        "ms",
        "ping under load",
        "95th percentile",
        head="ping\nunder load\np95",
        pictured=True,
    ),
    Measure("ping_mean", "ping", "mean_ms", "", "ms", "ping under load", "mean", on_page=False),
    Measure("call_mos", "call", "mos", "mos_ci95", "mos", "call", "MOS", head="call\nMOS"),
    Measure(
        "pages_p95",
        "pages",
        "p95_s",
        "p95_ci95",
        "s",
        "page load",
        "95th percentile",
        head="pages\np95",
        pictured=True,
    ),
    Measure("video_stalled", "video", "stalled_share", "stalled_ci95", "share", "video", "stalled", "video\nstalled"),
    Measure(
        "long_p50",
        "long",
        "p50_s",
        "p50_ci95",
        "s",
        "long transfers",
        "median",
        head="long\ntransfers\nmedian",
        on_page=False,
    ),
    Measure("long_p95", "long", "p95_s", "p95_ci95", "s", "long transfers", "95th percentile", pictured=True),
    Measure("goodput_p50", "downloads", "goodput_mbps_p50", "", "mbps", "downloads", "Mbit/s"),
)
"""In the order of columns and panels."""

BY_ID = {measure.id: measure for measure in MEASURES}


@dataclass(frozen=True)
class Felt:
    """One figure of one discipline.

    Parameters
    ----------
    value : float or None
        Seconds where it is a time, else the unit of the measure; None where a time falls on what never ended.
    ci95 : sequence of float or None
        Its interval, in the same unit.
    """

    value: float | None
    ci95: Sequence[float] | None

    @property
    def unfinished(self) -> bool:
        """Whether it falls on what never ended."""
        return self.value is None


def measured(row: Row, measure: Measure) -> Felt | None:
    """A figure of a row of the summary.

    Parameters
    ----------
    row : mapping
        Of ``disciplines``.
    measure : Measure

    Returns
    -------
    Felt or None
        None where the run had no traffic for it.

    Examples
    --------
    >>> row = {"users": {"ping": {"probes": 9, "p95_ms": 11.0, "p95_ci95": [10.0, 12.0]}}}
    >>> measured(row, BY_ID["ping_p95"])
    Felt(value=0.011, ci95=[0.01, 0.012])
    """
    block = (row.get("users") or {}).get(measure.key) or {}
    value = block.get(measure.field)
    if value is None:
        counted = any(block.get(count) for count in ("probes", "flows", "pages"))
        return Felt(None, None) if measure.is_time and counted else None
    scale = _SECONDS.get(measure.unit, 1.0)
    ends = block.get(measure.interval)
    return Felt(value * scale, None if ends is None or None in ends else [end * scale for end in ends])
