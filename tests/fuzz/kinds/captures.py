"""Captures with valid layers: conversations behind links, tags and tunnels, with odd clocks, cuts and damage."""

import gzip
import ipaddress
import struct
from collections.abc import Callable

from case import Case
from hypothesis import strategies as st
from values import damaged, mostly

LINKS = mostly(
    st.sampled_from([1] * 6 + [101, 0, 113, 276, 12, 228, 229, 9, 50, 108, 14]),
    st.sampled_from([105, 147, -1, 65535]),
    15,
)
TUNNELS = ["ipip", "gre", "gre-key", "gre-bridge", "erspan2", "vxlan", "geneve", "gtp"]
TAGS = ["vlan", "qinq", "mpls", "pppoe"]
HOSTS = [
    "10.0.0.1",
    "10.0.0.2",
    "192.0.2.9",
    "198.51.100.7",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "fe80::1",
    "2001:db8::2",
    "::",
]
GAPS_S = st.sampled_from(
    [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 1.0, 30.0, 900.0, 86400.0, 5.9e7, -1e-6, -0.2, -3600.0]
)
PORTS = st.sampled_from([0, 1, 53, 80, 443, 1000, 40000, 65535, 4789, 2152, 6081, 8472])

Layer = Callable[[bytes, int], tuple[bytes, int]]


