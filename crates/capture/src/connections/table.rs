//! The connection table: from segments to connections.
//!
//! Keys come from strangers, so the table hashes with the keyed SipHash of the standard library: a faster hash with a
//! secret (ahash, foldhash) promises less, and most segments need none, since they belong to a connection of late. Where
//! that one is stands in a small cache, whose places anybody can compute: who makes them collide makes them useless, and
//! gets the table. Cost per segment: one lookup and one move to the front of a recency list, O(1).
//!
//! Connections stand in three lists, each in the order of their latest packets: those that are open, those that are over
//! (closed by both ends, reset, or followed by another of the same ports), and those that were silent for [`QUIET_NS`] when
//! there was no room for another open one. The bound of open connections counts the first list alone, so that a long
//! capture of many short connections loses none; the bound of all connections is for whoever knows the memory.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::path::PathBuf;

use account::{Account, Amount, Reason};
use hashbrown::HashTable;

use crate::connections::connection::{Connection, Protocol};
use crate::connections::entry::{Brought, Ended, Entry, NONE, QUIET_NS, Standing};
use crate::connections::transfer::{Ideal, Train};
use crate::connections::volume_file::StoredVolumes;
use crate::connections::volumes::{Volume, Volumes};
use crate::counts::Unanswered;
use crate::decode::key::Key;
use crate::decode::segment::Segment;

/// Trains that ended, as far as they are kept.
#[derive(Default)]
struct Trains {
    limit: usize,
    /// Until the end `connection` is its serial number, and `from_opener` says from end 0 of its key.
    kept: Vec<Train>,
    left_out: u64,
}

/// A packet of a UDP flow, or a data packet of a TCP connection with bytes that had not passed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Row of the connection in the table.
    pub connection: u64,
    /// When it passed, nanoseconds since the first packet of the capture.
    pub time_ns: i64,
    /// IP packet length in bytes, as captured.
    pub wire_bytes: u64,
    /// Packets of the path in it.
    pub packets: u32,
    /// Sent by the opener of the connection.
    pub from_opener: bool,
}

/// Packets, as far as they are kept; `connection` and `from_opener` as in [`Trains`].
#[derive(Default)]
struct Packets {
    limit: usize,
    /// Whether those of TCP are kept, too.
    of_tcp: bool,
    kept: Vec<Packet>,
    left_out: u64,
}

/// Connections that have numbers.
const MOST_HELD: usize = NONE as usize - 1;
/// Connections that are held however little memory there is.
const LEAST_HELD: usize = 1_000;
/// Part of the connections that are given up at once where memory is short.
const GIVEN_UP: usize = 8;
/// Silence after which a connection that is over leaves before any that is open: longer than a FIN is sent again at first.
const SETTLED_NS: i64 = 1_000_000_000;

/// In place of the opener of a connection: nobody answered it, and it did not leave.
const SUMMED_UP: u8 = u8::MAX;

/// Places of the bounds in what is lost.
const OPEN_BOUND: usize = 0;
const HELD_BOUND: usize = 1;

/// Places of the cache of connections of late, a power of 2.
const RECENT: usize = 1 << 12;

#[derive(Clone, Copy)]
struct Link {
    newer: u32,
    older: u32,
}

/// Ends of a recency list.
#[derive(Clone, Copy)]
struct Order {
    newest: u32,
    oldest: u32,
}

const LISTS: [Standing; 3] = [Standing::Open, Standing::Over, Standing::Silent];

