"""A link after its discipline was loaded, next to what `mayfly whatif` predicted: ping and load, measured now.

The link is busy in a second in which it sends for 80 % of it or more, in either direction, as in a what-if
(docs/users.md). The command shapes to 95 % of the link's rate, so that a second is busy from 0.8 / 0.95 = 84.2 % of the
shaped rate on. That rate is the one of the shaper at the interface, or the predicted one where none is there; bytes are
those that the interface counts, with their Ethernet headers. Compared is the added delay of a ping: the 95th percentile
of the round trips that began while the link was busy, less the shortest round trip, as the path to the host that is
asked here is another than that of the capture.
"""

import json
import math
import os
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mayfly.comparison.ordering import baseline
from mayfly.discipline_registry import parse
from mayfly.discipline_registry.commands import BELOW_THE_LINK
from mayfly.discipline_registry.tc_options import leaf_of
from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.changes import changes, has_own_shaper, shaped_bps
from mayfly.qdisc.interface import arrives_through
from mayfly.qdisc.journal import index_of
from mayfly.qdisc.pings import Ping, Pings
from mayfly.qdisc.show import Row, read
from mayfly.qdisc.steps import output
from mayfly.show.notebook import Result
from mayfly.show.table import Table
from mayfly.text.quantity import shown
from mayfly.text.readable import MISSING, count_text, printable, rate_text, share_text, time_text
from mayfly.workload.live import interrupts_noted

BUSY = 0.8
"""Share of a second from which on the link is busy in it, as ``crates/metrics/src/busy.rs`` has it."""

RATE_WITHIN = 0.01
"""Share of the predicted rate by which that of the shaper may differ: tc 6.1 writes rates with four digits."""

FEWEST_BUSY = 3
"""Busy seconds below which nothing is said of ping under load: 15 packets."""

LONGEST_S = 86_400.0
SUMMARY = "summary.json"
COUNTERS = "/proc/net/dev"
"""Of the interfaces of this network namespace."""

WAYS = ("down", "up")
MEASURE = "ping_p95"
_P95 = 0.95
_TICK_S = 0.1
_MOST = 1e15
"""Largest number that a summary may have."""

_CLASSFUL_SHAPERS = ("htb", "tbf", "hfsc")
_CLASS = re.compile(r"^class htb (\S+) .*?\bceil (\d+)([KMGT]?)bit\b", re.MULTILINE)
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Prediction:
    """Figures of a what-if for the command that it recommends.

    Parameters
    ----------
    path : str
        Of its summary.
    discipline : str
        Its label.
    load : str, optional
        Line of Mayfly that loads it at ``eth0``; None where the command is several lines of tc.
    rates_bps : mapping of int
        Shaped rates, ``down`` and ``up``.
    before_s : float, optional
        Added delay of a ping without the command, s; None where pings did not return.
    loaded_s : float
        Added delay of a ping with the command, s.
    busy_share : float, optional
        Share of the time that the link is busy without the command; None where it is not known.
    error : float, optional
        Share of such a figure that nine of ten predictions are off by less than.
    """

    path: str
    discipline: str
    load: str | None
    rates_bps: Mapping[str, int]
    before_s: float | None
    loaded_s: float
    busy_share: float | None
    error: float | None


