//! # SIFT
//!
//! **Idea.** A lottery finds the long flows. Each packet of a flow that is not yet long is drawn with probability $p$. Once $T_s$ packets of a
//! flow were drawn the flow is *long*. Packets of long flows are *low*, all others *high*; high packets have strict priority and each class is
//! served in order of arrival. Flows of which nothing was drawn need no entry.
//!
//! A flow of $x$ packets is sampled with probability
//!
//! $$P_s(x) = 1 - \sum_{i=0}^{T_s-1} \binom{x}{i} p^i (1-p)^{x-i},$$
//!
//! and sends $T_s / p$ packets on average until it is. With $p = T_s / T$ that is $T$. The larger $T_s$ at the same $T$, the sharper the
//! separation; at $T_s = T$ every packet is drawn, and the first $T$ packets of each flow go first. `mayfly.models.sampling.sampling` has the equation,
//! and the share of flows it puts on the wrong side for a law of sizes.
//!
//! **Scope and limits.**
//! - Chen 2012, Algorithm 2, line 3, compares "sampled packets > threshold". Its Eq. 3.1, the mean $T_s / p$ and the text (a flow is sampled
//!   "if at least $T_s$ of its packets are") make it *at least*, and that is done here.
//! - The packet that makes its flow long is high itself (line 6 comes before line 8); the next one is low.
//! - Packets are drawn one by one from the random stream of the queue. A packet that is dropped on arrival takes no part: its flow did not send
//!   it. A packet that is pushed out is low, and low packets are not drawn.
//! - A flow is the 5-tuple, one direction: acknowledgements are a flow of their own.
//! - The table is visited every `visit` seconds. A flow is forgotten, and short again, when none of its packets came and no low one left for
//!   `timeout`. A flow with a low packet waiting stays, so that no later packet overtakes that one: packets of one flow keep their order. The
//!   entry of a flow that has only high packets waiting may go; [LAS](las.md) keeps it.
//! - $T_s = 1$ takes many short flows for long: of sizes with $P(k) \sim k^{-2.1}$ up to 10^6 and $T = 100$, 2.56 % of the flows are short and
//!   sampled, 0.06 % long and not (Chen 2012, 3.2: 2.6 %).
//!
//! **Parameters.**
//!
//! | name | symbol | unit | default | meaning |
//! |---|---|---|---|---|
//! | `samples` | $T_s$ | packets | 1 | packets of a flow drawn until it is long |
//! | `threshold` | $T$ | packets | 20 | packets a flow sends on average until it is long; sets $p = T_s / T$ |
//! | `probability` | $p$ | | 0.05 | chance of a packet to be drawn, in place of `threshold` |
//! | `visit` | | s | 5 | interval at which idle flows are looked for |
//! | `timeout` | | s | 30 | idle time after which a flow is forgotten |
//!
//! The defaults are those of the authors: 20 packets (Chen 2012, 3.2, on Psounis et al.), 30 kB of full packets as in [Run2C](run2c.md) and
//! [EFD](efd.md), and one sample. Figures 3.1 and 3.2 of the thesis have $T = 50$, its example $T = 100$. Given `probability`,
//! $T$ is $T_s/p$. Where `threshold` is given too they must agree within 0.5 %, which leaves room for $p$ written with a few digits. `samples`
//! above `threshold` would be a probability above 1 and is refused.
//!
//! **When the buffer is full** an arriving high packet pushes out the last low one (with a limit in bytes, as many as needed, or none if all
//! would not be enough: then the arriving packet is dropped). An arriving low packet is dropped.
//!
//! **Cost.** O(1) per packet: one look-up and one random number; a second look-up, on departure, when the packet is low. One entry per flow
//! with a packet drawn; one pass over the table per visit.
//!
//! **Validation.** By Monte Carlo through the queue (`crates/qdisc/tests/sampling.rs`): the share of sampled flows by size against $P_s(x)$ for
//! $p$ = 0.2, 0.02, 0.002 at $T_s = 1$ (Figure 3.1) and $T_s$ = 1, 2, 5, 10, 25, 50 at $T = 50$ (Figure 3.2), the mean number of packets until
//! a flow is sampled, and the 2.6 % of misclassified flows, each within four standard deviations. Unit tests on order, push-out, garbage
//! collection and options. Conformance suite.
//!
//! **References.** K. Psounis, A. Ghosh, B. Prabhakar, G. Wang, "SIFT: a simple algorithm for tracking elephant flows, and taking advantage of
//! power laws", Allerton 2005. Chen 2012, 3.2, Algorithm 2, Eq. 3.1 and 3.2.

