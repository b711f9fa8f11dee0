"""A dumbbell of namespaces: hosts with access links, two routers, the discipline under test between them; offloads off.

    left-0 ─┐                                      ┌─ right-0
    left-1 ─┤ r1 ═ discipline ═ wire ═ reverse ═ r2 ┤─ right-1
      ...  ─┘                                      └─ ...

A router has htb with the discipline as its leaf: htb passes a packet on when its transmission would begin. netem behind
it, in the namespace `wire`, makes transmission and propagation; so it does at either end of an access link. Lengths are
those of the scenario: `overhead` (bytes, may be negative) is added to that of the Ethernet frame.
"""

import ctypes
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

DELAY_LIMIT = 1_000_000  # packets in netem: never the one that drops
CLONE_NEWNET = 0x40000000  # setns(2)
LEAF = "10:"
ENDS = (("r1", "to_r2", "rate_bps", "leaf"), ("r2", "to_r1", "reverse_rate_bps", "reverse_leaf"))
"""Of the two routers: namespace, device of the link, settings of its rate and discipline."""

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Host:
    """A host at one side; rates in bit/s of its access link away from it and to it, one-way delay."""

    side: str
    number: int
    out_bps: int
    in_bps: int
    delay_s: float

    @property
    def name(self) -> str:
        return f"{self.side}-{self.number}"

    @property
    def network(self) -> str:
        return f"10.{1 if self.side == 'left' else 2}.{self.number}"

    @property
    def address(self) -> str:
        return f"{self.network}.2"


def shell(command: str, lines: list[str] | None = None) -> str:
    text = None if lines is None else "\n".join(lines) + "\n"
    done = subprocess.run(command.split(), input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def enter(namespace: str) -> None:
    """Sockets and /proc/sys of this process are those of `namespace` from now on."""
    handle = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(handle, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    finally:
        os.close(handle)


class Wiring:
    """Links between namespaces, numbered: their Ethernet addresses and permanent neighbours."""

    def __init__(self, mtu: int):
        self.mtu = mtu
        self.count = 0
        self.commands: dict[str, list[str]] = {}

    def join(self, left: tuple[str, str, str], right: tuple[str, str, str]) -> None:
        """Links two ends, each a namespace, its device there and its address."""
        self.count += 1
        number = f"{self.count >> 8:02x}:{self.count & 255:02x}"
        ends = [(*end, f"02:00:00:{number}:0{k}") for k, end in enumerate((left, right))]
        (one, device, _, mac), (two, peer, _, peer_mac) = ends
        far = f"peer name {peer} address {peer_mac} netns {two}"
        shell(f"ip link add {device} netns {one} address {mac} type veth {far}")
        for (name, device, address, _), (_, _, other, other_mac) in (ends, ends[::-1]):
            self.commands.setdefault(name, []).extend(
                (
                    f"addr add {address}/24 dev {device}",
                    f"link set {device} mtu {self.mtu} up",
                    f"neigh add {other} lladdr {other_mac} dev {device} nud permanent",
                )
            )
            enter(name)
            shell(f"ethtool -K {device} tso off gso off gro off")

    def route(self, name: str, route: str) -> None:
        self.commands[name].append(f"route add {route}")

    def finish(self) -> None:
        for name, lines in self.commands.items():
            shell(f"ip -n {name} -batch -", lines)


def set_up(settings: dict) -> list[Host]:
    """Builds the dumbbell and returns its hosts, left ones first."""
    hosts = [Host(**row) for row in settings["hosts"]]
    for name in ("r1", "wire", "r2", *(host.name for host in hosts)):
        shell(f"ip netns add {name}")
    wiring = Wiring(settings["mtu"])
    wiring.join(("r1", "to_r2", "10.0.1.1"), ("wire", "to_r1", "10.0.1.2"))
    wiring.join(("wire", "to_r2", "10.0.2.1"), ("r2", "to_r1", "10.0.2.2"))
    wiring.route("r1", "default via 10.0.1.2")
    wiring.route("r2", "default via 10.0.2.1")
    wiring.route("wire", "10.1.0.0/16 via 10.0.1.1")
    wiring.route("wire", "10.2.0.0/16 via 10.0.2.2")
    for host in hosts:
        router = "r1" if host.side == "left" else "r2"
        wiring.join((host.name, "out", host.address), (router, host.name, f"{host.network}.1"))
        wiring.route(host.name, f"default via {host.network}.1 {settings['route']}")
    wiring.finish()
    for name in ("r1", "wire", "r2"):
        enter(name)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for host in hosts:
        enter(host.name)
        for key, value in settings["sysctl"].items():
            Path("/proc/sys", *key.split(".")).write_text(str(value))
    for name, value in settings["module_parameters"].items():
        Path("/sys/module", *name.split("/")[:1], "parameters", *name.split("/")[1:]).write_text(str(value))
    shape(settings, hosts)
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
    for router, device, rate, leaf in ENDS:
        rate_bps = settings[rate]
        # Bursts of a byte: after a pause too, one packet goes at once and the next when the link has sent it.
        rate = f"rate {rate_bps}bit ceil {rate_bps}bit burst 1 cburst 1 quantum 1514"
        lines = [
            f"qdisc add dev {device} root handle 1: stab overhead {overhead} linklayer ethernet htb default 1",
            f"class add dev {device} parent 1: classid 1:1 htb {rate}",
            leaf_line(device, settings[leaf]),
        ]
        shell(f"tc -n {router} -batch -", access[router] + lines)
        shell(f"tc -n wire qdisc add dev {device} {line(rate_bps, settings['delay_s'])}")


def leaf_line(device: str, words: str) -> str:
    return f"qdisc add dev {device} parent 1:1 handle {LEAF} {words}"


def change_leaves(settings: dict) -> None:
    """Puts other disciplines in place of the two routers'; what waited there is lost."""
    for router, device, _, leaf in ENDS:
        lines = [f"qdisc del dev {device} parent 1:1 handle {LEAF}", leaf_line(device, settings[leaf])]
        shell(f"tc -n {router} -batch -", lines)
