//! Streams of UDP in a capture: what of them is lost or comes too late, and the packets that other figures of them are made
//! of. A lost packet of theirs does not come again. Where the rules come from: `docs/users.md`.

use netsim::{FlowSpec, Run};
use serde::Serialize;
use units::Time;

use crate::context::Facts;
use crate::run_view::Ran;
use crate::stream_class::{Datagram, STREAM_S, StreamClass, Streaming, classes};

/// What the link may hold a packet for until it is of no use, seconds: the delay budget of conversational voice (3GPP
/// TS 23.501, table 5.7.4-1).
const LATE_S: f64 = 0.1;
/// Arrivals that are written down in a run, at most: those of the streams with the fewest packets.
const MOST_HEARD: u64 = 4_000_000;
/// Headers of IP and UDP, bytes.
const HEADER_BYTES: u64 = 28;

/// Streams of UDP, and what is lost of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Streams {
    /// How many: one direction counts as one.
    pub count: u64,
    /// Of these, directions of calls.
    pub calls: u64,
    /// Of these, video of conferences.
    pub videos: u64,
    /// Of these, directions of games.
    pub games: u64,
    /// Share of all their packets that the network lost; `None` when they sent none.
    pub loss: Option<f64>,
    /// The same of the stream that lost most.
    pub loss_worst: Option<f64>,
    /// Share of the packets that the link held for more than 100 ms, of the streams whose arrivals are known; `None` without.
    pub late: Option<f64>,
    /// Share of all their packets that were lost or late; of those lost alone where arrivals are not known.
    pub missing: Option<f64>,
    /// The same of the stream that has most of them.
    pub missing_worst: Option<f64>,
    /// 95 % interval of `missing`; `None` of one run.
    pub missing_ci95: Option<[f64; 2]>,
}

/// What a stream sent, and what of it was lost and late, packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    class: StreamClass,
    sent: u64,
    lost: u64,
    /// `None` where its arrivals are not known.
    late: Option<u64>,
}

/// Rows of the list whose arrivals the figures of streams need: what [`Run::heard`] asks for, before it runs.
pub fn heard(run: &Run, flows: &[FlowSpec], facts: &Facts) -> Vec<u32> {
    let packets = |row: usize| match bursts_of(run, row) {
        Some(list) => list.iter().map(|one| one.packets).sum(),
        None => flows[row].udp.map_or(0, |(len, _)| flows[row].size_bytes.div_ceil(payload_bytes(len))),
    };
    let mut found: Vec<(u64, u32)> = rows(run, flows, facts).map(|row| (packets(row), row as u32)).collect();
    found.sort_unstable();
    let mut together = 0_u64;
    let fits = |&(packets, _): &(u64, u32)| {
        together = together.saturating_add(packets);
        together <= MOST_HEARD
    };
    let mut rows: Vec<u32> = found.into_iter().take_while(fits).map(|(_, row)| row).collect();
    rows.sort_unstable();
    rows
}

/// The bursts of a flow that has its own.
fn bursts_of(run: &Run, row: usize) -> Option<&[netsim::Burst]> {
    let place = run.bursts.of.binary_search_by_key(&(row as u32), |(flow, _)| *flow).ok()?;
    run.bursts.list.get(run.bursts.of[place].1.clone())
}

/// Payload of a packet of so many bytes on the wire, bytes.
fn payload_bytes(len: u32) -> u64 {
    u64::from(len).saturating_sub(HEADER_BYTES).max(1)
}

/// Rows of the streams among the flows of a capture, without the attacker's.
fn rows<'a>(run: &'a Run, flows: &'a [FlowSpec], facts: &'a Facts) -> impl Iterator<Item = usize> + 'a {
    let before = facts.before();
    // Flows that joined those of the capture have a group of their own.
    let own = move |row: usize| {
        facts.capture.is_some()
            && facts.group(row - before) == 0
            && span_s(run, row, &flows[row]).is_some_and(|span_s| span_s >= STREAM_S)
    };
    (before..flows.len()).filter(move |&row| own(row))
}

/// The streams of a run, in the order of the list.
pub(crate) fn streaming(ran: &Ran<'_>) -> Vec<Streaming> {
    let Some(capture) = &ran.facts.capture else { return Vec::new() };
    let begun = |row: &usize| ran.flows[*row].after.is_none() || ran.output.records[*row].start != Time::NEVER;
    let mut arrivals: Vec<_> = ran.output.arrivals.iter().collect();
    arrivals.sort_by_key(|one| one.flow);
    let made = |row: usize| {
        let found = arrivals.binary_search_by_key(&(row as u32), |one| one.flow).ok();
        let times = found.map_or(&[][..], |place| &arrivals[place].times);
        Streaming {
            row,
            connection: capture.connections[row - ran.facts.before()],
            up: ran.flows[row].up,
            class: StreamClass::Other,
            // Of what is not heard nothing but counts is asked for.
            packets: if found.is_some() { packets(ran, row, times) } else { Vec::new() },
            is_heard: found.is_some(),
        }
    };
    let mut all: Vec<Streaming> = rows(ran.run, ran.flows, ran.facts).filter(begun).map(made).collect();
    let is_call = |one: &Streaming| capture.calls.iter().any(|&row| row as usize + ran.facts.before() == one.row);
    let found = classes(&all, is_call);
    all.iter_mut().zip(found).for_each(|(one, class)| one.class = class);
    all
}

