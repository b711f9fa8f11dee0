//! # FQ-PIE
//!
//! **Idea.** Flows are hashed onto queues that take turns as in [FQ-CoDel](fq_codel.md): a queue that was empty is *new* and goes first, for at
//! most a quantum, then it takes turns with the old ones. Each queue has a [PIE](pie.md) of its own, so a flow is dropped from by its own
//! delay and a sparse flow is not dropped from.
//!
//! **Scope and limits.**
//! - Flows that share a queue share its delay and its drops; with 1024 queues two given flows do so with probability 1/1024.
//! - RFC 8033, 6, suggests one drop probability for all queues, scaled by their lengths; here each queue has its own, as in Linux.
//! - A full buffer refuses what arrives, as Linux does; FQ-CoDel takes from the longest queue instead. PIE leaves room, unless flows do not
//!   answer to drops: then a flow that fills the buffer can shut others out.
//! - The delay of a queue includes the turns of the others. `target` is not per flow: with many busy flows each has little room for a
//!   window.
//! - Updates are made when a packet comes to a queue or leaves it, for all the time since then: see [PIE](pie.md).
//! - `memory_limit` and `ecn_prob` of Linux: the limit is that of the buffer, the latter is `ecn_max`; `ecn` is on here, off there.
//!
//! **Parameters.** Those of [PIE](pie.md), and
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `flows` | `flows` | queues | 1024 | queues that flows are hashed onto |
//! | `quantum` | `quantum` | bytes | 1514 | what a queue may send in its turn |
//!
//! **When the buffer is full** the arriving packet is dropped.
//!
//! **Cost.** O(1) per packet, no look-up, at most one random number: 37 to 40 ns (FIFO 9 ns), 300 packets, 10 000 flows. The queues are
//! allocated at once: about 90 kB at the default.
//!
//! **Validation.** Unit tests: new flows first; a flow in overload loses what has to go, a sparse one beside it nothing; with one queue every
//! packet has the fate it has under `pie` with the same random numbers. PIE itself is checked against RFC 8033, see [PIE](pie.md).
//! Conformance suite.
//!
//! **References.** RFC 8290, section 4; RFC 8033; Linux `sch_fq_pie`; Ramakrishnan et al. 2019 (FQ-PIE in Linux).

use units::Stream;

use crate::base::{Discipline, Env};
use crate::packet::Packet;
use crate::parts::hash::Seeded;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::pie::{
    ALPHA, BETA, BURST, Clock, Control, DERANDOMIZE, ECN, ECN_MAX, HIGH_DELAY, MEAN_PACKET, Rules, TARGET, UPDATE,
};
use crate::parts::turn_taking::TurnTaking;
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

#[derive(Clone, Copy, Debug)]
struct Queue {
    list: List,
    control: Control,
}

/// FlowQueue-PIE.
#[derive(Debug)]
pub struct FqPie {
    hash: Seeded,
    packets: Slab,
    queues: Vec<Queue>,
    turns: TurnTaking,
    rules: Rules,
    clock: Clock,
    quantum: i64,
}

