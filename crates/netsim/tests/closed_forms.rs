//! Whole simulations against what can be worked out by hand.

use netsim::{FlowSpec, Run};
use qdisc::{DropReason, Limit};
use units::{BitRate, Stream, Time};

use crate::dumbbell::{
    FASTEST_BPS, FULL, bottleneck, datagrams, disciplines, dropped_for_room_only, go, mean_and_error, ms, rate,
    transfer, wired,
};

/// Arrivals of segments sent over the three links of a path, nanoseconds: each link sends one after the other.
fn arrivals(sends: &[(f64, u32)], links: [(BitRate, Time); 3]) -> Vec<f64> {
    let mut times: Vec<f64> = sends.iter().map(|send| send.0).collect();
    for (rate, delay) in links {
        let mut free_at = 0.0_f64;
        for (time, (_, len)) in times.iter_mut().zip(sends) {
            free_at = free_at.max(*time) + f64::from(*len) * 8e9 / rate.bps() as f64;
            *time = free_at + delay.0 as f64;
        }
    }
    times
}

/// Response time of a transfer that fits the initial window together with its FIN, nanoseconds.
fn response_in_one_window(run: &Run, rtt: Time, size_bytes: u64) -> f64 {
    let network = &run.network;
    let access_delay = Time(rtt.0 / 2 - network.delay.0 - network.exit_delay.0);
    let access = (network.access_rate, access_delay);
    let (core, exit) = ((network.rate, network.delay), (network.access_rate, network.exit_delay));
    let forth = |sends: &[(f64, u32)]| arrivals(sends, [access, core, exit]);
    let back = |sends: &[(f64, u32)]| arrivals(sends, [exit, core, access]);
    let syn = forth(&[(0.0, 40)])[0];
    let established = back(&[(syn, 40)])[0];
    // Bare acknowledgement, data, FIN.
    let mut window = vec![(established, 40)];
    let (full, rest) = (size_bytes / 1460, (size_bytes % 1460) as u32);
    window.extend((0..full).map(|_| (established, FULL)));
    window.extend((rest > 0).then_some((established, 40 + rest)));
    let data = window.len() - 1;
    window.push((established, 40));
    let received = forth(&window);
    // Every second data segment is acknowledged, the FIN at once.
    let mut acks: Vec<(f64, u32)> = (1..=data / 2).map(|pair| (received[2 * pair], 40)).collect();
    acks.push((received[data + 1], 40));
    let fin_ack = *back(&acks).last().expect("the FIN is acknowledged");
    forth(&[(fin_ack, 40)])[0]
}

#[test]
fn a_short_transfer_alone_takes_what_its_links_take() {
    let mut run = wired("fifo");
    run.tcp.initial_window = 10;
    run.stop_when_idle = true;
    for rtt in [6, 20, 100, 301] {
        for size_bytes in [1, 700, 1460, 1461, 2920, 4 * 1460, 7 * 1460 + 3, 9 * 1460] {
            let flow = FlowSpec { rtt: Some(ms(rtt)), ..transfer(ms(5), size_bytes) };
            let record = go(&run, &[flow]).records[0];
            let response = (record.finish - flow.start).0 as f64;
            let expected = response_in_one_window(&run, ms(rtt), size_bytes);
            // Each of at most 40 transmissions is rounded to a nanosecond.
            assert!((response - expected).abs() <= 20.0, "{size_bytes} bytes, {rtt} ms: {response} not {expected} ns");
        }
    }
}

#[test]
fn a_path_of_the_scenario_is_the_sum_of_its_delays() {
    let run = wired("fifo");
    let expected = response_in_one_window(&run, ms(6), 1460);
    let response = go(&run, &[transfer(Time::ZERO, 1460)]).records[0].finish.0 as f64;
    assert!((response - expected).abs() <= 20.0, "{response} not {expected} ns");
}

