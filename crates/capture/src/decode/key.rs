//! What tells one connection from another: its two ends and its protocol, the same whichever end sends.

use crate::connections::connection::Protocol;
use crate::decode::segment::{Endpoint, Segment, Transport};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) ends: [Endpoint; 2],
    pub(crate) protocol: Protocol,
}

impl Key {
    /// The key of a segment, and which end of it sent it.
    pub(crate) fn of(segment: &Segment) -> (Self, usize) {
        let protocol = match segment.transport {
            Transport::Tcp(_) => Protocol::Tcp,
            Transport::Udp => Protocol::Udp,
            Transport::Icmp { .. } => Protocol::Icmp,
        };
        let swapped = segment.source > segment.destination;
        let mut ends = [segment.source, segment.destination];
        if swapped {
            ends.swap(0, 1);
        }
        (Key { ends, protocol }, usize::from(swapped))
    }
}
