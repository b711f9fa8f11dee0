//! From sampling intervals to the signals of Eq. 2.13: filters, differences, round trip, delay.

use crate::config::Settings;
use crate::intake::Interval;
use crate::number::Number;

/// What a method sees at the end of each sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct Signals<N> {
    /// Length of the sampling interval (T), s.
    pub length: N,
    /// One over it, 1/s.
    pub frequency: N,
    /// Mean queue of the interval, unfiltered, packets.
    pub queue: N,
    /// Slope of the filtered queue (q'), packets/s.
    pub slope: N,
    /// Slope of the slope, packets/s².
    pub curvature: N,
    /// R(t) = q/C + T_p, s.
    pub round_trip: N,
    /// R_0, s.
    pub rtt: N,
    /// 1/R_0, 1/s.
    pub inverse_rtt: N,
    /// Packets that came in the interval, those dropped included.
    pub arrivals: N,
    /// Packets dropped in the interval.
    pub drops: N,
    /// p(t - R_0), filtered.
    pub drop_probability: N,
    /// Mean of p(t - R_0) over the last intervals.
    pub mean_probability: N,
    /// Sampling intervals that p(t - R_0), unfiltered, has been 0.
    pub without_drops: u32,
    /// Change of the drops of a round trip (l), filtered as the queue, packets/s.
    pub drops_slope: N,
    /// Arrivals per second, mean over the last intervals.
    pub arrival_rate: N,
    /// It is adjacent to the interval before.
    pub follows: bool,
    /// The differences are those of adjacent intervals.
    pub is_whole: bool,
}

/// Longest delay, sampling intervals; a power of two.
const DELAYS: usize = 64;
/// Intervals over which the means run.
const MEAN_OVER: i64 = 256;

/// A mean of all values, then with a weight of 1 in [`MEAN_OVER`].
#[derive(Clone, Copy, Debug)]
struct Mean<N> {
    /// Mean times count: the steps of the mean itself would be lost in 14 bits.
    sum: N,
    count: i64,
}

impl<N: Number> Mean<N> {
    #[inline]
    fn take(&mut self, value: N) -> N {
        if self.count < MEAN_OVER {
            self.count += 1;
            self.sum = self.sum + value;
        } else {
            self.sum = self.sum + value - self.sum.per(MEAN_OVER);
        }
        self.sum.per(self.count)
    }
}

/// Filters and what they remember.
#[derive(Debug)]
pub(crate) struct Filters<N> {
    queue: N,
    slope: N,
    drop_probability: N,
    round_drops: N,
    mean_queue: Mean<N>,
    mean_probability: Mean<N>,
    arrival_rate: Mean<N>,
    /// p by interval, filtered, and whether it was 0 unfiltered.
    line: [(N, bool); DELAYS],
    at: usize,
    without_drops: u32,
    /// Intervals since the last gap: the queue has a value from 1 on, a slope from 2 on, a curvature from 3 on.
    since_gap: u32,
}

impl<N: Number> Filters<N> {
    pub(crate) fn new() -> Self {
        let mean = Mean { sum: N::ZERO, count: 0 };
        Filters {
            queue: N::ZERO,
            slope: N::ZERO,
            drop_probability: N::ZERO,
            round_drops: N::ZERO,
            mean_queue: mean,
            mean_probability: mean,
            arrival_rate: mean,
            line: [(N::ZERO, true); DELAYS],
            at: 0,
            without_drops: 0,
            since_gap: 0,
        }
    }

    /// w = α w_old + (1 - α) a (Zhao 2004, II.C).
    fn filtered(old: N, new: N, factor: N) -> N {
        factor * old + (N::ONE - factor) * new
    }

