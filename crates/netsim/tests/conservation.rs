//! Packets are conserved in random scenarios: dumbbells, graphs and cells under every discipline, with scripts, trains,
//! constant rates and flows without end, losses, buffers from nothing to more than ever comes, cut off while packets are
//! under way. The run itself looks at its books (`src/sim/audit.rs`) and refuses to end when they do not balance; what
//! it reports is held against them here.
//!
//! `MAYFLY_SCENARIOS=10000 cargo test -p mayfly-netsim --test main conservation -- --nocapture` runs as many, from
//! `MAYFLY_SEED` (1 when absent); with `MAYFLY_SCENARIO=N` only that one, and prints it. Without, 300 of them run.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use netsim::tcp::settings::{
    BackoffEnd, CachedMetrics, Congestion, EcnMode, Hystart, LossWindow, ReceiveBuffer, Recovery, RecoveryExit,
    RtoRule, StreamOrder,
};
use netsim::wlan::{AfterFailure, Aggregation, Category, Placement, Rules};
use netsim::{
    Account, Books, Burst, Control, Counting, FlowSpec, Graph, Hosts, Interface, Link, Output, OwnTransport, Probe,
    Run, Tcp, Train, Wlan,
};
use qdisc::{Limit, Qdisc, Value, disciplines};
use units::{Stream, Time};

use crate::cell::{CHAIN, NS3, STANDARD, cell, run_of};
use crate::dumbbell::{self, ms, rate, wired};

/// Random choices.
struct Draws(Stream);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        ((self.0.uniform() * bound as f64) as u64).min(bound - 1)
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.0.uniform() < probability
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// From `low` to `high`, each power of ten as likely as another.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.uniform())
    }

    fn maybe<T>(&mut self, probability: f64, value: impl FnOnce(&mut Draws) -> T) -> Option<T> {
        self.chance(probability).then(|| value(self))
    }
}

/// Every discipline in turn, half of the time with one of its parameters at a bound or at another word.
fn discipline(number: u64, draws: &mut Draws) -> (String, Vec<(String, String)>) {
    let specs = disciplines::specs();
    let spec = specs[number as usize % specs.len()];
    if !spec.params.is_empty() && draws.chance(0.5) {
        let param = draws.pick(spec.params);
        let value = match param.value {
            Value::Number { default, min, max } => draws.pick(&[default, min, max]).to_string(),
            Value::Whole { default, min, max } => draws.pick(&[default, min, max]).to_string(),
            Value::Numbers { min, max, .. } => format!("{min}:{max}"),
            Value::Choice(words) => draws.pick(words).to_owned(),
        };
        let options = vec![(param.name.to_owned(), value)];
        // Values within their bounds need not go together with the defaults of the others.
        if Qdisc::from_options(spec.id, &options, Limit::Packets(1), Stream::named(1, "taken")).is_ok() {
            return (spec.id.to_owned(), options);
        }
    }
    (spec.id.to_owned(), Vec::new())
}

/// From a queue that takes nothing to one that never fills.
fn limit(draws: &mut Draws) -> Limit {
    match draws.below(3) {
        0 => Limit::Bytes(draws.pick(&[1, 60, 1500, 4000, 30_000, 1 << 40])),
        1 => Limit::Packets(draws.pick(&[1, 2, 5, 1_000_000])),
        _ => Limit::Packets(1 + draws.below(60) as u32),
    }
}

const ECN: [EcnMode; 5] = [EcnMode::Off, EcnMode::Classic, EcnMode::Dctcp, EcnMode::Accurate, EcnMode::L4s];