/// Connections under construction.
pub struct Table {
    /// Bound of the connections in the list of open ones.
    most_open: usize,
    open: usize,
    /// Bound of all connections.
    most_held: usize,
    keys: RandomState,
    /// Indices of entries: the latest of each key.
    latest: HashTable<u32>,
    entries: Vec<Entry>,
    /// Entry of a key of late, by [`Key::mixed`].
    recent: Box<[u32; RECENT]>,
    /// By entry the next newer and the next older one: apart, since each segment moves three others.
    links: Vec<Link>,
    lists: [Order; LISTS.len()],
    created: u64,
    evicted: u64,
    unanswered: Unanswered,
    /// Packets of those that were given up and did not leave: as many open at once, and where memory is the bound.
    lost: [Amount; 2],
    /// What was given up, where that is wanted; without those that nobody answered, unless all are.
    leaving: Option<Vec<Entry>>,
    /// Whether those that nobody answered leave, too.
    all_leave: bool,
    /// Where volumes of those that left are wanted, the end of its key that opened each of them, by serial number; or
    /// [`SUMMED_UP`].
    openers: Option<Vec<u8>>,
    /// How many left, and how many of them were open.
    gone: u64,
    parted: u64,
    /// Of the latest connection that began.
    began_ns: i64,
    trains: Trains,
    pauses: bool,
    packets: Packets,
    volumes: Volumes,
}

/// What a table came to.
pub struct Finished {
    /// Every connection, in the order of first packets.
    pub connections: Vec<Connection>,
    /// Their numbers among all that were begun.
    pub serials: Vec<u64>,
    /// Their trains, by connection and time.
    pub trains: Vec<Train>,
    /// Trains beyond the limit.
    pub trains_left_out: u64,
    /// Packets that carried something, by connection and time.
    pub packets: Vec<Packet>,
    /// Packets beyond the limit.
    pub packets_left_out: u64,
    /// What each direction carried in each window with traffic, by connection and time, or by time alone.
    pub volumes: Vec<Volume>,
    /// In place of these, where they did not fit.
    pub stored_volumes: Option<StoredVolumes>,
    /// Width of the windows.
    pub volume_width_ns: i64,
    /// Packets beyond the limit of volumes.
    pub volumes_left_out: u64,
}

impl Table {
    /// Table of at most `open` connections that are open at once, and at least one, that keeps at most `trains` trains.
    pub fn with_limits(open: usize, trains: usize) -> Self {
        Table {
            most_open: open.max(1),
            open: 0,
            most_held: MOST_HELD,
            keys: RandomState::new(),
            latest: HashTable::new(),
            entries: Vec::new(),
            recent: Box::new([NONE; RECENT]),
            links: Vec::new(),
            lists: [Order { newest: NONE, oldest: NONE }; LISTS.len()],
            created: 0,
            evicted: 0,
            unanswered: Unanswered::default(),
            lost: Default::default(),
            leaving: None,
            all_leave: false,
            openers: None,
            gone: 0,
            parted: 0,
            began_ns: i64::MIN,
            trains: Trains { limit: trains, ..Trains::default() },
            pauses: false,
            packets: Packets::default(),
            volumes: Volumes::default(),
        }
    }

    /// The same, which holds at most `most` connections, and at least one, whether they are open or not.
    pub fn holding(self, most: usize) -> Self {
        Table { most_held: most.clamp(1, MOST_HELD), ..self }
    }

    /// The same for replays: trains end at pauses too if `pauses`, and at most `packets` packets are kept, those of TCP if
    /// `of_tcp`.
    pub fn for_replay(self, pauses: bool, packets: usize, of_tcp: bool) -> Self {
        Table { pauses, packets: Packets { limit: packets, of_tcp, ..Packets::default() }, ..self }
    }

    /// The same with at most `volumes` rows of what was carried when.
    pub fn with_volumes(self, volumes: usize) -> Self {
        Table { volumes: Volumes::with_limit(volumes), ..self }
    }

    /// The same, which holds what it gives up for [`Table::left`]: all of it, or what somebody answered; with their volumes,
    /// which then have serial numbers in place of rows.
    pub(crate) fn leaving(self, all: bool, volumes: bool, volumes_to: Option<PathBuf>) -> Self {
        let of_volumes = self.volumes.leaving_for(volumes_to.filter(|_| volumes));
        let openers = volumes.then(Vec::new);
        Table { leaving: Some(Vec::new()), all_leave: all, openers, volumes: of_volumes, ..self }
    }

    /// Why volumes could not leave for their file.
    #[inline]
    pub(crate) fn volumes_failed(&mut self) -> Option<io::Error> {
        self.volumes.failed()
    }

