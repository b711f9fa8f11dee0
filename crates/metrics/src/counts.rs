//! How many flows of a run ended, and the mean times of its short and long ones.

use netsim::{FlowRecord, FlowSpec};
use serde::Serialize;
use units::{ENDLESS_BYTES, Time};

use crate::run_view::{Ran, known};

/// How many flows of the workload ended, by the names of a row of the summary. Flows that never began are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Flows that ended.
    pub flows_completed: u64,
    /// Those that did not, the endless ones too.
    pub flows_unfinished: u64,
    /// Those that have no end.
    pub flows_endless: u64,
}

impl Counts {
    /// Of one run.
    pub fn of(ran: &Ran<'_>) -> Counts {
        let mut found = Counts::default();
        for (row, flow) in ran.begun() {
            let open = ran.output.records[row].finish == Time::NEVER;
            *if open { &mut found.flows_unfinished } else { &mut found.flows_completed } += 1;
            found.flows_endless += u64::from(open && flow.size_bytes >= ENDLESS_BYTES);
        }
        found
    }
}

/// Mean response times of the completed flows of TCP, seconds, of the short and of the long ones; `None` without any. The
/// long ones are the largest that together carry half of the bytes (Chen 2012, 4.6.2).
pub fn class_means_s(ran: &Ran<'_>) -> [Option<f64>; 2] {
    let before = ran.facts.before();
    let mut ended: Vec<(u64, i64, usize)> = ran
        .begun()
        .filter(|&(row, flow)| is_completed_tcp(flow, &ran.output.records[row]))
        .map(|(row, flow)| (flow.size_bytes, ran.facts.id(row - before), row))
        .collect();
    ended.sort_unstable_by_key(|&(size_bytes, id, row)| (std::cmp::Reverse(size_bytes), id, row));
    let total: u128 = ended.iter().map(|&(size_bytes, ..)| u128::from(size_bytes)).sum();
    let mut carried = 0_u128;
    let long = ended.iter().take_while(|&&(size_bytes, ..)| {
        let is_long = 2 * carried < total;
        carried += u128::from(size_bytes);
        is_long
    });
    let (long, short) = ended.split_at(long.count());
    [short, long].map(|class| {
        // In the order of the list, as other sums here.
        let mut rows: Vec<usize> = class.iter().map(|&(.., row)| row).collect();
        rows.sort_unstable();
        let sum: f64 = rows.iter().filter_map(|&row| ran.response_s(row)).sum();
        (!rows.is_empty()).then(|| sum / rows.len() as f64)
    })
}

fn is_completed_tcp(flow: &FlowSpec, record: &FlowRecord) -> bool {
    flow.udp.is_none() && known(record.finish).is_some()
}
