//! The named random streams that Python draws from: PCG64, seeded with the SHA-256 of seed and names.
//!
//! `mayfly.workload.arrivals.stream` opens the same with numpy, whose `SeedSequence` (O'Neill 2015, `seed_seq_fe`) spreads
//! the 256 bits over the generator's state.

use rand::Rng;
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

/// Words of the pool.
const POOL: usize = 4;

/// A stream of random numbers.
pub(crate) struct Stream(Pcg64);

impl Stream {
    /// The stream of run `seed` that these names call.
    pub(crate) fn named(seed: u64, names: &[&str]) -> Stream {
        let seed = seed.to_string();
        let mut hash = Sha256::new();
        // Lengths keep ("ab", "c") and ("a", "bc") apart.
        for part in std::iter::once(seed.as_str()).chain(names.iter().copied()) {
            hash.update(format!("{}:{part}", part.len()));
        }
        let digest = hash.finalize();
        // A whole number of 32-bit words, the least first, without those that are 0 at the other end.
        let mut words: Vec<u32> = digest
            .chunks_exact(4)
            .rev()
            .map(|word| word.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
            .collect();
        while words.last() == Some(&0) {
            words.pop();
        }
        let [high, low, stream_high, stream_low] = spread(&words);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        Stream(Pcg64::new(wide(high, low), wide(stream_high, stream_low)))
    }

    /// A number uniform on [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
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
    fn streams_are_those_of_python() {
        // from mayfly.workload.arrivals import stream; stream(1, "arrivals").random(3).tolist()
        let drawn = |seed, names: &[&str]| {
            let mut stream = Stream::named(seed, names);
            [0; 3].map(|_| stream.uniform())
        };
        assert_eq!(drawn(1, &["arrivals"]), ARRIVALS);
        assert_eq!(drawn(1, &["probes", "ping"]), PING);
        assert_eq!(drawn(u64::MAX, &["probes", "ping"]), PING_OF_LAST_SEED);
    }

    const ARRIVALS: [f64; 3] = [0.2135599361404752, 0.12739565529605135, 0.5852938485565479];
    const PING: [f64; 3] = [0.09362223844409645, 0.35256009861372917, 0.8954916183244921];
    const PING_OF_LAST_SEED: [f64; 3] = [0.07719086664547847, 0.5428052769182017, 0.5995839367918527];
}
