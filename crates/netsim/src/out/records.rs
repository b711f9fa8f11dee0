//! What a run leaves behind.

use qdisc::DropReason;
use tables::{Column, record};
use units::Time;

use crate::app::{FrameRecord, SegmentRecord};
use crate::out::accounting::Books;
use crate::out::probes::{Arrivals, ProbePacket};
use crate::out::queue_delay::{self, QueueDelay};
use crate::out::subflows::Subflow;
use crate::out::trace::{PacketTrace, Timeout};
use crate::script::TrainRecord;
use crate::wlan::CellCounts;

record! {
    /// Outcome of one flow.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowRecord in "flows" default {
        /// When the flow started; null when it did not.
        pub start: Time = Time::NEVER => "begun_s", "s";
        /// Last FIN-ACK of the tear-down; without FIN exchange (`tcp.fin = false`) arrival of the last missing data at
        /// the receiver; UDP: last packet delivered once every packet was delivered or lost. Null when unfinished.
        pub finish: Time = Time::NEVER => "finish_s", "s";
        /// Payload delivered in order (TCP) or at all (UDP).
        pub delivered_bytes: u64 => "delivered_bytes", "bytes";
        /// Packets that the sender of the data sent: SYN, FIN and retransmissions included.
        pub packets_sent: u64 => "packets_sent", "packets";
        /// Packets that the sender of the data retransmitted.
        pub retransmits: u64 => "retransmits", "packets";
        /// Expiries of the retransmission timer.
        pub timeouts: u32 => "timeouts";
        /// Packets of this flow that a queue dropped, in either direction.
        pub drops: u64 => "drops", "packets";
        /// Packets of this flow that a link lost after its queue (`network.loss`), in either direction.
        pub lost: u64 => "lost", "packets";
        /// Packets of this flow that arrived with a mark of congestion (ECN), in either direction.
        pub marks: u64 => "marks", "packets";
        /// Mean of the sender's RTT samples; null without samples.
        pub rtt_mean_s: f64 = f64::NAN => "rtt_mean_s", "s";
        /// Mean of the congestion window over acknowledgements; null without any.
        pub cwnd_mean_packets: f64 = f64::NAN => "cwnd_mean_packets", "packets";
        /// Whether an end repeated a SYN, FIN or segment as often as it may (`tcp.syn_retries`, `tcp.retries`): the
        /// flow is then unfinished.
        pub gave_up: bool => "gave_up";
        /// First payload at the receiver; null when none came.
        pub first_data: Time = Time::NEVER => "first_data_s", "s";
        /// Of the bytes delivered, what a script brought from receiver to sender; absent without scripts.
        pub back_bytes: u64 => "back_bytes", "bytes";
        /// First packet of the sender of the data: its SYN, or its SYN-ACK when the receiver opens; null when it sent
        /// none.
        pub first_sent: Time = Time::NEVER => "first_sent_s", "s";
        /// Arrival of the last missing payload; UDP: `finish_s`. Null when unfinished. `last_data_s - first_sent_s` is
        /// the transmission time of Rai 2003, 4.2.
        pub last_data: Time = Time::NEVER => "last_data_s", "s";
        /// Packets of this flow that entered the forward queue in the high class; null for disciplines with one class.
        pub high_packets: u64 => "high_packets", "packets";
        /// Packets of this flow that entered the forward queue; null for disciplines with one class.
        pub sorted_packets: u64 => "sorted_packets", "packets";
        /// Entries of the flow table that the flow began in the forward queue (Chen 2012, 4.5.3); null for disciplines
        /// without such a table.
        pub fragments: u64 => "fragments";
        /// In a wireless cell: time during which a packet of the flow was at the access point on its way down, waiting
        /// or in service (Urvoy-Keller 2007, 6.1).
        pub presence: Time => "presence_s", "s";
        /// In a wireless cell: of `delivered_bytes`, what was there at the end of the warm-up.
        pub warm_up_bytes: u64 => "warm_up_bytes", "bytes";
        /// Waiting times of this flow's packets in the forward queue: data of `down` flows, acknowledgements of the
        /// others.
        pub queue_delay: QueueDelay;
    }
    also queue_delay::columns(|record: &FlowRecord| record.queue_delay);
}

