//! One way of a call: speech at a constant rate and a video whose rate a controller sets ([`super::gcc`]).
//!
//! Speech is a packet each 20 ms. What is left of the target is the video: frames at equal distances, as large as the
//! rate allows, each a little more or less (RFC 8593, 5, in its steady state: an encoder follows its target with the next
//! frame and sends no large first frame). Its packets leave at a multiple of the target, so that a frame does not come
//! as a burst. The receiver reports the arrival of every packet at equal distances, as transport-wide feedback does
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01). A meeting over a server is a call in which the videos of the
//! others come down together: they share a transport, and so a controller.

use serde::Deserialize;
use units::{Stream, Time};

use super::gcc::{Ack, Controller};
use super::stream::Medium;
use super::{LONGEST_NS, Source, Unit, frame_at, frame_factor, within};
use crate::error::ConfigError;

/// Time between two packets of speech.
const AUDIO_EVERY: Time = Time::from_millis(20);
/// RTP header with an extension for the transport-wide number, bytes (RFC 3550, RFC 8285).
const RTP_HEADER: u32 = 20;

/// Settings of one way of a call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// From its first packet on.
    #[serde(rename = "duration_ns")]
    pub duration: Time,
    /// Rate that it begins with, and the bounds of it, without IP and UDP headers, bit/s.
    pub start_bps: u64,
    /// Least rate, bit/s.
    pub min_bps: u64,
    /// Largest rate, bit/s.
    pub max_bps: u64,
    /// Frames of the video per second; 0 for speech alone.
    pub fps: u32,
    /// Scale of the law of frame sizes, as a share of the mean.
    pub variation: f64,
    /// Payload of a packet of speech, bytes; 0 for none.
    pub audio_bytes: u32,
    /// The packets of a video leave at so many times the target.
    pub pacing: f64,
    /// Time between two reports of the receiver.
    #[serde(rename = "feedback_ns")]
    pub feedback: Time,
}

impl Call {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let (least, most, rates) = (5_000.0, 1e9, "from 5 kbit/s to 1 Gbit/s");
        within(&[
            ("call: duration_ns", self.duration.0 as f64, 1.0, LONGEST_NS as f64, "above 0 and at most 2 years"),
            ("call: min_bps", self.min_bps as f64, least, most, rates),
            ("call: max_bps", self.max_bps as f64, self.min_bps as f64, most, "from min_bps to 1 Gbit/s"),
            (
                "call: start_bps",
                self.start_bps as f64,
                self.min_bps as f64,
                self.max_bps as f64,
                "from min_bps to max_bps",
            ),
            ("call: fps", f64::from(self.fps), 0.0, 240.0, "at most 240"),
            ("call: variation", self.variation, 0.0, 0.5, "from 0 to 0.5"),
            ("call: audio_bytes", f64::from(self.audio_bytes), 0.0, 1180.0, "from 0 to 1180 bytes"),
            ("call: pacing", self.pacing, 1.0, 100.0, "from 1 to 100"),
            ("call: feedback_ns", self.feedback.0 as f64, 1e6, 1e10, "from 1 ms to 10 s"),
        ])?;
        if self.fps == 0 && self.audio_bytes == 0 {
            return Err(ConfigError::Value("call: fps", "0".into(), "above 0 in a call without speech"));
        }
        Ok(())
    }

    /// Rate of speech, without IP and UDP headers, bit/s.
    fn audio_bps(&self) -> f64 {
        if self.audio_bytes == 0 { 0.0 } else { f64::from(self.audio_bytes + RTP_HEADER) * 8.0 * 50.0 }
    }
}

#[derive(Debug)]
pub(crate) struct Sender {
    call: Call,
    start: Time,
    end: Time,
    frames: u64,
    packets: u64,
    controller: Controller,
    random: Stream,
}

impl Sender {
    pub(super) fn start(call: Call, now: Time, random: Stream) -> Sender {
        let controller = Controller::new(call.start_bps, call.min_bps, call.max_bps, now);
        Sender { end: now + call.duration, start: now, frames: 0, packets: 0, controller, random, call }
    }

    fn frame_due(&self) -> Time {
        if self.call.fps == 0 { Time::NEVER } else { frame_at(self.start, self.frames, self.call.fps) }
    }

    fn audio_due(&self) -> Time {
        if self.call.audio_bytes == 0 { Time::NEVER } else { self.start + Time(AUDIO_EVERY.0 * self.packets) }
    }
}

impl Source for Sender {
    fn due(&self) -> Time {
        let next = self.frame_due().min(self.audio_due());
        if next < self.end { next } else { Time::NEVER }
    }

    fn make(&mut self) -> Unit {
        let target_bps = self.controller.target_bps();
        if self.audio_due() <= self.frame_due() {
            self.packets += 1;
            return Unit { medium: Medium::Audio, bytes: self.call.audio_bytes + RTP_HEADER, target_bps };
        }
        self.frames += 1;
        let mean = (target_bps as f64 - self.call.audio_bps()) / (8.0 * f64::from(self.call.fps));
        let factor = frame_factor(self.call.variation, &mut self.random);
        // A video that is left nothing still says that it is there.
        let bytes = ((mean * factor) as u32).max(RTP_HEADER + 1);
        Unit { medium: Medium::Video, bytes, target_bps }
    }

    fn pace_bps(&self) -> Option<f64> {
        Some(self.call.pacing * self.controller.target_bps() as f64)
    }

    fn report_every(&self) -> Option<Time> {
        Some(self.call.feedback)
    }

    fn on_report(&mut self, acks: &[Ack], now: Time) {
        self.controller.on_feedback(acks, now);
    }
}
