"""Captures written by hand."""

import struct
from pathlib import Path


def write_udp(path, packets, link_type=1):
    """A pcap of UDP packets: rows of time (s), source, destination, source port, destination port, payload (bytes)."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)]
    for time_s, source, destination, source_port, destination_port, size in packets:
        addresses = b"".join(bytes(map(int, host.split("."))) for host in (source, destination))
        header = struct.pack(">BBHHHBBH", 0x45, 0, 28 + size, 0, 0, 64, 17, 0) + addresses
        udp = struct.pack(">HHHH", source_port, destination_port, 8 + size, 0)
        data = bytes(12) + b"\x08\x00" + header + udp + bytes(size)
        micros = round(time_s * 1e6)
        parts.append(struct.pack("<IIII", micros // 10**6, micros % 10**6, len(data), len(data)) + data)
    Path(path).write_bytes(b"".join(parts))
    return path


def write_tcp(path, packets):
    """A pcap of TCP in raw IP: rows of time (s), (host, port) of both ends, seq, ack, flags, payload (bytes)."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for time_s, (source, source_port), (destination, destination_port), seq, ack, flags, size in packets:
        addresses = b"".join(bytes(map(int, host.split("."))) for host in (source, destination))
        header = struct.pack(">BBHHHBBH", 0x45, 0, 40 + size, 0, 0, 64, 6, 0) + addresses
        tcp = struct.pack(">HHIIBBHHH", source_port, destination_port, seq, ack, 0x50, flags, 65535, 0, 0)
        micros = round(time_s * 1e6)
        # The snapshot length leaves the payload out.
        parts.append(struct.pack("<IIII", micros // 10**6, micros % 10**6, 40, 40 + size) + header + tcp)
    Path(path).write_bytes(b"".join(parts))
    return path


NEAR, FAR = "10.0.0.1", "9.9.9.9"
"""Hosts on both sides of a link."""
