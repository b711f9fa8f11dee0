"""Requests to the kernel's traffic control by raw netlink: what tc would not send, and what the kernel says of it."""

import errno
import os
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "options"))
import option_rows

NEWQDISC, DELQDISC, GETQDISC = 36, 37, 38
ERROR, DONE = 2, 3
REQUEST, ACK, DUMP, REPLACE, EXCL, CREATE = 0x1, 0x4, 0x300, 0x100, 0x200, 0x400
ACK_TLVS = 0x200
TCA_KIND, TCA_OPTIONS, TCA_STATS, TCA_XSTATS, TCA_RATE, TCA_STAB = 1, 2, 3, 4, 5, 8
NESTED = 0x8000
ROOT = 0xFFFFFFFF
SOL_NETLINK, CAP_ACK, EXT_ACK = 270, 10, 11


def attributes() -> dict[str, list[option_rows.Row]]:
    """Options of each of our queue disciplines, from the tables that the kernel and tc share."""
    return {id: option_rows.rows(id) for id in option_rows.ids()}


def attribute(kind: int, payload: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def number(value: int, size: int) -> bytes:
    """A whole number as an attribute carries it, cut to its size."""
    return (value % (1 << 8 * size)).to_bytes(size, "little")


def parsed(data: bytes) -> dict[int, bytes]:
    """Attributes by their number."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[max(length + 3 & ~3, 4) :]
    return found


@dataclass(frozen=True)
class Shown:
    """A queue discipline as it is: ids, kind, options by number, packets and bytes that wait, drops."""

    handle: int
    parent: int
    kind: str
    options: dict[int, bytes]
    pkts: int
    size: int
    drops: int


class Netlink:
    """A socket of traffic control.

    Parameters
    ----------
    device : str
        Interface that requests are about.
    """

    def __init__(self, device: str):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.socket.bind((0, 0))
        for option in (CAP_ACK, EXT_ACK):
            self.socket.setsockopt(SOL_NETLINK, option, 1)
        self.device = device
        self.sequence = 0

    def send(self, kind: int, flags: int, body: bytes) -> None:
        self.sequence += 1
        head = struct.pack("=IHHII", 16 + len(body), kind, flags | REQUEST, self.sequence, 0)
        self.socket.send(head + body)

    def received(self):
        """Messages of one datagram: kind, flags, sequence number and body."""
        data = self.socket.recv(1 << 18)
        while len(data) >= 16:
            length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data)
            yield kind, flags, sequence, data[16:length]
            data = data[max(length + 3 & ~3, 16) :]

    def message(self, handle: int, parent: int) -> bytes:
        """The fixed part of a request, struct tcmsg."""
        return struct.pack("=BxxxiIII", socket.AF_UNSPEC, socket.if_nametoindex(self.device), handle, parent, 0)

    def request(self, kind: int, flags: int, body: bytes) -> tuple[str, str]:
        """Sends a request; the name of the error, empty where there is none, and what the kernel says of it."""
        self.send(kind, flags | ACK, body)
        while True:
            for answer, answered, sequence, data in self.received():
                if answer != ERROR or sequence != self.sequence:
                    continue
                (code,) = struct.unpack_from("=i", data)
                rest = parsed(data[20:]) if answered & ACK_TLVS else {}
                text = rest.get(1, b"").rstrip(b"\0").decode(errors="replace")
                return errno.errorcode.get(-code, str(code)) if code else "", text

    def qdisc(
        self, kind: str, options: bytes, handle: int, parent: int, flags: int = CREATE | EXCL, more: bytes = b""
    ) -> tuple[str, str]:
        """Adds or, without CREATE, changes a queue discipline with such attributes; as :meth:`request`."""
        body = self.message(handle, parent) + attribute(TCA_KIND, kind.encode() + b"\0")
        return self.request(NEWQDISC, flags, body + attribute(TCA_OPTIONS | NESTED, options) + more)

    def delete(self, handle: int, parent: int) -> tuple[str, str]:
        return self.request(DELQDISC, 0, self.message(handle, parent))

    def shown(self) -> list[Shown]:
        """Every queue discipline of the device."""
        self.send(GETQDISC, DUMP, self.message(0, 0))
        index, rows, done = socket.if_nametoindex(self.device), [], False
        while not done:
            for kind, _, sequence, data in self.received():
                if sequence != self.sequence:
                    continue
                if kind == ERROR:
                    raise OSError(-struct.unpack_from("=i", data)[0], os.strerror(-struct.unpack_from("=i", data)[0]))
                done = done or kind == DONE
                if kind != NEWQDISC or struct.unpack_from("=i", data, 4)[0] != index:
                    continue
                handle, parent = struct.unpack_from("=II", data, 8)
                found = parsed(data[20:])
                _, _, drops, _, _, _, pkts, size = struct.unpack_from("=QIIIIIII", found[TCA_STATS])
                options = parsed(found.get(TCA_OPTIONS, b""))
                name = found[TCA_KIND].rstrip(b"\0").decode()
                rows.append(Shown(handle, parent, name, options, pkts, size, drops))
        return rows

    def close(self) -> None:
        self.socket.close()
