"""Types of ``summary.json``, made by `make types` from crate ``summary``; docs/tables.md shows them.

A pair is a list in JSON. Import this under ``TYPE_CHECKING``: it has nothing to run.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Direction: TypeAlias = Literal["down", "up"]
"""A direction of a link."""

BufferUnit: TypeAlias = Literal["packets", "bytes"]
"""What a limit counts."""

Grade: TypeAlias = Literal["A+", "A", "B", "C", "D", "F"]
"""How far a ping rises over the idle link: the grades of DSLReports' test for bufferbloat (docs/users.md)."""

CallOrigin: TypeAlias = Literal["synthetic", "workload", "capture"]
"""Where the packets of a call come from."""

RecommendationKind: TypeAlias = Literal["use", "fastest", "no_difference", "never_full", "overloaded", "unanswered"]
"""Kind of a recommendation."""

Thresholds: TypeAlias = float | list[float]
"""One threshold, or several in ascending order."""

Unit: TypeAlias = Literal["packets", "rows"]
"""What the records of an input are."""


class Summary(TypedDict):
    """`summary.json`.

    With `warm_up` all counters and averages of the queues are taken from then on; flow records, `udp` and `packet_hops`
    are those of the whole run.
    """

    schema: int
    """Version of the document: 1."""
    command: str
    """`compare`, `whatif` or `simulate`."""
    scenario: dict[str, Any]
    """All fields of the scenario as they ran (docs/reference.md)."""
    seed: int
    """Seed of all random streams."""
    replications: int
    """Independent runs of each discipline."""
    duration_s: float
    """End of the run, seconds."""
    workload: Workload
    """What the flows bring."""
    links: Links | None
    """The link; null for several links and for a cell."""
    transport: Transport
    """Hosts."""
    disciplines: list[DisciplineRow]
    """A row for each discipline, in the order in which they were named, at the link itself:
    `recommendation.as_loaded` has figures of the command.
    """
    recommendation: Recommendation | None
    """What to use; null with fewer than two disciplines that can be switched on, for a network that is not one link,
    and without what users feel.
    """
    notes: NotRequired[list[str]]
    """What may surprise, in sentences without a full stop."""
    engine: NotRequired[str]
    """`linux` or `both`, of `--engine`."""
    engines: NotRequired[list[EngineRatios]]
    """The kernel over the simulator, a row for each discipline, of `--engine both`."""
    models: NotRequired[dict[str, Model]]
    """By label what queueing models expect, of `--models`."""
    model_queue: NotRequired[ModelQueue]
    """The queue of these models."""
    resampling: NotRequired[Resampling]
    """Hours that were resampled, of `whatif`."""
    capture: NotRequired[Capture]
    """The capture, of `whatif`."""
    account: NotRequired[list[Accounted]]
    """What became of the captures and lists that were read, for each of them; absent where none was."""
    partial: NotRequired[str]
    """What was left out because a limit was reached."""
    missing: NotRequired[list[str]]
    """What the capture lacks, in sentences."""
    guess: NotRequired[Guess]
    """The link that the capture shows, where none was given."""
    answer: NotRequired[list[str]]
    """The answer in words, of `whatif`."""
    expected_errors: NotRequired[dict[str, ErrorShares] | None]
    """Errors of such predictions by kind of figure, of `whatif`; null where none were learned of such a replay."""
    worst: NotRequired[Worst]
    """Who waits longest, of `whatif` with two disciplines or more in the simulator."""
    over_time: NotRequired[list[Course]]
    """The link over time, of the baseline and of the discipline that `worst` compares it with."""
    files: NotRequired[dict[str, str]]
    """Paths of what was written."""


class Workload(TypedDict):
    """What the flows bring."""

    flows: int
    """How many flows."""
    bytes: int
    """Their payload, bytes."""
    offered_mbps: float
    """Offered in the direction with more, Mbit/s."""
    offered_down_mbps: float | None
    """Offered down, Mbit/s; null where there is no time to offer it in."""
    offered_up_mbps: float | None
    """Offered up, Mbit/s."""
    largest_flows: list[int]
    """`flow_id` of the three largest."""


class Links(TypedDict):
    """`links` of the summary: the link, and what the workload offers to it."""

    busier: Direction
    """The direction that is offered the larger share of its rate; of equal shares the one that used more."""
    down: LinkDirection
    """Toward the receivers of a scenario, or the internal side of a capture: the forward queue."""
    up: LinkDirection
    """The other way."""


class LinkDirection(TypedDict):
    """One direction."""

    rate_bps: float
    """Rate, bit/s; the mean where it varies."""
    buffer: tuple[int, BufferUnit]
    """Limit of its queue, and the unit of the limit."""
    offered_mbps: float | None
    """Offered by the workload, Mbit/s; null where there is no load to name."""
    load: float | None
    """The same as a share of the rate."""
    trace: NotRequired[LinkTrace]
    """How the rate varies; absent where it is constant."""
    shaper: NotRequired[LinkShaper]
    """The shaper of the scenario in this direction; absent without one."""


class LinkTrace(TypedDict):
    """The trace of a link that varies; percentiles are of seconds."""

    file: str
    """Its file."""
    format: str
    """`steps` of a rate, or `opportunities` to send a packet."""
    entries: int
    """Lines of it."""
    period_s: float
    """Time after which it begins again, seconds."""
    mean_bps: float
    """Mean rate, bit/s."""
    p5_bps: float
    """5 of 100 seconds have at most this, bit/s."""
    median_bps: float
    """Median, bit/s."""
    p95_bps: float
    """95 of 100 seconds have at most this, bit/s."""
    outages: int
    """Times without any rate."""
    outages_s: float
    """Together, seconds."""
    longest_outage_s: float
    """The longest, seconds."""
    added_delay_max_s: float
    """Most delay that the trace adds, seconds."""


class LinkShaper(TypedDict):
    """What paces packets before a link or behind it, with the discipline and the buffer of the run."""

    rate_bps: int | None
    """Rate, bit/s; null where a controller moves it."""
    behind: bool
    """Whether it is behind the link, as for what arrives at a router."""


class Transport(TypedDict):
    """Hosts."""

    preset: str | None
    """Preset of `[tcp]`; null for none."""
    kernel: str | None
    """Release of Linux whose TCP the hosts have, `tcp.kernel`; null where `tcp.recovery` is none of Linux."""
    other: OtherHosts | None
    """The baseline and the best once more with other hosts, of `whatif`."""


class OtherHosts(TypedDict):
    """The baseline and the best with other hosts."""

    preset: str
    """Their preset."""
    sentence: str
    """What changes."""


