"""Flows as sockets of one process: each a TCP transfer, to the end of its tear-down, or UDP at a constant rate."""

import select
import socket
import struct

LISTEN_PORT = 5001
FIRST_PORT, LAST_PORT = 10_000, 65_000  # of openers; a connection has a port of its own for the whole run
TCP_CLOSE = 7
SETTLED_S = 5.0  # after its last packet a UDP flow that lost some counts as ended
CHUNK = bytes(1 << 18)
BUFFER = bytearray(1 << 18)
SO_RCVBUFFORCE, SO_MAX_PACING_RATE = 33, 47
NUMBER = struct.Struct("=Q")  # of a datagram of a traced flow, at its beginning
BUFFER_BYTES = 16 << 20
INFO_BYTES = 232
FIELDS = {"rtt": 68, "cwnd": 80, "total_retrans": 100, "segs_out": 136, "segs_in": 140, "delivered_ce": 196}
"""Offsets of unsigned 32-bit fields in struct tcp_info (linux/tcp.h)."""


def info(connection: socket.socket) -> dict[str, int]:
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
    return {"state": raw[0]} | {name: struct.unpack_from("=I", raw, offset)[0] for name, offset in FIELDS.items()}


def bounded(found: socket.socket, window_bytes: int) -> socket.socket:
    """Has the socket advertise that window at most; 0 leaves it to the kernel.

    The kernel raises a bound, the route's too, as it tunes the receive buffer: so that is fixed, and large.
    """
    if window_bytes:
        found.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window_bytes)
    return found


def coded(found: socket.socket, code: int) -> socket.socket:
    """Has the packets of the socket carry a code in their DSCP, which the routers take for the mark it stands for."""
    if code:
        found.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, code << 2)
    return found


def listener(window_bytes: int) -> socket.socket:
    found = bounded(socket.socket(), window_bytes)
    found.bind(("", LISTEN_PORT))
    found.listen(65535)
    found.setblocking(False)
    return found


