"""Figures 5.3 to 5.10 of Chen 2012 as figures: one run each, raw, median-filtered, and the models beside it."""

from collections.abc import Sequence

import polars as pl

from mayfly.discipline_registry import parse
from mayfly.models.queue.flow_records import beside, by_size, errors
from mayfly.models.queue.policies import POLICIES
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.chen2012.queues.claims import EXPERIMENTS, LOADS, NAMES
from mayfly_papers.chen2012.queues.measures import MODELS, WINDOW, link_of, parameters_of
from mayfly_papers.declare.figure import Curve, Drawn, Figure

FIRST = 3
"""Of the figures 5.x: the disciplines at the first load, then at the second."""


def figures() -> list[Figure]:
    """All of them, from the first replication.

    Returns
    -------
    list of Figure
        In the order of the thesis.
    """
    scenarios = [experiment.loaded() for experiment in EXPERIMENTS if experiment.id.startswith("queues-")]
    return figures_of(scenarios)


def figures_of(scenarios: Sequence[Scenario]) -> list[Figure]:
    """The same from scenarios of one's own.

    Parameters
    ----------
    scenarios : sequence of Scenario
        One for each load.

    Returns
    -------
    list of Figure
        A figure for each scenario and discipline.
    """
    found: list[Figure] = []
    for load, scenario in zip(LOADS, scenarios, strict=True):
        flows = workload(scenario)
        for discipline in MODELS:
            run = run_one(scenario, parse(discipline), flows)
            found.append(figure(run, f"5.{FIRST + len(found)}", load))
    return found


def figure(run: RunResult, number: str, load: float) -> Figure:
    """One figure.

    Parameters
    ----------
    run : RunResult
        Of a discipline with a model.
    number : str
        Of the figure in the thesis.
    load : float
        Nominal.

    Returns
    -------
    Figure
        Response time by size.
    """
    link, name = link_of(run), NAMES[run.discipline.id]
    points = {
        policy: by_size(beside(run.records, policy, link, **parameters_of(policy, link)), WINDOW)
        for policy in MODELS[run.discipline.id]
    }
    raw = next(iter(points.values()))
    sizes = raw["size_packets"].to_list()
    curves = [
        Curve("raw", "simulated: mean of the flows of each size", sizes, raw["simulated_mean_s"].to_list(), True),
        Curve("medfilt", f"the same, median over {WINDOW} neighbouring sizes", sizes, raw["filtered_s"].to_list()),
    ]
    curves += [
        Curve(f"{POLICIES[policy].id} model", told(policy), sizes, table["model_mean_s"].to_list())
        for policy, table in points.items()
    ]
    caption = f"Seed 1, {raw['flows'].sum():,} flows. " + " ".join(
        error_sentence(policy, table) for policy, table in points.items()
    )
    title = f"Figure {number}: {name}, load {load:g}"
    return Figure(
        f"fig-{number.replace('.', '-')}",
        title,
        caption,
        "flow size (MSS)",
        "response time (s)",
        tuple(curves),
        source=f"Chen 2012, Fig. {number}",
    )


def told(policy: str) -> str:
    """A model in words, with its source."""
    return f"M/G/1 {POLICIES[policy].title} ({POLICIES[policy].source})"


def error_sentence(policy: str, points: pl.DataFrame) -> str:
    """Error figures over the points."""
    raw, filtered = errors(points), errors(points, "filtered_s")
    return (
        f"Error of the {policy} model over the sizes: median {raw['median']:+.1%}, 90 % within {raw['p90']:.0%}; after "
        f"the filter {filtered['median']:+.1%} and {filtered['p90']:.0%}."
    )


FIGURES = (Drawn.of_own_runs("Chen 2012, Fig. 5.3 to 5.10", figures),)
