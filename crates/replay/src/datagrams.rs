//! Flows of a capture packet by packet.

use std::ops::Range;

use capture::Packet;
use netsim::Burst;
use units::Time;

use crate::numbers::seconds;
use crate::paths::Path;

/// IPv4 and UDP header, bytes.
const HEADER_BYTES: f64 = 28.0;
/// Smallest and largest packet of a burst, bytes.
const LENGTHS: [f64; 2] = [29.0, 65_535.0];
/// Latest packet after the start of its flow, s: 2 years.
const LONGEST_S: f64 = 63_072_000.0;
/// Rates that a flow list may hold, bit/s.
const RATES_BPS: [f64; 2] = [1.0, 1e12];
/// Where whole numbers in floating point end.
const MOST: f64 = 9_007_199_254_740_992.0;

/// One direction of a connection, packet by packet.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    pub(crate) connection: u32,
    pub(crate) from_opener: bool,
    pub(crate) start_s: f64,
    /// In the list of bursts.
    pub(crate) bursts: Range<usize>,
    pub(crate) size_bytes: u64,
    pub(crate) wire_bytes: u64,
    /// Longest packet.
    pub(crate) packet_bytes: u32,
    /// Last packet after the start.
    pub(crate) end_s: f64,
    /// Mean rate on the wire.
    pub(crate) rate_bps: f64,
    pub(crate) gap: Time,
    /// Time, length and number of packets that come too late to be replayed.
    pub(crate) too_late: Option<(f64, u32, u64)>,
}

/// Directions of UDP flows other than QUIC and of protocols whose headers are not read, or of `all` connections, by connection and first packet, and the bursts of all.
pub(crate) fn datagrams(packets: &[Packet], paths: &[Path], all: bool) -> (Vec<Datagrams>, Vec<Burst>) {
    let (mut flows, mut bursts) = (Vec::new(), Vec::new());
    for own in packets.chunk_by(|first, second| first.connection == second.connection) {
        let Some(first) = own.first() else { continue };
        if !all && paths[first.connection as usize].has_trains {
            continue;
        }
        for from_opener in [first.from_opener, !first.from_opener] {
            let side = own.iter().filter(|packet| packet.from_opener == from_opener);
            flows.extend(direction(side, &mut bursts));
        }
    }
    (flows, bursts)
}

fn direction<'a>(mut packets: impl Iterator<Item = &'a Packet>, bursts: &mut Vec<Burst>) -> Option<Datagrams> {
    let first = packets.next()?;
    let (start_s, begun) = (seconds(first.time_ns), bursts.len());
    let (mut payload, mut wire, mut too_late) = (0.0, 0.0, None);
    for packet in std::iter::once(first).chain(packets) {
        // To the nanosecond and written down, as a flow list has it.
        let at_s = ((seconds(packet.time_ns) - start_s) * 1e9).round_ties_even() / 1e9;
        let mean = packet.wire_bytes as f64 / f64::from(packet.packets);
        let length = mean.round_ties_even().clamp(LENGTHS[0], LENGTHS[1]);
        let (len, packets) = (length as u32, u64::from(packet.packets));
        bursts.push(Burst { at: Time((at_s * 1e9).round_ties_even() as u64), gap: Time::ZERO, packets, len });
        payload += packets as f64 * (length - HEADER_BYTES);
        wire += packets as f64 * length;
        if at_s > LONGEST_S && too_late.is_none() {
            too_late = Some((at_s, len, packets));
        }
    }
    let own = &bursts[begun..];
    let end_s = own.iter().map(|burst| burst.at.0).max().unwrap_or(0) as f64 * 1e-9;
    let packet_bytes = own.iter().map(|burst| burst.len).max().unwrap_or(0);
    let wire_bytes = wire.min(MOST);
    let rate_bps = (wire_bytes * 8.0 / end_s.max(1e-6)).clamp(RATES_BPS[0], RATES_BPS[1]);
    Some(Datagrams {
        connection: first.connection as u32,
        from_opener: first.from_opener,
        start_s,
        bursts: begun..bursts.len(),
        size_bytes: payload.min(MOST) as u64,
        wire_bytes: wire_bytes as u64,
        packet_bytes,
        end_s,
        rate_bps,
        gap: gap(packet_bytes, rate_bps),
        too_late,
    })
}

/// Time between packets of this length at this rate.
pub(crate) fn gap(packet_bytes: u32, rate_bps: f64) -> Time {
    Time((f64::from(packet_bytes) * 8e9 / rate_bps).round_ties_even().max(1.0) as u64)
}
