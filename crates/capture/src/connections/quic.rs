//! Whether a flow of UDP is QUIC, and what its packets bring: all but their form and length is encrypted.
//!
//! Principle: a packet brings data when it is longer than an acknowledgement can be, or when nothing has come for so long
//! that it acknowledges nothing. Trains of such packets, from one end and then from the other, are requests and answers as
//! those of TCP are. Round-trip times are of the handshake, and of flights that begin after a silence. Cost per packet: O(1).

use crate::connections::rtt::USUAL_PAUSE_NS;
use crate::decode::quic::{Datagram, LongHeader};

/// Packets of each end in which a connection shows that it is QUIC; later, what looks like a long header is chance.
const WITHIN: u64 = 8;
/// RFC 9000, 18.2: what an end delays its acknowledgements at most where it says nothing else.
const ACK_DELAY_NS: i64 = 25_000_000;
/// Initial packets of one flight pass within this time, ns: a probe timeout is longer (RFC 9002, 6.2.2).
const FLIGHT_NS: i64 = 20_000_000;
/// Header and tag of a packet with a short header without its connection id (RFC 9000, 17.3; RFC 9001, 5.3), and the header of
/// a STREAM frame: 1 byte, a number of 2, 16, and 4.
const PACKET_BYTES: u64 = 23;
/// Longest connection id that is usual, where none was seen.
const USUAL_ID_BYTES: u8 = 8;
/// Frames of a packet that only acknowledges, with the ranges of some losses ...
const ACK_BYTES: u64 = 64;
/// ... and what the ranges of later losses add to those of the packet before.
const MORE_BYTES: u64 = 48;
/// A PING, in the shortest packet there may be, is shorter; a request of some bytes is not.
const LEAST_BYTES: u64 = 24;
/// Payload of a datagram on a path of Ethernet; a longer one is of segmentation offload.
const MOST_DATAGRAM_BYTES: u64 = 1472;
/// What a sender begins with (RFC 9000, 14.1).
const FIRST_DATAGRAM_BYTES: u16 = 1200;
/// HTTP/3.
const HTTPS: u16 = 443;

// A connection whose beginning was not captured: five bits of each first byte are encrypted, the form of the header is not.
/// Packets of an end from which on they are judged ...
const LEAST_PACKETS: u16 = 16;
/// ... in which five random bits take 13 values in the mean, and fewer than these once in 1000 times.
const LEAST_VALUES: u32 = 8;
/// One packet of so many may look otherwise.
const OTHERS: u16 = 20;
const RANDOM_BITS: u8 = 0x1f;

/// The spin bit of a short header (RFC 9000, 17.3.1).
const SPIN: u8 = 0x20;
/// A change counts that is late by no more than one of so many parts of the round trip.
const PROMPT: i64 = 8;
/// A bit spins that has changed so many times as in round trips ...
const LEAST_SPINS: u32 = 3;
/// ... and once in so many of them otherwise at most.
const MOST_OTHERS: u32 = 4;

/// Times of none.
const NEVER: i64 = i64::MIN;

/// How a flow of UDP is known to be QUIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quic {
    /// It is not.
    #[default]
    No,
    /// By long headers in the first packets of an end.
    Yes,
    /// Its beginning was not captured: it is of port 443, and its first bytes are as those of short headers.
    Probably,
}

impl Quic {
    /// Whether it is taken for QUIC.
    pub fn is(self) -> bool {
        self != Quic::No
    }
}

#[derive(Clone, Copy, Debug)]
struct End {
    /// Length of the connection id in its short headers: the other end chose it.
    id_bytes: Option<u8>,
    /// Packets with a short header, or what would be one, and others.
    shorts: u16,
    others: u16,
    /// Values of the random bits, a bit for each.
    values: u32,
    /// Longest datagram that is no super-datagram.
    datagram: u16,
    /// It has sent a packet that may carry streams.
    streams: bool,
    /// Its spin bit, and when that changed.
    spin: Option<bool>,
    edge_ns: i64,
    last_ns: i64,
    last_data_ns: i64,
    /// Data of streams, as far as the lengths of packets tell.
    bytes: u64,
    /// First packet that may answer the latest data of the other end.
    answered_ns: i64,
    /// Frames of its latest packet that brought no data.
    ack_bytes: u16,
    /// First packet of a flight that nothing answered yet, and its packets.
    flight_ns: i64,
    flight_packets: u8,
}