record! {
    /// Totals of the run; packets of probes count in none but `peak_utilisation` and the queues' averages.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Counters in "counters" {
        /// End of the run: the averages are taken up to here.
        pub end: Time => "end_ns", "ns", as |time: &Time| time.0;
        /// End of the warm-up: counts and averages of the queues are taken from here.
        pub begin: Time => "begin_ns", "ns", as |time: &Time| time.0;
        /// Packets offered to the forward queue.
        pub arrivals: u64 => "arrivals", "packets";
        /// Packets dropped by the forward queue.
        pub drops: u64 => "drops", "packets";
        /// Packets sent by the forward port.
        pub sent: u64 => "sent", "packets";
        /// Bytes sent by the forward port.
        pub sent_bytes: u64 => "sent_bytes", "bytes";
        /// Packets lost by the bottleneck after the forward queue.
        pub lost: u64 => "lost", "packets";
        /// Packets offered to the reverse queue.
        pub reverse_arrivals: u64 => "reverse_arrivals", "packets";
        /// Packets dropped by the reverse queue.
        pub reverse_drops: u64 => "reverse_drops", "packets";
        /// Packets that the reverse queue marked with congestion experienced.
        pub reverse_marks: u64 => "reverse_marks", "packets";
        /// Packets sent by the reverse port.
        pub reverse_sent: u64 => "reverse_sent", "packets";
        /// Bytes sent by the reverse port.
        pub reverse_sent_bytes: u64 => "reverse_sent_bytes", "bytes";
        /// Packets lost by the bottleneck after the reverse queue.
        pub reverse_lost: u64 => "reverse_lost", "packets";
        /// Time average of the packets waiting in the forward queue.
        pub queue_mean_packets: f64 => "queue_mean_packets", "packets";
        /// Time average of the packets waiting in the reverse queue.
        pub reverse_queue_mean_packets: f64 => "reverse_queue_mean_packets", "packets";
        /// Time average of the forward queue's flow table.
        pub flow_table_mean: f64 => "flow_table_mean", "entries";
        /// Largest size of the forward queue's flow table.
        pub flow_table_max: u64 => "flow_table_max", "entries";
        /// Memory that the forward queue holds for flows at the end: its tables do not shrink, so this is what they
        /// needed.
        pub flow_table_bytes: u64 => "flow_table_bytes", "bytes";
        /// Packets that the forward queue marked with congestion experienced.
        pub marks: u64 => "marks", "packets";
        /// Largest share of a second, counted from the start of the run, for which the forward port was sending, probes
        /// included; 0 in a wireless cell.
        pub peak_utilisation: f64 => "peak_utilisation";
        /// The same of the reverse port.
        pub reverse_peak_utilisation: f64 => "reverse_peak_utilisation";
        /// Waiting times of the packets sent by the forward port.
        pub queue_delay: QueueDelay;
        /// Mean queueing delay of the packets sent by the reverse port; null without packets.
        pub reverse_queue_delay: QueueDelay => "reverse_queue_delay_mean_s", "s", as |waits: &QueueDelay| waits.mean_s();
        /// Packets of traced flows that the trace had no room for.
        pub beyond_trace: u64 => "beyond_trace", "packets";
        /// Packets of sub-flows that there was no room for.
        pub beyond_subflows: u64 => "beyond_subflows", "packets";
        /// Transmissions of packets by links.
        pub packet_hops: u64 => "packet_hops";
        /// Events handled.
        pub events: u64 => "events";
    }
    also queue_delay::columns(|counters: &Counters| counters.queue_delay);
}

