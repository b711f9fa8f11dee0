//! What a host sees of the network: the clock, its timers and its access pipe.

use std::collections::VecDeque;

use qdisc::Packet;
use units::Time;

use crate::event::{Events, Key, Kind};
use crate::options::Options;
use crate::out::accounting::Ledger;
use crate::out::pcap::Tape;
use crate::out::trace::Trace;
use crate::slab::Slab;
use crate::tcp::accurate::Hosts;
use crate::wire::pipe::{End, Lane, Pipe};

/// Clock, pending events, access pipes and the lanes they end in.
#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) events: Events,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) lanes: Vec<Lane>,
    /// Packets in links without a lane.
    pub(crate) flights: Slab<Flight>,
    pub(crate) hops: u64,
    pub(crate) ledger: Ledger,
    /// What stations of a wireless cell have sent, on its way to their queues.
    pub(crate) outbox: VecDeque<Packet>,
    /// Options of the segments under way that have any.
    pub(crate) options: Options,
    /// Arrival time of each data segment in order, and of the FIN, when asked for.
    pub(crate) deliveries: Option<Vec<Time>>,
    pub(crate) trace: Trace,
    pub(crate) tape: Option<Box<Tape>>,
    /// What hosts of accurate ECN know of each connection.
    pub(crate) hosts: Hosts,
}

/// A packet in a link without a lane.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) packet: Packet,
    /// A lane that ends where the link does; [`LANDED`] when the place is free.
    lane: u32,
}

const LANDED: u32 = u32::MAX;

/// In place of an access pipe: the host is a station of the wireless cell.
pub(crate) const AIR: usize = u32::MAX as usize;

impl Net {
    /// A host sends `packet` into its access pipe `pipe` now.
    #[inline]
    pub(crate) fn send(&mut self, pipe: usize, packet: Packet) {
        self.ledger.sent(&packet);
        self.trace.sent(&packet, self.now);
        if let Some(tape) = &mut self.tape {
            tape.sent(&packet, self.options.contents(packet.options), self.now);
        }
        if pipe == AIR {
            self.outbox.push_back(packet);
        } else {
            self.pass(pipe, packet);
        }
    }

    /// When all that was sent into access pipe `pipe` so far has left; at once in a wireless cell, whose queues take it.
    #[inline]
    pub(crate) fn leaves(&self, pipe: usize) -> Time {
        if pipe == AIR { self.now } else { self.pipes[pipe].free_at() }
    }

    /// Whether pipe `pipe`, which no other shares, may be given to another flow: nothing that is still in it holds up, or
    /// comes after, what is sent into it from now on.
    pub(crate) fn is_idle(&self, pipe: usize) -> bool {
        let pipe = &self.pipes[pipe];
        if pipe.alone { pipe.free_at() <= self.now } else { self.lanes[pipe.lane].is_empty() }
    }

    /// A router passes `packet` on into access pipe `pipe` now.
    #[inline]
    pub(crate) fn pass(&mut self, pipe: usize, packet: Packet) {
        self.hops += 1;
        self.enter(pipe, packet, self.now);
    }

    /// Takes a packet whose flow is over out of the network.
    #[cold]
    pub(crate) fn discard(&mut self, packet: &Packet) {
        self.ledger.late(packet);
        self.options.release(packet.options);
    }

    /// The packet whose arrival is event `key`.
    #[inline]
    pub(crate) fn arrive(&mut self, key: Key) -> Option<Packet> {
        self.lanes[key.index()].pop(key, &mut self.events)
    }

    /// The packet whose arrival is the event with index `index`, and where it is.
    #[inline]
    pub(crate) fn land(&mut self, index: usize) -> (Packet, End) {
        let flight = self.flights.at(index);
        let lane = std::mem::replace(&mut flight.lane, LANDED);
        let packet = flight.packet;
        self.flights.release(index);
        (packet, self.lanes[lane as usize].end)
    }

    /// Where `flight` ends.
    #[inline]
    pub(crate) fn end(&self, flight: &Flight) -> End {
        self.lanes.get(flight.lane as usize).map_or(End::Host, |lane| lane.end)
    }

    /// Packets on links, in no order.
    pub(crate) fn on_links(&self) -> impl Iterator<Item = &Packet> {
        let alone = self.flights.iter().filter(|flight| flight.lane != LANDED).map(|flight| &flight.packet);
        self.lanes.iter().flat_map(Lane::packets).chain(alone)
    }

    #[inline]
    fn enter(&mut self, pipe: usize, packet: Packet, at: Time) {
        let pipe = &mut self.pipes[pipe];
        let (arrival, busy_since) = pipe.send(packet.len, at);
        if pipe.alone {
            let lane = pipe.lane as u32;
            let slot = self.flights.claim(|| Flight { packet, lane });
            *self.flights.at(slot) = Flight { packet, lane };
            return self.events.schedule(arrival, Kind::Flight, slot);
        }
        let key = self.events.key(arrival, Kind::Lane, pipe.lane);
        self.lanes[pipe.lane].push(key, busy_since, packet, &mut self.events);
    }

    /// Passes a packet that leaves a port on to the pipe behind it, which no one else feeds.
    #[inline]
    pub(crate) fn forward(&mut self, pipe: usize, packet: Packet, at: Time) {
        self.hops += 2;
        self.enter(pipe, packet, at);
    }

    /// As [`Net::forward`], of a packet that neither waits for those before it nor holds up those behind it.
    pub(crate) fn forward_late(&mut self, pipe: usize, packet: Packet, at: Time) {
        self.hops += 2;
        let pipe = &self.pipes[pipe];
        let key = self.events.key(pipe.beside(packet.len, at), Kind::Lane, pipe.lane);
        self.lanes[pipe.lane].push(key, at, packet, &mut self.events);
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
