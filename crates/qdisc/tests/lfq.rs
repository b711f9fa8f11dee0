//! LFQ against the bounds that the head of `lfq.rs` proves, under arrivals that are drawn to break them, and against
//! decisions that follow from its rules.

use std::collections::HashMap;

use proptest::prelude::*;
use qdisc::{DropReason, Ecn, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const MS: u64 = 1_000_000;

/// Constants of the bounds: lag, debt, width of a bucket, longest packet, pace as it is rounded, and with what may go to those
/// that starved, one byte in five.
const LAG: i64 = 20_000;
const DEBT: i64 = 6_000;
const WIDTH: i64 = 1_024;
const LONGEST: i64 = 1_500;
const PACE: f64 = 0.399_99;
const PACE_OF_OTHERS: f64 = 0.4 * 1.25;

/// How far beyond the lag a user with packets may fall behind when no more than `users` have some: the lemma.
fn sag(users: f64) -> f64 {
    sag_of(WIDTH, users)
}

/// The same with buckets of `width` bytes.
fn sag_of(width: i64, users: f64) -> f64 {
    width as f64 + PACE_OF_OTHERS * (width + LONGEST) as f64 * (1.0 + users.ln())
}

/// What one user may be served beyond another that has packets all the time.
fn apart(users: f64) -> i64 {
    2 * LAG + 2 * DEBT + 2 * LONGEST + (2.0 * sag(users)) as i64
}

/// What a user that has packets all the time may lack of the part of its share that is warranted.
fn late(users: f64) -> f64 {
    (LAG + DEBT) as f64 + sag(users)
}

fn lfq(options: &str, limit: u32) -> Qdisc {
    let options: Vec<(String, String)> = options
        .split_whitespace()
        .filter_map(|option| option.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Qdisc::from_options("lfq", &options, Limit::Packets(limit), Stream::named(1, "lfq")).expect("valid options")
}

/// The options of the bounds; users have standing from the beginning.
fn bounded() -> Qdisc {
    lfq(&format!("user_lag={LAG} flow_lag=8000 debt={DEBT} probation=0 target=1000"), 1_000_000)
}

/// A packet to `user` on one of its ports.
fn packet(user: u32, port: u64, len: u32) -> Packet {
    Packet {
        flow: FlowKey(u64::from(user) << 32 | port << 1),
        handle: 0,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len,
        src: 1_000_000,
        dst: user,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn: Ecn::NotEct,
    }
}

fn enqueue(queue: &mut Qdisc, packet: Packet) {
    queue.enqueue(packet, Time::ZERO);
}

/// How an attacker names its flows.
#[derive(Clone, Copy, Debug)]
enum Ports {
    Same,
    Few,
    New,
}

/// A user sends some packets, then the link takes some.
#[derive(Clone, Debug)]
struct Burst {
    user: u32,
    ports: Ports,
    packets: u32,
    len: u32,
    served: u32,
}

fn bursts(users: u32, most: usize) -> impl Strategy<Value = Vec<Burst>> {
    let ports = prop_oneof![Just(Ports::Same), Just(Ports::Few), Just(Ports::New)];
    let packets = prop_oneof![3 => 1..3_u32, 2 => 1..40_u32];
    let len = prop_oneof![2 => Just(1500_u32), 1 => 40..1500_u32];
    let served = prop_oneof![3 => 0..4_u32, 2 => 0..60_u32];
    let one = (1..=users, ports, packets, len, served);
    let burst = one.prop_map(|(user, ports, packets, len, served)| Burst { user, ports, packets, len, served });
    prop::collection::vec(burst, 1..most)
}

/// Users that attack, and user 0, which always has packets.
struct Link {
    queue: Qdisc,
    served: Vec<i64>,
    waiting: Vec<u32>,
    /// What user 0 would have of a link that gives every user with packets the same.
    share: f64,
    ports: u64,
    now: Time,
}

impl Link {
    fn of(queue: Qdisc, users: u32) -> Link {
        let size = users as usize + 1;
        let mut link =
            Link { queue, served: vec![0; size], waiting: vec![0; size], share: 0.0, ports: 10, now: Time::ZERO };
        (0..3).for_each(|_| link.arrive(packet(0, 0, LONGEST as u32)));
        link
    }

    fn arrive(&mut self, packet: Packet) {
        let user = packet.dst as usize % self.waiting.len();
        self.queue.enqueue(packet, self.now);
        assert!(self.queue.dropped().is_empty());
        self.waiting[user] += 1;
    }

    fn burst(&mut self, burst: &Burst) {
        for n in 0..u64::from(burst.packets) {
            let port = match burst.ports {
                Ports::Same => 0,
                Ports::Few => n % 5,
                Ports::New => {
                    self.ports += 1;
                    self.ports
                }
            };
            self.arrive(packet(burst.user, port, burst.len));
        }
    }

    /// The link takes a packet, and `check` looks at what each user was served.
    fn serve(&mut self) {
        let sent = self.queue.dequeue(self.now).expect("user 0 has packets");
        // At 10 Mb/s, so that rounds end and some have starved.
        self.now += Time(800 * u64::from(sent.len));
        let user = sent.dst as usize % self.waiting.len();
        let backlogged = self.waiting.iter().filter(|&&packets| packets > 0).count();
        self.share += f64::from(sent.len) / backlogged as f64;
        self.served[user] += i64::from(sent.len);
        self.waiting[user] -= 1;
        if user == 0 {
            self.arrive(packet(0, 0, LONGEST as u32));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bound 1, user beside user: over any time, and so for any way to pause, to space packets or to change ports.
    #[test]
    fn nobody_is_served_more_than_the_bound_beyond_one_who_always_has_packets(bursts in bursts(5, 120)) {
        let mut link = Link::of(bounded(), 5);
        let mut least = [0; 6];
        for burst in &bursts {
            link.burst(burst);
            for _ in 0..burst.served {
                link.serve();
                for (user, least) in least.iter_mut().enumerate().skip(1) {
                    let beyond = link.served[user] - link.served[0];
                    *least = beyond.min(*least);
                    prop_assert!(beyond - *least <= apart(6.0), "user {user}: {} of {}", beyond - *least, apart(6.0));
                }
            }
        }
    }

    /// Bound 2: however many others come, each with all the credit there is.
    #[test]
    fn who_always_has_packets_gets_its_warranted_share_less_the_bound(bursts in bursts(60, 200)) {
        let mut link = Link::of(bounded(), 60);
        let mut least = 0.0_f64;
        for burst in &bursts {
            link.burst(burst);
            for _ in 0..burst.served {
                link.serve();
                let lacks = PACE * link.share - link.served[0] as f64;
                least = least.min(lacks);
                prop_assert!(lacks - least <= late(61.0), "{} of {}", lacks - least, late(61.0));
            }
        }
    }

    /// Bound 4: new addresses are one user together, whatever each of them sends before it has standing.
    #[test]
    fn new_addresses_are_served_as_one_user(
        steps in prop::collection::vec((1..20_u32, 40..1500_u32, 0..30_u32), 1..120)
    ) {
        let mut queue = lfq(&format!("user_lag={LAG} flow_lag=8000 debt={DEBT} target=1000"), 1_000_000);
        // User 0 comes again after a while.
        for ms in [0, 100] {
            queue.enqueue(packet(0, 0, 1500), Time(ms * MS));
            queue.dequeue(Time(ms * MS));
        }
        let mut link = Link::of(queue, 1);
        let (mut address, mut least) = (1, 0);
        for (packets, len, served) in steps {
            address += 2;
            for port in 0..packets {
                link.arrive(packet(address, u64::from(port % 3), len));
            }
            for _ in 0..served {
                link.serve();
                let beyond = link.served[1] - link.served[0];
                least = beyond.min(least);
                prop_assert!(beyond - least <= apart(2.0), "{} of {}", beyond - least, apart(2.0));
            }
        }
    }

    /// Tables of eight flows and eight users, and users and flows by the dozen: packets of a flow keep their order, none is
    /// lost, and all come out.
    #[test]
    fn flows_keep_their_order_when_tables_are_full(
        steps in prop::collection::vec((0..30_u32, 0..4_u64, 1..5_u32, 0..6_u32), 1..400),
        medium in prop_oneof![Just("wire"), Just("cell")],
    ) {
        let mut queue = lfq(&format!("flows=8 users=8 probation=0.005 medium={medium} target=1000"), 1_000_000);
        let (mut sent, mut next, mut now) = (HashMap::new(), HashMap::new(), Time::ZERO);
        let mut leave = |packet: Packet| {
            let next = next.entry(packet.flow).or_insert(0);
            prop_assert_eq!(packet.handle, *next, "flow {:?}", packet.flow);
            *next += 1;
            Ok(())
        };
        for (user, port, packets, served) in steps {
            for _ in 0..packets {
                let packet = packet(user, port, 1500);
                let handle = sent.entry(packet.flow).or_insert(0);
                queue.enqueue(Packet { handle: *handle, ..packet }, now);
                *handle += 1;
            }
            for _ in 0..served {
                now += Time(MS);
                queue.dequeue(now).map_or(Ok(()), &mut leave)?;
            }
        }
        while let Some(packet) = queue.dequeue(now) {
            leave(packet)?;
        }
        prop_assert_eq!(queue.backlog(), 0);
        prop_assert_eq!(sent, next);
    }
}

/// Shares of users that always have packets, on so many `ports` each, of 10 MB at 10 Mb/s, from when none is
/// new any more.
fn shares(options: &str, ports: &[u64]) -> Vec<f64> {
    let mut queue = lfq(&format!("target=1000 {options}"), 100_000);
    let mut now = Time::ZERO;
    for _ in 0..2 {
        for (user, &ports) in (0..).zip(ports) {
            (0..ports).for_each(|port| enqueue(&mut queue, packet(user, port, 1500)));
        }
    }
    let (mut served, mut total) = (vec![0.0; ports.len()], 0.0);
    while total < 10e6 {
        let sent = queue.dequeue(now).expect("all have packets");
        now += Time(800 * u64::from(sent.len));
        if now > Time(300 * MS) {
            served[sent.dst as usize] += f64::from(sent.len) / 10e6;
            total += f64::from(sent.len);
        }
        queue.enqueue(sent, now);
    }
    served
}

#[test]
fn users_have_equal_shares_whatever_the_number_of_their_flows() {
    let served = shares("", &[1, 32, 4]);
    assert!(served.iter().all(|share| (share * 3.0 - 1.0).abs() < 0.03), "{served:?}");
}

#[test]
fn a_user_who_fills_the_flow_table_takes_no_more_than_the_share_of_newcomers_beside_its_own() {
    let served = shares("flows=64", &[5000, 1, 1, 10]);
    assert!(served.iter().skip(1).all(|share| share * 5.0 > 0.95), "{served:?}");
    let served = shares("flows=64 probation=0", &[5000, 1, 1, 10]);
    assert!(served.iter().all(|share| (share * 4.0 - 1.0).abs() < 0.1), "{served:?}");
}

#[test]
fn users_beyond_the_table_have_shares_all_the_same() {
    // Twice as many as slots: two share one on average, none starves.
    let served = shares("users=32 probation=0.001", &[1; 64]);
    assert!(served.iter().all(|share| share * 64.0 > 0.1), "{served:?}");
}

/// When users that came at the beginning have standing if they come again.
const LATER: Time = Time(1000);

/// Four long ones that have sent for a while, and one who has been silent.
fn long_ones(options: &str) -> Qdisc {
    let mut queue = lfq(&format!("probation=0.000001 {options}"), 100_000);
    for _ in 0..2 {
        (0..5).for_each(|user| enqueue(&mut queue, packet(user, 0, 1500)));
    }
    for _ in 0..4000 {
        let sent = queue.dequeue(LATER).expect("packets wait");
        // User 4 falls silent when it has come again.
        if sent.dst < 4 || queue.stats().dequeued < 300 {
            queue.enqueue(sent, LATER);
        }
    }
    queue
}

/// Bound 3: what the credit covers goes before all who are not behind.
#[test]
fn a_transfer_within_the_lag_waits_for_nobody_who_is_not_behind() {
    let mut queue = long_ones("");
    let transfer = 200;
    for handle in 0..transfer {
        queue.enqueue(Packet { handle: 7000 + handle, ..packet(4, 1, 1500) }, LATER);
    }
    let others = (0..).take_while(|_| {
        let sent = queue.dequeue(LATER).expect("packets wait");
        if sent.dst < 4 {
            queue.enqueue(sent, LATER);
        }
        sent.handle != 7000 + transfer - 1
    });
    let departures = others.count() as u64 + 1;
    // A bucket and two packets for each of the four.
    assert!(departures - transfer <= 4 * (8192 / 1500 + 2), "{departures}");
}

#[test]
fn a_packet_of_a_sparse_flow_goes_before_all_while_its_user_is_ahead_by_no_more_than_the_debt() {
    let mut queue = long_ones("");
    // A bulk flow of user 4 uses its credit up; then it is a user as the others.
    (0..2).for_each(|_| _ = queue.enqueue(packet(4, 2, 1500), LATER));
    for _ in 0..1500 {
        let sent = queue.dequeue(LATER).expect("packets wait");
        queue.enqueue(sent, LATER);
    }
    let mut first = 0;
    for port in 10..40 {
        queue.enqueue(packet(4, port, 200), LATER);
        let sent = queue.dequeue(LATER).expect("packets wait");
        first += u32::from(sent.flow == packet(4, port, 0).flow);
    }
    // 30 packets of 200 bytes are less than 15 kB.
    assert!(first >= 29, "{first}");
}

#[test]
fn a_full_buffer_drops_the_head_of_a_long_flow_of_the_user_with_most_waiting() {
    let mut queue = lfq("probation=0", 8);
    for (handle, (user, port)) in (0..).zip([(1, 1), (1, 2), (1, 2), (1, 2), (2, 1), (2, 1), (3, 1), (3, 2)]) {
        queue.enqueue(Packet { handle, ..packet(user, port, 1500) }, Time::ZERO);
    }
    queue.enqueue(Packet { handle: 8, ..packet(4, 1, 1500) }, Time::ZERO);
    let dropped: Vec<_> = queue.dropped().iter().map(|(packet, reason)| (packet.handle, *reason)).collect();
    assert_eq!(dropped, [(1, DropReason::PushedOut)]);
}

/// RFC 9331: a scalable sender is told when a packet waited for over a millisecond, a classic one is not.
#[test]
fn packets_of_scalable_senders_are_marked_early() {
    for (ecn, marked) in [(Ecn::Ect1, true), (Ecn::Ect0, false), (Ecn::NotEct, false)] {
        let mut queue = lfq("", 100);
        (0..3).for_each(|_| enqueue(&mut queue, Packet { ecn, ..packet(1, 1, 1500) }));
        let first = queue.dequeue(Time(MS)).expect("three wait");
        assert_eq!(first.ecn, ecn, "not above the step");
        let second = queue.dequeue(Time(MS + 1)).expect("two wait");
        assert_eq!(second.ecn == Ecn::Ce, marked, "{ecn:?}");
        let last = queue.dequeue(Time(9 * MS)).expect("one waits");
        assert_eq!(last.ecn, ecn, "nothing waits behind it");
    }
}

/// Acknowledgements of 2896 bytes each beside data: one user downloads, one uploads.
#[test]
fn in_a_cell_acknowledgements_are_charged_what_they_acknowledge() {
    for (medium, expected) in [("wire", 1500.0 / 40.0), ("cell", 1500.0 / 2896.0)] {
        let mut queue = lfq(&format!("medium={medium} probation=0"), 1000);
        let mut acknowledged = 0;
        let ack = |acknowledged: u64| Packet { kind: Kind::Ack, progress: acknowledged, ..packet(2, 1, 40) };
        let mut counts = [0.0_f64; 3];
        queue.enqueue(packet(1, 1, 1500), Time::ZERO);
        queue.enqueue(packet(1, 1, 1500), Time::ZERO);
        for _ in 0..3 {
            acknowledged += 2896;
            queue.enqueue(ack(acknowledged), Time::ZERO);
        }
        for _ in 0..20_000 {
            let sent = queue.dequeue(Time::ZERO).expect("packets wait");
            counts[sent.dst as usize] += 1.0;
            acknowledged += if sent.dst == 2 { 2896 } else { 0 };
            queue.enqueue(if sent.dst == 2 { ack(acknowledged) } else { packet(1, 1, 1500) }, Time::ZERO);
        }
        assert!((counts[2] / counts[1] / expected - 1.0).abs() < 0.1, "{medium}: {counts:?}");
    }
}

#[test]
fn users_with_standing_keep_it_while_new_addresses_pass() {
    let mut queue = lfq("", 100_000);
    for user in 0..50 {
        for _ in 0..25 {
            queue.enqueue(packet(user, 0, 1500), Time::ZERO);
            queue.dequeue(Time::ZERO);
        }
    }
    for address in 1000..100_000 {
        queue.enqueue(packet(address, 0, 1500), Time::ZERO);
        queue.dequeue(Time::ZERO);
    }
    // A newcomer that floods, and the 50 users beside it: each has as much as it.
    let mut served = vec![0; 51];
    for round in 0..3 {
        (0..50).for_each(|user| enqueue(&mut queue, packet(user, 0, 1500)));
        (0..50).for_each(|n| enqueue(&mut queue, packet(200_000 + n + 50 * round, 0, 1500)));
    }
    for _ in 0..60 {
        let sent = queue.dequeue(Time::ZERO).expect("packets wait");
        served[(sent.dst as usize).min(50)] += 1;
    }
    assert!(served[..50].iter().all(|&packets| packets >= 1), "{served:?}");
}

/// Longest time that user 0, which has sent much, waits for its next packet while 20 others come with all their credit, s.
fn longest_wait(options: &str) -> f64 {
    let mut queue = lfq(&format!("probation=0 target=1000 {options}"), 100_000);
    let mut now = Time::ZERO;
    let mut serve = |queue: &mut Qdisc| {
        now += Time(1_200_000);
        (queue.dequeue(now).expect("packets wait").dst, now)
    };
    (0..500).for_each(|_| enqueue(&mut queue, packet(0, 0, 1500)));
    (0..400).for_each(|_| assert_eq!(serve(&mut queue).0, 0));
    for user in 1..=20 {
        (0..100).for_each(|_| enqueue(&mut queue, packet(user, 0, 1500)));
    }
    let (mut last, mut longest) = (None, 0.0_f64);
    for _ in 0..1500 {
        let (user, at) = serve(&mut queue);
        longest = longest.max((at - last.unwrap_or(at)).as_secs_f64());
        if user == 0 || last.is_none() {
            last = Some(at);
        }
    }
    longest
}

#[test]
fn who_was_not_served_in_a_round_is_served_in_the_next() {
    let patient = longest_wait("patience=1000");
    assert!(patient > 1.0, "{patient} s: others have no credit");
    let longest = longest_wait("");
    // Two rounds of 50 ms, and five packets.
    assert!(longest <= 0.106, "{longest} s");
}

/// Packets of one who was silent that go before the 20th of four that have sent all the time, when a packet takes `each`.
fn ahead_at(each: Time) -> usize {
    let mut queue = lfq("probation=0 target=1000 patience=1000", 100_000);
    let mut now = Time::ZERO;
    (0..4).for_each(|user| (0..1000).for_each(|_| enqueue(&mut queue, packet(user, 0, 1500))));
    let mut serve = |queue: &mut Qdisc| {
        now += each;
        queue.dequeue(now).expect("packets wait").dst
    };
    (0..3200).for_each(|_| assert!(serve(&mut queue) < 4));
    (0..400).for_each(|_| enqueue(&mut queue, packet(4, 0, 1500)));
    let (mut own, mut others) = (0, 0);
    while others < 20 {
        if serve(&mut queue) == 4 { own += 1 } else { others += 1 }
    }
    own
}

#[test]
fn lags_are_no_more_than_a_slow_link_sends_in_half_a_second() {
    let fast = ahead_at(Time(1_200_000));
    assert!(fast >= 240, "{fast}: 360 kB");
    // 1 Mb/s: 62.5 kB are 42 packets, and while they go the clock goes on and the others have their 20.
    let slow = ahead_at(Time(12_000_000));
    assert!((38..=56).contains(&slow), "{slow}");
}

/// A window is longer than the longest packet: each acknowledgement tells 200 kB.
#[test]
fn in_a_cell_an_acknowledgement_of_a_long_window_is_charged_all_of_it() {
    let mut queue = lfq("medium=cell probation=0 target=1000", 1000);
    let mut told = 0;
    let mut ack = || {
        told += 200_000;
        Packet { kind: Kind::Ack, progress: told, ..packet(2, 1, 40) }
    };
    let mut counts = [0.0_f64; 3];
    for _ in 0..40 {
        enqueue(&mut queue, packet(1, 1, 1500));
    }
    (0..3).for_each(|_| enqueue(&mut queue, ack()));
    for _ in 0..40_000 {
        let sent = queue.dequeue(Time::ZERO).expect("packets wait");
        counts[sent.dst as usize] += 1.0;
        enqueue(&mut queue, if sent.dst == 2 { ack() } else { packet(1, 1, 1500) });
    }
    assert!((counts[2] / counts[1] / (1500.0 / 200_000.0) - 1.0).abs() < 0.1, "{counts:?}");
}

#[test]
fn in_a_cell_packets_of_a_user_follow_one_another() {
    let turns = |medium: &str| {
        let mut queue = lfq(&format!("medium={medium} probation=0 target=1000"), 1000);
        (0..4).for_each(|user| (0..40).for_each(|_| enqueue(&mut queue, packet(user, 0, 1500))));
        let users: Vec<u32> = (0..160).map(|_| queue.dequeue(Time::ZERO).expect("packets wait").dst).collect();
        users.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1
    };
    // 160 packets in turns of 20, and before that the first one of each flow, which is sparse.
    assert!(turns("cell") <= 12, "{}", turns("cell"));
    assert!(turns("wire") > 20, "{}", turns("wire"));
}

/// Long ones and one who takes a new address every ten packets: its addresses have one share. A newcomer that comes again after
/// its probation has a share of its own, though the others of its kind always have packets.
#[test]
fn a_newcomer_that_comes_again_leaves_an_attacker_with_new_addresses_behind() {
    let (mut queue, mut now, mut address, mut waiting) = (lfq("target=1000", 100_000), Time::ZERO, 100, 0);
    let (mut attacker, mut newcomer, mut total) = (0.0, 0.0, 0.0);
    for round in 0..10_000_u64 {
        if round == 0 || round == 1000 {
            // Long ones, and later a newcomer.
            let users = if round == 0 { 0..3 } else { 3..4 };
            for user in users.flat_map(|user| [user, user]) {
                queue.enqueue(packet(user, 0, 1500), now);
            }
        }
        while waiting < 60 {
            for _ in 0..10 {
                queue.enqueue(packet(address, 0, 1500), now);
            }
            (address, waiting) = (address + 1, waiting + 10);
        }
        let sent = queue.dequeue(now).expect("packets wait");
        now += Time(800 * 1500);
        if sent.dst < 4 {
            queue.enqueue(sent, now);
        } else {
            waiting -= 1;
        }
        // A second after it came.
        if round >= 2000 {
            total += 1.0;
            attacker += f64::from(u8::from(sent.dst >= 4));
            newcomer += f64::from(u8::from(sent.dst == 3));
        }
    }
    assert!(attacker / total < 1.05 / 5.0, "{}", attacker / total);
    assert!(newcomer / total > 0.95 / 5.0, "{}", newcomer / total);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bound 1 inside a user: no flow is served more than the bound beyond one that always has packets, however it pauses.
    #[test]
    fn no_flow_is_served_more_than_the_bound_beyond_one_of_its_user_that_always_has_packets(
        bursts in prop::collection::vec((1..5_usize, 1..60_u32, 40..1500_u32, 0..60_u32), 1..120)
    ) {
        const FLOW_LAG: i64 = 8_000;
        let options = format!("user_lag={LAG} flow_lag={FLOW_LAG} debt=0 probation=0 target=1000 patience=1000");
        let mut queue = lfq(&options, 1_000_000);
        let mut most = 2 * (FLOW_LAG + LONGEST) + (2.0 * sag(5.0)) as i64;
        // What goes ahead when a flow begins, within its user.
        most += LONGEST;
        let (mut served, mut least) = ([0_i64; 5], [0_i64; 5]);
        (0..3).for_each(|_| enqueue(&mut queue, packet(1, 0, LONGEST as u32)));
        for (port, packets, len, taken) in bursts {
            (0..packets).for_each(|_| enqueue(&mut queue, packet(1, port as u64, len)));
            for _ in 0..taken {
                let sent = queue.dequeue(Time::ZERO).expect("flow 0 has packets");
                let port = (sent.flow.0 >> 1) as usize & 7;
                served[port] += i64::from(sent.len);
                if port == 0 {
                    enqueue(&mut queue, sent);
                }
                for port in 1..5 {
                    let beyond = served[port] - served[0];
                    least[port] = beyond.min(least[port]);
                    prop_assert!(beyond - least[port] <= most, "flow {port}: {} of {most}", beyond - least[port]);
                }
            }
        }
    }
}

/// Bound 2 when the link could be filled with packets that go ahead: sixty users who send one at a time.
#[test]
fn packets_that_go_ahead_keep_nobody_from_what_is_warranted() {
    let mut link = Link::of(bounded(), 60);
    let mut least = 0.0_f64;
    for round in 0..20_000 {
        link.arrive(packet(1 + round % 60, 0, LONGEST as u32));
        link.serve();
        let lacks = PACE * link.share - link.served[0] as f64;
        least = least.min(lacks);
        assert!(lacks - least <= late(61.0), "{} of {}", lacks - least, late(61.0));
    }
}

/// Newcomers that come again before any of them was served are still one user.
#[test]
fn who_was_not_served_has_no_standing_by_coming_again() {
    let mut queue = long_ones("");
    let (first, again, mut newcomers) = (Time(300 * MS), Time(500 * MS), 0);
    for user in 10..20 {
        queue.enqueue(packet(user, 1, 1500), first);
    }
    // Enough that none has to come a third time.
    for user in (0..1500).map(|n| 10 + n % 10) {
        queue.enqueue(packet(user, 1, 1500), again);
    }
    // The credit of the newcomers is used up before it counts.
    for round in 0..2000 {
        let sent = queue.dequeue(again).expect("packets wait");
        newcomers += u32::from(round >= 1000 && sent.dst >= 10);
        if sent.dst < 4 {
            queue.enqueue(sent, again);
        }
    }
    assert!((150..300).contains(&newcomers), "{newcomers}");
}

/// The clock of a user goes on while it is silent: its call is behind its own page, and goes first.
#[test]
fn a_call_does_not_wait_for_a_page_of_its_own_user() {
    let mut queue = long_ones("");
    let served = |queue: &mut Qdisc| {
        let sent = queue.dequeue(LATER).expect("long ones have packets");
        if sent.dst < 4 {
            queue.enqueue(sent, LATER);
        }
        sent.flow
    };
    let call = packet(4, 9, 1500);
    // A sixtieth of what is sent, and more than the lag of a flow.
    for _ in 0..160 {
        queue.enqueue(call, LATER);
        (0..60).for_each(|_| _ = served(&mut queue));
    }
    for _ in 0..60 {
        queue.enqueue(packet(4, 10, 1500), LATER);
    }
    queue.enqueue(call, LATER);
    let waits = (0..).take_while(|_| served(&mut queue) != call.flow).count();
    assert!(waits <= 2, "{waits}");
}

/// Bytes of `total` by destination, of endless flows of these sources, destinations, marks and ports.
fn of_hosts(options: &str, flows: &[(u32, u32, u32, u64)], total: f64) -> HashMap<u32, f64> {
    let mut queue = lfq(&format!("probation=0 target=1000 {options}"), 100_000);
    let one = |&(src, dst, mark, port): &(u32, u32, u32, u64)| {
        let flow = FlowKey(u64::from(src) << 48 | u64::from(dst) << 32 | port << 1);
        Packet { flow, src, mark, ..packet(dst, port, 1500) }
    };
    flows.iter().for_each(|flow| (0..3).for_each(|_| enqueue(&mut queue, one(flow))));
    let (mut now, mut served, mut sent_bytes) = (Time::ZERO, HashMap::new(), 0.0);
    while sent_bytes < total {
        let sent = queue.dequeue(now).expect("all have packets");
        now += Time(800 * u64::from(sent.len));
        if now > Time(2000 * MS) {
            *served.entry(sent.dst).or_insert(0.0) += f64::from(sent.len) / total;
            sent_bytes += f64::from(sent.len);
        }
        queue.enqueue(sent, now);
    }
    served
}

#[test]
fn users_share_by_their_weights() {
    // Two flows of the first: its weight is that of the user.
    let flows = [(9, 1, 1, 1), (9, 1, 1, 2), (9, 2, 3, 1), (9, 3, 6, 1)];
    let served = of_hosts("weights=mark", &flows, 20e6);
    for (user, share) in [(1, 0.1), (2, 0.3), (3, 0.6)] {
        assert!((served[&user] / share - 1.0).abs() < 0.05, "{served:?}");
    }
    let served = of_hosts("", &flows, 20e6);
    assert!(served.values().all(|share| (share * 3.0 - 1.0).abs() < 0.05), "no weights: {served:?}");
}

#[test]
fn users_may_be_told_by_their_marks() {
    let flows: Vec<_> = (0..12).map(|n| (n, 20 + u32::from(n >= 10), u32::from(n >= 10), 1)).collect();
    let served = of_hosts("user=mark", &flows, 20e6);
    assert!(served.values().all(|share| (share * 2.0 - 1.0).abs() < 0.05), "{served:?}");
}

/// One host that has forty peers, beside two that have one each: as pairs it is forty users, as a triple one. Where all pairs
/// share a host, they are equal as before.
#[test]
fn a_host_with_many_peers_is_one_of_three_under_triple() {
    let mut flows: Vec<_> = (0..40).map(|peer| (100 + peer, 1, 0, 1)).collect();
    flows.extend([(98, 2, 0, 1), (99, 3, 0, 1)]);
    let served = of_hosts("user=triple", &flows, 20e6);
    assert!(served.values().all(|share| (share * 3.0 - 1.0).abs() < 0.1), "{served:?}");
    let served = of_hosts("user=pair", &flows, 20e6);
    assert!(served[&1] > 0.9, "{served:?}");
    let one_server: Vec<_> = (1..=8).map(|host| (9, host, 0, 1)).collect();
    let served = of_hosts("user=triple", &one_server, 20e6);
    assert!(served.values().all(|share| (share * 8.0 - 1.0).abs() < 0.05), "{served:?}");
}

/// Pairs that share no host: `triple` decides as `pair` does, whatever comes.
#[test]
fn triple_decides_as_pair_where_no_host_is_shared() {
    let mut drawn = Stream::named(5, "pairs");
    let mut below = |bound: u64| drawn.bits() % bound;
    let mut queues = ["pair", "triple"].map(|user| lfq(&format!("user={user}"), 200));
    let mut now = Time::ZERO;
    for handle in 0..50_000 {
        let host = below(40) as u32;
        let own = Packet { src: host, handle, ..packet(1000 + host, below(4), 40 + below(1460) as u32) };
        now += Time(below(2000) * 1000);
        let fates = queues.each_mut().map(|queue| format!("{:?}", queue.enqueue(own, now)));
        assert_eq!(fates[0], fates[1]);
        if handle % 3 > 0 {
            let sent = queues.each_mut().map(|queue| queue.dequeue(now).map(|packet| packet.handle));
            assert_eq!(sent[0], sent[1]);
        }
    }
}

/// Share of the link that one who comes back with all its credit has of its first 200 packets, beside fifty flows of other users that starve.
fn share_beside_starved(options: &str, users: u32) -> f64 {
    let mut queue = lfq(&format!("probation=0 target=1000 user_lag=360000 {options}"), 100_000);
    let mut now = Time::ZERO;
    let mut serve = |queue: &mut Qdisc, keeps: bool| {
        let sent = queue.dequeue(now).expect("packets wait");
        now += Time(800 * u64::from(sent.len));
        if keeps {
            queue.enqueue(sent, now);
        }
        sent.dst
    };
    let starved = (0..50).map(|n| (1 + n % users, u64::from(n / users)));
    starved.for_each(|(user, port)| (0..20).for_each(|_| enqueue(&mut queue, packet(user, port, 1500))));
    // Their credit is used up, and the clock with them.
    for _ in 0..20_000 {
        serve(&mut queue, true);
    }
    (0..300).for_each(|_| enqueue(&mut queue, packet(0, 0, 1500)));
    // A round and a half, until the others have starved.
    for _ in 0..60 {
        serve(&mut queue, true);
    }
    f64::from((0..100).filter(|_| serve(&mut queue, true) == 0).count() as u32) / 100.0
}

/// Who starved has one packet in five, if that leaves it within its debt, and none beyond.
#[test]
fn who_starves_has_one_packet_in_five_and_none_beyond_its_debt() {
    let share = share_beside_starved("debt=15000", 50);
    assert!((0.78..=0.82).contains(&share), "{share}");
    let share = share_beside_starved("debt=0", 50);
    assert!(share > 0.95, "{share}");
    let share = share_beside_starved("debt=15000 patience=1000", 50);
    assert!(share > 0.99, "nobody starves: {share}");
    let share = share_beside_starved("debt=15000", 1);
    assert!(share > 0.95, "one flow of a user in a round: {share}");
}

/// When CoDel first drops of 300 packets that come at once, at 10 Mb/s, beside a user that always has packets; ms.
fn first_drop(options: &str) -> u64 {
    let mut queue = lfq(&format!("probation=0 {options}"), 100_000);
    let mut now = Time(MS);
    for _ in 0..2000 {
        // Alone: it used up what credit it had.
        queue.enqueue(packet(1, 0, 1500), now);
        queue.dequeue(now);
        now += Time(2 * MS);
    }
    let began = now;
    for _ in 0..300 {
        queue.enqueue(packet(0, 0, 1500), now);
    }
    loop {
        queue.enqueue(packet(1, 0, 1500), now);
        queue.dequeue(now).expect("packets wait");
        if queue.dropped().iter().any(|(packet, _)| packet.dst == 0) {
            return (now.0 - began.0) / MS;
        }
        now += Time(1_200_000);
    }
}

/// A queue that the credit of its user empties is left alone for twice the interval; that of a user without credit for one.
#[test]
fn codel_leaves_who_is_behind_alone_while_its_packets_wait_less_than_the_interval() {
    let behind = first_drop("user_lag=1000000 flow_lag=1000000 lag_time=100");
    assert!((200..=204).contains(&behind), "{behind}");
    let level = first_drop("user_lag=0 flow_lag=0");
    assert!((104..=110).contains(&level), "{level}");
}

/// Clients of one server share a host, and have their whole lag under `triple` all the same: one that comes back goes first.
#[test]
fn who_shares_one_server_with_all_others_keeps_its_lag_under_triple() {
    let mut queue = lfq("user=triple probation=0 target=1000 user_lag=200000 patience=0.05", 100_000);
    let mut now = Time::ZERO;
    (1..=8).for_each(|user| (0..20).for_each(|_| enqueue(&mut queue, packet(user, 0, 1500))));
    for _ in 0..3000 {
        let sent = queue.dequeue(now).expect("all have packets");
        now += Time(800 * u64::from(sent.len));
        queue.enqueue(sent, now);
    }
    for _ in 0..100 {
        queue.enqueue(packet(9, 0, 1500), now);
    }
    let first = (0..100).filter(|_| queue.dequeue(now).is_some_and(|sent| sent.dst == 9)).count();
    assert!(first > 85, "{first}");
}

/// A newcomer whose packets wait while others come for the first time, one after another: bound 2 holds among newcomers, where
/// every flow starts level.
#[test]
fn newcomers_do_not_wait_for_all_that_come_after_them() {
    const FLOWS: u32 = 101;
    let mut queue = lfq("probation=1000 target=1000", 100_000);
    let mut now = Time::ZERO;
    (1..FLOWS).for_each(|user| enqueue(&mut queue, packet(user, 0, 1500)));
    (0..400).for_each(|_| enqueue(&mut queue, packet(0, 0, 1500)));
    let (mut served, rounds) = (0, 200);
    for user in FLOWS..FLOWS * (rounds + 1) {
        served += u32::from(queue.dequeue(now).expect("packets wait").dst == 0);
        now += Time(1_200_000);
        queue.enqueue(packet(user, 0, 1500), now);
    }
    // Less a bucket of 8 KiB, and two packets.
    let warranted = PACE * f64::from(rounds) - (8192.0 / 1500.0 + 2.0);
    assert!(f64::from(served) > warranted, "{served} of {warranted}");
}

/// Width of a bucket for a lag of 360 and of 490 kB.
const DEFAULT_WIDTH: i64 = 8192;

/// Users that always have packets, all of one length each, at 10 Mb/s, and user 0, which comes when the clock has gone on with the
/// others.
struct Backlogged {
    queue: Qdisc,
    lens: HashMap<u32, u32>,
    now: Time,
}

impl Backlogged {
    fn of(options: &str) -> Backlogged {
        let options = format!("probation=0 target=1000 users=4096 flows=16384 lag_time=1e9 {options}");
        Backlogged { queue: lfq(&options, 100_000), lens: HashMap::new(), now: Time::ZERO }
    }

    fn come(&mut self, users: std::ops::Range<u32>, len: u32) {
        for user in users {
            self.lens.insert(user, len);
            (0..3).for_each(|_| _ = self.queue.enqueue(packet(user, 0, len), self.now));
        }
    }

    /// Who is served, and what.
    fn serve(&mut self) -> (u32, f64) {
        let sent = self.queue.dequeue(self.now).expect("all have packets");
        self.now += Time(800 * u64::from(sent.len));
        if sent.flow == packet(sent.dst, 0, 0).flow {
            self.queue.enqueue(packet(sent.dst, 0, self.lens[&sent.dst]), self.now);
        }
        (sent.dst, f64::from(sent.len))
    }

    fn serve_bytes(&mut self, bytes: f64) {
        let mut served = 0.0;
        while served < bytes {
            served += self.serve().1;
        }
    }

    /// By how much user 0, which came a lag behind, falls beyond that while `bytes` are served: its clock goes on by what is
    /// warranted, at least.
    fn beyond_the_lag(&mut self, bytes: f64) -> f64 {
        let users = self.lens.len() as f64;
        let (mut total, mut own, mut worst) = (0.0, 0.0, 0.0_f64);
        while total < bytes {
            let (user, len) = self.serve();
            total += len;
            own += if user == 0 { len } else { 0.0 };
            worst = worst.max(PACE * total / users - own);
        }
        worst
    }
}

/// The lemma where packets differ in length: users with long packets have had their share and starve while a hundred with short
/// ones, user 0 among them, come back a lag behind. A packet out of turn is as many bytes as 37 in turn.
#[test]
fn who_starves_has_one_byte_in_five_whatever_packets_are_long() {
    for (debt, large, small, seconds) in [(15_000, 100, 100, 60), (15_000, 150, 200, 60), (500_000, 100, 100, 60)] {
        let mut link = Backlogged::of(&format!("user_lag=360000 flow_lag=120000 debt={debt}"));
        link.come(1..large + 1, 1500);
        link.serve_bytes(f64::from(large) * 2.0 * DEFAULT_WIDTH as f64);
        link.come(0..1, 40);
        link.come(10_000..10_000 + small, 40);
        let beyond = link.beyond_the_lag(1.25e6 * f64::from(seconds));
        let bound = sag_of(DEFAULT_WIDTH, f64::from(large + small + 1));
        assert!(beyond <= bound, "debt {debt}, {large} beside {small}: {beyond} of {bound}");
    }
}

/// The lemma where the order of the users was charged in place: users come back with all of a lag of 59 buckets, after packets of
/// a user in the order went ahead.
#[test]
fn who_comes_back_with_all_its_lag_is_in_order_after_packets_went_ahead() {
    let mut link = Backlogged::of("user_lag=480000 flow_lag=160000 patience=1000");
    link.come(20..30, 1500);
    link.serve_bytes(3e7);
    // Six sparse packets: user 20 is in a later bucket than where it waits, which is found as its turn comes.
    (0..6).for_each(|port| _ = link.queue.enqueue(packet(20, 100 + port, 1500), link.now));
    link.serve_bytes(6e4);
    link.come(0..1, 40);
    link.come(1000..1100, 1500);
    let beyond = link.beyond_the_lag(5e7);
    let bound = sag_of(DEFAULT_WIDTH, 111.0);
    assert!(beyond <= bound, "{beyond} of {bound}");
}

/// The lemma where packets go ahead: three users come back with all their credit and a new port for each packet, then user 0.
#[test]
fn who_is_in_line_for_going_ahead_does_not_wait_for_the_credit_of_those_before_it() {
    let mut queue = lfq("probation=0 target=1000 patience=1000", 100_000);
    (20..25).for_each(|user| (0..1000).for_each(|_| enqueue(&mut queue, packet(user, 0, 1500))));
    while queue.dequeue(Time::ZERO).is_some() {}
    for user in 1..=3 {
        (0..213).for_each(|port| enqueue(&mut queue, packet(user, port, 1500)));
    }
    enqueue(&mut queue, packet(0, 0, 1500));
    let before = (0..).take_while(|_| queue.dequeue(Time::ZERO).expect("packets wait").dst != 0).count();
    // The clock goes on by a bucket at most while they go: of four users, at a pace of 0.4.
    let most = DEFAULT_WIDTH as f64 * 4.0 / PACE / 1500.0 + 4.0;
    assert!((before as f64) < most, "{before} of {most}");
}
