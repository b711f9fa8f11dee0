//! What a discipline says it holds for flows is what the allocator sees.

use qdisc::disciplines;

use crate::heap::{FEW, PACKETS, empty, filled};

/// Options and names; the buffers of a queue are allocated with its first packet.
const SMALL: usize = 4096;

#[test]
fn tables_that_are_there_from_the_beginning_are_stated() {
    for spec in disciplines::specs() {
        let held = empty(spec.id);
        assert!((held.for_flows..held.for_flows + SMALL).contains(&held.bytes), "{}: {held:?}", spec.id);
    }
}

/// Both buffers hold as many packets, so what one holds beyond the other is for flows. Lists of packets grow
/// by doubling, and two classes may split the packets differently: that is up to a third of what `fifo`
/// holds for the same packets, 35 bytes for each of the flows.
#[test]
fn memory_for_flows_is_stated() {
    let allowed = filled("fifo", FEW).rest() / 3.0;
    assert!(allowed / (PACKETS as f64) < 36.0, "{allowed}");
    for spec in disciplines::specs() {
        let (few, many) = (filled(spec.id, FEW), filled(spec.id, PACKETS));
        assert!((many.rest() - few.rest()).abs() < allowed, "{}: {few:?}, {many:?}", spec.id);
        assert_eq!(many.entries > 0, many.for_flows > 0, "{}: {many:?}", spec.id);
    }
}

/// A packet descriptor has 64 bytes, what it is sorted by 8; lists double.
#[test]
fn a_waiting_packet_takes_no_more_than_two_sorted_descriptors() {
    for spec in disciplines::specs() {
        let per_packet = (filled(spec.id, FEW).rest() - empty(spec.id).rest()) / PACKETS as f64;
        assert!((64.0..=2.0 * 72.0).contains(&per_packet), "{}: {per_packet} bytes", spec.id);
    }
}
