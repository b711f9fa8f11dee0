//! # DQFQ
//!
//! **Idea.** *Decaying-quantum fair queueing*, the smallest change to [FQ-CoDel](fq_codel.md) that gives short flows and users what
//! [LFQ](lfq.md) gives them. Queues take turns as there, but the quantum of a turn is large while a flow has had little and shrinks with what
//! it has had, and the flows of a user divide it. And a queue that was emptied does not get a fresh quantum for coming back. It is here
//! as a rival of LFQ that costs a few lines of an existing queue.
//!
//! **Rules.** $a$ is what the flow attained, $b$ the `lag`, $n$ the number of flows of its user that have packets waiting, $Q$ the `quantum`.
//!
//! | when | what |
//! |---|---|
//! | a flow without credit comes to the front | its credit goes up by $Q \max(1, \lceil w (1 - a/b) \rceil) / n$, $w$ being the `weight`, and it goes to the back |
//! | a packet of $c$ bytes is sent | the credit goes down by $c$, $a$ goes up by $c$ but not above $b$ |
//! | a queue is out of the lists | it keeps the credit it has left |
//! | it comes back | it is *new*, goes before the old ones, and has $\min(\text{credit}, Q)$ |
//! | a flow has nothing waiting | $a$ goes down, not below 0, by what a fair share of the link is sent meanwhile: $c$ over the number of backlogged flows |
//!
//! The last rule is not in the description this was made from (`shared/lfq`, which says nothing of forgetting). Without it a flow that
//! sends little for long would end like a bulk transfer, and so would every flow that comes to a queue after others. With it $b - a$ is
//! what LFQ calls credit: what a flow was entitled to and did not use, at most $b$.
//!
//! Everything else is FQ-CoDel with `rules=linux`: queues by a hash, CoDel on each, victims in batches from the longest queue.
//!
//! **Scope and limits.**
//! - A queue begins with a credit of $Q$ and $a = 0$, whoever comes to it. So a flow that takes ever new ports finds queues that nobody used
//!   lately: its user gets $w$ times the share of a user whose flow has sent $b$. That is the price of having no tag for a user, only a count.
//!   With new addresses as well there is no bound at all, as in FQ-CoDel.
//! - Two users share by turns, so one with a fresh flow gets at most $w$ times the share of another until $b$ bytes are sent, and an
//!   equal share from then on.
//! - Two flows may share a queue, and then $a$, and belong to the user whose packet came first while it was empty.
//! - Users beyond eight that have packets waiting in one set of the table of users share the count of one of them, as in [CAKE](cake.md).
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `user` | | | `pair` | what a user is: `pair` of hosts, `dst` or `src` host, `flow` |
//! | `weight` | $w$ | quanta | 8 | a turn of a flow that was sent nothing lately; 1: all turns are alike |
//! | `lag` | $b$ | bytes | 120,000 | what a flow is sent until its turns are as those of all others |
//! | `flows` | | queues | 1024 | queues that flows are hashed onto |
//! | `quantum` | $Q$ | bytes | 1514 | what a queue may send in a turn when its flow has had its lag |
//! | `target` | TARGET | s | 0.005 | CoDel: time in the queue that is acceptable |
//! | `interval` | INTERVAL | s | 0.1 | CoDel: how long it may be exceeded before the first drop |
//! | `mtu` | MTU | bytes | 1514 | CoDel: nothing is dropped while no more than this waits behind in all queues |
//! | `ecn` | | | `on` | mark packets of ECN-capable transports instead of dropping them |
//! | `drop_batch` | | packets | 64 | most packets dropped at once when the buffer is full |
//!
//! **When the buffer is full** the arriving packet is queued first; then the queue with most bytes loses packets from its head until half of its
//! bytes or `drop_batch` packets are gone, and so on until the rest fits. The arriving packet may be among them.
//!
//! **Cost.** O(1) per packet while a turn is no shorter than a packet; else two passes over the lists when nobody has credit. A look-up of the
//! user when a flow gets packets. Memory: 104 bytes per queue and 14 kB for users, allocated at once, and less than 80 per queue for the search of the
//! longest as queues fill.
//!
//! **Validation.** Unit tests: with one weight and a user per flow, the packets of queues that never empty leave as under `fq_codel`; shares
//! of fresh and old flows, and of users with 1 and 32 flows, by counting; credit that is kept, and forgetting. The turns against a model
//! that runs every round, with a quantum for each queue (`turn_taking.rs`). Conformance suite.
//!
//! Measured on 2026-11-25 by `mayfly arena --quick` (seeds 1 to 4), `fq_codel` / this / `lfq`: at 8 Mb/s of 10 up to 20 packets 82 / 49 / 52 ms, 21 to
//! 300 packets 0.39 / 0.29 / 0.27 s, above 4.6 / 4.8 / 5.0 s; pages over HTTP/2, median, 1.9 / 1.7 / 0.66 s; short transfers behind bulk
//! 120 / 87 / 83 ms. So most of what short flows gain is to be had this way. Not the safety: the attacker with new ports 2.18 / 2.19 / 1.00 fair
//! shares, a transfer split in 16 3.10 / 2.43 / 1.02, the share left to long ones in overload 0.08 / 0.07 / 0.97; and a call waits for the turns
//! of fresh flows, 8 quanta each: 2.1 / 16 / 1.7 ms (99 %). With `weight=1`, users and kept credit alone, up to 20 packets take 89 ms.
//!
//! **References.** RFC 8290; M. Shreedhar and G. Varghese, "Efficient fair queuing using deficit round robin", IEEE/ACM ToN 4(3), 1996; S. Aalto,
//! U. Ayesta and E. Nyberg, "Two-level processor-sharing scheduling disciplines: mean delay analysis", SIGMETRICS 2004.

