//! The list of flows of a replay.

use netsim::{Burst, Bursts, FlowSpec, Scripts};
use units::Time;
use workload::MOST_BYTES;

use crate::closed::{Start, tied};
use crate::flows::{Asides, Captured, Row, Source};
use crate::form::Form;
use crate::known::Sizes;
use crate::refused::{Refused, refused};
use crate::script::trains;
use crate::span::refuse_clock_jump;
use hosts::Ends;

/// Time after the last start of the capture for transfers to end, at least; as long again as the capture when longer.
const DRAIN_S: f64 = 60.0;
const ONLY_USERS: &str = "replay: must be users for a list of flows whose users wait";
/// Number of QUIC among the transports of a run (`Run::transports`, where it is the first one).
pub const QUIC: u16 = 1;
/// Packets by which the directions are compared for the probes.
pub(crate) const USUAL: Sizes = Sizes { mss: 1460, header_bytes: 40 };

/// The list of flows of a replay, with users who wait.
#[derive(Clone, Debug)]
pub struct List {
    /// In the order of their starts in the capture.
    pub flows: Vec<FlowSpec>,
    /// What the ends of TCP and QUIC connections say to each other.
    pub scripts: Scripts,
    /// The packets of UDP flows.
    pub bursts: Bursts,
    /// Where each flow comes from.
    pub origins: Vec<Origin>,
    /// Address of each host.
    pub hosts: Vec<String>,
    /// Directions of the calls of the capture, ascending by row; where there are some, no synthetic one is run.
    pub calls: Vec<Call>,
    /// How long the packets of the capture came, or its flows start, s.
    pub span_s: f64,
    /// Round-trip time of the path, s: the median over the TCP connections, or assumed where no flow has one.
    pub rtt_s: Option<f64>,
    /// What of the capture is not in the list, or was assumed, in sentences.
    pub missing: Vec<String>,
    /// How much of each connection of the capture is left aside.
    pub asides: Asides,
    /// Of the run: as long again as the capture, a minute at least, for its flows to end.
    pub duration: Time,
    /// What the flows bring.
    pub offered: Offered,
    /// The direction that is offered fewer bytes is down.
    pub(crate) down_is_lighter: bool,
}

/// Where a flow of the list comes from, and what its connection is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// Row of its connection in the capture.
    pub connection: u64,
    /// The host that opened the connection, by number.
    pub client: u32,
    /// Of a script: bytes against the direction of the flow.
    pub back_bytes: u64,
    /// Longest wait of its script.
    pub longest_wait: Time,
    /// When it starts in the capture, s.
    pub begun_s: f64,
    /// How long it lasts there, s; None where nobody waits for it.
    pub lasted_s: Option<f64>,
}

/// One direction of a call in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Place in the list.
    pub row: u32,
    /// Packets that it had in the capture.
    pub packets: u64,
}

/// What the flows bring, data packets with headers, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Toward the near side.
    pub down_bytes: u64,
    /// From the near side.
    pub up_bytes: u64,
}

impl List {
    /// Most packets that the calls have together in the run: their packets have the mean length of those captured, in
    /// whole bytes, so that they are a few more or fewer.
    pub fn call_trace_limit(&self) -> u64 {
        let packets = self.calls.iter().fold(0_u64, |sum, call| sum.saturating_add(call.packets));
        packets.saturating_add(packets / 20).saturating_add(10 * self.calls.len() as u64)
    }

