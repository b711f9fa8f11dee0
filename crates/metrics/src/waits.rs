//! For whom a packet waits: while it stands in the queue, the link sends other packets, and these are of somebody.
//!
//! The waiting time of a packet, from its arrival at the queue to the start of its transmission, is cut by what the link
//! sends meanwhile. For each kind of packets the time that the link has sent them up to an instant is a broken line,
//! which prefix sums over the transmissions give at any instant: so a packet costs a binary search and one difference a
//! kind, O(n (log n + k)) in all, in whole nanoseconds without rounding.
//!
//! What is not traced, and time in which nothing is sent, is in `other`: the rows and `other` add up to the wait, to the
//! nanosecond. Acknowledgements and the answers of scripted connections are traced by [`netsim::run_both_ways`] only.

use netsim::PacketTrace;
use serde::Serialize;
use units::{BitRate, Time};

use crate::flow_kind::Kind;
use crate::run_view::Ran;

/// Who waits for whom at one queue. Kinds are numbered by the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Packets of each kind that left the queue.
    pub packets: Vec<u64>,
    /// Waits of all packets of each kind, nanoseconds.
    pub wait_ns: Vec<u64>,
    /// Of these, by kind that was sent meanwhile, nanoseconds: row the one that waits, column the one it waits for.
    pub for_ns: Vec<Vec<u64>>,
    /// Of these, while nothing that is traced was sent, nanoseconds.
    pub other_ns: Vec<u64>,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: u64,
    until: u64,
    kind: usize,
}

impl Waits {
    /// From the trace of the packets of a queue of a link of constant `rate`; `kind_of` gives the kind of one, below
    /// `kinds`, and `None` for those of other queues.
    pub fn of(
        packets: &[PacketTrace],
        rate: BitRate,
        kinds: usize,
        kind_of: impl Fn(&PacketTrace) -> Option<usize>,
    ) -> Waits {
        let own: Vec<(usize, &PacketTrace)> = packets
            .iter()
            .filter(|packet| packet.queued != Time::NEVER && packet.departed != Time::NEVER)
            .filter_map(|packet| Some((kind_of(packet)?, packet)))
            .collect();
        let mut sent: Vec<Sent> = own
            .iter()
            .map(|&(kind, packet)| {
                let from = packet.departed.0;
                Sent { from, until: from + rate.transmission(packet.len.into()).0, kind }
            })
            .collect();
        sent.sort_by_key(|one| one.from);
        // Ends of transmissions in a row are rounded together: the next one may begin a nanosecond before the sum.
        for place in 1..sent.len() {
            let next = sent[place].from;
            sent[place - 1].until = sent[place - 1].until.min(next);
        }
        // Of each kind, the time sent before each transmission.
        let mut before = vec![0_u64; kinds];
        let mut sums: Vec<u64> = Vec::with_capacity(kinds * (sent.len() + 1));
        for one in &sent {
            sums.extend(&before);
            before[one.kind] += one.until - one.from;
        }
        sums.extend(&before);
        // Time of each kind sent up to an instant.
        let up_to = |at: u64, into: &mut Vec<u64>| {
            let begun = sent.partition_point(|one| one.from <= at);
            into.clear();
            into.extend(&sums[begun * kinds..(begun + 1) * kinds]);
            if let Some(last) = begun.checked_sub(1).map(|place| sent[place]) {
                into[last.kind] -= last.until.saturating_sub(at);
            }
        };
        let mut found = Waits {
            packets: vec![0; kinds],
            wait_ns: vec![0; kinds],
            for_ns: vec![vec![0; kinds]; kinds],
            other_ns: vec![0; kinds],
        };
        let (mut at_arrival, mut at_departure) = (Vec::new(), Vec::new());
        for &(kind, packet) in &own {
            let wait = packet.departed.0 - packet.queued.0;
            up_to(packet.queued.0, &mut at_arrival);
            up_to(packet.departed.0, &mut at_departure);
            found.packets[kind] += 1;
            found.wait_ns[kind] += wait;
            let mut explained = 0;
            for cause in 0..kinds {
                let share = at_departure[cause] - at_arrival[cause];
                found.for_ns[kind][cause] += share;
                explained += share;
            }
            found.other_ns[kind] += wait - explained;
        }
        found
    }

    /// Mean time that a packet of each kind (row) waits while one of each kind (column) is sent, seconds; 0 without
    /// packets.
    pub fn seconds(&self) -> Vec<Vec<f64>> {
        self.for_ns.iter().zip(&self.packets).map(|(row, &n)| row.iter().map(|&ns| mean_s(ns, n)).collect()).collect()
    }

    /// Mean wait of a packet of each kind, seconds; 0 without packets.
    pub fn mean_s(&self) -> Vec<f64> {
        self.wait_ns.iter().zip(&self.packets).map(|(&ns, &n)| mean_s(ns, n)).collect()
    }

    /// Mean time that a packet of each kind waits while nothing that is traced is sent, seconds; 0 without packets.
    pub fn other_s(&self) -> Vec<f64> {
        self.other_ns.iter().zip(&self.packets).map(|(&ns, &n)| mean_s(ns, n)).collect()
    }
}

fn mean_s(ns: u64, packets: u64) -> f64 {
    if packets == 0 { 0.0 } else { ns as f64 * 1e-9 / packets as f64 }
}

