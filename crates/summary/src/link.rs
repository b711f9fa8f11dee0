//! Both directions of a link: what it is and what is offered to it, and what its queues did.

use metrics::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Toward the receivers of a scenario, or the internal side of a capture.
    Down,
    /// The other way.
    Up,
}

/// `links` of the summary: the link, and what the workload offers to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The direction that is offered the larger share of its rate; of equal shares the one that used more.
    pub busier: Direction,
    /// Toward the receivers of a scenario, or the internal side of a capture: the forward queue.
    pub down: LinkDirection,
    /// The other way.
    pub up: LinkDirection,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDirection {
    /// Rate, bit/s; the mean where it varies.
    pub rate_bps: f64,
    /// Limit of its queue, and the unit of the limit.
    pub buffer: (u64, Unit),
    /// Offered by the workload, Mbit/s; null where there is no load to name.
    pub offered_mbps: Option<f64>,
    /// The same as a share of the rate.
    pub load: Option<f64>,
    /// How the rate varies; absent where it is constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<LinkTrace>,
    /// The shaper of the scenario in this direction; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<LinkShaper>,
}

/// What paces packets before a link or behind it, with the discipline and the buffer of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkShaper {
    /// Rate, bit/s; null where a controller moves it.
    pub rate_bps: Option<u64>,
    /// Whether it is behind the link, as for what arrives at a router.
    pub behind: bool,
}

/// The trace of a link that varies; percentiles are of seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTrace {
    /// Its file.
    pub file: String,
    /// `steps` of a rate, or `opportunities` to send a packet.
    pub format: String,
    /// Lines of it.
    pub entries: u64,
    /// Time after which it begins again, seconds.
    pub period_s: f64,
    /// Mean rate, bit/s.
    pub mean_bps: f64,
    /// 5 of 100 seconds have at most this, bit/s.
    pub p5_bps: f64,
    /// Median, bit/s.
    pub median_bps: f64,
    /// 95 of 100 seconds have at most this, bit/s.
    pub p95_bps: f64,
    /// Times without any rate.
    pub outages: u64,
    /// Together, seconds.
    pub outages_s: f64,
    /// The longest, seconds.
    pub longest_outage_s: f64,
    /// Most delay that the trace adds, seconds.
    pub added_delay_max_s: f64,
}

/// `links` of a row: what both queues did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksUse {
    /// The forward queue.
    pub down: LinkUse,
    /// The reverse one.
    pub up: LinkUse,
}

/// What one queue did from `warm_up` on; null is what a kernel does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkUse {
    /// Share of the rate that was sent.
    pub utilisation: Option<f64>,
    /// Dropped, packets.
    pub drops: Option<u64>,
    /// Marked with congestion experienced, packets.
    pub marks: Option<u64>,
    /// Mean length, packets.
    pub queue_mean_packets: Option<f64>,
    /// Mean wait, seconds; null where nothing left the queue.
    pub queue_delay_mean_s: Option<f64>,
    /// Sent, Mbit/s.
    pub throughput_mbps: Option<f64>,
    /// Largest share of a second of the run for which this direction was sending, probes included.
    pub peak_utilisation: Option<f64>,
}