fn transport(draws: &mut Draws) -> Tcp {
    let plain = wired("fifo").tcp;
    let congestion = draws.pick(&[
        Congestion::Aimd,
        Congestion::Iiad,
        Congestion::Sqrt,
        Congestion::Cubic,
        Congestion::Cubic,
        Congestion::Bbr,
        Congestion::Bbr3,
        Congestion::Dctcp,
        Congestion::Prague,
    ]);
    let recovery = draws.pick(&[Recovery::Reno, Recovery::NewReno, Recovery::Sack]);
    let fin_on_data = draws.chance(0.2);
    let tcp = Tcp {
        mss: draws.pick(&[1460, 1460, 536, 100]),
        initial_window: 1 + draws.below(12) as u32,
        receiver_window: 1 + draws.below(200) as u32,
        receive_buffer: ReceiveBuffer::Auto,
        receive_memory: 6_291_456,
        gro: Time::ZERO,
        initial_rto: ms(draws.pick(&[200, 1000, 3000])),
        min_rto: ms(draws.pick(&[10, 200, 1000])),
        tick: Time(draws.pick(&[1, 10_000_000])),
        delayed_ack: ms(draws.pick(&[0, 40, 200])),
        fin: draws.chance(0.7),
        fin_on_data,
        close_acks: if fin_on_data { 2 } else { 0 },
        handshake_ack: draws.chance(0.5),
        limited_transmit: draws.chance(0.5),
        ecn: if congestion == Congestion::Prague { EcnMode::L4s } else { draws.pick(&ECN) },
        hystart: draws.pick(&[Hystart::Off, Hystart::Linux, Hystart::Rfc9406]),
        byte_counting: draws.chance(0.3),
        congestion,
        lax_duplicates: draws.chance(0.3),
        impatient: draws.chance(0.5),
        recovery_burst: draws.below(4) as u32,
        loss_window: draws.pick(&[LossWindow::Cwnd, LossWindow::Flight]),
        recovery_exit: draws.pick(&[RecoveryExit::AsIs, RecoveryExit::Deflate]),
        repair_end_opens: draws.chance(0.5),
        backoff_ends: draws.pick(&[BackoffEnd::Ack, BackoffEnd::Sample]),
        time_repeated_syn: draws.chance(0.5),
        syn_loss_lowers_ssthresh: draws.chance(0.5),
        recycled_senders: draws.chance(0.3),
        recovery: if matches!(congestion, Congestion::Bbr | Congestion::Bbr3) { Recovery::Sack } else { recovery },
        timestamps: draws.chance(0.5),
        rto_rule: draws.pick(&[RtoRule::Linux, RtoRule::Rfc6298]),
        pacing: draws.chance(0.3),
        quick_acks: draws.pick(&[0, 16]),
        syn_retries: draws.maybe(0.3, |draws| draws.below(3) as u32),
        retries: draws.maybe(0.3, |draws| draws.below(4) as u32),
        restart_after_idle: draws.chance(0.5),
        cached_metrics: CachedMetrics::Off,
        reserved: 0,
        ..plain
    };
    if draws.chance(0.2) { over_quic(tcp, draws) } else { tcp }
}

/// The same as QUIC, as far as it goes with that.
fn over_quic(tcp: Tcp, draws: &mut Draws) -> Tcp {
    Tcp {
        mss: tcp.mss.max(1200),
        header: 63,
        tick: ms(draws.pick(&[1, 10])),
        fin: false,
        timestamps: false,
        recycled_senders: false,
        ecn: if tcp.ecn == EcnMode::Dctcp { EcnMode::Accurate } else { tcp.ecn },
        congestion: if tcp.congestion == Congestion::Dctcp { Congestion::Aimd } else { tcp.congestion },
        recovery: Recovery::Quic,
        ack_every: 1 + draws.below(9) as u32,
        handshake_bytes: draws.pick(&[300, 3000, 9000]),
        early_data: draws.chance(0.3),
        stream_order: draws.pick(&[StreamOrder::Incremental, StreamOrder::Sequential]),
        ..tcp
    }
}

fn interface(number: u64, bps: u64, draws: &mut Draws) -> Interface {
    Interface {
        rate: rate(bps),
        delay: Time(draws.below(20_000_000)),
        limit: limit(draws),
        discipline: discipline(number, draws),
        loss: draws.pick(&[0.0, 0.0, 0.01, 0.3]),
        trace: None,
    }
}

/// Routers in a tree, with more links between them, hosts at all of them.
fn graph(number: u64, bps: u64, draws: &mut Draws) -> Graph {
    let routers = 2 + draws.below(5) as u32;
    let mut links = Vec::new();
    let more = draws.below(3) as u32;
    for link in 1..routers + more {
        let (from, to) = match link {
            link if link < routers => (draws.below(link.into()) as u32, link),
            _ => (0, 1 + draws.below((routers - 1).into()) as u32),
        };
        let [forward, reverse] = [0, 1].map(|way| {
            let faster = draws.pick(&[1, 1, 3]);
            interface(number + u64::from(2 * link + way - 2), bps * faster, draws)
        });
        links.push(Link { from, to, forward, reverse });
    }
    let host =
        |at| Hosts { at, count: 2, up: rate(10 * bps), down: rate(10 * bps), delay: Time(draws.below(9_000_000)) };
    let hosts = (0..routers).map(host).collect();
    Graph { routers, watched: draws.below(links.len() as u64) as u32, links, hosts }
}

