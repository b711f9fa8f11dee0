//! # SRPT
//!
//! **Idea.** Shortest remaining processing time: the transfer that has least left to send goes first. For one queue whose jobs and sizes are
//! known no order of service has a smaller mean response time. A router knows no sizes; the simulator tells them. SRPT is here as the mark that
//! disciplines without that knowledge are measured against.
//!
//! Each packet brings `remaining`: the payload of its transfer not yet acknowledged (TCP) or not yet sent (UDP) when it left its sender. The
//! *rank* of a flow is the smallest `remaining` that its packets brought since it has had packets waiting. The flow of smallest rank is served,
//! its earliest waiting packet first.
//!
//! **Scope and limits.**
//! - Clairvoyant: only inside the simulator, or where hosts write the size into the packet as in pFabric.
//! - A bound in the sense of the theory for one queue of jobs that are all there. TCP hands packets over window by window and loses some, so a
//!   discipline may beat SRPT on a single workload, or on the response time of some class.
//! - Flows and not packets are chosen: to send the packet that tells the smallest `remaining` would reorder flows, since later packets of a TCP
//!   flow tell less. Alizadeh et al. 2013, section 3, sends the earliest packet of the flow with the smallest number for that reason.
//! - A rank only falls while packets of the flow wait. It is forgotten with the last of them, and the next packet tells it anew.
//! - Of two flows with equal ranks the one that came to have it first goes first, and until it has nothing waiting or another has less left.
//! - A flow is the 5-tuple, one direction. Acknowledgements carry what is left of the transfer they acknowledge, and are ranked by it in their
//!   own direction.
//! - Long transfers starve while shorter ones keep the link busy.
//!
//! **Parameters.** None besides the buffer limit.
//!
//! **When the buffer is full** the last packet of the flow of largest rank is dropped, of equal ranks the flow that came to it last. That may
//! be the arriving packet, which is the last of its flow; what it tells about its flow is true and stays known either way. With a limit in
//! bytes as many go as needed, flow by flow; if the arriving packet would be one of them, it is the only one dropped. pFabric drops the packet
//! of largest `remaining`, which may be the first of its flow; here it is the last, as a flow that lost its first packet could not use the
//! others.
//!
//! **Cost.** Two look-ups in a table no longer than the queue. One insertion into a sorted list of the flows with packets waiting when one
//! comes or changes its rank, O(log flows) comparisons and the move of at most half of a ring of 512 places; O(1) removal when the first goes.
//!
//! **Validation.** Unit tests on order, ties, changes of rank, push-out in packets and bytes; the sorted list against a balanced tree under
//! random operations (`ranked_flows.rs`). Conformance suite.
//!
//! **References.** L. Schrage, "A proof of the optimality of the shortest remaining processing time discipline", Operations Research 16, 1968.
//! M. Alizadeh, S. Yang, M. Sharif, S. Katti, N. McKeown, B. Prabhakar, S. Shenker, "pFabric: minimal near-optimal datacenter transport",
//! SIGCOMM 2013, section 3.

use crate::packet::Packet;
use crate::parts::ranked_flows::{ByRank, RankedFlows};
use crate::spec::{Family, RunsOn, Spec};

/// Shortest remaining processing time, by flow.
pub type Srpt = RankedFlows<ByRemaining>;

/// The row of [`Srpt`].
#[derive(Debug)]
pub enum ByRemaining {}

impl ByRank for ByRemaining {
    const SPEC: Spec = Spec {
        id: "srpt",
        family: Family::SizeBased,
        about: "shortest remaining time: the transfer with least left to send goes first; knows sizes, a bound",
        source: "Schrage 1968; Alizadeh et al. 2013, section 3",
        when_full: "the last packet of the flow with most left to send; may be the arriving one",
        time_driven: false,
        // The packets of a flow are a list.
        keeps_flow_order: true,
        runs_on: RunsOn::Bound,
        params: &[],
    };

    #[inline]
    fn of(packet: &Packet) -> u64 {
        packet.remaining
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet, Qdisc};

    /// Queues packets (flow, remaining), handles counted from `first`.
    fn arrive(srpt: &mut Qdisc, packets: &[(u64, u64)], first: u64) {
        for (handle, &(flow, remaining)) in (first..).zip(packets) {
            srpt.enqueue(Packet { remaining, ..packet(flow, handle) }, Time::ZERO);
        }
    }

    #[test]
    fn the_flow_with_least_left_goes_first_and_ties_in_order_of_arrival() {
        let mut srpt = queue("srpt", &[], Limit::Packets(100));
        arrive(&mut srpt, &[(1, 9000), (2, 3000), (3, 6000), (4, 3000)], 0);
        assert_eq!(drain(&mut srpt, Time::ZERO), [1, 3, 2, 0]);
    }

    #[test]
    fn the_earliest_packet_of_the_chosen_flow_leaves_first() {
        let mut srpt = queue("srpt", &[], Limit::Packets(100));
        arrive(&mut srpt, &[(1, 9000), (2, 5000), (1, 1500)], 0);
        // Flow 1 has 1500 bytes left, as its second packet tells; its first one says 9000.
        assert_eq!(drain(&mut srpt, Time::ZERO), [0, 2, 1]);
    }

