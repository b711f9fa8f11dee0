//! Packets that a link drops, marks or delays because they were named one by one, so that a sender meets exactly the
//! losses that another one met.
//!
//! Principle: behind the queue and the transmission, as losses by chance. Who is named is found by what its flow has
//! sent over the link so far. Cost: a branch per packet while nobody is named, else the length of the list.

use std::collections::HashMap;

use qdisc::{Ecn, Kind, Packet};
use serde::Deserialize;
use units::{Direction, Time};

use crate::wire::handle::Handle;

/// Which way a packet of a flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// To the receiver of the data.
    Data,
    /// Back to its sender.
    Ack,
}

/// Packets of one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Whom {
    /// A transmission, from 1, of a segment of each flow; 0 is the SYN.
    Segment {
        /// Of the segment.
        number: u32,
        /// Of its transmission.
        transmission: u32,
    },
    /// The packet back of that number in each flow; 0 is the SYN-ACK.
    Ack(u32),
    /// All that would reach the end of the link within a time, of any kind.
    Window {
        /// First instant.
        #[serde(rename = "from_ns")]
        from: Time,
        /// Instant behind the last.
        #[serde(rename = "to_ns")]
        to: Time,
    },
}

/// What the link does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Effect {
    /// The packet does not arrive.
    Drop,
    /// It gets CE where it is capable of ECN.
    Mark,
    /// It comes so much later, and others may overtake it.
    #[serde(rename = "delay_ns")]
    Delay(Time),
    /// It does not come before an instant.
    #[serde(rename = "hold_until_ns")]
    Hold(Time),
}

/// One of the rules by which the link of interest treats packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Impairment {
    /// Which way.
    pub direction: Way,
    /// Which packets of it.
    pub whom: Whom,
    /// What becomes of them.
    pub effect: Effect,
}

/// What the link has done to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing but a mark, at most.
    Passed,
    /// It arrives at that instant, whatever is before or behind it.
    Late(Time),
    Dropped,
}

/// The rules of a run, and what they count.
#[derive(Debug)]
pub(crate) struct Impairments {
    rules: Vec<Impairment>,
    /// Transmissions so far of a segment, by flow and number.
    transmissions: HashMap<(u64, u32), u32>,
    /// Packets back so far, by flow.
    acks: HashMap<u64, u32>,
}

impl Impairments {
    /// `None` without rules.
    pub(crate) fn of(rules: &[Impairment]) -> Option<Box<Impairments>> {
        let found = || Impairments { rules: rules.to_vec(), transmissions: HashMap::new(), acks: HashMap::new() };
        (!rules.is_empty()).then(|| Box::new(found()))
    }

    /// What becomes of `packet`, which would reach the end of the link at `at`.
    pub(crate) fn meet(&mut self, packet: &mut Packet, at: Time) -> Fate {
        let way = if packet.flow.direction() == Direction::Forward { Way::Data } else { Way::Ack };
        let name = self.count(packet, way);
        let mut fate = Fate::Passed;
        let mut arrival = at;
        for rule in self.rules.iter().filter(|rule| rule.direction == way) {
            let met = match rule.whom {
                Whom::Window { from, to } => (from..to).contains(&at),
                whom => name == Some(whom),
            };
            match rule.effect {
                _ if !met => continue,
                Effect::Drop => return Fate::Dropped,
                Effect::Mark if packet.ecn == Ecn::NotEct => continue,
                Effect::Mark => packet.ecn = Ecn::Ce,
                Effect::Delay(by) => arrival += by,
                Effect::Hold(until) => arrival = arrival.max(until),
            }
            if arrival > at {
                fate = Fate::Late(arrival);
            }
        }
        fate
    }

    /// Counts a packet of TCP, and says what it is called.
    fn count(&mut self, packet: &Packet, way: Way) -> Option<Whom> {
        let flow = packet.flow.connection();
        match (way, packet.kind) {
            (_, Kind::Udp) | (Way::Data, Kind::Ack) => None,
            (Way::Data, Kind::Data) => {
                let number = Handle::unpack(packet.handle).number;
                let transmission = self.transmissions.entry((flow, number)).or_default();
                *transmission += 1;
                Some(Whom::Segment { number, transmission: *transmission })
            }
            (Way::Ack, _) => {
                let count = self.acks.entry(flow).or_default();
                *count += 1;
                Some(Whom::Ack(*count - 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::handle::{Mark, Owner};

    const AT: Time = Time::from_millis(5);

    fn packet(flow: u32, direction: Direction, number: u32) -> Packet {
        let owner = Owner { flow, slot: 0, src: 0, dst: 1, mark: 0 };
        let kind = if direction == Direction::Forward { Kind::Data } else { Kind::Ack };
        owner.packet(direction, kind, Mark::Plain, number)
    }

    fn under(direction: Way, whom: Whom, effect: Effect) -> Impairments {
        *Impairments::of(&[Impairment { direction, whom, effect }]).expect("a rule")
    }

    #[test]
    fn a_transmission_of_a_segment_is_dropped_in_each_flow() {
        let mut link = under(Way::Data, Whom::Segment { number: 7, transmission: 2 }, Effect::Drop);
        let mut met = |flow, number| link.meet(&mut packet(flow, Direction::Forward, number), AT) == Fate::Dropped;
        assert_eq!(
            [met(0, 7), met(0, 8), met(0, 7), met(1, 7), met(0, 7), met(1, 7)],
            [false, false, true, false, false, true]
        );
    }

    #[test]
    fn packets_back_are_counted_from_the_syn_ack_on() {
        let mut link = under(Way::Ack, Whom::Ack(1), Effect::Delay(Time::from_millis(2)));
        let mut met = |direction| link.meet(&mut packet(0, direction, 3), AT);
        assert_eq!(met(Direction::Reverse), Fate::Passed);
        assert_eq!(met(Direction::Forward), Fate::Passed);
        assert_eq!(met(Direction::Reverse), Fate::Late(Time::from_millis(7)));
        assert_eq!(met(Direction::Reverse), Fate::Passed);
    }

    #[test]
    fn what_would_come_within_a_window_is_held_until_its_end() {
        let (from, to) = (AT, Time::from_millis(9));
        let mut link = under(Way::Data, Whom::Window { from, to }, Effect::Hold(to));
        let mut met = |at| link.meet(&mut packet(0, Direction::Forward, 1), at);
        assert_eq!(met(AT - Time(1)), Fate::Passed);
        assert_eq!(met(AT), Fate::Late(to));
        assert_eq!(met(to - Time(1)), Fate::Late(to));
        assert_eq!(met(to), Fate::Passed);
    }

    #[test]
    fn only_what_is_capable_of_ecn_is_marked() {
        let mut link = under(Way::Data, Whom::Segment { number: 1, transmission: 1 }, Effect::Mark);
        for (flow, ecn, then) in [(0, Ecn::NotEct, Ecn::NotEct), (1, Ecn::Ect0, Ecn::Ce)] {
            let mut packet = packet(flow, Direction::Forward, 1);
            packet.ecn = ecn;
            assert_eq!((link.meet(&mut packet, AT), packet.ecn), (Fate::Passed, then));
        }
    }
}
