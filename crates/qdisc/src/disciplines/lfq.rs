//! # LFQ
//!
//! **Idea.** *Lagged fair queueing*: least attained service with a short memory, and a user in front of the flow. Every *user* (a host, or a
//! pair of hosts) has a tag, the bytes it was sent; the link has a clock. The user with the smallest tag is served. One that has been silent
//! comes back with its own tag, but no more than a *lag* $B$ behind the clock: what it did not use is its credit, and the credit has a
//! bound. The same rule holds for the *flows* of a user, with a clock of its own and a lag $b$. So the first bytes of a flow go first, as
//! under [LAS](las.md); what has sent more shares the link equally, and nobody is locked out. There is no threshold to fall off, and no
//! class to drown in. Credit comes from having had less than one's share, which costs something, and not from being new, which is free.
//!
//! **Rules.** $F_h$ and $F_f$ are tags of a user and of a flow, $V$ is the clock of the link, $v_h$ that of a user, $n$ the number of
//! backlogged users.
//!
//! | when | what |
//! |---|---|
//! | a user becomes backlogged | $F_h = \max(F_h, V - B)$; $v_h$ goes on by what $V$ did while it was silent |
//! | a flow becomes backlogged | $F_f = \max(F_f, v_h - b)$ |
//! | the link is free | the user of smallest $F_h$, of it the flow of smallest $F_f$; $V = \max(V, F_h)$, $v_h = \max(v_h, F_f)$ |
//! | a packet of $c$ bytes is sent | $F_h$ and $F_f$ go up by $c$, $V$ by $p\,c/n$, $v_h$ by the same with the flows of the user |
//! | a *sparse* flow sends | a flow that becomes backlogged at least $b/2$ behind sends this packet before all users, if that leaves its user at most $D$ ahead of $V$, and nobody is more than $B$ behind |
//! | the user is *new* | until it has sent `newcomer` bytes, its flows are those of one user that all newcomers are together |
//!
//! - *The clock never stands still* ($p$, `pace`): while all are behind, who is steady gains credit all the same. With $p = 0$ it is the
//!   largest tag that was served, and newcomers one after another would keep others from the link; with $p = 1$ it is that of processor
//!   sharing, credit runs out by itself, and with it what short flows gain.
//! - *Sparse flows* ($D$, `debt`): SYNs, DNS, calls and games wait for one packet. They are charged as any other packet, so new ports bring
//!   nothing.
//! - *New addresses* are as cheap as new ports where the side that names users can be forged. Together they have one share and one credit;
//!   an address that has sent 30 kB out of that is a user of its own from then on, and is remembered, with its tag, while its slot is not
//!   needed.
//!
//! **What a user is** (`user`). `pair` by default: both addresses, whatever the direction. `dst` and `src` are right where one side is known
//! to be that of the users and cannot be forged: `dst` on the way to them, `src` on the way from them. `prefix` takes the leading bits of an
//! address; hosts are numbers of 32 bits here, an implementation with IPv6 takes /64. Packets here carry no mark.
//!
//! **Queue management.** Each flow has CoDel ([codel](codel.md)), which never takes the last packets of a flow (`mtu`), and marks where the
//! transport understands ECN. A packet with ECT(1), of a scalable sender (RFC 9331), is marked when it waited longer than `step` and others
//! of its flow wait behind it: so such senders keep a short queue of their own.
//!
//! **Medium.** On a wire a packet is charged its bytes. In a half-duplex cell (`medium=cell`) an acknowledgement is charged what it newly
//! acknowledges: uploads and downloads of a station then share what the access point sends and lets through. What a dropped one
//! acknowledged is charged to the next. On a full-duplex link this is wrong, and it is never a default.
//!
//! **Bounds.** Let $L$ be the longest packet (65,535 bytes at most are charged), $W$ the width of a bucket of the order: the power of two of
//! at least 1 KiB of which 60 hold $B$, 8 KiB by default. The buffer drops nothing of the users in question; $p < 1$.
//!
//! *Lemma.* A backlogged user is never more than $B + G$ behind the clock, $G = W + p (W + L) (1 + \ln n)$, when at most $n$ users have
//! packets: $F_i \ge V - B - G$. For $V$ passes a backlogged tag only by its pace: when it is set to $F_h$, no tag is a bucket below that. Let
//! some users be below $V - B$. Nobody goes ahead then, and who becomes backlogged is not below; so these and who is in a bucket with
//! them are served, lowest bucket first. Until the lowest $j + 1$ buckets are empty each is sent at most $(j + 1) W + L$. If none falls silent, $V$ goes on
//! by $p$ times that at most, and the lowest bucket by $j W$: so it is never more than $W + p (W + L)$ behind. Each that falls silent makes
//! $V$ faster for the rest, $p\,c/k$ for $k$ that remain; over all of them that is a harmonic sum, $p (W + L) \ln n$. And $F_i \le V + \max(L, D)$, since
//! it was served at $F_i \le V$, or went ahead. (Until 2026-11-25 this page had $W + L$ for $G$, and forgot those who fall silent.)
//!
//! 1. *User beside user.* While user $i$ is backlogged, any user $j$ with standing gets at most $2 (B + G + D + L)$ more than $i$, over any
//!    time and for any pattern of $j$. For $j$ is served in turn only in a bucket no later than that of $i$, or ahead below $V + D$; by the
//!    lemma $F_j \le F_i + B + G + D + L$ at the end. At the beginning $F_j \ge V - B - G$ and $F_i \le V + \max(L, D)$. What $j$ gets is
//!    what its tag grows by, less what it is raised by. So pausing, spacing, splitting and new ports gain no more than that, once.
//! 2. *Whatever others do.* While backlogged, a user gets at least $p$ times its fair share (each byte sent counts $1/n$), less
//!    $B + G + \max(L, D)$: its tag follows $V$, and $V$ goes on by at least $p\,c/n$. That holds for users without number, each with
//!    all its credit. With $H$ users in all, bound 1 gives the full share less $H - 1$ times its constant over $H$.
//! 3. *Transfers within the lag.* A user that was silent for $B$ sends $x \le B$ bytes while every other user is sent at most what it lies
//!    behind that, and $W + 2L$: those who are not behind wait, those who are share with it, at most $H (x + W + 2L)$ bytes in all.
//! 4. *New addresses.* All that have not proved themselves are one user in bound 1.
//!
//! Inside a user the same holds for flows, with $b$ and a bucket of which 15 hold $b$; without newcomers, and nobody goes ahead.
//!
//! **Scope and limits.**
//! - Who can keep many addresses for long is many users, as it is to every fair queue by address: take the side that cannot be forged.
//! - A house behind one address is one user, unless the link is inside it. Its flows are treated by the inner rule.
//! - A sender that does not back off loses what exceeds its share, as under every fair queue.
//! - `triple` isolation as in [cake](cake.md), and weights, are not built in.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `user` | | | `pair` | what a user is: `pair` of hosts, `dst` or `src` host, `flow` |
//! | `prefix` | | bits | 32 | leading bits of the 32 of an address that tell hosts apart |
//! | `user_lag` | $B$ | bytes | 360,000 | by which a user may be behind |
//! | `flow_lag` | $b$ | bytes | 120,000 | by which a flow may be behind in its user |
//! | `debt` | $D$ | bytes | 15,000 | by which a user may be ahead and its sparse flows still go first |
//! | `pace` | $p$ | share | 0.4 | speed of a clock beside service per backlogged user, or flow of the user |
//! | `newcomer` | | bytes | 30,000 | what a new user sends out of the common share; 0: none are new |
//! | `flows` | | slots | 896 | flows with a queue of their own |
//! | `users` | | slots | 192 | users that are remembered |
//! | `medium` | | | `wire` | `wire` or `cell` |
//! | `target` | TARGET | s | 0.005 | CoDel: time in the queue that is acceptable |
//! | `interval` | INTERVAL | s | 0.1 | CoDel: how long it may be exceeded before the first drop |
//! | `mtu` | MTU | bytes | 1514 | CoDel: nothing is dropped while no more than this waits behind in the flow |
//! | `ecn` | | | `on` | mark packets of ECN-capable transports instead of dropping them |
//! | `step` | | s | 0.001 | wait beyond which packets of scalable senders are marked |
//!
//! **When the tables are full.** Both are set-associative, sets of eight, by a hash with a seed of its own. An idle entry gives way to a new one:
//! of flows the one that is least ahead of a newcomer, of users those without standing first, and to newcomers no more than two of a set with
//! standing. What waits is never moved. A flow without a slot, or of a user that has flows in a quarter of them, waits in one queue with the other
//! such flows of its user (those of newcomers together, each newcomer with a sixteenth of the slots): it shares with them, and takes nothing
//! from other users with standing. A user whose set is full of users with standing that have
//! packets shares the slot and the share of one of them. A user that is forgotten is new when it comes back, so that nobody gains by it.
//!
//! **When the buffer is full** the arriving packet is queued, then the user with most bytes waiting (in a cell: packets) loses a packet at the head of a
//! long flow: the longest where that is known, else one that would be served last; and so on until the rest fits.
//!
//! **Cost.** O(1) per packet: tags are in rings of 64 and 16 buckets with a bit each; a packet of a waiting flow costs one look-up, that of an idle
//! one two. A victim costs O(log users). Memory is fixed: see `mayfly disciplines` and `docs/validation.md`; the queues for flows
//! without a slot are allocated when the first one comes.
//!
//! **Validation.** `crates/qdisc/tests/lfq.rs`: bounds 1, 2 and 4 under bursts, ports, addresses and lengths that are drawn to break them, with
//! $W + L$ in the place of $G$, which is less than is proved and was not broken; bound 3;
//! order in full tables; shares; marks; charges. The rings against a search (`tag_ring.rs`). Conformance suite.
//!
//! Measured on 2026-11-25 with the experiments of `papers/src/mayfly_papers/today`, CUBIC, seeds 1 and 2 (pages 1 to 3), 200 s (pages 300 s), one
//! setting for all rows, beside `fq_codel` in the same runs. The last column is $B$ = 120 kB with $p$ = 0.3. Columns other than 0.4 have 0.3
//! for the clocks of users, and so have the pages. Few seeds: some per cent mean nothing.
//!
//! | | `fq_codel` | $p$ = 0.3 | 0.4, the default | 0.5 | $B$ = 120 kB |
//! |---|---:|---:|---:|---:|---:|
//! | 8 Mb/s of 10: up to 20 packets, ms | 74 | 47 | 46 | 45 | 42 |
//! | 21 to 300 packets, s | 0.37 | 0.21 | 0.22 | 0.22 | 0.25 |
//! | above 300 packets, s | 5.0 | 4.9 | 4.8 | 4.8 | 5.0 |
//! | longest stall, s | 0.35 | 2.0 | 1.8 | 1.6 | 1.0 |
//! | 10.4 Mb/s: up to 20, and 21 to 300 packets, s | 0.24, 1.19 | | 0.11, 0.65 | | |
//! | video of 500 kb/s beside 8 Mb/s: loss, % | 0.12 | 0.13 | 0.00 | 0.00 | 0.11 |
//! | call of 64 kb/s beside 8 Mb/s: loss, % | 0.04 | | 0.00 | | |
//! | pages over HTTP/1.1 and HTTP/2, median, s | 0.86, 1.38 | 0.56, 0.58 | 0.58, 0.61 | 0.55, 0.63 | |
//! | the same, 95 %, s | 4.8, 8.1 | 6.8, 8.5 | 6.7, 8.5 | 6.7, 8.4 | |
//! | 50 Mb/s and 44 ms: up to 20 packets, s | 0.137 | 0.134 | | 0.133 | 0.133 |
//! | above 300 packets, s | 2.31 | 2.34 | | 2.32 | 2.27 |
//! | loss, % | 1.3 | 3.4 | | 2.7 | 2.8 |
//!
//! One seed, 100 s of each case of `mayfly gaming`, $p$ = 0.3 (`fq_codel`, `cake`): spaced sender 1.02 fair shares
//! (1.07, 1.11), new ports 1.00 (3.51, 1.41), split transfer 1.02 (3.24, 1.53), long ones in overload 0.97 of their share (0.04, 0.27). From new
//! addresses (`gaming-new-addresses`, 300 s, one seed): 0.23 of the link (0.50, 0.50), slowdown of the short ones 1.06 / 1.25 / 112 (50, 95, 99 %;
//! `fq_codel` 1.9 / 4.7 / 6.3); with `newcomer=0` the attacker has 0.50.
//!
//! Not done yet: no search for worse arrivals was made. Where every packet is of another pair of hosts (`benchmarks/queues.py`: 10,000 flows,
//! 300 packets), a packet takes 224 ns beside 64 of `fq_codel`, half of that in search of a place among users, and the tables hold 134 kB
//! beside 122 (2026-11-25).
//!
//! The lags are bytes at any rate. Measured on 2026-11-25, CUBIC, 80 % load, `fq_codel` / this: at 1 Mb/s (10 ms, 100 packets, 300 s, seeds 1 to 3) up
//! to 20 packets 0.68 / 0.51 s, 21 to 300 packets 3.8 / 3.3 s, longest stall 0.8 / 9.9 s. With $B$ = 36 kB, $b$ = 12 kB, which is as long in time as the defaults
//! at 10 Mb/s, it is 0.40 s, 3.8 s and 2.3 s; with twice that 0.39 s, 3.7 s and 2.8 s. At 50 Mb/s (seeds 1 and 2, 100 s) and 1 Gb/s (4 ms, 3000 packets, one seed, 20 s)
//! lags of the same time change no size class by more than 3 %. So a slow link wants lags in time, and a fast one those in bytes.
//!
//! Where it falls short: stalls of long flows, and the slowest pages, are longer than under `fq_codel`; in the attack by new addresses users
//! who have not proved themselves wait with the attacker. With `user=dst`, five users in the place of 25, the figures of 8 Mb/s are 55 ms and
//! 0.27 s, and video loses 1.4 %. In a cell the shares of uploads and downloads are not equal: up over down is 4.0 and 3.5 with 30 and
//! 300 packets (30 s, 2026-11-25, two and three seeds). There are two causes. An acknowledgement is charged no more than 65,535 bytes, and one that
//! is let through for a whole window acknowledges more: the rest is never charged. And a full buffer goes by packets, in place of what they are
//! charged.
//!
//! **References.** I. Rai, G. Urvoy-Keller and E. Biersack, "Analysis of LAS scheduling for job size distributions with high variance", SIGMETRICS
//! 2003. S. Aalto, U. Ayesta and E. Nyberg, "Two-level processor-sharing scheduling disciplines: mean delay analysis", SIGMETRICS 2004. P. Goyal, H. Vin
//! and H. Cheng, "Start-time fair queuing", SIGCOMM 1996. A. Saeed et al., "Eiffel", NSDI 2019. RFC 8289, 8290, 9331.

