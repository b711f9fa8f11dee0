//! # Passport
//!
//! **Idea.** Early flow discard with *passports*, for hardware: two queues in order of arrival, as in [EFD](efd.md), but what goes first is
//! not the beginning of each flow, which is free for who makes new ones. Every user has a bucket of tokens that is filled at half of its fair
//! share of the link. A packet takes its length in tokens from its user and is *high*, or is *low* where there are not enough. High packets have strict
//! priority. The low queue has the queue management of PI2, which needs no queue per flow either. So who has had less
//! than that lately goes first, whatever its ports are, without a scheduler of users or flows. It is here as a rival of [LFQ](lfq.md).
//!
//! **Rules.**
//! - *Share.* A bucket is filled at $p\,C/N$, up to `burst`: $C$ is the rate of the link, $N$ the number of buckets with packets waiting, $p$ the `pace`.
//!   Nobody tells a queue its rate. While the link is busy none is needed: for each $c$ bytes sent all buckets get $p\,c/N$. While it is
//!   idle buckets are filled at the rate that was measured between packets sent one behind the other (`link_rate.rs`, as LFQ does), and at nothing
//!   until 60 kB were.
//! - *Low packets pay, too*, when they are sent, as far as there are tokens: these are what a user was entitled to and did not have.
//! - *Order.* While a low packet of a flow waits, those that come behind it are low, too: else they would overtake it.
//! - *Pace.* With $p = 1$, as it was described first, a bulk transfer that has no more than its fair share always has its tokens back, and is high
//!   with all others: short transfers beside three of them took 137 ms, whatever the size of the buckets (`fq_codel` 120). Below 1, who takes
//!   a fair share all the time pays more than is filled in, and is low soon. 0.7, 0.5, 0.4, 0.3: 126, 94, 90, 91 ms.
//! - *PI2.* The base probability $p'$ moves by the time that the first low packet has waited, and its trend, as that of
//!   [DualPI2](dualpi2.md) does. Low packets are dropped with $p'^2$ as they leave, or marked if their transport understands ECN and $p'^2$ is
//!   below 1/4. None is while fewer than two packets of `mtu` bytes are low. High packets are not dropped from.
//!
//! **Scope and limits.**
//! - Buckets are found by a hash and have no tags, as hardware would have them: users may share one, and of 1024 users 37 in a hundred do not. An address
//!   that was not seen before has what is left in the bucket it falls into. So the first `hosts` × `burst` bytes of new addresses go
//!   first, and after that half as many shares as there are buckets that they fall into: there is no bound on who can choose addresses.
//! - Nor is there one between the flows of a user: its tokens go to whose packets come when there are some.
//! - Low packets are in one queue: a low flow has no share of its own there, only the losses that all low packets have, so one that does not
//!   back off takes what it sends. And they wait while high ones come, which is no longer than the tokens there are.
//! - `pair` counts both directions of two hosts as one user. In a router for a site, `dst` down and `src` up are right.
//! - Packets of scalable senders, ECT(1), are treated as those of classic ones.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `user` | | | `pair` | what a user is: `pair` of hosts, `dst` or `src` host, `flow` |
//! | `burst` | | bytes | 30,000 | tokens that a bucket holds: as much as EFD lets go first |
//! | `pace` | $p$ | share | 0.5 | of its fair share of the link that a bucket is filled with |
//! | `hosts` | | buckets | 1024 | buckets that users are hashed onto |
//! | `target` | `target` | s | 0.015 | delay to steer the low queue to |
//! | `update` | `Tupdate` | s | 0.016 | interval of updates |
//! | `alpha` | `alpha` | 1/s | 0.16 | gain by distance |
//! | `beta` | `beta` | 1/s | 3.2 | gain by trend |
//! | `mtu` | | bytes | 1500 | no drop or mark while less than two of these are low |
//!
//! **When the buffer is full** a high packet pushes out the last low ones, as many as needed; when all of them would not be enough, and when it
//! is low, the arriving packet is dropped. It takes no tokens then.
//!
//! **Cost.** O(1) per packet: two hashes, a division, an update every 16 ms. Memory is fixed: 24 kB for buckets, 4 kB for the flows with low packets.
//!
//! **Validation.** Unit tests: who is high and who is low by counting; shares while the link is busy and while it is idle; order; push-out in
//! packets and bytes; what an unresponsive low flow loses. PI2 against a transcription of RFC 9332, see [DualPI2](dualpi2.md). Conformance
//! suite.
//!
//! Measured on 2026-11-25 by `mayfly arena --quick` (seeds 1 to 4), `efd` / this / `lfq`: at 8 Mb/s of 10 up to 20 packets 43 / 67 / 52 ms, 21 to
//! 300 packets 0.61 / 0.47 / 0.27 s; short transfers behind bulk 87 / 94 / 83 ms, and the RTT of that 1040 / 40 / 41 ms; the attacker with new ports
//! 2.20 / 1.29 / 1.00 fair shares, a transfer split in 16 2.53 / 1.21 / 1.02, with new addresses 2.20 / 2.19 / 1.00; the share left to long ones in overload
//! 0.09 / 0.79 / 0.97. With `burst=60000` 72 ms, 0.38 s, 101 ms, 1.37, 1.25. It drops much, 5 % of the packets of the snapshot at 8 Mb/s (`fq_codel` 1.4):
//! low packets wait while high ones go, and PI2 takes that for a queue of their own making.
//!
//! **References.** Chen 2012, Algorithm 3; K. De Schepper, O. Bondarenko, I. Tsang and B. Briscoe, "PI2: a linearized AQM for both classic and scalable
//! TCP", CoNEXT 2016; RFC 9332; RFC 2697.

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::Packet;
use crate::parts::hash::Seeded;
use crate::parts::link_rate::LinkRate;
use crate::parts::pi2::{ALPHA, BETA, Lane, Law, TARGET, UPDATE};
use crate::parts::users::{By, USER};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Binary digits of tokens below a byte: a share of a packet is no whole number of bytes.
const FRACTION: u32 = 10;

