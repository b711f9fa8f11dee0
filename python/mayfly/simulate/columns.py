"""Flow lists, what is known of their users, and results between polars and the native simulator."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.metrics.media import is_of
from mayfly.simulate.queue_delay import taken
from mayfly.simulate.tables import IN_CELL
from mayfly.workload import applications, stages
from mayfly.workload.replayed import CAPTURED, CAPTURED_FOR

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
    transports: Integers | None = None,
    mark_of: Mapping[str, int] | None = None,
) -> dict[str, Any]:
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
    transports : ndarray, shape (n_flows,), uint16, optional
        Numbers of :class:`mayfly.simulate.transports.Dealt`; all 0 when not given.
    mark_of : mapping, optional
        Mark of the flows of a group, by its name.

    Returns
    -------
    dict
        Arrays of shape (n_flows,) by the names of the native module; under ``bursts`` and ``script``, where there are
        any, a table of that column.

    Raises
    ------
    MayflyError
        No flow has such a group.
    """
    src, dst = ends
    udp = (flows["protocol"] == "udp").to_numpy()
    # A call gives way to what it meets.
    calls = flows.select(is_of("call")).to_series().to_numpy() if "application" in flows.columns else False
    flags = (
        (flows["direction"] == "up").to_numpy() * 1
        + (flows["opened_by"] == "receiver").to_numpy() * 2
        + udp * 4
        + (udp & ~np.asarray(calls) | in_groups(flows, nonresponsive, "nonresponsive")) * 8
    ).astype(np.uint8)
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
        "transport": np.zeros(flows.height, dtype=np.uint16) if transports is None else transports,
        "application": applications.native(flows)[1],
        **stages.native(flows),
        "mark": marks(flows, mark_of or {}),
        "bursts": flows.select("bursts") if "bursts" in flows.columns else None,
        "scripts": flows.select("script") if "script" in flows.columns else None,
    }


def marks(flows: pl.DataFrame, mark_of: Mapping[str, int]) -> Integers:
    """Marks that the packets of the flows carry.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    mark_of : mapping
        Mark by group, of flows without one of their own in the column ``mark``.

    Returns
    -------
    ndarray, shape (n_flows,), uint32
        0 where there is none.

    Raises
    ------
    MayflyError
        No flow has such a group.
    """
    found = np.zeros(flows.height, dtype=np.uint32)
    for group, mark in mark_of.items():
        found[in_groups(flows, [group], "mark_of")] = mark
    if "mark" not in flows.columns:
        return found
    own = flows["mark"]
    return np.where(own.is_null().to_numpy(), found, own.fill_null(0).to_numpy()).astype(np.uint32)


def in_groups(flows: pl.DataFrame, names: Sequence[str], field: str) -> Floats:
    """Which flows belong to some groups.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    names : sequence of str
        The groups.
    field : str
        Field of the scenario that names them, for messages.

    Returns
    -------
    ndarray, shape (n_flows,), bool

    Raises
    ------
    MayflyError
        No flow has such a group.
    """
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


def class_counts(names: list[str | None], counts: pl.DataFrame) -> list[dict[str, Any]]:
    """What was counted of each group at the forward queue.

    Parameters
    ----------
    names : list of str or None
        Of :func:`group_classes`.
    counts : polars.DataFrame, shape (n_classes, ...)
        Native table ``classes``.

    Returns
    -------
    list of dict
        `group`, and `arrivals`, `drops`, `marks`, `sent` in packets and `sent_bytes` in bytes on the wire;
        `queueing_delay` of those sent (:func:`mayfly.simulate.queue_delay.taken`).
    """
    rows = [taken(row) for row in counts.to_dicts()]
    return [{"group": name, **row} for name, row in zip(names, rows, strict=True)]