#[test]
fn a_transfer_over_a_fast_link_takes_its_rounds_of_slow_start() {
    let mut run = bottleneck("fifo");
    run.network.rate = rate(FASTEST_BPS);
    run.network.delay = ms(50);
    run.network.limit = Limit::Packets(100_000);
    run.tcp.delayed_ack = Time::ZERO;
    run.stop_when_idle = true;
    for (initial_window, receiver_window) in [(1, 43), (2, 43), (3, 1000), (10, 100_000), (10, 4)] {
        (run.tcp.initial_window, run.tcp.receiver_window) = (initial_window, receiver_window);
        for segments in [1, 2, 3, 9, 10, 100, 1000] {
            // Data and FIN in windows that double up to the receiver's.
            let (mut left, mut rounds, mut window) = (segments + 1, 0, u64::from(initial_window.min(receiver_window)));
            while left > 0 {
                left -= window.min(left);
                window = (2 * window).min(receiver_window.into());
                rounds += 1;
            }
            // One RTT of handshake, and from the FIN's departure one and a half until the last FIN-ACK.
            let expected = ms(100 * (rounds + 1) + 50);
            let finish = go(&run, &[transfer(Time::ZERO, segments * 1460)]).records[0].finish;
            let sending = (finish - expected).0;
            assert!(sending < 100 * (segments + 20), "{segments} segments: {finish:?}, {rounds} rounds");
        }
    }
}

#[test]
fn constant_rate_datagrams_are_delivered_at_their_rate() {
    let run = wired("fifo");
    let flow = FlowSpec { size_bytes: 10_000 * 972 - 100, ..datagrams(ms(3), 0, 10_000, 1000, Time(1_600_000)) };
    let record = go(&run, &[flow]).records[0];
    assert_eq!((record.delivered_bytes, record.packets_sent, record.drops), (flow.size_bytes, 10_000, 0));
    // Three links of 1 ms: 80 us, 800 us and 80 us for a packet, 72, 720 and 72 us for the last one.
    assert_eq!(record.first_data, Time(3_000_000 + 3_000_000 + 960_000));
    assert_eq!(record.finish, Time(3_000_000 + 9_999 * 1_600_000 + 3_000_000 + 864_000));
}

#[test]
fn too_fast_a_source_fills_the_link_and_the_buffer() {
    let mut run = wired("fifo");
    // 20 Mb/s on 10 Mb/s for 12 s.
    let record = go(&run, &[datagrams(Time::ZERO, 0, 20_000, FULL, Time(600_000))]).records[0];
    // Twenty thousand arrive while ten thousand leave; one is in transmission, 300 wait at the end.
    let delivered = record.delivered_bytes / 1472;
    assert_eq!(delivered + record.drops, 20_000);
    assert!(delivered.abs_diff(10_000 + 300 + 1) <= 1, "{delivered}");
    run.duration = ms(12_000);
    let counters = go(&run, &[datagrams(Time::ZERO, 0, 20_000, FULL, Time(600_000))]).counters;
    // The queue grows by one packet in 1.2 ms until it is full at 360 ms.
    assert!((counters.queue_mean_packets - (300.0 - 150.0 * 0.36 / 12.0)).abs() < 1.0, "{counters:?}");
}

#[test]
fn one_long_transfer_fills_the_link() {
    let mut run = wired("fifo");
    run.network.limit = Limit::Packets(1000);
    let output = go(&run, &[transfer(Time::ZERO, 1 << 40)]);
    let (record, counters) = (output.records[0], output.counters);
    let utilisation = counters.sent_bytes as f64 * 8.0 / (10e6 * 60.0);
    // The link idles only while the window is below 6 segments: the handshake and two round trips of 7.5 ms.
    assert!((1.0 - 0.025 / 60.0..=1.0).contains(&utilisation), "{utilisation}");
    assert_eq!((record.drops, record.retransmits), (0, 0));
    // Little: a window of 43 at one segment in 1.2 ms; a delayed acknowledgement covers two.
    assert!((record.rtt_mean_s - 43.0 * 0.0012).abs() <= 2.0 * 0.0012, "{} s", record.rtt_mean_s);
}

