"""Tables of connections written by hand."""

import polars as pl

from mayfly.profile.table import COLUMNS, Connections
from mayfly.workload.account import sums_of_connections

SHARES = {
    "packets": 10,
    "wire_bytes": 1000,
    "payload_bytes": 600,
    "distinct_bytes": 600,
    "missing_bytes": 0,
    "data_packets": 5,
    "retransmits": 0,
    "lost_before": 0,
}


def row(opener, responder, start_s=0.0, end_s=1.0, *, port=80, up=None, down=None, **more):
    """One connection; ``up`` and ``down`` change what opener and responder sent."""
    columns = {
        "protocol": "tcp",
        "opener": opener,
        "opener_port": 40000,
        "responder": responder,
        "responder_port": port,
        "opener_from": "syn",
        "state": "complete",
        "start_s": start_s,
        "end_s": end_s,
        "rtt_s": None,
    }
    for side, changes in (("opener", up), ("responder", down)):
        sent = SHARES | {"first_s": start_s, "last_s": end_s} | (changes or {})
        columns |= {f"{side}_{name}": value for name, value in sent.items()}
    return columns | more


def frame(rows):
    table = pl.DataFrame(rows, schema_overrides=COLUMNS)
    return table.select(*COLUMNS).with_row_index("connection_id").with_columns(pl.col("connection_id").cast(pl.Int64))


def connections(rows):
    table = frame(rows)
    counts = {"account": sums_of_connections(table)}
    return Connections(table, ("made",), counts, None, table["end_s"].max() - min(table["start_s"].min(), 0.0))


SILENT = {"packets": 0, "wire_bytes": 0, "payload_bytes": 0, "distinct_bytes": 0, "first_s": None, "last_s": None}
"""A side that sent nothing."""
