"""What sch_lfq does beside deciding who is next: its shaper, names of users, filters, weights, memory; `run` measures.

All that is sent between two sleeps waits at once, and in virtual time timers are exact.
"""

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import frames
import qdiscs
from frames import DEVICE, FAR, Link, tc

SO_TIMESTAMPNS = 35


def root(options: str) -> Link:
    """The device with lfq at its root."""
    link = Link("")
    tc(f"qdisc add dev {DEVICE} root handle 10: lfq {options}")
    return link


def timed(receiver: socket.socket) -> list[tuple[int, bytes]]:
    """When each waiting frame of IPv4 or IPv6 arrived, ns, and the frame."""
    found = []
    while True:
        try:
            frame, ancillary, *_ = receiver.recvmsg(70_000, 128)
        except BlockingIOError:
            return found
        if frame[12:14] == b"\x08\x00" or frame[12:14] == b"\x86\xdd" and frame[20] == 17:
            seconds, ns = struct.unpack("qq", ancillary[0][2])
            found.append((seconds * 10**9 + ns, frame))


def far_clock() -> socket.socket:
    receiver = qdiscs.sniffer()
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setsockopt(socket.SOL_SOCKET, 33, 1 << 30)  # SO_RCVBUFFORCE
    return receiver


def packet(source: str, target: str, flow: int, length: int, tos: int = 0) -> bytes:
    """A UDP packet from one host to another, `length` bytes with Ethernet's header."""
    size = length - frames.ETHERNET - 20
    ports = struct.pack("!HHHH", 1 + flow, 9, size, 0)
    return frames.ipv4(17, ports + bytes(size - 8), source, target, tos=tos)


def frame_of(case: dict, source: str, target: str, flow: int, tos: int) -> tuple[bytes, int]:
    """What comes after Ethernet's header and its protocol: of IPv6 where the addresses are, in a tunnel where asked."""
    length = case.get("length", 1000)
    if ":" in source:
        datagram = packet("10.0.0.1", "10.0.0.2", flow, length)[20:]
        head = struct.pack("!IHBB", 6 << 28 | tos << 20, len(datagram), 17, 64)
        return head + b"".join(socket.inet_pton(socket.AF_INET6, end) for end in (source, target)) + datagram, 0x86DD
    inner = packet(source, target, flow, length, tos)
    if case.get("tunnel"):
        return frames.ipv4(4, inner, source.replace("10.0.", "10.7."), target), 0x0800
    return inner, 0x0800


def source_of(frame: bytes) -> str:
    if frame[12:14] == b"\x86\xdd":
        return socket.inet_ntop(socket.AF_INET6, frame[22:38])
    return socket.inet_ntoa(frame[26:30])


def shaped(case: dict) -> dict:
    """Packets of `lengths` in turn through a shaper: when the first and the last arrived, and the time of one alone."""
    link = root(case["options"])
    try:
        receiver = qdiscs.far(far_clock)
        lengths = case["lengths"]
        for number in range(case["packets"]):
            link.udp([number % 4], lengths[number % len(lengths)])
        time.sleep(case["seconds"])
        arrived = timed(receiver)
        start = time.clock_gettime_ns(time.CLOCK_REALTIME)
        link.udp([1], lengths[0])
        time.sleep(1)
        alone = timed(receiver)
        receiver.close()
        return {
            "arrived": len(arrived),
            "ns": arrived[-1][0] - arrived[0][0],
            "alone_ns": alone[0][0] - start,
            "qlen": link.shown()["qlen"],
            "backlog": link.shown()["backlog"],
        }
    finally:
        link.close()


