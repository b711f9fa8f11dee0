//! Cloud gaming: videos at a constant frame rate and a constant bit rate, whatever the network does to them.
//!
//! The frames are made at equal distances, each a little larger or smaller than the mean; their packets leave at equal
//! distances within a share of the time to the next frame. The inputs of the player, a few kbit/s the other way, are
//! not sent.

use serde::Deserialize;
use units::{Stream, Time};

use super::gcc::Ack;
use super::stream::Medium;
use super::{LONGEST_NS, Source, Unit, frame_at, frame_factor, within};
use crate::error::ConfigError;

/// Settings of a stream of videos.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gaming {
    /// From its first packet on.
    #[serde(rename = "duration_ns")]
    pub duration: Time,
    /// Mean rate, without IP and UDP headers, bit/s.
    pub rate_bps: u64,
    /// Frames per second.
    pub fps: u32,
    /// Scale of the law of frame sizes, as a share of the mean.
    pub variation: f64,
    /// Share of the time between two frames over which the packets of a frame leave; 0 for all at once.
    pub spread: f64,
}

impl Gaming {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within(&[
            ("gaming: duration_ns", self.duration.0 as f64, 1.0, LONGEST_NS as f64, "above 0 and at most 2 years"),
            ("gaming: rate_bps", self.rate_bps as f64, 5_000.0, 1e10, "from 5 kbit/s to 10 Gbit/s"),
            ("gaming: fps", f64::from(self.fps), 1.0, 1000.0, "from 1 to 1000"),
            ("gaming: variation", self.variation, 0.0, 0.5, "from 0 to 0.5"),
            ("gaming: spread", self.spread, 0.0, 1.0, "from 0 to 1"),
        ])
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    gaming: Gaming,
    start: Time,
    frames: u64,
    random: Stream,
}

impl Server {
    pub(super) fn start(gaming: Gaming, now: Time, random: Stream) -> Server {
        Server { gaming, start: now, frames: 0, random }
    }
}

impl Source for Server {
    fn due(&self) -> Time {
        let next = frame_at(self.start, self.frames, self.gaming.fps);
        if next < self.start + self.gaming.duration { next } else { Time::NEVER }
    }

    fn make(&mut self) -> Unit {
        self.frames += 1;
        let mean = self.gaming.rate_bps as f64 / (8.0 * f64::from(self.gaming.fps));
        let bytes = ((mean * frame_factor(self.gaming.variation, &mut self.random)) as u32).max(1);
        Unit { medium: Medium::Video, bytes, target_bps: self.gaming.rate_bps }
    }

    fn pace_bps(&self) -> Option<f64> {
        (self.gaming.spread > 0.0).then(|| self.gaming.rate_bps as f64 / self.gaming.spread)
    }

    fn report_every(&self) -> Option<Time> {
        None
    }

    fn on_report(&mut self, _acks: &[Ack], _now: Time) {}
}
