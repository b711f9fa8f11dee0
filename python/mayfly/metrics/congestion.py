"""What congestion does to packets and flows under one discipline: loss, queueing delay, active flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly.metrics.active import active_flows, active_row
from mayfly.metrics.fairness import permanent_jain
from mayfly.metrics.loss import loss_rate
from mayfly.metrics.queue_delay import pooled, relative_queueing_delay

if TYPE_CHECKING:
    from mayfly.summary_types import ClassRow, DisciplineRowPart


def congestion_row(
    records: pl.DataFrame,
    delays: Sequence[Mapping[str, Any]],
    *,
    end_s: float,
    begin_s: float = 0.0,
    propagation_rtt_s: float | None = None,
) -> DisciplineRowPart:
    """Keys ``loss``, ``queueing_delay``, ``active_flows`` and ``jain`` of the summary (docs/tables.md).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, all replications.
    delays : sequence of mapping, shape ``(n_replications,)``
        Queueing delay of all packets of each: ``packets``, ``mean_s``, ``deviation_s``, ``max_s``.
    end_s, begin_s : float
        End of the run and of its warm-up, s.
    propagation_rtt_s : float, optional
        Round-trip time without queueing and transmission, s; no relative delay when not given, or 0.

    Returns
    -------
    dict
        ``loss`` with ``rate`` (drops over packets sent), ``flows`` (TCP, that lost a packet or more) and ``share`` of
        the TCP flows; ``queueing_delay`` pooled over the replications, with ``relative`` (Zhao 2004, IV.A.3);
        ``active_flows`` with ``mean`` (over time, then over replications) and ``max``; ``jain`` of
        :func:`mayfly.metrics.fairness.permanent_jain`.
    """
    tcp = records.select("protocol", "drops").filter(pl.col("protocol") == "tcp")
    lossy = tcp.filter(pl.col("drops") > 0).height
    delay = pooled(delays)
    relative = None
    if delay["mean_s"] is not None and propagation_rtt_s:
        relative = relative_queueing_delay(delay["mean_s"], propagation_rtt_s)
    active = active_flows(records, end_s, end_s - begin_s, begin_s) if end_s > begin_s else None
    return {
        "loss": {"rate": loss_rate(records), "flows": lossy, "share": lossy / tcp.height if tcp.height else None},
        "queueing_delay": {**delay, "relative": relative},
        "jain": permanent_jain(records, end_s),
        "active_flows": active_row(active),
    }


def with_delays(rows: list[dict[str, Any]], runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[ClassRow]:
    """Rows of ``classes`` of the summary with the queueing delay of each class.

    Parameters
    ----------
    rows : list of dict
        With ``group``.
    runs : sequence of sequence of mapping, shape ``(n_replications,)``
        Classes of each run with ``group`` and ``queueing_delay``.

    Returns
    -------
    list of dict
        The rows with ``queueing_delay``, pooled over the replications.
    """
    of: dict[Any, list[Mapping[str, Any]]] = {row["group"]: [] for row in rows}
    for classes in runs:
        for row in classes:
            of[row["group"]].append(row["queueing_delay"])
    return [cast("ClassRow", row | {"queueing_delay": pooled(of[row["group"]])}) for row in rows]