/// Counters of low packets by flow.
const FLOWS: u32 = 1024;

/// Beyond this likelihood, 1/k^2 with k = 2, marks say no more than drops (RFC 9332, Figure 7).
const MOST_MARKED: f64 = 0.25;

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Tokens when the clock was last looked at, bytes shifted by [`FRACTION`].
    tokens: u64,
    seen: u64,
    /// Packets waiting.
    waiting: u32,
}

/// Early flow discard with passports.
#[derive(Debug)]
pub struct Passport {
    by: By,
    hash: Seeded,
    buckets: Vec<Bucket>,
    /// Of the buckets: with packets waiting.
    active: u64,
    /// Low packets of the flows of each hash.
    low_of: Vec<u32>,
    high: Lane,
    low: Lane,
    low_bytes: u64,
    law: Law,
    rate: LinkRate,
    /// Tokens that a bucket was given since the beginning, shifted by [`FRACTION`].
    clock: u64,
    /// When the link will have sent what it was given, if nothing waits.
    idle_from: Time,
    burst: u64,
    /// Tokens for each byte of a fair share, shifted by [`FRACTION`].
    pace: u64,
    couple: u64,
}

impl Passport {
    #[inline]
    fn bucket(&self, packet: &Packet) -> usize {
        self.hash.queue(self.by.key(packet, 32), self.buckets.len() as u32) as usize
    }

    #[inline]
    fn low_slot(&self, packet: &Packet) -> usize {
        // Another hash than that of the user, where the user is the flow.
        self.hash.queue(!packet.flow.0, FLOWS) as usize
    }

    /// Tokens of a bucket now.
    #[inline]
    fn fill(&mut self, at: usize) -> u64 {
        let bucket = &mut self.buckets[at];
        let given = self.clock.wrapping_sub(std::mem::replace(&mut bucket.seen, self.clock));
        bucket.tokens = bucket.tokens.saturating_add(given).min(self.burst);
        bucket.tokens
    }

    /// Nothing waits: the buckets were filled while the link was idle.
    #[inline]
    fn catch_up_idle(&mut self, now: Time) {
        let idle = now.saturating_sub(self.idle_from);
        // So that nothing overflows: no bucket holds more.
        let bytes = self.rate.bytes_in(idle).min(1 << 41);
        self.clock = self.clock.wrapping_add(bytes * self.pace);
        self.idle_from = now.max(self.idle_from);
    }

    /// A packet leaves, sent or dropped.
    #[inline]
    fn leave(&mut self, packet: &Packet, is_low: bool) {
        if is_low {
            self.low_bytes -= u64::from(packet.len);
            let slot = self.low_slot(packet);
            self.low_of[slot] -= 1;
        }
        let at = self.bucket(packet);
        self.buckets[at].waiting -= 1;
        self.active -= u64::from(self.buckets[at].waiting == 0);
    }

