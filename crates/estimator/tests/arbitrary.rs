//! Whatever comes, nothing panics and every estimate is a share.

use estimator::{Config, Estimate, Estimator, Fixed, Float, Number, Sample, methods};
use proptest::prelude::*;

fn config(capacity: f64, propagation: f64, given: &[(&str, f64)]) -> Config {
    Config::with_options(capacity, propagation, given).expect("a configuration")
}

fn check<N: Number>(estimate: &Estimate<N>) {
    let share = estimate.share.to_f64();
    assert!((0.0..=1.0).contains(&share), "share {share}");
    for value in [estimate.responsive, estimate.other, estimate.flows, estimate.rtt, estimate.drop_share] {
        let value = value.to_f64();
        assert!(value.is_finite() && value >= 0.0, "{estimate:?}");
    }
}

/// All that every method makes of the samples.
fn estimates<N: Number>(config: &Config, per_second: u32, samples: &[Sample<N>]) -> usize {
    let mut count = 0;
    for spec in methods() {
        let mut estimator = Estimator::<N>::from_config(spec.id, config, per_second).expect("a method");
        for &sample in samples {
            if let Some(estimate) = estimator.take(sample) {
                check(&estimate);
                count += 1;
            }
        }
    }
    count
}

/// Numbers as samples have them, and as they should not be.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..100.0, 1 => Just(0.0), 1 => 0.0..1e12, 1 => any::<f64>()]
}

/// Steps of the clock: regular, irregular, gaps and jumps.
fn step() -> impl Strategy<Value = i64> {
    prop_oneof![6 => Just(30), 3 => 1i64..60, 1 => any::<i64>()]
}

fn link() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![2 => Just((3500.0, 0.1)), 1 => (0.1..1e9, 1e-5..100.0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn floating_point_takes_anything(
        (capacity, propagation) in link(),
        rows in prop::collection::vec((step(), number(), number(), number()), 1..300),
    ) {
        let mut ticks = 0i64;
        let samples: Vec<_> = rows.iter().map(|&(step, queue, arrivals, drops)| {
            ticks = ticks.wrapping_add(step);
            Sample { ticks, queue: Float(queue), arrivals: Float(arrivals), drops: Float(drops) }
        }).collect();
        estimates(&config(capacity, propagation, &[("per_estimate", 3.0)]), 1000, &samples);
    }

    #[test]
    fn integers_take_anything(
        (capacity, propagation) in link(),
        rows in prop::collection::vec((step(), any::<i64>(), 0..1i64 << 22, 0..1i64 << 16), 1..300),
        hz in 1u32..20_000,
    ) {
        let mut ticks = 0i64;
        let samples: Vec<_> = rows.iter().map(|&(step, queue, arrivals, drops)| {
            ticks = ticks.wrapping_add(step);
            // Every other queue is one that a kernel could see.
            let queue = if queue % 2 == 0 { queue } else { queue & 0xf_ffff };
            Sample { ticks, queue: Fixed(queue), arrivals: Fixed(arrivals), drops: Fixed(drops) }
        }).collect();
        estimates(&config(capacity, propagation, &[("per_estimate", 3.0)]), hz, &samples);
    }

    #[test]
    fn extreme_gains_stay_bounded(
        gamma_1 in 0.0..10.0, gamma_2 in 1e-4..1.999, filter in 0.0..0.999,
        rows in prop::collection::vec((0.0..1e6, 0.0..1e6, 0.0..1e6), 50..300),
    ) {
        let given = [("gamma_1", gamma_1), ("gamma_2", gamma_2), ("queue_filter", filter), ("per_estimate", 1.0)];
        let mut ticks = 0;
        let samples: Vec<_> = rows.iter().map(|&(queue, arrivals, drops)| {
            ticks += 34;
            Sample { ticks, queue: Float(queue), arrivals: Float(arrivals), drops: Float(drops) }
        }).collect();
        prop_assert!(estimates(&config(3500.0, 0.1, &given), 1000, &samples) > 0);
    }
}
