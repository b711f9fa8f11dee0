//! Workloads: a preset, whose flows are drawn, or a capture, whose flows follow from what the link is.

use netsim::{FlowSpec, Run};
use settings::{FlowList, Settings};
use units::{BitRate, Time};

use crate::ExploreError;
use crate::attack;
use crate::document::Document;
use crate::request::{LinkRequest, Request};

/// What the flows of a run are, for colours and figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of the probes.
    Ping,
    /// Of the probes, or an application.
    Call,
    /// Connection of a page.
    Page,
    /// Transfer of at most 100 kB.
    Short,
    /// Transfer between both.
    Medium,
    /// Transfer above 1 MB.
    Long,
    /// Film or game.
    Video,
    /// Other datagrams.
    Datagrams,
    /// Of an attack.
    Attacker,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Kind; 9] = [
        Kind::Ping,
        Kind::Call,
        Kind::Page,
        Kind::Short,
        Kind::Medium,
        Kind::Long,
        Kind::Video,
        Kind::Datagrams,
        Kind::Attacker,
    ];

    /// Name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ping => "ping",
            Kind::Call => "call",
            Kind::Page => "page",
            Kind::Short => "short",
            Kind::Medium => "medium",
            Kind::Long => "long",
            Kind::Video => "video",
            Kind::Datagrams => "datagrams",
            Kind::Attacker => "attacker",
        }
    }
}

/// The flows of a run and what is known of each.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Probes first.
    pub list: FlowList,
    /// Names of the probes.
    pub probes: Vec<String>,
    /// Of each flow, whether it is an attacker's.
    pub attackers: Vec<bool>,
}

impl Drawn {
    fn of(list: FlowList, probes: Vec<String>) -> Drawn {
        let attackers = vec![false; list.flows.len()];
        Drawn { list, probes, attackers }
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
        list.flows = flows;
        self.attackers = attackers;
    }
}

/// A run that is ready.
pub struct Prepared {
    /// With everything but its flows.
    pub run: Run,
    /// Of the run.
    pub flows: Vec<FlowSpec>,
    /// Names of the probes, its first flows.
    pub probes: Vec<String>,
    /// Of each flow.
    pub kinds: Vec<Kind>,
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
        let drawn = Drawn::of(document.flows.list()?, document.probes);
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
        prepared(run, drawn, request, self.reverse_same)
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
        attack::join(&mut drawn, attack, run.duration);
    }
    let applications = run.applications.clone();
    let kind = |row: usize, flow: &FlowSpec| match drawn.probes.get(row) {
        Some(probe) if probe == "ping" => Kind::Ping,
        Some(_) => Kind::Call,
        None if drawn.attackers[row] => Kind::Attacker,
        None => kind_of(flow, &applications),
    };
    let kinds = drawn.list.flows.iter().enumerate().map(|(row, flow)| kind(row, flow)).collect();
    let flows = drawn.list.put_into(&mut run);
    Ok(Prepared { run, flows, probes: drawn.probes, kinds })
}

fn kind_of(flow: &FlowSpec, applications: &[netsim::Application]) -> Kind {
    match usize::from(flow.application).checked_sub(1).map(|place| &applications[place]) {
        Some(netsim::Application::Call(_)) => return Kind::Call,
        Some(_) => return Kind::Video,
        None => {}
    }
    match flow.size_bytes {
        _ if flow.udp.is_some() => Kind::Datagrams,
        _ if flow.stage.is_some() => Kind::Page,
        ..=100_000 => Kind::Short,
        ..=1_000_000 => Kind::Medium,
        _ => Kind::Long,
    }
}

fn set_link(run: &mut Run, link: &LinkRequest) -> Result<(), ExploreError> {
    let rate = |bps| BitRate::from_bps(bps).ok_or_else(|| ExploreError("link.rate_bps = 0: must be above 0".into()));
    run.network.rate = rate(link.rate_bps)?;
    run.network.reverse_rate = link.reverse_rate_bps.map(rate).transpose()?;
    run.network.limit = link.buffer;
    run.network.reverse_limit = link.reverse_buffer.unwrap_or(link.buffer);
    Ok(())
}