fn wlan(stations: usize, draws: &mut Draws) -> Wlan {
    let timeout = Rules { after_failure: AfterFailure::AfterAnswerTime, ..CHAIN };
    let rules = draws.pick(&[STANDARD, NS3, CHAIN, timeout]);
    let (standard, fast, slow, control) = draws.pick(&[
        ("802.11a", "54mbit", "6mbit", 192),
        ("802.11b", "11mbit", "1mbit", 4),
        ("802.11g", "24mbit", "9mbit", 96),
        ("802.11n", "mcs7", "mcs0", 192),
        ("802.11ac", "mcs8", "mcs1", 192),
    ]);
    let mut wlan = cell(standard, fast, control, stations, rules);
    wlan.stations[0] = cell(standard, slow, control, 1, rules).stations[0];
    wlan.stations[stations - 1].frame_error = draws.pick(&[0.0, 0.1, 0.9]);
    wlan.placement = draws.pick(&[Placement::Shared, Placement::RoundRobin, Placement::Airtime(Time(256_000))]);
    wlan.rts_threshold = draws.pick(&[0, 400, u32::MAX]);
    wlan.tries = [1 + draws.below(7) as u32; 2];
    let [least, most] = wlan.categories[0].windows;
    let category = |index: u32| Category {
        aifsn: 7 - index,
        windows: [least >> index, most >> (2 * index)],
        txop: Time(u64::from(index) * 1_500_000),
    };
    wlan.categories = (0..draws.pick(&[1, 2, 4])).map(category).collect();
    if standard.ends_with('n') || standard.ends_with("ac") {
        let frames = 1 + draws.below(40) as u32;
        wlan.aggregation = Some(Aggregation { frames, bytes: 65_535, airtime: Time(5_484_000) });
    }
    wlan
}

/// Flows of all kinds between `hosts`, the first for senders, the second for receivers, numbered together or apart.
fn flows(run: &mut Run, hosts: [u32; 2], together: bool, bps: u64, draws: &mut Draws) -> Vec<FlowSpec> {
    let count = 1 + draws.below(24);
    let mut starts: Vec<Time> = (0..count).map(|_| Time(draws.below(run.duration.0 * 3 / 4 + 1))).collect();
    starts.sort_unstable();
    let mut flows: Vec<FlowSpec> = Vec::new();
    for (index, start) in starts.into_iter().enumerate() {
        let [mut src, mut dst] = hosts.map(|hosts| draws.below(hosts.into()) as u32);
        let up = draws.chance(0.3);
        if together && src == dst {
            dst = (dst + 1) % hosts[1];
        }
        if !together && up {
            (src, dst) = (dst, src);
        }
        let gap = |len: u32, draws: &mut Draws| {
            Time((f64::from(len) * 8e9 / bps as f64 * draws.spread(0.5, 50.0)) as u64 + 1)
        };
        let plain = FlowSpec {
            start,
            src,
            dst,
            up,
            size_bytes: draws.spread(1.0, 300_000.0) as u64 + 1,
            rtt: draws.maybe(0.3, |draws| Time(draws.below(90_000_000))),
            receiver_opens: draws.chance(0.3),
            ..FlowSpec::default()
        };
        flows.push(match draws.below(8) {
            // Without end: a transfer, or a constant rate.
            0 => FlowSpec { size_bytes: 1 << 36, ..plain },
            1 => FlowSpec { size_bytes: 1 << 40, udp: Some((1500, gap(1500, draws))), ..plain },
            2 => {
                let len = 29 + draws.below(1472) as u32;
                FlowSpec { size_bytes: plain.size_bytes / 10 + 1, udp: Some((len, gap(len, draws))), ..plain }
            }
            3 => {
                let first = run.bursts.list.len();
                let mut at = Time(draws.below(5_000_000));
                for _ in 0..1 + draws.below(6) {
                    let (len, packets) = (29 + draws.below(1472) as u32, 1 + draws.below(12));
                    let gap = gap(len, draws);
                    run.bursts.list.push(Burst { at, gap, packets, len });
                    at = at + Time(gap.0 * packets) + Time(draws.below(50_000_000));
                }
                run.bursts.of.push((index as u32, first..run.bursts.list.len()));
                let own = &run.bursts.list[first..];
                let size_bytes = own.iter().map(|burst| burst.packets * u64::from(burst.len - 28)).sum();
                if draws.chance(0.3) {
                    run.probes.push(Probe { flow: index as u32, echo: draws.chance(0.5) });
                }
                FlowSpec { size_bytes, udp: Some((1500, ms(1))), ..plain }
            }
            4 | 5 => {
                let train = |draws: &mut Draws| Train {
                    forward: draws.chance(0.5),
                    bytes: draws.spread(1.0, 60_000.0) as u64 + 1,
                    wait: Time(draws.pick(&[0, 1_000_000, 30_000_000])),
                    pace: Time(draws.pick(&[0, 0, 500_000])),
                };
                let mut script: Vec<Train> = (0..1 + draws.below(6)).map(|_| train(draws)).collect();
                script[0].forward |= !plain.receiver_opens;
                let size_bytes = script.iter().map(|train| train.bytes).sum();
                std::sync::Arc::make_mut(&mut run.scripts).list.push(script);
                FlowSpec { size_bytes, script: Some(run.scripts.list.len() as u32 - 1), ..plain }
            }
            _ => plain,
        });
    }
    // Some transports of their own, of any settings, for any TCP flow.
    for number in 0..draws.pick(&[0, 0, 1, 3]) {
        run.transports.push(OwnTransport { name: format!("own {number}"), tcp: transport(draws) });
    }
    for flow in &mut flows {
        flow.transport = draws.below(run.transports.len() as u64 + 1) as u16;
    }
    // The last flows wait for the first one to end.
    if flows.len() > 4 && draws.chance(0.2) {
        flows[0].stage = Some(0);
        let end = flows.len();
        flows[end - 2..].iter_mut().for_each(|flow| (flow.after, flow.start) = (Some(0), Time(1_000_000)));
    }
    flows
}