@dataclass(frozen=True)
class Direction:
    """Queue disciplines of one direction.

    Parameters
    ----------
    kinds : tuple of str
        Of those that have no other below them.
    present : bool
        Whether the discipline of the prediction is one of them.
    shaped : bool
        Whether a shaper is there.
    rate_bps : float, optional
        Rate of that shaper, bit/s; None where there is none, or tc does not show it.
    """

    kinds: tuple[str, ...] = ()
    present: bool = False
    shaped: bool = False
    rate_bps: float | None = None

    @property
    def loaded(self) -> bool:
        """Whether the discipline is there with a shaper."""
        return self.present and self.shaped

    def document(self) -> dict[str, Any]:
        """For JSON: the rate in bit/s."""
        return asdict(self) | {"kinds": list(self.kinds), "loaded": self.loaded}

    def text(self) -> str:
        """Kinds in words."""
        if not self.kinds:
            return "no queue discipline"
        return ", ".join(self.kinds) + ("" if self.shaped else " without a shaper")


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
    """Ping and load of a link, next to the prediction.

    Parameters
    ----------
    device, host : str
        Interface, and the host that was asked for pings.
    prediction : Prediction
    seconds : tuple of Second
    pings : Pings
    ways : mapping of Direction
        Disciplines that are there, ``down`` and ``up``.
    drops_pkts, marks_pkts : int
        Of these disciplines meanwhile.
    """

    device: str
    host: str
    prediction: Prediction
    seconds: tuple[Second, ...]
    pings: Pings
    ways: Mapping[str, Direction]
    drops_pkts: int
    marks_pkts: int

    @property
    def loaded(self) -> bool:
        """Whether the discipline of the prediction is at the interface, in both directions."""
        return all(self.ways[way].loaded for way in WAYS)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the queue disciplines that are there."""
        return tuple(dict.fromkeys(kind for way in WAYS for kind in self.ways[way].kinds))

    def rate_bps(self, way: str) -> float:
        """Shaped rate of a direction, bit/s: the predicted one where the discipline is not loaded."""
        found = self.ways[way]
        return found.rate_bps if found.loaded and found.rate_bps else self.prediction.rates_bps[way]

    def busy(self) -> list[Second]:
        """Seconds in which the link was busy."""
        least = {way: BUSY / BELOW_THE_LINK * self.rate_bps(way) for way in WAYS}
        return [one for one in self.seconds if any(one.bps(way) >= least[way] for way in WAYS)]

    def busy_share(self) -> float:
        """Share of the seconds in which the link was busy."""
        return len(self.busy()) / len(self.seconds) if self.seconds else 0.0

    def busiest_bps(self) -> dict[str, float]:
        """Rate of the busiest second, ``down`` and ``up``, bit/s."""
        return {way: max((one.bps(way) for one in self.seconds), default=0.0) for way in WAYS}

    def least_s(self) -> float | None:
        """Shortest round trip, s."""
        return min((rtt_s for _, rtt_s in self.pings.answers), default=None)

    def added_s(self) -> float | None:
        """Added delay of a ping, s; None where the link was not busy for `FEWEST_BUSY` seconds."""
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
        return {
            "schema": 1,
            "command": "check",
            "device": self.device,
            "host": self.host,
            "verdict": self.verdict(),
            "predicted": asdict(self.prediction) | {"rates_bps": dict(self.prediction.rates_bps)},
            "measured": {
                "duration_s": sum(one.end_s - one.begin_s for one in self.seconds),
                "busy_share": self.busy_share(),
                "added_s": self.added_s(),
                "least_ping_s": self.least_s(),
                "pings": self.pings.sent,
                "pings_lost": self.pings.lost,
                "busiest_bps": self.busiest_bps(),
                "drops_pkts": self.drops_pkts,
                "marks_pkts": self.marks_pkts,
                "qdiscs": list(self.kinds),
                "loaded": self.loaded,
                "ways": {way: self.ways[way].document() for way in WAYS},
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
                return [
                    f"Load adds {time_text(added_s)} to a ping (95th percentile) without the command: {self._load()} "
                    f"predicted to make it {time_text(own.loaded_s)}."
                ]
        words = {
            "worse": "more than was predicted",
            "better": "less than was predicted",
            "as_predicted": "as predicted",
        }
        before = "" if own.before_s is None else f", {time_text(own.before_s)} without it"
        return [
            f"Load adds {time_text(added_s)} to a ping (95th percentile), {words[self.verdict()]}: "
            f"{time_text(own.loaded_s)} with {own.discipline}{before}."
        ]

    def table(self) -> Table:
        """Figures before the command, as predicted, and now."""
        own = self.prediction
        busiest = self.busiest_bps()
        rates = [
            (f"busiest second, {way}", MISSING, rate_text(own.rates_bps[way]), rate_text(busiest[way])) for way in WAYS
        ]
        return Table(
            f"{self.device}: as predicted, and now",
            ("", "without\nthe command", "with the\ncommand", "now"),
            (
                (
                    "added delay of a ping, p95",
                    time_text(own.before_s),
                    time_text(own.loaded_s),
                    time_text(self.added_s()),
                ),
                ("shortest ping", MISSING, MISSING, time_text(self.least_s())),
                ("pings lost", MISSING, MISSING, f"{self.pings.lost} of {self.pings.sent}"),
                ("busy", share_text(own.busy_share), MISSING, share_text(self.busy_share())),
                *rates,
                ("packets dropped", MISSING, MISSING, count_text(self.drops_pkts)),
                ("packets marked", MISSING, MISSING, count_text(self.marks_pkts)),
            ),
        )

    def sentences(self) -> list[str]:
        """Rule and error of the figures, and advice where they are not as predicted."""
        said = [] if self.loaded else [self._not_loaded()]
        said += [self._moved(way) for way in WAYS if self._has_moved(way)]
        shaped = f"{share_text(BUSY / BELOW_THE_LINK)} of the shaped rate, which is {100 * BELOW_THE_LINK:.0f} % of it"
        said.append(
            f"The link is busy in a second in which it carries {100 * BUSY:.0f} % or more of its rate, in either "
            f"direction: {shaped}."
        )
        if self.prediction.error is not None:
            said.append(f"Nine of ten such predictions are off by less than {share_text(self.prediction.error)}.")
        if self.verdict() == "worse":
            said.append(
                "Where a ping waits longer than predicted, the queue is often still at your provider, as the link may "
                "carry less than was assumed: load again with both rates 5 % lower. Else look at "
                "`mayfly qdisc watch` for packets that wait here, and at `top` for a processor that is full (si)."
            )
        return said

    def _not_loaded(self) -> str:
        lead = f"{self.prediction.discipline} is not loaded in both directions: {self.device} has"
        down, up = (self.ways[way] for way in WAYS)
        if down.loaded or up.loaded:
            here, there, other = ("down", "up", up) if down.loaded else ("up", "down", down)
            return f"{lead} it {here}, and not {there} ({other.text()})."
        return f"{lead} {down.text()} down, and {up.text()} up."

    def _has_moved(self, way: str) -> bool:
        predicted_bps = self.prediction.rates_bps[way]
        return abs(self.rate_bps(way) - predicted_bps) > RATE_WITHIN * predicted_bps

    def _moved(self, way: str) -> str:
        own = self.prediction
        return (
            f"{own.discipline} is loaded {way} at {rate_text(self.rate_bps(way))} where "
            f"{rate_text(own.rates_bps[way])} was predicted: the prediction is of another shaper."
        )

    def _load(self) -> str:
        """The command for this interface, and the verb after it."""
        own = self.prediction
        if own.load is None:
            return f"the lines of recommendation.commands in {own.path} are"
        return f"`{own.load.replace(' eth0 ', f' {shlex.quote(self.device)} ', 1)}` is"


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
        There is no such file, it is no summary of a what-if, it recommends no command, or that command was not
        simulated.
    """
    file = Path(path) / SUMMARY if Path(path).is_dir() else Path(path)
    try:
        summary = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise MayflyError(f"{file}: {error.strerror}; `mayfly whatif CAPTURE --out DIR` writes one") from None
    except (ValueError, RecursionError):
        raise MayflyError(f"{file}: not a summary of `mayfly whatif`: no JSON") from None
    try:
        return _prediction(summary, str(file))
    except ValueError as error:
        raise MayflyError(f"{file}: not a summary of `mayfly whatif`: {error}") from None


