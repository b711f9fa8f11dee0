"""The recorded network: office clients, their router, the provider, and servers at several distances, as namespaces.

    c1..c6 --(lan bridge)-- router --up0== provider --delay line-- near | region | far | overseas
    10.10.0.11..16          10.10.0.1  192.0.2.0/30               203.0.113.x, 198.51.100.x

The access link is up0: each side shapes what it sends (tbf). The tap is on up0 in the router, so downstream packets are
seen after the provider's shaper and upstream packets after the router's. Everything leaves with `Network.close`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

INSIDE = "10.10.0.0/24"
UPLINK = "up0"
# One packet and a little, so that the shapers space packets as a serial line of their rate does.
BURST_BYTES = 2000
UNANSWERED = "198.51.100.99"
CLIENTS = {f"c{i}": f"10.10.0.{10 + i}" for i in range(1, 7)}


@dataclass(frozen=True)
class Server:
    """A server: address, and round-trip time of the delay line in front of it in ms."""

    address: str
    rtt_ms: float


SERVERS = {
    "near": Server("203.0.113.10", 12.0),
    "region": Server("198.51.100.20", 35.0),
    "far": Server("203.0.113.130", 80.0),
    "overseas": Server("198.51.100.140", 150.0),
}


@dataclass(frozen=True)
class AccessLink:
    """Rates in Mbit/s and buffers in bytes of the two shapers of the access link."""

    down_mbps: float = 20.0
    up_mbps: float = 10.0
    down_buffer_bytes: int = 150_000
    up_buffer_bytes: int = 75_000


def run(*command: str) -> str:
    """Run a command to its end and return its standard output; its error text is kept in the exception."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


