//! Round-trip time and probe timeout (RFC 9002, 5 and 6.2, appendix A.7).

use units::Time;

use crate::tcp::settings::Tcp;

/// What an end knows of the round-trip time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtt {
    pub(super) latest: Time,
    pub(super) min: Time,
    pub(super) smoothed: Time,
    pub(super) var: Time,
    /// When the first sample was taken; `NEVER` before.
    pub(super) first_sample: Time,
    sum_ns: u64,
    samples: u32,
}

impl Rtt {
    /// Before a sample: the timeout is that of the settings, three times the initial round-trip time (6.2.2).
    pub(super) fn unknown(tcp: &Tcp) -> Rtt {
        let initial = tcp.initial_rto.0 / 3;
        Rtt {
            latest: Time::ZERO,
            min: Time::ZERO,
            smoothed: Time(initial),
            var: Time(initial / 2),
            first_sample: Time::NEVER,
            sum_ns: 0,
            samples: 0,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.first_sample != Time::NEVER
    }

    /// Smoothed, seconds; 0 before a sample.
    pub(super) fn smoothed_s(&self) -> f64 {
        if self.is_known() { self.smoothed.as_secs_f64() } else { 0.0 }
    }

    /// Mean of the samples, seconds; no number before the first.
    pub(super) fn mean_s(&self) -> f64 {
        self.sum_ns as f64 * 1e-9 / f64::from(self.samples)
    }

    /// Takes a sample, of which the peer says that it spent `ack_delay` on its acknowledgement; `longest` bounds that once
    /// the handshake is confirmed.
    pub(super) fn sample(&mut self, latest: Time, ack_delay: Time, longest: Option<Time>, now: Time) {
        self.latest = latest;
        self.sum_ns += latest.0;
        self.samples += 1;
        if !self.is_known() {
            (self.first_sample, self.min, self.smoothed, self.var) = (now, latest, latest, Time(latest.0 / 2));
            return;
        }
        // The smallest does without the peer's word (5.2).
        self.min = self.min.min(latest);
        let delay = longest.map_or(ack_delay, |longest| ack_delay.min(longest));
        let adjusted = if latest >= self.min + delay { latest - delay } else { latest };
        let deviation = self.smoothed.0.abs_diff(adjusted.0);
        self.var = Time((3 * self.var.0 + deviation) / 4);
        self.smoothed = Time((7 * self.smoothed.0 + adjusted.0) / 8);
    }

    /// Probe timeout without the peer's delay and without back-off (6.2.1).
    pub(super) fn timeout(&self, tcp: &Tcp) -> Time {
        (self.smoothed + Time(4 * self.var.0).max(tcp.tick)).max(tcp.min_rto)
    }

    /// A packet sent so long before one that is acknowledged is lost (6.1.2): 9/8 of a round trip.
    pub(super) fn loss_delay(&self, tcp: &Tcp) -> Time {
        Time(self.latest.max(self.smoothed).0 / 8 * 9).max(tcp.tick)
    }

    /// When all that was sent for so long is lost, congestion is persistent (7.6.1).
    pub(super) fn persistent(&self, tcp: &Tcp) -> Time {
        Time(3 * (self.smoothed + Time(4 * self.var.0).max(tcp.tick) + tcp.delayed_ack).0)
    }
}