use units::Stream;

use crate::base::{Discipline, DropReason, Env, Sorted};
use crate::packet::Packet;
use crate::parts::classes::Classes;
use crate::parts::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

const SAMPLES: &str = "samples";
const THRESHOLD: &str = "threshold";
const PROBABILITY: &str = "probability";

/// How far a probability written with a few digits may be from T_s / T when all three are given.
const ROUNDING: f64 = 0.005;

/// SIFT with two classes.
#[derive(Debug)]
pub struct Sift {
    queue: Classes,
    /// Packets drawn, of flows with at least one.
    flows: FlowTable<u64>,
    /// T_s.
    samples: u64,
    /// p.
    probability: f64,
}

/// p as given, or T_s / T (Chen 2012, 3.2: E(N) = T_s / p is to be T).
fn probability(options: &Options) -> Result<f64, OptionError> {
    let (samples, threshold) = (options.whole(SAMPLES) as f64, options.number(THRESHOLD));
    let derived = samples / threshold;
    if !options.is_given(PROBABILITY) {
        let bound = format!("at most threshold, {threshold} packets");
        return if derived <= 1.0 { Ok(derived) } else { Err(options.refuse(SAMPLES, &bound)) };
    }
    let given = options.number(PROBABILITY);
    if options.is_given(THRESHOLD) && (given - derived).abs() > ROUNDING * derived {
        let bound = format!("samples / threshold, {derived}, or left out, or threshold left out");
        return Err(options.refuse(PROBABILITY, &bound));
    }
    Ok(given)
}

