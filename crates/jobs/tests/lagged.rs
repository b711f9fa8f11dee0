//! Users with jobs under lagged fair queueing: against levels of priority where both are the same, against the rules in small
//! quanta, and on paper.

use jobs::{Finished, LagError, Lagged, Lags, Level, Order, Passage, Server};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Given {
    arrival: f64,
    size: f64,
    user: Option<u32>,
}

fn run(lags: Lags, marks: &[f64], given: &[Given]) -> (Vec<f64>, Vec<Passage>) {
    let mut server = Lagged::new(lags, marks).expect("lags are in their bounds");
    let mut left: Vec<Finished> = Vec::new();
    let mut passed = Vec::new();
    for job in given {
        server.arrive(job.arrival, job.size, job.user, &mut |one| left.push(one), &mut |one| passed.push(one));
    }
    server.drain(&mut |one| left.push(one), &mut |one| passed.push(one));
    assert_eq!(server.present(), 0);
    left.sort_by_key(|one| one.job);
    (left.iter().map(|one| one.response_time).collect(), passed)
}

/// Two levels, least attained service up to `upto`, the rest shared.
fn two_levels(upto: f64, given: &[Given]) -> Vec<f64> {
    let last = Level { order: Order::Ps, upto: f64::INFINITY };
    let levels = if upto > 0.0 { vec![Level { order: Order::Las, upto }, last] } else { vec![last] };
    let mut server = Server::new(&levels).expect("levels ascend");
    let mut left: Vec<Finished> = Vec::new();
    for job in given {
        server.arrive(job.arrival, job.size, 1.0, &mut |one| left.push(one));
    }
    server.drain(&mut |one| left.push(one));
    left.sort_by_key(|one| one.job);
    left.iter().map(|one| one.response_time).collect()
}

fn jobs(most: usize, users: u32) -> impl Strategy<Value = Vec<Given>> {
    let gap = prop_oneof![3 => 0.01..3.0, 1 => Just(0.0)];
    let size = prop_oneof![3 => 0.05..6.0, 1 => Just(1.0), 1 => Just(3.0)];
    prop::collection::vec((gap, size, 0..users), 1..most).prop_map(|list| {
        let mut arrival = 0.0;
        let job = |(gap, size, user): (f64, f64, u32)| {
            arrival += gap;
            Given { arrival, size, user: Some(user) }
        };
        list.into_iter().map(job).collect()
    })
}

fn lag() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 0.1..5.0, 1 => Just(0.0), 1 => Just(2.0), 1 => Just(200.0)]
}