/// Scenario `number` of `seed`.
fn scenario(seed: u64, number: u64) -> (Run, Vec<FlowSpec>) {
    let mut draws = Draws(Stream::named(seed, &format!("scenario {number}")));
    let draws = &mut draws;
    let mut run = wired("fifo");
    let bps = draws.pick(&[64_000, 300_000, 2_000_000, 10_000_000, 100_000_000, 1_000_000_000]);
    // As long as some ten to some thousand packets take.
    let duration = Time((draws.spread(10.0, 1500.0) * 12e12 / bps as f64) as u64);
    let duration = duration.clamp(Time(3_000_000), ms(30_000));
    let (hosts, together);
    match number % 3 {
        0 => {
            let network = &mut run.network;
            (network.rate, network.access_rate) = (rate(bps), rate(bps * draws.pick(&[1, 10])));
            network.reverse_rate = draws.maybe(0.3, |_| rate(bps / 2));
            [network.delay, network.access_delay, network.exit_delay] = [0; 3].map(|_| Time(draws.below(30_000_000)));
            network.loss = draws.pick(&[0.0, 0.0, 0.001, 0.05, 0.5]);
            network.symmetric = draws.chance(0.2);
            (hosts, together) = ([4, 3], network.symmetric);
        }
        1 => {
            let graph = graph(number / 3, bps, draws);
            (hosts, together) = ([2 * graph.routers; 2], true);
            run.graph = Some(graph);
        }
        _ => {
            let stations = 1 + draws.below(5) as usize;
            run = run_of(wlan(stations, draws), 1, duration);
            (hosts, together) = ([3, stations as u32], false);
        }
    }
    let network = &mut run.network;
    (network.limit, network.reverse_limit) = (limit(draws), limit(draws));
    (network.discipline, network.reverse_discipline) =
        (discipline(number / 3, draws), discipline(draws.below(99), draws));
    (run.tcp, run.duration, run.seed) = (transport(draws), duration, draws.below(1 << 50));
    run.stop_when_idle = draws.chance(0.3);
    let bps = if run.wlan.is_some() { 10_000_000 } else { bps };
    if run.wlan.is_some() {
        run.duration = run.duration.min(ms(300));
    }
    let flows = flows(&mut run, hosts, together, bps, draws);
    if let Some(wlan) = run.wlan.as_mut().filter(|wlan| wlan.categories.len() > 1) {
        wlan.category_of = flows.iter().map(|_| draws.below(wlan.categories.len() as u64) as u8).collect();
    }
    (run.trace_drops, run.subflows) = (draws.chance(0.3), draws.chance(0.3));
    run.traced = if draws.chance(0.3) { vec![draws.below(flows.len() as u64) as u32] } else { Vec::new() };
    run.sample_interval = Time(draws.pick(&[0, run.duration.0 / 7]));
    let warm_up = Time(draws.pick(&[0, run.duration.0 / 3]));
    run.counting = Counting { warm_up, ..Counting::default() };
    (run, flows)
}

