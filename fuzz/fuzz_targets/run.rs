//! Whole runs of the simulator: any network, transport and flow list that [`Run::check`] takes. Nothing panics, packets
//! are neither made nor lost, no flow delivers more than it has, and the same run twice is the same.
#![no_main]

#[path = "../../crates/netsim/tests/dumbbell/mod.rs"]
#[allow(unused)]
mod dumbbell;

use arbitrary::Arbitrary;
use dumbbell::{rate, wired};
use libfuzzer_sys::fuzz_target;
use netsim::tcp::settings::{BackoffEnd, Congestion, EcnMode, LossWindow, Recovery, RecoveryExit, RtoRule};
use netsim::{Control, FlowSpec, OwnTransport, run};
use qdisc::{Limit, disciplines};
use units::Time;

#[derive(Arbitrary, Debug)]
struct Given {
    discipline: u8,
    reverse: u8,
    rates: [u8; 4],
    delays: [u8; 3],
    limits: [u16; 2],
    in_bytes: bool,
    loss: u8,
    symmetric: bool,
    flags: u32,
    windows: [u8; 4],
    times: [u8; 4],
    congestion: u8,
    recovery: u8,
    ecn: u8,
    own: Vec<Own>,
    retries: Option<u8>,
    duration: u16,
    idle: bool,
    samples: bool,
    seed: u8,
    flows: Vec<Flow>,
}

#[derive(Arbitrary, Debug)]
struct Flow {
    gap: u16,
    size: u16,
    large: bool,
    rtt: Option<u8>,
    ends: u8,
    udp: Option<(u16, u16)>,
    stage: Option<u8>,
    after: Option<u8>,
    transport: u8,
}

/// A transport of some flows, where it differs from that of the others.
#[derive(Arbitrary, Debug)]
struct Own {
    congestion: u8,
    recovery: u8,
    ecn: u8,
    windows: [u8; 3],
    flags: u8,
}

const RATES_BPS: [u64; 8] = [1000, 64_000, 300_000, 1_000_000, 5_000_000, 10_000_000, 100_000_000, 400_000_000_000];

const MSS: [u32; 8] = [1, 88, 536, 1460, 1460, 9000, 65_000, 1460];

fn recovery(number: u8) -> Recovery {
    [Recovery::Reno, Recovery::NewReno, Recovery::Sack][usize::from(number) % 3]
}

fn ecn(number: u8) -> EcnMode {
    [EcnMode::Off, EcnMode::Classic, EcnMode::Dctcp, EcnMode::Accurate, EcnMode::L4s][usize::from(number) % 5]
}

fn rule(number: u8) -> Congestion {
    const RULES: [Congestion; 8] = [
        Congestion::Aimd,
        Congestion::Iiad,
        Congestion::Sqrt,
        Congestion::Cubic,
        Congestion::Bbr,
        Congestion::Dctcp,
        Congestion::Prague,
        Congestion::Bbr3,
    ];
    RULES[usize::from(number) % RULES.len()]
}

