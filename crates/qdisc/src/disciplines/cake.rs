//! # CAKE
//!
//! **Idea.** What Linux's CAKE does between its shaper and its class of service: every *host* gets the same share of the link, and every flow
//! of a host the same share of that. Flows are in 1024 queues that take turns by deficit round robin, new ones first, as in
//! [fq_codel](fq_codel.md). In each round a queue gets a credit of
//!
//! $$\frac{Q}{\max(1, n_s, n_d)}$$
//!
//! bytes, $n_s$ and $n_d$ being the numbers of backlogged flows of its source and its destination host: so one transfer of a host weighs as
//! much as all 32 of another (*triple isolation*: by source, destination and flow). Queues are found by a *set-associative* hash: a flow is at
//! home in one of 128 sets of 8 queues and gets any of the eight that is not in use, so that two flows share a queue only when all eight are.
//! Each queue is managed by *COBALT*, which is CoDel and BLUE side by side.
//!
//! **COBALT.** A signal is a mark where the transport understands ECN, else a drop.
//! - CoDel: the first signal comes `interval` after packets began to wait longer than `target`, the next ones after interval / sqrt(count). In
//!   calm, and while the queue is empty, the count runs down at the pace it ran up. That replaces the memory of [CoDel](codel.md), whose count
//!   starts again near where it was when the next spell comes within 16 intervals.
//! - BLUE drops at random, and never marks, with a probability that rises by 1/256 when the buffer overflows and this queue gives way,
//!   at most once per `target`, and falls by 1/4096 per `target` while the queue is found empty. It is for flows that heed no signal.
//! - The last packet of a queue is never dropped, only marked.
//!
//! **Scope and limits.**
//! - No shaper: the port of the simulator is the link. No classes of service (*besteffort* in Linux): packets carry no DSCP here. No filter of
//!   acknowledgements, no overhead accounting, no `nat`, no `ingress` mode.
//! - Linux knows its rate and takes at least the time of 1.5 full packets as `target`. A queue here does not know the rate of its link: below
//!   3.6 Mb/s give `target` yourself, 18 ms at 1 Mb/s.
//! - With one destination for all flows (a server behind the link), triple isolation is isolation of flows only: every flow has the same
//!   busier host. `isolation=src` or `dst` names the side that counts. In the same way a source whose flows all go to busy destinations gets
//!   less.
//! - Sparse flows go first whatever their number: backlogged flows starve while new ones alone fill the link, as in RFC 8290.
//!
//! **As in Linux.** There is no RFC of CAKE: what Linux 6.1 does is the rule. Every decision is that of its own code over the same packets
//! ([](../kernel/engine.md#the-kernels-own-code-decision-by-decision)), and so is what one would not derive.
//! - A flow counts among the backlogged ones of its hosts from the moment its credit is used up while it has packets, until its queue is found
//!   empty in its turn. One whose credit is used up by its last packet sits out a round without being counted, and is with its next packet.
//! - A new queue found empty is no longer new, nor old, whatever credit it has left: a flow with a packet of less than a quantum just behind each
//!   departure is new with every one of them and takes almost half the link. RFC 8290, section 4.2, makes it old for a round.
//! - *Credits* are whole bytes, rounded by chance.
//! - While nothing waits nothing happens: queues keep their credit and their place, and COBALT does not calm down.
//! - *Queues that are empty* are kept for their flow until COBALT has come to rest: an interval has passed since the last packet, and count and
//!   BLUE have run down, a step each time the queue is looked at. With each packet that is sent one of those is looked at. So more than 8 flows of
//!   a set within an interval share queues, though few have packets.
//! - *Tags.* A flow that finds all eight queues of its set in use gets its home queue, and the tag with it: the packets of the flow before go
//!   elsewhere from then on, and may overtake those that wait there. Order within a flow is not kept then.
//! - *Hosts.* A slot of the table of hosts is free while no flow of its host is backlogged. Two hosts with the same home that come while neither is
//!   share it from then on, and are one host: half a share for each. Of 33 hosts that begin together there is such a pair in 4 runs of 10.
//! - The first signal that a queue ever has does not wait for `interval`: the inverse square root of the count is 0 until the count
//!   has changed once. With 1024 queues, short transfers of the first minutes lose a packet that others would not. That of 2 is 0.06 % too small.
//! - `interval` is two targets at least; from 4.3 s on 32 bits of it are left.
//! - *The longest queue* is looked for in a heap that is not quite one: a queue that sinks in it may stay above longer ones for a while.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `isolation` | | | `triple` | equal shares for source and destination hosts (`triple`), `src` or `dst` hosts, or flows only (`flow`) |
//! | `quantum` | $Q$ | bytes | 1514 | credit of a round for a flow whose hosts have no other: in Linux 1514, below 50 Mb/s less, 300 at least |
//! | `target` | | s | 0.005 | delay that is tolerated, and the time between steps of BLUE |
//! | `interval` | | s | 0.1 | time above `target` before the first signal: about the longest round-trip time |
//!
//! **When the buffer is full** the arriving packet is queued, then packets are dropped from the head of the queue that is longest in bytes, or
//! nearly so, until the rest fits: it may be the arriving one. BLUE and CoDel of that queue are told.
//!
//! **Cost.** A look-up of a hash and eight comparisons, as many for each host of a flow that gets a queue, and as many looks at queues as
//! the load of the busiest host, since each round gives its flows but a part of a packet. For 65,535 packets after an overflow, O(log queues) each in
//! addition. Memory is fixed: 0.1 to 0.2 MB, whatever the number of flows.
//!
//! **Validation.** `tests/kernel_core/test_upstream_decisions.py`: Linux's own code, decision by decision. `crates/qdisc/tests/cake.rs`: shares by number for
//! each kind of isolation (1 flow against 32, within 1 %), and where hosts and destinations cross; collisions of 100 and of 500 flows against the binomial
//! closed form (none of 100 in 40 runs, where a plain hash has 4.7 each); delay of a sparse flow; each decision of CoDel's part at the nanosecond;
//! BLUE's probability by counting. Conformance suite. `tests/kernel/test_rivals.py`: the same datagrams through
//! this and Linux's, and every attack of `mayfly gaming` ([](../kernel/engine.md)). CAKE's own measurements (section IV of the paper) are
//! of a shaper and of Linux hosts, and are not repeated.
//!
//! **References.** T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways",
//! IEEE LANMAN 2018 (arXiv 1804.07617), III.B; J. Palmei et al., "Design and Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019; W.
//! Feng, K. Shin, D. Kandlur and D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM ToN 10(4), 2002; RFC 8289; RFC 8290.

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::cobalt::{Cobalt, Law};
use crate::parts::codel::{INTERVAL, TARGET};
use crate::parts::hash::Seeded;
use crate::parts::overflow_heap::OverflowHeap;
use crate::parts::packet_lists::{List, Slab};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Queues, and slots for source hosts and for destination hosts.
const QUEUES: usize = 1024;

