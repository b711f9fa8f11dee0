"""Flows from one file into another, of any two formats."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from mayfly.show.notebook import Result
from mayfly.show.table import Table
from mayfly.summary_types import Accounted
from mayfly.workload.formats.registry import FlowCounts, read_flows_any, stream_flows, write_flows_as
from mayfly.workload.reading import refuse_without_packets
from mayfly.workload.sieve import read_through, refuse_of_table


@dataclass(frozen=True, repr=False)
class Converted(Result):
    """What went from one file into the other.

    Parameters
    ----------
    counted : FlowCounts
        How many flows, and what they send.
    target : str
        File that was written.
    lost : list of str
        What its format could not hold, a sentence each.
    notes : list of str
        What to know of the file that was read, a sentence each.
    account : list of dict
        Of the file that was read: how much of it was seen, used, and left out by reason.
    read : polars.DataFrame, optional
        The flow list, where it was in memory.
    """

    counted: FlowCounts
    target: str
    lost: list[str]
    notes: list[str] = field(default_factory=list)
    account: list[Accounted] = field(default_factory=list)
    read: pl.DataFrame | None = field(default=None, repr=False)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """The normalised flow list, read back where it went from file to file part by part."""
        return read_flows_any(self.target) if self.read is None else self.read

    def document(self) -> dict[str, Any]:
        """What was written, for JSON."""
        counted = self.counted
        return {
            "flows": counted.flows,
            "tcp": counted.tcp,
            "udp": counted.udp,
            "scripts": counted.scripts,
            "bytes": counted.bytes,
            "first_s": counted.first_s,
            "last_s": counted.last_s,
            "lost": self.lost,
            "notes": self.notes,
            "account": self.account,
            "files": {"flows": self.target},
        }

    def tables(self) -> list[Table]:
        """None: the sentences say it."""
        return []

    def sentences(self) -> list[str]:
        """What was written, in words."""
        found = self.document()
        kinds = [f"{found[kind]} {word}" for kind, word in (("tcp", "TCP"), ("udp", "UDP")) if found[kind]]
        scripts = f", {found['scripts']} with a script" if found["scripts"] else ""
        span = f"starting from {found['first_s']:.6g} s to {found['last_s']:.6g} s"
        first = f"{found['flows']} flows ({', '.join(kinds)}{scripts}) of {found['bytes']} bytes, {span}: {self.target}"
        return [first, *(f"note: {sentence}" for sentence in (*self.notes, *self.lost))]


def converted(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    from_format: str | None = None,
    to_format: str | None = None,
    *,
    mss: int = 1460,
    internal: list[str] | None = None,
    filter: str | None = None,
) -> Converted:
    """Read flows from one file and write them to another.

    Parameters
    ----------
    source, target : path
        The files.
    from_format, to_format : str, optional
        Ids of their formats; told by content and by ending when None.
    mss, internal
        As for :func:`mayfly.workload.formats.registry.read_flows_any`.
    filter : str, optional
        Which packets of a capture count (:func:`mayfly.workload.sieve.read_through`).

    Returns
    -------
    Converted

    Raises
    ------
    MayflyError
        As the reading and the writing; or there is a filter, and the source is no capture.
    """
    notes, account = list[str](), list[Accounted]()
    both: dict[str, Any] = {"mss": mss, "internal": internal, "notes": notes, "accounts": account}
    with read_through(filter) as sieve:
        if (counted := stream_flows(source, target, from_format, to_format, **both)) is not None:
            return Converted(counted, os.fspath(target), [], notes, account)
        flows = read_flows_any(source, from_format, **both)
        if not sieve.used:
            refuse_of_table(os.fspath(source))
        refuse_without_packets()
    return Converted(
        FlowCounts.of(flows), os.fspath(target), write_flows_as(flows, target, to_format), notes, account, flows
    )
