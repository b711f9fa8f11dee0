"""Runs of Zhao 2004, II.C and II.D, that the estimator of non-responsive traffic is tried on."""

from typing import Any

from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.zhao2004.estimator.measures import Known, accuracy

RED = "red(min_th=15,max_th=45,spacing=wait,mark_max=0.1)"
SEEDS = 5
SAMPLING_S = 0.033
"""A third of the round trip (II.C)."""
PACKET: dict[str, Any] = {"tcp.mss": 1000}
"""1040 bytes on the wire: `packetSize_ 1000` of ns-2 adds 40, and Table III comes out with no other
(docs/papers/zhao-2004-settings.md). The scenarios, which references of ns-2 with 1000 bytes are held to, have 960."""

Overrides = dict[str, Any]


def cbr(flows: int) -> list[dict]:
    """Flows of 1 Mb/s, each with hosts of its own, begun within 2 s."""
    return [{"rate": "1mbit", "packet": 1000, "flows": flows, "users": flows, "spread": "2s", "group": "ltnrf"}]


def permanent(**rtts: str) -> list[dict]:
    """The 35 TCP flows."""
    return [{"flows": 35, "spread": "2s", "users": 35, "group": "ltrf", **rtts}]


def on_off(period_s: int) -> Overrides:
    """20 CBR flows and 6 that are on and off in turn, all in phase (II.C.3)."""
    period = f"{period_s}s"
    row = {"rate": "1mbit", "packet": 1000, "flows": 6, "users": 6, "on": period, "off": period, "group": "on-off"}
    return {"workload.cbr": cbr(20), "workload.on_off": [row]}


def short_flows(sources: int) -> Overrides:
    """16 CBR flows; from 100 s on ``sources`` that send 20 packets at 5 random instants of each 50 s (II.C.4)."""
    row = {"sources": sources, "size": 20, "times": 5, "period": "50s", "arrivals": "uniform", "start": "100s"}
    return {
        "workload.cbr": cbr(16),
        "workload.short_term": [row | {"users": 50, "group": "stf"}],
        "nonresponsive": ["stf"],
    }


def rtt_range(shortest: str, longest: str) -> Overrides:
    """TCP flows with round-trip times at equal distances, over a bottleneck short enough for the first (II.C.5)."""
    own = permanent(rtt_min=shortest, rtt_max=longest)
    return {"workload.permanent": own, "network.delay": "10ms", "workload.cbr": cbr(22)}


def same_rtt(rtt_ms: int) -> Overrides:
    """All flows with one round-trip time (Fig. 8)."""
    return {"network.delay": f"{rtt_ms / 2:g}ms", "workload.cbr": cbr(22)}


def vbr(shortest: str, longest: str) -> Overrides:
    """16 flows with rates uniform on 0.5 to 1.5 Mb/s, each kept for a time drawn uniformly (II.C.6)."""
    row = {"rate_min": "500kbit", "rate_max": "1500kbit", "period_min": shortest, "period_max": longest}
    return {"workload.cbr": [], "workload.vbr": [row | {"flows": 16, "users": 16, "group": "vbr"}]}


def binomial(rule: str, flows: int) -> Overrides:
    """``flows`` of the 35 responsive flows under a binomial rule beside 22 CBR flows (Table I)."""
    rows = [{"flows": flows, "spread": "2s", "users": flows, "group": "binomial"}] if flows else []
    rows += [{"flows": 35 - flows, "spread": "2s", "users": 35 - flows, "group": "ltrf"}] if flows < 35 else []
    rules = {"tcp.congestion_of": {"binomial": rule}} if flows else {}
    return {"workload.permanent": rows, "workload.cbr": cbr(22)} | rules


