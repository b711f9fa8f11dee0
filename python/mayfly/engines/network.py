"""The network of a scenario as the guest takes it: routers, links, hosts, paths (``kernel/uml/network.py``)."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Integers
from mayfly.discipline_registry import Discipline, parse
from mayfly.discipline_registry.tc_options import Place, leaf_of, leaf_words
from mayfly.engines.round_trips import OwnLinks, give
from mayfly.engines.schedule import schedule_of
from mayfly.engines.transport import transport_of
from mayfly.errors import MayflyError
from mayfly.scenario.network import Network
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.tree import Circuit, Node
from mayfly.simulate.network.dumbbell import hosts
from mayfly.simulate.network.graph import Graph, Side, graph_of
from mayfly.simulate.network.tree import Shaped, leaf_of_circuit, placed, shaped_of

MANY_HOSTS = 250
"""Hosts of a side that have a namespace each in any case; where there are more, those that only have UDP share one."""

MOST_HOSTS = 1000
"""Hosts of a side with TCP."""

FREE_BPS = 100_000_000_000
"""Rate of the wire behind a tree, bit/s, which takes next to no time."""

MOST_LINKS = 120
"""Links of a network, each with two networks of addresses."""

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
    own : OwnLinks
        Flows with an access link of their own.
    watched : int
        Number of the link of interest.
    routes : list of list
        Of :func:`routes_of`.
    """

    links: list[dict[str, Any]]
    routers: int
    hosts: list[dict[str, Any]]
    src: Integers
    dst: Integers
    own: OwnLinks
    routes: list[list[int | None]]
    watched: int = 0

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
        return path(self.links, self.routes, at, end)

    def access_delay_s(self, flow: int, end: str) -> float:
        """Propagation delay of the access link of a flow at one of its ends, ``src`` or ``dst``."""
        host = self.hosts[(self.src if end == "src" else self.dst)[flow]]
        own = self.own.of_flows[flow]
        if own is None or own[0] != end:
            return float(host["delay_s"])
        return float(dict(host["own"])[own[1]])


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
    if graph := graph_of(scenario):
        return _graph(graph, scenario, discipline, flows)
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
        Each with ``ends``, two routers by number, and ``ways``, forth and back (:func:`way`), with a ``schedule``
        where the link varies.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    if graph := graph_of(scenario):
        ends = [[graph.routers[link.from_], graph.routers[link.to]] for link in graph.links]
        sides = [graph.sides_of(link, discipline) for link in graph.links]
    elif (shaped := shaped_of(scenario)) is not None:
        ways = [tree_way(scenario, shaped, discipline, reverse) for reverse in (False, True)]
        return [{"ends": [0, 1], "ways": ways}]
    else:
        ends, sides = [[0, 1]], [_sides(scenario.network, discipline)]
    if len(ends) > MOST_LINKS:
        raise MayflyError(f"{len(ends)} links: must be at most {MOST_LINKS} with --engine linux")
    return [
        {"ends": own, "ways": [way(scenario, side) for side in both]} for own, both in zip(ends, sides, strict=True)
    ]


def _sides(network: Network, discipline: Discipline) -> tuple[Side, Side]:
    """Both directions of the link of a dumbbell."""
    reverse = discipline if network.reverse_discipline == "same" else parse(network.reverse_discipline)
    back_rate, back_buffer = network.reverse_rate or network.rate, network.reverse_buffer or network.buffer
    back_delay = network.delay if network.reverse_delay is None else network.reverse_delay
    forward, back = network.traces
    return (
        Side(network.rate, network.delay, network.loss, network.buffer, discipline, forward),
        Side(back_rate, back_delay, network.loss, back_buffer, reverse, back),
    )


