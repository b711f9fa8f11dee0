//! Groups of flows: what each got, and what its packets met.

use crate::link::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::{QueueDelay, ResponseTimes, Slowdown};

/// One group. Flows of the direction `down` only; a *user* is a pair of hosts, `src` and `dst`, within a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name of the group; null of flows without one.
    pub group: Option<String>,
    /// How many users.
    pub users: u64,
    /// How many flows, over all replications.
    pub flows: u64,
    /// Share of the link's rate that the receivers got (payload in order, with headers), over the time in which a flow of the group was
    /// on; null without such a time.
    pub share: Option<f64>,
    /// The same if at every instant the link were shared equally among the users with something to send: a fluid link, without round-trip
    /// times or losses, on which a user is one user however many connections it has, and a UDP user takes no more than it sends.
    pub fair_share: Option<f64>,
    /// `share / fair_share`.
    pub ratio: Option<f64>,
    /// Packets dropped over packets sent by the senders of the data.
    pub loss: Option<f64>,
    /// Longest time without progress of a flow of the group, among the three largest flows of the workload, seconds; null when none of
    /// them is in it. Short by up to two sampling intervals.
    pub longest_stall_s: Option<f64>,
    /// Slowdown of the transfers of the group; null when none can end.
    pub slowdown: Option<Slowdown>,
    /// Transfers that can end and did not.
    pub unfinished: u64,
}

/// What the packets of one group met at the forward queue from `warm_up` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRow {
    /// Name of the group; null of flows without one.
    pub group: Option<String>,
    /// Offered, sum over the replications, packets.
    pub arrivals: u64,
    /// Dropped, sum over the replications, packets.
    pub drops: u64,
    /// Sent with a mark of congestion, sum over the replications, packets.
    pub marks: u64,
    /// Share of the packets that the queue sent.
    pub share: f64,
    /// Share of the rate of the link, on the wire; in a cell, of the fastest station's rate.
    pub link_share: f64,
    /// Sent on the wire, Mbit/s.
    pub throughput_mbps: f64,
    /// Dropped over offered.
    pub drop_rate: f64,
    /// Marked over offered.
    pub mark_rate: f64,
    /// 95 % interval of `share`, Student's t over the replications; null for one.
    pub share_ci95: Option<[f64; 2]>,
    /// Waits of the packets that left the queue.
    pub queueing_delay: QueueDelay,
}

/// Transfers of one group in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupTransfers {
    /// Name of the group; null of flows without one.
    pub group: Option<String>,
    /// Direction of the data.
    pub direction: Direction,
    /// How many.
    pub flows: u64,
    /// Of these, those that finished.
    pub completed: u64,
    /// Response times of the short ones, classed within the group and direction.
    pub short: ResponseTimes,
    /// Response times of the long ones.
    pub long: ResponseTimes,
}
