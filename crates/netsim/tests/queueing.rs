//! The bottleneck as a queueing system: Poisson arrivals of packets of one size (M/D/1).

use netsim::{FlowSpec, Output, Run};
use qdisc::{Limit, disciplines};
use units::Time;

use crate::dumbbell::{FULL, bottleneck, datagrams, go, mean_and_error, poisson};

/// Transmission of a full packet at 10 Mb/s, seconds.
const SERVICE_S: f64 = 0.0012;

/// `count` single packets at load `rho`, and the run that lasts until the last is served.
fn single_packets(discipline: &str, seed: u64, count: u32, rho: f64) -> (Run, Vec<FlowSpec>) {
    let span = Time::from_secs_f64(f64::from(count) * SERVICE_S / rho).expect("positive");
    let mut run = bottleneck(discipline);
    run.network.limit = Limit::Packets(1_000_000);
    run.duration = Time::from_millis(1_000_000_000);
    run.stop_when_idle = true;
    let starts = poisson(seed, count as usize, span);
    // A host each of 100 takes turns, so that access links never hold anything up.
    let flow = |(n, start): (usize, Time)| datagrams(start, n as u32 % 100, 1, FULL, Time(1));
    (run, starts.into_iter().enumerate().map(flow).collect())
}

/// Waiting time of each packet, seconds: response less transmission on the three links.
fn waits(flows: &[FlowSpec], output: &Output) -> Vec<f64> {
    let responses = flows.iter().zip(&output.records).map(|(flow, record)| record.finish - flow.start);
    responses.map(|response| (response - Time(1_200_000 + 2 * 30)).as_secs_f64()).collect()
}

#[test]
fn the_mean_wait_is_that_of_pollaczek_and_khinchine() {
    for (seed, rho) in [(1, 0.5), (2, 0.8)] {
        let (run, flows) = single_packets("fifo", seed, 60_000, rho);
        let output = go(&run, &flows);
        let waits = waits(&flows, &output);
        let batches: Vec<f64> = waits.chunks(3000).map(|batch| mean_and_error(batch).0).collect();
        let (mean, error) = mean_and_error(&batches);
        let expected = rho * SERVICE_S / (2.0 * (1.0 - rho));
        // 20 batches of 3000 packets: Student's t with 19 degrees of freedom, 99.9 %, is 3.88.
        assert!((mean - expected).abs() < 3.88 * error, "rho {rho}: {mean} +- {error}, not {expected}");
        assert!(3.88 * error < 0.2 * expected, "rho {rho}: the interval says too little, +- {error}");
        let end = output.counters.end.as_secs_f64();
        // Little, without tolerance: both sides are the same sum.
        let waiting = waits.iter().sum::<f64>() / end;
        let queue = output.counters.queue_mean_packets;
        assert!((queue / waiting - 1.0).abs() < 1e-6, "rho {rho}: {queue} packets wait, not {waiting}");
        let utilisation = output.counters.sent_bytes as f64 * 8.0 / (10e6 * end);
        assert!((utilisation / (60_000.0 * SERVICE_S / end) - 1.0).abs() < 1e-12, "{utilisation}");
        let queue_expected = rho * rho / (2.0 * (1.0 - rho));
        assert!((queue - queue_expected).abs() < 3.88 * error * 60_000.0 / end, "{queue}, not {queue_expected}");
    }
}

#[test]
fn the_recorded_waits_have_the_variance_of_an_m_d_1_queue() {
    for (seed, rho) in [(7, 0.5), (8, 0.8)] {
        let (run, flows) = single_packets("fifo", seed, 60_000, rho);
        let output = go(&run, &flows);
        let recorded: Vec<f64> = output.records.iter().map(|record| record.queue_delay.sum_ns as f64 * 1e-9).collect();
        let waits = waits(&flows, &output);
        assert!(recorded.iter().zip(&waits).all(|(ours, theirs)| (ours - theirs).abs() < 1e-12));
        assert!(output.records.iter().all(|record| record.queue_delay.packets == 1));
        let squares: f64 = output.records.iter().map(|record| record.queue_delay.squares_s2).sum();
        assert!((squares / waits.iter().map(|wait| wait * wait).sum::<f64>() - 1.0).abs() < 1e-9);
        // Kleinrock 1975, Eq. 5.113: E[W^2] = 2 E[W]^2 + lambda E[S^3] / (3 (1 - rho)).
        let mean = rho * SERVICE_S / (2.0 * (1.0 - rho));
        let expected = 2.0 * mean * mean + rho * SERVICE_S * SERVICE_S / (3.0 * (1.0 - rho));
        let batches: Vec<f64> = output
            .records
            .chunks(3000)
            .map(|batch| batch.iter().map(|record| record.queue_delay.squares_s2).sum::<f64>() / 3000.0)
            .collect();
        let (second, error) = mean_and_error(&batches);
        // 20 batches as above.
        assert!((second - expected).abs() < 3.88 * error, "rho {rho}: {second} +- {error}, not {expected}");
        assert!(3.88 * error < 0.5 * expected, "rho {rho}: the interval says too little, +- {error}");
    }
}

#[test]
fn a_packet_that_finds_the_link_free_does_not_wait() {
    let (run, flows) = single_packets("fifo", 3, 5000, 0.3);
    let output = go(&run, &flows);
    let waits = waits(&flows, &output);
    assert!(waits.iter().all(|&wait| wait >= 0.0));
    // PASTA: an arriving packet finds the link busy with probability rho. 20 batches as above.
    let busy = |batch: &[f64]| batch.iter().filter(|&&wait| wait > 0.0).count() as f64 / 250.0;
    let (mean, error) = mean_and_error(&waits.chunks(250).map(busy).collect::<Vec<f64>>());
    assert!((mean - 0.3).abs() < 3.88 * error, "{mean} +- {error}");
}

#[test]
fn no_discipline_that_never_idles_changes_how_many_packets_wait() {
    let span = Time::from_millis(20_000);
    let starts = poisson(5, 1500, span);
    let flow =
        |(n, start): (usize, Time)| datagrams(start, n as u32 % 100, 1 + (n as u64 * 7919) % 17, FULL, Time(30_000));
    let flows: Vec<FlowSpec> = starts.into_iter().enumerate().map(flow).collect();
    let outcome = |id: &str| {
        let mut run = bottleneck(id);
        run.network.limit = Limit::Packets(100_000);
        run.stop_when_idle = true;
        let output = go(&run, &flows);
        let order: Vec<Time> = output.records.iter().map(|record| record.finish).collect();
        // Drops with room for all of them are early: those change the work.
        (output.counters.drops == 0).then_some((output.counters.queue_mean_packets, output.counters.end, order))
    };
    let (queue, end, fifo) = outcome("fifo").expect("room for all");
    assert!(queue > 1.0, "{queue}: no queue, no difference");
    let working: Vec<&str> = disciplines::specs().iter().filter(|spec| !spec.time_driven).map(|spec| spec.id).collect();
    let mut orders = 0;
    for id in working {
        let Some((waiting, ended, order)) = outcome(id) else { continue };
        assert_eq!((waiting, ended), (queue, end), "{id}");
        orders += usize::from(order != fifo);
    }
    assert!(orders > 0, "all disciplines served in the same order");
}
