//! Numbers as numpy and polars make them: the same operations in the same order, so that both lists are equal to the bit.

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: i64) -> f64 {
    ns as f64 * 1e-9
}

/// Whole nanoseconds, at least 0.
pub(crate) fn in_ns(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round_ties_even() as u64
}

/// The two values in the middle, equal for an odd number of values; None without any.
fn middle(values: &mut [f64]) -> Option<(f64, f64)> {
    let upper = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, &mut high, _) = values.select_nth_unstable_by(upper, f64::total_cmp);
    if odd {
        return Some((high, high));
    }
    let low = below.iter().copied().max_by(f64::total_cmp)?;
    Some((low, high))
}

/// Median as polars has it, which interpolates; it brings `values` into another order.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    middle(values).map(|(low, high)| if low == high { low } else { 0.5 * (high - low) + low })
}

/// Median as numpy has it, a mean; it brings `values` into another order.
pub(crate) fn mean_median(values: &mut [f64]) -> Option<f64> {
    let odd = values.len() % 2 == 1;
    middle(values).map(|(low, high)| if odd { high } else { (low + high) / 2.0 })
}

/// Sum with the error of each addition carried on (Kahan 1965), as polars sums groups.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    error: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let corrected = value - self.error;
        let sum = self.sum + corrected;
        self.error = (sum - self.sum) - corrected;
        self.sum = sum;
    }

    pub(crate) fn value(self) -> f64 {
        self.sum
    }
}

/// Values between points, linear (numpy's `interp`): `left` before the first point, the last value behind the last one.
pub(crate) fn interpolated(at: f64, points: &[f64], values: &[f64], left: f64) -> f64 {
    let (Some(&last), Some(&last_value)) = (points.last(), values.last()) else { return left };
    let place = points.partition_point(|&point| point <= at);
    if place == 0 {
        return left;
    }
    if at >= last {
        return last_value;
    }
    let before = place - 1;
    if points[before] == at {
        return values[before];
    }
    let slope = (values[place] - values[before]) / (points[place] - points[before]);
    slope * (at - points[before]) + values[before]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_those_of_both_libraries() {
        // polars: pl.Series([0.1, 0.7]).median(); numpy: np.median([0.1, 0.7]).
        let (low, high) = (0.1, 0.7);
        assert_eq!(median(&mut [high, low]), Some(0.5 * (high - low) + low));
        assert_eq!(mean_median(&mut [high, low]), Some((low + high) / 2.0));
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(mean_median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((median(&mut []), mean_median(&mut [])), (None, None));
    }

    #[test]
    fn a_sum_carries_the_errors_of_its_additions() {
        let mut sum = Sum::default();
        for value in [1.0, 1e-16, 1e-16, 1e-16, 1e-16] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 1.0000000000000004);
        assert_eq!([1.0, 1e-16, 1e-16, 1e-16, 1e-16].iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn values_between_points_are_those_of_numpy() {
        let (points, values) = ([0.0, 1.0, 1.0, 3.0], [1.0, 2.0, 5.0, 9.0]);
        // np.interp([-1, 0, 0.5, 1, 2, 3, 4], points, values, left=0.0)
        let found: Vec<f64> =
            [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0].iter().map(|&at| interpolated(at, &points, &values, 0.0)).collect();
        assert_eq!(found, [0.0, 1.0, 1.5, 5.0, 7.0, 9.0, 9.0]);
        assert_eq!(interpolated(1.0, &[], &[], 4.0), 4.0);
        assert_eq!(interpolated(2.0, &[1.0], &[7.0], 0.0), 7.0);
    }

    #[test]
    fn nanoseconds_are_rounded_to_even_and_never_negative() {
        assert_eq!([in_ns(-1.0), in_ns(2.5e-9), in_ns(1.0), in_ns(f64::MAX)], [0, 2, 1_000_000_000, u64::MAX]);
    }
}
