"""Settings of a run as the native module takes them."""

from collections.abc import Sequence
from typing import Any

from mayfly.discipline_registry import Discipline, parse
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import transports
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.queue_limits import queue_limits


def native_settings(
    scenario: Scenario, discipline: Discipline, seed: int, watched: Sequence[int] = ()
) -> dict[str, Any]:
    """Settings of a run as the native module takes them.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    seed : int
        Of all random streams.
    watched : sequence of int
        Rows of the flow list whose progress is sampled.

    Returns
    -------
    dict
        Integers in ns, bit/s, bytes and packets.
    """

    def ns(seconds: float) -> int:
        return round(seconds * 1e9)

    network, tcp = scenario.network, scenario.tcp
    net = network_of(scenario)
    reverse = discipline if network.reverse_discipline == "same" else parse(network.reverse_discipline)
    full_packet = tcp.mss + tcp.headers_bytes
    interval = scenario.sample_interval
    interval = max(scenario.duration / 1000, 1e-6) if interval is None else interval
    return {
        "rate_bps": net.rate_bps,
        "reverse_rate_bps": network.reverse_rate,
        "delay_ns": ns(network.delay),
        "reverse_delay_ns": None if network.reverse_delay is None else ns(network.reverse_delay),
        "access_rate_bps": network.access_rate,
        "exit_rate_bps": network.exit_rate,
        "exit_rate_up_bps": network.exit_rate_up,
        "tree": None,
        **net.settings(discipline, full_packet),
        "access_delay_ns": ns(network.access_delay),
        "exit_delay_ns": ns(network.exit_delay),
        **queue_limits(network.buffer, network.reverse_buffer, network.buffer_counts_transmission, full_packet),
        "loss": network.loss,
        "impairments": [impairment.native for impairment in network.impairment],
        "symmetric": network.symmetric,
        "shaping": None,
        "discipline": discipline.native,
        "reverse_discipline": reverse.native,
        "tcp": transports.native(tcp),
        "transports": [],
        "applications": [],
        "duration_ns": ns(scenario.duration),
        "warm_up_ns": ns(scenario.warm_up),
        "stop_when_idle": scenario.stop_when_idle,
        "seed": seed,
        "clock_phase_ns": None if scenario.clock_phase is None else ns(scenario.clock_phase),
        "sample_interval_ns": ns(interval),
        "watched": list(watched),
        "trace_drops": False,
        "traced": [],
        "trace_limit": scenario.trace_limit,
        "subflows": scenario.subflows,
        "probes": [],
        "echoes": [],
    }
