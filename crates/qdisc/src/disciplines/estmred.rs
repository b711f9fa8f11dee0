//! # ESTMRED
//!
//! **Idea.** RED, with an estimator beside it that tells what share of the arriving traffic does not respond to drops. The estimate is there to be read, by an
//! alarm or by whoever sets the queue; with `above` it moves RED towards drop-tail, otherwise it changes nothing.
//!
//! **Scope and limits.**
//! - Without `above` every packet is treated as by [RED](red.md), bit for bit; with `arithmetic=integers` as by a kernel without floating point, which differs
//!   from it by single packets and draws random numbers of its own. `kernel/core` decides the same, packet for packet.
//! - The estimator sees mean queue, arrivals and drops of each sampling interval, a third of the round-trip time, in bytes over `mean_packet` (Zhao 2004, III.A.2),
//!   and nothing of flows. [Its methods](../estimate/methods.md) and their limits are told there: an estimate carries its doubt.
//! - With `ecn` on, marks are no drops: Zhao's estimator does not count them, and what is marked looks as if it did not respond.
//! - The link's rate is not known to a queue. It is measured from 256 gaps between departures with packets behind them, unless `rate` is given; until then, and
//!   until the first estimation interval has ended, nothing is told.
//! - Intervals in which nothing arrives are told to the estimator up to 8 in a row; a longer rest is a gap to it.
//!
//! **Parameters.** Those of [RED](red.md), with the same defaults, and
//!
//! | | symbol | unit | default |
//! |---|---|---|---|
//! | `rate` | C | bit/s | 0: measured |
//! | `rtt` | T_p | s | 0.1 |
//! | `method` | | | `default` |
//! | `estimate` | | | on; off: RED alone |
//! | `arithmetic` | | | float; integers: RED as in a kernel |
//! | `ticks` | | per second | 1000; 0: floating point |
//! | `queued_rtt` | R_0 | s | 0: T_p and the mean queue |
//! | `per_ack` | b | packets | 1; 2 with delayed acknowledgements |
//! | `sampling`, `per_estimate` | T | s, intervals | 0: a third of T_p; 20 |
//! | `queue_filter`, `drop_filter`, `smoothing` | α | share of the old value | 0.4, 0.6, 0 |
//! | `gamma_1`, `gamma_2` | γ₁, γ₂ | | 5, 0.45 |
//! | `zero_intervals` | PZTHD | intervals | 3 |
//! | `start_share`, `start` | | share, s | 0.5, 0 |
//! | `above` | | share | 1: never |
//! | `below` | | share | 0: 0.1 less than `above` |
//!
//! With `ticks` the estimator calculates with integers, as in a kernel with that clock.
//!
//! The estimates are in `samples.parquet` (`nonresponsive_estimate`, `nonresponsive_doubt`) beside the true share, their mean in the summary:
//!
//! ```console
//! $ mayfly simulate red-ns2 --discipline "estmred(min_th=15,max_th=45,rate=28e6)" --set sample_interval=33ms --set warm_up=0s --duration 60s --out est --json > est.json
//! ```
//!
//! ```python
//! import json
//!
//! row = json.load(open("est.json"))["disciplines"][0]
//! print(row.get("nonresponsive"))
//! ```
//!
//! **The regulator.** Three estimates in a row above `above` that may be relied on move both thresholds to the end of the buffer: from then on only a full
//! buffer drops (Zhao 2004, Table III, third row). Three below `below`, or thirty doubtful ones in a row, move them back. What it gains and costs is in
//! [](../estimate/applications.md#red-towards-drop-tail). While it is drop-tail the estimate is too high (figures there).
//!
//! **When the buffer is full** the arriving packet is dropped.
//!
//! **Cost.** That of [RED](red.md), 1 to 4 ns per packet more (`crates/qdisc/examples/queues.rs`, 300 packets waiting, 10 000 flows), and one update of the estimator per sampling interval: 0.2 µs in integers, 0.1 µs in floating
//! point. No flow table.
//!
//! **Validation.** Unit tests: outcomes equal to those of `red` packet for packet, what the estimator is told against a count by brute force, the measured
//! rate, years of rest. A simulation under `red` and under `estmred` has the same records, and `mayfly estimate` on its samples tells the same as the
//! discipline (`tests/estimate/test_estmred.py`). With `arithmetic=integers` fates, marks, order and every estimate are those of the C of the kernel module, bit for
//! bit (`tests/kernel_core`). Conformance suite.
//!
//! **References.** Zhao 2004, ch. II and III.

use std::collections::VecDeque;

use units::Stream;

use crate::base::{Discipline, Env, Nonresponsive};
use crate::packet::Packet;
use crate::parts::red::{self, Detector};
use crate::parts::red_fixed::FixedDetector;
use crate::parts::regulator;
use crate::parts::sampler::{self, Sampler};
use crate::spec::{Family, OptionError, Options, Param, RunsOn, Spec, Value};

