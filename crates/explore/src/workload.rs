//! Workloads: a preset, whose flows are drawn, or a capture, whose flows follow from what the link is.

use metrics::{Facts, Offering, Unknown};
use netsim::{FlowSpec, Run, Shaper, ShaperPlace};
use settings::Settings;
use units::{BitRate, Time};

use crate::attack::{self, Offered};
use crate::document::Document;
use crate::drawn::Drawn;
use crate::error::ExploreError;
use crate::request::{AsLoaded, LinkRequest, Request};

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
    /// What it is of.
    pub of: Of,
}

/// What a run is of.
#[derive(Clone, Debug)]
pub struct Of {
    /// The command that runs the same: `whatif` of a capture, `compare` of a preset.
    pub command: &'static str,
    /// Time over which its flows are offered, s; 0 for none.
    pub span_s: f64,
    /// Which of its flows are.
    pub offering: Offering,
    /// What the replay of a capture cannot say.
    pub unknown: Option<Unknown>,
    /// What a capture shows of its link.
    pub framing: Option<metrics::Framing>,
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
    attacks: Vec<Offered>,
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
        let (name, title, groups, attacks) = (document.name, document.title, document.groups, document.attacks);
        Ok(Preset { name, title, run, drawn, reverse_same, groups, alone, attacks })
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
        let of = Of {
            command: "compare",
            span_s: run.duration.as_secs_f64(),
            offering: Offering::Begun,
            unknown: None,
            framing: None,
        };
        prepared(run, drawn, alone, request, &self.attacks, self.reverse_same, of)
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
    attacks: &[Offered],
    reverse_same: bool,
    of: Of,
) -> Result<Prepared, ExploreError> {
    set_link(&mut run, &request.link)?;
    if let Some(loaded) = &request.as_loaded {
        set_shapers(&mut run, loaded)?;
    }
    run.network.discipline = request.discipline.native()?;
    if reverse_same {
        run.network.reverse_discipline = run.network.discipline.clone();
    }
    if let Some(seed) = request.seed {
        run.seed = seed;
    }
    if let Some(attack) = &request.attack {
        attack::join(&mut drawn, attack, attacks, run.duration, run.network.symmetric)?;
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
    run.heard = metrics::heard(&run, &flows, &facts);
    Ok(Prepared { run, flows, facts, attackers, alone, of })
}

fn rate(name: &str, bps: u64) -> Result<BitRate, ExploreError> {
    BitRate::from_bps(bps).ok_or_else(|| ExploreError(format!("{name} = 0: must be above 0")))
}

/// Puts the discipline behind the link for what arrives, and before it for what is sent. The link keeps its buffers.
fn set_shapers(run: &mut Run, loaded: &AsLoaded) -> Result<(), ExploreError> {
    let network = &mut run.network;
    let down = rate("as_loaded.down_bps", loaded.down_bps)?;
    let up = rate("as_loaded.up_bps", loaded.up_bps)?;
    network.shaping.forward = Some(Shaper { rate: down, modem: network.limit, place: ShaperPlace::Behind });
    network.shaping.reverse = Some(Shaper { rate: up, modem: network.reverse_limit, place: ShaperPlace::Before });
    Ok(())
}

fn set_link(run: &mut Run, link: &LinkRequest) -> Result<(), ExploreError> {
    run.network.rate = rate("link.rate_bps", link.rate_bps)?;
    run.network.reverse_rate = link.reverse_rate_bps.map(|bps| rate("link.reverse_rate_bps", bps)).transpose()?;
    run.network.limit = link.buffer;
    run.network.reverse_limit = link.reverse_buffer.unwrap_or(link.buffer);
    Ok(())
}
