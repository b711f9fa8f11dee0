"""Random links, and what they carry: a number gives the same link on every machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import polars as pl

import mayfly
from mayfly.scenario.presets import PRESETS as SETTINGS

PRESETS = tuple(SETTINGS)
DISCIPLINES = tuple(one["id"] for one in mayfly.disciplines())
DURATION_S = 40.0
SCHEMA = {
    "flow_id": pl.Int64,
    "start_s": pl.Float64,
    "src": pl.String,
    "dst": pl.String,
    "direction": pl.String,
    "protocol": pl.String,
    "size_bytes": pl.Int64,
    "rate_bps": pl.Float64,
    "packet_bytes": pl.Int64,
}
FIGURES = (
    "response_time_s",
    "last_data_s",
    "delivered_bytes",
    "packets_sent",
    "retransmits",
    "timeouts",
    "drops",
    "marks",
    "rtt_mean_s",
    "queue_packets",
    "queue_delay_mean_s",
)

Row = dict[str, Any]
Figures = dict[int, Row]

KINDS = {
    "dumbbell": 8,
    "buffer in bytes": 2,
    "packet in transmission counts": 2,
    "lossy": 3,
    "shaper": 3,
    "parking lot": 2,
    "cell": 4,
}
"""Kinds of link, and how many of each there are in so many."""


@dataclass(frozen=True)
class Drawn:
    """A link, what it carries, and a discipline."""

    number: int
    kind: str
    discipline: str
    overrides: Row
    rows: list[Row] = field(repr=False)

    @property
    def preset(self) -> str:
        return str(self.overrides["tcp.preset"])

    @property
    def is_quic(self) -> bool:
        return SETTINGS[self.preset].get("recovery") == "quic"

    @property
    def has_bbr(self) -> bool:
        return self.overrides.get("tcp.congestion") in ("bbr", "bbr3")

    @property
    def is_dumbbell(self) -> bool:
        return self.kind not in ("parking lot", "cell")

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions can change places: rates are equal, and no losses are drawn by direction."""
        return self.is_dumbbell and self.kind != "lossy" and "network.reverse_rate" not in self.overrides

    def with_(self, rows: list[Row] | None = None, **overrides: Any) -> "Drawn":
        """With other flows, or settings: ``network__rate`` is ``network.rate``."""
        named = {name.replace("__", "."): value for name, value in overrides.items()}
        return replace(self, rows=self.rows if rows is None else rows, overrides=self.overrides | named)


ENDS: tuple[Row, ...] = ({"tcp.ecn": "classic"}, {"tcp.congestion": "sqrt"}, {"tcp.congestion": "cubic"})
"""What ends may have in place of what their preset has."""
OF_TCP: tuple[Row, ...] = ({"tcp.ecn": "dctcp", "tcp.congestion": "dctcp"},)
OF_TODAY: tuple[Row, ...] = (
    {"tcp.congestion": "bbr"},
    {"tcp.congestion": "bbr3"},
    {"tcp.ecn": "l4s", "tcp.congestion": "prague"},
)
"""Of Linux and of QUIC."""


def drawn(number: int) -> Drawn:
    """A link of which two in five have another congestion control, or take marks, than their preset has.

    Of 300 links in a row each discipline has ten, one with each preset of TCP and QUIC.
    """
    one, random = link(number), Random(f"ends of {number}")
    if random.random() < 0.6:
        return one
    is_linux = one.preset.startswith("linux")
    ends = ENDS + (() if one.is_quic else OF_TCP) + (OF_TODAY if one.is_quic or is_linux else ())
    return one.with_(**random.choice(ends))


