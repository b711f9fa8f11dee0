//! CAKE against what its paper promises, by number, and COBALT against decisions derived by hand from
//! RFC 8289, section 5, and from the rules of BLUE. Decision by decision it is held to the kernel's own code by
//! `tests/kernel_core/test_upstream_decisions.py`.

use std::collections::VecDeque;

use qdisc::{DropReason, Ecn, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;
const SEED: u64 = 3;

fn cake(isolation: &str, limit: u32, seed: u64) -> Qdisc {
    let options = [("isolation".to_owned(), isolation.to_owned())];
    Qdisc::from_options("cake", &options, Limit::Packets(limit), Stream::named(seed, "cake")).expect("valid")
}

fn packet(flow: u64, handle: u64) -> Packet {
    Packet {
        flow: FlowKey(flow),
        handle,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len: 1500,
        src: flow as u32,
        dst: flow as u32,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn: Ecn::NotEct,
    }
}

/// Bytes each flow, given by its hosts, is served of 60 MB while all of them always have packets waiting. With this seed no
/// two hosts have the same home.
fn shares(isolation: &str, hosts: &[(u32, u32)], len: impl Fn(usize) -> u32) -> Vec<f64> {
    shares_of(SEED, isolation, hosts, len)
}

fn shares_of(seed: u64, isolation: &str, hosts: &[(u32, u32)], len: impl Fn(usize) -> u32) -> Vec<f64> {
    let mut cake = cake(isolation, 100_000, seed);
    let of = |flow: usize| Packet {
        src: hosts[flow].0,
        dst: hosts[flow].1,
        options: 0,
        mark: 0,
        len: len(flow),
        ..packet(flow as u64, 0)
    };
    for flow in (0..hosts.len()).chain(0..hosts.len()) {
        cake.enqueue(of(flow), Time::ZERO);
    }
    let (mut served, mut total) = (vec![0.0; hosts.len()], 0.0);
    while total < 60e6 {
        let sent = cake.dequeue(Time::ZERO).expect("all are backlogged");
        // The first tenth is for the flows to find out how many they are.
        if total > 6e6 {
            served[sent.flow.0 as usize] += f64::from(sent.len) / 54e6;
        }
        total += f64::from(sent.len);
        cake.enqueue(of(sent.flow.0 as usize), Time::ZERO);
    }
    served
}

fn assert_shares(shares: &[f64], expected: impl Fn(usize) -> f64) {
    for (flow, &share) in shares.iter().enumerate() {
        assert!((share / expected(flow) - 1.0).abs() < 0.01, "flow {flow}: {share}, not {}", expected(flow));
    }
}

/// Flow 0 of host 1, 32 flows of host 2, a destination for each of the 33.
fn one_against_32() -> Vec<(u32, u32)> {
    (0..33).map(|flow| (if flow == 0 { 1 } else { 2 }, 100 + flow)).collect()
}

#[test]
fn two_hosts_with_1_and_32_flows_have_equal_shares_under_triple_and_source_isolation() {
    for isolation in ["triple", "src"] {
        let shares = shares(isolation, &one_against_32(), |_| 1500);
        assert_shares(&shares, |flow| if flow == 0 { 1.0 / 2.0 } else { 1.0 / 64.0 });
    }
}

#[test]
fn without_isolation_of_the_source_each_of_33_flows_has_the_same_share() {
    for isolation in ["flow", "dst"] {
        assert_shares(&shares(isolation, &one_against_32(), |_| 1500), |_| 1.0 / 33.0);
    }
}

#[test]
fn destinations_are_isolated_as_sources_are() {
    let hosts: Vec<_> = one_against_32().into_iter().map(|(src, dst)| (dst, src)).collect();
    for isolation in ["triple", "dst"] {
        assert_shares(&shares(isolation, &hosts, |_| 1500), |flow| if flow == 0 { 1.0 / 2.0 } else { 1.0 / 64.0 });
    }
}

/// The busier host of a flow decides (III.B). Flow 0 shares its destination with 1 to 3; 4 to 7 share a
/// source; 8 is alone: four flows' worth against nine quarters.
#[test]
fn under_triple_isolation_the_busier_host_of_a_flow_decides() {
    let hosts = [(1, 50), (2, 50), (3, 50), (4, 50), (5, 60), (5, 61), (5, 62), (5, 63), (6, 70)];
    let expected = |flow| if flow == 8 { 1.0 / 3.0 } else { 1.0 / 12.0 };
    assert_shares(&shares("triple", &hosts, |_| 1500), expected);
    // One destination for all: the source counts for nothing any more.
    let hosts = [(1, 50), (2, 50), (2, 50), (2, 50)];
    assert_shares(&shares("triple", &hosts, |_| 1500), |_| 1.0 / 4.0);
    assert_shares(&shares("src", &hosts, |_| 1500), |flow| if flow == 0 { 1.0 / 2.0 } else { 1.0 / 6.0 });
}

/// As in Linux: a slot of the table of hosts is free while no flow of its host is backlogged, so hosts that share a home and come
/// before either is backlogged share the slot, and are one host from then on.
#[test]
fn hosts_with_the_same_home_share_it_while_none_is_backlogged() {
    let shares = shares_of(1, "dst", &one_against_32(), |_| 1500);
    let halved = shares.iter().filter(|&&share| share < 0.7 * shares[0]).count();
    assert_eq!(halved, 4, "two pairs: {shares:?}");
    assert_shares(&shares, |flow| if shares[flow] < 0.7 * shares[0] { 0.5 / 31.0 } else { 1.0 / 31.0 });
}

#[test]
fn shares_are_in_bytes_whatever_the_length_of_the_packets() {
    let len = |flow: usize| [1500, 40, 700, 9000][flow % 4];
    assert_shares(&shares("flow", &[(0, 0); 8], len), |_| 1.0 / 8.0);
    let share_of_host = |shares: Vec<f64>| shares[0];
    let share = share_of_host(shares("src", &one_against_32(), len));
    assert!((share - 0.5).abs() < 0.005, "{share}");
}

/// Flows of `flows` that share a queue, as far as can be seen from the number of queues in use.
fn collisions(flows: u64, seed: u64) -> f64 {
    let mut cake = cake("triple", 10_000, seed);
    for flow in 0..flows {
        cake.enqueue(packet(2 * flow, flow), Time::ZERO);
    }
    flows as f64 - cake.flow_table_len() as f64
}

/// Expected number of `flows` beyond the `ways` first of each of `sets` sets.
fn beyond(flows: u64, sets: f64, ways: u64) -> f64 {
    let mut probability = (1.0 - 1.0 / sets).powi(flows as i32);
    let mut expected = 0.0;
    for in_set in 0..flows {
        if in_set > ways {
            expected += sets * probability * (in_set - ways) as f64;
        }
        probability *= (flows - in_set) as f64 / (in_set + 1) as f64 / (sets - 1.0);
    }
    expected
}

#[test]
fn sets_of_eight_queues_all_but_end_collisions() {
    // A plain hash over 1024 queues is 1024 sets of one.
    let plain = 100.0 - 1024.0 * (1.0 - (1.0 - 1.0 / 1024.0_f64).powi(100));
    assert!((beyond(100, 1024.0, 1) - plain).abs() < 1e-9 && plain > 4.6, "{plain}");
    assert!(beyond(100, 128.0, 8) < 1e-4);
    assert_eq!((0..40).map(|seed| collisions(100, seed)).sum::<f64>(), 0.0);

    let seeds = 200;
    let counts: Vec<f64> = (0..seeds).map(|seed| collisions(500, seed)).collect();
    let mean = counts.iter().sum::<f64>() / seeds as f64;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
    let (expected, error) = (beyond(500, 128.0, 8), (variance / seeds as f64).sqrt());
    assert!((mean - expected).abs() < 4.0 * error, "{mean} with an error of {error}, not {expected}");
    assert!(mean < beyond(500, 1024.0, 1) / 20.0, "{mean}");
}

/// A flow a millisecond: each keeps its queue for the 100 ms of an interval, and one queue is looked at with each packet.
#[test]
fn a_queue_is_kept_for_its_flow_for_an_interval() {
    let mut cake = cake("triple", 10_000, 3);
    for flow in 0..10_000 {
        let now = Time(flow * MS);
        cake.enqueue(packet(2 * flow, flow), now);
        assert_eq!(cake.dequeue(now).map(|packet| packet.handle), Some(flow));
        // Looked at again and again before that, so that it may take as long again until its turn comes.
        assert!((1 + flow.min(100)..=202).contains(&(cake.flow_table_len() as u64)), "after {flow}");
    }
}

/// As in Linux: of flows that have to share a queue the last one has its tag, so that packets of another may overtake those
/// that wait there.
#[test]
fn flows_that_have_to_share_queues_may_lose_their_order() {
    let mut draw = Stream::named(1, "order");
    let mut overtaken = |flows: u64| {
        let mut cake = cake("triple", 1_000_000, 1);
        let (mut sent, mut next, mut overtaken) = (vec![0; flows as usize], vec![0; flows as usize], 0);
        for step in 0..300_000 {
            // Spells of growth and of draining, so that sets fill and empty.
            if draw.uniform() < if step / 5000 % 2 == 0 { 0.7 } else { 0.3 } {
                let flow = (draw.uniform() * flows as f64) as usize;
                cake.enqueue(packet(flow as u64, sent[flow]), Time::ZERO);
                sent[flow] += 1;
            } else if let Some(left) = cake.dequeue(Time::ZERO) {
                let next = &mut next[left.flow.0 as usize];
                overtaken += u32::from(left.handle != *next);
                *next += 1;
            }
        }
        overtaken
    };
    assert_eq!(overtaken(100), 0, "each has a queue of its own");
    assert!(overtaken(3000) > 0);
}

#[test]
fn a_flow_that_comes_up_goes_before_those_that_are_backlogged() {
    let mut cake = cake("flow", 10_000, 1);
    for handle in 0..32 * 20 {
        cake.enqueue(packet(handle % 32, handle), Time::ZERO);
    }
    // All have been new and are old by then.
    for _ in 0..100 {
        cake.dequeue(Time::ZERO);
    }
    for n in 0..10 {
        cake.enqueue(Packet { len: 200, ..packet(1000 + n, 5000 + n) }, Time::ZERO);
        assert_eq!(cake.dequeue(Time::ZERO).map(|packet| packet.handle), Some(5000 + n));
    }
}

#[test]
fn backlogged_flows_take_turns_of_a_quantum() {
    let mut cake = cake("flow", 10_000, 1);
    for handle in 0..40 {
        cake.enqueue(Packet { len: 1514, ..packet(handle / 20, handle) }, Time::ZERO);
    }
    let served: Vec<u64> = (0..40).filter_map(|_| cake.dequeue(Time::ZERO)).map(|packet| packet.flow.0).collect();
    assert_eq!(served, [0, 1].repeat(20));
}

#[test]
fn every_flow_is_new_again_once_nothing_waits() {
    let mut cake = cake("flow", 10_000, 1);
    cake.enqueue(Packet { len: 200, ..packet(1, 0) }, Time::ZERO);
    assert!(cake.dequeue(Time::ZERO).is_some() && cake.dequeue(Time::ZERO).is_none());
    for flow in [1, 2] {
        cake.enqueue(packet(flow, flow), Time::ZERO);
    }
    assert_eq!(cake.dequeue(Time::ZERO).map(|packet| packet.handle), Some(1));
}

/// Linux forgets a queue that it found empty, where RFC 8290, section 4.2, has it wait for a round. Flow 8 has a packet, which
/// leaves it some credit, just after its queue was found empty: it is new each time, and every other departure is its own.
#[test]
fn a_flow_that_comes_back_just_after_it_was_found_empty_is_new_each_time() {
    let mut cake = cake("flow", 10_000, 1);
    for handle in 0..8000 {
        cake.enqueue(packet(handle % 8, handle), Time::ZERO);
    }
    let (mut packets, mut pause) = ([0; 9], 0);
    for _ in 0..6000 {
        if pause == 0 {
            cake.enqueue(Packet { len: 1400, ..packet(8, 9000) }, Time::ZERO);
        }
        let sent = cake.dequeue(Time::ZERO).expect("eight flows are backlogged");
        packets[sent.flow.0 as usize] += 1;
        pause = if sent.flow.0 == 8 { 1 } else { pause - 1 };
    }
    // But for its first turn, before which the eight were new.
    assert_eq!(packets[8], (6000 - 16) / 2, "{packets:?}");
}

/// The same with packets that use its credit up: then its turn comes after those of the old queues.
#[test]
fn a_flow_that_is_empty_with_its_credit_used_up_waits_for_a_round() {
    let mut cake = cake("flow", 10_000, 1);
    for handle in 0..8000 {
        cake.enqueue(packet(handle % 8, handle), Time::ZERO);
    }
    let mut packets = [0; 9];
    let mut waits = false;
    for _ in 0..6000 {
        if !waits {
            cake.enqueue(Packet { len: 1514, ..packet(8, 9000) }, Time::ZERO);
        }
        let sent = cake.dequeue(Time::ZERO).expect("eight flows are backlogged").flow.0 as usize;
        packets[sent] += 1;
        waits = sent != 8;
    }
    let least = packets[..8].iter().min().expect("eight flows");
    assert!(packets[8] <= least + 1, "{packets:?}");
}

/// A transfer split over flows that are without packets now and then, as those of TCP with a short queue are: they are counted
/// until their turn has come.
#[test]
fn a_flow_without_packets_counts_for_its_host_until_its_turn_has_come() {
    let mut cake = cake("triple", 100_000, 1);
    let of =
        |flow: u64| Packet { src: u32::from(flow < 8), dst: 100 + u32::from(flow < 8), len: 1514, ..packet(flow, 0) };
    for flow in (0..8).chain([8; 4]) {
        cake.enqueue(of(flow), Time::ZERO);
    }
    let (mut away, mut split) = (VecDeque::new(), 0.0);
    for _ in 0..20_000 {
        let sent = cake.dequeue(Time::ZERO).expect("flow 8 is backlogged").flow.0;
        if sent == 8 {
            cake.enqueue(of(8), Time::ZERO);
        } else {
            split += 1.0 / 20_000.0;
            away.push_back(sent);
        }
        // A round trip of four packets: half of the flows are on their way.
        if away.len() > 4 {
            let back = away.pop_front().expect("four are away");
            cake.enqueue(of(back), Time::ZERO);
        }
    }
    assert!((0.45..0.55).contains(&split), "{split}");
}

#[test]
fn a_full_buffer_drops_the_head_of_the_longest_queue() {
    let mut cake = cake("triple", 6, 1);
    for (handle, flow) in (0..).zip([1, 2, 2, 2, 3, 1]) {
        cake.enqueue(packet(flow, handle), Time::ZERO);
    }
    cake.enqueue(packet(4, 6), Time::ZERO);
    let dropped: Vec<_> = cake.dropped().iter().map(|(packet, reason)| (packet.handle, *reason)).collect();
    assert_eq!(dropped, [(1, DropReason::PushedOut)]);
    // In bytes: flow 5 with one packet is longer than any with two.
    cake.enqueue(Packet { len: 4000, ..packet(5, 7) }, Time::ZERO);
    assert_eq!(cake.dropped().iter().map(|(packet, _)| packet.handle).collect::<Vec<_>>(), [7]);
}

/// One flow through COBALT.
struct Trace {
    cake: Qdisc,
    next: u64,
    ecn: Ecn,
    /// What the times below count from, ns.
    zero: u64,
}

impl Trace {
    fn of(packets: u64, ecn: Ecn) -> Trace {
        let mut trace = Trace { cake: cake("triple", 5000, 1), next: 0, ecn, zero: 0 };
        trace.arrive(packets, 0);
        trace
    }

    /// The queue is found empty, which happens in the turns of another flow.
    fn is_found_empty(&mut self, now: u64) {
        for handle in 0..6 {
            self.cake.enqueue(packet(999, handle), self.at(now));
        }
        while self.cake.dequeue(self.at(now)).is_some() {}
    }

    /// The same after the queue had a signal and came to rest again, a second ago.
    fn at_rest(packets: u64, ecn: Ecn) -> Trace {
        let mut trace = Trace { zero: 0, ..Trace::of(4, Ecn::NotEct) };
        trace.follow(&[(6 * MS, 0, false), (7 * MS, 1, false), (8 * MS, 0, false)]);
        trace.arrive(1, 300 * MS);
        trace.follow(&[(300 * MS, 0, false)]);
        trace.zero = 1300 * MS;
        trace.ecn = ecn;
        trace.arrive(packets, 0);
        trace
    }

    fn at(&self, now: u64) -> Time {
        Time(self.zero + now)
    }

    fn arrive(&mut self, packets: u64, now: u64) {
        for _ in 0..packets {
            self.cake.enqueue(Packet { ecn: self.ecn, ..packet(1, self.next) }, self.at(now));
            self.next += 1;
        }
    }

    /// Packets dropped, and whether the one that is sent carries a mark.
    fn leave(&mut self, now: u64) -> (usize, bool) {
        let sent = self.cake.dequeue(self.at(now)).expect("packets wait");
        assert!(self.cake.dropped().iter().all(|&(_, reason)| reason == DropReason::Early));
        (self.cake.dropped().len(), sent.ecn == Ecn::Ce)
    }

    /// Departures: time in ns, packets dropped, whether the one that is sent carries a mark.
    fn follow(&mut self, steps: &[(u64, usize, bool)]) {
        for &(now, dropped, marked) in steps {
            assert_eq!(self.leave(now), (dropped, marked), "at {now} ns");
        }
    }
}

/// RFC 8289, section 5.3: target 5 ms, interval 100 ms, next = last + interval / sqrt(count). As in Linux the roots have 32 binary
/// digits, rounded down, and that of 2 is 0.06 % too small.
#[test]
fn signals_come_an_interval_after_the_target_is_exceeded_and_then_ever_sooner() {
    let mut trace = Trace::at_rest(100, Ecn::NotEct);
    trace.follow(&[
        (5 * MS, 0, false), // a delay of just the target
        (6 * MS, 0, false), // above: the first is due at 106 ms, less 1 ns
        (106 * MS - 2, 0, false),
        (106 * MS - 1, 1, false), // count 2: due 70.670846 ms later
        (176_670_844, 0, false),
        (176_670_845, 1, false), // count 3: due 57.735025 ms later
        (234_405_869, 0, false),
        // Due at 234.4, 284.4, 329.1 and 370.0 ms, then at 407.748504 ms: drops are made up for.
        (400 * MS, 4, false),
        (407_748_503, 0, false),
        (407_748_504, 1, false),
    ]);
}

/// As in Linux, where the inverse square root of a queue is 0 until its count has changed once.
#[test]
fn the_first_signal_ever_of_a_queue_does_not_wait_for_an_interval() {
    let mut trace = Trace::of(100, Ecn::NotEct);
    trace.follow(&[
        (5 * MS, 0, false),
        (6 * MS, 0, false), // above: due at once
        (7 * MS, 1, false), // count 2: due 70.670846 ms after the 6 ms
        (76_670_845, 0, false),
        (76_670_846, 1, false),
    ]);
}

/// As in Linux: the first packet after a rest is above already, so the next is due.
#[test]
fn after_a_rest_of_an_interval_a_first_packet_that_is_late_calls_for_a_signal() {
    Trace::at_rest(100, Ecn::NotEct).follow(&[(6 * MS, 0, false), (7 * MS, 1, false), (76_670_845, 0, false)]);
}

#[test]
fn marks_take_the_place_of_drops_and_are_not_made_up_for() {
    let mut trace = Trace::at_rest(100, Ecn::Ect0);
    trace.follow(&[
        (5 * MS, 0, false),
        (6 * MS, 0, false),
        (106 * MS, 0, true),
        (176_670_844, 0, false),
        (176_670_845, 0, true),
        // The fourth signal, then the fifth as soon as possible; the sixth is due at 400 + 44.721359 ms.
        (400 * MS, 0, true),
        (400 * MS, 0, true),
        (400 * MS, 0, false),
        (444_721_358, 0, false),
        (444_721_359, 0, true),
    ]);
    assert_eq!(trace.cake.stats().marked, 5);
}

/// In place of RFC 8289's memory of the last dropping state.
#[test]
fn the_count_runs_down_in_calm_at_the_pace_it_ran_up() {
    let mut trace = Trace::at_rest(11, Ecn::NotEct);
    trace.follow(&[(5 * MS, 0, false), (6 * MS, 0, false), (106 * MS, 1, false), (176_670_845, 1, false)]);
    trace.arrive(1, 400 * MS);
    trace.follow(&[(400 * MS, 4, false)]);
    // Count 7, next 407.748504 ms; calm takes it to 6 at 407.7 and to 5 at 448.6 ms.
    for now in (404 * MS..=452 * MS).step_by(4 * MS as usize) {
        trace.arrive(1, now);
        trace.follow(&[(now, 0, false)]);
    }
    // Above the target from 460 ms, so the next is due interval / sqrt(5) later, at 504.721359 ms.
    trace.arrive(100, 452 * MS);
    trace.follow(&[(460 * MS, 0, false), (504_721_358, 0, false), (504_721_359, 1, false)]);
}

/// As in Linux by one step for each packet of another flow, and not while nothing is sent.
#[test]
fn the_count_runs_down_while_the_queue_is_empty_and_others_send() {
    for others_send in [true, false] {
        let mut trace = Trace::at_rest(11, Ecn::NotEct);
        trace.follow(&[
            (5 * MS, 0, false),
            (6 * MS, 0, false),
            (106 * MS, 1, false),
            (176_670_845, 1, false),
            (400 * MS, 4, false),
        ]);
        trace.is_found_empty(400 * MS);
        if others_send {
            // Six looks. Count 7 at 407.7 ms, 6 until 448.6, 5 until 493.3, 4 until 543.3, 3 until 601.0, 2 until 671.7 ms.
            trace.is_found_empty(650 * MS);
        }
        trace.arrive(100, 650 * MS);
        if others_send {
            trace.follow(&[(656 * MS, 0, false), (726_670_845, 0, false), (726_670_846, 1, false)]);
        } else {
            trace.follow(&[(656 * MS, 1, false)]);
        }
    }
}

#[test]
fn the_last_packet_of_a_queue_is_sent_and_marked_if_it_can_be() {
    for (ecn, marked) in [(Ecn::NotEct, false), (Ecn::Ect0, true)] {
        let mut trace = Trace::of(2, ecn);
        trace.follow(&[(6 * MS, 0, false), (300 * MS, 0, marked)]);
    }
}

/// One flow in a buffer of ten packets that overflows `times` times, every 6 ms.
fn overflowed(times: u64, ecn: Ecn) -> (Trace, u64) {
    let mut trace = Trace { cake: cake("triple", 10, 1), next: 0, ecn, zero: 0 };
    trace.arrive(10, 0);
    for time in 1..=times {
        // Only the first of several overflows within a target counts.
        trace.arrive(3, time * 6 * MS);
    }
    (trace, times * 6 * MS)
}

/// Of 100 000 packets of a queue that is never short, nor empty, the fraction dropped.
fn dropped_at_random(trace: &mut Trace, now: u64) -> f64 {
    trace.arrive(5, now);
    let before = trace.cake.stats().dropped_after;
    for _ in 0..100_000 {
        if trace.cake.backlog() < 8 {
            trace.arrive(2, now);
        }
        trace.leave(now);
    }
    (trace.cake.stats().dropped_after - before) as f64 / 100_000.0
}

fn assert_rate(rate: f64, expected: f64) {
    let error = (expected * (1.0 - expected) / 100_000.0).sqrt();
    assert!((rate - expected).abs() <= 4.0 * error, "{rate}, not {expected}");
}

/// Drains the queue at once, without waiting for a signal, and finds it empty.
fn drain(trace: &mut Trace, now: u64) {
    while trace.cake.dequeue(Time(now)).is_some() {}
    trace.is_found_empty(now);
}

/// Per packet sent, p / (1 - p) are dropped with a probability of p for each that could be.
fn per_sent(p: f64) -> f64 {
    p / (1.0 - p)
}

#[test]
fn blue_drops_256ths_after_overflows_and_never_marks() {
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        for times in [1, 8] {
            let (mut trace, now) = overflowed(times, ecn);
            drain(&mut trace, now);
            // Found empty no later than the last step up: no step down yet.
            assert_rate(dropped_at_random(&mut trace, now), per_sent(times as f64 / 256.0));
        }
    }
}

