//! Which controller moves the congestion window.
//! Windows are whole segments, as in Linux.

use units::Time;

use super::bbr::Bbr;
use super::clock::{Clock, Jiffies, us};
use super::cubic::Cubic;
use crate::tcp::rules::Congestion;
use crate::tcp::settings::{Hystart, Tcp};

/// What moves the window.
#[derive(Debug)]
pub(super) enum Controller {
    /// A segment per round trip, a half per loss (RFC 5681).
    Reno,
    Cubic(Cubic),
    /// A model of the path sets window and pace.
    Bbr(Box<Bbr>),
}

impl Controller {
    pub(super) fn of(tcp: &Tcp) -> Controller {
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

    /// The threshold after a loss or a mark (`ssthresh`).
    pub(super) fn reduced(&mut self, cwnd: u32, ssthresh: u32) -> u32 {
        match self {
            Controller::Reno => (cwnd >> 1).max(2),
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
