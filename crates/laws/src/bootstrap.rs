//! Probabilities of distances when a law holds whose parameters are those of the same values.

use units::Stream;

use crate::NotFitted;
use crate::distance::distances;
use crate::fit::fit;
use crate::ks_bounds::{Room, as_far};
use crate::law::{Kind, Law};
use crate::normal::Normal;

/// What drawn values are kept within, for their logarithms.
const TINY: f64 = 1e-300;
const HUGE: f64 = 1e300;

/// p of the distance of Kolmogorov and Smirnov and of that of Anderson and Darling, both
/// `(1 + samples at least as far) / (1 + samples)`, of ordered values above 0.
///
/// # Errors
/// [`NotFitted`] where the law cannot be fitted to the values or to a sample: what is drawn from a law near its bounds may
/// lie beyond them.
pub fn bootstrap_p(kind: Kind, ordered: &[f64], samples: u32, seed: u64) -> Result<(f64, f64), NotFitted> {
    let mut room = Room::default();
    counted(kind, ordered, samples, seed, |law, count, far, normal, stream| {
        as_far(law, count, far, &mut room, normal, stream)
    })
}

/// The same; of each sample `told` says whether it lies as far by both distances, or that it is drawn to the last digit.
fn counted(
    kind: Kind,
    ordered: &[f64],
    samples: u32,
    seed: u64,
    mut told: impl FnMut(&Law, usize, (f64, f64), &mut Normal, &mut Stream) -> Option<[bool; 2]>,
) -> Result<(f64, f64), NotFitted> {
    let values = in_units_of_their_mean(ordered.to_vec()).1;
    let law = fit(kind, &values, None)?;
    let far = distances(&law, &values);
    let (mut stream, mut normal) = (Stream::named(seed, "bootstrap"), Normal::default());
    let mut as_far = [0_u32; 2];
    let mut drawn = Vec::with_capacity(values.len());
    for _ in 0..samples {
        let before = (normal.clone(), stream.clone());
        let found = match told(&law, values.len(), far, &mut normal, &mut stream) {
            Some(found) => found,
            None => {
                (normal, stream) = before;
                drawn.clear();
                drawn.extend(values.iter().map(|_| law.draw(&mut normal, &mut stream).clamp(TINY, HUGE)));
                drawn.sort_unstable_by(f64::total_cmp);
                // Laws are fitted to values of mean 1; the start must move with them, or a narrow part of a mixture is
                // missed.
                let unit;
                (unit, drawn) = in_units_of_their_mean(drawn);
                let again = fit(kind, &drawn, Some(&law.over(unit)))?;
                let there = distances(&again, &drawn);
                [there.0 >= far.0, there.1 >= far.1]
            }
        };
        for (count, as_far) in as_far.iter_mut().zip(found) {
            *count += u32::from(as_far);
        }
    }
    let [ks_p, ad_p] = as_far.map(|count| f64::from(1 + count) / (1.0 + f64::from(samples)));
    Ok((ks_p, ad_p))
}

fn in_units_of_their_mean(mut values: Vec<f64>) -> (f64, Vec<f64>) {
    let unit = values.iter().sum::<f64>() / values.len() as f64;
    for value in &mut values {
        *value = (*value / unit).max(TINY);
    }
    (unit, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_a_law_far_away_is_rejected() {
        let values: Vec<f64> = (0..300).map(|at| 10.0 + f64::from(at) / 300.0).collect();
        for (kind, _) in [Kind::NAMES[0], Kind::NAMES[4]] {
            let found = bootstrap_p(kind, &values, 19, 7).expect("a law");
            assert_eq!(bootstrap_p(kind, &values, 19, 7), Ok(found));
            assert_eq!(found.0, 0.05);
        }
    }

    #[test]
    fn what_is_told_quickly_is_so_to_the_last_digit() {
        let laws = [
            Law::Exponential([1.5]),
            Law::Lognormal([-0.5, 1.2]),
            Law::Lognormal([3.0, 0.01]),
            Law::Weibull([0.6, 0.8]),
            Law::Weibull([12.0, 3.0]),
            Law::Weibull([0.04, 1.0]),
            Law::Pareto([0.2, 1.4]),
            Law::Pareto([5.0, 0.05]),
            Law::TwoExponentials([0.7, 0.1, 4.0]),
            Law::TwoExponentials([0.5, 1.0, 1.1]),
            Law::TwoLognormals([0.4, -2.0, 0.3, 1.0, 1.0]),
            Law::TwoLognormals([0.9, 0.0, 2.0, 3.0, 0.001]),
        ];
        let (mut quickly, mut all) = (0_u32, 0_u32);
        for (seed, law) in (0_u64..).zip(laws) {
            let (mut stream, mut normal) = (Stream::named(seed, "values"), Normal::default());
            for count in [8, 33, 150] {
                let mut values: Vec<f64> = (0..count).map(|_| law.draw(&mut normal, &mut stream)).collect();
                // Steps, as whole bytes have.
                if count == 33 {
                    values = values.iter().map(|value| (value * 8.0).ceil() / 8.0).collect();
                }
                values.sort_unstable_by(f64::total_cmp);
                for (kind, name) in Kind::NAMES {
                    let mut room = Room::default();
                    let quick = counted(kind, &values, 25, seed, |law, count, far, normal, stream| {
                        let found = as_far(law, count, far, &mut room, normal, stream);
                        quickly += u32::from(found.is_some());
                        all += 1;
                        found
                    });
                    let exact = counted(kind, &values, 25, seed, |_, _, _, _, _| None);
                    assert_eq!(quick, exact, "{name} of {law:?}, {count} values");
                }
            }
        }
        // The rest are values that meet their bounds.
        assert!(quickly * 10 > all * 7, "{quickly} of {all}");
    }
}
