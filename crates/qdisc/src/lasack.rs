//! LAS by the bytes of both directions of a connection: an acknowledgement ranks by the bytes it acknowledges. See
//! [`crate::las`] and [`crate::volume`].
//!
//! Cost per packet: two look-ups and one insertion into a sorted queue; one entry per connection seen in the last half
//! minute. Source: Urvoy-Keller 2007, 3.1; Chen 2012, 6.2.1.

use crate::flow_table::{TIMEOUT, VISIT};
use crate::las::LeastAttained;
use crate::spec::{Family, Spec};
use crate::volume::{Connection, Row};

/// Least attained service of a connection, acknowledged bytes included.
pub type LasAck = LeastAttained<ByConnection>;

/// The row of [`LasAck`].
#[derive(Debug)]
pub enum ByConnection {}

impl Row for ByConnection {
    type Volume = Connection<true>;

    const SPEC: Spec = Spec {
        id: "lasack",
        family: Family::SizeBased,
        about: "least attained service of both directions: an acknowledgement counts as what it acknowledges",
        source: "Urvoy-Keller 2007",
        when_full: "the packet whose connection has moved most, last of its class; may be the arriving one",
        time_driven: false,
        // As in LAS: stamps of a connection never decrease.
        keeps_flow_order: true,
        params: &[VISIT, TIMEOUT],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::trial::{drain, dropped, packet, queue};
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
    fn an_acknowledgement_waits_as_data_that_its_connection_had_sent_would() {
        let packets = [data(1, 0), data(1, 1), data(1, 2), ack(2, 3, 2000), ack(3, 4, 0), ack(3, 5, 3000)];
        let order = |id| {
            let mut queue = queue(id, &[], Limit::Packets(100));
            enqueue(&mut queue, &packets);
            drain(&mut queue, Time::ZERO)
        };
        // Stamps of the data: 0, 1500, 3000; of the acknowledgements: 2000, 0, 3000.
        assert_eq!(order("lasack"), [0, 4, 1, 3, 2, 5]);
        assert_eq!(order("las"), [0, 3, 4, 5, 1, 2]);
    }

    #[test]
    fn an_upload_and_a_download_of_the_same_volume_take_turns() {
        let mut lasack = queue("lasack", &[], Limit::Packets(100));
        for n in 0..5 {
            enqueue(&mut lasack, &[ack(2, 10 + n, n * 1500), data(1, n)]);
        }
        assert_eq!(drain(&mut lasack, Time::ZERO), [10, 0, 11, 1, 12, 2, 13, 3, 14, 4]);
    }

    #[test]
    fn the_whole_number_counts_after_the_connection_was_forgotten() {
        let mut lasack = queue("lasack", &["timeout=1"], Limit::Packets(100));
        enqueue(&mut lasack, &[ack(1, 0, 50_000), data(2, 1), data(2, 2)]);
        drain(&mut lasack, Time::ZERO);
        let later = Time::from_millis(60_000);
        for packet in [ack(1, 3, 50_000), data(2, 4), data(2, 5)] {
            lasack.enqueue(packet, later);
        }
        assert_eq!(drain(&mut lasack, later), [4, 5, 3], "of the data nobody knows any more");
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_connection_that_moved_most() {
        let mut lasack = queue("lasack", &[], Limit::Packets(3));
        enqueue(&mut lasack, &[data(1, 0), data(1, 1), ack(2, 2, 9000), data(3, 3)]);
        assert_eq!(dropped(&lasack), [2]);
        assert_eq!(lasack.enqueue(ack(2, 4, 9000), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(lasack.enqueue(ack(4, 5, 1499), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&lasack), [1]);
        assert_eq!(drain(&mut lasack, Time::ZERO), [0, 3, 5]);
    }

    #[test]
    fn both_directions_share_one_entry() {
        let mut lasack = queue("lasack", &[], Limit::Packets(100));
        enqueue(&mut lasack, &[data(1, 0), Packet { kind: Kind::Data, ..packet(3, 1) }, ack(1, 2, 0)]);
        assert_eq!(lasack.flow_table_len(), 1);
        enqueue(&mut lasack, &[data(2, 3), ack(3, 4, 2000)]);
        assert_eq!(drain(&mut lasack, Time::ZERO), [0, 3, 1, 4, 2]);
    }
}
