//! Load times of pages.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use units::Time;

use crate::context::CaptureFacts;
use crate::run_view::{Ran, known};
use crate::sizes::LONG_BYTES;
use crate::times::Times;

/// Connections of one client belong to one page when each starts within this of the one before it, seconds.
const GAP_S: f64 = 1.0;
/// Least bytes that a client fetches in a page: a window of ten packets, what one round trip brings (RFC 6928).
const LEAST_BYTES: i64 = 10_000;
/// Least mean of the bytes fetched over a connection of a page; answers to a scan are shorter.
const LEAST_PART_BYTES: i64 = 1_000;
/// Connections of a page; a client that opens more in a row, as a scanner does, loads none.
const CONNECTIONS: std::ops::RangeInclusive<usize> = 2..=100;

/// Load times of pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Pages {
    /// How many.
    pub pages: u64,
    /// Of these, those of which a flow did not finish.
    pub unfinished: u64,
    /// Median, seconds.
    pub p50_s: Option<f64>,
    /// 95 of 100 take at most this, seconds.
    pub p95_s: Option<f64>,
    /// 99 of 100 take at most this, seconds.
    pub p99_s: Option<f64>,
    /// 95 % interval of the median, seconds.
    pub p50_ci95: Option<[f64; 2]>,
    /// 95 % interval of the 95th percentile, seconds.
    pub p95_ci95: Option<[f64; 2]>,
}

impl Pages {
    /// Of these load times, seconds, `None` of a page that did not finish; `None` without any.
    pub(crate) fn of(loads: impl Iterator<Item = Option<f64>>) -> Option<Pages> {
        Times::of_some(loads).map(|times| {
            let Times { flows: pages, unfinished, p50_s, p95_s, p99_s, p50_ci95, p95_ci95 } = times;
            Pages { pages, unfinished, p50_s, p95_s, p99_s, p50_ci95, p95_ci95 }
        })
    }
}

/// From the first start to the last finish of some flows.
#[derive(Clone, Copy, Debug)]
struct Load {
    first_s: f64,
    last_s: f64,
    whole: bool,
}

impl Load {
    const NONE: Load = Load { first_s: f64::INFINITY, last_s: 0.0, whole: true };

    fn add(&mut self, start: Time, finish: Time) {
        self.first_s = self.first_s.min(start.as_secs_f64());
        match known(finish) {
            Some(finish_s) => self.last_s = self.last_s.max(finish_s),
            None => self.whole = false,
        }
    }

    fn load_s(&self) -> Option<f64> {
        self.whole.then_some(self.last_s - self.first_s)
    }
}

/// Load times of the pages found in a capture, else of those of the sources that make pages.
pub(crate) fn of_run(ran: &Ran<'_>) -> Vec<Option<f64>> {
    match &ran.facts.capture {
        // Of a capture stages are users who wait, not pages.
        Some(capture) => captured(ran, capture),
        None => staged(ran),
    }
}

/// Each stage of a group with flows down is a page.
fn staged(ran: &Ran<'_>) -> Vec<Option<f64>> {
    let before = ran.facts.before();
    let mut loads: BTreeMap<(u32, u32), Load> = BTreeMap::new();
    for (row, flow) in ran.begun().filter(|(_, flow)| !flow.up) {
        if let Some(stage) = ran.facts.stage(row - before, flow) {
            let load = loads.entry((ran.facts.group(row - before), stage)).or_insert(Load::NONE);
            load.add(ran.start(row), ran.output.records[row].finish);
        }
    }
    loads.values().map(Load::load_s).collect()
}

/// A flow that may be part of a page of a capture.
struct Part {
    client: u32,
    start: Time,
    id: i64,
    connection: u32,
    finish: Time,
    fetched: i64,
    sent: i64,
}

