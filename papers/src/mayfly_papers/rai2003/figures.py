"""Figures 4 and 6 to 16 of Rai 2003 as figures: the first replication of each experiment."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from mayfly.laws.service_spec import service_law
from mayfly.metrics import active_flows, deadline_misses, jitter, per_interval
from mayfly.metrics.loss import loss_by_size, lossy_sizes
from mayfly.metrics.transmission import mean_transmission_time
from mayfly.models.laws.summary import mass_up_to
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.declare.figure_parts import BINS_PER_DECADE, SIZE, FirstRuns, figure, share_up_to
from mayfly_papers.rai2003 import claims as rai2003
from mayfly_papers.rai2003.measures import INTERVAL_S, MEAN_DELAY_S, WARM_UP_S, counted

NAMES = {"fifo": "FIFO", "las": "LAS"}
WEB = "web-rounded"
PLAYOUTS_S = (1, 3, 4)
TIME = "time (s)"
_WEB = "Seed 1, 3.9 Mb/s, flows from 2000 s on."


def _of(number: int) -> str:
    return f"Rai 2003, Fig. {number}"


def departures(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 4.

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
    first = FirstRuns(rai2003.EXPERIMENTS, runs, most_s)
    found = []
    for part, group, what in (("a", "hundred", "flows of 100 packets"), ("b", "large", "one very large flow")):
        curves = []
        for label, name in NAMES.items():
            table = left_after(first("packets", label), group)
            curves.append(Curve(name, f"under {name}", table["number"], table["since_s"]))
        caption = (
            "When packets leave the queue, after the first of their flow; seed 1. The report: all packets of flows of "
            "100 "
            "leave sooner under LAS; of a very large flow those up to 3500 do, later ones leave sooner under FIFO."
        )
        more: dict[str, Any] = {"part": part, "logarithms": False}
        found.append(
            figure(_of(4), f"packets of {what}", caption, "packet", "time since the first (s)", curves, **more)
        )
    return found


def left_after(run: RunResult, group: str) -> pl.DataFrame:
    """Mean time from the first departure of a flow of a group to each of its packets, thinned.

    Parameters
    ----------
    run : RunResult
        With traced packets.
    group : str
        Of the flows.

    Returns
    -------
    polars.DataFrame
        ``number`` of the packet and ``since_s``, ascending, at most 500 rows.
    """
    flows = run.records.filter(group=group)["flow_id"]
    own = run.packets.filter(pl.col("number") > 0, pl.col("flow_id").is_in(flows.implode()))
    left = own.group_by("flow_id", "number").agg(pl.col("departed_s").min()).drop_nulls()
    since = (pl.col("departed_s") - pl.col("departed_s").min().over("flow_id")).alias("since_s")
    table = left.with_columns(since).group_by("number").agg(pl.col("since_s").mean()).sort("number")
    return table.gather_every(max(table.height // 500, 1))


def web(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 6 to 10; parameters as of :func:`departures`."""
    first = FirstRuns(rai2003.EXPERIMENTS, runs, most_s)
    both = {name: first(WEB, label) for label, name in NAMES.items()}
    flows = {name: counted(run) for name, run in both.items()}
    return [*_sizes(flows["FIFO"]), *_times(flows), *_active(both), *_losses(flows)]


def _sizes(flows: pl.DataFrame) -> list[Figure]:
    sizes = flows["size_packets"].to_numpy()
    laws = {"P(1, 1.2, 12)": "pareto-ii:shape=1.2,mean=12", "Exp(12)": "exponential:mean=12"}
    at = np.geomspace(0.1, 1e5, 200)
    of = {name: service_law(spec) for name, spec in laws.items()}
    curves = [share_up_to("simulated", "flows of the run, whole packets", sizes)]
    curves += [Curve(name, f"the law {laws[name]}", at, law.cdf(at)) for name, law in of.items()]
    masses = [Curve(name, f"the law {laws[name]}", law.cdf(at), mass_up_to(law, at)) for name, law in of.items()]
    ordered = np.sort(sizes).astype(float)
    places = np.linspace(0, len(ordered) - 1, 300).round().astype(int)
    mass = np.cumsum(ordered) / ordered.sum()
    masses.insert(0, Curve("simulated", "flows of the run, whole packets", (places + 1) / len(ordered), mass[places]))
    caption = (
        "The report: more than 80 % of the flows have fewer than 10 packets, fewer than 1 % more than 100, and the 5 % "
        f"largest carry about half of the load. {_WEB}"
    )
    share = "share at or below"
    return [
        figure(_of(6), "sizes of flows", caption, "packets", share, curves, "a", logarithms="x"),
        figure(_of(6), "mass of flows", caption, "share of flows", "share of the mass", masses, "b", logarithms=False),
    ]


