//! The timer of the sending end: retransmission timeout, probe for a loss at the tail, wait for reordering.

use units::Time;

use super::ca_state::State;
use super::clock::Jiffies;
use super::ops::CongestionOps;
use super::pending::{MIN_TIMEOUT_US, Pending};
use super::sender::Sender;
use crate::event::Kind;
use crate::tcp::settings::Tcp;
use crate::tcp::{Life, Shape};
use crate::wire::net::Net;

impl Sender {
    /// `min_rto` in whole jiffies, microseconds.
    #[inline]
    pub(super) fn min_rto_us(&self, tcp: &Tcp) -> u32 {
        self.clock.in_us(self.clock.in_jiffies(tcp.min_rto.0 / 1000)) as u32
    }

    /// The timeout that follows from the estimate; a back-off ends.
    pub(super) fn set_rto(&mut self, tcp: &Tcp) {
        let us = (self.estimator.srtt_us >> 3) + self.estimator.rttvar_us;
        self.rto = self.clock.in_jiffies(us.into()).min(self.clock.in_jiffies(tcp.max_rto.0 / 1000));
    }

    /// Sets the timer to `what` in so many jiffies.
    pub(super) fn set_timer(&mut self, what: Pending, jiffies: Jiffies, shape: &Shape, net: &mut Net) {
        let most = self.clock.in_jiffies(120_000_000);
        let timeout = self.clock.jiffies(net.now) + jiffies.min(most);
        let unchanged = self.pending != Pending::Nothing && timeout == self.timeout;
        self.pending = what;
        self.timeout = timeout;
        if unchanged && self.deadline > net.now && self.deadline != Time::NEVER {
            return;
        }
        self.deadline = self.clock.goes_off(timeout, net.now);
        self.schedule(shape, net);
    }

    fn schedule(&mut self, shape: &Shape, net: &mut Net) {
        if self.timer_event > self.deadline {
            self.timer_event = self.deadline;
            net.events.schedule(self.deadline, Kind::Retransmit, shape.owner.slot as usize);
        }
    }

    pub(super) fn clear_timer(&mut self) {
        self.pending = Pending::Nothing;
        self.deadline = Time::NEVER;
    }

    /// Jiffies by which the pace puts the next segment off (`tcp_pacing_delay`).
    fn pacing_delay(&self, net: &Net) -> Jiffies {
        self.next_departure.saturating_sub(net.now).0 / self.clock.in_us(1).max(1) / 1000
    }

    /// Time from now to the timeout of the first segment not acknowledged, microseconds (`tcp_rto_delta_us`).
    fn until_timeout_us(&self, net: &Net) -> i64 {
        let sent = self.queue.get(self.una).sent_us;
        (sent + self.clock.in_us(self.rto)) as i64 - (net.now.0 / 1000) as i64
    }

    pub(super) fn rearm_rto(&mut self, shape: &Shape, net: &mut Net) {
        if self.packets_out == 0 {
            self.clear_timer();
            return;
        }
        let mut rto = self.rto;
        if matches!(self.pending, Pending::Reordering | Pending::LossProbe) {
            rto = self.clock.in_jiffies(self.until_timeout_us(net).max(1) as u64);
        }
        let rto = rto + self.pacing_delay(net);
        self.set_timer(Pending::Retransmit, rto, shape, net);
    }