/// What does not agree between the output of a run and its books.
fn disagreement(run: &Run, flows: &[FlowSpec], output: &Output) -> Option<String> {
    let Books { data, acks } = output.books;
    let sum = |of: fn(&netsim::FlowRecord) -> u64| output.records.iter().map(of).sum::<u64>();
    let udp = flows.iter().all(|flow| flow.udp.is_some());
    let no_probes = run.probes.is_empty();
    let payload = |account: Account| account.delivered.bytes - 28 * account.delivered.packets;
    [
        (sum(|record| record.drops) == data.dropped.packets + acks.dropped.packets, "drops of the flows"),
        (sum(|record| record.lost) == data.lost.packets + acks.lost.packets, "losses of the flows"),
        (!run.trace_drops || output.drops.len() as u64 == sum(|record| record.drops), "drops that were traced"),
        // Of datagrams everything is data, each is sent once, and its payload counts when it arrives.
        (!(udp && no_probes) || sum(|record| record.packets_sent) == data.sent().packets, "datagrams sent"),
        (!(udp && no_probes) || sum(|record| record.delivered_bytes) == payload(data), "payload of datagrams"),
        (!udp || acks == Account::default(), "acknowledgements of datagrams"),
    ]
    .into_iter()
    .find_map(|(agrees, what)| (!agrees).then(|| format!("{what}: {:?}", output.books)))
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} = {text}: must be a number")))
}

#[test]
fn packets_are_conserved_in_random_scenarios() {
    let seed = from_environment("MAYFLY_SEED").unwrap_or(1);
    let only = from_environment("MAYFLY_SCENARIO");
    let scenarios = from_environment("MAYFLY_SCENARIOS").unwrap_or(300);
    let numbers = only.map_or(0..scenarios, |only| only..only + 1);
    let (began, mut total, mut seen, mut failed) = (Instant::now(), Books::default(), BTreeSet::new(), Vec::new());
    let mut slowest = (0.0, 0);
    for number in numbers {
        let (run, flows) = scenario(seed, number);
        if only.is_some() {
            eprintln!("{run:#?}\n{flows:#?}");
        }
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| netsim::run(&run, &flows, &Control::default()))) {
            Ok(Ok(output)) => {
                failed.extend(disagreement(&run, &flows, &output).map(|what| (number, what)));
                add(&mut total, &output.books);
                seen.insert(run.network.discipline.0);
            }
            Ok(Err(error)) => failed.push((number, error.to_string())),
            Err(_) => failed.push((number, "a panic".to_owned())),
        }
        let took_s = started.elapsed().as_secs_f64();
        if took_s > slowest.0 {
            slowest = (took_s, number);
        }
    }
    let took_s = began.elapsed().as_secs_f64();
    let ran = only.map_or(scenarios, |_| 1);
    eprintln!(
        "{ran} scenarios of seed {seed}, {} failures, {took_s:.1} s; the slowest took {slowest:.3?}",
        failed.len()
    );
    eprintln!("{total:#?}");
    assert!(failed.is_empty(), "seed {seed}: {failed:#?}");
    if ran >= 300 {
        assert_eq!(seen, dumbbell::disciplines().map(str::to_owned).collect());
        for account in [total.data, total.acks] {
            let Account { delivered, dropped, lost, under_way, .. } = account;
            assert!([delivered, dropped, lost, under_way].iter().all(|count| count.packets > 20), "{account:?}");
        }
        assert!(total.data.late.packets > 0 && total.acks.late.packets > 0, "{total:?}");
    }
}

fn add(total: &mut Books, books: &Books) {
    for (total, account) in [(&mut total.data, &books.data), (&mut total.acks, &books.acks)] {
        total.delivered += account.delivered;
        total.dropped += account.dropped;
        total.lost += account.lost;
        total.late += account.late;
        total.under_way += account.under_way;
    }
}
