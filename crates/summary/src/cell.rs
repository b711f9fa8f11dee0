//! What a wireless cell did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::group::GroupTransfers;
use crate::shared::ActiveFlows;

/// `wlan` of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Payload delivered after the warm-up, Mbit/s.
    pub goodput_mbps: CellGoodput,
    /// Goodput of uploads over that of downloads; null when one is 0.
    pub up_down_ratio: Option<f64>,
    /// Packets at the queue of the access point.
    pub access_point: AccessPoint,
    /// Transfers of each direction.
    pub directions: CellDirections,
    /// Frames of all nodes.
    pub mac: Mac,
    /// Jain's indices, means over the replications; null with fewer than two.
    pub jain: CellJain,
    /// Stations in their order.
    pub stations: Vec<Station>,
    /// Transfers by group and direction; empty without groups.
    pub groups: Vec<GroupTransfers>,
}

/// Goodput of both directions and of the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellGoodput {
    /// Of downloads, Mbit/s.
    pub down: MeanOfRuns,
    /// Of uploads, Mbit/s.
    pub up: MeanOfRuns,
    /// Of both, Mbit/s.
    pub total: MeanOfRuns,
}

/// A mean over the replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeanOfRuns {
    /// The mean.
    pub mean: f64,
    /// Its 95 % interval, Student's t; null for one replication.
    pub ci95: Option<[f64; 2]>,
}

/// The queue of the access point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPoint {
    /// Packets with payload, SYN, FIN, and datagrams.
    pub data: QueueLosses,
    /// Bare acknowledgements.
    pub acks: QueueLosses,
}

/// Packets of one kind at a queue, sums over the replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueLosses {
    /// Offered, packets.
    pub arrivals: u64,
    /// Dropped, packets.
    pub drops: u64,
    /// Share that was dropped; null without arrivals.
    pub loss: Option<f64>,
}

/// Both directions of the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellDirections {
    /// From the access point to a station.
    pub down: CellDirection,
    /// From a station.
    pub up: CellDirection,
}

/// Transfers of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellDirection {
    /// How many.
    pub flows: u64,
    /// Of these, those that finished.
    pub completed: u64,
    /// Mean over the TCP flows of their mean round-trip time, seconds.
    pub rtt_mean_s: Option<f64>,
    /// Mean over the TCP flows of their mean congestion window, packets.
    pub cwnd_mean_packets: Option<f64>,
    /// Response times of the short ones, classed in this direction.
    pub short: CellClass,
    /// Response times of the long ones.
    pub long: CellClass,
    /// What TCP sent.
    pub load_mbps: TcpLoad,
    /// Flows that have started and not finished.
    pub active_flows: ActiveFlows,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Packets of these flows that a queue dropped, packets.
    pub drops: u64,
}

/// Response times of a class of completed TCP flows of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellClass {
    /// Mean response time, seconds.
    pub mean_s: Option<f64>,
    /// Its 95 % interval, seconds.
    pub ci95: Option<[f64; 2]>,
    /// How many.
    pub flows: u64,
    /// Mean size, packets.
    pub mean_size_packets: Option<f64>,
    /// Mean time for which a packet of a flow was at the access point, seconds.
    pub presence_mean_s: Option<f64>,
}

/// What TCP sent over the whole run, on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpLoad {
    /// For the first time, Mbit/s.
    pub first: f64,
    /// Again, Mbit/s.
    pub again: f64,
}

/// Frames of all nodes, sums over the replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mac {
    /// Sent, frames.
    pub attempts: u64,
    /// Of these, sent again, frames.
    pub retries: u64,
    /// Of these, in collisions, frames.
    pub collided: u64,
    /// Of these, damaged by noise, frames.
    pub damaged: u64,
    /// Acknowledged, frames.
    pub acked: u64,
    /// Given up after the last retry, frames.
    pub given_up: u64,
    /// Dropped by the queue of the access point, packets.
    pub queue_drops: u64,
    /// Retries over attempts; null without any.
    pub retry_rate: Option<f64>,
    /// Collided over attempts; null without any.
    pub collision_rate: Option<f64>,
    /// Share of the time for which the medium was taken.
    pub busy: f64,
}

/// Jain's indices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellJain {
    /// Of the goodput of TCP flows that never end.
    pub flows: Option<f64>,
    /// Of the payload to and from each station that has flows.
    pub stations: Option<f64>,
    /// Of their time on the air.
    pub airtime: Option<f64>,
}

/// One station, means over the replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// Its number, from 0.
    pub station: u64,
    /// Its rate as the scenario has it.
    pub rate: Option<String>,
    /// Payload to it, Mbit/s.
    pub down_mbps: f64,
    /// Payload from it, Mbit/s.
    pub up_mbps: f64,
    /// Share of time for which the medium was taken for it, either way.
    pub airtime: f64,
    /// Share of the frames it sent that collided; null without any.
    pub collision_rate: Option<f64>,
}
