//! Packets that were captured more than once: by a mirror port that sees them come and go, at two interfaces of one file,
//! by a capture at all interfaces of a router.
//!
//! Where a copy was captured says more than when. At another *place* (another interface, link header or hop count) a packet
//! with the same identity is a copy, however long it waited in a queue between both places, up to [`ELSEWHERE_NS`]: what a
//! host sends again has to pass the first place again, and is found there before. At the same place only a packet that comes
//! at once is one ([`HERE_NS`]): an application may say the same thing twice, and a stack without identifications sends the
//! same packet again. Repeated acknowledgements and datagrams without identification are equal anyway: at one place they are
//! copies only where most packets that can be told are ([`Finding`]).
//!
//! A router that translates addresses changes one end of a connection. A packet is a copy of one with another end where all of
//! this holds: its identity is the same (of TCP 64 bits of sequence and acknowledgement numbers, flags, window, identification
//! and length; of UDP an identification, the length and 24 bytes of payload), one end is the same and sends or receives in both,
//! it was captured at another place, and it had from 1 to [`MOST_HOPS`] hops less to go at the second one, as behind a router.
//! After [`BELIEVED_FROM`] such packets, or one where the router is known to change this address to that, the outer one of both
//! connections is believed to be a side of the inner one, and all of its packets are left out. The inner one is that whose end
//! the router changes on the way out. What can be read again is read for its translations first, so that they are known from
//! the first packet on. Counting costs two to five multiplications and one word of a table of [`SLOTS`]; leaving out, a look-up in
//! a table that forgets nothing within the window.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use crate::decode::identity::{END_BITS, hops_between};
use crate::decode::key::{Key, Translated};
use crate::decode::segment::{FIN, RST, SYN, Segment, Transport};
use crate::read::merge::Arrival;

/// Time between copies at different places at most, nanoseconds: packets of a full link wait in its queue in between.
const ELSEWHERE_NS: u64 = 1_000_000_000;
/// The same at one place: of TCP with an identification in the IP header, of UDP and ICMP with one, and of packets without.
const HERE_NS: [u64; 3] = [10_000_000, 1_000_000, 262_144];
/// Between copies of a packet without identification of which one end was translated, nanoseconds: generators of packets
/// begin every connection with the same numbers.
const TRANSLATED_NS: u64 = 10_000_000;
/// One packet that can be told of so many, or more, having had a copy at its place, those that cannot are taken for copies.
const MIRRORED_FROM: u64 = 3;
/// Copies of one packet at one place, one soon after the other: more are an application that repeats itself.
const MOST_HERE: u8 = 3;
/// One packet of so many, or more, being a copy, they are left out without being asked.
const LEFT_OUT_FROM: u64 = 5;

/// Packets that are remembered while copies are left out.
const HELD_MAX: usize = 1 << 17;
/// Words of the table that counts.
const SLOTS: usize = 1 << 15;
/// Times in the table that counts are in units of this power of two nanoseconds.
const UNIT: u32 = 17;
/// Bits of a word: time, both ends, place, copies at one place; the rest is the identity.
const TIME_BITS: u32 = 20;
const PLACE_BITS: u32 = 16 + 2 * END_BITS;
const TAG: u64 = !0 << (TIME_BITS + PLACE_BITS + 2);
/// Connections of translated addresses that are remembered, and as many that are not believed yet.
const TRANSLATED_MAX: usize = 1 << 16;
/// Packets of a connection that must be copies of another one's before all of them are.
const BELIEVED_FROM: u8 = 2;
/// Routers between both sides of a translation, at most.
const MOST_HOPS: u32 = 4;

/// A packet that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sight {
    time_ns: i64,
    /// Above its ends.
    place: u32,
    /// Copies at this place, one soon after the other.
    here: u8,
}

