//! The connection table: from segments to connections.
//!
//! Keys come from strangers, so the table hashes with the keyed SipHash of the standard library.
//! Cost per segment: one lookup and one move to the front of the recency list, O(1).

use std::collections::hash_map::RandomState;

use hashbrown::HashMap;

use crate::connection::{Connection, OpenerFrom, Protocol, Side, State};
use crate::decode::{Endpoint, Segment, Transport};
use crate::sequence::Sequence;

/// Silence after which a SYN with another initial number begins a new connection: twice a maximum
/// segment lifetime of 60 s (RFC 9293, 3.4.2 says 2 min; the systems that reuse ports say 30 to 60 s).
pub const QUIET_NS: u64 = 120_000_000_000;

const NONE: u32 = u32::MAX;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    ends: [Endpoint; 2],
    protocol: Protocol,
}

#[derive(Clone, Debug, Default)]
struct Half {
    side: Side,
    sequence: Sequence,
    /// Initial sequence number, from a SYN or from the acknowledgement in a SYN-ACK.
    isn: Option<u32>,
    /// Sequence number of the first segment without SYN and RST.
    first_seq: Option<u32>,
    fin_seq: Option<u32>,
    ack: Option<u32>,
}

/// Times of the handshake, as long as no part of it was repeated.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    syn_ns: Option<i64>,
    syn_ack_ns: Option<i64>,
    spoiled: bool,
    rtt_ns: Option<i64>,
    answered: bool,
}

struct Entry {
    key: Key,
    serial: u64,
    newer: u32,
    older: u32,
    /// In the order of `key.ends`.
    halves: [Half; 2],
    opener: usize,
    opener_from: OpenerFrom,
    last_ns: i64,
    handshake: Handshake,
    rejected: bool,
    reset: bool,
}

/// Connections under construction.
pub struct Table {
    limit: usize,
    latest: HashMap<Key, u32, RandomState>,
    entries: Vec<Entry>,
    newest: u32,
    oldest: u32,
    created: u64,
    evicted: u64,
}

impl Table {
    /// Table of at most `limit` connections, and at least one.
    pub fn with_limit(limit: usize) -> Self {
        Table {
            limit: limit.clamp(1, NONE as usize - 1),
            latest: HashMap::with_hasher(RandomState::new()),
            entries: Vec::new(),
            newest: NONE,
            oldest: NONE,
            created: 0,
            evicted: 0,
        }
    }

    /// Connections given up because the table was full.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Accounts one segment seen at `time_ns` (nanoseconds, any origin).
    pub fn add(&mut self, segment: &Segment, time_ns: i64) {
        let protocol = match segment.transport {
            Transport::Tcp { .. } => Protocol::Tcp,
            Transport::Udp => Protocol::Udp,
        };
        let swapped = segment.source > segment.destination;
        let mut ends = [segment.source, segment.destination];
        if swapped {
            ends.swap(0, 1);
        }
        let key = Key { ends, protocol };
        let from = usize::from(swapped);
        let known = self.latest.get(&key).copied();
        let index = match known {
            Some(index) if !self.entries[index as usize].is_succeeded_by(segment, from, time_ns) => {
                self.touch(index);
                index
            }
            _ => self.open(key, Entry::opener_of(segment, from), time_ns),
        };
        self.entries[index as usize].add(segment, from, time_ns);
    }

    /// Every connection, in the order of first packets; times become relative to `first_ns`.
    pub fn finish(mut self, first_ns: i64) -> Vec<Connection> {
        self.entries.sort_unstable_by_key(|entry| entry.serial);
        self.entries.into_iter().map(|entry| entry.connection(first_ns)).collect()
    }

    fn open(&mut self, key: Key, (opener, opener_from): (usize, OpenerFrom), time_ns: i64) -> u32 {
        let entry = Entry {
            key,
            serial: self.created,
            newer: NONE,
            older: NONE,
            halves: Default::default(),
            opener,
            opener_from,
            last_ns: time_ns,
            handshake: Handshake::default(),
            rejected: false,
            reset: false,
        };
        self.created += 1;
        let index = if self.entries.len() < self.limit {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        } else {
            let index = self.oldest;
            self.unlink(index);
            let evicted = std::mem::replace(&mut self.entries[index as usize], entry);
            if self.latest.get(&evicted.key) == Some(&index) {
                self.latest.remove(&evicted.key);
            }
            self.evicted += 1;
            index
        };
        self.latest.insert(key, index);
        self.link_newest(index);
        index
    }

    fn touch(&mut self, index: u32) {
        if self.newest != index {
            self.unlink(index);
            self.link_newest(index);
        }
    }

