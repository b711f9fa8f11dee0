//! Who was served lately and is not known yet: the newcomers of LFQ.
//!
//! Principle: a set-associative table of fingerprints, each with the time at which its key was first served. A key that finds no
//! entry takes the next one of its set, going round, which is the oldest, if that is old enough; else it is not remembered, and
//! tries again when it is served again. So a flood of new keys cannot turn the table over before those in it had the time to
//! come again. Cost per look-up: [`WAYS`] comparisons at once. A set of 8 entries takes 68 bytes.

use units::Time;

use crate::parts::set_associative::WAYS;
use crate::parts::standing_table::Home;

/// Times are counted in units of 2^16 ns, 66 us. They wrap after 78 hours: an entry that is as old as that is young for a moment.
const TICK: u32 = 16;

/// Long ago, whatever the time.
const LONG_AGO: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct Set {
    fingerprints: [u32; WAYS],
    since: [u32; WAYS],
    /// The entry that was made before all others.
    oldest: u32,
}

/// Newcomers by their key.
#[derive(Clone, Debug)]
pub(crate) struct Lobby {
    sets: Vec<Set>,
    /// How long an entry is safe.
    safe: u32,
}

fn ticks(time: Time) -> u32 {
    (time.0 >> TICK) as u32
}

impl Lobby {
    /// A table of at least `slots` entries, each of which is safe for the time `safe`, an hour at most.
    pub(crate) fn of(slots: u64, safe: Time) -> Lobby {
        let set = Set { fingerprints: [0; WAYS], since: [LONG_AGO; WAYS], oldest: 0 };
        let safe = safe.0.min(3_600_000_000_000).div_ceil(1 << TICK) as u32;
        Lobby { sets: vec![set; slots.div_ceil(WAYS as u64) as usize], safe }
    }

    /// The set of `home`, by its fingerprint.
    #[inline]
    fn set(&self, home: Home) -> usize {
        ((u64::from(home.fingerprint()) * self.sets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn way(set: &Set, home: Home) -> Option<usize> {
        let own = home.fingerprint();
        let same: u32 = (0..WAYS).map(|way| u32::from(set.fingerprints[way] == own) << way).sum();
        (same != 0).then(|| same.trailing_zeros() as usize)
    }

    /// Whether the key at `home` was first served `probation` ago, or longer; to within a tick.
    #[inline]
    pub(crate) fn has_passed(&self, home: Home, now: Time, probation: Time) -> bool {
        let set = &self.sets[self.set(home)];
        let Some(way) = Self::way(set, home) else { return false };
        let age = ticks(now).wrapping_sub(set.since[way]);
        set.since[way] != LONG_AGO && (u64::from(age) + 1) << TICK >= probation.0
    }

    /// The key at `home` is served at `now`.
    #[inline]
    pub(crate) fn is_served(&mut self, home: Home, now: Time) {
        let (at, safe) = (self.set(home), self.safe);
        let set = &mut self.sets[at];
        if Self::way(set, home).is_some_and(|way| set.since[way] != LONG_AGO) {
            return;
        }
        let oldest = set.oldest as usize;
        if ticks(now).wrapping_sub(set.since[oldest]) >= safe {
            (set.fingerprints[oldest], set.since[oldest]) = (home.fingerprint(), ticks(now));
            set.oldest = (set.oldest + 1) % WAYS as u32;
        }
    }

    /// The key at `home` is known from now on.
    pub(crate) fn leaves(&mut self, home: Home) {
        let at = self.set(home);
        let set = &mut self.sets[at];
        if let Some(way) = Self::way(set, home) {
            set.since[way] = LONG_AGO;
        }
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Set>()
    }
}

#[cfg(test)]
mod tests {
    use units::Stream;

    use super::*;
    use crate::parts::standing_table::StandingTable;

    const MS: u64 = 1_000_000;

    #[test]
    fn who_was_served_long_enough_ago_has_passed() {
        let table = StandingTable::draw(8, &mut Stream::named(1, "lobby"));
        let mut lobby = Lobby::of(64, Time(500 * MS));
        let (home, probation) = (table.home(7), Time(100 * MS));
        assert!(!lobby.has_passed(home, Time(900 * MS), probation), "it is unknown");
        lobby.is_served(home, Time(1000 * MS));
        lobby.is_served(home, Time(1050 * MS));
        assert!(!lobby.has_passed(home, Time(1099 * MS), probation));
        assert!(lobby.has_passed(home, Time(1101 * MS), probation), "the first time counts");
        lobby.leaves(home);
        assert!(!lobby.has_passed(home, Time(1200 * MS), probation));
    }

    #[test]
    fn an_entry_is_safe_for_a_while_and_then_the_oldest_gives_way() {
        let table = StandingTable::draw(8, &mut Stream::named(1, "lobby"));
        let mut lobby = Lobby::of(8, Time(500 * MS));
        let probation = Time(100 * MS);
        let passed = |lobby: &Lobby, key, ms| lobby.has_passed(table.home(key), Time(ms * MS), probation);
        (0..100).for_each(|key| lobby.is_served(table.home(key), Time((1000 + key) * MS)));
        assert_eq!((0..100).filter(|&key| passed(&lobby, key, 1300)).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
        lobby.is_served(table.home(200), Time(1501 * MS));
        assert_eq!((passed(&lobby, 0, 1700), passed(&lobby, 1, 1700), passed(&lobby, 200, 1700)), (false, true, true));
    }
}
