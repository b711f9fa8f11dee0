//! A film in segments, each at one of several bit rates: what a player of DASH or HLS asks for.
//!
//! Principle: the player asks for one segment after the other over one connection, and chooses the rate of each when it
//! asks. It begins to play when `startup` of the film has come, stands still when it has played all that came, and goes
//! on when `resume` has come, or the last segment. It does not ask while the next segment would not fit its buffer.
//!
//! - *throughput*: the highest rate that is at most `safety` times the harmonic mean of the throughput of the last
//!   `samples` segments, from the request to the last byte; the lowest before the first has come.
//! - *bola*: BOLA-BASIC of Spiteri, Urgaonkar, Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for Online Videos",
//!   INFOCOM 2016: the rate that maximises `(V (v + g) - Q) / S`, with the utility `v = ln(rate / lowest rate)`, `Q` the
//!   film in the buffer, `S` the rate, `g` = `gamma` and `V = (buffer - segment) / (v of the highest + g)`, so that the
//!   highest rate is asked for no sooner than the buffer is nearly full.
//!
//! Segments have a constant bit rate: `rate * duration / 8` bytes. Cost: some hundred instructions per segment.

use serde::Deserialize;
use tables::record;
use units::Time;

use super::{Dialogue, Exchange, LONGEST_NS, within};
use crate::error::ConfigError;

/// Rates of a ladder at most.
const MOST_LEVELS: usize = 64;
/// Segments of a film at most.
const MOST_SEGMENTS: u64 = 1_000_000;
/// Bytes of a film at its highest rate, at most: 2^40.
const MOST_BYTES: f64 = 1_099_511_627_776.0;

/// How the player chooses a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// By the throughput of the last segments.
    Throughput,
    /// By the buffer.
    Bola,
}

/// Settings of a player and its film.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// Rates of the film, ascending, bit/s.
    pub ladder_bps: Vec<u64>,
    /// Length of a segment.
    #[serde(rename = "segment_ns")]
    pub segment: Time,
    /// Segments of the film.
    pub segments: u64,
    /// Film that the player holds at most.
    #[serde(rename = "buffer_ns")]
    pub buffer: Time,
    /// Film with which it begins to play.
    #[serde(rename = "startup_ns")]
    pub startup: Time,
    /// Film with which it goes on after it stood still.
    #[serde(rename = "resume_ns")]
    pub resume: Time,
    /// How it chooses.
    pub rule: Rule,
    /// Throughput: share of the estimate that it dares to use.
    pub safety: f64,
    /// Throughput: segments that it looks back.
    pub samples: u32,
    /// Bola: weight of the rate against standing still, g.
    pub gamma: f64,
    /// Payload of a request, bytes.
    pub request_bytes: u64,
    /// Time until the server answers.
    #[serde(rename = "think_ns")]
    pub think: Time,
}

record! {
    /// A segment of a film that was asked for.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SegmentRecord in "segments" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// Place in the film, from 0.
        pub segment: u32 => "segment";
        /// Place of its rate in the ladder, from 0.
        pub level: u32 => "level";
        /// Its rate.
        pub rate_bps: u64 => "rate_bps", "bit/s";
        /// Its size.
        pub bytes: u64 => "size_bytes", "bytes";
        /// When it was asked for.
        pub asked: Time => "asked_s", "s";
        /// When its last byte had come; null when it had not.
        pub received: Time => "received_s", "s";
        /// Film in the buffer when it was asked for.
        pub buffer: Time => "buffer_s", "s";
        /// When the film stands still if no other segment comes; null while it does not play yet, or stands still.
        pub dry: Time => "dry_s", "s";
        /// Whether it is the last one of its film.
        pub last: bool => "last";
    }
}

