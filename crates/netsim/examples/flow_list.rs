//! Runs a flow list (CSV of flow_id,start_s,src,dst,size_packets, sorted) over the wired dumbbell with
//! the settings of the ns-2 reference, without Python: the simulator alone, for benchmarks.
//!
//! `flow_list FLOWS.csv [DISCIPLINE] [RECORDS.csv]`, or `flow_list permanent STARTS.csv [DISCIPLINE] [RECORDS.csv]`
//! for endless TCP flows and CBR flows of 1 Mb/s (a row `protocol,start_s` each, sorted) over 28 Mb/s and 50 ms
//! for 320 s (Zhao 2004, II.C, with drop-tail). Prints one JSON line.
//!
//! `flow_list scale KIND RATE_BPS FLOWS RTT WINDOW [DISCIPLINE [digest]]` draws its own flows: KIND `permanent`, all alive at once, or
//! `short`, of 30 packets at four fifths of the rate; RTT `equal` (20 ms) or `spread` (20 to 200 ms, each its own); WINDOW in
//! segments. Selective acknowledgements and CUBIC. The line has CPU time per hop and per event, and the peak of memory, both
//! from Linux' `/proc` (`benchmarks/scale.py`); with a last word `digest`, a number that tells apart what two runs left.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;

use netsim::tcp::settings::{
    BackoffEnd, CachedMetrics, Congestion, EcnMode, Hystart, Kernel, LossWindow, ReceiveBuffer, Recovery, RecoveryExit,
    RtoRule, StreamOrder,
};
use netsim::{Control, FlowSpec, Network, Output, Run, Tcp};
use qdisc::Limit;
use units::{BitRate, Stream, Time};

fn flows(path: &str) -> Result<Vec<FlowSpec>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut flows = Vec::new();
    for line in text.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        flows.push(FlowSpec {
            start: Time::from_secs_f64(field[1].parse()?).ok_or("start")?,
            size_bytes: field[4].parse::<u64>()? * 1460,
            src: field[2].parse::<u32>()? - 1,
            dst: field[3].parse::<u32>()? - 8,
            ..FlowSpec::default()
        });
    }
    Ok(flows)
}

fn ns2_settings(discipline: &str) -> Result<Run, Box<dyn Error>> {
    let rate = |bps| BitRate::from_bps(bps).ok_or("rate");
    let ms = Time::from_millis;
    Ok(Run {
        network: Network {
            rate: rate(10_000_000)?,
            delay: ms(1),
            reverse_rate: None,
            reverse_delay: None,
            access_rate: rate(100_000_000)?,
            exit_rate: None,
            exit_rate_up: None,
            access_delay: ms(1),
            exit_delay: ms(1),
            limit: Limit::Packets(299),
            reverse_limit: Limit::Packets(299),
            loss: 0.0,
            impairments: Vec::new(),
            symmetric: false,
            discipline: (discipline.to_owned(), vec![]),
            reverse_discipline: ("fifo".to_owned(), vec![]),
            traces: [None, None],
            shaping: Default::default(),
        },
        graph: None,
        wlan: None,
        tree: None,
        tcp: Tcp {
            mss: 1460,
            header: 40,
            initial_window: 2,
            receiver_window: 43,
            receive_buffer: ReceiveBuffer::Auto,
            receive_memory: 6_291_456,
            gro: Time::ZERO,
            initial_rto: ms(3000),
            min_rto: ms(200),
            max_rto: ms(60_000),
            tick: ms(10),
            delayed_ack: ms(100),
            fin: false,
            fin_on_data: false,
            close_acks: 0,
            handshake_ack: false,
            limited_transmit: true,
            ecn: EcnMode::Off,
            hystart: Hystart::Off,
            byte_counting: false,
            congestion: Congestion::Aimd,
            lax_duplicates: true,
            impatient: true,
            recovery_burst: 2,
            loss_window: LossWindow::Cwnd,
            recovery_exit: RecoveryExit::AsIs,
            repair_end_opens: true,
            backoff_ends: BackoffEnd::Sample,
            time_repeated_syn: false,
            syn_loss_lowers_ssthresh: true,
            recycled_senders: true,
            recovery: Recovery::NewReno,
            ack_every: 2,
            handshake_bytes: 4000,
            early_data: false,
            stream_order: StreamOrder::Incremental,
            timestamps: false,
            rto_rule: RtoRule::Rfc6298,
            kernel: Kernel::V6_1,
            pacing: false,
            quick_acks: 0,
            syn_retries: None,
            linear_syn_timeouts: 0,
            retries: None,
            restart_after_idle: false,
            cached_metrics: CachedMetrics::Off,
            reserved: 0,
        },
        transports: Vec::new(),
        duration: ms(1_000_000),
        stop_when_idle: false,
        seed: 1,
        clock_phase: None,
        sample_interval: Time::ZERO,
        watched: vec![],
        trace_drops: false,
        counting: Default::default(),
        traced: Vec::new(),
        trace_limit: 1_000_000,
        subflows: false,
        scripts: Default::default(),
        bursts: Default::default(),
        applications: Vec::new(),
        probes: Vec::new(),
        heard: Vec::new(),
    })
}

