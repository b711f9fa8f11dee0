"""The fluid engine: a scenario's transfers as jobs of a queue that is served as its discipline would, without packets.

Principle: a transfer is a job of its bytes on the wire, the link a server of its rate, the discipline the policy that
stands for it in the models (:mod:`mayfly.models.queue.disciplines`); FIFO is processor sharing there, as TCP flows of
one queue share the link. The server is exact (crate ``jobs``); what a transfer takes beyond its bytes alone on its
path is added.
Source: Kleinrock 1976, ch. 4; Rai 2003, ch. 3 (LAS); docs/disciplines/lfq.md.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mayfly import _native
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.models.queue.disciplines import standing_for
from mayfly.models.queue.flow_records import Link
from mayfly.models.queue.jobs import played
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import columns
from mayfly.simulate.run import Progress
from mayfly.simulate.settings import native_settings
from mayfly.simulate.streamed import Source, attended
from mayfly.workload import streamed

if TYPE_CHECKING:
    from mayfly.summary_types import FluidError


def service_of(
    scenario: Scenario, discipline: Discipline
) -> tuple[str, list[tuple[str, float]], tuple[float, float, float, bool] | None]:
    """How the server serves in place of a discipline.

    Parameters
    ----------
    scenario : Scenario
        Turns thresholds into bytes on the wire.
    discipline : Discipline
        Of the forward queue.

    Returns
    -------
    policy : str
        Id of the policy that stands for it.
    levels : list of tuple
        Order and end of each level of priority; empty for ``lfq``.
    lags : tuple or None
        Of ``lfq``: lags of users and flows, bytes, pace, and whether pairs of hosts are users.

    Raises
    ------
    MayflyError
        No policy stands for it, or one that is more than orders of service.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse
    >>> from mayfly.scenario.scenario import load_scenario
    >>> service_of(load_scenario("wired"), parse("las"))
    ('las', [('las', inf)], None)
    """
    link = Link(scenario.network.rate, scenario.duration, mss=scenario.tcp.mss, header_bytes=scenario.tcp.headers_bytes)
    row = {"id": discipline.id, "family": discipline.family, "options": discipline.options}
    # Formulas ask for the number of users, the server does not.
    users = dict.fromkeys(("pair", "src", "dst", "flow"), 1.0)
    standing = standing_for(row, link, users)
    if standing is None:
        raise MayflyError(f"discipline = '{discipline.label}': has no fluid: no policy of the models stands for it")
    name = standing.policy.id
    if name == "lfq":
        makes = str(discipline.options.get("user", "pair"))
        if makes not in ("pair", "flow"):
            raise MayflyError(f"user = {makes}: must be pair or flow with engine = fluid")
        lags = tuple(float(standing.parameters[part]) for part in ("user_lag", "flow_lag", "pace"))
        return name, [], (lags[0], lags[1], lags[2], makes == "pair")
    try:
        found = played(standing.policy, **standing.parameters)
    except MayflyError:
        raise MayflyError(
            f"discipline = '{discipline.label}': has no fluid: {name} is more than an order of service"
        ) from None
    return name, [(level.order, level.upto) for level in found], None


def run_fluid(
    scenario: Scenario,
    discipline: Discipline,
    source: Source,
    *,
    path: bool = True,
    progress: Progress | None = None,
) -> tuple[str, dict[str, Any], float]:
    """Serves a stream.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of both queues.
    source : Source
        The flows.
    path : bool
        Add what each transfer takes alone on its path beyond its bytes.
    progress : callable, optional
        Called several times a second with the fraction done.

    Returns
    -------
    policy : str
        What stands for the discipline.
    figures : dict
        As of :class:`mayfly.simulate.streamed.StreamRun`.
    cpu_s : float
        Processor time, s.

    Raises
    ------
    MayflyError
        A value is refused.
    """
    name, levels, lags = service_of(scenario, discipline)
    settings = native_settings(scenario, discipline, scenario.seed) | {"watched": []}
    full_packet = scenario.tcp.mss + scenario.tcp.headers_bytes
    control = _native.Control()

    def given() -> Iterator[dict[str, Any]]:
        for flows in source.batches:
            yield columns.native_flows(flows, full_packet, streamed.numbers(flows, source.sides))

    def run() -> tuple[str, float]:
        began = time.thread_time()
        told = _native.run_fluid(json.dumps(settings), levels, lags, path, given(), control)
        return told, time.thread_time() - began

    told, cpu_s = attended(run, control, scenario.duration, progress)
    figures = json.loads(told)
    return name, figures, cpu_s


def beside(packets: dict[str, Any], fluid: dict[str, Any]) -> list[FluidError]:
    """Errors of the fluid against packets, by size.

    Parameters
    ----------
    packets, fluid : dict
        Figures of both engines.

    Returns
    -------
    list of dict
        ``from_packets, below_packets, flows, packets_mean_s, fluid_mean_s, error`` (of the mean), ``error_p95`` (of the
        95 % quantile); a class that one of them has no transfer in is left out.

    Examples
    --------
    >>> one = {"from_packets": 1, "below_packets": 3, "flows": 2, "mean_s": 2.0, "quantiles_s": {"p95": 4.0}}
    >>> [row] = beside({"by_size": [one]}, {"by_size": [one | {"mean_s": 3.0}]})
    >>> row["error"], row["error_p95"]
    (0.5, 0.0)
    """
    others = {part["from_packets"]: part for part in fluid["by_size"]}
    rows: list[FluidError] = []
    for part in packets["by_size"]:
        other = others.get(part["from_packets"])
        if other is None or not part["mean_s"] > 0:
            continue
        p95 = part["quantiles_s"]["p95"]
        rows.append(
            {
                "from_packets": part["from_packets"],
                "below_packets": part["below_packets"],
                "flows": part["flows"],
                "packets_mean_s": part["mean_s"],
                "fluid_mean_s": other["mean_s"],
                "error": other["mean_s"] / part["mean_s"] - 1,
                "error_p95": other["quantiles_s"]["p95"] / p95 - 1 if p95 > 0 else None,
            }
        )
    return [row for row in rows if math.isfinite(row["error"])]
