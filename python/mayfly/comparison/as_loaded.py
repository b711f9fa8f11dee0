"""What the recommended command gives: the discipline shaped at a router, between the queues of the link itself.

The rows of a comparison have the discipline at the link. The command puts it at the user's interface: before the link
for what is sent, and behind it for what arrives. So what arrives has been through the provider's FIFO: a burst waits
there, and the shaper, a little below the link's rate, only takes what lasts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly import _native
from mayfly.comparison.recommendation import Loaded, criteria_values
from mayfly.comparison.session_bootstrap import HoursRun, hour_row, plain, values_of_hours
from mayfly.discipline_registry import Discipline
from mayfly.metrics.resampling import with_intervals
from mayfly.metrics.users import Rule
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.simulate.resampled import ResampledHours
from mayfly.simulate.run import Progress, observe_many

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow


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


@dataclass(frozen=True)
class Loading:
    """Runs disciplines where the command puts them, as the rule of the recommendation asks for it.

    Parameters
    ----------
    scenario : Scenario
        What was compared.
    flows : polars.DataFrame
        The capture's own, as hours are drawn from them.
    begun : polars.DataFrame
        Those that begin before the end of the run, whose users wait.
    disciplines : sequence of Discipline
        What was compared.
    rule : Rule
        What the capture decides for runs that its rows are compared with.
    hours : HoursRun
        The hours at the link.
    progress : callable, optional
        Called with the fraction done of the hours.
    stop : callable, optional
        Called now and then: no more hours are run when it returns what is true. Hours that not all ran count for
        nothing.
    """

    scenario: Scenario
    flows: pl.DataFrame = field(repr=False)
    begun: pl.DataFrame = field(repr=False)
    disciplines: Sequence[Discipline]
    rule: Rule
    hours: HoursRun = field(repr=False)
    progress: Progress | None = None
    stop: Callable[[], object] | None = None

    def run(self, labels: Sequence[str], rates_bps: Mapping[str, int]) -> list[Loaded]:
        """The capture once more under each discipline, shaped as the command shapes it.

        Parameters
        ----------
        labels : sequence of str
            Of disciplines that were compared.
        rates_bps : mapping of int
            To what ``down`` and ``up`` are shaped, bit/s.

        Returns
        -------
        list of Loaded
            By discipline, without hours; empty for a network with a shaper of its own, of which the rows are shaped
            already.

        Raises
        ------
        MayflyError, KeyboardInterrupt
            As :func:`mayfly.simulate.run.observe_many`.
        """
        if self.scenario.network.shaper is not None or (self.stop is not None and self.stop()):
            return []
        decided = (self.rule.above, self.rule.least_bytes, self.rule.while_busy)
        found = []
        for run in observe_many(self._shaped(rates_bps), self._named(labels), self.begun):
            own = run.discipline
            felt = json.loads(_native.users_of_runs([run.observed], run.idle_rtt_s, run.span_s, *decided))
            row = {"id": own.id, "label": own.label, "options": dict(own.options), "users": felt, **run.counts}
            packets = {
                way: rate * run.sent[way][0] / run.sent[way][1] / 8
                for way, rate in rates_bps.items()
                if run.sent[way][0]
            }
            found.append(Loaded(cast("DisciplineRow", row), packets))
        return found

    def resampled(self, one: Loaded, there: str, rates_bps: Mapping[str, int]) -> Loaded | None:
        """A discipline with the hours that ran at the link, run where the command puts it.

        Parameters
        ----------
        one : Loaded
            Of :meth:`run`.
        there : str
            Label of what it is compared with, hour by hour: at the link, where these hours ran already.
        rates_bps : mapping of int
            As of :meth:`run`.

        Returns
        -------
        Loaded or None
            None where the hours were stopped.

        Raises
        ------
        MayflyError, KeyboardInterrupt
            As :meth:`mayfly.simulate.resampled.ResampledHours.run`.
        """
        label = one.row["label"]
        hours = ResampledHours(plain(self._shaped(rates_bps)), self._named([label]), self.flows)
        rows: list[dict[str, Any]] = []
        for done, number in enumerate(self.hours.numbers, 1):
            if self.stop is not None and self.stop():
                return None
            if not (runs := hours.run(number, stop=self.stop)):
                return None
            rows.append(hour_row(runs[0], self.rule))
            if self.progress is not None:
                self.progress(done / len(self.hours.numbers))
        # Of one discipline in two places, by names that no label has.
        pair = values_of_hours({"loaded": criteria_values(rows), "there": self.hours.criteria[there]})
        users = with_intervals(one.row["users"], [row["users"] for row in rows])
        row = cast("DisciplineRow", one.row | {"users": users, "resampled": pair["loaded"]})
        return replace(one, row=row, hours=len(rows), there=pair["there"])

    def _named(self, labels: Sequence[str]) -> list[Discipline]:
        return [next(one for one in self.disciplines if one.label == label) for label in labels]

    def _shaped(self, rates_bps: Mapping[str, int]) -> Scenario:
        document: dict[str, Any] = self.scenario.model_dump(exclude_unset=True)
        network = document.get("network", {}) | {"shaper": shaped(self.scenario, rates_bps)["network.shaper"]}
        return scenario_of(document | {"network": network}, self.scenario.name)
