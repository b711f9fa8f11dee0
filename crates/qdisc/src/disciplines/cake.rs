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
//! - BLUE drops at random, and never marks, with a probability that rises by 1/256 when the buffer overflows while this queue is the longest,
//!   at most once per `target`, and falls by 1/4096 per `target` while the queue is empty. It is for flows that heed no signal.
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
//! **As in Linux**, and unlike what one would derive.
//! - A flow counts among the backlogged ones of its hosts from the moment its credit is used up while it has packets, until its queue is found
//!   empty in its turn. One whose credit is used up by its last packet sits out a round without being counted, and is with its next packet.
//! - A new queue found empty is forgotten, whatever credit it has left: a flow with a packet of less than a quantum just behind each departure
//!   is new with every one of them and takes almost half the link. RFC 8290, section 4.2, makes it old for a round.
//! - While nothing waits nothing happens: queues keep their credit and their place.
//! - The first signal that a queue ever has does not wait for `interval`: Linux takes the inverse square root of the count as 0 until the count
//!   has changed once. With 1024 queues, short transfers of the first minutes lose a packet that others would not.
//!
//! **Where this differs from Linux**, and why.
//! - *Credits* have a fraction of a byte; Linux rounds each by a random number.
//! - *Rounds in which no queue has credit* are reckoned, not walked.
//! - *Tags.* A flow that finds all eight queues in use shares its home queue until that is empty, and the tag stays with the first flow. Linux
//!   hands the tag on to the later flow, so that packets of a flow may overtake each other.
//! - *Queues that are empty* can be given to other flows at once. Linux keeps a queue for its flow, and looks at it once in a while, until
//!   COBALT has come to rest, 100 ms at least; here COBALT's state is run down when the flow comes back, and lost when the queue has been
//!   given away.
//! - Shares of hosts with more than 1024 backlogged flows in all, or with more than eight backlogged hosts in one set of the host table, are
//!   approximate, as in Linux.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `isolation` | | | `triple` | equal shares for source and destination hosts (`triple`), `src` or `dst` hosts, or flows only (`flow`) |
//! | `quantum` | $Q$ | bytes | 1514 | credit of a round for a flow whose hosts have no other |
//! | `target` | | s | 0.005 | delay that is tolerated, and the time between steps of BLUE |
//! | `interval` | | s | 0.1 | time above `target` before the first signal: about the longest round-trip time |
//!
//! **When the buffer is full** the arriving packet is queued, then packets are dropped from the head of the queue that is longest in bytes, of
//! equals the one of lowest number, until the rest fits: it may be the arriving one. BLUE and CoDel of that queue are told.
//!
//! **Cost.** Three look-ups (flow, source host, destination host) of one hash and eight comparisons each, and as many looks at queues as
//! the load of the busiest host, since each round gives its flows but a part of a packet. Memory is fixed: 0.1 to 0.2 MB, whatever the number of
//! flows.
//!
//! **Validation.** `crates/qdisc/tests/cake.rs`: shares by number for each kind of isolation (1 flow against 32, within 1 %), and where hosts
//! and destinations cross; collisions of 100 and of 500 flows against the binomial closed form (none of 100 in 40 runs, where a plain hash has
//! 4.7 each); delay of a sparse flow; order within flows with 3000 flows in 1024 queues; each decision of CoDel's part at the nanosecond,
//! derived from RFC 8289, section 5; BLUE's probability by counting. Conformance suite. `tests/kernel/test_rivals.py`: the same datagrams through
//! this and Linux's, and every attack of `mayfly gaming` ([](../kernel/engine.md)). CAKE's own measurements (section IV of the paper) are
//! of a shaper and of Linux hosts, and are not repeated.
//!
//! **References.** T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways",
//! IEEE LANMAN 2018 (arXiv 1804.07617), III.B; J. Palmei et al., "Design and Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019; W.
//! Feng, K. Shin, D. Kandlur and D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM ToN 10(4), 2002; RFC 8289; RFC 8290.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::cobalt::{Cobalt, Law};
use crate::parts::codel::{INTERVAL, TARGET};
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::set_associative::{Claim, SetAssociative};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Queues, and slots for source hosts and for destination hosts.
const QUEUES: u32 = 1024;

/// Binary digits of a credit below a byte: a 1024th of a quantum is no whole number of bytes.
const FRACTION: u32 = 16;

/// Where a queue stands between its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// In no rotation.
    #[default]
    Out,
    /// In that of the new queues, or, as its credit was used up when it was empty, in the old one: not counted.
    Sparse,
    /// In the old rotation, and counted among the backlogged flows of its hosts.
    Bulk,
}

/// The turns of one queue.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// What it may send, bytes shifted by [`FRACTION`]; below zero, what it sent in advance.
    credit: i64,
    /// Hosts of the flow whose queue it is.
    source: u32,
    destination: u32,
    /// Slots of the hosts while the queue is counted there.
    slots: [u16; 2],
    standing: Standing,
    /// In the old rotation.
    is_old: bool,
}

