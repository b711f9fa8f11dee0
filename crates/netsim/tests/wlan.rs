//! The wireless cell against closed forms.

use netsim::wlan::{AfterFailure, Aggregation, Category, CellCounts, Placement, Rules};
use netsim::{FlowSpec, Output, Run, Wlan};
use qdisc::Limit;
use units::Time;

use crate::cell::{CHAIN, NS3, STANDARD, cell, down, endless, run_of, saturated};
use crate::dumbbell::{go, ms};

const FRAME: u32 = 1500;

/// The cell's counts of a run of 20 s after a second of warm-up, in which queues are never empty.
fn saturation(wlan: Wlan, flows: &[FlowSpec]) -> CellCounts {
    let mut run = run_of(wlan, 200, ms(21_000));
    run.counting.warm_up = ms(1000);
    run.network.reverse_limit = Limit::Packets(200);
    go(&run, flows).wlan.expect("a cell")
}

/// IP throughput of the stations, bit/s, and the share of attempts that collide.
fn of_stations(counts: &CellCounts) -> (f64, f64) {
    let sum = |value: fn(&netsim::wlan::NodeCounts) -> u64| counts.nodes[1..].iter().map(value).sum::<u64>() as f64;
    (sum(|node| node.acked_bytes) * 8.0 / 20.0, sum(|node| node.collided) / sum(|node| node.attempts))
}

/// Bianchi 2000 with frames given up after `tries` transmissions: probability to send in a slot, and to collide.
fn chain(n: u32, windows: [u32; 2], tries: u32) -> (f64, f64) {
    let window = |stage: u32| f64::from(((windows[0] + 1) << stage.min(20)).min(windows[1] + 1));
    let tau = |p: f64| {
        let (mut reach, mut sent, mut slots) = (1.0, 0.0, 0.0);
        for stage in 0..tries {
            sent += reach;
            slots += reach * (window(stage) + 1.0) / 2.0;
            reach *= p;
        }
        sent / slots
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        if 1.0 - (1.0 - tau(p)).powi(n as i32 - 1) > p { low = p } else { high = p }
    }
    (tau(low), low)
}

/// Throughput of the chain, bit/s: success and collision take `success` and `collision`.
fn chain_throughput(n: u32, windows: [u32; 2], slot: f64, success: f64, collision: f64) -> f64 {
    let (tau, _) = chain(n, windows, 7);
    let idle = (1.0 - tau).powi(n as i32);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1);
    let bits = f64::from(FRAME) * 8.0;
    one * bits / (idle * slot + one * success + (1.0 - idle - one) * collision)
}

#[test]
fn one_station_takes_393_microseconds_and_a_half_per_frame() {
    let mut wlan = cell("802.11a", "54mbit", 192, 1, STANDARD);
    wlan.mean_backoff = true;
    let counts = saturation(wlan, &saturated(1, 45_000_000));
    let cycle = 20.0 / counts.nodes[1].acked as f64;
    assert!((cycle / 393.5e-6 - 1.0).abs() < 2e-5, "{cycle}");
    // With random backoff the mean of 50 000 draws of 0 to 15 slots is known to 0.02 slots.
    let counts = saturation(cell("802.11a", "54mbit", 192, 1, STANDARD), &saturated(1, 45_000_000));
    let (throughput, collisions) = of_stations(&counts);
    assert!((throughput / 30.495e6 - 1.0).abs() < 0.002 && collisions == 0.0, "{throughput}");
}

#[test]
fn saturated_stations_follow_bianchis_chain() {
    // DIFS and the gaps; 248, 28 us: data and ACK of 802.11a; 1310, 203: of 802.11b with ACKs at 11 Mb/s.
    for (standard, rate, control, slot, windows, [difs, sifs, data, ack]) in [
        ("802.11a", "54mbit", 192, 9e-6, [15, 1023], [34e-6, 16e-6, 248e-6, 28e-6]),
        ("802.11b", "11mbit", 22, 20e-6, [31, 1023], [50e-6, 10e-6, 1310e-6, 203e-6]),
    ] {
        let success = data + sifs + ack + difs;
        for (rules, collision) in
            [(CHAIN, data + difs), (Rules { after_failure: AfterFailure::AfterAnswerTime, ..CHAIN }, success)]
        {
            for n in [1, 2, 5, 10, 20] {
                let wlan = cell(standard, rate, control, n as usize, rules);
                let counts = saturation(wlan, &saturated(n, 45_000_000));
                let (found, collided) = of_stations(&counts);
                let expected = chain_throughput(n, windows, slot, success, collision);
                let (_, p) = chain(n, windows, 7);
                assert!((found / expected - 1.0).abs() < 0.015, "{standard}, n = {n}: {found} beside {expected}");
                assert!((collided - p).abs() < 0.02, "{standard}, n = {n}: p {collided} beside {p}");
            }
        }
    }
}

