//! Links that vary, and shapers before them, against what can be worked out by hand.

use std::sync::Arc;

use netsim::{Autorate, Bounds, FlowSpec, Law, LinkTrace, Output, Probe, Run, Shaper, ShaperPlace, Step};
use proptest::prelude::*;
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{FASTEST_BPS, bottleneck, datagrams, disciplines, go, ms, rate, transfer, wired};

/// Steps of (begin, ms; rate, kbit/s; added delay, ms).
fn steps(entries: &[(u64, u64, u64)], period: Time) -> LinkTrace {
    let step = |&(at, kbps, delay)| Step { at: ms(at), bps: kbps * 1000, added_delay: ms(delay) };
    LinkTrace { law: Law::Steps(entries.iter().map(step).collect()), period, offset: Time::ZERO }
}

fn instants(times_ms: &[u64], period_ms: u64) -> LinkTrace {
    let times = times_ms.iter().map(|&at| ms(at)).collect();
    LinkTrace { law: Law::Opportunities(times, 1504), period: ms(period_ms), offset: Time::ZERO }
}

/// The bottleneck alone with that trace forward.
fn varied(trace: LinkTrace) -> Run {
    let mut run = bottleneck("fifo");
    run.network.traces[0] = Some(Arc::new(trace));
    run
}

/// Ends of the flows, nanoseconds less the two access links, each of which takes `len` bytes at 400 Gb/s.
fn ends(output: &Output, len: u64) -> Vec<u64> {
    output.records.iter().map(|record| record.finish.0 - 2 * (len * 8_000_000_000).div_ceil(FASTEST_BPS)).collect()
}

/// One datagram of 1000 bytes at each time.
fn single(starts_ms: &[u64]) -> Vec<FlowSpec> {
    starts_ms.iter().enumerate().map(|(n, &at)| datagrams(ms(at), n as u32, 1, 1000, Time(1))).collect()
}

#[test]
fn a_packet_goes_on_at_the_new_rate_where_a_step_begins() {
    // 8000 bits: 2 ms at 1 Mb/s (from 9 ms to 10 ms: 1000 bits), the rest at 7 Mb/s: 1 ms.
    let run = varied(steps(&[(0, 1000, 0), (10, 7000, 0)], Time::NEVER));
    let found = ends(&go(&run, &single(&[9])), 1000);
    assert!(found[0].abs_diff(11_000_000) <= 20, "{found:?}");
}

#[test]
fn a_packet_waits_through_an_outage() {
    let run = varied(steps(&[(0, 1000, 0), (4, 0, 0), (500, 1000, 0)], Time::NEVER));
    // The first has sent 4 of its 8 ms when the outage begins; the second comes in it.
    let found = ends(&go(&run, &single(&[0, 100])), 1000);
    assert!(found[0].abs_diff(504_000_000) <= 40 && found[1].abs_diff(512_000_000) <= 40, "{found:?}");
}

#[test]
fn a_trace_begins_anew_and_from_its_offset() {
    let mut trace = steps(&[(0, 8000, 0), (10, 0, 0)], ms(30));
    // Packet 1 waits from 15 ms for the second period, packet 2 for the third; a packet takes 1 ms.
    let found = ends(&go(&varied(trace.clone()), &single(&[15, 40, 60])), 1000);
    for (end, expected) in found.iter().zip([31, 61, 62]) {
        assert!(end.abs_diff(expected * 1_000_000) <= 40, "{found:?}");
    }
    trace.offset = ms(12);
    let found = ends(&go(&varied(trace), &single(&[0])), 1000);
    assert!(found[0].abs_diff(19_000_000) <= 20, "{found:?}");
}

#[test]
fn a_packet_takes_as_many_periods_as_it_needs() {
    // 1000 bits in each period of 1 s: 7200 bits end 0.2 ms after the begin of the eighth.
    let run = Run { duration: ms(1_000_000), ..varied(steps(&[(0, 1000, 0), (1, 0, 0)], ms(1000))) };
    let found = ends(&go(&run, &[datagrams(ms(0), 0, 1, 900, Time(1))]), 900);
    assert!(found[0].abs_diff(7_000_200_000) <= 20, "{found:?}");
}

