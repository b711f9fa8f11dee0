//! The random numbers that numpy draws: PCG64, seeded by `SeedSequence` (O'Neill 2015, `seed_seq_fe`).

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
        let mut product = u64::from(self.word()) * u64::from(count);
        if (product as u32) < count {
            let uneven = count.wrapping_neg() % count;
            while (product as u32) < uneven {
                product = u64::from(self.word()) * u64::from(count);
            }
        }
        (product >> 32) as u32
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

    const UNIFORM: [f64; 3] = [0.625095466604667, 0.8972138009695755, 0.7756856902451935];
    const BELOW: [(u32, [u32; 4]); 3] = [
        (10, [9, 6, 6, 8]),
        (888, [839, 555, 607, 796]),
        (4000000000, [3779619823, 2500381865, 2736719747, 3588855203]),
    ];
}
