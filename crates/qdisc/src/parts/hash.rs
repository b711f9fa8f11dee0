//! A seeded hash from flows to queues: what the disciplines with a fixed number of queues have in
//! common.
//!
//! Principle: two folded 128-bit multiplications by odd numbers drawn from the random stream of the
//! queue, so that nobody who does not know them can aim flows at one queue, and one seed gives the
//! same queues on every platform.

use foldhash::fast::FixedState;
use units::{FlowKey, Stream};

/// A table by flow, the same in every run: which marks removals leave, and so when it grows, depends on the hash, and the
/// memory of flow tables is a result. A flow key is a number the caller gives out, not the five-tuple of a stranger who
/// might aim it.
pub(crate) type FlowMap<V> = hashbrown::HashMap<FlowKey, V, FixedState>;

/// A hash with a seed of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeded {
    first: u64,
    second: u64,
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Seeded {
    /// A hash whose seed is drawn from `rng`.
    pub(crate) fn draw(rng: &mut Stream) -> Seeded {
        Seeded { first: rng.bits(), second: rng.bits() | 1 }
    }

    /// 64 bits, each as even as any other.
    #[inline]
    pub(crate) fn hash(&self, key: u64) -> u64 {
        fold(fold(key ^ self.first, 0x9e37_79b9_7f4a_7c15), self.second)
    }

    /// The queue of `key` among `queues`, which is above zero.
    #[inline]
    pub(crate) fn queue(&self, key: u64, queues: u32) -> u32 {
        let hash = self.hash(key);
        // The upper half of the product maps 64 bits onto the queues as evenly as a remainder would.
        ((u128::from(hash) * u128::from(queues)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_spread_evenly_and_differently_for_each_seed() {
        let hashes = [1, 2].map(|seed| Seeded::draw(&mut Stream::named(seed, "hash")));
        for step in [1, 2, 1024, 1 << 32] {
            let mut counts = [[0_u32; 64]; 2];
            let mut same = 0;
            for key in 0..64_000_u64 {
                let queues = hashes.map(|hash| hash.queue(key * step, 64));
                counts[0][queues[0] as usize] += 1;
                counts[1][queues[1] as usize] += 1;
                same += u32::from(queues[0] == queues[1]);
            }
            // 1000 each with a standard deviation of 31; the same queue by chance 1000 times.
            assert!(counts.iter().flatten().all(|count| (840..1160).contains(count)), "{step}: {counts:?}");
            assert!((840..1160).contains(&same), "{step}: {same}");
        }
    }
}
