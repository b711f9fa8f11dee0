//! From a captured frame to the TCP or UDP header.
//!
//! Link headers are walked here (Ethernet with any VLAN tags, MPLS and PPPoE; raw IP; BSD loopback;
//! Linux cooked); etherparse slices IP with lax lengths, because a capture keeps the first bytes of a
//! packet only. Lengths come from the IP header, never from what was captured. Tunnels (GRE, VXLAN,
//! GTP, IP in IP) are not entered: what loads a link is the outer packet.

use std::net::IpAddr;

use etherparse::{Ipv6ExtensionSlice, LaxIpSlice, ip_number};

use crate::{Record, Skip};

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// IPv4 or IPv6 address.
    pub address: IpAddr,
    /// TCP or UDP port.
    pub port: u16,
}

/// A TCP segment or UDP datagram, without its payload.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Sender.
    pub source: Endpoint,
    /// Addressee.
    pub destination: Endpoint,
    /// Length of the IP packet in bytes.
    pub wire_bytes: u64,
    /// Payload in bytes, as sent.
    pub payload_bytes: u64,
    /// What the transport header says.
    pub transport: Transport,
}

/// Fields of the transport header.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    /// RFC 9293, 3.1.
    Tcp {
        /// Sequence number.
        seq: u32,
        /// Acknowledgement number; meaningful with the ACK flag.
        ack: u32,
        /// Flags, lowest bit FIN.
        flags: u8,
    },
    /// RFC 768.
    Udp,
}

const VLAN_TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
/// AF_INET, and AF_INET6 of NetBSD/OpenBSD, FreeBSD, macOS and Linux.
const ADDRESS_FAMILIES: [u32; 5] = [2, 24, 28, 30, 10];

/// Decodes one frame.
///
/// # Errors
/// The reason why the frame is not in the connection table.
pub fn decode(record: &Record<'_>) -> Result<Segment, Skip> {
    let offset = ip_offset(record).map_err(|skip| cut_or(record, skip))?;
    let packet = record.data.get(offset..).unwrap_or_default();
    let wire = (record.original_bytes as usize).max(record.data.len()).saturating_sub(offset);
    segment_of(packet, wire as u64).map_err(|skip| cut_or(record, skip))
}

/// A header that the snapshot length cut off is not malformed.
fn cut_or(record: &Record<'_>, skip: Skip) -> Skip {
    let complete = record.data.len() >= record.original_bytes as usize;
    if skip == Skip::Short && complete { Skip::Malformed } else { skip }
}

fn ip_offset(record: &Record<'_>) -> Result<usize, Skip> {
    let data = record.data;
    match record.link_type {
        1 => after_ether_type(data, 12),
        12 | 14 | 101 | 228 | 229 => Ok(0),
        0 | 108 => {
            let family = u32::from(be16(data, 0)?) << 16 | u32::from(be16(data, 2)?);
            // LINKTYPE_NULL is in the byte order of the capturing machine, which no field tells.
            let known = ADDRESS_FAMILIES.contains(&family) || ADDRESS_FAMILIES.contains(&family.swap_bytes());
            if known { Ok(4) } else { Err(Skip::NotIp) }
        }
        113 => after_ether_type(data, 14),
        276 => match be16(data, 0)? {
            0x0800 | 0x86dd => Ok(20),
            tag if VLAN_TAGS.contains(&tag) => after_ether_type(data, 22),
            _ => Err(Skip::NotIp),
        },
        _ => Err(Skip::LinkType),
    }
}

/// Offset of the IP header behind the EtherType at `at`.
fn after_ether_type(data: &[u8], at: usize) -> Result<usize, Skip> {
    let mut at = at;
    loop {
        match be16(data, at)? {
            0x0800 | 0x86dd => return Ok(at + 2),
            tag if VLAN_TAGS.contains(&tag) => at += 4,
            label if MPLS.contains(&label) => return after_mpls(data, at + 2),
            PPPOE_SESSION => {
                return match be16(data, at + 8)? {
                    0x0021 | 0x0057 => Ok(at + 10),
                    _ => Err(Skip::NotIp),
                };
            }
            _ => return Err(Skip::NotIp),
        }
    }
}

