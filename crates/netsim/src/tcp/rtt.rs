//! Round-trip time and retransmission timeout (RFC 6298) in the scaled integers of Jacobson 1988,
//! in ticks of any length: 10 ms as in ns-2, or 1 ns for a continuous clock.
//!
//! With timestamps there is a sample per acknowledgement. The gains of RFC 6298 then go to as many samples as a
//! round trip has (RFC 7323, appendix G); the rule of Linux (`tcp_rtt_estimator`) keeps the gains and takes the
//! largest deviation of a round trip instead.

use std::mem::offset_of;

use units::Time;

use crate::tcp::settings::{RtoRule, Tcp};

/// Largest factor of the exponential back-off.
const BACKOFF_MAX: u32 = 64;
/// Linux has no bound but that of the timeout.
const BACKOFF_MAX_LINUX: u32 = 1 << 16;
/// Beyond this factor the old average is forgotten, as RFC 6298, section 5 allows.
const BACKOFF_KEEPS_SRTT: u32 = 8;
/// Shortest timeout of the first data after a lost SYN (RFC 6298, 5.7).
const AFTER_LOST_SYN: Time = Time::from_millis(3000);

/// What every acknowledgement reads comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Rtt {
    /// Eight times the smoothed RTT, units; 0 before the first sample.
    srtt: i64,
    /// Four times the mean deviation, units. Under the rule of Linux what the RTO takes for it.
    rttvar: i64,
    /// Timeout without back-off.
    base: Time,
    backoff: u32,
    /// Age of the host's tick at time zero.
    phase: Time,
    /// Linux: four times the mean deviation, and the largest of this round trip.
    deviation: i64,
    largest: i64,
}

/// Length of a unit: a tick, unless there are several samples per round trip, whose parts of the gains would be
/// lost in whole ticks.
#[inline]
fn unit_ns(tcp: &Tcp) -> u64 {
    if tcp.timestamps || tcp.rto_rule == RtoRule::Linux { 1 } else { tcp.tick.0 }
}

impl Rtt {
    /// Bytes from its beginning that every acknowledgement reads.
    pub(crate) const OFTEN: usize = offset_of!(Rtt, phase);

    pub(crate) fn unknown(tcp: &Tcp, phase: Time) -> Rtt {
        Rtt { phase, srtt: 0, rttvar: 0, deviation: 0, largest: 0, base: tcp.initial_rto, backoff: 1 }
    }

    /// Takes a sample, one of `samples` in this round trip: a segment sent at `sent` and acknowledged at `now`.
    /// `new_round` says that it is the first of its round trip.
    #[inline]
    pub(crate) fn sample(&mut self, sent: Time, now: Time, samples: u32, new_round: bool, tcp: &Tcp) {
        let tick = tcp.tick.0;
        // A clock that only ticks measures from the tick before `sent`.
        let into_tick = if tick == 1 { 0 } else { (sent.0 + self.phase.0) % tick };
        let ticks = (((now - sent).0 + into_tick) / tick).max(1);
        let rtt = (ticks * (tick / unit_ns(tcp))) as i64;
        match tcp.rto_rule {
            RtoRule::Rfc6298 => self.average(rtt, i64::from(samples)),
            RtoRule::Linux => self.average_as_linux(rtt, new_round, tcp.min_rto.0 as i64),
        }
        // RTO = SRTT + 4 RTTVAR (2.2, 2.3).
        let units = ((self.rttvar << 3) + self.srtt) >> 3;
        self.base = Time(units as u64 * unit_ns(tcp));
    }

    /// RFC 6298, 2.2 and 2.3, with gains divided by the samples per round trip (RFC 7323, appendix G).
    #[inline]
    fn average(&mut self, rtt: i64, samples: i64) {
        if self.srtt == 0 {
            self.srtt = rtt << 3;
            self.rttvar = rtt << 1;
        } else {
            let error = rtt - (self.srtt >> 3);
            let variation = error.abs() - (self.rttvar >> 2);
            let (error, variation) =
                if samples > 1 { (error / samples, variation / samples) } else { (error, variation) };
            self.srtt = (self.srtt + error).max(1);
            self.rttvar = (self.rttvar + variation).max(1);
        }
    }

    /// The estimator of Linux: the deviation rises at once and sinks once per round trip; an RTT that falls moves it
    /// by an eighth only; 4 RTTVAR, not the RTO, is at least `floor`.
    fn average_as_linux(&mut self, rtt: i64, new_round: bool, floor: i64) {
        if self.srtt == 0 {
            self.srtt = rtt << 3;
            self.deviation = rtt << 1;
            self.rttvar = self.deviation.max(floor);
            self.largest = self.rttvar;
            return;
        }
        let error = rtt - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        let mut change = error.abs() - (self.deviation >> 2);
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.deviation += change;
        self.largest = self.largest.max(self.deviation);
        self.rttvar = self.rttvar.max(self.largest);
        if new_round {
            if self.largest < self.rttvar {
                self.rttvar -= (self.rttvar - self.largest) >> 2;
            }
            self.largest = floor;
        }
    }