fn permanent(path: &str, discipline: &str) -> Result<(Run, Vec<FlowSpec>), Box<dyn Error>> {
    let mut run = ns2_settings(discipline)?;
    let network = &mut run.network;
    network.rate = BitRate::from_bps(28_000_000).ok_or("rate")?;
    network.access_rate = BitRate::from_bps(1_000_000_000).ok_or("rate")?;
    network.delay = Time::from_millis(50);
    (network.access_delay, network.exit_delay) = (Time::ZERO, Time::ZERO);
    // Of the 60 packets of ns-2's queue one is in transmission.
    (network.limit, network.reverse_limit) = (Limit::Packets(59), Limit::Packets(100_000));
    run.tcp.mss = 960;
    run.tcp.receiver_window = 64;
    run.tcp.delayed_ack = Time::ZERO;
    run.duration = Time::from_millis(320_000);
    let mut flows = Vec::new();
    for (line, host) in std::fs::read_to_string(path)?.lines().skip(1).zip(0..) {
        let (protocol, start) = line.split_once(',').ok_or("protocol,start_s")?;
        flows.push(FlowSpec {
            start: Time::from_secs_f64(start.parse()?).ok_or("start")?,
            size_bytes: 1 << 38,
            src: host,
            dst: host,
            udp: (protocol == "udp").then_some((1000, Time::from_millis(8))),
            ..FlowSpec::default()
        });
    }
    Ok((run, flows))
}

/// Payload of the flows of `short`, packets, and the share of the rate that they offer.
const SHORT: u64 = 30;
const LOAD: f64 = 0.8;
/// Bits of a full packet on the wire.
const PACKET_BITS: f64 = 12_000.0;
const RTT: Time = Time::from_millis(20);

/// A run of scale, and its flows: what `arguments` say, behind `scale`.
fn scaled(arguments: &[String]) -> Result<(Run, Vec<FlowSpec>), Box<dyn Error>> {
    let [kind, rate, count, rtts, window, rest @ ..] = arguments else {
        return Err(
            "usage: flow_list scale permanent|short RATE_BPS FLOWS equal|spread WINDOW [DISCIPLINE [digest]]".into()
        );
    };
    let (rate, count): (f64, u64) = (rate.parse()?, count.parse()?);
    let mut run = ns2_settings(rest.first().map_or("fifo", String::as_str))?;
    let network = &mut run.network;
    let of = |bps: f64| BitRate::from_bps(bps as u64).ok_or("rate");
    (network.rate, network.access_rate) = (of(rate)?, of(2.0 * rate)?);
    network.delay = Time(RTT.0 / 2 - 2 * network.access_delay.0);
    let per_rtt = rate * RTT.as_secs_f64() / PACKET_BITS;
    network.limit = Limit::Packets(per_rtt.clamp(300.0, 100_000.0) as u32);
    network.reverse_limit = Limit::Packets(1_000_000);
    let tcp = &mut run.tcp;
    (tcp.recovery, tcp.congestion, tcp.recovery_burst) = (Recovery::Sack, Congestion::Cubic, 0);
    (tcp.tick, tcp.initial_window, tcp.receiver_window) = (Time(1), 10, window.parse()?);
    let permanent = kind == "permanent";
    // Long enough for twenty round trips, and for all to begin.
    let packets =
        if permanent { (20.0 * per_rtt).max(5e5).max(2.0 * count as f64) } else { (count * SHORT) as f64 / LOAD };
    let lasts = packets * PACKET_BITS / rate;
    run.duration = Time::from_secs_f64(if permanent { lasts } else { 1.05 * lasts + 1.0 }).ok_or("duration")?;
    let begun = if permanent { lasts / 4.0 } else { lasts };
    let hosts = count.min(1000);
    let mut draws = Stream::named(1, "scale");
    let mut flows = Vec::new();
    for index in 0..count {
        let start = begun * (index as f64 + draws.uniform()) / count as f64;
        let rtt = RTT.as_secs_f64() * 10_f64.powf(draws.uniform());
        flows.push(FlowSpec {
            start: Time::from_secs_f64(start).ok_or("start")?,
            size_bytes: if permanent { 1 << 38 } else { SHORT * 1460 },
            rtt: if rtts == "spread" { Time::from_secs_f64(rtt) } else { None },
            src: (index % hosts) as u32,
            dst: (index % hosts) as u32,
            ..FlowSpec::default()
        });
    }
    Ok((run, flows))
}

