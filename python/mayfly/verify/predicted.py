"""What `mayfly whatif` says real programs would have, from a capture of them under another discipline."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from mayfly.comparison.replay import Replay, replay_of, run_replay
from mayfly.discipline_registry import parse
from mayfly.engines import linux
from mayfly.errors import MayflyError
from mayfly.metrics.voice import call_row
from mayfly.simulate.run import RunResult
from mayfly.summary_types import Accounted
from mayfly.verify.outcome import Key, Outcome, key_of
from mayfly.verify.real import Ran
from mayfly.verify.workloads import Workload
from mayfly.workload.connections import read_captures
from mayfly.workload.doubts import refuse_partial
from mayfly.workload.replayed import closed

SITE = "10.2.0.0/16"
"""Of the clients."""

EARLY_S = 1e-3
"""By so much a connection may seem to begin before its program, s: clocks are read one after the other."""

OVERRIDES = {"probes.ping": True, "probes.call": False, "replications": 1}


def replay(workload: Workload, ran: Ran, how: str = "users", overrides: dict[str, Any] | None = None) -> Replay:
    """A capture ready to run, as `mayfly whatif` makes it.

    Parameters
    ----------
    workload : Workload
        For its link: what a user of the command says.
    ran : Ran
        With the capture.
    how : str
        As :data:`mayfly.workload.replayed.FORMS`.
    overrides : dict, optional
        Further fields of the scenario.

    Returns
    -------
    Replay
    """
    link = workload.link
    return replay_of(
        ran.capture,
        f"{link.down_bps}/{link.up_bps}",
        f"{link.down_packets}/{link.up_packets}",
        internal=[SITE],
        replay=how,
        overrides=OVERRIDES | (overrides or {}),
    )


def predicted(
    workload: Workload,
    ran: Ran,
    disciplines: Sequence[str],
    how: str = "users",
    seeds: Sequence[int] = (1,),
    engine: str = "simulator",
    overrides: dict[str, Any] | None = None,
    accounts: dict[str, Accounted] | None = None,
) -> list[dict[str, Outcome]]:
    """What is predicted for each discipline.

    Parameters
    ----------
    workload, ran, how
        As for :func:`replay`.
    disciplines : sequence of str
    seeds : sequence of int
        Of the replay; the kernel has none.
    engine : str
        What runs the replay: ``simulator`` or ``linux``.
    overrides : dict, optional
        Further fields of the scenario.
    accounts : dict, optional
        Gets the account of the capture by its name.

    Returns
    -------
    list of dict of Outcome
        For each seed, by discipline.
    """
    found = replay(workload, ran, how, overrides)
    if found.partial is not None:
        raise MayflyError(f"{ran.capture}: a verified capture must be whole: {found.partial}")
    if accounts is not None:
        accounts[str(ran.capture)] = found.account
    connections = connections_of(workload, ran)
    chosen = [parse(name) for name in disciplines]

    def outcomes(runs: Sequence[RunResult]) -> dict[str, Outcome]:
        return {
            name: outcome(name, run, ran, connections, workload) for name, run in zip(disciplines, runs, strict=True)
        }

    if engine == "linux":
        return [outcomes(linux.run_many(found.scenario, chosen, closed(found.flows))[0])]
    return [outcomes(run_replay(found.scenario.override(seed=seed), chosen, found.flows)) for seed in seeds]


def connections_of(workload: Workload, ran: Ran) -> dict[Key, list[int]]:
    """Connections of each step that ended: those that its client opened in its time; in order of their start."""
    reading = read_captures(ran.capture)
    refuse_partial(reading.counts, str(ran.capture), "a verified capture")
    early_s = float(reading.counts["first_epoch_s"]) - ran.clock_s
    rows = reading.connections.filter(pl.col("protocol").is_in(["tcp", "udp"])).sort("start_s")
    opened: dict[str, list[tuple[float, int, str, int]]] = {}
    for number, protocol, opener, start_s, port in rows.select(
        "connection_id", "protocol", "opener", "start_s", "responder_port"
    ).iter_rows():
        opened.setdefault(opener, []).append((start_s + early_s, number, protocol, port))
    found: dict[Key, list[int]] = {}
    for step in ran.steps:
        own = opened.get(f"10.2.{step['client']}.2", [])
        until = step.get("end_s", workload.duration_s)
        wanted = "udp" if step["program"] in ("call",) or "loss" in step else "tcp"
        found[key_of(step)] = [
            number for at, number, protocol, _ in own if step["start_s"] - EARLY_S <= at <= until and protocol == wanted
        ]
    return found


def outcome(
    discipline: str, run: RunResult, ran: Ran, connections: dict[Key, list[int]], workload: Workload
) -> Outcome:
    """A run of a replay as what users had.

    Parameters
    ----------
    discipline : str
    run : RunResult
        Of the simulator, or of the kernel.
    ran : Ran
        The captured run.
    connections : dict of list of int
        Of each step.
    workload : Workload

    Returns
    -------
    Outcome
    """
    begun = dict(run.records.filter(protocol="tcp").select("connection_id", "start_s").iter_rows())
    whole = run.trains.filter(pl.col("part").is_null()) if run.trains.width else run.trains
    numbered = run.records.select("flow_id", "connection_id")
    trains = whole.join(numbered, on="flow_id", maintain_order="left").sort("connection_id", "train")
    ends = {
        row[0]: (row[1], row[2])
        for row in trains.group_by("connection_id")
        .agg(pl.col("end_s").max(), pl.col("end_s").null_count().alias("open"))
        .iter_rows()
    }
    steps, first, segments, calls, losses = {}, {}, {}, {}, {}
    heard = run.calls
    for step in ran.steps:
        key, own = key_of(step), connections[key_of(step)]
        if step["program"] == "video":
            segments[step["actor"]] = [time for number in own for time in _answers(trains, number)]
        elif step["program"] == "call" and heard.width:
            ways = {way: heard.filter(pl.col("connection_id").is_in(own), direction=way) for way in ("down", "up")}
            if (row := call_row(ways["down"], ways["up"])) is not None:
                calls[step["actor"]] = row
        elif "loss" in step:
            losses[step["actor"]] = _loss(run.records.filter(pl.col("connection_id").is_in(own), protocol="udp"))
        elif own and all(number in ends and ends[number][1] == 0 for number in own) and "end_s" in step:
            starts = [begun[number] for number in own]
            steps[key] = max(ends[number][0] for number in own) - min(starts)
            if step["program"] == "page":
                first[key] = ends[own[0]][0] - starts[0]
    return Outcome(
        discipline,
        steps,
        first,
        segments,
        _pings(run, workload),
        calls,
        losses,
        {"down": int(run.counters["drops"]), "up": int(run.counters["reverse_drops"])},
    )


def _answers(trains: pl.DataFrame, connection: int) -> list[float]:
    """From a request to the end of its answer, of each answer of a connection, s."""
    found, asked = [], None
    for way, start_s, end_s in (
        trains.filter(connection_id=connection).select("direction", "start_s", "end_s").iter_rows()
    ):
        if way == "up":
            asked = start_s
            found.append(float("nan"))
        elif asked is not None and end_s is not None:
            found[-1] = end_s - asked
    return [time for time in found if np.isfinite(time)]


def _loss(records: pl.DataFrame) -> float:
    """Share of the packets of the larger direction that were dropped."""
    sent = records.sort("packets_sent", descending=True).head(1)
    return float(sent["drops"][0] / sent["packets_sent"][0]) if sent.height and sent["packets_sent"][0] else 0.0


def _pings(run: RunResult, workload: Workload) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not run.probes.width:
        return np.empty(0)
    own = run.probes.filter((pl.col("probe") == "ping") & (pl.col("sent_s") < workload.duration_s))
    times = (own["returned_s"] - own["sent_s"]).drop_nulls().to_numpy()
    return times - times.min() if times.size else times
