//! From a captured frame to the transport header.
//!
//! etherparse slices IP with lax lengths, because a capture keeps the first bytes of a packet only. Lengths come from
//! the IP header, never from what was captured. Tunnels are entered on request: what loads a link is the outer packet,
//! who talks to whom is inside. Of protocols whose header is not read addresses and lengths count.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use account::Amount;
use etherparse::{IpNumber, Ipv6ExtensionSlice, LaxIpSlice, ip_number};

use crate::decode::fragments::{Fragments, Packet};
use crate::decode::identity::{Keys, Numbers, ends, ethernet_place, number, place};
use crate::decode::link::{be16, be32, ip_offset, vlan_bytes};
use crate::decode::options::TcpOptions;
use crate::decode::quic::Datagram;
use crate::decode::segment::{Endpoint, FRAGMENT, Segment, TcpHeader, Transport};
use crate::decode::skip::Skip;
use crate::decode::tunnel::{self, Tunnel};
use crate::read::reader::Record;

/// Bytes of a link header that tell one place from another, at most.
const MOST_LINK_BYTES: usize = 64;

/// Bytes of the transport header that tell two packets apart.
const IDENTITY_BYTES: usize = 40;

/// Longest frame that programs leave which cut packets to their headers, bytes.
const LONGEST_CUT: usize = 1000;

/// Header of Ethernet without tags, bytes.
const ETHERNET: u64 = 14;

/// LINKTYPE_ETHERNET.
const ETHERNET_LINK: i32 = 1;

/// Longest packet in a frame of Ethernet that is no jumbo, bytes.
const ETHERNET_MTU: u64 = 1500;

/// With what packets are identified.
#[derive(Clone)]
pub(crate) enum Identities {
    /// They are not: of frames alone.
    None,
    /// For packets at several taps.
    Taps(RandomState),
    /// For copies at any place, with keys of the first frame that a decoder of the same captures meets.
    FirstFrame(Arc<OnceLock<Keys>>),
    /// For copies at any place.
    Places(Keys),
}

/// Decodes the frames of one capture.
pub struct Decoder {
    tunnels: bool,
    identities: Identities,
    fragments: Fragments,
    entered: Entered,
    /// Bytes of the longest frame that held all of its IP packet: frames were not cut to fewer.
    longest_whole: usize,
    /// Bytes of the longest frame when the latest was cut, at least a full one of Ethernet: packets up to here were on the link.
    longest_frame: u64,
    /// Length of the IP packet of the latest frame, the outer one of a tunnel; of the frame where there is none to believe.
    wire_bytes: u64,
    /// Packets by the bytes that the VLAN tags of their frames take.
    framed: BTreeMap<usize, u64>,
}

/// What was found where tunnels are looked into.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entered {
    /// Packets inside, by kind of tunnel.
    by_kind: [u64; Tunnel::NAMES.len()],
    /// TCP packets inside and outside of tunnels, and bytes around those inside.
    pub(crate) tcp: Amount,
}

#[derive(Debug, PartialEq)]
struct Ip<'a> {
    addresses: [IpAddr; 2],
    protocol: u8,
    /// Time to live, or hop limit.
    hops: u8,
    identification: u32,
    /// Bytes of the IP payload before this fragment.
    fragment_offset: u64,
    more_fragments: bool,
    wire_bytes: u64,
    /// Bytes from the transport header to the end of the IP packet.
    room: u64,
    payload: &'a [u8],
}

impl Decoder {
    /// `tunnels`: what is inside counts, not the outer packet. `identities`: keys of [`Segment::identity`].
    pub fn with(tunnels: bool, identities: Option<RandomState>) -> Self {
        Decoder::identifying(tunnels, identities.map_or(Identities::None, Identities::Taps))
    }

    pub(crate) fn identifying(tunnels: bool, identities: Identities) -> Self {
        Decoder {
            tunnels,
            identities,
            fragments: Fragments::new(),
            entered: Default::default(),
            longest_whole: 0,
            longest_frame: ETHERNET + ETHERNET_MTU,
            wire_bytes: 0,
            framed: BTreeMap::new(),
        }
    }

    /// Packets of Ethernet by the bytes that their VLAN tags take.
    pub(crate) fn framed(&self) -> &BTreeMap<usize, u64> {
        &self.framed
    }

