"""A dumbbell of namespaces: hosts with access links, two routers, the discipline under test between them; offloads off.

    left-0 ─┐                                      ┌─ right-0
    left-1 ─┤ r1 ═ discipline ═ wire ═ reverse ═ r2 ┤─ right-1
      ...  ─┘                                      └─ ...

A router has htb with the discipline as its leaf: htb passes a packet on when its transmission would begin. netem behind
it, in the namespace `wire`, makes transmission and propagation; so it does at either end of an access link. Lengths are
those of the scenario: `overhead` (bytes, may be negative) is added to that of the Ethernet frame.
"""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_network
from pathlib import Path

DELAY_LIMIT = 1_000_000  # packets in netem: never the one that drops
CLONE_NEWNET = 0x40000000  # setns(2), unshare(2)
MS_BIND = 4096  # mount(2)
SIOCETHTOOL = 0x8946
OFFLOADS = (0x1F, 0x24, 0x2C)
"""ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO (linux/ethtool.h)."""
LEAF = "10:"
ENDS = (("r1", "to_r2", "rate_bps", "leaf"), ("r2", "to_r1", "reverse_rate_bps", "reverse_leaf"))
"""Of the two routers: namespace, device of the link, settings of its rate and discipline."""

CROWD = 254
"""Number of the access link of a crowd; other hosts have less."""
CROWDS = {"left": ip_network("10.32.0.0/11"), "right": ip_network("10.64.0.0/11")}

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Host:
    """A host at one side; rates in bit/s of its access link away from it and to it, one-way delay.

    Those of the crowd of a side are one namespace with very many addresses, and have one access link together.
    """

    side: str
    number: int
    out_bps: int
    in_bps: int
    delay_s: float
    crowd: bool = False

    @property
    def name(self) -> str:
        return f"{self.side}-{'crowd' if self.crowd else self.number}"

    @property
    def network(self) -> str:
        """Of its access link."""
        return f"10.{1 if self.side == 'left' else 2}.{CROWD if self.crowd else self.number}"

    @property
    def address(self) -> str:
        return str(CROWDS[self.side][self.number]) if self.crowd else f"{self.network}.2"


def shell(command: str, lines: list[str] | None = None) -> str:
    text = None if lines is None else "\n".join(lines) + "\n"
    done = subprocess.run(command.split(), input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def enter(namespace: str) -> None:
    """Sockets and /proc/sys of this process are those of `namespace` from now on."""
    if libc.setns(handle_of(namespace), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace}")


@cache
def handle_of(namespace: str) -> int:
    """An open file for it: flows enter their hosts again and again."""
    return os.open(f"/run/netns/{namespace}", os.O_RDONLY | os.O_CLOEXEC)


def add_namespace(name: str) -> None:
    """As ``ip netns add`` does; a process for each of hundreds would be most of the set-up. Leaves us in it."""
    path = f"/run/netns/{name}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o444))
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"unshare for {name}")
    if libc.mount(b"/proc/self/ns/net", path.encode(), None, MS_BIND, None):
        raise OSError(ctypes.get_errno(), f"mount on {path}")


def switch_offloads_off(namespace: str, device: str) -> None:
    """As ``ethtool -K DEVICE tso off gso off gro off`` does: a packet is one of the wire."""
    enter(namespace)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0), 8)
            fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP", device.encode(), ctypes.addressof(value)))


class Wiring:
    """Links between namespaces, numbered: their Ethernet addresses and permanent neighbours."""

    def __init__(self, mtu: int):
        self.mtu = mtu
        self.count = 0
        self.links: list[str] = []
        self.devices: list[tuple[str, str]] = []
        self.commands: dict[str, list[str]] = {}

    def join(self, left: tuple[str, str, str], right: tuple[str, str, str]) -> None:
        """Links two ends, each a namespace, its device there and its address."""
        self.count += 1
        number = f"{self.count >> 8:02x}:{self.count & 255:02x}"
        ends = [(*end, f"02:00:00:{number}:0{k}") for k, end in enumerate((left, right))]
        (one, device, _, mac), (two, peer, _, peer_mac) = ends
        far = f"peer name {peer} address {peer_mac} netns {two}"
        self.links.append(f"link add {device} netns {one} address {mac} type veth {far}")
        self.devices += [(one, device), (two, peer)]
        for (name, device, address, _), (_, _, other, other_mac) in (ends, ends[::-1]):
            self.commands.setdefault(name, []).extend(
                (
                    f"addr add {address}/24 dev {device}",
                    f"link set {device} mtu {self.mtu} up",
                    f"neigh add {other} lladdr {other_mac} dev {device} nud permanent",
                )
            )

    def route(self, name: str, route: str) -> None:
        self.commands[name].append(f"route add {route}")

    def finish(self) -> None:
        shell("ip -batch -", self.links)
        for name, device in self.devices:
            switch_offloads_off(name, device)
        for name, lines in self.commands.items():
            shell(f"ip -n {name} -batch -", lines)


