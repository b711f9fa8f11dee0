//! What several objects of the document have.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A key that is there, null or not.
pub(crate) fn known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(from).map(Some)
}

/// Response times of a class of completed TCP flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResponseTimes {
    /// Mean response time, seconds.
    pub mean_s: Option<f64>,
    /// 95 % interval of the mean, seconds: normal over flows with one replication, Student's t over the means of two or more; of
    /// resampled hours as [](recommendation.md#intervals) has it. Null with fewer than two values.
    pub ci95: Option<[f64; 2]>,
    /// How many.
    pub flows: u64,
    /// Mean size, packets.
    pub mean_size_packets: Option<f64>,
}

/// Flow table of a discipline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowTable {
    /// Mean number of entries.
    pub mean: Option<f64>,
    /// Most entries.
    pub max: Option<u64>,
    /// Memory held for flows at the end of the run, the largest of all replications, bytes. Tables count as they are allocated, without
    /// the packets; they do not shrink.
    pub bytes: Option<u64>,
}

/// Rates of both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// Toward the receivers of a scenario, or the internal side of a capture, Mbit/s.
    pub down: f64,
    /// The other way, Mbit/s.
    pub up: f64,
}

/// Waits of packets at a queue, pooled over the replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueDelay {
    /// How many packets.
    pub packets: u64,
    /// Mean, seconds.
    pub mean_s: Option<f64>,
    /// Standard deviation over packets, seconds.
    pub deviation_s: Option<f64>,
    /// Longest, seconds.
    pub max_s: Option<f64>,
    /// Mean over the round-trip time without queueing, the mean over the flows of their own or of the scenario's (Zhao 2004, IV.A.3); null
    /// where there is none, absent of a class.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-nullable" = true))]
    pub relative: Option<Option<f64>>,
}

/// Flows in the network at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActiveFlows {
    /// Over time.
    pub mean: Option<f64>,
    /// At once.
    pub max: Option<u64>,
}

/// Slowdown that so many of 100 transfers stay within; null where that is one that did not finish. Endless flows and transfers that
/// start in the last tenth of the run do not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slowdown {
    /// Half of them.
    pub p50: Option<f64>,
    /// 95 of 100.
    pub p95: Option<f64>,
    /// 99 of 100.
    pub p99: Option<f64>,
}

/// Times of many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeanTimes {
    /// How many.
    pub count: u64,
    /// Of these, those that did not finish.
    pub unfinished: u64,
    /// Mean of the others, seconds.
    pub mean_s: Option<f64>,
    /// Median, seconds.
    pub p50_s: Option<f64>,
    /// 95 of 100 take at most this, seconds.
    pub p95_s: Option<f64>,
}
