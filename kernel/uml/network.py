"""A network of namespaces: hosts on access links at routers, and links with a discipline at either end.

    host ─┐                                                      ┌─ host
    host ─┤ r1 ═ discipline ═ wire ═ discipline of the way back ═ r2 ┤─ host
    ...  ─┘                                                      └─ ...

A router has htb with the discipline as its leaf: htb passes a packet on when its transmission would begin. netem behind
it, in a namespace of the link's own, makes transmission and propagation; so it does at either end of an access link
(`interfaces`). Paths are static: the settings say which link leads on.

The ``network`` of the settings: ``routers``, how many; ``links``, each with ``ends``, two routers, and ``ways``, forth
and back, as `interfaces` has them; ``routes``, by router and router the link that leads there, null where there is
none; ``watched``, the link of interest; ``hosts``, as `Host`; ``overhead_bytes``, ``mtu``.
"""

from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network, ip_network
from itertools import islice
from pathlib import Path

import interfaces
from namespaces import Wiring, add_namespace, enter, shell
from queue_counters import Queue

PER_BLOCK = 250
"""Hosts of a block of addresses, 10.B.0.0/16; each has a /24 for its access link."""
FIRST_BLOCKS = range(1, 31)
"""Blocks of the first routers; beyond, and for more hosts, there are those of `MORE_BLOCKS`."""
MORE_BLOCKS = range(96, 256)
CROWDS = (ip_network("10.32.0.0/11"), ip_network("10.64.0.0/11"))
"""Addresses of the crowds of the first two routers."""
CROWD = 254
"""Number of the access link of a crowd; other hosts have less."""


@dataclass(frozen=True)
class Host:
    """A host at a router; rates in bit/s of its access link away from it and to it, one-way delay.

    `own` has the ports and delays of flows with a link of their own there.
    Those of the crowd of a router are one namespace with very many addresses, and have one access link together.
    """

    router: int
    number: int
    out_bps: int
    in_bps: int
    delay_s: float
    own: list[tuple[int, float]]
    crowd: bool
    block: int

    @property
    def name(self) -> str:
        return f"h{self.router}-{'crowd' if self.crowd else self.number}"

    @property
    def network(self) -> str:
        """Of its access link."""
        return f"10.{self.block}.{CROWD if self.crowd else self.number % PER_BLOCK}"

    @property
    def address(self) -> str:
        return str(CROWDS[self.router][self.number]) if self.crowd else f"{self.network}.2"


