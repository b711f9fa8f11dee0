//! Clocks of Linux: jiffies, the timer wheel, microseconds and the milliseconds of timestamps.
//!
//! A timer is set in jiffies and goes off at a jiffy: never early, and the later the coarser, because the wheel that holds
//! timers has levels of 64 slots, each eight times as coarse as the one below. Source: kernel/time/timer.c.

use units::Time;

/// A time in jiffies.
pub(super) type Jiffies = u64;

/// Slots of the level below which a delay is held to the jiffy, less one: from there on each level is eight times coarser.
const LEVEL_SLOTS: u64 = 63;
/// Bits by which a level is coarser than the one below.
const LEVEL_SHIFT: u32 = 3;
/// Levels of the wheel.
const LEVELS: u32 = 9;
/// Jiffies before time zero: a time of zero means none in some states.
const BEFORE: Jiffies = 1 << 30;

/// The clock of a host, whose jiffies begin at a phase of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Age of the current jiffy at time zero.
    phase: Time,
    /// Length of a jiffy, and its reciprocal, rounded down, in units of 2^-64: several times per segment a time is divided by it.
    tick: Time,
    reciprocal: u64,
}

impl Clock {
    pub(super) fn of(tick: Time, phase: Time) -> Clock {
        Clock { phase, tick, reciprocal: u64::MAX / tick.0 }
    }

    /// `ns` by the length of a jiffy, rounded down: the product with the reciprocal is that, or one less, below 2^63.
    #[inline]
    fn whole(self, ns: u64) -> u64 {
        let low = ((u128::from(ns) * u128::from(self.reciprocal)) >> 64) as u64;
        low + u64::from(ns - low * self.tick.0 >= self.tick.0)
    }

    #[inline]
    pub(super) fn jiffies(self, now: Time) -> Jiffies {
        BEFORE + self.whole(now.0 + self.phase.0)
    }

    /// Milliseconds, as in the timestamps of segments that left at `at`.
    #[inline]
    pub(super) fn stamp(self, at: Time) -> u64 {
        at.0 / 1_000_000
    }

    /// A delay of `us` microseconds, rounded up to jiffies.
    #[inline]
    pub(super) fn in_jiffies(self, us: u64) -> Jiffies {
        self.whole(us * 1000 + self.tick.0 - 1)
    }

    /// The whole jiffies in `us` microseconds.
    #[inline]
    pub(super) fn whole_jiffies(self, us: u64) -> Jiffies {
        self.whole(us * 1000)
    }

    /// Jiffies as microseconds.
    #[inline]
    pub(super) fn in_us(self, jiffies: Jiffies) -> u64 {
        jiffies * (self.tick.0 / 1000)
    }

    /// When a timer that is set now to expire at jiffy `expires` goes off: with the next jiffy that its level of the wheel
    /// knows.
    pub(super) fn goes_off(self, expires: Jiffies, now: Time) -> Time {
        let delay = expires.saturating_sub(self.jiffies(now));
        let level = (0..LEVELS - 1).find(|&level| delay < LEVEL_SLOTS << (level * LEVEL_SHIFT)).unwrap_or(LEVELS - 1);
        let shift = level * LEVEL_SHIFT;
        let slot = (expires + (1 << shift)) >> shift << shift;
        Time(((slot - BEFORE) * self.tick.0).saturating_sub(self.phase.0)).max(now)
    }
}

/// Microseconds of the monotonic clock.
#[inline]
pub(super) fn us(at: Time) -> u64 {
    at.0 / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_by_the_reciprocal_is_the_quotient() {
        for tick in [1, 3, 1_000_000, 4_000_000, 10_000_000, u64::MAX / 3] {
            let clock = Clock::of(Time(tick), Time::ZERO);
            let near = |k: u64| [k.saturating_mul(tick).saturating_sub(1), k.saturating_mul(tick), k + 5];
            let times = [0, 1, 2, 999, 1000, 123_456_789, 1 << 40, 1 << 62].into_iter().flat_map(near);
            for ns in times.filter(|&ns| ns < 1 << 63) {
                assert_eq!(clock.whole(ns), ns / tick, "{ns} / {tick}");
            }
        }
    }

    /// Jiffies of 10 ms: below 630 ms a timer goes off with the jiffy after the one it is set for, beyond with one of eight.
    #[test]
    fn a_timer_is_never_early_and_later_ones_are_coarser() {
        let clock = Clock::of(Time::from_millis(10), Time::from_millis(4));
        assert_eq!(clock.jiffies(Time::from_millis(5)), BEFORE);
        assert_eq!(clock.jiffies(Time::from_millis(6)), BEFORE + 1);
        assert_eq!(clock.in_jiffies(20_001), 3);
        assert_eq!(clock.goes_off(BEFORE + 20, Time::ZERO), Time::from_millis(21 * 10 - 4));
        assert_eq!(clock.goes_off(BEFORE + 100, Time::ZERO), Time::from_millis(104 * 10 - 4));
        assert_eq!(clock.goes_off(BEFORE + 104, Time::ZERO), Time::from_millis(112 * 10 - 4));
        assert_eq!(clock.goes_off(BEFORE + 1000, Time::ZERO), Time::from_millis(1024 * 10 - 4));
    }
}
