//! Streams of UDP in a capture, and what they lost: a lost packet of theirs does not come again.

use netsim::FlowSpec;
use serde::Serialize;

use crate::run_view::Ran;

/// A flow whose packets come for at least so long is a stream, seconds.
const STREAM_S: f64 = 10.0;
/// Headers of IP and UDP, bytes.
const HEADER_BYTES: u64 = 28;

/// Loss of the streams of UDP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Streams {
    /// How many: one direction counts as one.
    pub count: u64,
    /// Share of all their packets that the network lost; `None` when they sent none.
    pub loss: Option<f64>,
    /// The same of the stream that lost most.
    pub loss_worst: Option<f64>,
    /// 95 % interval of `loss`; `None` of one run.
    pub loss_ci95: Option<[f64; 2]>,
}

/// What a stream sent, and what of it the network lost, packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    sent: u64,
    lost: u64,
}

/// The streams among the flows of a capture, without the attacker's.
pub(crate) fn of_run(ran: &Ran<'_>) -> Vec<Stream> {
    if ran.facts.capture.is_none() {
        return Vec::new();
    }
    let before = ran.facts.before();
    // Flows that joined those of the capture have a group of their own.
    let own = ran.begun().filter(|&(row, flow)| {
        ran.facts.group(row - before) == 0 && span_s(ran, row, flow).is_some_and(|span_s| span_s >= STREAM_S)
    });
    own.map(|(row, _)| {
        let record = &ran.output.records[row];
        Stream { sent: record.packets_sent, lost: record.drops + record.lost }
    })
    .collect()
}

/// `None` without a stream.
pub(crate) fn streams<'a>(all: impl Iterator<Item = &'a Stream>) -> Option<Streams> {
    let (mut count, mut sent, mut lost, mut worst) = (0, 0_u64, 0_u64, None::<f64>);
    for one in all {
        count += 1;
        sent += one.sent;
        lost += one.lost;
        if one.sent > 0 {
            let own = one.lost as f64 / one.sent as f64;
            worst = Some(worst.map_or(own, |most| most.max(own)));
        }
    }
    let loss = (sent > 0).then(|| lost as f64 / sent as f64);
    (count > 0).then_some(Streams { count, loss, loss_worst: worst, loss_ci95: None })
}

/// From the first packet of a UDP flow to the last one, as the list has them, seconds.
fn span_s(ran: &Ran<'_>, row: usize, flow: &FlowSpec) -> Option<f64> {
    let (packet_bytes, gap) = flow.udp?;
    let bursts = &ran.run.bursts;
    let own = bursts.of.binary_search_by_key(&(row as u32), |(flow, _)| *flow).ok();
    let last_ns = match own.and_then(|place| bursts.list.get(bursts.of[place].1.clone())) {
        Some(list) => list.iter().map(|one| one.at.0 + one.gap.0 * one.packets.saturating_sub(1)).max()?,
        None => {
            let payload = u64::from(packet_bytes).saturating_sub(HEADER_BYTES).max(1);
            flow.size_bytes.div_ceil(payload).saturating_sub(1).saturating_mul(gap.0)
        }
    };
    Some(last_ns as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_is_that_of_all_packets() {
        let all = [Stream { sent: 900, lost: 9 }, Stream { sent: 100, lost: 11 }, Stream { sent: 0, lost: 0 }];
        let found = streams(all.iter()).expect("streams");
        assert_eq!((found.count, found.loss, found.loss_worst), (3, Some(0.02), Some(0.11)));
        assert_eq!(streams([].iter()), None);
    }
}
