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
from dataclasses import dataclass

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.workload import bursts, stages
from mayfly.workload.arrivals import choice, stream
from mayfly.workload.ends import Hosts, check_users, drawn_ends, fresh_pairs, own_ends
from mayfly.workload.lists import ENDLESS_BYTES, flow_list
from mayfly.workload.sources.datagrams import Datagrams, places
from mayfly.workload.sources.http import Http, http_flows
from mayfly.workload.sources.short_term import ShortTerm
from mayfly.workload.sources.transfers import Transfers, transfer_flows
from mayfly.workload.sources.web import Web, web_flows

SENDERS, RECEIVERS = (1, 2, 3, 4, 5), (8, 9, 10, 11, 12)
"""Nodes of the wired scenario (Chen 2012, Figure 4.1)."""

MOST_FLOWS = 10_000_000
"""Largest number of flows one entry of a mix may make."""


@dataclass(frozen=True)
class Cbr:
    """UDP flows of constant rate.

    Parameters
    ----------
    rate_bps : float
        Rate of each flow on the wire, headers included, bit/s, from 1 to 10^12.
    packet_bytes : int
        Wire length of each packet, bytes, from 29 to 65535.
    start_s, stop_s : float
        First packet, and the time from which none is sent, s; ``stop_s`` is the end of the run when not given.
    flows : int
        Number of such flows, >= 1.
    spread_s : float
        Each starts, and stops, later by a time uniform on [0, spread_s), s; 0 keeps them in step.
    renew_packets : int, optional
        After so many packets the sender goes on under another port, without a pause: a flow of its own in the list.
        Never when not given.
    users : int, optional
        Users the senders are dealt to in turn, at most ``flows``; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    place : str
        ``random``, or ``even``: delays at equal distances below ``spread_s``.
    direction : str
        ``down``, or ``up``: from a receiver to a sender.
    """

    rate_bps: float
    packet_bytes: int = 1500
    start_s: float = 0.0
    stop_s: float | None = None
    flows: int = 1
    spread_s: float = 0.0
    renew_packets: int | None = None
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    place: str = "random"
    direction: str = "down"


@dataclass(frozen=True)
class Permanent:
    """TCP flows that never end: 2^40 bytes each.

    Parameters
    ----------
    flows : int
        Number of flows, >= 1.
    spread_s : float
        Each starts at a time uniform on [0, spread_s), s; 0 starts all at once.
    users : int, optional
        Users the flows are dealt to in turn, at most ``flows``; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    rtt_min_s, rtt_max_s : float, optional
        Round-trip times of the first and the last flow, those between at equal distances, s; that of the path when not
        given.
    direction : str
        ``down``, or ``up``: from a receiver to a sender.
    """

    flows: int
    spread_s: float = 0.0
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    rtt_min_s: float | None = None
    rtt_max_s: float | None = None
    direction: str = "down"


@dataclass(frozen=True)
class Batch:
    """TCP transfers at given times, each split over several connections.

    Parameters
    ----------
    size_bytes : int
        Payload of a transfer, all its connections together, bytes; at least ``flows``.
    flows : int
        Connections of a transfer, >= 1: each carries an equal part, the first ones a byte more where need be.
    start_s : float
        When the first transfer begins, s, all its connections at once; none from the end of the run on.
    every_s : float, optional
        Time from one transfer to the next, s, > 0, until the end of the run; a single one when not given.
    users : int, optional
        Users the connections are dealt to in turn, at most ``flows``; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    """

    size_bytes: int
    flows: int = 1
    start_s: float = 0.0
    every_s: float | None = None
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None


