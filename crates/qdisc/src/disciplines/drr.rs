//! # DRR
//!
//! **Idea.** Deficit round robin gives backlogged flows turns. In its turn a flow gets `quantum` bytes on top of what it did not use in the
//! last one, and sends packets while they cover the next. What is left over is kept, unless the flow has no packet left: then it is lost.
//!
//! **Scope and limits.**
//! - Every flow has a queue of its own; nothing is hashed, so no flows collide (Shreedhar and Varghese hash as McKenney does; with enough
//!   queues it is the same).
//! - All flows have the same quantum.
//! - Of two flows that are backlogged all the time one gets at most $Q + 2 Max$ bytes more than the other in any interval, $Max$ being the
//!   longest packet (section 4 of the paper).
//! - A flow that becomes backlogged waits for a turn of all others: one packet among $n$ flows waits for up to $n$ quanta.
//! - A packet handed out has left its queue: a flow whose next packet comes while its last one is on the link is a new one. In the paper a turn
//!   ends after the transmission.
//! - A quantum below the longest packet is allowed. Rounds in which no flow can send are then added up and not run.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `quantum` | $Q$ | bytes | 1500 | what is added to the deficit counter of a flow in its turn |
//!
//! **When the buffer is full** the last packet of the flow with most bytes waiting goes, the arriving packet counted with its flow; of equal
//! flows that of the arriving packet loses, so that one is dropped. The paper takes this from McKenney ("buffer stealing"). With a limit in
//! bytes as many packets go as needed, each from the flow that is longest then; the arriving packet may turn out to be one of them after others
//! went.
//!
//! **Cost.** Two look-ups per packet in a table of backlogged flows, O(1) turns; O(log flows) per victim. A flow is in the table only while it
//! has a packet waiting.
//!
//! **Validation.** Unit tests: turns and deficits by hand, the fairness bound for random quanta and packet lengths, the victim against a search
//! over all flows. The turns against a model that runs every round (`turns.rs`). Conformance suite.
//!
//! **References.** M. Shreedhar, G. Varghese, "Efficient fair queuing using deficit round robin", IEEE/ACM Transactions on Networking 4(3),
//! 1996. P. E. McKenney, "Stochastic fairness queueing", INFOCOM 1990.

use hashbrown::hash_map::Entry;
use units::{FlowKey, Stream};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::flow_table::keep_sparse;
use crate::parts::hash::FlowMap;
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::turn_taking::TurnTaking;
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Deficit round robin.
#[derive(Debug)]
pub struct Drr {
    packets: Slab,
    queues: Vec<List>,
    free: Vec<u32>,
    /// Queue of each backlogged flow.
    flows: FlowMap<u32>,
    turns: TurnTaking,
    longest: LongestQueue,
    quantum: i64,
}