/// Backlogged flows per host; none when shares are not to be equal for these hosts.
#[derive(Clone, Debug)]
struct Hosts(Option<SetAssociative<u32, u16>>);

impl Hosts {
    fn draw(counts: bool, rng: &mut Stream) -> Hosts {
        Hosts(counts.then(|| SetAssociative::draw(QUEUES, rng)))
    }

    #[inline]
    fn of(&self, host: u32) -> u16 {
        self.0.as_ref().map_or(0, |hosts| hosts.value(host))
    }

    #[inline]
    fn at(&self, slot: u16) -> u16 {
        self.0.as_ref().map_or(0, |hosts| hosts.at(slot.into()))
    }

    fn enter(&mut self, host: u32) -> u16 {
        let Some(hosts) = &mut self.0 else { return 0 };
        let (slot, _) = hosts.claim(host);
        *hosts.value_mut(slot) += 1;
        slot as u16
    }

    fn leave(&mut self, slot: u16) {
        let Some(hosts) = &mut self.0 else { return };
        let flows = hosts.value_mut(slot.into());
        *flows -= 1;
        if *flows == 0 {
            hosts.release(slot.into());
        }
    }

    fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, SetAssociative::bytes)
    }
}

/// The two rotations, and who counts how much in them.
#[derive(Clone, Debug)]
struct Rotation {
    turns: Vec<Turn>,
    new_queues: VecDeque<u16>,
    old_queues: VecDeque<u16>,
    sources: Hosts,
    destinations: Hosts,
    /// Credit of a round by load, shifted by [`FRACTION`]: a division costs as much as the rest.
    credits: Vec<u64>,
}

impl Rotation {
    /// Credit of a round for a queue: by the backlogged flows of the busier one of its hosts (III.B).
    #[inline]
    fn credit(&self, turn: &Turn) -> i64 {
        let load = match turn.standing {
            // By slots, since hosts may have to share one.
            Standing::Bulk => self.sources.at(turn.slots[0]).max(self.destinations.at(turn.slots[1])),
            _ => self.sources.of(turn.source).max(self.destinations.of(turn.destination)),
        };
        self.credits[usize::from(load).min(QUEUES as usize)] as i64
    }

    /// Counts the flow of `slot` among the backlogged ones of its hosts.
    fn count(&mut self, slot: usize) {
        let turn = &mut self.turns[slot];
        turn.slots = [self.sources.enter(turn.source), self.destinations.enter(turn.destination)];
        turn.standing = Standing::Bulk;
    }

    /// A packet of these hosts has come to the queue, which is theirs if it was out.
    #[inline]
    fn arrive(&mut self, slot: usize, source: u32, destination: u32) {
        let turn = &mut self.turns[slot];
        if turn.standing == Standing::Out {
            (turn.source, turn.destination, turn.standing, turn.is_old) =
                (source, destination, Standing::Sparse, false);
            let credit = self.credit(&self.turns[slot]);
            self.turns[slot].credit = credit;
            self.new_queues.push_back(slot as u16);
        } else if turn.is_old && turn.standing == Standing::Sparse {
            self.count(slot);
        }
    }

    /// The queue whose turn it is: the first new one, else the first old one, that has credit. Others get the credit of a
    /// round and go to the end of the old ones.
    #[inline]
    fn select(&mut self, is_empty: impl Fn(usize) -> bool) -> Option<usize> {
        let mut passed = 0;
        loop {
            if passed > self.old_queues.len() {
                self.skip_rounds();
                passed = 0;
            }
            let list = if self.new_queues.is_empty() { &mut self.old_queues } else { &mut self.new_queues };
            let slot = usize::from(*list.front()?);
            if self.turns[slot].credit > 0 {
                return Some(slot);
            }
            list.pop_front();
            // Whoever used up its credit with its last packet is not counted before the next one.
            if self.turns[slot].standing == Standing::Sparse && !is_empty(slot) {
                self.count(slot);
            }
            let credit = self.credit(&self.turns[slot]);
            let turn = &mut self.turns[slot];
            (turn.credit, turn.is_old) = (turn.credit + credit, true);
            self.old_queues.push_back(slot as u16);
            passed += 1;
        }
    }

    /// Gives every queue the credit of all rounds in which none has any: all are old, and loads stay as they are.
    #[cold]
    fn skip_rounds(&mut self) {
        let share = |slot: u16| self.credit(&self.turns[usize::from(slot)]);
        let lacking = |slot: u16| -self.turns[usize::from(slot)].credit;
        let rounds = self.old_queues.iter().map(|&slot| lacking(slot).max(0) / share(slot)).min().unwrap_or(0);
        for place in 0..self.old_queues.len() {
            let slot = usize::from(self.old_queues[place]);
            self.turns[slot].credit += rounds * self.credit(&self.turns[slot]);
        }
    }