record! {
    /// Totals of one interface since the end of the warm-up.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct InterfaceCounts in "interfaces" {
        /// Packets offered to the queue.
        pub arrivals: u64 => "arrivals", "packets";
        /// Packets dropped by the queue.
        pub drops: u64 => "drops", "packets";
        /// Packets marked with congestion experienced by the queue.
        pub marks: u64 => "marks", "packets";
        /// Packets lost by the link after the queue.
        pub lost: u64 => "lost", "packets";
        /// Packets sent.
        pub sent: u64 => "sent", "packets";
        /// Bytes sent.
        pub sent_bytes: u64 => "sent_bytes", "bytes";
        /// Time average of the packets waiting.
        pub queue_mean_packets: f64 => "queue_mean_packets", "packets";
        /// Last estimate of the share of arrivals that does not respond to drops; null for disciplines without an
        /// estimator.
        pub nonresponsive_estimate: Option<f64> => "nonresponsive_estimate";
    }
}

record! {
    /// How busy the bottleneck was in one second of the run, probes included; only of runs with probes.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct LinkSecond in "seconds" {
        /// Seconds before it since the start of the run.
        pub second: u32 => "second", "s";
        /// Share of the second in which the forward port was sending; of a link that varies, the share that was used of
        /// what it offered. 0 in a wireless cell.
        pub forward: f64 => "forward_busy";
        /// The same of the reverse port.
        pub reverse: f64 => "reverse_busy";
    }
}

record! {
    /// The forward queue at one sampling instant.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Sample in "samples" {
        /// Sampling instant.
        pub time: Time => "time_s", "s";
        /// Packets waiting, the one in transmission excluded.
        pub backlog_packets: u64 => "backlog_packets", "packets";
        /// Bytes waiting, the packet in transmission excluded.
        pub backlog_bytes: u64 => "backlog_bytes", "bytes";
        /// Packets waiting with high priority; null for disciplines without two classes.
        pub high_backlog_packets: Option<u64> => "high_backlog_packets", "packets";
        /// Entries of the flow table.
        pub flow_table: u64 => "flow_table", "entries";
        /// Packets offered since the previous sample.
        pub arrivals: u64 => "arrivals", "packets";
        /// Packets dropped since the previous sample.
        pub drops: u64 => "drops", "packets";
        /// Packets waiting, mean over the time since the previous sample.
        pub queue_mean_packets: f64 => "queue_mean_packets", "packets";
        /// Of `arrivals`, those of UDP flows and of the groups that `nonresponsive = [...]` of the scenario names: what
        /// an estimate of the non-responsive share is held against.
        pub nonresponsive_arrivals: u64 => "nonresponsive_arrivals", "packets";
        /// Of `drops`, those of the same flows.
        pub nonresponsive_drops: u64 => "nonresponsive_drops", "packets";
        /// Last estimate of the share of arrivals that does not respond to drops; null before the first, and without an
        /// estimator (`estmred`).
        pub nonresponsive_estimate: Option<f64> => "nonresponsive_estimate";
        /// Why that estimate should not be relied on, in a word; null when it may be.
        pub nonresponsive_doubt: Option<&'static str> => "nonresponsive_doubt";
        /// Mean rate that the link offered since the previous sample; null for a link of constant rate.
        pub link_rate_bps: Option<f64> => "link_rate_bps", "bit/s";
        /// Rate of the shaper before the link; null without one.
        pub shaper_rate_bps: Option<u64> => "shaper_rate_bps", "bit/s";
        /// Bytes delivered so far by each watched flow.
        pub progress: Vec<u64>;
    }
    also progress();
}

/// What the three largest flows have got.
fn progress() -> Vec<Column<Sample>> {
    let meaning = "Delivered so far by one of the three largest flows of the workload, whose ids are in `summary.json`; \
                   null when there are fewer.";
    let column = |at: usize| {
        let name = format!("progress_{}_bytes", at + 1);
        Column::new(name, "bytes", meaning, move |sample: &Sample| sample.progress.get(at).copied())
    };
    (0..3).map(column).collect()
}

record! {
    /// One drop.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Drop in "drops" {
        /// When.
        pub time: Time => "time_s", "s";
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// Whether the packet travelled from receiver to sender: true for acknowledgements of a `down` flow.
        pub reverse: bool => "reverse";
        /// Length on the wire.
        pub len: u32 => "wire_bytes", "bytes";
        /// Why.
        pub reason: DropReason => "reason", "", as |reason: &DropReason| reason.word();
    }
}