def synthetic(
    transfers: Transfers | None = None,
    *,
    duration_s: float,
    seed: int = 1,
    cbr: Sequence[Cbr] = (),
    permanent: Sequence[Permanent] = (),
    batches: Sequence[Batch] = (),
    web: Sequence[Web] = (),
    sources: Sequence[Datagrams | ShortTerm] = (),
    http: Sequence[Http] = (),
    senders: Sequence[int | str] = SENDERS,
    receivers: Sequence[int | str] = RECEIVERS,
    pairs: Iterator[tuple[int | str, int | str]] | None = None,
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
    cbr, permanent, batches, web, http : sequence of Cbr, Permanent, Batch, Web, Http
        UDP flows, endless TCP flows, split TCP transfers, web sessions and HTTP pages beside the Poisson transfers.
    sources : sequence of Datagrams, ShortTerm
        UDP flows that are on and off, change their rate or replay a trace, and short-term TCP flows.
    senders, receivers : sequence
        End points, drawn uniformly for every flow that belongs to no user.
    pairs : iterator of pairs, optional
        Sender and receiver of each user in turn; hosts of their own when not given.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 14)
        As :func:`mayfly.workload.lists.flow_list` returns it; flow ids ascend with the start.

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
    parts = {}
    if transfers is not None:
        check_users("transfers", transfers.users)
        parts["transfers", 0] = transfers, transfer_flows(transfers, duration_s, seed, mss, header_bytes)
    for index, flows in enumerate(cbr):
        parts["cbr", index] = flows, cbr_flows(flows, duration_s, stream(seed, "cbr", index))
    for index, flows in enumerate(permanent):
        parts["permanent", index] = flows, permanent_flows(flows, stream(seed, "permanent", index))
    for index, flows in enumerate(batches):
        parts["batch", index] = flows, batch_flows(flows, duration_s)
    of_kind: Counter[str] = Counter()
    for flows in sources:
        check_users(flows.kind, flows.users, flows.flows)
        names = flows.kind, of_kind[flows.kind]
        parts[names] = flows, flows.rows(duration_s, stream(seed, *names))
        of_kind[flows.kind] += 1
    pairs, hosts = pairs or fresh_pairs(senders, receivers), (senders, receivers)
    ends = [
        with_ends(part, given, seed, names, hosts, pairs) for names, (given, part) in parts.items() if part.height > 0
    ]
    drawn = [(web_flows, index, sessions) for index, sessions in enumerate(web)]
    for draw, index, sessions in [*drawn, *((http_flows, index, sessions) for index, sessions in enumerate(http))]:
        taken = [part["stage"].max() for part in ends if "stage" in part.columns]
        first_stage = 1 + max([-1, *(stage for stage in taken if stage is not None)])
        pages = draw(sessions, duration_s, seed, index, sessions.ends or hosts, mss, first_stage)
        ends += [pages] if pages.height else []
    if not ends:
        raise MayflyError(f"no flows in {duration_s} s: must be at least one flow")
    return flow_list(pl.concat(ends, how="diagonal").sort("start_s", maintain_order=True), mss=mss, source="workload")


def offered(flows: pl.DataFrame, *, mss: int = 1460, header_bytes: int = 40, span_s: float | None = None) -> dict:
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
        ``span_s``; ``endless_flows``, TCP flows of 2^40 bytes, counted nowhere else; ``down`` and ``up``, each with
        ``flows``, ``wire_bytes`` (data packets with headers) and ``mbps`` (10^6 bit/s; None when the span is 0).

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
    udp = pl.col("protocol") == "udp"
    packet = pl.when(udp).then(pl.col("packet_bytes")).otherwise(None).fill_null(mss + header_bytes)
    payload = packet - pl.when(udp).then(UDP_HEADER_BYTES).otherwise(header_bytes)
    packets = (pl.col("size_bytes") + payload - 1) // payload
    # Every packet of a UDP flow has the same length; the last one of a TCP flow is as long as what is left.
    wire = pl.when(udp).then(packets * packet).otherwise(pl.col("size_bytes") + packets * header_bytes)
    endless = ~udp & (pl.col("size_bytes") == ENDLESS_BYTES)
    lasts_s = (wire * 8 / pl.col("rate_bps")).fill_null(0.0)
    if "bursts" in flows.columns:
        own = pl.DataFrame({"row": pl.int_range(flows.height, dtype=pl.UInt32, eager=True)}).join(
            bursts.volumes(flows["bursts"]), on="row", how="left", maintain_order="left"
        )
        flows = flows.with_columns(own["wire_bytes"], own["end_s"])
        wire, lasts_s = pl.coalesce("wire_bytes", wire), pl.coalesce("end_s", lasts_s)
    counted = flows.filter(~endless).select("direction", "start_s", wire=wire, end_s=pl.col("start_s") + lasts_s)
    if span_s is None:
        span_s = counted["end_s"].max() - counted["start_s"].min() if counted.height else 0.0
    answer = {"span_s": span_s, "endless_flows": flows.height - counted.height}
    for direction in ("down", "up"):
        wires = counted.filter(direction=direction)["wire"]
        mbps = wires.sum() * 8 / span_s / 1e6 if span_s > 0 else None
        answer[direction] = {"flows": len(wires), "wire_bytes": wires.sum(), "mbps": mbps}
    return answer