#[test]
fn rts_and_cts_cost_time_and_save_it_in_collisions() {
    for n in [1, 10] {
        let mut wlan = cell("802.11a", "54mbit", 192, n as usize, CHAIN);
        wlan.rts_threshold = 500;
        let (found, _) = of_stations(&saturation(wlan, &saturated(n, 45_000_000)));
        // RTS and CTS at 24 Mb/s take 28 us each.
        let success = 28e-6 + 16e-6 + 28e-6 + 16e-6 + 248e-6 + 16e-6 + 28e-6 + 34e-6;
        let expected = chain_throughput(n, [15, 1023], 9e-6, success, 28e-6 + 34e-6);
        assert!((found / expected - 1.0).abs() < 0.015, "n = {n}: {found} beside {expected}");
    }
}

#[test]
fn damaged_frames_are_tried_seven_times() {
    let error: f64 = 0.4;
    let mut wlan = cell("802.11a", "54mbit", 192, 1, Rules { after_failure: AfterFailure::WithOthers, ..STANDARD });
    wlan.stations[0].frame_error = error;
    let counts = saturation(wlan, &saturated(1, 45_000_000));
    let node = counts.nodes[1];
    // A frame: each try takes the exchange (a missing answer as long as an ACK) and the backoff before it.
    let mean_time: f64 = (0..7)
        .map(|stage| error.powi(stage) * (326e-6 + 9e-6 * f64::from((16_u32 << stage).min(1024) - 1) / 2.0))
        .sum();
    let frames = node.acked + node.given_up;
    let (found, lost) = (20.0 / frames as f64, node.given_up as f64 / frames as f64);
    assert!((found / mean_time - 1.0).abs() < 0.015, "{found} beside {mean_time}");
    let expected = error.powi(7);
    assert!((lost - expected).abs() < 5.0 * (expected / frames as f64).sqrt(), "{lost} beside {expected}");
    assert_eq!(
        node.retries + node.acked + node.given_up,
        node.attempts + u64::from(node.attempts > node.retries + frames)
    );
}

/// Aggregates of 32: data of 32 frames, each with 4 bytes of delimiter, padded to words.
#[test]
fn aggregates_share_one_access() {
    let mut wlan = cell("802.11n", "mcs7", 192, 1, STANDARD);
    (wlan.overhead, wlan.mean_backoff) = (38, true);
    wlan.aggregation = Some(Aggregation { frames: 32, bytes: 65_535, airtime: Time(5_484_000) });
    let mut flows = down(1, 100_000_000);
    let counts = saturation(wlan.clone(), &flows);
    // 4 + 1538 bytes, padded to 1544; 22 bits; 260 bits per symbol of 4 us; block ACK of 32 bytes at 24 Mb/s: 32 us.
    let bits: u32 = 22 + 8 * 32 * 1544;
    let data = 36e-6 + 4e-6 * f64::from(bits.div_ceil(260));
    // 32 frames would take 6.1 ms: 28 fit into 5.484.
    let frames: f64 = ((5484.0 - 36.0) / 4.0 * 260.0 - 22.0) / 8.0 / 1544.0;
    assert!(data > 5.484e-3 && frames.floor() == 28.0, "{data} {frames}");
    let data = 36e-6 + 4e-6 * f64::from((22_u32 + 8 * 28 * 1544).div_ceil(260));
    let cycle = 34e-6 + 7.5 * 9e-6 + data + 16e-6 + 32e-6;
    let found = counts.nodes[0].acked_bytes as f64 * 8.0 / 20.0;
    let expected = 28.0 * 1500.0 * 8.0 / cycle;
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} beside {expected}");
    assert_eq!(counts.nodes[0].acked / counts.nodes[0].accesses, 28);
    // Damage takes its share of the frames, not of the accesses, and nothing overtakes: TCP sees no loss.
    wlan.stations[0].frame_error = 0.2;
    let share = |counts: &CellCounts| counts.nodes[0].acked as f64 / counts.nodes[0].attempts as f64;
    let damaged = saturation(wlan.clone(), &flows);
    assert!((share(&damaged) - 0.8).abs() < 0.01, "{}", share(&damaged));
    flows = endless(1, 0);
    (wlan.tries, wlan.mean_backoff) = ([255, 255], false);
    let mut run = run_of(wlan, 200, ms(5000));
    run.tcp.receiver_window = 150;
    let out = go(&run, &flows);
    assert_eq!((out.records[0].retransmits, out.records[0].timeouts, out.records[0].drops), (0, 0, 0));
    assert!(out.wlan.expect("a cell").nodes[0].damaged > 1000);
}

