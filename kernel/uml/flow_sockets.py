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
        connection = bounded(socket.socket(), self.run.settings["window_bytes"])
        connection.setblocking(False)
        connection.bind((host.address, port))
        self.has(connection, opener)
        self.run.accepting[(host.address, port)] = self
        connection.connect_ex((peer.address, LISTEN_PORT))

    def accepted(self, connection: socket.socket) -> None:
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
                self.send()
            else:
                self.receive()
        except OSError:
            self.fail()

    def send(self) -> None:
        if error := self.sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
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

    def receive(self) -> None:
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

    def told(self) -> dict:
        """What came of the transfer."""
        infos = self.infos if self.over else self.ends()
        return {"received_bytes": self.received, "gave_up": self.gave_up, **self.times, **infos}


class Udp:
    """So many packets of one length at a constant rate."""

    port = 20_000

    def __init__(self, run, row: dict):
        self.run, self.row = run, row
        self.left = row["packets"]
        self.sent = self.arrived = self.received = 0
        self.times: dict[str, float] = {}
        self.sockets = []

    def start(self) -> None:
        ends = [self.run.hosts[self.row[end]] for end in ("src", "dst")]
        # Ports of their own: flows are told apart by them.
        Udp.port = Udp.port + 1 if Udp.port < LAST_PORT else 20_001
        for host, other in (ends, ends[::-1]):
            self.run.enter(host)
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.setblocking(False)
            one.bind((host.address, Udp.port))
            one.connect((other.address, Udp.port))
            self.sockets.append(one)
        self.run.watch(self.sockets[1], self)
        self.send()

    def send(self) -> None:
        self.sockets[0].send(memoryview(CHUNK)[: self.row["payload_bytes"]])
        self.left -= 1
        self.sent += 1
        if self.left:
            self.run.at(self.row["start_s"] + self.sent * self.row["gap_s"], self.send)
        else:
            self.run.at(self.run.now + SETTLED_S, self.settle)

    def settle(self) -> None:
        """What has not arrived by now was dropped."""
        if not self.left:
            self.run.has_ended()
            self.left = -1

    def ready(self, file: int, events: int) -> None:
        while events & select.EPOLLIN:
            try:
                count = self.sockets[1].recv_into(BUFFER)
            except BlockingIOError:
                return
            now = self.run.now
            self.arrived += 1
            self.received += count
            self.times.setdefault("first_data_s", now)
            self.times["last_data_s"] = now

    def told(self) -> dict:
        """What came of the packets."""
        settled = self.left < 0 or (self.left == 0 and self.arrived == self.sent)
        return {"sent": self.sent, "arrived": self.arrived, "settled": settled, **self.times}
