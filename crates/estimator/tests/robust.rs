//! Samples that tell nothing or too little are told as such.

use estimator::{Config, Estimate, Estimator, Fixed, Float, Number, Reason, Sample};

/// Estimates of `method` from (queue, arrivals, drops) every 34 ms on 28 Mb/s with 1000-byte packets.
fn run(method: &str, given: &[(&str, f64)], rows: impl Iterator<Item = (f64, f64, f64)>) -> Vec<Estimate<Float>> {
    let config = Config::with_options(3500.0, 0.1, given).expect("a configuration");
    let mut estimator = Estimator::from_config(method, &config, 1000).expect("a method");
    let sample = |(i, (queue, arrivals, drops)): (usize, _)| Sample {
        ticks: 34 * i as i64,
        queue: Float(queue),
        arrivals: Float(arrivals),
        drops: Float(drops),
    };
    rows.enumerate().filter_map(|row| estimator.take(sample(row))).collect()
}

#[test]
fn a_silent_link_says_that_nothing_came() {
    let estimates = run("p0", &[], (0..100).map(|_| (0.0, 0.0, 0.0)));
    assert_eq!(estimates.len(), 4);
    assert!(estimates.iter().all(|row| row.doubt == Some(Reason::NoArrivals)));
}

#[test]
fn without_a_drop_nothing_is_known_of_responses() {
    let estimates = run("p0", &[], (0..100).map(|i| (f64::from(i % 7), 110.0, 0.0)));
    assert!(estimates.iter().all(|row| row.doubt == Some(Reason::NeverDropped) && row.share == Float(0.5)));
}

#[test]
fn a_constant_queue_with_constant_drops_leaves_the_start_where_it_was() {
    let rows = || (0..20_000).map(|_| (30.0, 120.0, 2.4));
    for start in [0.2, 0.8] {
        let last = *run("basic", &[("start_share", start)], rows()).last().expect("estimates");
        // No excitation: the line 2 N_s = p β₁ is all that is known, and the start is on it.
        // What is left of the filter when β begins, 16 intervals after the delay, shifts the line by 0.6^16.
        assert!((last.share.0 - start).abs() < 3e-4, "from {start} to {}", last.share.0);
        assert_eq!(last.doubt, Some(Reason::Start));
    }
}

#[test]
fn drops_too_rare_for_14_bits_leave_the_integers_without_an_answer_not_with_a_wrong_one() {
    let config = Config::with_options(3500.0, 0.1, &[]).expect("a configuration");
    let mut estimator = Estimator::from_config("p0", &config, 1000).expect("a method");
    let rows = (0..2000i64).map(|i| Sample {
        ticks: 34 * i,
        queue: Fixed::from_ratio(20, 1),
        arrivals: Fixed::from_ratio(110, 1),
        // One in 110 000: below 1/16384.
        drops: Fixed::from_ratio(i64::from(i == 1000), 1),
    });
    let estimates: Vec<_> = rows.filter_map(|sample| estimator.take(sample)).collect();
    assert!(estimates.iter().all(|row| row.doubt.is_some()));
}

#[test]
fn a_gap_is_told_in_its_estimation_interval_only() {
    let config = Config::with_options(3500.0, 0.1, &[]).expect("a configuration");
    let mut estimator = Estimator::from_config("basic", &config, 1000).expect("a method");
    let mut doubts = Vec::new();
    for i in 0..200i64 {
        let ticks = 34 * i + if i > 50 { 10_000 } else { 0 };
        let sample = Sample { ticks, queue: Float(20.0), arrivals: Float(120.0), drops: Float(1.0) };
        doubts.extend(estimator.take(sample).map(|estimate| estimate.doubt == Some(Reason::Faulty)));
    }
    assert_eq!(doubts.iter().filter(|&&faulty| faulty).count(), 1);
    assert_eq!(estimator.faults().gaps, 1);
}

#[test]
fn polls_further_apart_than_a_round_trip_are_too_coarse() {
    let config = Config::with_options(3500.0, 0.1, &[("sampling", 1.0)]).expect("a configuration");
    let mut estimator = Estimator::from_config("basic", &config, 10).expect("a method");
    let sample = |i: i64| Sample { ticks: 10 * i, queue: Float(20.0), arrivals: Float(3600.0), drops: Float(9.0) };
    let estimates: Vec<_> = (0..50).filter_map(|i| estimator.take(sample(i))).collect();
    assert!(estimates.iter().all(|row| row.doubt == Some(Reason::Coarse)));
}

#[test]
fn impossible_parameters_are_refused_in_a_line() {
    let refused = |capacity, propagation, given: &[(&str, f64)]| {
        Config::with_options(capacity, propagation, given).expect_err("refused").to_string()
    };
    assert_eq!(refused(0.0, 0.1, &[]), "capacity = 0: must be a number from 0.1 to 1000000000 packets/s");
    assert_eq!(refused(3500.0, f64::NAN, &[]), "propagation = NaN: must be a number from 0.00001 to 100 s");
    assert_eq!(refused(3500.0, 0.1, &[("gamma_2", 2.0)]), "gamma_2 = 2: must be a number from 0.0001 to 1.999");
    assert!(refused(3500.0, 0.1, &[("gama_2", 1.0)]).starts_with("parameter = gama_2: must be one of rtt, "));
    let config = Config::with_options(3500.0, 0.1, &[]).expect("a configuration");
    let unknown = Estimator::<Float>::from_config("best", &config, 1000).expect_err("refused").to_string();
    assert!(unknown.starts_with("unknown method 'best': choose from default, response, basic"));
}
