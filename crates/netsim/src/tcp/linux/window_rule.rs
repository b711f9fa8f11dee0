//! A rule of the window, which knows fractions of a segment, under a sender whose windows are whole.

use units::Time;

use super::clock::{Clock, Jiffies};
use super::ops::{CongestionOps, Left};
use crate::tcp::rules::{Congestion, Feedback, Moment, State};
use crate::tcp::settings::{Hystart, Tcp};

/// Most acknowledgements that a segment of growth takes: what they are counted in holds two such counts.
const MOST: f64 = (1_u32 << 31) as f64;

/// A rule, and the last acknowledgement.
#[derive(Debug)]
pub(super) struct Window {
    rule: State,
    at: Moment,
    /// Marks are counted for it.
    counts: bool,
    pace_percent: u64,
}

impl Window {
    /// A rule that counts marks is Reno where nobody counts them for it.
    pub(super) fn of(tcp: &Tcp) -> Window {
        let counts = tcp.counts_marks();
        let alone = tcp.congestion.traits().counts && !counts;
        let rule = State::of(if alone { Congestion::Aimd } else { tcp.congestion });
        Window {
            at: Moment { now: Time::ZERO, rtt_s: 0.0, twentieth: tcp.hystart == Hystart::Linux },
            counts,
            pace_percent: (rule.traits().pace * 100.0).round() as u64,
            rule,
        }
    }

    fn acks_per_segment(&mut self, cwnd: u32) -> u32 {
        self.rule.acks_per_segment(cwnd.into(), self.at).min(MOST).round() as u32
    }

    /// The window with its part of a segment.
    fn exact(&mut self, cwnd: u32, more: u32) -> f64 {
        f64::from(cwnd) + f64::from(more) / f64::from(self.acks_per_segment(cwnd))
    }

    fn split(&mut self, window: f64) -> Left {
        let window = window.max(2.0);
        let cwnd = window as u32;
        Left { cwnd, more: (window.fract() * f64::from(self.acks_per_segment(cwnd))) as u32 }
    }
}

impl CongestionOps for Window {
    #[inline]
    fn pace_percent(&self) -> u64 {
        self.pace_percent
    }

    #[inline]
    fn reduces_at_once(&self) -> bool {
        self.counts && self.rule.traits().paced
    }

    #[inline]
    fn per_segment(&mut self, cwnd: u32, _: u32, _: Clock, _: Time) -> u32 {
        self.acks_per_segment(cwnd)
    }

    /// Whole segments where Linux halves; what takes less than one keeps the part that is left.
    fn reduced(&mut self, cwnd: u32, more: u32, _: u32) -> Left {
        if self.rule.traits().fine {
            let window = self.exact(cwnd, more);
            let left = self.rule.reduced(window);
            return self.split(left);
        }
        Left::whole((self.rule.reduced(cwnd.into()) as u32).max(2))
    }

    fn marked(&mut self, cwnd: u32, more: u32, ssthresh: u32) -> Option<Left> {
        if !self.counts {
            return Some(self.reduced(cwnd, more, ssthresh));
        }
        if self.reduces_at_once() {
            let window = self.exact(cwnd, more);
            let left = self.rule.marked(window, self.at)?;
            return Some(self.split(left));
        }
        // Whole segments: the part of one that would be taken off stays (`dctcp_ssthresh`).
        let left = self.rule.marked(cwnd.into(), self.at)?;
        Some(Left::whole((left.ceil() as u32).max(2)))
    }

    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback) {
        (self.at.now, self.at.rtt_s) = (feedback.now, feedback.rtt_s);
        if self.counts {
            self.rule.on_feedback(feedback);
        }
    }

    fn on_start(&mut self, idle: Jiffies, _: Jiffies) {
        if idle > 0 {
            self.rule.on_restart();
        }
    }

    fn on_loss_state(&mut self, _: u32, _: Time) {
        self.rule.on_timeout();
    }

    fn on_recovered(&mut self) {
        self.rule.on_recovered();
    }

    fn on_undo(&mut self) {
        self.rule.on_undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::tcp;
    use crate::tcp::settings::{EcnMode, Recovery};

    fn rule(congestion: Congestion, ecn: EcnMode) -> Window {
        Window::of(&Tcp { congestion, ecn, recovery: Recovery::Linux, ..tcp() })
    }

    /// Three reductions of two thirds are two segments: neither none nor three.
    #[test]
    fn what_is_left_of_a_segment_is_carried_from_reduction_to_reduction() {
        let mut iiad = rule(Congestion::Iiad, EcnMode::Off);
        let (mut cwnd, mut more, mut windows) = (30, 0, Vec::new());
        for _ in 0..3 {
            let left = iiad.reduced(cwnd, more, 0);
            (cwnd, more) = (left.cwnd, left.more);
            windows.push(f64::from(cwnd) + f64::from(more) / f64::from(cwnd).powi(2));
        }
        for (window, exact) in windows.iter().zip([30.0 - 2.0 / 3.0, 30.0 - 4.0 / 3.0, 28.0]) {
            // Less than an acknowledgement is cut off each time.
            assert!((window - exact).abs() < 3.0 / 784.0, "{windows:?}");
        }
    }

    /// Bansal and Balakrishnan 2001, Eq. 1 and 2, acknowledgement by acknowledgement.
    #[test]
    fn a_segment_takes_as_many_acknowledgements_as_the_rule_says() {
        let of = |congestion| rule(congestion, EcnMode::Off).acks_per_segment(100);
        assert_eq!([Congestion::Aimd, Congestion::Sqrt, Congestion::Iiad].map(of), [100, 1000, 10_000]);
        assert_eq!(rule(Congestion::Aimd, EcnMode::Off).acks_per_segment(999_983), 999_983, "to the last window");
        assert_eq!(
            rule(Congestion::Iiad, EcnMode::Off).acks_per_segment(100_000),
            1 << 31,
            "and no more than is counted"
        );
    }

    #[test]
    fn a_rule_that_counts_marks_is_reno_without_a_count() {
        for congestion in [Congestion::Dctcp, Congestion::Prague] {
            for (ecn, left) in [(EcnMode::Off, 20), (EcnMode::Classic, 20), (EcnMode::L4s, 23)] {
                let mut rule = rule(congestion, ecn);
                rule.on_feedback(&Feedback { acked: 41, marked: 0, una: 42, max: 83, now: Time::ZERO, rtt_s: 0.05 });
                rule.on_feedback(&Feedback { acked: 41, marked: 0, una: 84, max: 125, now: Time::ZERO, rtt_s: 0.05 });
                let found = rule.marked(41, 0, 0).map(|left| left.cwnd);
                let expected = if congestion == Congestion::Prague && ecn == EcnMode::L4s { 20 } else { left };
                assert_eq!(found, Some(expected), "{congestion:?} {ecn:?}");
            }
        }
    }
}
