//! What came of a run.

use metrics::{Figures, Kind, Mechanism, Question, Ran, Rule, Transfer};
use netsim::{FlowRecord, FlowSpec, Output};
use serde::Serialize;

use crate::error::ExploreError;
use crate::inside::Packets;
use crate::model::{Expected, expected};
use crate::request::Request;
use crate::workload::Prepared;

/// What the page shows.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Outcome<'a> {
    workload: &'a str,
    discipline: Named,
    figures: Figures,
    attacker: Option<Attacker>,
    long: Option<Long>,
    link: Ways,
    kinds: [&'static str; Kind::ALL.len()],
    transfers: Transfers,
    queue: Queue,
    mechanisms: Vec<Mechanism>,
    model: Option<Expected>,
    waits: Option<[Waiting; 2]>,
    inside: Option<Packets>,
    /// This run, as the rule of the recommendation is asked; [`crate::advise`] takes it together with others.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    asked: Question,
    /// The command that switches the discipline on in front of this link; `None` where there is none.
    load: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Named {
    id: String,
    label: String,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Ways {
    down: Way,
    up: Way,
}

/// What the attacker got of the way down.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Attacker {
    goodput_mbps: f64,
    /// Of the link.
    share: f64,
    /// Of the link, were it shared evenly among the attacker and the users with a transfer without end or above 1 MB, what
    /// the others took being left to them.
    fair_share: f64,
}

/// What the transfers above 1 MB, and those without end, got together, be they over or not.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Long {
    flows: usize,
    down_mbps: f64,
    up_mbps: f64,
}

/// A row for each transfer that began.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Transfers {
    id: Vec<u32>,
    size_bytes: Vec<u64>,
    start_s: Vec<f64>,
    response_s: Vec<Option<f64>>,
    up: Vec<u8>,
    kind: Vec<usize>,
}

/// Who waits for whom at the queue of one way: mean time that a packet of a kind (row) waits while one of another
/// (column) is sent, s.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Waits"))]
struct Waiting {
    direction: &'static str,
    packets: Vec<u64>,
    seconds: Vec<Vec<f64>>,
    other_s: Vec<f64>,
}

/// What was counted at the queue of one way, and the link behind it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Way {
    utilisation: f64,
    throughput_mbps: f64,
    /// Share of the packets that came to the queue.
    loss: f64,
    marks: u64,
    queue_mean_packets: Option<f64>,
    delay_mean_s: Option<f64>,
}

/// The queue of the way down over time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Queue {
    time_s: Vec<f64>,
    packets: Vec<u64>,
    bytes: Vec<u64>,
}

fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

impl Ways {
    fn of(prepared: &Prepared, output: &Output) -> Ways {
        let (counters, network) = (&output.counters, &prepared.run.network);
        let seconds = counters.end.0.saturating_sub(counters.begin.0).max(1) as f64 * 1e-9;
        let bps = |bytes: u64| bytes as f64 * 8.0 / seconds;
        let (down, up) = (bps(counters.sent_bytes), bps(counters.reverse_sent_bytes));
        let up_rate = network.reverse_rate.unwrap_or(network.rate);
        Ways {
            down: Way {
                utilisation: down / network.rate.bps() as f64,
                throughput_mbps: down / 1e6,
                loss: share(counters.drops + counters.lost, counters.arrivals),
                marks: counters.marks,
                queue_mean_packets: known(counters.queue_mean_packets),
                delay_mean_s: known(counters.queue_delay.mean_s()),
            },
            up: Way {
                utilisation: up / up_rate.bps() as f64,
                throughput_mbps: up / 1e6,
                loss: share(counters.reverse_drops + counters.reverse_lost, counters.reverse_arrivals),
                marks: counters.reverse_marks,
                queue_mean_packets: known(counters.reverse_queue_mean_packets),
                delay_mean_s: known(counters.reverse_queue_delay.mean_s()),
            },
        }
    }
}

impl Queue {
    fn of(output: &Output) -> Queue {
        let samples = &output.samples;
        Queue {
            time_s: samples.iter().map(|sample| sample.time.as_secs_f64()).collect(),
            packets: samples.iter().map(|sample| sample.backlog_packets).collect(),
            bytes: samples.iter().map(|sample| sample.backlog_bytes).collect(),
        }
    }
}

/// Payload that a flow brought down and up, bytes: what a script brought back is a part of what was delivered.
fn both_ways(flow: &FlowSpec, record: &FlowRecord) -> [u64; 2] {
    let own = record.delivered_bytes - record.back_bytes;
    if flow.up { [record.back_bytes, own] } else { [own, record.back_bytes] }
}