def link(number: int) -> Drawn:
    """A link of 1 to 50 Mbit/s with 3 to 25 flows both ways, a fifth of them datagrams, some above its rate."""
    random = Random(number)
    turn, at = divmod(number, len(DISCIPLINES))
    kind = random.choices(list(KINDS), weights=list(KINDS.values()))[0]
    rate = random.choice([1, 2, 5, 10, 20, 50]) * 1_000_000
    overrides: Row = {
        "duration": f"{DURATION_S}s",
        "tcp.preset": PRESETS[(turn + at) % len(PRESETS)],
        "network.access_rate": f"{rate * random.choice([1, 2, 10])}bit",
        "network.access_delay": f"{random.choice([0, 1, 10])}ms",
        "network.buffer": random.choice([5, 20, 100, 300]),
    }
    if kind == "cell":
        overrides["network.wlan.stations"] = 8
    else:
        overrides |= {
            "network.rate": f"{rate}bit",
            "network.delay": f"{random.choice([0, 1, 5, 20])}ms",
            "network.exit_delay": f"{random.choice([0, 1, 3])}ms",
        }
        if random.random() < 0.3:
            overrides["network.reverse_rate"] = f"{rate // random.choice([2, 5, 10])}bit"
    if kind == "buffer in bytes":
        overrides["network.buffer"] = f"{overrides['network.buffer']}kB"
    elif kind == "packet in transmission counts":
        overrides["network.buffer_counts_transmission"] = True
    elif kind == "lossy":
        overrides["network.loss"] = random.choice([0.001, 0.01, 0.05])
    elif kind == "shaper":
        back = int(overrides.get("network.reverse_rate", f"{rate}bit").removesuffix("bit"))
        overrides["network.shaper.rate"] = f"{rate * random.choice([4, 8]) // 10}bit"
        overrides["network.shaper.reverse_rate"] = f"{back * 8 // 10}bit"
    elif kind == "parking lot":
        overrides |= {"network.topology": "parking-lot", "network.bottlenecks": random.choice([2, 3])}
    return Drawn(number, kind, DISCIPLINES[at], overrides, _flows(random, rate, HOSTS.get(kind, ("{}", "1{}"))))


HOSTS = {"parking lot": ("senders-{}", "receivers-{}"), "cell": ("2{}", "1{}")}
"""Names of hosts where the network gives them, and where small numbers would be those of stations."""


def _flows(random: Random, rate: int, hosts: tuple[str, str]) -> list[Row]:
    rows, time_s = [], 0.0
    for flow in range(random.randint(3, 25)):
        time_s += random.choice([0.001, 0.01, 0.1, 0.5]) * random.randint(1, 7)
        udp = random.random() < 0.2
        row: Row = {
            "flow_id": flow,
            "start_s": round(time_s, 6),
            "src": hosts[0].format(random.randint(1, 4)),
            "dst": hosts[1].format(random.randint(1, 4)),
            "direction": random.choice(["down", "down", "up"]),
            "protocol": "udp" if udp else "tcp",
            "size_bytes": random.choice([1, 500, 1460, 5_000, 20_000, 100_000, 500_000]),
        }
        if udp:
            # 1.6, so that the gap between two packets is a whole number of nanoseconds.
            row |= {"rate_bps": rate * random.choice([0.1, 0.5, 1.6]), "packet_bytes": random.choice([100, 500, 1400])}
        rows.append(row)
    return rows


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame([dict.fromkeys(SCHEMA) | row for row in rows], schema=SCHEMA)


def scenario(one: Drawn) -> mayfly.Scenario:
    return mayfly.load_scenario("wlan" if one.kind == "cell" else "wired", one.overrides)


def ran(one: Drawn, **options: Any) -> Figures:
    """Figures of each flow that began, by its number."""
    return by_flow(mayfly.run(scenario(one), one.discipline, table(one.rows), **options).records)


def by_flow(records: pl.DataFrame) -> Figures:
    return {row["flow_id"]: row for row in records.select("flow_id", *FIGURES).iter_rows(named=True)}


def parameters(discipline: str) -> Mapping[str, Mapping[str, Any]]:
    """Parameters of a discipline by name, with unit and default."""
    found = next(one for one in mayfly.disciplines() if one["id"] == discipline)
    return {one["name"]: one for one in found["params"]}
