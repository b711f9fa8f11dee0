//! Ports of fragmented packets: the first fragment is remembered for those that follow it.
//!
//! Cost: one look-up per fragment. At most [`HELD_MAX`] packets are remembered, each for [`KEPT_NS`].

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::net::IpAddr;

use hashbrown::HashMap;

use crate::decode::segment::{Segment, Transport};

const HELD_MAX: usize = 4096;
/// Time to reassemble a packet, as Linux has it (`net.ipv4.ipfrag_time`); RFC 1122, 3.3.2 wants 60 to 120 s, IPv6 60 s.
const KEPT_NS: u64 = 60_000_000_000;

const CONTROL: u8 = 0x07;

/// Which packet a fragment is of (RFC 791, 3.2; RFC 8200, 4.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Packet {
    pub(crate) addresses: [IpAddr; 2],
    pub(crate) protocol: u8,
    pub(crate) identification: u32,
}

struct First {
    segment: Segment,
    /// Length of the transport header in bytes.
    header_bytes: u64,
    time_ns: i64,
}

/// First fragments of late.
pub(crate) struct Fragments {
    held: HashMap<Packet, First, RandomState>,
    order: VecDeque<Packet>,
}

impl Fragments {
    pub(crate) fn new() -> Self {
        Fragments { held: HashMap::with_hasher(RandomState::new()), order: VecDeque::new() }
    }

    /// Remembers the first fragment of `packet`.
    pub(crate) fn begin(&mut self, packet: Packet, segment: Segment, header_bytes: u64, time_ns: i64) {
        if self.held.insert(packet, First { segment, header_bytes, time_ns }).is_some() {
            return;
        }
        self.order.push_back(packet);
        if self.order.len() > HELD_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.held.remove(&oldest);
        }
    }

    /// A later fragment as a segment of its own: `offset` bytes into the IP payload, `room` bytes long. The payload of a
    /// datagram is all in the first one.
    pub(crate) fn rest(
        &self,
        packet: Packet,
        offset: u64,
        room: u64,
        wire_bytes: u64,
        time_ns: i64,
    ) -> Option<Segment> {
        let first = self.held.get(&packet).filter(|first| first.time_ns.abs_diff(time_ns) <= KEPT_NS)?;
        let mut segment = first.segment;
        segment.wire_bytes = wire_bytes;
        segment.payload_bytes = 0;
        if let Transport::Tcp(header) = &mut segment.transport {
            segment.payload_bytes = room;
            header.seq = header.seq.wrapping_add(offset.saturating_sub(first.header_bytes) as u32);
            header.flags &= !CONTROL;
        }
        Some(segment)
    }
}
