//! A packet in a shard: some 30 bytes over IPv4, 45 with timestamps.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::decode::options::TcpOptions;
use crate::decode::segment::{Endpoint, Segment, TcpHeader, Transport};
use crate::read::merge::Arrival;

/// First bytes of a shard, with the version of what follows.
pub(super) const MAGIC: [u8; 8] = *b"MAYFLYS3";

/// Longest packet: five numbers, two IPv6 addresses with ports, a TCP header with options.
pub(super) const LONGEST: usize = 1 + 5 * 10 + 36 + 11 + 11;

// The first byte: what is there, and in which form.
const TCP: u8 = 0;
const UDP: u8 = 1;
const ICMP: u8 = 2;
/// No packet: how many there were follows.
const END: u8 = 3;
const SIX: u8 = 1 << 2;
const FRAGMENT: u8 = 1 << 3;
const REPLY: u8 = 1 << 4;
/// Of a datagram.
const QUIC: u8 = 1 << 4;
/// Of what is no ICMP: the number of its protocol follows.
const OTHER: u8 = 1 << 5;
const MSS: u8 = 1 << 5;
const SHIFT: u8 = 1 << 6;
const TIMESTAMPS: u8 = 1 << 7;

/// Number and time of the packet before: numbers grow, and times nearly do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    number: u64,
    time_ns: i64,
}

/// What comes next in a shard.
pub(super) enum Next {
    Packet { number: u64, arrival: Arrival },
    End { packets: u64 },
}

/// Appends a packet.
pub(super) fn put(into: &mut Vec<u8>, before: &mut Before, number: u64, arrival: &Arrival) {
    let segment = &arrival.segment;
    let six = segment.source.address.is_ipv6();
    let kind = match &segment.transport {
        Transport::Tcp(header) => {
            let TcpOptions { mss, window_shift, timestamps } = header.options;
            let bit = |there: bool, bit: u8| if there { bit } else { 0 };
            TCP | bit(mss.is_some(), MSS) | bit(window_shift.is_some(), SHIFT) | bit(timestamps.is_some(), TIMESTAMPS)
        }
        Transport::Udp { quic } => UDP | if *quic { QUIC } else { 0 },
        Transport::Icmp { reply, .. } => ICMP | if *reply { REPLY } else { 0 },
        Transport::Other { .. } => ICMP | OTHER,
    };
    into.push(kind | if six { SIX } else { 0 } | if segment.fragment { FRAGMENT } else { 0 });
    put_number(into, number.wrapping_sub(before.number));
    let later_ns = arrival.time_ns.wrapping_sub(before.time_ns);
    put_number(into, (later_ns << 1 ^ later_ns >> 63) as u64);
    *before = Before { number, time_ns: arrival.time_ns };
    put_number(into, u64::from(arrival.tap));
    put_number(into, segment.wire_bytes);
    put_number(into, segment.payload_bytes);
    for end in [segment.source, segment.destination] {
        match end.address {
            IpAddr::V4(address) => into.extend(address.octets()),
            IpAddr::V6(address) => into.extend(address.octets()),
        }
        into.extend(end.port.to_le_bytes());
    }
    if let Transport::Tcp(header) = &segment.transport {
        into.extend(header.seq.to_le_bytes());
        into.extend(header.ack.to_le_bytes());
        into.push(header.flags);
        into.extend(header.window.to_le_bytes());
        if let Some(mss) = header.options.mss {
            into.extend(mss.to_le_bytes());
        }
        into.extend(header.options.window_shift);
        if let Some((value, echo)) = header.options.timestamps {
            into.extend(value.to_le_bytes());
            into.extend(echo.to_le_bytes());
        }
    }
    if let Transport::Other { protocol } = &segment.transport {
        into.push(*protocol);
    }
}

/// Appends the end: how many packets there are.
pub(super) fn put_end(into: &mut Vec<u8>, packets: u64) {
    into.push(END);
    put_number(into, packets);
}

