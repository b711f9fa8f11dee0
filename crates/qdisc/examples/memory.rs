//! Memory of every discipline, measured at the allocator, one JSON line each, for `benchmarks/queues.py`:
//! family; bytes held for flows by an empty queue; flows in the table when 10 000 have a packet waiting; bytes held
//! for flows then, as stated and as far as the rest is not packets; bytes for each packet.
#![allow(clippy::print_stdout)]

#[path = "../tests/heap/mod.rs"]
mod heap;

use heap::{FEW, PACKETS, empty, filled};
use qdisc::disciplines;

fn main() {
    for spec in disciplines::specs() {
        let (empty, few, many) = (empty(spec.id), filled(spec.id, FEW), filled(spec.id, PACKETS));
        println!(
            r#"{{"id": "{}", "family": "{}", "empty": {}, "entries": {}, "stated": {}, "measured": {:.0}, "per_packet": {:.1}}}"#,
            spec.id,
            spec.family.name(),
            empty.for_flows,
            many.entries,
            many.for_flows,
            many.bytes as f64 - few.rest(),
            (few.rest() - empty.rest()) / PACKETS as f64,
        );
    }
}