#[test]
fn transfers_limited_by_their_windows_share_by_round_trip_time() {
    let run = wired("fifo");
    let own = |src, rtt| FlowSpec { src, dst: src, rtt: Some(ms(rtt)), ..transfer(Time::ZERO, 1 << 40) };
    let records = go(&run, &[own(0, 20), own(1, 20), own(2, 120)]).records;
    let segments = |flow: usize| records[flow].delivered_bytes as f64 / 1460.0;
    // 43 / (rtt + q) each, 10 Mb/s together, with 1.4 ms more for sending: solved for the queueing time q.
    let rate_of = |rtt: f64, q: f64| 43.0 / (rtt + 0.0014 + q);
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-9 {
        let middle = (low + high) / 2.0;
        let total = 2.0 * rate_of(0.02, middle) + rate_of(0.12, middle);
        if total > 1.0 / 0.0012 { low = middle } else { high = middle }
    }
    for (flow, rtt) in [(0, 0.02), (1, 0.02), (2, 0.12)] {
        let expected = rate_of(rtt, low) * 60.0;
        // A window counts 43 segments give or take the one whose acknowledgement is delayed.
        assert!((segments(flow) / expected - 1.0).abs() < 1.0 / 43.0, "{}, not {expected}", segments(flow));
    }
}

#[test]
fn equal_transfers_with_losses_have_equal_shares_on_average() {
    let mut run = wired("fifo");
    run.network.limit = Limit::Packets(30);
    run.tcp.receiver_window = 1000;
    run.duration = ms(20_000);
    let mut starts = Stream::named(1, "starts");
    let shares: Vec<f64> = (0..16)
        .map(|_| {
            let mut flows: Vec<FlowSpec> = (0..2)
                .map(|host| FlowSpec {
                    src: host,
                    dst: host,
                    ..transfer(Time((starts.uniform() * 1e9) as u64), 1 << 40)
                })
                .collect();
            flows.sort_by_key(|flow| flow.start);
            let output = go(&run, &flows);
            assert!(output.counters.drops > 0, "no losses");
            let delivered = |host: u32| {
                let flow = flows.iter().position(|flow| flow.src == host).expect("two flows");
                output.records[flow].delivered_bytes as f64
            };
            delivered(0) / (delivered(0) + delivered(1))
        })
        .collect();
    let (mean, error) = mean_and_error(&shares);
    // Student's t with 15 degrees of freedom, 99.9 %: 4.07.
    assert!((mean - 0.5).abs() < 4.07 * error, "{mean} +- {error}");
    // And neither is locked out for 20 s.
    assert!(shares.iter().all(|share| (0.2..0.8).contains(share)), "{shares:?}");
}

#[test]
fn a_burst_beyond_the_limit_loses_exactly_what_does_not_fit() {
    let mut checked = 0;
    for id in disciplines() {
        let mut run = bottleneck(id);
        run.network.limit = Limit::Packets(299);
        (run.stop_when_idle, run.trace_drops) = (true, true);
        let flows: Vec<FlowSpec> = (0..400).map(|n| datagrams(ms(1), n, 1, FULL, ms(1))).collect();
        let output = go(&run, &flows);
        if !dropped_for_room_only(&output) {
            continue;
        }
        checked += 1;
        // One in transmission, 299 waiting.
        assert_eq!((output.counters.sent, output.counters.drops), (300, 100), "{id}");
        assert_eq!(output.records.iter().filter(|record| record.finish != Time::NEVER).count(), 300, "{id}");
        if id == "fifo" {
            assert!(output.records[300..].iter().all(|record| record.drops == 1), "the last to come");
        }
    }
    assert!(checked >= 6, "only {checked} disciplines drop for want of room only");
}

#[test]
fn a_limit_in_bytes_counts_the_bytes_that_wait() {
    let mut checked = 0;
    for id in disciplines() {
        let mut run = bottleneck(id);
        run.trace_drops = true;
        run.network.limit = Limit::Bytes(10_000);
        let mut flows: Vec<FlowSpec> = (0..10).map(|n| datagrams(ms(1), n, 1, FULL, ms(1))).collect();
        // Six of 1500 bytes wait; of those of 300 bytes three more fit, and no fourth.
        flows.extend((10..15).map(|n| datagrams(Time(1_001_000), n, 1, 300, ms(1))));
        let output = go(&run, &flows);
        // Who pushes long packets out for short ones makes room for more of them.
        if output.drops.iter().any(|drop| drop.reason != DropReason::Full) {
            continue;
        }
        checked += 1;
        let counters = output.counters;
        assert_eq!((counters.sent, counters.drops), (1 + 6 + 3, 3 + 2), "{id}");
        assert_eq!(counters.sent_bytes, 7 * 1500 + 3 * 300, "{id}");
    }
    assert!(checked >= 6, "only {checked} disciplines refuse what does not fit");
}