    fn unlink(&mut self, index: u32) {
        let (newer, older) = {
            let entry = &self.entries[index as usize];
            (entry.newer, entry.older)
        };
        match newer {
            NONE => self.newest = older,
            _ => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, index: u32) {
        let second = self.newest;
        let entry = &mut self.entries[index as usize];
        (entry.newer, entry.older) = (NONE, second);
        match second {
            NONE => self.oldest = index,
            _ => self.entries[second as usize].newer = index,
        }
        self.newest = index;
    }
}

impl Entry {
    fn opener_of(segment: &Segment, from: usize) -> (usize, OpenerFrom) {
        let Transport::Tcp { flags, .. } = segment.transport else { return (from, OpenerFrom::FirstPacket) };
        if flags & SYN != 0 {
            return if flags & ACK != 0 { (1 - from, OpenerFrom::SynAck) } else { (from, OpenerFrom::Syn) };
        }
        match segment.source.port.cmp(&segment.destination.port) {
            std::cmp::Ordering::Greater => (from, OpenerFrom::Port),
            std::cmp::Ordering::Less => (1 - from, OpenerFrom::Port),
            std::cmp::Ordering::Equal => (from, OpenerFrom::FirstPacket),
        }
    }

    /// Whether `segment` is the SYN (or SYN-ACK) of a later connection on the same 5-tuple.
    fn is_succeeded_by(&self, segment: &Segment, from: usize, time_ns: i64) -> bool {
        let Transport::Tcp { seq, flags, .. } = segment.transport else { return false };
        if flags & SYN == 0 || flags & RST != 0 {
            return false;
        }
        let half = &self.halves[from];
        let over =
            self.halves.iter().any(|half| half.side.fin || half.side.rst) || time_ns.abs_diff(self.last_ns) >= QUIET_NS;
        match (half.isn, half.first_seq) {
            (Some(isn), _) if isn == seq => false,
            (Some(_), _) => over || (from == self.opener && !self.is_answered()),
            // Reordered by the tap: a segment, then the SYN in front of it.
            (None, Some(first)) => first != seq.wrapping_add(1),
            (None, None) => over,
        }
    }

    fn is_answered(&self) -> bool {
        self.halves[1 - self.opener].side.packets > 0
    }

    fn add(&mut self, segment: &Segment, from: usize, time_ns: i64) {
        let side = &mut self.halves[from].side;
        side.packets += 1;
        side.wire_bytes += segment.wire_bytes;
        side.first_ns = Some(side.first_ns.map_or(time_ns, |first| first.min(time_ns)));
        side.last_ns = Some(side.last_ns.map_or(time_ns, |last| last.max(time_ns)));
        self.last_ns = time_ns;
        match segment.transport {
            Transport::Tcp { seq, ack, flags } => {
                self.add_flags(seq, ack, flags, from, time_ns);
                self.add_tcp_payload(seq, flags, segment.payload_bytes, from, time_ns);
            }
            Transport::Udp => {
                if segment.payload_bytes > 0 {
                    self.halves[from].side.see_data(segment.payload_bytes, time_ns);
                    self.halves[from].side.distinct_bytes += segment.payload_bytes;
                }
            }
        }
    }

    fn add_flags(&mut self, seq: u32, ack: u32, flags: u8, from: usize, time_ns: i64) {
        if flags & RST != 0 {
            let unheard = self.halves[from].sequence.first().is_none();
            self.rejected |= from != self.opener && unheard && self.halves[self.opener].isn.is_some();
            self.reset |= !self.halves.iter().all(|half| half.side.fin);
            self.halves[from].side.rst = true;
            return;
        }
        if flags & SYN != 0 {
            // A responder that kept no state (SYN cookies) may answer again with another number.
            let answers_again = flags & ACK != 0 && !self.handshake.answered;
            let half = &mut self.halves[from];
            if answers_again && half.sequence.distinct_bytes() == 0 {
                (half.isn, half.sequence) = (None, Sequence::default());
            }
            half.isn.get_or_insert(seq);
            half.sequence.anchor(seq.wrapping_add(1));
            if flags & ACK != 0 {
                self.halves[1 - from].isn.get_or_insert(ack.wrapping_sub(1));
                self.halves[1 - from].sequence.anchor(ack);
            }
            self.name_opener(from, flags);
        } else {
            self.halves[from].first_seq.get_or_insert(seq);
        }
        if flags & FIN != 0 {
            self.halves[from].side.fin = true;
        }
        if flags & ACK != 0 {
            self.halves[from].ack = Some(ack);
        }
        self.time_handshake(ack, flags, from, time_ns);
    }

    /// A SYN or SYN-ACK that comes late corrects an opener that was only inferred.
    fn name_opener(&mut self, from: usize, flags: u8) {
        let handshake = matches!(self.opener_from, OpenerFrom::Syn);
        if flags & ACK == 0 && !handshake {
            (self.opener, self.opener_from) = (from, OpenerFrom::Syn);
        } else if flags & ACK != 0 && matches!(self.opener_from, OpenerFrom::Port | OpenerFrom::FirstPacket) {
            (self.opener, self.opener_from) = (1 - from, OpenerFrom::SynAck);
        }
    }

