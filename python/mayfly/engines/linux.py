"""A scenario in the Linux kernel: its TCP and its disciplines in virtual time, records as of the simulator."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Floats, Integers, number
from mayfly.discipline_registry import Discipline, parse
from mayfly.discipline_registry.leaves import Place, differences, leaf_of, leaf_words
from mayfly.engines import guest
from mayfly.engines.records import records_frame, samples_frame
from mayfly.engines.transport import Transport, own_transport, transport_of
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import transports
from mayfly.simulate.alone import PathsAlone
from mayfly.simulate.columns import marks
from mayfly.simulate.network.dumbbell import hosts
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import Progress, RunResult, largest, native_settings, starting_in_time, workload
from mayfly.simulate.traces import chosen_rows
from mayfly.tables import native
from mayfly.workload.lists import ENDLESS_BYTES

MOST_HOSTS = 250
"""Hosts of a side: a namespace each; where there are more, those that only have UDP share one."""

MOST_CROWD = 2**21 - 2
"""Hosts of a side that share a namespace: the addresses of their network."""

MOST_MARKS = 63
"""Marks but 0: a code each in the DSCP of packets."""

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
    network = scenario.network
    if network.wlan is not None:
        raise MayflyError("network.wlan: --engine linux has wired dumbbells only")
    if network.topology != "dumbbell":
        raise MayflyError(f"network.topology = {network.topology}: --engine linux has dumbbells only")
    if network.loss:
        raise MayflyError(f"network.loss = {network.loss}: must be 0 with --engine linux")
    if network.impairment:
        raise MayflyError("network.impairment: must be absent with --engine linux")
    if network.shaper is not None:
        raise MayflyError("network.shaper: must be absent with --engine linux")
    if network.link_trace is not None or network.reverse_link_trace is not None:
        raise MayflyError("network.link_trace: must be absent with --engine linux, whose links have one rate")
    if network.reverse_delay not in (None, network.delay):
        raise MayflyError("network.reverse_delay: must be absent with --engine linux, whose links have one delay")
    if scenario.subflows:
        raise MayflyError("subflows = true: --engine linux keeps no table of sub-flows")
    if scenario.probes.any:
        raise MayflyError("probes: must be off with --engine linux, which has none")


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
    for name, what in (
        ("stage", "flows that wait for others"),
        ("after", "flows that wait for others"),
        ("script", "scripts"),
        ("application", "applications in the loop"),
        ("bursts", "UDP flows of another kind than constant rate"),
    ):
        if name in flows.columns and flows[name].null_count() < flows.height:
            raise MayflyError(f"{name}: --engine linux has no {what}")
    chosen = chosen_rows(flows, scenario.trace)
    if chosen and (flows["protocol"][chosen] == "tcp").any():
        raise MayflyError(f"trace = {scenario.trace[0]}: --engine linux traces flows of UDP only")


def guest_settings(
    scenario: Scenario, discipline: Discipline, flows: pl.DataFrame, dealt: transports.Dealt | None = None
) -> dict[str, Any]:
    """A run as ``kernel/uml/flow_list.py`` takes it.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.
    dealt : Dealt, optional
        Their transports, where they are known.

    Returns
    -------
    dict
        For JSON.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    network, transport = scenario.network, transport_of(scenario.tcp)
    places = _places(scenario, flows)
    codes = _codes(scenario, flows)
    interval = scenario.sample_interval
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    udp = flows.filter(pl.col("protocol") == "udp")
    longest = int(number(udp["packet_bytes"].fill_null(full).max() or 0))
    return {
        "hosts": places.hosts,
        "rate_bps": network.rate,
        "reverse_rate_bps": network.reverse_rate or network.rate,
        "delay_s": network.delay,
        "overhead_bytes": transport.overhead_bytes,
        # Room for UDP packets: TCP's segments are bounded by the route.
        "mtu": max(transport.mtu_bytes, longest - scenario.tcp.header + 40),
        "mss": scenario.tcp.mss,
        "window_bytes": transport.window_bytes,
        **leaves_of(scenario, discipline),
        "route": transport.route,
        # The answer to a SYN carries the code of the SYN.
        "sysctl": transport.sysctl | ({"net.ipv4.tcp_reflect_tos": "1"} if codes else {}),
        "module_parameters": transport.module_parameters,
        "duration_s": scenario.duration,
        "warm_up_s": scenario.warm_up,
        "stop_when_idle": scenario.stop_when_idle,
        "sample_interval_s": scenario.duration / 1000 if interval is None else interval,
        "looks": LOOKS,
        "watched": largest(flows),
        "rtt_interval_s": RTT_INTERVAL_S,
        "marks": {str(code): value for value, code in codes.items()},
        "flows": _flow_rows(scenario, transport, flows, places, dealt or transports.dealt(scenario, flows), codes),
    }


