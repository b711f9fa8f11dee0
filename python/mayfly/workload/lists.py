"""Flow lists: the input table of ``docs/tables.md``, read from CSV or Parquet, validated and normalised.

Principle: one pass of the polars CSV reader with the documented types; only when that fails is the file read again as
text, which either finds the offending cell or reads a laxer spelling (``1460.0``, blanks around a value). Columns are
checked one at a time and freed as they are replaced, so that the peak stays near the size of the result: below 2.5 GB
and 30 s on two cores for 10^7 flows with every column, in random order.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import polars as pl

from mayfly.arrays import number
from mayfly.errors import MayflyError
from mayfly.tables import Column, Table
from mayfly.text.files import first_line, when_complete, without_panics
from mayfly.text.nearest import did_you_mean
from mayfly.text.parquet import MAGIC, read_parquet
from mayfly.text.readable import printable
from mayfly.workload import applications, bursts, scripts, stages
from mayfly.workload.column_kinds import (
    Application,
    Bursts,
    Choice,
    Host,
    Kind,
    Label,
    Number,
    Script,
    checked,
    is_whole,
    refuse,
)

_AT_ONCE = 1 << 16
"""Rows that are written as text at once."""

ENDLESS_BYTES = 2**40
"""Largest size of a flow, in bytes: more than any run delivers, so the flow lasts to the end."""


COLUMNS: dict[str, Kind] = {
    "flow_id": Number(pl.Int64, -(2**63), 2**63 - 1, "", "Identity; number of the row when absent; must be unique."),
    # Beyond 1e9 s a start is a date, not a time since the start of the run.
    "start_s": Number(
        pl.Float64, 0.0, 1e9, "s", "When the opener sends its SYN, or UDP its first packet; at least 0. Required."
    ),
    "src": Host("Sender of the data, which has an access link of its own; `1` when absent."),
    "dst": Host("Receiver of the data, which has an access link of its own; `2` when absent."),
    "direction": Choice(
        ("down", "up"),
        "`down` (default) crosses the bottleneck in its forward direction, `up` in reverse; `d` and `u` for short.",
    ),
    "protocol": Choice(("tcp", "udp"), "`tcp` (default) or `udp`."),
    "size_bytes": Number(
        pl.Int64, 1, ENDLESS_BYTES, "bytes", "Payload to deliver, 1 to 2^40 bytes; this or `size_packets` is required."
    ),
    "size_packets": Number(pl.Int64, 1, ENDLESS_BYTES, "packets", "The same in segments of full size (MSS)."),
    "rtt_s": Number(
        pl.Float64,
        1e-9,
        60.0,
        "s",
        "Round-trip time of the flow's path without queueing; that of the scenario when null; at most 60 s.",
    ),
    "opened_by": Choice(("sender", "receiver"), "`sender` (default) or `receiver`: who sends the SYN."),
    # An IPv4 and a UDP header and one byte; the largest IPv4 packet.
    "packet_bytes": Number(
        pl.Int64,
        29,
        65535,
        "bytes",
        "UDP: length of each packet on the wire; when null, the MSS and headers.",
    ),
    "rate_bps": Number(pl.Float64, 1.0, 1e12, "bit/s", "UDP: constant sending rate on the wire; required for `udp`."),
    "group": Label("Name under which the flow counts in `groups` of the summary, such as `attacker`."),
    "stage": Number(
        pl.Int64,
        0,
        2**63 - 1,
        "",
        "Number of the group of flows that this one belongs to; a stage is over when all its flows are; at least 0.",
    ),
    "after": Number(pl.Int64, 0, 2**63 - 1, "", "Stage that must be over first: `start_s` then counts from its end."),
    "bursts": Bursts(
        "UDP that does not send at one constant rate: `AT:BYTES` for a packet, `AT:BYTESxPACKETS/GAP` for several, "
        "separated by blanks; seconds since the start of the flow, length on the wire, seconds from packet to packet: "
        "`0:1000x2500/0.008 40:500`. Size, packet length and mean rate follow from it. Only where a flow has some."
    ),
    "transport": Label(
        "TCP: name of the section `[transports.NAME]` of the scenario, or a preset such as `quic`, that the flow has "
        "for `[tcp]`, which it has when null. Only where a flow has one."
    ),
    "mark": Number(
        pl.Int64,
        0,
        2**32 - 1,
        "",
        "Mark of its packets, as a firewall sets one (fwmark): user or weight for `lfq`, place in line for `ranked`. "
        "Only where a flow has one.",
    ),
    "script": Script(
        "TCP: trains in both directions and think times, see below; the size is then that of all trains. Only where a "
        "flow has some."
    ),
    "application": Application(
        "Application in the loop, which says itself what it sends: one way of a call, a film, the video of a game, "
        "see below. Protocol, size (2^40 bytes) and opener follow from it. Only where a flow has one."
    ),
}
"""Columns of a flow list file and the values each may hold."""

FLOW_LIST = Table(
    "flow_list",
    tuple(
        Column(name, kind.type, kind.unit, kind.meaning, optional=name != "start_s") for name, kind in COLUMNS.items()
    ),
)

WHERE_GIVEN = ("bursts", "script", "transport", "mark", "application")
"""Columns that a normalised flow list has at its end where a flow has a value in them."""

ORDER = tuple(name for name in COLUMNS if name not in ("size_packets", *WHERE_GIVEN))
"""Columns of every normalised flow list, in order."""


def read_flows(path: str | os.PathLike[str], *, mss: int = 1460) -> pl.DataFrame:
    r"""Read a flow list file.

    Parameters
    ----------
    path : path
        CSV with a header line, the same compressed with gzip, or Parquet; told apart by content, not by name.
    mss : int
        Payload of a full packet, bytes, 1 to 65535; turns ``size_packets`` into ``size_bytes``.

    Returns
    -------
    polars.DataFrame
        As :func:`flow_list` returns it.

    Raises
    ------
    MayflyError
        The file is missing, not a flow list, or holds a value outside its bounds: one line with file, row (1 is the
        first after the header), column, value and bound.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "flows.csv")
    >>> _ = path.write_text("start_s,size_packets\n0.5,10\n0.25,2\n")
    >>> read_flows(path).select("flow_id", "start_s", "src", "protocol", "size_bytes").rows()
    [(1, 0.25, 1, 'tcp', 2920), (0, 0.5, 1, 'tcp', 14600)]
    """
    path = Path(path)
    source = printable(path)
    try:
        if not path.exists():
            raise MayflyError(f"{source}: no such file")
        if not path.is_file():
            raise MayflyError(f"{source}: not a regular file")
        with path.open("rb") as file:
            parquet = file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError) as error:
        raise MayflyError(f"{source}: cannot be read: {first_line(error)}") from None
    # The table goes straight in, without a name here that would keep its columns alive while they are replaced.
    return flow_list(parquet_table(path, source) if parquet else csv_table(path, source), mss=mss, source=source)


def flow_list(frame: pl.DataFrame, *, mss: int = 1460, source: str = "flow list") -> pl.DataFrame:
    """Validate and normalise a table of flows.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_flows, n_columns)
        Columns of ``docs/tables.md``, in any order; ``start_s`` and one of ``size_bytes`` and ``size_packets`` are
        required. Where both sizes are given they must agree. Left as it is.
    mss : int
        Payload of a full packet, bytes, 1 to 65535.
    source : str
        What the messages call the table.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 14)
        ``flow_id, start_s, src, dst, direction, protocol, size_bytes, rtt_s, opened_by, packet_bytes, rate_bps,
        group, stage, after`` sorted by ``start_s``, then ``flow_id``. Defaults are filled in; ``rtt_s``,
        ``packet_bytes``, ``rate_bps``, ``group``, ``stage`` and ``after`` stay null where not
        given. ``src`` and ``dst`` are int64 when every end point is a whole number, else both are strings. Scripts and
        bursts, given as text or not, are lists of structs (:data:`mayfly.workload.scripts.SCRIPT`,
        :data:`mayfly.workload.bursts.BURSTS`).

    Raises
    ------
    MayflyError
        A value, column or combination is refused; the message names it and its bound.

    Examples
    --------
    >>> flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [100], "src": ["lab"]})).select("src", "dst").row(0)
    ('lab', '2')
    >>> flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [0]}))
    Traceback (most recent call last):
    mayfly.errors.MayflyError: flow list: row 1: size_bytes = 0: must be a whole number from 1 to 1099511627776 bytes
    """
    if not 1 <= mss <= 65535:
        raise MayflyError(f"mss = {printable(mss)}: must be a whole number from 1 to 65535 bytes")
    check_names(frame, source)
    height, frame, columns = frame.height, frame.clone(), {}
    for name in frame.columns:
        raw = frame.drop_in_place(name)
        if raw.null_count() < height:
            columns[name] = checked(raw, COLUMNS[name], source)
    if "start_s" not in columns or columns["start_s"].has_nulls():
        refuse_missing("start_s", columns, source)
    if "bursts" in columns:
        with_bursts(columns, height, source)
    if "script" in columns:
        with_scripts(columns, height, source)
    if "application" in columns:
        with_applications(columns, height, source)
    with_sizes(columns, mss, source)
    with_flow_ids(columns, height, source)
    check_protocol(columns, source)
    check_stages(columns, source)
    return with_defaults(in_order(columns))


def write_flows(flows: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a flow list where :func:`read_flows` can read it; the file appears under its name only when complete.

    Parameters
    ----------
    flows : polars.DataFrame
        A flow list; scripts and bursts are written as text.
    path : path
        Ends in ``.csv``, ``.csv.gz`` or ``.parquet``, which chooses the format.

    Raises
    ------
    MayflyError
        Another ending, or a place that cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "flows.csv.gz")
    >>> flows = flow_list(pl.DataFrame({"start_s": [1.5], "size_packets": [3]}))
    >>> write_flows(flows, path)
    >>> read_flows(path).equals(flows)
    True
    """
    path = Path(path)
    source = printable(path)
    endings = (".csv.gz", ".csv", ".parquet")
    ending = next((ending for ending in endings if path.name.lower().endswith(ending)), None)
    if ending is None:
        raise MayflyError(f"{source}: the name must end in {' or '.join(endings)}")
    flows = in_text(flows)
    with when_complete(path) as partial:
        if ending == ".parquet":
            flows.write_parquet(partial, metadata=FLOW_LIST.metadata())
        else:
            compression: Literal["gzip", "uncompressed"] = "gzip" if ending == ".csv.gz" else "uncompressed"
            flows.write_csv(partial, compression=compression, check_extension=False)