def way(scenario: Scenario, side: Side) -> dict[str, Any]:
    """One direction of a link as ``kernel/uml/interfaces.py`` takes it.

    Parameters
    ----------
    scenario : Scenario
        With the packets.
    side : Side
        The direction.

    Returns
    -------
    dict
        ``rate_bps``, ``delay_s``, ``loss``, ``leaf`` as tc takes it, ``leaf_shapes``: whether with a shaper of its own;
        of a link that varies ``schedule``.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    limit, unit = side.buffer
    in_transmission = 1 if scenario.network.buffer_counts_transmission else 0
    overhead = transport_of(scenario.tcp).overhead_bytes
    shapes = leaf_of(side.discipline).shapes
    limit -= in_transmission * (1 if unit == "packets" else full)
    varies = {}
    if side.trace is not None:
        if side.loss:
            raise MayflyError(f"loss = {side.loss}: must be 0 on a link that varies with --engine linux")
        varies = {"schedule": schedule_of(side.trace, scenario.network, side.delay_s, scenario.duration)}
    return varies | {
        "rate_bps": side.rate_bps,
        "delay_s": side.delay_s,
        "loss": side.loss,
        "leaf": leaf_words(side.discipline, Place(limit, unit, full, side.rate_bps, overhead, shapes)),
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


def path(links: Sequence[dict[str, Any]], routes: list[list[int | None]], at: int, end: int) -> list[dict[str, Any]]:
    """The ways from one router to another.

    Parameters
    ----------
    links : sequence of dict
        As :func:`links_of` gives them.
    routes : list of list
        As :func:`routes_of` gives them.
    at, end : int
        The routers.

    Returns
    -------
    list of dict

    Raises
    ------
    MayflyError
        No path joins them.
    """
    found = []
    while at != end:
        number = routes[at][end]
        if number is None:
            raise MayflyError("flows: no path between their hosts")
        back = links[number]["ends"].index(at)
        found.append(links[number]["ways"][back])
        at = links[number]["ends"][1 - back]
    return found


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
    shaped = shaped_of(scenario)
    src, dst = hosts(flows) if shaped is None else shaped.numbers(flows)
    up = (flows["direction"] == "up").to_numpy()
    left, right = np.where(up, dst, src), np.where(up, src, dst)
    udp = (flows["protocol"] == "udp").to_numpy()
    to_bps = network.exit_rate or network.access_rate
    near = {"router": 0, "out_bps": network.access_rate, "in_bps": network.access_rate}
    far = {"router": 1, "out_bps": network.exit_rate_up or to_bps, "in_bps": to_bps}
    found = [
        *(near | row | {"delay_s": network.access_delay} for row in _numbered("src", left, udp)),
        *(far | row | {"delay_s": network.exit_delay} for row in _numbered("dst", right, udp)),
    ]
    count = int(left.max()) + 1
    ends = np.where(up, right + count, left), np.where(up, left, right + count)
    links = links_of(scenario, discipline)
    if shaped is not None:
        _house(links[0]["ways"], shaped, flows, count)
    return _laid(links, 2, found, ends, ~up | network.symmetric, flows)


def _house(ways: list[dict[str, Any]], shaped: Shaped, flows: pl.DataFrame, first: int) -> None:
    """Gives the circuits of a tree their hosts; ``first`` is the number of the first one on the receivers' side."""
    of: dict[str | None, list[int]] = {}
    for number, circuit in enumerate(placed(shaped.of_circuits(flows)).circuits):
        of.setdefault(circuit, []).append(first + number)
    for one in ways:
        for row in one["tree"]:
            row["hosts"] = of.get(row.pop("name"), [])


