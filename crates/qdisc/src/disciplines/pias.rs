//! # PIAS
//!
//! **Idea.** There are several levels of strict priority, and every flow begins in the first. At each *threshold* of bytes sent it sinks to the
//! next level. The size of a flow need not be known: short flows end in the upper levels, long ones sink out of their way. Each level is
//! served in order of arrival.
//!
//! **Scope and limits.**
//! - In the paper the hosts write the level into each packet and the switches only serve levels. Here the queue counts by itself, with the
//!   flow table of [LAS](las.md): the bytes on the wire of each flow that entered it. Flows of TCP, of UDP and of acknowledgements are counted
//!   alike, each direction of a connection for itself.
//! - The kernel module of the authors counts a segment once, however often it is sent, and gives a retransmission the level its flow has
//!   reached. The flow table does the same for segments that were lost here, since a packet that is dropped does not count. A segment lost
//!   elsewhere counts twice. Sequence numbers, as [Run2C](run2c.md) reads them, would put a retransmission back into the level its bytes were
//!   first sent in: it would overtake the rest of its flow.
//! - A packet goes by the bytes *before* it; the module counts the packet too. The difference is one packet per threshold.
//! - The module lifts a flow to the first level again after a few timeouts in a row, so that it is not starved for good. A queue does not see
//!   timeouts: here a starved flow waits until the levels above are empty.
//! - `mark` is ECN with one threshold for the whole port, as DCTCP wants it and the paper recommends over a threshold per level. Packets whose
//!   transport does not understand ECN are left alone; some switches drop them at the same threshold.
//! - Packets of one flow keep their order: the level of a flow never rises while a packet of it waits.
//! - One threshold is Run2C with a flow table; a threshold at every byte is LAS.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `thresholds` | $\alpha_i$ | bytes | 10000:100000:1000000 | bytes sent at which a flow sinks a level: ascending, at most 63 |
//! | `mark` | $K$ | packets | 0 | an arriving packet is marked when as many wait already; 0 is never |
//! | `visit` | | s | 5 | interval at which idle flows are looked for |
//! | `timeout` | | s | 30 | idle time after which a flow is forgotten |
//!
//! The default is one level per decade, four in all; in the wired scenario it is within 2 % of the best four levels. The paper uses up to
//! eight. `mayfly model pias` finds thresholds for given sizes: see [](../how-to/pias-thresholds.md). Fractions round up, since bytes are
//! whole.
//!
//! **When the buffer is full** the arriving packet gets its level, then the last packet of the lowest occupied level goes if that level is
//! below the arriving packet's; otherwise the arriving packet is dropped. With a limit in bytes as many go as needed, lowest level first, and
//! none if all levels below would not be enough: then the arriving packet is dropped.
//!
//! **Cost.** O(1) per packet in the number of flows and packets: two look-ups, and a comparison per threshold. One entry per flow seen in the
//! last half minute.
//!
//! **Validation.** Unit tests on levels, counting, marks and push-out. Random traffic against a list that is searched from end to end.
//! Conformance suite. The thresholds of the optimiser, simulated: see [](../how-to/pias-thresholds.md#does-the-simulator-agree).
//!
//! **References.** W. Bai, L. Chen, K. Chen, D. Han, C. Tian, H. Wang, "Information-Agnostic Flow Scheduling for Commodity Data Centers", NSDI
//! 2015. RFC 8257, section 3.1 (marking).

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// The occupied levels are one word.
const MOST_LEVELS: usize = u64::BITS as usize;

/// Packets of one level, in order of arrival.
#[derive(Clone, Debug, Default)]
struct Level {
    packets: VecDeque<Packet>,
    bytes: u64,
}

/// Levels of strict priority, numbered from 0, the first to go.
#[derive(Debug)]
struct Levels {
    levels: Vec<Level>,
    /// Bit n: a packet waits in level n.
    occupied: u64,
}