use std::collections::VecDeque;

use units::{FlowKey, Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::{Ecn, Kind, Packet};
use crate::parts::codel::{self, Control, ECN, INTERVAL, Law, TARGET};
use crate::parts::hash::FlowMap;
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::standing_table::StandingTable;
use crate::parts::tag_ring::{Links, TagRing};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// No packet is charged more: the longest that IP has. So tags stay near the clock whatever comes.
const LONGEST: u32 = 65_535;

/// Of `PACE`: units in one.
const WHOLE: i64 = 256;

/// A user may have packets in one of this many flow slots, a newcomer in one of this many of those that newcomers may have; the
/// rest of its flows share one queue.
const SLOTS_OF_ONE_USER: usize = 4;

/// Slots of a set that users without standing may take from those with.
const TAKEN_FROM_STANDING: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    packets: List,
    control: Control,
    /// F_f: what the flow was charged, beside the clock of its user.
    tag: i64,
    /// Whose it is.
    owner: u16,
    /// In whose order it is: that of its owner, or that of all newcomers.
    home: u16,
    next: u16,
    /// Whether it is in that order, with packets or without.
    is_in_order: bool,
    /// Whether it is in line for going ahead.
    is_ahead: bool,
}

impl Flow {
    #[inline]
    fn is_idle(&self) -> bool {
        !self.is_in_order && !self.is_ahead
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct User {
    order: TagRing<16>,
    /// F_h: what the user was charged, beside the clock of the link.
    tag: i64,
    /// v_h: the clock of its flows.
    clock: i64,
    /// The clock of the link when it fell silent.
    left: i64,
    /// Bytes waiting, and packets.
    bytes: u64,
    packets: u32,
    /// Of these, about, those that acknowledge.
    acks: u32,
    /// What its clock has not yet been set on by.
    owing: u32,
    /// What it has sent as a newcomer, bytes.
    proved: u32,
    next: u16,
    /// Its flows in an order, and those with a slot.
    flows: u16,
    /// A flow that had most waiting not long ago.
    longest: u16,
    is_in_order: bool,
    /// Whether it is a user of its own, and no newcomer any more.
    has_standing: bool,
}

impl Links for [Flow] {
    #[inline]
    fn after(&self, entry: u16) -> u16 {
        self[usize::from(entry)].next
    }

    #[inline]
    fn link(&mut self, entry: u16, next: u16) {
        self[usize::from(entry)].next = next;
    }
}

impl Links for [User] {
    #[inline]
    fn after(&self, entry: u16) -> u16 {
        self[usize::from(entry)].next
    }

    #[inline]
    fn link(&mut self, entry: u16, next: u16) {
        self[usize::from(entry)].next = next;
    }
}

/// A lag, and how tags are put into buckets for it.
#[derive(Clone, Copy, Debug)]
struct Lag {
    bytes: i64,
    shift: u32,
}

impl Lag {
    /// Buckets of at least 1 KiB, so many that the lag fits into `buckets` of them.
    fn of(bytes: u64, buckets: u64) -> Lag {
        let shift = (10..63).find(|&shift| bytes >> shift < buckets).expect("2^63 bytes fit into one bucket");
        Lag { bytes: bytes as i64, shift }
    }

    #[inline]
    fn bucket(self, tag: i64) -> i64 {
        tag >> self.shift
    }

    /// The lowest bucket of what comes while the clock is at `clock`.
    #[inline]
    fn floor(self, clock: i64) -> i64 {
        self.bucket(clock - self.bytes)
    }
}

/// The packets of one flow, as CoDel sees them.
struct Backlog<'a> {
    packets: &'a mut Slab,
    list: &'a mut List,
    /// Where packets that leave are to be counted off.
    spilled: Option<&'a mut FlowMap<u32>>,
}

impl codel::Queue for Backlog<'_> {
    #[inline(always)]
    fn head(&self, _: &Env) -> Option<(Time, u64)> {
        self.packets.front(self.list).map(|packet| (packet.arrival, self.list.bytes() - u64::from(packet.len)))
    }

