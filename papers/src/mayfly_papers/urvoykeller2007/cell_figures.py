"""Figures 1 to 6, 11 to 15, 19 and 20 of Urvoy-Keller 2007 as figures: means over the replications, or seed 1."""

from functools import partial
from typing import Any

import polars as pl

from mayfly.metrics import active_flows
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.declare.figure_parts import FirstRuns, figure, measured, runs_or_own
from mayfly_papers.declare.rows import quantity
from mayfly_papers.urvoykeller2007 import endless
from mayfly_papers.urvoykeller2007 import transfers as report
from mayfly_papers.urvoykeller2007.windows import outstanding

PARTS = 20
"""Parts of the flows by quantile of size, in Fig. 13, 14, 19 and 20."""

INTERVAL_S = 50.0
"""Of Fig. 12."""

BY_LOAD = tuple(own for own in report.EXPERIMENTS if own.id in {f"bp-9.67-{load}" for load in report.LOADS})
"""Downloads of the first law of Table 1."""

QUANTILE, LOAD = "quantile of size", "offered load (Mb/s)"
BUFFER = "buffer of the access point (MSS)"
WAYS = {"down": "downloads", "up": "uploads"}
_MEANS = "Means over the replications with 95 % intervals."


def _of(number: int) -> str:
    return f"Urvoy-Keller 2007, Fig. {number}"


