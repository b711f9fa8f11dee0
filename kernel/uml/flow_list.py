"""A flow list over a network, in the kernel: `run` sets it up, opens every flow at its time, watches the queues.

One process has the sockets of all hosts, and waits for all of them at once: a socket stays in the namespace in which it
was made. Times are those of CLOCK_MONOTONIC, which all namespaces share, in seconds since the start of the run. With
``time-travel=inf-cpu`` processes take no time: an event is seen when it happens.
"""

import ctypes
import heapq
import json
import os
import resource
import select
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import interfaces
from datagrams import Udp
from flow_sockets import Tcp, listener
from namespaces import enter, shell
from network import Host, Network
from scripts import Script

LEAD_NS = 10**9  # between the set-up and the start of the run, at least
TFD_TIMER_ABSTIME = 1
MOST_FILES = 1_000_000
CHANGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET

libc = ctypes.CDLL(None, use_errno=True)


class Alarm:
    """A timer as a file: epoll's own timeout counts whole milliseconds."""

    def __init__(self):
        self.file = libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK)
        if self.file < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")

        self.at_ns = 0

    def set(self, at_ns: int) -> None:
        """To expire at that time of CLOCK_MONOTONIC."""
        if at_ns == self.at_ns:
            return
        self.at_ns = at_ns
        value = struct.pack("=qqqq", 0, 0, *divmod(at_ns, 10**9))
        if libc.timerfd_settime(self.file, TFD_TIMER_ABSTIME, value, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime")


class Run:
    """All flows of a list, and what is to happen when."""

    def __init__(self, settings: dict, network: Network):
        self.settings = settings
        self.hosts = network.hosts
        self.poll = select.epoll()
        self.files: dict[int, object] = {}
        self.flows: list = []
        self.accepting: dict[tuple[str, int], Tcp] = {}
        self.agenda: list = []
        self.count = 0
        self.inside = ""
        self.samples: list[dict] = []
        self.looks: list[list[int]] = []
        self.ended = 0
        self.stopped = False
        self.queues = network.queues()
        self.watched = 2 * settings["network"]["watched"]
        self.listeners = []
        for host in self.hosts:
            if host.crowd:
                continue
            self.enter(host)
            self.listeners.append(listener(settings["window_bytes"]))
        for found in self.listeners:
            self.open(found)
        self.alarm = Alarm()
        # Told once for each time that it is set: nobody reads it.
        self.poll.register(self.alarm.file, select.EPOLLIN | select.EPOLLET)
        self.open_of: dict[int, int] = {}
        self.waiting: dict[int, list] = {}
        for row in settings["flows"]:
            flow = (Udp if row["udp"] else Script if row["script"] else Tcp)(self, row)
            self.flows.append(flow)
            if row["stage"] is not None:
                self.open_of[row["stage"]] = self.open_of.get(row["stage"], 0) + 1
            if row["after"] is None:
                self.at(row["start_s"], flow.start)
            else:
                self.waiting.setdefault(row["after"], []).append(flow)

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.now_ns * 1e-9

    def wake(self) -> None:
        """Reads the clock, which stands still until the next wait.

        In whole nanoseconds: what is due is told by them, or a rounding error stops the clock.
        """
        self.now_ns = time.monotonic_ns() - self.zero_ns

    def enter(self, host: Host) -> None:
        """Sockets are made at `host` from now on."""
        if self.inside != host.name:
            enter(host.name)
            self.inside = host.name

    def at(self, instant: float, action) -> None:
        """Has `action` called, that many seconds after the start of the run."""
        self.count += 1
        heapq.heappush(self.agenda, (round(instant * 1e9), self.count, action))

    def after(self, ns: int, action) -> None:
        """Has `action` called, that many nanoseconds from now."""
        self.count += 1
        heapq.heappush(self.agenda, (self.now_ns + ns, self.count, action))

    def open(self, door) -> None:
        """Accepts what comes to a listener."""
        self.poll.register(door, select.EPOLLIN)
        self.files[door.fileno()] = door

    def watch(self, socket, owner, events: int = CHANGES) -> None:
        """Tells `owner` of every change of the socket: what is there is read or sent at once, to the end.

        With EPOLLIN alone it is told as long as there is something to read.
        """
        self.files[socket.fileno()] = owner
        self.poll.register(socket, events)

    def forget(self, socket) -> None:
        del self.files[socket.fileno()]
        socket.close()

    def is_over(self, flow) -> None:
        """A flow is over for those that wait for its stage: they start, each its time after the last flow of it."""
        stage = flow.row["stage"]
        if stage is None:
            return
        self.open_of[stage] -= 1
        if not self.open_of[stage]:
            for one in self.waiting.get(stage, ()):
                self.at(self.now + one.row["start_s"], one.start)

    def has_ended(self) -> None:
        """A flow is over."""
        self.ended += 1
        if self.settings["stop_when_idle"] and self.ended == len(self.flows):
            self.stop()

    def stop(self) -> None:
        """The end of the run, with a last look."""
        self.stopped = True
        self.end_s = self.now
        self.last = self.counters()

    def begin(self) -> None:
        """The end of the warm-up."""
        self.first = self.counters()

    def counters(self) -> list[dict]:
        """Of all interfaces."""
        return [queue.look() for queue in self.queues]

    def look(self) -> None:
        self.looks.append([queue.look()["backlog_packets"] for queue in self.queues])

    def sample(self) -> None:
        """A row of samples; the mean lengths of the queues are those of the looks since the row before."""
        self.look()
        progress = [self.flows[row].received for row in self.settings["watched"]]
        means = [sum(looks) / len(looks) for looks in zip(*self.looks, strict=True)]
        row = {"time_s": self.now, "queue_mean_packets": means[self.watched], "means": means, "progress": progress}
        self.samples.append(row | self.queues[self.watched].look())
        self.looks = []

    def plan_samples(self) -> None:
        """Samples at every interval, looks at the queue between them."""
        interval, looks = self.settings["sample_interval_s"], self.settings["looks"]
        if not interval:
            return
        for k in range(1, round(self.settings["duration_s"] / interval * looks) + 1):
            self.at(k * interval / looks, self.sample if k % looks == 0 else self.look)

    def plan_looks_at_rtt(self) -> None:
        """At the round-trip times of transfers without end, often enough for a mean over time."""
        endless = [flow for flow, row in zip(self.flows, self.settings["flows"], strict=True) if row.get("endless")]
        interval = self.settings["rtt_interval_s"]
        for flow in endless:
            for k in range(1, round(self.settings["duration_s"] / interval)):
                self.at(k * interval, flow.look)

    def accept(self, listener) -> None:
        # The listener of one flow is closed with its connection.
        while listener.fileno() >= 0:
            try:
                connection, peer = listener.accept()
            except BlockingIOError:
                return
            connection.setblocking(False)
            self.accepting.pop(peer).accepted(connection)

    def go(self) -> None:
        """Runs to the end of the run."""
        # A whole second: how a run meets the ticks of the kernel does not depend on how long the set-up took.
        self.zero_ns = (time.monotonic_ns() // LEAD_NS + 2) * LEAD_NS
        self.wake()
        self.at(self.settings["warm_up_s"], self.begin)
        self.plan_samples()
        self.plan_looks_at_rtt()
        self.at(self.settings["duration_s"], self.stop)
        while not self.stopped:
            self.alarm.set(self.zero_ns + self.agenda[0][0])
            ready = self.poll.poll()
            self.wake()
            for file, events in ready:
                owner = self.files.get(file)
                if isinstance(owner, socket.socket):
                    self.accept(owner)
                elif owner is not None:
                    owner.ready(file, events)
            while not self.stopped and self.agenda[0][0] <= self.now_ns:
                heapq.heappop(self.agenda)[2]()

    def close(self) -> None:
        """Closes what is open, so that another run can follow: transfers that have not ended are reset."""
        for flow in self.flows:
            flow.close()
        for found in (self.poll, *(queue.link for queue in self.queues), *self.listeners):
            found.close()
        os.close(self.alarm.file)


def run(settings: dict) -> dict:
    """One run.

    Parameters
    ----------
    settings : dict
        ``network``: as of `network`. Hosts: ``mss``, ``window_bytes`` (0: the kernel's own), ``route`` (options of
        their routes), ``sysctl``, ``module_parameters``. Run: ``duration_s``, ``warm_up_s``,
        ``stop_when_idle``, ``sample_interval_s``, ``looks`` (at the queue, per sample), ``watched`` (flows),
        ``rtt_interval_s``. ``marks``: by code the mark that it stands for, as routers read it from the DSCP. ``fin``:
        whether connections are closed. ``last_port``: beyond are those of flows with a round-trip time of their own.
        ``flows``: rows with ``start_s`` (since the end of stage ``after``, if that is not null), ``stage``, ``src``,
        ``dst`` (numbers of hosts), ``own`` (null, or the end, ``src`` or ``dst``, at which the flow has a port of its
        own, and that port), ``code`` (0: none), ``udp``; TCP: ``size_bytes``, ``endless``, ``receiver_opens``,
        ``congestion``, ``paced``, ``script`` (null, or trains: ``forward``, ``bytes``, ``wait_ns``, ``pace_ns``,
        ``parts`` as pairs of end and number); UDP: ``packets``, ``payload_bytes``, ``gap_s``, or ``bursts`` (null, or
        lists of start and gap, ns, packets, payload), ``traced``, ``echo``.

    Returns
    -------
    dict
        ``kernel``, ``end_s``, ``flows`` (a row each), ``samples`` (of the queue of interest; ``means``, mean lengths of
        all); counters of all queues at the end of the warm-up and of the run, ``first`` and ``last``; ``leaf``, all that
        tc tells of the queue of interest.
    """
    return carried(settings, prepared(settings))


def prepared(settings: dict) -> Network:
    """Sets the network up."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    Path("/proc/sys/net/core/somaxconn").write_text("65535")
    network = Network(settings)
    network.set_up()
    return network


def carried(settings: dict, network: Network) -> dict:
    """The flows over a network that is set up."""
    found = Run(settings, network)
    found.go()
    router, device = network.watched
    shown = json.loads(shell(f"tc -s -j -n {router} qdisc show dev {device}"))
    told = {
        "kernel": os.uname().release,
        "end_s": found.end_s,
        "flows": [flow.told() for flow in found.flows],
        "samples": found.samples,
        "first": found.first,
        "last": found.last,
        "leaf": next(row for row in shown if row["handle"] == interfaces.LEAF),
    }
    found.close()
    return told
