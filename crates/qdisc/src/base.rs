use units::{Stream, Time};

use crate::disciplines::AnyDiscipline;
use crate::packet::{Ecn, Packet};
use crate::spec::{OptionError, Options, Spec};
use serde::Deserialize;

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

/// Buffer limit. The packet in transmission has left the queue and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
    /// It began a flow-table entry: a fragment of its flow (Chen 2012, 4.5.3).
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

    /// Packets dropped, on arrival or later.
    pub fn dropped(&self) -> u64 {
        self.dropped_before + self.dropped_after
    }
}

/// What a discipline may use besides its own state: the time of the call, the buffer limit, a random
/// stream of its own, and the accounting.
#[derive(Debug)]
pub struct Env {
    now: Time,
    limit: Limit,
    stats: Stats,
    /// Random stream of this queue.
    pub rng: Stream,
    reset_rng: Stream,
    dropped: Vec<(Packet, DropReason)>,
    sorted: Option<Sorted>,
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

/// A queue: one discipline behind the accounting that all of them share.
#[derive(Debug)]
pub struct Qdisc {
    discipline: AnyDiscipline,
    options: Options,
    env: Env,
}

impl Qdisc {
    /// Queue with discipline `id` of the registry.
    ///
    /// # Errors
    /// An unknown id, an unknown option, a value out of its bounds, or a limit of zero.
    pub fn from_options(
        id: &str,
        options: &[(String, String)],
        limit: Limit,
        rng: Stream,
    ) -> Result<Qdisc, OptionError> {
        if matches!(limit, Limit::Packets(0) | Limit::Bytes(0)) {
            return Err(OptionError::ZeroLimit);
        }
        let reset_rng = rng.clone();
        let (dropped, sorted) = (Vec::new(), None);
        let mut env = Env { now: Time::ZERO, limit, stats: Stats::default(), rng, reset_rng, dropped, sorted };
        let (discipline, options) = AnyDiscipline::from_id(id, options, &mut env.rng)?;
        Ok(Qdisc { discipline, options, env })
    }

    /// Takes an arriving packet at time `now`; queued packets that had to go are in
    /// [`Qdisc::dropped`] until the next call.
    #[inline]
    pub fn enqueue(&mut self, mut packet: Packet, now: Time) -> Fate {
        packet.arrival = now;
        self.env.now = now;
        self.env.dropped.clear();
        self.env.sorted = None;
        self.env.stats.received += 1;
        self.env.stats.received_bytes += u64::from(packet.len);
        if matches!(self.env.limit, Limit::Bytes(bytes) if u64::from(packet.len) > bytes) {
            // No room could be made for it: nobody else has to go, whatever the discipline.
            self.env.refuse(packet, DropReason::Full);
            return Fate::Dropped(DropReason::Full);
        }
        // Kept apart so that the packet is moved: a copy of what was just written field by field makes
        // every look-up wait for it, 10 ns per packet.
        let (handle, flow) = (packet.handle, packet.flow);
        self.discipline.enqueue(packet, &mut self.env);
        let own = self.env.dropped.iter().find(|(p, _)| p.handle == handle && p.flow == flow);
        own.map_or(Fate::Queued, |&(_, reason)| Fate::Dropped(reason))
    }

    /// Hands out the next packet to send at time `now`; packets the discipline dropped instead are
    /// in [`Qdisc::dropped`].
    #[inline]
    pub fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.env.now = now;
        self.env.dropped.clear();
        let packet = self.discipline.dequeue(&mut self.env)?;
        self.env.stats.dequeued += 1;
        self.env.stats.dequeued_bytes += u64::from(packet.len);
        Some(packet)
    }

    /// Packets dropped by the last `enqueue` or `dequeue`, the arriving one included.
    #[inline]
    pub fn dropped(&self) -> &[(Packet, DropReason)] {
        &self.env.dropped
    }

    /// How the last packet handed to `enqueue` was sorted; `None` when it was dropped or there is one
    /// class.
    #[inline]
    pub fn sorted(&self) -> Option<Sorted> {
        self.env.sorted
    }

    /// The packet `dequeue` would hand out now if it dropped none, and before it marks it.
    pub fn peek(&self) -> Option<&Packet> {
        self.discipline.peek()
    }

    /// Empties the queue, forgets every flow, rewinds the random stream and zeroes the counters: the
    /// queue is as good as new.
    pub fn reset(&mut self) {
        self.env.rng = self.env.reset_rng.clone();
        self.discipline = self.discipline.afresh(&self.options, &mut self.env.rng);
        self.env.stats = Stats::default();
        self.env.dropped.clear();
        self.env.sorted = None;
    }

    /// Counters since the last reset.
    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.env.stats
    }

    /// Packets waiting.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.env.stats.backlog()
    }

    /// Buffer limit.
    pub fn limit(&self) -> Limit {
        self.env.limit
    }

    /// Entries in the flow table.
    #[inline]
    pub fn flow_table_len(&self) -> usize {
        self.discipline.flow_table_len()
    }

    /// Memory held for flows, bytes: tables as they are allocated, without the packets.
    pub fn flow_table_bytes(&self) -> usize {
        self.discipline.flow_table_bytes()
    }

    /// Packets waiting with high priority, for disciplines that have two classes.
    pub fn high_backlog(&self) -> Option<usize> {
        self.discipline.high_backlog()
    }

    /// The last estimate of the traffic that does not respond, for disciplines that have an estimator.
    pub fn nonresponsive(&self) -> Option<Nonresponsive> {
        self.discipline.nonresponsive()
    }

    /// When a time-driven discipline wants `dequeue` called again.
    #[inline]
    pub fn poll_at(&self) -> Option<Time> {
        self.discipline.poll_at()
    }

    /// Id, parameters and description.
    pub fn spec(&self) -> &'static Spec {
        self.discipline.spec()
    }
}
