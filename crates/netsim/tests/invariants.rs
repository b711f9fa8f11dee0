//! What holds for any network, transport and workload, under every discipline of the registry.

use std::sync::atomic::Ordering;

use netsim::tcp::settings::{BackoffEnd, LossWindow, RecoveryExit};
use netsim::{ConfigError, Control, Counting, FlowSpec, Output, Run, Tcp};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use qdisc::Limit;
use units::Time;

use crate::dumbbell::{datagrams, disciplines, go, ms, rate, transfer, wired};

/// Longer than any of the random workloads needs.
const LONG: Time = Time::from_millis(20_000_000);

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..60_u32).prop_map(Limit::Packets), (1500..90_000_u64).prop_map(Limit::Bytes)]
}

fn transport() -> impl Strategy<Value = Tcp> {
    let flags = prop::array::uniform12(any::<bool>());
    let windows = (1..12_u32, 1..80_u32, 0..4_u32);
    let times = (prop::sample::select(vec![0, 40, 200]), prop::sample::select(vec![200, 1000]));
    let tick = prop::sample::select(vec![1, 10_000_000]);
    (flags, windows, times, tick).prop_map(|(flags, windows, (delayed_ack, min_rto), tick)| {
        let (initial_window, receiver_window, recovery_burst) = windows;
        let [fin, handshake_ack, limited_transmit, impatient, cwnd, as_is, syn_loss_lowers_ssthresh, recycled, ..] =
            flags;
        let [.., fin_on_data, repair_end_opens, acks_end_backoff, time_repeated_syn] = flags;
        Tcp {
            initial_window,
            receiver_window,
            recovery_burst,
            delayed_ack: ms(delayed_ack),
            min_rto: ms(min_rto),
            tick: Time(tick),
            fin,
            fin_on_data,
            close_acks: 2 * u32::from(fin_on_data),
            handshake_ack,
            limited_transmit,
            lax_duplicates: as_is,
            impatient,
            loss_window: if cwnd { LossWindow::Cwnd } else { LossWindow::Flight },
            recovery_exit: if as_is { RecoveryExit::AsIs } else { RecoveryExit::Deflate },
            repair_end_opens,
            backoff_ends: if acks_end_backoff { BackoffEnd::Ack } else { BackoffEnd::Sample },
            time_repeated_syn,
            syn_loss_lowers_ssthresh,
            recycled_senders: recycled,
            ..wired("fifo").tcp
        }
    })
}

fn flow() -> impl Strategy<Value = FlowSpec> {
    let size_bytes = prop_oneof![1..3000_u64, 1..200_000_u64];
    let rtt = prop::option::of((0..400_u64).prop_map(ms));
    let udp = prop::option::weighted(0.3, (29..1501_u32, (10_000..5_000_000_u64).prop_map(Time)));
    (0..3_000_000_000_u64, size_bytes, rtt, (0..4_u32, 0..4_u32), any::<[bool; 2]>(), udp).prop_map(
        |(start, size_bytes, rtt, (src, dst), [up, receiver_opens], udp)| FlowSpec {
            start: Time(start),
            size_bytes: if udp.is_some() { size_bytes / 10 + 1 } else { size_bytes },
            rtt,
            src,
            dst,
            up,
            receiver_opens,
            udp,
            ..FlowSpec::default()
        },
    )
}

fn flows() -> impl Strategy<Value = Vec<FlowSpec>> {
    prop::collection::vec(flow(), 1..25).prop_map(|mut flows| {
        flows.sort_by_key(|flow| flow.start);
        flows
    })
}

prop_compose! {
    /// A run up to its last flow, with everything traced, under fifo.
    fn scenario()(
        bps in prop::sample::select(vec![300_000, 2_000_000, 10_000_000, 1_000_000_000]),
        delays in prop::array::uniform3(0..30_u64),
        limits in (limit(), limit()),
        tcp in transport(),
        seed in any::<u64>(),
    ) -> Run {
        let mut run = wired("fifo");
        let network = &mut run.network;
        network.rate = rate(bps);
        [network.delay, network.access_delay, network.exit_delay] = delays.map(ms);
        (network.limit, network.reverse_limit) = limits;
        Run { tcp, seed, duration: LONG, stop_when_idle: true, trace_drops: true, ..run }
    }
}

