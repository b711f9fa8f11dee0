//! # Run2CACK
//!
//! **Idea.** [Run2C](run2c.md) by the volume a connection moves in both directions: a packet is *high* while its connection has moved fewer
//! than $th$ bytes before it and *low* afterwards. Acknowledgements of an upload then go low when the upload has passed the threshold, as the
//! data of a download does.
//!
//! **Scope and limits.**
//! - The volume is that of [LASACK](lasack.md): data by its length as it enters the queue, what went the other way by the acknowledgement
//!   number. Run2C itself needs no state for TCP data, since the sequence number tells its place; the sum of both directions does. So a
//!   retransmission counts again here, and is not high again as under Run2C.
//! - Long connections end up in the low class for good and share it in order of arrival: with nothing but long transfers this is FIFO (Chen
//!   2012, 6.4).
//! - Packets of one flow keep their order, unlike under Run2C: the volume never falls below the threshold while a packet waits.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `threshold` | $th$ | bytes | 30000 | bytes of a connection, either way, that go first; 20 packets of 1500 bytes (Chen 2012, 6.5) |
//! | `visit` | | s | 5 | interval at which idle connections are looked for |
//! | `timeout` | | s | 30 | idle time after which a connection is forgotten |
//!
//! **When the buffer is full**, as Run2C: an arriving high packet pushes out the last low one (with a limit in bytes, as many as needed, or
//! none if all would not be enough: then the arriving packet is dropped). An arriving low packet is dropped.
//!
//! **Cost.** O(1) per packet: two look-ups.
//!
//! **Validation.** Unit tests on classification, push-out and counting. Against a reference that recounts every volume from the packets.
//! Conformance suite.
//!
//! **In the kernel.** [`sch_run2c`](../kernel/sch_run2c.md) with `count acked`.
//!
//! **References.** Chen 2012, 6.4, 6.5 and 7. K. Avrachenkov, U. Ayesta, P. Brown, E. Nyberg, "Differentiation between short and long TCP
//! flows: predictability of the response time", INFOCOM 2004.

use units::Stream;

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::Packet;
use crate::parts::classes::Classes;
use crate::parts::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::parts::volume::{Connection, Volume, connection};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Run2C with the volume of both directions.
#[derive(Debug)]
pub struct Run2cAck {
    queue: Classes,
    connections: FlowTable<Connection<true>>,
    threshold: u64,
}

impl Run2cAck {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        self.connections.attained(connection(packet)).rank(packet) < self.threshold
            && self.queue.make_room(packet.len, env, |victim| {
                // The victim is low, so its connection is past the threshold without it too: no need to take it off.
                let moved = self.connections.attained(connection(victim));
                self.connections.push_out(connection(victim), moved);
            })
    }
}

impl Discipline for Run2cAck {
    const SPEC: Spec = Spec {
        id: "run2cack",
        family: Family::SizeBased,
        about: "two classes: the first bytes of every connection, counted both ways, go first",
        source: "Chen 2012, 6.4",
        when_full: "the last low packet for a high one, else the arriving packet",
        time_driven: false,
        // The volume of a connection with a packet waiting never falls: it is not forgotten.
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "run2c", options: "count acked", bpf: false },
        params: &[
            Param {
                name: "threshold",
                unit: "bytes",
                about: "bytes of a connection, either way, that go first (th)",
                value: Value::Number { default: 30_000.0, min: 1.0, max: 1e12 },
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Run2cAck {
            queue: Classes::default(),
            connections: FlowTable::with_options(options),
            // Bytes are whole: fewer than 1.5 of them means fewer than 2.
            threshold: options.number("threshold").ceil() as u64,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.connections.visit(env.now());
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let moved = self.connections.enter(connection(&packet), env.now());
        let high = moved.rank(&packet) < self.threshold;
        moved.add(&packet);
        env.note(Sorted { high, fresh: false });
        self.queue.push(packet, high);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.connections.visit(env.now());
        let packet = self.queue.pop()?;
        self.connections.leave(connection(&packet), env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.peek()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.connections.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.connections.bytes()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.queue.high_backlog())
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Kind, Limit, Packet, Qdisc};

    /// An acknowledgement of `connection` that comes in its reverse direction.
    fn ack(connection: u64, handle: u64, progress: u64) -> Packet {
        Packet { kind: Kind::Ack, len: 40, progress, ..packet(2 * connection + 1, handle) }
    }

    /// A full segment of `connection` in its forward direction.
    fn data(connection: u64, handle: u64) -> Packet {
        Packet { kind: Kind::Data, ..packet(2 * connection, handle) }
    }

    fn enqueue(queue: &mut Qdisc, packets: &[Packet]) {
        for &packet in packets {
            queue.enqueue(packet, Time::ZERO);
        }
    }

    #[test]
    fn bytes_acknowledged_and_bytes_sent_make_one_volume() {
        let mut run2cack = queue("run2cack", &[], Limit::Packets(100));
        enqueue(&mut run2cack, &[ack(1, 0, 28_500), ack(1, 1, 29_999), ack(1, 2, 30_000), ack(1, 3, 29_000)]);
        let back = Packet { kind: Kind::Data, ..packet(5, 5) };
        enqueue(&mut run2cack, &[ack(2, 4, 28_500), back, Packet { handle: 6, ..back }]);
        assert_eq!(run2cack.high_backlog(), Some(4));
        assert_eq!(drain(&mut run2cack, Time::ZERO), [0, 1, 4, 5, 2, 3, 6]);
        enqueue(&mut run2cack, &[ack(1, 7, 0)]);
        assert_eq!(run2cack.high_backlog(), Some(0), "what was told earlier counts");
    }

    #[test]
    fn udp_counts_its_own_bytes() {
        let mut run2cack = queue("run2cack", &[], Limit::Packets(100));
        arrive(&mut run2cack, &[2; 22], 0, Time::ZERO);
        assert_eq!(run2cack.high_backlog(), Some(20));
    }

    #[test]
    fn a_full_buffer_drops_the_last_low_packet_for_a_high_one() {
        let mut run2cack = queue("run2cack", &["threshold=1500"], Limit::Packets(3));
        enqueue(&mut run2cack, &[data(1, 0), data(1, 1), data(1, 2)]);
        assert_eq!(run2cack.enqueue(data(1, 3), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(run2cack.enqueue(ack(2, 4, 1499), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&run2cack), [2]);
        assert_eq!(run2cack.enqueue(ack(3, 5, 1500), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(drain(&mut run2cack, Time::ZERO), [0, 4, 1]);
    }

    #[test]
    fn a_refused_packet_does_not_count() {
        let mut run2cack = queue("run2cack", &["threshold=3000"], Limit::Packets(2));
        enqueue(&mut run2cack, &[ack(1, 0, 0), data(2, 1), data(2, 2)]);
        drain(&mut run2cack, Time::ZERO);
        enqueue(&mut run2cack, &[data(2, 3), data(2, 4)]);
        assert_eq!(run2cack.high_backlog(), Some(1), "1500 bytes before handle 3, 3000 before handle 4");
    }
}
