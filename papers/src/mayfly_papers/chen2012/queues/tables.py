"""Errors of the models of Chen 2012, 5.2 against the packet simulation, as tables of the page."""

import numpy as np

from mayfly_papers.chen2012.queues.claims import LOADS, NAMES
from mayfly_papers.chen2012.queues.measures import MODELS, PARTS, WINDOW, part_text
from mayfly_papers.declare.declaration import Runs, mean_interval
from mayfly_papers.declare.markdown import table

POLICIES = {"fifo": "FIFO, Eq. 5.1", "ps": "PS, Eq. 5.2", "las": "LAS, Eq. 5.3", "run2c": "Run2C, Eq. 5.5 and 5.6"}

HEAD = (
    "size",
    "simulated, s",
    "error of the mean [95 %]",
    "law",
    "path",
    "jobs",
    "raw: median",
    "raw: 90 %",
    "filtered: median",
    "filtered: 90 %",
)

LEGEND = f"""\
## Errors

Model over simulated less 1, means over the replications. *Error of the mean*: of all flows of the class, the model
told of the flows of the run, with its 95 % interval. *Law*: the same, told of the law and the nominal load. *Path*:
with what a flow takes alone beyond the time of its bytes on the link. *Jobs*: in place of the model the job-level
simulation of its order of service, on the flows of the run. *Raw* and *filtered*: over the points of the figure,
one for each size that occurs, as simulated and after the median filter over {WINDOW} sizes: the median with its
sign, and the 90 % quantile of the magnitude. Above 400 MSS most sizes occur once, and a raw point is one flow:
single response times lie below their mean more often than above, so that there the medians are above 0 where the
means agree."""


def error_tables(runs: Runs) -> str:
    """All of them.

    Parameters
    ----------
    runs : Runs
        Of the experiments of Chen 2012, 5.2.

    Returns
    -------
    str
        Markdown with a final newline.
    """
    parts = [LEGEND]
    for load in LOADS:
        for discipline, policies in MODELS.items():
            for policy in policies:
                parts.append(f"### {NAMES[discipline]} at load {load} beside the model {POLICIES[policy]}")
                parts.append(table(HEAD, error_rows(runs, load, discipline, policy)))
    return "\n\n".join(parts) + "\n"


def error_rows(runs: Runs, load: float, discipline: str, policy: str) -> list[list[str]]:
    """One table, a row per class of size and one for all."""

    def of(measure: str) -> np.ndarray:
        return runs.values(f"queues-{load}", discipline, measure)

    rows = []
    for part in (*PARTS, "all"):
        off = of(f"{policy}_{part}") - 1
        low, high = mean_interval(off)
        row = ["all sizes" if part == "all" else part_text(part), f"{of(f'{part}_s').mean():.4g}"]
        row.append(f"{percent(off.mean())} [{percent(low)}, {percent(high)}]")
        row += [percent(of(f"{policy}_{told}_{part}").mean() - 1) for told in ("nominal", "path", "jobs")]
        for kind in ("raw", "filtered"):
            row.append(percent(of(f"{policy}_{kind}_median_{part}").mean()))
            row.append(percent(of(f"{policy}_{kind}_p90_{part}").mean()).lstrip("+"))
        rows.append(row)
    return rows


def percent(value: float) -> str:
    """A share in per cent, with its sign.

    Examples
    --------
    >>> percent(-0.0312), percent(9.2)
    ('-3.1 %', '+920 %')
    """
    return f"{100 * value:+.0f} %" if abs(value) >= 0.995 else f"{100 * value:+.1f} %"


SECTIONS = (error_tables,)