impl Default for End {
    fn default() -> Self {
        End {
            id_bytes: None,
            shorts: 0,
            others: 0,
            values: 0,
            datagram: FIRST_DATAGRAM_BYTES,
            streams: false,
            spin: None,
            edge_ns: NEVER,
            last_ns: NEVER,
            last_data_ns: NEVER,
            bytes: 0,
            answered_ns: NEVER,
            ack_bytes: 0,
            flight_ns: NEVER,
            flight_packets: 0,
        }
    }
}

/// Data in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// Of streams, without headers.
    pub(crate) bytes: u64,
    /// Its end had paused.
    pub(crate) paused: bool,
    /// When its end answered the latest data of the other; None where it was not asked.
    pub(crate) heard_ns: Option<i64>,
}

/// Whether a datagram that is no beginning is of the server of HTTP/3.
pub(crate) fn is_of_server(datagram: &Datagram, source: u16, destination: u16) -> bool {
    let short = datagram.long == LongHeader::None && datagram.first & 0xc0 == 0x40;
    short && source == HTTPS && destination != HTTPS
}

/// What a datagram brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Datagrams in it: more than one of a super-datagram.
    pub(crate) packets: u64,
    pub(crate) data: Option<Data>,
    /// A round trip between the tap and its sender that it ended: of data of the other end.
    pub(crate) rtt_ns: Option<i64>,
}

/// A flow that is QUIC or may be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    begun: bool,
    /// Least round trips between the tap and each end, in the order of the ends.
    pub(crate) parts_ns: [Option<i64>; 2],
    ends: [End; 2],
    /// Long header of the first packet of the responder.
    pub(crate) answer: Option<LongHeader>,
    /// Changes of the spin bit that were round trips, and others.
    spins: u32,
    others: u32,
}

impl Flow {
    /// One of which `datagram`, the first one, was captured between these ports; None where it shows nothing of QUIC.
    pub(crate) fn of(datagram: &Datagram, packets: u64, ports: [u16; 2]) -> Option<Box<Flow>> {
        let begun = datagram.long != LongHeader::None && packets <= WITHIN;
        let perhaps = packets == 1 && ports.contains(&HTTPS) && datagram.first & 0x80 == 0;
        (begun || perhaps).then(|| Box::new(Flow { begun, ..Flow::default() }))
    }

    /// Its end number `from` sent its packet number `packets`.
    pub(crate) fn shows(&mut self, datagram: &Datagram, from: usize, packets: u64) {
        if datagram.long != LongHeader::None && packets <= WITHIN {
            self.begun = true;
            // What the other end has behind its short headers.
            self.ends[1 - from].id_bytes = Some(datagram.id_bytes);
            return;
        }
        let end = &mut self.ends[from];
        if datagram.first & 0x80 == 0 {
            end.shorts = end.shorts.saturating_add(1);
            end.values |= 1 << (datagram.first & RANDOM_BITS);
        } else {
            end.others = end.others.saturating_add(1);
        }
    }

    /// Data of streams of an end, as far as the lengths of packets tell.
    pub(crate) fn stream_bytes(&self, end: usize) -> u64 {
        self.ends[end].bytes
    }

    /// Longest datagram of either end, bytes.
    pub(crate) fn datagram_bytes(&self) -> u16 {
        self.ends.iter().map(|end| end.datagram).max().unwrap_or(FIRST_DATAGRAM_BYTES)
    }

    /// Least round trip of the whole path.
    fn whole_ns(&self) -> i64 {
        let [one, two] = self.parts_ns;
        one.zip(two).map_or(USUAL_PAUSE_NS, |(one, two)| one.saturating_add(two))
    }

    /// Whether it began in the capture.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// How it is known.
    pub(crate) fn known(&self) -> Quic {
        if self.begun {
            return Quic::Yes;
        }
        let judged = |end: &&End| end.shorts >= LEAST_PACKETS;
        let random = |end: &End| end.values.count_ones() >= LEAST_VALUES;
        let others = |end: &End| end.others > end.shorts / OTHERS;
        let likely = self.ends.iter().any(|end| judged(&end)) && self.ends.iter().filter(judged).all(random);
        if likely && !self.ends.iter().any(others) { Quic::Probably } else { Quic::No }
    }

