//! Probes: UDP flows that measure the network and are no part of the workload. Every packet of theirs is written down,
//! and the counts of the bottleneck leave them out. Of other UDP flows the arrivals are, where that is asked for.

use tables::record;
use units::Time;

use crate::error::ConfigError;
use crate::flow::FlowSpec;

/// A UDP flow that is a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The flow, by index in the list.
    pub flow: u32,
    /// The receiver sends every packet back at once, as an answer to an ICMP echo request (RFC 792).
    pub echo: bool,
}

record! {
    /// Way of one packet of a probe; null for what did not happen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ProbePacket in "probes" {
        /// The flow; here its place in the list.
        pub flow: u32 => "flow_id";
        /// Packets of the flow sent before.
        pub number: u32 => "number";
        /// When it was handed to the access link of its sender.
        pub sent: Time => "sent_s", "s";
        /// Arrival at the receiver.
        pub received: Time => "received_s", "s";
        /// Arrival of the answer at the sender; null without echo.
        pub returned: Time => "returned_s", "s";
    }
}

/// When the packets of a UDP flow arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// The flow, by index in the list.
    pub flow: u32,
    /// Of each packet that was sent, in order of sending; [`Time::NEVER`] where it did not arrive.
    pub times: Vec<Time>,
}

/// What probes took of one port of the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProbeCount {
    pub(crate) arrivals: u64,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    pub(crate) lost: u64,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
}

/// Which flows are probes, and what they took of the bottleneck in either direction.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// By flow; empty without probes, so that those pay a branch per packet only.
    kinds: Vec<Option<Probe>>,
    pub(crate) forward: ProbeCount,
    pub(crate) reverse: ProbeCount,
}

impl Probes {
    pub(crate) fn of(probes: &[Probe], flows: usize) -> Probes {
        let mut found = Probes::default();
        if !probes.is_empty() {
            found.kinds = vec![None; flows];
            probes.iter().for_each(|probe| found.kinds[probe.flow as usize] = Some(*probe));
        }
        found
    }

    /// What kind of probe flow `index` is; none of the workload's flows is one.
    #[inline]
    pub(crate) fn kind(&self, index: u64) -> Option<Probe> {
        self.kinds.get(index as usize).copied().flatten()
    }
}

/// # Errors
/// A probe that is no UDP flow.
pub(crate) fn check(probes: &[Probe], flows: &[FlowSpec]) -> Result<(), ConfigError> {
    let udp = |probe: &&Probe| flows.get(probe.flow as usize).is_none_or(|flow| flow.udp.is_none());
    match probes.iter().find(udp) {
        Some(probe) => Err(ConfigError::Value("probes", probe.flow.to_string(), "the index of a UDP flow")),
        None => Ok(()),
    }
}