/// The next packet of `bytes`, which it takes away; None where they end too early or hold what is never put there.
pub(super) fn take(bytes: &mut &[u8], before: &mut Before) -> Option<Next> {
    let [kind] = take_bytes::<1>(bytes)?;
    if kind & 3 == END {
        return Some(Next::End { packets: take_number(bytes)? });
    }
    let number = before.number.wrapping_add(take_number(bytes)?);
    let later = take_number(bytes)?;
    let later_ns = (later >> 1) as i64 ^ -((later & 1) as i64);
    let time_ns = before.time_ns.wrapping_add(later_ns);
    *before = Before { number, time_ns };
    let tap = u32::try_from(take_number(bytes)?).ok()?;
    let (wire_bytes, payload_bytes) = (take_number(bytes)?, take_number(bytes)?);
    let mut end = || {
        let address = if kind & SIX == 0 {
            IpAddr::V4(Ipv4Addr::from(take_bytes::<4>(bytes)?))
        } else {
            IpAddr::V6(Ipv6Addr::from(take_bytes::<16>(bytes)?))
        };
        Some(Endpoint { address, port: u16::from_le_bytes(take_bytes(bytes)?) })
    };
    let (source, destination) = (end()?, end()?);
    let transport = match kind & 3 {
        TCP => {
            let (seq, ack) = (take_word(bytes)?, take_word(bytes)?);
            let [flags] = take_bytes(bytes)?;
            let window = u16::from_le_bytes(take_bytes(bytes)?);
            let mut options = TcpOptions::default();
            if kind & MSS != 0 {
                options.mss = Some(u16::from_le_bytes(take_bytes(bytes)?));
            }
            if kind & SHIFT != 0 {
                let [shift] = take_bytes(bytes)?;
                // RFC 7323, 2.3: the decoder passes on no larger one.
                options.window_shift = Some(shift.min(14));
            }
            if kind & TIMESTAMPS != 0 {
                options.timestamps = Some((take_word(bytes)?, take_word(bytes)?));
            }
            Transport::Tcp(TcpHeader { seq, ack, flags, window, options })
        }
        UDP => Transport::Udp { quic: kind & QUIC != 0 },
        _ if kind & OTHER != 0 => Transport::Other { protocol: take_bytes::<1>(bytes)?[0] },
        // Numbers of echoes tell copies, which are left out before.
        _ => Transport::Icmp { reply: kind & REPLY != 0, number: 0 },
    };
    let fragment = kind & FRAGMENT != 0;
    let segment =
        Segment { source, destination, wire_bytes, payload_bytes, transport, identity: 0, place: 0, fragment };
    Some(Next::Packet { number, arrival: Arrival { time_ns, tap, segment } })
}

/// Seven bits a byte, the lowest first; the upper bit says that more follow.
fn put_number(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..10 {
        let [byte] = take_bytes(bytes)?;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_word(bytes: &mut &[u8]) -> Option<u32> {
    take_bytes(bytes).map(u32::from_le_bytes)
}

fn take_bytes<const COUNT: usize>(bytes: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (taken, rest) = bytes.split_first_chunk::<COUNT>()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn endpoint(six: bool, bits: u128, port: u16) -> Endpoint {
        let address = if six { IpAddr::V6(bits.into()) } else { IpAddr::V4((bits as u32).into()) };
        Endpoint { address, port }
    }

    proptest! {
        #[test]
        fn a_packet_comes_out_as_it_went_in(
            six: bool,
            bits: (u128, u128),
            ports: (u16, u16),
            numbers: (u64, u64, u64),
            times: (i64, i64),
            tap: u32,
            fragment: bool,
            kind in 0..4_u8,
            reply: bool,
            words: (u32, u32, u8, u16),
            mss: Option<u16>,
            window_shift in proptest::option::of(0..=14_u8),
            timestamps: Option<(u32, u32)>,
        ) {
            let (seq, ack, flags, window) = words;
            let options = TcpOptions { mss, window_shift, timestamps };
            let transport = match kind {
                TCP => Transport::Tcp(TcpHeader { seq, ack, flags, window, options }),
                UDP => Transport::Udp { quic: reply },
                ICMP => Transport::Icmp { reply, number: 0 },
                _ => Transport::Other { protocol: flags },
            };
            let segment = Segment {
                source: endpoint(six, bits.0, ports.0),
                destination: endpoint(six, bits.1, ports.1),
                wire_bytes: numbers.1,
                payload_bytes: numbers.2,
                transport,
                identity: 0,
                place: 0,
                fragment,
            };
            let first = Before { number: 3, time_ns: times.0 };
            let (mut before, mut bytes) = (first, Vec::new());
            let arrival = Arrival { time_ns: times.1, tap, segment };
            put(&mut bytes, &mut before, numbers.0, &arrival);
            prop_assert!(bytes.len() <= LONGEST);
            let (mut rest, mut back) = (&bytes[..], first);
            let Some(Next::Packet { number, arrival: found }) = take(&mut rest, &mut back) else { panic!("no packet") };
            prop_assert!(rest.is_empty());
            prop_assert_eq!(number, numbers.0);
            prop_assert_eq!(format!("{:?}", (found.time_ns, found.tap, found.segment)),
                format!("{:?}", (arrival.time_ns, arrival.tap, arrival.segment)));
            for length in 0..bytes.len() {
                prop_assert!(take(&mut &bytes[..length], &mut first.clone()).is_none());
            }
        }

        #[test]
        fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (mut rest, mut before) = (&bytes[..], Before::default());
            while take(&mut rest, &mut before).is_some() {}
        }
    }
}
