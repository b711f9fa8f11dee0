//! What every row of the registry owes its caller, under random and adversarial traffic.
//!
//! The checks themselves are in [`audit`], which looks at the queue after every call.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use qdisc::{DropReason, Ecn, Family, Kind, Limit, OptionError, Packet, Qdisc, Spec, Value, disciplines};
use units::{FlowKey, Stream, Time};

use crate::audit::{Audit, Event, Op, settings};

const SECOND: u64 = 1_000_000_000;

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Data), Just(Kind::Ack), Just(Kind::Udp)]
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![2 => Just(Ecn::NotEct), 2 => Just(Ecn::Ect0), 1 => Just(Ecn::Ect1), 1 => Just(Ecn::Ce)]
}

/// Few flows and short waits, so that packets meet; few long ones, so that tables are collected.
fn op() -> impl Strategy<Value = Op> {
    let len = prop_oneof![4 => Just(1500), 2 => Just(40), 2 => 1..1501_u32, 1 => 1..200_000_u32];
    let progress = prop_oneof![3 => 0..60_000_u64, 1 => (u64::MAX - 9000)..=u64::MAX];
    let wait = prop_oneof![6 => 0..5_000_000_u64, 2 => 0..SECOND, 1 => 0..60 * SECOND, 1 => 0..2_000_000 * SECOND];
    let arrival = (0..7_u64, len, kind(), progress, ecn());
    prop_oneof![
        10 => arrival.prop_map(|(flow, len, kind, progress, ecn)| Op::Enqueue { flow, len, kind, progress, ecn }),
        6 => Just(Op::Dequeue),
        3 => wait.prop_map(Op::Wait),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    let packets = prop_oneof![Just(1), 1..40_u32];
    let bytes = prop_oneof![Just(1), 1..60_000_u64];
    prop_oneof![packets.prop_map(Limit::Packets), bytes.prop_map(Limit::Bytes)]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![60 => op(), 1 => Just(Op::Reset)];
    prop_oneof![3 => prop::collection::vec(op.clone(), 0..60), 1 => prop::collection::vec(op, 0..400)]
}

/// Runs `test` for random input on every discipline and option set, shrinking what fails.
fn for_all<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
    cases: u32,
    test: impl Fn(&'static Spec, &[(String, String)], T),
) {
    for spec in disciplines::specs() {
        for options in settings(spec) {
            let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
            let outcome = TestRunner::new(config).run(&strategy, |input| {
                test(spec, &options, input);
                Ok(())
            });
            if let Err(failure) = outcome {
                panic!("{} {options:?}: {failure}", spec.id);
            }
        }
    }
}

/// Runs `test` on every discipline and option set.
fn for_each(test: impl Fn(&'static Spec, &[(String, String)])) {
    for spec in disciplines::specs() {
        for options in settings(spec) {
            test(spec, &options);
        }
    }
}

fn full_packet(flow: u64) -> Op {
    Op::Enqueue { flow, len: 1500, kind: Kind::Udp, progress: 0, ecn: Ecn::NotEct }
}

#[test]
fn any_traffic_is_accounted_for_after_every_call() {
    for_all((limit(), ops()), 64, |spec, options, (limit, ops)| {
        let mut audit = Audit::of(spec.id, options, limit);
        for op in &ops {
            audit.step(op);
            audit.check_bytes();
        }
        audit.drain();
    });
}

#[test]
fn a_reset_queue_behaves_as_a_fresh_one() {
    for_all((limit(), ops(), ops()), 24, |spec, options, (limit, before, after)| {
        let mut used = Audit::of(spec.id, options, limit);
        let mut fresh = Audit::of(spec.id, options, limit);
        before.iter().for_each(|op| drop(used.step(op)));
        used.step(&Op::Reset);
        for op in &after {
            assert_eq!(used.step(op), fresh.step(op), "after {before:?}");
        }
    });
}

#[test]
fn the_same_traffic_has_the_same_outcome_twice() {
    for_all((limit(), ops()), 24, |spec, options, (limit, ops)| {
        let run = || {
            let mut audit = Audit::of(spec.id, options, limit);
            ops.iter().map(|op| audit.step(op)).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
    });
}

#[test]
fn a_buffer_of_one_packet_holds_one_packet() {
    for_each(|spec, options| {
        let mut audit = Audit::of(spec.id, options, Limit::Packets(1));
        for n in 0..200 {
            audit.step(&full_packet(n % 3));
            assert!(audit.backlog() == 1 || audit.dropped_below_the_limit(), "{}", spec.id);
            if n % 5 == 0 {
                audit.step(&Op::Dequeue);
            }
        }
    });
}

#[test]
fn a_packet_longer_than_the_buffer_is_dropped_alone() {
    for_each(|spec, options| {
        let mut audit = Audit::of(spec.id, options, Limit::Bytes(6000));
        for flow in [1, 1, 2, 1] {
            audit.step(&full_packet(flow));
        }
        let before = audit.backlog();
        assert!(before == 4 || audit.dropped_below_the_limit(), "{}", spec.id);
        for flow in [1, 2, 3] {
            audit.step(&Op::Enqueue { flow, len: u32::MAX, kind: Kind::Data, progress: 0, ecn: Ecn::Ect0 });
            assert_eq!(audit.backlog(), before, "{}: dropped others in vain", spec.id);
        }
        audit.drain();
    });
}

#[test]
fn giant_packets_do_not_overflow_the_counters() {
    for_each(|spec, options| {
        let mut audit = Audit::of(spec.id, options, Limit::Packets(50));
        for n in 0..300 {
            let progress = u64::MAX - n % 2;
            audit.step(&Op::Enqueue {
                flow: n % 2,
                len: u32::MAX,
                kind: [Kind::Data, Kind::Ack][n as usize % 2],
                progress,
                ecn: [Ecn::Ect0, Ecn::NotEct, Ecn::Ect1][n as usize % 3],
            });
            if n % 3 == 0 {
                audit.step(&Op::Wait(u64::MAX / 1000));
                audit.step(&Op::Dequeue);
            }
        }
        audit.check_bytes();
        audit.drain();
    });
}

/// Fair queueing with hashed flows may have two of them in one queue, which then waits for its turn.
#[test]
fn packets_of_equal_rank_leave_in_order_of_arrival() {
    for_each(|spec, options| {
        if spec.family == Family::FairQueueing {
            return;
        }
        let mut audit = Audit::of(spec.id, options, Limit::Packets(2000));
        for flow in 0..1500 {
            audit.step(&full_packet(2 * flow));
        }
        served_in_order(&mut audit, spec, 1500);
    });
}

/// Empties the queue, which got `arrived` packets: handles ascend, and without early drops none lacks.
fn served_in_order(audit: &mut Audit, spec: &Spec, arrived: u64) {
    let mut served = Vec::new();
    while audit.backlog() > 0 {
        if let Some(Event::Dequeued(Some(handle))) = audit.step(&Op::Dequeue) {
            served.push(handle);
        }
    }
    assert!(served.is_sorted(), "{}: {served:?}", spec.id);
    assert_eq!(served.len() as u64 + audit.dropped(), arrived, "{}", spec.id);
    assert!(audit.dropped() == 0 || audit.dropped_below_the_limit(), "{}", spec.id);
}

#[test]
fn one_flow_alone_is_served_in_order() {
    for_each(|spec, options| {
        let mut audit = Audit::of(spec.id, options, Limit::Packets(1000));
        for n in 0..1000 {
            let progress = n * 1448;
            audit.step(&Op::Enqueue { flow: 2, len: 1500, kind: Kind::Data, progress, ecn: Ecn::NotEct });
        }
        served_in_order(&mut audit, spec, 1000);
    });
}

/// Without the shadow queue, whose tables would cost more than the disciplines.
#[test]
fn a_million_flows_fit() {
    for spec in disciplines::specs() {
        let limit = Limit::Packets(50_000);
        let mut queue = Qdisc::from_options(spec.id, &[], limit, Stream::named(1, "million")).expect("defaults");
        let mut seen = vec![false; 1_000_000];
        let mut mark = |packet: &Packet| {
            let first = !std::mem::replace(&mut seen[packet.handle as usize], true);
            assert!(first, "{}: packet {} came out twice", spec.id, packet.handle);
        };
        let mut dropped_early = false;
        for n in 0..1_000_000 {
            // A prime step visits every flow once, in no order.
            let flow = FlowKey((n * 700_001 % 1_000_003) << 1);
            let (len, kind, now) = (40 + (n % 1461) as u32, Kind::Udp, Time(n * 1000));
            let packet = Packet {
                flow,
                handle: n,
                progress: 0,
                remaining: 0,
                arrival: now,
                len,
                src: (n % 997) as u32,
                dst: (n % 89) as u32,
                options: 0,
                mark: 0,
                kind,
                ecn: Ecn::NotEct,
            };
            queue.enqueue(packet, now);
            let mut below_the_limit = false;
            for (packet, reason) in queue.dropped() {
                mark(packet);
                below_the_limit |= matches!(reason, DropReason::Early | DropReason::FlowFull);
            }
            dropped_early |= below_the_limit;
            if n.is_multiple_of(2) {
                queue.dequeue(now).iter().for_each(&mut mark);
                dropped_early |= !queue.dropped().is_empty();
                queue.dropped().iter().for_each(|(packet, _)| mark(packet));
            }
        }
        assert!(queue.backlog() == 50_000 || dropped_early, "{}: {}", spec.id, queue.backlog());
        while queue.backlog() > 0 {
            queue.dequeue(Time(SECOND)).iter().for_each(&mut mark);
            queue.dropped().iter().for_each(|(packet, _)| mark(packet));
        }
        assert!(seen.iter().all(|&came_out| came_out), "{}", spec.id);
    }
}

#[test]
fn every_default_and_bound_is_taken_and_nothing_beyond() {
    let refused = |id: &str, name: &str, value: String| {
        let given = [(name.to_owned(), value.clone())];
        match Qdisc::from_options(id, &given, Limit::Packets(1), Stream::named(1, "options")) {
            Err(OptionError::BadValue(param, text, _)) => assert_eq!((param, text), (name, value)),
            other => panic!("{id}: {name} = {value} gives {other:?}"),
        }
    };
    for_each(|spec, options| assert_eq!(Audit::of(spec.id, options, Limit::Packets(1)).backlog(), 0));
    for spec in disciplines::specs() {
        for param in spec.params {
            assert!(!param.about.is_empty(), "{}: {} is not described", spec.id, param.name);
            refused(spec.id, param.name, "no such word".to_owned());
            let numbers =
                |min: f64, max: f64| [min.next_down(), max.next_up(), f64::NAN, f64::INFINITY, -f64::INFINITY];
            let beyond: Vec<String> = match param.value {
                Value::Number { min, max, .. } => numbers(min, max).map(|value| value.to_string()).into(),
                Value::Numbers { min, max, .. } => numbers(min, max).map(|value| value.to_string()).into(),
                Value::Whole { min, max, .. } => {
                    let below = min.checked_sub(1).map_or("-1".to_owned(), |value| value.to_string());
                    vec![below, (max + 1).to_string(), format!("{min}.5"), "NaN".to_owned()]
                }
                Value::Choice(_) => continue,
            };
            assert!(!param.unit.is_empty(), "{}: {} has no unit", spec.id, param.name);
            beyond.into_iter().for_each(|value| refused(spec.id, param.name, value));
        }
    }
}

#[test]
fn unknown_names_and_empty_buffers_are_refused() {
    let error = |id: &str, options: &[(String, String)], limit| {
        Qdisc::from_options(id, options, limit, Stream::named(1, "options")).map(|_| ()).expect_err("refused")
    };
    let known: Vec<_> = disciplines::specs().iter().map(|spec| spec.id).collect();
    let unknown = OptionError::UnknownDiscipline("fifi".to_owned(), known.join(", "));
    assert_eq!(error("fifi", &[], Limit::Packets(1)), unknown);
    for spec in disciplines::specs() {
        let stray = [("stray".to_owned(), "1".to_owned())];
        assert!(
            matches!(error(spec.id, &stray, Limit::Packets(1)), OptionError::UnknownParam(id, ..) if id == spec.id)
        );
        assert_eq!(error(spec.id, &[], Limit::Packets(0)), OptionError::ZeroLimit);
        assert_eq!(error(spec.id, &[], Limit::Bytes(0)), OptionError::ZeroLimit);
    }
}
