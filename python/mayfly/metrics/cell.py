"""What a wireless cell does under one discipline: throughput and fairness of uploads and downloads, losses, air.

Two kinds of totals meet here: those of the records, whose payload is counted after the warm-up, and those of the cell
(frames, time on the air, packets at the access point's queue), which the simulator counts after it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.arrays import number_or_none
from mayfly.errors import MayflyError
from mayfly.metrics.active import active_flows, active_row
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.fairness import jain_index
from mayfly.metrics.groups import group_classes
from mayfly.metrics.intervals import student_ci95
from mayfly.metrics.size_classes import classes
from mayfly.metrics.summary import class_row

if TYPE_CHECKING:
    from mayfly.summary_types import (
        AccessPoint,
        Cell,
        CellClass,
        CellDirection,
        CellJain,
        Mac,
        MeanOfRuns,
        QueueLosses,
        Station,
    )

DIRECTIONS = ("down", "up")
"""From the access point to a station, and from a station."""

Cells = Sequence[Mapping[str, Any]]
"""Totals of the cell in each replication (:func:`mayfly.simulate.network.cell.totals`)."""


def cell_row(
    records: pl.DataFrame,
    cells: Cells,
    *,
    end_s: float,
    begin_s: float = 0.0,
    mss: int = 1460,
    header_bytes: int = 40,
    rates: Sequence[str] = (),
) -> Cell:
    """Key ``wlan`` of the summary (docs/tables.md).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, all replications, with ``station`` and ``warm_up_bytes``.
    cells : sequence of mapping, shape ``(n_replications,)``
        Totals of the cell.
    end_s, begin_s : float
        End of the run and of its warm-up, s.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.
    rates : sequence of str
        Rate of each station.

    Returns
    -------
    dict
        ``goodput_mbps`` of payload with ``down``, ``up``, ``total``, each ``mean`` and ``ci95``, and
        ``up_down_ratio``, None when one of them is 0;
        ``access_point`` of :func:`queue_losses`; ``directions`` with ``down`` and ``up`` of :func:`direction_row`;
        ``mac`` of :func:`mac_row`; ``jain`` of :func:`fairness_row`; ``stations`` of :func:`station_rows`; ``groups``
        of :func:`mayfly.metrics.groups.group_classes`.

    Raises
    ------
    MayflyError
        No cell, or a time of 0 to count.
    """
    if not cells:
        raise MayflyError("0 cells: must be at least 1, one per replication")
    if not end_s > begin_s:
        raise MayflyError(f"end_s = {end_s}: must be above begin_s, {begin_s} s")
    span_s = end_s - begin_s
    got = goodput(records, len(cells), span_s)
    sums = {way: sum(got[way]) for way in DIRECTIONS}
    total = [down + up for down, up in zip(*(got[way] for way in DIRECTIONS), strict=True)]
    down, up = (
        direction_row(
            records.filter(direction=way),
            len(cells),
            end_s=end_s,
            begin_s=begin_s,
            mss=mss,
            header_bytes=header_bytes,
        )
        for way in DIRECTIONS
    )
    return {
        "goodput_mbps": {"down": _mean_of(got["down"]), "up": _mean_of(got["up"]), "total": _mean_of(total)},
        "up_down_ratio": sums["up"] / sums["down"] if sums["up"] and sums["down"] else None,
        "access_point": queue_losses(cells),
        "directions": {"down": down, "up": up},
        "mac": mac_row(cells),
        "jain": fairness_row(records, cells),
        "stations": station_rows(records, cells, span_s, rates),
        "groups": group_classes(records, len(cells)),
    }


def _mean_of(values: Sequence[float]) -> MeanOfRuns:
    return {"mean": sum(values) / len(values), "ci95": student_ci95(values)}


def _counted() -> pl.Expr:
    """Payload delivered after the warm-up, bytes."""
    return pl.col("delivered_bytes") - pl.col("warm_up_bytes")


def goodput(records: pl.DataFrame, replications: int, span_s: float) -> dict[str, list[float]]:
    """Payload delivered after the warm-up in each direction.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, with ``warm_up_bytes``.
    replications : int
        Number of runs; one of which no flow is there delivered nothing.
    span_s : float
        Time after the warm-up, s.

    Returns
    -------
    dict of list of float
        ``down`` and ``up``: Mbit/s of each replication.
    """
    of = records.group_by("direction", "replication").agg(_counted().sum().alias("bytes"))
    bytes_of = {(way, run): count for way, run, count in of.iter_rows()}
    return {way: [bytes_of.get((way, run), 0) * 8 / span_s / 1e6 for run in range(replications)] for way in DIRECTIONS}


def queue_losses(cells: Cells) -> AccessPoint:
    """Packets of each kind at the access point's queue.

    Parameters
    ----------
    cells : sequence of mapping
        Totals of the cell.

    Returns
    -------
    dict
        ``data`` (with payload, SYN, FIN, and datagrams) and ``acks`` (bare acknowledgements), each ``arrivals`` and
        ``drops``, sums over the replications, and ``loss``, None without arrivals.
    """
    return {"data": _losses(cells, "data"), "acks": _losses(cells, "ack")}


def _losses(cells: Cells, name: str) -> QueueLosses:
    arrivals, drops = (sum(cell[f"{name}_{what}"] for cell in cells) for what in ("arrivals", "drops"))
    return {"arrivals": arrivals, "drops": drops, "loss": drops / arrivals if arrivals else None}


def direction_row(
    flows: pl.DataFrame, replications: int, *, end_s: float, begin_s: float, mss: int, header_bytes: int
) -> CellDirection:
    """Transfers of one direction.

    Parameters
    ----------
    flows : polars.DataFrame
        Flow records of one discipline and direction.
    replications : int
        Number of runs.
    end_s, begin_s : float
        End of the run and of its warm-up, s.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    dict
        ``flows``, ``completed``; ``rtt_mean_s`` and ``cwnd_mean_packets``, means over the TCP flows that have some;
        ``short`` and ``long``, response times of the classes of this direction, with ``presence_mean_s``, the time
        during which a packet of theirs was at the access point; ``load_mbps`` with ``first`` and ``again``
        (:func:`offered_twice`); ``active_flows`` with ``mean`` over time and ``max``; ``timeouts`` and ``drops``.
    """
    tcp = flows.filter(pl.col("protocol") == "tcp")
    classed = flows.with_columns(classes(flows))
    active = active_flows(flows, end_s, end_s - begin_s, begin_s) if flows.height else None
    first, again = offered_twice(tcp, mss, header_bytes)
    seconds = end_s * replications
    return {
        "flows": flows.height,
        "completed": flows.height - flows["finish_s"].null_count(),
        "rtt_mean_s": number_or_none(tcp["rtt_mean_s"].mean()),
        "cwnd_mean_packets": number_or_none(tcp["cwnd_mean_packets"].mean()),
        "short": _class(classed, "short", replications),
        "long": _class(classed, "long", replications),
        "load_mbps": {"first": first * 8 / seconds / 1e6, "again": again * 8 / seconds / 1e6},
        "active_flows": active_row(active),
        "timeouts": int(tcp["timeouts"].sum()),
        "drops": int(flows["drops"].sum()),
    }


def _class(classed: pl.DataFrame, name: str, replications: int) -> CellClass:
    presence_s = classed.filter(pl.col("class") == name)["presence_s"].mean()
    return {**class_row(classed, name, replications), "presence_mean_s": number_or_none(presence_s)}


def offered_twice(tcp: pl.DataFrame, mss: int, header_bytes: int) -> tuple[int, int]:
    """What TCP sent for the first time, and again (Chen 2012, 6.5).

    Parameters
    ----------
    tcp : polars.DataFrame
        Records of TCP flows.
    mss, header_bytes : int
        Payload of a full packet and header of every packet, bytes.

    Returns
    -------
    first, again : int
        Bytes of data packets on the wire, over the whole run: of what a completed flow sent for the first time its
        size, else full packets, without the SYN; again full packets for every retransmission, of a SYN or FIN too.
    """
    done = pl.col("finish_s").is_not_null()
    segments = (
        pl.when(done).then(pl.col("size_packets")).otherwise(pl.col("packets_sent") - pl.col("retransmits") - 1)
    ).clip(0, pl.col("size_packets"))
    payload = pl.when(done).then(pl.col("size_bytes")).otherwise(segments * mss)
    first = tcp.select((payload + segments * header_bytes).sum()).item()
    return int(first), int(tcp["retransmits"].sum()) * (mss + header_bytes)


def mac_row(cells: Cells) -> Mac:
    """What the MAC of all nodes did (Urvoy-Keller 2007, Fig. 15: its retries beside the drops of the queue).

    Parameters
    ----------
    cells : sequence of mapping
        Totals of the cell.

    Returns
    -------
    dict
        ``attempts``, ``retries``, ``collided``, ``damaged``, ``acked``, ``given_up`` (frames) and ``queue_drops``
        (packets, at the access point), sums over the replications; ``retry_rate`` and ``collision_rate`` of the
        attempts; ``busy``, share of the time for which the medium was taken.
    """

    def total(name: str) -> int:
        return sum(sum(cell["nodes"][name]) for cell in cells)

    attempts, retries, collided = total("attempts"), total("retries"), total("collided")
    return {
        "attempts": attempts,
        "retries": retries,
        "collided": collided,
        "damaged": total("damaged"),
        "acked": total("acked"),
        "given_up": total("given_up"),
        "queue_drops": sum(cell["data_drops"] + cell["ack_drops"] for cell in cells),
        "retry_rate": retries / attempts if attempts else None,
        "collision_rate": collided / attempts if attempts else None,
        "busy": sum(cell["busy_s"] for cell in cells) / sum(cell["seconds"] for cell in cells),
    }


def fairness_row(records: pl.DataFrame, cells: Cells) -> CellJain:
    """Jain's index over flows and over stations, means over the replications.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, with ``station`` and ``warm_up_bytes``.
    cells : sequence of mapping
        Totals of the cell.

    Returns
    -------
    dict
        ``flows``, of the goodput of TCP flows that never end; ``stations``, of the payload to and from each station;
        ``airtime``, of their time on the air. Stations without flows do not count; None with fewer than two.
    """
    indices: dict[str, list[float]] = {"flows": [], "stations": [], "airtime": []}
    for run, cell in enumerate(cells):
        own = records.filter(replication=run).with_columns(got=_counted())
        endless = own.filter((pl.col("protocol") == "tcp") & (pl.col("size_bytes") >= ENDLESS_BYTES))
        stations = own.group_by("station").agg(pl.col("got").sum()).sort("station")
        airtime = [cell["nodes"]["airtime_s"][1 + station] for station in stations["station"]]
        for name, shares in (("flows", endless["got"]), ("stations", stations["got"]), ("airtime", airtime)):
            index = jain_index(list(shares)) if len(shares) > 1 else None
            indices[name] += [] if index is None else [index]
    flows, of_stations, of_airtime = (sum(values) / len(values) if values else None for values in indices.values())
    return {"flows": flows, "stations": of_stations, "airtime": of_airtime}


def station_rows(records: pl.DataFrame, cells: Cells, span_s: float, rates: Sequence[str] = ()) -> list[Station]:
    """What each station got, means over the replications.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, with ``station`` and ``warm_up_bytes``.
    cells : sequence of mapping
        Totals of the cell.
    span_s : float
        Time after the warm-up, s.
    rates : sequence of str
        Rate of each station.

    Returns
    -------
    list of dict
        Per station ``station``, ``rate`` (None when not given), ``down_mbps`` and ``up_mbps`` of payload,
        ``airtime``, share of the time for which the medium was taken for it, either way, and ``collision_rate`` of the
        frames it sent, None without any.
    """
    of = records.group_by("station", "direction").agg(_counted().sum().alias("bytes"))
    bytes_of = {(station, way): count for station, way, count in of.iter_rows()}
    seconds = span_s * len(cells)
    rows: list[Station] = []
    for station in range(len(cells[0]["nodes"]["airtime_s"]) - 1):
        node = {
            name: sum(cell["nodes"][name][1 + station] for cell in cells)
            for name in ("airtime_s", "attempts", "collided")
        }
        rows.append(
            {
                "station": station,
                "rate": rates[station] if station < len(rates) else None,
                "down_mbps": bytes_of.get((station, "down"), 0) * 8 / seconds / 1e6,
                "up_mbps": bytes_of.get((station, "up"), 0) * 8 / seconds / 1e6,
                "airtime": node["airtime_s"] / sum(cell["seconds"] for cell in cells),
                "collision_rate": node["collided"] / node["attempts"] if node["attempts"] else None,
            }
        )
    return rows
