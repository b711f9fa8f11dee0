"""Delay line: holds every packet between two TUN devices for a fixed time, in each direction.

Principle: one FIFO per direction; a packet read at time t is written to the other device at t + delay. The kernel
of the recording machine needs no netem. Cost per packet: one read, one write, two queue operations.

Usage: ``delay_line.py NEAR:FAR:DELAY_MS ...`` with DELAY_MS the one-way delay in ms. All devices are created in the
current network namespace; the far ones may be moved to another while the line runs. Prints ``ready`` once they
exist.
"""

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass, field

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
LARGEST_PACKET_BYTES = 65536


@dataclass
class OneWay:
    """Packets in flight from one TUN device to another, each held for `delay_ns`."""

    source: int
    sink: int
    delay_ns: int
    in_flight: deque = field(default_factory=deque)

    def read_all(self) -> None:
        """Take every packet waiting at the source; its due time is now + delay."""
        while True:
            try:
                packet = os.read(self.source, LARGEST_PACKET_BYTES)
            except BlockingIOError:
                return
            self.in_flight.append((time.monotonic_ns() + self.delay_ns, packet))

    def write_due(self) -> None:
        """Hand every packet whose time has come to the sink."""
        while self.in_flight and self.in_flight[0][0] <= time.monotonic_ns():
            os.write(self.sink, self.in_flight.popleft()[1])


def open_tun(name: str) -> int:
    """Create the TUN device `name` and return its descriptor, non-blocking."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH14x", name.encode(), IFF_TUN | IFF_NO_PI))
    return descriptor


def parse_line(text: str) -> tuple[str, str, int]:
    """Split ``NEAR:FAR:DELAY_MS`` into names and a one-way delay in ns.

    Raises
    ------
    ValueError
        When a part is missing, or the delay is not in (0, 10000] ms.
    """
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"delay line {text!r}: expected NEAR:FAR:DELAY_MS")
    near, far, delay_ms = parts[0], parts[1], float(parts[2])
    if not 0 < delay_ms <= 10_000:
        raise ValueError(f"delay {delay_ms} ms of {text!r}: must be in (0, 10000] ms")
    return near, far, round(delay_ms * 1e6)


def forward(ways: list[OneWay]) -> None:
    """Carry packets until the process is ended."""
    by_source = {way.source: way for way in ways}
    while True:
        dues = [way.in_flight[0][0] for way in ways if way.in_flight]
        timeout_s = max(0.0, (min(dues) - time.monotonic_ns()) * 1e-9) if dues else None
        readable, _, _ = select.select(list(by_source), [], [], timeout_s)
        for source in readable:
            by_source[source].read_all()
        for way in ways:
            way.write_due()


def main() -> None:
    """Create the devices named on the command line and forward."""
    ways = []
    for near_name, far_name, delay_ns in map(parse_line, sys.argv[1:]):
        near, far = open_tun(near_name), open_tun(far_name)
        ways += [OneWay(near, far, delay_ns), OneWay(far, near, delay_ns)]
    # A compile job on the same machine must not stretch the delays.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    print("ready", flush=True)
    forward(ways)


if __name__ == "__main__":
    main()
