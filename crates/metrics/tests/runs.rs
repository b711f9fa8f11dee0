//! What is measured of whole runs, against what the simulator itself counted and against what must come out.

#[path = "../../netsim/tests/dumbbell/mod.rs"]
mod dumbbell;

use dumbbell::{datagrams, go, ms, transfer, wired};
use metrics::{
    CaptureFacts, Chosen, Delayed, Facts, Figures, Kind, Mechanism, Observed, ProbeName, Ran, Rule, figures, heard,
    idle_rtt, kinds, likely, mechanisms, waits, worst,
};
use netsim::{Control, FlowSpec, Output, Probe, Run, Train};
use qdisc::Limit;
use units::{BitRate, Time};

/// Four downloads without end and a short transfer each 200 ms, everything traced.
fn busy(discipline: &str) -> (Run, Vec<FlowSpec>, Output) {
    let mut run = wired(discipline);
    run.duration = ms(20_000);
    run.trace_drops = true;
    run.trace_limit = 1_000_000;
    run.network.limit = Limit::Packets(100);
    let mut flows: Vec<FlowSpec> = (0..4).map(|src| FlowSpec { src, ..transfer(Time::ZERO, 1 << 40) }).collect();
    flows.extend((0..80).map(|n| FlowSpec { src: 4, dst: 1, ..transfer(ms(2_000 + 200 * n), 20_000) }));
    // One that goes up, whose acknowledgements are in the downward queue.
    flows.push(FlowSpec { src: 2, dst: 2, up: true, ..transfer(ms(18_000), 3_000_000) });
    run.traced = (0..flows.len() as u32).collect();
    let output = netsim::run_both_ways(&run, &flows, &Control::default()).expect("valid and not cancelled");
    (run, flows, output)
}

fn found(run: &Run, flows: &[FlowSpec], output: &Output) -> (Vec<Kind>, Vec<Mechanism>) {
    let facts = Facts::default();
    let ran = Ran { run, flows, output, facts: &facts };
    let kinds = kinds(&ran, &[]).expect("no facts");
    let mechanisms = mechanisms(&ran, &kinds).expect("no facts");
    (kinds, mechanisms)
}

fn ids(mechanisms: &[Mechanism]) -> Vec<(&str, &str)> {
    mechanisms.iter().map(|one| (one.id, one.direction)).collect()
}

#[test]
fn waits_add_up_to_what_the_simulator_counted() {
    for discipline in ["fifo", "fq_codel", "las", "lfq", "efd", "pie"] {
        let (run, flows, output) = busy(discipline);
        assert_eq!(output.counters.beyond_trace, 0);
        let (kinds, _) = found(&run, &flows, &output);
        let facts = Facts::default();
        let found = waits(&Ran { run: &run, flows: &flows, output: &output, facts: &facts }, &kinds, false);
        for kind in [Kind::Short, Kind::Long] {
            // Data of what goes down, acknowledgements of what goes up.
            let own = || output.records.iter().zip(&kinds).filter(|(_, one)| **one == kind).map(|(record, _)| record);
            let counted: u64 = own().map(|record| record.queue_delay.sum_ns).sum();
            let packets: u64 = own().map(|record| record.queue_delay.packets).sum();
            let place = kind.place();
            assert_eq!((found.packets[place], found.wait_ns[place]), (packets, counted), "{discipline}, {kind:?}");
            let row: u64 = found.for_ns[place].iter().sum();
            assert_eq!(row + found.other_ns[place], counted, "{discipline}, {kind:?}");
            // A link that always sends while a packet waits leaves nothing else but the rounding of times of packets in a
            // row, less than a nanosecond each.
            assert!(found.other_ns[place] <= packets * 300, "{discipline}, {kind:?}: {}", found.other_ns[place]);
        }
        let seconds = found.seconds();
        let (short, long) = (Kind::Short.place(), Kind::Long.place());
        // Nine tenths of the bytes are those of the long ones: most of what anybody waits for.
        assert!(seconds[long][long] > seconds[long][short]);
        if ["las", "lfq", "efd"].contains(&discipline) {
            assert!(seconds[short][long] * 4.0 < seconds[long][long], "{discipline}: {seconds:?}");
        }
    }
}

