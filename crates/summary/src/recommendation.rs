//! What to use, and how to switch it on.

use std::collections::BTreeMap;

use metrics::RecommendationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `recommendation` of the summary ([](recommendation.md)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recommendation {
    /// In one word.
    pub kind: RecommendationKind,
    /// Label of the discipline; null where none is better than what is there.
    pub discipline: Option<String>,
    /// Labels of those that do as well.
    pub equal: Vec<String>,
    /// Where it runs, by the registry.
    pub runs_on: Vec<String>,
    /// What gets better, a clause each.
    pub gives: Vec<String>,
    /// What gets worse, a clause each.
    pub costs: Vec<String>,
    /// The line of Mayfly that shapes both directions; lines of tc for a shell where Mayfly cannot load the discipline; null where there
    /// is none.
    pub command: Option<String>,
    /// How to switch it on with tc; null without a discipline, for a bound and for a link that varies.
    pub commands: Option<Commands>,
    /// What disciplines give where the command puts them, the recommended one first, then those that are as good at the link;
    /// empty without commands, and where none was run. `gives`, `costs`, `equal` and `sentence` are of these where there are some.
    pub as_loaded: Vec<AsLoaded>,
    /// What the recommended discipline gives at the link itself, in words; empty where `sentence` says so.
    pub at_the_link: String,
    /// What the answer cannot know; empty where there is nothing.
    pub doubt: String,
    /// All in words: the first line of the terminal.
    pub sentence: String,
    /// Page of the documentation that states the rule.
    pub rule: String,
}

/// The workload once more, with the discipline where the command puts it ([](recommendation.md#as-loaded)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AsLoaded {
    /// Label of the discipline.
    pub discipline: String,
    /// Values of users' measures by id: times in seconds, else the measure's unit; null where a time falls on what never ends.
    pub figures: BTreeMap<String, Option<f64>>,
    /// Resampled hours that ran so; 0 of those that are not recommended.
    pub hours: u64,
    /// 95 % intervals of `figures` from these hours, by id; without those that have none.
    pub ci95: BTreeMap<String, [f64; 2]>,
    /// Packets per second that the box forwards at these rates, `down` and `up`, of the mean length that the workload has.
    pub packets_per_s: BTreeMap<String, f64>,
}

/// Lines for a shell, with `eth0` as the interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// One line of tc without a shaper.
    pub line: Option<String>,
    /// The line of Mayfly that shapes both directions; null where there is none.
    pub load: Option<String>,
    /// Rate of the shaper of what arrives, bit/s.
    pub down_bps: u64,
    /// Rate of the shaper of what is sent, bit/s.
    pub up_bps: u64,
    /// Lines of tc for what is sent, with a shaper at 95 % of its rate.
    pub up: Vec<String>,
    /// Lines of tc for what arrives, with a shaper at 95 % of its rate.
    pub down: Vec<String>,
    /// Older name of `up`.
    pub shaped: Vec<String>,
    /// Older name of `down`.
    pub arriving: Vec<String>,
}
