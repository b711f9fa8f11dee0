//! Round-trip time: the estimate, the retransmission timeout that follows from it, the least of a window of time.
//!
//! The deviation follows the largest of a round trip, a fall moves it by an eighth of what a rise would, and `min_rto` bounds
//! four deviations rather than the timeout. Source: Linux, `tcp_rtt_estimator`; Jacobson 1988; lib/minmax.c.

use super::clock::Jiffies;
use crate::tcp::settings::Tcp;

/// For how long the least round-trip time counts (`tcp_min_rtt_wlen`), microseconds.
const LEAST_LASTS_US: u64 = 300_000_000;
/// No round-trip time yet.
const UNKNOWN: u32 = u32::MAX;

/// The least of a window of time, by its three least values in sub-windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    entries: [(Jiffies, u32); 3],
}

impl Least {
    pub(super) const NONE: Least = Least { entries: [(0, UNKNOWN); 3] };

    #[inline]
    pub(super) fn get(&self) -> u32 {
        self.entries[0].1
    }

    /// Takes `value` at `now`; what is older than `window` no longer counts.
    pub(super) fn add(&mut self, value: u32, now: Jiffies, window: Jiffies) {
        let new = (now, value);
        if value <= self.entries[0].1 || now - self.entries[2].0 > window {
            self.entries = [new; 3];
            return;
        }
        if value <= self.entries[1].1 {
            self.entries[1] = new;
            self.entries[2] = new;
        } else if value <= self.entries[2].1 {
            self.entries[2] = new;
        }
        let age = now - self.entries[0].0;
        if age > window {
            self.entries = [self.entries[1], self.entries[2], new];
            if now - self.entries[0].0 > window {
                self.entries = [self.entries[1], self.entries[2], new];
            }
        } else if self.entries[1].0 == self.entries[0].0 && age > window / 4 {
            self.entries[1] = new;
            self.entries[2] = new;
        } else if self.entries[2].0 == self.entries[1].0 && age > window / 2 {
            self.entries[2] = new;
        }
    }
}

/// Estimate of the round-trip time, microseconds in fixed point as in Linux.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    /// Eight times the smoothed time; 0 before the first sample.
    pub(super) srtt_us: u32,
    /// Four times the mean deviation, its largest of this round trip, and what the timeout takes.
    mdev_us: u32,
    mdev_max_us: u32,
    pub(super) rttvar_us: u32,
    /// The number that ends this round trip.
    round_end: u32,
    least: Least,
}

impl Estimator {
    pub(super) fn unknown() -> Estimator {
        Estimator { srtt_us: 0, mdev_us: 0, mdev_max_us: 0, rttvar_us: 0, round_end: 0, least: Least::NONE }
    }

    /// Four times the mean deviation, microseconds.
    pub(super) fn deviation_us(&self) -> u32 {
        self.mdev_us
    }

    /// The least time of the last five minutes, microseconds; the largest number before the first sample.
    #[inline]
    pub(super) fn least_us(&self) -> u32 {
        self.least.get()
    }

    pub(super) fn see_least(&mut self, us: u32, now: Jiffies, tcp: &Tcp) {
        let us = if us == 0 { (tcp.tick.0 / 1000) as u32 } else { us };
        self.least.add(us, now, LEAST_LASTS_US * 1000 / tcp.tick.0);
    }

    /// Takes a sample of `us` microseconds while the window is from `una` to `nxt`.
    pub(super) fn sample(&mut self, us: u32, una: u32, nxt: u32, min_rto_us: u32) {
        if self.srtt_us == 0 {
            self.mdev_us = us << 1;
            self.rttvar_us = self.mdev_us.max(min_rto_us);
            self.mdev_max_us = self.rttvar_us;
            self.round_end = nxt;
            self.srtt_us = (us << 3).max(1);
            return;
        }
        let mut error = i64::from(us) - i64::from(self.srtt_us >> 3);
        self.srtt_us = (i64::from(self.srtt_us) + error).max(1) as u32;
        let falls = error < 0;
        error = error.abs() - i64::from(self.mdev_us >> 2);
        if falls && error > 0 {
            error >>= 3;
        }
        self.mdev_us = (i64::from(self.mdev_us) + error) as u32;
        if self.mdev_us > self.mdev_max_us {
            self.mdev_max_us = self.mdev_us;
            self.rttvar_us = self.rttvar_us.max(self.mdev_max_us);
        }
        if una > self.round_end {
            if self.mdev_max_us < self.rttvar_us {
                self.rttvar_us -= (self.rttvar_us - self.mdev_max_us) >> 2;
            }
            self.round_end = nxt;
            self.mdev_max_us = min_rto_us;
        }
    }
}
