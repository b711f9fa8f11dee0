//! # Ranked
//!
//! **Idea.** Flows go strictly in the order of a *rank* that comes with them: of those with packets waiting the one of smallest rank is served,
//! its earliest packet first. Who knows when each transfer would finish under a reference policy and ranks them by that has no transfer
//! later than that policy, in a single queue: every transfer has the whole link in its turn, where the policy divided it among several
//! (the family *Pri* of Dell'Amico, Carra and Michiardi; with processor sharing as the reference the fair sojourn protocol of Friedman and
//! Henderson). So it bounds what could be won over a policy with nobody losing. `mayfly arena --bounds fq_codel,cake` runs a workload
//! twice for that: under the policy, then under `ranked` in the order of completion.
//!
//! **Scope and limits.**
//! - Clairvoyant, more so than [SRPT](srpt.md): the order of completion depends on transfers that are still to come.
//! - Not a bound in the strict sense over a network: TCP hands packets over window by window, handshakes take their time whoever is first, and
//!   losses fall on others. Some transfers do end later than under the policy, and the arena tells how many. `mayfly arena --quick --bounds` with
//!   these on 2026-11-25, seeds 1 to 4, three experiments: 12 % of those under `fq_codel`, 6 % under `cake`, 23 % under `lfq`.
//! - Ranks come from the owner of the queue, for each flow and both its directions. Without them all are 0: flows are served in the order in which
//!   they came to have packets waiting, each until it has none.
//! - No queue management: who is last waits, and loses what does not fit.
//!
//! **Parameters.** None besides the buffer limit.
//!
//! **When the buffer is full** the last packet of the flow of largest rank is dropped, as under [SRPT](srpt.md); that may be the arriving one.
//!
//! **Cost.** As [SRPT](srpt.md).
//!
//! **Validation.** Unit tests on order and victims; what it shares with SRPT is tested there and in `ranked_flows.rs`. `tests/arena/test_bounds.py`:
//! what ranks in the order of completion are worth. Conformance suite.
//!
//! **References.** E. Friedman and S. Henderson, "Fairness and efficiency in web server protocols", SIGMETRICS 2003. M. Dell'Amico, D. Carra and P. Michiardi,
//! "On fair size-based scheduling", arXiv 1506.09158, 2015.

use crate::packet::Packet;
use crate::parts::ranked_flows::{ByRank, RankedFlows};
use crate::spec::{Family, RunsOn, Spec};

/// Flows in the order of ranks that they were given.
pub type Ranked = RankedFlows<ByGiven>;

/// The row of [`Ranked`].
#[derive(Debug)]
pub enum ByGiven {}

impl ByRank for ByGiven {
    const SPEC: Spec = Spec {
        id: "ranked",
        family: Family::SizeBased,
        about: "flows strictly in the order of ranks that come with them; who ranks them knows what is to come, a bound",
        source: "Friedman and Henderson 2003; Dell'Amico et al. 2015",
        when_full: "the last packet of the flow of largest rank; may be the arriving one",
        time_driven: false,
        // The packets of a flow are a list.
        keeps_flow_order: true,
        runs_on: RunsOn::Bound,
        params: &[],
    };

    #[inline]
    fn of(packet: &Packet) -> u64 {
        packet.mark.into()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet, Qdisc};

    /// Queues packets (flow, rank), handles counted from 0, which tell sizes in the opposite order.
    fn arrive(ranked: &mut Qdisc, packets: &[(u64, u32)]) {
        for (handle, &(flow, rank)) in (0..).zip(packets) {
            ranked
                .enqueue(Packet { mark: rank, remaining: 1000 - u64::from(rank), ..packet(flow, handle) }, Time::ZERO);
        }
    }

    #[test]
    fn the_flow_of_smallest_rank_goes_first_and_ties_in_order_of_arrival() {
        let mut ranked = queue("ranked", &[], Limit::Packets(100));
        arrive(&mut ranked, &[(1, 9), (2, 3), (3, 6), (4, 3), (2, 3)]);
        assert_eq!(drain(&mut ranked, Time::ZERO), [1, 4, 3, 2, 0]);
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_flow_of_largest_rank() {
        let mut ranked = queue("ranked", &[], Limit::Packets(3));
        arrive(&mut ranked, &[(1, 5), (1, 5), (2, 3), (3, 4)]);
        assert_eq!(dropped(&ranked), [1]);
        let fate = ranked.enqueue(Packet { mark: 6, ..packet(4, 9) }, Time::ZERO);
        assert_eq!(fate, Fate::Dropped(DropReason::Full));
        assert_eq!(drain(&mut ranked, Time::ZERO), [2, 3, 0]);
    }
}
