//! Laws with their parameters: tails, and values drawn.

use units::Stream;

use crate::normal::{Normal, both_tails};

/// Kinds of laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `exp(-x / mean)` lies above x.
    Exponential,
    /// Logarithms are normal.
    Lognormal,
    /// `exp(-(x / scale)^shape)` lies above x.
    Weibull,
    /// `(minimum / x)^exponent` lies above x.
    Pareto,
    /// One of two exponentials.
    TwoExponentials,
    /// One of two lognormals.
    TwoLognormals,
}

impl Kind {
    /// Every kind with its name in tables.
    pub const NAMES: [(Kind, &'static str); 6] = [
        (Kind::Exponential, "exponential"),
        (Kind::Lognormal, "lognormal"),
        (Kind::Weibull, "weibull"),
        (Kind::Pareto, "pareto"),
        (Kind::TwoExponentials, "two exponentials"),
        (Kind::TwoLognormals, "two lognormals"),
    ];

    /// The kind of a name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Names of its parameters.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Kind::Exponential => &["mean"],
            Kind::Lognormal => &["mu", "sigma"],
            Kind::Weibull => &["shape", "scale"],
            Kind::Pareto => &["minimum", "exponent"],
            Kind::TwoExponentials => &["share_1", "mean_1", "mean_2"],
            Kind::TwoLognormals => &["share_1", "mu_1", "sigma_1", "mu_2", "sigma_2"],
        }
    }
}

/// A law of positive values; parameters as [`Kind::parameters`] names them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// See [`Kind::Exponential`].
    Exponential([f64; 1]),
    /// See [`Kind::Lognormal`].
    Lognormal([f64; 2]),
    /// See [`Kind::Weibull`].
    Weibull([f64; 2]),
    /// See [`Kind::Pareto`].
    Pareto([f64; 2]),
    /// See [`Kind::TwoExponentials`].
    TwoExponentials([f64; 3]),
    /// See [`Kind::TwoLognormals`].
    TwoLognormals([f64; 5]),
}

