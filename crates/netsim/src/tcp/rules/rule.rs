//! What a rule of congestion control is.

use units::Time;

use super::path::{Begin, PathModel};
use crate::tcp::pacing::AVOIDANCE;
use crate::tcp::words::EcnMode;

/// How a congestion window grows and shrinks.
pub(crate) trait Rule: Copy {
    /// What the rule asks of the rest of the transport.
    const TRAITS: Traits = Traits::PLAIN;

    /// The kernel module that is the same control, of those that hosts of the kernel engine have.
    const MODULE: Option<&'static str> = None;

    /// Linux' own form of the rule, which its sender runs in place of this one.
    const LINUX_CODE: Option<LinuxCode> = None;

    /// At the start of a connection.
    fn idle() -> Self;

    /// The window `cwnd` after the acknowledgement of one more segment in congestion avoidance.
    fn grown(&mut self, cwnd: f64, at: Moment) -> f64;

    /// Segments that have to arrive for a window of `cwnd` to grow by one, as senders count that have whole windows.
    fn acks_per_segment(&mut self, cwnd: f64, at: Moment) -> f64 {
        1.0 / (self.grown(cwnd, at) - cwnd)
    }

    /// What a reduction for a loss leaves of `window`.
    fn reduced(&mut self, window: f64) -> f64;

    /// What marks leave of `window`, at most once for what was in flight together; `None` when it has reacted to the
    /// same already. A rule that does not count marks takes them for a loss (RFC 3168, 6.1.2).
    fn marked(&mut self, window: f64, _: Moment) -> Option<f64> {
        Some(self.reduced(window))
    }

    /// An acknowledgement, with what it tells of marks: before it moves the window, and only where [`Traits::counts`].
    fn on_feedback(&mut self, _: &Feedback) {}

    /// The retransmission timer went off.
    fn on_timeout(&mut self) {}

    /// Loss recovery is over.
    fn on_recovered(&mut self) {}

    /// The last reduction for a loss was without need: nothing was lost. The sender restores window and threshold.
    fn on_undo(&mut self) {}

    /// The sender goes on after its application paused.
    fn on_restart(&mut self) {}
}

/// What an acknowledgement tells of marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback {
    /// Segments that it says have arrived, cumulatively or selectively, and of them those marked.
    pub(crate) acked: u32,
    pub(crate) marked: u32,
    /// First number not acknowledged after it, and one above the highest number sent.
    pub(crate) una: u32,
    pub(crate) max: u32,
    pub(crate) now: Time,
    /// Smoothed round-trip time, seconds; 0 before any.
    pub(crate) rtt_s: f64,
}

/// When the window grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Time,
    /// Smoothed round-trip time, seconds.
    pub(crate) rtt_s: f64,
    /// Before any loss CUBIC grows by a twentieth per round trip at least, as in Linux.
    pub(crate) twentieth: bool,
}

/// Rules of which Linux has its own form, with results that are not those of the RFC or draft. The files of `tcp/linux` that
/// have them say in which places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinuxCode {
    /// `tcp_cubic.c`.
    Cubic,
    /// `tcp_bbr.c`, version 1.
    Bbr,
}

/// What a rule asks of the rest of the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// A reduction leaves whole segments.
    pub(crate) whole: bool,
    /// A reduction may take less than a segment: senders with whole windows must carry the part of one that is left, or
    /// nothing would ever be taken, or a whole one each time.
    pub(crate) fine: bool,
    /// Marks of congestion reduce the window.
    pub(crate) hears_marks: bool,
    /// It counts marks: they take a part of the congestion window, and not of what is in flight.
    pub(crate) counts: bool,
    /// Segments leave one by one at a rate, whatever the settings say.
    pub(crate) paced: bool,
    /// Windows per round trip at which they leave beyond slow start, where no model says otherwise.
    pub(crate) pace: f64,
    /// It works with selective acknowledgements only.
    pub(crate) needs_sack: bool,
    /// It works with these settings of ECN only; the words for a message.
    pub(crate) needs_ecn: Option<(&'static [EcnMode], &'static str)>,
    /// The model of the path that sets window and pace in place of the rule.
    pub(crate) model: Option<fn(Begin) -> Box<dyn PathModel>>,
}

impl Traits {
    /// A rule of the window alone.
    pub(crate) const PLAIN: Traits = Traits {
        whole: false,
        fine: false,
        hears_marks: true,
        counts: false,
        paced: false,
        pace: AVOIDANCE,
        needs_sack: false,
        needs_ecn: None,
        model: None,
    };
}
