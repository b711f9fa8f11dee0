//! Runs of streams ([](how-to/streams.md)): counts, sums and sketches in place of records.

use std::collections::BTreeMap;

use account::Accounted;
use metrics::{BinFigures, ClassFigures, Quantiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::shared::{FlowTable, Throughput};
use crate::top::Transport;

/// `summary.json` of `mayfly simulate --stream`, `--engine fluid` and `--engine both`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSummary {
    /// Version of the document.
    pub schema: u64,
    /// `simulate`.
    pub command: String,
    /// Always true.
    pub stream: bool,
    /// All fields of the scenario as they ran.
    pub scenario: Map<String, Value>,
    /// Seed of all random streams.
    pub seed: u64,
    /// 1.
    pub replications: u64,
    /// End of the run, seconds.
    pub duration_s: f64,
    /// What the flows bring.
    pub workload: StreamWorkload,
    /// Hosts.
    pub transport: Transport,
    /// One row.
    pub disciplines: Vec<StreamRow>,
    /// The row of the fluid engine, next to that of packets, of `--engine both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluid: Option<StreamRow>,
    /// The fluid engine against packets, by size, of `--engine both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluid_errors: Option<Vec<FluidError>>,
    /// What became of the list that was read; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Vec<Accounted>>,
    /// `simulator`, `fluid` or `both`.
    pub engine: String,
    /// Paths of what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
}

/// What the flows of a stream bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamWorkload {
    /// How many flows.
    pub flows: u64,
    /// Their payload, bytes.
    pub bytes: u64,
}

/// One discipline under a stream. Keys that are absent are not of the fluid engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamRow {
    /// Of the registry.
    pub id: String,
    /// Family of the registry.
    pub family: String,
    /// As it was written.
    pub label: String,
    /// Options that are not as they come, by name, as plain numbers or words.
    pub options: BTreeMap<String, String>,
    /// The smaller transfers, which carry half of the bytes.
    pub short: ClassFigures,
    /// The larger ones.
    pub long: ClassFigures,
    /// Response times of all that were complete.
    pub all: StreamAll,
    /// The same for each class of sizes, three to a factor of ten.
    pub by_size: Vec<BinFigures>,
    /// Flows that were complete.
    pub flows_completed: u64,
    /// Flows that began and were not.
    pub flows_unfinished: u64,
    /// Of these, those that have no end.
    pub flows_endless: u64,
    /// Payload of the unfinished flows that have an end, bytes.
    pub unfinished_bytes: u64,
    /// Payload that the unfinished flows delivered, bytes.
    pub unfinished_delivered_bytes: u64,
    /// How exact the quantiles are.
    pub sketch: Sketch,
    /// Sent again, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Expiries of retransmission timers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Share of the rate of the forward link that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<f64>,
    /// Dropped by the forward queue, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u64>,
    /// Marked by the forward queue, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<u64>,
    /// Mean length of the forward queue, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_mean_packets: Option<f64>,
    /// Processor time of the simulation, seconds.
    pub cpu_s: f64,
    /// Packets that crossed a link, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_hops: Option<u64>,
    /// The flow table of the discipline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_table: Option<FlowTable>,
    /// What each direction of the link sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_mbps: Option<Throughput>,
    /// The policy that stands for the discipline, of the fluid engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// Response times of all flows of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamAll {
    /// Flows that were complete.
    pub flows: u64,
    /// Mean response time, seconds.
    pub mean_s: Option<f64>,
    /// Normal 95 % interval of that mean over flows, seconds.
    pub ci95: Option<[f64; 2]>,
    /// Quantiles of the response time.
    pub quantiles_s: Quantiles,
}

/// How exact quantiles are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sketch {
    /// `DDSketch`.
    pub kind: String,
    /// Largest error of a quantile, as a share of its value.
    pub bound: f64,
    /// Share in which sizes were counted together; 0 for none.
    pub size_step: f64,
}

/// The fluid engine against packets, of flows of similar sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidError {
    /// Sizes from this one on, packets.
    pub from_packets: u64,
    /// Up to below this one, packets.
    pub below_packets: u64,
    /// Flows that were complete.
    pub flows: u64,
    /// Mean response time of packets, seconds.
    pub packets_mean_s: f64,
    /// Mean response time of the fluid, seconds.
    pub fluid_mean_s: f64,
    /// Error of that mean, as a share.
    pub error: f64,
    /// Error of the 95 % quantile, as a share; null where that of packets is 0.
    pub error_p95: Option<f64>,
}

/// `summary.json` of `mayfly simulate --windows`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowsSummary {
    /// Version of the document.
    pub schema: u64,
    /// `simulate`.
    pub command: String,
    /// Always true.
    pub stream: bool,
    /// As it was written.
    pub discipline: String,
    /// All fields of the scenario as they ran.
    pub scenario: Map<String, Value>,
    /// Seed of all random streams.
    pub seed: u64,
    /// End of the run, seconds.
    pub duration_s: f64,
    /// What the windows came to.
    pub windows: Windows,
    /// Paths of what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
}

/// Windows of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// How many.
    pub windows: u64,
    /// Flows that had not ended with their window.
    pub flows_crossing: u64,
    /// What a cold start does to flows right behind a seam.
    pub seam: Seam,
    /// All flows.
    pub all: WindowMeans,
    /// Flows of each class of sizes.
    pub by_size: Vec<WindowSizes>,
    /// By how much a window begins early and ends late, seconds.
    pub overlap_s: f64,
    /// Processor time of the simulation, seconds.
    pub cpu_s: f64,
}

/// Flows that ran twice, at the end of a window and at the beginning of the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seam {
    /// How many.
    pub flows: u64,
    /// Their mean response time in the window before, seconds.
    pub mean_s: Option<f64>,
    /// Difference of a cold start, seconds.
    pub mean_difference_s: Option<f64>,
    /// 95 % interval of the difference, Student's t over seams, seconds.
    pub ci95: Option<[f64; 2]>,
}

/// Mean response time over windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowMeans {
    /// How many flows.
    pub flows: u64,
    /// Mean over the windows, seconds.
    pub windows_mean_s: f64,
    /// Correction by the fluid twin of the whole run, seconds.
    pub correction_s: f64,
    /// The corrected mean, seconds.
    pub mean_s: f64,
    /// Its 95 % interval, Student's t over windows, seconds.
    pub ci95: [f64; 2],
}

/// The same of flows of similar sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowSizes {
    /// Sizes from this one on, packets.
    pub from_packets: u64,
    /// Up to below this one, packets.
    pub below_packets: u64,
    /// How many flows.
    pub flows: u64,
    /// Mean over the windows, seconds.
    pub windows_mean_s: f64,
    /// Correction by the fluid twin of the whole run, seconds.
    pub correction_s: f64,
    /// The corrected mean, seconds.
    pub mean_s: f64,
    /// Its 95 % interval, Student's t over windows, seconds.
    pub ci95: [f64; 2],
}
