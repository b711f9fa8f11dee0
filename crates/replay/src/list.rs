//! The list of flows of a replay.

use capture::Protocol;
use netsim::{Burst, Bursts, FlowSpec, Scripts};
use units::Time;
use workload::MOST_BYTES;

use crate::closed::{Start, closed};
use crate::known::{Known, Sizes};
use crate::link::Link;
use crate::missing::{self, ASSUMED_RTT_S, assumed_rtt};
use crate::numbers::median;
use crate::paths::{Path, as_rtt, round_trips, usual_round_trip};
use crate::refused::{Refused, refused};
use crate::script::script;
use crate::span::refuse_clock_jump;
use crate::text;
use crate::trains::{Step, steps};
use hosts::Ends;

/// Latest start that a flow list may hold, s.
const LATEST_S: f64 = 1e9;
/// Time after the last start of the capture for transfers to end, at least; as long again as the capture when longer.
const DRAIN_S: f64 = 60.0;
/// Packets by which the directions are compared for the probes.
const USUAL: Sizes = Sizes { mss: 1460, header_bytes: 40 };

/// The list of flows of a replay, with users who wait.
#[derive(Clone, Debug)]
pub struct List {
    /// In the order of their starts in the capture.
    pub flows: Vec<FlowSpec>,
    /// What the ends of TCP connections say to each other.
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
    /// Of the run: as long again as the capture, a minute at least, for its flows to end.
    pub duration: Time,
    /// What the flows bring.
    pub offered: Offered,
    /// The direction that is offered fewer bytes is down.
    pub(crate) down_is_lighter: bool,
}

/// Where a flow of the list comes from, and what its connection is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Row of its connection in the capture.
    pub connection: u64,
    /// The host that opened the connection, by number.
    pub client: u32,
    /// Of a script: bytes against the direction of the flow.
    pub back_bytes: u64,
    /// Longest wait of its script.
    pub longest_wait: Time,
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

/// What a row of the list is made of.
#[derive(Clone, Copy, Debug)]
enum What {
    /// Steps of one connection, from one place to another.
    Script(usize, usize),
    /// A direction of UDP, by place.
    Datagrams(usize),
}

/// A flow that is not numbered yet.
#[derive(Clone, Copy, Debug)]
struct Row {
    start_s: f64,
    connection: u32,
    from_opener: bool,
    /// From its start to its last data, where somebody may wait for it.
    lasted_s: Option<f64>,
    rtt_s: Option<f64>,
    what: What,
}

impl Row {
    fn up(&self, paths: &[Path]) -> bool {
        self.from_opener == paths[self.connection as usize].opener_up
    }
}

impl List {
    /// Most packets that the calls have together in the run: their packets have the mean length of those captured, in
    /// whole bytes, so that they are a few more or fewer.
    pub fn call_trace_limit(&self) -> u64 {
        let packets = self.calls.iter().fold(0_u64, |sum, call| sum.saturating_add(call.packets));
        packets.saturating_add(packets / 20).saturating_add(10 * self.calls.len() as u64)
    }

