//! # PIE
//!
//! **Idea.** The *proportional integral controller enhanced* steers the queueing delay to a target. Every 15 ms the drop probability moves
//! by the distance of the delay from the target and by its trend; arriving packets are dropped with that probability. Bursts after a calm
//! pass, and so does every packet while the delay is low. One queue, in order of arrival, no state per flow.
//!
//! **Scope and limits.**
//! - The delay is that of the last packet that left (timestamps, RFC 8033, 4.3). Estimating it from the departure rate (5.2) is left out:
//!   a simulated packet carries its time of arrival.
//! - A packet that leaves cannot tell that the queue is empty. At an update of an empty queue the delay is zero, which is what the other
//!   formula of 4.3 gives; without it the decay of 4.2 would never begin.
//! - The decay by 2 % needs two updates with no delay at all, as in 4.2 and Appendix A. Appendix B has below half the target instead.
//! - Of the optional elements, ECN (5.1), derandomised drops (5.4) and the cap of 2 % per update (5.5) are here; switching PIE off in calm
//!   (5.3) is not.
//! - `high_delay` is not in RFC 8033: Linux raises the probability by another 2 % per update above 250 ms. A large value turns it off.
//! - With `derandomize=on`, as in Linux, no drop follows another within $0.85/p$ packets, so the share of packets dropped is below $p$;
//!   the controller makes up for it.
//! - Nothing wakes the queue: a call makes up for the updates since the last one. They come out as a timer would have made them, as the
//!   queue does not change between calls. After 10 000 updates without a call (150 s) the rest is left out.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `target` | `QDELAY_REF` | s | 0.015 | delay to steer to |
//! | `update` | `T_UPDATE` | s | 0.015 | interval of updates |
//! | `alpha` | `alpha` | 1/s | 0.125 | gain by distance |
//! | `beta` | `beta` | 1/s | 1.25 | gain by trend |
//! | `burst` | `MAX_BURST` | s | 0.15 | time without drops when congestion begins |
//! | `ecn` | | | `on` | marks instead of drops for packets that understand ECN |
//! | `ecn_max` | `mark_ecnth` | probability | 0.1 | drop probability from which these are dropped too |
//! | `mean_packet` | `MEAN_PKTSIZE` | bytes | 1500 | no early drop while at most two such packets wait |
//! | `derandomize` | 5.4 | | `on` | `off`: each packet by itself |
//! | `high_delay` | (Linux) | s | 0.25 | delay above which each update adds 2 % |
//!
//! **When the buffer is full** the arriving packet is dropped.
//!
//! **Cost.** O(1) per packet, at most one random number, and an update every 15 ms: 18 ns (FIFO 9 ns), 300 packets, 10 000 flows. No flow
//! table.
//!
//! **Validation.** `crates/qdisc/tests/pie_rfc.rs`: a literal transcription of Appendices A and B with a timer decides on 60 000 packets as the
//! discipline does, for each choice of `ecn` and `derandomize`; and traces by hand for burst allowance and its renewal (4.4), the two
//! cases of no early drop (4.1), the seven bands and the decay (4.2), marks (5.1), spacing (5.4) and cap (5.5). Unit tests for each update
//! rule. Conformance suite.
//!
//! **References.** RFC 8033; Pan et al. 2013 (HPSR); Linux `sch_pie`.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, Env};
use crate::packet::Packet;
use crate::parts::pie::{
    ALPHA, BETA, BURST, Clock, Control, DERANDOMIZE, ECN, ECN_MAX, HIGH_DELAY, MEAN_PACKET, Rules, TARGET, UPDATE,
};
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

/// Proportional integral controller, enhanced.
#[derive(Debug)]
pub struct Pie {
    queue: VecDeque<Packet>,
    rules: Rules,
    clock: Clock,
    control: Control,
}

impl Discipline for Pie {
    const SPEC: Spec = Spec {
        id: "pie",
        family: Family::QueueManagement,
        about: "PIE: drops arriving packets with a probability that steers the delay to a target",
        source: "RFC 8033",
        when_full: "the arriving packet",
        time_driven: false,
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "pie", since: "" },
        params: &[TARGET, UPDATE, ALPHA, BETA, BURST, ECN, ECN_MAX, MEAN_PACKET, DERANDOMIZE, HIGH_DELAY],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        let rules = Rules::with_options(options);
        Ok(Pie { queue: VecDeque::new(), clock: Clock::of(&rules), control: Control::calm(&rules), rules })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.control.catch_up(&self.rules, self.queue.is_empty(), self.clock.made(env.now()));
        let bytes = env.stats().backlog_bytes();
        self.queue.extend(self.control.admit(&self.rules, packet, bytes, env));
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.control.catch_up(&self.rules, self.queue.is_empty(), self.clock.made(env.now()));
        let packet = self.queue.pop_front()?;
        self.control.depart(packet.arrival, env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.front()
    }
}
