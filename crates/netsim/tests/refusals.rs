//! Bad configurations are refused with the value and the bound; the bounds themselves are taken.

use netsim::tcp::settings::Recovery;
use netsim::{Control, FlowSpec, Run};
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{datagrams, go, ms, rate, transfer, wired};

fn refusal(run: &Run, flows: &[FlowSpec]) -> String {
    match netsim::run(run, flows, &Control::default()) {
        Err(error) => error.to_string(),
        Ok(_) => "taken".to_owned(),
    }
}

type Field = fn(&mut Run, u64);

const YEARS_2: u64 = 63_072_000_000_000_000;
const MINUTE: u64 = 60_000_000_000;
const RATES: &str = "from 1 kbit/s to 400 Gbit/s";

/// Name, field, smallest and largest value taken, bound as told.
const BOUNDS: [(&str, Field, u64, u64, &str); 22] = [
    ("duration_ns", |run, v| run.duration = Time(v), 1, YEARS_2, "above 0 and at most 2 years"),
    ("sample_interval_ns", |run, v| run.sample_interval = Time(v), 0, YEARS_2, "at most 2 years"),
    ("network.rate_bps", |run, v| run.network.rate = rate(v), 1000, 400_000_000_000, RATES),
    ("network.access_rate_bps", |run, v| run.network.access_rate = rate(v), 1000, 400_000_000_000, RATES),
    ("network.reverse_rate_bps", |run, v| run.network.reverse_rate = Some(rate(v)), 1000, 400_000_000_000, RATES),
    ("network.exit_rate_bps", |run, v| run.network.exit_rate = Some(rate(v)), 1000, 400_000_000_000, RATES),
    ("network.exit_rate_up_bps", |run, v| run.network.exit_rate_up = Some(rate(v)), 1000, 400_000_000_000, RATES),
    ("network.delay_ns", |run, v| run.network.delay = Time(v), 0, MINUTE, "at most 60 s"),
    ("network.reverse_delay_ns", |run, v| run.network.reverse_delay = Some(Time(v)), 0, MINUTE, "at most 60 s"),
    ("network.access_delay_ns", |run, v| run.network.access_delay = Time(v), 0, MINUTE, "at most 60 s"),
    ("network.exit_delay_ns", |run, v| run.network.exit_delay = Time(v), 0, MINUTE, "at most 60 s"),
    ("tcp.mss", |run, v| run.tcp.mss = v as u32, 1, 65_000, "from 1 to 65000 bytes"),
    ("tcp.header", |run, v| run.tcp.header = v as u32, 1, 500, "from 1 to 500 bytes"),
    ("tcp.initial_window", |run, v| run.tcp.initial_window = v as u32, 1, 1000, "from 1 to 1000 segments"),
    ("tcp.receiver_window", |run, v| run.tcp.receiver_window = v as u32, 1, 1 << 20, "from 1 to 1048576 segments"),
    ("tcp.receive_memory", |run, v| run.tcp.receive_memory = v as u32, 4096, 1 << 30, "from 4096 bytes to 1 GiB"),
    (
        "tcp.gro_ns",
        |run, v| (run.tcp.gro, run.tcp.recovery, run.tcp.tick) = (Time(v), Recovery::Linux, Time(4_000_000)),
        0,
        10_000_000,
        "from 0 to 10 ms",
    ),
    ("tcp.initial_rto_ns", |run, v| run.tcp.initial_rto = Time(v), 1_000_000, MINUTE, "from 1 ms to 60 s"),
    ("tcp.min_rto_ns", |run, v| run.tcp.min_rto = Time(v), 1_000_000, MINUTE, "from 1 ms to 60 s"),
    ("tcp.max_rto_ns", |run, v| run.tcp.max_rto = Time(v), 1_000_000_000, 10 * MINUTE, "from min_rto to 600 s"),
    ("tcp.tick_ns", |run, v| run.tcp.tick = Time(v), 1, 1_000_000_000, "from 1 ns to 1 s"),
    ("tcp.delayed_ack_ns", |run, v| run.tcp.delayed_ack = Time(v), 0, 10_000_000_000, "from 0 to 10 s"),
];

#[test]
fn every_bound_is_taken_and_nothing_beyond() {
    for (name, set, min, max, bound) in BOUNDS {
        // No flows: a run of two years is over at once.
        let outcome = |value| {
            let mut run = wired("fifo");
            set(&mut run, value);
            refusal(&run, &[])
        };
        for value in [min, max] {
            assert_eq!(outcome(value), "taken", "{name} = {value}");
        }
        // A rate of zero is none.
        let below = min.checked_sub(1).filter(|&value| value > 0 || !name.ends_with("_bps"));
        for value in below.into_iter().chain([max + 1]) {
            assert_eq!(outcome(value), format!("{name} = {value}: must be {bound}"));
        }
    }
}

