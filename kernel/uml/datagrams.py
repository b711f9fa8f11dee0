"""UDP flows as sockets of one process: packets at given times, whatever becomes of those before."""

import select
import socket
import struct
from collections.abc import Iterator

from flow_sockets import BUFFER, coded

FIRST_PORT = 20_000
SETTLED_S = 5.0  # after its last packet a UDP flow that lost some counts as ended
NUMBER = struct.Struct("=Q")  # of a datagram of a traced flow, at its beginning


class Udp:
    """Packets at a constant rate, or of bursts; of a traced flow, when each was sent, came and came back.

    `echo` has the receiver send every packet back at once.
    """

    port = FIRST_PORT

    def __init__(self, run, row: dict):
        self.run, self.row = run, row
        self.coming = self.packets()
        self.count = sum(burst[2] for burst in row["bursts"]) if row["bursts"] else row["packets"]
        self.sent = self.arrived = self.received = 0
        self.is_settled = self.told_over = False
        self.begun_s: float | None = None
        self.times: dict[str, float] = {}
        self.sockets = []
        self.sent_s: list[float] = []
        self.received_s: list[float | None] = []
        self.returned_s: list[float | None] = []

    def packets(self) -> Iterator[tuple[float, int]]:
        """When each leaves, since the start of the flow, and its payload."""
        for at_ns, gap_ns, count, payload in self.row["bursts"] or ():
            for k in range(count):
                yield (at_ns + k * gap_ns) * 1e-9, payload
        if not self.row["bursts"]:
            for k in range(self.row["packets"]):
                yield k * self.row["gap_s"], self.row["payload_bytes"]

    def start(self) -> None:
        # What the list says, to the nanosecond, unless the flow waited for others.
        self.begun_s = self.row["start_s"] if self.row["after"] is None else self.run.now
        hosts = {end: self.run.hosts[self.row[end]] for end in ("src", "dst")}
        own_end, own_port = self.row["own"] or ("", 0)
        # Ports of their own: flows are told apart by them.
        Udp.port = Udp.port + 1 if Udp.port < self.run.settings["last_port"] else FIRST_PORT + 1
        ports = {end: own_port if end == own_end else Udp.port for end in hosts}
        for end, other in (("src", "dst"), ("dst", "src")):
            self.run.enter(hosts[end])
            one = coded(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), self.row["code"])
            one.setblocking(False)
            one.bind((hosts[end].address, ports[end]))
            one.connect((hosts[other].address, ports[other]))
            self.sockets.append(one)
        self.run.watch(self.sockets[1], self, select.EPOLLIN)
        if self.row["echo"]:
            self.run.watch(self.sockets[0], self, select.EPOLLIN)
        self.plan()

    def plan(self) -> None:
        """Has the next packet sent, in time; those that are due are sent at once."""
        for offset_s, payload in self.coming:
            at_s = self.begun_s + offset_s
            if round(at_s * 1e9) > self.run.now_ns:
                self.run.at(at_s, lambda: self.send_and_plan(payload))
                return
            self.send(payload)
        self.run.at(self.run.now + SETTLED_S, self.settle)

    def send_and_plan(self, payload: int) -> None:
        self.send(payload)
        self.plan()

    def send(self, payload: int) -> None:
        data = bytearray(payload)
        if self.row["traced"]:
            NUMBER.pack_into(data, 0, self.sent)
            self.sent_s.append(self.run.now)
            self.received_s.append(None)
            self.returned_s.append(None)
        self.sockets[0].send(data)
        self.sent += 1

    def settle(self) -> None:
        """What has not arrived by now was dropped."""
        self.is_settled = True
        self.end()
        self.run.forget(self.sockets[1])
        if self.row["echo"]:
            self.run.forget(self.sockets[0])
        self.sockets[0].close()

    def end(self) -> None:
        """All packets have come, or what has not was dropped."""
        if not self.told_over:
            self.told_over = True
            self.run.is_over(self)
            self.run.has_ended()

    def close(self) -> None:
        for one in self.sockets:
            one.close()

    def ready(self, file: int, events: int) -> None:
        returned = file == self.sockets[0].fileno()
        end = self.sockets[0 if returned else 1]
        length = end.recv_into(BUFFER)
        number = NUMBER.unpack_from(BUFFER)[0] if self.row["traced"] else 0
        if returned:
            self.returned_s[number] = self.run.now
            return
        if self.row["echo"]:
            end.send(memoryview(BUFFER)[:length])
        self.received += length
        self.arrived += 1
        self.times.setdefault("first_data_s", self.run.now)
        self.times["last_data_s"] = self.run.now
        if self.row["traced"]:
            self.received_s[number] = self.run.now
        if self.arrived == self.count:
            self.end()

    def told(self) -> dict:
        """What came of the packets."""
        settled = self.is_settled or self.arrived == self.count
        found = {"sent": self.sent, "arrived": self.arrived, "settled": settled, "received_bytes": self.received}
        found |= {"begun_s": self.begun_s, **self.times}
        if self.row["traced"]:
            found |= {"sent_s": self.sent_s, "received_s": self.received_s, "returned_s": self.returned_s}
        return found