def tree_way(scenario: Scenario, shaped: Shaped, compared: Discipline, reverse: bool) -> dict[str, Any]:
    """One direction of a shaper as ``kernel/uml/interfaces.py`` takes it.

    Parameters
    ----------
    scenario : Scenario
        With the packets.
    shaped : Shaped
        Its network.
    compared : Discipline
        Of the circuits under comparison.
    reverse : bool
        Whether packets come from the circuits.

    Returns
    -------
    dict
        As :func:`way` gives it, with ``wire_bps``, ``match``, and ``tree``: a row per class, with its ``name``.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    network, full = scenario.network, scenario.tcp.mss + scenario.tcp.headers_bytes
    overhead = transport_of(scenario.tcp).overhead_bytes
    rows: list[dict[str, Any]] = []
    number: dict[str, int] = {}
    everyone: list[Node | Circuit] = [*shaped.tree.node, *shaped.tree.circuit]
    for given in everyone:
        rate, ceil = given.shares(reverse)
        row = {"name": given.name, "parent": None if given.parent is None else number[given.parent], "leaf": ""}
        row |= {"rate_bps": ceil if given.parent is None else rate, "ceil_bps": ceil, "prio": 0}
        if isinstance(given, Circuit):
            discipline, (limit, unit) = leaf_of_circuit(given, network, compared, reverse)
            limit -= (full if unit == "bytes" else 1) if network.buffer_counts_transmission else 0
            row |= {"prio": given.prio, "leaf": leaf_words(discipline, Place(limit, unit, full, ceil, overhead))}
        rows.append(row | {"burst": given.burst, "quantum": given.quantum})
        number[given.name] = len(rows) - 1
    delay_s = network.reverse_delay if reverse and network.reverse_delay is not None else network.delay
    top = sum(row["ceil_bps"] for row in rows if row["parent"] is None)
    own = {"rate_bps": top, "wire_bps": FREE_BPS, "delay_s": delay_s, "loss": network.loss, "leaf": "htb"}
    return own | {"leaf_shapes": False, "match": "src" if reverse else "dst", "tree": rows}


def _graph(graph: Graph, scenario: Scenario, discipline: Discipline, flows: pl.DataFrame) -> Laid:
    """A namespace for each host that has a flow."""
    src, dst = graph.numbers(flows)
    used = np.unique(np.concatenate([src, dst]))
    of_hosts = [(graph.native_hosts(group), count) for group in graph.groups for count in range(group.count)]
    counts = [0] * len(graph.routers)
    found = []
    for group, _ in (of_hosts[number] for number in used):
        router = group["at"]
        rates = {"out_bps": group["up_bps"], "in_bps": group["down_bps"], "delay_s": group["delay_ns"] * 1e-9}
        found.append({"router": router, "number": counts[router], "crowd": False} | rates)
        counts[router] += 1
    if len(found) > MOST_HOSTS:
        raise MayflyError(f"{len(found)} hosts with flows: must be at most {MOST_HOSTS} with --engine linux")
    ends = np.searchsorted(used, src), np.searchsorted(used, dst)
    near_is_src = (flows["direction"] != "up").to_numpy()
    links = links_of(scenario, discipline)
    return _laid(links, len(graph.routers), found, ends, near_is_src, flows, graph.watched)


def _laid(
    links: list[dict[str, Any]],
    routers: int,
    found: list[dict[str, Any]],
    ends: tuple[Integers, Integers],
    near_is_src: Booleans,
    flows: pl.DataFrame,
    watched: int = 0,
) -> Laid:
    """The network with its paths, and with the round-trip times of the flows."""
    routes = routes_of(routers, links)

    @cache
    def between_s(here: int, there: int) -> float:
        ways = path(links, routes, here, there) + path(links, routes, there, here)
        return float(sum(one["delay_s"] for one in ways))

    src, dst = (one.tolist() for one in ends)
    own = give(found, (src, dst), near_is_src.tolist(), flows["rtt_s"].to_list(), between_s)
    return Laid(links, routers, found, *ends, own, routes, watched)


def _numbered(name: str, of_flows: Integers, udp: Booleans) -> list[dict[str, Any]]:
    """The hosts of a side: ``number`` and whether it is of the ``crowd``."""
    count = int(of_flows.max()) + 1
    crowd = np.ones(count, dtype=bool)
    crowd[of_flows[~udp]] = False
    if count <= MANY_HOSTS:
        crowd[:] = False
    if (many := int((~crowd).sum())) > MOST_HOSTS:
        raise MayflyError(f"{name}: {many} hosts with TCP: must be at most {MOST_HOSTS} at a side with --engine linux")
    if (many := int(crowd.sum())) > MOST_CROWD:
        raise MayflyError(f"{name}: {many} hosts: must be at most {MOST_CROWD} at a side with --engine linux")
    numbers = np.where(crowd, np.cumsum(crowd), np.cumsum(~crowd)) - 1
    return [{"number": int(number), "crowd": bool(one)} for number, one in zip(numbers, crowd, strict=True)]
