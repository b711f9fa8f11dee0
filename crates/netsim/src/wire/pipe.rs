//! Access links: FIFO, never full, so that a packet's arrival at the far end is known when it enters.
//!
//! A link that only one flow uses has an event for each packet on it. Others that end at the same place share a [`Lane`], where packets wait for their arrival in order;
//! only the first one's is in the event queue. With equal delays they enter nearly in order already, so
//! keeping a lane sorted costs a comparison or two; where backlogs are unequal, what enters far out of order
//! waits in a heap, so that no mix of backlogs costs more than the logarithm of their number.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use qdisc::Packet;
use units::{BitRate, Time};

use crate::event::{Events, Key};

/// Where a lane ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// In the queue of a port.
    Port(usize),
    /// At a router, which passes packets on.
    Router(u32),
    /// At a host.
    Host,
    /// In a queue of the wireless cell.
    Cell,
}

/// Serialisation time per byte as a 32.32 fixed-point number of nanoseconds, so that a packet costs
/// a multiplication: off by less than 1e-5 ns for 64 kB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial(u64);

impl Serial {
    /// Of a link that takes no time.
    pub(crate) const AT_ONCE: Serial = Serial(0);

    pub(crate) fn of(rate: BitRate) -> Serial {
        let per_byte = (8_000_000_000_u128 << 32) / u128::from(rate.bps());
        Serial(u64::try_from(per_byte).unwrap_or(u64::MAX))
    }

    #[inline]
    pub(crate) fn time(self, len: u32) -> Time {
        let mut rest = Fraction::HALF;
        self.next(len, &mut rest)
    }

    /// The same after a packet that left `rest`, and what this one leaves: a row of packets without a pause takes
    /// the time of their bytes, rounded once. Rounding each of them adds up: at 28 Mb/s a packet of 1000 bytes
    /// comes 0.29 ns too early, 28 of them 8 ns, and a source with their period meets all places of a queue in turn.
    #[inline]
    pub(crate) fn next(self, len: u32, rest: &mut Fraction) -> Time {
        let exact = u128::from(self.0) * u128::from(len) + u128::from(rest.0);
        *rest = Fraction(exact as u32);
        Time((exact >> 32) as u64)
    }
}

/// Part of a nanosecond, in units of 2^-32 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction(u32);

impl Fraction {
    /// To round to the nearest nanosecond.
    pub(crate) const HALF: Fraction = Fraction(1 << 31);
}

/// An access link: what it sends with, and where to.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// The lane it ends in; of one that has no lane, another that ends at the same place.
    pub(crate) lane: usize,
    /// Its packets have events of their own and are in no lane.
    pub(crate) alone: bool,
    serial: Serial,
    delay: Time,
    free_at: Time,
    busy_since: Time,
}

impl Pipe {
    pub(crate) fn into(lane: usize, rate: BitRate, delay: Time) -> Pipe {
        Pipe { lane, alone: false, serial: Serial::of(rate), delay, free_at: Time::ZERO, busy_since: Time::ZERO }
    }

    /// One that only a flow uses, and that keeps the order: it ends where `lane` does.
    pub(crate) fn beside_lane(lane: usize, rate: BitRate, delay: Time) -> Pipe {
        Pipe { alone: true, ..Pipe::into(lane, rate, delay) }
    }

    /// Gives a pipe that nobody uses any more another delay.
    pub(crate) fn reuse(&mut self, delay: Time) {
        self.delay = delay;
    }

    /// When all that was sent so far has left.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends `len` bytes at `at`, which must not lie before the previous call's: their arrival, and
    /// since when the link has been sending without a pause.
    #[inline]
    pub(crate) fn send(&mut self, len: u32, at: Time) -> (Time, Time) {
        if at >= self.free_at {
            (self.free_at, self.busy_since) = (at, at);
        }
        self.free_at += self.serial.time(len);
        (self.free_at + self.delay, self.busy_since)
    }

    /// Arrival of a packet that takes its time beside all others.
    pub(crate) fn beside(&self, len: u32, at: Time) -> Time {
        at + self.serial.time(len) + self.delay
    }
}

/// A packet under way. The smaller one arrives first.
///
/// Of two that arrive at one instant, the one whose link began to send later comes first. In a
/// simulator with an event for the end of each transmission (ns-2) that is the order of insertion: the
/// acknowledgement that woke the idle link was scheduled a propagation delay before, the end of the busy
/// link's previous packet only its transmission time before.
#[derive(Debug)]
struct Flight {
    key: Key,
    busy_since: Time,
    packet: Packet,
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.key.time().cmp(&other.key.time());
        // The key itself grows in the order in which packets enter.
        order.then(other.busy_since.cmp(&self.busy_since)).then(self.key.cmp(&other.key))
    }
}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Flight {}

/// A flight in a heap that gives the largest first: the one that arrives first is the largest.
#[derive(Debug, PartialEq, Eq)]
struct First(Flight);

impl Ord for First {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.cmp(&self.0)
    }
}

impl PartialOrd for First {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Places from the end of a lane that are searched before a packet goes into the heap.
const NEAR: usize = 8;

/// Packets on their way to one place, by arrival.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) end: End,
    /// In order.
    flying: VecDeque<Flight>,
    /// Those that entered far out of order.
    overtaking: BinaryHeap<First>,
}

impl Lane {
    pub(crate) fn to(end: End) -> Lane {
        Lane { end, flying: VecDeque::new(), overtaking: BinaryHeap::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flying.is_empty() && self.overtaking.is_empty()
    }

    /// Packets on their way, in no order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.flying.iter().chain(self.overtaking.iter().map(|first| &first.0)).map(|flight| &flight.packet)
    }

