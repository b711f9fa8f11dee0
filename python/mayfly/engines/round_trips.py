"""Round-trip times of flows in the guest: what the path lacks is at the access link that the simulator has it at.

Principle: where all flows of a host have one round-trip time, its access link has the delay. Else every flow that the
host has the delay for has a link of its own there, as in the simulator: it is told by a port that no other flow of the
host has, and the host stays one address. So it is, too, where the host is the other end of flows that have theirs made
up for elsewhere.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mayfly.errors import MayflyError

LAST_PORT = 65_000
"""The largest port of the guest; those of flows with a link of their own are below."""

MOST_OWN = 40_000
"""Flows of one host with a link of their own: its ports, less those that are needed otherwise."""


@dataclass(frozen=True)
class OwnLinks:
    """Flows with an access link of their own.

    Parameters
    ----------
    of_flows : list, shape (n_flows,)
        The end, ``src`` or ``dst``, and its port; None for the others.
    last_port : int
        The largest that is left for others.
    """

    of_flows: list[tuple[str, int] | None]
    last_port: int


def give(
    hosts: list[dict[str, Any]],
    ends: tuple[Sequence[int], Sequence[int]],
    near_is_src: Sequence[bool],
    rtt_s: Sequence[float | None],
    between_s: Callable[[int, int], float],
) -> OwnLinks:
    """Gives hosts and flows the delays that make up for the round-trip times.

    Parameters
    ----------
    hosts : list of dict
        As the guest takes them; ``delay_s`` is changed, ``own`` is added: ports and delays of the links of flows.
    ends : pair of sequence of int, each of shape (n_flows,)
        Numbers of sender and receiver.
    near_is_src : sequence of bool, shape (n_flows,)
        Whether the delay is at the sender.
    rtt_s : sequence of float or None, shape (n_flows,)
        Of the flows; None for that of the network.
    between_s : callable
        Propagation delay between two routers, there and back.

    Returns
    -------
    OwnLinks

    Raises
    ------
    MayflyError
        Too many flows of one host.

    Notes
    -----
    Where the shared part of the path is longer than the round-trip time, its delay stays, as in the simulator.
    """
    base = [host["delay_s"] for host in hosts]
    bases = {_place(host): host["delay_s"] for host in hosts}
    wanted: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    others: set[tuple[int, int]] = set()
    for flow, (src, dst, at_src, rtt) in enumerate(zip(*ends, near_is_src, rtt_s, strict=True)):
        near, far = (src, dst) if at_src else (dst, src)
        delay = base[near]
        if rtt is not None:
            shared = between_s(hosts[near]["router"], hosts[far]["router"]) + 2 * base[far]
            delay = max(rtt - shared, 0.0) / 2
        wanted[_place(hosts[near])][flow] = delay
        others.add(_place(hosts[far]))
    of_flows: list[tuple[str, int] | None] = [None] * len(near_is_src)
    links: dict[tuple[int, int], list[tuple[int, float]]] = {}
    delays: dict[tuple[int, int], float] = {}
    for place, of_place in wanted.items():
        distinct = {round(delay * 1e6) for delay in of_place.values()}
        if place in others:
            distinct.add(round(bases[place] * 1e6))
        if len(distinct) == 1:
            delays[place] = next(iter(of_place.values()))
            continue
        if len(of_place) > MOST_OWN:
            raise MayflyError(
                f"rtt_s: {len(of_place)} flows of one host with different round-trip times: must be at most {MOST_OWN} "
                "with --engine linux"
            )
        links[place] = [(LAST_PORT - k, delay) for k, delay in enumerate(of_place.values())]
        for flow, (port, _) in zip(of_place, links[place], strict=True):
            of_flows[flow] = ("src" if near_is_src[flow] else "dst", port)
    for host in hosts:
        host["delay_s"] = delays.get(_place(host), host["delay_s"])
        host["own"] = links.get(_place(host), [])
    return OwnLinks(of_flows, LAST_PORT - max(map(len, links.values()), default=0))


def _place(host: dict[str, Any]) -> tuple[int, int]:
    """What has one access link: a host, or a crowd."""
    return host["router"], -1 if host["crowd"] else host["number"]