def set_up(settings: dict) -> list[Host]:
    """Builds the dumbbell and returns its hosts, left ones first."""
    hosts = [Host(**row) for row in settings["hosts"]]
    ends = list({host.name: host for host in hosts}.values())
    for name in ("r1", "wire", "r2", *(host.name for host in ends)):
        add_namespace(name)
    wiring = Wiring(settings["mtu"])
    wiring.join(("r1", "to_r2", "10.0.1.1"), ("wire", "to_r1", "10.0.1.2"))
    wiring.join(("wire", "to_r2", "10.0.2.1"), ("r2", "to_r1", "10.0.2.2"))
    wiring.route("r1", "default via 10.0.1.2")
    wiring.route("r2", "default via 10.0.2.1")
    wiring.route("wire", "10.1.0.0/16 via 10.0.1.1")
    wiring.route("wire", "10.2.0.0/16 via 10.0.2.2")
    wiring.route("wire", f"{CROWDS['left']} via 10.0.1.1")
    wiring.route("wire", f"{CROWDS['right']} via 10.0.2.2")
    for host in ends:
        router = "r1" if host.side == "left" else "r2"
        wiring.join((host.name, "out", f"{host.network}.2"), (router, host.name, f"{host.network}.1"))
        wiring.route(host.name, f"default via {host.network}.1 {settings['route']}")
        if host.crowd:
            wiring.commands[host.name].append("link set lo up")
            wiring.route(host.name, f"local {CROWDS[host.side]} dev lo")
            wiring.route(router, f"{CROWDS[host.side]} via {host.network}.2")
    wiring.finish()
    for name in ("r1", "wire", "r2"):
        enter(name)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for host in ends:
        enter(host.name)
        for key, value in settings["sysctl"].items():
            Path("/proc/sys", *key.split(".")).write_text(str(value))
    for name, value in settings["module_parameters"].items():
        Path("/sys/module", *name.split("/")[:1], "parameters", *name.split("/")[1:]).write_text(str(value))
    shape(settings, ends)
    mark(settings, ends)
    return hosts


def shape(settings: dict, hosts: list[Host]) -> None:
    """Gives every link its rate and delay, and the two routers their disciplines."""
    overhead = settings["overhead_bytes"]

    def line(rate_bps: int, delay_s: float) -> str:
        return f"root netem delay {round(delay_s * 1e6)}us rate {rate_bps}bit {overhead} limit {DELAY_LIMIT}"

    access: dict[str, list[str]] = {"r1": [], "r2": []}
    for host in hosts:
        shell(f"tc -n {host.name} qdisc add dev out {line(host.out_bps, host.delay_s)}")
        router = "r1" if host.side == "left" else "r2"
        access[router].append(f"qdisc add dev {host.name} {line(host.in_bps, host.delay_s)}")
    for router, device, rate, _ in ENDS:
        rate_bps = settings[rate]
        shell(f"tc -n {router} -batch -", access[router])
        shell(f"tc -n wire qdisc add dev {device} {line(rate_bps, settings['delay_s'])}")
    put_leaves(settings)


def put_leaves(settings: dict) -> None:
    """The disciplines of the two routers: with a rate of their own, or below htb."""
    overhead = settings["overhead_bytes"]
    for router, device, rate, leaf in ENDS:
        if settings[f"{leaf}_shapes"]:
            shell(f"tc -n {router} qdisc add dev {device} root handle {LEAF} {settings[leaf]}")
            continue
        # Bursts of a byte: after a pause too, one packet goes at once and the next when the link has sent it.
        rate = f"rate {settings[rate]}bit ceil {settings[rate]}bit burst 1 cburst 1 quantum 1514"
        lines = [
            f"qdisc add dev {device} root handle 1: stab overhead {overhead} linklayer ethernet htb default 1",
            f"class add dev {device} parent 1: classid 1:1 htb {rate}",
            f"qdisc add dev {device} parent 1:1 handle {LEAF} {settings[leaf]}",
        ]
        shell(f"tc -n {router} -batch -", lines)


def change_leaves(settings: dict) -> None:
    """Puts other disciplines in place of the two routers'; what waited there is lost."""
    for router, device, _, _ in ENDS:
        shell(f"tc -n {router} qdisc del dev {device} root")
    put_leaves(settings)


def mark(settings: dict, hosts: list[Host]) -> None:
    """Routers give packets the mark that their DSCP stands for: a mark does not pass from one namespace to the next."""
    if not settings["marks"]:
        return
    for host in hosts:
        router = "r1" if host.side == "left" else "r2"
        lines = [f"qdisc add dev {host.name} clsact"]
        for code, value in settings["marks"].items():
            match = f"u32 match ip dsfield {int(code) << 2:#x} 0xfc"
            lines.append(f"filter add dev {host.name} ingress protocol ip {match} action skbedit mark {value}")
        shell(f"tc -n {router} -batch -", lines)
