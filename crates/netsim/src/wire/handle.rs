//! What a packet carries for the ends: its handle, and whose it is.

use qdisc::{Ecn, Kind as PacketKind, Packet};
use units::{Direction, FlowKey, Time};

/// What a segment without sequence number means; the others carry `Plain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mark {
    /// Forward: SYN, data or FIN by sequence number. Reverse: acknowledgement.
    Plain,
    /// Forward: bare acknowledgement of the receiver's SYN or FIN. Reverse: FIN with acknowledgement.
    Close,
    /// Reverse: SYN of a receiver that opens.
    Open,
    /// Forward: without payload and with a number from before, so that the receiver tells its window.
    Probe,
}

/// A packet's handle: slot of its connection, mark, ECN flag, sequence or acknowledgement number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) slot: usize,
    pub(crate) mark: Mark,
    /// Forward: CWR. Reverse: ECE (RFC 3168, section 6.1).
    pub(crate) echo: bool,
    pub(crate) number: u32,
}

impl Handle {
    #[inline]
    pub(crate) fn pack(self) -> u64 {
        (self.slot as u64) << 35 | u64::from(self.echo) << 34 | (self.mark as u64) << 32 | u64::from(self.number)
    }

    #[inline]
    pub(crate) fn unpack(bits: u64) -> Handle {
        let mark = match bits >> 32 & 3 {
            0 => Mark::Plain,
            1 => Mark::Close,
            2 => Mark::Open,
            _ => Mark::Probe,
        };
        Handle { slot: (bits >> 35) as usize, mark, echo: bits >> 34 & 1 == 1, number: bits as u32 }
    }
}

/// Index of the flow in the list, where its state is and which hosts it joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) flow: u32,
    pub(crate) slot: u32,
    /// Host that sends the data.
    pub(crate) src: u32,
    /// Host that receives it.
    pub(crate) dst: u32,
    /// Mark of its packets.
    pub(crate) mark: u32,
}

impl Owner {
    #[inline]
    pub(crate) fn packet(self, direction: Direction, kind: PacketKind, mark: Mark, number: u32) -> Packet {
        let (src, dst) = if direction == Direction::Forward { (self.src, self.dst) } else { (self.dst, self.src) };
        Packet {
            flow: FlowKey::of(self.flow.into(), direction),
            handle: Handle { slot: self.slot as usize, mark, echo: false, number }.pack(),
            progress: 0,
            remaining: 0,
            arrival: Time::ZERO,
            len: 0,
            src,
            dst,
            options: 0,
            mark: self.mark,
            kind,
            ecn: Ecn::NotEct,
        }
    }
}

/// Bit of a packed handle that carries `echo`.
pub(crate) const ECHO: u64 = 1 << 34;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_survive_packing() {
        for mark in [Mark::Plain, Mark::Close, Mark::Open, Mark::Probe] {
            for echo in [false, true] {
                let handle = Handle { slot: 123_456_789, mark, echo, number: u32::MAX };
                assert_eq!(Handle::unpack(handle.pack()), handle);
            }
        }
    }
}
