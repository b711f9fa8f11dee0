//! FQ-CoDel against traces whose decisions follow from RFC 8290, section 4, by hand.
//!
//! Unless a trace says otherwise a packet has 1500 bytes, the quantum is 1500 bytes and flows do not
//! collide: there are 65 536 queues, and each trace checks how many are in use. Packet `7` of flow `2`
//! is written 207.

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;

struct Trace {
    queue: Qdisc,
    now: Time,
    arrived: [u64; 10],
}

impl Trace {
    fn of(options: &[(&str, &str)], limit: Limit) -> Trace {
        let apart = [("flows", "65536"), ("quantum", "1500"), ("rules", "rfc")];
        let options: Vec<_> =
            apart.iter().chain(options).map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let queue =
            Qdisc::from_options("fq_codel", &options, limit, Stream::named(1, "fq_codel")).expect("valid options");
        Trace { queue, now: Time::ZERO, arrived: [0; 10] }
    }

    fn at(&mut self, ns: u64) -> &mut Trace {
        self.now = Time(ns);
        self
    }

    fn packet(&mut self, flow: u64, len: u32, ecn: Ecn) -> Packet {
        let count = &mut self.arrived[flow as usize];
        *count += 1;
        let handle = flow * 100 + *count - 1;
        let (flow, arrival) = (FlowKey(flow * 2), Time::ZERO);
        Packet {
            flow,
            handle,
            progress: 0,
            remaining: 0,
            arrival,
            len,
            src: 0,
            dst: 0,
            options: 0,
            mark: 0,
            kind: Kind::Udp,
            ecn,
        }
    }

    fn arrives_with(&mut self, flow: u64, len: u32, ecn: Ecn) -> Fate {
        let packet = self.packet(flow, len, ecn);
        self.queue.enqueue(packet, self.now)
    }

    /// Packets of these flows arrive.
    fn arrive(&mut self, flows: &[u64]) -> &mut Trace {
        for &flow in flows {
            assert_eq!(self.arrives_with(flow, 1500, Ecn::NotEct), Fate::Queued);
        }
        self
    }

    /// The next packets sent are these and no other, and none is dropped.
    fn sends(&mut self, handles: &[u64]) -> &mut Trace {
        for (n, &handle) in handles.iter().enumerate() {
            let sent = self.queue.dequeue(self.now).map(|packet| packet.handle);
            assert_eq!((sent, self.dropped()), (Some(handle), vec![]), "packet {n} of {handles:?}, at {:?}", self.now);
        }
        self
    }

    fn is_empty(&mut self) {
        assert_eq!(self.queue.dequeue(self.now), None);
        assert_eq!(self.queue.flow_table_len(), 0, "the last queues are removed from the lists");
    }

    fn dropped(&self) -> Vec<u64> {
        self.queue.dropped().iter().map(|(packet, _)| packet.handle).collect()
    }

    fn queues(&mut self, number: usize) -> &mut Trace {
        assert_eq!(self.queue.flow_table_len(), number);
        self
    }
}

fn trace() -> Trace {
    Trace::of(&[], Limit::Packets(1000))
}

/// 4.2: "the scheduler first looks at the list of new queues". Queues 1 to 3 have sent a quantum each;
/// the first of them is in its second turn when flow 4 comes.
#[test]
fn a_queue_that_becomes_active_goes_before_the_old_ones() {
    let mut trace = trace();
    trace.arrive(&[1, 2, 3, 1, 2, 3, 1, 2, 3]).sends(&[100, 200, 300, 101]);
    trace.arrive(&[4, 4]).queues(4).sends(&[400, 201, 301, 401, 102, 202, 302]).is_empty();
}

/// 4.1: a queue is added "to the end of the list of new queues": no priority among new ones.
#[test]
fn new_queues_are_served_in_the_order_they_became_active() {
    trace().arrive(&[1, 2, 3, 1, 2, 3]).queues(3).sends(&[100, 200, 300, 101, 201, 301]).is_empty();
}

