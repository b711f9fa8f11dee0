"""Runs of the simulator: one discipline on one flow list, or many on common random numbers."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, TypeVar

import polars as pl

from mayfly import _native
from mayfly.arrays import Integers
from mayfly.discipline_registry import Discipline, parse_list
from mayfly.errors import MayflyError
from mayfly.limits import FRAME_BYTES, RECORD_BYTES, at_once, give_back, refuse_flows
from mayfly.metrics.totals import derived, derived_of_cell
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import columns, probes, queue_delay, traces, transports
from mayfly.simulate.columns import facts_of, with_calls
from mayfly.simulate.isolated import PathsAlone
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.network.shaping import native_shaping
from mayfly.simulate.recording import Recording
from mayfly.simulate.settings import native_settings
from mayfly.text.pages import in_pages
from mayfly.workload import applications, mix, scripts, stages
from mayfly.workload.sources.registry import SOURCES

_CONTINUOUS_S = 1e-9
"""With a tick as short as the simulator's own the phases of the hosts' clocks have no effect."""

Progress = Callable[[float], None]
Ran = TypeVar("Ran")
"""Called now and then with the fraction of all simulated time that is done."""

_SHORT_LIST = 10_000
"""Flows of a list that is prepared once for all disciplines."""

_RUN_BYTES = 700
"""Memory that a run takes for each of its flows while it is under way (650 were measured), the list apart."""

_PATIENCE_S = 0.5
"""Time for runs to stop before an interrupt goes on."""


@dataclass(frozen=True)
class RunResult:
    """One discipline on one flow list.

    Parameters
    ----------
    discipline : Discipline
        What ran.
    replication : int
        0-based.
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of docs/tables.md.
    samples : polars.DataFrame, shape (n_samples, ...)
        Time series of the forward queue.
    counters : dict
        Totals of the run after its warm-up.
    drops : polars.DataFrame, shape (n_drops, ...), or None
        Drop trace, when asked for.
    classes : list of dict
        Packets of each group at the forward queue after the warm-up: ``group, arrivals, drops, marks, sent,
        sent_bytes``; empty when no flow has a group.
    packets : polars.DataFrame, shape (n_packets, ...)
        Packets of the flows that ``scenario.trace`` names.
    timeouts : polars.DataFrame, shape (n_timeouts, ...)
        Expiries of their retransmission timer.
    subflows : polars.DataFrame, shape (n_subflows, ...)
        Sub-flows in the forward queue, when ``scenario.subflows`` asks for them.
    trains : polars.DataFrame, shape (n_trains, ...)
        Trains of scripted flows; empty without any.
    cell : dict or None
        Totals of the wireless cell after the warm-up (:func:`mayfly.simulate.network.cell.totals`).
    probes : polars.DataFrame, shape (n_packets, 5)
        Packets of the probes (:meth:`mayfly.simulate.probes.Probing.packets`); empty without any. Nothing else here
        counts them.
    idle_rtt_s : float or None
        Round-trip time of a ping on the idle link, s; None without one.
    calls : polars.DataFrame, shape (n_packets, 4)
        Packets of the calls of a capture (:meth:`mayfly.simulate.traces.Calls.heard`); empty without any.
    frames : polars.DataFrame, shape (n_frames, ...)
        Speech and videos of calls and games; empty without any.
    segments : polars.DataFrame, shape (n_segments, ...)
        Segments of films; empty without any.
    observed : Observed, optional
        What it has for its users to feel, for :func:`mayfly._native.users_of_runs`.
    """

    discipline: Discipline
    replication: int
    records: pl.DataFrame
    samples: pl.DataFrame
    counters: dict[str, Any]
    drops: pl.DataFrame | None = field(repr=False)
    classes: list[dict[str, Any]] = field(default_factory=list, repr=False)
    packets: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    timeouts: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    interfaces: list[dict[str, Any]] = field(default_factory=list, repr=False)
    trains: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    cell: dict[str, Any] | None = field(default=None, repr=False)
    subflows: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    probes: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    idle_rtt_s: float | None = None
    calls: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    frames: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    segments: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    observed: "_native.Observed | None" = field(default=None, repr=False)


def workload(scenario: Scenario, replication: int = 0) -> pl.DataFrame:
    """The flow list a scenario draws.

    Parameters
    ----------
    scenario : Scenario
        With a workload.
    replication : int
        The list belongs to seed ``scenario.seed + replication``.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        Flow list of docs/tables.md, sorted by start.

    Raises
    ------
    MayflyError
        The workload describes no flows, or a law that cannot be.
    """
    given, network, mss = scenario.workload, network_of(scenario), scenario.tcp.mss
    senders, receivers = network.workload_hosts(given)
    sources = [source for kind in SOURCES for source in getattr(given, kind)]
    return mix.synthetic(
        given.drawn(network.ends(given.from_, given.to)) if given.has_transfers else None,
        duration_s=scenario.duration,
        seed=scenario.seed + replication,
        sources=[source.drawn(mss, network.ends(source.from_, source.to)) for source in sources],
        transports=[getattr(source, "transport", None) for source in sources],
        senders=senders,
        receivers=receivers,
        pairs=network.pairs(given),
        mss=mss,
        header_bytes=scenario.tcp.headers_bytes,
    )


def largest(flows: pl.DataFrame) -> list[int]:
    """Rows of the three largest TCP transfers, the earlier first among equals.

    Parameters
    ----------
    flows : polars.DataFrame
        A normalised flow list.

    Returns
    -------
    list of int
        At most three row numbers, the largest flow first.
    """
    rows = flows.select("size_bytes", "protocol").with_row_index("row").filter(pl.col("protocol") == "tcp")
    return rows.sort(["size_bytes", "row"], descending=[True, False])["row"].head(3).to_list()


@dataclass(frozen=True)
class NativeRun:
    """One discipline on one flow list as the native module takes it.

    Parameters
    ----------
    settings : dict
        Of :func:`native_settings`, with the probes, transports and applications of the list.
    columns : dict of ndarray or FlowList
        The list with its probes (:func:`mayfly.simulate.columns.native_flows`).
    transports : ndarray, shape (n_probes + n_flows,)
        Number of the transport of each flow.
    flows : polars.DataFrame, shape (n_probes + n_flows, ...)
        The same list before that.
    probing : Probing
        What its first rows are.
    alone : dict of ndarray or None
        Columns of the list of one ping (:func:`mayfly.simulate.probes.ping_alone`); None without a ping.
    facts : dict
        Of the list (:func:`mayfly.simulate.columns.facts_of`).
    """

    settings: dict[str, Any]
    columns: "dict[str, Any] | _native.FlowList"
    transports: Integers
    flows: pl.DataFrame
    probing: probes.Probing
    alone: dict[str, Any] | None
    facts: dict[str, Any]


@dataclass(frozen=True)
class Prepared:
    """What the runs of all disciplines on one flow list take.

    Parameters
    ----------
    columns, transports, flows, probing, alone, facts
        As of :class:`NativeRun`.
    settings : dict
        Transports, applications and probes of the list, as of :func:`native_settings`.
    """

    columns: "dict[str, Any] | _native.FlowList"
    transports: Integers
    flows: pl.DataFrame
    probing: probes.Probing
    alone: dict[str, Any] | None
    facts: dict[str, Any]
    settings: dict[str, Any]


def prepared(scenario: Scenario, flows: pl.DataFrame, replication: int = 0) -> Prepared:
    """Builds what the runs of all disciplines take; parameters as :func:`native_run`."""
    full_packet = scenario.tcp.mss + scenario.tcp.headers_bytes
    net = network_of(scenario)
    probed, probing = probes.with_probes(scenario, flows, scenario.seed + replication)
    dealt = transports.dealt(scenario, probed)
    settings = {"transports": dealt.native, "applications": applications.native(probed)[0]} | probing.settings
    native = columns.native_flows(
        probed, full_packet, net.numbers(probed), scenario.nonresponsive, dealt.numbers, scenario.mark_of
    )
    alone = None
    if probes.PING in probing.names:
        ping = probes.ping_alone(probed)
        alone = columns.native_flows(ping, full_packet, net.numbers(ping))
    facts = facts_of(flows, probing.names)
    return Prepared(native, native["transport"], probed, probing, alone, facts, settings)


@dataclass
class PreparedLists:
    """Flow lists of a scenario, prepared once for all disciplines: all short ones, and the last of the long ones."""

    _found: dict[int, Prepared] = field(default_factory=dict)
    _long: int | None = None
    _lock: Lock = field(default_factory=Lock)

    def of(self, scenario: Scenario, flows: pl.DataFrame, replication: int) -> Prepared:
        """What the runs of a replication take; ``flows`` are the same whoever asks."""
        with self._lock:
            if replication not in self._found:
                is_long = flows.height > _SHORT_LIST
                if is_long and self._long is not None:
                    del self._found[self._long]
                found = prepared(scenario, flows, replication)
                if is_long:
                    self._long = replication
                    assert isinstance(found.columns, dict)  # nobody else has it yet
                    found = replace(found, columns=_native.FlowList(found.columns))
                self._found[replication] = found
            return self._found[replication]


def native_run(
    scenario: Scenario,
    discipline: Discipline,
    flows: pl.DataFrame,
    replication: int = 0,
    traced: Sequence[int] = (),
    lists: PreparedLists | None = None,
) -> NativeRun:
    """Builds what a run of the native module takes.

    Parameters
    ----------
    scenario : Scenario
        Network, transport and probes.
    discipline : Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.
    replication : int
        Moves the seed.
    traced : sequence of int
        Rows of the list whose packets are traced.
    lists : PreparedLists, optional
        What other runs of the same scenario have prepared.

    Returns
    -------
    NativeRun

    Raises
    ------
    MayflyError, ValueError
        A value is refused, by Python or by the native module.
    """
    full_packet, seed = scenario.tcp.mss + scenario.tcp.headers_bytes, scenario.seed + replication
    net = network_of(scenario)
    common = prepared(scenario, flows, replication) if lists is None else lists.of(scenario, flows, replication)
    before = common.probing.count
    settings = native_settings(scenario, discipline, seed, [before + row for row in largest(flows)])
    settings["traced"] = [before + row for row in sorted({*traced})]
    settings["shaping"] = native_shaping(scenario.network, full_packet, common.probing.row(probes.AUTORATE))
    settings |= net.settings(discipline, full_packet, flows)
    own = settings | common.settings
    return NativeRun(own, common.columns, common.transports, common.flows, common.probing, common.alone, common.facts)


@dataclass(frozen=True)
class SomeRows:
    """Some flows of a list as the native module takes them.

    Parameters
    ----------
    settings : dict
        Of the run of the whole list, without samples and traces.
    columns : dict of ndarray
        The flows (:func:`mayfly.simulate.columns.native_flows`).
    rows : list of int
        Their rows in the list with its probes, ascending.
    before : int
        Probes before the list.
    """

    settings: dict[str, Any]
    columns: dict[str, Any]
    rows: list[int]
    before: int


def native_rows(
    scenario: Scenario, discipline: Discipline, flows: pl.DataFrame, choose: Callable[[dict[str, Any]], list[int]]
) -> SomeRows:
    """Builds what some flows of a long list are run alone with: hosts and transports are those of the list.

    Parameters
    ----------
    scenario, discipline, flows
        As of :func:`native_run`, for replication 0.
    choose : callable
        From the settings of the run to the rows that are wanted, ascending, probes counted.

    Returns
    -------
    SomeRows

    Raises
    ------
    MayflyError, ValueError
        As :func:`native_run`.
    """
    full_packet = scenario.tcp.mss + scenario.tcp.headers_bytes
    net = network_of(scenario)
    probed, probing = probes.with_probes(scenario, flows, scenario.seed)
    dealt = transports.dealt(scenario, probed)
    settings = native_settings(scenario, discipline, scenario.seed, [])
    settings["shaping"] = native_shaping(scenario.network, full_packet, probing.row(probes.AUTORATE))
    settings |= net.settings(discipline, full_packet, flows)
    settings |= {"transports": dealt.native, "applications": applications.native(probed)[0]} | probing.settings
    settings |= {"traced": [], "sample_interval_ns": 0, "subflows": False}
    rows = choose(settings)
    src, dst = (numbers[rows] for numbers in net.numbers(probed))
    own = columns.native_flows(probed[rows], full_packet, (src, dst), transports=dealt.numbers[rows])
    return SomeRows(settings, own, rows, probing.count)


def run_one(
    scenario: Scenario,
    discipline: Discipline,
    flows: pl.DataFrame,
    replication: int = 0,
    control: "_native.Control | None" = None,
    trace_drops: bool = False,
    paths: PathsAlone | None = None,
    recording: Recording | None = None,
    lists: PreparedLists | None = None,
) -> RunResult:
    """Runs one discipline on one flow list.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.
    replication : int
        Moves the seed.
    control : Control, optional
        Shows how far the run is, and stops it.
    trace_drops : bool
        Keep the drop trace.
    paths : PathsAlone, optional
        Times alone found by other runs of the same scenario.
    recording : Recording, optional
        A capture to write of the run.
    lists : PreparedLists, optional
        What other runs of the same scenario have prepared.

    Returns
    -------
    RunResult
        Records, samples and counters.

    Raises
    ------
    MayflyError
        A value is refused.
    """
    full_packet = scenario.tcp.mss + scenario.tcp.headers_bytes
    flows, calls = traces.without_calls(flows)
    chosen = traces.chosen_rows(flows, scenario.trace)
    began = time.thread_time()
    try:
        given = native_run(scenario, discipline, flows, replication, [*chosen, *calls.rows], lists)
        settings, probed, probing = given.settings, given.flows, given.probing
        settings |= {"trace_drops": trace_drops, "trace_limit": settings["trace_limit"] + calls.packets}
        with nullcontext() if recording is None else recording.native(probed, probing.count) as recorded:
            facts = with_calls(given.facts, calls.rows)
            result = _native.run(json.dumps(settings), given.columns, control or _native.Control(), recorded, facts)
        idle_rtt_s = None if given.alone is None else probes.idle_rtt_s(settings, given.alone)
    except ValueError as error:
        raise MayflyError(str(error)) from None
    net, before = network_of(scenario), probing.count
    cpu_s = time.thread_time() - began
    observed = result.pop("observed")
    del result["counts"]
    told = {name: pl.DataFrame(table) for name, table in result.items() if table is not None}
    told["flows"] = in_pages(told["flows"][before:])
    for name in ("drops", "packets", "timeouts", "subflows", "trains", "frames", "segments"):
        told[name] = probing.workload_only(told[name])
    heard, told["packets"] = calls.heard(told["packets"], chosen)
    counters = queue_delay.taken(told["counters"].row(0, named=True))
    air = net.cell((told["cell"], told["nodes"]) if "cell" in told else None, counters)
    interfaces = net.interfaces(told["interfaces"], counters)
    counters["cpu_s"] = cpu_s
    labels = {"discipline": pl.lit(discipline.label), "replication": pl.lit(replication, dtype=pl.Int32)}
    records = columns.records_frame(flows, told["flows"], scenario.tcp.mss, net.records(flows, told["flows"]))
    numbers = given.transports[before:]
    unprobed = settings | probes.Probing().settings
    alone_s = (paths or PathsAlone()).response(net, unprobed, records, full_packet, replication, numbers)
    records = columns.begun(records.with_columns(slowdown=pl.col("response_time_s") / alone_s, **labels))
    counters |= _derived(counters, records, settings) | ({} if air is None else derived_of_cell(air))
    # Probes have no group, and are counted in none.
    classes = columns.class_counts(columns.group_classes(probed)[0], told["classes"])[
        : len(columns.group_classes(flows)[0])
    ]
    trains = pl.DataFrame()
    if "script" in flows.columns:
        trains = in_pages(scripts.trains_frame(told["trains"], flows)).with_columns(**labels)
    drops, packets, timeouts, subflows, frames, segments = (
        columns.with_ids(told[name], flows).with_columns(**labels)
        for name in ("drops", "packets", "timeouts", "subflows", "frames", "segments")
    )
    return RunResult(
        discipline,
        replication,
        records,
        told["samples"].with_columns(**labels),
        counters,
        drops if trace_drops else None,
        classes,
        packets,
        timeouts,
        interfaces,
        trains,
        air,
        subflows,
        probing.packets(told["probes"]),
        idle_rtt_s,
        heard,
        frames if frames.height else pl.DataFrame(),
        segments if segments.height else pl.DataFrame(),
        observed,
    )


def _derived(counters: dict[str, Any], records: pl.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Rates and losses that follow from the totals."""
    udp = records.filter(pl.col("protocol") == "udp")
    return derived(counters, settings["rate_bps"], settings["reverse_rate_bps"]) | {
        "udp_packets": int(udp["packets_sent"].sum()),
        "udp_lost": int(udp["drops"].sum()) + int(udp["lost"].sum()),
    }


