"""Synthetic flow lists, the load a flow list offers, and its scaling to another load.

Load counts data packets with their headers, as the papers do; acknowledgements, SYN and FIN come on top.
Source: Chen 2012, 4.4.2 (Poisson transfers) and 4.6.4 (CBR flows); Zhao 2004, II.C (permanent TCP flows).

Flows may bear the name of a group, to be told apart in the records, and belong to users: each user has a pair of hosts
of its own, and the flows are dealt to the users in turn (Poisson transfers: drawn uniformly).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Integers, number_or_none
from mayfly.errors import MayflyError
from mayfly.workload import bursts, stages
from mayfly.workload.arrivals import choice, stream
from mayfly.workload.hosts import Hosts, Pair, check_users, drawn_ends, fresh_pairs, own_ends
from mayfly.workload.lists import flow_list
from mayfly.workload.offering import Transfers
from mayfly.workload.sources.transfers import transfer_flows


class Source(Protocol):
    """Draws flows that start at times known beforehand."""

    kind: ClassVar[str]
    flows: int
    users: int | None
    group: str | None
    ends: tuple[Hosts, Hosts] | None

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list; ``dealt`` numbers the flows that users are dealt."""


class Pages(Protocol):
    """Draws pages, some of which wait for others."""

    kind: ClassVar[str]
    ends: tuple[Hosts, Hosts] | None

    def pages_of(
        self, duration_s: float, seed: int, index: int, hosts: tuple[Hosts, Hosts], mss: int, first_stage: int
    ) -> pl.DataFrame:
        """Rows of the flow list, with end points, stages from ``first_stage`` on, and groups."""


SENDERS, RECEIVERS = (1, 2, 3, 4, 5), (8, 9, 10, 11, 12)
"""Nodes of the wired scenario (Chen 2012, Figure 4.1)."""


def synthetic(
    transfers: Transfers | None = None,
    *,
    duration_s: float,
    seed: int = 1,
    sources: Sequence[Source | Pages] = (),
    transports: Sequence[str | None] = (),
    senders: Sequence[int | str] = SENDERS,
    receivers: Sequence[int | str] = RECEIVERS,
    pairs: Iterator[Pair] | None = None,
    mss: int = 1460,
    header_bytes: int = 40,
) -> pl.DataFrame:
    """Draw a flow list from laws.

    Parameters
    ----------
    transfers : Transfers, optional
        TCP transfers with sizes of a law.
    duration_s : float
        Flows start in [0, duration_s), s, > 0.
    seed : int
        Seed of the run, 0 to 2^64 - 1. Arrival times, sizes, end points and directions each have a stream of their own.
    sources : sequence of Source, Pages
        Flows of other kinds beside the transfers: :mod:`mayfly.workload.sources.registry`.
    transports : sequence of str, optional
        Name of the transport of each source; None, or none at all, for that of the run.
    senders, receivers : sequence
        End points, drawn uniformly for every flow that belongs to no user.
    pairs : iterator of pairs, optional
        Sender and receiver of each user in turn; hosts of their own when not given.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 14)
        As :func:`mayfly.workload.lists.flow_list` returns it, with ``transport`` where one is given; flow ids ascend
        with the start.

    Raises
    ------
    MayflyError
        A value is outside its bounds, or there are no flows.

    Examples
    --------
    >>> from mayfly.laws.sizes import wired
    >>> flows = synthetic(Transfers(wired(), 8e6, exact_load=True), duration_s=1000.0)
    >>> round(offered(flows)["down"]["mbps"], 1)
    8.0
    """
    if not 0 < duration_s < math.inf:
        raise MayflyError(f"duration_s = {duration_s}: must be above 0 and finite")
    for name, nodes in (("senders", senders), ("receivers", receivers)):
        if len(nodes) == 0:
            raise MayflyError(f"{name} = []: must be at least one node")
    check_packet(mss, header_bytes)
    parts: dict[tuple[str, int], tuple[Transfers | Source, pl.DataFrame]] = {}
    if transfers is not None:
        check_users("transfers", transfers.users)
        parts["transfers", 0] = transfers, transfer_flows(transfers, duration_s, seed, mss, header_bytes)
    of_kind: Counter[str] = Counter()
    numbered = []
    for source, transport in zip_longest(sources, transports):
        own = {} if transport is None else {"transport": pl.lit(transport)}
        numbered.append((source, source.kind, of_kind[source.kind], own))
        of_kind[source.kind] += 1
    for source, kind, index, own in numbered:
        if not hasattr(source, "pages_of"):
            check_users(source.kind, source.users, source.flows)
            parts[kind, index] = source, source.rows(duration_s, stream(seed, kind, index)).with_columns(**own)
    pairs, hosts = pairs or fresh_pairs(senders, receivers), (senders, receivers)
    ends = [
        with_ends(part, given, seed, names, hosts, pairs) for names, (given, part) in parts.items() if part.height > 0
    ]
    for source, _, index, own in numbered:
        if hasattr(source, "pages_of"):
            taken = [number_or_none(part["stage"].max()) for part in ends if "stage" in part.columns]
            first_stage = 1 + max([-1, *(int(stage) for stage in taken if stage is not None)])
            pages = source.pages_of(duration_s, seed, index, source.ends or hosts, mss, first_stage)
            ends += [pages.with_columns(**own)] if pages.height else []
    if not ends:
        raise MayflyError(f"no flows in {duration_s} s: must be at least one flow")
    return flow_list(pl.concat(ends, how="diagonal").sort("start_s", maintain_order=True), mss=mss, source="workload")


