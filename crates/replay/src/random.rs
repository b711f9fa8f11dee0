//! The named random streams that Python draws from: numpy's generator, seeded with the SHA-256 of seed and names
//! (`mayfly.workload.arrivals.stream`).

use sha2::{Digest, Sha256};
use units::NumpyStream;

/// A stream of random numbers.
pub(crate) struct Stream(NumpyStream);

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
        // A whole number of 32-bit words, the least first.
        let words: Vec<u32> = digest
            .chunks_exact(4)
            .rev()
            .map(|word| word.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
            .collect();
        Stream(NumpyStream::seeded(&words))
    }

    /// A Poisson number of this mean, at least 0.
    pub(crate) fn poisson(&mut self, mean: f64) -> u64 {
        self.0.poisson(mean)
    }

    /// A whole number uniform below `count`, which is above 0.
    pub(crate) fn below(&mut self, count: u32) -> u32 {
        self.0.below(count)
    }

    /// A number uniform on [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }
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
