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
//! | a *sparse* flow sends | a flow that becomes backlogged at least this packet behind $v_h$ sends it before all users, if that leaves its user at most $D$ ahead of $V$, and nobody is more than $B$ behind |
//! | a flow is *starved* | who was not served in a round of `patience` gets one packet out of turn in the next, one flow of a user, if that leaves the user at most $D$ ahead of $V$; before the next such packet four times its bytes are served in turn or ahead |
//! | the link is *slow* | if it sends less than $B$ in `lag_time`, $c$ is as many times the bytes of the packet: then $B$, $b$ and $D$ are that time |
//! | the user is *new* | until it comes again `probation` after it was first served, its flows are those of one user that all newcomers are together; among these every flow starts level |
//! | users *weigh* | where they do, $F_h$ goes up by $c/w$ and $V$ by $p\,c/\sum w$ |
//!
//! - *The clock never stands still* ($p$, `pace`): while all are behind, who is steady gains credit all the same. With $p = 0$ it is the
//!   largest tag that was served, and newcomers one after another would keep others from the link; with $p = 1$ it is that of processor
//!   sharing, credit runs out by itself, and with it what short flows gain.
//! - *Sparse flows* ($D$, `debt`): SYNs, DNS, calls and games wait for one packet. They are charged as any other packet, so new ports bring
//!   nothing.
//! - *New addresses* are as cheap as new ports where the side that names users can be forged. Together they have one share and one credit,
//!   which is refilled as that of a user is; an address that comes again 0.1 s after it was first served is a user of its own from then on,
//!   and is remembered, with its tag, while its slot is not needed. So who takes ever new addresses gains nothing. The price: a host that is
//!   new waits with them until it has standing, and where most are new that is long. Newcomers are remembered in a *lobby*, a table of 1024 fingerprints of 4 bytes and times of 4 bytes. Nobody is put out of it for five
//!   probations: a flood of addresses that come once cannot turn it over, and has no slot of a user.
//!
//! **What a user is** (`user`). `pair` by default: both addresses, whatever the direction. `dst` and `src` are right where one side is known
//! to be that of the users and cannot be forged: `dst` on the way to them, `src` on the way from them. `triple` is for both sides at once, as
//! in [cake](cake.md): pairs, each of which weighs one over the pairs with packets of its busier host, so that a host with forty peers is
//! one user among hosts, and as many clients of one server are as many. Hosts are counted by a hash into 4096; the least crowd is taken
//! for one, so that a server that all have in common costs nobody its lag. `mark` is what a firewall wrote on the packet (`fwmark`).
//! `prefix` takes the leading bits of an address; hosts are numbers of 32 bits here, an implementation with IPv6 takes /64.
//!
//! **Weights** (`weights=mark`): plans. A user weighs what the packet that wakes it is marked with, 1 to 1000. Its lag is $w B$ bytes then.
//! A hierarchy of sites and circuits is not built in: it would cost who has none another ring for each packet; `htb` with this at the
//! leaves makes one.
//!
//! **Queue management.** Each flow has CoDel ([codel](codel.md)), which never takes the last packet of a flow (`mtu`), and marks where the
//! transport understands ECN. It leaves a flow alone that is more than $D$ behind, or whose user is, while its packets wait less than
//! `interval`: a queue that its own credit empties is not a standing one, and a drop in a slow start costs the most. A packet with ECT(1), of a scalable sender (RFC 9331), is marked when it waited longer than `step` and others
//! of its flow wait behind it: so such senders keep a short queue of their own.
//!
//! **Medium.** On a wire a packet is charged its bytes. In a half-duplex cell (`medium=cell`) an acknowledgement is charged what it newly
//! acknowledges: uploads and downloads of a station then share what the access point sends and lets through. What a dropped one
//! acknowledged is charged to the next. On a full-duplex link this is wrong, and it is never a default.
//!
//! **Bounds.** Let $L$ be the longest charge of a packet (of 65,535 bytes at most), $W$ the width of a bucket of the order: the power of two of
//! at least 1 KiB of which 60 hold $B$, 8 KiB by default. The bounds hold on a wire for users that have a slot of their own in the table of users
//! (`users`, 1024), while the buffer drops nothing of theirs, for $p \le 0.8$, $L \le 2.5\,W$ and $B + \max(L, D) \le 62\,W$: by default packets of up to 20 kB.
//!
//! *Lemma.* A user with packets is never more than $B + G$ behind the clock, $F_i \ge V - B - G$. Here $G = W + P (1 + \ln n)$, $P = q (W + L)$,
//! $q = 1.25\,p$, when at most $n$ users have packets: 41 kB by default with 350 users and packets of 1500 bytes.
//!
//! *Proof.* Let $o_i$ be the distance of $F_i$ from the beginning of its bucket, $h_i = V - B - F_i - (1 - q)(W - o_i)$, and $y$ a quarter of the bytes that must be served before
//! the next packet may go out of turn. The claim is that the average of $h$ over any $k$ users with packets is at most
//! $P (1 + \frac{1}{k+1} + \dots + \frac{1}{n}) + \frac{p\,y}{k+1}$. Each event leaves it true:
//!
//! - *A user comes.* Its $h$ is not above 0, so a set with it has at most $(k-1)/k$ of the average of the others, and their bound times that is not above the bound of $k$.
//!   One that falls silent leaves its sets.
//! - *$V$ is set to the tag of who is served, or a packet goes ahead.* Then no user with packets is in a bucket below that of this tag, or of $V - B$. So all $h$ are at most
//!   $q W$ before $V$ goes on by its pace, and $q W + p L \le P$ after it.
//! - *A packet of $c$ bytes of user $u$ is served in turn.* The sum of $h$ over a set with $u$ grows by no more than $p c$, and falls by at least $q c$: the average falls by at least
//!   $\frac{p c}{4 k}$, and $y$ by at most $c/4$. For a set without $u$: nobody is in a bucket below that of $u$, so the average is at most that of the $k + 1$ users with $u$,
//!   and $\frac{q\,o_u}{k+1}$. The packet adds $\frac{p c}{k+1}$ at most, since $k + 1$ users have packets. From the bound of $k + 1$ to that of $k$ there are
//!   $\frac{P}{k+1}$, and $q\,o_u + p c + p c/4 \le P$.
//! - *A packet of $s$ bytes is served out of turn.* Then $y$ was 0 and is $s$ now. A set without its user grows by $\frac{p s}{k+1}$ at most, one with it does not grow.
//!
//! With $k = 1$: $V - B - F_i \le (1 - q) W + P (1 + \frac{1}{2} + \dots + \frac{1}{n}) + \frac{p L}{2} \le G$. And $F_i \le V + \max(L, D)$, since it was served at $F_i \le V$, or at
//! most $D$ ahead afterwards.
//!
//! The rules were not sufficient for this before 2026-11-28, and the page claimed it all the same. A starved flow had one *packet* in five: beside packets of 40 bytes a long
//! one is 97 % of the bytes, and a user fell 79 kB beyond $B$ where $G$ was 39 (100 users with 1500 bytes beside 101 with 40, $D$ = 500 kB; 39.2 of 38.7 kB with the default
//! $D$). After an entry was deferred, the order put all users that were more than 32 buckets behind into one (71 of 36 kB, $B$ = 480 kB). And a user all of
//! whose packets were in line for going ahead did not count as behind: 681 kB of three users with new ports went before it, 24 kB do now.
//!
//! 1. *User beside user.* While user $i$ is backlogged, any user $j$ with standing gets at most $2 (B + G + D + L)$ more than $i$, over any
//!    time and for any pattern of $j$. For $j$ is served in turn only in a bucket no later than that of $i$, or ahead below $V + D$; by the
//!    lemma $F_j \le F_i + B + G + D + L$ at the end. At the beginning $F_j \ge V - B - G$ and $F_i \le V + \max(L, D)$. What $j$ gets is
//!    what its tag grows by, less what it is raised by. So pausing, spacing, splitting and new ports gain no more than that, once.
//! 2. *Whatever others do.* While backlogged, a user gets at least $p$ times its fair share (each byte sent counts $1/n$), less
//!    $B + G + \max(L, D)$: its tag follows $V$, and $V$ goes on by at least $p\,c/n$, whatever credit the others have. With $H$ users in all,
//!    bound 1 gives the full share less $H - 1$ times its constant over $H$. Neither holds beyond the table of users, where
//!    several share one slot.
//! 3. *Transfers within the lag.* A user that was silent for $B$ sends $x \le B$ bytes while every other user is sent at most what it lies
//!    behind that, and $W + 2L$: those who are not behind wait, those who are share with it, at most $H (x + W + 2L)$ bytes in all.
//! 4. *New addresses.* All that have no standing yet are one user in bound 1.
//!
//! Inside a user the same holds for flows, with $b$ and twice a bucket of which 15 hold $b$ for $W$ (the order of 16 buckets may be one bucket off); without newcomers, and nobody goes ahead. With weights it holds
//! for bytes over weights, with the longest charge for $L$, which under `triple` is as many times longer as a host has pairs.
//!
//! **Scope and limits.**
//! - The bounds hold for users that have a slot in the table, 1024 by default. Beyond it users are forgotten, share slots, and lose: see below.
//! - All newcomers have the share of one user. That protects from ever new addresses, and it slows networks where most pairs of hosts are new:
//!   guest networks, the uplink of a web server, an exchange, carrier-grade NAT. See below.
//! - Who can keep many addresses for long is many users, as it is to every fair queue by address: take the side that cannot be forged.
//! - A house behind one address is one user, unless the link is inside it. Its flows are treated by the inner rule.
//! - A sender that does not back off loses what exceeds its share, as under every fair queue.
//! - `pair` takes a host with many peers for many users: with 16 peers beside three other hosts it has 3.4 fair shares of the link, with 100 peers 3.8 of 4.
//!   It is the default all the same: a client that loads a page from six servers is one user under `triple`, with a sixth of the lag for each. Where hosts
//!   with many peers matter and the side of the users is known, take `dst` or `src`; where it is not, `triple` (1.2 and 1.5 shares).
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `user` | | | `pair` | what a user is: `pair` of hosts, `triple`, `dst` or `src` host, `flow`, `mark` |
//! | `weights` | $w$ | | `equal` | what a user weighs: `equal`, or its `mark` |
//! | `prefix` | | bits | 32 | leading bits of the 32 of an address that tell hosts apart |
//! | `user_lag` | $B$ | bytes | 360,000 | by which a user may be behind |
//! | `flow_lag` | $b$ | bytes | 120,000 | by which a flow may be behind in its user |
//! | `debt` | $D$ | bytes | 15,000 | by which a user may be ahead and its sparse flows still go first |
//! | `pace` | $p$ | share | 0.4 | speed of a clock beside service per backlogged user, or flow of the user |
//! | `probation` | | s | 0.1 | from when a new user was first served until it has standing, if it comes again; 0: at once |
//! | `flows` | | slots | 864 | flows with a queue of their own |
//! | `users` | | slots | 1024 | users that are remembered |
//! | `lag_time` | | s | 0.5 | what the link sends in it bounds the lags and the debt |
//! | `patience` | | s | 0.05 | a round |
//! | `quantum` | | bytes | 30,000 | what a user sends in one turn in a cell, so that aggregates fill |
//! | `medium` | | | `wire` | `wire` or `cell` |
//! | `target` | TARGET | s | 0.005 | CoDel: time in the queue that is acceptable |
//! | `interval` | INTERVAL | s | 0.1 | CoDel: how long it may be exceeded before the first drop |
//! | `mtu` | MTU | bytes | 1 | CoDel: nothing is dropped while no more than this waits behind in the flow |
//! | `ecn` | | | `on` | mark packets of ECN-capable transports instead of dropping them |
//! | `step` | | s | 0.001 | wait beyond which packets of scalable senders are marked |
//!
//! **When the tables are full.** Both are set-associative, sets of eight, by a hash with a seed of its own. An idle entry gives way to a new one:
//! one whose key has not come back since it was last passed over (CLOCK). What waits is never moved. A flow without a slot, or of a user that
//! has flows in a quarter of them, waits in one queue with the other such flows of its user (those of newcomers together, who have half of
//! the slots, each a sixteenth of those of a user): it shares with them, and takes nothing from other users with standing. A user whose set
//! is full of users that have packets shares the slot and the share of one of them. A newcomer that finds no place in the lobby stays one, and
//! tries again with each packet that is served.
//!
//! A user may lose its slot whenever it has no packet waiting. Then it loses its credit and its standing, and is a newcomer again for `probation`, with a share of
//! what all newcomers have; who took the slot gains by it. A call is idle between any two packets, so it is among the first to be
//! forgotten once most slots of a set are busy. With 144 slots, the default until 2026-11-28, that began with some 100 busy pairs of hosts; with 1024 slots
//! a call beside 250 loses 0.2 %, and beside 1000 15 % (`cake` 8 %). An attacker who keeps hundreds of addresses busy fills any table: with more
//! users with packets than slots `lfq` isolates nobody for certain, and more `users` is the remedy (16,384 at most; some 190 bytes each in the simulator, 450 in the kernel).
//! More `flows` are not: newcomers have half of the flow slots, and a flood of new addresses makes others stall for longer then.
//!
//! **When the buffer is full** the arriving packet is queued, then the user with most bytes waiting (in a cell: of what they are charged) loses a packet at the head of a
//! long flow: the longest where that is known, else one that would be served last; and so on until the rest fits.
//!
//! **Cost.** O(1) per packet: tags are in rings of 64 and 16 buckets with a bit each; a packet of a waiting flow costs one look-up, that of an idle
//! one two. A victim costs O(log users). Memory is fixed but for those flows: see `mayfly disciplines` and `docs/validation.md`; the queues for flows
//! without a slot are allocated when the first one comes.
//!
//! **Validation.** `crates/qdisc/tests/lfq.rs`: bounds 1, 2 and 4 under bursts, ports, addresses and lengths that are drawn to break them, while
//! rounds end and flows starve, bound 1 inside a user, too; the lemma with packets of 40 bytes beside 1500 of 200 and 350 users, after deferred entries, and in line; bound 3; rounds; lags at 1 Mb/s; windows and turns of a cell;
//! order in full tables; shares, by weights and of hosts, too; marks; charges; whom CoDel leaves alone. `triple` decides as `pair` where no host is shared.
//! The rings against a search (`tag_ring.rs`), the lobby (`lobby.rs`). Conformance suite. Of 15 mutations of the rules (lags, charges,
//! debt, clocks, standing, moves) 13 failed one of these tests or hung it when newcomers had slots of users still; the other two, of starved flows, and eight of
//! newer rules (starved flows, newcomers, hosts, CoDel) fail one now.
//!
//! **Measured on 2026-11-28**, with the defaults of today (Linux's hosts, means over the seeds; CUBIC). *A crowd of busy users*: bulk transfers of so many pairs of hosts, five calls of
//! 64 kbit/s and short transfers of twenty pairs (2.5 Mbit/s of 4 to 40 packets) on 50 Mbit/s, 8 ms, 1000 packets, 20 s, seeds 1 to 4 (500 and 1000: seeds 1 and 2). Loss of the calls and 99 % of the waits of their
//! packets, 95 % of the short transfers:
//!
//! | bulk users | `lfq` | `lfq(users=144)`, the default before | `cake` | `fq_codel` |
//! |---:|---|---|---|---|
//! | 20 | 0 %, 0.4 ms, 89 ms | the same | 0 %, 1.0 ms, 215 ms | 0.15 %, 7 ms, 209 ms |
//! | 60 | 0 %, 0.4 ms, 96 ms | 0 %, 2.7 ms, 131 ms | 0 %, 1.1 ms, 676 ms | 2.6 %, 48 ms, 719 ms |
//! | 100 | 0 %, 0.4 ms, 137 ms | 7.5 %, 257 ms, 1.4 s | 0 %, 0.5 ms, 995 ms | 3.2 %, 61 ms, 1.0 s |
//! | 150 | 0.05 %, 8.7 ms, 258 ms | 21 %, 1.4 s, 4.3 s | 0 %, 13 ms, 2.1 s | 3.9 %, 69 ms, 1.7 s |
//! | 250 | 0.17 %, 103 ms, 1.6 s | 48 %, 1.7 s, 9.6 s | 0 %, 0.6 ms, 4.0 s | 10 %, 172 ms, 2.6 s |
//! | 500 | 0.9 %, 500 ms, 9.7 s | | 0 %, 0.5 ms, 11.6 s | 17 %, 189 ms, 5.8 s |
//! | 1000 | 15 %, 508 ms, 14.9 s | | 7.7 %, 61 ms, 14.6 s | 33 %, 246 ms, 11.5 s |
//!
//! The losses of the row of 150 are one packet of each call in its first 0.15 s, while it is a newcomer or has just ceased to be one (seeds 1 and 3: 0.105 %; 2 and 4: 0).
//! Above some 200 busy users `cake` is better for calls. Of 250 bulk users on 100 Mbit/s (seeds 1 and 2) the least has 0.82 of the mean, Jain's index is 0.97; with 144 slots 0.04 and 0.76,
//! under `cake` 0.54 and 0.97, `fq_codel` 0.19 and 0.93.
//!
//! *Newcomers.* Each short transfer (4 to 40 packets) is of another pair of hosts, beside three bulk users, 10 Mbit/s, 8 ms, 300 packets, 20 s, seeds 1 to 4; 95 % of the short transfers:
//!
//! | short transfers offer | `lfq` | `cake` | `fq_codel` |
//! |---:|---:|---:|---:|
//! | 2 Mbit/s | 105 ms | 222 ms | 228 ms |
//! | 4 | 376 ms | 261 ms | 280 ms |
//! | 6 | 785 ms | 391 ms | 480 ms |
//! | 8 | 2.8 s | 715 ms | 1.06 s |
//!
//! Beyond the share of one user, 2.5 Mbit/s here, newcomers are two to four times as slow as under `cake`. In the presets of `mayfly explore` (40 s, seeds 1 to 3) transfers of up to 20 packets
//! take, mean and 95 %, `lfq` / `cake` / `fq_codel`: `isp` 71, 135 / 65, 97 / 64, 94 ms; `school` 61, 92 / 62, 95 / 61, 87; `office` 74, 146 / 79, 157 / 74, 140; `home` 65, 121 / 68, 129 / 67, 122.
//! Transfers of 21 to 300 packets, mean: `isp` 285 / 300 / 280, `school` 223 / 292 / 252, `office` 297 / 331 / 291, `home` 267 / 317 / 306 ms.
//!
//! *Peers.* One host with a download from each of 16, or 100, servers beside three hosts with one each, 10 Mbit/s, 30 s, seeds 1 to 3: 3.37 and 3.85 fair shares under `lfq`, 1.20 to 1.29 and 1.42 to 1.59 with
//! `user=triple`, 1.01 and 0.95 with `user=dst`; `cake` 1.01 and 1.05, `fq_codel` 3.35 and 3.84.
//!
//! Where it falls short: newcomers, and more busy users than some 200, as above. Stalls of long flows, and the slowest pages, are longer than under `fq_codel`. Where every packet is of another pair of hosts
//! (`benchmarks/queues.py`), a packet took 94 to 100 ns with 300 packets and 98 to 108 with 10,000, beside 59 to 65 of `fq_codel` in the same three runs: all are newcomers there, and wait
//! in turn (70 and 87 ns before they did). A sender that keeps each of its addresses for longer than the probation is as many users as it has at a
//! time. Beside thousands of new addresses a second who comes new loses the same share of its first packets as
//! the flood does: its handshake takes as many seconds as TCP doubles its timer to. Both were found by a search.
//!
//! **References.** I. Rai, G. Urvoy-Keller and E. Biersack, "Analysis of LAS scheduling for job size distributions with high variance", SIGMETRICS
//! 2003. S. Aalto, U. Ayesta and E. Nyberg, "Two-level processor-sharing scheduling disciplines: mean delay analysis", SIGMETRICS 2004. P. Goyal, H. Vin
//! and H. Cheng, "Start-time fair queuing", SIGCOMM 1996. A. Saeed et al., "Eiffel", NSDI 2019. RFC 8289, 8290, 9331.