use units::Stream;

use crate::base::{Discipline, Env};
use crate::packet::Packet;
use crate::parts::codel::{ECN, INTERVAL, MTU, TARGET};
use crate::parts::codel_linux;
use crate::parts::codel_queues::{CodelQueues, DROP_BATCH, FLOWS};
use crate::parts::hash::Seeded;
use crate::parts::set_associative::SetAssociative;
use crate::parts::turn_taking::TurnTaking;
use crate::parts::users::{By, USER};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Binary digits of a credit below a byte: a part of a quantum is no whole number of bytes.
const FRACTION: u32 = 10;

/// Slots for users.
const USERS: u32 = 1024;

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// What it had left when it went out of the lists, in credits.
    credit: i64,
    /// a, bytes.
    attained: u64,
    /// The clock when its last packet left.
    left: u64,
    /// Slot of its user while packets wait.
    user: u16,
    is_backlogged: bool,
}

/// Who gets how much in a turn.
#[derive(Debug)]
struct Shares {
    flows: Vec<Flow>,
    by: By,
    /// Backlogged flows of each user.
    users: SetAssociative<u64, u32>,
    backlogged: u64,
    /// What a flow was sent that had its fair share all the time, bytes shifted by [`FRACTION`].
    clock: u64,
    quantum: i64,
    weight: u64,
    lag: u64,
}

impl Shares {
    /// Credit of a turn.
    #[inline]
    fn quantum(&self, queue: u32) -> i64 {
        let flow = &self.flows[queue as usize];
        let left = u128::from(self.weight) * u128::from(self.lag - flow.attained);
        let times = left.div_ceil(u128::from(self.lag)).max(1) as i64;
        // The turn of an empty queue only pays its debt.
        let sharing = if flow.is_backlogged { self.users.at(flow.user.into()) } else { 1 };
        (self.quantum * times / i64::from(sharing.max(1))).max(1)
    }

    /// A packet of `user` has come to a queue that had none.
    #[inline]
    fn wake(&mut self, queue: u32, user: u64) {
        let flow = &mut self.flows[queue as usize];
        flow.attained = flow.attained.saturating_sub(self.clock.wrapping_sub(flow.left) >> FRACTION);
        let (slot, _) = self.users.claim(user);
        *self.users.value_mut(slot) += 1;
        (flow.user, flow.is_backlogged) = (slot as u16, true);
        self.backlogged += 1;
    }

    /// The last packet of a queue has gone.
    #[inline]
    fn fall_silent(&mut self, queue: u32) {
        let flow = &mut self.flows[queue as usize];
        (flow.left, flow.is_backlogged) = (self.clock, false);
        let slot = flow.user.into();
        let sharing = self.users.value_mut(slot);
        *sharing -= 1;
        if *sharing == 0 {
            self.users.release(slot);
        }
        self.backlogged -= 1;
    }

    /// A packet of a queue is sent.
    #[inline]
    fn sent(&mut self, queue: u32, bytes: u32) {
        let flow = &mut self.flows[queue as usize];
        flow.attained = (flow.attained + u64::from(bytes)).min(self.lag);
        self.clock = self.clock.wrapping_add((u64::from(bytes) << FRACTION) / self.backlogged);
    }
}

/// Decaying-quantum fair queueing.
#[derive(Debug)]
pub struct Dqfq {
    hash: Seeded,
    queues: CodelQueues<codel_linux::Control>,
    turns: TurnTaking,
    shares: Shares,
}

impl Dqfq {
    #[cold]
    fn make_room(&mut self, arriving: u32, env: &mut Env) {
        while env.is_over() {
            let Some(loser) = self.queues.make_room(arriving, env) else { return };
            if self.queues.is_empty(loser) {
                self.shares.fall_silent(loser);
            }
        }
    }
}

