//! Controllers that count marks or model their path, held to laws that are not ours: the analysis of DCTCP (Alizadeh et al.
//! 2010), what RFC 9332 promises scalable and classic senders behind a dual queue, and what is published of BBRv3.

use netsim::tcp::settings::{Congestion, EcnMode, OwnTransport, Recovery, RtoRule};
use netsim::{FlowSpec, Output, Run, Tcp};
use qdisc::Limit;
use units::{Stream, Time};

use crate::dumbbell::{go, ms, rate, wired};

/// Hosts of today: SACK, timestamps, an acknowledgement for two segments, windows that never limit.
fn today(congestion: Congestion, ecn: EcnMode) -> Tcp {
    let mut tcp = wired("fifo").tcp;
    (tcp.congestion, tcp.ecn, tcp.recovery) = (congestion, ecn, Recovery::Sack);
    (tcp.mss, tcp.timestamps, tcp.rto_rule) = (1448, true, RtoRule::Linux);
    (tcp.initial_window, tcp.receiver_window, tcp.byte_counting) = (10, 20_000, true);
    (tcp.min_rto, tcp.delayed_ack, tcp.quick_acks) = (ms(200), ms(40), 16);
    tcp
}

/// These with the transport of Linux.
fn linux(congestion: Congestion, ecn: EcnMode) -> Tcp {
    Tcp { recovery: Recovery::Linux, tick: ms(1), ..today(congestion, ecn) }
}

/// Settings of hosts with a control, and what may be marked.
type Hosts = fn(Congestion, EcnMode) -> Tcp;

/// A link of `mbps` with room for `packets`, and round trips of `rtt_ms` without queue.
fn link(discipline: &str, options: &[(&str, &str)], mbps: u64, rtt_ms: u64, packets: u32) -> Run {
    let mut run = wired(discipline);
    run.network.discipline.1 = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    run.network.rate = rate(mbps * 1_000_000);
    run.network.access_rate = rate(10_000_000_000);
    (run.network.delay, run.network.access_delay, run.network.exit_delay) =
        (Time(rtt_ms * 1_000_000 / 2), Time::ZERO, Time::ZERO);
    (run.network.limit, run.network.reverse_limit) = (Limit::Packets(packets), Limit::Packets(10_000));
    run
}

/// Endless flows, one for each of `transports`, which begin a tenth of a second apart.
fn flows(run: &mut Run, transports: &[Tcp]) -> Vec<FlowSpec> {
    run.transports = transports.iter().map(|tcp| OwnTransport { name: "own".into(), tcp: tcp.clone() }).collect();
    (0..transports.len())
        .map(|n| FlowSpec {
            start: ms(100 * n as u64),
            size_bytes: 1 << 36,
            src: n as u32,
            dst: n as u32,
            transport: n as u16 + 1,
            ..FlowSpec::default()
        })
        .collect()
}

/// What happens from `from_s` to `to_s`: payload per flow, bit/s, and the whole run.
fn window(run: &Run, flows: &[FlowSpec], from_s: u64, to_s: u64) -> (Vec<f64>, Output) {
    let mut run = run.clone();
    run.duration = ms(from_s * 1000);
    let before = go(&run, flows);
    run.duration = ms(to_s * 1000);
    let after = go(&run, flows);
    let rates = after.records.iter().zip(&before.records);
    let rates = rates.map(|(a, b)| (a.delivered_bytes - b.delivered_bytes) as f64 * 8.0 / (to_s - from_s) as f64);
    (rates.collect(), after)
}

/// Queue lengths of a run sampled each millisecond from `from_s` on, packets, in order.
fn queue(run: &Run, flows: &[FlowSpec], from_s: u64, to_s: u64) -> Vec<u64> {
    let run = Run { sample_interval: ms(1), duration: ms(to_s * 1000), ..run.clone() };
    let samples = go(&run, flows).samples;
    let mut queue: Vec<u64> =
        samples.iter().filter(|sample| sample.time > ms(from_s * 1000)).map(|sample| sample.backlog_packets).collect();
    queue.sort_unstable();
    queue
}

