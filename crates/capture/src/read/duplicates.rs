//! Packets that more than one tap captured, or one tap twice: which are left out.
//!
//! Cost per packet of `Taps` and `All`: one look-up. At most [`HELD_MAX`] packets are remembered.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::decode::decoder::Identities;
use crate::read::copies::{Counting, Finding, Translations, are_many};
use crate::read::merge::Arrival;

const HELD_MAX: usize = 1 << 17;
/// Packets held back of what cannot be read again, until it is known whether copies among them are left out.
pub(crate) const HOLD_BACK: usize = 1 << 14;

/// Which packets are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// None; they are counted.
    Keep,
    /// None, unless more than a fifth of the packets are copies: then as `Places`. Files that are merged: as `Taps`.
    Auto,
    /// Those that were captured at another place before, or at the same one at once: another interface, another link
    /// header and another hop count are other places.
    Places,
    /// Those another tap had captured. A tap that saw two equal packets saw two: its n-th is the n-th of the others.
    Taps,
    /// Every one equal to an earlier one, as a mirror port writes them that sees a packet come and go.
    All,
}

impl Duplicates {
    /// With what the packets have to be identified.
    pub(crate) fn identities(self) -> Identities {
        match self {
            Duplicates::Taps | Duplicates::All => Identities::Taps(RandomState::new()),
            Duplicates::Keep | Duplicates::Auto | Duplicates::Places => Identities::FirstFrame(Arc::default()),
        }
    }
}

struct Sighting {
    since_ns: i64,
    /// Tap and how many it saw, while they are few: a walk over them is faster than a table.
    taps: Vec<(u32, u32)>,
    /// Place of each tap in `taps`, once there are many.
    places: Option<HashMap<u32, usize>>,
    /// The most that a tap saw, which tap, and the most that any other one saw: all of `taps` that is asked for.
    most: u32,
    most_of: u32,
    second: u32,
}

/// Taps up to here are searched one by one.
const FEW_TAPS: usize = 16;

/// How copies at different places are looked for.
enum Places {
    Counted(Counting),
    Found(Box<Finding>),
}

/// Packets of late, by identity.
pub(crate) struct Sightings {
    rule: Duplicates,
    window_ns: u64,
    places: Places,
    holds_back: bool,
    /// Copies among the packets seen.
    copies: u64,
    /// Packets that may be copies.
    perhaps: u64,
    // Identities are keyed hashes already.
    held: HashMap<u64, Sighting>,
    order: VecDeque<(i64, u64)>,
}

impl Sightings {
    /// `again`: what is read can be read again. Some translations of addresses may be `known`.
    pub(crate) fn with(rule: Duplicates, window_ns: u64, again: bool, known: Translations) -> Self {
        let holds_back = rule == Duplicates::Auto && !again;
        let places = match rule {
            _ if holds_back => Places::Found(Box::default()),
            Duplicates::Keep | Duplicates::Auto => Places::Counted(Counting::new()),
            Duplicates::Places | Duplicates::Taps | Duplicates::All => Places::Found(Box::new(Finding::knowing(known))),
        };
        let (held, order) = (HashMap::new(), VecDeque::new());
        Sightings { rule, window_ns, places, holds_back, copies: 0, perhaps: 0, held, order }
    }

    /// Copies among the packets seen, left out or not.
    pub(crate) fn copies(&self) -> u64 {
        self.copies
    }

    /// Connections that are another side of one inside a router that translates addresses, and left out.
    pub(crate) fn translated(&self) -> u64 {
        match &self.places {
            Places::Found(finding) if self.rule == Duplicates::Places => finding.translated(),
            _ => 0,
        }
    }

    /// The translations of addresses that were found.
    pub(crate) fn into_translations(self) -> Translations {
        match self.places {
            Places::Found(finding) => finding.into_translations(),
            Places::Counted(_) => Translations::default(),
        }
    }

    /// Whether packets are to be held back, until [`Sightings::decide`] says whether copies among them are left out.
    #[inline]
    pub(crate) fn hold_back(&self) -> bool {
        self.holds_back
    }

    /// Whether copies are left out, by the `packets` seen so far.
    pub(crate) fn decide(&mut self, packets: u64) -> bool {
        let many = are_many(self.copies, packets);
        self.holds_back = false;
        if many {
            self.rule = Duplicates::Places;
        } else {
            // What the files have later is too late.
            (self.rule, self.places) = (Duplicates::Keep, Places::Counted(Counting::new()));
        }
        many
    }

    /// Whether copies are left in among `packets` that nobody wants in: the captures are to be read again without.
    pub(crate) fn are_too_many(&self, packets: u64) -> bool {
        self.rule == Duplicates::Auto && !self.holds_back && are_many(self.copies + self.perhaps, packets)
    }

    /// Whether the packet repeats one that is remembered; `time_ns` does not fall by more than the reordering window.
    #[inline]
    pub(crate) fn repeats(&mut self, arrival: &Arrival) -> bool {
        if let Places::Counted(counting) = &mut self.places {
            let [copy, perhaps] = counting.sees(arrival);
            self.copies += u64::from(copy);
            self.perhaps += u64::from(perhaps);
            return false;
        }
        self.is_copy(arrival)
    }

