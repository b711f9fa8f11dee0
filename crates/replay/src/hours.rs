//! Resampled hours as the simulator takes them: lists drawn from the sessions of a capture, users who wait and probes
//! included.
//!
//! What does not change from hour to hour is made once: sizes, packets and scripts of the flows, which the flows of an
//! hour share with those that they are copies of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netsim::{Bursts, FlowSpec, Scripts};
use workload::MOST_BYTES;

use crate::closed::{Start, closed};
use crate::list::{USUAL, in_whole_ns};
use crate::refused::{Refused, refused};
use crate::sessions::{Drawn, Starts};

/// Flows as the simulator takes them.
#[derive(Clone, Debug, Default)]
pub struct Specs {
    /// In the order of their starts.
    pub flows: Vec<FlowSpec>,
    /// What the ends of TCP connections say to each other.
    pub scripts: Arc<Scripts>,
    /// The packets of UDP flows.
    pub bursts: Bursts,
}

/// What a list of flows has next to what the simulator takes; a value for each flow.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// When it starts in the capture, s.
    pub start_s: Vec<f64>,
    /// Who sends its data, by name.
    pub src: Vec<String>,
    /// Who receives it.
    pub dst: Vec<String>,
    /// Its connection in the capture.
    pub connections: Vec<i64>,
    /// How long somebody may wait for it, s, None for those that nobody waits for; empty where no user waits.
    pub lasted_s: Vec<Option<f64>>,
    /// Packets that it had in the capture, where it is a direction of a call.
    pub call_packets: Vec<Option<u64>>,
}

/// Probes of an hour: their rows, in the order in which one direction comes first.
#[derive(Clone, Debug, Default)]
pub struct ProbeRows {
    /// Hosts are numbered anew.
    pub flows: Vec<FlowSpec>,
    /// Of the ping.
    pub bursts: Bursts,
}

/// A capture as hours are drawn from it.
#[derive(Clone, Debug)]
pub struct Hours {
    specs: Specs,
    origins: Origins,
    /// Rank of the name of the user of each flow.
    users: Vec<u32>,
    /// Of each flow, data packets with headers down and up, bytes.
    wire_bytes: Vec<[u64; 2]>,
    /// Part of the bursts of each flow that has some.
    bursts: Vec<Option<std::ops::Range<usize>>>,
    probes: [ProbeRows; 2],
}

/// How the hosts of a list are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// By rank of their names among all.
    Together,
    /// By rank among those on their side of the link.
    Sides,
}

/// An hour, ready to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hour {
    /// The probes, and the flows behind them.
    pub flows: Vec<FlowSpec>,
    /// The packets of UDP flows. Scripts are those of [`Hours::scripts`].
    pub bursts: Bursts,
    /// How many probes there are.
    pub probes: usize,
    /// Whether the first probe goes up.
    pub first_up: bool,
    /// Of each flow without the probes: when it starts, s, since the end of the stage that it waits for where there is one.
    pub starts_s: Vec<f64>,
    /// The stage that it belongs to.
    pub stages: Vec<Option<u32>>,
    /// When it would start if nobody waited, s.
    pub begun_s: Vec<f64>,
    /// How long it lasts in the capture, s; None where nobody waits for it, and of all where no user waits.
    pub lasted_s: Vec<Option<f64>>,
    /// Rank of the host that opened its connection, from 1.
    pub clients: Vec<u32>,
    /// Its connection by rank, from 1.
    pub connections: Vec<u32>,
    /// Rows without the probes that are directions of calls.
    pub calls: Vec<u32>,
    /// Packets that the calls have together, at most.
    pub call_packets: u64,
}

impl Hours {
    /// Of the flows of a list; `probes` are those of an hour in which the first probe goes down, and up.
    ///
    /// # Errors
    /// Columns of different lengths.
    pub fn of(specs: Specs, origins: Origins, probes: [ProbeRows; 2]) -> Result<Hours, Refused> {
        let rows = specs.flows.len();
        let Origins { start_s, src, dst, connections, lasted_s, call_packets } = &origins;
        let lengths = [start_s.len(), src.len(), dst.len(), connections.len(), call_packets.len()];
        if lengths.iter().any(|&length| length != rows) || ![0, rows].contains(&lasted_s.len()) {
            return refused("columns of the flow list differ in length");
        }
        let opener = |row: usize| if specs.flows[row].receiver_opens { dst[row].as_str() } else { &src[row] };
        let ranks = ranks((0..rows).map(opener));
        let users = (0..rows).map(|row| ranks[opener(row)]).collect();
        let wire_bytes = (0..rows).map(|row| specs.wire_bytes(row)).collect();
        let mut bursts = vec![None; rows];
        for (row, part) in &specs.bursts.of {
            bursts[*row as usize] = Some(part.clone());
        }
        Ok(Hours { specs, origins, users, wire_bytes, bursts, probes })
    }