/// Alizadeh et al. 2010, section 3.3, of N flows in step: W* = (C RTT + K) / N, alpha = sqrt(2 / W*), and the queue swings
/// from K + N - A to K + N, A = 1/2 sqrt(2 N (C RTT + K)).
#[test]
fn the_queue_of_dctcp_swings_as_its_analysis_says() {
    the_queue_swings(today(Congestion::Dctcp, EcnMode::L4s), 12_000.0, |_| 2.0);
}

/// The transport of Linux has windows of whole segments, one more at the lower end, and reduces them over a round trip. The
/// option of AccECN takes 12 bytes of every segment. The law is one of single segments: what leaves together, two segments or
/// what 1.2 times the rate of the link gives in 2^-10 s, is marked together, and the queue may fall by as many more.
#[test]
fn so_does_that_of_the_transport_of_linux() {
    the_queue_swings(linux(Congestion::Dctcp, EcnMode::L4s), 12_096.0, |mbps| {
        3.0 + (mbps * 1.2e6 / 8.0 / 1024.0 / 1448.0).max(2.0) - 1.0
    });
}

/// `tcp`, whose segments have so many bits, behind a step of marks: the swing is that of the analysis but for `whole` segments at
/// so many Mbit/s.
fn the_queue_swings(mut tcp: Tcp, bits: f64, whole: fn(f64) -> f64) {
    tcp.delayed_ack = Time::ZERO;
    for (mbps, rtt_ms, threshold_s) in [(100_u64, 20_u64, 0.012), (200, 10, 0.003), (100, 4, 0.008), (10, 40, 0.05)] {
        // A step of the L queue marks what has waited so long, which is what found K packets before it.
        let (threshold, per_s) = (threshold_s.to_string(), mbps as f64 * 1e6 / bits);
        let step = [("l_threshold", threshold.as_str()), ("l_range", "0"), ("coupling", "0.001"), ("target", "1")];
        let mut run = link("dualpi2", &step, mbps, rtt_ms, 5000);
        let list = flows(&mut run, &[tcp.clone()]);
        let found = queue(&run, &list, 10, 30);
        let (k, pipe) = (per_s * threshold_s, per_s * rtt_ms as f64 * 1e-3 + per_s * threshold_s);
        let (most, swing) = (k + 1.0, 0.5 * (2.0 * pipe).sqrt());
        let at = |share: f64| found[(share * (found.len() - 1) as f64) as usize] as f64;
        let (low, high) = (at(0.005), at(0.995));
        // Windows and samples are whole segments: one more or less, and one at either end of a window.
        let text = format!("{mbps} Mbit/s, {rtt_ms} ms: {low} to {high}, law {:.1} to {most:.1}", most - swing);
        assert!((high - most).abs() <= 1.0 && (low - (most - swing)).abs() <= whole(mbps as f64), "{text}");
    }
}

/// Payload that a link of `mbps` carries with these hosts, bit/s.
fn capacity(mbps: u64) -> f64 {
    mbps as f64 * 1e6 * 1448.0 / 1500.0
}

/// RFC 9332, 1 and 2: about equal rates for a scalable and a classic sender, hardly a queue for the first, the target for
/// the second, and a link that is used. CUBIC is classic with drops and with marks.
#[test]
fn prague_and_cubic_share_a_dual_queue_and_prague_has_hardly_a_queue() {
    let cases: [(u64, EcnMode, Hosts); 5] = [
        (10, EcnMode::Off, today),
        (20, EcnMode::Off, today),
        (20, EcnMode::Classic, today),
        (20, EcnMode::Off, linux),
        (20, EcnMode::Accurate, linux),
    ];
    for (rtt_ms, ecn, hosts) in cases {
        let mut run = link("dualpi2", &[], 40, rtt_ms, 2000);
        let list = flows(&mut run, &[hosts(Congestion::Prague, EcnMode::L4s), hosts(Congestion::Cubic, ecn)]);
        let (rates, out) = window(&run, &list, 20, 50);
        let ratio = rates[0] / rates[1];
        let delays_ms = [0, 1].map(|flow| out.records[flow].queue_delay.mean_s() * 1e3);
        let text = format!("{rtt_ms} ms, {ecn:?}: {rates:?}, waits {delays_ms:?} ms");
        assert!((0.5..2.0).contains(&ratio) && rates[0] + rates[1] > 0.95 * capacity(40), "{text}");
        assert!(delays_ms[0] < 1.0 && (10.0..20.0).contains(&delays_ms[1]), "{text}");
        assert_eq!(out.records[0].drops, 0, "{text}");
    }
}

