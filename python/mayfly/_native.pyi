"""The compiled module, crates/py. Tables cross by the Arrow C data interface; their columns are in `table_schema`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NotRequired, TypedDict, final

from mayfly.arrays import Floats, Integers

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

class RunsOn(TypedDict):
    """Where a discipline can run, beside the simulator."""

    places: list[str]
    qdisc: str
    options: str
    since: str

class DisciplineRow(TypedDict):
    """A row of the registry of disciplines."""

    id: str
    family: str
    about: str
    source: str
    when_full: str
    time_driven: bool
    keeps_flow_order: bool
    runs_on: RunsOn
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

@final
class Table:
    """A table, which `polars.DataFrame` takes."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __len__(self) -> int: ...

@final
class Pages:
    """Parts of a table whose values are pages of a file."""

    def __init__(self, table: object, path: str) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class FlowList:
    """A flow list that several runs share."""

    def __init__(self, columns: Mapping[str, object]) -> None: ...
    def __len__(self) -> int: ...

@final
class Control:
    """Lets another thread see how far a run is, and stop it."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    @property
    def reached_s(self) -> float: ...

@final
class PlainRun:
    """Figures and tables of a plain run."""

    @property
    def account(self) -> str: ...
    @property
    def figures(self) -> str: ...
    def column(self, name: str, samples: bool = False) -> tuple[str, bytes] | None: ...

@final
class Explorer:
    """Workloads at hand, and runs of them: the engine of `mayfly explore`."""

    def __new__(cls) -> Explorer: ...
    def load(self, document: str) -> str: ...
    def open(self, name: str, capture: bytes, options: str) -> str: ...
    def run(self, request: str) -> str: ...

@final
class JobServer:
    """A server of rate 1 with levels of priority."""

    def __new__(cls, levels: Sequence[tuple[str, float]]) -> JobServer: ...
    def offer(self, arrivals: Floats, sizes: Floats, weights: Floats | None = None) -> Table: ...
    def finish(self, time: float) -> Table: ...
    @property
    def present(self) -> int: ...

@final
class NumpyStream:
    """The random numbers that numpy draws."""

    def __new__(cls, seed: int) -> NumpyStream: ...
    def log_ratios(self, above: Floats, below: Floats, medians: bool, resamples: int, draws: int) -> list[float]: ...

@final
class LaggedServer:
    """A server of rate 1 under lagged fair queueing."""

    def __new__(cls, user_lag: float, job_lag: float, pace: float, marks: Sequence[float]) -> LaggedServer: ...
    def offer(self, arrivals: Floats, sizes: Floats, users: object = None) -> tuple[Table, Table]: ...
    def finish(self, time: float) -> tuple[Table, Table]: ...
    @property
    def present(self) -> int: ...

def run(
    settings: str,
    flows: Mapping[str, object] | FlowList,
    control: Control,
    recording: Mapping[str, object] | None = None,
    facts: Mapping[str, object] | None = None,
) -> dict[str, Any]: ...
def run_plain(
    settings: str,
    given: str | tuple[Floats, Integers, Integers, Integers],
    duration_s: float,
    rtt_s: float,
    labels: tuple[str, int],
    control: Control,
) -> PlainRun | None: ...
def write_plain(
    runs: Sequence[PlainRun],
    flows: tuple[PathLike[str], Sequence[tuple[str, str]]],
    samples: tuple[PathLike[str], Sequence[tuple[str, str]]],
) -> None: ...
def run_streamed(
    settings: str,
    hosts: Sequence[int],
    batches: Iterator[Mapping[str, object]],
    control: Control,
    taken: Callable[[Table, Table], None] | None = None,
) -> tuple[dict[str, Table | None], str]: ...
def run_fluid(
    settings: str,
    levels: Sequence[tuple[str, float]],
    lags: tuple[float, float, float, bool] | None,
    with_path: bool,
    batches: Iterator[Mapping[str, object]],
    control: Control,
) -> str: ...

@final
class ParquetBatches:
    """A Parquet file that is written table by table."""

    def __new__(cls, path: Path, metadata: Sequence[tuple[str, str]]) -> ParquetBatches: ...
    def write(self, table: object) -> None: ...
    def close(self) -> None: ...

def recommendation(question: str) -> str: ...
def chosen(rows: str) -> tuple[int, list[int]] | None: ...
def criteria(rows: str) -> list[list[tuple[str, float]]]: ...
def is_a_look(hours: int, most: int) -> bool: ...
def settled(rows: str, hours: Sequence[Sequence[Mapping[str, float]]], most: int, seed: int) -> bool | None: ...
def hour_ci95(value: float, others: Sequence[float], ratio: bool, runs: int) -> list[float] | None: ...
def range_factor(hours: int) -> float: ...
def advise(questions: str) -> str: ...

@final
class Observed:
    """What one run has for its users to feel, for the figures of several runs together."""

def observed(
    settings: str, flows: Mapping[str, object] | FlowList, facts: Mapping[str, object], tables: Mapping[str, object]
) -> Observed: ...
def users_of_runs(
    runs: Sequence[Observed],
    idle_s: float | None,
    span_s: tuple[float, float],
    above: bool | None,
    least_bytes: int | None,
    while_busy: bool | None,
) -> str: ...
def listed_transfers(flows: Mapping[str, object], trains: Mapping[str, object], every: bool) -> Table: ...
def measures() -> str: ...
def ping_figures(sent_s: Floats, returned_s: Floats, idle_s: float, end_s: float) -> str: ...
def direction_figures(sent_s: Floats, received_s: Floats) -> str: ...
def call_figures(down: tuple[Floats, Floats], up: tuple[Floats, Floats]) -> str: ...
def film_watched(received_s: Floats, dry_s: Floats, last: bool, end_s: float) -> tuple[int, float, float | None]: ...
def queues_explained(settings: str, flows: Mapping[str, object] | FlowList, facts: str) -> str: ...
def fit_law(name: str, values: Floats) -> list[tuple[str, float]]: ...
def law_distances(name: str, parameters: Sequence[float], values: Floats) -> tuple[float, float]: ...
def bootstrap_law(name: str, values: Floats, samples: int, seed: int) -> tuple[float, float]: ...
def normal_quantiles(p: Floats) -> list[float]: ...
def normal_probabilities(z: Floats) -> list[float]: ...
def table_schema() -> str: ...
def summary_schema() -> str: ...
def transport_schema() -> str: ...
def congestion_controls() -> list[tuple[str, str, str | None]]: ...
def check_application(settings: str) -> bool: ...
def gcc_estimates(sent_ns: Integers, arrival_ns: Integers, size_bytes: Integers) -> Table: ...
def alone(settings: str, flows: Mapping[str, object]) -> tuple[Table, Table]: ...
def flow_data(flows: Mapping[str, object]) -> str: ...
def parse_scripts(texts: object) -> Table: ...
def check_scripts(scripts: object) -> Table: ...
def write_scripts(scripts: object) -> Table: ...
def parse_bursts(texts: object, most: int) -> Table: ...
def check_bursts(bursts: object, most: int) -> Table: ...
def write_bursts(bursts: object) -> Table: ...
def ping_bursts(seed: int, until_s: float, interval_s: float, packet_bytes: int) -> Table: ...
def offered(
    flows: object, bursts: object | None, scripts: object | None, mss: int, header_bytes: int
) -> tuple[float, int, tuple[tuple[int, int], tuple[int, int]]]: ...
def disciplines() -> str: ...
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
) -> str: ...
def wlan_standards() -> str: ...

@final
class Hosts:
    """Hosts of connections; of each address a byte: its place in `KINDS`, or 1 on the near side."""

    KINDS: Sequence[str]
    UNANSWERED: Sequence[str]
    def __new__(
        cls, hosts: Sequence[str], opener: Integers, responder: Integers, wire_bytes: Integers, taken: object
    ) -> Hosts: ...
    def site(self, internal: Sequence[str] | None = None) -> tuple[str, list[str], bytes]: ...
    def near(self, internal: Sequence[str] | None = None) -> tuple[bytes, str, float]: ...
    def near_of(self, found_by: str, inside: Sequence[bool]) -> tuple[bytes, str, float]: ...
    def crossing_share(self, inside: Sequence[bool]) -> float: ...

def likely_rows(settings: str, before: Observed, most: int) -> list[int]: ...
def worst_exchanges(
    settings: str,
    flows: Mapping[str, object] | FlowList,
    rows: Sequence[int],
    probes: int,
    before: Observed,
    after: Observed,
    most: int,
) -> str: ...
def over_time(observed: Observed, until_s: float) -> str: ...
def filtered_sentence(expression: str, left_out: int, packets: int) -> str: ...
def check_filter(expression: str) -> None: ...
def first_packet_ns(paths: Sequence[str]) -> int | None: ...
def anonymized(key: bytes, texts: Sequence[str]) -> list[str]: ...
def networks_of(texts: Sequence[str]) -> list[str]: ...
def connection_classes() -> list[tuple[str, str, str, str, str | None]]: ...

@final
class CaptureListing:
    """Connections with their classes, before they are written."""

    def answer(self) -> str: ...
    def write(self, path: str | PathLike[str], counts: str) -> None: ...
    def trains(self) -> list[Table]: ...
    def volumes(self, told: Sequence[tuple[int, int]], limit: int, first_ns: int | None) -> tuple[Table, int, int]: ...

def list_capture(
    paths: Sequence[str],
    options: Mapping[str, object],
    look: Callable[[int, int, int], bool | None],
    internal: Sequence[str] | None,
    spill: str,
    most_hosts: int | None = None,
) -> CaptureListing: ...

class CaptureProfile:
    """Captures as a profile reads them."""

    def answer(self) -> str: ...
    def names(self) -> list[str]: ...
    def is_stored(self) -> bool: ...
    def numbers(self, name: str) -> tuple[str, bytes]: ...
    def numbers_to(self, name: str, path: str) -> str: ...
    def words(self, name: str) -> tuple[list[str], bytes]: ...
    def words_to(self, name: str, path: str) -> list[str]: ...
    def kinds(self, hosts: Sequence[str]) -> bytes: ...
    def table(self) -> Table: ...
    def volumes(self) -> Table: ...
    def traffic(self, opener_near: object, pairs: Integers, width_s: float, duration_s: float) -> LinkTraffic: ...
    def write(self, path: str | PathLike[str], counts: str) -> None: ...

class LinkTraffic:
    """What crossed a link when."""

    @staticmethod
    def of(
        connection: Integers,
        up: object,
        start_s: Floats,
        wire_bytes: Integers,
        acked_bytes: Integers,
        rtt_s: Floats,
        pairs: Integers,
        width_s: float,
        duration_s: float,
    ) -> LinkTraffic: ...
    def rows(self, up: bool) -> int: ...
    def carried(self, up: bool) -> int: ...
    def loads(self, up: bool, width_s: float) -> tuple[bytes, bytes]: ...
    def acknowledged(self, up: bool, width_s: float) -> tuple[bytes, bytes]: ...
    def by_connection(self, up: bool, window: tuple[int, float] | None = None) -> tuple[bytes, bytes]: ...
    def waits(self, width_s: float, wide: Integers, wide_s: float) -> tuple[bytes, bytes]: ...
    def largest_load(self, up: bool, width_s: float, acknowledged: bool) -> float: ...
    def longest_silence_s(self) -> float | None: ...

def profile_capture(
    paths: Sequence[str],
    options: Mapping[str, object],
    look: Callable[[int, int, int], bool | None],
    internal: Sequence[str] | None,
    spill: str,
    all: bool,
) -> CaptureProfile: ...
def write_columns(path: str, columns: Sequence[tuple[str, object]]) -> None: ...
def list_shards(folders: Sequence[str], told: str, internal: Sequence[str] | None) -> CaptureListing: ...
def split_capture(
    paths: Sequence[str],
    options: Mapping[str, object],
    look: Callable[[int, int, int], bool | None],
    shards: Sequence[str],
) -> tuple[SplitCounts, int | None]: ...

@final
class SplitCounts:
    """What was read while captures were split."""

    def told(self, shards: Sequence[str]) -> str: ...

@final
class Account:
    """What became of an input: seen, used, and left out by reason."""

    REASONS: Sequence[str]
    def __init__(self, sums: str | None = None) -> None: ...
    @property
    def is_exact(self) -> bool: ...
    def see(self, count: int, bytes: int) -> None: ...
    def take(self, count: int, bytes: int) -> None: ...
    def leave_out(self, reason: str, count: int, bytes: int) -> None: ...
    def withdraw(self, reason: str, count: int, bytes: int) -> None: ...
    def sums(self) -> str: ...

def read_shard(
    path: str,
    options: Mapping[str, object],
    look: Callable[[int, int, int], bool | None],
    first_ns: int | None,
    into: str,
) -> str: ...
def read_capture(
    paths: Sequence[str], options: Mapping[str, object], look: Callable[[int, int, int], bool | None]
) -> tuple[Table, Table, Table, Table, str]: ...

@final
class CaptureReading:
    """Captures, read as one, without tables."""

    def __init__(
        self,
        name: str,
        paths: Sequence[str],
        options: Mapping[str, object],
        look: Callable[[int, int, int], bool | None],
    ) -> None: ...
    def counts(self) -> str: ...
    def connections(self, names: Sequence[str] | None = None) -> Table: ...

@final
class Replay:
    """A capture, ready to be replayed in one form over any link."""

    FORMS: Sequence[str]
    def __init__(
        self,
        reading: CaptureReading,
        form: str,
        internal: Sequence[str] | None,
        mss: int,
        header_bytes: int,
        tcp_only: bool = False,
        last: bool = False,
    ) -> None: ...
    @property
    def doubts(self) -> list[str]: ...
    @property
    def missing(self) -> list[str]: ...
    @property
    def lasted_s(self) -> float: ...
    @property
    def udp(self) -> tuple[float, float, float, float, float, float, float]: ...
    @property
    def left_out_share(self) -> float: ...
    @property
    def framing(self) -> tuple[int, bool]: ...
    @property
    def quic_datagram_bytes(self) -> int | None: ...
    def flows(
        self, down_bps: float, up_bps: float, rtt_s: float | None, scaled: bool
    ) -> tuple[Table, list[str], float | None, Asides]: ...
    def trains(self, down_bps: float, up_bps: float) -> Table: ...

@final
class Asides:
    """What of a capture a flow list leaves aside: whole connections, and messages of others."""

    def of(self, used: Integers) -> list[tuple[str, tuple[int, int]]]: ...

def clock_sentences(silence_s: float | None, duration_s: float, set_back_s: float, nanoseconds: bool) -> list[str]: ...
def one_sided_sentence(crossing: float) -> str | None: ...
def copies_sentence(
    copies: int, packets: int, left_out: bool, translated: int, taps: Sequence[tuple[int, str | None]]
) -> str | None: ...
def udp_sentences(
    quic: float, probably: float, other: float, at_443: float, opaque: float
) -> tuple[str, str | None]: ...
def transfers(connections: object, usual_rtt_s: float | None = None) -> Table: ...
def closed_loop(begun_s: Floats, users: Integers, lasted_s: Floats) -> Table: ...
def sessions(start_s: Floats, users: Integers, connections: Integers | None, gap_s: float) -> Table: ...
def another_hour(
    start_s: Floats, users: Integers, connections: Integers | None, gap_s: float, seed: int, replication: str
) -> Table: ...

@final
class Hours:
    """A capture whose sessions hours are drawn from."""

    def __new__(
        cls,
        flows: Mapping[str, object],
        origins: Mapping[str, object],
        probes: tuple[Mapping[str, object], Mapping[str, object]],
    ) -> Hours: ...
    def draw(self, seed: int, number: int, gap_s: float, end_s: float, together: bool) -> Hour | None: ...

@final
class RunSettings:
    """Settings of a run, read once."""

    def __new__(cls, settings: str) -> RunSettings: ...

@final
class Hour:
    """An hour, ready to run."""

    @property
    def first_up(self) -> bool: ...
    def observe(
        self, settings: RunSettings, probes: Sequence[str], control: Control
    ) -> tuple[Observed, str, tuple[float | None, float | None], tuple[float, float]]: ...

def refuse_clock_jump(starts_s: Floats, source: str, lasted_s: float, scaled: bool) -> None: ...
def replay_flows(capture: bytes, asked: str) -> str: ...
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
) -> tuple[Table, str, tuple[list[int], int]]: ...
def estimator_lists() -> str: ...
def job_orders() -> list[str]: ...

@final
class TcpEndpoint:
    """One end of a TCP connection, driven by hand; see `mayfly_netsim::tcp::endpoint`. Numbers count segments."""

    now_ns: int
    over: bool
    expected: int
    numbers: tuple[int, int]

    def __new__(cls, settings: str, opens: bool) -> TcpEndpoint: ...
    def connect(self) -> None:
        """Sends the SYN."""

    def advance(self, end_ns: int, stop: bool) -> None:
        """Lets time pass, or, if ``stop`` says so, until something is sent."""

    def take(
        self,
    ) -> list[
        tuple[int, str, int, int, int, str, tuple[bool, list[int]] | None, tuple[int, int], list[tuple[int, int]]]
    ]:
        """What was sent: time, role, number, ack, AE with CWR and ECE, code point, counts, TSval and TSecr, blocks.

        Times are in nanoseconds; counts are the option of accurate ECN: whether ECT(1) comes first, and its values.
        """

    def receive(
        self,
        *,
        syn: bool,
        numbers: tuple[int, int] | None,
        fin: bool,
        ack: int | None,
        window: int,
        blocks: list[tuple[int, int]],
        stamps: tuple[int, int] | None,
        payload: int,
        ecn: str,
        ace: int,
        counts: tuple[bool, list[int]] | None,
    ) -> None:
        """A segment of the other end arrives."""

    def set_ecn_habits(self, option: int, beacon: int, fallback: bool) -> None:
        """Linux' ``tcp_ecn_option``, ``tcp_ecn_option_beacon`` and ``tcp_ecn_fallback``."""

    def set_user_timeout(self, timeout_ns: int) -> None:
        """How long data may be unacknowledged; 0 for as long as retransmissions last."""

    def ecn_option_bytes(self) -> int:
        """Bytes of the option of accurate ECN that data would carry now."""

    def write(self, segments: int) -> None: ...
    def close(self, wholly: bool) -> bool:
        """Whether the FIN rides on data not yet sent; ``wholly``: nothing is read any more either."""

    def abort(self) -> None:
        """Closes by a reset."""

    def on_reset(self) -> None:
        """The other end resets the connection."""

    def challenge(self) -> None:
        """A segment comes that does not fit the connection."""

    def state(self) -> dict[str, float]: ...
