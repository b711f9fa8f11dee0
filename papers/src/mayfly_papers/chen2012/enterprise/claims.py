"""Chen 2012, 9.3.1: the topological model of enterprise traffic on the wired dumbbell, and what it is made of.

The text gives no number of the figures, nor the loads of 9.9 and 9.10 but "underload" and "overload". What words mean
was written down before the runs, as for the cell (:mod:`mayfly_papers.chen2012.wlan.topology`): *similar* and *close*,
within a factor of 1.25; a *discrepancy among disciplines* is the ratio of the largest to the smallest mean of the
five, and one is apparent when it exceeds 1.25.
"""

import numpy as np

from mayfly.arrays import number
from mayfly.simulate.run import RunResult
from mayfly_papers.chen2012.wlan import measures as wlan_measures
from mayfly_papers.chen2012.wlan.topology import DISCIPLINES, LEGACY, NAMES, SIZES
from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import (
    Claim,
    Experiment,
    Measures,
    Printed,
    Row,
    Runs,
    Values,
)
from mayfly_papers.declare.rows import Quantity, at_least, at_most, below, printed_beside, quantity, ratio, within

PRINTED = data.printed(__package__)

UNDERLOAD = 8
"""Mb/s of both directions together, as for Fig. 9.13."""

OVERLOADS = (15, 19)
"""Mb/s: that of ch. 4, and what puts 10.3 Mb/s on the 10 Mb/s down, which the overload of ch. 4 seems to have been."""

LOADS = (UNDERLOAD, *OVERLOADS)

TABLE_9_1 = {
    (model, None if where == "all" else where, way): share
    for model, places in PRINTED["table_9_1"].items()
    for where, ways in places.items()
    for way, share in ways.items()
}
"""Share of the traffic by model, group and direction."""

TABLE_9_2 = PRINTED["table_9_2"]
"""Round trips, ms: twice the delays of the links on the way."""

SENT_MS = {"a SYN and its answer": 0.0768, "a full packet and its acknowledgement": 1.4784}
"""What 40 bytes both ways, and 1500 one way, take to send on links of 100, 10 and 100 Mb/s, ms."""


def measured(run: RunResult) -> Measures:
    """Response times by latency and size, shares of the transfers, shortest round trips.

    Parameters
    ----------
    run : RunResult
        With transfers of the groups ``intranet`` and ``internet``, or of none.

    Returns
    -------
    dict of float
        Of :func:`mayfly_papers.chen2012.wlan.measures.by_latency`; ``share_intranet_down`` and so on, of the transfers;
        ``rtt_intranet_ms`` and so on, the smallest mean round trip of a transfer.
    """
    found = wlan_measures.by_latency(run)
    for (group, way), own in run.records.group_by("group", "direction"):
        found[f"share_{group}_{way}"] = own.height / run.records.height
    for (group,), own in run.records.group_by("group"):
        found[f"rtt_{group}_ms"] = 1000 * number(own["rtt_mean_s"].min())
    return found


def _experiment(model: str, load_mbps: float, **more) -> Experiment:
    given = {"workload.load": round(load_mbps * 1e6), "workload.exact_load": True, "sample_interval": 0}
    identity = f"wired-{model}-{load_mbps}"
    return Experiment(identity, given | more, DISCIPLINES, 4, measured, "enterprise")


EXPERIMENTS = (
    *(_experiment("topological", load) for load in LOADS),
    *(_experiment("legacy", load, **{"workload.part": LEGACY}) for load in LOADS),
)


DIFFERENCES = data.reasons(__package__)