#[test]
fn in_one_queue_short_and_long_wait_alike_and_lose_at_its_tail() {
    let (run, flows, output) = busy("fifo");
    let (kinds, found) = found(&run, &flows, &output);
    assert_eq!(ids(&found)[..2], [("one-queue", "down"), ("drops-at-the-tail", "down")], "{found:?}");
    let lost: f64 = found[1].values.iter().filter(|(name, _)| name.starts_with("lost_")).map(|(_, lost)| lost).sum();
    assert_eq!(lost, output.counters.drops as f64);
    assert!(found[1].sentence.contains(&format!("{} packets (", output.counters.drops)), "{}", found[1].sentence);
    let hit = flows.iter().zip(&output.records).zip(&kinds);
    let hit = hit.filter(|((_, record), kind)| **kind == Kind::Short && record.timeouts > 0).count();
    let told = found.iter().find(|one| one.id == "timeouts").map_or(0.0, |one| one.values[0].1);
    assert_eq!(told, hit as f64);
}

#[test]
fn disciplines_by_size_and_by_turns_let_short_transfers_pass() {
    for (discipline, id) in
        [("las", "short-first"), ("efd", "short-first"), ("fq_codel", "own-queue"), ("lfq", "own-queue")]
    {
        let (run, flows, output) = busy(discipline);
        let (_, found) = found(&run, &flows, &output);
        let first = &found[0];
        let family =
            qdisc::disciplines::specs().iter().find(|spec| spec.id == discipline).map(|spec| spec.family.name());
        assert_eq!(first.id, id, "{discipline} ({family:?}): {found:?}");
        assert_eq!(first.page, format!("disciplines/{discipline}"));
    }
}

#[test]
fn a_codel_drops_early_and_a_full_buffer_pushes_out() {
    let (run, flows, output) = busy("codel");
    let (_, early) = found(&run, &flows, &output);
    assert!(ids(&early).contains(&("drops-early", "down")), "{early:?}");
    let (run, flows, output) = busy("las");
    let (_, pushed) = found(&run, &flows, &output);
    assert!(ids(&pushed).contains(&("drops-pushed-out", "down")), "{pushed:?}");
}

#[test]
fn of_a_link_that_is_never_full_only_that_is_told() {
    let mut run = wired("fifo");
    run.duration = ms(10_000);
    run.trace_drops = true;
    let flows: Vec<FlowSpec> = (0..5).map(|n| transfer(ms(1_000 * n), 20_000)).collect();
    let output = go(&run, &flows);
    let (_, found) = found(&run, &flows, &output);
    assert_eq!(ids(&found), [("link-idle", "down")], "{found:?}");
    assert_eq!(found[0].values, [("peak_utilisation", output.counters.peak_utilisation)]);
}

#[test]
fn a_way_up_that_is_full_delays_the_acknowledgements() {
    let mut run = wired("fifo");
    run.duration = ms(20_000);
    let upload = FlowSpec { up: true, ..transfer(Time::ZERO, 1 << 40) };
    let flows = [upload, FlowSpec { src: 1, dst: 1, ..transfer(ms(5_000), 50_000) }];
    let output = go(&run, &flows);
    let (_, found) = found(&run, &flows, &output);
    assert!(ids(&found).contains(&("slow-acknowledgements", "up")), "{found:?}");
}

#[test]
fn figures_have_the_probes_at_the_head_of_the_list() {
    let mut run = wired("fifo");
    run.duration = ms(10_000);
    run.probes = vec![Probe { flow: 0, echo: true }];
    let ping = datagrams(Time::ZERO, 3, 90, 64, ms(100));
    let flows = [ping, FlowSpec { src: 1, dst: 1, ..transfer(ms(500), 50_000) }];
    let output = go(&run, &flows);
    let facts = Facts { probes: vec![ProbeName::Ping], ..Facts::default() };
    let ran = Ran { run: &run, flows: &flows, output: &output, facts: &facts };
    let idle = idle_rtt(&run, &flows[0]).expect("valid");
    // 64 bytes over 10 Mb/s and two links of 100 Mb/s, and three links of 1 ms, there and back.
    let expected = 2 * (3_000_000 + 51_200 + 2 * 5_120);
    assert_eq!(idle, Some(Time(expected)));
    let found = figures(&ran, idle, Rule::default()).expect("facts that fit");
    let measured = found.ping.expect("pings");
    assert_eq!((measured.probes, measured.loss, measured.grade), (90, 0.0, None));
    // A link that is never busy: the figures are of all of the time, and have no grade.
    assert_eq!((measured.while_busy, measured.busy_share), (false, Some(0.0)));
    assert_eq!((measured.p95_all_ms, found.streams), (measured.p95_ms, None));
    assert_eq!(found.short.expect("one").flows, 1);
    assert_eq!(found.transfers.expect("one").down[1].flows, 1);
    assert!(found.call.is_none() && found.pages.is_none() && found.video.is_none());
    assert_eq!(kinds(&ran, &[]), Ok(vec![Kind::Ping, Kind::Short]));
}

