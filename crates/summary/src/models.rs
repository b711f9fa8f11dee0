//! What queueing models expect of a discipline ([](models/mg1.md#beside-a-simulation)); what is infinite is null.

use crate::link::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policy of the M/G/1 queue next to the simulation of the discipline for which it stands. Means are over the completed TCP flows of
/// the busier direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Id in `mayfly.models.queue.policies`.
    pub policy: String,
    /// Name of the policy.
    pub title: String,
    /// Where its equation comes from.
    pub source: String,
    /// Size at which the policy changes, or several of them, on the wire, bytes; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Thresholds>,
    /// By how much a user may be behind, bytes; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_lag: Option<f64>,
    /// By how much a transfer may be behind in its user, bytes; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_lag: Option<f64>,
    /// Speed of the clock of the link, as a share of that of the link; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<f64>,
    /// How many users; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<f64>,
    /// Uploads per download; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uploads: Option<f64>,
    /// Bytes of acknowledgements per byte of data; absent of policies without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<f64>,
    /// Mean response time of the model, seconds.
    pub mean_s: Option<f64>,
    /// Mean response time of the simulation, seconds.
    pub simulated_mean_s: Option<f64>,
    /// Short flows.
    pub short: ModelClass,
    /// Long flows.
    pub long: ModelClass,
    /// Median of `error` over the rows of `by_size`, each counted once.
    pub error_median: Option<f64>,
    /// 90 % quantile of the size of `error` over these rows.
    pub error_p90: Option<f64>,
    /// Five classes of size per factor of ten.
    pub by_size: Vec<ModelSizes>,
    /// Response time of the model over size, up to the largest size that ends.
    pub curve: ModelCurve,
}

/// One threshold, or several in ascending order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Thresholds {
    /// One.
    One(f64),
    /// Several.
    Several(Vec<f64>),
}

/// A class of flows in model and simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelClass {
    /// How many.
    pub flows: u64,
    /// Mean response time of the simulation, seconds.
    pub simulated_s: Option<f64>,
    /// Half the 95 % interval of that mean, blocks of the run taken for independent, seconds.
    pub ci95_s: Option<f64>,
    /// Mean response time of the model, seconds.
    pub model_s: Option<f64>,
    /// Model over simulation less 1.
    pub error: Option<f64>,
}

/// Flows of similar sizes in model and simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSizes {
    /// Sizes from this one on, packets.
    pub size_packets_low: u64,
    /// Up to this one, packets.
    pub size_packets_high: u64,
    /// How many.
    pub flows: u64,
    /// Mean response time of the simulation, seconds.
    pub simulated_mean_s: Option<f64>,
    /// Half the 95 % interval of that mean, seconds.
    pub ci95_s: Option<f64>,
    /// Mean response time of the model, seconds.
    pub model_mean_s: Option<f64>,
    /// Model over simulation less 1.
    pub error: Option<f64>,
}

/// Response time of a model over size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelCurve {
    /// Sizes, packets.
    pub size_packets: Vec<u64>,
    /// Response time of each, seconds.
    pub mean_s: Vec<f64>,
}

/// The queue of the models. Where no model is possible, `notes` and `with_path` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelQueue {
    /// Whether the time that a flow takes alone beyond its bytes is added.
    pub with_path: bool,
    /// Load that the flows offer with all headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// How many flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// Their mean size on the wire, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// Coefficient of variation of their sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cov: Option<f64>,
    /// The busier direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Labels of disciplines without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_model: Option<Vec<String>>,
    /// What has no model, starves or is left out, in words.
    pub notes: Vec<String>,
}