/// Slots of a set.
const WAYS: usize = 8;

/// Bytes beyond which a debt is of no packet that Linux could have sent.
const GIANT: i64 = 1 << 20;

/// A tag that no flow and no host has: their numbers count up from zero.
const UNTAGGED: u64 = u64::MAX;

/// A slot in the set that `home` is in: the first, from home on, that `fits`.
#[inline]
fn way(home: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let set = home - home % WAYS;
    (0..WAYS).map(|step| set + (home + step) % WAYS).find(|&slot| fits(slot))
}

/// Where a queue stands between its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// In no rotation.
    #[default]
    Out,
    /// In that of the new queues: not counted at its hosts.
    Sparse,
    /// In the old rotation, as its credit was used up when it was empty: not counted, until a packet comes.
    SparseWait,
    /// In the old rotation, and counted among the backlogged flows of its hosts.
    Bulk,
    /// Empty, and kept for its flow until its COBALT has come to rest.
    Decaying,
}

/// The turns of one queue.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Bytes it may send; below zero, what it sent in advance.
    credit: i64,
    /// Slots of the hosts of its flow.
    slots: [u16; 2],
    standing: Standing,
}

/// Backlogged flows per host.
#[derive(Clone, Debug)]
struct Hosts {
    hash: Seeded,
    tags: Vec<u64>,
    counts: Vec<u16>,
}

impl Hosts {
    fn draw(rng: &mut Stream) -> Hosts {
        Hosts { hash: Seeded::draw(rng), tags: vec![UNTAGGED; QUEUES], counts: vec![0; QUEUES] }
    }

    /// The slot of a host: that with its tag, else the first of its set without backlogged flows, else its home.
    fn claim(&mut self, host: u32) -> u16 {
        let (host, home) = (u64::from(host), self.hash.queue(host.into(), QUEUES as u32) as usize);
        let slot = way(home, |slot| self.tags[slot] == host)
            .or_else(|| way(home, |slot| self.counts[slot] == 0))
            .unwrap_or(home);
        self.tags[slot] = host;
        slot as u16
    }

    fn bytes(&self) -> usize {
        self.tags.capacity() * size_of::<u64>() + self.counts.capacity() * size_of::<u16>()
    }
}

