//! Somebody who joins a workload and bends his traffic to the scheduler: rows of the registry `mayfly.scenario.attacks`, as
//! documents bring them, drawn as the sources `cbr` and `batch` of a scenario draw them.

use std::num::{NonZeroU32, NonZeroU64};

use netsim::FlowSpec;
use serde::Deserialize;
use units::Time;

use crate::drawn::Drawn;
use crate::error::ExploreError;
use crate::request::Attack;

/// IPv4 and UDP header, bytes.
const HEADER: u32 = 28;
/// Flows of an attack at most: a run of hours has few packets of each address.
const MOST_FLOWS: u64 = 200_000;

/// An attack that requests may name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    id: String,
    /// Bounds of its strength: of the rate on the wire, bit/s, or of the connections.
    least: NonZeroU64,
    most: u64,
    source: Source,
}

/// Its source, without the strength.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Cbr(Cbr),
    Batch(Batch),
}

/// UDP at a constant rate, evenly spaced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cbr {
    /// Wire length, bytes.
    packet: NonZeroU32,
    /// Packets after which the sender goes on under another port; never when null.
    renew: Option<NonZeroU64>,
    /// Whether it takes another pair of hosts then.
    renew_hosts: bool,
}

/// A transfer that is split.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// Payload, bytes.
    size: u64,
    /// When it begins for the first time, ns.
    start_ns: u64,
    /// Time until it begins again, ns; never when null.
    every_ns: Option<NonZeroU64>,
}

impl Offered {
    /// The flows of the attack in a run of this length, in order, between hosts counted from 0 on either side.
    ///
    /// # Errors
    /// A strength out of its bounds, or more flows than an attack may have.
    fn flows(&self, asked: &Attack, duration: Time) -> Result<Vec<FlowSpec>, ExploreError> {
        let (name, strength) = match self.source {
            Source::Cbr(_) => ("rate_bps", asked.rate_bps),
            Source::Batch(_) => ("connections", asked.connections.into()),
        };
        let (least, most) = (self.least.get(), self.most);
        if !(least..=most).contains(&strength) {
            return Err(ExploreError(format!("attack.{name} = {strength}: must be from {least} to {most}")));
        }
        Ok(match &self.source {
            Source::Cbr(cbr) => cbr.datagrams(strength, duration),
            Source::Batch(batch) => batch.transfers(strength, duration)?,
        })
    }
}

impl Cbr {
    fn datagrams(&self, rate_bps: u64, duration: Time) -> Vec<FlowSpec> {
        let packet = self.packet.get();
        let gap_s = 8.0 * f64::from(packet) / rate_bps as f64;
        let gap = Time(((f64::from(packet) * 8e9 / rate_bps as f64).round_ties_even() as u64).max(1));
        // A packet due at the end itself is not sent; rounding must not add it.
        let packets = (((duration.as_secs_f64() / gap_s) * 1e6).round_ties_even() / 1e6).ceil().max(1.0) as u64;
        let renew = self.renew.map_or(packets, |renew| renew.get().min(packets)).max(packets.div_ceil(MOST_FLOWS));
        let flow = |number: u64| {
            let first = number * renew;
            let count = renew.min(packets - first);
            let host = if self.renew_hosts { number as u32 } else { 0 };
            FlowSpec {
                start: Time((first as f64 * gap_s * 1e9).round_ties_even() as u64),
                size_bytes: count * u64::from(packet.saturating_sub(HEADER)),
                src: host,
                dst: host,
                udp: Some((packet, gap)),
                ..FlowSpec::default()
            }
        };
        (0..packets.div_ceil(renew)).map(flow).collect()
    }
}

impl Batch {
    /// # Errors
    /// More flows than an attack may have.
    fn transfers(&self, connections: u64, duration: Time) -> Result<Vec<FlowSpec>, ExploreError> {
        let (whole, parts) = (self.size, connections);
        let after = duration.0.saturating_sub(self.start_ns);
        let times = self.every_ns.map_or(u64::from(after > 0), |every| after.div_ceil(every.get()));
        let flows = times.saturating_mul(parts);
        if flows > MOST_FLOWS {
            return Err(ExploreError(format!(
                "attack.connections = {parts}: makes {flows} flows in this run, must be at most {MOST_FLOWS}"
            )));
        }
        // Not step_by: a step is a usize, and 10 s in ns do not fit into that of WebAssembly.
        let start = move |time: u64| self.start_ns + time * self.every_ns.map_or(0, NonZeroU64::get);
        let part = |time: u64| {
            (0..parts).map(move |part| FlowSpec {
                start: Time(start(time)),
                size_bytes: whole / parts + u64::from(part < whole % parts),
                ..FlowSpec::default()
            })
        };
        Ok((0..times).flat_map(part).collect())
    }
}

/// Adds the flows of an attack to those that were drawn, each at its time; `together`: hosts of both sides are numbered
/// together.
///
/// # Errors
/// An attack that is not `offered`, or a strength out of its bounds.
pub(crate) fn join(
    drawn: &mut Drawn,
    attack: &Attack,
    offered: &[Offered],
    duration: Time,
    together: bool,
) -> Result<(), ExploreError> {
    let first = drawn.probes.len();
    let row = offered.iter().find(|row| row.id == attack.kind).ok_or_else(|| {
        let known: Vec<_> = offered.iter().map(|row| row.id.as_str()).collect();
        ExploreError(format!("attack.kind = {}: must be one of {}", attack.kind, known.join(", ")))
    })?;
    let mut added = row.flows(attack, duration)?;
    let [lefts, rights] = sides(&added);
    let [mut left, mut right] = sides(&drawn.list.flows[if together { 0 } else { first }..]);
    if together {
        left = left.max(right);
        right = left + lefts;
    } else {
        // Probes keep the last hosts of either side, as they have in a scenario with such a source.
        for flow in &mut drawn.list.flows[..first] {
            let both = (&mut flow.src, &mut flow.dst);
            let (on_left, on_right) = if flow.up { (both.1, both.0) } else { both };
            *on_left += lefts;
            *on_right += rights;
        }
    }
    for flow in &mut added {
        flow.src += left;
        flow.dst += right;
    }
    drawn.insert(added);
    Ok(())
}

/// Hosts on the left and on the right of some flows: the largest number and one.
fn sides(flows: &[FlowSpec]) -> [u32; 2] {
    flows.iter().fold([0, 0], |[left, right], flow| {
        let (on_left, on_right) = if flow.up { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        [left.max(on_left + 1), right.max(on_right + 1)]
    })
}
