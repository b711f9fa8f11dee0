//! LAS as one would write it down: a tree of all waiting packets by attained service, a map of flows.

use std::collections::{BTreeMap, HashMap};

use qdisc::Packet;
use units::FlowKey;

/// Least attained service on a tree. Flows are never forgotten.
#[derive(Default)]
pub struct BTreeLas {
    queue: BTreeMap<(u64, u64), Packet>,
    attained: HashMap<FlowKey, u64>,
    arrivals: u64,
}

impl BTreeLas {
    /// Takes an arriving packet.
    pub fn enqueue(&mut self, packet: Packet) {
        let attained = self.attained.entry(packet.flow).or_default();
        self.queue.insert((*attained, self.arrivals), packet);
        *attained += u64::from(packet.len);
        self.arrivals += 1;
    }

    /// Hands out the next packet to send.
    pub fn dequeue(&mut self) -> Option<Packet> {
        self.queue.pop_first().map(|(_, packet)| packet)
    }

    /// Packets waiting.
    pub fn backlog(&self) -> u64 {
        self.queue.len() as u64
    }
}
