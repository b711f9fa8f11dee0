"""Fair shares: what every user would get from a link that is shared equally at every instant; Jain's index.

Principle: a fluid link without round-trip times, losses or buffers. Users with data waiting share the rate equally; a
user who only sends at a constant rate takes no more than that, and what is left goes to the others (max-min fairness).
However many connections a user has, its share is one user's share.
Method: users with data waiting and no constant-rate flow are all served alike, so that one number, the virtual service,
tells how far each is, as in processor sharing. Cost: O(log n) per flow, and O(active constant-rate users) per event.
"""

import heapq
import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.size_classes import parts_by, run_keys


def wire_bytes(payload: pl.Expr, mss: int, header_bytes: int) -> pl.Expr:
    """Payload of flows with the headers of its packets.

    Parameters
    ----------
    payload : polars.Expr
        Bytes, over a flow list or flow records.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    polars.Expr
        Bytes on the wire; every UDP packet counts as a full one.
    """
    udp = pl.col("protocol") == "udp"
    full = pl.when(udp).then(pl.col("packet_bytes").fill_null(mss + header_bytes)).otherwise(mss + header_bytes)
    header = pl.when(udp).then(UDP_HEADER_BYTES).otherwise(header_bytes)
    packets = (payload + (full - header - 1)) // (full - header)
    return payload + packets * header


def fair_service(
    flows: pl.DataFrame, rate_bps: float, end_s: float, *, mss: int = 1460, header_bytes: int = 40
) -> pl.DataFrame:
    """Serve a flow list by a fluid link that is fair to users.

    Parameters
    ----------
    flows : polars.DataFrame
        A normalised flow list; flows of the direction ``down`` count.
    rate_bps : float
        Rate of the link, bit/s, > 0.
    end_s : float
        End of the service, s, > 0.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    polars.DataFrame
        One row per group, ordered by name, flows without a group last: ``group``, ``users``, ``flows``,
        ``served_bytes`` with headers, ``active_s`` in which some user of the group had something to send.

    Notes
    -----
    A user is a pair of hosts, within a group. UDP is not stored: what exceeds the user's share is lost.

    Examples
    --------
    Two users, one with two connections, share a link of 8 Mbit/s for a second:

    >>> flows = pl.DataFrame({"start_s": 0.0, "src": [1, 1, 3], "dst": [2, 2, 4], "direction": "down",
    ...     "protocol": "tcp", "size_bytes": 2**40, "packet_bytes": None, "rate_bps": None, "group": ["a", "a", "b"]})
    >>> fair_service(flows, 8e6, 1.0)["served_bytes"].to_list()
    [500000.0, 500000.0]
    """
    down = flows.filter((pl.col("direction") == "down") & (pl.col("start_s") < end_s))
    down = down.with_columns(wire=wire_bytes(pl.col("size_bytes"), mss, header_bytes))
    keys = down.select(user=pl.struct("group", "src", "dst").rank("dense") - 1).to_series().to_numpy()
    users = down.select("group", user=keys).unique("user").sort("user")
    link = _Link(rate_bps / 8)
    groups = {name: _Group() for name in sorted(users["group"].unique(), key=lambda name: (name is None, name))}
    link.users = [_User(groups[name]) for name in users["group"]]
    for time_s, user, data_bytes, rate in _events(down, keys, end_s):
        link.run_until(time_s)
        if rate:
            link.change_rate(user, rate)
        else:
            link.add_data(user, data_bytes)
    link.run_until(end_s)
    counts = {name: (count, 0) for name, count in users["group"].value_counts().rows()}
    sizes = dict(down["group"].value_counts().rows())
    for group in groups.values():
        group.settle(link.virtual_bytes, link.now_s)
    return pl.DataFrame(
        [(name, counts[name][0], sizes[name], group.served_bytes, group.active_s) for name, group in groups.items()],
        schema={
            "group": pl.String,
            "users": pl.Int64,
            "flows": pl.Int64,
            "served_bytes": pl.Float64,
            "active_s": pl.Float64,
        },
        orient="row",
    )