def _claim(name: str, source: str, says: str, rows: list[Row], note: str = "") -> Claim:
    loads = ", ".join(map(str, LOADS))
    settings = f"`enterprise`, 300 packets in either direction, 1000 s, {loads} Mb/s both ways together"
    return Claim(name, f"Chen 2012, 9.3.1, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def composed() -> Claim:
    """Tables 9.1 and 9.2."""
    rows = []
    for (model, group, way), share in TABLE_9_1.items():
        ours = quantity(f"wired-{model}-{UNDERLOAD}", "fifo", f"share_{group}_{way}")
        name = "all" if group is None else group
        rows.append(printed_beside(f"share of the transfers, {model} model, {name}, {way}", ours, Printed(share)))
    for name, rtt_ms in TABLE_9_2.items():
        model, group = ("legacy", None) if name == "legacy" else ("topological", name)
        ours = quantity(f"wired-{model}-{UNDERLOAD}", "las", f"rtt_{group}_ms")
        queued = _less(ours, rtt_ms)
        text, (least, most) = f"shortest round trip less {rtt_ms:g} ms, {name}", SENT_MS.values()
        shorter, longer = (f"{{}} {words} take to send, {sent:g} ms" for words, sent in SENT_MS.items())
        rows.append(at_least(text, queued, least, "ms", shorter.format("above what")))
        rows.append(at_most(text, queued, most, "ms", longer.format("below what")))
    says = "the way traffic flows, and round trips of 1 ms, 100 ms and their mean by share, 10.9 ms"
    return _claim("tables-9-1-and-9-2", "Tables 9.1 and 9.2", says, rows)


def _less(ours: Quantity, value: float) -> Quantity:
    return lambda runs: ours(runs) - value


def similar() -> Claim:
    """Both models as a whole."""
    rows = [
        within(
            f"{text}, {NAMES[d]}, topological over legacy, {load} Mb/s",
            ratio(*(quantity(f"wired-{model}-{load}", d, f"{size}_s") for model in ("topological", "legacy"))),
            1.25,
        )
        for load in LOADS
        for d in DISCIPLINES
        for size, text in SIZES.items()
    ]
    says = "flows of all sizes fare alike in the legacy and the topological model"
    return _claim("enterprise-similar", "Fig. 9.9 and 9.10", says, rows)


def close() -> Claim:
    """The intranet dominates."""
    rows = [
        within(
            f"{text}, {NAMES[d]}, low latency over all, {load} Mb/s",
            ratio(*(quantity(f"wired-topological-{load}", d, f"{name}{size}_s") for name in ("intranet_", ""))),
            1.25,
        )
        for load in LOADS
        for d in DISCIPLINES
        for size, text in SIZES.items()
    ]
    says = "the performance of low latency traffic is close to that of all traffic"
    return _claim("enterprise-low-latency", "Fig. 9.10", says, rows)


def discrepancy(experiment: str, measure: str, among: tuple[str, ...] = DISCIPLINES) -> Quantity:
    """Largest over smallest mean of some disciplines."""

    def of_runs(runs: Runs) -> Values:
        stacked = np.stack([runs.values(experiment, d, measure) for d in among])
        return stacked.max(axis=0) / stacked.min(axis=0)

    return of_runs


def _internet(load: float, size: str) -> Quantity:
    return discrepancy(f"wired-topological-{load}", f"internet_{size}_s")


def indifferent() -> Claim:
    """Disciplines do not matter to the Internet in underload."""
    rows = [
        at_most(f"discrepancy, Internet, {text}, {UNDERLOAD} Mb/s", _internet(UNDERLOAD, size), 1.25)
        for size, text in SIZES.items()
    ]
    says = "among disciplines no difference is apparent for high latency traffic in underload"
    return _claim("enterprise-underload", "Fig. 9.10", says, rows)


def pronounced() -> Claim:
    """They do in overload."""
    rows = [
        below(
            f"discrepancy, Internet, {text}, {UNDERLOAD} Mb/s",
            _internet(UNDERLOAD, size),
            _internet(load, size),
            "",
            f"below that at {load} Mb/s",
        )
        for load in OVERLOADS
        for size, text in SIZES.items()
    ]
    says = "the discrepancy becomes pronounced in overload, in particular for high latency traffic"
    return _claim("enterprise-overload", "Fig. 9.10", says, rows)


CLAIMS = (composed(), similar(), close(), indifferent(), pronounced())
"""Claims of 9.3.1 on the wire; those in a cell are in :mod:`mayfly_papers.chen2012.wlan.topology`."""


def times_table(runs: Runs) -> str:
    """Mean response times behind Fig. 9.9 and 9.10, by size and latency, as Markdown."""
    from mayfly_papers.declare.markdown import number, table

    columns = [(f"{prefix}{size}_s", text) for prefix in ("intranet_", "internet_") for size, text in SIZES.items()]
    names = {"intranet_": "low latency", "internet_": "high latency"}
    head = ["Mb/s", "discipline", *(f"legacy, {text}" for text in SIZES.values())]
    head += [f"{names[prefix]}, {text}" for prefix in names for text in SIZES.values()]
    body = []
    for load in LOADS:
        for d in DISCIPLINES:
            row = [str(load), NAMES[d]]
            row += [number(runs.values(f"wired-legacy-{load}", d, f"{size}_s").mean()) for size in SIZES]
            row += [number(runs.values(f"wired-topological-{load}", d, name).mean()) for name, _ in columns]
            body.append(row)
    return "\n\n".join(
        ["## Response times", "Means over the replications, s, of completed transfers.", table(head, body)]
    )
