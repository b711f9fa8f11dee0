//! # CoDel
//!
//! **Idea.** Controlled delay watches how long packets have been waiting when they leave. Once that was `target` or more for a whole
//! `interval`, the packet at the head is dropped, or marked, and the next one is sent. The $n$-th drop in a row comes $interval / \sqrt{n}$
//! after the one before, until a packet has waited less than `target` or no more than `mtu` bytes are left behind it. A short queue that comes
//! and goes is left alone; a standing queue is not.
//!
//! **Scope and limits.**
//! - One queue in order of arrival: no fairness between flows. `fq_codel` has a queue per flow.
//! - The pseudo-code of RFC 8289, section 5, line by line, in integer nanoseconds. $interval / \sqrt{n}$ is computed in floating point and cut
//!   off to whole nanoseconds; both operations are exact in IEEE 754, so every platform gives the same result. Linux approximates the root in
//!   16 bits.
//! - *What is remembered.* A drop state that begins less than 16 intervals after the next drop of the last one would have been due goes on with
//!   the number of drops the last one added, if there were at least two (the Linux rule, adopted by the RFC; the paper of 2012 subtracted two).
//! - *ECN.* A packet whose transport understands ECN is marked where another would be dropped, and is sent itself. So a departure marks at most
//!   one packet, also when several drops are due. In place of a dropped packet the next one is sent, unmarked. RFC 8289 leaves marks to the
//!   implementer; this is what Linux does and RFC 8290, 5.2.6, asks for. On by default, where Linux has it off for `codel` and on for
//!   `fq_codel`.
//! - The last `mtu` bytes are never dropped, however long they have been waiting.
//! - A drop needs a departure: an idle link drops nothing.
//! - Linux says "later than" where the RFC says "not before" an interval has passed; here it is the RFC. `ce_threshold` is not built in.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `target` | TARGET | s | 0.005 | time in the queue that is acceptable |
//! | `interval` | INTERVAL | s | 0.1 | how long it may be exceeded before the first drop; a worst-case round-trip time |
//! | `mtu` | MTU | bytes | 1514 | nothing is dropped while no more than this waits behind the packet |
//! | `ecn` | | | `on` | `on`: mark packets of ECN-capable transports instead of dropping them; `off`: drop all |
//!
//! The RFC recommends a target of 5 to 10 % of the interval. No pair of values is refused.
//!
//! **When the buffer is full** the arriving packet is dropped.
//!
//! **Cost.** O(1) per packet; a division and a square root per drop. No flow table.
//!
//! **Validation.** `crates/qdisc/tests/codel_rfc.rs`: traces of arrivals and departures with the decisions derived by hand from the
//! pseudo-code: times of the first six drops to the nanosecond, several drops at one departure, every way out of drop state, what is remembered
//! and its boundary at 16 intervals, the last packets, marks. Conformance suite.
//!
//! **References.** K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018. K. Nichols, V.
//! Jacobson, "Controlling queue delay", ACM Queue 10(5), 2012.

use std::collections::VecDeque;

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::packet::Packet;
use crate::parts::codel::{Control, ECN, INTERVAL, Law, MTU, Queue, TARGET};
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

#[derive(Debug, Default)]
struct Backlog {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Queue for Backlog {
    #[inline(always)]
    fn head(&self, _: &Env) -> Option<(Time, u64)> {
        self.packets.front().map(|packet| (packet.arrival, self.bytes - u64::from(packet.len)))
    }

    #[inline(always)]
    fn take(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.len);
        Some(packet)
    }
}

/// Controlled delay over one queue in order of arrival.
#[derive(Debug)]
pub struct Codel {
    queue: Backlog,
    law: Law,
    control: Control,
}

impl Discipline for Codel {
    const SPEC: Spec = Spec {
        id: "codel",
        family: Family::QueueManagement,
        about: "controlled delay: drops from the head once packets have waited too long for too long",
        source: "RFC 8289",
        when_full: "the arriving packet",
        time_driven: false,
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "codel", since: "" },
        params: &[TARGET, INTERVAL, MTU, ECN],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Codel { queue: Backlog::default(), law: Law::with_options(options), control: Control::default() })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        if env.is_full(packet.len) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        self.queue.bytes += u64::from(packet.len);
        self.queue.packets.push_back(packet);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.control.dequeue(&self.law, env, &mut self.queue)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.packets.front()
    }
}