use std::collections::VecDeque;

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::{Ecn, Kind, Packet};
use crate::parts::codel::{self, Control, ECN, INTERVAL, Law, TARGET};
use crate::parts::link_rate::Sent;
use crate::parts::lobby::Lobby;
use crate::parts::longest_queue::LongestQueue;
use crate::parts::packet_lists::{List, Slab};
use crate::parts::standing_table::{Home, StandingTable};
use crate::parts::tag_ring::{Place, Places, TagRing};
use crate::parts::users::{By, USER_OR_TRIPLE};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// No packet is charged more: the longest that IP has, and for an acknowledgement a window of today. So tags stay near the
/// clock whatever comes.
const LONGEST: u32 = 65_535;
const WINDOW: u32 = 1 << 20;

/// A user may have packets in one of this many flow slots, all newcomers together in twice as many, and one of them in one of
/// this many of those of a user; the rest of its flows share one queue.
const SLOTS_OF_ONE_USER: usize = 4;

/// Newcomers that are remembered, and the probations for which one is whoever else comes.
const REMEMBERED: u64 = 1024;
const SAFE: u64 = 5;

/// Bytes that are served in turn, or ahead, for each byte that is served out of turn because its flow starved.
const IN_TURN: u32 = 4;

/// Bits behind the point of a clock and of its pace.
const FRACTION: u32 = 24;

