//! A reduction taken back: what was sent again had not been lost (RFC 3522 by timestamps, RFC 3708 by duplicates told,
//! RFC 5682 after a timeout; the response is that of RFC 4015 with the whole window).

use super::ca_state::State;
use super::ops::CongestionOps;
use super::sender::Sender;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

impl Sender {
    /// From here on a reduction may be taken back (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo_marker = self.una;
        self.undo_retrans = self.retrans_out as i32 + i32::from(self.tlp_high_seq.is_some() && self.tlp_retrans);
        if self.undo_retrans == 0 {
            self.undo_retrans = -1;
        }
    }

    /// Whether what was acknowledged had left before the first retransmission (`tcp_packet_delayed`).
    fn was_delayed(&self, stamp_echo: Option<u64>) -> bool {
        match self.retrans_stamp {
            Some(stamp) => stamp_echo.is_some_and(|echo| echo > 0 && echo < stamp),
            None => true,
        }
    }

    fn may_undo(&self, stamp_echo: Option<u64>, tcp: &Tcp) -> bool {
        let held = !tcp.recovery.is_selective() && self.una >= self.high_seq && self.retrans_stamp.is_none();
        self.undo_marker > 0 && (self.undo_retrans == 0 || !held && self.was_delayed(stamp_echo))
    }

    fn undo_reduction(&mut self, unmark: bool, net: &Net) {
        if unmark {
            for seq in self.una..self.nxt {
                self.queue.at(seq).lost = false;
            }
            self.lost_out = 0;
            self.retransmit_hint = None;
        }
        if self.prior_ssthresh > 0 {
            if self.controller.has_model() {
                self.with_model(net.now, |controller, view| controller.model_undoes(view));
            } else {
                self.cwnd = self.cwnd.max(self.prior_cwnd);
                self.controller.on_undo();
            }
            if self.prior_ssthresh > self.ssthresh {
                self.ssthresh = self.prior_ssthresh;
                self.owes_cwr = false;
            }
        }
        self.cwnd_stamp = self.clock.jiffies(net.now);
        self.undo_marker = 0;
        self.rack.advanced = true;
    }

    /// Without selective acknowledgements a state is held until something above it is acknowledged, or late duplicates
    /// would begin another recovery (RFC 6582, 4.1).
    fn is_held(&mut self, tcp: &Tcp) -> bool {
        let held = self.una == self.high_seq && !tcp.recovery.is_selective();
        if held && !self.any_retransmitted() {
            self.retrans_stamp = None;
        }
        held
    }

    /// All of a recovery is acknowledged; whether its state is held nevertheless.
    pub(super) fn undo_recovery(&mut self, stamp_echo: Option<u64>, tcp: &Tcp, net: &Net) -> bool {
        if self.may_undo(stamp_echo, tcp) {
            self.undo_reduction(false, net);
        } else if self.rack.persist > 0 {
            self.rack.persist -= 1;
        }
        if self.is_held(tcp) {
            return true;
        }
        self.state = State::Open;
        false
    }

    /// Every retransmission was told to have been needless.
    pub(super) fn undo_dsack(&mut self, net: &Net) -> bool {
        let undone = self.undo_marker > 0 && self.undo_retrans == 0;
        if undone {
            self.rack.persist_longer();
            self.undo_reduction(false, net);
        }
        undone
    }

    /// After a timeout: `spurious` as RFC 5682 finds it, or by timestamps and duplicates told.
    pub(super) fn undo_loss(&mut self, spurious: bool, stamp_echo: Option<u64>, tcp: &Tcp, net: &Net) -> bool {
        if !spurious && !self.may_undo(stamp_echo, tcp) {
            return false;
        }
        self.undo_reduction(true, net);
        self.attempts = 0;
        if self.is_held(tcp) {
            return true;
        }
        if spurious || tcp.recovery.is_selective() {
            self.state = State::Open;
        }
        true
    }

    /// A part of a recovery is acknowledged; whether to leave it at that, because what is still out may be delayed too.
    pub(super) fn undo_partial(&mut self, prior_una: u32, stamp_echo: Option<u64>, net: &Net) -> bool {
        if self.undo_marker == 0 || !self.was_delayed(stamp_echo) {
            return false;
        }
        self.check_reordering(prior_una);
        if self.retrans_out > 0 {
            return true;
        }
        if !self.any_retransmitted() {
            self.retrans_stamp = None;
        }
        self.undo_reduction(true, net);
        self.keep_open();
        false
    }
}
