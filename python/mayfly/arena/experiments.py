"""Experiments of the arena: what runs under every discipline, with today's hosts, and which figures are taken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mayfly.arena import figures
from mayfly.scenario.attacks import ATTACKS, Attack, Board
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.transport import CONTROLS
from mayfly.simulate.run import RunResult

Reading = Callable[[RunResult, Scenario], dict[str, float]]

LINUX: dict[str, Any] = {"tcp.preset": "linux"}


@dataclass(frozen=True)
class Experiment:
    """One workload on one link.

    Parameters
    ----------
    id : str
    says : str
        What it is, for a reader.
    scenario : str
        Ready scenario.
    fields : mapping
        Its fields that have another value, by dotted name.
    read : callable
        From a run and its scenario to figures by name.
    quick_s : float
        Duration with ``--quick``, s; 0 where it is left out then.
    variants : mapping
        What a discipline is called with there, by id: ``lfq(medium=cell)``. Options that it has on the board beside
        these stay, and go first.
    """

    id: str
    says: str
    scenario: str
    fields: Mapping[str, Any]
    read: Reading
    quick_s: float = 0.0
    variants: Mapping[str, str] = field(default_factory=dict)


def _wired(name: str, says: str, quick_s: float = 0.0, **fields: Any) -> Experiment:
    own = {key.replace("__", "."): value for key, value in fields.items()}
    base = {"workload.exact_load": True, "sample_interval": 0, "duration": "300s"}
    return Experiment(name, says, "wired", LINUX | base | own, figures.transfers, quick_s)


def _load(percent: int) -> Experiment:
    stalls = {"sample_interval": 0.1} if percent == 80 else {}
    says = f"transfers that offer {percent} % of 10 Mbit/s, buffer of 300 packets"
    own = {"workload__load": percent * 100_000, **stalls}
    return _wired(f"load-{percent}", says, 100.0 if percent in (80, 104) else 0.0, **own)


def _rate(mbps: int, duration: str, quick_s: float) -> Experiment:
    says = f"transfers that offer 80 % of {mbps} Mbit/s, 44 ms, buffer of one bandwidth-delay product and a half"
    return _wired(
        f"rate-{mbps}",
        says,
        quick_s,
        network__rate=mbps * 1_000_000,
        network__access_rate=mbps * 10_000_000,
        network__delay="20ms",
        network__buffer="66ms" if mbps > 1 else "100",
        workload__load=mbps * 800_000,
        duration=duration,
    )


def _rtt(ms: int) -> Experiment:
    says = f"transfers that offer 80 % of 10 Mbit/s, {ms} ms of round-trip time, buffer of 300 packets"
    return _wired(f"rtt-{ms}", says, network__delay=f"{(ms - 4) / 2}ms", workload__load=8_000_000)


def _buffer(words: str, buffer: str) -> Experiment:
    says = f"transfers that offer 80 % of 10 Mbit/s, 44 ms, buffer of {words} bandwidth-delay product"
    return _wired(f"buffer-{words}", says, network__delay="20ms", network__buffer=buffer, workload__load=8_000_000)


def _stream(name: str, says: str, rate: int, packet: int, **more: Any) -> Experiment:
    source = {"rate": rate, "packet": packet, "start": "10s", "group": "stream", **more}
    fields = LINUX | {"workload.load": 8_000_000, "workload.exact_load": True, "sample_interval": 0}
    fields |= {"duration": "300s", "network.buffer": 50, "workload.cbr": [source], "trace": ["stream"]}
    return Experiment(name, says, "wired", fields, figures.stream, 60.0)


def _bulk(buffer: int) -> Experiment:
    permanent = [{"flows": 3, "users": 3, "spread": "1s", "group": "bulk"}]
    fields = LINUX | {"workload.load": 1_000_000, "workload.exact_load": True, "sample_interval": 0, "warm_up": "20s"}
    fields |= {"duration": "200s", "network.buffer": buffer, "network.delay": "10ms", "workload.maximum": 40}
    fields |= {"workload.minimum": 4, "workload.mean": 10, "workload.cov": None, "workload.permanent": permanent}
    says = f"short transfers of three users beside three endless ones, 10 Mbit/s, 22 ms, buffer of {buffer} packets"
    return Experiment(f"bulk-{buffer}", says, "wired", fields, figures.beside_bulk, 60.0 if buffer == 1000 else 0.0)


_TODAY = {"cubic": {"congestion": "cubic"}, "reno": {"congestion": "aimd"}, "bbr": {"congestion": "bbr"}}
"""Controls by name of a transport: those a Linux host offers."""

_NEXT = {
    "cubic": {"congestion": "cubic"},
    "bbr3": {"congestion": "bbr3", "recovery": "sack", "tick": "1ns"},
    "prague": {"congestion": "prague", "ecn": "l4s", "recovery": "sack", "tick": "1ns"},
}
"""Those that are meant to come after it: without marks unless a discipline marks (RFC 9331)."""

TITLES = {control.module or control.rule: control.title for control in CONTROLS}
"""What readers call them, by name of a transport: that of the kernel's module where there is one."""


def _controls(
    name: str, rules: Mapping[str, Mapping[str, str]], mbps: int, buffer: int | str, words: str, quick_s: float
) -> Experiment:
    users = {"flows": 2, "users": 2, "spread": "1s", "group": "bulk"}
    fields = LINUX | {"transports": dict(rules), "network.rate": mbps * 1_000_000, "network.buffer": buffer}
    fields |= {"network.access_rate": mbps * 10_000_000, "network.delay": "18ms", "sample_interval": 0}
    fields |= {"workload.load": None, "workload.permanent": [{**users, "transport": rule} for rule in rules]}
    each = f"{', '.join(TITLES[rule] for rule in [*rules][:-1])} and {TITLES[[*rules][-1]]}"
    says = f"two endless transfers of {each} each, six users, {mbps} Mbit/s, 40 ms, buffer of {words}"
    return Experiment(name, says, "wired", fields | {"duration": "60s"}, figures.controls, quick_s)