/// Those of RED, of the estimator and of the regulator.
const PARAMS: [Param; red::PARAMS.len() + sampler::PARAMS.len() + regulator::PARAMS.len()] = {
    let mut all = [const { Param { name: "", unit: "", about: "", value: Value::Choice(&[]) } };
        red::PARAMS.len() + sampler::PARAMS.len() + regulator::PARAMS.len()];
    let parts: [&[Param]; 3] = [&red::PARAMS, &sampler::PARAMS, &regulator::PARAMS];
    let (mut part, mut from) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[from + at] = parts[part][at];
            at += 1;
        }
        from += at;
        part += 1;
    }
    all
};

/// RED in either arithmetic.
#[derive(Debug)]
enum Red {
    Float(Detector),
    Fixed(FixedDetector),
}

/// RED with an estimator.
#[derive(Debug)]
pub struct EstmRed {
    queue: VecDeque<Packet>,
    red: Red,
    watch: Option<Sampler>,
}

impl Discipline for EstmRed {
    const SPEC: Spec = Spec {
        id: "estmred",
        family: Family::QueueManagement,
        about: "RED that estimates what share of its traffic does not respond to drops",
        source: "Zhao 2004, II and III",
        when_full: "the arriving packet",
        time_driven: false,
        keeps_flow_order: true,
        runs_on: RunsOn::Module { qdisc: "estmred", options: "", bpf: false },
        params: &PARAMS,
    };

    fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let red = match options.choice("arithmetic") {
            "integers" => Red::Fixed(FixedDetector::with_options(options, rng)?),
            _ => Red::Float(Detector::with_options(options)?),
        };
        Ok(EstmRed { queue: VecDeque::new(), red, watch: Sampler::with_options(options)? })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        let mut is_tail = false;
        if let Some(watch) = &mut self.watch {
            watch.advance(env.now(), env.stats().backlog_bytes());
            is_tail = watch.is_tail;
        }
        let (len, before) = (u64::from(packet.len), env.stats().dropped_before_bytes);
        let admitted = match &mut self.red {
            Red::Float(red) => {
                red.is_tail = is_tail;
                red.arrive(env);
                red.admit(packet, env)
            }
            Red::Fixed(red) => {
                red.is_tail = is_tail;
                red.arrive(env);
                red.admit(packet, env)
            }
        };
        self.queue.extend(admitted);
        if let Some(watch) = &mut self.watch {
            watch.arrivals += len;
            watch.drops += env.stats().dropped_before_bytes - before;
        }
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        let (len, leaves_some, now) = (packet.len, !self.queue.is_empty(), env.now());
        if let Some(watch) = &mut self.watch {
            // The counters still have the packet among those that wait.
            watch.advance(now, env.stats().backlog_bytes());
            watch.meter.depart(len, leaves_some, now);
        }
        match &mut self.red {
            Red::Float(red) => red.depart(len, leaves_some, now),
            Red::Fixed(red) => red.depart(len, leaves_some, now),
        }
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.front()
    }

    fn nonresponsive(&self) -> Option<Nonresponsive> {
        self.watch.as_ref()?.last
    }
}

#[cfg(test)]
mod tests {
    use estimator::{Config, Estimator, Float, Reason, Sample};
    use units::Time;

    use super::*;
    use crate::base::Limit;
    use crate::parts::sampler::NANOSECONDS;
    use crate::test_queue::{packet, queue};

    const MS: u64 = 1_000_000;

    /// Packets of a burst every `gap` ns, one departure per `send` ns; calls `each` with every queue's outcome.
    fn drive(id: &str, options: &[&str], steps: u64, gap: u64, send: u64) -> (crate::Qdisc, Vec<(bool, u64)>) {
        let mut queue = queue(id, options, Limit::Packets(60));
        let (mut outcomes, mut free) = (Vec::new(), 0);
        for n in 0..steps {
            let now = n * gap + (n * n) % (gap / 2);
            while free <= now && queue.backlog() > 0 {
                outcomes.push((true, queue.dequeue(Time(free)).map_or(0, |packet| packet.handle)));
                free += send;
            }
            free = free.max(now);
            queue.enqueue(packet(n % 7, n), Time(now));
            outcomes.extend(queue.dropped().iter().map(|(packet, _)| (false, packet.handle)));
        }
        (queue, outcomes)
    }

    #[test]
    fn packets_are_treated_as_by_red_bit_for_bit() {
        for options in [&["min_th=5", "max_th=15"][..], &["spacing=wait", "weight=0.1"], &["mode=bytes", "gentle=off"]]
        {
            for send in [280_000, 330_000, 500_000] {
                let (_, red) = drive("red", options, 30_000, 300_000, send);
                let options = [options, &["rate=40e6"]].concat();
                let (queue, estmred) = drive("estmred", &options, 30_000, 300_000, send);
                assert_eq!(red, estmred);
                assert!(send < 300_000 || estmred.iter().any(|(left, _)| !left), "some are dropped");
                assert!(queue.nonresponsive().is_some(), "270 sampling intervals");
            }
        }
    }