def checksum(data: bytes) -> int:
    """Of the internet (RFC 1071)."""
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _ip(source: str, destination: str, protocol: int, payload: bytes, odd: int, identity: int) -> bytes:
    """An IP packet; ``odd`` chooses what of its header is unusual, 0 for nothing."""
    one, other = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    if one.version != other.version:
        other = ipaddress.ip_address("2001:db8::9" if one.version == 6 else "203.0.113.9")
    if one.version == 6:
        extension = b""
        if odd in (1, 2, 3):
            # Hop-by-hop options, a fragment, and destination options that claim to be long.
            next_header, protocol = protocol, (0, 44, 60)[odd - 1]
            extension = (
                struct.pack(">BBHI", next_header, 0, identity & 0xFFF9, identity)
                if odd == 2
                else struct.pack(">BBHI", next_header, 0 if odd == 1 else 200, 0x0104, 0)
            )
        length = len(payload) + len(extension)
        length = {4: 0, 5: 65535}.get(odd, length)
        return (
            struct.pack(">IHBB", 0x60000000, length & 0xFFFF, protocol, 64)
            + one.packed
            + other.packed
            + extension
            + payload
        )
    options = bytes([1] * 4) if odd == 1 else bytes([7, 255, 4, 0]) if odd == 2 else b""
    header_words = {3: 15, 4: 2}.get(odd, 5 + len(options) // 4)
    total = {5: 0, 6: 65535, 7: 19}.get(odd, 20 + len(options) + len(payload))
    fragment = {8: 0x2000, 9: 0x2001, 10: 0x1FFF}.get(odd, 0x4000)
    header = struct.pack(
        ">BBHHHBBH", 0x40 | header_words, 0, total & 0xFFFF, identity & 0xFFFF, fragment, 64, protocol, 0
    )
    header += one.packed + other.packed
    header = header[:10] + struct.pack(">H", checksum(header + options)) + header[12:]
    return header + options + payload


def _udp(source: int, destination: int, payload: bytes, length: int | None = None) -> bytes:
    return (
        struct.pack(">HHHH", source, destination, (8 + len(payload) if length is None else length) & 0xFFFF, 0)
        + payload
    )


def _tcp(
    source: int, destination: int, seq: int, ack: int, flags: int, window: int, options: bytes, payload: bytes
) -> bytes:
    options += bytes(-len(options) % 4)
    words = min(5 + len(options) // 4, 15)
    numbers = (source, destination, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, words << 4, flags, window, 0, 0)
    return struct.pack(">HHIIBBHHH", *numbers) + options[: (words - 5) * 4] + payload


def _tunnelled(name: str, inner: bytes, identity: int) -> bytes:
    """An IP packet inside another."""
    version6 = bool(inner) and inner[0] >> 4 == 6
    ether = struct.pack(">H", 0x86DD if version6 else 0x0800)
    frame = bytes(12) + ether + inner
    body, protocol = {
        "ipip": (inner, 41 if version6 else 4),
        "gre": (b"\0\0" + ether + inner, 47),
        "gre-key": (b"\xb0\x00" + ether + bytes(12) + inner, 47),
        "gre-bridge": (b"\0\0\x65\x58" + frame, 47),
        "erspan2": (b"\x10\x00\x88\xbe" + bytes(12) + frame, 47),
        "vxlan": (_udp(40000, 4789, b"\x08" + bytes(7) + frame), 17),
        "geneve": (_udp(40000, 6081, b"\x01\0" + b"\x65\x58" + bytes(8) + frame), 17),
        "gtp": (_udp(2152, 2152, b"\x30\xff" + struct.pack(">HI", len(inner) & 0xFFFF, 1) + inner), 17),
    }[name]
    return _ip("192.0.2.1", "192.0.2.2", protocol, body, 0, identity)


def _linked(link: int, tags: list[str], packet: bytes) -> bytes:
    """The packet as a frame of the link."""
    ether = b"\x86\xdd" if packet[:1] >= b"\x60" else b"\x08\x00"
    inner = packet
    for tag in reversed(tags):
        if tag == "mpls":
            inner, ether = struct.pack(">I", 0x00010140) + inner, b"\x88\x47"
        elif tag == "pppoe":
            code = b"\x00\x57" if ether == b"\x86\xdd" else b"\x00\x21"
            inner, ether = struct.pack(">BBHH", 0x11, 0, 1, (len(inner) + 2) & 0xFFFF) + code + inner, b"\x88\x64"
        else:
            inner, ether = b"\x00\x05" + ether + inner, b"\x81\x00" if tag == "vlan" else b"\x88\xa8"
    heads = {
        1: bytes(12) + ether,
        113: bytes(14) + ether,
        276: ether + bytes(18),
        0: struct.pack("<I", 2 if ether == b"\x08\x00" else 30),
        108: struct.pack(">I", 2 if ether == b"\x08\x00" else 24),
        9: b"\xff\x03\x00\x21",
        50: b"\xff\x03\x00\x57",
    }
    return heads.get(link, b"") + inner


@st.composite
def _conversation(draw: st.DrawFn) -> list[tuple[float, bool, bytes]]:
    """Times from its start, whether the opener sends, and transport packets with their protocol in front."""
    kind = draw(st.sampled_from(["tcp"] * 5 + ["udp"] * 3 + ["icmp", "other"]))
    ports = draw(PORTS), draw(PORTS)
    found: list[tuple[float, bool, bytes]] = []
    if kind != "tcp":
        for _ in range(draw(st.integers(1, 8))):
            away, size = draw(st.booleans()), draw(st.sampled_from([0, 1, 40, 172, 1200]))
            one, other = ports if away else ports[::-1]
            length = draw(mostly(st.none(), st.sampled_from([0, 7, 9, 65535])))
            body = {
                "udp": b"\x11" + _udp(one, other, bytes(size), length),
                "icmp": b"\x01"
                + struct.pack(">BBHHH", draw(st.sampled_from([0, 3, 8, 11, 128, 129])), 0, 0, 7, size)
                + bytes(size),
                "other": bytes([draw(st.sampled_from([2, 50, 89, 132, 255, 6, 17]))]) + bytes(size),
            }[kind]
            found.append((draw(GAPS_S), away, body))
        return found
    seq = [draw(st.sampled_from([0, 1, 2**31, 2**32 - 10, 77_777])), draw(st.sampled_from([0, 2**32 - 1, 5]))]
    window = draw(st.sampled_from([0, 1, 512, 65535]))
    stamps = draw(st.booleans())
    rtt_s = draw(st.sampled_from([0.0, 1e-6, 0.02, 0.3]))
    steps = ["syn", "synack", "ack"] * draw(st.integers(0, 1))
    steps += draw(
        st.lists(st.sampled_from(["data", "data", "answer", "ack", "again", "hole", "dup", "keep", "odd"]), max_size=12)
    )
    steps += draw(st.sampled_from([[], ["fin", "finack"], ["rst"], ["fin", "fin", "syn"]]))
    for place, step in enumerate(steps):
        away = step not in ("synack", "answer", "finack", "dup")
        me, you = (0, 1) if away else (1, 0)
        size = draw(st.sampled_from([1, 100, 1460, 9000])) if step in ("data", "answer", "again", "hole") else 0
        flags = {"syn": 2, "synack": 18, "fin": 17, "finack": 17, "rst": 4, "data": 24, "answer": 24}.get(step, 16)
        flags = draw(st.integers(0, 255)) if step == "odd" else flags
        options = b"\x02\x04\x05\xb4\x01\x03\x03\x0e" if step in ("syn", "synack") else b""
        options += struct.pack(">BBBBII", 1, 1, 8, 10, place * 1000, place) if stamps else b""
        if step == "dup":
            options += struct.pack(">BBBBII", 1, 1, 5, 10, seq[0] & 0xFFFFFFFF, (seq[0] + 1460) & 0xFFFFFFFF)
        if step == "odd":
            options += draw(st.sampled_from([b"\x02\x00", b"\x08\xff", b"\x05\x0a", b"\x03\x03\xff", b"\xfd" * 40]))
        number = seq[me] - size if step == "again" else seq[me] + 3000 if step == "hole" else seq[me]
        number -= step == "keep"
        one, other = ports if away else ports[::-1]
        body = b"\x06" + _tcp(one, other, number, seq[you], flags, window, options, bytes(size))
        if step not in ("again", "hole", "keep", "odd", "dup"):
            seq[me] += size + (step in ("syn", "synack", "fin", "finack"))
        found.append(
            (draw(st.sampled_from([0.0, rtt_s, rtt_s / 2])) + draw(mostly(st.just(0.0), GAPS_S, 6)), away, body)
        )
    return found


@st.composite
def records(draw: st.DrawFn, link: int) -> list[tuple[float, bytes, int]]:
    """Time, captured bytes and length on the wire of each packet, in the order of the file."""
    found: list[tuple[float, bytes, int]] = []
    snap = draw(mostly(st.just(65535), st.sampled_from([0, 34, 54, 60, 66, 96, 128, 128, 200]), 4))
    for _ in range(draw(st.integers(1, 5))):
        ends = draw(st.sampled_from(HOSTS)), draw(st.sampled_from(HOSTS))
        tags = draw(st.lists(st.sampled_from(TAGS), max_size=draw(st.sampled_from([0, 0, 1, 3]))))
        tunnels = draw(st.lists(st.sampled_from(TUNNELS), max_size=draw(st.sampled_from([0, 0, 1, 2, 10]))))
        odd = draw(mostly(st.just(0), st.integers(1, 10), 8))
        at_s = draw(st.sampled_from([0.0, 0.0, 0.001, 0.5, 10.0, 5000.0]))
        repeat = draw(mostly(st.just(1), st.sampled_from([2, 5, 20]), 10))
        conversation = draw(_conversation())
        for number, (gap_s, away, body) in enumerate(conversation * repeat):
            at_s += gap_s
            packet = _ip(*(ends if away else ends[::-1]), body[0], body[1:], odd, number)
            for name in tunnels:
                packet = _tunnelled(name, packet, number)
            frame = _linked(link, tags, packet)
            found.append((at_s, frame[:snap], len(frame)))
    if draw(st.booleans()):
        found.sort(key=lambda row: row[0])
    return found


def _ticks(time_s: float, unit: int) -> int:
    return round(time_s * unit)


@st.composite
def pcap(draw: st.DrawFn) -> bytes:
    """A file of the old format, either way round, in microseconds or nanoseconds."""
    link = draw(LINKS)
    order, nano = draw(st.sampled_from("<>")), draw(st.booleans())
    start_s = draw(st.sampled_from([0, 1_700_000_000, 2**31 - 5, 2**32 - 1]))
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    snap = draw(mostly(st.just(65535), st.sampled_from([0, 1, 2**31, 2**32 - 1])))
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snap, link & 0xFFFFFFFF)]
    unit = 10**9 if nano else 10**6
    for at_s, data, wire in draw(records(link)):
        ticks = _ticks(start_s + at_s, unit)
        seconds, fraction = divmod(ticks, unit)
        odd = draw(mostly(st.just(0), st.integers(1, 4), 200))
        fraction = 2**32 - 1 if odd == 1 else fraction
        wire = {2: 0, 3: 2**32 - 1}.get(odd, wire)
        length = len(data) + (1 if odd == 4 else 0)
        parts.append(struct.pack(f"{order}IIII", seconds & 0xFFFFFFFF, fraction & 0xFFFFFFFF, length, wire) + data)
    return b"".join(parts)


