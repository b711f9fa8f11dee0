//! Scripted connections with every transport, over several links, with losses both ways.

use netsim::tcp::settings::{Congestion, Recovery};
use netsim::{FlowSpec, Graph, Hosts, Interface, Link, Output, Run, Scripts, Train};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{go, ms, rate, wired};

fn train(forward: bool, bytes: u64, wait: u64) -> Train {
    Train { forward, bytes, wait: ms(wait), pace: Time::ZERO }
}

fn scripted(trains: &[Train], index: u32) -> FlowSpec {
    let size_bytes = trains.iter().map(|train| train.bytes).sum();
    FlowSpec { size_bytes, receiver_opens: !trains[0].forward, script: Some(index), ..FlowSpec::default() }
}

fn play(run: &Run, trains: &[Train]) -> Output {
    let run = Run { scripts: Scripts { list: vec![trains.to_vec()], ..(*run.scripts).clone() }.into(), ..run.clone() };
    go(&run, &[scripted(trains, 0)])
}

/// How long each train was under way, seconds.
fn durations(output: &Output) -> Vec<f64> {
    output.trains.iter().map(|train| (train.end - train.start).as_secs_f64()).collect()
}

/// 10 Mb/s and a round trip of 40 ms, with windows that fill it.
fn path(congestion: Congestion) -> Run {
    let mut run = wired("fifo");
    (run.network.delay, run.tcp.receiver_window, run.tcp.initial_window) = (ms(18), 400, 10);
    (run.tcp.congestion, run.tcp.recovery, run.tcp.delayed_ack) = (congestion, Recovery::Sack, ms(40));
    run.tcp.min_rto = ms(200);
    run
}

/// Twenty short answers with pauses between them are more rounds than the filter of BBR has, and none of them tells
/// what the path holds (draft-cheng-iccrg-delivery-rate-estimation-00, 3.4). So the long answer after them goes at once at
/// the rate of the first: its 2 MB need 1.64 s on the wire with headers, and half a round trip. All is over before the
/// model visits ProbeRTT, after 10 s.
#[test]
fn bbr_knows_the_rate_of_the_path_after_answers_that_were_too_short_to_show_it() {
    for turned in [false, true] {
        let mut trains = vec![train(false, 400, 0), train(true, 2_000_000, 0)];
        for _ in 0..20 {
            trains.extend([train(false, 400, 100), train(true, 6_000, 0)]);
        }
        trains.extend([train(false, 400, 100), train(true, 2_000_000, 0)]);
        let trains: Vec<Train> = trains.iter().map(|t| Train { forward: t.forward != turned, ..*t }).collect();
        let took = *durations(&play(&path(Congestion::Bbr), &trains)).last().expect("trains");
        assert!((1.66..1.75).contains(&took), "turned: {turned}, {took} s");
    }
}

/// An application that never fills the window by itself is not held to the rate of its own pauses either.
#[test]
fn bbr_in_a_dialogue_of_short_trains_keeps_its_window() {
    let trains: Vec<Train> = (0..60).map(|n| train(n % 2 == 1, 8 * 1460, 50)).collect();
    let output = play(&path(Congestion::Bbr), &trains);
    // Eight segments fit into the initial window: half a round trip, and 9.6 ms of sending.
    let slowest = durations(&output).into_iter().fold(0.0, f64::max);
    assert!(slowest < 0.020 + 0.0096 + 0.022, "{slowest} s");
    assert_eq!(output.records[0].retransmits, 0);
}

