"""Every format of flow lists: a row here and a file beside it; nothing else names them."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import polars as pl

from mayfly.errors import MayflyError
from mayfly.summary_types import Accounted
from mayfly.text.files import when_complete
from mayfly.text.readable import printable
from mayfly.workload.account import account_of_flows, account_of_rows
from mayfly.workload.formats import flow_list, nfdump, ns3, packets, tmix, zeek
from mayfly.workload.formats.format import Format, Rules, head_of, refuse_endless
from mayfly.workload.formats.unread import not_read
from mayfly.workload.lists import flow_list as normalised

FORMATS = {
    row.id: row
    for row in (
        flow_list.CSV,
        flow_list.PARQUET,
        packets.PCAP,
        tmix.ORIGINAL,
        tmix.ALTERNATE,
        ns3.CSV,
        zeek.CONN_LOG,
        nfdump.CSV,
    )
}
"""By id, in the order in which content is asked."""


def read_flows_any(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    mss: int = 1460,
    internal: list[str] | None = None,
    notes: list[str] | None = None,
    until_s: float | None = None,
    accounts: list[Accounted] | None = None,
    part: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> pl.DataFrame:
    r"""Read the flows of a file of any readable format.

    Parameters
    ----------
    path : path
        The file.
    format : str, optional
        Id of its format; told by content when None.
    mss : int
        Payload of a full packet, bytes, 1 to 65535: where the file counts packets.
    internal : str or sequence of str, optional
        CIDRs of the near side of the link, for captures and logs of connections.
    notes : list of str, optional
        Gets what the user should know of the flows, a sentence each.
    until_s : float, optional
        End of the run that the flows are for, s: in the account those that start later are aside.
    accounts : list of dict, optional
        Gets the account of the file: how much of it was seen, used, and left out by reason.
    part : callable, optional
        Takes the flows that the answer is about: in the account the others are aside.

    Returns
    -------
    polars.DataFrame
        As :func:`mayfly.workload.lists.flow_list` returns it.

    Raises
    ------
    MayflyError
        The file cannot be read, is of no known format, or a row is refused; one line with file, row and value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "flows.txt")
    >>> _ = path.write_text("start_s,size_packets\n0.5,10\n")
    >>> read_flows_any(path).select("start_s", "size_bytes").rows()
    [(0.5, 14600)]
    """
    rules = replace(_rules(mss, internal, notes, until_s, accounts), part=part)
    chosen = _readable(path, format)
    if chosen not in (flow_list.PARQUET, packets.PCAP):
        refuse_endless(Path(path))
    # Only readable formats are found.
    assert chosen.read is not None
    before = len(rules.accounts)
    flows = chosen.read(Path(path), rules)
    if len(rules.accounts) == before:
        rules.accounts.append(account_of_rows(account_of_flows(flows, rules.started(flows)), path))
    return flows


def _rules(
    mss: int,
    internal: list[str] | None,
    notes: list[str] | None = None,
    until_s: float | None = None,
    accounts: list[Accounted] | None = None,
) -> Rules:
    from mayfly.workload.sides import networks_of

    if not 1 <= mss <= 65535:
        raise MayflyError(f"mss = {printable(mss)}: must be a whole number from 1 to 65535 bytes")
    near = None if internal is None else networks_of(internal)
    return Rules(mss, near, [] if notes is None else notes, until_s, [] if accounts is None else accounts)


def _readable(path: str | os.PathLike[str], format: str | None) -> Format:
    """The format that a file is read in."""
    head = head_of(path)
    found = named(format, "read") if format is not None else sniffed(head)
    if found is None and (other := not_read(head)) is not None:
        raise MayflyError(f"{printable(path)}: {other}")
    # A file in none of the other formats is read as a flow list, whose errors name the column.
    return found or flow_list.CSV


@dataclass
class FlowCounts:
    """What the flows of a list are, counted while they pass.

    Parameters
    ----------
    flows, tcp, udp, bytes : int
        Flows, those of each protocol, and the bytes that they send.
    scripts : int
        Those with a script.
    first_s, last_s : float
        When the first and the last of them start, s.
    """

    flows: int = 0
    tcp: int = 0
    udp: int = 0
    scripts: int = 0
    bytes: int = 0
    first_s: float = 0.0
    last_s: float = 0.0

    @classmethod
    def of(cls, flows: pl.DataFrame) -> "FlowCounts":
        """Of a flow list."""
        found = cls()
        for _ in found.seen(iter([flows])):
            pass
        return found

    def seen(self, parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Count parts that pass."""
        for part in parts:
            starts_s = part["start_s"]
            first_s, last_s = float(cast("float", starts_s.min())), float(cast("float", starts_s.max()))
            self.first_s, self.last_s = (
                (min(self.first_s, first_s), max(self.last_s, last_s)) if self.flows else (first_s, last_s)
            )
            self.flows += part.height
            self.tcp += int((part["protocol"] == "tcp").sum())
            self.udp += int((part["protocol"] == "udp").sum())
            self.scripts += part["script"].count() if "script" in part.columns else 0
            self.bytes += int(part["size_bytes"].sum())
            yield part