fuzz_target!(|given: Given| {
    let ids: Vec<&str> = disciplines::specs().iter().map(|spec| spec.id).collect();
    let id = |number: u8| ids[usize::from(number) % ids.len()].to_owned();
    let mut plan = wired("fifo");
    let network = &mut plan.network;
    let bps = |number: u8| rate(RATES_BPS[usize::from(number) % 8]);
    (network.rate, network.access_rate) = (bps(given.rates[0]), bps(given.rates[1]));
    network.reverse_rate = (given.rates[2] > 127).then(|| bps(given.rates[2]));
    network.exit_rate = (given.rates[3] > 127).then(|| bps(given.rates[3]));
    [network.delay, network.access_delay, network.exit_delay] =
        given.delays.map(|delay| Time(u64::from(delay % 64) << (delay / 64 * 9)));
    let limit = |size: u16| match given.in_bytes {
        true => Limit::Bytes(u64::from(size) + 1),
        false => Limit::Packets(u32::from(size % 512) + 1),
    };
    (network.limit, network.reverse_limit) = (limit(given.limits[0]), limit(given.limits[1]));
    network.loss = if given.loss < 128 { 0.0 } else { f64::from(given.loss - 128) / 256.0 };
    network.symmetric = given.symmetric;
    network.discipline = (id(given.discipline), Vec::new());
    network.reverse_discipline = (id(given.reverse), Vec::new());
    let flag = |place: u32| given.flags >> place & 1 == 1;
    let tcp = &mut plan.tcp;
    tcp.mss = MSS[usize::from(given.windows[3]) % 8];
    tcp.initial_window = u32::from(given.windows[0] % 20) + 1;
    tcp.receiver_window = u32::from(given.windows[1]) + 1;
    tcp.recovery_burst = u32::from(given.windows[2] % 5);
    tcp.min_rto = Time::from_millis(u64::from(given.times[0]) * 10 + 1);
    tcp.delayed_ack = Time::from_millis(u64::from(given.times[1]));
    tcp.tick = Time(1 << (given.times[2] % 30));
    tcp.quick_acks = u32::from(given.times[3]);
    (tcp.fin, tcp.fin_on_data, tcp.handshake_ack) = (flag(0), flag(1), flag(2));
    (tcp.limited_transmit, tcp.byte_counting, tcp.hystart) = (flag(3), flag(5), flag(6));
    tcp.ecn = ecn(given.ecn);
    (tcp.lax_duplicates, tcp.impatient, tcp.time_repeated_syn, tcp.timestamps) = (flag(7), flag(8), flag(9), flag(10));
    (tcp.syn_loss_lowers_ssthresh, tcp.recycled_senders, tcp.pacing) = (flag(11), flag(12), flag(13));
    tcp.loss_window = if flag(14) { LossWindow::Cwnd } else { LossWindow::Flight };
    tcp.recovery_exit = if flag(15) { RecoveryExit::AsIs } else { RecoveryExit::Deflate };
    tcp.backoff_ends = if flag(16) { BackoffEnd::Ack } else { BackoffEnd::Sample };
    tcp.rto_rule = if flag(17) { RtoRule::Linux } else { RtoRule::Rfc6298 };
    tcp.repair_end_opens = flag(18);
    tcp.close_acks = (given.flags >> 28) % 11;
    tcp.congestion = rule(given.congestion);
    tcp.recovery = recovery(given.recovery);
    (tcp.retries, tcp.syn_retries) = (given.retries.map(u32::from), given.retries.map(u32::from));
    for own in given.own.iter().take(4) {
        let mut tcp = plan.tcp.clone();
        (tcp.congestion, tcp.recovery) = (rule(own.congestion), recovery(own.recovery));
        tcp.mss = MSS[usize::from(own.windows[2]) % 8];
        tcp.initial_window = u32::from(own.windows[0] % 20) + 1;
        tcp.receiver_window = u32::from(own.windows[1]) + 1;
        let flag = |place: u32| own.flags >> place & 1 == 1;
        (tcp.fin, tcp.timestamps, tcp.recycled_senders) = (flag(0), flag(2), flag(3));
        tcp.ecn = ecn(own.ecn);
        (tcp.pacing, tcp.byte_counting, tcp.hystart) = (flag(4), flag(5), flag(6));
        plan.transports.push(OwnTransport { name: "own".into(), tcp });
    }
    plan.duration = Time::from_millis(u64::from(given.duration) + 1);
    let small = plan.tcp.mss < 500 || plan.transports.iter().any(|own| own.tcp.mss < 500);
    // A second of a fast link is many packets of few bytes: it would be slow, and nothing else.
    let fast = plan.network.rate.bps() > 20_000_000 && plan.network.access_rate.bps() > 20_000_000;
    plan.duration = plan.duration.min(Time::from_millis(if fast || small { 100 } else { 2000 }));
    plan.stop_when_idle = given.idle;
    plan.trace_drops = true;
    plan.seed = given.seed.into();
    plan.sample_interval = if given.samples { plan.duration } else { Time::ZERO };
    let count = given.flows.len().min(12) as u32;
    let mut start = 0;
    let flows: Vec<FlowSpec> = given
        .flows
        .iter()
        .take(12)
        .map(|flow| {
            start += u64::from(flow.gap) * 10_000;
            let stage = |number: Option<u8>| number.map(|number| u32::from(number) % count);
            FlowSpec {
                start: Time(start),
                size_bytes: if flow.large { 1 << (flow.size % 41) } else { u64::from(flow.size) + 1 },
                rtt: flow.rtt.map(|rtt| Time::from_millis(u64::from(rtt) + 1)),
                src: u32::from(flow.ends & 3),
                dst: u32::from(flow.ends >> 2 & 3),
                up: flow.ends & 16 != 0,
                receiver_opens: flow.ends & 32 != 0,
                udp: flow.udp.map(|(len, gap)| (u32::from(len), Time((u64::from(gap) + 1) * 20_000))),
                stage: stage(flow.stage),
                after: stage(flow.after),
                transport: u16::from(flow.transport) % (plan.transports.len() as u16 + 1),
                ..FlowSpec::default()
            }
        })
        .collect();
    let Ok(output) = run(&plan, &flows, &Control::default()) else { return };
    let counters = &output.counters;
    assert!(counters.end <= plan.duration);
    if given.samples && counters.end == plan.duration {
        let backlog = output.samples.last().map_or(0, |sample| sample.backlog_packets);
        assert_eq!(counters.arrivals, counters.sent + counters.drops + backlog);
    }
    assert!(counters.arrivals >= counters.sent + counters.drops);
    let drops: u64 = output.records.iter().map(|record| record.drops).sum();
    assert_eq!(drops, counters.drops + counters.reverse_drops);
    for (flow, record) in flows.iter().zip(&output.records) {
        assert!(record.delivered_bytes <= flow.size_bytes);
        assert!(record.retransmits <= record.packets_sent);
        assert!(record.finish == Time::NEVER || record.finish >= flow.start);
    }
    let again = run(&plan, &flows, &Control::default()).expect("ran a moment ago");
    assert_eq!(format!("{:?}", output.records), format!("{:?}", again.records));
});
