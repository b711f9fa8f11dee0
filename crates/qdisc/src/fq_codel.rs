//! FlowQueue-CoDel: flows share the link in turns, each under controlled delay, new ones first.
//!
//! Principle: flows are hashed onto queues. A queue that was empty is new and served before the old
//! ones, for at most a quantum; then it takes turns with these. Each queue is a CoDel of its own. When
//! the buffer is full the queue with most bytes loses half of them from its head, at most 64 packets.
//! Cost per packet: O(1), no look-up; a victim O(log queues), shared by those that go with it.
//! Source: RFC 8290, section 4.

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::codel::{self, Control, ECN, INTERVAL, Law, MTU, TARGET};
use crate::hash::Seeded;
use crate::lists::{List, Slab};
use crate::longest::Longest;
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, Param, Spec, Value};
use crate::turns::Turns;

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    list: List,
    control: Control,
}

/// The packets of one queue, as CoDel sees them.
struct Backlog<'a> {
    packets: &'a mut Slab,
    list: &'a mut List,
}

impl codel::Queue for Backlog<'_> {
    #[inline(always)]
    fn head(&self) -> Option<(Time, u64)> {
        self.packets.front(self.list).map(|packet| (packet.arrival, self.list.bytes() - u64::from(packet.len)))
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
    turns: Turns,
    longest: Longest,
    law: Law,
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
            // Of equals the queue of the arriving packet: with the first of them, flows of few packets
            // that are hashed onto it would be served less than others.
            let own = bytes(arriving) == most;
            let list = &mut self.queues[if own { arriving } else { fattest } as usize].list;
            for _ in 0..self.drop_batch {
                let Some(victim) = self.packets.pop_front(list) else { break };
                let is_arriving = own && list.is_empty();
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
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let (flows, quantum) = (options.whole("flows") as u32, options.whole("quantum") as i64);
        let mut turns = Turns::of(quantum);
        turns.reserve(flows);
        Ok(FqCodel {
            hash: Seeded::draw(rng),
            packets: Slab::default(),
            queues: vec![Queue::default(); flows as usize],
            turns,
            longest: Longest::default(),
            law: Law::with_options(options),
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
            let mut backlog = Backlog { packets: &mut self.packets, list };
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
