"""Traces of links and shapers before them, as the native module takes them."""

from typing import Any

from mayfly.link_trace.trace import LinkTrace
from mayfly.scenario.network import Network

WAYS = ("down", "up")


def native_trace(network: Network, trace: LinkTrace | None) -> dict[str, Any] | None:
    """A trace with the offset of the network; None for a constant rate."""
    return None if trace is None else trace.native(network.trace_offset, network.trace_repeats)


def rates_bps(network: Network) -> tuple[int, int]:
    """Mean rates of the bottleneck down and up, bit/s."""
    return network.rate, network.reverse_rate or network.rate


def shaper_rates(network: Network) -> list[int | None]:
    """Rate that each shaper begins with, bit/s; None for a direction without one.

    Examples
    --------
    >>> from mayfly.scenario.network import Network
    >>> shaper_rates(Network.model_validate({"rate": "10mbit", "shaper": {"share": 0.8, "ways": "down"}}))
    [8000000, None]
    """
    shaper = network.shaper
    found: list[int | None] = []
    for way, mean_bps, prefix in zip(WAYS, rates_bps(network), ("", "reverse_"), strict=True):
        if shaper is None or shaper.ways not in ("both", way):
            found.append(None)
            continue
        if shaper.controller != "none":
            found.append(bounds_bps(network)[way == "up"]["base_bps"])
            continue
        rate = getattr(shaper, f"{prefix}rate")
        share = getattr(shaper, f"{prefix}share") or shaper.share or 0.9
        found.append(rate or max(round(share * mean_bps), 1000))
    return found


def bounds_bps(network: Network) -> list[dict[str, int]]:
    """What the controller keeps each shaper within: as given, else from the seconds of the trace, bit/s."""
    # Most networks have no shaper, and the section is imported where there is one.
    from mayfly.scenario.shaping import Autorate

    autorate = Autorate() if network.shaper is None else network.shaper.autorate
    found = []
    for prefix, mean_bps, trace in zip(("", "reverse_"), rates_bps(network), network.traces, strict=True):
        least, base, most = (getattr(autorate, f"{prefix}{name}_rate") for name in ("min", "base", "max"))
        of_seconds = [float(mean_bps)] * 3
        if trace is not None:
            of_seconds = [trace.percentile_bps(share) for share in (0.05, 0.25, 1.0)]
        least = least or max(round(of_seconds[0]), mean_bps // 20, 1000)
        most = most or max(round(of_seconds[2]), least)
        base = base or min(max(round(of_seconds[1]), least), most)
        found.append({"min_bps": least, "base_bps": base, "max_bps": most})
    return found


def native_shaping(network: Network, full_packet_bytes: int, pings: int | None) -> dict[str, Any] | None:
    """Shapers and controller of a run; None without a shaper.

    Parameters
    ----------
    network : Network
        Section ``[network]``.
    full_packet_bytes : int
        Wire length of a full packet, bytes.
    pings : int or None
        Row of the controller's pings in the flow list.
    """
    shaper = network.shaper
    if shaper is None:
        return None
    modems = (shaper.modem_buffer, shaper.reverse_modem_buffer or shaper.modem_buffer)
    rates = shaper_rates(network)
    places = (shaper.place, shaper.reverse_place or shaper.place)
    shapers = [
        None if rate is None else {"rate_bps": rate, "modem": {unit: limit}, "behind": place == "behind"}
        for rate, (limit, unit), place in zip(rates, modems, places, strict=True)
    ]
    if shaper.controller == "none" or pings is None:
        return {"shapers": shapers, "controller": None}
    given, bounds = shaper.autorate, bounds_bps(network)
    controller = {
        "pings": pings,
        "reflectors": given.pingers,
        "one_way": given.signal == "one-way",
        "bounds": [None if rate is None else own for rate, own in zip(rates, bounds, strict=True)],
        "load_interval_ns": round(given.load_interval * 1e9),
        "high_load": given.high_load,
        "delay_threshold_s": given.delay_threshold,
        "rise_threshold_s": given.rise_threshold,
        "fall_threshold_s": given.fall_threshold,
        "window": given.window,
        "delayed": given.delayed,
        "baseline_rise": given.baseline_rise,
        "baseline_fall": given.baseline_fall,
        "fall": [given.fall_least, given.fall_most],
        "rise": [given.rise_least, given.rise_most],
        "decay": [given.decay_down, given.decay_up],
        "fall_refractory_ns": round(given.fall_refractory * 1e9),
        "decay_refractory_ns": round(given.decay_refractory * 1e9),
        "silence_ns": round(given.silence * 1e9),
        "packet": full_packet_bytes,
    }
    return {"shapers": shapers, "controller": controller}
