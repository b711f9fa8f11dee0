"""A link after its discipline was loaded, next to what `mayfly whatif` predicted: ping and load, measured now.

The link is busy in a second in which it sends for 80 % of it or more, in either direction, as in a what-if
(docs/users.md). Rates are those to which the command shapes; bytes are those that the interface counts, with their
Ethernet headers. Compared is what load adds to a ping: the 95th percentile of the round trips that began while the
link was busy, less the shortest round trip, as the path to the host that is asked here is another than that of the
capture.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mayfly.discipline_registry import parse
from mayfly.discipline_registry.tc_options import leaf_of
from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.changes import changes
from mayfly.qdisc.interface import arrives_through
from mayfly.qdisc.journal import index_of
from mayfly.qdisc.pings import Ping, Pings
from mayfly.qdisc.show import Row, read
from mayfly.show.notebook import Result
from mayfly.show.table import Table
from mayfly.text.quantity import shown
from mayfly.text.readable import MISSING, count_text, rate_text, share_text, time_text

BUSY = 0.8
"""Share of a second from which on the link is busy in it, as ``crates/metrics/src/busy.rs`` has it."""

FEWEST_BUSY = 3
"""Busy seconds below which nothing is said of ping under load: 15 packets."""

LONGEST_S = 86_400.0
SUMMARY = "summary.json"
COUNTERS = "/proc/net/dev"
"""Of the interfaces of this network namespace."""

WAYS = ("down", "up")
MEASURE = "ping_p95"
_P95 = 0.95


@dataclass(frozen=True)
class Prediction:
    """What the answer of a what-if promised.

    Parameters
    ----------
    path : str
        Of its summary.
    discipline, load : str
        What it recommends, and its command.
    rates_bps : mapping of int
        To which that shapes, ``down`` and ``up``.
    before_s, loaded_s : float
        What load adds to a ping, s: without the command, and with it.
    busy_share : float
        Share of the time that the link is busy without it.
    error : float, optional
        Share of such a figure that nine of ten predictions are off by less than.
    """

    path: str
    discipline: str
    load: str
    rates_bps: Mapping[str, int]
    before_s: float
    loaded_s: float
    busy_share: float
    error: float | None


@dataclass(frozen=True)
class Second:
    """Bytes that an interface counted in a second: ``begin_s`` and ``end_s`` on the system's clock."""

    begin_s: float
    end_s: float
    down_bytes: int
    up_bytes: int

    def bps(self, way: str) -> float:
        """Mean rate of a direction, bit/s."""
        count = self.down_bytes if way == "down" else self.up_bytes
        return 8.0 * count / max(self.end_s - self.begin_s, 1e-9)


