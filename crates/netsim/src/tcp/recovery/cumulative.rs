//! Recovery by cumulative acknowledgements: duplicates open the window by what has left the network (RFC 5681, 3.2).
//! Reno ends with the first new acknowledgement, NewReno when all that was out at its beginning is acknowledged, and
//! repairs one loss per round trip on the way (RFC 6582).

use crate::tcp::Shape;
use crate::tcp::recovery::DUP_THRESH;
use crate::tcp::sender::{Sender, Timed};
use crate::tcp::settings::{Recovery, Tcp};
use crate::wire::net::Net;

impl Sender {
    /// Whether a new acknowledgement up to `ack` is one of several that recovery takes.
    #[inline]
    pub(in crate::tcp) fn is_partial(&self, ack: u32, tcp: &Tcp) -> bool {
        self.recovering && ack < self.recover && tcp.recovery == Recovery::NewReno
    }

    /// A partial acknowledgement: the next hole is lost too (RFC 6582, 3.2, step 3).
    pub(in crate::tcp) fn on_partial_ack(&mut self, ack: u32, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if !tcp.impatient || !self.partial_seen {
            self.partial_seen = true;
            self.arm(shape, tcp, net);
        }
        let acked = ack - self.una;
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            self.control.cwnd = (self.control.cwnd - f64::from(acked - self.inflation)).max(1.0);
            self.inflation = 1;
        }
        if tcp.timestamps {
            self.on_sample(ack, options, tcp, net);
        } else if self.timed.get().is_some_and(|(seq, _)| ack > seq) {
            self.timed = Timed::NONE;
            self.rtt.end_back_off();
        }
        self.advance(ack);
        self.output(self.una, shape, tcp, net);
        self.send_window(tcp.recovery_burst, shape, tcp, net);
    }

    pub(in crate::tcp) fn on_dup_ack(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.dup_acks += 1;
        if self.dup_acks < DUP_THRESH {
            if tcp.limited_transmit {
                self.send_one(shape, tcp, net);
            }
            return;
        }
        if self.dup_acks > DUP_THRESH {
            self.inflation += u32::from(self.recovering);
        } else if self.una > self.recover {
            self.enter_recovery(shape, tcp, net);
            self.inflation = DUP_THRESH;
        }
        self.send_window(tcp.recovery_burst, shape, tcp, net);
    }

    /// Limited transmit: one segment that was never sent (RFC 3042, 2).
    fn send_one(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let allowed = f64::from(self.una) + self.control.cwnd + f64::from(self.dup_acks) - 1.0;
        let in_window = self.nxt < self.una + tcp.receiver_window;
        let unsent = self.nxt == self.max || tcp.lax_duplicates;
        if unsent && self.nxt <= shape.last && in_window && f64::from(self.nxt) <= allowed {
            self.output(self.nxt, shape, tcp, net);
            self.nxt += 1;
            self.limited += 1;
        }
    }
}