def in_text(table: pl.DataFrame) -> pl.DataFrame:
    """A flow list, or records of its flows, as files have it: scripts and bursts are text.

    Parameters
    ----------
    table : polars.DataFrame

    Returns
    -------
    polars.DataFrame
        The same where it has no such columns.

    Examples
    --------
    >>> flows = flow_list(pl.DataFrame({"start_s": [0.0], "script": ["up 400|down 9000"]}))
    >>> in_text(flows)["script"].item()
    'up 400 | down 9000'
    """
    writers = {"script": scripts.written, "bursts": bursts.written}
    return table.with_columns(
        _in_slices(writers[name], table[name])
        for name in writers
        if name in table.columns and isinstance(table.schema[name], pl.List)
    )


def _in_slices(write: Callable[[pl.Series], pl.Series], values: pl.Series) -> pl.Series:
    """The text of a column, some rows at a time: on their way they take several times what the text does."""
    return pl.concat(write(values[first : first + _AT_ONCE]) for first in range(0, max(len(values), 1), _AT_ONCE))


def csv_table(path: Path, source: str) -> pl.DataFrame:
    """Read a CSV file: numbers as numbers when all of them are, names without blanks around them."""
    types = {name: column.dtype for name, column in COLUMNS.items() if isinstance(column, Number)}
    try:
        frame = pl.read_csv(path, infer_schema=False, schema_overrides=types, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        frame = scan(pl.read_csv, path, source, infer_schema=False, glob=False)
    names = [name.strip() for name in frame.columns]
    return frame.rename(dict(zip(frame.columns, names, strict=True))) if len({*names}) == len(names) else frame


def parquet_table(path: Path, source: str) -> pl.DataFrame:
    """Read a Parquet file, with the types it has there."""
    return scan(read_parquet, path, source)


def scan(reader: Callable[..., pl.DataFrame], path: Path, source: str, **options: bool) -> pl.DataFrame:
    """Read the file with ``reader``, whose complaint becomes one line."""
    try:
        with without_panics():
            return reader(path, **options)
    except pl.exceptions.NoDataError:
        raise MayflyError(f"{source}: the file is empty: must be a header and at least one flow") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise MayflyError(f"{source}: cannot be read: {first_line(error)}") from None


def check_names(frame: pl.DataFrame, source: str) -> None:
    """Refuse an unknown, repeated or missing column, and a table without rows."""
    if frame.columns and not any(name in COLUMNS or did_you_mean(name, COLUMNS) for name in frame.columns):
        # Of a file that is none, which a stranger's sweep may have named, nothing is shown.
        raise MayflyError(f"{source}: not a flow list: none of its columns is known: known are {', '.join(COLUMNS)}")
    for name in frame.columns:
        if name in COLUMNS:
            continue
        twice = name.partition("_duplicated_")[0]
        if twice in COLUMNS:
            raise MayflyError(f"{source}: column {twice} appears twice")
        known = did_you_mean(name, COLUMNS) or f"known are {', '.join(COLUMNS)}"
        raise MayflyError(f"{source}: column {printable(name)} is unknown: {known}")
    if "start_s" not in frame.columns:
        raise MayflyError(f"{source}: column start_s is missing")
    if not {"size_bytes", "size_packets", "bursts", "script", "application"} & set(frame.columns):
        raise MayflyError(f"{source}: column size_bytes is missing, and so is size_packets: one of them is required")
    if frame.height == 0:
        raise MayflyError(f"{source}: no flows after the header: must hold at least one")


def with_bursts(columns: dict[str, pl.Series], height: int, source: str) -> None:
    """Fill in size, packet length and mean rate of the flows that send in bursts; refuse a size that is another."""
    try:
        found = bursts.checked(columns["bursts"])
    except MayflyError as error:
        raise MayflyError(f"{source}: {error}") from None
    given_bursts, columns["bursts"] = columns["bursts"], found["bursts"]
    rate_bps = found["wire_bytes"] * 8 / found["end_s"].clip(1e-6)
    own = {"size_bytes": found["size_bytes"], "packet_bytes": found["packet_bytes"]}
    own["rate_bps"] = rate_bps.clip(1.0, 1e12)
    for name, values in own.items():
        column = COLUMNS[name]
        assert isinstance(column, Number)
        filled = values.cast(column.dtype).alias(name)
        given = columns.get(name, filled)
        if name == "size_bytes" and (given != filled).any():
            refuse(name, (given != filled).fill_null(False), given, "the payload of its bursts", source)
        columns[name] = filled.zip_with(filled.is_not_null(), given)
    if (wrong := columns["size_bytes"] > ENDLESS_BYTES).any():
        refuse("size_bytes", wrong.fill_null(False), columns["size_bytes"], COLUMNS["size_bytes"].domain(), source)
    udp = columns.get("protocol", pl.repeat(None, height, dtype=pl.String, eager=True)) == "udp"
    if (wrong := columns["bursts"].is_not_null() & ~udp.fill_null(False)).any():
        refuse("bursts", wrong, given_bursts, "empty unless protocol is udp", source)


def with_scripts(columns: dict[str, pl.Series], height: int, source: str) -> None:
    """Fill in the size of scripted flows and who opens them: the end that sends first where the list does not say."""
    try:
        found = scripts.checked(columns["script"])
    except MayflyError as error:
        raise MayflyError(f"{source}: {error}") from None
    given_scripts, columns["script"], sizes = columns["script"], found["script"], found["size_bytes"]
    nothing = pl.repeat(None, height, dtype=pl.String, eager=True)
    scripted, udp = sizes.is_not_null(), (columns.get("protocol", nothing) == "udp").fill_null(False)
    if (wrong := scripted & udp).any():
        refuse("script", wrong, given_scripts, "empty unless protocol is tcp", source)
    given = columns.get("size_bytes", sizes.clear(height))
    if (wrong := (given != sizes).fill_null(False)).any():
        refuse("size_bytes", wrong, given, "the payload of its script, or empty", source)
    columns["size_bytes"] = sizes.zip_with(scripted, given).alias("size_bytes")
    sends = found["up"] == (columns.get("direction", nothing).fill_null("down") == "up")
    opener = pl.select(pl.when(sends).then(pl.lit("sender")).when(~sends).then(pl.lit("receiver"))).to_series()
    given = columns.get("opened_by", nothing)
    if (wrong := ((given == "sender") & (opener == "receiver")).fill_null(False)).any():
        bound = "receiver or empty, since the receiver sends first in the script: or turn direction, src and dst"
        refuse("opened_by", wrong, given, bound, source)
    columns["opened_by"] = opener.zip_with(scripted & given.is_null(), given).alias("opened_by")


def with_applications(columns: dict[str, pl.Series], height: int, source: str) -> None:
    """Fill in what follows from the applications of flows; refuse what contradicts them."""
    texts = columns["application"]
    try:
        described = applications.described(texts)
    except MayflyError as error:
        raise MayflyError(f"{source}: {error}") from None
    runs, nothing = texts.is_not_null(), pl.repeat(None, height, dtype=pl.String, eager=True)
    for name in ("bursts", "script"):
        if (wrong := columns.get(name, nothing).is_not_null() & runs).any():
            refuse(name, wrong, columns[name], "empty beside an application", source)
    protocol = described["protocol"]
    client = pl.Series(["receiver"]).gather(pl.repeat(0, height, dtype=pl.UInt32, eager=True))
    implied = {
        "protocol": (protocol, "that of its application, or empty"),
        "size_bytes": (
            pl.repeat(ENDLESS_BYTES, height, dtype=pl.Int64, eager=True),
            "2^40 or empty, of an application",
        ),
        "opened_by": (client.set(protocol != "tcp", None), "receiver or empty, of an application that asks"),
    }
    for name, (own, bound) in implied.items():
        own = own.set(~runs, None)
        given = columns.get(name, own)
        if (wrong := (given != own).fill_null(False)).any():
            refuse(name, wrong, given, bound, source)
        columns[name] = own.zip_with(own.is_not_null(), given).alias(name)
    for name in ("rate_bps", "packet_bytes"):
        own = described[name]
        given = columns.get(name, own)
        columns[name] = given.zip_with(given.is_not_null(), own).alias(name)


def with_sizes(columns: dict[str, pl.Series], mss: int, source: str) -> None:
    """Replace ``size_packets`` by ``size_bytes``; refuse a row without a size, and one whose two sizes disagree."""
    packets, given = columns.pop("size_packets", None), columns.get("size_bytes")
    if packets is not None:
        most = ENDLESS_BYTES // mss
        if number(packets.max()) > most:
            refuse("size_packets", packets > most, packets, f"at most {most} packets of {mss} bytes", source)
        if given is None:
            columns["size_bytes"] = (packets * mss).rename("size_bytes")
        else:
            differs = ((given + (mss - 1)) // mss != packets).fill_null(False)
            if differs.any():
                refuse("size_packets", differs, packets, f"size_bytes over the MSS of {mss} bytes, rounded up", source)
            columns["size_bytes"] = given.zip_with(given.is_not_null(), packets * mss)
    if "size_bytes" not in columns or columns["size_bytes"].has_nulls():
        refuse_missing("size_bytes", columns, source)


def with_flow_ids(columns: dict[str, pl.Series], height: int, source: str) -> None:
    """Take the row number for identity when no flow has one; refuse one that is missing or taken."""
    if "flow_id" not in columns:
        columns["flow_id"] = pl.int_range(height, dtype=pl.Int64, eager=True).alias("flow_id")
        return
    ids = columns["flow_id"]
    if ids.has_nulls():
        refuse_missing("flow_id", columns, source)
    ascending = ids.sort()
    if (ascending.diff() == 0).any():
        refuse("flow_id", ~ids.is_first_distinct(), ids, "unique", source)


def check_protocol(columns: dict[str, pl.Series], source: str) -> None:
    """Refuse a UDP flow without a rate or with a transport, and a rate or packet length given for TCP."""
    height = len(columns["start_s"])
    udp = columns["protocol"] == "udp" if "protocol" in columns else pl.repeat(False, height, eager=True)
    udp = udp.fill_null(False)
    rate = columns.get("rate_bps", pl.repeat(None, height, dtype=pl.Float64, eager=True))
    if (udp & rate.is_null()).any():
        row = (udp & rate.is_null()).arg_max() or 0
        raise MayflyError(f"{source}: row {row + 1}: rate_bps is missing: a udp flow must have one")
    for name in ("rate_bps", "packet_bytes"):
        if name in columns and (columns[name].is_not_null() & ~udp).any():
            refuse(name, columns[name].is_not_null() & ~udp, columns[name], "empty unless protocol is udp", source)
    if "transport" in columns and (wrong := columns["transport"].is_not_null() & udp).any():
        refuse("transport", wrong, columns["transport"], "empty unless protocol is tcp", source)


def check_stages(columns: dict[str, pl.Series], source: str) -> None:
    """Refuse a flow that can never start: it waits for no known stage, for an endless one, or for itself."""
    rules: tuple[tuple[Callable[[], pl.Series | None], str], ...] = (
        (lambda: stages.unknown(columns), "the stage of some flow"),
        (lambda: stages.endless(columns, ENDLESS_BYTES), "a stage without endless flows, which is never over"),
        (lambda: stages.circular(columns), "a stage that does not wait for this one in turn"),
    )
    for rule, bound in rules:
        wrong = rule()
        if wrong is not None:
            refuse("after", wrong, columns["after"], bound, source)


def in_order(columns: dict[str, pl.Series]) -> dict[str, pl.Series]:
    """Sort the rows by start, then identity; column by column, so that only one is held twice."""
    keys = pl.DataFrame([columns["start_s"], columns["flow_id"]])
    if keys["start_s"].is_sorted() and keys["flow_id"].is_sorted():
        return columns
    order = keys.select(pl.arg_sort_by("start_s", "flow_id")).to_series()
    del keys
    for name in columns:
        columns[name] = columns[name].rechunk().gather(order)
    return columns


def with_defaults(columns: dict[str, pl.Series]) -> pl.DataFrame:
    """Make the normalised table: documented columns, types and defaults."""
    height = len(columns["start_s"])
    hosts = {name: columns.get(name) for name in ("src", "dst")}
    whole = all(host is None or host.dtype == pl.Int64 or is_whole(host) for host in hosts.values())
    for (name, host), default in zip(hosts.items(), (1, 2), strict=True):
        dtype = pl.Int64 if whole else pl.String
        fill = default if whole else str(default)
        if host is None:
            columns[name] = pl.repeat(fill, height, dtype=dtype, eager=True)
        else:
            columns[name] = host.cast(dtype).fill_null(fill)
    for name in ORDER:
        column = COLUMNS[name]
        if isinstance(column, Choice):
            usual = pl.repeat(column.words[0], height, eager=True)
            columns[name] = columns[name].fill_null(column.words[0]) if name in columns else usual
        elif name not in columns and isinstance(column, Number):
            columns[name] = pl.repeat(None, height, dtype=column.dtype, eager=True)
        elif name not in columns and isinstance(column, Label):
            columns[name] = pl.repeat(None, height, dtype=pl.String, eager=True)
    last = [name for name in WHERE_GIVEN if name in columns]
    return pl.DataFrame({name: columns[name] for name in (*ORDER, *last)})


def refuse_missing(name: str, columns: dict[str, pl.Series], source: str) -> None:
    """Raise for the first row without a value."""
    row = (columns[name].is_null().arg_max() or 0) if name in columns else 0
    raise MayflyError(f"{source}: row {row + 1}: {name} is missing: must be {COLUMNS[name].domain()}")
