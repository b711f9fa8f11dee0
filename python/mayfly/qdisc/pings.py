"""Round trips now: the program ``ping``, and what its lines say."""

import re
import signal
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.text.quantity import shown

EVERY_S = 0.2
"""Between two packets: the shortest that ping allows to users without rights."""

_ENDS_WITHIN_S = 5.0
"""After an interrupt; beyond, it is killed."""

_HOST = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._:%-]{0,252}")
_ANSWER = re.compile(r"^\[(\d+\.\d+)\] .*\bicmp_seq=(\d+) .*\btime=([\d.]+) ms")
_TOTAL = re.compile(r"^(\d+) packets transmitted")


@dataclass(frozen=True)
class Pings:
    """Answers to the packets of one run of ping.

    Parameters
    ----------
    answers : tuple of (float, float)
        Of each answer the time when its packet was sent, s of the system's clock, and its round-trip time, s.
    sent : int
        Packets.
    """

    answers: tuple[tuple[float, float], ...]
    sent: int

    @property
    def lost(self) -> int:
        """Packets without an answer."""
        return self.sent - len(self.answers)


class Ping:
    """The program ``ping``, which runs until it is stopped.

    Parameters
    ----------
    host : str
        Name or address.

    Raises
    ------
    MayflyError
        No such name, or ping is not installed.
    """

    def __init__(self, host: str):
        if not _HOST.fullmatch(host):
            raise MayflyError(f"--ping = {shown(host)}: must be the name or the address of a host")
        command = [system.program("ping"), "-n", "-D", "-i", f"{EVERY_S:g}", "--", host]
        self._host = host
        # A file holds any number of lines; a pipe that nobody reads would stop ping when it is full.
        try:
            self._lines = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by stop()
        except OSError as error:
            raise MayflyError(
                f"--ping: no place for the output of ping: {error.strerror or error}; set TMPDIR"
            ) from None
        # In a session of its own it does not hear Ctrl-C, which ends the check before ping has counted its packets.
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._lines,
            stderr=subprocess.STDOUT,
            env={"LC_ALL": "C"},
            start_new_session=True,
        )

    def ended(self) -> bool:
        """Whether it ended by itself, which it does when it cannot send."""
        return self._child.poll() is not None

    def stop(self) -> Pings:
        """End it and read what it measured.

        Returns
        -------
        Pings

        Raises
        ------
        MayflyError
            It sent no packet: its first complaint.
        """
        if not self.ended():
            self._child.send_signal(signal.SIGINT)  # upon which ping prints its totals
            try:
                self._child.wait(_ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._child.kill()  # its answers are in the file, and count
        self._child.wait()
        with self._lines:
            self._lines.seek(0)
            lines = self._lines.read().splitlines()
        found = pings_of(lines)
        if found.sent == 0:
            said = [line.strip() for line in lines if line.strip()]
            raise MayflyError(f"ping {self._host}: {said[0].removeprefix('ping: ') if said else 'no packet was sent'}")
        return found


def pings_of(lines: Iterable[str]) -> Pings:
    """What the lines of ``ping -D`` say; copies of an answer count once.

    Parameters
    ----------
    lines : iterable of str

    Returns
    -------
    Pings

    Examples
    --------
    >>> pings_of(["[10.5] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=500 ms", "3 packets transmitted, 1 received"])
    Pings(answers=((10.0, 0.5),), sent=3)
    """
    answers: dict[int, tuple[float, float]] = {}
    sent = 0
    for line in lines:
        if answer := _ANSWER.match(line):
            rtt_s = float(answer[3]) / 1000
            answers.setdefault(int(answer[2]), (float(answer[1]) - rtt_s, rtt_s))
        elif total := _TOTAL.match(line):
            sent = int(total[1])
    return Pings(tuple(answers.values()), max(sent, len(answers)))
