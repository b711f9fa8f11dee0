//! CPU time per packet of every registered discipline: one enqueue and one dequeue at a steady backlog,
//! flow table included.
//!
//! The bound is 50 ns at 300 packets waiting and 10 000 flows, drawn uniformly from a fixed stream, and
//! 60 ns for the disciplines that go by size at 10 000 packets; 57 flows are a busy access point; a
//! million packets waiting show how the queue scales.
#![allow(missing_docs)]

#[allow(dead_code)]
mod traffic;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use qdisc::{Family, Limit, Qdisc, Spec, disciplines};
use traffic::clock::CpuTime;
use traffic::{Source, Steady, TRANSMISSION, discipline};
use units::{Stream, Time};

fn steady_state(c: &mut Criterion<CpuTime>, flows: u16, backlog: u32, belongs: impl Fn(&Spec) -> bool) {
    let mut group = c.benchmark_group(format!("{backlog}_packets_{flows}_flows"));
    group.throughput(Throughput::Elements(1));
    for spec in disciplines::specs().iter().filter(|spec| belongs(spec)) {
        let mut steady = None;
        group.bench_function(BenchmarkId::from_parameter(spec.id), |b| {
            let steady = steady.get_or_insert_with(|| Steady::of(discipline(spec.id, backlog), flows, backlog));
            b.iter(|| black_box(steady.turn()));
        });
        if let Some(waiting) = steady.and_then(|steady| steady.strayed()) {
            eprintln!("{}: at {waiting} packets waiting, not at {backlog}", spec.id);
        }
    }
}

/// A full buffer: two arrivals for each departure.
fn overload(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("overload_300_packets_10000_flows");
    group.throughput(Throughput::Elements(2));
    for spec in disciplines::specs() {
        let stream = Stream::named(1, spec.id);
        let mut queue = Qdisc::from_options(spec.id, &[], Limit::Packets(300), stream).expect("defaults");
        let mut source = Source::of(10_000);
        let mut now = Time::ZERO;
        group.bench_function(BenchmarkId::from_parameter(spec.id), |b| {
            b.iter(|| {
                now += TRANSMISSION;
                queue.enqueue(source.packet(), now);
                queue.enqueue(source.packet(), now);
                black_box(queue.dequeue(now))
            });
        });
    }
}

fn disciplines(c: &mut Criterion<CpuTime>) {
    steady_state(c, 10_000, 300, |_| true);
    steady_state(c, 10_000, 10_000, |spec| matches!(spec.family, Family::Plain | Family::SizeBased));
    steady_state(c, 57, 300, |_| true);
    steady_state(c, 10_000, 1_000_000, |_| true);
    overload(c);
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = disciplines
}
criterion_main!(benches);
