//! Who suffers: the exchanges that are delayed most, and the link over time, before and after.

use metrics::OverTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The exchanges that the baseline delays most, before and after ([](users.md#who-waits-longest)). Both are of disciplines at the
/// link itself, not of the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worst {
    /// Label of the baseline.
    pub before: String,
    /// Label of the discipline that is recommended; that of the best other one where none is.
    pub after: String,
    /// Ten at most, the most delayed one first.
    pub exchanges: Vec<WorstExchange>,
}

/// An exchange of the capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorstExchange {
    /// Address of the end that opened its connection.
    pub client: String,
    /// Its port; null where it has none.
    pub client_port: Option<u64>,
    /// Address of the other end.
    pub server: String,
    /// Its port.
    pub server_port: Option<u64>,
    /// Where its larger part goes: `down` or `up`.
    pub direction: String,
    /// Payload of the larger part, bytes.
    pub size_bytes: u64,
    /// When it begins under the baseline, from the start of the replay, seconds.
    pub start_s: f64,
    /// How long it takes under the baseline, seconds; null when it does not end.
    pub before_s: Option<f64>,
    /// How long it takes after, seconds; null when it does not end.
    pub after_s: Option<f64>,
    /// How long it takes where its connection is alone on the link, seconds; null when it does not end there either.
    pub idle_s: Option<f64>,
}

/// The link over time under one discipline, at the link itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// Label of the discipline.
    pub label: String,
    /// What it carries, and how long packets wait.
    pub course: OverTime,
}
