"""A scenario in the Linux kernel: its TCP and its disciplines in virtual time, records as of the simulator."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, number
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
from mayfly.simulate.network.dumbbell import hosts
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import Progress, RunResult, largest, native_settings, starting_in_time, workload

MOST_HOSTS = 250
"""Hosts of a side: a namespace each."""

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
    if scenario.trace:
        raise MayflyError(f"trace = {scenario.trace[0]}: --engine linux traces no packets")
    if scenario.subflows:
        raise MayflyError("subflows = true: --engine linux keeps no table of sub-flows")
    if scenario.mark_of:
        raise MayflyError(f"mark_of.{next(iter(scenario.mark_of))}: --engine linux marks no packets")
    if scenario.probes.any:
        raise MayflyError("probes: must be off with --engine linux, which has none")


def refuse_flows(flows: pl.DataFrame) -> None:
    """Refuses flow lists with what the kernel engine cannot do.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list.

    Raises
    ------
    MayflyError
        The first column in the way.
    """
    for name, what in (
        ("rtt_s", "round-trip times of single flows"),
        ("stage", "flows that wait for others"),
        ("after", "flows that wait for others"),
        ("script", "scripts"),
        ("bursts", "UDP flows of another kind than constant rate"),
        ("mark", "marks of packets"),
    ):
        if name in flows.columns and flows[name].null_count() < flows.height:
            raise MayflyError(f"{name}: --engine linux has no {what}")
    for name, numbers in zip(("src", "dst"), hosts(flows), strict=True):
        if (count := int(numbers.max()) + 1) > MOST_HOSTS:
            raise MayflyError(f"{name}: {count} hosts: must be at most {MOST_HOSTS} at a side with --engine linux")


def guest_settings(scenario: Scenario, discipline: Discipline, flows: pl.DataFrame) -> dict[str, Any]:
    """A run as ``kernel/uml/flow_list.py`` takes it.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.

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
    reverse_rate = network.reverse_rate or network.rate
    reverse = discipline if network.reverse_discipline == "same" else parse(network.reverse_discipline)
    interval = scenario.sample_interval
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    udp = flows.filter(pl.col("protocol") == "udp")
    longest = int(number(udp["packet_bytes"].fill_null(full).max() or 0))
    return {
        "hosts": _hosts(scenario, flows),
        "rate_bps": network.rate,
        "reverse_rate_bps": reverse_rate,
        "delay_s": network.delay,
        "overhead_bytes": transport.overhead_bytes,
        # Room for UDP packets: TCP's segments are bounded by the route.
        "mtu": max(transport.mtu_bytes, longest - scenario.tcp.header + 40),
        "mss": scenario.tcp.mss,
        "window_bytes": transport.window_bytes,
        "leaf": leaf_words(discipline, _place(scenario, network.buffer, network.rate)),
        "reverse_leaf": leaf_words(reverse, _place(scenario, network.reverse_buffer or network.buffer, reverse_rate)),
        "route": transport.route,
        "sysctl": transport.sysctl,
        "module_parameters": transport.module_parameters,
        "duration_s": scenario.duration,
        "warm_up_s": scenario.warm_up,
        "stop_when_idle": scenario.stop_when_idle,
        "sample_interval_s": scenario.duration / 1000 if interval is None else interval,
        "looks": LOOKS,
        "watched": largest(flows),
        "flows": _flow_rows(scenario, transport, flows),
    }


def _place(scenario: Scenario, buffer: tuple[int, str], rate_bps: int) -> Place:
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    limit, unit = buffer
    in_transmission = 1 if scenario.network.buffer_counts_transmission else 0
    return Place(limit - in_transmission * (1 if unit == "packets" else full), unit, full, rate_bps)


def _sides(flows: pl.DataFrame) -> tuple[Floats, Floats, int]:
    """Number of either end of each flow among all hosts, the left ones first, and how many of these there are."""
    src, dst = hosts(flows)
    up = (flows["direction"] == "up").to_numpy()
    left = int(np.where(up, dst, src).max()) + 1
    return np.where(up, src + left, src), np.where(up, dst, dst + left), left


def _hosts(scenario: Scenario, flows: pl.DataFrame) -> list[dict[str, Any]]:
    network = scenario.network
    src, dst, left = _sides(flows)
    to_bps = network.exit_rate or network.access_rate
    near = {"side": "left", "out_bps": network.access_rate, "in_bps": network.access_rate}
    far = {"side": "right", "out_bps": network.exit_rate_up or to_bps, "in_bps": to_bps}
    right = int(max(src.max(), dst.max())) + 1 - left
    return [
        *({**near, "number": number, "delay_s": network.access_delay} for number in range(left)),
        *({**far, "number": number, "delay_s": network.exit_delay} for number in range(right)),
    ]


def _flow_rows(scenario: Scenario, transport: Transport, flows: pl.DataFrame) -> list[dict[str, Any]]:
    tcp = scenario.tcp
    src, dst, _ = _sides(flows)
    rows = []
    dealt = transports.dealt(scenario, flows)
    all_of_them = [transport, *(own_transport(name, own, tcp) for name, own in dealt.own)]
    told = flows.select("start_s", "size_bytes", "protocol", "opened_by", "packet_bytes", "rate_bps").iter_rows(
        named=True
    )
    for place, (row, of) in enumerate(zip(told, dealt.numbers, strict=True)):
        one = {"start_s": row["start_s"], "src": int(src[place]), "dst": int(dst[place])}
        if row["protocol"] == "udp":
            packet = row["packet_bytes"] or tcp.mss + tcp.headers_bytes
            one |= {
                "udp": True,
                "packets": -(-row["size_bytes"] // (packet - UDP_HEADER_BYTES)),
                "payload_bytes": packet - UDP_HEADER_BYTES - (tcp.header - 40),
                "gap_s": packet * 8 / row["rate_bps"],
            }
            if one["payload_bytes"] < 1:
                raise MayflyError(f"packet_bytes = {packet}: must leave room for {tcp.header - 12} bytes of headers")
        else:
            own = all_of_them[of]
            one |= {"udp": False, "size_bytes": row["size_bytes"], "receiver_opens": row["opened_by"] == "receiver"}
            one |= {"congestion": own.congestion, "paced": own.paced}
        rows.append(one)
    return rows


def run_one(
    scenario: Scenario, discipline: Discipline, flows: pl.DataFrame, replication: int, paths: PathsAlone
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
    shown = KernelDiscipline(discipline.id, discipline.options, discipline.written)
    told = guest.run(guest_settings(scenario, discipline, flows), leaf_of(discipline).module)
    tcp = scenario.tcp
    settings = native_settings(scenario, discipline, scenario.seed + replication, largest(flows))
    labels = {"discipline": pl.lit(shown.label), "replication": pl.lit(replication, dtype=pl.Int32)}
    records = records_frame(flows, told["flows"], tcp)
    dealt = transports.dealt(scenario, flows)
    settings["transports"] = dealt.native
    full_packet = tcp.mss + tcp.headers_bytes
    alone = paths.response(network_of(scenario), settings, records, full_packet, replication, dealt.numbers)
    records = records.with_columns(slowdown=pl.col("response_time_s") / alone, **labels)
    samples = samples_frame(told["samples"], len(largest(flows))).with_columns(**labels)
    counters = _counters(scenario, told, records)
    return RunResult(shown, replication, records, samples, counters, None), told["kernel"]


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
        refuse_flows(own)
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