/// The rotations: a queue is in one of them at most.
#[derive(Clone, Copy, Debug)]
enum Line {
    New,
    Old,
    Decaying,
}

/// Queues in lines, linked both ways in a ring whose ends meet at an entry of its own.
#[derive(Clone, Debug)]
struct Lines {
    before: Vec<u16>,
    after: Vec<u16>,
}

impl Lines {
    fn empty() -> Lines {
        let alone: Vec<u16> = (0..QUEUES as u16 + 3).collect();
        Lines { before: alone.clone(), after: alone }
    }

    #[inline]
    fn first(&self, line: Line) -> Option<usize> {
        let first = usize::from(self.after[QUEUES + line as usize]);
        (first < QUEUES).then_some(first)
    }

    fn iter(&self, line: Line) -> impl Iterator<Item = usize> {
        let queue = |&at: &u16| usize::from(at) < QUEUES;
        let entries = move |at: u16| self.after.get(usize::from(at)).copied();
        std::iter::successors(entries((QUEUES + line as usize) as u16), move |&at| entries(at))
            .take_while(queue)
            .map(usize::from)
    }

    #[inline]
    fn take_out(&mut self, queue: usize) {
        let (before, after) = (self.before[queue], self.after[queue]);
        (self.after[usize::from(before)], self.before[usize::from(after)]) = (after, before);
        (self.before[queue], self.after[queue]) = (queue as u16, queue as u16);
    }

    /// To the end of `line`, from wherever the queue is.
    #[inline]
    fn move_to(&mut self, line: Line, queue: usize) {
        self.take_out(queue);
        let end = QUEUES + line as usize;
        let last = std::mem::replace(&mut self.before[end], queue as u16);
        (self.before[queue], self.after[queue]) = (last, end as u16);
        self.after[usize::from(last)] = queue as u16;
    }
}

/// The turns of all queues, and who counts how much in them.
#[derive(Clone, Debug)]
struct Rotation {
    turns: Vec<Turn>,
    lines: Lines,
    /// Of sources and destinations; none where shares are not to be equal for these.
    hosts: [Option<Hosts>; 2],
    quantum: u64,
    /// Chance of the last byte of a credit.
    dither: Stream,
}

impl Rotation {
    /// Credit of a round: a part of the quantum, by the backlogged flows of the busier one of the hosts (III.B), rounded
    /// to bytes by chance, so that nothing adds up.
    fn credit(&mut self, queue: usize) -> i64 {
        let part = self.part(queue);
        ((self.quantum * part + (self.dither.bits() >> 48)) >> 16) as i64
    }

    /// The part of the quantum in units of 2^-16.
    #[inline]
    fn part(&self, queue: usize) -> u64 {
        let slots = self.turns[queue].slots;
        let load = |side: usize| self.hosts[side].as_ref().map_or(0, |hosts| hosts.counts[usize::from(slots[side])]);
        u64::from(u16::MAX / load(0).max(load(1)).max(1))
    }

    /// Where nobody can send for long, as all are in debt for giant packets: gives every queue the credit of the rounds
    /// until the first of these debts is an ordinary one, without chance.
    #[cold]
    fn skip_rounds(&mut self) {
        let in_lines: Vec<usize> = [Line::New, Line::Old].into_iter().flat_map(|line| self.lines.iter(line)).collect();
        let share = |queue: usize| (self.quantum * self.part(queue)) >> 16;
        let rounds = |queue: usize| (-self.turns[queue].credit - GIANT).max(0) as u64 / share(queue).max(1);
        let rounds = in_lines.iter().map(|&queue| rounds(queue)).min().unwrap_or(0);
        for queue in in_lines {
            let credit = rounds * ((self.quantum * self.part(queue)) >> 16);
            self.turns[queue].credit += credit as i64;
        }
    }

    /// Counts the flow of `queue` among the backlogged ones of its hosts, or no longer.
    fn count(&mut self, queue: usize, counts: bool) {
        let slots = self.turns[queue].slots;
        for (hosts, slot) in self.hosts.iter_mut().zip(slots) {
            let Some(hosts) = hosts else { continue };
            let count = &mut hosts.counts[usize::from(slot)];
            // Flows that share a queue change its hosts while it is counted or not: bounds as in Linux.
            *count = if counts { (*count + 1).min(QUEUES as u16) } else { count.saturating_sub(1) };
        }
    }

    /// The flow of these hosts gets `queue`.
    fn settle(&mut self, queue: usize, hosts: [u32; 2]) {
        let is_counted = self.turns[queue].standing == Standing::Bulk;
        if is_counted {
            self.count(queue, false);
        }
        for (side, host) in hosts.into_iter().enumerate() {
            if let Some(hosts) = &mut self.hosts[side] {
                self.turns[queue].slots[side] = hosts.claim(host);
            }
        }
        if is_counted {
            self.count(queue, true);
        }
    }

