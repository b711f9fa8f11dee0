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

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::{Ecn, Packet};
use crate::parts::pi2::{ALPHA, BETA, Lane, Law, TARGET, UPDATE};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// DualPI2.
///
/// Nothing wakes the queue: each call first makes up for the updates since the last one. Between two calls only the heads
/// grow older, so they come out as a timer would have made them.
#[derive(Debug)]
pub struct Dualpi2 {
    low_delay: Lane,
    classic: Lane,
    law: Law,
    coupling: f64,
    l_threshold: Time,
    l_range: Time,
    l_packets: usize,
    l_weight: i64,
    couple: u64,
    /// What L sent ahead of its share while C waited, bytes.
    credit: i64,
}

impl Dualpi2 {
    /// Makes the updates due up to `now`. Figure 8, line 2a: by the longer of the two queueing times.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let oldest = || [self.low_delay.head(), self.classic.head()].into_iter().flatten().min();
        self.law.catch_up(now, oldest);
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
            TARGET,
            UPDATE,
            ALPHA,
            BETA,
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
        Ok(Dualpi2 {
            low_delay: Lane::default(),
            classic: Lane::default(),
            law: Law::with_options(options),
            coupling: options.number("coupling"),
            l_threshold: options.time("l_threshold"),
            l_range: options.time("l_range"),
            l_packets: options.whole("l_packets") as usize,
            l_weight: options.whole("l_weight") as i64,
            couple: 2 * options.whole("mtu"),
            credit: 0,
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
            let base = if env.stats().backlog_bytes() < self.couple { 0.0 } else { self.law.base() };
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

    static SPEC: Spec = Dualpi2::SPEC;

    fn dualpi2(options: &[(&str, &str)]) -> Dualpi2 {
        let given: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let options = Options::parse(&SPEC, &given).expect("valid options");
        Dualpi2::with_options(&options, &mut Stream::named(1, "dualpi2")).expect("they go together")
    }

    #[test]
    fn the_ramp_of_the_low_delay_queue_may_be_a_step() {
        let at = |queue: &Dualpi2| [799, 800, 900, 1000, 1199, 1200].map(|us| queue.native(Time(us * 1000)));
        let ramp = at(&dualpi2(&[]));
        assert!(ramp.iter().zip([0.0, 0.0, 0.25, 0.5, 0.9975, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{ramp:?}");
        assert_eq!(at(&dualpi2(&[("l_threshold", "0.001"), ("l_range", "0")])), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }
}
