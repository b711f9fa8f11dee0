//! When the next segment of a sender may leave: see [`crate::tcp::pacing`].

use units::Time;

use crate::event::Kind;
use crate::tcp::Shape;
use crate::tcp::sender::Sender;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

/// Segments of a connection that are sent without pacing.
const UNPACED: u64 = 10;
/// Windows per round trip in slow start.
const SLOW_START: f64 = 2.0;

impl Sender {
    /// Whether the next segment must wait; then the timer will ask for it.
    #[inline]
    pub(in crate::tcp) fn must_wait(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> bool {
        let waits = tcp.is_paced() && self.pacer.next > net.now;
        if waits && self.pacer.timer_event == Time::NEVER {
            self.pacer.timer_event = self.pacer.next;
            net.events.schedule(self.pacer.next, Kind::Pace, shape.owner.slot as usize);
        }
        waits
    }

    /// A segment has left.
    #[inline]
    pub(in crate::tcp) fn pace(&mut self, tcp: &Tcp, net: &Net) {
        let rate = self.pacing_rate(tcp);
        if rate > 0.0 && self.sent > UNPACED {
            self.pacer.next = self.pacer.next.max(net.now) + Time((1e9 / rate) as u64);
        }
    }

    /// Segments per second; 0 before the first RTT sample.
    fn pacing_rate(&self, tcp: &Tcp) -> f64 {
        if let Some(model) = &self.model {
            return model.path.pacing_rate();
        }
        let srtt = self.rtt.smoothed_s(tcp);
        if srtt <= 0.0 {
            return 0.0;
        }
        let traits = self.control.rule.traits();
        let windows = if self.control.cwnd < self.control.ssthresh / 2.0 { SLOW_START } else { traits.pace };
        // What is in flight beyond the window has left it for a mark, and is not to be sent anew at its rate.
        let window =
            if tcp.counts_marks() { self.control.cwnd } else { self.control.cwnd.max(f64::from(self.max - self.una)) };
        windows * window / srtt
    }

    pub(in crate::tcp) fn on_pace_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if net.now == self.pacer.timer_event {
            self.pacer.timer_event = Time::NEVER;
            self.send_allowed(shape, tcp, net);
        }
    }
}