/// Shares up to this number are looked up.
const LISTED: usize = 256;

/// Of a scale: units in one; and the most that a byte may be charged as.
const SCALE: u64 = 16;
const MOST: u64 = 64;

/// Bits behind the point of the time for a byte.
const PER_BYTE: u32 = 20;

/// Counters of hosts on either side; the most that a user weighs.
const HOSTS: usize = 4096;
const HEAVIEST: u32 = 1000;

/// Counters of newcomers: of their packets without a slot, and of their flows with one.
const COUNTERS: usize = 512;

const NONE: u16 = u16::MAX;

/// Where a flow is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Idle,
    /// In line for going ahead.
    Ahead,
    /// In the order of its home.
    InOrder,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    packets: List,
    control: Control,
    /// F_f: what the flow was charged, beside the clock of its user.
    tag: i64,
    /// The user in whose order it is, or all newcomers.
    home: u16,
    /// Of a newcomer: where its flows with a slot are counted.
    counted: u16,
    state: State,
    place: Place,
}

/// Bits of 64 flows.
#[derive(Clone, Copy, Debug, Default)]
struct Bits {
    /// In an order.
    active: u64,
    /// Of these: not served since the round began.
    unserved: u64,
    /// Not served in all of the last round.
    starved: u64,
}

/// A clock of bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    bytes: i64,
    fraction: u32,
}

impl Clock {
    /// Goes on by `rate` for each byte of `charge`.
    #[inline]
    fn go_on(&mut self, charge: u32, rate: u32) {
        let sum = u64::from(self.fraction) + u64::from(charge) * u64::from(rate);
        self.bytes += (sum >> FRACTION) as i64;
        self.fraction = sum as u32 & ((1 << FRACTION) - 1);
    }
}

#[derive(Clone, Copy, Debug)]
struct User {
    order: TagRing<16>,
    /// F_h: what the user was charged, beside the clock of the link.
    tag: i64,
    /// v_h: the clock of its flows.
    clock: Clock,
    /// Packets waiting.
    packets: u32,
    /// The clock of the link when it fell silent.
    left: i64,
    /// Bytes waiting.
    bytes: u64,
    /// The round in which one of its flows was served out of turn.
    fed: u16,
    place: Place,
    /// Its flows that wait.
    flows: u16,
    /// A flow that had most waiting not long ago.
    longest: u16,
    /// The flow for what finds no slot.
    spare: u16,
    /// Packets of newcomers that had come without a slot when it got standing, or others came to share with it.
    after: u64,
    is_in_order: bool,
}

impl Default for User {
    fn default() -> Self {
        User {
            order: TagRing::default(),
            tag: 0,
            clock: Clock::default(),
            packets: 0,
            left: 0,
            bytes: 0,
            fed: 0,
            place: Place::default(),
            flows: 0,
            longest: 0,
            spare: NONE,
            after: 0,
            is_in_order: false,
        }
    }
}

impl User {
    /// Before a packet comes while the clock of the link is at `clock`: if none waits the user has been silent. Its clock ran
    /// on: it was entitled to service and took none.
    #[inline]
    fn wake(&mut self, clock: i64, lag: i64) {
        if self.packets == 0 {
            self.clock.bytes += clock - self.left;
            self.left = clock;
            self.tag = self.tag.max(clock - lag);
        }
    }
}

impl Places for [Flow] {
    #[inline]
    fn of(&self, flow: u16) -> &Place {
        &self[usize::from(flow)].place
    }

    #[inline]
    fn of_mut(&mut self, flow: u16) -> &mut Place {
        &mut self[usize::from(flow)].place
    }
}

impl Places for [User] {
    #[inline]
    fn of(&self, user: u16) -> &Place {
        &self[usize::from(user)].place
    }

    #[inline]
    fn of_mut(&mut self, user: u16) -> &mut Place {
        &mut self[usize::from(user)].place
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

/// How much a byte is charged as, so that no lag is more than the link sends in a given time.
#[derive(Clone, Debug)]
struct Scale {
    /// In units of 1 / `SCALE`.
    now: u32,
    /// Time for a byte at which it is one, ns times 2^`PER_BYTE`: 2^30 ns at most.
    fastest: u64,
    sent: Sent,
}

impl Scale {
    /// Bytes beyond which `lag` bytes take longer than `most`.
    fn of(lag: u64, most: Time) -> Scale {
        let whole = (most.0 / lag).min(1 << 30);
        let rest = if whole < 1 << 30 { ((most.0 % lag) << PER_BYTE) / lag } else { 0 };
        Scale { now: SCALE as u32, fastest: (whole << PER_BYTE) + rest, sent: Sent::default() }
    }

    /// The link is free at `now`.
    #[inline]
    fn is_free(&mut self, now: Time) {
        if let Some((bytes, time)) = self.sent.is_free(now) {
            self.adapt(bytes, time);
        }
    }

    /// `bytes` took `time`, ns. What differs by less than an eighth stays.
    #[cold]
    fn adapt(&mut self, bytes: u64, time: u64) {
        let bytes = bytes.min(u32::MAX.into());
        // In integers, as `kernel/core/lfq.h` has it: what the bytes may take, and the time rounded to a multiple of that.
        let may = ((u128::from(self.fastest) * u128::from(bytes)) >> PER_BYTE).max(1) as u64;
        let scale = (SCALE * time.min(1 << 58) + may / 2) / may;
        let scale = scale.clamp(SCALE, MOST * SCALE) as u32;
        if scale.abs_diff(self.now) > self.now / 8 || scale == SCALE as u32 {
            self.now = scale;
        }
    }

    /// What `bytes` are charged as.
    #[inline]
    fn of_bytes(&self, bytes: u32) -> u32 {
        (u64::from(bytes.min(WINDOW)) * u64::from(self.now) / SCALE) as u32
    }
}

/// In a half-duplex cell: what acknowledgements stand for.
#[derive(Clone, Debug, Default)]
struct Cell {
    /// By flow: acknowledged when it was last served, and when a packet last came; none is `u64::MAX`.
    served: Vec<u64>,
    told: Vec<u64>,
    /// What waits, by flow and by user, and for the flows what was dropped before it.
    flows: Vec<u64>,
    users: Vec<u64>,
}

/// What an acknowledgement of `len` bytes tells beyond `before`, up to `progress`. What is more than can be charged is left to
/// the next one.
#[inline]
fn acknowledged(progress: u64, before: &mut u64, len: u32) -> u32 {
    if *before == u64::MAX {
        *before = progress;
    }
    let moved = progress.saturating_sub(*before).min(WINDOW.into());
    *before += moved;
    len.max(moved as u32)
}

/// The packets of one flow, as CoDel sees them.
struct Backlog<'a> {
    packets: &'a mut Slab,
    list: &'a mut List,
    /// What was taken last: what is asked of a packet after it was copied would wait for the copy.
    len: u32,
    kind: Kind,
    progress: u64,
    waits: Option<Time>,
    /// Up to this wait the packet is left alone.
    grace: Time,
}

impl codel::Queue for Backlog<'_> {
    #[inline(always)]
    fn head(&self, env: &Env) -> Option<(Time, u64)> {
        let head = self.packets.front(self.list)?;
        let is_spared = env.now().saturating_sub(head.arrival) < self.grace;
        Some((head.arrival, if is_spared { 0 } else { self.list.bytes() - u64::from(head.len) }))
    }

