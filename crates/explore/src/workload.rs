//! Workloads: a preset, whose flows are drawn, or a capture, whose flows follow from what the link is.

use metrics::{CaptureFacts, Facts, ProbeName};
use netsim::{FlowSpec, Run};
use settings::{FlowList, Settings};
use units::{BitRate, Time};

use crate::ExploreError;
use crate::attack;
use crate::document::Document;
use crate::request::{LinkRequest, Request};

/// The flows of a run and what is known of each.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Probes first.
    pub list: FlowList,
    /// What the probes measure.
    pub probes: Vec<ProbeName>,
    /// Of each flow, whether it is an attacker's.
    pub attackers: Vec<bool>,
    /// Of a capture.
    pub capture: Option<CaptureFacts>,
}

impl Drawn {
    pub(crate) fn of(list: FlowList, probes: Vec<ProbeName>, capture: Option<CaptureFacts>) -> Drawn {
        let attackers = vec![false; list.flows.len()];
        Drawn { list, probes, attackers, capture }
    }

    /// Adds flows that have no script and no bursts, in order of their starts, behind those that start as early.
    pub(crate) fn insert(&mut self, added: Vec<FlowSpec>) {
        let list = &mut self.list;
        let count = list.flows.len();
        // New place of each flow that was there, and how many were added before it.
        let (mut places, mut flows, mut attackers) = (Vec::with_capacity(count), Vec::new(), Vec::new());
        let mut waiting = added.into_iter().peekable();
        for (row, flow) in list.flows.iter().enumerate() {
            let fixed = row >= self.probes.len() && flow.after.is_none();
            while fixed && waiting.peek().is_some_and(|one| one.start < flow.start) {
                flows.extend(waiting.next());
                attackers.push(true);
            }
            places.push(flows.len());
            flows.push(*flow);
            attackers.push(self.attackers[row]);
        }
        flows.extend(waiting);
        attackers.resize(flows.len(), true);
        if !list.classes.is_empty() {
            // The class behind all others is that of the attacker.
            let class = list.classes.iter().max().map_or(0, |most| most + 1);
            let mut classes = vec![class; flows.len()];
            places.iter().zip(&list.classes).for_each(|(&place, &class)| classes[place] = class);
            list.classes = classes;
        }
        let mut nonresponsive: Vec<bool> = flows.iter().map(|flow| flow.udp.is_some()).collect();
        places.iter().zip(&list.nonresponsive).for_each(|(&place, &one)| nonresponsive[place] = one);
        list.nonresponsive = nonresponsive;
        for (flow, _) in &mut list.bursts.of {
            *flow = places[*flow as usize] as u32;
        }
        if let Some(capture) = &mut self.capture {
            insert_strangers(capture, &places[self.probes.len()..], self.probes.len(), flows.len());
        }
        list.flows = flows;
        self.attackers = attackers;
    }
}

/// Flows that no capture has, beside those that one has: each a connection and a client of its own.
fn insert_strangers(capture: &mut CaptureFacts, places: &[usize], before: usize, flows: usize) {
    let strangers = |known: &[u32]| {
        let first = known.iter().max().map_or(0, |most| most + 1);
        let mut found: Vec<u32> = (0..(flows - before) as u32).map(|row| first + row).collect();
        places.iter().zip(known).for_each(|(&place, &one)| found[place - before] = one);
        found
    };
    capture.clients = strangers(&capture.clients);
    capture.connections = strangers(&capture.connections);
    for row in &mut capture.calls {
        *row = (places[*row as usize] - before) as u32;
    }
}

/// A run that is ready.
pub struct Prepared {
    /// With everything but its flows.
    pub run: Run,
    /// Of the run.
    pub flows: Vec<FlowSpec>,
    /// What the run does not know of them.
    pub facts: Facts,
    /// Group of the attacker, in the facts.
    pub attackers: Option<u32>,
    /// A ping alone.
    pub alone: Option<FlowSpec>,
}

/// A preset.
pub struct Preset {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) run: Run,
    pub(crate) drawn: Drawn,
    pub(crate) reverse_same: bool,
    pub(crate) groups: Vec<Option<String>>,
    pub(crate) alone: Option<FlowSpec>,
}