/// 4.1: "its number of credits is initiated to the configured quantum"; 4.2: it is served while it has
/// not sent a quantum. 600-byte packets: 1500, 900, 300, -300, so three in its first turn.
#[test]
fn a_new_queue_sends_up_to_a_quantum_and_the_packet_that_exceeds_it() {
    let mut trace = trace();
    (0..5).for_each(|_| assert_eq!(trace.arrives_with(1, 600, Ecn::NotEct), Fate::Queued));
    // Flow 1: -300 after the third; 1200, 600 and 0 after a quantum for its second turn.
    trace.arrive(&[2, 2]).queues(2).sends(&[100, 101, 102, 200, 103, 104, 201]).is_empty();
}

/// 4.2: what a queue sent in excess of its credits it has less in its next turn. Flow 1, 1000 bytes a
/// packet: 500, -500 | 0 | 500, -500 | 0 and so on, two packets and one, against one of 1500 bytes.
#[test]
fn credits_carry_over_from_turn_to_turn() {
    let mut trace = trace();
    (0..9).for_each(|_| assert_eq!(trace.arrives_with(1, 1000, Ecn::NotEct), Fate::Queued));
    trace.arrive(&[2; 6]);
    let order = [100, 101, 200, 102, 201, 103, 104, 202, 105, 203, 106, 107, 204, 108, 205];
    trace.queues(2).sends(&order).is_empty();
}

/// 4.2: an empty queue from the list of new queues "is moved to the end of the list of old queues": a
/// flow that always sends just after its queue was found empty gets a turn per round and no more.
#[test]
fn a_queue_that_empties_is_not_new_again_at_once() {
    let mut trace = trace();
    trace.arrive(&[1, 1, 1, 1, 2]).queues(2).sends(&[100, 200]);
    // Queue 2 has used its quantum and is empty; it is behind queue 1 once that has been served.
    trace.arrive(&[2]).sends(&[101]).arrive(&[2]).sends(&[201, 102]);
    trace.sends(&[202, 103]).is_empty();
}

/// The same with credits left: the queue is selected, found empty and moved behind the old ones, so
/// that a packet that comes then waits for these.
#[test]
fn a_new_queue_found_empty_waits_for_the_old_ones() {
    let mut trace = trace();
    trace.arrive(&[1; 5]).sends(&[100, 101]);
    assert_eq!(trace.arrives_with(2, 100, Ecn::NotEct), Fate::Queued);
    trace.sends(&[200]);
    // Queue 2 is still first of the new ones, with credits: a packet in time is served at once.
    assert_eq!(trace.arrives_with(2, 100, Ecn::NotEct), Fate::Queued);
    trace.sends(&[201]);
    trace.sends(&[102]); // queue 2 was found empty and moved
    assert_eq!(trace.arrives_with(2, 100, Ecn::NotEct), Fate::Queued);
    trace.queues(2).sends(&[202, 103, 104]).is_empty();
}

/// 4.2: an empty queue from the list of old queues is removed "to be added back (as a new queue) the
/// next time a packet arrives".
#[test]
fn a_queue_found_empty_twice_is_new_again() {
    let mut trace = trace();
    trace.arrive(&[1; 6]).arrive(&[2]).sends(&[100, 200, 101]).queues(2);
    // Queue 2 is found empty among the old ones: removed.
    trace.sends(&[102, 103]).queues(1);
    trace.arrive(&[2]).queues(2).sends(&[201, 104, 105]).is_empty();
}

/// 4.1.1: flows are hashed onto queues, and those that collide are one queue.
#[test]
fn flows_that_collide_share_a_queue_in_order_of_arrival() {
    let mut trace = Trace::of(&[("flows", "1")], Limit::Packets(1000));
    trace.arrive(&[1, 1, 1]).sends(&[100]).arrive(&[2]).queues(1).sends(&[101, 102, 200]).is_empty();
}

/// 4.1: packets are dropped "from the head of the queue with the largest current byte count", until half
/// of it or a batch of 64 packets is gone. Here 100 packets of flow 1 against 10 of flow 2.
#[test]
fn a_full_buffer_halves_the_queue_with_most_bytes_from_its_head() {
    let mut trace = Trace::of(&[], Limit::Packets(90));
    trace.arrive(&[1; 80]).arrive(&[2; 10]).queues(2);
    trace.arrive(&[2]);
    assert_eq!(trace.dropped(), (100..140).collect::<Vec<_>>());
    assert!(trace.queue.dropped().iter().all(|&(_, why)| why == DropReason::PushedOut));
    assert_eq!(trace.queue.backlog(), 51);
    trace.sends(&[140, 200]);
}

