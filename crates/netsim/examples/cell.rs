//! A cell of 802.11a or b with the settings of the ns-3 reference, without Python: the simulator alone, for benchmarks.
//!
//! `cell FLOWS.csv BUFFER SECONDS [SEED]`, the list as CSV of flow_id,direction (d or u),start_s,station,host,size_packets,
//! or `cell endless [BUFFER [SECONDS [SEED [DOWN [UP [STANDARD]]]]]]` for endless transfers, by default 5 down and 5 up.
//! Prints one JSON line.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use netsim::config::{BackoffEnd, Congestion, LossWindow, Recovery, RecoveryExit, RtoRule};
use netsim::wlan::phy::{Channel, Standard};
use netsim::wlan::{AfterFailure, Category, Decrement, Immediate, Offered, Placement, Rules, Station};
use netsim::{Control, FlowSpec, Network, Run, Tcp, Wlan};
use qdisc::Limit;
use units::{BitRate, Time};

const MSS: u32 = 1460;

fn cell(standard: &str) -> Result<Wlan, Box<dyn Error>> {
    // Half bits per symbol of the control frames: 24 Mb/s, 2 Mb/s.
    let (rate, control) = if standard == "802.11b" { ("11mbit", 4) } else { ("54mbit", 192) };
    let standard = Standard::named(standard).ok_or("unknown standard")?;
    let data = standard.mode(rate, Channel::default(), false)?;
    let control = standard.control_mode(control, false);
    let lowest = standard.control_mode(standard.basic[0], false);
    Ok(Wlan {
        stations: vec![Station { data, control, frame_error: 0.0 }; 10],
        slot: standard.slots[0],
        sifs: standard.sifs,
        cca: Time(4000),
        ack_timeout: standard.sifs + standard.slots[0] + control.preamble,
        eifs_extra: standard.sifs + lowest.airtime(14),
        categories: vec![Category { aifsn: 2, windows: standard.windows, txop: Time::ZERO }],
        category_of: Vec::new(),
        overhead: 36,
        tries: [7, 4],
        rts_threshold: u32::MAX,
        rules: Rules {
            eifs_after_collision: false,
            decrement: Decrement::IdleSlots,
            after_failure: AfterFailure::TimeoutAndDifs,
            immediate: Immediate::Arrival,
            overtaken_draws: false,
            reply_finds_idle: true,
        },
        aggregation: None,
        placement: Placement::Shared,
        mean_backoff: false,
    })
}

fn ns3_tcp() -> Tcp {
    let ms = Time::from_millis;
    Tcp {
        mss: MSS,
        header: 40,
        initial_window: 2,
        receiver_window: 43,
        initial_rto: ms(3000),
        min_rto: ms(1000),
        max_rto: ms(60_000),
        tick: Time(1),
        delayed_ack: ms(200),
        fin: true,
        fin_on_data: true,
        close_acks: 2,
        handshake_ack: true,
        limited_transmit: true,
        ecn: false,
        hystart: false,
        byte_counting: false,
        congestion: Congestion::Aimd,
        lax_duplicates: false,
        impatient: true,
        recovery_burst: 0,
        loss_window: LossWindow::Flight,
        recovery_exit: RecoveryExit::Deflate,
        repair_end_opens: false,
        backoff_ends: BackoffEnd::Ack,
        time_repeated_syn: true,
        syn_loss_lowers_ssthresh: false,
        recycled_senders: false,
        recovery: Recovery::NewReno,
        timestamps: false,
        rto_rule: RtoRule::Rfc6298,
        pacing: false,
        quick_acks: 1,
        syn_retries: None,
        retries: None,
    }
}

