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
//! the first packet on.
//!
//! Datagrams and echoes without identification are found by what they say, without their ends: at another place, with fewer
//! hops to go, and at most [`TRANSLATED_NS`] apart. Two hosts may say the same to a third, a generator of packets says it again
//! and again, and two of them count in step. So a translation is believed where [`PROVING`] packets or more that differ were
//! found in *each* direction: what comes back to two hosts at different distances has passed as many routers at one tap for
//! both, so that it is none with fewer hops to go. Where the router is known to change this address to that, one is enough. Echoes
//! have the number of the program that asks in place of a port, which the router changes, too.
//!
//! Counting costs two to five multiplications and one word of a table of [`SLOTS`]; leaving out, a look-up in
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
/// The same of datagrams without identification, that differ, in each direction.
const PROVING: usize = 2;
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

    /// Whether the packet is a copy of one before, and whether it may be one on the other side of a router that translates
    /// addresses, which a closer look decides.
    #[inline]
    pub(crate) fn sees(&mut self, arrival: &Arrival) -> [bool; 2] {
        let unnumbered = arrival.segment.is_unnumbered();
        let copy = self.sees_as(arrival, arrival.segment.with_ends());
        [copy, unnumbered && self.sees_content(arrival) && !copy]
    }

    #[inline]
    fn sees_as(&mut self, arrival: &Arrival, identity: u64) -> bool {
        let slot = &mut self.slots[(identity >> 1) as usize % SLOTS];
        if (*slot ^ identity) & TAG == 0 {
            return seen_before(slot, arrival, identity);
        }
        *slot = word(identity, Sight { time_ns: arrival.time_ns, place: place_of(arrival), here: 0 });
        false
    }

    /// Whether a packet without identification says what one did just before whose one end and hops are others, as on the other
    /// side of a router that translates addresses.
    #[inline(never)]
    fn sees_content(&mut self, arrival: &Arrival) -> bool {
        let Arrival { time_ns, segment, .. } = arrival;
        let place = hops_between(segment.place, 0) << (2 * END_BITS) | segment.place & ((1 << (2 * END_BITS)) - 1);
        let slot = &mut self.slots[(segment.identity >> 1) as usize % SLOTS];
        let before = std::mem::replace(slot, word(segment.identity, Sight { time_ns: *time_ns, place, here: 0 }));
        let there = ((before ^ segment.identity) & TAG == 0).then_some((before >> TIME_BITS) as u32);
        there.is_some_and(|there| {
            let [one, two] = [END_BITS, 0].map(|at| (there ^ place) >> at & ((1 << END_BITS) - 1) == 0);
            let hops = (there >> (2 * END_BITS)).wrapping_sub(place >> (2 * END_BITS)) & hops_between(u32::MAX, 0);
            one != two && (1..=MOST_HOPS).contains(&hops) && since(before, *time_ns).unsigned_abs() <= TRANSLATED_NS
        })
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

/// From the time of a word to `time_ns`, nanoseconds.
fn since(word: u64, time_ns: i64) -> i64 {
    // Times of a word come round: the latest that is not later than now, or soon after it.
    let units = 1_i64 << TIME_BITS;
    let now = time_ns >> UNIT;
    let back = (now - (word as i64 & (units - 1))).rem_euclid(units);
    (if back > units / 2 { back - units } else { back }) << UNIT
}

#[cold]
#[inline(never)]
fn seen_before(slot: &mut u64, arrival: &Arrival, identity: u64) -> bool {
    let mut sight = Sight {
        time_ns: arrival.time_ns.saturating_sub(since(*slot, arrival.time_ns)),
        place: (*slot >> TIME_BITS) as u32 & ((1 << PLACE_BITS) - 1),
        here: (*slot >> (TIME_BITS + PLACE_BITS)) as u8 & MOST_HERE,
    };
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
    /// Datagrams without identification, by what they say, and in the order of time.
    unnumbered: HashMap<u64, Said>,
    said: VecDeque<(i64, u64)>,
}

/// Packets of a connection; of echoes those that one program asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Talk {
    key: Key,
    number: u16,
}

impl Talk {
    /// Of a packet, and which end sent it.
    fn of(segment: &Segment) -> (Talk, usize) {
        let (key, from) = Key::of(segment);
        (Talk { key, number: segment.echo_number() }, from)
    }
}

/// A datagram without identification.
struct Said {
    time_ns: i64,
    place: u32,
    /// The same with the bits of its hops, without the tap.
    first: u32,
    talk: Talk,
    from: usize,
}

/// Connections on both sides of routers that translate addresses.
#[derive(Default)]
pub(crate) struct Translations {
    /// Those outside of which the ones inside are read.
    outside: HashSet<Talk>,
    /// Those that are not believed yet: the one inside, and packets that were copies of its.
    perhaps: HashMap<Talk, (Talk, u8)>,
    /// Addresses of the changed ends, inside and outside, of connections that are believed.
    known: HashSet<[u128; 2]>,
    /// Of those outside that are not believed yet and have no identifications: the one inside, and what was found, out and in.
    proofs: HashMap<Talk, Proof>,
}

/// Datagrams that differ, found on both sides of a translation.
struct Proof {
    inside: Talk,
    found: [Vec<u64>; 2],
}