/// Connections of one client that start soon after each other, and bring it more than they take.
fn captured(ran: &Ran<'_>, capture: &CaptureFacts) -> Vec<Option<f64>> {
    let before = ran.facts.before();
    let waits_long = |flow: &netsim::FlowSpec| {
        let longest = ran.script(flow).and_then(|trains| trains.iter().map(|train| train.wait).max());
        longest.is_some_and(|wait| wait.0 as f64 >= 1e9 * GAP_S)
    };
    let web = ran.begun().filter(|(_, flow)| flow.udp.is_none() && flow.size_bytes <= LONG_BYTES && !waits_long(flow));
    let parts = web
        .map(|(row, flow)| {
            let record = &ran.output.records[row];
            // A script is both directions of its connection.
            let back = if flow.script.is_some() { record.back_bytes as i64 } else { 0 };
            let own = flow.size_bytes as i64 - back;
            let (fetched, sent) = if flow.receiver_opens { (own, back) } else { (back, own) };
            Part {
                client: capture.clients[row - before],
                start: ran.start(row),
                id: ran.facts.id(row - before),
                connection: capture.connections[row - before],
                finish: record.finish,
                fetched,
                sent,
            }
        })
        .collect();
    in_pages(parts)
}

/// Load times of the pages that these parts make.
fn in_pages(mut parts: Vec<Part>) -> Vec<Option<f64>> {
    parts.sort_by_key(|part| (part.client, part.start, part.id));
    let apart = |one: &Part, next: &Part| {
        one.client != next.client || next.start.as_secs_f64() - one.start.as_secs_f64() > GAP_S
    };
    parts.chunk_by(|one, next| !apart(one, next)).filter_map(page).collect()
}

/// Load time of a page of these parts; `None` when they are none.
fn page(parts: &[Part]) -> Option<Option<f64>> {
    let connections = parts.iter().map(|part| part.connection).collect::<BTreeSet<_>>().len();
    let (fetched, sent) = parts.iter().fold((0, 0), |(fetched, sent), part| (fetched + part.fetched, sent + part.sent));
    let least = sent.max(LEAST_BYTES).max(LEAST_PART_BYTES * connections as i64);
    let mut load = Load::NONE;
    parts.iter().for_each(|part| load.add(part.start, part.finish));
    (CONNECTIONS.contains(&connections) && fetched >= least).then(|| load.load_s())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(connection: u32, start_ms: u64, finish_ms: Option<u64>, fetched: i64) -> Part {
        let finish = finish_ms.map_or(Time::NEVER, Time::from_millis);
        Part { client: 1, start: Time::from_millis(start_ms), id: 0, connection, finish, fetched, sent: 500 }
    }

    #[test]
    fn a_page_lasts_from_the_first_start_to_the_last_end() {
        let parts = [part(1, 0, Some(900), 8_000), part(2, 500, Some(700), 8_000)];
        assert_eq!(page(&parts), Some(Some(0.9)));
        assert_eq!(page(&[part(1, 0, Some(900), 8_000), part(2, 500, None, 8_000)]), Some(None));
    }

    #[test]
    fn one_connection_a_scan_and_mail_are_no_pages() {
        assert_eq!(page(&[part(1, 0, Some(900), 80_000), part(1, 0, Some(900), 80_000)]), None);
        let scan: Vec<Part> = (0..90).map(|n| part(n, 0, Some(900), 999)).collect();
        assert_eq!(page(&scan), None);
        let mut mail = [part(1, 0, Some(900), 20_000), part(2, 0, Some(900), 20_000)];
        mail[0].sent = 50_000;
        assert_eq!(page(&mail), None);
        let many: Vec<Part> = (0..101).map(|n| part(n, 0, Some(900), 9_999)).collect();
        assert_eq!(page(&many), None);
    }

    #[test]
    fn of_one_page_are_connections_of_one_client_that_start_within_a_second() {
        let near = |start_ms| part(start_ms as u32, start_ms, Some(start_ms + 1000), 6_000);
        let parts = || vec![near(1500), near(0), near(750), near(3000)];
        // From 0 to 2.5 s; the connection at 3 s is alone.
        assert_eq!(in_pages(parts()), [Some(2.5)]);
        let mut others = parts();
        others[1].client = 2;
        // Two of the client are left, from 0.75 s on.
        assert_eq!(in_pages(others), [Some(1.75)]);
    }
}