#[test]
fn where_the_delay_falls_no_packet_overtakes_another() {
    let run = varied(steps(&[(0, 8000, 50), (10, 8000, 0)], Time::NEVER));
    // The first ends at 9 ms and takes 50 ms more; those at 12 and 40 ms come with it, the last one is later.
    let found = ends(&go(&run, &single(&[8, 12, 40, 70])), 1000);
    for (end, expected) in found.iter().zip([59, 59, 59, 71]) {
        assert!(end.abs_diff(expected * 1_000_000) <= 60, "{found:?}");
    }
}

#[test]
fn an_opportunity_sends_what_waits_for_it_and_is_lost_otherwise() {
    let run = varied(instants(&[5, 10, 10, 20], 30));
    // 1000 + 504 bytes leave at 5 ms, the rest of the second with the first at 10 ms, and the third, whose 504 bytes
    // more than fill it, with the second at 10 ms.
    let flows = vec![
        datagrams(ms(1), 0, 1, 1000, Time(1)),
        datagrams(ms(2), 1, 1, 1000, Time(1)),
        datagrams(ms(3), 2, 1, 1500, Time(1)),
        datagrams(ms(10), 3, 1, 1000, Time(1)),
        datagrams(ms(25), 4, 1, 1000, Time(1)),
    ];
    let output = go(&run, &flows);
    let found: Vec<u64> = output.records.iter().map(|record| record.finish.0 / 1000).collect();
    // The fourth comes after the instant at 10 ms, the fifth waits for the next period: 30 + 5 ms.
    assert_eq!(found, [5000, 10_000, 10_000, 20_000, 35_000]);
}

#[test]
fn a_trace_of_one_rate_gives_what_the_constant_link_gives() {
    for discipline in ["fifo", "fq_codel", "las"] {
        let flows: Vec<FlowSpec> = (0..60).map(|n| transfer(ms(n * 137), 20_000 + 3000 * n)).collect();
        let mut run = wired(discipline);
        run.duration = ms(30_000);
        let constant = go(&run, &flows);
        run.network.traces = [0, 1].map(|_| Some(Arc::new(steps(&[(0, 10_000, 0)], ms(1000)))));
        let varying = go(&run, &flows);
        assert_eq!(constant.records, varying.records, "{discipline}");
    }
}

#[test]
fn a_shaper_below_the_rate_of_its_link_holds_the_queue() {
    let mut run = wired("fifo");
    run.network.limit = Limit::Packets(50);
    run.tcp.receiver_window = 1000;
    run.network.shaping.forward =
        Some(Shaper { rate: rate(5_000_000), modem: Limit::Packets(1000), place: ShaperPlace::Before });
    run.duration = ms(20_000);
    let output = go(&run, &[transfer(ms(0), 100_000_000)]);
    // Ports: both directions, then the modem. The shaper lets 5 Mb/s pass, and the modem drops and keeps nothing.
    let [shaper, _, modem] = &output.interfaces[..] else { panic!("{} ports", output.interfaces.len()) };
    let shaped_bps = shaper.sent_bytes as f64 * 8.0 / 20.0;
    assert!((4.7e6..=5.01e6).contains(&shaped_bps), "{shaped_bps}");
    assert!(shaper.drops > 0 && modem.drops == 0 && modem.queue_mean_packets < 0.1, "{modem:?}");
    // 50 packets at 5 Mb/s.
    assert!(shaper.queue_mean_packets > 10.0);
}