    /// What was found inside tunnels so far; for [`Decoder::forget`], too.
    pub(crate) fn entered_so_far(&self) -> Entered {
        self.entered
    }

    /// Counts the latest frame, which was `decoded` or not, as if it had not been there; `before` it, so many were entered.
    pub(crate) fn forget(&mut self, record: &Record<'_>, decoded: bool, before: Entered) {
        self.entered = before;
        let tags = if decoded && record.link_type == ETHERNET_LINK { vlan_bytes(record.data) } else { 0 };
        if let Some(count) = self.framed.get_mut(&tags) {
            *count -= 1;
            if *count == 0 {
                self.framed.remove(&tags);
            }
        }
    }

    /// Packets found inside a tunnel of this kind; each level of nesting counts.
    pub fn entered(&self, tunnel: Tunnel) -> u64 {
        self.entered.by_kind[tunnel as usize]
    }

    /// Length of the IP packet of the latest frame, bytes: of the outer one where it is a tunnel, and of the whole frame where
    /// there is none that can be believed.
    #[inline]
    pub(crate) fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// Decodes one frame.
    ///
    /// # Errors
    /// The reason why the frame is not in the connection table.
    pub fn decode(&mut self, record: &Record<'_>) -> Result<Segment, Skip> {
        let mut segment = Segment::NONE;
        self.decode_into(record, &mut segment).map(|()| segment)
    }

    /// The same into a segment that is there: what is read as soon as it was written is not to be copied on the way, which
    /// a processor waits for.
    #[inline]
    pub(crate) fn decode_into(&mut self, record: &Record<'_>, segment: &mut Segment) -> Result<(), Skip> {
        if let Identities::Places(keys) = &self.identities
            && !self.tunnels
            && plain_into(record, segment, keys).is_some()
        {
            let fits = self.fits(record, ETHERNET + segment.wire_bytes);
            self.wire_bytes = if fits.is_ok() { segment.wire_bytes } else { frame_bytes(record) };
            return fits;
        }
        *segment = self.any_frame(record)?;
        Ok(())
    }

    /// Whether the frame can hold an IP packet that ends `bytes` from its start.
    ///
    /// # Errors
    /// The frame was not cut, and its IP packet would be longer: its length field is damaged. Some programs cut packets and
    /// record what is left as the length of the frame; so a frame counts as not cut only if the snapshot length would have
    /// let in more, and if a longer frame of this file held its packet, or one as long that is longer than any cut. A packet
    /// that is no longer than a frame of this file was, or than a full frame of Ethernet, may have been cut alone.
    #[inline]
    fn fits(&mut self, record: &Record<'_>, bytes: u64) -> Result<(), Skip> {
        let captured = record.data.len();
        if bytes <= captured as u64 {
            self.longest_whole = self.longest_whole.max(captured);
            return Ok(());
        }
        let longest = self.longest_whole;
        self.longest_frame = self.longest_frame.max(u64::from(record.original_bytes)).max(longest as u64);
        let uncut = captured < longest || captured == longest && captured > LONGEST_CUT;
        let whole = record.below_snap && captured >= record.original_bytes as usize && uncut;
        if whole && bytes > self.longest_frame { Err(Skip::Malformed) } else { Ok(()) }
    }

    #[inline(never)]
    fn any_frame(&mut self, record: &Record<'_>) -> Result<Segment, Skip> {
        if let Identities::FirstFrame(keys) = &self.identities {
            self.identities = Identities::Places(*keys.get_or_init(|| Keys::of_frame(record.time_ns, record.data)));
        }
        self.wire_bytes = frame_bytes(record);
        let offset = ip_offset(record).map_err(|skip| cut_or(record, skip))?;
        let packet = record.data.get(offset..).unwrap_or_default();
        let wire = (record.original_bytes as usize).max(record.data.len()).saturating_sub(offset) as u64;
        let ip = Ip::of(packet, wire).map_err(|skip| cut_or(record, skip))?;
        self.fits(record, offset as u64 + ip.wire_bytes)?;
        self.wire_bytes = ip.wire_bytes;
        let mut segment = self.packet(&ip, record.time_ns, 0).map_err(|skip| cut_or(record, skip))?;
        if self.tunnels && matches!(segment.transport, Transport::Tcp(_)) {
            let around = ip.wire_bytes.saturating_sub(segment.wire_bytes);
            self.entered.tcp = self.entered.tcp.and(Amount::one(around));
        }
        // Headers around a tunnel pass the link, too.
        segment.wire_bytes = ip.wire_bytes;
        if record.link_type == ETHERNET_LINK {
            let tags = vlan_bytes(record.data);
            if tags > 0 {
                *self.framed.entry(tags).or_default() += 1;
            }
        }
        if let Identities::Places(_) = &self.identities {
            let link = record.data.get(..offset.min(MOST_LINK_BYTES)).unwrap_or_default();
            let ends = ends([segment.source, segment.destination].map(number));
            segment.place = place(link, segment.place as u8, ends);
        }
        Ok(segment)
    }