@dataclass(frozen=True)
class UsersRun:
    """What the figures of users take of a run.

    Parameters
    ----------
    discipline : Discipline
        What ran.
    observed : Observed
        For :func:`mayfly._native.users_of_runs`.
    idle_rtt_s : float or None
        Round-trip time of a ping on the idle link, s; None without one.
    span_s : tuple of two float
        End of the warm-up and of the run, s.
    sent : mapping of tuple of two int
        Packets and bytes that the queues ``down`` and ``up`` sent; empty of a resampled hour.
    counts : mapping of int
        How many flows ended, by the names of a row of the summary; empty of a resampled hour.
    """

    discipline: Discipline
    observed: "_native.Observed"
    idle_rtt_s: float | None
    span_s: tuple[float, float]
    sent: Mapping[str, tuple[int, int]] = field(default_factory=dict, kw_only=True)
    counts: Mapping[str, int] = field(default_factory=dict, kw_only=True)


def observe_many(scenario: Scenario, disciplines: Sequence[Discipline], flows: pl.DataFrame) -> list[UsersRun]:
    """Runs every discipline once on the same flows for the figures of their users alone: no tables are made.

    Parameters
    ----------
    scenario, disciplines, flows
        As of :func:`run_many`; neither samples nor traces are taken.

    Returns
    -------
    list of UsersRun
        By discipline.

    Raises
    ------
    MayflyError, KeyboardInterrupt
        As there.
    """
    flows, calls = traces.without_calls(starting_in_time(flows, scenario.duration))
    lists = PreparedLists()

    def job(index: int, control: "_native.Control") -> UsersRun:
        try:
            given = native_run(scenario, disciplines[index], flows, 0, calls.rows, lists)
            settings = given.settings | {"sample_interval_ns": 0, "subflows": False}
            settings["trace_limit"] += calls.packets
            facts = with_calls(given.facts, calls.rows)
            result = _native.run(json.dumps(settings), given.columns, control, None, facts)
            idle_rtt_s = None if given.alone is None else probes.idle_rtt_s(settings, given.alone)
        except ValueError as error:
            raise MayflyError(str(error)) from None
        totals = pl.DataFrame(result["counters"]).row(0, named=True)
        span_s = (totals["begin_ns"] * 1e-9, totals["end_ns"] * 1e-9)
        sent = {
            way: (totals[f"{prefix}sent"], totals[f"{prefix}sent_bytes"])
            for way, prefix in (("down", ""), ("up", "reverse_"))
        }
        counts = json.loads(result["counts"])
        return UsersRun(disciplines[index], result["observed"], idle_rtt_s, span_s, sent=sent, counts=counts)

    return in_threads(job, len(disciplines), scenario.duration, workers=at_once(flows.height * _RUN_BYTES))


