//! # LARS
//!
//! **Idea.** Least attained *recent* service: [LAS](las.md) with a memory that fades. The attained service of a flow decays,
//!
//! $$A(t) = A(t_0)\,\beta^{\,t - t_0}, \qquad \beta = 2^{-1/h},$$
//!
//! with the half-life $h$. The flow of least attained recent service goes first. Two flows that sent the same volume at different rates are
//! told apart, and no flow is locked out for long.
//!
//! **The lock-out is bounded.** Let $C$ be the rate of the link and $\lambda = |\ln\beta| = \ln 2 / h$. A flow served at rate $C$ has
//! $\dot A = C - \lambda A$, so $A \le C / \lambda$ however long it lasts. Let a flow with a packet waiting be locked out for a time $T$ while
//! $k$ other flows are served. Each of these ends with at most the attained service of the one that waits, $A \le \frac{C}{\lambda} \beta^T$,
//! for the least goes first; together they end with at least what they were served meanwhile, $\frac{C}{\lambda}(1 - \beta^T)$. Hence
//!
//! $$\frac{C}{\lambda}\,(1 - \beta^T) \le k\,\frac{C}{\lambda}\,\beta^T \quad\Rightarrow\quad T \le h \log_2(1 + k),$$
//!
//! one half-life by one newer flow, two by three of them. The bound is reached when $A = C/\lambda$ at first and the $k$ others begin with
//! nothing. It is one of fluid. In packets, with a buffer that takes the time $q$ to drain and a longest packet of transmission time $l$,
//!
//! $$T \le h \log_2 \frac{1 + k\,(2^{l/h} + \lambda q)}{2^{-(q + 2l)/h} - k \lambda l}$$
//!
//! as long as the denominator is positive: stamps are given on arrival, so at most $q$ of what is served was stamped before the lock-out began,
//! at most $q$ of the flow's own bytes are stamped ahead of service, a transmission that has begun is finished, and the last packet of each
//! flow is not in its own stamp. The bound does not depend on how flows come and go, as long as none of them is forgotten meanwhile: keep
//! `timeout` above it. An unending sequence of ever new flows locks out an old one for as long as it lasts, as under LAS: each of them is one
//! more in $k$.
//!
//! **Default.** $h$ = 1 s: the lock-out by one flow then stays within the 1 s that RFC 6298 sets as initial retransmission timeout and
//! recommends as minimum, so that waiting does not by itself make a locked-out flow time out. A sender with a smaller minimum (200 ms is
//! common) calls for a smaller `half_life`.
//!
//! **Scope and limits.**
//! - Counting, flow table, order within a flow and drops are those of LAS. An entry removed after 30 s idle had faded by $2^{-30}$ at the
//!   default half-life; with a half-life near `timeout` or above, raise `timeout`.
//! - Waiting packets fade with their flow. All flows fade by the same factor, so attained service is kept in *inflated* bytes
//!   $A(t)\,\beta^{-(t - e)}$, whose order does not change with time. The epoch $e$ moves by whole half-lives (an exact power of two) every
//!   512 half-lives. What fades below $2^{-1022}$ inflated bytes counts as zero; such flows tie, first come first served.
//! - Powers of two are computed in integers, to a relative error of about $10^{-9}$, and sums keep 53 bits: results do not depend on the
//!   platform, and `kernel/core` comes to the same bits.
//! - Chen 2012 does not print $\beta$.
//! - With `count=acknowledged` attained service is of both directions of a connection, as in [LASACK](lasack.md): data counts by its length
//!   when it enters the queue, an acknowledgement by the advance of its number. That is the form for an access point, which paces both
//!   directions from one side of the link. The first acknowledgement of a connection the table does not know counts nothing: what it
//!   acknowledges may be long ago, and charged at once it would break the bound above. The bound holds with the rate $C$ at which both
//!   directions together are carried.
//! - What an acknowledgement told stays counted when it is pushed out, unless data of the connection that came before it is pushed out next:
//!   then the attained service goes back to the stamp of that data.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `half_life` | $\ln 2 / \lvert\ln\beta\rvert$ | s | 1 | time in which attained service halves: $\beta = 2^{-1/h}$ per second |
//! | `count` | | | `sent` | `sent`: bytes of each direction; `acknowledged`: of both of a connection |
//! | `visit` | | s | 5 | interval at which idle flows are looked for |
//! | `timeout` | | s | 30 | idle time after which a flow is forgotten |
//!
//! **When the buffer is full**, as LAS: the packet of largest recent service is dropped, the last one among equals; possibly the arriving one.
//!
//! **Cost.** As LAS, and one power of two per arrival; one pass over the table and the queue every 512 half-lives.
//!
//! **Validation.** Unit tests: decay against closed form; on a 10 Mb/s link with $h$ = 0.5 s the lock-out of a greedy flow by one, two and
//! three new ones lies within 2 % below and 5 % above $h \log_2(1 + k)$, and no lock-out of six flows that come and go at random is above the
//! bound in packets; order of service over $10^6$ s against a reference in logarithms. Exact order and drops at whole half-lives against a
//! reference in integers that sorts everything at each step, in both ways of counting. Conformance suite.
//!
//! **In the kernel.** [`sch_las`](../kernel/sch_las.md) with `half_life 1s`, and `count acked` for `count=acknowledged`.
//!
//! **References.** Heusse 2010, 2011, as described in Chen 2012, 2.1 and 4.2. RFC 6298, section 2.

