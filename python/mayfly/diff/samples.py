"""What is compared, in one form: a row per transfer, whether a simulated run or a capture of a real link has it."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.summary_types import Accounted
from mayfly.text.parquet import read_parquet
from mayfly.text.readable import printable
from mayfly.workload.account import account_of, aside_of_columns
from mayfly.workload.columns import Columns, Table, Words, hosts_of_ends
from mayfly.workload.copies import copies_sentence
from mayfly.workload.doubts import refuse_partial

PAUSE_S = 1.0
"""A pair of hosts that starts no transfer for so long begins another session, s."""

COLUMNS = (
    "key",
    "pair",
    "start_s",
    "size_bytes",
    "time_s",
    "rtt_s",
    "packets",
    "repeated",
    "dropped",
    "carried_bytes",
    "session",
)
"""Of :attr:`Side.frame`."""


@dataclass(frozen=True)
class Side:
    """Transfers of one run or capture.

    Parameters
    ----------
    source : str
        Where they come from.
    label : str
        Discipline of a run; empty for a capture.
    frame : polars.DataFrame or Columns
        A row per transfer: ``size_bytes``; ``time_s`` (infinite when unfinished, null when not known); ``rtt_s``, its
        mean round-trip time; ``packets`` that carried data, those ``repeated`` among them and, in a run, ``dropped``;
        ``carried_bytes``, what had arrived at the end; and the ``session`` that it belongs to, from 0.
    span_s : float
        Time that was simulated until the last transfer ended, of all replications, or captured, s.
    note : str or None
        What a reader of the figures of this side has to know.
    account : Accounted, optional
        Of a capture: how much of it was seen, used and left out by reason.
    """

    source: str
    label: str
    frame: Table
    span_s: float
    note: str | None = None
    account: Accounted | None = None


def sides_of(path: str | os.PathLike[str], internal: Sequence[str] | None = None) -> list[Side]:
    """Read a folder that ``compare``, ``whatif`` or ``simulate`` wrote, or a capture.

    Parameters
    ----------
    path : path
        The folder, or a pcap or pcapng file.
    internal : str or sequence of str, optional
        CIDRs of the site, for a capture.

    Returns
    -------
    list of Side
        One for each discipline of a run, or the capture alone.

    Raises
    ------
    MayflyError
        It is neither, or cannot be read.
    """
    path = Path(path)
    if not path.is_dir():
        return [_of_capture(path, internal)]
    summary, flows = path / "summary.json", path / "flows.parquet"
    if not (summary.is_file() and flows.is_file()):
        raise MayflyError(
            f"{printable(path)}: has no summary.json with flows.parquet; must be a folder that mayfly compare, "
            "whatif or simulate wrote, or a capture"
        )
    try:
        document = json.loads(summary.read_text(encoding="utf-8"))
        records = read_parquet(flows)
        labels = [row["label"] for row in document["disciplines"]]
        duration_s = float(document["duration_s"])
        return [_of_run(str(path), label, records.filter(discipline=label), duration_s) for label in labels]
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise MayflyError(f"{printable(path)}: cannot be read: {printable(str(error).partition(chr(10))[0])}") from None


def _of_run(source: str, label: str, records: pl.DataFrame, duration_s: float) -> Side:
    tcp = records.filter(pl.col("protocol") == "tcp", pl.col("size_bytes").is_not_null())
    frame = tcp.select(
        pl.format("{}/{}", "replication", "flow_id").alias("key"),
        pl.format("{}/{}/{}", "replication", "src", "dst").fill_null("").alias("pair"),
        "start_s",
        "size_bytes",
        pl.col("response_time_s").fill_null(float("inf")).alias("time_s"),
        pl.col("rtt_mean_s").alias("rtt_s"),
        pl.col("packets_sent").alias("packets"),
        pl.col("retransmits").alias("repeated"),
        pl.col("drops").alias("dropped"),
        pl.coalesce("delivered_bytes", pl.lit(0)).alias("carried_bytes"),
    )
    # A run whose transfers all ended was over with the last of them, whatever time it had been given.
    ends = (
        records.filter(protocol="tcp")
        .group_by("replication")
        .agg(
            pl.when(pl.col("finish_s").is_null().any())
            .then(duration_s)
            .otherwise(pl.col("finish_s").max())
            .alias("end_s")
        )
    )
    return Side(source, label, _with_sessions(frame), float(ends["end_s"].sum()))


def _of_capture(path: Path, internal: Sequence[str] | None) -> Side:
    from mayfly.profile.listing import listing

    found = listing([path], internal=internal, whole=True)
    counts, table = found.connections.counts, found.columns
    refuse_partial(counts, printable(path), "each side", None)
    tcp = table.words("protocol").are("tcp")
    carries = [tcp & (table[f"{end}_distinct_bytes"] > 0) for end in _ENDS]
    transfers = _transfers(table, np.flatnonzero(np.stack(carries, axis=1)))
    if transfers.height == 0:
        raise MayflyError(f"{printable(path)}: no TCP connection with payload")
    account = account_of(counts, [path], aside_of_columns(table, carries[0] | carries[1]))
    note = "; ".join(filter(None, [account["cannot_answer"], copies_sentence(counts)])) or None
    return Side(str(path), "", transfers, found.connections.duration_s, note, account)


_ENDS = ("opener", "responder")


def _transfers(table: Columns, keys: Integers) -> Columns:
    """Transfers of connections: twice the row of each, and 1 more for what the responder sent, ascending.

    They are in the order of pairs of hosts and starts. A pair is a number here.
    """
    hosts, opener, responder = hosts_of_ends(table)
    # As the names of pairs, `opener/responder`, would be ordered.
    rank = np.empty(len(hosts), dtype=np.int64)
    rank[sorted(range(len(hosts)), key=lambda host: hosts[host] + "/")] = np.arange(len(hosts))
    keys = keys.astype(np.int32 if 2 * table.height < 2**31 else np.int64)
    pairs = (rank[opener] * len(hosts) + rank[responder])[keys >> 1]
    starts_s = table["start_s"][keys >> 1]
    # Of equal ones the lower key comes first: the sort is stable.
    order = np.lexsort((starts_s, pairs))
    pairs, starts_s, keys = pairs[order], starts_s[order], keys[order]
    del order, opener, responder
    begins = np.ones(len(keys), dtype=bool)
    begins[1:] = (np.diff(starts_s) > PAUSE_S) | (pairs[1:] != pairs[:-1])
    made = {"pair": pairs, "start_s": starts_s, "session": np.cumsum(begins, dtype=keys.dtype) - 1}
    del pairs, starts_s, begins

    def either(name: str) -> Any:
        """What the sender of each transfer has."""
        one, two = (table[name.format(end)] for end in _ENDS)
        return np.where(keys & 1, two[keys >> 1], one[keys >> 1])

    def times_s() -> Floats:
        lasted_s: Floats = either("{}_last_data_s") - either("{}_first_data_s")
        # Of one or two packets the time between the first and the last says nothing of the link.
        lasted_s[either("{}_data_packets") <= 2] = np.nan
        return lasted_s

    def rtts_s() -> Floats:
        to_opener, to_responder = (table[f"data_ack_to_{end}_mean_s"] for end in _ENDS)
        acked_s: Floats = np.where(keys & 1, to_opener[keys >> 1], to_responder[keys >> 1])
        unknown = np.isnan(acked_s)
        acked_s[unknown] = table["rtt_s"][keys[unknown] >> 1]
        return acked_s

    columns: dict[str, Callable[[], Any]] = {
        "key": lambda: 2 * table["connection_id"][keys >> 1] + (keys & 1),
        "size_bytes": lambda: either("{}_distinct_bytes"),
        "time_s": times_s,
        "rtt_s": rtts_s,
        "packets": lambda: either("{}_data_packets"),
        "repeated": lambda: either("{}_retransmits"),
        "carried_bytes": lambda: either("{}_distinct_bytes"),
    }

    def numbers(name: str) -> Any:
        return table.held(made.pop(name) if name in made else columns[name]())

    def no_words(name: str) -> Words:
        raise KeyError(name)

    names = [name for name in COLUMNS if name != "dropped"]
    found: Columns

    def frame() -> pl.DataFrame:
        return pl.DataFrame({name: found[name] for name in names})

    found = Columns(len(keys), names, numbers, no_words, frame, table.folder)
    for name in tuple(made):
        # In a file from here on, where it is as long as that.
        _ = found[name]
    return found


def _with_sessions(frame: pl.DataFrame) -> pl.DataFrame:
    """Number the sessions: transfers of a pair of hosts, each started within :data:`PAUSE_S` of the one before."""
    pause = (pl.col("start_s").diff().fill_null(float("inf")) > PAUSE_S) | (
        pl.col("pair") != pl.col("pair").shift().fill_null("")
    )
    return (
        frame.sort("pair", "start_s", "key")
        .with_columns((pause | (pl.int_range(pl.len()) == 0)).cum_sum().sub(1).alias("session"))
        .select(COLUMNS)
    )