def run_many(
    scenario: Scenario,
    disciplines: Sequence[Discipline],
    flows: pl.DataFrame | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    trace_drops: bool = False,
    recording: Recording | None = None,
    stop: Callable[[], object] | None = None,
    ended: Callable[[list[RunResult]], None] | None = None,
) -> list[RunResult]:
    """Runs every discipline on the same flows, replications and disciplines spread over all cores.

    Parameters
    ----------
    scenario : Scenario
        Its ``replications`` says how many lists are drawn.
    disciplines : sequence of Discipline
        What to compare.
    flows : polars.DataFrame, optional
        Takes the place of the scenario's workload in all replications, which then differ in the phases of
        the hosts' clocks only.
    progress : callable, optional
        Called several times a second with the fraction done.
    workers : int, optional
        Threads; as many as cores when not given. The native code releases the interpreter lock.
    trace_drops : bool
        Keep the drop traces.
    recording : Recording, optional
        A capture to write, of a single run.
    stop : callable, optional
        Called several times a second: runs that have not ended end without a result when it returns what is true.
    ended : callable, optional
        Called with all replications of a discipline when the last of them has ended, in the thread of that one, while
        other disciplines still run.

    Returns
    -------
    list of RunResult
        By discipline, then replication; those that ended, where ``stop`` stopped the others.

    Raises
    ------
    MayflyError
        A value is refused.
    KeyboardInterrupt
        After an interrupt; all runs have stopped, or are about to prepare millions of flows and stop then.
    """
    if recording is not None and len(disciplines) * scenario.replications > 1:
        raise MayflyError(f"runs = {len(disciplines) * scenario.replications}: a capture is written of one")
    paths, common = PathsAlone(), PreparedLists()

    def one(discipline: Discipline, own: pl.DataFrame, replication: int, control: "_native.Control") -> RunResult:
        return run_one(scenario, discipline, own, replication, control, trace_drops, paths, recording, common)

    def stopped() -> None:
        paths.stopped = True

    return _run_all(scenario, disciplines, flows, one, progress, workers, stop, ended, stopped)


