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
    if statistic == Statistic::Median && pairs.len() <= MOST_COUNTED * draws {
        return medians_by_counts(pairs, count, resamples, draws, stream);
    }
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

/// Pairs per draw up to which the values of a resample are counted, as each resample goes through all counts.
const MOST_COUNTED: usize = 4;

/// The same of medians: how often each value was drawn is counted in the order of the values, which takes a quarter of
/// the time of a selection among the values drawn.
fn medians_by_counts(
    pairs: &[(f64, f64)],
    count: u32,
    resamples: usize,
    draws: usize,
    stream: &mut NumpyStream,
) -> Vec<f64> {
    let (above, below) = (ranked(pairs.iter().map(|pair| pair.0)), ranked(pairs.iter().map(|pair| pair.1)));
    let mut counts = vec![0_u32; pairs.len()];
    let draw = |_| {
        counts.fill(0);
        for _ in 0..draws {
            counts[stream.below(count) as usize] += 1;
        }
        libm::log(counted_median(&above, &counts, draws) / counted_median(&below, &counts, draws))
    };
    (0..resamples).map(draw).collect()
}

/// The values in ascending order, each with its place before.
fn ranked(values: impl Iterator<Item = f64>) -> Vec<(f64, usize)> {
    let mut order: Vec<(f64, usize)> = values.zip(0..).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    order
}

/// The median of `draws` values, 1 or more, of which each of the ascending `values` is there as often as the count at
/// its place says.
fn counted_median(values: &[(f64, usize)], counts: &[u32], draws: usize) -> f64 {
    let (mut seen, mut low) = (0, None);
    for &(value, place) in values {
        seen += counts[place] as usize;
        if low.is_none() && seen > (draws - 1) / 2 {
            low = Some(value);
        }
        if let Some(low) = low.filter(|_| seen > draws / 2) {
            return if draws.is_multiple_of(2) { (low + value) / 2.0 } else { value };
        }
    }
    unreachable!("the counts are those of {draws} draws")
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

    #[test]
    fn medians_by_counts_are_those_of_a_selection() {
        for (pairs, draws) in [(1_u32, 1), (2, 2), (7, 7), (12, 12), (501, 500), (900, 450)] {
            let value = |at: u32| f64::from(at * 7919 % 31 + 1);
            let given: Vec<(f64, f64)> = (0..pairs).map(|at| (value(at), value(at + 5))).collect();
            let mut stream = NumpyStream::of(3);
            let selected: Vec<f64> = (0..50)
                .map(|_| {
                    let drawn: Vec<_> = (0..draws).map(|_| given[stream.below(pairs) as usize]).collect();
                    let (mut above, mut below): (Vec<f64>, Vec<f64>) = drawn.into_iter().unzip();
                    libm::log(Statistic::Median.of(&mut above) / Statistic::Median.of(&mut below))
                })
                .collect();
            let found = resampled_log_ratios(&given, Statistic::Median, 50, draws, &mut NumpyStream::of(3));
            assert_eq!(found, selected, "{pairs} pairs");
        }
    }
}
