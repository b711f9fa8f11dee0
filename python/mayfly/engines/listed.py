"""Flow lists as the guest takes them: a row for each flow, TCP, scripts and UDP."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import polars as pl

from mayfly.engines.network import Laid
from mayfly.engines.transport import Transport, own_transport, transport_of
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.transport import Tcp
from mayfly.simulate import transports
from mayfly.simulate.columns import marks
from mayfly.workload import scripts
from mayfly.workload.lists import ENDLESS_BYTES

MOST_MARKS = 63
"""Marks but 0: a code each in the DSCP of packets."""

NUMBER_BYTES = 8
"""What a packet that is traced carries."""


@dataclass(frozen=True)
class Watched:
    """What is told of single packets.

    Parameters
    ----------
    traced : collection of int
        Rows of UDP flows whose packets are told one by one.
    echoes : collection of int
        Rows of those whose receiver sends every packet back.
    """

    traced: Collection[int] = ()
    echoes: Collection[int] = ()


def codes_of(scenario: Scenario, flows: pl.DataFrame) -> dict[int, int]:
    """A code from 1 for each mark but 0.

    Parameters
    ----------
    scenario : Scenario
        With its ``mark_of``.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list.

    Returns
    -------
    dict of int
        By mark.

    Raises
    ------
    MayflyError
        There are too many.
    """
    values = sorted({int(value) for value in marks(flows, scenario.mark_of)} - {0})
    if len(values) > MOST_MARKS:
        raise MayflyError(f"mark: {len(values)} marks: must be at most {MOST_MARKS} with --engine linux")
    return {value: code for code, value in enumerate(values, start=1)}


def rows_of(
    scenario: Scenario,
    flows: pl.DataFrame,
    laid: Laid,
    dealt: transports.Dealt,
    codes: dict[int, int],
    watched: Watched,
) -> list[dict[str, Any]]:
    """The flows as ``kernel/uml/flow_list.py`` takes them.

    Parameters
    ----------
    scenario : Scenario
        With the transport.
    flows : polars.DataFrame, shape (n_flows, ...)
        Normalised flow list, sorted by start.
    laid : Laid
        Where they begin and end.
    dealt : Dealt
        Their transports.
    codes : dict of int
        Of :func:`codes_of`.
    watched : Watched
        Packets that are told.

    Returns
    -------
    list of dict, shape (n_flows,)

    Raises
    ------
    MayflyError
        A transport that the kernel has not, or packets without room for their headers.
    """
    tcp = scenario.tcp
    all_of_them = [transport_of(tcp), *(own_transport(name, own, tcp) for name, own in dealt.own)]
    columns = ["start_s", "size_bytes", "protocol", "opened_by", "packet_bytes", "rate_bps", "direction"]
    columns += [name for name in ("stage", "after", "script", "bursts") if name in flows.columns]
    own_bursts = _bursts(flows, tcp)
    marked = marks(flows, scenario.mark_of)
    rows = []
    for place, row in enumerate(flows.select(columns).iter_rows(named=True)):
        one = {"start_s": row["start_s"], "stage": row.get("stage"), "after": row.get("after")}
        one |= {"src": int(laid.src[place]), "dst": int(laid.dst[place]), "own": laid.own.of_flows[place]}
        one |= {"code": codes.get(int(marked[place]), 0)}
        if row["protocol"] == "udp":
            one |= _udp(row, tcp, place in watched.traced) | {"bursts": own_bursts.get(place)}
            one |= {"traced": place in watched.traced, "echo": place in watched.echoes}
        else:
            one |= _tcp(row, all_of_them[dealt.numbers[place]])
        rows.append(one)
    return rows


def _tcp(row: dict[str, Any], own: Transport) -> dict[str, Any]:
    return {
        "udp": False,
        "size_bytes": row["size_bytes"],
        "receiver_opens": row["opened_by"] == "receiver",
        "congestion": own.congestion,
        "paced": own.paced,
        "endless": row["size_bytes"] >= ENDLESS_BYTES,
        "script": None if row.get("script") is None else _script(row["script"], row["direction"] == "up"),
        "done": row.get("script") is not None and row["script"][-1]["done"],
    }


def _script(listed: list[dict[str, Any]], up: bool) -> list[dict[str, Any]]:
    found = []
    for train in scripts.trains(listed):
        if train.streams:
            raise MayflyError("script: streams: --engine linux has TCP, where a connection is one stream")
        found.append(
            {
                "forward": train.up == up,
                "bytes": train.size_bytes,
                "wait_ns": train.wait_ns,
                "pace_ns": train.pace_ns,
                "parts": sorted((end, number) for number, end in enumerate(train.parts, 1)),
            }
        )
    return found


def _udp(row: dict[str, Any], tcp: Tcp, traced: bool) -> dict[str, Any]:
    packet = row["packet_bytes"] or tcp.mss + tcp.headers_bytes
    return {
        "udp": True,
        "packets": -(-row["size_bytes"] // (packet - UDP_HEADER_BYTES)),
        "payload_bytes": _payload_bytes(packet, tcp, traced),
        "gap_s": packet * 8 / row["rate_bps"],
    }


def _bursts(flows: pl.DataFrame, tcp: Tcp) -> dict[int, list[list[int]]]:
    """Start and gap (ns), packets and payload (bytes) of the bursts of each flow that has some."""
    found: dict[int, list[list[int]]] = {}
    if "bursts" in flows.columns:
        for row, listed in enumerate(flows["bursts"].to_list()):
            for one in listed or ():
                payload = _payload_bytes(one["packet_bytes"], tcp, False)
                found.setdefault(row, []).append([one["at_ns"], one["gap_ns"], one["packets"], payload])
    return found


def _payload_bytes(packet: int, tcp: Tcp, traced: bool) -> int:
    """Payload with which a packet has that length: what links add to it is the same for all packets."""
    payload = packet - UDP_HEADER_BYTES - (tcp.header - 40)
    if payload < (NUMBER_BYTES if traced else 1):
        raise MayflyError(
            f"packet_bytes = {packet}: must leave room for {tcp.header - 12} bytes of headers"
            + (f", and {NUMBER_BYTES} to trace it" if traced else "")
        )
    return payload
