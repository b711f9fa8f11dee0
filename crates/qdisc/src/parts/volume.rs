//! What a flow has moved, in bytes or packets, of one direction or of both: the measures by which the size-based
//! disciplines rank packets.
//!
//! Principle: a packet ranks by the volume of its flow before it. The measures of a connection count both of its
//! directions: data by its length when it enters this queue, and what went the other way by the acknowledgements
//! that come back here. An acknowledgement ranks by the volume with the bytes it acknowledges, for these have been
//! moved before it; its own length does not count.
//! Cost per packet: a few instructions. Source: Chen 2012, 6.2.1; Urvoy-Keller 2007, 3.1.

use std::fmt::Debug;

use units::{Direction, FlowKey};

use crate::packet::{Kind, Packet};
use crate::spec::Spec;

/// A discipline that is another one by its own measure.
pub trait Row: Debug {
    /// What is counted.
    type Volume: Volume;
    /// Its row in the registry.
    const SPEC: Spec;
}

/// Volume of a flow. All zero at first; the rank of packets in order of arrival never decreases.
pub trait Volume: Copy + Debug + Default + PartialEq {
    /// The flow `packet` is counted in.
    fn flow(packet: &Packet) -> FlowKey;

    /// Volume that `packet` ranks by, should it come now.
    fn rank(&self, packet: &Packet) -> u64;

    /// Counts `packet`, which enters the queue.
    fn add(&mut self, packet: &Packet);

    /// Stops counting `packet`, the last one of the flow that waits.
    fn take_back(&mut self, packet: &Packet);
}

/// Bytes on the wire of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bytes(u64);

impl Volume for Bytes {
    #[inline(always)]
    fn flow(packet: &Packet) -> FlowKey {
        packet.flow
    }

    #[inline(always)]
    fn rank(&self, _: &Packet) -> u64 {
        self.0
    }

    #[inline(always)]
    fn add(&mut self, packet: &Packet) {
        self.0 += u64::from(packet.len);
    }

    fn take_back(&mut self, packet: &Packet) {
        self.0 -= u64::from(packet.len);
    }
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packets(u64);

impl Volume for Packets {
    #[inline(always)]
    fn flow(packet: &Packet) -> FlowKey {
        packet.flow
    }

    #[inline(always)]
    fn rank(&self, _: &Packet) -> u64 {
        self.0
    }

    #[inline(always)]
    fn add(&mut self, _: &Packet) {
        self.0 += 1;
    }

    fn take_back(&mut self, _: &Packet) {
        self.0 -= 1;
    }
}

/// Both directions of a connection: the unordered pair of its ends.
#[inline(always)]
pub fn connection(packet: &Packet) -> FlowKey {
    FlowKey::of(packet.flow.connection(), Direction::Forward)
}

/// No connection transfers this much: larger numbers are forged, and sums of numbers up to this one do not overflow.
const MOST: u64 = 1 << 62;

/// Stands in place of a number when this queue sees the data itself, so that its acknowledgements add no information.
const SEEN: u64 = u64::MAX;

/// How far the data of either direction was acknowledged: the highest number seen, as acknowledgements are cumulative
/// and may be lost, repeated or late. The first one counts for the `WHOLE` of the data before it, or else for nothing,
/// because how much of that data was counted before is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acknowledged<const WHOLE: bool> {
    /// One more than the number, or 0 before the first.
    numbers: [u64; 2],
}

impl<const WHOLE: bool> Acknowledged<WHOLE> {
    /// Bytes by which `packet` moves its connection on.
    #[inline(always)]
    pub fn moved(&self, packet: &Packet) -> u64 {
        if packet.kind != Kind::Ack {
            return u64::from(packet.len);
        }
        let number = packet.progress.min(MOST);
        match self.numbers[1 - packet.flow.direction() as usize] {
            0 if WHOLE => number,
            0 => 0,
            before => (number + 1).saturating_sub(before),
        }
    }

    /// Takes note of `packet`, which enters the queue.
    #[inline(always)]
    pub fn note(&mut self, packet: &Packet) {
        let direction = packet.flow.direction() as usize;
        if packet.kind == Kind::Ack {
            let number = &mut self.numbers[1 - direction];
            *number = (packet.progress.min(MOST) + 1).max(*number);
        } else {
            self.numbers[direction] = SEEN;
        }
    }
}

/// Bytes of both directions of a connection. What acknowledgements told stays counted when they are pushed out: it
/// was moved all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Connection<const WHOLE: bool> {
    bytes: u64,
    acknowledged: Acknowledged<WHOLE>,
}

impl<const WHOLE: bool> Volume for Connection<WHOLE> {
    #[inline(always)]
    fn flow(packet: &Packet) -> FlowKey {
        connection(packet)
    }

    #[inline(always)]
    fn rank(&self, packet: &Packet) -> u64 {
        if packet.kind == Kind::Ack { self.bytes + self.acknowledged.moved(packet) } else { self.bytes }
    }

