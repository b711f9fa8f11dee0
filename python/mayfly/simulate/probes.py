"""Probes of a run: flows that measure what users of the link would feel, and what became of their packets.

Principle: probes come first in the list that is run, from one host of their own on either side of the link, and are cut
off again from all that the run tells. A ping is a UDP flow whose receiver sends every packet back. One packet leaves at
a random instant of each interval, so that the probes keep no step with periodic traffic and every interval counts
alike. A call is a flow of constant rate in each direction. The ping goes first the way that is offered less, so that a
workload whose directions are turned round meets the same probes turned round.
"""

import json
from dataclasses import dataclass
from threading import Lock
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.scenario.scenario import Scenario
from mayfly.workload.bursts import BURSTS
from mayfly.workload.mix import offered

PING_BYTES = 64
"""Length of a ping on the wire, bytes."""

CALL_BYTES = 200
"""Length of a packet of a call: 20 ms of G.711 (160), RTP (12), UDP (8), IP (20)."""

CALL_GAP_S = 0.02
"""Time between two packets of a call, s."""

PING = "ping"
CALLS = {"down": "call_down", "up": "call_up"}

AUTORATE = "autorate"
"""The pings of a controller of shapers: no probe of the user's, and sent at equal distances."""

SCHEMA = {
    "probe": pl.String,
    "number": pl.Int64,
    "sent_s": pl.Float64,
    "received_s": pl.Float64,
    "returned_s": pl.Float64,
}


_OF_OTHERS = ("tcp", "transports", "applications", "trace_limit")
"""Settings that a ping has nothing to do with."""

_IDLE: dict[tuple[str, str], float | None] = {}
_IDLE_LOCK = Lock()
"""Round-trip time on the idle link of the network that was asked for last."""


@dataclass(frozen=True)
class Probing:
    """The probes of a run, in the order of the rows that they have at the head of its flow list.

    Parameters
    ----------
    names : tuple of str
        Of the probes: ``ping``, ``call_down``, ``call_up``; empty without probes.
    """

    names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Rows before those of the workload."""
        return len(self.names)

    @property
    def settings(self) -> dict[str, list[int]]:
        """Rows of the probes and of those that are sent back, as the native module takes them."""
        echoes = [row for row, name in enumerate(self.names) if name in (PING, AUTORATE)]
        return {"probes": list(range(self.count)), "echoes": echoes}

    def row(self, name: str) -> int | None:
        """Place of a probe in the list; None without it."""
        return self.names.index(name) if name in self.names else None

    def workload_only(self, table: pl.DataFrame) -> pl.DataFrame:
        """A native table with ``flow_id``: the rows of the workload's flows, numbered as in its own list."""
        if not self.names or not table.height:
            return table
        kept = table.filter(pl.col("flow_id") >= self.count)
        return kept.with_columns((pl.col("flow_id") - self.count).cast(table.schema["flow_id"]))

    def packets(self, native: pl.DataFrame) -> pl.DataFrame:
        """The native table ``probes`` with the names of the probes.

        Parameters
        ----------
        native : polars.DataFrame, shape (n_packets, 5)
            Of the run.

        Returns
        -------
        polars.DataFrame, shape (n_packets, 5)
            ``probe``, ``number``, ``sent_s``, ``received_s``, ``returned_s``; in order of probe and number.
        """
        if not self.names:
            return pl.DataFrame(schema=SCHEMA)
        names = pl.Series(self.names, dtype=pl.String)
        ordered = native.sort("flow_id", "number")
        named = ordered.select(names.gather(ordered["flow_id"]).alias("probe"), pl.exclude("flow_id"))
        return named.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def with_probes(scenario: Scenario, flows: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, Probing]:
    """A flow list with the scenario's probes before it.

    Parameters
    ----------
    scenario : Scenario
        Its section ``[probes]`` says which.
    flows : polars.DataFrame, shape (n_flows, ...)
        The workload.
    seed : int
        Of the run: the instants of the pings have the stream ``probes/ping``.

    Returns
    -------
    polars.DataFrame, shape (n_probes + n_flows, ...)
        The same when the scenario has no probes.
    Probing
        What the first rows are.
    """
    if not _has_probes(scenario):
        return flows, Probing()
    probes, probing = probe_rows(scenario, flows, seed, _lighter(flows))
    return pl.concat([probes, flows], how="diagonal"), probing


def _has_probes(scenario: Scenario) -> bool:
    shaper = scenario.network.shaper
    return scenario.probes.any or (shaper is not None and shaper.controller != "none")


def probe_rows(scenario: Scenario, flows: pl.DataFrame, seed: int, first: str) -> tuple[pl.DataFrame, Probing]:
    """The probes of a scenario as rows before a flow list.

    Parameters
    ----------
    scenario, flows, seed
        As for :func:`with_probes`.
    first : str
        Direction in which the ping goes first: ``down`` or ``up``.

    Returns
    -------
    polars.DataFrame, shape (n_probes, ...)
        Empty when the scenario has no probes.
    Probing
        What the rows are.
    """
    if not _has_probes(scenario):
        return flows.clear(), Probing()
    given, shaper = scenario.probes, scenario.network.shaper
    until = min(scenario.duration if given.until is None else given.until, scenario.duration)
    ways = (first, "down" if first == "up" else "up")
    rows = [_ping(until, given.interval, seed, first)] if given.ping else []
    rows += [_call(until, way) for way in ways] if given.call else []
    names = ((PING,) if given.ping else ()) + (tuple(CALLS[way] for way in ways) if given.call else ())
    if shaper is not None and shaper.controller != "none":
        rows.append(_steady_ping(scenario.duration, shaper.autorate.ping_interval / shaper.autorate.pingers))
        names += (AUTORATE,)
    here, there = _own_hosts(flows)
    probes = pl.DataFrame(rows, schema_overrides={"bursts": BURSTS}).with_columns(
        flow_id=pl.lit(-1, pl.Int64),
        start_s=pl.lit(0.0),
        src=pl.when(pl.col("direction") == first).then(pl.lit(here)).otherwise(pl.lit(there)),
        dst=pl.when(pl.col("direction") == first).then(pl.lit(there)).otherwise(pl.lit(here)),
        protocol=pl.lit("udp"),
        opened_by=pl.lit("sender"),
        rtt_s=pl.lit(given.rtt, pl.Float64),
    )
    alike = (pl.col(name).cast(kind) for name, kind in flows.schema.items() if name in probes.columns)
    return probes.with_columns(alike), Probing(names)