    #[inline(always)]
    fn take(&mut self) -> Option<Packet> {
        let head = self.packets.front(self.list)?;
        (self.len, self.kind, self.progress) = (head.len, head.kind, head.progress);
        self.waits = (head.ecn == Ecn::Ect1).then_some(head.arrival);
        self.packets.pop_front(self.list)
    }
}

/// Packets of newcomers that wait without a slot, in one queue, counted by a hash of their user: while some do, no other packet
/// of that user gets a slot, so that they keep their order whatever becomes of the user. Users that share a counter wait
/// together, unless they have had standing for as long as the queue remembers.
#[derive(Clone, Debug, Default)]
struct Spilled {
    counters: Vec<u32>,
    /// Packets that came and that left, ever.
    came: u64,
    left: u64,
}

impl Spilled {
    #[inline]
    fn holds(&self, user: Home) -> bool {
        self.came > self.left && self.counters[user.fingerprint() as usize % COUNTERS] > 0
    }

    #[inline]
    fn comes(&mut self, user: Home) {
        self.came += 1;
        self.counters[user.fingerprint() as usize % COUNTERS] += 1;
    }

    #[inline]
    fn leaves(&mut self, user: Home) {
        self.left += 1;
        self.counters[user.fingerprint() as usize % COUNTERS] -= 1;
    }
}

/// What users are charged where they do not weigh the same.
#[derive(Clone, Debug, Default)]
struct Weights {
    by_mark: bool,
    /// By user; what its host counters are.
    users: Vec<Weight>,
    /// Users with packets, by a hash of their source and of their destination.
    sides: [Vec<u16>; 2],
    /// Counters above zero.
    hosts: [u32; 2],
    /// The least number of users with packets that share the busier host of one, as it was found last.
    least: u32,
    /// Sum of the weights of the users with packets.
    sum: u32,
}

#[derive(Clone, Copy, Debug)]
struct Weight {
    weight: u32,
    sides: [u16; 2],
}

impl Weights {
    /// For `users` users and all newcomers.
    fn of(by_mark: bool, by_host: bool, users: usize) -> Weights {
        let counters = if by_host { HOSTS } else { 0 };
        Weights {
            by_mark,
            users: vec![Weight { weight: 1, sides: [NONE; 2] }; if by_mark || by_host { users + 1 } else { 0 }],
            sides: [vec![0; counters], vec![0; counters]],
            hosts: [0; 2],
            least: 1,
            sum: 0,
        }
    }

    /// Users with packets that share the busier host of `user`.
    #[inline]
    fn crowd(&self, user: u16) -> u32 {
        let Weight { sides, .. } = self.users[usize::from(user)];
        let count = |side: usize| self.sides[side].get(usize::from(sides[side])).copied().unwrap_or(0);
        u32::from(count(0).max(count(1)))
    }

    /// `user` has packets from now on, of which this is one, on whose hosts `hashes` are. Newcomers weigh one.
    fn comes(&mut self, user: u16, packet: &Packet, hashes: [u64; 2]) {
        let is_user = usize::from(user) + 1 < self.users.len();
        let own = &mut self.users[usize::from(user)];
        own.weight = if self.by_mark && is_user { packet.mark.clamp(1, HEAVIEST) } else { 1 };
        self.sum += own.weight;
        if self.sides[0].is_empty() || !is_user {
            return;
        }
        for (side, hash) in hashes.into_iter().enumerate() {
            let at = hash as usize % HOSTS;
            self.users[usize::from(user)].sides[side] = at as u16;
            self.hosts[side] += u32::from(self.sides[side][at] == 0);
            self.sides[side][at] += 1;
        }
        self.least = self.least.min(self.crowd(user));
    }

    /// `user` has no packets any more.
    fn goes(&mut self, user: u16) {
        let own = &mut self.users[usize::from(user)];
        self.sum -= own.weight;
        for (side, at) in std::mem::replace(&mut own.sides, [NONE; 2]).into_iter().enumerate() {
            if let Some(count) = self.sides[side].get_mut(usize::from(at)) {
                *count -= 1;
                self.hosts[side] -= u32::from(*count == 0);
            }
        }
    }

    /// What `user` is charged for `charge` bytes.
    #[inline]
    fn charge(&self, user: u16, charge: i64) -> i64 {
        let crowd = self.crowd(user).max(self.least);
        charge * i64::from(crowd) / (i64::from(self.users[usize::from(user)].weight) * i64::from(self.least))
    }

    /// What the clock of the link takes for the number of users, `backlogged` of which have packets: the sum of their weights, or
    /// no less than that.
    #[inline]
    fn sharing(&self, backlogged: u32) -> u32 {
        if self.sides[0].is_empty() {
            return self.sum;
        }
        let among = if self.by_mark { self.sum } else { backlogged };
        // Users at one host weigh as much as one, times `least`; those of newcomers have none.
        among.min(self.least.saturating_mul(self.hosts[0].min(self.hosts[1]).saturating_add(1)))
    }
}

/// How the flow that is served was found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    /// It was starved, and stays where it was in the order.
    Starved,
    Ahead,
    InOrder,
}

/// On what a clock goes for each byte while `sharing` share, of `rates` by their number.
#[inline]
fn rate(rates: &[u32], sharing: u32) -> u32 {
    rates.get(sharing as usize).copied().unwrap_or_else(|| rates[0] / sharing)
}

/// The flow of a newcomer waits no more.
#[inline]
fn uncount(flow: &mut Flow, counters: &mut [u16]) {
    if flow.counted != NONE {
        counters[usize::from(flow.counted)] -= 1;
        flow.counted = NONE;
    }
}

/// Lagged fair queueing.
#[derive(Clone, Debug)]
pub struct Lfq {
    packets: Slab,
    /// By slot of `flow_slots`; behind these the flows for what finds no slot, of the users that have needed one.
    flows: Vec<Flow>,
    /// By flow.
    bits: Vec<Bits>,
    flow_slots: StandingTable,
    /// By slot of `user_slots`; the last one is that of all newcomers.
    users: Vec<User>,
    user_slots: StandingTable,
    lobby: Lobby,
    /// Flows of newcomers that have a slot, by a hash of the newcomer.
    flows_of_newcomers: Vec<u16>,
    spilled: Spilled,
    order: TagRing<64>,
    /// Flows in line for going ahead.
    ahead: VecDeque<u16>,
    /// No user of these has a lower tag.
    ahead_low: i64,
    /// The user whose turn is not over, and what is left of it, bytes.
    turn: Option<u16>,
    turn_left: i64,
    /// V: the clock of the link.
    clock: Clock,
    /// Users with packets.
    backlogged: u32,
    /// Flows that wait.
    waiting: usize,
    longest: LongestQueue,
    /// Number and end of the round, and whether flows starved in the last one.
    round: u16,
    round_ends: Time,
    some_starve: bool,
    /// Bytes, as they are charged, to be served in turn or ahead before the next flow that starved gets a packet.
    owed: u32,
    /// Empty on a wire.
    cell: Cell,
    law: Law,
    /// Up to which wait CoDel leaves a packet of who is behind alone.
    grace: Time,
    scale: Scale,
    marks: bool,
    step: Time,
    by: By,
    prefix: u32,
    user_lag: Lag,
    flow_lag: Lag,
    debt: i64,
    /// By number of those that share: on what a clock goes for each byte.
    rates: Vec<u32>,
    probation: Time,
    patience: Time,
    quantum: i64,
    is_cell: bool,
    weights: Weights,
    is_weighted: bool,
}

