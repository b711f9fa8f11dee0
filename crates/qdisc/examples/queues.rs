//! CPU time per packet of queues at a steady backlog, one JSON line each, for `benchmarks/queues.py`.
//!
//! `queues FLOWS BACKLOG [ID...]`: disciplines of the registry, or `btree` for LAS on a `BTreeMap`; without
//! ids all of the registry. There is a figure for each of 20 stretches of half a million packets, 6 s, so that
//! each has a collection of idle flows.
#![allow(clippy::print_stdout)]

#[allow(dead_code)]
#[path = "../benches/traffic/mod.rs"]
mod traffic;

use std::error::Error;
use std::hint::black_box;

use qdisc::disciplines;
use traffic::clock::cpu_time;
use traffic::naive::BTreeLas;
use traffic::{Queue, Steady, discipline};

const STRETCHES: usize = 20;
const PACKETS: u32 = 500_000;

/// Measures `queue` and prints what came out.
fn measure(id: &str, queue: impl Queue, flows: u16, backlog: u32) {
    let mut steady = Steady::of(queue, flows, backlog);
    let mut stretch = || {
        let start = cpu_time();
        for _ in 0..PACKETS {
            black_box(steady.turn());
        }
        (cpu_time() - start).as_nanos() as f64 / f64::from(PACKETS)
    };
    let ns: Vec<f64> = (0..STRETCHES).map(|_| stretch()).collect();
    let queue = steady.queue();
    let (entries, bytes) = queue.table().unwrap_or_default();
    let waiting = queue.waiting();
    println!(r#"{{"id": "{id}", "ns": {ns:.2?}, "waiting": {waiting}, "entries": {entries}, "bytes": {bytes}}}"#);
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let flows: u16 = arguments.next().ok_or("queues FLOWS BACKLOG [ID...]")?.parse()?;
    let backlog: u32 = arguments.next().ok_or("queues FLOWS BACKLOG [ID...]")?.parse()?;
    let mut ids: Vec<String> = arguments.collect();
    if ids.is_empty() {
        ids = disciplines::specs().iter().map(|spec| spec.id.to_owned()).collect();
    }
    for id in ids {
        if id == "btree" {
            measure(&id, BTreeLas::default(), flows, backlog);
        } else {
            measure(&id, discipline(&id, backlog), flows, backlog);
        }
    }
    Ok(())
}
