//! Recovery on data of the fluid model itself (Zhao 2004, A.1 to A.3, the drops taken out of the queue), where the flows,
//! their load and the rate of the other traffic are known.

use estimator::{Config, Estimate, Estimator, Fixed, Float, Number, Sample};

const CAPACITY: f64 = 3500.0;
const PROPAGATION: f64 = 0.1;
const STEP: f64 = 0.001;

/// Responsive flows, and the rate of the other traffic at a time, packets/s.
struct Traffic {
    flows: f64,
    rate: fn(f64) -> f64,
}

/// A sample each 33 ms, and the share of its arrivals that does not respond.
struct Row {
    time: f64,
    queue: f64,
    arrivals: f64,
    drops: f64,
    share: f64,
}

/// A linear congruence, from 0 to 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// RED (15, 45, 0.1) whose drops are off by up to `noise` of them, another share every 0.3 s; it keeps the system moving.
fn samples(traffic: &Traffic, seconds: f64, noise: f64) -> Vec<Row> {
    let steps = (seconds / STEP) as usize;
    let (mut load, mut drops) = (vec![3.0 * traffic.flows], Vec::with_capacity(steps));
    let (mut queue, mut average, mut factor, mut state) = (0.0f64, 0.0, 1.0, 7u64);
    let (mut rows, mut sums) = (Vec::new(), [0.0; 4]);
    for i in 0..steps {
        let time = i as f64 * STEP;
        if i % 300 == 0 {
            factor = 1.0 + noise * (2.0 * random(&mut state) - 1.0);
        }
        let rtt = PROPAGATION + queue / CAPACITY;
        average += 0.002 * CAPACITY * STEP * (queue - average);
        let rising = 0.1 * (average - 15.0) / 30.0;
        let early = if average < 45.0 { rising.max(0.0) } else { 0.1 + 0.9 * (average - 45.0) / 45.0 };
        drops.push((early * factor).min(1.0));
        let before = i.saturating_sub((rtt / STEP) as usize);
        let lost = load[i] * load[before] * drops[before] / (2.0 * traffic.flows * rtt);
        load.push((load[i] + STEP * (traffic.flows / rtt - lost)).max(0.2 * traffic.flows));
        let rate = (traffic.rate)(time);
        let arrivals = load[i] / rtt + rate;
        queue = (queue + STEP * (arrivals * (1.0 - drops[i]) - CAPACITY)).max(0.0);
        for (sum, value) in
            sums.iter_mut().zip([queue / 33.0, arrivals * STEP, arrivals * drops[i] * STEP, rate * STEP])
        {
            *sum += value;
        }
        if (i + 1) % 33 == 0 {
            let [queue, arrivals, drops, other] = std::mem::take(&mut sums);
            rows.push(Row { time: time + STEP, queue, arrivals, drops, share: other / arrivals });
        }
    }
    rows
}

fn estimates<N: Number>(rows: &[Row]) -> Vec<Estimate<N>> {
    let config = Config::with_options(CAPACITY, PROPAGATION, &[]).expect("a configuration");
    let mut estimator = Estimator::from_config("default", &config, 1000).expect("a method");
    let of = N::from_f64;
    let sample = |row: &Row| Sample {
        ticks: (row.time * 1000.0).round() as i64,
        queue: of(row.queue),
        arrivals: of(row.arrivals),
        drops: of(row.drops),
    };
    rows.iter().filter_map(|row| estimator.take(sample(row))).collect()
}

/// Mean of the estimates and of the truth from `from` to `to` seconds.
fn means<N: Number>(rows: &[Row], estimates: &[Estimate<N>], from: f64, to: f64) -> (f64, f64) {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let within = |time: f64| time > from && time <= to;
    let found =
        estimates.iter().filter(|row| within(row.ticks as f64 / 1000.0)).map(|row| row.share.to_f64()).collect();
    let truth = rows.iter().filter(|row| within(row.time)).map(|row| row.share).collect();
    (mean(found), mean(truth))
}

const MIXES: [Traffic; 4] = [
    Traffic { flows: 35.0, rate: |_| 1500.0 },
    Traffic { flows: 20.0, rate: |_| 2500.0 },
    Traffic { flows: 10.0, rate: |_| 1000.0 },
    Traffic { flows: 10.0, rate: |_| 2500.0 },
];

// The method takes the load as near its mean over three round trips (Zhao 2004, II.B); with swings of a third of it,
// as here, that is of second order, 0.3 squared over 4 = 0.02 of the share.
const SECOND_ORDER: f64 = 0.025;

#[test]
fn the_share_of_the_fluid_model_is_recovered() {
    for traffic in &MIXES {
        let rows = samples(traffic, 200.0, 0.3);
        let (found, truth) = means(&rows, &estimates::<Float>(&rows), 100.0, 200.0);
        assert!((found - truth).abs() < SECOND_ORDER, "{} flows: {found} where {truth} is", traffic.flows);
    }
}

#[test]
fn integers_recover_it_as_well() {
    for traffic in &MIXES {
        let rows = samples(traffic, 200.0, 0.3);
        let (found, _) = means(&rows, &estimates::<Float>(&rows), 100.0, 200.0);
        let (integer, _) = means(&rows, &estimates::<Fixed>(&rows), 100.0, 200.0);
        assert!((found - integer).abs() < 0.005, "{} flows: {integer}, in floating point {found}", traffic.flows);
    }
}

#[test]
fn ten_seconds_after_a_step_the_share_is_that_of_the_new_load() {
    let traffic = Traffic { flows: 20.0, rate: |time| if time < 150.0 { 1500.0 } else { 2250.0 } };
    let rows = samples(&traffic, 200.0, 0.3);
    let found = estimates::<Float>(&rows);
    let (before, before_truth) = means(&rows, &found, 140.0, 150.0);
    let (after, after_truth) = means(&rows, &found, 159.0, 161.0);
    assert!(after_truth - before_truth > 0.15);
    assert!((before - before_truth).abs() < 0.05 && (after - after_truth).abs() < 0.05, "{before} {after}");
}

#[test]
fn without_excitation_the_estimate_is_doubted() {
    // RED without noise settles: nothing moves any more.
    let traffic = Traffic { flows: 20.0, rate: |_| 2500.0 };
    let mut rows = samples(&traffic, 200.0, 0.0);
    for row in &mut rows {
        (row.queue, row.arrivals, row.drops) = (30.0, 121.0, 5.0);
    }
    assert!(estimates::<Float>(&rows).iter().all(|row| row.doubt.is_some()));
}
