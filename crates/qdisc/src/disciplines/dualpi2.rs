//! # DualPI2
//!
//! **Idea.** *Scalable* senders (L4S, RFC 9330) answer to many small marks and need hardly any queue; classic ones need one. DualPI2 gives
//! each kind a queue of its own, L and C, and lets one controller set the signals of both so that their flows get equal rates. The
//! controller moves a base probability $p'$ by the distance of the delay from `target` and by its trend. C packets are dropped, or marked if
//! they carry ECT(0), with $p'^2$; L packets are marked with $k p'$, or for their own delay of about a millisecond. A classic sender
//! answers to the square root of its drop rate, a scalable one to its mark rate, hence the square.
//!
//! **Scope and limits.**
//! - The ECN field alone sorts: ECT(1) and CE to L, Not-ECT and ECT(0) to C. A classic packet marked on its way here goes to L and may
//!   overtake others of its flow.
//! - `recur` chooses packets evenly, without random numbers, as in the pseudocode of the RFC. Linux draws random numbers.
//! - L goes first; while both have packets, C gets one byte for `l_weight` of L (weighted round robin, 4.2.2). As in the reference
//!   implementation credit moves only while both have packets and is forgotten when both are empty. The time-shifted FIFO of A.2 is left
//!   out.
//! - Overload: where $k p'$ reaches 1, L packets are dropped with $p'^2$ too, the rest of them marked, and ECT(0) no longer saves a C packet
//!   (drop on saturation, 4.2.3, A.2). Figure 7, line 8h, draws again to mark what is left, with a likelihood of at least 1: here all are.
//! - Figure 7, line 5a, counts the L queue after the packet has left, its comment and the text with it: with it here. Linux counts when the
//!   packet arrives.
//! - As in the reference implementation (A.1) neither drops nor marks follow from $p'$ while fewer than two packets of `mtu` bytes wait.
//! - The ramp of L is that of the RFC, which recommends it over a step (note c). Linux has a step: `l_threshold=0.001,l_range=0`, and 9 for
//!   `l_weight`.
//! - `update`, `alpha` and `beta` are those the RFC gives for 16 ms and a round-trip time of up to 100 ms.
//! - Updates are made up for by the next call, see [PIE](pie.md).
//! - Without senders that use ECT(1) this is PI2, a PIE without its special cases. `high_backlog` counts the L queue.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `target` | `target` | s | 0.015 | delay to steer the C queue to |
//! | `update` | `Tupdate` | s | 0.016 | interval of updates |
//! | `alpha` | `alpha` | 1/s | 0.16 | gain by distance |
//! | `beta` | `beta` | 1/s | 3.2 | gain by trend |
//! | `coupling` | $k$ | | 2 | L is marked with this times $p'$ |
//! | `l_threshold` | `minTh` | s | 0.0008 | delay from which L is marked in any case |
//! | `l_range` | `range` | s | 0.0004 | delay beyond that over which marks become certain; 0: a step |
//! | `l_packets` | `Th_len` | packets | 1 | no such mark while at most so many are in L, the leaving one included |
//! | `l_weight` | | | 15 | bytes of L for each byte of C while both have packets |
//! | `mtu` | | bytes | 1500 | no drop or mark by $p'$ while less than two of these wait |
//!
//! **When the buffer is full** the arriving packet is dropped, of L or of C: they share it.
//!
//! **Cost.** O(1) per packet and an update every 16 ms: 15 ns (FIFO 9 ns), 300 packets, 10 000 flows. No flow table.
//!
//! **Validation.** `crates/qdisc/tests/dualpi2_rfc.rs`: a literal transcription of Figures 2 to 8 with a timer hands out, marks and drops
//! 100 000 packets as the discipline does; and traces by hand for the classifier, $p'^2$ and $k p'$, ramp and step, the L queue of one packet,
//! saturation of L and of C, the L queue in the controller, and the share of C. Conformance suite.
//!
//! **References.** RFC 9332, 4.2 and Appendix A; RFC 9330, 9331; De Schepper et al. 2016 (PI2); Linux `sch_dualpi2`.

use std::collections::VecDeque;

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::{Ecn, Packet};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Updates made up for in one call: a queue in which nothing moved for longer, 160 s at the default,
/// is taken as one of 160 s.
const MOST_UPDATES: u64 = 10_000;

/// A queue, with what RFC 9332 calls its count.
#[derive(Debug, Default)]
struct Lane {
    packets: VecDeque<Packet>,
    /// Likelihoods since the last packet that was chosen, summed.
    count: f64,
}

