//! Who goes before whom: of the packets of some flows that one of another finds waiting in the queue, how many are sent
//! before it. In one queue in order of arrival it is all of them; mean waits do not tell, as long transfers wait in the
//! queues that they make, and short ones come at any time.
//!
//! A packet costs two sums over a tree of departures (Fenwick 1994), into which those that came before it have been
//! entered: O(n log n) in all.

use netsim::PacketTrace;
use serde::Serialize;
use units::Time;

/// How packets fared that found others waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Passing {
    /// Packets that left the queue.
    pub packets: u64,
    /// Packets of the others that they found waiting, summed over them.
    pub found: u64,
    /// Of these, those that were sent before them.
    pub ahead: u64,
}

impl Passing {
    /// Share of the packets found that were sent before those that found them; `None` when they found none.
    pub fn share(&self) -> Option<f64> {
        (self.found > 0).then(|| self.ahead as f64 / self.found as f64)
    }

    /// From the trace of the packets of a queue; `who` tells of one whether it is of those that come (`true`) or of
    /// the others, and `None` where it does not count.
    pub fn of(packets: &[PacketTrace], who: impl Fn(&PacketTrace) -> Option<bool>) -> Passing {
        let sent = |packet: &&PacketTrace| packet.queued != Time::NEVER && packet.departed != Time::NEVER;
        let mut own: Vec<(bool, Time, Time)> = packets
            .iter()
            .filter(sent)
            .filter_map(|packet| Some((who(packet)?, packet.queued, packet.departed)))
            .collect();
        // Of an instant those that come are first: they find nobody who comes with them.
        own.sort_by_key(|&(comes, queued, departed)| (queued, !comes, departed));
        let mut departures: Vec<Time> = own.iter().filter(|(comes, ..)| !comes).map(|&(_, _, at)| at).collect();
        departures.sort_unstable();
        let up_to = |at: Time| departures.partition_point(|&departed| departed <= at);
        let before = |at: Time| departures.partition_point(|&departed| departed < at);
        let mut tree = Tree(vec![0; departures.len() + 1]);
        let (mut entered, mut found) = (0, Passing::default());
        for (comes, queued, departed) in own {
            if comes {
                let gone = tree.sum(up_to(queued));
                found.packets += 1;
                found.found += entered - gone;
                found.ahead += tree.sum(before(departed)).saturating_sub(gone);
            } else {
                tree.add(up_to(departed) - 1);
                entered += 1;
            }
        }
        found
    }
}

/// Counts by place with sums of what is before a place.
struct Tree(Vec<u64>);

impl Tree {
    fn add(&mut self, place: usize) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// Of the first `places`.
    fn sum(&self, places: usize) -> u64 {
        let (mut at, mut sum) = (places, 0);
        while at > 0 {
            sum += self.0[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(flow: u32, queued: u64, departed: u64) -> PacketTrace {
        let (never, queued, departed) = (Time::NEVER, Time(queued), Time(departed));
        PacketTrace {
            flow,
            number: 0,
            len: 1,
            back: false,
            sent: never,
            queued,
            departed,
            received: never,
            marked: false,
            ack: false,
            dropped: never,
        }
    }

    fn first_comes(packet: &PacketTrace) -> Option<bool> {
        (packet.flow < 2).then_some(packet.flow == 0)
    }

    #[test]
    fn in_order_of_arrival_all_go_before() {
        let trace = [packet(1, 0, 0), packet(1, 1, 10), packet(1, 2, 20), packet(0, 5, 30), packet(1, 6, 40)];
        assert_eq!(Passing::of(&trace, first_comes), Passing { packets: 1, found: 2, ahead: 2 });
    }

    #[test]
    fn who_passes_leaves_those_that_it_found_behind() {
        // Two wait; it goes after one of them. The last one came later, went before it and was not found.
        let trace = [packet(1, 1, 10), packet(0, 5, 30), packet(1, 6, 20), packet(1, 2, 40), packet(7, 0, 15)];
        let found = Passing::of(&trace, first_comes);
        assert_eq!((found.found, found.ahead, found.share()), (2, 1, Some(0.5)));
    }

    #[test]
    fn who_finds_nobody_has_no_share() {
        assert_eq!(Passing::of(&[packet(0, 5, 30), packet(1, 5, 20)], first_comes).share(), None);
    }

    proptest! {
        #[test]
        fn the_tree_counts_what_the_definition_counts(
            packets in proptest::collection::vec((0_u32..2, 0_u64..100, 0_u64..40), 0..60)
        ) {
            let trace: Vec<PacketTrace> =
                packets.iter().map(|&(flow, queued, wait)| packet(flow, queued, queued + wait)).collect();
            let pairs = || trace.iter().filter(|one| one.flow == 0).flat_map(|one| {
                trace.iter().filter(|other| other.flow == 1).map(move |other| (one, other))
            });
            let found = |(one, other): &(&PacketTrace, &PacketTrace)| other.queued < one.queued && other.departed > one.queued;
            let ahead = |(one, other): &(&PacketTrace, &PacketTrace)| other.departed < one.departed;
            let measured = Passing::of(&trace, first_comes);
            prop_assert_eq!(measured.found, pairs().filter(found).count() as u64);
            prop_assert_eq!(measured.ahead, pairs().filter(found).filter(ahead).count() as u64);
        }
    }
}