def _run_all(
    scenario: Scenario,
    disciplines: Sequence[Discipline],
    flows: pl.DataFrame | None,
    one: Callable[[Discipline, pl.DataFrame, int, "_native.Control"], Ran],
    progress: Progress | None = None,
    workers: int | None = None,
    stop: Callable[[], object] | None = None,
    ended: Callable[[list[Ran]], None] | None = None,
    stopped: Callable[[], None] | None = None,
) -> list[Ran]:
    """Calls ``one`` for every discipline and replication, in threads; ``stopped`` when they are to end early."""
    replications = range(scenario.replications)
    if flows is not None and scenario.replications > 1 and scenario.tick_s <= _CONTINUOUS_S:
        raise MayflyError(
            f"replications = {scenario.replications}: a given list of flows is one workload, and with tcp.tick = 1ns "
            "nothing else is random: must be 1"
        )
    lists = {0: starting_in_time(flows, scenario.duration)} if flows is not None else {}
    jobs = [(discipline, replication) for discipline in disciplines for replication in replications]
    of_each: dict[str, dict[int, Ran]] = {discipline.label: {} for discipline in disciplines}
    counting = Lock()

    def job(index: int, control: "_native.Control") -> Ran:
        discipline, replication = jobs[index]
        own = lists[0] if flows is not None else lists[replication]
        result = one(discipline, own, replication, control)
        if ended is not None:
            with counting:
                found = of_each[discipline.label]
                found[replication] = result
                complete = len(found) == len(replications)
            if complete:
                ended([found[number] for number in replications])
        return result

    if flows is None:
        lists = {replication: workload(scenario, replication) for replication in replications}
    rows = sum((lists[0] if flows is not None else lists[replication]).height for replication in replications)
    refuse_flows(len(disciplines) * rows, RECORD_BYTES, f"runs = {len(jobs)}")
    units = sum(
        applications.units(lists[0] if flows is not None else lists[replication], scenario.duration)
        for replication in replications
    )
    refuse_flows(len(disciplines) * units, FRAME_BYTES, f"runs = {len(jobs)}", "frames of calls and games")
    longest = max(own.height for own in lists.values())
    give_back()
    workers = workers or at_once(longest * _RUN_BYTES)
    return in_threads(job, len(jobs), scenario.duration, progress, workers, stop, stopped)


