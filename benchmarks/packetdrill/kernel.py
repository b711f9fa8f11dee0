"""The kernel this runs in as a back end: system calls are its own, and packets go through a TUN device.

As in packetdrill the device takes super-packets (TSO). Runs as root in a network namespace of its own, in a kernel
whose clock is virtual: nothing here polls, and computing takes no time.
"""

import ctypes
import errno
import fcntl
import os
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from packetdrill import wire
from packetdrill.play import RefusedError, Sent
from packetdrill.script import Call, Command, Packet, Script

LOCAL, REMOTE = "192.168.0.1", "192.0.2.1"
PORT, FIRST_PORT = 8080, 53055
VNET_BYTES = 10
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
OFFLOADS = 0x01 | 0x02 | 0x08  # checksums, TSO over IPv4, also with ECN
NEEDS_CSUM, GSO_TCPV4, GSO_ECN = 1, 1, 0x80
CLONE_NEWNET = 0x40000000
PATIENCE_S = 5
"""How long a call that is not to block may take."""

NAMES = {
    **{
        "SO_MEMINFO": 55,
        "TCP_INFO": 11,
        "TCP_MAXSEG": 2,
        "TCP_INQ": 36,
        "SOL_IP": 0,
        "SOL_TCP": 6,
        "IP_MTU_DISCOVER": 10,
    },
    **{"IP_PMTUDISC_DONT": 0, "TCP_FASTOPEN": 23, "TCP_USER_TIMEOUT": 18, "SIOCINQ": termios.FIONREAD},
    **{"O_RDWR": os.O_RDWR, "O_NONBLOCK": os.O_NONBLOCK, "F_SETFL": fcntl.F_SETFL, "F_GETFL": fcntl.F_GETFL},
}
"""Symbols that Python's socket module does not have everywhere."""

INFO = "6BxB24I4Q6I4Q2I2Q6I2H8I"
FIELDS = (
    *("state", "ca_state", "retransmits", "probes", "backoff", "options", "delivery_rate_app_limited"),
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent"),
    *("last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh"),
    *("snd_cwnd", "advmss", "reordering", "rcv_rtt", "rcv_space", "total_retrans", "pacing_rate", "max_pacing_rate"),
    *("bytes_acked", "bytes_received", "segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in"),
    *("data_segs_out", "delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited", "delivered", "delivered_ce"),
    *("bytes_sent", "bytes_retrans", "dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash"),
    *("total_rto", "total_rto_recoveries", "total_rto_time", "received_ce", "delivered_e1_bytes", "delivered_e0_bytes"),
    *("delivered_ce_bytes", "received_e1_bytes", "received_e0_bytes", "received_ce_bytes"),
)
"""Of ``struct tcp_info``, by offset of the format `INFO`; a kernel gives as many as it knows."""
MEMORY = ("RMEM_ALLOC", "RCVBUF", "WMEM_ALLOC", "SNDBUF", "FWD_ALLOC", "WMEM_QUEUED", "OPTMEM", "BACKLOG", "DROPS")

libc = ctypes.CDLL(None, use_errno=True)


def shell(command: str) -> None:
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")