def idle_rtt_s(settings: dict[str, Any], native_flows: dict[str, Any]) -> float | None:
    """Round-trip time of one ping on an idle link.

    Parameters
    ----------
    settings : dict
        Native settings of a run.
    native_flows : dict of ndarray
        Columns of the list that :func:`ping_alone` makes.

    Returns
    -------
    float or None
        Seconds; None when none came back before the end of the run.
    """
    quiet = {
        "seed": 0,
        "probes": [0],
        "echoes": [0],
        "watched": [],
        "traced": [],
        "warm_up_ns": 0,
        "loss": 0.0,
        "impairments": [],
    }
    quiet |= {"traces": [None, None], "shaping": None}
    quiet |= {"discipline": ("fifo", []), "reverse_discipline": ("fifo", []), "sample_interval_ns": 0}
    quiet |= {"stop_when_idle": True, "subflows": False, "trace_drops": False}
    asked = settings | quiet
    network = json.dumps({name: value for name, value in asked.items() if name not in _OF_OTHERS})
    # The same for all disciplines and resampled hours: whoever comes first runs it, the others wait for that.
    with _IDLE_LOCK:
        key = (network, repr(native_flows))
        if key not in _IDLE:
            found = _native.run(json.dumps(asked), native_flows, _native.Control(), None)
            packet = pl.DataFrame(found["probes"]).row(0, named=True)
            back_s = packet["returned_s"]
            _IDLE.clear()
            _IDLE[key] = None if back_s is None else float(back_s - packet["sent_s"])
        return _IDLE[key]


def ping_alone(probed: pl.DataFrame) -> pl.DataFrame:
    """The ping of a list of :func:`with_probes` as a flow of one packet and a list of its own."""
    payload = PING_BYTES - UDP_HEADER_BYTES
    ping = probed.head(1).with_columns(size_bytes=pl.lit(payload, pl.Int64), bursts=pl.lit(None, BURSTS))
    # A capture's own list has this column and its hours' probes have not: the ping of both is one list.
    return ping.drop("script", strict=False)


def load_bps(scenario: Scenario) -> dict[str, float]:
    """What the probes of a scenario offer each direction, bit/s on the wire.

    Examples
    --------
    >>> from mayfly.scenario.scenario import scenario_of
    >>> load_bps(scenario_of({"probes": {"ping": True, "call": True}}, "example"))
    {'down': 85120.0, 'up': 85120.0}
    """
    given = scenario.probes
    ping = PING_BYTES * 8 / given.interval if given.ping else 0.0
    call = CALL_BYTES * 8 / CALL_GAP_S if given.call else 0.0
    return {"down": ping + call, "up": ping + call}


def _lighter(flows: pl.DataFrame) -> str:
    """The direction that the workload offers fewer bytes; up when both have as many."""
    both = offered(flows, span_s=1.0)
    return "down" if both["down"]["wire_bytes"] < both["up"]["wire_bytes"] else "up"


def _ping(until_s: float, interval_s: float, seed: int, direction: str) -> dict[str, object]:
    """A packet at a random instant of each interval, there and back."""
    bursts = pl.DataFrame(_native.ping_bursts(seed, until_s, interval_s, PING_BYTES))["bursts"][0]
    return _row(direction, len(bursts), PING_BYTES, PING_BYTES * 8 / interval_s) | {"bursts": bursts}


def _steady_ping(until_s: float, gap_s: float) -> dict[str, object]:
    """A packet at the end of each interval, from the inside and back: 56 bytes of data with ICMP and IP, as fping's."""
    return _row("up", max(int(until_s / gap_s), 1), 84, 84 * 8 / gap_s)


def _call(until_s: float, direction: str) -> dict[str, object]:
    count = max(round(until_s / CALL_GAP_S), 1)
    return _row(direction, count, CALL_BYTES, CALL_BYTES * 8 / CALL_GAP_S)


def _row(direction: str, packets: int, packet_bytes: int, rate_bps: float) -> dict[str, object]:
    size = packets * (packet_bytes - UDP_HEADER_BYTES)
    return {
        "direction": direction,
        "size_bytes": size,
        "packet_bytes": packet_bytes,
        "rate_bps": rate_bps,
        "bursts": None,
    }


def _own_hosts(flows: pl.DataFrame) -> tuple[int | str, int | str]:
    """Two hosts that no flow of the workload has."""
    if flows.schema["src"].is_integer():
        most: int = flows.select(pl.max_horizontal("src", "dst").max()).item()
        return most + 1, most + 2
    taken = set(flows["src"].unique()) | set(flows["dst"].unique())
    word = "probe"
    while f"{word} 1" in taken or f"{word} 2" in taken:
        word += "'"
    return f"{word} 1", f"{word} 2"
