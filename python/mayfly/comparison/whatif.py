"""The flows of a capture over a bottleneck of a given rate, under each discipline."""

import os
from collections.abc import Sequence
from typing import Any

import polars as pl

from mayfly.comparison.comparison import Comparison, gather
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import Progress, named, run_many
from mayfly.text import quantity

_DRAIN_S = 60.0
"""Time after the last start of the capture for transfers to end, at least; as long again as the capture when longer."""

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
) -> Comparison:
    """Replays the transfers of a capture over a bottleneck link.

    Parameters
    ----------
    capture : path
        pcap or pcapng, plain, in gzip or in Zstandard; ``-`` is the standard input.
    rate : str or int, optional
        Bottleneck rate, each direction: ``10mbit`` or bit/s. Guessed from the capture when absent
        (:func:`mayfly.profile.link.guess_link`); the guess is in ``summary["guess"]``, its doubt in
        ``summary["notes"]``.
    buffer : str or int, optional
        Limit of the bottleneck queues: packets, or bytes such as ``450kB``. Guessed as the rate.
    internal : sequence of str, optional
        Networks (CIDR) on the near side of the bottleneck; inferred when not given.
    load : float or str, optional
        Scales time so that the busier direction is offered this share of the rate, 0.01 to 10.
    apps : str, optional
        What connections do inside is replayed, too: ``tcp``, their trains, think times and paces; ``udp``, every packet
        when it was captured, whatever becomes of those before.
    disciplines : str or sequence of str, optional
        What to compare; the whole registry when not given.
    overrides : dict, optional
        Scenario fields by dotted name.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Comparison
        Tables and summary; ``summary["answer"]`` holds the answer in words.

    Raises
    ------
    MayflyError
        A capture, rate, buffer, network or load that makes no sense, or no plateau to guess the rate from.

    Notes
    -----
    Each direction of a TCP connection that carried payload becomes a transfer of its own: start, size and round-trip
    time as measured, the sender always having data. What a connection waited for (users, servers) is replayed with
    ``apps`` only (:mod:`mayfly.workload.apps`); the answer is then about trains instead of transfers.
    """
    from mayfly.metrics import answer
    from mayfly.profile.link import guessed_link
    from mayfly.workload.capture import refuse_clock_jump
    from mayfly.workload.mix import offered, scale_load

    rate, buffer, guess = guessed_link(capture, rate, buffer, internal)
    quantity.rate_bps(rate, "--rate")
    quantity.buffer(buffer, "--buffer")
    load = None if load is None else quantity.share(load, "--load")
    fixed = {"network.rate": rate, "network.buffer": buffer} | (overrides or {})
    scenario = load_scenario("whatif", fixed)
    flows = _flows(capture, internal, apps, scenario)
    if flows.height == 0:
        raise MayflyError(f"{capture}: no TCP connection with payload and no UDP flow to replay" + _why_none(capture))
    refuse_clock_jump(flows, str(capture))
    packets = {"mss": scenario.tcp.mss, "header_bytes": scenario.tcp.headers_bytes}
    if load is not None:
        scaled = scale_load(flows.drop("connection_id"), load, scenario.network.rate, **packets)
        flows = scaled.with_columns(flows["connection_id"])
    if "duration" not in scenario.model_fields_set:
        span = offered(flows, **packets)["span_s"]
        scenario = scenario.override(duration=span + max(_DRAIN_S, span))
    chosen = named(disciplines if disciplines is not None else scenario.disciplines)
    runs = run_many(scenario, chosen, flows, progress)
    result = gather(scenario, runs, "whatif")
    span = offered(flows, **packets)
    busier = max(span["down"]["mbps"] or 0.0, span["up"]["mbps"] or 0.0)
    result.summary["capture"] = {
        "path": str(capture),
        "span_s": span["span_s"],
        "offered_down_mbps": span["down"]["mbps"],
        "offered_up_mbps": span["up"]["mbps"],
        "load": busier * 1e6 / scenario.network.rate,
        "scaled_to_load": load,
        "apps": apps,
    }
    if guess is not None:
        result.summary["guess"] = guess.document()
        result.summary["notes"] = [*result.summary.get("notes", []), *guess.busier.sentences()]
    result.summary["answer"] = answer(_judged(result, apps))
    return result


def _why_none(capture: str | os.PathLike[str]) -> str:
    """Why a capture gave no flow, where it can be read again."""
    from mayfly.workload.connections import connections, why_nothing

    if os.fspath(capture) == "-":
        return ""
    frame, counts = connections(capture)
    return "" if frame.height else f": {why_nothing(counts)}"


def _flows(
    capture: str | os.PathLike[str], internal: Sequence[str] | None, apps: str | None, scenario: Scenario
) -> pl.DataFrame:
    """The capture's flows in the form asked for."""
    from mayfly.workload import apps as forms
    from mayfly.workload.capture import flows_of_capture, hosts_of_site, networks_of
    from mayfly.workload.connections import read_captures

    if apps not in (None, *_APPS):
        raise MayflyError(f"apps = {apps!r}: must be {' or '.join(_APPS)}")
    if apps is None:
        return flows_of_capture(capture, internal=internal)
    networks = None if internal is None else networks_of(internal)
    tcp = scenario.tcp
    ideal = {"initial_window": tcp.initial_window, "delayed_ack": tcp.delayed_ack > 0}
    reading = read_captures(capture, forms.read_options(**ideal))
    if networks is not None:
        hosts_of_site(reading.connections, networks)
    if apps == "tcp":
        return forms.scripted_flows(reading, networks, mss=tcp.mss)
    return forms.recorded_flows(reading, networks)


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