def _prediction(summary: Any, path: str) -> Prediction:
    """The checked figures; a ValueError names the part that is not as it should be."""
    if _at(summary, "recommendation") is None or _at(summary, "recommendation", "discipline") is None:
        raise MayflyError(f"{path}: recommends no command (keep what is there): there is nothing to check")
    discipline = _text(summary, "recommendation", "discipline")
    if _at(summary, "recommendation", "commands") is None:
        raise MayflyError(f"{path}: recommends no command, only {printable(discipline)}: there is nothing to check")
    rows = _rows_of(summary, "disciplines")
    first = baseline([row | {"id": _text(row, "id")} for row in rows])
    loaded = [row for row in _rows_of(summary, "recommendation", "as_loaded") if row.get("discipline") == discipline]
    if not loaded or _at(loaded[0], "figures", MEASURE) is None:
        raise MayflyError(
            f"{path}: the effect of its command on pings was not simulated, as with --replay packets and "
            "--engine linux: run `mayfly whatif` without these"
        )
    ping = ("users", "ping")
    idle_s = _number(first, *ping, "idle_ms") / 1e3
    before_ms = _known(first, *ping, "p95_ms")
    load = _at(summary, "recommendation", "commands", "load")
    return Prediction(
        path,
        discipline,
        None if load is None else _text(summary, "recommendation", "commands", "load"),
        {way: int(_number(summary, "recommendation", "commands", f"{way}_bps", least=1)) for way in WAYS},
        None if before_ms is None else before_ms / 1e3 - idle_s,
        _number(loaded[0], "figures", MEASURE) - idle_s,
        _known(first, *ping, "busy_share"),
        _number(summary, "expected_errors", "felt", "p90") if _has_error(summary) else None,
    )


def _has_error(summary: Any) -> bool:
    errors = summary.get("expected_errors")
    return bool(errors) and (not isinstance(errors, dict) or "felt" in errors)


def _at(document: Any, *keys: str) -> Any:
    """The value below the keys."""
    for key in keys:
        if not isinstance(document, dict) or key not in document:
            raise ValueError(f"it has no {'.'.join(keys)}")
        document = document[key]
    return document


def _number(document: Any, *keys: str, least: float = 0) -> float:
    value = _at(document, *keys)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= _MOST:
        raise ValueError(f"{'.'.join(keys)} = {printable(value)}: must be a number from {least:g} to {_MOST:g}")
    return float(value)


def _known(document: Any, *keys: str) -> float | None:
    return None if _at(document, *keys) is None else _number(document, *keys)


