"""Uploads and downloads of a wireless cell under each discipline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from mayfly.comparison.sections.groups import HEADS as GROUP_HEADS
from mayfly.comparison.sections.groups import group_lines
from mayfly.comparison.sections.section import Section, rows_with
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import Cell, Direction, DisciplineRow, DisciplineRowPart, Summary

TITLE = "Wireless cell: downloads and uploads"
GROUPS = "Wireless cell: transfers by group"
WAYS: Mapping[Direction, tuple[str, Literal["data", "acks"]]] = {
    "down": ("downloads", "data"),
    "up": ("uploads", "acks"),
}
"""Of each direction its name, and what of it waits at the access point."""

_OF_BOTH = ("up :\ndown", "Jain", "Jain\nof air")

MOST_STATIONS = 50
"""Stations that the page shows one by one."""


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``wlan``, of a cell."""
    from mayfly.metrics import cell_row

    work = of.workload
    cells = [run.cell for run in of.runs if run.cell is not None]
    wlan = work.scenario.network.wlan
    if not cells or wlan is None:
        return {}
    span, packets = work.span, work.packets
    found = cell_row(
        of.records,
        cells,
        end_s=span["end_s"],
        begin_s=span["begin_s"],
        mss=packets["mss"],
        header_bytes=packets["header_bytes"],
        rates=wlan.station_rates,
    )
    return {"wlan": found}


def tables(summary: Summary) -> tuple[Table, ...]:
    """Both directions, groups, what TCP sent, frames and stations; none without a cell."""
    rows = rows_with(summary, "wlan")
    if not rows:
        return ()
    heads, lines = _directions(rows)
    found = [Table(TITLE, ("discipline", "flows", *heads), lines, names=2, notes=_NOTES)]
    if any(row["wlan"]["groups"] for row in rows):
        lines = group_lines((row["label"], row["wlan"]["groups"]) for row in rows)
        found.append(Table(GROUPS, GROUP_HEADS, lines, names=2))
    found += [_sent(rows), _frames(rows)]
    if len(rows[0]["wlan"]["stations"]) <= MOST_STATIONS:
        found.append(_stations(rows))
    return tuple(found)


_NOTES = (
    "Goodput: payload delivered after the warm-up. Lost at the access point: data of downloads, and acknowledgements "
    "of uploads, that its queue dropped. Short and long flows are classed in each direction apart. up : down is the "
    "ratio of the two goodputs; Jain's index is that of the goodput of flows that never end, or else of the stations, "
    "and of the time on the air of the stations.",
)


def _ways(rows: Sequence[DisciplineRow]) -> list[Direction]:
    """Directions that have flows."""
    return [way for way in WAYS if any(row["wlan"]["directions"][way]["flows"] for row in rows)]


def _directions(rows: Sequence[DisciplineRow]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    columns: dict[str, Callable[[Cell, Direction], str]] = {
        "goodput\nMbit/s": lambda cell, way: digits(cell["goodput_mbps"][way]["mean"]),
        "lost\nat AP": lambda cell, way: share_text(cell["access_point"][WAYS[way][1]]["loss"]),
        "RTT": lambda cell, way: time_text(cell["directions"][way]["rtt_mean_s"]),
        "cwnd": lambda cell, way: _digits(cell["directions"][way]["cwnd_mean_packets"]),
        "short\nflows": lambda cell, way: time_text(cell["directions"][way]["short"]["mean_s"]),
        "long\nflows": lambda cell, way: time_text(cell["directions"][way]["long"]["mean_s"]),
        "up :\ndown": lambda cell, way: _digits(cell["up_down_ratio"]),
        "Jain": lambda cell, way: _index(cell["jain"]["flows"], cell["jain"]["stations"]),
        "Jain\nof air": lambda cell, way: _index(cell["jain"]["airtime"]),
    }
    ways = _ways(rows)
    cells = {
        (row["label"], way): {name: of(row["wlan"], way) for name, of in columns.items()}
        for row in rows
        for way in ways
    }
    kept = [name for name in columns if any(own[name] != MISSING for own in cells.values())]
    lines = []
    for (label, way), own in cells.items():
        first = way == ways[0]
        # What is said of both directions stands in the first line.
        texts = [own[name] if first or name not in _OF_BOTH else "" for name in kept]
        lines.append((label if first else "", WAYS[way][0], *texts))
    return tuple(kept), tuple(lines)


def _sent(rows: Sequence[DisciplineRow]) -> Table:
    heads = ("discipline", "flows", "first, Mbit/s", "again, Mbit/s", "timeouts", "active flows, mean / max")
    lines = []
    ways = _ways(rows)
    for row in rows:
        for way in ways:
            own = row["wlan"]["directions"][way]
            active = own["active_flows"]
            cells = (
                digits(own["load_mbps"]["first"]),
                digits(own["load_mbps"]["again"]),
                count_text(own["timeouts"]),
                f"{count_text(active['mean'])} / {count_text(active['max'])}",
            )
            lines.append((row["label"] if way == ways[0] else "", WAYS[way][0], *cells))
    note = (
        "Data packets on the wire over the whole run, sent for the first time and again. Active flows have started and "
        "not finished."
    )
    return Table("What TCP sent", heads, tuple(lines), names=2, notes=(note,), page_only=True)


def _frames(rows: Sequence[DisciplineRow]) -> Table:
    heads = ("discipline", "medium taken", "frames sent", "again", "in collisions", "given up", "dropped by the queue")
    lines = []
    for row in rows:
        mac = row["wlan"]["mac"]
        cells = (
            count_text(mac["attempts"]),
            f"{count_text(mac['retries'])} ({share_text(mac['retry_rate'])})",
            share_text(mac["collision_rate"]),
            count_text(mac["given_up"]),
            count_text(mac["queue_drops"]),
        )
        lines.append((row["label"], share_text(mac["busy"]), *cells))
    return Table("Frames on the air", heads, tuple(lines), names=2, page_only=True)


def _stations(rows: Sequence[DisciplineRow]) -> Table:
    heads = ("discipline", "station", "rate", "down, Mbit/s", "up, Mbit/s", "air")
    lines = []
    for row in rows:
        for position, own in enumerate(row["wlan"]["stations"]):
            cells = (
                own["rate"] or MISSING,
                digits(own["down_mbps"]),
                digits(own["up_mbps"]),
                share_text(own["airtime"]),
            )
            lines.append((row["label"] if position == 0 else "", str(own["station"]), *cells))
    note = "Air: share of the time for which the medium was taken for the station, either way."
    return Table("Stations", heads, tuple(lines), names=2, notes=(note,), page_only=True, folded="Stations, one by one")


def _digits(value: float | None) -> str:
    return MISSING if value is None else digits(value)


def _index(*known: float | None) -> str:
    """The first index there is."""
    return next((f"{value:.3f}" for value in known if value is not None), MISSING)


SECTION = Section(measure, tables)
