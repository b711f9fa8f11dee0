//! Early flow discard: short and slow flows go first, with state for waiting packets only.
//!
//! Principle: a flow is in the table only while a packet of it waits, so a connection falls into
//! fragments. A packet is high while its fragment counts less than `threshold`, low afterwards;
//! strict priority, each class in order of arrival. When the buffer is full, a high packet pushes out
//! the last low one; a low one is dropped.
//! Cost per packet: O(1), two look-ups in a table no longer than the queue.
//! Source: Chen 2012, Algorithm 3 and 4.3.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use units::{FlowKey, Stream};

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::classes::Classes;
use crate::flow_table::keep_sparse;
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, Param, Spec, Value};

#[derive(Debug, Default)]
struct Fragment {
    /// Bytes or packets of the fragment that entered the queue.
    ///
    /// Algorithm 3, line 19, says "bytes already served". Counting departures would let a burst of
    /// any length in as high, while 4.5.3 has the first th packets of a fragment high and the rest
    /// low, and 4.3.1 a size counter: so arrivals count.
    counted: u64,
    queued: u32,
}

/// Early flow discard.
#[derive(Debug)]
pub struct Efd {
    queue: Classes,
    fragments: HashMap<FlowKey, Fragment>,
    threshold: u64,
    in_packets: bool,
}

/// Algorithm 3, lines 46-52: a packet leaves, sent or pushed out. A victim was low, so its fragment
/// is past the threshold without it too: no need to take it off the count.
#[inline]
fn leave(fragments: &mut HashMap<FlowKey, Fragment>, packet: &Packet) {
    if let Entry::Occupied(mut entry) = fragments.entry(packet.flow) {
        entry.get_mut().queued -= 1;
        if entry.get().queued == 0 {
            entry.remove();
        }
    }
}

impl Efd {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let counted = self.fragments.get(&packet.flow).map_or(0, |fragment| fragment.counted);
        counted < self.threshold && self.queue.make_room(packet.len, env, |victim| leave(&mut self.fragments, victim))
    }
}

impl Discipline for Efd {
    const SPEC: Spec = Spec {
        id: "efd",
        family: Family::SizeBased,
        about: "early flow discard: the start of every fragment of a flow goes first",
        source: "Chen 2012, Algorithm 3",
        when_full: "the last low packet for a high one, else the arriving packet",
        time_driven: false,
        // Within a fragment high packets come before low ones and leave before them; the next
        // fragment begins only when none waits.
        keeps_flow_order: true,
        params: &[
            Param {
                name: "threshold",
                unit: "bytes or packets",
                about: "what goes first of every fragment (th), in the unit of count; 20 full packets",
                value: Value::Number { default: 30_000.0, min: 1.0, max: 1e12 },
            },
            Param {
                name: "count",
                unit: "",
                about: "unit of threshold; with packets give threshold too, 20 in the paper",
                value: Value::Choice(&["bytes", "packets"]),
            },
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Efd {
            queue: Classes::default(),
            fragments: HashMap::new(),
            // Counts are whole: less than 1.5 means less than 2.
            threshold: options.number("threshold").ceil() as u64,
            in_packets: options.choice("count") == "packets",
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            // Lines 8, 23 and 37. Line 4 would leave an entry behind; it belongs to queued packets.
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        keep_sparse(&mut self.fragments);
        let fragment = self.fragments.entry(packet.flow).or_default();
        let high = fragment.counted < self.threshold;
        fragment.counted += if self.in_packets { 1 } else { u64::from(packet.len) };
        fragment.queued += 1;
        env.note(Sorted { high, fresh: fragment.queued == 1 });
        self.queue.push(packet, high);
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        let packet = self.queue.pop()?;
        leave(&mut self.fragments, &packet);
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.peek()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.fragments.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.fragments.allocation_size()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.queue.high_backlog())
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::trial::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, Packet};

    #[test]
    fn the_first_20_full_packets_of_a_fragment_are_high() {
        let mut efd = queue("efd", &[], Limit::Packets(300));
        arrive(&mut efd, &[1; 25], 0, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(20));
        arrive(&mut efd, &[2], 25, Time::ZERO);
        let order = drain(&mut efd, Time::ZERO);
        assert_eq!(order[20], 25, "behind the high packets, before the low ones");
    }

    #[test]
    fn a_flow_is_new_again_once_none_of_its_packets_waits() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(300));
        arrive(&mut efd, &[1, 1], 0, Time::ZERO);
        assert_eq!((efd.high_backlog(), efd.flow_table_len()), (Some(1), 1));
        efd.dequeue(Time::ZERO);
        arrive(&mut efd, &[1], 2, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(0), "the fragment goes on while packet 1 waits");
        drain(&mut efd, Time::ZERO);
        assert_eq!(efd.flow_table_len(), 0);
        arrive(&mut efd, &[1], 3, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(1));
    }

    #[test]
    fn counting_packets_gives_a_short_packet_the_weight_of_a_long_one() {
        let mut efd = queue("efd", &["threshold=3", "count=packets"], Limit::Packets(300));
        for handle in 0..5 {
            efd.enqueue(Packet { len: 40, ..packet(1, handle) }, Time::ZERO);
        }
        assert_eq!(efd.high_backlog(), Some(3));
    }

    #[test]
    fn a_high_packet_pushes_out_the_last_low_one() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(3));
        arrive(&mut efd, &[1, 1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&efd), [2]);
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 3, 1]);
    }

    #[test]
    fn a_low_packet_is_dropped_when_the_buffer_is_full() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut efd, &[1, 1], 0, Time::ZERO);
        assert_eq!(efd.enqueue(packet(1, 2), Time::ZERO), Fate::Dropped(DropReason::Full));
    }

    #[test]
    fn a_high_packet_is_dropped_when_only_high_ones_wait_and_leaves_no_entry() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut efd, &[1, 2], 0, Time::ZERO);
        assert_eq!(efd.enqueue(packet(3, 2), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(efd.flow_table_len(), 2);
    }

    #[test]
    fn the_entry_of_a_victim_goes_with_its_last_packet() {
        let mut efd = queue("efd", &["threshold=1500"], Limit::Packets(2));
        arrive(&mut efd, &[1, 1], 0, Time::ZERO);
        efd.dequeue(Time::ZERO);
        arrive(&mut efd, &[2, 3], 2, Time::ZERO);
        assert_eq!(dropped(&efd), [1]);
        assert_eq!(efd.flow_table_len(), 2);
        drain(&mut efd, Time::ZERO);
        arrive(&mut efd, &[1], 4, Time::ZERO);
        assert_eq!(efd.high_backlog(), Some(1), "flow 1 is new again");
    }

    #[test]
    fn with_a_byte_limit_as_many_low_tails_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut efd = queue("efd", &["threshold=1000"], Limit::Bytes(4000));
        for handle in 0..4 {
            efd.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        efd.enqueue(sized(2, 4, 3001), Time::ZERO);
        assert_eq!(dropped(&efd), [4], "1000 high bytes stay, so 3001 never fit");
        efd.enqueue(sized(2, 5, 1500), Time::ZERO);
        assert_eq!(dropped(&efd), [3, 2]);
        assert_eq!(drain(&mut efd, Time::ZERO), [0, 5, 1]);
    }
}
