"""What a captured link did to its packets, so that a replay can leave it out.

Principle: a capture of a congested link holds its queue: round-trip times with waiting in them, trains stretched to
what the link had left, answers that seem thought about while they queued. Replayed as they stand, these would be met a
second time. The path without queue is the least round-trip time that any packet to an address took (RFC 5481, 6.2). A
queue is shared where packets that begin a connection wait as others do while the link is full: then what packets to one
address wait tells what those to another do, and an address that was never met without queue gets its path from there.
A train is slow because of the link where the link was busy meanwhile, or lost packets of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Floats, Integers
from mayfly.workload.connections import Reading

ENDS = ("opener", "responder")

BIN_S = 0.05
"""Width of the windows in which the queue is looked for, s; three in a row count as near. Queues that matter last
longer."""

BUSY = 0.6
"""Share of its rate from which on a link may be what makes a train slow."""

FULL = 0.85
"""Share of its rate that a link carried while it was full: gaps of round trips aside."""


NEAR_S = 0.25
"""A link is looked at so long before and after an instant, s."""

SHORTEST_S = 1e-4
"""No path is shorter, s."""

ROUNDS = 3
"""The paths are found in turn from each other; after so many rounds nothing moves."""

LEAST_COMMON = 5
"""Of the least round trips to an address so many are looked at ..."""

LEAST_QUEUE_S = 0.002
"""... and the least of all is the path where packets to others met no more than this around one of them, s."""

SHARED_PACKETS = 5.0
"""A queue is shared where the median handshake on a full link waits for so many packets: where flows have queues of
their own, the first packet of a new one passes behind one."""

PACKET_BYTES = 1500


@dataclass(frozen=True)
class CapturedLink:
    """The link that was captured.

    Parameters
    ----------
    bases : polars.DataFrame, shape (n_addresses, 2)
        ``address`` and ``base_s``, least round-trip time between the tap and it.
    queue_s : dict of tuple of ndarray
        By side of the link, ``near`` and ``far``: numbers of windows of `BIN_S`, ascending, and what packets took more
        than their base in each of them and those beside it, s: the median of a shared queue, else the least.
    shared : bool
        Whether all packets share one queue.
    carried : dict of tuple of ndarray
        By ``down`` and ``up``, times and bytes up to each of them.
    rates_bps : dict of float
        By ``down`` and ``up``.
    near : frozenset of str
        Addresses on the near side.
    """

    bases: pl.DataFrame
    queue_s: dict[str, tuple[Integers, Floats]]
    shared: bool
    carried: dict[str, tuple[Floats, Floats]]
    rates_bps: dict[str, float]
    near: frozenset[str]

    def queue_at(self, times_s: Floats, near: Booleans) -> Floats:
        """What packets to one side of the tap waited, there and back, at some times; 0 where nothing tells, s."""
        found = np.zeros(times_s.shape)
        for side, chosen in (("near", near), ("far", ~near)):
            bins, values = self.queue_s[side]
            if bins.size:
                wanted = (times_s[chosen] / BIN_S).astype(np.int64)
                place = np.minimum(np.searchsorted(bins, wanted), bins.size - 1)
                found[chosen] = np.where(bins[place] == wanted, values[place], 0.0)
        return found

    def is_busy(self, start_s: Floats, end_s: Floats, up: Booleans, share: float = BUSY) -> Booleans:
        """Whether the link carried that share of its rate from one time to another, in a direction."""
        found = np.zeros(start_s.shape, dtype=bool)
        for way, chosen in (("up", up), ("down", ~up)):
            times, sums = self.carried[way]
            if not times.size or not self.rates_bps.get(way):
                continue
            before, after = (np.interp(ends[chosen], times, sums) for ends in (start_s, end_s))
            lasted = np.maximum(end_s[chosen] - start_s[chosen], 1e-9)
            found[chosen] = 8 * (after - before) >= share * self.rates_bps[way] * lasted
        return found


def captured_link(reading: Reading, near: frozenset[str], rates_bps: dict[str, float]) -> CapturedLink:
    """What a capture tells of its link.

    Parameters
    ----------
    reading : Reading
        With volumes.
    near : frozenset of str
        Addresses on the near side.
    rates_bps : dict of float
        By ``down`` and ``up``, bit/s; where the capture carries more in a second, the link had more.

    Returns
    -------
    CapturedLink
    """
    frame = reading.connections.filter(pl.col("protocol") == "tcp")
    sampled = [
        frame.select(
            pl.col(end).alias("address"),
            pl.min_horizontal(f"handshake_to_{end}_s", f"data_ack_to_{end}_min_s").alias("base_s"),
        )
        for end in ENDS
    ]
    bases = pl.concat(sampled).drop_nulls().filter(pl.col("base_s") >= 0)
    bases = bases.group_by("address").agg(pl.col("base_s").min()).sort("address")
    rows = reading.volumes.join(
        reading.connections.select("connection_id", "protocol", *ENDS), on="connection_id", how="inner"
    )
    rows = rows.with_columns(address=pl.when(pl.col("side") == "opener").then("opener").otherwise("responder"))
    from_near = pl.col("address").is_in(list(near))
    carried = {}
    for way, chosen in (("up", from_near), ("down", ~from_near)):
        own = rows.filter(chosen).sort("start_s", maintain_order=True)
        carried[way] = (own["start_s"].to_numpy(), np.cumsum(own["wire_bytes"].to_numpy().astype(float)))
    rates_bps = {way: max(rates_bps.get(way, 0.0), _peak_bps(*carried[way])) for way in carried}
    link = CapturedLink(bases, {}, False, carried, rates_bps, near)
    shared = _is_shared(frame, link)
    measured = rows.filter(pl.col("rtt_s").is_not_null())
    if shared:
        for chosen in (from_near, ~from_near):
            bases = _without_shared_queue(measured.filter(chosen), bases, link)
    known = measured.join(bases, on="address", how="inner")
    queue_s = {
        side: _queue(known.filter(from_near if side == "near" else ~from_near), shared) for side in ("near", "far")
    }
    return CapturedLink(bases, queue_s, shared, carried, rates_bps, near)


def _peak_bps(times_s: Floats, sums: Floats) -> float:
    """Most that a direction carried in a second, bit/s."""
    if not times_s.size:
        return 0.0
    before = np.interp(times_s - 1.0, times_s, sums, left=0.0)
    return float(8 * (sums - before).max())


def _is_shared(frame: pl.DataFrame, link: CapturedLink) -> bool:
    """Whether connections that begin on a full link wait."""
    shook = frame.filter(pl.col("handshake_to_responder_s").is_not_null()).join(
        link.bases.rename({"address": "responder"}), on="responder", how="inner"
    )
    if not shook.height:
        return False
    surplus = (shook["handshake_to_responder_s"] - shook["base_s"]).to_numpy()
    starts = shook["start_s"].to_numpy()
    longest = 0.0
    for up in (False, True):
        ways = np.full(starts.shape, up)
        full = link.is_busy(starts - NEAR_S, starts + NEAR_S, ways, FULL)
        rate = link.rates_bps.get("up" if up else "down", 0.0)
        if full.any() and rate:
            longest = max(longest, float(np.median(surplus[full])) * rate / (8 * PACKET_BYTES))
    return longest > SHARED_PACKETS


def _without_shared_queue(measured: pl.DataFrame, bases: pl.DataFrame, link: CapturedLink) -> pl.DataFrame:
    """Bases of the addresses on one side, less what a queue that all of them share never left.

    Where packets to others met a queue even around the least round trips to an address, its path is what all of its
    round trips took more than the others' queue around them, in the median.
    """
    known = dict(bases.iter_rows())
    samples = measured.filter(pl.col("address").is_in(list(known))).sort("start_s", maintain_order=True)
    at, taken = samples["start_s"].to_numpy(), samples["rtt_s"].to_numpy()
    names, place = np.unique(samples["address"].to_numpy(), return_inverse=True)
    if names.size < 2:
        return bases
    least = np.array([known[name] for name in names])
    ways = [link.is_busy(at - NEAR_S, at + NEAR_S, np.full(at.shape, up)) for up in (False, True)]
    busy = ways[0] | ways[1]
    around = _Around(at, taken, place)
    rows_of = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    for _ in range(ROUNDS):
        for one, own in enumerate(rows_of):
            queues = around.queues(own, least)
            seen = np.flatnonzero(np.isfinite(queues))
            # Nothing else around it: a queue where the link is busy, else none.
            met = np.where(np.isfinite(queues), queues, np.where(busy[own], np.inf, 0.0))
            least_common = np.argsort(taken[own], kind="stable")[:LEAST_COMMON]
            if seen.size < LEAST_COMMON or met[least_common].min() < LEAST_QUEUE_S:
                continue
            # Over all of them: the least are those whose own queue was less than that around them.
            path_s = float(np.median(taken[own][seen] - queues[seen]))
            least[one] = min(least[one], max(path_s, SHORTEST_S))
    found = dict(zip(names.tolist(), least.tolist(), strict=True))
    return bases.with_columns(base_s=pl.Series([found.get(name, base) for name, base in known.items()]))


class _Around:
    """The queue near a packet as packets to others met it, in the nearest window that has some.

    Parameters
    ----------
    times_s, taken_s : ndarray, shape (n_packets,)
        When packets were met, ascending, and their round-trip times, s.
    of : ndarray, shape (n_packets,)
        Number of the address of each.
    """

    FEW = 64
    """Up to so many packets of a window are looked at one by one, which is sooner done than by arrays."""

    def __init__(self, times_s: Floats, taken_s: Floats, of: Integers) -> None:
        self._taken, self._of = taken_s, of
        self._windows = [
            (np.searchsorted(times_s, times_s - width_s).tolist(), np.searchsorted(times_s, times_s + width_s).tolist())
            for width_s in (BIN_S, NEAR_S)
        ]
        self._taken_list: list[float] = taken_s.tolist()
        self._of_list: list[int] = of.tolist()

    def queues(self, rows: Integers, least_s: Floats) -> Floats:
        """That of each of these packets, which go to one address, s; NaN where no window has packets to others.

        Of several addresses the one that met most, in the median, has its path known best: a path taken too long hides
        some of the queue. `least_s` has the path of each address.
        """
        known: list[float] = least_s.tolist()
        return np.array([self._queue(row, least_s, known) for row in rows.tolist()])

    def _queue(self, row: int, least_s: Floats, known: list[float]) -> float:
        for first, last in self._windows:
            begin, end = first[row], last[row]
            few = end - begin <= self.FEW
            most = self._of_few(begin, end, row, known) if few else self._of_many(begin, end, row, least_s)
            if most is not None:
                return most
        return float("nan")

    def _of_few(self, begin: int, end: int, row: int, known: list[float]) -> float | None:
        taken, of, own = self._taken_list, self._of_list, self._of_list[row]
        met: dict[int, list[float]] = {}
        for near in range(begin, end):
            one = of[near]
            if one != own:
                met.setdefault(one, []).append(taken[near] - known[one])
        medians = []
        for values in met.values():
            values.sort()
            medians.append((values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2)
        return max(medians, default=None)

    def _of_many(self, begin: int, end: int, row: int, least_s: Floats) -> float | None:
        of = self._of[begin:end]
        others = of != self._of[row]
        of = of[others]
        if not of.size:
            return None
        values = self._taken[begin:end][others] - least_s[of]
        order = np.lexsort((values, of))
        counts = np.bincount(of)
        counts = counts[counts > 0]
        ends = np.cumsum(counts)
        firsts, values = ends - counts, values[order]
        return float(((values[firsts + (counts - 1) // 2] + values[firsts + counts // 2]) / 2).max())


def _queue(measured: pl.DataFrame, shared: bool) -> tuple[Integers, Floats]:
    """The surplus of each window and its neighbours."""
    if not measured.height:
        return np.empty(0, np.int64), np.empty(0)
    place = (measured["start_s"].to_numpy() / BIN_S).astype(np.int64).clip(0)
    surplus = np.maximum(measured["rtt_s"].to_numpy() - measured["base_s"].to_numpy(), 0.0)
    of_bin = pl.DataFrame({"bin": place, "surplus": surplus})
    statistic = pl.col("surplus").median() if shared else pl.col("surplus").min()
    around = pl.concat([of_bin.with_columns(pl.col("bin") + shift) for shift in (-1, 0, 1)]).filter(pl.col("bin") >= 0)
    known = around.group_by("bin").agg(statistic).sort("bin")
    return known["bin"].to_numpy(), known["surplus"].to_numpy()
