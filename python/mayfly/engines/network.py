"""The network of a scenario as the guest takes it: routers, links, hosts, paths (``kernel/uml/network.py``)."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Integers
from mayfly.discipline_registry import Discipline, parse
from mayfly.discipline_registry.leaves import Place, leaf_of, leaf_words
from mayfly.engines.transport import transport_of
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.dumbbell import hosts

MOST_HOSTS = 250
"""Hosts of a side: a namespace each; where there are more, those that only have UDP share one."""

MOST_CROWD = 2**21 - 2
"""Hosts of a side that share a namespace: the addresses of their network."""


@dataclass(frozen=True)
class Laid:
    """A network with the hosts of a flow list.

    Parameters
    ----------
    links : list of dict
        As the guest takes them: ``ends``, two routers by number, and ``ways``, forth and back.
    routers : int
        How many.
    hosts : list of dict
        As the guest takes them.
    src, dst : ndarray, shape (n_flows,)
        Number of either end among all hosts.
    watched : int
        Number of the link of interest.
    """

    links: list[dict[str, Any]]
    routers: int
    hosts: list[dict[str, Any]]
    src: Integers
    dst: Integers
    watched: int = 0
    routes: list[list[int | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Finds the paths."""
        self.routes.extend(routes_of(self.routers, self.links))

    def settings(self, scenario: Scenario, mtu_bytes: int) -> dict[str, Any]:
        """The network as ``kernel/uml/network.py`` takes it; ``mtu_bytes`` of all devices."""
        return {
            "routers": self.routers,
            "links": self.links,
            "routes": self.routes,
            "watched": self.watched,
            "hosts": self.hosts,
            "overhead_bytes": transport_of(scenario.tcp).overhead_bytes,
            "mtu": mtu_bytes,
        }

    def path(self, flow: int) -> list[dict[str, Any]]:
        """The ways that packets of a flow take from its sender to its receiver."""
        at, end = (self.hosts[number]["router"] for number in (self.src[flow], self.dst[flow]))
        found = []
        while at != end:
            link = self.links[self.routes[at][end] or 0]
            back = link["ends"].index(at)
            found.append(link["ways"][back])
            at = link["ends"][1 - back]
        return found


def laid(scenario: Scenario, discipline: Discipline, flows: pl.DataFrame) -> Laid:
    """The network of a scenario with the hosts of its flows.

    Parameters
    ----------
    scenario : Scenario
        Its section ``[network]``.
    discipline : Discipline
        The one under comparison.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list.

    Returns
    -------
    Laid

    Raises
    ------
    MayflyError
        What the kernel does not have, or more hosts than it can.
    """
    return _dumbbell(scenario, discipline, flows)


def links_of(scenario: Scenario, discipline: Discipline) -> list[dict[str, Any]]:
    """The links of a scenario as the guest takes them.

    Parameters
    ----------
    scenario : Scenario
        Its section ``[network]``.
    discipline : Discipline
        The one under comparison.

    Returns
    -------
    list of dict
        Each with ``ends``, two routers by number, and ``ways``, forth and back (:func:`way`).

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    network = scenario.network
    reverse = discipline if network.reverse_discipline == "same" else parse(network.reverse_discipline)
    back_rate, back_buffer = network.reverse_rate or network.rate, network.reverse_buffer or network.buffer
    ways = [
        way(scenario, discipline, network.buffer, network.rate, network.delay),
        way(scenario, reverse, back_buffer, back_rate, network.delay),
    ]
    return [{"ends": [0, 1], "ways": ways}]


def way(
    scenario: Scenario, discipline: Discipline, buffer: tuple[int, str], rate_bps: int, delay_s: float
) -> dict[str, Any]:
    """One direction of a link as ``kernel/uml/interfaces.py`` takes it.

    Parameters
    ----------
    scenario : Scenario
        With the packets.
    discipline : Discipline
        At its beginning.
    buffer : tuple of int and str
        Its limit, in packets or bytes.
    rate_bps : int
        Its speed.
    delay_s : float
        Its propagation delay.

    Returns
    -------
    dict
        ``rate_bps``, ``delay_s``, ``leaf`` as tc takes it, ``leaf_shapes``: whether with a shaper of its own.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    limit, unit = buffer
    in_transmission = 1 if scenario.network.buffer_counts_transmission else 0
    overhead = transport_of(scenario.tcp).overhead_bytes
    shapes = leaf_of(discipline).shapes
    limit -= in_transmission * (1 if unit == "packets" else full)
    place = Place(limit, unit, full, rate_bps, overhead, shapes)
    return {
        "rate_bps": rate_bps,
        "delay_s": delay_s,
        "leaf": leaf_words(discipline, place),
        "leaf_shapes": shapes,
    }


