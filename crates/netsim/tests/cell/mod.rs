//! Cells of 802.11a and b with the settings of the standard, and the flows the tests run in them.
#![allow(dead_code)]

use netsim::wlan::phy::{Channel, Standard};
use netsim::wlan::{AfterFailure, Category, Decrement, Immediate, Placement, Rules, Station};
use netsim::{FlowSpec, Run, Wlan};
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{ms, rate, wired};

pub const STANDARD: Rules = Rules {
    eifs_after_collision: true,
    decrement: Decrement::IdleSlots,
    after_failure: AfterFailure::Timeout,
    immediate: Immediate::Idle,
    overtaken_draws: true,
    reply_finds_idle: false,
};

pub const CHAIN: Rules = Rules {
    eifs_after_collision: false,
    decrement: Decrement::EverySlot,
    after_failure: AfterFailure::WithOthers,
    immediate: Immediate::Never,
    overtaken_draws: true,
    reply_finds_idle: false,
};

pub const NS3: Rules = Rules {
    eifs_after_collision: false,
    decrement: Decrement::IdleSlots,
    after_failure: AfterFailure::TimeoutAndDifs,
    immediate: Immediate::Arrival,
    overtaken_draws: false,
    reply_finds_idle: true,
};

/// `stations` at `rate_name`, their control frames at `control` half bits per symbol.
pub fn cell(standard: &str, rate_name: &str, control: u32, stations: usize, rules: Rules) -> Wlan {
    let standard = Standard::named(standard).expect("known");
    let control_mode = standard.control_mode(control, false);
    let lowest = standard.control_mode(standard.basic[0], false);
    let data = standard.mode(rate_name, Channel::default(), false).expect("known");
    let station = Station { data, control: control_mode, frame_error: 0.0 };
    let dcf = Category { aifsn: 2, windows: standard.windows, txop: Time::ZERO };
    Wlan {
        stations: vec![station; stations],
        slot: standard.slots[0],
        sifs: standard.sifs,
        cca: standard.cca,
        ack_timeout: standard.sifs + standard.slots[0] + control_mode.preamble,
        eifs_extra: standard.sifs + lowest.airtime(14),
        categories: vec![dcf],
        category_of: Vec::new(),
        overhead: 36,
        tries: [7, 4],
        rts_threshold: u32::MAX,
        rules,
        aggregation: None,
        placement: Placement::Shared,
        mean_backoff: false,
    }
}

/// A run of `wlan` behind wired hosts at 1 Gb/s and 2 ms.
pub fn run_of(wlan: Wlan, buffer: u32, duration: Time) -> Run {
    let mut run = wired("fifo");
    run.network.access_rate = rate(1_000_000_000);
    run.network.access_delay = ms(2);
    run.network.limit = Limit::Packets(buffer);
    run.network.reverse_limit = Limit::Packets(2000);
    run.tcp.initial_window = 2;
    run.wlan = Some(wlan);
    run.duration = duration;
    run
}

/// `count` stations that always have a datagram of 1500 bytes to send.
pub fn saturated(count: u32, bps: u64) -> Vec<FlowSpec> {
    let gap = Time(1500 * 8 * 1_000_000_000 / (bps / u64::from(count)));
    let flow = |station: u32| FlowSpec {
        start: Time(u64::from(station) * 1000),
        size_bytes: 1 << 40,
        src: station,
        dst: station,
        up: true,
        udp: Some((1500, gap)),
        ..FlowSpec::default()
    };
    (0..count).map(flow).collect()
}

/// TCP without end: `down` downloads to the first stations, `up` uploads from the next ones.
pub fn endless(down: u32, up: u32) -> Vec<FlowSpec> {
    let flow = |index: u32| FlowSpec {
        start: Time(10_000_000 * u64::from(index)),
        size_bytes: 1 << 40,
        src: index,
        dst: index,
        up: index >= down,
        ..FlowSpec::default()
    };
    (0..down + up).map(flow).collect()
}

/// As [`saturated`], from wired hosts to the stations.
pub fn down(count: u32, bps: u64) -> Vec<FlowSpec> {
    saturated(count, bps).into_iter().map(|flow| FlowSpec { up: false, ..flow }).collect()
}
