//! The job-level simulation against its definition, against facts that hold on every path, and in long busy periods.

use jobs::{Finished, Level, LevelError, Order, Server};
use proptest::prelude::*;

use crate::by_rates::{Given, departures};

const ALL: f64 = f64::INFINITY;

fn one(order: Order) -> Vec<Level> {
    vec![Level { order, upto: ALL }]
}

fn run(levels: &[Level], given: &[Given]) -> Vec<Finished> {
    let mut server = Server::new(levels).expect("levels ascend");
    let mut out = Vec::new();
    for job in given {
        server.arrive(job.arrival, job.size, job.weight, &mut |left| out.push(left));
    }
    server.drain(&mut |left| out.push(left));
    assert_eq!(server.present(), 0);
    out.sort_by_key(|left| left.job);
    out
}

fn order() -> impl Strategy<Value = Order> {
    prop::sample::select(Order::NAMES.map(|(_, order)| order).to_vec())
}

/// One to four levels.
fn levels() -> impl Strategy<Value = Vec<Level>> {
    let stretch = (order(), prop_oneof![0.1..4.0, Just(1.0), Just(2.0)]);
    prop::collection::vec(stretch, 1..5).prop_map(|stretches| {
        let mut upto = 0.0;
        let last = stretches.len() - 1;
        let level = |(i, (order, width)): (usize, (Order, f64))| {
            upto += width;
            Level { order, upto: if i == last { ALL } else { upto } }
        };
        stretches.into_iter().enumerate().map(level).collect()
    })
}