    pub(crate) fn of(captured: &Captured<'_>) -> Result<List, Refused> {
        let Captured { known, rows, steps, missing, asides, rtt_s } = captured;
        if known.form != Form::Users {
            return refused(ONLY_USERS);
        }
        let users = rows.iter().map(|row| (row.start_s, known.ends.opener[row.connection as usize], row.lasted_s));
        let (hosts, numbers) = hosts(rows, &known.ends);
        let mut making = Making { captured, numbers: &numbers, scripts: Scripts::default(), bursts: Bursts::default() };
        let (mut flows, mut origins) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let (mut wire_bytes, mut usual_bytes, mut end_s) = ([0_u64; 2], [0_u64; 2], 0.0_f64);
        for (place, (row, start)) in rows.iter().zip(tied(users)).enumerate() {
            let (flow, origin) = making.flow(place, row, start)?;
            let up = usize::from(flow.up);
            match row.what {
                // A flow without end is counted nowhere.
                Source::Script(..) if flow.size_bytes >= MOST_BYTES => {}
                Source::Script(from, to) => {
                    for (sums, sizes) in [(&mut wire_bytes, known.sizes), (&mut usual_bytes, USUAL)] {
                        for step in &steps[from..to] {
                            let way = if step.from_opener == row.from_opener { up } else { 1 - up };
                            sums[way] = sums[way].saturating_add(sizes.wire_bytes(step.bytes));
                        }
                    }
                    end_s = end_s.max(row.start_s);
                }
                Source::Datagrams(one) => {
                    let own = &known.datagrams[one];
                    for sums in [&mut wire_bytes, &mut usual_bytes] {
                        sums[up] = sums[up].saturating_add(own.wire_bytes);
                    }
                    end_s = end_s.max(row.start_s + own.end_s);
                }
                Source::Transfer(_) => {}
            }
            flows.push(flow);
            origins.push(origin);
        }
        let span_s = known.lasted_s.max(end_s);
        refuse_clock_jump(&rows.iter().map(|row| row.start_s).collect::<Vec<_>>(), &known.name, span_s)?;
        let Making { mut scripts, bursts, .. } = making;
        scripts.done = vec![true; scripts.list.len()];
        let call = |(place, packets): (usize, u64)| Call { row: place as u32, packets };
        Ok(List {
            calls: captured.calls().into_iter().map(call).collect(),
            flows,
            scripts,
            bursts,
            origins,
            hosts,
            span_s,
            rtt_s: *rtt_s,
            missing: missing.clone(),
            asides: asides.clone(),
            duration: Time(((span_s + DRAIN_S.max(span_s)) * 1e9).round_ties_even() as u64),
            offered: Offered { down_bytes: wire_bytes[0], up_bytes: wire_bytes[1] },
            down_is_lighter: usual_bytes[0] < usual_bytes[1],
        })
    }
}

/// The addresses of the hosts of a list, and of each address its number there.
fn hosts(rows: &[Row], ends: &Ends) -> (Vec<String>, Vec<u32>) {
    let mut used = vec![false; ends.addresses.len()];
    for row in rows {
        used[ends.opener[row.connection as usize] as usize] = true;
        used[ends.responder[row.connection as usize] as usize] = true;
    }
    let mut names = Vec::new();
    let mut numbers = vec![0; used.len()];
    for (address, _) in used.iter().enumerate().filter(|&(_, &used)| used) {
        numbers[address] = names.len() as u32;
        names.push(ends.addresses[address].to_string());
    }
    (names, numbers)
}

/// A list in the making.
struct Making<'a> {
    captured: &'a Captured<'a>,
    numbers: &'a [u32],
    scripts: Scripts,
    bursts: Bursts,
}

impl Making<'_> {
    fn flow(&mut self, place: usize, row: &Row, start: Start) -> Result<(FlowSpec, Origin), Refused> {
        let known = self.captured.known;
        let connection = row.connection as usize;
        let host = |from_opener: bool| self.numbers[known.ends.sender(connection, from_opener) as usize];
        let client = host(true);
        let flow = FlowSpec {
            start: in_whole_ns(start.start_s),
            rtt: row.rtt_s.map(in_whole_ns),
            src: host(row.from_opener),
            dst: host(!row.from_opener),
            up: row.up(&known.paths),
            receiver_opens: !row.from_opener,
            stage: start.stage,
            after: start.after,
            ..FlowSpec::default()
        };
        let origin = Origin {
            connection: row.connection.into(),
            client,
            back_bytes: 0,
            longest_wait: Time::ZERO,
            begun_s: row.start_s,
            lasted_s: row.lasted_s,
        };
        match row.what {
            Source::Script(from, to) => {
                let script = self.captured.script(place, row, from, to)?;
                let (trains, size_bytes) = (trains(&script), script.bytes());
                let back_bytes = trains.iter().filter(|train| !train.forward).map(|train| train.bytes).sum();
                let longest_wait = trains.iter().map(|train| train.wait).max().unwrap_or(Time::ZERO);
                let number = self.scripts.list.len() as u32;
                self.scripts.list.push(trains);
                let transport = if known.paths[connection].quic { QUIC } else { 0 };
                let flow = FlowSpec { size_bytes, script: Some(number), transport, ..flow };
                Ok((flow, Origin { back_bytes, longest_wait, ..origin }))
            }
            Source::Datagrams(one) => {
                let own = &known.datagrams[one];
                let from = self.bursts.list.len();
                let bursts: &[Burst] = &known.bursts[own.bursts.clone()];
                self.bursts.list.extend_from_slice(bursts);
                self.bursts.of.push((place as u32, from..self.bursts.list.len()));
                let udp = Some((own.packet_bytes, own.gap));
                Ok((FlowSpec { size_bytes: own.size_bytes, udp, ..flow }, origin))
            }
            Source::Transfer(_) => refused(ONLY_USERS),
        }
    }
}

pub(crate) fn in_whole_ns(seconds: f64) -> Time {
    Time((seconds * 1e9).round_ties_even() as u64)
}
