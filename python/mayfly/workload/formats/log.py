"""Logs of connections (Zeek, NetFlow) as flow lists, by the rules of :mod:`mayfly.workload.capture`."""

import ipaddress
import math
from pathlib import Path
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.text.readable import printable
from mayfly.workload.account import account_of_rows
from mayfly.workload.capture import flows_of_connections
from mayfly.workload.formats.format import Rules
from mayfly.workload.lists import flow_list

SIDE = {"packets": pl.Int64, "wire_bytes": pl.Int64, "distinct_bytes": pl.Int64}
"""What a log says of one direction, prefixed with ``opener_`` or ``responder_``."""

HEADERS_BYTES = {("tcp", False): 52, ("tcp", True): 72, ("udp", False): 28, ("udp", True): 48}
"""Headers of a packet by protocol and whether of IPv6: those of TCP with timestamps. For IP bytes of logs."""

MOST = 2**53
"""Largest count: beyond it a number of JSON is not exact."""

LATEST_S = 1e11
"""Latest time of a log, s since 1970."""


def number(text: object, row: int, name: str, source: str, most: float = MOST) -> float:
    """A number of a row, 0 to ``most``.

    Raises
    ------
    MayflyError
        It is none, or out of its bounds; with file, row, column and bound.
    """
    try:
        value = float(text) if isinstance(text, str | int | float) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not 0 <= value <= most or isinstance(text, bool):
        raise refused(source, row, name, text, f"a number from 0 to {most:.17g}")
    return value


def count(text: object, row: int, name: str, source: str) -> int:
    """A whole number of a row, 0 to 2^53."""
    value = number(text, row, name, source)
    if value != int(value):
        raise refused(source, row, name, text, f"a whole number from 0 to {MOST}")
    return int(value)


def summed(total: int, size: int, row: int, name: str, source: str) -> int:
    """The counts of a column up to a row, 0 to 2^53 together: sums of some of them are exact, too.

    Raises
    ------
    MayflyError
        They are more; with file, row, column and bound.

    Examples
    --------
    >>> summed(80, 20, 2, "inBytes", "flows.csv")
    100
    """
    if total + size > MOST:
        raise refused(source, row, f"sum of {name} so far", total + size, f"a whole number from 0 to {MOST}")
    return total + size


def port(text: object, row: int, name: str, source: str) -> int:
    """A port of a row, 0 to 65535."""
    value = number(text, row, name, source, 65535)
    if value != int(value):
        raise refused(source, row, name, text, "a whole number from 0 to 65535")
    return int(value)


def bytes_or_none(*texts: object) -> int:
    """Sum of counts of a record that is left out, whose values nobody checks; what is no count is 0.

    Examples
    --------
    >>> bytes_or_none("80", 20, None, "many", -5)
    100
    """
    found = 0
    for text in texts:
        try:
            value = float(text) if isinstance(text, str | int | float) else 0.0
        except (ValueError, OverflowError):
            value = 0.0
        found += int(value) if 0 <= value <= MOST else 0
    return found


class Addresses:
    """Addresses that were seen, so that each is checked once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def checked(self, text: object, row: int, name: str, source: str) -> str:
        """The address in its shortest spelling.

        Raises
        ------
        MayflyError
            It is neither IPv4 nor IPv6.
        """
        if isinstance(text, str) and text in self._known:
            return self._known[text]
        try:
            address = str(ipaddress.ip_address(text)) if isinstance(text, str) else None
        except ValueError:
            address = None
        if not isinstance(text, str) or address is None:
            raise refused(source, row, name, text, "an IPv4 or IPv6 address")
        return self._known.setdefault(text, address)


def refused(source: str, row: int, name: str, text: object, bound: str) -> MayflyError:
    """What to raise for a value of a row."""
    said = "is missing" if text is None or text == "" else f"= {printable(text)}"
    return MayflyError(f"{source}: row {row}: {name} {said}: must be {bound}")


def flows_of_log(rows: dict[str, list[Any]], path: Path, rules: Rules, account: _native.Account) -> pl.DataFrame:
    """Make the flow list of a log.

    Parameters
    ----------
    rows : dict of list, each of shape (n_connections,)
        ``records`` of the log that a connection has and their ``bytes``, ``protocol`` (``tcp`` or ``udp``), ``opener``,
        ``responder``, ``start_s`` and ``end_s`` (s since any time), and :data:`SIDE` of both.
    path : path
        For messages.
    rules : Rules
        The near side; gets the account.
    account : _native.Account
        Of the records of the log and their IP bytes, or their payload where it has none: those of other protocols are
        left out, all of ``rows`` are used.

    Returns
    -------
    polars.DataFrame
        A normalised flow list.

    Raises
    ------
    MayflyError
        No connection carried anything.

    Notes
    -----
    A log has no round-trip times and no time of the first payload: both directions of a TCP connection start with it.
    Times are microseconds at best: a float of seconds since 1970 is no finer.
    """
    types = {"protocol": pl.String, "opener": pl.String, "responder": pl.String, "start_s": pl.Float64}
    types |= {"records": pl.Int64, "bytes": pl.Int64, "end_s": pl.Float64} | {
        f"{end}_{name}": t for end in ("opener", "responder") for name, t in SIDE.items()
    }
    frame = pl.DataFrame({name: pl.Series(rows[name], dtype=dtype) for name, dtype in types.items()})
    first_s = frame["start_s"].min()
    frame = frame.with_columns(
        (pl.col("start_s") - first_s).round(6),
        (pl.col("end_s") - first_s).round(6),
        pl.lit(None, dtype=pl.Float64).alias("rtt_s"),
    ).with_columns(
        *(pl.col("start_s").alias(f"{end}_{name}") for end in ("opener", "responder") for name in ("first_s",)),
        *(pl.col("start_s").alias(f"{end}_first_data_s") for end in ("opener", "responder")),
        *(pl.col("end_s").alias(f"{end}_last_s") for end in ("opener", "responder")),
    )
    frame = frame.with_row_index("connection_id").cast({"connection_id": pl.Int64})
    flows = flows_of_connections(frame, rules.networks)
    left = frame.join(rules.started(flows), on="connection_id", how="anti")
    account.withdraw("aside", int(left["records"].sum()), int(left["bytes"].sum()))
    rules.accounts.append(account_of_rows(account, path))
    if flows.height == 0:
        raise MayflyError(f"{printable(path)}: no TCP or UDP connection carried anything: must hold at least one")
    return flow_list(flows.drop("connection_id"), mss=rules.mss, source=printable(path))
