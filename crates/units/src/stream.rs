use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A named random stream: the same seed and name give the same numbers on every platform,
/// whatever else the run draws. One source of randomness, one name.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream `name` of run `seed`.
    pub fn named(seed: u64, name: &str) -> Stream {
        // FNV-1a over the name, then SplitMix64 so that close seeds give unrelated streams.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut mixed = seed ^ hash;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Stream(Pcg64Mcg::seed_from_u64(mixed ^ (mixed >> 31)))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number uniform on [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_name_and_seed() {
        let draw = |seed, name| Stream::named(seed, name).uniform();
        assert_eq!(draw(1, "red"), draw(1, "red"));
        assert_ne!(draw(1, "red"), draw(1, "boot"));
        assert_ne!(draw(1, "red"), draw(2, "red"));
    }

    #[test]
    fn uniform_covers_the_unit_interval() {
        let mut stream = Stream::named(3, "mean");
        let mean = (0..10_000).map(|_| stream.uniform()).sum::<f64>() / 10_000.0;
        // Standard deviation of the mean is 0.0029: four of them.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
    }
}
