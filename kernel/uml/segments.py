"""One TCP flow over a link that drops, delays and marks the packets it is told to, in the kernel: what went over it.

    client ── forwarder ── server

Hosts are namespaces, the forwarder is this process: it takes raw frames off one veth pair and puts them on the other
when their transmission and propagation are over. It also is both programs at the ends. In virtual time programs take
none, so that a packet is seen at the instant its host sends it, and comes at the instant it is due, to the nanosecond.

The link to the server has a rate and is FIFO without bound; a packet without payload takes the time of a header of the
length that data has. The link back has no rate. Impairments happen behind the transmission.
"""

import ctypes
import fcntl
import heapq
import os
import re
import select
import socket
import struct
import termios
import time
from pathlib import Path

from namespaces import add_namespace, enter, shell, switch_offloads_off

ETH_P_IP, ETHERNET, IP_HEADER, TCP_HEADER, TIMESTAMPS = 0x0800, 14, 20, 20, 12
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
BUFFER_BYTES = 16 << 20  # of both ends: never what bounds the flow
ETHTOOL_STXCSUM, ETHTOOL_SRXCSUM = 0x17, 0x15
SIOCETHTOOL = 0x8946
CLOCK_MONOTONIC, TFD_NONBLOCK, TFD_TIMER_ABSTIME = 1, 0o4000, 1
FIN, SYN, RST, ACK = 1, 2, 4, 16
FORWARD, BACK = 0, 1
CE, NOT_ECT = 3, 0
HOSTS = ("client", "server")
ADDRESSES = ("10.0.0.1", "10.0.0.2")
PORT, FIRST_PORT = 5001, 10_000
WHEEL = 4096  # jiffies: the grain of timers of four minutes at 1000 a second, and all shorter ones' too
SECOND = 1_000_000_000
INFO_BYTES = 232
INFO = {
    "ca_state": (1, "B"),
    "retransmits": (2, "B"),
    "backoff": (4, "B"),
    "rto_us": (8, "I"),
    "unacked": (24, "I"),
    "sacked": (28, "I"),
    "lost": (32, "I"),
    "retrans": (36, "I"),
    "srtt_us": (68, "I"),
    "rttvar_us": (72, "I"),
    "ssthresh": (76, "I"),
    "cwnd": (80, "I"),
    "reordering": (88, "I"),
    "total_retrans": (100, "I"),
    "pacing_rate_Bps": (104, "Q"),
    "min_rtt_us": (148, "I"),
    "delivered": (192, "I"),
    "delivered_ce": (196, "I"),
    "dsack_dups": (216, "I"),
    "reord_seen": (220, "I"),
}
"""Fields of struct tcp_info (linux/tcp.h): offset and type."""
PACKET = (
    "time_ns",
    "direction",
    "seq",
    "bytes",
    "ack",
    "flags",
    "window",
    "tsval",
    "tsecr",
    "sack",
    "ecn",
    "fate",
    "arrival_ns",
)
"""Columns of a trace."""

libc = ctypes.CDLL(None, use_errno=True)