    /// The next connection that begins has this serial number, which is larger than that of any before.
    #[inline]
    pub(crate) fn number_next(&mut self, serial: u64) {
        self.created = serial;
    }

    /// Whether there are connections for [`Table::left`].
    #[inline]
    pub(crate) fn gives_up(&self) -> bool {
        self.leaving.as_ref().is_some_and(|leaving| !leaving.is_empty())
    }

    /// A connection given up since the last call, as it stood.
    pub(crate) fn left(&mut self) -> Option<Entry> {
        self.leaving.as_mut()?.pop()
    }

    /// Of those that left, how many were open and not silent for long: what they send later begins another one.
    pub(crate) fn parted(&self) -> u64 {
        self.parted
    }

    /// Of those given up, what nobody answered.
    pub(crate) fn unanswered(&self) -> Unanswered {
        self.unanswered
    }

    /// Takes the packets of connections that were given up, and did not leave, out of what was used.
    pub(crate) fn withdraw(&self, account: &mut Account) {
        for (reason, amount) in [Reason::Evicted, Reason::Budget].into_iter().zip(self.lost) {
            account.withdraw(reason, amount);
        }
    }

    /// Connections given up because the table was full.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Connections and flows found so far, those that were given up too.
    pub fn seen(&self) -> u64 {
        self.entries.len() as u64 + self.evicted + self.gone
    }

    /// How many connections are to be held where there is memory for fewer than now: by [`Table::give_up_beyond`]; None where
    /// they are few already.
    pub(crate) fn tighter(&self) -> Option<usize> {
        let held = self.entries.len().min(self.most_held);
        let held = held - held.div_ceil(GIVEN_UP);
        (held >= LEAST_HELD).then_some(held)
    }

    /// Gives up the connection that was silent for longest, of more than `held`; false where there are no more. At most `held`
    /// are held from then on.
    pub(crate) fn give_up_beyond(&mut self, held: usize) -> bool {
        self.most_held = held.max(1);
        if self.entries.len() <= self.most_held {
            self.entries.shrink_to_fit();
            self.links.shrink_to_fit();
            return false;
        }
        self.give_up_silent();
        true
    }

    /// A copy of a segment that was accounted: the connection passed `tap`, too.
    pub fn add_copy(&mut self, segment: &Segment, tap: u32) {
        let (key, _) = Key::of(segment);
        let hash = self.keys.hash_one(key);
        if let Some(index) = self.latest.find(hash, |index| self.entries[*index as usize].key == key) {
            self.entries[*index as usize].passed(tap);
        }
    }

    /// Accounts one segment seen by tap number `tap` at `time_ns` (nanoseconds, any origin).
    pub fn add(&mut self, segment: &Segment, tap: u32, time_ns: i64) {
        let (key, from) = Key::of(segment);
        let place = place_of(&key);
        let late = self.recent[place];
        let known = match self.entries.get(late as usize) {
            Some(entry) if entry.key == key => Some(late),
            _ => {
                let hash = self.keys.hash_one(key);
                self.latest.find(hash, |index| self.entries[*index as usize].key == key).copied()
            }
        };
        let index = match known {
            Some(index) if !self.entries[index as usize].is_succeeded_by(segment, from, time_ns) => {
                self.touch(index);
                index
            }
            _ => {
                let entry = Entry::begun_by(key, segment, from, self.created, time_ns);
                self.open(entry, self.keys.hash_one(key), time_ns)
            }
        };
        // Always the latest of its key: keys have one place each.
        self.recent[place] = index;
        let entry = &mut self.entries[index as usize];
        let Brought { ended, packets, rtt_ns, acked_bytes } = entry.add(segment, from, tap, time_ns, self.pauses);
        self.trains.keep(entry.serial, ended);
        let closes = entry.standing == Standing::Open && entry.is_over();
        if !self.volumes.is_off() {
            let volume = Volume {
                connection: entry.serial,
                from_opener: false,
                from_lower: from == 0,
                start_ns: time_ns,
                wire_bytes: segment.wire_bytes,
                packets: 1,
                acked_bytes,
                rtt_ns,
            };
            self.volumes.add(volume, &mut entry.volumes[from]);
        }
        if packets > 0 && key.protocol != Protocol::Icmp && (self.packets.of_tcp || key.protocol != Protocol::Tcp) {
            let packets = u32::try_from(packets).unwrap_or(u32::MAX);
            let wire_bytes = segment.wire_bytes;
            let packet = Packet { connection: entry.serial, time_ns, wire_bytes, packets, from_opener: from == 0 };
            self.packets.keep(packet);
        }
        if closes {
            self.put(index, Standing::Over);
        }
    }

