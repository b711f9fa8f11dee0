//! What tells a packet from all others, and where it was captured: from its bytes, with a secret.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use crate::decode::segment::{Endpoint, FIN, RST, SYN, Segment, TcpHeader, Transport};

/// Identifications up to here number nothing: stacks that do without and generators of packets write them.
const NO_IDENTIFICATION: u32 = 1;
/// Of the number of an end in a place.
pub(crate) const END_BITS: u32 = 5;
/// The upper bits of a place are the lower ones of its hop count.
const HOPS_FROM: u32 = 16 + 2 * END_BITS;

/// Secret with which packets are identified: the same packet at every place where it is captured, whatever routers and network
/// cards change. Ends are in an identity only of TCP where nothing else numbers a packet, since a router may translate them; of
/// other packets without identification they are added where copies are looked for ([`Segment::with_ends`]). The lowest bit
/// says whether there is an identification.
#[derive(Clone, Copy)]
pub(crate) struct Keys([u64; 4]);

/// What tells two packets between the same hosts apart, of the IP header.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) identification: u32,
    pub(crate) wire_bytes: u64,
}

impl Keys {
    /// From the first frame of a capture and its time, nanoseconds: a capture has the same copies each time it is read, and
    /// who sends packets into it does not know the keys.
    pub(crate) fn of_frame(time_ns: i64, data: &[u8]) -> Self {
        Keys([0, 1, 2, 3].map(|word: u64| {
            let mut hasher = DefaultHasher::new();
            (word, time_ns, data).hash(&mut hasher);
            hasher.finish()
        }))
    }

    /// Of a packet of TCP with `payload_bytes`; `ends` are both ends as numbers.
    #[inline(always)]
    pub(crate) fn tcp(
        &self,
        numbers: Numbers,
        header: &TcpHeader,
        payload_bytes: u64,
        ends: impl FnOnce() -> [u64; 2],
    ) -> u64 {
        let Numbers { identification, wire_bytes } = numbers;
        let sequence = u64::from(header.seq) << 32 | u64::from(header.ack);
        let rest = u64::from(identification) << 40 ^ wire_bytes << 24 ^ u64::from(header.window) << 8;
        let said = mixed(sequence ^ self.0[0], rest ^ u64::from(header.flags) ^ self.0[1]);
        let numbered = identification > NO_IDENTIFICATION || payload_bytes > 0 || header.flags & (SYN | FIN | RST) != 0;
        identified(if numbered { said } else { said ^ self.between(ends()) }, identification)
    }

    /// Of any other packet: `said` is what IP carries, without ports and checksum where they are known.
    #[inline]
    pub(crate) fn other(&self, numbers: Numbers, protocol: u8, offset: u64, said: &[u8]) -> u64 {
        let Numbers { identification, wire_bytes } = numbers;
        let padded;
        let start = match said.first_chunk::<24>() {
            Some(start) => start,
            None => {
                padded = cut(said);
                &padded
            }
        };
        let words = start.as_chunks::<8>().0;
        let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        let rest = u64::from(identification) << 40 ^ wire_bytes << 24 ^ offset << 8 ^ u64::from(protocol);
        let [one, two, three, four] = self.0;
        let said = mixed(word(0) ^ one, word(1) ^ two) ^ mixed(word(2) ^ three, rest ^ four);
        identified(said, identification)
    }

    #[inline(never)]
    fn between(&self, [source, destination]: [u64; 2]) -> u64 {
        mixed(source ^ self.0[2], destination ^ self.0[3])
    }
}

#[inline(always)]
fn identified(said: u64, identification: u32) -> u64 {
    said & !1 | u64::from(identification > NO_IDENTIFICATION)
}

/// An end as a number.
pub(crate) fn number(end: Endpoint) -> u64 {
    let address = match end.address {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            (bits as u64) ^ ((bits >> 64) as u64).rotate_left(29)
        }
    };
    address << 16 ^ u64::from(end.port)
}

impl Segment {
    /// Whether neither an identification nor anything of TCP numbers it: other packets may have the same identity.
    pub(crate) fn is_unnumbered(&self) -> bool {
        self.identity & 1 == 0 && !matches!(self.transport, Transport::Tcp(_))
    }

    /// The number of the program that asks by an echo; 0 of anything else.
    pub(crate) fn echo_number(&self) -> u16 {
        match self.transport {
            Transport::Icmp { echo, .. } => (echo.unwrap_or(0) >> 16) as u16,
            _ => 0,
        }
    }

    /// Its identity, with its ends where it is unnumbered. The identity in it is keyed.
    #[inline]
    pub(crate) fn with_ends(&self) -> u64 {
        if self.is_unnumbered() {
            let [source, destination] = [self.source, self.destination].map(number);
            let asking = u64::from(self.echo_number()) << 48;
            self.identity ^ mixed(source ^ asking ^ 0x9e37_79b9_7f4a_7c15, destination ^ 0xc2b2_ae3d_27d4_eb4f) & !1
        } else {
            self.identity
        }
    }
}

#[inline(never)]
fn cut(said: &[u8]) -> [u8; 24] {
    let mut start = [0; 24];
    for (into, byte) in start.iter_mut().zip(said) {
        *into = *byte;
    }
    start
}

#[inline]
fn mixed(one: u64, two: u64) -> u64 {
    let product = u128::from(one) * u128::from(two);
    product as u64 ^ (product >> 64) as u64
}

/// Both ends, from their numbers, in the lower bits of a place.
#[inline]
pub(crate) fn ends([source, destination]: [u64; 2]) -> u32 {
    let end = |number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - END_BITS)) as u32;
    end(source) << END_BITS | end(destination)
}

/// Where a packet was captured, but for the tap: its link header and how many hops it may go, above its [`ends`]; the lower
/// bits of the hops once more above these.
#[inline]
pub(crate) fn place(link: &[u8], hops: u8, ends: u32) -> u32 {
    if let Ok(link) = link.try_into() {
        return ethernet_place(link, hops, ends);
    }
    let (words, bytes) = link.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain(bytes.iter().map(|byte| u64::from(*byte)));
    placed(words.fold(u64::from(hops), step), hops, ends)
}

#[inline]
fn placed(sum: u64, hops: u8, ends: u32) -> u32 {
    u32::from(hops) << HOPS_FROM | ((sum >> 48) as u32) << (2 * END_BITS) | ends
}

/// Hops between two places, modulo the bits that places have for them: a packet passed the second one later.
pub(crate) fn hops_between(first: u32, second: u32) -> u32 {
    (first >> HOPS_FROM).wrapping_sub(second >> HOPS_FROM) & (u32::MAX >> HOPS_FROM)
}

/// The same of an Ethernet header without tags.
#[inline]
pub(crate) fn ethernet_place(link: &[u8; 14], hops: u8, ends: u32) -> u32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, _, _] = *link;
    let both =
        u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ u64::from(u32::from_le_bytes([i, j, k, l])).rotate_left(29);
    placed(step(u64::from(hops), both), hops, ends)
}

#[inline]
fn step(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
