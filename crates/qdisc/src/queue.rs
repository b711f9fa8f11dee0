//! A queue with one of the disciplines, and the accounting that all of them share.

use units::{Stream, Time};

use crate::base::{DropReason, Env, Fate, Limit, Nonresponsive, Sorted, Stats};
use crate::disciplines::AnyDiscipline;
use crate::packet::Packet;
use crate::spec::{OptionError, Options, Spec};

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