def in_threads(
    job: Callable[[int, "_native.Control"], Ran],
    count: int,
    duration_s: float,
    progress: Progress | None = None,
    workers: int | None = None,
    stop: Callable[[], object] | None = None,
    stopped: Callable[[], None] | None = None,
) -> list[Ran]:
    """Runs jobs of the native module in threads.

    Parameters
    ----------
    job : callable
        Called with the number of the job, from 0, and what shows how far it is and ends it.
    count : int
        Jobs.
    duration_s : float
        What each of them simulates, s.
    progress, workers, stop
        As of :func:`run_many`.
    stopped : callable, optional
        Called when jobs are to end early.

    Returns
    -------
    list
        What the jobs return, in order; of those that ended, where ``stop`` stopped the others.

    Raises
    ------
    MayflyError, KeyboardInterrupt
        As :func:`run_many`.
    """
    controls = [_native.Control() for _ in range(count)]
    pool = ThreadPoolExecutor(workers or os.cpu_count())
    pending = [pool.submit(job, *given) for given in enumerate(controls)]

    def end() -> None:
        if stopped is not None:
            stopped()
        for control in controls:
            control.cancel()
        pool.shutdown(wait=False, cancel_futures=True)
        wait(pending, timeout=_PATIENCE_S)

    unfinished = set(pending)
    try:
        while unfinished:
            done, unfinished = wait(unfinished, timeout=0.1)
            for future in done:
                future.result()
            if progress is not None:
                done_s = sum(control.reached_s for control in controls)
                progress(min(done_s / (duration_s * count), 1.0))
            if unfinished and stop is not None and stop():
                end()
                break
    except BaseException:
        end()
        raise
    pool.shutdown(wait=False)
    return [future.result() for future in pending if future not in unfinished]


