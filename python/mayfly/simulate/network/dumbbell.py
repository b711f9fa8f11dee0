"""The dumbbell: senders and receivers on either side of one link (Chen 2012, Figure 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mayfly.arrays import Integers
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.scenario.network import Network
from mayfly.scenario.scenario import Workload
from mayfly.simulate.network.protocol import Alone, CellTables, Ends, Settings
from mayfly.simulate.network.shaping import native_trace
from mayfly.workload.hosts import Hosts

if TYPE_CHECKING:
    import polars as pl

SIDES = ("senders", "receivers")
"""Groups that flows go between unless they say otherwise."""

FIRST_RECEIVER = 8
"""Node of the first receiver where there are few senders (Chen 2012, Figure 4.1)."""


@dataclass(frozen=True)
class Dumbbell:
    """One link between two sides, whose hosts are those that the flows name.

    Parameters
    ----------
    network : Network
        Section ``[network]``.
    """

    network: Network

    path_columns: ClassVar[tuple[str, ...]] = ()

    @property
    def rate_bps(self) -> int:
        """Speed of the link, bit/s."""
        return self.network.rate

    @property
    def fastest_bps(self) -> float:
        """That of the link: no path exceeds it."""
        return self.network.rate

    @property
    def byte_ns(self) -> float:
        """Time of a byte on the link, ns."""
        return 8e9 / self.network.rate

    def workload_hosts(self, given: Workload) -> tuple[Hosts, Hosts]:
        """Numbers from 1 on, those of the receivers behind those of the senders."""
        return sides(given)

    def pairs(self, given: Workload) -> None:
        """Users have hosts of their own."""
        return None

    def ends(self, source: str | None, sink: str | None) -> tuple[Hosts, Hosts] | None:
        """There are two groups only, which are those of the whole workload."""
        check_sides(source, sink)
        return None

    @property
    def together(self) -> bool | None:
        """Among all where both sides are alike."""
        return self.network.symmetric

    def numbers(self, flows: pl.DataFrame) -> Ends:
        """Indices of the end points, counted apart on each side of the link."""
        return hosts(flows, together=self.network.symmetric)

    def settings(self, compared: Discipline, full_packet_bytes: int, flows: pl.DataFrame | None = None) -> Settings:
        """Neither a graph nor a cell, and the traces of the link."""
        traces = [native_trace(self.network, trace) for trace in self.network.traces]
        return {"graph": None, "wlan": None, "traces": traces}

    def records(self, flows: pl.DataFrame, outcomes: pl.DataFrame) -> dict[str, pl.Series]:
        """None of its own."""
        return {}

    def cell(self, native: CellTables | None, counters: Mapping[str, Any]) -> None:
        """There is none."""
        return None

    def interfaces(self, native: pl.DataFrame, counters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The link's are those of the run."""
        return []

    def paths(self, flows: pl.DataFrame) -> pl.DataFrame:
        """All hosts of a side have equal paths."""
        return flows

    def alone(self, transfers: pl.DataFrame, settings: Settings) -> Iterator[Alone]:
        """All at once, between one pair of hosts."""
        import polars as pl

        flows = transfers.with_columns(src=pl.lit("1"), dst=pl.lit("1"))
        yield Alone(range(flows.height), {}, flows, self.numbers(flows))


def check_sides(source: str | None, sink: str | None) -> None:
    """Refuse other groups than the two of a network with two sides."""
    for word, side in zip((source, sink), SIDES, strict=True):
        if word not in (None, side):
            raise MayflyError(f"hosts '{word}': a dumbbell has senders and receivers only: must be {side}")


def sides(given: Workload) -> tuple[Hosts, Hosts]:
    """Hosts by number: those that send from 1 on, those that receive behind them."""
    first = max(given.senders + 3, FIRST_RECEIVER)
    return range(1, given.senders + 1), range(first, first + given.receivers)


def hosts(flows: pl.DataFrame, together: bool = False) -> Ends:
    """Indices of the end points, counted apart on each side of the bottleneck.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    together : bool
        Number all hosts together: an index tells neither side, and a host on both has one.

    Returns
    -------
    src, dst : ndarray, shape (n_flows,), uint32
        Index of the sender and of the receiver among the hosts of their side, or among all.
    """
    import polars as pl

    if together:
        both = _in_order(pl.concat([flows["src"], flows["dst"]]))
        return both[: flows.height], both[flows.height :]
    up = pl.col("direction") == "up"
    sides = flows.select(
        left=pl.when(up).then("dst").otherwise("src"), right=pl.when(up).then("src").otherwise("dst"), up=up
    )
    left, right, is_up = _in_order(sides["left"]), _in_order(sides["right"]), sides["up"].to_numpy()
    return np.where(is_up, right, left), np.where(is_up, left, right)


def _in_order(hosts: pl.Series) -> Integers:
    """Index of each host among the distinct ones, ordered as text; few are distinct."""
    import polars as pl

    distinct = hosts.unique()
    index = (distinct.cast(pl.String).rank("dense") - 1).cast(pl.UInt32)
    return hosts.replace_strict(distinct, index).to_numpy()
