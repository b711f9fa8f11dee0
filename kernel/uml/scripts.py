"""Scripted connections as sockets of one process: trains in both directions, and think times before them.

A train begins when its time has come: that long after the last byte of the train before had come in, or, where the same
end sent that one, after its last acknowledgement; before the first, since the end that speaks first is connected. What
acknowledges the end of a train is told by a time stamp of the kernel in the error queue of the socket: nothing polls.
"""

import array
import fcntl
import select
import socket
import struct
import termios

from flow_sockets import BUFFER, CHUNK, TCP_CLOSE, Tcp, bound_again, info

SO_TIMESTAMPING = 37
REPORTED = 1 << 4 | 1 << 11  # SOF_TIMESTAMPING_SOFTWARE, _OPT_TSONLY (linux/net_tstamp.h)
ACKNOWLEDGED = 1 << 9  # SOF_TIMESTAMPING_TX_ACK
WANTED = [(socket.SOL_SOCKET, SO_TIMESTAMPING, struct.pack("=I", ACKNOWLEDGED))]


class Script(Tcp):
    """A connection that follows a script; its sender closes it, after its own last train or when all has come in."""

    def __init__(self, run, row: dict):
        super().__init__(run, row)
        self.trains = row["script"]
        self.at = 0
        self.phase = "opening"
        self.back = 0  # bytes that came to the sender of the flow
        self.allowed = self.handed = self.came = 0  # of the train under way, bytes
        self.record: dict = {}
        self.records: list[dict] = []

    def speaker(self, train: int) -> str:
        return "sender" if self.trains[train]["forward"] else "receiver"

    @property
    def opener(self) -> str:
        return "receiver" if self.row["receiver_opens"] else "sender"

    def has(self, connection: socket.socket, end: str) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, REPORTED)
        super().has(connection, end)

    def accepted(self, connection: socket.socket) -> None:
        super().accepted(connection)
        if self.phase == "opening" and self.speaker(0) != self.opener:
            self.wait()

    def ready(self, file: int, events: int) -> None:
        end = "sender" if self.sender is not None and file == self.sender.fileno() else "receiver"
        connection = getattr(self, end)
        try:
            if events & select.EPOLLERR:
                self.told_of_acknowledgement(connection)
            opened = events & select.EPOLLOUT and not events & select.EPOLLHUP
            if self.phase == "opening" and end == self.opener == self.speaker(0) and opened:
                self.wait()
            self.read(end, connection)
            if self.phase == "sending" and end == self.speaker(self.at):
                self.push()
            self.look_at_end(end)
        except OSError:
            self.fail()

    def told_of_acknowledgement(self, connection: socket.socket) -> None:
        try:
            while True:
                connection.recvmsg(1, 512, socket.MSG_ERRQUEUE)
        except BlockingIOError:
            pass
        self.settle()

    def settle(self) -> None:
        """Goes on where all that the last train sent is acknowledged."""
        if self.phase == "settling":
            left = array.array("i", [0])
            fcntl.ioctl(getattr(self, self.speaker(self.at)), termios.TIOCOUTQ, left)
            if not left[0]:
                self.wait()

    def wait(self) -> None:
        self.phase = "waiting"
        if wait_ns := self.trains[self.at]["wait_ns"]:
            self.run.after(wait_ns, self.start_train)
        else:
            self.start_train()

    def start_train(self) -> None:
        if self.over:
            return
        train = self.trains[self.at]
        parts = [None] * len(train["parts"])
        self.record = {"train": self.at, "start_s": self.run.now, "end_s": None, "parts": parts}
        self.records.append(self.record)
        self.phase, self.allowed, self.handed, self.came = "sending", 0, 0, 0
        try:
            self.release()
        except OSError:
            self.fail()

    def release(self) -> None:
        """Hands the next packet of a paced train over, or all of another."""
        if self.over:
            return
        train = self.trains[self.at]
        self.allowed = train["bytes"]
        if train["pace_ns"]:
            released = self.record.get("released", 0) + self.run.settings["mss"]
            self.record["released"] = released
            self.allowed = min(released, train["bytes"])
            if self.allowed < train["bytes"]:
                self.run.after(train["pace_ns"], self.release_later)
        self.push()

    def release_later(self) -> None:
        try:
            self.release()
        except OSError:
            self.fail()

    def push(self) -> None:
        train, connection = self.trains[self.at], getattr(self, self.speaker(self.at))
        # Whole segments at a time, and no short one before the end of the train.
        most = len(CHUNK) // self.run.settings["mss"] * self.run.settings["mss"]
        is_last = self.at + 1 == len(self.trains)
        settles = not is_last and self.trains[self.at + 1]["forward"] == train["forward"]
        try:
            while self.handed < self.allowed:
                left = self.allowed - self.handed
                data = memoryview(CHUNK)[: min(left, most)]
                ends = self.handed + len(data) == train["bytes"]
                wanted = WANTED if settles and ends else []
                self.handed += connection.sendmsg([data], wanted, socket.MSG_MORE if left > most else 0)
        except BlockingIOError:
            return
        if is_last and train["forward"] and self.handed == train["bytes"] and self.run.settings["fin"]:
            # Nothing to wait for: the FIN follows the data.
            connection.shutdown(socket.SHUT_WR)

    def read(self, end: str, connection: socket.socket) -> None:
        while "fin_s" not in self.times or end == "sender":
            try:
                count = connection.recv_into(BUFFER)
            except BlockingIOError:
                return
            if not count:
                if end == "receiver" and self.phase == "closing":
                    self.times["fin_s"] = self.run.now
                    connection.shutdown(socket.SHUT_WR)
                return
            self.times.setdefault("first_data_s", self.run.now)
            self.received += count
            bound_again(connection, self.run.settings["window_bytes"], self.received)
            self.back += count if end == "sender" else 0
            self.has_come(count)

    def has_come(self, count: int) -> None:
        train = self.trains[self.at]
        self.came += count
        for place, (end, _) in enumerate(train["parts"]):
            if self.record["parts"][place] is None and self.came >= end:
                self.record["parts"][place] = self.run.now
        if self.came == train["bytes"]:
            self.end_train(train)

    def end_train(self, train: dict) -> None:
        self.record["end_s"] = self.run.now
        self.at += 1
        if self.at < len(self.trains):
            if self.trains[self.at]["forward"] == train["forward"]:
                self.phase = "settling"
                self.settle()
            else:
                self.wait()
            return
        self.phase = "closing"
        self.times["last_data_s"] = self.run.now
        if self.row["done"]:
            self.run.is_over(self)
        if self.run.settings["fin"] and not train["forward"]:
            self.sender.shutdown(socket.SHUT_WR)

    def look_at_end(self, end: str) -> None:
        """The connection has ended when the receiver's socket is closed: with the acknowledgement of its FIN."""
        if end == "receiver" and "fin_s" in self.times and info(self.receiver)["state"] == TCP_CLOSE:
            self.times["finish_s"] = self.run.now
            self.end()

    def told(self) -> dict:
        """As of a transfer, and the trains that began."""
        return super().told() | {"back_bytes": self.back, "trains": self.records}
