"""Segments of scripts as IPv4 packets, and back."""

import struct
from typing import Any

from packetdrill.play import Sent
from packetdrill.script import Option, Packet

ECN_BITS = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}
FLAG_BITS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16, "U": 32, "E": 64, "W": 128, "A": 256}
TCP = 6
WRAP = 1 << 32


def checksum(data: bytes) -> int:
    """RFC 1071."""
    words: tuple[int, ...] = struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2))
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def option_bytes(option: Option, echo: int | None) -> bytes:
    """An option; ``echo`` takes the place of TSecr."""
    match option.name, option.values:
        case "eol", _:
            return b"\0"
        case "nop", _:
            return b"\1"
        case "mss", (mss,):
            return struct.pack("!BBH", 2, 4, mss)
        case "wscale", (shift,):
            return bytes((3, 3, shift))
        case "sackOK", _:
            return bytes((4, 2))
        case "sack", blocks:
            numbers = [number % WRAP for block in blocks for number in block]
            return struct.pack(f"!BB{len(numbers)}I", 5, 2 + 4 * len(numbers), *numbers)
        case "TS", (value, given):
            return struct.pack("!BBII", 8, 10, value, given if echo is None else echo)
        case "FO", cookie:
            data = bytes.fromhex(cookie[0]) if cookie else b""
            return bytes((34, 2 + len(data))) + data
        case "ECN", fields:
            kind = 172 if fields[0][0] == "e0b" else 174
            data = b"".join(value.to_bytes(3, "big") for _, value in fields)
            return bytes((kind, 2 + len(data))) + data
    raise ValueError(f"an option {option.name}")


def encoded(packet: Packet, ends: tuple[tuple[bytes, int], tuple[bytes, int]], offset: int, echo: int | None) -> bytes:
    """An inbound packet as bytes.

    Parameters
    ----------
    packet : Packet
        What the script says.
    ends : pair of pairs
        Address (4 bytes) and port of its sender and of its receiver.
    offset : int
        Initial sequence number of its receiver, to which acknowledgements and SACK blocks of the script are relative.
    echo : int or None
        TSecr in place of the script's.
    """
    options = b""
    for option in packet.options or ():
        if option.name == "sack":
            moved = tuple((left + offset, right + offset) for left, right in option.values)
            option = Option("sack", moved)
        options += option_bytes(option, echo)
    options += b"\0" * (-len(options) % 4)
    bits = sum(FLAG_BITS[flag] for flag in packet.flags)
    if packet.ace is not None:
        bits |= (packet.ace & 1) << 6 | (packet.ace >> 1 & 1) << 7 | (packet.ace >> 2) << 8
    (source, source_port), (target, target_port) = ends
    acknowledged = (packet.ack + offset) % WRAP if packet.ack is not None and "." in packet.flags else 0
    length = 20 + len(options)
    first = length // 4 << 12 | bits
    tcp = struct.pack("!HHIIHHHH", source_port, target_port, packet.seq, acknowledged, first, packet.window or 0, 0, 0)
    segment = tcp + options + bytes(packet.length)
    pseudo = source + target + struct.pack("!BBH", 0, TCP, len(segment))
    segment = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
    tos = ECN_BITS[packet.ecn or "noecn"]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(segment), 0, 0x4000, 255, TCP, 0, source, target)
    return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + segment


def ports(data: bytes) -> tuple[int, int] | None:
    """Ports of sender and receiver of a TCP segment over IPv4; None of other packets."""
    if len(data) < 40 or data[0] >> 4 != 4 or data[9] != TCP:
        return None
    start = (data[0] & 15) * 4
    found: tuple[int, int] = struct.unpack_from("!HH", data, start)
    return found


def decoded(data: bytes, time_us: float, own: int, peer: int) -> Sent:
    """An outbound packet, with numbers relative to the initial ones of both ends."""
    start = (data[0] & 15) * 4
    _, _, seq, ack, first, window, _, _ = struct.unpack_from("!HHIIHHHH", data, start)
    end = start + (first >> 12) * 4
    flags = "".join(flag for flag in "SFRPEWAU." if first & FLAG_BITS[flag])
    options = tuple(read_options(data[start + 20 : end], peer))
    stamp = next((option.values[0] for option in options if option.name == "TS"), None)
    return Sent(
        time_us=time_us,
        flags="".join(sorted(flags, key="SFRPEWAU.".index)),
        ace=(first >> 6 & 1) | (first >> 7 & 1) << 1 | (first >> 8 & 1) << 2,
        seq=(seq - own) % WRAP,
        length=len(data) - end,
        ack=(ack - peer) % WRAP if "." in flags else None,
        window=window,
        options=options,
        ecn=next(name for name, bits in ECN_BITS.items() if bits == data[1] & 3),
        stamp=stamp,
        ticks=stamp,
    )


def read_options(data: bytes, peer: int) -> list[Option]:
    """Options of a segment; SACK blocks relative to the initial number of the peer."""
    found = []
    while data:
        kind = data[0]
        if kind < 2:
            found.append(Option(("eol", "nop")[kind]))
            data = data[1:]
            continue
        length = max(data[1], 2)
        body, data = data[2:length], data[length:]
        values: tuple[Any, ...] = ()
        match kind:
            case 2 | 3:
                name, values = ("mss" if kind == 2 else "wscale"), (int.from_bytes(body, "big"),)
            case 4:
                name = "sackOK"
            case 5:
                numbers = [(n - peer) % WRAP for n in struct.unpack(f"!{len(body) // 4}I", body)]
                name, values = "sack", tuple(zip(numbers[::2], numbers[1::2], strict=True))
            case 8:
                name, values = "TS", struct.unpack("!II", body)
            case 34:
                name, values = "FO", ((body.hex(),) if body else ())
            case 172 | 174:
                order = ("e0b", "ceb", "e1b") if kind == 172 else ("e1b", "ceb", "e0b")
                counts = [int.from_bytes(body[at : at + 3], "big") for at in range(0, len(body), 3)]
                name, values = "ECN", tuple(zip(order, counts, strict=False))
            case _:
                name = f"kind {kind}"
        found.append(Option(name, values))
    return found