impl Video {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let refused = |name, value: String, bound| Err(ConfigError::Value(name, value, bound));
        let rates = 1_000..=1_000_000_000;
        if self.ladder_bps.is_empty() || self.ladder_bps.len() > MOST_LEVELS {
            return refused("video: ladder_bps", format!("{} rates", self.ladder_bps.len()), "of 1 to 64 rates");
        }
        if let Some(rate) = self.ladder_bps.iter().find(|rate| !rates.contains(*rate)) {
            return refused("video: ladder_bps", rate.to_string(), "from 1 kbit/s to 1 Gbit/s");
        }
        if let Some(pair) = self.ladder_bps.windows(2).find(|pair| pair[0] >= pair[1]) {
            return refused("video: ladder_bps", pair[1].to_string(), "above the rate before it");
        }
        let (segment, hold) = (self.segment.0 as f64, self.buffer.0.saturating_sub(self.segment.0) as f64);
        let held = "above 0 and at most the buffer less a segment";
        within(&[
            ("video: segment_ns", segment, 1e7, 6e10, "from 10 ms to 60 s"),
            ("video: segments", self.segments as f64, 1.0, MOST_SEGMENTS as f64, "from 1 to 1000000"),
            ("video: buffer_ns", self.buffer.0 as f64, 2.0 * segment, LONGEST_NS as f64, "at least two segments"),
            ("video: startup_ns", self.startup.0 as f64, 1.0, hold, held),
            ("video: resume_ns", self.resume.0 as f64, 1.0, hold, held),
            ("video: safety", self.safety, 0.01, 2.0, "from 0.01 to 2"),
            ("video: samples", f64::from(self.samples), 1.0, 1000.0, "from 1 to 1000"),
            ("video: gamma", self.gamma, 0.001, 1000.0, "from 0.001 to 1000"),
            ("video: request_bytes", self.request_bytes as f64, 1.0, 1e6, "from 1 to 1000000 bytes"),
            ("video: think_ns", self.think.0 as f64, 0.0, 3.6e12, "at most 3600 s"),
        ])?;
        let all = self.segments as f64 * self.size_bytes(self.ladder_bps.len() - 1) as f64;
        within(&[("video: segments", all, 0.0, MOST_BYTES, "few enough for 2^40 bytes at the highest rate")])
    }

    /// Size of a segment of `level`, bytes.
    fn size_bytes(&self, level: usize) -> u64 {
        let bits_ns = u128::from(self.ladder_bps[level]) * u128::from(self.segment.0);
        ((bits_ns / 8_000_000_000) as u64).max(1)
    }

    /// The level that BOLA chooses with `buffer_s` of film in hand.
    fn bola(&self, buffer_s: f64) -> usize {
        let utility = |level: usize| libm::log(self.ladder_bps[level] as f64 / self.ladder_bps[0] as f64);
        let room_s = (self.buffer - self.segment).as_secs_f64();
        let control = room_s / (utility(self.ladder_bps.len() - 1) + self.gamma);
        let worth = |level: usize| (control * (utility(level) + self.gamma) - buffer_s) / self.ladder_bps[level] as f64;
        // Of equal ones the lowest.
        (1..self.ladder_bps.len()).fold(0, |best, level| if worth(level) > worth(best) { level } else { best })
    }

    /// The level that the throughput of some segments allows, bit/s each.
    fn fitting(&self, throughputs: &[f64]) -> usize {
        if throughputs.is_empty() {
            return 0;
        }
        let mean = throughputs.len() as f64 / throughputs.iter().map(|bps| 1.0 / bps).sum::<f64>();
        let most = self.safety * mean;
        self.ladder_bps.iter().rposition(|&rate| rate as f64 <= most).unwrap_or(0)
    }
}

/// Whether the film plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playing {
    /// So much has come, and it waits for `need` of it.
    Not { have: Time, need: Time },
    /// It plays, and has played all at this time.
    Until(Time),
}

#[derive(Debug)]
pub(crate) struct Player {
    video: Video,
    flow: u32,
    playing: Playing,
    /// Of the last segments, bit/s.
    throughputs: Vec<f64>,
    log: Vec<SegmentRecord>,
}

impl Player {
    pub(super) fn start(video: Video, flow: u32, _now: Time) -> Player {
        let playing = Playing::Not { have: Time::ZERO, need: video.startup };
        Player { video, flow, playing, throughputs: Vec::new(), log: Vec::new() }
    }

    /// Film in hand at `now`.
    fn buffer(&self, now: Time) -> Time {
        match self.playing {
            Playing::Not { have, .. } => have,
            Playing::Until(dry) => dry.saturating_sub(now),
        }
    }

    /// The segment that was asked for last has come.
    fn take(&mut self, now: Time) {
        let Some(row) = self.log.last_mut() else { return };
        row.received = now;
        let took_s = (now - row.asked).as_secs_f64();
        self.throughputs.push(row.bytes as f64 * 8.0 / took_s.max(1e-9));
        if self.throughputs.len() > self.video.samples as usize {
            self.throughputs.remove(0);
        }
        let own = self.video.segment;
        let (have, need) = match self.playing {
            Playing::Until(dry) if dry >= now => {
                self.playing = Playing::Until(dry + own);
                row.dry = dry + own;
                return;
            }
            Playing::Until(_) => (own, self.video.resume),
            Playing::Not { have, need } => (have + own, need),
        };
        self.playing = if have >= need || row.last { Playing::Until(now + have) } else { Playing::Not { have, need } };
        if let Playing::Until(dry) = self.playing {
            row.dry = dry;
        }
    }
}