/// Who waits for whom at the queue of one direction of the bottleneck, `kinds` being those of the flows of the list that
/// ran ([`crate::kinds`]), in the order of [`Kind::ALL`]. All flows have to be traced ([`netsim::Run::traced`]), both ways
/// ([`netsim::run_both_ways`]); what the trace had no room for is in `other`.
///
/// # Panics
/// When `kinds` is shorter than the list.
pub fn waits(ran: &Ran<'_>, kinds: &[Kind], up: bool) -> Waits {
    let network = &ran.run.network;
    let rate = if up { network.reverse_rate.unwrap_or(network.rate) } else { network.rate };
    Waits::of(&ran.output.packets, rate, Kind::ALL.len(), |packet| {
        (goes_up(ran, packet) == up).then(|| kinds[packet.flow as usize].place())
    })
}

/// Whether a packet crosses the bottleneck on its way up.
pub(crate) fn goes_up(ran: &Ran<'_>, packet: &PacketTrace) -> bool {
    ran.flows[packet.flow as usize].up != packet.back
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate() -> BitRate {
        // A byte takes 1 ns.
        BitRate::from_bps(8_000_000_000).expect("above 0")
    }

    fn packet(flow: u32, len: u32, queued: u64, departed: Option<u64>) -> PacketTrace {
        let never = Time::NEVER;
        let departed = departed.map_or(never, Time);
        PacketTrace {
            flow,
            number: 0,
            len,
            back: false,
            ack: false,
            sent: never,
            queued: Time(queued),
            departed,
            received: never,
            dropped: never,
            marked: false,
        }
    }

    fn by_flow(packet: &PacketTrace) -> Option<usize> {
        (packet.flow < 2).then_some(packet.flow as usize)
    }

    #[test]
    fn a_packet_waits_for_the_rest_of_one_and_all_of_another() {
        // Flow 0 sends from 0 to 100 and from 100 to 200; flow 1 comes at 40.
        let trace = [packet(0, 100, 0, Some(0)), packet(0, 100, 10, Some(100)), packet(1, 50, 40, Some(200))];
        let found = Waits::of(&trace, rate(), 2, by_flow);
        assert_eq!(found.packets, [2, 1]);
        assert_eq!(found.wait_ns, [90, 160]);
        assert_eq!(found.for_ns, [[90, 0], [160, 0]]);
        assert_eq!(found.other_ns, [0, 0]);
        assert!((found.mean_s()[0] - 4.5e-8).abs() < 1e-20 && (found.mean_s()[1] - 1.6e-7).abs() < 1e-20);
    }

    #[test]
    fn a_packet_that_passes_makes_the_others_wait_for_it() {
        // Flow 1 comes at 30 and goes at 100, before the packet of flow 0 that came at 10.
        let trace = [packet(0, 100, 0, Some(0)), packet(0, 100, 10, Some(160)), packet(1, 60, 30, Some(100))];
        let found = Waits::of(&trace, rate(), 2, by_flow);
        assert_eq!(found.for_ns, [[90, 60], [70, 0]]);
    }

    #[test]
    fn what_is_not_traced_is_in_other() {
        // From 100 to 130 an acknowledgement is sent.
        let trace = [packet(0, 100, 0, Some(0)), packet(1, 60, 30, Some(130)), packet(7, 60, 30, Some(190))];
        let found = Waits::of(&trace, rate(), 2, by_flow);
        assert_eq!(found.for_ns, [[0, 0], [70, 0]]);
        assert_eq!(found.other_ns, [0, 30]);
    }

    #[test]
    fn what_never_left_waits_for_nobody_and_none_have_no_mean() {
        let found = Waits::of(&[packet(0, 100, 0, None)], rate(), 2, by_flow);
        assert_eq!((found.mean_s(), found.packets), (vec![0.0, 0.0], vec![0, 0]));
    }

    #[test]
    fn a_transmission_that_the_next_one_cuts_by_rounding_counts_up_to_it() {
        // 8e9 / 3 bit/s: a packet of 1 byte takes 3 ns, here the second begins after 2.
        let rate = BitRate::from_bps(2_666_666_667).expect("above 0");
        let trace = [packet(0, 1, 0, Some(0)), packet(1, 1, 0, Some(2)), packet(1, 1, 0, Some(5))];
        let found = Waits::of(&trace, rate, 2, by_flow);
        assert_eq!(found.for_ns, [[0, 0], [4, 3]]);
        assert_eq!(found.other_ns, [0, 0]);
    }

    /// The definition: for each packet and each transmission the time in which both last.
    fn directly(trace: &[PacketTrace], rate: BitRate) -> Vec<Vec<u64>> {
        let mut found = vec![vec![0; 2]; 2];
        for one in trace {
            for other in trace {
                let (from, until) = (other.departed.0, other.departed.0 + rate.transmission(other.len.into()).0);
                let (begin, end) = (one.queued.0.max(from), one.departed.0.min(until));
                found[one.flow as usize][other.flow as usize] += end.saturating_sub(begin);
            }
        }
        found
    }

    proptest! {
        #[test]
        fn prefix_sums_give_what_the_definition_gives(
            packets in proptest::collection::vec((0_u32..2, 1_u32..200, 0_u64..400, 0_u64..60), 1..60)
        ) {
            // A link that sends them in the order given, with pauses.
            let (mut free, mut trace) = (0, Vec::new());
            for (flow, len, waited, pause) in packets {
                let departed = free + pause;
                trace.push(packet(flow, len, departed.saturating_sub(waited), Some(departed)));
                free = departed + rate().transmission(len.into()).0;
            }
            let found = Waits::of(&trace, rate(), 2, by_flow);
            prop_assert_eq!(&found.for_ns, &directly(&trace, rate()));
            for kind in 0..2 {
                let row: u64 = found.for_ns[kind].iter().sum();
                prop_assert_eq!(row + found.other_ns[kind], found.wait_ns[kind]);
            }
        }
    }
}