class DisciplineRow(TypedDict):
    """One discipline. Counts are sums over the replications, utilisation, queue and throughput means."""

    id: str
    """Of the registry."""
    label: str
    """As it was written, `efd(threshold=30kB)`; one of the kernel ends in ` (linux)`."""
    options: dict[str, str]
    """Options that are not as they come, by name, as plain numbers or words: `{"threshold": "30000"}`."""
    short: ResponseTimes
    """Response times of short flows: those that are not long."""
    long: ResponseTimes
    """Response times of long flows: the largest completed TCP flows that together carry 50 % of the bytes (Chen
    2012, 4.6.2).
    """
    flows_completed: int
    """Flows that finished."""
    flows_unfinished: int
    """Flows that did not."""
    flows_endless: int
    """Unfinished flows that have no end."""
    unfinished_bytes: int
    """Payload of the unfinished flows that have an end, bytes."""
    unfinished_delivered_bytes: int
    """Payload that the unfinished flows delivered, bytes."""
    utilisation: float
    """Share of the rate of the forward link that was sent; in a cell, share of time for which the medium was taken."""
    drops: int
    """Packets that the forward queue dropped, packets."""
    marks: int
    """Packets that the forward queue marked with congestion experienced, packets."""
    queue_mean_packets: float | None
    """Mean length of the forward queue, packets."""
    flow_table: FlowTable
    """The flow table of the discipline."""
    throughput_mbps: Throughput
    """What each direction of the link sent, Mbit/s.

    In a cell IP packets that were acknowledged on the air: data of flows that way and acknowledgements of the others.
    """
    udp: Datagrams
    """Datagrams."""
    cpu_s: float | None
    """Processor time of the simulation, seconds."""
    packet_hops: int | None
    """Packets that crossed a link, packets."""
    links: LinksUse | None
    """What both queues did; null for a network that is not one link."""
    users: UserFigures
    """What users feel (docs/users.md)."""
    wlan: NotRequired[Cell]
    """A wireless cell; absent without one."""
    pages: NotRequired[list[PageGroup]]
    """Web pages, a row per group of flows with a `stage`, by name; absent without stages."""
    media: NotRequired[Media]
    """Calls, films and games; absent without any."""
    group_transfers: NotRequired[list[GroupTransfers]]
    """Transfers of each group in each direction; absent in a cell, which has its own, and unless some go up."""
    groups: NotRequired[list[Group]]
    """Groups of flows, by name, flows without one last; absent when no flow has a group, for several links and for a
    cell.
    """
    interfaces: NotRequired[list[Interface]]
    """Interfaces of a network of several links, link by link, forward first; absent for a dumbbell."""
    loss: Loss
    """Packets that the queues dropped, those of acknowledgements among them."""
    queueing_delay: QueueDelay
    """Waits of the packets that left the forward queue, from arrival to the start of transmission, from `warm_up`
    on.
    """
    jain: float | None
    """Jain's index over the goodput of the TCP flows that never end: 1 when all have the same; null with fewer than
    two.
    """
    active_flows: ActiveFlows
    """Flows that have started and not finished (Rai 2003, 4.3)."""
    classes: NotRequired[list[ClassRow]]
    """What the packets of each group met at the forward queue, acknowledgements of flows going up included; absent
    when no flow has a group.
    """
    nonresponsive: NotRequired[Nonresponsive]
    """Estimates of the share of traffic that does not respond to drops; absent without an estimator or samples."""
    family: str
    """Family of the registry."""
    runs_on: list[str]
    """Where the discipline can run besides the simulator: `kernel`, `module`, `bpf`, `simulation` (nowhere else) or
    `bound` (it never can).
    """
    slowdown: Slowdown | None
    """Slowdown of the TCP transfers that can end; null without any."""
    replicated: NotRequired[dict[str, list[float | None]]]
    """Values of each criterion of docs/recommendation.md in each replication; absent with one."""
    resampled: NotRequired[dict[str, list[float | None]]]
    """The same in each resampled hour; absent without hours."""
    trains: NotRequired[MeanTimes]
    """Times of trains, of a capture replayed as users or trains."""
    recorded: NotRequired[MeanTimes]
    """Times of recorded flows, of a capture replayed packet by packet: flows that lost no packet."""


class DisciplineRowPart(TypedDict, total=False):
    """Some keys of :class:`DisciplineRow`."""

    id: str
    label: str
    options: dict[str, str]
    short: ResponseTimes
    long: ResponseTimes
    flows_completed: int
    flows_unfinished: int
    flows_endless: int
    unfinished_bytes: int
    unfinished_delivered_bytes: int
    utilisation: float
    drops: int
    marks: int
    queue_mean_packets: float | None
    flow_table: FlowTable
    throughput_mbps: Throughput
    udp: Datagrams
    cpu_s: float | None
    packet_hops: int | None
    links: LinksUse | None
    users: UserFigures
    wlan: Cell
    pages: list[PageGroup]
    media: Media
    group_transfers: list[GroupTransfers]
    groups: list[Group]
    interfaces: list[Interface]
    loss: Loss
    queueing_delay: QueueDelay
    jain: float | None
    active_flows: ActiveFlows
    classes: list[ClassRow]
    nonresponsive: Nonresponsive
    family: str
    runs_on: list[str]
    slowdown: Slowdown | None
    replicated: dict[str, list[float | None]]
    resampled: dict[str, list[float | None]]
    trains: MeanTimes
    recorded: MeanTimes


class ResponseTimes(TypedDict):
    """Response times of a class of completed TCP flows."""

    mean_s: float | None
    """Mean response time, seconds."""
    ci95: list[float] | None
    """95 % interval of the mean, seconds: normal over flows with one replication, Student's t over the means of two
    or more; of resampled hours as docs/recommendation.md has it. Null with fewer than two values.
    """
    flows: int
    """How many."""
    mean_size_packets: float | None
    """Mean size, packets."""


class FlowTable(TypedDict):
    """Flow table of a discipline."""

    mean: float | None
    """Mean number of entries."""
    max: int | None
    """Most entries."""
    bytes: int | None
    """Memory held for flows at the end of the run, the largest of all replications, bytes.

    Tables count as they are allocated, without the packets; they do not shrink.
    """


class Throughput(TypedDict):
    """Rates of both directions."""

    down: float
    """Toward the receivers of a scenario, or the internal side of a capture, Mbit/s."""
    up: float
    """The other way, Mbit/s."""


class Datagrams(TypedDict):
    """Packets of UDP."""

    packets: int
    """Sent, packets."""
    lost: int
    """Dropped, packets."""
    loss: float | None
    """Share of them; null without packets."""


class LinksUse(TypedDict):
    """`links` of a row: what both queues did."""

    down: LinkUse
    """The forward queue."""
    up: LinkUse
    """The reverse one."""


class LinkUse(TypedDict):
    """What one queue did from `warm_up` on; null is what a kernel does not count."""

    utilisation: float | None
    """Share of the rate that was sent."""
    drops: int | None
    """Dropped, packets."""
    marks: int | None
    """Marked with congestion experienced, packets."""
    queue_mean_packets: float | None
    """Mean length, packets."""
    queue_delay_mean_s: float | None
    """Mean wait, seconds; null where nothing left the queue."""
    throughput_mbps: float | None
    """Sent, Mbit/s."""
    peak_utilisation: float | None
    """Largest share of a second of the run for which this direction was sending, probes included."""


