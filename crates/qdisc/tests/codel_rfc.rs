//! CoDel against traces whose decisions follow from the pseudo-code of RFC 8289, section 5, by hand.
//!
//! TARGET is 5 ms, INTERVAL 100 ms, MTU 1514 bytes; every packet has 1500 bytes. A row is a time in ns,
//! what happens then, and for a departure which packets must be dropped, which one sent, and whether
//! it must carry a mark.

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;

enum Step {
    /// The given number of packets arrives; handles are counted from 0 over the whole trace.
    Arrive(u64, Ecn),
    /// A packet is asked for: handles dropped, handle sent, whether it is marked.
    Depart(&'static [u64], Option<u64>, bool),
}

use Ecn::{Ce, Ect0, NotEct};
use Step::{Arrive, Depart};

/// The packet must be sent, nothing dropped.
const fn sends(handle: u64) -> Step {
    Depart(&[], Some(handle), false)
}

/// The packet must be marked and sent, nothing dropped.
const fn marks(handle: u64) -> Step {
    Depart(&[], Some(handle), true)
}

/// The packets must be dropped, then one sent.
const fn drops(dropped: &'static [u64], sent: u64) -> Step {
    Depart(dropped, Some(sent), false)
}

/// Runs `steps` on CoDel with `options`; hands out the queue.
fn run(options: &[(&str, &str)], steps: &[(u64, Step)]) -> Qdisc {
    let options: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut queue =
        Qdisc::from_options("codel", &options, Limit::Packets(1000), Stream::named(1, "codel")).expect("valid options");
    let mut arrived = 0;
    for (row, &(time, ref step)) in steps.iter().enumerate() {
        match *step {
            Arrive(packets, ecn) => {
                for _ in 0..packets {
                    assert_eq!(queue.enqueue(packet(arrived, ecn), Time(time)), Fate::Queued);
                    arrived += 1;
                }
            }
            Depart(dropped, sent, marked) => {
                let ce = queue.stats().marked;
                let packet = queue.dequeue(Time(time));
                let (found, reasons): (Vec<_>, Vec<_>) =
                    queue.dropped().iter().map(|&(p, why)| (p.handle, why)).unzip();
                let found = (&found[..], packet.map(|p| p.handle), queue.stats().marked > ce);
                assert_eq!(found, (dropped, sent, marked), "row {row}, at {} ms", time as f64 / 1e6);
                assert!(reasons.iter().all(|&why| why == DropReason::Early));
                assert!(!marked || packet.is_some_and(|p| p.ecn == Ce));
            }
        }
    }
    queue
}

fn packet(handle: u64, ecn: Ecn) -> Packet {
    Packet {
        flow: FlowKey(handle % 5 * 2),
        handle,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len: 1500,
        src: 0,
        dst: 0,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn,
    }
}

/// 5.6, `dodequeue`: a sojourn time of TARGET is not below TARGET; ok_to_drop from first_above_time on,
/// an INTERVAL later. 5.5, last branch: the packet is dropped and the next one sent. 5.6,
/// `control_law`: drop_next is INTERVAL / sqrt(count) later: 100, 70.710678, 57.735026, 50 and
/// 44.721359 ms for counts from 1 to 5, fractions of a nanosecond cut off.
#[test]
fn drops_come_an_interval_after_the_target_was_exceeded_and_then_ever_closer() {
    run(
        &[],
        &[
            (0, Arrive(100, NotEct)),
            (5 * MS - 1, sends(0)),
            (5 * MS, sends(1)), // first_above_time_ = 105 ms
            (105 * MS - 1, sends(2)),
            (105 * MS, drops(&[3], 4)), // count_ = 1
            (205 * MS - 1, sends(5)),
            (205 * MS, drops(&[6], 7)), // count_ = 2
            (275_710_677, sends(8)),
            (275_710_678, drops(&[9], 10)), // count_ = 3
            (333_445_703, sends(11)),
            (333_445_704, drops(&[12], 13)), // count_ = 4
            (383_445_703, sends(14)),
            (383_445_704, drops(&[15], 16)), // count_ = 5
            (428_167_062, sends(17)),
            (428_167_063, drops(&[18], 19)), // count_ = 6
        ],
    );
}

/// The same trace with a target of 10 ms and an interval of 50 ms.
#[test]
fn target_and_interval_are_options() {
    run(
        &[("target", "0.01"), ("interval", "0.05")],
        &[
            (0, Arrive(100, NotEct)),
            (10 * MS - 1, sends(0)),
            (10 * MS, sends(1)),
            (60 * MS - 1, sends(2)),
            (60 * MS, drops(&[3], 4)),
            (110 * MS - 1, sends(5)),
            (110 * MS, drops(&[6], 7)),
            (145_355_338, sends(8)),
            (145_355_339, drops(&[9], 10)),
        ],
    );
}

/// 5.5: "a large backlog might result in drop rates so high that the next drop should happen now,
/// hence the 'while' loop". Due by 405 ms: 205, 275.7, 333.4 and 383.4 ms; then 428.2 ms.
#[test]
fn a_late_departure_makes_up_for_all_drops_that_were_due() {
    run(
        &[],
        &[
            (0, Arrive(100, NotEct)),
            (5 * MS, sends(0)),
            (105 * MS, drops(&[1], 2)),
            (405 * MS, drops(&[3, 4, 5, 6], 7)),
            (428_167_062, sends(8)),
            (428_167_063, drops(&[9], 10)),
        ],
    );
}

/// 5.6: one sojourn time below TARGET sets first_above_time_ to 0, and a whole INTERVAL starts again.
#[test]
fn one_packet_below_the_target_starts_the_interval_again() {
    run(
        &[],
        &[
            (0, Arrive(2, NotEct)),
            (5 * MS, Arrive(50, NotEct)),
            (6 * MS, sends(0)),  // first_above_time_ = 106 ms
            (7 * MS, sends(1)),  // sojourn time 7 ms
            (8 * MS, sends(2)),  // sojourn time 3 ms: first_above_time_ = 0
            (10 * MS, sends(3)), // first_above_time_ = 110 ms
            (106 * MS, sends(4)),
            (110 * MS - 1, sends(5)),
            (110 * MS, drops(&[6], 7)),
        ],
    );
}

/// 5.5: in drop state a packet that may not be dropped ends it, also one that the loop comes to.
#[test]
fn drop_state_ends_with_a_packet_below_the_target() {
    run(
        &[],
        &[
            (0, Arrive(4, NotEct)),
            (5 * MS, sends(0)),
            (105 * MS, drops(&[1], 2)), // drop_next_ = 205 ms
            (110 * MS, Arrive(50, NotEct)),
            (112 * MS, sends(3)),
            (113 * MS, sends(4)), // sojourn time 3 ms: out of drop state
            (205 * MS, sends(5)), // first_above_time_ = 305 ms
            (305 * MS - 1, sends(6)),
            (305 * MS, drops(&[7], 8)),
        ],
    );
    run(
        &[],
        &[
            (0, Arrive(5, NotEct)),
            (5 * MS, sends(0)), // first_above_time_ = 105 ms
            (105 * MS, drops(&[1], 2)),
            (300 * MS, Arrive(50, NotEct)),
            // Due at 205 and 275.7 ms, but after 3 and 4 comes a packet that has waited for 2 ms.
            (302 * MS, drops(&[3, 4], 5)),
            // Out of drop state, with a new interval from 305 ms.
            (305 * MS, sends(6)),
            (405 * MS - 1, sends(7)),
            (405 * MS, drops(&[8], 9)),
        ],
    );
}

/// A drop state of five drops: count_ is 5 in the end and lastcount_ 1, drop_next_ 428 167 063 ns. It
/// ends with packet 17, and nothing is left.
const EPISODE: [(u64, Step); 17] = [
    (0, Arrive(17, NotEct)),
    (5 * MS, sends(0)),
    (105 * MS, drops(&[1], 2)),
    (205 * MS, drops(&[3], 4)),
    (275_710_678, drops(&[5], 6)),
    (333_445_704, drops(&[7], 8)),
    (383_445_704, drops(&[9], 10)),
    (384 * MS, sends(11)),
    (384 * MS, Arrive(3, NotEct)),
    (385 * MS, sends(12)),
    (385 * MS, sends(13)),
    (385 * MS, sends(14)),
    (385 * MS, sends(15)),
    (385 * MS, sends(16)),
    (385 * MS, sends(17)),
    (385 * MS, sends(18)),
    (385 * MS, sends(19)),
];

fn after_the_episode(steps: impl IntoIterator<Item = (u64, Step)>) {
    run(&[], &EPISODE.into_iter().chain(steps).collect::<Vec<_>>());
}

/// 5.5: "delta = count_ - lastcount_ [...] if ((delta > 1) && (now - drop_next_ < 16*INTERVAL))
/// count_ = delta": 4 here, so the drop after the first comes after INTERVAL / 2.
#[test]
fn a_queue_that_gets_worse_again_soon_goes_on_where_it_was() {
    after_the_episode([
        (400 * MS, Arrive(50, NotEct)),
        (500 * MS, sends(20)),
        (600 * MS, drops(&[21], 22)), // count_ = lastcount_ = 4
        (650 * MS - 1, sends(23)),
        (650 * MS, drops(&[24], 25)), // count_ = 5: next at 694 721 359 ns
        (694_721_358, sends(26)),
        (694_721_359, drops(&[27], 28)), // count_ = 6: next at 735 546 188 ns
        (735_546_187, sends(29)),
        (735_546_188, drops(&[30], 31)), // count_ = 7
    ]);
}

/// The same twice: delta is what the last drop state added, not all that was counted.
#[test]
fn only_the_drops_of_the_last_drop_state_are_remembered() {
    after_the_episode([
        (400 * MS, Arrive(10, NotEct)),
        (500 * MS, sends(20)),
        (600 * MS, drops(&[21], 22)),    // count_ = lastcount_ = 4
        (650 * MS, drops(&[23], 24)),    // count_ = 5
        (694_721_359, drops(&[25], 26)), // count_ = 6
        (695 * MS, sends(27)),
        (695 * MS, sends(28)), // 1500 bytes are left: out of drop state
        (695 * MS, sends(29)),
        (700 * MS, Arrive(50, NotEct)),
        (800 * MS, sends(30)),
        (900 * MS, drops(&[31], 32)), // count_ = 6 - 4
        (970_710_677, sends(33)),
        (970_710_678, drops(&[34], 35)),
    ]);
}

/// The boundary of `now - drop_next_ < 16*INTERVAL`: drop_next_ stayed at 428 167 063 ns.
#[test]
fn after_sixteen_intervals_the_count_begins_at_one() {
    const BOUNDARY: u64 = 428_167_063 + 1600 * MS;
    let second_drop = |begin: u64, after: u64| {
        [
            (1800 * MS, Arrive(50, NotEct)),
            (1900 * MS, sends(20)),
            (begin, drops(&[21], 22)),
            (begin + after - 1, sends(23)),
            (begin + after, drops(&[24], 25)),
        ]
    };
    after_the_episode(second_drop(BOUNDARY - 1, 50 * MS)); // count_ = 4
    after_the_episode(second_drop(BOUNDARY, 100 * MS)); // count_ = 1
}

/// `delta > 1`: a drop state of one or two drops leaves nothing behind.
#[test]
fn two_drops_are_not_remembered() {
    run(
        &[],
        &[
            (0, Arrive(9, NotEct)),
            (5 * MS, sends(0)),
            (105 * MS, drops(&[1], 2)),
            (205 * MS, drops(&[3], 4)), // count_ = 2, lastcount_ = 1
            (206 * MS, sends(5)),
            (206 * MS, sends(6)),
            (206 * MS, sends(7)),
            (206 * MS, sends(8)),
            (210 * MS, Arrive(50, NotEct)),
            (215 * MS, sends(9)),
            (315 * MS, drops(&[10], 11)), // count_ = 1
            (415 * MS - 1, sends(12)),
            (415 * MS, drops(&[13], 14)),
        ],
    );
}

/// 5.6: "bytes() <= MTU", what is left behind the packet: with one full packet behind it nothing is
/// dropped, however late; with two it is.
#[test]
fn the_last_packets_are_never_dropped() {
    run(
        &[],
        &[
            (0, Arrive(4, NotEct)),
            (5 * MS, sends(0)),
            (105 * MS, drops(&[1], 2)), // 3000 bytes were left behind packet 1
            (10_000 * MS, sends(3)),
            (10_000 * MS, Depart(&[], None, false)),
        ],
    );
    run(
        &[("mtu", "3000")],
        &[(0, Arrive(4, NotEct)), (5 * MS, sends(0)), (105 * MS, sends(1)), (205 * MS, sends(2)), (305 * MS, sends(3))],
    );
}

/// The loop of 5.5 stops where MTU bytes are left, whatever is due.
#[test]
fn the_loop_stops_at_one_packet_behind() {
    run(
        &[],
        &[
            (0, Arrive(10, NotEct)),
            (5 * MS, sends(0)),
            (105 * MS, drops(&[1], 2)),
            (100_000 * MS, drops(&[3, 4, 5, 6, 7], 8)),
            (100_000 * MS, sends(9)),
        ],
    );
}

/// 5.6: "queue is empty - we can't be above TARGET".
#[test]
fn an_empty_queue_starts_the_interval_again() {
    run(
        &[],
        &[
            (0, Arrive(3, NotEct)),
            (5 * MS, sends(0)), // first_above_time_ = 105 ms
            (6 * MS, sends(1)),
            (6 * MS, sends(2)),
            (6 * MS, Depart(&[], None, false)),
            (10 * MS, Arrive(50, NotEct)),
            (105 * MS, sends(3)), // first_above_time_ = 205 ms
            (205 * MS - 1, sends(4)),
            (205 * MS, drops(&[5], 6)),
        ],
    );
}

/// RFC 8290, 5.2.6: marks come in place of drops, at the same times. The packet itself is sent, so a
/// departure marks one packet even if more are due.
#[test]
fn packets_of_capable_transports_are_marked_instead() {
    let queue = run(
        &[],
        &[
            (0, Arrive(100, Ect0)),
            (5 * MS, sends(0)),
            (105 * MS - 1, sends(1)),
            (105 * MS, marks(2)), // count_ = 1
            (205 * MS - 1, sends(3)),
            (205 * MS, marks(4)), // count_ = 2
            (275_710_677, sends(5)),
            (275_710_678, marks(6)), // count_ = 3
            (405 * MS, marks(7)),    // due at 333.4 ms
            (405 * MS, marks(8)),    // due at 383.4 ms
            (405 * MS, sends(9)),
        ],
    );
    assert_eq!((queue.stats().marked, queue.stats().dropped()), (5, 0));
}

/// In place of a dropped packet the next one is sent, unmarked: it is not the one that was chosen.
#[test]
fn other_packets_are_dropped_among_marked_ones() {
    run(
        &[],
        &[
            (0, Arrive(2, NotEct)),
            (0, Arrive(2, Ect0)),
            (0, Arrive(50, NotEct)),
            (5 * MS, sends(0)),
            (105 * MS, drops(&[1], 2)),
            (205 * MS, marks(3)),
            (275_710_678, drops(&[4], 5)),
        ],
    );
}

/// RFC 3168, section 5: a mark that is there stays, and stands for the signal.
#[test]
fn a_packet_that_carries_the_mark_counts_as_marked() {
    run(
        &[],
        &[
            (0, Arrive(50, Ce)),
            (5 * MS, sends(0)),
            (105 * MS, sends(1)), // count_ = 1
            (205 * MS, sends(2)), // count_ = 2
        ],
    );
}

#[test]
fn with_ecn_off_all_packets_are_dropped() {
    run(
        &[("ecn", "off")],
        &[(0, Arrive(50, Ect0)), (5 * MS, sends(0)), (105 * MS, drops(&[1], 2)), (205 * MS, drops(&[3], 4))],
    );
}

/// 5.4: packets are only stamped on arrival; the buffer limit is a tail drop.
#[test]
fn a_full_buffer_drops_the_arriving_packet() {
    let mut queue = Qdisc::from_options("codel", &[], Limit::Packets(2), Stream::named(1, "codel")).expect("defaults");
    for handle in 0..2 {
        assert_eq!(queue.enqueue(packet(handle, NotEct), Time::ZERO), Fate::Queued);
    }
    assert_eq!(queue.enqueue(packet(2, Ect0), Time::ZERO), Fate::Dropped(DropReason::Full));
    assert_eq!(queue.stats().marked, 0);
}
