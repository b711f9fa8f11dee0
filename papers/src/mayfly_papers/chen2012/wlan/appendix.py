"""Chen 2012, Tables A.1 to A.6: the mixed workload in a cell, and which load the tables stand for.

Runs take 2000 s each in place of one of 5000 s, those at the loads between 1000 s; the offered load is made exact, so
that the draw of a heavy-tailed law does not blur it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mayfly_papers.chen2012.wlan import measures
from mayfly_papers.chen2012.wlan.cell import NAMES
from mayfly_papers.chen2012.wlan.printed_tables import COLUMNS, TABLES
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import Quantity, paired, printed_beside, quantity, ratio
from mayfly_papers.declare.unknowns import Setting

DIFFERENCES = reasons(__package__)

DISCIPLINES = tuple(TABLES["A.1"].cells)
COLUMN_NAMES = dict(zip(COLUMNS, ("download, short", "download, long", "upload, short", "upload, long"), strict=True))


@dataclass(frozen=True)
class Mix:
    """A mix of the thesis: downloads for each upload, and places at the access point."""

    id: str
    downs_per_up: int
    buffer: int

    def experiment(self, load_mbps: float) -> str:
        """Id of the runs at a load of both directions."""
        return f"{self.id}-{load_mbps:g}"

    def per_direction(self, load_mbps: float) -> float:
        """Load of both directions when downloads have the printed one."""
        return load_mbps * (1 + 1 / self.downs_per_up)


SYMMETRIC = Mix("sym-30", 1, 30)
ASYMMETRIC = Mix("asym-30", 10, 30)
LARGE = Mix("asym-300", 10, 300)
DOWNLOADS = Mix("down-30", 100, 30)

OF_TABLE = {
    "A.1": (SYMMETRIC, 10),
    "A.2": (SYMMETRIC, 20),
    "A.3": (ASYMMETRIC, 10),
    "A.4": (ASYMMETRIC, 20),
    "A.5": (LARGE, 10),
    "A.6": (LARGE, 20),
}
"""Mix and printed load, Mb/s, of each table."""

NOMINAL = {SYMMETRIC: (10, 20, 40), ASYMMETRIC: (10, 11, 20, 22), LARGE: (10, 11, 20, 22), DOWNLOADS: (10, 20)}
"""Loads of both directions, Mb/s, that the readings ask for."""

BETWEEN = {SYMMETRIC: (12, 14, 16, 18, 22, 24), ASYMMETRIC: (13, 15, 17, 24), LARGE: (13, 15, 17, 24)}
"""Loads between them."""


EACH = {"tcp.delayed_ack": 0}
"""Receivers acknowledge each packet."""

GUESS: Setting = {"rate": "54mbit", "ack-rate": "24mbit", "acks": "delayed"}
"""As the text and the standard have it; `unknowns.py` says what each name means."""


def cell_fields(setting: Setting) -> dict[str, Any]:
    """Fields of the scenario for a setting."""
    given = {"network.wlan.rate": setting["rate"], "network.wlan.ack_rate": setting["ack-rate"]}
    return given | (EACH if setting["acks"] == "each" else {})


def _experiment(
    mix: Mix, load_mbps: float, duration: str, replications: int, more: Mapping | None = None
) -> Experiment:
    given = {
        "workload.load": round(load_mbps * 1e6),
        "workload.up_share": round(1 / (1 + mix.downs_per_up), 4),
        "workload.exact_load": True,
        "network.buffer": mix.buffer,
        "duration": duration,
        "sample_interval": 0,
    }
    identity = mix.experiment(load_mbps) + ("-each" if more else "")
    return Experiment(identity, given | dict(more or {}), DISCIPLINES, replications, measures.transfers, "wlan")


EXPERIMENTS = (
    *(
        _experiment(mix, load, "1000s" if load == 40 else "2000s", 2 if load == 40 else 4)
        for mix, loads in NOMINAL.items()
        for load in loads
    ),
    *(_experiment(mix, load, "1000s", 3) for mix, loads in BETWEEN.items() for load in loads),
    *(_experiment(mix, load, "1000s", 3, EACH) for mix in (SYMMETRIC, ASYMMETRIC, LARGE) for load in (10, 20)),
)

READINGS = {
    "total": "the printed load is that of both directions",
    "per-direction": "the printed load is that of the downloads; uploads come on top",
    "each": "the printed load is that of both directions, and each packet is acknowledged",
}
"""How the printed load is taken; the last one is not the text's, which has delayed acknowledgements."""


