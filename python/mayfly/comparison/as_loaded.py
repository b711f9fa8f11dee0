"""What the recommended command gives: the discipline shaped at a router, between the queues of the link itself.

The rows of a comparison have the discipline at the link. The command puts it at the user's interface: before the link
for what is sent, and behind it for what arrives. So what arrives has been through the provider's FIFO: a burst waits
there, and the shaper, a little below the link's rate, only takes what lasts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly import _native
from mayfly.comparison.user_metrics import MEASURES, measured
from mayfly.discipline_registry import Discipline
from mayfly.metrics.users import Rule
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.simulate.run import observe_many

if TYPE_CHECKING:
    from mayfly.summary_types import AsLoaded, DisciplineRow


@dataclass(frozen=True)
class Loaded:
    """A discipline where the command puts it.

    Parameters
    ----------
    row : mapping
        What the rule of the recommendation reads of a row of the summary.
    packets_per_s : mapping of float
        Packets per second that the box forwards at the rates of the shapers, ``down`` and ``up``.
    """

    row: DisciplineRow
    packets_per_s: Mapping[str, float]

    def document(self) -> AsLoaded:
        """A row of the key ``as_loaded`` of the recommendation."""
        found = {measure.id: own.value for measure in MEASURES if (own := measured(self.row, measure)) is not None}
        label = self.row["label"]
        return {"discipline": label, "figures": found, "packets_per_s": dict(self.packets_per_s)}


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
    disciplines: Sequence[Discipline],
    rates_bps: Mapping[str, int],
    rule: Rule,
) -> list[Loaded]:
    """The workload once more under each discipline, shaped as the command shapes it.

    Parameters
    ----------
    scenario : Scenario
        What was compared.
    flows : polars.DataFrame
        Its workload.
    disciplines : sequence of Discipline
        What to load.
    rates_bps : mapping of int
        To what ``down`` and ``up`` are shaped, bit/s.
    rule : Rule
        What is decided for the rows that these are held against.

    Returns
    -------
    list of Loaded
        By discipline; empty for a network with a shaper of its own, of which the rows are shaped already.

    Raises
    ------
    MayflyError, KeyboardInterrupt
        As :func:`mayfly.simulate.run.observe_many`.
    """
    if scenario.network.shaper is not None or not disciplines:
        return []
    document: dict[str, Any] = scenario.model_dump(exclude_unset=True)
    network = document.get("network", {}) | {"shaper": shaped(scenario, rates_bps)["network.shaper"]}
    runs = observe_many(scenario_of(document | {"network": network}, scenario.name), disciplines, flows)
    decided = (rule.above, rule.least_bytes, rule.while_busy)
    found = []
    for run in runs:
        own = run.discipline
        felt = json.loads(_native.users_of_runs([run.observed], run.idle_rtt_s, run.span_s, *decided))
        row = {"id": own.id, "label": own.label, "options": dict(own.options), "users": felt, **run.counts}
        packets = {
            way: rate * run.sent[way][0] / run.sent[way][1] / 8 for way, rate in rates_bps.items() if run.sent[way][0]
        }
        found.append(Loaded(cast("DisciplineRow", row), packets))
    return found
