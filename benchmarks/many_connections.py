"""Make a capture of many short TCP connections, cut behind their headers, and print what is in it as JSON.

    python benchmarks/many_connections.py OUT.pcap [--connections 1000000] [--span 900] [--hosts 20000] [--open 0.01]

Each connection has ten packets: a handshake, a request of 300 bytes, its acknowledgement, an answer of two segments,
its acknowledgement, and a FIN from either end. Connections begin evenly over the span; of a part of them (``--open``)
the FINs are missing. What a reading of the file must find is printed: packets, bytes of IP packets, connections.
"""

import argparse
import json
from pathlib import Path

import numpy as np

RECORD = np.dtype(
    [
        *(("s", "<u4"), ("us", "<u4"), ("held", "<u4"), ("whole", "<u4")),
        *(("macs", "S12"), ("ether", ">u2"), ("v", "u1"), ("tos", "u1"), ("length", ">u2"), ("id", ">u2")),
        *(("frag", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("sum", ">u2"), ("src", ">u4"), ("dst", ">u4")),
        *(("sport", ">u2"), ("dport", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"), ("flags", "u1")),
        *(("window", ">u2"), ("check", ">u2"), ("urgent", ">u2")),
    ]
)
HEADERS, REQUEST, SEGMENT = 40, 300, 1448
SYN, ACK, FIN, PSH = 2, 16, 1, 8
# From the opener; when, ms; payload; flags; how much either end has sent before.
PACKETS = (
    (True, 0.0, 0, SYN, 0, 0),
    (False, 20.0, 0, SYN | ACK, 0, 1),
    (True, 40.0, 0, ACK, 1, 1),
    (True, 41.0, REQUEST, ACK | PSH, 1, 1),
    (False, 61.0, 0, ACK, 1, 1 + REQUEST),
    (False, 70.0, SEGMENT, ACK, 1, 1 + REQUEST),
    (False, 71.0, SEGMENT, ACK | PSH, 1 + SEGMENT, 1 + REQUEST),
    (True, 91.0, 0, ACK, 1 + REQUEST, 1 + 2 * SEGMENT),
    (True, 120.0, 0, FIN | ACK, 1 + REQUEST, 1 + 2 * SEGMENT),
    (False, 140.0, 0, FIN | ACK, 1 + 2 * SEGMENT, 2 + REQUEST),
)
CLIENTS, SERVERS = 0x0A000000, 0xC6120000
"""10.0.0.0/8 and 198.18.0.0/15."""
BATCH = 100_000


def packets(first: int, count: int, spacing_us: float, hosts: int, open_every: int) -> np.ndarray:
    """Packets of so many connections, by time."""
    number = np.arange(first, first + count, dtype=np.int64)
    found = np.zeros((count, len(PACKETS)), RECORD)
    client, server = CLIENTS + number * 7919 % hosts, SERVERS + number * 104729 % 65_536
    # The same ports of the same hosts come again after hours, if ever.
    port = 1024 + number // hosts % 60_000
    begin_us = (number * spacing_us).astype(np.int64)
    for place, (forth, at_ms, payload, flags, seq, ack) in enumerate(PACKETS):
        row = found[:, place]
        time_us = begin_us + int(at_ms * 1000)
        row["s"], row["us"] = 1_700_000_000 + time_us // 1_000_000, time_us % 1_000_000
        row["held"], row["whole"] = RECORD.itemsize - 16, RECORD.itemsize - 16 + payload
        row["ether"], row["v"], row["ttl"], row["protocol"] = 0x0800, 0x45, 64, 6
        row["length"], row["id"] = HEADERS + payload, (number * len(PACKETS) + place) % 65_536
        ends = (client, server, port, 443) if forth else (server, client, 443, port)
        row["src"], row["dst"], row["sport"], row["dport"] = ends
        base = number * 64_000 % 2**31
        row["seq"], row["ack"] = base + seq, base + ack if flags & ACK else 0
        row["offset"], row["flags"], row["window"] = 0x50, flags, 65_535
    kept = np.ones(found.shape, dtype=bool)
    if open_every:
        kept[number % open_every == 0, -2:] = False
    return found[kept]


def main() -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--connections", type=int, default=1_000_000)
    parser.add_argument("--span", type=float, default=900.0, help="s over which they begin")
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--open", type=float, default=0.01, help="part that never ends")
    given = parser.parse_args()
    spacing_us = 1e6 * given.span / given.connections
    open_every = round(1 / given.open) if given.open else 0
    carried = {"packets": 0, "bytes": 0, "connections": given.connections}
    held = np.zeros(0, RECORD)
    with given.out.open("wb") as out:
        out.write(np.array([0xA1B2C3D4, 0x00040002, 0, 0, 65_535, 1], dtype="<u4").tobytes())
        for first in range(0, given.connections, BATCH):
            count = min(BATCH, given.connections - first)
            more = packets(first, count, spacing_us, given.hosts, open_every)
            # Without a type the order of bytes becomes that of the machine.
            held = np.concatenate([held, more], dtype=RECORD)
            time_us = held["s"].astype(np.int64) * 1_000_000 + held["us"]
            held = held[np.argsort(time_us, kind="stable")]
            # Later connections have no packet before their first.
            time_us = held["s"].astype(np.int64) * 1_000_000 + held["us"]
            next_us = 1_700_000_000_000_000 + int((first + count) * spacing_us)
            done = len(held) if first + count == given.connections else int(np.searchsorted(time_us, next_us))
            out.write(held[:done].tobytes())
            carried["packets"] += done
            carried["bytes"] += int(held["length"][:done].sum(dtype=np.int64))
            held = held[done:]
    print(json.dumps(carried))


if __name__ == "__main__":
    main()