    #[inline(always)]
    fn take(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front(self.list)?;
        if let Some(spilled) = &mut self.spilled {
            count_off(spilled, packet.flow);
        }
        Some(packet)
    }
}

/// A packet of `flow` has left the flow for what finds no slot.
fn count_off(spilled: &mut FlowMap<u32>, flow: FlowKey) {
    if let Some(packets) = spilled.get_mut(&flow) {
        *packets -= 1;
        if *packets == 0 {
            spilled.remove(&flow);
        }
    }
}

/// What tells users apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Destination,
    Source,
    Pair,
    Flow,
}

/// Lagged fair queueing.
#[derive(Debug)]
pub struct Lfq {
    packets: Slab,
    /// By slot of `flow_slots`; behind these, once it has been needed, a flow of each user for what finds no slot.
    flows: Vec<Flow>,
    flow_slots: StandingTable<u64>,
    /// By slot of `user_slots`; the last one is that of all newcomers.
    users: Vec<User>,
    user_slots: StandingTable<u64>,
    /// Packets of newcomers that wait without a slot, by flow: these keep their order, whatever becomes of their users.
    spilled: FlowMap<u32>,
    /// Bit per user slot: users without a slot share it.
    shared: Vec<bool>,
    order: TagRing<64>,
    /// Flows in line for going ahead.
    ahead: VecDeque<u16>,
    /// V: the clock of the link.
    clock: i64,
    /// What the clock has not yet been set on by.
    owing: i64,
    /// Users with packets.
    backlogged: i64,
    /// Flows in orders.
    flows_in_order: usize,
    longest: LongestQueue,
    /// What of each flow was acknowledged when it was last served; empty on a wire.
    acknowledged: Vec<u64>,
    law: Law,
    marks: bool,
    step: Time,
    by: By,
    prefix: u32,
    user_lag: Lag,
    flow_lag: Lag,
    debt: i64,
    pace: i64,
    newcomer: u32,
}

