//! Mixtures of two laws by expectation maximisation (Dempster, Laird and Rubin 1977).
//!
//! Cost per value and round: one exponential function. The likelihood is the sum of the logarithms of `1 + t` with t up
//! to 1; of a few hundred of these the product is taken first, which a double holds, and one logarithm of it. Their
//! exponentials are taken before all else: sums that wait for a call have no register.

use std::f64::consts::PI;

use crate::law::Law;

/// Least deviation of a lognormal of the mixture over that of all logarithms: without a bound a component that shrinks
/// onto one value makes the likelihood infinite (Hathaway 1985).
const NARROWEST: f64 = 0.01;
/// Least mean of an exponential law.
pub(crate) const TINY: f64 = 1e-300;
/// Most rounds.
pub(crate) const ROUNDS: usize = 500;
/// Least weight of a part: one that no value belongs to keeps its place.
pub(crate) const LEAST_SHARE: f64 = 1e-9;
/// Gain of log-likelihood per value at which the rounds end.
pub(crate) const SETTLED: f64 = 1e-8;
/// Values of which the logarithm is taken at once.
const AT_ONCE: usize = 512;

/// From the logarithms of the densities of both parts at each value to whom it belongs: `take` gets the value and the shares
/// of the two parts in it. Returns the mean of the logarithms of the likelihoods.
#[inline]
fn belonging(values: &[f64], of: impl Fn(f64) -> (f64, f64), mut take: impl FnMut(f64, f64, f64)) -> f64 {
    let (mut likelihood, mut exponentials) = (0.0, [0.0; AT_ONCE]);
    for part in values.chunks(AT_ONCE) {
        for (t, value) in exponentials.iter_mut().zip(part) {
            let (one, two) = of(*value);
            *t = (-(one - two).abs()).exp();
        }
        let mut product = 1.0;
        for (t, value) in exponentials.iter().zip(part) {
            let (one, two) = of(*value);
            likelihood += one.max(two);
            product *= 1.0 + t;
            let larger = 1.0 / (1.0 + t);
            let smaller = t * larger;
            let (first, second) = if one >= two { (larger, smaller) } else { (smaller, larger) };
            take(*value, first, second);
        }
        likelihood += product.ln();
    }
    likelihood / values.len() as f64
}

/// Rounds until the likelihood settles; each gives the likelihood it began with.
fn rounds(mut round: impl FnMut() -> f64) {
    let mut before = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let likelihood = round();
        // NaN ends it, too.
        if likelihood.is_nan() || likelihood - before < SETTLED {
            return;
        }
        before = likelihood;
    }
}

pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
    (mean, square.sqrt())
}

/// Least square of the deviation of a lognormal of the mixture.
pub(crate) fn narrowest_square(logs: &[f64]) -> f64 {
    (NARROWEST * mean_and_deviation(logs).1).powi(2)
}

fn floored(sums: [f64; 2], n: usize) -> [f64; 2] {
    sums.map(|sum| sum.max(LEAST_SHARE * n as f64))
}

pub(crate) fn two_exponentials(values: &[f64], start: Option<&[f64; 3]>) -> Law {
    let half = values.len() / 2;
    let mean_of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (mut weights, mut means) = match start {
        Some([share, one, two]) => ([*share, 1.0 - share], [*one, *two]),
        None => ([0.5; 2], [mean_of(&values[..half]), mean_of(&values[half..])]),
    };
    rounds(|| {
        let logs = [0, 1].map(|part: usize| weights[part].ln() - means[part].ln());
        let rates = means.map(|mean| 1.0 / mean);
        let (mut sums, mut totals) = ([0.0; 2], [0.0; 2]);
        let densities = |x: f64| (logs[0] - x * rates[0], logs[1] - x * rates[1]);
        let likelihood = belonging(values, densities, |x, one, two| {
            sums[0] += one;
            sums[1] += two;
            totals[0] += one * x;
            totals[1] += two * x;
        });
        let counts = floored(sums, values.len());
        let whole = counts[0] + counts[1];
        means = [0, 1].map(|part| (totals[part] / counts[part]).max(TINY));
        weights = counts.map(|count| count / whole);
        likelihood
    });
    let first = usize::from(means[1] < means[0]);
    Law::TwoExponentials([weights[first], means[first], means[1 - first]])
}

pub(crate) fn two_lognormals(logs: &[f64], start: Option<&[f64; 5]>) -> Law {
    let least = narrowest_square(logs);
    // The first half is the larger one of an odd number.
    let halves = [&logs[..logs.len().div_ceil(2)], &logs[logs.len().div_ceil(2)..]].map(mean_and_deviation);
    let (mut weights, mut mus, mut squares) = match start {
        Some([share, mu_1, sigma_1, mu_2, sigma_2]) => {
            ([*share, 1.0 - share], [*mu_1, *mu_2], [sigma_1 * sigma_1, sigma_2 * sigma_2])
        }
        None => ([0.5; 2], halves.map(|half| half.0), halves.map(|half| half.1 * half.1)),
    };
    squares = squares.map(|square| square.max(least));
    rounds(|| {
        let heights = [0, 1].map(|part: usize| weights[part].ln() - 0.5 * (2.0 * PI * squares[part]).ln());
        let rates = squares.map(|square| 0.5 / square);
        let (mut zeroth, mut first, mut second) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        // Moments about the old mean, which keep their digits.
        let away = mus;
        let densities = |log: f64| {
            let (a, b) = (log - away[0], log - away[1]);
            (heights[0] - a * a * rates[0], heights[1] - b * b * rates[1])
        };
        let likelihood = belonging(logs, densities, |log, one, two| {
            let (a, b) = (log - away[0], log - away[1]);
            zeroth[0] += one;
            zeroth[1] += two;
            first[0] += one * a;
            first[1] += two * b;
            second[0] += one * a * a;
            second[1] += two * b * b;
        });
        let counts = floored(zeroth, logs.len());
        let whole = counts[0] + counts[1];
        weights = counts.map(|count| count / whole);
        for part in 0..2 {
            // A part that no value belongs to is at 0, as its sums say.
            let mu = (first[part] + zeroth[part] * mus[part]) / counts[part];
            let moved = mu - mus[part];
            let square = second[part] - 2.0 * moved * first[part] + moved * moved * zeroth[part];
            (mus[part], squares[part]) = (mu, (square / counts[part]).max(least));
        }
        likelihood
    });
    let first = usize::from(mus[1] < mus[0]);
    let (one, two) = (first, 1 - first);
    Law::TwoLognormals([weights[one], mus[one], squares[one].sqrt(), mus[two], squares[two].sqrt()])
}