#[test]
fn the_bounds_together_overflow_nothing() {
    let mut run = wired("fifo");
    for (_, set, _, max, _) in BOUNDS {
        set(&mut run, max);
    }
    let last = |flow: FlowSpec| FlowSpec { start: Time(YEARS_2 - 1), ..flow };
    let flows = [
        FlowSpec { rtt: Some(Time(MINUTE)), ..last(transfer(Time::ZERO, 1 << 40)) },
        last(transfer(Time::ZERO, 1 << 40)),
        last(datagrams(Time::ZERO, 0, 2, 65_535, Time(86_400_000_000_000))),
    ];
    let counters = go(&run, &flows).counters;
    assert_eq!(counters.end, Time(YEARS_2));
    let records = go(&Run { duration: Time(YEARS_2), ..wired("fifo") }, &flows).records;
    assert!(records.iter().all(|record| record.packets_sent == 1 && record.delivered_bytes == 0), "{records:?}");
}

#[test]
fn a_flow_that_makes_no_sense_is_refused_by_its_index() {
    let good = transfer(ms(1), 1000);
    let udp = datagrams(ms(1), 0, 10, 1500, ms(1));
    let bad = |flow: FlowSpec| refusal(&wired("fifo"), &[good, flow]);
    let cases = [
        (FlowSpec { start: Time(YEARS_2 + 1), ..good }, "starts after 2 years"),
        (FlowSpec { start: Time(999_999), ..good }, "starts before the one listed before it"),
        (FlowSpec { rtt: Some(Time(MINUTE + 1)), ..good }, "round-trip time above 60 s"),
        (FlowSpec { src: 1 << 24, ..good }, "host index above 16777215"),
        (FlowSpec { dst: 1 << 24, ..udp }, "host index above 16777215"),
        (FlowSpec { size_bytes: 0, ..good }, "size of 0 bytes"),
        (FlowSpec { size_bytes: 0, ..udp }, "size of 0 bytes"),
        (FlowSpec { size_bytes: 4_292_870_144 * 1460 + 1, ..good }, "more than 4292870144 segments"),
        (FlowSpec { udp: Some((28, ms(1))), ..udp }, "packet length outside 29 to 65535"),
        (FlowSpec { udp: Some((65_536, ms(1))), ..udp }, "packet length outside 29 to 65535"),
        (FlowSpec { udp: Some((1500, Time::ZERO)), ..udp }, "time between packets outside 1 ns to 1 day"),
        (FlowSpec { udp: Some((1500, Time(86_400_000_000_001))), ..udp }, "time between packets outside 1 ns to 1 day"),
        (FlowSpec { size_bytes: 1 << 40, udp: Some((29, ms(1))), ..udp }, "too large"),
    ];
    for (flow, reason) in cases {
        assert_eq!(bad(flow), format!("flow 1: {reason}"), "{flow:?}");
    }
    let taken = [
        FlowSpec { rtt: Some(Time(MINUTE)), ..good },
        FlowSpec { size_bytes: 4_292_870_144 * 1460, ..good },
        FlowSpec { udp: Some((29, Time(1))), size_bytes: 1, ..udp },
        FlowSpec { udp: Some((65_535, Time(86_400_000_000_000))), ..udp },
    ];
    for flow in taken {
        assert_eq!(refusal(&Run { duration: ms(10), ..wired("fifo") }, &[good, flow]), "taken", "{flow:?}");
    }
}

#[test]
fn a_flow_that_is_to_be_observed_must_exist() {
    let flows = [transfer(ms(1), 1000)];
    let run = Run { watched: vec![0, 1], ..wired("fifo") };
    assert_eq!(refusal(&run, &flows), "watched = 1: must be the index of a flow");
    let run = Run { traced: vec![7], ..wired("fifo") };
    assert_eq!(refusal(&run, &flows), "traced = 7: must be the index of a flow");
}

#[test]
fn an_unknown_discipline_or_an_empty_buffer_is_refused_in_either_direction() {
    let refused = |change: fn(&mut Run)| {
        let mut run = wired("fifo");
        change(&mut run);
        refusal(&run, &[])
    };
    assert!(refused(|run| run.network.discipline.0 = "fifi".into()).starts_with("unknown discipline 'fifi'"));
    assert!(refused(|run| run.network.reverse_discipline.0 = "fifi".into()).starts_with("unknown discipline 'fifi'"));
    let stray = |run: &mut Run| run.network.discipline.1 = vec![("stray".into(), "1".into())];
    assert_eq!(refused(stray), "fifo has no option 'stray': it takes none");
    let none = "buffer limit 0: must be at least 1 packet or 1 byte";
    assert_eq!(refused(|run| run.network.limit = Limit::Packets(0)), none);
    assert_eq!(refused(|run| run.network.reverse_limit = Limit::Bytes(0)), none);
}
