//! # SCFQ
//!
//! **Idea.** Self-clocked fair queueing gives every backlogged flow the same share of the link. A packet of length $L$ that
//! arrives for flow $f$ is stamped
//!
//! $$F_f \leftarrow \max(F_f, v) + L,$$
//!
//! where $F_f$ is the stamp of the packet before it in its flow and $v$ the stamp of the packet in service. The smallest stamp is
//! served; of two flows with equal stamps the one that came to have it first goes first. $v$ stands in for the virtual time of a fluid reference system, which other
//! fair queueing schemes have to compute.
//!
//! **Scope and limits.**
//! - All flows have weight 1.
//! - The service two backlogged flows $i$, $j$ get in any interval differs by at most $L_i^{max} + L_j^{max}$ (Golestani 1994).
//! - A flow is in the table only while it has a packet waiting: when its last packet enters service $F_f = v$, and
//!   $\max(F_f, v) = v$ needs no memory.
//! - Stamps of a flow increase, so only the first packet of each backlogged flow is kept sorted; the others queue behind it. They
//!   need no stamp: that of the next one is the stamp of the first and its own length.
//! - Stamps restart from zero when a packet is asked for and none waits. That only keeps numbers small: every stamp in use is then at
//!   most $v$, so the order of service is the same without it.
//! - SCFQ shares the link, not the buffer. With drop-tail a flow that does not react to loss fills the buffer and the others lose
//!   their packets on arrival; Chen 2012, 4.6.4, finds it close to FIFO in this respect and notes that the scheme wants a buffer
//!   policy of its own. None is built in.
//! - With packets of one length it loses exactly the packets that a FIFO loses, since as many packets wait at any time. Of two senders in step
//!   with the link one may lose nearly all: 73,999 of 75,000 packets of two senders of 10 Mbit/s at 10 Mbit/s, the other one none (phase effects,
//!   Floyd and Jacobson 1992). [DRR](drr.md) takes its victim from the longest queue, and gives both the same.
//!
//! **Parameters.** None besides the buffer limit.
//!
//! **When the buffer is full** the arriving packet is dropped.
//!
//! **Cost.** Two look-ups in a table of backlogged flows and one insertion into a queue sorted by flow per packet.
//!
//! **Validation.** Unit tests: order of service on small cases, the fairness bound for a greedy flow of 1500-byte packets against one
//! of 40 to 539 bytes, independence of idle periods. Conformance suite.
//!
//! **References.** S. J. Golestani, "A self-clocked fair queueing scheme for broadband applications", INFOCOM 1994. Chen 2012, 4.6.4.

use hashbrown::hash_map::Entry;
use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::flow_table::keep_sparse;
use crate::parts::hash::FlowMap;
use crate::parts::order::Order;
use crate::parts::packet_lists::{List, Slab};
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

/// Self-clocked fair queueing with drop-tail.
#[derive(Debug, Default)]
pub struct Scfq {
    heads: Order,
    behind: Slab,
    /// Packets behind the head of each backlogged flow. They need no stamp: that of the first is the
    /// stamp of the head and its own length.
    flows: FlowMap<List>,
    /// v: stamp of the packet in service, bytes.
    virtual_time: u64,
}

impl Discipline for Scfq {
    const SPEC: Spec = Spec {
        id: "scfq",
        family: Family::FairQueueing,
        about: "self-clocked fair queueing: equal shares for backlogged flows",
        source: "Golestani 1994",
        when_full: "the arriving packet",
        time_driven: false,
        // The packets of a flow are a list.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[],
    };