def with_ids(table: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """A native table with the ids of flows in place of their rows in the list.

    Parameters
    ----------
    table : polars.DataFrame, shape (n, ...)
        With `flow_id`, which holds rows.
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n, ...)
        With the same columns.
    """
    ids = flows["flow_id"]
    # Most runs have none of most kinds: a cast of nothing takes no look at the list.
    found = ids.gather(table["flow_id"]) if table.height else ids.clear()
    return table.with_columns(found)


def records_frame(
    flows: pl.DataFrame, outcomes: pl.DataFrame, mss: int, own: Mapping[str, pl.Series] | None = None
) -> pl.DataFrame:
    """The flow list with the outcome of each flow.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.
    outcomes : polars.DataFrame, shape (n_flows, ...)
        Native table ``flows``.
    mss : int
        Payload of a full segment, bytes.
    own : mapping of polars.Series, optional
        Columns that only this kind of network has.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        Flow records of docs/tables.md, without `slowdown`, `discipline` and `replication`; `begun_s` is when a flow
        started, `start_s` what the list says.
    """
    tells = {"high_packets": "sorted_packets", "sorted_packets": "sorted_packets", "fragments": "fragments"}
    # A discipline with one class sorts nothing: null, not 0.
    silent = [name for name, tell in tells.items() if not (outcomes[tell].fill_null(0) != 0).any()]
    outcomes = outcomes.with_columns(pl.lit(None, pl.Int64).alias(name) for name in silent)
    queue = [name for name in outcomes.columns if name.startswith("queue_")]
    # Scripts alone bring something against the direction of their flow.
    unused = IN_CELL if {"script", "application"} & {*flows.columns} else ("back_bytes", *IN_CELL)
    return (
        flows.with_columns(size_packets=(pl.col("size_bytes") + (mss - 1)) // mss)
        .hstack(outcomes.drop(*unused, *queue))
        .with_columns(response_time_s=pl.col("finish_s") - _realised_start(flows))
        .with_columns(**(own or {}))
        .hstack(outcomes.select(queue))
    )


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
    started = records["after"].is_null() | records["begun_s"].is_not_null()
    # Columns that nothing is taken out of stay those of the list: a copy of them is most of a record.
    records = records if started.all() else records.filter(started)
    return records.with_columns(start_s=_realised_start(records)).drop("begun_s")


def _realised_start(flows: pl.DataFrame) -> pl.Expr:
    if not stages.is_closed_loop(flows):
        return pl.col("start_s")
    return pl.when(pl.col("after").is_null()).then("start_s").otherwise("begun_s")


def facts_of(flows: pl.DataFrame, probes: tuple[str, ...]) -> dict[str, Any]:
    """The facts of a flow list, as the native module takes them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list, without its probes.
    probes : tuple of str
        Names of the probes before it (:class:`mayfly.simulate.probes.Probing`).

    Returns
    -------
    dict
        ``probes``; arrays of a value per flow, empty where nothing is known of it: ``ids`` (int64), ``starts``
        (float64, s), ``groups`` (uint32) and ``stages`` (int64, -1 for none); ``capture`` of the flows of a
        capture, else None: ``clients`` and ``connections`` (uint32), ``begun_s`` and ``lasted_s`` in the capture
        (float64, s, not a number where that is not known), and ``calls``, an empty list of rows.
    """
    captured = "connection_id" in flows.columns
    # Of a capture all flows are its own: UDP that lasts is a stream whatever its group.
    groups = np.empty(0, np.uint32) if captured else group_classes(flows)[1].astype(np.uint32)
    found: dict[str, Any] = {
        "probes": list(probes),
        "ids": flows["flow_id"].cast(pl.Int64).to_numpy(),
        "starts": flows["start_s"].cast(pl.Float64).to_numpy(),
        "groups": groups,
        "stages": _ranks(flows["stage"]).astype(np.int64) - 1 if "stage" in flows.columns else np.empty(0, np.int64),
        "capture": None,
    }
    if captured:
        opener = flows.select(pl.when(pl.col("opened_by") == "sender").then("src").otherwise("dst")).to_series()
        found["capture"] = {
            "clients": _ranks(opener),
            "connections": _ranks(flows["connection_id"]),
            "begun_s": _seconds(flows, CAPTURED),
            "lasted_s": _seconds(flows, CAPTURED_FOR),
            "calls": [],
        }
    return found


def _seconds(flows: pl.DataFrame, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A column of times, s; empty without one."""
    if name not in flows.columns:
        return np.empty(0)
    return np.ascontiguousarray(flows[name].cast(pl.Float64).fill_null(math.nan).to_numpy())


def with_calls(facts: dict[str, Any], rows: list[int]) -> dict[str, Any]:
    """The same facts of a list whose `rows` are directions of calls of a capture."""
    return facts | {"capture": facts["capture"] | {"calls": rows}} if rows else facts


def _ranks(values: pl.Series) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The number of each value among those that there are, from 1; 0 of null."""
    return values.rank("dense").fill_null(0).cast(pl.UInt32).to_numpy()