/// A stream of 500 kbit/s for 20 s and a game both ways, with downloads from 5 s to 10 s, and more flows; over a link of so
/// many Mbit/s.
fn streaming(discipline: &str, mbps: u64, more: &[FlowSpec]) -> Figures {
    let mut run = wired(discipline);
    run.duration = ms(1_000_000);
    run.network.rate = BitRate::from_bps(mbps * 1_000_000).expect("above 0");
    run.network.limit = Limit::Packets(100);
    // For 20 s.
    let stream = |src: u32, up: bool, len: u32, gap: Time| {
        let packets = 20_000_000_000 / gap.0;
        FlowSpec { dst: src, up, ..datagrams(Time::ZERO, src, packets, len, gap) }
    };
    let mut flows = vec![
        stream(0, false, 1200, Time(19_200_000)),
        stream(1, false, 380, Time(15_625_000)),
        stream(1, true, 95, Time(15_625_000)),
    ];
    flows.extend((0..3).map(|src| FlowSpec { src: 2 + src, ..transfer(ms(5_000), 2_000_000) }));
    flows.extend_from_slice(more);
    let rows = flows.len() as u32;
    let connections = (0..rows).map(|row| row - u32::from(row >= 2)).collect();
    let capture =
        CaptureFacts { clients: vec![0; rows as usize], connections, calls: Vec::new(), ..CaptureFacts::default() };
    let facts = Facts { capture: Some(capture), ..Facts::default() };
    run.heard = heard(&run, &flows, &facts);
    assert_eq!(run.heard, [0, 1, 2]);
    let output = go(&run, &flows);
    figures(&Ran { run: &run, flows: &flows, output: &output, facts: &facts }, None, Rule::default())
        .expect("facts that fit")
}

#[test]
fn streams_are_measured_by_what_the_link_holds_and_loses() {
    let (fifo, fair) = (streaming("fifo", 4, &[]), streaming("fq_codel", 4, &[]));
    let [fifo_streams, fair_streams] = [fifo.streams, fair.streams].map(|streams| streams.expect("three"));
    assert_eq!((fifo_streams.count, fifo_streams.games, fifo_streams.videos), (3, 2, 0));
    // A hundred packets take 300 ms.
    let [held, hardly] = [fifo_streams, fair_streams].map(|streams| streams.late.expect("heard"));
    assert!(held > 0.05 && hardly < 0.01, "{held} {hardly}");
    let sum = |streams: metrics::Streams| streams.late.zip(streams.loss).map(|(late, loss)| late + loss);
    assert!((fifo_streams.missing.expect("sent") - sum(fifo_streams).expect("sent")).abs() < 1e-12);
    let [slow, quick] = [fifo.games, fair.games].map(|games| games.expect("one").lag_p95_ms.expect("lags"));
    assert!(slow > 250.0 && quick < 60.0, "{slow} {quick}");
}

#[test]
fn a_constant_delay_makes_nothing_late() {
    let found = streaming("fifo", 400, &[]);
    let streams = found.streams.expect("three");
    assert_eq!((streams.missing, streams.missing_worst), (Some(0.0), Some(0.0)));
}

#[test]
fn a_time_without_streams_changes_none_of_their_figures() {
    for discipline in ["fifo", "fq_codel", "efd"] {
        let later: Vec<FlowSpec> = (0..50).map(|n| transfer(ms(100_000 + 10_000 * n), 300_000)).collect();
        let [alone, longer] = [&[][..], &later].map(|more| streaming(discipline, 4, more));
        assert_eq!((alone.streams, alone.games), (longer.streams, longer.games), "{discipline}");
        assert_ne!(alone.transfers, longer.transfers);
    }
}

#[test]
fn facts_that_do_not_fit_are_refused_in_one_line() {
    let run = wired("fifo");
    let flows = [transfer(Time::ZERO, 1000), transfer(Time::ZERO, 1000)];
    let output = go(&run, &flows);
    let refused = |facts: &Facts| {
        let ran = Ran { run: &run, flows: &flows, output: &output, facts };
        figures(&ran, None, Rule::default()).expect_err("a fact that does not fit").to_string()
    };
    let capture = |calls: Vec<u32>| CaptureFacts {
        clients: vec![0, 0],
        connections: vec![0, 1],
        calls,
        ..CaptureFacts::default()
    };
    let with = |calls| Facts { capture: Some(capture(calls)), ..Facts::default() };
    assert_eq!(refused(&with(vec![2])), "facts: calls: row 2: must be below 2, the number of flows");
    assert_eq!(refused(&with(vec![1])), "facts: calls: row 1: must be traced in the run");
    let facts = Facts { groups: vec![0], ..Facts::default() };
    assert_eq!(refused(&facts), "facts: groups has 1 values: must be one for each of 2 flows");
    let facts = Facts { probes: vec![ProbeName::Ping; 3], ..Facts::default() };
    assert_eq!(refused(&facts), "facts: probes = 3: must be at most the 2 flows");
}

