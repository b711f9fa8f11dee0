//! One row of the connection table, and the state machine that labels it.

use crate::decode::Endpoint;

/// Transport protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Transmission control protocol.
    Tcp,
    /// User datagram protocol.
    Udp,
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
}

impl OpenerFrom {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 4] = ["syn", "syn_ack", "port", "first_packet"];
}

/// How far a connection got. The first row that applies:
///
/// | state | condition |
/// |---|---|
/// | `one_way`, `two_way` | UDP: packets in one, in both directions |
/// | `rejected` | the responder answered the SYN with RST instead of SYN-ACK |
/// | `reset` | RST before both directions sent FIN |
/// | `complete` | FIN in both directions |
/// | `half_closed` | FIN in one direction |
/// | `established` | SYN-ACK, then anything but SYN from the opener |
/// | `half_open` | SYN or SYN-ACK only |
/// | `midstream` | neither SYN nor SYN-ACK captured |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN without completed handshake.
    HalfOpen,
    /// SYN refused with RST.
    Rejected,
    /// Handshake completed, not closed.
    Established,
    /// FIN in one direction.
    HalfClosed,
    /// FIN in both directions.
    Complete,
    /// Ended by RST.
    Reset,
    /// Begun before the capture, not closed.
    Midstream,
    /// UDP in one direction.
    OneWay,
    /// UDP in both directions.
    TwoWay,
}

impl State {
    /// Names, in the order of the variants.
    pub const NAMES: [&'static str; 9] =
        ["half_open", "rejected", "established", "half_closed", "complete", "reset", "midstream", "one_way", "two_way"];
}

/// One direction of a connection; times in nanoseconds since the first packet of the capture.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Packets.
    pub packets: u64,
    /// Sum of IP packet lengths in bytes.
    pub wire_bytes: u64,
    /// Payload in bytes, retransmissions included, TCP keep-alive probes not.
    pub payload_bytes: u64,
    /// Payload in bytes, each sequence number once; UDP: all of it.
    pub distinct_bytes: u64,
    /// Sequence numbers between the first and the highest that were never captured.
    pub missing_bytes: u64,
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
}

/// One TCP connection or UDP flow; times in nanoseconds since the first packet of the capture,
/// negative where the file is out of order.
#[derive(Clone, Debug)]
pub struct Connection {
    /// TCP or UDP.
    pub protocol: Protocol,
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
    /// How far it got.
    pub state: State,
    /// Traffic sent by the opener.
    pub from_opener: Side,
    /// Traffic sent by the responder.
    pub from_responder: Side,
}
