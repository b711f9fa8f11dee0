//! What each direction of the link carried, and whether it was busy.

use capture::Volume;

use crate::link::PACKET_BITS;
use crate::numbers::{interpolated, seconds};

/// Share of its rate from which on a link may be what makes a train slow.
pub(crate) const BUSY: f64 = 0.6;
/// Share of its rate that a link carried while it was full: gaps of round trips aside.
pub(crate) const FULL: f64 = 0.85;
/// A link is looked at so long before and after an instant, s.
pub(crate) const NEAR_S: f64 = 0.25;

/// Bytes of one direction up to some times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    times_s: Vec<f64>,
    sums: Vec<f64>,
}

/// What one direction carried in some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    bits: f64,
    lasted_s: f64,
}

impl Load {
    /// Whether that is at least this share of a rate.
    pub(crate) fn is_at_least(&self, share: f64, rate_bps: f64) -> bool {
        rate_bps != 0.0 && self.bits >= share * rate_bps * self.lasted_s
    }

    /// Whether the link sent all the time at this rate, to half a packet.
    pub(crate) fn fills(&self, rate_bps: f64) -> bool {
        let more = Load { bits: self.bits + PACKET_BITS / 2.0, ..*self };
        more.is_at_least(FULL, rate_bps)
    }
}

impl Carried {
    /// Of the volumes of one direction, in any order.
    pub(crate) fn of<'a>(volumes: impl Iterator<Item = &'a Volume>) -> Carried {
        let mut rows: Vec<(f64, u64)> = volumes.map(|one| (seconds(one.start_ns), one.wire_bytes)).collect();
        rows.sort_by(|(first, _), (second, _)| first.total_cmp(second));
        let mut sum = 0.0;
        let sums = rows.iter().map(|&(_, bytes)| {
            sum += bytes as f64;
            sum
        });
        Carried { sums: sums.collect(), times_s: rows.into_iter().map(|(at_s, _)| at_s).collect() }
    }

    /// Most that it carried in a time, bit/s.
    pub(crate) fn peak_bps(&self, width_s: f64) -> f64 {
        let within = |(&at_s, &sum): (&f64, &f64)| sum - interpolated(at_s - width_s, &self.times_s, &self.sums, 0.0);
        8.0 * self.times_s.iter().zip(&self.sums).map(within).fold(0.0, f64::max) / width_s
    }

    /// From one time to another.
    pub(crate) fn between(&self, start_s: f64, end_s: f64) -> Load {
        let lasted_s = (end_s - start_s).max(1e-9);
        let Some(&first) = self.sums.first() else { return Load { bits: f64::NEG_INFINITY, lasted_s } };
        let [before, after] = [start_s, end_s].map(|at_s| interpolated(at_s, &self.times_s, &self.sums, first));
        Load { bits: 8.0 * (after - before), lasted_s }
    }
}