    /// A packet that arrives soon: the next but `distance`, where none overtakes.
    #[inline]
    pub(crate) fn ahead(&self, distance: usize) -> Option<&Packet> {
        self.flying.get(distance).map(|flight| &flight.packet)
    }

    /// Key of the packet that arrives first.
    #[inline]
    fn first(&self) -> Option<Key> {
        let (front, overtaking) = (self.flying.front(), self.overtaking.peek().map(|first| &first.0));
        match (front, overtaking) {
            (Some(front), Some(overtaking)) => Some(front.min(overtaking).key),
            (front, overtaking) => front.or(overtaking).map(|flight| flight.key),
        }
    }

    /// Adds a packet that arrives at the time of `key`, an event of this lane.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, busy_since: Time, packet: Packet, events: &mut Events) {
        let flight = Flight { key, busy_since, packet };
        let nearest = self.flying.len().saturating_sub(NEAR);
        let mut place = self.flying.len();
        while place > nearest && self.flying[place - 1] > flight {
            place -= 1;
        }
        if place == self.flying.len() {
            self.flying.push_back(flight);
        } else if place > nearest || self.flying.len() <= NEAR {
            self.flying.insert(place, flight);
        } else {
            self.overtaking.push(First(flight));
        }
        if self.first() == Some(key) {
            // The event of the packet that was first stays behind and finds another in its place.
            events.push(key);
        }
    }

    /// Takes the packet of event `key`, which was popped, and schedules the next one's; `None` when the
    /// event is a stale one.
    #[inline]
    pub(crate) fn pop(&mut self, key: Key, events: &mut Events) -> Option<Packet> {
        if self.first()? != key {
            return None;
        }
        let ahead = self.flying.front().is_some_and(|front| front.key == key);
        let flight = if ahead { self.flying.pop_front()? } else { self.overtaking.pop()?.0 };
        if let Some(next) = self.first() {
            events.push(next);
        }
        Some(flight.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;

    #[test]
    fn serial_time_equals_exact_division() {
        for bps in [9_600, 1_000_000, 28_000_000, 100_000_000, 40_000_000_000] {
            let rate = BitRate::from_bps(bps).expect("non-zero");
            for len in [1, 40, 576, 1000, 1500, 65_535] {
                let (fixed, exact) = (Serial::of(rate).time(len).0, rate.transmission(len.into()).0);
                assert!(fixed.abs_diff(exact) <= 1, "{bps} {len}: {fixed} {exact}");
            }
        }
    }

    #[test]
    fn packets_without_a_pause_take_the_time_of_their_bytes() {
        let serial = Serial::of(BitRate::from_bps(28_000_000).expect("non-zero"));
        let mut rest = Fraction::HALF;
        let times: Vec<u64> = (0..28).map(|_| serial.next(1000, &mut rest).0).collect();
        assert!(times.iter().all(|&time| time == 285_714 || time == 285_715), "{times:?}");
        assert_eq!(times.iter().sum::<u64>(), 8_000_000);
        assert_eq!(serial.time(1000), Time(285_714));
    }

    #[test]
    fn a_lane_hands_out_packets_by_arrival_whatever_the_order_they_entered_in() {
        let (mut lane, mut events) = (Lane::to(End::Host), Events::default());
        let owner = crate::wire::handle::Owner { flow: 0, slot: 0, src: 0, dst: 1, mark: 0 };
        for at in [50, 20, 70, 10, 60] {
            let key = events.key(Time(at), Kind::Lane, 0);
            let mark = crate::wire::handle::Mark::Plain;
            let packet = owner.packet(units::Direction::Forward, qdisc::Kind::Data, mark, at as u32);
            lane.push(key, Time::ZERO, packet, &mut events);
        }
        let mut arrivals = Vec::new();
        while let Some(key) = events.pop() {
            arrivals.extend(lane.pop(key, &mut events).map(|packet| (key.time().0, packet.handle)));
        }
        assert_eq!(arrivals, [(10, 10), (20, 20), (50, 50), (60, 60), (70, 70)]);
    }

    #[test]
    fn a_lane_with_unequal_backlogs_hands_out_packets_in_one_order() {
        let (mut lane, mut events) = (Lane::to(End::Host), Events::default());
        let owner = crate::wire::handle::Owner { flow: 0, slot: 0, src: 0, dst: 1, mark: 0 };
        let mut entered = Vec::new();
        // Three links of which one is far behind, one catches up and one is idle, at times that often coincide.
        for step in 0..3000_u64 {
            for (arrival, since) in [(step + 900, 0), (step / 2 + 500, 1), (step, step)] {
                let key = events.key(Time(arrival), Kind::Lane, 0);
                let mark = crate::wire::handle::Mark::Plain;
                let handle = entered.len() as u32;
                let packet = owner.packet(units::Direction::Forward, qdisc::Kind::Data, mark, handle);
                lane.push(key, Time(since), packet, &mut events);
                entered.push((arrival, std::cmp::Reverse(since), handle));
            }
        }
        let mut arrivals = Vec::new();
        while let Some(key) = events.pop() {
            let number = |packet: Packet| crate::wire::handle::Handle::unpack(packet.handle).number;
            arrivals.extend(lane.pop(key, &mut events).map(number));
        }
        entered.sort();
        assert!(lane.is_empty());
        assert_eq!(arrivals, entered.iter().map(|&(_, _, handle)| handle).collect::<Vec<_>>());
    }
}
