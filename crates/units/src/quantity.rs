use schemars::JsonSchema;
use serde::Deserialize;

use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in integer nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every event: "not scheduled".
    pub const NEVER: Time = Time(u64::MAX);

    /// Nearest nanosecond to `seconds`; `None` when negative, not finite or beyond 500 years.
    pub fn from_secs_f64(seconds: f64) -> Option<Time> {
        let ns = (seconds * 1e9).round();
        (0.0..1.6e19).contains(&ns).then_some(Time(ns as u64))
    }

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Seconds, rounded to the precision of `f64`.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Difference that stops at zero.
    #[inline]
    pub fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Time) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, span: Time) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, earlier: Time) -> Time {
        Time(self.0 - earlier.0)
    }
}

/// A link speed in bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(u64);

impl BitRate {
    /// `bps` bits per second; `None` for zero.
    pub fn from_bps(bps: u64) -> Option<BitRate> {
        (bps > 0).then_some(BitRate(bps))
    }

    /// Bits per second.
    pub fn bps(self) -> u64 {
        self.0
    }

    /// Time to serialise `bytes` onto the link, rounded to the nearest nanosecond.
    #[inline]
    pub fn transmission(self, bytes: u64) -> Time {
        let bits_ns = u128::from(bytes) * 8_000_000_000;
        Time(((bits_ns + u128::from(self.0) / 2) / u128::from(self.0)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_1200_us_at_10_mbps() {
        let rate = BitRate::from_bps(10_000_000).expect("non-zero");
        assert_eq!(rate.transmission(1500), Time(1_200_000));
        assert_eq!(BitRate::from_bps(28_000_000).expect("non-zero").transmission(1000), Time(285_714));
    }

    #[test]
    fn impossible_times_are_refused() {
        assert_eq!(Time::from_secs_f64(-1.0), None);
        assert_eq!(Time::from_secs_f64(f64::NAN), None);
        assert_eq!(Time::from_secs_f64(f64::INFINITY), None);
        assert_eq!(Time::from_secs_f64(0.25), Some(Time(250_000_000)));
    }
}
