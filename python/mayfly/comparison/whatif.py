"""The flows of a capture over a bottleneck of a given rate, under each discipline."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly import limits
from mayfly.comparison.comparison import Comparison, Engine, gather
from mayfly.comparison.hours import add_hours, hours_for, split_progress
from mayfly.comparison.other_transport import other_transport
from mayfly.comparison.recommendation import recommendation
from mayfly.comparison.sections.links import links_of
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.limits import stopped_sentence
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import Progress, named, run_many
from mayfly.simulate.traces import CALL
from mayfly.text import quantity

if TYPE_CHECKING:
    from mayfly.workload.capture import Network
    from mayfly.workload.connections import Reading

_DRAIN_S = 60.0
"""Time after the last start of the capture for transfers to end, at least; as long again as the capture when longer."""

_PROBED_S = 3600.0
"""Probes measure the first hour at most: beyond, their packets would be more than those of many a capture."""

_LEAST_PROBED_S = 10.0
"""... and as long as a playout buffer takes to adapt, at least."""

_PROBES = {"probes.ping": True, "probes.call": True}

_APPS = ("tcp", "udp")


def whatif(
    capture: str | os.PathLike[str],
    rate: str | int | None = None,
    buffer: str | int | None = None,
    *,
    internal: Sequence[str] | None = None,
    load: float | str | None = None,
    apps: str | None = None,
    disciplines: str | Sequence[str] | None = None,
    overrides: dict[str, Any] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Replays the transfers of a capture over a bottleneck link.

    Parameters
    ----------
    capture : path
        pcap or pcapng, plain, in gzip or in Zstandard; ``-`` is the standard input.
    rate : str or int, optional
        Bottleneck rate: ``10mbit`` or bit/s; ``100mbit/20mbit`` for down and up. Guessed from the capture when absent
        (:func:`mayfly.profile.link.guess_link`); the guess is in ``summary["guess"]``, its doubt in
        ``summary["notes"]``.
    buffer : str or int, optional
        Limit of the bottleneck queues: packets, bytes such as ``450kB``, or a time such as ``20ms``, which is what the
        link sends in it; ``300/50`` for down and up. Guessed as the rate.
    internal : sequence of str, optional
        Networks (CIDR) on the near side of the bottleneck; inferred when not given. Down is toward them.
    load : float or str, optional
        Scales time so that the busier direction is offered this share of its rate, 0.01 to 10.
    apps : str, optional
        What connections do inside is replayed, too: ``tcp``, their trains, think times and paces; ``udp``, every packet
        when it was captured, whatever becomes of those before.
    disciplines : str or sequence of str, optional
        What to compare; the shortlist (:data:`mayfly.discipline_registry.SHORTLIST`) when not given.
    overrides : dict, optional
        Scenario fields by dotted name.
    progress : callable, optional
        Called with the fraction done.
    engine : Engine, optional
        What replays them in place of the simulator, such as :func:`mayfly.engines.engine` gives by name. It runs the
        capture alone: no hours are resampled, no other hosts tried, and of the shortlist only what it has.

    Returns
    -------
    Comparison
        Tables and summary; ``summary["answer"]`` holds the answer in words, ``summary["transport"]`` which hosts were
        assumed and how much the answer depends on it.

    Raises
    ------
    MayflyError
        A capture, rate, buffer, network or load that makes no sense, or no plateau to guess the rate from.

    Notes
    -----
    Each direction of a TCP connection that carried payload becomes a transfer of its own: start, size and round-trip
    time as measured, the sender always having data. What a connection waited for (users, servers) is replayed with
    ``apps`` only (:mod:`mayfly.workload.apps`); the answer is then about trains instead of transfers.

    A capture is one draw of what its users do. Sixteen more hours (``replications``) are drawn from its sessions
    (:func:`mayfly.workload.sessions.another_hour`) and run under every discipline; the intervals of the figures come
    from them (:func:`mayfly.metrics.resampling.hour_ci95`), ``summary["resampling"]`` tells how many there were, and
    ``summary["recommendation"]`` what to use.

    A ping and a call run beside the flows while the capture lasts, an hour at most (section ``[probes]``), with the
    median round-trip time of the flows. Where the capture has calls of its own (:mod:`mayfly.workload.calls`) and no
    ``load`` changes their pace, these are measured instead. Load is over the time that the capture lasts.
    """
    from mayfly.metrics import answer
    from mayfly.profile.link import guessed_link
    from mayfly.workload.capture import refuse_clock_jump
    from mayfly.workload.mix import offered, scale_load

    rate, buffer, guess = guessed_link(capture, rate, buffer, internal)
    load = None if load is None else quantity.share(load, "--load")
    scenario = load_scenario("whatif", _PROBES | _both_ways(rate, buffer) | (overrides or {}))
    # Of a capture there is one draw: replications are hours resampled from it, not runs with other seeds.
    asked = scenario.replications if "replications" in scenario.model_fields_set else None
    scenario = scenario.override(replications=1)
    flows, span_s, doubts, partial = _flows(capture, internal, apps, scenario)
    if load is not None:
        # In a slower time a call is none.
        flows = flows.drop(CALL, strict=False)
    if flows.height == 0:
        raise MayflyError(f"{capture}: no TCP connection with payload and no UDP flow to replay" + _why_none(capture))
    packets = {"mss": scenario.tcp.mss, "header_bytes": scenario.tcp.headers_bytes}
    span_s = max(span_s, offered(flows, **packets)["span_s"])
    if load is not None:
        network = scenario.network
        scaled = scale_load(
            flows.drop("connection_id", strict=False),
            load,
            network.rate,
            up_rate_bps=network.reverse_rate,
            span_s=span_s if span_s > 0 else None,
            **packets,
        )
        span_s *= _stretched(flows, scaled)
        flows = scaled.with_columns(flows.select(pl.col("^connection_id$")))
    refuse_clock_jump(flows, str(capture), span_s)
    if "duration" not in scenario.model_fields_set:
        scenario = scenario.override(duration=span_s + max(_DRAIN_S, span_s))
    if CALL in flows.columns and "probes.call" not in (overrides or {}):
        scenario = scenario.override(probes=scenario.probes.model_dump(exclude_unset=True) | {"call": False})
    scenario = _probed(scenario, flows, span_s)
    chosen = named(disciplines if disciplines is not None else scenario.disciplines)
    if engine is not None:
        asked, chosen = _alone(engine, asked, chosen, disciplines)
    plan = hours_for(flows, len(chosen), scenario.tcp.mss, asked)
    if engine is not None:
        plan = replace(plan, why_none="--engine replays the capture alone")
    own, rest = split_progress(progress, 1 / (1 + plan.count))
    asked_for, stopping = chosen, _Stopping()
    # Of a run that ends sooner, what starts in it is offered in its time; the load of the links is that of the capture.
    lasted_s = min(span_s, scenario.duration)
    lasted = lasted_s if lasted_s > 0 else None
    unsaid = [] if partial is None else [partial]
    if engine is not None:
        result = engine(scenario, chosen, flows, own, "whatif", lasted)
    else:
        runs = run_many(scenario, chosen, flows, own, stop=stopping)
        chosen = [run.discipline for run in runs]
        if not chosen:
            raise MayflyError(stopping.before_any())
        result = gather(scenario, runs, "whatif", span_s=lasted)
    if len(chosen) < len(asked_for):
        unsaid.append(stopping.sentence(f"{_several(chosen)} of {len(asked_for)} disciplines", "runs all"))
    load_of = offered(flows, **packets, span_s=span_s if span_s > 0 else None)
    links: Any = links_of(scenario, load_of, result.summary["disciplines"][0]["links"])
    result.summary["links"] = links
    if not add_hours(result, scenario, chosen, flows, plan, rest, stopping):
        hours = result.summary["resampling"]["hours"]
        unsaid.append(stopping.sentence(f"{hours} of {plan.count} resampled hours", "resamples all"))
    result.summary["recommendation"] = recommendation(result.summary)
    result.summary["capture"] = {
        "path": str(capture),
        "span_s": span_s,
        "offered_down_mbps": links["down"]["offered_mbps"],
        "offered_up_mbps": links["up"]["offered_mbps"],
        "load": links[links["busier"]]["load"],
        "scaled_to_load": load,
        "apps": apps,
    }
    if unsaid:
        result.summary["partial"] = ". ".join(unsaid)
    if doubts:
        result.summary["notes"] = [*result.summary.get("notes", []), *doubts]
    if guess is not None:
        result.summary["guess"] = guess.document()
        result.summary["notes"] = [*result.summary.get("notes", []), *guess.sentences()]
    result.summary["answer"] = answer(_judged(result, apps))
    best = _recommended(result.summary)
    other = (
        None
        if stopping() or engine is not None
        else other_transport(scenario, flows, chosen, result.summary["disciplines"], best)
    )
    result.summary["transport"]["other"] = other
    return result


