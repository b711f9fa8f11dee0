//! What a datagram shows of QUIC: its headers, as far as they are readable by all (RFC 8999, RFC 9000, 17).
//!
//! A datagram holds packets one after another: those with long headers have their length, one with a short header ends it.
//! Streams are carried by packets with short headers and by those of 0-RTT; the others carry the handshake.

/// RFC 9000, 17.2: the form of the header, and the fixed bit, which RTP and STUN do not have both.
const LONG: u8 = 0x80;
const LONG_AND_FIXED: u8 = 0xc0;
/// Longest connection id of the versions in use.
const MOST_ID_BYTES: usize = 20;
/// Header with two empty connection ids and no more: what the versions have behind it is longer.
const LEAST_BYTES: u64 = 20;
/// RFC 9369, 3.2: types of long headers are others in version 2.
const VERSION_2: u32 = 0x6b33_43cf;
/// Packets in one datagram that are looked at: an Initial, 0-RTT, a Handshake and one with a short header, with room.
const MOST_COALESCED: usize = 6;

/// What a long header begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongHeader {
    /// There is none.
    #[default]
    None,
    /// Initial packets alone, as far as they were captured.
    Initial,
    /// Another one of the handshake, or more than Initial packets.
    Handshake,
    /// Retry, or a negotiation of versions: the connection begins again.
    Again,
}

impl LongHeader {
    /// All, in the order of their numbers.
    pub(crate) const ALL: [LongHeader; 4] =
        [LongHeader::None, LongHeader::Initial, LongHeader::Handshake, LongHeader::Again];
}

/// A message whose receiver answers it at once, or such an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which one: the same for both.
    pub number: u32,
    /// It is the answer.
    pub answer: bool,
}

/// What of a payload of UDP counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// The long header of QUIC that it begins with.
    pub long: LongHeader,
    /// First byte; 0 where it was not captured.
    pub first: u8,
    /// Length of the connection id that the sender of a long header has chosen, which short headers to it have.
    pub id_bytes: u8,
    /// Were it QUIC: bytes of packets that carry streams, with their headers; behind a long header those that were captured
    /// so far that their type is known.
    pub stream_bytes: u32,
    /// STUN: a request, or the response to one.
    pub asked: Option<Asked>,
}

impl Datagram {
    /// What `payload` shows, as far as it was captured, of a datagram of `payload_bytes`.
    ///
    /// Versions are those in use (RFC 9000, RFC 9369, drafts, reserved ones, Facebook's and Google's). A port proves nothing.
    #[inline]
    pub(crate) fn of(payload: &[u8], payload_bytes: u64) -> Datagram {
        let Some(&first) = payload.first() else { return Datagram::default() };
        if first & LONG != 0 || first & 0xc9 == 0x09 {
            return Datagram::with_long_header(payload, payload_bytes);
        }
        let asked = if first <= 1 { stun(payload) } else { None };
        Datagram { first, stream_bytes: in_32(payload_bytes), asked, ..Datagram::default() }
    }

    #[inline(never)]
    fn with_long_header(payload: &[u8], payload_bytes: u64) -> Datagram {
        let plain = Datagram { first: payload[0], stream_bytes: in_32(payload_bytes), ..Datagram::default() };
        if !begins(payload, payload_bytes) {
            return plain;
        }
        if payload[0] & LONG == 0 {
            // Google's own: there is no telling what carries streams.
            return Datagram { long: LongHeader::Handshake, ..plain };
        }
        let mut found = Datagram { long: LongHeader::Initial, stream_bytes: 0, ..plain };
        let (mut at, mut first) = (0, true);
        for _ in 0..MOST_COALESCED {
            let Some(rest) = payload.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let left = payload_bytes.saturating_sub(at as u64);
            if rest[0] & LONG == 0 {
                // Behind the padding of a datagram there is no packet.
                if rest[0] != 0 {
                    found.stream_bytes = found.stream_bytes.saturating_add(in_32(left));
                    found.long = LongHeader::Handshake;
                }
                break;
            }
            let Some(long) = Long::of(rest) else { break };
            if first {
                found.id_bytes = long.id_bytes;
            }
            first = false;
            match long.kind {
                Kind::Again => {
                    found.long = LongHeader::Again;
                    break;
                }
                Kind::Initial => {}
                Kind::Handshake => found.long = LongHeader::Handshake,
                Kind::EarlyData => {
                    let own = long.ends.map_or(left, |end| left.min(end as u64));
                    found.stream_bytes = found.stream_bytes.saturating_add(in_32(own));
                }
            }
            let Some(end) = long.ends else { break };
            at += end;
        }
        found
    }
}

fn in_32(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Initial,
    EarlyData,
    Handshake,
    Again,
}

/// A packet with a long header.
struct Long {
    kind: Kind,
    id_bytes: u8,
    /// Where the next packet of the datagram begins; None where it was not captured, or ends the datagram.
    ends: Option<usize>,
}

