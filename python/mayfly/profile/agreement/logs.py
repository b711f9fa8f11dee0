"""Logs of connections that :mod:`mayfly.workload.formats` reads: Zeek's ``conn.log``."""

from pathlib import Path

import polars as pl

from mayfly.errors import MayflyError
from mayfly.profile.agreement.table import Seen, Tool, by_opener, in_order
from mayfly.text.readable import printable
from mayfly.workload.formats import zeek

NAMES = {"packets": "packets", "wire_bytes": "wire_bytes", "distinct_bytes": "distinct_bytes"}


def _zeek(path: Path) -> Seen:
    rows = zeek.connections(path)
    if not rows["protocol"]:
        raise MayflyError(f"{printable(path)}: no TCP or UDP connection: must hold at least one")
    table = pl.DataFrame(rows)
    frame = by_opener(table, NAMES).with_columns(
        (table["start_s"] - table["start_s"].min()).alias("start_s"),
        (table["end_s"] - table["start_s"]).alias("duration_s"),
    )
    return Seen("zeek", path.name, in_order(frame), {"duration_s": 1e-6})


ZEEK = Tool(id="zeek", title=zeek.CONN_LOG.title, sniff=zeek.CONN_LOG.sniff, read=_zeek)
