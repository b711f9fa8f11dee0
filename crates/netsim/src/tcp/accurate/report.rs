//! What a segment reports with accurate ECN: its code point, the field of three bits, and the counts of the option
//! (RFC 9768, 3.2).

use qdisc::Ecn;

use super::option::Counts;

/// What a segment of a host says of congestion, and how it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccEcnReport {
    /// Code point in its IP header.
    pub(crate) ecn: Ecn,
    /// Payload, bytes.
    pub(crate) payload: u32,
    /// AE, CWR and ECE, from the highest bit to the lowest.
    pub(crate) ace: u8,
    pub(crate) counts: Option<Counts>,
    /// It carries SACK blocks.
    pub(crate) selective: bool,
    /// It is an acknowledgement and no more, so that nobody but its reader counts it.
    pub(crate) bare: bool,
}
