"""Traces of chosen flows: which rows of a flow list they are, and their tables; sub-flows of all flows."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.simulate import columns

PACKETS = {
    "flow_id": pl.Int64,
    "number": pl.Int64,
    "wire_bytes": pl.Int64,
    "sent_s": pl.Float64,
    "queued_s": pl.Float64,
    "departed_s": pl.Float64,
    "received_s": pl.Float64,
    "dropped_s": pl.Float64,
}
"""Columns of `packets` (docs/tables.md)."""

TIMEOUTS = {"flow_id": pl.Int64, "time_s": pl.Float64}
"""Columns of `timeouts` (docs/tables.md)."""

SUBFLOWS = {
    "flow_id": pl.Int64,
    "queued_s": pl.Float64,
    "left_s": pl.Float64,
    "last_wire_bytes": pl.Int64,
    "high_packets": pl.Int64,
    "high_data_packets": pl.Int64,
    "high_wire_bytes": pl.Int64,
    "low_packets": pl.Int64,
    "low_data_packets": pl.Int64,
    "low_wire_bytes": pl.Int64,
}
"""Columns of `subflows` (docs/tables.md)."""


def chosen_rows(flows: pl.DataFrame, names: Iterable[str]) -> list[int]:
    """Rows of the flows that are named.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    names : iterable of str
        A `flow_id`, or else the name of a group.

    Returns
    -------
    list of int
        Ascending row numbers.

    Raises
    ------
    MayflyError
        No flow has that id, nor that group.
    """
    chosen: set[int] = set()
    for name in names:
        found = _with_id(flows, name) or (flows["group"] == name).fill_null(False).arg_true().to_list()
        if not found:
            groups = sorted(flows["group"].drop_nulls().unique())
            known = f"; groups are {', '.join(groups[:10])}" if groups else "; no flow has a group"
            raise MayflyError(f"trace = '{name}': must be the flow_id of a flow, or a group{known}")
        chosen.update(found)
    return sorted(chosen)


def _with_id(flows: pl.DataFrame, name: str) -> list[int]:
    # 18 digits fit int64.
    if not (name.isascii() and name.isdecimal() and len(name) <= 18):
        return []
    return (flows["flow_id"] == int(name)).arg_true().to_list()


def packets_frame(packets: dict[str, Any], flows: pl.DataFrame) -> pl.DataFrame:
    """Packets of the traced flows.

    Parameters
    ----------
    packets : dict
        Native columns.
    flows : polars.DataFrame
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n_packets, 8)
        In the order in which they were sent.
    """
    times = {name: columns.times(packets[name.removesuffix("_s") + "_ns"]) for name in PACKETS if name.endswith("_s")}
    return pl.DataFrame(
        {
            "flow_id": flows["flow_id"].gather(columns.integers(packets["flow"])),
            "number": columns.integers(packets["number"]),
            "wire_bytes": columns.integers(packets["wire_bytes"]),
            **times,
        }
    ).cast(PACKETS)


def timeouts_frame(timeouts: dict[str, Any], flows: pl.DataFrame) -> pl.DataFrame:
    """Expiries of the retransmission timer of the traced flows.

    Parameters
    ----------
    timeouts : dict
        Native columns.
    flows : polars.DataFrame
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n_timeouts, 2)
        In order of time.
    """
    ids = flows["flow_id"].gather(columns.integers(timeouts["flow"]))
    return pl.DataFrame({"flow_id": ids, "time_s": columns.times(timeouts["time_ns"])}).cast(TIMEOUTS)


def subflows_frame(subflows: dict[str, Any], flows: pl.DataFrame) -> pl.DataFrame:
    """Sub-flows in the forward queue.

    Parameters
    ----------
    subflows : dict
        Native columns.
    flows : polars.DataFrame
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n_subflows, 10)
        In the order in which they began.
    """
    times = {name: columns.times(subflows[name.removesuffix("_s") + "_ns"]) for name in ("queued_s", "left_s")}
    whole = [name for name in SUBFLOWS if name not in ("flow_id", *times)]
    return pl.DataFrame(
        {
            "flow_id": flows["flow_id"].gather(columns.integers(subflows["flow"])),
            **times,
            **{name: columns.integers(subflows[name]) for name in whole},
        }
    ).cast(SUBFLOWS)
