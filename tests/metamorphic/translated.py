"""Both sides of a router that translates addresses, in one capture."""

import itertools
import struct
from collections.abc import Callable

from spellings import IP_AT, Packet, Packets, enhanced, interface, section

INSIDE = bytes([10, 10, 0])
OUTSIDE = bytes([203, 0, 113, 5])
FORWARDED_NS = 50_000
"""What the router takes to forward a packet."""
PORTED = (6, 17)


class Router:
    """Gives each inside host and port a port of its own address, the first free one from 20000 on."""

    def __init__(self) -> None:
        self._ports: dict[tuple[int, bytes, bytes], bytes] = {}
        self._free = itertools.count(20_000)

    def outside(self, packet: Packet) -> tuple[Packet, bool]:
        """The packet at the outer interface, and whether it goes out; its time is that at the inner one."""
        ip = bytearray(packet.ip)
        header = (ip[0] & 15) * 4
        goes_out = ip[12:15] == INSIDE
        address, port = (12, header) if goes_out else (16, header + 2)
        if ip[9] in PORTED:
            inside = (ip[9], bytes(ip[address : address + 4]), bytes(ip[port : port + 2]))
            if inside not in self._ports:
                self._ports[inside] = struct.pack(">H", next(self._free))
            ip[port : port + 2] = self._ports[inside]
        ip[address : address + 4] = OUTSIDE
        # A hop less behind the router than in front of it.
        ip[8] += -1 if goes_out else 1
        link = b"\x02\0\0\0\0\x01" + b"\x02\0\0\0\0\x02" + packet.data[IP_AT - 2 : IP_AT]
        return packet._replace(data=link + bytes(ip)), goes_out


def both_sides(packets: Packets, forwarded_ns: Callable[[bool], int] = lambda _: FORWARDED_NS) -> bytes:
    """A pcapng of two interfaces: the capture inside, and the same packets outside, before or after."""
    router, seen = Router(), []
    for packet in packets:
        outside, goes_out = router.outside(packet)
        later_ns = forwarded_ns(goes_out)
        at_ns = packet.at_ns + (later_ns if goes_out else -later_ns)
        seen += [(packet.at_ns, 0, packet), (at_ns, 1, outside._replace(at_ns=at_ns))]
    seen.sort(key=lambda one: one[0])
    blocks = (enhanced("<", packet, number=number) for _, number, packet in seen)
    return section("<") + interface("<") + interface("<") + b"".join(blocks)


def begun_inside(packets: Packets) -> list[Packet]:
    """Those of connections whose first packet goes out, or comes from inside."""
    first: dict[tuple[bytes, ...], bool] = {}
    found = []
    for packet in packets:
        ip = packet.ip
        header = (ip[0] & 15) * 4
        ends = sorted([ip[12:16] + ip[header : header + 2], ip[16:20] + ip[header + 2 : header + 4]])
        if first.setdefault((ip[9:10], *ends), ip[12:15] == INSIDE):
            found.append(packet)
    return found
