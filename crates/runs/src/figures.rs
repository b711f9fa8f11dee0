//! The figures of a run that the summary has (`docs/tables.md`).

use metrics::Transfer;
use netsim::{Counters, FlowRecord};
use serde::Serialize;
use serde_json::{Map, Value};
use summary::{ActiveFlows, Loss, ResponseTimes, Slowdown};
use tables::{Record, Values};
use units::Time;

use crate::active::active;
use crate::list::List;
use crate::sums::{mean, normal_ci95};

/// Share of the run at its end in which no transfer starts that slowdown counts.
const LATE_SHARE: f64 = 0.1;

/// What the summary tells of the run but for what follows from the totals; names are those of the summary.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Totals of the run, by name of their column.
    pub counters: Map<String, Value>,
    /// How many flows there are.
    pub flows: u64,
    /// Payload of all, bytes.
    pub bytes: i64,
    /// The same with headers.
    pub wire_bytes: i64,
    /// Identities of the largest.
    pub largest_flows: Vec<i64>,
    /// The many that carry half of the bytes.
    pub short: ResponseTimes,
    /// The few that carry the other half.
    pub long: ResponseTimes,
    /// How many did not finish.
    pub flows_unfinished: u64,
    /// Payload of these, bytes.
    pub unfinished_bytes: i64,
    /// What was delivered of it.
    pub unfinished_delivered_bytes: i64,
    /// What users feel.
    pub users: metrics::Figures,
    /// Packets that the queues dropped.
    pub loss: Loss,
    /// Flows in the network at once.
    pub active_flows: Option<ActiveFlows>,
    /// Slowdown.
    pub slowdown: Option<Slowdown>,
    /// Mean of the round-trip times without queueing, which are all the same, seconds.
    pub propagation_rtt_s: f64,
}

/// What the figures are taken from.
pub(crate) struct Taken<'a> {
    /// The flows.
    pub list: &'a List,
    /// What became of each.
    pub records: &'a [FlowRecord],
    /// Response time of each, seconds; NaN when unfinished.
    pub response_s: &'a [f64],
    /// Slowdown of each; NaN when unfinished.
    pub slowdown: &'a [f64],
    /// Totals.
    pub counters: &'a Counters,
    /// Payload and headers of a full packet, bytes.
    pub mss: i64,
    pub header: i64,
    /// End of the run as the scenario has it, seconds.
    pub duration_s: f64,
    /// Round-trip time without queueing, seconds.
    pub rtt_s: f64,
}

pub(crate) fn figures(of: &Taken<'_>) -> Figures {
    let list = of.list;
    let packets = |bytes: i64| (bytes + of.mss - 1) / of.mss;
    let unfinished = || (0..list.len()).filter(|&row| of.records[row].finish == Time::NEVER);
    let lossy = of.records.iter().filter(|record| record.drops > 0).count();
    let sent: u64 = of.records.iter().map(|record| record.packets_sent).sum();
    let drops: u64 = of.records.iter().map(|record| record.drops).sum();
    let (begin_s, end_s) = (of.counters.begin.as_secs_f64(), of.counters.end.as_secs_f64());
    let ends: Vec<f64> = of.records.iter().map(|record| known(record.finish).unwrap_or(f64::INFINITY)).collect();
    let transfers: Vec<Transfer> = (0..list.len())
        .map(|row| Transfer {
            row: row as u32,
            id: list.flow_id[row],
            train: None,
            up: false,
            size_bytes: list.size_bytes[row] as u64,
            start_s: list.start_s[row],
            response_s: (!of.response_s[row].is_nan()).then_some(of.response_s[row]),
        })
        .collect();
    let long = long_ones(of);
    Figures {
        counters: named(of.counters),
        flows: list.len() as u64,
        bytes: list.size_bytes.iter().sum(),
        wire_bytes: list.size_bytes.iter().map(|&bytes| bytes + packets(bytes) * of.header).sum(),
        largest_flows: list.largest().into_iter().map(|row| list.flow_id[row]).collect(),
        short: class(of, &long, false),
        long: class(of, &long, true),
        flows_unfinished: unfinished().count() as u64,
        unfinished_bytes: unfinished().map(|row| list.size_bytes[row]).sum(),
        unfinished_delivered_bytes: unfinished().map(|row| of.records[row].delivered_bytes as i64).sum(),
        users: metrics::of_transfers(&transfers),
        loss: Loss {
            rate: (sent > 0).then(|| drops as f64 / sent as f64),
            flows: lossy as u64,
            share: Some(lossy as f64 / list.len() as f64),
        },
        active_flows: active(&list.start_s, &ends, begin_s, end_s),
        slowdown: percentiles(of),
        propagation_rtt_s: mean(&vec![of.rtt_s; list.len()]).unwrap_or(of.rtt_s),
    }
}