def branches(top: int, bottom: int) -> Overrides:
    """CBR flows of set B by branch (II.D)."""
    ways = [("B top", top, "AB", "top"), ("B bottom", bottom, "AB", "bottom")]
    ways += [("D", 11, "CD", "top"), ("F", 6, "EF", "bottom")]
    row = {"rate": "1mbit", "packet": 1000, "spread": "2s"}
    return {"workload.cbr": [row | {"group": g, "flows": n, "from": a, "to": b} for g, n, a, b in ways]}


CBR_LOADS = (10, 13, 16, 19, 22, 25, 28)
"""Figure 4 shows MSEs over the load; 3 takes 16, 22 and 25."""
PERIODS = (100, 20, 5)
RTTS_MS = (40, 80, 120, 160, 200)
MIN_THRESHOLDS = (15, 25, 35)
"""Of RED, below its maximum of 45 (II.C.8: "increased")."""
MIXES = {"0": 0, "50": 18, "100": 35}
"""Binomial flows of 35 by per cent."""
BRANCHES = {"25": (12, 13), "22": (11, 11), "16": (8, 8), "uneven": (6, 16)}


SACK: Overrides = {"tcp.recovery": "sack", "tcp.min_rto": "200ms"}
"""The TCP of chapter IV with ns-2's minimum timeout since autumn 2004."""

RANGE = Known("90ms", "24.4ms..175.5ms", {"rtt": "90ms"})
"""R_0 as in II.C.5; the truth beside it."""
HOPS = Known("200ms", published={"gamma_2": 0.25})
"""Two links there and back; the gain of II.D."""


def fixed(rtt_ms: int) -> Known:
    """R_0 of 120 ms whatever the flows have (Fig. 8): 100 ms of path and the queue."""
    return Known("100ms", f"{rtt_ms}ms", {"rtt": "120ms"})


def single(
    identity: str,
    overrides: Overrides,
    discipline: str = RED,
    known: Known | None = None,
    period_s: float = 0.0,
    steady: bool = False,
) -> Experiment:
    """A run on one bottleneck; ``known`` is what the estimator is told."""
    given = {"sample_interval": f"{SAMPLING_S}s"} | PACKET | overrides
    return Experiment(
        identity, given, (discipline,), SEEDS, accuracy(known, period_s, steady), scenario="red-ns2", whole=True
    )


def _singles() -> list[Experiment]:
    runs = [single(f"cbr-{flows}", {"workload.cbr": cbr(flows)}, steady=True) for flows in CBR_LOADS]
    runs += [single(f"sack-{flows}", {"workload.cbr": cbr(flows)} | SACK) for flows in (16, 22, 25)]
    runs += [single(f"on-off-{period}", on_off(period), period_s=period) for period in PERIODS]
    runs += [single("short-flows", short_flows(300))]
    runs += [single("rtt-range", rtt_range("24.4ms", "175.5ms"), known=RANGE)]
    runs += [single(f"rtt-{rtt}", same_rtt(rtt), known=fixed(rtt)) for rtt in RTTS_MS]
    runs += [single("vbr-slow", vbr("1s", "20s")), single("vbr-fast", vbr("100ms", "1s"))]
    runs += [
        single(f"{rule}-{share}", binomial(rule, flows))
        for rule in ("iiad", "sqrt")
        for share, flows in MIXES.items()
        if flows
    ]
    runs += [
        single(f"min-th-{low}", {"workload.cbr": cbr(22)}, f"red(min_th={low},max_th=45,spacing=wait,mark_max=0.1)")
        for low in MIN_THRESHOLDS
    ]
    return runs


def _multihop() -> list[Experiment]:
    given = {"sample_interval": f"{SAMPLING_S}s", "duration": "320s", "warm_up": "100s"} | PACKET
    return [
        Experiment(
            f"hops-{name}", given | branches(*ways), (RED,), SEEDS, accuracy(HOPS), scenario="zhao-multihop", whole=True
        )
        for name, ways in BRANCHES.items()
    ]


SINGLE_HOP = tuple(_singles())
MULTI_HOP = tuple(_multihop())
EXPERIMENTS = SINGLE_HOP + MULTI_HOP
