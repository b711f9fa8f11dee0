"""What groups of flows get under each discipline: their share against the fair one, stalls, slowdown and loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from mayfly.arrays import number, number_or_none
from mayfly.errors import MayflyError
from mayfly.metrics.curves import ENDLESS_BYTES, PROGRESS_COLUMNS
from mayfly.metrics.fairness import fair_service, wire_bytes
from mayfly.metrics.progress import plateaus
from mayfly.metrics.size_classes import classes, parts_by, run_keys
from mayfly.metrics.summary import class_row

if TYPE_CHECKING:
    from mayfly.summary_types import Direction, Group, GroupTransfers, Slowdown

PERCENTILES = (50, 95, 99)

LATE_SHARE = 0.1
"""Transfers that start in this last part of the run do not count for slowdown: they had no time to finish."""


def slowdown_percentiles(records: pl.DataFrame, end_s: float | None = None) -> Slowdown | None:
    """Slowdown that 50, 95 and 99 % of the transfers stay within.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records, with ``slowdown``.
    end_s : float, optional
        End of the run, s; the last tenth of it is left out, so that what counts had time to finish. Nothing is left out
        when not given.

    Returns
    -------
    dict or None
        ``p50``, ``p95``, ``p99``; None where the percentile falls among transfers that never finished. None instead of
        the dictionary when there are no transfers.

    Notes
    -----
    TCP flows that can end (below 2^40 bytes). The percentile is the smallest slowdown that at least so many per cent
    of the transfers do not exceed; an unfinished transfer is slower than all others.

    Examples
    --------
    >>> records = pl.DataFrame({"start_s": 0.0, "protocol": "tcp", "size_bytes": 1, "slowdown": [1.0, 3.0, None]})
    >>> slowdown_percentiles(records)
    {'p50': 3.0, 'p95': None, 'p99': None}
    """
    counted = (pl.col("protocol") == "tcp") & (pl.col("size_bytes") < ENDLESS_BYTES)
    if end_s is not None:
        counted &= pl.col("start_s") <= end_s * (1 - LATE_SHARE)
    values = records.filter(counted)["slowdown"]
    if len(values) == 0:
        return None
    ascending = values.fill_null(math.inf).sort()
    ranked = [float(ascending[max(math.ceil(len(values) * share / 100) - 1, 0)]) for share in PERCENTILES]
    p50, p95, p99 = (value if math.isfinite(value) else None for value in ranked)
    return {"p50": p50, "p95": p95, "p99": p99}


def has_groups(flows: pl.DataFrame) -> bool:
    """Whether any flow of the list or of the records bears the name of a group.

    Parameters
    ----------
    flows : polars.DataFrame
        Flow list or flow records.

    Returns
    -------
    bool
    """
    return "group" in flows.columns and flows["group"].null_count() < flows.height


def fair_groups(
    records: pl.DataFrame, *, rate_bps: float, end_s: float, mss: int = 1460, header_bytes: int = 40
) -> pl.DataFrame:
    """The fair service of every group: what :func:`group_rows` compares with.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, all replications, with ``group``.
    rate_bps : float
        Rate of the link, bit/s, > 0.
    end_s : float
        End of the run, s, > 0.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    polars.DataFrame
        Rows of :func:`mayfly.metrics.fairness.fair_service`, with ``replication`` when the records have it.
    """
    keys = [key for key in run_keys(records) if key == "replication"]
    runs = parts_by(records, keys)
    tables = []
    for run, part in runs.items():
        served = fair_service(part, rate_bps, end_s, mss=mss, header_bytes=header_bytes)
        tables.append(served.with_columns(**{key: pl.lit(value) for key, value in zip(keys, run, strict=True)}))
    return pl.concat(tables)


def group_rows(
    records: pl.DataFrame,
    fair: pl.DataFrame,
    *,
    rate_bps: float,
    end_s: float,
    mss: int = 1460,
    header_bytes: int = 40,
    samples: pl.DataFrame | None = None,
) -> list[Group]:
    """What each group gets under one discipline (``groups`` of docs/tables.md).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, all replications, with ``group``.
    fair : polars.DataFrame
        As :func:`fair_groups` returns it for the same flows.
    rate_bps : float
        Rate of the link, bit/s, > 0.
    end_s : float
        End of the run, s, > 0.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.
    samples : polars.DataFrame, optional
        Samples of the same runs: stalls are null without them.

    Returns
    -------
    list of dict
        One row per group, by name, flows without a group last. Means over the replications of ``share`` (of the link,
        while the group has something to deliver, headers included), ``fair_share`` (the same for the fair link) and
        ``ratio`` of the two; ``loss`` (of the packets sent); ``longest_stall_s`` (of the watched flows of the group);
        ``slowdown`` (see :func:`slowdown_percentiles`); ``unfinished`` (transfers that can end and did not).

    Raises
    ------
    MayflyError
        Records of several disciplines.

    Notes
    -----
    Flows of the direction ``down``: the discipline guards that one. Goodput counts: what the receivers got in order.
    """
    if "discipline" in records.columns and records["discipline"].n_unique() > 1:
        raise MayflyError(f"records of {records['discipline'].n_unique()} disciplines: must be of one")
    keys = [key for key in run_keys(records) if key == "replication"]
    down = records.filter(pl.col("direction") == "down")
    got = _service(down, keys, end_s, mss, header_bytes)
    both = fair.join(got, on=["group", *keys], how="left", nulls_equal=True, maintain_order="left")
    shares = both.select(
        "group",
        "users",
        "flows",
        share=_share("got_bytes", "got_s", rate_bps),
        fair_share=_share("served_bytes", "active_s", rate_bps),
    ).with_columns(ratio=pl.col("share") / pl.col("fair_share"))
    means = shares.group_by("group", maintain_order=True).mean()
    still_s = {} if samples is None else _stalls(records, samples, keys)
    rows: list[Group] = []
    for row in means.to_dicts():
        own = down.filter(pl.col("group").eq_missing(pl.lit(row["group"], pl.String)))
        sent, able = number(own["packets_sent"].sum()), own.filter(_can_end())
        rows.append(
            {
                "group": row["group"],
                "users": round(row["users"]),
                "flows": own.height,
                "share": row["share"],
                "fair_share": row["fair_share"],
                "ratio": row["ratio"],
                "loss": number(own["drops"].sum()) / sent if sent else None,
                "longest_stall_s": still_s.get(row["group"]),
                "slowdown": slowdown_percentiles(own, end_s),
                "unfinished": able["finish_s"].null_count(),
            }
        )
    return rows


def group_classes(records: pl.DataFrame, replications: int) -> list[GroupTransfers]:
    """Response times of each group of flows in each direction (Chen 2012, Fig. 9.12).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline.
    replications : int
        Number of runs.

    Returns
    -------
    list of dict
        By name, flows without a group last: ``group``, ``direction``, ``flows``, ``completed``, ``short`` and ``long``,
        classed within group and direction. TCP flows that can end; empty when none of them has a group.
    """
    able = records.filter((pl.col("protocol") == "tcp") & (pl.col("size_bytes") < ENDLESS_BYTES))
    if "group" not in able.columns or able["group"].null_count() == able.height:
        return []
    rows: list[GroupTransfers] = []
    ways: tuple[Direction, Direction] = ("down", "up")
    for group in able["group"].unique().sort(nulls_last=True):
        for way in ways:
            own = able.filter(pl.col("group").eq_missing(pl.lit(group, pl.String)), direction=way)
            if own.height == 0:
                continue
            classed = own.with_columns(classes(own))
            rows.append(
                {
                    "group": group,
                    "direction": way,
                    "flows": own.height,
                    "completed": own.height - own["finish_s"].null_count(),
                    "short": class_row(classed, "short", replications),
                    "long": class_row(classed, "long", replications),
                }
            )
    return rows


def batch_response(records: pl.DataFrame, group: str) -> tuple[float | None, int, int]:
    """Response time of split transfers: from the start of the connections to the end of the last one.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline.
    group : str
        Whose flows; connections of one transfer start at one instant.

    Returns
    -------
    mean_s : float or None
        Mean over the complete transfers; None when there is none.
    complete, all : int
        Transfers all of whose connections finished, and all.
    """
    keys = [*run_keys(records), "start_s"]
    batches = (
        records.filter(pl.col("group") == group)
        .group_by(keys)
        .agg(pl.col("finish_s").max(), done=pl.col("finish_s").is_not_null().all())
    )
    complete = batches.filter("done")
    mean_s = (complete["finish_s"] - complete["start_s"]).mean()
    return number_or_none(mean_s), complete.height, batches.height


def _can_end() -> pl.Expr:
    return (pl.col("protocol") == "tcp") & (pl.col("size_bytes") < ENDLESS_BYTES)


def _share(served_bytes: str, active_s: str, rate_bps: float) -> pl.Expr:
    return pl.when(pl.col(active_s) > 0).then(pl.col(served_bytes) * 8 / rate_bps / pl.col(active_s))


def _service(down: pl.DataFrame, keys: list[str], end_s: float, mss: int, header_bytes: int) -> pl.DataFrame:
    """Goodput of each group and the time in which a flow of it was on."""
    of = ["group", *keys]
    spans = down.select(*of, "start_s", stop_s=pl.col("finish_s").fill_null(end_s).clip(upper_bound=end_s))
    # Ascending starts: a flow adds what it lasts beyond all earlier ones of its group.
    before_s = pl.col("stop_s").cum_max().shift(1).over(of)
    active = (
        spans.sort("start_s")
        .with_columns(new_s=pl.col("stop_s") - pl.max_horizontal("start_s", before_s))
        .group_by(of)
        .agg(got_s=pl.col("new_s").clip(lower_bound=0.0).sum())
    )
    goodput = down.group_by(of).agg(got_bytes=wire_bytes(pl.col("delivered_bytes"), mss, header_bytes).sum())
    return active.join(goodput, on=of, nulls_equal=True)


def _stalls(records: pl.DataFrame, samples: pl.DataFrame, keys: list[str]) -> dict[str | None, float]:
    """Longest time without progress of the watched flows of each group: the largest TCP flows of each replication."""
    longest: dict[str | None, float] = {}
    for run, part in parts_by(records, keys).items():
        own = samples.filter(**dict(zip(keys, run, strict=True)))
        # As mayfly.simulate.run picks them: the earlier first among equals.
        tcp = part.filter(pl.col("protocol") == "tcp").sort("size_bytes", descending=True, maintain_order=True)
        watched = tcp.head(len(PROGRESS_COLUMNS))
        group_of = dict(watched.filter(direction="down").select("flow_id", "group").iter_rows())
        for row in plateaus(own, watched, watched["flow_id"].to_list()).to_dicts():
            if row["flow_id"] in group_of:
                group = group_of[row["flow_id"]]
                longest[group] = max(longest.get(group, 0.0), row["longest_s"])
    return longest
