"""End points of synthetic flows: hosts drawn from two sides, or users with a pair of hosts of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mayfly.arrays import Integers
from mayfly.errors import MayflyError
from mayfly.workload.arrivals import choice, stream

if TYPE_CHECKING:
    import polars as pl

Hosts = Sequence[int | str]
Pair = tuple[int | str, int | str]


def fresh_pairs(senders: Hosts, receivers: Hosts) -> Iterator[Pair]:
    """Pairs of hosts that are in neither list: numbers above all others, or names of the same kind.

    Parameters
    ----------
    senders, receivers : sequence
        Hosts that are taken.

    Yields
    ------
    src, dst : int or str
        Two hosts that were not there before.

    Examples
    --------
    >>> pairs = fresh_pairs([1, 2], [8, 9])
    >>> next(pairs), next(pairs)
    ((10, 11), (12, 13))
    >>> next(fresh_pairs(["lab"], [4]))
    ('5', '6')
    """
    taken = [*senders, *receivers]
    whole = [int(str(host)) for host in taken if str(host).lstrip("-").isdecimal()]
    number = max([0, *whole])
    kind = int if all(isinstance(host, int) for host in taken) else str
    while True:
        yield kind(number + 1), kind(number + 2)
        number += 2


def drawn_ends(part: pl.DataFrame, seed: int, names: tuple[str, int], senders: Hosts, receivers: Hosts) -> pl.DataFrame:
    """Add end points drawn uniformly for every flow; data going up flow from a receiver to a sender."""
    left, right = (
        host_series(nodes, senders, receivers).gather(choice(stream(seed, side, *names), len(nodes), part.height))
        for side, nodes in (("senders", senders), ("receivers", receivers))
    )
    return directed(part, left, right)


def own_ends(
    part: pl.DataFrame, pairs: Sequence[Pair], user: pl.Series | Integers, taken: tuple[Hosts, Hosts]
) -> pl.DataFrame:
    """Give every flow the pair of hosts of its user; ``user`` holds an index into ``pairs`` per flow."""
    left, right = (host_series([pair[side] for pair in pairs], *taken).gather(user) for side in (0, 1))
    return directed(part, left, right)


def host_series(nodes: Hosts, senders: Hosts, receivers: Hosts) -> pl.Series:
    """Hosts as numbers when those of both sides are, else as names."""
    import polars as pl

    dtype = pl.Int64 if all(isinstance(node, int) for node in (*senders, *receivers)) else pl.String
    return pl.Series([str(node) for node in nodes], dtype=pl.String).cast(dtype)


def directed(part: pl.DataFrame, left: pl.Series, right: pl.Series) -> pl.DataFrame:
    """Add ``src`` and ``dst``: data going up flow from right to left."""
    down = part["direction"] == "down"
    return part.with_columns(src=left.zip_with(down, right), dst=right.zip_with(down, left))


def check_users(name: str, users: int | None, flows: int | None = None) -> None:
    """Refuse a number of users that has none, or more than there are flows."""
    most = 1_000_000 if flows is None else flows
    if users is not None and not 1 <= users <= most:
        what = "1000000" if flows is None else f"flows = {flows}"
        raise MayflyError(f"{name}: users = {users}: must be from 1 to {what}")
