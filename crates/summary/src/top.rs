//! The document of `mayfly compare`, `whatif` and `simulate`.

use std::collections::BTreeMap;

use account::Accounted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capture::{Capture, ErrorShares, Guess, Resampling};
use crate::link::Links;
use crate::models::{Model, ModelQueue};
use crate::recommendation::Recommendation;
use crate::row::DisciplineRow;
use crate::worst::{Course, Worst};

/// `summary.json`. With `warm_up` all counters and averages of the queues are taken from then on; flow records, `udp` and `packet_hops`
/// are those of the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Version of the document: 1.
    pub schema: u64,
    /// `compare`, `whatif` or `simulate`.
    pub command: String,
    /// All fields of the scenario as they ran ([](reference.md)).
    pub scenario: Map<String, Value>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Independent runs of each discipline.
    pub replications: u64,
    /// End of the run, seconds.
    pub duration_s: f64,
    /// What the flows bring.
    pub workload: Workload,
    /// The link; null for several links and for a cell.
    pub links: Option<Links>,
    /// Hosts.
    pub transport: Transport,
    /// A row for each discipline, in the order in which they were named, at the link itself: `recommendation.as_loaded` has figures
    /// of the command.
    pub disciplines: Vec<DisciplineRow>,
    /// What to use; null with fewer than two disciplines that can be switched on, for a network that is not one link, and without what
    /// users feel.
    pub recommendation: Option<Recommendation>,
    /// What may surprise, in sentences without a full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// `linux` or `both`, of `--engine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The kernel over the simulator, a row for each discipline, of `--engine both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<EngineRatios>>,
    /// By label what queueing models expect, of `--models`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<BTreeMap<String, Model>>,
    /// The queue of these models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_queue: Option<ModelQueue>,
    /// Hours that were resampled, of `whatif`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampling: Option<Resampling>,
    /// The capture, of `whatif`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
    /// What became of the captures and lists that were read, for each of them; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Vec<Accounted>>,
    /// What was left out because a limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// What the capture lacks, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The link that the capture shows, where none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guess>,
    /// The answer in words, of `whatif`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Vec<String>>,
    /// Errors of such predictions by kind of figure, of `whatif`; null where none were learned of such a replay.
    #[serde(default, deserialize_with = "crate::shared::known", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-nullable" = true))]
    pub expected_errors: Option<Option<BTreeMap<String, ErrorShares>>>,
    /// Who waits longest, of `whatif` with two disciplines or more in the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
    /// The link over time, of the baseline and of the discipline that `worst` compares it with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Vec<Course>>,
    /// Paths of what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
}

/// What the flows bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// How many flows.
    pub flows: u64,
    /// Their payload, bytes.
    pub bytes: u64,
    /// Offered in the direction with more, Mbit/s.
    pub offered_mbps: f64,
    /// Offered down, Mbit/s; null where there is no time to offer it in.
    pub offered_down_mbps: Option<f64>,
    /// Offered up, Mbit/s.
    pub offered_up_mbps: Option<f64>,
    /// `flow_id` of the three largest.
    pub largest_flows: Vec<i64>,
}

/// Hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Preset of `[tcp]`; null for none.
    pub preset: Option<String>,
    /// Release of Linux whose TCP the hosts have, `tcp.kernel`; null where `tcp.recovery` is none of Linux.
    pub kernel: Option<String>,
    /// The baseline and the best once more with other hosts, of `whatif`.
    pub other: Option<OtherHosts>,
}

/// The baseline and the best with other hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherHosts {
    /// Their preset.
    pub preset: String,
    /// What changes.
    pub sentence: String,
}

/// The kernel over the simulator, for one discipline; null where one has no value or that of the simulator is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineRatios {
    /// Of the simulator.
    pub label: String,
    /// Mean response times of short flows.
    pub short: Option<f64>,
    /// Mean response times of long flows.
    pub long: Option<f64>,
    /// Uses of the link.
    pub utilisation: Option<f64>,
    /// Drops.
    pub drops: Option<f64>,
    /// Mean queues.
    pub queue_mean_packets: Option<f64>,
    /// Unfinished flows.
    pub flows_unfinished: Option<f64>,
}
