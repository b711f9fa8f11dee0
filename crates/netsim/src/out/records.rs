//! What a run leaves behind.

use qdisc::DropReason;
use units::Time;

use crate::out::subflows::Subflow;
use crate::out::trace::PacketTrace;
use crate::out::waits::Waits;
use crate::script::TrainRecord;
use crate::wlan::CellCounts;

/// Outcome of one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRecord {
    /// When the flow started; `Time::NEVER` when it did not.
    pub start: Time,
    /// End of the flow (see `docs/tables.md`); `Time::NEVER` when unfinished.
    pub finish: Time,
    /// Arrival of the first payload; `Time::NEVER` when none came.
    pub first_data: Time,
    /// Payload delivered, bytes.
    pub delivered_bytes: u64,
    /// Of these, what was delivered before the end of the warm-up.
    pub warm_up_bytes: u64,
    /// Of these, what a script sent from the receiver to the sender of the flow.
    pub back_bytes: u64,
    /// Packets sent by the sender of the data.
    pub packets_sent: u64,
    /// Of these, retransmissions.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Packets of this flow dropped, either direction.
    pub drops: u64,
    /// Packets of this flow lost by a link after its queue, either direction.
    pub lost: u64,
    /// An end repeated a segment as often as it may, and gave up.
    pub gave_up: bool,
    /// Packets of this flow that arrived with a mark of congestion, either direction.
    pub marks: u64,
    /// Of the packets that entered the forward queue, those that did so in the high class of a
    /// discipline with two.
    pub high_packets: u64,
    /// Packets that entered the forward queue of a discipline with two classes.
    pub sorted_packets: u64,
    /// Flow-table entries this flow began in the forward queue (Chen 2012, 4.5.3: its fragments).
    pub fragments: u64,
    /// Mean of the RTT samples, seconds; NaN without samples.
    pub rtt_mean_s: f64,
    /// Mean congestion window over acknowledgements, segments; NaN without any.
    pub cwnd_mean_packets: f64,
    /// First packet of the sender of the data; `Time::NEVER` when it sent none.
    pub first_sent: Time,
    /// Arrival of the last missing payload; UDP: of the last packet, once every packet was delivered or
    /// lost. `Time::NEVER` when unfinished.
    pub last_data: Time,
    /// Waiting times of this flow's packets in the forward queue: data of `down` flows, acknowledgements of
    /// the others.
    pub waits: Waits,
    /// Time during which a packet of this flow was at the access point of a cell, waiting or in service, on its way
    /// down (Urvoy-Keller 2007, 6.1: response time at the access point).
    pub presence: Time,
}

impl Default for FlowRecord {
    fn default() -> Self {
        FlowRecord {
            start: Time::NEVER,
            finish: Time::NEVER,
            first_data: Time::NEVER,
            delivered_bytes: 0,
            warm_up_bytes: 0,
            back_bytes: 0,
            packets_sent: 0,
            retransmits: 0,
            timeouts: 0,
            drops: 0,
            lost: 0,
            gave_up: false,
            marks: 0,
            high_packets: 0,
            sorted_packets: 0,
            fragments: 0,
            rtt_mean_s: f64::NAN,
            cwnd_mean_packets: f64::NAN,
            first_sent: Time::NEVER,
            last_data: Time::NEVER,
            waits: Waits::default(),
            presence: Time::ZERO,
        }
    }
}

/// Totals of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// End of the run: the averages are taken up to here.
    pub end: Time,
    /// End of the warm-up: counts and averages of the queues are taken from here.
    pub begin: Time,
    /// Packets offered to the forward queue.
    pub arrivals: u64,
    /// Packets dropped by the forward queue.
    pub drops: u64,
    /// Packets sent by the forward port.
    pub sent: u64,
    /// Bytes sent by the forward port.
    pub sent_bytes: u64,
    /// Packets lost by the bottleneck after the forward queue.
    pub lost: u64,
    /// Packets dropped by the reverse queue.
    pub reverse_drops: u64,
    /// Packets sent by the reverse port.
    pub reverse_sent: u64,
    /// Bytes sent by the reverse port.
    pub reverse_sent_bytes: u64,
    /// Packets lost by the bottleneck after the reverse queue.
    pub reverse_lost: u64,
    /// Time average of the packets waiting in the forward queue.
    pub queue_mean_packets: f64,
    /// Time average of the packets waiting in the reverse queue.
    pub reverse_queue_mean_packets: f64,
    /// Time average of the forward queue's flow table.
    pub flow_table_mean: f64,
    /// Largest size of the forward queue's flow table.
    pub flow_table_max: u64,
    /// Memory the forward queue holds for flows at the end, bytes: its tables do not shrink, so this
    /// is what they needed.
    pub flow_table_bytes: u64,
    /// Packets marked with congestion experienced by the forward queue.
    pub marks: u64,
    /// Waiting times of the packets sent by the forward port.
    pub waits: Waits,
    /// Link transmissions of packets.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
}

