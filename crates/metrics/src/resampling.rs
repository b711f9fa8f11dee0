//! Intervals from resampled runs: what another such hour would bring.
//!
//! The figure comes from the capture's own run, the spread from runs of other hours that are drawn from it. The interval
//! is the range of them all, made wider as their number asks for (a percentile interval of the bootstrap, Efron and
//! Tibshirani 1993, ch. 13). Each draw is a whole hour. The interval is for the figure of a typical hour: the median over
//! all hours like this one. Coverage, by simulation: `docs/recommendation.md`.

use crate::student::student_t;

/// How a figure of resampled hours varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    /// In proportion, as times do: the interval is formed on the logarithm, and all values are above 0.
    InProportion,
    /// By differences, as MOS and shares do.
    ByDifference,
}

/// 95 % interval of `value` from its values in resampled hours, `others`, in the same unit.
///
/// `runs` is the number of independent runs that `value` is made of: one for a capture. With more than one it is
/// Student's interval of their mean. `None` with fewer than two others, or where a value is not finite.
///
/// ```
/// use metrics::{Varies, hour_ci95};
/// let [low, high] = hour_ci95(1.0, &[0.9, 1.1, 1.0, 1.05, 0.95], Varies::InProportion, 1).unwrap();
/// assert_eq!((format!("{low:.2}"), format!("{high:.2}")), ("0.74".into(), "1.31".into()));
/// ```
pub fn hour_ci95(value: f64, others: &[f64], varies: Varies, runs: usize) -> Option<[f64; 2]> {
    let in_proportion = varies == Varies::InProportion;
    let fits = |one: &f64| one.is_finite() && (!in_proportion || *one > 0.0);
    if others.len() < 2 || !fits(&value) || !others.iter().all(fits) {
        return None;
    }
    let scaled = |one: f64| if in_proportion { libm::log(one) } else { one };
    let value = scaled(value);
    let others: Vec<f64> = others.iter().map(|&one| scaled(one)).collect();
    let ends = if runs > 1 {
        let half = student_t(degrees(others.len() - 1)) * deviation(&others) / (runs as f64).sqrt();
        [value - half, value + half]
    } else {
        let mut all = others;
        all.push(value);
        let all = crate::order::sorted(all);
        let (middle, wider) = (median(&all), range_factor(all.len() - 1));
        [middle - wider * (middle - all[0]), middle + wider * (all[all.len() - 1] - middle)]
    };
    Some(if in_proportion { ends.map(libm::exp) } else { ends })
}

/// How much wider than their range the interval of a capture and its resampled hours is: 1.33 for 16 hours, 0.98 for 40.
///
/// Where the figure `v` deviates from the true one by a normal error, and the hours from `v` by one of the same size, the
/// range of `n = hours + 1` values reaches as far as the expected largest of `n` normal values (Blom 1958), and the
/// interval should reach to Student's quantile with `hours` degrees of freedom, as their spread is known from so many
/// only. The factor is the ratio of the two, times `1 + 2 / hours` for the error of the median: within 2 % of the factor
/// that covers 95 % of simulated cases from 8 hours on, within 7 % from 6.
///
/// ```
/// assert_eq!(format!("{:.2}", metrics::range_factor(16)), "1.33");
/// ```
pub fn range_factor(hours: usize) -> f64 {
    let n = hours as f64;
    let largest = normal_quantile((n + 0.625) / (n + 1.25));
    (1.0 + 2.0 / n) * student_t(degrees(hours)) / largest
}

fn degrees(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn median(ordered: &[f64]) -> f64 {
    let half = ordered.len() / 2;
    if ordered.len() % 2 == 1 { ordered[half] } else { 0.5 * (ordered[half - 1] + ordered[half]) }
}

/// Sample deviation, with the divisor `n - 1`.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// Quantile of the normal law, for probabilities from one half to below 1 (Wichura 1988, AS 241, PPND16).
fn normal_quantile(probability: f64) -> f64 {
    let q = probability - 0.5;
    let over = |above: [f64; 8], below: [f64; 7], r: f64| {
        let top = above.iter().fold(0.0, |sum, term| sum * r + term);
        top / below.iter().chain(&[1.0]).fold(0.0, |sum, term| sum * r + term)
    };
    if q <= 0.425 {
        return q * over(MIDDLE.0, MIDDLE.1, 0.180625 - q * q);
    }
    let r = (-libm::log(1.0 - probability)).sqrt();
    if r <= 5.0 { over(TAIL.0, TAIL.1, r - 1.6) } else { over(FAR.0, FAR.1, r - 5.0) }
}

/// Coefficients of a numerator and of a denominator whose last is 1, highest power first.
type Ratio = ([f64; 8], [f64; 7]);

const MIDDLE: Ratio = (
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
    ],
);
const TAIL: Ratio = (
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
    ],
);
const FAR: Ratio = (
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_quantile_is_that_of_the_tables() {
        // statistics.NormalDist().inv_cdf of Python 3.11.
        for (probability, expected) in [
            (0.5, 0.0),
            (0.75, 0.6744897501960817),
            (0.975, 1.9599639845400536),
            (0.999999, 4.753424308817089),
            (1.0 - 1e-12, 7.0344869100478356),
        ] {
            let found = normal_quantile(probability);
            assert!((found - expected).abs() < 1e-12, "{probability}: {found}");
        }
    }

    #[test]
    fn several_runs_have_the_interval_of_student() {
        // Mean 2, deviation 1, t(2) = 4.3027.
        let [low, high] = hour_ci95(2.0, &[1.0, 2.0, 3.0], Varies::ByDifference, 3).expect("it is there");
        let half = 4.302652729749462 / 3.0_f64.sqrt();
        assert!((low - (2.0 - half)).abs() < 1e-9 && (high - (2.0 + half)).abs() < 1e-9);
    }

    #[test]
    fn what_never_ends_has_no_interval() {
        assert_eq!(hour_ci95(1.0, &[1.0, f64::INFINITY, 2.0], Varies::ByDifference, 1), None);
        assert_eq!(hour_ci95(1.0, &[1.0], Varies::ByDifference, 1), None);
        assert_eq!(hour_ci95(0.0, &[1.0, 2.0], Varies::InProportion, 1), None);
    }
}
