//! Round-trip time and retransmission timeout (RFC 6298) in the scaled integers of Jacobson 1988,
//! in ticks of any length: 10 ms as in ns-2, or 1 ns for a continuous clock.

use units::Time;

use crate::config::Tcp;

/// Largest factor of the exponential back-off.
const BACKOFF_MAX: u32 = 64;
/// Beyond this factor the old average is forgotten, as RFC 6298, section 5 allows.
const BACKOFF_KEEPS_SRTT: u32 = 8;
/// Shortest timeout of the first data after a lost SYN (RFC 6298, 5.7).
const AFTER_LOST_SYN: Time = Time::from_millis(3000);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    /// Age of the host's tick at time zero.
    phase: Time,
    /// Eight times the smoothed RTT, ticks; 0 before the first sample.
    srtt: i64,
    /// Four times the mean deviation, ticks.
    rttvar: i64,
    /// Timeout without back-off.
    base: Time,
    backoff: u32,
}

impl Rtt {
    pub(crate) fn unknown(tcp: &Tcp, phase: Time) -> Rtt {
        Rtt { phase, srtt: 0, rttvar: 0, base: tcp.initial_rto, backoff: 1 }
    }

    /// Takes a sample: a segment sent at `sent` and acknowledged at `now`.
    #[inline]
    pub(crate) fn sample(&mut self, sent: Time, now: Time, tcp: &Tcp) {
        let tick = tcp.tick.0;
        // A clock that only ticks measures from the tick before `sent`.
        let into_tick = (sent.0 + self.phase.0) % tick;
        let rtt = ((((now - sent).0 + into_tick) / tick) as i64).max(1);
        if self.srtt == 0 {
            self.srtt = rtt << 3;
            self.rttvar = rtt << 1;
        } else {
            let error = rtt - (self.srtt >> 3);
            self.srtt = (self.srtt + error).max(1);
            self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
        }
        // RTO = SRTT + 4 RTTVAR (2.2, 2.3).
        let ticks = ((self.rttvar << 3) + self.srtt) >> 3;
        self.base = Time(ticks as u64 * tick);
    }

    /// Smoothed round-trip time, seconds; 0 before the first sample.
    #[inline]
    pub(crate) fn smoothed_s(&self, tcp: &Tcp) -> f64 {
        (self.srtt as f64 / 8.0) * (tcp.tick.0 as f64 * 1e-9)
    }

    /// The timer went off (5.5).
    pub(crate) fn back_off(&mut self) {
        if self.backoff < BACKOFF_MAX {
            self.backoff <<= 1;
        }
        if self.backoff > BACKOFF_KEEPS_SRTT {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    /// The SYN was lost and a repeated one answered: a shorter initial timeout was too short (5.7).
    pub(crate) fn after_lost_syn(&mut self) {
        if self.base < AFTER_LOST_SYN {
            (self.base, self.backoff) = (AFTER_LOST_SYN, 1);
        }
    }

    /// A segment sent once was acknowledged: Karn's back-off ends.
    #[inline]
    pub(crate) fn end_back_off(&mut self) {
        self.backoff = 1;
    }

    /// Timeout now: at least `min_rto` before the back-off, at most `max_rto` after it.
    #[inline]
    pub(crate) fn timeout(&self, tcp: &Tcp) -> Time {
        let backed_off = Time(self.base.max(tcp.min_rto).0 * u64::from(self.backoff));
        backed_off.min(tcp.max_rto).max(Time(2 * tcp.tick.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::tests::tcp;

    #[test]
    fn a_steady_rtt_brings_the_timeout_down_to_it() {
        let tcp = tcp();
        let mut rtt = Rtt::unknown(&tcp, Time::ZERO);
        assert_eq!(rtt.timeout(&tcp), tcp.initial_rto);
        rtt.sample(Time::ZERO, Time::from_millis(300), &tcp);
        // First sample: RTO = R + 4 R/2 (2.2).
        assert_eq!(rtt.timeout(&tcp), Time::from_millis(900));
        for _ in 0..100 {
            rtt.sample(Time::ZERO, Time::from_millis(300), &tcp);
        }
        assert!(rtt.timeout(&tcp) < Time::from_millis(310), "{:?}", rtt.timeout(&tcp));
    }

    #[test]
    fn back_off_doubles_up_to_the_bound_and_ends_with_a_sample() {
        let tcp = tcp();
        let mut rtt = Rtt::unknown(&tcp, Time::ZERO);
        rtt.sample(Time::ZERO, Time::from_millis(100), &tcp);
        rtt.back_off();
        assert_eq!(rtt.timeout(&tcp), Time::from_millis(600));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(&tcp), Time::from_millis(300 * 64));
        rtt.end_back_off();
        assert_eq!(rtt.timeout(&tcp), Time::from_millis(300));
    }

    #[test]
    fn a_coarse_clock_counts_whole_ticks_from_the_tick_before() {
        let coarse = Tcp { tick: Time::from_millis(10), ..tcp() };
        let mut rtt = Rtt::unknown(&coarse, Time::from_millis(9));
        // Sent 9 ms into a tick, 5 ms on the way: one tick.
        rtt.sample(Time::ZERO, Time::from_millis(5), &coarse);
        assert_eq!(rtt.srtt, 1 << 3);
        assert_eq!(rtt.timeout(&coarse), coarse.min_rto);
    }
}
