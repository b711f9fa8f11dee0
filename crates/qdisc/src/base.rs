use units::{Stream, Time};

use crate::packet::{Ecn, Packet};
use crate::spec::{OptionError, Options, Spec};
use serde::{Deserialize, Serialize};

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The buffer was full and the arriving packet was the one to go.
    Full,
    /// The buffer was full and this queued packet made room for another.
    PushedOut,
    /// The flow, or the queue it shares with others, had as many packets waiting as one may have.
    FlowFull,
    /// An early drop of active queue management.
    Early,
}

impl DropReason {
    /// The reason in one word, as tables have it.
    pub fn word(self) -> &'static str {
        match self {
            DropReason::Full => "full",
            DropReason::PushedOut => "pushedout",
            DropReason::FlowFull => "flowfull",
            DropReason::Early => "early",
        }
    }
}

/// Buffer limit. The packet in transmission has left the queue and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Packets waiting.
    Packets(u32),
    /// Bytes waiting, on the wire.
    Bytes(u64),
}

/// What became of an arriving packet. Queued packets dropped by the same call are in
/// [`Qdisc::dropped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet is in the queue.
    Queued,
    /// The packet was dropped, before it was queued or together with the call.
    Dropped(DropReason),
}

/// How a discipline with two classes sorted an accepted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// Into the high class.
    pub high: bool,
    /// It began a flow-table entry: a sub-flow of its flow (Chen 2012, 4.5.3).
    pub fresh: bool,
}

/// Counters of one queue, each in packets and bytes, since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets handed to `enqueue`.
    pub received: u64,
    /// Bytes handed to `enqueue`.
    pub received_bytes: u64,
    /// Packets that entered the queue.
    pub enqueued: u64,
    /// Bytes that entered the queue.
    pub enqueued_bytes: u64,
    /// Packets dropped on arrival.
    pub dropped_before: u64,
    /// Bytes dropped on arrival.
    pub dropped_before_bytes: u64,
    /// Queued packets dropped later.
    pub dropped_after: u64,
    /// Queued bytes dropped later.
    pub dropped_after_bytes: u64,
    /// Packets marked with congestion experienced, at either end of the queue.
    pub marked: u64,
    /// Bytes of these.
    pub marked_bytes: u64,
    /// Packets handed out by `dequeue`.
    pub dequeued: u64,
    /// Bytes handed out by `dequeue`.
    pub dequeued_bytes: u64,
}

impl Stats {
    /// Packets waiting.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.enqueued - self.dequeued - self.dropped_after
    }

    /// Bytes waiting.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        self.enqueued_bytes - self.dequeued_bytes - self.dropped_after_bytes
    }

    /// Adds what a queue counted between `before` and `after`.
    pub(crate) fn add_since(&mut self, before: &Stats, after: &Stats) {
        self.received += after.received - before.received;
        self.received_bytes += after.received_bytes - before.received_bytes;
        self.enqueued += after.enqueued - before.enqueued;
        self.enqueued_bytes += after.enqueued_bytes - before.enqueued_bytes;
        self.dropped_before += after.dropped_before - before.dropped_before;
        self.dropped_before_bytes += after.dropped_before_bytes - before.dropped_before_bytes;
        self.dropped_after += after.dropped_after - before.dropped_after;
        self.dropped_after_bytes += after.dropped_after_bytes - before.dropped_after_bytes;
        self.marked += after.marked - before.marked;
        self.marked_bytes += after.marked_bytes - before.marked_bytes;
        self.dequeued += after.dequeued - before.dequeued;
        self.dequeued_bytes += after.dequeued_bytes - before.dequeued_bytes;
    }

    /// Packets dropped, on arrival or later.
    pub fn dropped(&self) -> u64 {
        self.dropped_before + self.dropped_after
    }
}

/// What a discipline may use besides its own state: the time of the call, the buffer limit, a random
/// stream of its own, and the accounting.
#[derive(Debug)]
pub struct Env {
    pub(crate) now: Time,
    pub(crate) limit: Limit,
    pub(crate) stats: Stats,
    /// Random stream of this queue.
    pub rng: Stream,
    pub(crate) reset_rng: Stream,
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) sorted: Option<Sorted>,
}

impl Env {
    /// Time of the present call.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether one more packet of `len` bytes would exceed the limit.
    #[inline]
    pub fn is_full(&self, len: u32) -> bool {
        match self.limit {
            Limit::Packets(packets) => self.stats.backlog() >= u64::from(packets),
            Limit::Bytes(bytes) => self.stats.backlog_bytes() + u64::from(len) > bytes,
        }
    }