    /// What a datagram of end `from` brings, of `payload_bytes`.
    pub(crate) fn add(
        &mut self,
        datagram: &Datagram,
        payload_bytes: u64,
        from: usize,
        time_ns: i64,
        pauses: bool,
        opener: usize,
    ) -> Brought {
        let (whole_ns, own_ns) = (self.whole_ns(), self.parts_ns[from]);
        let spun_ns = self.spun_ns(datagram, from, time_ns, opener);
        let [mine, theirs] = pair(&mut self.ends, from);
        let packets = mine.packets_in(payload_bytes);
        let id_bytes = u64::from(mine.id_bytes.unwrap_or(USUAL_ID_BYTES));
        let stream_bytes = u64::from(datagram.stream_bytes);
        let since = |earlier_ns: i64| if earlier_ns == NEVER { i64::MAX } else { time_ns.saturating_sub(earlier_ns) };
        // Nothing has come that it might acknowledge.
        let alone = since(theirs.last_ns) > own_ns.unwrap_or(USUAL_PAUSE_NS).saturating_add(ACK_DELAY_NS)
            || (from == opener && !theirs.streams);
        let frames_bytes = stream_bytes.saturating_sub(packets * (PACKET_BYTES + id_bytes));
        let ack_bytes = u64::from(mine.ack_bytes);
        let brings =
            frames_bytes > ACK_BYTES.max(ack_bytes + MORE_BYTES) || (alone && stream_bytes >= LEAST_BYTES + id_bytes);
        let mut rtt_ns = spun_ns;
        if theirs.flight_packets > 0 {
            // One packet alone may be acknowledged late; and what brings data may be no answer.
            if theirs.flight_packets > 1 && !brings {
                let answered_ns = Some(since(theirs.flight_ns)).filter(|rtt_ns| *rtt_ns >= 0);
                rtt_ns = rtt_ns.into_iter().chain(answered_ns).min();
            }
            theirs.flight_packets = 0;
        }
        // Of data that passed much less than a round trip ago it knows nothing; datagrams of a handshake, which tell the round
        // trip, are longer than others.
        let knows = theirs.last_data_ns != NEVER && since(theirs.last_data_ns) >= own_ns.unwrap_or(0) / 2;
        if knows && mine.answered_ns == NEVER {
            mine.answered_ns = time_ns;
        }
        // It may acknowledge as the one before did.
        let bytes = if alone { frames_bytes } else { frames_bytes.saturating_sub(ack_bytes) }.max(1);
        let data = brings.then(|| {
            let settled = mine.last_data_ns != NEVER && theirs.answered_ns != NEVER;
            let paused = pauses && settled && since(theirs.answered_ns) >= whole_ns;
            let heard_ns = if knows { Some(mine.answered_ns) } else { None };
            Data { bytes, paused, heard_ns }
        });
        if brings {
            if since(mine.last_ns) > whole_ns.saturating_add(ACK_DELAY_NS) {
                (mine.flight_ns, mine.flight_packets) = (time_ns, 0);
            }
            if mine.flight_ns != NEVER && (mine.flight_packets > 0 || mine.flight_ns == time_ns) {
                mine.flight_packets = mine.flight_packets.saturating_add(1);
            }
            mine.last_data_ns = time_ns;
            mine.bytes = mine.bytes.saturating_add(bytes);
            theirs.answered_ns = NEVER;
        } else {
            mine.ack_bytes = frames_bytes.min(u64::from(u16::MAX)) as u16;
        }
        mine.streams |= stream_bytes > 0;
        mine.last_ns = time_ns;
        Brought { packets, data, rtt_ns }
    }
}

