"""What the recommended command gives: the discipline shaped at a router, between the queues of the link itself.

The rows of a comparison have the discipline at the link. The command puts it at the user's interface: before the link
for what is sent, and behind it for what arrives. So what arrives has been through the provider's FIFO: a burst waits
there, and the shaper, a little below the link's rate, only takes what lasts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly import _native
from mayfly.comparison.user_metrics import BY_ID, MEASURES, measured
from mayfly.discipline_registry import Discipline
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.simulate.run import observe_many
from mayfly.text.readable import time_text

if TYPE_CHECKING:
    from mayfly.summary_types import AsLoaded, DisciplineRow

SAID = ("ping_p95", "short_p95", "pages_p95")
"""Ids of the measures that the sentence has, in this order."""


def shaped(scenario: Scenario, rates_bps: Mapping[str, int]) -> dict[str, Any]:
    """Fields of the scenario that put a discipline where the command does.

    Parameters
    ----------
    scenario : Scenario
        Of the link, whose buffers are those of its own queues, and of the discipline.
    rates_bps : mapping of int
        To what ``down`` and ``up`` are shaped, bit/s.

    Returns
    -------
    dict
        Overrides by dotted name.
    """
    network = scenario.network
    return {
        "network.shaper": {
            "rate": rates_bps["down"],
            "reverse_rate": rates_bps["up"],
            "place": "behind",
            "reverse_place": "before",
            "modem_buffer": network.buffer,
            "reverse_modem_buffer": network.reverse_buffer or network.buffer,
        }
    }


def as_loaded(
    scenario: Scenario,
    flows: pl.DataFrame,
    discipline: Discipline,
    rates_bps: Mapping[str, int],
    baseline: DisciplineRow,
) -> AsLoaded | None:
    """The key ``as_loaded`` of the recommendation: the workload once more, shaped as the command shapes it.

    Parameters
    ----------
    scenario : Scenario
        What was compared.
    flows : polars.DataFrame
        Its workload.
    discipline : Discipline
        What is recommended.
    rates_bps : mapping of int
        To what ``down`` and ``up`` are shaped, bit/s.
    baseline : mapping
        Row of the discipline that is there, with ``users``.

    Returns
    -------
    dict or None
        None for a network with a shaper of its own, of which the rows are shaped already.

    Raises
    ------
    MayflyError, KeyboardInterrupt
        As :func:`mayfly.simulate.run.observe_many`.
    """
    if scenario.network.shaper is not None:
        return None
    document: dict[str, Any] = scenario.model_dump(exclude_unset=True)
    network = document.get("network", {}) | {"shaper": shaped(scenario, rates_bps)["network.shaper"]}
    (run,) = observe_many(scenario_of(document | {"network": network}, scenario.name), [discipline], flows)
    felt = _native.users_of_runs([run.observed], run.idle_rtt_s, run.span_s, None, None, None)
    row = cast("DisciplineRow", {"label": discipline.label, "users": json.loads(felt)})
    figures = {measure.id: own.value for measure in MEASURES if (own := measured(row, measure)) is not None}
    packets = {
        way: rate * run.sent[way][0] / run.sent[way][1] / 8 for way, rate in rates_bps.items() if run.sent[way][0]
    }
    return {
        "figures": figures,
        "packets_per_s": packets,
        "sentence": _sentence(baseline, figures),
    }


def _sentence(baseline: DisciplineRow, figures: Mapping[str, float | None]) -> str:
    """Figures under what is there and as the command gives them."""
    said = []
    for measure in (BY_ID[id] for id in SAID):
        before = measured(baseline, measure)
        if before is not None and measure.id in figures:
            head, *_ = measure.what.split(",")
            said.append(f"{head} {_text(before.value)} -> {_text(figures[measure.id])}")
    begin = "A burst that arrives has waited at the provider first. With this command, 95th percentiles become"
    return f"{begin}: {', '.join(said)}." if said else ""


def _text(seconds: float | None) -> str:
    return "never" if seconds is None else time_text(seconds)
