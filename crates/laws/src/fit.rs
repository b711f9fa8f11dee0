//! Laws of most likelihood.

use crate::NotFitted;
use crate::law::{Kind, Law};
use crate::mixtures::{mean_and_deviation, two_exponentials, two_lognormals};

/// Shapes of the Weibull law that are searched.
const SHAPES: [f64; 2] = [0.01, 100.0];

/// The law of a kind that is likeliest for ordered values above 0, of mean 1; mixtures begin at `start`, or at the two
/// halves of the values.
///
/// # Errors
/// [`NotFitted`] where the likelihood has no maximum: values that are nearly equal, or spread too far.
pub fn fit(kind: Kind, ordered: &[f64], start: Option<&Law>) -> Result<Law, NotFitted> {
    Ok(match kind {
        Kind::Exponential => Law::Exponential([1.0]),
        Kind::Lognormal => {
            let (mu, sigma) = mean_and_deviation(&logs_of(ordered));
            Law::Lognormal([mu, sigma])
        }
        Kind::Weibull => weibull(&logs_of(ordered))?,
        Kind::Pareto => pareto(ordered)?,
        Kind::TwoExponentials => match start {
            Some(Law::TwoExponentials(start)) => two_exponentials(ordered, Some(start)),
            _ => two_exponentials(ordered, None),
        },
        Kind::TwoLognormals => match start {
            Some(Law::TwoLognormals(start)) => two_lognormals(&logs_of(ordered), Some(start)),
            _ => two_lognormals(&logs_of(ordered), None),
        },
    })
}

fn logs_of(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

fn pareto(ordered: &[f64]) -> Result<Law, NotFitted> {
    let least = ordered[0];
    let total: f64 = ordered.iter().map(|value| (value / least).ln()).sum();
    if total > 0.0 && total < f64::INFINITY {
        return Ok(Law::Pareto([least, ordered.len() as f64 / total]));
    }
    let why = "its exponent has no bound: the values are equal to their last digit, or spread too far";
    Err(NotFitted(format!("pareto: {why}")))
}

/// The shape k solves E[x^k log x] / E[x^k] - 1 / k = E[log x], whose left side rises with k.
fn weibull(logs: &[f64]) -> Result<Law, NotFitted> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mean, deviation) = mean_and_deviation(logs);
    // The value to be 0, its slope, and the mean of the powers over that of the largest value.
    let at = |shape: f64| {
        let (mut zeroth, mut first, mut second) = (0.0, 0.0, 0.0);
        for log in logs {
            let away = log - most;
            let weight = (shape * away).exp();
            zeroth += weight;
            first += weight * away;
            second += weight * away * away;
        }
        let (one, two) = (first / zeroth, second / zeroth);
        (one + most - 1.0 / shape - mean, (two - one * one).max(0.0) + 1.0 / (shape * shape), zeroth)
    };
    let [mut low, mut high] = SHAPES;
    let beyond = |word: &str, bound: f64, why: &str| {
        NotFitted(format!("weibull: its shape would be {word} {bound}: the values {why}"))
    };
    if at(high).0 < 0.0 {
        return Err(beyond("above", high, "are nearly equal"));
    }
    if at(low).0 > 0.0 {
        return Err(beyond("below", low, "spread too far"));
    }
    // Where the logarithms of a Weibull law of their deviation begin; Newton's way, kept within what is known.
    let mut shape = (std::f64::consts::PI / (6.0_f64.sqrt() * deviation)).clamp(low, high);
    for _ in 0..100 {
        let (value, slope, _) = at(shape);
        let step = value / slope;
        if step.abs() <= 1e-15 * shape {
            break;
        }
        if value > 0.0 {
            high = shape;
        } else {
            low = shape;
        }
        let next = shape - step;
        shape = if next > low && next < high { next } else { (low * high).sqrt() };
    }
    let powers = at(shape).2 / logs.len() as f64;
    Ok(Law::Weibull([shape, most.exp() * powers.powf(1.0 / shape)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_mean_1(values: &[f64]) -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value / mean).collect()
    }

    #[test]
    fn a_weibull_law_solves_its_equation() {
        let values = of_mean_1(&[0.1, 0.4, 0.5, 1.3, 2.2, 9.0]);
        let Ok(Law::Weibull([k, scale])) = fit(Kind::Weibull, &values, None) else { panic!("no law") };
        let powers: Vec<f64> = values.iter().map(|x| x.powf(k)).collect();
        let weighted: f64 = values.iter().zip(&powers).map(|(x, power)| power * x.ln()).sum();
        let mean_log = values.iter().map(|x| x.ln()).sum::<f64>() / 6.0;
        assert!((weighted / powers.iter().sum::<f64>() - 1.0 / k - mean_log).abs() < 1e-13);
        assert!((scale - (powers.iter().sum::<f64>() / 6.0).powf(1.0 / k)).abs() < 1e-13);
    }

    #[test]
    fn every_sample_of_a_weibull_law_is_solved() {
        // Before, a step of nothing sent the search from the root to the middle of what was left.
        let mut stream = units::Stream::named(2, "weibull");
        for round in 0..400 {
            let shape = [0.2, 0.3, 1.0, 4.0][round % 4];
            let drawn: Vec<f64> = (0..100).map(|_| (-(1.0 - stream.uniform()).ln()).powf(1.0 / shape)).collect();
            let values = of_mean_1(&drawn);
            let Ok(Law::Weibull([k, _])) = fit(Kind::Weibull, &values, None) else { panic!("no law") };
            let powers: Vec<f64> = values.iter().map(|x| x.powf(k)).collect();
            let weighted: f64 = values.iter().zip(&powers).map(|(x, power)| power * x.ln()).sum();
            let mean_log = values.iter().map(|x| x.ln()).sum::<f64>() / 100.0;
            let left = weighted / powers.iter().sum::<f64>() - 1.0 / k - mean_log;
            assert!(left.abs() < 1e-12 * (1.0 / k + mean_log.abs()), "{round}: {k} {left}");
        }
    }

    #[test]
    fn values_without_a_maximum_are_said_to_be_so() {
        let near: Vec<f64> = (0..50).map(|at| 1.0 + f64::from(at) * 1e-9).collect();
        let told = |kind, values: &[f64]| fit(kind, values, None).expect_err("no maximum").0;
        assert_eq!(told(Kind::Weibull, &near), "weibull: its shape would be above 100: the values are nearly equal");
        let far: Vec<f64> = (0..50).map(|at| 10_f64.powi(6 * at - 294)).collect();
        assert_eq!(told(Kind::Weibull, &far), "weibull: its shape would be below 0.01: the values spread too far");
        assert!(told(Kind::Pareto, &[1.0; 9]).starts_with("pareto: its exponent has no bound"));
    }
}