    #[inline(never)]
    fn is_copy(&mut self, arrival: &Arrival) -> bool {
        let copy = match (self.rule, &mut self.places) {
            (Duplicates::Taps | Duplicates::All, _) | (_, Places::Counted(_)) => {
                self.is_held(arrival.segment.identity, arrival.tap, arrival.time_ns)
            }
            (_, Places::Found(finding)) => finding.sees(arrival),
        };
        self.copies += u64::from(copy);
        copy
    }

    #[inline(never)]
    fn is_held(&mut self, identity: u64, tap: u32, time_ns: i64) -> bool {
        self.forget(time_ns);
        if let Some(sighting) = self.held.get_mut(&identity)
            && sighting.since_ns.abs_diff(time_ns) <= self.window_ns
        {
            return self.rule == Duplicates::All || sighting.add(tap);
        }
        self.held.insert(identity, Sighting::of(tap, time_ns));
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
    fn of(tap: u32, since_ns: i64) -> Self {
        Sighting { since_ns, taps: vec![(tap, 1)], places: None, most: 1, most_of: tap, second: 0 }
    }

    /// Counts it at `tap`; whether another tap had seen as many before.
    fn add(&mut self, tap: u32) -> bool {
        let others = if self.most_of == tap { self.second } else { self.most };
        let count = self.counted(tap);
        if self.most_of == tap {
            self.most = count;
        } else if count > self.most {
            (self.second, self.most, self.most_of) = (self.most, count, tap);
        } else {
            self.second = self.second.max(count);
        }
        count <= others
    }

    fn counted(&mut self, tap: u32) -> u32 {
        let known = match &self.places {
            Some(places) => places.get(&tap).copied(),
            None => self.taps.iter().position(|(other, _)| *other == tap),
        };
        let at = known.unwrap_or_else(|| {
            self.taps.push((tap, 0));
            let at = self.taps.len() - 1;
            match &mut self.places {
                Some(places) => {
                    places.insert(tap, at);
                }
                None if at >= FEW_TAPS => {
                    self.places = Some(self.taps.iter().enumerate().map(|(at, (tap, _))| (*tap, at)).collect());
                }
                None => {}
            }
            at
        });
        self.taps[at].1 += 1;
        self.taps[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(rule: Duplicates, packets: &[(u64, u32, i64)]) -> Vec<bool> {
        let mut sightings = Sightings::with(rule, 100, true, Translations::default());
        packets.iter().map(|&(identity, tap, time_ns)| sightings.is_held(identity, tap, time_ns)).collect()
    }

    /// What `add` promises, by a walk over all taps.
    fn as_by_a_walk(taps: &mut Vec<(u32, u32)>, tap: u32) -> bool {
        let others = taps.iter().filter(|(other, _)| *other != tap).map(|(_, count)| *count).max().unwrap_or(0);
        if !taps.iter().any(|(other, _)| *other == tap) {
            taps.push((tap, 0));
        }
        let own = taps.iter_mut().find(|(other, _)| *other == tap).expect("a tap that was seen");
        own.1 += 1;
        own.1 <= others
    }

    #[test]
    fn counts_of_any_taps_in_any_order_are_those_of_a_walk() {
        for (most_taps, packets) in [(2, 500), (15, 3_000), (17, 3_000), (200, 20_000)] {
            let mut state = 1u64;
            let (mut sighting, mut taps) = (Sighting::of(0, 0), vec![(0, 1)]);
            for _ in 0..packets {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Some taps see far more than others.
                let tap = (state >> 33) as u32 % (1 + (state >> 20) as u32 % most_taps);
                assert_eq!(sighting.add(tap), as_by_a_walk(&mut taps, tap));
            }
        }
    }

    #[test]
    fn a_packet_at_very_many_taps_takes_the_time_of_few() {
        // Before: 65,536 interfaces took a walk over all of them for each packet, 89 s for a capture.
        let taps = 65_536;
        let packets: Vec<_> = (0..4 * taps).map(|at| (1, at % taps, 0)).collect();
        let begins = std::time::Instant::now();
        assert_eq!(repeats(Duplicates::Taps, &packets).iter().filter(|again| !**again).count(), 4);
        assert!(begins.elapsed().as_secs_f64() < 5.0, "{:?}", begins.elapsed());
    }

    #[test]
    fn the_nth_of_a_tap_is_the_nth_of_another() {
        let packets = [(1, 0, 0), (1, 1, 1), (1, 0, 2), (1, 1, 3), (1, 1, 4), (2, 1, 5), (2, 0, 6)];
        assert_eq!(repeats(Duplicates::Taps, &packets), [false, true, false, true, false, false, true]);
        assert_eq!(repeats(Duplicates::All, &packets), [false, true, true, true, true, false, true]);
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        assert_eq!(
            repeats(Duplicates::All, &[(1, 0, 0), (1, 0, 100), (1, 0, 101), (1, 0, 150)]),
            [false, true, false, true]
        );
        let mut sightings = Sightings::with(Duplicates::All, 10, true, Translations::default());
        for time_ns in 0..1000 {
            sightings.is_held(time_ns as u64, 0, time_ns);
        }
        assert_eq!((sightings.held.len(), sightings.order.len()), (11, 11));
    }
}
