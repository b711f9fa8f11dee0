//! The congestion window: how it grows, when it is in use, and what an idle time leaves of it.

use units::Time;

use super::ca_state::State;
use super::clock::Jiffies;
use super::ops::CongestionOps;
use super::sender::Sender;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

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
        let per_segment = self.controller.per_segment(self.cwnd, acked, self.clock, now);
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
}