def routes_of(routers: int, links: Sequence[dict[str, Any]]) -> list[list[int | None]]:
    """Static paths: the least propagation delay, then the fewest links, then the link listed first.

    Parameters
    ----------
    routers : int
        How many.
    links : sequence of dict
        As :func:`links_of` gives them.

    Returns
    -------
    list of list of int or None, shape (n_routers, n_routers)
        By router and router where a path ends, the link that leads on; None where there is no path, or no way to go.

    Examples
    --------
    >>> ways = [{"delay_s": 0.001}, {"delay_s": 0.001}]
    >>> routes_of(3, [{"ends": [0, 1], "ways": ways}, {"ends": [1, 2], "ways": ways}])
    [[None, 0, 0], [0, None, 1], [1, 1, None]]
    """
    into: list[list[tuple[int, int, int]]] = [[] for _ in range(routers)]
    for number, link in enumerate(links):
        for back, one in enumerate(link["ways"]):
            into[link["ends"][1 - back]].append((link["ends"][back], number, round(one["delay_s"] * 1e9)))
    columns = [_towards(end, into) for end in range(routers)]
    return [[column[router] for column in columns] for router in range(routers)]


def _towards(end: int, into: list[list[tuple[int, int, int]]]) -> list[int | None]:
    """The link that leads on from each router to one; ``into`` has what leads into a router: router, link, delay."""
    following: list[int | None] = [None] * len(into)
    length = {end: (0, 0)}
    reached = [((0, 0), end)]
    while reached:
        so_far, router = heapq.heappop(reached)
        if so_far > length[router]:
            continue
        for before, link, delay_ns in into[router]:
            longer = (so_far[0] + delay_ns, so_far[1] + 1)
            known = length.get(before)
            if known is None or longer < known:
                length[before], following[before] = longer, link
                heapq.heappush(reached, (longer, before))
            elif longer == known:
                present = following[before]
                following[before] = link if present is None else min(link, present)
    return following


def _dumbbell(scenario: Scenario, discipline: Discipline, flows: pl.DataFrame) -> Laid:
    network = scenario.network
    src, dst = hosts(flows)
    up = (flows["direction"] == "up").to_numpy()
    left, right = np.where(up, dst, src), np.where(up, src, dst)
    udp = (flows["protocol"] == "udp").to_numpy()
    to_bps = network.exit_rate or network.access_rate
    near = {"router": 0, "out_bps": network.access_rate, "in_bps": network.access_rate}
    far = {"router": 1, "out_bps": network.exit_rate_up or to_bps, "in_bps": to_bps}
    delays = _access_delays(scenario, flows, left)
    found = [
        *(near | row | {"delay_s": delays[k]} for k, row in enumerate(_numbered("src", left, udp))),
        *(far | row | {"delay_s": network.exit_delay} for row in _numbered("dst", right, udp)),
    ]
    count = int(left.max()) + 1
    ends = np.where(up, right + count, left), np.where(up, left, right + count)
    return Laid(links_of(scenario, discipline), 2, found, *ends)


def _numbered(name: str, of_flows: Integers, udp: Booleans) -> list[dict[str, Any]]:
    """The hosts of a side: ``number`` and whether it is of the ``crowd``."""
    count = int(of_flows.max()) + 1
    crowd = np.ones(count, dtype=bool)
    crowd[of_flows[~udp]] = False
    if count <= MOST_HOSTS:
        crowd[:] = False
    if (many := int((~crowd).sum())) > MOST_HOSTS:
        raise MayflyError(f"{name}: {many} hosts with TCP: must be at most {MOST_HOSTS} at a side with --engine linux")
    if (many := int(crowd.sum())) > MOST_CROWD:
        raise MayflyError(f"{name}: {many} hosts: must be at most {MOST_CROWD} at a side with --engine linux")
    numbers = np.where(crowd, np.cumsum(crowd), np.cumsum(~crowd)) - 1
    return [{"number": int(number), "crowd": bool(one)} for number, one in zip(numbers, crowd, strict=True)]


def _access_delays(scenario: Scenario, flows: pl.DataFrame, left: Integers) -> list[float]:
    """One-way delay of the access link of each host at the left: what makes up the round-trip time of its flows."""
    network = scenario.network
    found = [network.access_delay] * (int(left.max()) + 1)
    if flows["rtt_s"].null_count() == flows.height:
        return found
    own = flows.select(host=pl.Series(left), rtt_s="rtt_s")
    for host, times in own.group_by("host").agg(pl.col("rtt_s").unique()).sort("host").iter_rows():
        if len(times) > 1:
            raise MayflyError("rtt_s: flows of one host must have one round-trip time with --engine linux")
        if times[0] is None:
            continue
        found[host] = times[0] / 2 - network.delay - network.exit_delay
        if found[host] < 0:
            least = 2e3 * (network.delay + network.exit_delay)
            raise MayflyError(f"rtt_s = {times[0]:g}: must be at least {least:g} ms, that of the other links")
    return found
