//! EFD counting bytes: short and slow flows go first, with state for waiting packets only. See [`crate::early_discard`].
//!
//! Cost per packet: O(1), two look-ups in a table no longer than the queue.
//! Source: Chen 2012, Algorithm 3 and 4.3; called BEFD in 6.2.1.

use crate::classes::{HIGH, LOW};
use crate::early_discard::{EarlyDiscard, threshold};
use crate::spec::{Family, Spec};
use crate::volume::{Bytes, Row};

/// Early flow discard by bytes.
pub type Efd = EarlyDiscard<ByBytes>;

/// The row of [`Efd`].
#[derive(Debug)]
pub enum ByBytes {}

impl Row for ByBytes {
    type Volume = Bytes;

    const SPEC: Spec = Spec {
        id: "efd",
        family: Family::SizeBased,
        about: "early flow discard: the first bytes of every fragment of a flow go first",
        source: "Chen 2012, Algorithm 3",
        when_full: "the last packet of the low class, or of the high one when none is low; may be the arriving one",
        time_driven: false,
        // Within a fragment high packets come before low ones and leave before them, and marks do not decrease; the
        // next fragment begins only when none waits.
        keeps_flow_order: true,
        params: &[
            threshold("bytes", "bytes of every fragment that go first (th): 20 full packets", 30_000.0),
            HIGH,
            LOW,
        ],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::trial::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet};

    #[test]
    fn the_first_20_full_packets_of_a_fragment_are_high() {
        let mut efd = queue("efd", &[], Limit::Packets(300));
        arrive(&mut efd, &[1; 25], 0, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(20));
        arrive(&mut efd, &[2], 25, Time::ZERO);
        let order = drain(&mut efd, Time::ZERO);
        assert_eq!(order[20], 25, "behind the high packets, before the low ones");
    }

