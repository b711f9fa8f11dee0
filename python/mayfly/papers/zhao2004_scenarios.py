"""Runs of Zhao 2004, Table III and chapter IV: mixes of long TCP, CBR and short TCP flows at one link."""

from mayfly.papers.declaration import Experiment, Measures
from mayfly.papers.rows import Quantity, quantity
from mayfly.simulate.run import RunResult

RED = "red(min_th=15,max_th=45,spacing=wait,mark_max=0.1)"
FLAT = "red(min_th=60,max_th=60,spacing=wait,mark_max=0.1)"
SEEDS = 4
COUNTED_S = 220.0
"""`red-ns2` runs 320 s and counts from 100 s on."""
ROUND_TRIP_S = 0.12
"""Propagation delay of chapter IV, both ways."""


def shares(run: RunResult) -> Measures:
    """Shares, drop and mark rates by class; drop rate of all, per cent; mean queueing delay over the round trip."""
    sent = sum(row["sent_bytes"] for row in run.classes)
    found: Measures = {"drops": 100 * run.counters["drops"] / run.counters["arrivals"]}
    found["utilisation"] = run.counters["utilisation"]
    rate = sum(row["sent"] for row in run.classes) / COUNTED_S
    found["delay"] = run.counters["queue_mean_packets"] / rate / ROUND_TRIP_S
    for row in run.classes:
        name = row["group"]
        found[f"{name}_share"] = row["sent_bytes"] / sent
        found[f"{name}_drops"] = row["drops"] / row["arrivals"]
        found[f"{name}_marks"] = row["marks"] / row["arrivals"]
    return found


def cbr(flows: int, spread_s: float, rate_bps: int = 1_000_000) -> list[dict]:
    """CBR flows from hosts of their own; in step where ``spread_s`` is 0."""
    row = {"rate": rate_bps, "packet": 1000, "flows": flows, "users": flows, "spread": spread_s, "group": "ltnrf"}
    return [row]


def table_3(queue: str, spread_s: float, access: str, identity: str) -> Experiment:
    """35 TCP and 22 CBR flows over 28 Mb/s."""
    overrides = {"workload.cbr": cbr(22, spread_s), "network.access_delay": access, "network.exit_delay": access}
    overrides["network.buffer_counts_transmission"] = queue == "dt"
    discipline = {"dt": "fifo", "red": RED, "flat": FLAT}[queue]
    return Experiment(identity, overrides, (discipline,), SEEDS, shares, scenario="red-ns2")


BUFFERS = {
    5: {"1/3": 25, "1": 75, "3": 225},
    35: {"1/3": 200, "1": 500, "3": 1500},
    100: {"1/3": 500, "1": 1500, "3": 4500},
}
"""Table VI, packets, by link in Mb/s and multiple of the bandwidth-delay product."""


def discipline_of(queue: str, buffer: int) -> str:
    """The queue management of chapter IV; thresholds 1 to 3 as printed, at 1/4 and 3/4 of the buffer."""
    thresholds = f"min_th={buffer / 4:g},max_th={3 * buffer / 4:g},spacing=wait,mark_max=0.1"
    return {"dt": "fifo", "red": f"red({thresholds})", "ecn": f"red({thresholds},ecn=on)"}[queue]


def chapter_4(identity: str, queue: str, mbps: int, mice: int, spread_s: float, multiple: str = "1") -> Experiment:
    """Table VII scaled to the link; CBR flows of 1 Mb/s, of 0.5 Mb/s at 5 Mb/s."""
    scale, buffer, rate_bps = mbps / 35, BUFFERS[mbps][multiple], 500_000 if mbps == 5 else 1_000_000
    ltnrf = round({0: 22, 250: 22, 1300: 14}[mice] * scale * 1_000_000 / rate_bps)
    flows, sources = round(55 * scale), round(mice * scale)
    overrides = {
        "network.rate": mbps * 1_000_000,
        "network.access_delay": "5ms",
        "network.exit_delay": "5ms",
        "network.buffer": buffer,
        "network.buffer_counts_transmission": queue == "dt",
        "tcp.recovery": "sack",
        "tcp.min_rto": "200ms",
        "tcp.ecn": queue == "ecn",
        "workload.permanent": [{"flows": flows, "spread": "2s", "users": flows, "group": "ltrf"}],
        "workload.cbr": cbr(ltnrf, spread_s, rate_bps),
    }
    if mice:
        row = {"sources": sources, "size": 10, "period": "10s", "spread": "10s", "users": 50, "group": "stf"}
        overrides["workload.short_term"] = [row]
    return Experiment(identity, overrides, (discipline_of(queue, buffer),), SEEDS, shares, scenario="red-ns2")


QUEUES = ("red", "ecn", "dt")
TABLE_3_QUEUES = ("dt", "red", "flat")
NAMES = {"red": "RED", "ecn": "RED-ECN", "dt": "DropTail", "flat": "RED (60/60)"}
PHASES = {"in-step": 0.0, "staggered": 2.0}
ACCESS = {"": "0s", "-1ms": "1ms"}
LINKS = (5, 35, 100)
LOADS = {0: "0 %", 250: "5 %", 1300: "30 %"}
"""Load of short-term flows by their number at 35 Mb/s."""


def _chapter_4() -> dict[str, Experiment]:
    """By name. Buffers of 1/3 and 3 with staggered sources only: a full link does not tell the phase."""
    cells = [(mbps, 1300, "1", phase) for mbps in LINKS for phase in PHASES]
    cells += [(100, mice, "1", phase) for mice in (0, 250) for phase in PHASES]
    cells += [(mbps, 1300, multiple, "staggered") for mbps in LINKS for multiple in ("1/3", "3")]
    named = {}
    for mbps, mice, multiple, phase in cells:
        for queue in QUEUES:
            identity = name_of(queue, mbps, mice, phase, multiple)
            named[identity] = chapter_4(identity, queue, mbps, mice, PHASES[phase], multiple)
    return named


def name_of(queue: str, mbps: int, mice: int, phase: str, multiple: str = "1") -> str:
    """Id of a run of chapter IV."""
    return f"{queue}-{mbps}-{mice}-{phase}" + {"1": "", "1/3": "-third", "3": "-triple"}[multiple]


TABLE_3 = tuple(
    table_3(queue, spread_s, access, f"table-3-{queue}-{phase}{suffix}")
    for queue in TABLE_3_QUEUES
    for phase, spread_s in PHASES.items()
    for suffix, access in ACCESS.items()
)
CHAPTER_4 = tuple(_chapter_4().values())
EXPERIMENTS = TABLE_3 + CHAPTER_4
_LABEL = {experiment.id: experiment.disciplines[0] for experiment in EXPERIMENTS}


def of(experiment: str, measure: str) -> Quantity:
    """A measure of an experiment.

    Parameters
    ----------
    experiment : str
        Id, as `name_of` makes them in chapter IV.
    measure : str
        Of `shares`.

    Returns
    -------
    callable
        Runs to values.
    """
    return quantity(experiment, _LABEL[experiment], measure)
