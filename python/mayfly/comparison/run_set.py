"""What the sections of a comparison are measured from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import polars as pl

from mayfly.metrics import fair_groups
from mayfly.metrics.groups import has_groups
from mayfly.metrics.users import Rule
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.queue_delay import propagation_rtt_s
from mayfly.simulate.run import RunResult
from mayfly.workload.stages import is_closed_loop


class Workload:
    """What all disciplines of a comparison have in common.

    Parameters
    ----------
    scenario : Scenario
        What ran.
    runs : sequence of RunResult
        Of all disciplines.
    rule : Rule, optional
        What is decided for all of them, and for resampled hours, on how users are measured.
    """

    def __init__(self, scenario: Scenario, runs: Sequence[RunResult], rule: Rule | None = None):
        self.scenario = scenario
        self.rule = rule
        self.grouped = has_groups(runs[0].records)
        self.closed = is_closed_loop(runs[0].records)
        self.end_s = max(run.counters["end_ns"] for run in runs) * 1e-9
        self.begin_s = min(run.counters["begin_ns"] for run in runs) * 1e-9
        dumbbell = scenario.network.topology == "dumbbell"
        self.propagation_rtt_s = _mean_rtt_s(scenario, runs[0].records) if dumbbell else None
        self._fair: Any = None
        self._sharing = Lock()

    @property
    def packets(self) -> dict[str, int]:
        """Payload and headers of a full packet, in bytes."""
        return {"mss": self.scenario.tcp.mss, "header_bytes": self.scenario.tcp.headers_bytes}

    @property
    def link(self) -> dict[str, Any]:
        """Rate, bit/s, end, s, and packets of the link that is watched."""
        return {"rate_bps": network_of(self.scenario).rate_bps, "end_s": self.scenario.duration} | self.packets

    @property
    def span(self) -> dict[str, float]:
        """Begin and end of what is measured, s."""
        return {"begin_s": self.begin_s, "end_s": self.end_s}

    def fair(self, records: pl.DataFrame) -> Any:
        """The fair shares of the groups: the same under every discipline, unless some flows wait for others."""
        if self.closed:
            return fair_groups(records, **self.link)
        with self._sharing:
            if self._fair is None:
                self._fair = fair_groups(records, **self.link)
            return self._fair


@dataclass(frozen=True)
class Measured:
    """The runs of one discipline.

    Parameters
    ----------
    workload : Workload
        What ran.
    runs : list of RunResult
        One of each replication.
    records : polars.DataFrame
        Flow records of all of them.
    """

    workload: Workload
    runs: list[RunResult]
    records: pl.DataFrame

    @cached_property
    def samples(self) -> pl.DataFrame:
        """Time series of all runs."""
        return pl.concat([run.samples for run in self.runs])

    @cached_property
    def frames(self) -> pl.DataFrame:
        """Speech and videos of calls and games of all runs; empty without any."""
        return _together([run.frames for run in self.runs])

    @cached_property
    def segments(self) -> pl.DataFrame:
        """Segments of films of all runs; empty without any."""
        return _together([run.segments for run in self.runs])

    @property
    def end_s(self) -> float:
        """End of the shortest run, s."""
        return float(min(run.counters["end_ns"] for run in self.runs)) * 1e-9


def _together(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    kept = [table for table in tables if table.width]
    return pl.concat(kept) if kept else pl.DataFrame()


def _mean_rtt_s(scenario: Scenario, records: pl.DataFrame) -> float:
    """Round-trip time without queueing, mean over the flows: each has its own, or that of the scenario."""
    common = propagation_rtt_s(scenario.network)
    own = records["rtt_s"].fill_null(common).mean() if "rtt_s" in records.columns else None
    return float(own) if isinstance(own, float) else common
