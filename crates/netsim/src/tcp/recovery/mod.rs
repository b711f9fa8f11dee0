//! Loss recovery: what duplicate and selective acknowledgements make the sender do. How much of the window a loss
//! takes is the business of congestion control; the two combine freely.

mod cumulative;
mod sack;

use crate::tcp::Shape;
use crate::tcp::sender::{Sender, Timed};
use crate::tcp::settings::{EcnMode, LossWindow, Recovery, RecoveryExit, Tcp};
use crate::wire::net::Net;

/// Duplicate acknowledgements that mean a loss.
pub(crate) const DUP_THRESH: u32 = 3;

impl Sender {
    /// Fast retransmit has found a loss: the window shrinks, unless a mark has reduced it for this window already as a loss
    /// would (RFC 3168, 6.1.2), and the first segment not acknowledged is sent again.
    fn enter_recovery(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if tcp.recovery != Recovery::Reno {
            self.recover = self.max;
        }
        self.recovering = true;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_loss(self.max);
            self.control.end_first_slow_start();
        }
        self.owes_cwr = tcp.ecn == EcnMode::Classic;
        self.timed = Timed::NONE;
        self.arm(shape, tcp, net);
        if self.model.is_some() {
            self.model_recovers();
        } else if self.una >= self.marked_below || tcp.counts_marks() {
            let window = self.control.reduced(self.loss_window(tcp));
            self.control.ssthresh = self.control.threshold(window);
            self.control.cwnd = match tcp.recovery_exit {
                RecoveryExit::AsIs => window.max(1.0),
                RecoveryExit::Deflate => self.control.ssthresh,
            };
        }
        self.output(self.una, shape, tcp, net);
    }

    /// An acknowledgement has ended recovery: what window is left.
    pub(super) fn leave_recovery(&mut self, ack: u32, tcp: &Tcp) {
        self.inflation = 0;
        self.recovering = false;
        self.board.end_recovery();
        self.control.rule.on_recovered();
        if self.model.is_some() {
            self.model_recovered();
        } else if tcp.recovery_exit == RecoveryExit::Deflate {
            self.control.cwnd = match tcp.recovery {
                Recovery::NewReno => {
                    let flight = self.max.saturating_sub(ack).max(1);
                    self.control.ssthresh.min(f64::from(flight + 1))
                }
                // RFC 5681, 3.2, step 6; RFC 6675 leaves the window where its recovery held it.
                _ => self.control.ssthresh,
            };
        }
    }

    /// What a loss leaves a part of, segments.
    pub(super) fn loss_window(&self, tcp: &Tcp) -> f64 {
        if tcp.counts_marks() {
            // What a mark in the same window took off does not come on top (RFC 8257, 3.5; Prague, 2.4.5).
            return if self.una < self.marked_below { self.unmarked } else { self.control.cwnd };
        }
        let cwnd = self.control.cwnd + f64::from(self.inflation);
        match tcp.loss_window {
            LossWindow::Flight => {
                // Without what limited transmit added (RFC 5681, 3.2, step 2).
                let flight = self.max - self.una - self.limited;
                // Two cases where the data not yet acknowledged is a poor measure of what the network held: SACKed
                // segments have left it, and between two losses close together there is up to a window of them; and a
                // rule that takes off less than a segment must not lose the fraction the window has beyond it.
                let exact = tcp.recovery == Recovery::Sack || !self.control.rule.traits().whole;
                if exact && f64::from(flight + 1) > cwnd { cwnd } else { f64::from(flight) }
            }
            LossWindow::Cwnd => cwnd.min(f64::from(tcp.receiver_window)),
        }
    }
}
