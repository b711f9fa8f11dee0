"""What users of a link feel: times of transfers by size, ping under load, a call, pages, video, downloads.

Percentiles are order statistics: the p-quantile of n values is the one of rank ``ceil(p n)`` (Hyndman and Fan 1996,
definition 1). A transfer that did not finish counts as an infinite time, so that a discipline gains nothing from
starving some. The interval of a percentile needs no law: the ranks ``p n -+ 1.96 sqrt(p (1 - p) n)`` around it hold the
quantile with 95 % (David and Nagaraja 2003, 7.1).
"""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from mayfly.arrays import Floats
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.intervals import Z95
from mayfly.metrics.media import film_rows, films_felt, speech
from mayfly.metrics.pages import page_loads
from mayfly.metrics.video import video_row
from mayfly.metrics.voice import call_row, captured_row

BINS_KB = ((0, 10), (10, 100), (100, 1000), (1000, None))
"""Sizes of transfers, kB: above the first bound, up to the second."""

SHORT_BYTES, LONG_BYTES = 100_000, 1_000_000
"""Short transfers have at most the first, long ones more than the second."""

LARGEST_SHARE = 0.01
"""Without long ones: the largest transfers, so many of all."""

PAGE_GAP_S = 1.0
"""Connections of one client belong to one page when each starts within this of the one before it."""

PAGE_BYTES = 10_000
"""Least bytes that a client fetches in a page: a window of ten packets, what one round trip brings (RFC 6928)."""

PAGE_PART_BYTES = 1_000
"""Least mean of the bytes fetched over a connection of a page; answers to a scan are shorter."""

PAGE_CONNECTIONS = 100
"""Most connections of a page; a client that opens more in a row, as a scanner does, loads none."""

GRADES = (("A+", 5.0), ("A", 30.0), ("B", 60.0), ("C", 200.0), ("D", 400.0))
"""Grade of the ping, by its increase under load, ms, below which it is given; F from the last on."""

PERCENTILES = (0.5, 0.95, 0.99)


def percentile(ordered: Floats, share: float) -> float | None:
    """A quantile of ascending values, infinite ones among them.

    Parameters
    ----------
    ordered : ndarray, shape (n,)
        Ascending.
    share : float
        Above 0, at most 1.

    Returns
    -------
    float or None
        None without values, or when it falls on an infinite one.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([1.0, 2.0, 3.0, np.inf])
    >>> percentile(times, 0.5), percentile(times, 0.95)
    (2.0, None)
    """
    if ordered.size == 0:
        return None
    value = float(ordered[max(math.ceil(share * ordered.size - 1e-9), 1) - 1])
    return value if math.isfinite(value) else None


def percentile_ci95(ordered: Floats, share: float) -> list[float] | None:
    """Distribution-free 95 % interval of a quantile.

    Parameters
    ----------
    ordered : ndarray, shape (n,)
        Ascending.
    share : float
        Above 0, below 1.

    Returns
    -------
    list of two float, or None
        None when a bound lies beyond the values, or on an infinite one.

    Examples
    --------
    >>> import numpy as np
    >>> percentile_ci95(np.arange(1.0, 101.0), 0.5)
    [40.0, 61.0]
    """
    n = ordered.size
    half = Z95 * math.sqrt(n * share * (1 - share))
    low, high = math.floor(n * share - half), math.ceil(n * share + half) + 1
    if low < 1 or high > n or not math.isfinite(ordered[high - 1]):
        return None
    return [float(ordered[low - 1]), float(ordered[high - 1])]


def times_row(times: pl.Series) -> dict[str, Any]:
    """Percentiles of some transfers.

    Parameters
    ----------
    times : polars.Series, shape (n,)
        Response times, s; null for those unfinished.

    Returns
    -------
    dict
        ``flows``, ``unfinished``, ``p50_s``, ``p95_s``, ``p99_s``, ``p50_ci95``, ``p95_ci95``.
    """
    ordered = times.cast(pl.Float64).fill_null(math.inf).sort().to_numpy()
    found: dict[str, Any] = {"flows": len(times), "unfinished": times.null_count()}
    found |= {f"p{round(100 * share)}_s": percentile(ordered, share) for share in PERCENTILES}
    return found | {f"p{round(100 * share)}_ci95": percentile_ci95(ordered, share) for share in PERCENTILES[:2]}


