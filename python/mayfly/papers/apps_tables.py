"""Chen 2012, 9.2.2 beside a capture of ours: trains, warm-ups, pacing and round-trip times of Internet connections."""

import polars as pl

from mayfly.papers.chen2012_apps import OFFICE
from mayfly.papers.declaration import Runs
from mayfly.papers.page import table
from mayfly.workload.connections import Reading, ReadOptions, read_captures


def well_behaved(reading: Reading) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Connections with a handshake, data both ways and a FIN or RST (9.2.2), and their trains.

    Parameters
    ----------
    reading : Reading
        With trains.

    Returns
    -------
    connections, trains : polars.DataFrame
        The rows of these.
    """
    ended = pl.any_horizontal("opener_fin", "responder_fin", "opener_rst", "responder_rst")
    both_ways = (pl.col("opener_distinct_bytes") > 0) & (pl.col("responder_distinct_bytes") > 0)
    kept = reading.connections.filter(pl.col("rtt_s").is_not_null(), both_ways, ended)
    ids = kept["connection_id"].implode()
    return kept, reading.trains.filter(pl.col("connection_id").is_in(ids))


def shares(connections: pl.DataFrame, trains: pl.DataFrame) -> list[tuple[str, str, str]]:
    """What is printed of Internet connections, and ours.

    Parameters
    ----------
    connections, trains : polars.DataFrame
        As :func:`well_behaved` returns them.

    Returns
    -------
    list of tuple of str
        Quantity, printed, ours.
    """
    opener, responder = (trains.filter(side=side) for side in ("opener", "responder"))
    warm = {name: own.filter(pl.col("warm_up_s") > 0)["warm_up_s"] for name, own in (("a", opener), ("b", responder))}
    pacing = pl.concat([connections["opener_pacing_s"], connections["responder_pacing_s"].alias("opener_pacing_s")])
    rtt_s = connections["data_ack_to_opener_mean_s"] + connections["data_ack_to_responder_mean_s"]

    def percent(flags: pl.Series) -> str:
        return f"{100 * flags.mean():.1f} %"

    sizes = [f"{own['packets'].mean():.1f}" for own in (responder, opener)]
    counts = [f"{connections[f'{side}_trains'].mean():.2f}" for side in ("opener", "responder")]
    return [
        ("median round-trip time, DATA-ACK (Fig. 9.3)", "33.6 ms", f"{1e3 * rtt_s.median():.1f} ms"),
        ("warm-ups of the initiator below 0.1 ms (Fig. 9.4)", "around 60 %", percent(warm["a"] < 1e-4)),
        ("warm-ups of the remote party above 10 ms (Fig. 9.4)", "more than 80 %", percent(warm["b"] > 1e-2)),
        ("trains of the initiator below 3 packets (Fig. 9.5)", "more than 95 %", percent(opener["packets"] < 3)),
        ("mean train of the remote party, of the initiator, packets", "the first is larger", ", ".join(sizes)),
        ("trains of initiator and remote party per connection (Fig. 9.6)", "nearly the same", ", ".join(counts)),
        ("pacing of a side below 1 ms (Fig. 9.6)", "more than 80 % are small", percent(pacing.drop_nulls() < 1e-3)),
    ]


def profile_table(runs: Runs) -> str:
    """The shares as a section of the page.

    Parameters
    ----------
    runs : Runs
        Not needed.

    Returns
    -------
    str
        Markdown.
    """
    connections, trains = well_behaved(read_captures(OFFICE, ReadOptions(max_trains=10**6)))
    head = ["Internet connections", "Eurecom", f"office, {connections.height} connections"]
    body = [list(row) for row in shares(connections, trains)]
    note = (
        "The tap of the office is beside the clients, and its users are programs: how long they think is theirs. "
        "Warm-ups are as the tap sees them, with the path to the end that answers. It has no intranet connections."
    )
    return f"## Trains, warm-ups and pacing (9.2.2)\n\n{table(head, body)}\n\n{note}\n"
