//! # LASACK
//!
//! **Idea.** [LAS](las.md) that counts what a connection moves in both directions. Under LAS an upload through an access point is served best
//! of all: its acknowledgements are short, so their flow has hardly any attained service and locks out the data of downloads. LASACK stamps an
//! acknowledgement with the bytes it acknowledges. An upload and a download of the same volume then take turns.
//!
//! **Attained service** is of the unordered pair of ends. It is the sum of
//! - the length of each packet that entered this queue, pure acknowledgements excepted, and
//! - the highest acknowledgement number seen, counted from the initial one.
//!
//! Data is stamped with the attained service before it, an acknowledgement with the attained service including what it acknowledges; its own 40
//! bytes do not count. For a pure upload that is the bytes acknowledged (and the 40 bytes of the SYN-ACK), for a pure download the bytes sent.
//! The smallest stamp is served, equal stamps leave in order of arrival.
//!
//! **Scope and limits.**
//! - Numbers are cumulative: a late or repeated acknowledgement is stamped as the highest one before it, and the next one makes up for those
//!   that were lost.
//! - One entry per connection, forgotten as in LAS. The bytes sent then count from zero again; those acknowledged do not, since the number
//!   tells the whole.
//! - Where one queue carries both directions, data is counted once: acknowledgements of a direction whose data is seen here tell nothing.
//! - UDP carries no information about the other direction: only the bytes that pass here count. (Both directions of a UDP stream that did pass through
//!   one queue would be counted together, as TCP data is.)
//! - What an acknowledgement told stays counted when it is pushed out: it was moved all the same. Data pushed out is taken off, as in LAS.
//! - Data segments carry an acknowledgement too; the descriptor of a packet has one number, the sequence number then. So bytes that are
//!   acknowledged by data only do not count.
//! - Packets of one flow keep their order: stamps of a connection never decrease.
//! - Lock-outs are those of LAS. [`lars`](lars.md) with `count=acknowledged` bounds them.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `visit` | | s | 5 | interval at which idle connections are looked for (Chen 2012, 4.6.1) |
//! | `timeout` | | s | 30 | idle time after which a connection is forgotten (Chen 2012, 4.6.1) |
//!
//! **When the buffer is full**, as LAS: the arriving packet gets its stamp, then the packet of largest stamp is dropped, the last one among
//! equals; possibly the arriving one.
//!
//! **Cost.** As LAS.
//!
//! **Validation.** Unit tests on stamps, turns of an upload and a download, lost, late and forged numbers, push-out. Exact order and drops
//! against a reference that sorts everything at each step and recounts every volume from the packets. Conformance suite.
//!
//! **In the kernel.** [`sch_las`](../kernel/sch_las.md) with `count acked`.
//!
//! **References.** Urvoy-Keller 2007, 3.1. Chen 2012, 6.2.

use crate::parts::flow_table::{TIMEOUT, VISIT};
use crate::parts::least_attained::LeastAttained;
use crate::parts::volume::{Connection, Row};
use crate::spec::{Family, RunsOn, Spec};

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
        runs_on: RunsOn::Module { qdisc: "las", options: "count acked", bpf: false },
        params: &[VISIT, TIMEOUT],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{drain, dropped, packet, queue};
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