    #[test]
    fn a_packet_that_tells_no_less_than_is_known_changes_nothing() {
        for tells in [9000, 3000] {
            let mut srpt = queue("srpt", &[], Limit::Packets(100));
            arrive(&mut srpt, &[(1, 3000), (2, 3000), (1, tells)], 0);
            assert_eq!(drain(&mut srpt, Time::ZERO), [0, 2, 1], "{tells}");
        }
    }

    #[test]
    fn a_flow_that_falls_to_the_rank_of_another_goes_behind_it() {
        let mut srpt = queue("srpt", &[], Limit::Packets(100));
        arrive(&mut srpt, &[(1, 9000), (2, 3000), (1, 3000), (3, 3000)], 0);
        assert_eq!(drain(&mut srpt, Time::ZERO), [1, 0, 2, 3]);
    }

    #[test]
    fn only_flows_with_packets_waiting_are_known() {
        let mut srpt = queue("srpt", &[], Limit::Packets(100));
        arrive(&mut srpt, &[(1, 100), (1, 100), (2, 5000)], 0);
        assert_eq!(srpt.flow_table_len(), 2);
        srpt.dequeue(Time::ZERO);
        assert_eq!(srpt.flow_table_len(), 2);
        srpt.dequeue(Time::ZERO);
        assert_eq!(srpt.flow_table_len(), 1);
        arrive(&mut srpt, &[(1, 9000)], 3);
        assert_eq!(drain(&mut srpt, Time::ZERO), [2, 3], "flow 1 has the rank of its new packet");
        assert_eq!(srpt.flow_table_len(), 0);
        let bytes = srpt.flow_table_bytes();
        for flow in 0..1000 {
            arrive(&mut srpt, &[(flow, flow)], flow);
            srpt.dequeue(Time::ZERO);
        }
        assert_eq!(srpt.flow_table_bytes(), bytes, "nothing is left behind");
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_flow_with_most_left() {
        let mut srpt = queue("srpt", &[], Limit::Packets(4));
        arrive(&mut srpt, &[(1, 9000), (1, 9000), (2, 5000), (2, 4000)], 0);
        assert_eq!(srpt.enqueue(Packet { remaining: 6000, ..packet(3, 4) }, Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&srpt), [1], "the last one of flow 1, not the first");
        let fate = srpt.enqueue(Packet { remaining: 9000, ..packet(4, 5) }, Time::ZERO);
        assert_eq!(fate, Fate::Dropped(DropReason::Full), "as much left as flow 1, which came first");
        let fate = srpt.enqueue(Packet { remaining: 8000, ..packet(1, 6) }, Time::ZERO);
        assert_eq!(fate, Fate::Dropped(DropReason::Full), "the last packet of the last flow is the arriving one");
        assert_eq!(drain(&mut srpt, Time::ZERO), [2, 3, 4, 0]);
    }

    #[test]
    fn what_a_refused_packet_tells_is_not_forgotten() {
        let mut srpt = queue("srpt", &[], Limit::Packets(2));
        arrive(&mut srpt, &[(1, 9000), (2, 5000), (1, 6000)], 0);
        assert_eq!(dropped(&srpt), [2]);
        arrive(&mut srpt, &[(3, 7000)], 3);
        assert_eq!(dropped(&srpt), [3], "flow 1 has 6000 bytes left, not 9000");
    }

    #[test]
    fn an_arriving_packet_that_moves_its_flow_ahead_cuts_the_flow_behind() {
        let mut srpt = queue("srpt", &[], Limit::Packets(2));
        arrive(&mut srpt, &[(1, 9000), (2, 5000), (1, 4000)], 0);
        assert_eq!(dropped(&srpt), [1], "flow 2 is last now");
        assert_eq!(srpt.flow_table_len(), 1);
        assert_eq!(drain(&mut srpt, Time::ZERO), [0, 2]);
    }

    #[test]
    fn with_a_byte_limit_as_many_tails_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len, remaining| Packet { len, remaining, ..packet(flow, handle) };
        let mut srpt = queue("srpt", &[], Limit::Bytes(4000));
        for (flow, handle) in [(1, 0), (1, 1), (2, 2), (3, 3)] {
            srpt.enqueue(sized(flow, handle, 1000, 9000 - 1000 * flow), Time::ZERO);
        }
        srpt.enqueue(sized(4, 4, 3500, 6500), Time::ZERO);
        assert_eq!(dropped(&srpt), [4], "flows 1 and 2 hold 3000 bytes: not enough");
        srpt.enqueue(sized(4, 5, 2500, 6500), Time::ZERO);
        assert_eq!(dropped(&srpt), [1, 0, 2], "two of flow 1, then one of flow 2");
        assert_eq!(drain(&mut srpt, Time::ZERO), [3, 5]);
    }
}