    fn time_handshake(&mut self, ack: u32, flags: u8, from: usize, time_ns: i64) {
        let answer_end = self.halves[1 - self.opener].isn.map(|isn| isn.wrapping_add(1));
        let handshake = &mut self.handshake;
        if flags & SYN != 0 {
            let expected = match (from == self.opener, flags & ACK != 0) {
                (true, false) if handshake.syn_ack_ns.is_none() => &mut handshake.syn_ns,
                (false, true) => &mut handshake.syn_ack_ns,
                _ => {
                    handshake.spoiled = true;
                    return;
                }
            };
            handshake.spoiled |= expected.replace(time_ns).is_some();
            return;
        }
        if from != self.opener || flags & ACK == 0 || handshake.answered || handshake.syn_ack_ns.is_none() {
            return;
        }
        handshake.answered = true;
        let (Some(syn_ns), Some(syn_ack_ns)) = (handshake.syn_ns, handshake.syn_ack_ns) else { return };
        let ordered = syn_ns <= syn_ack_ns && syn_ack_ns <= time_ns;
        if ordered && !handshake.spoiled && answer_end == Some(ack) {
            handshake.rtt_ns = time_ns.checked_sub(syn_ns);
        }
    }

    fn add_tcp_payload(&mut self, seq: u32, flags: u8, bytes: u64, from: usize, time_ns: i64) {
        // Payload of an RST is a diagnostic (RFC 9293, 3.5.3), not data.
        if flags & RST != 0 {
            return;
        }
        let acknowledged = self.halves[1 - from].ack;
        let half = &mut self.halves[from];
        let start = if flags & SYN != 0 { seq.wrapping_add(1) } else { seq };
        if flags & FIN != 0 {
            half.fin_seq = Some(start.wrapping_add(bytes as u32));
        }
        if bytes == 0 || (bytes == 1 && flags & (SYN | FIN) == 0 && half.is_keep_alive(start, acknowledged)) {
            return;
        }
        half.sequence.add(start, bytes);
        half.side.see_data(bytes, time_ns);
    }

    fn state(&self) -> State {
        let [one, two] = [&self.halves[0].side, &self.halves[1].side];
        if self.key.protocol == Protocol::Udp {
            return if one.packets > 0 && two.packets > 0 { State::TwoWay } else { State::OneWay };
        }
        if self.rejected {
            State::Rejected
        } else if self.reset {
            State::Reset
        } else if one.fin && two.fin {
            State::Complete
        } else if one.fin || two.fin {
            State::HalfClosed
        } else if self.handshake.answered {
            State::Established
        } else if self.halves.iter().any(|half| half.isn.is_some()) {
            State::HalfOpen
        } else {
            State::Midstream
        }
    }

    fn connection(self, first_ns: i64) -> Connection {
        let state = self.state();
        let [opener, responder] = [self.opener, 1 - self.opener];
        let ends = self.key.ends;
        let tcp = self.key.protocol == Protocol::Tcp;
        let mut sides = self.halves.map(|half| half.side_since(first_ns, tcp));
        let starts = sides.iter().filter_map(|side| side.first_ns);
        let ends_ns = sides.iter().filter_map(|side| side.last_ns);
        let (start_ns, end_ns) = (starts.min().unwrap_or(0), ends_ns.max().unwrap_or(0));
        Connection {
            protocol: self.key.protocol,
            opener: ends[opener],
            responder: ends[responder],
            opener_from: self.opener_from,
            start_ns,
            end_ns,
            rtt_ns: self.handshake.rtt_ns,
            state,
            from_opener: std::mem::take(&mut sides[opener]),
            from_responder: std::mem::take(&mut sides[responder]),
        }
    }
}

impl Half {
    /// A probe repeats the last byte sent, or stands in for it (RFC 9293, 3.8.4).
    fn is_keep_alive(&self, seq: u32, acknowledged: Option<u32>) -> bool {
        let behind = seq.wrapping_add(1);
        match self.sequence.next() {
            Some(next) => behind == next || self.fin_seq == Some(seq),
            None => acknowledged == Some(behind),
        }
    }

    fn side_since(self, first_ns: i64, tcp: bool) -> Side {
        let since = |time: Option<i64>| time.map(|time| time.saturating_sub(first_ns));
        let side = self.side;
        Side {
            distinct_bytes: if tcp { self.sequence.distinct_bytes() } else { side.distinct_bytes },
            missing_bytes: self.sequence.missing_bytes(),
            first_ns: since(side.first_ns),
            last_ns: since(side.last_ns),
            first_data_ns: since(side.first_data_ns),
            last_data_ns: since(side.last_data_ns),
            ..side
        }
    }
}

impl Side {
    fn see_data(&mut self, bytes: u64, time_ns: i64) {
        self.payload_bytes += bytes;
        self.first_data_ns = Some(self.first_data_ns.map_or(time_ns, |first| first.min(time_ns)));
        self.last_data_ns = Some(self.last_data_ns.map_or(time_ns, |last| last.max(time_ns)));
    }
}