use units::{FlowKey, Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::{Kind, Packet};
use crate::parts::decay::{Decay, Inflated};
use crate::parts::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::parts::order::Order;
use crate::parts::volume::{Acknowledged, connection};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Attained recent service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Recent {
    /// Inflated bytes that entered the queue and were not pushed out.
    inflated: Inflated,
    /// The first acknowledgement is not used: the data it acknowledges may have been sent long ago.
    acknowledged: Acknowledged<false>,
}

/// Least attained recent service.
#[derive(Debug)]
pub struct Lars {
    queue: Order,
    flows: FlowTable<Recent>,
    /// Both directions of a connection count.
    both: bool,
    fading: Decay,
}

impl Lars {
    /// Goes on to `now`. What falls below the smallest number becomes zero and ties, first come first served.
    #[inline]
    fn fade(&mut self, now: Time) {
        let halvings = self.fading.advance(now);
        if halvings > 0 {
            self.flows.rescale(|recent| Recent { inflated: recent.inflated.halved(halvings), ..recent });
            self.queue.rescale(|key| Inflated::of_bits(key).halved(halvings).bits());
        }
    }

    #[inline(always)]
    fn flow(both: bool, packet: &Packet) -> FlowKey {
        if both { connection(packet) } else { packet.flow }
    }

    /// Counts `packet`, which enters the queue, in `recent`; hands out its stamp.
    #[inline(always)]
    fn count(both: bool, recent: &mut Recent, packet: &Packet, fading: &Decay, now: Time) -> u64 {
        let before = recent.inflated;
        let moved = if both { recent.acknowledged.moved(packet) } else { u64::from(packet.len) };
        recent.inflated = before.plus(fading.inflated(moved, now));
        if both {
            recent.acknowledged.note(packet);
        }
        // As in LASACK what an acknowledgement tells was moved before it.
        if both && packet.kind == Kind::Ack { recent.inflated.bits() } else { before.bits() }
    }

    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let (both, flows) = (self.both, &mut self.flows);
        let mut recent = flows.attained(Self::flow(both, packet));
        let stamp = Self::count(both, &mut recent, packet, &self.fading, env.now());
        self.queue.make_room(stamp, packet.len, env, |victim, stamp| {
            let flow = Self::flow(both, victim);
            let mut recent = flows.attained(flow);
            // As in LASACK what an acknowledgement told stays counted.
            if !both || victim.kind != Kind::Ack {
                // As in LAS the victim is the last packet of its flow. What an acknowledgement told that came after
                // it and was pushed out before it is forgotten with it: sums that are rounded cannot be undone exactly.
                recent.inflated = Inflated::of_bits(stamp);
            }
            flows.push_out(flow, recent);
        })
    }
}

