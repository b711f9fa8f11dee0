//! Applications in the loop: what one sends next depends on what the network did to what it sent before.
//!
//! There are two kinds, and an application is one file with one of the two:
//!
//! - a [`Source`] makes units of media, which [`stream`] sends as datagrams; it hears what its receiver reports of them;
//! - a [`Dialogue`] asks over a TCP connection, and is told when the answer has come; the connection is that of
//!   [scripts](crate::tcp::scripted), whose trains it makes one by one.
//!
//! What is random about an application comes from a stream of its flow, so that every discipline meets the same draws.

pub(crate) mod call;
pub(crate) mod gaming;
pub mod gcc;
pub(crate) mod stream;
pub(crate) mod video;

use std::fmt::Debug;

use serde::Deserialize;
use units::{Stream, Time};

use crate::error::ConfigError;
use crate::flow::FlowSpec;
pub use call::Call;
pub use gaming::Gaming;
use gcc::Ack;
pub use stream::{FrameRecord, Medium};
pub use video::{Rule, SegmentRecord, Video};

/// An application and its settings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Application {
    /// One way of a call or meeting.
    Call(call::Call),
    /// The video of a game that runs elsewhere.
    Gaming(gaming::Gaming),
    /// A film in segments.
    Video(video::Video),
}

/// A piece of media, which is sent as one or several packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) medium: stream::Medium,
    /// Length of its packets together, without IP and UDP headers, bytes.
    pub(crate) bytes: u32,
    /// The rate aimed at when it was made, bit/s.
    pub(crate) target_bps: u64,
}

/// Makes the media of a stream of datagrams.
pub(crate) trait Source: Debug + Send {
    /// When it makes the next unit; `NEVER` when there are no more.
    fn due(&self) -> Time;

    /// Makes the unit that is due.
    fn make(&mut self) -> Unit;

    /// Rate at which the packets of videos leave, bit/s; `None` for all at once.
    fn pace_bps(&self) -> Option<f64>;

    /// Time between two reports of the receiver; `None` for no reports.
    fn report_every(&self) -> Option<Time>;

    /// The receiver reports what became of some packets.
    fn on_report(&mut self, acks: &[Ack], now: Time);
}

/// What a client asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Time until it asks.
    pub(crate) wait: Time,
    /// Payload of the request, bytes.
    pub(crate) request: u64,
    /// Time until the server answers.
    pub(crate) think: Time,
    /// Payload of the answer, bytes.
    pub(crate) answer: u64,
}

/// A client that asks for one thing after the other.
pub(crate) trait Dialogue: Debug + Send {
    /// The connection is up, or the last byte of an answer has come: what it asks for next; `None` when it has all.
    fn next(&mut self, now: Time) -> Option<Exchange>;

    /// Takes what it wrote down.
    fn take_log(&mut self) -> Vec<SegmentRecord>;
}

impl Application {
    /// Whether it sends datagrams; else it talks over TCP.
    pub fn sends_datagrams(&self) -> bool {
        !matches!(self, Application::Video(_))
    }

    /// Checks its settings.
    ///
    /// # Errors
    /// The first value out of its bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Application::Call(call) => call.check(),
            Application::Gaming(gaming) => gaming.check(),
            Application::Video(video) => video.check(),
        }
    }

    /// # Errors
    /// `flow`, the flow with this index, cannot be of this application.
    pub(crate) fn check_flow(&self, index: usize, flow: &FlowSpec) -> Result<(), ConfigError> {
        let refused = |reason| Err(ConfigError::Flow(index, reason));
        match (self.sends_datagrams(), flow.udp.is_some()) {
            _ if flow.script.is_some() => refused("an application with a script"),
            (true, false) => refused("an application that sends datagrams over TCP"),
            (false, true) => refused("an application that asks and answers over UDP"),
            (false, false) if !flow.receiver_opens => {
                refused("an application whose client does not open its connection")
            }
            _ => Ok(()),
        }
    }

    /// The source of a stream that starts at `now`, with its random numbers; none of a dialogue.
    pub(crate) fn source(&self, now: Time, random: Stream) -> Option<Box<dyn Source>> {
        match self {
            Application::Call(call) => Some(Box::new(call::Sender::start(call.clone(), now, random))),
            Application::Gaming(gaming) => Some(Box::new(gaming::Server::start(gaming.clone(), now, random))),
            Application::Video(_) => None,
        }
    }

    /// The client of flow `flow` that starts at `now`; none of a stream.
    pub(crate) fn dialogue(&self, flow: u32, now: Time) -> Option<Box<dyn Dialogue>> {
        match self {
            Application::Video(video) => Some(Box::new(video::Player::start(video.clone(), flow, now))),
            _ => None,
        }
    }
}

/// Longest application: as long as the longest run.
pub(crate) const LONGEST_NS: u64 = crate::flow::LONGEST.0;

/// A value and its bounds, which a check goes through.
pub(crate) type Bound = (&'static str, f64, f64, f64, &'static str);

/// # Errors
/// The first value outside its bounds; one that is no number is outside.
pub(crate) fn within(bounds: &[Bound]) -> Result<(), ConfigError> {
    for &(name, value, min, max, bound) in bounds {
        if !(min..=max).contains(&value) {
            return Err(ConfigError::Value(name, value.to_string(), bound));
        }
    }
    Ok(())
}

/// When frame `number` of a film of `fps` frames per second begins, without drift.
pub(crate) fn frame_at(start: Time, number: u64, fps: u32) -> Time {
    start + Time((u128::from(number) * 1_000_000_000 / u128::from(fps)) as u64)
}

/// By what factor a frame differs from the mean: `1 + x`, `x` of a Laplace law with mean 0 and scale `scale`, drawn anew
/// until it is within 1/2 (RFC 8593, 5.3, in the steady state).
pub(crate) fn frame_factor(scale: f64, random: &mut Stream) -> f64 {
    if scale == 0.0 {
        return 1.0;
    }
    loop {
        let uniform = random.uniform() - 0.5;
        let noise = -scale * uniform.signum() * libm::log(1.0 - 2.0 * uniform.abs());
        if noise.abs() <= 0.5 {
            return 1.0 + noise;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_vary_about_their_mean_and_no_more_than_half() {
        let mut random = Stream::named(7, "frames");
        let factors: Vec<f64> = (0..20_000).map(|_| frame_factor(0.15, &mut random)).collect();
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        // Standard deviation of a frame below 0.15 sqrt 2, of the mean below 0.0015: four of them.
        assert!((mean - 1.0).abs() < 0.006, "{mean}");
        assert!(factors.iter().all(|factor| (0.5..=1.5).contains(factor)));
        assert!(factors.iter().any(|factor| (factor - 1.0).abs() > 0.3));
    }

    #[test]
    fn frames_do_not_drift() {
        assert_eq!(frame_at(Time(5), 3_000, 30), Time(100_000_000_005));
        assert_eq!(frame_at(Time::ZERO, 1, 30), Time(33_333_333));
    }
}
