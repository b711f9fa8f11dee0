//! # PEFD
//!
//! **Idea.** [EFD](efd.md) that counts packets: the first `threshold` packets of every sub-flow are *high*, the others *low*. An
//! acknowledgement weighs as much as a full packet, so that uploads and downloads compete on nearly equal terms for the buffer of an access
//! point, without looking into TCP headers.
//!
//! **Scope and limits.** As EFD. Chen 2012 finds it as fair as [`efdack`](efdack.md) but for buffers below 20 packets, as long as the flows do
//! not differ much in packet size. With delayed acknowledgements an upload sends half as many packets through this queue as a download of the
//! same volume.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `threshold` | $th$ | packets | 20 | packets of every sub-flow that go first (Chen 2012, 4.3.1); fractions round up |
//! | `high` | | | `fifo` | order within the high class: `fifo`, of arrival, or `las`, fewest packets of the sub-flow before the packet |
//! | `low` | | | `fifo` | order within the low class, likewise |
//!
//! **When the buffer is full**, as EFD: the last packet of the low class in its order goes, of the high class when none is low; possibly the
//! arriving one.
//!
//! **Cost.** As EFD.
//!
//! **Validation.** Against a reference that sorts everything at each step, in all four variants. Unit tests on the weight of short packets.
//! Conformance suite.
//!
//! **References.** Chen 2012, 6.2.1 and 6.5.1.

use crate::parts::classes::{HIGH, LOW};
use crate::parts::early_discard::{EarlyDiscard, threshold};
use crate::parts::volume::{Packets, Row};
use crate::spec::{Family, RunsOn, Spec};

/// Early flow discard by packets.
pub type Pefd = EarlyDiscard<ByPackets>;

/// The row of [`Pefd`].
#[derive(Debug)]
pub enum ByPackets {}

impl Row for ByPackets {
    type Volume = Packets;

    const SPEC: Spec = Spec {
        id: "pefd",
        family: Family::SizeBased,
        about: "early flow discard by packets: the first packets of every sub-flow of a flow go first",
        source: "Chen 2012, 6.2.1",
        when_full: "the last packet of the low class, or of the high one when none is low; may be the arriving one",
        time_driven: false,
        // As in EFD.
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "efd", options: "count packets", bpf: false },
        params: &[threshold("packets", "packets of every sub-flow that go first (th)", 20.0), HIGH, LOW],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, dropped, packet, queue};
    use crate::{Limit, Packet};

    #[test]
    fn a_short_packet_has_the_weight_of_a_long_one() {
        for len in [40, 1500] {
            let mut pefd = queue("pefd", &[], Limit::Packets(300));
            for handle in 0..25 {
                pefd.enqueue(Packet { len, ..packet(1, handle) }, Time::ZERO);
            }
            assert_eq!(pefd.high_backlog(), Some(20), "{len} bytes");
        }
    }

    #[test]
    fn fractions_of_a_packet_round_up() {
        let mut pefd = queue("pefd", &["threshold=1.5"], Limit::Packets(300));
        arrive(&mut pefd, &[1, 1, 1], 0, Time::ZERO);
        assert_eq!(pefd.high_backlog(), Some(2));
    }

    #[test]
    fn sorted_by_volume_the_victim_is_of_the_subflow_with_most_packets_not_bytes() {
        let mut pefd = queue("pefd", &["threshold=1", "low=las"], Limit::Packets(6));
        arrive(&mut pefd, &[1, 1], 0, Time::ZERO);
        for handle in 10..14 {
            pefd.enqueue(Packet { len: 40, ..packet(2, handle) }, Time::ZERO);
        }
        pefd.enqueue(packet(3, 20), Time::ZERO);
        assert_eq!(dropped(&pefd), [13]);
    }
}
