//! What tells one connection from another: its two ends and its protocol, the same whichever end sends.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::connections::connection::Protocol;
use crate::decode::segment::{Endpoint, Segment, Transport};

/// Two ends in the order of [`Endpoint`], packed: comparing takes five words, and hashing two for IPv4.
#[derive(Clone, Copy, Eq)]
pub(crate) struct Key {
    /// Addresses as numbers.
    addresses: [u128; 2],
    ports: [u16; 2],
    pub(crate) protocol: Protocol,
    /// Of [`Protocol::Other`], which.
    number: u8,
    six: bool,
}

/// The end of a packet that a router that translates addresses has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Translated {
    /// Who sent it: it goes out.
    Source,
    /// The addressee: it comes in.
    Destination,
}

impl Key {
    /// The key of a segment, and which end of it sent it.
    #[inline]
    pub(crate) fn of(segment: &Segment) -> (Self, usize) {
        let (protocol, number_of) = match segment.transport {
            Transport::Tcp(_) => (Protocol::Tcp, 0),
            Transport::Udp(_) => (Protocol::Udp, 0),
            Transport::Icmp { .. } => (Protocol::Icmp, 0),
            Transport::Other { protocol } => (Protocol::Other, protocol),
        };
        let (source, six) = number(segment.source.address);
        let (destination, _) = number(segment.destination.address);
        let (from, to) = ((source, segment.source.port), (destination, segment.destination.port));
        let swapped = from > to;
        let [one, two] = if swapped { [to, from] } else { [from, to] };
        let (addresses, ports) = ([one.0, two.0], [one.1, two.1]);
        (Key { addresses, ports, protocol, number: number_of, six }, usize::from(swapped))
    }

    /// Both ends; a packet has addresses of one version.
    pub(crate) fn ends(&self) -> [Endpoint; 2] {
        [0, 1].map(|end| {
            let number = self.addresses[end];
            let address = if self.six {
                IpAddr::V6(Ipv6Addr::from_bits(number))
            } else {
                IpAddr::V4(Ipv4Addr::from_bits(number as u32))
            };
            Endpoint { address, port: self.ports[end] }
        })
    }

    /// Number of its IP protocol.
    pub(crate) fn ip_protocol(&self) -> u8 {
        match self.protocol {
            Protocol::Tcp => 6,
            Protocol::Udp => 17,
            Protocol::Icmp if self.six => 58,
            Protocol::Icmp => 1,
            Protocol::Other => self.number,
        }
    }

    /// Which end a router has translated, where a packet from end `from` of this key is one from end `other_from` of `other`:
    /// one end stays, and the protocol. None where neither or both are the same.
    pub(crate) fn translated(&self, from: usize, other: &Key, other_from: usize) -> Option<Translated> {
        if self.protocol != other.protocol || self.number != other.number || self.six != other.six {
            return None;
        }
        let same =
            |own: usize, its: usize| (self.addresses[own], self.ports[own]) == (other.addresses[its], other.ports[its]);
        match (same(from, other_from), same(1 - from, 1 - other_from)) {
            (false, true) => Some(Translated::Source),
            (true, false) => Some(Translated::Destination),
            _ => None,
        }
    }

    /// The address of an end, as a number.
    pub(crate) fn address(&self, end: usize) -> u128 {
        self.addresses[end]
    }

    /// All but the addresses.
    #[inline]
    fn rest(&self) -> u64 {
        u64::from(self.number) << 48
            | u64::from(self.ports[0]) << 32
            | u64::from(self.ports[1]) << 16
            | (self.protocol as u64) << 8
            | u64::from(self.six)
    }

    /// A number that is nearly always another for another key and that anybody can compute: it picks places of a cache,
    /// never of a table.
    #[inline]
    pub(crate) fn mixed(&self) -> u64 {
        let [one, two] = self.addresses.map(|number| (number as u64) ^ ((number >> 64) as u64));
        let rest = u64::from(self.ports[0]) << 16 | u64::from(self.ports[1]);
        (one.rotate_left(32) ^ two ^ rest.rotate_left(16)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Word by word: a key that was made just now is not in memory as wider ones.
impl PartialEq for Key {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let differ = |one: u128, two: u128| ((one ^ two) >> 64) as u64 | (one ^ two) as u64;
        let ends = differ(self.addresses[0], other.addresses[0]) | differ(self.addresses[1], other.addresses[1]);
        ends | (self.rest() ^ other.rest()) == 0
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [one, two] = self.addresses;
        state.write_u64(self.rest());
        if self.six {
            for number in [one, two] {
                state.write_u64((number >> 64) as u64);
                state.write_u64(number as u64);
            }
        } else {
            state.write_u64((one as u64) << 32 | two as u64);
        }
    }
}

#[inline]
fn number(address: IpAddr) -> (u128, bool) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), false),
        IpAddr::V6(address) => (address.to_bits(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(source: Endpoint, destination: Endpoint) -> Segment {
        Segment { source, destination, ..Segment::NONE }
    }

    #[test]
    fn ends_come_out_in_their_order_whichever_sends() {
        let mut ends: Vec<Endpoint> = Vec::new();
        for address in ["10.0.0.1", "10.0.0.2", "192.0.2.255", "0.0.0.0"] {
            ends.extend([1, 80, 65_535].map(|port| Endpoint { address: address.parse().expect("IPv4"), port }));
        }
        let four = ends.len();
        for address in ["::", "::10.0.0.1", "2001:db8::1", "ffff::ffff"] {
            ends.extend([1, 80, 65_535].map(|port| Endpoint { address: address.parse().expect("IPv6"), port }));
        }
        let version_of = |at: usize| at < four;
        for (a, one) in ends.iter().enumerate() {
            for (b, two) in ends.iter().enumerate().filter(|(b, _)| version_of(a) == version_of(*b)) {
                let (key, from) = Key::of(&segment(*one, *two));
                assert_eq!(from, usize::from(one > two), "{one:?} {two:?}");
                assert_eq!(key.ends(), if one > two { [*two, *one] } else { [*one, *two] });
                let (back, other) = Key::of(&segment(*two, *one));
                assert!(key == back && (a == b || other == 1 - from));
            }
        }
    }

    #[test]
    fn an_address_in_both_versions_is_two() {
        let [four, six] =
            ["10.0.0.1", "::10.0.0.1"].map(|text| Endpoint { address: text.parse().expect("an address"), port: 7 });
        assert!(Key::of(&segment(four, four)).0 != Key::of(&segment(six, six)).0);
    }
}
