//! # Shortest queue first
//!
//! **Idea.** The flow with fewest bytes waiting goes first: a queue per flow that has packets waiting, sorted by their bytes; of equals the flow that began to wait
//! first. When the buffer is full, the last packet of the longest queue goes, the arriving one counted with its own.
//!
//! **Cost.** O(log flows) per packet, twice; one entry per flow with packets waiting.
//!
//! **References.** Bonald, Muscariello and Ostallo 2011; the victim from McKenney 1990.

use std::collections::BTreeSet;

use units::{FlowKey, Stream};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::hash::FlowMap;
use crate::parts::packet_lists::{List, Slab};
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

/// Shortest queue first.
#[derive(Debug, Default)]
pub struct Sqf {
    packets: Slab,
    /// Of each flow with packets waiting: its queue, and how many packets had come before its first.
    flows: FlowMap<(List, u64)>,
    /// The same flows by bytes waiting, then by age.
    order: BTreeSet<(u64, u64, FlowKey)>,
    arrivals: u64,
}

impl Sqf {
    /// Changes the queue of a flow and, with it, the place of the flow.
    fn change<T>(&mut self, flow: FlowKey, act: impl FnOnce(&mut Slab, &mut List) -> T) -> T {
        let (mut list, since) = self.flows.remove(&flow).unwrap_or((List::default(), self.arrivals));
        self.order.remove(&(list.bytes(), since, flow));
        let done = act(&mut self.packets, &mut list);
        if !list.is_empty() {
            self.order.insert((list.bytes(), since, flow));
            self.flows.insert(flow, (list, since));
        }
        done
    }
}

impl Discipline for Sqf {
    const SPEC: Spec = Spec {
        id: "sqf",
        family: Family::SizeBased,
        about: "shortest queue first: the flow with fewest bytes waiting goes first",
        source: "Bonald, Muscariello and Ostallo 2011",
        when_full: "the last packet of the flow with most bytes waiting, the arriving one counted",
        time_driven: false,
        // All packets of a flow are in one queue.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[],
    };

    fn with_options(_: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Sqf::default())
    }

    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        let own = self.flows.get(&packet.flow).map_or(0, |(list, _)| list.bytes()) + u64::from(packet.len);
        while env.is_full(packet.len) {
            let longest = self.order.last().filter(|&&(bytes, ..)| bytes > own);
            let Some(&(_, _, flow)) = longest else {
                env.refuse(packet, DropReason::Full);
                return;
            };
            let victim = self.change(flow, Slab::pop_back).expect("its queue is longer than none");
            env.discard(victim, DropReason::PushedOut);
        }
        env.accept(&packet);
        self.arrivals += 1;
        self.change(packet.flow, |packets, list| packets.push_back(list, packet));
    }

    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let &(_, _, flow) = self.order.first()?;
        self.change(flow, Slab::pop_front)
    }

    fn peek(&self) -> Option<&Packet> {
        let (_, _, flow) = self.order.first()?;
        self.packets.front(&self.flows.get(flow)?.0)
    }

    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.allocation_size() + self.order.len() * size_of::<(u64, u64, FlowKey)>()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, queue};
    use crate::{Fate, Limit};

    #[test]
    fn the_flow_with_fewest_bytes_waiting_goes_first() {
        let mut sqf = queue("sqf", &[], Limit::Packets(100));
        arrive(&mut sqf, &[1, 1, 1, 2, 2, 3], 0, Time::ZERO);
        // Packets waiting of 1, 2, 3: 3 2 1, then 3 2 0, 3 1 0, 3 0 0.
        assert_eq!(drain(&mut sqf, Time::ZERO), [5, 3, 4, 0, 1, 2]);
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_longest_queue() {
        let mut sqf = queue("sqf", &[], Limit::Packets(3));
        arrive(&mut sqf, &[1, 1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&sqf), [2]);
        assert_ne!(sqf.enqueue(crate::test_queue::packet(1, 4), Time::ZERO), Fate::Queued, "its own is the longest");
        assert_eq!(drain(&mut sqf, Time::ZERO), [3, 0, 1]);
    }
}
