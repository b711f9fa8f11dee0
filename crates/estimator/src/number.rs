//! Arithmetic of the estimator: one algorithm on floating point and on integers.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the algorithm calculates with. Results stay within ±[`Number::LARGEST`] and are never NaN as
/// long as the operands are: division by zero gives the largest number of the sign of the dividend.
pub trait Number:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Beyond this a sample is refused.
    const LARGEST: Self;

    /// Nearest number to a parameter; not for samples, so that an integer form needs no `f64` while it runs.
    fn from_f64(value: f64) -> Self;

    /// `numerator / denominator`, the denominator above 0.
    fn from_ratio(numerator: i64, denominator: i64) -> Self;

    /// For reports.
    fn to_f64(self) -> f64;

    /// Square root, 0 for negative numbers.
    fn sqrt(self) -> Self;

    /// `self * count`: exact until it saturates.
    fn times(self, count: i64) -> Self;

    /// `self / count`, the count above 0.
    fn per(self, count: i64) -> Self;

    /// Finite and within ±[`Number::LARGEST`].
    fn is_usable(self) -> bool {
        self >= -Self::LARGEST && self <= Self::LARGEST
    }

    /// The lesser of two.
    fn at_most(self, bound: Self) -> Self {
        if self > bound { bound } else { self }
    }

    /// The greater of two.
    fn at_least(self, bound: Self) -> Self {
        if self < bound { bound } else { self }
    }
}

/// Floating point that is never infinite: sums and products stop at ±[`Number::LARGEST`]² and quotients by zero are
/// finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Float(pub f64);

/// Squares of usable numbers and sums of a few of them fit.
const END: f64 = 1e30;

fn held(value: f64) -> Float {
    // NaN cannot come: operands are within ±END, and END squared is finite.
    Float(value.clamp(-END, END))
}

impl Add for Float {
    type Output = Float;
    #[inline]
    fn add(self, other: Float) -> Float {
        held(self.0 + other.0)
    }
}

impl Sub for Float {
    type Output = Float;
    #[inline]
    fn sub(self, other: Float) -> Float {
        held(self.0 - other.0)
    }
}

impl Mul for Float {
    type Output = Float;
    #[inline]
    fn mul(self, other: Float) -> Float {
        held(self.0 * other.0)
    }
}

impl Div for Float {
    type Output = Float;
    #[inline]
    fn div(self, other: Float) -> Float {
        if other.0 == 0.0 { Float(if self.0 < 0.0 { -END } else { END }) } else { held(self.0 / other.0) }
    }
}

impl Neg for Float {
    type Output = Float;
    #[inline]
    fn neg(self) -> Float {
        Float(-self.0)
    }
}

impl Number for Float {
    const ZERO: Float = Float(0.0);
    const ONE: Float = Float(1.0);
    const LARGEST: Float = Float(1e12);

    fn from_f64(value: f64) -> Float {
        held(value)
    }

    #[inline]
    fn from_ratio(numerator: i64, denominator: i64) -> Float {
        held(numerator as f64 / denominator as f64)
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self.0
    }

    #[inline]
    fn sqrt(self) -> Float {
        Float(self.0.max(0.0).sqrt())
    }

    #[inline]
    fn times(self, count: i64) -> Float {
        held(self.0 * count as f64)
    }

    #[inline]
    fn per(self, count: i64) -> Float {
        held(self.0 / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_zero_stays_finite_with_the_sign_of_the_dividend() {
        assert_eq!(Float(2.0) / Float(0.0), Float(END));
        assert_eq!(Float(-2.0) / Float(0.0), Float(-END));
        assert_eq!(Float(0.0) / Float(0.0), Float(END));
    }

    #[test]
    fn products_stop_at_the_end_and_roots_of_negatives_are_zero() {
        assert_eq!(Float(1e20) * Float(-1e20), Float(-END));
        assert_eq!(Float(-4.0).sqrt(), Float(0.0));
        assert!(!Float(f64::NAN).is_usable());
        assert!(!Float(f64::INFINITY).is_usable());
    }
}