    #[inline]
    pub(crate) fn take(&mut self, interval: &Interval<N>, settings: &Settings<N>) -> Signals<N> {
        if !interval.follows {
            self.since_gap = 0;
        }
        self.since_gap = self.since_gap.saturating_add(1);
        let first = self.since_gap == 1;
        let frequency = interval.frequency;
        let mean_queue = self.mean_queue.take(interval.queue);
        let rtt =
            if settings.rtt > N::ZERO { settings.rtt } else { mean_queue / settings.capacity + settings.propagation };

        let queue =
            if first { interval.queue } else { Self::filtered(self.queue, interval.queue, settings.queue_filter) };
        let slope = if first { N::ZERO } else { (queue - self.queue) * frequency };
        let curvature = if self.since_gap > 2 { (slope - self.slope) * frequency } else { N::ZERO };
        (self.queue, self.slope) = (queue, slope);

        let of_round = interval.drops * frequency * rtt;
        let round_drops =
            if first { of_round } else { Self::filtered(self.round_drops, of_round, settings.queue_filter) };
        let drops_slope = if first { N::ZERO } else { (round_drops - self.round_drops) * frequency };
        self.round_drops = round_drops;

        let drop_share = if interval.arrivals > N::ZERO && interval.drops > N::ZERO {
            (interval.drops / interval.arrivals).at_most(N::ONE)
        } else {
            N::ZERO
        };
        self.drop_probability = Self::filtered(self.drop_probability, drop_share, settings.drop_filter);
        self.at = (self.at + 1) % DELAYS;
        self.line[self.at] = (self.drop_probability, interval.drops <= N::ZERO);
        let (drop_probability, is_zero) = self.delayed(rtt * frequency);
        self.without_drops = if is_zero { self.without_drops.saturating_add(1) } else { 0 };

        Signals {
            length: interval.length,
            frequency,
            queue: interval.queue,
            slope,
            curvature,
            round_trip: queue / settings.capacity + settings.propagation,
            rtt,
            inverse_rtt: N::ONE / rtt,
            arrivals: interval.arrivals,
            drops: interval.drops,
            drop_probability,
            mean_probability: self.mean_probability.take(drop_probability),
            without_drops: self.without_drops,
            drops_slope,
            arrival_rate: self.arrival_rate.take(interval.arrivals * frequency),
            follows: interval.follows,
            is_whole: self.since_gap > 2,
        }
    }

    /// What the line held `intervals` before, to the nearest one.
    fn delayed(&self, intervals: N) -> (N, bool) {
        let mut back = 0;
        let half = N::ONE.per(2);
        while back < DELAYS - 1 && intervals > N::ONE.times(back as i64) + half {
            back += 1;
        }
        self.line[(self.at + DELAYS - back) % DELAYS]
    }
}

impl<N: Number> Signals<N> {
    /// χ(t) = R q'' + (q'/C + 1) q' (Zhao 2004, Eq. 2.14), packets/s.
    pub fn output(&self, capacity: N) -> N {
        self.round_trip * self.curvature + (self.slope / capacity + N::ONE) * self.slope
    }

    /// Packets that come in a round trip, by the mean of the last intervals: z + D.
    pub fn round_arrivals(&self) -> N {
        self.arrival_rate * self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::number::Float;

    fn settings(given: &[(&str, f64)]) -> Settings<Float> {
        Config::with_options(1000.0, 0.1, given).expect("a configuration").settings()
    }

    fn interval(queue: f64, drops: f64, follows: bool) -> Interval<Float> {
        let of = Float;
        Interval {
            ticks: 0,
            length: of(0.05),
            frequency: of(20.0),
            queue: of(queue),
            arrivals: of(50.0),
            drops: of(drops),
            follows,
        }
    }

    #[test]
    fn differences_are_those_of_the_filtered_queue() {
        let settings = settings(&[("queue_filter", 0.5), ("rtt", 0.1)]);
        let mut filters = Filters::new();
        filters.take(&interval(10.0, 0.0, false), &settings);
        let second = filters.take(&interval(14.0, 0.0, true), &settings);
        // 12 after the filter: 2 packets in 0.05 s.
        assert_eq!((second.round_trip, second.slope, second.curvature), (Float(0.112), Float(40.0), Float(0.0)));
        let third = filters.take(&interval(14.0, 0.0, true), &settings);
        // 13: 20 packets/s, which is 20 less in 0.05 s. R = 0.113 s.
        assert_eq!((third.slope, third.curvature), (Float(20.0), Float(-400.0)));
        let expected = 0.113 * -400.0 + (20.0 / 1000.0 + 1.0) * 20.0;
        assert!((third.output(settings.capacity).0 - expected).abs() < 1e-9);
    }

    #[test]
    fn drops_act_a_round_trip_later() {
        let settings = settings(&[("drop_filter", 0.0), ("rtt", 0.1)]);
        let mut filters = Filters::new();
        let mut seen = Vec::new();
        for (i, drops) in [0.0, 5.0, 0.0, 0.0, 0.0].into_iter().enumerate() {
            let signals = filters.take(&interval(10.0, drops, i > 0), &settings);
            seen.push((signals.drop_probability.0, signals.without_drops));
        }
        assert_eq!(seen, [(0.0, 1), (0.0, 2), (0.0, 3), (0.1, 0), (0.0, 1)]);
    }

    #[test]
    fn after_a_gap_there_is_no_slope() {
        let settings = settings(&[]);
        let mut filters = Filters::new();
        for i in 0..4 {
            filters.take(&interval(f64::from(i), 0.0, i > 0), &settings);
        }
        let after = filters.take(&interval(50.0, 0.0, false), &settings);
        assert_eq!((after.slope, after.curvature), (Float(0.0), Float(0.0)));
        assert!((after.round_trip.0 - 0.15).abs() < 1e-12 && !after.is_whole);
    }
}
