"""The compiled module, crates/py. Columns come back as bytes of little-endian values."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, final

from mayfly.arrays import Floats

class Param(TypedDict):
    """An option of a discipline; one that is a word has `choices`, one that is a list has `most`."""

    name: str
    unit: str
    about: str
    default: float | int | str | list[float]
    min: NotRequired[float]
    max: NotRequired[float]
    most: NotRequired[int]
    choices: NotRequired[list[str]]

class DisciplineRow(TypedDict):
    """A row of the registry of disciplines."""

    id: str
    family: str
    about: str
    source: str
    when_full: str
    time_driven: bool
    keeps_flow_order: bool
    params: list[Param]

class MethodRow(TypedDict):
    """A method of the estimator."""

    id: str
    about: str
    source: str

class EstimatorParam(TypedDict):
    """A parameter of the estimator."""

    name: str
    unit: str
    about: str
    default: float
    min: float
    max: float

class EstimatorLists(TypedDict):
    """What the estimator knows; the meaning of each reason by its word."""

    methods: list[MethodRow]
    params: list[EstimatorParam]
    reasons: dict[str, str]

class Faults(TypedDict):
    """Samples that the estimator could not use."""

    numbers: int
    clock: int
    gaps: int

class EstimateColumns(TypedDict):
    """One value per estimate, but for `faults`."""

    time_s: list[float]
    share: list[float]
    responsive_pkts: list[float]
    other_pkts: list[float]
    flows: list[float]
    rtt_s: list[float]
    drop_share: list[float]
    doubt: list[str | None]
    faults: Faults

class Standard(TypedDict):
    """A standard of IEEE 802.11."""

    rates: list[str]
    cw_min: int
    cw_max: int
    aggregates: bool
    symbol_ns: int

class Airtimes(TypedDict):
    """Times of frames."""

    slot_ns: int
    sifs_ns: int
    ack_ns: int
    ack_timeout_ns: int
    eifs_extra_ns: int
    rts_ns: int
    cts_ns: int
    preamble_ns: int
    rate_bps: float
    cw_min: int
    cw_max: int
    data_ns: list[int]

class Samples(TypedDict):
    """Columns of the samples of the forward queue; one of `progress` for each flow that is watched."""

    time_ns: bytes
    backlog_packets: bytes
    backlog_bytes: bytes
    high_backlog_packets: bytes
    flow_table: bytes
    arrivals: bytes
    drops: bytes
    queue_mean_packets: bytes
    nonresponsive_estimate: bytes
    nonresponsive_doubt: list[str | None]
    nonresponsive_arrivals: bytes
    nonresponsive_drops: bytes
    progress: list[bytes]

class Drops(TypedDict):
    """Columns of the trace of drops."""

    time_ns: bytes
    flow: bytes
    reverse: bytes
    len: bytes
    reason: list[str]

class Interface(TypedDict):
    """Totals of an interface."""

    arrivals: int
    drops: int
    marks: int
    lost: int
    sent: int
    sent_bytes: int
    queue_mean_packets: float
    nonresponsive_estimate: float | None

class Cell(TypedDict):
    """What a cell did: columns of one value per node, the access point first, and totals."""

    nodes: dict[str, bytes]
    busy_ns: int
    data_arrivals: int
    data_drops: int
    ack_arrivals: int
    ack_drops: int

class Counters(TypedDict):
    """Totals of a run."""

    begin_ns: int
    end_ns: int
    arrivals: int
    drops: int
    sent: int
    sent_bytes: int
    lost: int
    reverse_drops: int
    reverse_sent: int
    reverse_sent_bytes: int
    reverse_lost: int
    flow_table_max: int
    flow_table_bytes: int
    marks: int
    beyond_trace: int
    beyond_subflows: int
    packet_hops: int
    events: int
    queue_mean_packets: float
    reverse_queue_mean_packets: float
    flow_table_mean: float

class Output(TypedDict):
    """What a run found."""

    packets: dict[str, bytes]
    timeouts: dict[str, bytes]
    subflows: dict[str, bytes]
    records: dict[str, bytes]
    trains: dict[str, bytes]
    samples: Samples
    drops: Drops
    counters: Counters
    interfaces: list[Interface]
    wlan: Cell | None
    classes: dict[str, bytes]
    flow_waits: dict[str, bytes]
    class_waits: dict[str, bytes]
    all_waits: dict[str, bytes]

class Tap(TypedDict):
    """An interface of a capture file."""

    file: int
    interface: int
    packets: int
    duplicates: int

class Clock(TypedDict):
    """The clock of a file against that of the first."""

    ahead_s: float
    bound_s: float | None
    common: int

class CaptureCounts(TypedDict):
    """Numbers of packets and the like; `skipped` by reason, `tunnelled` by kind."""

    packets: int
    decoded: int
    skipped: dict[str, int]
    fragments: int
    tunnelled: dict[str, int]
    late: int
    evicted: int
    trains_left_out: int
    packets_left_out: int
    taps: list[Tap]
    clocks: list[Clock]
    truncated: bool
    duration_s: float
    first_epoch_s: float | None

CaptureColumns = Mapping[str, bytes | list[str] | dict[str, list[str]]]
"""Columns of numbers as bytes, of addresses as lists; `names` has the words of the columns of codes."""

@final
class Control:
    """Lets another thread see how far a run is, and stop it."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    @property
    def reached_s(self) -> float: ...

@final
class JobServer:
    """A server of rate 1 with levels of priority."""

    def __new__(cls, levels: Sequence[tuple[str, float]]) -> JobServer: ...
    def offer(self, arrivals: Floats, sizes: Floats, weights: Floats | None = None) -> JobColumns: ...
    def finish(self, time: float) -> JobColumns: ...
    @property
    def present(self) -> int: ...

JobColumns = dict[Literal["job", "cycle", "size", "response_time"], bytes]

def run(
    settings: str, flows: Mapping[str, object], control: Control, recording: Mapping[str, object] | None = None
) -> Output: ...
def transport_schema() -> str: ...
def alone(settings: str, flows: Mapping[str, object]) -> tuple[bytes, bytes, bytes]: ...
def disciplines() -> list[DisciplineRow]: ...
def check_discipline(id: str, options: Sequence[tuple[str, str]]) -> None: ...
def wlan_airtimes(
    standard: str,
    rate: str,
    width: int,
    streams: int,
    short_guard: bool,
    short_preamble: bool,
    ack_rate: str | None,
    lengths: Sequence[int],
    long_slot: bool = False,
) -> Airtimes: ...
def wlan_standards() -> dict[str, Standard]: ...
def read_capture(
    paths: Sequence[str], options: Mapping[str, object]
) -> tuple[CaptureColumns, CaptureColumns, CaptureColumns, CaptureCounts]: ...
def estimate(
    method: str,
    capacity: float,
    propagation: float,
    options: Sequence[tuple[str, float]],
    times: Floats,
    queue: Floats,
    arrivals: Floats,
    drops: Floats,
    ticks: int | None = None,
) -> EstimateColumns: ...
def estimator_lists() -> EstimatorLists: ...
def job_orders() -> list[str]: ...