class Alarm:
    """A timer that is exact; those of select() and sleep() may be late by the timer slack."""

    def __init__(self) -> None:
        self.file = libc.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)

    def at(self, instant_ns: int) -> None:
        spec = struct.pack("qqqq", 0, 0, *divmod(max(instant_ns, 1), SECOND))
        if libc.timerfd_settime(self.file, TFD_TIMER_ABSTIME, spec, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime")


class Ticks:
    """The kernel's jiffies: where the wheel that its timers are on stands."""

    def __init__(self, hz: int):
        shown = Path("/proc/timer_list").read_text()
        now_ns, jiffies = (int(re.search(rf"{name}:? (?:at )?(\d+)", shown)[1]) for name in ("now", "jiffies"))
        self.tick_ns = SECOND // hz
        self.before = jiffies - now_ns // self.tick_ns

    def aligned(self, instant_ns: int) -> int:
        """The first instant from then on that begins a turn of `WHEEL` jiffies.

        All patterns see the same of a timer that is coarse.
        """
        jiffy = instant_ns // self.tick_ns + self.before
        return (-(-jiffy // WHEEL) * WHEEL - self.before) * self.tick_ns


def set_up(mtu: int) -> list[socket.socket]:
    """Both hosts; the packet sockets at the forwarder's ends of their links."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    for name in HOSTS:
        add_namespace(name)
    libc.setns(home, 0)
    macs = [f"02:00:00:00:00:0{number + 1}" for number in range(2)]
    taps = []
    for number, name in enumerate(HOSTS):
        shell(f"ip link add to_{name} mtu {mtu} type veth peer name out netns {name} address {macs[number]} mtu {mtu}")
        shell(f"ip link set to_{name} up")
        shell(f"ip -n {name} link set out up")
        shell(f"ip -n {name} addr add {ADDRESSES[number]}/24 dev out")
        shell(f"ip -n {name} neigh add {ADDRESSES[1 - number]} lladdr {macs[1 - number]} dev out nud permanent")
    for name in HOSTS:
        switch_offloads_off(name, "out")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            for command in (ETHTOOL_STXCSUM, ETHTOOL_SRXCSUM):
                value = ctypes.create_string_buffer(struct.pack("=II", command, 0), 8)
                fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP", b"out", ctypes.addressof(value)))
    libc.setns(home, 0)
    for name in HOSTS:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(ETH_P_IP))
        tap.bind((f"to_{name}", ETH_P_IP))
        for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
            tap.setsockopt(socket.SOL_SOCKET, option, 64 << 20)
        taps.append(tap)
    return taps


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Segment:
    """A frame with a TCP segment, its numbers as they stand in it."""

    def __init__(self, frame: bytes):
        self.frame = frame
        ip = frame[ETHERNET:]
        self.ecn = ip[1] & 3
        (total,) = struct.unpack_from("!H", ip, 2)
        tcp = ip[(ip[0] & 15) * 4 : total]
        self.seq, self.ack, offset, self.flags, self.window = struct.unpack_from("!IIBBH", tcp, 4)
        header = (offset >> 4) * 4
        self.bytes = len(tcp) - header
        self.tsval = self.tsecr = None
        self.sack: list[int] = []
        options = tcp[TCP_HEADER:header]
        while options and options[0]:
            if options[0] == 1:
                options = options[1:]
                continue
            kind, length = options[0], options[1]
            if kind == 8:
                self.tsval, self.tsecr = struct.unpack_from("!II", options, 2)
            elif kind == 5:
                self.sack = list(struct.unpack_from(f"!{(length - 2) // 4}I", options, 2))
            options = options[length:]

    def mark(self) -> None:
        """Sets CE, where the packet may carry it."""
        if self.ecn == NOT_ECT:
            return
        head = bytearray(self.frame[ETHERNET : ETHERNET + IP_HEADER])
        head[1] |= CE
        head[10:12] = bytes(2)
        head[10:12] = checksum(head).to_bytes(2, "big")
        self.frame = self.frame[:ETHERNET] + bytes(head) + self.frame[ETHERNET + IP_HEADER :]


class Flow:
    """One pattern: a connection of its own, and the trace of its packets."""

    def __init__(self, run: "Run", pattern: dict, number: int):
        self.run, self.pattern = run, pattern
        self.port = FIRST_PORT + number
        self.mss = run.mtu - IP_HEADER - TCP_HEADER - (TIMESTAMPS if pattern["timestamps"] else 0)
        self.size = pattern["segments"] * self.mss
        self.zero_ns = 0
        self.initial: list[int | None] = [None, None]
        self.stamps: list[int | None] = [None, None]
        self.packets: list[list] = []
        self.infos: list[list] = []
        self.transmissions: dict[int, int] = {}
        self.acks = 0
        self.pending: list[tuple[int, int, int, bytes]] = []
        self.free_ns = 0
        self.left = 0
        self.received = 0
        self.client = self.server = None

    def go(self) -> dict:
        self.begin()
        deadline_ns = self.zero_ns + round(self.pattern["limit_s"] * SECOND)
        finished = False
        while not finished and self.run.now < deadline_ns:
            instant = min(self.pending[0][0] if self.pending else deadline_ns, deadline_ns)
            self.run.wait(instant)
            self.take()
            self.serve()
            while self.pending and self.pending[0][0] <= self.run.now:
                _, _, direction, frame = heapq.heappop(self.pending)
                self.run.taps[1 - direction].send(frame)
                self.take()
                self.serve()
                self.look()
            finished = not self.left and not self.pending and not self.queued()
        told = {
            "id": self.pattern["id"],
            "zero_ns": self.zero_ns,
            "mss": self.mss,
            "bytes": self.size,
            "received_bytes": self.received,
            "finished": finished,
            "packets": self.packets,
            "info": self.infos,
        }
        self.end()
        return told

    def begin(self) -> None:
        pattern, run = self.pattern, self.run
        for name in HOSTS:
            enter(name)
            for key, value in run.sysctl(pattern).items():
                Path(f"/proc/sys/{key.replace('.', '/')}").write_text(str(value))
        enter("server")
        self.listener = socket.socket()
        if not pattern["tuned"]:
            self.listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        self.listener.bind(("", self.port))
        self.listener.listen(1)
        self.listener.setblocking(False)
        enter("client")
        self.client = socket.socket()
        self.client.setblocking(False)
        for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
            self.client.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, pattern["congestion"].encode())
        self.client.bind((ADDRESSES[0], self.port))
        self.left = self.size
        self.zero_ns = run.ticks.aligned(run.now + SECOND)
        run.wait(self.zero_ns)
        for tap in run.taps:
            drain(tap)
        self.client.connect_ex((ADDRESSES[1], self.port))
        self.take()

    def end(self) -> None:
        for one in (self.client, self.server, self.listener):
            if one is not None:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.close()
        for tap in self.run.taps:
            drain(tap)

    def queued(self) -> int:
        """Bytes of the client that are not acknowledged."""
        return struct.unpack("i", fcntl.ioctl(self.client, termios.TIOCOUTQ, bytes(4)))[0]

    def serve(self) -> None:
        """What the programs at both ends do now: the server reads, the client hands over all it has."""
        if self.server is None:
            try:
                self.server, _ = self.listener.accept()
                self.server.setblocking(False)
            except BlockingIOError:
                pass
        if self.server is not None:
            try:
                while count := self.server.recv_into(self.run.buffer):
                    self.received += count
                    self.take()
            except BlockingIOError:
                pass
        try:
            while self.left:
                self.left -= self.client.send(memoryview(self.run.zeros)[: self.left])
        except OSError as error:
            if not isinstance(error, BlockingIOError) and self.transmissions.get(1):
                raise
        self.take()

    def take(self) -> None:
        """Takes the packets that the hosts have sent."""
        for direction in (FORWARD, BACK):
            sent = 0
            for frame in drain(self.run.taps[direction]):
                self.pass_on(direction, Segment(frame))
                sent += 1
            if sent and direction == FORWARD:
                self.look()

    def pass_on(self, direction: int, segment: Segment) -> None:
        now = self.run.now
        if segment.flags & SYN:
            self.initial[direction] = segment.seq
        if self.stamps[direction] is None:
            self.stamps[direction] = segment.tsval
        if direction == FORWARD:
            length = self.run.mtu - self.mss + segment.bytes
            self.free_ns = max(now, self.free_ns) + length * 8 * SECOND // self.run.rate_bps
            arrival = self.free_ns + self.run.delay_ns
        else:
            arrival = now + self.run.delay_ns
        fate = "passed"
        for rule in self.matching(direction, segment, arrival - self.zero_ns):
            if rule["do"] == "drop":
                fate = "dropped"
            elif rule["do"] == "mark":
                segment.mark()
                fate = fate if segment.ecn == NOT_ECT else "marked"
            elif rule["do"] == "delay":
                arrival += round(rule["by_s"] * SECOND)
                fate = "delayed"
            elif rule["do"] == "hold":
                arrival = max(arrival, self.zero_ns + round(rule["to_s"] * SECOND))
                fate = "delayed"
            if fate == "dropped":
                break
        self.note(now, direction, segment, fate, arrival)
        if fate != "dropped":
            heapq.heappush(self.pending, (arrival, len(self.packets), direction, segment.frame))

    def matching(self, direction: int, segment: Segment, arrival_ns: int) -> list[dict]:
        """Impairments of a packet that would come at an instant."""
        number = transmission = None
        if direction == FORWARD and (segment.bytes or segment.flags & SYN):
            number = 0 if segment.flags & SYN else self.behind(segment.seq, FORWARD) // self.mss + 1
            transmission = self.transmissions[number] = self.transmissions.get(number, 0) + 1
        elif direction == BACK:
            number = self.acks
            self.acks += 1
        found = []
        for rule in self.pattern["impairments"]:
            if rule["direction"] != ("data", "ack")[direction]:
                continue
            if "segment" in rule:
                hit = (rule["segment"], rule["transmission"]) == (number, transmission)
            elif "ack" in rule:
                hit = rule["ack"] == number
            else:
                hit = rule["from_s"] * SECOND <= arrival_ns < rule["to_s"] * SECOND
            if hit:
                found.append(rule)
        return found

    def behind(self, seq: int, direction: int) -> int:
        """Bytes of payload before a sequence number."""
        return (seq - (self.initial[direction] or 0) - 1) & 0xFFFFFFFF

    def note(self, now: int, direction: int, segment: Segment, fate: str, arrival: int) -> None:
        other = 1 - direction

        def stamp(value: int | None, of: int) -> int | None:
            return None if value is None or self.stamps[of] is None else (value - self.stamps[of]) & 0xFFFFFFFF

        syn = bool(segment.flags & SYN)
        self.packets.append(
            [
                now - self.zero_ns,
                direction,
                0 if syn else self.behind(segment.seq, direction),
                segment.bytes,
                self.behind(segment.ack, other) if segment.flags & ACK else None,
                segment.flags,
                segment.window,
                stamp(segment.tsval, direction),
                stamp(segment.tsecr, other) if segment.tsecr else None,
                [self.behind(edge, other) for edge in segment.sack],
                segment.ecn,
                fate,
                None if fate == "dropped" else arrival - self.zero_ns,
            ]
        )

    def look(self) -> None:
        """Keeps the state of the sender, with the number of packets so far, where it has changed."""
        raw = self.client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
        row = [struct.unpack_from(f"={kind}", raw, offset)[0] for offset, kind in INFO.values()]
        if not self.infos or self.infos[-1][2:] != row:
            self.infos.append([self.run.now - self.zero_ns, len(self.packets), *row])


def drain(tap: socket.socket) -> list[bytes]:
    frames = []
    try:
        while True:
            frame, (_, _, kind, *_) = tap.recvfrom(1 << 16)
            if kind != socket.PACKET_OUTGOING:
                frames.append(frame)
    except BlockingIOError:
        return frames


class Run:
    """What all patterns of a boot share."""

    def __init__(self, settings: dict):
        self.mtu = settings["mtu"]
        self.rate_bps, self.delay_ns = settings["rate_bps"], round(settings["delay_s"] * SECOND)
        self.taps = set_up(self.mtu)
        self.alarm = Alarm()
        self.ticks = Ticks(settings["hz"])
        self.receive_memory = settings["receive_memory"]
        self.poll = select.epoll()
        for one in (*(tap.fileno() for tap in self.taps), self.alarm.file):
            self.poll.register(one, select.EPOLLIN)
        self.now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.buffer, self.zeros = bytearray(1 << 20), bytes(1 << 20)

    def wait(self, instant_ns: int) -> None:
        """Until then, or until a host sends something; sets `now`.

        Each reading of the clock moves the guest's time on by 256 ns.
        """
        if instant_ns <= self.now:
            return
        self.alarm.at(instant_ns)
        for file, _ in self.poll.poll():
            if file == self.alarm.file:
                os.read(file, 8)
        self.now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def sysctl(self, pattern: dict) -> dict[str, object]:
        return {
            # What a host with some GB has: the kernel takes less where the guest's memory is small.
            "net.ipv4.tcp_rmem": f"4096 131072 {self.receive_memory}",
            "net.ipv4.tcp_no_metrics_save": 1,
            "net.ipv4.tcp_sack": int(pattern["sack"]),
            "net.ipv4.tcp_timestamps": int(pattern["timestamps"]),
            "net.ipv4.tcp_ecn": int(pattern["ecn"]),
        }


def run(settings: dict) -> dict:
    """Patterns, one after the other.

    Parameters
    ----------
    settings : dict
        ``rate_bps``, ``delay_s`` (one way), ``mtu``, ``hz`` (ticks a second of this kernel),
        ``receive_memory`` (``tcp_rmem[2]``, bytes); ``patterns``, each with
        ``id``, ``congestion`` (Linux's name), ``sack``, ``timestamps``, ``ecn``, ``tuned`` (the kernel chooses the
        receiver's buffer), ``segments`` (of payload), ``limit_s``, ``impairments``.
        An impairment has ``direction`` (``data`` or ``ack``), what it does (``do``: ``drop``, ``mark``, ``delay``
        with ``by_s``, ``hold``), and whom it meets: ``segment`` (from 1; 0 is the SYN) and ``transmission`` (from 1),
        or ``ack`` (number of the packet back, 0 is the SYN-ACK), or all that would come between ``from_s`` and
        ``to_s`` after the SYN was sent. What is held comes at ``to_s``.

    Returns
    -------
    dict
        ``kernel``; ``columns`` of the packets, ``info`` of the states (after time and count of packets);
        ``patterns``: rows with ``id``, ``mss``, ``bytes``, ``finished``, ``packets``, ``info``. Sequence and
        acknowledgement numbers are bytes of payload before, timestamps are since the first of that end, times
        nanoseconds since the SYN.
    """
    shared = Run(settings)
    rows = [Flow(shared, pattern, number).go() for number, pattern in enumerate(settings["patterns"])]
    return {
        "kernel": os.uname().release,
        "columns": PACKET,
        "info": ("time_ns", "packets", *INFO),
        "patterns": rows,
    }
