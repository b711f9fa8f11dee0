//! A table that is set-associative: a fixed number of slots, each given to one key at a time.
//!
//! Principle: a key hashes to a home slot in a set of [`WAYS`]. It has the slot whose tag it is; else
//! it is given one of the set that is not in use, from its home on; else, all being in use, it shares
//! its home. A slot that is no longer in use keeps its tag until somebody else needs it.
//! Cost per look-up: one hash, [`WAYS`] comparisons. Source: Høiland-Jørgensen 2018, III.B.

use units::Stream;

use crate::parts::hash::Seeded;

/// Slots per set.
pub(crate) const WAYS: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Set<K, V> {
    tags: [K; WAYS],
    values: [V; WAYS],
    /// Bit per slot: in use.
    used: u8,
    /// Bit per slot: in use, by its own key and others.
    shared: u8,
}

impl<K: Copy + Eq, V> Set<K, V> {
    /// Bit per slot: has the tag `key`, one at most. Without a branch, all are compared at once.
    #[inline]
    fn tagged(&self, key: K) -> u8 {
        (0..WAYS).fold(0, |bits, way| bits | u8::from(self.tags[way] == key) << way)
    }
}

/// What [`SetAssociative::claim`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The slot was the key's, or its home, and in use.
    Used,
    /// The slot was the key's and not in use; now it is.
    Resumed,
    /// The slot was not in use and had another tag, or none; now it is the key's, and in use.
    Taken,
}

/// Slots by key, with a small value each.
#[derive(Clone, Debug)]
pub(crate) struct SetAssociative<K, V> {
    hash: Seeded,
    sets: Vec<Set<K, V>>,
}

impl<K: Copy + Default + Eq + Into<u64>, V: Copy + Default> SetAssociative<K, V> {
    /// A table of `slots` slots, a multiple of [`WAYS`], whose hash is drawn from `rng`.
    pub(crate) fn draw(slots: u32, rng: &mut Stream) -> SetAssociative<K, V> {
        let set = Set { tags: [K::default(); WAYS], values: [V::default(); WAYS], used: 0, shared: 0 };
        SetAssociative { hash: Seeded::draw(rng), sets: vec![set; slots as usize / WAYS] }
    }

    /// Home of `key`: set, and number in it.
    #[inline]
    fn home(&self, key: K) -> (usize, usize) {
        let slot = self.hash.queue(key.into(), (self.sets.len() * WAYS) as u32) as usize;
        (slot / WAYS, slot % WAYS)
    }

    /// The slot of `key`, in use from now on, and what it was before.
    #[inline]
    pub(crate) fn claim(&mut self, key: K) -> (usize, Claim) {
        let (at, home) = self.home(key);
        let set = &mut self.sets[at];
        let own = set.tagged(key);
        let (way, claim) = if own != 0 {
            (own.trailing_zeros() as usize, Claim::Resumed)
        } else if set.used == u8::MAX || set.shared >> home & 1 == 1 {
            // The second case keeps the packets of a key together: some may wait at home since the set
            // was full. Linux hands the tag on, so that packets of a flow may overtake others.
            set.shared |= 1 << home;
            (home, Claim::Used)
        } else {
            let way = (home + set.used.rotate_right(home as u32).trailing_ones() as usize) % WAYS;
            set.tags[way] = key;
            (way, Claim::Taken)
        };
        if set.used >> way & 1 == 1 {
            return (at * WAYS + way, Claim::Used);
        }
        set.used |= 1 << way;
        (at * WAYS + way, claim)
    }

    /// The value of `slot`.
    #[inline]
    pub(crate) fn at(&self, slot: usize) -> V {
        self.sets[slot / WAYS].values[slot % WAYS]
    }

    /// The value of `slot`, which stays when the slot is released.
    #[inline]
    pub(crate) fn value_mut(&mut self, slot: usize) -> &mut V {
        &mut self.sets[slot / WAYS].values[slot % WAYS]
    }

    /// `slot` is no longer in use.
    #[inline]
    pub(crate) fn release(&mut self, slot: usize) {
        let (set, bit) = (&mut self.sets[slot / WAYS], 1 << (slot % WAYS));
        set.used &= !bit;
        set.shared &= !bit;
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Set<K, V>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One set: every key is at home in it.
    fn one_set() -> SetAssociative<u64, ()> {
        SetAssociative::draw(WAYS as u32, &mut Stream::named(1, "ways"))
    }

    #[test]
    fn eight_keys_of_one_set_have_a_slot_each_and_the_ninth_shares() {
        let mut ways = one_set();
        let mut slots: Vec<_> = (100..108).map(|key| ways.claim(key)).collect();
        assert!(slots.iter().all(|&(_, claim)| claim == Claim::Taken), "{slots:?}");
        slots.sort_by_key(|&(slot, _)| slot);
        assert!(slots.iter().enumerate().all(|(at, &(slot, _))| at == slot), "{slots:?}");
        assert_eq!(ways.claim(108).1, Claim::Used);
    }

    #[test]
    fn a_released_slot_is_still_its_keys_until_another_key_needs_it() {
        let mut ways = one_set();
        let slots: Vec<_> = (100..108).map(|key| ways.claim(key).0).collect();
        ways.release(slots[3]);
        assert_eq!(ways.claim(103), (slots[3], Claim::Resumed));
        ways.release(slots[3]);
        assert_eq!(ways.claim(200), (slots[3], Claim::Taken));
        assert_eq!(ways.claim(103).1, Claim::Used, "it has none left");
    }

    #[test]
    fn a_key_that_shares_its_home_stays_there_until_that_is_released() {
        let mut ways = one_set();
        let slots: Vec<_> = (100..108).map(|key| ways.claim(key).0).collect();
        let (home, _) = ways.claim(300);
        let other = slots.iter().position(|&slot| slot != home).expect("eight slots");
        ways.release(slots[other]);
        assert_eq!(ways.claim(300), (home, Claim::Used), "though a slot is free");
        ways.release(home);
        assert_eq!(ways.claim(300), (home, Claim::Taken));
    }

    #[test]
    fn values_are_those_of_slots() {
        let mut ways: SetAssociative<u32, u16> = SetAssociative::draw(1024, &mut Stream::named(1, "ways"));
        let slots: Vec<_> = (1..200).map(|key| ways.claim(key).0).collect();
        for (key, &slot) in (1..).zip(&slots) {
            *ways.value_mut(slot) = key;
        }
        assert!((1..).zip(&slots).all(|(key, &slot)| ways.at(slot) == key));
    }
}
