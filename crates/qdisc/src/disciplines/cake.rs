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
//! **Where this differs from Linux**, and why.
//! - *Turns are reckoned, not walked.* Linux passes by every queue in every round to give it its credit, down to a byte and a half with 1024
//!   flows of one host, and rounds it by a random number. Here a queue that has used up its credit is told at once in how many rounds it will
//!   have some, by the loads of that moment, and is not looked at before. Shares are the same; the cost does not grow with the load, and a
//!   load that changes counts from a flow's next packet on.
//! - *A queue found empty in the new rotation is old until the next round*, much as in RFC 8290, section 4.2. Linux forgets a queue that has
//!   credit left, so that a flow with a packet of 1400 bytes just behind each departure is new with every one of them and takes almost half
//!   the link.
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
//! **Cost.** Three look-ups (flow, source host, destination host) of one hash and eight comparisons each, and O(1) for the turn where loads
//! are equal, O(log backlogged flows) where they are not. 46 ns per packet with 300 waiting and 10 000 flows. Memory is fixed: 0.1 to 0.2 MB,
//! whatever the number of flows.
//!
//! **Validation.** `crates/qdisc/tests/cake.rs`: shares by number for each kind of isolation (1 flow against 32, within 1 %), and where hosts
//! and destinations cross; collisions of 100 and of 500 flows against the binomial closed form (none of 100 in 40 runs, where a plain hash has
//! 4.7 each); delay of a sparse flow; order within flows with 3000 flows in 1024 queues; each decision of CoDel's part at the nanosecond,
//! derived from RFC 8289, section 5; BLUE's probability by counting. Conformance suite. CAKE's own measurements (section IV of the paper) are
//! of a shaper and of Linux hosts, and are not repeated.
//!
//! **References.** T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways",
//! IEEE LANMAN 2018 (arXiv 1804.07617), III.B; J. Palmei et al., "Design and Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019; W.
//! Feng, K. Shin, D. Kandlur and D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM ToN 10(4), 2002; RFC 8289; RFC 8290.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::agenda::Agenda;
use crate::parts::cobalt::{Cobalt, Law};
use crate::parts::codel::{INTERVAL, TARGET};
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::set_associative::{Claim, SetAssociative};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Queues, and slots for source hosts and for destination hosts.
const QUEUES: u32 = 1024;

#[derive(Debug, Default)]
struct Queue {
    packets: List,
    cobalt: Cobalt,
    /// Bytes it may send, above zero while the queue is in a rotation.
    credit: i64,
    /// Round of its next turn; from then on it may be new.
    round: u64,
    /// Slots of its hosts while it is counted as one of their backlogged flows.
    hosts: Option<[u16; 2]>,
}

/// Backlogged flows per host; none when shares are not to be equal for these hosts.
#[derive(Debug)]
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

/// CAKE for best effort only, at the speed of the link.
#[derive(Debug)]
pub struct Cake {
    slab: Slab,
    queues: Vec<Queue>,
    slots: SetAssociative<u64, ()>,
    sources: Hosts,
    destinations: Hosts,
    /// Queues that have come up lately; those with packets have credit left.
    new_queues: VecDeque<u16>,
    /// The old queue whose turn it is.
    current: Option<u16>,
    old_queues: Agenda,
    /// The round that is going on, and the last one that somebody was told to wait for.
    round: u64,
    latest: u64,
    longest: LongestQueue,
    quantum: u64,
    law: Law,
}

impl Cake {
    /// The load of a flow: backlogged flows of the busier one of its hosts (III.B), by their slots when
    /// it is counted there, since hosts may have to share one.
    #[inline]
    fn load(&self, hosts: Option<[u16; 2]>, source: u32, destination: u32) -> u64 {
        let flows = match hosts {
            Some([source, destination]) => self.sources.at(source).max(self.destinations.at(destination)),
            None => self.sources.of(source).max(self.destinations.of(destination)),
        };
        u64::from(flows.max(1))
    }

    /// Counts the flow of `slot` among the backlogged ones of its hosts.
    fn count(&mut self, slot: usize, source: u32, destination: u32) {
        if self.queues[slot].hosts.is_none() {
            self.queues[slot].hosts = Some([self.sources.enter(source), self.destinations.enter(destination)]);
        }
    }

    /// Takes the queue out of its rotation: it has no packets.
    #[inline]
    fn retire(&mut self, slot: usize, env: &Env) {
        self.slots.release(slot);
        let queue = &mut self.queues[slot];
        queue.cobalt.emptied(env.now(), &self.law);
        if let Some([source, destination]) = queue.hosts.take() {
            self.sources.leave(source);
            self.destinations.leave(destination);
        }
    }

    /// The next turn of the queue is `rounds` after the present one.
    #[inline]
    fn postpone(&mut self, slot: usize, rounds: u64) {
        let round = self.round.saturating_add(rounds);
        self.latest = self.latest.max(round);
        self.queues[slot].round = round;
    }