class UserFigures(TypedDict):
    """What users of a link feel: `users` of the summary in `docs/tables.md`.

    null where the run has no traffic for it.
    """

    transfers: TransfersBySize | None
    """Times by size."""
    short: TransferTimes | None
    """Transfers of at most 100 kB."""
    long: TransferTimes | None
    """Transfers above 1 MB; the largest hundredth where no flow of the list brings one."""
    ping: Ping | None
    """Ping while the link is busy."""
    call: Call | None
    """A call, or several."""
    pages: Pages | None
    """Load times of pages."""
    video: Video | None
    """Films."""
    downloads: Goodput | None
    """Goodput of downloads above 1 MB."""
    uploads: Goodput | None
    """Goodput of uploads above 1 MB."""
    streams: Streams | None
    """UDP streams of a capture, and what is lost of them or late."""
    conferences: Conferences | None
    """Video of conferences among them."""
    games: Games | None
    """Games among them."""


class TransfersBySize(TypedDict):
    """Times by size, of either direction and of both."""

    down: list[TransferSizes]
    """Toward the internal side."""
    up: list[TransferSizes]
    """From it."""
    all: list[TransferSizes]
    """Both."""


class TransferSizes(TypedDict):
    """Times of the transfers of one size."""

    from_kb: int
    """Above so many kB."""
    to_kb: int | None
    """Up to so many kB; null without bound."""
    flows: int
    """How many."""
    unfinished: int
    """Of these, those that did not finish."""
    p50_s: float | None
    """Median, seconds."""
    p95_s: float | None
    """95 of 100 take at most this, seconds."""
    p99_s: float | None
    """99 of 100 take at most this, seconds."""
    p50_ci95: list[float] | None
    """95 % interval of the median, seconds."""
    p95_ci95: list[float] | None
    """95 % interval of the 95th percentile, seconds."""


class TransferTimes(TypedDict):
    """Response times of some transfers.

    One that did not finish counts as an infinite time, so that a discipline gains nothing from starving some.
    """

    flows: int
    """How many."""
    unfinished: int
    """Of these, those that did not finish."""
    p50_s: float | None
    """Median, seconds."""
    p95_s: float | None
    """95 of 100 take at most this, seconds."""
    p99_s: float | None
    """99 of 100 take at most this, seconds."""
    p50_ci95: list[float] | None
    """95 % interval of the median, seconds."""
    p95_ci95: list[float] | None
    """95 % interval of the 95th percentile, seconds."""


class Ping(TypedDict):
    """Round-trip times of the pings that were sent in busy seconds; of all pings where there are none of those."""

    probes: int
    """Packets that count."""
    idle_ms: float
    """Round trip on the idle link, milliseconds."""
    while_busy: bool
    """Whether only pings sent in busy seconds count."""
    busy_share: float | None
    """Share of all pings that were sent in busy seconds: that of the time for which the link was busy.

    null where nothing is known of the link.
    """
    mean_ms: float | None
    """Mean of those that returned, milliseconds."""
    p50_ms: float | None
    """Median of these, milliseconds."""
    p95_ms: float | None
    """95 of 100 of these take at most this, milliseconds."""
    p99_ms: float | None
    """99 of 100 of these take at most this, milliseconds."""
    p95_ci95: list[float] | None
    """95 % interval of `p95_ms`, milliseconds."""
    loss: float
    """Share that did not return."""
    grade: Grade | None
    """Of the increase of the mean over the idle link; null where the figures are not of busy seconds."""
    mean_all_ms: float | None
    """Mean of all pings that returned, milliseconds."""
    p95_all_ms: float | None
    """95 of 100 of all pings take at most this, milliseconds."""


Call = TypedDict(
    "Call",
    {
        # Where the packets come from.
        "from": "CallOrigin",
        # How many; null of a synthetic one.
        "calls": NotRequired["int"],
        # Toward the internal side.
        "down": "CallWay",
        # From it.
        "up": "CallWay",
        # Of the worse direction.
        "mos": "float | None",
        # 95 % interval of it: Student's over the windows of one call, or over the calls.
        "mos_ci95": "list[float] | None",
        # Whether only packets sent in busy seconds count; null unless synthetic.
        "while_busy": NotRequired["bool"],
        # Mean opinion score of the whole call; null unless synthetic.
        "mos_all": NotRequired["float"],
    },
)
"""A call, or the mean of several."""


class CallWay(TypedDict):
    """One direction."""

    delay_ms: float | None
    """Mean delay of the network, one way, milliseconds."""
    jitter_ms: float | None
    """Mean interarrival jitter, milliseconds."""
    loss: float | None
    """Share that the network lost."""
    late: float | None
    """Share that came after its deadline."""
    mos: float | None
    """Mean opinion score, the mean over the windows of the playout buffer."""


class Pages(TypedDict):
    """Load times of pages."""

    pages: int
    """How many."""
    unfinished: int
    """Of these, those of which a flow did not finish."""
    series: int
    """Groups of connections of a capture that are none, as their client opened one after the other, or over more
    than 30 s.
    """
    p50_s: float | None
    """Median, seconds."""
    p95_s: float | None
    """95 of 100 take at most this, seconds."""
    p99_s: float | None
    """99 of 100 take at most this, seconds."""
    p50_ci95: list[float] | None
    """95 % interval of the median, seconds."""
    p95_ci95: list[float] | None
    """95 % interval of the 95th percentile, seconds."""


class Video(TypedDict):
    """Films."""

    streams: int
    """How many."""
    stalls: int
    """How often they stood still."""
    stalled_share: float | None
    """Time that they stood still over that and the time that they played."""


class Goodput(TypedDict):
    """Goodput of the long transfers of one direction; an unfinished one counts as 0."""

    flows: int
    """How many."""
    goodput_mbps_p50: float | None
    """Median, Mbit/s."""
    goodput_mbps_p5: float | None
    """95 of 100 have more than this, Mbit/s."""


class Streams(TypedDict):
    """Streams of UDP, and what is lost of them."""

    count: int
    """How many: one direction counts as one."""
    calls: int
    """Of these, directions of calls."""
    videos: int
    """Of these, video of conferences."""
    games: int
    """Of these, directions of games."""
    loss: float | None
    """Share of all their packets that the network lost; null when they sent none."""
    loss_worst: float | None
    """The same of the stream that lost most."""
    late: float | None
    """Share of the packets that the link held for more than 100 ms, of the streams whose arrivals are known; null
    without.
    """
    missing: float | None
    """Share of all their packets that were lost or late; of those lost alone where arrivals are not known."""
    missing_worst: float | None
    """The same of the stream that has most of them."""
    missing_ci95: list[float] | None
    """95 % interval of `missing`; null of one run."""


class Conferences(TypedDict):
    """Video of conferences."""

    count: int
    """How many: one direction counts as one."""
    freezes: int
    """How often they stood still."""
    frozen: float | None
    """Share of their time for which they stood still."""
    frozen_worst: float | None
    """The same of the one that stood still longest."""
    frozen_ci95: list[float] | None
    """95 % interval of `frozen`; null of one run."""