pub(crate) fn known(time: Time) -> Option<f64> {
    (time != Time::NEVER).then(|| time.as_secs_f64())
}

/// The totals by the names that tables have for them.
fn named(counters: &Counters) -> Map<String, Value> {
    let rows = std::slice::from_ref(counters);
    let value = |values: Values| match values {
        Values::Int64(values) => Value::from(values[0]),
        Values::Int64OrNull(values) => Value::from(values[0]),
        // NaN stands for null.
        Values::Float64(values) => Value::from(values[0]),
        Values::Bool(values) => Value::from(values[0]),
        _ => Value::Null,
    };
    Counters::columns().iter().map(|column| (column.meaning.name.to_string(), value(column.values(rows)))).collect()
}

/// Whether each flow is long: the largest of those that finished, until half of their bytes are reached.
fn long_ones(of: &Taken<'_>) -> Vec<bool> {
    let (list, mut long) = (of.list, vec![false; of.list.len()]);
    let mut ranked: Vec<usize> = (0..list.len()).filter(|&row| of.records[row].finish != Time::NEVER).collect();
    ranked.sort_by(|&a, &b| {
        list.size_bytes[b].cmp(&list.size_bytes[a]).then_with(|| list.flow_id[a].cmp(&list.flow_id[b]))
    });
    let total: i64 = ranked.iter().map(|&row| list.size_bytes[row]).sum();
    let mut before = 0;
    for row in ranked {
        long[row] = 2 * before < total;
        before += list.size_bytes[row];
    }
    long
}

fn class(of: &Taken<'_>, is_long: &[bool], long: bool) -> ResponseTimes {
    let rows = || (0..of.list.len()).filter(|&row| is_long[row] == long && of.records[row].finish != Time::NEVER);
    let times: Vec<f64> = rows().map(|row| of.response_s[row]).collect();
    let packets: i64 = rows().map(|row| (of.list.size_bytes[row] + of.mss - 1) / of.mss).sum();
    ResponseTimes {
        mean_s: mean(&times),
        ci95: normal_ci95(&times),
        flows: times.len() as u64,
        mean_size_packets: (!times.is_empty()).then(|| packets as f64 / times.len() as f64),
    }
}

fn percentiles(of: &Taken<'_>) -> Option<Slowdown> {
    let latest_s = of.duration_s * (1.0 - LATE_SHARE);
    let counted = (0..of.list.len()).filter(|&row| of.list.start_s[row] <= latest_s);
    let mut ordered: Vec<f64> =
        counted.map(|row| if of.slowdown[row].is_nan() { f64::INFINITY } else { of.slowdown[row] }).collect();
    ordered.sort_unstable_by(f64::total_cmp);
    let ranked = |share: usize| {
        let rank = (ordered.len() * share).div_ceil(100).max(1);
        ordered.get(rank - 1).copied().filter(|value| value.is_finite())
    };
    (!ordered.is_empty()).then(|| Slowdown { p50: ranked(50), p95: ranked(95), p99: ranked(99) })
}
