"""Tables of a run: columns that the simulator makes, and those that follow from them here."""

from dataclasses import replace

from mayfly.tables import Column, Table, native
from mayfly.workload.lists import FLOW_LIST

LABELS = (
    Column("discipline", "string", "", "Label of the run: the id, with options when given (`efd(threshold=40)`)."),
    Column("replication", "int32", "", "Number of the replication, from 0."),
)

_RAN = native("flows")
IN_CELL = ("presence_s", "warm_up_bytes")
"""Columns of the simulator's records that only flows in a cell have."""

_QUEUE = tuple(column.name for column in _RAN.columns if column.name.startswith("queue_"))
_IDS = Column("flow_id", "int64", "", "Identity of the flow in the list.")


def _with_ids(name: str) -> tuple[Column, ...]:
    """The simulator knows a flow by its place in the list, the table by its id."""
    return tuple(_IDS if column.name == _IDS.name else column for column in native(name).columns)


def _optional(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, optional=True) for column in columns)


def _of_classes(column: Column) -> Column:
    """The simulator counts for every discipline; where there is nothing to count the table has null."""
    if column.name in ("high_packets", "sorted_packets", "fragments"):
        return replace(column, nullable=True)
    return replace(column, optional=column.name == "back_bytes")


FLOWS = Table(
    "flows",
    (
        *FLOW_LIST.without("size_packets"),
        Column("size_packets", "int64", "MSS", "`ceil(size_bytes / mss)`."),
        *map(_of_classes, _RAN.without("begun_s", *IN_CELL, *_QUEUE)),
        Column("response_time_s", "float64", "s", "`finish_s - start_s`.", nullable=True),
        Column("station", "int64", "", "In a wireless cell: number of the flow's station, from 0 on.", optional=True),
        *_optional(_RAN.pick(IN_CELL)),
        *_RAN.pick(_QUEUE),
        Column(
            "slowdown",
            "float64",
            "",
            "Response time over the response time alone on the path; null when unfinished.",
            nullable=True,
        ),
        *LABELS,
    ),
)

SAMPLES = Table("samples", (*native("samples").columns, *LABELS))
DROPS = Table("drops", (*_with_ids("drops"), *LABELS))
PACKETS = Table("packets", (*_with_ids("packets"), *LABELS))
TIMEOUTS = Table("timeouts", (*_with_ids("timeouts"), *LABELS))
SUBFLOWS = Table("subflows", (*_with_ids("subflows"), *LABELS))

TRAINS = Table(
    "trains",
    (
        _IDS,
        *native("trains").pick(("train", "part")),
        Column("direction", "string", "", "`up` or `down`, that of the link."),
        Column("size_bytes", "int64", "bytes", "Payload of the train; of a part: up to its end."),
        *native("trains").pick(("start_s", "end_s")),
        *LABELS,
    ),
)

FRAMES = Table("frames", (*_with_ids("frames"), *LABELS))
SEGMENTS = Table("segments", (*_with_ids("segments"), *LABELS))

FILES = {
    "flows": FLOWS,
    "samples": SAMPLES,
    "drops": DROPS,
    "packets": PACKETS,
    "timeouts": TIMEOUTS,
    "subflows": SUBFLOWS,
    "trains": TRAINS,
    "frames": FRAMES,
    "segments": SEGMENTS,
}
"""Tables that a comparison writes, by the name of the file without its ending."""
