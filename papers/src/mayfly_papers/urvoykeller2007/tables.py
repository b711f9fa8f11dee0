"""Errors of the models of Urvoy-Keller 2007 over the points of its figures 16 to 18 and 21, as a table of the page."""

import numpy as np

from mayfly_papers.chen2012.queues.tables import percent
from mayfly_papers.declare.declaration import Runs, Values
from mayfly_papers.declare.markdown import table
from mayfly_papers.urvoykeller2007.measures import WINDOW
from mayfly_papers.urvoykeller2007.transfers import ps_seconds_per_bit

HEAD = ("figure", "model over measured", "raw: median", "raw: 90 % of sizes", "filtered: median", "filtered: 90 %")

LEGEND = f"""\
## Errors

Time at the access point, model over measured less 1, over the sizes that occur, each counted once; means over the
replications. *Raw*: the mean of the completed downloads of the size. *Filtered*: after the median filter over {WINDOW}
sizes. The capacity is that of Eq. 10, in the run of LAS for PS. Sizes that the model starves have no error."""


def error_table(runs: Runs) -> str:
    """The table.

    Parameters
    ----------
    runs : Runs
        Of the experiments of Urvoy-Keller 2007.

    Returns
    -------
    str
        Markdown with a final newline.
    """
    rows = []
    for figure, load in (("16", 1), ("17", 2), ("18", 3)):
        name = f"bp-9.67-{load}"
        rows.append([figure, f"LAS, {load} Mb/s", *cells(kinds_of_las(runs, name, "las"))])
        rows.append([figure, f"PS over FIFO, {load} Mb/s", *cells(kinds_of_ps(runs, load))])
    for figure, load in (("21", 3), ("22", 5)):
        rows.append([figure, f"LASACK, {load} Mb/s", *cells(kinds_of_las(runs, f"mix-bp-6.67-{load}", "lasack"))])
    return f"{LEGEND}\n\n{table(HEAD, rows)}\n"


def kinds_of_las(runs: Runs, experiment: str, discipline: str) -> dict[str, list[Values]]:
    """Errors of LAS or LASACK at the 5th, 50th and 95th percentile, raw and filtered."""
    return {
        kind: [runs.values(experiment, discipline, f"las_{kind}_{percentile}") - 1 for percentile in (5, 50, 95)]
        for kind in ("raw", "filtered")
    }


def kinds_of_ps(runs: Runs, load: float) -> dict[str, list[Values]]:
    """The same of PS: the less is measured, the larger the error."""
    slope = ps_seconds_per_bit(runs, load)
    return {
        kind: [
            slope / runs.values(f"bp-9.67-{load}", "fifo", f"bit_s_{kind}_{percentile}") - 1
            for percentile in (95, 50, 5)
        ]
        for kind in ("raw", "filtered")
    }


def cells(kinds: dict[str, list[np.ndarray]]) -> list[str]:
    """Median, and what 90 % lie between, of each kind."""
    found = []
    for low, middle, high in kinds.values():
        found += [percent(middle.mean()), f"{percent(low.mean())} to {percent(high.mean())}"]
    return found


SECTIONS = (error_table,)
