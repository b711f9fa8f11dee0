//! What a workload offers the link, of flows that ran; [`workload::offered`] has the rule.

use units::Time;
use workload::{Segments, Volume};

use crate::run_view::Ran;

/// Which flows of a list offer something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offering {
    /// All of them, as of a capture, whatever becomes of those before.
    All,
    /// Those that came to start.
    Begun,
}

/// Bytes of data packets with their headers that the flows of `ran` bring down and up: without probes, flows of TCP that
/// never end and applications. Acknowledgements, SYN and FIN come on top.
pub fn offered_bytes(ran: &Ran<'_>, offering: Offering) -> [u64; 2] {
    let segments = Segments { mss: u64::from(ran.run.tcp.mss), header_bytes: u64::from(ran.run.tcp.headers()) };
    let mut of_bursts = vec![None; ran.flows.len()];
    for (flow, part) in &ran.run.bursts.of {
        let bursts = ran.run.bursts.list.get(part.clone()).unwrap_or_default();
        let bytes = bursts.iter().map(|burst| burst.packets.saturating_mul(u64::from(burst.len)));
        if let Some(own) = of_bursts.get_mut(*flow as usize) {
            let wire_bytes = bytes.fold(0, u64::saturating_add);
            *own = Some(Volume { size_bytes: 0, wire_bytes, packet_bytes: 0, end_s: 0.0 });
        }
    }
    let flows = ran.flows.iter().enumerate().skip(ran.facts.before()).filter(|&(row, flow)| {
        offering == Offering::All || flow.after.is_none() || ran.output.records[row].start != Time::NEVER
    });
    let offerings = flows.map(|(row, flow)| {
        let trains = ran
            .script(flow)
            .map(|trains| segments.of_trains(trains.iter().map(|train| (flow.up == train.forward, train.bytes))));
        workload::Offering {
            up: flow.up,
            udp: flow.udp.is_some(),
            application: flow.application > 0,
            start_s: 0.0,
            size_bytes: flow.size_bytes,
            packet_bytes: flow.udp.map(|(len, _)| u64::from(len)),
            rate_bps: None,
            bursts: of_bursts[row],
            trains,
        }
    });
    workload::offered(offerings, segments).ways.map(|way| way.wire_bytes)
}
