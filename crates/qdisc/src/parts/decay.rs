//! Bytes that fade, written so that what waits need not be counted anew as time goes: the arithmetic of LARS.
//!
//! Principle: all that was sent halves every half-life, so the order of flows does not change with time when a byte sent
//! now weighs 2^(now/half_life) ("inflated") and none is ever taken down; once in [`EPOCH`] half-lives everything is
//! halved as often as it takes to begin at 1 again, which is exact. Integers only, so that `kernel/core/fading.c` comes to
//! the same bits. Cost per packet: four multiplications; a division once per half-life.

use units::Time;

/// Half-lives between two epochs: 2^512 times 2^64 bytes is far below the largest number, 2^1024.
const EPOCH: u64 = 512;

/// 1 in fixed point.
const ONE: u64 = 1 << 31;

/// 2^(i/16) in fixed point, rounded.
const SIXTEENTHS: [u64; 16] = [
    0x8000_0000,
    0x85aa_c368,
    0x8b95_c1e4,
    0x91c3_d374,
    0x9837_f052,
    0x9ef5_3261,
    0xa5fe_d6aa,
    0xad58_3eea,
    0xb504_f334,
    0xbd08_a39f,
    0xc567_2a11,
    0xce24_8c15,
    0xd744_fccb,
    0xe0cc_deec,
    0xeac0_c6e8,
    0xf525_7d15,
];

/// ln 2 times 2^32, and 1/2, 1/6, 1/24 in fixed point.
const LN_2: u64 = 0xb172_17f8;
const SERIES: [u64; 3] = [0x4000_0000, 0x1555_5555, 0x0555_5555];

/// A number that is zero or at least 2^-1022, in the format of binary64, rounded towards zero: 53 bits of it are kept.
/// None is negative, so they sort as their bits do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inflated(u64);

/// The leading bit of a number, which its bits leave out.
const LEADING: u64 = 1 << 52;

impl Inflated {
    /// Bits of the number, to sort by.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// The number of these bits.
    #[inline(always)]
    pub(crate) fn of_bits(bits: u64) -> Inflated {
        Inflated(bits)
    }

    /// `significand` 2^`power`.
    #[inline(always)]
    fn of(significand: u64, power: i64) -> Inflated {
        if significand == 0 {
            return Inflated(0);
        }
        let top = i64::from(significand.ilog2());
        let leading = if top > 52 { significand >> (top - 52) } else { significand << (52 - top) };
        Inflated((((1023 + power + top) as u64) << 52) + (leading - LEADING))
    }

    /// The sum of both.
    #[inline(always)]
    pub(crate) fn plus(self, other: Inflated) -> Inflated {
        let (large, small) = (self.0.max(other.0), self.0.min(other.0));
        let (exponent, shift) = (large >> 52, (large >> 52) - (small >> 52));
        if small == 0 || shift > 52 {
            return Inflated(large);
        }
        let significand = |bits: u64| (bits & (LEADING - 1)) | LEADING;
        let sum = significand(large) + (significand(small) >> shift);
        let carry = sum >> 53;
        Inflated(((exponent + carry) << 52) + ((sum >> carry) - LEADING))
    }

    /// Halved `times` times; zero when that is below 2^-1022.
    pub(crate) fn halved(self, times: u64) -> Inflated {
        Inflated(if self.0 >> 52 > times { self.0 - (times << 52) } else { 0 })
    }
}

/// What a byte weighs at any time.
#[derive(Clone, Debug)]
pub(crate) struct Decay {
    half_life: u64,
    /// Times are shifted right by this: the half-life then has 31 bits at most.
    shift: u32,
    /// 2^63 over the half-life so shifted.
    per_half_life: u64,
    /// When the present half-life began.
    since: u64,
    /// Half-lives from the epoch until then.
    half_lives: u64,
}

impl Decay {
    /// With an epoch at zero.
    pub(crate) fn of(half_life: Time) -> Decay {
        let shift = (u64::BITS - half_life.0.leading_zeros()).saturating_sub(31);
        let per_half_life = (1 << 63) / (half_life.0 >> shift);
        Decay { half_life: half_life.0, shift, per_half_life, since: 0, half_lives: 0 }
    }

