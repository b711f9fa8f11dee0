"""Traces of chosen flows, and of calls: which rows of a flow list they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from mayfly.errors import MayflyError


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


CALL = "call_packets"
"""Column of a flow list: packets that a direction of a call had in the capture; null for flows that are none."""


@dataclass(frozen=True)
class Calls:
    """The directions of the calls in a flow list.

    Parameters
    ----------
    rows : list of int
        Their rows, ascending.
    named : polars.DataFrame, shape (n_rows, 3)
        ``row``, ``connection_id``, ``direction``.
    packets : int
        How many packets they have together, at most.
    """

    rows: list[int] = field(default_factory=list)
    named: pl.DataFrame = field(default_factory=pl.DataFrame)
    packets: int = 0

    def heard(self, packets: pl.DataFrame, chosen: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Parts the trace of a run.

        Parameters
        ----------
        packets : polars.DataFrame, shape (n_packets, ...)
            Trace, ``flow_id`` being the row of a flow.
        chosen : sequence of int
            Rows of the flows that are traced for themselves.

        Returns
        -------
        calls : polars.DataFrame, shape (n_call_packets, 4)
            ``connection_id``, ``direction``, ``sent_s``, ``received_s`` (null where it did not arrive); empty without
            calls.
        packets : polars.DataFrame
            What was asked for.
        """
        if not self.rows:
            return pl.DataFrame(), packets
        own = packets.select(pl.col("flow_id").cast(pl.Int64).alias("row"), "sent_s", "received_s")
        calls = own.join(self.named, on="row", how="inner", maintain_order="left").drop("row")
        return calls, packets.filter(pl.col("flow_id").is_in(list(chosen)))


def without_calls(flows: pl.DataFrame) -> tuple[pl.DataFrame, Calls]:
    """A flow list without the column that says which flows are calls.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list, with ``connection_id`` where it has `CALL`.

    Returns
    -------
    flows : polars.DataFrame
        The same when it has no such column.
    calls : Calls
    """
    if CALL not in flows.columns:
        return flows, Calls()
    own = flows.with_row_index("row").filter(pl.col(CALL).is_not_null())
    named = own.select(pl.col("row").cast(pl.Int64), "connection_id", "direction")
    # The replay has packets of the mean length, in whole bytes: a few more or fewer.
    count = sum(own[CALL].to_list())
    packets = count + count // 20 + 10 * own.height
    return flows.drop(CALL), Calls(named["row"].to_list(), named, packets)