/// Bytes count, not packets: 20 short packets of flow 1 against 5 long ones of flow 2.
#[test]
fn the_queue_with_most_bytes_is_not_the_one_with_most_packets() {
    let mut trace = Trace::of(&[], Limit::Packets(25));
    (0..20).for_each(|_| assert_eq!(trace.arrives_with(1, 100, Ecn::NotEct), Fate::Queued));
    trace.arrive(&[2; 5]).queues(2);
    assert_eq!(trace.arrives_with(1, 100, Ecn::NotEct), Fate::Queued);
    // Half of 7500 bytes are three packets.
    assert_eq!(trace.dropped(), [200, 201, 202]);
}

#[test]
fn a_batch_has_at_most_64_packets_or_as_many_as_the_option_says() {
    for (options, batch) in [(&[][..], 64), (&[("drop_batch", "10")][..], 10), (&[("drop_batch", "1")][..], 1)] {
        let mut trace = Trace::of(options, Limit::Packets(190));
        trace.arrive(&[2; 40]);
        for handle in 0..150 {
            let packet = Packet { handle, ..trace.packet(1, 1500, Ecn::NotEct) };
            assert_eq!(trace.queue.enqueue(packet, trace.now), Fate::Queued);
        }
        trace.arrive(&[2]);
        assert_eq!(trace.dropped(), (0..batch).collect::<Vec<_>>());
    }
}

/// 4.1: "in most cases" the packet that has just come is not among those dropped; here it is, alone in
/// the longest queue and all of it is needed.
#[test]
fn the_arriving_packet_may_be_the_one_to_go() {
    let mut trace = Trace::of(&[], Limit::Bytes(3000));
    trace.arrive(&[1]);
    assert_eq!(trace.arrives_with(2, 2900, Ecn::NotEct), Fate::Dropped(DropReason::Full));
    trace.queues(2).sends(&[100]).is_empty();
}

/// The RFC does not say which of two queues with most bytes it is: here that of the arriving packet.
#[test]
fn of_equal_queues_that_of_the_arriving_packet_loses() {
    let mut trace = Trace::of(&[], Limit::Packets(3));
    trace.arrive(&[1, 2, 3]).queues(3);
    for flow in [4, 5, 6, 7] {
        assert_eq!(trace.arrives_with(flow, 1500, Ecn::NotEct), Fate::Dropped(DropReason::Full));
    }
    assert_eq!(trace.arrives_with(2, 1500, Ecn::NotEct), Fate::Queued);
    assert_eq!(trace.dropped(), [200]);
    trace.sends(&[100, 201, 300]).is_empty();
}

/// With a limit in bytes a batch may not be enough. Here one packet each: 6000 bytes of flow 1, then 4500.
#[test]
fn batches_follow_until_the_packet_fits() {
    let mut trace = Trace::of(&[("drop_batch", "1")], Limit::Bytes(9000));
    trace.arrive(&[1, 1, 1, 1, 2, 2]).queues(2);
    assert_eq!(trace.arrives_with(3, 2900, Ecn::NotEct), Fate::Queued);
    assert_eq!(trace.dropped(), [100, 101]);
    trace.sends(&[102, 200, 300, 103, 201]).is_empty();
}

/// 4.2: "the CoDel algorithm is invoked on that queue", with the state of that queue: the bulk flow is
/// above the target for an interval, the sparse one is not.
#[test]
fn codel_drops_from_the_queue_that_is_too_long_only() {
    let mut trace = trace();
    trace.arrive(&[1; 50]).at(5 * MS).sends(&[100]).at(60 * MS).sends(&[101]);
    trace.at(104 * MS).arrive(&[2]).queues(2).at(105 * MS).sends(&[200]);
    // RFC 8289, 5.5: an interval after packet 100. The next packet of the same queue is sent.
    assert_eq!(trace.queue.dequeue(Time(105 * MS)).map(|p| p.handle), Some(103));
    assert_eq!(trace.dropped(), [102]);
    assert_eq!(trace.queue.dropped()[0].1, DropReason::Early);
    trace.at(205 * MS - 1).sends(&[104]);
    assert_eq!(trace.queue.dequeue(Time(205 * MS)).map(|p| p.handle), Some(106));
    assert_eq!(trace.dropped(), [105]);
}

