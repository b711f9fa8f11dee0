//! # Run2C
//!
//! **Idea.** The first `threshold` bytes of every flow go first. A packet is *high* while fewer than $th$ bytes of its flow came before it and
//! *low* afterwards. High packets have strict priority; each class is served in order of arrival.
//!
//! **Scope and limits.**
//! - TCP segments that occupy sequence numbers (data, SYN, FIN) are classified by their sequence number minus the initial one, the bytes of the
//!   flow before the segment. No state is kept for them. The paper has hosts encode the count in the sequence number (Chen 2012, 4.2);
//!   a router would see the 32-bit number wrap after 4 GiB.
//! - A pure acknowledgement carries the sequence number of an end that sends nothing: high, without state. Bytes *acknowledged* do not
//!   count: they are the volume of the other direction. Counting both is [Run2CACK](run2cack.md).
//! - UDP has no such number: its packets are classified by the bytes of their flow that entered the queue, with the flow table of
//!   [LAS](las.md).
//! - Packets of one flow may change order: a retransmission of an early segment is high again and overtakes low ones, and so may an
//!   acknowledgement in a flow that also carries data.
//! - A long flow stays low for good, unlike under [EFD](efd.md): a slow stream that sent more than $th$ shares the low class with bulk
//!   transfers.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `threshold` | $th$ | bytes | 30000 | bytes of a flow that go first; 20 packets of 1500 bytes (Chen 2012, 4.6.2) |
//! | `visit` | | s | 5 | interval at which idle flows are looked for |
//! | `timeout` | | s | 30 | idle time after which a flow is forgotten |
//!
//! **When the buffer is full** an arriving high packet pushes out the last low one (with a limit in bytes, as many as needed, or none if all
//! would not be enough: then the arriving packet is dropped). An arriving low packet is dropped.
//!
//! **Cost.** O(1) per packet; two look-ups for UDP.
//!
//! **Validation.** Unit tests on classification, push-out and counting. Conformance suite.
//!
//! **In the kernel.** [`sch_run2c`](../kernel/sch_run2c.md), its defaults.
//!
//! **References.** K. Avrachenkov, U. Ayesta, P. Brown, E. Nyberg, "Differentiation between short and long TCP flows: predictability of the
//! response time", INFOCOM 2004. Chen 2012, 2.1, 4.2 and 4.6.

use units::Stream;

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::{Kind, Packet};
use crate::parts::classes::Classes;
use crate::parts::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Run2C: two classes split at a number of bytes per flow.
#[derive(Debug)]
pub struct Run2c {
    queue: Classes,
    /// Bytes, of UDP flows.
    flows: FlowTable<u64>,
    threshold: u64,
}

impl Run2c {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let before = match packet.kind {
            Kind::Data => packet.progress,
            Kind::Ack => 0,
            Kind::Udp => self.flows.attained(packet.flow),
        };
        before < self.threshold
            && self.queue.make_room(packet.len, env, |victim| {
                if victim.kind == Kind::Udp {
                    let counted = self.flows.attained(victim.flow);
                    self.flows.push_out(victim.flow, counted - u64::from(victim.len));
                }
            })
    }
}