impl Lfq {
    /// All newcomers.
    #[inline]
    fn newcomers(&self) -> u16 {
        self.users.len() as u16 - 1
    }

    #[inline]
    fn key(&self, packet: &Packet) -> u64 {
        self.by.key(packet, self.prefix)
    }

    /// What `user` is charged for `charge` bytes.
    #[inline]
    fn due(&self, user: u16, charge: u32) -> i64 {
        if self.is_weighted { self.weights.charge(user, charge.into()) } else { charge.into() }
    }

    /// Users with packets, or what they weigh.
    #[inline]
    fn sharing(&self) -> u32 {
        if self.is_weighted { self.weights.sharing(self.backlogged) } else { self.backlogged }
    }

    /// `user` has packets from now on, of which `packet` is one.
    #[inline]
    fn comes(&mut self, user: u16, packet: &Packet) {
        self.backlogged += 1;
        if self.is_weighted {
            let hashes =
                [packet.src, packet.dst].map(|host| self.user_slots.hash(u64::from(host) >> (32 - self.prefix)));
            self.weights.comes(user, packet, hashes);
        }
    }

    /// `user` has no packets any more.
    #[inline]
    fn goes(&mut self, user: u16) {
        self.backlogged -= 1;
        if self.is_weighted {
            self.weights.goes(user);
        }
    }

    /// A flow of user `user` for packets that find no slot, its first one.
    #[cold]
    fn add_spare(&mut self, user: u16) -> u16 {
        let slot = self.flows.len();
        self.users[usize::from(user)].spare = slot as u16;
        // Not twice as many as there are.
        self.flows.reserve_exact(1);
        self.flows.push(Flow { home: user, counted: NONE, ..Flow::default() });
        self.bits.resize(slot / 64 + 1, Bits::default());
        if self.is_cell {
            self.cell.served.push(u64::MAX);
            self.cell.told.push(u64::MAX);
            self.cell.flows.push(0);
        }
        if user == self.newcomers() {
            self.spilled.counters = vec![0; COUNTERS];
        }
        slot as u16
    }

    /// Whether packets wait in the flow for what finds no slot.
    #[inline]
    fn spills(&self, user: u16) -> bool {
        let spare = self.users[usize::from(user)].spare;
        spare != NONE && !self.flows[usize::from(spare)].packets.is_empty()
    }

    /// The user at `home`, at `now`: its own slot, one that it shares, or that of all newcomers. A newcomer that was served and
    /// comes again after `probation` is a user of its own from now on.
    #[inline]
    fn meet(&mut self, home: Home, now: Time) -> u16 {
        if let Some(slot) = self.user_slots.find(home) {
            self.user_slots.came_back(slot);
            return slot as u16;
        }
        // Packets of a user that shares a slot stay there until none is left: they keep their order.
        if self.user_slots.is_shared(home) {
            return self.user_slots.fixed(home) as u16;
        }
        if self.probation > Time::ZERO && !self.lobby.has_passed(home, now, self.probation) {
            return self.newcomers();
        }
        self.admit(home)
    }

    /// The user at `home` has standing from now on, and a slot, or shares one.
    #[cold]
    fn admit(&mut self, home: Home) -> u16 {
        self.lobby.leaves(home);
        let Some(slot) = self.user_slots.take(home, false) else {
            let fixed = self.user_slots.fixed(home);
            self.user_slots.set_shared(fixed, true);
            self.users[fixed].after = self.spilled.came;
            return fixed as u16;
        };
        let user = &mut self.users[slot];
        // Beyond the tags of the flows of the user before: to this one they are newcomers.
        user.clock.bytes += self.flow_lag.bytes + 2 * i64::from(WINDOW) * MOST as i64;
        (user.left, user.tag, user.after) = (self.clock.bytes, self.clock.bytes, self.spilled.came);
        if self.probation == Time::ZERO {
            user.tag -= self.user_lag.bytes;
        }
        slot as u16
    }

    /// The slot of the flow of `packet`, which is in the order of its user, or ahead of it; and that user.
    #[inline(always)]
    fn flow_of(&mut self, packet: &Packet, now: Time) -> (usize, u16) {
        let place = self.flow_slots.home(packet.flow.0);
        let own = self.flow_slots.find(place);
        match own {
            Some(slot) if self.flows[slot].state != State::Idle => {
                let Flow { home, state, .. } = self.flows[slot];
                if home != self.newcomers() || state != State::InOrder {
                    return (slot, home);
                }
                self.of_newcomers(packet, place, slot, now)
            }
            _ => self.begin(packet, place, own, now),
        }
    }

    /// The same where the flow is in `slot`, in the order of the newcomers: it leaves that, if its user has standing now.
    #[inline]
    fn of_newcomers(&mut self, packet: &Packet, place: Home, slot: usize, now: Time) -> (usize, u16) {
        let user = self.meet(self.user_slots.home(self.key(packet)), now);
        if user == self.newcomers() {
            return (slot, user);
        }
        let newcomers = usize::from(self.newcomers());
        self.users[newcomers].order.remove(slot as u16, &mut self.flows[..]);
        if self.flows[slot].packets.is_empty() {
            // All were dropped, and its turn had not come since.
            self.leave(slot as u16);
            return self.begin(packet, place, Some(slot), now);
        }
        self.move_home(slot as u16, user);
        (slot, user)
    }

    #[inline(always)]
    fn begin(&mut self, packet: &Packet, place: Home, own: Option<usize>, now: Time) -> (usize, u16) {
        let key = self.user_slots.home(self.key(packet));
        let home = self.meet(key, now);
        let is_newcomer = home == self.newcomers();
        let user = &mut self.users[usize::from(home)];
        if (is_newcomer || user.after > self.spilled.left) && self.spilled.holds(key) {
            // This one comes behind those for which it has to wait, and the next one behind it.
            user.after = self.spilled.came + 1;
            return self.begin_spare(self.newcomers(), key, packet.len);
        }
        let most = self.flow_slots.len() / SLOTS_OF_ONE_USER;
        let flows = usize::from(user.flows);
        let counter = key.fingerprint() as usize % COUNTERS;
        let is_crowded = if is_newcomer {
            flows >= 2 * most || usize::from(self.flows_of_newcomers[counter]) >= most / SLOTS_OF_ONE_USER
        } else {
            flows >= most || self.spills(home)
        };
        if is_crowded {
            return self.begin_spare(home, key, packet.len);
        }
        let slot = if let Some(slot) = own {
            self.flow_slots.came_back(slot);
            self.flow_slots.set_busy(slot);
            slot
        } else {
            let Some(slot) = self.flow_slots.take(place, true) else {
                return self.begin_spare(home, key, packet.len);
            };
            if self.is_cell {
                (self.cell.served[slot], self.cell.told[slot]) = (u64::MAX, u64::MAX);
            }
            slot
        };
        let flow = &mut self.flows[slot];
        if own.is_none() {
            flow.control = Control::default();
        }
        if own.is_none() || flow.home != home {
            // It starts by the lag behind.
            (flow.home, flow.tag) = (home, i64::MIN);
        }
        if is_newcomer {
            flow.counted = counter as u16;
            self.flows_of_newcomers[counter] += 1;
        }
        self.start(slot, home, packet.len);
        (slot, home)
    }

    /// A packet of `len` bytes of the user at home in `key` comes to the flow of `user` for what finds no slot.
    #[inline(never)]
    fn begin_spare(&mut self, user: u16, key: Home, len: u32) -> (usize, u16) {
        let own = self.users[usize::from(user)].spare;
        let slot = if own == NONE { self.add_spare(user) } else { own };
        if self.flows[usize::from(slot)].state == State::Idle {
            self.start_spare(slot, user, len);
        }
        if user == self.newcomers() {
            self.spilled.comes(key);
        }
        (slot.into(), user)
    }

    #[cold]
    fn start_spare(&mut self, slot: u16, user: u16, len: u32) {
        self.start(slot.into(), user, len);
    }

    /// The idle flow in `slot`, of `home`, for which a packet of `len` bytes came, waits from now on.
    #[inline(always)]
    fn start(&mut self, slot: usize, home: u16, len: u32) {
        let charge = self.scale.of_bytes(len);
        let due = self.due(home, charge);
        let charge = i64::from(charge);
        // Among newcomers everybody is new: no flow is behind, and none goes ahead of those that wait.
        let is_newcomer = home == self.newcomers();
        let lag = if is_newcomer { charge.min(self.flow_lag.bytes) } else { self.flow_lag.bytes };
        let user = &mut self.users[usize::from(home)];
        user.wake(self.clock.bytes, self.user_lag.bytes);
        user.flows += 1;
        let (flow, clock) = (&mut self.flows[slot], user.clock.bytes);
        flow.tag = flow.tag.max(clock - lag);
        let may_pass = !is_newcomer || user.packets == 0;
        let goes_ahead = may_pass && flow.tag + charge <= clock && user.tag + due <= self.clock.bytes + self.debt;
        flow.state = State::Ahead;
        self.waiting += 1;
        if home != self.newcomers() {
            self.user_slots.set_busy(home.into());
        }
        if goes_ahead {
            let tag = self.users[usize::from(home)].tag;
            self.ahead_low = if self.ahead.is_empty() { tag } else { self.ahead_low.min(tag) };
            self.ahead.push_back(slot as u16);
        } else {
            self.place(slot as u16);
        }
    }