#[test]
fn behind_its_link_a_shaper_has_the_queue_of_what_stays_and_the_link_that_of_bursts() {
    let at = |place, bps| {
        let mut run = wired("fifo");
        run.network.limit = Limit::Packets(50);
        run.tcp.receiver_window = 1000;
        run.network.shaping.forward = Some(Shaper { rate: rate(bps), modem: Limit::Packets(1000), place });
        run.duration = ms(20_000);
        let output = go(&run, &[transfer(ms(0), 100_000_000)]);
        let [shaper, _, modem] = &output.interfaces[..] else { panic!("{} ports", output.interfaces.len()) };
        (*shaper, *modem)
    };
    let (shaper, modem) = at(ShaperPlace::Behind, 9_500_000);
    let (before, modem_before) = at(ShaperPlace::Before, 9_500_000);
    let shaped_bps = shaper.sent_bytes as f64 * 8.0 / 20.0;
    assert!((8.9e6..=9.51e6).contains(&shaped_bps), "{shaped_bps}");
    // Slow start comes faster than the link sends: before the link the shaper holds it, behind it the link does.
    assert!(shaper.drops > 0 && before.drops > 0);
    assert!(shaper.queue_mean_packets > 10.0 && before.queue_mean_packets > 10.0);
    assert!(modem_before.queue_mean_packets < 0.1 && modem.queue_mean_packets > 2.0, "{modem:?}");
    // Above the rate of the link it never has a queue.
    let (idle, modem) = at(ShaperPlace::Behind, 20_000_000);
    assert!(idle.drops == 0 && idle.queue_mean_packets < 0.1 && modem.queue_mean_packets > 10.0, "{modem:?}");
}

fn autorate(min: u64, base: u64, max: u64) -> Autorate {
    let bounds = Bounds { min: rate(min), base: rate(base), max: rate(max) };
    Autorate {
        pings: 0,
        reflectors: 6,
        one_way: true,
        bounds: [Some(bounds), None],
        load_interval: ms(200),
        high_load: 0.75,
        delay_threshold: 0.030,
        rise_threshold: 0.010,
        fall_threshold: 0.060,
        window: 6,
        delayed: 3,
        baseline_rise: 0.001,
        baseline_fall: 0.9,
        fall: [0.99, 0.75],
        rise: [1.0, 1.04],
        decay: [0.99, 1.01],
        fall_refractory: ms(300),
        decay_refractory: ms(1000),
        silence: ms(10_000),
        packet: 1500,
    }
}

#[test]
fn a_controller_finds_the_rate_of_its_link() {
    let mut run = wired("fq_codel");
    run.duration = ms(60_000);
    run.network.traces[0] = Some(Arc::new(steps(&[(0, 20_000, 0), (30_000, 6000, 0)], Time::NEVER)));
    run.network.shaping.forward =
        Some(Shaper { rate: rate(5_000_000), modem: Limit::Packets(1000), place: ShaperPlace::Before });
    run.network.shaping.controller = Some(autorate(2_000_000, 5_000_000, 40_000_000));
    run.network.exit_rate_up = None;
    run.probes = vec![Probe { flow: 0, echo: true }];
    let ping = datagrams(Time::ZERO, 9, 1199, 64, ms(50));
    let bulk: Vec<FlowSpec> = (0..4).map(|n| transfer(ms(10 + n), 1_000_000_000)).collect();
    let flows: Vec<FlowSpec> = [ping].into_iter().chain(bulk).collect();
    let output = go(&run, &flows);
    let sent = output.interfaces[2].sent_bytes as f64 * 8.0;
    // It begins at 5 Mb/s and rises by at most 4 % each 200 ms: 20 Mb/s after 7 s at the soonest.
    let possible = 20e6 * 30.0 + 6e6 * 30.0;
    assert!((0.6..0.99).contains(&(sent / possible)), "{}", sent / possible);
    let waits = |from: u64, to: u64| {
        let mut round_trips: Vec<u64> = output
            .probes
            .iter()
            .filter(|ping| ping.returned != Time::NEVER && (ms(from)..ms(to)).contains(&ping.sent))
            .map(|ping| (ping.returned - ping.sent).0 / 1_000_000)
            .collect();
        round_trips.sort_unstable();
        round_trips[round_trips.len() / 2]
    };
    // The queue of 1000 packets would take 2 s at 6 Mb/s.
    assert!(waits(40_000, 60_000) < 60, "{} ms", waits(40_000, 60_000));
    assert!(waits(15_000, 30_000) < 60, "{} ms", waits(15_000, 30_000));
}

