"""Chen 2012, 5.1 and 5.3: sub-flows of EFD and its variants, Figures 5.2 and 5.11 to 5.17.

Figures come without their data: what the text says they show is the claim. What words mean was written down after a
first look at one seed and before all other runs: *around* 90 %, within 5 points; *close* to 1, within a factor of
1.25; *slightly*, by less than 25 %; *quite well*, within 0.1 of the distribution function; *very close*, within 0.05.
The reading with slow hosts was added when the verdicts of the other were known.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mayfly_papers.chen2012.subflows import measures as subflow_measures
from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Experiment, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import (
    Quantity,
    at_least,
    at_most,
    below,
    greater_by,
    nearer_one,
    paired,
    quantity,
    ratio,
    within,
)

DIFFERENCES = data.reasons(__package__)

PRINTED = data.printed(__package__)

VARIANTS = {
    ("fifo", "fifo"): "efd",
    ("las", "fifo"): "efd(high=las)",
    ("fifo", "las"): "efd(low=las)",
    ("las", "las"): "efd(high=las,low=las)",
}
"""Disciplines by the order in their high and their low queue."""

REPLICATIONS = 5

READINGS = {
    "fast-hosts": ("subflows-0.5", "links of hosts 100 Mb/s, as in 4.4.1"),
    "slow-hosts": ("subflows-0.5-slow-hosts", "links of hosts 10 Mb/s, as the bottleneck"),
}
"""Experiment and words of each reading: chapter 5 does not give the links of the hosts."""

FIELDS: Mapping[str, Any] = {
    "network.delay": "0s",
    "network.access_delay": "0s",
    "network.exit_delay": "0s",
    "workload.load": "5mbit",
    "workload.exact_load": True,
    "duration": "5000s",
    "warm_up": "100s",
    "sample_interval": 0,
    "subflows": True,
    "trace_limit": 20_000_000,
}
"""Chen 2012, 5.2.2 and 5.3.1."""


def _experiment(identity: str, more: Mapping[str, Any]) -> Experiment:
    disciplines = tuple(VARIANTS.values())
    return Experiment(identity, {**FIELDS, **more}, disciplines, REPLICATIONS, subflow_measures.variant)


EXPERIMENTS = (
    _experiment("subflows-0.5", {}),
    _experiment("subflows-0.5-slow-hosts", {"network.access_rate": "10mbit"}),
)

SETTINGS = "`wired` without propagation delay, 5 Mb/s, 300 packets, th 20 MSS, 100 to 5000 s"

KINDS = {"raw": "raw", "filtered": "median-filtered"}


def of(reading: str, measure: str, high: str = "fifo", low: str = "fifo") -> Quantity:
    return quantity(READINGS[reading][0], VARIANTS[high, low], measure)


def _name(high: str, low: str) -> str:
    return f"{high}+{low}".upper()


def _claim(reading: str, name: str, source: str, says: str, rows: list[Row], note: str = "") -> Claim:
    identity = f"{name}-{reading}"
    settings = f"{SETTINGS}, {READINGS[reading][1]}"
    return Claim(identity, f"Chen 2012, {source}", says, settings, tuple(rows), DIFFERENCES.get(identity), note)


def las_over_fifo(reading: str, measure: str, low: str) -> Quantity:
    return ratio(of(reading, measure, "las", low), of(reading, measure, "fifo", low))


def _las_slower(reading: str, measure: str, what: str, unit: str = "s") -> list[Row]:
    """A row for each low queue: the high queue by LAS gives more."""
    return [
        below(
            f"{what}, {_name('fifo', low)}",
            of(reading, measure, "fifo", low),
            of(reading, measure, "las", low),
            unit,
            f"below {_name('las', low)}",
        )
        for low in ("fifo", "las")
    ]


def small_subflows(reading: str) -> Claim:
    """Fig. 5.2a."""

    def around(name: str, measure: str) -> Row:
        ours = of(reading, measure)

        def margin(runs: Runs) -> Values:
            return 0.05 - np.abs(ours(runs) - 0.9)

        return Row(name, ours, "", Printed(PRINTED["around"]["name"]), margin, "within 0.05 of 0.9")

    rows = [
        around("sub-flows of at most 3 packets with data", "small"),
        around("of at most 3 packets, control packets too", "small_with_control"),
    ]
    says = "flows fall into many extremely small sub-flows: around 90 % have at most 3 packets"
    note = "The text does not say here whether control packets count; 5.3.1 has data packets only."
    return _claim(reading, "small-subflows", "5.1, Fig. 5.2a", says, rows, note)


def subflow_variability(reading: str) -> Claim:
    """Fig. 5.2b."""
    rows = [
        at_least("packets in the largest 1 % of the sub-flows", of(reading, "tail_all"), 0.0561),
        below("CoV of sub-flows", of(reading, "cov_all"), of(reading, "cov_flows"), direction="below that of flows"),
        below(
            "packets in the largest 1 %, low queue",
            of(reading, "tail_low"),
            of(reading, "tail_all"),
            direction="below that of all sub-flows",
        ),
    ]
    says = (
        "sub-flows keep the heavy tail of the flows in the mass-weighted distribution, with less variability; in the "
        "low queue the tail is less pronounced"
    )
    note = "A tail is heavy where the largest 1 % carry more than those of the exponential law, 5.61 %."
    return _claim(reading, "subflow-variability", "5.1, Fig. 5.2", says, rows, note)


def high_queue(reading: str) -> Claim:
    """Fig. 5.12a."""
    rows = [within(f"CoV in the high queue, {_name(*key)}", of(reading, "cov_high", *key), 1.25) for key in VARIANTS]
    rows += [
        below("the same, FIFO+FIFO", of(reading, "cov_high"), of(reading, "cov_flows"), direction="below that of flows")
    ]
    says = "sub-flow sizes in the high queue have a coefficient of variation close to 1, flows one of 6"
    return _claim(reading, "high-queue", "5.3.1, Fig. 5.12a", says, rows, "Close: within a factor of 1.25.")


def short_flows(reading: str) -> Claim:
    """Fig. 5.11."""
    rows = []
    for kind, words in KINDS.items():
        rows += _las_slower(reading, f"short_response_time_s_{kind}", f"below 30 packets, {words}")
        rows += _las_slower(reading, f"above_th_response_time_s_{kind}", f"21 to 29 packets, {words}")
    rows += [
        at_most(
            f"below 30 packets, raw, {_name('las', low)} over {_name('fifo', low)}",
            las_over_fifo(reading, "short_response_time_s_raw", low),
            1.25,
        )
        for low in ("fifo", "las")
    ]
    says = (
        "FIFO in the high queue is slightly better than LAS for flows below 30 packets, those a little above the "
        "threshold of 20 included"
    )
    note = "Levels are geometric means of the curve over sizes, each size once. Slightly: by less than 25 %."
    return _claim(reading, "short-flows", "5.3.1, Fig. 5.11", says, rows, note)


def medium_flows(reading: str) -> Claim:
    """Fig. 5.11a."""
    rows = [
        below(
            f"{text}, {words}, {_name(high, 'las')}",
            of(reading, f"{part}_response_time_s_{kind}", high, "las"),
            of(reading, f"{part}_response_time_s_{kind}", high, "fifo"),
            "s",
            f"below {_name(high, 'fifo')}",
        )
        for part, text in (("medium", "30 to 299 packets"), ("long", "300 to 999 packets"))
        for kind, words in KINDS.items()
        for high in ("fifo", "las")
    ]
    says = "LAS in the low queue is better than FIFO for medium and intermediate flows"
    note = "Read as two classes, up to 300 packets and up to 1000; levels as in short-flows."
    return _claim(reading, "medium-flows", "5.3.1, Fig. 5.11a", says, rows, note)


def subflow_model(reading: str) -> Claim:
    """Fig. 5.12b."""
    rows = [
        nearer_one(
            f"sub-flows by the model, {_name('las', low)} over {_name('fifo', low)}",
            las_over_fifo(reading, "measured_subflow_s", low),
            las_over_fifo(reading, "upto_th_response_time_s_raw", low),
            "nearer to 1 than flows of up to 20 packets in the simulation",
        )
        for low in ("fifo", "las")
    ]
    says = "M/G/1 with the measured sub-flows does not show the discrepancy that the simulation has between variants"
    note = "Levels over sizes from 1 to 20 packets."
    return _claim(reading, "subflow-model", "5.3.1, Fig. 5.12b", says, rows, note)


def idle_times(reading: str) -> Claim:
    """Fig. 5.13, 5.14."""
    rows = []
    for key in VARIANTS:
        rows.append(
            at_least(
                f"total over queueing time, up to 20 packets, {_name(*key)}", of(reading, "upto_th_ratio", *key), 1.5
            )
        )
        rows += [
            at_most(f"total over queueing time, {text}, {_name(*key)}", of(reading, f"{part}_ratio", *key), 1.1)
            for part, text in (("medium", "30 to 299 packets"), ("long", "300 to 999 packets"))
        ]
    says = "the gap between total time and queueing time is significant for small flows, negligible for others"
    note = "Significant: by half of the queueing time; negligible: by a tenth. Means over flows of the ratio."
    return _claim(reading, "idle-times", "5.3.1, Fig. 5.13, 5.14", says, rows, note)


def queueing_times(reading: str) -> Claim:
    """Fig. 5.13."""
    rows = []
    for kind, words in KINDS.items():
        rows += _las_slower(reading, f"upto_th_queueing_s_{kind}", f"queueing time, up to 20 packets, {words}")
    says = "without idle times the variants differ as they do with them: the discrepancy arises in the queue"
    return _claim(reading, "queueing-times", "5.3.1, Fig. 5.13", says, rows)


def arrivals(reading: str) -> Claim:
    """Fig. 5.15."""
    rows = [at_least("distance of the exponential law", of(reading, "ks_exponential_mean_all"), 0.1)]
    for law in ("lognormal", "weibull"):
        distance = of(reading, f"ks_{law}_mean_all")
        rows += [
            at_most(f"distance of the {law} law of the same mean", distance, 0.1),
            below(
                f"the same, {law}",
                distance,
                of(reading, "ks_exponential_mean_all"),
                direction="below the exponential law",
            ),
        ]
    says = (
        "sub-flows do not arrive as a Poisson process; lognormal and Weibull laws of the same mean fit the times "
        "between them quite well"
    )
    note = "Kolmogorov distance of the distribution functions; a law fits quite well below 0.1, and not above it."
    return _claim(reading, "arrivals", "5.3.1, Fig. 5.15", says, rows, note)


def flights_model(reading: str) -> Claim:
    """Fig. 5.16."""

    def off(high: str) -> Quantity:
        return ratio(of(reading, "flights_control_s", high), of(reading, "upto_th_response_time_s_raw", high))

    rows = [
        below(
            "sub-flows of at most 3 packets, flights",
            of(reading, "flights_small"),
            of(reading, "small"),
            direction="below the simulation",
        )
    ]
    for high in ("fifo", "las"):
        own = off(high)

        def margin(runs: Runs, own: Quantity = own) -> Values:
            return np.abs(np.log(own(runs))) - np.log(1.1)

        name = f"flows of up to 20 packets, flights over simulation, {_name(high, 'fifo')}"
        rows.append(Row(name, own, margin=margin, direction="off by more than a tenth"))
    says = "flights have too few small sub-flows, and the model built on them does not fit the simulation quite well"
    return _claim(reading, "flights-model", "5.3.2.1, Fig. 5.16", says, rows, "With control packets, as in Fig. 5.16d.")


def cuts_law(reading: str) -> Claim:
    """Fig. 5.17a, b."""
    rows = [
        at_most(
            f"distance of the laws, {_name(*key)}", of(reading, "cuts_distance", *key), 0.05, direction="below 0.05"
        )
        for key in VARIANTS
    ]
    rows += [
        below(
            "the same, FIFO+FIFO",
            of(reading, "cuts_distance"),
            of(reading, "flights_distance"),
            direction="below that of flights",
        )
    ]
    says = "flows cut by the law of measured sub-flows have sub-flows of a law very close to it"
    note = "Largest distance of the distribution functions of packets with data."
    return _claim(reading, "cuts-law", "5.3.2.2, Fig. 5.17a, b", says, rows, note)


def cuts_flows(reading: str) -> Claim:
    """Fig. 5.17d, e."""
    rows = _las_slower(reading, "cuts_control_s", "flows of up to 20 packets, model")
    rows += _las_slower(reading, "cuts_bare_s", "the same without control packets")
    for low in ("fifo", "las"):
        bare, control = las_over_fifo(reading, "cuts_bare_s", low), las_over_fifo(reading, "cuts_control_s", low)
        simulated = las_over_fifo(reading, "upto_th_response_time_s_raw", low)

        def close(runs: Runs, bare: Quantity = bare, simulated: Quantity = simulated) -> Values:
            own, theirs = paired(runs, bare, simulated)
            return own / theirs

        over = f"{_name('las', low)} over {_name('fifo', low)}"
        rows += [
            greater_by(f"{over} without control packets", bare, control, direction="above that with them"),
            within(f"{over} without control packets, model over simulation", close, 1.1),
        ]
    says = (
        "the model on cut flows has LAS in the high queue slower for flows up to the threshold, more so without "
        "control packets, and then close to the simulation"
    )
    return _claim(reading, "cuts-flows", "5.3.2.2, Fig. 5.17d, e", says, rows, "Close: within a tenth.")


def bracket(reading: str) -> Claim:
    """Fig. 5.17d, e beside 5.11b."""
    rows = []
    for key in VARIANTS:
        simulated = of(reading, "upto_th_response_time_s_raw", *key)
        rows += [
            below(
                f"flows of up to 20 packets, model without control packets, {_name(*key)}",
                of(reading, "cuts_bare_s", *key),
                simulated,
                "s",
                "below the simulation",
            ),
            below(
                f"simulation, {_name(*key)}",
                simulated,
                of(reading, "cuts_control_s", *key),
                "s",
                "below the model with them",
            ),
        ]
    says = "the true response times lie between those of the model without and with control packets"
    return _claim(reading, "bracket", "5.3.2.2, Fig. 5.17d, e", says, rows)


CLAIMS = tuple(
    claim(reading)
    for reading in READINGS
    for claim in (
        small_subflows,
        subflow_variability,
        high_queue,
        short_flows,
        medium_flows,
        subflow_model,
        idle_times,
        queueing_times,
        arrivals,
        flights_model,
        cuts_law,
        cuts_flows,
        bracket,
    )
)
"""Claims of 5.1 and 5.3, in each reading."""
