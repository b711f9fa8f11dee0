//! Scripted connections: data both ways, trains that wait for each other.

use netsim::tcp::settings::{EcnMode, Recovery};
use netsim::{FlowSpec, Output, Part, Run, Scripts, Train};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{FASTEST_BPS, disciplines, go, ms, rate, wired};

/// Round-trip time of `distant`.
const RTT: u64 = 100;

fn train(forward: bool, bytes: u64, wait: u64) -> Train {
    Train { forward, bytes, wait: ms(wait), pace: Time::ZERO }
}

fn down(bytes: u64, wait: u64) -> Train {
    train(true, bytes, wait)
}

fn up(bytes: u64, wait: u64) -> Train {
    train(false, bytes, wait)
}

/// A path of 100 ms on which sending takes next to no time, without delayed acknowledgements.
fn distant() -> Run {
    let mut run = wired("fifo");
    (run.network.rate, run.network.access_rate) = (rate(FASTEST_BPS), rate(FASTEST_BPS));
    (run.network.delay, run.network.access_delay, run.network.exit_delay) = (ms(30), ms(10), ms(10));
    run.tcp.delayed_ack = Time::ZERO;
    run
}

/// A connection opened by the end that sends first.
fn play(run: &Run, trains: &[Train]) -> Output {
    let size_bytes = trains.iter().map(|train| train.bytes).sum();
    let receiver_opens = !trains[0].forward;
    let flow = FlowSpec { size_bytes, receiver_opens, script: Some(0), ..FlowSpec::default() };
    go(
        &Run { scripts: Scripts { list: vec![trains.to_vec()], ..(*run.scripts).clone() }.into(), ..run.clone() },
        &[flow],
    )
}

/// Starts and ends of the trains, milliseconds; the microseconds of sending are left out.
fn times(output: &Output) -> Vec<(u64, u64)> {
    output.trains.iter().map(|train| (train.start.0 / 1_000_000, train.end.0 / 1_000_000)).collect()
}

#[test]
fn a_request_and_its_answer_take_the_round_trips_of_slow_start_and_the_think_time() {
    // Windows of 3, 6 and 1: the answer's last segment leaves two round trips after its first.
    let output = play(&distant(), &[up(400, 0), down(10 * 1460, 20)]);
    let asked = RTT;
    let answered = asked + RTT / 2 + 20;
    assert_eq!(times(&output), [(asked, asked + RTT / 2), (answered, answered + 2 * RTT + RTT / 2)]);
    let record = output.records[0];
    assert_eq!((record.delivered_bytes, record.back_bytes), (400 + 14_600, 400));
    // SYN-ACK, request and FIN-ACK come with the answers to them; FIN follows the data.
    assert_eq!(record.finish.0 / 1_000_000, answered + 2 * RTT + RTT / 2 + RTT);
}

#[test]
fn a_dialogue_of_short_trains_takes_half_a_round_trip_each() {
    let trains: Vec<Train> = (0..20).map(|n| train(n % 2 == 1, 100, 7)).collect();
    let expected: Vec<(u64, u64)> = (0..20).map(|n| RTT + 7 + n * (RTT / 2 + 7)).map(|at| (at, at + RTT / 2)).collect();
    assert_eq!(times(&play(&distant(), &trains)), expected);
    // The same with the sender of the flow first.
    let turned: Vec<Train> = trains.iter().map(|train| Train { forward: !train.forward, ..*train }).collect();
    assert_eq!(times(&play(&distant(), &turned)), expected);
}

#[test]
fn trains_of_one_end_wait_for_the_acknowledgement_of_the_one_before() {
    let output = play(&distant(), &[down(1460, 0), down(1460, 40), up(1, 0)]);
    let second = RTT + RTT + 40;
    let expected = [(RTT, RTT + RTT / 2), (second, second + RTT / 2), (second + RTT / 2, second + RTT)];
    assert_eq!(times(&output), expected);
}