    /// Takes out the queue that [`Rotation::select`] named: it has no packets.
    #[inline]
    fn leave(&mut self, slot: usize) {
        if self.turns[slot].is_old {
            self.old_queues.pop_front()
        } else {
            self.new_queues.pop_front()
        };
        let turn = &mut self.turns[slot];
        let was_counted = std::mem::take(&mut turn.standing) == Standing::Bulk;
        if was_counted {
            self.sources.leave(turn.slots[0]);
            self.destinations.leave(turn.slots[1]);
        }
    }

    /// Takes bytes off the credit of a queue.
    #[inline]
    fn spend(&mut self, slot: usize, bytes: u32) {
        self.turns[slot].credit -= i64::from(bytes) << FRACTION;
    }

    fn bytes(&self) -> usize {
        self.turns.capacity() * size_of::<Turn>()
            + (self.new_queues.capacity() + self.old_queues.capacity()) * size_of::<u16>()
            + self.sources.bytes()
            + self.destinations.bytes()
            + self.credits.capacity() * size_of::<u64>()
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
    slots: SetAssociative<u64, ()>,
    rotation: Rotation,
    longest: LongestQueue,
    law: Law,
}

impl Cake {
    /// Drops from the head of the longest queue.
    #[cold]
    fn make_room(&mut self, env: &mut Env) {
        while env.is_over() {
            let longest = self.longest.find(|slot| length(&self.queues[slot as usize].packets));
            let (slot, _) = longest.expect("packets wait, so some queue is longest");
            let queue = &mut self.queues[slot as usize];
            queue.cobalt.overflowed(env.now(), &self.law);
            let victim = self.slab.pop_front(&mut queue.packets).expect("the longest queue is not empty");
            env.discard(victim, DropReason::PushedOut);
        }
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
        when_full: "the first packet of the queue that is longest in bytes",
        time_driven: false,
        // While packets of a flow wait in a queue, the flow keeps to it: see `SetAssociative::claim`.
        keeps_flow_order: true,
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
                value: Value::Whole { default: 1514, min: 1, max: 1_000_000 },
            },
            TARGET,
            INTERVAL,
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let (isolation, quantum) = (options.choice("isolation"), options.whole("quantum") << FRACTION);
        Ok(Cake {
            slab: Slab::default(),
            queues: (0..QUEUES).map(|_| Queue::default()).collect(),
            slots: SetAssociative::draw(QUEUES, rng),
            rotation: Rotation {
                turns: vec![Turn::default(); QUEUES as usize],
                new_queues: VecDeque::new(),
                old_queues: VecDeque::new(),
                sources: Hosts::draw(matches!(isolation, "triple" | "src"), rng),
                destinations: Hosts::draw(matches!(isolation, "triple" | "dst"), rng),
                credits: (0..=u64::from(QUEUES)).map(|load| quantum / load.max(1)).collect(),
            },
            longest: LongestQueue::default(),
            law: Law::with_options(options),
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        env.accept(&packet);
        let (slot, claim) = self.slots.claim(packet.flow.0);
        let queue = &mut self.queues[slot];
        match claim {
            Claim::Used => {}
            Claim::Resumed => queue.cobalt.resumed(env.now(), &self.law),
            Claim::Taken => queue.cobalt.handed_on(),
        }
        self.slab.push_back(&mut queue.packets, packet);
        self.longest.grew(slot as u32, length(&queue.packets));
        self.rotation.arrive(slot, packet.src, packet.dst);
        if env.is_over() {
            self.make_room(env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        // While nothing waits, turns stay as they are.
        while env.stats.backlog() > 0 {
            let slot = self.rotation.select(|slot| self.queues[slot].packets.is_empty())?;
            let queue = &mut self.queues[slot];
            let Some(mut packet) = self.slab.pop_front(&mut queue.packets) else {
                queue.cobalt.emptied(env.now(), &self.law);
                self.rotation.leave(slot);
                self.slots.release(slot);
                continue;
            };
            while queue.cobalt.drops(&mut packet, queue.packets.is_empty(), env, &self.law) {
                env.discard(packet, DropReason::Early);
                packet = self.slab.pop_front(&mut queue.packets).expect("the last packet is not dropped");
            }
            self.rotation.spend(slot, packet.len);
            return Some(packet);
        }
        None
    }

    fn peek(&self) -> Option<&Packet> {
        let first = |slot: usize| self.slab.front(&self.queues[slot].packets);
        let rotation = &self.rotation;
        let front = rotation.new_queues.front().or(rotation.old_queues.front()).map(|&slot| usize::from(slot))?;
        if rotation.turns[front].credit > 0 && first(front).is_some() {
            return first(front);
        }
        // Turns are taken to be seen.
        let mut rotation = rotation.clone();
        loop {
            let slot = rotation.select(|slot| first(slot).is_none())?;
            if let Some(packet) = first(slot) {
                return Some(packet);
            }
            rotation.leave(slot);
        }
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.slots.used()
    }

    fn flow_table_bytes(&self) -> usize {
        self.queues.capacity() * size_of::<Queue>() + self.slots.bytes() + self.rotation.bytes() + self.longest.bytes()
    }
}