/// RFC 8289, 5.6: "bytes() <= MTU", of that queue: two sparse packets that waited for long behind a bulk
/// flow are not dropped.
#[test]
fn the_last_packet_of_a_queue_is_never_dropped() {
    let mut trace = trace();
    trace.arrive(&[2, 2, 2]).arrive(&[1; 50]).queues(2);
    trace.at(10 * MS).sends(&[200, 100]).at(200 * MS).sends(&[201]);
    assert_eq!(trace.queue.dequeue(Time(200 * MS)).map(|p| p.handle), Some(102), "the bulk flow has a drop");
    trace.sends(&[202]);
}

/// RFC 8289, 5.6: "queue is empty - we can't be above TARGET", also one that a full buffer emptied.
#[test]
fn a_queue_emptied_by_a_full_buffer_starts_its_interval_again() {
    let mut trace = Trace::of(&[], Limit::Bytes(6000));
    trace.arrive(&[1]);
    for (flow, len) in [(1, 4500), (2, 500), (2, 500)] {
        assert_eq!(trace.arrives_with(flow, len, Ecn::NotEct), Fate::Queued);
        // 4500 bytes are left behind packet 100: the interval of queue 1 would end at 105 ms.
        if len == 4500 {
            trace.at(5 * MS).sends(&[100]);
        }
    }
    assert_eq!(trace.arrives_with(2, 900, Ecn::NotEct), Fate::Queued);
    assert_eq!(trace.dropped(), [101]);
    trace.sends(&[200, 201, 202]).is_empty();
    trace.at(50 * MS).arrive(&[1; 4]).at(105 * MS).sends(&[102]);
    assert_eq!(trace.queue.dequeue(Time(205 * MS)).map(|p| p.handle), Some(104), "an interval after 105 ms");
    assert_eq!(trace.dropped(), [103]);
}

/// 5.2.6: marks in place of drops.
#[test]
fn packets_of_capable_transports_are_marked_instead() {
    let mut trace = trace();
    (0..50).for_each(|_| assert_eq!(trace.arrives_with(1, 1500, Ecn::Ect0), Fate::Queued));
    trace.at(5 * MS).sends(&[100]).at(105 * MS);
    let marked = trace.queue.dequeue(Time(105 * MS)).map(|p| (p.handle, p.ecn));
    assert_eq!((marked, trace.dropped()), (Some((101, Ecn::Ce)), vec![]));
    assert_eq!(trace.queue.stats().marked, 1);
}

const LINUX: [(&str, &str); 1] = [("rules", "linux")];

/// `rules=linux`. Of queues with most bytes it is the one of smallest number, so one and the same.
#[test]
fn of_equal_queues_the_same_one_loses_each_time() {
    let mut trace = Trace::of(&LINUX, Limit::Packets(3));
    trace.arrive(&[1, 2, 3]).queues(3);
    trace.arrives_with(4, 1500, Ecn::NotEct);
    let loser = trace.dropped()[0] / 100;
    for _ in 0..5 {
        assert_eq!(trace.arrives_with(loser, 1500, Ecn::NotEct), Fate::Dropped(DropReason::Full));
    }
}

/// RFC 8289, 5.6, has "bytes() <= MTU" of that queue; Linux has those of all queues, so that with others waiting the only packet of
/// a queue is dropped too.
#[test]
fn the_last_packet_of_a_queue_is_dropped_while_others_wait() {
    let mut trace = Trace::of(&LINUX, Limit::Packets(1000));
    trace.arrive(&[2, 2]).arrive(&[1; 50]).queues(2);
    trace.at(10 * MS).sends(&[200, 100]);
    // Queue 2 was above the target an interval ago: 201 goes, and nothing is left of it. So was queue 1.
    assert_eq!(trace.at(200 * MS).queue.dequeue(Time(200 * MS)).map(|p| p.handle), Some(102));
    assert_eq!(trace.dropped(), [201, 101]);

    let mut alone = Trace::of(&LINUX, Limit::Packets(1000));
    alone.arrive(&[2, 2]).at(10 * MS).sends(&[200]).at(200 * MS).sends(&[201]).is_empty();
}

