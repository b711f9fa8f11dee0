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
//! - A new queue that is found empty goes to the end of the old ones before it is forgotten. Else a flow that sends whenever its queue has been
//!   emptied would be new every time and starve the others (RFC 8290, 4.2).
//! - Two flows may share a queue: with 1024 queues and 100 flows backlogged, 9 % of them do. The hash has a seed of its own, drawn from the
//!   random stream of the queue; it is not changed in a run.
//! - Linux differs from the RFCs in four things, or they are silent; `rules=linux` does as Linux, `rules=rfc` otherwise.
//!
//!   | | `linux` | `rfc` |
//!   |---|---|---|
//!   | CoDel spares packets while `mtu` bytes or less wait behind | in all queues, so that the only packet of a queue can be dropped | in its queue (RFC 8289, 5.6) |
//!   | packets that a full buffer takes from a queue | count as drops of its CoDel | do not |
//!   | 1 / sqrt(count) | 16 binary digits, one Newton step per drop: too small or too large for some drops after the count has jumped, and 0, no interval at all, when it jumps before the queue's CoDel has ever begun to drop | exact |
//!   | of equally long queues loses | that of smallest number | that of the arriving packet, else that of smallest number |
//! - Packets without a transport that understands ECN are dropped where others are marked; see [CoDel](codel.md).
//! - Not built in: `memory_limit` (Mayfly's buffer limit may be in bytes), `ce_threshold`, filters that choose the queue.
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
//! 72 bytes per queue, allocated at once, and less than 80 for the search of the longest as queues fill.
//!
//! **Validation.** `crates/qdisc/tests/fq_codel_rfc.rs`: traces with the decisions derived by hand from section 4: new before old, credits and
//! debts, empty queues, collisions, batches, CoDel per queue, marks. The lists against a model that runs every round (`turns.rs`), the longest
//! queue against a search (`longest.rs`). `tests/kernel/test_rivals.py`: the same datagrams through this and Linux's, and every attack of
//! `mayfly gaming` ([](../kernel/engine.md)). Conformance suite.
//!
//! **References.** T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler and Active Queue
//! Management Algorithm", RFC 8290, 2018. RFC 8289.

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::codel::{self, Control, ECN, INTERVAL, Law, MTU, TARGET};
use crate::parts::hash::Seeded;
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::turn_taking::TurnTaking;
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    list: List,
    control: Control,
}

/// Whose rules hold where Linux and the RFCs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    Linux,
    Rfc,
}

/// The packets of one queue, as CoDel sees them.
struct Backlog<'a> {
    packets: &'a mut Slab,
    list: &'a mut List,
    rules: Rules,
}

impl codel::Queue for Backlog<'_> {
    #[inline(always)]
    fn head(&self, env: &Env) -> Option<(Time, u64)> {
        let bytes = match self.rules {
            Rules::Linux => env.stats.backlog_bytes(),
            Rules::Rfc => self.list.bytes(),
        };
        self.packets.front(self.list).map(|packet| (packet.arrival, bytes - u64::from(packet.len)))
    }

    #[inline(always)]
    fn take(&mut self) -> Option<Packet> {
        self.packets.pop_front(self.list)
    }
}

/// FlowQueue-CoDel.
#[derive(Debug)]
pub struct FqCodel {
    hash: Seeded,
    packets: Slab,
    queues: Vec<Queue>,
    turns: TurnTaking,
    longest: LongestQueue,
    law: Law,
    rules: Rules,
    quantum: i64,
    drop_batch: u64,
}

impl FqCodel {
    /// Section 4.1: drops from the head of the queue with the largest byte count, until it is half of
    /// what it was or a batch is gone, so that the search is paid for by many drops.
    #[cold]
    fn make_room(&mut self, arriving: u32, env: &mut Env) {
        while env.is_over() {
            let bytes = |queue: u32| self.queues[queue as usize].list.bytes();
            let Some((fattest, most)) = self.longest.find(bytes) else { return };
            let loser = if self.rules == Rules::Rfc && bytes(arriving) == most { arriving } else { fattest };
            let Queue { list, control } = &mut self.queues[loser as usize];
            for _ in 0..self.drop_batch {
                let Some(victim) = self.packets.pop_front(list) else { break };
                if self.rules == Rules::Linux {
                    control.overflowed(1);
                }
                let is_arriving = loser == arriving && list.is_empty();
                env.discard(victim, if is_arriving { DropReason::Full } else { DropReason::PushedOut });
                if list.bytes() <= most - most / 2 {
                    break;
                }
            }
        }
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
            Param {
                name: "flows",
                unit: "queues",
                about: "queues that flows are hashed onto",
                value: Value::Whole { default: 1024, min: 1, max: 65_536 },
            },
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
            Param {
                name: "drop_batch",
                unit: "packets",
                about: "most packets dropped at once when the buffer is full",
                value: Value::Whole { default: 64, min: 1, max: 1 << 20 },
            },
            Param {
                name: "rules",
                unit: "",
                about: "where they differ: those of Linux, or of RFC 8289 and 8290",
                value: Value::Choice(&["linux", "rfc"]),
            },
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let law = Law::with_options(options);
        let (rules, law) = match options.choice("rules") {
            "rfc" => (Rules::Rfc, law),
            _ => (Rules::Linux, law.by_newton_steps()),
        };
        let (flows, quantum) = (options.whole("flows") as u32, options.whole("quantum") as i64);
        let mut turns = TurnTaking::of(quantum);
        turns.reserve(flows);
        Ok(FqCodel {
            hash: Seeded::draw(rng),
            packets: Slab::default(),
            queues: vec![Queue::default(); flows as usize],
            turns,
            longest: LongestQueue::default(),
            law,
            rules,
            quantum,
            drop_batch: options.whole("drop_batch"),
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        // The packet is queued first and may be among those that go (section 4.1).
        env.accept(&packet);
        let queue = self.hash.queue(packet.flow.0, self.queues.len() as u32);
        let list = &mut self.queues[queue as usize].list;
        self.packets.push_back(list, packet);
        self.longest.grew(queue, list.bytes());
        if !self.turns.is_active(queue) {
            self.turns.enter_new(queue, self.quantum);
        }
        if env.is_over() {
            self.make_room(queue, env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        loop {
            // Section 4.2: "a negative number of credits (i.e., it has already dequeued at least a
            // quantum of bytes)". A whole quantum leaves zero, so zero counts, as in Linux.
            let selected = self.turns.select(|_| 1)?;
            let Queue { list, control } = &mut self.queues[selected as usize];
            let mut backlog = Backlog { packets: &mut self.packets, list, rules: self.rules };
            if let Some(packet) = control.dequeue(&self.law, env, &mut backlog) {
                self.turns.spend(selected, packet.len);
                return Some(packet);
            }
            self.turns.retire(selected);
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let list = |queue: u32| &self.queues[queue as usize].list;
        let first = self.turns.first(|queue| (!list(queue).is_empty()).then_some(1))?;
        self.packets.front(list(first))
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.turns.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.queues.capacity() * size_of::<Queue>() + self.turns.bytes() + self.longest.bytes()
    }
}
