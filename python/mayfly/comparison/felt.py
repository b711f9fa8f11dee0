"""What users feel, as the summary holds it under ``users``: which figures there are, and how each is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Measure:
    """A time that users feel.

    Parameters
    ----------
    key : str
        Of the mapping in ``users``.
    name : str
        Of the figure in it, without the unit at its end.
    title : str
        Head of its column and panel, without a unit.
    pictured : bool
        Whether the first figure shows it.
    """

    key: str
    name: str
    title: str
    pictured: bool = False


MEASURES = (
    Measure("ping", "p95", "ping under load, p95", pictured=True),
    Measure("short", "p95", "short transfers, p95", pictured=True),
    Measure("pages", "p95", "page load, p95", pictured=True),
    Measure("long", "p95", "long transfers, p95", pictured=True),
)


@dataclass(frozen=True)
class Felt:
    """One figure of one discipline.

    Parameters
    ----------
    value_s : float or None
        None where the percentile falls on what never ended.
    ci95_s : sequence of float or None
        Its interval.
    unfinished : bool
        Whether it is None for that reason.
    """

    value_s: float | None
    ci95_s: Sequence[float] | None
    unfinished: bool


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
    >>> measured(row, MEASURES[0])
    Felt(value_s=0.011, ci95_s=[0.01, 0.012], unfinished=False)
    """
    own = (row.get("users") or {}).get(measure.key)
    if not own or not any(own.get(count) for count in ("probes", "flows", "pages", "streams")):
        return None
    ending, scale = ("ms", 1e-3) if f"{measure.name}_ms" in own else ("s", 1.0)
    value = own.get(f"{measure.name}_{ending}")
    ends = own.get(f"{measure.name}_ci95")
    in_s = None if ends is None or value is None or None in ends else [end * scale for end in ends]
    return Felt(None if value is None else value * scale, in_s, value is None)
