//! Updates for `benchmarks/estimator.py`, which measures the CPU time: `updates METHOD float|fixed COUNT`.
//!
//! An update is a sample that completes a sampling interval. The samples repeat every 1024, made by a generator of
//! random numbers: a queue of 15 to 44 packets, 105 to 134 arrivals, 0 to 7 drops.

use std::error::Error;

use estimator::{Config, Estimator, Fixed, Float, Number, Sample, methods};

fn samples<N: Number>() -> Vec<[N; 3]> {
    let mut state = 1u64;
    let mut draw = |most: u64| {
        // Knuth, MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % most) as i64
    };
    (0..1024).map(|_| [15 + draw(30), 105 + draw(30), draw(8)].map(|value| N::from_ratio(value, 1))).collect()
}

/// Mean of the estimates over `count` updates, so that nothing can be left out.
fn mean<N: Number>(method: &str, count: i64) -> Result<f64, Box<dyn Error>> {
    let config = Config::with_options(3500.0, 0.1, &[("sampling", 0.033)])?;
    let mut estimator = Estimator::<N>::from_config(method, &config, 1000)?;
    let samples = samples::<N>();
    let (mut sum, mut estimates) = (0.0, 0.0);
    for i in 0..count {
        let [queue, arrivals, drops] = samples[(i & 1023) as usize];
        if let Some(estimate) = estimator.take(Sample { ticks: i * 33, queue, arrivals, drops }) {
            sum += estimate.share.to_f64();
            estimates += 1.0;
        }
    }
    Ok(sum / f64::max(estimates, 1.0))
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [method, arithmetic, count] = arguments.as_slice() else {
        let ids: Vec<_> = methods().iter().map(|spec| spec.id).collect();
        return Err(format!("updates METHOD float|fixed COUNT, METHOD one of {}", ids.join(", ")).into());
    };
    let count = count.parse()?;
    println!("{}", if arithmetic == "fixed" { mean::<Fixed>(method, count)? } else { mean::<Float>(method, count)? });
    Ok(())
}
