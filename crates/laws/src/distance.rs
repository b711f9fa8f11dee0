//! How far values lie from a law.

use crate::law::Law;

/// What probabilities are kept above, for their logarithms.
const TINY: f64 = 1e-300;

/// Distances between a law and ordered values: of Kolmogorov and Smirnov the largest between the distribution functions;
/// of Anderson and Darling `-n - sum (2i - 1) (log F(x_i) + log S(x_(n+1-i))) / n`. The Pareto law has its minimum at the
/// smallest value, where the second is infinite: that value is left out of it.
pub fn distances(law: &Law, ordered: &[f64]) -> (f64, f64) {
    let n = ordered.len();
    let skipped = usize::from(matches!(law, Law::Pareto(_)));
    let left = n.saturating_sub(skipped);
    let (mut ks, mut sum) = (f64::NEG_INFINITY, 0.0);
    for (place, &x) in ordered.iter().enumerate() {
        let (below, above) = law.tails(x);
        let (low, high) = (place as f64 / n as f64, (place + 1) as f64 / n as f64);
        ks = ks.max(high - below).max(below - low);
        if place >= skipped {
            let i = place - skipped;
            sum += (2 * i + 1) as f64 * below.max(TINY).ln() + (2 * (left - i) - 1) as f64 * above.max(TINY).ln();
        }
    }
    (ks, -(left as f64) - sum / left as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_at_the_median_is_half_away() {
        let law = Law::Exponential([1.0]);
        let (ks, ad) = distances(&law, &[std::f64::consts::LN_2]);
        assert!((ks - 0.5).abs() < 1e-15);
        assert!((ad - (-1.0 + 2.0 * std::f64::consts::LN_2)).abs() < 1e-15);
    }
}
