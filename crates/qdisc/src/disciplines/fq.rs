//! # FQ
//!
//! **Idea.** The fair queueing scheduler of Linux gives every flow a queue of its own. A flow that is seen for the first time may send
//! `initial_quantum` bytes before the old ones, a *head start* of ten full packets: an initial window. Then it takes turns with the others, a
//! `quantum` each.
//!
//! **Scope and limits.** What a router without pacing hosts has of Linux's `fq`:
//! - No pacing: packets carry no time to send and flows no rate, so nothing is held back.
//! - No bands of priority, and no fast path (in Linux a packet that finds all queues empty bypasses them and costs no credit).
//! - Flows are told apart exactly. Linux hashes packets that are not from its own sockets onto 1024 flows (`orphan_mask`).
//! - New and old flows as in `fq_codel`: a new one that is found empty goes to the end of the old ones first.
//! - A flow that was idle comes back as a new one, with the credit it had left; after more than `refill` with at least a quantum.
//! - A flow that has been idle for longer than `timeout` is forgotten, and has its head start again when it comes back. Linux forgets such
//!   flows after 3 s, but only when it happens to come across them; here it is exact.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `quantum` | | bytes | 3028 | what a flow may send in its turn: two full frames |
//! | `initial_quantum` | | bytes | 15140 | what a flow that is new may send before the others: ten full frames |
//! | `flow_limit` | | packets | 100 | most packets of a flow waiting; what arrives beyond is dropped |
//! | `refill` | | s | 0.04 | idle time after which a flow that comes back has at least a quantum (`flow_refill_delay`) |
//! | `timeout` | | s | 3 | idle time after which a flow is forgotten (`FQ_GC_AGE`) |
//!
//! **When the buffer is full** the arriving packet is dropped; so it is when its flow has `flow_limit` packets waiting.
//!
//! **Cost.** One look-up when a packet arrives and one when its flow becomes idle, O(1) turns; a visit to all flows every `timeout`. One entry
//! per flow seen in the last `timeout`, or twice that, and a queue for each that is in the lists.
//!
//! **Validation.** Unit tests: the head start, turns, idle times around `refill` and `timeout`, limits, all by hand. The lists against a model
//! that runs every round (`turns.rs`). Conformance suite.
//!
//! **References.** Linux `net/sched/sch_fq.c` (E. Dumazet, 2013). J. Chu et al., "Increasing TCP's initial window", RFC 6928, 2013.

