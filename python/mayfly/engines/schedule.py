"""Traces of links as the guest follows them (``kernel/uml/schedule.py``)."""

from mayfly.errors import MayflyError
from mayfly.link_trace.trace import LinkTrace
from mayfly.scenario.network import Network

MOST_CHANGES = 20_000
"""Changes of a link in a run: each is two commands in the guest."""

LEAST_BPS = 1000
"""Rate that htb and netem take, at least."""


def schedule_of(
    trace: LinkTrace, network: Network, delay_s: float, duration_s: float, full_packet_bytes: int
) -> list[tuple[float, int, float]]:
    """Changes of a link that varies, from the begin of a run to its end.

    Parameters
    ----------
    trace : LinkTrace
        Of steps.
    network : Network
        With the offset, and whether the trace begins anew.
    delay_s : float
        Propagation delay of the link, to which that of the trace is added, s.
    duration_s : float
        Length of the run, s.
    full_packet_bytes : int
        Wire length of a full packet: an outage is the rate at which one takes as long as it lasts in the run, and at
        least 1 kbit/s.

    Returns
    -------
    list of tuple
        Time (s), rate (bit/s) and delay (s), the first at 0.

    Raises
    ------
    MayflyError
        A trace of instants, or too many changes.

    Examples
    --------
    >>> from mayfly.link_trace.trace import of_steps
    >>> trace = of_steps("example", [0.0, 1.0], [8e6, 0.0], 4.0)
    >>> schedule_of(trace, Network(trace_offset=0.5), 0.01, 5.0, 1500)
    [(0.0, 8000000, 0.01), (0.5, 4000, 0.01), (3.5, 8000000, 0.01), (4.5, 24000, 0.01)]
    """
    if trace.has_opportunities:
        raise MayflyError(f"network.link_trace: {trace.name} has instants: must be steps with --engine linux")
    offset_ns, end_ns = round(network.trace_offset * 1e9), round((network.trace_offset + duration_s) * 1e9)
    begins, rates, added = trace.at_ns.tolist(), trace.rate_bps.tolist(), trace.added_delay_ns.tolist()
    found: list[tuple[int, int, int]] = []
    base = offset_ns // trace.period_ns * trace.period_ns if network.trace_repeats else 0
    while base < end_ns:
        for row, begin in enumerate(begins):
            if base + begin >= end_ns:
                break
            entry = (max(base + begin, offset_ns), rates[row], added[row])
            if found and (found[-1][0] == entry[0] or base + begin <= offset_ns):
                found.pop()
            if not found or found[-1][1:] != entry[1:]:
                found.append(entry)
        if len(found) > MOST_CHANGES:
            raise MayflyError(f"network.link_trace: {trace.name}: must change at most {MOST_CHANGES} times in a run")
        if not network.trace_repeats:
            break
        base += trace.period_ns
    ends = [entry[0] for entry in found[1:]] + [end_ns]
    told = []
    for (at, rate, delay), end in zip(found, ends, strict=True):
        silent_bps = full_packet_bytes * 8e9 / max(end - at, 1)
        own = max(round(rate or silent_bps), LEAST_BPS)
        told.append(((at - offset_ns) / 1e9, own, delay_s + delay / 1e9))
    return told
