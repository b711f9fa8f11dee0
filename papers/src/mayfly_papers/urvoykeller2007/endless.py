"""Urvoy-Keller 2007, 4: endless uploads and downloads in a cell of 802.11b under FIFO, LAS and LASACK.

*Equal* means within 25 %, *perfect fairness* within 10 %, written down before the runs.
"""

from itertools import pairwise

import polars as pl

from mayfly.arrays import number
from mayfly.simulate.run import RunResult
from mayfly_papers.chen2012.wlan import measures as wlan_measures
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Measures
from mayfly_papers.declare.rows import Quantity, at_least, below, greater_by, quantity, ratio, within
from mayfly_papers.urvoykeller2007.measures import PACKET_BYTES
from mayfly_papers.urvoykeller2007.windows import outstanding

DIFFERENCES = reasons(__package__)

NAMES = {"fifo": "FIFO", "las": "LAS", "lasack": "LASACK"}
BUFFERS = (5, 10, 20, 30, 50, 100)
"""MSS."""

TWO_ORDERS = 10**1.5
"""A ratio above it is nearer to 100 than to 10, as the axis of Fig. 3 has it, which is logarithmic."""

_TWO_ORDERS = "two orders of magnitude: above 31.6"

_ENDLESS = "`wlan-5v5` over 802.11b, 100 s, buffers of the access point in bytes"


def _endless(packets: int) -> Experiment:
    given = {
        "network.wlan.standard": "802.11b",
        "network.wlan.rate": "11mbit",
        "network.access_rate": "10mbit",
        "network.buffer": f"{packets * PACKET_BYTES}B",
        "sample_interval": 0,
        "trace": ["down", "up"],
    }
    return Experiment(f"endless-{packets}", given, tuple(NAMES), 20, persistent, "wlan-5v5")


def persistent(run: RunResult) -> Measures:
    """Of endless transfers, with windows weighted by time.

    Parameters
    ----------
    run : RunResult
        In a cell, traced.

    Returns
    -------
    dict of float
        As of :func:`mayfly_papers.chen2012.wlan.measures.persistent`, with ``down_cwnd``, ``up_cwnd`` and
        ``window_ratio`` of what is outstanding.
    """
    windows = run.records.join(outstanding(run), on="flow_id", how="left").group_by("direction")
    mean = {way: number(value) for way, value in windows.agg(pl.col("window_packets").mean()).iter_rows()}
    found = {f"{way}_cwnd": mean[way] for way in wlan_measures.WAYS}
    return wlan_measures.persistent(run) | found | {"window_ratio": mean["up"] / mean["down"]}


EXPERIMENTS = tuple(_endless(packets) for packets in BUFFERS)


def _claim(name: str, source: str, says: str, rows: list, settings: str, note: str = "") -> Claim:
    return Claim(name, f"Urvoy-Keller 2007, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def _endless_of(discipline: str, measure: str, packets: int) -> Quantity:
    return quantity(f"endless-{packets}", discipline, measure)


def endless_rtt() -> Claim:
    """One queue governs all round trips."""
    rows = [
        within(
            f"RTT of downloads over uploads, FIFO, {b} MSS",
            ratio(*(_endless_of("fifo", f"{way}_rtt_s", b) for way in ("down", "up"))),
            1.25,
        )
        for b in BUFFERS
    ]
    says = "round-trip times of downloads equal those of uploads for all buffers under FIFO"
    return _claim("endless-rtt", "4, Fig. 1", says, rows, _ENDLESS)


def endless_fifo() -> Claim:
    """Unfairness of FIFO by buffer, and the model of windows."""
    rows = [
        below(
            f"up over down, FIFO, {b} MSS",
            _endless_of("fifo", "ratio", b),
            _endless_of("fifo", "ratio", a),
            "",
            f"below {a} MSS",
        )
        for a, b in pairwise(BUFFERS)
    ]
    rows += [
        within(
            f"up over down, throughputs over windows, FIFO, {b} MSS",
            ratio(_endless_of("fifo", "ratio", b), _endless_of("fifo", "window_ratio", b)),
            1.25,
        )
        for b in BUFFERS
    ]
    says = (
        "under FIFO uploads get more, the less the larger the buffer; the ratio of throughputs is that of the windows"
    )
    return _claim("endless-fifo", "4, Fig. 2", says, rows, _ENDLESS, "The window ratio is the model of Pilosof 2003.")


def endless_las() -> Claim:
    """LAS is worse, LASACK is fair."""
    rows = []
    for b in BUFFERS:
        own = _endless_of("las", "ratio", b)
        rows.append(at_least(f"up over down, LAS, {b} MSS", own, TWO_ORDERS, direction=_TWO_ORDERS))
        rows.append(
            below(f"up over down, FIFO, {b} MSS", _endless_of("fifo", "ratio", b), own, "", "below LAS"),
        )
    says = "LAS is less fair than FIFO: uploads get two orders of magnitude more for all buffers"
    return _claim("endless-las", "4, Fig. 3", says, rows, _ENDLESS)


def endless_lasack() -> Claim:
    """LASACK is fair and costs nothing."""
    rows = [within(f"up over down, LASACK, {b} MSS", _endless_of("lasack", "ratio", b), 1.1) for b in BUFFERS]
    rows += [
        below(
            f"aggregate throughput, {NAMES[d]}, {b} MSS",
            _endless_of(d, "total_mbps", b),
            _endless_of("lasack", "total_mbps", b),
            "Mb/s",
            "below LASACK",
        )
        for d in ("fifo", "las")
        for b in BUFFERS
    ]
    says = "LASACK is perfectly fair for all buffers, and its aggregate throughput exceeds those of FIFO and LAS"
    return _claim("endless-lasack", "4, Fig. 3, 4", says, rows, _ENDLESS)


def endless_control() -> Claim:
    """Both variables are used."""
    rows = [
        greater_by(
            f"RTT of {what}, {NAMES[d]}, {b} MSS",
            _endless_of(d, f"{a}_rtt_s", b),
            _endless_of(d, f"{c}_rtt_s", b),
            "s",
            f"above {other}",
        )
        for d, what, a, c, other in (
            ("las", "downloads", "down", "up", "uploads"),
            ("lasack", "uploads", "up", "down", "downloads"),
        )
        for b in (20, 50)
    ]
    rows += [
        below(
            f"window of uploads, LASACK, {b} MSS",
            _endless_of("lasack", "up_cwnd", b),
            _endless_of("fifo", "up_cwnd", b),
            "MSS",
            "below FIFO",
        )
        for b in (20, 50)
    ]
    says = "LAS and LASACK act on round-trip times and windows both"
    note = (
        "Read as: round trips of the penalised direction are longer, and LASACK keeps the windows of uploads smaller."
    )
    return _claim("endless-control", "4, Fig. 5, 6", says, rows, _ENDLESS, note)


CLAIMS = (endless_rtt(), endless_fifo(), endless_las(), endless_lasack(), endless_control())
"""Claims of 4."""
