"""Figures 5.2 and 5.11 to 5.17 of Chen 2012 as figures: one run of each variant of EFD, and the models beside it."""

import numpy as np
import polars as pl

from mayfly.discipline_registry import parse
from mayfly.laws.interarrival import fits, quantile_pairs
from mayfly.metrics.size_classes import completed_tcp
from mayfly.models.efd.cuts import Cuts
from mayfly.models.efd.flights import Flights
from mayfly.models.efd.subflow_law import FlowPackets, measured_shares
from mayfly.models.efd.subflow_table import arrival_gaps, data_packets, flow_times
from mayfly.models.efd.variants import VARIANTS, EfdModel
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.chen2012.subflows import claims as declared
from mayfly_papers.chen2012.subflows import measures
from mayfly_papers.declare.figure import Curve, Drawn, Figure

PACKETS, SECONDS = "size (MSS)", "time (s)"

KEPT = 2000
"""Gaps of which the figures show quantiles."""


def figures() -> list[Figure]:
    """All of them, from the first replication of the first reading.

    Returns
    -------
    list of Figure
        In the order of the thesis.
    """
    return figures_of(declared.EXPERIMENTS[0].loaded())


def figures_of(scenario: Scenario) -> list[Figure]:
    """The same from a scenario of one's own.

    Parameters
    ----------
    scenario : Scenario
        With sub-flows.

    Returns
    -------
    list of Figure
        In the order of the thesis.
    """
    flows = workload(scenario)
    runs = {}
    for name in declared.VARIANTS.values():
        run = run_one(scenario, parse(name), flows)
        runs[measures.named(run)] = run
    efd = runs[VARIANTS[0]]
    measured, *guessed = model_figures(runs, scenario.duration)
    simulated = [*law_figures(efd), *response_figures(runs), measured, *time_figures(runs), gaps_figure(efd)]
    return [*simulated, *guessed]