impl Lfq {
    /// All newcomers.
    #[inline]
    fn newcomers(&self) -> u16 {
        self.users.len() as u16 - 1
    }

    #[inline]
    fn key(&self, packet: &Packet) -> u64 {
        let net = |host: u32| u64::from(host) >> (32 - self.prefix);
        match self.by {
            By::Destination => net(packet.dst),
            By::Source => net(packet.src),
            By::Pair => {
                let (one, other) = (net(packet.src), net(packet.dst));
                one.min(other) << 32 | one.max(other)
            }
            By::Flow => packet.flow.0,
        }
    }

    /// Charge of `packet`, of the flow in `slot`, which is being sent.
    #[inline]
    fn charge(&mut self, slot: usize, packet: &Packet) -> i64 {
        let mut charge = packet.len;
        if packet.kind == Kind::Ack && !self.acknowledged.is_empty() {
            // What was acknowledged by packets that were dropped is charged to the next one.
            let before = &mut self.acknowledged[slot];
            let moved = packet.progress.saturating_sub(*before);
            *before = packet.progress.max(if *before == u64::MAX { 0 } else { *before });
            charge = charge.max(moved.min(LONGEST.into()) as u32);
        }
        charge.min(LONGEST).into()
    }

    /// The flow of user `user` for packets that find no slot.
    fn spare(&mut self, user: u16) -> usize {
        let slots = self.flow_slots.len();
        if self.flows.len() == slots {
            let spare = (0..self.users.len() as u16).map(|user| Flow { owner: user, home: user, ..Flow::default() });
            self.flows.reserve_exact(self.users.len());
            self.flows.extend(spare);
            if !self.acknowledged.is_empty() {
                self.acknowledged.resize(self.flows.len(), u64::MAX);
            }
        }
        slots + usize::from(user)
    }

    /// Whether packets wait in the flow for what finds no slot.
    #[inline]
    fn spills(&self, user: u16) -> bool {
        self.flows.get(self.flow_slots.len() + usize::from(user)).is_some_and(|flow| !flow.packets.is_empty())
    }