    #[test]
    fn a_flow_is_new_again_once_none_of_its_packets_waits() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(300));
        arrive(&mut efd, &[1, 1], 0, Time::ZERO);
        assert_eq!((efd.high_backlog(), efd.flow_table_len()), (Some(1), 1));
        efd.dequeue(Time::ZERO);
        arrive(&mut efd, &[1], 2, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(0), "the fragment goes on while packet 1 waits");
        drain(&mut efd, Time::ZERO);
        assert_eq!(efd.flow_table_len(), 0);
        arrive(&mut efd, &[1], 3, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(1));
    }

    #[test]
    fn a_high_packet_pushes_out_the_last_low_one() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(3));
        arrive(&mut efd, &[1, 1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&efd), [2]);
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 3, 1]);
    }

    #[test]
    fn a_low_packet_is_dropped_when_the_buffer_is_full() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut efd, &[1, 1], 0, Time::ZERO);
        assert_eq!(efd.enqueue(packet(1, 2), Time::ZERO), Fate::Dropped(DropReason::Full));
    }

    #[test]
    fn a_high_packet_is_dropped_when_only_high_ones_wait_and_leaves_no_entry() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut efd, &[1, 2], 0, Time::ZERO);
        assert_eq!(efd.enqueue(packet(3, 2), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(efd.flow_table_len(), 2);
    }

    #[test]
    fn the_entry_of_a_victim_goes_with_its_last_packet() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut efd, &[1, 1], 0, Time::ZERO);
        efd.dequeue(Time::ZERO);
        arrive(&mut efd, &[2, 3], 2, Time::ZERO);
        assert_eq!(dropped(&efd), [1]);
        assert_eq!(efd.flow_table_len(), 2);
        drain(&mut efd, Time::ZERO);
        arrive(&mut efd, &[1], 4, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(1), "flow 1 is new again");
    }

    #[test]
    fn with_a_byte_limit_as_many_low_tails_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut efd = queue("efd", &["threshold=1000"], Limit::Bytes(4000));
        for handle in 0..4 {
            efd.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        efd.enqueue(sized(2, 4, 3001), Time::ZERO);
        assert_eq!(dropped(&efd), [4], "1000 high bytes stay, so 3001 never fit");
        efd.enqueue(sized(2, 5, 1500), Time::ZERO);
        assert_eq!(dropped(&efd), [3, 2]);
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 5, 1]);
    }

    /// Two fragments: of flow 1 the first two packets are high, of flow 2 all three, being short.
    fn two_fragments(options: &[&str], limit: u32) -> crate::Qdisc {
        let mut efd = queue("efd", options, Limit::Packets(limit));
        arrive(&mut efd, &[1, 1, 1, 1], 0, Time::ZERO);
        for handle in 10..13 {
            efd.enqueue(Packet { len: 500, ..packet(2, handle) }, Time::ZERO);
        }
        efd
    }

    #[test]
    fn each_class_is_in_order_of_arrival_or_of_volume() {
        let order = |options: &[&str]| {
            let mut efd = two_fragments(options, 300);
            efd.enqueue(packet(2, 13), Time::ZERO);
            efd.enqueue(packet(1, 4), Time::ZERO);
            efd.enqueue(packet(2, 14), Time::ZERO);
            drain(&mut efd, Time::ZERO)
        };
        // Volumes before them in kB: 0 1.5 | 3 4.5 6 of flow 1; 0 0.5 1 1.5 | 3 of flow 2, handle 14 the last.
        let (threshold, high, low) = ("threshold=2000", "high=las", "low=las");
        assert_eq!(order(&[threshold]), [0, 1, 10, 11, 12, 13, 2, 3, 4, 14]);
        assert_eq!(order(&[threshold, high]), [0, 10, 11, 12, 1, 13, 2, 3, 4, 14]);
        assert_eq!(order(&[threshold, low]), [0, 1, 10, 11, 12, 13, 2, 14, 3, 4]);
        assert_eq!(order(&[threshold, high, low]), [0, 10, 11, 12, 1, 13, 2, 14, 3, 4]);
    }

    #[test]
    fn a_low_packet_of_less_volume_pushes_out_the_low_one_of_most() {
        let mut efd = two_fragments(&["threshold=1000", "low=las"], 7);
        assert_eq!(efd.enqueue(packet(2, 13), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&efd), [3], "4.5 kB before it, 1.5 kB before the arriving one");
        assert_eq!(efd.enqueue(packet(1, 4), Time::ZERO), Fate::Dropped(DropReason::Full), "again 4.5 kB before it");
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 10, 11, 12, 1, 13, 2]);
    }

    #[test]
    fn the_volume_of_a_packet_pushed_out_is_taken_back() {
        let mut efd = two_fragments(&["threshold=1000", "low=las"], 7);
        assert_eq!(efd.enqueue(packet(3, 20), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&efd), [3]);
        efd.dequeue(Time::ZERO);
        assert_eq!(efd.enqueue(packet(1, 4), Time::ZERO), Fate::Queued);
        assert_eq!(efd.enqueue(packet(4, 30), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&efd), [4]);
        efd.dequeue(Time::ZERO);
        efd.enqueue(packet(1, 5), Time::ZERO);
        efd.enqueue(Packet { len: 500, ..packet(2, 14) }, Time::ZERO);
        assert_eq!(dropped(&efd), [5], "4.5 kB before it: neither 3 nor 4 counts");
    }

    #[test]
    fn a_high_packet_pushes_out_one_of_more_volume_only_where_the_class_is_sorted() {
        for (high, expected) in [("high=fifo", 20), ("high=las", 3)] {
            let mut efd = two_fragments(&[high], 7);
            efd.enqueue(packet(3, 20), Time::ZERO);
            assert_eq!(dropped(&efd), [expected], "{high}");
        }
    }

    #[test]
    fn with_a_byte_limit_sorted_classes_lose_as_many_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut efd = queue("efd", &["threshold=2000", "high=las", "low=las"], Limit::Bytes(4000));
        for handle in 0..4 {
            efd.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        efd.enqueue(sized(2, 4, 3001), Time::ZERO);
        assert_eq!(dropped(&efd), [4], "1000 bytes of its own rank stay, so 3001 never fit");
        efd.enqueue(sized(2, 5, 2500), Time::ZERO);
        assert_eq!(dropped(&efd), [3, 2, 1], "the low class, then the high one");
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 5]);
    }
}
