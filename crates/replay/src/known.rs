//! What is known of a capture, whatever the link that it is replayed over.

use std::sync::Arc;

use capture::Amount;
use netsim::Burst;

use crate::datagrams::Datagrams;
use crate::form::Form;
use crate::paths::Path;
use crate::trains::Piece;
use crate::transfers::Transfer;
use hosts::Ends;

/// Lengths of TCP packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) mss: u32,
    pub(crate) header_bytes: u32,
}

impl Sizes {
    /// What a train is on the wire.
    pub(crate) fn wire_bytes(&self, bytes: u64) -> u64 {
        let packets = bytes.div_ceil(u64::from(self.mss.max(1)));
        bytes.saturating_add(packets.saturating_mul(u64::from(self.header_bytes)))
    }
}

/// A call in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownCall {
    pub(crate) connection: u32,
    pub(crate) opener_packets: u64,
    pub(crate) responder_packets: u64,
}

/// What is known of a capture, whatever the link.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) form: Form,
    /// Connections of UDP are left out.
    pub(crate) tcp_only: bool,
    pub(crate) sizes: Sizes,
    pub(crate) ends: Ends,
    pub(crate) paths: Vec<Path>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) datagrams: Vec<Datagrams>,
    pub(crate) bursts: Vec<Burst>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) calls: Vec<KnownCall>,
    /// Whether each connection is of a protocol whose headers are not read, its packets and their IP bytes.
    pub(crate) carried: Arc<Vec<(bool, Amount)>>,
    pub(crate) lasted_s: f64,
    /// Starts of all connections, ascending.
    pub(crate) begun_s: Vec<f64>,
}
