"""Cases by hypothesis: drawn until there are enough, and made small where one does what none may."""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from case import Case
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.strategies import SearchStrategy
from worker import Failure, Runner

AT_ONCE = 100
"""Cases of one run of hypothesis, which remembers them all."""

SHRINKS = 300
"""Attempts to make a case smaller, at most."""

SHRINK_S = 60.0


@dataclass
class Finding:
    """A case that does what none may, the smallest that was seen.

    Parameters
    ----------
    case : Case
    failure : Failure
    times : int
        Cases that did it.
    """

    case: Case
    failure: Failure
    times: int = 1


@dataclass
class Explored:
    """What was run, and found."""

    cases: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    findings: dict[str, Finding] = field(default_factory=dict)
    longest_s: float = 0.0
    largest_bytes: int = 0


class _FoundError(Exception):
    """Tells hypothesis that a case is one to be made smaller."""


def explore(
    strategy: SearchStrategy[Case],
    runner: Runner,
    *,
    cases: int,
    seconds: float | None = None,
    seed: int = 1,
    found: Callable[[Finding], None] = lambda finding: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Explored:
    """Runs cases of a strategy.

    Parameters
    ----------
    strategy : SearchStrategy of Case
    runner : Runner
    cases : int
        At most.
    seconds : float, optional
        At most.
    seed : int
        Of the cases: the same seed draws the same cases, as long as findings are the same.
    found : callable
        Called with each finding as soon as it is made, and once more when it is small.
    stopped : callable
        Asked before each case whether to end early.

    Returns
    -------
    Explored
    """
    told = Explored()
    end_s = time.monotonic() + (seconds if seconds is not None else float("inf"))

    def over() -> bool:
        return stopped() or time.monotonic() >= end_s

    part = 0
    while told.cases < cases and not over():
        part += 1
        before = told.cases
        _part(strategy, runner, told, min(AT_ONCE, cases - told.cases), over, f"{seed}/{part}", found)
        if told.cases == before:
            break
        print(f"  {told.cases} cases, {len(told.findings)} findings", file=sys.stderr, flush=True)
    told.statuses, told.longest_s, told.largest_bytes = runner.statuses, runner.longest_s, runner.largest_bytes
    return told


def _part(
    strategy: SearchStrategy[Case],
    runner: Runner,
    told: Explored,
    most: int,
    over: Callable[[], bool],
    seed: str,
    found: Callable[[Finding], None],
) -> None:
    target: str | None = None
    attempts, until_s = 0, 0.0

    def one(case: Case) -> None:
        nonlocal target, attempts, until_s
        if target is None:
            if over():
                return
            told.cases += 1
        else:
            attempts += 1
            if attempts > SHRINKS or time.monotonic() > until_s or over():
                return
        for failure in runner.run(case):
            signature = failure.signature
            if target is None and signature in told.findings:
                told.findings[signature].times += 1
            elif target is None:
                target, until_s = signature, time.monotonic() + SHRINK_S
                told.findings[signature] = Finding(case, failure)
                found(told.findings[signature])
            elif signature == target:
                told.findings[signature] = Finding(case, failure, told.findings[signature].times)
        if target is not None and told.findings[target].case is case:
            # In one place: hypothesis tells failures apart by where they are raised.
            raise _FoundError(target)

    options: dict[str, Any] = {"max_examples": most, "database": None, "deadline": None, "print_blob": False}
    options |= {"phases": (Phase.generate, Phase.shrink), "suppress_health_check": list(HealthCheck)}
    options |= {"verbosity": Verbosity.quiet, "report_multiple_bugs": False}
    drawn = hypothesis.seed(seed)(hypothesis.settings(**options)(hypothesis.given(strategy)(one)))
    # A case that does not fail again, as one of a time limit may, is a finding all the same.
    with contextlib.suppress(_FoundError, hypothesis.errors.Flaky):
        drawn()
    if target is not None:
        found(told.findings[target])