def offered(
    flows: pl.DataFrame, *, mss: int = 1460, header_bytes: int = 40, span_s: float | None = None
) -> dict[str, Any]:
    """Measure what a flow list offers the link, by direction.

    Parameters
    ----------
    flows : polars.DataFrame
        A normalised flow list.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.
    span_s : float, optional
        Time over which rates are taken, s, > 0; from the first start to the last one, or to the last UDP packet if
        later, when not given.

    Returns
    -------
    dict
        ``span_s``; ``endless_flows``, TCP flows of 2^40 bytes and applications, counted nowhere else; ``down`` and
        ``up``, each with ``flows``, ``wire_bytes`` (data packets with headers) and ``mbps`` (10^6 bit/s; None when the
        span is 0).

    Raises
    ------
    MayflyError
        A packet or span is outside its bounds.

    Examples
    --------
    >>> flows = flow_list(pl.DataFrame({"start_s": [0.0, 2.0], "size_packets": [100, 300]}))
    >>> offered(flows)["down"]
    {'flows': 2, 'wire_bytes': 600000, 'mbps': 2.4}
    """
    check_packet(mss, header_bytes)
    if span_s is not None and not 0 < span_s < math.inf:
        raise MayflyError(f"span_s = {span_s}: must be above 0 and finite")
    told = flows.select(
        "start_s",
        pl.col("size_bytes", "packet_bytes").cast(pl.Int64),
        pl.col("rate_bps").cast(pl.Float64),
        up=pl.col("direction") == "up",
        udp=pl.col("protocol") == "udp",
        application=pl.col("application").is_not_null() if "application" in flows.columns else pl.lit(False),
    )
    bursts_of, scripts_of = (flows.select(name) if name in flows.columns else None for name in ("bursts", "script"))
    own_span_s, endless_flows, ways = _native.offered(told, bursts_of, scripts_of, mss, header_bytes)
    span_s = own_span_s if span_s is None else span_s
    answer: dict[str, Any] = {"span_s": span_s, "endless_flows": endless_flows}
    for direction, (count, wire_bytes) in zip(("down", "up"), ways, strict=True):
        mbps = wire_bytes * 8 / span_s / 1e6 if span_s > 0 else None
        answer[direction] = {"flows": count, "wire_bytes": wire_bytes, "mbps": mbps}
    return answer