    /// Puts the flow in `slot` into the order of its home, and that into the order of the users.
    #[inline]
    fn place(&mut self, slot: u16) {
        let flow = &mut self.flows[usize::from(slot)];
        flow.state = State::InOrder;
        let (home, tag) = (flow.home, flow.tag);
        self.bits[usize::from(slot) / 64].active |= 1 << (slot % 64);
        let user = &mut self.users[usize::from(home)];
        let floor = self.flow_lag.floor(user.clock.bytes);
        user.order.push(slot, self.flow_lag.bucket(tag), floor, &mut self.flows[..]);
        if !user.is_in_order {
            user.is_in_order = true;
            self.put_back(home);
        }
    }

    /// Puts `user` into the order of the users.
    #[inline]
    fn put_back(&mut self, user: u16) {
        let bucket = self.user_lag.bucket(self.users[usize::from(user)].tag);
        self.order.push(user, bucket, self.user_lag.floor(self.clock.bytes), &mut self.users[..]);
    }

    /// The flow in `slot`, which was taken out of its order or line, waits no more.
    #[inline(never)]
    fn leave(&mut self, slot: u16) {
        let at = usize::from(slot);
        let bits = &mut self.bits[at / 64];
        let others = !(1 << (slot % 64));
        (bits.active, bits.unserved, bits.starved) =
            (bits.active & others, bits.unserved & others, bits.starved & others);
        let flow = &mut self.flows[at];
        flow.state = State::Idle;
        let home = flow.home;
        if home == self.users.len() as u16 - 1 {
            uncount(flow, &mut self.flows_of_newcomers);
        }
        self.waiting -= 1;
        if at < self.flow_slots.len() {
            self.flow_slots.set_free(at);
        }
        let user = &mut self.users[usize::from(home)];
        user.flows -= 1;
        if user.flows == 0 && !user.is_in_order && home != self.newcomers() {
            self.user_slots.set_free(home.into());
        }
    }

    /// The user, which was taken out of the order, has no packets.
    fn retire(&mut self, user: u16) {
        let at = usize::from(user);
        self.users[at].is_in_order = false;
        while let Some((slot, _)) = self.users[at].order.pop(i64::MIN, &self.flows[..]) {
            self.leave(slot);
        }
        if user != self.newcomers() {
            if self.users[at].flows > 0 {
                self.user_slots.set_shared(at, false);
            } else {
                self.user_slots.set_free(at);
            }
        }
    }

    /// Takes the user whose turn it is out of the order.
    #[inline]
    fn next_user(&mut self) -> Option<u16> {
        loop {
            let entry = match self.turn.take() {
                Some(user) => user,
                None => {
                    let floor = self.user_lag.floor(self.clock.bytes);
                    let (entry, bucket) = self.order.pop(floor, &self.users[..])?;
                    self.turn_left = self.quantum;
                    let own = self.user_lag.bucket(self.users[usize::from(entry)].tag);
                    if own > bucket && self.users[usize::from(entry)].packets > 0 {
                        self.order.defer(entry, own, bucket, &mut self.users[..]);
                        continue;
                    }
                    entry
                }
            };
            if self.users[usize::from(entry)].packets > 0 {
                return Some(entry);
            }
            self.retire(entry);
        }
    }

    /// Takes the flow whose turn it is out of the order of `home`, which has packets.
    #[inline]
    fn next_flow(&mut self, home: u16) -> u16 {
        loop {
            let user = &mut self.users[usize::from(home)];
            let floor = self.flow_lag.floor(user.clock.bytes);
            let next = user.order.pop(floor, &self.flows[..]);
            let (entry, bucket) = next.expect("nobody is ahead, so its packets are in its order");
            let flow = &self.flows[usize::from(entry)];
            let own = self.flow_lag.bucket(flow.tag);
            if flow.packets.is_empty() {
                self.leave(entry);
            } else if own > bucket {
                user.order.defer(entry, own, bucket, &mut self.flows[..]);
            } else {
                return entry;
            }
        }
    }

    /// Takes the flow that goes ahead out of its line; those that may not go to the order.
    #[inline]
    fn next_ahead(&mut self) -> Option<u16> {
        while let Some(slot) = self.ahead.pop_front() {
            if self.flows[usize::from(slot)].packets.is_empty() {
                self.leave(slot);
            } else if self.may_go_ahead(slot) {
                return Some(slot);
            } else {
                self.place(slot);
            }
        }
        None
    }

    /// Whether the user of the flow in `slot` would not be ahead by more than its debt if its first packet went now.
    #[inline]
    fn has_credit(&self, slot: u16) -> bool {
        let flow = &self.flows[usize::from(slot)];
        let after = |packet: &Packet| {
            self.users[usize::from(flow.home)].tag + self.due(flow.home, self.scale.of_bytes(packet.len))
                <= self.clock.bytes + self.debt
        };
        self.packets.front(&flow.packets).is_some_and(after)
    }

    /// Whether the flow in `slot` has credit, and nobody is behind by more than the lag that is kept, in the order or in line:
    /// who is, would wait for all that go ahead.
    #[inline]
    fn may_go_ahead(&self, slot: u16) -> bool {
        let floor = self.user_lag.floor(self.clock.bytes);
        let in_order = self.order.lowest().is_none_or(|low| low >= floor);
        self.has_credit(slot) && in_order && self.user_lag.bucket(self.ahead_low) >= floor
    }

    /// A flow that has starved, of a user that has credit and from which no other such flow was taken in this round.
    #[cold]
    fn next_starved(&mut self) -> Option<u16> {
        for word in 0..self.bits.len() {
            while self.bits[word].starved != 0 {
                let bit = self.bits[word].starved.trailing_zeros();
                self.bits[word].starved &= self.bits[word].starved - 1;
                let slot = (64 * word) as u16 + bit as u16;
                let home = usize::from(self.flows[usize::from(slot)].home);
                if self.users[home].fed != self.round && self.has_credit(slot) {
                    self.users[home].fed = self.round;
                    return Some(slot);
                }
            }
        }
        self.some_starve = false;
        None
    }

    /// A round ends: who has not been served in it has starved.
    #[cold]
    fn end_round(&mut self, now: Time) {
        self.some_starve = false;
        for bits in &mut self.bits {
            bits.starved |= bits.unserved;
            bits.unserved = bits.active;
            self.some_starve |= bits.starved != 0;
        }
        if self.is_weighted {
            let crowds = (0..self.users.len() as u16 - 1).filter(|&user| self.users[usize::from(user)].packets > 0);
            self.weights.least = crowds.map(|user| self.weights.crowd(user)).min().unwrap_or(1).max(1);
        }
        self.round = self.round.wrapping_add(1);
        self.round_ends = Time(now.0.saturating_add(self.patience.0));
    }

    /// Takes the flow that is served next out of its order or line.
    #[inline]
    fn choose(&mut self) -> Option<(u16, Turn)> {
        if self.some_starve
            && self.owed == 0
            && let Some(slot) = self.next_starved()
        {
            return Some((slot, Turn::Starved));
        }
        if let Some(slot) = self.next_ahead() {
            return Some((slot, Turn::Ahead));
        }
        let home = self.next_user()?;
        let slot = self.next_flow(home);
        let user = &mut self.users[usize::from(home)];
        self.clock.bytes = self.clock.bytes.max(user.tag);
        user.clock.bytes = user.clock.bytes.max(self.flows[usize::from(slot)].tag);
        Some((slot, Turn::InOrder))
    }

    /// A packet that is charged `charge` bytes was served as `turn`: one out of turn is owed to those in turn.
    #[inline]
    fn owes(&mut self, charge: u32, turn: Turn) {
        self.owed = if turn == Turn::Starved { IN_TURN * charge } else { self.owed.saturating_sub(charge) };
    }

    /// The flow in `slot`, which was taken as `turn`, and its user go back to where they belong.
    #[inline]
    fn settle(&mut self, slot: u16, home: u16, turn: Turn) {
        if turn == Turn::Starved {
            return;
        }
        let flow = &self.flows[usize::from(slot)];
        if flow.packets.is_empty() {
            self.leave(slot);
        } else if home == self.newcomers()
            && let Some(user) = self.known(slot)
        {
            self.move_home(slot, user);
        } else {
            self.place(slot);
        }
        if turn == Turn::InOrder {
            self.settle_user(home);
        }
    }

    /// The user with a slot that the flow in `slot` is of by now, which was in the order of the newcomers and has packets.
    #[cold]
    fn known(&self, slot: u16) -> Option<u16> {
        if usize::from(slot) >= self.flow_slots.len() {
            return None;
        }
        let next = self.packets.front(&self.flows[usize::from(slot)].packets)?;
        self.user_slots.find(self.user_slots.home(self.key(next))).map(|user| user as u16)
    }