class Games(TypedDict):
    """Games."""

    count: int
    """How many."""
    lag_p50_ms: float | None
    """Median lag, there and back without the time between two updates, milliseconds."""
    lag_p95_ms: float | None
    """95 of 100 are at most this, milliseconds."""
    lag_p95_ci95: list[float] | None
    """95 % interval of `lag_p95_ms`; null of one run."""


class Cell(TypedDict):
    """`wlan` of a row."""

    goodput_mbps: CellGoodput
    """Payload delivered after the warm-up, Mbit/s."""
    up_down_ratio: float | None
    """Goodput of uploads over that of downloads; null when one is 0."""
    access_point: AccessPoint
    """Packets at the queue of the access point."""
    directions: CellDirections
    """Transfers of each direction."""
    mac: Mac
    """Frames of all nodes."""
    jain: CellJain
    """Jain's indices, means over the replications; null with fewer than two."""
    stations: list[Station]
    """Stations in their order."""
    groups: list[GroupTransfers]
    """Transfers by group and direction; empty without groups."""


class CellGoodput(TypedDict):
    """Goodput of both directions and of the cell."""

    down: MeanOfRuns
    """Of downloads, Mbit/s."""
    up: MeanOfRuns
    """Of uploads, Mbit/s."""
    total: MeanOfRuns
    """Of both, Mbit/s."""


class MeanOfRuns(TypedDict):
    """A mean over the replications."""

    mean: float
    """The mean."""
    ci95: list[float] | None
    """Its 95 % interval, Student's t; null for one replication."""


class AccessPoint(TypedDict):
    """The queue of the access point."""

    data: QueueLosses
    """Packets with payload, SYN, FIN, and datagrams."""
    acks: QueueLosses
    """Bare acknowledgements."""


class QueueLosses(TypedDict):
    """Packets of one kind at a queue, sums over the replications."""

    arrivals: int
    """Offered, packets."""
    drops: int
    """Dropped, packets."""
    loss: float | None
    """Share that was dropped; null without arrivals."""


class CellDirections(TypedDict):
    """Both directions of the cell."""

    down: CellDirection
    """From the access point to a station."""
    up: CellDirection
    """From a station."""


class CellDirection(TypedDict):
    """Transfers of one direction."""

    flows: int
    """How many."""
    completed: int
    """Of these, those that finished."""
    rtt_mean_s: float | None
    """Mean over the TCP flows of their mean round-trip time, seconds."""
    cwnd_mean_packets: float | None
    """Mean over the TCP flows of their mean congestion window, packets."""
    short: CellClass
    """Response times of the short ones, classed in this direction."""
    long: CellClass
    """Response times of the long ones."""
    load_mbps: TcpLoad
    """What TCP sent."""
    active_flows: ActiveFlows
    """Flows that have started and not finished."""
    timeouts: int
    """Expiries of retransmission timers."""
    drops: int
    """Packets of these flows that a queue dropped, packets."""


class CellClass(TypedDict):
    """Response times of a class of completed TCP flows of a cell."""

    mean_s: float | None
    """Mean response time, seconds."""
    ci95: list[float] | None
    """Its 95 % interval, seconds."""
    flows: int
    """How many."""
    mean_size_packets: float | None
    """Mean size, packets."""
    presence_mean_s: float | None
    """Mean time for which a packet of a flow was at the access point, seconds."""


class TcpLoad(TypedDict):
    """What TCP sent over the whole run, on the wire."""

    first: float
    """For the first time, Mbit/s."""
    again: float
    """Again, Mbit/s."""


class ActiveFlows(TypedDict):
    """Flows in the network at once."""

    mean: float | None
    """Over time."""
    max: int | None
    """At once."""


class Mac(TypedDict):
    """Frames of all nodes, sums over the replications."""

    attempts: int
    """Sent, frames."""
    retries: int
    """Of these, sent again, frames."""
    collided: int
    """Of these, in collisions, frames."""
    damaged: int
    """Of these, damaged by noise, frames."""
    acked: int
    """Acknowledged, frames."""
    given_up: int
    """Given up after the last retry, frames."""
    queue_drops: int
    """Dropped by the queue of the access point, packets."""
    retry_rate: float | None
    """Retries over attempts; null without any."""
    collision_rate: float | None
    """Collided over attempts; null without any."""
    busy: float
    """Share of the time for which the medium was taken."""


class CellJain(TypedDict):
    """Jain's indices."""

    flows: float | None
    """Of the goodput of TCP flows that never end."""
    stations: float | None
    """Of the payload to and from each station that has flows."""
    airtime: float | None
    """Of their time on the air."""


class Station(TypedDict):
    """One station, means over the replications."""

    station: int
    """Its number, from 0."""
    rate: str | None
    """Its rate as the scenario has it."""
    down_mbps: float
    """Payload to it, Mbit/s."""
    up_mbps: float
    """Payload from it, Mbit/s."""
    airtime: float
    """Share of time for which the medium was taken for it, either way."""
    collision_rate: float | None
    """Share of the frames it sent that collided; null without any."""


class GroupTransfers(TypedDict):
    """Transfers of one group in one direction."""

    group: str | None
    """Name of the group; null of flows without one."""
    direction: Direction
    """Direction of the data."""
    flows: int
    """How many."""
    completed: int
    """Of these, those that finished."""
    short: ResponseTimes
    """Response times of the short ones, classed within the group and direction."""
    long: ResponseTimes
    """Response times of the long ones."""


class PageGroup(TypedDict):
    """Web pages of a group: from the start of the first flow of a page to the end of its last."""

    group: str | None
    """Name of the group."""
    pages: int
    """Pages that started."""
    unfinished: int
    """Of these, those that did not finish."""
    mean_s: float | None
    """Mean of the others, seconds."""
    p50_s: float | None
    """Median, seconds."""
    p95_s: float | None
    """95 of 100 take at most this, seconds."""
    objects: NotRequired[MeanTimes]
    """From the start of a page to the last byte of an object: of each part of an answer, and of each answer without
    parts; absent without scripts.
    """


class MeanTimes(TypedDict):
    """Times of many."""

    count: int
    """How many."""
    unfinished: int
    """Of these, those that did not finish."""
    mean_s: float | None
    """Mean of the others, seconds."""
    p50_s: float | None
    """Median, seconds."""
    p95_s: float | None
    """95 of 100 take at most this, seconds."""


class Media(TypedDict):
    """`media` of a row (docs/how-to/workloads.md)."""

    calls: list[CallGroup]
    """Calls by group and direction."""
    films: list[FilmGroup]
    """Films by group."""
    games: list[GameGroup]
    """Games by group."""