def _alone(
    engine: Engine, asked: int | None, chosen: list[Discipline], named_by_user: object
) -> tuple[int, list[Discipline]]:
    """Replications and disciplines of an engine: the capture alone, and of the shortlist what it has."""
    if asked is not None and asked > 1:
        raise MayflyError(f"replications = {asked}: must be 1 with --engine, which replays the capture alone")
    return 1, chosen if named_by_user is not None else engine.able(chosen)


class _Stopping:
    """Whether a limit leaves no room for more runs: the answer takes the rest. What is complete is answered for."""

    def __init__(self) -> None:
        self._limit: tuple[str, str] | None = None

    def __call__(self) -> bool:
        found = limits.reached(limits.SIMULATING)
        self._limit = found or self._limit
        return found is not None

    def sentence(self, after: str, more: str) -> str:
        """What is said of an answer without all runs."""
        assert self._limit is not None  # it stopped
        at, option = self._limit
        return f"Partial: the simulation stopped at {at}, after {after}: `mayfly {option} COMMAND` {more}"

    def before_any(self) -> str:
        """What is said where there is nothing to answer for."""
        assert self._limit is not None  # it stopped
        at, option = self._limit
        return (
            f"stopped at {at}, before the simulation of a discipline ended: `mayfly {option} COMMAND` goes on; "
            "less input takes less"
        )


