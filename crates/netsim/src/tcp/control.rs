//! The congestion window: slow start, which all rules share, and what a rule of [`rules`](super::rules) makes of it
//! beyond (RFC 5681, section 3.1). Windows are in segments. Cost per acknowledgement: O(1).

use units::Time;

use crate::tcp::hystart::{CONSERVATIVE, Growth, HyStart, LIMIT};
use crate::tcp::rules::{Moment, State};
use crate::tcp::settings::{Hystart, Tcp};

/// Congestion window, slow-start threshold and the rule that moves them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Control {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// What a segment adds to the window in slow start, segments, and how many of an acknowledgement do.
    pub(crate) step: f32,
    pub(crate) most: u32,
    pub(crate) rule: State,
}

impl Control {
    /// Before the connection is established.
    pub(crate) fn idle(tcp: &Tcp) -> Control {
        Control {
            cwnd: 1.0,
            ssthresh: f64::from(tcp.receiver_window),
            rule: State::of(tcp.congestion),
            step: 1.0,
            most: u32::MAX,
        }
    }

    /// A new acknowledgement of `acked` segments outside recovery opens the window: once, or with byte counting
    /// once per segment (RFC 3465, 2.1 and 2.2, without its bound of two segments). `rtt_s` is the smoothed
    /// round-trip time, seconds.
    #[inline]
    pub(crate) fn on_ack(&mut self, acked: u32, now: Time, rtt_s: f64, tcp: &Tcp) {
        if tcp.byte_counting {
            let acked = if self.cwnd < self.ssthresh { acked.min(self.most) } else { acked };
            for _ in 0..acked {
                self.grow(now, rtt_s, tcp);
            }
        } else {
            self.grow(now, rtt_s, tcp);
        }
    }

    #[inline]
    fn grow(&mut self, now: Time, rtt_s: f64, tcp: &Tcp) {
        if self.cwnd < self.ssthresh {
            self.cwnd += f64::from(self.step);
            return;
        }
        self.cwnd = self.rule.grown(self.cwnd, Moment { now, rtt_s, twentieth: tcp.hystart == Hystart::Linux });
    }

    /// What ends the first slow start early, in a connection whose first segment is `first`, if anything does.
    pub(crate) fn begin_slow_start(&mut self, first: u32, tcp: &Tcp) -> Option<Box<HyStart>> {
        let choice = if tcp.counts_marks() { Hystart::Off } else { tcp.hystart };
        let limited = choice == Hystart::Rfc9406 && !tcp.is_paced();
        (self.step, self.most) = (1.0, if limited { LIMIT } else { u32::MAX });
        HyStart::of(choice, first).map(Box::new)
    }

    /// HyStart says how slow start goes on.
    pub(crate) fn steer(&mut self, growth: Growth) {
        match growth {
            Growth::Doubling => self.step = 1.0,
            Growth::Conservative => self.step = CONSERVATIVE,
            Growth::Over => (self.ssthresh, self.step) = (self.cwnd, 1.0),
        }
    }

    /// After a loss slow start is the plain one.
    pub(crate) fn end_first_slow_start(&mut self) {
        (self.step, self.most) = (1.0, u32::MAX);
    }

    /// Takes the window from a model of the path.
    pub(crate) fn follow(&mut self, window: f64) {
        (self.cwnd, self.ssthresh) = (window, window);
    }

    /// What a reduction leaves of `window`. Moves neither window nor threshold.
    pub(crate) fn reduced(&mut self, window: f64) -> f64 {
        self.rule.reduced(window)
    }

    /// What marks leave of `window`, if they take anything now. Moves neither window nor threshold.
    pub(crate) fn marked(&mut self, window: f64, now: Time, rtt_s: f64, tcp: &Tcp) -> Option<f64> {
        self.rule.marked(window, Moment { now, rtt_s, twentieth: tcp.hystart == Hystart::Linux })
    }

    /// Slow-start threshold for a window reduced to `window`: at least two segments (RFC 5681, Eq. 4), and whole
    /// ones where halving is meant to leave whole ones.
    pub(crate) fn threshold(&self, window: f64) -> f64 {
        let window = if self.rule.traits().whole { window.floor() } else { window };
        window.max(2.0)
    }

    /// The retransmission timer went off: one segment (RFC 5681, 3.1).
    pub(crate) fn on_timeout(&mut self) {
        self.cwnd = 1.0;
        self.rule.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::with;
    use crate::tcp::settings::Congestion;

    /// A segment counts as much however many acknowledgements it takes: slow start up to `ssthresh`, then each rule.
    #[test]
    fn with_byte_counting_delayed_acknowledgements_open_the_window_as_fast() {
        for rule in [Congestion::Aimd, Congestion::Iiad, Congestion::Sqrt, Congestion::Cubic] {
            let (plain, tcp) = with(rule);
            let counting = Tcp { byte_counting: true, ..tcp.clone() };
            let [mut each, mut pairs, mut lazy] = [plain; 3].map(|control| Control { ssthresh: 21.0, ..control });
            let now = Time(5_000_000);
            for _ in 0..40 {
                each.on_ack(1, now, 0.1, &tcp);
                each.on_ack(1, now, 0.1, &tcp);
                pairs.on_ack(2, now, 0.1, &counting);
                lazy.on_ack(2, now, 0.1, &tcp);
            }
            assert_eq!(each.cwnd, pairs.cwnd, "{rule:?}");
            assert!(each.cwnd > lazy.cwnd, "{rule:?}");
        }
    }

    /// Bansal and Balakrishnan 2001, Eq. 1 and 2.
    #[test]
    fn binomial_rules_add_per_round_and_leave_what_they_say() {
        for (rule, per_round, left) in [
            (Congestion::Aimd, 1.0, 50.0),
            (Congestion::Iiad, 0.01, 100.0 - 2.0 / 3.0),
            (Congestion::Sqrt, 0.1, 100.0 - 20.0 / 3.0),
        ] {
            let (mut control, tcp) = with(rule);
            (control.cwnd, control.ssthresh) = (100.0, 2.0);
            for _ in 0..100 {
                control.on_ack(1, Time::ZERO, 0.1, &tcp);
            }
            let added = control.cwnd - 100.0;
            assert!((added / per_round - 1.0).abs() < 0.01, "{rule:?}: {added}");
            assert!((control.reduced(100.0) - left).abs() < 1e-12, "{rule:?}");
        }
    }
}
