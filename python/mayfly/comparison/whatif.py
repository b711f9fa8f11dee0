"""The flows of a capture over a bottleneck of a given rate, under each discipline."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from mayfly import limits
from mayfly.comparison.as_loaded import Loading
from mayfly.comparison.comparison import Comparison, Engine, Rows, gather
from mayfly.comparison.other_transport import other_transport
from mayfly.comparison.prediction_error import expected_errors
from mayfly.comparison.recommendation import recommendation
from mayfly.comparison.replay import replay_of, run_replay, traced
from mayfly.comparison.sections.links import links_of
from mayfly.comparison.session_bootstrap import add_hours, capture_rule, hour_rule, hours_for, split_progress
from mayfly.comparison.unanswered import SOME, transport_note
from mayfly.comparison.worst import add_worst
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.metrics import answer
from mayfly.metrics.trains import exchange_records, time_row, train_times
from mayfly.simulate.run import Progress, named, starting_in_time
from mayfly.workload.mix import offered
from mayfly.workload.replayed import closed
from mayfly.workload.sieve import read_through

if TYPE_CHECKING:
    from mayfly.summary_types import Summary


def whatif(
    capture: str | os.PathLike[str],
    rate: str | int | None = None,
    buffer: str | int | None = None,
    *,
    internal: Sequence[str] | None = None,
    load: float | str | None = None,
    replay: str | None = None,
    rtt: str | float | None = None,
    link_trace: str | os.PathLike[str] | None = None,
    link_trace_up: str | os.PathLike[str] | None = None,
    disciplines: str | Sequence[str] | None = None,
    replications: int | None = None,
    overrides: dict[str, Any] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    filter: str | None = None,
    anonymize: bool | bytes | None = None,
    tell: Callable[[str], None] | None = None,
) -> Comparison:
    """Replays the transfers of a capture over a bottleneck link.

    Parameters
    ----------
    capture : path
        pcap or pcapng, plain, in gzip, Zstandard or LZ4; ``-`` is the standard input.
    rate : str or int, optional
        Bottleneck rate: ``10mbit`` or bit/s; ``100mbit/20mbit`` for down and up. Guessed from the capture when absent
        (:func:`mayfly.profile.link.guess_link`); the guess is in ``summary["guess"]``, its doubt in
        ``summary["notes"]``.
    buffer : str or int, optional
        Limit of the bottleneck queues: packets, bytes such as ``450kB``, or a time such as ``20ms``, which is what the
        link sends in it; ``300/50`` for down and up. Guessed as the rate.
    internal : str or sequence of str, optional
        Networks (CIDR) on the near side of the bottleneck; inferred when not given. Down is toward them.
    load : float or str, optional
        Scales time so that the busier direction is offered this share of its rate, 0.01 to 10.
    replay : str, optional
        What is replayed; ``users``, or ``transfers`` with a ``load``, when not given. ``users``: connections with their
        exchanges, think times and paces, whose users wait for what they had before, without what the captured link did;
        ``trains``: the same as Chen 2012 has it, each connection at its time and with the queue of the capture in its
        round-trip times; ``packets``: every packet when it was captured, whatever becomes of those before;
        ``transfers``: each direction of a connection at its time, with all its data.
    rtt : str or float, optional
        Median round-trip time of the TCP connections without queueing, such as ``40ms``, 1 ns to 60 s: the times of all
        flows are multiplied by one factor. Waits stay as they are.
    link_trace, link_trace_up : path, optional
        Rate of the bottleneck over time, in place of a constant one (:mod:`mayfly.link_trace.files`): down, and up
        where it is not as down.
    disciplines : str or sequence of str, optional
        What to compare; the shortlist (:data:`mayfly.discipline_registry.SHORTLIST`) when not given.
    replications : int, optional
        Runs of the capture and of resampled hours like it: 1 runs the capture alone. As many as the choice needs, 16 at
        most, when not given.
    overrides : dict, optional
        Scenario fields by dotted name.
    progress : callable, optional
        Called with the fraction done.
    engine : Engine, optional
        What replays them in place of the simulator, such as :func:`mayfly.engines.engine` gives by name. It runs the
        capture alone: no hours are resampled, no other hosts tried, and of the shortlist only what it has.
    filter : str, optional
        Which packets count, such as ``tcp port 443 or host 10.0.0.5`` (:func:`mayfly.workload.sieve.read_through`); all
        when absent.
    anonymize : bool or bytes, optional
        Give addresses the images that Crypto-PAn makes of them under this key of 32 bytes, or under one of this run
        alone (True). ``internal`` and ``filter`` name real addresses.
    tell : callable, optional
        Called with a sentence that is worth knowing before the simulation: where the busiest minutes of a long capture
        are. The summary has it as well.

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
    Connections are scripts of what their ends say to each other (:mod:`mayfly.workload.replayed`); what a user starts
    next waits for what was there before (:mod:`mayfly.workload.replayed`), and the queue of the captured link is
    left out as far as the capture shows it (``crates/replay/src/link``). The answer is about their exchanges, requests
    with their answers (docs/users.md).
    docs/verification.md says how well that predicts. At a ``load`` that was asked for nobody waits.

    A capture is one draw of what its users do. Six to sixteen more hours are drawn from its sessions
    (:func:`mayfly.workload.replayed.another_hour`) and run under every discipline, until more of them would hardly
    change the choice; ``replications`` fixes their number. The intervals of the figures come from them
    (:func:`mayfly.metrics.resampling.hour_ci95`). ``summary["resampling"]`` says how many there were, and
    ``summary["recommendation"]`` what to use.

    A ping and a call run beside the flows while the capture lasts, an hour at most (section ``[probes]``). Their path
    has the median round-trip time of the TCP connections without the queue of the captured link, whatever the form of
    the replay, and they count in the seconds in which the link is busy (docs/users.md). Where the capture has calls of
    its own (``crates/replay/src/calls.rs``) and no ``load`` changes their pace, these are measured instead. Load is
    over the time that the capture lasts.
    """
    rate, varying = traced(rate, link_trace, link_trace_up)
    changes = varying | (overrides or {}) | ({} if replications is None else {"replications": replications})
    with read_through(filter, anonymize) as sieve:
        near = sieve.internal(internal)
        found = replay_of(capture, rate, buffer, internal=near, load=load, replay=replay, rtt=rtt, overrides=changes)
    if tell is not None and found.busiest is not None:
        tell(found.busiest)
    scenario, flows, span_s = found.scenario, found.flows, found.span_s
    chosen = named(disciplines if disciplines is not None else scenario.disciplines)
    hours = found.hours
    if engine is not None:
        hours, chosen = _alone(engine, hours, chosen, disciplines)
    plan = hours_for(flows, len(chosen), scenario, hours)
    if engine is not None:
        plan = changed(plan, why_none="--engine replays the capture alone")
    own, rest = split_progress(progress, 1 / (1 + plan.count))
    asked_for, stopping = chosen, _Stopping()
    # Of a run that ends sooner, what starts in it is offered in its time; the load of the links is that of the capture.
    lasted_s = min(span_s, scenario.duration)
    lasted = lasted_s if lasted_s > 0 else None
    unsaid = [] if found.partial is None else [found.partial]
    begun = closed(starting_in_time(flows, scenario.duration))
    if engine is not None:
        result = engine(scenario, chosen, begun, own, "whatif", lasted)
    else:
        rows = Rows(scenario, rule=capture_rule(flows))
        runs = run_replay(scenario, chosen, flows, own, stop=stopping, ended=rows.add)
        chosen = [run.discipline for run in runs]
        if not chosen:
            raise MayflyError(stopping.before_any())
        result = gather(scenario, runs, "whatif", span_s=lasted, rows=rows)
    if len(chosen) < len(asked_for):
        unsaid.append(stopping.sentence(f"{_several(chosen)} of {len(asked_for)} disciplines", "runs all"))
    load_of = offered(flows, **found.packets, span_s=span_s if span_s > 0 else None)
    links = links_of(scenario, load_of, result.summary["disciplines"][0]["links"])
    assert links is not None  # a replay is over one link
    result.summary["links"] = links
    rest, last = split_progress(rest, len(chosen) / (len(chosen) + 1))
    run = add_hours(result, scenario, chosen, flows, plan, rest, stopping)
    if not run.complete:
        hours = result.summary["resampling"]["hours"]
        of = f"{plan.count}" if plan.fixed else f"at most {plan.count}"
        unsaid.append(
            stopping.sentence(f"{hours} of {of} resampled hours", "resamples all" if plan.fixed else "resamples more")
        )
    result.summary["capture"] = {
        "path": str(capture),
        "span_s": span_s,
        "offered_down_mbps": links["down"]["offered_mbps"],
        "offered_up_mbps": links["up"]["offered_mbps"],
        "load": links[links["busier"]]["load"],
        "scaled_to_load": found.load,
        "replay": found.replay,
        "scaled_to_rtt_s": found.rtt_s,
        "quic_share": found.udp.quic,
        "quic_probably_share": found.udp.probably,
        "other_udp_share": found.udp.other,
        "udp_443_share": found.udp.at_443,
        "calls_share": found.udp.calls,
        "media_share": found.udp.media,
        "opaque_share": found.udp.opaque,
        "left_out_share": found.left_out,
        "overhead_bytes": found.framing[0],
        "translated": found.framing[1],
    }
    if found.guess is not None:
        # Rates and buffers of the command have the digits that a guess has.
        result.summary["guess"] = found.guess.document()
    loading = None
    if engine is None and found.replay != "packets":  # packets come as captured, whatever shapes them
        rule = hour_rule(flows, result.summary["disciplines"])
        loading = Loading(scenario, flows, begun, chosen, rule, run, last, stopping)
    result.summary["recommendation"] = recommendation(result.summary, loading)
    if last is not None:
        last(1.0)
    if engine is None:
        add_worst(result.summary, scenario, begun, runs, found.ends, lasted_s)
        # Nothing more is asked of them than their tables, which the result has.
        runs.clear()
        limits.give_back()
    result.summary["account"] = [found.account]
    if found.sieved:
        result.summary["notes"] = [*found.sieved, *result.summary.get("notes", [])]
    if unsaid:
        result.summary["partial"] = ". ".join(unsaid)
        result.summary["notes"] = [*unsaid, *result.summary.get("notes", [])]
    if found.missing:
        result.summary["missing"] = found.missing
        result.summary["notes"] = [*result.summary.get("notes", []), *found.missing]
    if found.busiest is not None:
        result.summary["notes"] = [*result.summary.get("notes", []), found.busiest]
    if (said := transport_note(overrides or {})) is not None:
        result.summary["notes"] = [*result.summary.get("notes", []), said]
    if found.replay == "packets":
        result.summary["notes"] = [*result.summary.get("notes", []), _PACKETS]
    if found.doubts:
        result.summary["notes"] = [*result.summary.get("notes", []), *found.doubts]
    if found.guess is not None:
        result.summary["notes"] = [*result.summary.get("notes", []), *found.guess.sentences()]
    result.summary["answer"] = answer(_judged(result, found.replay))
    limits.give_back()
    best = _recommended(result.summary)
    other = (
        None
        if stopping() or engine is not None
        else other_transport(scenario, begun, chosen, result.summary["disciplines"], best)
    )
    result.summary["transport"]["other"] = other
    # Learned of users who wait only.
    # Neither of captures with much QUIC.
    known = found.replay == "users" and found.udp.doubtful + found.udp.quic < SOME
    result.summary["expected_errors"] = expected_errors() if known else None
    return result


_PACKETS = (
    "packets are replayed as captured and slow down for no queue: the figures are of a queue at the link itself, and a "
    "shaper in front of the link would not move it there"
)


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


def _recommended(summary: "Summary") -> str | None:
    found = summary["recommendation"]
    return None if found is None else found["discipline"]


def _judged(result: Comparison, replay: str) -> pl.DataFrame:
    """Records that the answer is about: exchanges, or flows. Times of trains or recorded flows go into the summary."""
    if replay == "transfers":
        return result.records
    kind: Literal["recorded", "trains"] = "recorded" if replay == "packets" else "trains"
    protocol = "udp" if replay == "packets" else "tcp"
    scripted = result.trains.width > 0
    timed = result.records
    if replay == "packets":
        whole = pl.when(pl.col("drops") + pl.col("lost") == 0)
        timed = timed.with_columns(whole.then("response_time_s"), whole.then("finish_s"))
    times = train_times(result.records, result.trains) if scripted else {}
    for row in result.summary["disciplines"]:
        own = times.get(row["label"])
        row[kind] = time_row(_times_of(timed, row["label"], protocol) if own is None else own)
    return exchange_records(result.records, result.trains) if scripted else timed


def _times_of(records: pl.DataFrame, label: str, protocol: str) -> pl.Series:
    return records.filter(discipline=label, protocol=protocol)["response_time_s"]