    /// Goes on to `now`, never back. How often everything inflated is to be halved, mostly not at all.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Time) -> u64 {
        if now.0 - self.since < self.half_life {
            return 0;
        }
        self.pass(now.0)
    }

    #[cold]
    fn pass(&mut self, now: u64) -> u64 {
        let passed = (now - self.since) / self.half_life;
        self.since += passed * self.half_life;
        self.half_lives += passed;
        if self.half_lives < EPOCH { 0 } else { std::mem::take(&mut self.half_lives) }
    }

    /// `bytes` sent at `now`, to which this has gone on. Of counts above 2^32 the first 32 bits tell.
    #[inline(always)]
    pub(crate) fn inflated(&self, bytes: u64, now: Time) -> Inflated {
        let excess = (u64::BITS - bytes.leading_zeros()).saturating_sub(32);
        let power = i64::from(excess) + self.half_lives as i64 - 31;
        Inflated::of((bytes >> excess) * self.weight(now.0 - self.since), power)
    }

    /// 2^(`elapsed` / half-life) in fixed point, 1 or more and below 2.
    #[inline(always)]
    fn weight(&self, elapsed: u64) -> u64 {
        let age = ((elapsed >> self.shift) * self.per_half_life) >> 31;
        let age = age.min(u64::from(u32::MAX));
        // e^rest by its series, for rest below ln(2) / 16 = 0.044; the first term left out is below 1.3e-9.
        let rest = ((age & 0x0fff_ffff) * LN_2) >> 33;
        let [second, third, fourth] = SERIES;
        let series = second + ((rest * (third + ((rest * fourth) >> 31))) >> 31);
        let series = ONE + ((rest * (ONE + ((rest * series) >> 31))) >> 31);
        (SIXTEENTHS[(age >> 28) as usize] * series) >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(inflated: Inflated) -> f64 {
        f64::from_bits(inflated.bits())
    }

    #[test]
    fn a_byte_weighs_twice_as_much_a_half_life_later() {
        for half_life in [1_000_000, 999_999_999, 1_000_000_000, 1 << 31, 86_400_000_000_000, 1_000_000_000_000_000] {
            let mut fading = Decay::of(Time(half_life));
            for step in 0..5000_u64 {
                let now = half_life / 997 * step + step % 2;
                assert_eq!(fading.advance(Time(now)), 0);
                let exact = 1500.0 * (now as f64 / half_life as f64).exp2();
                let error = value(fading.inflated(1500, Time(now))) / exact - 1.0;
                // The series, and a time that is rounded to 2^-30 half-lives.
                assert!((-4e-9..1e-9).contains(&error), "half-life {half_life} ns, {now} ns: {error}");
            }
        }
    }

    #[test]
    fn the_table_is_of_roots_of_two() {
        for (i, &root) in SIXTEENTHS.iter().enumerate() {
            assert_eq!(root, (2_f64.powf(i as f64 / 16.0) * ONE as f64).round() as u64, "{i}");
        }
    }

    #[test]
    fn weights_stay_below_two_until_the_very_end_of_a_half_life() {
        for half_life in [1_000_000, 999_999_999, (1 << 31) - 1, (1 << 31) + 1, 1_000_000_000_000_000] {
            let fading = Decay::of(Time(half_life));
            let last = fading.weight(half_life - 1);
            assert!((2 * ONE - 9000..2 * ONE).contains(&last), "{half_life}: {last}");
            assert_eq!(fading.weight(0), ONE);
        }
    }

    #[test]
    fn everything_is_halved_once_in_an_epoch_and_weighs_what_it_did() {
        let mut fading = Decay::of(Time(1_000_000));
        let early = fading.inflated(1500, Time(0));
        assert_eq!(fading.advance(Time(511_999_999)), 0);
        assert_eq!(fading.advance(Time(600_400_000)), 600);
        assert_eq!(fading.advance(Time(600_400_001)), 0);
        assert_eq!(value(early.halved(600)), 1500.0 * 2_f64.powi(-600));
        assert!((value(fading.inflated(1, Time(600_500_000))) / 2_f64.sqrt() - 1.0).abs() < 1e-8);
        assert_eq!(early.halved(1033), early.halved(1_000_000_000_000), "below 2^-1022");
    }

    #[test]
    fn sums_are_those_of_binary64_but_for_the_last_bit() {
        let mut draw = units::Stream::named(1, "sums");
        for _ in 0..100_000 {
            let mut one = || (draw.uniform() * 60.0 - 30.0).exp2() * (1.0 + draw.uniform());
            let (a, b) = (one(), one());
            let sum = Inflated::of_bits(a.to_bits()).plus(Inflated::of_bits(b.to_bits()));
            let below = (a + b).to_bits() - sum.bits();
            assert!(below <= 1, "{a} + {b}: {below} units below");
        }
        let one = Inflated::of(1, 0);
        assert_eq!(one.plus(Inflated::default()), one);
        assert_eq!(value(one.plus(one)), 2.0);
    }

    #[test]
    fn no_count_of_bytes_overflows() {
        let mut fading = Decay::of(Time(1_000_000));
        fading.advance(Time(511_000_000));
        let most = fading.inflated(u64::MAX, Time(511_999_999));
        assert!(value(most.plus(most)) < f64::MAX);
        assert_eq!(fading.inflated(0, Time(511_999_999)), Inflated::default());
        assert_eq!(value(Decay::of(Time(1)).inflated(3 << 40, Time(0))), 3.0 * 2_f64.powi(40));
    }
}
