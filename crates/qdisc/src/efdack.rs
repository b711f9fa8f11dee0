//! EFD counting both directions of a connection: an acknowledgement weighs what it acknowledges. See
//! [`crate::early_discard`] and [`crate::volume`].
//!
//! Principle: as EFD, but a fragment is of a connection, and the virtual size of an acknowledgement is the advance of
//! its number over the highest before it in the fragment. The first one of a fragment has size zero: without state
//! for a flow of which nothing waits nobody knows where the advance began. The whole number instead, however slowly
//! the connection moves, would put every later fragment of it into the low class, and the fragment would not be fresh.
//! Cost per packet: O(1), two look-ups in a table no longer than the queue. Source: Chen 2012, 6.2.1.

use crate::classes::{HIGH, LOW};
use crate::early_discard::{EarlyDiscard, threshold};
use crate::spec::{Family, Spec};
use crate::volume::{Connection, Row};

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
        params: &[threshold("bytes", "bytes of every fragment, either way, that go first (th)", 30_000.0), HIGH, LOW],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::trial::{drain, dropped, packet, queue};
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
    fn both_directions_make_one_fragment() {
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
