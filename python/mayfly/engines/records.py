"""What the guest tells of flows and queue as the tables of docs/tables.md."""

from typing import Any

import polars as pl

from mayfly.engines.network import Laid
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.transport import Tcp
from mayfly.simulate import columns
from mayfly.tables import native
from mayfly.workload import scripts


def records_frame(flows: pl.DataFrame, told: list[dict[str, Any]], tcp: Tcp) -> pl.DataFrame:
    """The flow list with the outcome of each flow.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.
    told : list of dict, shape (n_flows,)
        By the guest.
    tcp : Tcp
        Of the scenario: without FIN exchange a flow ends with its last data.

    Returns
    -------
    polars.DataFrame, shape (n_flows, ...)
        Flow records, without ``slowdown``, ``discipline`` and ``replication``, and with ``begun_s``; null is what the
        kernel does not tell.
    """
    known = flows.select("protocol", "size_bytes", "opened_by").iter_rows(named=True)
    outcomes = [
        (_udp(row, one, tcp) if row["protocol"] == "udp" else _tcp(row, one, tcp.fin)) | {"begun_s": one.get("begun_s")}
        for row, one in zip(known, told, strict=True)
    ]
    return columns.records_frame(flows, pl.DataFrame(outcomes, schema=native("flows").schema), tcp.mss)


def _tcp(row: dict[str, Any], told: dict[str, Any], fin: bool) -> dict[str, Any]:
    sender, receiver = told.get("sender") or {}, told.get("receiver") or {}
    opens = row["opened_by"] == "sender"
    # The kernel counts no SYN-ACK with the connection that it opens.
    sent = sender.get("segs_out", 0) + (1 if sender and not opens else 0)
    back = receiver.get("segs_out", 0) + (1 if receiver and opens else 0)
    lost = max(sent - receiver.get("segs_in", 0), 0) + max(back - sender.get("segs_in", 0), 0)
    both = (sender, receiver) if "trains" in told else (sender,)
    if "trains" in told:
        # Data of either end, SYN and FIN of the flow's sender.
        control = bool(sender) + ("fin_s" in told)
        sent = sum(end.get("data_segs_out", 0) for end in both) + control
    return {
        "finish_s": told.get("finish_s" if fin else "last_data_s"),
        "delivered_bytes": told["received_bytes"],
        "packets_sent": sent,
        "retransmits": sum(end.get("total_retrans", 0) for end in both),
        "drops": lost,
        "lost": 0,
        "marks": sum(end.get("delivered_ce", 0) for end in both),
        "gave_up": told["gave_up"],
        "first_data_s": told.get("first_data_s"),
        "first_sent_s": told.get("begun_s") if opens else None,
        "last_data_s": told.get("last_data_s"),
        "rtt_mean_s": told.get("rtt_mean_s"),
        "back_bytes": told.get("back_bytes", 0),
    }


def _udp(row: dict[str, Any], told: dict[str, Any], tcp: Tcp) -> dict[str, Any]:
    # What links add to a packet is payload in the simulator.
    delivered = told["received_bytes"] + told["arrived"] * (tcp.header - 40)
    ended = told["settled"] and told["arrived"]
    return {
        "finish_s": told["last_data_s"] if ended else None,
        "delivered_bytes": min(delivered, row["size_bytes"]),
        "packets_sent": told["sent"],
        "retransmits": 0,
        "timeouts": 0,
        "drops": told["sent"] - told["arrived"],
        "lost": 0,
        "marks": 0,
        "gave_up": False,
        "first_data_s": told.get("first_data_s"),
        "first_sent_s": told["begun_s"] if told["sent"] else None,
        "last_data_s": told["last_data_s"] if ended else None,
    }


_TIMES = ("sent_s", "queued_s", "departed_s", "received_s")