    /// The user that `packet` belongs to: its own slot, or that of all newcomers.
    fn user_of(&mut self, packet: &Packet) -> u16 {
        let key = self.key(packet);
        let set = self.user_slots.set(key);
        if let Some(slot) = self.user_slots.find(set, key) {
            return slot as u16;
        }
        let slots = StandingTable::<u64>::slots(set);
        let home = slots.start + (key as usize ^ (key >> 32) as usize) % slots.len();
        // Packets of a user that shares a slot stay there until none is left: they keep their order.
        if self.shared[home] {
            return home as u16;
        }
        let standing = slots.clone().filter(|&slot| self.users[slot].has_standing).count();
        let free = self.user_slots.free(set);
        let taken = free.or_else(|| {
            let may = |slot: &usize| {
                let user = &self.users[*slot];
                let spared = user.has_standing && standing + TAKEN_FROM_STANDING <= slots.len();
                user.flows == 0 && !user.is_in_order && !spared
            };
            slots.clone().filter(may).min_by_key(|&slot| (self.users[slot].has_standing, self.users[slot].left))
        });
        let Some(slot) = taken else {
            if standing < slots.len() {
                return self.newcomers();
            }
            self.shared[home] = true;
            return home as u16;
        };
        self.user_slots.give(slot, key);
        let user = &mut self.users[slot];
        // Beyond the tags of the flows of the user before: to this one they are newcomers.
        user.clock += self.flow_lag.bytes + 2 * i64::from(LONGEST);
        (user.left, user.proved, user.has_standing) = (self.clock, 0, self.newcomer == 0);
        user.tag = if self.newcomer == 0 { self.clock - self.user_lag.bytes } else { self.clock };
        slot as u16
    }

    /// The slot of the flow of `packet`, which goes to the order of its user if it is in none.
    #[inline]
    fn flow_of(&mut self, packet: &Packet) -> usize {
        let set = self.flow_slots.set(packet.flow.0);
        let own = self.flow_slots.find(set, packet.flow.0);
        match own {
            Some(slot) if self.flows[slot].is_in_order => slot,
            _ => self.begin(packet, set, own),
        }
    }

    fn begin(&mut self, packet: &Packet, set: usize, own: Option<usize>) -> usize {
        if !self.spilled.is_empty() && self.spilled.contains_key(&packet.flow) {
            return self.spare(self.newcomers());
        }
        let owner = self.user_of(packet);
        let home = if self.users[usize::from(owner)].has_standing { owner } else { self.newcomers() };
        let most = self.flow_slots.len() / SLOTS_OF_ONE_USER;
        let flows = |user: u16| usize::from(self.users[usize::from(user)].flows);
        let is_crowded = flows(home) >= most || (owner != home && flows(owner) >= most / SLOTS_OF_ONE_USER);
        let found = if is_crowded || (home == owner && owner != self.newcomers() && self.spills(home)) {
            None
        } else if own.is_some() {
            own
        } else {
            self.take_slot(packet, set)
        };
        let slot = found.unwrap_or_else(|| self.spare(home));
        let flow = &mut self.flows[slot];
        if flow.is_in_order {
            return slot;
        }
        let user = &mut self.users[usize::from(home)];
        let newest = user.clock - self.flow_lag.bytes;
        let is_known = flow.owner == owner && flow.home == home;
        flow.tag = if is_known { flow.tag.max(newest) } else { newest };
        (flow.owner, flow.home) = (if found.is_some() { owner } else { home }, home);
        self.enter(slot as u16);
        slot
    }

    /// A slot of `set` for the flow of `packet`: a free one, or that of an idle flow, the one that is least of all ahead of
    /// a newcomer.
    fn take_slot(&mut self, packet: &Packet, set: usize) -> Option<usize> {
        let slot = self.flow_slots.free(set).or_else(|| {
            let idle = |slot: &usize| self.flows[*slot].is_idle();
            let ahead = |slot: &usize| self.flows[*slot].tag - self.users[usize::from(self.flows[*slot].home)].clock;
            StandingTable::<u64>::slots(set).filter(idle).min_by_key(ahead)
        })?;
        self.flow_slots.give(slot, packet.flow.0);
        self.flows[slot] = Flow { owner: u16::MAX, ..Flow::default() };
        if let Some(acknowledged) = self.acknowledged.get_mut(slot) {
            *acknowledged = u64::MAX;
        }
        Some(slot)
    }

    /// The flow in `slot` enters the order of its home, and that the order of the users.
    #[inline]
    fn enter(&mut self, slot: u16) {
        let flow = &mut self.flows[usize::from(slot)];
        flow.is_in_order = true;
        self.flows_in_order += 1;
        let (home, tag) = (flow.home, flow.tag);
        self.users[usize::from(flow.owner)].flows += 1;
        if flow.owner != home {
            self.users[usize::from(home)].flows += 1;
        }
        let user = &mut self.users[usize::from(home)];
        if !user.is_in_order {
            user.is_in_order = true;
            // While it was silent its clock ran on: it was entitled to service and took none.
            user.clock += (self.clock - user.left).max(0);
            user.left = self.clock;
            user.tag = user.tag.max(self.clock - self.user_lag.bytes);
            let bucket = self.user_lag.bucket(user.tag);
            self.order.push(home, bucket, self.user_lag.floor(self.clock), &mut self.users[..]);
        }
        self.place(slot, home, tag);
    }

    /// Puts the flow in `slot` into the order of `home`.
    #[inline]
    fn place(&mut self, slot: u16, home: u16, tag: i64) {
        let user = &mut self.users[usize::from(home)];
        let floor = self.flow_lag.floor(user.clock);
        user.order.push(slot, self.flow_lag.bucket(tag), floor, &mut self.flows[..]);
    }

    /// The flow in `slot`, which was taken out of its order, has no packets.
    #[inline]
    fn leave(&mut self, slot: u16) {
        let flow = &mut self.flows[usize::from(slot)];
        flow.is_in_order = false;
        self.flows_in_order -= 1;
        let (owner, home) = (usize::from(flow.owner), usize::from(flow.home));
        self.users[owner].flows -= 1;
        if owner != home {
            self.users[home].flows -= 1;
        }
    }

    /// The user, which was taken out of the order, has no packets.
    fn retire(&mut self, user: u16) {
        let at = usize::from(user);
        while let Some((slot, _)) = self.users[at].order.pop(i64::MIN, &self.flows[..]) {
            self.leave(slot);
        }
        self.users[at].is_in_order = false;
        self.users[at].left = self.clock;
        if let Some(shared) = self.shared.get_mut(at) {
            *shared = false;
        }
    }

