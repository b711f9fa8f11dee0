//! What to use, and how to switch it on.

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
    /// What the answer cannot know; empty where there is nothing.
    pub doubt: String,
    /// All in words: the first line of the terminal.
    pub sentence: String,
    /// Page of the documentation that states the rule.
    pub rule: String,
}

/// Lines for a shell, with `eth0` as the interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// One line of tc without a shaper.
    pub line: Option<String>,
    /// The line of Mayfly that shapes both directions; null where there is none.
    pub load: Option<String>,
    /// Lines of tc for what is sent, with a shaper at 95 % of its rate.
    pub up: Vec<String>,
    /// Lines of tc for what arrives, with a shaper at 95 % of its rate.
    pub down: Vec<String>,
    /// Older name of `up`.
    pub shaped: Vec<String>,
    /// Older name of `down`.
    pub arriving: Vec<String>,
}
