//! The last sampling intervals, for means over windows of them, and means over a longer past.

use crate::number::Number;

/// Sums since the beginning by sampling interval: arrivals, drops and queue.
#[derive(Debug)]
pub(crate) struct Line<N> {
    sums: Box<[[N; 3]; LENGTH]>,
    at: usize,
    known: usize,
}

/// A power of two.
const LENGTH: usize = 256;

impl<N: Number> Line<N> {
    /// Sampling intervals that are held.
    pub(crate) const LENGTH: usize = LENGTH;

    pub(crate) fn new() -> Self {
        Line { sums: Box::new([[N::ZERO; 3]; LENGTH]), at: 0, known: 0 }
    }

    /// After a gap.
    pub(crate) fn forget(&mut self) {
        self.known = 0;
        self.sums[self.at] = [N::ZERO; 3];
    }

    #[inline]
    pub(crate) fn push(&mut self, values: [N; 3]) {
        let before = self.sums[self.at];
        self.at = (self.at + 1) % LENGTH;
        for (place, (old, value)) in self.sums[self.at].iter_mut().zip(before.into_iter().zip(values)) {
            *place = old + value;
        }
        self.known = (self.known + 1).min(LENGTH - 1);
    }

    /// Intervals since the last gap, as far as they are held.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    /// Sums over the `over` intervals that ended `back` intervals ago.
    #[inline]
    pub(crate) fn sums(&self, back: usize, over: usize) -> [N; 3] {
        let last = self.sums[(self.at + LENGTH - back) % LENGTH];
        let first = self.sums[(self.at + 2 * LENGTH - back - over) % LENGTH];
        [0, 1, 2].map(|i| last[i] - first[i])
    }
}

/// Means with an exponential memory: of all values until there are enough.
#[derive(Debug)]
pub(crate) struct Past<N> {
    /// Means times count: the steps of the means themselves would be lost in 14 bits.
    sums: [N; 3],
    means: [N; 3],
    count: i64,
}

impl<N: Number> Past<N> {
    pub(crate) fn new() -> Self {
        Past { sums: [N::ZERO; 3], means: [N::ZERO; 3], count: 0 }
    }

    /// Takes the values of an interval, with a weight of one in `over`.
    #[inline]
    pub(crate) fn take(&mut self, values: [N; 3], over: i64) {
        // One interval a time, as `over` follows the round trip slowly.
        let leaving = (self.count + 1 - over).clamp(0, 2);
        self.count += 1 - leaving;
        for ((sum, mean), value) in self.sums.iter_mut().zip(&mut self.means).zip(values) {
            *sum = *sum + value - mean.times(leaving);
            *mean = sum.per(self.count);
        }
    }

    /// Each over all that is remembered.
    pub(crate) fn sums(&self) -> [N; 3] {
        self.sums
    }

    pub(crate) fn means(&self) -> [N; 3] {
        self.means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Float;

    #[test]
    fn windows_end_where_they_should() {
        let mut line = Line::new();
        for i in 0..600 {
            line.push([Float(f64::from(i)), Float(1.0), Float(0.0)]);
        }
        assert_eq!(line.sums(0, 3), [Float(3.0 * 598.0), Float(3.0), Float(0.0)]);
        assert_eq!(line.sums(10, 5)[0], Float(5.0 * 587.0));
        assert_eq!(line.known(), 255);
        line.forget();
        line.push([Float(7.0); 3]);
        assert_eq!((line.known(), line.sums(0, 1)[0]), (1, Float(7.0)));
    }

    #[test]
    fn the_past_is_a_mean_and_then_forgets() {
        let mut past = Past::new();
        for _ in 0..10 {
            past.take([Float(4.0); 3], 10);
        }
        assert_eq!(past.means(), [Float(4.0); 3]);
        past.take([Float(14.0); 3], 10);
        assert_eq!(past.means()[0], Float(5.0));
        // A shorter memory is reached step by step.
        for _ in 0..100 {
            past.take([Float(1.0); 3], 5);
        }
        assert!((past.means()[0].0 - 1.0).abs() < 1e-6);
        past.take([Float(6.0); 3], 5);
        assert!((past.means()[0].0 - 2.0).abs() < 1e-6);
    }
}
