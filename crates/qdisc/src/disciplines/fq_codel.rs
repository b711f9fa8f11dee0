//! # FQ-CoDel
//!
//! **Idea.** Flows are hashed onto `flows` queues, each under a CoDel of its own, and the queues take turns of a `quantum` of bytes. A queue
//! that was empty is *new* and goes before the *old* ones until it has sent a quantum. A flow that sends less than a quantum per round so
//! hardly waits, and needs no classification for it.
//!
//! **Scope and limits.**
//! - RFC 8290, section 4. Credits start at a quantum and a queue is served while they are above zero; what the last packet takes in excess is a
//!   debt. The RFC says "a negative number of credits (i.e., it has already dequeued at least a quantum of bytes)"; after exactly a quantum
//!   zero is left, and that ends the turn, as in Linux.
//! - A new queue that is found empty goes to the end of the old ones, if any, before it is forgotten. Else a flow that sends whenever its queue has been
//!   emptied would be new every time and starve the others (RFC 8290, 4.2).
//! - Two flows may share a queue: with 1024 queues and 100 flows backlogged, 9 % of them do. The hash has a seed of its own, drawn from the
//!   random stream of the queue; it is not changed in a run.
//! - Linux differs from the RFCs in seven things, or they are silent; `rules=linux`, the default, decides as Linux 6.1, `rules=rfc` as RFC 8289 and
//!   8290.
//!
//!   | | `linux` | `rfc` |
//!   |---|---|---|
//!   | CoDel spares packets while `mtu` bytes or less wait behind | in all queues, so that the only packet of a queue can be dropped | in its queue (RFC 8289, 5.6) |
//!   | the first drop comes | later than an interval after the target was exceeded | at its end |
//!   | time is counted in | units of 1024 ns, modulo 2^32 of them | ns |
//!   | packets that a full buffer takes from a queue | count as drops of its CoDel | do not |
//!   | 1 / sqrt(count) | 16 binary digits, one Newton step per drop: too small or too large for some drops after the count has jumped, and 0, no interval at all, when it jumps before the queue's CoDel has ever begun to drop | exact |
//!   | a new queue that is found empty | is forgotten at once while no old queue is there to wait behind | goes to the old ones (RFC 8290, 4.2) |
//!   | of equally long queues loses | that of smallest number | that of the arriving packet, else that of smallest number |
//! - A limit in bytes always holds here. The `memory_limit` of Linux, which counts memory and not bytes of packets, may be exceeded by
//!   part of a packet: Linux takes one batch for each packet that comes.
//! - Packets without a transport that understands ECN are dropped where others are marked; see [CoDel](codel.md).
//!   From Linux 7.2 on it counts forwarded packets only, and nothing of local sockets (seen with 7.2.7, and in the source of 7.3).
//! - Not built in: `ce_threshold`, filters that choose the queue, `memory_limit` (Mayfly's buffer limit may be in bytes).
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `flows` | | queues | 1024 | queues that flows are hashed onto |
//! | `quantum` | | bytes | 1514 | what a queue may send in its turn |
//! | `target` | TARGET | s | 0.005 | CoDel: time in the queue that is acceptable |
//! | `interval` | INTERVAL | s | 0.1 | CoDel: how long it may be exceeded before the first drop |
//! | `mtu` | MTU | bytes | 1514 | CoDel: nothing is dropped while no more than this waits behind (`rules` says where) |
//! | `ecn` | | | `on` | mark packets of ECN-capable transports instead of dropping them |
//! | `drop_batch` | | packets | 64 | most packets dropped at once when the buffer is full |
//! | `rules` | | | `linux` | where they differ: those of Linux, or of RFC 8289 and 8290 (`rfc`) |
//!
//! **When the buffer is full** the arriving packet is queued first. Then the queue with most bytes loses packets from its head until half of
//! its bytes or `drop_batch` packets are gone; with a limit in bytes this is repeated until the rest fits. So the arriving packet may be among
//! those dropped; it is reported as one that found the buffer full. With a limit in bytes it may go after others went for it.
//!
//! **Cost.** O(1) per packet and no look-up: a packet finds its queue by its hash. A victim costs O(log queues), shared by the batch. Memory:
//! 64 bytes per queue (`rules=rfc`: 72), allocated at once, and less than 80 for the search of the longest as queues fill.
//!
//! **Validation.** `crates/qdisc/tests/fq_codel_rfc.rs`: traces with the decisions derived by hand from section 4: new before old, credits and
//! debts, empty queues, collisions, batches, CoDel per queue, marks. The lists against a model that runs every round (`turns.rs`), the longest
//! queue against a search (`longest.rs`). `tests/kernel_core/test_upstream_decisions.py`: every decision of Linux's own code over the same packets, order,
//! drops and marks, at the same times ([](../kernel/engine.md#the-kernels-own-code-decision-by-decision)). `tests/kernel/test_rivals.py`: the same datagrams through this and Linux's, and every attack of
//! `mayfly gaming` ([](../kernel/engine.md)). Conformance suite.
//!
//! **References.** T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler and Active Queue
//! Management Algorithm", RFC 8290, 2018. RFC 8289.