impl Discipline for Lars {
    const SPEC: Spec = Spec {
        id: "lars",
        family: Family::SizeBased,
        about: "least attained recent service: LAS with a memory that fades",
        source: "Heusse 2010; Chen 2012, 4.2",
        when_full: "the packet whose flow has sent most of late, last of its class; may be the arriving one",
        time_driven: false,
        // Inflated bytes of a flow never decrease, as in LAS.
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "las", options: "", bpf: false },
        params: &[
            Param {
                name: "half_life",
                unit: "s",
                about: "time in which attained service halves, and the longest lock-out by one flow: ln 2 / |ln beta|",
                value: Value::Number { default: 1.0, min: 1e-3, max: 1e6 },
            },
            Param {
                name: "count",
                unit: "",
                about: "bytes sent by each direction, or by both directions of a connection, acknowledged ones too",
                value: Value::Choice(&["sent", "acknowledged"]),
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Lars {
            queue: Order::default(),
            flows: FlowTable::with_options(options),
            both: options.choice("count") == "acknowledged",
            fading: Decay::of(options.time("half_life")),
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.fade(env.now());
        self.flows.visit(env.now());
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let recent = self.flows.enter(Self::flow(self.both, &packet), env.now());
        let stamp = Self::count(self.both, recent, &packet, &self.fading, env.now());
        self.queue.push(stamp, packet);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let (_, packet) = self.queue.pop_first()?;
        self.flows.leave(Self::flow(self.both, &packet), env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.first()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{Kind, Limit, Packet, Qdisc};

    #[test]
    fn a_flow_that_rested_goes_before_one_that_sent_less_but_lately() {
        let mut lars = queue("lars", &["half_life=1"], Limit::Packets(100));
        arrive(&mut lars, &[1; 8], 0, Time::ZERO);
        drain(&mut lars, Time::ZERO);
        let later = Time::from_millis(4000);
        arrive(&mut lars, &[2], 20, later);
        lars.dequeue(later);
        // 8 packets, 4 half-lives ago: half a packet. One packet just now: one packet.
        arrive(&mut lars, &[2, 1], 30, later);
        assert_eq!(drain(&mut lars, later), [31, 30]);
    }

    /// Greedy flows on a link of 10 Mb/s: each keeps two packets waiting while it is active.
    struct Greedy {
        lars: Qdisc,
        now: Time,
        waiting: [u32; 6],
        /// Since when each flow waits without being served, and which others were served meanwhile.
        since: [Option<(Time, u32)>; 6],
        /// Longest lock-out by the number of others.
        longest: [Time; 6],
    }

    const HALF_LIFE: Time = Time::from_millis(500);
    const LENGTHS: [u32; 6] = [1500, 1500, 1500, 1500, 700, 200];

    impl Greedy {
        fn link() -> Greedy {
            let lars = queue("lars", &["half_life=0.5"], Limit::Bytes(18_000));
            Greedy { lars, now: Time::ZERO, waiting: [0; 6], since: [None; 6], longest: [Time::ZERO; 6] }
        }

        /// Runs for `span` with the flows whose bit is set.
        fn run(&mut self, active: u32, span: Time) {
            let end = self.now + span;
            while self.now < end {
                for flow in (0..6).filter(|flow| active >> flow & 1 == 1) {
                    while self.waiting[flow] < 2 {
                        self.lars.enqueue(Packet { len: LENGTHS[flow], ..packet(flow as u64, 0) }, self.now);
                        self.waiting[flow] += 1;
                        self.since[flow].get_or_insert((self.now, 0));
                    }
                }
                let sent = self.lars.dequeue(self.now).expect("an active flow has packets waiting");
                self.serve(sent.flow.0 as usize);
                self.now += Time(u64::from(sent.len) * 800);
            }
        }

        fn serve(&mut self, flow: usize) {
            let (start, others) = self.since[flow].take().expect("it waited");
            let longest = &mut self.longest[others.count_ones() as usize];
            *longest = (*longest).max(self.now - start);
            self.waiting[flow] -= 1;
            self.since.iter_mut().flatten().for_each(|(_, others)| *others |= 1 << flow);
            self.since[flow] = (self.waiting[flow] > 0).then_some((self.now, 0));
        }
    }

    /// The bound of docs/disciplines/lars.md, seconds.
    fn bound(others: usize) -> f64 {
        let (half_life, k) = (HALF_LIFE.as_secs_f64(), others as f64);
        let (fade, buffer, packet) = (2_f64.ln() / half_life, 18_000.0 / 1.25e6, 1500.0 / 1.25e6);
        let attained = 1.0 + k * (2_f64.powf(packet / half_life) + fade * buffer);
        half_life * (attained / (2_f64.powf(-(buffer + 2.0 * packet) / half_life) - k * fade * packet)).log2()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_lock_out_is_above_its_bound(phases in prop::collection::vec((1..64_u32, 1..1500_u64), 1..16)) {
            let mut greedy = Greedy::link();
            for (active, ms) in phases {
                greedy.run(active, Time::from_millis(ms));
            }
            prop_assert_eq!(greedy.lars.stats().dropped(), 0);
            for (others, longest) in greedy.longest.iter().enumerate() {
                prop_assert!(longest.as_secs_f64() <= bound(others), "{others} others: {longest:?}");
            }
        }
    }

    /// An older flow with A = C / |ln beta| waits until each of k newer ones has caught up: log2(1 + k) half-lives.
    #[test]
    fn the_lock_out_of_an_old_flow_by_new_ones_comes_close_to_its_bound() {
        for others in 1..4 {
            let mut greedy = Greedy::link();
            greedy.run(1, Time::from_millis(10_000));
            greedy.run((2 << others) - 1, Time::from_millis(4000));
            let (longest, fluid) = (greedy.longest[others].as_secs_f64(), 0.5 * (1.0 + others as f64).log2());
            assert!((0.98 * fluid..=1.05 * fluid).contains(&longest), "{others} others: {longest} s, fluid {fluid} s");
            assert!((1.0..1.15).contains(&(bound(others) / fluid)), "{others} others: bound {}", bound(others));
        }
    }

    fn ack(connection: u64, handle: u64, progress: u64) -> Packet {
        Packet { kind: Kind::Ack, len: 40, progress, ..packet(2 * connection + 1, handle) }
    }

    #[test]
    fn bytes_acknowledged_fade_as_bytes_sent_do() {
        for (sent, expected) in [(1499, [31, 30]), (1501, [30, 31])] {
            let mut lars = queue("lars", &["half_life=1", "count=acknowledged"], Limit::Packets(100));
            lars.enqueue(ack(1, 0, 700_000), Time::ZERO);
            lars.enqueue(ack(1, 1, 712_000), Time::ZERO);
            drain(&mut lars, Time::ZERO);
            let later = Time::from_millis(3000);
            lars.enqueue(Packet { len: sent, ..packet(4, 2) }, later);
            drain(&mut lars, later);
            // 12 000 bytes, three half-lives ago: 1500. What was acknowledged before the first one does not count.
            lars.enqueue(ack(1, 30, 712_000), later);
            lars.enqueue(packet(4, 31), later);
            assert_eq!(drain(&mut lars, later), expected, "{sent} bytes");
        }
    }

    #[test]
    fn both_directions_are_one_flow_only_where_acknowledged_bytes_count() {
        for (option, expected) in [("count=sent", [0, 2, 3, 1]), ("count=acknowledged", [0, 3, 1, 2])] {
            let mut lars = queue("lars", &[option], Limit::Packets(100));
            arrive(&mut lars, &[2, 2, 3, 4], 0, Time::ZERO);
            assert_eq!(drain(&mut lars, Time::ZERO), expected, "{option}");
        }
    }

    #[test]
    fn acknowledgements_pushed_out_stay_told_and_data_is_taken_back() {
        let mut lars = queue("lars", &["count=acknowledged"], Limit::Packets(2));
        lars.enqueue(ack(1, 0, 0), Time::ZERO);
        lars.enqueue(ack(1, 1, 4000), Time::ZERO);
        lars.enqueue(packet(4, 2), Time::ZERO);
        assert_eq!(dropped(&lars), [1]);
        drain(&mut lars, Time::ZERO);
        arrive(&mut lars, &[4, 4], 3, Time::ZERO);
        lars.enqueue(ack(1, 5, 4000), Time::ZERO);
        assert_eq!(dropped(&lars), [5], "4000 bytes, against 3000 before handle 4");
        lars.enqueue(ack(5, 6, 0), Time::ZERO);
        assert_eq!(dropped(&lars), [4]);
        lars.dequeue(Time::ZERO);
        lars.dequeue(Time::ZERO);
        arrive(&mut lars, &[4], 7, Time::ZERO);
        lars.enqueue(Packet { len: 3500, ..packet(6, 8) }, Time::ZERO);
        lars.dequeue(Time::ZERO);
        arrive(&mut lars, &[6], 9, Time::ZERO);
        assert_eq!(drain(&mut lars, Time::ZERO), [7, 9], "3000 bytes without handle 4, against 3500");
    }

    /// Against the logarithm of inflated bytes kept per flow, over 10^6 s and thousands of epochs.
    #[test]
    fn the_order_is_right_over_a_million_seconds() {
        let mut lars = queue("lars", &["half_life=0.7", "timeout=1000000"], Limit::Packets(100));
        let mut attained = [f64::NEG_INFINITY; 10];
        let mut waiting: Vec<(f64, u64)> = Vec::new();
        let mut draw = units::Stream::named(1, "million");
        let mut now = 0.0;
        for handle in 0..200_000_u64 {
            // Short gaps for close contests, 1 in 100 long enough to reach 10^6 s in all.
            now += if draw.uniform() < 0.01 { 1000.0 * draw.uniform() } else { 0.5 * draw.uniform() };
            let at = Time::from_secs_f64(now).expect("positive");
            let flow = (draw.uniform() * 10.0) as usize;
            waiting.push((attained[flow], handle));
            let sent = 1500_f64.log2() + now / 0.7;
            attained[flow] = sent + (1.0 + (attained[flow] - sent).exp2()).log2();
            lars.enqueue(packet(flow as u64, handle), at);
            while waiting.len() > 5 {
                let sent = lars.dequeue(at).expect("waiting");
                let least = waiting.iter().map(|&(rank, _)| rank).fold(f64::INFINITY, f64::min);
                let place = waiting.iter().position(|&(_, h)| h == sent.handle).expect("waiting");
                let (rank, _) = waiting.swap_remove(place);
                // 1e-6: rounding of ranks that grow to 1.4e6. Below 2^-1000 bytes all count as none.
                assert!(rank <= least + 1e-6 || rank < now / 0.7 - 1000.0, "at {now} s: {rank}, least {least}");
            }
        }
        assert!(now > 1e6, "{now}");
    }

    #[test]
    fn a_jump_of_a_million_seconds_keeps_the_packets() {
        let mut lars = queue("lars", &["half_life=0.001"], Limit::Packets(100));
        arrive(&mut lars, &[1, 1, 2, 1], 0, Time::ZERO);
        let later = Time::from_millis(1_000_000_000);
        lars.enqueue(Packet { len: u32::MAX, ..packet(2, 9) }, later);
        assert_eq!(drain(&mut lars, later), [0, 2, 1, 3, 9]);
    }
}
