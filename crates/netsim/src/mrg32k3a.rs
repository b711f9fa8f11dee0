//! L'Ecuyer's combined multiple recursive generator MRG32k3a, for the phases of the hosts' clocks.
//!
//! It is the generator of ns-2, whose clocks draw their phase (`boot_time_`) from it with seed 1: the one
//! source of randomness of a run over a flow list, so that runs can be compared packet by packet.
//! Source: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random
//! number generators", Operations Research 47(1), 1999.

const M1: i64 = 4_294_967_087;
const M2: i64 = 4_294_944_443;

#[derive(Clone, Debug)]
pub(crate) struct Mrg32k3a {
    first: [i64; 3],
    second: [i64; 3],
}

impl Mrg32k3a {
    /// All six words of the state are `seed`, brought below the smaller modulus.
    pub(crate) fn seeded(seed: u64) -> Mrg32k3a {
        let word = (seed.wrapping_sub(1) % (M2 as u64 - 1)) as i64 + 1;
        Mrg32k3a { first: [word; 3], second: [word; 3] }
    }

    /// A number uniform on (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        let p1 = (1_403_580 * self.first[1] - 810_728 * self.first[0]).rem_euclid(M1);
        self.first = [self.first[1], self.first[2], p1];
        let p2 = (527_612 * self.second[2] - 1_370_589 * self.second[0]).rem_euclid(M2);
        self.second = [self.second[1], self.second[2], p2];
        let difference = if p1 > p2 { p1 - p2 } else { p1 - p2 + M1 };
        difference as f64 / (M1 + 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_12345_gives_the_published_first_number() {
        // RngStreams of L'Ecuyer et al. 2002: first number of the first stream.
        assert!((Mrg32k3a::seeded(12_345).uniform() - 0.127_011_122_046_577).abs() < 1e-14);
    }

    #[test]
    fn seed_1_gives_the_first_number_ns_2_prints() {
        assert!((Mrg32k3a::seeded(1).uniform() - 0.000_339_577).abs() < 1e-9);
    }

    #[test]
    fn every_seed_gives_numbers_between_0_and_1() {
        for seed in [0, 1, u64::MAX, M2 as u64] {
            let mut generator = Mrg32k3a::seeded(seed);
            let mean = (0..10_000).map(|_| generator.uniform()).sum::<f64>() / 10_000.0;
            assert!((mean - 0.5).abs() < 0.012, "{seed}: {mean}");
        }
    }
}