impl Flow {
    /// The round trip between the tap and end `from` that a change of its spin bit ended (RFC 9000, 17.4; RFC 9312, 3.8.2): a
    /// server sends the value that it has received, and a client the other one.
    ///
    /// A change is late by the time since the packet before at most, and no round trip is shorter than the path without
    /// queue. Where the bit does not spin, it stays, or changes at random, which is no round trip mostly.
    fn spun_ns(&mut self, datagram: &Datagram, from: usize, time_ns: i64, opener: usize) -> Option<i64> {
        if datagram.long != LongHeader::None || datagram.first & 0x80 != 0 {
            return None;
        }
        let value = datagram.first & SPIN != 0;
        let [mine, theirs] = pair(&mut self.ends, from);
        let before = mine.spin.replace(value);
        if before != Some(!value) {
            return None;
        }
        mine.edge_ns = time_ns;
        let answers = if from == opener { !value } else { value };
        if theirs.edge_ns == NEVER || theirs.spin != Some(answers) {
            return None;
        }
        let taken_ns = time_ns.saturating_sub(theirs.edge_ns);
        let late_ns = time_ns.saturating_sub(mine.last_ns);
        let least_ns = self.parts_ns[from].unwrap_or(0);
        if taken_ns < least_ns - least_ns / 16 || taken_ns <= 0 {
            self.others = self.others.saturating_add(1);
            return None;
        }
        if late_ns > taken_ns / PROMPT {
            return None;
        }
        self.spins = self.spins.saturating_add(1);
        (self.spins >= LEAST_SPINS && self.others <= self.spins / MOST_OTHERS).then_some(taken_ns)
    }
}

impl End {
    /// Datagrams that a captured one holds.
    fn packets_in(&mut self, payload_bytes: u64) -> u64 {
        if payload_bytes <= MOST_DATAGRAM_BYTES {
            self.datagram = self.datagram.max(payload_bytes as u16);
            return 1;
        }
        payload_bytes.div_ceil(u64::from(self.datagram))
    }
}

/// The handshake in long headers, as that of TCP is in SYN, SYN-ACK and ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shake {
    /// First flight of the client.
    Begins,
    /// Of the client, before an answer: a probe, so that nobody knows which one is answered.
    BeginsAgain,
    /// First packet of the server.
    Answers,
    /// First packet of the client that it cannot have sent before the answer.
    Ends,
    /// Nothing of these.
    Nothing,
}

impl Shake {
    /// What a datagram is in the handshake: whether the opener sent it, which long header it has, when the opener sent its first
    /// packet and whether the responder sent one or asked to begin again.
    pub(crate) fn of(
        opens: bool,
        long: LongHeader,
        begun_ns: Option<i64>,
        answered: Option<LongHeader>,
        time_ns: i64,
    ) -> Shake {
        match (opens, answered) {
            (true, None) => match begun_ns {
                None if long == LongHeader::None => Shake::Nothing,
                None => Shake::Begins,
                Some(begun_ns) if time_ns.saturating_sub(begun_ns) <= FLIGHT_NS => Shake::Nothing,
                Some(_) => Shake::BeginsAgain,
            },
            (false, None) => Shake::Answers,
            (true, Some(LongHeader::Again)) => Shake::Ends,
            // Its first flight may have more Initial packets than one.
            (true, Some(_)) if long != LongHeader::Initial => Shake::Ends,
            _ => Shake::Nothing,
        }
    }
}

