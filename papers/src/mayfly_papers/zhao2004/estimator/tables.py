"""Errors of every method on every run, and what the start decides, as Markdown."""

from mayfly_papers.declare.declaration import Runs, mean_interval
from mayfly_papers.declare.markdown import number, table
from mayfly_papers.zhao2004.estimator.measures import METHODS, PUBLISHED, STARTS, TUNED
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
            form = f"{method}-tuned" if method in PUBLISHED else method
            error = of(f"{form}_error")
            low, high = mean_interval(error)
            row.append(f"{error.mean():+.0%} [{low:+.0%}, {high:+.0%}], {number(of(f'{form}_mse').mean())}")
        body.append([*row, f"{of('default_trusted').mean():.0%}"])
    text = (
        f"Mean over {SEEDS} seeds with its 95 % interval, then the mean MSE. Truth is the share of the arriving "
        "packets, queue its mean in packets; all from 100 s on. The published methods are tuned. "
        "`default` runs from 0 s on, the others from 100 s. "
        "*Relied on*: estimates of the default that carry no doubt."
    )
    return ["## Every method on every run", text, table(head, body)]


def _starts(runs: Runs) -> list[str]:
    scale = TUNED["drop_scale"]
    head = ["CBR flows", "truth"]
    head += [f"p times {times}, started at {start:g}" for times in (1, scale) for start in STARTS]
    body = []
    for flows in CBR_LOADS:
        experiment = next(own for own in EXPERIMENTS if own.id == f"cbr-{flows}")
        label = experiment.disciplines[0]
        row = [str(flows), f"{runs.values(experiment.id, label, 'share').mean():.3f}"]
        for name in (f"{form}-{start:g}" for form in ("p0", "p0-tuned") for start in STARTS):
            mean = runs.values(experiment.id, label, f"{name}_mean")
            low, high = mean_interval(mean)
            mse = runs.values(experiment.id, label, f"{name}_mse").mean()
            row.append(f"{mean.mean():.2f} [{low:.2f}, {high:.2f}], {number(mse)}")
        body.append(row)
    text = (
        "`p0` with the printed gains from several starts, with p as a share and tuned: mean estimate over the 220 s "
        "with its 95 % interval, then the MSE. A method that had learned the load from the samples would give a row "
        "one number."
    )
    return ["## What the start decides", text, table(head, body)]


SECTIONS = (error_tables,)
