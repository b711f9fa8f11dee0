//! # EFDACK
//!
//! **Idea.** [EFD](efd.md) that counts what a connection moves in both directions. A link such as a wireless cell carries both, but its queue
//! sees one: the data of downloads and the acknowledgements of uploads. EFDACK gives an acknowledgement a *virtual size*, the data it
//! acknowledges, so that an upload passes the threshold as early as a download of the same speed.
//!
//! **The volume of a sub-flow** is of the unordered pair of ends. It is the sum of
//! - the length of each packet that entered this queue, pure acknowledgements excepted, and
//! - the advance of the acknowledgement number, summed over the acknowledgements that entered.
//!
//! A packet is high while the volume is below `threshold`. For data that is the volume before the packet. For an acknowledgement it is the
//! volume with its own virtual size, for these bytes have been moved before it; its own 40 bytes do not count.
//!
//! **The virtual size of an acknowledgement** is the advance of its number over the highest one before it in the sub-flow, in its direction.
//! Numbers are cumulative: a late or repeated acknowledgement has size zero, and the next one makes up for those that were lost.
//!
//! **The first acknowledgement of a sub-flow has size zero.** The table holds nothing about a flow while no packet of it waits, so the queue cannot know
//! where the advance began. Chen 2012, 6.2.1, speaks of the total volume "assuming that the flows are continuously tracked", which is the same
//! once a sub-flow lasts. The other readings are worse: with the whole number every sub-flow of an upload past $th$ would begin low, however
//! slow the upload, while every sub-flow of a download begins high; a nominal segment would be a guess. The cost is one advance per sub-flow,
//! one or two segments of 20.
//!
//! **Scope and limits.**
//! - One entry per connection with a packet waiting; the table is never longer than the queue.
//! - Where one queue carries both directions, data is counted once: acknowledgements of a direction whose data was seen in the sub-flow have
//!   size zero.
//! - UDP carries no information about the other direction, so only the bytes that pass here count: a full-duplex stream is treated as a simplex one.
//!   (Both directions of a UDP stream that did pass through one queue would be counted together, as TCP data is.)
//! - What an acknowledgement told stays counted when it is pushed out: it was moved all the same. Data pushed out is taken off.
//! - Data segments carry an acknowledgement too; the descriptor of a packet has one number, the sequence number then. So bytes that are
//!   acknowledged by data only do not count.
//! - Packets of one flow keep their order, as in EFD.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `threshold` | $th$ | bytes | 30000 | what goes first of every sub-flow, either way: 20 packets of 1500 bytes; fractions round up |
//! | `high` | | | `fifo` | order within the high class: `fifo`, of arrival, or `las`, least volume of the sub-flow before the packet |
//! | `low` | | | `fifo` | order within the low class, likewise |
//!
//! **When the buffer is full**, as EFD: the last packet of the low class in its order goes, of the high class when none is low; possibly the
//! arriving one.
//!
//! **Cost.** As EFD.
//!
//! **Validation.** Unit tests on the virtual size, on lost, late, repeated and first acknowledgements, and on forged numbers. Against a
//! reference that sorts everything at each step and recounts every volume from the packets, in all four variants. Conformance suite.
//!
//! **References.** Chen 2012, 6.2.1, 6.4 and 6.5.1. Urvoy-Keller 2007, 3.1.

use crate::parts::classes::{HIGH, LOW};
use crate::parts::early_discard::{EarlyDiscard, threshold};
use crate::parts::volume::{Connection, Row};
use crate::spec::{Family, RunsOn, Spec};

/// Early flow discard by bytes of both directions.
pub type EfdAck = EarlyDiscard<ByConnection>;

/// The row of [`EfdAck`].
#[derive(Debug)]
pub enum ByConnection {}

impl Row for ByConnection {
    type Volume = Connection<false>;

    const SPEC: Spec = Spec {
        id: "efdack",
        family: Family::SizeBased,
        about: "early flow discard by bytes of both directions: an acknowledgement weighs what it acknowledges",
        source: "Chen 2012, 6.2.1",
        when_full: "the last packet of the low class, or of the high one when none is low; may be the arriving one",
        time_driven: false,
        // As in EFD, for both directions of a connection together.
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "efd", options: "count acked", bpf: false },
        params: &[threshold("bytes", "bytes of every sub-flow, either way, that go first (th)", 30_000.0), HIGH, LOW],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{drain, dropped, packet, queue};
    use crate::{Kind, Limit, Packet, Qdisc};

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
    fn acknowledgements_are_high_until_they_tell_of_the_threshold() {
        let mut efdack = queue("efdack", &[], Limit::Packets(300));
        enqueue(&mut efdack, &[ack(1, 0, 500_000), ack(1, 1, 529_999), ack(1, 2, 530_000), ack(1, 3, 530_000)]);
        assert_eq!(efdack.high_backlog(), Some(2), "29 999 bytes were moved before handle 1, 30 000 before handle 2");
        let mut efd = queue("efd", &[], Limit::Packets(300));
        enqueue(&mut efd, &[ack(1, 0, 500_000), ack(1, 1, 900_000)]);
        assert_eq!(efd.high_backlog(), Some(2), "80 bytes");
    }

    #[test]
    fn a_connection_of_which_nothing_waits_is_new_whatever_its_number() {
        let mut efdack = queue("efdack", &[], Limit::Packets(300));
        for n in 1..5 {
            enqueue(&mut efdack, &[ack(1, n, n * 100_000)]);
            assert_eq!((efdack.high_backlog(), efdack.flow_table_len()), (Some(1), 1));
            drain(&mut efdack, Time::ZERO);
            assert_eq!(efdack.flow_table_len(), 0);
        }
    }

    #[test]
    fn an_upload_and_a_download_of_the_same_speed_have_the_same_share_of_the_high_class() {
        let mut efdack = queue("efdack", &[], Limit::Packets(300));
        for n in 0..40 {
            enqueue(&mut efdack, &[data(1, n), ack(2, 100 + n, n * 1500)]);
        }
        assert_eq!(efdack.high_backlog(), Some(40), "20 each");
    }

    #[test]
    fn both_directions_make_one_subflow() {
        let mut efdack = queue("efdack", &["threshold=3000"], Limit::Packets(300));
        let back = Packet { kind: Kind::Data, ..packet(3, 1) };
        enqueue(&mut efdack, &[data(1, 0), back, data(1, 2)]);
        assert_eq!((efdack.high_backlog(), efdack.flow_table_len()), (Some(2), 1));
        efdack.dequeue(Time::ZERO);
        assert_eq!(efdack.flow_table_len(), 1, "the other direction waits");
    }

    #[test]
    fn udp_counts_its_own_bytes() {
        let mut efdack = queue("efdack", &["threshold=3000"], Limit::Packets(300));
        enqueue(&mut efdack, &[packet(2, 0), packet(2, 1), packet(2, 2)]);
        assert_eq!(efdack.high_backlog(), Some(2));
    }

    #[test]
    fn what_an_acknowledgement_told_stays_counted_when_it_is_pushed_out() {
        let mut efdack = queue("efdack", &["threshold=1000"], Limit::Packets(3));
        enqueue(&mut efdack, &[ack(1, 0, 0), ack(1, 1, 0), ack(1, 2, 5000), data(2, 3)]);
        assert_eq!(dropped(&efdack), [2]);
        efdack.dequeue(Time::ZERO);
        enqueue(&mut efdack, &[ack(1, 4, 5000)]);
        assert_eq!(drain(&mut efdack, Time::ZERO), [1, 3, 4], "handle 4 is low");
    }
}