def _events(down: pl.DataFrame, user: Floats, end_s: float) -> list[tuple[float, int, float, float]]:
    """Time, user, data that arrive (bytes), change of the constant rate (bytes/s); in order of time."""
    tcp = (down["protocol"] == "tcp").to_numpy()
    start_s = down["start_s"].to_numpy()
    size = np.where(down["size_bytes"].to_numpy() >= ENDLESS_BYTES, np.inf, down["wire"].to_numpy())
    rate = down["rate_bps"].fill_null(0.0).to_numpy() / 8
    events = list(
        zip(start_s[tcp].tolist(), user[tcp].tolist(), size[tcp].tolist(), [0.0] * int(tcp.sum()), strict=True)
    )
    # A sender that goes on under another port at the same nanosecond has not changed its rate.
    changes: dict[tuple[int, int], float] = {}
    wire = down["wire"].to_numpy()
    for row in np.flatnonzero(~tcp):
        for time_s, change in ((start_s[row], rate[row]), (start_s[row] + wire[row] / rate[row], -rate[row])):
            key = round(float(time_s) * 1e9), int(user[row])
            changes[key] = changes.get(key, 0.0) + float(change)
    events += [(ns * 1e-9, who, 0.0, change) for (ns, who), change in changes.items() if abs(change) > 1e-6]
    return sorted(event for event in events if event[0] < end_s)


@dataclass
class _Group:
    """Totals of the users of one name."""

    served_bytes: float = 0.0
    active_s: float = 0.0
    waiting: int = 0
    """Users with data waiting and no constant-rate flow."""
    active: int = 0
    """Users with anything to send."""
    settled_bytes: float = 0.0
    """Virtual service up to which ``served_bytes`` counts the waiting ones."""
    settled_s: float = 0.0

    def settle(self, virtual_bytes: float, now_s: float) -> None:
        """Bring the totals up to date, before the numbers of users change."""
        self.served_bytes += self.waiting * (virtual_bytes - self.settled_bytes)
        self.active_s += now_s - self.settled_s if self.active else 0.0
        self.settled_bytes, self.settled_s = virtual_bytes, now_s


@dataclass
class _User:
    group: _Group
    waits: bool = False
    """Whether there are data of transfers."""
    end: float = 0.0
    """Virtual service at which they end, of a user without a constant-rate flow."""
    backlog_bytes: float = 0.0
    """How much they are, of a user with one."""
    rate: float = 0.0
    """Sum of the constant rates, bytes/s."""