#[test]
fn a_part_of_a_train_has_come_in_with_the_segment_that_ends_it() {
    // Windows of 3 and 6; parts 7 and 8 end within the same segment, 9 with the first of the next window.
    let trains = [up(400, 0), down(9 * 1460, 0), up(1, 0), down(10, 0)];
    let part = |train, end, number| Part { train, end, number };
    let parts = vec![part(1, 1, 7), part(1, 1460, 8), part(1, 3 * 1460 + 1, 9), part(3, 10, 1)];
    let mut run = distant();
    std::sync::Arc::make_mut(&mut run.scripts).parts = vec![parts.clone()];
    let output = play(&run, &trains);
    let told: Vec<_> = output.trains.iter().map(|train| (train.train, train.part)).collect();
    assert_eq!(told, [(0, 0), (1, 0), (1, 7), (1, 8), (1, 9), (2, 0), (3, 0), (3, 1)]);
    let starts = RTT + RTT / 2;
    let windows = [2 * RTT, RTT, RTT].map(|ends| (starts, starts + ends - RTT / 2));
    let ends = (starts, starts + RTT + RTT / 2);
    assert_eq!(times(&output)[1..5], [ends, windows[1], windows[2], ends]);
    // Where a part ends is none of TCP's business.
    assert_eq!(play(&distant(), &trains).records, output.records);
    // Lost segments hold parts up, and none is forgotten.
    run.network.loss = 0.2;
    assert!(play(&run, &trains).trains.iter().all(|train| train.end < Time::NEVER));
}

#[test]
fn a_paced_train_sends_a_packet_per_pace() {
    let paced = Train { pace: ms(30), ..down(8 * 1460, 0) };
    let output = play(&distant(), &[up(1, 0), paced]);
    let (start, end) = times(&output)[1];
    assert_eq!(end - start, 7 * 30 + RTT / 2);
}

#[test]
fn an_acknowledgement_rides_on_the_answer_when_that_comes_within_the_delay() {
    let mut run = distant();
    run.tcp.delayed_ack = ms(200);
    let packets = |wait| {
        let counters = play(&run, &[up(400, 0), down(1000, wait)]).counters;
        (counters.sent, counters.reverse_sent)
    };
    // Down: SYN-ACK, answer, FIN, last acknowledgement. Up: SYN, acknowledgement, request, FIN-ACK.
    assert_eq!(packets(199), (4, 4));
    // The acknowledgement of the request goes ahead.
    assert_eq!(packets(201), (5, 4));
}

#[test]
fn a_train_ends_in_a_short_segment_that_waits_for_nothing() {
    let mut run = distant();
    run.tcp.delayed_ack = ms(200);
    let bytes = |first: u64| {
        let counters = play(&run, &[up(first, 0), down(1, 0)]).counters;
        counters.reverse_sent_bytes - 3 * 40
    };
    // SYN, acknowledgement of the SYN-ACK and FIN-ACK aside: one segment of 1, then two of 1460 and 1.
    assert_eq!([bytes(1), bytes(1461)], [41, 1461 + 80]);
}

#[test]
fn an_idle_end_begins_again_with_the_initial_window_on_request() {
    let trains = [down(40 * 1460, 0), up(1, 0), down(24 * 1460, 5_000)];
    let run = distant();
    let mut restarting = run.clone();
    restarting.tcp.restart_after_idle = true;
    let took = |run: &Run| {
        let (start, end) = times(&play(run, &trains))[2];
        end - start
    };
    // After 40 segments the window holds 24; from 3 on it takes 3, 6, 12 and 3.
    assert_eq!((took(&run), took(&restarting)), (RTT / 2, 3 * RTT + RTT / 2));
}

#[test]
fn without_fin_a_script_is_over_with_its_last_byte() {
    let mut run = distant();
    run.tcp.fin = false;
    for trains in [[up(400, 0), down(1000, 0)], [down(400, 0), up(1000, 0)]] {
        let output = play(&run, &trains);
        assert_eq!(output.records[0].finish, output.trains[1].end);
        assert_eq!(times(&output)[1], (RTT + RTT / 2, 2 * RTT));
    }
}

#[test]
fn scripts_that_make_no_sense_are_refused() {
    let refusal = |trains: Vec<Train>, change: fn(&mut FlowSpec)| {
        let size_bytes = trains.iter().map(|train| train.bytes).sum();
        let mut flow = FlowSpec { size_bytes, receiver_opens: true, script: Some(0), ..FlowSpec::default() };
        change(&mut flow);
        let run = Run { scripts: Scripts { list: vec![trains], ..Scripts::default() }.into(), ..wired("fifo") };
        netsim::run(&run, &[flow], &netsim::Control::default()).expect_err("refused").to_string()
    };
    let good = || vec![up(1, 0), down(1, 0)];
    let first = "flow 0: script that begins with the receiver while the sender opens the connection";
    assert_eq!(refusal(good(), |flow| flow.receiver_opens = false), first);
    assert_eq!(refusal(good(), |flow| flow.script = Some(1)), "flow 0: script that is not listed");
    assert_eq!(refusal(good(), |flow| flow.size_bytes = 3), "flow 0: size is not that of its script");
    assert_eq!(refusal(good(), |flow| flow.udp = Some((100, ms(1)))), "flow 0: datagrams with a script");
    assert_eq!(refusal(Vec::new(), |flow| flow.size_bytes = 1), "flow 0: script without trains");
    assert_eq!(refusal(vec![up(0, 0)], |flow| flow.size_bytes = 1), "flow 0: train outside 1 to 2^40 bytes");
    assert_eq!(refusal(vec![up(1, 86_400_001)], |_| ()), "flow 0: wait or pace above 1 day");
}

