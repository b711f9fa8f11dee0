"""The test path: client, router, far router, server, a namespace each; offloads off: a packet is one of the wire.

    client ── router ══ bottleneck ══ far ── delay ── server

The bottleneck is htb with the discipline under test as its leaf. htb passes a packet on when its transmission would
begin; netem with the same rate and the delay makes the transmission and the propagation of both directions. Nothing
polls: in virtual time a process that spins stops the clock.
"""

import json
import subprocess

LINKS = (("client", "router", 1), ("router", "far", 2), ("far", "server", 3))
SERVER = "10.0.3.2"
BOTTLENECK = "to_far"
DELAY_LIMIT = 100_000  # packets in netem: never the one that drops


def shell(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def inside(namespace: str, command: list[str]) -> subprocess.Popen:
    """Starts a command in a namespace, its output a pipe."""
    return subprocess.Popen(["ip", "netns", "exec", namespace, *command], stdout=subprocess.PIPE, text=True)


def set_up(rate_bps: int, delay_s: float, leaf: str, sysctl: dict[str, str]) -> None:
    """Builds the path: `delay_s` is the propagation delay of one direction, `leaf` the discipline as tc takes it."""
    for name in ("client", "router", "far", "server"):
        shell(f"ip netns add {name}")
        shell(f"ip -n {name} link set lo up")
    for left, right, net in LINKS:
        shell(f"ip link add to_{right} netns {left} type veth peer name to_{left} netns {right}")
        for name, device, host in ((left, f"to_{right}", 1), (right, f"to_{left}", 2)):
            shell(f"ip -n {name} addr add 10.0.{net}.{host}/24 dev {device}")
            shell(f"ip netns exec {name} ethtool -K {device} tso off gso off gro off")
            shell(f"ip -n {name} link set {device} up")
    routes = (("client", "10.0.1.2"), ("router", "10.0.2.2"), ("far", "10.0.2.1"), ("server", "10.0.3.1"))
    for name, gateway in routes:
        shell(f"ip -n {name} route add default via {gateway}")
    for name in ("router", "far"):
        shell(f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1")
    for name in ("client", "server"):
        for key, value in sysctl.items():
            write = ["ip", "netns", "exec", name, "sysctl", "-qw", f"{key}={value}"]
            subprocess.run(write, check=True)
    # Bursts of a byte: after a pause too, one packet goes at once and the next when the link has sent it.
    shell(f"tc -n router qdisc add dev {BOTTLENECK} root handle 1: htb default 1")
    rate = f"rate {rate_bps}bit ceil {rate_bps}bit burst 1 cburst 1 quantum 1514"
    shell(f"tc -n router class add dev {BOTTLENECK} parent 1: classid 1:1 htb {rate}")
    shell(f"tc -n router qdisc add dev {BOTTLENECK} parent 1:1 handle 10: {leaf}")
    line = f"delay {round(delay_s * 1e6)}us rate {rate_bps}bit limit {DELAY_LIMIT}"
    shell(f"tc -n far qdisc add dev to_server root netem {line}")
    shell(f"tc -n far qdisc add dev to_router root netem {line}")


def statistics() -> dict:
    """Counters of the leaf at the bottleneck, as tc gives them."""
    rows = json.loads(shell(f"tc -s -j -n router qdisc show dev {BOTTLENECK}"))
    return next(row for row in rows if row["handle"] == "10:")
