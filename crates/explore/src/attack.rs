//! Somebody who joins a workload and bends his traffic to the scheduler: the attacks of docs/how-to/gaming.md, as the
//! sources `cbr` and `batch` of a scenario draw them.

use netsim::FlowSpec;
use units::Time;

use crate::drawn::Drawn;
use crate::request::{Attack, AttackKind};

/// Wire length of the datagrams, bytes.
const PACKET: u32 = 1500;
/// IPv4 and UDP header, bytes.
const HEADER: u32 = 28;
/// Datagrams from one address, where the sender takes new ones.
const RENEW: u64 = 10;
/// A transfer that is split: payload, bytes, and when it begins for the first time and again, ns.
const SPLIT_BYTES: u64 = 5_000_000;
const SPLIT_FIRST_NS: u64 = 2_000_000_000;
const SPLIT_EVERY_NS: u64 = 10_000_000_000;
/// Flows of an attack at most: a run of hours has few packets of each address.
const MOST_FLOWS: u64 = 200_000;

impl Attack {
    /// The flows of the attack in a run of this length, in order, between hosts counted from 0 on either side.
    fn flows(&self, duration: Time) -> Vec<FlowSpec> {
        match self.kind {
            AttackKind::Spaced => self.datagrams(duration, u64::MAX),
            AttackKind::NewAddresses => self.datagrams(duration, RENEW),
            AttackKind::Split => self.transfers(duration),
        }
    }

    fn datagrams(&self, duration: Time, renew: u64) -> Vec<FlowSpec> {
        let gap_s = 8.0 * f64::from(PACKET) / self.rate_bps as f64;
        let gap = Time(((f64::from(PACKET) * 8e9 / self.rate_bps as f64).round_ties_even() as u64).max(1));
        // A packet due at the end itself is not sent; rounding must not add it.
        let packets = (((duration.as_secs_f64() / gap_s) * 1e6).round_ties_even() / 1e6).ceil().max(1.0) as u64;
        let renew = renew.min(packets).max(packets.div_ceil(MOST_FLOWS));
        let flow = |number: u64| {
            let first = number * renew;
            let count = renew.min(packets - first);
            FlowSpec {
                start: Time((first as f64 * gap_s * 1e9).round_ties_even() as u64),
                size_bytes: count * u64::from(PACKET - HEADER),
                src: number as u32,
                dst: number as u32,
                udp: Some((PACKET, gap)),
                ..FlowSpec::default()
            }
        };
        (0..packets.div_ceil(renew)).map(flow).collect()
    }

    fn transfers(&self, duration: Time) -> Vec<FlowSpec> {
        let (whole, parts) = (SPLIT_BYTES, u64::from(self.connections));
        let times = (SPLIT_FIRST_NS..duration.0).step_by(SPLIT_EVERY_NS as usize);
        let part = |start: u64| {
            (0..parts).map(move |part| FlowSpec {
                start: Time(start),
                size_bytes: whole / parts + u64::from(part < whole % parts),
                ..FlowSpec::default()
            })
        };
        times.flat_map(part).collect()
    }
}

/// Adds the flows of an attack to those that were drawn, each at its time; `together`: hosts of both sides are numbered
/// together.
pub(crate) fn join(drawn: &mut Drawn, attack: &Attack, duration: Time, together: bool) {
    let first = drawn.probes.len();
    let mut added = attack.flows(duration);
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
}

/// Hosts on the left and on the right of some flows: the largest number and one.
fn sides(flows: &[FlowSpec]) -> [u32; 2] {
    flows.iter().fold([0, 0], |[left, right], flow| {
        let (on_left, on_right) = if flow.up { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        [left.max(on_left + 1), right.max(on_right + 1)]
    })
}
