//! DCTCP (RFC 8257): a reduction takes half the share of segments that were marked, so that few marks take little. For
//! links that mark all that waits behind more than a few packets; beside Reno on such a link it takes nearly all.
//!
//! Without a count of marks (`ecn` off or classic) it is Reno, as in Linux. Losses halve (3.5). Cost per acknowledgement:
//! O(1).

use super::marks::MarkedShare;
use super::rule::{Feedback, Moment, Rule, Traits};
use units::Time;

/// State of DCTCP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dctcp {
    share: MarkedShare,
}

impl Rule for Dctcp {
    const TRAITS: Traits = Traits { counts: true, ..Traits::PLAIN };

    fn idle() -> Dctcp {
        Dctcp { share: MarkedShare::unknown() }
    }

    #[inline]
    fn grown(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd + 1.0 / cwnd
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window / 2.0
    }

    /// RFC 8257, 3.3: cwnd * (1 - alpha / 2).
    fn marked(&mut self, window: f64, _: Moment) -> Option<f64> {
        Some(window * (1.0 - self.share.smoothed / 2.0))
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        self.share.take(feedback, Time::ZERO, true);
    }
}
