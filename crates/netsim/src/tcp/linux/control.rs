//! Which controller moves the congestion window.
//! Windows are whole segments, as in Linux.

use units::Time;

use super::bbr::Bbr;
use super::clock::{Clock, Jiffies, us};
use super::cubic::Cubic;
use crate::tcp::rules::{self, Congestion, Feedback, Moment};
use crate::tcp::settings::{Hystart, Tcp};

/// What moves the window.
#[derive(Debug)]
pub(super) enum Controller {
    /// A segment per round trip, a half per loss (RFC 5681).
    Reno,
    Cubic(Cubic),
    /// Of a rule that counts marks: slow start and losses are those of Reno.
    Counting(Counting),
    /// A model of the path sets window and pace.
    Bbr(Box<Bbr>),
}

/// A rule that counts marks, and when it last heard of any.
#[derive(Debug)]
pub(super) struct Counting {
    rule: rules::State,
    at: Moment,
}

impl Counting {
    /// Segments that have to arrive for the window to grow by one.
    fn per_segment(&mut self, cwnd: u32) -> u32 {
        let window = f64::from(cwnd);
        (1.0 / (self.rule.grown(window, self.at) - window)).round() as u32
    }
}

/// What marks leave of the window: segments, and acknowledgements towards the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) cwnd: u32,
    pub(super) more: u32,
}

impl Controller {
    pub(super) fn of(tcp: &Tcp) -> Controller {
        if tcp.counts_marks() {
            let at = Moment { now: Time::ZERO, rtt_s: 0.0, twentieth: false };
            return Controller::Counting(Counting { rule: rules::State::of(tcp.congestion), at });
        }
        match tcp.congestion {
            Congestion::Cubic => Controller::Cubic(Cubic::new(tcp.hystart == Hystart::Linux)),
            Congestion::Bbr => Controller::Bbr(Box::new(Bbr::idle())),
            _ => Controller::Reno,
        }
    }

    /// Whether a model of the path sets window and pace.
    #[inline]
    pub(super) fn has_model(&self) -> bool {
        matches!(self, Controller::Bbr(_))
    }

    /// An acknowledgement, with what it tells of marks, before it moves the window.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback) {
        if let Controller::Counting(Counting { rule, at }) = self {
            *at = Moment { now: feedback.now, rtt_s: feedback.rtt_s, twentieth: false };
            rule.on_feedback(feedback);
        }
    }

    /// Percent of a window per round trip that is the pace beyond slow start (`tcp_pacing_ca_ratio`).
    pub(super) fn pace_percent(&self) -> u64 {
        match self {
            Controller::Counting(Counting { rule, .. }) => (rule.traits().pace * 100.0).round() as u64,
            _ => 120,
        }
    }

    /// The window after marks, of `cwnd` and the part of a segment by which it has grown beyond, `more` acknowledgements of
    /// those that one takes; `None` where the rule has answered to them already.
    pub(super) fn marked(&mut self, cwnd: u32, more: u32, ssthresh: u32) -> Option<Left> {
        let at_once = self.reduces_at_once();
        let Controller::Counting(counting) = self else {
            return Some(Left { cwnd: self.reduced(cwnd, ssthresh), more: 0 });
        };
        if !at_once {
            // Whole segments: the part of one that would be taken off stays (`dctcp_ssthresh`).
            let left = counting.rule.marked(cwnd.into(), counting.at)?;
            return Some(Left { cwnd: (left.ceil() as u32).max(2), more: 0 });
        }
        let window = f64::from(cwnd) + f64::from(more) / f64::from(counting.per_segment(cwnd));
        let left = counting.rule.marked(window, counting.at)?.max(2.0);
        let cwnd = left as u32;
        Some(Left { cwnd, more: (left.fract() * f64::from(counting.per_segment(cwnd))) as u32 })
    }

    /// Whether marks take effect at once, and the window goes on growing meanwhile: where segments are paced there is no
    /// need to spread the reduction over a round trip.
    pub(super) fn reduces_at_once(&self) -> bool {
        matches!(self, Controller::Counting(Counting { rule, .. }) if rule.traits().paced)
    }

    /// Segments that have to arrive for the window to grow by one, beyond slow start.
    pub(super) fn per_segment(&mut self, cwnd: u32, acked: u32, clock: Clock, now: Time) -> u32 {
        match self {
            Controller::Cubic(cubic) => cubic.update(cwnd, acked, clock, now),
            Controller::Counting(counting) => counting.per_segment(cwnd),
            _ => cwnd,
        }
    }

    /// The threshold after a loss, or after a mark for a rule that does not count them (`ssthresh`).
    pub(super) fn reduced(&mut self, cwnd: u32, ssthresh: u32) -> u32 {
        match self {
            Controller::Reno | Controller::Counting(_) => (cwnd >> 1).max(2),
            Controller::Cubic(cubic) => cubic.reduced(cwnd),
            Controller::Bbr(bbr) => {
                bbr.on_reduction(cwnd);
                ssthresh
            }
        }
    }

    /// The state becomes that after a timeout.
    pub(super) fn on_loss_state(&mut self, nxt: u32, now: Time) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_timeout(nxt, us(now));
        }
    }

    /// Data is sent after `idle` jiffies in which nothing was under way.
    pub(super) fn on_start(&mut self, idle: Jiffies, now: Jiffies) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_start(idle, now);
        }
    }

    /// An acknowledgement gave a round-trip time of `rtt_us`, microseconds, or none (`pkts_acked`).
    #[allow(clippy::too_many_arguments)]
    pub(super) fn on_delivered(
        &mut self,
        rtt_us: Option<u32>,
        una: u32,
        nxt: u32,
        cwnd: u32,
        ssthresh: &mut u32,
        clock: Clock,
        now: Time,
    ) {
        if let (Controller::Cubic(cubic), Some(rtt_us)) = (self, rtt_us) {
            cubic.on_delivered(rtt_us, una, nxt, cwnd, ssthresh, clock, now);
        }
    }
}