impl Drr {
    /// Drops the last packet of the longest queue, the arriving one counted, until there is room for
    /// that; false when it is the one to go.
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let own = self.flows.get(&packet.flow).map_or(0, |&queue| self.queues[queue as usize].bytes());
        let own = own + u64::from(packet.len);
        while env.is_full(packet.len) {
            let longest = self.longest.find(|queue| self.queues[queue as usize].bytes());
            // Of equals the queue of the arriving packet: nobody is better off by its coming.
            let Some((queue, _)) = longest.filter(|&(_, bytes)| bytes > own) else { return false };
            let victim = self.packets.pop_back(&mut self.queues[queue as usize]).expect("it is longer than none");
            self.leave_if_empty(queue, victim.flow);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    #[inline]
    fn enter(&mut self, flow: FlowKey) -> u32 {
        keep_sparse(&mut self.flows);
        let entry = match self.flows.entry(flow) {
            Entry::Occupied(entry) => return *entry.get(),
            Entry::Vacant(entry) => entry,
        };
        let queue = self.free.pop().unwrap_or_else(|| {
            self.queues.push(List::default());
            self.queues.len() as u32 - 1
        });
        entry.insert(queue);
        // The quantum of its first turn: given when it comes to the front in the paper, where it cannot
        // be used before.
        self.turns.enter_old(queue, self.quantum);
        queue
    }

    #[inline]
    fn leave_if_empty(&mut self, queue: u32, flow: FlowKey) {
        if self.queues[queue as usize].is_empty() {
            self.turns.remove(queue);
            self.flows.remove(&flow);
            self.free.push(queue);
        }
    }
}

impl Discipline for Drr {
    const SPEC: Spec = Spec {
        id: "drr",
        family: Family::FairQueueing,
        about: "deficit round robin: flows take turns, a quantum of bytes each",
        source: "Shreedhar and Varghese 1996",
        when_full: "the last packet of the flow with most bytes waiting, the arriving one counted",
        time_driven: false,
        // All packets of a flow are in one queue.
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "drr", since: "" },
        params: &[Param {
            name: "quantum",
            unit: "bytes",
            about: "what is added to the deficit counter of a flow in its turn (Q)",
            value: Value::Whole { default: 1500, min: 1, max: 1 << 30 },
        }],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        let quantum = options.whole("quantum") as i64;
        Ok(Drr {
            packets: Slab::default(),
            queues: Vec::new(),
            free: Vec::new(),
            flows: FlowMap::default(),
            turns: TurnTaking::of(quantum),
            longest: LongestQueue::default(),
            quantum,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let queue = self.enter(packet.flow);
        let list = &mut self.queues[queue as usize];
        self.packets.push_back(list, packet);
        self.longest.grew(queue, list.bytes());
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let need = |queue: u32| self.packets.front(&self.queues[queue as usize]).map_or(0, |head| i64::from(head.len));
        let queue = self.turns.select(need)?;
        let packet = self.packets.pop_front(&mut self.queues[queue as usize]).expect("no empty queue has a turn");
        self.turns.spend(queue, packet.len);
        self.leave_if_empty(queue, packet.flow);
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        let front = |queue: u32| self.packets.front(&self.queues[queue as usize]);
        front(self.turns.first(|queue| front(queue).map(|head| i64::from(head.len)))?)
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        let queues = self.queues.capacity() * size_of::<List>() + self.free.capacity() * size_of::<u32>();
        self.flows.allocation_size() + queues + self.turns.bytes() + self.longest.bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet, Qdisc};

    fn sized(flow: u64, handle: u64, len: u32) -> Packet {
        Packet { len, ..packet(flow, handle) }
    }

    #[test]
    fn what_a_turn_leaves_counts_for_the_next() {
        let mut drr = queue("drr", &["quantum=500"], Limit::Packets(100));
        for (handle, len) in [(0, 200), (1, 750), (2, 20)] {
            drr.enqueue(sized(1, handle, len), Time::ZERO);
        }
        for handle in 10..13 {
            drr.enqueue(sized(2, handle, 500), Time::ZERO);
        }
        // Deficit counter of flow 1: 500, 300 | 800, 50, 30.
        assert_eq!(drain(&mut drr, Time::ZERO), [0, 10, 1, 2, 11, 12]);
    }

    #[test]
    fn a_flow_that_was_idle_begins_with_a_quantum() {
        let mut drr = queue("drr", &["quantum=500"], Limit::Packets(100));
        drr.enqueue(sized(1, 0, 100), Time::ZERO);
        drain(&mut drr, Time::ZERO);
        assert_eq!(drr.flow_table_len(), 0);
        for handle in [1, 2] {
            drr.enqueue(sized(1, handle, 450), Time::ZERO);
            drr.enqueue(sized(2, 10 + handle, 450), Time::ZERO);
        }
        // With the 400 bytes it left flow 1 could send both at once.
        assert_eq!(drain(&mut drr, Time::ZERO), [1, 11, 2, 12]);
    }

    #[test]
    fn a_flow_that_joins_waits_for_one_turn_of_the_others() {
        let mut drr = queue("drr", &[], Limit::Packets(100));
        arrive(&mut drr, &[1, 1, 1, 2, 2], 0, Time::ZERO);
        assert_eq!(drr.dequeue(Time::ZERO).map(|p| p.handle), Some(0));
        arrive(&mut drr, &[3], 10, Time::ZERO);
        assert_eq!(drain(&mut drr, Time::ZERO), [3, 10, 1, 4, 2]);
    }

    #[test]
    fn flows_that_are_gone_leave_no_memory_behind() {
        let mut drr = queue("drr", &[], Limit::Packets(100));
        for flow in 0..10_000 {
            drr.enqueue(packet(flow, flow), Time::ZERO);
            drr.dequeue(Time::ZERO);
        }
        assert!(drr.flow_table_bytes() < 10_000, "{} bytes", drr.flow_table_bytes());
    }

    /// Shreedhar and Varghese 1996, section 4: of two flows that are backlogged all the time one gets at
    /// most Q + 2 Max bytes more than the other in any interval, Max being the longest packet: in a
    /// turn a flow sends Q, less or more by what the deficit counter changes, which is below Max; and
    /// the turns of two flows differ by at most one.
    fn lead_of_a_backlogged_flow(quantum: u32, lengths: &[Vec<u32>; 2]) -> i64 {
        let mut drr = queue("drr", &[&format!("quantum={quantum}")], Limit::Packets(1000));
        let mut handles = [0_u64; 2];
        let mut arrive_one = |drr: &mut Qdisc, flow: usize| {
            let len = lengths[flow][handles[flow] as usize % lengths[flow].len()];
            handles[flow] += 1;
            drr.enqueue(sized(flow as u64, 2 * handles[flow] + flow as u64, len), Time::ZERO);
        };
        for flow in [0, 0, 1, 1] {
            arrive_one(&mut drr, flow);
        }
        let (mut lead, mut highest, mut lowest) = (0_i64, 0, 0);
        for _ in 0..2000 {
            let sent = drr.dequeue(Time::ZERO).expect("both flows are backlogged");
            lead += i64::from(sent.len) * if sent.flow.0 == 0 { 1 } else { -1 };
            (highest, lowest) = (lead.max(highest), lead.min(lowest));
            arrive_one(&mut drr, sent.flow.0 as usize);
        }
        highest - lowest
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn no_backlogged_flow_gets_a_quantum_and_two_packets_more_than_another(
            quantum in 100..4000_u32,
            a in prop::collection::vec(40..=1500_u32, 1..8),
            b in prop::collection::vec(40..=1500_u32, 1..8),
        ) {
            let longest = i64::from(*a.iter().chain(&b).max().expect("not empty"));
            prop_assert!(lead_of_a_backlogged_flow(quantum, &[a, b]) <= i64::from(quantum) + 2 * longest);
        }
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_flow_with_most_bytes() {
        let mut drr = queue("drr", &[], Limit::Packets(6));
        for handle in 0..4 {
            drr.enqueue(sized(1, handle, 100), Time::ZERO);
        }
        arrive(&mut drr, &[2, 2], 10, Time::ZERO);
        assert_eq!(drr.enqueue(sized(1, 4, 100), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&drr), [11]);
        assert_eq!(drr.enqueue(packet(2, 12), Time::ZERO), Fate::Dropped(DropReason::Full), "the longest with it");
        assert_eq!(drain(&mut drr, Time::ZERO), [0, 1, 2, 3, 4, 10]);
    }

    #[test]
    fn of_equal_flows_that_of_the_arriving_packet_loses_it() {
        let mut drr = queue("drr", &[], Limit::Packets(2));
        arrive(&mut drr, &[1, 2], 0, Time::ZERO);
        assert_eq!(drr.enqueue(packet(3, 2), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(drr.flow_table_len(), 2);
    }

    #[test]
    fn a_flow_that_loses_its_only_packet_is_forgotten() {
        let mut drr = queue("drr", &[], Limit::Packets(2));
        arrive(&mut drr, &[1, 2], 0, Time::ZERO);
        assert_eq!(drr.enqueue(sized(3, 2, 40), Time::ZERO), Fate::Queued);
        assert_eq!((dropped(&drr), drr.flow_table_len()), (vec![0], 2));
        assert_eq!(drain(&mut drr, Time::ZERO), [1, 2]);
    }

    #[test]
    fn with_a_byte_limit_as_many_go_as_needed() {
        let mut drr = queue("drr", &[], Limit::Bytes(6000));
        arrive(&mut drr, &[1, 1, 1, 2], 0, Time::ZERO);
        assert_eq!(drr.enqueue(sized(3, 4, 2000), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&drr), [2, 1]);
        assert_eq!(drain(&mut drr, Time::ZERO), [0, 3, 4]);
    }

    proptest! {
        /// Against a search over all flows.
        #[test]
        fn the_victim_is_the_tail_of_the_longest_flow(arrivals in prop::collection::vec((0..5_u64, 40..1500_u32, 0..3_u8), 1..200)) {
            let mut drr = queue("drr", &[], Limit::Packets(12));
            let mut flows = vec![Vec::<Packet>::new(); 5];
            let bytes = |flow: &Vec<Packet>| flow.iter().map(|p| u64::from(p.len)).sum::<u64>();
            for (handle, (flow, len, departures)) in (0..).zip(arrivals) {
                let arriving = sized(flow, handle, len);
                drr.enqueue(arriving, Time::ZERO);
                flows[flow as usize].push(arriving);
                let most = flows.iter().map(bytes).max();
                for &(victim, _) in drr.dropped() {
                    let longest = &mut flows[victim.flow.0 as usize];
                    prop_assert_eq!(Some(bytes(longest)), most);
                    prop_assert_eq!(longest.pop().map(|p| p.handle), Some(victim.handle));
                }
                prop_assert_eq!(drr.backlog(), flows.iter().map(|flow| flow.len() as u64).sum::<u64>());
                for _ in 0..departures / 2 {
                    if let Some(sent) = drr.dequeue(Time::ZERO) {
                        flows[sent.flow.0 as usize].remove(0);
                    }
                }
            }
        }
    }
}
