"""Flow lists and results between polars and the native simulator."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.scenario.transport import RULES
from mayfly.workload import scripts, stages
from mayfly.workload.bursts import native_bursts

NEVER = np.uint64(2**64 - 1)
_DEFAULT_UDP_RATE_BPS = 1e6

MOST_GROUPS = 65_536
"""Groups of flows that are told apart."""


def nanoseconds(seconds: pl.Series) -> Floats:
    """Times in integer nanoseconds; null becomes never.

    Parameters
    ----------
    seconds : polars.Series, shape (n,)
        Times, s.

    Returns
    -------
    ndarray, shape (n,), uint64
        Nanoseconds, rounded.
    """
    known = seconds.is_not_null().to_numpy()
    values = np.rint(seconds.fill_null(0.0).to_numpy() * 1e9).astype(np.uint64)
    return np.where(known, values, NEVER)


def native_flows(
    flows: pl.DataFrame,
    full_packet_bytes: int,
    ends: tuple[Integers, Integers],
    nonresponsive: Sequence[str] = (),
    congestion_of: Mapping[str, str] | None = None,
) -> dict[str, Floats]:
    """Columns of the flow list as the native module takes them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list, sorted by start.
    full_packet_bytes : int
        Wire length of UDP packets whose list names none, bytes.
    ends : tuple of ndarray
        Number of the sender and of the receiver of each flow.
    nonresponsive : sequence of str
        Groups whose flows count as not responding to drops, as those of UDP do.
    congestion_of : mapping, optional
        Rule of the congestion window by group, one of `RULES`.

    Returns
    -------
    dict of ndarray, each of shape (n_flows,)
        Arrays by the names of the native module.

    Raises
    ------
    MayflyError
        No flow has such a group.
    """
    src, dst = ends
    udp = (flows["protocol"] == "udp").to_numpy()
    flags = (
        (flows["direction"] == "up").to_numpy() * 1
        + (flows["opened_by"] == "receiver").to_numpy() * 2
        + udp * 4
        + (udp | _in_groups(flows, nonresponsive, "nonresponsive")) * 8
    ).astype(np.uint8)
    for number, rule in enumerate(RULES, start=1):
        own = [name for name, given in (congestion_of or {}).items() if given == rule]
        flags |= np.where(_in_groups(flows, own, "tcp.congestion_of"), number * 16, 0).astype(np.uint8)
    packet = flows["packet_bytes"].fill_null(full_packet_bytes).to_numpy()
    rate = flows["rate_bps"].fill_null(_DEFAULT_UDP_RATE_BPS).to_numpy()
    gap = np.where(udp, np.maximum(np.rint(packet * 8e9 / rate), 1), 0)
    return {
        "start_ns": nanoseconds(flows["start_s"]),
        "size_bytes": flows["size_bytes"].to_numpy().astype(np.uint64),
        "rtt_ns": nanoseconds(flows["rtt_s"]),
        "src": src,
        "dst": dst,
        "flags": flags,
        "packet_bytes": packet.astype(np.uint32),
        "gap_ns": gap.astype(np.uint64),
        "class": group_classes(flows)[1],
        **stages.native(flows),
        "bursts": native_bursts(flows),
        "scripts": scripts.native(flows),
    }


def _in_groups(flows: pl.DataFrame, names: Sequence[str], field: str) -> Floats:
    if not names:
        return np.zeros(flows.height, dtype=bool)
    groups = flows["group"]
    for name in names:
        if name not in groups:
            known = f"groups are {', '.join(groups.drop_nulls().unique().sort()[:10])}"
            known = "no flow has a group" if groups.null_count() == flows.height else known
            raise MayflyError(f"{field} = '{name}': must be a group of the flows; {known}")
    return groups.is_in(list(names)).fill_null(False).to_numpy()


def group_classes(flows: pl.DataFrame) -> tuple[list[str | None], Floats]:
    """Groups of the flows as classes that the simulator counts apart.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.

    Returns
    -------
    names : list of str or None
        By class: groups by name, flows without a group last; empty when no flow has a group.
    classes : ndarray, shape (n_flows,) or (0,), uint16
        Class of each flow.
    """
    groups = flows.get_column("group", default=None)
    if groups is None or groups.null_count() == flows.height:
        return [], np.empty(0, dtype=np.uint16)
    names = groups.unique().sort(nulls_last=True)
    if len(names) > MOST_GROUPS:
        raise MayflyError(f"groups = {len(names)}: must be at most {MOST_GROUPS}")
    classes = pl.Series(range(len(names)), dtype=pl.UInt16)
    return names.to_list(), groups.replace_strict(names, classes).to_numpy()


def class_counts(names: list[str | None], counts: dict[str, bytes]) -> list[dict[str, Any]]:
    """What was counted of each group at the forward queue.

    Parameters
    ----------
    names : list of str or None
        Of :func:`group_classes`.
    counts : dict of bytes
        Native columns.

    Returns
    -------
    list of dict
        `group`, and `arrivals`, `drops`, `marks`, `sent` in packets and `sent_bytes` in bytes on the wire.
    """
    columns = {name: integers(data).tolist() for name, data in counts.items()}
    return [{"group": name, **{key: values[row] for key, values in columns.items()}} for row, name in enumerate(names)]


def integers(data: bytes) -> Floats:
    """A native column of integers.

    Parameters
    ----------
    data : bytes
        Little-endian uint64.

    Returns
    -------
    ndarray, shape (n,), int64
        The values; never becomes -1.
    """
    return np.frombuffer(data, dtype="<u8").view(np.int64)


def times(data: bytes) -> pl.Series:
    """A native column of times.

    Parameters
    ----------
    data : bytes
        Little-endian uint64, nanoseconds.

    Returns
    -------
    polars.Series, shape (n,)
        Seconds; null for never.
    """
    raw = np.frombuffer(data, dtype="<u8")
    seconds = np.where(raw == NEVER, np.nan, raw * 1e-9)
    return pl.Series(seconds, nan_to_null=True)


def records_frame(flows: pl.DataFrame, records: dict[str, bytes], mss: int) -> pl.DataFrame:
    """The flow list with the outcome of each flow.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.
    records : dict of bytes
        Native columns.
    mss : int
        Payload of a full segment, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        Flow records of docs/tables.md, without `slowdown`, `discipline` and `replication`; `begun_s` is when a flow
        started, `start_s` what the list says.
    """
    whole = ("delivered_bytes", "packets_sent", "retransmits", "timeouts", "drops", "lost", "marks")
    real = ("rtt_mean_s", "cwnd_mean_packets")
    # A discipline with one class sorts nothing: null, not 0.
    sorts = integers(records["sorted_packets"]).any()
    classed = {
        name: pl.Series(integers(records[name])) if sorts else None for name in ("high_packets", "sorted_packets")
    }
    starts = integers(records["fragments"])
    classed["fragments"] = pl.Series(starts) if starts.any() else None
    return flows.with_columns(
        size_packets=(pl.col("size_bytes") + (mss - 1)) // mss,
        begun_s=times(records["start_ns"]),
        finish_s=times(records["finish_ns"]),
        **{name: pl.Series(integers(records[name])) for name in whole},
        **{name: pl.Series(np.frombuffer(records[name], dtype="<f8"), nan_to_null=True) for name in real},
        gave_up=pl.Series(integers(records["gave_up"]) != 0),
        first_data_s=times(records["first_data_ns"]),
        **_back_bytes(flows, records),
        first_sent_s=times(records["first_sent_ns"]),
        last_data_s=times(records["last_data_ns"]),
        **{name: pl.lit(None, pl.Int64) if values is None else values for name, values in classed.items()},
    ).with_columns(response_time_s=pl.col("finish_s") - _realised_start(flows))


def _back_bytes(flows: pl.DataFrame, records: dict[str, bytes]) -> dict[str, pl.Series]:
    """What scripts brought against the direction of their flow; no column where there are none."""
    return {"back_bytes": pl.Series(integers(records["back_bytes"]))} if "script" in flows.columns else {}


def begun(records: pl.DataFrame) -> pl.DataFrame:
    """The records of the flows that started, from when they did.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        With `begun_s`.

    Returns
    -------
    polars.DataFrame, shape (n_begun, ...)
        Without `begun_s`: flows that wait for a stage have their own start in `start_s`, and those for which it did not
        end in time are left out.
    """
    if not stages.is_closed_loop(records):
        return records.drop("begun_s")
    records = records.filter(pl.col("after").is_null() | pl.col("begun_s").is_not_null())
    return records.with_columns(start_s=_realised_start(records)).drop("begun_s")


def _realised_start(flows: pl.DataFrame) -> pl.Expr:
    if not stages.is_closed_loop(flows):
        return pl.col("start_s")
    return pl.when(pl.col("after").is_null()).then("start_s").otherwise("begun_s")


def samples_frame(samples: dict[str, Any]) -> pl.DataFrame:
    """Time series of the forward queue.

    Parameters
    ----------
    samples : dict
        Native columns.

    Returns
    -------
    polars.DataFrame, shape (n_samples, ...)
        Samples of docs/tables.md, without `discipline` and `replication`.
    """
    rows = len(samples["time_ns"]) // 8
    columns = {"time_s": times(samples["time_ns"]).cast(pl.Float64)}
    for name in ("backlog_packets", "backlog_bytes", "high_backlog_packets", "flow_table"):
        values = integers(samples[name])
        columns[name] = pl.Series(values) if len(values) == rows else pl.Series([None] * rows, dtype=pl.Int64)
    for name in ("arrivals", "drops"):
        columns[name] = pl.Series(np.diff(integers(samples[name]), prepend=0))
    columns["queue_mean_packets"] = pl.Series(np.frombuffer(samples["queue_mean_packets"], dtype="<f8"))
    for name in ("nonresponsive_arrivals", "nonresponsive_drops"):
        columns[name] = pl.Series(np.diff(integers(samples[name]), prepend=0))
    estimates = pl.Series(np.frombuffer(samples["nonresponsive_estimate"], dtype="<f8"))
    columns["nonresponsive_estimate"] = estimates.fill_nan(None)
    columns["nonresponsive_doubt"] = pl.Series(samples["nonresponsive_doubt"], dtype=pl.String)
    for position in range(3):
        series = samples["progress"][position] if position < len(samples["progress"]) else None
        values = pl.Series([None] * rows, dtype=pl.Int64) if series is None else pl.Series(integers(series))
        columns[f"progress_{position + 1}_bytes"] = values
    return pl.DataFrame(columns)


def drops_frame(drops: dict[str, Any], flows: pl.DataFrame) -> pl.DataFrame:
    """The drop trace.

    Parameters
    ----------
    drops : dict
        Native columns.
    flows : polars.DataFrame
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n_drops, 5)
        `time_s`, `flow_id`, `reverse` (true for acknowledgements of a `down` flow), `wire_bytes`, `reason`.
    """
    return pl.DataFrame(
        {
            "time_s": times(drops["time_ns"]).cast(pl.Float64),
            "flow_id": flows["flow_id"].gather(integers(drops["flow"])),
            "reverse": pl.Series(integers(drops["reverse"])).cast(pl.Boolean),
            "wire_bytes": pl.Series(integers(drops["len"])),
            "reason": pl.Series(drops["reason"], dtype=pl.String),
        }
    )
