//! Trace of chosen flows: one row per packet of the sender of the data, or of both ends, with its way through the
//! network, and the expiries of the retransmission timer.
//!
//! Cost: a branch per packet and hop while nothing is traced. A traced packet is found again among
//! those of its flow that are under way, the oldest first: links keep the order, and in a queue the
//! instant of arrival tells copies of one segment apart.

use std::collections::VecDeque;

use qdisc::{Ecn, Kind, Packet};
use tables::record;
use units::{Direction, Time};

use crate::wire::handle::Handle;

record! {
    /// Way of one packet; `Time::NEVER` for what did not happen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PacketTrace in "packets" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// TCP: number of the segment, 0 for the SYN, data from 1, then the FIN; a number that comes again is a
        /// retransmission. UDP: datagrams sent before.
        pub number: u32 => "number";
        /// Length on the wire.
        pub len: u32 => "wire_bytes", "bytes";
        /// Whether the receiver of the flow sent it: an acknowledgement, or an answer of a script. In the trace of both ways
        /// only ([`run_both_ways`](crate::run_both_ways)).
        pub back: bool;
        /// Whether it only acknowledges; its number is then one of its own.
        pub ack: bool;
        /// When it was handed to the access link of its sender.
        pub sent: Time => "sent_s", "s";
        /// Arrival at the queue; over several queues, at the first.
        pub queued: Time => "queued_s", "s";
        /// Start of transmission on the bottleneck; over several queues, out of the last one it left.
        pub departed: Time => "departed_s", "s";
        /// Arrival at the receiver.
        pub received: Time => "received_s", "s";
        /// When a queue dropped it, or the link behind the queue lost it (`departed_s` is then the same). A packet
        /// neither received nor dropped was on its way at the end of the flow or of the run.
        pub dropped: Time => "dropped_s", "s";
        /// Whether a queue on its way marked it in place of a drop (ECN, CE).
        pub marked: bool => "marked";
    }
}

record! {
    /// An expiry of the retransmission timer of a traced flow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Timeout in "timeouts" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// When.
        pub time: Time => "time_s", "s";
    }
}

/// What tells the packets that one end of a flow sends from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    number: u32,
    /// Acknowledgements have numbers of their own.
    ack: bool,
}

/// A row that may still change.
#[derive(Clone, Copy, Debug)]
struct Open {
    row: usize,
    name: Name,
    /// Queue it is in, or was in last; `usize::MAX` before the first.
    port: usize,
    /// When it came there.
    arrival: Time,
    waits: bool,
}

const NO_PORT: usize = usize::MAX;
const UNTRACED: u32 = u32::MAX;

/// The traced flows and what was seen of them.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Place in `under_way` by flow, of what its sender sends, and one behind it of what its receiver does; empty when
    /// nothing is traced.
    place: Vec<u32>,
    /// Whether acknowledgements and answers are traced too.
    pub(crate) both_ways: bool,
    under_way: Vec<VecDeque<Open>>,
    limit: usize,
    pub(crate) packets: Vec<PacketTrace>,
    pub(crate) timeouts: Vec<Timeout>,
    /// Packets of traced flows sent after the limit was reached.
    pub(crate) beyond_limit: u64,
}

impl Trace {
    /// Traces `chosen` out of `flows` flows, at most `limit` packets.
    pub(crate) fn of(chosen: &[u32], flows: usize, limit: u64) -> Trace {
        if chosen.is_empty() {
            return Trace::default();
        }
        let mut trace = Trace { place: vec![UNTRACED; flows], limit: limit as usize, ..Trace::default() };
        for &flow in chosen {
            if trace.place[flow as usize] == UNTRACED {
                trace.place[flow as usize] = trace.under_way.len() as u32;
                trace.under_way.extend([VecDeque::new(), VecDeque::new()]);
            }
        }
        trace
    }

    #[inline]
    fn is_on(&self) -> bool {
        !self.place.is_empty()
    }

    /// What tells a packet that is traced, and its place in `under_way`.
    fn traced(&self, packet: &Packet) -> Option<(Name, usize)> {
        if !self.is_on() {
            return None;
        }
        let (back, ack) = (packet.flow.direction() == Direction::Reverse, packet.kind == Kind::Ack);
        if (back || ack) && !self.both_ways {
            return None;
        }
        let place = self.place[packet.flow.connection() as usize];
        let name = Name { number: Handle::unpack(packet.handle).number, ack };
        (place != UNTRACED).then(|| (name, place as usize + usize::from(back)))
    }