class CallGroup(TypedDict):
    """Calls of a group in one direction."""

    group: str | None
    """Name of the group."""
    direction: Direction
    """Direction of the media."""
    calls: int
    """How many."""
    rate_mbps: float | None
    """Rate of the frames that came whole, Mbit/s."""
    loss: float | None
    """Share of the packets that were lost."""
    delay_p50_ms: float | None
    """Median delay from the making of a unit to its last packet, milliseconds."""
    delay_p95_ms: float | None
    """95 of 100 are delayed by at most this, milliseconds."""
    jitter_ms: float | None
    """Mean interarrival jitter of the speech, milliseconds."""
    mos: float | None
    """Mean opinion score of the speech, by the E-model."""
    frozen: float | None
    """Share of the time in which the video stood still."""


class FilmGroup(TypedDict):
    """Films of a group."""

    group: str | None
    """Name of the group."""
    films: int
    """How many."""
    rate_mbps: float | None
    """Rate of the segments that came, Mbit/s."""
    switches: float | None
    """Changes of the rate."""
    startup_s: float | None
    """From the request to the first image, seconds."""
    stalls: float | None
    """How often a film stood still."""
    stalled_s: float | None
    """For how long, seconds."""
    watched_s: float | None
    """Time that it played or stood still, seconds."""
    stalled_share: float | None
    """Share of that time in which it stood still."""


class GameGroup(TypedDict):
    """Games of a group."""

    group: str | None
    """Name of the group."""
    streams: int
    """How many."""
    frames: float | None
    """Frames of a stream."""
    late: float | None
    """Share of them that came after their deadline."""
    lost: float | None
    """Share of them of which a packet did not come."""
    delay_p50_ms: float | None
    """Median delay from the making of a frame to its last packet, milliseconds."""
    delay_p95_ms: float | None
    """95 of 100 are delayed by at most this, milliseconds."""
    delay_p99_ms: float | None
    """99 of 100 are delayed by at most this, milliseconds."""


class Group(TypedDict):
    """One group. Flows of the direction `down` only; a *user* is a pair of hosts, `src` and `dst`, within a group."""

    group: str | None
    """Name of the group; null of flows without one."""
    users: int
    """How many users."""
    flows: int
    """How many flows, over all replications."""
    share: float | None
    """Share of the link's rate that the receivers got (payload in order, with headers), over the time in which a
    flow of the group was on; null without such a time.
    """
    fair_share: float | None
    """The same if at every instant the link were shared equally among the users with something to send: a fluid
    link, without round-trip times or losses, on which a user is one user however many connections it has, and a
    UDP user takes no more than it sends.
    """
    ratio: float | None
    """`share / fair_share`."""
    loss: float | None
    """Packets dropped over packets sent by the senders of the data."""
    longest_stall_s: float | None
    """Longest time without progress of a flow of the group, among the three largest flows of the workload, seconds;
    null when none of them is in it. Short by up to two sampling intervals.
    """
    slowdown: Slowdown | None
    """Slowdown of the transfers of the group; null when none can end."""
    unfinished: int
    """Transfers that can end and did not."""


class Slowdown(TypedDict):
    """Slowdown that so many of 100 transfers stay within; null where that is one that did not finish.

    Endless flows and transfers that start in the last tenth of the run do not count.
    """

    p50: float | None
    """Half of them."""
    p95: float | None
    """95 of 100."""
    p99: float | None
    """99 of 100."""


class Interface(TypedDict):
    """One interface of a network of several links, from `warm_up` on; null is what a kernel does not count."""

    name: str
    """Name of the link, with ` (back)` of its way back."""
    rate_bps: float
    """Speed, bit/s."""
    arrivals: int
    """Offered, packets."""
    drops: int
    """Dropped, packets."""
    marks: int | None
    """Marked with congestion experienced, packets."""
    lost: int | None
    """Lost by the link, packets."""
    sent: int
    """Sent, packets."""
    sent_bytes: int
    """Sent, bytes."""
    queue_mean_packets: float | None
    """Mean length of its queue, packets."""
    nonresponsive_estimate: float | None
    """Last estimate of a discipline with an estimator, else null."""
    utilisation: float
    """Share of its speed that was sent."""


class Loss(TypedDict):
    """Packets that the queues dropped."""

    rate: float | None
    """Drops over the packets that the senders of the data sent."""
    flows: int
    """TCP flows that lost a packet or more."""
    share: float | None
    """Their share of the TCP flows."""


class QueueDelay(TypedDict):
    """Waits of packets at a queue, pooled over the replications."""

    packets: int
    """How many packets."""
    mean_s: float | None
    """Mean, seconds."""
    deviation_s: float | None
    """Standard deviation over packets, seconds."""
    max_s: float | None
    """Longest, seconds."""
    relative: NotRequired[float | None]
    """Mean over the round-trip time without queueing, the mean over the flows of their own or of the scenario's
    (Zhao 2004, IV.A.3); null where there is none, absent of a class.
    """


class ClassRow(TypedDict):
    """What the packets of one group met at the forward queue from `warm_up` on."""

    group: str | None
    """Name of the group; null of flows without one."""
    arrivals: int
    """Offered, sum over the replications, packets."""
    drops: int
    """Dropped, sum over the replications, packets."""
    marks: int
    """Sent with a mark of congestion, sum over the replications, packets."""
    share: float
    """Share of the packets that the queue sent."""
    link_share: float
    """Share of the rate of the link, on the wire; in a cell, of the fastest station's rate."""
    throughput_mbps: float
    """Sent on the wire, Mbit/s."""
    drop_rate: float
    """Dropped over offered."""
    mark_rate: float
    """Marked over offered."""
    share_ci95: list[float] | None
    """95 % interval of `share`, Student's t over the replications; null for one."""
    queueing_delay: QueueDelay
    """Waits of the packets that left the queue."""


class Nonresponsive(TypedDict):
    """Share of the arrivals that does not respond to drops, over the samples after `warm_up`."""

    estimate: float | None
    """Mean estimate."""
    last: float | None
    """Last estimate."""
    actual: float | None
    """True share."""
    doubtful: float | None
    """Share of the samples whose estimate should not be relied on."""


class Recommendation(TypedDict):
    """`recommendation` of the summary (docs/recommendation.md)."""

    kind: RecommendationKind
    """In one word."""
    discipline: str | None
    """Label of the discipline; null where none is better than what is there."""
    equal: list[str]
    """Labels of those that do as well."""
    runs_on: list[str]
    """Where it runs, by the registry."""
    gives: list[str]
    """What gets better, a clause each."""
    costs: list[str]
    """What gets worse, a clause each."""
    command: str | None
    """The line of Mayfly that shapes both directions; lines of tc for a shell where Mayfly cannot load the
    discipline; null where there is none.
    """
    commands: Commands | None
    """How to switch it on with tc; null without a discipline, for a bound and for a link that varies."""
    as_loaded: list[AsLoaded]
    """What disciplines give where the command puts them, the recommended one first, then those that are as good at
    the link; empty without commands, and where none was run. `gives`, `costs`, `equal` and `sentence` are of
    these where there are some.
    """
    at_the_link: str
    """What the recommended discipline gives at the link itself, in words; empty where `sentence` says so."""
    doubt: str
    """What the answer cannot know; empty where there is nothing."""
    sentence: str
    """All in words: the first line of the terminal."""
    rule: str
    """Page of the documentation that states the rule."""


