//! Sums of floating-point numbers in the orders of the libraries of the package, so that figures are the same to the bit
//! whichever way a run goes.

/// Values that polars adds up at once, and the partial sums that it has meanwhile.
const BLOCK: usize = 128;
const STRIPE: usize = 16;

/// Sum as `polars.Series.sum` has it: what does not fill a block one by one, blocks in halves.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let (rest, blocks) = values.split_at(values.len() % BLOCK);
    let whole = if blocks.is_empty() { 0.0 } else { halves(blocks) };
    whole + rest.iter().fold(0.0, |sum, value| sum + value)
}

/// Mean as `polars.Series.mean` has it; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values) / values.len() as f64)
}

fn halves(values: &[f64]) -> f64 {
    if values.len() == BLOCK {
        return block(values);
    }
    let (left, right) = values.split_at(values.len() / BLOCK / 2 * BLOCK);
    halves(left) + halves(right)
}

fn block(values: &[f64]) -> f64 {
    let mut sums = [0.0; STRIPE];
    for part in values.chunks_exact(STRIPE) {
        sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    for width in [STRIPE / 2, STRIPE / 4] {
        for at in 0..width {
            sums[at] += sums[at + width];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Values that numpy adds up without halving them, and the partial sums that it has meanwhile.
const UNHALVED: usize = 128;
const UNROLLED: usize = 8;

/// Sum as `numpy.add.reduce` has it of contiguous values.
fn pairwise(values: &[f64]) -> f64 {
    if values.len() < UNROLLED {
        return values.iter().fold(-0.0, |sum, value| sum + value);
    }
    if values.len() > UNHALVED {
        let half = values.len() / 2;
        let (left, right) = values.split_at(half - half % UNROLLED);
        return pairwise(left) + pairwise(right);
    }
    let (parts, rest) = values.split_at(values.len() / UNROLLED * UNROLLED);
    let mut sums = [0.0; UNROLLED];
    sums.copy_from_slice(&parts[..UNROLLED]);
    for part in parts[UNROLLED..].chunks_exact(UNROLLED) {
        sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    let whole = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    rest.iter().fold(whole, |sum, value| sum + value)
}

/// Two-sided 95 % quantile of the normal law.
const Z95: f64 = 1.959963984540054;

/// 95 % interval of the mean of many times by the normal law, on the logarithm where it would reach below 0; `None` with
/// fewer than two.
pub(crate) fn normal_ci95(values: &[f64]) -> Option<[f64; 2]> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = pairwise(values) / n;
    let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    let half = Z95 * (pairwise(&squares) / (n - 1.0)).sqrt() / n.sqrt();
    Some(on_time_scale([mean - half, mean + half]))
}

/// A symmetric interval of a mean of times, formed on the logarithm where it would reach below 0: as
/// `mayfly.metrics.intervals.on_time_scale`, step by step.
fn on_time_scale([low, high]: [f64; 2]) -> [f64; 2] {
    if low > 0.0 {
        return [low, high];
    }
    let (mean, half) = ((low + high) / 2.0, (high - low) / 2.0);
    if mean <= 0.0 {
        return [0.0, 0.0];
    }
    let factor = (half / mean).exp();
    [mean / factor, mean * factor]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_add_up_in_any_order() {
        for count in [0_u32, 1, 7, 8, 127, 128, 129, 300, 1000] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let expected = f64::from(count) * (f64::from(count) - 1.0) / 2.0;
            assert_eq!((sum(&values), pairwise(&values)), (expected.max(0.0), expected.max(0.0)));
        }
    }

    #[test]
    fn no_time_is_below_0() {
        assert_eq!(on_time_scale([0.5, 1.5]), [0.5, 1.5]);
        let [low, high] = on_time_scale([-1.0, 3.0]);
        assert!((low - (-2.0_f64).exp()).abs() < 1e-15 && (high - 2.0_f64.exp()).abs() < 1e-14);
        assert_eq!(on_time_scale([0.0, 0.0]), [0.0, 0.0]);
    }

    #[test]
    fn the_interval_of_two_values_is_that_of_the_table() {
        let [low, high] = normal_ci95(&[1.0, 3.0]).expect("two values");
        assert!((low - 0.04).abs() < 1e-4 && (high - 3.96).abs() < 1e-4);
        assert_eq!(normal_ci95(&[1.0]), None);
        // The symmetric one would reach to -0.48: half of its width is 1.96 times the mean.
        let [low, high] = normal_ci95(&[0.0, 1.0]).expect("two values");
        assert!((low - 0.5 * (-Z95).exp()).abs() < 1e-12 && (high - 0.5 * Z95.exp()).abs() < 1e-12);
    }
}