impl Attacker {
    /// The attacker among `kinds`, by what its flows delivered and what everybody did.
    fn of(ran: &Ran<'_>, kinds: &[Kind]) -> Option<Attacker> {
        let seconds = ran.output.counters.end.as_secs_f64().max(1e-9);
        let capacity = ran.run.network.rate.bps() as f64;
        let bps = |bytes: u64| bytes as f64 * 8.0 / seconds;
        let (mut own, mut others) = (0, 0);
        let mut greedy: Vec<(u32, u32)> = Vec::new();
        for (row, record) in ran.output.records.iter().enumerate() {
            let flow = &ran.flows[row];
            let [down, up] = both_ways(flow, record);
            match kinds[row] {
                Kind::Attacker => own += down,
                Kind::Long if down > up => greedy.push((flow.src, flow.dst)),
                Kind::Long => {}
                _ => others += down,
            }
        }
        greedy.sort_unstable();
        greedy.dedup();
        let left = (capacity - bps(others)).max(0.0);
        kinds.contains(&Kind::Attacker).then(|| Attacker {
            goodput_mbps: bps(own) / 1e6,
            share: bps(own) / capacity,
            fair_share: left / capacity / (greedy.len() + 1) as f64,
        })
    }
}

impl Long {
    fn of(ran: &Ran<'_>, kinds: &[Kind]) -> Option<Long> {
        let seconds = ran.output.counters.end.as_secs_f64().max(1e-9);
        let (mut flows, mut down, mut up) = (0, 0, 0);
        for (row, record) in ran.output.records.iter().enumerate().filter(|(row, _)| kinds[*row] == Kind::Long) {
            flows += 1;
            let [own_down, own_up] = both_ways(&ran.flows[row], record);
            down += own_down;
            up += own_up;
        }
        let mbps = |bytes: u64| bytes as f64 * 8e-6 / seconds;
        (flows > 0).then(|| Long { flows, down_mbps: mbps(down), up_mbps: mbps(up) })
    }
}

impl Transfers {
    fn of(transfers: &[Transfer], kinds: &[Kind]) -> Transfers {
        let mut found = Transfers::default();
        for one in transfers {
            found.id.push(one.row);
            found.size_bytes.push(one.size_bytes);
            found.start_s.push(one.start_s);
            found.response_s.push(one.response_s);
            found.up.push(u8::from(one.up));
            found.kind.push(kinds[one.row as usize].place());
        }
        found
    }
}

impl Waiting {
    fn of(ran: &Ran<'_>, kinds: &[Kind], up: bool) -> Waiting {
        let waits = metrics::waits(ran, kinds, up);
        let direction = if up { "up" } else { "down" };
        Waiting { direction, seconds: waits.seconds(), other_s: waits.other_s(), packets: waits.packets }
    }
}

impl<'a> Outcome<'a> {
    /// # Errors
    /// What is known of the flows does not fit them, or a ping alone cannot be run.
    pub(crate) fn of(request: &'a Request, prepared: &Prepared, output: &Output) -> Result<Outcome<'a>, ExploreError> {
        let ran = Ran { run: &prepared.run, flows: &prepared.flows, output, facts: &prepared.facts };
        let kinds = metrics::kinds(&ran, prepared.attackers.as_slice())?;
        let idle = prepared.alone.map(|ping| metrics::idle_rtt(&prepared.run, &ping)).transpose()?.flatten();
        let transfers = metrics::transfers(&ran);
        let while_busy = request.as_loaded.and_then(|loaded| loaded.while_busy);
        let figures = metrics::figures(&ran, idle, Rule { while_busy, ..Rule::default() })?;
        let asked = crate::advice::question(request, prepared, &ran, &figures)?;
        Ok(Outcome {
            workload: &request.workload,
            discipline: Named { id: request.discipline.id.clone(), label: request.discipline.label() },
            figures,
            attacker: Attacker::of(&ran, &kinds),
            long: Long::of(&ran, &kinds),
            link: Ways::of(prepared, output),
            kinds: Kind::ALL.map(Kind::word),
            transfers: Transfers::of(&transfers, &kinds),
            queue: Queue::of(output),
            mechanisms: metrics::mechanisms(&ran, &kinds)?,
            model: expected(&request.discipline, &ran, &transfers),
            waits: request.inside.map(|_| [false, true].map(|up| Waiting::of(&ran, &kinds, up))),
            inside: request.inside.map(|inside| Packets::of(inside, prepared, &kinds, output)),
            load: metrics::load(&asked),
            asked,
        })
    }
}