@dataclass(frozen=True, repr=False)
class Check(Result):
    """What was measured, next to the prediction.

    Parameters
    ----------
    device, host : str
        Interface, and who was asked for pings.
    prediction : Prediction
    seconds : tuple of Second
    pings : Pings
    loaded : bool
        Whether the discipline of the prediction is at the interface, in both directions.
    kinds : tuple of str
        Kinds of the queue disciplines that are there.
    drops_pkts, marks_pkts : int
        Of these disciplines meanwhile.
    """

    device: str
    host: str
    prediction: Prediction
    seconds: tuple[Second, ...]
    pings: Pings
    loaded: bool
    kinds: tuple[str, ...]
    drops_pkts: int
    marks_pkts: int

    def busy(self) -> list[Second]:
        """Seconds in which the link was busy."""
        rates = self.prediction.rates_bps
        return [one for one in self.seconds if any(one.bps(way) >= BUSY * rates[way] for way in WAYS)]

    def least_s(self) -> float | None:
        """Shortest round trip, s."""
        return min((rtt_s for _, rtt_s in self.pings.answers), default=None)

    def added_s(self) -> float | None:
        """What load adds to a ping, s; None where the link was not busy for `FEWEST_BUSY` seconds."""
        busy, least_s = self.busy(), self.least_s()
        waits = sorted(
            rtt_s for sent_s, rtt_s in self.pings.answers if any(one.begin_s <= sent_s < one.end_s for one in busy)
        )
        if len(busy) < FEWEST_BUSY or least_s is None or not waits:
            return None
        return waits[min(len(waits) - 1, int(_P95 * len(waits)))] - least_s

    def verdict(self) -> str:
        """In one word.

        Returns
        -------
        str
            ``as_predicted``, ``better`` or ``worse``; ``not_loaded``; ``idle`` where the link was not busy for
            `FEWEST_BUSY` seconds; ``no_answer`` where the host answered no ping.
        """
        if not self.pings.answers:
            return "no_answer"
        added_s = self.added_s()
        if added_s is None:
            return "idle"
        if not self.loaded:
            return "not_loaded"
        within = (self.prediction.error or 0.0) * self.prediction.loaded_s
        if added_s > self.prediction.loaded_s + within:
            return "worse"
        return "better" if added_s < self.prediction.loaded_s - within else "as_predicted"

    def _shown(self) -> list[Any]:
        return [*self.leading(), *super()._shown()]

    def document(self) -> dict[str, Any]:
        """All of it for JSON: times in seconds, rates in bit/s."""
        busy = self.busy()
        return {
            "schema": 1,
            "command": "check",
            "device": self.device,
            "host": self.host,
            "verdict": self.verdict(),
            "predicted": asdict(self.prediction) | {"rates_bps": dict(self.prediction.rates_bps)},
            "measured": {
                "duration_s": sum(one.end_s - one.begin_s for one in self.seconds),
                "busy_share": len(busy) / len(self.seconds) if self.seconds else 0.0,
                "added_s": self.added_s(),
                "least_ping_s": self.least_s(),
                "pings": self.pings.sent,
                "pings_lost": self.pings.lost,
                "busiest_bps": {way: max((one.bps(way) for one in self.seconds), default=0.0) for way in WAYS},
                "drops_pkts": self.drops_pkts,
                "marks_pkts": self.marks_pkts,
                "qdiscs": list(self.kinds),
                "loaded": self.loaded,
            },
            "seconds": [asdict(one) for one in self.seconds],
            "sentences": [*self.leading(), *self.sentences()],
        }

    def leading(self) -> list[str]:
        """The answer, in a sentence."""
        own, added_s = self.prediction, self.added_s()
        match self.verdict():
            case "no_answer":
                return [
                    f"{self.host} answered none of {count_text(self.pings.sent)} pings: ask another host with --ping."
                ]
            case "idle":
                return [
                    f"The link was busy in {len(self.busy())} of {len(self.seconds)} seconds: nothing can be said of a "
                    f"ping under load. Start a large download and a large upload, and run this again."
                ]
            case "not_loaded":
                found = ", ".join(self.kinds) or "no queue discipline"
                return [
                    f"{self.device} has {found}, and not {own.discipline} in both directions: load adds "
                    f"{time_text(added_s)} to a ping (95th percentile). `{self._load()}` is predicted to make it "
                    f"{time_text(own.loaded_s)}."
                ]
        words = {
            "worse": "more than was predicted",
            "better": "less than was predicted",
            "as_predicted": "as predicted",
        }
        return [
            f"Load adds {time_text(added_s)} to a ping (95th percentile), {words[self.verdict()]}: "
            f"{time_text(own.loaded_s)} with {own.discipline}, {time_text(own.before_s)} without it."
        ]

    def table(self) -> Table:
        """Figures before the command, as predicted, and now."""
        own = self.prediction
        share = len(self.busy()) / len(self.seconds) if self.seconds else 0.0
        busiest = {way: max((one.bps(way) for one in self.seconds), default=0.0) for way in WAYS}
        rates = [
            (f"busiest second, {way}", MISSING, rate_text(own.rates_bps[way]), rate_text(busiest[way])) for way in WAYS
        ]
        return Table(
            f"{self.device}: as predicted, and now",
            ("", "without\nthe command", "with the\ncommand", "now"),
            (
                ("added to a ping, p95", time_text(own.before_s), time_text(own.loaded_s), time_text(self.added_s())),
                ("shortest ping", MISSING, MISSING, time_text(self.least_s())),
                ("pings lost", MISSING, MISSING, f"{self.pings.lost} of {self.pings.sent}"),
                ("busy", share_text(own.busy_share), MISSING, share_text(share)),
                *rates,
                ("packets dropped", MISSING, MISSING, count_text(self.drops_pkts)),
                ("packets marked", MISSING, MISSING, count_text(self.marks_pkts)),
            ),
        )

    def sentences(self) -> list[str]:
        """What the figures rest on, and what to do where they are not as predicted."""
        said = [
            "The link is busy in a second in which it carries 80 % or more of its shaped rate, in either direction."
        ]
        if self.prediction.error is not None:
            said.append(f"Nine of ten such predictions are off by less than {share_text(self.prediction.error)}.")
        if self.verdict() == "worse":
            said.append(
                "Where a ping waits longer than predicted, the queue is often still at your provider, as the link may "
                "carry less than was assumed: load again with both rates 5 % lower. Else look at "
                "`mayfly qdisc watch` for packets that wait here, and at `top` for a processor that is full (si)."
            )
        return said

    def _load(self) -> str:
        return self.prediction.load.replace(" eth0 ", f" {self.device} ")