#[test]
fn traces_out_of_bounds_are_refused() {
    let refused = |trace: LinkTrace| varied(trace).check(&[]).expect_err("out of bounds").to_string();
    assert!(refused(steps(&[], ms(1))).contains("0 entries"));
    assert!(refused(steps(&[(1, 1, 0)], ms(10))).contains("first step"));
    assert!(refused(steps(&[(0, 1, 0), (0, 2, 0)], ms(10))).contains("after the one before"));
    assert!(refused(steps(&[(0, 1, 0), (10, 2, 0)], ms(10))).contains("before the end"));
    assert!(refused(steps(&[(0, 500_000_000, 0)], ms(10))).contains("400 Gbit/s"));
    assert!(refused(steps(&[(0, 10, 61_000)], ms(10))).contains("60 s"));
    assert!(refused(steps(&[(0, 10, 0), (5, 0, 0)], Time::NEVER)).contains("above 0"));
    assert!(refused(steps(&[(0, 0, 0)], ms(10))).contains("1 kbit/s"));
    assert!(refused(instants(&[5, 3], 10)).contains("no earlier"));
    assert!(refused(instants(&[10], 10)).contains("before the end"));
}

/// What `trace` lets pass from 0 to `to`, bits: by steps of 1 ms, of which all entries here are multiples.
fn integral_ms(trace: &LinkTrace, to_ms: u64) -> f64 {
    let period = trace.period.0 / 1_000_000;
    let at = |now: u64| match &trace.law {
        Law::Steps(steps) => {
            let position = (now + trace.offset.0 / 1_000_000) % period;
            steps.iter().rev().find(|step| step.at <= ms(position)).expect("the first is at 0").bps as f64 / 1000.0
        }
        Law::Opportunities(times, bytes) => {
            let position = (now + trace.offset.0 / 1_000_000) % period;
            times.iter().filter(|&&time| time == ms(position)).count() as f64 * f64::from(*bytes) * 8.0
        }
    };
    (0..to_ms).map(at).sum()
}

fn any_trace() -> impl Strategy<Value = LinkTrace> {
    let rates = prop_oneof![1 => Just(0_u64), 4 => 10..20_000_u64];
    let steps = prop::collection::btree_map(0..400_u64, (rates, 0..30_u64), 1..12).prop_map(|entries| {
        let mut law: Vec<Step> = entries
            .into_iter()
            .map(|(at, (kbps, delay))| Step { at: ms(at), bps: kbps * 1000, added_delay: ms(delay) })
            .collect();
        law[0].at = Time::ZERO;
        law[0].bps = law[0].bps.max(500_000);
        (Law::Steps(law), 400)
    });
    let instants = prop::collection::vec(0..300_u64, 1..60).prop_map(|mut times| {
        times.sort_unstable();
        (Law::Opportunities(times.into_iter().map(ms).collect(), 1504), 300)
    });
    (prop_oneof![steps, instants], 0..900_u64).prop_map(|((law, period), offset)| LinkTrace {
        law,
        period: ms(period),
        offset: ms(offset),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Packets and bytes are conserved (every run closes its books), and no link sends more than its rate.
    #[test]
    fn no_link_sends_more_than_the_integral_of_its_rate(
        trace in any_trace(),
        back in any_trace(),
        discipline in 0..disciplines().count(),
        seconds in 1..6_u64,
        shaped in any::<bool>(),
    ) {
        let id = disciplines().nth(discipline).expect("in range");
        let mut run = wired(id);
        run.duration = ms(1000 * seconds);
        let possible = [&trace, &back].map(|trace| integral_ms(trace, 1000 * seconds + 1));
        run.network.traces = [Some(Arc::new(trace)), Some(Arc::new(back))];
        if shaped {
            run.network.shaping.forward = Some(Shaper { rate: rate(3_000_000), modem: Limit::Packets(20), place: ShaperPlace::Before });
        }
        let flows: Vec<FlowSpec> = (0..8).map(|n| transfer(ms(100 * n), 3_000_000)).collect();
        let output = go(&run, &flows);
        let ports = [if shaped { 2 } else { 0 }, 1];
        for (port, possible) in ports.into_iter().zip(possible) {
            let sent = output.interfaces[port].sent_bytes as f64 * 8.0;
            // The packet in transmission at the end, and the rounding of the rate of the last one.
            prop_assert!(sent <= possible + 1504.0 * 8.0 + 1.0, "{sent} bits, {possible} possible");
        }
    }
}