use units::Stream;

use crate::base::{Discipline, Env};
use crate::packet::Packet;
use crate::parts::codel::{self, ECN, INTERVAL, MTU, TARGET};
use crate::parts::codel_linux;
use crate::parts::codel_queues::{CodelQueues, Control, DROP_BATCH, FLOWS};
use crate::parts::hash::Seeded;
use crate::parts::turn_taking::TurnTaking;
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// FlowQueue-CoDel.
#[derive(Debug)]
pub struct FqCodel(Rules);

/// Whose rules hold where Linux and the RFCs differ.
#[derive(Debug)]
enum Rules {
    Linux(Queues<codel_linux::Control>),
    Rfc(Queues<codel::Control>),
}

/// Queues under one kind of CoDel, and their turns.
#[derive(Debug)]
struct Queues<C: Control> {
    hash: Seeded,
    queues: CodelQueues<C>,
    turns: TurnTaking,
    quantum: i64,
}

impl<C: Control> Queues<C> {
    fn with_options(options: &Options, rng: &mut Stream) -> Queues<C> {
        let queues = CodelQueues::with_options(options);
        let quantum = options.whole("quantum") as i64;
        let mut turns = TurnTaking::of(quantum);
        turns.reserve(queues.count());
        Queues { hash: Seeded::draw(rng), queues, turns, quantum }
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        // The packet is queued first and may be among those that go (section 4.1).
        env.accept(&packet);
        let queue = self.hash.queue(packet.flow.0, self.queues.count());
        self.queues.push(queue, packet);
        if !self.turns.is_active(queue) {
            self.turns.enter_new(queue, self.quantum);
        }
        while env.is_over() && self.queues.make_room(queue, env).is_some() {}
    }

    /// `retire` takes out a queue that has come to the front and has no packet.
    #[inline]
    fn dequeue(&mut self, env: &mut Env, retire: impl Fn(&mut TurnTaking, u32) -> bool) -> Option<Packet> {
        loop {
            // Section 4.2: "a negative number of credits (i.e., it has already dequeued at least a
            // quantum of bytes)". A whole quantum leaves zero, so zero counts, as in Linux.
            let selected = self.turns.select(|_| 1)?;
            if let Some(packet) = self.queues.take(selected, env) {
                self.turns.spend(selected, packet.len);
                return Some(packet);
            }
            retire(&mut self.turns, selected);
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let first = self.turns.first(|queue| (!self.queues.is_empty(queue)).then_some(1))?;
        self.queues.front(first)
    }

    fn bytes(&self) -> usize {
        self.queues.bytes() + self.turns.bytes()
    }
}

impl Discipline for FqCodel {
    const SPEC: Spec = Spec {
        id: "fq_codel",
        family: Family::FairQueueing,
        about: "fair queueing with controlled delay: new flows first, CoDel on each queue",
        source: "RFC 8290",
        when_full: "half of the queue with most bytes, from its head, at most a batch",
        time_driven: false,
        // All packets of a flow are in one queue.
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "fq_codel", since: "" },
        params: &[
            FLOWS,
            Param {
                name: "quantum",
                unit: "bytes",
                about: "what a queue may send in its turn",
                value: Value::Whole { default: 1514, min: 1, max: 1 << 30 },
            },
            TARGET,
            INTERVAL,
            MTU,
            ECN,
            DROP_BATCH,
            Param {
                name: "rules",
                unit: "",
                about: "where they differ: those of Linux, or of RFC 8289 and 8290",
                value: Value::Choice(&["linux", "rfc"]),
            },
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        Ok(FqCodel(match options.choice("rules") {
            "rfc" => Rules::Rfc(Queues::with_options(options, rng)),
            _ => Rules::Linux(Queues::with_options(options, rng)),
        }))
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        match &mut self.0 {
            Rules::Linux(queue) => queue.enqueue(packet, env),
            Rules::Rfc(queue) => queue.enqueue(packet, env),
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        match &mut self.0 {
            Rules::Linux(queue) => queue.dequeue(env, TurnTaking::retire_behind_others),
            Rules::Rfc(queue) => queue.dequeue(env, TurnTaking::retire),
        }
    }

    fn peek(&self) -> Option<&Packet> {
        match &self.0 {
            Rules::Linux(queue) => queue.peek(),
            Rules::Rfc(queue) => queue.peek(),
        }
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        match &self.0 {
            Rules::Linux(queue) => queue.turns.len(),
            Rules::Rfc(queue) => queue.turns.len(),
        }
    }

    fn flow_table_bytes(&self) -> usize {
        match &self.0 {
            Rules::Linux(queue) => queue.bytes(),
            Rules::Rfc(queue) => queue.bytes(),
        }
    }
}
