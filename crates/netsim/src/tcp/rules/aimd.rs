//! Additive increase, multiplicative decrease: a segment per round trip, a half (RFC 5681, 3.1).

use super::rule::{Moment, Rule, Traits};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Aimd;

impl Rule for Aimd {
    /// Halving is meant to leave whole segments.
    const TRAITS: Traits = Traits { whole: true, ..Traits::PLAIN };
    const MODULE: Option<&'static str> = Some("reno");

    fn idle() -> Aimd {
        Aimd
    }

    #[inline]
    fn grown(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd + 1.0 / cwnd
    }

    fn acks_per_segment(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window / 2.0
    }
}
