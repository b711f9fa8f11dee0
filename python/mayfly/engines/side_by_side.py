"""A scenario by the kernel, or by simulator and kernel side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from mayfly.comparison.comparison import Comparison, gather
from mayfly.discipline_registry import Discipline
from mayfly.discipline_registry.tc_options import leaves
from mayfly.engines import linux
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import Progress, run_many

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, EngineRatios


@dataclass(frozen=True)
class Kernel:
    """The engine of the kernel.

    Parameters
    ----------
    beside : bool
        Whether the simulator runs, too.
    """

    beside: bool

    def able(self, chosen: Sequence[Discipline]) -> list[Discipline]:
        """Those of the disciplines that the kernel has, or our modules."""
        return [one for one in chosen if one.id in leaves()]

    def __call__(
        self,
        scenario: Scenario,
        chosen: Sequence[Discipline],
        flows: pl.DataFrame | None,
        progress: Progress | None,
        command: str,
        span_s: float | None = None,
    ) -> Comparison:
        """Runs a scenario, alone or beside the simulator; ``engines`` is in the summary when both ran."""
        kernel, notes = linux.run_many(scenario, chosen, flows, progress)
        extra = {"engine": "both" if self.beside else "linux", "notes": notes}
        if not self.beside:
            return gather(scenario, kernel, command, extra, span_s)
        here = run_many(scenario, chosen, flows)
        # Each discipline of the kernel after the simulator's.
        size = scenario.replications
        pairs = [
            run
            for k in range(len(chosen))
            for run in (*here[k * size : k * size + size], *kernel[k * size : k * size + size])
        ]
        result = gather(scenario, pairs, command, extra, span_s)
        result.summary["engines"] = ratios(result.summary["disciplines"])
        return result


def ratios(rows: Sequence[DisciplineRow]) -> list[EngineRatios]:
    """The kernel over the simulator.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary: those of the simulator, each before that of the kernel.

    Returns
    -------
    list of dict
        ``label``, and the ratios ``short``, ``long`` (mean response times), ``utilisation``, ``drops``,
        ``queue_mean_packets`` and ``flows_unfinished``: kernel over simulator, None where one has no value or the
        simulator's is 0.

    Examples
    --------
    >>> row = {"label": "fifo", "short": {"mean_s": 0.2}, "long": {"mean_s": None}, "drops": 0}
    >>> row |= {"utilisation": 0.8, "queue_mean_packets": 10.0, "flows_unfinished": 2}
    >>> found = ratios([row, row | {"label": "fifo (linux)", "short": {"mean_s": 0.1}}])[0]
    >>> found["short"], found["drops"], found["utilisation"]
    (0.5, None, 1.0)
    """
    found: list[EngineRatios] = []
    for here, kernel in zip(rows[::2], rows[1::2], strict=True):
        found.append(
            {
                "label": here["label"],
                "short": _ratio(kernel["short"]["mean_s"], here["short"]["mean_s"]),
                "long": _ratio(kernel["long"]["mean_s"], here["long"]["mean_s"]),
                "utilisation": _ratio(kernel["utilisation"], here["utilisation"]),
                "drops": _ratio(kernel["drops"], here["drops"]),
                "queue_mean_packets": _ratio(kernel["queue_mean_packets"], here["queue_mean_packets"]),
                "flows_unfinished": _ratio(kernel["flows_unfinished"], here["flows_unfinished"]),
            }
        )
    return found


def _ratio(kernel: float | None, here: float | None) -> float | None:
    return None if kernel is None or not here else kernel / here