    /// What the ends of the connections of every hour say to each other.
    pub fn scripts(&self) -> Arc<Scripts> {
        Arc::clone(&self.specs.scripts)
    }

    /// The hour that `seed` and `number` draw, up to the end of the run; None where nothing starts before that.
    ///
    /// # Errors
    /// As [`Starts::another`].
    pub fn draw(
        &self,
        seed: u64,
        number: u64,
        gap_s: f64,
        end_s: f64,
        numbering: Numbering,
    ) -> Result<Option<Hour>, Refused> {
        let Origins { start_s, src, dst, connections, lasted_s, call_packets } = &self.origins;
        let starts = Starts { start_s, users: &self.users, connections: Some(connections) };
        let mut drawn = starts.another(seed, &number.to_string(), gap_s)?.flows;
        drawn.truncate(drawn.partition_point(|flow| flow.start_s < end_s));
        if drawn.is_empty() {
            return Ok(None);
        }
        let mut bytes = [0_u64; 2];
        for flow in &drawn {
            for (sum, own) in bytes.iter_mut().zip(self.wire_bytes[flow.row as usize]) {
                *sum = sum.saturating_add(own);
            }
        }
        let first_up = bytes[0] >= bytes[1];
        let probes = &self.probes[usize::from(first_up)];
        let opens = |flow: &Drawn| self.specs.flows[flow.row as usize].receiver_opens;
        // The user of a copy has a name of its own.
        let name = |flow: &Drawn, host: &String, opens: bool| {
            if opens && flow.copy > 1 { format!("{host}/{}", flow.copy) } else { host.clone() }
        };
        let mut hour = Hour { probes: probes.flows.len(), first_up, ..Hour::default() };
        let sent: Vec<String> = drawn.iter().map(|flow| name(flow, &src[flow.row as usize], !opens(flow))).collect();
        let received: Vec<String> = drawn.iter().map(|flow| name(flow, &dst[flow.row as usize], opens(flow))).collect();
        let openers =
            || (0..drawn.len()).map(|row| if opens(&drawn[row]) { received[row].as_str() } else { &sent[row] });
        let ranks = ranks(openers());
        hour.clients = openers().map(|name| ranks[name] + 1).collect();
        hour.connections = dense(drawn.iter().map(|flow| flow.connection));
        let starts: Vec<Start> = if lasted_s.is_empty() {
            drawn.iter().map(|flow| Start { start_s: flow.start_s, stage: None, after: None }).collect()
        } else {
            let waits = |(flow, &user): (&Drawn, &u32)| (flow.start_s, user, lasted_s[flow.row as usize]);
            closed(drawn.iter().zip(&hour.clients).map(waits))
        };
        // For the simulator, stages that nothing waits for are none.
        let waited_for = starts.iter().any(|start| start.after.is_some());
        let ends = own_hosts(&sent, &received);
        let ends = |flow: &FlowSpec| if flow.up == first_up { [&ends[0], &ends[1]] } else { [&ends[1], &ends[0]] };
        let own = probes.flows.iter().map(ends);
        let hosts: Vec<[&String; 2]> = own.chain(sent.iter().zip(&received).map(|(src, dst)| [src, dst])).collect();
        hour.flows.extend_from_slice(&probes.flows);
        hour.bursts = probes.bursts.clone();
        hour.bursts.list.extend_from_slice(&self.specs.bursts.list);
        let before = probes.bursts.list.len();
        for (row, (flow, start)) in drawn.iter().zip(&starts).enumerate() {
            let own = flow.row as usize;
            if let Some(part) = &self.bursts[own] {
                let place = (hour.probes + row) as u32;
                hour.bursts.of.push((place, part.start + before..part.end + before));
            }
            if let Some(packets) = call_packets[own] {
                hour.calls.push(row as u32);
                hour.call_packets += packets;
            }
            let Start { start_s, stage, after } = *start;
            let (start, stage) = (in_whole_ns(start_s), stage.filter(|_| waited_for));
            hour.flows.push(FlowSpec { start, stage, after, ..self.specs.flows[own] });
            hour.starts_s.push(start_s);
            hour.begun_s.push(flow.start_s);
            hour.lasted_s.push(lasted_s.get(own).copied().flatten());
        }
        // Each packet of the run has the mean length of those in the capture, in whole bytes: a few more or fewer.
        hour.call_packets += hour.call_packets / 20 + 10 * hour.calls.len() as u64;
        hour.stages = starts.into_iter().map(|start| start.stage).collect();
        numbering.number(&mut hour.flows, &hosts);
        Ok(Some(hour))
    }
}