def scale_load(
    flows: pl.DataFrame,
    load: float,
    rate_bps: float,
    *,
    mss: int = 1460,
    header_bytes: int = 40,
    up_rate_bps: float | None = None,
    span_s: float | None = None,
) -> pl.DataFrame:
    """Move flows closer together or further apart, so that they offer ``load`` times the rate of the link.

    Parameters
    ----------
    flows : polars.DataFrame
        A normalised flow list.
    load : float
        Offered load of the busier direction over its span (see :func:`offered`) as a fraction of its rate, > 0.
    rate_bps : float
        Rate of the link, bit/s, > 0.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.
    up_rate_bps : float, optional
        Rate of the other direction, bit/s, > 0; the same when not given.
    span_s : float, optional
        Time over which the flows are offered, s, > 0; as of :func:`offered` when not given.

    Returns
    -------
    polars.DataFrame
        Time runs by a factor: start times are multiplied by it, rates of UDP flows divided, sizes kept.

    Raises
    ------
    MayflyError
        A value is outside its bounds, or the flows have no span to scale: they start at one instant, or never end.

    Examples
    --------
    >>> flows = flow_list(pl.DataFrame({"start_s": [0.0, 2.0], "size_packets": [100, 300]}))
    >>> scale_load(flows, 0.8, 1e6)["start_s"].round(9).to_list()
    [0.0, 6.0]
    """
    rates = {"down": rate_bps, "up": rate_bps if up_rate_bps is None else up_rate_bps}
    for name, value in (("load", load), ("rate_bps", rate_bps), ("up_rate_bps", rates["up"])):
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value}: must be above 0 and finite")
    if stages.is_closed_loop(flows):
        raise MayflyError(f"load = {load}: flows that wait for a stage have no load of their own: must have no `after`")
    now = offered(flows, mss=mss, header_bytes=header_bytes, span_s=span_s)
    if not now["span_s"] > 0:
        raise MayflyError(
            f"load = {load}: the flows span 0 s and cannot be scaled: must start at two instants at least"
        )
    factor = max(now[direction]["mbps"] * 1e6 / rate for direction, rate in rates.items()) / load
    slower = flows.with_columns(pl.col("start_s") * factor, pl.col("rate_bps") / factor)
    if "bursts" in flows.columns:
        slower = slower.with_columns(bursts.scaled(flows["bursts"], factor))
    return flow_list(slower, mss=mss, source="scaled flows")


def check_packet(mss: int, header_bytes: int) -> None:
    """Refuse packets that IP cannot carry."""
    if not (mss >= 1 and header_bytes >= 0 and mss + header_bytes <= 65535):
        raise MayflyError(f"mss = {mss}, header_bytes = {header_bytes}: must be >= 1 and >= 0, together at most 65535")


def user_pairs(users: int, name: str, ends: tuple[Hosts, Hosts] | None, pairs: Iterator[Pair]) -> list[Pair]:
    """A pair of hosts for each user: fresh ones, or those there are."""
    if ends is None:
        return [next(pairs) for _ in range(users)]
    if users > min(map(len, ends)):
        raise MayflyError(f"{name}: users = {users}: must be at most the hosts on either side, {min(map(len, ends))}")
    return list(zip(*ends, strict=False))[:users]


def with_ends(
    part: pl.DataFrame,
    given: Transfers | Source,
    seed: int,
    names: tuple[str, int],
    hosts: tuple[Hosts, Hosts],
    pairs: Iterator[Pair],
) -> pl.DataFrame:
    """Add end points, drawn from both sides or of the users, and the group."""
    hosts = getattr(given, "ends", None) or hosts
    if given.users is None:
        placed = drawn_ends(part, seed, names, *hosts)
    else:
        # A sender that renews its hosts has a pair for each of its ports.
        users = part.height if getattr(given, "renew_hosts", False) else given.users
        own = user_pairs(users, names[0], given.ends, pairs)
        if "dealt" in part.columns:
            user: pl.Series | Integers = part["dealt"] % users
        else:
            user = choice(stream(seed, "users", *names), given.users, part.height)
        placed = own_ends(part, own, user, hosts)
    placed = placed.drop("dealt", strict=False)
    # Parts of the transfers have groups of their own.
    return placed if "group" in placed.columns else placed.with_columns(group=pl.lit(given.group, pl.String))