def leaves_of(scenario: Scenario, discipline: Discipline) -> dict[str, Any]:
    """The disciplines of the two directions.

    Parameters
    ----------
    scenario : Scenario
    discipline : Discipline
        Of the forward queue.

    Returns
    -------
    dict
        ``leaf``, ``reverse_leaf`` as tc takes them; ``leaf_shapes``, ``reverse_leaf_shapes``: whether with a shaper of
        their own.

    Raises
    ------
    MayflyError
        What the kernel does not have.
    """
    network = scenario.network
    reverse = discipline if network.reverse_discipline == "same" else parse(network.reverse_discipline)
    shapes, back_shapes = (leaf_of(one).shapes for one in (discipline, reverse))
    here = _place(scenario, network.buffer, network.rate, shapes)
    back_buffer = network.reverse_buffer or network.buffer
    back = _place(scenario, back_buffer, network.reverse_rate or network.rate, back_shapes)
    return {
        "leaf": leaf_words(discipline, here),
        "leaf_shapes": shapes,
        "reverse_leaf": leaf_words(reverse, back),
        "reverse_leaf_shapes": back_shapes,
    }


def _place(scenario: Scenario, buffer: tuple[int, str], rate_bps: int, shapes: bool) -> Place:
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    limit, unit = buffer
    in_transmission = 1 if scenario.network.buffer_counts_transmission else 0
    overhead = transport_of(scenario.tcp).overhead_bytes
    return Place(limit - in_transmission * (1 if unit == "packets" else full), unit, full, rate_bps, overhead, shapes)


@dataclass(frozen=True)
class Ends:
    """Where flows begin and end.

    Parameters
    ----------
    hosts : list of dict
        As the guest takes them, left ones first.
    src, dst : ndarray, shape (n_flows,)
        Number of either end among all hosts.
    """

    hosts: list[dict[str, Any]]
    src: Floats
    dst: Floats


def _places(scenario: Scenario, flows: pl.DataFrame) -> Ends:
    network = scenario.network
    src, dst = hosts(flows)
    up = (flows["direction"] == "up").to_numpy()
    left, right = np.where(up, dst, src), np.where(up, src, dst)
    udp = (flows["protocol"] == "udp").to_numpy()
    to_bps = network.exit_rate or network.access_rate
    near = {"side": "left", "out_bps": network.access_rate, "in_bps": network.access_rate}
    far = {"side": "right", "out_bps": network.exit_rate_up or to_bps, "in_bps": to_bps}
    delays = _access_delays(scenario, flows, left)
    found = [
        *(near | row | {"delay_s": delays[k]} for k, row in enumerate(_numbered("src", left, udp))),
        *(far | row | {"delay_s": network.exit_delay} for row in _numbered("dst", right, udp)),
    ]
    count = int(left.max()) + 1
    return Ends(found, np.where(up, right + count, left), np.where(up, left, right + count))


def _numbered(name: str, of_flows: Integers, udp: Booleans) -> list[dict[str, Any]]:
    """The hosts of a side: ``number`` and whether it is of the ``crowd``."""
    count = int(of_flows.max()) + 1
    crowd = np.ones(count, dtype=bool)
    crowd[of_flows[~udp]] = False
    if count <= MOST_HOSTS:
        crowd[:] = False
    if (many := int((~crowd).sum())) > MOST_HOSTS:
        raise MayflyError(f"{name}: {many} hosts with TCP: must be at most {MOST_HOSTS} at a side with --engine linux")
    if (many := int(crowd.sum())) > MOST_CROWD:
        raise MayflyError(f"{name}: {many} hosts: must be at most {MOST_CROWD} at a side with --engine linux")
    numbers = np.where(crowd, np.cumsum(crowd), np.cumsum(~crowd)) - 1
    return [{"number": int(number), "crowd": bool(one)} for number, one in zip(numbers, crowd, strict=True)]


