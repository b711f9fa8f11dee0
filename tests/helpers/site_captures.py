"""Captures of connections between the hosts of a site and others."""

import ipaddress
import struct
from pathlib import Path

SYN, FIN, ACK = 2, 1, 16


def packet(source: str, target: str, ports: tuple[int, int], seq: int, ack: int, flags: int, payload: int = 0) -> bytes:
    """A TCP packet of IPv4 or IPv6."""
    ends = [ipaddress.ip_address(host).packed for host in (source, target)]
    body = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0) + bytes(payload)
    if len(ends[0]) == 16:
        return struct.pack(">IHBB", 6 << 28, len(body), 6, 64) + ends[0] + ends[1] + body
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, 6, 0) + ends[0] + ends[1] + body


def exchange(begin_us: int, client: str, server: str, port: int) -> list[tuple[int, bytes]]:
    there, back = (port, 443), (443, port)
    steps = [
        packet(client, server, there, 9, 0, SYN),
        packet(server, client, back, 99, 10, SYN | ACK),
        packet(client, server, there, 10, 100, ACK, 50),
        packet(server, client, back, 100, 60, ACK | FIN, 200),
        packet(client, server, there, 60, 301, ACK | FIN),
        packet(server, client, back, 301, 61, ACK),
    ]
    return [(begin_us + 1000 * step, data) for step, data in enumerate(steps)]


def written(path: Path, packets: list[tuple[int, bytes]]) -> Path:
    """A pcap of raw IP."""
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for time_us, data in sorted(packets, key=lambda row: row[0]):
        time_us += 10**15
        records.append(struct.pack("<IIII", time_us // 10**6, time_us % 10**6, len(data), len(data)) + data)
    path.write_bytes(b"".join(records))
    return path


def pairs(hosts: list[tuple[str, str]]) -> list[tuple[int, bytes]]:
    return [row for at, (one, two) in enumerate(hosts) for row in exchange(10_000 * at, one, two, 5000 + at)]


SITES = {
    "a network": [(f"8.1.1.{at}", f"9.{at}.9.9") for at in range(40)] + [("8.1.1.1", "8.1.1.2")],
    "a network of IPv6": [(f"2001:db8:1::{at:x}", f"2001:{at:x}::9") for at in range(1, 40)],
    "openers": [(f"{at}.1.1.1", f"{at + 90}.2.2.2") for at in range(20, 60)],
    "servers of the site": [(f"9.9.9.{at}", "10.0.0.1") for at in range(40)] + [("10.0.0.2", "10.0.0.1")],
    "private and IPv6": [("fd00::1", "2001:db8::2"), ("fe80::3", "fd00::1"), ("10.1.1.1", "10.1.1.2")],
    "multicast": [("10.0.0.1", "239.1.1.1"), ("0.0.0.0", "255.255.255.255"), ("10.0.0.1", "192.0.2.1")],
}
