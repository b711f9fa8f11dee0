//! One row of the connection table.

pub use crate::connections::quic::Quic;
use crate::connections::rtt::Samples;
pub use crate::connections::state::{State, ZeekState};
use crate::decode::segment::Endpoint;

/// Protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Transmission control protocol.
    Tcp,
    /// User datagram protocol.
    Udp,
    /// Internet control message protocol, of IPv4 or IPv6.
    Icmp,
    /// Another one, such as ESP, GRE or SCTP: all packets of it between two addresses.
    Other,
}

impl Protocol {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 4] = ["tcp", "udp", "icmp", "other"];
}

/// How the opener of a connection is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenerFrom {
    /// It sent a SYN.
    Syn,
    /// It was sent a SYN-ACK.
    SynAck,
    /// TCP without handshake: the lower port is taken for the server's.
    Port,
    /// It sent the first packet captured.
    FirstPacket,
    /// Both ends sent a SYN, it the first one (RFC 9293, 3.5).
    Simultaneous,
    /// ICMP: it was sent a reply.
    Reply,
}

impl OpenerFrom {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 6] = ["syn", "syn_ack", "port", "first_packet", "simultaneous", "reply"];
}

/// One direction of a connection; times in nanoseconds since the first packet of the capture.
///
/// A *data packet* has payload; a super-segment of segmentation or receive offload counts as the packets of the path's
/// largest segment that it holds.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Packets as captured.
    pub packets: u64,
    /// Sum of IP packet lengths in bytes.
    pub wire_bytes: u64,
    /// Payload in bytes, retransmissions included, TCP keep-alive probes not.
    pub payload_bytes: u64,
    /// Payload in bytes, each sequence number once; QUIC: of packets that bring data, without their headers, as far as their
    /// lengths tell; other UDP: all of it.
    pub distinct_bytes: u64,
    /// Sequence numbers between the first and the highest that were never captured.
    pub missing_bytes: u64,
    /// Sequence numbers that the other end acknowledged and that were never captured: lost by the tap.
    pub unseen_bytes: u64,
    /// Payload of segments that had passed the tap before.
    pub retransmitted_bytes: u64,
    /// Data packets, every copy.
    pub data_packets: u64,
    /// Data packets with bytes that had not passed the tap before.
    pub distinct_packets: u64,
    /// Captured packets longer than the path's largest segment.
    pub super_segments: u32,
    /// Captured packets that only acknowledge.
    pub acks: u32,
    /// Keep-alive probes.
    pub keep_alives: u32,
    /// Captured packets that announce a window of 0.
    pub zero_windows: u32,
    /// Data packets with bytes that had passed the tap before: lost behind it, or sent again for nothing.
    pub retransmits: u32,
    /// Of these, those whose bytes had all been acknowledged when they passed again.
    pub spurious: u32,
    /// Data packets that filled a gap no sooner than their sender can know of a loss: lost before the tap.
    pub lost_before: u32,
    /// Data packets that filled a gap sooner: overtaken.
    pub reordered: u32,
    /// Earliest packet.
    pub first_ns: Option<i64>,
    /// Latest packet.
    pub last_ns: Option<i64>,
    /// Earliest packet with payload.
    pub first_data_ns: Option<i64>,
    /// Latest packet with payload.
    pub last_data_ns: Option<i64>,
    /// A FIN was sent.
    pub fin: bool,
    /// An RST was sent.
    pub rst: bool,
    /// Data of this side passing the tap to its acknowledgement passing back: the path between the tap and the other end.
    pub data_ack: Samples,
    /// The same from the timestamp option (RFC 7323).
    pub timestamp: Samples,
    /// Trains, see [`Train`](crate::Train).
    pub trains: u32,
    /// Sum of the warm-ups of the side.
    pub warm_up_ns: i64,
    /// Time of the data phase within its trains.
    pub transfer_ns: i64,
    /// What an ideal transfer of its distinct data packets takes; None while no round-trip time is known.
    pub theoretical_ns: Option<i64>,
}

impl Side {
    /// Time in its trains beyond the ideal transfer; negative where the ideal is slower.
    pub fn pacing_ns(&self) -> Option<i64> {
        self.theoretical_ns.map(|ideal| self.transfer_ns.saturating_sub(ideal))
    }
}

impl Connection {
    /// Whether its ends wait for each other, so that its trains are requests and answers: TCP and QUIC.
    pub fn has_trains(&self) -> bool {
        self.protocol == Protocol::Tcp || self.quic.is()
    }
}

/// Times of a three-way handshake of which no part was repeated, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeTimes {
    /// SYN to SYN-ACK: between the tap and the responder, and back.
    pub to_responder_ns: i64,
    /// SYN-ACK to its ACK: between the tap and the opener, and back.
    pub to_opener_ns: i64,
}

/// One TCP connection, UDP flow, exchange of ICMP messages or of packets of another IP protocol; times in nanoseconds since the first packet of the
/// capture, negative where the file is out of order.
#[derive(Clone, Debug)]
pub struct Connection {
    /// TCP, UDP, ICMP or another one.
    pub protocol: Protocol,
    /// Its number (IANA, Assigned Internet Protocol Numbers); [`FRAGMENT`](crate::FRAGMENT) of fragments without ports.
    pub ip_protocol: u8,
    /// Who opened it.
    pub opener: Endpoint,
    /// The other end.
    pub responder: Endpoint,
    /// How the opener is known.
    pub opener_from: OpenerFrom,
    /// Earliest packet.
    pub start_ns: i64,
    /// Latest packet.
    pub end_ns: i64,
    /// Round-trip time of the handshake, SYN to the ACK of the SYN-ACK; known only when none of the
    /// three was repeated.
    pub rtt_ns: Option<i64>,
    /// The two parts of `rtt_ns`.
    pub handshake: Option<HandshakeTimes>,
    /// How far it got.
    pub state: State,
    /// The same in Zeek's terms.
    pub zeek_state: ZeekState,
    /// Bit `n`: seen at tap `n` of [`Counts::taps`](crate::Counts); the last bit stands for all taps from there on.
    pub taps: u64,
    /// UDP: whether it is QUIC, and how that is known.
    pub quic: Quic,
    /// Largest payload of a packet on the path, in bytes: from both ends' options; of QUIC the longest datagram, at least 1200.
    pub mss_bytes: Option<u16>,
    /// First packet to first data packet; None when the beginning was not captured, or without data.
    pub setup_ns: Option<i64>,
    /// First to last data packet; None without data.
    pub data_ns: Option<i64>,
    /// Last data packet to last packet; None when neither FIN nor RST was captured, or without data.
    pub teardown_ns: Option<i64>,
    /// Traffic sent by the opener.
    pub from_opener: Side,
    /// Traffic sent by the responder.
    pub from_responder: Side,
}
