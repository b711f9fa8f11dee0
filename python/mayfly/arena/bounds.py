"""What a clairvoyant could have: transfers in the order in which a reference policy would finish them.

In a single queue nobody is later then than under the reference: a transfer has the whole link in its turn, where the
reference divides it among several (the family *Pri* of Dell'Amico, Carra and Michiardi, arXiv 1506.09158). Over a
network that holds for most transfers, not for all; how many end later is measured.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mayfly.arena import figures
from mayfly.arena.rows import Row
from mayfly.arena.sentences import leader, ordered_rows, value_text
from mayfly.arena.trial import BY_ID, Trial
from mayfly.scenario.scenario import Scenario
from mayfly.show.table import Cell, Table
from mayfly.show.table import Row as Line
from mayfly.simulate.run import RunResult, named, run_one
from mayfly.text.readable import MISSING, share_text

if TYPE_CHECKING:
    from mayfly.arena.arena import Arena

LATER = 0.01
"""Who takes longer by more than this share of its time under the reference counts as later."""


@dataclass(frozen=True)
class BoundTrial(Trial):
    """A run under ``ranked`` in the order in which ``label`` finished the same workload in a run before."""

    @property
    def key(self) -> str:
        """Address of the result: that of the run before, and that it is a bound."""
        return hashlib.sha256(f"pri {super().key}".encode()).hexdigest()[:24]

    def simulated(self, scenario: Scenario, flows: pl.DataFrame) -> tuple[RunResult, dict[str, float]]:
        """The second run; ``later``, the share of transfers that end later in it than in the first.

        Parameters
        ----------
        scenario : Scenario
        flows : polars.DataFrame

        Returns
        -------
        result : RunResult
        more : dict of float
            ``later``, and ``before_s``, processor time of the first run.
        """
        reference, _ = super().simulated(scenario, flows)
        ranked = flows.with_columns(mark=pl.Series(ranks(reference.records), dtype=pl.Int64))
        result = run_one(scenario, named(["ranked"])[0], ranked)
        return result, {
            "later": later(reference.records, result.records),
            "before_s": float(reference.counters["cpu_s"]),
        }


def ranks(records: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Places of flows in the order in which they finished.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        With ``finish_s``.

    Returns
    -------
    ndarray, shape (n_flows,), uint32
        From 1; those that did not finish come last, in the order of the list.

    Examples
    --------
    >>> ranks(pl.DataFrame({"finish_s": [3.0, None, 1.0]})).tolist()
    [2, 3, 1]
    """
    finish = records["finish_s"].fill_null(np.inf).to_numpy()
    places = np.empty(finish.size, dtype=np.uint32)
    places[np.argsort(finish, kind="stable")] = np.arange(1, finish.size + 1, dtype=np.uint32)
    return places


def later(reference: pl.DataFrame, bound: pl.DataFrame) -> float:
    """Share of flows that took longer, by more than `LATER`; one that did not finish took forever.

    Parameters
    ----------
    reference, bound : polars.DataFrame, shape (n_flows, ...)
        Records of the same flows, with ``response_time_s``.

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> times = [pl.DataFrame({"response_time_s": own}) for own in ([1.0, 2.0, None, 4.0], [1.005, 2.1, 9.0, None])]
    >>> later(*times)
    0.5
    """
    before, after = (one["response_time_s"].fill_null(np.inf).to_numpy() for one in (reference, bound))
    return float((after > before * (1 + LATER)).mean()) if before.size else 0.0


def has_bound(experiment: str) -> bool:
    """Whether it draws transfers whose times by size are the figures."""
    return BY_ID[experiment].read is figures.transfers


def is_bounded(row: Row) -> bool:
    """Whether a bound says something of it: times of transfers by size."""
    return has_bound(row.experiment) and row.figure in {f"{name}_s" for name in figures.SIZES}


def bounds_table(result: "Arena") -> Table:
    """Times by size of the best discipline, of the references, and of who serves in the order in which these finish.

    Parameters
    ----------
    result : Arena
        With bounds.

    Returns
    -------
    Table
    """
    references = list(dict.fromkeys(label for own in result.bounds.values() for label in own))
    first = leader(result)
    columns = list(dict.fromkeys([first, *(label for label in references if label in result.disciplines)]))
    rows: list[Line] = []
    for row in ordered_rows(result):
        if row.id not in result.bounds:
            continue
        own = result.board[row.id]
        cells = [Cell(value_text(row, own[label].mean) if label in own else MISSING) for label in columns]
        for label in references:
            found = list(result.bounds[row.id].get(label, {}).values())
            cells.append(Cell(value_text(row, float(np.mean(found))) if found else MISSING))
        rows.append((row.title, *cells))
    shares = ", ".join(f"{share_text(result.later[label])} under pri({label})" for label in references)
    note = (
        "pri(X): the workload ran under X, then again with transfers served strictly in the order in which they had "
        f"finished. It knows what is to come and is no rival. Transfers that ended later than under X: {shares}, means "
        "over the seeds; in a single queue it would be none."
    )
    heads = ("row", *columns, *(f"pri({label})" for label in references))
    return Table("What a clairvoyant could have", heads, tuple(rows), notes=(note,), narrow="fold")