/// What of the streams was lost and late.
pub(crate) fn of_run(ran: &Ran<'_>, all: &[Streaming]) -> Vec<Stream> {
    let stream = |one: &Streaming| {
        let record = &ran.output.records[one.row];
        let path_s = path_s(ran, one.row);
        let is_late = |packet: &&Datagram| packet.received_s.is_some_and(|at_s| at_s - packet.sent_s - path_s > LATE_S);
        Stream {
            class: one.class,
            sent: record.packets_sent,
            lost: record.drops + record.lost,
            late: one.is_heard.then(|| one.packets.iter().filter(is_late).count() as u64),
        }
    };
    all.iter().map(stream).collect()
}

/// `None` without a stream.
pub(crate) fn streams<'a>(all: impl Iterator<Item = &'a Stream>) -> Option<Streams> {
    let all: Vec<&Stream> = all.collect();
    let sent: u64 = all.iter().map(|one| one.sent).sum();
    let share = |count: u64, of: u64| (of > 0).then(|| count as f64 / of as f64);
    let missing = |one: &Stream| one.lost + one.late.unwrap_or(0);
    let together = |of: &dyn Fn(&Stream) -> u64| share(all.iter().map(|one| of(one)).sum(), sent);
    let worst = |of: &dyn Fn(&Stream) -> u64| all.iter().filter_map(|one| share(of(one), one.sent)).reduce(f64::max);
    let of_class = |class: StreamClass| all.iter().filter(|one| one.class == class).count() as u64;
    let heard: u64 = all.iter().filter(|one| one.late.is_some()).map(|one| one.sent).sum();
    (!all.is_empty()).then(|| Streams {
        count: all.len() as u64,
        calls: of_class(StreamClass::Call),
        videos: of_class(StreamClass::Video),
        games: of_class(StreamClass::Game),
        loss: together(&|one| one.lost),
        loss_worst: worst(&|one| one.lost),
        late: share(all.iter().filter_map(|one| one.late).sum(), heard),
        missing: together(&missing),
        missing_worst: worst(&missing),
        missing_ci95: None,
    })
}

/// What a packet takes from end to end on the idle path, without the time to send it: half of the round trip, seconds.
fn path_s(ran: &Ran<'_>, row: usize) -> f64 {
    let (flow, network) = (&ran.flows[row], &ran.run.network);
    let of_network = || {
        let link = if flow.up { network.reverse_delay.unwrap_or(network.delay) } else { network.delay };
        (network.access_delay + link + network.exit_delay).as_secs_f64()
    };
    flow.rtt.map_or_else(of_network, |rtt| rtt.as_secs_f64() / 2.0)
}

/// What a stream sends, with the arrivals that are known.
fn packets(ran: &Ran<'_>, row: usize, arrivals: &[Time]) -> Vec<Datagram> {
    let start = ran.start(row);
    let sent = ran.output.records[row].packets_sent as usize;
    let datagram = |(number, (at, len)): (usize, (Time, u32))| Datagram {
        sent_s: (start + at).as_secs_f64(),
        received_s: arrivals.get(number).and_then(|&time| crate::run_view::known(time)),
        len,
    };
    listed(ran.run, row, &ran.flows[row]).take(sent).enumerate().map(datagram).collect()
}

/// When a UDP flow sends its packets, since its start, and their lengths, as the list has them.
fn listed<'a>(run: &'a Run, row: usize, flow: &FlowSpec) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
    if let Some(list) = bursts_of(run, row) {
        let burst = |one: &'a netsim::Burst| (0..one.packets).map(|n| (one.at + Time(one.gap.0 * n), one.len));
        return Box::new(list.iter().flat_map(burst));
    }
    let Some((len, gap)) = flow.udp else { return Box::new(std::iter::empty()) };
    Box::new((0..flow.size_bytes.div_ceil(payload_bytes(len))).map(move |n| (Time(gap.0.saturating_mul(n)), len)))
}

/// From the first packet of a UDP flow to the last one, as the list has them, seconds; `None` of TCP.
fn span_s(run: &Run, row: usize, flow: &FlowSpec) -> Option<f64> {
    let (packet_bytes, gap) = flow.udp?;
    let last_ns = match bursts_of(run, row) {
        Some(list) => list.iter().map(|one| one.at.0 + one.gap.0 * one.packets.saturating_sub(1)).max()?,
        None => flow.size_bytes.div_ceil(payload_bytes(packet_bytes)).saturating_sub(1).saturating_mul(gap.0),
    };
    Some(last_ns as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_packets_and_the_late_ones_join_the_lost() {
        let of = |class, sent, lost, late| Stream { class, sent, lost, late };
        let all = [
            of(StreamClass::Call, 900, 9, Some(1)),
            of(StreamClass::Other, 100, 11, Some(4)),
            of(StreamClass::Game, 0, 0, Some(0)),
        ];
        let found = streams(all.iter()).expect("streams");
        assert_eq!((found.count, found.calls, found.videos, found.games), (3, 1, 0, 1));
        assert_eq!((found.loss, found.loss_worst, found.late), (Some(0.02), Some(0.11), Some(0.005)));
        assert_eq!((found.missing, found.missing_worst), (Some(0.025), Some(0.15)));
        let unknown = streams([of(StreamClass::Other, 100, 3, None)].iter()).expect("streams");
        assert_eq!((unknown.late, unknown.missing), (None, Some(0.03)));
        let some = [of(StreamClass::Other, 100, 3, None), of(StreamClass::Other, 100, 1, Some(6))];
        let some = streams(some.iter()).expect("streams");
        assert_eq!((some.late, some.missing), (Some(0.06), Some(0.05)));
        assert_eq!(streams([].iter()), None);
    }
}
