//! Integers that stand for numbers times 2^14: what a kernel without floating point can carry.
//!
//! Principle: a product needs the sum of the lengths of its operands, a quotient needs the dividend 14 bits longer.
//! Where that does not fit into 64 bits, an operand is scaled by less and the result brought back to 2^14
//! ("dynamic scaling"): it loses low bits instead of overflowing. What does not fit even then stops at the largest
//! value. Results are rounded to the nearest, halves away from zero: truncation would pull every filter to one side.
//! Only shifts, 64-bit products and 64-bit divisions are used, so that each operation is a line of C.
//! Source: Zhao 2004, III.A.2.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::number::Number;

/// Bits behind the point: the preset scale of Zhao 2004, III.A.2.
pub const SCALE_BITS: u32 = 14;
const UNIT: i64 = 1 << SCALE_BITS;
/// Symmetric, so that every number can be negated.
const END: i64 = i64::MAX;

/// A number times 2^14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixed(pub i64);

fn held(value: i64) -> Fixed {
    Fixed(value.max(-END))
}

/// `value / 2^bits`, halves away from zero.
#[inline]
fn halved(value: i64, bits: u32) -> i64 {
    if bits == 0 {
        return value;
    }
    let magnitude = value.unsigned_abs();
    let rounded = (magnitude >> bits) + ((magnitude >> (bits - 1)) & 1);
    if value < 0 { -(rounded as i64) } else { rounded as i64 }
}

/// `value * 2^bits`, stopping at the end.
#[inline]
fn doubled(value: i64, bits: u32) -> i64 {
    if value.unsigned_abs() > (END as u64) >> bits { if value < 0 { -END } else { END } } else { value << bits }
}

/// `a / b`, halves away from zero; `b` is not 0.
#[inline]
fn quotient(a: i64, b: i64) -> i64 {
    let (over, under) = (a.unsigned_abs(), b.unsigned_abs());
    let whole = over / under;
    let rest = over - whole * under;
    let rounded = whole + u64::from(rest >= under - rest);
    let rounded = rounded.min(END as u64) as i64;
    if (a < 0) == (b < 0) { rounded } else { -rounded }
}

/// Bits that `value` could be shifted left by without loss.
#[inline]
fn room(value: i64) -> u32 {
    value.unsigned_abs().leading_zeros().saturating_sub(1)
}

/// Largest integer whose square is at most `value`: Newton's iteration from above, where it falls until it is there.
/// At most 8 steps for 64 bits, as the first value is at most twice the root.
#[inline]
pub fn integer_sqrt(value: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    let bits = 64 - value.leading_zeros();
    let mut root = 1u64 << bits.div_ceil(2);
    if bits > 62 {
        // 2^32 squared would not fit; the root of a 64-bit number does.
        root = u64::from(u32::MAX);
    }
    loop {
        let next = (root + value / root) / 2;
        if next >= root {
            return root;
        }
        root = next;
    }
}

impl Add for Fixed {
    type Output = Fixed;
    #[inline]
    fn add(self, other: Fixed) -> Fixed {
        held(self.0.saturating_add(other.0))
    }
}

impl Sub for Fixed {
    type Output = Fixed;
    #[inline]
    fn sub(self, other: Fixed) -> Fixed {
        held(self.0.saturating_sub(other.0))
    }
}

impl Mul for Fixed {
    type Output = Fixed;
    /// (a 2^14)(b 2^14) / 2^14. Where the product is longer than 63 bits, the longer operand gives up the missing bits
    /// before, and the result is shifted by as many less after.
    #[inline]
    fn mul(self, other: Fixed) -> Fixed {
        let (long, short) =
            if self.0.unsigned_abs() >= other.0.unsigned_abs() { (self.0, other.0) } else { (other.0, self.0) };
        if let Some(product) = long.checked_mul(short) {
            return held(halved(product, SCALE_BITS));
        }
        let given_up = 65 - long.unsigned_abs().leading_zeros() - short.unsigned_abs().leading_zeros();
        if given_up <= SCALE_BITS {
            return held(halved(halved(long, given_up) * short, SCALE_BITS - given_up));
        }
        let (from_long, from_short) = (given_up - given_up / 2, given_up / 2);
        held(doubled(halved(long, from_long).saturating_mul(halved(short, from_short)), given_up - SCALE_BITS))
    }
}

impl Div for Fixed {
    type Output = Fixed;
    /// (a 2^14) 2^14 / (b 2^14). A dividend without room for 14 bits more is scaled by what there is; a long divisor is
    /// then scaled down by the rest, a short one leaves it to the quotient, which is large.
    #[inline]
    fn div(self, other: Fixed) -> Fixed {
        if other.0 == 0 {
            return Fixed(if self.0 < 0 { -END } else { END });
        }
        let scale = room(self.0).min(SCALE_BITS);
        let rest = SCALE_BITS - scale;
        if other.0.unsigned_abs() >= 1 << (2 * SCALE_BITS) {
            return held(quotient(self.0 << scale, halved(other.0, rest)));
        }
        held(doubled(quotient(self.0 << scale, other.0), rest))
    }
}

