//! What a run gives out: records of flows, counts, samples, traces, a capture.

pub mod accounting;
pub mod counting;
pub(crate) mod pcap;
pub mod probes;
pub(crate) mod queue_delay;
pub mod records;
pub(crate) mod rows;
pub(crate) mod subflows;
pub(crate) mod trace;