/// Window law of Prague (2.4.2 and 2.4.3 of its draft): half the share p is taken off by the first mark that comes a round trip
/// after the last reduction, (1 - p) segments are added per round trip. Such a mark takes from half an interval of marks, where
/// they come evenly, to a whole one, where they come at random: x = W p / (1 - p) solves x / 2 = 1 + (1/2 or 1) / x.
#[test]
fn prague_keeps_its_window_law() {
    for hosts in [today, linux] {
        window_law_of_prague(hosts);
    }
}

fn window_law_of_prague(hosts: Hosts) {
    let mut run = link("dualpi2", &[], 40, 40, 2000);
    let list = flows(&mut run, &[hosts(Congestion::Prague, EcnMode::L4s), hosts(Congestion::Cubic, EcnMode::Off)]);
    let (rates, after) = window(&run, &list, 20, 60);
    run.duration = ms(20_000);
    let before = go(&run, &list);
    let marks = (after.records[0].marks - before.records[0].marks) as f64;
    let packets = rates[0] * 40.0 / 8.0 / 1448.0;
    let share = marks / packets;
    let rtt_s = 0.040 + after.records[0].queue_delay.mean_s();
    let window = rates[0] / 8.0 / 1448.0 * rtt_s;
    let found = window * share / (1.0 - share);
    let (even, random) = (1.0 + 2.0_f64.sqrt(), 1.0 + 3.0_f64.sqrt());
    assert!((0.97 * even..1.03 * random).contains(&found), "{found}: window {window:.1}, share {share:.4}");
}

/// 2.4.4 of the Prague draft: flows below 25 ms are alike; DCTCP's rates differ by more than the round-trip times.
#[test]
fn prague_does_not_favour_short_round_trips_as_dctcp_does() {
    let shares = [Congestion::Prague, Congestion::Dctcp].map(|rule| {
        let mut run = link("dualpi2", &[], 40, 0, 2000);
        let mut list = flows(&mut run, &[today(rule, EcnMode::L4s), today(rule, EcnMode::L4s)]);
        (list[0].rtt, list[1].rtt) = (Some(ms(5)), Some(ms(25)));
        let (rates, _) = window(&run, &list, 40, 80);
        rates[0] / rates[1]
    });
    assert!((2.0 / 3.0..1.5).contains(&shares[0]) && shares[1] > 5.0, "{shares:?}");
}

/// The sender of the RFCs and that of Linux.
const SENDERS: [(&str, Hosts); 2] = [("sack", today), ("linux", linux)];

/// Segments of a bandwidth-delay product at 50 Mbit/s and 40 ms, which the BBR tests use.
const BDP: f64 = 50e6 * 0.040 / 12_000.0;

fn beside(hosts: Hosts, rules: &[Congestion], buffer_bdp: f64) -> (Vec<f64>, Output) {
    let mut run = link("fifo", &[], 50, 40, (BDP * buffer_bdp) as u32);
    let tcp: Vec<Tcp> = rules.iter().map(|&rule| hosts(rule, EcnMode::Off)).collect();
    let list = flows(&mut run, &tcp);
    window(&run, &list, 20, 80)
}

/// Draft, 5.3.3 and 5.3.4: the link is full but for the 2 % that ProbeRTT takes at most, with a queue of a small part of a
/// bandwidth-delay product, whatever the buffer.
#[test]
fn bbr3_fills_the_link_with_hardly_a_queue() {
    for (name, hosts) in SENDERS {
        for buffer in [1.0, 2.0, 10.0] {
            let (rates, out) = beside(hosts, &[Congestion::Bbr3], buffer);
            let wait_ms = out.records[0].queue_delay.mean_s() * 1e3;
            assert!(rates[0] > 0.96 * capacity(50) && wait_ms < 0.1 * 40.0, "{name} {buffer}: {rates:?}, {wait_ms} ms");
        }
    }
}

