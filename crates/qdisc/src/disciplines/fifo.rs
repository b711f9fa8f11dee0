//! # FIFO
//!
//! **Idea.** One queue: packets leave in the order they came; what does not fit is dropped. It is the legacy that every other
//! discipline is compared with.
//!
//! **Scope and limits.** No state per flow. A flow gets the share of the link that its arrivals take of all arrivals, so a flow
//! that does not react to loss displaces those that do, and a short transfer waits behind the backlog of long ones.
//!
//! **Parameters.** None besides the buffer limit.
//!
//! **When the buffer is full** the arriving packet is dropped (drop-tail).
//!
//! **Cost.** O(1) per packet, no flow table.
//!
//! **Validation.** Conformance suite (`crates/qdisc/tests/conformance.rs`).
//!
//! **References.** Chen 2012, 4.4.1.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

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
        runs_on: RunsOn::Kernel { qdisc: "pfifo", since: "" },
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
