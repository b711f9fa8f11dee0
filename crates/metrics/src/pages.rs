//! Load times of pages.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use units::Time;

use crate::context::CaptureFacts;
use crate::run_view::{Ran, known};
use crate::sizes::LONG_BYTES;
use crate::times::Times;

/// Connections of one client belong to one page when each starts within this of the one before it, seconds (Mah 1997, 2;
/// Barford and Crovella 1998, "active off").
const GAP_S: f64 = 1.0;
/// From the first start of a page to its last at most, seconds: how long Puppeteer and Playwright wait for a page.
const LONGEST_S: f64 = 30.0;
/// Of so many connections on it shows whether a client opens them in parallel: it takes the first, and the others then.
const LEAST_OF_SERIES: usize = 3;
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
    /// Groups of connections of a capture that are none, as their client opened one after the other, or over more than 30 s.
    pub series: u64,
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
    /// Of several runs; `None` without any page or series.
    pub(crate) fn of<'a>(found: impl Iterator<Item = &'a Found> + Clone) -> Option<Pages> {
        let series = found.clone().map(|run| run.series).sum();
        let times = Times::of(found.flat_map(|run| &run.loads).copied());
        let Times { flows: pages, unfinished, p50_s, p95_s, p99_s, p50_ci95, p95_ci95 } = times;
        (pages > 0 || series > 0).then_some(Pages {
            pages,
            unfinished,
            series,
            p50_s,
            p95_s,
            p99_s,
            p50_ci95,
            p95_ci95,
        })
    }
}

