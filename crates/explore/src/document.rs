//! Workloads as documents, as `mayfly.explore.documents` writes them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use settings::FlowColumns;

/// A scenario with its flows drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// By which requests name it.
    pub name: String,
    /// For people.
    pub title: String,
    /// `preset`, or `template` for the frame of captures.
    pub kind: String,
    /// Text of the scenario, for the page only.
    #[serde(default)]
    pub scenario_toml: IgnoredAny,
    /// Name of the bundled scenario, for the page only.
    #[serde(default)]
    pub scenario: IgnoredAny,
    /// `same` where the way up has the discipline of the way down, else its name.
    pub reverse_discipline: String,
    /// Of the run, as `mayfly._native.run` takes them.
    pub settings: Box<RawValue>,
    /// Names of the first rows of the flows.
    pub probes: Vec<String>,
    /// All flows, probes first.
    pub flows: FlowColumns,
    /// Names of the classes of the flows; null for flows without a group.
    pub groups: Vec<Option<String>>,
    /// A single ping.
    pub alone: Option<FlowColumns>,
    /// What the page may add, for the page only.
    #[serde(default)]
    pub attacks: IgnoredAny,
}
