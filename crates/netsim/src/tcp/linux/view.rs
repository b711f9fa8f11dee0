//! The connection as a controller with a model of the path reads it.

use units::Time;

use super::ca_state::State;
use super::clock::{Clock, Jiffies};

/// The start of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) flow: u32,
    /// Next number to send.
    pub(super) nxt: u32,
    /// The least round-trip time of the handshake, microseconds.
    pub(super) least_us: u32,
}

/// What a model reads of the connection, and what it sets there: window, threshold, pace, and until when its application limits it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) now: Time,
    pub(super) clock: Clock,
    pub(super) state: State,
    pub(super) mss: u32,
    /// Eight times the smoothed round-trip time, microseconds; 0 before the first sample.
    pub(super) srtt_us: u32,
    /// Segments in flight, delivered and lost, and when the last delivery was seen, microseconds.
    pub(super) in_flight: u32,
    pub(super) delivered: u32,
    pub(super) lost: u32,
    pub(super) delivered_us: u64,
    /// When the next segment may leave.
    pub(super) next_departure: Time,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    /// Bytes per second.
    pub(super) pacing_rate: u64,
    /// See [`RateMeter`](super::rate::RateMeter).
    pub(super) app_limited: u32,
    /// The window was in full use in the last round trip.
    pub(super) window_limited: bool,
}

impl View {
    pub(super) fn jiffies(&self) -> Jiffies {
        self.clock.jiffies(self.now)
    }
}