    #[test]
    fn integers_drop_as_many_as_red() {
        for options in [&["min_th=5", "max_th=15"][..], &["spacing=wait", "weight=0.1"], &["mode=bytes", "gentle=off"]]
        {
            let lost = |id, options: &[&str]| {
                let (queue, _) = drive(id, options, 100_000, 300_000, 330_000);
                queue.stats().dropped() as f64
            };
            let (red, own) =
                (lost("red", options), lost("estmred", &[options, &["rate=40e6", "arithmetic=integers"]].concat()));
            // A tenth cannot be sent: the numbers of drops are all but given by that.
            assert!(red > 9_000.0 && (own / red - 1.0).abs() < 0.01, "{red} {own}");
            assert_eq!(own, lost("estmred", &[options, &["estimate=off", "arithmetic=integers"]].concat()));
        }
    }

    #[test]
    fn the_estimator_can_be_left_off() {
        let (queue, _) = drive("estmred", &["estimate=off", "rate=40e6"], 30_000, 300_000, 330_000);
        assert_eq!(queue.nonresponsive(), None);
    }

    #[test]
    fn the_estimator_is_told_mean_queue_arrivals_and_drops_of_each_interval() {
        // 100 ms without queueing: intervals of 33 333 333 ns.
        let options = ["rate=28e6", "rtt=0.1", "method=p0", "ticks=0", "min_th=5", "max_th=15", "mean_packet=1500"];
        let mut queue = queue("estmred", &options, Limit::Packets(60));
        let length = 33_333_333;
        let config = Config::with_options(28e6 / 8.0 / 1500.0, 0.1, &[]).expect("a configuration");
        let mut estimator = Estimator::<Float>::from_config("p0", &config, NANOSECONDS).expect("a method");
        // By brute force: the backlog every 1/333 of an interval, as nothing happens in between.
        let (step, mut told) = (length / 333, None);
        let (mut area, mut came, mut lost) = (0.0, 0.0, 0.0);
        for n in 1..333 * 100 {
            area += queue.backlog() as f64 / 333.0;
            if n % 333 == 0 {
                let sample = Sample {
                    ticks: (n / 333 * length) as i64,
                    queue: Float(area),
                    arrivals: Float(came),
                    drops: Float(lost),
                };
                told = estimator.take(sample).or(told);
                (area, came, lost) = (0.0, 0.0, 0.0);
            }
            let now = Time(n * step + n / 333 * (length - 333 * step));
            if n % 5 != 0 {
                queue.dequeue(now);
            }
            if n % 7 < 6 {
                queue.enqueue(packet(n % 3, n), now);
                came += 1.0;
                lost += queue.dropped().len() as f64;
            }
        }
        let (told, found) = (told.expect("4 estimates"), queue.nonresponsive().expect("4 estimates"));
        assert_eq!(found.at, Time(told.ticks as u64));
        // The mean queue is rounded down to a byte: 1/1500 of a packet in a queue of ten.
        assert!((found.share - told.share.0).abs() < 1e-3, "{found:?} {told:?}");
        assert_eq!(found.doubt, told.doubt.map(Reason::word));
    }

    #[test]
    fn a_link_that_rests_for_years_goes_on() {
        let options = ["rate=28e6", "rtt=0.1"];
        let mut queue = queue("estmred", &options, Limit::Packets(60));
        for now in [0, 1, 31_536_000_000 * MS, u64::MAX / 2, u64::MAX - 1] {
            queue.enqueue(packet(1, 1), Time(now));
            queue.dequeue(Time(now));
        }
        assert!(queue.nonresponsive().is_some_and(|found| (0.0..=1.0).contains(&found.share)));
    }

    #[test]
    fn doubtful_estimates_leave_the_thresholds_where_they_are() {
        let options = ["min_th=5", "max_th=15", "rate=40e6", "method=basic"];
        let (queue, free) = drive("estmred", &options, 30_000, 300_000, 330_000);
        assert!(queue.nonresponsive().is_some_and(|found| found.share > 0.0 && found.doubt.is_some()));
        let (_, bound) = drive("estmred", &[&options[..], &["above=0"]].concat(), 30_000, 300_000, 330_000);
        assert_eq!(free, bound);
    }

    #[test]
    fn options_of_the_estimator_are_checked() {
        let refused = |name: &str, value: &str| {
            let options = [(name.to_owned(), value.to_owned())];
            let stream = Stream::named(1, "trial");
            crate::Qdisc::from_options("estmred", &options, Limit::Packets(9), stream).expect_err("refused").to_string()
        };
        assert!(refused("method", "best").starts_with("method = 'best': must be one of default, "));
        assert_eq!(refused("rtt", "0"), "rtt = '0': must be a number from 0.0001 to 60 s");
        assert!(refused("rate", "1").contains("capacity"), "a packet in two hours");
        assert_eq!(refused("per_ack", "0"), "per_ack = '0': must be a number from 1 to 16 packets");
        assert_eq!(refused("above", "2"), "above = '2': must be a number from 0 to 1 share");
    }
}