    /// Every connection and train; times become relative to `first_ns`. Volumes may stay in the order of time where
    /// `volumes_in_time` says so.
    ///
    /// # Errors
    /// The file of volumes cannot be written or read.
    pub fn finish(mut self, first_ns: i64, ideal: &Ideal, volumes_in_time: bool) -> io::Result<Finished> {
        self.latest = HashTable::new();
        self.entries.sort_unstable_by_key(|entry| entry.serial);
        let mut trains = self.trains;
        for entry in &self.entries {
            trains.keep(entry.serial, entry.last_train());
        }
        let entries = &self.entries;
        // Of an evicted connection there is no row; where none was, and all are counted from 0, rows have their numbers.
        let row_of = |serial: u64| match entries.get(serial as usize) {
            Some(entry) if entry.serial == serial => Some(serial as usize),
            _ => entries.binary_search_by_key(&serial, |entry| entry.serial).ok(),
        };
        trains.kept.retain_mut(|train| {
            let Some(row) = row_of(train.connection) else { return false };
            if !entries[row].has_trains() {
                return false;
            }
            train.connection = row as u64;
            train.from_opener = entries[row].is_opener(usize::from(!train.from_opener));
            train.theoretical_ns = ideal.known_ns(train.packets, entries[row].rtt_ns());
            train.start_ns = train.start_ns.saturating_sub(first_ns);
            train.end_ns = train.end_ns.saturating_sub(first_ns);
            true
        });
        // Of trains of one moment the first to end stands first.
        trains.kept.sort_by_key(|train| (train.connection, train.start_ns, train.end_ns));
        let mut packets = self.packets;
        packets.kept.retain_mut(|packet| {
            let Some(row) = row_of(packet.connection) else { return false };
            packet.connection = row as u64;
            packet.from_opener = entries[row].is_opener(usize::from(!packet.from_opener));
            packet.time_ns = packet.time_ns.saturating_sub(first_ns);
            true
        });
        packets.kept.sort_by_key(|packet| (packet.connection, packet.time_ns));
        let mut volumes = self.volumes;
        let parts = volumes.settle(volumes_in_time)?;
        let openers = self.openers;
        let stored_volumes = parts.map(|parts| {
            let mut openers = openers.clone().unwrap_or_default();
            openers.resize(self.created as usize, SUMMED_UP);
            for entry in &self.entries {
                openers[entry.serial as usize] = u8::from(entry.is_opener(1));
            }
            StoredVolumes::of(parts, volumes.width_ns, first_ns, openers)
        });
        volumes.kept.retain_mut(|volume| {
            let side = usize::from(!volume.from_lower);
            match (row_of(volume.connection), &openers) {
                (Some(row), Some(_)) => volume.from_opener = entries[row].is_opener(side),
                (None, Some(openers)) => match openers.get(volume.connection as usize) {
                    None | Some(&SUMMED_UP) => return false,
                    Some(&opener) => volume.from_opener = usize::from(opener) == side,
                },
                (Some(row), None) => {
                    volume.connection = row as u64;
                    volume.from_opener = entries[row].is_opener(side);
                }
                (None, None) => return false,
            }
            volume.start_ns = volume.start_ns.saturating_mul(volumes.width_ns).saturating_sub(first_ns);
            true
        });
        let serials = self.entries.iter().map(|entry| entry.serial).collect();
        Ok(Finished {
            serials,
            stored_volumes,
            connections: rows_of(self.entries, first_ns, ideal),
            trains: trains.kept,
            trains_left_out: trains.left_out,
            packets: packets.kept,
            packets_left_out: packets.left_out,
            volumes: volumes.kept,
            volume_width_ns: volumes.width_ns,
            volumes_left_out: volumes.left_out,
        })
    }

