//! What a rule of congestion control is.

use units::Time;

use super::path::{Begin, PathModel};

/// How a congestion window grows and shrinks.
pub(crate) trait Rule: Copy {
    /// What the rule asks of the rest of the transport.
    const TRAITS: Traits = Traits::PLAIN;

    /// At the start of a connection.
    fn idle() -> Self;

    /// The window `cwnd` after the acknowledgement of one more segment in congestion avoidance.
    fn grown(&mut self, cwnd: f64, at: Moment) -> f64;

    /// What a reduction leaves of `window`.
    fn reduced(&mut self, window: f64) -> f64;

    /// The retransmission timer went off.
    fn on_timeout(&mut self) {}
}

/// When the window grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Time,
    /// Smoothed round-trip time, seconds.
    pub(crate) rtt_s: f64,
    /// Slow start ends when the queue begins to fill.
    pub(crate) hystart: bool,
}

/// What a rule asks of the rest of the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// A reduction leaves whole segments.
    pub(crate) whole: bool,
    /// Marks of congestion reduce the window as a loss does.
    pub(crate) hears_marks: bool,
    /// Segments leave one by one at a rate, whatever the settings say.
    pub(crate) paced: bool,
    /// It works with selective acknowledgements only.
    pub(crate) needs_sack: bool,
    /// The model of the path that sets window and pace in place of the rule.
    pub(crate) model: Option<fn(Begin) -> Box<dyn PathModel>>,
}

impl Traits {
    /// A rule of the window alone.
    pub(crate) const PLAIN: Traits =
        Traits { whole: false, hears_marks: true, paced: false, needs_sack: false, model: None };
}