impl Dialogue for Player {
    fn next(&mut self, now: Time) -> Option<Exchange> {
        self.take(now);
        let segment = self.log.len() as u64;
        if segment == self.video.segments {
            return None;
        }
        let wait = (self.buffer(now) + self.video.segment).saturating_sub(self.video.buffer);
        let buffer = self.buffer(now + wait);
        let level = match self.video.rule {
            Rule::Throughput => self.video.fitting(&self.throughputs),
            Rule::Bola => self.video.bola(buffer.as_secs_f64()),
        };
        let bytes = self.video.size_bytes(level);
        self.log.push(SegmentRecord {
            flow: self.flow,
            segment: segment as u32,
            level: level as u32,
            rate_bps: self.video.ladder_bps[level],
            bytes,
            asked: now + wait,
            received: Time::NEVER,
            buffer,
            dry: Time::NEVER,
            last: segment + 1 == self.video.segments,
        });
        Some(Exchange { wait, request: self.video.request_bytes, think: self.video.think, answer: bytes })
    }

    fn take_log(&mut self) -> Vec<SegmentRecord> {
        std::mem::take(&mut self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video() -> Video {
        Video {
            ladder_bps: vec![500_000, 1_000_000, 2_000_000, 4_000_000],
            segment: Time::from_millis(4000),
            segments: 100,
            buffer: Time::from_millis(24_000),
            startup: Time::from_millis(4000),
            resume: Time::from_millis(4000),
            rule: Rule::Throughput,
            safety: 0.9,
            samples: 3,
            gamma: 5.0,
            request_bytes: 400,
            think: Time::ZERO,
        }
    }

    #[test]
    fn the_throughput_rule_takes_the_highest_rate_that_fits_the_harmonic_mean() {
        let video = video();
        assert_eq!(video.fitting(&[]), 0);
        // 0.9 times 2 * 2e6 / (1 + 1/3) = 2.7e6.
        assert_eq!(video.fitting(&[2e6, 6e6]), 2);
        assert_eq!(video.fitting(&[4e6 / 0.9 + 1.0]), 3);
        assert_eq!(video.fitting(&[1e5]), 0);
    }

    #[test]
    fn bola_goes_up_where_two_rates_are_worth_the_same() {
        let video = video();
        let (room, gamma) = (20.0, 5.0);
        let control = room / (8_f64.ln() + gamma);
        for level in 1..4 {
            // (V (v1 + g) - Q) / S1 = (V (v2 + g) - Q) / S2
            let worth = |level: u32| control * (2_f64.powi(level as i32).ln() + gamma);
            let (low, high) = (worth(level - 1), worth(level));
            let even = 2.0 * low - high;
            assert_eq!(video.bola(even - 1e-6), level as usize - 1, "{level}");
            assert_eq!(video.bola(even + 1e-6), level as usize, "{level}");
        }
    }

    #[test]
    fn a_film_stands_still_when_a_segment_is_late_and_says_when() {
        let mut player = Player::start(video(), 0, Time::ZERO);
        let s = |seconds: u64| Time::from_millis(1000 * seconds);
        assert_eq!(player.next(s(0)).map(|ask| ask.wait), Some(Time::ZERO));
        player.next(s(1)); // plays from 1 s to 5 s
        player.next(s(3)); // to 9 s
        player.next(s(12)); // stood still from 9 s to 12 s, plays to 16 s
        let dry: Vec<Time> = player.log.iter().map(|row| row.dry).collect();
        assert_eq!(dry, [s(5), s(9), s(16), Time::NEVER]);
    }

    #[test]
    fn a_full_buffer_makes_the_player_wait() {
        let mut player = Player::start(video(), 0, Time::ZERO);
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for _ in 0..8 {
            let ask = player.next(now).expect("there are more");
            waits.push(ask.wait.0 / 1_000_000);
            now += ask.wait + Time::from_millis(100);
        }
        // It begins to play at 100 ms; 24 s less a segment fit: from then on one segment leaves as one comes.
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 3500, 3900]);
    }
}