    #[inline(always)]
    fn add(&mut self, packet: &Packet) {
        self.bytes += self.acknowledged.moved(packet);
        self.acknowledged.note(packet);
    }

    fn take_back(&mut self, packet: &Packet) {
        if packet.kind != Kind::Ack {
            self.bytes -= u64::from(packet.len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_queue;

    /// A packet of connection 1: `kind`, direction, number.
    fn packet(kind: Kind, reverse: u64, progress: u64) -> Packet {
        let len = if kind == Kind::Ack { 40 } else { 1500 };
        Packet { kind, progress, len, ..test_queue::packet(2 + reverse, 0) }
    }

    /// Ranks of `packets` that enter one after the other.
    fn ranks<V: Volume>(packets: &[Packet]) -> Vec<u64> {
        let mut volume = V::default();
        let enter = |packet: &Packet| {
            let rank = volume.rank(packet);
            volume.add(packet);
            rank
        };
        packets.iter().map(enter).collect()
    }

    fn acks(numbers: &[u64]) -> Vec<Packet> {
        numbers.iter().map(|&number| packet(Kind::Ack, 1, number)).collect()
    }

    #[test]
    fn an_acknowledgement_ranks_by_the_bytes_it_acknowledges() {
        assert_eq!(ranks::<Connection<true>>(&acks(&[0, 2896, 5792])), [0, 2896, 5792]);
        assert_eq!(ranks::<Bytes>(&acks(&[0, 2896, 5792])), [0, 40, 80], "of LAS, by the bytes before it");
        assert_eq!(ranks::<Packets>(&acks(&[0, 2896, 5792])), [0, 1, 2]);
    }

    #[test]
    fn the_first_acknowledgement_tells_the_whole_or_nothing() {
        assert_eq!(ranks::<Connection<true>>(&acks(&[100_000, 101_000])), [100_000, 101_000]);
        assert_eq!(ranks::<Connection<false>>(&acks(&[100_000, 101_000])), [0, 1000]);
        assert_eq!(ranks::<Connection<false>>(&acks(&[0, 1000])), [0, 1000], "a number of zero is a number");
    }

    #[test]
    fn late_and_repeated_acknowledgements_move_nothing_and_the_next_one_makes_up_for_lost_ones() {
        let expected = [1000, 5000, 5000, 5000, 9000];
        assert_eq!(ranks::<Connection<true>>(&acks(&[1000, 5000, 5000, 2000, 9000])), expected);
    }

    #[test]
    fn bytes_sent_and_bytes_acknowledged_of_the_other_direction_add_up() {
        let packets = [
            packet(Kind::Data, 1, 0),
            packet(Kind::Ack, 1, 1000),
            packet(Kind::Data, 1, 1460),
            packet(Kind::Ack, 1, 1500),
            packet(Kind::Data, 1, 2920),
        ];
        assert_eq!(ranks::<Connection<true>>(&packets), [0, 2500, 2500, 4500, 4500]);
        assert_eq!(ranks::<Connection<false>>(&packets), [0, 1500, 1500, 3500, 3500]);
    }

    #[test]
    fn data_that_was_counted_itself_is_not_counted_again_when_it_is_acknowledged() {
        let packets = [packet(Kind::Data, 0, 0), packet(Kind::Ack, 1, 1460), packet(Kind::Data, 0, 1460)];
        assert_eq!(ranks::<Connection<true>>(&packets), [0, 1500, 1500]);
    }

    #[test]
    fn acknowledgements_of_either_direction_are_told_apart() {
        let packets = [packet(Kind::Ack, 1, 50_000), packet(Kind::Ack, 0, 1000), packet(Kind::Ack, 1, 51_000)];
        assert_eq!(ranks::<Connection<true>>(&packets), [50_000, 51_000, 52_000]);
        assert_eq!(ranks::<Connection<false>>(&packets), [0, 0, 1000]);
    }

    #[test]
    fn forged_numbers_do_not_overflow() {
        let packets = [packet(Kind::Ack, 1, u64::MAX), packet(Kind::Ack, 0, u64::MAX), packet(Kind::Data, 0, u64::MAX)];
        assert_eq!(ranks::<Connection<true>>(&packets), [MOST, 2 * MOST, 2 * MOST]);
        assert_eq!(ranks::<Connection<false>>(&packets), [0, 0, 0]);
    }

    #[test]
    fn data_pushed_out_is_taken_back_and_what_an_acknowledgement_told_is_not() {
        let (data, ack) = (packet(Kind::Data, 1, 0), packet(Kind::Ack, 1, 4000));
        let mut volume = Connection::<true>::default();
        volume.add(&data);
        volume.add(&ack);
        volume.take_back(&ack);
        volume.take_back(&data);
        assert_eq!(volume.rank(&data), 4000);
    }
}