use hashbrown::hash_map::Entry;
use units::{FlowKey, Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::hash::FlowMap;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::turn_taking::TurnTaking;
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// In place of a queue: the flow is idle.
const NONE: u32 = u32::MAX;

/// What is known of a flow, all of it in the table: 10 000 of them are looked up in no order.
#[derive(Clone, Copy, Debug)]
struct Flow {
    queue: u32,
    /// Credit that an idle flow was left with, bytes: above zero, as its turn had come.
    credit: u32,
    /// When its turn came and it had no packet.
    idle_since: Time,
}

#[derive(Debug)]
struct Queue {
    flow: FlowKey,
    list: List,
}

/// Fair queueing with a head start.
#[derive(Debug)]
pub struct Fq {
    packets: Slab,
    queues: Vec<Queue>,
    free: Vec<u32>,
    flows: FlowMap<Flow>,
    turns: TurnTaking,
    quantum: i64,
    initial_quantum: i64,
    flow_limit: u32,
    refill: Time,
    timeout: Time,
    next_visit: Time,
}

impl Fq {
    /// Forgets the flows that have been idle for longer than the timeout.
    #[cold]
    fn visit(&mut self, now: Time) {
        self.next_visit = Time(now.0.saturating_add(self.timeout.0));
        let timeout = self.timeout;
        self.flows.retain(|_, flow| flow.queue != NONE || now.saturating_sub(flow.idle_since) <= timeout);
    }

    /// Credit of a flow that was idle until `now`.
    #[inline]
    fn credit(&self, flow: Flow, now: Time) -> i64 {
        match now.saturating_sub(flow.idle_since) {
            // As if it had been visited by now.
            idle if idle > self.timeout => self.initial_quantum,
            idle if idle > self.refill => i64::from(flow.credit).max(self.quantum),
            _ => i64::from(flow.credit),
        }
    }

    /// Queue of `flow`, whose packet arrives; an idle one becomes the last of the new ones.
    #[inline]
    fn enter(&mut self, flow: FlowKey, now: Time) -> u32 {
        let queue = self.free.last().copied().unwrap_or(self.queues.len() as u32);
        let known = match self.flows.entry(flow) {
            Entry::Occupied(entry) if entry.get().queue != NONE => return entry.get().queue,
            Entry::Occupied(mut entry) => {
                let known = *entry.get();
                entry.get_mut().queue = queue;
                Some(known)
            }
            Entry::Vacant(entry) => {
                entry.insert(Flow { queue, credit: 0, idle_since: now });
                None
            }
        };
        let credit = known.map_or(self.initial_quantum, |idle| self.credit(idle, now));
        match self.queues.get_mut(queue as usize) {
            Some(free) => free.flow = flow,
            None => self.queues.push(Queue { flow, list: List::default() }),
        }
        self.free.pop();
        self.turns.enter_new(queue, credit);
        queue
    }

    /// The turn of `queue` has come and it has no packet.
    fn retire(&mut self, queue: u32, now: Time) {
        if self.turns.retire(queue) {
            let flow = self.flows.get_mut(&self.queues[queue as usize].flow).expect("a flow with a queue is known");
            *flow = Flow { queue: NONE, credit: self.turns.credit(queue) as u32, idle_since: now };
            self.free.push(queue);
        }
    }
}

impl Discipline for Fq {
    const SPEC: Spec = Spec {
        id: "fq",
        family: Family::FairQueueing,
        about: "flows take turns, and a new flow has a head start",
        source: "Linux sch_fq",
        when_full: "the arriving packet, also when its flow has flow_limit packets waiting",
        time_driven: false,
        // All packets of a flow are in one queue.
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "fq", since: "" },
        params: &[
            Param {
                name: "quantum",
                unit: "bytes",
                about: "what a flow may send in its turn",
                value: Value::Whole { default: 3028, min: 1, max: 1 << 30 },
            },
            Param {
                name: "initial_quantum",
                unit: "bytes",
                about: "what a flow that is new may send before the others: its head start",
                value: Value::Whole { default: 15_140, min: 0, max: 1 << 30 },
            },
            Param {
                name: "flow_limit",
                unit: "packets",
                about: "most packets of a flow waiting; what arrives beyond is dropped",
                value: Value::Whole { default: 100, min: 1, max: u32::MAX as u64 },
            },
            Param {
                name: "refill",
                unit: "s",
                about: "idle time after which a flow that comes back has at least a quantum",
                value: Value::Number { default: 0.04, min: 0.0, max: 1e6 },
            },
            Param {
                name: "timeout",
                unit: "s",
                about: "idle time after which a flow is forgotten, and new when it comes back",
                value: Value::Number { default: 3.0, min: 1e-3, max: 1e6 },
            },
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        let quantum = options.whole("quantum") as i64;
        let timeout = options.time("timeout");
        Ok(Fq {
            packets: Slab::default(),
            queues: Vec::new(),
            free: Vec::new(),
            flows: FlowMap::default(),
            turns: TurnTaking::of(quantum),
            quantum,
            initial_quantum: options.whole("initial_quantum") as i64,
            flow_limit: options.whole("flow_limit") as u32,
            refill: options.time("refill"),
            timeout,
            next_visit: timeout,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.now() >= self.next_visit {
            self.visit(env.now());
        }
        if env.is_full(packet.len) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        let queue = self.enter(packet.flow, env.now());
        let list = &mut self.queues[queue as usize].list;
        if list.packets() >= self.flow_limit {
            env.refuse(packet, DropReason::FlowFull);
            return;
        }
        env.accept(&packet);
        self.packets.push_back(list, packet);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        loop {
            let queue = self.turns.select(|_| 1)?;
            if let Some(packet) = self.packets.pop_front(&mut self.queues[queue as usize].list) {
                self.turns.spend(queue, packet.len);
                return Some(packet);
            }
            self.retire(queue, env.now());
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let list = |queue: u32| &self.queues[queue as usize].list;
        let first = self.turns.first(|queue| (!list(queue).is_empty()).then_some(1))?;
        self.packets.front(list(first))
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        let queues = self.queues.capacity() * size_of::<Queue>() + self.free.capacity() * size_of::<u32>();
        self.flows.allocation_size() + queues + self.turns.bytes()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet, Qdisc};

    /// Handles of the next `count` packets at `now`.
    fn next(fq: &mut Qdisc, count: usize, now: Time) -> Vec<u64> {
        (0..count).filter_map(|_| fq.dequeue(now)).map(|packet| packet.handle).collect()
    }

    /// Ten packets of 1514 bytes: the initial window of RFC 6928.
    #[test]
    fn a_new_flow_sends_its_initial_quantum_at_once() {
        let mut fq = queue("fq", &[], Limit::Packets(1000));
        arrive(&mut fq, &[1; 50], 0, Time::ZERO);
        assert_eq!(next(&mut fq, 20, Time::ZERO), (0..20).collect::<Vec<_>>());
        for handle in 100..130 {
            fq.enqueue(Packet { len: 1514, ..packet(2, handle) }, Time::ZERO);
        }
        assert_eq!(next(&mut fq, 10, Time::ZERO), (100..110).collect::<Vec<_>>(), "before the old flow");
        // Flow 1 had 280 bytes left; its next turn has 1808 and that of flow 2 has 3028.
        assert_eq!(next(&mut fq, 6, Time::ZERO), [20, 110, 111, 21, 22, 112]);
    }

    #[test]
    fn the_head_start_ends_with_the_packet_that_exceeds_it() {
        let mut fq = queue("fq", &["initial_quantum=4000", "quantum=1500"], Limit::Packets(1000));
        arrive(&mut fq, &[1, 1, 1, 1, 1, 2, 2, 2, 2], 0, Time::ZERO);
        // Flow 1: 4000, 2500, 1000, -500 | 1000, -500 | 1000.
        assert_eq!(drain(&mut fq, Time::ZERO), [0, 1, 2, 5, 6, 7, 3, 8, 4]);
    }

    #[test]
    fn without_a_head_start_a_new_flow_gets_a_quantum_behind_the_others() {
        let mut fq = queue("fq", &["initial_quantum=0", "quantum=3000"], Limit::Packets(1000));
        arrive(&mut fq, &[1, 1, 1], 0, Time::ZERO);
        assert_eq!(next(&mut fq, 1, Time::ZERO), [0]);
        arrive(&mut fq, &[2, 2], 10, Time::ZERO);
        assert_eq!(drain(&mut fq, Time::ZERO), [1, 10, 11, 2]);
    }

    #[test]
    fn old_flows_take_turns_of_a_quantum() {
        let mut fq = queue("fq", &["initial_quantum=1500", "quantum=3000"], Limit::Packets(1000));
        arrive(&mut fq, &[1, 1, 1, 1, 1, 2, 2, 2, 2, 2], 0, Time::ZERO);
        assert_eq!(drain(&mut fq, Time::ZERO), [0, 5, 1, 2, 6, 7, 3, 4, 8, 9]);
    }

    /// Flow 2 has 100 bytes left of its head start when it becomes idle at 0 ms. Flow 1 is backlogged
    /// when it comes back at `back_ms`, with packets of 500 bytes: handles of the next four.
    fn comes_back(back_ms: u64) -> Vec<u64> {
        let mut fq = queue("fq", &["initial_quantum=4600", "quantum=1500"], Limit::Packets(1000));
        arrive(&mut fq, &[2, 2, 2], 0, Time::ZERO);
        drain(&mut fq, Time::ZERO);
        assert_eq!((fq.dequeue(Time::ZERO), fq.flow_table_len()), (None, 1));
        let back = Time::from_millis(back_ms);
        arrive(&mut fq, &[1; 9], 10, back);
        assert_eq!(next(&mut fq, 4, back), [10, 11, 12, 13]);
        for handle in 100..110 {
            fq.enqueue(Packet { len: 500, ..packet(2, handle) }, back);
        }
        next(&mut fq, 4, back)
    }

    #[test]
    fn a_flow_that_comes_back_has_what_it_left_then_a_quantum_and_once_forgotten_its_head_start() {
        assert_eq!(comes_back(40), [100, 14, 101, 102], "100 bytes");
        assert_eq!(comes_back(41), [100, 101, 102, 14], "a quantum");
        assert_eq!(comes_back(3000), [100, 101, 102, 14]);
        assert_eq!(comes_back(3001), [100, 101, 102, 103], "new");
    }

    #[test]
    fn flows_idle_for_longer_than_the_timeout_are_forgotten() {
        let mut fq = queue("fq", &["timeout=1"], Limit::Packets(1000));
        arrive(&mut fq, &[1, 2, 3], 0, Time::ZERO);
        drain(&mut fq, Time::ZERO);
        arrive(&mut fq, &[1], 3, Time::from_millis(900));
        assert_eq!(fq.flow_table_len(), 3);
        arrive(&mut fq, &[4], 4, Time::from_millis(1001));
        assert_eq!(fq.flow_table_len(), 2, "flow 1 has a packet waiting");
        assert_eq!(drain(&mut fq, Time::from_millis(1001)), [3, 4]);
    }

    #[test]
    fn flows_that_are_forgotten_leave_no_memory_behind() {
        let mut fq = queue("fq", &["timeout=0.01"], Limit::Packets(1000));
        for flow in 0..10_000 {
            fq.enqueue(packet(flow, flow), Time::from_millis(flow));
            drain(&mut fq, Time::from_millis(flow));
        }
        assert!(fq.flow_table_bytes() < 10_000, "{} bytes", fq.flow_table_bytes());
    }

    #[test]
    fn a_flow_takes_no_more_packets_than_its_limit() {
        let mut fq = queue("fq", &[], Limit::Packets(1000));
        arrive(&mut fq, &[1; 100], 0, Time::ZERO);
        assert_eq!(fq.enqueue(packet(1, 100), Time::ZERO), Fate::Dropped(DropReason::FlowFull));
        assert_eq!(fq.enqueue(packet(2, 101), Time::ZERO), Fate::Queued);
        fq.dequeue(Time::ZERO);
        assert_eq!(fq.enqueue(packet(1, 102), Time::ZERO), Fate::Queued);
    }

    #[test]
    fn a_full_buffer_drops_the_arriving_packet_and_its_flow_gets_no_entry() {
        let mut fq = queue("fq", &[], Limit::Packets(1));
        arrive(&mut fq, &[1], 0, Time::ZERO);
        assert_eq!(fq.enqueue(packet(2, 1), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(fq.flow_table_len(), 1);
    }
}
