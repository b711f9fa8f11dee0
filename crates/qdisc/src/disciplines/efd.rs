//! # EFD
//!
//! **Idea.** Early flow discard keeps a flow in its table only while a packet of that flow waits. This divides a connection into *sub-flows*. A
//! packet is *high* while its sub-flow counts less than `threshold`, *low* afterwards; high packets have strict priority and each class is
//! served in order of arrival. Flows that are short, and flows that are slow enough not to stay backlogged, remain high.
//!
//! `efd` counts bytes (BEFD in Chen 2012, 6.2.1); [`pefd`](pefd.md) counts packets and [`efdack`](efdack.md) the bytes of both directions of a
//! connection. All three are the same but for what they count.
//!
//! **Variants.** With `high=las` or `low=las` the packets of that class go in ascending order of the volume their sub-flow had before them,
//! first come first among equals. EFD assigns the volume, LAS sorts by it (Chen 2012, 6.5.1). Chen 2012 finds that this gains little: `las` in the high
//! class lengthens the response time of short flows, whose sizes vary little there; in the low class the gain is small.
//!
//! **Scope and limits.**
//! - The table is never longer than the queue and needs no garbage collection.
//! - The counter of a sub-flow counts what *entered* the queue, its first packet included. Algorithm 3, line 19, reads "bytes already served",
//!   and lines 12 and 15 do not update the entry they created; counting departures would let a burst of any length pass as high, while 4.5.3
//!   has the first $th$ of each sub-flow high and the rest low.
//! - A packet that is pushed out is taken off the count: its flow was not served. With classes in order of arrival this makes no difference, since
//!   the victim was low and its sub-flow stays past the threshold.
//! - An arriving packet that is dropped leaves no entry. Algorithm 3 creates one at line 4, which goes again when the packet leaves by dropping
//!   (lines 46 to 49).
//! - Packets of one flow keep their order: in a sub-flow high packets come before low ones, volumes do not decrease, and a new sub-flow begins
//!   only when none waits.
//! - The first 20 packets of 1500 bytes of each sub-flow are high, but the first 750 acknowledgements of 40 bytes. An upload that shares the
//!   queue with downloads therefore stays high nearly all the time. In a wireless cell this starves the downloads (Chen 2012, 6.4): use
//!   [`efdack`](efdack.md) or [`pefd`](pefd.md) there.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `threshold` | $th$ | bytes | 30000 | what goes first of every sub-flow: 20 packets of 1500 bytes; fractions round up |
//! | `high` | | | `fifo` | order within the high class: `fifo`, of arrival, or `las`, least volume of the sub-flow before the packet |
//! | `low` | | | `fifo` | order within the low class, likewise |
//!
//! **When the buffer is full** the arriving packet gets its place, then the packet of lowest priority goes: the last one of the low class in
//! its order, or of the high class when none is low. So with classes in order of arrival a high packet pushes out the last low one, or is
//! dropped when only high ones wait, and a low one is dropped. With `las` a packet pushes out one of its own class whose volume is larger. With
//! a limit in bytes as many go as needed; when even those behind the arriving packet would not be enough, it alone is dropped. The entry of a
//! victim's flow goes with its last packet.
//!
//! **Cost.** O(1) per packet: two look-ups in a table no longer than the queue; with `las` one insertion into a sorted queue.
//!
//! **Validation.** Against a line-by-line transcription of Algorithm 3 on random traffic, decision by decision: class, fate, victim, order of
//! service, length of the table; the four variants against a reference that sorts everything at each step, in packets and bytes. Unit tests for
//! each branch. Conformance suite.
//!
//! **References.** Chen 2012, 4.3, Algorithm 3, 4.5; variants in 5.3.1 and 6.5.1.

use crate::parts::classes::{HIGH, LOW};
use crate::parts::early_discard::{EarlyDiscard, threshold};
use crate::parts::volume::{Bytes, Row};
use crate::spec::{Family, RunsOn, Spec};

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
        about: "early flow discard: the first bytes of every sub-flow of a flow go first",
        source: "Chen 2012, Algorithm 3",
        when_full: "the last packet of the low class, or of the high one when none is low; may be the arriving one",
        time_driven: false,
        // Within a sub-flow high packets come before low ones and leave before them, and marks do not decrease; the
        // next sub-flow begins only when none waits.
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "efd", options: "", bpf: true },
        params: &[
            threshold("bytes", "bytes of every sub-flow that go first (th): 20 full packets", 30_000.0),
            HIGH,
            LOW,
        ],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet};

    #[test]
    fn the_first_20_full_packets_of_a_subflow_are_high() {
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
        assert_eq!(efd.high_backlog(), Some(0), "the sub-flow goes on while packet 1 waits");
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

    /// Two sub-flows: of flow 1 the first two packets are high, of flow 2 all three, being short.
    fn two_subflows(options: &[&str], limit: u32) -> crate::Qdisc {
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
            let mut efd = two_subflows(options, 300);
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
        let mut efd = two_subflows(&["threshold=1000", "low=las"], 7);
        assert_eq!(efd.enqueue(packet(2, 13), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&efd), [3], "4.5 kB before it, 1.5 kB before the arriving one");
        assert_eq!(efd.enqueue(packet(1, 4), Time::ZERO), Fate::Dropped(DropReason::Full), "again 4.5 kB before it");
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 10, 11, 12, 1, 13, 2]);
    }

    #[test]
    fn the_volume_of_a_packet_pushed_out_is_taken_back() {
        let mut efd = two_subflows(&["threshold=1000", "low=las"], 7);
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
            let mut efd = two_subflows(&[high], 7);
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
