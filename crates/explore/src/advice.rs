//! A run as the rule of the recommendation is asked.

use metrics::{Buffer, Figures, LinkWay, Links, LoadedRow, Question, Queue, Queues, Ran, Row, Udp, Unit, Users};
use qdisc::Limit;

use crate::error::ExploreError;
use crate::request::Request;
use crate::workload::Prepared;

/// # Errors
/// Figures that are none of a summary.
pub(crate) fn question(
    request: &Request,
    prepared: &Prepared,
    ran: &Ran<'_>,
    figures: &Figures,
) -> Result<Question, ExploreError> {
    let network = &prepared.run.network;
    let span_s = prepared.of.span_s;
    let [down, up] = metrics::offered_bytes(ran, prepared.of.offering);
    let way = |rate_bps: u64, limit: Limit, bytes: u64| LinkWay {
        rate_bps: rate_bps as f64,
        buffer: buffer(limit),
        load: (span_s > 0.0).then(|| bytes as f64 * 8.0 / span_s / rate_bps as f64),
        varies: false,
        shaped_bps: None,
    };
    let rate = network.rate.bps();
    let reverse_rate = network.reverse_rate.map_or(rate, |rate| rate.bps());
    let row = row(request, ran, figures)?;
    let (disciplines, loaded) = match request.as_loaded {
        Some(_) => (Vec::new(), vec![LoadedRow::from(row)]),
        None => (vec![row], Vec::new()),
    };
    Ok(Question {
        loaded,
        command: prepared.of.command.to_owned(),
        links: Some(Links { down: way(rate, network.limit, down), up: way(reverse_rate, network.reverse_limit, up) }),
        hours: 0,
        replications: 1,
        guessed: false,
        unknown: prepared.of.unknown.clone(),
        framing: prepared.of.framing,
        disciplines,
    })
}

fn buffer(limit: Limit) -> Buffer {
    match limit {
        Limit::Packets(packets) => (packets.into(), Unit::Packets),
        Limit::Bytes(bytes) => (bytes, Unit::Bytes),
    }
}

fn row(request: &Request, ran: &Ran<'_>, figures: &Figures) -> Result<Row, ExploreError> {
    let (id, options) = request.discipline.native()?;
    let fault = |error: serde_json::Error| ExploreError(error.to_string());
    // By the names of the summary, which are those of the rule.
    let users: Users = serde_json::from_value(serde_json::to_value(figures).map_err(fault)?).map_err(fault)?;
    let counts = metrics::Counts::of(ran);
    let (mut datagrams, mut lost) = (0, 0);
    for (flow, record) in ran.flows.iter().zip(&ran.output.records).skip(ran.facts.probes.len()) {
        if flow.udp.is_some() {
            datagrams += record.packets_sent;
            lost += record.drops + record.lost;
        }
    }
    Ok(Row {
        id,
        label: request.discipline.label(),
        options: options.into_iter().collect(),
        flows_completed: Some(counts.flows_completed),
        flows_unfinished: Some(counts.flows_unfinished),
        flows_endless: Some(counts.flows_endless),
        users: Some(users),
        links: Some(queues(ran)),
        udp: Some(Udp { loss: (datagrams > 0).then(|| lost as f64 / datagrams as f64) }),
        in_kernel: true,
        ..Row::default()
    })
}

fn queues(ran: &Ran<'_>) -> Queues {
    let (counters, network) = (&ran.output.counters, &ran.run.network);
    let seconds = counters.end.0.saturating_sub(counters.begin.0).max(1) as f64 * 1e-9;
    let queue = |sent_bytes: u64, rate_bps: u64, peak: f64, drops: u64| {
        Some(Queue {
            utilisation: Some(sent_bytes as f64 * 8.0 / seconds / rate_bps as f64),
            peak_utilisation: Some(peak).filter(|peak| peak.is_finite()),
            drops: Some(drops),
        })
    };
    let rate = network.rate.bps();
    let reverse_rate = network.reverse_rate.map_or(rate, |rate| rate.bps());
    Queues {
        down: queue(counters.sent_bytes, rate, counters.peak_utilisation, counters.drops),
        up: queue(counters.reverse_sent_bytes, reverse_rate, counters.reverse_peak_utilisation, counters.reverse_drops),
    }
}
