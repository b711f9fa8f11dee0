//! Student's interval of a mean.

/// Steps of the bisection: each halves the bracket, and 200 do so beyond the last bit.
const STEPS: u32 = 200;

/// The 97.5 % quantile of Student's law with so many degrees of freedom, at least 1.
///
/// The probability of `|t|` below a bound is a finite sum for whole degrees of freedom (Abramowitz and Stegun 1964,
/// 26.7.3 and 26.7.4), which is inverted by bisection.
///
/// ```
/// assert!((metrics::student_t(1) - 12.706_204_736_174_7).abs() < 1e-9);
/// ```
pub fn student_t(degrees: u32) -> f64 {
    let (mut low, mut high) = (1.0, 16.0);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if within(middle, degrees) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Probability that `|t|` is at most `bound`.
fn within(bound: f64, degrees: u32) -> f64 {
    let nu = f64::from(degrees);
    let sine = bound / (nu + bound * bound).sqrt();
    let cosine_square = nu / (nu + bound * bound);
    // Even: sin (1 + 1/2 cos^2 + 1 3 / (2 4) cos^4 + ...); odd: 2/pi (theta + sin (cos + 2/3 cos^3 + ...)).
    let odd = degrees % 2 == 1;
    let (mut term, mut sum) = if odd { (cosine_square.sqrt(), 0.0) } else { (1.0, 0.0) };
    let first = if odd { 3 } else { 2 };
    for over in (first..=degrees).step_by(2) {
        sum += term;
        let over = f64::from(over);
        term *= cosine_square * (over - 1.0) / over;
    }
    if odd { core::f64::consts::FRAC_2_PI * (libm::atan(bound / nu.sqrt()) + sine * sum) } else { sine * sum }
}

/// 95 % interval of the mean of a few independent values; `None` with fewer than two.
///
/// ```
/// let [low, high] = metrics::student_ci95(&[1.0, 3.0]).unwrap();
/// assert!((low + 10.706).abs() < 5e-4 && (high - 14.706).abs() < 5e-4);
/// ```
pub fn student_ci95(values: &[f64]) -> Option<[f64; 2]> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let half = student_t(u32::try_from(values.len() - 1).unwrap_or(u32::MAX)) * (squares / (n - 1.0)).sqrt() / n.sqrt();
    Some([mean - half, mean + half])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // scipy.special.stdtrit(n, 0.975), which the Python package calls.
        let table = [
            (1, 12.706204736174694),
            (2, 4.302652729749462),
            (3, 3.1824463052837078),
            (4, 2.7764451051977934),
            (7, 2.364624251592784),
            (10, 2.228138851986274),
            (29, 2.045229642132703),
            (59, 2.000995378088267),
            (360, 1.9665754602606274),
            (8639, 1.9602386225745998),
        ];
        for (degrees, expected) in table {
            assert!((student_t(degrees) / expected - 1.0).abs() < 1e-10, "{degrees}: {}", student_t(degrees));
        }
    }

    #[test]
    fn one_degree_of_freedom_is_the_law_of_cauchy() {
        let half = 0.95 * core::f64::consts::FRAC_PI_2;
        assert!((student_t(1) / (libm::sin(half) / libm::cos(half)) - 1.0).abs() < 1e-12);
        // Two: A = t / sqrt(2 + t^2) = 0.95.
        assert!((student_t(2) / (2.0 * 0.9025_f64 / (1.0 - 0.9025)).sqrt() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(student_ci95(&[1.0]), None);
        assert_eq!(student_ci95(&[2.0, 2.0, 2.0]), Some([2.0, 2.0]));
    }
}
