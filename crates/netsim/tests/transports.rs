//! Transports of their own: what a flow does depends on the settings of its transport, not on where they stand.

use netsim::tcp::settings::{Congestion, EcnMode, Recovery};
use netsim::{FlowSpec, OwnTransport, Run, Tcp};
use units::Time;

use crate::dumbbell::{go, ms, rate, wired};

fn own(name: &str, tcp: Tcp) -> OwnTransport {
    OwnTransport { name: name.into(), tcp }
}

/// 40 ms and 10 Mb/s, flows of several sizes from several pairs of hosts.
fn network() -> Run {
    let mut run = Run { duration: ms(20_000), trace_drops: true, ..wired("fifo") };
    run.network.delay = ms(18);
    run.network.limit = qdisc::Limit::Packets(40);
    run
}

fn flows() -> Vec<FlowSpec> {
    let flow = |number: u64| FlowSpec {
        start: ms(97 * number),
        size_bytes: [3000, 200_000, 1 << 30][number as usize % 3],
        src: number as u32 % 5,
        dst: number as u32 % 5,
        up: number % 7 == 6,
        receiver_opens: number % 4 == 3,
        ..FlowSpec::default()
    };
    (0..60).map(flow).collect()
}

fn dealt_to(flows: &[FlowSpec], transport: u16) -> Vec<FlowSpec> {
    flows.iter().map(|flow| FlowSpec { transport, ..*flow }).collect()
}

fn outcome(run: &Run, flows: &[FlowSpec]) -> String {
    let output = go(run, flows);
    format!("{:?} {:?} {:?}", output.records, output.drops, output.counters)
}

/// The oracle: the run with one transport. Whatever the settings are called, and however they are dealt out, the run is
/// the same to the last bit, recycled senders and coarse clocks included.
#[test]
fn transports_of_equal_settings_are_one_transport() {
    for (congestion, ecn) in
        [(Congestion::Aimd, EcnMode::Off), (Congestion::Cubic, EcnMode::Classic), (Congestion::Bbr, EcnMode::Off)]
    {
        let mut run = network();
        (run.tcp.congestion, run.tcp.recovery, run.tcp.ecn) = (congestion, Recovery::Sack, ecn);
        (run.tcp.tick, run.tcp.fin, run.tcp.recycled_senders) = (ms(10), false, true);
        let expected = outcome(&run, &flows());
        run.transports = vec![own("a", run.tcp.clone()), own("b", run.tcp.clone())];
        let dealt: Vec<_> =
            flows().iter().enumerate().map(|(i, flow)| FlowSpec { transport: i as u16 % 3, ..*flow }).collect();
        assert_eq!(outcome(&run, &dealt), expected, "{congestion:?}");
    }
}

/// All flows with a transport of their own: the settings of the run have no say.
#[test]
fn a_transport_that_every_flow_names_is_that_of_the_run() {
    let mut other = network().tcp;
    (other.mss, other.receiver_window, other.initial_window) = (1000, 90, 10);
    (other.congestion, other.recovery, other.timestamps) = (Congestion::Cubic, Recovery::Sack, true);
    let expected = outcome(&Run { tcp: other.clone(), ..network() }, &flows());
    let named = Run { transports: vec![own("other", other)], ..network() };
    assert_eq!(outcome(&named, &dealt_to(&flows(), 1)), expected);
    assert_ne!(outcome(&named, &flows()), expected);
}

/// Flows that follow each other in one slot have memory of another size each, so that a window of 3 and one of 500 do
/// not get in each other's way: alone on an idle link each takes what it takes in a run of its own.
#[test]
fn flows_one_after_another_do_not_inherit_the_transport_of_the_slot() {
    let small = Tcp { receiver_window: 3, ..network().tcp };
    let large = Tcp {
        receiver_window: 500,
        recovery: Recovery::Sack,
        congestion: Congestion::Bbr,
        timestamps: true,
        ..small.clone()
    };
    let mut run = network();
    run.network.limit = qdisc::Limit::Packets(1000);
    let flow =
        |i: u64| FlowSpec { start: ms(1500 * i), size_bytes: 300_000, transport: i as u16 % 3, ..FlowSpec::default() };
    let times = |run: &Run, flows: &[FlowSpec]| -> Vec<Time> {
        go(run, flows).records.iter().zip(flows).map(|(record, flow)| record.finish - flow.start).collect()
    };
    run.transports = vec![own("small", small.clone()), own("large", large.clone())];
    run.duration = ms(60_000);
    let spread = |i: u64| FlowSpec { start: ms(20_000 * (i / 3) + 6000 * (i % 3)), ..flow(i) };
    let mixed = times(&run, &(0..9).map(spread).collect::<Vec<_>>());
    for (number, tcp) in [run.tcp.clone(), small, large].into_iter().enumerate() {
        let pure = Run { tcp, transports: Vec::new(), ..run.clone() };
        let alone = times(&pure, &[FlowSpec { transport: 0, start: Time::ZERO, ..flow(0) }])[0];
        assert!(mixed.iter().skip(number).step_by(3).all(|&time| time == alone), "{number}: {mixed:?}, {alone:?}");
    }
}