/// Draft, 5.3.4: 200 ms and a round trip, every 5 s.
#[test]
fn bbr3_probes_the_round_trip_time_every_five_seconds() {
    for (_, hosts) in SENDERS {
        probes_of_bbr3(hosts);
    }
}

fn probes_of_bbr3(hosts: Hosts) {
    let mut run = link("fifo", &[], 50, 40, 1000);
    (run.sample_interval, run.watched, run.duration) = (ms(50), vec![0], ms(60_000));
    let list = flows(&mut run, &[hosts(Congestion::Bbr3, EcnMode::Off)]);
    let samples = go(&run, &list).samples;
    let (mut dips, mut low) = (Vec::new(), 0);
    for (before, after) in samples.iter().zip(&samples[1..]).skip(20) {
        let bps = (after.progress[0] - before.progress[0]) as f64 * 8.0 / 0.05;
        if bps < 0.7 * capacity(50) {
            if low == 0 {
                dips.push(after.time);
            }
            low += 1;
        } else {
            low = 0;
        }
        assert!(low <= 8, "a dip of more than 400 ms at {:?}", after.time);
    }
    let gaps: Vec<f64> = dips.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    assert!(gaps.len() >= 9 && gaps.iter().all(|gap| (5.0..5.6).contains(gap)), "{gaps:?}");
}

#[test]
fn two_flows_of_bbr3_come_to_share() {
    for (name, hosts) in SENDERS {
        for buffer in [0.5, 2.0, 5.0] {
            let (rates, _) = beside(hosts, &[Congestion::Bbr3, Congestion::Bbr3], buffer);
            let least = rates[0].min(rates[1]) / (rates[0] + rates[1]);
            assert!(least > 0.35 && rates[0] + rates[1] > 0.95 * capacity(50), "{name} {buffer}: {rates:?}");
        }
    }
}

/// Draft, 3.2 and 5.3.3: up to 2 % of loss is tolerated; beyond it the flow gives way, where version 1 does not. CUBIC has
/// given way long before.
#[test]
fn bbr3_tolerates_losses_up_to_two_percent() {
    for (name, hosts) in SENDERS {
        let rate_at = |rule, loss| {
            let mut run = link("fifo", &[], 50, 40, 1000);
            run.network.loss = loss;
            let list = flows(&mut run, &[hosts(rule, EcnMode::Off)]);
            window(&run, &list, 20, 60).0[0] / capacity(50)
        };
        let third = [0.001, 0.01, 0.05].map(|loss| rate_at(Congestion::Bbr3, loss));
        let (cubic, first) = (rate_at(Congestion::Cubic, 0.01), rate_at(Congestion::Bbr, 0.05));
        let text = format!("{name}: {third:?}, CUBIC {cubic}, version 1 {first}");
        assert!(third[0] > 0.9 && third[1] > 0.7 && cubic < 0.2 && third[2] < 0.2 && first > 0.3, "{text}");
    }
}

/// Google at IETF 117 (2023) and Zeynali et al. 2024, sections 4 and 5: in buffers below a few bandwidth-delay products version
/// 3 has more than half beside CUBIC and loses far less than version 1, which leaves CUBIC hardly anything; in deep buffers
/// CUBIC has more.
#[test]
fn bbr3_leaves_cubic_more_than_version_1_and_loses_far_less_in_shallow_buffers() {
    for (name, hosts) in SENDERS {
        for buffer in [0.25, 0.5, 1.0] {
            let (third, out) = beside(hosts, &[Congestion::Bbr3, Congestion::Cubic], buffer);
            let (first, old) = beside(hosts, &[Congestion::Bbr, Congestion::Cubic], buffer);
            let (drops, before) = (out.records[0].drops, old.records[0].drops);
            assert!(third[0] > third[1] && third[1] > 2.0 * first[1], "{name} {buffer}: {third:?} and {first:?}");
            assert!(2 * drops < before, "{name} {buffer}: {drops} and {before} drops");
        }
        let (deep, _) = beside(hosts, &[Congestion::Bbr3, Congestion::Cubic], 10.0);
        assert!(deep[1] > deep[0] && deep[0] > 0.25 * deep[1], "{name}: {deep:?}");
    }
}