def _access_delays(scenario: Scenario, flows: pl.DataFrame, left: Integers) -> list[float]:
    """One-way delay of the access link of each host at the left: what makes up the round-trip time of its flows."""
    network = scenario.network
    found = [network.access_delay] * (int(left.max()) + 1)
    if flows["rtt_s"].null_count() == flows.height:
        return found
    own = flows.select(host=pl.Series(left), rtt_s="rtt_s")
    for host, times in own.group_by("host").agg(pl.col("rtt_s").unique()).sort("host").iter_rows():
        if len(times) > 1:
            raise MayflyError("rtt_s: flows of one host must have one round-trip time with --engine linux")
        if times[0] is None:
            continue
        found[host] = times[0] / 2 - network.delay - network.exit_delay
        if found[host] < 0:
            least = 2e3 * (network.delay + network.exit_delay)
            raise MayflyError(f"rtt_s = {times[0]:g}: must be at least {least:g} ms, that of the other links")
    return found


def _codes(scenario: Scenario, flows: pl.DataFrame) -> dict[int, int]:
    """A code from 1 for each mark but 0."""
    values = sorted({int(value) for value in marks(flows, scenario.mark_of)} - {0})
    if len(values) > MOST_MARKS:
        raise MayflyError(f"mark: {len(values)} marks: must be at most {MOST_MARKS} with --engine linux")
    return {value: code for code, value in enumerate(values, start=1)}


