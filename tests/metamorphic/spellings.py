"""One capture in many spellings: formats, clocks, byte orders, link types, compressions."""

import gzip
import itertools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
ETHERNET = 1
MAC_BYTES, TYPE_AT, IP_AT = 12, 12, 14


class Packet(NamedTuple):
    """A captured frame: when, ns since 1970; its length, bytes; and what was captured of it."""

    at_ns: int
    length: int
    data: bytes

    @property
    def ip(self) -> bytes:
        return self.data[IP_AT:]


Packets = Sequence[Packet]
Spelling = Callable[[Packets], bytes]


def packets_of(path: Path = OFFICE) -> list[Packet]:
    """The IPv4 packets of a pcap with Ethernet frames and microseconds, little-endian."""
    raw = gzip.decompress(path.read_bytes())
    found, at = [], 24
    while at < len(raw):
        seconds, micros, captured, length = struct.unpack_from("<IIII", raw, at)
        data = raw[at + 16 : at + 16 + captured]
        at += 16 + captured
        if data[TYPE_AT:IP_AT] == b"\x08\x00":
            found.append(Packet((seconds * 10**6 + micros) * 1000, length, data))
    return found


def pcap(
    packets: Packets, order: str = "<", unit_ns: int = 1000, link_type: int = ETHERNET, snap_bytes: int = 262_144
) -> bytes:
    magic = {1000: 0xA1B2C3D4, 1: 0xA1B23C4D}[unit_ns]
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap_bytes, link_type)]
    record = struct.Struct(order + "IIII")
    for at_ns, length, data in packets:
        seconds, rest = divmod(at_ns, 10**9)
        parts += [record.pack(seconds, rest // unit_ns, len(data), length), data]
    return b"".join(parts)


def relinked(link_type: int, header: Callable[[Packet], bytes]) -> Spelling:
    """With another link header in place of that of Ethernet; the length of a frame changes with it."""

    def spelled(packets: Packets) -> bytes:
        return pcap([framed(one, header(one)) for one in packets], link_type=link_type)

    return spelled


def framed(one: Packet, header: bytes) -> Packet:
    return one._replace(length=one.length + len(header) - IP_AT, data=header + one.ip)


def tagged(*tags: bytes) -> Spelling:
    return relinked(ETHERNET, lambda one: one.data[:MAC_BYTES] + b"".join(tags) + b"\x08\x00")


def shortened(bytes_: int) -> Spelling:
    """Cut behind the longest headers that there are."""
    return lambda packets: pcap([one._replace(data=one.data[:bytes_]) for one in packets], snap_bytes=bytes_)


def padded(packets: Packets) -> bytes:
    """As frames of Ethernet are that were too short: captured with what the network card filled them up with."""
    return pcap(
        [one._replace(data=one.data.ljust(60, b"\xaa"), length=60) if one.length < 60 else one for one in packets]
    )


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


END_OF_OPTIONS = bytes(4)


def section(order: str, options: bytes = b"") -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + options)


def interface(order: str, options: bytes = b"", link_type: int = ETHERNET) -> bytes:
    return block(order, 1, struct.pack(order + "HHI", link_type, 0, 0) + options)


def enhanced(order: str, one: Packet, unit_ns: int = 1000, number: int = 0, options: bytes = b"") -> bytes:
    stamp = one.at_ns // unit_ns
    head = struct.pack(order + "IIIII", number, stamp >> 32, stamp & 0xFFFFFFFF, len(one.data), one.length)
    return block(order, 6, head + one.data + bytes(-len(one.data) % 4) + options)


def pcapng(packets: Packets, order: str = "<") -> bytes:
    return section(order) + interface(order) + b"".join(enhanced(order, one) for one in packets)


def in_nanoseconds(packets: Packets) -> bytes:
    clock = option("<", 9, b"\x09") + END_OF_OPTIONS
    return section("<") + interface("<", clock) + b"".join(enhanced("<", one, 1) for one in packets)


def with_an_offset(packets: Packets) -> bytes:
    """Seconds that are added to every time stamp stand in the block of the interface."""
    offset_s = 1_700_000_000
    clock = option("<", 14, struct.pack("<q", offset_s)) + END_OF_OPTIONS
    moved = (one._replace(at_ns=one.at_ns - offset_s * 10**9) for one in packets)
    return section("<") + interface("<", clock) + b"".join(enhanced("<", one) for one in moved)


def with_comments(packets: Packets) -> bytes:
    """Names, comments, statistics and blocks that nobody knows between the packets."""
    comment = option("<", 1, "ein Kommentar, äöü".encode()) + END_OF_OPTIONS
    names = option("<", 2, b"eth0") + option("<", 3, b"uplink") + comment
    others = (
        block("<", 4, struct.pack("<HH", 1, 9) + bytes([10, 10, 0, 1]) + b"host\0" + bytes(3) + END_OF_OPTIONS)
        + block("<", 5, struct.pack("<III", 0, 0, 0) + comment)
        + block("<", 0x0BAD, struct.pack("<I", 32473) + b"custom block")
        + block("<", 0x7FFF1234, b"unknown block")
    )
    parts = [section("<", comment), interface("<", names)]
    for number, one in enumerate(packets):
        parts.append(enhanced("<", one, options=comment if number % 3 == 0 else b""))
        if number % 1000 == 0:
            parts.append(others)
    return b"".join(parts)


def with_idle_interfaces(packets: Packets) -> bytes:
    """The second of three interfaces has all packets; their units of time and link types differ."""
    blocks = [
        interface("<", option("<", 9, b"\x09") + END_OF_OPTIONS, link_type=113),
        interface("<"),
        interface("<", link_type=101),
    ]
    return section("<") + b"".join(blocks) + b"".join(enhanced("<", one, number=1) for one in packets)


def in_two_sections(packets: Packets) -> bytes:
    """The second one is of the other byte order."""
    half = len(packets) // 2
    return pcapng(packets[:half], "<") + pcapng(packets[half:], ">")


def in_gzip(packets: Packets) -> bytes:
    return gzip.compress(pcap(packets), 1)


def in_gzip_members(packets: Packets) -> bytes:
    """As `cat a.gz b.gz c.gz`, cut within packets."""
    raw = pcap(packets)
    cuts = [0, len(raw) // 3, len(raw) // 3 * 2 + 1, len(raw)]
    return b"".join(gzip.compress(raw[begin:end], 1) for begin, end in itertools.pairwise(cuts))


def in_zstandard(packets: Packets) -> bytes:
    """A frame of raw blocks behind one to skip (RFC 8878, 3.1)."""
    chunks = chunked(pcap(packets), 1 << 17)
    # A window of 128 kB and no length of the content: 7 << 3.
    parts = [struct.pack("<II4s", 0x184D2A50, 4, b"skip"), struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3)]
    for number, chunk in enumerate(chunks):
        is_last = number == len(chunks) - 1
        parts += [(len(chunk) << 3 | is_last).to_bytes(3, "little"), chunk]
    return b"".join(parts)


def in_lz4(packets: Packets) -> bytes:
    """A frame of blocks that are not compressed; 0x73 is the checksum of the two bytes before it."""
    parts = [struct.pack("<IBBB", 0x184D2204, 0x60, 0x70, 0x73)]
    for chunk in chunked(pcap(packets), 1 << 22):
        parts += [struct.pack("<I", len(chunk) | 1 << 31), chunk]
    return b"".join([*parts, bytes(4)])


def chunked(raw: bytes, size: int) -> list[bytes]:
    return [raw[at : at + size] for at in range(0, len(raw), size)]


SPELLINGS: Mapping[str, Spelling] = {
    "pcap, big-endian": lambda packets: pcap(packets, ">"),
    "pcap of nanoseconds": lambda packets: pcap(packets, unit_ns=1),
    "pcap of nanoseconds, big-endian": lambda packets: pcap(packets, ">", unit_ns=1),
    "pcap without a snapshot length": lambda packets: pcap(packets, snap_bytes=0),
    "pcap, cut behind the headers": shortened(94),
    "pcap, short frames padded": padded,
    "pcapng": pcapng,
    "pcapng, big-endian": lambda packets: pcapng(packets, ">"),
    "pcapng of nanoseconds": in_nanoseconds,
    "pcapng with an offset of its clock": with_an_offset,
    "pcapng with comments, names, statistics and unknown blocks": with_comments,
    "pcapng with idle interfaces": with_idle_interfaces,
    "pcapng of two sections in two byte orders": in_two_sections,
    "gzip": in_gzip,
    "gzip of three members": in_gzip_members,
    "Zstandard": in_zstandard,
    "LZ4": in_lz4,
    "VLAN": tagged(b"\x81\x00\x00\x2a"),
    "VLAN in VLAN": tagged(b"\x88\xa8\x00\x07", b"\x81\x00\x00\x2a"),
    "MPLS": relinked(ETHERNET, lambda one: one.data[:MAC_BYTES] + b"\x88\x47\x00\x01\x01\x40"),
    "PPPoE": relinked(
        ETHERNET,
        lambda one: one.data[:MAC_BYTES] + b"\x88\x64\x11\x00\x00\x01" + struct.pack(">H", len(one.ip) + 2) + b"\0\x21",
    ),
    "PPP": relinked(9, lambda _: b"\xff\x03\x00\x21"),
    "raw IP": relinked(101, lambda _: b""),
    "raw IPv4": relinked(228, lambda _: b""),
    "loopback of BSD": relinked(0, lambda _: struct.pack("<I", 2)),
    "loopback of OpenBSD": relinked(108, lambda _: struct.pack(">I", 2)),
    "Linux cooked": relinked(113, lambda _: struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800)),
    "Linux cooked 2": relinked(276, lambda _: struct.pack(">HHIHBB8s", 0x0800, 0, 2, 1, 0, 6, bytes(8))),
}


def figures(document: object, place: str = "") -> Iterable[tuple[str, object]]:
    """Each value of a document with its place, ``"link.directions.down.bytes"``."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            yield from figures(value, f"{place}.{name}" if place else str(name))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from figures(value, f"{place}[{number}]")
    else:
        yield place, document