def _times(flows: dict[str, pl.DataFrame]) -> list[Figure]:
    by_size, by_rank = [], []
    for name, own in flows.items():
        table = mean_transmission_time(own, BINS_PER_DECADE)
        ranked = np.searchsorted(np.sort(own["size_packets"].to_numpy()), table["size_packets"], side="right")
        by_size.append(Curve(name, f"under {name}", table["size_packets"], table["mean_s"]))
        by_rank.append(Curve(name, f"under {name}", 100 * ranked / own.height, table["mean_s"]))
    caption = (
        "The report: LAS reduces the mean transmission time of more than 99 % of the flows, of most by a factor of "
        "about "
        f"2.5, at a small cost to large ones. {_WEB}"
    )
    y = "mean transmission time (s)"
    return [
        figure(_of(7), "transmission time by size", caption, SIZE, y, by_size, "a"),
        figure(_of(7), "transmission time by percentile", caption, "percentile", y, by_rank, "b", logarithms="y"),
    ]


def _active(runs: dict[str, RunResult]) -> list[Figure]:
    web_flows = {name: (run.records.filter(group="web"), _end_s(run)) for name, run in runs.items()}
    tables = {name: active_flows(records, end_s, INTERVAL_S) for name, (records, end_s) in web_flows.items()}
    caption = (
        "The report: fewer flows are active under LAS, as Little's law has it, and the most in 100 s are nearly twice "
        "as "
        "many under FIFO; up to 4000 s that is the transient. Seed 1, 3.9 Mb/s."
    )
    found = []
    for part, column, what in (("a", "mean", "mean"), ("b", "max", "largest")):
        curves = [Curve(name, f"under {name}", table["time_s"], table[column]) for name, table in tables.items()]
        more: dict[str, Any] = {"part": part, "logarithms": False}
        found.append(figure(_of(8), f"{what} number of active flows in 100 s", caption, TIME, "flows", curves, **more))
    return found


def _losses(flows: dict[str, pl.DataFrame]) -> list[Figure]:
    lossy, shares, rates = [], [], []
    for name, own in flows.items():
        sizes, table = lossy_sizes(own), loss_by_size(own, BINS_PER_DECADE)
        kept = table.filter(pl.col("flows") >= 10)
        lossy.append(Curve(name, f"under {name}", sizes["size_packets"], sizes["share"]))
        shares.append(Curve(name, f"under {name}", kept["size_packets"], kept["lossy_share"]))
        rates.append(Curve(name, f"under {name}", kept["size_packets"], kept["loss"].fill_null(float("nan"))))
    few = f"Bins with fewer than 10 flows left out. {_WEB}"
    one = f"The report: 4 % of the flows of one packet have loss under FIFO, 0.015 % under LAS. {few}"
    who = f"The report: of the flows with loss 18 % are of one packet under FIFO, nearly none under LAS. {_WEB}"
    rate = f"The report: LAS reduces the loss of short flows, and that of large ones is about the same. {few}"
    x, more = SIZE, {"logarithms": "x"}
    return [
        figure(_of(9), "sizes of the flows with loss", who, x, "share at or below", lossy, "a", **more),
        figure(_of(9), "flows with loss by size", one, x, "share of the flows", shares, "b", **more),
        figure(_of(10), "loss by size", rate, x, "drops over packets sent", rates, **more),
    ]


_LOW = "The report: a long FTP flow does not starve under LAS up to a load of 0.9, but for a few intervals at 0.9."
_HIGH = (
    "The report: LAS starves the FTP flow after a time; timeouts and throughput oscillate, and in some intervals "
    "nothing "
    "arrives. Under FIFO it goes on."
)
_DELAYS = (
    "The report: where delays are not all equal LAS gives the FTP flow more throughput than in Fig. 12, most where "
    "they "
    "are uniform from 50 to 400 ms."
)


