//! Least attained service by any measure: what LAS and LASACK have in common. Rai 2003, sections 2 and 6.

use std::marker::PhantomData;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::flow_table::FlowTable;
use crate::parts::order::Order;
use crate::parts::volume::{Row, Volume};
use crate::spec::{OptionError, Options, Spec};

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