@dataclass
class _Link:
    """The fluid link between two events."""

    capacity: float
    """Bytes/s."""
    now_s: float = 0.0
    virtual_bytes: float = 0.0
    """Service of a user who always waited and had no constant-rate flow."""
    waiting: int = 0
    users: list[_User] = field(default_factory=list)
    ends: list[tuple[float, int]] = field(default_factory=list)
    """Heap of ends and users; those that later events made untrue are dropped when they come up."""
    constant: set[int] = field(default_factory=set)
    """Users with a constant-rate flow."""

    def level(self) -> float:
        """Share of a user with data waiting, bytes/s: what the constant rates leave, in equal parts."""
        of_constant = [self.users[index] for index in self.constant]
        modest = sorted(user.rate for user in of_constant if not user.waits)
        left, takers = self.capacity, self.waiting + len(of_constant)
        for rate in modest:
            if rate * takers > left:
                break
            left, takers = left - rate, takers - 1
        return left / takers if takers else math.inf

    def run_until(self, time_s: float) -> None:
        """Serve until the next flow comes or goes."""
        while self.now_s < time_s:
            level, until_s = self.level(), time_s
            if end := self._next_end():
                until_s = min(until_s, self.now_s + (end - self.virtual_bytes) / level)
            for index in self.constant:
                user = self.users[index]
                if user.waits and level > user.rate:
                    until_s = min(until_s, self.now_s + user.backlog_bytes / (level - user.rate))
            self._serve(max(until_s, self.now_s), level)

    def _next_end(self) -> float | None:
        while self.ends:
            end, index = self.ends[0]
            user = self.users[index]
            if user.waits and user.end == end and not user.rate:
                return end
            heapq.heappop(self.ends)
        return None

    def _serve(self, until_s: float, level: float) -> None:
        step_s, self.now_s = until_s - self.now_s, until_s
        if self.waiting:
            self.virtual_bytes += level * step_s
        # What rounding of time and service leaves; without it the last step of a transfer might be 0.
        rest = 1e-3 + 2 * math.ulp(self.virtual_bytes)
        rest += 2 * math.ulp(self.now_s) * level if math.isfinite(level) else 0.0
        for index in self.constant:
            user = self.users[index]
            user.group.served_bytes += step_s * (level if user.waits else min(user.rate, level))
            if user.waits:
                user.backlog_bytes -= step_s * max(level - user.rate, 0.0)
                user.waits = user.backlog_bytes > rest
        while (end := self._next_end()) is not None and end <= self.virtual_bytes + rest:
            _, index = heapq.heappop(self.ends)
            user = self.users[index]
            self._count(user, waiting=-1, active=-1)
            user.waits = False

    def _count(self, user: _User, waiting: int = 0, active: int = 0) -> None:
        user.group.settle(self.virtual_bytes, self.now_s)
        self.waiting += waiting
        user.group.waiting += waiting
        user.group.active += active

    def add_data(self, index: int, size_bytes: float) -> None:
        """A transfer of the user arrives."""
        user = self.users[index]
        if user.rate:
            user.backlog_bytes = (user.backlog_bytes if user.waits else 0.0) + size_bytes
        else:
            if not user.waits:
                self._count(user, waiting=1, active=1)
            user.end = (user.end if user.waits else self.virtual_bytes) + size_bytes
            self._push(index)
        user.waits = True

    def _push(self, index: int) -> None:
        if math.isfinite(self.users[index].end):
            heapq.heappush(self.ends, (self.users[index].end, index))

    def change_rate(self, index: int, change: float) -> None:
        """A constant-rate flow of the user begins or ends."""
        user = self.users[index]
        before, rate = user.rate, user.rate + change
        # Sums of rates that come and go do not return to 0 exactly.
        user.rate = 0.0 if rate < 1e-6 else rate
        if not before and user.rate:
            self._count(user, waiting=-user.waits, active=not user.waits)
            user.backlog_bytes = user.end - self.virtual_bytes if user.waits else 0.0
            self.constant.add(index)
        elif before and not user.rate:
            self._count(user, waiting=int(user.waits), active=-(not user.waits))
            self.constant.discard(index)
            if user.waits:
                user.end = self.virtual_bytes + user.backlog_bytes
                self._push(index)


def jain_index(shares: ArrayLike) -> float | None:
    """Jain's fairness index (Jain, Chiu and Hawe 1984, Eq. 1).

    Parameters
    ----------
    shares : array_like, shape ``(n,)``
        What each got, any unit, >= 0.

    Returns
    -------
    float or None
        ``(sum x)^2 / (n sum x^2)``, from 1/n (one has all) to 1 (equal shares). None when there is nobody, or nobody
        got anything.

    Raises
    ------
    MayflyError
        A share below 0 or not finite.

    Examples
    --------
    >>> jain_index([1, 1, 1, 1]), jain_index([4, 0, 0, 0]), jain_index([2, 1, 1])
    (1.0, 0.25, 0.8888888888888888)
    """
    values = np.asarray(shares, dtype=float)
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise MayflyError("shares: must be finite and at least 0")
    largest = values.max(initial=0.0)
    if largest == 0:
        return None
    scaled = values / largest
    return float(scaled.sum() ** 2 / (values.size * (scaled**2).sum()))


def permanent_jain(records: pl.DataFrame, end_s: float) -> float | None:
    """Jain's index over the goodput of the TCP flows that never end.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline; of several replications the mean is taken.
    end_s : float
        End of the run, s.

    Returns
    -------
    float or None
        Goodput is payload delivered in order over the time since the start, whatever the path of the flow. None with
        fewer than two such flows.
    """
    endless = records.filter(
        (pl.col("protocol") == "tcp") & (pl.col("size_bytes") >= ENDLESS_BYTES) & (pl.col("start_s") < end_s)
    ).with_columns(goodput=pl.col("delivered_bytes") / (end_s - pl.col("start_s")))
    keys = [key for key in run_keys(records) if key == "replication"]
    runs = list(parts_by(endless, keys).values())
    indices = [jain_index(run["goodput"].to_numpy()) for run in runs if run.height > 1]
    known = [index for index in indices if index is not None]
    return sum(known) / len(known) if known else None