impl Preset {
    /// The preset of a document.
    ///
    /// # Errors
    /// A document that makes no run.
    pub fn of(document: &str) -> Result<Preset, ExploreError> {
        let document: Document = settings::read(document)?;
        let run = settings::read::<Settings>(document.settings.get())?.into_run()?;
        if run.graph.is_some() || run.wlan.is_some() || run.tree.is_some() {
            return Err(ExploreError(format!("{}: must be a single link", document.name)));
        }
        let drawn = Drawn::of(document.flows.list()?, document.probes, None);
        let alone = document.alone.map(|alone| alone.list()).transpose()?.and_then(|list| list.flows.first().copied());
        let reverse_same = document.reverse_discipline == "same";
        let groups = document.groups;
        Ok(Preset { name: document.name, title: document.title, run, drawn, reverse_same, groups, alone })
    }

    /// Round-trip time of flows that have none of their own, and the part of it that no slider changes, s.
    pub fn rtt_s(&self) -> [f64; 2] {
        let network = &self.run.network;
        let ends = network.access_delay.0 + network.exit_delay.0;
        let back = network.reverse_delay.unwrap_or(network.delay).0;
        [2 * ends + network.delay.0 + back, 2 * ends].map(|ns| Time(ns).as_secs_f64())
    }

    /// The run that is asked for.
    ///
    /// # Errors
    /// A value out of its bounds.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, ExploreError> {
        let mut run = self.run.clone();
        let mut drawn = self.drawn.clone();
        if let Some(rtt_s) = request.link.rtt_s {
            self.set_rtt(&mut run, &mut drawn, rtt_s)?;
        }
        let alone =
            self.alone.map(|alone| FlowSpec { rtt: drawn.list.flows.first().and_then(|ping| ping.rtt), ..alone });
        prepared(run, drawn, alone, request, self.reverse_same)
    }

    fn set_rtt(&self, run: &mut Run, drawn: &mut Drawn, rtt_s: f64) -> Result<(), ExploreError> {
        let [own_s, fixed_s] = self.rtt_s();
        if rtt_s < fixed_s {
            return Err(ExploreError(format!("link.rtt_s = {rtt_s}: must be at least {fixed_s}, that of the access")));
        }
        run.network.delay = nanoseconds((rtt_s - fixed_s) / 2.0);
        run.network.reverse_delay = None;
        for flow in &mut drawn.list.flows {
            flow.rtt = flow.rtt.map(|rtt| nanoseconds(rtt.as_secs_f64() * rtt_s / own_s));
        }
        Ok(())
    }
}

fn nanoseconds(seconds: f64) -> Time {
    Time((seconds * 1e9).round_ties_even() as u64)
}

/// A run over the link, under the discipline and with the attack that are asked for.
///
/// # Errors
/// A value out of its bounds.
pub(crate) fn prepared(
    mut run: Run,
    mut drawn: Drawn,
    alone: Option<FlowSpec>,
    request: &Request,
    reverse_same: bool,
) -> Result<Prepared, ExploreError> {
    set_link(&mut run, &request.link)?;
    run.network.discipline = request.discipline.native()?;
    if reverse_same {
        run.network.reverse_discipline = run.network.discipline.clone();
    }
    if let Some(seed) = request.seed {
        run.seed = seed;
    }
    if let Some(attack) = &request.attack {
        attack::join(&mut drawn, attack, run.duration, run.network.symmetric);
    }
    let first = drawn.probes.len();
    let classes: Vec<u32> = drawn.list.classes.iter().skip(first).map(|&class| class.into()).collect();
    let attacking = &drawn.attackers[first..];
    let groups = match attacking.iter().any(|&one| one) {
        true if classes.is_empty() => attacking.iter().map(|&one| u32::from(one)).collect(),
        _ => classes,
    };
    let attackers = attacking.iter().position(|&one| one).map(|row| groups[row]);
    let calls = drawn.capture.iter().flat_map(|capture| &capture.calls);
    run.traced = calls.map(|row| first as u32 + row).collect();
    let facts = Facts { probes: drawn.probes, groups, capture: drawn.capture, ..Facts::default() };
    let flows = drawn.list.put_into(&mut run);
    Ok(Prepared { run, flows, facts, attackers, alone })
}

fn set_link(run: &mut Run, link: &LinkRequest) -> Result<(), ExploreError> {
    let rate = |bps| BitRate::from_bps(bps).ok_or_else(|| ExploreError("link.rate_bps = 0: must be above 0".into()));
    run.network.rate = rate(link.rate_bps)?;
    run.network.reverse_rate = link.reverse_rate_bps.map(rate).transpose()?;
    run.network.limit = link.buffer;
    run.network.reverse_limit = link.reverse_buffer.unwrap_or(link.buffer);
    Ok(())
}