impl Levels {
    #[inline(always)]
    fn push(&mut self, level: usize, packet: Packet) {
        self.occupied |= 1 << level;
        let level = &mut self.levels[level];
        level.bytes += u64::from(packet.len);
        level.packets.push_back(packet);
    }

    #[inline]
    fn pop_first(&mut self) -> Option<Packet> {
        // Without an occupied level the number is that of none.
        let level = self.occupied.trailing_zeros() as usize;
        let packet = self.levels.get_mut(level)?.packets.pop_front()?;
        self.leave(level, packet.len);
        Some(packet)
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let level = self.occupied.checked_ilog2()? as usize;
        let packet = self.levels[level].packets.pop_back()?;
        self.leave(level, packet.len);
        Some(packet)
    }

    #[inline(always)]
    fn leave(&mut self, number: usize, len: u32) {
        let level = &mut self.levels[number];
        level.bytes -= u64::from(len);
        self.occupied &= !(u64::from(level.packets.is_empty()) << number);
    }

    fn first(&self) -> Option<&Packet> {
        self.levels.get(self.occupied.trailing_zeros() as usize)?.packets.front()
    }

    /// Makes room for a packet of `len` bytes in `level`: discards from the tail of the lowest
    /// occupied level, as long as it is below, telling `forget` of each victim. Discards nothing and
    /// returns false when all levels below would not be enough.
    fn make_room(&mut self, level: usize, len: u32, env: &mut Env, mut forget: impl FnMut(&Packet)) -> bool {
        let below = &self.levels[level + 1..];
        let packets = below.iter().map(|level| level.packets.len() as u64).sum();
        if env.is_full_without(len, packets, below.iter().map(|level| level.bytes).sum()) {
            return false;
        }
        while env.is_full(len) {
            let victim = self.pop_last().expect("there is room without the levels below");
            forget(&victim);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }
}

/// PIAS: levels of strict priority by the bytes a flow has sent.
#[derive(Debug)]
pub struct Pias {
    levels: Levels,
    /// Bytes of each flow that entered the queue and were not pushed out. The hosts of the paper
    /// count a segment once, however often it is sent; so does this count, as far as the segments
    /// were lost here.
    flows: FlowTable<u64>,
    /// Demotion thresholds (alpha), bytes, ascending: one fewer than there are levels.
    thresholds: Vec<u64>,
    /// Backlog from which packets are marked; `u64::MAX` is never.
    mark: u64,
}

impl Pias {
    /// Bytes of the flow before the packet decide; the hosts of the paper count the packet too.
    #[inline(always)]
    fn level(&self, sent: u64) -> usize {
        self.thresholds.iter().take_while(|&&threshold| threshold <= sent).count()
    }

    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let level = self.level(self.flows.attained(packet.flow));
        self.levels.make_room(level, packet.len, env, |victim| {
            // No packet of its flow waits behind the victim: levels of a flow never rise.
            let sent = self.flows.attained(victim.flow);
            self.flows.push_out(victim.flow, sent - u64::from(victim.len));
        })
    }
}

impl Discipline for Pias {
    const SPEC: Spec = Spec {
        id: "pias",
        family: Family::SizeBased,
        about: "levels of strict priority: a flow sinks a level at each threshold of bytes sent",
        source: "Bai et al. 2015",
        when_full: "the last packet of the lowest level below the arriving packet's, else the arriving packet",
        time_driven: false,
        // The level of a flow with packets waiting never rises above theirs: a push-out takes back
        // only its last packet, and the flow is not forgotten.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            Param {
                name: "thresholds",
                unit: "bytes",
                about: "bytes sent at which a flow sinks to the next level (alpha)",
                value: Value::Numbers {
                    default: &[10_000.0, 100_000.0, 1_000_000.0],
                    min: 1.0,
                    max: 1e12,
                    most: MOST_LEVELS - 1,
                },
            },
            Param {
                name: "mark",
                unit: "packets",
                about: "backlog from which arriving packets are marked with ECN (K); 0 is never",
                value: Value::Whole { default: 0, min: 0, max: 10_000_000 },
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        // Bytes are whole: fewer than 1.5 of them means fewer than 2.
        let thresholds: Vec<u64> = options.numbers("thresholds").iter().map(|bytes| bytes.ceil() as u64).collect();
        Ok(Pias {
            levels: Levels { levels: vec![Level::default(); thresholds.len() + 1], occupied: 0 },
            flows: FlowTable::with_options(options),
            thresholds,
            mark: Some(options.whole("mark")).filter(|&mark| mark > 0).unwrap_or(u64::MAX),
        })
    }