    fn packet(&mut self, ip: &Ip<'_>, time_ns: i64, depth: usize) -> Result<Segment, Skip> {
        // A datagram to the port of a tunnel that is none is a datagram, and what cannot be looked into is load.
        if self.tunnels
            && depth < tunnel::DEPTH_MAX
            && ip.fragment_offset == 0
            && let Some(Ok(inner)) = self.inner(ip, time_ns, depth)
        {
            return Ok(inner);
        }
        if !is_decoded(ip.protocol) {
            // Its fragments are no more than it is.
            return Ok(self.other(ip, ip.protocol));
        }
        let id = Packet { addresses: ip.addresses, protocol: ip.protocol, identification: ip.identification };
        if ip.fragment_offset > 0 {
            let rest = self.fragments.rest(id, ip.fragment_offset, ip.room, ip.wire_bytes, time_ns);
            let Some(mut segment) = rest else { return Ok(self.other(ip, FRAGMENT)) };
            (segment.identity, segment.place) = (self.identity(ip, &segment), self.hops(ip));
            segment.fragment = true;
            return Ok(segment);
        }
        let (mut segment, header_bytes) = ip.segment()?;
        if ip.more_fragments {
            self.fragments.begin(id, segment, header_bytes, time_ns);
        }
        (segment.identity, segment.place) = (self.identity(ip, &segment), self.hops(ip));
        Ok(segment)
    }

    /// A packet whose transport header is not read, or not there.
    fn other(&self, ip: &Ip<'_>, protocol: u8) -> Segment {
        let [source, destination] = ip.addresses.map(|address| Endpoint { address, port: 0 });
        let (wire_bytes, payload_bytes) = (ip.wire_bytes, ip.room);
        let transport = Transport::Other { protocol };
        let mut segment = Segment { source, destination, wire_bytes, payload_bytes, transport, ..Segment::NONE };
        (segment.identity, segment.place) = (self.identity(ip, &segment), self.hops(ip));
        segment
    }

    fn inner(&mut self, ip: &Ip<'_>, time_ns: i64, depth: usize) -> Option<Result<Segment, Skip>> {
        let (kind, offset) = tunnel::inside(ip.protocol, ip.payload)?;
        let inner = offset.and_then(|offset| {
            let packet = ip.payload.get(offset..).ok_or(Skip::Short)?;
            self.packet(&Ip::of(packet, ip.room.saturating_sub(offset as u64))?, time_ns, depth + 1)
        });
        self.entered.by_kind[kind as usize] += u64::from(inner.is_ok());
        Some(inner)
    }

    /// What [`Decoder::any_frame`] makes a place of.
    fn hops(&self, ip: &Ip<'_>) -> u32 {
        if matches!(self.identities, Identities::Places(_)) { u32::from(ip.hops) } else { 0 }
    }

    /// TTL, type of service and checksums change on the way or are filled in by the network card.
    fn identity(&self, ip: &Ip<'_>, segment: &Segment) -> u64 {
        let keys = match &self.identities {
            Identities::None | Identities::FirstFrame(_) => return 0,
            Identities::Taps(keys) => keys,
            Identities::Places(keys) => return ip.identity(keys, segment),
        };
        let mut start = [0; IDENTITY_BYTES];
        let held = ip.payload.len().min(ip.room as usize).min(IDENTITY_BYTES);
        start[..held].copy_from_slice(&ip.payload[..held]);
        if ip.fragment_offset == 0 {
            match ip.protocol {
                6 => start[16..18].fill(0),
                17 => start[6..8].fill(0),
                _ => {}
            }
        }
        keys.hash_one((ip.addresses, ip.protocol, ip.identification, ip.fragment_offset, ip.wire_bytes, start))
    }
}

