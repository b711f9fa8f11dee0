"""Flow lists as streams: batches of a list that is never in memory as a whole.

Principle: every source of randomness has a stream of its own and takes one uniform number for each flow
(:mod:`mayfly.workload.arrivals`), so that numbers drawn batch by batch are those drawn at once, to the last bit: a
drawn stream is the list that :func:`mayfly.workload.mix.synthetic` draws from the same seed. Where the load is exact,
a first pass over sizes and gaps finds how many transfers there are. Cost: some 0.1 us per flow of a drawn stream
beside the checks of a list; memory of one batch.
"""

import gzip
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.text.long_lines import refuse_long_lines
from mayfly.text.parquet import MAGIC, read_parquet
from mayfly.text.readable import printable
from mayfly.workload import lists
from mayfly.workload.arrivals import arrival_rate, choice, exponential, stream
from mayfly.workload.column_kinds import Number
from mayfly.workload.hosts import Hosts, directed, host_series
from mayfly.workload.offering import LARGEST_BYTES, Transfers, whole
from mayfly.workload.renewal import Poisson

BATCH = 1 << 16
"""Flows of a batch."""

MOST = 2**32 - 1
"""Flows of a stream."""

_NAMES = ("transfers", 0)


def drawn(
    transfers: Transfers,
    *,
    duration_s: float,
    seed: int,
    senders: Hosts,
    receivers: Hosts,
    mss: int = 1460,
    header_bytes: int = 40,
    after: "Mark | None" = None,
) -> Iterator[pl.DataFrame]:
    """The list of Poisson transfers that this seed draws, in batches.

    Parameters
    ----------
    transfers : Transfers
        Without parts, users, group and transport.
    duration_s : float
        Flows start in [0, duration_s), s, > 0.
    seed : int
        Of the run.
    senders, receivers : sequence
        End points.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.
    after : Mark, optional
        Leave out the flows before this place (:func:`marks`), which are not drawn either; not with ``exact_load``.

    Returns
    -------
    iterator of polars.DataFrame, shape (at most `BATCH`, 14)
        Normalised flow lists; together the list that :func:`mayfly.workload.mix.synthetic` gives.

    Raises
    ------
    MayflyError
        A workload that is no such stream, or a load that cannot be.

    Examples
    --------
    >>> from mayfly.laws.sizes import wired
    >>> from mayfly.workload.mix import synthetic
    >>> laws, sides = Transfers(wired(), 8e6), {"senders": range(1, 6), "receivers": range(8, 13)}
    >>> parts = drawn(laws, duration_s=50.0, seed=7, **sides)
    >>> pl.concat(parts).equals(synthetic(laws, duration_s=50.0, seed=7, **sides))
    True
    """
    refuse(transfers)
    load_bps, law = transfers.load_bps, transfers.law
    if load_bps is None:
        raise MayflyError("load: must be given")
    if not math.isfinite(law.mean_packets()):
        raise MayflyError(f"load = {load_bps}: the sizes have no finite mean: must have a tail exponent above 1")
    wire = mss + header_bytes
    rate = arrival_rate(load_bps, law.mean_packets() * wire)
    if not rate * duration_s <= MOST / 2:
        raise MayflyError(
            f"rate x duration_s = {rate * duration_s:.6g}: must be at most {MOST // 2} arrivals in a stream"
        )
    if transfers.exact_load and after is not None:
        raise MayflyError("exact_load = true: must be false where a list is cut into windows")
    if transfers.exact_load:
        starts = _filling(transfers, load_bps * duration_s / 8 / wire, rate * duration_s, duration_s, seed)
    else:
        starts = _poisson(seed, rate, duration_s, after)
    first = 0 if after is None else after.flows
    return _placed(transfers, starts, duration_s, seed, (senders, receivers), mss, first)