#[test]
fn blue_takes_a_4096th_back_for_each_target_the_queue_is_empty_and_others_send() {
    for (idle, steps) in [(48, 8.0), (72, 12.0), (96, 16.0), (600, 16.0)] {
        let (mut trace, now) = overflowed(1, Ecn::NotEct);
        drain(&mut trace, now);
        for at in (6..=idle).step_by(6).map(|ms| now + ms * MS) {
            trace.is_found_empty(at);
        }
        let rate = dropped_at_random(&mut trace, now + idle * MS);
        assert_rate(rate, per_sent(1.0 / 256.0 - steps / 4096.0));
    }
}

#[test]
fn blue_takes_nothing_back_while_the_queue_is_busy() {
    let (mut trace, now) = overflowed(1, Ecn::NotEct);
    // 110 ms later the queue is found empty for the first time.
    let later = now + 110 * MS;
    drain(&mut trace, later);
    assert_rate(dropped_at_random(&mut trace, later), per_sent(1.0 / 256.0 - 1.0 / 4096.0));
}

#[test]
fn blue_at_its_highest_drops_all_but_the_last_packet() {
    let (mut trace, now) = overflowed(300, Ecn::Ect0);
    assert_eq!(trace.leave(now), (9, false));
    assert_eq!(trace.cake.stats().marked, 0, "what is dropped is not marked before");
    trace.arrive(1, now);
    assert_eq!(trace.leave(now), (0, false));
}

#[test]
fn a_queue_whose_cobalt_is_not_at_rest_stays_its_flows() {
    let (mut trace, now) = overflowed(300, Ecn::NotEct);
    drain(&mut trace, now);
    // Ten times: more flows than there are queues, and all are sent.
    for flow in 0..10_000 {
        trace.cake.enqueue(Packet { len: 40, ..packet(100 + flow, 0) }, Time(now));
        if flow % 1000 == 999 {
            drain(&mut trace, now);
        }
    }
    trace.arrive(10, now);
    assert_eq!(trace.leave(now), (9, false));
}

#[test]
fn memory_does_not_depend_on_the_number_of_flows() {
    let mut cake = cake("triple", 20_000, 1);
    let mut bytes = |flows: std::ops::Range<u64>| {
        for flow in flows {
            cake.enqueue(packet(flow, flow), Time::ZERO);
        }
        assert!(cake.flow_table_len() <= 1024);
        cake.flow_table_bytes()
    };
    let after = [0..20_000, 20_000..100_000].map(&mut bytes);
    assert!(after[0] == after[1] && after[1] < 200_000, "{after:?}");
}
