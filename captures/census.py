"""Counts of a capture, read with tshark: an account of `record.py`'s result apart from Mayfly's own reader.

Prints the tables of README.md: ``census.py CAPTURE``.
"""

import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network

from network import INSIDE, SERVERS

FIELDS = (
    "frame.time_epoch",
    "frame.len",
    "ip.src",
    "ip.dst",
    "ip.proto",
    "tcp.stream",
    "udp.stream",
    "tcp.flags",
    "tcp.len",
    "tcp.analysis.retransmission",
)
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
BIN_S = 5.0
REFERENCE_BPS = 10e6


@dataclass
class Connection:
    """What the tap saw of one TCP connection; times in s, payload in bytes with retransmissions."""

    outside: str
    first_s: float
    syn_s: list[float] = field(default_factory=list)
    syn_ack_s: list[float] = field(default_factory=list)
    flags: int = 0
    fins: set = field(default_factory=set)
    down_bytes: int = 0
    up_bytes: int = 0

    def handshake_rtt_s(self) -> float | None:
        """SYN to SYN-ACK at the tap; None when either was sent twice (Karn's rule) or is missing."""
        if len(self.syn_s) == len(self.syn_ack_s) == 1:
            return self.syn_ack_s[0] - self.syn_s[0]
        return None


@dataclass
class Census:
    """Totals of a capture; bytes are Ethernet frames without FCS."""

    packets: int = 0
    first_s: float = float("inf")
    last_s: float = 0.0
    down_bytes: int = 0
    up_bytes: int = 0
    retransmissions: int = 0
    connections: dict[str, Connection] = field(default_factory=dict)
    udp_flows: set = field(default_factory=set)
    other_packets: int = 0
    bins: dict = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0, 0]))

    def duration_s(self) -> float:
        """First to last packet."""
        return self.last_s - self.first_s

    def add(self, row: dict[str, str]) -> None:
        """Count one packet."""
        now_s, length = float(row["frame.time_epoch"]), int(row["frame.len"])
        self.first_s, self.last_s = min(self.first_s, now_s), max(self.last_s, now_s)
        self.packets += 1
        if row["ip.proto"] not in ("6", "17"):
            self.other_packets += 1
            return
        down = ip_address(row["ip.dst"]) in ip_network(INSIDE)
        slot = self.bins[int((now_s - self.first_s) // BIN_S)]
        slot[0 if down else 1] += length
        self.down_bytes += length if down else 0
        self.up_bytes += 0 if down else length
        if row["ip.proto"] == "17":
            slot[3] += row["udp.stream"] not in self.udp_flows
            self.udp_flows.add(row["udp.stream"])
            return
        self.retransmissions += bool(row["tcp.analysis.retransmission"])
        slot[2] += row["tcp.stream"] not in self.connections
        outside = row["ip.src" if down else "ip.dst"]
        connection = self.connections.setdefault(row["tcp.stream"], Connection(outside, now_s))
        flags, payload = int(row["tcp.flags"], 16), int(row["tcp.len"])
        connection.flags |= flags
        if flags & SYN:
            (connection.syn_ack_s if flags & ACK else connection.syn_s).append(now_s)
        if flags & FIN:
            connection.fins.add(down)
        connection.down_bytes += payload if down else 0
        connection.up_bytes += 0 if down else payload

    def handshake_rtts_ms(self, server: str) -> list[float]:
        """Handshake round-trip times in ms of the connections with `server`, sorted."""
        mine = [c.handshake_rtt_s() for c in self.connections.values() if c.outside == SERVERS[server].address]
        return sorted(rtt_s * 1e3 for rtt_s in mine if rtt_s is not None)


def count(path: str) -> Census:
    """Read the capture at `path`.

    Raises
    ------
    subprocess.CalledProcessError
        When tshark cannot read it.
    """
    options = [word for name in FIELDS for word in ("-e", name)]
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=f", *options]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    census = Census()
    for line in lines:
        census.add(dict(zip(FIELDS, line.split("\t"), strict=True)))
    return census


def totals(census: Census) -> list[tuple[str, str]]:
    """Rows of the table of totals."""
    connections = census.connections.values()
    complete = [c for c in connections if c.syn_s and c.syn_ack_s and len(c.fins) == 2]
    sizes = sorted((max(c.down_bytes, c.up_bytes) for c in connections), reverse=True)
    top = max(1, len(sizes) // 20)
    load = census.down_bytes * 8 / census.duration_s() / REFERENCE_BPS
    return [
        ("packets", f"{census.packets:,} ({census.other_packets} neither TCP nor UDP)"),
        ("duration", f"{census.duration_s():.2f} s"),
        ("wire bytes down / up", f"{census.down_bytes:,} / {census.up_bytes:,}"),
        ("TCP connections", f"{len(connections)}"),
        ("... with SYN and SYN-ACK", f"{sum(bool(c.syn_s and c.syn_ack_s) for c in connections)}"),
        ("... with SYN, SYN-ACK and both FINs", f"{len(complete)}"),
        ("... with a RST", f"{sum(bool(c.flags & RST) for c in connections)}"),
        ("... begun before the capture (no SYN)", f"{sum(not c.syn_s for c in connections)}"),
        ("... never answered", f"{sum(bool(c.syn_s and not c.syn_ack_s and not c.flags & RST) for c in connections)}"),
        ("retransmissions (tshark)", f"{census.retransmissions:,}"),
        ("payload by size", f"the largest {top} connections (5 %) carry {sum(sizes[:top]) / sum(sizes):.0%}"),
        ("UDP flows", f"{len(census.udp_flows)}"),
        ("mean load down on 10 Mbit/s", f"{load:.0%}"),
    ]


def main() -> None:
    """Print the tables of the capture named on the command line."""
    census = count(sys.argv[1])
    print("| | |\n|---|---|")
    for name, value in totals(census):
        print(f"| {name} | {value} |")
    print("\n| server | delay line, ms | handshakes | minimum, ms | median, ms | maximum, ms |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, server in SERVERS.items():
        rtts = census.handshake_rtts_ms(name)
        numbers = f"{rtts[0]:.1f} | {statistics.median(rtts):.1f} | {rtts[-1]:.1f}" if rtts else "| |"
        print(f"| {name} {server.address} | {server.rtt_ms:g} | {len(rtts)} | {numbers} |")
    print("\n| from, s | down, Mbit/s | up, Mbit/s | TCP connections begun | UDP flows begun |")
    print("|---:|---:|---:|---:|---:|")
    for index in range(max(census.bins) + 1):
        down, up, connections, flows = census.bins[index]
        rates = f"{down * 8e-6 / BIN_S:.2f} | {up * 8e-6 / BIN_S:.2f}"
        print(f"| {index * BIN_S:.0f} | {rates} | {connections} | {flows} |")


if __name__ == "__main__":
    main()
