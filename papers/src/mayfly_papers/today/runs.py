"""Runs of the page of today: the thesis' experiments with the transport of 2026, beside the queues of 2026.

Transports are named once: ``thesis`` is that of the other pages; ``cubic`` what a Linux host does (``tcp.preset =
linux``: CUBIC, HyStart, initial window 10, SACK, timestamps); ``bbr`` and ``ecn`` are that with BBR and with ECN,
``patient`` is it with a minimum timeout of 1 s.
"""

from typing import Any

import numpy as np
import polars as pl

from mayfly.scenario.scenario import Scenario
from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.today import measures

THRESHOLDS = (5, 10, 20, 40, 80, 160)
"""Of EFD, packets of 1500 bytes."""

WINDOWS = (3, 10, 30)
"""Initial windows, segments: RFC 3390, RFC 6928, and beyond it."""


def efd_of(packets: int) -> str:
    """EFD with that threshold."""
    return f"efd(threshold={packets * 1500}B)"


WIDE = efd_of(80)
"""EFD with a threshold of 80 packets, chosen after the runs with initial windows of 10 and 30 had been seen."""

NAMES = {
    "fifo": "FIFO",
    "efd": "EFD",
    WIDE: "EFD with th = 80",
    "las": "LAS",
    "fq_codel": "FQ-CoDel",
    "cake": "CAKE",
    "fq_pie": "FQ-PIE",
    "pie": "PIE",
    "dualpi2": "DualPI2",
    "pefd": "PEFD",
    "efdack": "EFDACK",
    "lasack": "LASACK",
}
WIRED = ("fifo", "efd", "las", "fq_codel", "cake", "fq_pie", "pie", "dualpi2")
FAIR_RIVALS = ("cake", "fq_pie")
ONE_QUEUE_RIVALS = ("pie", "dualpi2")
RIVALS = ("fq_codel", *FAIR_RIVALS, *ONE_QUEUE_RIVALS)
SHORTER = ("fifo", "efd", "fq_codel", "cake", "fq_pie", "pie")
CELL = ("fifo", "efd", "pefd", "efdack", "lasack", "fq_codel", "cake", "fq_pie", "pie")

LINUX = {"tcp.preset": "linux-6.1"}
TRANSPORTS: dict[str, dict[str, Any]] = {
    "thesis": {},
    "cubic": LINUX,
    "bbr": LINUX | {"tcp.congestion": "bbr"},
    "ecn": LINUX | {"tcp.ecn": True},
    "patient": LINUX | {"tcp.min_rto": "1s"},
}
TODAY = ("cubic", "bbr", "ecn")

UNDERLOAD, OVERLOAD = 8, 10.4
"""Mb/s over 10 Mb/s: as printed, and what the figures of the overload fit (``chen2012.INTRODUCTION``)."""

LOADS = (UNDERLOAD, OVERLOAD)


def wired_id(transport: str, load_mbps: float) -> str:
    """Of the experiment of Table 4.2 and Fig. 4.9."""
    return f"{transport}-{load_mbps:g}"


SHORT_RUN = {"duration": "600s"}


def _exact(load_mbps: float) -> dict[str, Any]:
    return {"workload.load": round(load_mbps * 1e6), "workload.exact_load": True, "sample_interval": 0}


def _wired(transport: str, load_mbps: float) -> Experiment:
    given = TRANSPORTS[transport] | _exact(load_mbps)
    # Stalls are looked for where the thesis has them.
    if load_mbps == UNDERLOAD and transport == "cubic":
        given["sample_interval"] = 0.1
    disciplines: tuple[str, ...] = ("fifo", "efd", "fq_codel") if transport == "patient" else WIRED
    if transport in ("cubic", "bbr"):
        disciplines += (WIDE,)
    replications = 8 if transport in ("cubic", "patient") else 5
    return Experiment(wired_id(transport, load_mbps), given, disciplines, replications, measures.transfers)


STREAM_RATES = {"call": 64_000, "video": 500_000, "conference": 2_500_000}
"""Bit/s: audio and video of 4.6.4, and a video call of today."""

STREAM_LOADS = (4, 8)
"""Mb/s: the thesis' underload and moderate load."""


def stream_id(name: str, load_mbps: float) -> str:
    """Of the experiment with one stream at a constant rate."""
    return f"{name}-beside-{load_mbps:g}"


def _stream(name: str, load_mbps: float) -> Experiment:
    source = {"rate": STREAM_RATES[name], "packet": 1500, "start": "10s", "group": "cbr"}
    # The codec sends 50 packets of 160 bytes a second.
    if name == "call":
        source["packet"] = 160
    given = LINUX | SHORT_RUN | _exact(load_mbps) | {"network.buffer": 50, "workload.cbr": [source], "trace": ["cbr"]}
    return Experiment(stream_id(name, load_mbps), given, WIRED[:-1], 5, measures.stream)


def _window(segments: int) -> Experiment:
    given = LINUX | SHORT_RUN | _exact(UNDERLOAD) | {"tcp.initial_window": segments}
    disciplines = ("fifo", "fq_codel", *map(efd_of, THRESHOLDS))
    return Experiment(f"window-{segments}", given, disciplines, 5, measures.transfers)


FAST = {
    "network.rate": "50mbit",
    "network.access_rate": "1gbit",
    "network.delay": "20ms",
} | SHORT_RUN
"""50 Mb/s and 44 ms: 183 packets under way, in place of 5."""


