//! A set-associative table whose slots keep what they stand for while nothing waits: flows and users of LFQ.
//!
//! Principle: a key hashes, with a seed of its own, to a set of [`WAYS`] slots and a fingerprint of 32 bits, and has the slot
//! that bears its fingerprint: two keys of a set are taken for one with a probability of 2^-32. A key without a slot takes one
//! that is not busy: of these the first, going round, whose own key has not come back since the last round (CLOCK). Who finds
//! none is told so, and is somewhere else.
//! Cost per look-up: one hash and [`WAYS`] comparisons at once; a place is found by counting zeros.

use units::Stream;

use crate::parts::hash::Seeded;
use crate::parts::set_associative::WAYS;

#[derive(Clone, Copy, Debug, Default)]
struct Set {
    fingerprints: [u32; WAYS],
    /// Bit per slot: stands for a key.
    held: u8,
    /// Bit per slot: in use, not to be given away.
    busy: u8,
    /// Bit per slot: its key has come back.
    back: u8,
    /// Bit per slot: shared by keys that found none.
    shared: u8,
    /// Slot from which the next place is looked for.
    hand: u8,
}

impl Set {
    /// The slots `free`, whose keys have all come back, were passed over: these.
    #[cold]
    fn passed_over(&mut self, free: u8) -> u8 {
        self.back &= !free;
        free
    }
}

/// Where a key is at home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    set: u32,
    fingerprint: u32,
}

impl Home {
    /// What tells the keys of a set apart.
    #[inline]
    pub(crate) fn fingerprint(self) -> u32 {
        self.fingerprint
    }
}

/// Slots by key.
#[derive(Clone, Debug)]
pub(crate) struct StandingTable {
    hash: Seeded,
    sets: Vec<Set>,
}

impl StandingTable {
    /// A table of at least `slots` slots, whose hash is drawn from `rng`.
    pub(crate) fn draw(slots: u64, rng: &mut Stream) -> StandingTable {
        StandingTable { hash: Seeded::draw(rng), sets: vec![Set::default(); slots.div_ceil(WAYS as u64) as usize] }
    }

    /// Slots.
    pub(crate) fn len(&self) -> usize {
        self.sets.len() * WAYS
    }

    /// Home of `key`.
    #[inline]
    pub(crate) fn home(&self, key: u64) -> Home {
        let hash = self.hash.hash(key);
        // The upper half chooses the set, so the lower bits tell the keys of a set apart.
        Home { set: (((hash >> 32) * self.sets.len() as u64) >> 32) as u32, fingerprint: hash as u32 }
    }

    /// A hash of `key`, as the homes are found by.
    #[inline]
    pub(crate) fn hash(&self, key: u64) -> u64 {
        self.hash.hash(key)
    }

    /// One of the slots at `home`, the same for a key as long as the table lives.
    #[inline]
    pub(crate) fn fixed(&self, home: Home) -> usize {
        home.set as usize * WAYS + home.fingerprint as usize % WAYS
    }

    /// The slot of the key at `home`.
    #[inline]
    pub(crate) fn find(&self, home: Home) -> Option<usize> {
        let Set { fingerprints, held, .. } = &self.sets[home.set as usize];
        // This the compiler makes of a few instructions, and most keys that are asked for are not there.
        if !fingerprints.iter().fold(false, |any, &fingerprint| any | (fingerprint == home.fingerprint)) {
            return None;
        }
        let same: u32 = (0..WAYS).map(|way| u32::from(fingerprints[way] == home.fingerprint) << way).sum();
        let same = same & u32::from(*held);
        (same != 0).then(|| home.set as usize * WAYS + same.trailing_zeros() as usize)
    }

    /// A slot for the key at `home`, which has none: one that is not busy. From now on it is, if it `is_busy`.
    #[inline(always)]
    pub(crate) fn take(&mut self, home: Home, is_busy: bool) -> Option<usize> {
        let set = &mut self.sets[home.set as usize];
        let mut free = !set.busy;
        if free == 0 {
            return None;
        }
        let fresh = free & !set.back;
        free = if fresh != 0 { fresh } else { set.passed_over(free) };
        let way = (free.rotate_right(set.hand.into()).trailing_zeros() as usize + usize::from(set.hand)) % WAYS;
        set.hand = (way as u8 + 1) % WAYS as u8;
        set.fingerprints[way] = home.fingerprint;
        let bit = 1 << way;
        set.held |= bit;
        if is_busy {
            set.busy |= bit;
        }
        Some(home.set as usize * WAYS + way)
    }

    /// The key of `slot` has come back.
    #[inline]
    pub(crate) fn came_back(&mut self, slot: usize) {
        self.sets[slot / WAYS].back |= 1 << (slot % WAYS);
    }

    /// `slot` is busy from now on.
    #[inline]
    pub(crate) fn set_busy(&mut self, slot: usize) {
        self.sets[slot / WAYS].busy |= 1 << (slot % WAYS);
    }

    /// `slot` is no longer busy, and nobody shares it.
    #[inline]
    pub(crate) fn set_free(&mut self, slot: usize) {
        let set = &mut self.sets[slot / WAYS];
        let others = !(1 << (slot % WAYS));
        (set.busy, set.shared) = (set.busy & others, set.shared & others);
    }

    /// Keys without a slot share `slot` from now on, or no longer.
    pub(crate) fn set_shared(&mut self, slot: usize, is_shared: bool) {
        let shared = &mut self.sets[slot / WAYS].shared;
        *shared = *shared & !(1 << (slot % WAYS)) | u8::from(is_shared) << (slot % WAYS);
    }

    /// Whether the fixed slot of the key at `home` is shared.
    #[inline]
    pub(crate) fn is_shared(&self, home: Home) -> bool {
        self.sets[home.set as usize].shared >> (home.fingerprint as usize % WAYS) & 1 == 1
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Set>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One set: every key is at home in it.
    fn one_set() -> StandingTable {
        StandingTable::draw(8, &mut Stream::named(1, "standing"))
    }

    fn take(table: &mut StandingTable, key: u64) -> Option<usize> {
        table.take(table.home(key), false)
    }

    fn find(table: &StandingTable, key: u64) -> Option<usize> {
        table.find(table.home(key))
    }

    #[test]
    fn keys_keep_their_slots_until_these_are_given_to_others() {
        let mut table = one_set();
        assert_eq!((table.len(), find(&table, 0)), (8, None), "an empty slot is nobody's");
        let slots: Vec<_> = (0..8).filter_map(|key| take(&mut table, key)).collect();
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!((0..8).all(|key| find(&table, key) == Some(key as usize)));
        assert_eq!(find(&table, 8), None);
        // Key 0 has come back: it is passed over once.
        table.came_back(0);
        assert_eq!([100, 101].map(|key| take(&mut table, key)), [Some(1), Some(2)]);
        assert_eq!((find(&table, 0), find(&table, 1), find(&table, 100)), (Some(0), None, Some(1)));
    }

    #[test]
    fn a_busy_slot_is_not_given_away() {
        let mut table = one_set();
        for key in 0..8 {
            let slot = take(&mut table, key).expect("one is free");
            table.set_busy(slot);
        }
        assert_eq!(take(&mut table, 8), None);
        table.set_free(5);
        assert_eq!((take(&mut table, 8), find(&table, 5)), (Some(5), None));
    }
}
