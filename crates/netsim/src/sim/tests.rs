//! State that only the inside shows: slots and links are used again, no flow is left behind.

use qdisc::Limit;
use units::BitRate;

use super::*;
use crate::network::Network;
use crate::out::accounting::Count;
use crate::out::probes::Probe;
use crate::out::records::{FlowRecord, LinkSecond};
use crate::tcp::settings::{Congestion, EcnMode, Recovery};
use crate::tcp::tests::tcp;

fn run_of(discipline: &str, limit: Limit) -> Run {
    let rate = |bps| BitRate::from_bps(bps).expect("non-zero");
    Run {
        network: Network {
            rate: rate(10_000_000),
            delay: Time::from_millis(1),
            reverse_rate: None,
            reverse_delay: None,
            access_rate: rate(100_000_000),
            exit_rate: None,
            exit_rate_up: None,
            access_delay: Time::from_millis(1),
            exit_delay: Time::from_millis(1),
            limit,
            reverse_limit: limit,
            loss: 0.0,
            impairments: Vec::new(),
            symmetric: false,
            discipline: (discipline.to_owned(), Vec::new()),
            reverse_discipline: ("fifo".to_owned(), Vec::new()),
            traces: [None, None],
            shaping: Default::default(),
        },
        graph: None,
        wlan: None,
        tree: None,
        tcp: tcp(),
        transports: Vec::new(),
        duration: Time::from_millis(1_000_000),
        stop_when_idle: true,
        seed: 1,
        clock_phase: None,
        sample_interval: Time::ZERO,
        watched: Vec::new(),
        trace_drops: true,
        counting: Default::default(),
        traced: Vec::new(),
        trace_limit: 1_000_000,
        subflows: false,
        scripts: Default::default(),
        bursts: Default::default(),
        applications: Vec::new(),
        probes: Vec::new(),
        heard: Vec::new(),
    }
}

fn flow(start: Time, size_bytes: u64) -> FlowSpec {
    FlowSpec { start, size_bytes, ..FlowSpec::default() }
}

/// Largest number of flows that were live at once, from their starts and ends.
fn peak(flows: &[FlowSpec], records: &[FlowRecord]) -> usize {
    let mut changes: Vec<(Time, i32)> = flows.iter().map(|flow| (flow.start, 1)).collect();
    changes.extend(records.iter().map(|record| (record.finish, -1)));
    changes.sort_unstable();
    let levels = changes.iter().scan(0, |level, change| {
        *level += change.1;
        Some(*level)
    });
    levels.max().unwrap_or(0) as usize
}

#[test]
fn a_hundred_thousand_small_flows_take_the_state_of_those_live_at_once() {
    let run = run_of("fifo", Limit::Packets(1000));
    let flows: Vec<FlowSpec> = (0..100_000)
        .map(|n| FlowSpec {
            rtt: (n % 2 == 0).then_some(Time::from_millis(10 + n % 40)),
            udp: (n % 3 == 0).then_some((500, Time::from_millis(1))),
            ..flow(Time(n * 1_700_000), 100 + n % 1000)
        })
        .collect();
    let mut sim = Sim::set_up(&run, &flows).expect("valid");
    sim.handle_events(&Control::default()).expect("not cancelled");
    let (slots, pipes, lanes) = (sim.live.iter_mut().count(), sim.net.pipes.len(), sim.net.lanes.len());
    let peak = peak(&flows, &sim.finish().expect("balanced").records);
    assert!((10..200).contains(&peak), "{peak} flows live at once");
    assert_eq!(slots, peak);
    // Two hosts with two links each, and two more per flow with a path of its own; what is still on its way
    // when a flow ends may hold up the oldest pair for a while.
    assert!(pipes <= 4 + 2 * peak && lanes <= 4 + 2 * peak, "{pipes} links, {lanes} lanes");
}

