//! The dumbbell of Chen 2012, 4.4, with the transport of the RFCs, and the flows the tests run on it.
#![allow(dead_code)]

use netsim::tcp::settings::{
    BackoffEnd, CachedMetrics, Congestion, EcnMode, Hystart, Kernel, LossWindow, ReceiveBuffer, Recovery, RecoveryExit,
    RtoRule, StreamOrder,
};
use netsim::{Control, FlowSpec, Network, Output, Run, Tcp};
use qdisc::{DropReason, Limit, disciplines};
use units::{BitRate, Stream, Time};

/// Wire length of a full segment, bytes.
pub const FULL: u32 = 1500;
/// Fastest link there is: 30 ns per full segment.
pub const FASTEST_BPS: u64 = 400_000_000_000;

pub fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

pub fn rate(bps: u64) -> BitRate {
    BitRate::from_bps(bps).expect("non-zero")
}

/// Chen 2012, 4.4.1: 10 Mb/s and 1 ms between access links of 100 Mb/s and 1 ms, 300 packets.
pub fn wired(discipline: &str) -> Run {
    Run {
        network: Network {
            rate: rate(10_000_000),
            delay: ms(1),
            reverse_rate: None,
            reverse_delay: None,
            access_rate: rate(100_000_000),
            exit_rate: None,
            exit_rate_up: None,
            access_delay: ms(1),
            exit_delay: ms(1),
            limit: Limit::Packets(300),
            reverse_limit: Limit::Packets(300),
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
        tcp: Tcp {
            mss: 1460,
            header: 40,
            initial_window: 3,
            receiver_window: 43,
            receive_buffer: ReceiveBuffer::Auto,
            receive_memory: 6_291_456,
            gro: Time::ZERO,
            initial_rto: ms(3000),
            min_rto: ms(1000),
            max_rto: ms(60_000),
            tick: Time(1),
            delayed_ack: ms(200),
            fin: true,
            fin_on_data: false,
            close_acks: 0,
            handshake_ack: true,
            limited_transmit: true,
            ecn: EcnMode::Off,
            hystart: Hystart::Off,
            byte_counting: false,
            congestion: Congestion::Aimd,
            lax_duplicates: false,
            impatient: true,
            recovery_burst: 0,
            loss_window: LossWindow::Flight,
            recovery_exit: RecoveryExit::Deflate,
            repair_end_opens: true,
            backoff_ends: BackoffEnd::Sample,
            time_repeated_syn: false,
            syn_loss_lowers_ssthresh: false,
            recycled_senders: false,
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
        duration: ms(60_000),
        stop_when_idle: false,
        seed: 1,
        clock_phase: None,
        sample_interval: Time::ZERO,
        watched: Vec::new(),
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
    }
}

/// The bottleneck alone: access links of no length that take next to no time.
pub fn bottleneck(discipline: &str) -> Run {
    let mut run = wired(discipline);
    run.network.access_rate = rate(FASTEST_BPS);
    (run.network.delay, run.network.access_delay, run.network.exit_delay) = (Time::ZERO, Time::ZERO, Time::ZERO);
    run
}

/// A TCP transfer from host 0 to host 0.
pub fn transfer(start: Time, size_bytes: u64) -> FlowSpec {
    FlowSpec { start, size_bytes, ..FlowSpec::default() }
}

/// `packets` datagrams of `len` bytes on the wire, `gap` apart, from host `src`.
pub fn datagrams(start: Time, src: u32, packets: u64, len: u32, gap: Time) -> FlowSpec {
    FlowSpec { src, udp: Some((len, gap)), ..transfer(start, packets * u64::from(len - 28)) }
}

pub fn go(run: &Run, flows: &[FlowSpec]) -> Output {
    netsim::run(run, flows, &Control::default()).expect("valid and not cancelled")
}

/// Ids of the registry.
pub fn disciplines() -> impl Iterator<Item = &'static str> {
    disciplines::specs().iter().map(|spec| spec.id)
}

/// Whether every drop of `output`, a run with `trace_drops`, was for want of room in the buffer.
pub fn dropped_for_room_only(output: &Output) -> bool {
    output.drops.iter().all(|drop| matches!(drop.reason, DropReason::Full | DropReason::PushedOut))
}

/// `count` instants of a Poisson process, given that as many fall between 0 and `span`. Unlike exponential
/// gaps they need no logarithm, so they are the same on every platform.
pub fn poisson(seed: u64, count: usize, span: Time) -> Vec<Time> {
    let mut stream = Stream::named(seed, "starts");
    let mut instants: Vec<Time> = (0..count).map(|_| Time((stream.uniform() * span.0 as f64) as u64)).collect();
    instants.sort_unstable();
    instants
}

/// Mean of `values` and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