def flooded(case: dict) -> dict:
    """Packets in bursts of a fixed rate for so many seconds, then one a ms: how many arrived in each second."""
    link = root(case["options"])
    try:
        receiver = qdiscs.far(far_clock)
        begin = time.clock_gettime_ns(time.CLOCK_REALTIME)
        for _ in range(round(case["seconds"] * 100)):
            link.udp((flow % 50 for flow in range(case["burst"])), 1000)
            time.sleep(0.01)
        for _ in range(2000):
            link.udp([7], 100)
            time.sleep(0.001)
        time.sleep(1)
        seconds = [(at - begin) // 10**9 for at, _ in timed(receiver)]
        receiver.close()
        return {"counts": [seconds.count(second) for second in range(int(case["seconds"]) + 4)], "shown": link.shown()}
    finally:
        link.close()


def changed_under_load(case: dict) -> dict:
    """Rates one after the other while packets wait: how many arrived in each stretch, and what is left."""
    link = root(f"bandwidth {case['rates'][0]} noecn interval 4s target 4s")
    try:
        receiver = qdiscs.far(far_clock)
        link.udp((flow % 8 for flow in range(case["packets"])), 1000)
        counts = []
        for rate in case["rates"]:
            tc(f"qdisc change dev {DEVICE} root handle 10: lfq bandwidth {rate}")
            time.sleep(case["seconds"])
            counts.append(len(timed(receiver)))
        shown = link.shown()
        tc(f"qdisc change dev {DEVICE} root handle 10: lfq bandwidth unlimited")
        time.sleep(1)
        counts.append(len(timed(receiver)))
        receiver.close()
        return {"counts": counts, "drops": shown["drops"], "qlen": shown["qlen"], "after": link.shown()["qlen"]}
    finally:
        link.close()


def served(case: dict) -> dict:
    """Packets of (source, target, dscp, flow, count) in `rounds`, so many that they wait: what arrived, what tc says."""
    link = root(case["options"])
    try:
        for command in case.get("filters", ()):
            tc(f"filter add dev {DEVICE} parent 10: {command}")
        receiver = qdiscs.far(far_clock)
        for _ in range(case["rounds"]):
            for source, target, dscp, flow, count in case["packets"]:
                for _ in range(count):
                    link.frame(*frame_of(case, source, target, flow, dscp << 2))
            time.sleep(case["seconds"])
        arrived: dict[str, int] = {}
        for _, frame in timed(receiver):
            arrived[source_of(frame)] = arrived.get(source_of(frame), 0) + len(frame)
        receiver.close()
        text = tc(f"-s qdisc show dev {DEVICE}")
        return {"arrived": arrived, "shown": link.shown(), "text": text}
    finally:
        link.close()


def queues(case: dict) -> dict:
    """A packet of every flow of each source, again and again, below mq with an lfq in each of its queues: bytes that
    arrived of each source, and packets that each queue sent.
    """
    link = Link("")
    try:
        tc(f"qdisc add dev {DEVICE} root handle 1: mq")
        for number in range(1, 5):
            tc(f"qdisc add dev {DEVICE} parent 1:{number} handle {10 * number}: lfq {case['options']}")
        receiver = qdiscs.far(far_clock)
        for _ in range(case["rounds"]):
            for source, flows in case["sources"].items():
                for flow in range(flows):
                    for _ in range(case["burst"] // flows):
                        link.frame(packet(source, frames.TARGET, flow, 1000))
            time.sleep(case["seconds"])
        arrived: dict[str, int] = {}
        for _, frame in timed(receiver):
            arrived[source_of(frame)] = arrived.get(source_of(frame), 0) + len(frame)
        receiver.close()
        return {"arrived": arrived, "sent": [link.shown(f"{10 * number}:")["packets"] for number in range(1, 5)]}
    finally:
        link.close()


def memory(case: dict) -> dict:
    """More memory than may be used waits: what tc says then, and after less was allowed."""
    link = root(f"bandwidth 8kbit limit 100000p memlimit {case['first']}")
    try:
        link.udp((flow % 50 for flow in range(case["packets"])), 1500)
        first = link.shown()
        tc(f"qdisc change dev {DEVICE} root handle 10: lfq memlimit {case['then']}")
        then = link.shown()
        tc(f"qdisc change dev {DEVICE} root handle 10: lfq bandwidth unlimited")
        time.sleep(1)
        return {"first": first, "then": then, "last": link.shown()}
    finally:
        link.close()


SEND = """
import socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, {tos})
for _ in range({packets}):
    sender.sendto(bytes(900), ("{target}", 9))
    time.sleep({gap_s})
"""


@contextmanager
def router(hosts: int) -> Iterator[Link]:
    """The device leads out of a router; behind it each host is in a network and a namespace of its own, lan1 and so on."""
    link = Link("")
    try:
        frames.ip(f"-n {FAR} addr add {frames.TARGET}/24 dev sink")
        with open(f"/proc/sys/net/ipv4/conf/{DEVICE}/arp_ignore", "w") as switch:
            switch.write("0")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        for number in range(1, hosts + 1):
            frames.ip(f"netns add lan{number}")
            frames.ip(f"link add lan{number} type veth peer name up netns lan{number}")
            frames.ip(f"addr add 192.168.{number}.1/24 dev lan{number}")
            frames.ip(f"link set lan{number} up")
            frames.ip(f"-n lan{number} addr add 192.168.{number}.2/24 dev up")
            frames.ip(f"-n lan{number} link set dev up up")
            frames.ip(f"-n lan{number} route add default via 192.168.{number}.1")
        yield link
    finally:
        for number in range(1, hosts + 1):
            subprocess.run(["ip", "netns", "del", f"lan{number}"])
        link.close()


def from_lan(number: int, packets: int, gap_s: float, tos: int = 0) -> None:
    """Datagrams of 900 bytes from a host behind the router to the far end."""
    code = SEND.format(packets=packets, gap_s=gap_s, tos=tos, target=frames.TARGET)
    subprocess.run(["ip", "netns", "exec", f"lan{number}", sys.executable, "-c", code], check=True)


def forwarded(case: dict) -> dict:
    """Packets with ECT(0) that a router forwards: what tc says while they wait and when they are through."""
    with router(1) as link:
        tc(f"qdisc add dev {DEVICE} root handle 10: lfq {case['options']}")
        from_lan(1, case["packets"], case["gap_s"], tos=2)
        waiting = link.shown()
        time.sleep(case["seconds"])
        return {"waiting": waiting, "through": link.shown()}


def translated(case: dict) -> dict:
    """Two hosts behind address translation send through the device: whose packets they are, with nat and without."""
    with router(2) as link:
        for command in case["translate"]:
            subprocess.run(command, shell=True, check=True)
        found = {}
        for option in ("nonat", "nat"):
            if found:
                tc(f"qdisc del dev {DEVICE} root")
            tc(f"qdisc add dev {DEVICE} root handle 10: lfq bandwidth 1mbit user src {option}")
            for number in (1, 2):
                from_lan(number, 40, 0.02)
            time.sleep(1)
            found[option] = [row["user"] for row in link.shown()["top"]]
        return found


MEASURES = {
    "shaped": shaped,
    "flooded": flooded,
    "changed_under_load": changed_under_load,
    "served": served,
    "queues": queues,
    "memory": memory,
    "forwarded": forwarded,
    "translated": translated,
}


def run(settings: dict) -> dict:
    """What the measure of ``settings["measure"]`` finds for each of ``settings["cases"]``; what the kernel says."""
    qdiscs.clear_log()
    measure = MEASURES[settings["measure"]]
    found = [measure(case) for case in settings["cases"]]
    log = qdiscs.NOT_OURS.sub("", qdiscs.kernel_log())
    return {"found": found, "splats": [line for line in log.splitlines() if qdiscs.SPLAT.search(line)]}
