//! # SFQ
//!
//! **Idea.** Stochastic fairness queueing hashes flows onto `divisor` queues, and these take turns. It gives nearly the shares of fair queueing
//! without a table of flows. Flows that share a queue share its turn; a new hash every `perturb` seconds sees to it that they are not always
//! the same.
//!
//! **Scope and limits.** As in Linux, where it differs from McKenney, with these exceptions:
//! - Turns are in bytes (`quantum`), with the debt of a turn taken off the next one, as in Linux; McKenney's are in packets.
//! - Of equally long queues the one of the arriving packet loses, then the one of smallest number. In Linux it is the one that came to that
//!   length last, and with one packet each the one whose turn is next.
//! - Linux has at most 128 queues in use at once by default (`flows`) and 127 packets in all (`limit`). Here all of the `divisor` queues can
//!   be, and the limit is Mayfly's own.
//! - Linux draws the new hash from a timer. Here it is drawn by the first packet that arrives after its time; nobody is hashed in between.
//! - A new hash moves the packets that wait to their new queues, so packets of a flow keep their order. In Linux what is beyond `depth` there
//!   is dropped; here it stays, and `depth` is for arriving packets.
//! - `headdrop` and the RED options of Linux are not built in. `divisor` need not be a power of two.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `divisor` | | queues | 1024 | queues that flows are hashed onto |
//! | `quantum` | | bytes | 1514 | what a queue may send in its turn |
//! | `depth` | | packets | 127 | longest queue; what arrives beyond is dropped |
//! | `perturb` | | s | 0 | time after which the hash is drawn anew; 0 for never |
//!
//! **When the buffer is full** the last packet of the queue with most packets goes, the arriving packet counted with its queue. So if its own
//! queue is as long as any, the arriving packet is dropped. With a limit in bytes as many packets go as needed; the arriving packet may turn
//! out to be one of them after others went.
//!
//! **Cost.** O(1) per packet and no look-up; O(log queues) per victim; a new hash O(packets waiting). Memory: 40 bytes per queue, allocated at
//! once, and less than 80 for the search of the longest as queues fill.
//!
//! **Validation.** Unit tests: turns and debts by hand, collisions, depth, victims, the time of a new hash and the order within flows after it.
//! The turns against a model that runs every round (`turns.rs`). Conformance suite.
//!
//! **References.** P. E. McKenney, "Stochastic fairness queueing", INFOCOM 1990; Internetworking: Research and Experience 2, 1991. Linux
//! `net/sched/sch_sfq.c`.

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::hash::Seeded;
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::turn_taking::TurnTaking;
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Stochastic fairness queueing.
#[derive(Debug)]
pub struct Sfq {
    hash: Seeded,
    packets: Slab,
    queues: Vec<List>,
    turns: TurnTaking,
    longest: LongestQueue,
    quantum: i64,
    depth: u32,
    /// Time between two hashes; zero for one hash for ever.
    perturb: Time,
    next_hash: Time,
}

impl Sfq {
    #[inline]
    fn queue_of(&self, packet: &Packet) -> u32 {
        self.hash.queue(packet.flow.0, self.queues.len() as u32)
    }

    #[inline]
    fn push(&mut self, queue: u32, packet: Packet) {
        let list = &mut self.queues[queue as usize];
        if list.is_empty() {
            self.turns.enter_old(queue, self.quantum);
        }
        self.packets.push_back(list, packet);
        self.longest.grew(queue, u64::from(list.packets()));
    }