impl Discipline for Dqfq {
    const SPEC: Spec = Spec {
        id: "dqfq",
        family: Family::FairQueueing,
        about: "decaying-quantum fair queueing: FQ-CoDel whose turns shrink with what a flow was sent, and are its user's",
        source: "this project; RFC 8290",
        when_full: "half of the queue with most bytes, from its head, at most a batch",
        time_driven: false,
        // All packets of a flow are in one queue.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            USER,
            Param {
                name: "weight",
                unit: "quanta",
                about: "a turn of a flow that was sent nothing lately (w)",
                value: Value::Whole { default: 8, min: 1, max: 1000 },
            },
            Param {
                name: "lag",
                unit: "bytes",
                about: "what a flow is sent until its turns are as those of all others (b)",
                value: Value::Whole { default: 120_000, min: 1, max: 1 << 40 },
            },
            FLOWS,
            Param {
                name: "quantum",
                unit: "bytes",
                about: "what a queue may send in a turn when its flow has had its lag (Q)",
                value: Value::Whole { default: 1514, min: 1, max: 1 << 30 },
            },
            TARGET,
            INTERVAL,
            MTU,
            ECN,
            DROP_BATCH,
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let queues = CodelQueues::with_options(options);
        let quantum = (options.whole("quantum") << FRACTION) as i64;
        let mut turns = TurnTaking::of(quantum);
        turns.reserve(queues.count());
        let flow = Flow { credit: quantum, attained: 0, left: 0, user: 0, is_backlogged: false };
        let hash = Seeded::draw(rng);
        let shares = Shares {
            flows: vec![flow; queues.count() as usize],
            by: By::with_options(options),
            users: SetAssociative::draw(USERS, rng),
            backlogged: 0,
            clock: 0,
            quantum,
            weight: options.whole("weight"),
            lag: options.whole("lag"),
        };
        Ok(Dqfq { hash, queues, turns, shares })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        env.accept(&packet);
        let queue = self.hash.queue(packet.flow.0, self.queues.count());
        if self.queues.is_empty(queue) {
            self.shares.wake(queue, self.shares.by.key(&packet, 32));
        }
        self.queues.push(queue, packet);
        if !self.turns.is_active(queue) {
            let credit = self.shares.flows[queue as usize].credit.min(self.shares.quantum);
            self.turns.enter_new(queue, credit);
        }
        if env.is_over() {
            self.make_room(queue, env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        loop {
            let selected = self.turns.select_by(|_| 1, |queue| self.shares.quantum(queue))?;
            let packet = self.queues.take(selected, env);
            if let Some(packet) = &packet {
                self.turns.spend_units(selected, i64::from(packet.len) << FRACTION);
                self.shares.sent(selected, packet.len);
            }
            if self.shares.flows[selected as usize].is_backlogged && self.queues.is_empty(selected) {
                self.shares.fall_silent(selected);
            }
            if packet.is_some() {
                return packet;
            }
            if self.turns.retire_behind_others(selected) {
                self.shares.flows[selected as usize].credit = self.turns.credit(selected);
            }
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let need = |queue: u32| (!self.queues.is_empty(queue)).then_some(1);
        self.queues.front(self.turns.first_by(need, |queue| self.shares.quantum(queue))?)
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.turns.len()
    }

    fn flow_table_bytes(&self) -> usize {
        let flows = self.shares.flows.capacity() * size_of::<Flow>();
        self.queues.bytes() + self.turns.bytes() + flows + self.shares.users.bytes()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{packet, queue};
    use crate::{Limit, Packet, Qdisc};

    /// A full packet of a flow of the user with this number; flows of different users are different.
    fn of(user: u64, flow: u64, handle: u64) -> Packet {
        Packet { src: 0, dst: user as u32, ..packet(user << 20 | flow << 1, handle) }
    }

    /// Sends `packets` while each of `flows` (user, flow) always has two waiting, without time going on; bytes of each.
    fn shares(queue: &mut Qdisc, flows: &[(u64, u64)], packets: usize) -> Vec<u64> {
        let mut sent = vec![0; flows.len()];
        let mut waiting = vec![0; flows.len()];
        for _ in 0..packets {
            for (at, &(user, flow)) in flows.iter().enumerate() {
                while waiting[at] < 2 {
                    queue.enqueue(of(user, flow, at as u64), Time::ZERO);
                    waiting[at] += 1;
                }
            }
            let packet = queue.dequeue(Time::ZERO).expect("all have packets waiting");
            waiting[packet.handle as usize] -= 1;
            sent[packet.handle as usize] += u64::from(packet.len);
        }
        sent
    }

    #[test]
    fn with_one_weight_and_a_user_per_flow_queues_that_never_empty_leave_as_under_fq_codel() {
        let order = |id, options: &[&str]| {
            let mut queue = queue(id, options, Limit::Packets(1000));
            let mut sent = Vec::new();
            for handle in 0..400 {
                let len = 200 + (handle * 7919 % 1300) as u32;
                queue.enqueue(Packet { len, ..of(handle % 7, 0, handle) }, Time(handle * 1_000_000));
                if handle >= 100 && handle % 2 == 0 {
                    sent.push(queue.dequeue(Time(handle * 1_000_000)).map(|packet| packet.handle));
                }
            }
            sent
        };
        let found = order("dqfq", &["weight=1", "user=flow"]);
        assert_eq!(found, order("fq_codel", &[]));
        assert_ne!(found, order("dqfq", &["user=flow"]), "turns of 8 quanta");
    }

    #[test]
    fn a_fresh_flow_gets_weight_times_the_share_of_an_old_one_until_it_had_its_lag() {
        let mut queue = queue("dqfq", &["quantum=1500", "lag=120000"], Limit::Packets(1000));
        shares(&mut queue, &[(1, 0)], 100);
        let both = [(1, 0), (2, 0)];
        // The last packets of flow 1 are still there. In 9 packets, 8 of the fresh flow while a < b / 8.
        let first = shares(&mut queue, &both, 9);
        assert!(first[1] >= 7 * 1500, "{first:?}");
        shares(&mut queue, &both, 400);
        let last = shares(&mut queue, &both, 200);
        assert!(last[0].abs_diff(last[1]) <= 2 * 1500, "{last:?}");
    }

    #[test]
    fn users_share_equally_whatever_the_number_of_their_flows() {
        for (user, expected) in [("pair", 1.0), ("dst", 1.0), ("flow", 32.0)] {
            let mut queue = queue("dqfq", &[&format!("user={user}"), "flows=65536"], Limit::Packets(1000));
            let flows: Vec<_> = (0..33).map(|flow| if flow == 0 { (1, 0) } else { (2, flow) }).collect();
            shares(&mut queue, &flows, 8000);
            let sent = shares(&mut queue, &flows, 6600);
            let ratio = sent[1..].iter().sum::<u64>() as f64 / sent[0] as f64;
            assert!((ratio / expected - 1.0).abs() < 0.02, "{user}: {ratio}");
        }
    }

    #[test]
    fn a_queue_that_comes_back_has_what_it_left_and_no_fresh_quantum() {
        let order = |id, options: &[&str]| {
            let mut queue = queue(id, options, Limit::Packets(1000));
            for handle in 0..50 {
                queue.enqueue(of(1, 0, handle), Time::ZERO);
            }
            let sent = |queue: &mut Qdisc| queue.dequeue(Time::ZERO).map(|packet| packet.handle);
            (0..3).for_each(|_| assert!(sent(&mut queue) < Some(50)));
            queue.enqueue(Packet { len: 2500, ..of(2, 0, 50) }, Time::ZERO);
            assert_eq!(sent(&mut queue), Some(50), "new");
            // Its queue goes to the end of the old ones, and out of the lists, with 500 bytes left.
            (0..2).for_each(|_| assert!(sent(&mut queue) < Some(50)));
            assert_eq!(queue.flow_table_len(), 1);
            for handle in [51, 52] {
                queue.enqueue(Packet { len: 1000, ..of(2, 0, handle) }, Time::ZERO);
            }
            [0; 3].map(|_| sent(&mut queue).filter(|&handle| handle > 50))
        };
        let quantum = "quantum=3000";
        assert_eq!(order("fq_codel", &[quantum]), [Some(51), Some(52), None]);
        assert_eq!(order("dqfq", &[quantum, "weight=1"]), [Some(51), None, Some(52)]);
    }

    #[test]
    fn what_a_flow_had_is_forgotten_while_others_are_sent_as_much() {
        let weight = |others: usize| {
            let mut queue = queue("dqfq", &["quantum=1500", "lag=120000"], Limit::Packets(1000));
            shares(&mut queue, &[(1, 0), (2, 0)], 400);
            // Flow 2 falls silent once what it has waiting is gone.
            let mut alone = 0;
            while alone < others + 4 {
                queue.enqueue(of(1, 0, 0), Time::ZERO);
                queue.dequeue(Time::ZERO);
                alone += 1;
            }
            let sent = shares(&mut queue, &[(1, 0), (2, 0)], 30);
            sent[1] as f64 / sent[0] as f64
        };
        let (soon, late) = (weight(0), weight(100));
        assert!(soon < 1.5 && late > 4.0, "{soon} {late}");
    }
}