def starting_in_time(flows: pl.DataFrame, duration_s: float) -> pl.DataFrame:
    """The flows that start before the end of the run.

    Parameters
    ----------
    flows : polars.DataFrame
        Normalised flow list.
    duration_s : float
        End of the run, s.

    Returns
    -------
    polars.DataFrame
        Without later flows, and those that wait for one of them. When a flow that waits for a stage starts, nobody
        knows before the run: those stay.

    Raises
    ------
    MayflyError
        None is left.
    """
    early = pl.col("start_s") < duration_s
    kept = flows.filter(early | pl.col("after").is_not_null() if "after" in flows.columns else early)
    if stages.is_closed_loop(kept):
        kept = stages.without_endless_waits(flows, kept)
    if kept.height == 0:
        raise MayflyError(f"no flow starts before the end of the run at {duration_s:g} s: raise --duration")
    return kept


def named(disciplines: str | Sequence[str]) -> list[Discipline]:
    """Disciplines as a user names them.

    Parameters
    ----------
    disciplines : str or sequence of str
        ``"fifo,efd"``, ``["fifo", "efd(threshold=40000)"]`` or ``"all"``.

    Returns
    -------
    list of Discipline
        In order, without repetitions.

    Raises
    ------
    MayflyError
        Unknown id or option, or none at all.
    """
    return parse_list(disciplines if isinstance(disciplines, str) else ",".join(disciplines))
