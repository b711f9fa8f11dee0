//! Pacing: segments leave one by one at a rate instead of in bursts.
//!
//! Principle: a departure sets the earliest time of the next one; a sender that may send but must wait asks for a timer
//! and takes up where it was when that goes off. The rate is that of the window rule, or, as in Linux
//! (`tcp_update_pacing_rate`), twice the window per round trip while the window is below half the threshold and 1.2
//! times beyond; the first ten segments are not paced (as `sch_fq` does). Cost: one timer event per segment that waits.

use units::Time;

/// Windows per round trip in congestion avoidance.
pub(crate) const AVOIDANCE: f64 = 1.2;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    pub(super) next: Time,
    pub(super) timer_event: Time,
}

impl Pacer {
    pub(crate) fn idle() -> Pacer {
        Pacer { next: Time::ZERO, timer_event: Time::NEVER }
    }

    pub(crate) fn disarm(&mut self) {
        self.timer_event = Time::NEVER;
    }
}
