//! The list of flows of a replay.

use netsim::{Bursts, FlowSpec, Scripts};
use units::Time;

/// The list of flows of a replay, with users who wait.
#[derive(Clone, Debug)]
pub struct List {
    /// In the order of their starts in the capture.
    pub flows: Vec<FlowSpec>,
    /// What the ends of TCP connections say to each other.
    pub scripts: Scripts,
    /// The packets of UDP flows.
    pub bursts: Bursts,
    /// Where each flow comes from.
    pub origins: Vec<Origin>,
    /// Address of each host.
    pub hosts: Vec<String>,
    /// Directions of the calls of the capture, ascending by row; where there are some, no synthetic one is run.
    pub calls: Vec<Call>,
    /// How long the packets of the capture came, or its flows start, s.
    pub span_s: f64,
    /// Median of the round-trip times of the flows, s; None where none is known.
    pub rtt_s: Option<f64>,
    /// Of the run: as long again as the capture, a minute at least, for its flows to end.
    pub duration: Time,
    /// What the flows bring.
    pub offered: Offered,
}

/// Where a flow of the list comes from, and what its connection is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Row of its connection in the capture.
    pub connection: u64,
    /// The host that opened the connection, by number.
    pub client: u32,
    /// Of a script: bytes against the direction of the flow.
    pub back_bytes: u64,
    /// Longest wait of its script.
    pub longest_wait: Time,
}

/// One direction of a call in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Place in the list.
    pub row: u32,
    /// Packets that it had in the capture.
    pub packets: u64,
}

/// What the flows bring, data packets with headers, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Toward the near side.
    pub down_bytes: u64,
    /// From the near side.
    pub up_bytes: u64,
}

impl List {
    /// Most packets that the calls have together in the run: their packets have the mean length of those captured, in
    /// whole bytes, so that they are a few more or fewer.
    pub fn call_trace_limit(&self) -> u64 {
        let packets = self.calls.iter().fold(0_u64, |sum, call| sum.saturating_add(call.packets));
        packets.saturating_add(packets / 20).saturating_add(10 * self.calls.len() as u64)
    }
}