class Network:
    """The namespaces, once `set_up` has made them."""

    def __init__(self, settings: dict):
        self.settings = settings
        own = settings["network"]
        self.overhead, self.links, self.routes = own["overhead_bytes"], own["links"], own["routes"]
        self.routers = [f"r{number + 1}" for number in range(own["routers"])]
        self.blocks = blocks(own)
        self.hosts = [
            Host(**row, block=self.blocks[row["router"]][0 if row["crowd"] else row["number"] // PER_BLOCK])
            for row in own["hosts"]
        ]

    @cached_property
    def ends(self) -> list[Host]:
        """A host for every namespace."""
        return list({host.name: host for host in self.hosts}.values())

    def ways(self, settings: dict):
        """Of every interface: its router, its device there, the namespace and the device of the wire, and its way.

        In order: both interfaces of a link after the other, forth and back.
        """
        for number, link in enumerate(settings["network"]["links"]):
            for back, way in enumerate(link["ways"]):
                for row in way.get("tree", ()):
                    row["addresses"] = [self.hosts[host].address for host in row["hosts"]]
                yield self.routers[link["ends"][back]], f"link{number}", f"wire{number}", f"end{1 - back}", way

    def set_up(self) -> None:
        """Makes the namespaces and all that is in them."""
        settings = self.settings
        wires = [f"wire{number}" for number in range(len(self.links))]
        for name in (*self.routers, *wires, *(host.name for host in self.ends)):
            add_namespace(name)
        self.wire()
        for name in (*self.routers, *wires):
            enter(name)
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        for host in self.ends:
            enter(host.name)
            for key, value in settings["sysctl"].items():
                Path("/proc/sys", *key.split(".")).write_text(str(value))
        for name, value in settings["module_parameters"].items():
            Path("/sys/module", *name.split("/")[:1], "parameters", *name.split("/")[1:]).write_text(str(value))
        self.shape()

    def wire(self) -> None:
        """Joins the namespaces: two devices of a link are one network each, every access link is one."""
        wiring = Wiring(self.settings["network"]["mtu"])
        for number, link in enumerate(self.links):
            wire, networks = f"wire{number}", (f"10.0.{2 * number + 1}", f"10.0.{2 * number + 2}")
            first, second = (self.routers[end] for end in link["ends"])
            wiring.join((first, f"link{number}", f"{networks[0]}.1"), (wire, "end0", f"{networks[0]}.2"))
            wiring.join((wire, "end1", f"{networks[1]}.1"), (second, f"link{number}", f"{networks[1]}.2"))
        for router, onward in enumerate(self.routes):
            for end, number in enumerate(onward):
                if number is not None:
                    self.lead(wiring, router, number, end)
        for host in self.ends:
            router = self.routers[host.router]
            wiring.join((host.name, "out", f"{host.network}.2"), (router, host.name, f"{host.network}.1"))
            wiring.route(host.name, f"default via {host.network}.1 {self.settings['route']}")
            if host.crowd:
                wiring.commands[host.name].append("link set lo up")
                wiring.route(host.name, f"local {CROWDS[host.router]} dev lo")
                wiring.route(router, f"{CROWDS[host.router]} via {host.network}.2")
        wiring.finish()

    def lead(self, wiring: Wiring, router: int, number: int, end: int) -> None:
        """Has `router` send what is for the hosts of router `end` into a link, and that pass it on."""
        back = self.links[number]["ends"].index(router)
        near, far = (f"10.0.{2 * number + 1}", f"10.0.{2 * number + 2}")
        here, there = (f"{near}.2", f"{far}.2") if back == 0 else (f"{far}.1", f"{near}.1")
        for addresses in self.addresses(end):
            wiring.route(self.routers[router], f"{addresses} via {here}")
            wiring.route(f"wire{number}", f"{addresses} via {there}")

    def addresses(self, router: int) -> list[str | IPv4Network]:
        """Networks in which the hosts of a router are."""
        found: list[str | IPv4Network] = [f"10.{block}.0.0/16" for block in self.blocks[router]]
        crowd = any(host.crowd and host.router == router for host in self.ends)
        return [*found, CROWDS[router]] if crowd else found

    def shape(self) -> None:
        """Gives every link its rate and delay, and the routers their disciplines."""
        lines: dict[str, list[str]] = {}
        for host in self.ends:
            router = self.routers[host.router]
            out = interfaces.access("out", host.out_bps, host.delay_s, self.overhead, host.own, interfaces.SOURCE_PORT)
            shell(f"tc -n {host.name} -batch -", out)
            lines.setdefault(router, []).extend(
                interfaces.access(host.name, host.in_bps, host.delay_s, self.overhead, host.own, interfaces.TARGET_PORT)
                + interfaces.marking(host.name, self.settings["marks"])
            )
        for router, own in lines.items():
            shell(f"tc -n {router} -batch -", own)
        for router, device, wire, end, way in self.ways(self.settings):
            interfaces.put_wire(wire, end, way, self.overhead)
            interfaces.put_leaf(router, device, way, self.overhead)

    def change_leaves(self, settings: dict) -> None:
        """Puts the disciplines of other settings in place of those there are; what waited there is lost."""
        for router, device, _, _, way in self.ways(settings):
            interfaces.change_leaf(router, device, way, self.overhead)

    def queues(self) -> list[Queue]:
        """Counters of the disciplines of all interfaces, in order."""
        found = []
        for router, device, *_ in self.ways(self.settings):
            enter(router)
            found.append(Queue(device, int(interfaces.LEAF[:-1], 16)))
        return found

    @property
    def watched(self) -> tuple[str, str]:
        """Router and device of the queue of interest."""
        return next(islice(self.ways(self.settings), 2 * self.settings["network"]["watched"], None))[:2]


def blocks(network: dict) -> list[list[int]]:
    """Blocks of addresses of every router, as many as it has hosts for."""
    count = [0] * network["routers"]
    for row in network["hosts"]:
        if not row["crowd"]:
            count[row["router"]] = max(count[row["router"]], row["number"] + 1)
    more = iter(MORE_BLOCKS)
    found = []
    for router, hosts in enumerate(count):
        first = [FIRST_BLOCKS[router]] if router < len(FIRST_BLOCKS) else [next(more)]
        found.append(first + list(islice(more, max(-(-hosts // PER_BLOCK) - 1, 0))))
    return found