def _late(run: RunResult) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sub-flows and completed flows after the warm-up."""
    begun = pl.col("start_s") >= measures.WARM_UP_S
    return run.subflows.filter(pl.col("queued_s") >= measures.WARM_UP_S), run.records.filter(completed_tcp(), begun)


def _larger(kind: str, about: str, counts: np.ndarray, mass: bool = False) -> Curve:
    """Share of the sub-flows, or of their packets, that are in larger ones than each size."""
    weights = counts * np.arange(1, len(counts) + 1) if mass else counts
    beyond = 1 - np.cumsum(weights) / weights.sum()
    kept = (counts > 0) & (beyond > 1e-9)
    return Curve(kind, about, (np.flatnonzero(kept) + 1).tolist(), beyond[kept].tolist())


def law_figures(run: RunResult) -> list[Figure]:
    """Fig. 5.2: distribution functions from their far ends, of flows and sub-flows and of their packets."""
    subflows, flows = _late(run)
    of = {
        "flows": ("flows", flows["size_packets"].to_numpy()),
        "sub-flows": ("sub-flows", data_packets(subflows)),
        "high": ("what of them comes in the high queue", subflows["high_data_packets"].to_numpy()),
        "low": ("what of them comes in the low queue", subflows["low_data_packets"].to_numpy()),
    }
    counted = {kind: (about, measured_shares(sizes)) for kind, (about, sizes) in of.items()}
    found = []
    for part, mass, what in (("a", False, "share of them that is larger"), ("b", True, "packets in larger ones")):
        curves = tuple(_larger(kind, about, shares, mass) for kind, (about, shares) in counted.items())
        title = f"Figure 5.2{part}: sizes of flows and sub-flows"
        caption = "Data packets; threshold 20. EFD (FIFO+FIFO), seed 1."
        found.append(Figure(f"fig-5-2{part}", title, caption, PACKETS, what, curves, source="Chen 2012, Fig. 5.2"))
    return found


def _curves(runs: dict[str, RunResult], name: str, most: int | None) -> list[Curve]:
    """A time by size under each variant: raw as points, filtered as a line."""
    points, lines = [], []
    for variant, run in runs.items():
        subflows, flows = _late(run)
        joined = flows.join(flow_times(subflows, measures.RATE_BPS), on="flow_id")
        for kind, (sizes, times) in measures.curves(joined, name).items():
            kept = slice(None) if most is None else sizes <= most
            x, y = sizes[kept].tolist(), times[kept].tolist()
            if kind == "raw":
                points.append(Curve(f"{variant} raw", f"{variant}: mean of the flows of each size", x, y, True))
            else:
                lines.append(Curve(variant, f"{variant}: median over {measures.WINDOW} neighbouring sizes", x, y))
    return points + lines


def response_figures(runs: dict[str, RunResult]) -> list[Figure]:
    """Fig. 5.11: response time by size."""
    found = []
    for part, most, what in (("a", None, "all flows"), ("b", measures.THRESHOLD, "flows up to the threshold")):
        curves = tuple(_curves(runs, "response_time_s", most))
        title = f"Figure 5.11{part}: response time, {what}"
        found.append(
            Figure(
                f"fig-5-11{part}",
                title,
                "Simulation, seed 1.",
                PACKETS,
                SECONDS,
                curves,
                logarithms=most is None,
                source="Chen 2012, Fig. 5.11",
            )
        )
    return found


def time_figures(runs: dict[str, RunResult]) -> list[Figure]:
    """Fig. 5.13 and 5.14: total time, queueing time and their ratio."""
    found = []
    for part, name, what in (("a", "total_s", "total time"), ("b", "queueing_s", "queueing time")):
        curves = tuple(_curves(runs, name, None))
        title = f"Figure 5.13{part}: {what} of flows"
        found.append(
            Figure(
                f"fig-5-13{part}", title, "Simulation, seed 1.", PACKETS, SECONDS, curves, source="Chen 2012, Fig. 5.13"
            )
        )
    ratios = []
    for variant, run in runs.items():
        subflows, flows = _late(run)
        joined = flows.join(flow_times(subflows, measures.RATE_BPS), on="flow_id")
        ratio = joined.with_columns(ratio=pl.col("total_s") / pl.col("queueing_s"))
        sizes, values = measures.curves(ratio, "ratio")["filtered"]
        about = f"{variant}: median over {measures.WINDOW} neighbouring sizes"
        ratios.append(Curve(variant, about, sizes.tolist(), values.tolist()))
    title = "Figure 5.14: total time over queueing time"
    return [
        *found,
        Figure(
            "fig-5-14", title, "Simulation, seed 1.", PACKETS, "ratio", tuple(ratios), source="Chen 2012, Fig. 5.14"
        ),
    ]


def gaps_figure(run: RunResult) -> Figure:
    """Fig. 5.15: quantiles of the times between sub-flows beside those of laws of the same mean."""
    gaps, _ = arrival_gaps(_late(run)[0])
    curves = []
    for fit in fits(gaps):
        if fit.by == "mean":
            law, measured = quantile_pairs(fit, gaps, KEPT)
            about = f"{fit.law} law of the same mean, distance {fit.ks:.3f}"
            curves.append(Curve(fit.law, about, law.tolist(), measured.tolist(), True))
    ends = np.quantile(gaps, [0.001, 0.999]).tolist()
    curves.append(Curve("equal", "where both quantiles are the same", ends, ends))
    title, caption = "Figure 5.15: times between sub-flows, QQ", "EFD (FIFO+FIFO), seed 1."
    return Figure("fig-5-15", title, caption, "law (s)", "measured (s)", tuple(curves), source="Chen 2012, Fig. 5.15")


def model_figures(runs: dict[str, RunResult], duration_s: float) -> list[Figure]:
    """Fig. 5.12, 5.16 and 5.17: response times by the models."""
    sizes = next(iter(runs.values())).records["size_packets"].to_numpy()
    flows = FlowPackets(np.bincount(sizes)[1:] / len(sizes))
    rho = float(sizes.sum()) * measures.PACKET_S / duration_s
    laws = {variant: measured_shares(data_packets(_late(run)[0])) for variant, run in runs.items()}

    def model(variant: str, splitting) -> EfdModel:
        return EfdModel(flows, rho, measures.THRESHOLD, splitting)

    found = [
        _by_size("5-12b", "sub-flows of the measured law", {v: model(v, measures.AsMeasured(laws[v])) for v in laws})
    ]
    guesses = {
        "5-16": ("TCP's flights", {v: model(v, Flights()) for v in laws}),
        "5-17": ("flows cut by the measured law", {v: model(v, Cuts(laws[v])) for v in laws}),
    }
    for number, (what, models) in guesses.items():
        found.append(_laws(f"{number}a", what, models[VARIANTS[0]], laws[VARIANTS[0]]))
        found.append(_by_size(f"{number}c", f"sub-flows, {what}", models))
        found.append(_by_size(f"{number}d", f"flows, {what}", models, True))
        if number == "5-17":
            found.append(_by_size("5-17e", f"flows without control packets, {what}", models, False))
    return found


def _laws(number: str, what: str, model: EfdModel, measured: np.ndarray) -> Figure:
    low = model.subflows.low(measures.THRESHOLD)
    curves = [
        _larger("sub-flows", "sub-flows", measured),
        _larger("model", f"{what}", model.subflows.counts),
        _larger("high", "what of them comes in the high queue", model.subflows.high(measures.THRESHOLD).counts),
        *([] if low is None else [_larger("low", "what of them comes in the low queue", low.counts)]),
    ]
    title = f"Figure {number.replace('-', '.', 1)}: sizes of sub-flows, {what}"
    return Figure(
        f"fig-{number}",
        title,
        "Model; sub-flows as measured.",
        PACKETS,
        "share that is larger",
        tuple(curves),
        source=f"Chen 2012, Fig. {number.replace('-', '.', 1)}",
    )


def _by_size(number: str, what: str, models: dict[str, EfdModel], control: bool | None = None) -> Figure:
    """Response times up to the threshold: of sub-flows, or of flows with or without control packets."""
    at = np.arange(1, measures.THRESHOLD + 1)
    curves = []
    for variant, model in models.items():
        times = (
            model.subflow_response(variant, at)
            if control is None
            else model.flow_response(variant, at, control=control)
        )
        curves.append(Curve(variant, f"{variant}", at.tolist(), (times * measures.PACKET_S).tolist()))
    title = f"Figure {number.replace('-', '.', 1)}: {what}"
    caption = "Model. Variants with the same high queue differ only by the law that was measured."
    return Figure(
        f"fig-{number}",
        title,
        caption,
        PACKETS,
        SECONDS,
        tuple(curves),
        logarithms=False,
        source=f"Chen 2012, Fig. {number.replace('-', '.', 1)}",
    )


FIGURES = (Drawn.of_own_runs("Chen 2012, Fig. 5.2, 5.11 to 5.17", figures),)
