"""TCP transfers as sockets of one process, each to the end of its tear-down."""

import select
import socket
import struct

LISTEN_PORT = 5001
FIRST_PORT = 10_000  # of openers; a connection has a port of its own for the whole run
TCP_CLOSE = 7
CHUNK = bytes(1 << 18)
BUFFER = bytearray(1 << 18)
SO_RCVBUFFORCE, SO_MAX_PACING_RATE = 33, 47
BUFFER_BYTES = 16 << 20
BOUND_AGAIN_BYTES = 20_000
INFO_BYTES = 232
FIELDS = {"rtt": 68, "cwnd": 80, "total_retrans": 100, "segs_out": 136, "segs_in": 140, "data_segs_out": 156}
FIELDS |= {"delivered_ce": 196}
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


def bound_again(connection: socket.socket, window_bytes: int, received: int) -> None:
    """Gives a socket its bound again while its first data arrive.

    Linux 7.3 forgets it once it has measured the first full segment (``tcp_measure_rcv_mss``).
    """
    if window_bytes and received <= BOUND_AGAIN_BYTES:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window_bytes)


def coded(found: socket.socket, code: int) -> socket.socket:
    """Has the packets of the socket carry a code in their DSCP, which the routers take for the mark it stands for."""
    if code:
        found.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, code << 2)
    return found


def listener(window_bytes: int, port: int = LISTEN_PORT) -> socket.socket:
    found = bounded(socket.socket(), window_bytes)
    found.bind(("", port))
    found.listen(65535)
    found.setblocking(False)
    return found


class Tcp:
    """A transfer of `size_bytes` from one host to another.

    The sender of the data closes after its last byte, the receiver when that has come. The transfer has ended when the
    receiver's socket is closed: with the acknowledgement of its FIN.

    A flow with a round-trip time of its own has a port of its own at one end, by which the access link there tells it
    (`interfaces`): that end opens from it, or waits at it to be opened.
    """

    ports: dict[int, int] = {}

    def __init__(self, run, row: dict):
        self.run, self.row = run, row
        self.left = row["size_bytes"]
        self.received = 0
        self.sender = self.receiver = self.door = None
        self.begun_s: float | None = None
        self.times: dict[str, float] = {}
        self.infos: dict[str, dict] = {}
        self.rtt_sum_s, self.rtt_looks = 0.0, 0
        self.over = self.gave_up = False

    def start(self) -> None:
        self.begun_s = self.run.now
        opener, other = ("dst", "src") if self.row["receiver_opens"] else ("src", "dst")
        number = self.row[opener]
        host, peer = self.run.hosts[number], self.run.hosts[self.row[other]]
        own_end, own_port = self.row["own"] or ("", 0)
        port = own_port if own_end == opener else self.next_port(number, host.name)
        if own_end == other:
            self.run.enter(peer)
            self.door = listener(self.run.settings["window_bytes"], own_port)
            self.run.open(self.door)
        self.run.enter(host)
        connection = coded(bounded(socket.socket(), self.run.settings["window_bytes"]), self.row["code"])
        connection.setblocking(False)
        connection.bind((host.address, port))
        self.has(connection, opener)
        self.run.accepting[(host.address, port)] = self
        connection.connect_ex((peer.address, own_port if self.door else LISTEN_PORT))

    def next_port(self, number: int, name: str) -> int:
        last = self.run.settings["last_port"]
        port = Tcp.ports.get(number, FIRST_PORT)
        if port > last:
            raise RuntimeError(f"host {name} opens more than {last - FIRST_PORT + 1} connections")
        Tcp.ports[number] = port + 1
        return port

    def accepted(self, connection: socket.socket) -> None:
        self.shut_door()
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
                bound_again(connection, self.run.settings["window_bytes"], self.received)
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

    def shut_door(self) -> None:
        if self.door is not None:
            self.run.forget(self.door)
            self.door = None

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
        self.shut_door()
        self.run.is_over(self)
        self.run.has_ended()

    def ends(self) -> dict[str, dict]:
        both = {"sender": self.sender, "receiver": self.receiver}
        return {name: info(connection) for name, connection in both.items() if connection is not None}

    def close(self) -> None:
        self.shut_door()
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
        known = {"received_bytes": self.received, "gave_up": self.gave_up, "begun_s": self.begun_s}
        found = {**known, **self.times, **infos}
        return found | ({"rtt_mean_s": self.rtt_sum_s / self.rtt_looks} if self.rtt_looks else {})
