//! The random numbers that numpy draws: PCG64, seeded by `SeedSequence` (O'Neill 2015, `seed_seq_fe`).

use libm::log;
use rand::Rng;
use rand_pcg::Pcg64;

/// Words of the pool.
const POOL: usize = 4;

/// A stream of random numbers that is `numpy.random.default_rng` to the bit.
#[derive(Clone, Debug)]
pub struct NumpyStream {
    generator: Pcg64,
    /// Upper half of the last number of which 32 bits were taken.
    half: Option<u32>,
}

impl NumpyStream {
    /// The stream of a whole number.
    pub fn of(seed: u64) -> NumpyStream {
        NumpyStream::seeded(&[seed as u32, (seed >> 32) as u32])
    }

    /// The stream of a whole number of any length: its words of 32 bits, the least first.
    pub fn seeded(words: &[u32]) -> NumpyStream {
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        let [high, low, stream_high, stream_low] = spread(&words[..used]);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        NumpyStream { generator: Pcg64::new(wide(high, low), wide(stream_high, stream_low)), half: None }
    }

    /// A number uniform on [0, 1): `Generator.random`.
    pub fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A whole number uniform below `count`, which is above 0: `Generator.integers` (Lemire 2019).
    pub fn below(&mut self, count: u32) -> u32 {
        // Nothing is drawn where there is no choice.
        if count == 1 {
            return 0;
        }
        let mut product = u64::from(self.word()) * u64::from(count);
        if (product as u32) < count {
            let uneven = count.wrapping_neg() % count;
            while (product as u32) < uneven {
                product = u64::from(self.word()) * u64::from(count);
            }
        }
        (product >> 32) as u32
    }

    /// A Poisson number of this mean, at least 0: `Generator.poisson`.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        if mean >= 10.0 {
            self.transformed_rejection(mean)
        } else if mean > 0.0 {
            self.multiplication(mean)
        } else {
            0
        }
    }

    /// Uniform numbers are multiplied until they are below `exp(-mean)` (Knuth 1997, 3.4.1).
    fn multiplication(&mut self, mean: f64) -> u64 {
        let (least, mut product, mut count) = (libm::exp(-mean), 1.0, 0);
        loop {
            product *= self.uniform();
            if product <= least {
                return count;
            }
            count += 1;
        }
    }

    /// Algorithm PTRS of Hörmann 1993, The transformed rejection method for generating Poisson random variables.
    fn transformed_rejection(&mut self, mean: f64) -> u64 {
        let b = 0.931 + 2.53 * mean.sqrt();
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let v_r = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let u_s = 0.5 - u.abs();
            let k = ((2.0 * a / u_s + b) * u + mean + 0.43).floor();
            if u_s >= 0.07 && v <= v_r {
                return k as u64;
            }
            if k < 0.0 || (u_s < 0.013 && v > u_s) {
                continue;
            }
            let accepted = log(v) + log(inverse_alpha) - log(a / (u_s * u_s) + b);
            if accepted <= -mean + k * log(mean) - ln_gamma(k + 1.0) {
                return k as u64;
            }
        }
    }

    /// 32 random bits: halves of 64, the lower one first.
    fn word(&mut self) -> u32 {
        self.half.take().unwrap_or_else(|| {
            let bits = self.generator.next_u64();
            self.half = Some((bits >> 32) as u32);
            bits as u32
        })
    }
}

/// Logarithm of the gamma function as numpy has it (Zhang and Jin 1996, 3.1): Stirling's series from 7 on, below it by
/// the recurrence.
fn ln_gamma(x: f64) -> f64 {
    const SERIES: [f64; 10] = [
        8.333333333333333e-02,
        -2.777777777777778e-03,
        7.936507936507937e-04,
        -5.952380952380952e-04,
        8.417508417508418e-04,
        -1.917526917526918e-03,
        6.41025641025641e-03,
        -2.955065359477124e-02,
        1.796443723688307e-01,
        -1.3924322169059e+00,
    ];
    const LN_TWO_PI: f64 = 1.8378770664093453;
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    let steps = if x < 7.0 { (7.0 - x).floor() } else { 0.0 };
    let mut above = x + steps;
    let inverse_square = (1.0 / above) * (1.0 / above);
    let sum = SERIES.iter().rev().copied().reduce(|sum, term| sum * inverse_square + term).unwrap_or(0.0);
    let mut found = sum / above + 0.5 * LN_TWO_PI + (above - 0.5) * log(above) - above;
    for _ in 0..steps as u32 {
        found -= log(above - 1.0);
        above -= 1.0;
    }
    found
}