def _fast(transport: str) -> Experiment:
    given = TRANSPORTS[transport] | _exact(40) | FAST
    return Experiment(f"fast-{transport}", given, SHORTER, 5, measures.transfers)


BUFFERS = (100, 1000)
"""Packets: 0.12 s and 1.2 s of the link."""


def _bulk(buffer: int) -> Experiment:
    given = (
        LINUX
        | SHORT_RUN
        | _exact(1)
        | {
            "network.buffer": buffer,
            "network.delay": "10ms",
            "duration": "600s",
            "warm_up": "20s",
            "workload.maximum": 40,
            "workload.minimum": 4,
            "workload.mean": 10,
            "workload.cov": None,
            "workload.permanent": [{"flows": 3, "users": 3, "spread": "1s", "group": "bulk"}],
        }
    )
    return Experiment(f"bulk-{buffer}", given, WIRED, 5, measures.bulk)


KEPT = 10
ANSWER_PACKETS = 12


def requests(scenario: Scenario, replication: int) -> pl.DataFrame:
    """10 connections that stay open and as many requests over new ones, every 5 s on average, beside two bulk ones."""
    from mayfly.workload.lists import flow_list

    rng = np.random.default_rng(replication)
    mss, end = scenario.tcp.mss, scenario.duration - 10
    turn = f"up 400 | down {ANSWER_PACKETS * mss}"
    rows: list[tuple[Any, ...]] = [(0.1 * k, 100 + k, 200 + k, 10**9, None, "bulk") for k in range(2)]
    for user in range(KEPT):
        gaps = rng.exponential(5.0, int(end / 5))
        script = " | ".join(f"wait {gap * 1e3:.3f}ms | {turn}" for gap in gaps)
        rows.append((rng.uniform(0, 5), 300 + user, 400 + user, None, script, "kept"))
        starts = np.cumsum(rng.exponential(5.0, int(end / 5)))
        rows += [(start, 500 + user, 600 + user, None, turn, "fresh") for start in starts if start < end]
    columns = ("start_s", "src", "dst", "size_bytes", "script", "group")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, None) | {"start_s": pl.Float64}, orient="row")
    return flow_list(frame.cast({"size_bytes": pl.Int64}), mss=mss)


ISOLATED = ("fifo", "efd", WIDE, "las", "fq_codel", "cake", "fq_pie", "pie")
SPLITS = (1, 16)
"""Connections that carry one transfer."""


def _split(connections: int) -> Experiment:
    batch = {"size": "5MB", "flows": connections, "start": "10s", "every": "60s", "users": 1, "group": "attacker"}
    given = LINUX | {"workload.batch": [batch], "sample_interval": 0}
    return Experiment(f"split-{connections}", given, ISOLATED, 5, measures.isolation, "gaming-split")


MIXED_LOADS = (10, 20)
CELL_BUFFERS = (30, 300)
"""Packets at the access point, of the claims."""

DRAWN_BUFFERS = (10, 30, 100, 300)
"""Of the figure."""


def cell_experiment(buffer: int) -> Experiment:
    """Five uploads against five downloads, that many packets at the access point."""
    given = LINUX | {"network.buffer": buffer, "sample_interval": 0, "duration": "60s"}
    return Experiment(f"5v5-{buffer}", given, CELL, 10, measures.cell, "wlan-5v5")


def _five_n(queues: str) -> Experiment:
    # 802.11n as the ready scenario `wlan-n`, without its slow station.
    wlan = {"network.wlan.standard": "802.11n", "network.wlan.rate": "mcs7", "network.wlan.width": 20}
    wlan |= {"network.wlan.streams": 2, "network.wlan.short_guard": True, "network.wlan.queues": queues}
    wlan |= {"network.wlan.preset": None}
    given = LINUX | wlan | {"network.buffer": 1000, "sample_interval": 0, "duration": "20s"}
    return Experiment(f"5v5-n-{queues}", given, CELL, 5, measures.cell, "wlan-5v5")


def _mixed(load_mbps: float) -> Experiment:
    return Experiment(f"cell-{load_mbps}", LINUX | SHORT_RUN | _exact(load_mbps), CELL, 5, measures.mixed, "wlan")


EXPERIMENTS = (
    *(_wired(transport, load) for transport in TODAY for load in LOADS),
    *(_wired(transport, UNDERLOAD) for transport in ("thesis", "patient")),
    *(_stream(name, load) for name in STREAM_RATES for load in STREAM_LOADS),
    *map(_window, WINDOWS),
    *(_fast(transport) for transport in ("cubic", "bbr")),
    *map(_bulk, BUFFERS),
    Experiment("pages", LINUX | {"sample_interval": 0}, (*WIRED, WIDE), 10, measures.pages, "pages"),
    Experiment(
        "requests",
        LINUX | {"tcp.restart_after_idle": True, "duration": "300s", "sample_interval": 0, "network.delay": "10ms"},
        WIRED,
        5,
        measures.answers,
        flows=requests,
    ),
    *map(_split, SPLITS),
    Experiment("spaced", LINUX | {"sample_interval": 0}, ISOLATED, 5, measures.isolation, "gaming-spaced"),
    Experiment("enterprise", LINUX | _exact(15), SHORTER, 5, measures.by_latency, "enterprise"),
    *map(cell_experiment, DRAWN_BUFFERS),
    *(_five_n(queues) for queues in ("shared", "airtime-fair")),
    *map(_mixed, MIXED_LOADS),
)
"""All runs of the page."""