class Commands(TypedDict):
    """Lines for a shell, with `eth0` as the interface."""

    line: str | None
    """One line of tc without a shaper."""
    load: str | None
    """The line of Mayfly that shapes both directions; null where there is none."""
    down_bps: int
    """Rate of the shaper of what arrives, bit/s."""
    up_bps: int
    """Rate of the shaper of what is sent, bit/s."""
    up: list[str]
    """Lines of tc for what is sent, with a shaper at 95 % of its rate."""
    down: list[str]
    """Lines of tc for what arrives, with a shaper at 95 % of its rate."""
    shaped: list[str]
    """Older name of `up`."""
    arriving: list[str]
    """Older name of `down`."""


class AsLoaded(TypedDict):
    """The workload once more, with the discipline where the command puts it (docs/recommendation.md)."""

    discipline: str
    """Label of the discipline."""
    figures: dict[str, float | None]
    """Values of users' measures by id: times in seconds, else the measure's unit; null where a time falls on what
    never ends.
    """
    hours: int
    """Resampled hours that ran so; 0 of those that are not recommended."""
    ci95: dict[str, list[float]]
    """95 % intervals of `figures` from these hours, by id; without those that have none."""
    packets_per_s: dict[str, float]
    """Packets per second that the box forwards at these rates, `down` and `up`, of the mean length that the workload
    has.
    """


class EngineRatios(TypedDict):
    """The kernel over the simulator, for one discipline; null where one has no value or that of the simulator is 0."""

    label: str
    """Of the simulator."""
    short: float | None
    """Mean response times of short flows."""
    long: float | None
    """Mean response times of long flows."""
    utilisation: float | None
    """Uses of the link."""
    drops: float | None
    """Drops."""
    queue_mean_packets: float | None
    """Mean queues."""
    flows_unfinished: float | None
    """Unfinished flows."""


class Model(TypedDict):
    """A policy of the M/G/1 queue next to the simulation of the discipline for which it stands.

    Means are over the completed TCP flows of the busier direction.
    """

    policy: str
    """Id in `mayfly.models.queue.policies`."""
    title: str
    """Name of the policy."""
    source: str
    """Where its equation comes from."""
    threshold: NotRequired[Thresholds]
    """Size at which the policy changes, or several of them, on the wire, bytes; absent of policies without it."""
    user_lag: NotRequired[float]
    """By how much a user may be behind, bytes; absent of policies without it."""
    flow_lag: NotRequired[float]
    """By how much a transfer may be behind in its user, bytes; absent of policies without it."""
    pace: NotRequired[float]
    """Speed of the clock of the link, as a share of that of the link; absent of policies without it."""
    users: NotRequired[float]
    """How many users; absent of policies without it."""
    uploads: NotRequired[float]
    """Uploads per download; absent of policies without it."""
    ack: NotRequired[float]
    """Bytes of acknowledgements per byte of data; absent of policies without it."""
    mean_s: float | None
    """Mean response time of the model, seconds."""
    simulated_mean_s: float | None
    """Mean response time of the simulation, seconds."""
    short: ModelClass
    """Short flows."""
    long: ModelClass
    """Long flows."""
    error_median: float | None
    """Median of `error` over the rows of `by_size`, each counted once."""
    error_p90: float | None
    """90 % quantile of the size of `error` over these rows."""
    by_size: list[ModelSizes]
    """Five classes of size per factor of ten."""
    curve: ModelCurve
    """Response time of the model over size, up to the largest size that ends."""


class ModelClass(TypedDict):
    """A class of flows in model and simulation."""

    flows: int
    """How many."""
    simulated_s: float | None
    """Mean response time of the simulation, seconds."""
    ci95_s: float | None
    """Half the 95 % interval of that mean, blocks of the run taken for independent, seconds."""
    model_s: float | None
    """Mean response time of the model, seconds."""
    error: float | None
    """Model over simulation less 1."""


class ModelSizes(TypedDict):
    """Flows of similar sizes in model and simulation."""

    size_packets_low: int
    """Sizes from this one on, packets."""
    size_packets_high: int
    """Up to this one, packets."""
    flows: int
    """How many."""
    simulated_mean_s: float | None
    """Mean response time of the simulation, seconds."""
    ci95_s: float | None
    """Half the 95 % interval of that mean, seconds."""
    model_mean_s: float | None
    """Mean response time of the model, seconds."""
    error: float | None
    """Model over simulation less 1."""


class ModelCurve(TypedDict):
    """Response time of a model over size."""

    size_packets: list[int]
    """Sizes, packets."""
    mean_s: list[float]
    """Response time of each, seconds."""


class ModelQueue(TypedDict):
    """The queue of the models. Where no model is possible, `notes` and `with_path` alone."""

    with_path: bool
    """Whether the time that a flow takes alone beyond its bytes is added."""
    rho: NotRequired[float]
    """Load that the flows offer with all headers."""
    flows: NotRequired[int]
    """How many flows."""
    mean_bytes: NotRequired[float]
    """Their mean size on the wire, bytes."""
    cov: NotRequired[float]
    """Coefficient of variation of their sizes."""
    direction: NotRequired[Direction]
    """The busier direction."""
    no_model: NotRequired[list[str]]
    """Labels of disciplines without a model."""
    notes: list[str]
    """What has no model, starves or is left out, in words."""


class Resampling(TypedDict):
    """Hours that were drawn from the sessions of the capture (docs/recommendation.md).

    With hours every `ci95` of `short`, `long` and `users` is of them.
    """

    hours: int
    """How many ran."""
    most: int
    """How many there could be."""
    settled: bool
    """Whether they ended because more of them would hardly change what is recommended (docs/recommendation.md)."""
    sessions: int
    """Sessions they were drawn from."""
    hosts: int
    """Hosts with these sessions."""
    gap_s: float
    """Least time between two sessions of a user, seconds."""
    why_none: str | None
    """Why there are none, or why time or memory ended them; null else."""


class Capture(TypedDict):
    """The capture that was replayed."""

    path: str
    """Its file."""
    span_s: float
    """From its first packet to its last, seconds."""
    offered_down_mbps: float | None
    """Offered toward the internal side, Mbit/s."""
    offered_up_mbps: float | None
    """Offered the other way, Mbit/s."""
    load: float | None
    """Load of the busier direction, as a share of its rate."""
    scaled_to_load: float | None
    """The load that was asked for; null without one."""
    replay: str
    """Form of the replay: `users`, `trains`, `packets` or `transfers`."""
    scaled_to_rtt_s: float | None
    """The median round-trip time that was asked for, seconds; null without one."""
    quic_share: float
    """QUIC, as a share of the bytes: it is replayed by QUIC."""
    quic_probably_share: float
    """Of it, connections whose beginning was not captured, as a share of the bytes."""
    other_udp_share: float
    """UDP that is neither QUIC nor a call, as a share of the bytes."""
    udp_443_share: float
    """UDP of port 443 of which nothing shows that it is QUIC, as a share of the bytes."""
    calls_share: float
    """Calls, as a share of the bytes."""
    media_share: float
    """Video calls and games of UDP, as a share of the bytes (docs/users.md)."""
    opaque_share: float
    """IP protocols other than TCP, UDP and ICMP (ESP, GRE, SCTP), as a share of the bytes."""
    left_out_share: float
    """Packets in no connection, as a share of the packets."""
    overhead_bytes: int
    """What most frames of the capture have around a packet of IP, bytes: VLAN tags with the header and checksum of
    Ethernet; 0 where they have no tags, and where those are more than a shaper counts.
    """
    translated: bool
    """Whether addresses of the near side may be translated on their way."""


