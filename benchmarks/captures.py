"""Speed and memory of reading captures, beside tcptrace, argus and tshark.

A file of a million packets is made of captures by repeating them with shifted addresses and times, so that each copy
has connections of its own; another one of connections that open, ask once and stay open, a million by default, shows
what each costs in memory.

    python benchmarks/captures.py CAPTURE...

``--stream whole`` writes connections one after the other, ten packets each (``--each``) and ten thousand at the same
time, to the standard output; ``peers`` the same with as many servers all over the Internet as connections; ``flood``
SYNs that nobody answers; ``scan`` SYNs of one host to as many hosts and ports, refused by every second one.
``--connections`` of them, for what no disk should hold:

    python benchmarks/captures.py --stream whole --connections 10000000 | mayfly --memory 2gb profile - --connections
"""

import argparse
import gzip
import json
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from processes import Spent, spent

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / "target" / "release" / "examples" / "connections"
HEADER = struct.Struct("<IHHiIII")
RECORD = struct.Struct("<IIII")
PEERS = {
    "tcptrace": ["tcptrace", "-l", "-r", "-n"],
    "argus": ["argus", "-X", "-w", os.devnull, "-r"],
    "tshark": ["tshark", "-q", "-z", "conv,tcp", "-r"],
}


def records(path: Path) -> list[tuple[int, bytes, int]]:
    """Microseconds since 1970, captured bytes and original length of each packet of an Ethernet pcap."""
    data = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    magic, *_, link = HEADER.unpack_from(data)
    if magic != 0xA1B2C3D4 or link != 1:
        raise SystemExit(f"{path}: must be a little-endian pcap of Ethernet frames with microseconds")
    found, at = [], HEADER.size
    while at + RECORD.size <= len(data):
        seconds, fraction, captured, original = RECORD.unpack_from(data, at)
        at += RECORD.size
        found.append((seconds * 1_000_000 + fraction, data[at : at + captured], original))
        at += captured
    return found


def shifted(frame: bytes, copy: int) -> bytes:
    """The frame between other hosts: `copy` is mixed into a byte of both addresses of the outermost IP header."""
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, changed = frame[at : at + 2], bytearray(frame)
    places = {b"\x08\x00": (at + 15, at + 19), b"\x86\xdd": (at + 11, at + 27)}.get(bytes(kind), ())
    for place in places:
        if place < len(changed):
            changed[place] ^= copy
    return bytes(changed)


