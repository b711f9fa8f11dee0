//! LAS beside LAS as one would write it down, on a `BTreeMap`, in CPU time per packet. How the queues of
//! ns-3 compare is for `benchmarks/queues.py` to say.
#![allow(missing_docs)]

#[allow(dead_code)]
mod traffic;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use traffic::clock::CpuTime;
use traffic::naive::BTreeLas;
use traffic::{Queue, Steady, discipline};

const FLOWS: u16 = 10_000;

fn one(c: &mut Criterion<CpuTime>, name: &str, queue: impl Queue, backlog: u32) {
    let mut group = c.benchmark_group(format!("peers_{backlog}_packets_{FLOWS}_flows"));
    group.throughput(Throughput::Elements(1));
    let mut steady = Steady::of(queue, FLOWS, backlog);
    group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(|| black_box(steady.turn())));
}

fn peers(c: &mut Criterion<CpuTime>) {
    for backlog in [300, 10_000, 1_000_000] {
        one(c, "las", discipline("las", backlog), backlog);
        one(c, "btree", BTreeLas::default(), backlog);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = peers
}
criterion_main!(benches);