    pub(crate) fn of(known: &Known, link: &Link, rtt_s: Option<f64>) -> Result<List, Refused> {
        // Before rows are formed, whose bounds would say less.
        refuse_clock_jump(&known.begun_s, &known.name, known.lasted_s)?;
        let steps = steps(&known.pieces, &known.paths, &known.ends, link, u64::from(known.sizes.mss.max(1)));
        let mut rows = rows(known, link, &steps);
        let Some(first_s) = rows.iter().map(|row| row.start_s).min_by(f64::total_cmp) else {
            return refused("no TCP connection with payload and no UDP flow to replay");
        };
        rows.iter_mut().for_each(|row| row.start_s -= first_s);
        rows.sort_by(|first, second| {
            first.start_s.total_cmp(&second.start_s).then(first.connection.cmp(&second.connection))
        });
        check(&rows, known)?;
        let mut missing = Vec::new();
        missing.extend(asides(known, &steps));
        let usual_s = usual_round_trip(&known.paths, &known.ends, &link.bases_s);
        let unknown = rtt_s.is_none() && rows.iter().all(|row| row.rtt_s.is_none());
        if unknown {
            missing.push(assumed_rtt());
        }
        let rtt_s = if unknown { Some(ASSUMED_RTT_S) } else { rtt_s };
        with_round_trips(&mut rows, usual_s, rtt_s);
        let rtt_s =
            rtt_s.or(usual_s).or_else(|| median(&mut rows.iter().filter_map(|row| row.rtt_s).collect::<Vec<_>>()));
        let starts_s: Vec<f64> = rows.iter().map(|row| row.start_s).collect();
        let users = rows.iter().map(|row| (row.start_s, known.ends.opener[row.connection as usize], row.lasted_s));
        let (hosts, numbers) = hosts(&rows, &known.ends);
        let mut making = Making { known, numbers: &numbers, scripts: Scripts::default(), bursts: Bursts::default() };
        let (mut flows, mut origins) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let (mut wire_bytes, mut usual_bytes, mut end_s) = ([0_u64; 2], [0_u64; 2], 0.0_f64);
        for (place, (row, start)) in rows.iter().zip(closed(users)).enumerate() {
            let (flow, origin) = making.flow(place, row, start, &steps)?;
            let up = usize::from(flow.up);
            match row.what {
                // A flow without end is counted nowhere.
                What::Script(..) if flow.size_bytes >= MOST_BYTES => {}
                What::Script(from, to) => {
                    for (sums, sizes) in [(&mut wire_bytes, known.sizes), (&mut usual_bytes, USUAL)] {
                        for step in &steps[from..to] {
                            let way = if step.from_opener == row.from_opener { up } else { 1 - up };
                            sums[way] = sums[way].saturating_add(sizes.wire_bytes(step.bytes));
                        }
                    }
                    end_s = end_s.max(row.start_s);
                }
                What::Datagrams(one) => {
                    let own = &known.datagrams[one];
                    for sums in [&mut wire_bytes, &mut usual_bytes] {
                        sums[up] = sums[up].saturating_add(own.wire_bytes);
                    }
                    end_s = end_s.max(row.start_s + own.end_s);
                }
            }
            flows.push(flow);
            origins.push(origin);
        }
        let span_s = known.lasted_s.max(end_s);
        refuse_clock_jump(&starts_s, &known.name, span_s)?;
        let Making { mut scripts, bursts, .. } = making;
        scripts.done = vec![true; scripts.list.len()];
        Ok(List {
            calls: calls(known, &rows),
            flows,
            scripts,
            bursts,
            origins,
            hosts,
            span_s,
            rtt_s,
            missing,
            duration: Time(((span_s + DRAIN_S.max(span_s)) * 1e9).round_ties_even() as u64),
            offered: Offered { down_bytes: wire_bytes[0], up_bytes: wire_bytes[1] },
            down_is_lighter: usual_bytes[0] < usual_bytes[1],
        })
    }
}

/// What the steps lack of the trains, in words.
fn asides(known: &Known, steps: &[Step]) -> Option<String> {
    let way =
        |connection: u32, from_opener: bool| usize::from(from_opener == known.paths[connection as usize].opener_up);
    let mut all = [0_u64; 2];
    for piece in &known.pieces {
        all[way(piece.connection, piece.from_opener)] += piece.bytes;
    }
    let mut left = all;
    for step in steps {
        left[way(step.connection, step.from_opener)] -= step.bytes;
    }
    missing::asides(left, all)
}

/// The flows at the times of the capture: connections of TCP, then directions of UDP.
fn rows(known: &Known, link: &Link, steps: &[Step]) -> Vec<Row> {
    let rtts_s = round_trips(&known.paths, &known.ends, &link.bases_s);
    let mut rows = Vec::new();
    let mut place = 0;
    for own in steps.chunk_by(|first, second| first.connection == second.connection) {
        let (from, to) = (place, place + own.len());
        place = to;
        let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
        let path = &known.paths[first.connection as usize];
        let rtt_s = rtts_s[first.connection as usize];
        let start_s = match path.setup_s {
            None => first.start_s - rtt_s.unwrap_or(0.0),
            Some(_) => path.begun_s,
        };
        rows.push(Row {
            start_s,
            connection: first.connection,
            from_opener: first.from_opener,
            lasted_s: Some(last.end_s - start_s),
            rtt_s,
            what: What::Script(from, to),
        });
    }
    rows.extend(known.datagrams.iter().enumerate().map(|(place, one)| Row {
        start_s: one.start_s,
        connection: one.connection,
        from_opener: one.from_opener,
        lasted_s: None,
        rtt_s: rtts_s[one.connection as usize],
        what: What::Datagrams(place),
    }));
    rows
}

