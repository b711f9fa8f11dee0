"""A scenario in the Linux kernel: its TCP and its disciplines in virtual time, records as of the simulator."""

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.arrays import number
from mayfly.discipline_registry import Discipline
from mayfly.discipline_registry.marked import packets_marked
from mayfly.discipline_registry.tc_options import differences, leaf_of
from mayfly.engines import guest, listed, network
from mayfly.engines.network import Laid
from mayfly.engines.records import packets_frame, probes_frame, records_frame, samples_frame, tables_of, trains_of
from mayfly.engines.transport import Transport, transport_of
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import transports
from mayfly.simulate.columns import begun, facts_of, native_flows, with_calls, with_ids
from mayfly.simulate.isolated import PathsAlone
from mayfly.simulate.network.graph import graph_of
from mayfly.simulate.network.protocol import totals
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.probes import PING, Probing, ping_alone, with_probes
from mayfly.simulate.probes import idle_rtt_s as idle_rtt
from mayfly.simulate.run import Progress, RunResult, largest, starting_in_time, workload
from mayfly.simulate.settings import native_settings
from mayfly.simulate.traces import Calls, chosen_rows, without_calls

RTT_INTERVAL_S = 0.1
"""Between two looks at the round-trip time of a transfer without end."""

LOOKS = 8
"""Looks at the queue per sample: what its mean length is taken from."""


@dataclass(frozen=True)
class KernelDiscipline(Discipline):
    """A discipline as it is in the kernel."""

    @property
    def label(self) -> str:
        """As that of the simulator's, and the engine."""
        return f"{super().label} (linux)"


def refuse(scenario: Scenario) -> None:
    """Refuses what the kernel engine cannot run.

    Parameters
    ----------
    scenario : Scenario
        To be run.

    Raises
    ------
    MayflyError
        The first field in the way.
    """
    given = scenario.network
    if given.wlan is not None:
        raise MayflyError("network.wlan: --engine linux has wired networks only")
    if given.impairment:
        raise MayflyError("network.impairment: must be absent with --engine linux")
    if given.shaper is not None:
        raise MayflyError("network.shaper: must be absent with --engine linux")
    if scenario.subflows:
        raise MayflyError("subflows = true: --engine linux keeps no table of sub-flows")


def refuse_flows(scenario: Scenario, flows: pl.DataFrame) -> None:
    """Refuses flow lists with what the kernel engine cannot do.

    Parameters
    ----------
    scenario : Scenario
        With the flows that are traced.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list.

    Raises
    ------
    MayflyError
        The first column in the way.
    """
    if "application" in flows.columns and flows["application"].null_count() < flows.height:
        raise MayflyError("application: --engine linux has no applications in the loop")
    chosen = chosen_rows(flows, scenario.trace)
    if chosen and (flows["protocol"][chosen] == "tcp").any():
        raise MayflyError(f"trace = {scenario.trace[0]}: --engine linux traces flows of UDP only")


@dataclass(frozen=True)
class Job:
    """A flow list as a guest runs it: with the probes of the scenario before it.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    replication : int
        Moves the seed.
    flows : polars.DataFrame, shape (n_flows, ...)
        The workload.
    calls : Calls
        Which of them are calls of a capture.
    probed : polars.DataFrame, shape (n_probes + n_flows, ...)
        What runs.
    probing : Probing
        What its first rows are.
    dealt : Dealt
        Transports of what runs.
    laid : Laid
        The network, with its hosts.
    settings : dict
        As ``kernel/uml/flow_list.py`` takes them.
    """

    scenario: Scenario
    discipline: Discipline
    replication: int
    flows: pl.DataFrame
    calls: Calls
    probed: pl.DataFrame
    probing: Probing
    dealt: transports.Dealt
    laid: Laid
    settings: dict[str, Any]

    @property
    def seed(self) -> int:
        """Of what is random."""
        return self.scenario.seed + self.replication


