"""What a run asks of its network, whichever kind it is, and the totals of interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from mayfly.arrays import Integers
from mayfly.discipline_registry import Discipline
from mayfly.scenario.scenario import Workload
from mayfly.workload.hosts import Hosts

if TYPE_CHECKING:
    import polars as pl

    from mayfly.summary_types import Interface


Ends = tuple[Integers, Integers]
"""Numbers of the sender and of the receiver of each flow, uint32, as the native module takes them."""

CellTables: TypeAlias = "tuple[pl.DataFrame, pl.DataFrame]"
"""Native tables ``cell``, of one row, and ``nodes``."""

Settings = dict[str, Any]
"""Native settings of a run."""


@dataclass(frozen=True)
class Alone:
    """Transfers that the native module runs one by one on a network.

    Parameters
    ----------
    rows : sequence of int
        Their places among the transfers that were asked for.
    settings : dict
        Native settings of the network in place of those of the run.
    flows : polars.DataFrame, shape (n_transfers, ...)
        The transfers.
    ends : pair of ndarray
        Their end points.
    """

    rows: Sequence[int]
    settings: Mapping[str, Any]
    flows: pl.DataFrame
    ends: Ends


class Net(Protocol):
    """A network: the dumbbell, a graph of routers, a wireless cell. Nobody has to know which."""

    @property
    def rate_bps(self) -> int:
        """Speed of the interface that totals and samples are of, bit/s."""

    @property
    def fastest_bps(self) -> float:
        """Speed that no path exceeds, bit/s."""

    @property
    def byte_ns(self) -> float:
        """Time that a byte less in the last segment of a transfer saves, ns; 0 where paths differ in it."""

    @property
    def path_columns(self) -> tuple[str, ...]:
        """Columns of :meth:`paths` of which equal values mean an equal path, beside round-trip time and direction."""

    def workload_hosts(self, given: Workload) -> tuple[Hosts, Hosts]:
        """Hosts of a synthetic workload that send, and that receive."""

    def pairs(self, given: Workload) -> Iterator[tuple[int, int]] | None:
        """A sender and a receiver for each user in turn; None: hosts of their own."""

    def ends(self, source: str | None, sink: str | None) -> tuple[Hosts, Hosts] | None:
        """Hosts of the groups that an entry of the workload names; None for those of the whole workload.

        Raises
        ------
        MayflyError
            No such group.
        """

    @property
    def together(self) -> bool | None:
        """Whether :meth:`numbers` are the ranks of the hosts' names among all hosts, else on their side of the link.

        None where the network names its hosts, or has so many: no list of a capture can have others.
        """

    def numbers(self, flows: pl.DataFrame) -> Ends:
        """Numbers of the end points of flows.

        Raises
        ------
        MayflyError
            A host the network does not have.
        """

    def settings(self, compared: Discipline, full_packet_bytes: int, flows: pl.DataFrame | None = None) -> Settings:
        """The fields ``graph``, ``wlan`` and ``traces`` of the native settings; of a run of ``flows`` where given."""

    def records(self, flows: pl.DataFrame, outcomes: pl.DataFrame) -> dict[str, pl.Series]:
        """Columns of the flow records that only this kind of network has."""

    def cell(self, native: CellTables | None, counters: Mapping[str, Any]) -> dict[str, Any] | None:
        """Totals of the wireless cell, from the native ones; None without one."""

    def interfaces(self, native: pl.DataFrame, counters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Totals of every interface of a network of several links, from the native ones; none of others."""

    def paths(self, flows: pl.DataFrame) -> pl.DataFrame:
        """The flows with :attr:`path_columns`."""

    def alone(self, transfers: pl.DataFrame, settings: Settings) -> Iterator[Alone]:
        """Transfers, one of each path and size, in parts of equal settings."""


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
