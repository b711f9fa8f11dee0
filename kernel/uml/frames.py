"""Frames for the device under test: `Link` is a pair of devices, its egress here a discipline below a slow parent.

    here: dut ══ veth ══ sink (namespace far)

Frames go out of packet sockets, so that any header can be sent. In virtual time sending takes none: all that is sent
between two sleeps waits at once.
"""

import json
import random
import shlex
import socket
import struct
import subprocess

DEVICE, FAR = "dut", "far"
SOURCE, TARGET = "10.9.0.1", "10.9.0.2"
HELD = "1kbit"
"""Rate at which a packet is sent at once and the next one many seconds later."""
ETHERNET = 14
SO_SNDBUFFORCE = 32


def tc(command: str, fails: bool = False) -> str:
    """What tc says; where it shall fail, what it says of the error."""
    done = subprocess.run(["tc", *shlex.split(command)], capture_output=True, text=True)
    if bool(done.returncode) != fails:
        raise AssertionError(f"tc {command}: status {done.returncode}: {done.stderr.strip()}")
    return done.stderr if fails else done.stdout


def ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True)


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(
    protocol: int, payload: bytes, source: str = SOURCE, target: str = TARGET, tos: int = 0, offset: int = 0
) -> bytes:
    """An IPv4 packet; `offset` is the field of that name with its flags."""
    ends = socket.inet_aton(source) + socket.inet_aton(target)
    head = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(payload), 1, offset, 64, protocol, 0) + ends
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def udp(flow: int, length: int, tos: int = 0) -> bytes:
    """A UDP packet of one of 2^32 flows, `length` bytes with Ethernet's header."""
    size = length - ETHERNET - 20
    return ipv4(17, struct.pack("!HHHH", flow >> 16, flow & 0xFFFF, size, 0) + bytes(size - 8), tos=tos)


def ipv6(protocol: int, payload: bytes, tos: int = 0) -> bytes:
    ends = socket.inet_pton(socket.AF_INET6, "fd00::1") + socket.inet_pton(socket.AF_INET6, "fd00::2")
    return struct.pack("!IHBB", 6 << 28 | tos << 20, len(payload), protocol, 64) + ends + payload


def tcp(flow: int, seq: int, ack: int, flags: int, payload: int, back: bool = False) -> bytes:
    """A TCP segment of a flow, of its other direction with `back`."""
    ports, ends = (flow >> 16, flow & 0xFFFF), (SOURCE, TARGET)
    if back:
        ports, ends = ports[::-1], ends[::-1]
    head = struct.pack("!HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 1000, 0, 0)
    return ipv4(6, head + bytes(payload), *ends)


def dissected(seed: int, count: int):
    """IPv4 and IPv6 packets with their protocol, whole or broken in the first 60 bytes; half of them TCP or UDP as is."""
    rng = random.Random(seed)
    for _ in range(count):
        flow = rng.getrandbits(32)
        packet = bytearray(rng.choice((udp(flow, 120), tcp(flow, 1, 1, 16, 60, bool(rng.getrandbits(1))))))
        number, protocol = packet[9], 0x0800
        if rng.random() < 0.5:
            packet, protocol = bytearray(ipv6(number, bytes(packet[20:]))), 0x86DD
        if rng.random() < 0.5:
            for _ in range(rng.randrange(1, 4)):
                packet[rng.randrange(60)] = rng.getrandbits(8)
        yield bytes(packet[: rng.randrange(20, 100)]), protocol


class Link:
    """Devices, and a parent that holds packets back; `parent` is "htb" or where the discipline is the root ""."""

    def __init__(self, leaf: str, rate: str = HELD):
        ip(f"netns add {FAR}")
        ip(f"link add {DEVICE} numtxqueues 4 numrxqueues 4 type veth peer name sink netns {FAR}")
        for name, prefix in ((DEVICE, ""), ("sink", f"-n {FAR} ")):
            ip(f"{prefix}link set {name} up")
        ip(f"addr add {SOURCE}/24 dev {DEVICE}")
        with open(f"/proc/sys/net/ipv4/conf/{DEVICE}/arp_ignore", "w") as switch:
            switch.write("8")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((DEVICE, 0))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 30)
        self.leaf = leaf
        if leaf:
            self.below_htb(rate)

    def below_htb(self, rate: str) -> None:
        tc(f"qdisc add dev {DEVICE} root handle 1: htb default 1")
        tc(f"class add dev {DEVICE} parent 1: classid 1:1 htb rate {rate} burst 1 cburst 1 quantum 1514")
        tc(f"qdisc add dev {DEVICE} parent 1:1 handle 10: {self.leaf}")

    def rate(self, rate: str) -> None:
        tc(f"class change dev {DEVICE} parent 1: classid 1:1 htb rate {rate} quantum 60000")

    def change(self, leaf: str) -> None:
        tc(f"qdisc change dev {DEVICE} parent 1:1 handle 10: {leaf}")

    def frame(self, packet: bytes, protocol: int = 0x0800) -> None:
        """Sends one; what the queue drops is not an error here."""
        try:
            self.socket.send(bytes(12) + struct.pack("!H", protocol) + packet)
        except OSError as error:
            if error.errno != 105:  # ENOBUFS, what NET_XMIT_DROP becomes
                raise

    def udp(self, flows, length: int = 1000, tos: int = 0) -> None:
        """One packet of each flow of a series."""
        for flow in flows:
            self.frame(udp(flow, length, tos))

    def shown(self, handle: str = "10:") -> dict:
        rows = json.loads(tc(f"-s -j qdisc show dev {DEVICE}"))
        return next(row for row in rows if row["handle"] == handle)

    def close(self) -> None:
        self.socket.close()
        ip(f"link del {DEVICE}")
        ip(f"netns del {FAR}")


def noise(seed: int, count: int):
    """Broken packets with their protocol: headers of the right kind, cut and changed anywhere."""
    rng = random.Random(seed)
    for _ in range(count):
        packet = bytearray(rng.choice((udp(rng.getrandbits(32), 120), tcp(rng.getrandbits(32), 1, 1, 16, 60))))
        if rng.random() < 0.5:
            inner = bytes(packet)
            packet = bytearray(ipv4(rng.choice((4, 47, 41, 17, 1, 132, 50)), inner))
        for _ in range(rng.randrange(6)):
            packet[rng.randrange(len(packet))] = rng.getrandbits(8)
        yield (
            bytes(packet[: rng.randrange(1, len(packet) + 1)]),
            rng.choice((0x0800, 0x0800, 0x86DD, 0x8100, 0x8847, 0x0806)),
        )
