//! # LAS
//!
//! **Idea.** Least attained service: the flow that has sent least goes first. A packet is stamped with the bytes $S_f$ of its flow
//! that entered this queue before it, then $S_f \leftarrow S_f + L$. The smallest stamp is served; equal stamps leave in order of
//! arrival. Short flows overtake long ones without announcing their size.
//!
//! **Scope and limits.**
//! - Attained service is counted on arrival, as in Rai 2003, section 6, per direction of a connection and from zero for every flow
//!   the table does not know. [LASACK](lasack.md) counts both directions.
//! - Only bytes that stay in the queue count. A packet refused or pushed out was not served and its flow is not charged for it. The
//!   victim carries the largest stamp of all, hence is the last packet of its flow, and $S_f$ goes back to the victim's stamp.
//! - Packets of one flow keep their order: stamps of a flow never decrease.
//! - A newer long flow locks out an older one until it has sent as much (Chen 2012, 4.6.3). [LARS](lars.md), [Run2C](run2c.md) and
//!   [EFD](efd.md) are answers to that.
//! - One entry per flow. The table is visited every `visit` seconds and flows idle for `timeout` are removed. Idle means no arrival and
//!   no departure; a flow with a packet waiting stays, for its next packet would start at zero and overtake the waiting one. A visit
//!   happens at the first packet after it is due and removes what a timer would have removed at the due time. While no packet comes or
//!   goes the table keeps its length.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `visit` | | s | 5 | interval at which idle flows are looked for (Chen 2012, 4.6.1) |
//! | `timeout` | | s | 30 | idle time after which a flow is forgotten (Chen 2012, 4.6.1) |
//!
//! **When the buffer is full** the arriving packet gets its stamp, then the packet of largest stamp is dropped, the last one among
//! equals: possibly the arriving packet. With a limit in bytes as many go as needed; if the arriving packet would be one of them, it is the
//! only one dropped.
//!
//! **Cost.** Two look-ups and one insertion into a sorted queue per packet; one pass over the table per visit.
//!
//! **Validation.** Unit tests on order, push-out, accounting of drops, lock-out; the sorted queue against a balanced tree under random
//! operations. Exact order and drops against a reference that sorts everything at each step and recounts every volume from the packets, on
//! random traffic with buffers in packets and bytes. Conformance suite.
//!
//! **In the kernel.** [`sch_las`](../kernel/sch_las.md), its defaults.
//!
//! **References.** Rai 2003. Chen 2012, 4.6.

use crate::parts::flow_table::{TIMEOUT, VISIT};
use crate::parts::least_attained::LeastAttained;
use crate::parts::volume::{Bytes, Row};
use crate::spec::{Family, RunsOn, Spec};

/// Least attained service.
pub type Las = LeastAttained<ByBytes>;

/// The row of [`Las`].
#[derive(Debug)]
pub enum ByBytes {}

impl Row for ByBytes {
    type Volume = Bytes;

    const SPEC: Spec = Spec {
        id: "las",
        family: Family::SizeBased,
        about: "least attained service: the flow that has sent least goes first",
        source: "Rai 2003",
        when_full: "the packet whose flow has sent most, last of its class; may be the arriving one",
        time_driven: false,
        // Stamps of a flow never decrease: push-outs take back only its last packet, and a flow with
        // a packet waiting is not forgotten.
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "las", options: "count bytes", bpf: false },
        params: &[VISIT, TIMEOUT],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet};

    #[test]
    fn the_flow_that_has_sent_least_goes_first() {
        let mut las = queue("las", &[], Limit::Packets(100));
        arrive(&mut las, &[1, 1, 1, 2, 2, 3], 0, Time::ZERO);
        // Stamps in packets: 0 1 2, 0 1, 0; ties in order of arrival.
        assert_eq!(drain(&mut las, Time::ZERO), [0, 3, 5, 1, 4, 2]);
    }

    #[test]
    fn what_a_flow_sent_earlier_counts() {
        let mut las = queue("las", &[], Limit::Packets(100));
        arrive(&mut las, &[1, 1, 1], 0, Time::ZERO);
        drain(&mut las, Time::ZERO);
        arrive(&mut las, &[1, 2, 2, 2, 2, 2], 10, Time::from_millis(1));
        assert_eq!(drain(&mut las, Time::from_millis(1)), [11, 12, 13, 10, 14, 15]);
    }

    #[test]
    fn a_full_buffer_drops_the_packet_of_largest_attained_service() {
        let mut las = queue("las", &[], Limit::Packets(3));
        arrive(&mut las, &[1, 1, 1], 0, Time::ZERO);
        assert_eq!(las.enqueue(packet(2, 3), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&las), [2]);
        assert_eq!(las.enqueue(packet(1, 4), Time::ZERO), Fate::Dropped(DropReason::Full), "last of its class");
        assert_eq!(drain(&mut las, Time::ZERO), [0, 3, 1]);
    }

    #[test]
    fn dropped_packets_are_not_attained_service() {
        let mut las = queue("las", &[], Limit::Packets(2));
        arrive(&mut las, &[1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&las), [1], "pushed out");
        arrive(&mut las, &[1, 1, 1], 3, Time::ZERO);
        drain(&mut las, Time::ZERO);
        // Flow 1 sent one packet, so its next goes before the second one of flow 3.
        arrive(&mut las, &[3], 10, Time::ZERO);
        arrive(&mut las, &[1], 11, Time::ZERO);
        las.dequeue(Time::ZERO);
        arrive(&mut las, &[3], 12, Time::ZERO);
        assert_eq!(drain(&mut las, Time::ZERO), [11, 12]);
    }

    #[test]
    fn a_flow_with_nothing_but_refused_packets_has_no_entry() {
        let mut las = queue("las", &[], Limit::Packets(1));
        arrive(&mut las, &[1, 2, 3, 4], 0, Time::ZERO);
        assert_eq!(las.flow_table_len(), 1);
    }

    #[test]
    fn with_a_byte_limit_as_many_tails_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut las = queue("las", &[], Limit::Bytes(4000));
        for handle in 0..4 {
            las.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        las.enqueue(sized(2, 10, 1500), Time::ZERO);
        assert_eq!(dropped(&las), [3, 2]);
        las.enqueue(sized(3, 11, 4001), Time::ZERO);
        assert_eq!(dropped(&las), [11], "longer than the buffer");
        las.enqueue(sized(3, 12, 3000), Time::ZERO);
        assert_eq!(dropped(&las), [12], "would fit only without packets of its own rank");
        assert_eq!(drain(&mut las, Time::ZERO), [0, 10, 1]);
    }

    #[test]
    fn an_older_flow_is_locked_out_until_the_newer_one_has_sent_as_much() {
        let mut las = queue("las", &[], Limit::Packets(1000));
        arrive(&mut las, &[1; 100], 0, Time::ZERO);
        drain(&mut las, Time::ZERO);
        arrive(&mut las, &[1, 1], 100, Time::ZERO);
        arrive(&mut las, &[2; 102], 200, Time::ZERO);
        let order = drain(&mut las, Time::ZERO);
        assert_eq!(order.iter().position(|&handle| handle == 100), Some(100));
    }
}