/// Totals of one interface since the end of the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InterfaceCounts {
    /// Packets offered to the queue.
    pub arrivals: u64,
    /// Packets dropped by the queue.
    pub drops: u64,
    /// Packets marked with congestion experienced by the queue.
    pub marks: u64,
    /// Packets lost after the queue.
    pub lost: u64,
    /// Packets sent.
    pub sent: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Time average of the packets waiting.
    pub queue_mean_packets: f64,
    /// Last estimate of the share of arrivals that does not respond to drops, of a discipline with an estimator.
    pub nonresponsive_estimate: Option<f64>,
}

/// Samples of the forward queue, one value per sampling instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Sampling instants.
    pub time: Vec<Time>,
    /// Packets waiting.
    pub backlog_packets: Vec<u64>,
    /// Bytes waiting.
    pub backlog_bytes: Vec<u64>,
    /// Packets waiting with high priority; empty for disciplines without two classes.
    pub high_backlog_packets: Vec<u64>,
    /// Flow-table entries.
    pub flow_table: Vec<u64>,
    /// Packets offered since the run began.
    pub arrivals: Vec<u64>,
    /// Packets dropped since the run began.
    pub drops: Vec<u64>,
    /// Packets waiting, mean over the time since the sample before.
    pub queue_mean_packets: Vec<f64>,
    /// The last estimate of the share of arrivals that does not respond to drops; `None` before the first, and for
    /// disciplines without an estimator.
    pub nonresponsive_estimate: Vec<Option<f64>>,
    /// Why that estimate should not be relied on.
    pub nonresponsive_doubt: Vec<Option<&'static str>>,
    /// Packets offered since the run began, of flows that do not respond to drops.
    pub nonresponsive_arrivals: Vec<u64>,
    /// Those of them that were dropped.
    pub nonresponsive_drops: Vec<u64>,
    /// Bytes delivered by each watched flow, `(watched, time)`.
    pub progress: Vec<Vec<u64>>,
}

/// One drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    /// When.
    pub time: Time,
    /// Index of the flow.
    pub flow: u32,
    /// Whether the packet travelled from receiver to sender.
    pub reverse: bool,
    /// Length on the wire, bytes.
    pub len: u32,
    /// Why.
    pub reason: DropReason,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// One record per flow, in the order of the list.
    pub records: Vec<FlowRecord>,
    /// Totals.
    pub counters: Counters,
    /// Totals of each interface: link by link, forward first.
    pub interfaces: Vec<InterfaceCounts>,
    /// Time series.
    pub samples: Samples,
    /// Drops, when asked for.
    pub drops: Vec<Drop>,
    /// Counts at the forward queue by class of flow, when flows have classes.
    pub classes: Vec<ClassCount>,
    /// Packets of the traced flows in the order in which they were sent.
    pub packets: Vec<PacketTrace>,
    /// Expiries of the retransmission timer of the traced flows: when, and index of the flow.
    pub timeouts: Vec<(Time, u32)>,
    /// Packets of traced flows that the trace had no room for.
    pub beyond_trace: u64,
    /// Sub-flows in the forward queue in the order in which they began, when asked for.
    pub subflows: Vec<Subflow>,
    /// Packets of sub-flows that there was no room for.
    pub beyond_subflows: u64,
    /// Trains of scripted connections, in the order in which they started.
    pub trains: Vec<TrainRecord>,
    /// The wireless cell, when there is one.
    pub wlan: Option<CellCounts>,
}

/// Packets of a class at the forward queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassCount {
    /// Offered to the queue.
    pub arrivals: u64,
    /// Dropped by the queue.
    pub drops: u64,
    /// Sent with a mark of congestion.
    pub marks: u64,
    /// Sent.
    pub sent: u64,
    /// Sent, bytes on the wire.
    pub sent_bytes: u64,
    /// Waiting times of those sent.
    pub waits: Waits,
}