    /// Makes room for a high packet of `len` bytes: the last low ones go. False, and none goes, if that is not enough.
    fn make_room(&mut self, len: u32, env: &mut Env) -> bool {
        if env.is_full_without(len, self.low.packets.len() as u64, self.low_bytes) {
            return false;
        }
        while env.is_full(len) {
            let victim = self.low.packets.pop_back().expect("all low ones would be enough");
            self.leave(&victim, true);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    /// The next low packet that PI2 lets pass.
    fn take_low(&mut self, env: &mut Env) -> Option<Packet> {
        loop {
            let base = if self.low_bytes < self.couple { 0.0 } else { self.law.base() };
            let mut packet = self.low.packets.pop_front()?;
            let probability = base * base;
            if !self.low.recur(probability) || (probability < MOST_MARKED && env.mark(&mut packet)) {
                return Some(packet);
            }
            self.leave(&packet, true);
            env.discard(packet, DropReason::Early);
        }
    }
}

impl Discipline for Passport {
    const SPEC: Spec = Spec {
        id: "passport",
        family: Family::SizeBased,
        about: "early flow discard with passports: who has had less than its share goes first, the rest under PI2",
        source: "this project; Chen 2012, Algorithm 3; RFC 9332",
        when_full: "the last low packet for a high one; the arriving packet when it is low or none is low",
        time_driven: false,
        // Behind a low packet of a flow the rest of it is low.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            USER,
            Param {
                name: "burst",
                unit: "bytes",
                about: "tokens that a bucket holds",
                value: Value::Whole { default: 30_000, min: 1, max: 1 << 40 },
            },
            Param {
                name: "pace",
                unit: "share",
                about: "of its fair share of the link that a bucket is filled with",
                value: Value::Number { default: 0.5, min: 0.0, max: 10.0 },
            },
            Param {
                name: "hosts",
                unit: "buckets",
                about: "buckets that users are hashed onto",
                value: Value::Whole { default: 1024, min: 1, max: 65_536 },
            },
            Param { about: "queueing delay to steer the low queue to (target)", ..TARGET },
            UPDATE,
            ALPHA,
            BETA,
            Param {
                name: "mtu",
                unit: "bytes",
                about: "no drop or mark while less than two packets of this length are low",
                value: Value::Whole { default: 1500, min: 0, max: 1_000_000_000 },
            },
        ],
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let burst = options.whole("burst") << FRACTION;
        let full = Bucket { tokens: burst, seen: 0, waiting: 0 };
        Ok(Passport {
            by: By::with_options(options),
            hash: Seeded::draw(rng),
            buckets: vec![full; options.whole("hosts") as usize],
            active: 0,
            low_of: vec![0; FLOWS as usize],
            high: Lane::default(),
            low: Lane::default(),
            low_bytes: 0,
            law: Law::with_options(options),
            rate: LinkRate::default(),
            clock: 0,
            idle_from: Time::ZERO,
            burst,
            pace: (options.number("pace") * f64::from(1 << FRACTION)).round() as u64,
            couple: 2 * options.whole("mtu"),
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.law.catch_up(env.now(), || self.low.head());
        if env.stats().backlog() == 0 {
            self.catch_up_idle(env.now());
        }
        let (at, slot) = (self.bucket(&packet), self.low_slot(&packet));
        let price = u64::from(packet.len) << FRACTION;
        let high = self.fill(at) >= price && self.low_of[slot] == 0;
        if env.is_full(packet.len) && !(high && self.make_room(packet.len, env)) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        env.note(Sorted { high, fresh: false });
        let bucket = &mut self.buckets[at];
        self.active += u64::from(bucket.waiting == 0);
        bucket.waiting += 1;
        if high {
            bucket.tokens -= price;
            self.high.packets.push_back(packet);
        } else {
            self.low_of[slot] += 1;
            self.low_bytes += u64::from(packet.len);
            self.low.packets.push_back(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        let now = env.now();
        self.law.catch_up(now, || self.low.head());
        self.rate.is_free(now);
        let (packet, is_low) = match self.high.packets.pop_front() {
            Some(packet) => (packet, false),
            None => (self.take_low(env)?, true),
        };
        if is_low {
            let at = self.bucket(&packet);
            self.buckets[at].tokens = self.fill(at).saturating_sub(u64::from(packet.len) << FRACTION);
        }
        self.clock = self.clock.wrapping_add(u64::from(packet.len) * self.pace / self.active);
        self.leave(&packet, is_low);
        self.rate.sends(packet.len, now, self.active > 0);
        self.idle_from = Time(now.0.saturating_add(self.rate.time_for(packet.len).0));
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.high.packets.front().or(self.low.packets.front())
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.active as usize
    }

    fn flow_table_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>() + self.low_of.capacity() * size_of::<u32>()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.high.packets.len())
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Ecn, Fate, Limit, Packet};

    const MS: u64 = 1_000_000;

    #[test]
    fn a_user_is_high_while_it_has_tokens_whatever_its_ports() {
        // Flows 2 and 3 are the two directions of one connection, 4 is of another pair of hosts.
        for (flows, low) in [([2, 2, 2, 4], 1), ([2, 3, 2, 4], 1), ([2, 4, 6, 8], 0)] {
            let mut passport = queue("passport", &["burst=3000"], Limit::Packets(300));
            arrive(&mut passport, &flows, 0, Time::ZERO);
            assert_eq!(passport.high_backlog(), Some(4 - low), "{flows:?}");
            let expected = if low == 1 { [0, 1, 3, 2] } else { [0, 1, 2, 3] };
            assert_eq!(drain(&mut passport, Time::ZERO), expected);
        }
        let mut passport = queue("passport", &["burst=3000", "user=flow"], Limit::Packets(300));
        arrive(&mut passport, &[2, 3, 2, 3, 2], 0, Time::ZERO);
        assert_eq!(passport.high_backlog(), Some(4));
    }

    #[test]
    fn behind_a_low_packet_a_flow_stays_low() {
        let mut passport = queue("passport", &["burst=1500", "pace=1"], Limit::Packets(300));
        arrive(&mut passport, &[2, 2, 4, 4], 0, Time::ZERO);
        // Two high packets are sent while two users have packets waiting: 1500 tokens each.
        assert_eq!([0, 2].map(|_| passport.dequeue(Time::ZERO).map(|p| p.handle)), [Some(0), Some(2)]);
        arrive(&mut passport, &[2], 10, Time::ZERO);
        assert_eq!(passport.sorted().map(|sorted| sorted.high), Some(false));
        // Another flow of the same pair of hosts has these tokens: the other direction.
        arrive(&mut passport, &[3], 11, Time::ZERO);
        assert_eq!(passport.sorted().map(|sorted| sorted.high), Some(true));
        assert_eq!(drain(&mut passport, Time::ZERO), [11, 1, 3, 10]);
        arrive(&mut passport, &[2], 12, Time::ZERO);
        assert_eq!(passport.sorted().map(|sorted| sorted.high), Some(true), "none waits");
    }

    /// High packets of user 2 and of user 4 while the link sends 1000 packets of 1.2 ms, 2 bringing one with each of them and
    /// 4 one with every tenth, after what is in the buckets was used up.
    #[test]
    fn while_the_link_is_busy_a_bucket_is_filled_at_the_share_of_its_user() {
        let mut passport = queue("passport", &["burst=15000"], Limit::Packets(30));
        let (mut high, mut came) = ([0; 2], [0; 2]);
        for n in 0..1200_u64 {
            let now = Time(n * 1_200_000);
            for (user, every) in [(0, 1), (1, 10)] {
                if n % every == 0 {
                    let flow = 2 * user as u64 + 2;
                    passport.enqueue(packet(flow, n), now);
                    if n >= 200 {
                        came[user] += 1;
                        high[user] += u32::from(passport.sorted().is_some_and(|sorted| sorted.high));
                    }
                }
            }
            passport.dequeue(now);
        }
        assert_eq!((high[1], came[1]), (100, 100), "below its share all goes first");
        assert!(high[0] < came[0] / 50, "{high:?}: it pays for what is low, too");
    }

    /// Two users take turns, one packet each while one is sent, after the tokens there were at first are gone.
    #[test]
    fn who_always_has_a_fair_share_is_low_unless_buckets_are_filled_with_all_of_it() {
        for (pace, expected) in [("pace=1", 400), ("pace=0.5", 0)] {
            let mut passport = queue("passport", &["burst=6000", pace], Limit::Packets(30));
            let mut high = 0;
            for n in 0..500 {
                arrive(&mut passport, &[2 + n % 2 * 2], n, Time(n * 1_200_000));
                high += usize::from(n >= 100 && passport.sorted().is_some_and(|sorted| sorted.high));
                if n > 0 {
                    passport.dequeue(Time(n * 1_200_000));
                }
            }
            assert_eq!(high, expected, "{pace}");
        }
    }

    #[test]
    fn while_the_link_is_idle_buckets_are_filled_at_the_rate_that_was_measured() {
        for (before, pause, expected) in [(50, 0, 3), (50, 6 * MS, 8), (50, 1000 * MS, 10), (1, 1000 * MS, 3)] {
            let mut passport = queue("passport", &["burst=15000", "pace=1"], Limit::Packets(300));
            let mut now = Time::ZERO;
            arrive(&mut passport, &vec![2; before], 0, now);
            // Then user 2 takes all its tokens, and two others wait behind it: it is given a third of what it sends back.
            for phase in 0..2 {
                while passport.dequeue(now).is_some() {
                    now = Time(now.0 + 1_200_000);
                }
                if phase == 0 {
                    arrive(&mut passport, &[2; 10], 100, now);
                    assert_eq!(passport.high_backlog(), Some(10));
                    for flow in [4, 6] {
                        passport.enqueue(Packet { len: 100, ..packet(flow, 200) }, now);
                    }
                }
            }
            // The last one of 100 bytes took 80 us at 10 Mb/s. 15000 / 3 + 100 / 2 + 100 tokens, and 7500 in 6 ms.
            let sent = now.0 - 1_200_000 + 80_000;
            arrive(&mut passport, &[2; 15], 300, Time(sent + pause));
            assert_eq!(passport.high_backlog(), Some(expected), "{before} {pause}");
        }
    }

    #[test]
    fn a_high_packet_pushes_out_low_ones_and_a_low_one_is_dropped() {
        let mut passport = queue("passport", &["burst=1500"], Limit::Packets(3));
        arrive(&mut passport, &[2, 2, 2], 0, Time::ZERO);
        assert_eq!(passport.enqueue(packet(2, 3), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(passport.enqueue(packet(4, 4), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&passport), [2]);
        assert_eq!(passport.enqueue(packet(6, 5), Time::ZERO), Fate::Queued);
        assert_eq!(passport.enqueue(packet(8, 6), Time::ZERO), Fate::Dropped(DropReason::Full), "none is low");
        assert_eq!(drain(&mut passport, Time::ZERO), [0, 4, 5]);
    }

    #[test]
    fn with_a_byte_limit_as_many_low_ones_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut passport = queue("passport", &["burst=3000"], Limit::Bytes(6000));
        arrive(&mut passport, &[2, 2, 2, 2], 0, Time::ZERO);
        passport.enqueue(sized(4, 4, 3000), Time::ZERO);
        assert_eq!(dropped(&passport), [3, 2]);
        passport.enqueue(sized(6, 5, 100), Time::ZERO);
        assert_eq!(dropped(&passport), [5]);
        assert_eq!(drain(&mut passport, Time::ZERO), [0, 1, 4]);
    }

    /// One user sends 1.5 times the link without backing off; another one packet in ten.
    #[test]
    fn who_does_not_back_off_loses_what_is_too_much_and_who_is_below_its_share_nothing() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let mut passport = queue("passport", &[], Limit::Packets(300));
            let mut waits = Vec::new();
            for n in 0..20_000_u64 {
                let now = Time(n * 1_200_000);
                for at in 0..1 + n % 2 {
                    passport.enqueue(Packet { ecn, ..packet(2, 2 * n + at) }, now);
                }
                if n % 10 == 0 {
                    assert_eq!(passport.enqueue(Packet { ecn, ..packet(4, n) }, now), Fate::Queued);
                }
                let sent = passport.dequeue(now).expect("packets wait");
                assert!(passport.dropped().iter().all(|(packet, _)| packet.flow.0 == 2));
                if n > 10_000 && sent.flow.0 == 2 {
                    waits.push(now.saturating_sub(sent.arrival).0);
                }
            }
            let mean = waits.iter().sum::<u64>() / waits.len() as u64;
            // 1.6 times the link: three packets in eight are too much, more than what marks are for.
            assert!((10 * MS..20 * MS).contains(&mean), "{ecn:?}: {mean} ns");
            assert!(passport.stats().dropped().abs_diff(12_000) < 60, "{:?}", passport.stats());
        }
    }
}
