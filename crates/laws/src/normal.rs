//! The normal law: tails, quantiles, values drawn.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use units::Stream;

/// Probabilities of at most and of more than `z`; the smaller one keeps its digits.
#[inline]
pub(crate) fn both_tails(z: f64) -> (f64, f64) {
    let small = 0.5 * libm::erfc(z.abs() * FRAC_1_SQRT_2);
    if z < 0.0 { (small, 1.0 - small) } else { (1.0 - small, small) }
}

/// Probability of at most `z`.
pub fn normal_cdf(z: f64) -> f64 {
    if z.is_nan() { z } else { both_tails(z).0 }
}

/// Quantile at `p`: infinite at 0 and 1, NaN beyond.
///
/// Newton's way from the logarithm of the smaller tail, which has no bends; a few steps.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let small = p.min(1.0 - p);
    if small == 0.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Above 0, of the upper tail; exact enough to begin with (Abramowitz and Stegun 26.2.22).
    let t = (-2.0 * small.ln()).sqrt();
    let mut z = (t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t)).max(0.0);
    for _ in 0..8 {
        let tail = both_tails(z).1;
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        if density <= 0.0 || tail <= 0.0 {
            break;
        }
        let step = tail * (tail / small).ln() / density;
        z += step;
        if step.abs() <= 1e-16 * z.abs() {
            break;
        }
    }
    if p < 0.5 { -z } else { z }
}

/// Draws normal values by pairs (Marsaglia 1962).
#[derive(Clone, Default)]
pub(crate) struct Normal {
    kept: Option<f64>,
}

impl Normal {
    #[inline]
    pub(crate) fn draw(&mut self, stream: &mut Stream) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let pair = Normal::pair(stream);
        self.keep(&pair);
        pair[0] * factor(pair[2])
    }

    /// The value that is kept, which is kept no longer.
    pub(crate) fn take(&mut self) -> Option<f64> {
        self.kept.take()
    }

    /// Keeps the second value of a pair.
    #[inline]
    pub(crate) fn keep(&mut self, [_, y, square]: &[f64; 3]) {
        self.kept = Some(y * factor(*square));
    }

    /// A point within the circle, and the square of its distance from the middle.
    #[inline]
    pub(crate) fn pair(stream: &mut Stream) -> [f64; 3] {
        loop {
            let (x, y) = (2.0 * stream.uniform() - 1.0, 2.0 * stream.uniform() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return [x, y, square];
            }
        }
    }
}

/// What makes normal values of a pair.
#[inline]
fn factor(square: f64) -> f64 {
    (-2.0 * square.ln() / square).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // NIST/SEMATECH handbook, 1.3.6.7.1, and the usual ones with more digits.
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.05, -1.644_853_626_951_472_7)] {
            assert!((normal_quantile(p) - z).abs() < 1e-14, "{p}: {}", normal_quantile(p));
        }
        assert!((normal_quantile(1e-300) + 37.047_096_299_361_2).abs() < 1e-12);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan() && normal_quantile(f64::NAN).is_nan());
    }

    #[test]
    fn quantiles_and_probabilities_undo_each_other() {
        for step in -320..=320 {
            let z = f64::from(step) / 40.0;
            let (below, above) = both_tails(z);
            let back = if below < above { normal_quantile(below) } else { -normal_quantile(above) };
            assert!((back - z).abs() <= 1e-13 * z.abs().max(1.0), "{z}: {back}");
        }
    }
}