/// What was found in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// Load times, seconds; `None` of a page that did not finish.
    pub loads: Vec<Option<f64>>,
    /// See [`Pages::series`].
    pub series: u64,
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
pub(crate) fn of_run(ran: &Ran<'_>) -> Found {
    match &ran.facts.capture {
        // Of a capture stages are users who wait, not pages.
        Some(capture) => captured(ran, capture),
        None => Found { loads: staged(ran), series: 0 },
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
    /// In the capture, s.
    begun_s: f64,
    /// How long it lasts there, s; `None` where that is not known.
    lasted_s: Option<f64>,
    start: Time,
    id: i64,
    connection: u32,
    finish: Time,
    fetched: i64,
    sent: i64,
}

/// Connections of one client that start soon after each other, and bring it more than they take.
fn captured(ran: &Ran<'_>, capture: &CaptureFacts) -> Found {
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
            let start = ran.start(row);
            Part {
                client: capture.clients[row - before],
                begun_s: capture.begun_s.get(row - before).copied().unwrap_or(start.as_secs_f64()),
                lasted_s: capture.lasted_s.get(row - before).copied().flatten(),
                start,
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

/// The pages that these parts make. Which parts make one depends on the capture alone, not on what the run made of them.
fn in_pages(mut parts: Vec<Part>) -> Found {
    parts.sort_by(|one, two| {
        one.client.cmp(&two.client).then(one.begun_s.total_cmp(&two.begun_s)).then(one.id.cmp(&two.id))
    });
    let apart = |one: &Part, next: &Part| one.client != next.client || next.begun_s - one.begun_s > GAP_S;
    let mut found = Found::default();
    for group in parts.chunk_by(|one, next| !apart(one, next)).filter(|group| fetches(group)) {
        let spans = spans(group);
        if is_series(&spans) {
            found.series += 1;
        } else if CONNECTIONS.contains(&spans.len()) {
            let mut load = Load::NONE;
            group.iter().for_each(|part| load.add(part.start, part.finish));
            found.loads.push(load.load_s());
        }
    }
    found
}

/// Whether a client fetches so much as with a page, and more than it sends.
fn fetches(group: &[Part]) -> bool {
    let connections = group.iter().map(|part| part.connection).collect::<BTreeSet<_>>().len();
    let (fetched, sent) = group.iter().fold((0, 0), |(fetched, sent), part| (fetched + part.fetched, sent + part.sent));
    connections > 1 && fetched >= sent.max(LEAST_BYTES).max(LEAST_PART_BYTES * connections as i64)
}

/// When each connection of a group begins and ends in the capture, s, by its begin; the end is not a number where it is not
/// known.
fn spans(group: &[Part]) -> Vec<[f64; 2]> {
    let mut found: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for part in group {
        let ends_s = part.lasted_s.map_or(f64::NAN, |lasted_s| part.begun_s + lasted_s);
        let own = found.entry(part.connection).or_insert([part.begun_s, ends_s]);
        *own = [own[0].min(part.begun_s), own[1].max(ends_s)];
    }
    let mut spans: Vec<[f64; 2]> = found.into_values().collect();
    spans.sort_by(|one, two| one[0].total_cmp(&two[0]));
    spans
}

/// Whether connections are fetched one after the other, or for longer than anybody waits for a page.
///
/// A browser takes the document, and then its parts in parallel (RFC 9112, 9.4): of `n` connections `n - 2` at least start
/// while another one is under way, which is half of those after the first or more. What updates, polls or copies file by file
/// waits for the end of each.
fn is_series(spans: &[[f64; 2]]) -> bool {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return false };
    if last[0] - first[0] > LONGEST_S {
        return true;
    }
    if spans.len() < LEAST_OF_SERIES || spans.iter().any(|span| span[1].is_nan()) {
        return false;
    }
    let (mut until_s, mut in_parallel) = (first[1], 0);
    for span in &spans[1..] {
        in_parallel += usize::from(span[0] < until_s);
        until_s = until_s.max(span[1]);
    }
    2 * in_parallel < spans.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(connection: u32, start_ms: u64, finish_ms: Option<u64>, fetched: i64) -> Part {
        let finish = finish_ms.map_or(Time::NEVER, Time::from_millis);
        let (begun_s, start) = (start_ms as f64 / 1e3, Time::from_millis(start_ms));
        Part { client: 1, begun_s, lasted_s: None, start, id: 0, connection, finish, fetched, sent: 500 }
    }

    fn page(parts: impl IntoIterator<Item = Part>) -> Option<Option<f64>> {
        in_pages(parts.into_iter().collect()).loads.first().copied()
    }

    #[test]
    fn a_page_lasts_from_the_first_start_to_the_last_end() {
        assert_eq!(page([part(1, 0, Some(900), 8_000), part(2, 500, Some(700), 8_000)]), Some(Some(0.9)));
        assert_eq!(page([part(1, 0, Some(900), 8_000), part(2, 500, None, 8_000)]), Some(None));
    }

    #[test]
    fn one_connection_a_scan_and_mail_are_no_pages() {
        assert_eq!(page([part(1, 0, Some(900), 80_000), part(1, 0, Some(900), 80_000)]), None);
        assert_eq!(page((0..90).map(|n| part(n, 0, Some(900), 999))), None);
        let mut mail = [part(1, 0, Some(900), 20_000), part(2, 0, Some(900), 20_000)];
        mail[0].sent = 50_000;
        assert_eq!(page(mail), None);
        assert_eq!(page((0..101).map(|n| part(n, 0, Some(900), 9_999))), None);
    }

    #[test]
    fn of_one_page_are_connections_of_one_client_that_start_within_a_second() {
        let near = |start_ms| part(start_ms as u32, start_ms, Some(start_ms + 1000), 6_000);
        let parts = || vec![near(1500), near(0), near(750), near(3000)];
        // From 0 to 2.5 s; the connection at 3 s is alone.
        assert_eq!(in_pages(parts()).loads, [Some(2.5)]);
        let mut others = parts();
        others[1].client = 2;
        // Two of the client are left, from 0.75 s on.
        assert_eq!(in_pages(others).loads, [Some(1.75)]);
    }

    /// Connections of 20 kB that begin at these times of the capture and last so long there, s.
    fn lasting(connections: impl IntoIterator<Item = (f64, f64)>) -> Vec<Part> {
        let part = |(at, (begun_s, lasted_s)): (usize, (f64, f64))| {
            let own = part(at as u32, (1e3 * begun_s) as u64, Some((1e3 * (begun_s + lasted_s)) as u64), 20_000);
            Part { begun_s, lasted_s: Some(lasted_s), ..own }
        };
        connections.into_iter().enumerate().map(part).collect()
    }

    #[test]
    fn what_a_client_fetches_one_after_the_other_is_no_page() {
        // An updater: each object from a new connection, a tenth of a second after the last one.
        let found = in_pages(lasting((0..90).map(|n| (0.6 * f64::from(n), 0.5))));
        assert_eq!((found.loads, found.series), (vec![], 1));
        // The document, and its parts in parallel.
        let page = [(0.0, 0.2), (0.3, 0.4), (0.35, 0.4), (0.4, 0.2)];
        let found = in_pages(lasting(page));
        assert_eq!((found.loads.len(), found.series), (1, 0));
        // Of two nothing can be known, and nothing of an unknown length.
        assert_eq!(in_pages(lasting([(0.0, 0.2), (0.3, 0.4)])).loads.len(), 1);
        let unknown = lasting((0..9).map(|n| (0.6 * f64::from(n), 0.5)));
        let unknown = unknown.into_iter().map(|part| Part { lasted_s: None, ..part }).collect();
        assert_eq!(in_pages(unknown).loads.len(), 1);
    }

    #[test]
    fn nobody_waits_half_a_minute_for_the_last_part_of_a_page() {
        let every = |count: u32| lasting((0..count).map(|n| (0.9 * f64::from(n), 2.0)));
        assert_eq!((in_pages(every(34)).loads.len(), in_pages(every(34)).series), (1, 0));
        assert_eq!((in_pages(every(35)).loads.len(), in_pages(every(35)).series), (0, 1));
    }

    #[test]
    fn the_capture_decides_which_connections_make_a_page_and_the_run_how_long_it_takes() {
        let mut parts = lasting([(0.0, 0.2), (0.3, 0.4), (0.35, 0.4)]);
        // A slow link: the users' next connections begin later.
        for (part, [start_ms, finish_ms]) in parts.iter_mut().zip([[0, 4_000], [4_100, 9_000], [4_150, 8_000]]) {
            (part.start, part.finish) = (Time::from_millis(start_ms), Time::from_millis(finish_ms));
        }
        assert_eq!(in_pages(parts).loads, [Some(9.0)]);
    }

    #[test]
    fn series_are_counted_where_there_is_no_page() {
        let series = Found { loads: vec![], series: 2 };
        let found = Pages::of([&series, &series].into_iter()).expect("four series");
        assert_eq!((found.pages, found.series, found.p95_s), (0, 4, None));
        assert_eq!(Pages::of([&Found::default()].into_iter()), None);
    }
}