impl Neg for Fixed {
    type Output = Fixed;
    #[inline]
    fn neg(self) -> Fixed {
        Fixed(-self.0)
    }
}

impl Number for Fixed {
    const ZERO: Fixed = Fixed(0);
    const ONE: Fixed = Fixed(UNIT);
    /// 2^40.
    const LARGEST: Fixed = Fixed(1 << (40 + SCALE_BITS));

    fn from_f64(value: f64) -> Fixed {
        // Rust's cast stops at the ends and takes NaN to 0.
        held((value * UNIT as f64).round() as i64)
    }

    #[inline]
    fn from_ratio(numerator: i64, denominator: i64) -> Fixed {
        Fixed(held(numerator).0) / Fixed(denominator)
    }

    fn to_f64(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }

    /// sqrt(a) 2^14 = sqrt((a 2^14) 2^14), with an even number of bits less where those do not fit.
    #[inline]
    fn sqrt(self) -> Fixed {
        if self.0 <= 0 {
            return Fixed(0);
        }
        let scale = room(self.0).min(SCALE_BITS) & !1;
        Fixed((integer_sqrt((self.0 as u64) << scale) << ((SCALE_BITS - scale) / 2)) as i64)
    }

    #[inline]
    fn times(self, count: i64) -> Fixed {
        held(self.0.saturating_mul(count))
    }

    #[inline]
    fn per(self, count: i64) -> Fixed {
        held(quotient(self.0, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(value: f64) -> Fixed {
        Fixed::from_f64(value)
    }

    #[test]
    fn products_and_quotients_are_rounded_to_the_nearest() {
        // 1.5 * 2.25 = 3.375 = 55296 / 16384.
        assert_eq!(fixed(1.5) * fixed(2.25), Fixed(55296));
        // 3 / 16384 times a half is 1.5 / 16384: away from zero.
        assert_eq!(Fixed(3) * Fixed(8192), Fixed(2));
        assert_eq!(Fixed(-3) * Fixed(8192), Fixed(-2));
        // 1 / 3 = 5461.33 / 16384, 2 / 3 = 10922.67 / 16384.
        assert_eq!(fixed(1.0) / fixed(3.0), Fixed(5461));
        assert_eq!(fixed(2.0) / fixed(3.0), Fixed(10923));
        assert_eq!(fixed(-2.0) / fixed(3.0), Fixed(-10923));
    }

    #[test]
    fn a_product_too_long_for_64_bits_loses_low_bits_instead_of_overflowing() {
        // 2^25 * 2^20 = 2^45, scaled 2^59: the product before the shift back would have 73 bits.
        assert_eq!(Fixed(1 << 39) * Fixed(1 << 34), Fixed(1 << 59));
        assert_eq!(Fixed(1 << 39) * Fixed(-(1 << 34)), Fixed(-(1 << 59)));
        // 2^30 * 2^30 = 2^60 does not fit when scaled by 2^14.
        assert_eq!(Fixed(1 << 44) * Fixed(1 << 44), Fixed(END));
        assert_eq!(Fixed(1 << 44) * Fixed(-(1 << 44)), Fixed(-END));
    }

    #[test]
    fn a_quotient_of_long_numbers_keeps_14_bits() {
        // 2^45 / 3: (2^59 << 4) / 3 << 10.
        let third = Fixed(1 << 59) / fixed(3.0);
        assert!((third.to_f64() / 2f64.powi(45) * 3.0 - 1.0).abs() < 1e-9);
        // Both long: 2^45 / (2^44 + 2^43) = 4 / 3 = 21845.33 / 16384.
        assert_eq!(Fixed(1 << 59) / Fixed((1 << 58) + (1 << 57)), Fixed(21845));
        assert_eq!(Fixed(5) / Fixed(0), Fixed(END));
    }

    #[test]
    fn the_integer_root_is_exact() {
        let squares = (0..63).map(|bits| 1u64 << bits);
        let near = squares.flat_map(|value| [value.saturating_sub(1), value, value + 1, value + value / 3]);
        for value in near.chain([u64::MAX, u64::MAX - 1, (1 << 32) - 1, 99, 100]) {
            assert_eq!(integer_sqrt(value), value.isqrt(), "root of {value}");
        }
    }

    #[test]
    fn roots_carry_14_bits() {
        // sqrt(2) = 23170.47 / 16384, sqrt(0.25) = 0.5.
        assert_eq!(fixed(2.0).sqrt(), Fixed(23170));
        assert_eq!(fixed(0.25).sqrt(), Fixed(8192));
        assert_eq!(Fixed(-1).sqrt(), Fixed(0));
        // 2^46 scaled is 2^60: no room for 14 bits more, for 2 there is. The root of 2^46 is 2^23.
        assert_eq!(Fixed(1 << 60).sqrt(), Fixed(1 << 37));
    }

    #[test]
    fn sums_stop_at_the_ends() {
        assert_eq!(Fixed(END) + Fixed(1), Fixed(END));
        assert_eq!(Fixed(-END) - Fixed(5), Fixed(-END));
        assert_eq!(Fixed(i64::MAX / 2).times(3), Fixed(END));
        assert_eq!(Fixed::from_f64(f64::NAN), Fixed(0));
    }
}
