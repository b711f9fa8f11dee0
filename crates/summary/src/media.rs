//! Calls, films and games of a workload: means over those of a group.

use crate::link::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `media` of a row ([](how-to/workloads.md#calls-films-and-games)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// Calls by group and direction.
    pub calls: Vec<CallGroup>,
    /// Films by group.
    pub films: Vec<FilmGroup>,
    /// Games by group.
    pub games: Vec<GameGroup>,
}

/// Calls of a group in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallGroup {
    /// Name of the group.
    pub group: Option<String>,
    /// Direction of the media.
    pub direction: Direction,
    /// How many.
    pub calls: u64,
    /// Rate of the frames that came whole, Mbit/s.
    pub rate_mbps: Option<f64>,
    /// Share of the packets that were lost.
    pub loss: Option<f64>,
    /// Median delay from the making of a unit to its last packet, milliseconds.
    pub delay_p50_ms: Option<f64>,
    /// 95 of 100 are delayed by at most this, milliseconds.
    pub delay_p95_ms: Option<f64>,
    /// Mean interarrival jitter of the speech, milliseconds.
    pub jitter_ms: Option<f64>,
    /// Mean opinion score of the speech, by the E-model.
    pub mos: Option<f64>,
    /// Share of the time in which the video stood still.
    pub frozen: Option<f64>,
}

/// Films of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilmGroup {
    /// Name of the group.
    pub group: Option<String>,
    /// How many.
    pub films: u64,
    /// Rate of the segments that came, Mbit/s.
    pub rate_mbps: Option<f64>,
    /// Changes of the rate.
    pub switches: Option<f64>,
    /// From the request to the first image, seconds.
    pub startup_s: Option<f64>,
    /// How often a film stood still.
    pub stalls: Option<f64>,
    /// For how long, seconds.
    pub stalled_s: Option<f64>,
    /// Time that it played or stood still, seconds.
    pub watched_s: Option<f64>,
    /// Share of that time in which it stood still.
    pub stalled_share: Option<f64>,
}

/// Games of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GameGroup {
    /// Name of the group.
    pub group: Option<String>,
    /// How many.
    pub streams: u64,
    /// Frames of a stream.
    pub frames: Option<f64>,
    /// Share of them that came after their deadline.
    pub late: Option<f64>,
    /// Share of them of which a packet did not come.
    pub lost: Option<f64>,
    /// Median delay from the making of a frame to its last packet, milliseconds.
    pub delay_p50_ms: Option<f64>,
    /// 95 of 100 are delayed by at most this, milliseconds.
    pub delay_p95_ms: Option<f64>,
    /// 99 of 100 are delayed by at most this, milliseconds.
    pub delay_p99_ms: Option<f64>,
}
