//! Workloads as documents, as `mayfly.explore.documents` writes them.

use metrics::ProbeName;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use settings::FlowColumns;

use crate::attack::Offered;

/// A scenario with its flows drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// By which requests name it.
    pub name: String,
    /// For people.
    pub title: String,
    /// `preset`, or `template` for the frame of captures; for the page only, as the two that follow.
    #[serde(rename = "kind")]
    pub _kind: IgnoredAny,
    /// Text of the scenario.
    #[serde(rename = "scenario_toml")]
    pub _scenario_toml: IgnoredAny,
    /// Name of the bundled scenario.
    #[serde(rename = "scenario")]
    pub _scenario: IgnoredAny,
    /// `same` where the way up has the discipline of the way down, else its name.
    pub reverse_discipline: String,
    /// Of the run, as `mayfly._native.run` takes them.
    pub settings: Box<RawValue>,
    /// What the first rows of the flows measure.
    pub probes: Vec<ProbeName>,
    /// Of pings, s.
    pub ping_interval_s: f64,
    /// All flows, probes first.
    pub flows: FlowColumns,
    /// Names of the classes of the flows; null for flows without a group.
    pub groups: Vec<Option<String>>,
    /// A single ping.
    pub alone: Option<FlowColumns>,
    /// Attacks that a request may add.
    pub attacks: Vec<Offered>,
}