/// What nearly all frames are: Ethernet, IPv4 as [`Ip::plain`] has it, a whole header of TCP or UDP; None for everything
/// else. [`Decoder::any_frame`] says the same of them, more slowly.
#[inline]
fn plain_into(record: &Record<'_>, segment: &mut Segment, keys: &Keys) -> Option<()> {
    let (ethernet, packet) = record.data.split_first_chunk::<14>()?;
    let header = packet.first_chunk::<20>()?;
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (total, protocol) = (usize::from(half(2)), header[9]);
    let plain = record.link_type == 1 && ethernet[12..] == [0x08, 0x00] && header[0] == 0x45 && half(6) & 0x3fff == 0;
    let payload = packet.get(20..packet.len().min(total))?;
    if !plain {
        return None;
    }
    let (ports, header_bytes) = match protocol {
        6 => {
            let fixed = payload.first_chunk::<20>()?;
            let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
            let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
            let header_bytes = usize::from(fixed[12] >> 4) * 4;
            let options = TcpOptions::parse(payload.get(20..header_bytes.min(payload.len()))?);
            let (seq, ack, flags, window) = (word(4), word(8), fixed[13], half(14));
            segment.transport = Transport::Tcp(TcpHeader { seq, ack, flags, window, options });
            ([half(0), half(2)], header_bytes)
        }
        17 => {
            let fixed = payload.first_chunk::<4>()?;
            segment.transport = Transport::Udp(Datagram::of(payload.get(8..)?, (total as u64).saturating_sub(28)));
            ([u16::from_be_bytes([fixed[0], fixed[1]]), u16::from_be_bytes([fixed[2], fixed[3]])], 8)
        }
        _ => return None,
    };
    let payload_bytes = (total - 20).checked_sub(header_bytes)?;
    let address = |at: usize| IpAddr::from([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    segment.source = Endpoint { address: address(12), port: ports[0] };
    segment.destination = Endpoint { address: address(16), port: ports[1] };
    (segment.wire_bytes, segment.payload_bytes) = (total as u64, payload_bytes as u64);
    segment.fragment = false;
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let both = [u64::from(word(12)) << 16 | u64::from(ports[0]), u64::from(word(16)) << 16 | u64::from(ports[1])];
    let numbers = Numbers { identification: u32::from(half(4)), wire_bytes: total as u64 };
    segment.identity = match &segment.transport {
        Transport::Tcp(header) => keys.tcp(numbers, header, payload_bytes as u64, || both),
        _ => keys.other(numbers, protocol, 0, payload.get(8..)?),
    };
    segment.place = ethernet_place(ethernet, header[8], ends(both));
    Some(())
}

/// Bytes of a frame on the wire.
fn frame_bytes(record: &Record<'_>) -> u64 {
    (record.original_bytes as u64).max(record.data.len() as u64)
}

/// A header that the snapshot length cut off is not malformed.
fn cut_or(record: &Record<'_>, skip: Skip) -> Skip {
    let complete = record.data.len() >= record.original_bytes as usize;
    if skip == Skip::Short && complete { Skip::Malformed } else { skip }
}

impl<'a> Ip<'a> {
    #[inline]
    fn of(packet: &'a [u8], wire_bytes: u64) -> Result<Self, Skip> {
        Ip::plain(packet).map_or_else(|| Ip::parse(packet, wire_bytes), Ok)
    }

    /// What nearly all packets are: IPv4 with a header of 20 bytes, no fragment, the whole header captured and a length
    /// that holds it; None for everything else. [`Ip::parse`] says the same of them, more slowly.
    #[inline]
    fn plain(packet: &'a [u8]) -> Option<Self> {
        let header = packet.first_chunk::<20>()?;
        let total = u16::from_be_bytes([header[2], header[3]]);
        let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
        // An authentication header would be walked over.
        let plain = header[0] == 0x45 && fragment == 0 && matches!(header[9], 6 | 17) && total >= 20;
        plain.then(|| Ip {
            addresses: [12, 16].map(|at| IpAddr::from([header[at], header[at + 1], header[at + 2], header[at + 3]])),
            protocol: header[9],
            hops: header[8],
            identification: u32::from(u16::from_be_bytes([header[4], header[5]])),
            fragment_offset: 0,
            more_fragments: false,
            wire_bytes: u64::from(total),
            room: u64::from(total) - 20,
            payload: &packet[20..packet.len().min(usize::from(total))],
        })
    }

    fn parse(packet: &'a [u8], wire_bytes: u64) -> Result<Self, Skip> {
        let (ip, stopped) = LaxIpSlice::from_slice(packet).map_err(|error| match error {
            etherparse::err::ip::LaxHeaderSliceError::Len(_) => Skip::Short,
            etherparse::err::ip::LaxHeaderSliceError::Content(_) => Skip::Malformed,
        })?;
        if stopped.is_some() {
            return Err(Skip::Short);
        }
        let payload = ip.payload();
        let transport_at = payload.payload.as_ptr().addr() - packet.as_ptr().addr();
        let (declared, header_bytes, hops, (units, more, identification)) = match &ip {
            LaxIpSlice::Ipv4(v4) => {
                let header = v4.header();
                let fragment =
                    (header.fragments_offset().value(), header.more_fragments(), header.identification().into());
                (u64::from(header.total_len()), header.slice().len() as u64, header.ttl(), fragment)
            }
            LaxIpSlice::Ipv6(v6) => {
                let length = u64::from(v6.header().payload_length());
                let declared = if length == 0 { 0 } else { length + 40 };
                (declared, 40, v6.header().hop_limit(), fragment_of(v6.extensions()))
            }
        };
        // Segmentation offload and BIG TCP leave 0 in the length field; the frame tells the length.
        let wire_bytes = if declared == 0 { wire_bytes } else { declared };
        let room = wire_bytes.checked_sub(transport_at as u64);
        if wire_bytes < header_bytes || (units == 0 && room.is_none()) {
            return Err(Skip::Malformed);
        }
        Ok(Ip {
            addresses: [ip.source_addr(), ip.destination_addr()],
            protocol: payload.ip_number.0,
            hops,
            identification,
            fragment_offset: u64::from(units) * 8,
            more_fragments: more,
            wire_bytes,
            room: room.unwrap_or(0),
            payload: payload.payload,
        })
    }

    /// With `keys`, of the segment that it holds.
    fn identity(&self, keys: &Keys, segment: &Segment) -> u64 {
        let Ip { identification, wire_bytes, fragment_offset, protocol, .. } = *self;
        let numbers = Numbers { identification, wire_bytes };
        let ends = || [segment.source, segment.destination].map(number);
        let whole = fragment_offset == 0;
        match &segment.transport {
            Transport::Tcp(header) if whole => keys.tcp(numbers, header, segment.payload_bytes, ends),
            _ => {
                let said = &self.payload[..self.payload.len().min(self.room as usize)];
                if whole && let Some(echo) = echo_said(protocol, said) {
                    return keys.other(numbers, protocol, 0, &echo);
                }
                let ports = if whole && protocol == ip_number::UDP.0 { 8 } else { 0 };
                keys.other(numbers, protocol, fragment_offset, said.get(ports..).unwrap_or_default())
            }
        }
    }

    /// The segment, and the length of its transport header.
    fn segment(&self) -> Result<(Segment, u64), Skip> {
        let (transport, ports, header_bytes) = match IpNumber::from(self.protocol) {
            ip_number::TCP => self.tcp()?,
            ip_number::UDP => {
                be32(self.payload, 0)?;
                let said = self.payload.get(8..).unwrap_or_default();
                let datagram = Datagram::of(said, self.room.saturating_sub(8));
                (Transport::Udp(datagram), [be16(self.payload, 0)?, be16(self.payload, 2)?], 8)
            }
            ip_number::ICMP => self.icmp(ICMP_PAIRS)?,
            ip_number::IPV6_ICMP => self.icmp(ICMPV6_PAIRS)?,
            _ => return Err(Skip::Malformed),
        };
        let payload = self.room.checked_sub(header_bytes).ok_or(Skip::Malformed)?;
        // The first fragment speaks for the whole datagram, also where others were not captured.
        let first = matches!(transport, Transport::Udp(_)) && self.more_fragments;
        let datagram = if first { be16(self.payload, 4).map_or(0, u64::from) } else { 0 };
        let payload_bytes = if datagram >= 8 { datagram - 8 } else { payload };
        let [source, destination] = [0, 1].map(|index| Endpoint { address: self.addresses[index], port: ports[index] });
        let wire_bytes = self.wire_bytes;
        let segment = Segment { source, destination, wire_bytes, payload_bytes, transport, ..Segment::NONE };
        Ok((segment, header_bytes))
    }

    fn tcp(&self) -> Result<(Transport, [u16; 2], u64), Skip> {
        let header = self.payload;
        if let Some(fixed) = header.first_chunk::<20>() {
            return self.whole_tcp(fixed);
        }
        let flags = be16(header, 12)?;
        let header_bytes = usize::from(flags >> 12) * 4;
        if header_bytes < 20 {
            return Err(Skip::Malformed);
        }
        let options = header.get(20..header_bytes.min(header.len())).unwrap_or_default();
        let tcp = TcpHeader {
            seq: be32(header, 4)?,
            ack: be32(header, 8)?,
            flags: flags as u8,
            // A snapshot may end behind the flags; then the window counts as open.
            window: be16(header, 14).unwrap_or(u16::MAX),
            options: TcpOptions::parse(options),
        };
        Ok((Transport::Tcp(tcp), [be16(header, 0)?, be16(header, 2)?], header_bytes as u64))
    }

    /// The same of a header whose fixed part was captured.
    #[inline]
    fn whole_tcp(&self, fixed: &[u8; 20]) -> Result<(Transport, [u16; 2], u64), Skip> {
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let header_bytes = usize::from(fixed[12] >> 4) * 4;
        if header_bytes < 20 {
            return Err(Skip::Malformed);
        }
        let options = &self.payload[20..header_bytes.min(self.payload.len())];
        let (seq, ack, window) = (word(4), word(8), half(14));
        let tcp = TcpHeader { seq, ack, flags: fixed[13], window, options: TcpOptions::parse(options) };
        Ok((Transport::Tcp(tcp), [half(0), half(2)], header_bytes as u64))
    }

    fn icmp(&self, pairs: &[(u8, u8)]) -> Result<(Transport, [u16; 2], u64), Skip> {
        let [kind, code] = be16(self.payload, 0)?.to_be_bytes();
        let answered = pairs.iter().find(|(_, reply)| *reply == kind).map(|(request, _)| *request);
        let asked = pairs.iter().find(|(request, _)| *request == kind).map(|(_, reply)| *reply);
        let ports = [u16::from(kind), u16::from(answered.or(asked).unwrap_or(code))];
        let echo = is_echo(self.protocol, kind).then(|| be32(self.payload, 4).ok()).flatten();
        Ok((Transport::Icmp { reply: answered.is_some(), echo }, ports, 8.min(self.room)))
    }
}

/// Whether the transport header of an IP protocol is read.
fn is_decoded(protocol: u8) -> bool {
    matches!(IpNumber::from(protocol), ip_number::TCP | ip_number::UDP | ip_number::ICMP | ip_number::IPV6_ICMP)
}

/// Whether a message of this type is an echo of ICMP or a reply to one.
fn is_echo(protocol: u8, kind: u8) -> bool {
    match IpNumber::from(protocol) {
        ip_number::ICMP => matches!(kind, 8 | 0),
        ip_number::IPV6_ICMP => matches!(kind, 128 | 129),
        _ => false,
    }
}

/// What an echo of ICMP says, or its reply, to its first bytes, without the checksum and the number of the asking program: routers
/// that translate addresses give it another (RFC 5508, 3.1).
fn echo_said(protocol: u8, said: &[u8]) -> Option<[u8; 24]> {
    let kind = said.first().filter(|&&kind| is_echo(protocol, kind))?;
    let [_, code, _, _, _, _, rest @ ..] = said else { return None };
    let mut found = [0; 24];
    (found[0], found[1]) = (*kind, *code);
    for (into, byte) in found[2..].iter_mut().zip(rest) {
        *into = *byte;
    }
    Some(found)
}

/// Type of a request and of its reply: echo, router discovery, timestamp, information, address mask.
const ICMP_PAIRS: &[(u8, u8)] = &[(8, 0), (10, 9), (13, 14), (15, 16), (17, 18)];
/// Echo, listener query and report, router and neighbour solicitation, node information.
const ICMPV6_PAIRS: &[(u8, u8)] = &[(128, 129), (130, 131), (133, 134), (135, 136), (139, 140)];

fn fragment_of(extensions: &etherparse::Ipv6ExtensionsSlice<'_>) -> (u16, bool, u32) {
    if extensions.is_empty() {
        return (0, false, 0);
    }
    let fragment = |extension| match extension {
        Ipv6ExtensionSlice::Fragment(header) => {
            Some((header.fragment_offset().value(), header.more_fragments(), header.identification()))
        }
        _ => None,
    };
    extensions.clone().into_iter().find_map(fragment).unwrap_or((0, false, 0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// The short way and the long one agree on every packet that the short one takes.
        #[test]
        fn a_plain_header_is_read_as_any_other(
            mut packet in proptest::collection::vec(any::<u8>(), 0..80),
            total in 0..100_u16,
            fragment in prop_oneof![Just(0_u16), Just(0x4000), Just(0x8000), any::<u16>()],
            protocol in prop_oneof![Just(6_u8), Just(17), Just(51), any::<u8>()],
            first in prop_oneof![Just(0x45_u8), Just(0x46), any::<u8>()],
        ) {
            if packet.len() >= 20 {
                packet[0] = first;
                packet[2..4].copy_from_slice(&total.to_be_bytes());
                packet[6..8].copy_from_slice(&fragment.to_be_bytes());
                packet[9] = protocol;
            }
            if let Some(plain) = Ip::plain(&packet) {
                prop_assert_eq!(Ok(plain), Ip::parse(&packet, packet.len() as u64));
            }
        }

        /// So do both ways to read a frame, whatever its captured part ends in.
        #[test]
        fn a_plain_frame_is_read_as_any_other(
            mut data in proptest::collection::vec(any::<u8>(), 0..120),
            total in 0..120_u16,
            fragment in prop_oneof![4 => Just(0_u16), 4 => Just(0x4000), 1 => any::<u16>()],
            protocol in prop_oneof![3 => Just(6_u8), 3 => Just(17), 1 => any::<u8>()],
            first in prop_oneof![6 => Just(0x45_u8), 1 => any::<u8>()],
            kind in prop_oneof![6 => Just([0x08_u8, 0x00]), 1 => Just([0x86, 0xdd]), 1 => any::<[u8; 2]>()],
            link_type in prop_oneof![6 => Just(1_i32), 1 => Just(101), 1 => Just(113)],
            offset in prop_oneof![Just(0x50_u8), Just(0x80), any::<u8>()],
            plain_options in any::<bool>(),
        ) {
            if data.len() >= 66 {
                data[12..14].copy_from_slice(&kind);
                data[14] = first;
                data[16..18].copy_from_slice(&total.to_be_bytes());
                data[20..22].copy_from_slice(&fragment.to_be_bytes());
                data[23] = protocol;
                data[46] = offset;
                if plain_options {
                    data[54..58].copy_from_slice(&[1, 1, 8, 10]);
                }
            }
            let original_bytes = data.len() as u32;
            let record =
                Record { link_type, interface: 0, time_ns: 0, original_bytes, below_snap: true, data: &data };
            let mut found = Segment::NONE;
            let keys = Keys::of_frame(1, &data);
            if plain_into(&record, &mut found, &keys).is_some() {
                let expected = Decoder::identifying(false, Identities::Places(keys)).any_frame(&record);
                prop_assert_eq!(format!("{:?}", Ok::<_, Skip>(found)), format!("{expected:?}"));
            }
        }

        /// And both ways to read a TCP header, of which one needs its fixed part whole.
        #[test]
        fn a_whole_tcp_header_is_read_as_a_cut_one(payload in proptest::collection::vec(any::<u8>(), 20..64)) {
            let addresses = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
            let ip = |payload| Ip {
                addresses,
                protocol: 6,
                hops: 64,
                identification: 0,
                fragment_offset: 0,
                more_fragments: false,
                wire_bytes: 100,
                room: 80,
                payload,
            };
            let (whole, cut) = (ip(&payload[..]).tcp(), ip(&payload[..19]).tcp());
            prop_assert_eq!(whole.is_err(), cut.is_err());
            if let (Ok((Transport::Tcp(one), ports, bytes)), Ok((Transport::Tcp(two), others, length))) = (whole, cut) {
                prop_assert_eq!((ports, bytes), (others, length));
                prop_assert_eq!((one.seq, one.ack, one.flags, one.window), (two.seq, two.ack, two.flags, two.window));
                let options = &payload[20..(bytes as usize).min(payload.len())];
                prop_assert_eq!(one.options, TcpOptions::parse(options));
            }
        }
    }
}