impl Law {
    /// The law of a kind with these parameters; None when they are not as many.
    pub fn of(kind: Kind, parameters: &[f64]) -> Option<Law> {
        Some(match kind {
            Kind::Exponential => Law::Exponential(parameters.try_into().ok()?),
            Kind::Lognormal => Law::Lognormal(parameters.try_into().ok()?),
            Kind::Weibull => Law::Weibull(parameters.try_into().ok()?),
            Kind::Pareto => Law::Pareto(parameters.try_into().ok()?),
            Kind::TwoExponentials => Law::TwoExponentials(parameters.try_into().ok()?),
            Kind::TwoLognormals => Law::TwoLognormals(parameters.try_into().ok()?),
        })
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[f64] {
        match self {
            Law::Exponential(parameters) => parameters,
            Law::Lognormal(parameters) | Law::Weibull(parameters) | Law::Pareto(parameters) => parameters,
            Law::TwoExponentials(parameters) => parameters,
            Law::TwoLognormals(parameters) => parameters,
        }
    }

    /// The law of the same values counted in a unit of `unit` times as many: values become `1 / unit` of what they were.
    #[must_use]
    pub fn over(&self, unit: f64) -> Law {
        let shift = unit.ln();
        match *self {
            Law::Exponential([mean]) => Law::Exponential([mean / unit]),
            Law::Lognormal([mu, sigma]) => Law::Lognormal([mu - shift, sigma]),
            Law::Weibull([shape, scale]) => Law::Weibull([shape, scale / unit]),
            Law::Pareto([minimum, exponent]) => Law::Pareto([minimum / unit, exponent]),
            Law::TwoExponentials([share, one, two]) => Law::TwoExponentials([share, one / unit, two / unit]),
            Law::TwoLognormals([share, mu_1, sigma_1, mu_2, sigma_2]) => {
                Law::TwoLognormals([share, mu_1 - shift, sigma_1, mu_2 - shift, sigma_2])
            }
        }
    }

    /// Probability of at most `x`, above 0, and of more.
    pub fn tails(&self, x: f64) -> (f64, f64) {
        let of_log = |log_above: f64| (-log_above.exp_m1(), log_above.exp());
        match *self {
            Law::Exponential([mean]) => of_log(-x / mean),
            Law::Lognormal([mu, sigma]) => both_tails((x.ln() - mu) / sigma),
            Law::Weibull([shape, scale]) => of_log(-(x / scale).powf(shape)),
            Law::Pareto([minimum, exponent]) => of_log(-exponent * (x.max(minimum) / minimum).ln()),
            Law::TwoExponentials([share, one, two]) => mixed(share, of_log(-x / one), of_log(-x / two)),
            Law::TwoLognormals([share, mu_1, sigma_1, mu_2, sigma_2]) => {
                let log = x.ln();
                mixed(share, both_tails((log - mu_1) / sigma_1), both_tails((log - mu_2) / sigma_2))
            }
        }
    }

    /// A value of the law.
    pub(crate) fn draw(&self, normal: &mut Normal, stream: &mut Stream) -> f64 {
        match *self {
            Law::Exponential([mean]) => exponential(stream) * mean,
            Law::Lognormal([mu, sigma]) => (mu + sigma * normal.draw(stream)).exp(),
            Law::Weibull([shape, scale]) => exponential(stream).powf(1.0 / shape) * scale,
            Law::Pareto([minimum, exponent]) => minimum * (exponential(stream) / exponent).exp(),
            Law::TwoExponentials([share, one, two]) => {
                let mean = if stream.uniform() < share { one } else { two };
                exponential(stream) * mean
            }
            Law::TwoLognormals([share, mu_1, sigma_1, mu_2, sigma_2]) => {
                let (mu, sigma) = if stream.uniform() < share { (mu_1, sigma_1) } else { (mu_2, sigma_2) };
                (mu + sigma * normal.draw(stream)).exp()
            }
        }
    }
}

/// Of mean 1; never infinite.
fn exponential(stream: &mut Stream) -> f64 {
    -(1.0 - stream.uniform()).ln()
}

fn mixed(share: f64, one: (f64, f64), two: (f64, f64)) -> (f64, f64) {
    (share * one.0 + (1.0 - share) * two.0, share * one.1 + (1.0 - share) * two.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> [Law; 6] {
        [
            Law::Exponential([1.5]),
            Law::Lognormal([-0.5, 1.2]),
            Law::Weibull([0.6, 0.8]),
            Law::Pareto([0.2, 1.4]),
            Law::TwoExponentials([0.7, 0.1, 4.0]),
            Law::TwoLognormals([0.4, -2.0, 0.3, 1.0, 1.0]),
        ]
    }

    #[test]
    fn parameters_come_back_by_name_and_in_other_units() {
        for ((kind, name), law) in Kind::NAMES.iter().zip(laws()) {
            assert_eq!(Kind::named(name), Some(*kind));
            assert_eq!(kind.parameters().len(), law.parameters().len());
            assert_eq!(Law::of(*kind, law.parameters()), Some(law));
            assert_eq!(Law::of(*kind, &[1.0; 9]), None);
            for x in [0.3, 1.0, 7.0] {
                let (here, there) = (law.tails(x), law.over(4.0).tails(x / 4.0));
                assert!((here.0 - there.0).abs() < 1e-12 && (here.1 - there.1).abs() < 1e-12);
                assert!((here.0 + here.1 - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn drawn_values_have_the_shares_of_their_law() {
        let n = 20_000;
        for law in laws() {
            let (mut stream, mut normal) = (Stream::named(5, "drawn"), Normal::default());
            let values: Vec<f64> = (0..n).map(|_| law.draw(&mut normal, &mut stream)).collect();
            for x in [0.25, 0.5, 1.0, 3.0] {
                let (below, _) = law.tails(x);
                let found = values.iter().filter(|value| **value <= x).count() as f64 / f64::from(n);
                // Four standard deviations of a share.
                let noise = 4.0 * (below * (1.0 - below) / f64::from(n)).sqrt() + 1e-12;
                assert!((found - below).abs() <= noise, "{law:?} {x}: {found} {below}");
            }
        }
    }
}