def _flow_rows(
    scenario: Scenario,
    transport: Transport,
    flows: pl.DataFrame,
    ends: Ends,
    dealt: transports.Dealt,
    codes: dict[int, int],
) -> list[dict[str, Any]]:
    tcp = scenario.tcp
    rows = []
    all_of_them = [transport, *(own_transport(name, own, tcp) for name, own in dealt.own)]
    told = flows.select("start_s", "size_bytes", "protocol", "opened_by", "packet_bytes", "rate_bps").iter_rows(
        named=True
    )
    traced, marked = set(chosen_rows(flows, scenario.trace)), marks(flows, scenario.mark_of)
    for place, (row, of) in enumerate(zip(told, dealt.numbers, strict=True)):
        one = {"start_s": row["start_s"], "src": int(ends.src[place]), "dst": int(ends.dst[place])}
        one |= {"code": codes.get(int(marked[place]), 0)}
        if row["protocol"] == "udp":
            packet = row["packet_bytes"] or tcp.mss + tcp.headers_bytes
            one |= {
                "udp": True,
                "packets": -(-row["size_bytes"] // (packet - UDP_HEADER_BYTES)),
                "payload_bytes": packet - UDP_HEADER_BYTES - (tcp.header - 40),
                "gap_s": packet * 8 / row["rate_bps"],
                "traced": place in traced,
            }
            if one["payload_bytes"] < (8 if one["traced"] else 1):
                raise MayflyError(
                    f"packet_bytes = {packet}: must leave room for {tcp.header - 12} bytes of headers"
                    + (", and 8 to trace it" if one["traced"] else "")
                )
        else:
            own = all_of_them[of]
            one |= {"udp": False, "size_bytes": row["size_bytes"], "receiver_opens": row["opened_by"] == "receiver"}
            one |= {"congestion": own.congestion, "paced": own.paced, "endless": row["size_bytes"] >= ENDLESS_BYTES}
        rows.append(one)
    return rows


def _packets(
    scenario: Scenario, settings: dict[str, Any], flows: pl.DataFrame, told: list[dict[str, Any]]
) -> pl.DataFrame:
    """Packets of the flows that are traced: what is not time in the queue of their way is known of the links."""
    rows: dict[str, list[Any]] = {name: [] for name in ("row", "number", "wire_bytes", *_TIMES)}
    network, full = scenario.network, scenario.tcp.mss + scenario.tcp.headers_bytes
    for row in chosen_rows(flows, scenario.trace):
        one, sent = settings["flows"][row], told[row]["sent_s"]
        near, far = (settings["hosts"][one[end]] for end in ("src", "dst"))
        length = flows["packet_bytes"][row] or full
        rate_bps = settings["rate_bps" if flows["direction"][row] == "down" else "reverse_rate_bps"]
        before_s = 8 * length / near["out_bps"] + near["delay_s"]
        after_s = 8 * length / rate_bps + network.delay + 8 * length / far["in_bps"] + far["delay_s"]
        for index, (at, came) in enumerate(zip(sent, told[row]["received_s"], strict=True)):
            queued = at + before_s
            # netem counts whole microseconds of delay: no packet leaves before it comes.
            left = None if came is None else max(queued, came - after_s)
            values = (row, index, length, at, queued, left, came)
            for name, value in zip(("row", "number", "wire_bytes", *_TIMES), values, strict=True):
                rows[name].append(value)
    ids = flows["flow_id"].to_numpy()[np.array(rows.pop("row"), dtype=np.int64)]
    return pl.DataFrame({"flow_id": ids, **rows, "dropped_s": None}, schema=native("packets").schema)


_TIMES = ("sent_s", "queued_s", "departed_s", "received_s")


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
    dealt = transports.dealt(scenario, flows)
    given = guest_settings(scenario, discipline, flows, dealt) | {"looks": looks}
    told = guest.run(given, leaf_of(discipline).module)
    return result_of(scenario, discipline, flows, replication, paths, given, told, dealt), told["kernel"]


def run_together(
    scenario: Scenario, chosen: Sequence[Discipline], flows: pl.DataFrame, looks: int = LOOKS
) -> list[RunResult]:
    """Runs disciplines one after the other in one guest, on the same dumbbell and flow list.

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
    dealt = transports.dealt(scenario, flows)
    given = [guest_settings(scenario, one, flows, dealt) | {"looks": looks} for one in chosen]
    modules = sorted({leaf_of(one).module for one in chosen} - {""})
    told = guest.run({"runs": given}, " ".join(modules), "leaves.py")
    paths = PathsAlone()
    rows = zip(chosen, given, told, strict=True)
    return [result_of(scenario, one, flows, 0, paths, asked, found, dealt) for one, asked, found in rows]


def result_of(
    scenario: Scenario,
    discipline: Discipline,
    flows: pl.DataFrame,
    replication: int,
    paths: PathsAlone,
    given: dict[str, Any],
    told: dict[str, Any],
    dealt: transports.Dealt,
) -> RunResult:
    """What a guest told as the result of a run.

    Parameters
    ----------
    scenario, discipline, flows, replication, paths
        As :func:`run_one` has them.
    given, told : dict
        What the guest was given (:func:`guest_settings`), and what it returned.
    dealt : Dealt
        Transports of the flows.

    Returns
    -------
    RunResult
    """
    shown = KernelDiscipline(discipline.id, discipline.options, discipline.written)
    tcp = scenario.tcp
    settings = native_settings(scenario, discipline, scenario.seed + replication, largest(flows))
    labels = {"discipline": pl.lit(shown.label), "replication": pl.lit(replication, dtype=pl.Int32)}
    records = records_frame(flows, told["flows"], tcp)
    settings["transports"] = dealt.native
    full_packet = tcp.mss + tcp.headers_bytes
    alone = paths.response(network_of(scenario), settings, records, full_packet, replication, dealt.numbers)
    records = records.with_columns(slowdown=pl.col("response_time_s") / alone, **labels)
    samples = samples_frame(told["samples"], len(largest(flows))).with_columns(**labels)
    counters = _counters(scenario, told, records)
    packets = _packets(scenario, given, flows, told["flows"]).with_columns(**labels)
    return RunResult(shown, replication, records, samples, counters, None, packets=packets)


def _counters(scenario: Scenario, told: dict[str, Any], records: pl.DataFrame) -> dict[str, Any]:
    """Totals after the warm-up, by the names of the simulator's; None for what the kernel does not tell."""
    begin, end = scenario.warm_up, told["end_s"]
    seconds = max(end - begin, 1e-9)
    first, last = told["first"], told["last"]
    down, up = (last[way]["bytes"] - first[way]["bytes"] for way in ("forward", "reverse"))
    queue = [row["queue_mean_packets"] for row in told["samples"] if row["time_s"] > begin]
    udp = records.filter(pl.col("protocol") == "udp")
    unknown = ("flow_table_mean", "flow_table_max", "flow_table_bytes", "cpu_s", "packet_hops")
    return dict.fromkeys(unknown) | {
        "begin_ns": round(begin * 1e9),
        "end_ns": round(end * 1e9),
        "drops": last["forward"]["drops"] - first["forward"]["drops"],
        "marks": _marks(told["leaf"]),
        "utilisation": down * 8 / seconds / scenario.network.rate,
        "queue_mean_packets": sum(queue) / len(queue) if queue else None,
        "throughput_down_mbps": down * 8e-6 / seconds,
        "throughput_up_mbps": up * 8e-6 / seconds,
        "udp_packets": int(udp["packets_sent"].sum()),
        "udp_lost": int(udp["drops"].sum()),
        "queueing_delay": {"packets": 0, "mean_s": None, "deviation_s": None, "max_s": None},
        "beyond_trace": 0,
        "beyond_subflows": 0,
    }


def _marks(leaf: dict[str, Any]) -> int:
    """Packets marked in the whole run: tc has a name for each discipline."""
    tins = leaf.get("tins", [leaf])
    return sum(
        int(row.get(name, 0)) for row in tins for name in ("marked", "ecn_mark", "ecn_mark_packets", "forced_mark")
    )


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