def packets_frame(scenario: Scenario, laid: Laid, flows: pl.DataFrame, told: list[dict[str, Any]]) -> pl.DataFrame:
    """Packets of the flows that are traced: what is not time in the queues of their way is known of the links.

    Parameters
    ----------
    scenario : Scenario
        With the packets.
    laid : Laid
        The network.
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.
    told : list of dict, shape (n_flows,)
        By the guest.

    Returns
    -------
    polars.DataFrame, shape (n_packets, ...)
        The native table ``packets``, ``flow_id`` being a row of the list.
    """
    full = scenario.tcp.mss + scenario.tcp.headers_bytes
    rows: list[tuple[Any, ...]] = []
    for row, one in enumerate(told):
        if "sent_s" not in one:
            continue
        near, far = laid.hosts[laid.src[row]], laid.hosts[laid.dst[row]]
        bits = 8 * (flows["packet_bytes"][row] or full)
        before_s = bits / near["out_bps"] + laid.access_delay_s(row, "src")
        after_s = sum(bits / way["rate_bps"] + way["delay_s"] for way in laid.path(row))
        after_s += bits / far["in_bps"] + laid.access_delay_s(row, "dst")
        for index, (at, came) in enumerate(zip(one["sent_s"], one["received_s"], strict=True)):
            queued = at + before_s
            # netem counts whole microseconds of delay: no packet leaves before it comes.
            left = None if came is None else max(queued, came - after_s)
            rows.append((row, index, bits // 8, at, queued, left, came))
    names = ("flow_id", "number", "wire_bytes", *_TIMES)
    known = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return pl.DataFrame(known | {"dropped_s": None, "marked": False}, schema=native("packets").schema)


def probes_frame(told: list[dict[str, Any]]) -> pl.DataFrame:
    """Packets of the probes.

    Parameters
    ----------
    told : list of dict, shape (n_probes,)
        By the guest.

    Returns
    -------
    polars.DataFrame, shape (n_packets, ...)
        The native table ``probes``.
    """
    rows = [
        {"flow_id": row, "number": index, "sent_s": sent, "received_s": came, "returned_s": back}
        for row, one in enumerate(told)
        for index, (sent, came, back) in enumerate(
            zip(one["sent_s"], one["received_s"], one["returned_s"], strict=True)
        )
    ]
    return pl.DataFrame(rows, schema=native("probes").schema)


def trains_of(flows: pl.DataFrame, told: list[dict[str, Any]]) -> pl.DataFrame:
    """When the trains of scripted flows were under way.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run.
    told : list of dict, shape (n_flows,)
        By the guest.

    Returns
    -------
    polars.DataFrame, shape (n_trains, 7)
        As :func:`mayfly.workload.scripts.trains_frame` has it, in order of their beginning.
    """
    rows = []
    for row, ((script, direction), one) in enumerate(
        zip(flows.select("script", "direction").iter_rows(), told, strict=True)
    ):
        known = scripts.trains(script) if "trains" in one else []
        for train in one.get("trains", ()):
            own = known[train["train"]]
            found = {"flow_id": row, "train": train["train"], "forward": own.up == (direction == "up")}
            found |= {"start_s": train["start_s"]}
            rows.append(found | {"part": None, "end_s": train["end_s"]})
            ends = sorted((end, number) for number, end in enumerate(own.parts, 1))
            rows += [
                found | {"part": number, "end_s": end_s}
                for (_, number), end_s in zip(ends, train["parts"], strict=True)
            ]
    table = pl.DataFrame(rows, schema=native("trains").schema).sort("start_s", maintain_order=True)
    return scripts.trains_frame(table, flows)


def samples_frame(told: list[dict[str, Any]], watched: int) -> pl.DataFrame:
    """Time series of the forward queue.

    Parameters
    ----------
    told : list of dict, shape (n_samples,)
        By the guest.
    watched : int
        Flows whose progress was watched.

    Returns
    -------
    polars.DataFrame, shape (n_samples, ...)
        Samples of docs/tables.md, without ``discipline`` and ``replication``.
    """
    before = {"arrivals": 0, "drops": 0}
    rows = []
    for one in told:
        now = {"arrivals": one["packets"] + one["backlog_packets"] + one["drops"], "drops": one["drops"]}
        progress = {f"progress_{k + 1}_bytes": one["progress"][k] for k in range(min(watched, 3))}
        since = {name: now[name] - before[name] for name in now}
        rows.append({name: one[name] for name in _QUEUE} | since | progress)
        before = now
    return pl.DataFrame(rows, schema=native("samples").schema)


_QUEUE = ("time_s", "backlog_packets", "backlog_bytes", "queue_mean_packets")
"""What the guest tells as the table has it."""


_OUTCOME = ("begun_s", "finish_s", "packets_sent", "drops", "lost", "back_bytes")
_TRAIN = ("flow_id", "train", "start_s", "end_s")
_PACKET = ("flow_id", "number", "sent_s", "received_s", "returned_s")


def tables_of(
    flows: pl.DataFrame, records: pl.DataFrame, trains: pl.DataFrame, probes: pl.DataFrame, calls: pl.DataFrame
) -> dict[str, Any]:
    """The tables of a run as :func:`mayfly._native.observed` reads them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        The list that was run, without the probes.
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records with ``begun_s``, those that did not start among them.
    trains : polars.DataFrame, shape (n_trains, ...)
        Of the scripted flows, by the ids of these; empty without any.
    probes : polars.DataFrame, shape (n_packets, 5)
        The native table ``probes``.
    calls : polars.DataFrame, shape (n_packets, ...)
        Packets of the calls of a capture, ``flow_id`` being a row of the list.

    Returns
    -------
    dict of dict of ndarray
        By table and column, float64; NaN stands for null.
    """
    places = pl.DataFrame({"flow_id": flows["flow_id"], "row": pl.Series(range(flows.height), dtype=pl.Int64)})
    whole = (
        trains.filter(pl.col("part").is_null()).join(places, on="flow_id", maintain_order="left")
        if trains.width
        else trains
    )
    whole = whole.with_columns(flow_id="row") if whole.width else whole
    given = {
        "flows": (records, _OUTCOME),
        "trains": (whole, _TRAIN),
        "probes": (probes, _PACKET),
        "calls": (calls, _PACKET),
    }
    return {name: _numbers(table, names) for name, (table, names) in given.items()}


def _numbers(table: pl.DataFrame, names: tuple[str, ...]) -> dict[str, Any]:
    """Columns as numbers; a column that the table does not have is 0."""
    known = {name: table[name] if name in table.columns else pl.repeat(0.0, table.height, eager=True) for name in names}
    return {name: values.cast(pl.Float64).fill_null(float("nan")).to_numpy() for name, values in known.items()}
