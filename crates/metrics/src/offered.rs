//! What a workload offers the link.

use units::Time;

use crate::run_view::Ran;
use crate::sizes::ENDLESS_BYTES;

/// Headers of a datagram, bytes.
const UDP_HEADER: u64 = 28;

/// Which flows of a list offer something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offering {
    /// All of them, as of a capture, whatever becomes of those before.
    All,
    /// Those that came to start.
    Begun,
}

/// Bytes of data packets with their headers that the flows of `ran` bring down and up, as `offered` of the crate
/// `workload` counts them: without probes, flows of TCP that never end and applications. Acknowledgements, SYN
/// and FIN come on top.
pub fn offered_bytes(ran: &Ran<'_>, offering: Offering) -> [u64; 2] {
    let (mss, header) = (u64::from(ran.run.tcp.mss), u64::from(ran.run.tcp.headers()));
    let on_wire = |size: u64| size + size.div_ceil(mss) * header;
    let mut of_bursts = vec![None; ran.flows.len()];
    for (flow, part) in &ran.run.bursts.of {
        let bursts = ran.run.bursts.list.get(part.clone()).unwrap_or_default();
        let bytes = bursts.iter().map(|burst| burst.packets.saturating_mul(u64::from(burst.len)));
        if let Some(own) = of_bursts.get_mut(*flow as usize) {
            *own = Some(bytes.fold(0, u64::saturating_add));
        }
    }
    let mut bytes = [0_u64; 2];
    for (row, flow) in ran.flows.iter().enumerate().skip(ran.facts.before()) {
        let endless = flow.udp.is_none() && flow.size_bytes == ENDLESS_BYTES;
        let waits = flow.after.is_some() && ran.output.records[row].start == Time::NEVER;
        if endless || flow.application > 0 || (waits && offering == Offering::Begun) {
            continue;
        }
        let mut add = |up: bool, wire: u64| bytes[usize::from(up)] = bytes[usize::from(up)].saturating_add(wire);
        match (ran.script(flow), flow.udp) {
            (Some(trains), _) => trains.iter().for_each(|train| add(flow.up == train.forward, on_wire(train.bytes))),
            (None, Some((len, _))) => {
                let packets = flow.size_bytes.div_ceil(u64::from(len).saturating_sub(UDP_HEADER).max(1));
                add(flow.up, of_bursts[row].unwrap_or(packets.saturating_mul(u64::from(len))));
            }
            (None, None) => add(flow.up, on_wire(flow.size_bytes)),
        }
    }
    bytes
}