    /// Takes the user whose turn it is out of the order.
    #[inline]
    fn next_user(&mut self) -> Option<u16> {
        loop {
            let floor = self.user_lag.floor(self.clock);
            let (entry, bucket) = self.order.pop(floor, &self.users[..])?;
            let user = &self.users[usize::from(entry)];
            let own = self.user_lag.bucket(user.tag);
            if user.packets == 0 {
                self.retire(entry);
            } else if own > bucket {
                self.order.defer(entry, own, bucket, &mut self.users[..]);
            } else {
                return Some(entry);
            }
        }
    }

    /// Takes the flow whose turn it is out of the order of `home`.
    #[inline]
    fn next_flow(&mut self, home: u16) -> Option<u16> {
        loop {
            let user = &mut self.users[usize::from(home)];
            let floor = self.flow_lag.floor(user.clock);
            let (entry, bucket) = user.order.pop(floor, &self.flows[..])?;
            let flow = &self.flows[usize::from(entry)];
            let own = self.flow_lag.bucket(flow.tag);
            if flow.packets.is_empty() {
                self.leave(entry);
            } else if own > bucket {
                user.order.defer(entry, own, bucket, &mut self.flows[..]);
            } else {
                return Some(entry);
            }
        }
    }

    /// Takes the flow that goes ahead out of its line. It stays in its order, which finds out what it was charged.
    #[inline]
    fn next_ahead(&mut self) -> Option<u16> {
        while let Some(slot) = self.ahead.pop_front() {
            self.flows[usize::from(slot)].is_ahead = false;
            if self.may_go_ahead(slot) {
                return Some(slot);
            }
        }
        None
    }

    /// Whether the user of the flow in `slot` would not be ahead by more than its debt, and nobody is behind by more than
    /// the lag that is kept: who is, would wait for all that go ahead.
    fn may_go_ahead(&self, slot: u16) -> bool {
        let flow = &self.flows[usize::from(slot)];
        let tag = self.users[usize::from(flow.home)].tag;
        let has_credit = |packet: &Packet| tag + i64::from(packet.len) <= self.clock + self.debt;
        let floor = self.user_lag.floor(self.clock);
        self.packets.front(&flow.packets).is_some_and(has_credit) && self.order.lowest().is_none_or(|low| low >= floor)
    }

    /// `user` has `bytes` and `packets` more waiting.
    #[inline]
    fn grew(&mut self, user: u16, bytes: u64, packets: u32) {
        let own = &mut self.users[usize::from(user)];
        self.backlogged += i64::from(own.packets == 0);
        own.bytes += bytes;
        own.packets += packets;
        let length = self.length(user);
        self.longest.grew(user.into(), length);
    }

    /// `user` has `bytes` and `packets` less waiting.
    #[inline]
    fn shrank(&mut self, user: u16, bytes: u64, packets: u32) {
        let own = &mut self.users[usize::from(user)];
        own.bytes -= bytes;
        own.packets -= packets;
        if own.packets == 0 {
            self.backlogged -= 1;
            own.acks = 0;
        }
    }

    /// A packet of the flow in `slot`, charged to it and to its user, unless all that could go were dropped.
    #[inline(always)]
    fn send(&mut self, slot: u16, env: &mut Env) -> Option<Packet> {
        let at = usize::from(slot);
        let backlogged = self.backlogged;
        let flow = &mut self.flows[at];
        let home = flow.home;
        let before = (flow.packets.bytes(), flow.packets.packets());
        let spilled = (at == self.flow_slots.len() + self.users.len() - 1).then_some(&mut self.spilled);
        let mut backlog = Backlog { packets: &mut self.packets, list: &mut flow.packets, spilled };
        let taken = flow.control.dequeue(&self.law, env, &mut backlog);
        let is_last = flow.packets.is_empty();
        let gone = (before.0 - flow.packets.bytes(), before.1 - flow.packets.packets());
        self.shrank(home, gone.0, gone.1);
        let mut packet = taken?;
        if packet.kind == Kind::Ack {
            let user = &mut self.users[usize::from(home)];
            user.acks = user.acks.saturating_sub(gone.1);
        }
        if self.marks && packet.ecn == Ecn::Ect1 && !is_last {
            // RFC 9331, section 4.1: scalable senders are told early, and keep a short queue of their own.
            if env.now().saturating_sub(packet.arrival) > self.step {
                env.mark(&mut packet);
            }
        }
        let charge = self.charge(at, &packet);
        let flow = &mut self.flows[at];
        flow.tag += charge;
        let user = &mut self.users[usize::from(home)];
        user.tag += charge;
        let (owing, whole) = (user.owing + (charge * self.pace) as u32, WHOLE as u32 * u32::from(user.flows));
        user.clock += i64::from(owing / whole);
        user.owing = owing % whole;
        self.owing += charge * self.pace;
        let whole = WHOLE * backlogged;
        let on = self.owing / whole;
        self.owing -= on * whole;
        self.clock += on;
        let owner = flow.owner;
        if owner != home {
            self.prove(owner.into(), charge as u32);
        }
        Some(packet)
    }

    /// The newcomer `user` was charged `charge` bytes more.
    fn prove(&mut self, user: usize, charge: u32) {
        let newcomer = &mut self.users[user];
        newcomer.proved = newcomer.proved.saturating_add(charge);
        let enough = newcomer.proved >= self.newcomer && !newcomer.has_standing;
        if enough {
            let user = &mut self.users[user];
            user.has_standing = true;
            (user.tag, user.left) = (self.clock, self.clock);
        }
    }