#[test]
fn a_packet_that_pushes_out_the_last_ones_of_two_flows_ends_both() {
    // Flows 0 and 1 have one packet of 1000 bytes delivered and one waiting when flow 3 brings one of 1500
    // bytes and there is room for 200: under LAS both must go.
    let mut run = run_of("las", Limit::Bytes(2200));
    let network = &mut run.network;
    network.access_rate = BitRate::from_bps(400_000_000_000).expect("non-zero");
    (network.delay, network.access_delay, network.exit_delay) = (Time::ZERO, Time::ZERO, Time::ZERO);
    let udp = |start_us: u64, src, packets: u64, len: u32| FlowSpec {
        src,
        udp: Some((len, Time(1_700_000))),
        ..flow(Time(start_us * 1000), packets * u64::from(len - 28))
    };
    let flows = [udp(0, 0, 2, 1000), udp(0, 1, 2, 1000), udp(1000, 2, 1, 1500), udp(1800, 3, 1, 1500)];
    let mut sim = Sim::set_up(&run, &flows).expect("valid");
    sim.handle_events(&Control::default()).expect("not cancelled");
    let unfinished = sim.unfinished;
    let out = sim.finish().expect("balanced");
    let mut losers: Vec<u32> = out.drops.iter().map(|drop| drop.flow).collect();
    losers.sort_unstable();
    assert_eq!(losers, [0, 1]);
    assert_eq!(out.drops[0].time, out.drops[1].time);
    assert_eq!(unfinished, 0);
    assert_eq!(out.counters.end, out.records[3].finish, "the run ends with its last flow");
}

#[test]
fn no_option_of_a_segment_is_left_behind() {
    // Drops on arrival, of what waits (las), on departure (codel), of what comes too late for its connection, and losses on the link.
    for discipline in ["fifo", "las", "codel", "fq_codel", "red"] {
        let mut run = run_of(discipline, Limit::Packets(12));
        run.tcp.recovery = Recovery::Sack;
        (run.tcp.timestamps, run.tcp.pacing) = (discipline != "fifo", discipline == "red");
        run.tcp.min_rto = Time::from_millis(200);
        run.network.loss = 0.01;
        run.stop_when_idle = false;
        let flows: Vec<FlowSpec> = (0..40)
            .map(|n| FlowSpec { up: n % 4 == 0, src: n as u32 % 5, ..flow(Time(n * 3_000_000), 400 * 1460) })
            .collect();
        let mut sim = Sim::set_up(&run, &flows).expect("valid");
        sim.handle_events(&Control::default()).expect("not cancelled");
        assert_eq!((sim.unfinished, sim.net.options.held()), (0, 0), "{discipline}");
        let places = sim.net.options.places();
        let out = sim.finish().expect("balanced");
        assert!(out.counters.drops > 100, "{discipline}: {} drops", out.counters.drops);
        // At most a window of segments or of their acknowledgements, and copies in recovery.
        assert!((1..2 * 40 * 43).contains(&places), "{discipline}: {places} places");
    }
}

#[test]
fn no_option_of_a_scripted_connection_is_left_behind() {
    let train = |forward, bytes| crate::script::Train { forward, bytes, wait: Time(2_000_000), pace: Time::ZERO };
    for discipline in ["fifo", "las", "codel", "fq_codel", "red"] {
        for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
            let mut run = run_of(discipline, Limit::Packets(12));
            (run.tcp.recovery, run.tcp.fin) = (recovery, discipline != "las");
            (run.tcp.timestamps, run.tcp.pacing) = (discipline != "fifo", discipline == "red");
            run.network.loss = 0.01;
            run.stop_when_idle = false;
            let answer = train(true, 90 * 1460);
            std::sync::Arc::make_mut(&mut run.scripts).list =
                vec![vec![train(false, 40_000), answer, train(false, 400), answer]];
            let scripted = FlowSpec { receiver_opens: true, script: Some(0), ..flow(Time::ZERO, 180 * 1460 + 40_400) };
            let flows: Vec<FlowSpec> =
                (0..40).map(|n| FlowSpec { src: n as u32 % 5, start: Time(n * 3_000_000), ..scripted }).collect();
            let mut sim = Sim::set_up(&run, &flows).expect("valid");
            sim.handle_events(&Control::default()).expect("not cancelled");
            assert_eq!((sim.unfinished, sim.net.options.held()), (0, 0), "{discipline} {recovery:?}");
            assert!(sim.live.iter_mut().all(|live| live.flow == u32::MAX), "{discipline} {recovery:?}: slots in use");
            let (places, slots) = (sim.net.options.places(), sim.live.iter_mut().count());
            let out = sim.finish().expect("balanced");
            assert!(out.counters.drops > 100, "{discipline}: {} drops", out.counters.drops);
            assert!((1..2 * 40 * 43).contains(&places), "{discipline} {recovery:?}: {places} places");
            assert!(slots <= 80, "{discipline}: {slots} slots");
        }
    }
}

