//! The receiver's window: what it holds, and what to do while it is closed.
//!
//! Principle: the receiver tells with every acknowledgement how much it takes from there on. When it takes nothing more and
//! nothing is on its way that it would acknowledge, it is asked from time to time, the longer the rarer, since what it told
//! when it opened again may have been lost (RFC 9293, 3.8.6.1). Source: Linux 6.1, net/ipv4/tcp_input.c
//! (`tcp_ack_update_window`, `tcp_ack_probe`), tcp_timer.c (`tcp_probe_timer`), tcp_output.c (`tcp_send_probe0`).
//!
//! Left out: a window of less than a segment, into which Linux would send a part of one.

use units::Direction;

use super::clock::Jiffies;
use super::ops::CongestionOps;
use super::pending::Pending;
use super::sender::Sender;
use crate::tcp::settings::Tcp;
use crate::tcp::{Life, Shape};
use crate::wire::handle::Mark;
use crate::wire::net::Net;

impl Sender {
    /// Whether the receiver's window holds `seq`.
    #[inline]
    pub(super) fn is_in_receiver_window(&self, seq: u32, shape: &Shape, tcp: &Tcp) -> bool {
        let before = u64::from(seq - self.una) * u64::from(self.mss);
        before + u64::from(shape.payload(seq, tcp).max(1)) <= self.window.into()
    }

    /// Whole segments from `nxt` on that it holds.
    pub(super) fn receiver_room(&self) -> u32 {
        (self.window / self.mss).saturating_sub(self.nxt - self.una)
    }

    /// The receiver's window is `bytes` now.
    pub(super) fn take_window(&mut self, bytes: u32, tcp: &Tcp, net: &Net) {
        if bytes != self.window && self.packets_out == 0 && tcp.restart_after_idle && !self.controller.has_model() {
            let idle = self.clock.jiffies(net.now) - self.last_sent;
            if idle > self.rto {
                self.restart_window(idle, tcp, net);
            }
        }
        self.window = bytes;
        self.widest = self.widest.max(bytes);
    }

    /// Nothing is under way: the receiver is asked for its window if the next segment must wait for it.
    pub(super) fn check_closed_window(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if self.packets_out > 0 || self.una == 0 || self.nxt > shape.last {
            return;
        }
        if self.is_in_receiver_window(self.nxt, shape, tcp) {
            self.probes = 0;
            if self.pending == Pending::WindowProbe {
                self.clear_timer();
            }
        } else {
            self.set_timer(Pending::WindowProbe, self.until_probe(tcp), shape, net);
        }
    }

    /// Time to the next probe, twice the one before.
    fn until_probe(&self, tcp: &Tcp) -> Jiffies {
        let most = self.clock.in_jiffies(tcp.max_rto.0 / 1000);
        let least = self.rto.max(self.clock.in_jiffies(tcp.min_rto.0 / 1000));
        (least << self.probes.min(20)).min(most)
    }

    /// Asks the receiver for its window, with a number that it knows already.
    pub(super) fn probe_window(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        if self.packets_out > 0 || self.nxt > shape.last {
            return Life::Open;
        }
        if tcp.retries.is_some_and(|most| self.probes >= most) {
            self.gave_up = true;
            return Life::Over;
        }
        let mut probe = shape.control(Direction::Forward, Mark::Probe, self.una - 1, tcp);
        probe.remaining = shape.size_bytes - shape.bytes_before(self.una, tcp);
        net.send(shape.out as usize, probe);
        self.probes += 1;
        self.set_timer(Pending::WindowProbe, self.until_probe(tcp), shape, net);
        Life::Open
    }
}
