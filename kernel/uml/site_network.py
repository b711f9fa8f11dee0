"""A site behind a congested link: hosts, gateway, the provider's router, servers of the Internet; a namespace each.

    client-0 ─┐                                                      ┌─ server-0
    client-1 ─┤ lan ── gateway ═ up ═ wire ═ down ═ provider ─────────┤─ server-1
      ...    ─┘      ▲                                               └─ ...
                     the capture

The gateway has the discipline of the way up, the provider's router that of the way down, each below htb unless it
shapes by itself. netem in the namespace `wire` makes transmission; netem at a server makes the delay of its whole
path, half of it each way. What is captured are the packets of all clients, between them and the gateway, as a user of
the gateway captures them.

With ``advice``, lines for a shell, the link is one as users have it: its queues are first in, first out, that of the way
up in a modem behind the gateway. The gateway's device of the link is faster, and the lines are run there.
"""

import subprocess
from pathlib import Path

from interfaces import LEAF, netem, put_leaf, put_wire
from namespaces import Wiring, add_namespace, enter, shell

LAN_BPS = 1_000_000_000
DEVICE = "eth0"
"""Interface of an advice."""

UPLINK = "to_provider"
"""The gateway's device of the link."""

ENDS = (("provider", "to_gateway", "down"), ("gateway", UPLINK, "up"))
"""Router, its device of the link, the way in the settings."""


def client(number: int) -> str:
    return f"client-{number}"


def server(number: int) -> str:
    return f"server-{number}"


def client_address(number: int) -> str:
    return f"10.2.{number}.2"


def server_address(number: int) -> str:
    return f"10.1.{number}.2"


def set_up(settings: dict) -> None:
    """Builds the site.

    Parameters
    ----------
    settings : dict
        ``clients`` (how many), ``servers`` (round-trip times, s), ``down`` and ``up``: a way each (:mod:`interfaces`);
        ``overhead_bytes`` of a packet on the link beyond its Ethernet frame; ``mtu``; ``advice``, lines for a shell
        of a gateway whose device of the link is `DEVICE`, where there are some: the ways have no ``leaf`` then, but
        ``limit``, of the queue in packets.
    """
    clients = [client(number) for number in range(settings["clients"])]
    servers = [server(number) for number in range(len(settings["servers"]))]
    for name in ("gateway", "provider", "wire", "lan", *clients, *servers):
        add_namespace(name)
    wiring = Wiring(settings["mtu"])
    wiring.join(("provider", "to_gateway", "10.0.1.1"), ("wire", "to_provider", "10.0.1.2"))
    wiring.join(("wire", "to_gateway", "10.0.2.1"), ("gateway", "to_provider", "10.0.2.2"))
    wiring.join(("gateway", "lan", "10.0.3.1"), ("lan", "gateway", "10.0.3.2"))
    for at, route in (
        ("provider", "10.2.0.0/16 via 10.0.1.2"),
        ("provider", "10.0.2.0/24 via 10.0.1.2"),
        ("wire", "10.1.0.0/16 via 10.0.1.1"),
        ("wire", "10.2.0.0/16 via 10.0.2.2"),
        ("gateway", "10.1.0.0/16 via 10.0.2.1"),
        ("gateway", "10.2.0.0/16 via 10.0.3.2"),
        ("lan", "default via 10.0.3.1"),
    ):
        wiring.route(at, route)
    for router, names, network in (("lan", clients, 2), ("provider", servers, 1)):
        for number, name in enumerate(names):
            wiring.join((name, "out", f"10.{network}.{number}.2"), (router, name, f"10.{network}.{number}.1"))
            wiring.route(name, f"default via 10.{network}.{number}.1")
            wiring.commands[name].append("link set lo up")
    wiring.finish()
    for name in ("gateway", "provider", "wire", "lan"):
        enter(name)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    overhead = settings["overhead_bytes"]

    def line(delay_s: float = 0.0) -> str:
        return f"root {netem(LAN_BPS, delay_s, overhead)}"

    for name in clients:
        shell(f"tc -n {name} qdisc add dev out {line()}")
        shell(f"tc -n lan qdisc add dev {name} {line()}")
    for name, rtt_s in zip(servers, settings["servers"], strict=True):
        shell(f"tc -n {name} qdisc add dev out {line(rtt_s / 2)}")
        shell(f"tc -n provider qdisc add dev {name} {line(rtt_s / 2)}")
    if "advice" in settings:
        put_advice(settings, overhead)
        return
    for router, device, way in ENDS:
        put_wire("wire", "to_gateway" if way == "down" else "to_provider", settings[way], overhead)
        put_leaf(router, device, settings[way], overhead)


def put_advice(settings: dict, overhead: int) -> None:
    """The link without a discipline, and what users are asked to run in front of it."""
    for way, device in (("down", "to_gateway"), ("up", "to_provider")):
        own = settings[way]
        line = f"netem delay {round(own['delay_s'] * 1e6)}us rate {own['rate_bps']}bit {overhead} limit {own['limit']}"
        shell(f"tc -n wire qdisc add dev {device} root {line}")
    enter("gateway")
    for text in settings["advice"]:
        # Modules are loaded before; the kernel of the guest has the others built in.
        if text.startswith("modprobe "):
            continue
        done = subprocess.run(["bash", "-c", text.replace(DEVICE, UPLINK)], capture_output=True, text=True)
        if done.returncode and not text.endswith("2>/dev/null"):
            raise RuntimeError(f"{text}: {done.stderr.strip()}")