/// The rules one quantum after another: whoever has the smallest tag is sent it.
fn in_quanta(lags: Lags, given: &[Given], quantum: f64) -> Vec<f64> {
    struct Flow {
        job: usize,
        tag: f64,
        rest: f64,
    }
    let users = given.iter().filter_map(|job| job.user).max().map_or(0, |most| most as usize + 1);
    let (mut tags, mut clocks) = (vec![f64::NEG_INFINITY; users], vec![0.0; users]);
    let mut flows: Vec<Vec<Flow>> = (0..users).map(|_| Vec::new()).collect();
    let (mut clock, mut now, mut next) = (0.0_f64, 0.0_f64, 0);
    let mut out = vec![0.0; given.len()];
    loop {
        let busy: Vec<usize> = (0..users).filter(|&user| !flows[user].is_empty()).collect();
        if busy.is_empty() {
            let Some(job) = given.get(next) else { return out };
            now = now.max(job.arrival);
        }
        while let Some(job) = given.get(next).filter(|job| job.arrival <= now) {
            let user = job.user.expect("every job has a user") as usize;
            if flows[user].is_empty() {
                tags[user] = tags[user].max(clock - lags.user);
            }
            flows[user].push(Flow { job: next, tag: clocks[user] - lags.job, rest: job.size });
            next += 1;
        }
        let busy: Vec<usize> = (0..users).filter(|&user| !flows[user].is_empty()).collect();
        let Some(&user) = busy.iter().min_by(|&&a, &&b| tags[a].total_cmp(&tags[b])) else { continue };
        clock = clock.max(tags[user]) + lags.pace * quantum / busy.len() as f64;
        let count = flows[user].len();
        let flow = flows[user].iter_mut().min_by(|a, b| a.tag.total_cmp(&b.tag)).expect("the user has jobs");
        clocks[user] = clocks[user].max(flow.tag) + lags.pace * quantum / count as f64;
        flow.tag += quantum;
        flow.rest -= quantum;
        tags[user] += quantum;
        now += quantum;
        flows[user].retain(|flow| {
            if flow.rest <= 1e-9 {
                out[flow.job] = now - given[flow.job].arrival;
            }
            flow.rest > 1e-9
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn one_job_per_user_is_two_levels_with_the_lag_of_users(lag in lag(), other in lag(), given in jobs(14, 1)) {
        let lags = Lags { user: lag, job: other, pace: 0.0 };
        let alone: Vec<Given> = given.iter().map(|job| Given { user: None, ..*job }).collect();
        for (found, expected) in run(lags, &[], &alone).0.iter().zip(two_levels(lag, &given)) {
            prop_assert!((found - expected).abs() <= 1e-9 * expected, "{found} and {expected}");
        }
    }

    #[test]
    fn one_user_is_two_levels_with_the_lag_of_jobs(lag in lag(), other in lag(), given in jobs(14, 1)) {
        let lags = Lags { user: other, job: lag, pace: 0.0 };
        for (found, expected) in run(lags, &[], &given).0.iter().zip(two_levels(lag, &given)) {
            prop_assert!((found - expected).abs() <= 1e-9 * expected, "{found} and {expected}");
        }
    }

    #[test]
    fn busy_periods_do_not_depend_on_lags(user in lag(), job in lag(), pace in 0.0..1.0, given in jobs(20, 4)) {
        let ends = |times: &[f64]| times.iter().zip(&given).map(|(time, job)| job.arrival + time).fold(0.0, f64::max);
        let (found, passed) = run(Lags { user, job, pace }, &[0.5, 2.0], &given);
        prop_assert!((ends(&found) / ends(&two_levels(0.0, &given)) - 1.0).abs() < 1e-9);
        prop_assert!(found.iter().zip(&given).all(|(time, job)| *time >= job.size * (1.0 - 1e-9)));
        let passes = |mark: f64| given.iter().filter(|job| job.size >= mark).count();
        prop_assert_eq!(passed.len(), passes(0.5) + passes(2.0));
        prop_assert!(passed.iter().all(|one| one.time <= found[one.job as usize] * (1.0 + 1e-9)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Who is served when, with users that come back, lags and clocks of any speed: a quantum is 1/2000, and whoever ends is off
    /// by a few of them per job it met.
    #[test]
    fn users_are_served_as_the_rules_say(user in 0.1..4.0_f64, job in 0.1..4.0_f64, pace in 0.0..0.9, given in jobs(12, 3)) {
        let lags = Lags { user, job, pace };
        let (quantum, bound) = (0.0005, 0.0005 * 20.0 * given.len() as f64);
        let (found, expected) = (run(lags, &[], &given).0, in_quanta(lags, &given, quantum));
        for (one, other) in found.iter().zip(&expected) {
            prop_assert!((one - other).abs() <= bound, "{one} and {other}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn a_user_that_was_served_waits_for_one_that_was_not() {
    let lags = Lags { user: 10.0, job: 5.0, pace: 0.0 };
    let given = [(0.0, 4.0, 0), (4.0, 1.0, 0), (4.0, 5.0, 1)];
    let given = given.map(|(arrival, size, user)| Given { arrival, size, user: Some(user) });
    assert_eq!(run(lags, &[], &given).0, [4.0, 6.0, 6.0]);
    // With a lag of 1 the other one is ahead of it by 1 only.
    let times = run(Lags { user: 1.0, ..lags }, &[], &given).0;
    assert_eq!(times, [4.0, 3.0, 6.0]);
}

#[test]
fn a_new_job_goes_ahead_of_an_old_one_of_its_user() {
    let lags = Lags { user: 1.0, job: 2.0, pace: 0.0 };
    let given = [(0.0, 9.0), (4.0, 1.0), (5.0, 4.0)].map(|(arrival, size)| Given { arrival, size, user: Some(7) });
    let (times, passed) = run(lags, &[2.0], &given);
    // The third is alone until it was sent 2, at 7; then both share until it has 4, at 11.
    assert_eq!(times, [14.0, 1.0, 6.0]);
    assert_eq!(passed.iter().map(|one| (one.job, one.time)).collect::<Vec<_>>(), [(0, 2.0), (2, 2.0)]);
}

#[test]
fn credit_comes_back_with_the_clock_and_sums_keep_their_digits() {
    let lags = Lags { user: 2.0, job: 1.0, pace: 0.4 };
    let given: Vec<Given> = (0..300_000)
        .map(|i| Given {
            arrival: f64::from(i) * 1.25,
            size: f64::from(1 + (i * 7 + 12) % 13) / 7.0,
            user: Some(i as u32 % 9),
        })
        .collect();
    let (times, _) = run(lags, &[], &given);
    let work: f64 = given.iter().map(|job| job.size).sum();
    let last = times.iter().zip(&given).map(|(time, job)| job.arrival + time).fold(0.0, f64::max);
    assert!(last >= work && times.iter().zip(&given).all(|(time, job)| *time >= job.size * (1.0 - 1e-9)));
    // It repeats itself: every 13 jobs of 9 users, the same sizes come.
    let (early, late) = (&times[117 * 100..117 * 101], &times[117 * 2500..117 * 2501]);
    assert!(early.iter().zip(late).all(|(a, b)| (a - b).abs() < 1e-6 * a), "{early:?} {late:?}");
}

#[test]
fn lags_that_cannot_be_are_refused() {
    let lags = Lags { user: 1.0, job: 1.0, pace: 0.0 };
    let refused = |lags, marks: &[f64]| Lagged::new(lags, marks).err();
    assert_eq!(refused(lags, &[]), None);
    assert_eq!(refused(Lags { user: -1.0, ..lags }, &[]), Some(LagError::Lag(-1.0)));
    assert_eq!(refused(Lags { job: f64::INFINITY, ..lags }, &[]), Some(LagError::Lag(f64::INFINITY)));
    assert_eq!(refused(Lags { pace: 1.5, ..lags }, &[]), Some(LagError::Pace(1.5)));
    assert_eq!(refused(lags, &[1.0, 1.0]), Some(LagError::Mark(1.0)));
}