def _several(disciplines: Sequence[Discipline]) -> str:
    """Labels as an enumeration.

    Examples
    --------
    >>> from mayfly.discipline_registry import parse_list
    >>> _several(parse_list("fifo")), _several(parse_list("fifo,las,efd"))
    ('fifo', 'fifo, las and efd')
    """
    *most, last = (discipline.label for discipline in disciplines)
    return f"{', '.join(most)} and {last}" if most else last


def _why_none(capture: str | os.PathLike[str]) -> str:
    """Why a capture gave no flow, where it can be read again."""
    from mayfly.workload.connections import connections, why_nothing

    if os.fspath(capture) == "-":
        return ""
    frame, counts = connections(capture)
    return "" if frame.height else f": {why_nothing(counts)}"


def _recommended(summary: dict[str, Any]) -> str | None:
    found = summary["recommendation"]
    return None if found is None else found["discipline"]


def _both_ways(rate: str | int, buffer: str | int) -> dict[str, Any]:
    """Rates and buffers of both directions, as fields of the scenario."""
    given = {name: quantity.both_ways(value, f"--{name}") for name, value in (("rate", rate), ("buffer", buffer))}
    rates = [None if value is None else quantity.rate_bps(value, "--rate") for value in given["rate"]]
    down_buffer, up_buffer = given["buffer"]
    # A time is another number of bytes at another rate.
    if up_buffer is None and quantity.is_time(down_buffer):
        up_buffer = down_buffer
    buffers = [
        None
        if value is None
        else quantity.buffer(value, "--buffer", rate_bps=rates[1] if up and rates[1] else rates[0])
        for up, value in enumerate((down_buffer, up_buffer))
    ]
    fields = {"rate": rates[0], "reverse_rate": rates[1], "buffer": buffers[0], "reverse_buffer": buffers[1]}
    return {f"network.{name}": value for name, value in fields.items() if value is not None}


def _stretched(before: pl.DataFrame, after: pl.DataFrame) -> float:
    """The factor by which time runs more slowly in a list whose load was scaled."""
    latest = before["start_s"].arg_max() or 0
    if before["start_s"][latest] > 0:
        return float(after["start_s"][latest] / before["start_s"][latest])
    paced = before["rate_bps"].drop_nulls()
    return float(paced[0] / after["rate_bps"].drop_nulls()[0]) if len(paced) else 1.0