impl Lane {
    /// `recur` of RFC 9332, Figure 4: true with that likelihood, at most 1, evenly spaced.
    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let recurs = self.count > 1.0;
        self.count -= f64::from(recurs);
        recurs
    }

    /// When the packet to leave next arrived.
    fn head(&self) -> Option<Time> {
        self.packets.front().map(|packet| packet.arrival)
    }
}

/// DualPI2.
///
/// Nothing wakes the queue: each call first makes up for the updates since the last one. Between two calls only the heads
/// grow older, so they come out as a timer would have made them.
#[derive(Debug)]
pub struct Dualpi2 {
    low_delay: Lane,
    classic: Lane,
    target: f64,
    update: u64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    l_threshold: Time,
    l_range: Time,
    l_packets: usize,
    l_weight: i64,
    couple: u64,
    /// What L sent ahead of its share while C waited, bytes.
    credit: i64,
    /// p', and prevq: the delay at the last update.
    base: f64,
    last_delay: Time,
    next_update: u64,
}

impl Dualpi2 {
    /// Makes the updates due up to `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if now.0 >= self.next_update {
            self.update_until(now);
        }
    }

    #[cold]
    fn update_until(&mut self, now: Time) {
        let oldest = [self.low_delay.head(), self.classic.head()].into_iter().flatten().min();
        // Figure 8, line 2a: the longer of the two queueing times.
        let delay_at = |instant| oldest.map_or(Time::ZERO, |arrival| Time(instant).saturating_sub(arrival));
        let due = (now.0 - self.next_update) / self.update;
        for n in 0..=due.min(MOST_UPDATES) {
            let delay = delay_at(self.next_update + n * self.update);
            self.step(delay);
            let is_settled = match oldest {
                None => self.base == 0.0,
                Some(_) => self.base == 1.0 && delay.as_secs_f64() >= self.target,
            };
            if is_settled {
                // The updates that follow leave it at the bound.
                break;
            }
        }
        let last = self.next_update + due * self.update;
        self.last_delay = delay_at(last);
        self.next_update = last.saturating_add(self.update);
    }

    /// RFC 9332, Figure 8, lines 3 and 6.
    fn step(&mut self, delay: Time) {
        let (present, last) = (delay.as_secs_f64(), self.last_delay.as_secs_f64());
        let step = self.alpha * (present - self.target) + self.beta * (present - last);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.last_delay = delay;
    }

    /// Whether both queues have packets.
    fn is_contended(&self) -> bool {
        !self.low_delay.packets.is_empty() && !self.classic.packets.is_empty()
    }

    /// Whether the next packet is one of L. Weighted round robin in bytes (RFC 9332, 4.2.2); as in the
    /// reference implementation (A.1) credit counts only while both queues have packets.
    fn prefers_low_delay(&self) -> bool {
        if self.is_contended() { self.credit <= 0 } else { !self.low_delay.packets.is_empty() }
    }

    /// A packet is sent, of L or not, while the other queue had packets or not.
    fn charge(&mut self, of_low_delay: bool, was_contended: bool, len: u32) {
        if was_contended {
            self.credit += if of_low_delay { 1 } else { -self.l_weight } * i64::from(len);
        }
        if self.low_delay.packets.is_empty() && self.classic.packets.is_empty() {
            self.credit = 0;
        }
    }

    /// `laqm` of RFC 9332, Figure 5: a ramp, or a step without a range.
    fn native(&self, delay: Time) -> f64 {
        let above = delay.saturating_sub(self.l_threshold);
        if delay < self.l_threshold {
            0.0
        } else if above >= self.l_range {
            1.0
        } else {
            above.0 as f64 / self.l_range.0 as f64
        }
    }

    /// Marks a packet just taken from L if it is its turn, `base` being p'; false if it is to be
    /// dropped. RFC 9332, Figure 7, lines 4b to 8j.
    fn pass_low_delay(&mut self, packet: &mut Packet, base: f64, env: &mut Env) -> bool {
        let coupled = self.coupling * base;
        if coupled >= 1.0 {
            // Marks cannot say more, so L loses what C loses and the rest is marked. Line 8h draws
            // again, with p_CL >= 1: certain, and its count would grow without bound.
            return !self.low_delay.recur(base * base) && env.mark(packet);
        }
        // Line 5a counts after the packet left, its comment and the text with it: with it, or else a
        // queue that is never longer than two packets would not be marked.
        let waiting = self.low_delay.packets.len() + 1;
        let delay = env.now().saturating_sub(packet.arrival);
        let native = if waiting > self.l_packets { self.native(delay) } else { 0.0 };
        !self.low_delay.recur(native.max(coupled)) || env.mark(packet)
    }

    /// Marks a packet just taken from C if it is its turn, `base` being p'; false if it is to be
    /// dropped. RFC 9332, Figure 7, lines 11 to 17.
    fn pass_classic(&mut self, packet: &mut Packet, base: f64, env: &mut Env) -> bool {
        let probability = base * base;
        let most = (1.0 / (self.coupling * self.coupling)).min(1.0);
        !self.classic.recur(probability) || (probability < most && env.mark(packet))
    }
}