def _block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + length + body + length


def _option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


@st.composite
def pcapng(draw: st.DrawFn) -> bytes:
    """A file of the new format: sections, interfaces with units and offsets of their own, blocks of all kinds."""
    parts = []
    for _ in range(draw(mostly(st.just(1), st.integers(2, 3)))):
        order = draw(st.sampled_from("<>"))
        parts.append(_block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)))
        interfaces = []
        for _ in range(draw(mostly(st.integers(1, 2), st.integers(0, 4), 6))):
            link = draw(st.sampled_from([1, 1, 1, 101, 113, 0, 105]))
            resolution = draw(st.sampled_from([None, 6, 9, 3, 0, 12, 19, 0x8A, 0xBF, 0xFF]))
            offset = draw(mostly(st.none(), st.sampled_from([0, 1, -1, 2**62, -(2**63)])))
            options = b"" if resolution is None else _option(order, 9, bytes([resolution]))
            options += b"" if offset is None else _option(order, 14, struct.pack(f"{order}q", offset))
            options += _option(order, 2, draw(st.sampled_from([b"eth0", b"\x1b[2J", "über".encode(), b"\xff\xfe"])))
            parts.append(_block(order, 1, struct.pack(f"{order}HHI", link, 0, 65535) + options + bytes(4)))
            unit = 10**6 if resolution is None else (2 ** (resolution & 127) if resolution & 128 else 10**resolution)
            interfaces.append((link, unit))
        start_s = draw(st.sampled_from([0, 1_700_000_000, 2**33]))
        for at_s, data, wire in draw(records(interfaces[0][0] if interfaces else 1)):
            number = draw(st.integers(0, len(interfaces) - 1)) if interfaces else 0
            unit = interfaces[number][1] if interfaces else 10**6
            ticks = _ticks(start_s + at_s, unit) & (2**64 - 1)
            kind = draw(
                mostly(st.just("packet"), st.sampled_from(["simple", "old", "names", "statistics", "own", "zero"]), 8)
            )
            head = struct.pack(f"{order}IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), wire)
            body = {
                "packet": (6, head + data),
                "simple": (3, struct.pack(f"{order}I", wire) + data),
                "old": (2, struct.pack(f"{order}HH", number, 0) + head[4:] + data),
                "names": (4, _option(order, 1, b"\x0a\0\0\x01host\0") + bytes(4)),
                "statistics": (5, struct.pack(f"{order}III", number, 0, 0) + _option(order, 4, bytes(8))),
                "own": (0x0BAD, data),
                "zero": (6, struct.pack(f"{order}IIIII", 99, 0, 0, 0, 0)),
            }[kind]
            parts.append(_block(order, *body))
    return b"".join(parts)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A capture, damaged now and then, compressed now and then."""
    content = draw(damaged(draw(st.one_of(pcap(), pcapng()))))
    if draw(st.integers(0, 7)) == 7:
        content = draw(damaged(gzip.compress(content, 1, mtime=0), one_in=4))
    return content


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A command that reads captures."""
    given = {"a.pcap": draw(files())}
    name = draw(
        st.sampled_from(["profile"] * 4 + ["whatif"] * 3 + ["convert"] * 2 + ["from", "diff", "features", "several"])
    )
    near = draw(
        st.sampled_from([(), (), ("--internal", "10.0.0.0/24"), ("--internal", "::/0"), ("--internal", "0.0.0.0/0")])
    )
    json = ("--json",)
    if name == "profile":
        more = draw(st.sampled_from([(), ("--bin", "1s"), ("--bin", "1us")]))
        arguments = ("profile", "a.pcap", *near, *more, "--bootstrap", "9", "--out", "out/run", *json)
    elif name == "whatif":
        link = draw(
            st.sampled_from(
                [(), ("--rate", "10mbit", "--buffer", "30"), ("--rate", "1mbit/64kbit", "--buffer", "20ms")]
            )
        )
        how = draw(st.sampled_from([(), (), ("--replay", "trains"), ("--replay", "packets"), ("--load", "0.8")]))
        end = ("--disciplines", "fifo,efd", "--duration", "1s", "--out", "out/run", "--quiet")
        arguments = ("whatif", "a.pcap", *near, *link, *how, *end, *json)
    elif name == "convert":
        arguments = (
            "workload",
            "convert",
            "a.pcap",
            f"out/a.{draw(st.sampled_from(['csv', 'parquet', 'cvec', 'csv.gz']))}",
            *near,
            *json,
        )
    elif name == "from":
        arguments = ("workload", "from", "a.pcap", *near, "-o", "out/a.toml", *json)
    elif name == "diff":
        given["b.pcap"] = draw(files())
        arguments = ("diff", "a.pcap", "b.pcap", *near, "--out", "out/run", *json)
    elif name == "features":
        arguments = ("profile", "roles", "features", "a.pcap", "--out", "out/features.csv")
    else:
        given["b.pcap"] = draw(files())
        arguments = ("profile", "a.pcap", "b.pcap", *near, "--bootstrap", "0", "--out", "out/run", *json)
    return Case("captures", (arguments,), given)