def load_of(table: str, reading: str) -> float:
    """Load of both directions of a table at a reading, Mb/s."""
    mix, printed = OF_TABLE[table]
    return mix.per_direction(printed) if reading == "per-direction" else printed


def _runs_of(table: str, reading: str) -> str:
    """Id of the experiment of a table at a reading."""
    return OF_TABLE[table][0].experiment(load_of(table, reading)) + ("-each" if reading == "each" else "")


def _settings(table: str, reading: str) -> str:
    mix, printed = OF_TABLE[table]
    return (
        f"`wlan`, {load_of(table, reading):g} Mb/s both ways ({printed} printed, {READINGS[reading]}), "
        f"{mix.downs_per_up} downloads for each upload, {mix.buffer} packets"
    )


def absolute(table: str, reading: str) -> Claim:
    """Mean response times, with the printed intervals."""
    experiment, cells = _runs_of(table, reading), TABLES[table].cells
    rows = []
    for place, column in enumerate(COLUMNS):
        fifo = quantity(experiment, "fifo", column)
        for discipline in DISCIPLINES:
            own, printed = quantity(experiment, discipline, column), cells[discipline][place]
            name = f"{COLUMN_NAMES[column]}, {NAMES[discipline]}"
            if discipline == "fifo":
                rows.append(printed_beside(name, own, printed, "s"))
            else:
                rows.append(_beside_fifo(name, own, fifo, printed, printed.value < cells["fifo"][place].value, "s"))
    says = f"mean response times of short and long flows, Table {table}"
    return _claim(f"table-{table.lower()}-{reading}", says, table, reading, rows)


def ratios(table: str, reading: str) -> Claim:
    """The same over FIFO."""
    experiment, cells = _runs_of(table, reading), TABLES[table].cells
    rows = []
    for place, column in enumerate(COLUMNS):
        fifo = quantity(experiment, "fifo", column)
        for discipline in DISCIPLINES[1:]:
            own = quantity(experiment, discipline, column)
            printed = Printed(cells[discipline][place].value / cells["fifo"][place].value)
            name = f"{COLUMN_NAMES[column]}, {NAMES[discipline]} over FIFO"
            rows.append(_beside_fifo(name, own, fifo, printed, printed.value < 1, "", ratio(own, fifo)))
    says = f"mean response times over those under FIFO, Table {table}"
    return _claim(f"ratios-{table.lower()}-{reading}", says, table, reading, rows)


def _beside_fifo(
    name: str, own: Quantity, fifo: Quantity, printed: Printed, faster: bool, unit: str, shown: Quantity | None = None
) -> Row:
    """Row with a printed number whose direction is that of the printed one to FIFO."""
    sign = 1 if faster else -1

    def margin(runs: Runs) -> Values:
        return sign * np.log(fifo(runs) / own(runs))

    return Row(name, shown or own, unit, printed, margin, "below FIFO" if faster else "above FIFO")


def _claim(name: str, says: str, table: str, reading: str, rows: list[Row], note: str = "") -> Claim:
    source = f"Chen 2012, appendix A, Table {table}"
    return Claim(name, source, says, _settings(table, reading), tuple(rows), DIFFERENCES.get(name), note)


def sizes(table: str) -> Claim:
    """Mean sizes of the classes."""
    experiment = _runs_of(table, "total")
    rows = [
        printed_beside(
            COLUMN_NAMES[column], quantity(experiment, "fifo", f"{column[:-2]}_packets"), Printed(size), "MSS"
        )
        for column, size in zip(COLUMNS, TABLES[table].sizes, strict=True)
    ]
    return _claim(f"sizes-{table.lower()}", "mean sizes of short and long flows", table, "total", rows)


def distance(table: str, load_mbps: float, variant: str = "") -> Quantity:
    """How far all cells of a table are from ours at a load: root mean square of the logarithms of their ratios."""
    mix, _ = OF_TABLE[table]
    experiment = mix.experiment(load_mbps) + variant

    def of_runs(runs: Runs) -> Values:
        logs = [
            np.log(runs.values(experiment, discipline, column) / printed.value)
            for discipline, row in TABLES[table].cells.items()
            for column, printed in zip(COLUMNS, row, strict=True)
        ]
        return np.sqrt(np.mean(np.square(logs), axis=0))

    return of_runs


