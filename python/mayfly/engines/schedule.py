"""Traces of links as the guest follows them (``kernel/uml/schedule.py``)."""

from mayfly.errors import MayflyError
from mayfly.link_trace.trace import LinkTrace
from mayfly.scenario.network import Network

MOST_CHANGES = 20_000
"""Changes of a link in a run: each is two commands in the guest."""

LEAST_BPS = 1000
"""Rate that htb and netem take, at least."""

PIECES, LEAST_PIECE_S = 50, 0.005
"""Parts of an outage, and the length of one at least: a packet that passes in it is charged what is left of it then."""


Change = tuple[float, int, float, float]
"""Time since the begin of the run (s), rate (bit/s), delay (s), and, of an outage, what is left of it (s)."""


def schedule_of(trace: LinkTrace, network: Network, delay_s: float, duration_s: float) -> list[Change]:
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

    Returns
    -------
    list of tuple
        The first at 0. An outage is in :data:`PIECES`, with the rate that follows it.

    Raises
    ------
    MayflyError
        A trace of instants, or too many changes.

    Examples
    --------
    >>> from mayfly.link_trace.trace import of_steps
    >>> trace = of_steps("example", [0.0, 1.0], [8e6, 0.0], 1.01)
    >>> schedule_of(trace, Network(trace_offset=0.5), 0.02, 0.6)[:3]
    [(0.0, 8000000, 0.02, 0.0), (0.5, 8000000, 0.02, 0.01), (0.505, 8000000, 0.02, 0.005)]
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
    told: list[Change] = []
    for place, (at, rate, delay) in enumerate(found):
        end, following = found[place + 1][:2] if place + 1 < len(found) else (end_ns, 0)
        count = 1 if rate else min(PIECES, max(round((end - at) / 1e9 / LEAST_PIECE_S), 1))
        for piece in range(count):
            begin = at + (end - at) * piece // count
            left_s = 0.0 if rate else (end - begin) / 1e9
            own = max(rate or following or round(trace.mean_bps), LEAST_BPS)
            told.append(((begin - offset_ns) / 1e9, own, delay_s + delay / 1e9, left_s))
    if len(told) > MOST_CHANGES:
        raise MayflyError(f"network.link_trace: {trace.name}: must change at most {MOST_CHANGES} times in a run")
    return told
