"""Who suffers: the exchanges that are delayed most, and the link over time, before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly import _native
from mayfly.comparison.ordering import baseline
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import traces
from mayfly.simulate.run import RunResult, native_rows

if TYPE_CHECKING:
    from mayfly.summary_types import Course, Summary, Worst, WorstExchange

MOST = 10
"""Exchanges that are listed."""

NOTICED_S, NOTICED_SHARE = 0.01, 0.2
"""Delay from which on an exchange is listed: both of so many seconds, and of such a share of its time alone."""


def ends_of(connections: pl.DataFrame) -> pl.DataFrame:
    """Who opened each connection of a capture, and who answered: ``connection_id``, and addresses with ports."""
    addresses = {"client": "opener", "server": "responder"}
    # Of millions of connections ten are named.
    named = {end: pl.col(old).cast(pl.Categorical) for end, old in addresses.items()}
    ports = {f"{end}_port": pl.col(f"{old}_port").cast(pl.UInt16) for end, old in addresses.items()}
    return connections.select("connection_id", **named, **ports)


def add_worst(
    summary: Summary,
    scenario: Scenario,
    flows: pl.DataFrame,
    runs: Sequence[RunResult],
    ends: pl.DataFrame,
    until_s: float,
) -> None:
    """Add ``worst`` and ``over_time`` to the summary of a replayed capture.

    Parameters
    ----------
    summary : Summary
        With its recommendation.
    scenario : Scenario
        What ran.
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that ran, with ``connection_id``.
    runs : sequence of RunResult
        Of all disciplines.
    ends : polars.DataFrame, shape (n_connections, 5)
        Of :func:`ends_of`.
    until_s : float
        End of the time that is shown, s.
    """
    pair = _compared(summary, runs)
    if pair is None:
        return
    before, after = pair
    assert before.observed is not None and after.observed is not None
    courses: list[Course] = []
    for run in pair:
        assert run.observed is not None
        found = json.loads(_native.over_time(run.observed, until_s))
        if found is not None:
            courses.append({"label": run.discipline.label, "course": found})
    if courses:
        summary["over_time"] = courses
    plain, _ = traces.without_calls(flows)
    seen = before.observed
    try:
        given = native_rows(
            scenario, before.discipline, plain, lambda settings: _native.likely_rows(json.dumps(settings), seen, MOST)
        )
        rows = json.loads(
            _native.worst_exchanges(
                *(json.dumps(given.settings), given.columns, given.rows, given.before),
                *(seen, after.observed, MOST),
            )
        )
    except ValueError as error:
        raise MayflyError(str(error)) from None
    rows = [row for row in rows if _is_noticed(row)]
    connections = flows["connection_id"][[row["row"] for row in rows]].to_list()
    wanted = ends.filter(pl.col("connection_id").is_in(connections))
    named = {row["connection_id"]: row for row in wanted.iter_rows(named=True)}
    worst: Worst = {
        "before": before.discipline.label,
        "after": after.discipline.label,
        "exchanges": [_exchange(row, named[own]) for row, own in zip(rows, connections, strict=True)],
    }
    summary["worst"] = worst


def _compared(summary: Summary, runs: Sequence[RunResult]) -> tuple[RunResult, RunResult] | None:
    """The runs of the baseline and of the discipline that is recommended, or of the first other one."""
    first = baseline(summary["disciplines"])
    if first is None:
        return None
    advised = summary["recommendation"]
    if advised is not None and advised["kind"] == "unanswered":
        # What packets of UDP do here is not known, and all delays rest on them.
        return None
    label = None if advised is None else advised["discipline"]
    by_label = {run.discipline.label: run for run in runs if run.observed is not None}
    others = [run for own, run in by_label.items() if own != first["label"]]
    before = by_label.get(first["label"])
    after = by_label.get(label) if label not in (None, first["label"]) else next(iter(others), None)
    return None if before is None or after is None else (before, after)


def _is_noticed(row: dict[str, Any]) -> bool:
    """Whether users notice the delay of an exchange under the baseline."""
    before_s, idle_s = row["before_s"], row["idle_s"]
    return before_s is None or idle_s is None or before_s - idle_s >= max(NOTICED_S, NOTICED_SHARE * idle_s)


def _exchange(row: dict[str, Any], ends: dict[str, Any]) -> WorstExchange:
    return {
        "client": ends["client"],
        "client_port": ends["client_port"],
        "server": ends["server"],
        "server_port": ends["server_port"],
        "direction": "up" if row["up"] else "down",
        "size_bytes": row["size_bytes"],
        "start_s": row["start_s"],
        "before_s": row["before_s"],
        "after_s": row["after_s"],
        "idle_s": row["idle_s"],
    }
