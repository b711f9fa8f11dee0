"""Errors of every method on every run, and what the start decides, as Markdown."""

from mayfly_papers.declare.declaration import Runs, mean_interval
from mayfly_papers.declare.markdown import number, table
from mayfly_papers.zhao2004.estimator.measures import METHODS, STARTS
from mayfly_papers.zhao2004.estimator.scenarios import CBR_LOADS, EXPERIMENTS, SEEDS


def error_tables(runs: Runs) -> str:
    """The tables of the page.

    Parameters
    ----------
    runs : Runs
        Of the experiments of the estimator.

    Returns
    -------
    str
        Markdown, two tables.
    """
    return "\n\n".join([*_errors(runs), *_starts(runs)]) + "\n"


def _errors(runs: Runs) -> list[str]:
    head = ["run", "truth", "drops (%)", "queue", *(f"{method}: relative error, MSE" for method in METHODS)]
    head.append("default: relied on")
    body = []
    for experiment in EXPERIMENTS:
        label = experiment.disciplines[0]

        def of(measure: str, name: str = experiment.id, label: str = label):
            return runs.values(name, label, measure)

        row = [experiment.id, *(f"{of(name).mean():.3g}" for name in ("share", "drops", "queue"))]
        for method in METHODS:
            error = of(f"{method}_error")
            low, high = mean_interval(error)
            row.append(f"{error.mean():+.0%} [{low:+.0%}, {high:+.0%}], {number(of(f'{method}_mse').mean())}")
        body.append([*row, f"{of('default_trusted').mean():.0%}"])
    text = (
        f"Mean over {SEEDS} seeds with its 95 % interval, then the mean MSE. Truth is the share of the arriving "
        "packets, queue its mean in packets; all from 100 s on. `default` runs from 0 s on, the others from 100 s. "
        "*Relied on*: estimates of the default that carry no doubt; of the published ones none does without."
    )
    return ["## Every method on every run", text, table(head, body)]


def _starts(runs: Runs) -> list[str]:
    head = ["CBR flows", "truth", *(f"started at {start:g}" for start in STARTS), "at the truth"]
    body = []
    for flows in CBR_LOADS:
        experiment = next(own for own in EXPERIMENTS if own.id == f"cbr-{flows}")
        label = experiment.disciplines[0]
        row = [str(flows), f"{runs.values(experiment.id, label, 'share').mean():.3f}"]
        for name in (*(f"p0-{start:g}" for start in STARTS), "p0-right"):
            mean = runs.values(experiment.id, label, f"{name}_mean")
            low, high = mean_interval(mean)
            mse = runs.values(experiment.id, label, f"{name}_mse").mean()
            row.append(f"{mean.mean():.2f} [{low:.2f}, {high:.2f}], {number(mse)}")
        body.append(row)
    text = (
        "`p0` with the printed gains from several starts: mean estimate over the 220 s with its 95 % interval, then "
        "the MSE. A method that had learned the load from the samples would give a row one number."
    )
    return ["## What the start decides", text, table(head, body)]


SECTIONS = (error_tables,)