def predicted(path: str | os.PathLike[str]) -> Prediction:
    """The prediction in the summary of a what-if.

    Parameters
    ----------
    path : path
        The file, or the folder that has it.

    Returns
    -------
    Prediction

    Raises
    ------
    MayflyError
        There is no such file, it is no summary of a what-if, or it recommends no command.
    """
    file = Path(path) / SUMMARY if Path(path).is_dir() else Path(path)
    try:
        summary = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise MayflyError(f"{file}: {error.strerror}; `mayfly whatif CAPTURE --out DIR` writes one") from None
    except ValueError:
        raise MayflyError(f"{file}: not a summary of `mayfly whatif`: no JSON") from None
    try:
        return _prediction(summary, str(file))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise MayflyError(f"{file}: not a summary of `mayfly whatif` that recommends a command to load") from None


def _prediction(summary: Mapping[str, Any], path: str) -> Prediction:
    advice = summary["recommendation"]
    before = summary["disciplines"][0]["users"]["ping"]
    idle_s = before["idle_ms"] / 1e3
    errors = summary.get("expected_errors") or {}
    (loaded,) = (row for row in advice["as_loaded"] if row["discipline"] == advice["discipline"])
    return Prediction(
        path,
        advice["discipline"],
        advice["commands"]["load"] or "\n".join(advice["commands"]["up"]),
        {way: int(advice["commands"][f"{way}_bps"]) for way in WAYS},
        before["p95_ms"] / 1e3 - idle_s,
        loaded["figures"][MEASURE] - idle_s,
        before["busy_share"],
        errors["felt"]["p90"] if "felt" in errors else None,
    )


def check(
    device: str,
    host: str,
    prediction: str | os.PathLike[str],
    for_s: float = 60.0,
    progress: Callable[[float], None] | None = None,
) -> Check:
    """Measure ping and load at an interface.

    Parameters
    ----------
    device : str
        Interface of the link.
    host : str
        Name or address beyond the link, which answers pings.
    prediction : path
        Summary of a what-if, or its folder.
    for_s : float
        How long, s; an interrupt ends it sooner, with what was measured until then.
    progress : callable, optional
        Called with the fraction of the time that has passed.

    Returns
    -------
    Check

    Raises
    ------
    MayflyError
        A bad argument, no such interface or host, or a program is missing.
    """
    system.checked_device(device)
    if not 1.0 <= for_s <= LONGEST_S:
        raise MayflyError(f"--for = {for_s:g} s: must be from 1 s to 24 h")
    own = predicted(prediction)
    if index_of(device) is None:
        raise MayflyError(f"device = {shown(device)}: there is no such interface")
    beside = arrives_through(device)
    devices = [device] if beside is None or index_of(beside) is None else [device, beside]
    before = _rows(devices)
    ping = Ping(host)
    try:
        seconds = _seconds(device, for_s, ping.ended, progress)
    finally:
        pings = ping.stop()
    now = _rows(devices)
    grown = changes(before, now, for_s)
    leaves = [one for one in grown if one.row.kind != "htb"]
    kind = leaf_of(parse(own.discipline)).kind
    return Check(
        device,
        host,
        own,
        tuple(seconds),
        pings,
        len({one.row.device for one in leaves if one.row.kind == kind}) == len(WAYS),
        tuple(dict.fromkeys(one.row.kind for one in leaves)),
        sum(one.drops_pkts or 0 for one in leaves),
        sum(one.marks_pkts or 0 for one in leaves),
    )


def _rows(devices: Sequence[str]) -> list[Row]:
    return [row for device in devices for row in read(device)]


def _seconds(
    device: str, for_s: float, ended: Callable[[], bool], progress: Callable[[float], None] | None
) -> list[Second]:
    """Readings of the interface's counters, about a second apart, until the time is over, ping ends or Ctrl-C."""
    found = list[Second]()
    start = time.monotonic()
    at_s, counts = time.time(), counters(device)
    try:
        while (passed_s := time.monotonic() - start) < for_s and not ended():
            if progress is not None:
                progress(passed_s / for_s)
            time.sleep(min(len(found) + 1.0, for_s) - passed_s if len(found) + 1.0 > passed_s else 0.0)
            now_s, now = time.time(), counters(device)
            found.append(Second(at_s, now_s, now[0] - counts[0], now[1] - counts[1]))
            at_s, counts = now_s, now
    except KeyboardInterrupt:
        pass
    return found


def counters(device: str) -> tuple[int, int]:
    """Bytes that an interface has received and sent.

    Raises
    ------
    MayflyError
        It is not there, or no longer.
    """
    for line in Path(COUNTERS).read_text(encoding="ascii", errors="replace").splitlines():
        name, colon, rest = line.partition(":")
        if colon and name.strip() == device:
            values = rest.split()
            return int(values[0]), int(values[8])
    raise MayflyError(f"device = {shown(device)}: there is no such interface")