    /// Whether one more packet of `len` bytes would exceed the limit even after `packets` queued
    /// packets of `bytes` in all had gone: asked before anything is discarded in vain.
    #[inline]
    pub fn is_full_without(&self, len: u32, packets: u64, bytes: u64) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.stats.backlog() - packets >= u64::from(limit),
            Limit::Bytes(limit) => self.stats.backlog_bytes() - bytes + u64::from(len) > limit,
        }
    }

    /// Whether the backlog exceeds the limit now, as after a packet was queued first and a victim is
    /// still to be chosen.
    #[inline]
    pub fn is_over(&self) -> bool {
        match self.limit {
            Limit::Packets(packets) => self.stats.backlog() > u64::from(packets),
            Limit::Bytes(bytes) => self.stats.backlog_bytes() > bytes,
        }
    }

    /// Buffer limit.
    #[inline]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Counters so far.
    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Marks a packet whose transport understands ECN (RFC 3168, section 5), before it is queued or
    /// as it is handed out. False, and nothing done, when the transport does not: then the packet is
    /// to be dropped. A packet that carries the mark already keeps it and is not counted again.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        match packet.ecn {
            Ecn::NotEct => return false,
            Ecn::Ce => {}
            Ecn::Ect0 | Ecn::Ect1 => {
                packet.ecn = Ecn::Ce;
                self.stats.marked += 1;
                self.stats.marked_bytes += u64::from(packet.len);
            }
        }
        true
    }

    /// The arriving packet enters the queue.
    #[inline]
    pub fn accept(&mut self, packet: &Packet) {
        self.stats.enqueued += 1;
        self.stats.enqueued_bytes += u64::from(packet.len);
    }

    /// Tells how the accepted packet was sorted, for disciplines with two classes.
    #[inline]
    pub fn note(&mut self, sorted: Sorted) {
        self.sorted = Some(sorted);
    }

    /// The arriving packet is dropped without having been queued.
    #[inline]
    pub fn refuse(&mut self, packet: Packet, reason: DropReason) {
        self.stats.dropped_before += 1;
        self.stats.dropped_before_bytes += u64::from(packet.len);
        self.dropped.push((packet, reason));
    }

    /// A queued packet is dropped.
    #[inline]
    pub fn discard(&mut self, packet: Packet, reason: DropReason) {
        self.stats.dropped_after += 1;
        self.stats.dropped_after_bytes += u64::from(packet.len);
        self.dropped.push((packet, reason));
    }
}

/// What a discipline with an estimator says of the traffic that does not respond to drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nonresponsive {
    /// End of the estimation interval.
    pub at: Time,
    /// Its share of what arrives, 0 to 1.
    pub share: f64,
    /// Responsive flows; 0 while unknown.
    pub flows: f64,
    /// Why it should not be relied on, in a word; `None` when it may be.
    pub doubt: Option<&'static str>,
}

/// A queueing discipline: the order of service and the choice of victims.
///
/// In `enqueue` each arriving packet must be passed to exactly one of [`Env::accept`] and
/// [`Env::refuse`], each queued packet that is dropped, in `enqueue` or in `dequeue`, to
/// [`Env::discard`]; in `dequeue` the reason is [`DropReason::Early`]. Departures are counted by the
/// caller. A reset makes the discipline anew from its options.
pub trait Discipline {
    /// Id, parameters and description: the row of this discipline in every list of them.
    const SPEC: Spec;

    /// An empty queue with options already checked against `SPEC`; seeds of hashes come from `rng`,
    /// the stream that [`Env::rng`] goes on with.
    ///
    /// # Errors
    /// Options that each are within their bounds but do not go together.
    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError>
    where
        Self: Sized;

    /// Takes an arriving packet.
    fn enqueue(&mut self, packet: Packet, env: &mut Env);

    /// Hands out the next packet to send.
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet>;

    /// The packet `dequeue` would hand out now if it dropped none, and before it marks it.
    fn peek(&self) -> Option<&Packet>;

    /// Entries in the flow table.
    fn flow_table_len(&self) -> usize {
        0
    }

    /// Memory held for flows, bytes: tables as they are allocated, without the packets.
    fn flow_table_bytes(&self) -> usize {
        0
    }

    /// Packets waiting with high priority, for disciplines that have two classes.
    fn high_backlog(&self) -> Option<usize> {
        None
    }

    /// The last estimate of the traffic that does not respond, for disciplines that have an estimator.
    fn nonresponsive(&self) -> Option<Nonresponsive> {
        None
    }

    /// When a time-driven discipline that holds packets back wants `dequeue` called again.
    fn poll_at(&self) -> Option<Time> {
        None
    }
}