impl Discipline for FqPie {
    const SPEC: Spec = Spec {
        id: "fq_pie",
        family: Family::FairQueueing,
        about: "fair queueing with PIE on each queue: new flows first",
        source: "RFC 8033, RFC 8290, Linux",
        when_full: "the arriving packet",
        time_driven: false,
        // All packets of a flow are in one queue.
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "fq_pie", since: "5.6" },
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
            UPDATE,
            ALPHA,
            BETA,
            BURST,
            ECN,
            ECN_MAX,
            MEAN_PACKET,
            DERANDOMIZE,
            HIGH_DELAY,
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let (flows, quantum) = (options.whole("flows") as u32, options.whole("quantum") as i64);
        let rules = Rules::with_options(options);
        let mut turns = TurnTaking::of(quantum);
        turns.reserve(flows);
        Ok(FqPie {
            hash: Seeded::draw(rng),
            packets: Slab::default(),
            queues: vec![Queue { list: List::default(), control: Control::calm(&rules) }; flows as usize],
            turns,
            clock: Clock::of(&rules),
            rules,
            quantum,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        let at = self.hash.queue(packet.flow.0, self.queues.len() as u32);
        let Queue { list, control } = &mut self.queues[at as usize];
        control.catch_up(&self.rules, list.is_empty(), self.clock.made(env.now()));
        let Some(packet) = control.admit(&self.rules, packet, list.bytes(), env) else { return };
        self.packets.push_back(list, packet);
        if !self.turns.is_active(at) {
            self.turns.enter_new(at, self.quantum);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        let made = self.clock.made(env.now());
        loop {
            let at = self.turns.select(|_| 1)?;
            let Queue { list, control } = &mut self.queues[at as usize];
            control.catch_up(&self.rules, list.is_empty(), made);
            if let Some(packet) = self.packets.pop_front(list) {
                control.depart(packet.arrival, env.now());
                self.turns.spend(at, packet.len);
                return Some(packet);
            }
            self.turns.retire(at);
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let list = |at: u32| &self.queues[at as usize].list;
        let first = self.turns.first(|at| (!list(at).is_empty()).then_some(1))?;
        self.packets.front(list(first))
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.turns.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.queues.capacity() * size_of::<Queue>() + self.turns.bytes()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::test_queue::{arrive, drain, packet, queue};
    use crate::{DropReason, Fate, Limit, Qdisc};

    const MS: u64 = 1_000_000;

    #[test]
    fn a_flow_that_was_not_waiting_goes_first() {
        let mut fq_pie = queue("fq_pie", &[], Limit::Packets(100));
        arrive(&mut fq_pie, &[1, 1, 1, 1], 0, Time::ZERO);
        assert_eq!([(); 2].map(|()| fq_pie.dequeue(Time::ZERO).map(|p| p.handle)), [Some(0), Some(1)], "14 bytes left");
        arrive(&mut fq_pie, &[2], 10, Time::ZERO);
        assert_eq!(drain(&mut fq_pie, Time::ZERO), [10, 2, 3]);
    }

    #[test]
    fn a_flow_is_dropped_from_by_its_own_delay() {
        let mut fq_pie = queue("fq_pie", &[], Limit::Packets(100_000));
        let mut dropped = [0; 2];
        let mut offer = |fq_pie: &mut Qdisc, flow, now| {
            let fate = fq_pie.enqueue(packet(flow, 0), Time(now));
            dropped[usize::from(flow == 2)] += u32::from(fate == Fate::Dropped(DropReason::Early));
        };
        // The link sends a packet per ms. One flow offers two, the other one in ten.
        for ms in 0..10_000 {
            offer(&mut fq_pie, 1, ms * MS);
            offer(&mut fq_pie, 1, ms * MS);
            if ms % 10 == 0 {
                offer(&mut fq_pie, 2, ms * MS);
            }
            fq_pie.dequeue(Time(ms * MS));
        }
        // More than half of the 20 000 have to go in the long run.
        assert!(dropped[0] > 7000 && dropped[1] == 0, "{dropped:?}");
    }

    #[test]
    fn two_packets_of_a_queue_are_not_too_many_whatever_waits_elsewhere() {
        let options = ["burst=0", "alpha=1000", "beta=1000"];
        let mut fq_pie = queue("fq_pie", &options, Limit::Packets(100));
        arrive(&mut fq_pie, &[1; 50], 0, Time::ZERO);
        arrive(&mut fq_pie, &[2; 3], 50, Time::ZERO);
        // A delay of 3 s takes the probability of each queue to 1 at the next update.
        let mut left_of_two = 0;
        while left_of_two < 2 {
            let left = fq_pie.dequeue(Time(3000 * MS)).expect("many wait");
            left_of_two += u32::from(left.flow.0 == 2);
        }
        let fates = [0; 3].map(|handle| fq_pie.enqueue(packet(2, handle), Time(3015 * MS)));
        assert_eq!(fates, [Fate::Queued, Fate::Queued, Fate::Dropped(DropReason::Early)]);
        assert_eq!(fq_pie.enqueue(packet(1, 0), Time(3015 * MS)), Fate::Dropped(DropReason::Early));
    }

    #[test]
    fn one_queue_alone_is_pie() {
        let options = [("flows".to_owned(), "1".to_owned())];
        let limit = Limit::Packets(60);
        let mut fq_pie = Qdisc::from_options("fq_pie", &options, limit, Stream::named(4, "pie")).expect("valid");
        let mut after_hash = Stream::named(4, "pie");
        Seeded::draw(&mut after_hash);
        let mut pie = Qdisc::from_options("pie", &[], limit, after_hash).expect("valid");
        let mut rng = Stream::named(5, "traffic");
        for n in 0..30_000 {
            let now = Time(n * MS / 2);
            // Overload with a pause every two seconds.
            if rng.bits() % 5 < 3 && n % 4000 < 3000 {
                let packet = packet(rng.bits() % 9, n);
                assert_eq!(fq_pie.enqueue(packet, now), pie.enqueue(packet, now));
            }
            if n % 2 == 0 {
                assert_eq!(fq_pie.dequeue(now), pie.dequeue(now));
            }
        }
        assert!(pie.stats() == fq_pie.stats() && pie.stats().dropped_before > 1000, "{:?}", pie.stats());
    }

    #[test]
    fn a_full_buffer_refuses_what_arrives_and_only_waiting_flows_are_counted() {
        let mut fq_pie = queue("fq_pie", &[], Limit::Packets(2));
        arrive(&mut fq_pie, &[1, 2], 0, Time::ZERO);
        assert_eq!(fq_pie.enqueue(packet(3, 2), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(fq_pie.flow_table_len(), 2);
        let bytes = fq_pie.flow_table_bytes();
        assert!((1024 * 60..1024 * 200).contains(&bytes), "{bytes}: all queues, used or not");
    }
}
