//! Calls in a capture: UDP in both directions that comes as regularly as speech is sent.
//!
//! A codec of speech sends a packet of some tens to some hundreds of bytes each 15 to 50 ms, in both directions and for as
//! long as the call lasts (RTP with RFC 3551 payloads: 20 ms by default). What is inside is not looked at: a capture may
//! hold headers only, and media is mostly encrypted.

use std::collections::BTreeMap;

use capture::{Connection, Protocol, Side, Volume};

use crate::numbers::seconds;

/// A call lasts so long in both directions.
const LEAST_S: f64 = 10.0;
/// Packets a second of a direction.
const RATES_PPS: std::ops::RangeInclusive<f64> = 20.0..=70.0;
/// Mean length of its packets, with IP and UDP headers.
const LENGTHS_BYTES: std::ops::RangeInclusive<f64> = 60.0..=300.0;
/// Of the whole seconds of a direction: so many have packets at such a rate.
const REGULAR_SHARE: f64 = 0.9;
/// Calls that are measured, those with the most packets ...
const MOST_CALLS: usize = 10;
/// ... as long as they have no more than this together, but one at least.
const MOST_PACKETS: u64 = 1_000_000;

/// Rows of the connections that are calls, those with the most packets first; `volumes` have windows of `width_s`.
pub(crate) fn calls(connections: &[Connection], volumes: &[Volume], width_s: f64) -> Vec<u32> {
    let likely = |one: &Connection| {
        one.protocol == Protocol::Udp
            && !one.quic.is()
            && is_like_speech(&one.from_opener)
            && is_like_speech(&one.from_responder)
    };
    let mut steady: BTreeMap<u64, u32> = BTreeMap::new();
    for own in volumes.chunk_by(|first, second| first.connection == second.connection) {
        let Some(connection) = own.first().map(|one| one.connection) else { continue };
        if connections.get(connection as usize).is_some_and(likely) {
            let ways = [true, false].into_iter().filter(|&from_opener| is_regular(own, from_opener, width_s)).count();
            *steady.entry(connection).or_default() += ways as u32;
        }
    }
    let packets = |row: u32| {
        let one = &connections[row as usize];
        one.from_opener.packets.saturating_add(one.from_responder.packets)
    };
    let mut found: Vec<u32> = steady.iter().filter(|&(_, &ways)| ways == 2).map(|(&row, _)| row as u32).collect();
    found.sort_by_key(|&row| (std::cmp::Reverse(packets(row)), row));
    let mut together = 0_u64;
    let mut fits = |place: usize, row: u32| {
        together = together.saturating_add(packets(row));
        place == 0 || together <= MOST_PACKETS
    };
    let kept: Vec<u32> =
        found.into_iter().enumerate().filter(|&(place, row)| fits(place, row)).map(|(_, row)| row).collect();
    kept.into_iter().take(MOST_CALLS).collect()
}

fn is_like_speech(side: &Side) -> bool {
    let (Some(first_ns), Some(last_ns)) = (side.first_ns, side.last_ns) else { return false };
    let (count, span_s) = (side.packets as f64, seconds(last_ns) - seconds(first_ns));
    span_s >= LEAST_S
        && RATES_PPS.contains(&((count - 1.0) / span_s))
        && LENGTHS_BYTES.contains(&(side.wire_bytes as f64 / count))
}

/// Whether one direction has packets at the rate of speech in nearly all of its seconds, the first and the last aside, which
/// are not whole.
fn is_regular(volumes: &[Volume], from_opener: bool, width_s: f64) -> bool {
    // Windows of a second, or of as many as the reading's are wide.
    let bin_s = width_s.max(1.0);
    let mut packets: BTreeMap<i64, u64> = BTreeMap::new();
    for volume in volumes.iter().filter(|one| one.from_opener == from_opener) {
        let second = (seconds(volume.start_ns) / bin_s + 1e-9).floor() as i64;
        let sum = packets.entry(second).or_default();
        *sum = sum.saturating_add(volume.packets);
    }
    packets.pop_first();
    packets.pop_last();
    let (Some((first, _)), Some((last, _))) = (packets.first_key_value(), packets.last_key_value()) else {
        return false;
    };
    let whole = (last - first + 1) as f64;
    let between = packets.values().filter(|&&sum| RATES_PPS.contains(&(sum as f64 / bin_s))).count();
    between as f64 / whole >= REGULAR_SHARE
}