    fn open(&mut self, entry: Entry, hash: u64, time_ns: i64) -> u32 {
        let key = entry.key;
        self.created += 1;
        self.began_ns = time_ns;
        self.make_room(time_ns);
        self.entries.push(entry);
        self.links.push(Link { newer: NONE, older: NONE });
        let index = (self.entries.len() - 1) as u32;
        let (entries, keys) = (&self.entries, &self.keys);
        // The index of an older connection of the key was compared above by key, so it is found again.
        let before = match self.latest.find_mut(hash, |held| entries[*held as usize].key == key) {
            Some(held) => Some(std::mem::replace(held, index)),
            None => {
                self.latest.insert_unique(hash, index, |held| keys.hash_one(entries[*held as usize].key));
                None
            }
        };
        self.open += 1;
        self.link_newest(index);
        if let Some(before) = before {
            self.put(before, Standing::Over);
        }
        index
    }

    /// Sees to it that one more may be open, and held.
    #[inline]
    fn make_room(&mut self, time_ns: i64) {
        while self.open >= self.most_open {
            let oldest = self.lists[Standing::Open as usize].oldest;
            let silent_ns = time_ns.saturating_sub(self.entries[oldest as usize].last_ns());
            if silent_ns >= QUIET_NS as i64 {
                self.put(oldest, Standing::Silent);
            } else {
                self.take_out(oldest, OPEN_BOUND);
            }
        }
        while self.entries.len() >= self.most_held {
            self.give_up_silent();
        }
    }

    /// Gives up the connection that was silent for longest; where it leaves for a file, the oldest that is over and settled.
    fn give_up_silent(&mut self) {
        let over = self.lists[Standing::Over as usize].oldest;
        let settled = |place: u32| self.began_ns.saturating_sub(self.entries[place as usize].last_ns()) >= SETTLED_NS;
        if self.leaving.is_some() && over != NONE && settled(over) {
            return self.take_out(over, HELD_BOUND);
        }
        let oldest = LISTS.map(|list| self.lists[list as usize].oldest);
        let there = oldest.into_iter().filter(|&place| place != NONE);
        if let Some(place) = there.min_by_key(|&place| self.entries[place as usize].last_ns()) {
            self.take_out(place, HELD_BOUND);
        }
    }

    /// Gives up the connection at `place`, which the last one takes, for one of the two bounds.
    fn take_out(&mut self, place: u32, bound: usize) {
        self.unlink(place);
        let key = self.entries[place as usize].key;
        if let Ok(slot) = self.latest.find_entry(self.keys.hash_one(key), |held| *held == place) {
            slot.remove();
        }
        self.recent[place_of(&key)] = NONE;
        let last = (self.entries.len() - 1) as u32;
        if place != last {
            let Entry { key, standing, .. } = self.entries[last as usize];
            let hash = self.keys.hash_one(key);
            if let Some(index) = self.latest.find_mut(hash, |index| *index == last) {
                *index = place;
            }
            self.recent[place_of(&key)] = NONE;
            let Link { newer, older } = self.links[last as usize];
            self.links[place as usize] = Link { newer, older };
            let list = &mut self.lists[standing as usize];
            match newer {
                NONE => list.newest = place,
                _ => self.links[newer as usize].older = place,
            }
            match older {
                NONE => list.oldest = place,
                _ => self.links[older as usize].newer = place,
            }
        }
        self.links.pop();
        let old = self.entries.swap_remove(place as usize);
        self.open -= usize::from(old.standing == Standing::Open);
        self.give_up(old, bound);
    }

