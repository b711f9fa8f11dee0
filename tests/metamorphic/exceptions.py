"""Where a relation does not hold, and why: periods that begin with the run, and what a run counts that goes on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from drawn_links import FIGURES, Drawn, Figures, drawn, link, ran
from relations import FROM_S, NANOSECOND, RECEIVED, SHIFT_S, differing, ran_later, renamed

PERIODS: Mapping[str, tuple[float, str]] = {
    "PIE updates its probability": (0.015, "crates/qdisc/src/parts/pie.rs, Clock::of"),
    "PI2 updates its probability": (0.016, "crates/qdisc/src/parts/pi2.rs"),
    "idle flows leave a table at a visit": (5.0, "crates/qdisc/src/parts/flow_table.rs, FlowTable::visit"),
    "LFQ counts the age of newcomers in units of 2^16 ns": (2**16 * 1e-9, "crates/qdisc/src/parts/lobby.rs, TICK"),
    "CoDel of Linux counts in units of 2^10 ns": (2**10 * 1e-9, "crates/qdisc/src/parts/codel_linux.rs, SHIFT"),
    "hosts of ns-2 measure in ticks": (0.01, "crates/netsim/src/tcp/rtt.rs, Rtt::sample"),
    "timers of Linux of 16 s and more go off with a slot of 512 jiffies": (
        512 * 0.004,
        "crates/netsim/src/tcp/linux/clock.rs, Clock::goes_off",
    ),
}
"""What happens at multiples of a time since the run began, seconds; and where. The phase of each is 0, but for the
ticks and jiffies of a host, whose phase is drawn from the seed and stays when a run is moved by a multiple."""

Differs = Callable[[], list[str]]


@dataclass(frozen=True)
class Excepted:
    """A pair of runs that differ, and what takes the difference away.

    Parameters
    ----------
    relation : str
        The relation that would be broken.
    of : str
        Links that it is broken for.
    reason : str
        Why.
    differences : callable
        Figures that differ.
    without : callable
        The same without the cause: none.
    """

    relation: str
    of: str
    reason: str
    differences: Differs
    without: Differs


def _moved(one: Drawn, by_s: float, from_s: float = 0.0) -> Differs:
    """Figures that differ when all begins so much later, counted from a run that begins at ``from_s``."""
    return lambda: list(differing(ran_later(one, from_s), ran_later(one, from_s + by_s), FIGURES, NANOSECOND))


def _renamed(one: Drawn, in_order: bool) -> Differs:
    return lambda: list(differing(ran(one), ran(renamed(one, in_order)), FIGURES, 0.0))


def _longer(one: Drawn, figures: tuple[str, ...]) -> Differs:
    def differences() -> list[str]:
        base: Figures = {flow: row for flow, row in ran(one).items() if row["response_time_s"] is not None}
        return list(differing(base, ran(one.with_(duration="80s")), figures, 0.0))

    return differences


def _newcomers() -> Drawn:
    """Three flows under `lfq`, of which one is on probation when another one sends."""
    down = {"direction": "down", "dst": "12"}
    rows = [
        {"flow_id": 0, "start_s": 0.003, "src": "2", "protocol": "tcp", "size_bytes": 5_000, **down},
        {"flow_id": 1, "start_s": 0.004, "src": "3", "protocol": "tcp", "size_bytes": 500_000, **down},
        {"flow_id": 2, "start_s": 0.007, "src": "4", "protocol": "udp", "size_bytes": 100_000, **down}
        | {"dst": "14", "rate_bps": 1e7, "packet_bytes": 100},
    ]
    overrides = {
        "duration": "40.0s",
        "tcp.preset": "linux-6.1",
        "network.rate": "20mbit",
        "network.access_rate": "40mbit",
        "network.delay": "20ms",
        "network.access_delay": "0ms",
        "network.exit_delay": "1ms",
        "network.buffer": 100,
    }
    return Drawn(-1, "dumbbell", "lfq", overrides, rows)


_PIE = "The probability is updated at multiples of 15 ms of the run: 8 s are 533 1/3 of them, 7.995 s are 533."
_LINUX = (
    "Timers of 252 ms to 2 s go off at multiples of 8 jiffies, of 2 to 16 s at those of 64 (256 ms), of more at those "
    "of 512 (2.048 s), as in kernel/time/timer.c: 8 s are 31.25 times 256 ms, 8.192 s are 32."
)
_CODEL = (
    "A queue that lost packets to a full buffer and has not yet dropped one by CoDel begins with their count where its "
    "last dropping state, which counts as one at time 0, ended less than 16 intervals (1.6 s) ago, as in "
    "codel_impl.h: so it does in the first 1.6 s of a run, and from 2199 s on, half of the 4398 s after which 32 bits "
    "of 1024 ns wrap. From 2 s to 2199 s nothing depends on when the run began."
)

EXCEPTIONS = {
    "pie, 8 s": Excepted("later", "pie", _PIE, _moved(link(65), 8.0), _moved(link(65), 7.995)),
    "fq_pie, 8 s": Excepted("later", "fq_pie", _PIE, _moved(link(462), 8.0), _moved(link(462), 7.995)),
    "Linux, 8 s, pefd": Excepted(
        "later", "hosts of Linux, any discipline", _LINUX, _moved(link(25), 8.0), _moved(link(25), 8.192)
    ),
    "Linux, 8 s, run2cack": Excepted(
        "later", "hosts of Linux, any discipline", _LINUX, _moved(link(140), 8.0), _moved(link(140), 8.192)
    ),
    "lfq, 8 s": Excepted(
        "later",
        "lfq",
        "The age of a newcomer is counted in units of 65.536 us of the run: 8 s are 122070.3 of them, 8.192 s 125000.",
        _moved(_newcomers(), 8.0),
        _moved(_newcomers(), 8.192),
    ),
    "dqfq, from 0 s": Excepted("later", "dqfq", _CODEL, _moved(link(1093), 8.192), _moved(link(1093), 8.192, 2.048)),
    "fq_codel, from 0 s": Excepted(
        "later", "fq_codel", _CODEL, _moved(link(521), 8.192), _moved(link(521), 8.192, 2.048)
    ),
    "fq_codel, beyond 2199 s": Excepted(
        "later", "fq_codel", _CODEL, _moved(link(521), 2176.0, FROM_S), _moved(link(521), 1024.0, FROM_S)
    ),
    "BBR, 3840 s": Excepted(
        "later",
        "BBR of versions 1 and 3",
        "Where a cycle of probing begins is drawn from the number of the flow and the time at which its handshake ended"
        " (crates/netsim/src/tcp/rules/path.rs, draw): a run that begins later draws others. CUBIC draws none.",
        _moved(drawn(218), SHIFT_S),
        _moved(drawn(218).with_(tcp__congestion="cubic"), SHIFT_S),
    ),
    "names in a cell": Excepted(
        "names",
        "cells",
        "Stations are numbered in order of their names (python/mayfly/simulate/network/cell.py, Cell.endpoints), and "
        "the back-off of each is drawn from the stream of its number: names in the same order give the same.",
        _renamed(link(0), False),
        _renamed(link(0), True),
    ),
    "QUIC, longer": Excepted(
        "longer, idle",
        "presets of QUIC, but for the receiver's figures",
        "A flow of QUIC has its response time when the receiver has all. Its sender, whose last packets or their "
        "acknowledgement were lost, goes on with them, and counts: packets, drops, marks, round trips.",
        _longer(link(929), FIGURES),
        _longer(link(929), RECEIVED),
    ),
}