    /// The flow in `slot` of a user without a slot has sent `packet`: there may be a slot for the user by now.
    #[cold]
    fn find_owner(&mut self, slot: u16, packet: &Packet) {
        if usize::from(slot) >= self.flow_slots.len() || self.flows[usize::from(slot)].packets.is_empty() {
            return;
        }
        let owner = self.user_of(packet);
        if owner != self.newcomers() {
            self.flows[usize::from(slot)].owner = owner;
            self.users[usize::from(owner)].flows += 1;
        }
    }

    /// The flow in `slot`, which was taken out of the order of the newcomers, belongs to a user that is none any more.
    #[cold]
    fn move_home(&mut self, slot: u16) {
        self.leave(slot);
        let flow = &mut self.flows[usize::from(slot)];
        let (bytes, packets) = (flow.packets.bytes(), flow.packets.packets());
        let (from, to) = (flow.home, flow.owner);
        if self.packets.front(&flow.packets).is_some_and(|packet| packet.kind == Kind::Ack) {
            self.users[usize::from(to)].acks += packets;
            let from = &mut self.users[usize::from(from)];
            from.acks = from.acks.saturating_sub(packets);
        }
        flow.home = to;
        flow.tag = self.users[usize::from(to)].clock;
        self.shrank(from, bytes, packets);
        self.grew(to, bytes, packets);
        self.enter(slot);
    }

    /// What waits of `user`, as it counts when the buffer is full: bytes, but not zero for packets without any; in a cell,
    /// where each packet takes its time on the air whatever its length, packets, and two for one that acknowledges two.
    #[inline]
    fn length(&self, user: u16) -> u64 {
        let User { bytes, packets, acks, .. } = self.users[usize::from(user)];
        if self.acknowledged.is_empty() { bytes.max(packets.into()) } else { (packets + acks).into() }
    }

    /// Of the flows of `home` one that has much waiting: the longest, if it is known; else one that is to be served last.
    fn victim(&mut self, home: u16) -> u16 {
        let user = &mut self.users[usize::from(home)];
        let longest = &self.flows[usize::from(user.longest)];
        let is_long = 2 * longest.packets.bytes() * u64::from(user.flows) >= user.bytes;
        if longest.home == home && !longest.packets.is_empty() && is_long {
            return user.longest;
        }
        loop {
            let user = &mut self.users[usize::from(home)];
            let (slot, bucket) = user.order.pop_highest(&self.flows[..]).expect("a flow with packets is in the order");
            if self.flows[usize::from(slot)].packets.is_empty() {
                self.leave(slot);
            } else {
                user.order.push(slot, bucket, bucket, &mut self.flows[..]);
                return slot;
            }
        }
    }

    /// Drops from the head of a long flow of the user with most waiting.
    #[cold]
    fn make_room(&mut self, arriving: u64, env: &mut Env) {
        while env.is_over() {
            let mut longest = std::mem::take(&mut self.longest);
            let found = longest.find(|user| self.length(user as u16));
            self.longest = longest;
            let (home, _) = found.expect("packets wait, so some user has most");
            let slot = usize::from(self.victim(home as u16));
            let victim = self.packets.pop_front(&mut self.flows[slot].packets).expect("it has packets");
            if slot == self.flow_slots.len() + self.users.len() - 1 {
                count_off(&mut self.spilled, victim.flow);
            }
            if victim.kind == Kind::Ack {
                let user = &mut self.users[home as usize];
                user.acks = user.acks.saturating_sub(1);
            }
            self.shrank(home as u16, victim.len.into(), 1);
            let reason = if victim.handle == arriving { DropReason::Full } else { DropReason::PushedOut };
            env.discard(victim, reason);
        }
    }
}

/// Parameter: backlog of a flow that is never too much.
const FEW: Param = Param {
    name: "mtu",
    unit: "bytes",
    about: "CoDel drops nothing while no more than this waits behind in the flow (MTU)",
    value: Value::Whole { default: 1514, min: 1, max: 1 << 30 },
};