/// # Errors
/// A start beyond what a flow list holds, packets that come too late, or too many bytes.
fn check(rows: &[Row], known: &Known) -> Result<(), Refused> {
    let named = |place: usize| format!("flows of the capture: row {}", place + 1);
    if let Some((place, row)) = rows.iter().enumerate().find(|(_, row)| row.start_s > LATEST_S) {
        return refused(format!(
            "{}: start_s = {:?}: must be a number from 0 to 1000000000 s",
            named(place),
            row.start_s
        ));
    }
    let datagrams = |row: &Row| match row.what {
        What::Datagrams(one) => Some(&known.datagrams[one]),
        What::Script(..) => None,
    };
    let late = |(place, row): (usize, &Row)| datagrams(row).and_then(|one| one.too_late).map(|late| (place, late));
    if let Some((place, (at_s, len, packets))) = rows.iter().enumerate().find_map(late) {
        let at_s = text::general(at_s);
        return refused(format!("{}: burst {at_s}:{len}x{packets}/0: must be over within 2 years", named(place)));
    }
    let large = |(_, row): &(usize, &Row)| datagrams(row).is_some_and(|one| one.size_bytes > MOST_BYTES);
    if let Some((place, size)) =
        rows.iter().enumerate().find(large).and_then(|(place, row)| Some((place, datagrams(row)?.size_bytes)))
    {
        let bound = "must be a whole number from 1 to 1099511627776 bytes";
        return refused(format!("{}: size_bytes = {size}: {bound}", named(place)));
    }
    Ok(())
}

/// Multiplies the round-trip times by one factor, so that `usual_s`, that of the path, is `rtt_s`, within what a flow list
/// may hold.
fn with_round_trips(rows: &mut [Row], usual_s: Option<f64>, rtt_s: Option<f64>) {
    let Some(wanted_s) = rtt_s else { return };
    let factor = usual_s.map(|usual_s| wanted_s / usual_s);
    for row in rows {
        // Where none is known, all have the one that is wanted.
        row.rtt_s = Some(as_rtt(row.rtt_s.zip(factor).map_or(wanted_s, |(own_s, factor)| own_s * factor)));
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

/// The directions of calls of which both are in the list.
fn calls(known: &Known, rows: &[Row]) -> Vec<Call> {
    let ways = |row: &Row| rows.iter().filter(|other| other.connection == row.connection).count();
    let is_call = |(_, row): &(usize, &Row)| known.calls.iter().any(|call| call.connection == row.connection);
    let call = |(place, row): (usize, &Row)| {
        let call = known.calls.iter().find(|call| call.connection == row.connection)?;
        let packets = if row.from_opener { call.opener_packets } else { call.responder_packets };
        Some(Call { row: place as u32, packets })
    };
    rows.iter().enumerate().filter(is_call).filter(|(_, row)| ways(row) == 2).filter_map(call).collect()
}

/// A list in the making.
struct Making<'a> {
    known: &'a Known,
    numbers: &'a [u32],
    scripts: Scripts,
    bursts: Bursts,
}

impl Making<'_> {
    fn flow(&mut self, place: usize, row: &Row, start: Start, steps: &[Step]) -> Result<(FlowSpec, Origin), Refused> {
        let known = self.known;
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
        let origin = Origin { connection: row.connection.into(), client, back_bytes: 0, longest_wait: Time::ZERO };
        match row.what {
            What::Script(from, to) => {
                let (trains, size_bytes) = script(place, &steps[from..to], known.paths[connection].opener_up)?;
                let back_bytes = trains.iter().filter(|train| !train.forward).map(|train| train.bytes).sum();
                let longest_wait = trains.iter().map(|train| train.wait).max().unwrap_or(Time::ZERO);
                let number = self.scripts.list.len() as u32;
                self.scripts.list.push(trains);
                let flow = FlowSpec { size_bytes, script: Some(number), ..flow };
                Ok((flow, Origin { back_bytes, longest_wait, ..origin }))
            }
            What::Datagrams(one) => {
                let own = &known.datagrams[one];
                let from = self.bursts.list.len();
                let bursts: &[Burst] = &known.bursts[own.bursts.clone()];
                self.bursts.list.extend_from_slice(bursts);
                self.bursts.of.push((place as u32, from..self.bursts.list.len()));
                let udp = Some((own.packet_bytes, own.gap));
                Ok((FlowSpec { size_bytes: own.size_bytes, udp, ..flow }, origin))
            }
        }
    }
}

fn in_whole_ns(seconds: f64) -> Time {
    Time((seconds * 1e9).round_ties_even() as u64)
}

/// Whether a capture holds something to replay.
pub(crate) fn carries(connections: &[capture::Connection]) -> bool {
    connections.iter().any(|one| match one.protocol {
        Protocol::Tcp => one.from_opener.distinct_bytes > 0 || one.from_responder.distinct_bytes > 0,
        Protocol::Udp => true,
        Protocol::Icmp => false,
    })
}