/// Runs `test` for random input on every discipline in both directions, shrinking what fails.
fn for_all(cases: u32, test: impl Fn(&Run, &[FlowSpec])) {
    for id in disciplines() {
        let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        let outcome = TestRunner::new(config).run(&(scenario(), flows()), |(mut run, flows)| {
            run.network.discipline.0 = id.to_owned();
            run.network.reverse_discipline.0 = id.to_owned();
            test(&run, &flows);
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{id}: {failure}");
        }
    }
}

/// `NaN` where there were no samples is equal to itself here.
fn text(output: &Output) -> String {
    format!("{output:?}")
}

#[test]
fn one_seed_gives_one_result() {
    for_all(20, |run, flows| {
        let run = Run { sample_interval: ms(50), watched: vec![0], traced: vec![0], ..run.clone() };
        assert_eq!(text(&go(&run, flows)), text(&go(&run, flows)));
    });
}

#[test]
fn what_is_watched_does_not_change_what_happens() {
    for_all(20, |run, flows| {
        let plain = go(&Run { trace_drops: false, ..run.clone() }, flows);
        let watched: Vec<u32> = (0..flows.len() as u32).collect();
        let eyes = Run { sample_interval: ms(7), traced: watched.clone(), watched, ..run.clone() };
        let observed = go(&eyes, flows);
        assert_eq!(format!("{:?}", plain.records), format!("{:?}", observed.records));
        // Samples are events themselves.
        let counters = netsim::Counters { events: observed.counters.events, ..plain.counters };
        assert_eq!(counters, observed.counters);
    });
}

#[test]
fn packets_are_conserved() {
    for_all(40, |run, flows| {
        // Up to the very end, when nothing waits any more; and sampled while some are under way.
        let whole = Run { stop_when_idle: false, ..run.clone() };
        let end = Time(flows[flows.len() / 2].start.0 + 1_000_000_007);
        let cut = Run { duration: end, sample_interval: end, ..whole.clone() };
        for run in [whole, cut] {
            let output = go(&run, flows);
            let counters = output.counters;
            let backlog = output.samples.last().map_or(0, |sample| sample.backlog_packets);
            assert_eq!(counters.arrivals, counters.sent + counters.drops + backlog);
            let drops: u64 = output.records.iter().map(|record| record.drops).sum();
            assert_eq!(drops, counters.drops + counters.reverse_drops);
            assert_eq!(drops, output.drops.len() as u64);
            for (index, record) in output.records.iter().enumerate() {
                let traced = output.drops.iter().filter(|drop| drop.flow as usize == index).count();
                assert_eq!(record.drops, traced as u64, "flow {index}");
            }
        }
    });
}

#[test]
fn every_flow_ends_and_has_delivered_its_bytes() {
    for_all(40, |run, flows| {
        let output = go(run, flows);
        assert!(output.counters.end < LONG);
        for (flow, record) in flows.iter().zip(&output.records) {
            match flow.udp {
                None => {
                    assert_eq!(record.delivered_bytes, flow.size_bytes);
                    // The SYN and FIN of the sender are segments too.
                    let fin = run.tcp.fin && !run.tcp.fin_on_data;
                    let segments = flow.size_bytes.div_ceil(1460) + 1 + u64::from(fin);
                    assert_eq!(record.packets_sent - record.retransmits, segments);
                    let [start, first] = [flow.start, record.first_data];
                    assert!(start < first && first <= record.finish && record.finish <= output.counters.end);
                    assert!(record.retransmits >= u64::from(record.timeouts));
                }
                Some((len, _)) => {
                    let packets = flow.size_bytes.div_ceil(u64::from(len - 28));
                    assert_eq!(record.packets_sent, packets);
                    assert!(record.delivered_bytes <= flow.size_bytes);
                    assert_eq!(record.drops == 0, record.delivered_bytes == flow.size_bytes);
                    assert_eq!(record.finish == Time::NEVER, record.drops == packets);
                }
            }
        }
    });
}

#[test]
fn no_flow_is_faster_than_its_path() {
    for_all(40, |run, flows| {
        let network = &run.network;
        let output = go(run, flows);
        for (flow, record) in flows.iter().zip(&output.records).filter(|(flow, _)| flow.udp.is_none()) {
            let shared = network.delay + network.exit_delay;
            let one_way = match flow.rtt {
                Some(rtt) => Time(rtt.0 / 2).max(shared),
                None => shared + network.access_delay,
            };
            // Handshake and data; with FIN, that and its acknowledgements: 1.5 or 2.5 round trips.
            let trips = if run.tcp.fin { 5 } else { 3 };
            assert!(record.finish - flow.start > Time(trips * one_way.0), "{flow:?}");
            assert!(record.rtt_mean_s.is_nan() || record.rtt_mean_s > 2.0 * one_way.as_secs_f64(), "{flow:?}");
        }
    });
}

#[test]
fn a_trace_has_each_packet_once_and_its_way_in_order() {
    for_all(40, |run, flows| {
        let run = Run { traced: (0..flows.len() as u32).collect(), ..run.clone() };
        let output = go(&run, flows);
        assert_eq!(output.counters.beyond_trace, 0);
        assert!(output.packets.is_sorted_by_key(|row| row.sent));
        for row in &output.packets {
            let way = [row.sent, row.queued, row.departed, row.received];
            assert!(way.is_sorted(), "{row:?}");
            assert!(row.dropped == Time::NEVER || row.received == Time::NEVER, "{row:?}");
            assert!(row.dropped == Time::NEVER || row.queued <= row.dropped, "{row:?}");
        }
        for (index, (flow, record)) in flows.iter().zip(&output.records).enumerate() {
            let of = || output.packets.iter().filter(|row| row.flow as usize == index);
            assert_eq!(of().count() as u64, record.packets_sent, "{flow:?}");
            let dropped = of().filter(|row| row.dropped != Time::NEVER).count() as u64;
            let received = of().filter(|row| row.received != Time::NEVER).count() as u64;
            let timeouts = output.timeouts.iter().filter(|timeout| timeout.flow as usize == index).count();
            assert_eq!(timeouts as u32, record.timeouts);
            if flow.udp.is_some() {
                assert_eq!(dropped, record.drops + record.lost, "{flow:?}");
                let payload: u64 =
                    of().filter(|row| row.received != Time::NEVER).map(|row| u64::from(row.len - 28)).sum();
                assert_eq!(payload, record.delivered_bytes);
            } else {
                assert!(dropped <= record.drops + record.lost && received + dropped <= record.packets_sent, "{flow:?}");
            }
        }
    });
}

#[test]
fn waits_count_each_packet_that_left_the_forward_queue() {
    for_all(20, |run, flows| {
        let output = go(run, flows);
        let packets: u64 = output.records.iter().map(|record| record.queue_delay.packets).sum();
        assert_eq!(packets, output.counters.sent);
        let waited: u64 = output.records.iter().map(|record| record.queue_delay.sum_ns).sum();
        let end = output.counters.end.as_secs_f64();
        // Packets that were dropped after a wait, or wait still, are in the queue's mean only.
        assert!(waited as f64 * 1e-9 <= output.counters.queue_mean_packets * end * (1.0 + 1e-9));
    });
}

/// The disciplines without random numbers, which differ between the two queues.
const DETERMINISTIC: [&str; 4] = ["fifo", "las", "run2c", "efd"];

#[test]
fn up_and_down_are_symmetrical() {
    for id in DETERMINISTIC {
        let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
        let outcome = TestRunner::new(config).run(&(scenario(), flows()), |(mut run, flows)| {
            run.network.exit_delay = run.network.access_delay;
            run.network.discipline.0 = id.to_owned();
            let mut swapped = run.clone();
            let network = &mut swapped.network;
            std::mem::swap(&mut network.discipline, &mut network.reverse_discipline);
            std::mem::swap(&mut network.limit, &mut network.reverse_limit);
            // A path of its own is longer on the left-hand side only.
            let all = |up| flows.iter().map(|flow| FlowSpec { up, rtt: None, ..*flow }).collect::<Vec<_>>();
            let (down, up) = (go(&run, &all(false)), go(&swapped, &all(true)));
            let ends = |output: &Output| output.records.iter().map(|record| record.finish).collect::<Vec<_>>();
            prop_assert_eq!(ends(&down), ends(&up));
            prop_assert_eq!(down.counters.drops, up.counters.reverse_drops);
            prop_assert_eq!(down.counters.sent_bytes, up.counters.reverse_sent_bytes);
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{id}: {failure}");
        }
    }
}

#[test]
fn a_run_can_end_with_its_last_flow() {
    let run = Run { stop_when_idle: true, sample_interval: ms(100), ..wired("fifo") };
    let flows = [transfer(ms(0), 100_000), transfer(ms(1000), 100_000), transfer(ms(5000), 1)];
    let output = go(&run, &flows);
    assert_eq!(output.counters.end, output.records[2].finish);
    assert_eq!(output.samples.last().map(|sample| sample.time), Some(ms(5000)));
    let idle = go(&Run { stop_when_idle: false, ..run }, &flows);
    assert_eq!(idle.counters.end, ms(60_000));
    assert_eq!(idle.samples.len(), 600);
    assert_eq!(format!("{:?}", idle.records), format!("{:?}", output.records));
    assert!(idle.counters.queue_mean_packets < output.counters.queue_mean_packets);
}

#[test]
fn a_run_can_be_cancelled() {
    let control = Control::default();
    control.cancel.store(true, Ordering::Relaxed);
    let run = wired("fifo");
    let outcome = netsim::run(&run, &[transfer(ms(0), 1 << 40)], &control);
    assert_eq!(outcome.map(|_| ()), Err(ConfigError::Cancelled));
    assert!((1..run.duration.0).contains(&control.reached_ns.load(Ordering::Relaxed)));
    let control = Control::default();
    netsim::run(&run, &[transfer(ms(0), 1460)], &control).expect("runs to its end");
    assert_eq!(control.reached_ns.load(Ordering::Relaxed), run.duration.0);
}

#[test]
fn samples_add_up() {
    let run = Run { sample_interval: ms(10), watched: vec![1, 0, 2], ..wired("fifo") };
    let run = Run { duration: ms(10_000), ..run };
    let size = 3_000_000;
    let flows = [transfer(ms(0), size), transfer(ms(500), size), datagrams(ms(1000), 1, 5000, 1500, ms(1))];
    let output = go(&run, &flows);
    let samples = &output.samples;
    let times: Vec<_> = samples.iter().map(|sample| sample.time).collect();
    assert_eq!(times, (1..=1000).map(|n| ms(10 * n)).collect::<Vec<_>>());
    for (at, flow) in [1, 0, 2].into_iter().enumerate() {
        let series: Vec<_> = samples.iter().map(|sample| sample.progress[at]).collect();
        assert!(series.is_sorted());
        assert_eq!(series.last(), Some(&output.records[flow].delivered_bytes), "flow {flow}");
    }
    assert_eq!(samples.iter().map(|sample| sample.drops).sum::<u64>(), output.counters.drops);
    assert_eq!(samples.iter().map(|sample| sample.arrivals).sum::<u64>(), output.counters.arrivals);
    assert!(samples.iter().all(|sample| sample.backlog_packets <= 300));
    assert!(samples.iter().all(|sample| sample.backlog_bytes <= sample.backlog_packets * 1500));
}

#[test]
fn mean_queues_of_samples_average_to_that_of_the_run_whatever_the_warm_up() {
    let flows = [transfer(ms(0), 3_000_000), datagrams(ms(1000), 1, 5000, 1500, ms(1))];
    for warm_up in [0, 2000] {
        let counting = Counting { warm_up: ms(warm_up), ..Counting::default() };
        let run = Run { sample_interval: ms(10), duration: ms(10_000), counting, ..wired("fifo") };
        let output = go(&run, &flows);
        let counted = &output.samples[warm_up as usize / 10..];
        let mean = counted.iter().map(|sample| sample.queue_mean_packets).sum::<f64>() / counted.len() as f64;
        assert!((mean / output.counters.queue_mean_packets - 1.0).abs() < 1e-9, "{mean}");
    }
}

#[test]
fn packets_of_flows_that_do_not_respond_are_told_apart_over_the_whole_run() {
    let flows = [transfer(ms(0), 3_000_000), datagrams(ms(1000), 1, 5000, 1500, ms(1))];
    let counting = Counting { warm_up: ms(5000), nonresponsive: vec![false, true], ..Counting::default() };
    let run = Run { sample_interval: ms(10), duration: ms(10_000), counting, ..wired("fifo") };
    let output = go(&run, &flows);
    let sum = |of: fn(&netsim::Sample) -> u64| output.samples.iter().map(of).sum::<u64>();
    assert_eq!(sum(|sample| sample.nonresponsive_arrivals), output.records[1].packets_sent);
    assert_eq!(sum(|sample| sample.nonresponsive_drops), output.records[1].drops);
    assert!(output.records[1].drops > 0 && sum(|sample| sample.drops) > output.records[1].drops);
}

#[test]
fn a_fin_of_the_receiver_has_no_bytes_before_it() {
    // Of an upload only acknowledgements and the FIN cross the forward queue: short all of them to Run2C.
    let run = wired("run2c");
    let record = go(&run, &[FlowSpec { up: true, ..transfer(ms(0), 1_000_000) }]).records[0];
    assert_ne!(record.finish, Time::NEVER);
    assert!(record.sorted_packets > 300, "{record:?}");
    assert_eq!(record.high_packets, record.sorted_packets);
}