    #[inline]
    pub(crate) fn sent(&mut self, packet: &Packet, now: Time) {
        if self.is_on() {
            self.note_sent(packet, now);
        }
    }

    #[cold]
    fn note_sent(&mut self, packet: &Packet, now: Time) {
        let Some((name, place)) = self.traced(packet) else { return };
        if self.packets.len() >= self.limit {
            self.beyond_limit += 1;
            return;
        }
        let row = self.packets.len();
        let never = Time::NEVER;
        self.packets.push(PacketTrace {
            flow: packet.flow.connection() as u32,
            number: name.number,
            len: packet.len,
            back: packet.flow.direction() == Direction::Reverse,
            ack: name.ack,
            sent: now,
            queued: never,
            departed: never,
            received: never,
            dropped: never,
            marked: false,
        });
        self.under_way[place].push_back(Open { row, name, port: NO_PORT, arrival: never, waits: false });
    }

    /// The packet arrives at the queue of `port`, which may drop it at once.
    #[inline]
    pub(crate) fn queued(&mut self, packet: &Packet, port: usize, now: Time) {
        if self.is_on() {
            self.note_queued(packet, port, now);
        }
    }

    #[cold]
    fn note_queued(&mut self, packet: &Packet, port: usize, now: Time) {
        let Some((name, place)) = self.traced(packet) else { return };
        let came = |open: &&mut Open| open.name == name && !open.waits && open.port != port;
        if let Some(open) = self.under_way[place].iter_mut().find(came) {
            (open.port, open.arrival, open.waits) = (port, now, true);
            let row = &mut self.packets[open.row];
            row.queued = row.queued.min(now);
        }
    }

    /// The packet leaves the queue of `port`.
    #[inline]
    pub(crate) fn departed(&mut self, packet: &Packet, port: usize, now: Time) {
        if self.is_on() {
            self.note_departed(packet, port, now);
        }
    }

    #[cold]
    fn note_departed(&mut self, packet: &Packet, port: usize, now: Time) {
        let Some((name, place)) = self.traced(packet) else { return };
        let left = |open: &&mut Open| open.waits && waiting(open, name, port, packet.arrival);
        if let Some(open) = self.under_way[place].iter_mut().find(left) {
            open.waits = false;
            let row = &mut self.packets[open.row];
            row.departed = now;
            row.marked |= packet.ecn == Ecn::Ce;
        }
    }

    /// The packet is dropped by the queue of `port`.
    #[inline]
    pub(crate) fn dropped(&mut self, packet: &Packet, port: usize, now: Time) {
        let Some((name, place)) = self.traced(packet) else { return };
        let gone = |open: &Open| open.waits && waiting(open, name, port, packet.arrival);
        if let Some(row) = self.close(place, gone) {
            self.packets[row].dropped = now;
        }
    }

    /// The packet is lost on the link behind the queue that it has just left.
    pub(crate) fn lost(&mut self, packet: &Packet, now: Time) {
        let Some((name, place)) = self.traced(packet) else { return };
        let gone = |open: &Open| open.name == name && !open.waits && open.arrival == packet.arrival;
        if let Some(row) = self.close(place, gone) {
            self.packets[row].dropped = now;
        }
    }

    /// The packet reaches the receiver.
    #[inline]
    pub(crate) fn received(&mut self, packet: &Packet, now: Time) {
        if self.is_on() {
            self.note_received(packet, now);
        }
    }

    #[cold]
    fn note_received(&mut self, packet: &Packet, now: Time) {
        let Some((name, place)) = self.traced(packet) else { return };
        let came = |open: &Open| open.name == name && !open.waits && open.port != NO_PORT;
        if let Some(row) = self.close(place, came) {
            self.packets[row].received = now;
        }
    }

    /// The retransmission timer of `flow` expires.
    pub(crate) fn timed_out(&mut self, flow: u32, now: Time) {
        if self.place.get(flow as usize).is_some_and(|&place| place != UNTRACED) && self.timeouts.len() < self.limit {
            self.timeouts.push(Timeout { flow, time: now });
        }
    }

    /// Takes the oldest of those under way that fits.
    fn close(&mut self, place: usize, fits: impl Fn(&Open) -> bool) -> Option<usize> {
        let position = self.under_way[place].iter().position(fits)?;
        self.under_way[place].remove(position).map(|open| open.row)
    }
}