#[test]
fn a_slow_station_slows_all_down_unless_time_on_the_air_is_shared() {
    let slow = {
        let wlan = cell("802.11a", "6mbit", 48, 1, STANDARD);
        wlan.stations[0]
    };
    let shares = |placement, flows: &[FlowSpec]| {
        let mut wlan = cell("802.11a", "54mbit", 192, 2, STANDARD);
        wlan.stations[1] = slow;
        wlan.placement = placement;
        let mut run = run_of(wlan, 50, ms(21_000));
        run.counting.warm_up = ms(1000);
        let out = go(&run, flows);
        let counts = out.wlan.expect("a cell");
        let delivered: Vec<u64> = out.records.iter().map(|record| record.delivered_bytes).collect();
        (delivered[0] as f64 / delivered[1] as f64, counts.nodes[1].airtime.0 as f64 / counts.nodes[2].airtime.0 as f64)
    };
    // 54 Mb/s: 292 us with the answer; 6 Mb/s: 2072 + 16 + 44.
    let times = 292.0 / 2132.0;
    let (bytes, air) = shares(Placement::Shared, &saturated(2, 60_000_000));
    assert!((bytes - 1.0).abs() < 0.05 && (air / times - 1.0).abs() < 0.05, "{bytes} {air}");
    let (bytes, air) = shares(Placement::RoundRobin, &down(2, 60_000_000));
    assert!((bytes - 1.0).abs() < 0.01 && (air / times - 1.0).abs() < 0.01, "{bytes} {air}");
    let (bytes, air) = shares(Placement::Airtime(Time(300_000)), &down(2, 60_000_000));
    assert!((air - 1.0).abs() < 0.01 && (bytes * times - 1.0).abs() < 0.01, "{bytes} {air}");
}

/// Two categories of one station each: the urgent one sends first, and in bursts.
#[test]
fn categories_share_by_their_windows_and_bursts() {
    let mut wlan = cell("802.11a", "54mbit", 192, 2, STANDARD);
    let best_effort = Category { aifsn: 3, windows: [15, 1023], txop: Time::ZERO };
    let video = Category { aifsn: 2, windows: [7, 15], txop: Time(3_008_000) };
    wlan.categories = vec![best_effort, video];
    wlan.category_of = vec![0, 1];
    let counts = saturation(wlan.clone(), &saturated(2, 80_000_000));
    let [best, video_node] = [counts.nodes[1], counts.nodes[2]];
    // 248 + 16 + 28 us and a gap of 16: the tenth ends at 10 x 292 + 9 x 16 us, just above 3008.
    assert_eq!((video_node.acked as f64 / (video_node.accesses - video_node.collided) as f64).round(), 9.0);
    assert!(video_node.acked > 20 * best.acked && best.acked > 0, "{best:?} {video_node:?}");
    // Both at one station: the urgent one wins every virtual collision, and nothing collides on the air.
    let flows = [saturated(1, 40_000_000)[0]; 2];
    let counts = saturation(wlan, &flows);
    assert_eq!(counts.nodes[1].collided, 0);
    assert!(counts.nodes[1].acked > 40_000);
}

#[test]
fn a_lone_frame_goes_out_at_once_or_as_a_rule_has_it() {
    for (rules, wait) in [(STANDARD, 0), (NS3, 34_000)] {
        let flow =
            FlowSpec { start: ms(10), size_bytes: 1472, up: true, udp: Some((FRAME, ms(1))), ..FlowSpec::default() };
        let run = run_of(cell("802.11a", "54mbit", 192, 1, rules), 50, ms(100));
        let out = go(&run, &[flow]);
        // 248 us on the air, 12 us at 1 Gb/s, 2 ms of wire.
        assert_eq!(out.records[0].last_data, Time(10_000_000 + wait + 248_000 + 12_000 + 2_000_000));
    }
}

#[test]
fn idle_stations_cost_and_change_nothing() {
    let out = |stations| {
        let run = run_of(cell("802.11a", "54mbit", 192, stations, STANDARD), 30, ms(10_000));
        go(&run, &endless(2, 2))
    };
    let (few, many) = (out(4), out(2000));
    assert_eq!((few.counters.events, &few.records), (many.counters.events, &many.records));
}

