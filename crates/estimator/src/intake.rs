//! Samples as they come, checked and gathered into sampling intervals.

use serde::Serialize;

use crate::number::Number;

/// What was seen since the sample before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<N> {
    /// Clock at the end, ticks.
    pub ticks: i64,
    /// Mean queue, packets.
    pub queue: N,
    /// Packets that came, those that were dropped included.
    pub arrivals: N,
    /// Packets dropped.
    pub drops: N,
}

/// Why samples were not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// A number below zero, not finite or beyond [`Number::LARGEST`].
    pub numbers: u64,
    /// The clock stood still or went back.
    pub clock: u64,
    /// More than [`LONGEST_GAP`] sampling intervals since the sample before.
    pub gaps: u64,
}

impl Faults {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.numbers + self.clock + self.gaps
    }
}

/// Sampling intervals without a sample after which differences are formed anew.
pub const LONGEST_GAP: i64 = 8;

/// A sampling interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval<N> {
    /// Clock at its end, ticks.
    pub(crate) ticks: i64,
    /// Length, s.
    pub(crate) length: N,
    /// One over the length, 1/s, with all its digits: 14 bits of a length of 33 ms are 10.
    pub(crate) frequency: N,
    /// Mean queue, packets.
    pub(crate) queue: N,
    pub(crate) arrivals: N,
    pub(crate) drops: N,
    /// It follows the one before without a gap.
    pub(crate) follows: bool,
}

/// Gathers samples until a sampling interval has passed, to the nearest sample: "the difference to the last finish time is larger than RTT/3
/// and a multiple of" a tick (Zhao 2004, III.A.2).
#[derive(Debug)]
pub(crate) struct Intake<N> {
    per_second: i64,
    /// Ticks of a sampling interval, at least 1.
    wanted: i64,
    last: Option<i64>,
    elapsed: i64,
    /// Elapsed ticks of the last interval, its length and frequency.
    measures: (i64, N, N),
    /// Queue times ticks.
    weighted: N,
    arrivals: N,
    drops: N,
    follows: bool,
    pub(crate) faults: Faults,
}

impl<N: Number> Intake<N> {
    pub(crate) fn every(wanted: i64, per_second: i64) -> Self {
        Intake {
            per_second,
            wanted: wanted.max(1),
            last: None,
            elapsed: 0,
            measures: (0, N::ZERO, N::ZERO),
            weighted: N::ZERO,
            arrivals: N::ZERO,
            drops: N::ZERO,
            follows: false,
            faults: Faults::default(),
        }
    }

    fn empty(&mut self) {
        (self.elapsed, self.weighted, self.arrivals, self.drops) = (0, N::ZERO, N::ZERO, N::ZERO);
    }

    /// Ticks since the sample before, when it can be used.
    fn step(&mut self, sample: &Sample<N>) -> Option<i64> {
        let numbers = [sample.queue, sample.arrivals, sample.drops];
        if numbers.iter().any(|number| !number.is_usable() || *number < N::ZERO) {
            self.faults.numbers += 1;
            // Its packets are unknown: what follows is not of the same interval.
            self.last = Some(sample.ticks);
            self.empty();
            self.follows = false;
            return None;
        }
        let before = self.last.replace(sample.ticks)?;
        let step = sample.ticks.saturating_sub(before);
        if step <= 0 {
            // What came in between is not known to be of this interval.
            self.faults.clock += 1;
        } else if step > self.wanted.saturating_mul(LONGEST_GAP) {
            self.faults.gaps += 1;
        } else {
            return Some(step);
        }
        self.empty();
        self.follows = false;
        None
    }

    /// The sampling interval that `sample` completes.
    #[inline]
    pub(crate) fn take(&mut self, sample: &Sample<N>) -> Option<Interval<N>> {
        let step = self.step(sample)?;
        self.elapsed += step;
        self.weighted = self.weighted + sample.queue.times(step);
        self.arrivals = self.arrivals + sample.arrivals;
        self.drops = self.drops + sample.drops;
        // The sample nearest to the end ends it: polls of 33 ms where 33.3 ms are wanted are not to become 66 ms.
        if self.elapsed.saturating_add(step / 2) < self.wanted {
            return None;
        }
        if self.elapsed != self.measures.0 {
            let (ticks, per_second) = (self.elapsed, self.per_second);
            self.measures = (ticks, N::from_ratio(ticks, per_second), N::from_ratio(per_second, ticks));
        }
        let interval = Interval {
            ticks: sample.ticks,
            length: self.measures.1,
            frequency: self.measures.2,
            queue: if step == self.elapsed { sample.queue } else { self.weighted.per(self.elapsed) },
            arrivals: self.arrivals,
            drops: self.drops,
            follows: self.follows,
        };
        self.follows = true;
        self.empty();
        Some(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Float;

    fn sample(ticks: i64, queue: f64) -> Sample<Float> {
        Sample { ticks, queue: Float(queue), arrivals: Float(2.0), drops: Float(1.0) }
    }

    #[test]
    fn an_interval_ends_with_the_first_sample_at_or_after_its_length() {
        let mut intake = Intake::every(30, 1000);
        let taken: Vec<_> = [0, 10, 20, 40, 70].iter().map(|&t| intake.take(&sample(t, t as f64))).collect();
        assert_eq!(taken[..3], [None, None, None]);
        let first = taken[3].expect("40 ms are over");
        // (10 * 10 + 20 * 10 + 40 * 20) / 40.
        assert_eq!((first.queue, first.arrivals, first.drops), (Float(27.5), Float(6.0), Float(3.0)));
        assert_eq!((first.length, first.follows), (Float(0.04), false));
        assert!(taken[4].expect("30 ms more").follows);
    }

    #[test]
    fn gaps_and_steps_back_begin_anew_and_are_counted() {
        let mut intake = Intake::every(10, 1000);
        for ticks in [0, 10, 20, 15, 25, 1000] {
            intake.take(&sample(ticks, 1.0));
        }
        assert_eq!(intake.faults, Faults { numbers: 0, clock: 1, gaps: 1 });
        assert!(!intake.take(&sample(1010, 1.0)).expect("an interval").follows);
    }

    #[test]
    fn impossible_numbers_are_refused_and_counted() {
        let mut intake = Intake::every(10, 1000);
        intake.take(&sample(0, 1.0));
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(intake.take(&sample(5, bad)), None);
        }
        assert_eq!(intake.faults.numbers, 4);
        assert_eq!(intake.take(&sample(10, 1.0)), None);
        assert_eq!(intake.take(&sample(15, 1.0)).map(|interval| interval.length), Some(Float(0.01)));
    }
}
