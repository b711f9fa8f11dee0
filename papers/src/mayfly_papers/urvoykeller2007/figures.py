"""Figures 16 to 18, 21 and 22 of Urvoy-Keller 2007 as figures: one run each, beside queues with one server."""

import numpy as np
import polars as pl

from mayfly.arrays import number_or_none
from mayfly.discipline_registry import parse
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.formulas.figures import of_cycles
from mayfly_papers.urvoykeller2007 import cell_figures
from mayfly_papers.urvoykeller2007.measures import PACKET_BITS, WINDOW, fitted, points, timed, with_model
from mayfly_papers.urvoykeller2007.transfers import EXPERIMENTS, NAMES, SETTING

DOWNLOADS = {"16": "bp-9.67-1", "17": "bp-9.67-2", "18": "bp-9.67-3"}
MIXES = {"21": "mix-bp-6.67-3", "22": "mix-bp-6.67-5"}
"""Experiment of each figure."""


def figures(most_s: float | None = None) -> list[Figure]:
    """All of them, from the first replication.

    Parameters
    ----------
    most_s : float, optional
        Simulated time, seconds, where not all of it is wanted.

    Returns
    -------
    list of Figure
        In the order of the report.
    """
    known = {experiment.id: experiment for experiment in EXPERIMENTS}
    found = [of_downloads(number, known[name], most_s) for number, name in DOWNLOADS.items()]
    return found + [of_mix(number, known[name], most_s) for number, name in MIXES.items()]


def of_downloads(number: str, experiment: Experiment, most_s: float | None = None) -> Figure:
    """LAS with its model, FIFO with PS at the capacity that LAS shows."""
    fifo, las = (one_run(experiment, discipline, most_s) for discipline in ("fifo", "las"))
    capacity, queue, uploads = fitted(las)
    ps = POLICIES["ps"]
    of_las = points(with_model(las, capacity, queue, uploads))
    of_fifo = points(with_model(fifo, capacity, queue, uploads))
    shared = ps.response(queue, of_fifo["size_packets"].to_numpy() * (PACKET_BITS / capacity))
    curves = [*_simulated("FIFO", of_fifo), *_simulated("LAS", of_las)]
    curves.append(Curve("PS model", f"M/G/1 {ps.title} (Urvoy-Keller 2007, Eq. 3)", of_fifo["size_packets"], shared))
    curves.append(_model("LAS", "Eq. 4", of_las))
    return _of_run(number, experiment, curves, capacity, queue)


def of_mix(number: str, experiment: Experiment, most_s: float | None = None) -> Figure:
    """LASACK with its model."""
    run = one_run(experiment, "lasack", most_s)
    capacity, queue, uploads = fitted(run)
    table = points(with_model(run, capacity, queue, uploads))
    curves = [*_simulated("LASACK", table), _model("LASACK", "Eq. 8", table)]
    starved = number_or_none(table.filter(pl.col("model_mean_s").is_infinite())["size_packets"].min())
    more = "" if starved is None else f" From {starved} MSS on the model starves downloads: no curve there."
    return _of_run(number, experiment, curves, capacity, queue, more)


def one_run(experiment: Experiment, discipline: str, most_s: float | None = None) -> RunResult:
    """The first replication."""
    scenario = experiment.loaded()
    if most_s is not None:
        scenario = scenario.override(duration=f"{most_s}s")
    flows = workload(scenario)
    if experiment.prepare is not None:
        flows = experiment.prepare(flows, 0)
    run = run_one(scenario, parse(discipline), flows)
    return timed(run, window=int(SETTING["window"]), reading=str(SETTING["time"]))


def _simulated(name: str, table: pl.DataFrame) -> list[Curve]:
    sizes = table["size_packets"]
    return [
        Curve(f"{name}, raw", "simulated: mean of the downloads of each size", sizes, table["simulated_mean_s"], True),
        Curve(f"{name}, medfilt", f"the same, median over {WINDOW} neighbouring sizes", sizes, table["filtered_s"]),
    ]


def _model(name: str, equation: str, table: pl.DataFrame) -> Curve:
    about = f"M/G/1 {POLICIES[name.lower()].title} (Urvoy-Keller 2007, {equation})"
    return Curve(f"{name} model", about, table["size_packets"], table["model_mean_s"])


def _of_run(
    number: str, experiment: Experiment, curves: list[Curve], capacity: float, queue: MG1, more: str = ""
) -> Figure:
    load = experiment.id.rpartition("-")[2]
    names = ", ".join(NAMES[name] for name in experiment.disciplines if any(NAMES[name] in c.kind for c in curves))
    caption = (
        f"Time at the access point of downloads, seed 1. Capacity by Eq. 10: {capacity / 1e6:.2f} Mb/s, so a load of "
        f"{np.round(queue.rho, 2):g} from downloads.{more}"
    )
    title = f"Figure {number}: {names}, {load} Mb/s"
    key = f"fig-{number}"
    return Figure(
        key,
        title,
        caption,
        "flow size (MSS)",
        "time at the access point (s)",
        tuple(curves),
        source=f"Urvoy-Keller 2007, Fig. {number}",
    )


FIGURES = (
    Drawn.of_own_runs("Urvoy-Keller 2007, Fig. 16 to 18, 21 and 22", figures),
    *cell_figures.FIGURES,
    Drawn.of_own_runs("Urvoy-Keller 2007, Fig. 10", of_cycles),
)
