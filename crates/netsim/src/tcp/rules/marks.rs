//! The share of segments that are marked, round trip by round trip, smoothed: what scalable senders answer to
//! (RFC 8257, 3.3; draft-briscoe-iccrg-prague-congestion-control, 2.3.2). Cost per acknowledgement: O(1).

use units::Time;

use super::rule::Feedback;

/// g: weight of a round trip (RFC 8257, 4.2; Linux and the Prague draft take the same).
const GAIN: f64 = 1.0 / 16.0;

/// A smoothed share of marked segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedShare {
    /// alpha: 1 before the first round trip, so that the first reduction is a halving.
    pub(crate) smoothed: f64,
    acked: u64,
    marked: u64,
    /// The round trip ends with the acknowledgement of something sent after it began.
    round_end: u32,
    round_began: Time,
}

impl MarkedShare {
    pub(crate) fn unknown() -> MarkedShare {
        MarkedShare { smoothed: 1.0, acked: 0, marked: 0, round_end: 0, round_began: Time::ZERO }
    }

    /// Counts an acknowledgement: whether it ends a round trip, of at least `shortest`. `learns` is false while rounds are
    /// counted that say nothing yet.
    pub(crate) fn take(&mut self, feedback: &Feedback, shortest: Time, learns: bool) -> bool {
        self.acked += u64::from(feedback.acked);
        self.marked += u64::from(feedback.marked);
        let early = feedback.now.saturating_sub(self.round_began) < shortest;
        if feedback.una <= self.round_end || self.acked == 0 || early {
            return false;
        }
        if learns {
            // Marks of what was acknowledged in the round before may come late, in an acknowledgement of this one.
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.smoothed += GAIN * (share - self.smoothed);
        }
        (self.acked, self.marked) = (0, 0);
        (self.round_end, self.round_began) = (feedback.max, feedback.now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of ten segments; una and max count on.
    fn rounds(share: &mut MarkedShare, marked: &[u32]) -> Vec<f64> {
        let mut out = Vec::new();
        for (round, &marked) in (1_u32..).zip(marked) {
            let una = 10 * round + 1;
            let now = Time::from_millis(u64::from(round) * 10);
            let feedback = Feedback { acked: 10, marked, una, max: una + 9, now, rtt_s: 0.01 };
            assert!(share.take(&feedback, Time::ZERO, true), "round {round}");
            out.push(share.smoothed);
        }
        out
    }

    /// RFC 8257, 3.3, Eq. of step 6, solved: after n rounds of share F it is F + (alpha - F) (1 - g)^n.
    #[test]
    fn a_constant_share_is_approached_geometrically() {
        for (marked, first) in [(0, 1.0), (10, 0.0), (3, 1.0)] {
            let mut share = MarkedShare { smoothed: first, ..MarkedShare::unknown() };
            let found = rounds(&mut share, &vec![marked; 60]);
            let goal = f64::from(marked) / 10.0;
            for (n, found) in (1..).zip(found) {
                let expected = goal + (first - goal) * (15.0_f64 / 16.0).powi(n);
                assert!((found - expected).abs() < 1e-12, "{marked} of 10, round {n}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn a_round_ends_with_what_was_sent_after_its_beginning_and_not_too_early() {
        let mut share = MarkedShare::unknown();
        let at = |ms, una| Feedback { acked: 1, marked: 0, una, max: 40, now: Time::from_millis(ms), rtt_s: 0.01 };
        assert!(share.take(&at(10, 1), Time::ZERO, true));
        assert!(!share.take(&at(20, 40), Time::ZERO, true), "40 was sent before: it is the end of the round");
        assert!(!share.take(&at(30, 41), Time::from_millis(25), true), "20 ms are no virtual round trip");
        assert!(share.take(&at(35, 42), Time::from_millis(25), true));
        assert!((share.smoothed - (15.0_f64 / 16.0).powi(2)).abs() < 1e-12);
    }
}
