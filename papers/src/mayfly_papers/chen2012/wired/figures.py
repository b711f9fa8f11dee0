"""Figures 4.2 to 4.13 of Chen 2012 as figures, but for 4.6 and 4.10: seed 1, and loss over all replications."""

from typing import Any

import polars as pl

from mayfly.metrics import incomplete
from mayfly.metrics.departures import inter_departure_cdf
from mayfly.metrics.progress import largest_flows
from mayfly.metrics.response import bin_key
from mayfly_papers.chen2012.wired import cbr as chen2012_cbr
from mayfly_papers.chen2012.wired import transfers as chen2012
from mayfly_papers.chen2012.wired.cbr import AUDIO_BPS, NAMED_LOADS, READINGS, VIDEO_BPS
from mayfly_papers.chen2012.wired.transfers import NAMES, O104, U8
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.declare.figure_parts import (
    BINS_PER_DECADE,
    SECONDS,
    SIZE,
    FirstRuns,
    all_by_size,
    figure,
    measured,
    runs_or_own,
    share_up_to,
)

REGIMES = {"underload": U8, "overload": O104}
"""Underload as printed, overload at the load that the tables of the thesis fit."""

_LOADS = "Seed 1, 8 Mb/s (underload, as printed) and 10.4 Mb/s (overload: the load that Table 4.1 fits)."
EVERY = 10
"""Samples of which one is drawn: a second."""

TIME, PACKETS = "time (s)", "packets"


def _of(number: str) -> str:
    return f"Chen 2012, Fig. {number}"