impl Specs {
    /// Data packets of a flow with headers down and up, bytes; nothing of one that never ends.
    fn wire_bytes(&self, row: usize) -> [u64; 2] {
        let Specs { flows, scripts, bursts } = self;
        let flow = &flows[row];
        let mut found = [0_u64; 2];
        let mut add = |up: bool, bytes: u64| found[usize::from(up)] = found[usize::from(up)].saturating_add(bytes);
        match (flow.udp, flow.script) {
            (Some((packet_bytes, _)), _) => match bursts.of.binary_search_by_key(&(row as u32), |(row, _)| *row) {
                Ok(place) => {
                    let own = &bursts.list[bursts.of[place].1.clone()];
                    own.iter().for_each(|burst| add(flow.up, burst.packets.saturating_mul(burst.len.into())));
                }
                Err(_) => {
                    let payload = u64::from(packet_bytes.saturating_sub(UDP_HEADER_BYTES)).max(1);
                    add(flow.up, flow.size_bytes.div_ceil(payload).saturating_mul(packet_bytes.into()));
                }
            },
            _ if flow.size_bytes >= MOST_BYTES => {}
            (None, Some(script)) => {
                for train in &scripts.list[script as usize] {
                    add(train.forward == flow.up, USUAL.wire_bytes(train.bytes));
                }
            }
            (None, None) => add(flow.up, USUAL.wire_bytes(flow.size_bytes)),
        }
        found
    }
}

/// IPv4 and UDP header, bytes.
const UDP_HEADER_BYTES: u32 = 28;

/// Two hosts that no flow has.
fn own_hosts(src: &[String], dst: &[String]) -> [String; 2] {
    let taken: BTreeSet<&String> = src.iter().chain(dst).collect();
    let mut word = "probe".to_owned();
    loop {
        let hosts = [1, 2].map(|number| format!("{word} {number}"));
        if hosts.iter().all(|host| !taken.contains(host)) {
            return hosts;
        }
        word.push('\'');
    }
}

impl Numbering {
    /// Gives the hosts of flows, named from sender to receiver, their numbers.
    fn number(self, flows: &mut [FlowSpec], hosts: &[[&String; 2]]) {
        // What goes down comes from the left.
        let side = |flow: &FlowSpec, end: usize| match self {
            Numbering::Together => 0,
            Numbering::Sides => usize::from(flow.up) ^ end,
        };
        let mut sides: [BTreeSet<&str>; 2] = Default::default();
        for (flow, hosts) in flows.iter().zip(hosts) {
            (0..2).for_each(|end| _ = sides[side(flow, end)].insert(hosts[end]));
        }
        let ranks: [BTreeMap<&str, u32>; 2] = sides.map(|names| names.into_iter().zip(0..).collect());
        for (flow, hosts) in flows.iter_mut().zip(hosts) {
            let [src, dst] = [0, 1].map(|end| ranks[side(flow, end)][hosts[end].as_str()]);
            (flow.src, flow.dst) = (src, dst);
        }
    }
}

/// The rank of each of these names among those that there are, as text.
fn ranks<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u32> {
    let distinct: BTreeSet<&str> = names.collect();
    distinct.into_iter().zip(0..).collect()
}

/// The rank of each number among those that there are, from 1.
fn dense(numbers: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
    let distinct: BTreeSet<u32> = numbers.clone().collect();
    let ranks: BTreeMap<u32, u32> = distinct.into_iter().zip(1..).collect();
    numbers.map(|number| ranks[&number]).collect()
}

#[cfg(test)]
mod tests {
    use netsim::{Burst, Train};
    use units::Time;

    use super::*;

