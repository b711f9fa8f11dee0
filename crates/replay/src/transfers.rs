//! A transfer for each direction of a connection that carried something, with all its data at once.
//!
//! What a capture does not show is filled in: the round-trip time of a connection begun before it, the rate of a single
//! datagram.

use capture::{Connection, Protocol, Side};

use crate::numbers::{median, seconds};
use crate::paths::is_rtt;

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

/// What one end of a connection sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sent {
    /// First packet, s.
    pub first_s: Option<f64>,
    /// Last packet, s.
    pub last_s: Option<f64>,
    /// First packet with payload, s.
    pub first_data_s: Option<f64>,
    /// Packets.
    pub packets: u64,
    /// Length of all IP packets.
    pub wire_bytes: u64,
    /// Payload without what was repeated.
    pub distinct_bytes: u64,
}

/// A connection of TCP or a flow of UDP, as a capture or a log has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// Of ICMP there are no transfers, QUIC counts as TCP, and those of others are as those of UDP.
    pub protocol: Protocol,
    /// First packet, s.
    pub start_s: f64,
    /// Of the handshake, s.
    pub rtt_s: Option<f64>,
    /// By the opener and by the responder.
    pub sent: [Sent; 2],
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Row of its connection.
    pub connection: u32,
    /// Who sends.
    pub from_opener: bool,
    /// At least 0, s.
    pub start_s: f64,
    /// Payload, at least 1 byte.
    pub size_bytes: u64,
    /// Of the handshake; the median of all where it was not measured, s.
    pub rtt_s: Option<f64>,
    /// Of UDP: mean length of its packets, bytes, and a rate at which the last one leaves when it did, bit/s.
    pub udp: Option<(u32, f64)>,
}

impl From<&Connection> for Exchange {
    fn from(connection: &Connection) -> Exchange {
        let sent = |side: &Side| Sent {
            first_s: side.first_ns.map(seconds),
            last_s: side.last_ns.map(seconds),
            first_data_s: side.first_data_ns.map(seconds),
            packets: side.packets,
            wire_bytes: side.wire_bytes,
            distinct_bytes: side.distinct_bytes,
        };
        Exchange {
            protocol: if connection.has_trains() { Protocol::Tcp } else { connection.protocol },
            start_s: seconds(connection.start_ns),
            rtt_s: connection.rtt_ns.map(seconds),
            sent: [sent(&connection.from_opener), sent(&connection.from_responder)],
        }
    }
}

/// Transfers of all connections, those from openers first.
///
/// Of TCP there is one for each direction with payload: it starts a round trip before its first payload, not before the
/// connection, and an idle connection is not split. Of UDP there is one for each direction with packets: its rate lets the
/// last packet leave when it did (the bits of all packets but one over the span from first to last).
pub fn transfers(connections: &[Exchange]) -> Vec<Transfer> {
    transfers_of_part(connections, median(&mut connections.iter().filter_map(measured).collect::<Vec<_>>()))
}

/// The same of a part of them; `usual_s` is the median of the round-trip times of all.
pub fn transfers_of_part(connections: &[Exchange], usual_s: Option<f64>) -> Vec<Transfer> {
    let of_side = |from_opener: bool| {
        let one = move |(row, connection): (usize, &Exchange)| {
            let rtt_s = measured(connection).or(usual_s);
            let own = transfer(connection, &connection.sent[usize::from(!from_opener)], rtt_s)?;
            Some(Transfer { connection: row as u32, from_opener, ..own })
        };
        connections.iter().enumerate().filter_map(one)
    };
    of_side(true).chain(of_side(false)).collect()
}

fn measured(one: &Exchange) -> Option<f64> {
    one.rtt_s.filter(|&rtt_s| is_rtt(rtt_s) && one.protocol != Protocol::Icmp)
}

fn transfer(connection: &Exchange, sent: &Sent, rtt_s: Option<f64>) -> Option<Transfer> {
    let start_s = connection.start_s;
    let (start_s, udp) = match connection.protocol {
        Protocol::Icmp => return None,
        Protocol::Tcp if sent.distinct_bytes == 0 => return None,
        Protocol::Udp | Protocol::Other if sent.packets == 0 => return None,
        Protocol::Tcp => {
            let asked_s = sent.first_data_s.map(|first_s| first_s - rtt_s.unwrap_or(0.0));
            (asked_s.map_or(start_s, |asked_s| start_s.max(asked_s)), None)
        }
        Protocol::Udp | Protocol::Other => (sent.first_s.unwrap_or(0.0), Some(datagrams(sent))),
    };
    Some(Transfer {
        connection: 0,
        from_opener: true,
        start_s: start_s.max(0.0),
        size_bytes: sent.distinct_bytes.max(1),
        rtt_s,
        udp,
    })
}

fn datagrams(sent: &Sent) -> (u32, f64) {
    let (packets, bytes) = (sent.packets as f64, sent.wire_bytes as f64);
    let mean = (bytes / packets).round_ties_even().clamp(SMALLEST_BYTES, LARGEST_BYTES);
    let lasted_s = sent.first_s.zip(sent.last_s).map_or(0.0, |(first_s, last_s)| last_s - first_s);
    let paced_bps = 8.0 * bytes / packets * (packets - 1.0) / lasted_s.max(CLOCK_S);
    let rate_bps = if sent.packets > 1 { paced_bps.clamp(RATES_BPS[0], RATES_BPS[1]) } else { SINGLE_BPS };
    (mean as u32, rate_bps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(protocol: Protocol, rtt_s: Option<f64>, sent: Sent) -> Exchange {
        Exchange { protocol, start_s: 2.0, rtt_s, sent: [sent, Sent::default()] }
    }

    #[test]
    fn a_transfer_of_tcp_starts_a_round_trip_before_its_data_and_not_before_its_connection() {
        let sent = |first_data_s| Sent { first_data_s: Some(first_data_s), distinct_bytes: 9, ..Sent::default() };
        let rows = [
            exchange(Protocol::Tcp, Some(0.5), sent(4.0)),
            exchange(Protocol::Tcp, Some(0.25), sent(2.125)),
            // Not measured: the median of the others.
            exchange(Protocol::Tcp, Some(90.0), sent(4.0)),
            exchange(Protocol::Icmp, Some(7.0), sent(4.0)),
        ];
        let found: Vec<_> = transfers(&rows).iter().map(|one| (one.connection, one.start_s, one.rtt_s)).collect();
        assert_eq!(found, [(0, 3.5, Some(0.5)), (1, 2.0, Some(0.25)), (2, 3.625, Some(0.375))]);
    }

    #[test]
    fn the_last_datagram_leaves_when_it_did() {
        let sent = Sent { first_s: Some(2.0), last_s: Some(4.0), packets: 5, wire_bytes: 501, ..Sent::default() };
        let alone = Sent { last_s: Some(2.0), packets: 1, wire_bytes: 20, ..sent };
        let rows = [exchange(Protocol::Udp, None, sent), exchange(Protocol::Udp, None, alone)];
        let found: Vec<_> = transfers(&rows).iter().map(|one| (one.size_bytes, one.udp)).collect();
        assert_eq!(found, [(1, Some((100, 8.0 * 501.0 / 5.0 * 4.0 / 2.0))), (1, Some((29, 1e6)))]);
    }
}
