"""A capture as a scenario and a list of flows: what `whatif` runs under each discipline."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.comparison.busiest import busiest_sentence
from mayfly.comparison.worst import ends_of
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError, given
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.link_trace.files import read_trace
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import Progress, RunResult, run_many, starting_in_time
from mayfly.simulate.traces import CALL
from mayfly.summary_types import Accounted
from mayfly.text import quantity
from mayfly.text.pages import in_pages
from mayfly.text.readable import printable
from mayfly.workload.account import account_of, started
from mayfly.workload.capture import RTT_BOUNDS_S
from mayfly.workload.doubts import partial_sentences
from mayfly.workload.mix import offered, scale_load
from mayfly.workload.quic import QUIC
from mayfly.workload.replayed import (
    CAPTURED,
    CAPTURED_FOR,
    FORMS,
    LASTED,
    Captured,
    closed,
    flows_of,
    read_options,
    refuse_clock_jump,
)
from mayfly.workload.sides import networks_of
from mayfly.workload.sieve import nothing_passes, sieve_sentences
from mayfly.workload.udp_share import UdpShare

if TYPE_CHECKING:
    from mayfly.profile.link import LinkGuess

_DRAIN_S = 60.0
"""Time after the last start of the capture for transfers to end, at least; as long again as the capture when longer."""

_PROBED_S = 3600.0
"""Probes measure the first hour at most: beyond, their packets would be more than those of many a capture."""

_LEAST_PROBED_S = 10.0
"""... and as long as a playout buffer takes to adapt, at least."""

_ENDS = ("opener", "opener_port", "responder", "responder_port")
_OF_CONNECTIONS = (
    *("protocol", *_ENDS, "start_s", "end_s"),
    *(f"{end}_{name}" for end in ("opener", "responder") for name in ("packets", "wire_bytes")),
)
"""Columns of connections that accounts, busiest minutes and names of hosts are made of."""

_PROBES = {"probes.ping": True, "probes.call": True}


@dataclass(frozen=True)
class Replay:
    """A capture, ready to run.

    Parameters
    ----------
    scenario : Scenario
        Link, hosts, probes.
    flows : polars.DataFrame, shape (n_flows, ...)
        For :func:`run_replay`; with ``connection_id``, at the times of the capture.
    span_s : float
        How long packets came, s.
    replay : str
        One of :data:`mayfly.workload.replayed.FORMS`.
    load : float or None
        That was asked for.
    hours : int or None
        Resampled ones that were asked for.
    packets : dict of int
        ``mss`` and ``header_bytes`` of the replay.
    guess : LinkGuess or None
        Of the link, where it was not given.
    doubts : list of str
    missing : list of str
        What of the capture is left out or was assumed, in sentences.
    partial : str or None
        A sentence where the capture was not read to its end.
    rtt_s : float or None
        Median round-trip time that was asked for, s.
    udp : UdpShare
        How much of the capture is QUIC and other UDP.
    left_out : float
        Share of the capture that is in no connection, of its packets or of its bytes.
    framing : tuple of int and bool
        Bytes around each packet of IP, 0 of plain Ethernet; whether near addresses may be translated on their way.
    sieved : list of str
        How many packets a filter left out, and that addresses are anonymized.
    ends : polars.DataFrame, shape (n_connections, 5)
        Of :func:`mayfly.comparison.worst.ends_of`.
    account : Accounted
        How much of the capture was seen, used and left out by reason; connections without a flow are ``aside``.
    busiest : str, optional
        Where the busiest minutes of a long capture are.
    """

    scenario: Scenario
    flows: pl.DataFrame
    span_s: float
    replay: str
    load: float | None
    hours: int | None
    packets: dict[str, int]
    guess: "LinkGuess | None"
    doubts: list[str]
    missing: list[str]
    partial: str | None
    rtt_s: float | None
    udp: UdpShare
    left_out: float
    framing: tuple[int, bool]
    sieved: list[str]
    ends: pl.DataFrame
    account: Accounted
    busiest: str | None = None


def replay_of(
    capture: str | os.PathLike[str],
    rate: str | int | None = None,
    buffer: str | int | None = None,
    *,
    internal: Sequence[str] | None = None,
    load: float | str | None = None,
    replay: str | None = None,
    rtt: str | float | None = None,
    overrides: dict[str, Any] | None = None,
) -> Replay:
    """A capture over a link.

    Parameters
    ----------
    capture, rate, buffer, internal, load, replay, rtt, overrides
        As :func:`mayfly.comparison.whatif.whatif` takes them.

    Returns
    -------
    Replay

    Raises
    ------
    MayflyError
        As there.
    """
    # Who waits offers no load of his own.
    replay = replay or ("users" if load is None else "transfers")
    guess = None
    if rate is None or buffer is None:
        from mayfly.profile.link import guessed_link

        rate, buffer, guess = guessed_link(capture, rate, buffer, internal)
    load = None if load is None else quantity.share(load, given("--load"))
    rtt_s = None if rtt is None else _round_trip_s(rtt)
    scenario = load_scenario("whatif", _PROBES | _both_ways(rate, buffer) | (overrides or {}))
    # Of a capture there is one draw: replications are hours resampled from it, not runs with other seeds.
    asked = scenario.replications if "replications" in scenario.model_fields_set else None
    scenario = scenario.override(replications=1)
    own_header = "tcp.header" in (overrides or {})
    found, counts, connections, scenario = _read(capture, internal, replay, scenario, own_header)
    scenario = _with_datagrams(scenario, found.quic_datagram_bytes)
    network = scenario.network
    rates_bps = float(network.rate), float(network.reverse_rate or network.rate)
    flows, lacking, path_rtt_s, asides = flows_of(found, rates_bps, rtt_s=rtt_s, scaled=load is not None)
    partial = ". ".join(partial_sentences(counts)) or None
    if load is not None:
        # In a slower time a call is none, and who waits offers no load of his own.
        flows = flows.drop(CALL, LASTED, strict=False)
    packets = {"mss": scenario.tcp.mss, "header_bytes": scenario.tcp.headers_bytes}
    span_s = max(found.lasted_s, offered(flows, **packets)["span_s"])
    if load is not None:
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
    refuse_clock_jump(flows["start_s"].drop_nulls().cast(pl.Float64).to_numpy(), str(capture), span_s)
    if "duration" not in scenario.model_fields_set:
        scenario = scenario.override(duration=span_s + max(_DRAIN_S, span_s))
    if CALL in flows.columns and "probes.call" not in (overrides or {}):
        scenario = scenario.override(probes=scenario.probes.model_dump(exclude_unset=True) | {"call": False})
    scenario = _probed(scenario, path_rtt_s, span_s)
    used = started(flows, scenario.duration)["connection_id"].unique().to_numpy().astype(np.uint64)
    account = account_of(counts, [capture], dict(asides.of(used)))
    return Replay(
        scenario=scenario,
        flows=in_pages(flows),
        span_s=span_s,
        replay=replay,
        load=load,
        hours=asked,
        packets=packets,
        guess=guess,
        doubts=found.doubts,
        missing=[*found.missing, *lacking],
        partial=partial,
        rtt_s=rtt_s,
        udp=UdpShare(*found.udp),
        left_out=found.left_out_share,
        framing=found.framing,
        sieved=sieve_sentences(counts),
        ends=ends_of(connections),
        account=account,
        busiest=None if "span" in counts else busiest_sentence(connections, found.lasted_s),
    )


def _with_datagrams(scenario: Scenario, datagram_bytes: int | None) -> Scenario:
    """The scenario with the datagrams that QUIC has in the capture, unless it gives their length itself."""
    given = scenario.model_dump(exclude_unset=True).get("transports", {})
    own = given.get(QUIC, {})
    if datagram_bytes is None or not {"preset", "mss"}.isdisjoint(own):
        return scenario
    mss = datagram_bytes + UDP_HEADER_BYTES - scenario.transport(QUIC).header
    return scenario.override(transports={**given, QUIC: {**own, "mss": mss}})


def _round_trip_s(rtt: str | float) -> float:
    """A round-trip time as given, within what a flow list may hold."""
    least_s, most_s = RTT_BOUNDS_S
    seconds = quantity.seconds(rtt, given("--rtt"))
    if not least_s <= seconds <= most_s:
        raise MayflyError(f"{given('--rtt')} {rtt}: must be 1 ns to {most_s:g} s")
    return seconds


def traced(
    rate: str | int | None, down: str | os.PathLike[str] | None, up: str | os.PathLike[str] | None
) -> tuple[str | int | None, dict[str, Any]]:
    """The rate of a link that varies, and its traces as fields of the scenario.

    Parameters
    ----------
    rate : str or int, optional
        As given.
    down, up : path, optional
        Traces.

    Returns
    -------
    str or int or None, dict
        The mean rates of the traces, else ``rate``; nothing without traces.

    Raises
    ------
    MayflyError
        A rate beside a trace, or a trace of up alone.
    """
    if down is None and up is None:
        return rate, {}
    if down is None:
        raise MayflyError(f"{given('--link-trace-up')} {up}: must be given with {given('--link-trace')}, which is down")
    if rate is not None:
        raise MayflyError(
            f"{given('--rate')} {quantity.shown(rate)[1:-1]}: must be left out with {given('--link-trace')}: "
            "the trace has the rate"
        )
    means = [round(read_trace(trace).mean_bps) for trace in (down, up) if trace is not None]
    fields = {"network.link_trace": os.fspath(down)}
    return "/".join(f"{mean}bit" for mean in means), fields | (
        {} if up is None else {"network.reverse_link_trace": os.fspath(up)}
    )


def run_replay(
    scenario: Scenario,
    disciplines: Sequence[Discipline],
    flows: pl.DataFrame,
    progress: Progress | None = None,
    *,
    stop: Callable[[], object] | None = None,
    ended: Callable[[list[RunResult]], None] | None = None,
) -> list[RunResult]:
    """Runs flows whose users wait for each other; of whom they waited for, the records tell nothing."""

    def told(runs: list[RunResult]) -> list[RunResult]:
        if LASTED not in flows.columns:
            return runs
        untold = ("stage", "after", CAPTURED, CAPTURED_FOR)
        return [replace(run, records=run.records.drop(untold, strict=False)) for run in runs]

    early = closed(starting_in_time(flows, scenario.duration))
    each = None if ended is None else lambda own: ended(told(own))
    return told(run_many(scenario, disciplines, early, progress, stop=stop, ended=each))


def _both_ways(rate: str | int, buffer: str | int) -> dict[str, Any]:
    """Rates and buffers of both directions, as fields of the scenario."""
    both = {name: quantity.both_ways(value, given(f"--{name}")) for name, value in (("rate", rate), ("buffer", buffer))}
    rates = [None if value is None else quantity.rate_bps(value, given("--rate")) for value in both["rate"]]
    down_buffer, up_buffer = both["buffer"]
    # A time is another number of bytes at another rate.
    if up_buffer is None and quantity.is_time(down_buffer):
        up_buffer = down_buffer
    buffers = [
        None
        if value is None
        else quantity.buffer(value, given("--buffer"), rate_bps=rates[1] if up and rates[1] else rates[0])
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


def _probed(scenario: Scenario, path_rtt_s: float | None, span_s: float) -> Scenario:
    """The scenario with probes for as long as its flows come, over a path like theirs."""
    if not scenario.probes.any:
        return scenario
    found = {"until": min(max(span_s, _LEAST_PROBED_S), _PROBED_S), "rtt": path_rtt_s}
    given = scenario.probes.model_dump(exclude_unset=True)
    return scenario.override(probes={name: value for name, value in found.items() if value is not None} | given)


def _read(
    capture: str | os.PathLike[str], internal: Sequence[str] | None, form: str, scenario: Scenario, own_header: bool
) -> tuple[_native.Replay, dict[str, Any], pl.DataFrame, Scenario]:
    """The capture, read for this form, what was counted, its connections, and the scenario with its headers."""
    if form not in FORMS:
        raise MayflyError(f"replay = {form!r}: must be {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    networks = None if internal is None else networks_of(internal)
    tcp = scenario.tcp
    options = read_options(form, initial_window=tcp.initial_window, delayed_ack=tcp.delayed_ack > 0)
    captured = Captured(capture, options)
    if nothing := nothing_passes(captured.counts):
        none = "no TCP connection with payload and no UDP flow to replay"
        raise MayflyError(f"{printable(capture)}: {none}: {nothing}")
    # The replay gives the connections back, which are most of what a long capture takes.
    connections = captured.connections(_OF_CONNECTIONS)
    # Headers of tunnels pass the link with each packet.
    if (around := captured.counts.get("tunnel_bytes", 0)) and not own_header:
        scenario = scenario.override(tcp=tcp.model_dump(exclude_unset=True) | {"header": tcp.header + around})
        tcp = scenario.tcp
    found = captured.replay(form, networks, mss=tcp.mss, header_bytes=tcp.headers_bytes, last=True)
    # Transfers at their times do not ask what the captured link did.
    untold = {"volumes_left_out": 0} if form in ("transfers", "packets") else {}
    return found, captured.counts | untold, connections, scenario