fn script() -> impl Strategy<Value = Vec<Train>> {
    let train = (any::<bool>(), 1..60_000_u64, 0..400_u64, prop::option::weighted(0.3, 1..20_u64));
    prop::collection::vec(train, 1..8).prop_map(|trains| {
        let train = |(forward, bytes, wait, pace): (bool, u64, u64, Option<u64>)| Train {
            forward,
            bytes,
            wait: ms(wait),
            pace: pace.map_or(Time::ZERO, ms),
        };
        trains.into_iter().map(train).collect()
    })
}

const ECN: [EcnMode; 5] = [EcnMode::Off, EcnMode::Classic, EcnMode::Dctcp, EcnMode::Accurate, EcnMode::L4s];

/// Every byte comes in, train after train, whatever is lost and whichever discipline queues.
#[test]
fn all_trains_come_in_completely_and_in_order_through_small_buffers() {
    for id in disciplines() {
        let connections = prop::collection::vec((script(), 0..500_u64), 1..6);
        let options = (3..20_u32, 0..4_usize, any::<[bool; 3]>(), (0..5_usize, any::<u64>()), 0..2_u32);
        let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
        let outcome = TestRunner::new(config).run(&(connections, options), |(connections, options)| {
            let (limit, recovery, [fin, timestamps, restart], (ecn, seed), loss) = options;
            let mut run = Run { seed, duration: ms(100_000_000), stop_when_idle: true, ..wired(id) };
            (run.network.limit, run.network.reverse_limit) = (Limit::Packets(limit), Limit::Packets(limit));
            (run.network.rate, run.network.loss) = (rate(2_000_000), f64::from(loss) * 0.02);
            run.tcp.recovery = [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Linux][recovery];
            if run.tcp.recovery == Recovery::Linux {
                run.tcp.tick = ms(1);
            }
            (run.tcp.fin, run.tcp.timestamps, run.tcp.ecn) = (fin, timestamps, ECN[ecn]);
            run.tcp.restart_after_idle = restart;
            let mut flows = Vec::new();
            for (index, (trains, start)) in connections.iter().enumerate() {
                flows.push(FlowSpec {
                    start: ms(*start),
                    size_bytes: trains.iter().map(|train| train.bytes).sum(),
                    receiver_opens: !trains[0].forward,
                    script: Some(index as u32),
                    ..FlowSpec::default()
                });
                std::sync::Arc::make_mut(&mut run.scripts).list.push(trains.clone());
            }
            flows.sort_by_key(|flow| flow.start);
            let output = go(&run, &flows);
            for (index, (flow, record)) in flows.iter().zip(&output.records).enumerate() {
                let trains = &run.scripts.list[flow.script.expect("scripted") as usize];
                let told: Vec<_> = output.trains.iter().filter(|train| train.flow == index as u32).collect();
                prop_assert_eq!(told.len(), trains.len());
                let back: u64 = trains.iter().filter(|train| !train.forward).map(|train| train.bytes).sum();
                prop_assert_eq!((record.delivered_bytes, record.back_bytes), (flow.size_bytes, back));
                prop_assert!(record.finish < Time::NEVER && record.start == flow.start);
                for (place, (told, train)) in told.iter().zip(trains).enumerate() {
                    prop_assert_eq!((told.train, told.forward), (place as u32, train.forward));
                    prop_assert!(told.start < told.end && told.end <= record.finish);
                }
                for (pair, train) in told.windows(2).zip(&trains[1..]) {
                    prop_assert!(pair[1].start >= pair[0].end + train.wait);
                }
            }
            Ok(())
        });
        outcome.unwrap_or_else(|why| panic!("{id}: {why}"));
    }
}