def ftp(
    number: int, cases: Mapping[str, str], says: str, runs: Runs | None = None, most_s: float | None = None
) -> list[Figure]:
    """Fig. 11 to 14, one of them.

    Parameters
    ----------
    number : int
        Of the figure.
    cases : mapping of str
        What is run, by experiment.
    says : str
        What the text says of it.
    runs, most_s
        As of :func:`departures`.

    Returns
    -------
    list of Figure
    """
    first = FirstRuns(rai2003.EXPERIMENTS, runs, most_s)
    found = []
    for experiment, text in cases.items():
        tables = {}
        for label, name in NAMES.items():
            run = first(experiment, label)
            end_s = _end_s(run)
            tables[name] = per_interval(run.packets, run.timeouts, end_s, INTERVAL_S, min(WARM_UP_S, end_s / 2))
        for column, what in (("received", "packets received"), ("timeouts", "timeouts")):
            curves = [Curve(name, f"under {name}", table["time_s"], table[column]) for name, table in tables.items()]
            more: dict[str, Any] = {"part": f"{experiment.replace('.', '-')}-{column}", "logarithms": False}
            whole = f"{says} Seed 1, intervals of 100 s."
            found.append(figure(_of(number), f"FTP flow, {text}: {what}", whole, TIME, what, curves, **more))
    return found


def _end_s(run: RunResult) -> float:
    return run.counters["end_ns"] * 1e-9


def udp(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 15 and 16; parameters as of :func:`departures`."""
    first = FirstRuns(rai2003.EXPERIMENTS, runs, most_s)
    jitters, lost, late = [], [], []
    for label, name in NAMES.items():
        packets = first("udp", label).packets
        groups = jitter(packets, 100)
        jitters.append(Curve(name, f"under {name}", groups["packet"], groups["jitter_s"].fill_null(float("nan"))))
        lost.append(Curve(name, f"under {name}", groups["packet"], groups["lost"], True))
        for playout_s in PLAYOUTS_S if label == "las" else ():
            missed = deadline_misses(packets, playout_s, MEAN_DELAY_S)["missed"].sort()
            shares = np.arange(1, len(missed) + 1) / len(missed)
            kept = np.unique(np.linspace(0, len(missed) - 1, 400).round().astype(int))
            about = f"LAS, playout buffer of {playout_s} s"
            late.append(Curve(f"{playout_s} s", about, missed.to_numpy()[kept], shares[kept]))
    more: dict[str, Any] = {"logarithms": False}
    jittery = "The report: a long UDP flow has much more jitter under LAS, as each new TCP flow goes before it. Seed 1."
    played = (
        "The report: with a playout buffer of 3 s about 98 % of the blocks of 20 packets are all in time under LAS, "
        "with "
        "4 s all of them. Seed 1."
    )
    losing = "The report: the flow does not adapt, and loses much under LAS in congestion, 0.0118 on average. Seed 1."
    x = "packet sent"
    return [
        figure(_of(15), "jitter of the UDP flow", jittery, x, "mean of 100 packets (s)", jitters, "a", **more),
        figure(_of(15), "late packets of a block", played, "share late", "share of the blocks", late, "b", **more),
        figure(_of(16), "loss of the UDP flow", losing, x, "lost of 100 packets", lost, **more),
    ]


FIGURES = (
    Drawn("Rai 2003, Fig. 4", departures),
    Drawn("Rai 2003, Fig. 6 to 10", web),
    Drawn("Rai 2003, Fig. 11", partial(ftp, 11, {"ftp-0.75": "load 0.75"}, _LOW)),
    Drawn("Rai 2003, Fig. 12", partial(ftp, 12, {"ftp-0.9": "load 0.9"}, _LOW)),
    Drawn("Rai 2003, Fig. 13", partial(ftp, 13, {"ftp-0.98": "load 0.98"}, _HIGH)),
    Drawn(
        "Rai 2003, Fig. 14",
        partial(ftp, 14, {"ftp-far": "a source farther away", "ftp-varied": "uniform delays"}, _DELAYS),
    ),
    Drawn("Rai 2003, Fig. 15, 16", udp),
)
"""All of them."""
