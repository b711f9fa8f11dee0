//! What came of a run.

use netsim::Output;
use serde::Serialize;

use crate::inside::Packets;
use crate::request::Request;
use crate::workload::{Kind, Prepared};

/// What the page shows.
#[derive(Serialize)]
pub(crate) struct Outcome<'a> {
    workload: &'a str,
    discipline: Named,
    figures: Option<()>,
    attacker: Option<()>,
    link: Ways,
    kinds: [&'static str; Kind::ALL.len()],
    queue: Queue,
    inside: Option<Packets>,
}

#[derive(Serialize)]
struct Named {
    id: String,
    label: String,
}

#[derive(Serialize)]
struct Ways {
    down: Way,
    up: Way,
}

/// What was counted at the queue of one way, and the link behind it.
#[derive(Serialize)]
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

impl<'a> Outcome<'a> {
    pub(crate) fn of(request: &'a Request, prepared: &Prepared, output: &Output) -> Outcome<'a> {
        Outcome {
            workload: &request.workload,
            discipline: Named { id: request.discipline.id.clone(), label: request.discipline.label() },
            figures: None,
            attacker: None,
            link: Ways::of(prepared, output),
            kinds: Kind::ALL.map(Kind::name),
            queue: Queue::of(output),
            inside: request.inside.map(|inside| Packets::of(inside, prepared, output)),
        }
    }
}
