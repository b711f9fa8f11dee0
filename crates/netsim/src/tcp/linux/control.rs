//! The congestion window: which controller moves it, when it is in use, and what an idle time leaves of it.
//! Windows are whole segments, as in Linux.

use units::Time;

use super::bbr::Model;
use super::clock::{Clock, Jiffies, us};
use super::cubic::Cubic;
use super::rate::RateSample;
use super::sender::{Sender, State};
use crate::tcp::rules::Congestion;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

/// What moves the window.
#[derive(Debug)]
pub(super) enum Controller {
    /// A segment per round trip, a half per loss (RFC 5681).
    Reno,
    Cubic(Cubic),
    /// A model of the path sets window and pace.
    Model(Model),
}

impl Controller {
    pub(super) fn of(tcp: &Tcp) -> Controller {
        match (tcp.congestion.traits().model, tcp.congestion) {
            (Some(make), _) => Controller::Model(Model::of(make)),
            (None, Congestion::Cubic) => Controller::Cubic(Cubic::new(tcp.hystart)),
            (None, _) => Controller::Reno,
        }
    }

    /// Whether a model of the path sets window and pace.
    #[inline]
    pub(super) fn has_model(&self) -> bool {
        matches!(self, Controller::Model(_))
    }

    pub(super) fn begin(&mut self, cwnd: u32, srtt_s: f64, flow: u32, nxt: u32, now: Time) {
        match self {
            Controller::Reno => {}
            Controller::Cubic(cubic) => cubic.begin(nxt, now),
            Controller::Model(model) => model.begin(cwnd, srtt_s, flow, now),
        }
    }

    /// The threshold after a loss or a mark (`ssthresh`).
    pub(super) fn reduced(&mut self, cwnd: u32, ssthresh: u32, in_flight: u32, _: Time) -> u32 {
        match self {
            Controller::Reno => (cwnd >> 1).max(2),
            Controller::Cubic(cubic) => cubic.reduced(cwnd),
            Controller::Model(model) => {
                model.on_reduction(in_flight);
                ssthresh
            }
        }
    }

    /// The window after a reduction was for nothing (`undo_cwnd`).
    pub(super) fn undone(&mut self, cwnd: u32, prior: u32) -> u32 {
        match self {
            Controller::Reno | Controller::Cubic(_) => cwnd.max(prior),
            Controller::Model(model) => {
                model.on_recovered();
                cwnd.max(prior)
            }
        }
    }

    /// The state becomes that after a timeout.
    pub(super) fn on_loss_state(&mut self, nxt: u32, now: Time) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_timeout(nxt, us(now));
        }
    }

    pub(super) fn on_timeout(&mut self) {
        if let Controller::Model(model) = self {
            model.on_timeout();
        }
    }

    /// Data is sent after `idle` jiffies in which nothing was under way.
    pub(super) fn on_start(&mut self, idle: Jiffies, now: Jiffies) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_start(idle, now);
        }
    }

    /// The sender goes on after its application had nothing to send.
    pub(super) fn on_restart(&mut self) {
        if let Controller::Model(model) = self {
            model.on_restart();
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

impl Sender {
    /// `acked` segments arrived while nothing is being repaired (`cong_avoid`): slow start, then the controller's rule.
    pub(super) fn grow_window(&mut self, mut acked: u32, now: Time) {
        self.cwnd_stamp = self.clock.jiffies(now);
        if !self.is_window_limited() {
            return;
        }
        if self.cwnd < self.ssthresh {
            let cwnd = (self.cwnd + acked).min(self.ssthresh);
            acked -= cwnd - self.cwnd;
            self.cwnd = cwnd;
            if acked == 0 {
                return;
            }
        }
        let per_segment = match &mut self.controller {
            Controller::Cubic(cubic) => cubic.update(self.cwnd, acked, self.clock, now),
            _ => self.cwnd,
        };
        // One segment more for each `per_segment` that arrive.
        if self.cwnd_cnt >= per_segment {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        if self.cwnd_cnt >= per_segment {
            let more = self.cwnd_cnt / per_segment;
            self.cwnd_cnt -= more * per_segment;
            self.cwnd += more;
        }
    }

    /// Whether the window, rather than the application, bounds what is sent (`tcp_is_cwnd_limited`).
    fn is_window_limited(&self) -> bool {
        self.cwnd_limited || self.cwnd < self.ssthresh && self.cwnd < 2 * self.max_packets_out
    }

    /// Notes how much of the window is in use; one that was not for a timeout shrinks towards what was (RFC 2861, as
    /// `tcp_cwnd_validate` has it).
    pub(super) fn validate_window(&mut self, limited: bool, tcp: &Tcp, net: &Net) {
        let more = !self.cwnd_limited && self.packets_out > self.max_packets_out;
        if self.una >= self.cwnd_usage_seq || limited || more {
            self.cwnd_limited = limited;
            self.max_packets_out = self.packets_out;
            self.cwnd_usage_seq = self.nxt;
        }
        let now = self.clock.jiffies(net.now);
        if self.is_window_limited() {
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
            return;
        }
        self.cwnd_used = self.cwnd_used.max(self.packets_out);
        if tcp.restart_after_idle && now - self.cwnd_stamp >= self.rto && !self.controller.has_model() {
            if self.state == State::Open {
                let used = self.cwnd_used.max(tcp.initial_window);
                if used < self.cwnd {
                    self.ssthresh = self.current_ssthresh();
                    self.cwnd = (self.cwnd + used) >> 1;
                }
                self.cwnd_used = 0;
            }
            self.cwnd_stamp = now;
        }
    }

    /// After `idle` jiffies the window is halved for each timeout in them, down to the initial one (`tcp_cwnd_restart`).
    pub(super) fn restart_window(&mut self, idle: Jiffies, tcp: &Tcp, net: &Net) {
        self.ssthresh = self.current_ssthresh();
        let least = tcp.initial_window.min(self.cwnd);
        let (mut cwnd, mut left) = (self.cwnd, idle);
        while left > self.rto && cwnd > least {
            left -= self.rto;
            cwnd >>= 1;
        }
        self.cwnd = cwnd.max(least);
        self.cwnd_stamp = self.clock.jiffies(net.now);
        self.cwnd_used = 0;
    }

    /// The model takes the acknowledgement and sets window and pace.
    pub(super) fn follow_model(&mut self, sample: &RateSample, now: Time) {
        let in_flight = self.in_flight();
        let repairing = self.state >= State::Recovery;
        let (delivered, mss) = (self.delivered, self.mss);
        if let Controller::Model(model) = &mut self.controller {
            model.on_ack(sample, delivered, in_flight, repairing, now);
            self.cwnd = model.cwnd();
            self.pacing_rate = model.pacing_rate() * f64::from(mss);
        }
    }
}