def scale_load(
    flows: pl.DataFrame, load: float, rate_bps: float, *, mss: int = 1460, header_bytes: int = 40
) -> pl.DataFrame:
    """Move flows closer together or further apart, so that they offer ``load`` times the rate of the link.

    Parameters
    ----------
    flows : polars.DataFrame
        A normalised flow list.
    load : float
        Offered load of the busier direction over its span (see :func:`offered`) as a fraction of ``rate_bps``, > 0.
    rate_bps : float
        Rate of the link, bit/s, > 0.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

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
    >>> scale_load(flows, 0.8, 1e6)["start_s"].to_list()
    [0.0, 6.0]
    """
    for name, value in (("load", load), ("rate_bps", rate_bps)):
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value}: must be above 0 and finite")
    if stages.is_closed_loop(flows):
        raise MayflyError(f"load = {load}: flows that wait for a stage have no load of their own: must have no `after`")
    now = offered(flows, mss=mss, header_bytes=header_bytes)
    if not now["span_s"] > 0:
        raise MayflyError(
            f"load = {load}: the flows span 0 s and cannot be scaled: must start at two instants at least"
        )
    factor = max(now[direction]["mbps"] for direction in ("down", "up")) * 1e6 / (load * rate_bps)
    slower = flows.with_columns(pl.col("start_s") * factor, pl.col("rate_bps") / factor)
    if "bursts" in flows.columns:
        slower = slower.with_columns(bursts.scaled(flows["bursts"], factor))
    return flow_list(slower, mss=mss, source="scaled flows")


def check_packet(mss: int, header_bytes: int) -> None:
    """Refuse packets that IP cannot carry."""
    if not (mss >= 1 and header_bytes >= 0 and mss + header_bytes <= 65535):
        raise MayflyError(f"mss = {mss}, header_bytes = {header_bytes}: must be >= 1 and >= 0, together at most 65535")


