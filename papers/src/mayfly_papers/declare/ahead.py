"""Experiments that are run before claims ask for them, so that no core waits.

Principle: an experiment has few runs of different length, and figures are drawn by one thread; one after the other
leaves a core idle for a quarter of the time. Here two experiments are under way while claims are checked, and the runs
of both come from one queue, with a thread for each core. Which experiments claims ask for is found by asking them with
numbers that mean nothing: a wrong guess costs time and changes nothing, since numbers are taken as they would be.
"""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import numpy as np

from mayfly_papers.declare.declaration import Claim, Runs, Values

AT_ONCE = 2
"""Experiments under way."""


class _Asking(Runs):
    """Notes which experiments a claim asks for, and answers with ones."""

    def values(self, experiment: str, discipline: str, measure: str) -> Values:
        """Ones, as many as there are replications."""
        del discipline, measure
        declared = self._experiments[experiment]
        self._asked[experiment] = None
        return np.ones(declared.replications)


def foreseen(claims: Iterable[Claim], runs: Runs) -> list[str]:
    """Experiments that claims will ask for, in that order.

    Parameters
    ----------
    claims : iterable of Claim
        None of them is checked.
    runs : Runs
        With the experiments there are.

    Returns
    -------
    list of str
        Ids; some may be missing where what is asked for depends on what was measured.
    """
    asking = _Asking(runs.experiments)
    if not asking.experiments:
        return []
    for claim in claims:
        # Ones are no measurement: what a claim makes of them does not count.
        with suppress(Exception), np.errstate(all="ignore"):
            claim.check(asking)
    return list(asking.asked())


@contextmanager
def ahead(parts: Iterable[tuple[Iterable[Claim], Runs]]) -> Iterator[None]:
    """Run what claims will ask for while they are checked; what is not begun at the end is left out.

    Parameters
    ----------
    parts : iterable of tuple
        Claims and the runs they are checked with, in the order of the checks.
    """
    pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="runs")
    experiments = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="experiments")
    helped = []
    try:
        for claims, runs in parts:
            runs.pool = pool
            helped.append(runs)
            for identity in foreseen(claims, runs):
                experiments.submit(_run, runs, identity)
        yield
    finally:
        # Runs that wait first, as the experiments wait for them.
        pool.shutdown(wait=False, cancel_futures=True)
        experiments.shutdown(cancel_futures=True)
        for runs in helped:
            runs.pool = None


def _run(runs: Runs, identity: str) -> None:
    # Whoever asks for it gets the error.
    with suppress(Exception):
        runs.run(identity)