/// Downloads at the same time, one of them of two exchanges with a think time between.
fn crowd() -> (Run, Vec<FlowSpec>) {
    let train = |forward, bytes, wait| Train { forward, bytes, wait, pace: Time::ZERO };
    let mut run = wired("fifo");
    std::sync::Arc::make_mut(&mut run.scripts).list = vec![vec![
        train(false, 400, Time::ZERO),
        train(true, 30_000, Time::ZERO),
        train(false, 400, ms(2000)),
        train(true, 30_000, Time::ZERO),
    ]];
    let scripted = FlowSpec { script: Some(0), receiver_opens: true, src: 1, dst: 1, ..transfer(Time::ZERO, 60_800) };
    let other = FlowSpec { src: 2, dst: 2, ..transfer(Time::ZERO, 2_000_000) };
    (run, vec![transfer(Time::ZERO, 3_000_000), scripted, other])
}

fn observed(run: &Run, flows: &[FlowSpec]) -> Observed {
    let output = netsim::run(run, flows, &Control::default()).expect("valid and not cancelled");
    Observed::of(&Ran { run, flows, output: &output, facts: &Facts::default() }).expect("no facts")
}

fn above_s(one: &Delayed) -> f64 {
    one.before_s.expect("an end") - one.idle_s.expect("an end alone")
}

#[test]
fn the_time_above_that_of_the_connection_alone_says_who_was_delayed_most() {
    let (run, flows) = crowd();
    let before = observed(&run, &flows);
    let mut fair = run.clone();
    fair.network.discipline = ("fq_codel".to_owned(), Vec::new());
    let after = observed(&fair, &flows);
    let found = of_likely(&run, &flows, [&before, &after], 10).expect("exchanges");
    assert_eq!(found.len(), 4);
    assert!(found.windows(2).all(|pair| above_s(&pair[0]) >= above_s(&pair[1])), "{found:?}");
    for one in &found {
        // Alone nobody is slower, and no link is faster than its rate.
        assert!(above_s(one) >= -1e-9, "{one:?}");
        assert!(one.idle_s.expect("an end alone") >= one.size_bytes as f64 * 8e-7, "{one:?}");
    }
    // The second exchange of the connection has a time of its own, without the time that its user thought.
    let second: Vec<_> = found.iter().filter(|one| one.row == 1 && one.start_s > 1.0).collect();
    assert!(matches!(second[..], [one] if one.idle_s.expect("an end alone") < 1.0), "{found:?}");
    let first = of_likely(&run, &flows, [&before, &after], 1).expect("an exchange");
    assert_eq!(first[..], found[..1]);
}

#[test]
fn a_connection_that_is_alone_is_not_delayed_and_one_that_does_not_end_comes_first() {
    let (run, flows) = crowd();
    let single = observed(&run, &flows[..1]);
    let found = of_likely(&run, &flows[..1], [&single, &single], 10).expect("an exchange");
    assert_eq!((found[0].before_s, found[0].after_s), (found[0].idle_s, found[0].idle_s));
    let mut short = run.clone();
    short.duration = ms(3000);
    let cut = observed(&short, &flows);
    let found = of_likely(&run, &flows, [&cut, &cut], 3).expect("exchanges");
    assert!(found[0].before_s.is_none() && found[0].idle_s.is_some(), "{found:?}");
}

/// With the flows alone that may be among them.
fn of_likely(
    run: &Run,
    flows: &[FlowSpec],
    runs: [&Observed; 2],
    most: usize,
) -> Result<Vec<Delayed>, netsim::ConfigError> {
    let rows = likely(run, runs[0], most);
    let own: Vec<FlowSpec> = rows.iter().map(|&row| flows[row as usize]).collect();
    worst(run, Chosen { rows: &rows, flows: &own }, 0, runs, most)
}

#[test]
fn many_connections_are_tried_until_no_other_can_be_among_the_worst() {
    let (run, _) = crowd();
    // Of 200 equal ones the last waits longest; alone all take the same.
    let flows: Vec<FlowSpec> =
        (0..200).map(|row| FlowSpec { src: row, dst: row, ..transfer(ms(u64::from(row)), 20_000) }).collect();
    let before = observed(&run, &flows);
    let found = of_likely(&run, &flows, [&before, &before], 10).expect("exchanges");
    let all = of_likely(&run, &flows, [&before, &before], 200).expect("exchanges");
    assert_eq!(found[..], all[..10]);
    assert!(above_s(&all[0]) > above_s(&all[199]));
}