def cbr_flows(cbr: Cbr, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
    """Rows of constant-rate UDP flows: as many packets as leave from ``start_s`` on, before ``stop_s``."""
    stop_s = duration_s if cbr.stop_s is None else cbr.stop_s
    if not 0 <= cbr.start_s < stop_s < math.inf:
        raise MayflyError(f"start_s = {cbr.start_s}, stop_s = {stop_s}: must be 0 <= start_s < stop_s")
    if not UDP_HEADER_BYTES < cbr.packet_bytes <= 65535:
        raise MayflyError(f"packet_bytes = {cbr.packet_bytes}: must be from {UDP_HEADER_BYTES + 1} to 65535 bytes")
    if not 1 <= cbr.rate_bps <= 1e12:
        raise MayflyError(f"rate_bps = {cbr.rate_bps}: must be from 1 to 1e12 bit/s")
    check_users("cbr", cbr.users, cbr.flows)
    starts = cbr.start_s + places(cbr.flows, cbr.spread_s, cbr.place, rng)
    gap_s, payload = 8 * cbr.packet_bytes / cbr.rate_bps, cbr.packet_bytes - UDP_HEADER_BYTES
    # A packet due at stop_s itself is not sent; rounding must not add it.
    packets = max(math.ceil(round((stop_s - cbr.start_s) / gap_s, 6)), 1)
    at, counts = ports(packets, cbr.renew_packets, cbr.flows)
    return pl.DataFrame(
        {
            "start_s": (starts[:, None] + at * gap_s).ravel(),
            "size_bytes": np.tile(counts * payload, cbr.flows),
            "dealt": np.repeat(np.arange(cbr.flows), len(at)),
        }
    ).with_columns(
        protocol=pl.lit("udp"),
        direction=pl.lit(cbr.direction),
        packet_bytes=pl.lit(cbr.packet_bytes, pl.Int64),
        rate_bps=pl.lit(float(cbr.rate_bps)),
    )


def ports(packets: int, renew: int | None, senders: int) -> tuple[Floats, Floats]:
    """First packet and number of packets of each port that a sender of ``packets`` packets uses one after the other."""
    renew = packets if renew is None else renew
    if renew < 1:
        raise MayflyError(f"renew_packets = {renew}: must be at least 1")
    if senders * -(-packets // renew) > MOST_FLOWS:
        raise MayflyError(f"renew_packets = {renew}: must be large enough for at most {MOST_FLOWS} flows")
    at = np.arange(0, packets, renew)
    return at, np.minimum(renew, packets - at)


def permanent_flows(permanent: Permanent, rng: np.random.Generator) -> pl.DataFrame:
    """Rows of endless TCP flows."""
    check_users("permanent", permanent.users, permanent.flows)
    starts = places(permanent.flows, permanent.spread_s, "random", rng)
    rows = pl.DataFrame({"start_s": starts, "dealt": np.arange(len(starts))}).with_columns(
        direction=pl.lit(permanent.direction), size_bytes=pl.lit(ENDLESS_BYTES, pl.Int64)
    )
    if permanent.rtt_min_s is None or permanent.rtt_max_s is None:
        return rows
    return rows.with_columns(rtt_s=np.linspace(permanent.rtt_min_s, permanent.rtt_max_s, len(starts)))


def batch_flows(batch: Batch, duration_s: float) -> pl.DataFrame:
    """Rows of the connections of split transfers."""
    check_users("batch", batch.users, batch.flows)
    every_s = math.inf if batch.every_s is None else batch.every_s
    if not 0 <= batch.start_s < math.inf:
        raise MayflyError(f"batch: start_s = {batch.start_s}: must be 0 or more and finite")
    if not every_s > 0:
        raise MayflyError(f"batch: every_s = {every_s}: must be above 0")
    if not 1 <= batch.flows <= min(batch.size_bytes, MOST_FLOWS):
        most = min(batch.size_bytes, MOST_FLOWS)
        raise MayflyError(f"batch: flows = {batch.flows}: must be from 1 to {most}, with at least a byte for each")
    left_s = max(duration_s - batch.start_s, 0.0)
    times = math.ceil(left_s / every_s) if math.isfinite(every_s) else int(left_s > 0)
    if times * batch.flows > MOST_FLOWS:
        raise MayflyError(f"batch: every_s = {every_s}: must be long enough for at most {MOST_FLOWS} flows")
    part, more = divmod(batch.size_bytes, batch.flows)
    connection = np.tile(np.arange(batch.flows), times)
    later = np.repeat(np.arange(times), batch.flows)
    return pl.DataFrame(
        {
            "start_s": batch.start_s + (later * every_s if times > 1 else 0.0 * later),
            "size_bytes": part + (connection < more),
            "dealt": connection,
        }
    ).with_columns(direction=pl.lit("down"))


def user_pairs(
    users: int, name: str, ends: tuple[Hosts, Hosts] | None, pairs: Iterator[tuple]
) -> list[tuple[int | str, int | str]]:
    """A pair of hosts for each user: fresh ones, or those there are."""
    if ends is None:
        return [next(pairs) for _ in range(users)]
    if users > min(map(len, ends)):
        raise MayflyError(f"{name}: users = {users}: must be at most the hosts on either side, {min(map(len, ends))}")
    return list(zip(*ends, strict=False))[:users]


def with_ends(
    part: pl.DataFrame,
    given: Transfers | Cbr | Permanent | Batch | Datagrams | ShortTerm,
    seed: int,
    names: tuple[str, int],
    hosts: tuple[Hosts, Hosts],
    pairs: Iterator[tuple],
) -> pl.DataFrame:
    """Add end points, drawn from both sides or of the users, and the group."""
    hosts = getattr(given, "ends", None) or hosts
    if given.users is None:
        placed = drawn_ends(part, seed, names, *hosts)
    else:
        own = user_pairs(given.users, names[0], given.ends, pairs)
        if "dealt" in part.columns:
            user = part["dealt"] % given.users
        else:
            user = choice(stream(seed, "users", *names), given.users, part.height)
        placed = own_ends(part, own, user, hosts)
    placed = placed.drop("dealt", strict=False)
    # Parts of the transfers have groups of their own.
    return placed if "group" in placed.columns else placed.with_columns(group=pl.lit(given.group, pl.String))
