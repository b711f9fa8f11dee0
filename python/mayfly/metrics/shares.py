"""What the classes of traffic, flows of one group each, get of a congested queue (Zhao 2004, Tables III, IX and X)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mayfly.metrics.intervals import student_ci95

Counts = Sequence[Mapping[str, Any]]
"""Packets of each group in one run: ``group, arrivals, drops, marks, sent, sent_bytes``."""


def class_measures(counts: Counts, seconds: float, rate_bps: float) -> dict[str | None, dict[str, float]]:
    """Shares and rates of each group in one run.

    Parameters
    ----------
    counts : sequence of mapping
        Packets at the bottleneck queue over the time counted.
    seconds : float
        That time, > 0.
    rate_bps : float
        Rate of the link, bit/s, > 0.

    Returns
    -------
    dict of dict
        By group: ``share`` of the packets that the queue sent; ``link_share``, what the group sent over what the link
        could; ``throughput_mbps`` on the wire; ``drop_rate`` and ``mark_rate``, of its packets offered to the queue.
        Rates are 0 where none were offered.

    Examples
    --------
    >>> counts = [{"group": "web", "arrivals": 10, "drops": 2, "marks": 0, "sent": 8, "sent_bytes": 8000}]
    >>> class_measures(counts, 1.0, 128e3)["web"]
    {'share': 1.0, 'link_share': 0.5, 'throughput_mbps': 0.064, 'drop_rate': 0.2, 'mark_rate': 0.0}
    """
    sent = sum(row["sent"] for row in counts)
    return {
        row["group"]: {
            "share": row["sent"] / sent if sent else 0.0,
            "link_share": row["sent_bytes"] * 8 / seconds / rate_bps,
            "throughput_mbps": row["sent_bytes"] * 8 / seconds / 1e6,
            "drop_rate": row["drops"] / row["arrivals"] if row["arrivals"] else 0.0,
            "mark_rate": row["marks"] / row["arrivals"] if row["arrivals"] else 0.0,
        }
        for row in counts
    }


def class_rows(runs: Sequence[Counts], seconds: Sequence[float], rate_bps: float) -> list[dict[str, Any]]:
    """Shares and rates of each group under one discipline (``classes`` of docs/tables.md).

    Parameters
    ----------
    runs : sequence of Counts, shape ``(n_replications,)``
        Each as of :func:`class_measures`.
    seconds : sequence of float, shape ``(n_replications,)``
        Time counted in each run, s.
    rate_bps : float
        Rate of the link, bit/s.

    Returns
    -------
    list of dict
        One row per group in the order of the runs: ``group``, the sums of ``arrivals``, ``drops`` and ``marks``, the
        means of what :func:`class_measures` gives, and ``share_ci95``, Student's t over the replications, None for one.
    """
    measured = [class_measures(counts, span, rate_bps) for counts, span in zip(runs, seconds, strict=True)]
    rows = []
    for group in dict.fromkeys(row["group"] for counts in runs for row in counts):
        own = [run[group] for run in measured if group in run]
        counted = [row for counts in runs for row in counts if row["group"] == group]
        means = {name: sum(run[name] for run in own) / len(own) for name in own[0]}
        totals = {name: sum(row[name] for row in counted) for name in ("arrivals", "drops", "marks")}
        rows.append({"group": group, **totals, **means, "share_ci95": student_ci95([run["share"] for run in own])})
    return rows


def normalised_throughput(throughput: float, others: float) -> float | None:
    """Throughput of one class over that of it and the others together (Zhao 2004, IV.A.4).

    Parameters
    ----------
    throughput, others : float
        Any unit, >= 0.

    Returns
    -------
    float or None
        None when nothing came through. Zhao 2004 takes long-term TCP and UDP, whatever short-term flows add.

    Examples
    --------
    >>> normalised_throughput(3.0, 1.0)
    0.75
    """
    total = throughput + others
    return throughput / total if total > 0 else None
