"""The section ``[network]`` of a scenario: a dumbbell, a parking lot, or any graph of routers."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from mayfly.errors import MayflyError
from mayfly.fields import Buffer, Compared, Delay, Later, Loss, Name, Rate, Reverse, Seconds, Section, Whole, as_written
from mayfly.link_trace.files import read_trace
from mayfly.link_trace.trace import LinkTrace
from mayfly.text import quantity

if TYPE_CHECKING:
    from mayfly.scenario.impairments import Impairment
    from mayfly.scenario.shaping import Shaper
    from mayfly.scenario.tree import Tree
    from mayfly.scenario.wlan import Wlan
else:
    Impairment = Later("mayfly.scenario.impairments", "Impairment").field
    Shaper = Later("mayfly.scenario.shaping", "Shaper").field
    Tree = Later("mayfly.scenario.tree", "Tree").field
    Wlan = Later("mayfly.scenario.wlan", "Wlan").field

MOST_ROUTERS = 1000
MOST_HOSTS = 1_000_000

OF_THE_LINK = (
    "rate",
    "reverse_rate",
    "delay",
    "reverse_delay",
    "loss",
    "exit_rate",
    "exit_rate_up",
    "exit_delay",
    "watched",
    "impairment",
    "link_trace",
    "reverse_link_trace",
    "shaper",
)
"""Fields of the bottleneck link and the receivers' side, which a cell has none of."""


class Link(Section):
    """A link between two routers, with a queue at either end. What is absent is as in ``[network]``."""

    from_: Name = Field(alias="from", description="router at one end; routers are what links name")
    to: Name = Field(description="router at the other end")
    name: str | None = Field(None, min_length=1, max_length=255, description="of the link; `from>to` when absent")
    rate: Rate | None = Field(None, description="speed")
    reverse_rate: Rate | None = Field(None, description="speed in the other direction; as rate of the link when absent")
    delay: Delay | None = Field(None, description="propagation delay, one way")
    reverse_delay: Delay | None = Field(
        None, description="propagation delay in the other direction; as delay of the link when absent"
    )
    buffer: Buffer | None = Field(None, description="limit of the queue: packets or bytes")
    reverse_buffer: Buffer | None = Field(None, description="limit of the queue in the other direction")
    loss: Loss | None = Field(None, description="probability that a packet with data is lost, either way")
    link_trace: str | None = Field(None, min_length=1, description="file: the rate over time, in place of rate")
    reverse_link_trace: str | None = Field(
        None, min_length=1, description="that of the other direction; as link_trace when absent, unless it has a rate"
    )
    discipline: Compared = Field("compare", description="discipline, or `compare`: the one under comparison")
    reverse_discipline: Compared | None = Field(None, description="of the other direction, or `compare`")

    @model_validator(mode="before")
    @classmethod
    def _with_mean_rates(cls, given: Any) -> Any:
        return with_mean_rates(given) if isinstance(given, dict) else given

    @property
    def traces(self) -> tuple[LinkTrace | None, LinkTrace | None]:
        """Of both directions; None where the rate is constant, or that of the network."""
        return traces_of(self)

    @property
    def label(self) -> str:
        """Name of the link."""
        return self.name or f"{self.from_}>{self.to}"