def job(
    scenario: Scenario, discipline: Discipline, flows: pl.DataFrame, replication: int = 0, looks: int = LOOKS
) -> Job:
    """What a guest is to run.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start; where some are calls of a capture, as the simulator takes it.
    replication : int
        Moves the seed.
    looks : int
        At the queue, per sample.

    Returns
    -------
    Job

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    flows, calls = without_calls(flows)
    probed, probing = with_probes(scenario, flows, scenario.seed + replication)
    before = probing.count
    laid = network.laid(scenario, discipline, probed)
    dealt = transports.dealt(scenario, probed)
    traced = {*range(before), *(before + row for row in (*chosen_rows(flows, scenario.trace), *calls.rows))}
    watched = listed.Watched(traced, probing.settings["echoes"])
    settings = _settings(scenario, probed, laid, dealt, watched)
    settings |= {"watched": [before + row for row in largest(flows)], "looks": looks}
    return Job(scenario, discipline, replication, flows, calls, probed, probing, dealt, laid, settings)


def guest_settings(scenario: Scenario, discipline: Discipline, flows: pl.DataFrame) -> dict[str, Any]:
    """A run as ``kernel/uml/flow_list.py`` takes it.

    Parameters
    ----------
    scenario, discipline, flows
        As :func:`job` has them.

    Returns
    -------
    dict
        For JSON.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    return job(scenario, discipline, flows).settings


def _settings(
    scenario: Scenario, flows: pl.DataFrame, laid: Laid, dealt: transports.Dealt, watched: listed.Watched
) -> dict[str, Any]:
    transport, tcp = transport_of(scenario.tcp), scenario.tcp
    codes = listed.codes_of(scenario, flows)
    interval = scenario.sample_interval
    udp = flows.filter(pl.col("protocol") == "udp")
    longest = int(number(udp["packet_bytes"].fill_null(tcp.mss + tcp.headers_bytes).max() or 0))
    return {
        # Room for UDP packets: TCP's segments are bounded by the route.
        "network": laid.settings(scenario, max(transport.mtu_bytes, longest - tcp.header + 40)),
        "mss": tcp.mss,
        "window_bytes": transport.window_bytes,
        "route": transport.route,
        # The answer to a SYN carries the code of the SYN.
        "sysctl": transport.sysctl | ({"net.ipv4.tcp_reflect_tos": "1"} if codes else {}),
        "module_parameters": transport.module_parameters,
        "fin": tcp.fin,
        "duration_s": scenario.duration,
        "warm_up_s": scenario.warm_up,
        "stop_when_idle": scenario.stop_when_idle,
        "sample_interval_s": scenario.duration / 1000 if interval is None else interval,
        "rtt_interval_s": RTT_INTERVAL_S,
        "marks": {str(code): value for value, code in codes.items()},
        "last_port": laid.own.last_port,
        "flows": listed.rows_of(scenario, flows, laid, dealt, codes, watched),
    }


def run_one(
    scenario: Scenario,
    discipline: Discipline,
    flows: pl.DataFrame,
    replication: int,
    paths: PathsAlone,
    looks: int = LOOKS,
) -> tuple[RunResult, str]:
    """Runs one discipline of the kernel on one flow list.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.
    replication : int
        Told in the records.
    paths : PathsAlone
        Times alone: the simulator's, with the same transport.
    looks : int
        At the queue, per sample.

    Returns
    -------
    RunResult
        Records, samples and counters; what the kernel does not tell is null.
    str
        Release of the kernel.

    Raises
    ------
    MayflyError
        What the kernel does not have; no kernel; the guest failed.
    """
    asked = job(scenario, discipline, flows, replication, looks)
    told = guest.run(asked.settings, leaf_of(discipline).module)
    return result_of(asked, told, paths), told["kernel"]


def run_together(
    scenario: Scenario, chosen: Sequence[Discipline], flows: pl.DataFrame, looks: int = LOOKS
) -> list[RunResult]:
    """Runs disciplines one after the other in one guest, on the same network and flow list.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    chosen : sequence of Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.
    looks : int
        At the queue, per sample.

    Returns
    -------
    list of RunResult
        For each discipline, as :func:`run_one` has it.

    Raises
    ------
    MayflyError
        What the kernel does not have; no kernel; the guest failed.
    """
    refuse(scenario)
    refuse_flows(scenario, flows)
    jobs = [job(scenario, one, flows, looks=looks) for one in chosen]
    modules = sorted({leaf_of(one).module for one in chosen} - {""})
    told = guest.run({"runs": [one.settings for one in jobs]}, " ".join(modules), "leaves.py")
    paths = PathsAlone()
    return [result_of(one, found, paths) for one, found in zip(jobs, told, strict=True)]


