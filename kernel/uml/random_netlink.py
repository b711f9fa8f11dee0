"""Random requests to traffic control, valid and not, for our queue disciplines, and random traffic beside them.

Every choice comes from one seed. Requests are whole or damaged: values at and around powers of two, attributes missing,
twice, too short, too long, unknown, not nested, of another discipline; size tables; below parents that change.
"""

import collections
import os
import random
import signal
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import frames
import netlink
import qdiscs
from frames import DEVICE, Link, tc

PARENTS = {
    "none": ((), (netlink.ROOT,)),
    "htb": (
        (
            f"qdisc add dev {DEVICE} root handle 1: htb default 1",
            f"class add dev {DEVICE} parent 1: classid 1:1 htb rate 100kbit burst 2000",
        ),
        (0x10001,),
    ),
    "tbf": ((f"qdisc add dev {DEVICE} root handle 1: tbf rate 100kbit burst 2000 limit 1000000",), (0x10001,)),
    "netem": ((f"qdisc add dev {DEVICE} root handle 1: netem delay 3ms rate 100kbit",), (0x10001,)),
    "prio": ((f"qdisc add dev {DEVICE} root handle 1: prio bands 3",), (0x10001, 0x10002, 0x10003)),
    "mq": ((f"qdisc add dev {DEVICE} root handle 1: mq",), (0x10001, 0x10002, 0x10003, 0x10004)),
}
WORK_CONSERVING = ("prio", "mq", "none")
"""Parents that hold nothing back: what waits below them is asked for at once."""
REQUESTS_PER_PARENT = 40
PACKET_VNET_HDR = 15
GSO_TCPV4, NEEDS_CSUM = 1, 1
OURS = netlink.attributes()
LIMIT = 1
"""Attribute of a limit in packets, of all but estmred, where the number is that of an empty one."""
SOL_PACKET = 263


def drawn_value(rng: random.Random, size: int) -> int:
    """Small numbers, powers of two and their neighbours, any bits."""
    bits = 8 * size
    return rng.choice(
        (
            rng.randrange(4),
            int(2 ** rng.uniform(0, min(bits, 20))),
            int(2 ** rng.uniform(0, min(bits, 32))),
            int(2 ** rng.uniform(min(bits, 20), min(bits, 40))),
            (1 << rng.randrange(bits)) + rng.randrange(-1, 2),
            rng.getrandbits(bits),
            (1 << bits) - 1,
        )
    )


def drawn_options(rng: random.Random, kind: str) -> bytes:
    """Attributes of one discipline, one in six of them damaged."""
    found = b""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 8))):
        row = rng.choice(OURS[kind])
        size = row.size or rng.choice((1, 4, 8))
        number, payload = row.number, netlink.number(drawn_value(rng, size), size)
        if not row.size and rng.random() < 0.7:
            # A flag, or an array of numbers.
            payload = rng.choice((b"", struct.pack("=H", rng.randrange(3)) * 64, rng.randbytes(128)))
        damage = rng.randrange(30)
        if damage == 0:
            payload = payload[: rng.randrange(len(payload) or 1)]
        elif damage == 1:
            payload += rng.randbytes(rng.randrange(1, 40))
        elif damage == 2:
            number = rng.choice((0, 31, 33, 63, 0x3FFF, number | netlink.NESTED))
        elif damage == 3:
            found += struct.pack("=HH", rng.choice((0, 1, 3, 5, 400, 65535)), number)
            continue
        found += netlink.attribute(number, payload)
        if damage == 4:
            found += netlink.attribute(number, netlink.number(drawn_value(rng, size), size))
    return found


def drawn_more(rng: random.Random) -> bytes:
    """A size table, a rate estimator, nothing."""
    choice = rng.randrange(20)
    if choice == 0:
        cells, overhead = rng.choice((0, 8)), rng.randrange(-2000, 2000)
        base = struct.pack(
            "=BBhiIIII", rng.randrange(12), rng.randrange(12), 0, overhead, 0, rng.randrange(3), 2048, cells
        )
        table = netlink.attribute(2, rng.randbytes(2 * cells)) if cells else b""
        return netlink.attribute(netlink.TCA_STAB | netlink.NESTED, netlink.attribute(1, base) + table)
    if choice == 1:
        return netlink.attribute(netlink.TCA_RATE, struct.pack("=bB", rng.randrange(-3, 4), rng.randrange(9)))
    return b""


