"""A capture taken from an interface of this machine, which is then read like any other.

``tcpdump`` does it, as a child: it is on most machines, gives up its rights once the interface is open (``-Z``), and
says what it cannot do. Only headers are kept (:data:`SNAP_BYTES` of each packet), and no more than a number of packets:
memory and disk are bounded, and little of what users send is stored.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mayfly.errors import MayflyError
from mayfly.text.folder import filled
from mayfly.text.nearest import expected
from mayfly.text.readable import count_text, printable

SNAP_BYTES = 128
"""Kept of each packet: Ethernet, a tag or tunnel, IPv6 and TCP with options."""

MOST_PACKETS = 2_000_000
"""Packets after which a capture ends by itself: 288 MB at most."""

LONGEST_S = 86_400.0
"""Longest capture, s."""

_FILTER = "tcp or udp"
_TICK_S = 0.1


@dataclass(frozen=True)
class Recorded:
    """What was captured.

    Parameters
    ----------
    packets : int
        In the file.
    span_s : float
        Time from the start of the capture to its end, s.
    dropped : int
        Packets that the kernel had no room for: the file lacks them.
    full : bool
        Whether the limit of packets ended it.
    """

    packets: int
    span_s: float
    dropped: int
    full: bool

    def sentences(self) -> list[str]:
        """What the user has to know of the capture, in words."""
        said = []
        if self.full:
            limit = count_text(self.packets)
            said.append(f"the capture ended after {self.span_s:.0f} s: it has {limit} packets, the most that are kept")
        if self.dropped:
            said.append(f"the kernel dropped {count_text(self.dropped)} packets before tcpdump could read them")
        return said


def record(
    interface: str,
    for_s: float,
    path: str | os.PathLike[str],
    *,
    most_packets: int = MOST_PACKETS,
    started: Callable[[], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Recorded:
    """Capture the headers of an interface's TCP and UDP packets into a file.

    Parameters
    ----------
    interface : str
        Such as ``eth0``.
    for_s : float
        How long, s; an interrupt ends it sooner, and what came until then is kept.
    path : path
        The pcap file, which appears when the capture has ended; its folder is made when absent.
    most_packets : int
        After as many the capture ends, >= 1.
    started : callable, optional
        Called when nothing speaks against the capture any more.
    progress : callable, optional
        Called with the fraction of the time that has passed.

    Returns
    -------
    Recorded

    Raises
    ------
    MayflyError
        No such interface, no right to capture, no tcpdump, no packet in the time, or the file cannot be written.
    """
    if not 0 < for_s <= LONGEST_S:
        raise MayflyError(f"--for = {for_s:g} s: must be above 0 and at most 24 h")
    known = [name for _, name in socket.if_nameindex()]
    if interface not in (*known, "any"):
        raise MayflyError(f"-i {printable(interface)}: no such interface; {expected(interface, known)}")
    tcpdump = shutil.which("tcpdump", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if tcpdump is None:
        raise MayflyError("-i: needs tcpdump, which is not installed; apt install tcpdump, or your system's way")
    command = [tcpdump, "-i", interface, "-s", str(SNAP_BYTES), "-c", str(most_packets), "-n", "-U", "-w", "-"]
    if os.geteuid() == 0:
        command += ["-Z", os.environ.get("SUDO_USER") or "nobody"]
    path = Path(path)
    with filled(path.parent, [path.name]) as partial:
        if started is not None:
            started()
        with open(partial / path.name, "wb") as stream:
            found, said = _run([*command, _FILTER], for_s, stream, progress)
        if found is None:
            raise MayflyError(f"-i {interface}: {_refusal(said)}")
        if found.packets == 0:
            raise MayflyError(f"-i {interface}: no TCP or UDP packet in {found.span_s:.0f} s")
        full = found.packets >= most_packets
    return Recorded(found.packets, found.span_s, found.dropped, full)


def _run(
    command: list[str], for_s: float, stream: IO[bytes], progress: Callable[[float], None] | None
) -> tuple[Recorded | None, str]:
    """Run tcpdump to its end, which an interrupt or the time brings; what it counted, and what it said."""
    start = time.monotonic()
    with (
        interrupts_noted() as interrupted,
        # In a session of its own it does not hear the interrupt, which would cut its last packet.
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.PIPE, start_new_session=True
        ) as child,
    ):
        try:
            while child.poll() is None and not interrupted and time.monotonic() - start < for_s:
                time.sleep(min(_TICK_S, max(0.0, for_s - (time.monotonic() - start))))
                if progress is not None:
                    progress(min(1.0, (time.monotonic() - start) / for_s))
        finally:
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
        span_s = time.monotonic() - start
        _, raw = child.communicate(timeout=30)
    said = raw.decode(errors="replace")
    captured = re.search(r"^(\d+) packets? captured", said, re.MULTILINE)
    if captured is None:
        return None, said
    dropped = re.search(r"^(\d+) packets? dropped by kernel", said, re.MULTILINE)
    return Recorded(int(captured[1]), span_s, int(dropped[1]) if dropped else 0, False), said


@contextmanager
def interrupts_noted() -> Iterator[list[int]]:
    """Let Ctrl-C end the capture and nothing else: what came is worth an answer."""
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _refusal(said: str) -> str:
    """What tcpdump complained of, on one line, and what to do."""
    if re.search(r"permi|not permitted", said):
        return "no right to capture; run it with sudo, or pipe: sudo tcpdump -i ... -w - | mayfly whatif -"
    lines = [line for line in said.strip().splitlines() if line.startswith("tcpdump: ")]
    return f"cannot be captured: {printable(lines[-1].removeprefix('tcpdump: ') if lines else 'tcpdump ended')}"
