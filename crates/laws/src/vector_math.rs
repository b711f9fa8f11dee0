//! Exponentials and logarithms of whole slices, without calls: the compiler runs them over several values at once.
//!
//! Both are exact to 1e-14 of their value, and no more: nothing that is told to its last digit is made of them.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// Below, exponentials are that of this.
const LEAST: f64 = -700.0;
/// Added to a number it leaves the nearest whole one in the last bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// The logarithm of 2 in two parts, of which the first has zeros at its end.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Reciprocals of factorials, from that of 11 down to that of 0.
const TAYLOR: [f64; 12] = [
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// The exponential of each value, none of which is above 0.
#[inline(always)]
pub(crate) fn exp_of_negatives<const FUSED: bool>(values: &mut [f64]) {
    for value in values {
        *value = exp_of_negative::<FUSED>(*value);
    }
}

/// The product of two numbers and a third one; rounded once where the processor can.
#[inline(always)]
fn fused<const FUSED: bool>(one: f64, two: f64, three: f64) -> f64 {
    if FUSED { one.mul_add(two, three) } else { one * two + three }
}

/// The exponential of a value that is not above 0.
#[inline(always)]
pub(crate) fn exp_of_negative<const FUSED: bool>(x: f64) -> f64 {
    let x = if x > LEAST { x } else { LEAST };
    let shifted = fused::<FUSED>(x, LOG2_E, WHOLE);
    let whole = shifted - WHOLE;
    let rest = fused::<FUSED>(whole, -LN_2_LOW, fused::<FUSED>(whole, -LN_2_HIGH, x));
    let mut sum = TAYLOR[0];
    for term in &TAYLOR[1..] {
        sum = fused::<FUSED>(sum, rest, *term);
    }
    // The exponent of the power of two.
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// The logarithm of each value: normal numbers above 0.
#[inline(always)]
pub(crate) fn logs<const FUSED: bool>(values: &mut [f64]) {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    /// 2^52: with it, a number in the last bits is that many.
    const UNITS: u64 = 0x4330_0000_0000_0000;
    for value in values {
        let bits = value.to_bits();
        let exponent = f64::from_bits((bits >> 52) | UNITS) - (4_503_599_627_370_496.0 + 1023.0);
        let mantissa = f64::from_bits((bits & MANTISSA) | ONE);
        let high = mantissa > SQRT_2;
        let mantissa = if high { 0.5 * mantissa } else { mantissa };
        let exponent = if high { exponent + 1.0 } else { exponent };
        // log m = 2 artanh((m - 1) / (m + 1)).
        let s = (mantissa - 1.0) / (mantissa + 1.0);
        let square = s * s;
        let mut sum = 1.0 / 21.0;
        for term in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
            sum = fused::<FUSED>(sum, square, 1.0 / term);
        }
        *value = exponent * LN_2 + 2.0 * s * sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_exact_to_their_last_digits_but_one() {
        let mut stream = units::Stream::named(3, "slices");
        let given: Vec<f64> =
            (0..100_000).map(|_| -stream.uniform() * 10_f64.powf(6.0 * stream.uniform() - 3.5)).collect();
        let (mut found, mut fused) = (given.clone(), given.clone());
        exp_of_negatives::<false>(&mut found);
        exp_of_negatives::<true>(&mut fused);
        for (x, found) in given.iter().zip(&found).chain(given.iter().zip(&fused)) {
            assert!((found / x.max(LEAST).exp() - 1.0).abs() < 2e-14, "{x}: {found}");
        }
        let given: Vec<f64> =
            given.iter().map(|x| x.exp().max(1e-300)).chain([1.0, 5e-324_f64.max(1e-300), 1e300]).collect();
        let (mut found, mut fused) = (given.clone(), given.clone());
        logs::<false>(&mut found);
        logs::<true>(&mut fused);
        for (x, found) in given.iter().zip(&found).chain(given.iter().zip(&fused)) {
            assert!((found - x.ln()).abs() <= 1e-14 * x.ln().abs(), "{x}: {found} {}", x.ln());
        }
    }
}