def repeated(captures: list[Path], packets: int, path: Path) -> int:
    """Write at least `packets` packets; returns how many."""
    sources = [records(capture) for capture in captures]
    written, copy = 0, 0
    with path.open("wb") as out:
        out.write(HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        while written < packets:
            for source in sources:
                for time_us, frame, original in source:
                    seconds, fraction = divmod(time_us + copy * 3_600_000_000, 1_000_000)
                    out.write(RECORD.pack(seconds, fraction, len(frame), original) + shifted(frame, copy))
                written += len(source)
            copy += 1
    return written


def opened(connections: int) -> Iterator[bytes]:
    """Records of connections that shake hands, ask and go on living, interleaved."""
    steps = ((0, 2, 0, 0), (1, 18, 0, 1), (0, 16, 1, 1), (0, 24, 1, 1))
    for step, (back, flags, seq, ack) in enumerate(steps):
        payload = 100 if step == 3 else 0
        for index in range(connections):
            client = struct.pack(">I", 0x0A000000 + index // 60_000)
            ends = (client, bytes((192, 0, 2, 1)))
            ports = (1024 + index % 60_000, 443)
            if back:
                ends, ports = ends[::-1], ports[::-1]
            total = 40 + payload
            ip = struct.pack(">BBHHHBBH", 0x45, 0, total, index & 0xFFFF, 0, 64, 6, 0) + ends[0] + ends[1]
            tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0)
            time_us = step * 10_000_000 + index
            header = RECORD.pack(time_us // 1_000_000, time_us % 1_000_000, 54, 14 + total)
            yield header + bytes(12) + b"\x08\x00" + ip + tcp


PACKET = np.dtype(
    [
        *(("s", "<u4"), ("us", "<u4"), ("captured", "<u4"), ("original", "<u4")),
        *(("ethernet", "V12"), ("kind", ">u2"), ("version", "u1"), ("tos", "u1"), ("total", ">u2"), ("id", ">u2")),
        *(("fragment", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("sum", ">u2"), ("src", ">u4"), ("dst", ">u4")),
        *(("sport", ">u2"), ("dport", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"), ("flags", "u1")),
        *(("window", ">u2"), ("tcp_sum", ">u2"), ("urgent", ">u2")),
    ]
)
"""A record with the headers of Ethernet, IPv4 and TCP, which are all that is captured."""
AT_ONCE = 10_000
"""Connections of a stream that live at the same time."""
EXCHANGE = (
    (0, 0x02, 0, 0, 0),
    (1, 0x12, 0, 1, 0),
    (0, 0x10, 1, 1, 0),
    (0, 0x18, 1, 1, 100),
    (1, 0x10, 1, 101, 1448),
    (1, 0x18, 1449, 101, 1448),
    (0, 0x10, 101, 2897, 0),
    (0, 0x11, 101, 2897, 0),
    (1, 0x11, 2897, 102, 0),
    (0, 0x10, 102, 2898, 0),
)
"""Who sends, flags, sequence number, acknowledgement and payload of each packet of a connection."""


REFUSED = ((0, 0x02, 0, 0, 0), (1, 0x14, 0, 1, 0))
"""A SYN and its refusal."""
STREAMS = ("whole", "peers", "flood", "scan")


def exchange(kind: str, each: int) -> list[tuple[int, int, int, int, int]]:
    """Packets of a connection; further ones of `each` are data from the server, acknowledged one by one."""
    if kind in ("flood", "scan"):
        return list(EXCHANGE[:1] if kind == "flood" else REFUSED)
    if each < len(EXCHANGE):
        raise SystemExit(f"--each {each}: must be at least {len(EXCHANGE)}, a whole connection")
    steps, sent = list(EXCHANGE[:7]), 2897
    for step in range(each - len(EXCHANGE)):
        steps.append((0, 0x10, 101, sent, 0) if step % 2 else (1, 0x18, sent, 101, 1448))
        sent += 0 if step % 2 else 1448
    return [*steps, (0, 0x11, 101, sent, 0), (1, 0x11, sent, 102, 0), (0, 0x10, 102, sent + 1, 0)]


def streamed(connections: int, kind: str, each: int = len(EXCHANGE)) -> Iterator[bytes]:
    """Records of a stream, a block of :data:`AT_ONCE` connections after the other, one packet each in turn."""
    steps = exchange(kind, each)
    for begin in range(0, connections, AT_ONCE):
        index = np.arange(begin, min(begin + AT_ONCE, connections), dtype=np.int64)
        rows = np.zeros(len(index), dtype=PACKET)
        for name, value in (("captured", 54), ("kind", 0x0800), ("version", 0x45), ("ttl", 64), ("protocol", 6)):
            rows[name] = value
        rows["offset"], rows["window"], rows["id"] = 0x50, 65535, index & 0xFFFF
        # Spoofed addresses, and those of servers, are all over; a site has some hundred hosts.
        spread, site = 0x20000000 + index * 7 % (1 << 28), 0x0A000000 + index // 60_000
        near = {"flood": spread, "scan": np.full_like(index, 0x2D000001)}.get(kind, site)
        far = {"peers": spread, "scan": 0x0A000000 + index % 60_000}.get(kind, np.full_like(index, 0xC0000201))
        ends = near, far
        ports = (1024 + index % 60_000, index // 60_000 + 1 if kind == "scan" else np.full_like(index, 443))
        for step, (back, flags, seq, ack, payload) in enumerate(steps):
            if kind == "scan" and step == 1:
                rows = rows[1::2]
                index, ends, ports = index[1::2], (near[1::2], far[1::2]), (ports[0][1::2], ports[1][1::2])
            rows["src"], rows["dst"], rows["sport"], rows["dport"] = (
                ends[back],
                ends[1 - back],
                ports[back],
                ports[1 - back],
            )
            rows["flags"], rows["seq"], rows["ack"], rows["total"] = flags, seq, ack, 40 + payload
            rows["original"] = 54 + payload
            time_us = (index - begin) + AT_ONCE * (step + begin // AT_ONCE * max(len(steps), len(EXCHANGE)))
            rows["s"], rows["us"] = time_us // 1_000_000, time_us % 1_000_000
            yield rows.tobytes()


def in_turns(path: Path, folder: str, runs: int) -> Iterator[tuple[str, list[Spent]]]:
    """Every program that is installed and reads the file, with its runs."""
    found: dict[str, list[Spent]] = {}
    programs = {"mayfly": [str(PROGRAM)], **PEERS}
    for missing in [name for name in PEERS if shutil.which(name) is None]:
        print(f"{missing}: not installed", file=sys.stderr)
        del programs[missing]
    for _ in range(runs):
        for name, command in list(programs.items()):
            try:
                found.setdefault(name, []).append(spent([*command, path], folder))
            except RuntimeError as error:
                print(error, file=sys.stderr)
                del programs[name]
    yield from ((name, found[name]) for name in programs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="*", type=Path, metavar="CAPTURE")
    parser.add_argument("--stream", choices=STREAMS)
    parser.add_argument("--each", type=int, default=len(EXCHANGE), help="packets of each connection of a stream")
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3, help="of each program, in turns, of which the fastest counts")
    parser.add_argument("--connections", type=int, default=1_000_000)
    given = parser.parse_args()
    if given.stream:
        try:
            sys.stdout.buffer.write(HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for block in streamed(given.connections, given.stream, given.each):
                sys.stdout.buffer.write(block)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            # Who reads has seen enough; the interpreter would complain once more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit("captures.py: who reads stopped before the end of the stream")
        return
    if not given.captures:
        parser.error("name a capture, or --stream")
    if not PROGRAM.exists():
        raise SystemExit("cargo build --release -p mayfly-capture --example connections, first")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "repeated.pcap"
        packets = repeated(given.captures, given.packets, path)
        for name, runs in in_turns(path, folder, given.runs):
            least = min(runs, key=lambda one: one.cpu_s)
            row = {
                "program": name,
                "packets": packets,
                "cpu_s": least.cpu_s,
                "packets_per_cpu_s": packets / least.cpu_s,
            }
            print(json.dumps(row | (json.loads(least.printed) if name == "mayfly" else {})), flush=True)
        path.unlink()
        with path.open("wb") as out:
            out.write(HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            out.writelines(opened(given.connections))
        done = spent([PROGRAM, path], folder)
        row = {"program": "mayfly", "cpu_s": done.cpu_s, "memory_bytes": done.memory_bytes, **json.loads(done.printed)}
        print(json.dumps(row | {"bytes_per_connection": done.memory_bytes / row["connections"]}))


if __name__ == "__main__":
    main()