def transfers(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 4.2 to 4.11.

    Parameters
    ----------
    runs : Runs, optional
        Of the page.
    most_s : float, optional
        Simulated time, seconds, where not all of it is wanted.

    Returns
    -------
    list of Figure
        In the order of the paper.
    """
    first = FirstRuns(chen2012.EXPERIMENTS, runs, most_s)
    found: list[Figure] = []
    for name, regime in REGIMES.items():
        labels = {chen2012.label(own): NAMES[own] for own in chen2012.DISCIPLINES}
        found += _queue(first, name, regime.id)
        if name == "underload":
            found += [_fragments(first, regime.id), *_volumes(first, regime.id), *_progress(first, regime.id)]
        found += [_tables(first, name, regime.id), _incomplete(first, name, regime.id, labels)]
        caption = (
            f"The thesis: LAS, EFD and Run2C improve short flows at all loads; EFD and Run2C change at 20 MSS, EFD "
            "more smoothly; "
            "LAS "
            f"is best for small and middling sizes, LARS is near LAS in underload and near FIFO in overload. {_LOADS}"
        )
        curves = all_by_size(first, regime.id, labels)
        found.append(figure(_of("4.9"), f"mean response time by size, {name}", caption, SIZE, SECONDS, curves, name))
    return sorted(found, key=lambda drawn: float(drawn.source.rpartition("4.")[2]))


def _queue(first: FirstRuns, name: str, experiment: str) -> list[Figure]:
    samples = first(experiment, "efd").samples.gather_every(EVERY)
    high, queue = samples["high_backlog_packets"], samples["backlog_packets"]
    times, table = samples["time_s"], samples["flow_table"]
    both = "The thesis: queue and flow table grow with the load, and the table is always below the queue."
    low = "The thesis: the low priority queue carries the bulk of the traffic, the high one is nearly empty."
    size = [
        Curve("queue", "packets that wait", times, queue),
        Curve("flow table", "entries of the table", times, table),
    ]
    parts = [
        Curve("low priority", "packets in the low priority queue", times, queue - high),
        Curve("high priority", "packets in the high priority queue", times, high),
    ]
    more: dict[str, Any] = {"part": name, "logarithms": False}
    return [
        figure(
            _of("4.2"),
            f"queue and flow table of EFD, {name}",
            f"{both} {_LOADS}",
            TIME,
            "packets, entries",
            size,
            **more,
        ),
        figure(_of("4.3"), f"queues of EFD, {name}", f"{low} {_LOADS}", TIME, PACKETS, parts, **more),
    ]


def _fragments(first: FirstRuns, experiment: str) -> Figure:
    records = first(experiment, "efd").records.filter(pl.col("finish_s").is_not_null())
    table = records.group_by(bin_key(BINS_PER_DECADE)).agg(
        pl.col("size_packets").mean(),
        pl.col("fragments").mean().alias("mean"),
        pl.col("fragments").max().alias("most"),
    )
    table = table.sort("size_packets")
    sizes = table["size_packets"]
    curves = [
        Curve("most", "most fragments of a connection of about that size", sizes, table["most"], True),
        Curve("mean", "mean number of fragments", sizes, table["mean"]),
    ]
    caption = (
        "Under EFD at 8 Mb/s, seed 1. The thesis: larger connections tend to a limit: of the longest, "
        "few "
        "hold many packets."
    )
    return figure(_of("4.4"), "fragments of connections by size", caption, SIZE, "fragments", curves)


def _volumes(first: FirstRuns, experiment: str) -> list[Figure]:
    found = []
    caption = (
        "At 8 Mb/s, seed 1; packets of a transfer in each queue, summed over its fragments. The thesis: the low "
        "priority queue has "
        "the larger flows; EFD puts more load on the high one than Run2C, which moves each transfer for good after 20."
    )
    for part, label in (("a", "efd"), ("b", "run2c")):
        records = first(experiment, label).records
        high = records["high_packets"].to_numpy()
        low = records["sorted_packets"].to_numpy() - high
        curves = [
            share_up_to("transfers", "size of the transfers", records["size_packets"].to_numpy()),
            share_up_to("high priority", "packets in the high priority queue", high[high > 0]),
            share_up_to("low priority", "packets in the low priority queue", low[low > 0]),
        ]
        what = f"volumes in the two queues, {NAMES[label]}"
        more: dict[str, Any] = {"part": part, "logarithms": "x"}
        found.append(figure(_of("4.5"), what, caption, PACKETS, "share at or below", curves, **more))
    return found


def _tables(first: FirstRuns, name: str, experiment: str) -> Figure:
    curves = [
        share_up_to(text, f"flow table of {text}", first(experiment, label).samples["flow_table"].to_numpy())
        for label, text in (("las", "LAS"), (chen2012.label("xprotect"), "X-Protect"), ("efd", "EFD"))
    ]
    says = "The thesis: X-Protect roughly halves the table of LAS, EFD keeps it to a few tens of entries at most."
    caption = f"{says} {_LOADS}"
    more: dict[str, Any] = {"part": name, "logarithms": "x"}
    return figure(_of("4.7"), f"flow table, {name}", caption, "entries", "share of the time", curves, **more)


def _incomplete(first: FirstRuns, name: str, experiment: str, labels: dict[str, str]) -> Figure:
    curves = []
    for label, text in labels.items():
        table = incomplete(first(experiment, label).records)
        about = f"delivered of transfers incomplete under {text}"
        curves.append(Curve(text, about, table["delivered_packets"], table["share"]))
    caption = (
        f"What got through of transfers that did not end. The thesis: FIFO leaves many small ones, the others long "
        f"ones. {_LOADS}"
    )
    more: dict[str, Any] = {"part": name, "logarithms": "x"}
    return figure(_of("4.8"), f"incomplete transfers, {name}", caption, SIZE, "share at or below", curves, **more)


def _progress(first: FirstRuns, experiment: str) -> list[Figure]:
    found = []
    caption = (
        "The three largest transfers, from the start of each, 8 Mb/s, seed 1. The thesis: under LAS there are long "
        "times without "
        "progress; LARS and EFD are smooth, Run2C to a lesser extent."
    )
    for part, label in zip("abcd", ("las", "lars", "efd", "run2c"), strict=True):
        run = first(experiment, chen2012.label(label))
        starts = dict(run.records.select("flow_id", "start_s").iter_rows())
        curves = []
        for rank, flow in enumerate(largest_flows(run.records), start=1):
            column = f"progress_{rank}_bytes"
            own = run.samples.gather_every(EVERY).filter(pl.col(column).is_not_null(), pl.col("time_s") >= starts[flow])
            curves.append(
                Curve(f"transfer {rank}", f"number {rank} by size", own["time_s"] - starts[flow], own[column])
            )
        more: dict[str, Any] = {"part": part, "logarithms": False}
        what = f"the three largest transfers, {NAMES[label]}"
        found.append(figure(_of("4.11"), what, caption, "time since the start (s)", "bytes", curves, **more))
    return found


def losses(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 4.12: over all replications."""
    runs = runs_or_own(runs, chen2012_cbr.EXPERIMENTS)
    reading = READINGS["nominal"]
    places = tuple(
        f"{name}, {rate // 1000} kb/s" for rate in (AUDIO_BPS, VIDEO_BPS) for name in NAMED_LOADS[: len(reading)]
    )
    experiments = [f"cbr-{rate // 1000}k-{load:g}" for rate in (AUDIO_BPS, VIDEO_BPS) for load in reading]
    curves = [
        measured(runs, name, f"loss under {name}", range(len(places)), [chen2012.of(e, d, "loss") for e in experiments])
        for d, name in NAMES.items()
    ]
    caption = (
        "The thesis: LAS discards much of a flow of 64 kb/s even at a low load; FIFO, SCFQ and Run2C lose a few per "
        "cent of it at "
        "most, EFD and LARS protect it at all loads. Means over the replications with 95 % intervals; background of 4, "
        "8 "
        "and 12 Mb/s as printed."
    )
    more: dict[str, Any] = {"logarithms": False, "places": places}
    return [figure(_of("4.12"), "loss of a CBR flow", caption, "background, rate of the flow", "loss", curves, **more)]


def departures(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 4.13; parameters as of :func:`transfers`."""
    first = FirstRuns(chen2012_cbr.EXPERIMENTS, runs, most_s)
    found = []
    caption = (
        "Times between departures of a flow of 64 kb/s, whose sender has one of 0.1875 s; seed 1. The thesis: LAS "
        "serves it in "
        "batches, EFD and LARS regularly at both loads; the jitter of LAS and Run2C grows with the load."
    )
    for load in (4, 12):
        curves = []
        for label, name in NAMES.items():
            table = inter_departure_cdf(first(f"cbr-64k-{load}", chen2012.label(label)).packets)
            kept = table.filter(pl.col("gap_s") > 0)
            curves.append(Curve(name, f"times between departures under {name}", kept["gap_s"], kept["share"]))
        more: dict[str, Any] = {"part": f"{load}", "logarithms": "x"}
        what = f"times between departures, {load} Mb/s of background"
        found.append(figure(_of("4.13"), what, caption, "time (s)", "share at or below", curves, **more))
    return found


FIGURES = (
    Drawn("Chen 2012, Fig. 4.2 to 4.5, 4.7 to 4.9, 4.11", transfers),
    Drawn("Chen 2012, Fig. 4.12", losses),
    Drawn("Chen 2012, Fig. 4.13", departures),
)
"""All of them."""