def by_buffer(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 1 to 6: over all replications."""
    runs = runs_or_own(runs, endless.EXPERIMENTS)
    found = []
    says = {
        1: (
            "fifo",
            "The report: under FIFO round trips of downloads are those of uploads at all buffers.",
        ),
        5: ("las", "The report: LAS acts on round-trip times and windows both, against the downloads."),
        6: ("lasack", "The report: LASACK acts on round-trip times and windows both, and makes them fair."),
    }
    for number, (discipline, caption) in says.items():
        name = endless.NAMES[discipline]
        for part, what, y in (("rtt_s", "round-trip times", "s"), ("cwnd", "congestion windows", "MSS")):
            curves = [
                _by_buffer(runs, text, f"mean over the {text}", discipline, f"{way}_{part}")
                for way, text in WAYS.items()
            ]
            more: dict[str, Any] = {"part": part.partition("_")[0], "logarithms": "x"}
            text = f"{caption} {_MEANS}"
            found.append(figure(_of(number), f"{what} under {name}", text, BUFFER, y, curves, **more))
    ratios = {d: _by_buffer(runs, name, f"under {name}", d, "ratio") for d, name in endless.NAMES.items()}
    windows = _by_buffer(runs, "windows", "window of an upload over that of a download, FIFO", "fifo", "window_ratio")
    alone = f"The report: under FIFO the ratio falls with the buffer, and is that of the windows. {_MEANS}"
    three = f"The report: under LAS uploads get two orders of magnitude more, LASACK is perfectly fair. {_MEANS}"
    total = f"The report: fairness has no cost; LASACK carries more than FIFO and LAS. {_MEANS}"
    sums = [_by_buffer(runs, name, f"under {name}", d, "total_mbps") for d, name in endless.NAMES.items()]
    up_over_down = "uploads over downloads"
    found += [
        figure(_of(2), "uploads over downloads under FIFO", alone, BUFFER, up_over_down, [ratios["fifo"], windows]),
        figure(_of(3), "uploads over downloads", three, BUFFER, up_over_down, ratios.values()),
        figure(_of(4), "aggregate throughput", total, BUFFER, "Mb/s", sums, logarithms=False),
    ]
    return sorted(found, key=lambda drawn: int(drawn.source.rpartition(" ")[2]))


def _by_buffer(runs: Runs, kind: str, about: str, discipline: str, measure: str) -> Curve:
    quantities = [quantity(f"endless-{packets}", discipline, measure) for packets in endless.BUFFERS]
    return measured(runs, kind, about, endless.BUFFERS, quantities)


def _by_load(runs: Runs, kind: str, about: str, discipline: str, measure: str) -> Curve:
    quantities = [quantity(f"bp-9.67-{load}", discipline, measure) for load in report.LOADS]
    return measured(runs, kind, about, report.LOADS, quantities)


def measured_load(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 11: over all replications."""
    runs = runs_or_own(runs, BY_LOAD)
    curves = [
        _by_load(runs, f"{name}, {text}", f"{text} under {name}", discipline, f"{measure}_mbps")
        for discipline, name in (("fifo", "FIFO"), ("las", "LAS"))
        for measure, text in (("unique", "first transmissions"), ("again", "sent again"))
    ]
    caption = f"The report: FIFO sends more in all, the rate of first transmissions is the same. {_MEANS}"
    return [figure(_of(11), "measured load", caption, LOAD, "Mb/s", curves, logarithms=False)]


def layers(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 15: over all replications."""
    runs = runs_or_own(runs, BY_LOAD)
    kinds = {
        "mac_retries": "retransmissions of the MAC",
        "queue_drops": "drops at the queue",
        "tcp_again": "sent again by TCP",
    }
    curves = [
        _by_load(runs, f"{name}, {text}", f"{text}, {name}", discipline, measure)
        for discipline, name in (("fifo", "FIFO"), ("las", "LAS"))
        for measure, text in kinds.items()
    ]
    caption = f"The report: more load means more drops at the queue rather than retransmissions of the MAC. {_MEANS}"
    return [figure(_of(15), "losses at the layers", caption, LOAD, "in 1000 s", curves, logarithms="y")]


def active(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 12.

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
    first = FirstRuns(BY_LOAD, runs, most_s)
    curves = []
    for load in report.LOADS:
        counts = {}
        for discipline in ("fifo", "las"):
            run = first(f"bp-9.67-{load}", discipline)
            end_s = run.counters["end_ns"] * 1e-9
            counts[discipline] = active_flows(run.records, end_s, min(INTERVAL_S, end_s / 4))
        ratios = (counts["fifo"]["mean"] / counts["las"]["mean"]).to_list()
        curves.append(Curve(f"{load} Mb/s", f"offered load of {load} Mb/s", counts["las"]["time_s"], ratios))
    caption = (
        "Active flows under FIFO over those under LAS, means of 50 s, seed 1. The report: the ratio goes to 1.6 to 2 "
        "after "
        "1000 s when the cell is overloaded, above 4 Mb/s."
    )
    what = "active connections, FIFO over LAS"
    return [figure(_of(12), what, caption, "time (s)", "ratio", curves, logarithms="y")]


def by_quantile(number: int, load: int, runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 13 or 14.

    Parameters
    ----------
    number, load : int
        Of the figure, and its load, Mb/s.
    runs, most_s
        As of :func:`active`.

    Returns
    -------
    list of Figure
    """
    first = FirstRuns(BY_LOAD, runs, most_s)
    tables = {
        name: quantiles(_windows(first(f"bp-9.67-{load}", label))) for label, name in (("fifo", "FIFO"), ("las", "LAS"))
    }
    caption = (
        "By quantile of size, completed downloads, seed 1. The report: times are smaller under LAS for most sizes; the "
        "largest pay at 2 Mb/s, and some do not complete at 5. From 2 to 5 Mb/s the smallest take 100 times as long "
        "under FIFO, while most are marginally affected under LAS."
    )
    found = []
    for column, what, y, scale in (
        ("response_time_s", "response times", "s", "y"),
        ("rtt_mean_s", "round-trip times", "s", "y"),
        ("window_packets", "windows", "MSS", False),
        ("again", "sent again", "share of the packets", False),
    ):
        curves = [Curve(name, f"under {name}", table["quantile"], table[column]) for name, table in tables.items()]
        more: dict[str, Any] = {"part": column.partition("_")[0], "logarithms": scale}
        found.append(
            figure(_of(number), f"{what} of downloads, {load} Mb/s", caption, "quantile of size", y, curves, **more)
        )
    return found


def mixes(runs: Runs | None = None, most_s: float | None = None) -> list[Figure]:
    """Fig. 19 and 20; parameters as of :func:`active`."""
    first = FirstRuns(report.EXPERIMENTS, runs, most_s)
    found = []
    for number, load in ((19, 3), (20, 5)):
        curves = []
        for label, name in (("fifo", "FIFO"), ("lasack", "LASACK")):
            records = _windows(first(f"mix-bp-6.67-{load}", label))
            for way, text in WAYS.items():
                table = quantiles(records.filter(direction=way))
                curves.append(
                    Curve(f"{name}, {text}", f"{text} under {name}", table["quantile"], table["response_time_s"])
                )
        caption = (
            "By quantile of size, completed flows, two downloads for an upload, seed 1. The report: LASACK keeps the "
            "times of most uploads and downloads low as compared with FIFO, by their round-trip times."
        )
        what = f"LASACK and FIFO, {load} Mb/s in all"
        found.append(
            figure(_of(number), what, caption, "quantile of size", "response time (s)", curves, logarithms="y")
        )
    return found


def _windows(run: RunResult) -> pl.DataFrame:
    """Records with ``window_packets``."""
    return run.records.join(outstanding(run), on="flow_id", how="left", maintain_order="left")


def quantiles(records: pl.DataFrame) -> pl.DataFrame:
    """Means of completed flows in equal parts by rank of size; flows of one size are in the part of their middle.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records with the window of each flow.

    Returns
    -------
    polars.DataFrame
        ``quantile`` (mean of a part), ``response_time_s``, ``rtt_mean_s``, ``window_packets`` and ``again``, packets
        sent again over those of the flows.
    """
    ranked = records.with_columns(quantile=(pl.col("size_packets").rank("average") - 0.5) / records.height)
    done = ranked.filter(pl.col("finish_s").is_not_null())
    part = (pl.col("quantile") * PARTS).floor().alias("part")
    means = pl.col("quantile", "response_time_s", "rtt_mean_s", "window_packets").mean()
    again = (pl.col("retransmits").sum() / pl.col("size_packets").sum()).alias("again")
    return done.group_by(part).agg(means, again).sort("part").drop("part")


FIGURES = (
    Drawn("Urvoy-Keller 2007, Fig. 1 to 6", by_buffer),
    Drawn("Urvoy-Keller 2007, Fig. 11", measured_load),
    Drawn("Urvoy-Keller 2007, Fig. 12", active),
    Drawn("Urvoy-Keller 2007, Fig. 13", partial(by_quantile, 13, 2)),
    Drawn("Urvoy-Keller 2007, Fig. 14", partial(by_quantile, 14, 5)),
    Drawn("Urvoy-Keller 2007, Fig. 15", layers),
    Drawn("Urvoy-Keller 2007, Fig. 19, 20", mixes),
)
"""All of them."""
