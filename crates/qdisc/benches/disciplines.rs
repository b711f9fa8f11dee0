//! Cost per packet of every registered discipline: one enqueue and one dequeue at a steady backlog,
//! flow table included.
//!
//! The bound is 50 ns at 300 packets waiting and 10 000 flows, drawn uniformly from a fixed stream;
//! 57 flows are a busy access point; a million packets waiting show how the queue scales.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use qdisc::{Ecn, Kind, Limit, Packet, Qdisc, registry};
use units::{FlowKey, Stream, Time};

/// Transmission of 1500 bytes at 100 Mb/s, ns.
const TRANSMISSION: u64 = 120_000;

struct Source {
    flows: Vec<u16>,
    sent: usize,
    count: u64,
}

impl Source {
    fn of(flows: u16) -> Source {
        let mut stream = Stream::named(1, "bench");
        let drawn = (0..1 << 16).map(|_| (stream.uniform() * f64::from(flows)) as u16).collect();
        Source { flows: drawn, sent: 0, count: u64::from(flows) }
    }

    fn packet(&mut self) -> Packet {
        let flow = self.flows[self.sent % self.flows.len()];
        self.sent += 1;
        Packet {
            flow: FlowKey(u64::from(flow) << 1),
            handle: self.sent as u64,
            progress: self.sent as u64 / self.count * 1448,
            remaining: 1_000_000,
            arrival: Time::ZERO,
            len: 1500,
            src: u32::from(flow),
            dst: 0,
            // Half of the flows are TCP data, half are not, for disciplines that tell them apart.
            kind: if flow.is_multiple_of(2) { Kind::Data } else { Kind::Udp },
            ecn: Ecn::NotEct,
        }
    }
}

fn steady_state(c: &mut Criterion, name: &str, flows: u16, backlog: u32) {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    for spec in registry::specs() {
        let stream = Stream::named(1, spec.id);
        let mut queue = Qdisc::from_options(spec.id, &[], Limit::Packets(backlog + 1), stream).expect("defaults");
        let mut source = Source::of(flows);
        let mut now = Time::ZERO;
        for _ in 0..backlog {
            queue.enqueue(source.packet(), now);
        }
        group.bench_function(BenchmarkId::from_parameter(spec.id), |b| {
            b.iter(|| {
                now += Time(TRANSMISSION);
                queue.enqueue(source.packet(), now);
                black_box(queue.dequeue(now))
            });
        });
    }
}

/// A full buffer: every arrival finds a victim.
fn overload(c: &mut Criterion) {
    let mut group = c.benchmark_group("overload_300_packets_10000_flows");
    group.throughput(Throughput::Elements(2));
    for spec in registry::specs() {
        let stream = Stream::named(1, spec.id);
        let mut queue = Qdisc::from_options(spec.id, &[], Limit::Packets(300), stream).expect("defaults");
        let mut source = Source::of(10_000);
        let mut now = Time::ZERO;
        group.bench_function(BenchmarkId::from_parameter(spec.id), |b| {
            b.iter(|| {
                now += Time(TRANSMISSION);
                queue.enqueue(source.packet(), now);
                queue.enqueue(source.packet(), now);
                black_box(queue.dequeue(now))
            });
        });
    }
}

fn disciplines(c: &mut Criterion) {
    steady_state(c, "300_packets_10000_flows", 10_000, 300);
    steady_state(c, "300_packets_57_flows", 57, 300);
    steady_state(c, "1000000_packets_10000_flows", 10_000, 1_000_000);
    overload(c);
}

criterion_group!(benches, disciplines);
criterion_main!(benches);