impl Discipline for Sift {
    const SPEC: Spec = Spec {
        id: "sift",
        family: Family::SizeBased,
        about: "SIFT: a flow goes second once enough of its packets were drawn in a lottery",
        source: "Psounis et al. 2005; Chen 2012, Algorithm 2",
        when_full: "the last low packet for a high one, else the arriving packet",
        time_driven: false,
        // A flow with a low packet waiting stays in the table, hence long: no high packet can follow.
        keeps_flow_order: true,
        runs_on: RunsOn::Simulation,
        params: &[
            Param {
                name: SAMPLES,
                unit: "packets",
                about: "packets of a flow drawn until it is long (T_s)",
                value: Value::Whole { default: 1, min: 1, max: 1_000_000 },
            },
            Param {
                name: THRESHOLD,
                unit: "packets",
                about: "packets a flow sends on average until it is long (T); sets probability to samples / threshold",
                value: Value::Number { default: 20.0, min: 1.0, max: 1e12 },
            },
            Param {
                name: PROBABILITY,
                unit: "of a packet to be drawn",
                about: "chance of a packet to be drawn (p), in place of threshold",
                value: Value::Number { default: 0.05, min: 1e-12, max: 1.0 },
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        Ok(Sift {
            queue: Classes::default(),
            flows: FlowTable::with_options(options),
            samples: options.whole(SAMPLES),
            probability: probability(options)?,
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.flows.visit(env.now());
        // A packet that is refused takes no part in the lottery: its flow did not send it. A victim is low, and what
        // is low was not drawn: nothing to take back.
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let now = env.now();
        let known = self.flows.enter_known(packet.flow, now, |drawn| {
            // Algorithm 2, line 3, reads "> threshold". Eq. 3.1 and E(N) = T_s / p have a flow sampled as soon as T_s
            // of its packets are, which is "at least". So the T_s-th is high itself, and the next one low.
            let long = *drawn >= self.samples;
            // Lines 7 and 8.
            *drawn += u64::from(!long && env.rng.uniform() < self.probability);
            long
        });
        let low = known.unwrap_or_else(|| {
            if env.rng.uniform() < self.probability {
                self.flows.insert(packet.flow, now, 1);
            }
            false
        });
        env.note(Sorted { high: !low, fresh: false });
        self.queue.push(packet, !low);
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let low = self.queue.high_backlog() == 0;
        let packet = self.queue.pop()?;
        if low {
            self.flows.leave(packet.flow, env.now());
        }
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.peek()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.bytes()
    }

    fn high_backlog(&self) -> Option<usize> {
        Some(self.queue.high_backlog())
    }
}

impl Sift {
    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        self.flows.attained(packet.flow) < self.samples
            && self.queue.make_room(packet.len, env, |victim| {
                let drawn = self.flows.attained(victim.flow);
                self.flows.push_out(victim.flow, drawn);
            })
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use crate::test_queue::{arrive, drain, dropped, packet, queue};
    use crate::{DropReason, Fate, Limit, OptionError, Packet, Qdisc};

    /// Everything is drawn: the sampling is as deterministic as Run2C.
    const CERTAIN: &[&str] = &["samples=2", "threshold=2"];

    #[test]
    fn the_sample_that_makes_a_flow_long_is_high_itself_and_the_next_packet_low() {
        let mut sift = queue("sift", CERTAIN, Limit::Packets(100));
        arrive(&mut sift, &[1, 1, 1, 2, 2, 2], 0, Time::ZERO);
        assert_eq!(sift.high_backlog(), Some(4), "two of each flow");
        assert_eq!(drain(&mut sift, Time::ZERO), [0, 1, 3, 4, 2, 5]);
    }

    #[test]
    fn a_long_flow_stays_long_once_its_packets_are_gone() {
        let mut sift = queue("sift", CERTAIN, Limit::Packets(100));
        arrive(&mut sift, &[1, 1], 0, Time::ZERO);
        drain(&mut sift, Time::ZERO);
        arrive(&mut sift, &[1, 2], 2, Time::from_millis(1));
        assert_eq!(drain(&mut sift, Time::from_millis(1)), [3, 2]);
    }

    #[test]
    fn only_flows_with_a_packet_drawn_are_in_the_table() {
        let mut rare = queue("sift", &["threshold=1e12"], Limit::Packets(100));
        arrive(&mut rare, &[1, 2, 3, 4], 0, Time::ZERO);
        assert_eq!(rare.flow_table_len(), 0);
        let mut sift = queue("sift", &["threshold=2"], Limit::Packets(10_000));
        arrive(&mut sift, &(0..1000).collect::<Vec<_>>(), 0, Time::ZERO);
        // 500 on average with a standard deviation of 16.
        assert!((436..564).contains(&sift.flow_table_len()), "{}", sift.flow_table_len());
    }

    #[test]
    fn a_flow_that_sends_nothing_for_half_a_minute_is_short_again() {
        let mut sift = queue("sift", CERTAIN, Limit::Packets(100));
        arrive(&mut sift, &[1, 1, 1], 0, Time::ZERO);
        drain(&mut sift, Time::ZERO);
        arrive(&mut sift, &[2], 3, Time::from_millis(30_000));
        assert_eq!(sift.flow_table_len(), 1, "flow 2 alone");
        arrive(&mut sift, &[1], 4, Time::from_millis(30_000));
        assert_eq!(sift.high_backlog(), Some(2));
        drain(&mut sift, Time::from_millis(30_000));
        assert_eq!(sift.dequeue(Time::from_millis(60_000)), None);
        assert_eq!(sift.flow_table_len(), 0, "departures look for idle flows too");
    }

    #[test]
    fn a_flow_with_a_low_packet_waiting_is_not_forgotten() {
        let mut sift = queue("sift", CERTAIN, Limit::Packets(100));
        arrive(&mut sift, &[1, 1, 1], 0, Time::ZERO);
        arrive(&mut sift, &[1], 3, Time::from_millis(60_000));
        assert_eq!(sift.high_backlog(), Some(2), "packet 3 behind packet 2");
    }

    #[test]
    fn a_high_packet_pushes_out_the_last_low_one_and_a_low_one_is_dropped() {
        let mut sift = queue("sift", CERTAIN, Limit::Packets(4));
        arrive(&mut sift, &[1, 1, 1, 1], 0, Time::ZERO);
        assert_eq!(sift.enqueue(packet(1, 4), Time::ZERO), Fate::Dropped(DropReason::Full));
        assert_eq!(sift.enqueue(packet(2, 5), Time::ZERO), Fate::Queued);
        assert_eq!(dropped(&sift), [3]);
        assert_eq!(drain(&mut sift, Time::ZERO), [0, 1, 5, 2]);
        sift.dequeue(Time::from_millis(30_000));
        assert_eq!(sift.flow_table_len(), 0, "a victim does not keep its flow in the table");
    }

    #[test]
    fn with_a_byte_limit_as_many_low_tails_go_as_needed_and_none_in_vain() {
        let sized = |flow, handle, len| Packet { len, ..packet(flow, handle) };
        let mut sift = queue("sift", &["threshold=1"], Limit::Bytes(4000));
        for handle in 0..4 {
            sift.enqueue(sized(1, handle, 1000), Time::ZERO);
        }
        sift.enqueue(sized(2, 10, 1500), Time::ZERO);
        assert_eq!(dropped(&sift), [3, 2]);
        sift.enqueue(sized(3, 11, 2000), Time::ZERO);
        assert_eq!(dropped(&sift), [11], "2500 bytes are high");
        assert_eq!(drain(&mut sift, Time::ZERO), [0, 10, 1]);
    }

    #[test]
    fn a_packet_that_is_dropped_is_not_drawn() {
        let mut sift = queue("sift", &["threshold=1"], Limit::Packets(1));
        arrive(&mut sift, &[1, 2, 3, 4], 0, Time::ZERO);
        assert_eq!(sift.flow_table_len(), 1);
        drain(&mut sift, Time::ZERO);
        arrive(&mut sift, &[2], 4, Time::ZERO);
        assert_eq!(sift.high_backlog(), Some(1));
    }

    fn refusal(options: &[&str]) -> Option<OptionError> {
        let options = options.iter().filter_map(|option| option.split_once('='));
        let options: Vec<_> = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Qdisc::from_options("sift", &options, Limit::Packets(1), units::Stream::named(1, "trial")).err()
    }

    #[test]
    fn a_probability_stands_for_a_threshold_and_two_that_disagree_are_refused() {
        for good in [
            &["probability=0.02"][..],
            &["probability=0.02", "samples=500"],
            &["threshold=50", "samples=50"],
            &["probability=0.0333", "threshold=30"],
            &["probability=0.5", "threshold=4", "samples=2"],
        ] {
            assert_eq!(refusal(good), None, "{good:?}");
        }
        let message = |options| refusal(options).map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            message(&["probability=0.03", "threshold=50"]),
            "probability = '0.03': must be samples / threshold, 0.02, or left out, or threshold left out"
        );
        assert_eq!(message(&["samples=21"]), "samples = '21': must be at most threshold, 20 packets");
    }

    #[test]
    fn a_reset_draws_the_same_packets_again() {
        let mut sift = queue("sift", &["probability=0.1"], Limit::Packets(1000));
        let run = |sift: &mut Qdisc| {
            arrive(sift, &[1, 2, 3].repeat(30), 0, Time::ZERO);
            drain(sift, Time::ZERO)
        };
        let first = run(&mut sift);
        sift.reset();
        assert_eq!(run(&mut sift), first);
        assert_ne!(first, (0..90).collect::<Vec<_>>(), "some flow became long");
    }
}
