//! Beginning, direction and round-trip times of the connections, as far as the link does not matter.

use capture::{Connection, Protocol};

use crate::numbers::{median, seconds};
use hosts::Ends;
use hosts::opener_is_near;

/// Round-trip times that a flow list may hold, s; a handshake outside them counts as not measured.
const RTT_BOUNDS_S: std::ops::RangeInclusive<f64> = 1e-9..=60.0;

/// Whether a flow list may hold a round-trip time.
pub(crate) fn is_rtt(rtt_s: f64) -> bool {
    RTT_BOUNDS_S.contains(&rtt_s)
}

/// The nearest round-trip time that a flow list may hold.
pub(crate) fn as_rtt(rtt_s: f64) -> f64 {
    rtt_s.max(*RTT_BOUNDS_S.start()).min(*RTT_BOUNDS_S.end())
}

/// One connection of TCP or UDP, or ICMP, of which only the protocol counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) protocol: Protocol,
    /// UDP whose senders slow down: it is replayed by QUIC.
    pub(crate) quic: bool,
    /// Its ends wait for each other.
    pub(crate) has_trains: bool,
    /// First packet to first data packet.
    pub(crate) setup_s: Option<f64>,
    pub(crate) begun_s: f64,
    /// Of the handshake.
    pub(crate) rtt_s: Option<f64>,
    /// Tap to opener and back; the median of the capture, or 0, where it was not measured.
    pub(crate) to_opener_s: f64,
    pub(crate) to_responder_s: f64,
    /// Whether the opener is on the near side.
    pub(crate) opener_up: bool,
    /// Data packets of the opener and of the responder were lost.
    pub(crate) lost: [bool; 2],
}

/// The paths of all connections.
pub(crate) fn paths(connections: &[Connection], ends: &Ends, near: &[bool]) -> Vec<Path> {
    let counts = |connection: &&Connection| connection.protocol != Protocol::Icmp;
    let measured = |connection: &Connection| connection.rtt_ns.map(seconds).filter(|&rtt_s| is_rtt(rtt_s));
    let part = |connection: &Connection, to_opener: bool| {
        let times = measured(connection).and(connection.handshake)?;
        Some(seconds(if to_opener { times.to_opener_ns } else { times.to_responder_ns }))
    };
    let [usual_opener_s, usual_responder_s] = [true, false].map(|to_opener| {
        let mut known: Vec<f64> = connections.iter().filter(counts).filter_map(|one| part(one, to_opener)).collect();
        median(&mut known).unwrap_or(0.0)
    });
    let path = |(row, connection): (usize, &Connection)| Path {
        protocol: connection.protocol,
        quic: connection.quic.is(),
        has_trains: connection.has_trains(),
        setup_s: connection.setup_ns.map(seconds),
        begun_s: seconds(connection.start_ns),
        rtt_s: measured(connection),
        to_opener_s: part(connection, true).unwrap_or(usual_opener_s),
        to_responder_s: part(connection, false).unwrap_or(usual_responder_s),
        opener_up: opener_is_near(near[ends.opener[row] as usize], near[ends.responder[row] as usize]),
        lost: [&connection.from_opener, &connection.from_responder]
            .map(|side| u64::from(side.retransmits) + u64::from(side.lost_before) > 0),
    };
    connections.iter().enumerate().map(path).collect()
}

/// Round-trip time of each connection whose ends have these least times to the tap, the median of all where it is not known;
/// None where none is.
pub(crate) fn round_trips(paths: &[Path], ends: &Ends, bases_s: &[Option<f64>]) -> Vec<Option<f64>> {
    let found = known_round_trips(paths, ends, bases_s);
    let counts = |(path, rtt_s): (&Path, &Option<f64>)| rtt_s.filter(|_| path.protocol != Protocol::Icmp);
    let usual_s = median(&mut paths.iter().zip(&found).filter_map(counts).collect::<Vec<_>>());
    found.into_iter().map(|rtt_s| rtt_s.or(usual_s)).collect()
}

/// As [`round_trips`]; None where it is not known.
fn known_round_trips(paths: &[Path], ends: &Ends, bases_s: &[Option<f64>]) -> Vec<Option<f64>> {
    let own = |(row, path): (usize, &Path)| {
        let least_s = bases_s[ends.opener[row] as usize]
            .zip(bases_s[ends.responder[row] as usize])
            .map(|(to_opener_s, to_responder_s)| to_opener_s + to_responder_s);
        least_s.filter(|&least_s| is_rtt(least_s)).or(path.rtt_s)
    };
    paths.iter().enumerate().map(own).collect()
}

/// Round-trip time of the path of probes: the median over the TCP and QUIC connections whose own is known; None where none is.
pub(crate) fn usual_round_trip(paths: &[Path], ends: &Ends, bases_s: &[Option<f64>]) -> Option<f64> {
    let found = known_round_trips(paths, ends, bases_s);
    let own = paths.iter().zip(found).filter(|(path, _)| path.has_trains);
    median(&mut own.filter_map(|(_, rtt_s)| rtt_s).collect::<Vec<_>>())
}