def device(mtu: int) -> int:
    """The TUN device tun0, up, with routes through it."""
    node = Path("/dev/net/tun")
    if not node.exists():
        node.parent.mkdir(exist_ok=True)
        os.mknod(node, 0o600 | 0o020000, os.makedev(10, 200))
    tun = os.open(node, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(tun, TUNSETOFFLOAD, OFFLOADS)
    shell("ip link set lo up")
    shell(f"ip address add {LOCAL}/16 dev tun0")
    shell(f"ip link set tun0 mtu {mtu} up")
    shell("ip route add default dev tun0")
    return tun


class Kernel:
    """The host that runs it, in a namespace of its own.

    Parameters
    ----------
    script : Script
        What will be played.
    folder : Path
        Folder of the script, where its commands run.
    common : Path
        Folder with ``defaults.sh``.
    """

    unchecked: frozenset[str] = frozenset()
    whole = False

    def __init__(self, script: Script, folder: Path, common: Path) -> None:
        self.folder, self.common = folder, common
        self.mss = int(script.options.get("mss") or 0)
        self.tun = device(int(script.options.get("mtu") or 1500))
        self.sent: deque[tuple[float, bytes]] = deque()
        self.sockets: dict[int, socket.socket] = {}
        self.under_test: socket.socket | None = None
        self.started = time.monotonic()
        self.opens = False
        # A SYN that comes is that of another connection.
        self.fresh = False
        # Of the connection under test: our port, the other end's, and the initial numbers.
        self.own_port, self.peer_port, self.peer_isn = PORT, FIRST_PORT, 0
        self.isn: int | None = None
        self.thread: threading.Thread | None = None
        self.outcome: tuple[float, Any, str | None] | None = None

    # Time.

    def now_us(self) -> float:
        return (time.monotonic() - self.started) * 1e6

    def advance(self, until_us: float) -> None:
        while (left := until_us - self.now_us()) > 0.5:
            self.wait(left)

    def wait(self, left_us: float) -> None:
        """Waits for a packet at most so long, and takes all there are."""
        if select.select([self.tun], [], [], max(left_us, 0) / 1e6)[0]:
            self.drain()

    def drain(self) -> None:
        while True:
            try:
                data = os.read(self.tun, 1 << 17)
            except BlockingIOError:
                return
            self.sent.append((self.now_us(), data[VNET_BYTES:]))

    def next_sent(self, until_us: float) -> Sent | None:
        self.drain()
        while True:
            while self.sent:
                time_us, data = self.sent.popleft()
                if self.is_own(data):
                    return wire.decoded(data, time_us, self.isn or 0, self.peer_isn)
            left = until_us - self.now_us()
            if left <= 0.5:
                return None
            self.wait(left)

    def is_own(self, data: bytes) -> bool:
        """Whether a packet is of the connection under test, whose first one tells its initial number."""
        ports = wire.ports(data)
        if ports is None:
            return False
        start = (data[0] & 15) * 4
        seq, syn = struct.unpack_from("!I", data, start + 4)[0], data[start + 13] & 2
        if self.opens and syn and ports[1] == PORT:
            if ports[0] != self.own_port or self.isn is None:
                self.own_port, self.peer_port, self.isn = ports[0], PORT, seq
            return True
        if ports != (self.own_port, self.peer_port):
            return False
        if syn:
            self.isn = seq
        return True

    # Packets.

    def inject(self, packet: Packet, stamp: int | None) -> None:
        if "S" in packet.flags:
            if "." not in packet.flags and self.fresh:
                self.peer_port, self.isn, self.fresh = self.peer_port + 1, None, False
            self.peer_isn = packet.seq
        ends = ((socket.inet_aton(REMOTE), self.peer_port), (socket.inet_aton(LOCAL), self.own_port))
        self.drain()
        for _, data in self.sent:
            self.is_own(data)
        data = wire.encoded(packet, ends, self.isn or 0, stamp)
        header = bytes(VNET_BYTES)
        if self.mss and packet.length > self.mss:
            start = len(data) - packet.length
            ecn = GSO_ECN if "W" in packet.flags else 0
            header = struct.pack("=BBHHHH", NEEDS_CSUM, GSO_TCPV4 | ecn, start, self.mss, 20, 16)
        os.write(self.tun, header + data)
        self.drain()

    # System calls.

    def call(self, call: Call) -> tuple[Any, str | None]:
        if call.end_us is None:
            return self.bounded(call)
        self.outcome = None

        def blocked() -> None:
            result, error = self.made(call)
            self.outcome = (self.now_us(), result, error)

        self.thread = threading.Thread(target=blocked, daemon=True)
        self.thread.start()
        time.sleep(0)
        return None, None

    def returned(self) -> tuple[float, Any, str | None] | None:
        return self.outcome

    def bounded(self, call: Call) -> tuple[Any, str | None]:
        """A call that must not block for long."""

        def late(*_: object) -> None:
            raise TimeoutError

        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
        try:
            return self.made(call)
        except TimeoutError:
            return None, "none: it blocks"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def made(self, call: Call) -> tuple[Any, str | None]:
        try:
            return self.system_call(call), None
        except TimeoutError as error:
            if error.errno is None:
                raise
            return -1, errno.errorcode[error.errno]
        except OSError as error:
            return -1, errno.errorcode[error.errno or 0]

    def system_call(self, call: Call) -> Any:
        arguments = call.arguments
        if call.name == "socket":
            made = socket.socket(socket.AF_INET, number(arguments[1]))
            self.sockets[call.result] = made
            self.under_test = None
            self.opens = False
            return call.result
        own = self.sockets[arguments[0]]
        match call.name:
            case "bind":
                own.bind((LOCAL, PORT))
            case "listen":
                own.listen(arguments[1])
                self.fresh, self.own_port = True, PORT
            case "accept":
                other, _ = own.accept()
                self.sockets[call.result] = self.under_test = other
                self.fresh = True
                return call.result
            case "connect":
                self.opens, self.under_test, self.isn, self.peer_isn = True, own, None, 0
                own.connect((REMOTE, PORT))
            case "read" | "recv":
                return len(own.recv(arguments[2], *map(number, arguments[3:])))
            case "write" | "send":
                return own.send(bytes(arguments[2]), *map(number, arguments[3:]))
            case "shutdown":
                own.shutdown(number(arguments[1]))
            case "close":
                own.close()
            case "fcntl":
                found = fcntl.fcntl(own, number(arguments[1]), *map(number, arguments[2:]))
                return call.result if arguments[1] == "F_GETFL" and found >= 0 else found
            case "ioctl":
                data = fcntl.ioctl(own, number(arguments[1]), bytes(4))
                if [struct.unpack("i", data)[0]] != arguments[2]:
                    return list(struct.unpack("i", data))
            case "setsockopt":
                _, level, name, value, length = arguments
                if isinstance(value, dict):
                    data = struct.pack("ii", value["onoff"], value["linger"])
                elif isinstance(value, list):
                    data = struct.pack("i", number(value[0]))[:length]
                else:
                    data = value.encode()
                own.setsockopt(number(level), number(name), data)
            case "getsockopt":
                _, level, name, value, *_ = arguments
                found = own.getsockopt(number(level), number(name))
                if [found] != [number(part) for part in value]:
                    return [found]
            case _:
                raise RefusedError(f"the system call {call.name}")
        return 0

    # The host.

    def command(self, command: Command) -> None:
        text = re.sub(r"(\.\./)+common/|\./(?=defaults\.sh|set_sysctls\.py)", f"{self.common}/", command.text)
        # The root is read-only, and settings end with the namespace.
        text = re.sub(r"\S*set_sysctls\.py((?:\s+\\?\n?\s*/proc\S+)+)", restated, text)
        text = re.sub(r"/tmp/sysctl_restore_\S+", "true", text)
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            env={**os.environ, "NSTAT_HISTORY": "/run/nstat"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RefusedError(f"the command {text.strip().splitlines()[-1].strip()}: {done.stderr.strip()[-200:]}")
        self.started = self.started if self.sockets else time.monotonic()

    def info(self) -> dict[str, Any]:
        if self.under_test is None or self.under_test.fileno() < 0:
            return {}
        data = self.under_test.getsockopt(socket.IPPROTO_TCP, NAMES["TCP_INFO"], 512)
        found: dict[str, Any] = {"tcpi_snd_wscale": data[6] & 15, "tcpi_rcv_wscale": data[6] >> 4}
        values = struct.unpack(INFO, data[: struct.calcsize(INFO)].ljust(struct.calcsize(INFO), b"\0"))
        whole = known(len(data))
        found |= {f"tcpi_{name}": value for name, value in list(zip(FIELDS, values, strict=True))[:whole]}
        found["tcpi_delivery_rate_app_limited"] &= 1
        memory = self.under_test.getsockopt(socket.SOL_SOCKET, NAMES["SO_MEMINFO"], 4 * len(MEMORY))
        counts = struct.unpack(f"{len(memory) // 4}I", memory)
        return found | {f"SK_MEMINFO_{name}": value for name, value in zip(MEMORY, counts, strict=False)}


def known(length: int) -> int:
    """How many fields of `FIELDS` there are in the first bytes of ``struct tcp_info``."""
    codes = [code for count, code in re.findall(r"(\d*)([BIQHx])", INFO) for _ in range(int(count or 1))]
    count = 0
    for end in range(1, len(codes) + 1):
        if struct.calcsize("".join(codes[:end])) <= length:
            count = sum(code != "x" for code in codes[:end])
    return count


def restated(found: re.Match[str]) -> str:
    """``set_sysctls.py FILE=VALUE...`` as commands that write them."""
    pairs = re.findall(r"(/proc\S+?)=(\S+)", found[1])
    return " && ".join(f"echo {value} > {path}" for path, value in pairs)


def number(value: Any) -> int:
    """A value of a system call, whose words are symbols."""
    if isinstance(value, tuple):
        return sum(map(number, value))
    if isinstance(value, int):
        return value
    return int(NAMES[value] if value in NAMES else getattr(socket, value))


def kernel(folder: Path, common: Path) -> Callable[[Script], Kernel]:
    """The back end, for a script of that folder."""
    return lambda script: Kernel(script, folder, common)


def isolated() -> None:
    """A network namespace of its own for this process."""
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
