"""Captures of whole TCP connections and of other IP packets, written by hand."""

import struct
from pathlib import Path

from packets import FAR, NEAR

SYN, FIN, PUSH, ACK = 2, 1, 8, 16


def ip(source, target, protocol, body, length=None):
    """An IPv4 packet; its captured part may be shorter than `length` says."""
    addresses = b"".join(bytes(map(int, host.split("."))) for host in (source, target))
    length = len(body) if length is None else length
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 1, 0, 64, protocol, 0) + addresses + body


def segment(source, target, ports, seq, ack, flags, payload=0):
    return ip(source, target, 6, struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0), 20 + payload)


def connection(at_s, client=NEAR, server=FAR, port=5000, asked=100, answered=1000, rtt_s=0.02):
    """A request and its answer, from SYN to the last acknowledgement: rows of time (s) and packet."""
    there, back, half_s = (port, 80), (80, port), rtt_s / 2
    steps = [
        (0.0, segment(client, server, there, 0, 0, SYN)),
        (half_s, segment(server, client, back, 0, 1, SYN | ACK)),
        (rtt_s, segment(client, server, there, 1, 1, ACK)),
        (rtt_s, segment(client, server, there, 1, 1, PUSH | ACK, asked)),
        (1.5 * rtt_s, segment(server, client, back, 1, 1 + asked, PUSH | ACK, answered)),
        (2 * rtt_s, segment(client, server, there, 1 + asked, 1 + answered, FIN | ACK)),
        (2.5 * rtt_s, segment(server, client, back, 1 + answered, 2 + asked, FIN | ACK)),
        (3 * rtt_s, segment(client, server, there, 2 + asked, 2 + answered, ACK)),
    ]
    return [(at_s + since_s, packet) for since_s, packet in steps]


def write_ip(path, packets, link_type=101):
    """A pcap of IP packets, of which only headers were captured: rows of time (s) and packet, in any order."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)]
    for time_s, packet in sorted(packets, key=lambda row: row[0]):
        micros = round(time_s * 1e6)
        (length,) = struct.unpack(">H", packet[2:4])
        parts.append(struct.pack("<IIII", micros // 10**6, micros % 10**6, len(packet), length) + packet)
    Path(path).write_bytes(b"".join(parts))
    return path