def in_all(reading: str) -> Quantity:
    """Distance of the six tables together at a reading."""
    variant = "-each" if reading == "each" else ""
    each = [distance(table, load_of(table, reading), variant) for table in TABLES]

    def of_runs(runs: Runs) -> Values:
        return np.sqrt(np.mean(np.square(np.stack(paired(runs, *each))), axis=0))

    return of_runs


def loads(mix: Mix) -> list[float]:
    """Every load of a mix that has runs, up to 24 Mb/s, ascending."""
    return sorted(load for load in (*NOMINAL[mix], *BETWEEN[mix]) if load <= 24)


def nearest_load(table: str) -> Quantity:
    """Load at which ours come nearest to a table, Mb/s: the least point of a parabola through the three nearest."""
    mix, _ = OF_TABLE[table]
    at = loads(mix)

    def of_runs(runs: Runs) -> Values:
        stacked = np.stack(paired(runs, *(distance(table, load) for load in at)))
        return np.array([_lowest(np.array(at), run**2) for run in stacked.T])

    return of_runs


def _lowest(at: np.ndarray, values: np.ndarray) -> float:
    place = int(values.argmin())
    if place in (0, len(at) - 1):
        return float(at[place])
    near = slice(place - 1, place + 2)
    curve, slope, _ = np.polyfit(at[near] - at[place], values[near], 2)
    return float(at[place] - slope / (2 * curve))


def load_definition() -> Claim:
    """What the printed load is the load of."""
    rows = []
    for table in TABLES:
        total, each = (distance(table, load_of(table, reading)) for reading in ("total", "per-direction"))
        rows.append(
            _nearer(
                f"distance to Table {table}, load of both directions",
                total,
                each,
                "below that with the load of downloads",
            )
        )
    rows += [
        printed_beside(f"load nearest to Table {table}", nearest_load(table), Printed(OF_TABLE[table][1]), "Mb/s")
        for table in TABLES
    ]
    for table in TABLES:
        own = distance(table, load_of(table, "total"), "-each")
        name = f"distance to Table {table}, load of both directions, each packet acknowledged"
        rows.append(_nearer(name, own, distance(table, load_of(table, "total")), "below that with delayed ones"))
        rows.append(_nearer(name, own, _best(table), "below that at the nearest load with delayed ones"))
    total, downloads, each = map(in_all, ("total", "per-direction", "each"))
    rows += [
        _nearer(
            "distance to all tables, load of both directions", total, downloads, "below that with the load of downloads"
        ),
        _nearer("distance to all tables, each packet acknowledged", each, total, "below that with delayed ones"),
    ]
    settings = "`wlan`, 10 to 24 Mb/s both ways, and 40"
    note = (
        "A distance is the root mean square of the logarithms of ours over printed, all 24 cells of a table; 0.41 is a "
        "factor of 1.5. In the first rows the claim is that it is smaller when the printed load is that of both "
        "directions than when downloads alone have it (for A.1 and A.2 20 and 40 Mb/s in all, else 11 and 22)."
    )
    says = "10 and 20 Mb/s are the offered load of both directions together"
    name = "load-definition"
    return Claim(name, "Chen 2012, 6.3.2 and appendix A", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def _nearer(name: str, ours: Quantity, other: Quantity, direction: str) -> Row:
    def margin(runs: Runs) -> Values:
        own, there = paired(runs, ours, other)
        return there - own

    return Row(name, ours, margin=margin, direction=direction)


def _best(table: str) -> Callable[[Runs], Values]:
    mix, _ = OF_TABLE[table]

    def of_runs(runs: Runs) -> Values:
        return np.min(np.stack(paired(runs, *(distance(table, load) for load in loads(mix)))), axis=0)

    return of_runs


CLAIMS = (
    load_definition(),
    *(sizes(table) for table in TABLES),
    *(make(table, reading) for reading in READINGS for make in (absolute, ratios) for table in TABLES),
)
"""Claims of appendix A."""