impl Long {
    fn of(packet: &[u8]) -> Option<Long> {
        let [first, version @ ..] = packet.first_chunk::<5>()?;
        let version = u32::from_be_bytes(*version);
        let destination = usize::from(*packet.get(5)?);
        let source = packet.get(6 + destination).copied();
        let id_bytes = source.unwrap_or(0);
        let kind = match (version, first >> 4 & 3) {
            (0, _) => Kind::Again,
            (VERSION_2, kind) => [Kind::Again, Kind::Initial, Kind::EarlyData, Kind::Handshake][usize::from(kind)],
            (_, kind) => [Kind::Initial, Kind::EarlyData, Kind::Handshake, Kind::Again][usize::from(kind)],
        };
        let ends = || {
            let mut at = 7 + destination + usize::from(source?);
            if kind == Kind::Initial {
                let (token, behind) = number(packet, at)?;
                at = behind.checked_add(usize::try_from(token).ok()?)?;
            }
            let (length, behind) = number(packet, at)?;
            behind.checked_add(usize::try_from(length).ok()?)
        };
        Some(Long { kind, id_bytes, ends: if kind == Kind::Again { None } else { ends() } })
    }
}

/// Bytes 4 to 7 of STUN (RFC 8489, 5).
const COOKIE: [u8; 4] = [0x21, 0x12, 0xa4, 0x42];
/// Binding request, and both classes of its responses.
const REQUEST: [u8; 2] = [0, 1];
const RESPONSES: [[u8; 2]; 2] = [[1, 1], [1, 0x11]];

/// A binding request of STUN, or a response to one.
fn stun(payload: &[u8]) -> Option<Asked> {
    let header = payload.first_chunk::<20>()?;
    let kind = [header[0], header[1]];
    let answer = RESPONSES.contains(&kind);
    if header[4..8] != COOKIE || !(answer || kind == REQUEST) {
        return None;
    }
    // Transactions are 96 random bits.
    let number = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    Some(Asked { number, answer })
}

/// A number of variable length (RFC 9000, 16), and where it ends.
fn number(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    let length = 1_usize << (first >> 6);
    let rest = bytes.get(at + 1..at + length)?;
    Some((rest.iter().fold(u64::from(first & 0x3f), |sum, byte| sum << 8 | u64::from(*byte)), at + length))
}

#[inline(never)]
fn begins(payload: &[u8], payload_bytes: u64) -> bool {
    let Some([first, version @ ..]) = payload.first_chunk::<5>() else { return false };
    if first & LONG == 0 {
        // Google's before version 44: flags, a connection id of 8 bytes, the version.
        return payload.get(9..13).is_some_and(is_google);
    }
    // An id that the captured bytes cut off may be anything.
    let id_bytes = |at: usize| payload.get(at).map_or(0, |length| usize::from(*length));
    let destination = id_bytes(5);
    let source = id_bytes(6 + destination);
    if payload_bytes < LEAST_BYTES || payload.len() < 6 || destination > MOST_ID_BYTES || source > MOST_ID_BYTES {
        return false;
    }
    let after = (7 + destination + source) as u64;
    match u32::from_be_bytes(*version) {
        // A list of versions follows.
        0 => payload.len() > 6 + destination && payload_bytes > after && (payload_bytes - after).is_multiple_of(4),
        number => first & LONG_AND_FIXED == LONG_AND_FIXED && is_in_use(number) && payload_bytes > after,
    }
}

fn is_in_use(version: u32) -> bool {
    let reserved = version & 0x0f0f_0f0f == 0x0a0a_0a0a;
    let facebook = version & 0xffff_fff0 == 0xface_b000;
    let standard = matches!(version, 1 | 0x6b33_43cf) || version & 0xffff_ff00 == 0xff00_0000;
    standard || reserved || facebook || is_google(&version.to_be_bytes())
}