    /// A packet has come to the queue.
    #[inline]
    fn arrive(&mut self, queue: usize) {
        match self.turns[queue].standing {
            Standing::Out | Standing::Decaying => {
                self.lines.move_to(Line::New, queue);
                let credit = self.credit(queue);
                let turn = &mut self.turns[queue];
                (turn.credit, turn.standing) = (credit, Standing::Sparse);
            }
            Standing::SparseWait => {
                self.turns[queue].standing = Standing::Bulk;
                self.count(queue, true);
            }
            Standing::Sparse | Standing::Bulk => {}
        }
    }

    /// The queue whose turn it is: the first new one, else the first old one, that has credit. Others get the credit of a
    /// round and go to the end of the old ones.
    #[inline]
    fn select(&mut self, is_empty: impl Fn(usize) -> bool) -> Option<usize> {
        loop {
            let queue = self.lines.first(Line::New).or_else(|| self.lines.first(Line::Old))?;
            if self.turns[queue].credit > 0 {
                return Some(queue);
            }
            if self.turns[queue].standing == Standing::Sparse {
                // Whoever used up its credit with its last packet is not counted before the next one.
                let waits = is_empty(queue);
                self.turns[queue].standing = if waits { Standing::SparseWait } else { Standing::Bulk };
                if !waits {
                    self.count(queue, true);
                }
            }
            if self.turns[queue].credit < -GIANT {
                self.skip_rounds();
            }
            self.turns[queue].credit += self.credit(queue);
            self.lines.move_to(Line::Old, queue);
        }
    }

    /// Takes out a queue that has come to the front and has no packet: it is `rested`, or kept for its flow.
    #[inline]
    fn leave(&mut self, queue: usize, rested: bool) {
        if rested {
            self.lines.take_out(queue);
        } else {
            self.lines.move_to(Line::Decaying, queue);
        }
        let standing = if rested { Standing::Out } else { Standing::Decaying };
        let was = std::mem::replace(&mut self.turns[queue].standing, standing);
        if was == Standing::Bulk {
            self.count(queue, false);
        }
    }

    fn bytes(&self) -> usize {
        self.turns.capacity() * size_of::<Turn>()
            + (self.lines.before.capacity() + self.lines.after.capacity()) * size_of::<u16>()
            + self.hosts.iter().flatten().map(Hosts::bytes).sum::<usize>()
    }
}

#[derive(Debug, Default)]
struct Queue {
    packets: List,
    cobalt: Cobalt,
}

/// CAKE for best effort only, at the speed of the link.
#[derive(Debug)]
pub struct Cake {
    slab: Slab,
    queues: Vec<Queue>,
    hash: Seeded,
    tags: Vec<u64>,
    rotation: Rotation,
    /// Queues that are not [`Standing::Out`].
    used: usize,
    heap: OverflowHeap,
    law: Law,
}

impl Cake {
    /// The queue of a packet: that with the tag of its flow; else one of its set that no flow has; else that of its home,
    /// which has the tag of this flow from now on, and so gets no more packets of those before.
    #[inline]
    fn queue(&mut self, packet: &Packet) -> usize {
        let (flow, home) = (packet.flow.0, self.hash.queue(packet.flow.0, QUEUES as u32) as usize);
        let turns = &self.rotation.turns;
        let is_out = |slot: usize| turns[slot].standing == Standing::Out;
        let tagged = way(home, |slot| self.tags[slot] == flow);
        let queue = tagged.or_else(|| way(home, is_out)).unwrap_or(home);
        if tagged.is_none() || is_out(queue) {
            self.used += usize::from(is_out(queue));
            self.tags[queue] = flow;
            self.rotation.settle(queue, [packet.src, packet.dst]);
        }
        queue
    }

    /// Drops from the head of the queue that has to give way.
    #[cold]
    fn make_room(&mut self, env: &mut Env) {
        while env.is_over() {
            let victim = self.heap.victim(&|queue| length(&self.queues[queue as usize].packets));
            let queue = &mut self.queues[victim];
            queue.cobalt.overflowed(env.now(), &self.law);
            let packet = self.slab.pop_front(&mut queue.packets).expect("the victim is not empty");
            self.heap.shrank(victim, &|queue| length(&self.queues[queue as usize].packets));
            env.discard(packet, DropReason::PushedOut);
        }
    }

