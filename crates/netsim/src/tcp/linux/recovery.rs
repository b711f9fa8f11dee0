//! From open to recovery and back: what dubious acknowledgements do to the state (`tcp_fastretrans_alert`).

use units::Time;

use super::acks::{Flags, Rexmit};
use super::ca_state::State;
use super::ops::{CongestionOps, Left};
use super::sender::{INFINITE, REORDERING, Sender};
use crate::tcp::Shape;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

impl Sender {
    /// An acknowledgement is dubious, a `duplicate` perhaps, or the state is not open.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn alert(
        &mut self,
        prior_una: u32,
        duplicate: bool,
        stamp_echo: Option<u64>,
        flags: &mut Flags,
        rexmit: &mut Rexmit,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        let selective = tcp.recovery.is_selective();
        if self.packets_out == 0 {
            self.sacked_out = 0;
        }
        if flags.ece {
            // A mark demands the reduction: it is not taken back.
            self.prior_ssthresh = 0;
        }
        if self.state == State::Open {
            self.retrans_stamp = None;
        } else if self.una >= self.high_seq {
            match self.state {
                // Held until something above is acknowledged, so that CWR reaches the receiver.
                State::Cwr if self.una != self.high_seq => {
                    self.end_reduction(net);
                    self.state = State::Open;
                }
                State::Recovery => {
                    if !selective {
                        self.sacked_out = 0;
                    }
                    if self.undo_recovery(stamp_echo, tcp, net) {
                        return;
                    }
                    self.end_reduction(net);
                    self.controller.on_recovered();
                }
                _ => {}
            }
        }
        match self.state {
            State::Recovery => {
                if !flags.una_advanced {
                    if !selective {
                        self.add_reno_sack(duplicate, flags.ece);
                    }
                } else if self.undo_partial(prior_una, stamp_echo, net) {
                    return;
                }
                if self.undo_dsack(net) {
                    self.try_to_open(flags, tcp);
                }
                self.find_losses(flags, shape, tcp, net);
                if self.state != State::Recovery {
                    if self.lost_out == 0 {
                        return;
                    }
                    self.enter_recovery(flags.ece, tcp, net);
                }
            }
            State::Loss => {
                self.process_loss(flags, duplicate, stamp_echo, rexmit, shape, tcp, net);
                self.find_losses(flags, shape, tcp, net);
                if !(self.state == State::Open || flags.lost_retrans) {
                    return;
                }
                if !self.leave_open(duplicate, flags, shape, tcp, net) {
                    return;
                }
            }
            _ => {
                if !self.leave_open(duplicate, flags, shape, tcp, net) {
                    return;
                }
            }
        }
        *rexmit = Rexmit::Lost;
    }

    /// Where nothing is being repaired: whether recovery begins now.
    fn leave_open(&mut self, duplicate: bool, flags: &mut Flags, shape: &Shape, tcp: &Tcp, net: &mut Net) -> bool {
        if !tcp.recovery.is_selective() {
            if flags.una_advanced {
                self.sacked_out = 0;
            }
            self.add_reno_sack(duplicate, flags.ece);
        }
        if self.state <= State::Disorder {
            self.undo_dsack(net);
        }
        self.find_losses(flags, shape, tcp, net);
        if self.lost_out == 0 {
            self.try_to_open(flags, tcp);
            return false;
        }
        self.enter_recovery(flags.ece, tcp, net);
        true
    }

    /// Marks what is lost (`tcp_identify_packet_loss`): by time where acknowledgements are selective, else the first
    /// segment not acknowledged (RFC 6582).
    fn find_losses(&mut self, flags: &mut Flags, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.packets_out == 0 {
            return;
        }
        if tcp.recovery.is_selective() {
            let before = self.retrans_out;
            if self.rack_mark_lost(shape, net) {
                flags.set_timer = false;
            }
            if before > self.retrans_out {
                flags.lost_retrans = true;
            }
        } else {
            let third = self.state < State::Recovery && self.sacked_out >= self.reordering;
            let partial = self.state == State::Recovery && flags.una_advanced;
            if (third || partial) && !self.queue.get(self.una).lost {
                if self.una + 1 < self.nxt {
                    self.queue.split(self.una + 1);
                }
                self.mark_lost(self.una, net.now);
            }
        }
    }

    /// `seq` is lost (`tcp_mark_skb_lost`); a repeated copy may be lost again.
    pub(super) fn mark_lost(&mut self, seq: u32, now: Time) {
        let segment = *self.queue.get(seq);
        if segment.sacked {
            return;
        }
        let found = self.lost;
        let none_waits = self.retransmit_hint.is_none() && self.retrans_out >= self.lost_out;
        if none_waits || self.retransmit_hint.is_some_and(|hint| seq < hint) {
            self.retransmit_hint = Some(seq);
        }
        if !segment.lost {
            self.queue.at(seq).lost = true;
            self.lost_out += 1;
            self.lost += 1;
        } else if segment.retrans {
            self.queue.at(seq).retrans = false;
            self.retrans_out -= 1;
            self.lost += 1;
        }
        if let Some(path) = self.controller.path()
            && self.lost > found
        {
            path.lose(seq, now);
        }
    }

    /// Whether something sent again is not yet acknowledged (`tcp_any_retrans_done`).
    pub(super) fn any_retransmitted(&self) -> bool {
        self.retrans_out > 0 || self.packets_out > 0 && self.queue.get(self.una).ever_retrans
    }

    fn try_to_open(&mut self, flags: &Flags, tcp: &Tcp) {
        if !self.any_retransmitted() {
            self.retrans_stamp = None;
        }
        if flags.ece {
            self.enter_cwr(tcp);
        }
        if self.state != State::Cwr {
            self.keep_open();
        }
    }

    pub(super) fn keep_open(&mut self) {
        let dubious = self.sacked_out + self.lost_out > 0 || self.any_retransmitted();
        let state = if dubious { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high_seq = self.nxt;
        }
    }

    /// A mark: the window shrinks over a round trip (RFC 3168, 6.1.2).
    fn enter_cwr(&mut self, tcp: &Tcp) {
        self.prior_ssthresh = 0;
        if self.state < State::Cwr {
            let left = self.controller.marked(self.cwnd, self.cwnd_cnt, self.ssthresh);
            let Some(left) = left else { return };
            self.undo_marker = 0;
            self.reduce_to(left, tcp);
            self.state = State::Cwr;
            if self.controller.reduces_at_once() {
                self.cwnd = left.cwnd;
            }
        }
    }

    pub(super) fn enter_recovery(&mut self, marked: bool, tcp: &Tcp, net: &Net) {
        if !self.any_retransmitted() {
            self.retrans_stamp = None;
        }
        self.prior_ssthresh = 0;
        self.begin_undo();
        if !self.is_reducing() {
            if !marked {
                self.prior_ssthresh = self.current_ssthresh();
            }
            self.begin_reduction(tcp);
        }
        self.state = State::Recovery;
        self.with_model(net.now, |controller, view| controller.model_recovers(view));
    }

    /// The threshold, or three quarters of a window that is above it.
    pub(super) fn current_ssthresh(&self) -> u32 {
        if self.is_reducing() { self.ssthresh } else { self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2)) }
    }

    pub(super) fn begin_reduction(&mut self, tcp: &Tcp) {
        let left = self.controller.reduced(self.cwnd, self.cwnd_cnt, self.ssthresh);
        self.reduce_to(left, tcp);
    }

    fn reduce_to(&mut self, left: Left, tcp: &Tcp) {
        self.high_seq = self.nxt;
        self.tlp_high_seq = None;
        self.cwnd_cnt = left.more;
        self.prior_cwnd = self.cwnd;
        (self.prr_delivered, self.prr_out) = (0, 0);
        self.ssthresh = left.cwnd;
        self.owes_cwr = tcp.ecn.is_on();
    }

    /// Proportional rate reduction (RFC 6937, 3): the window follows what arrives.
    pub(super) fn reduce_window(&mut self, delivered: u32, losses: u32, una_advanced: bool) {
        if delivered == 0 || self.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.in_flight();
        self.prr_delivered += delivered;
        let delta = i64::from(self.ssthresh) - i64::from(in_flight);
        let (arrived, out) = (i64::from(self.prr_delivered), i64::from(self.prr_out));
        let mut count = if delta < 0 {
            let share = u64::from(self.ssthresh) * u64::from(self.prr_delivered) + u64::from(self.prior_cwnd) - 1;
            (share / u64::from(self.prior_cwnd)) as i64 - out
        } else {
            let conserved = (arrived - out).max(i64::from(delivered)) + i64::from(una_advanced && losses == 0);
            conserved.min(delta)
        };
        // The first one leaves in any case.
        count = count.max(i64::from(self.prr_out == 0));
        self.cwnd = (i64::from(in_flight) + count).max(1) as u32;
    }

    pub(super) fn end_reduction(&mut self, net: &Net) {
        let follows = self.state == State::Cwr && self.controller.reduces_at_once();
        if self.controller.has_model() || follows {
            return;
        }
        if self.ssthresh < INFINITE && (self.state == State::Cwr || self.undo_marker > 0) {
            self.cwnd = self.ssthresh;
            self.cwnd_stamp = self.clock.jiffies(net.now);
        }
    }

    /// An acknowledgement after a timeout: spurious (RFC 5682, 3.1), over, or more to be sent again.
    #[allow(clippy::too_many_arguments)]
    fn process_loss(
        &mut self,
        flags: &Flags,
        duplicate: bool,
        stamp_echo: Option<u64>,
        rexmit: &mut Rexmit,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        let recovered = self.una >= self.high_seq;
        if flags.una_advanced && self.undo_loss(false, stamp_echo, tcp, net) {
            return;
        }
        if self.frto {
            if flags.orig_acked && self.undo_loss(true, stamp_echo, tcp, net) {
                return;
            }
            if self.nxt > self.high_seq {
                if flags.data_sacked || duplicate {
                    self.frto = false;
                }
            } else if flags.una_advanced && !recovered {
                self.high_seq = self.nxt;
                if self.nxt <= shape.last && self.is_in_receiver_window(self.nxt, shape, tcp) {
                    *rexmit = Rexmit::New;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.undo_recovery(stamp_echo, tcp, net);
            return;
        }
        if !tcp.recovery.is_selective() {
            if self.nxt > self.high_seq && duplicate {
                self.add_reno_sack(duplicate, flags.ece);
            } else if flags.una_advanced {
                self.sacked_out = 0;
            }
        }
        *rexmit = Rexmit::Lost;
    }

    /// The retransmission timer went off: what is out counts as lost, but for what left less than a round trip ago
    /// (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, tcp: &Tcp, net: &Net) {
        let new_recovery = self.state < State::Recovery;
        let selective = tcp.recovery.is_selective();
        if !selective {
            self.sacked_out = 0;
        }
        let head_end = self.queue.buffer_end(self.una, self.nxt);
        for seq in self.una..self.nxt {
            let recent = selective && seq >= head_end && self.rack_remaining_us(seq, 0, net.now) > 0;
            if !recent {
                self.mark_lost(seq, net.now);
            }
        }
        self.retransmit_hint = None;
        let again = self.state == State::Loss && self.attempts == 0;
        if self.state <= State::Disorder || self.high_seq <= self.una || again {
            self.prior_ssthresh = self.current_ssthresh();
            self.prior_cwnd = self.cwnd;
            self.ssthresh = self.controller.reduced(self.cwnd, self.cwnd_cnt, self.ssthresh).cwnd;
            self.begin_undo();
        }
        self.cwnd = self.in_flight() + 1;
        self.cwnd_cnt = 0;
        self.cwnd_stamp = self.clock.jiffies(net.now);
        if self.state <= State::Disorder && self.sacked_out >= REORDERING {
            self.reordering = self.reordering.min(REORDERING);
        }
        self.controller.on_loss_state(self.nxt, net.now);
        self.with_model(net.now, |controller, view| controller.model_times_out(view));
        self.state = State::Loss;
        self.high_seq = self.nxt;
        self.tlp_high_seq = None;
        self.owes_cwr = tcp.ecn.is_on();
        self.frto = new_recovery || self.attempts > 0;
    }

    /// A duplicate acknowledgement where none is selective: one more has arrived (`tcp_add_reno_sack`).
    fn add_reno_sack(&mut self, duplicate: bool, marked: bool) {
        if !duplicate {
            return;
        }
        let before = self.sacked_out;
        self.sacked_out += 1;
        self.check_reno_reordering(0);
        self.count_delivered(self.sacked_out.saturating_sub(before), marked);
    }

    /// `acked` segments are acknowledged where none is selectively: one was the hole, the others had been told by
    /// duplicates (`tcp_remove_reno_sacks`).
    pub(super) fn remove_reno_sacks(&mut self, acked: u32, marked: bool) {
        if acked > 0 {
            self.count_delivered(acked.saturating_sub(self.sacked_out).max(1), marked);
            self.sacked_out = self.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(acked);
    }

    /// More duplicates than segments that can have caused them: the network reorders.
    fn check_reno_reordering(&mut self, acked: u32) {
        let holes = self.lost_out.max(1).min(self.packets_out);
        if self.sacked_out + holes > self.packets_out {
            self.sacked_out = self.packets_out - holes;
            self.reordering = (self.packets_out + acked).min(300);
            self.reord_seen += 1;
        }
    }
}
