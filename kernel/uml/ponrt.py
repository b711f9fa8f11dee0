"""Long TCP, constant-rate UDP and web traffic at one bottleneck, in the kernel: `run` tells estimates and bytes.

TCP, UDP and web come from hosts of their own, each behind a link of its own (Zhao 2004, III.B), so that the byte
counters of the router's devices tell what comes of each. Nothing polls: in virtual time a process that spins stops the
clock.
"""

import json
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import path

PORT, UDP_PORT = 5201, 5202
LEAD_S = 1.0  # every process is up by then
SOURCES = {"cbr": 4, "web": 5}
"""Hosts beside the client, with the number of their network."""
FILES = ((500, 350), (5_000, 500), (50_000, 140), (500_000, 9), (5_000_000, 1))
"""Sizes in bytes and weights of the files of WebStone 2.5 (Zhao 2004, III.B)."""


def add_sources() -> None:
    for name, net in SOURCES.items():
        path.shell(f"ip netns add {name}")
        path.shell(f"ip link add to_router netns {name} type veth peer name to_{name} netns router")
        for host, (namespace, device) in enumerate(((name, "to_router"), ("router", f"to_{name}")), 1):
            path.shell(f"ip -n {namespace} addr add 10.0.{net}.{host}/24 dev {device}")
            path.shell(f"ip netns exec {namespace} ethtool -K {device} tso off gso off gro off")
            path.shell(f"ip -n {namespace} link set {device} up")
        path.shell(f"ip -n {name} route add default via 10.0.{net}.2")


def wait_until(instant: float) -> None:
    pause = instant - time.monotonic()
    if pause > 0:
        time.sleep(pause)


def serve(settings: dict) -> None:
    """The far end of everything: reads TCP, lets UDP come."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", UDP_PORT))
    listener = socket.socket()
    listener.bind(("", PORT))
    listener.listen(1024)

    def receive(connection: socket.socket) -> None:
        while connection.recv(1 << 20):
            pass
        connection.close()

    def accept() -> None:
        while True:
            threading.Thread(target=receive, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    wait_until(settings["zero"] + settings["duration_s"])
    os._exit(0)


def send(settings: dict) -> None:
    """The long flows, which begin within the first two seconds."""
    rng = random.Random(settings["seed"])

    def bulk(start: float) -> None:
        wait_until(settings["zero"] + start)
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, settings["congestion"].encode())
        connection.connect((path.SERVER, PORT))
        while True:
            connection.sendall(bytes(1 << 16))

    for _ in range(settings["flows"]):
        threading.Thread(target=bulk, args=(rng.uniform(0, 2),), daemon=True).start()
    wait_until(settings["zero"] + settings["duration_s"])
    os._exit(0)


def cbr(settings: dict) -> None:
    """UDP at the rates of ``udp``: (rate, start, stop), each packet anywhere in its period."""
    rng = random.Random(settings["seed"] + 1)

    def source(rate_bps: float, start: float, stop: float) -> None:
        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        data = bytes(settings["packet_bytes"] - 42)
        period = settings["packet_bytes"] * 8 / rate_bps
        for k in range(int((stop - start) / period)):
            wait_until(settings["zero"] + start + (k + rng.random()) * period)
            out.sendto(data, (path.SERVER, UDP_PORT))

    for rate_bps, start, stop in settings["udp"]:
        threading.Thread(target=source, args=(rate_bps, start, stop), daemon=True).start()
    wait_until(settings["zero"] + settings["duration_s"])
    os._exit(0)


def web(settings: dict) -> None:
    """Users who fetch a file, think, and fetch the next."""
    mice = settings["mice"]
    sizes, weights = zip(*FILES, strict=True)

    def user(number: int) -> None:
        rng = random.Random(settings["seed"] + 2 + number)
        wait_until(settings["zero"] + mice["start_s"] + rng.uniform(0, 1))
        while time.monotonic() < settings["zero"] + mice["stop_s"]:
            connection = socket.socket()
            connection.connect((path.SERVER, PORT))
            connection.sendall(bytes(rng.choices(sizes, weights)[0]))
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)
            connection.close()
            time.sleep(rng.expovariate(1 / mice["think_s"]))

    for number in range(mice["users"]):
        threading.Thread(target=user, args=(number,), daemon=True).start()
    wait_until(settings["zero"] + settings["duration_s"])
    os._exit(0)


def counters() -> dict[str, int]:
    """Bytes that came in on each device of this namespace."""
    rows = (line.split(":") for line in Path("/proc/net/dev").read_text().splitlines()[2:])
    return {name.strip(): int(fields.split()[0]) for name, fields in rows}


def look(settings: dict) -> None:
    """In the router: prints rows of time, bytes of TCP, UDP and web so far, the estimate and its doubt."""
    rows = []
    for step in range(round(settings["duration_s"] / settings["look_s"])):
        wait_until(settings["zero"] + (step + 1) * settings["look_s"])
        came = counters()
        shown = json.loads(path.shell(f"tc -s -j qdisc show dev {path.BOTTLENECK}"))
        leaf = next(row for row in shown if row["handle"] == "10:")
        row = {"time_s": (step + 1) * settings["look_s"]}
        row |= {name: came[f"to_{name}"] for name in ("client", *SOURCES)}
        row |= {name: leaf.get(name) for name in ("share", "doubt", "responsive_flows", "drops")}
        rows.append(row)
    status = path.shell(f"tc -s -d qdisc show dev {path.BOTTLENECK}")
    print(json.dumps({"rows": rows, "status": status}), flush=True)


def run(settings: dict) -> dict:
    """One run.

    Parameters
    ----------
    settings : dict
        ``rate_bps``, ``delay_s`` (one way), ``leaf`` (as tc takes it), ``sysctl`` (of the hosts at both ends),
        ``flows`` and ``congestion`` of the long TCP flows, ``udp`` (rows of rate in bit/s, start and stop in s),
        ``packet_bytes`` (on the wire), ``mice`` (``users``, ``think_s``, ``start_s``, ``stop_s``; null: none),
        ``duration_s``, ``look_s``, ``seed``.

    Returns
    -------
    dict
        ``rows``: every ``look_s`` time, bytes so far by source (``client``, ``cbr``, ``web``), ``share``, ``doubt``,
        ``responsive_flows``, ``drops``; ``status``: what ``tc -s -d qdisc show`` printed at the end.
    """
    path.set_up(settings["rate_bps"], settings["delay_s"], settings["leaf"], settings["sysctl"])
    add_sources()
    argument = json.dumps({**settings, "zero": time.monotonic() + LEAD_S})
    roles = [("server", "serve"), ("client", "send"), ("cbr", "cbr")] + [("web", "web")] * bool(settings["mice"])
    ends = [path.inside(name, [sys.executable, __file__, role, argument]) for name, role in roles]
    seen = path.inside("router", [sys.executable, __file__, "look", argument]).communicate()[0]
    for end in ends:
        end.kill()
        end.wait()
    return json.loads(seen)


if __name__ == "__main__":
    roles = {"serve": serve, "send": send, "cbr": cbr, "web": web, "look": look}
    roles[sys.argv[1]](json.loads(sys.argv[2]))