/// `Q046`, `T051`.
fn is_google(version: &[u8]) -> bool {
    matches!(version, [b'Q' | b'T', b'0', tens, ones] if tens.is_ascii_digit() && ones.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(first: u8, version: u32, ids: [u8; 2], bytes: usize) -> Vec<u8> {
        let mut payload = vec![first];
        payload.extend(version.to_be_bytes());
        for id in ids {
            payload.push(id);
            payload.extend(vec![7; usize::from(id)]);
        }
        payload.resize(bytes.max(payload.len()), 0);
        payload
    }

    fn is_quic(payload: &[u8]) -> bool {
        Datagram::of(payload, payload.len() as u64).long != LongHeader::None
    }

    #[test]
    fn the_versions_in_use_are_recognised_and_no_others() {
        for version in [1, 0x6b33_43cf, 0xff00_001d, 0x1a2a_3a4a, 0xface_b002, u32::from_be_bytes(*b"Q046")] {
            assert!(is_quic(&long(0xc3, version, [8, 0], 1200)), "{version:#x}");
            // RTP has the form and not the fixed bit.
            assert!(!is_quic(&long(0x80, version, [8, 0], 1200)), "{version:#x}");
            assert!(!is_quic(&long(0x43, version, [8, 0], 1200)), "{version:#x}");
        }
        for version in [2, 0x0100, 0xfeff_0001, u32::from_be_bytes(*b"QUIC")] {
            assert!(!is_quic(&long(0xc3, version, [8, 8], 1200)), "{version:#x}");
        }
        assert!(is_quic(&[&[0x0d, 1, 2, 3, 4, 5, 6, 7, 8][..], b"Q043", &[0; 40]].concat()));
        assert!(!is_quic(&[&[0x0d, 1, 2, 3, 4, 5, 6, 7, 8][..], b"query", &[0; 40]].concat()));
    }

    #[test]
    fn an_id_of_more_than_20_bytes_or_a_datagram_without_room_is_no_quic() {
        assert!(is_quic(&long(0xe0, 1, [20, 20], 1200)));
        assert!(!is_quic(&long(0xe0, 1, [21, 0], 1200)));
        assert!(!is_quic(&long(0xe0, 1, [8, 21], 1200)));
        assert!(!is_quic(&long(0xe0, 1, [0, 0], 0)));
        assert!(!is_quic(&[0xc3, 0, 0]));
        assert!(!is_quic(&[]));
    }

    #[test]
    fn a_version_negotiation_lists_versions() {
        let mut payload = long(0x80, 0, [8, 8], 0);
        payload.extend([0, 0, 0, 1]);
        assert!(is_quic(&payload));
        payload.push(0);
        assert!(!is_quic(&payload));
        // RTP of a stream that counts from 0: no list behind the ids.
        assert!(!is_quic(&[0x80, 0, 0, 0, 0, 0, 0, 160, 1, 2, 3, 4]));
    }

    #[test]
    fn a_cut_datagram_is_told_by_what_was_captured() {
        let payload = long(0xc3, 1, [8, 8], 1200);
        assert_ne!(Datagram::of(&payload[..7], 1200).long, LongHeader::None);
        assert_eq!(Datagram::of(&payload[..5], 1200).long, LongHeader::None);
    }

    /// A packet with a long header of version 1 and ids of 8 bytes, `rest` bytes behind its length.
    fn packet(first: u8, rest: usize) -> Vec<u8> {
        let mut packet = long(first, 1, [8, 4], 0);
        if first & 0x30 == 0 {
            packet.push(0);
        }
        packet.extend((0x4000 | rest as u16).to_be_bytes());
        packet.extend(vec![0x55; rest]);
        packet
    }

    fn seen(payload: &[u8]) -> (LongHeader, u32) {
        let found = Datagram::of(payload, payload.len() as u64);
        (found.long, found.stream_bytes)
    }

    #[test]
    fn packets_of_a_datagram_are_taken_apart() {
        let (initial, early, handshake) = (packet(0xc1, 300), packet(0xd1, 200), packet(0xe1, 100));
        let data = [&[0x41][..], &[7; 60]].concat();
        let all = |parts: &[&[u8]]| parts.concat();
        assert_eq!(seen(&initial), (LongHeader::Initial, 0));
        assert_eq!(Datagram::of(&initial, 400).id_bytes, 4);
        // Padded behind its packets, as some stacks do (RFC 9000, 14.1).
        assert_eq!(seen(&all(&[&initial, &[0; 400]])), (LongHeader::Initial, 0));
        assert_eq!(seen(&all(&[&initial, &early])), (LongHeader::Initial, early.len() as u32));
        assert_eq!(seen(&all(&[&initial, &handshake])), (LongHeader::Handshake, 0));
        assert_eq!(seen(&all(&[&initial, &handshake, &data])), (LongHeader::Handshake, 61));
        assert_eq!(seen(&data), (LongHeader::None, 61));
        // Of a cut datagram what is known: where the first packet ends, and no more.
        assert_eq!(Datagram::of(&all(&[&initial, &data])[..100], 400).stream_bytes, 0);
    }

    #[test]
    fn types_of_version_2_are_others_and_a_retry_begins_again() {
        let mut retry = packet(0xf1, 40);
        assert_eq!(seen(&retry).0, LongHeader::Again);
        retry[1..5].copy_from_slice(&VERSION_2.to_be_bytes());
        retry[0] = 0xc1;
        assert_eq!(seen(&retry).0, LongHeader::Again);
        retry[0] = 0xd1;
        assert_eq!(seen(&retry).0, LongHeader::Initial);
        let mut negotiation = long(0x80, 0, [8, 8], 0);
        negotiation.extend([0, 0, 0, 1]);
        assert_eq!(seen(&negotiation).0, LongHeader::Again);
    }

    #[test]
    fn a_request_of_stun_and_its_response_have_one_number() {
        let message = |kind: [u8; 2]| [&kind[..], &[0, 0], &COOKIE, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]].concat();
        let asked = |kind| Datagram::of(&message(kind), 20).asked;
        let number = 0x0102_0304;
        assert_eq!(asked([0, 1]), Some(Asked { number, answer: false }));
        assert_eq!(asked([1, 1]), Some(Asked { number, answer: true }));
        assert_eq!(asked([0, 0x11]), None, "an indication is not answered");
        assert_eq!(Datagram::of(&[0, 1, 0, 0, 1, 2, 3, 4], 8).asked, None);
    }
}
