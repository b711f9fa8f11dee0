"""Counters of a qdisc by rtnetlink: no process has to be started for a look at a queue."""

import socket
import struct

NETLINK_ROUTE = 0
RTM_NEWQDISC, RTM_GETQDISC, NLMSG_ERROR = 36, 38, 2
NLM_F_REQUEST, NLM_F_ECHO = 0x1, 0x8
TCA_STATS2, TCA_STATS_BASIC, TCA_STATS_QUEUE = 7, 1, 3  # linux/rtnetlink.h, linux/gen_stats.h
HEADER, TCMSG = struct.Struct("=IHHII"), struct.Struct("=BBHiIII")
NESTED = 0x3FFF  # without the flags of an attribute's type


def attributes(data: bytes) -> dict[int, bytes]:
    """Attributes of a message, by type."""
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        found[kind & NESTED] = data[at + 4 : at + length]
        at += (length + 3) & ~3
    return found


class Queue:
    """The qdisc `handle` (10 for `10:`) of a device in the namespace this process is in now."""

    def __init__(self, device: str, handle: int):
        self.index, self.handle = socket.if_nametoindex(device), handle << 16
        self.link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ROUTE)
        self.link.bind((0, 0))

    def look(self) -> dict[str, int]:
        """`packets` and `bytes` that left, `backlog_packets`, `backlog_bytes` and `drops` now."""
        body = TCMSG.pack(0, 0, 0, self.index, self.handle, 0, 0)
        # Of one qdisc, with its echo as the answer: a dump would be of all devices.
        self.link.send(HEADER.pack(16 + len(body), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 1, 0) + body)
        data = self.link.recv(1 << 16)
        length, kind, _, _, _ = HEADER.unpack_from(data)
        if kind != RTM_NEWQDISC:
            code = -struct.unpack_from("=i", data, 16)[0] if kind == NLMSG_ERROR else 0
            raise OSError(code, f"qdisc {self.handle >> 16:x}: is not told")
        stats = attributes(attributes(data[16 + TCMSG.size : length])[TCA_STATS2])
        sent_bytes, packets = struct.unpack_from("=QI", stats[TCA_STATS_BASIC])
        waiting, backlog, drops = struct.unpack_from("=III", stats[TCA_STATS_QUEUE])
        found = {"packets": packets, "bytes": sent_bytes, "drops": drops}
        return found | {"backlog_packets": waiting, "backlog_bytes": backlog}