fn packets_at_access_point(out: &Output) -> (u64, u64) {
    let cell = out.wlan.as_ref().expect("a cell");
    (cell.data.arrivals + cell.acks.arrivals, cell.data.drops + cell.acks.drops)
}

#[test]
fn what_comes_to_the_access_point_leaves_it_or_waits() {
    for placement in [Placement::Shared, Placement::RoundRobin, Placement::Airtime(Time(300_000))] {
        for discipline in ["fifo", "lasack", "fq_codel", "efdack"] {
            let mut wlan = cell("802.11n", "mcs4", 192, 4, STANDARD);
            wlan.aggregation = Some(Aggregation { frames: 16, bytes: 65_535, airtime: Time(5_484_000) });
            wlan.placement = placement;
            wlan.stations.iter_mut().for_each(|station| station.frame_error = 0.3);
            wlan.tries = [2, 2];
            let mut run: Run = run_of(wlan, 20, ms(600_000));
            run.network.discipline = (discipline.to_owned(), Vec::new());
            let mut flows = Vec::new();
            for index in 0..40_u32 {
                flows.push(FlowSpec {
                    start: ms(100 * u64::from(index)),
                    size_bytes: 1460 * u64::from(1 + index % 7 * 20),
                    src: index % 4,
                    dst: index % 4,
                    up: index % 2 == 1,
                    ..FlowSpec::default()
                });
            }
            let out = go(&run, &flows);
            let cell = out.wlan.as_ref().expect("a cell");
            let (arrivals, drops) = packets_at_access_point(&out);
            let (name, ap) = (format!("{placement:?} {discipline}"), cell.nodes[0]);
            let unfinished = out.records.iter().filter(|record| record.finish == Time::NEVER).count();
            assert_eq!(unfinished, 0, "{name}");
            assert_eq!(arrivals, drops + ap.acked + ap.given_up, "{name}");
            assert_eq!(ap.attempts - ap.retries, ap.acked + ap.given_up, "{name}");
            assert_eq!(ap.attempts, ap.acked + ap.damaged + ap.collided, "{name}");
            assert!(ap.given_up > 0 && ap.collided > 0, "{name}");
            let lost: u64 = out.records.iter().map(|record| record.lost).sum();
            assert_eq!(lost, cell.nodes.iter().map(|node| node.given_up).sum::<u64>(), "{name}");
            let longest = out.records.iter().map(|record| record.presence).max().expect("flows");
            assert!(longest > Time::ZERO && out.records.iter().all(|r| r.presence <= r.finish - r.start), "{name}");
        }
    }
}

#[test]
fn a_flow_alone_takes_the_mean_of_the_backoffs() {
    let run = run_of(cell("802.11a", "54mbit", 192, 2, STANDARD), 30, ms(10_000));
    let flow = FlowSpec { size_bytes: 1460 * 1000, ..FlowSpec::default() };
    let alone = netsim::alone(&run, &flow).expect("valid");
    assert_eq!(alone, netsim::alone(&Run { seed: 7, ..run.clone() }, &flow).expect("valid"));
    let mean: f64 =
        (0..20).map(|seed| go(&Run { seed, ..run.clone() }, &[flow]).records[0].finish.as_secs_f64() / 20.0).sum();
    let ratio = alone.finish.as_secs_f64() / mean;
    // No collisions where every backoff is its mean: 7 % of the station's frames meet one else.
    assert!((0.9..1.02).contains(&ratio), "{ratio}");
}

#[test]
fn cells_that_make_no_sense_are_refused() {
    let refused = |change: fn(&mut Wlan)| {
        let mut wlan = cell("802.11a", "54mbit", 192, 2, STANDARD);
        change(&mut wlan);
        let run = run_of(wlan, 30, ms(100));
        let control = netsim::Control::default();
        netsim::run(&run, &endless(1, 1), &control).expect_err("nonsense").to_string()
    };
    type Change = fn(&mut Wlan);
    let changes: [(Change, &str); 6] = [
        (|wlan| wlan.stations.truncate(1), "station the cell does not have"),
        (|wlan| wlan.stations.clear(), "from 1 to 10000"),
        (|wlan| wlan.stations[0].frame_error = 1.0, "below 1"),
        (|wlan| wlan.categories[0].windows = [31, 15], "ascending"),
        (|wlan| wlan.tries = [0, 4], "from 1 to 255"),
        (|wlan| wlan.category_of = vec![0, 1], "one of the categories"),
    ];
    for (change, text) in changes {
        let message = refused(change);
        assert!(message.contains(text), "{message}");
    }
}