/// CPU time of this thread, nanoseconds, and the peak of this process' memory, bytes.
fn spent() -> Option<(u64, u64)> {
    let (times, status) = ("/proc/thread-self/schedstat", "/proc/self/status");
    let on_cpu = std::fs::read_to_string(times).ok()?.split(' ').next()?.parse().ok()?;
    let text = std::fs::read_to_string(status).ok()?;
    let peak: u64 =
        text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((on_cpu, peak << 10))
}

/// A number that tells apart what two runs left.
fn digest(output: &Output) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(format!("{:?}", output.counters).as_bytes());
    output.records.iter().for_each(|record| hasher.write(format!("{record:?}").as_bytes()));
    hasher.finish()
}

/// Prints what a run of scale cost.
fn scale(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (run, flows) = scaled(arguments)?;
    let (before_ns, before_bytes) = spent().ok_or("no /proc")?;
    let output = netsim::run(&run, &flows, &Control::default())?;
    let (after_ns, after_bytes) = spent().ok_or("no /proc")?;
    let (counters, ns) = (output.counters, (after_ns - before_ns) as f64);
    let asked = arguments.last().is_some_and(|last| last == "digest");
    let digest = if asked { format!("\"{:016x}\"", digest(&output)) } else { "null".to_owned() };
    println!(
        "{{\"ns_per_hop\": {:.2}, \"ns_per_event\": {:.2}, \"cpu_s\": {:.3}, \"peak_bytes\": {}, \"list_bytes\": {}, \"hops\": {}, \"events\": {}, \"drops\": {}, \"completed\": {}, \"utilisation\": {:.4}, \"digest\": {}}}",
        ns / counters.packet_hops as f64,
        ns / counters.events as f64,
        ns * 1e-9,
        after_bytes,
        before_bytes,
        counters.packet_hops,
        counters.events,
        counters.drops,
        output.records.iter().filter(|r| r.finish != Time::NEVER).count(),
        counters.sent_bytes as f64 * 8.0 / run.network.rate.bps() as f64 / run.duration.as_secs_f64(),
        digest,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "scale") {
        return scale(&arguments[1..]);
    }
    let endless = arguments.first().is_some_and(|first| first == "permanent");
    arguments.drain(..usize::from(endless));
    let path = arguments.first().ok_or("usage: flow_list [permanent] FILE.csv [DISCIPLINE] [RECORDS.csv]")?;
    let discipline = arguments.get(1).map_or("fifo", String::as_str);
    let (run, flows) = if endless { permanent(path, discipline)? } else { (ns2_settings(discipline)?, flows(path)?) };
    let output = netsim::run(&run, &flows, &Control::default())?;
    let counters = output.counters;
    println!(
        "{{\"flows\": {}, \"completed\": {}, \"packet_hops\": {}, \"events\": {}, \"arrivals\": {}, \"drops\": {}, \"queue_mean_packets\": {:.3}, \"utilisation\": {:.5}}}",
        flows.len(),
        output.records.iter().filter(|r| r.finish != Time::NEVER).count(),
        counters.packet_hops,
        counters.events,
        counters.arrivals,
        counters.drops,
        counters.queue_mean_packets,
        counters.sent_bytes as f64 * 8.0 / run.network.rate.bps() as f64 / run.duration.as_secs_f64(),
    );
    if let Some(path) = arguments.get(2) {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        writeln!(file, "protocol,finish_s,packets_sent,retransmits,timeouts,drops")?;
        for (flow, r) in flows.iter().zip(&output.records) {
            let protocol = if flow.udp.is_some() { "udp" } else { "tcp" };
            let finish = if r.finish == Time::NEVER { f64::NAN } else { r.finish.as_secs_f64() };
            writeln!(file, "{protocol},{finish:.6},{},{},{},{}", r.packets_sent, r.retransmits, r.timeouts, r.drops)?;
        }
    }
    Ok(())
}