impl Sight {
    /// Whether a packet of the same identity is a copy of this one, which becomes the latest of its place. `mirrored`: copies
    /// at one place are usual here.
    fn has_copy(&mut self, place: u32, time_ns: i64, identity: u64, segment: &Segment, mirrored: bool) -> bool {
        let gap_ns = self.time_ns.abs_diff(time_ns);
        let identified = identity & 1 == 1;
        let here = self.place >> (2 * END_BITS) == place >> (2 * END_BITS);
        let [one, two] = [END_BITS, 0].map(|at| (self.place ^ place) >> at & ((1 << END_BITS) - 1) == 0);
        let elsewhere_ns = match (one, two) {
            (true, true) => ELSEWHERE_NS,
            (false, false) => return false,
            _ if identified => ELSEWHERE_NS,
            _ => TRANSLATED_NS,
        };
        if !here && gap_ns <= elsewhere_ns {
            return true;
        }
        let tcp = matches!(segment.transport, Transport::Tcp(_));
        let within_ns = HERE_NS[if identified { usize::from(!tcp) } else { 2 }];
        let soon = here && one && two && gap_ns <= within_ns;
        let copy = soon && self.here < MOST_HERE && (mirrored || can_be_told(identity, segment));
        *self = Sight { time_ns, place, here: if soon { self.here + u8::from(copy) } else { 0 } };
        copy
    }
}

/// Whether a packet differs from all others of its sender.
fn can_be_told(identity: u64, segment: &Segment) -> bool {
    let numbered = match &segment.transport {
        Transport::Tcp(header) => segment.payload_bytes > 0 || header.flags & (SYN | FIN | RST) != 0,
        _ => false,
    };
    identity & 1 == 1 || numbered
}

/// Counts copies, nearly all of them.
pub(crate) struct Counting {
    slots: Box<[u64; SLOTS]>,
}

impl Counting {
    pub(crate) fn new() -> Self {
        // Made in its place: the stack of WebAssembly is small.
        let slots = vec![0; SLOTS].into_boxed_slice().try_into();
        Counting { slots: slots.unwrap_or_else(|_| unreachable!("as long as asked for")) }
    }

    /// Whether the packet is a copy of one before.
    #[inline]
    pub(crate) fn sees(&mut self, arrival: &Arrival) -> bool {
        let identity = arrival.segment.identity;
        let slot = &mut self.slots[(identity >> 1) as usize % SLOTS];
        if (*slot ^ identity) & TAG == 0 {
            return seen_before(slot, arrival);
        }
        *slot = word(identity, Sight { time_ns: arrival.time_ns, place: place_of(arrival), here: 0 });
        false
    }
}

#[inline]
fn word(identity: u64, sight: Sight) -> u64 {
    let time = (sight.time_ns >> UNIT) as u64 & ((1 << TIME_BITS) - 1);
    let place = u64::from(sight.place) << TIME_BITS;
    identity & TAG | u64::from(sight.here) << (TIME_BITS + PLACE_BITS) | place | time
}

/// The place of a packet with its tap.
#[inline]
fn place_of(arrival: &Arrival) -> u32 {
    let tap = arrival.tap.wrapping_mul(0x9e37) << (2 * END_BITS);
    arrival.segment.place.wrapping_add(tap) & ((1 << PLACE_BITS) - 1)
}

#[cold]
#[inline(never)]
fn seen_before(slot: &mut u64, arrival: &Arrival) -> bool {
    // Times of a word come round: the latest that is not later than now, or soon after it.
    let units = 1_i64 << TIME_BITS;
    let now = arrival.time_ns >> UNIT;
    let back = (now - (*slot as i64 & (units - 1))).rem_euclid(units);
    let back = if back > units / 2 { back - units } else { back };
    let mut sight = Sight {
        time_ns: arrival.time_ns.saturating_sub(back << UNIT),
        place: (*slot >> TIME_BITS) as u32 & ((1 << PLACE_BITS) - 1),
        here: (*slot >> (TIME_BITS + PLACE_BITS)) as u8 & MOST_HERE,
    };
    let identity = arrival.segment.identity;
    let copy = sight.has_copy(place_of(arrival), arrival.time_ns, identity, &arrival.segment, false);
    *slot = word(identity, sight);
    copy
}

/// Finds every copy.
#[derive(Default)]
pub(crate) struct Finding {
    held: HashMap<u64, Held>,
    order: VecDeque<(i64, u64)>,
    /// Packets that can be told, and copies of these at their place.
    told: u64,
    here: u64,
    translations: Translations,
}

/// Connections on both sides of routers that translate addresses.
#[derive(Default)]
pub(crate) struct Translations {
    /// Those outside of which the ones inside are read.
    outside: HashSet<Key>,
    /// Those that are not believed yet: the one inside, and packets that were copies of its.
    perhaps: HashMap<Key, (Key, u8)>,
    /// Addresses of the changed ends, inside and outside, of connections that are believed.
    known: HashSet<[u128; 2]>,
}

