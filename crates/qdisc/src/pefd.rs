//! EFD counting packets: an acknowledgement weighs as much as a full packet. See [`crate::early_discard`].
//!
//! Cost per packet: O(1), two look-ups in a table no longer than the queue. Source: Chen 2012, 6.2.1.

use crate::classes::{HIGH, LOW};
use crate::early_discard::{EarlyDiscard, threshold};
use crate::spec::{Family, Spec};
use crate::volume::{Packets, Row};

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
        about: "early flow discard by packets: the first packets of every fragment of a flow go first",
        source: "Chen 2012, 6.2.1",
        when_full: "the last packet of the low class, or of the high one when none is low; may be the arriving one",
        time_driven: false,
        // As in EFD.
        keeps_flow_order: true,
        params: &[threshold("packets", "packets of every fragment that go first (th)", 20.0), HIGH, LOW],
    };
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::trial::{arrive, dropped, packet, queue};
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
    fn sorted_by_volume_the_victim_is_of_the_fragment_with_most_packets_not_bytes() {
        let mut pefd = queue("pefd", &["threshold=1", "low=las"], Limit::Packets(6));
        arrive(&mut pefd, &[1, 1], 0, Time::ZERO);
        for handle in 10..14 {
            pefd.enqueue(Packet { len: 40, ..packet(2, handle) }, Time::ZERO);
        }
        pefd.enqueue(packet(3, 20), Time::ZERO);
        assert_eq!(dropped(&pefd), [13]);
    }
}
