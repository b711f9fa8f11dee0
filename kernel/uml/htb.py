"""What each class of a tree of htb sends in the guest while some leaves always have packets."""

import itertools
import re
import socket
import subprocess
import time

FAR = "10.0.1.2"
PORT = 5201
HEADERS_BYTES = 42
"""Of Ethernet, IPv4 and UDP: what htb counts beside the payload."""
STEP_S = 0.002
SETTLE_S = 1.0
SO_PRIORITY, SO_SNDBUFFORCE = 12, 32


def shell(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def set_up(classes: list[dict]) -> None:
    shell("ip link set lo up")
    shell("ip netns add internet")
    shell("ip link add eth0 type veth peer name eth0 netns internet")
    for at, host in (("", 1), ("-n internet", 2)):
        shell(f"ip {at} addr add 10.0.1.{host}/24 dev eth0")
        shell(f"ip {at} link set eth0 up")
    # Nobody listens: datagrams go nowhere, and no answer comes back.
    shell("ip netns exec internet ip route add blackhole 10.0.2.0/24")
    far = shell("ip -n internet -o link show eth0").partition("link/ether ")[2].split()[0]
    shell(f"ip neigh add {FAR} lladdr {far} dev eth0")
    shell("ip -n internet route flush dev eth0")
    shell("tc qdisc add dev eth0 root handle 1: htb")
    for given in classes:
        parent = f"1:{given['parent']}" if given.get("parent") else "1:"
        words = " ".join(f"{name} {given[name]}" for name in ("rate", "ceil", "quantum", "prio") if given.get(name))
        shell(f"tc class add dev eth0 parent {parent} classid 1:{given['id']} htb {words}")
        if given.get("leaf"):
            shell(f"tc qdisc add dev eth0 parent 1:{given['id']} pfifo limit 200")


def sent() -> dict[str, int]:
    """Bytes of each class so far."""
    found = re.findall(r"class htb 1:(\S+) .*?\n Sent (\d+) bytes", shell("tc -s class show dev eth0"))
    return {name: int(count) for name, count in found}


def run(settings: dict) -> dict:
    """Bytes that each class sent in so many seconds."""
    set_up(settings["classes"])
    senders = []
    for name in settings["busy"]:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, 0x10000 | int(name, 16))
        sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20)
        sender.setblocking(False)
        sender.connect((FAR, PORT))
        senders.append(sender)
    payloads = itertools.cycle(bytes(frame - HEADERS_BYTES) for frame in settings["frames_bytes"])
    began = time.monotonic()
    first = None
    while (now := time.monotonic() - began) < SETTLE_S + settings["seconds"]:
        if first is None and now >= SETTLE_S:
            first, first_s = sent(), time.monotonic()
        for sender in senders:
            for _ in range(settings["per_step"]):
                try:
                    sender.send(next(payloads))
                except OSError:
                    # Its queue is full.
                    break
        time.sleep(STEP_S)
    last, last_s = sent(), time.monotonic()
    assert first is not None
    return {"seconds": last_s - first_s, "bytes": {name: last[name] - first[name] for name in last}}