fn waiting(open: &Open, name: Name, port: usize, arrival: Time) -> bool {
    open.name == name && open.port == port && open.arrival == arrival
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::handle::{Mark, Owner};

    fn segment(number: u32, arrival: u64) -> Packet {
        let owner = Owner { flow: 1, slot: 0, src: 0, dst: 1, mark: 0 };
        let mut packet = owner.packet(Direction::Forward, Kind::Data, Mark::Plain, number);
        packet.arrival = Time(arrival);
        packet
    }

    #[test]
    fn copies_of_a_segment_in_one_queue_are_told_apart_by_their_arrival() {
        let mut trace = Trace::of(&[1], 2, 10);
        for at in [0, 5] {
            trace.sent(&segment(7, 0), Time(at));
            trace.queued(&segment(7, 0), 0, Time(at + 2));
        }
        // The second copy is pushed out, the first one arrives.
        trace.dropped(&segment(7, 7), 0, Time(8));
        trace.departed(&segment(7, 2), 0, Time(9));
        trace.received(&segment(7, 2), Time(12));
        let ends: Vec<_> = trace.packets.iter().map(|row| (row.departed, row.received, row.dropped)).collect();
        let never = Time::NEVER;
        assert_eq!(ends, [(Time(9), Time(12), never), (never, never, Time(8))]);
        assert!(trace.under_way[0].is_empty());
    }

    #[test]
    fn a_packet_keeps_its_first_arrival_and_its_last_departure_over_two_queues() {
        let mut trace = Trace::of(&[1], 2, 10);
        trace.sent(&segment(1, 0), Time(1));
        trace.queued(&segment(1, 0), 0, Time(2));
        trace.departed(&segment(1, 2), 0, Time(3));
        trace.queued(&segment(1, 2), 1, Time(4));
        trace.departed(&segment(1, 4), 1, Time(6));
        trace.received(&segment(1, 4), Time(7));
        let row = trace.packets[0];
        assert_eq!((row.sent, row.queued, row.departed, row.received), (Time(1), Time(2), Time(6), Time(7)));
    }

    #[test]
    fn a_packet_that_leaves_a_queue_with_a_mark_is_marked() {
        let mut trace = Trace::of(&[1], 2, 10);
        for number in [1, 2] {
            trace.sent(&segment(number, 0), Time(1));
            trace.queued(&segment(number, 0), 0, Time(2));
        }
        trace.departed(&segment(1, 2), 0, Time(3));
        trace.departed(&Packet { ecn: Ecn::Ce, ..segment(2, 2) }, 0, Time(4));
        assert_eq!(trace.packets.iter().map(|row| row.marked).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn beyond_the_limit_packets_are_counted_only() {
        let mut trace = Trace::of(&[1], 2, 1);
        trace.sent(&segment(1, 0), Time(1));
        trace.sent(&segment(2, 0), Time(2));
        trace.received(&segment(2, 0), Time(3));
        assert_eq!((trace.packets.len(), trace.beyond_limit), (1, 1));
        assert_eq!(trace.packets[0].received, Time::NEVER);
    }

    #[test]
    fn both_ways_tell_data_answers_and_acknowledgements_of_one_number_apart() {
        let mut trace = Trace::of(&[0, 1], 2, 10);
        trace.both_ways = true;
        let back = |kind| {
            let owner = Owner { flow: 1, slot: 0, src: 0, dst: 1, mark: 0 };
            owner.packet(Direction::Reverse, kind, Mark::Plain, 7)
        };
        for (packet, at) in [(segment(7, 0), 1), (back(Kind::Ack), 2), (back(Kind::Data), 3)] {
            trace.sent(&packet, Time(at));
            trace.queued(&packet, 0, Time(at + 10));
        }
        let mut answer = back(Kind::Data);
        answer.arrival = Time(13);
        trace.departed(&answer, 0, Time(20));
        trace.received(&answer, Time(30));
        let rows: Vec<_> = trace.packets.iter().map(|row| (row.back, row.departed, row.received)).collect();
        let never = Time::NEVER;
        assert_eq!(rows, [(false, never, never), (true, never, never), (true, Time(20), Time(30))]);
    }

    #[test]
    fn other_flows_and_acknowledgements_leave_no_trace() {
        let mut trace = Trace::of(&[0], 2, 10);
        trace.sent(&segment(1, 0), Time(1));
        trace.timed_out(1, Time(2));
        assert!(trace.packets.is_empty() && trace.timeouts.is_empty());
        let mut ack = segment(1, 0);
        ack.kind = Kind::Ack;
        let mut trace = Trace::of(&[1], 2, 10);
        trace.sent(&ack, Time(1));
        trace.timed_out(1, Time(2));
        assert!(trace.packets.is_empty());
        assert_eq!(trace.timeouts, [Timeout { flow: 1, time: Time(2) }]);
    }
}
