//! What a host sees of the network: the clock, its timers and its access pipe.

use std::collections::VecDeque;

use qdisc::{Ecn, Kind as PacketKind, Packet};
use units::{Direction, FlowKey, Time};

use crate::event::{Events, Key, Kind};
use crate::options::Options;
use crate::pipe::{Lane, Pipe};
use crate::recording::Tape;
use crate::trace::Trace;

/// Clock, pending events, access pipes and the lanes they end in.
#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) events: Events,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) hops: u64,
    /// What stations of a wireless cell have sent, on its way to their queues.
    pub(crate) outbox: VecDeque<Packet>,
    /// Options of the segments under way that have any.
    pub(crate) options: Options,
    /// Arrival time of each data segment in order, and of the FIN, when asked for.
    pub(crate) deliveries: Option<Vec<Time>>,
    pub(crate) trace: Trace,
    pub(crate) tape: Option<Box<Tape>>,
}

/// In place of an access pipe: the host is a station of the wireless cell.
pub(crate) const AIR: usize = u32::MAX as usize;

impl Net {
    /// A host sends `packet` into its access pipe `pipe` now.
    #[inline]
    pub(crate) fn send(&mut self, pipe: usize, packet: Packet) {
        self.trace.sent(&packet, self.now);
        if let Some(tape) = &mut self.tape {
            tape.sent(&packet, self.options.of(packet.options).map(|options| &*options), self.now);
        }
        if pipe == AIR {
            self.outbox.push_back(packet);
        } else {
            self.pass(pipe, packet);
        }
    }

    /// A router passes `packet` on into access pipe `pipe` now.
    #[inline]
    pub(crate) fn pass(&mut self, pipe: usize, packet: Packet) {
        self.hops += 1;
        self.enter(pipe, packet, self.now);
    }

    /// The packet whose arrival is event `key`.
    #[inline]
    pub(crate) fn arrive(&mut self, key: Key) -> Option<Packet> {
        self.lanes[key.index()].pop(key, &mut self.events)
    }

    #[inline]
    fn enter(&mut self, pipe: usize, packet: Packet, at: Time) {
        let pipe = &mut self.pipes[pipe];
        let (arrival, busy_since) = pipe.send(packet.len, at);
        let key = self.events.key(arrival, Kind::Lane, pipe.lane);
        self.lanes[pipe.lane].push(key, busy_since, packet, &mut self.events);
    }

    /// Passes a packet that leaves a port on to the pipe behind it, which no one else feeds.
    #[inline]
    pub(crate) fn forward(&mut self, pipe: usize, packet: Packet, at: Time) {
        self.hops += 2;
        self.enter(pipe, packet, at);
    }

    /// Passes a packet that leaves a port on to the router at the end of `lane`.
    #[inline]
    pub(crate) fn relay(&mut self, lane: usize, packet: Packet, at: Time) {
        self.hops += 1;
        let key = self.events.key(at, Kind::Lane, lane);
        // One port feeds the lane, in order.
        self.lanes[lane].push(key, Time::ZERO, packet, &mut self.events);
    }
}

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
            _ => Mark::Open,
        };
        Handle { slot: (bits >> 35) as usize, mark, echo: bits >> 34 & 1 == 1, number: bits as u32 }
    }
}

/// Index of the flow in the list, where its state is and which hosts it joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) flow: u32,
    pub(crate) slot: usize,
    /// Host that sends the data.
    pub(crate) src: u32,
    /// Host that receives it.
    pub(crate) dst: u32,
}

impl Owner {
    #[inline]
    pub(crate) fn packet(self, direction: Direction, kind: PacketKind, mark: Mark, number: u32) -> Packet {
        let (src, dst) = if direction == Direction::Forward { (self.src, self.dst) } else { (self.dst, self.src) };
        Packet {
            flow: FlowKey::of(self.flow.into(), direction),
            handle: Handle { slot: self.slot, mark, echo: false, number }.pack(),
            progress: 0,
            remaining: 0,
            arrival: Time::ZERO,
            len: 0,
            src,
            dst,
            options: 0,
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
        for mark in [Mark::Plain, Mark::Close, Mark::Open] {
            for echo in [false, true] {
                let handle = Handle { slot: 123_456_789, mark, echo, number: u32::MAX };
                assert_eq!(Handle::unpack(handle.pack()), handle);
            }
        }
    }
}
