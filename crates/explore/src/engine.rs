//! The engine: what both back ends of the page offer.

use std::collections::BTreeMap;

use account::Accounted;
use netsim::Control;
use qdisc::Limit;
use replay::Rates;
use serde::Serialize;

use crate::captured::Captured;
use crate::error::ExploreError;
use crate::outcome::Outcome;
use crate::request::{LinkRequest, Request};
use crate::workload::{Prepared, Preset};

/// Workloads at hand, and runs of them.
#[derive(Default)]
pub struct Engine {
    workloads: BTreeMap<String, Workload>,
}

/// What flows come from.
enum Workload {
    Preset(Box<Preset>),
    Captured(Box<Captured>),
}

impl Workload {
    fn prepare(&self, request: &Request) -> Result<Prepared, ExploreError> {
        match self {
            Workload::Preset(preset) => preset.prepare(request),
            Workload::Captured(captured) => captured.prepare(request),
        }
    }
}

/// What a workload is.
#[derive(Serialize)]
struct Info<'a> {
    name: &'a str,
    title: &'a str,
    kind: &'static str,
    flows: usize,
    span_s: f64,
    rtt_median_s: Option<f64>,
    /// Of the round-trip time, what no slider changes.
    fixed_rtt_s: f64,
    link: LinkRequest,
    notes: Vec<String>,
    groups: Vec<&'a str>,
    /// Of a capture: how much of it was seen, used, and left out by reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    account: Vec<Accounted>,
}

/// Buffer with which a capture is shown first: that of a home router or a switch.
const BUFFER: Limit = Limit::Packets(300);

fn text(value: &impl Serialize) -> Result<String, ExploreError> {
    serde_json::to_string(value).map_err(|error| ExploreError(error.to_string()))
}

impl Engine {
    /// An engine that knows no workload.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Takes a workload document, in place of one of the same name; returns what it is, JSON.
    ///
    /// # Errors
    /// A document that makes no run.
    pub fn load(&mut self, document: &str) -> Result<String, ExploreError> {
        let preset = Preset::of(document)?;
        let info = text(&Info::of(&preset))?;
        self.workloads.insert(preset.name.clone(), Workload::Preset(Box::new(preset)));
        Ok(info)
    }

    /// Takes a capture (pcap or pcapng, plain, gzip, Zstandard or LZ4), in place of a workload of the same name; `options` is
    /// JSON with `internal`, networks on the near side or null, and `template`, the document of the scenario around
    /// captures. Returns what it is, JSON.
    ///
    /// # Errors
    /// No capture, one without anything to replay, one that is too large.
    pub fn open(&mut self, name: &str, capture: &[u8], options: &str) -> Result<String, ExploreError> {
        let captured = Captured::open(name, capture, options)?;
        let info = text(&Info::of_capture(&captured)?)?;
        self.workloads.insert(name.to_owned(), Workload::Captured(Box::new(captured)));
        Ok(info)
    }

    /// Runs what is asked for, JSON; returns what came of it, JSON.
    ///
    /// # Errors
    /// A request that makes no run, with the value and its bound, or a workload that is not at hand.
    pub fn run(&self, request: &str) -> Result<String, ExploreError> {
        let request: Request = settings::read(request)?;
        request.check()?;
        let name = &request.workload;
        let workload = self.workloads.get(name);
        let workload =
            workload.ok_or_else(|| ExploreError(format!("workload = {name}: must be loaded or opened first")))?;
        let mut prepared = workload.prepare(&request)?;
        let control = Control::default();
        let output = if request.inside.is_some() {
            crate::inside::trace_all(&mut prepared);
            netsim::run_both_ways(&prepared.run, &prepared.flows, &control)?
        } else {
            netsim::run(&prepared.run, &prepared.flows, &control)?
        };
        text(&Outcome::of(&request, &prepared, &output)?)
    }
}

/// What runs over the same link come to, by the rule that the commands have too ([`metrics::recommendation`]):
/// `questions` is a list of the key `asked` of their outcomes, JSON. Returns the recommendation, JSON; `null` where there
/// is none.
///
/// # Errors
/// No such list.
pub fn advise(questions: &str) -> Result<String, ExploreError> {
    let mut asked = settings::read::<Vec<metrics::Question>>(questions)?.into_iter();
    let Some(mut first) = asked.next() else { return Ok("null".to_owned()) };
    for one in asked {
        first.disciplines.extend(one.disciplines);
        first.loaded.extend(one.loaded);
    }
    text(&metrics::recommendation(&first))
}

impl<'a> Info<'a> {
    fn of(preset: &'a Preset) -> Info<'a> {
        let (network, flows) = (&preset.run.network, &preset.drawn.list.flows);
        let [rtt_s, fixed_rtt_s] = preset.rtt_s();
        let last = flows.iter().filter(|flow| flow.after.is_none()).map(|flow| flow.start).max();
        let reverse_buffer = Some(network.reverse_limit).filter(|&limit| limit != network.limit);
        Info {
            name: &preset.name,
            title: &preset.title,
            kind: "preset",
            flows: flows.len() - preset.drawn.probes.len(),
            span_s: last.unwrap_or_default().as_secs_f64().max(preset.run.duration.as_secs_f64()),
            rtt_median_s: Some(rtt_s),
            fixed_rtt_s,
            link: LinkRequest {
                rate_bps: network.rate.bps(),
                reverse_rate_bps: network.reverse_rate.map(|rate| rate.bps()),
                buffer: network.limit,
                reverse_buffer,
                rtt_s: None,
            },
            notes: Vec::new(),
            groups: preset.groups.iter().filter_map(|group| group.as_deref()).collect(),
            account: Vec::new(),
        }
    }

    fn of_capture(captured: &'a Captured) -> Result<Info<'a>, ExploreError> {
        let [down, up] = captured.rates();
        let list = captured.replay.list(Rates { down: down as f64, up: up as f64 }, None)?;
        let partial: Vec<String> = captured.replay.partial().map(str::to_owned).into_iter().collect();
        Ok(Info {
            name: &captured.name,
            title: &captured.name,
            kind: "capture",
            flows: list.flows.len(),
            span_s: list.span_s,
            rtt_median_s: list.rtt_s,
            fixed_rtt_s: 0.0,
            link: LinkRequest {
                rate_bps: down,
                reverse_rate_bps: Some(up).filter(|&up| up != down),
                buffer: BUFFER,
                reverse_buffer: None,
                rtt_s: None,
            },
            notes: [
                partial.as_slice(),
                captured.filtered.as_slice(),
                captured.replay.missing(),
                &list.missing,
                captured.replay.doubts(),
            ]
            .concat(),
            groups: Vec::new(),
            account: vec![captured.account(&list)],
        })
    }
}
