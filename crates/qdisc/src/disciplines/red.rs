//! # RED
//!
//! **Idea.** Random early detection keeps an exponentially weighted average of its queue and lets it decide. Below `min_th` every packet
//! enters. Between `min_th` and `max_th` an arriving packet is dropped with a probability that rises from 0 to `max_p`; beyond, up to
//! twice `max_th`, it rises to 1 (*gentle*). Drops are spread evenly, so that senders are told one by one. With `ecn=on` (RED-ECN) packets
//! that understand ECN are marked instead. One queue, in order of arrival, no state per flow.
//!
//! **Scope and limits.**
//! - The average moves by `weight` at every arrival, dropped ones included: $avg \leftarrow avg + w_q (q - avg)$. An arrival at an empty
//!   queue first counts the idle time as the $m$ typical packets that the link could have sent: $avg \leftarrow (1 - w_q)^m avg$. In
//!   Figure 2 of the paper that is all; here the arriving packet counts too, as in ns-2.
//! - A queue is not told the speed of its link. The time to send a byte is measured: it is the time between two departures while packets
//!   wait, smoothed with weight 1/8. Until two packets have left one backlog there is no idle correction. `transmission` gives the time of
//!   a packet of `mean_packet` bytes instead, as ns-2 takes it from the bandwidth.
//! - The interval from one drop to the next at a probability $p_b$ is uniform on 1 to $1/p_b$ packets (section 7 of the paper, method 2).
//!   Figure 2 sets the count to 0 after a drop where section 7 wants the packets since then, which makes it 1 to $1/p_b - 1$; here what
//!   section 7 says. `spacing=wait` is `wait_` of ns-2, its default: uniform on $1/p_b$ to $2/p_b$, so a third of the drops.
//! - A packet that finds at most one other waiting is never dropped early, as in ns-2; the paper does not say so. An average that outlives
//!   the queue would otherwise make the link idle.
//! - With `mode=bytes` the average is in bytes and the probability goes with the length of the packet over `mean_packet`; intervals are
//!   then uniform in bytes. RFC 7141 advises against it.
//! - Marks end where the average reaches the upper threshold (`max_th`, or twice that with `gentle`): beyond it packets are dropped, as
//!   RFC 3168, section 7, asks. A packet that carries the mark already passes and is not counted again.
//! - With `min_th` = `max_th` = the limit RED is drop-tail, packet by packet: no queue that has room has an average at its limit.
//! - Settings of ns-2 (reference runs, README): `spacing=wait,mark_max=0.1,mean_packet=1000`; of the paper: `gentle=off`.
//! - All arithmetic is addition, multiplication and division: one seed gives the same drops on every platform.
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `min_th` | $min_{th}$ | packets or bytes | 0 | lower threshold, in the unit of `mode`; 0: a third of `max_th`, or a quarter of the limit |
//! | `max_th` | $max_{th}$ | packets or bytes | 0 | upper threshold; 0: three times `min_th` |
//! | `mode` | | | `packets` | `packets` or `bytes` |
//! | `max_p` | $max_p$ | probability | 0.1 | drop probability at `max_th` |
//! | `weight` | $w_q$ | share | 0.002 | weight of the present queue in the average |
//! | `gentle` | | | `on` | beyond `max_th`: `on`: up to 1 at twice `max_th`; `off`: 1 |
//! | `spacing` | | | `uniform` | packets between drops: `uniform` on 1 to $1/p_b$, `wait` on $1/p_b$ to $2/p_b$ |
//! | `ecn` | | | `off` | `on`: marks instead of drops |
//! | `mark_max` | `mark_p_` (ns-2) | probability | 1 | with `ecn`: $p_b$ above which packets are dropped all the same; ns-2: 0.1 |
//! | `mean_packet` | | bytes | 1000 | a typical packet, for idle time and for `mode=bytes` |
//! | `transmission` | $s$ | s | 0 | time to send it; 0: measured |
//!
//! `max_th` = 3 `min_th`, `max_p` = 0.1 and `weight` = 0.002 are the recommendation that Zhao 2004, IV.A.1, follows (Floyd 1997). It leaves
//! the place of `min_th` open; a quarter of the limit gives the 15 and 45 of 60 packets of Zhao 2004, II.C. A limit in the other unit is
//! converted with `mean_packet`.
//!
//! **When the buffer is full** the arriving packet is dropped; the count of packets since the last drop starts anew.
//!
//! **Cost.** O(1) per packet, at most one random number: 19 ns (FIFO 9 ns), 300 packets, 10 000 flows. No flow table.
//!
//! **Validation.** `crates/qdisc/tests/red_rules.rs`: averages and idle correction by hand; intervals uniform, both spacings; the slope of the
//! probability up to twice `max_th` and the share of long packets in byte mode within four standard deviations; marks and drops by code
//! point; equality with FIFO at `min_th` = `max_th` = limit. Conformance suite.
//!
//! **References.** Floyd and Jacobson 1993; Floyd 1997 ("RED: discussion of setting parameters"); Floyd 2000 ("Recommendation on using the
//! gentle variant of RED"); RFC 3168, section 7; RFC 7567; Zhao 2004, II.C, Table III and IV; ns-2.35, `queue/red.cc`.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, Env};
use crate::packet::Packet;
use crate::parts::red::{Detector, PARAMS};
use crate::spec::{Family, OptionError, Options, RunsOn, Spec};

/// Random early detection.
#[derive(Debug)]
pub struct Red {
    queue: VecDeque<Packet>,
    detector: Detector,
}

impl Discipline for Red {
    const SPEC: Spec = Spec {
        id: "red",
        family: Family::QueueManagement,
        about: "random early detection: drops or marks ever more packets as the average queue grows",
        source: "Floyd and Jacobson 1993; Zhao 2004, IV",
        when_full: "the arriving packet",
        time_driven: false,
        keeps_flow_order: true,
        runs_on: RunsOn::Kernel { qdisc: "red", since: "" },
        params: &PARAMS,
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Red { queue: VecDeque::new(), detector: Detector::with_options(options)? })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.detector.arrive(env);
        self.queue.extend(self.detector.admit(packet, env));
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        self.detector.depart(packet.len, !self.queue.is_empty(), env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.front()
    }
}
