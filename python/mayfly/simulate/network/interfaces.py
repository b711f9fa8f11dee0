"""Totals of every interface of a network of several links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mayfly.summary_types import Interface

MEANS = ("utilisation", "queue_mean_packets", "nonresponsive_estimate")
"""What is no count."""


def totals(
    interfaces: Sequence[tuple[str, int]], native: Sequence[dict[str, Any]], counters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What each interface did.

    Parameters
    ----------
    interfaces : sequence of tuple
        Name and speed (bit/s) of each, in order.
    native : sequence of dict
        Native totals, in order of the interfaces.
    counters : dict
        Native totals of the run: they say how long it was.

    Returns
    -------
    list of dict
        ``name``, ``rate_bps``, ``arrivals``, ``drops``, ``marks``, ``lost``, ``sent`` (packets), ``sent_bytes``,
        ``utilisation`` (of the rate) and ``queue_mean_packets``, after the warm-up;
        ``nonresponsive_estimate``, the last estimate of a discipline with an estimator, else None.
    """
    seconds = max(counters["end_ns"] - counters["begin_ns"], 1) * 1e-9
    return [
        {"name": name, "rate_bps": rate} | row | {"utilisation": row["sent_bytes"] * 8 / seconds / rate}
        for (name, rate), row in zip(interfaces, native, strict=True)
    ]


def over_replications(runs: Sequence[Sequence[dict[str, Any]]]) -> list[Interface]:
    """Interfaces of several replications as one: counts are summed, utilisation, queue and estimate are means.

    Parameters
    ----------
    runs : sequence of sequence of dict
        As :func:`totals` returns them.

    Returns
    -------
    list of dict
        In the same order.

    Examples
    --------
    >>> row = {"name": "a>b", "rate_bps": 1000, "drops": 3, "utilisation": 0.5}
    >>> over_replications([[row], [row | {"drops": 4, "utilisation": 0.7}]])
    [{'name': 'a>b', 'rate_bps': 1000, 'drops': 7, 'utilisation': 0.6}]
    """
    merged = []
    for rows in zip(*runs, strict=True):
        one = dict(rows[0])
        for key in one.keys() - {"name", "rate_bps"}:
            known = [row[key] for row in rows if row[key] is not None]
            one[key] = (sum(known) / len(known) if key in MEANS else sum(known)) if known else None
        merged.append(one)
    return cast("list[Interface]", merged)
