//! Packets that more than one tap captured, or one tap twice.
//!
//! Cost per packet: one look-up. At most [`HELD_MAX`] packets are remembered.

use std::collections::VecDeque;

use hashbrown::HashMap;

const HELD_MAX: usize = 1 << 17;

/// Which packets are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// None.
    Keep,
    /// Those another tap had captured. A tap that saw two equal packets saw two: its n-th is the n-th of the others.
    Taps,
    /// Every one equal to an earlier one, as a mirror port writes them that sees a packet come and go.
    All,
}

struct Sighting {
    since_ns: i64,
    /// Tap and how many it saw.
    taps: Vec<(u32, u32)>,
}

/// Packets of late, by identity.
pub(crate) struct Sightings {
    rule: Duplicates,
    window_ns: u64,
    // Identities are keyed hashes already.
    held: HashMap<u64, Sighting>,
    order: VecDeque<(i64, u64)>,
}

impl Sightings {
    pub(crate) fn with(rule: Duplicates, window_ns: u64) -> Self {
        Sightings { rule, window_ns, held: HashMap::new(), order: VecDeque::new() }
    }

    /// Whether the packet repeats one that is remembered; `time_ns` does not fall by more than the reordering window.
    pub(crate) fn repeats(&mut self, identity: u64, tap: u32, time_ns: i64) -> bool {
        if self.rule == Duplicates::Keep {
            return false;
        }
        self.forget(time_ns);
        if let Some(sighting) = self.held.get_mut(&identity)
            && sighting.since_ns.abs_diff(time_ns) <= self.window_ns
        {
            return self.rule == Duplicates::All || sighting.add(tap);
        }
        self.held.insert(identity, Sighting { since_ns: time_ns, taps: vec![(tap, 1)] });
        self.order.push_back((time_ns, identity));
        false
    }

    fn forget(&mut self, time_ns: i64) {
        while let Some(&(since_ns, identity)) = self.order.front()
            && (self.order.len() >= HELD_MAX || time_ns.saturating_sub(since_ns) > self.window_ns as i64)
        {
            self.order.pop_front();
            if self.held.get(&identity).is_some_and(|held| held.since_ns == since_ns) {
                self.held.remove(&identity);
            }
        }
    }
}

impl Sighting {
    /// Counts it at `tap`; whether another tap had seen as many before.
    fn add(&mut self, tap: u32) -> bool {
        let others = self.taps.iter().filter(|(other, _)| *other != tap).map(|(_, count)| *count).max().unwrap_or(0);
        match self.taps.iter_mut().find(|(other, _)| *other == tap) {
            Some((_, count)) => {
                *count += 1;
                *count <= others
            }
            None => {
                self.taps.push((tap, 1));
                others >= 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(rule: Duplicates, packets: &[(u64, u32, i64)]) -> Vec<bool> {
        let mut sightings = Sightings::with(rule, 100);
        packets.iter().map(|&(identity, tap, time_ns)| sightings.repeats(identity, tap, time_ns)).collect()
    }

    #[test]
    fn the_nth_of_a_tap_is_the_nth_of_another() {
        let packets = [(1, 0, 0), (1, 1, 1), (1, 0, 2), (1, 1, 3), (1, 1, 4), (2, 1, 5), (2, 0, 6)];
        assert_eq!(repeats(Duplicates::Taps, &packets), [false, true, false, true, false, false, true]);
        assert_eq!(repeats(Duplicates::All, &packets), [false, true, true, true, true, false, true]);
        assert!(!repeats(Duplicates::Keep, &packets).contains(&true));
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        assert_eq!(
            repeats(Duplicates::All, &[(1, 0, 0), (1, 0, 100), (1, 0, 101), (1, 0, 150)]),
            [false, true, false, true]
        );
        let mut sightings = Sightings::with(Duplicates::All, 10);
        for time_ns in 0..1000 {
            sightings.repeats(time_ns as u64, 0, time_ns);
        }
        assert_eq!((sightings.held.len(), sightings.order.len()), (11, 11));
    }
}