def _text(document: Any, *keys: str) -> str:
    value = _at(document, *keys)
    if not isinstance(value, str):
        raise ValueError(f"{'.'.join(keys)} = {printable(value)}: must be text")
    return value


def _rows_of(document: Any, *keys: str) -> list[dict[str, Any]]:
    value = _at(document, *keys)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ValueError(f"{'.'.join(keys)} must be a list of objects")
    return value


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
    kind = leaf_of(parse(own.discipline)).kind
    ifb = arrives_through(device)
    devices = {"down": ifb if ifb is not None and index_of(ifb) is not None else None, "up": device}
    before = _rows(devices)
    ping = Ping(host)
    try:
        seconds = _seconds(device, for_s, ping.ended, progress)
    finally:
        pings = ping.stop()
    now = _rows(devices)
    grown = [one for way in WAYS for one in changes(before[way], now[way], for_s) if _is_leaf(one.row, now[way])]
    return Check(
        device,
        host,
        own,
        tuple(seconds),
        pings,
        {way: _direction(now[way], kind) for way in WAYS},
        sum(one.drops_pkts or 0 for one in grown),
        sum(one.marks_pkts or 0 for one in grown),
    )


def _rows(devices: Mapping[str, str | None]) -> dict[str, list[Row]]:
    return {way: [] if device is None else read(device) for way, device in devices.items()}


def _is_leaf(row: Row, rows: Sequence[Row]) -> bool:
    """Whether no other discipline is below it: a parent counts the drops of its children once more.

    Those of the kernel's own mq have no handle, 0:, and neither has it.
    """
    if row.parent != "root" and _major(row.handle) == "0":
        return True
    return not any(":" in one.parent and _major(one.parent) == _major(row.handle) for one in rows)


def _major(handle: str) -> str:
    return handle.partition(":")[0] or "0"


def _direction(rows: Sequence[Row], kind: str) -> Direction:
    """Disciplines of a direction, all of one device."""
    leaves = [row for row in rows if _is_leaf(row, rows)]
    own = [row for row in leaves if row.kind == kind]
    rates = [bps for row in rows if (bps := shaped_bps(row)) is not None]
    rates += [8.0 * row.options["rate"] for row in rows if row.kind == "tbf" and _is_rate(row.options.get("rate"))]
    if any(row.kind == "htb" for row in rows):
        classes = class_rates(rows[0].device)
        below = [classes[row.parent] for row in own or leaves if row.parent in classes]
        rates += [max(below)] if below else []
    # A tc without the words of lfq shows no options of it.
    unseen = any(has_own_shaper(row) and "bandwidth" not in row.options for row in rows)
    shaped = bool(rates) or unseen or any(row.kind in _CLASSFUL_SHAPERS for row in rows)
    kinds = tuple(dict.fromkeys(row.kind for row in leaves))
    return Direction(kinds, bool(own), shaped, min(rates, default=None))


def class_rates(device: str) -> dict[str, float]:
    """Rates to which the classes of htb at an interface shape.

    Parameters
    ----------
    device : str

    Returns
    -------
    dict of float
        Their ``ceil``, bit/s, by handle. tc prints JSON from iproute2 6.2 on, with bytes/s, and text before.

    Raises
    ------
    MayflyError
        No tc, or it failed.
    """
    text = output([system.program("tc"), "-j", "class", "show", "dev", device])
    if not text.lstrip().startswith("["):
        return {handle: float(number) * _PREFIXES[prefix] for handle, number, prefix in _CLASS.findall(text)}
    try:
        rows = json.loads(text)
    except ValueError:
        return {}
    return {row["handle"]: 8.0 * row["ceil"] for row in rows if row.get("class") == "htb" and _is_rate(row.get("ceil"))}


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _seconds(
    device: str, for_s: float, ended: Callable[[], bool], progress: Callable[[float], None] | None
) -> list[Second]:
    """Readings of the interface's counters, about a second apart, until the time is over, ping ends or Ctrl-C."""
    found = list[Second]()
    with interrupts_noted() as interrupted:
        start, due_s = time.monotonic(), min(1.0, for_s)
        at_s, counts = time.time(), counters(device)
        while not interrupted and not ended():
            passed_s = time.monotonic() - start
            if progress is not None:
                progress(min(1.0, passed_s / for_s))
            if passed_s < due_s:
                time.sleep(min(_TICK_S, due_s - passed_s))
                continue
            now_s, now = time.time(), counters(device)
            found.append(Second(at_s, now_s, now[0] - counts[0], now[1] - counts[1]))
            if passed_s >= for_s:
                break
            at_s, counts, due_s = now_s, now, min(math.floor(passed_s) + 1.0, for_s)
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