/// Pacing spreads the window of an answer over a round trip; the answer comes later by less than that, and no burst
/// overflows a buffer of a fifth of it.
#[test]
fn a_paced_answer_takes_less_than_a_round_trip_longer_and_spares_a_small_buffer() {
    let trains = [train(false, 400, 0), train(true, 60 * 1460, 0), train(false, 400, 200), train(true, 60 * 1460, 0)];
    let mut run = path(Congestion::Aimd);
    (run.network.rate, run.network.access_rate) = (rate(100_000_000), rate(1_000_000_000));
    run.tcp.delayed_ack = Time::ZERO;
    let mut paced = run.clone();
    paced.tcp.pacing = true;
    let (plain, spread) = (durations(&play(&run, &trains))[3], durations(&play(&paced, &trains))[3]);
    assert!(plain < spread && spread < plain + 0.042, "{plain} s, paced {spread} s");
    (run.network.limit, paced.network.limit) = (Limit::Packets(12), Limit::Packets(12));
    let [plain, spread] = [&run, &paced].map(|run| play(run, &trains).counters.drops);
    assert!(spread < plain, "{plain} drops, paced {spread}");
}

fn row(links: u32, loss: f64, limit: u32) -> Graph {
    let interface = || Interface {
        rate: rate(3_000_000),
        delay: ms(4),
        limit: Limit::Packets(limit),
        discipline: ("fifo".to_owned(), Vec::new()),
        loss,
        trace: None,
    };
    let hosts = |at| Hosts { at, count: 1, up: rate(100_000_000), down: rate(100_000_000), delay: ms(1) };
    let link = |hop| Link { from: hop, to: hop + 1, forward: interface(), reverse: interface() };
    let mut ends = vec![hosts(0), hosts(links)];
    ends.extend((0..links).flat_map(|hop| [hosts(hop), hosts(hop + 1)]));
    Graph { routers: links + 1, links: (0..links).map(link).collect(), hosts: ends, watched: 0 }
}

/// Every byte comes in both ways over a parking lot, under every window rule.
#[test]
fn all_trains_come_in_over_several_lossy_links_with_every_window_rule() {
    let rules = [Congestion::Aimd, Congestion::Cubic, Congestion::Bbr];
    let one = (any::<bool>(), 1..80_000_u64, 0..300_u64, prop::option::weighted(0.3, 1..20_u64));
    let script = prop::collection::vec(one, 1..6);
    let inputs = (prop::collection::vec(script, 2..6), 1..4_u32, 4..20_u32, 0..3_u32, any::<[bool; 4]>(), any::<u64>());
    for congestion in rules {
        let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
        let outcome = TestRunner::new(config).run(&inputs, |(scripts, links, limit, loss, flags, seed)| {
            let [fin, timestamps, pacing, restart] = flags;
            let mut run = Run { seed, duration: ms(1_000_000_000), stop_when_idle: true, ..path(congestion) };
            run.graph = Some(row(links, f64::from(loss) * 0.01, limit));
            (run.tcp.fin, run.tcp.timestamps, run.tcp.pacing) = (fin, timestamps, pacing);
            run.tcp.restart_after_idle = restart;
            let mut flows = Vec::new();
            for (index, script) in scripts.iter().enumerate() {
                let pace = |pace: Option<u64>| pace.map_or(Time::ZERO, ms);
                let trains: Vec<Train> = script
                    .iter()
                    .map(|&(way, bytes, wait, p)| Train { pace: pace(p), ..train(way, bytes, wait) })
                    .collect();
                let hop = 2 + 2 * (index as u32 % links);
                let (src, dst) = if index % 2 == 0 { (0, 1) } else { (hop, hop + 1) };
                flows.push(FlowSpec { src, dst, ..scripted(&trains, index as u32) });
                std::sync::Arc::make_mut(&mut run.scripts).list.push(trains);
            }
            let output = go(&run, &flows);
            for (index, (flow, record)) in flows.iter().zip(&output.records).enumerate() {
                let trains = &run.scripts.list[index];
                let back: u64 = trains.iter().filter(|train| !train.forward).map(|train| train.bytes).sum();
                prop_assert_eq!((record.delivered_bytes, record.back_bytes), (flow.size_bytes, back));
                prop_assert!(record.finish < Time::NEVER);
                let told = output.trains.iter().filter(|train| train.flow == index as u32 && train.end < Time::NEVER);
                prop_assert_eq!(told.count(), trains.len());
            }
            Ok(())
        });
        outcome.unwrap_or_else(|why| panic!("{congestion:?}: {why}"));
    }
}