#[test]
fn what_came_before_the_end_of_the_warm_up_is_told_of_each_flow() {
    let mut run = run_of("fifo", Limit::Packets(10_000));
    run.counting.warm_up = Time::from_millis(2000);
    let udp = FlowSpec { udp: Some((1000, Time(1_000_000))), ..flow(Time(1_000_000_000), 4000 * 972) };
    let late = flow(Time(3_000_000_000), 14_600);
    let flows = [flow(Time::ZERO, 14_600), flow(Time(1_000_000_000), 3_000_000), udp, late];
    let mut sim = Sim::set_up(&run, &flows).expect("valid");
    sim.handle_events(&Control::default()).expect("not cancelled");
    let records = sim.finish().expect("balanced").records;
    assert!(records.iter().zip(&flows).all(|(record, flow)| record.delivered_bytes == flow.size_bytes));
    let before: Vec<u64> = records.iter().map(|record| record.warm_up_bytes).collect();
    assert_eq!([before[0], before[3]], [14_600, 0]);
    assert!((200_000..1_250_000).contains(&before[1]), "{before:?}");
    // A packet a millisecond, less those that wait behind what the transfer has in the queue.
    assert!((800 * 972..=1000 * 972).contains(&before[2]), "{before:?}");
}

#[test]
fn a_probe_is_sent_back_and_counted_nowhere() {
    let mut run = run_of("fifo", Limit::Packets(300));
    run.probes = vec![Probe { flow: 0, echo: true }, Probe { flow: 1, echo: false }];
    let udp = |len: u32, packets: u64| FlowSpec {
        udp: Some((len, Time::from_millis(20))),
        ..flow(Time::ZERO, packets * u64::from(len - 28))
    };
    let flows = [FlowSpec { up: true, ..udp(64, 10) }, udp(200, 50), udp(1000, 100)];
    let out = crate::run(&run, &flows, &Control::default()).expect("valid");
    let ping: Vec<_> = out.probes.iter().filter(|row| row.flow == 0).collect();
    // 1 ms on each of three links one way; 64 bytes at 100, 10 and 100 Mbit/s, both ways.
    let rtt = Time(2 * (3_000_000 + 2 * 5_120 + 51_200));
    assert_eq!(ping.len(), 10);
    // The others may be in its way.
    assert!(ping.iter().all(|row| row.returned - row.sent >= rtt && row.received < row.returned));
    assert_eq!(ping.iter().map(|row| row.returned - row.sent).min(), Some(rtt));
    let call: Vec<_> = out.probes.iter().filter(|row| row.flow == 1).collect();
    assert_eq!((call.len(), call.iter().all(|row| row.returned == Time::NEVER)), (50, true));
    assert!(call.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
    let counters = out.counters;
    assert_eq!((counters.arrivals, counters.sent, counters.sent_bytes), (100, 100, 100_000));
    assert_eq!((counters.reverse_arrivals, counters.reverse_sent, counters.queue_delay.packets), (0, 0, 100));
    // One second has 50 packets of 1000 bytes, 50 of 200 and 10 of 64, of 1.25 million bytes.
    let bytes = (50 * 1000 + 50 * 200 + 10 * 64) as f64;
    assert!((counters.peak_utilisation - bytes * 8e-7).abs() < 1e-4, "{}", counters.peak_utilisation);
    // Every second of the run is told, those without a packet too.
    assert_eq!(out.seconds.len() as u64, counters.end.0.div_ceil(1_000_000_000));
    assert!((0..).zip(&out.seconds).all(|(second, row)| row.second == second));
    let most = |of: fn(&LinkSecond) -> f64| out.seconds.iter().map(of).fold(0.0, f64::max);
    assert!((most(|row| row.forward) - counters.peak_utilisation).abs() < 1e-9);
    assert!((most(|row| row.reverse) - counters.reverse_peak_utilisation).abs() < 1e-9);
    // 100 packets of 1000 bytes, 50 of 200 and 10 of 64; the last second is as long as the run goes on.
    let last_s = counters.end.as_secs_f64() - (out.seconds.len() - 1) as f64;
    let length_s = |row: &LinkSecond| if row.second as usize + 1 < out.seconds.len() { 1.0 } else { last_s };
    let sent: f64 = out.seconds.iter().map(|row| row.forward * length_s(row)).sum();
    assert!((sent * 1.25e6 - (100_000.0 + 10_000.0 + 640.0)).abs() < 1.0, "{sent}");
}

#[test]
fn the_seconds_of_a_link_do_not_depend_on_a_warm_up_and_are_told_with_probes_only() {
    let mut run = run_of("fifo", Limit::Packets(300));
    run.network.rate = BitRate::from_bps(4_000_000).expect("non-zero");
    let load = FlowSpec { udp: Some((1000, Time::from_millis(4))), ..flow(Time::ZERO, 700 * 972) };
    let ping = FlowSpec { up: true, udp: Some((64, Time::from_millis(100))), ..flow(Time::ZERO, 30 * 36) };
    assert!(crate::run(&run, &[ping, load], &Control::default()).expect("valid").seconds.is_empty());
    run.probes = vec![Probe { flow: 0, echo: true }];
    let out = crate::run(&run, &[ping, load], &Control::default()).expect("valid");
    let (told, last_s) = (out.seconds, out.counters.end.as_secs_f64() - 2.0);
    // A packet of 2 ms each 4 ms, for 2.8 s.
    for (row, share) in told.iter().zip([0.5, 0.5, 0.4 / last_s]) {
        assert!((row.forward - share).abs() < 0.01 && row.reverse < 0.01, "{row:?}");
    }
    run.counting.warm_up = Time(1_500_000_000);
    let warmed = crate::run(&run, &[ping, load], &Control::default()).expect("valid").seconds;
    assert_eq!(told, warmed);
}

#[test]
fn a_transmission_counts_in_every_second_it_lasts() {
    // 1250 bytes at 4 kbit/s: 2.5 s; the second packet follows at once.
    let mut run = run_of("fifo", Limit::Packets(300));
    run.network.rate = BitRate::from_bps(4_000).expect("non-zero");
    let one = FlowSpec { udp: Some((1250, Time(1_000_000))), ..flow(Time::ZERO, 1222) };
    let alone = crate::run(&run, &[one], &Control::default()).expect("valid").counters;
    assert_eq!((alone.peak_utilisation, alone.reverse_peak_utilisation), (1.0, 0.0));
}

#[test]
fn a_probe_must_be_datagrams() {
    let mut run = run_of("fifo", Limit::Packets(300));
    run.probes = vec![Probe { flow: 0, echo: true }];
    let refused = run.check(&[flow(Time::ZERO, 1000)]);
    assert!(matches!(refused, Err(ConfigError::Value("probes", _, _))), "{refused:?}");
}

#[test]
fn the_arrivals_of_datagrams_are_those_of_their_trace() {
    let mut run = run_of("fifo", Limit::Packets(5));
    run.network.rate = BitRate::from_bps(4_000_000).expect("non-zero");
    // More than the link carries: some are dropped.
    let load =
        |len: u32| FlowSpec { udp: Some((len, Time::from_millis(2))), ..flow(Time::ZERO, 400 * u64::from(len - 28)) };
    let flows = [load(1000), load(600), flow(Time::ZERO, 3_000)];
    (run.heard, run.traced, run.trace_limit) = (vec![0, 1], vec![0, 1], 100_000);
    let out = crate::run(&run, &flows, &Control::default()).expect("valid");
    assert_eq!(out.arrivals.len(), 2);
    for own in &out.arrivals {
        let traced: Vec<Time> =
            out.packets.iter().filter(|packet| packet.flow == own.flow).map(|packet| packet.received).collect();
        assert_eq!((own.times.len(), &own.times), (400, &traced));
        let lost = own.times.iter().filter(|&&time| time == Time::NEVER).count() as u64;
        assert!(lost > 0 && lost == out.records[own.flow as usize].drops);
    }
    let plain = Run { heard: Vec::new(), ..run.clone() };
    let quiet = crate::run(&plain, &flows, &Control::default()).expect("valid");
    // A figure that a flow has not is no number, and equals nothing.
    let written = |records: &[FlowRecord]| format!("{records:?}");
    assert!(quiet.arrivals.is_empty());
    assert_eq!(written(&quiet.records), written(&out.records));
    for heard in [vec![2], vec![1, 0], vec![7]] {
        let refused = Run { heard, ..run.clone() }.check(&flows);
        assert!(matches!(refused, Err(ConfigError::Value("heard", _, _))), "{refused:?}");
    }
}

#[test]
fn a_symmetric_network_turned_round_gives_the_run_turned_round() {
    for discipline in ["fifo", "red", "fq_codel", "cake", "pie"] {
        let mut run = run_of(discipline, Limit::Packets(20));
        run.network.reverse_discipline = run.network.discipline.clone();
        (run.network.symmetric, run.network.loss) = (true, 0.005);
        let spec = |n: u64, turned: bool| FlowSpec {
            src: (n % 7) as u32,
            dst: 7 + (n % 4) as u32,
            up: n.is_multiple_of(3) != turned,
            rtt: (!n.is_multiple_of(5)).then_some(Time(9_000_000 + 3_700_001 * (n % 11))),
            udp: (n % 6 == 5).then_some((700, Time(1_100_003))),
            receiver_opens: n.is_multiple_of(2),
            ..flow(Time(n * 13_000_017), 3_000 + 70_000 * (n % 8))
        };
        let out = [false, true].map(|turned| {
            let flows: Vec<FlowSpec> = (0..120).map(|n| spec(n, turned)).collect();
            crate::run(&run, &flows, &Control::default()).expect("valid")
        });
        let [there, back] = &out;
        let told = |out: &Output| -> Vec<_> {
            out.records.iter().map(|record| (record.finish, record.drops, record.packets_sent, record.lost)).collect()
        };
        assert_eq!(told(there), told(back), "{discipline}");
        let (a, b) = (there.counters, back.counters);
        assert!(a.drops + a.reverse_drops > 50, "{discipline}: {} drops", a.drops + a.reverse_drops);
        assert_eq!((a.drops, a.sent_bytes, a.marks), (b.reverse_drops, b.reverse_sent_bytes, b.reverse_marks));
        assert_eq!((a.reverse_drops, a.reverse_sent_bytes, a.reverse_arrivals), (b.drops, b.sent_bytes, b.arrivals));
        // Squares are added up in another order.
        let waits = |delay: crate::QueueDelay| (delay.packets, delay.sum_ns, delay.max);
        assert_eq!(waits(a.reverse_queue_delay), waits(b.queue_delay), "{discipline}");
        assert_eq!(waits(a.queue_delay), waits(b.reverse_queue_delay), "{discipline}");
        assert_eq!(a.peak_utilisation, b.reverse_peak_utilisation, "{discipline}");
    }
}

/// A run that is stopped in the middle, with packets on links and in the queue.
fn stopped<'a>(run: &'a Run, flows: &'a [FlowSpec]) -> Sim<'a> {
    let mut sim = Sim::set_up(run, flows).expect("valid");
    sim.handle_events(&Control::default()).expect("not cancelled");
    assert!(sim.net.lanes.iter().any(|lane| !lane.is_empty()) && sim.ports[0].queue.backlog() > 3);
    sim
}

/// What the books say at the end after `harm`, and when they are looked at in mid-run.
fn told_after(harm: impl Fn(&mut Sim)) -> [String; 2] {
    let mut run = run_of("las", Limit::Packets(30));
    (run.duration, run.network.loss) = (Time::from_millis(700), 0.01);
    let flows: Vec<FlowSpec> = (0..6).map(|n| FlowSpec { src: n, ..flow(Time::ZERO, 1 << 20) }).collect();
    let close = |sim: &mut Sim| sim.close_books().map(|_| ());
    [close, |sim: &mut Sim| sim.audit()].map(|look| {
        let mut sim = stopped(&run, &flows);
        look(&mut sim).expect("nothing is wrong yet");
        let mut sim = stopped(&run, &flows);
        harm(&mut sim);
        look(&mut sim).map_or_else(|error| error.to_string(), |()| "balanced".to_owned())
    })
}

#[test]
fn a_packet_that_a_link_loses_without_a_word_is_missed() {
    let sum = "sent less delivered, dropped, lost, late and under way is";
    for told in told_after(|sim| {
        let mut events = std::iter::from_fn(|| sim.net.events.pop()).filter(|key| key.kind() == Kind::Lane);
        let keys: Vec<_> = events.by_ref().collect();
        keys.into_iter().find_map(|key| sim.net.arrive(key)).expect("packets are under way");
    }) {
        assert!(told.contains("packets are not conserved, a mistake in Mayfly") && told.contains(sum), "{told}");
        assert!(told.contains(": flow ") && told.contains(" is 1 packets and "), "{told}");
    }
}

#[test]
fn a_packet_that_comes_twice_is_one_too_many() {
    for told in told_after(|sim| {
        let packet = *sim.outside_queues().find(|packet| packet.kind == PacketKind::Data).expect("data is under way");
        sim.net.outbox.push_back(packet);
    }) {
        assert!(told.contains(", data: ") && told.contains(" is -1 packets and -1500 bytes, not 0"), "{told}");
    }
}

#[test]
fn a_packet_that_changes_its_length_on_the_way_is_told_in_bytes() {
    for told in told_after(|sim| {
        let mut packet = *sim.outside_queues().next().expect("packets are under way");
        packet.len += 7;
        sim.net.ledger.lost(&packet);
        packet.len -= 7;
        sim.net.ledger.sent(&packet);
    }) {
        assert!(told.contains(" is 0 packets and -7 bytes, not 0"), "{told}");
    }
}

#[test]
fn a_packet_that_leaves_a_queue_by_no_port_is_missed_there() {
    let [closed, looked] = told_after(|sim| {
        sim.ports[0].queue.dequeue(sim.net.now).expect("some wait");
    });
    assert!(closed.contains("link 0, forward: ") && closed.contains(" packets received, "), "{closed}");
    assert!(looked.contains("link 0, forward: ") && looked.ends_with(" should"), "{looked}");
}

#[test]
fn a_discipline_that_keeps_a_packet_for_ever_is_told_with_the_numbers() {
    let run = Run { duration: Time::from_millis(700), ..run_of("las", Limit::Packets(30)) };
    let flows: Vec<FlowSpec> = (0..6).map(|n| FlowSpec { src: n, ..flow(Time::ZERO, 1 << 20) }).collect();
    let mut sim = stopped(&run, &flows);
    let (port, mut waiting) = (&mut sim.ports[0], Count::default());
    let stats = *port.queue.stats();
    port.drain(run.duration, |packet| waiting.add(packet));
    port.balanced(&stats, waiting).expect("all that waits comes out");
    let one_kept = Count { packets: waiting.packets - 1, bytes: waiting.bytes - 40 };
    let (received, dropped, kept) = (stats.received, stats.dropped(), one_kept.packets);
    let told = format!("{received} packets received, {} sent, {dropped} dropped, {kept} waiting", stats.dequeued);
    assert_eq!(port.balanced(&stats, one_kept), Err(told));
}

#[test]
fn options_that_nobody_gave_back_are_missed() {
    let [told, _] = told_after(|sim| {
        sim.net.options.keep(crate::options::SegmentOptions::default());
    });
    assert!(told.contains("0 segments under way have options, 1 are kept"), "{told}");
}

/// With accurate ECN as Linux has it: the sender knows every mark at the end, and the bytes of each code point; all but the
/// SYN and its answer are ECT, what is sent again and acknowledgements too.
#[test]
fn the_sender_of_linux_is_told_every_mark_and_every_byte() {
    for (ecn, timestamps, receiver_opens) in
        [(EcnMode::Accurate, true, false), (EcnMode::L4s, false, false), (EcnMode::Accurate, false, true)]
    {
        let mut run = run_of("codel", Limit::Packets(60));
        (run.tcp.recovery, run.tcp.ecn, run.tcp.tick) = (Recovery::Linux, ecn, Time::from_millis(1));
        (run.tcp.timestamps, run.tcp.receiver_window, run.tcp.delayed_ack) = (timestamps, 200, Time::from_millis(40));
        let flows = [FlowSpec { receiver_opens, ..flow(Time::ZERO, 10_000_000) }];
        let mut sim = Sim::set_up(&run, &flows).expect("valid");
        sim.handle_events(&Control::default()).expect("not cancelled");
        let hosts = [0, 1].map(|index| *sim.net.hosts.known(index).expect("of accurate ECN"));
        let record = &sim.finish().expect("balanced").records[0];
        let (marks, [ect1, ce, ect0]) = hosts[0].delivered();
        let name = format!("{ecn:?} {timestamps} {receiver_opens}: {record:?}");
        assert!(u64::from(marks) == record.marks && marks > 20, "{marks} {name}");
        assert_eq!((marks, [ect1, ce, ect0]), hosts[1].received(), "{name}");
        let capable = [ect0, ect1][usize::from(ecn == EcnMode::L4s)];
        let received = u64::from(ce + capable);
        assert!(received >= 10_000_000, "{name}");
        assert_eq!(ce + capable, ect0 + ect1 + ce, "no other code point: {name}");
    }
}

/// The option of accurate ECN is in data of Linux too, and comes out of the payload: a full packet is as long as without it.
#[test]
fn data_of_linux_makes_room_for_the_option_of_accurate_ecn() {
    for (recovery, ecn, option) in [
        (Recovery::Linux, EcnMode::Classic, 0),
        (Recovery::Linux, EcnMode::Accurate, 12),
        (Recovery::Linux, EcnMode::L4s, 12),
        (Recovery::LinuxWithoutSack, EcnMode::Accurate, 12),
        (Recovery::Sack, EcnMode::Accurate, 0),
    ] {
        let mut run = run_of("codel", Limit::Packets(60));
        (run.tcp.recovery, run.tcp.ecn, run.tcp.tick) = (recovery, ecn, Time::from_millis(1));
        (run.tcp.timestamps, run.tcp.receiver_window, run.tcp.delayed_ack) = (true, 200, Time::from_millis(40));
        (run.traced, run.trace_limit) = (vec![0], 100_000);
        let payload = run.tcp.mss - option;
        let flows = [flow(Time::ZERO, 1000 * u64::from(payload))];
        let found = super::run_both_ways(&run, &flows, &Control::default()).expect("valid");
        let longest = found.packets.iter().map(|packet| packet.len).max();
        let name = format!("{recovery:?} {ecn:?}");
        assert_eq!(longest, Some(run.tcp.mss + run.tcp.headers()), "{name}");
        assert_eq!(run.tcp.payload(), payload, "{name}");
        let alone = super::alone(&run, &flows[0]).expect("valid");
        assert_eq!(alone.arrivals.len(), 1000 + usize::from(run.tcp.fin && !run.tcp.fin_on_data), "{name}");
    }
}

#[test]
fn no_room_for_the_option_of_accurate_ecn_is_refused() {
    let mut run = run_of("fifo", Limit::Packets(60));
    (run.tcp.recovery, run.tcp.ecn, run.tcp.tick) = (Recovery::Linux, EcnMode::Accurate, Time::from_millis(1));
    (run.tcp.receive_buffer, run.tcp.mss) = (crate::tcp::settings::ReceiveBuffer::Window, 12);
    let refused = super::run(&run, &[flow(Time::ZERO, 1000)], &Control::default());
    assert_eq!(
        refused.expect_err("no room").to_string(),
        "tcp.mss = 12: must be at least 13 bytes with the option of accurate ECN"
    );
    run.tcp.mss = 13;
    assert!(super::run(&run, &[flow(Time::ZERO, 1000)], &Control::default()).is_ok());
}

/// The flag of DCTCP (RFC 8257, 3.2): acknowledgements that cover marked segments cover no others, also where they wait.
#[test]
fn the_flag_of_dctcp_tells_linux_which_segments_were_marked() {
    for delayed_ms in [0, 40] {
        let mut run = run_of("codel", Limit::Packets(1000));
        (run.tcp.recovery, run.tcp.ecn, run.tcp.tick) = (Recovery::Linux, EcnMode::Dctcp, Time::from_millis(1));
        (run.tcp.congestion, run.tcp.receiver_window) = (Congestion::Dctcp, 200);
        run.tcp.delayed_ack = Time::from_millis(delayed_ms);
        let flows = [flow(Time::ZERO, 10_000_000)];
        let mut sim = Sim::set_up(&run, &flows).expect("valid");
        sim.handle_events(&Control::default()).expect("not cancelled");
        let Transport::Tcp(connection) = &sim.live.at(0).transport else { panic!("a transfer") };
        let told = connection.told_marks(&run.tcp);
        let record = &sim.finish().expect("balanced").records[0];
        assert!(record.marks > 20 && record.retransmits == 0, "{delayed_ms}: {record:?}");
        assert_eq!(told, record.marks as f64, "{delayed_ms}");
    }
}
