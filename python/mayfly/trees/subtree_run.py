"""One simulation of some circuits of a tree: under what they share, or each alone.

A circuit alone has its ceiling and nothing else. Many that are alone make one simulation, because they do not meet: it
is cut into parts so that all processors have work and memory stays small.
"""

import json
from dataclasses import dataclass

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.metrics.users import SHORT_BYTES, transfers_of
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.tree import Circuit, Node
from mayfly.simulate import columns, transports
from mayfly.simulate.network.tree import CIRCUIT, native_tree, placed
from mayfly.simulate.settings import native_settings
from mayfly.workload import applications, scripts
from mayfly.workload.arrivals import stream

PING_BYTES = 64
PING_GAP_S = 0.2
"""Every circuit is pinged so often, from a moment of its own on."""

_SHARE = 0.95


@dataclass(frozen=True)
class Part:
    """Circuits that are simulated together.

    Parameters
    ----------
    circuits : tuple of Circuit
    nodes : tuple of Node
        What they share; none for circuits that are alone.
    """

    circuits: tuple[Circuit, ...]
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a simulation of a part found.

    Parameters
    ----------
    rows : polars.DataFrame, shape (n_circuits, ...)
        Columns of :data:`mayfly.trees.tables.CIRCUITS` that need no other part.
    departures : polars.DataFrame, shape (n_entries, 4)
        ``circuit``, ``up``, ``bin``, ``bytes``: what left each circuit in each interval.
    classes : polars.DataFrame, shape (2 n_classes, ...)
        Native totals with ``name``.
    records : polars.DataFrame, shape (n_flows, ...)
        Native records of the flows with `CIRCUIT`; for tests.
    """

    rows: pl.DataFrame
    departures: pl.DataFrame
    classes: pl.DataFrame
    records: pl.DataFrame


def simulated(
    scenario: Scenario,
    discipline: Discipline,
    part: Part,
    flows: pl.DataFrame,
    bin_s: float,
    control: "_native.Control | None" = None,
) -> Outcome:
    """Run a part under a discipline.

    Parameters
    ----------
    scenario : Scenario
        Network, transport, duration and seed.
    discipline : Discipline
        Of the queues under comparison.
    part : Part
    flows : polars.DataFrame, shape (n_flows, ...)
        Flow list with `CIRCUIT`, of the circuits of the part.
    bin_s : float
        Length of the intervals in which departures are counted, s.
    control : Control, optional
        Shows how far the run is, and stops it.

    Returns
    -------
    Outcome

    Raises
    ------
    MayflyError
        A value is refused.
    """
    tcp = scenario.tcp
    full_packet = tcp.mss + tcp.headers_bytes
    # In a circuit the order is the same whichever others there are.
    flows = pl.concat([_pings(scenario, part, flows), flows], how="diagonal_relaxed")
    flows = flows.sort("start_s", CIRCUIT, maintain_order=True)
    pings = np.flatnonzero((flows["flow_id"] < 0).to_numpy())
    hosts = placed(flows)
    tree = native_tree(part.nodes, part.circuits, scenario.network, discipline, full_packet, hosts.circuits, bin_s)
    try:
        dealt = transports.dealt(scenario, flows)
        settings = native_settings(scenario, discipline, scenario.seed)
        settings |= {"tree": tree, "sample_interval_ns": 0, "probes": pings.tolist(), "echoes": pings.tolist()}
        settings |= {"transports": dealt.native, "applications": applications.native(flows)[0]}
        native = columns.native_flows(
            flows, full_packet, hosts.ends, scenario.nonresponsive, dealt.numbers, scenario.mark_of
        )
        found = _native.run(json.dumps(settings), native, control or _native.Control(), None)
    except ValueError as error:
        raise MayflyError(str(error)) from None
    names = pl.Series([given["name"] for given in tree["classes"]], dtype=pl.String)
    classes = pl.DataFrame(found["tree_classes"]).with_columns(
        name=names.gather(pl.DataFrame(found["tree_classes"])["class"])
    )
    departures = pl.DataFrame(found["departures"])
    departures = departures.select(names.gather(departures["class"]).alias(CIRCUIT), "up", "bin", "bytes")
    records = columns.records_frame(flows, pl.DataFrame(found["flows"]), tcp.mss, {})
    trains = pl.DataFrame(found["trains"])
    trains = scripts.trains_frame(trains, flows) if "script" in flows.columns else pl.DataFrame()
    rows = (
        pl.DataFrame({CIRCUIT: [circuit.name for circuit in part.circuits]})
        .join(_flows(records), on=CIRCUIT, how="left")
        .join(_short(records, trains), on=CIRCUIT, how="left")
        .join(_pinged(pl.DataFrame(found["probes"]), flows, scenario.duration), on=CIRCUIT, how="left")
        .join(_counts(classes), on=CIRCUIT, how="left")
        .join(_peaks(departures, bin_s), on=CIRCUIT, how="left")
    )
    return Outcome(rows, departures, classes, records)


def _pings(scenario: Scenario, part: Part, flows: pl.DataFrame) -> pl.DataFrame:
    """A ping of each circuit over a path like those of its flows."""
    paths = flows.group_by(CIRCUIT).agg(pl.col("rtt_s").median())
    rtt = dict(zip(paths[CIRCUIT], paths["rtt_s"], strict=True))
    names = [circuit.name for circuit in part.circuits]
    begins = [stream(scenario.seed, "tree", "ping", name).random() * PING_GAP_S for name in names]
    counts = [max(int((scenario.duration - begin) / PING_GAP_S), 1) for begin in begins]
    payload = PING_BYTES - UDP_HEADER_BYTES
    return pl.DataFrame(
        {
            "flow_id": range(-len(names), 0),
            "start_s": begins,
            "src": "ping",
            "dst": "pinged",
            "direction": "down",
            "protocol": "udp",
            "size_bytes": [count * payload for count in counts],
            "rtt_s": [rtt.get(name) for name in names],
            "opened_by": "sender",
            "packet_bytes": PING_BYTES,
            "rate_bps": PING_BYTES * 8 / PING_GAP_S,
            CIRCUIT: names,
        },
        schema_overrides={"rtt_s": pl.Float64, "flow_id": pl.Int64},
    )


def _flows(records: pl.DataFrame) -> pl.DataFrame:
    own = records.filter(pl.col("flow_id") >= 0)
    unfinished = (pl.col("protocol") == "tcp") & pl.col("finish_s").is_null()
    return own.group_by(CIRCUIT).agg(flows=pl.len().cast(pl.Int64), unfinished=unfinished.sum().cast(pl.Int64))


def _short(records: pl.DataFrame, trains: pl.DataFrame) -> pl.DataFrame:
    """The 95th percentile of short transfers, by :func:`mayfly.metrics.users.percentile`."""
    transfers = transfers_of(columns.begun(records.filter(pl.col("flow_id") >= 0)), trains)
    circuits = records.select("flow_id", CIRCUIT)
    short = transfers.filter(pl.col("size_bytes") <= SHORT_BYTES).join(circuits, on="flow_id", how="left")
    times = pl.col("response_time_s").cast(pl.Float64).fill_null(float("inf"))
    return short.group_by(CIRCUIT).agg(short_flows=pl.len().cast(pl.Int64), short_p95_s=_ranked(times))


def _ranked(values: pl.Expr, share: float = _SHARE) -> pl.Expr:
    """The value of rank ``ceil(share n)``; null when it is infinite."""
    rank = ((values.count() * share - 1e-9).ceil().cast(pl.Int64) - 1).clip(0)
    value = values.sort().get(rank, null_on_oob=True)
    return pl.when(value.is_finite()).then(value)


def _pinged(packets: pl.DataFrame, flows: pl.DataFrame, end_s: float) -> pl.DataFrame:
    """Round-trip times by circuit, of pings that had a second to return."""
    owner = flows[CIRCUIT].gather(packets["flow_id"])
    own = packets.with_columns(owner.alias(CIRCUIT))
    own = own.filter(pl.col("returned_s").is_not_null() | (pl.col("sent_s") < end_s - 1.0))
    times = (1e3 * (pl.col("returned_s") - pl.col("sent_s"))).drop_nulls()
    return own.group_by(CIRCUIT).agg(
        pings=pl.len().cast(pl.Int64),
        ping_p50_ms=_ranked(times, 0.5),
        ping_p95_ms=_ranked(times),
        ping_least_ms=times.min(),
        ping_lost=pl.col("returned_s").null_count() / pl.len(),
    )


def _counts(classes: pl.DataFrame) -> pl.DataFrame:
    """Totals of the queues, a row per circuit."""
    leaves = classes.filter(pl.col("drops").is_not_null())
    wait = (1e3 * pl.col("queue_delay_mean_s")).fill_nan(None)
    ways = []
    for up, way in ((False, "down"), (True, "up")):
        own = leaves.filter(pl.col("up") == up)
        ways.append(
            own.select(
                pl.col("name").alias(CIRCUIT),
                pl.col("sent_bytes").cast(pl.Int64).alias(f"bytes_{way}"),
                pl.col("drops").cast(pl.Int64).alias(f"drops_{way}"),
                pl.col("marks").cast(pl.Int64).alias(f"marks_{way}"),
                wait.alias(f"wait_{way}_ms"),
            )
        )
    return ways[0].join(ways[1], on=CIRCUIT)


def _peaks(departures: pl.DataFrame, bin_s: float) -> pl.DataFrame:
    """Bytes of the busiest second of each circuit."""
    second = (pl.col("bin") * bin_s).floor().cast(pl.Int64)
    each = departures.group_by(CIRCUIT, "up", second.alias("second")).agg(pl.col("bytes").sum())
    most = each.group_by(CIRCUIT).agg(
        peak_bytes_down=pl.col("bytes").filter(~pl.col("up")).max(),
        peak_bytes_up=pl.col("bytes").filter(pl.col("up")).max(),
    )
    return most.with_columns(pl.col("peak_bytes_down", "peak_bytes_up").fill_null(0))