class Tcp:
    """A transfer of `size_bytes` from one host to another.

    The sender of the data closes after its last byte, the receiver when that has come. The transfer has ended when the
    receiver's socket is closed: with the acknowledgement of its FIN.
    """

    ports: dict[int, int] = {}

    def __init__(self, run, row: dict):
        self.run, self.row = run, row
        self.left = row["size_bytes"]
        self.received = 0
        self.sender = self.receiver = None
        self.times: dict[str, float] = {}
        self.infos: dict[str, dict] = {}
        self.rtt_sum_s, self.rtt_looks = 0.0, 0
        self.over = self.gave_up = False

    def start(self) -> None:
        opener, other = ("dst", "src") if self.row["receiver_opens"] else ("src", "dst")
        number = self.row[opener]
        host, peer = self.run.hosts[number], self.run.hosts[self.row[other]]
        port = Tcp.ports.get(number, FIRST_PORT)
        if port > LAST_PORT:
            raise RuntimeError(f"host {host.name} opens more than {LAST_PORT - FIRST_PORT + 1} connections")
        Tcp.ports[number] = port + 1
        self.run.enter(host)
        connection = coded(bounded(socket.socket(), self.run.settings["window_bytes"]), self.row["code"])
        connection.setblocking(False)
        connection.bind((host.address, port))
        self.has(connection, opener)
        self.run.accepting[(host.address, port)] = self
        connection.connect_ex((peer.address, LISTEN_PORT))

    def accepted(self, connection: socket.socket) -> None:
        coded(connection, self.row["code"])
        self.has(connection, "src" if self.row["receiver_opens"] else "dst")

    def has(self, connection: socket.socket, end: str) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.row["congestion"].encode())
        if self.row["paced"]:
            # A limit, however high, makes TCP pace itself.
            connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("=Q", 1 << 60))
        if end == "src":
            self.sender = connection
        else:
            self.receiver = connection
        self.run.watch(connection, self)

    def ready(self, file: int, events: int) -> None:
        try:
            if self.sender is not None and file == self.sender.fileno():
                self.send(events)
            else:
                self.receive(events)
        except OSError:
            self.fail()

    def send(self, events: int) -> None:
        if events & select.EPOLLERR and (error := self.sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
            raise OSError(error, "")
        # Whole segments at a time: the end of what is handed over may leave in a short one.
        most = len(CHUNK) // self.run.settings["mss"] * self.run.settings["mss"]
        try:
            while self.left:
                self.left -= self.sender.send(memoryview(CHUNK)[: min(self.left, most)])
                if not self.left:
                    self.sender.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return

    def receive(self, events: int) -> None:
        connection = self.receiver
        while "fin_s" not in self.times:
            try:
                count = connection.recv_into(BUFFER)
            except BlockingIOError:
                return
            now = self.run.now
            if count:
                self.times.setdefault("first_data_s", now)
                self.received += count
                if self.received == self.row["size_bytes"]:
                    self.times["last_data_s"] = now
                if count < len(BUFFER) and not events & select.EPOLLRDHUP:
                    return
            else:
                self.times["fin_s"] = now
                connection.shutdown(socket.SHUT_WR)
        if info(connection)["state"] == TCP_CLOSE:
            self.times["finish_s"] = self.run.now
            self.end()

    def fail(self) -> None:
        self.gave_up = True
        self.end()

    def end(self) -> None:
        """Both sockets have done; a sender that still waits for an acknowledgement goes on without us."""
        if self.over:
            return
        self.over = True
        self.infos = self.ends()
        for connection in (self.sender, self.receiver):
            if connection is not None:
                self.run.forget(connection)
        self.run.has_ended()

    def ends(self) -> dict[str, dict]:
        both = {"sender": self.sender, "receiver": self.receiver}
        return {name: info(connection) for name, connection in both.items() if connection is not None}

    def close(self) -> None:
        for connection in (self.sender, self.receiver):
            if connection is not None and connection.fileno() >= 0:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()

    def look(self) -> None:
        """Adds the smoothed round-trip time of now to the mean, of a transfer without end."""
        if self.sender is not None and not self.over and (rtt_us := info(self.sender)["rtt"]):
            self.rtt_sum_s += rtt_us * 1e-6
            self.rtt_looks += 1

    def told(self) -> dict:
        """What came of the transfer."""
        infos = self.infos if self.over else self.ends()
        found = {"received_bytes": self.received, "gave_up": self.gave_up, **self.times, **infos}
        return found | ({"rtt_mean_s": self.rtt_sum_s / self.rtt_looks} if self.rtt_looks else {})


class Udp:
    """So many packets of one length at a constant rate; of a traced flow, when each was sent and when it came."""

    port = 20_000

    def __init__(self, run, row: dict):
        self.run, self.row = run, row
        self.left = row["packets"]
        self.sent = self.arrived = self.received = 0
        self.times: dict[str, float] = {}
        self.sockets = []
        self.payload = bytearray(row["payload_bytes"])
        self.sent_s: list[float] = []
        self.received_s: list[float | None] = []

    def start(self) -> None:
        ends = [self.run.hosts[self.row[end]] for end in ("src", "dst")]
        # Ports of their own: flows are told apart by them.
        Udp.port = Udp.port + 1 if Udp.port < LAST_PORT else 20_001
        for host, other in (ends, ends[::-1]):
            self.run.enter(host)
            one = coded(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), self.row["code"])
            one.setblocking(False)
            one.bind((host.address, Udp.port))
            one.connect((other.address, Udp.port))
            self.sockets.append(one)
        self.run.watch(self.sockets[1], self, select.EPOLLIN)
        self.send()

    def send(self) -> None:
        if self.row["traced"]:
            NUMBER.pack_into(self.payload, 0, self.sent)
            self.sent_s.append(self.run.now)
            self.received_s.append(None)
        self.sockets[0].send(self.payload)
        self.left -= 1
        self.sent += 1
        if self.left:
            self.run.at(self.row["start_s"] + self.sent * self.row["gap_s"], self.send)
        else:
            self.run.at(self.run.now + SETTLED_S, self.settle)

    def settle(self) -> None:
        """What has not arrived by now was dropped."""
        self.left = -1
        self.run.forget(self.sockets[1])
        self.sockets[0].close()
        self.run.has_ended()

    def close(self) -> None:
        for one in self.sockets:
            one.close()

    def ready(self, file: int, events: int) -> None:
        self.received += self.sockets[1].recv_into(BUFFER)
        self.arrived += 1
        self.times.setdefault("first_data_s", self.run.now)
        self.times["last_data_s"] = self.run.now
        if self.row["traced"]:
            self.received_s[NUMBER.unpack_from(BUFFER)[0]] = self.run.now

    def told(self) -> dict:
        """What came of the packets."""
        settled = self.left < 0 or (self.left == 0 and self.arrived == self.sent)
        found = {"sent": self.sent, "arrived": self.arrived, "settled": settled, **self.times}
        return found | ({"sent_s": self.sent_s, "received_s": self.received_s} if self.row["traced"] else {})
