//! Steady traffic for benches: packets come and go, the backlog stays what it is.

pub mod clock;
pub mod naive;

use naive::BTreeLas;
use qdisc::{Ecn, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

/// Transmission of 1500 bytes at 1 Gb/s: 300 packets wait 3.6 ms, below the targets of CoDel (5 ms) and
/// PIE (15 ms), so that queue management watches a queue without emptying it.
pub const TRANSMISSION: Time = Time(12_000);

/// Arrivals tried per departure, for queue management that drops some of them.
const TRIES: u32 = 4;

/// Packets of flows drawn uniformly from a fixed stream.
pub struct Source {
    flows: Vec<u16>,
    sent: usize,
    count: u64,
}

impl Source {
    /// A source of `flows` flows.
    pub fn of(flows: u16) -> Source {
        let mut stream = Stream::named(1, "bench");
        let drawn = (0..1 << 16).map(|_| (stream.uniform() * f64::from(flows)) as u16).collect();
        Source { flows: drawn, sent: 0, count: u64::from(flows) }
    }

    /// The next packet, of 1500 bytes: half of the flows are TCP data and half of these understand ECN, for
    /// disciplines that tell them apart; 20 flows per source, and 100 destinations.
    #[inline]
    pub fn packet(&mut self) -> Packet {
        let flow = self.flows[self.sent % self.flows.len()];
        self.sent += 1;
        Packet {
            flow: FlowKey(u64::from(flow) << 1),
            handle: self.sent as u64,
            progress: self.sent as u64 / self.count * 1448,
            remaining: 1_000_000,
            arrival: Time::ZERO,
            len: 1500,
            src: u32::from(flow / 20),
            dst: u32::from(flow % 100),
            options: 0,
            mark: 0,
            kind: if flow.is_multiple_of(2) { Kind::Data } else { Kind::Udp },
            ecn: if flow.is_multiple_of(4) { Ecn::Ect0 } else { Ecn::NotEct },
        }
    }
}

/// What is measured: a discipline, or the tree it is compared with.
pub trait Queue {
    /// Takes a packet at time `now`.
    fn put(&mut self, packet: Packet, now: Time);
    /// Hands out the next packet at time `now`.
    fn take(&mut self, now: Time) -> Option<Packet>;
    /// Packets waiting.
    fn waiting(&self) -> u64;
    /// Flows in the table, and bytes held for them; of the tree this is not known.
    fn table(&self) -> Option<(usize, usize)>;
}

impl Queue for Qdisc {
    #[inline]
    fn put(&mut self, packet: Packet, now: Time) {
        self.enqueue(packet, now);
    }

    #[inline]
    fn take(&mut self, now: Time) -> Option<Packet> {
        self.dequeue(now)
    }

    #[inline]
    fn waiting(&self) -> u64 {
        self.backlog()
    }

    fn table(&self) -> Option<(usize, usize)> {
        Some((self.flow_table_len(), self.flow_table_bytes()))
    }
}

impl Queue for BTreeLas {
    #[inline]
    fn put(&mut self, packet: Packet, _: Time) {
        self.enqueue(packet);
    }

    #[inline]
    fn take(&mut self, _: Time) -> Option<Packet> {
        self.dequeue()
    }

    #[inline]
    fn waiting(&self) -> u64 {
        self.backlog()
    }

    fn table(&self) -> Option<(usize, usize)> {
        None
    }
}

/// A queue with a steady backlog.
pub struct Steady<Q> {
    queue: Q,
    source: Source,
    now: Time,
    backlog: u64,
}

/// Discipline `id` with its defaults, in a buffer four times as long as the `backlog` it is to hold: one
/// that queue management which goes by the length of the buffer does not empty.
pub fn discipline(id: &str, backlog: u32) -> Qdisc {
    Qdisc::from_options(id, &[], Limit::Packets(4 * backlog), Stream::named(1, id)).expect("defaults")
}

impl<Q: Queue> Steady<Q> {
    /// `queue` with `backlog` packets of `flows` flows, after one packet more of each.
    pub fn of(queue: Q, flows: u16, backlog: u32) -> Steady<Q> {
        let mut steady = Steady { queue, source: Source::of(flows), now: Time::ZERO, backlog: backlog.into() };
        for _ in 0..backlog + u32::from(flows) {
            steady.turn();
        }
        steady
    }

    /// A packet leaves once one more than the backlog wait; as many come before as that takes.
    #[inline]
    pub fn turn(&mut self) -> Option<Packet> {
        self.now += TRANSMISSION;
        for _ in 0..TRIES {
            self.queue.put(self.source.packet(), self.now);
            if self.queue.waiting() > self.backlog {
                return self.queue.take(self.now);
            }
        }
        None
    }

    /// The queue as it is now.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// Packets that wait now, when they are not those that were to: what is measured is another queue.
    pub fn strayed(&self) -> Option<u64> {
        let waiting = self.queue.waiting();
        (waiting * 10 < self.backlog * 9).then_some(waiting)
    }
}