impl Discipline for Run2c {
    const SPEC: Spec = Spec {
        id: "run2c",
        family: Family::SizeBased,
        about: "two classes: the first bytes of every flow go first",
        source: "Avrachenkov et al. 2004",
        when_full: "the last low packet for a high one, else the arriving packet",
        time_driven: false,
        // A retransmission of an early segment is high again, and an acknowledgement always is: both may
        // overtake low packets of their flow.
        keeps_flow_order: false,
        runs_on: RunsOn::Module { qdisc: "run2c", options: "count bytes", bpf: false },
        params: &[
            Param {
                name: "threshold",
                unit: "bytes",
                about: "bytes of a flow that go first (th)",
                value: Value::Number { default: 30_000.0, min: 1.0, max: 1e12 },
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Run2c {
            queue: Classes::default(),
            flows: FlowTable::with_options(options),
            // Bytes are whole: fewer than 1.5 of them means fewer than 2.
            threshold: options.number("threshold").ceil() as u64,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.flows.visit(env.now());
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let before = match packet.kind {
            Kind::Data => packet.progress,
            Kind::Ack => 0,
            Kind::Udp => {
                let counted = self.flows.enter(packet.flow, env.now());
                *counted += u64::from(packet.len);
                *counted - u64::from(packet.len)
            }
        };
        let high = before < self.threshold;
        env.note(Sorted { high, fresh: false });
        self.queue.push(packet, high);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let packet = self.queue.pop()?;
        if packet.kind == Kind::Udp {
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
    use crate::{DropReason, Fate, Kind, Limit, Packet};

    fn data(flow: u64, handle: u64, progress: u64) -> Packet {
        Packet { kind: Kind::Data, progress, ..packet(flow, handle) }
    }

    #[test]
    fn tcp_data_is_classified_by_its_sequence_number_without_state() {
        let mut run2c = queue("run2c", &[], Limit::Packets(100));
        for (handle, progress) in [(0, 30_000), (1, 29_999), (2, u64::MAX), (3, 0)] {
            run2c.enqueue(data(1, handle, progress), Time::ZERO);
        }
        assert_eq!(run2c.high_backlog(), Some(2));
        assert_eq!(run2c.flow_table_len(), 0);
        assert_eq!(drain(&mut run2c, Time::ZERO), [1, 3, 0, 2]);
    }

    #[test]
    fn other_packets_are_classified_by_the_bytes_of_their_flow() {
        let mut run2c = queue("run2c", &[], Limit::Packets(100));
        arrive(&mut run2c, &[1; 22], 0, Time::ZERO);
        assert_eq!(run2c.high_backlog(), Some(20), "20 packets of 1500 bytes are 30 kB");
        drain(&mut run2c, Time::ZERO);
        arrive(&mut run2c, &[1, 2], 30, Time::ZERO);
        assert_eq!(drain(&mut run2c, Time::ZERO), [31, 30], "what was sent earlier counts");
    }

    #[test]
    fn bytes_acknowledged_are_not_the_volume_of_an_acknowledgement_flow() {
        let mut run2c = queue("run2c", &["threshold=60"], Limit::Packets(100));
        for handle in 0..3 {
            run2c.enqueue(Packet { kind: Kind::Ack, len: 40, ..data(1, handle, 1_000_000) }, Time::ZERO);
        }
        assert_eq!(run2c.high_backlog(), Some(3));
        assert_eq!(run2c.flow_table_len(), 0);
    }

    #[test]
    fn a_full_buffer_drops_the_last_low_packet_for_a_high_one() {
        let mut run2c = queue("run2c", &[], Limit::Packets(2));
        run2c.enqueue(data(1, 0, 60_000), Time::ZERO);
        run2c.enqueue(data(1, 1, 61_500), Time::ZERO);
        assert_eq!(run2c.enqueue(data(1, 2, 63_000), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(run2c.enqueue(data(2, 3, 0), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&run2c), [1]);
        run2c.enqueue(data(2, 4, 1500), Time::ZERO);
        assert_eq!(run2c.enqueue(data(2, 5, 3000), Time::ZERO), Fate::Dropped(DropReason::Full));
    }

    #[test]
    fn packets_pushed_out_do_not_count() {
        let mut run2c = queue("run2c", &["threshold=4000"], Limit::Packets(4));
        arrive(&mut run2c, &[1, 1, 1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&run2c), [3]);
        drain(&mut run2c, Time::ZERO);
        let mut shorter = queue("run2c", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut shorter, &[1], 0, Time::ZERO);
        shorter.enqueue(Packet { len: 40, ..packet(1, 1) }, Time::ZERO);
        arrive(&mut shorter, &[2], 2, Time::ZERO);
        assert_eq!(dropped(&shorter), [1]);
        assert_eq!(shorter.flow_table_len(), 2, "flow 1 sent packet 0");
    }
}
