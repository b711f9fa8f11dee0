"""What an engineer asks of a capture first: is the link full, when, by whom; round trips and what is repeated."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.headers import FULL_PACKET_BYTES
from mayfly.profile.link import LinkGuess, sent_by_tcp
from mayfly.profile.services import services
from mayfly.profile.traffic import DIRECTIONS, Traffic
from mayfly.workload.columns import Columns, Table, begins_of, columns_of, hosts_of_ends
from mayfly.workload.doubts import RTT_BOUNDS_S
from mayfly.workload.quic import rows_with_trains

if TYPE_CHECKING:
    import polars as pl


def longest_silence_s(frame: Table, volumes: pl.DataFrame | Traffic | None) -> float | None:
    """Longest time in which nothing passes.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    volumes : polars.DataFrame or Traffic, optional
        When what was carried; without, no connection is under way.

    Returns
    -------
    float or None
        s; None of fewer than two packets or connections.
    """
    if isinstance(volumes, Traffic):
        return volumes.longest_silence_s()
    gaps: Floats
    if volumes is None:
        table = columns_of(frame)
        order = np.argsort(table["start_s"], kind="stable")
        starts, ends = table["start_s"][order], table["end_s"][order]
        gaps = starts[1:] - np.maximum.accumulate(ends)[:-1]
    else:
        # Rows of a connection are in order: a merge of them is a tenth of the time of finding those that differ.
        starts = np.sort(volumes["start_s"].to_numpy(), kind="stable")
        gaps = np.diff(starts) if len(starts) and starts[0] < starts[-1] else np.zeros(0)
    return max(float(gaps.max()), 0.0) if len(gaps) else None


HOSTS = 5
"""Hosts that are named."""

LEAST_SHARE = 0.0005
"""Of all bytes: hosts with less have 0.0 %, and are not named."""

NOBODY_SHARE = 0.01
"""Of all bytes, from which on an address is named that no host is reached by: unspecified, or of the own link only."""

SECOND_S = 1.0


def overview(frame: Table, traffic: Traffic | None, guess: LinkGuess | None) -> dict[str, Any]:
    """Summarise the link.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.
    traffic : Traffic, optional
        None for a table of connections, which does not say when each packet went.
    guess : LinkGuess, optional
        Of the same.

    Returns
    -------
    dict
        As ``docs/profile.md`` lists it: ``near`` (how the near side was found), ``directions``, ``guess``, ``hosts``,
        ``services``, ``longest_silence_s`` and ``round_trips``.
    """
    if traffic is None or guess is None:
        return {
            "near": None,
            "directions": None,
            "guess": None,
            "hosts": [],
            "services": [],
            "longest_silence_s": longest_silence_s(frame, None),
            "round_trips": round_trip_overview(frame),
        }
    busiest = {way: busiest_window(traffic, way) for way in DIRECTIONS}
    whole = {way: traffic.carried(way) for way in DIRECTIONS}
    return {
        "near": {
            "hosts": len(traffic.near),
            "found_by": "openers" if traffic.found_by == "openers" else "site",
            "crossing": traffic.crossing,
        },
        "directions": {
            way: {
                "bytes": whole[way],
                "mean_bps": 8 * whole[way] / traffic.duration_s if traffic.duration_s else None,
                "busiest": busiest[way],
                "retransmissions": sent_by_tcp(frame, traffic.near, way).again,
            }
            for way in DIRECTIONS
        },
        "guess": guess.document(),
        "hosts": busiest_hosts(traffic, guess),
        "services": services(frame, traffic.near),
        "longest_silence_s": longest_silence_s(frame, traffic),
        "round_trips": round_trip_overview(frame),
    }


def busiest_window(traffic: Traffic, direction: str) -> dict[str, float] | None:
    """The second with the most bytes in a direction; a wider window where the capture is known no better.

    Parameters
    ----------
    traffic : Traffic
    direction : str
        ``down`` or ``up``.

    Returns
    -------
    dict or None
        ``start_s``, ``width_s`` and ``bps``. None without traffic, of a capture shorter than a second, and where no
        whole second has the mean load, as the part of a second that the capture ends in has more.
    """
    width_s = max(SECOND_S, traffic.width_s)
    loads = traffic.loads(direction, width_s)
    if not len(loads.bps):
        return None
    # Of equal ones the first.
    place = int(loads.bps.argmax())
    # The capture lasts until its last packet comes, so that its mean has one packet too many.
    if loads.bps[place] * traffic.duration_s < 8 * (traffic.carried(direction) - FULL_PACKET_BYTES):
        return None
    return {"start_s": int(loads.windows[place]) * width_s, "width_s": width_s, "bps": float(loads.bps[place])}


def busiest_hosts(traffic: Traffic, guess: LinkGuess) -> list[dict[str, Any]]:
    """The hosts of the near side with the most traffic.

    Parameters
    ----------
    traffic : Traffic
    guess : LinkGuess
        Of the same.

    Returns
    -------
    list of dict
        At most :data:`HOSTS`, without those below :data:`LEAST_SHARE`:
        ``host``, ``down_bytes``, ``up_bytes``, ``share`` of all bytes, and ``busiest_share``,
        that of the bytes in the busiest second of the busier direction (None without one).
    """
    sums = traffic.bytes_of_hosts()
    whole = sum(sum(carried.values()) for carried in sums.values())
    named = [
        host
        for host, carried in sums.items()
        if sum(carried.values()) >= (NOBODY_SHARE if _is_nobody(host) else LEAST_SHARE) * whole
    ]
    top = sorted(named, key=lambda host: (-sum(sums[host].values()), host))[:HOSTS]
    way = guess.busier.direction
    busiest = busiest_window(traffic, way)
    then: dict[str, int] = {}
    if busiest is not None:
        window = round(busiest["start_s"] / busiest["width_s"])
        then = traffic.bytes_in(window, way, busiest["width_s"])
    carried = sum(then.values())
    return [
        {
            "host": host,
            **{f"{one}_bytes": sums[host][one] for one in DIRECTIONS},
            "share": sum(sums[host].values()) / whole if whole else None,
            "busiest_share": then.get(host, 0) / carried if carried else None,
        }
        for host in top
    ]


def _is_nobody(host: str) -> bool:
    """Whether an address is none by which a host is reached over a link."""
    address = ip_address(host)
    return address.is_unspecified or address.is_link_local


def round_trip_overview(frame: Table) -> dict[str, Any]:
    """Round-trip times of whole paths, and how far they are above the least to the same host.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Connections.

    Returns
    -------
    dict
        ``connections``; ``median_s``, ``p95_s`` and ``least_s`` over connections of TCP and QUIC, each with the mean of
        its DATA-ACK times to both ends (data went one way only: to that end, and what the handshake leaves to the
        other), else with its handshake; ``above_median_s`` and ``above_p95_s``, the same less the
        least of any connection between the same two hosts. None without any; times beyond 60 s are none.
    """
    names = ("median_s", "p95_s", "least_s", "above_median_s", "above_p95_s")
    table = columns_of(frame)
    rows = np.flatnonzero(rows_with_trains(table))
    value, least = np.empty(len(rows)), np.empty(len(rows))
    for begin in range(0, len(rows), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        value[part], least[part] = _round_trips(table, rows[part])
    # Beyond a minute it is the clock that jumped.
    timed = value <= RTT_BOUNDS_S[1]
    if not timed.any():
        return {"connections": 0} | dict.fromkeys(names)
    value, rows = value[timed], rows[timed]
    least = np.fmin(least[timed], value)
    hosts, opener, responder = hosts_of_ends(table)
    opener, responder = opener[rows], responder[rows]
    pairs = np.minimum(opener, responder).astype(np.int64) * len(hosts) + np.maximum(opener, responder)
    del rows, opener, responder
    order = np.argsort(pairs, kind="stable")
    begins = begins_of(pairs[order])
    del pairs
    of_pair = np.minimum.reduceat(least[order], begins)
    above = value[order]
    above -= np.repeat(of_pair, np.diff(np.append(begins, len(order))))
    del order
    found = {"connections": len(value), "least_s": float(least.min())}
    for prefix, values in (("", value), ("above_", above)):
        values.sort()
        found |= {
            f"{prefix}{name}_s": float(values[int((len(values) - 1) * q)])
            for name, q in (("median", 0.5), ("p95", 0.95))
        }
    return found


AT_ONCE = 1 << 18
"""Connections whose round trips are put together at once."""


def _round_trips(table: Columns, rows: Integers) -> tuple[Floats, Floats]:
    """Usual and least round-trip time of some connections, s; NaN where not known."""
    value = least = table["rtt_s"][rows]
    ends = ("opener", "responder")
    if all(f"data_ack_to_{end}_{of}_s" in table for end in ends for of in ("mean", "min")):
        (mean, other_mean), (minimum, other_min) = (
            [table[f"data_ack_to_{end}_{of}_s"][rows] for end in ends] for of in ("mean", "min")
        )
        # Data that went one way only times one end; the handshake has what the least of that end leaves to the other.
        one_mean, one_min = (_first_known(*pair) for pair in ((mean, other_mean), (minimum, other_min)))
        one_way = np.where(np.isnan(value), np.nan, one_mean + np.fmax(value - one_min, 0.0))
        value, least = _first_known(mean + other_mean, one_way, value), np.fmin(minimum + other_min, least)
    return value, least


def _first_known(*columns: Floats) -> Floats:
    """Of each row the first value that is known."""
    found = columns[0]
    for column in columns[1:]:
        found = np.where(np.isnan(found), column, found)
    return found
