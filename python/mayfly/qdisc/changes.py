"""What happened in queue disciplines between two readings: rates, drops, waits, users, and who takes too much."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mayfly.discipline_registry import Discipline
from mayfly.discipline_registry.marked import packets_marked
from mayfly.discipline_registry.shapers import shapes_itself
from mayfly.qdisc.show import Row, rate_bps

FEWEST_PKTS = 20
"""Drops, or waiting packets, below which nothing is said of a user."""

LOST_SHARE = 0.25
"""Of its packets; no congestion control goes on sending at such a loss."""

FEWEST_FLOWS = 64
MOST_OF_ALL = 0.5

_SHARED_SHAPER = "cake_mq"
"""Has one rate for all its children."""


@dataclass(frozen=True)
class User:
    """A user of a discipline that tells them.

    Parameters
    ----------
    name : str
        As the discipline says it: addresses, or a mark.
    rate_bps : float, optional
        Sent between the readings; None for one that the earlier reading did not have.
    sent_pkts, drops_pkts, marks_pkts : int, optional
        Between the readings.
    backlog_bytes, flows : int
        Waiting now.
    wait_p50_us, wait_p95_us : int
    credit_bytes : int
        Positive: may go before others; negative: ahead of its share.
    shared : bool
        Shares its slot of the table with others.
    """

    name: str
    rate_bps: float | None
    sent_pkts: int | None
    drops_pkts: int | None
    marks_pkts: int | None
    backlog_bytes: int
    flows: int
    wait_p50_us: int
    wait_p95_us: int
    credit_bytes: int
    shared: bool


@dataclass(frozen=True)
class Change:
    """A discipline between two readings; what needs an earlier one is None without it.

    Parameters
    ----------
    row : Row
        As it is now.
    rate_bps : float, optional
        Sent between the readings.
    drops_pkts, marks_pkts : int, optional
        Between the readings.
    waits : tuple of (int or None, int)
        Packets sent between the readings by how long they had waited: below so many microseconds (None: any), and not
        below the bound before; since the queue was made where there is no earlier reading.
    counts : mapping
        Of its own counters, what they grew by.
    users : tuple of User
    """

    row: Row
    rate_bps: float | None = None
    drops_pkts: int | None = None
    marks_pkts: int | None = None
    waits: tuple[tuple[int | None, int], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    users: tuple[User, ...] = ()

    def wait_us(self, share: float) -> int | None:
        """Bound below which so many of the packets waited; None where there is none, or the discipline tells no waits.

        Examples
        --------
        >>> row = Row("eth0", "lfq", "1:", "root", {}, 0, 0, 0, 0, 0)
        >>> change = Change(row, waits=((128, 90), (256, 10), (512, 0)))
        >>> change.wait_us(0.5), change.wait_us(0.95)
        (128, 256)
        """
        left = share * sum(packets for _, packets in self.waits)
        for below, packets in self.waits:
            left -= packets
            if packets and left <= 0:
                return below
        return None

    def suspects(self) -> list[str]:
        """Who takes far more than a share, a sentence each.

        The rules are:

        - a user lost more than a quarter of its packets, 20 of them at least: it does not slow down when it is told to;
        - a user has more than half of all flows that wait, 64 at least, and is not alone;
        - packets of users that nobody knows yet are more than half of what waits, 20 at least;
        - 20 users or more came to a table that was full.
        """
        found = [sentence for user in self.users for sentence in self._suspected(user)]
        own, waiting = self.row.own, self.row.backlog_pkts
        new = _count(own, "newcomers")
        if new >= FEWEST_PKTS and new > MOST_OF_ALL * waiting:
            found.append(f"new users: {new:,} of {waiting:,} waiting packets are theirs")
        crowded = self.counts.get("sharing", 0)
        if crowded >= FEWEST_PKTS:
            found.append(f"new users: {crowded:,} came to a full table and share slots")
        return found

    def _suspected(self, user: User) -> list[str]:
        found = []
        drops, sent = user.drops_pkts or 0, user.sent_pkts or 0
        if drops >= FEWEST_PKTS and drops > LOST_SHARE * (drops + sent):
            share = round(100 * drops / (drops + sent))
            found.append(f"{user.name}: lost {share} % of {drops + sent:,} packets and goes on")
        flows = _count(self.row.own, "flows")
        alone = _count(self.row.own, "users") < 2
        if user.flows >= FEWEST_FLOWS and user.flows > MOST_OF_ALL * flows and not alone:
            found.append(f"{user.name}: has {user.flows:,} of {flows:,} waiting flows")
        return found

    def document(self) -> dict[str, Any]:
        """For JSON: the row, and what happened."""
        return self.row.document() | {
            "rate_bps": self.rate_bps,
            "between": {
                "drops_pkts": self.drops_pkts,
                "marks_pkts": self.marks_pkts,
                "waits": [{"below_us": below, "packets": packets} for below, packets in self.waits],
                "wait_p50_us": self.wait_us(0.5),
                "wait_p95_us": self.wait_us(0.95),
                "counts": dict(self.counts),
                "users": [asdict(user) for user in self.users],
            },
            "suspects": self.suspects(),
        }


def changes(before: Sequence[Row], now: Sequence[Row], interval_s: float) -> list[Change]:
    """What happened in each discipline since an earlier reading.

    Parameters
    ----------
    before, now : sequence of Row
        Two readings; the earlier one may be empty.
    interval_s : float
        Between them, seconds.

    Returns
    -------
    list of Change
        In the order of the later reading.
    """
    earlier = {_key(row): row for row in before}
    return [_change(earlier.get(_key(row)), row, interval_s) for row in now]


def _key(row: Row) -> tuple[str, str, str, str]:
    return row.device, row.handle, row.parent, row.kind


def _change(before: Row | None, row: Row, interval_s: float) -> Change:
    if before is not None and _shrank(before, row):
        before = None  # made anew meanwhile
    then = before.own if before else {}
    earlier = {wait.get("below_us"): wait["packets"] for wait in then.get("waits", ())}
    waits = [
        (below, wait["packets"] - earlier.get(below, 0))
        for wait in row.own.get("waits", ())
        for below in [wait.get("below_us")]
    ]
    counts = {
        name: value - then[name]
        for name, value in row.own.items()
        if isinstance(value, int) and isinstance(then.get(name), int) and value >= then[name]
    }
    known = {user["user"]: user for user in then.get("top", ())}
    return Change(
        row,
        rate_bps(before, row, interval_s),
        row.drops_pkts - before.drops_pkts if before else None,
        marks(row) - marks(before) if before else None,
        tuple(waits),
        counts,
        tuple(_user(known.get(user["user"]), user, interval_s) for user in row.own.get("top", ())),
    )


def _shrank(before: Row, now: Row) -> bool:
    """Whether any count of what happened is less than it was: then all of them began anew."""
    totals = ("sent_bytes", "sent_pkts", "drops_pkts")
    pairs = [(getattr(before, name), getattr(now, name)) for name in totals] + [(marks(before), marks(now))]
    bins = {wait.get("below_us"): wait["packets"] for wait in now.own.get("waits", ())}
    pairs += [(wait["packets"], bins.get(wait.get("below_us"), 0)) for wait in before.own.get("waits", ())]
    return any(later < earlier for earlier, later in pairs)


def _user(before: Mapping[str, Any] | None, now: Mapping[str, Any], interval_s: float) -> User:
    names = ("bytes", "packets", "drops", "marks")
    grown = {name: now[name] - before[name] for name in names} if before else {}
    if any(more < 0 for more in grown.values()):
        grown = {}  # forgotten meanwhile, and come again
    return User(
        now["user"],
        grown["bytes"] * 8 / interval_s if grown and interval_s > 0 else None,
        grown.get("packets"),
        grown.get("drops"),
        grown.get("marks"),
        now["backlog"],
        now["flows"],
        now["wait_p50_us"],
        now["wait_p95_us"],
        now["credit"],
        bool(now["shared"]),
    )


def has_own_shaper(row: Row) -> bool:
    """Whether a queue discipline of this kind shapes by itself."""
    return row.kind == _SHARED_SHAPER or shapes_itself(Discipline(row.kind, {}))


def shaped_bps(row: Row) -> float | None:
    """Bit/s of a discipline's own shaper; None where it has none.

    Parameters
    ----------
    row : Row

    Returns
    -------
    float or None
        The rate of a ``cake_mq`` is at ``cake_mq`` alone: its children share it, though tc shows it at each of them.

    Examples
    --------
    >>> from dataclasses import replace
    >>> row = Row("eth0", "lfq", "1:", "root", {"bandwidth": 125_000}, 0, 0, 0, 0, 0)
    >>> shaped_bps(row), shaped_bps(replace(row, kind="estmred"))
    (1000000.0, None)
    >>> shaped_bps(replace(row, kind="cake_mq")), shaped_bps(replace(row, kind="cake", parent_kind="cake_mq"))
    (1000000.0, None)
    """
    rate = row.options.get("bandwidth")  # of a shaper tc tells bytes/s
    if row.parent_kind == _SHARED_SHAPER or not has_own_shaper(row):
        return None
    return 8.0 * rate if isinstance(rate, int | float) and not isinstance(rate, bool) else None


def marks(row: Row) -> int:
    """Packets that left a discipline with congestion experienced, under whichever name it counts them.

    Examples
    --------
    >>> marks(Row("eth0", "fq_codel", "1:", "root", {}, 0, 0, 0, 0, 0, {"ecn_mark": 117, "ce_mark": 895}))
    895
    """
    return packets_marked(row.own, row.options)


def _count(own: Mapping[str, Any], name: str) -> int:
    value = own.get(name, 0)
    return value if isinstance(value, int) else 0