    /// Ten users of one transfer each, one of whom calls.
    fn hours(lasted_s: Vec<Option<f64>>) -> Hours {
        let train = |forward, bytes| Train { forward, bytes, wait: Time::ZERO, pace: Time::ZERO };
        let flow = |row: usize| FlowSpec {
            size_bytes: if row == 3 { 3000 } else { 1460 },
            receiver_opens: true,
            udp: (row == 3).then_some((1028, Time(1000))),
            script: (row == 0).then_some(0),
            ..FlowSpec::default()
        };
        let burst = Burst { at: Time::ZERO, gap: Time(1000), packets: 3, len: 1028 };
        let specs = Specs {
            flows: (0..10).map(flow).collect(),
            scripts: Scripts { list: vec![vec![train(false, 100), train(true, 1360)]], ..Scripts::default() }.into(),
            bursts: Bursts { of: vec![(3, 0..1)], list: vec![burst] },
        };
        let origins = Origins {
            start_s: (0..10).map(f64::from).collect(),
            src: vec!["web".to_owned(); 10],
            dst: (0..10).map(|user| format!("10.0.0.{user}")).collect(),
            connections: (0..10).collect(),
            lasted_s,
            call_packets: (0..10).map(|row| (row == 3).then_some(100)).collect(),
        };
        let ping = |up| {
            let flow = FlowSpec { up, size_bytes: 36, udp: Some((64, Time(1000))), ..FlowSpec::default() };
            let burst = Burst { at: Time(5), gap: Time::ZERO, packets: 1, len: 64 };
            ProbeRows { flows: vec![flow], bursts: Bursts { of: vec![(0, 0..1)], list: vec![burst] } }
        };
        Hours::of(specs, origins, [ping(false), ping(true)]).expect("columns of one length")
    }

    #[test]
    fn an_hour_has_probes_then_flows_with_what_is_theirs() {
        let hours = hours(vec![Some(0.5); 10]);
        let draw = |end_s| hours.draw(1, 1, 5.0, end_s, Numbering::Together).expect("ten sessions");
        let found = draw(100.0).expect("some start");
        let flows = found.flows.len() - 1;
        assert!(found.first_up, "the flows go down");
        assert_eq!(
            [found.starts_s.len(), found.stages.len(), found.clients.len(), found.connections.len()],
            [flows; 4]
        );
        let calls: Vec<usize> = (1..=flows).filter(|&row| found.flows[row].udp.is_some()).collect();
        assert_eq!(found.calls, calls.iter().map(|row| *row as u32 - 1).collect::<Vec<_>>());
        let packets = 100 * calls.len() as u64;
        assert_eq!(found.call_packets, packets + packets / 20 + 10 * calls.len() as u64);
        assert_eq!(found.bursts.of.len(), 1 + calls.len());
        for (row, part) in &found.bursts.of[1..] {
            assert_eq!((calls.contains(&(*row as usize)), found.bursts.list[part.clone()][0].packets), (true, 3));
        }
        assert_eq!(draw(0.0), None);
        let early = draw(4.5).expect("some start").starts_s.len();
        assert!((1..flows).contains(&early), "{early} of {flows}");
    }

    #[test]
    fn only_users_who_wait_have_stages() {
        let draw = |lasted_s| hours(lasted_s).draw(1, 1, 5.0, 100.0, Numbering::Together);
        let stages = |lasted_s| draw(lasted_s).expect("ten sessions").expect("some start").stages;
        assert!(stages(Vec::new()).iter().all(Option::is_none));
        assert!(stages(vec![Some(0.5); 10]).iter().all(Option::is_some));
    }

    #[test]
    fn hosts_are_numbered_by_their_names() {
        let names = ["web", "b/2", "b", "probe 2", "probe 1"].map(str::to_owned);
        let [web, copy, user, there, here] = &names;
        let hosts = [[here, there], [web, user], [copy, web]];
        let numbers = |numbering: Numbering| {
            let way = |up| FlowSpec { up, ..FlowSpec::default() };
            let mut flows = [way(true), way(false), way(true)];
            numbering.number(&mut flows, &hosts);
            flows.map(|flow| (flow.src, flow.dst))
        };
        assert_eq!(numbers(Numbering::Together), [(2, 3), (4, 0), (1, 4)]);
        // On the left the web and the second probe, on the right the first one and the users.
        assert_eq!(numbers(Numbering::Sides), [(2, 0), (1, 0), (1, 1)]);
        assert_eq!(own_hosts(&names, &[]), ["probe' 1", "probe' 2"]);
        assert_eq!(own_hosts(&names[..3], &[]), ["probe 1", "probe 2"]);
    }

    #[test]
    fn packets_are_counted_in_the_direction_in_which_they_go() {
        let found = hours(Vec::new());
        assert_eq!(found.wire_bytes[0], [1400, 140], "down of a flow that goes down is forward");
        assert_eq!(found.wire_bytes[1], [1500, 0]);
        assert_eq!(found.wire_bytes[3], [3 * 1028, 0]);
    }
}