def _attack(attack: Attack, board: Board) -> Experiment:
    fields = {f"workload.{name}": value for name, value in attack.workload(board.changed).items()}
    return Experiment(attack.id, board.says, attack.scenario, LINUX | fields, figures.attack, board.quick_s)


CELL = {"lfq": "lfq(medium=cell)"}


def _cell(buffer: int) -> Experiment:
    fields = LINUX | {"network.buffer": buffer, "sample_interval": 0, "duration": "60s"}
    says = f"five uploads against five downloads in a cell of 802.11a, {buffer} packets at the access point"
    return Experiment(f"cell-{buffer}", says, "wlan-5v5", fields, figures.cell, 20.0, CELL)


_N = {
    "network.wlan.standard": "802.11n",
    "network.wlan.rate": "mcs7",
    "network.wlan.width": 20,
    "network.wlan.streams": 2,
    "network.wlan.short_guard": True,
    "network.wlan.queues": "shared",
    "network.wlan.preset": None,
    "network.buffer": 1000,
    "sample_interval": 0,
    "duration": "20s",
}

_RTTS = [{"flows": 6, "users": 6, "rtt_min": "10ms", "rtt_max": "200ms", "spread": "1s", "group": "bulk"}]
_BOTH = [
    {"flows": 2, "users": 2, "spread": "1s", "group": "bulk"},
    {"flows": 2, "users": 2, "spread": "1s", "group": "bulk", "direction": "up"},
]

EXPERIMENTS: tuple[Experiment, ...] = (
    *(_load(percent) for percent in (50, 80, 104, 130)),
    _rate(1, "1000s", 0.0),
    _rate(50, "100s", 20.0),
    _rate(1000, "5s", 0.0),
    *(_rtt(ms) for ms in (5, 100, 600)),
    *(_buffer(words, buffer) for words, buffer in (("a tenth", "4400us"), ("one", "44ms"), ("thirty", "1320ms"))),
    *map(_bulk, (100, 1000)),
    Experiment(
        "pages",
        "pages over HTTP/1.1 and HTTP/2 beside two endless transfers, 10 Mbit/s, 30 ms",
        "pages",
        {**LINUX, "sample_interval": 0},
        figures.pages,
        100.0,
    ),
    _stream("call", "a call of 64 kbit/s beside 8 Mbit/s of transfers over 10", 64_000, 160),
    _stream(
        "video",
        "a stream of 500 kbit/s beside 8 Mbit/s of transfers over 10; transfers of its pair of hosts share with it",
        500_000,
        1500,
    ),
    _stream("video-own", "the same from a user of its own: no transfer has its pair of hosts", 500_000, 1500, users=1),
    *(_attack(attack, attack.board) for attack in ATTACKS if attack.board is not None),
    Experiment(
        "mixed-rtt",
        "six endless transfers of six users, round-trip times of 10 to 200 ms, 20 Mbit/s",
        "wired",
        LINUX
        | {"network.rate": "20mbit", "network.buffer": 300, "workload.permanent": _RTTS, "sample_interval": 0}
        | {"workload.load": None, "duration": "100s"},
        figures.shares,
        30.0,
    ),
    _controls("controls-10", _TODAY, 10, 300, "300 packets, nine bandwidth-delay products", 30.0),
    _controls("controls-50", _TODAY, 50, "60ms", "a bandwidth-delay product and a half", 0.0),
    _controls("scalable-50", _NEXT, 50, "60ms", "a bandwidth-delay product and a half", 30.0),
    Experiment(
        "asymmetric",
        "two downloads beside two uploads, 20 Mbit/s down and 1 Mbit/s up: acknowledgements wait with the uploads",
        "wired",
        LINUX
        | {"network.rate": "20mbit", "network.reverse_rate": "1mbit", "network.reverse_discipline": "same"}
        | {"network.delay": "10ms", "network.buffer": 300, "network.reverse_buffer": 100, "sample_interval": 0}
        | {"workload.load": 500_000, "workload.exact_load": True, "workload.maximum": 40, "workload.minimum": 4}
        | {"workload.mean": 10, "workload.cov": None, "workload.permanent": _BOTH, "duration": "100s"},
        figures.directions,
        40.0,
    ),
    *map(_cell, (30, 300)),
    Experiment(
        "cell-n",
        "five uploads against five downloads in a cell of 802.11n with aggregates and one queue",
        "wlan-5v5",
        LINUX | _N,
        figures.cell,
        5.0,
        CELL,
    ),
    Experiment(
        "slow-station",
        "ten downloads in a cell of 802.11a, one station slow, one queue",
        "wlan-slow-station",
        LINUX | {"network.wlan.queues": "shared", "sample_interval": 0, "duration": "60s"},
        figures.shares,
        20.0,
        CELL,
    ),
    Experiment(
        "enterprise",
        "transfers in both directions that offer 15 Mbit/s over 10 each way, most of them near",
        "enterprise",
        LINUX | {"workload.load": 15_000_000, "workload.exact_load": True, "sample_interval": 0, "duration": "200s"},
        figures.transfers,
    ),
)
"""In the order of the board."""