/// Linux: what a full buffer took from a queue counts as drops of its CoDel. With 64 of them in a queue that has never dropped,
/// whose inverse square root is 0 still, there is no interval between drops.
#[test]
fn drops_from_a_full_buffer_count_for_codel() {
    let drops = |limit: u32| {
        let mut trace = Trace::of(&LINUX, Limit::Packets(limit));
        for handle in 0..200 {
            let packet = Packet { handle, ..trace.packet(1, 1500, Ecn::NotEct) };
            assert_eq!(trace.queue.enqueue(packet, trace.now), Fate::Queued);
        }
        let mut drops = Vec::new();
        for ms in 5..=106 {
            trace.at(ms * MS);
            trace.queue.dequeue(trace.now);
            drops.extend(trace.dropped().iter().map(|_| ms));
        }
        drops
    };
    assert_eq!(drops(200), [105]);
    // 136 packets, of which 100 leave before the first drop, then one: 34, of which two are a packet and one behind it.
    assert_eq!(drops(190), [&[105][..], &[106; 32]].concat());
}

/// 1 / sqrt(1) is 65535 / 65536 there: of 97656 units of 1024 ns 97654 are left, behind the 102539 of 105 ms.
#[test]
fn the_first_interval_of_linux_is_a_65536th_short() {
    let mut trace = Trace::of(&LINUX, Limit::Packets(1000));
    trace.arrive(&[1; 50]).at(5 * MS).sends(&[100]);
    trace.at(105 * MS).queue.dequeue(Time(105 * MS));
    assert_eq!(trace.dropped(), [101]);
    let due = (102_539 + 97_654) * 1024;
    trace.at(due - 1).sends(&[103]).at(due).queue.dequeue(Time(due));
    assert_eq!(trace.dropped(), [104]);
}

/// RFC 8290, 4.2, has a new queue that is found empty go to the old ones; Linux forgets it while there is none to wait behind.
#[test]
fn a_new_queue_found_empty_is_forgotten_while_there_is_no_old_one() {
    for (rules, left) in [("linux", 1), ("rfc", 2)] {
        let mut trace = Trace::of(&[("rules", rules)], Limit::Packets(1000));
        assert_eq!(trace.arrives_with(1, 600, Ecn::NotEct), Fate::Queued);
        assert_eq!(trace.arrives_with(2, 600, Ecn::NotEct), Fate::Queued);
        // Queue 1 has credit left, so that it is looked at again before queue 2.
        trace.queues(2).sends(&[100, 200]).queues(left);
    }
}

/// "Later than" an interval, in units of 1024 ns: 5 and 105 ms are units 4882 and 102539, an interval is 97656 of them.
#[test]
fn the_first_drop_of_linux_comes_later_than_an_interval_in_units_of_1024_ns() {
    let mut trace = Trace::of(&LINUX, Limit::Packets(1000));
    trace.arrive(&[1; 50]).at(5 * MS).sends(&[100]);
    let due = (4882 + 97_656 + 1) * 1024;
    trace.at(due - 1).sends(&[101]).at(due).queue.dequeue(Time(due));
    assert_eq!(trace.dropped(), [102]);
}

/// One flow of 1000 bytes at twice the rate of a link of 10 Mbit/s: the packets that are dropped, counted from 1. `ns-3`'s CoDel drops those
/// of Linux (3.37, 3.44 and 3.48 under FqCoDelQueueDisc; docs/validation.md).
#[test]
fn drops_of_one_flow_at_twice_the_rate_by_either_law() {
    const BETWEEN: u64 = 400_000;
    let dropped = |rules: &str| {
        let mut trace = Trace::of(&[("rules", rules)], Limit::Packets(10_000));
        let mut found = Vec::new();
        for handle in 0..600 {
            trace.at(handle * BETWEEN);
            let packet = Packet { handle, ..trace.packet(1, 1000, Ecn::NotEct) };
            assert_eq!(trace.queue.enqueue(packet, trace.now), Fate::Queued);
            if handle % 2 == 0 {
                assert!(trace.queue.dequeue(trace.now).is_some());
                found.extend(trace.dropped().iter().map(|handle| handle + 1));
            }
        }
        for departure in 300..600 {
            trace.at(2 * departure * BETWEEN);
            trace.queue.dequeue(trace.now);
            found.extend(trace.dropped().iter().map(|handle| handle + 1));
        }
        found
    };
    assert_eq!(dropped("linux")[..6], [140, 266, 330, 401, 463, 519]);
    assert_eq!(dropped("rfc")[..3], [139, 265, 355]);
}