    fn give_up(&mut self, old: Entry, bound: usize) {
        let unanswered = old.unanswered().filter(|_| !self.all_leave);
        if let Some(openers) = &mut self.openers {
            let place = old.serial as usize;
            openers.resize(openers.len().max(place + 1), SUMMED_UP);
            openers[place] = if unanswered.is_some() { SUMMED_UP } else { u8::from(old.is_opener(1)) };
        }
        let (packets, bytes) = old.carried();
        match (unanswered, &mut self.leaving) {
            (None, Some(leaving)) => {
                let quiet = self.began_ns.saturating_sub(old.last_ns()) >= old.quiet_ns() as i64;
                self.parted += u64::from(old.standing == Standing::Open && !quiet);
                self.gone += 1;
                leaving.push(old);
                return;
            }
            _ => self.lost[bound] = self.lost[bound].and(Amount::of(packets, bytes)),
        }
        self.evicted += 1;
        if let Some((packets, bytes)) = old.unanswered() {
            self.unanswered.connections += 1;
            self.unanswered.packets += packets;
            self.unanswered.bytes = self.unanswered.bytes.saturating_add(bytes);
        }
    }

    /// A packet of a connection: it is the newest of its list, and open again where it had only been silent.
    #[inline]
    fn touch(&mut self, index: u32) {
        let standing = self.entries[index as usize].standing;
        if standing == Standing::Silent {
            self.put(index, Standing::Open);
        } else if self.lists[standing as usize].newest != index {
            self.unlink(index);
            self.link_newest(index);
        }
    }

    /// Makes a connection the newest of a list.
    fn put(&mut self, index: u32, standing: Standing) {
        self.unlink(index);
        let entry = &mut self.entries[index as usize];
        self.open -= usize::from(entry.standing == Standing::Open);
        self.open += usize::from(standing == Standing::Open);
        entry.standing = standing;
        self.link_newest(index);
    }

    fn unlink(&mut self, index: u32) {
        let list = &mut self.lists[self.entries[index as usize].standing as usize];
        let Link { newer, older } = self.links[index as usize];
        match newer {
            NONE => list.newest = older,
            _ => self.links[newer as usize].older = older,
        }
        match older {
            NONE => list.oldest = newer,
            _ => self.links[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, index: u32) {
        let list = &mut self.lists[self.entries[index as usize].standing as usize];
        let second = list.newest;
        self.links[index as usize] = Link { newer: NONE, older: second };
        match second {
            NONE => list.oldest = index,
            _ => self.links[second as usize].newer = index,
        }
        list.newest = index;
    }
}

/// Where the cache of connections of late has a key.
#[inline]
fn place_of(key: &Key) -> usize {
    (key.mixed() >> (u64::BITS - RECENT.ilog2())) as usize
}

/// From the last to the first, giving memory back on the way: entries and rows are never there all at once.
fn rows_of(mut entries: Vec<Entry>, first_ns: i64, ideal: &Ideal) -> Vec<Connection> {
    const STEP: usize = 1 << 12;
    let mut rows = Vec::with_capacity(entries.len());
    while !entries.is_empty() {
        let keep = entries.len().saturating_sub(STEP);
        rows.extend(entries.drain(keep..).rev().map(|entry| entry.connection(first_ns, ideal)));
        entries.shrink_to_fit();
    }
    rows.reverse();
    rows
}

impl Packets {
    fn keep(&mut self, packet: Packet) {
        if self.kept.len() < self.limit {
            self.kept.push(packet);
        } else {
            self.left_out += u64::from(self.limit > 0);
        }
    }
}

impl Trains {
    fn keep(&mut self, serial: u64, ended: Ended) {
        let Some((side, train)) = ended else { return };
        if self.kept.len() < self.limit {
            self.kept.push(Train { connection: serial, from_opener: side == 0, ..train });
        } else {
            self.left_out += u64::from(self.limit > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With its place in the index (10 bytes at most) and a queue of unacknowledged segments (80) below 1 kB.
    #[test]
    fn a_connection_takes_less_than_a_kilobyte() {
        assert!(size_of::<Entry>() <= 900, "{}", size_of::<Entry>());
    }
}
