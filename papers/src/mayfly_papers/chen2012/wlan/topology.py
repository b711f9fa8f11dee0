"""Chen 2012, 9.3.1: the topological model of enterprise traffic in a cell of 802.11a.

What words mean was written down before the runs: *similar*, within 25 %; a *discrepancy among disciplines* is the ratio
of the largest to the smallest mean response time of five disciplines, and one is there when it exceeds 1.25.
"""

import numpy as np

from mayfly_papers.chen2012.wlan import measures
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Row, Runs, Values
from mayfly_papers.declare.rows import Quantity, at_least, below, quantity, ratio, within

DIFFERENCES = reasons(__package__)

NAMES = {"fifo": "FIFO", "scfq": "SCFQ", "run2c": "Run2C", "las": "LAS", "efd": "EFD"}
DISCIPLINES = tuple(NAMES)
LOADS = (10, 20)
SIZES = {"small": "up to 20 MSS", "middling": "21 to 300 MSS"}

LEGACY = [{"share": 1.0, "up_share": 0.46, "rtt": "10.9ms"}]
"""Table 9.1, and the mean of 1 and 100 ms."""


def _experiment(model: str, load_mbps: float, **more) -> Experiment:
    given = {
        "workload.load": round(load_mbps * 1e6),
        "workload.exact_load": True,
        "duration": "1000s",
        "sample_interval": 0,
    }
    identity = f"{model}-{load_mbps}"
    return Experiment(identity, given | more, DISCIPLINES, 4, measures.by_latency, "wlan-enterprise")


EXPERIMENTS = (
    *(_experiment("topological", load) for load in LOADS),
    *(_experiment("legacy", load, **{"workload.part": LEGACY}) for load in LOADS),
)


def _claim(name: str, says: str, rows: list, note: str = "") -> Claim:
    settings = "`wlan-enterprise`, 30 packets, 1000 s, 10 and 20 Mb/s both ways; Tables 9.1 and 9.2"
    source = "Chen 2012, 9.3.1, Fig. 9.11, 9.12"
    return Claim(name, source, says, settings, tuple(rows), DIFFERENCES.get(name), note)


def similar() -> Claim:
    """Both models as a whole."""
    rows = [
        within(
            f"{text}, {NAMES[d]}, topological over legacy, {load} Mb/s",
            ratio(*(quantity(f"{model}-{load}", d, f"{size}_s") for model in ("topological", "legacy"))),
            1.25,
        )
        for load in LOADS
        for d in DISCIPLINES
        for size, text in SIZES.items()
    ]
    return _claim("topology-similar", "transfers of all sizes fare alike in the legacy and the topological model", rows)


def discrepancy(load: float, measure: str) -> Quantity:
    """Largest over smallest mean of the disciplines."""

    def of_runs(runs: Runs) -> Values:
        stacked = np.stack([runs.values(f"topological-{load}", d, measure) for d in DISCIPLINES])
        return stacked.max(axis=0) / stacked.min(axis=0)

    return of_runs


def emerges() -> Claim:
    """Disciplines matter for the Internet too."""
    rows: list[Row] = [
        at_least(f"discrepancy, Internet, {text}, 10 Mb/s", discrepancy(10, f"internet_{size}_s"), 1.25)
        for size, text in SIZES.items()
    ]
    rows += [
        below(
            f"discrepancy, Internet, {text}, 10 Mb/s",
            discrepancy(10, f"internet_{size}_s"),
            discrepancy(20, f"internet_{size}_s"),
            "",
            "below that at 20 Mb/s",
        )
        for size, text in SIZES.items()
    ]
    says = (
        "in a cell the discrepancy among disciplines for transfers of high latency is there at a moderate load, and "
        "stronger at a high one"
    )
    return _claim("topology-emerges", says, rows)


def contributes() -> Claim:
    """The Internet shows in the whole."""

    def apart(load: float, discipline: str) -> Quantity:
        experiment = f"topological-{load}"
        return ratio(*(quantity(experiment, discipline, name) for name in ("all_s", "intranet_all_s")))

    rows = [
        below(f"all over intranet, {NAMES[d]}, 10 Mb/s", apart(10, d), apart(20, d), "", "below that at 20 Mb/s")
        for d in DISCIPLINES
    ]
    says = "at a high load transfers of high latency add more to the whole: those of low latency dominate it less"
    return _claim("topology-contributes", says, rows, "Mean response times of all completed transfers.")


CLAIMS = (similar(), emerges(), contributes())
"""Claims of 9.3.1."""
