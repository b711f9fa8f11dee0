//! Percentiles as order statistics: the p-quantile of n values is the one of rank `ceil(p n)` (Hyndman and Fan 1996,
//! definition 1), and its interval needs no law: the ranks `p n -+ 1.96 sqrt(p (1 - p) n)` around it hold the quantile
//! with 95 % (David and Nagaraja 2003, 7.1).

/// Two-sided 95 % quantile of the normal law.
pub(crate) const Z95: f64 = 1.959963984540054;

/// Quantile `share`, above 0 and at most 1, of ascending values, infinite ones among them; `None` without values, or
/// when it falls on an infinite one.
///
/// ```
/// let times = [1.0, 2.0, 3.0, f64::INFINITY];
/// assert_eq!(metrics::percentile(&times, 0.5), Some(2.0));
/// assert_eq!(metrics::percentile(&times, 0.95), None);
/// ```
pub fn percentile(ordered: &[f64], share: f64) -> Option<f64> {
    // 0.95 of 20 is a hair more than 19.
    let rank = (share * ordered.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    ordered.get(rank - 1).copied().filter(|value| value.is_finite())
}

/// Distribution-free 95 % interval of the quantile `share` of ascending values; `None` when a bound lies beyond the
/// values, or on an infinite one.
///
/// ```
/// let values: Vec<f64> = (1..=100).map(f64::from).collect();
/// assert_eq!(metrics::percentile_ci95(&values, 0.5), Some([40.0, 61.0]));
/// ```
pub fn percentile_ci95(ordered: &[f64], share: f64) -> Option<[f64; 2]> {
    let n = ordered.len() as f64;
    let half = Z95 * (n * share * (1.0 - share)).sqrt();
    let (low, high) = ((n * share - half).floor(), (n * share + half).ceil() + 1.0);
    if low < 1.0 || high > n {
        return None;
    }
    let ends = [ordered[low as usize - 1], ordered[high as usize - 1]];
    ends[1].is_finite().then_some(ends)
}

/// Mean of what is known; `None` when nothing is.
pub(crate) fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in values.flatten() {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Ascending, NaN nowhere.
pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_of_a_whole_product_is_the_product() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&values, 0.95), Some(19.0));
        assert_eq!(percentile(&values, 0.05), Some(1.0));
        assert_eq!(percentile(&values[..1], 0.05), Some(1.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn the_interval_of_the_95th_of_few_values_has_no_end() {
        // Of 100 values: 95 + 1.96 sqrt(4.75) = 99.3, so that rank 101 would be needed.
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile_ci95(&values, 0.95), None);
        // Of 200: 190 -+ 6.04, ranks 183 and 198.
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(percentile_ci95(&values, 0.95), Some([183.0, 198.0]));
        assert_eq!(percentile_ci95(&[], 0.5), None);
    }

    #[test]
    fn an_interval_that_ends_on_an_unfinished_transfer_is_none() {
        let mut values: Vec<f64> = (1..=200).map(f64::from).collect();
        values[197] = f64::INFINITY;
        values[198] = f64::INFINITY;
        values[199] = f64::INFINITY;
        assert_eq!(percentile_ci95(&values, 0.95), None);
        assert_eq!(percentile(&values, 0.95), Some(190.0));
    }

    #[test]
    fn a_mean_leaves_out_what_is_not_known() {
        assert_eq!(mean([Some(1.0), None, Some(3.0)].into_iter()), Some(2.0));
        assert_eq!(mean([None].into_iter()), None);
    }

    #[test]
    fn intervals_of_percentiles_cover_the_quantile() {
        // A multiplicative generator (Park and Miller 1988) of exponential values.
        let mut state = 7_u64;
        let mut drawn = || {
            state = state * 48_271 % 2_147_483_647;
            -libm::log(state as f64 / 2_147_483_647.0)
        };
        for share in [0.5, 0.95] {
            let truth = -libm::log(1.0 - share);
            let covers = |_: &i32| {
                let [low, high] = percentile_ci95(&sorted((0..400).map(|_| drawn()).collect()), share).expect("400");
                low <= truth && truth <= high
            };
            let covered = (0..2000).filter(covers).count() as f64 / 2000.0;
            // 2000 draws of a share of 0.95 or a little more (ranks are whole): 4 deviations below, and not all.
            assert!(
                0.95 - 4.0 * (0.95_f64 * 0.05 / 2000.0).sqrt() <= covered && covered <= 0.985,
                "{share}: {covered}"
            );
        }
    }
}
