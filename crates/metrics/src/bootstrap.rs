//! A paired bootstrap of the ratio of two statistics (Efron and Tibshirani 1993, ch. 8).

use units::NumpyStream;

/// A statistic of which ratios are formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The mean of the two middle values where their number is even.
    Median,
    /// The mean.
    Mean,
}

impl Statistic {
    /// It brings `values`, of which there are some, into another order.
    fn of(self, values: &mut [f64]) -> f64 {
        if self == Statistic::Mean {
            return values.iter().sum::<f64>() / values.len() as f64;
        }
        let even = values.len().is_multiple_of(2);
        let (below, &mut high, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
        let low = below.iter().copied().filter(|_| even).fold(f64::NEG_INFINITY, f64::max);
        if even { (low + high) / 2.0 } else { high }
    }
}

/// Logarithms of `statistic(above) / statistic(below)` of `resamples` draws of `draws` pairs each, with repetition. All
/// values are above 0. Empty without pairs or draws.
pub fn resampled_log_ratios(
    pairs: &[(f64, f64)],
    statistic: Statistic,
    resamples: usize,
    draws: usize,
    stream: &mut NumpyStream,
) -> Vec<f64> {
    let Some(count) = u32::try_from(pairs.len()).ok().filter(|&count| count > 0 && draws > 0) else {
        return Vec::new();
    };
    let (mut above, mut below) = (Vec::with_capacity(draws), Vec::with_capacity(draws));
    let draw = |_| {
        above.clear();
        below.clear();
        for _ in 0..draws {
            let (one, other) = pairs[stream.below(count) as usize];
            above.push(one);
            below.push(other);
        }
        libm::log(statistic.of(&mut above) / statistic.of(&mut below))
    };
    (0..resamples).map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_their_names() {
        assert_eq!(Statistic::Median.of(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(Statistic::Median.of(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(Statistic::Median.of(&mut [4.0]), 4.0);
        assert_eq!(Statistic::Mean.of(&mut [4.0, 1.0, 1.0]), 2.0);
    }

    #[test]
    fn equal_pairs_have_no_spread() {
        let found = resampled_log_ratios(&[(2.0, 1.0); 12], Statistic::Median, 30, 12, &mut NumpyStream::of(1));
        assert_eq!(found, [libm::log(2.0); 30]);
        assert!(resampled_log_ratios(&[], Statistic::Mean, 30, 12, &mut NumpyStream::of(1)).is_empty());
    }
}