def stream_flows(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    from_format: str | None = None,
    to_format: str | None = None,
    *,
    mss: int = 1460,
    internal: list[str] | None = None,
    notes: list[str] | None = None,
    accounts: list[Accounted] | None = None,
) -> FlowCounts | None:
    """Write the flows of a file into another one part by part, where both formats can be had so.

    Parameters
    ----------
    source, target : path
        The files.
    from_format, to_format : str, optional
        As for :func:`read_flows_any` and :func:`write_flows_as`.
    mss, internal, notes, accounts
        As for :func:`read_flows_any`.

    Returns
    -------
    FlowCounts or None
        None where they cannot; nothing is read then.

    Raises
    ------
    MayflyError
        As the reading and the writing; nothing is left of the target.
    """
    writer = by_ending(target) if to_format is None else named(to_format, "write")
    rules, reader = _rules(mss, internal, notes, None, accounts), _readable(source, from_format)
    if reader.parts is None or writer.write_parts is None:
        return None
    found = FlowCounts()
    with when_complete(target) as partial:
        writer.write_parts(found.seen(reader.parts(Path(source), rules)), partial, Path(target).name)
    return found


def write_flows_as(flows: pl.DataFrame, path: str | os.PathLike[str], format: str | None = None) -> list[str]:
    """Write flows in any writable format; the file appears under its name only when complete.

    Parameters
    ----------
    flows : polars.DataFrame
        A table that :func:`mayfly.workload.lists.flow_list` takes.
    path : path
        The file.
    format : str, optional
        Id of its format; told by the ending of the name when None.

    Returns
    -------
    list of str
        What the format could not hold, a sentence each.

    Raises
    ------
    MayflyError
        The format cannot be written, none is known by this ending, or the place cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "flows.csv")
    >>> write_flows_as(pl.DataFrame({"start_s": [0.0], "size_bytes": [100]}), path)
    []
    >>> read_flows_any(path)["size_bytes"].to_list()
    [100]
    """
    found = by_ending(path) if format is None else named(format, "write")
    # Only writable formats are found.
    assert found.write is not None
    flows = normalised(flows, source="flows")
    with when_complete(path) as partial:
        return found.write(flows, partial, Path(path).name) or []


def named(format: str, what: str) -> Format:
    """The format of this id that has ``what``, ``read`` or ``write``."""
    able = {row.id: row for row in FORMATS.values() if getattr(row, what) is not None}
    if format not in able:
        raise MayflyError(f"format = {printable(format)}: must be one of {', '.join(able)} to {what}")
    return able[format]


def sniffed(head: bytes) -> Format | None:
    """The readable format of a file that begins with these bytes; None where none knows them."""
    return next((row for row in FORMATS.values() if row.read is not None and row.sniff(head)), None)


def is_capture(path: str | os.PathLike[str]) -> bool:
    """Whether a file is read as a capture of packets.

    Raises
    ------
    MayflyError
        It cannot be read.
    """
    return sniffed(head_of(path)) is packets.PCAP


def by_ending(path: str | os.PathLike[str]) -> Format:
    """The writable format with the longest ending that the name has."""
    name = Path(path).name.lower()
    fits = [(len(end), row) for row in FORMATS.values() if row.write for end in row.suffixes if name.endswith(end)]
    if not fits:
        endings = [end for row in FORMATS.values() if row.write for end in row.suffixes]
        raise MayflyError(f"{printable(path)}: the name must end in {' or '.join(endings)}, or the format be named")
    return max(fits, key=lambda fit: fit[0])[1]


def rows() -> list[dict[str, Any]]:
    """The formats as rows of a table.

    Returns
    -------
    list of dict
        ``id, title, holds, suffixes, read, write, source``.
    """
    return [
        {
            "id": row.id,
            "title": row.title,
            "holds": row.holds,
            "suffixes": list(row.suffixes),
            "read": row.read is not None,
            "write": row.write is not None,
            "source": row.source,
        }
        for row in FORMATS.values()
    ]
