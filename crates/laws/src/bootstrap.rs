//! Probabilities of distances when a law holds whose parameters are those of the same values.

use units::Stream;

use crate::NotFitted;
use crate::distance::distances;
use crate::fit::fit;
use crate::law::Kind;
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
    let values = in_units_of_their_mean(ordered.to_vec()).1;
    let law = fit(kind, &values, None)?;
    let (ks, ad) = distances(&law, &values);
    let (mut stream, mut normal) = (Stream::named(seed, "bootstrap"), Normal::default());
    let mut as_far = [0_u32; 2];
    let mut drawn = Vec::with_capacity(values.len());
    for _ in 0..samples {
        drawn.clear();
        drawn.extend(values.iter().map(|_| law.draw(&mut normal, &mut stream).clamp(TINY, HUGE)));
        drawn.sort_unstable_by(f64::total_cmp);
        // Laws are fitted to values of mean 1; the start must move with them, or a narrow part of a mixture is missed.
        let unit;
        (unit, drawn) = in_units_of_their_mean(drawn);
        let again = fit(kind, &drawn, Some(&law.over(unit)))?;
        let there = distances(&again, &drawn);
        as_far[0] += u32::from(there.0 >= ks);
        as_far[1] += u32::from(there.1 >= ad);
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
}
