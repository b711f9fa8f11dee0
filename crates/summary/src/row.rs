//! A row of `disciplines`: what one discipline did, and what its users felt.

use std::collections::BTreeMap;

use metrics::Figures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::group::{ClassRow, Group, GroupTransfers};
use crate::link::LinksUse;
use crate::media::Media;
use crate::shared::{ActiveFlows, FlowTable, MeanTimes, QueueDelay, ResponseTimes, Slowdown, Throughput};

/// One discipline. Counts are sums over the replications, utilisation, queue and throughput means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisciplineRow {
    /// Of the registry.
    pub id: String,
    /// As it was written, `efd(threshold=30kB)`; one of the kernel ends in ` (linux)`.
    pub label: String,
    /// Options that are not as they come, by name, as plain numbers or words: `{"threshold": "30000"}`.
    pub options: BTreeMap<String, String>,
    /// Response times of short flows: those that are not long.
    pub short: ResponseTimes,
    /// Response times of long flows: the largest completed TCP flows that together carry 50 % of the bytes (Chen 2012, 4.6.2).
    pub long: ResponseTimes,
    /// Flows that finished.
    pub flows_completed: u64,
    /// Flows that did not.
    pub flows_unfinished: u64,
    /// Unfinished flows that have no end.
    pub flows_endless: u64,
    /// Payload of the unfinished flows that have an end, bytes.
    pub unfinished_bytes: u64,
    /// Payload that the unfinished flows delivered, bytes.
    pub unfinished_delivered_bytes: u64,
    /// Share of the rate of the forward link that was sent; in a cell, share of time for which the medium was taken.
    pub utilisation: f64,
    /// Packets that the forward queue dropped, packets.
    pub drops: u64,
    /// Packets that the forward queue marked with congestion experienced, packets.
    pub marks: u64,
    /// Mean length of the forward queue, packets.
    pub queue_mean_packets: Option<f64>,
    /// The flow table of the discipline.
    pub flow_table: FlowTable,
    /// What each direction of the link sent, Mbit/s. In a cell IP packets that were acknowledged on the air: data of flows that way and
    /// acknowledgements of the others.
    pub throughput_mbps: Throughput,
    /// Datagrams.
    pub udp: Datagrams,
    /// Processor time of the simulation, seconds.
    pub cpu_s: Option<f64>,
    /// Packets that crossed a link, packets.
    pub packet_hops: Option<u64>,
    /// What both queues did; null for a network that is not one link.
    pub links: Option<LinksUse>,
    /// What users feel ([](users.md)).
    pub users: Figures,
    /// A wireless cell; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wlan: Option<Cell>,
    /// Web pages, a row per group of flows with a `stage`, by name; absent without stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<PageGroup>>,
    /// Calls, films and games; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// Transfers of each group in each direction; absent in a cell, which has its own, and unless some go up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_transfers: Option<Vec<GroupTransfers>>,
    /// Groups of flows, by name, flows without one last; absent when no flow has a group, for several links and for a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// Interfaces of a network of several links, link by link, forward first; absent for a dumbbell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Vec<Interface>>,
    /// Packets that the queues dropped, those of acknowledgements among them.
    pub loss: Loss,
    /// Waits of the packets that left the forward queue, from arrival to the start of transmission, from `warm_up` on.
    pub queueing_delay: QueueDelay,
    /// Jain's index over the goodput of the TCP flows that never end: 1 when all have the same; null with fewer than two.
    pub jain: Option<f64>,
    /// Flows that have started and not finished (Rai 2003, 4.3).
    pub active_flows: ActiveFlows,
    /// What the packets of each group met at the forward queue, acknowledgements of flows going up included; absent when no flow has a
    /// group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<ClassRow>>,
    /// Estimates of the share of traffic that does not respond to drops; absent without an estimator or samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonresponsive: Option<Nonresponsive>,
    /// Family of the registry.
    pub family: String,
    /// Where the discipline can run besides the simulator: `kernel`, `module`, `bpf`, `simulation` (nowhere else) or `bound` (it never
    /// can).
    pub runs_on: Vec<String>,
    /// Slowdown of the TCP transfers that can end; null without any.
    pub slowdown: Option<Slowdown>,
    /// Values of each criterion of [](recommendation.md) in each replication; absent with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicated: Option<Criteria>,
    /// The same in each resampled hour; absent without hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled: Option<Criteria>,
    /// Times of trains, of a capture replayed as users or trains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trains: Option<MeanTimes>,
    /// Times of recorded flows, of a capture replayed packet by packet: flows that lost no packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<MeanTimes>,
}

/// Values of a criterion in many runs, by its id; null where one is infinite.
pub type Criteria = BTreeMap<String, Vec<Option<f64>>>;

/// Packets of UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Datagrams {
    /// Sent, packets.
    pub packets: u64,
    /// Dropped, packets.
    pub lost: u64,
    /// Share of them; null without packets.
    pub loss: Option<f64>,
}

/// Packets that the queues dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Drops over the packets that the senders of the data sent.
    pub rate: Option<f64>,
    /// TCP flows that lost a packet or more.
    pub flows: u64,
    /// Their share of the TCP flows.
    pub share: Option<f64>,
}

/// Web pages of a group: from the start of the first flow of a page to the end of its last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageGroup {
    /// Name of the group.
    pub group: Option<String>,
    /// Pages that started.
    pub pages: u64,
    /// Of these, those that did not finish.
    pub unfinished: u64,
    /// Mean of the others, seconds.
    pub mean_s: Option<f64>,
    /// Median, seconds.
    pub p50_s: Option<f64>,
    /// 95 of 100 take at most this, seconds.
    pub p95_s: Option<f64>,
    /// From the start of a page to the last byte of an object: of each part of an answer, and of each answer without parts; absent without
    /// scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<MeanTimes>,
}

/// One interface of a network of several links, from `warm_up` on; null is what a kernel does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Name of the link, with ` (back)` of its way back.
    pub name: String,
    /// Speed, bit/s.
    pub rate_bps: f64,
    /// Offered, packets.
    pub arrivals: u64,
    /// Dropped, packets.
    pub drops: u64,
    /// Marked with congestion experienced, packets.
    pub marks: Option<u64>,
    /// Lost by the link, packets.
    pub lost: Option<u64>,
    /// Sent, packets.
    pub sent: u64,
    /// Sent, bytes.
    pub sent_bytes: u64,
    /// Mean length of its queue, packets.
    pub queue_mean_packets: Option<f64>,
    /// Last estimate of a discipline with an estimator, else null.
    pub nonresponsive_estimate: Option<f64>,
    /// Share of its speed that was sent.
    pub utilisation: f64,
}

/// Share of the arrivals that does not respond to drops, over the samples after `warm_up`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nonresponsive {
    /// Mean estimate.
    pub estimate: Option<f64>,
    /// Last estimate.
    pub last: Option<f64>,
    /// True share.
    pub actual: Option<f64>,
    /// Share of the samples whose estimate should not be relied on.
    pub doubtful: Option<f64>,
}