    /// `home`, whose turn it was, goes back to where it belongs.
    #[inline]
    fn settle_user(&mut self, home: u16) {
        if self.users[usize::from(home)].packets == 0 {
            self.retire(home);
        } else if self.turn_left > 0 {
            self.turn = Some(home);
        } else {
            self.put_back(home);
        }
    }

    /// `user` has `bytes`, `packets` and of charge `due` less waiting.
    #[inline(always)]
    fn shrank(&mut self, user: u16, bytes: u64, packets: u32, due: u64) {
        let own = &mut self.users[usize::from(user)];
        own.bytes -= bytes;
        own.packets -= packets;
        if own.packets == 0 {
            own.left = self.clock.bytes;
            self.goes(user);
        }
        if self.is_cell {
            self.cell.users[usize::from(user)] -= due;
        }
    }

    /// `charge` less waits in the flow in `slot`, or nothing any more; what less waits of its user for that.
    fn paid(&mut self, slot: usize, charge: u64) -> u64 {
        if !self.is_cell {
            return 0;
        }
        let due = &mut self.cell.flows[slot];
        let less = if self.flows[slot].packets.is_empty() { *due } else { charge.min(*due) };
        *due -= less;
        less
    }

    /// The packet of the flow in `slot`, which has one, on a wire, charged to it and to its user: CoDel leaves that alone, and
    /// it is not marked.
    #[inline(always)]
    fn send_only(&mut self, slot: u16, turn: Turn, env: &mut Env) -> Packet {
        let at = usize::from(slot);
        let flow = &mut self.flows[at];
        let (home, users) = (flow.home, self.users.len());
        let len = flow.packets.bytes() as u32;
        let packet = self.packets.pop_only(&mut flow.packets);
        flow.control.last_is_sent();
        let charge = self.scale.of_bytes(len.min(LONGEST));
        flow.tag += i64::from(charge);
        let (due, sharing) = (self.due(home, charge), self.sharing());
        let user = &mut self.users[usize::from(home)];
        user.bytes -= u64::from(len);
        user.packets -= 1;
        user.tag += due;
        user.clock.go_on(charge, rate(&self.rates, user.flows.into()));
        if user.packets == 0 {
            user.left = self.clock.bytes;
            self.goes(home);
        }
        self.clock.go_on(charge, rate(&self.rates, sharing));
        self.owes(charge, turn);
        self.turn_left -= i64::from(len.min(LONGEST));
        self.scale.sent.sends(len, env.now(), self.backlogged > 0);
        // One that was starved stays in the order, where it is found to have none.
        let stays = turn == Turn::Starved;
        let (flow, user) = (&mut self.flows[at], &mut self.users[usize::from(home)]);
        if !stays {
            flow.state = State::Idle;
            user.flows -= 1;
            if usize::from(home) + 1 == users {
                uncount(flow, &mut self.flows_of_newcomers);
            }
        }
        let is_free = user.flows == 0 && !user.is_in_order;
        if turn != Turn::Ahead {
            // One that went ahead has no bits.
            let bits = &mut self.bits[at / 64];
            let others = !(1 << (at % 64));
            (bits.unserved, bits.starved) = (bits.unserved & others, bits.starved & others);
            if !stays {
                bits.active &= others;
            }
        }
        if home == self.newcomers() {
            self.newcomer_is_served(at, &packet, env.now());
        }
        if !stays {
            self.waiting -= 1;
            if at < self.flow_slots.len() {
                self.flow_slots.set_free(at);
            }
            if is_free && home != self.newcomers() {
                self.user_slots.set_free(home.into());
            }
        }
        if turn == Turn::InOrder {
            self.settle_user(home);
        }
        self.was_sent(env.now());
        packet
    }

    /// The first packet of the flow in `slot` that CoDel leaves, if any, charged to it and to its user.
    #[inline(never)]
    fn send_first(&mut self, slot: u16, turn: Turn, env: &mut Env) -> Option<Packet> {
        let at = usize::from(slot);
        let sharing = self.sharing();
        let flow = &mut self.flows[at];
        let home = flow.home;
        let before = (flow.packets.bytes(), flow.packets.packets());
        let (len, kind) = (0, Kind::Udp);
        let user = &self.users[usize::from(home)];
        let is_behind = user.tag + self.debt < self.clock.bytes || flow.tag + self.debt < user.clock.bytes;
        let grace = if is_behind { self.grace } else { Time::ZERO };
        let (packets, list) = (&mut self.packets, &mut flow.packets);
        let mut backlog = Backlog { packets, list, len, kind, progress: 0, waits: None, grace };
        let mut taken = flow.control.dequeue(&self.law, env, &mut backlog);
        let Backlog { len, kind, progress, waits, .. } = backlog;
        let gone = (before.0 - flow.packets.bytes(), before.1 - flow.packets.packets());
        let is_last = flow.packets.is_empty();
        let charged = if self.is_cell && kind == Kind::Ack && taken.is_some() {
            // What was acknowledged by packets that were dropped is charged to the next one.
            acknowledged(progress, &mut self.cell.served[at], len)
        } else {
            len.min(LONGEST)
        };
        let less = if self.is_cell { self.paid(at, u64::from(charged).max(gone.0)) } else { 0 };
        self.shrank(home, gone.0, gone.1, less);
        if let (Some(packet), Some(arrival)) = (&mut taken, waits) {
            // RFC 9331, section 4.1: scalable senders are told early, and keep a short queue of their own.
            if self.marks && !is_last && env.now().saturating_sub(arrival) > self.step {
                env.mark(packet);
            }
        }
        if home == self.newcomers() {
            let dropped = gone.1 as usize - usize::from(taken.is_some());
            if at >= self.flow_slots.len() && dropped > 0 {
                for (packet, _) in env.dropped.iter().rev().take(dropped) {
                    self.spilled.leaves(self.user_slots.home(self.key(packet)));
                }
            }
            if let Some(packet) = &taken {
                self.newcomer_is_served(at, packet, env.now());
            }
        }
        taken?;
        let bits = &mut self.bits[at / 64];
        let others = !(1 << (at % 64));
        (bits.unserved, bits.starved) = (bits.unserved & others, bits.starved & others);
        let charge = self.scale.of_bytes(charged);
        self.flows[at].tag += i64::from(charge);
        let due = self.due(home, charge);
        let user = &mut self.users[usize::from(home)];
        user.tag += due;
        user.clock.go_on(charge, rate(&self.rates, user.flows.into()));
        self.clock.go_on(charge, rate(&self.rates, sharing));
        self.owes(charge, turn);
        self.turn_left -= i64::from(charged);
        self.scale.sent.sends(len, env.now(), self.backlogged > 0);
        self.settle(slot, home, turn);
        self.was_sent(env.now());
        taken
    }

    /// `packet` of a newcomer, of the flow `at`, is sent at `now`.
    #[inline]
    fn newcomer_is_served(&mut self, at: usize, packet: &Packet, now: Time) {
        let key = self.user_slots.home(self.key(packet));
        self.lobby.is_served(key, now);
        if at >= self.flow_slots.len() {
            self.spilled.leaves(key);
        }
    }

    /// A packet was sent at `now`: a round that is over by then ends, from the next packet on, since `peek` does not know the
    /// time.
    #[inline(always)]
    fn was_sent(&mut self, now: Time) {
        if now >= self.round_ends {
            self.end_round(now);
        }
    }

    /// The flow in `slot`, which left the order of the newcomers and has packets, is of `user` from now on.
    #[cold]
    fn move_home(&mut self, slot: u16, user: u16) {
        self.leave(slot);
        let at = usize::from(slot);
        let packets = self.flows[at].packets;
        let due = if self.is_cell { self.cell.flows[at] } else { 0 };
        self.shrank(self.newcomers(), packets.bytes(), packets.packets(), due);
        let own = &mut self.users[usize::from(user)];
        own.wake(self.clock.bytes, self.user_lag.bytes);
        own.flows += 1;
        let flow = &mut self.flows[at];
        (flow.home, flow.tag) = (user, own.clock.bytes);
        let was_silent = own.packets == 0;
        own.bytes += packets.bytes();
        own.packets += packets.packets();
        if was_silent {
            let first = *self.packets.front(&packets).expect("it has packets");
            self.comes(user, &first);
        }
        if self.is_cell {
            self.cell.users[usize::from(user)] += due;
        }
        self.longest.grew(user.into(), self.length(user));
        self.waiting += 1;
        if at < self.flow_slots.len() {
            self.flow_slots.set_busy(at);
        }
        self.user_slots.set_busy(user.into());
        self.place(slot);
    }

    /// What waits of `user`, as it counts when the buffer is full: bytes, but not zero for packets without any; in a cell what
    /// they are charged.
    #[inline]
    fn length(&self, user: u16) -> u64 {
        let User { bytes, packets, .. } = self.users[usize::from(user)];
        let bytes = if self.is_cell { self.cell.users[usize::from(user)] } else { bytes };
        bytes.max(packets.into())
    }

