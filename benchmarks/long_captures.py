"""CPU time and memory of commands on captures of many short TCP connections, and whether nothing of them is lost.

Each connection has ten packets, cut behind their headers: a handshake, a request of 300 bytes, its acknowledgement, an
answer of two segments, its acknowledgement, and a FIN from either end. They begin evenly over the span (``--span``); of
one in a hundred the FINs are missing. A million of them take 0.7 GB of disk (``--folder``), ten million 7 GB.

    python benchmarks/long_captures.py --connections 1000000 --commands profile,diff,whatif

Memory is sampled: what belongs to no file, which is what ``--memory`` bounds with the program, and pages of files,
which the system takes back when it needs memory.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
MAYFLY = ROOT / ".venv/bin/mayfly"
RECORD = np.dtype(
    [
        *(("s", "<u4"), ("us", "<u4"), ("captured", "<u4"), ("whole", "<u4")),
        *(("macs", "S12"), ("ether", ">u2"), ("v", "u1"), ("tos", "u1"), ("length", ">u2"), ("id", ">u2")),
        *(("frag", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("sum", ">u2"), ("src", ">u4"), ("dst", ">u4")),
        *(("sport", ">u2"), ("dport", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"), ("flags", "u1")),
        *(("window", ">u2"), ("check", ">u2"), ("urgent", ">u2")),
    ]
)
HEADERS, REQUEST, SEGMENT = 40, 300, 1448
SYN, ACK, FIN, PSH = 2, 16, 1, 8
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
"""Whether the opener sends it; when, ms; payload; flags; how much it and the other end have sent before."""

CLIENTS, SERVERS = 0x0A000000, 0xC6120000
"""10.0.0.0/8 and 198.18.0.0/15."""

HOSTS = 20_000
OPEN_EVERY = 100
BATCH = 100_000
LINK = ("--rate", "40mbit/20mbit", "--buffer", "300")
EVERY_S = 0.05
DOCUMENTS = ("profile", "diff", "whatif")
"""Commands that print one."""


def packets(first: int, count: int, spacing_us: float) -> np.ndarray:
    """Packets of so many connections."""
    number = np.arange(first, first + count, dtype=np.int64)
    found = np.zeros((count, len(PACKETS)), RECORD)
    client, server = CLIENTS + number * 7919 % HOSTS, SERVERS + number * 104_729 % 65_536
    # The same ports of the same hosts come again after hours, if ever.
    port = 1024 + number // HOSTS % 60_000
    begin_us = (number * spacing_us).astype(np.int64)
    for place, (forth, at_ms, payload, flags, seq, ack) in enumerate(PACKETS):
        row = found[:, place]
        time_us = begin_us + int(at_ms * 1000)
        row["s"], row["us"] = 1_700_000_000 + time_us // 1_000_000, time_us % 1_000_000
        row["captured"], row["whole"] = RECORD.itemsize - 16, RECORD.itemsize - 16 + payload
        row["ether"], row["v"], row["ttl"], row["protocol"] = 0x0800, 0x45, 64, 6
        row["length"], row["id"] = HEADERS + payload, (number * len(PACKETS) + place) % 65_536
        ends = (client, server, port, 443) if forth else (server, client, 443, port)
        row["src"], row["dst"], row["sport"], row["dport"] = ends
        base = number * 64_000 % 2**31
        row["seq"], row["ack"] = base + seq, base + ack if flags & ACK else 0
        row["offset"], row["flags"], row["window"] = 0x50, flags, 65_535
    there = np.ones(found.shape, dtype=bool)
    there[number % OPEN_EVERY == 0, -2:] = False
    return found[there]


def written(path: Path, connections: int, span_s: float) -> dict[str, int]:
    """Write a capture by time; packets, and bytes of IP packets, in it."""
    spacing_us = 1e6 * span_s / connections
    carried = {"packets": 0, "bytes": 0}
    waiting = np.zeros(0, RECORD)
    with path.open("wb") as out:
        out.write(np.array([0xA1B2C3D4, 0x00040002, 0, 0, 65_535, 1], dtype="<u4").tobytes())
        for first in range(0, connections, BATCH):
            count = min(BATCH, connections - first)
            # Without a type the order of bytes becomes that of the machine.
            waiting = np.concatenate([waiting, packets(first, count, spacing_us)], dtype=RECORD)
            waiting = waiting[np.argsort(_times_us(waiting), kind="stable")]
            # Later connections have no packet before their first.
            next_us = 1_700_000_000_000_000 + int((first + count) * spacing_us)
            last = first + count == connections
            done = len(waiting) if last else int(np.searchsorted(_times_us(waiting), next_us))
            out.write(waiting[:done].tobytes())
            carried["packets"] += done
            carried["bytes"] += int(waiting["length"][:done].sum(dtype=np.int64))
            waiting = waiting[done:]
    return carried


def _times_us(rows: np.ndarray) -> np.ndarray:
    return rows["s"].astype(np.int64) * 1_000_000 + rows["us"]


def measured(command: Sequence[object], printed: Path) -> dict[str, float]:
    """CPU time of a command, s, and the most that it had in memory, GB: of no file, and of files; the rest is printed.

    Raises
    ------
    SystemExit
        It ended with another status than 0.
    """
    with printed.open("wb") as out:
        child = os.posix_spawn(
            str(command[0]),
            [str(part) for part in command],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)],
        )
    most = {"RssAnon": 0, "RssFile": 0}
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        try:
            text = Path(f"/proc/{child}/status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        for name in most:
            most[name] = max(most[name], int(fields.get(name, "0 kB").split()[0]) * 1024)
        time.sleep(EVERY_S)
    if status := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {status}")
    return {"cpu_s": used.ru_utime + used.ru_stime, **{name: bytes_ / 1e9 for name, bytes_ in most.items()}}


def commands(capture: Path, other: Path, folder: Path) -> dict[str, list[object]]:
    """What is run, by name."""
    small = [MAYFLY, "--memory", "2gb"]
    return {
        "profile": [*small, "profile", capture, "--json", "--out", folder / "profile"],
        "convert": [*small, "workload", "convert", capture, folder / "flows.csv"],
        "from": [*small, "workload", "from", capture, "--out", folder / "workload.toml"],
        "diff": [*small, "diff", other, capture, "--json", "--out", folder / "diff"],
        "whatif": [
            *(MAYFLY, "whatif", capture, *LINK, "-n", "1", "-d", "fifo,fq_codel", "--json", "-q"),
            *("--out", folder / "whatif"),
        ],
    }


def main() -> None:
    """Make the captures, run the commands, and check the account of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int, default=1_000_000)
    parser.add_argument("--span", type=float, default=0.0, help="s over which they begin; 0.9 ms for each when 0")
    parser.add_argument("--commands", default="profile,convert,from,diff,whatif")
    parser.add_argument("--folder", type=Path, help="for captures and results; a temporary one when absent")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        capture, other = folder / "many.pcap", folder / "few.pcap"
        carried = written(capture, given.connections, given.span or 0.0009 * given.connections)
        written(other, min(given.connections, 1_000_000), 0.0009 * min(given.connections, 1_000_000))
        print("| command | connections | CPU s | memory of no file | pages of files |")
        print("|---|---:|---:|---:|---:|")
        every = commands(capture, other, folder)
        for word in given.commands.split(","):
            printed = folder / f"{word}.json"
            found = measured(every[word], printed)
            memory = f"{found['RssAnon']:.2f} GB | {found['RssFile']:.2f} GB"
            print(f"| `{word}` | {given.connections:,} | {found['cpu_s']:.0f} | {memory} |", flush=True)
            if word in DOCUMENTS:
                used = json.loads(printed.read_text())["account"][-1]["used"]
                if (used["count"], used["bytes"]) != (carried["packets"], carried["bytes"]):
                    sys.exit(f"{word}: the account has {used}, and the capture {carried}")


if __name__ == "__main__":
    main()
