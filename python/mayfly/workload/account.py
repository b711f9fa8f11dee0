"""The account of an input: how much of it was seen, used, and left out by reason; nothing here needs a table.

Crate ``account`` counts; ``docs/tables.md`` says what each key means. Every command that reads has a list of these
under the key ``account`` of its document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from mayfly import _native
from mayfly.workload.doubts import partial_sentences

if TYPE_CHECKING:
    import polars as pl

    from mayfly.arrays import Booleans
    from mayfly.summary_types import Accounted
    from mayfly.workload.columns import Columns

COUNTED = ("account", "cannot_answer")
"""Keys of the counts of a reading that are in its account."""

Amount = tuple[int, int]
"""Packets or rows, and their bytes."""


def account_of(
    counts: Mapping[str, Any], sources: Iterable[str | os.PathLike[str]], aside: Mapping[str, Amount] | None = None
) -> Accounted:
    """Give an account of captures that were read as one.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.
    sources : iterable of path
        Their names.
    aside : mapping of str to tuple of int, optional
        Packets, and their bytes, of connections that were read and are not part of the answer, by reason.

    Returns
    -------
    Accounted

    Examples
    --------
    >>> whole = {"count": 9, "bytes": 900}
    >>> sums = {"unit": "packets", "seen": whole, "used": whole, "left_out": {}}
    >>> account_of({"account": sums}, ["a.pcap"], aside={"aside": (2, 80)})["left_out"]
    {'aside': {'count': 2, 'bytes': 80}}
    """
    account = _native.Account(json.dumps(counts["account"]))
    for reason, amount in (aside or {}).items():
        account.withdraw(reason, *amount)
    return _document(account, sources, partial_sentences(counts), counts.get("cannot_answer"))


def account_of_rows(account: _native.Account, source: str | os.PathLike[str]) -> Accounted:
    """Give the account of a list or a log.

    Examples
    --------
    >>> account = _native.Account()
    >>> account.see(3, 50), account.take(3, 50)
    (None, None)
    >>> account_of_rows(account, "flows.csv")["seen"]
    {'count': 3, 'bytes': 50}
    """
    return _document(account, [source], [], None)


def account_of_flows(flows: pl.DataFrame, used: pl.DataFrame) -> _native.Account:
    """Count the rows of a flow list, and the bytes that they send.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, n_columns)
        A normalised flow list.
    used : polars.DataFrame, shape (n_used, n_columns)
        Those of its rows that count.

    Returns
    -------
    _native.Account
    """
    account = _native.Account()
    seen, taken = ((rows.height, int(rows["size_bytes"].sum())) for rows in (flows, used))
    account.see(*seen)
    account.take(*seen)
    account.withdraw("aside", seen[0] - taken[0], seen[1] - taken[1])
    return account


def started(flows: pl.DataFrame, until_s: float | None) -> pl.DataFrame:
    """Take the flows that start in time, or when others are over of which nobody knows the end yet.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, n_columns)
        A normalised flow list.
    until_s : float or None
        End of the run, s; None where all count.

    Returns
    -------
    polars.DataFrame
    """
    if until_s is None:
        return flows
    early = flows["start_s"] < until_s
    return flows.filter(early | flows["after"].is_not_null() if "after" in flows.columns else early)


def sums_of_connections(frame: pl.DataFrame) -> dict[str, Any]:
    """Sum up a table of connections that has no account of its captures: each row is used, with its IP bytes.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)

    Returns
    -------
    dict
        As ``counts["account"]`` of a reading.
    """
    account = _native.Account()
    found = frame.height, sum(int(frame[f"{end}_wire_bytes"].sum()) for end in ("opener", "responder"))
    account.see(*found)
    account.take(*found)
    return dict(json.loads(account.sums()))


def _document(
    account: _native.Account, sources: Iterable[str | os.PathLike[str]], partial: list[str], cannot: str | None
) -> Accounted:
    sums = {"source": [os.fspath(source) for source in sources], **json.loads(account.sums())}
    return cast("Accounted", sums | {"partial": partial, "cannot_answer": cannot})


def aside_of(frame: pl.DataFrame, used: pl.DataFrame) -> dict[str, Amount]:
    """Sum up the connections that are not in an answer.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        A table of connections.
    used : polars.DataFrame, shape (n_used, n_columns)
        ``connection_id`` of those that are.

    Returns
    -------
    dict of str to tuple of int
        Their packets and IP bytes: ``protocol`` of IP protocols other than TCP, UDP and ICMP, ``aside`` of others.
    """
    from mayfly.workload.columns import columns_of

    return aside_of_columns(columns_of(frame), frame["connection_id"].is_in(used["connection_id"].implode()).to_numpy())


def aside_of_columns(table: Columns, used: Booleans) -> dict[str, Amount]:
    """The same of columns; ``used``, shape (n_connections,), says which are in the answer."""
    other = table.words("protocol").are("other")
    parts = {"protocol": ~used & other, "aside": ~used & ~other}
    return {
        reason: (_summed_of(table, "packets", rows), _summed_of(table, "wire_bytes", rows))
        for reason, rows in parts.items()
    }


def _summed_of(table: Columns, name: str, rows: Booleans) -> int:
    return sum(int(table[f"{end}_{name}"][rows].sum()) for end in ("opener", "responder"))


def others(counts: Mapping[str, Any]) -> dict[str, Any]:
    """What was counted apart from the account.

    Examples
    --------
    >>> others({"packets": 9, "account": {}, "cannot_answer": None})
    {'packets': 9}
    """
    return {name: value for name, value in counts.items() if name not in COUNTED}


def leading(accounts: Iterable[Accounted]) -> list[str]:
    """Say before anything else which part of the inputs is missing, and what they cannot answer.

    Examples
    --------
    >>> leading([])
    []
    """
    given = list(accounts)
    return [*(said for account in given for said in account["partial"]), *cannot_answer(given)]


def cannot_answer(accounts: Iterable[Accounted]) -> list[str]:
    """Say what the inputs cannot answer, a sentence each.

    Examples
    --------
    >>> cannot_answer([])
    []
    """
    return [said for account in accounts if (said := account["cannot_answer"]) is not None]