    /// After an acknowledgement of new data: a probe if there may be one, else the timeout.
    pub(super) fn set_transmit_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if !self.schedule_loss_probe(true, shape, tcp, net) {
            self.rearm_rto(shape, net);
        }
    }

    /// Sets the timer to a probe in two round-trip times (RFC 8985, 7.2); whether there may be one.
    pub(super) fn schedule_loss_probe(&mut self, advancing: bool, shape: &Shape, tcp: &Tcp, net: &mut Net) -> bool {
        let open = matches!(self.state, State::Open | State::Cwr);
        if self.packets_out == 0 || !tcp.recovery.is_selective() || !open || self.una == 0 {
            return false;
        }
        let mut timeout = if self.estimator.srtt_us > 0 {
            let alone = self.packets_out == 1;
            let extra = if alone { u64::from(self.min_rto_us(tcp)) } else { MIN_TIMEOUT_US };
            self.clock.in_jiffies(u64::from(self.estimator.srtt_us >> 2) + extra)
        } else {
            self.clock.in_jiffies(tcp.initial_rto.0 / 1000)
        };
        let until = if advancing { self.clock.in_us(self.rto) as i64 } else { self.until_timeout_us(net) };
        if until > 0 {
            timeout = timeout.min(self.clock.in_jiffies(until as u64));
        }
        let timeout = timeout + self.pacing_delay(net);
        self.set_timer(Pending::LossProbe, timeout, shape, net);
        true
    }

    pub(super) fn timer_went_off(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        if net.now != self.timer_event {
            return Life::Open;
        }
        self.timer_event = Time::NEVER;
        if self.deadline == Time::NEVER {
            return Life::Open;
        }
        if self.deadline > net.now {
            self.schedule(shape, net);
            return Life::Open;
        }
        self.deadline = Time::NEVER;
        match self.pending {
            Pending::Nothing => {}
            Pending::Reordering => self.reordering_passed(shape, tcp, net),
            Pending::LossProbe => self.send_loss_probe(shape, tcp, net),
            Pending::WindowProbe => {
                self.pending = Pending::Nothing;
                return self.probe_window(shape, tcp, net);
            }
            Pending::Retransmit => {
                self.pending = Pending::Nothing;
                return self.retransmission_timeout(shape, tcp, net);
            }
        }
        Life::Open
    }

    /// The time that reordering may take is over: what has not arrived is lost (RFC 8985, 6.2).
    fn reordering_passed(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let (in_flight, lost) = (self.in_flight(), self.lost);
        self.rack_detect(net.now);
        if in_flight != self.in_flight() {
            if self.state != State::Recovery {
                self.enter_recovery(false, tcp, net);
                if !self.controller.has_model() {
                    self.reduce_window(1, self.lost - lost, false);
                }
            }
            self.retransmit_lost(shape, tcp, net);
        }
        if self.pending != Pending::Retransmit {
            self.rearm_rto(shape, net);
        }
    }

    fn retransmission_timeout(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        if self.packets_out == 0 {
            return Life::Open;
        }
        let opens = self.una == 0 && !shape.receiver_opens;
        let linear = if opens { tcp.linear_syn_timeouts } else { 0 };
        let most = if self.una == 0 { tcp.syn_retries.map(|most| most + linear) } else { tcp.retries };
        let left_ms = self.until_user_timeout(net.now);
        if most.is_some_and(|most| self.attempts >= most) || self.attempts > 0 && left_ms == Some(0) {
            self.gave_up = true;
            return Life::Over;
        }
        self.timeouts += 1;
        net.trace.timed_out(shape.owner.flow, net.now);
        if self.una == 0 {
            self.syn_lost = true;
        }
        self.enter_loss(tcp, net);
        self.attempts += 1;
        self.retransmit(self.una, self.una + 1, shape, tcp, net);
        self.count_retransmission(self.una);
        let most = self.clock.in_jiffies(tcp.max_rto.0 / 1000);
        if !opens || self.timeouts > linear {
            self.rto = (self.rto << 1).min(most);
        }
        let mut rto = self.rto;
        if let Some(left_ms) = self.until_user_timeout(net.now) {
            rto = rto.min(self.clock.in_jiffies(left_ms * 1000)).max(1);
        }
        self.set_timer(Pending::Retransmit, rto, shape, net);
        Life::Open
    }

    /// Milliseconds that are left of the time which data may be unacknowledged (RFC 5482; `tcp_clamp_rto_to_user_timeout`).
    fn until_user_timeout(&self, now: Time) -> Option<u64> {
        let most = (self.user_timeout_ms > 0).then_some(self.user_timeout_ms)?;
        let began = self.retrans_stamp.unwrap_or_else(|| self.clock.stamp(now));
        Some((began + most).saturating_sub(self.clock.stamp(now)))
    }
}