    /// Puts a queue that had no packets so far into a rotation.
    #[inline]
    fn join(&mut self, slot: usize, source: u32, destination: u32) {
        let round = self.queues[slot].round;
        if round > self.round {
            // RFC 8290, section 4.2: a queue that was new is old for a round, empty or not, or else it
            // would be new with each packet and starve the others.
            self.count(slot, source, destination);
            self.old_queues.enter(round, slot as u16);
        } else {
            let load = self.load(None, source, destination);
            // A division costs as much as the rest.
            let credit = if load == 1 { self.quantum } else { (self.quantum / load).max(1) };
            self.queues[slot].credit = credit as i64;
            self.new_queues.push_back(slot as u16);
        }
    }

    /// The queue to look at next.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        if let Some(&slot) = self.new_queues.front() {
            return Some(slot.into());
        }
        if self.current.is_none() {
            let (round, slot) = self.old_queues.pop()?;
            self.round = round;
            self.current = Some(slot);
        }
        self.current.map(usize::from)
    }

    /// Takes the queue that [`Cake::next`] named off the front of its rotation. True when it was new.
    #[inline]
    fn step_back(&mut self) -> bool {
        let was_new = self.new_queues.pop_front().is_some();
        if !was_new {
            self.current = None;
        }
        was_new
    }

    /// The next queue turned out to be empty.
    fn skip(&mut self, slot: usize, env: &Env) {
        if self.step_back() {
            self.postpone(slot, 1);
        }
        self.retire(slot, env);
    }

    /// The next queue sent a packet and has used up its credit: it gets that of as many rounds as it
    /// takes to have some again, and sits them out.
    fn sit_out(&mut self, slot: usize, source: u32, destination: u32, env: &Env) {
        self.step_back();
        let is_empty = self.queues[slot].packets.is_empty();
        if !is_empty {
            self.count(slot, source, destination);
        }
        let load = self.load(self.queues[slot].hosts, source, destination);
        let credit = &mut self.queues[slot].credit;
        let rounds = credit.unsigned_abs() * load / self.quantum + 1;
        *credit = (*credit + (rounds * self.quantum / load) as i64).max(1);
        self.postpone(slot, rounds);
        if is_empty {
            self.retire(slot, env);
        } else {
            self.old_queues.enter(self.queues[slot].round, slot as u16);
        }
    }

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
        let isolation = options.choice("isolation");
        Ok(Cake {
            slab: Slab::default(),
            queues: (0..QUEUES).map(|_| Queue::default()).collect(),
            slots: SetAssociative::draw(QUEUES, rng),
            sources: Hosts::draw(matches!(isolation, "triple" | "src"), rng),
            destinations: Hosts::draw(matches!(isolation, "triple" | "dst"), rng),
            new_queues: VecDeque::new(),
            current: None,
            old_queues: Agenda::default(),
            round: 0,
            latest: 0,
            longest: LongestQueue::default(),
            quantum: options.whole("quantum"),
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
            Claim::Taken => (queue.cobalt, queue.round) = (Cobalt::default(), 0),
        }
        self.slab.push_back(&mut queue.packets, packet);
        self.longest.grew(slot as u32, length(&queue.packets));
        if claim != Claim::Used {
            self.join(slot, packet.src, packet.dst);
        }
        if env.is_over() {
            self.make_room(env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        while let Some(slot) = self.next() {
            let queue = &mut self.queues[slot];
            let Some(mut packet) = self.slab.pop_front(&mut queue.packets) else {
                self.skip(slot, env);
                continue;
            };
            while queue.cobalt.drops(&mut packet, queue.packets.is_empty(), env, &self.law) {
                env.discard(packet, DropReason::Early);
                packet = self.slab.pop_front(&mut queue.packets).expect("the last packet is not dropped");
            }
            queue.credit -= i64::from(packet.len);
            if queue.credit <= 0 {
                self.sit_out(slot, packet.src, packet.dst, env);
            }
            return Some(packet);
        }
        // Everybody's round is over.
        self.round = self.latest;
        None
    }

    fn peek(&self) -> Option<&Packet> {
        let first = |slot: u16| self.slab.front(&self.queues[usize::from(slot)].packets);
        let current = || self.current.and_then(first);
        let old = || self.old_queues.first(|slot| first(slot).is_some()).and_then(first);
        self.new_queues.iter().find_map(|&slot| first(slot)).or_else(current).or_else(old)
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.slots.used()
    }

    fn flow_table_bytes(&self) -> usize {
        self.queues.capacity() * size_of::<Queue>()
            + self.slots.bytes()
            + self.sources.bytes()
            + self.destinations.bytes()
            + self.new_queues.capacity() * size_of::<u16>()
            + self.old_queues.bytes()
            + self.longest.bytes()
    }
}