def _probed(scenario: Scenario, flows: pl.DataFrame, span_s: float) -> Scenario:
    """The scenario with probes for as long as its flows come, over a path like theirs."""
    if not scenario.probes.any:
        return scenario
    median = flows["rtt_s"].median()
    found = {
        "until": min(max(span_s, _LEAST_PROBED_S), _PROBED_S),
        "rtt": float(median) if isinstance(median, float) else None,
    }
    given = scenario.probes.model_dump(exclude_unset=True)
    return scenario.override(probes={name: value for name, value in found.items() if value is not None} | given)


def _flows(
    capture: str | os.PathLike[str], internal: Sequence[str] | None, apps: str | None, scenario: Scenario
) -> tuple[pl.DataFrame, float, list[str], str | None]:
    """The capture's flows in the form asked for, and how long their packets came, s.

    Then what to doubt in it, and a sentence where it was not read to its end.
    """
    from mayfly.workload import apps as forms
    from mayfly.workload.calls import with_calls
    from mayfly.workload.capture import flows_of_connections, hosts_of_site, networks_of
    from mayfly.workload.connections import MOST_VOLUMES, ReadOptions, read_captures

    if apps not in (None, *_APPS):
        raise MayflyError(f"apps = {apps!r}: must be {' or '.join(_APPS)}")
    networks = None if internal is None else networks_of(internal)
    tcp = scenario.tcp
    inside = forms.read_options(initial_window=tcp.initial_window, delayed_ack=tcp.delayed_ack > 0)
    reading = read_captures(capture, replace(ReadOptions() if apps is None else inside, max_volumes=MOST_VOLUMES))
    if networks is not None:
        hosts_of_site(reading.connections, networks)
    if apps is None:
        flows = flows_of_connections(reading.connections, networks)
    elif apps == "tcp":
        flows = forms.scripted_flows(reading, networks, mss=tcp.mss)
    else:
        flows = forms.recorded_flows(reading, networks)
    flows = with_calls(flows, reading.connections, reading.volumes, reading.counts["volume_width_s"])
    partial = stopped_sentence(reading.counts, reading.counts["duration_s"])
    return flows, _lasted_s(reading.connections), _doubts(reading, networks), partial


def _doubts(reading: "Reading", networks: "list[Network] | None") -> list[str]:
    """What :mod:`mayfly.profile` doubts in the capture, too."""
    from mayfly.profile.overview import longest_silence_s
    from mayfly.workload.capture import (
        clock_jump_sentence,
        crossing_share,
        hosts_within,
        internal_hosts,
        one_sided_sentence,
    )

    frame = reading.connections
    hosts = internal_hosts(frame) if networks is None else hosts_within(frame, networks)
    found = (
        clock_jump_sentence(longest_silence_s(frame, reading.volumes), reading.counts["duration_s"]),
        one_sided_sentence(crossing_share(frame, hosts)),
    )
    return [sentence for sentence in found if sentence is not None]


def _lasted_s(connections: pl.DataFrame) -> float:
    """From the first packet of the connections to the last one, s."""
    known = connections.filter(pl.col("protocol") != "icmp")
    if known.height == 0:
        return 0.0
    first = known.select(pl.min_horizontal("start_s", "opener_first_s", "responder_first_s").min()).item()
    last = known.select(pl.max_horizontal("opener_last_s", "responder_last_s").max()).item()
    return max(float(last) - float(first), 0.0) if last is not None and first is not None else 0.0


def _judged(result: Comparison, apps: str | None) -> pl.DataFrame:
    """Records that the answer is about; times of trains or recorded flows go into the summary."""
    from mayfly.metrics.trains import time_row, train_records

    if apps is None:
        return result.records
    kind = {"tcp": "trains", "udp": "recorded"}[apps]
    judged = result.records if result.trains.width == 0 else train_records(result.records, result.trains)
    if apps == "udp":
        whole = pl.when(pl.col("drops") + pl.col("lost") == 0)
        judged = judged.with_columns(whole.then("response_time_s"), whole.then("finish_s"))
    for row in result.summary["disciplines"]:
        own = judged.filter(discipline=row["label"], protocol=apps)
        row[kind] = time_row(own)
    return judged