record! {
    /// Packets of a class of flows at the forward queue.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ClassCount in "classes" {
        /// Packets offered to the queue.
        pub arrivals: u64 => "arrivals", "packets";
        /// Packets dropped by the queue.
        pub drops: u64 => "drops", "packets";
        /// Packets sent with a mark of congestion.
        pub marks: u64 => "marks", "packets";
        /// Packets sent.
        pub sent: u64 => "sent", "packets";
        /// Sent, bytes on the wire.
        pub sent_bytes: u64 => "sent_bytes", "bytes";
        /// Waiting times of those sent.
        pub queue_delay: QueueDelay;
    }
    also queue_delay::columns(|count: &ClassCount| count.queue_delay);
}

record! {
    /// Totals of one class of a tree in one direction since the end of the warm-up.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct TreeClassCounts in "tree_classes" {
        /// Number of the class.
        pub class: u32 => "class";
        /// Whether its packets come from the circuits.
        pub up: bool => "up";
        /// Packets offered to the queue; null for a class with others in it.
        pub arrivals: Option<u64> => "arrivals", "packets";
        /// Packets dropped by the queue; null for a class with others in it.
        pub drops: Option<u64> => "drops", "packets";
        /// Packets marked with congestion experienced by the queue; null for a class with others in it.
        pub marks: Option<u64> => "marks", "packets";
        /// Packets sent by it and all below it.
        pub sent: u64 => "sent", "packets";
        /// Bytes of these.
        pub sent_bytes: u64 => "sent_bytes", "bytes";
        /// Of the packets sent, those that a class above it lent its tokens for.
        pub borrowed: u64 => "borrowed", "packets";
        /// Times that it reached its ceiling.
        pub overlimits: u64 => "overlimits";
        /// Time for which it was at its ceiling.
        pub red: Time => "red_s", "s";
        /// Time for which it was between rate and ceiling.
        pub yellow: Time => "yellow_s", "s";
        /// Waiting times of the packets sent by a circuit.
        pub queue_delay: QueueDelay;
    }
    also queue_delay::columns(|counts: &TreeClassCounts| counts.queue_delay);
}

record! {
    /// What left a circuit in one interval of `tree.bin`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Departures in "departures" {
        /// Number of the class.
        pub class: u32 => "class";
        /// Whether its packets come from the circuits.
        pub up: bool => "up";
        /// Number of the interval, from 0.
        pub bin: u32 => "bin";
        /// Sent in it.
        pub bytes: u64 => "bytes", "bytes";
    }
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
    /// Time series of the forward queue.
    pub samples: Vec<Sample>,
    /// Drops, when asked for.
    pub drops: Vec<Drop>,
    /// Counts at the forward queue by class of flow, when flows have classes.
    pub classes: Vec<ClassCount>,
    /// Packets of the traced flows in the order in which they were sent.
    pub packets: Vec<PacketTrace>,
    /// Packets of the probes, those of one flow in order.
    pub probes: Vec<ProbePacket>,
    /// Arrivals of the flows that [`Run::heard`](crate::Run::heard) names, in the order in which these ended.
    pub arrivals: Vec<Arrivals>,
    /// How busy the bottleneck was in each second, where there are probes.
    pub seconds: Vec<LinkSecond>,
    /// Expiries of the retransmission timer of the traced flows.
    pub timeouts: Vec<Timeout>,
    /// Sub-flows in the forward queue in the order in which they began, when asked for.
    pub subflows: Vec<Subflow>,
    /// Trains of scripted connections, in the order in which they started.
    pub trains: Vec<TrainRecord>,
    /// Units of media of the applications that send datagrams, those of one flow in order.
    pub frames: Vec<FrameRecord>,
    /// Segments of films, those of one flow in order.
    pub segments: Vec<SegmentRecord>,
    /// What became of all packets, since the start of the run.
    pub books: Books,
    /// Totals of each class of a tree, down before up.
    pub tree_classes: Vec<TreeClassCounts>,
    /// What left each circuit of a tree in each interval, when asked for.
    pub departures: Vec<Departures>,
    /// The wireless cell, when there is one.
    pub wlan: Option<CellCounts>,
}