/// A packet that was seen, its connection, and which end of that sent it.
struct Held {
    sight: Sight,
    /// Where the first was captured, with the bits of its hops.
    first: u32,
    key: Key,
    from: usize,
}

impl Finding {
    /// The same of captures of which some translations are known.
    pub(crate) fn knowing(translations: Translations) -> Self {
        Finding { translations, ..Finding::default() }
    }

    /// The translations found.
    pub(crate) fn into_translations(self) -> Translations {
        self.translations
    }

    /// Whether the packet is a copy of one before.
    #[inline(never)]
    pub(crate) fn sees(&mut self, arrival: &Arrival) -> bool {
        let Arrival { time_ns, segment, .. } = arrival;
        let (identity, place) = (segment.identity, place_of(arrival));
        self.forget(*time_ns);
        let told = can_be_told(identity, segment);
        self.told += u64::from(told);
        let (key, from) = Key::of(segment);
        if !self.translations.outside.is_empty() && self.translations.outside.contains(&key) {
            return true;
        }
        if let Some(held) = self.held.get_mut(&identity) {
            let here = held.sight.place >> (2 * END_BITS) == place >> (2 * END_BITS);
            let same = key == held.key;
            let end = held.key.translated(held.from, &key, from);
            let routed = (1..=MOST_HOPS).contains(&hops_between(held.first, segment.place));
            // Two datagrams with one identification, or two hosts that say the same.
            if !same && (here || end.is_none() || !routed) {
                return false;
            }
            let mirrored = self.here > self.told / MIRRORED_FROM;
            let copy = held.sight.has_copy(place, *time_ns, identity, segment, mirrored);
            self.here += u64::from(copy && here && told);
            if let (true, Some(end)) = (copy, end) {
                // Of both keys the ends that differ.
                let sides = if end == Translated::Source {
                    ((held.key, held.from), (key, from))
                } else {
                    ((key, 1 - from), (held.key, 1 - held.from))
                };
                self.translations.see(sides);
            }
            if !copy {
                (held.key, held.from, held.first) = (key, from, segment.place);
            }
            return copy;
        }
        let sight = Sight { time_ns: *time_ns, place, here: 0 };
        self.held.insert(identity, Held { sight, first: segment.place, key, from });
        self.order.push_back((*time_ns, identity));
        false
    }

    /// Connections outside a router that translates addresses, of which those inside are read.
    pub(crate) fn translated(&self) -> u64 {
        self.translations.outside.len() as u64
    }

    fn forget(&mut self, time_ns: i64) {
        while let Some(&(since_ns, identity)) = self.order.front()
            && (self.order.len() >= HELD_MAX || time_ns.saturating_sub(since_ns) > ELSEWHERE_NS as i64)
        {
            self.order.pop_front();
            // It may have been seen again since.
            match self.held.get(&identity) {
                Some(held) if held.sight.time_ns > since_ns => self.order.push_back((held.sight.time_ns, identity)),
                _ => drop(self.held.remove(&identity)),
            }
        }
    }
}

impl Translations {
    /// A packet of the connection `outside` is one of that `inside`; each with its end that differs.
    fn see(&mut self, ((inside, own), (outside, other)): ((Key, usize), (Key, usize))) {
        let known = self.perhaps.get(&outside).filter(|(known, _)| *known == inside).map_or(0, |&(_, packets)| packets);
        let packets = known + 1;
        let addresses = [inside.address(own), outside.address(other)];
        let believed = packets >= BELIEVED_FROM || self.known.contains(&addresses);
        if believed && self.outside.len() < TRANSLATED_MAX {
            self.perhaps.remove(&outside);
            self.outside.insert(outside);
            self.known.insert(addresses);
        } else if self.perhaps.len() < TRANSLATED_MAX || self.perhaps.contains_key(&outside) {
            self.perhaps.insert(outside, (inside, packets.min(BELIEVED_FROM)));
        }
    }
}

/// Whether so many packets are copies that they are left out without being asked.
pub(crate) fn are_many(copies: u64, packets: u64) -> bool {
    copies > packets / LEFT_OUT_FROM
}