fn settings(standard: &str, buffer: u32, duration: Time, seed: u64) -> Result<Run, Box<dyn Error>> {
    let fast = BitRate::from_bps(1_000_000_000).ok_or("rate")?;
    Ok(Run {
        network: Network {
            rate: fast,
            delay: Time::ZERO,
            reverse_rate: None,
            access_rate: fast,
            exit_rate: None,
            exit_rate_up: None,
            access_delay: Time::from_millis(2),
            exit_delay: Time::ZERO,
            // The frame in service takes a place in ns-3.
            limit: Limit::Packets(buffer.checked_sub(1).ok_or("buffer: at least 1")?),
            reverse_limit: Limit::Packets(2000),
            loss: 0.0,
            discipline: ("fifo".to_owned(), vec![]),
            reverse_discipline: ("fifo".to_owned(), vec![]),
        },
        graph: None,
        wlan: Some(cell(standard)?),
        tcp: ns3_tcp(),
        duration,
        stop_when_idle: false,
        seed,
        sample_interval: Time::ZERO,
        watched: vec![],
        trace_drops: false,
        counting: Default::default(),
        traced: Vec::new(),
        trace_limit: 1_000_000,
        scripts: Default::default(),
        bursts: Default::default(),
    })
}

/// Downloads to the first stations and uploads from the next ones, begun within 0.1 s.
fn endless(down: u32, up: u32, seed: u64) -> Vec<FlowSpec> {
    let mut starts = units::Stream::named(seed, "starts");
    let mut flows: Vec<FlowSpec> = (0..down + up)
        .map(|host| FlowSpec {
            start: Time((starts.uniform() * 1e8) as u64),
            size_bytes: 1 << 40,
            src: host,
            dst: host,
            up: host >= down,
            ..FlowSpec::default()
        })
        .collect();
    flows.sort_by_key(|flow| flow.start);
    flows
}

fn listed(path: &str) -> Result<Vec<FlowSpec>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut flows = Vec::new();
    for line in text.lines().skip(1) {
        let [_, direction, start, station, host, packets] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(format!("{line}: not six fields").into());
        };
        flows.push(FlowSpec {
            start: Time::from_secs_f64(start.parse()?).ok_or("start")?,
            size_bytes: packets.parse::<u64>()? * u64::from(MSS),
            src: host.parse()?,
            dst: station.parse()?,
            up: direction == "u",
            ..FlowSpec::default()
        });
    }
    Ok(flows)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let text = |index: usize, default: &'static str| arguments.get(index).map_or(default, String::as_str);
    let source =
        arguments.get(1).ok_or("usage: cell endless|FLOWS.csv [BUFFER [SECONDS [SEED [DOWN UP [STANDARD]]]]]")?;
    let (seconds, seed) = (text(3, "100").parse::<u64>()?, text(4, "1").parse()?);
    let run = settings(text(7, "802.11a"), text(2, "30").parse()?, Time::from_millis(1000 * seconds), seed)?;
    let flows =
        if source == "endless" { endless(text(5, "5").parse()?, text(6, "5").parse()?, seed) } else { listed(source)? };
    let began = Instant::now();
    let output = netsim::run(&run, &flows, &Control::default())?;
    let wall = began.elapsed().as_secs_f64();
    let cell = output.wlan.as_ref().ok_or("no cell")?;
    let mbps = |up: bool| {
        let ways = flows.iter().zip(&output.records).filter(|(flow, _)| flow.up == up);
        ways.map(|(_, record)| record.delivered_bytes).sum::<u64>() as f64 * 8e-6 / seconds as f64
    };
    let loss = |kind: Offered| kind.drops as f64 / kind.arrivals.max(1) as f64;
    println!(
        "{{\"flows\": {}, \"completed\": {}, \"up_mbps\": {:.4}, \"down_mbps\": {:.4}, \"data_loss\": {:.4}, \"ack_loss\": {:.4}, \"packet_hops\": {}, \"events\": {}, \"wall_s\": {wall:.3}}}",
        flows.len(),
        output.records.iter().filter(|record| record.finish != Time::NEVER).count(),
        mbps(true),
        mbps(false),
        loss(cell.data),
        loss(cell.acks),
        output.counters.packet_hops,
        output.counters.events,
    );
    Ok(())
}
