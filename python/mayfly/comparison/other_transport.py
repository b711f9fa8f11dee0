"""How much an answer depends on the hosts that were assumed: the baseline and the best once more with others."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly import _native
from mayfly.comparison.ordering import baseline as reference
from mayfly.comparison.user_metrics import BY_ID, Measure, measured
from mayfly.discipline_registry import Discipline
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.scenario.transport import Tcp
from mayfly.simulate.run import observe_many
from mayfly.text.readable import time_text

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, DisciplineRowPart, OtherHosts

TODAY, OF_2012 = "linux", "qualnet-4.5-like"
"""Presets of the transport: each is the other one's check."""

HOSTS = {
    "linux": "today's hosts (preset linux: CUBIC, SACK, initial window 10)",
    "qualnet-4.5-like": "the hosts of 2012 (preset qualnet-4.5-like: NewReno, initial window 3)",
}

_COMPARED = ("short_p95", "ping_mean", "long_p95")
"""Ids of the measures of which the first that two disciplines have is compared."""


def other_transport(
    scenario: Scenario,
    flows: pl.DataFrame,
    chosen: Sequence[Discipline],
    rows: Sequence[DisciplineRow],
    best: str | None = None,
) -> OtherHosts | None:
    """The key ``other`` of the summary's ``transport``.

    Parameters
    ----------
    scenario : Scenario
        What ran.
    flows : polars.DataFrame
        Its workload.
    chosen : sequence of Discipline
        What was compared.
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``users``.
    best : str, optional
        Label to compare with the baseline; the one with the least of the measure when not given.

    Returns
    -------
    dict or None
        ``preset`` and ``sentence``; None where there are not two disciplines to compare, no measure of users or no TCP.
    """
    labels: list[str] = [row["label"] for row in rows]
    baseline = (reference(rows) or rows[0])["label"]
    measure = next((BY_ID[id] for id in _COMPARED if len(_values(rows, BY_ID[id])) >= 2), None)
    if len(labels) < 2 or measure is None or not (flows["protocol"] == "tcp").any():
        return None
    here = _values(rows, measure)
    others = [label for label in here if label != baseline]
    if baseline not in here or not others:
        return None
    if best is None or best not in others:
        best = min(others, key=lambda label: here[label])
    preset = OF_2012 if scenario.tcp.preset != OF_2012 else TODAY
    again = scenario_of(_with_preset(scenario, preset), scenario.name)
    pair = [one for one in chosen if one.label in (baseline, best)]
    there = _again(again, flows, pair, measure)
    other = f"{_text(there.get(baseline))} under {baseline} and {_text(there.get(best))} under {best}"
    own = f"{time_text(here[baseline])} and {time_text(here[best])}"
    sentence = (
        f"With {HOSTS[preset]} the {measure.phrase} is {other}, here {own}: {_verdict(here, there, baseline, best)}"
    )
    return {"preset": preset, "sentence": sentence}


def _values(rows: Sequence[DisciplineRow], measure: Measure) -> dict[str, float]:
    """The measure by label, s, of those that have it with a bound."""
    found = {row["label"]: measured(row, measure) for row in rows}
    return {label: own.value for label, own in found.items() if own is not None and own.value is not None}


def _with_preset(scenario: Scenario, preset: str) -> dict[str, Any]:
    """The scenario with another transport: fields of ``[tcp]`` that the preset has are its own."""
    document: dict[str, Any] = scenario.model_dump(exclude_unset=True)
    own = {"preset": preset}
    # What the link carries around each packet, such as headers of tunnels, is not of the hosts.
    around = scenario.tcp.header - Tcp(preset=scenario.tcp.preset).header
    return document | {"tcp": own | ({"header": Tcp(preset=preset).header + around} if around else {})}


def _again(scenario: Scenario, flows: pl.DataFrame, pair: Sequence[Discipline], measure: Measure) -> dict[str, float]:
    """The measure by label."""
    runs = observe_many(scenario, pair, flows)
    begin_s = min(run.span_s[0] for run in runs)
    rows: list[DisciplineRowPart] = []
    for run in runs:
        felt = _native.users_of_runs([run.observed], run.idle_rtt_s, (begin_s, run.span_s[1]), None, None, None)
        rows.append({"label": run.discipline.label, "users": json.loads(felt)})
    return _values(cast("list[DisciplineRow]", rows), measure)


def _text(seconds: float | None) -> str:
    return "without bound (some never finish)" if seconds is None else time_text(seconds)


def _verdict(here: Mapping[str, float], there: Mapping[str, float], baseline: str, best: str) -> str:
    base, other = there.get(baseline, math.inf), there.get(best, math.inf)
    apart = [time_text(here[best]) != time_text(here[baseline]), _text(there.get(best)) != _text(there.get(baseline))]
    if not any(apart):
        return "the two are alike with both"
    if not all(apart):
        return "whether the two differ depends on the hosts"
    ahead_here, ahead_there = here[best] < here[baseline], other < base
    if ahead_here == ahead_there:
        return "the order of the two does not depend on the hosts"
    return "the order of the two depends on the hosts"