/// Where acknowledgements count marks, BBRv3 keeps two flows at a step of 5 ms, where they would hold a bandwidth-delay product
/// without marks.
#[test]
fn bbr3_answers_to_marks() {
    let step = [("l_threshold", "0.005"), ("l_range", "0"), ("coupling", "0.001"), ("target", "1")];
    for (name, hosts) in SENDERS {
        let found = [EcnMode::L4s, EcnMode::Off].map(|ecn| {
            let mut run = link("dualpi2", &step, 50, 40, 2000);
            let list = flows(&mut run, &[hosts(Congestion::Bbr3, ecn), hosts(Congestion::Bbr3, ecn)]);
            let (rates, out) = window(&run, &list, 20, 60);
            (rates, out.records[0].queue_delay.mean_s() * 1e3, out.records[0].drops)
        });
        let [(rates, wait_ms, drops), (_, unmarked_ms, _)] = &found;
        assert!(rates[0] + rates[1] > 0.9 * capacity(50) && *drops == 0, "{name}: {found:?}");
        assert!(*wait_ms < 10.0 && *unmarked_ms > 20.0, "{name}: {found:?}");
    }
}

/// Mean flight of a binomial rule with k + l = 1, alpha = 1 and beta = 2/3 (Bansal and Balakrishnan 2001, Eq. 1 and 2), drawn
/// acknowledgement by acknowledgement: whole segments are in flight, and in the round trip of a reduction nothing moves the
/// window. Windows that are `whole` grow by what the rule gives for whole segments.
fn drawn(k: f64, loss: f64, whole: bool) -> f64 {
    let mut draws = Stream::named(1, "binomial");
    let (mut window, mut rounds, mut held) = (27.0_f64, 0.0, 0.0);
    let acks = 2_000_000;
    for _ in 0..acks {
        let (flight, lost) = (window.floor(), draws.uniform() < loss);
        rounds += 1.0 / flight;
        if held > 0.0 {
            held -= 1.0;
        } else if lost {
            window = (window - 2.0 / 3.0 * window.powf(1.0 - k)).max(2.0);
            held = flight;
        } else {
            window += if whole { flight } else { window }.powf(-1.0 - k);
        }
    }
    f64::from(acks) / rounds
}

/// Section 2 there, of TCP-friendly rules: w = sqrt(alpha / (beta p)), here sqrt(3 / (2 p)), for reductions that are small compared with
/// the window. Eight flows of 100 s are some 130 windows that do not depend on each other, since what moves a window is forgotten
/// after w^2 / 2 round trips; before, 60 s take the window of slow start down by less than a segment a time. They spread by sqrt(1 / (6 w)) with IIAD and sqrt(1 / (6 sqrt(w))) with SQRT.
#[test]
fn binomial_rules_have_the_window_of_their_law() {
    let loss = 0.005_f64;
    let law = (1.5 / loss).sqrt();
    for (name, hosts) in SENDERS {
        for (rule, k) in [(Congestion::Iiad, 1.0), (Congestion::Sqrt, 0.5)] {
            let mut run = link("fifo", &[], 1000, 20, 5000);
            run.network.loss = loss;
            let tcp = Tcp { delayed_ack: Time::ZERO, ..hosts(rule, EcnMode::Off) };
            let list = flows(&mut run, &vec![tcp; 8]);
            let (rates, _) = window(&run, &list, 60, 160);
            let mean = rates.iter().sum::<f64>() / 8.0 * 0.020 / 8.0 / 1448.0;
            let (expected, error) = (drawn(k, loss, name == "linux"), (law.powf(-k) / 6.0 / 130.0).sqrt());
            let text = format!("{name} {rule:?}: {mean:.2} segments, drawn {expected:.2}, law {law:.2}");
            assert!((expected / law - 1.0).abs() < 0.05 && (mean / expected - 1.0).abs() < 3.0 * error, "{text}");
        }
    }
}