    /// Smoothed round-trip time, seconds; 0 before the first sample.
    #[inline]
    pub(crate) fn smoothed_s(&self, tcp: &Tcp) -> f64 {
        (self.srtt as f64 / 8.0) * (unit_ns(tcp) as f64 * 1e-9)
    }

    /// The timer went off (5.5).
    pub(crate) fn back_off(&mut self, tcp: &Tcp) {
        let most = if tcp.rto_rule == RtoRule::Linux { BACKOFF_MAX_LINUX } else { BACKOFF_MAX };
        if self.backoff < most {
            self.backoff <<= 1;
        }
        if self.backoff > BACKOFF_KEEPS_SRTT && tcp.rto_rule == RtoRule::Rfc6298 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    /// The SYN was lost and a repeated one answered: a shorter initial timeout was too short (5.7). Linux leaves it if
    /// a timestamp has given a sample.
    pub(crate) fn after_lost_syn(&mut self, tcp: &Tcp) {
        let sampled = tcp.rto_rule == RtoRule::Linux && self.srtt > 0;
        if self.base < AFTER_LOST_SYN && !sampled {
            (self.base, self.backoff) = (AFTER_LOST_SYN, 1);
        }
    }

    /// A segment was acknowledged of which one knows which copy: Karn's back-off ends.
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
        rtt.sample(Time::ZERO, Time::from_millis(300), 1, true, &tcp);
        // First sample: RTO = R + 4 R/2 (2.2).
        assert_eq!(rtt.timeout(&tcp), Time::from_millis(900));
        for _ in 0..100 {
            rtt.sample(Time::ZERO, Time::from_millis(300), 1, true, &tcp);
        }
        assert!(rtt.timeout(&tcp) < Time::from_millis(310), "{:?}", rtt.timeout(&tcp));
    }

    #[test]
    fn back_off_doubles_up_to_the_bound_and_ends_with_a_sample() {
        let tcp = tcp();
        let mut rtt = Rtt::unknown(&tcp, Time::ZERO);
        rtt.sample(Time::ZERO, Time::from_millis(100), 1, true, &tcp);
        rtt.back_off(&tcp);
        assert_eq!(rtt.timeout(&tcp), Time::from_millis(600));
        for _ in 0..20 {
            rtt.back_off(&tcp);
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
        rtt.sample(Time::ZERO, Time::from_millis(5), 1, true, &coarse);
        assert_eq!(rtt.srtt, 1 << 3);
        assert_eq!(rtt.timeout(&coarse), coarse.min_rto);
    }

    #[test]
    fn many_samples_of_a_round_trip_weigh_as_much_as_one() {
        // RFC 7323, appendix G: ten samples of 200 ms after one of 100 ms move the average as one does, within the
        // difference between (1 - 1/80)^10 and 7/8.
        let many = Tcp { timestamps: true, ..tcp() };
        let at = |ms| Time::from_millis(ms);
        let (mut one, mut ten) = (Rtt::unknown(&many, Time::ZERO), Rtt::unknown(&many, Time::ZERO));
        one.sample(Time::ZERO, at(100), 1, true, &many);
        ten.sample(Time::ZERO, at(100), 1, true, &many);
        one.sample(Time::ZERO, at(200), 1, true, &many);
        for _ in 0..10 {
            ten.sample(Time::ZERO, at(200), 10, false, &many);
        }
        assert!((one.smoothed_s(&many) - 0.1125).abs() < 1e-6);
        let expected = 0.2 - 0.1 * (1.0_f64 - 1.0 / 80.0).powi(10);
        assert!((ten.smoothed_s(&many) - expected).abs() < 1e-6, "{} for {expected}", ten.smoothed_s(&many));
    }

    #[test]
    fn the_rule_of_linux_bounds_the_deviation_and_not_the_timeout() {
        let linux = Tcp { timestamps: true, rto_rule: RtoRule::Linux, ..tcp() };
        let mut rtt = Rtt::unknown(&linux, Time::ZERO);
        for n in 0..1000 {
            rtt.sample(Time::ZERO, Time::from_millis(100), 10, n % 10 == 0, &linux);
        }
        // RFC 6298 would come down to 200 ms: here it is SRTT + 200 ms.
        assert_eq!(rtt.timeout(&linux), Time::from_millis(300));
        // A sudden rise counts at once: SRTT 125 ms, deviation 50 ms and a quarter of 200 - 50.
        rtt.sample(Time::ZERO, Time::from_millis(300), 10, false, &linux);
        let rise = rtt.timeout(&linux);
        assert!(rise > Time::from_millis(320), "{rise:?}");
        // A fall moves the deviation by an eighth of what a rise would.
        let before = rtt.deviation;
        rtt.sample(Time::ZERO, Time::from_millis(1), 10, false, &linux);
        assert!((rtt.deviation - before) * 4 < 124_000_000, "{} then {}", before, rtt.deviation);
    }
}