class Accounted(TypedDict):
    """What became of captures or a list that were read.

    `seen` is the sum of `used` and of all amounts of `left_out`, in number and in bytes. A document has a list of
    these, one for each input, under the key `account`.
    """

    source: list[str]
    """Names of the files that were read as one."""
    unit: Unit
    """What is counted: `packets` of captures, `rows` of lists and logs."""
    seen: Amount
    """All that was read.

    A packet has the bytes of its IP packet, and of its frame where there is none; a row those that it stands for.
    """
    used: Amount
    """What the answer is about."""
    left_out: dict[str, Amount]
    """What was left out, by reason: `link_type`, `not_ip`, `protocol` (that a list or a log does not have),
    `cut_header`, `damaged`, `cut_record` (the file ends within it), `filter`, `duplicate`, `evicted` (of
    connections given up since too many were open at once), `budget` (given up for memory or time), `aside` (not
    part of this answer). Reasons without anything are absent.
    """
    partial: list[str]
    """Which part of the input is missing because a limit was reached, a sentence each; empty where none was."""
    cannot_answer: str | None
    """What the input cannot answer, in a sentence; null where it shows nothing of the kind."""


class Amount(TypedDict):
    """A number of packets or rows, and their bytes."""

    count: int
    """How many packets or rows."""
    bytes: int
    """Their length, bytes."""


class Guess(TypedDict):
    """The link that the capture shows, where none was given."""

    busier: Direction
    """The direction that is full for longer."""
    down: DirectionGuess
    """Toward the internal side."""
    up: DirectionGuess
    """The other way."""


class DirectionGuess(TypedDict):
    """What one direction of the link shows."""

    direction: Direction
    """Its name."""
    busiest_bps: float | None
    """Load of its busiest second, bit/s."""
    rate_bps: float | None
    """The guess of the rate, bit/s; null where there is none."""
    rate_low_bps: float | None
    """90 % of the windows of the plateau lie above, bit/s."""
    rate_high_bps: float | None
    """And below this, bit/s."""
    width_s: float | None
    """Length of the windows of the plateau, seconds."""
    full_s: float
    """Time at the plateau, seconds."""
    full_share: float
    """The same as a share of the capture."""
    buffer_bytes: float | None
    """The guess of the buffer, bytes; null where no round-trip time shows one."""
    buffer_low_bytes: float | None
    """From the wait that 75 % of the windows stay within, bytes."""
    buffer_high_bytes: float | None
    """To the longest wait, bytes."""
    wait_s: float | None
    """The wait that stands for a full buffer, seconds."""
    lost: float | None
    """Share of the TCP data packets of the direction that were sent again."""
    perhaps_full_s: float
    """Time at a plateau of which nothing says whether packets wait or are lost there, seconds; 0 where there is a
    guess, and where something says that none do.
    """
    perhaps_bps: float | None
    """Rate of that plateau, bit/s."""
    why: str
    """What the guess rests on, what to doubt in it, or why there is none."""
    buffer_why: str
    """The same of the buffer."""


class ErrorShares(TypedDict):
    """Errors of a kind of figure in predictions (docs/verification.md), as shares of what real programs had."""

    median: float
    """The median."""
    p90: float
    """Nine of ten stay below."""


class Worst(TypedDict):
    """The exchanges that the baseline delays most, before and after (docs/users.md).

    Both are of disciplines at the link itself, not of the command.
    """

    before: str
    """Label of the baseline."""
    after: str
    """Label of the discipline that is recommended; that of the best other one where none is."""
    exchanges: list[WorstExchange]
    """Ten at most, the most delayed one first."""


class WorstExchange(TypedDict):
    """An exchange of the capture."""

    client: str
    """Address of the end that opened its connection."""
    client_port: int | None
    """Its port; null where it has none."""
    server: str
    """Address of the other end."""
    server_port: int | None
    """Its port."""
    direction: str
    """Where its larger part goes: `down` or `up`."""
    size_bytes: int
    """Payload of the larger part, bytes."""
    start_s: float
    """When it begins under the baseline, from the start of the replay, seconds."""
    before_s: float | None
    """How long it takes under the baseline, seconds; null when it does not end."""
    after_s: float | None
    """How long it takes after, seconds; null when it does not end."""
    idle_s: float | None
    """How long it takes where its connection is alone on the link, seconds; null when it does not end there either."""


class Course(TypedDict):
    """The link over time under one discipline, at the link itself."""

    label: str
    """Label of the discipline."""
    course: OverTime
    """What it carries, and how long packets wait."""


class OverTime(TypedDict):
    """A run over time, in bins that begin at its start."""

    bin_s: float
    """Width of a bin, seconds."""
    down_mbps: list[float]
    """What the link sends down in each bin, headers and probes included, Mbit/s."""
    up_mbps: list[float]
    """The same up, Mbit/s."""
    ping_ms: list[float | None]
    """Mean round-trip time of the pings that were sent in each bin and came back, milliseconds; null without any."""
    queue_ms: list[float | None]
    """How long a packet that comes waits for those before it in the queue down, mean of the samples of each bin,
    milliseconds; null without any.
    """


class StreamSummary(TypedDict):
    """`summary.json` of `mayfly simulate --stream`, `--engine fluid` and `--engine both`."""

    schema: int
    """Version of the document."""
    command: str
    """`simulate`."""
    stream: bool
    """Always true."""
    scenario: dict[str, Any]
    """All fields of the scenario as they ran."""
    seed: int
    """Seed of all random streams."""
    replications: int
    """1."""
    duration_s: float
    """End of the run, seconds."""
    workload: StreamWorkload
    """What the flows bring."""
    transport: Transport
    """Hosts."""
    disciplines: list[StreamRow]
    """One row."""
    fluid: NotRequired[StreamRow]
    """The row of the fluid engine, next to that of packets, of `--engine both`."""
    fluid_errors: NotRequired[list[FluidError]]
    """The fluid engine against packets, by size, of `--engine both`."""
    account: NotRequired[list[Accounted]]
    """What became of the list that was read; absent where none was."""
    engine: str
    """`simulator`, `fluid` or `both`."""
    files: NotRequired[dict[str, str]]
    """Paths of what was written."""


