//! What comes next is known some events before: the state that it will read is asked for then.

use qdisc::Packet;
use units::Direction;

use super::{Live, Sim, Transport};
use crate::event::Kind;
use crate::prefetch::{self, LINE};
use crate::tcp::Connection;
use crate::wire::handle::Handle;
use crate::wire::net::AIR;
use crate::wire::pipe::End;

/// Places for flows from which on their state does not fit the second cache (a megabyte or less): below, asking costs more
/// than waiting.
const MANY: usize = 512;
/// And from which on what is read seldom, or is small, is asked for too.
const MOST: usize = 1 << 12;
/// Events, and packets of one lane, between asking and reading; and between reading what tells of more and that.
const FAR: usize = 7;
const NEAR: usize = 3;
/// Packets of one lane: others come in between. The packet itself is asked for first.
const FARTHEST_IN_LANE: usize = 12;
const FAR_IN_LANE: usize = 4;
const NEAR_IN_LANE: usize = 1;

impl Sim<'_> {
    /// Whether there is so much state that it is worth it.
    #[inline]
    pub(super) fn foresees(&self) -> bool {
        self.live.len() > MANY
    }

    /// Whether what is read seldom, or is small, is worth it too.
    #[inline]
    fn foresees_more(&self) -> bool {
        self.live.len() > MOST
    }

    /// Asks for what the events that come next will read.
    #[inline]
    pub(super) fn look_ahead(&self) {
        if let Some(key) = self.net.events.ahead(FAR) {
            match key.kind() {
                Kind::Flight => self.net.flights.get(key.index()).into_iter().for_each(prefetch::value),
                Kind::Retransmit | Kind::Receiver => {
                    let direction =
                        if key.kind() == Kind::Retransmit { Direction::Reverse } else { Direction::Forward };
                    self.live.get(key.index()).into_iter().for_each(|live| live.ask_for(direction));
                }
                _ => {}
            }
        }
        if let Some(key) = self.net.events.ahead(NEAR) {
            match key.kind() {
                Kind::Flight => {
                    if let Some(flight) = self.net.flights.get(key.index()) {
                        self.ask_for(&flight.packet, self.net.end(flight));
                    }
                }
                Kind::Retransmit if self.foresees_more() => self.ask_for_sending(key.index(), Direction::Forward),
                Kind::Receiver if self.foresees_more() => self.ask_for_sending(key.index(), Direction::Reverse),
                _ => {}
            }
        }
        if let Some(key) = self.net.events.ahead(1)
            && key.kind() == Kind::Flight
            && let Some(flight) = self.net.flights.get(key.index())
        {
            self.ask_for_pipe(&flight.packet, self.net.end(flight));
        }
    }

    /// Asks for what the packets that come next in `lane` will read.
    #[inline]
    pub(super) fn look_ahead_in(&self, lane: usize) {
        let lane = &self.net.lanes[lane];
        lane.ahead(FARTHEST_IN_LANE).into_iter().for_each(prefetch::value);
        if let Some(packet) = lane.ahead(FAR_IN_LANE) {
            self.ask_for(packet, lane.end);
        }
        if let Some(packet) = lane.ahead(NEAR_IN_LANE) {
            self.ask_for_pipe(packet, lane.end);
        }
    }

    /// Asks for what the departure of the next packet of `port` will read, where it is easily told.
    #[inline]
    pub(super) fn look_into(&self, port: usize) {
        if let Some(packet) = self.ports[port].next_packet() {
            self.ask_for(packet, End::Port(port));
        }
    }

    /// Asks for what the arrival of `packet` at `end` will read of its flow.
    #[inline]
    fn ask_for(&self, packet: &Packet, end: End) {
        let Some(live) = self.live.get(Handle::unpack(packet.handle).slot) else { return };
        if let End::Host = end {
            live.ask_for(packet.flow.direction());
            self.net.ledger.ask_for(packet);
        } else {
            live.ask_for_head();
        }
    }

    /// Asks for what the end of the flow in `slot` that sends in `direction` needs to send.
    #[inline]
    fn ask_for_sending(&self, slot: usize, direction: Direction) {
        let Some(live) = self.live.get(slot).filter(|live| live.flow != u32::MAX) else { return };
        self.net.ledger.ask_for_row(self.net.ledger.row_of(live.flow, slot));
        let exit = live.exits[usize::from(direction == Direction::Forward)] as usize;
        if exit != AIR {
            // The pipes to and from a host are neighbours.
            self.net.pipes.get(exit ^ 1).into_iter().for_each(prefetch::value);
        }
    }

    /// Asks for the pipe that `packet`, or what answers it, will be sent into, and for what is known of its flow only now.
    #[inline]
    fn ask_for_pipe(&self, packet: &Packet, end: End) {
        let Some(live) = self.live.get(Handle::unpack(packet.handle).slot) else { return };
        if let End::Port(port) = end
            && self.foresees_more()
            && self.ports[port].queue.stats().dropped() > 0
        {
            // It may be dropped, too.
            self.net.ledger.ask_for(packet);
        }
        if let (End::Host, Transport::Tcp(connection), true) = (end, &live.transport, self.foresees_more()) {
            connection.ask_for_gaps(packet.flow.direction());
        }
        let exit = live.exit(packet);
        // The pipes to and from a host are neighbours.
        let pipe = if let End::Host = end { exit ^ 1 } else { exit };
        if exit != AIR {
            self.net.pipes.get(pipe).into_iter().for_each(prefetch::value);
        }
    }
}

impl Live<'_> {
    /// Asks for what queues and links read.
    #[inline]
    fn ask_for_head(&self) {
        prefetch::lines(std::ptr::from_ref(self).cast(), LINE);
    }

    /// Asks for what a packet of that direction, or the timer of the end that takes it, reads.
    #[inline]
    fn ask_for(&self, direction: Direction) {
        self.ask_for_head();
        // Where another transport is, this asks for the wrong part of it.
        let first = std::ptr::from_ref(self).cast::<u8>();
        for (offset, bytes) in Connection::parts(direction) {
            // The connection is behind the first line, and all of this begins with a line.
            let (from, to) = (offset / LINE * LINE, offset + bytes);
            prefetch::lines(first.wrapping_add(LINE + from), to - from);
        }
    }
}
