//! # X-Protect
//!
//! **Idea.** [Run2C](run2c.md) with fewer counters. Each packet of a flow that is not in the table is drawn with probability $p$; one that is
//! drawn puts its flow into the table, and the bytes of the flow are counted from that packet on. A packet is *low* when $th$ bytes of its flow
//! were counted before it, *high* otherwise, above all while its flow is not in the table. High packets have strict priority; each class is
//! served in order of arrival.
//!
//! **Scope and limits.**
//! - X-Protect is the name Chen 2012, 4.6.1, gives to the lottery of Cross-Protect (Kortebi et al., there for admission control) with the two
//!   queues of Run2C. It appears only in the comparison of flow tables.
//! - The thesis does not say from where "the amount of bytes sent by the flow" is counted. Nothing is known of a flow before its insertion, and
//!   the same section describes flows that are long "once they have generated more than a certain amount of packets/bytes after their initial
//!   insertion". So the count starts at insertion, with the packet that was drawn; with $p = 1$ it is the count of Run2C.
//! - A flow thus sends about $1/p$ packets and $th$ bytes before its first low packet: about 120 full packets with the defaults.
//! - Unlike Run2C, TCP sequence numbers are not read: every flow is counted alike, in bytes on the wire.
//! - A packet dropped on arrival is not drawn and not counted: its flow did not send it. A packet that is pushed out was low, so its flow is
//!   past $th$ without it too, and the count stays.
//! - A flow is the 5-tuple, one direction.
//! - The table is visited every `visit` seconds. A flow is forgotten when none of its packets came and no low one left for `timeout`. A flow
//!   with a low packet waiting stays: packets of one flow keep their order. The entry of a flow that has only high packets waiting may go.
//! - Many short flows end up in the table for one drawn packet each, which is why it is not much smaller than that of [LAS](las.md).
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `probability` | $p$ | | 0.01 | chance of a packet to put its flow into the table ("say 1 %", Chen 2012, 4.6.1) |
//! | `threshold` | $th$ | bytes | 30000 | bytes of a flow in the table that go first; 20 packets of 1500 bytes |
//! | `visit` | | s | 5 | interval at which idle flows are looked for |
//! | `timeout` | | s | 30 | idle time after which a flow is forgotten |
//!
//! **When the buffer is full** an arriving high packet pushes out the last low one (with a limit in bytes, as many as needed, or none if all
//! would not be enough: then the arriving packet is dropped). An arriving low packet is dropped.
//!
//! **Cost.** O(1) per packet: one look-up, and a random number while the flow is not in the table; a second look-up, on departure, when the
//! packet is low. One entry per flow drawn; one pass over the table per visit.
//!
//! **Validation.** By Monte Carlo through the queue (`crates/qdisc/tests/sampling.rs`): packets until the first low one, and length of the
//! table, against the geometric law of the lottery. Order of service as under Run2C at $p = 1$. Unit tests on counting, push-out and garbage
//! collection. Table 4.1 of Chen 2012 on [its page](../papers/chen-2012-wired.md). Conformance suite.
//!
//! **References.** Chen 2012, 4.6.1, Table 4.1. A. Kortebi, S. Oueslati, J. Roberts, "Cross-protect: implicit service differentiation and
//! admission control", HPSR 2004.

use units::Stream;

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::Packet;
use crate::parts::classes::Classes;
use crate::parts::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// X-Protect with two classes.
#[derive(Debug)]
pub struct XProtect {
    queue: Classes,
    /// Bytes of each flow since it came into the table, its first packet there included.
    ///
    /// "The amount of bytes sent by the flow" (4.6.1) cannot be more: nothing is known of a flow before. The same
    /// section calls flows long "once they have generated more than a certain amount of packets/bytes after their
    /// initial insertion". With p = 1 the count is that of Run2C.
    flows: FlowTable<u64>,
    probability: f64,
    threshold: u64,
}