def transfers_of(records: pl.DataFrame, trains: pl.DataFrame | None = None) -> pl.DataFrame:
    """The transfers whose times users feel.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    trains : polars.DataFrame, optional
        Trains of scripted flows: they are the transfers then, as a connection mostly waits for its user.

    Returns
    -------
    polars.DataFrame, shape (n_transfers, 6)
        ``replication``, ``flow_id``, ``direction``, ``size_bytes``, ``start_s``, ``response_time_s`` (null when
        unfinished), ``goodput_mbps`` (of an unfinished one null).
    """
    names = ("replication", "flow_id", "direction", "size_bytes", "start_s", "response_time_s")
    if "replication" not in records.columns:
        records = records.with_columns(replication=pl.lit(0, pl.Int32))
    plain = records.select("protocol", *names).filter(
        (pl.col("protocol") == "tcp") & (pl.col("size_bytes") < ENDLESS_BYTES)
    )
    if trains is not None and trains.height:
        whole = trains.filter(pl.col("part").is_null())
        plain = plain.join(whole.select("flow_id").unique(), on="flow_id", how="anti")
        own = whole.with_columns(response_time_s=pl.col("end_s") - pl.col("start_s"))
        plain = pl.concat([plain.select(names), own.select(names)], how="vertical_relaxed")
    return plain.select(
        *names,
        goodput_mbps=pl.col("size_bytes") * 8e-6 / pl.when(pl.col("response_time_s") > 0).then("response_time_s"),
    )


def transfer_rows(transfers: pl.DataFrame) -> dict[str, list[dict[str, Any]]] | None:
    """Times by size, of either direction and of both.

    Parameters
    ----------
    transfers : polars.DataFrame, shape (n_transfers, ...)
        As :func:`transfers_of` returns it.

    Returns
    -------
    dict of list, or None
        ``down``, ``up``, ``all``: a row of :func:`times_row` for each of `BINS_KB`, with ``from_kb`` and ``to_kb``
        (None: without bound). None without transfers.
    """
    if transfers.height == 0:
        return None
    size = pl.col("size_bytes")
    ways = {way: transfers.filter(direction=way) for way in ("down", "up")} | {"all": transfers}
    rows: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for low, high in BINS_KB:
        inside = (size > 1000 * low) & (True if high is None else size <= 1000 * high)
        for way, own in ways.items():
            times = own.select("size_bytes", "response_time_s").filter(inside)["response_time_s"]
            rows[way].append({"from_kb": low, "to_kb": high, **times_row(times)})
    return rows


def long_transfers(transfers: pl.DataFrame) -> pl.DataFrame:
    """Those above 1 MB; without any the largest hundredth, at least one, of equal sizes the first."""
    long = transfers.filter(pl.col("size_bytes") > LONG_BYTES)
    if long.height or transfers.height == 0:
        return long
    ordered = transfers.sort("size_bytes", "replication", "flow_id", descending=[True, False, False])
    return ordered.head(math.ceil(LARGEST_SHARE * transfers.height))


def goodput_row(transfers: pl.DataFrame, direction: str) -> dict[str, Any] | None:
    """Goodput of the transfers above 1 MB that go one way.

    Parameters
    ----------
    transfers : polars.DataFrame, shape (n_transfers, ...)
        As :func:`transfers_of` returns it.
    direction : str
        ``down`` or ``up``.

    Returns
    -------
    dict or None
        ``flows``, ``goodput_mbps_p50``, ``goodput_mbps_p5``; an unfinished one counts as 0. None without any.
    """
    goodput = transfers.filter((pl.col("size_bytes") > LONG_BYTES) & (pl.col("direction") == direction))["goodput_mbps"]
    if len(goodput) == 0:
        return None
    ordered = goodput.fill_null(0.0).sort().to_numpy()
    return {
        "flows": len(goodput),
        "goodput_mbps_p50": percentile(ordered, 0.5),
        "goodput_mbps_p5": percentile(ordered, 0.05),
    }


def grade(increase_ms: float) -> str:
    """Grade of a ping whose mean under load is so much above that of the idle link.

    Examples
    --------
    >>> [grade(value) for value in (4.9, 5.0, 59.0, 199.0, 399.0, 400.0)]
    ['A+', 'A', 'B', 'C', 'D', 'F']
    """
    return next((name for name, bound in GRADES if increase_ms < bound), "F")


