//! A set-associative table whose slots keep what they stand for while nothing waits: flows and users of LFQ.
//!
//! Principle: a key hashes, with a seed of its own, to a set of [`WAYS`] slots and has the one that bears it. A key without
//! one gets a free slot, else takes the place of the one that its caller can best do without; one that is in use is not
//! taken. Who finds none is told so, and is somewhere else.
//! Cost per look-up: one hash and [`WAYS`] comparisons.

use units::Stream;

use crate::parts::hash::Seeded;
use crate::parts::set_associative::WAYS;

#[derive(Clone, Copy, Debug)]
struct Set<K> {
    keys: [K; WAYS],
    /// Bit per slot: stands for its key.
    held: u8,
}

/// Slots by key.
#[derive(Debug)]
pub(crate) struct StandingTable<K> {
    hash: Seeded,
    sets: Vec<Set<K>>,
}

impl<K: Copy + Default + Eq + Into<u64>> StandingTable<K> {
    /// A table of at least `slots` slots, whose hash is drawn from `rng`.
    pub(crate) fn draw(slots: u64, rng: &mut Stream) -> StandingTable<K> {
        let set = Set { keys: [K::default(); WAYS], held: 0 };
        StandingTable { hash: Seeded::draw(rng), sets: vec![set; slots.div_ceil(WAYS as u64) as usize] }
    }

    /// Slots.
    pub(crate) fn len(&self) -> usize {
        self.sets.len() * WAYS
    }

    /// Set of `key`.
    #[inline]
    pub(crate) fn set(&self, key: K) -> usize {
        self.hash.queue(key.into(), self.sets.len() as u32) as usize
    }

    /// Slots of `set`.
    #[inline]
    pub(crate) fn slots(set: usize) -> std::ops::Range<usize> {
        set * WAYS..(set + 1) * WAYS
    }

    /// The slot of `key` in its `set`.
    #[inline]
    pub(crate) fn find(&self, set: usize, key: K) -> Option<usize> {
        let Set { keys, held } = &self.sets[set];
        let same = (0..WAYS).fold(0, |bits, way| bits | u8::from(keys[way] == key) << way) & held;
        (same != 0).then(|| set * WAYS + same.trailing_zeros() as usize)
    }

    /// A slot of `set` that stands for nobody.
    #[inline]
    pub(crate) fn free(&self, set: usize) -> Option<usize> {
        let held = self.sets[set].held;
        (held != u8::MAX).then(|| set * WAYS + held.trailing_ones() as usize)
    }

    /// `slot` stands for `key` from now on.
    #[inline]
    pub(crate) fn give(&mut self, slot: usize, key: K) {
        let set = &mut self.sets[slot / WAYS];
        set.keys[slot % WAYS] = key;
        set.held |= 1 << (slot % WAYS);
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Set<K>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_slots_until_these_are_given_to_others() {
        let mut table: StandingTable<u64> = StandingTable::draw(8, &mut Stream::named(1, "standing"));
        assert_eq!((table.len(), table.find(0, 0)), (8, None), "an empty slot is not that of key 0");
        for key in 0..8 {
            let slot = table.free(0).expect("one is left");
            table.give(slot, key);
        }
        assert_eq!(table.free(0), None);
        let slots: Vec<_> = (0..9).map(|key| table.find(0, key)).collect();
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7].map(Some).into_iter().chain([None]).collect::<Vec<_>>());
        table.give(3, 100);
        assert_eq!((table.find(0, 3), table.find(0, 100)), (None, Some(3)));
    }
}
