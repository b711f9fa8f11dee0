"""Networks of several links: which hosts there are, and the network as the native module takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from mayfly.discipline_registry import Discipline, parse
from mayfly.errors import MayflyError
from mayfly.link_trace.trace import LinkTrace
from mayfly.scenario.network import MOST_HOSTS, HostGroup, Link, Network, links_of, named
from mayfly.scenario.scenario import Scenario, Workload
from mayfly.simulate.network.dumbbell import SIDES, sides
from mayfly.simulate.network.protocol import Alone, CellTables, Ends, Settings, totals
from mayfly.simulate.network.shaping import native_trace
from mayfly.workload.hosts import Hosts


@dataclass(frozen=True)
class Side:
    """One direction of a link.

    Parameters
    ----------
    rate_bps : int
        Its speed.
    delay_s : float
        Its propagation delay.
    loss : float
        Probability that a packet with data is lost behind the queue.
    buffer : tuple of int and str
        Limit of the queue, in packets or bytes.
    discipline : Discipline
        Of the queue.
    trace : LinkTrace or None
        Its rate over time, where it varies; the rate is the mean then.
    """

    rate_bps: int
    delay_s: float
    loss: float
    buffer: tuple[int, str]
    discipline: Discipline
    trace: LinkTrace | None = None


@dataclass(frozen=True)
class Graph:
    """Links and hosts of a network that is no dumbbell.

    Parameters
    ----------
    network : Network
        What links and hosts fall back on.
    links : tuple of Link
        In order: link n has the interfaces 2 n and 2 n + 1.
    groups : tuple of HostGroup
        Hosts are numbered from 0, group by group.
    """

    network: Network
    links: tuple[Link, ...]
    groups: tuple[HostGroup, ...]

    @cached_property
    def routers(self) -> dict[str, int]:
        """Number of each router."""
        found = dict.fromkeys(router for link in self.links for router in (link.from_, link.to))
        return {router: index for index, router in enumerate(found)}

    @cached_property
    def hosts(self) -> dict[str, tuple[int, str, str]]:
        """Number of each host, and the first and last host of its group, which have the same paths."""
        found: dict[str, tuple[int, str, str]] = {}
        for group in self.groups:
            names = group.hosts
            for host in names:
                found[host] = (len(found), names[0], names[-1])
        return found

    @cached_property
    def watched(self) -> int:
        """Number of the link of interest."""
        labels = [link.label for link in self.links]
        return 0 if self.network.watched is None else labels.index(self.network.watched)

    def link_rate_bps(self, link: Link, reverse: bool = False) -> int:
        """Speed of a link in one direction, bit/s."""
        forth = link.rate or self.network.rate
        if not reverse:
            return forth
        return link.reverse_rate or (link.rate or self.network.reverse_rate or forth)

    @property
    def rate_bps(self) -> int:
        """Speed of the interface of interest, bit/s."""
        return self.named_rates()[2 * self.watched][1]

    @property
    def fastest_bps(self) -> float:
        """Speed of the fastest interface, bit/s."""
        return max(rate for _, rate in self.named_rates())

    byte_ns = 0.0
    """A segment's time too much, of 300 or more."""

    path_columns = ("src", "dst")

    together = None
    """The network has the hosts."""

    def workload_hosts(self, given: Workload) -> tuple[Hosts, Hosts]:
        """As of a dumbbell; every entry of the workload has hosts of its groups in their place."""
        return sides(given)

    def pairs(self, given: Workload) -> None:
        """Users have hosts of their groups."""
        return None

    def ends(self, source: str | None, sink: str | None) -> tuple[Hosts, Hosts]:
        """Hosts of both groups, ``senders`` and ``receivers`` where none is named."""
        groups = [self.group(word or side) for word, side in zip((source, sink), SIDES, strict=True)]
        return groups[0].hosts, groups[1].hosts

    def named_rates(self) -> list[tuple[str, int]]:
        """Name and speed (bit/s) of every interface, in order."""
        found = []
        for link in self.links:
            back = f"{link.to}>{link.from_}" if link.name is None else f"{link.name} (back)"
            found += [(link.label, self.link_rate_bps(link)), (back, self.link_rate_bps(link, reverse=True))]
        return found

    def group(self, name: str) -> HostGroup:
        """The group of that name, or a refusal."""
        for group in self.groups:
            if group.name == name:
                return group
        known = named(group.name for group in self.groups)
        raise MayflyError(f"hosts '{name}': no such group in the network: must be one of {known}")

    def numbers(self, flows: pl.DataFrame) -> Ends:
        """Numbers of the end points of flows.

        Parameters
        ----------
        flows : polars.DataFrame, shape (n_flows, ...)
            With ``src`` and ``dst``.

        Returns
        -------
        src, dst : ndarray, shape (n_flows,), uint32
            Number of each host in the network.

        Raises
        ------
        MayflyError
            A host the network does not have.
        """
        src, dst = (self._ends(flows, end, 0, pl.UInt32).to_numpy() for end in ("src", "dst"))
        return src, dst

    def paths(self, flows: pl.DataFrame) -> pl.DataFrame:
        """The flows from the first hosts of their groups to the last ones: equal ends, equal paths."""
        ends = {"src": 1, "dst": 2}
        return flows.with_columns(**{end: self._ends(flows, end, part, pl.String) for end, part in ends.items()})

    def thinned(self) -> Graph:
        """The same network with the first and the last host of each group only: all that :meth:`paths` needs."""
        groups = []
        for group in self.groups:
            kept = dict.fromkeys((group.hosts[0], group.hosts[-1]))
            groups += [group.model_copy(update={"name": host, "count": 1, "first": None}) for host in kept]
        return Graph(self.network, self.links, tuple(groups))

    def _ends(self, flows: pl.DataFrame, end: str, part: int, dtype: type[pl.DataType]) -> pl.Series:
        names = flows[end].cast(pl.String)
        distinct = names.unique(maintain_order=True).to_list()
        if unknown := [name for name in distinct if name not in self.hosts]:
            known = named(self.hosts)
            raise MayflyError(f"{end} = {unknown[0]}: no such host in the network: must be one of {known}")
        values = pl.Series([self.hosts[name][part] for name in distinct], dtype=dtype)
        return names.replace_strict(pl.Series(distinct, dtype=pl.String), values)

    def settings(self, compared: Discipline, full_packet_bytes: int, flows: pl.DataFrame | None = None) -> Settings:
        """The graph as the native module takes it.

        Parameters
        ----------
        compared : Discipline
            Of the interfaces that are compared.
        full_packet_bytes : int
            Wire length of a full packet, bytes.

        flows : polars.DataFrame, optional
            Not needed.

        Returns
        -------
        dict
            ``graph``: integers in ns, bit/s, bytes and packets.
        """
        links = [self._native_link(link, compared, full_packet_bytes) for link in self.links]
        groups = [self.native_hosts(group) for group in self.groups]
        graph = {"routers": len(self.routers), "links": links, "hosts": groups, "watched": self.watched}
        return {"graph": graph, "wlan": None, "traces": [None, None]}

    def records(self, flows: pl.DataFrame, outcomes: pl.DataFrame) -> dict[str, pl.Series]:
        """None of its own."""
        return {}

    def cell(self, native: CellTables | None, counters: Mapping[str, Any]) -> None:
        """There is none."""
        return None

    def interfaces(self, native: pl.DataFrame, counters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Name, speed and totals of every interface: :func:`mayfly.simulate.network.protocol.totals`."""
        return totals(self.named_rates(), native.to_dicts(), counters)

    def alone(self, transfers: pl.DataFrame, settings: Settings) -> Iterator[Alone]:
        """All at once, in the network without the hosts that no transfer alone needs."""
        thinned = self.thinned()
        hosts = [thinned.native_hosts(group) for group in thinned.groups]
        graph = settings["graph"] | {"hosts": hosts}
        yield Alone(range(transfers.height), {"graph": graph}, transfers, thinned.numbers(transfers))

    def sides_of(self, link: Link, compared: Discipline) -> tuple[Side, Side]:
        """Both directions of a link, forth and back: what it leaves out, the network says.

        Parameters
        ----------
        link : Link
            One of the network.
        compared : Discipline
            Of the interfaces that are compared.

        Returns
        -------
        pair of Side
        """
        network = self.network
        buffer = link.buffer or network.buffer
        reverse_buffer = link.reverse_buffer or link.buffer or network.reverse_buffer or network.buffer
        reverse = link.reverse_discipline or network.reverse_discipline
        delays = [network.delay, network.delay if network.reverse_delay is None else network.reverse_delay]
        if link.delay is not None:
            delays = [link.delay, link.delay]
        if link.reverse_delay is not None:
            delays[1] = link.reverse_delay
        # What has neither a rate nor a trace of its own is as in the network.
        as_network = link.rate is None and link.reverse_rate is None
        traces = network.traces if as_network else link.traces
        loss = network.loss if link.loss is None else link.loss

        def side(back: bool, limit: tuple[int, str], written: str) -> Side:
            discipline = compared if written in ("compare", "same") else parse(written)
            rate_bps = self.link_rate_bps(link, back)
            return Side(rate_bps, delays[back], loss, limit, discipline, traces[back])

        return side(False, buffer, link.discipline), side(True, reverse_buffer, reverse)

    def _native_link(self, link: Link, compared: Discipline, full_packet_bytes: int) -> dict[str, Any]:
        def native(side: Side) -> dict[str, Any]:
            limit, unit = side.buffer
            one = full_packet_bytes if unit == "bytes" else 1
            return {
                "rate_bps": side.rate_bps,
                "delay_ns": round(side.delay_s * 1e9),
                "loss": side.loss,
                "limit": {unit: limit - (one if self.network.buffer_counts_transmission else 0)},
                "discipline": side.discipline.native,
                "trace": native_trace(self.network, side.trace),
            }

        forward, reverse = self.sides_of(link, compared)
        ends = {"from_router": self.routers[link.from_], "to_router": self.routers[link.to]}
        return ends | {"forward": native(forward), "reverse": native(reverse)}

    def native_hosts(self, group: HostGroup) -> dict[str, Any]:
        """A group as the native module takes it."""
        network = self.network
        down = group.access_rate or network.access_rate
        delay = network.access_delay if group.access_delay is None else group.access_delay
        return {
            "at": self.routers[group.at],
            "count": group.count,
            "up_bps": group.access_rate_up or down,
            "down_bps": down,
            "delay_ns": round(delay * 1e9),
        }


def graph_of(scenario: Scenario) -> Graph | None:
    """Links and hosts of a scenario.

    Parameters
    ----------
    scenario : Scenario
        With a network.

    Returns
    -------
    Graph or None
        None for a dumbbell, whose hosts are those that the flows name. A parking lot has ``senders`` at the first
        router, ``receivers`` at the last, and for each link n ``cross-n`` before it and ``cross-n-to`` behind it.

    Examples
    --------
    >>> from mayfly.scenario.scenario import scenario_of
    >>> lot = graph_of(scenario_of({"network": {"topology": "parking-lot"}}, "example"))
    >>> [group.name for group in lot.groups]
    ['senders', 'receivers', 'cross-1', 'cross-1-to', 'cross-2', 'cross-2-to']
    """
    network = scenario.network
    if network.topology == "dumbbell":
        return None
    if network.topology == "graph":
        return Graph(network, network.link, network.hosts)
    groups = parking_lot_hosts(scenario)
    if (count := sum(group.count for group in groups)) > MOST_HOSTS:
        raise MayflyError(
            f"{count} hosts in a parking lot of {network.bottlenecks} links: must be at most {MOST_HOSTS}"
        )
    return Graph(network, links_of(network), groups)


def parking_lot_hosts(scenario: Scenario) -> tuple[HostGroup, ...]:
    """Hosts of a parking lot: as many in each group as the workload has senders and receivers."""
    network, given = scenario.network, scenario.workload
    exits: dict[str, Any] = {
        "access_rate": network.exit_rate or network.access_rate,
        "access_rate_up": network.exit_rate_up,
        "access_delay": network.exit_delay,
    }
    groups = [
        HostGroup(at="r1", name="senders", count=given.senders),
        HostGroup(at=f"r{network.bottlenecks + 1}", name="receivers", count=given.receivers, **exits),
    ]
    for hop in range(1, network.bottlenecks + 1):
        groups.append(HostGroup(at=f"r{hop}", name=f"cross-{hop}", count=given.senders))
        groups.append(HostGroup(at=f"r{hop + 1}", name=f"cross-{hop}-to", count=given.receivers, **exits))
    return tuple(groups)
