//! The packets of a part of a run, one by one.

use metrics::Kind;
use netsim::{Output, PacketTrace};
use serde::Serialize;
use units::Time;

use crate::request::Inside;
use crate::workload::Prepared;

/// Packets traced at most: some 60 MB.
const MOST_TRACED: u64 = 1_000_000;
/// Packets handed over at most.
const MOST_SHOWN: usize = 200_000;

/// Has every packet of the run traced.
pub(crate) fn trace_all(prepared: &mut Prepared) {
    prepared.run.traced = (0..prepared.flows.len() as u32).collect();
    prepared.run.trace_limit = MOST_TRACED;
}

/// What is shown.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Inside"))]
pub(crate) struct Packets {
    from_s: f64,
    to_s: f64,
    flows: Flows,
    packets: Columns,
    timeouts: Timeouts,
    /// Packets of that time that are left out for want of room.
    left_out: usize,
}

#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "InsideFlows"))]
struct Flows {
    id: Vec<u32>,
    kind: Vec<usize>,
    size_bytes: Vec<u64>,
    up: Vec<u8>,
}

/// Times in ns; null for what did not happen.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "InsidePackets"))]
struct Columns {
    flow: Vec<u32>,
    number: Vec<u32>,
    bytes: Vec<u32>,
    sent_ns: Vec<Option<u64>>,
    queued_ns: Vec<Option<u64>>,
    departed_ns: Vec<Option<u64>>,
    received_ns: Vec<Option<u64>>,
    dropped_ns: Vec<Option<u64>>,
    /// 1 for what the receiver of the flow sends: acknowledgements, and answers of scripts.
    back: Vec<u8>,
    /// 1 for what only acknowledges, and has numbers of its own.
    ack: Vec<u8>,
    /// 1 for those that a queue marked.
    marked: Vec<u8>,
}

#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "InsideTimeouts"))]
struct Timeouts {
    flow: Vec<u32>,
    time_ns: Vec<u64>,
}

fn known(time: Time) -> Option<u64> {
    (time != Time::NEVER).then_some(time.0)
}

/// Whether a packet was under way in that time.
fn is_within(packet: &PacketTrace, inside: Inside) -> bool {
    let first = packet.sent.as_secs_f64();
    let gone = [packet.received, packet.dropped].into_iter().min().unwrap_or(Time::NEVER);
    first < inside.to_s && (gone == Time::NEVER || gone.as_secs_f64() >= inside.from_s)
}

impl Packets {
    pub(crate) fn of(inside: Inside, prepared: &Prepared, kinds: &[Kind], output: &Output) -> Packets {
        let all = output.packets.iter().filter(|packet| is_within(packet, inside));
        let mut columns = Columns::default();
        let mut seen = vec![false; prepared.flows.len()];
        let mut left_out = 0;
        for packet in all {
            if columns.flow.len() == MOST_SHOWN {
                left_out += 1;
                continue;
            }
            seen[packet.flow as usize] = true;
            columns.flow.push(packet.flow);
            columns.number.push(packet.number);
            columns.bytes.push(packet.len);
            columns.sent_ns.push(known(packet.sent));
            columns.queued_ns.push(known(packet.queued));
            columns.departed_ns.push(known(packet.departed));
            columns.received_ns.push(known(packet.received));
            columns.dropped_ns.push(known(packet.dropped));
            columns.back.push(u8::from(packet.back));
            columns.ack.push(u8::from(packet.ack));
            columns.marked.push(u8::from(packet.marked));
        }
        let mut flows = Flows::default();
        for (row, flow) in prepared.flows.iter().enumerate().filter(|(row, _)| seen[*row]) {
            flows.id.push(row as u32);
            flows.kind.push(kinds[row].place());
            flows.size_bytes.push(flow.size_bytes);
            flows.up.push(u8::from(flow.up));
        }
        let mut timeouts = Timeouts::default();
        for timeout in &output.timeouts {
            let at = timeout.time.as_secs_f64();
            if (inside.from_s..inside.to_s).contains(&at) {
                timeouts.flow.push(timeout.flow);
                timeouts.time_ns.push(timeout.time.0);
            }
        }
        left_out += output.counters.beyond_trace as usize;
        Packets { from_s: inside.from_s, to_s: inside.to_s, flows, packets: columns, timeouts, left_out }
    }
}
