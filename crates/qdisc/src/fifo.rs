//! First in, first out with drop-tail: the legacy every other discipline is compared with.
//!
//! Principle: one ring of packets; the arriving packet is dropped when it does not fit.
//! Cost per packet: O(1). Source: Linux `pfifo`; Chen 2012, 4.4.1.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, Spec};

/// First in, first out with drop-tail.
#[derive(Debug, Default)]
pub struct Fifo {
    queue: VecDeque<Packet>,
}

impl Discipline for Fifo {
    const SPEC: Spec = Spec {
        id: "fifo",
        family: Family::Plain,
        about: "first in, first out; drop-tail",
        source: "Chen 2012, 4.4.1",
        when_full: "the arriving packet",
        time_driven: false,
        keeps_flow_order: true,
        params: &[],
    };

    fn with_options(_: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Fifo::default())
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        self.queue.push_back(packet);
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Env) -> Option<Packet> {
        self.queue.pop_front()
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.front()
    }
}