impl Discipline for Dualpi2 {
    const SPEC: Spec = Spec {
        id: "dualpi2",
        family: Family::QueueManagement,
        about: "DualPI2: low delay for scalable senders (ECT(1)) beside classic ones, equal rates",
        source: "RFC 9332, Appendix A",
        when_full: "the arriving packet",
        time_driven: false,
        // A flow that changes its ECN field would overtake itself; and a packet that arrives with CE
        // goes to L whatever its flow.
        keeps_flow_order: false,
        runs_on: RunsOn::Kernel { qdisc: "dualpi2", since: "6.17" },
        params: &[
            Param {
                name: "target",
                unit: "s",
                about: "queueing delay to steer the C queue to (target)",
                value: Value::Number { default: 0.015, min: 1e-6, max: 1e3 },
            },
            Param {
                name: "update",
                unit: "s",
                about: "interval at which the base probability is updated (Tupdate)",
                value: Value::Number { default: 0.016, min: 1e-4, max: 1e3 },
            },
            Param {
                name: "alpha",
                unit: "1/s",
                about: "change of the base probability by distance from the target (alpha)",
                value: Value::Number { default: 0.16, min: 0.0, max: 1e3 },
            },
            Param {
                name: "beta",
                unit: "1/s",
                about: "change of the base probability by trend of the delay (beta)",
                value: Value::Number { default: 3.2, min: 0.0, max: 1e3 },
            },
            Param {
                name: "coupling",
                unit: "marks per base probability",
                about: "L packets are marked with this times the base probability (k)",
                value: Value::Number { default: 2.0, min: 1e-3, max: 1e3 },
            },
            Param {
                name: "l_threshold",
                unit: "s",
                about: "delay from which L packets are marked whatever the base probability (minTh)",
                value: Value::Number { default: 0.8e-3, min: 0.0, max: 1e3 },
            },
            Param {
                name: "l_range",
                unit: "s",
                about: "delay beyond l_threshold over which that becomes certain (range); 0: a step",
                value: Value::Number { default: 0.4e-3, min: 0.0, max: 1e3 },
            },
            Param {
                name: "l_packets",
                unit: "packets",
                about: "no such mark while at most so many are in L, the leaving one included (Th_len)",
                value: Value::Whole { default: 1, min: 0, max: 1_000_000 },
            },
            Param {
                name: "l_weight",
                unit: "bytes per byte",
                about: "what L may send for each byte of C while both have packets",
                value: Value::Whole { default: 15, min: 1, max: 1_000_000 },
            },
            Param {
                name: "mtu",
                unit: "bytes",
                about: "no drop or mark by the base probability while less than two packets of this length wait",
                value: Value::Whole { default: 1500, min: 0, max: 1_000_000_000 },
            },
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        let update = options.time("update").0;
        Ok(Dualpi2 {
            low_delay: Lane::default(),
            classic: Lane::default(),
            target: options.number("target"),
            update,
            alpha: options.number("alpha"),
            beta: options.number("beta"),
            coupling: options.number("coupling"),
            l_threshold: options.time("l_threshold"),
            l_range: options.time("l_range"),
            l_packets: options.whole("l_packets") as usize,
            l_weight: options.whole("l_weight") as i64,
            couple: 2 * options.whole("mtu"),
            credit: 0,
            base: 0.0,
            last_delay: Time::ZERO,
            next_update: update,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.catch_up(env.now());
        if env.is_full(packet.len) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        // RFC 9332, 2.3: the classifier.
        let high = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        env.note(Sorted { high, fresh: false });
        let lane = if high { &mut self.low_delay } else { &mut self.classic };
        lane.packets.push_back(packet);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.catch_up(env.now());
        loop {
            let (of_low_delay, was_contended) = (self.prefers_low_delay(), self.is_contended());
            // As in the reference implementation (A.1): two packets are no congestion.
            let base = if env.stats().backlog_bytes() < self.couple { 0.0 } else { self.base };
            let lane = if of_low_delay { &mut self.low_delay } else { &mut self.classic };
            let mut packet = lane.packets.pop_front()?;
            let passes = if of_low_delay {
                self.pass_low_delay(&mut packet, base, env)
            } else {
                self.pass_classic(&mut packet, base, env)
            };
            if passes {
                self.charge(of_low_delay, was_contended, packet.len);
                return Some(packet);
            }
            env.discard(packet, DropReason::Early);
        }
    }

    fn peek(&self) -> Option<&Packet> {
        let lane = if self.prefers_low_delay() { &self.low_delay } else { &self.classic };
        lane.packets.front()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.low_delay.packets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_queue::packet;

    static SPEC: Spec = Dualpi2::SPEC;

    const MS: u64 = 1_000_000;

    fn dualpi2(options: &[(&str, &str)]) -> Dualpi2 {
        let given: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let options = Options::parse(&SPEC, &given).expect("valid options");
        Dualpi2::with_options(&options, &mut Stream::named(1, "dualpi2")).expect("they go together")
    }

    #[test]
    fn the_base_probability_moves_by_distance_and_trend_of_the_longer_delay() {
        let mut queue = dualpi2(&[]);
        queue.classic.packets.push_back(packet(1, 0));
        queue.low_delay.packets.push_back(Packet { arrival: Time(6 * MS), ..packet(2, 1) });
        queue.catch_up(Time(32 * MS));
        // RFC 9332, Figure 8: 0.16 (16 - 15) ms + 3.2 (16 - 0) ms, then 0.16 (32 - 15) ms + 3.2 * 16 ms.
        assert!((queue.base - (0.000_16 + 0.0512 + 0.002_72 + 0.0512)).abs() < 1e-12, "{}", queue.base);
        assert_eq!(queue.last_delay, Time(32 * MS));
        queue.classic.packets.clear();
        queue.catch_up(Time(48 * MS));
        // The head of L is 42 ms old: 0.16 * 27 ms + 3.2 * 10 ms.
        assert!((queue.base - (0.105_28 + 0.004_32 + 0.032)).abs() < 1e-12, "{}", queue.base);
    }

    #[test]
    fn updates_made_up_for_at_once_are_those_of_a_timer() {
        let mut rng = Stream::named(1, "timer");
        let (mut lazy, mut timer) = (dualpi2(&[]), dualpi2(&[]));
        let mut now = 0;
        for n in 0..2000 {
            let until = now + rng.bits() % if n % 10 == 0 { 3000 * MS } else { 60 * MS };
            lazy.catch_up(Time(until));
            (now..=until).step_by(MS as usize).for_each(|at| timer.catch_up(Time(at)));
            timer.catch_up(Time(until));
            now = until;
            for queue in [&mut lazy, &mut timer] {
                queue.classic.packets.clear();
                queue.classic.packets.extend((n % 3 > 0).then(|| Packet { arrival: Time(now), ..packet(1, n) }));
            }
            assert_eq!(format!("{lazy:?}"), format!("{timer:?}"));
        }
    }

    #[test]
    fn an_eternity_is_made_up_for_soon() {
        let mut queue = dualpi2(&[("update", "0.0001"), ("alpha", "0"), ("beta", "0")]);
        queue.classic.packets.push_back(packet(1, 0));
        queue.catch_up(Time(u64::MAX));
        queue.catch_up(Time(u64::MAX));
        assert_eq!((queue.base, queue.next_update), (0.0, u64::MAX));
    }

    #[test]
    fn the_ramp_of_the_low_delay_queue_may_be_a_step() {
        let at = |queue: &Dualpi2| [799, 800, 900, 1000, 1199, 1200].map(|us| queue.native(Time(us * 1000)));
        let ramp = at(&dualpi2(&[]));
        assert!(ramp.iter().zip([0.0, 0.0, 0.25, 0.5, 0.9975, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{ramp:?}");
        assert_eq!(at(&dualpi2(&[("l_threshold", "0.001"), ("l_range", "0")])), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn likelihoods_recur_evenly() {
        let mut lane = Lane::default();
        let recurs: Vec<_> = (1..=14).filter(|_| lane.recur(0.25)).collect();
        // The count has to exceed 1: 1.25 at the fifth.
        assert_eq!(recurs, [5, 9, 13]);
    }
}
