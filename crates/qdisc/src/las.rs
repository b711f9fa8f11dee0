//! Least attained service: the flow that has sent least goes first. LASACK is the same by another measure.
//!
//! Principle: a packet is stamped with the volume of its flow before it, of LAS the bytes that entered
//! this queue; the smallest stamp is served, ties in order of arrival. When the buffer is full the
//! arriving packet gets its stamp, then the packet of largest stamp goes, the last one among equals.
//! Cost per packet: two look-ups and one insertion into a sorted queue; one entry per flow seen in
//! the last half minute. Source: Rai 2003, sections 2 and 6; Chen 2012, 4.6.1.

use std::marker::PhantomData;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::order::Order;
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, Spec};
use crate::volume::{Bytes, Row, Volume};

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
        params: &[VISIT, TIMEOUT],
    };
}

/// Least attained service by any measure, with the parameters `visit` and `timeout`.
#[derive(Debug)]
pub struct LeastAttained<R: Row> {
    queue: Order,
    /// S_f of Rai 2003, section 6: what of each flow entered the queue and was not pushed out.
    /// A packet that is dropped got no service; its flow is not charged for it.
    flows: FlowTable<R::Volume>,
    row: PhantomData<R>,
}

impl<R: Row> LeastAttained<R> {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let stamp = self.flows.attained(R::Volume::flow(packet)).rank(packet);
        self.queue.make_room(stamp, packet.len, env, |victim, _| {
            // The victim has the largest stamp of all, so it is the last packet of its own flow.
            let flow = R::Volume::flow(victim);
            let mut attained = self.flows.attained(flow);
            attained.take_back(victim);
            self.flows.push_out(flow, attained);
        })
    }
}

impl<R: Row> Discipline for LeastAttained<R> {
    const SPEC: Spec = R::SPEC;

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(LeastAttained { queue: Order::default(), flows: FlowTable::with_options(options), row: PhantomData })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.flows.visit(env.now());
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let attained = self.flows.enter(R::Volume::flow(&packet), env.now());
        let stamp = attained.rank(&packet);
        attained.add(&packet);
        self.queue.push(stamp, packet);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let (_, packet) = self.queue.pop_first()?;
        self.flows.leave(R::Volume::flow(&packet), env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.first()
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
    use units::Time;

    use crate::trial::{arrive, drain, dropped, packet, queue};
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