/// A closed form: on a link with room for both windows, flows limited by their receiver windows have goodputs in the ratio
/// of these (each window once per round trip, and the round trip is common).
#[test]
fn receiver_windows_of_transports_share_an_uncongested_link_in_their_ratio() {
    let mut run = network();
    run.network.rate = rate(100_000_000);
    run.network.access_rate = rate(1_000_000_000);
    run.network.limit = qdisc::Limit::Packets(1000);
    (run.tcp.delayed_ack, run.tcp.receiver_window) = (Time::ZERO, 10);
    run.transports = vec![own("wide", Tcp { receiver_window: 40, ..run.tcp.clone() })];
    run.counting.warm_up = ms(4000);
    let flow =
        |i: u16| FlowSpec { size_bytes: 1 << 36, transport: i, src: i.into(), dst: i.into(), ..FlowSpec::default() };
    let records = go(&run, &[flow(0), flow(1)]).records;
    let bytes = |i: usize| (records[i].delivered_bytes - records[i].warm_up_bytes) as f64;
    let ratio = bytes(1) / bytes(0);
    // Each counts whole windows of 16 s: one more or less at either end.
    let rounds = 16.0 / 0.041;
    assert!((ratio / 4.0 - 1.0).abs() < 2.0 / rounds, "{ratio}");
}

/// BBR beside windows: paced by its model, while the others are not. Each is there, and the link is full.
#[test]
fn a_model_of_the_path_runs_beside_windows() {
    let mut run = network();
    (run.tcp.recovery, run.tcp.receiver_window) = (Recovery::Sack, 500);
    let rule = |congestion| Tcp { congestion, ..run.tcp.clone() };
    run.transports = vec![own("cubic", rule(Congestion::Cubic)), own("bbr", rule(Congestion::Bbr))];
    let flow = |i: u16| FlowSpec {
        size_bytes: 1 << 36,
        transport: i % 3,
        src: i.into(),
        dst: i.into(),
        start: ms(u64::from(i)),
        ..FlowSpec::default()
    };
    let dealt: Vec<_> = (0..6).map(flow).collect();
    let output = go(&run, &dealt);
    let bytes: Vec<u64> = output.records.iter().map(|record| record.delivered_bytes).collect();
    let most = 10_000_000 / 8 * 20 * 1460 / 1500;
    assert!(bytes.iter().sum::<u64>() > most * 9 / 10, "{bytes:?}");
    assert!(bytes.iter().all(|&bytes| bytes > most / 600), "{bytes:?}");
    // The same rule behaves otherwise without the company: this is a mixture.
    let pure = go(&Run { tcp: rule(Congestion::Bbr), ..run.clone() }, &dealt_to(&dealt, 0));
    assert_ne!(pure.records[2].delivered_bytes, output.records[2].delivered_bytes);
}

#[test]
fn a_bad_transport_is_refused_by_its_name_and_a_flow_by_its_number() {
    let bad = Tcp { mss: 0, ..network().tcp };
    let model = Tcp { congestion: Congestion::Bbr, ..network().tcp };
    let refused = |transports: Vec<OwnTransport>, transport: u16| {
        let run = Run { transports, ..network() };
        run.check(&[FlowSpec { size_bytes: 1, transport, ..FlowSpec::default() }]).map_err(|error| error.to_string())
    };
    assert_eq!(
        refused(vec![own("transports.x", bad)], 0),
        Err("transports.x: tcp.mss = 0: must be from 1 to 65000 bytes".into())
    );
    assert_eq!(
        refused(vec![own("transports.y", model)], 1),
        Err("transports.y: tcp.congestion = bbr: must be used with tcp.recovery = sack or linux".into())
    );
    assert_eq!(refused(Vec::new(), 1), Err("flow 0: a transport that is not listed".into()));
    assert_eq!(refused(vec![own("z", network().tcp)], 1), Ok(()));
}