/// Multiplies a constant that changes with each use into words.
struct Hash {
    constant: u32,
    factor: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let mut word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.factor);
        word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

fn mixed(one: u32, other: u32) -> u32 {
    let word = 0xca01_f9dd_u32.wrapping_mul(one).wrapping_sub(0x4973_f715_u32.wrapping_mul(other));
    word ^ word >> 16
}

/// Words of entropy spread over the 256 bits of a state.
fn spread(entropy: &[u32]) -> [u64; 4] {
    let mut hash = Hash { constant: 0x43b0_d7e5, factor: 0x931e_8875 };
    let mut pool = [0_u32; POOL];
    for (place, word) in pool.iter_mut().enumerate() {
        *word = hash.of(entropy.get(place).copied().unwrap_or(0));
    }
    for from in 0..POOL {
        for to in (0..POOL).filter(|&to| to != from) {
            pool[to] = mixed(pool[to], hash.of(pool[from]));
        }
    }
    for &word in entropy.iter().skip(POOL) {
        for place in &mut pool {
            *place = mixed(*place, hash.of(word));
        }
    }
    let mut hash = Hash { constant: 0x8b51_f9dd, factor: 0x58f3_8ded };
    let mut words = pool.iter().cycle().map(|&word| u64::from(hash.of(word)));
    std::array::from_fn(|_| {
        let low = words.next().unwrap_or(0);
        words.next().unwrap_or(0) << 32 | low
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_numpy() {
        // numpy.random.default_rng(7): .random(3) and .integers(0, count, 4).
        let mut stream = NumpyStream::of(7);
        assert_eq!([0; 3].map(|_| stream.uniform()), UNIFORM);
        for (count, expected) in BELOW {
            let mut stream = NumpyStream::of(7);
            assert_eq!([0; 4].map(|_| stream.below(count)), expected);
        }
    }

    #[test]
    fn poisson_numbers_are_those_of_numpy() {
        // numpy.random.default_rng(7).poisson(mean, 6)
        for (mean, expected) in POISSON {
            let mut stream = NumpyStream::of(7);
            assert_eq!([0; 6].map(|_| stream.poisson(mean)), expected, "mean {mean}");
        }
    }

    #[test]
    fn draws_of_all_kinds_follow_each_other_as_in_numpy() {
        // rng = numpy.random.default_rng(3): .poisson(37), .integers(0, 37, 5), .random(2), .integers(0, 1, 2),
        // .integers(0, 37, 2), .poisson(2.5): half of a number that integers left over is taken by the next ones.
        let mut stream = NumpyStream::of(3);
        assert_eq!(stream.poisson(37.0), 27);
        assert_eq!([0; 5].map(|_| stream.below(37)), [6, 29, 32, 21, 1]);
        assert_eq!([0; 2].map(|_| stream.uniform()), [0.4331269402364738, 0.479051298140834]);
        assert_eq!([0; 2].map(|_| stream.below(1)), [0, 0]);
        assert_eq!([0; 2].map(|_| stream.below(37)), [3, 9]);
        assert_eq!(stream.poisson(2.5), 2);
    }

    #[test]
    fn logarithms_of_the_gamma_function_are_those_of_factorials() {
        let mut sum = 0.0;
        for n in 1..100_u32 {
            sum += f64::from(n).ln();
            let error = ln_gamma(f64::from(n) + 1.0) - sum;
            assert!(error.abs() <= 1e-13 * sum.max(1.0), "{n}: {error}");
        }
    }

    const POISSON: [(f64, [u64; 6]); 10] = [
        (0.0, [0, 0, 0, 0, 0, 0]),
        (0.5, [1, 1, 0, 1, 2, 0]),
        (3.0, [4, 1, 4, 3, 5, 1]),
        (9.99, [9, 11, 8, 5, 7, 9]),
        (10.0, [13, 8, 13, 8, 7, 10]),
        (11.5, [14, 15, 9, 9, 11, 8]),
        (40.0, [42, 45, 36, 46, 36, 35]),
        (123.0, [127, 133, 116, 133, 116, 115]),
        (5000.0, [5025, 5060, 4958, 5066, 4959, 4947]),
        (1e6, [1000358, 1000852, 999411, 1000936, 999420, 999259]),
    ];
    const UNIFORM: [f64; 3] = [0.625095466604667, 0.8972138009695755, 0.7756856902451935];
    const BELOW: [(u32, [u32; 4]); 3] = [
        (10, [9, 6, 6, 8]),
        (888, [839, 555, 607, 796]),
        (4000000000, [3779619823, 2500381865, 2736719747, 3588855203]),
    ];
}
