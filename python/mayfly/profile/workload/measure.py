"""A workload measured: from a profile, or from a flow list whose groups are classes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, number, number_or_none
from mayfly.errors import MayflyError
from mayfly.profile.answer import Loaded, listing_through
from mayfly.profile.classes import CLASSES, SIDES
from mayfly.profile.distributions import FROM_START
from mayfly.profile.load import BIN_S
from mayfly.profile.workload.draw import HEADER, MSS
from mayfly.profile.workload.laws import Fitted, Measured, fitted, measured
from mayfly.profile.workload.schema import Class, Datagrams, Ends, Period, Workload
from mayfly.summary_types import Accounted
from mayfly.text.parquet import read_parquet
from mayfly.workload.account import account_of, aside_of_columns
from mayfly.workload.capture import RTT_BOUNDS_S, flows_in_parts, networks_of
from mayfly.workload.columns import begins_of
from mayfly.workload.doubts import named, refuse_partial
from mayfly.workload.mix import offered

MEASURES = ("gap", "size", "rtt")
"""What a law may be fitted to."""

POINTS = 400
"""Most steps of a measured law."""

FEWEST_GAPS = 8
"""Times between arrivals below which they are taken for exponential."""

MOST_PAIRS = 2000
"""Pairs of hosts that are kept per class."""


def fit_list(text: str | None) -> tuple[str, ...]:
    """Measures named in a list with commas; ``all`` are all of them.

    Examples
    --------
    >>> fit_list("size,gap"), fit_list("all"), fit_list(None)
    (('size', 'gap'), ('gap', 'size', 'rtt'), ())
    """
    if text is None:
        return ()
    return MEASURES if text.strip() == "all" else tuple(name.strip() for name in text.split(","))


def workload_of(
    found: Loaded,
    *,
    fit: Iterable[str] = (),
    points: int = POINTS,
    accounts: list[Accounted] | None = None,
) -> Workload:
    """Make a workload of a profile.

    Parameters
    ----------
    found : Loaded
        Of :func:`mayfly.profile.answer.profile`, or what it begins with.
    fit : iterable of str
        Which of :data:`MEASURES` get the law that fits best by AIC; the others are as measured.
    points : int
        Most steps of a measured law, at least 2.
    accounts : list of dict, optional
        Gets the account of the captures; connections that began before are ``aside``.

    Returns
    -------
    Workload

    Raises
    ------
    MayflyError
        An unknown measure, too few points, or no flow that began in the capture.
    """
    networks = networks_of(found.sides.networks) if found.sides.networks else None
    table, counts, sources = found.columns, found.connections.counts, found.connections.sources
    is_begun = ~table.words("protocol").are("tcp") | table.words("opener_from").among(FROM_START)
    hosts = pl.Enum(sorted({*table.words("opener").names, *table.words("responder").names}))
    used = np.zeros(table.height, dtype=bool)
    groups: Groups = {}
    left_out, last_s = {"flows": 0, "bytes": 0}, 0.0
    for part in flows_in_parts(table, networks, from_zero=False):
        rows = part["connection_id"].to_numpy()
        inside = is_begun[rows]
        before = part.filter(~inside)
        left_out = {
            "flows": left_out["flows"] + before.height,
            "bytes": left_out["bytes"] + int(before["size_bytes"].sum() or 0),
        }
        own = rows[inside]
        used[own] = True
        rtts_s = table["rtt_s"][own]
        known = (rtts_s >= RTT_BOUNDS_S[0]) & (rtts_s <= RTT_BOUNDS_S[1])
        flows = part.filter(inside).with_columns(
            pl.Series("rtt_s", np.where(known, rtts_s, np.nan), nan_to_null=True),
            *table.part(("class", "side"), own).rename({"class": "group"}),
            pl.col("src", "dst").cast(hosts),
            pl.col("opened_by").cast(pl.Enum(("sender", "receiver"))),
        )
        last_s = max(last_s, number_or_none(flows["start_s"].max()) or 0.0)
        _deal(flows.drop("flow_id", "connection_id"), groups, table.held_table)
    if copies := counts.get("skipped", {}).get("duplicate"):
        left_out["copies"] = copies
    if filtered := counts.get("filtered"):
        left_out["filtered"] = filtered
    if accounts is not None:
        accounts.append(account_of(counts, sources, aside_of_columns(table, used)))
    duration_s = max(found.connections.duration_s, last_s * (1 + 1e-9))
    if not groups or not duration_s > 0:
        raise MayflyError(f"{', '.join(sources)}: no flow that began in the capture, in 0 s or more")
    _check(fit := tuple(fit), points)
    return _workload(groups, duration_s, sources, _periods(found, duration_s), left_out, fit, points)


Groups = dict[tuple[Any, ...], list[pl.LazyFrame]]
"""Parts of flows by :data:`_KEY`, in the order of starts."""


def _deal(
    flows: pl.DataFrame, groups: Groups, held: Callable[[pl.DataFrame], pl.LazyFrame] = pl.DataFrame.lazy
) -> None:
    """Add flows to their groups, without what all flows of a group share; ``held`` says where parts are."""
    for key, part in flows.partition_by(*_KEY, as_dict=True, include_key=False).items():
        own = part.drop(_OF_UDP, strict=False) if key[-1] == "tcp" else part
        groups.setdefault(key, []).append(held(own))


_OF_UDP = ("packet_bytes", "rate_bps")
"""Columns that TCP has no values for."""


def _periods(found: Loaded, duration_s: float) -> list[Period]:
    """Those of the load; the last one lasts to the end."""
    if not found.periods:
        total = 8 * number(found.load["bytes"].sum()) / duration_s
        return [Period(start_s=0.0, end_s=duration_s, mean_bps=total)]
    begins = [found.bin_s * period.begin for period in found.periods]
    ends = [*begins[1:], duration_s]
    return [
        Period(
            start_s=begin,
            end_s=end,
            mean_bps=period.mean,
            stationary=period.stationary,
            busy=bool(period.busy),
        )
        for begin, end, period in zip(begins, ends, found.periods, strict=True)
    ]


def workload_of_flows(
    flows: pl.DataFrame,
    duration_s: float,
    *,
    sources: Sequence[str] = (),
    periods: Sequence[Period] | None = None,
    left_out: dict[str, int] | None = None,
    fit: Iterable[str] = (),
    points: int = POINTS,
) -> Workload:
    """Make a workload of a flow list.

    Parameters
    ----------
    flows : polars.DataFrame
        A normalised flow list whose ``group`` is one of :data:`mayfly.profile.classes.CLASSES`; ``side`` may tell the
        side, and else follows the class.
    duration_s : float
        Time over which the flows arrived, s.
    sources, left_out
        As in :class:`Workload`.
    periods : sequence of Period, optional
        That cover the duration; one when not given.
    fit, points, accounts
        As for :func:`workload_of`.

    Returns
    -------
    Workload

    Raises
    ------
    MayflyError
        As :func:`workload_of`; or a flow without a class.
    """
    _check(fit := tuple(fit), points)
    if not flows["group"].is_in(list(CLASSES)).fill_null(False).all():
        raise MayflyError(f"group: must be one of {', '.join(CLASSES)} for every flow")
    if "side" not in flows.columns:
        outside = pl.col("group").str.ends_with("rp")
        flows = flows.with_columns(
            pl.when(outside).then(pl.lit("external")).otherwise(pl.lit("internal")).alias("side")
        )
    if periods is None:
        loads = offered(flows, mss=MSS, header_bytes=HEADER, span_s=duration_s)
        total = sum(loads[way]["mbps"] for way in ("down", "up")) * 1e6
        periods = [Period(start_s=0.0, end_s=duration_s, mean_bps=total)]
    groups: Groups = {}
    _deal(flows.sort("start_s", maintain_order=True), groups)
    return _workload(groups, duration_s, sources, periods, left_out or {}, fit, points)


def _check(fit: tuple[str, ...], points: int) -> None:
    if wrong := [name for name in fit if name not in MEASURES]:
        raise MayflyError(f"fit = {wrong[0]}: must be one of {', '.join(MEASURES)}")
    if points < 2:
        raise MayflyError(f"points = {points}: must be at least 2")


def _workload(
    groups: Groups,
    duration_s: float,
    sources: Sequence[str],
    periods: Sequence[Period],
    left_out: dict[str, int],
    fit: tuple[str, ...],
    points: int,
) -> Workload:
    """Of groups of flows, each of which is given up when it is measured."""
    order = [(name, side, way, protocol) for name in CLASSES for side in SIDES for way in _WAYS for protocol in _WIRES]
    classes = []
    for key in order:
        if (parts := groups.pop(key, None)) is None:
            continue
        shared = [pl.lit(value).alias(name) for name, value in zip(_KEY, key, strict=True)]
        if key[-1] == "tcp":
            shared += [pl.lit(None).alias(name) for name in _OF_UDP]
        flows = pl.concat(parts).collect().with_columns(shared)
        classes.append(_class(key, flows, duration_s, periods, fit, points))
    return Workload(
        sources=list(sources), duration_s=duration_s, left_out=left_out, period=list(periods), class_=classes
    )


_KEY, _WAYS, _WIRES = ("group", "side", "direction", "protocol"), ("down", "up"), ("tcp", "udp")


def _class(
    key: tuple[Any, ...],
    flows: pl.DataFrame,
    duration_s: float,
    periods: Sequence[Period],
    fit: tuple[str, ...],
    points: int,
) -> Class:
    name, side, direction, protocol = key

    def law(measure: str, values: Floats) -> Measured | Fitted:
        return (fitted if measure in fit else measured)(values, points)

    starts = flows["start_s"].to_numpy()
    counts = np.histogram(starts, [0.0, *(period.end_s for period in periods)])[0]
    lengths = np.array([period.end_s - period.start_s for period in periods])
    rate = flows.height / duration_s
    activity = counts / lengths / rate
    runs = np.concatenate([[0.0], np.cumsum(activity * lengths)])
    gaps = np.diff(np.interp(starts, np.concatenate([[0.0], np.cumsum(lengths)]), runs))
    if len(gaps) < FEWEST_GAPS or not gaps.any():
        # Too few to say more of them than their mean; the largest that a law of this mean would show in ten million.
        gap: Measured | Fitted = Fitted(law="exponential", parameters={"mean": 1 / rate}, maximum=16 / rate)
    else:
        gap = law("gap", gaps)
    more: dict[str, Any] = {}
    if protocol == "udp":
        more["datagrams"] = _datagrams(flows, points)
    else:
        more["size"] = law("size", flows["size_bytes"].to_numpy())
        rtts = flows["rtt_s"].drop_nulls().to_numpy()
        more["rtt"] = law("rtt", rtts) if len(rtts) else None
    load = offered(flows, mss=MSS, header_bytes=HEADER, span_s=duration_s)[direction]["mbps"] * 1e6
    return Class(
        name=name,
        side=side,
        direction=direction,
        protocol=protocol,
        flows=flows.height,
        rate=rate,
        mean_bps=load,
        opened_by_sender=number((flows["opened_by"] == "sender").mean()),
        activity=activity.tolist(),
        gap=gap,
        ends=_ends(flows),
        **more,
    )


def _ends(flows: pl.DataFrame) -> Ends:
    src, dst = flows["src"], flows["dst"]
    if isinstance(src.dtype, pl.Enum):
        hosts, places = src.dtype.categories, [end.to_physical() for end in (src, dst)]
    else:
        hosts = pl.concat([src, dst.alias("src")]).unique().sort()
        places = [hosts.search_sorted(end) for end in (src, dst)]
    one, two = (end.to_numpy().astype(np.int64) for end in places)
    pairs = np.sort(one * len(hosts) + two)
    begins = begins_of(pairs)
    counts = np.diff(np.append(begins, len(pairs)))
    # Of those as often in the order of their names.
    most = np.argsort(-counts, kind="stable")[:MOST_PAIRS]
    found = pairs[begins[most]]
    names = hosts.cast(pl.String)
    return Ends(
        src=names[found // len(hosts)].to_list(),
        dst=names[found % len(hosts)].to_list(),
        weights=counts[most].astype(float).tolist(),
        left_out=1 - int(counts[most].sum()) / flows.height,
    )


def _datagrams(flows: pl.DataFrame, points: int) -> Datagrams:
    """Different flows with their number; of more than ``points``, one of those next to each other stands for them."""
    columns = ("size_bytes", "packet_bytes", "rate_bps")
    rows = flows.group_by(columns).len().sort(columns)
    weights = rows["len"].cast(pl.Float64).to_numpy()
    if rows.height > points:
        parts = np.array_split(np.arange(rows.height), points)
        weights = np.array([weights[part].sum() for part in parts])
        rows = rows[[int(part[len(part) // 2]) for part in parts]]
    return Datagrams(**{name: rows[name].to_list() for name in columns}, weights=weights.tolist())


def workload_from(
    captures: Sequence[str | os.PathLike[str]],
    *,
    internal: Sequence[str] | None = None,
    hosts: str | os.PathLike[str] | None = None,
    fit: Iterable[str] = (),
    points: int = POINTS,
    bin_s: float = BIN_S,
    progress: Callable[[float], None] | None = None,
    filter: str | None = None,
    accounts: list[Accounted] | None = None,
) -> Workload:
    """Make a workload of captures, of a table of connections, or of what ``mayfly profile`` wrote.

    Parameters
    ----------
    captures : sequence of path
        As :func:`mayfly.profile.table.read_connections` takes them; or the folder or the ``profile.json`` of a profile:
        its connections, networks, roles and width of bins are then taken.
    internal, hosts, bin_s, progress, filter
        As for :func:`mayfly.profile.answer.profile`.
    fit, points
        As for :func:`workload_of`.

    Returns
    -------
    Workload

    Raises
    ------
    MayflyError
        As those functions, or the captures were not read whole.
    """
    if len(captures) == 1 and (folder := _profile_folder(captures[0])) is not None:
        captures, more = [folder / "connections.parquet"], _as_profiled(folder)
        internal, hosts, bin_s = internal or more["internal"], hosts or more["hosts"], more["bin_s"]
    listed = listing_through(captures, internal=internal, hosts=hosts, filter=filter, progress=progress, whole=True)
    refuse_partial(listed.connections.counts, named(captures), "what a workload is measured from", None)
    found = Loaded.of(listed, bin_s)
    return workload_of(found, fit=fit, points=points, accounts=accounts)


def _profile_folder(path: str | os.PathLike[str]) -> Path | None:
    path = Path(path)
    return path if path.is_dir() else path.parent if path.name == "profile.json" else None


def _as_profiled(folder: Path) -> dict[str, Any]:
    """Networks, roles and width of bins of a profile that was written."""
    import json

    try:
        document = json.loads((folder / "profile.json").read_text(encoding="utf-8"))
        roles = read_parquet(folder / "hosts.parquet", columns=["host", "role"]).drop_nulls()
        internal, bin_s = list(document["site"]["networks"]), float(document["load"]["bin_s"])
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
        raise MayflyError(f"{folder}: no folder that mayfly profile wrote: {reason}") from None
    return {"internal": internal or None, "hosts": dict(roles.iter_rows()), "bin_s": bin_s}