def result_of(asked: Job, told: dict[str, Any], paths: PathsAlone) -> RunResult:
    """What a guest told as the result of a run.

    Parameters
    ----------
    asked : Job
        What it ran.
    told : dict
        What it returned.
    paths : PathsAlone
        Times alone: the simulator's, with the same transport.

    Returns
    -------
    RunResult
    """
    scenario, flows, replication = asked.scenario, asked.flows, asked.replication
    shown = KernelDiscipline(asked.discipline.id, asked.discipline.options, asked.discipline.written)
    tcp, before = scenario.tcp, asked.probing.count
    net, full_packet = network_of(scenario), tcp.mss + tcp.headers_bytes
    settings = native_settings(scenario, asked.discipline, asked.seed, largest(flows))
    settings["transports"] = asked.dealt.native
    labels = {"discipline": pl.lit(shown.label), "replication": pl.lit(replication, dtype=pl.Int32)}
    own = told["flows"][before:]
    records = records_frame(flows, own, tcp)
    alone = paths.response(net, settings, records, full_packet, replication, asked.dealt.numbers[before:])
    ran = records.with_columns(slowdown=pl.col("response_time_s") / alone, **labels)
    records = begun(ran)
    samples = samples_frame(told["samples"], len(largest(flows))).with_columns(**labels)
    traced = packets_frame(scenario, asked.laid, asked.probed, told["flows"])
    idle_rtt_s = None
    if PING in asked.probing.names:
        alone_ping = ping_alone(asked.probed)
        idle_rtt_s = idle_rtt(settings, native_flows(alone_ping, full_packet, net.numbers(alone_ping)))
    sent = asked.probing.workload_only(traced)
    heard, packets = asked.calls.heard(sent, chosen_rows(flows, scenario.trace))
    trains = trains_of(flows, own) if "script" in flows.columns else pl.DataFrame()
    probed = probes_frame(told["flows"][:before])
    tables = tables_of(flows, ran, trains, probed, sent.filter(pl.col("flow_id").is_in(asked.calls.rows)))
    return RunResult(
        shown,
        replication,
        records,
        samples,
        _counters(asked, told, records),
        None,
        packets=with_ids(packets, flows).with_columns(**labels),
        trains=trains.with_columns(**labels) if trains.width else trains,
        probes=asked.probing.packets(probed),
        idle_rtt_s=idle_rtt_s,
        calls=heard,
        interfaces=_interfaces(asked, told),
        observed=_observed(asked, settings, tables),
    )


def _observed(asked: Job, settings: dict[str, Any], tables: dict[str, Any]) -> _native.Observed:
    """What the run has for its users to feel."""
    scenario, before = asked.scenario, asked.probing.count
    full_packet, net = scenario.tcp.mss + scenario.tcp.headers_bytes, network_of(scenario)
    traced = [before + row for row in asked.calls.rows]
    ends = net.numbers(asked.probed)
    columns = native_flows(asked.probed, full_packet, ends, transports=asked.dealt.numbers)
    facts = with_calls(facts_of(asked.flows, asked.probing.names), asked.calls.rows)
    # The queues have done their work.
    queues: dict[str, Any] = dict.fromkeys(("discipline", "reverse_discipline"), ("fifo", []))
    given = settings | queues | {"traced": traced} | asked.probing.settings
    try:
        return _native.observed(json.dumps(given), columns, facts, tables)
    except ValueError as error:
        raise MayflyError(str(error)) from None


def _counters(asked: Job, told: dict[str, Any], records: pl.DataFrame) -> dict[str, Any]:
    """Totals after the warm-up, by the names of the simulator's; None for what the kernel does not tell."""
    begin, end = asked.scenario.warm_up, told["end_s"]
    seconds = max(end - begin, 1e-9)
    queues, watched = queues_of(asked, told), asked.laid.watched
    forward, reverse = queues[2 * watched : 2 * watched + 2]
    udp = records.filter(pl.col("protocol") == "udp")
    unknown = ("flow_table_mean", "flow_table_max", "flow_table_bytes", "cpu_s", "packet_hops")
    return dict.fromkeys(unknown) | {
        "begin_ns": round(begin * 1e9),
        "end_ns": round(end * 1e9),
        "drops": forward["drops"],
        "marks": packets_marked(told["leaf"], told["leaf"].get("options") or {}),
        "utilisation": forward["sent_bytes"] * 8 / seconds / forward["rate_bps"],
        "queue_mean_packets": forward["queue_mean_packets"],
        "throughput_down_mbps": forward["sent_bytes"] * 8e-6 / seconds,
        "throughput_up_mbps": reverse["sent_bytes"] * 8e-6 / seconds,
        "reverse_drops": reverse["drops"],
        "reverse_utilisation": reverse["sent_bytes"] * 8 / seconds / reverse["rate_bps"],
        "reverse_queue_mean_packets": reverse["queue_mean_packets"],
        "udp_packets": int(udp["packets_sent"].sum()),
        "udp_lost": int(udp["drops"].sum()),
        "queueing_delay": {"packets": 0, "mean_s": None, "deviation_s": None, "max_s": None},
        "beyond_trace": 0,
        "beyond_subflows": 0,
    }