    /// Drops the last packet of the queue with most packets, the arriving one counted, until there is
    /// room for that, which has `own` packets before it; false when it is the one to go.
    fn make_room(&mut self, own: u32, len: u32, env: &mut Env) -> bool {
        while env.is_full(len) {
            let longest = self.longest.find(|queue| u64::from(self.queues[queue as usize].packets()));
            // Of equals the queue of the arriving packet: nobody is better off by its coming.
            let Some((queue, _)) = longest.filter(|&(_, most)| most > u64::from(own) + 1) else { return false };
            let victim = self.packets.pop_back(&mut self.queues[queue as usize]).expect("it has more than one packet");
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    /// Hashes anew, the packets that wait too, as in Linux: the order within a flow stays.
    #[cold]
    fn perturb(&mut self, env: &mut Env) {
        let now = env.now().0;
        self.next_hash = Time((now - now % self.perturb.0).saturating_add(self.perturb.0));
        self.hash = Seeded::draw(&mut env.rng);
        let mut waiting = Vec::with_capacity(env.stats().backlog() as usize);
        while let Some(queue) = self.turns.front() {
            waiting.extend(std::iter::from_fn(|| self.packets.pop_front(&mut self.queues[queue as usize])));
            self.turns.remove(queue);
        }
        for packet in waiting {
            self.push(self.queue_of(&packet), packet);
        }
    }
}

impl Discipline for Sfq {
    const SPEC: Spec = Spec {
        id: "sfq",
        family: Family::FairQueueing,
        about: "stochastic fairness queueing: flows are hashed onto queues, which take turns",
        source: "McKenney 1990",
        when_full: "the last packet of the queue with most packets, the arriving one counted",
        time_driven: false,
        // All packets of a flow are in one queue, and move to another one together.
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "sfq", since: "" },
        params: &[
            Param {
                name: "divisor",
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
            Param {
                name: "depth",
                unit: "packets",
                about: "longest queue; what arrives beyond is dropped",
                value: Value::Whole { default: 127, min: 1, max: u32::MAX as u64 },
            },
            Param {
                name: "perturb",
                unit: "s",
                about: "time after which the hash is drawn anew; 0 for never",
                value: Value::Number { default: 0.0, min: 0.0, max: 1e6 },
            },
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let (divisor, quantum) = (options.whole("divisor") as u32, options.whole("quantum") as i64);
        let mut turns = TurnTaking::of(quantum);
        turns.reserve(divisor);
        let perturb = options.time("perturb");
        Ok(Sfq {
            hash: Seeded::draw(rng),
            packets: Slab::default(),
            queues: vec![List::default(); divisor as usize],
            turns,
            longest: LongestQueue::default(),
            quantum,
            depth: options.whole("depth") as u32,
            perturb,
            next_hash: perturb,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        // Not in dequeue: while nothing arrives nobody is hashed.
        if self.perturb > Time::ZERO && env.now() >= self.next_hash {
            self.perturb(env);
        }
        let queue = self.queue_of(&packet);
        let own = self.queues[queue as usize].packets();
        if own >= self.depth {
            env.refuse(packet, DropReason::FlowFull);
            return;
        }
        if env.is_full(packet.len) && !self.make_room(own, packet.len, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        self.push(queue, packet);
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let queue = self.turns.select(|_| 1)?;
        let list = &mut self.queues[queue as usize];
        let packet = self.packets.pop_front(list).expect("no empty queue has a turn");
        if list.is_empty() {
            self.turns.remove(queue);
        } else {
            self.turns.spend(queue, packet.len);
        }
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.packets.front(&self.queues[self.turns.first(|_| Some(1))? as usize])
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.turns.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.queues.capacity() * size_of::<List>() + self.turns.bytes() + self.longest.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet};

    const APART: &str = "divisor=65536";

    #[test]
    fn queues_take_turns() {
        let mut sfq = queue("sfq", &[APART, "quantum=1500"], Limit::Packets(100));
        arrive(&mut sfq, &[1, 1, 1, 2, 2, 3], 0, Time::ZERO);
        assert_eq!(sfq.flow_table_len(), 3);
        assert_eq!(drain(&mut sfq, Time::ZERO), [0, 3, 5, 1, 4, 2]);
        assert_eq!(sfq.flow_table_len(), 0);
    }

    #[test]
    fn what_a_queue_sends_beyond_its_quantum_it_lacks_in_the_next_turn() {
        let mut sfq = queue("sfq", &[APART, "quantum=1500"], Limit::Packets(100));
        for handle in 0..5 {
            sfq.enqueue(Packet { len: 1000, ..packet(1, handle) }, Time::ZERO);
        }
        arrive(&mut sfq, &[2; 3], 10, Time::ZERO);
        // 1500, 500, -500 | 1000, 0 | 1500, 500, -500.
        assert_eq!(drain(&mut sfq, Time::ZERO), [0, 1, 10, 2, 11, 3, 4, 12]);
    }

    #[test]
    fn a_flow_that_joins_waits_for_one_turn_of_the_others() {
        let mut sfq = queue("sfq", &[APART, "quantum=1500"], Limit::Packets(100));
        arrive(&mut sfq, &[1, 1, 1, 2, 2], 0, Time::ZERO);
        assert_eq!(sfq.dequeue(Time::ZERO).map(|p| p.handle), Some(0));
        arrive(&mut sfq, &[3], 10, Time::ZERO);
        assert_eq!(drain(&mut sfq, Time::ZERO), [3, 10, 1, 4, 2]);
    }

    #[test]
    fn flows_that_collide_share_a_queue() {
        let mut sfq = queue("sfq", &["divisor=1"], Limit::Packets(100));
        arrive(&mut sfq, &[1, 1, 2, 1], 0, Time::ZERO);
        assert_eq!((sfq.flow_table_len(), drain(&mut sfq, Time::ZERO)), (1, vec![0, 1, 2, 3]));
    }

    #[test]
    fn a_queue_takes_no_more_packets_than_its_depth() {
        let mut sfq = queue("sfq", &["depth=2"], Limit::Packets(100));
        arrive(&mut sfq, &[1, 1], 0, Time::ZERO);
        assert_eq!(sfq.enqueue(packet(1, 2), Time::ZERO), Fate::Dropped(DropReason::FlowFull));
        sfq.dequeue(Time::ZERO);
        assert_eq!(sfq.enqueue(packet(1, 3), Time::ZERO), Fate::Queued);
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_queue_with_most_packets() {
        let mut sfq = queue("sfq", &[APART], Limit::Packets(5));
        for handle in 0..3 {
            sfq.enqueue(Packet { len: 40, ..packet(1, handle) }, Time::ZERO);
        }
        arrive(&mut sfq, &[2, 2, 2], 10, Time::ZERO);
        assert_eq!(dropped(&sfq), [12], "as long as the other with it: the arriving one");
        arrive(&mut sfq, &[3], 20, Time::ZERO);
        assert_eq!(dropped(&sfq), [2], "packets count, not bytes");
        arrive(&mut sfq, &[4], 30, Time::ZERO);
        assert_eq!(sfq.dropped()[0].1, DropReason::PushedOut);
        arrive(&mut sfq, &[5, 6], 40, Time::ZERO);
        assert_eq!(dropped(&sfq), [41], "one packet each");
        assert_eq!(sfq.backlog(), 5);
    }

    #[test]
    fn with_a_byte_limit_as_many_go_as_needed() {
        let mut sfq = queue("sfq", &[APART], Limit::Bytes(6000));
        arrive(&mut sfq, &[1, 1, 1, 1], 0, Time::ZERO);
        assert_eq!(sfq.enqueue(Packet { len: 2900, ..packet(2, 10) }, Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&sfq), [3, 2]);
    }

    /// Handles in the order of service of two packets for each of 60 flows: the first ones come at 0 ms,
    /// the second one of flow 0 at `then_ms`, and the rest at `last_ms`.
    fn served(options: &[&str], then_ms: u64, last_ms: u64) -> Vec<u64> {
        let mut sfq = queue("sfq", options, Limit::Packets(1000));
        let flows: Vec<u64> = (0..60).collect();
        arrive(&mut sfq, &flows, 0, Time::ZERO);
        arrive(&mut sfq, &flows[..1], 60, Time::from_millis(then_ms));
        arrive(&mut sfq, &flows[1..], 61, Time::from_millis(last_ms));
        drain(&mut sfq, Time::from_millis(last_ms))
    }

    #[test]
    fn a_new_hash_is_drawn_at_the_first_arrival_after_its_time() {
        let fixed = served(&["divisor=16"], 3000, 3000);
        assert_eq!(served(&["divisor=16", "perturb=3.001"], 3000, 3000), fixed, "too early");
        assert_ne!(served(&["divisor=16", "perturb=3"], 3000, 3000), fixed);
    }

    #[test]
    fn hashes_are_drawn_at_multiples_of_their_time() {
        let order = |last_ms| served(&["divisor=16", "perturb=1"], 3500, last_ms);
        assert_eq!(order(3999), order(3500), "one at 3.5 s, none before 4 s");
        assert_ne!(order(4000), order(3500));
    }

    #[test]
    fn packets_that_wait_move_to_their_new_queue_in_order() {
        let order = served(&["divisor=16", "perturb=1"], 3000, 3000);
        let mut by_flow: HashMap<u64, Vec<u64>> = HashMap::new();
        order.iter().for_each(|handle| by_flow.entry(handle % 60).or_default().push(*handle));
        assert_eq!(order.len(), 120, "nothing is lost");
        assert!(by_flow.values().all(|handles| handles.is_sorted()), "{by_flow:?}");
    }
}