    fn with_options(_: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Scfq::default())
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        keep_sparse(&mut self.flows);
        match self.flows.entry(packet.flow) {
            Entry::Vacant(entry) => {
                entry.insert(List::default());
                // What the flow sent before has a stamp of at most v.
                self.heads.push(self.virtual_time + u64::from(packet.len), packet);
            }
            Entry::Occupied(mut entry) => self.behind.push_back(entry.get_mut(), packet),
        }
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let Some((finish, packet)) = self.heads.pop_first() else {
            // The link goes idle: stamps start again from zero, only to stay small. Every stamp given
            // out is at most v, so the order of what follows is the same without it.
            self.virtual_time = 0;
            return None;
        };
        self.virtual_time = finish;
        if let Entry::Occupied(mut entry) = self.flows.entry(packet.flow) {
            match self.behind.pop_front(entry.get_mut()) {
                // A packet that waits has a stamp of at least v.
                Some(next) => self.heads.push(finish + u64::from(next.len), next),
                // The stamp of its last packet is v from now on, so max(F, v) = v: nothing to remember.
                None => drop(entry.remove()),
            }
        }
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.heads.first()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, packet, queue};
    use crate::{Limit, Packet};

    #[test]
    fn a_burst_waits_for_the_flows_that_come_later() {
        let mut scfq = queue("scfq", &[], Limit::Packets(100));
        arrive(&mut scfq, &[1, 1, 1, 1, 2, 3], 0, Time::ZERO);
        assert_eq!(drain(&mut scfq, Time::ZERO), [0, 4, 5, 1, 2, 3]);
    }

    #[test]
    fn a_flow_that_joins_is_stamped_from_the_packet_in_service() {
        let mut scfq = queue("scfq", &[], Limit::Packets(100));
        arrive(&mut scfq, &[1, 1, 1], 0, Time::ZERO);
        // Stamps 1500, 3000, 4500; v is 1500 when flow 2 joins and gets 1900.
        assert_eq!(scfq.dequeue(Time::ZERO).map(|p| p.handle), Some(0));
        scfq.enqueue(Packet { len: 400, ..packet(2, 9) }, Time::ZERO);
        assert_eq!(drain(&mut scfq, Time::ZERO), [9, 1, 2]);
    }

    #[test]
    fn only_backlogged_flows_have_an_entry() {
        let mut scfq = queue("scfq", &[], Limit::Packets(100));
        arrive(&mut scfq, &[1, 2, 2], 0, Time::ZERO);
        assert_eq!(scfq.flow_table_len(), 2);
        scfq.dequeue(Time::ZERO);
        assert_eq!(scfq.flow_table_len(), 1);
        drain(&mut scfq, Time::ZERO);
        assert_eq!(scfq.flow_table_len(), 0);
    }

    #[test]
    fn an_idle_period_does_not_change_the_order() {
        let order = |idle: bool| {
            let mut scfq = queue("scfq", &[], Limit::Packets(100));
            arrive(&mut scfq, &[1, 1, 2, 1], 0, Time::ZERO);
            for _ in 0..4 {
                scfq.dequeue(Time::ZERO);
            }
            if idle {
                assert_eq!(scfq.dequeue(Time::ZERO), None);
            }
            arrive(&mut scfq, &[3, 3, 1, 2], 10, Time::ZERO);
            drain(&mut scfq, Time::ZERO)
        };
        assert_eq!(order(true), order(false));
    }

    /// Golestani 1994, theorem 1: the service two backlogged flows got in any interval differs by at
    /// most one longest packet of each.
    #[test]
    fn backlogged_flows_differ_by_at_most_one_longest_packet_of_each() {
        let mut scfq = queue("scfq", &[], Limit::Packets(1000));
        let mut handle = 0;
        let mut arrive_one = |scfq: &mut crate::Qdisc, flow: u64| {
            handle += 1;
            let len = if flow == 1 { 1500 } else { 40 + (handle * 7919 % 500) as u32 };
            scfq.enqueue(Packet { len, ..packet(flow, handle) }, Time::ZERO);
        };
        for flow in [1, 1, 2, 2, 2, 2] {
            arrive_one(&mut scfq, flow);
        }
        let (mut lead, mut highest, mut lowest) = (0_i64, 0, 0);
        for _ in 0..10_000 {
            let sent = scfq.dequeue(Time::ZERO).expect("both flows are backlogged");
            lead += i64::from(sent.len) * if sent.flow.0 == 1 { 1 } else { -1 };
            (highest, lowest) = (lead.max(highest), lead.min(lowest));
            arrive_one(&mut scfq, sent.flow.0);
        }
        assert!(highest - lowest <= 1500 + 540, "{lowest} to {highest}");
    }
}