def _interfaces(asked: Job, told: dict[str, Any]) -> list[dict[str, Any]]:
    """Totals of every interface of a network of several links; null is what the kernel does not tell."""
    graph = graph_of(asked.scenario)
    if not graph:
        return []
    unknown = dict.fromkeys(("marks", "lost", "nonresponsive_estimate"))
    rows = [{"arrivals": row["sent"] + row["drops"]} | row | unknown for row in queues_of(asked, told)]
    times = {"begin_ns": round(asked.scenario.warm_up * 1e9), "end_ns": round(told["end_s"] * 1e9)}
    return totals(graph.named_rates(), rows, times)


def queues_of(asked: Job, told: dict[str, Any]) -> list[dict[str, Any]]:
    """What every interface did after the warm-up, in order.

    Parameters
    ----------
    asked : Job
        What a guest ran.
    told : dict
        What it returned.

    Returns
    -------
    list of dict
        ``rate_bps``, ``drops``, ``sent`` (packets), ``sent_bytes``, ``queue_mean_packets``.
    """
    ways = [way for link in asked.laid.links for way in link["ways"]]
    means = [row["means"] for row in told["samples"] if row["time_s"] > asked.scenario.warm_up]
    found = []
    for place, (way, first, last) in enumerate(zip(ways, told["first"], told["last"], strict=True)):
        own = [row[place] for row in means]
        found.append(
            {
                "rate_bps": way["rate_bps"],
                "drops": last["drops"] - first["drops"],
                "sent": last["packets"] - first["packets"],
                "sent_bytes": last["bytes"] - first["bytes"],
                "queue_mean_packets": sum(own) / len(own) if own else None,
            }
        )
    return found


def run_many(
    scenario: Scenario,
    chosen: Sequence[Discipline],
    flows: pl.DataFrame | None = None,
    progress: Progress | None = None,
) -> tuple[list[RunResult], list[str]]:
    """Runs every discipline on the same flows, a guest each.

    Parameters
    ----------
    scenario : Scenario
        Its ``replications`` says how many lists are drawn.
    chosen : sequence of Discipline
        What to compare.
    flows : polars.DataFrame, optional
        In place of the scenario's workload.
    progress : callable, optional
        Called with the fraction done as runs end.

    Returns
    -------
    list of RunResult
        By discipline, then replication.
    list of str
        What to know of the comparison.

    Raises
    ------
    MayflyError
        Something that the kernel does not have; no kernel.
    """
    refuse(scenario)
    transport = transport_of(scenario.tcp)
    for discipline in chosen:
        leaf_of(discipline)
    if flows is not None and scenario.replications > 1:
        raise MayflyError(f"replications = {scenario.replications}: a given list of flows is one workload: must be 1")
    given = None if flows is None else starting_in_time(flows, scenario.duration)
    lists = [workload(scenario, k) if given is None else given for k in range(scenario.replications)]
    for own in lists:
        refuse_flows(scenario, own)
        for discipline in chosen:
            guest_settings(scenario, discipline, own)
    guest.kernel()
    paths = PathsAlone()
    jobs = [(discipline, k) for discipline in chosen for k in range(scenario.replications)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pending = [pool.submit(run_one, scenario, one, lists[k], k, paths) for one, k in jobs]
        for done, future in enumerate(as_completed(pending), start=1):
            future.result()
            if progress is not None:
                progress(done / len(jobs))
    results = [future.result() for future in pending]
    return [run for run, _ in results], _notes(results[0][1], transport, chosen)


def _notes(release: str, transport: Transport, chosen: Sequence[Discipline]) -> list[str]:
    notes = [f"(linux): TCP and disciplines of Linux {release} in virtual time"]
    if transport.other:
        notes.append(f"the kernel's TCP has its own value, in parentheses, for {', '.join(transport.other)}")
    notes += [f"{one.label} in the kernel: {found}" for one in chosen if (found := differences(one))]
    return notes
