//! Probes at the head of a list: a ping at random instants, and a call.
//!
//! The rules are those of `mayfly.simulate.probes`, which takes the instants of the ping from here.

use netsim::{Burst, Bursts, FlowSpec, Probe, Scripts};
use units::Time;

use crate::datagrams::gap;
use crate::list::List;
use crate::random::Stream;

/// Length of a ping on the wire, bytes.
const PING_BYTES: u32 = 64;
/// Length of a packet of a call: 20 ms of G.711 (160), RTP (12), UDP (8), IP (20).
const CALL_BYTES: u32 = 200;
/// Time between two packets of a call, s.
const CALL_GAP_S: f64 = 0.02;
/// IPv4 and UDP header, bytes.
const HEADER_BYTES: u32 = 28;
/// Probes measure the first hour at most ...
const PROBED_S: f64 = 3600.0;
/// ... and as long as a playout buffer takes to adapt, at least.
const LEAST_PROBED_S: f64 = 10.0;
/// Shortest interval of a ping, s.
const LEAST_INTERVAL_S: f64 = 1e-3;

/// Which probes are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probes {
    /// A ping, at a random instant of each interval.
    pub ping: bool,
    /// Its intervals, s, at least 1 ms.
    pub interval_s: f64,
    /// A call, both ways.
    pub call: bool,
    /// Seed of the run.
    pub seed: u64,
}

/// A list with probes before it.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The probes, and the flows of the list behind them.
    pub flows: Vec<FlowSpec>,
    /// As of the list.
    pub scripts: Scripts,
    /// Of the ping and of the flows.
    pub bursts: Bursts,
    /// What the first rows are: `ping`, `call_down`, `call_up`.
    pub names: Vec<&'static str>,
    /// The first rows, and which of them are sent back.
    pub probes: Vec<Probe>,
    /// One ping as a list of its own, for the round-trip time of the idle link; None without a ping.
    pub alone: Option<FlowSpec>,
}

impl List {
    /// The list with probes before it, which are sent while its packets come, between two hosts of their own on either side
    /// of the link, over a path like that of its flows.
    pub fn with_probes(&self, probes: &Probes) -> Probed {
        let until_s = self.span_s.clamp(LEAST_PROBED_S, PROBED_S).min(self.duration.as_secs_f64());
        // The ping goes first the way that is offered less.
        let first_up = !self.down_is_lighter;
        let hosts = self.hosts.len() as u32;
        let flow = |up: bool, packets: u64, packet_bytes: u32, rate_bps: f64| FlowSpec {
            size_bytes: packets.saturating_mul(u64::from(packet_bytes - HEADER_BYTES)),
            rtt: self.rtt_s.map(|rtt_s| Time((rtt_s * 1e9).round_ties_even() as u64)),
            src: hosts + u32::from(up != first_up),
            dst: hosts + u32::from(up == first_up),
            up,
            udp: Some((packet_bytes, gap(packet_bytes, rate_bps))),
            ..FlowSpec::default()
        };
        let (mut flows, mut names, mut list, mut of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        if probes.ping {
            let interval_s = probes.interval_s.max(LEAST_INTERVAL_S);
            let instants = ping_instants(probes.seed, until_s, interval_s);
            list.extend(instants.into_iter().map(|at| Burst { at, gap: Time::ZERO, packets: 1, len: PING_BYTES }));
            of.push((0, 0..list.len()));
            flows.push(flow(first_up, list.len() as u64, PING_BYTES, f64::from(PING_BYTES) * 8.0 / interval_s));
            names.push("ping");
        }
        if probes.call {
            let count = ((until_s / CALL_GAP_S).round_ties_even() as u64).max(1);
            for up in [first_up, !first_up] {
                flows.push(flow(up, count, CALL_BYTES, f64::from(CALL_BYTES) * 8.0 / CALL_GAP_S));
                names.push(if up { "call_up" } else { "call_down" });
            }
        }
        let (rows, packets) = (names.len() as u32, list.len());
        let alone = flows.first().filter(|_| probes.ping).map(|ping| FlowSpec {
            size_bytes: u64::from(PING_BYTES - HEADER_BYTES),
            src: 0,
            dst: 1,
            ..*ping
        });
        flows.extend_from_slice(&self.flows);
        list.extend_from_slice(&self.bursts.list);
        of.extend(self.bursts.of.iter().map(|(row, part)| (row + rows, part.start + packets..part.end + packets)));
        let probes = (0..).zip(&names).map(|(flow, &name)| Probe { flow, echo: name == "ping" }).collect();
        Probed { flows, scripts: self.scripts.clone(), bursts: Bursts { of, list }, names, probes, alone }
    }
}

/// When the packets of a ping leave, before `until_s`: one at a random instant of each interval, at least one.
pub fn ping_instants(seed: u64, until_s: f64, interval_s: f64) -> Vec<Time> {
    let mut random = Stream::named(seed, &["probes", "ping"]);
    let count = ((until_s / interval_s) as u64).max(1);
    (0..count).map(|place| rounded((place as f64 + random.uniform()) * interval_s)).collect()
}

/// An instant to the nanosecond; the product of all of it would be off by one now and then.
fn rounded(seconds: f64) -> Time {
    let whole = seconds.floor();
    Time(whole as u64 * 1_000_000_000 + ((seconds - whole) * 1e9).round_ties_even() as u64)
}
