//! Any sequence of calls on any discipline, with the checks of the conformance suite after each.
//!
//! The first four bytes choose the discipline, its options and the buffer limit; each four after them
//! are one call: what, flow, length, progress or time.
#![no_main]

#[path = "../../crates/qdisc/tests/audit/mod.rs"]
mod audit;

use audit::{Audit, Op, settings};
use libfuzzer_sys::fuzz_target;
use qdisc::{Ecn, Kind, Limit, disciplines};

fn op([what, flow, length, more]: [u8; 4]) -> Op {
    let len = match length {
        0 => u32::MAX,
        _ => u32::from(length) * 40,
    };
    let progress = match more {
        255 => u64::MAX,
        _ => u64::from(more) * 500,
    };
    match what % 8 {
        0..=3 => {
            let kind = [Kind::Data, Kind::Ack, Kind::Udp][usize::from(what / 8) % 3];
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(flow / 16) % 4];
            Op::Enqueue { flow: u64::from(flow % 16), len, kind, progress, ecn }
        }
        4 | 5 => Op::Dequeue,
        6 => Op::Wait(u64::from(more) << (flow % 48)),
        _ if what == 7 => Op::Reset,
        _ => Op::Dequeue,
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&[discipline, options, unit, size], calls)) = data.split_first_chunk() else { return };
    let specs = disciplines::specs();
    let spec = specs[usize::from(discipline) % specs.len()];
    let settings = settings(spec);
    let size = u32::from(size) + 1;
    let limit = if unit % 2 == 0 { Limit::Packets(size) } else { Limit::Bytes(u64::from(size) * 100) };
    let mut audit = Audit::of(spec.id, &settings[usize::from(options) % settings.len()], limit);
    for call in calls.as_chunks().0 {
        audit.step(&op(*call));
        audit.check_bytes();
    }
    audit.drain();
});