class Traffic:
    """Random frames: UDP of many flows, TCP both ways, broken ones, super-packets."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.sent = 0
        self.plain = self._socket(0)
        self.super = self._socket(1)

    def _socket(self, header: int) -> socket.socket:
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.setsockopt(socket.SOL_SOCKET, frames.SO_SNDBUFFORCE, 1 << 30)
        if header:
            made.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        made.bind((DEVICE, 0))
        return made

    def _frame(self) -> tuple[bytes, int]:
        rng = self.rng
        flow = rng.choice((rng.randrange(5), rng.randrange(300), rng.getrandbits(32)))
        choice = rng.random()
        if choice < 0.5:
            return frames.udp(flow, rng.choice((42, 60, 600, 1514)), rng.randrange(4)), 0x0800
        if choice < 0.8:
            flags = rng.choice((2, 18, 16, 16, 16, 17, 4, 0))
            numbers = rng.getrandbits(32), rng.choice((1, rng.getrandbits(32)))
            return frames.tcp(flow, *numbers, flags, rng.choice((0, 0, 100, 1400)), rng.random() < 0.4), 0x0800
        make = frames.noise if choice < 0.9 else frames.dissected
        return next(iter(make(rng.getrandbits(32), 1)))

    def burst(self) -> None:
        """Some packets at once; what the queue or the device refuses is no error here."""
        for _ in range(self.rng.choice((0, 1, 5, 20, 80))):
            packet, protocol = self._frame()
            if self.rng.random() < 0.03:
                # struct virtio_net_hdr: TCP in segments of 1000 bytes or so.
                packet, protocol = (
                    frames.tcp(self.rng.randrange(50), 1, 1, 16, self.rng.randrange(2000, 60_000)),
                    0x0800,
                )
                size = self.rng.choice((536, 1000, 1448))
                head = struct.pack("=BBHHHH", NEEDS_CSUM, GSO_TCPV4, 54, size, 34, 16)
                self._send(self.super, head + bytes(12) + struct.pack("!H", protocol) + packet)
            else:
                self._send(self.plain, bytes(12) + struct.pack("!H", protocol) + packet)

    def _send(self, sender: socket.socket, data: bytes) -> None:
        try:
            sender.send(data)
            self.sent += 1
        except OSError:
            pass

    def close(self) -> None:
        self.plain.close()
        self.super.close()


def set_parent(rng: random.Random) -> tuple[str, tuple[int, ...]]:
    """Another parent of the leaves: what it is and its classes."""
    name = rng.choice(tuple(PARENTS))
    tc(f"qdisc replace dev {DEVICE} root handle 8: pfifo")
    tc(f"qdisc del dev {DEVICE} root")
    commands, classes = PARENTS[name]
    for command in commands:
        tc(command)
    return name, classes


def ask(rng: random.Random, link: netlink.Netlink, classes: tuple[int, ...]) -> tuple[str, str, str]:
    """One random request: what it was, error, reason."""
    place, handle = rng.choice(classes), rng.choice((0, 0x100000, 0x110000, 0x120000))
    choice = rng.random()
    if choice < 0.08:
        return "del", *link.delete(rng.choice((0, handle)), place)
    if choice < 0.12:
        return "get", *link.request(netlink.GETQDISC, 0, link.message(handle, place))
    kind = rng.choice(tuple(OURS))
    name, flags = rng.choice(
        (
            ("add", netlink.CREATE | netlink.EXCL),
            ("replace", netlink.CREATE | netlink.REPLACE),
            ("replace", netlink.CREATE | netlink.REPLACE),
            ("create", netlink.CREATE),
            ("change", 0),
            ("change", 0),
        )
    )
    if name == "change":
        # Mostly of one that is there, by its own kind.
        there = [row for row in link.shown() if row.kind in OURS]
        if there and rng.random() < 0.9:
            row = rng.choice(there)
            kind, handle, place = row.kind, row.handle, row.parent
    options = drawn_options(rng, rng.choice(tuple(OURS)) if rng.random() < 0.03 else kind)
    nested = netlink.NESTED if rng.random() < 0.97 else 0
    body = link.message(handle, place) + netlink.attribute(netlink.TCA_KIND, kind.encode() + b"\0")
    if rng.random() < 0.97:
        body += netlink.attribute(netlink.TCA_OPTIONS | nested, options)
    return name, *link.request(netlink.NEWQDISC, flags, body + drawn_more(rng))


def check(link: netlink.Netlink, still: bool) -> int:
    """Holds what is shown to what has to be, where no packet passes meanwhile; how many disciplines are ours."""
    rows = link.shown()
    ours = [row for row in rows if row.kind in OURS]
    for row in ours if still else ():
        limit = row.options.get(LIMIT, b"")
        if limit:
            assert row.pkts <= int.from_bytes(limit, "little"), row
        assert (row.pkts == 0) == (row.size == 0), row
    root = next((row for row in rows if row.parent == netlink.ROOT), None)
    if still and root and root.kind in ("htb", "prio"):
        leaves = [row for row in rows if row.parent >> 16 == root.handle >> 16 and row is not root]
        held = [row for row in leaves if row.kind in OURS]
        if held and len(held) == len(leaves):
            assert root.pkts == sum(row.pkts for row in leaves), rows
    return len(ours)


def traffic_beside(seed: int) -> int:
    """A process that sends until it is killed."""
    child = os.fork()
    if child:
        return child
    traffic = Traffic(random.Random(seed))
    while True:
        traffic.burst()
        time.sleep(0.001)


def run(settings: dict) -> dict:
    """Requests from ``seed`` on until ``requests`` were made or ``seconds`` of the guest's clock have passed.

    With ``beside`` another process sends meanwhile; the guest's clock has to be that of the machine then.

    Returns
    -------
    dict
        ``asked``: requests by what they were and the error; ``reasons``: what the kernel said, with counts; ``most``:
        disciplines of ours at a time; ``sent``: packets from this process; ``seconds`` passed; ``log``: lines of the
        kernel's that tell of errors; ``leaks``: of memory, where the kernel looks for them.
    """
    rng = random.Random(settings["seed"])
    qdiscs.clear_log()
    base = Link("")
    link, traffic = netlink.Netlink(DEVICE), Traffic(random.Random(settings["seed"] + 1))
    beside = traffic_beside(settings["seed"] + 2) if settings.get("beside") else 0
    asked: collections.Counter = collections.Counter()
    reasons: collections.Counter = collections.Counter()
    began, most, log = time.monotonic(), 0, ""
    parent, classes = "none", PARENTS["none"][1]
    count = 0
    try:
        while count < settings.get("requests", 1 << 60) and time.monotonic() - began < settings.get("seconds", 1 << 40):
            if count % REQUESTS_PER_PARENT == 0:
                parent, classes = set_parent(rng)
            what, error, reason = ask(rng, link, classes)
            asked[f"{what} {error or 'ok'}"] += 1
            if reason:
                reasons[reason] += 1
            traffic.burst()
            most = max(most, check(link, not beside))
            if not beside:
                time.sleep(rng.choice((0, 0, 0, 1e-4, 0.01, 1)) if parent not in WORK_CONSERVING else 1e-4)
            if rng.random() < 0.01:
                frames.ip(f"link set {DEVICE} down")
                frames.ip(f"link set {DEVICE} up")
            count += 1
            if count % 200 == 0:
                log += splats()
                if log:
                    break
    finally:
        if beside:
            os.kill(beside, signal.SIGKILL)
            os.waitpid(beside, 0)
        traffic.close()
        link.close()
        base.close()
    log += splats()
    return {
        "asked": dict(asked),
        "reasons": dict(reasons),
        "most": most,
        "sent": traffic.sent,
        "requests": count,
        "seconds": time.monotonic() - began,
        "log": log,
        "leaks": qdiscs.leaks(),
    }


def splats() -> str:
    """What the kernel has said of errors since the last call."""
    log = qdiscs.NOT_OURS.sub("", qdiscs.kernel_log())
    qdiscs.clear_log()
    return log if qdiscs.SPLAT.search(log) else ""
