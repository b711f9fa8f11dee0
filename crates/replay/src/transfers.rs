//! A transfer for each direction of a connection that carried something, with all its data at once.
//!
//! What a capture does not show is filled in: the round-trip time of a connection begun before it, the rate of a single
//! datagram.

use capture::{Connection, Protocol, Side};

use crate::numbers::seconds;
use crate::paths::{Path, known_or_usual};

/// Smallest UDP packet: IPv4 and UDP header and one byte of payload.
const SMALLEST_BYTES: f64 = 29.0;
/// A packet of segmentation offload is longer than any on the wire; it is replayed at this length.
const LARGEST_BYTES: f64 = 65_535.0;
/// Rate of a UDP flow of one packet, bit/s: the packet lasts its length at 1 Mbit/s.
const SINGLE_BPS: f64 = 1e6;
/// Shortest span between two packets, the resolution of most captures, s.
const CLOCK_S: f64 = 1e-6;
/// Rates that a flow list may hold, bit/s.
const RATES_BPS: [f64; 2] = [1.0, 1e12];

/// One direction of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) connection: u32,
    pub(crate) from_opener: bool,
    pub(crate) start_s: f64,
    pub(crate) size_bytes: u64,
    pub(crate) rtt_s: Option<f64>,
    /// Of UDP: mean length of its packets, and a rate at which the last one leaves when it did, bit/s.
    pub(crate) udp: Option<(u32, f64)>,
}

/// Transfers of all connections, those from openers first.
pub(crate) fn transfers(connections: &[Connection], paths: &[Path]) -> Vec<Transfer> {
    let rtts_s = known_or_usual(paths);
    let of_side = |from_opener: bool| {
        let rtts_s = &rtts_s;
        let one = move |(row, connection): (usize, &Connection)| {
            let side = if from_opener { &connection.from_opener } else { &connection.from_responder };
            transfer(row, connection, side, rtts_s[row]).map(|own| Transfer { from_opener, ..own })
        };
        connections.iter().enumerate().filter_map(one)
    };
    of_side(true).chain(of_side(false)).collect()
}

fn transfer(row: usize, connection: &Connection, side: &Side, rtt_s: Option<f64>) -> Option<Transfer> {
    let start_s = seconds(connection.start_ns);
    let (start_s, udp) = match connection.protocol {
        Protocol::Icmp => return None,
        Protocol::Tcp if side.distinct_bytes == 0 => return None,
        Protocol::Udp if side.packets == 0 => return None,
        // A round trip before its first data, and not before the connection.
        Protocol::Tcp => {
            let asked_s = side.first_data_ns.map(|ns| seconds(ns) - rtt_s.unwrap_or(0.0));
            (asked_s.map_or(start_s, |asked_s| start_s.max(asked_s)), None)
        }
        Protocol::Udp => (side.first_ns.map_or(0.0, seconds), Some(datagrams(side))),
    };
    Some(Transfer {
        connection: row as u32,
        from_opener: true,
        start_s: start_s.max(0.0),
        size_bytes: side.distinct_bytes.max(1),
        rtt_s,
        udp,
    })
}

fn datagrams(side: &Side) -> (u32, f64) {
    let (packets, bytes) = (side.packets as f64, side.wire_bytes as f64);
    let mean = (bytes / packets).round_ties_even().clamp(SMALLEST_BYTES, LARGEST_BYTES);
    let lasted_s = side.first_ns.zip(side.last_ns).map_or(0.0, |(first, last)| seconds(last) - seconds(first));
    let paced_bps = 8.0 * bytes / packets * (packets - 1.0) / lasted_s.max(CLOCK_S);
    let rate_bps = if side.packets > 1 { paced_bps.clamp(RATES_BPS[0], RATES_BPS[1]) } else { SINGLE_BPS };
    (mean as u32, rate_bps)
}