impl Discipline for Lfq {
    const SPEC: Spec = Spec {
        id: "lfq",
        family: Family::FairQueueing,
        about: "lagged fair queueing: least attained service with a short memory, for users and for their flows",
        source: "Mayfly",
        when_full: "the first packet of a long flow of the user with most waiting",
        time_driven: false,
        // While packets of a flow wait, the flow keeps to its slot, or to the flow that has those without one.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            Param {
                name: "user",
                unit: "",
                about: "what a user is: pair of hosts, destination host, source host, or flow",
                value: Value::Choice(&["pair", "dst", "src", "flow"]),
            },
            Param {
                name: "prefix",
                unit: "bits",
                about: "leading bits of the 32 of an address that tell hosts apart",
                value: Value::Whole { default: 32, min: 1, max: 32 },
            },
            Param {
                name: "user_lag",
                unit: "bytes",
                about: "by which a user may be behind the clock of the link (B)",
                value: Value::Whole { default: 360_000, min: 0, max: 1 << 40 },
            },
            Param {
                name: "flow_lag",
                unit: "bytes",
                about: "by which a flow may be behind the clock of its user (b)",
                value: Value::Whole { default: 120_000, min: 0, max: 1 << 40 },
            },
            Param {
                name: "debt",
                unit: "bytes",
                about: "by which a user may be ahead and its sparse flows still go first (D)",
                value: Value::Whole { default: 15_000, min: 0, max: 1 << 40 },
            },
            Param {
                name: "pace",
                unit: "share",
                about: "speed of a clock beside service per backlogged user, or flow (p)",
                value: Value::Number { default: 0.4, min: 0.0, max: 1.0 },
            },
            Param {
                name: "newcomer",
                unit: "bytes",
                about: "what a new user sends out of the share that all newcomers have together",
                value: Value::Whole { default: 30_000, min: 0, max: 1 << 30 },
            },
            Param {
                name: "flows",
                unit: "slots",
                about: "flows with a queue of their own",
                value: Value::Whole { default: 896, min: 8, max: 32_768 },
            },
            Param {
                name: "users",
                unit: "slots",
                about: "users that are remembered",
                value: Value::Whole { default: 192, min: 8, max: 16_384 },
            },
            Param {
                name: "medium",
                unit: "",
                about: "a wire, or a half-duplex cell, where acknowledgements are charged what they acknowledge",
                value: Value::Choice(&["wire", "cell"]),
            },
            TARGET,
            INTERVAL,
            FEW,
            ECN,
            Param {
                name: "step",
                unit: "s",
                about: "wait beyond which packets of scalable senders are marked",
                value: Value::Number { default: 0.001, min: 1e-6, max: 1e3 },
            },
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let (flow_slots, user_slots) = (options.whole("flows"), options.whole("users"));
        let flow_slots = StandingTable::draw(flow_slots, rng);
        let user_slots = StandingTable::draw(user_slots, rng);
        let (flows, users) = (flow_slots.len(), user_slots.len());
        let mut all_newcomers = vec![User::default(); users + 1];
        all_newcomers[users].has_standing = true;
        Ok(Lfq {
            packets: Slab::default(),
            flows: vec![Flow { owner: u16::MAX, ..Flow::default() }; flows],
            flow_slots,
            users: all_newcomers,
            user_slots,
            spilled: FlowMap::default(),
            shared: vec![false; users],
            order: TagRing::default(),
            ahead: VecDeque::new(),
            clock: 0,
            owing: 0,
            backlogged: 0,
            flows_in_order: 0,
            longest: LongestQueue::default(),
            acknowledged: if options.choice("medium") == "cell" { vec![u64::MAX; flows] } else { Vec::new() },
            law: Law::with_options(options),
            marks: options.choice(ECN.name) == "on",
            step: options.time("step"),
            by: match options.choice("user") {
                "dst" => By::Destination,
                "src" => By::Source,
                "flow" => By::Flow,
                _ => By::Pair,
            },
            prefix: options.whole("prefix") as u32,
            user_lag: Lag::of(options.whole("user_lag"), 60),
            flow_lag: Lag::of(options.whole("flow_lag"), 15),
            debt: options.whole("debt") as i64,
            pace: (options.number("pace") * WHOLE as f64).round() as i64,
            newcomer: options.whole("newcomer") as u32,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        env.accept(&packet);
        let (handle, len, is_ack) = (packet.handle, packet.len, packet.kind == Kind::Ack);
        let slot = self.flow_of(&packet);
        if slot == self.flow_slots.len() + self.users.len() - 1 {
            *self.spilled.entry(packet.flow).or_insert(0) += 1;
        }
        let flow = &mut self.flows[slot];
        let was_empty = flow.packets.is_empty();
        self.packets.push_back(&mut flow.packets, packet);
        let (home, tag, length) = (flow.home, flow.tag, flow.packets.bytes());
        let user = &mut self.users[usize::from(home)];
        user.acks += u32::from(is_ack);
        if was_empty {
            let is_sparse = tag <= user.clock - self.flow_lag.bytes / 2 && !self.flows[slot].is_ahead;
            if is_sparse && user.tag + i64::from(len) <= self.clock + self.debt {
                self.flows[slot].is_ahead = true;
                self.ahead.push_back(slot as u16);
            }
        } else {
            let longest = &self.flows[usize::from(user.longest)];
            if longest.home != home || longest.packets.bytes() < length {
                user.longest = slot as u16;
            }
        }
        self.grew(home, len.into(), 1);
        if env.is_over() {
            self.make_room(handle, env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        loop {
            if let Some(slot) = self.next_ahead() {
                match self.send(slot, env) {
                    None => continue,
                    sent => return sent,
                }
            }
            let home = self.next_user()?;
            let Some(slot) = self.next_flow(home) else {
                self.retire(home);
                continue;
            };
            let user = &mut self.users[usize::from(home)];
            self.clock = self.clock.max(user.tag);
            user.clock = user.clock.max(self.flows[usize::from(slot)].tag);
            let sent = self.send(slot, env);
            if self.flows[usize::from(slot)].owner == self.newcomers() {
                sent.iter().for_each(|packet| self.find_owner(slot, packet));
            }
            let flow = &self.flows[usize::from(slot)];
            let (tag, owner) = (flow.tag, flow.owner);
            if flow.packets.is_empty() {
                self.leave(slot);
            } else if owner != home && self.users[usize::from(owner)].has_standing {
                self.move_home(slot);
            } else {
                self.place(slot, home, tag);
            }
            let user = &self.users[usize::from(home)];
            if user.packets == 0 {
                self.retire(home);
            } else {
                let bucket = self.user_lag.bucket(user.tag);
                self.order.push(home, bucket, self.user_lag.floor(self.clock), &mut self.users[..]);
            }
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let waits = |slot: u16| !self.flows[usize::from(slot)].packets.is_empty();
        let ahead = self.ahead.iter().copied().find(|&slot| self.may_go_ahead(slot));
        let in_turn = || {
            let users = |user: u16| &self.users[usize::from(user)];
            let floor = self.user_lag.floor(self.clock);
            let bucket = |user: u16| self.user_lag.bucket(users(user).tag);
            let home = users(self.order.first(floor, &self.users[..], |user| users(user).packets > 0, bucket)?);
            let bucket = |slot: u16| self.flow_lag.bucket(self.flows[usize::from(slot)].tag);
            home.order.first(self.flow_lag.floor(home.clock), &self.flows[..], waits, bucket)
        };
        self.packets.front(&self.flows[usize::from(ahead.or_else(in_turn)?)].packets)
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows_in_order
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.capacity() * size_of::<Flow>()
            + self.flow_slots.bytes()
            + self.users.capacity() * size_of::<User>()
            + self.user_slots.bytes()
            + self.spilled.allocation_size()
            + self.shared.capacity()
            + self.ahead.capacity() * size_of::<u16>()
            + self.longest.bytes()
            + self.acknowledged.capacity() * size_of::<u64>()
    }
}
