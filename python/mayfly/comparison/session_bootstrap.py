"""Other hours like that of a capture, run under every discipline: where the intervals of `whatif` come from."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly import _native
from mayfly.comparison.comparison import Comparison, while_busy
from mayfly.comparison.recommendation import criteria_values, is_settled
from mayfly.discipline_registry import Discipline
from mayfly.metrics.resampling import hour_ci95, with_intervals
from mayfly.metrics.users import LONG_BYTES, Rule, least_long_bytes, listed_sizes
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.resampled import OWN_HOSTS, HourRun, ResampledHours
from mayfly.simulate.run import Progress
from mayfly.workload.replayed import GAP_S, LEAST_SESSIONS, session_of, users_of

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow

HOURS = 16
"""Resampled hours where nobody says how many: an interval is 1.3 times their range then, and their range with 36."""

MOST_PACKETS = 20_000_000
"""Packets of all resampled runs together up to which they are made unasked: a minute or so on two processors."""


@dataclass(frozen=True)
class Plan:
    """How many hours are drawn from the sessions of a capture.

    Parameters
    ----------
    count : int
        Hours, at most where ``fixed`` is false.
    fixed : bool
        Whether all of them run, as the user gave their number.
    why_none : str
        Empty where there are some.
    sessions, hosts : int
        What they are drawn from.
    """

    count: int
    fixed: bool
    why_none: str
    sessions: int
    hosts: int


@dataclass(frozen=True)
class HoursRun:
    """Hours that ran under every discipline.

    Parameters
    ----------
    complete : bool
        Whether all were run, or as many as the choice takes.
    numbers : sequence of int
        Which of the draws they are.
    criteria : mapping of sequence of dict
        Values of the criteria in each of them, by label.
    """

    complete: bool
    numbers: Sequence[int]
    criteria: Mapping[str, Sequence[dict[str, float]]]


def plain(scenario: Scenario) -> Scenario:
    """The scenario of an hour: only its figures are taken."""
    return scenario.override(sample_interval=0, replications=1, trace=(), subflows=False)


def hours_for(flows: pl.DataFrame, disciplines: int, scenario: Scenario, asked: int | None) -> Plan:
    """How many hours to resample, and why none where it is none.

    Parameters
    ----------
    flows : polars.DataFrame
        The capture's own.
    disciplines : int
        How many are compared.
    scenario : Scenario
        What runs.
    asked : int, optional
        What the user wants; 1 stands for the capture's own run alone.

    Returns
    -------
    Plan
    """
    sessions = int(session_of(flows).max()) + 1
    count, why = _count(flows, sessions, disciplines, scenario, asked)
    return Plan(count, asked is not None, why, sessions, users_of(flows).n_unique())


def _count(
    flows: pl.DataFrame, sessions: int, disciplines: int, scenario: Scenario, asked: int | None
) -> tuple[int, str]:
    if asked is not None and asked < 2:
        return 0, "--replications 1 runs the capture alone"
    if network_of(scenario).together is None:
        return 0, OWN_HOSTS
    if sessions < LEAST_SESSIONS:
        own = f"{sessions} {'session' if sessions == 1 else 'sessions'} of users"
        return 0, f"the capture has {own}, and {LEAST_SESSIONS} are needed to draw others from them"
    if asked is not None:
        return asked, ""
    packets = int((flows["size_bytes"].cast(pl.Float64) / scenario.tcp.mss).ceil().sum()) * disciplines * HOURS
    if packets > MOST_PACKETS:
        return 0, f"the capture is long: --replications {HOURS} resamples it, in {HOURS} times the time"
    return HOURS, ""


def add_hours(
    result: Comparison,
    scenario: Scenario,
    disciplines: Sequence[Discipline],
    flows: pl.DataFrame,
    plan: Plan,
    progress: Progress | None = None,
    stop: Callable[[], object] | None = None,
) -> HoursRun:
    """Runs resampled hours and puts their intervals into the summary of the capture's own run.

    Parameters
    ----------
    result : Comparison
        Of the capture; its summary gets ``resampling``, and each row ``resampled`` and its intervals.
    scenario : Scenario
        What ran.
    disciplines : sequence of Discipline
        In the order of the rows.
    flows : polars.DataFrame
        The capture's own.
    plan : Plan
        How many.
    progress : callable, optional
        Called with the fraction done.
    stop : callable, optional
        Called now and then: no more hours are run when it returns what is true. Those that are complete count.

    Returns
    -------
    HoursRun

    Notes
    -----
    Where the user gave no number, hours are added in pairs until more of them would hardly change what is recommended
    (``crates/metrics/src/recommendation/settled.rs``).
    """
    count, done = plan.count, 0
    result.summary["resampling"] = {
        "hours": count,
        "most": count,
        "settled": False,
        "sessions": plan.sessions,
        "hosts": plan.hosts,
        "gap_s": GAP_S,
        "why_none": plan.why_none or None,
    }
    rule = hour_rule(flows, result.summary["disciplines"])
    own = result.summary["disciplines"]
    found: dict[str, list[dict[str, Any]]] = {discipline.label: [] for discipline in disciplines}
    criteria: dict[str, list[dict[str, float]]] = {label: [] for label in found}
    hours: ResampledHours | None = None
    numbers: list[int] = []
    settled = False
    for draw in range(1, count + 1):
        if stop is not None and stop():
            break
        hours = hours or ResampledHours(plain(scenario), disciplines, flows)

        def part(fraction: float, before: int = draw - 1) -> None:
            if progress is not None:
                progress((before + fraction) / count)

        runs = hours.run(draw, part, stop)
        if runs is None:
            done = draw  # a run much shorter than the capture: nothing starts in it
            continue
        if len(runs) < len(disciplines):
            break
        done = draw
        numbers.append(draw)
        rows = [hour_row(one, rule) for one in runs]
        for hour, values in zip(rows, criteria_values(rows), strict=True):
            found[hour["label"]].append(hour)
            criteria[hour["label"]].append(values)
        if not plan.fixed and _native.is_a_look(len(numbers), count):
            settled = is_settled(own, list(criteria.values()), count, scenario.seed)
            if settled:
                break
    result.summary["resampling"]["hours"] = len(numbers)
    result.summary["resampling"]["settled"] = settled
    if count > done and not numbers:
        result.summary["resampling"]["why_none"] = "there was no more memory or time for it"
    if numbers:
        of_hours = values_of_hours(criteria)
        for row in own:
            put_intervals(row, found[row["label"]], of_hours[row["label"]])
    if settled and progress is not None:
        progress(1.0)
    return HoursRun(settled or done == count, numbers, criteria)


def hour_row(run: HourRun, rule: Rule) -> dict[str, Any]:
    """The part of a row of the summary that the intervals and the recommendation read.

    Parameters
    ----------
    run : HourRun
        Of an hour under one discipline.
    rule : Rule
        What the capture decides for its hours.

    Returns
    -------
    dict
        ``users``, counts of flows, and the means of the short and of the long ones.
    """
    decided = (rule.above, rule.least_bytes, rule.while_busy)
    users = json.loads(_native.users_of_runs([run.observed], run.idle_rtt_s, run.span_s, *decided))
    short_s, long_s = run.class_means_s
    named = {"id": run.discipline.id, "label": run.discipline.label, "options": run.discipline.options}
    return named | run.counts | {"users": users, "short": {"mean_s": short_s}, "long": {"mean_s": long_s}}


def hour_rule(flows: pl.DataFrame, rows: "Sequence[DisciplineRow]") -> Rule:
    """What the capture decides for its resampled hours: which transfers are long, and whether busy seconds count.

    Parameters
    ----------
    flows : polars.DataFrame
        The capture's own.
    rows : sequence of dict
        Of ``disciplines``, of the capture's own run.

    Returns
    -------
    Rule
        An hour without long transfers, or without a busy second where these count, has no such figure.
    """
    found = capture_rule(flows)
    busy = {while_busy(row) for row in rows} - {None}
    return replace(found, least_bytes=least_long_bytes(flows), while_busy=busy == {True})


def capture_rule(flows: pl.DataFrame) -> Rule:
    """What the flows of a capture decide for its own run under every discipline.

    Parameters
    ----------
    flows : polars.DataFrame
        The capture's own.

    Returns
    -------
    Rule
    """
    return Rule(bool((listed_sizes(flows) > LONG_BYTES).any()))


def values_of_hours(criteria: Mapping[str, Sequence[dict[str, float]]]) -> dict[str, dict[str, list[float | None]]]:
    """Values of each criterion in the resampled hours, for each discipline.

    Parameters
    ----------
    criteria : mapping of sequence of dict
        Values of the criteria in the hours, in the same order under every discipline, by label.

    Returns
    -------
    dict of dict of list
        By label and id of the criterion, in the hours that have such a figure under all disciplines, so that the values
        of two disciplines at one place are of one hour. A criterion that fewer than two hours have is left out.
    """
    values: dict[str, dict[str, list[float | None]]] = {label: {} for label in criteria}
    for id in dict.fromkeys(id for rows in criteria.values() for row in rows for id in row):
        known = [hour for hour in zip(*criteria.values(), strict=True) if all(id in row for row in hour)]
        if len(known) < 2:
            continue
        for label, rows in zip(criteria, zip(*known, strict=True), strict=True):
            values[label][id] = [row[id] if math.isfinite(row[id]) else None for row in rows]
    return values


def put_intervals(row: "DisciplineRow", hours: Sequence[dict[str, Any]], values: dict[str, list[float | None]]) -> None:
    """Fills the intervals of a row from the rows of resampled hours.

    Parameters
    ----------
    row : dict
        Of the capture's own run; changed.
    hours : sequence of dict
        Rows of the same discipline.
    values : dict of list
        Of :func:`values_of_hours`, of this discipline.
    """
    row["resampled"] = values
    for name in ("short", "long"):
        row[name]["ci95"] = hour_ci95(row[name]["mean_s"], [hour[name]["mean_s"] for hour in hours])
    if row.get("users"):
        row["users"] = with_intervals(row["users"], [hour.get("users") for hour in hours])


def split_progress(progress: Progress | None, share: float) -> tuple[Progress | None, Progress | None]:
    """Progress of two parts of a work, the first of which is so large a share."""
    if progress is None:
        return None, None
    told = progress
    return lambda done: told(share * done), lambda done: told(share + (1 - share) * done)
