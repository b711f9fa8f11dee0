//! What of a captured packet counts: its ends, its lengths and its transport header.

use std::net::{IpAddr, Ipv4Addr};

use crate::decode::options::TcpOptions;

// Flags of a TCP header (RFC 9293, 3.1).
pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// IPv4 or IPv6 address.
    pub address: IpAddr,
    /// TCP or UDP port; ICMP: see [`Transport::Icmp`].
    pub port: u16,
}

/// A TCP segment, UDP datagram, ICMP message or packet of another IP protocol, without its payload.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Sender.
    pub source: Endpoint,
    /// Addressee.
    pub destination: Endpoint,
    /// Length of the IP packet on the link in bytes: of the outer one where it was found in a tunnel.
    pub wire_bytes: u64,
    /// Payload in bytes, as sent.
    pub payload_bytes: u64,
    /// What the transport header says.
    pub transport: Transport,
    /// Keyed hash of what stays the same from tap to tap; 0 when not asked for.
    pub identity: u64,
    /// Where it was captured, but for the tap, and between whom: lower bits of its hop count, hashes of its link header with
    /// that, and of both ends; 0 when not asked for.
    pub place: u32,
    /// A fragment other than the first.
    pub fragment: bool,
}

impl Segment {
    /// Where one is written into.
    pub(crate) const NONE: Segment = {
        let end = Endpoint { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), port: 0 };
        Segment {
            source: end,
            destination: end,
            wire_bytes: 0,
            payload_bytes: 0,
            transport: Transport::Udp { quic: false },
            identity: 0,
            place: 0,
            fragment: false,
        }
    };
}

/// Fields of the transport header.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    /// RFC 9293, 3.1.
    Tcp(TcpHeader),
    /// RFC 768.
    Udp {
        /// Its payload begins with a long header of QUIC.
        quic: bool,
    },
    /// RFC 792 and 4443. The port of the sender is the type, that of the addressee the type of the message this one asks
    /// for or answers (echo, timestamps, masks, solicitations), else the code.
    Icmp {
        /// It answers a message.
        reply: bool,
        /// Of an echo, the number of the program that asks; 0 of other messages.
        number: u16,
    },
    /// Of an IP protocol whose header is not read: its ports are 0.
    Other {
        /// Its number (IANA, Assigned Internet Protocol Numbers); [`FRAGMENT`] of fragments whose first one is not known.
        protocol: u8,
    },
}

/// In place of the protocol of fragments other than the first whose first one did not come before: IPv6-Frag, which is a
/// header and no protocol.
pub const FRAGMENT: u8 = 44;

/// Header of a TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct TcpHeader {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number; meaningful with the ACK flag.
    pub ack: u32,
    /// Flags, lowest bit FIN.
    pub flags: u8,
    /// Window field, not scaled.
    pub window: u16,
    /// Options, as far as they were captured.
    pub options: TcpOptions,
}
