//! Which flows the lotteries of SIFT and X-Protect catch, by Monte Carlo through the registered disciplines, against
//! Chen 2012, Eq. 3.1, where Figures 3.1 and 3.2 show it, and the share of misclassified flows printed in 3.2.
//!
//! Seeds are fixed. Tolerances are four standard deviations of a binomial share, and one flow, since flows are whole.

use qdisc::{Ecn, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const FLOWS: u64 = 10_000;
/// Longest flow looked at.
const LONGEST: usize = 300;

fn queue(id: &str, options: &[(&str, f64)]) -> Qdisc {
    let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    Qdisc::from_options(id, &options, Limit::Packets(10), Stream::named(1, "sampling")).expect("valid options")
}

/// Sends one packet of `flow` through the queue; whether it was high.
fn is_high(queue: &mut Qdisc, flow: u64) -> bool {
    let packet = Packet {
        flow: FlowKey(flow << 1),
        handle: 0,
        progress: 0,
        remaining: 0,
        arrival: Time::ZERO,
        len: 1500,
        src: 0,
        dst: 0,
        options: 0,
        mark: 0,
        kind: Kind::Udp,
        ecn: Ecn::NotEct,
    };
    queue.enqueue(packet, Time::ZERO);
    let sorted = queue.sorted().expect("two classes, and room");
    queue.dequeue(Time::ZERO).expect("one packet waits");
    sorted.high
}

/// Packets of `flow` that are high before the first low one, at most `most`: those it has sent once it is sampled.
fn packets_until_low(queue: &mut Qdisc, flow: u64, most: usize) -> usize {
    (0..most).take_while(|_| is_high(queue, flow)).count()
}

/// Eq. 3.1: probability that at least `samples` of `packets` packets are drawn.
fn sampling_probability(packets: usize, samples: usize, p: f64) -> f64 {
    let term = |i: usize| (0..i).map(|j| (packets - j) as f64 / (j + 1) as f64 * p).product::<f64>();
    let rest = |i: usize| (1.0 - p).powi((packets - i) as i32);
    1.0 - (0..samples.min(packets + 1)).map(|i| term(i) * rest(i)).sum::<f64>()
}

fn assert_share(flows: usize, of: u64, expected: f64, what: &str) {
    let share = flows as f64 / of as f64;
    let tolerance = 4.0 * (expected * (1.0 - expected) / of as f64).max(0.0).sqrt() + 1.0 / of as f64;
    assert!((share - expected).abs() <= tolerance, "{what}: {share} for {expected:.5} within {tolerance:.5}");
}

/// Sends [`FLOWS`] flows and compares the share sampled by each size with Eq. 3.1.
fn follows_equation_3_1(options: &[(&str, f64)], samples: usize, p: f64) {
    let mut sift = queue("sift", options);
    let sizes: Vec<usize> = (0..FLOWS).map(|flow| packets_until_low(&mut sift, flow, LONGEST)).collect();
    for packets in [1, 5, 10, 20, 35, 50, 65, 80, 100, 150, 200, LONGEST - 1] {
        let sampled = sizes.iter().filter(|&&size| size <= packets).count();
        let expected = sampling_probability(packets, samples, p);
        assert_share(sampled, FLOWS, expected, &format!("{options:?}, {packets} packets"));
    }
}

#[test]
fn the_share_of_flows_sampled_by_size_follows_equation_3_1_for_one_sample() {
    for p in [0.2, 0.02, 0.002] {
        follows_equation_3_1(&[("probability", p)], 1, p);
    }
}

#[test]
fn the_share_of_flows_sampled_by_size_follows_equation_3_1_for_several_samples() {
    for samples in [1, 2, 5, 10, 25, 50] {
        follows_equation_3_1(&[("samples", samples as f64), ("threshold", 50.0)], samples, samples as f64 / 50.0);
    }
}

#[test]
fn the_equation_here_is_the_one_of_the_thesis() {
    assert_eq!(sampling_probability(1, 1, 0.25), 0.25);
    assert_eq!(sampling_probability(3, 4, 0.9), 0.0, "N >= T_s");
    assert!((sampling_probability(100, 1, 0.02) - (1.0 - 0.98_f64.powi(100))).abs() < 1e-12, "Eq. 3.2");
    assert!((sampling_probability(4, 2, 0.5) - 11.0 / 16.0).abs() < 1e-12);
}

#[test]
fn a_flow_sends_threshold_packets_on_average_until_it_is_sampled() {
    for (samples, threshold) in [(1, 20.0), (5, 50.0), (3, 7.5)] {
        let mut sift = queue("sift", &[("samples", samples as f64), ("threshold", threshold)]);
        let total: usize = (0..FLOWS).map(|flow| packets_until_low(&mut sift, flow, usize::MAX)).sum();
        let (mean, p) = (total as f64 / FLOWS as f64, samples as f64 / threshold);
        // Variance of the packets until T_s are drawn: T_s (1 - p) / p^2.
        let deviation = (samples as f64 * (1.0 - p) / FLOWS as f64).sqrt() / p;
        assert!((mean - threshold).abs() < 4.0 * deviation, "T_s = {samples}, T = {threshold}: {mean}");
    }
}

/// Chen 2012, 3.2, prints 2.6 % for a bounded Pareto law from 1 to 10^6 with shape 1.1, T_s = 1 and T = 100; that is
/// the law P(k) ~ k^-2.1 of whole sizes: 2.56 % of flows short and sampled, 0.06 % long and not.
#[test]
fn the_share_of_misclassified_flows_is_2_6_percent_as_printed() {
    const THRESHOLD: usize = 100;
    let weights: Vec<f64> = (1..=1_000_000).map(|k| f64::from(k).powf(-2.1)).collect();
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let table: Vec<f64> = weights
        .iter()
        .map(|weight| {
            sum += weight / total;
            sum
        })
        .collect();

    let mut expected = [0.0, 0.0];
    for (packets, weight) in (1..).zip(&weights) {
        let sampled = 1.0 - 0.99_f64.powi(packets);
        let short = packets < THRESHOLD as i32;
        expected[usize::from(!short)] += weight / total * if short { sampled } else { 1.0 - sampled };
    }
    assert!((expected[0] - 0.0256).abs() < 5e-5 && (expected[1] - 0.0006).abs() < 5e-5, "{expected:?}");

    let flows = 100_000;
    let mut sizes = Stream::named(1, "sizes");
    let mut sift = queue("sift", &[("samples", 1.0), ("threshold", THRESHOLD as f64)]);
    let mut wrong = [0, 0];
    for flow in 0..flows {
        let u = sizes.uniform();
        let packets = 1 + table.partition_point(|&below| below <= u);
        // Sampled when one of its packets was drawn: a further one would be low.
        let sampled = packets_until_low(&mut sift, flow, packets + 1) <= packets;
        let long = packets >= THRESHOLD;
        wrong[usize::from(long)] += usize::from(sampled != long);
    }
    assert_share(wrong[0], flows, expected[0], "short flows taken for long");
    assert_share(wrong[1], flows, expected[1], "long flows taken for short");
    assert_share(wrong[0] + wrong[1], flows, 0.026, "all, as printed");
}

#[test]
fn xprotect_makes_a_flow_low_20_full_packets_after_one_of_them_was_drawn() {
    let mut xprotect = queue("xprotect", &[("probability", 0.02)]);
    let sizes: Vec<usize> = (0..FLOWS).map(|flow| packets_until_low(&mut xprotect, flow, LONGEST)).collect();
    assert!(sizes.iter().all(|&size| size >= 20));
    for packets in [20, 30, 50, 100, 200] {
        let low = sizes.iter().filter(|&&size| size <= packets).count();
        // The packet drawn is the first of 20 that are counted, so it is among the first `packets` - 19.
        let expected = sampling_probability(packets - 19, 1, 0.02);
        assert_share(low, FLOWS, expected, &format!("{packets} packets"));
    }
}

#[test]
fn the_table_of_xprotect_holds_the_flows_that_were_drawn_and_no_other() {
    let mut xprotect = queue("xprotect", &[]);
    let packets = 40;
    for flow in 0..FLOWS {
        packets_until_low(&mut xprotect, flow, packets);
    }
    let expected = sampling_probability(packets, 1, 0.01);
    assert_share(xprotect.flow_table_len(), FLOWS, expected, "flows of 40 packets at 1 %");
}