    /// Takes the first packet of `queue`.
    #[inline]
    fn pop(&mut self, queue: usize) -> Option<Packet> {
        let packet = self.slab.pop_front(&mut self.queues[queue].packets)?;
        self.heap.shrank(queue, &|queue| length(&self.queues[queue as usize].packets));
        Some(packet)
    }

    /// `queue`, whose turn it is, has no packet.
    #[inline]
    fn leave(&mut self, queue: usize, env: &Env) {
        let rested = self.queues[queue].cobalt.emptied(env.now(), &self.law);
        self.rotation.leave(queue, rested);
        self.used -= usize::from(rested);
    }
}

/// Bytes, but not zero for a queue of packets without any.
#[inline]
fn length(packets: &List) -> u64 {
    packets.bytes().max(packets.packets().into())
}

impl Discipline for Cake {
    const SPEC: Spec = Spec {
        id: "cake",
        family: Family::FairQueueing,
        about: "CAKE without shaper: equal shares for hosts and for their flows, COBALT on each queue",
        source: "Høiland-Jørgensen 2018",
        when_full: "the first packet of the queue that is longest in bytes, or nearly so",
        time_driven: false,
        // Where a set is full the home queue of a flow may go to another one while packets of it wait there.
        keeps_flow_order: false,
        runs_on: RunsOn::Kernel { qdisc: "cake", since: "4.19" },
        params: &[
            Param {
                name: "isolation",
                unit: "",
                about: "shares are equal for source and destination hosts, one of them, or flows only",
                value: Value::Choice(&["triple", "src", "dst", "flow"]),
            },
            Param {
                name: "quantum",
                unit: "bytes",
                about: "credit of a round for a flow whose hosts have no other",
                value: Value::Whole { default: 1514, min: 300, max: 1_000_000 },
            },
            TARGET,
            INTERVAL,
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let isolation = options.choice("isolation");
        let hash = Seeded::draw(rng);
        let mut hosts = |counts: bool| counts.then(|| Hosts::draw(rng));
        let hosts = [hosts(matches!(isolation, "triple" | "src")), hosts(matches!(isolation, "triple" | "dst"))];
        Ok(Cake {
            slab: Slab::default(),
            queues: (0..QUEUES).map(|_| Queue::default()).collect(),
            hash,
            tags: vec![UNTAGGED; QUEUES],
            rotation: Rotation {
                turns: vec![Turn::default(); QUEUES],
                lines: Lines::empty(),
                hosts,
                quantum: options.whole("quantum"),
                dither: Stream::named(rng.bits(), "credits of cake"),
            },
            used: 0,
            heap: OverflowHeap::of_empty(),
            law: Law::with_options(options),
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        env.accept(&packet);
        let queue = self.queue(&packet);
        self.slab.push_back(&mut self.queues[queue].packets, packet);
        self.heap.grew(queue, &|queue| length(&self.queues[queue as usize].packets));
        self.rotation.arrive(queue);
        if env.is_over() {
            self.make_room(env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        // While nothing waits, turns stay as they are.
        if env.stats.backlog() == 0 {
            return None;
        }
        // One of the queues that are kept for their flows is looked at with each packet.
        if let Some(queue) = self.rotation.lines.first(Line::Decaying) {
            self.leave(queue, env);
        }
        loop {
            let queue = self.rotation.select(|queue| self.queues[queue].packets.is_empty())?;
            let Some(mut packet) = self.pop(queue) else {
                self.leave(queue, env);
                continue;
            };
            loop {
                let Queue { packets, cobalt } = &mut self.queues[queue];
                if !cobalt.drops(&mut packet, packets.is_empty(), env, &self.law) {
                    break;
                }
                env.discard(packet, DropReason::Early);
                packet = self.pop(queue).expect("the last packet is not dropped");
            }
            self.rotation.turns[queue].credit -= i64::from(packet.len);
            self.heap.sent();
            return Some(packet);
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let first = |queue: usize| self.slab.front(&self.queues[queue].packets);
        let lines = &self.rotation.lines;
        let front = lines.first(Line::New).or_else(|| lines.first(Line::Old))?;
        if self.rotation.turns[front].credit > 0 && first(front).is_some() {
            return first(front);
        }
        // Turns are taken to be seen.
        let mut rotation = self.rotation.clone();
        loop {
            let queue = rotation.select(|queue| first(queue).is_none())?;
            if let Some(packet) = first(queue) {
                return Some(packet);
            }
            rotation.leave(queue, true);
        }
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.used
    }

    fn flow_table_bytes(&self) -> usize {
        self.queues.capacity() * size_of::<Queue>()
            + self.tags.capacity() * size_of::<u64>()
            + self.rotation.bytes()
            + self.heap.bytes()
    }
}
