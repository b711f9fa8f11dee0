use units::{FlowKey, Time};

/// What a packet carries, as far as a discipline may tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// TCP segment that occupies sequence numbers: payload, SYN or FIN.
    Data,
    /// TCP segment that only acknowledges.
    Ack,
    /// Datagram: no sequence or acknowledgement number.
    Udp,
}

/// ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotEct,
    /// ECN-capable transport, ECT(0).
    Ect0,
    /// ECN-capable transport, ECT(1): of a scalable sender (RFC 9331, section 4.1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// Descriptor of one packet: what a router could read from its headers, and `remaining`, which
/// only a simulator can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Interned 5-tuple, with the direction in its lowest bit.
    pub flow: FlowKey,
    /// Opaque to the discipline; the owner of the queue finds the packet again by it.
    pub handle: u64,
    /// TCP data: bytes of the flow before this segment (sequence number minus the initial one).
    /// TCP ACK: bytes acknowledged (acknowledgement number minus the initial one). UDP: 0.
    pub progress: u64,
    /// Payload of the transfer that was not yet acknowledged (TCP) or not yet sent (UDP) when this
    /// packet left its sender, bytes: only for clairvoyant disciplines.
    pub remaining: u64,
    /// When the packet was handed to the queue; set by [`Qdisc::enqueue`](crate::Qdisc::enqueue).
    pub arrival: Time,
    /// Length on the wire, bytes.
    pub len: u32,
    /// Source host: the source address, interned.
    pub src: u32,
    /// Destination host: the destination address, interned.
    pub dst: u32,
    /// Opaque to the discipline, as `handle`: where the owner of the queue keeps the options of the segment; 0 for
    /// none.
    pub options: u32,
    /// What somebody on the path wrote on the packet, as the mark of a firewall (`fwmark`); 0 without one.
    pub mark: u32,
    /// What the packet carries.
    pub kind: Kind,
    /// ECN field.
    pub ecn: Ecn,
}

impl Packet {
    /// Whether the transport understands ECN, so that the packet may be marked instead of dropped.
    #[inline]
    pub fn is_ect(&self) -> bool {
        self.ecn != Ecn::NotEct
    }
}