def _placed(
    transfers: Transfers,
    starts: Iterator[Floats],
    duration_s: float,
    seed: int,
    hosts: tuple[Hosts, Hosts],
    mss: int,
    first: int,
) -> Iterator[pl.DataFrame]:
    """Flows with these starts, numbered from ``first`` on."""
    law, sizes, directions = transfers.law, _beyond(first, seed, "sizes"), _beyond(first, seed, "directions")
    sides = [
        (host_series(side, *hosts), _beyond(first, seed, name, *_NAMES))
        for name, side in zip(("senders", "receivers"), hosts, strict=True)
    ]
    for part in starts:
        n = len(part)
        size_bytes = np.minimum(whole(law.sample(sizes, n)), LARGEST_BYTES // mss) * mss
        up = directions.random(n) < transfers.up_share
        rows = pl.DataFrame({"start_s": part, "size_bytes": size_bytes, "direction": np.where(up, "up", "down")})
        left, right = (side.gather(choice(rng, len(side), n)) for side, rng in sides)
        placed = directed(rows, left, right).with_columns(flow_id=pl.int_range(first, first + n, dtype=pl.Int64))
        yield lists.flow_list(placed, mss=mss, source="workload")
        first += n
    if first == 0:
        raise MayflyError(f"no flows in {duration_s} s: must be at least one flow")


def refuse(transfers: Transfers) -> None:
    """Refuses transfers that are not drawn as a stream.

    Raises
    ------
    MayflyError
        They have other arrivals, or flows with something of their own.
    """
    given = {
        "arrivals": None if isinstance(transfers.arrivals, Poisson) else type(transfers.arrivals).__name__,
        "part": transfers.parts or None,
        "users": transfers.users,
        "group": transfers.group,
        "transport": transfers.transport,
    }
    for name, value in given.items():
        if value is not None:
            raise MayflyError(f"workload.{name}: must be left out of a stream, whose transfers are Poisson and alike")


def _batches(n: int) -> Iterator[int]:
    """Sizes of the batches of ``n`` flows."""
    for first in range(0, n, BATCH):
        yield min(BATCH, n - first)


def _sums(parts: Iterator[Floats], begun: float = 0.0) -> Iterator[Floats]:
    """Cumulative sums on what they have ``begun`` with, added in the same order as those of all numbers at once."""
    # 0 and the first number are that number.
    before = np.array([begun])
    for part in parts:
        sums = np.cumsum(np.concatenate([before, part]))[len(before) :]
        before = sums[-1:]
        yield sums


@dataclass(frozen=True)
class Mark:
    """A place in a drawn list.

    Parameters
    ----------
    flows : int
        Flows before it.
    gaps : float
        Sum of the gaps up to the last of them, of mean 1.
    """

    flows: int
    gaps: float


def marks(transfers: Transfers, times_s: Sequence[float], duration_s: float, seed: int, wire_bytes: int) -> list[Mark]:
    """Places of the first flows from some times on, in one pass over the starts alone.

    Parameters
    ----------
    transfers : Transfers
        As :func:`drawn` takes them, without ``exact_load``.
    times_s : sequence of float
        Ascending, below ``duration_s``, s.
    duration_s : float
        Of the whole list, s.
    seed : int
        Of the run.
    wire_bytes : int
        Length of a full packet.

    Returns
    -------
    list of Mark

    Examples
    --------
    >>> from mayfly.laws.sizes import wired
    >>> laws, sides = Transfers(wired(), 8e6), {"senders": range(1, 6), "receivers": range(8, 13)}
    >>> [mark] = marks(laws, [30.0], 50.0, 7, 1500)
    >>> rest = pl.concat(drawn(laws, duration_s=50.0, seed=7, after=mark, **sides))
    >>> whole = pl.concat(drawn(laws, duration_s=50.0, seed=7, **sides))
    >>> rest.equals(whole.filter(pl.col("start_s") >= 30.0))
    True
    """
    assert transfers.load_bps is not None
    rate = arrival_rate(transfers.load_bps, transfers.law.mean_packets() * wire_bytes)
    found: list[Mark] = []
    flows, before = 0, 0.0
    rng = stream(seed, "arrivals")
    for sums in _sums(exponential(rng, BATCH) for _ in iter(int, 1)):
        times = sums / rate
        while len(found) < len(times_s):
            place = int(np.searchsorted(times, times_s[len(found)]))
            if place == len(times):
                break
            found.append(Mark(flows + place, before if place == 0 else float(sums[place - 1])))
        if len(found) == len(times_s) or not times[-1] < duration_s:
            return found
        flows, before = flows + len(times), float(sums[-1])
    return found


def _beyond(flows: int, seed: int, *names: str | int) -> np.random.Generator:
    """A stream from which so many numbers have been taken."""
    rng = stream(seed, *names)
    bits = rng.bit_generator
    assert isinstance(bits, np.random.PCG64)
    bits.advance(flows)
    return rng


def _poisson(seed: int, rate: float, duration_s: float, after: Mark | None = None) -> Iterator[Floats]:
    """Starts of :func:`mayfly.workload.arrivals.poisson`."""
    after = after or Mark(0, 0.0)
    rng = _beyond(after.flows, seed, "arrivals")
    for sums in _sums((exponential(rng, BATCH) for _ in iter(int, 1)), after.gaps):
        times = sums / rate
        yield times[times < duration_s]
        if not times[-1] < duration_s:
            return


def _filling(transfers: Transfers, packets: float, expected: float, duration_s: float, seed: int) -> Iterator[Floats]:
    """Starts of transfers whose sizes come nearest to so many packets."""
    n = _nearest(transfers, packets, expected, seed)
    rng = stream(seed, "arrivals")
    for sums in _sums(exponential(rng, size) for size in _batches(n + 1)):
        total = sums[-1]
    rng = stream(seed, "arrivals")
    for sums in _sums(exponential(rng, size) for size in _batches(n)):
        yield sums / total * duration_s


def _nearest(transfers: Transfers, packets: float, expected: float, seed: int) -> int:
    """How many sizes :func:`mayfly.workload.sources.transfers.up_to` takes."""
    rng, taken, before = stream(seed, "sizes"), 0, 0
    while True:
        sums = before + np.cumsum(whole(transfers.law.sample(rng, BATCH)))
        reached = int(np.searchsorted(sums, packets))
        if reached == len(sums):
            taken, before = taken + len(sums), int(sums[-1])
            continue
        last = before if reached == 0 else int(sums[reached - 1])
        # Of two that are as near, the first.
        nearest = taken + reached + (abs(int(sums[reached]) - packets) < abs(last - packets))
        return max(1, nearest)


class File:
    """A flow list file, ascending by start, that is read in batches.

    Parameters
    ----------
    path : path
        CSV or Parquet, told apart by content.
    mss : int
        Payload of a full packet, bytes.
    duration_s : float
        Flows that start later are left out, s.

    Attributes
    ----------
    account : _native.Account
        Of the latest pass over its flows, once it is over: those that start too late are aside.

    Raises
    ------
    MayflyError
        The file cannot be read, or has columns that no stream has.
    """

    def __init__(self, path: Path, mss: int, duration_s: float):
        self.path, self.mss, self.duration_s = Path(path), mss, duration_s
        self.source = printable(path)
        self.account = _native.Account()
        try:
            with self.path.open("rb") as file:
                head = file.read(len(MAGIC))
                self.is_parquet = head == MAGIC
                file.seek(0)
                if not self.is_parquet:
                    packed = head.startswith(b"\x1f\x8b")
                    text = gzip.GzipFile(fileobj=file) if packed else file
                    refuse_long_lines(cast("BinaryIO", text), self.source)
        except OSError as error:
            raise MayflyError(f"{self.source}: cannot be read: {error.strerror}") from None

    def _parts(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """The file as it is, in batches; of ``columns`` those that it has."""
        if not self.is_parquet:
            types = {name: kind.dtype for name, kind in lists.COLUMNS.items() if isinstance(kind, Number)}
            frame = pl.scan_csv(self.path, infer_schema=False, schema_overrides=types, glob=False)
            names = frame.collect_schema().names()
            kept = frame if columns is None else frame.select(name for name in columns if name in names)
            yield from kept.collect_batches(chunk_size=BATCH, maintain_order=True)
            return
        first = 0
        names = read_parquet(self.path, rows=(0, 1)).columns
        wanted = None if columns is None else [name for name in columns if name in names]
        while (part := read_parquet(self.path, columns=wanted, rows=(first, BATCH))).height:
            yield part
            first += part.height

    def hosts(self) -> tuple[Hosts, Hosts]:
        """Hosts of the two sides, senders of what goes down first; one pass over three columns."""
        sides: tuple[set[str], set[str]] = (set(), set())
        try:
            # A file without any of these still has its rows.
            for part in self._parts(["start_s", "src", "dst", "direction"]):
                names, up = part.columns, pl.lit(False)
                if "direction" in names:
                    up = pl.col("direction").cast(pl.String).str.strip_chars().str.starts_with("u").fill_null(False)
                ends = [
                    pl.col(name).cast(pl.String).str.strip_chars().fill_null(usual) if name in names else pl.lit(usual)
                    for name, usual in (("src", "1"), ("dst", "2"))
                ]
                for side, (here, there) in zip(sides, (ends, ends[::-1]), strict=True):
                    found = part.select(host=pl.when(up).then(there).otherwise(here))["host"].unique()
                    side.update(found.to_list())
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self._refused(error) from None
        if not sides[0]:
            raise MayflyError(f"{self.source}: no flows after the header: must hold at least one")
        return sorted(sides[0]), sorted(sides[1])

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Normalised flow lists.

        Raises
        ------
        MayflyError
            A value is refused, or a flow is none that a stream has.
        """
        first, ended, self.account = 0, False, _native.Account()
        try:
            for part in self._parts():
                if "flow_id" not in part.columns:
                    part = part.with_columns(flow_id=pl.int_range(first, first + part.height, dtype=pl.Int64))
                if part.height == 0:
                    continue
                first += part.height
                flows = lists.flow_list(part, mss=self.mss, source=f"{self.source}, up to row {first}")
                if not ended:
                    refuse_flows(flows, self.source)
                kept = flows.filter(pl.col("start_s") < self.duration_s) if not ended else flows.clear()
                self._count(flows, kept)
                ended = kept.height < flows.height
                if kept.height:
                    yield kept
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self._refused(error) from None

    def _count(self, flows: pl.DataFrame, kept: pl.DataFrame) -> None:
        seen, taken = ((rows.height, int(rows["size_bytes"].sum())) for rows in (flows, kept))
        self.account.see(*seen)
        self.account.take(*taken)
        self.account.leave_out("aside", seen[0] - taken[0], seen[1] - taken[1])

    def _refused(self, error: Exception) -> MayflyError:
        return MayflyError(f"{self.source}: cannot be read: {str(error).splitlines()[0]}")


def refuse_flows(flows: pl.DataFrame, source: str) -> None:
    """Refuses flows that are not plain transfers.

    Raises
    ------
    MayflyError
        Datagrams, scripts, groups, stages or transports of their own.
    """
    if (flows["protocol"] == "udp").any():
        raise MayflyError(f"{source}: protocol = udp: must be tcp in a stream")
    for name in ("group", "stage", "after", *lists.WHERE_GIVEN):
        if name in flows.columns and flows[name].null_count() < flows.height:
            raise MayflyError(f"{source}: column {name}: must be left out of a stream")


def numbers(flows: pl.DataFrame, sides: tuple[Hosts, Hosts]) -> tuple[Integers, Integers]:
    """Indices of the end points among all hosts of their side, ordered as text.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    sides : pair of sequences
        All hosts there are.

    Returns
    -------
    src, dst : ndarray, shape (n_flows,), uint32
    """
    tables = [{name: place for place, name in enumerate(sorted(map(str, side)))} for side in sides]
    up = (flows["direction"] == "up").to_numpy()

    def placed(column: str, side: int) -> Integers:
        # Those of the other side get any number, which nobody reads.
        return flows[column].cast(pl.String).replace_strict(tables[side], default=0, return_dtype=pl.UInt32).to_numpy()

    if not up.any():
        return placed("src", 0), placed("dst", 1)
    return np.where(up, placed("src", 1), placed("src", 0)), np.where(up, placed("dst", 0), placed("dst", 1))