/// A packet that was seen, its connection, and which end of that sent it.
struct Held {
    sight: Sight,
    /// Where the first was captured, with the bits of its hops.
    first: u32,
    talk: Talk,
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
        let (identity, place) = (segment.with_ends(), place_of(arrival));
        self.forget(*time_ns);
        let told = can_be_told(identity, segment);
        self.told += u64::from(told);
        let (talk, from) = Talk::of(segment);
        if !self.translations.outside.is_empty() && self.translations.outside.contains(&talk) {
            return true;
        }
        if let Some(held) = self.held.get_mut(&identity) {
            let here = held.sight.place >> (2 * END_BITS) == place >> (2 * END_BITS);
            let same = talk == held.talk;
            let end = held.talk.key.translated(held.from, &talk.key, from);
            let routed = (1..=MOST_HOPS).contains(&hops_between(held.first, segment.place));
            // Two datagrams with one identification, or two hosts that say the same.
            if !same && (here || end.is_none() || !routed) {
                return false;
            }
            let mirrored = self.here > self.told / MIRRORED_FROM;
            let copy = held.sight.has_copy(place, *time_ns, identity, segment, mirrored);
            self.here += u64::from(copy && here && told);
            if let (true, Some(end)) = (copy, end) {
                self.translations.see(sides_of(end, (held.talk, held.from), (talk, from)));
            }
            if !copy {
                (held.talk, held.from, held.first) = (talk, from, segment.place);
            }
            return copy;
        }
        if segment.is_unnumbered() && self.is_translated(arrival, talk, from) {
            return true;
        }
        let sight = Sight { time_ns: *time_ns, place, here: 0 };
        self.held.insert(identity, Held { sight, first: segment.place, talk, from });
        self.order.push_back((*time_ns, identity));
        false
    }

    /// Whether a datagram without identification, from end `from` of `talk`, is another's on the other side of a router.
    fn is_translated(&mut self, arrival: &Arrival, talk: Talk, from: usize) -> bool {
        let Arrival { time_ns, segment, .. } = arrival;
        let (content, place) = (segment.identity, place_of(arrival));
        while let Some(&(since_ns, oldest)) = self.said.front()
            && (self.said.len() >= HELD_MAX || time_ns.saturating_sub(since_ns) > TRANSLATED_NS as i64)
        {
            self.said.pop_front();
            if self.unnumbered.get(&oldest).is_some_and(|said| said.time_ns == since_ns) {
                self.unnumbered.remove(&oldest);
            }
        }
        if let Some(said) = self.unnumbered.get(&content)
            && said.time_ns.abs_diff(*time_ns) <= TRANSLATED_NS
            && said.place >> (2 * END_BITS) != place >> (2 * END_BITS)
            && (1..=MOST_HOPS).contains(&hops_between(said.first, segment.place))
            && let Some(end) = said.talk.key.translated(said.from, &talk.key, from)
        {
            let sides = sides_of(end, (said.talk, said.from), (talk, from));
            return self.translations.see_content(sides, end, content);
        }
        self.unnumbered.insert(content, Said { time_ns: *time_ns, place, first: segment.place, talk, from });
        self.said.push_back((*time_ns, content));
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

/// Inside and outside of a router that changed `end` of a packet, which was of `first` and then of `second`: the keys with their ends
/// that differ.
fn sides_of(end: Translated, first: (Talk, usize), second: (Talk, usize)) -> [(Talk, usize); 2] {
    match end {
        Translated::Source => [first, second],
        Translated::Destination => [(second.0, 1 - second.1), (first.0, 1 - first.1)],
    }
}

impl Translations {
    /// A packet of the connection `outside` is one of that `inside`; each with its end that differs.
    fn see(&mut self, [(inside, own), (outside, other)]: [(Talk, usize); 2]) {
        let known = self.perhaps.get(&outside).filter(|(known, _)| *known == inside).map_or(0, |&(_, packets)| packets);
        let packets = known + 1;
        let addresses = [inside.key.address(own), outside.key.address(other)];
        let believed = packets >= BELIEVED_FROM || self.known.contains(&addresses);
        if believed && self.outside.len() < TRANSLATED_MAX {
            self.perhaps.remove(&outside);
            self.believe(outside, addresses);
        } else if self.perhaps.len() < TRANSLATED_MAX || self.perhaps.contains_key(&outside) {
            self.perhaps.insert(outside, (inside, packets.min(BELIEVED_FROM)));
        }
    }

    /// The same of one without identification, which says `content`; whether the translation is believed.
    fn see_content(
        &mut self,
        [(inside, own), (outside, other)]: [(Talk, usize); 2],
        end: Translated,
        content: u64,
    ) -> bool {
        let addresses = [inside.key.address(own), outside.key.address(other)];
        if !self.known.contains(&addresses) && !self.proves(inside, outside, end, content) {
            return false;
        }
        if self.outside.len() < TRANSLATED_MAX {
            self.believe(outside, addresses);
        }
        true
    }

    /// Whether enough datagrams that differ were found on both sides in both directions, with this one.
    fn proves(&mut self, inside: Talk, outside: Talk, end: Translated, content: u64) -> bool {
        if self.proofs.len() >= TRANSLATED_MAX && !self.proofs.contains_key(&outside) {
            return false;
        }
        let proof = self.proofs.entry(outside).or_insert_with(|| Proof { inside, found: Default::default() });
        if proof.inside != inside {
            *proof = Proof { inside, found: Default::default() };
        }
        let found = &mut proof.found[usize::from(end == Translated::Destination)];
        if found.len() < PROVING && !found.contains(&content) {
            found.push(content);
        }
        let proven = proof.found.iter().all(|found| found.len() >= PROVING);
        if proven {
            self.proofs.remove(&outside);
        }
        proven
    }

    fn believe(&mut self, outside: Talk, addresses: [u128; 2]) {
        self.outside.insert(outside);
        self.known.insert(addresses);
    }
}

/// Whether so many packets are copies that they are left out without being asked.
pub(crate) fn are_many(copies: u64, packets: u64) -> bool {
    copies > packets / LEFT_OUT_FROM
}
