"""How much an answer depends on the hosts that were assumed: the baseline and the best once more with others."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from mayfly.comparison.choice import baseline as reference
from mayfly.discipline_registry import Discipline
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.simulate.run import run_many
from mayfly.text.readable import time_text

TODAY, OF_2012 = "linux", "qualnet-4.5-like"
"""Presets of the transport: each is the other one's check."""

HOSTS = {
    "linux": "today's hosts (preset linux: CUBIC, SACK, initial window 10)",
    "qualnet-4.5-like": "the hosts of 2012 (preset qualnet-4.5-like: NewReno, initial window 3)",
}

_MEASURES = (
    ("p95 of short transfers", "short", "p95_s", 1.0),
    ("mean ping", "ping", "mean_ms", 1e-3),
    ("p95 of long transfers", "long", "p95_s", 1.0),
)
"""What is compared, the first that both runs have: its name, where it is in ``users``, and its unit in seconds."""


def other_transport(
    scenario: Scenario,
    flows: pl.DataFrame,
    chosen: Sequence[Discipline],
    rows: Sequence[Mapping[str, Any]],
    best: str | None = None,
) -> dict[str, Any] | None:
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
    found = next(((name, kind, key, unit) for name, kind, key, unit in _MEASURES if _has(rows, kind, key)), None)
    if len(labels) < 2 or found is None or not (flows["protocol"] == "tcp").any():
        return None
    name, kind, key, unit = found
    here = {row["label"]: unit * row["users"][kind][key] for row in rows if _of(row, kind, key) is not None}
    others = [label for label in here if label != baseline]
    if baseline not in here or not others:
        return None
    if best is None or best not in others:
        best = min(others, key=lambda label: here[label])
    preset = OF_2012 if scenario.tcp.preset != OF_2012 else TODAY
    again = scenario_of(_with_preset(scenario, preset), scenario.name)
    pair = [one for one in chosen if one.label in (baseline, best)]
    there = _measured(again, flows, pair, (kind, key, unit))
    other = f"{_text(there[baseline])} under {baseline} and {_text(there[best])} under {best}"
    own = f"{time_text(here[baseline])} and {time_text(here[best])}"
    sentence = f"With {HOSTS[preset]} the {name} is {other}, here {own}: {_verdict(here, there, baseline, best)}"
    return {"preset": preset, "sentence": sentence}


def _of(row: Mapping[str, Any], kind: str, key: str) -> float | None:
    own = row["users"][kind]
    value: float | None = None if own is None else own[key]
    return value


def _has(rows: Sequence[Mapping[str, Any]], kind: str, key: str) -> bool:
    return sum(_of(row, kind, key) is not None for row in rows) >= 2


def _with_preset(scenario: Scenario, preset: str) -> dict[str, Any]:
    """The scenario with another transport: fields of ``[tcp]`` that the preset has are its own."""
    document: dict[str, Any] = scenario.model_dump(exclude_unset=True)
    return document | {"tcp": {"preset": preset}}


def _measured(
    scenario: Scenario, flows: pl.DataFrame, pair: Sequence[Discipline], measure: tuple[str, str, float]
) -> dict[str, float | None]:
    from mayfly.comparison.comparison import gather

    kind, key, unit = measure
    rows = gather(scenario, run_many(scenario, pair, flows), "whatif").summary["disciplines"]
    values = {row["label"]: _of(row, kind, key) for row in rows}
    return {label: None if value is None else unit * value for label, value in values.items()}


def _text(seconds: float | None) -> str:
    return "without bound (some never finish)" if seconds is None else time_text(seconds)


def _verdict(here: Mapping[str, float], there: Mapping[str, float | None], baseline: str, best: str) -> str:
    base, other = there[baseline], there[best]
    infinite = float("inf")
    base, other = (infinite if base is None else base), (infinite if other is None else other)
    apart = [time_text(here[best]) != time_text(here[baseline]), _text(there[best]) != _text(there[baseline])]
    if not any(apart):
        return "the two are alike with both"
    if not all(apart):
        return "whether the two differ depends on the hosts"
    ahead_here, ahead_there = here[best] < here[baseline], other < base
    if ahead_here == ahead_there:
        return "the order of the two does not depend on the hosts"
    return "the order of the two depends on the hosts"