/// RFC 3032: 4-byte entries, the last has the bottom-of-stack bit; IP is recognised by its version.
fn after_mpls(data: &[u8], at: usize) -> Result<usize, Skip> {
    let mut at = at;
    while be16(data, at + 2)? & 0x0100 == 0 {
        at += 4;
    }
    match data.get(at + 4).ok_or(Skip::Short)? >> 4 {
        4 | 6 => Ok(at + 4),
        _ => Err(Skip::NotIp),
    }
}

fn be16(data: &[u8], at: usize) -> Result<u16, Skip> {
    let bytes = data.get(at..at + 2).ok_or(Skip::Short)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn be32(data: &[u8], at: usize) -> Result<u32, Skip> {
    Ok(u32::from(be16(data, at)?) << 16 | u32::from(be16(data, at + 2)?))
}

fn segment_of(packet: &[u8], wire_bytes: u64) -> Result<Segment, Skip> {
    let (ip, stopped) = LaxIpSlice::from_slice(packet).map_err(|error| match error {
        etherparse::err::ip::LaxHeaderSliceError::Len(_) => Skip::Short,
        etherparse::err::ip::LaxHeaderSliceError::Content(_) => Skip::Malformed,
    })?;
    if stopped.is_some() {
        return Err(Skip::Short);
    }
    let payload = ip.payload();
    let transport_at = payload.payload.as_ptr().addr() - packet.as_ptr().addr();
    let (declared, fragment_offset, header_bytes) = match &ip {
        LaxIpSlice::Ipv4(v4) => {
            let header = v4.header();
            (u64::from(header.total_len()), header.fragments_offset().value(), header.slice().len() as u64)
        }
        LaxIpSlice::Ipv6(v6) => {
            let length = u64::from(v6.header().payload_length());
            let total = if length == 0 { 0 } else { length + 40 };
            (total, first_fragment_offset(v6.extensions()), 40)
        }
    };
    // Segmentation offload and BIG TCP leave 0 in the length field; the frame tells the length.
    let length = if declared == 0 { wire_bytes } else { declared };
    if length < header_bytes {
        return Err(Skip::Malformed);
    }
    if fragment_offset != 0 {
        return Err(Skip::Fragment);
    }
    let headers = Headers {
        transport: payload.payload,
        room: length.checked_sub(transport_at as u64),
        fragmented: payload.fragmented,
    };
    let (transport, payload_bytes) = match payload.ip_number {
        ip_number::TCP => headers.tcp()?,
        ip_number::UDP => headers.udp()?,
        _ => return Err(Skip::NotTransport),
    };
    let port = |at| be16(payload.payload, at);
    Ok(Segment {
        source: Endpoint { address: ip.source_addr(), port: port(0)? },
        destination: Endpoint { address: ip.destination_addr(), port: port(2)? },
        wire_bytes: length,
        payload_bytes,
        transport,
    })
}

fn first_fragment_offset(extensions: &etherparse::Ipv6ExtensionsSlice<'_>) -> u16 {
    if extensions.is_empty() {
        return 0;
    }
    let offset = |extension| match extension {
        Ipv6ExtensionSlice::Fragment(fragment) => Some(fragment.fragment_offset().value()),
        _ => None,
    };
    extensions.clone().into_iter().find_map(offset).unwrap_or(0)
}

struct Headers<'a> {
    transport: &'a [u8],
    /// Bytes from the transport header to the end of the IP packet.
    room: Option<u64>,
    fragmented: bool,
}

impl Headers<'_> {
    fn tcp(&self) -> Result<(Transport, u64), Skip> {
        let flags = be16(self.transport, 12)?;
        let header_bytes = u64::from(flags >> 12) * 4;
        if header_bytes < 20 {
            return Err(Skip::Malformed);
        }
        let payload = self.room.and_then(|room| room.checked_sub(header_bytes)).ok_or(Skip::Malformed)?;
        let (seq, ack) = (be32(self.transport, 4)?, be32(self.transport, 8)?);
        Ok((Transport::Tcp { seq, ack, flags: flags as u8 }, payload))
    }

    fn udp(&self) -> Result<(Transport, u64), Skip> {
        let payload = self.room.and_then(|room| room.checked_sub(8)).ok_or(Skip::Malformed)?;
        be32(self.transport, 0)?;
        // The first fragment speaks for the datagram: its other fragments carry no ports.
        let datagram = be16(self.transport, 4).map_or(0, u64::from);
        let whole = if self.fragmented && datagram >= 8 { datagram - 8 } else { payload };
        Ok((Transport::Udp, whole))
    }
}