impl XProtect {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        self.flows.attained(packet.flow) < self.threshold
            && self.queue.make_room(packet.len, env, |victim| {
                // The victim is low, so its flow is past the threshold without it too: no need to take it off.
                let counted = self.flows.attained(victim.flow);
                self.flows.push_out(victim.flow, counted);
            })
    }
}

impl Discipline for XProtect {
    const SPEC: Spec = Spec {
        id: "xprotect",
        family: Family::SizeBased,
        about: "X-Protect: Run2C that counts the bytes of flows drawn in a lottery, others go first",
        source: "Chen 2012, 4.6.1",
        when_full: "the last low packet for a high one, else the arriving packet",
        time_driven: false,
        // A flow with a low packet waiting stays in the table, past the threshold: no high packet can follow.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            Param {
                name: "probability",
                unit: "of a packet to be drawn",
                about: "chance of a packet to put its flow into the table (p)",
                value: Value::Number { default: 0.01, min: 1e-12, max: 1.0 },
            },
            Param {
                name: "threshold",
                unit: "bytes",
                about: "bytes of a flow in the table that go first (th)",
                value: Value::Number { default: 30_000.0, min: 1.0, max: 1e12 },
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(XProtect {
            queue: Classes::default(),
            flows: FlowTable::with_options(options),
            probability: options.number("probability"),
            // Bytes are whole: fewer than 1.5 of them means fewer than 2.
            threshold: options.number("threshold").ceil() as u64,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.flows.visit(env.now());
        // A packet that is refused takes no part in the lottery and does not count: its flow did not send it.
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let (now, bytes) = (env.now(), u64::from(packet.len));
        let known = self.flows.enter_known(packet.flow, now, |counted| {
            let low = *counted >= self.threshold;
            *counted = counted.saturating_add(bytes);
            low
        });
        let low = known.unwrap_or_else(|| {
            if env.rng.uniform() < self.probability {
                self.flows.insert(packet.flow, now, bytes);
            }
            false
        });
        env.note(Sorted { high: !low, fresh: false });
        self.queue.push(packet, !low);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let low = self.queue.high_backlog() == 0;
        let packet = self.queue.pop()?;
        if low {
            self.flows.leave(packet.flow, env.now());
        }
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.peek()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.bytes()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.queue.high_backlog())
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet};

    /// Every flow is in the table from its first packet on.
    const CERTAIN: &str = "probability=1";

    #[test]
    fn when_every_packet_is_drawn_the_first_30_kb_of_a_flow_are_high_as_under_run2c() {
        let mut xprotect = queue("xprotect", &[CERTAIN], Limit::Packets(300));
        let mut run2c = queue("run2c", &[], Limit::Packets(300));
        let flows: Vec<u64> = (0..150).map(|n| n * n % 7).collect();
        arrive(&mut xprotect, &flows, 0, Time::ZERO);
        arrive(&mut run2c, &flows, 0, Time::ZERO);
        assert_eq!(xprotect.high_backlog(), run2c.high_backlog());
        assert_eq!(xprotect.high_backlog(), Some(4 * 20), "20 packets of each flow");
        assert_eq!(drain(&mut xprotect, Time::ZERO), drain(&mut run2c, Time::ZERO));
    }

    #[test]
    fn flows_that_are_never_drawn_stay_high_and_leave_no_entry() {
        let mut xprotect = queue("xprotect", &["probability=1e-12"], Limit::Packets(300));
        arrive(&mut xprotect, &[1; 200], 0, Time::ZERO);
        assert_eq!((xprotect.high_backlog(), xprotect.flow_table_len()), (Some(200), 0));
    }

    #[test]
    fn bytes_count_from_the_packet_drawn_on() {
        let mut xprotect = queue("xprotect", &["probability=0.02"], Limit::Packets(1000));
        let mut drawn = None;
        let mut low = None;
        for handle in 0..1000 {
            arrive(&mut xprotect, &[1], handle, Time::ZERO);
            drawn = drawn.or((xprotect.flow_table_len() == 1).then_some(handle));
            low = low.or(xprotect.sorted().is_some_and(|sorted| !sorted.high).then_some(handle));
        }
        let drawn = drawn.expect("1000 packets at p = 0.02: not drawn once in 6e8 runs");
        assert!(drawn > 0, "the seed draws a later packet, so that there is something not counted");
        assert_eq!(low, Some(drawn + 20), "the packet drawn is the first of the 20 that are counted and high");
    }

    #[test]
    fn a_low_packet_is_dropped_when_the_buffer_is_full_and_pushed_out_by_a_high_one() {
        let mut xprotect = queue("xprotect", &[CERTAIN, "threshold=1500"], Limit::Packets(3));
        arrive(&mut xprotect, &[1, 1, 1], 0, Time::ZERO);
        assert_eq!(xprotect.enqueue(packet(1, 3), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(xprotect.enqueue(packet(2, 4), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&xprotect), [2]);
        assert_eq!(drain(&mut xprotect, Time::ZERO), [0, 4, 1]);
    }

    #[test]
    fn a_packet_that_is_refused_is_neither_drawn_nor_counted() {
        let mut xprotect = queue("xprotect", &[CERTAIN, "threshold=3000"], Limit::Packets(2));
        arrive(&mut xprotect, &[1, 2, 1, 3], 0, Time::ZERO);
        assert_eq!(xprotect.flow_table_len(), 2, "flow 3 sent nothing");
        drain(&mut xprotect, Time::ZERO);
        arrive(&mut xprotect, &[1, 1], 4, Time::ZERO);
        assert_eq!(xprotect.high_backlog(), Some(1), "packets 0 and 4 are high, packet 5 is past 3000 bytes");
    }

    #[test]
    fn a_flow_whose_packet_is_pushed_out_stays_low() {
        let mut xprotect = queue("xprotect", &[CERTAIN, "threshold=1500"], Limit::Packets(2));
        arrive(&mut xprotect, &[1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&xprotect), [1]);
        xprotect.dequeue(Time::ZERO);
        arrive(&mut xprotect, &[1], 3, Time::ZERO);
        assert_eq!(xprotect.high_backlog(), Some(1), "packet 2 alone");
        // Nothing keeps the flow in the table once its victim and its last packet are gone.
        drain(&mut xprotect, Time::ZERO);
        xprotect.dequeue(Time::from_millis(30_000));
        assert_eq!(xprotect.flow_table_len(), 0);
    }

    #[test]
    fn with_a_byte_limit_as_many_low_tails_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut xprotect = queue("xprotect", &[CERTAIN, "threshold=1000"], Limit::Bytes(4000));
        for handle in 0..4 {
            xprotect.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        xprotect.enqueue(sized(2, 10, 1500), Time::ZERO);
        assert_eq!(dropped(&xprotect), [3, 2]);
        xprotect.enqueue(sized(3, 11, 2000), Time::ZERO);
        assert_eq!(dropped(&xprotect), [11], "2500 bytes are high");
        assert_eq!(drain(&mut xprotect, Time::ZERO), [0, 10, 1]);
    }

    #[test]
    fn a_flow_that_sends_nothing_for_half_a_minute_is_forgotten_unless_a_low_packet_waits() {
        let late = Time::from_millis(30_000);
        let mut xprotect = queue("xprotect", &[CERTAIN, "threshold=1500"], Limit::Packets(100));
        arrive(&mut xprotect, &[1, 1], 0, Time::ZERO);
        arrive(&mut xprotect, &[1], 2, late);
        assert_eq!(xprotect.high_backlog(), Some(1), "packet 1 waits");
        drain(&mut xprotect, late);
        let later = Time::from_millis(60_000);
        arrive(&mut xprotect, &[1], 3, later);
        assert_eq!(xprotect.high_backlog(), Some(1), "the flow begins anew");
    }
}