class HostGroup(Section):
    """Hosts at a router, each with an access link. What is absent is as in ``[network]``."""

    at: Name = Field(description="router")
    name: Name = Field(description="of the group: `from` and `to` of the workload; its hosts are name-1, name-2, ...")
    count: Whole = Field(1, ge=1, le=MOST_HOSTS, description="hosts; a single one bears the name of the group")
    first: int | None = Field(
        None, strict=True, ge=0, le=2**31, description="hosts are the whole numbers from this one on, as in a flow list"
    )
    access_rate: Rate | None = Field(None, description="access link to a host")
    access_rate_up: Rate | None = Field(
        None, description="access link from a host; as access_rate of the group when absent"
    )
    access_delay: Delay | None = Field(None, description="propagation delay of an access link, one way")

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts."""
        if self.first is not None:
            return [str(self.first + index) for index in range(self.count)]
        return [self.name] if self.count == 1 else [f"{self.name}-{index + 1}" for index in range(self.count)]


class Network(Section):
    """A dumbbell around one bottleneck link (Chen 2012, Fig. 4.1), several links, or an 802.11 cell."""

    topology: Literal["dumbbell", "parking-lot", "graph"] = Field(
        "dumbbell", description="parking-lot: equal links in a row; graph: `[[network.link]]` and `[[network.hosts]]`"
    )
    bottlenecks: Whole = Field(2, ge=1, le=100, description="links of a parking lot")
    watched: str | None = Field(
        None, description="name of the link of interest, of which totals and samples are taken; the first when absent"
    )
    rate: Rate = Field(as_written("10mbit"), description="bottleneck")
    reverse_rate: Rate | None = Field(None, description="bottleneck in the other direction; as rate when absent")
    delay: Delay = Field(as_written("1ms"), description="propagation delay of the bottleneck, one way; at most 60 s")
    reverse_delay: Delay | None = Field(None, description="that in the other direction; as delay when absent")
    access_rate: Rate = Field(as_written("100mbit"), description="each access link")
    exit_rate: Rate | None = Field(None, description="access link of a receiver; as access_rate when absent")
    exit_rate_up: Rate | None = Field(
        None, description="access link of a receiver, from the receiver; as exit_rate when absent"
    )
    access_delay: Delay = Field(as_written("1ms"), description="propagation delay of a sender's access link, one way")
    exit_delay: Delay = Field(as_written("1ms"), description="propagation delay of a receiver's access link, one way")
    buffer: Buffer = Field(
        as_written(300), description="limit of the bottleneck queue: packets, or bytes such as 450kB"
    )
    reverse_buffer: Buffer | None = Field(None, description="limit of the queue in the other direction; as buffer")
    loss: Loss = Field(
        0.0, description="probability that the bottleneck loses a packet with data after its queue, either way"
    )
    buffer_counts_transmission: bool = Field(False, description="the packet in transmission takes a place (ns-2)")
    reverse_discipline: Reverse = Field("fifo", description="discipline of the other direction, or `same`")
    symmetric: bool = Field(
        False,
        description="no difference between the sides of a dumbbell: flows turned round give the same run turned round. "
        "Hosts are numbered together, the sender of the data has the delay of an RTT of the flow's own, both queues "
        "draw the same random numbers",
    )
    link_trace: str | None = Field(
        None,
        min_length=1,
        description="file with the rate of the bottleneck over time, and what comes on top of its delay, in place of "
        "rate, which becomes the mean: CSV or Mahimahi's format",
    )
    reverse_link_trace: str | None = Field(
        None,
        min_length=1,
        description="that of the other direction; as link_trace when absent, unless reverse_rate is given",
    )
    trace_offset: Seconds = Field(0.0, le=604_800, description="the run begins this far into the traces")
    trace_repeats: bool = Field(
        True, description="traces begin anew at their end; else their last rate goes on, which Mahimahi's has none of"
    )
    shaper: Shaper | None = Field(
        None, description="a shaper before the bottleneck, with the discipline and buffer of the network"
    )
    impairment: tuple[Impairment, ...] = ()
    link: tuple[Link, ...] = ()
    hosts: tuple[HostGroup, ...] = ()
    wlan: Wlan | None = Field(
        None,
        description="an 802.11 cell in place of the bottleneck link: buffer is the access point's, reverse_buffer that "
        "of each station, senders are behind the access point on their access links",
    )

    tree: Tree | None = Field(
        None,
        description="a shaper in place of the bottleneck link: classes in a tree, a queue for each circuit; senders "
        "are on the side of the Internet",
    )

    @model_validator(mode="after")
    def _is_a_network(self) -> "Network":
        if self.topology != "graph":
            for given in ("link", "hosts"):
                if getattr(self, given):
                    raise ValueError(f"topology = '{self.topology}' with [[network.{given}]]: must be 'graph'")
        if self.topology == "graph":
            check_graph(self.link, self.hosts)
        if self.wlan is not None:
            self._is_around_a_cell()
        if self.shaper is not None and (self.topology != "dumbbell" or self.impairment):
            given = f"topology = '{self.topology}'" if self.topology != "dumbbell" else "[[network.impairment]]"
            raise ValueError(f"{given} with [network.shaper]: must be a dumbbell without impairments")
        sources: tuple[Link | Network, ...] = (self, *self.link)
        for trace in (trace for source in sources for trace in source.traces if trace is not None):
            if not self.trace_repeats and trace.has_opportunities:
                raise ValueError(f"trace_repeats = false: {trace.name} has instants, which begin anew")
            if not self.trace_repeats and trace.rate_bps[-1] == 0:
                raise ValueError(f"trace_repeats = false: the last rate of {trace.name} must be above 0, as it goes on")
        if self.tree is not None:
            self._is_around_a_shaper()
        if self.symmetric and (self.wlan is not None or self.topology != "dumbbell"):
            raise ValueError("symmetric = true: must be a dumbbell: one link between two sides")
        links = ["r1>r2"] if self.topology == "dumbbell" else [link.label for link in links_of(self)]
        if self.watched is not None and self.watched not in links:
            raise ValueError(f"watched = '{self.watched}': must be a link: {named(links)}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _with_buffers_in_bytes(cls, given: Any) -> Any:
        """The rate of a trace is its mean; a buffer in time is what the link sends in it."""
        if not isinstance(given, dict):
            return given
        return buffers_in_bytes(with_mean_rates(given), cls.model_fields["rate"].default)

    @property
    def traces(self) -> tuple[LinkTrace | None, LinkTrace | None]:
        """Of both directions of the bottleneck; None where the rate is constant."""
        return traces_of(self)

    @classmethod
    @cache
    def _plain(cls) -> dict[str, Any]:
        return dict(cls())

    def _is_around_a_shaper(self) -> None:
        """Refuse what a tree takes the place of."""
        if self.topology != "dumbbell" or self.wlan is not None or self.symmetric:
            raise ValueError("[network.tree]: must be in a dumbbell whose sides differ, without [network.wlan]")
        for name in ("rate", "reverse_rate", "watched", "impairment", "link_trace", "reverse_link_trace", "shaper"):
            if getattr(self, name) != type(self)._plain()[name]:
                raise ValueError(f"{name} with [network.tree]: must be left out: the tree has the rates")

    def _is_around_a_cell(self) -> None:
        """Refuse what a cell takes the place of."""
        if self.topology != "dumbbell":
            raise ValueError(f"topology = '{self.topology}' with [network.wlan]: must be 'dumbbell'")
        for name in OF_THE_LINK:
            # What a summary tells is all fields, with their defaults.
            if getattr(self, name) != type(self)._plain()[name]:
                raise ValueError(
                    f"{name} with [network.wlan]: must be left out: the cell takes the place of the bottleneck link"
                )


def with_mean_rates(given: dict[str, Any]) -> dict[str, Any]:
    """A section whose ``rate`` and ``reverse_rate`` are the means of their traces, where it names any.

    Raises
    ------
    ValueError
        A file that is no trace, in one line.
    """
    found = dict(given)
    for trace, rate in (("link_trace", "rate"), ("reverse_link_trace", "reverse_rate")):
        # Another type is refused by the field.
        if isinstance(given.get(trace), str) and given[trace]:
            try:
                found[rate] = round(read_trace(given[trace]).mean_bps)
            except MayflyError as error:
                raise ValueError(str(error)) from None
    return found


def traces_of(source: "Link | Network") -> tuple[LinkTrace | None, LinkTrace | None]:
    """Traces of both directions of a link or a network."""
    forward = None if source.link_trace is None else read_trace(source.link_trace)
    if source.reverse_link_trace is not None:
        return forward, read_trace(source.reverse_link_trace)
    return forward, None if source.reverse_rate is not None else forward


def buffers_in_bytes(given: dict[str, Any], default_rate: object) -> dict[str, Any]:
    """A section ``[network]`` whose buffers in time are bytes.

    Parameters
    ----------
    given : dict
        As in the scenario.
    default_rate : object
        Rate of the link where none is given.

    Returns
    -------
    dict
        ``buffer`` in bytes where it was a time: what the link sends in it, at its rate in that direction; the reverse
        one follows when it is absent.

    Raises
    ------
    ValueError
        A buffer in time without a link of one rate.

    Examples
    --------
    >>> buffers_in_bytes({"rate": "10mbit", "reverse_rate": "2mbit", "buffer": "20ms"}, "10mbit")["reverse_buffer"]
    (5000, 'bytes')
    """
    buffer, reverse = given.get("buffer"), given.get("reverse_buffer")
    if not (quantity.is_time(buffer) or quantity.is_time(reverse)):
        return given
    if given.get("topology", "dumbbell") == "graph" or given.get("wlan") is not None:
        raise ValueError(
            f"a buffer of {quantity.shown(buffer)}: must be packets or bytes where links have rates of their own"
        )
    try:
        rate = quantity.rate_bps(given.get("rate", default_rate))
        reverse_rate = quantity.rate_bps(given["reverse_rate"]) if given.get("reverse_rate") is not None else rate
        found = dict(given)
        if quantity.is_time(buffer):
            found["buffer"] = quantity.buffer(buffer, "buffer", rate_bps=rate)
            reverse = buffer if reverse is None else reverse
        if quantity.is_time(reverse):
            found["reverse_buffer"] = quantity.buffer(reverse, "reverse_buffer", rate_bps=reverse_rate)
    except MayflyError as error:
        raise ValueError(str(error)) from None
    return found


def links_of(network: Network) -> tuple[Link, ...]:
    """Links of a network that is no dumbbell.

    Parameters
    ----------
    network : Network
        Parking lot or graph.

    Returns
    -------
    tuple of Link
        As given; of a parking lot ``r1>r2``, ``r2>r3``, ...

    Examples
    --------
    >>> [link.label for link in links_of(Network(topology="parking-lot", bottlenecks=3))]
    ['r1>r2', 'r2>r3', 'r3>r4']
    """
    if network.topology == "graph":
        return network.link
    return tuple(Link(from_=f"r{hop}", to=f"r{hop + 1}") for hop in range(1, network.bottlenecks + 1))


def check_graph(links: Iterable[Link], groups: Iterable[HostGroup]) -> None:
    """Refuses links and hosts that make no network.

    Parameters
    ----------
    links, groups : iterable
        As given.

    Raises
    ------
    ValueError
        In one line: a name twice, a router nobody links, two links between the same routers, too many, a part that
        nothing joins to the rest.
    """
    links, groups = list(links), list(groups)
    if not links or len(groups) < 2:
        counts = f"{len(links)} [[network.link]] and {len(groups)} [[network.hosts]]"
        raise ValueError(f"topology = 'graph' with {counts}: must be at least 1 and 2")
    for link in links:
        if link.from_ == link.to:
            raise ValueError(f"link {link.label}: must join two routers")
    pairs = [(min(link.from_, link.to), max(link.from_, link.to)) for link in links]
    refuse_twice("link between", (" and ".join(pair) for pair in pairs))
    refuse_twice("link", (link.label for link in links))
    refuse_twice("hosts", (group.name for group in groups))
    if (count := sum(group.count for group in groups)) > MOST_HOSTS:
        raise ValueError(f"{count} hosts: must be at most {MOST_HOSTS}")
    refuse_twice("host", (host for group in groups for host in group.hosts))
    routers = dict.fromkeys(router for link in links for router in (link.from_, link.to))
    if len(routers) > MOST_ROUTERS:
        raise ValueError(f"{len(routers)} routers: must be at most {MOST_ROUTERS}")
    for group in groups:
        if group.at not in routers:
            raise ValueError(f"hosts {group.name}: at = '{group.at}': must be a router of a link: {named(routers)}")
    if apart := set(routers) - joined(next(iter(routers)), pairs):
        first = next(router for router in routers if router in apart)
        raise ValueError(f"no path from {next(iter(routers))} to {first}: links must join all routers")


def refuse_twice(what: str, names: Iterable[str]) -> None:
    """Refuses a name that comes a second time."""
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} {name} is there twice")
        seen.add(name)


def joined(start: str, pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Routers that links join to ``start``."""
    beside: dict[str, list[str]] = {}
    for one, other in pairs:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    reached, waiting = {start}, [start]
    while waiting:
        fresh = [router for router in beside.get(waiting.pop(), ()) if router not in reached]
        reached.update(fresh)
        waiting += fresh
    return reached


def named(names: Iterable[str]) -> str:
    """The first of ``names``, for messages."""
    names = list(names)
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
