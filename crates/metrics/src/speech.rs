//! Packets of the calls of a run: of the capture, of the workload, and of the synthetic one.

use std::collections::BTreeMap;

use netsim::Application;
use netsim::app::Medium;

use crate::context::ProbeName;
use crate::playout::{Heard, Pair};
use crate::run_view::{Ran, known};

/// The calls of a capture, from the trace of their packets; in order of their connections.
pub(crate) fn of_capture(ran: &Ran<'_>) -> Vec<Pair> {
    let Some(capture) = &ran.facts.capture else { return Vec::new() };
    let before = ran.facts.before();
    let calls: BTreeMap<u32, u32> =
        capture.calls.iter().map(|&row| (row + before as u32, capture.connections[row as usize])).collect();
    let mut found: BTreeMap<u32, Pair> = BTreeMap::new();
    for packet in ran.output.packets.iter().filter(|packet| !packet.back) {
        if let Some(&connection) = calls.get(&packet.flow) {
            let way = usize::from(ran.flows[packet.flow as usize].up);
            let heard = Heard { sent_s: packet.sent.as_secs_f64(), received_s: known(packet.received) };
            found.entry(connection).or_default()[way].push(heard);
        }
    }
    found.into_values().collect()
}

/// The calls of the applications: both ways of one have the same hosts and the same start.
pub(crate) fn of_workload(ran: &Ran<'_>) -> Vec<Pair> {
    let is_call = |row: usize| {
        let number = usize::from(ran.flows[row].application);
        let application = number.checked_sub(1).and_then(|place| ran.run.applications.get(place));
        matches!(application, Some(Application::Call(_)))
    };
    let mut found: BTreeMap<(u32, u32, u64), Pair> = BTreeMap::new();
    for frame in ran.output.frames.iter().filter(|frame| frame.medium == Medium::Audio) {
        let row = frame.flow as usize;
        if !is_call(row) {
            continue;
        }
        let flow = &ran.flows[row];
        let (far, near) = if flow.up { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        let heard = Heard { sent_s: frame.made.as_secs_f64(), received_s: known(frame.received) };
        let way = usize::from(flow.up);
        found.entry((far, near, ran.start(row).0)).or_default()[way].push(heard);
    }
    found.into_values().collect()
}

/// The packets of the synthetic call of a run.
pub(crate) fn synthetic(ran: &Ran<'_>) -> Pair {
    [ProbeName::CallDown, ProbeName::CallUp].map(|name| {
        let heard =
            |one: &netsim::ProbePacket| Heard { sent_s: one.sent.as_secs_f64(), received_s: known(one.received) };
        ran.probe(name).map(heard).collect()
    })
}