fn pair(ends: &mut [End; 2], from: usize) -> [&mut End; 2] {
    let [one, two] = ends;
    if from == 0 { [one, two] } else { [two, one] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: i64 = 1_000_000;
    /// 10 ms from the tap to end 0 and back, 30 to end 1.
    const PATH: [Option<i64>; 2] = [Some(10 * MS), Some(30 * MS)];

    fn long(long: LongHeader) -> Datagram {
        Datagram { long, first: 0xc3, id_bytes: 8, stream_bytes: 0, asked: None }
    }

    fn short(first: u8, bytes: u32) -> Datagram {
        Datagram { long: LongHeader::None, first, id_bytes: 0, stream_bytes: bytes, asked: None }
    }

    fn begun() -> Box<Flow> {
        let mut flow = Flow::of(&long(LongHeader::Initial), 1, [50_000, 4433]).expect("a long header");
        flow.shows(&long(LongHeader::Initial), 0, 1);
        flow.shows(&long(LongHeader::Handshake), 1, 1);
        flow.parts_ns = PATH;
        flow
    }

    #[test]
    fn a_beginning_shows_quic_at_any_port_and_later_headers_are_chance() {
        assert!(Flow::of(&long(LongHeader::Initial), 8, [50_000, 4433]).is_some());
        assert!(Flow::of(&long(LongHeader::Initial), 9, [50_000, 4433]).is_none());
        assert!(Flow::of(&short(0x41, 100), 1, [50_000, 4433]).is_none());
        assert_eq!(begun().known(), Quic::Yes);
    }

    #[test]
    fn without_a_beginning_the_protected_bits_tell() {
        let known = |firsts: &mut dyn Iterator<Item = u8>| {
            let mut flow = Flow::of(&short(0x41, 100), 1, [50_000, 443])?;
            for (packets, first) in (1..).zip(firsts) {
                flow.shows(&short(first, 100), 0, packets);
            }
            Some(flow.known())
        };
        let random = |place: u64| (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as u8;
        // With the fixed bit, and where it is greased (RFC 9287).
        assert_eq!(known(&mut (0..16).map(|place| 0x40 | random(place))), Some(Quic::Probably));
        assert_eq!(known(&mut (0..40).map(|place| (place as u8 & 1) << 6 | random(place))), Some(Quic::Probably));
        assert_eq!(known(&mut (0..15).map(|place| 0x40 | random(place))), Some(Quic::No), "too few");
        // WireGuard, DTLS, OpenVPN, and bytes that are random in all bits.
        for constant in [4, 0x17, 0x48] {
            assert_eq!(known(&mut std::iter::repeat_n(constant, 40)), Some(Quic::No), "{constant}");
        }
        assert_eq!(known(&mut (0..40).map(|place| (place as u8 & 1) << 7 | random(place))), Some(Quic::No));
        assert!(Flow::of(&short(0x41, 100), 1, [50_000, 4433]).is_none());
    }

    #[test]
    fn long_packets_bring_data_and_acknowledgements_do_not() {
        let mut flow = begun();
        // A request of 300 bytes, its acknowledgement, and the answer in two packets with an acknowledgement.
        let request = flow.add(&short(0x41, 331), 331, 0, 100 * MS, true, 0);
        assert_eq!(request.data, Some(Data { bytes: 300, paused: false, heard_ns: None }));
        assert_eq!(flow.add(&short(0x41, 32), 32, 1, 131 * MS, true, 0).data, None);
        let answer = flow.add(&short(0x41, 1231), 1231, 1, 200 * MS, true, 0);
        assert_eq!(answer.data, Some(Data { bytes: 1200, paused: false, heard_ns: Some(131 * MS) }));
        assert_eq!(flow.add(&short(0x41, 1231), 1231, 1, 201 * MS, true, 0).data.map(|data| data.bytes), Some(1200));
        let answered = flow.add(&short(0x41, 33), 33, 0, 211 * MS, true, 0);
        assert_eq!((answered.data, answered.rtt_ns), (None, Some(11 * MS)), "of the flight that began at 200 ms");
        assert_eq!((flow.stream_bytes(0), flow.stream_bytes(1)), (300, 2400));
    }

    #[test]
    fn a_packet_that_can_acknowledge_nothing_brings_data() {
        let mut flow = begun();
        // 40 bytes: the first of the client, before the server sent any packet with streams.
        assert_eq!(flow.add(&short(0x41, 40), 40, 0, 0, true, 0).data.map(|data| data.bytes), Some(9));
        assert!(flow.add(&short(0x41, 1231), 1231, 1, 30 * MS, true, 0).data.is_some());
        assert_eq!(flow.add(&short(0x41, 40), 40, 0, 40 * MS, true, 0).data, None, "the acknowledgement");
        // 35 ms later at the earliest: the path of the client and the longest delay of an acknowledgement.
        assert!(flow.add(&short(0x41, 40), 40, 0, 66 * MS, true, 0).data.is_some());
        // A PING in the shortest packet, however long nothing came.
        assert_eq!(flow.add(&short(0x41, 29), 29, 0, 5_000 * MS, true, 0).data, None);
    }

    #[test]
    fn an_end_pauses_a_round_trip_after_it_was_answered() {
        let mut flow = begun();
        flow.add(&short(0x41, 1231), 1231, 1, 0, true, 0);
        flow.add(&short(0x41, 33), 33, 0, 10 * MS, true, 0);
        let next = |flow: &mut Flow, at_ns| flow.add(&short(0x41, 1231), 1231, 1, at_ns, true, 0).data;
        assert_eq!(next(&mut flow, 49 * MS).map(|data| data.paused), Some(false));
        flow.add(&short(0x41, 33), 33, 0, 59 * MS, true, 0);
        assert_eq!(next(&mut flow, 99 * MS).map(|data| data.paused), Some(true));
        // Who is answered by nobody does not pause, but lost its packets.
        assert_eq!(next(&mut flow, 900 * MS).map(|data| data.paused), Some(false));
    }

    #[test]
    fn super_datagrams_are_as_many_as_their_length_says() {
        let mut flow = begun();
        flow.add(&short(0x41, 1252), 1252, 1, 0, false, 0);
        let many = flow.add(&short(0x41, 12_520), 12_520, 1, MS, false, 0);
        assert_eq!((many.packets, many.data.map(|data| data.bytes)), (10, Some(10 * (1252 - 31))));
        assert_eq!(flow.datagram_bytes(), 1252);
    }

    #[test]
    fn the_spin_bit_tells_round_trips_where_it_spins() {
        let (mut flow, mut found) = (begun(), Vec::new());
        // The server answers a change of the client after 30 ms, the client that of the server after 10; both send all the time.
        for at in 0..400 {
            for (end, behind) in [(0, 0), (1, 30)] {
                let value = (at + 400 - behind) / 40 % 2 == 1;
                let first = 0x41 | if value { SPIN } else { 0 };
                found.extend(flow.add(&short(first, 33), 33, end, at * MS, false, 0).rtt_ns.map(|ns| (end, ns / MS)));
            }
        }
        assert!(found.len() > 12, "{found:?}");
        assert!(found.iter().all(|&(end, ms)| ms == if end == 0 { 10 } else { 30 }), "{found:?}");
        // A random bit gives no round trip.
        let mut flow = begun();
        for place in 0..400_u64 {
            let first = 0x40 | (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as u8;
            let end = (place % 2) as usize;
            let rtt_ns = flow.add(&short(first & 0x7f, 33), 33, end, place as i64 * MS, false, 0).rtt_ns;
            assert!(rtt_ns.is_none(), "{place}");
        }
    }

    #[test]
    fn a_handshake_is_timed_where_no_part_was_repeated() {
        use LongHeader::{Again, Handshake, Initial};
        let of = Shake::of;
        assert_eq!(of(true, Initial, None, None, 0), Shake::Begins);
        assert_eq!(of(true, LongHeader::None, None, None, 0), Shake::Nothing);
        // A client hello of two datagrams; a probe after a timeout.
        assert_eq!(of(true, Initial, Some(0), None, MS), Shake::Nothing);
        assert_eq!(of(true, Initial, Some(0), None, 200 * MS), Shake::BeginsAgain);
        assert_eq!(of(false, Handshake, Some(0), None, 30 * MS), Shake::Answers);
        // The second datagram of the hello may pass after the answer to the first.
        assert_eq!(of(true, Initial, Some(0), Some(Initial), 31 * MS), Shake::Nothing);
        assert_eq!(of(true, Handshake, Some(0), Some(Initial), 40 * MS), Shake::Ends);
        assert_eq!(of(true, Initial, Some(0), Some(Again), 40 * MS), Shake::Ends);
    }

    proptest! {
        /// Whatever strangers send, at whatever times: no panic, and no more bytes than came.
        #[test]
        fn no_datagrams_do_harm(
            packets in proptest::collection::vec(
                (proptest::collection::vec(any::<u8>(), 0..60), 0..70_000_u64, any::<bool>(), any::<i64>()), 1..60),
            ports: (u16, u16),
            pauses: bool,
        ) {
            let mut flow = None;
            let (mut seen, mut came) = ([0; 2], [0; 2]);
            for (payload, more, second, time_ns) in packets {
                let bytes = payload.len() as u64 + more;
                let datagram = Datagram::of(&payload, bytes);
                prop_assert!(u64::from(datagram.stream_bytes) <= bytes);
                let end = usize::from(second);
                seen[end] += 1;
                flow = flow.or_else(|| Flow::of(&datagram, seen[end], [ports.0, ports.1]));
                let Some(flow) = &mut flow else { continue };
                came[end] += bytes.max(1);
                flow.shows(&datagram, end, seen[end]);
                let brought = flow.add(&datagram, bytes, end, time_ns, pauses, 0);
                prop_assert!(brought.packets >= 1 && brought.rtt_ns.is_none_or(|rtt_ns| rtt_ns >= 0));
                prop_assert!(flow.stream_bytes(end) <= came[end]);
                flow.known();
            }
        }
    }
}
