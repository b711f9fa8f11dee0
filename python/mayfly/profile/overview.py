"""What an engineer asks of a capture first: is the link full, when, by whom; round trips and what is repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from mayfly.profile.link import LinkGuess, sent_by_tcp
from mayfly.profile.traffic import DIRECTIONS, Traffic
from mayfly.workload.capture import RTT_BOUNDS_S


def longest_silence_s(
    frame: pl.DataFrame, volumes: pl.DataFrame | None, traffic: Traffic | None = None
) -> float | None:
    """Longest time in which nothing passes.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    volumes : polars.DataFrame, optional
        When what was carried; without, no connection is under way.
    traffic : Traffic, optional
        Of the same, which has put all of these in order, or some.

    Returns
    -------
    float or None
        s; None of fewer than two packets or connections.
    """
    if volumes is None:
        spans = frame.select("start_s", "end_s").drop_nulls().sort("start_s")
        gaps = spans["start_s"].slice(1) - spans["end_s"].cum_max().slice(0, max(spans.height - 1, 0))
    else:
        if traffic is not None and traffic.volumes is volumes:
            starts = traffic.starts_in_order
        else:
            # Rows of a connection are in order: a merge of them is a tenth of the time of finding those that differ.
            starts = np.sort(volumes["start_s"].to_numpy(), kind="stable")
        gaps = pl.Series(np.diff(starts)) if len(starts) and starts[0] < starts[-1] else pl.Series([], dtype=pl.Float64)
    longest = gaps.max()
    return max(longest, 0.0) if isinstance(longest, float) else None


HOSTS = 5
"""Hosts that are named."""

SECOND_S = 1.0


def overview(
    frame: pl.DataFrame, volumes: pl.DataFrame | None, traffic: Traffic | None, guess: LinkGuess | None
) -> dict[str, Any]:
    """Summarise the link.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    volumes : polars.DataFrame, optional
        What each direction of them carried when.
    traffic : Traffic, optional
        None for a table of connections, which does not say when each packet went.
    guess : LinkGuess, optional
        Of the same.

    Returns
    -------
    dict
        As ``docs/profile.md`` lists it: ``near`` (how the near side was found), ``directions``, ``guess``, ``hosts``,
        ``longest_silence_s`` and ``round_trips``.
    """
    if traffic is None or guess is None:
        return {
            "near": None,
            "directions": None,
            "guess": None,
            "hosts": [],
            "longest_silence_s": longest_silence_s(frame, volumes),
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
        "longest_silence_s": longest_silence_s(frame, volumes, traffic),
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
        ``start_s``, ``width_s`` and ``bps``. None without traffic, and of a capture shorter than a second.
    """
    width_s = max(SECOND_S, traffic.width_s)
    loads = traffic.loads(direction, width_s)
    if not loads.height:
        return None
    window, bps = loads.sort("bps", "window", descending=[True, False]).row(0)
    return {"start_s": window * width_s, "width_s": width_s, "bps": bps}


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
        At most :data:`HOSTS`: ``host``, ``down_bytes``, ``up_bytes``, ``share`` of all bytes, and ``busiest_share``,
        that of the bytes in the busiest second of the busier direction (None without one).
    """
    sums = traffic.bytes_of_hosts()
    whole = int(sums["down_bytes"].sum()) + int(sums["up_bytes"].sum())
    top = sums.sort(pl.col("down_bytes") + pl.col("up_bytes"), "host", descending=[True, False]).head(HOSTS)
    way = guess.busier.direction
    busiest = busiest_window(traffic, way)
    then: dict[str, int] = {}
    if busiest is not None:
        window = round(busiest["start_s"] / busiest["width_s"])
        then = traffic.bytes_in(window, way, busiest["width_s"])
    carried = sum(then.values())
    return [
        {
            **row,
            "share": (row["down_bytes"] + row["up_bytes"]) / whole if whole else None,
            "busiest_share": then.get(row["host"], 0) / carried if carried else None,
        }
        for row in top.iter_rows(named=True)
    ]


def round_trip_overview(frame: pl.DataFrame) -> dict[str, Any]:
    """Round-trip times of whole paths, and how far they are above the least to the same host.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.

    Returns
    -------
    dict
        ``connections``; ``median_s``, ``p95_s`` and ``least_s`` over TCP connections, each with the mean of its
        DATA-ACK times to both ends (data went one way only: to that end, and what the handshake leaves to the other),
        else with its handshake; ``above_median_s`` and ``above_p95_s``, the same less the
        least of any connection between the same two hosts. None without any; times beyond 60 s are none.
    """
    names = ("median_s", "p95_s", "least_s", "above_median_s", "above_p95_s")
    tcp = frame.filter(pl.col("protocol") == "tcp")
    value, least = pl.col("rtt_s"), pl.col("rtt_s")
    ends = ("opener", "responder")
    if {f"data_ack_to_{end}_{of}_s" for end in ends for of in ("mean", "min")} <= set(tcp.columns):
        means, mins = (
            pl.col(f"data_ack_to_opener_{of}_s") + pl.col(f"data_ack_to_responder_{of}_s") for of in ("mean", "min")
        )
        # Data that went one way only times one end; the handshake has what the least of that end leaves to the other.
        timed_end = (
            pl.coalesce(f"data_ack_to_opener_{of}_s", f"data_ack_to_responder_{of}_s") for of in ("mean", "min")
        )
        one_mean, one_min = timed_end
        one_way = one_mean + pl.max_horizontal(pl.col("rtt_s") - one_min, 0.0)
        one_way = pl.when(pl.col("rtt_s").is_not_null()).then(one_way)
        value, least = pl.coalesce(means, one_way, value), pl.min_horizontal(mins, least)
    pair = (pl.min_horizontal("opener", "responder"), pl.max_horizontal("opener", "responder"))
    timed = tcp.select(
        *(end.alias(name) for end, name in zip(pair, ("a", "b"), strict=True)),
        value.alias("value"),
        least.alias("least"),
    )
    # Beyond a minute it is the clock that jumped.
    timed = timed.filter(pl.col("value") <= RTT_BOUNDS_S[1])
    if not timed.height:
        return {"connections": 0} | dict.fromkeys(names)
    timed = timed.with_columns(
        (pl.col("value") - pl.min_horizontal("least", "value").min().over("a", "b")).alias("above")
    )
    quantiles = {
        f"{prefix}{name}_s": float(timed[column].quantile(q, "lower") or 0.0)
        for prefix, column in (("", "value"), ("above_", "above"))
        for name, q in (("median", 0.5), ("p95", 0.95))
    }
    least_s = timed.select(pl.min_horizontal("least", "value").min()).item()
    return {"connections": timed.height, "least_s": float(least_s)} | quantiles
