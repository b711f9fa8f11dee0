"""A capture of TCP as if its connections were QUIC: the same payload at the same times, under QUIC's headers.

A SYN becomes an Initial packet, a SYN-ACK the first packet of the server, and the acknowledgement of it one that ends
the handshake; data becomes packets with short headers, whose protected bits are drawn, and what only acknowledges
becomes the shortest of them. FIN and RST are left out.
"""

import struct
from pathlib import Path

import numpy as np

ID_BYTES = 8
SHORT_BYTES = 31
"""Header, tag and the header of a STREAM frame, as ``crates/capture/src/connections/quic.rs`` has them."""

ACK_BYTES = 33
MOST_BYTES = 1472
"""Longest datagram over Ethernet: a full segment has some bytes less."""
SNAP = 14 + 20 + 8 + 40


def records(data):
    """Time in ns, frame and length on the wire of each record of a pcap of Ethernet."""
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1 if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    at = 24
    while at + 16 <= len(data):
        seconds, rest, held, length = struct.unpack_from(f"{order}IIII", data, at)
        yield seconds * 10**9 + rest * unit, data[at + 16 : at + 16 + held], length
        at += 16 + held


def long_header(client, own, its):
    kind, token = (b"\xc1", b"\0") if client else (b"\xe1", b"")
    return kind + struct.pack(">IB", 1, ID_BYTES) + its + bytes([ID_BYTES]) + own + token + struct.pack(">H", 0x4400)


def as_quic(data: bytes, seed: int = 1) -> bytes:
    """The capture with every TCP connection of IPv4 as QUIC, at the same ports."""
    random = np.random.default_rng(seed)
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP, 1)]
    shaken: dict[tuple[bytes, ...], int] = {}

    def put(time_ns, frame, payload, header):
        ip = bytearray(frame[14:34])
        ip[2:4] = struct.pack(">H", 28 + payload)
        ip[9] = 17
        source, destination = struct.unpack_from(">HH", frame, 34)
        udp = struct.pack(">HHHH", source, destination, 8 + payload, 0)
        cut = (frame[:14] + bytes(ip) + udp + header)[:SNAP]
        parts.append(struct.pack("<IIII", *divmod(time_ns, 10**9), len(cut), 42 + payload) + cut)

    for time_ns, frame, length in records(data):
        if frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 6:
            parts.append(struct.pack("<IIII", *divmod(time_ns, 10**9), len(frame), length) + frame)
            continue
        total = struct.unpack_from(">H", frame, 16)[0]
        flags, header = frame[47], (frame[46] >> 4) * 4
        payload = total - 20 - header
        own, its = frame[26:30] + frame[34:36], frame[30:34] + frame[36:38]
        ids = [(end + b"id").ljust(ID_BYTES, b"\0") for end in (own, its)]
        key = tuple(sorted((own, its)))
        if flags & 2:
            put(time_ns, frame, 1200, long_header(not flags & 16, *ids))
            shaken[key] = 1
        elif flags & 5 and not payload:
            continue
        elif shaken.get(key) == 1:
            shaken[key] = 2
            put(time_ns, frame, 90, b"\xe1" + long_header(False, *ids)[1:])
            if payload:
                put(time_ns, frame, payload + SHORT_BYTES, bytes([0x40 | random.integers(32)]) + ids[1])
        else:
            size = min(payload + SHORT_BYTES, MOST_BYTES) if payload else ACK_BYTES
            put(time_ns, frame, size, bytes([0x40 | random.integers(32)]) + ids[1])
    return b"".join(parts)


def write(source: Path, target: Path) -> Path:
    """The same of files."""
    target.write_bytes(as_quic(Path(source).read_bytes()))
    return target