def ping_row(packets: pl.DataFrame, idle_s: float | None, end_s: float) -> dict[str, Any] | None:
    """Round-trip times of the probes.

    Parameters
    ----------
    packets : polars.DataFrame, shape (n_packets, ...)
        ``sent_s`` and ``returned_s``, null for those lost.
    idle_s : float or None
        Round-trip time on the idle link, s.
    end_s : float
        End of the run, s: what was sent in its last second and did not return may be on its way, and does not count.

    Returns
    -------
    dict or None
        ``probes``, ``idle_ms``, ``p50_ms``, ``p95_ms``, ``p99_ms``, ``mean_ms`` of those that returned, ``p95_ci95``
        in ms, ``loss``, and the ``grade`` of the increase of the mean over the idle link. None without packets.
    """
    counted = packets.filter(pl.col("returned_s").is_not_null() | (pl.col("sent_s") < end_s - 1.0))
    if counted.height == 0 or idle_s is None:
        return None
    times = 1e3 * (counted["returned_s"] - counted["sent_s"]).drop_nulls().sort().to_numpy()
    mean = float(times.mean()) if times.size else None
    found: dict[str, Any] = {"probes": counted.height, "idle_ms": 1e3 * idle_s, "mean_ms": mean}
    found |= {f"p{round(100 * share)}_ms": percentile(times, share) for share in PERCENTILES}
    found |= {"p95_ci95": percentile_ci95(times, 0.95), "loss": 1 - times.size / counted.height}
    return found | {"grade": "F" if mean is None else grade(mean - 1e3 * idle_s)}


def page_groups(records: pl.DataFrame, gap_s: float = PAGE_GAP_S) -> pl.DataFrame:
    """Pages in a capture: connections of one client that start soon after each other.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline with ``connection_id``.
    gap_s : float
        The next connection of a page starts within this of the one before it, s, whatever its server.

    Returns
    -------
    polars.DataFrame, shape (n_pages, ...)
        ``load_s``: from the first start to the end of the last transfer, null when one is unfinished. The client is the
        host that opened the connection. Transfers above 1 MB are downloads and no parts of pages. A page has two
        connections at least and `PAGE_CONNECTIONS` at most, and brings its client more than it takes from it, at least
        `PAGE_BYTES`, and `PAGE_PART_BYTES` a connection: scans, mail that is sent and copies to a server are none. A
        connection that waits for longer than the gap within it is no part of a page.
        Which connections make a page depends on the capture only, not on the discipline.
    """
    run = [name for name in ("replication",) if name in records.columns]
    fetched = pl.col("opened_by") != "sender"
    opener = pl.when(fetched).then("dst").otherwise("src")
    web = records.filter((pl.col("protocol") == "tcp") & (pl.col("size_bytes") <= LONG_BYTES))
    own, back = pl.col("size_bytes"), pl.lit(0, pl.Int64)
    if "script" in records.columns:
        # A script is both directions of its connection; one whose user comes back later is of several pages.
        waits = pl.col("script").str.extract_all(r"wait \d+").list.eval(pl.element().str.slice(5).cast(pl.Int64))
        web = web.filter((waits.list.max().fill_null(0) < 1e9 * gap_s).fill_null(True))
        back = pl.when(pl.col("script").is_not_null()).then("back_bytes").otherwise(0)
        own = own - back
    web = web.with_columns(
        client=opener,
        fetched=pl.when(fetched).then(own).otherwise(back),
        sent=pl.when(fetched).then(back).otherwise(own),
    ).sort(*run, "client", "start_s", "flow_id")
    fresh = (pl.col("start_s").diff() > gap_s).fill_null(True)
    numbered = web.with_columns(page=fresh.cum_sum().over(*run, "client"))
    whole = pl.col("finish_s").is_not_null().all()
    load_s = pl.when(whole).then(pl.col("finish_s").max() - pl.col("start_s").min())
    pages = numbered.group_by(*run, "client", "page", maintain_order=True).agg(
        load_s=load_s,
        connections=pl.col("connection_id").n_unique(),
        fetched_bytes=pl.col("fetched").sum(),
        sent_bytes=pl.col("sent").sum(),
    )
    return pages.filter(
        pl.col("connections").is_between(2, PAGE_CONNECTIONS),
        pl.col("fetched_bytes")
        >= pl.max_horizontal("sent_bytes", pl.lit(PAGE_BYTES), PAGE_PART_BYTES * pl.col("connections")),
    )