/// Jobs in order of arrival; many of the same size, many at the same time, most of weight 1.
fn jobs(most: usize) -> impl Strategy<Value = Vec<Given>> {
    let gap = prop_oneof![3 => 0.01..3.0, 1 => Just(0.0)];
    let size = prop_oneof![3 => 0.05..6.0, 1 => Just(1.0), 1 => Just(3.0)];
    let weight = prop_oneof![3 => Just(1.0), 1 => 0.05..2.0];
    prop::collection::vec((gap, size, weight), 1..most).prop_map(|list| {
        let mut arrival = 0.0;
        let job = |(gap, size, weight): (f64, f64, f64)| {
            arrival += gap;
            Given { arrival, size, weight }
        };
        list.into_iter().map(job).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn every_order_and_mix_of_levels_is_what_its_rates_say(levels in levels(), given in jobs(14)) {
        let expected = departures(&levels, &given);
        for (left, (job, out)) in run(&levels, &given).iter().zip(given.iter().zip(&expected)) {
            let error = (job.arrival + left.response_time - out).abs();
            prop_assert!(error <= 1e-12 * out.max(1.0), "job {}: {} for {}", left.job, left.response_time, out - job.arrival);
        }
    }

    #[test]
    fn busy_periods_do_not_depend_on_the_order(levels in levels(), given in jobs(30)) {
        let periods = |levels: &[Level]| {
            let mut ends: Vec<f64> = Vec::new();
            let mut cycles = Vec::new();
            for (left, job) in run(levels, &given).iter().zip(&given) {
                ends.resize(ends.len().max(left.cycle as usize + 1), 0.0);
                let end = &mut ends[left.cycle as usize];
                *end = end.max(job.arrival + left.response_time);
                cycles.push(left.cycle);
            }
            (cycles, ends)
        };
        let ((first_cycles, first), (cycles, ends)) = (periods(&one(Order::Fcfs)), periods(&levels));
        prop_assert_eq!(first_cycles, cycles);
        for (a, b) in first.iter().zip(&ends) {
            prop_assert!((a - b).abs() <= 1e-12 * a.max(1.0), "{a} and {b}");
        }
    }

    #[test]
    fn least_remaining_work_first_has_the_fewest_jobs_at_any_time(levels in levels(), given in jobs(30)) {
        let sorted = |levels: &[Level]| {
            let out = run(levels, &given);
            let mut times: Vec<f64> = out.iter().zip(&given).map(|(left, job)| job.arrival + left.response_time).collect();
            times.sort_by(f64::total_cmp);
            times
        };
        // The k-th departure of no other order comes before the k-th of this one.
        for (shortest, other) in sorted(&one(Order::Srpt)).iter().zip(&sorted(&levels)) {
            prop_assert!(*shortest <= other + 1e-12 * other.max(1.0), "{shortest} after {other}");
        }
    }
}

#[test]
fn two_jobs_share_wait_and_interrupt_as_on_paper() {
    let given = [(0.0, 4.0), (1.0, 2.0)].map(|(arrival, size)| Given { arrival, size, weight: 1.0 });
    let response = |levels: &[Level]| run(levels, &given).iter().map(|left| left.response_time).collect::<Vec<_>>();
    assert_eq!(response(&one(Order::Fcfs)), [4.0, 5.0]);
    assert_eq!(response(&one(Order::Sjf)), [4.0, 5.0]);
    assert_eq!(response(&one(Order::Lcfs)), [6.0, 2.0]);
    assert_eq!(response(&one(Order::Psjf)), [6.0, 2.0]);
    assert_eq!(response(&one(Order::Srpt)), [6.0, 2.0]);
    // Shared from 1 to 5, when the second has its 2.
    assert_eq!(response(&one(Order::Ps)), [6.0, 4.0]);
    // Alone until it is as old as the first, at 2; shared until 4.
    assert_eq!(response(&one(Order::Las)), [6.0, 3.0]);
    // The first goes down at 1, and on at 2; then in order.
    let first = Level { order: Order::Fcfs, upto: 1.0 };
    assert_eq!(response(&[first, one(Order::Fcfs)[0]]), [5.0, 5.0]);
}

#[test]
fn acknowledgements_age_by_the_data_they_acknowledge() {
    // Of the same age both, so that the second needs a tenth of what the first needs.
    let given = [(10.0, 1.0), (10.0, 0.1)].map(|(size, weight)| Given { arrival: 0.0, size, weight });
    for left in run(&one(Order::Las), &given) {
        assert!((left.response_time - 11.0).abs() < 1e-12, "{left:?}");
    }
    let shared = run(&one(Order::Ps), &given);
    assert!((shared[1].response_time - 2.0).abs() < 1e-12 && (shared[0].response_time - 11.0).abs() < 1e-12);
}

#[test]
fn a_busy_period_of_a_million_jobs_loses_no_work() {
    let given: Vec<Given> = (0..1_000_000)
        .map(|i| Given { arrival: f64::from(i) * 0.7, size: f64::from(1 + (i * 7 + 12) % 13) / 7.0, weight: 1.0 })
        .collect();
    let work: f64 = given.iter().map(|job| job.size).sum();
    for (name, order) in Order::NAMES {
        let out = run(&one(order), &given);
        let last = out.iter().zip(&given).map(|(left, job)| job.arrival + left.response_time).fold(0.0, f64::max);
        assert!((last / work - 1.0).abs() < 1e-11, "{name}: {last} for {work}");
        assert!(out.iter().all(|left| left.cycle == 0 && left.response_time >= left.size * (1.0 - 1e-9)), "{name}");
    }
}

#[test]
fn levels_that_cannot_be_are_refused() {
    let level = |upto| Level { order: Order::Ps, upto };
    let refused = |uptos: &[f64]| Server::new(&uptos.iter().map(|&upto| level(upto)).collect::<Vec<_>>()).err();
    assert_eq!(refused(&[]), Some(LevelError::Number(0)));
    assert_eq!(refused(&[1.0, 1.0, ALL]), Some(LevelError::Threshold(1.0)));
    assert_eq!(refused(&[0.0, ALL]), Some(LevelError::Threshold(0.0)));
    assert!(matches!(refused(&[f64::NAN, ALL]), Some(LevelError::Threshold(_))));
    assert_eq!(refused(&[ALL, ALL]), Some(LevelError::Threshold(ALL)));
    assert_eq!(refused(&[1.0, 2.0]), Some(LevelError::LastEnds(2.0)));
    assert_eq!(refused(&[1.0, 2.0, ALL]), None);
}