class StreamWorkload(TypedDict):
    """What the flows of a stream bring."""

    flows: int
    """How many flows."""
    bytes: int
    """Their payload, bytes."""


class StreamRow(TypedDict):
    """One discipline under a stream. Keys that are absent are not of the fluid engine."""

    id: str
    """Of the registry."""
    family: str
    """Family of the registry."""
    label: str
    """As it was written."""
    options: dict[str, str]
    """Options that are not as they come, by name, as plain numbers or words."""
    short: StreamClass
    """The smaller transfers, which carry half of the bytes."""
    long: StreamClass
    """The larger ones."""
    all: StreamAll
    """Response times of all that were complete."""
    by_size: list[StreamSizes]
    """The same for each class of sizes, three to a factor of ten."""
    flows_completed: int
    """Flows that were complete."""
    flows_unfinished: int
    """Flows that began and were not."""
    flows_endless: int
    """Of these, those that have no end."""
    unfinished_bytes: int
    """Payload of the unfinished flows that have an end, bytes."""
    unfinished_delivered_bytes: int
    """Payload that the unfinished flows delivered, bytes."""
    sketch: Sketch
    """How exact the quantiles are."""
    retransmits: NotRequired[int]
    """Sent again, packets."""
    timeouts: NotRequired[int]
    """Expiries of retransmission timers."""
    utilisation: NotRequired[float]
    """Share of the rate of the forward link that was sent."""
    drops: NotRequired[int]
    """Dropped by the forward queue, packets."""
    marks: NotRequired[int]
    """Marked by the forward queue, packets."""
    queue_mean_packets: NotRequired[float]
    """Mean length of the forward queue, packets."""
    cpu_s: float
    """Processor time of the simulation, seconds."""
    packet_hops: NotRequired[int]
    """Packets that crossed a link, packets."""
    flow_table: NotRequired[FlowTable]
    """The flow table of the discipline."""
    throughput_mbps: NotRequired[Throughput]
    """What each direction of the link sent."""
    policy: NotRequired[str]
    """The policy that stands for the discipline, of the fluid engine."""


class StreamClass(TypedDict):
    """A class of flows in figures."""

    mean_s: float | None
    """Mean response time, seconds."""
    ci95: list[float] | None
    """Normal 95 % interval of that mean over flows, seconds."""
    flows: int
    """Flows that were complete."""
    mean_size_packets: float | None
    """Mean size, packets."""
    off_by_at_most_s: float
    """By how much the mean can be off because flows of one size are in both classes, seconds."""


class StreamAll(TypedDict):
    """Response times of all flows of a stream."""

    flows: int
    """Flows that were complete."""
    mean_s: float | None
    """Mean response time, seconds."""
    ci95: list[float] | None
    """Normal 95 % interval of that mean over flows, seconds."""
    quantiles_s: Quantiles
    """Quantiles of the response time."""


class Quantiles(TypedDict):
    """Quantiles of response times; none of no flows."""

    p5: NotRequired[float]
    """5 of 100 take at most this, seconds."""
    p50: NotRequired[float]
    """Median, seconds."""
    p90: NotRequired[float]
    """90 of 100 take at most this, seconds."""
    p95: NotRequired[float]
    """95 of 100 take at most this, seconds."""
    p99: NotRequired[float]
    """99 of 100 take at most this, seconds."""


class StreamSizes(TypedDict):
    """Flows of similar sizes in figures."""

    from_packets: int
    """Sizes from this one on, packets."""
    below_packets: int
    """Up to below this one, packets."""
    flows: int
    """Flows that were complete."""
    mean_size_packets: float
    """Mean size, packets."""
    mean_s: float
    """Mean response time, seconds."""
    ci95: list[float] | None
    """Normal 95 % interval of that mean over flows, seconds."""
    quantiles_s: Quantiles
    """Quantiles of the response time."""


class Sketch(TypedDict):
    """How exact quantiles are."""

    kind: str
    """`DDSketch`."""
    bound: float
    """Largest error of a quantile, as a share of its value."""
    size_step: float
    """Share in which sizes were counted together; 0 for none."""


class FluidError(TypedDict):
    """The fluid engine against packets, of flows of similar sizes."""

    from_packets: int
    """Sizes from this one on, packets."""
    below_packets: int
    """Up to below this one, packets."""
    flows: int
    """Flows that were complete."""
    packets_mean_s: float
    """Mean response time of packets, seconds."""
    fluid_mean_s: float
    """Mean response time of the fluid, seconds."""
    error: float
    """Error of that mean, as a share."""
    error_p95: float | None
    """Error of the 95 % quantile, as a share; null where that of packets is 0."""


class WindowsSummary(TypedDict):
    """`summary.json` of `mayfly simulate --windows`."""

    schema: int
    """Version of the document."""
    command: str
    """`simulate`."""
    stream: bool
    """Always true."""
    discipline: str
    """As it was written."""
    scenario: dict[str, Any]
    """All fields of the scenario as they ran."""
    seed: int
    """Seed of all random streams."""
    duration_s: float
    """End of the run, seconds."""
    windows: Windows
    """What the windows came to."""
    files: NotRequired[dict[str, str]]
    """Paths of what was written."""


class Windows(TypedDict):
    """Windows of a run."""

    windows: int
    """How many."""
    flows_crossing: int
    """Flows that had not ended with their window."""
    seam: Seam
    """What a cold start does to flows right behind a seam."""
    all: WindowMeans
    """All flows."""
    by_size: list[WindowSizes]
    """Flows of each class of sizes."""
    overlap_s: float
    """By how much a window begins early and ends late, seconds."""
    cpu_s: float
    """Processor time of the simulation, seconds."""


class Seam(TypedDict):
    """Flows that ran twice, at the end of a window and at the beginning of the next."""

    flows: int
    """How many."""
    mean_s: float | None
    """Their mean response time in the window before, seconds."""
    mean_difference_s: float | None
    """Difference of a cold start, seconds."""
    ci95: list[float] | None
    """95 % interval of the difference, Student's t over seams, seconds."""


class WindowMeans(TypedDict):
    """Mean response time over windows."""

    flows: int
    """How many flows."""
    windows_mean_s: float
    """Mean over the windows, seconds."""
    correction_s: float
    """Correction by the fluid twin of the whole run, seconds."""
    mean_s: float
    """The corrected mean, seconds."""
    ci95: list[float]
    """Its 95 % interval, Student's t over windows, seconds."""


class WindowSizes(TypedDict):
    """The same of flows of similar sizes."""

    from_packets: int
    """Sizes from this one on, packets."""
    below_packets: int
    """Up to below this one, packets."""
    flows: int
    """How many flows."""
    windows_mean_s: float
    """Mean over the windows, seconds."""
    correction_s: float
    """Correction by the fluid twin of the whole run, seconds."""
    mean_s: float
    """The corrected mean, seconds."""
    ci95: list[float]
    """Its 95 % interval, Student's t over windows, seconds."""