def pages_row(records: pl.DataFrame) -> dict[str, Any] | None:
    """Load times of pages: those of the sources ``pages``, else those found in a capture.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.

    Returns
    -------
    dict or None
        ``pages``, ``unfinished``, ``p50_s``, ``p95_s``, ``p99_s``, ``p50_ci95``, ``p95_ci95``. None without pages.
    """
    # Of a capture stages are users who wait, not pages.
    if "connection_id" in records.columns:
        loads = page_groups(records)["load_s"]
    elif "stage" in records.columns and records["stage"].null_count() < records.height:
        loads = page_loads(records)["load_s"]
    else:
        return None
    found = times_row(loads)
    return {"pages": found.pop("flows"), **found} if len(loads) else None


def users_row(
    records: pl.DataFrame,
    trains: pl.DataFrame,
    probes: pl.DataFrame,
    idle_s: float | None,
    begin_s: float,
    end_s: float,
    streams: pl.DataFrame | None = None,
    calls: pl.DataFrame | None = None,
    frames: pl.DataFrame | None = None,
    segments: pl.DataFrame | None = None,
) -> dict[str, Any]:
    """What users of one discipline feel: ``users`` in its row of ``summary.json``.

    Parameters
    ----------
    records, trains : polars.DataFrame
        Of one discipline, all replications.
    probes : polars.DataFrame
        Packets of the probes; empty without any.
    idle_s : float or None
        Round-trip time of a ping on the idle link, s.
    begin_s, end_s : float
        End of the warm-up, before which no probe counts, and end of the run, s.
    streams : polars.DataFrame, optional
        Pieces of the streams of video among the scripted flows.
    calls : polars.DataFrame, optional
        Packets of the calls of a capture; with any, a synthetic call counts no more.
    frames, segments : polars.DataFrame, optional
        Speech and videos of the calls of the workload, which count in place of a synthetic one, and segments of its
        films.

    Returns
    -------
    dict
        ``transfers``, ``short``, ``long``, ``ping``, ``call``, ``pages``, ``video``, ``downloads``, ``uploads``; None
        where the run has no traffic for it.
    """
    transfers = transfers_of(records, trains)
    short = transfers.filter(pl.col("size_bytes") <= SHORT_BYTES)["response_time_s"]
    long = long_transfers(transfers)["response_time_s"]
    found: dict[str, Any] = {
        "transfers": transfer_rows(transfers),
        "short": times_row(short) if len(short) else None,
        "long": times_row(long) if len(long) else None,
        "ping": None,
        "call": None,
        "pages": pages_row(records),
        "video": None if streams is None else video_row(streams, trains, end_s),
        "downloads": goodput_row(transfers, "down"),
        "uploads": goodput_row(transfers, "up"),
    }
    if segments is not None and found["video"] is None:
        found["video"] = films_felt(film_rows(records, segments, end_s))
    captured = None
    words = pl.DataFrame() if frames is None else speech(records, frames)
    if calls is not None and calls.height:
        captured = captured_row(_counted(calls.filter(pl.col("sent_s") >= begin_s), end_s))
        found["call"] = {"from": "capture", **captured} if captured else None
    elif words.height:
        captured = captured_row(_counted(words.filter(pl.col("sent_s") >= begin_s), end_s))
        found["call"] = {"from": "workload", **captured} if captured else None
    if probes.height == 0:
        return found
    measured = probes.filter(pl.col("sent_s") >= begin_s)
    found["ping"] = ping_row(measured.filter(probe="ping"), idle_s, end_s)
    heard = _counted(measured, end_s)
    if captured is None and (call := call_row(heard.filter(probe="call_down"), heard.filter(probe="call_up"))):
        found["call"] = {"from": "synthetic", **call}
    return found


def _counted(packets: pl.DataFrame, end_s: float) -> pl.DataFrame:
    """Packets without those that may be on their way at the end of the run."""
    return packets.filter(pl.col("received_s").is_not_null() | (pl.col("sent_s") < end_s - 1.0))


def means(rows: Sequence[float | None]) -> float | None:
    """Mean of what is known; None when nothing is."""
    known = [value for value in rows if value is not None]
    return sum(known) / len(known) if known else None
