//! CAKE without its shaper: fair shares for hosts and for the flows of each, short queues for all.
//!
//! Principle: deficit round robin over 1024 queues, new ones first. The credit a queue gets in a round
//! is the quantum divided by the number of backlogged flows of its source host or of its destination
//! host, whichever has more. So that a round need not be walked to give everybody the hundredth part
//! of a packet, a queue that has used up its credit is told the round of its next turn. Each queue is
//! managed by COBALT.
//! Cost per packet: three look-ups in set-associative tables, at most O(log backlogged flows) for its
//! turn; 1024 queues whatever the number of flows.
//! Source: Høiland-Jørgensen 2018, III.B; RFC 8290, section 4.

use std::collections::VecDeque;

use units::Stream;

use crate::agenda::Agenda;
use crate::base::{Discipline, DropReason, Env};
use crate::cobalt::{Cobalt, Law};
use crate::codel::{INTERVAL, TARGET};
use crate::lists::{List, Slab};
use crate::longest::Longest;
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, Param, Spec, Value};
use crate::ways::{Claim, Ways};

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
struct Hosts(Option<Ways<u32, u16>>);

impl Hosts {
    fn draw(counts: bool, rng: &mut Stream) -> Hosts {
        Hosts(counts.then(|| Ways::draw(QUEUES, rng)))
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
        self.0.as_ref().map_or(0, Ways::bytes)
    }
}

/// CAKE for best effort only, at the speed of the link.
#[derive(Debug)]
pub struct Cake {
    slab: Slab,
    queues: Vec<Queue>,
    slots: Ways<u64, ()>,
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
    longest: Longest,
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
        // While packets of a flow wait in a queue, the flow keeps to it: see `Ways::claim`.
        keeps_flow_order: true,
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
            slots: Ways::draw(QUEUES, rng),
            sources: Hosts::draw(matches!(isolation, "triple" | "src"), rng),
            destinations: Hosts::draw(matches!(isolation, "triple" | "dst"), rng),
            new_queues: VecDeque::new(),
            current: None,
            old_queues: Agenda::default(),
            round: 0,
            latest: 0,
            longest: Longest::default(),
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