@dataclass
class Network:
    """Namespaces named ``mayfly<pid>-<node>`` and the processes started in them."""

    link: AccessLink
    tag: str = field(default_factory=lambda: f"mayfly{os.getpid()}")
    nodes: list[str] = field(default_factory=list)
    processes: list[subprocess.Popen] = field(default_factory=list)
    directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="mayfly-record-")))
    starting: threading.Lock = field(default_factory=threading.Lock)
    closing: bool = False

    def namespace(self, node: str) -> str:
        """Name of the namespace of `node`."""
        return f"{self.tag}-{node}"

    def ip(self, node: str, command: str) -> None:
        """Run ``ip COMMAND`` inside `node`."""
        run("ip", "-n", self.namespace(node), *command.split())

    def start(self, node: str, *command: str, **options) -> subprocess.Popen:
        """Start a program inside `node`; it is ended by `close` at the latest.

        Raises
        ------
        RuntimeError
            When the network is closing already.
        """
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
        inside = ["ip", "netns", "exec", self.namespace(node), *command]
        # Own session: a Ctrl-C reaches this process only, which then ends the others in order.
        with self.starting:
            if self.closing:
                raise RuntimeError(f"{command[0]} in {node}: not started, the network is closing")
            process = subprocess.Popen(inside, cwd=self.directory, start_new_session=True, **options)
            self.processes.append(process)
        return process

    def open(self) -> None:
        """Create all nodes, links, addresses, routes, shapers and delay lines."""
        for node in ["router", "provider", *CLIENTS, *SERVERS]:
            run("ip", "netns", "add", self.namespace(node))
            self.nodes.append(node)
            self.ip(node, "link set lo up")
            # IPv4 only; packets are not to be merged into larger ones anywhere.
            self.sysctl(node, "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
        for node in ("router", "provider"):
            self.sysctl(node, "net.ipv4.ip_forward=1")
        self.open_lan()
        self.open_uplink()
        self.open_delay_lines()

    def sysctl(self, node: str, *settings: str) -> None:
        """Apply kernel settings inside `node` only."""
        run("ip", "netns", "exec", self.namespace(node), "sysctl", "-q", "-w", *settings)

    def plain_packets(self, node: str, device: str) -> None:
        """Turn off offloads, so that the tap sees packets of at most one MSS with valid checksums."""
        offloads = [word for name in ("tso", "gso", "gro", "tx", "rx") for word in (name, "off")]
        run("ip", "netns", "exec", self.namespace(node), "ethtool", "-K", device, *offloads)

    def open_lan(self) -> None:
        """Connect the clients to the router's bridge."""
        self.ip("router", "link add lan type bridge")
        self.ip("router", "addr add 10.10.0.1/24 dev lan")
        self.ip("router", "link set lan up")
        for client, address in CLIENTS.items():
            self.ip(client, f"link add eth0 type veth peer name port-{client} netns {self.namespace('router')}")
            self.ip("router", f"link set port-{client} master lan up")
            self.ip(client, "link set eth0 up")
            self.ip(client, f"addr add {address}/24 dev eth0")
            self.ip(client, "route add default via 10.10.0.1 congctl cubic")
            self.plain_packets(client, "eth0")
            self.plain_packets("router", f"port-{client}")

    def open_uplink(self) -> None:
        """Connect router and provider, and shape both directions of the link between them."""
        self.ip("router", f"link add {UPLINK} type veth peer name down0 netns {self.namespace('provider')}")
        sides = (
            ("router", UPLINK, 2, self.link.up_mbps, self.link.up_buffer_bytes),
            ("provider", "down0", 1, self.link.down_mbps, self.link.down_buffer_bytes),
        )
        for node, device, host, rate_mbps, buffer_bytes in sides:
            self.ip(node, f"link set {device} address 02:00:c0:00:02:{host:02x}")
            self.ip(node, f"addr add 192.0.2.{host}/30 dev {device}")
            self.ip(node, f"link set {device} up")
            self.plain_packets(node, device)
            shaper = f"tbf rate {rate_mbps}mbit burst {BURST_BYTES} limit {buffer_bytes}"
            run("tc", "-n", self.namespace(node), "qdisc", "add", "dev", device, "root", *shaper.split())
        self.ip("router", "route add default via 192.0.2.1")
        self.ip("provider", f"route add {INSIDE} via 192.0.2.2")
        self.ip("provider", f"route add blackhole {UNANSWERED}/32")

    def open_delay_lines(self) -> None:
        """Put each server behind a delay line of half its round-trip time in each direction."""
        lines = [f"to-{name}:wan-{name}:{server.rtt_ms / 2}" for name, server in SERVERS.items()]
        program = str(Path(__file__).with_name("delay_line.py"))
        delays = self.start("provider", sys.executable, program, *lines, stdout=subprocess.PIPE, text=True)
        if delays.stdout.readline() != "ready\n":
            raise RuntimeError(f"delay line: did not start, exit status {delays.wait()}")
        for name, server in SERVERS.items():
            self.ip("provider", f"link set wan-{name} netns {self.namespace(name)}")
            self.ip(name, f"addr add {server.address}/32 dev wan-{name}")
            for node, device in (("provider", f"to-{name}"), (name, f"wan-{name}")):
                self.ip(node, f"link set {device} mtu 1500 txqueuelen 2000 up")
            self.ip("provider", f"route add {server.address}/32 dev to-{name}")
            self.ip(name, f"route add default dev wan-{name} congctl cubic")

    def drops(self) -> tuple[int, int]:
        """Packets dropped by the shapers, down and up.

        Raises
        ------
        RuntimeError
            When a delay line lost packets: losses are to happen on the access link only.
        """
        for name in SERVERS:
            for node, device in (("provider", f"to-{name}"), (name, f"wan-{name}")):
                shown = run("ip", "-n", self.namespace(node), "-s", "-j", "link", "show", device)
                counters = json.loads(shown)[0]["stats64"]
                lost = counters["tx"]["dropped"] + counters["rx"]["dropped"]
                if lost:
                    raise RuntimeError(f"delay line {device}: lost {lost} packets: must be 0")
        sides = (("provider", "down0"), ("router", UPLINK))
        shown = [run("tc", "-n", self.namespace(node), "-s", "-j", "qdisc", "show", "dev", dev) for node, dev in sides]
        down, up = (next(row["drops"] for row in json.loads(text) if row["kind"] == "tbf") for text in shown)
        return down, up

    def close(self) -> None:
        """End every process inside the namespaces and delete them; safe to call at any stage of `open`."""
        with self.starting:
            self.closing = True
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for node in self.nodes:
            # Children of what was started here (nginx workers, rsync daemons) live in these namespaces only.
            listing = subprocess.run(["ip", "netns", "pids", self.namespace(node)], check=False, capture_output=True)
            if listing.stdout:
                subprocess.run(["kill", "-9", *listing.stdout.split()], check=False, capture_output=True)
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.directory)
        deletions = [["ip", "netns", "del", self.namespace(node)] for node in self.nodes]
        left = [words[-1] for words in deletions if subprocess.run(words, check=False).returncode != 0]
        if left:
            raise RuntimeError(f"namespaces left behind: {' '.join(left)}")