    #[inline]
    fn enqueue(&mut self, mut packet: Packet, env: &mut Env) {
        self.flows.visit(env.now());
        // Per port, not per level (Bai et al. 2015, 3.3): the backlog with the packet exceeds K
        // (RFC 8257, 3.1).
        let congested = env.stats().backlog() >= self.mark;
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        if congested {
            env.mark(&mut packet);
        }
        env.accept(&packet);
        let counted = self.flows.enter(packet.flow, env.now());
        let sent = *counted;
        *counted += u64::from(packet.len);
        self.levels.push(self.level(sent), packet);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let packet = self.levels.pop_first()?;
        self.flows.leave(packet.flow, env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.levels.first()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc};

    /// Three levels that change after one and after three full packets.
    const LEVELS: &[&str] = &["thresholds=1500:4500"];

    fn sized(flow: u64, handle: u64, len: u32) -> Packet {
        Packet { len, ..packet(flow, handle) }
    }

    #[test]
    fn a_flow_sinks_a_level_at_each_threshold() {
        let mut pias = queue("pias", LEVELS, Limit::Packets(100));
        arrive(&mut pias, &[1, 1, 1, 1, 1, 2, 2, 2, 2, 3], 0, Time::ZERO);
        // Levels: 0 1 1 2 2, 0 1 1 2, 0.
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 5, 9, 1, 2, 6, 7, 3, 4, 8]);
    }

    #[test]
    fn a_packet_goes_by_the_bytes_before_it() {
        let mut pias = queue("pias", &["thresholds=100"], Limit::Packets(100));
        pias.enqueue(sized(1, 0, 99), Time::ZERO);
        pias.enqueue(sized(1, 1, 1), Time::ZERO);
        pias.enqueue(sized(1, 2, 1), Time::ZERO);
        pias.enqueue(sized(2, 3, 1), Time::ZERO);
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 1, 3, 2], "99 bytes before packet 1, 100 before packet 2");
    }

    #[test]
    fn a_threshold_within_a_byte_is_reached_with_the_whole_byte() {
        let mut pias = queue("pias", &["thresholds=1.5"], Limit::Packets(100));
        for (flow, handle) in [(1, 0), (1, 1), (1, 2), (2, 3)] {
            pias.enqueue(sized(flow, handle, 1), Time::ZERO);
        }
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 1, 3, 2]);
    }

    #[test]
    fn what_a_flow_sent_earlier_counts_until_it_is_forgotten() {
        let mut pias = queue("pias", LEVELS, Limit::Packets(100));
        arrive(&mut pias, &[1, 1, 1], 0, Time::ZERO);
        drain(&mut pias, Time::ZERO);
        let (soon, late) = (Time::from_millis(1), Time::from_millis(40_000));
        arrive(&mut pias, &[1, 2], 10, soon);
        assert_eq!(drain(&mut pias, soon), [11, 10]);
        arrive(&mut pias, &[1, 2], 20, late);
        assert_eq!(drain(&mut pias, late), [20, 21]);
    }

    #[test]
    fn a_retransmission_keeps_the_level_of_its_flow() {
        let mut pias = queue("pias", LEVELS, Limit::Packets(100));
        arrive(&mut pias, &[1, 1, 1], 0, Time::ZERO);
        pias.enqueue(Packet { kind: Kind::Data, progress: 0, ..packet(1, 3) }, Time::ZERO);
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 1, 2, 3]);
    }

    #[test]
    fn acknowledgements_count_their_own_bytes() {
        let mut pias = queue("pias", &["thresholds=60"], Limit::Packets(100));
        for handle in 0..3 {
            pias.enqueue(Packet { kind: Kind::Ack, progress: 1_000_000, ..sized(1, handle, 40) }, Time::ZERO);
        }
        pias.enqueue(sized(2, 3, 40), Time::ZERO);
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 1, 3, 2]);
    }

    #[test]
    fn a_full_buffer_drops_the_last_packet_of_the_lowest_level() {
        let mut pias = queue("pias", LEVELS, Limit::Packets(4));
        arrive(&mut pias, &[1, 1, 1, 1], 0, Time::ZERO);
        assert_eq!(pias.enqueue(packet(2, 4), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&pias), [3]);
        assert_eq!(pias.enqueue(packet(2, 5), Time::ZERO), Fate::Dropped(DropReason::Full), "none is lower");
        assert_eq!(pias.enqueue(packet(3, 6), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&pias), [2]);
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 4, 6, 1]);
    }

    #[test]
    fn packets_dropped_here_do_not_count() {
        let mut pias = queue("pias", LEVELS, Limit::Packets(2));
        arrive(&mut pias, &[1, 1, 2], 0, Time::ZERO);
        assert_eq!(dropped(&pias), [1]);
        arrive(&mut pias, &[1, 1, 3], 3, Time::ZERO);
        assert_eq!(pias.flow_table_len(), 2, "flow 3 has nothing but a refused packet");
        drain(&mut pias, Time::ZERO);
        // One packet of flow 1 was sent: its next goes to the second level, in front of the third.
        for handle in 10..13 {
            arrive(&mut pias, &[4], handle, Time::ZERO);
            drain(&mut pias, Time::ZERO);
        }
        arrive(&mut pias, &[4, 1], 13, Time::ZERO);
        assert_eq!(drain(&mut pias, Time::ZERO), [14, 13]);
    }

    #[test]
    fn a_flow_whose_only_packet_is_pushed_out_keeps_what_it_sent() {
        let mut pias = queue("pias", LEVELS, Limit::Packets(1));
        for handle in 0..4 {
            arrive(&mut pias, &[1], handle, Time::ZERO);
            drain(&mut pias, Time::ZERO);
        }
        arrive(&mut pias, &[1, 2], 4, Time::ZERO);
        assert_eq!((dropped(&pias), pias.flow_table_len()), (vec![4], 2));
        assert_eq!(pias.enqueue(packet(1, 6), Time::ZERO), Fate::Dropped(DropReason::Full), "still in the last level");
    }

    #[test]
    fn with_a_byte_limit_as_many_tails_go_as_needed_and_none_in_vain() {
        let mut pias = queue("pias", &["thresholds=1000:2000"], Limit::Bytes(4000));
        for handle in 0..4 {
            pias.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        pias.enqueue(sized(2, 10, 2500), Time::ZERO);
        assert_eq!(dropped(&pias), [3, 2, 1], "out of two levels");
        pias.enqueue(sized(3, 11, 600), Time::ZERO);
        assert_eq!(dropped(&pias), [11], "would fit only without packets of its own level");
        assert_eq!(drain(&mut pias, Time::ZERO), [0, 10]);
    }

    #[test]
    fn a_long_backlog_marks_packets_that_understand_it_in_every_level() {
        let mut pias = queue("pias", &["thresholds=1500", "mark=2"], Limit::Packets(4));
        let arrival = |flow, handle, ecn| Packet { ecn, ..packet(flow, handle) };
        let ecn = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect0, Ecn::NotEct];
        for (handle, ecn) in (0..).zip(ecn) {
            pias.enqueue(arrival(1, handle, ecn), Time::ZERO);
        }
        pias.enqueue(arrival(2, 4, Ecn::Ect1), Time::ZERO);
        assert_eq!(pias.enqueue(arrival(1, 5, Ecn::Ect0), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(pias.stats().marked, 2, "packets 2 and 4: 3 does not understand, 5 did not enter");
        let marked = std::iter::from_fn(|| pias.dequeue(Time::ZERO)).filter(|packet| packet.ecn == Ecn::Ce);
        assert_eq!(marked.map(|packet| packet.handle).collect::<Vec<_>>(), [4, 2]);
    }

    #[test]
    fn nothing_is_marked_unless_asked_for() {
        let mut pias = queue("pias", &[], Limit::Packets(1000));
        for handle in 0..1000 {
            pias.enqueue(Packet { ecn: Ecn::Ect0, ..packet(handle, handle) }, Time::ZERO);
        }
        assert_eq!(pias.stats().marked, 0);
    }

    #[test]
    fn the_last_of_64_levels_is_a_level_like_the_others() {
        let thresholds = (1..=63).map(|level| (level * 100).to_string()).collect::<Vec<_>>().join(":");
        let mut pias = queue("pias", &[&format!("thresholds={thresholds}")], Limit::Packets(65));
        for handle in 0..65 {
            pias.enqueue(sized(1, handle, 100), Time::ZERO);
        }
        pias.enqueue(sized(2, 100, 100), Time::ZERO);
        assert_eq!(dropped(&pias), [64]);
        assert_eq!(drain(&mut pias, Time::ZERO), [vec![0, 100], (1..64).collect()].concat());
    }

    #[test]
    fn one_threshold_sorts_as_run2c_does_without_sequence_numbers() {
        let mut pias = queue("pias", &["thresholds=3000"], Limit::Packets(5));
        let mut run2c = queue("run2c", &["threshold=3000"], Limit::Packets(5));
        let feed = |qdisc: &mut Qdisc| {
            arrive(qdisc, &[1, 1, 1, 1, 2, 3, 2, 2, 1, 4], 0, Time::ZERO);
            drain(qdisc, Time::ZERO)
        };
        assert_eq!(feed(&mut pias), feed(&mut run2c));
    }

    /// Levels as the text has them: a list of (level, packet), looked through from end to end.
    #[derive(Default)]
    struct Reference {
        waiting: Vec<(usize, u64, u64)>,
        sent: [u64; 16],
    }

    impl Reference {
        /// Whether the packet entered, and who had to go.
        fn arrive(&mut self, flow: u64, handle: u64, limit: usize) -> (bool, Vec<u64>) {
            let level = [1500, 4500].iter().filter(|&&threshold| threshold <= self.sent[flow as usize]).count();
            let mut victims = Vec::new();
            if self.waiting.len() == limit {
                let lowest = self.waiting.iter().map(|&(level, ..)| level).max().expect("full");
                if lowest <= level {
                    return (false, vec![handle]);
                }
                let place = self.waiting.iter().rposition(|&(level, ..)| level == lowest).expect("there is one");
                let (_, flow, victim) = self.waiting.remove(place);
                self.sent[flow as usize] -= 1500;
                victims.push(victim);
            }
            self.sent[flow as usize] += 1500;
            self.waiting.push((level, flow, handle));
            (true, victims)
        }

        fn serve(&mut self) -> Option<u64> {
            let first = self.waiting.iter().map(|&(level, ..)| level).min()?;
            let place = self.waiting.iter().position(|&(level, ..)| level == first).expect("there is one");
            Some(self.waiting.remove(place).2)
        }
    }

    proptest! {
        #[test]
        fn any_traffic_is_served_as_the_text_says(steps in prop::collection::vec((0..16_u64, 0..3_u32), 0..200)) {
            let mut pias = queue("pias", LEVELS, Limit::Packets(8));
            let mut reference = Reference::default();
            for (handle, (flow, what)) in (0..).zip(steps) {
                if what == 0 {
                    prop_assert_eq!(pias.dequeue(Time::ZERO).map(|packet| packet.handle), reference.serve());
                } else {
                    let entered = pias.enqueue(packet(flow, handle), Time::ZERO) == Fate::Queued;
                    prop_assert_eq!((entered, dropped(&pias)), reference.arrive(flow, handle, 8));
                }
            }
        }
    }
}
