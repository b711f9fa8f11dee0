"""Hours drawn from the sessions of a capture, run under every discipline for the figures of their users alone.

Principle: what does not change from hour to hour is prepared once. The native module draws an hour, ties what its users
start to what they wait for, puts the probes before it and runs it: no tables are made (crate ``replay``, ``hours.rs``).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import columns, probes, transports
from mayfly.simulate.network.protocol import Ends
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.network.shaping import native_shaping
from mayfly.simulate.run import Progress, UsersRun, in_threads
from mayfly.simulate.settings import native_settings
from mayfly.simulate.traces import CALL
from mayfly.workload.replayed import GAP_S, LASTED

OWN_HOSTS = "the network names its hosts, and an hour has users that the capture does not have"
"""Why there are no hours."""


@dataclass(frozen=True)
class HourRun(UsersRun):
    """The same of a resampled hour, with what else its row has.

    Parameters
    ----------
    counts : dict
        ``flows_completed``, ``flows_unfinished``, ``flows_endless``, as in a row of the summary.
    class_means_s : tuple of two float or None
        Mean response times of the short and of the long flows, s.
    """

    counts: dict[str, int]
    class_means_s: tuple[float | None, float | None]


class ResampledHours:
    """A capture whose sessions hours are drawn from, prepared once for all hours and disciplines.

    Parameters
    ----------
    scenario : Scenario
        What runs; its seed draws the hours.
    disciplines : sequence of Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        The capture's own, sorted by start, before users wait; with ``connection_id``.

    Raises
    ------
    MayflyError
        A value is refused, or a network that names its hosts.
    """

    def __init__(self, scenario: Scenario, disciplines: Sequence[Discipline], flows: pl.DataFrame) -> None:
        full_packet, net = scenario.tcp.mss + scenario.tcp.headers_bytes, network_of(scenario)
        if net.together is None:
            raise MayflyError(f"resampled hours: {OWN_HOSTS}")
        self._scenario, self._disciplines, self._together = scenario, disciplines, net.together
        own = flows.drop(CALL, LASTED, strict=False)
        dealt = transports.dealt(scenario, own)
        native = columns.native_flows(
            own, full_packet, _unnumbered(own), scenario.nonresponsive, dealt.numbers, scenario.mark_of
        )
        self._names: dict[str, tuple[str, ...]] = {}
        self._alone: dict[str, dict[str, Any]] = {}
        rows = []
        for first in ("down", "up"):
            before, probing = probes.probe_rows(scenario, own, scenario.seed, first)
            self._names[first] = probing.names
            rows.append(columns.native_flows(before, full_packet, _unnumbered(before)))
            if probes.PING in probing.names:
                ping = probes.ping_alone(before)
                self._alone[first] = columns.native_flows(ping, full_packet, net.numbers(ping))
        common = {
            "shaping": native_shaping(scenario.network, full_packet, probing.row(probes.AUTORATE)),
            "transports": dealt.native,
            **probing.settings,
        }
        self._settings = [native_settings(scenario, one, scenario.seed) | common for one in disciplines]
        self._idle_rtt_s: dict[tuple[int, str], float | None] = {}
        try:
            self._runs = [_native.RunSettings(json.dumps(settings)) for settings in self._settings]
            self._hours = _native.Hours(native, _origins(flows), (rows[0], rows[1]))
        except ValueError as error:
            raise MayflyError(str(error)) from None

    def run(
        self, number: int, progress: Progress | None = None, stop: Callable[[], object] | None = None
    ) -> list[HourRun] | None:
        """Runs an hour under every discipline.

        Parameters
        ----------
        number : int
            Which of the draws: the same seed and number give the same hour.
        progress, stop
            As of :func:`mayfly.simulate.run.run_many`.

        Returns
        -------
        list of HourRun, or None
            By discipline; those that ended, where ``stop`` stopped the others. None where nothing of the hour starts
            before the end of the run.

        Raises
        ------
        MayflyError, KeyboardInterrupt
            As :func:`mayfly.simulate.run.run_many`.
        """
        scenario = self._scenario
        try:
            hour = self._hours.draw(scenario.seed, number, GAP_S, scenario.duration, self._together)
        except ValueError as error:
            raise MayflyError(str(error)) from None
        if hour is None:
            return None
        first = "up" if hour.first_up else "down"

        def job(index: int, control: _native.Control) -> HourRun:
            try:
                observed, counts, means_s, span_s = hour.observe(self._runs[index], self._names[first], control)
                idle_rtt_s = self._idle(index, first)
            except ValueError as error:
                raise MayflyError(str(error)) from None
            return HourRun(self._disciplines[index], observed, idle_rtt_s, span_s, json.loads(counts), means_s)

        return in_threads(job, len(self._disciplines), scenario.duration, progress, stop=stop)

    def _idle(self, index: int, first: str) -> float | None:
        """Round-trip time of a ping on the idle link, which goes first in this direction, s."""
        if first not in self._alone:
            return None
        if (index, first) not in self._idle_rtt_s:
            self._idle_rtt_s[index, first] = probes.idle_rtt_s(self._settings[index], self._alone[first])
        return self._idle_rtt_s[index, first]


def _unnumbered(flows: pl.DataFrame) -> Ends:
    """Hosts of flows that get their numbers hour by hour."""
    return np.zeros(flows.height, np.uint32), np.zeros(flows.height, np.uint32)


def _origins(flows: pl.DataFrame) -> dict[str, Any]:
    """What the native module takes of a list next to the columns of the simulator."""

    def column(name: str, kind: type[pl.DataType], missing: float) -> Any:
        if name not in flows.columns:
            return None
        return np.ascontiguousarray(flows[name].cast(kind).fill_null(missing).to_numpy())

    return {
        "start_s": column("start_s", pl.Float64, 0.0),
        "src": flows.select(pl.col("src").cast(pl.String)),
        "dst": flows.select(pl.col("dst").cast(pl.String)),
        "connections": column("connection_id", pl.Int64, 0),
        "lasted_s": column(LASTED, pl.Float64, float("nan")),
        "call_packets": column(CALL, pl.Int64, -1),
    }