    /// Of the flows of `home` one that has much waiting: the longest, if it is known; else one that is to be served last.
    fn victim(&mut self, home: u16) -> u16 {
        let user = &self.users[usize::from(home)];
        let longest = &self.flows[usize::from(user.longest)];
        let is_long = 2 * longest.packets.bytes() * u64::from(user.flows) >= user.bytes;
        if longest.home == home && !longest.packets.is_empty() && is_long {
            return user.longest;
        }
        loop {
            let Some((slot, bucket)) = self.users[usize::from(home)].order.pop_highest(&self.flows[..]) else {
                let last = self.ahead.pop_back().expect("who has packets and none in order has some ahead");
                self.place(last);
                continue;
            };
            if self.flows[usize::from(slot)].packets.is_empty() {
                self.leave(slot);
            } else {
                self.users[usize::from(home)].order.push(slot, bucket, bucket, &mut self.flows[..]);
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
            if slot >= self.flow_slots.len() && home as u16 == self.newcomers() {
                self.spilled.leaves(self.user_slots.home(self.key(&victim)));
            }
            // What a dropped acknowledgement told is told by the next one.
            let is_told = self.is_cell && victim.kind == Kind::Ack;
            let less = self.paid(slot, if is_told { 0 } else { victim.len.into() });
            self.shrank(home as u16, victim.len.into(), 1, less);
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
    value: Value::Whole { default: 1, min: 1, max: 1 << 30 },
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
        runs_on: RunsOn::Module { qdisc: "lfq", options: "", bpf: false },
        params: &[
            USER_OR_TRIPLE,
            Param {
                name: "weights",
                unit: "",
                about: "what a user weighs: all the same, or the mark of its packets (1 to 1000)",
                value: Value::Choice(&["equal", "mark"]),
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
                name: "probation",
                unit: "s",
                about: "from when a new user was first served until it has standing, if it comes again; 0: at once",
                value: Value::Number { default: 0.1, min: 0.0, max: 1e9 },
            },
            Param {
                name: "flows",
                unit: "slots",
                about: "flows with a queue of their own",
                value: Value::Whole { default: 864, min: 8, max: 32_768 },
            },
            Param {
                name: "users",
                unit: "slots",
                about: "users that are remembered",
                value: Value::Whole { default: 1024, min: 8, max: 16_384 },
            },
            Param {
                name: "lag_time",
                unit: "s",
                about: "what the link sends in it bounds the lags and the debt",
                value: Value::Number { default: 0.5, min: 1e-3, max: 1e9 },
            },
            Param {
                name: "patience",
                unit: "s",
                about: "round in which a flow that was not served gets one packet out of turn",
                value: Value::Number { default: 0.05, min: 1e-6, max: 1e9 },
            },
            Param {
                name: "quantum",
                unit: "bytes",
                about: "what a user sends in one turn in a cell, so that aggregates fill",
                value: Value::Whole { default: 30_000, min: 0, max: 1 << 30 },
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
        let is_cell = options.choice("medium") == "cell";
        let of_cell = if is_cell { flows } else { 0 };
        let (by, by_mark) = (By::with_options(options), options.choice("weights") == "mark");
        let pace = (options.number("pace") * f64::from(1_u32 << FRACTION)) as u32;
        Ok(Lfq {
            packets: Slab::default(),
            flows: vec![Flow { home: NONE, counted: NONE, ..Flow::default() }; flows],
            bits: vec![Bits::default(); flows.div_ceil(64)],
            flow_slots,
            users: vec![User::default(); users + 1],
            user_slots,
            flows_of_newcomers: vec![0; COUNTERS],
            lobby: Lobby::of(REMEMBERED, Time(options.time("probation").0.saturating_mul(SAFE))),
            spilled: Spilled::default(),
            order: TagRing::default(),
            ahead: VecDeque::new(),
            ahead_low: 0,
            turn: None,
            turn_left: 0,
            clock: Clock::default(),
            backlogged: 0,
            waiting: 0,
            longest: LongestQueue::default(),
            round: 1,
            round_ends: Time::ZERO,
            some_starve: false,
            owed: 0,
            cell: Cell {
                served: vec![u64::MAX; of_cell],
                told: vec![u64::MAX; of_cell],
                flows: vec![0; of_cell],
                users: vec![0; if is_cell { users + 1 } else { 0 }],
            },
            law: Law::with_options(options),
            grace: options.time(INTERVAL.name),
            scale: Scale::of(options.whole("user_lag").max(1), options.time("lag_time")),
            marks: options.choice(ECN.name) == "on",
            step: options.time("step"),
            by,
            prefix: options.whole("prefix") as u32,
            user_lag: Lag::of(options.whole("user_lag"), 60),
            flow_lag: Lag::of(options.whole("flow_lag"), 15),
            debt: options.whole("debt") as i64,
            rates: (0..=LISTED as u32).map(|sharing| pace / sharing.max(1)).collect(),
            probation: options.time("probation"),
            patience: options.time("patience"),
            quantum: if is_cell { options.whole("quantum") as i64 } else { 0 },
            is_cell,
            weights: Weights::of(by_mark, by == By::Triple, users),
            is_weighted: by_mark || by == By::Triple,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        env.accept(&packet);
        let (handle, len) = (packet.handle, packet.len);
        let (slot, home) = self.flow_of(&packet, env.now());
        let mut due = 0;
        if self.is_cell {
            let is_ack = packet.kind == Kind::Ack;
            due = if is_ack { acknowledged(packet.progress, &mut self.cell.told[slot], len) } else { len }.into();
            self.cell.flows[slot] += due;
        }
        let list = &mut self.flows[slot].packets;
        self.packets.push_back(list, packet);
        let length = list.bytes();
        let user = &mut self.users[usize::from(home)];
        user.wake(self.clock.bytes, self.user_lag.bytes);
        if length > u64::from(len) {
            let longest = &self.flows[usize::from(user.longest)];
            if longest.home != home || longest.packets.bytes() < length {
                user.longest = slot as u16;
            }
        }
        let was_silent = user.packets == 0;
        user.bytes += u64::from(len);
        user.packets += 1;
        let mut length = user.bytes.max(user.packets.into());
        if was_silent {
            self.comes(home, &packet);
        }
        if self.is_cell {
            let waits = &mut self.cell.users[usize::from(home)];
            *waits += due;
            length = (*waits).max(self.users[usize::from(home)].packets.into());
        }
        self.longest.grew(home.into(), length);
        if env.is_over() {
            self.make_room(handle, env);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        loop {
            let (slot, turn) = self.choose()?;
            // Not before: what `peek` tells is what comes.
            self.scale.is_free(env.now());
            if self.flows[usize::from(slot)].packets.packets() == 1 && !self.is_cell {
                return Some(self.send_only(slot, turn, env));
            }
            let sent = self.send_first(slot, turn, env);
            if sent.is_some() {
                return sent;
            }
            self.settle(slot, self.flows[usize::from(slot)].home, turn);
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let waits = |slot: u16| !self.flows[usize::from(slot)].packets.is_empty();
        let line = self.ahead.iter().copied().find(|&slot| waits(slot));
        let slot = match line {
            // Who is starved, or may not go ahead, goes where it takes a decision to find out.
            _ if self.some_starve && self.owed == 0 => self.clone().choose()?.0,
            Some(slot) if self.may_go_ahead(slot) => slot,
            Some(_) => self.clone().choose()?.0,
            None => {
                let users = |user: u16| &self.users[usize::from(user)];
                let bucket = |user: u16| self.user_lag.bucket(users(user).tag);
                let floor = self.user_lag.floor(self.clock.bytes);
                let in_order = || self.order.first(floor, &self.users[..], |user| users(user).packets > 0, bucket);
                let home = users(self.turn.filter(|&user| users(user).packets > 0).or_else(in_order)?);
                let bucket = |slot: u16| self.flow_lag.bucket(self.flows[usize::from(slot)].tag);
                home.order.first(self.flow_lag.floor(home.clock.bytes), &self.flows[..], waits, bucket)?
            }
        };
        self.packets.front(&self.flows[usize::from(slot)].packets)
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.waiting
    }

    fn flow_table_bytes(&self) -> usize {
        let cell = [&self.cell.served, &self.cell.told, &self.cell.flows, &self.cell.users];
        self.flows.capacity() * size_of::<Flow>()
            + self.bits.capacity() * size_of::<Bits>()
            + self.flow_slots.bytes()
            + self.users.capacity() * size_of::<User>()
            + self.user_slots.bytes()
            + self.lobby.bytes()
            + self.weights.users.capacity() * size_of::<Weight>()
            + 2 * self.weights.sides[0].capacity() * size_of::<u16>()
            + self.flows_of_newcomers.capacity() * size_of::<u16>()
            + self.spilled.counters.capacity() * size_of::<u32>()
            + self.ahead.capacity() * size_of::<u16>()
            + self.longest.bytes()
            + self.rates.capacity() * size_of::<u32>()
            + cell.iter().map(|column| column.capacity() * size_of::<u64>()).sum::<usize>()
    }
}
