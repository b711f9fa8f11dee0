//! RED that also estimates what share of its traffic does not respond to drops.
//!
//! Principle: every packet is treated as by RED; beside it, mean queue, arrivals and drops of each sampling interval, a
//! third of the round-trip time, go to the estimator. The estimate is told, and moves the thresholds where a bound asks
//! for it ([`crate::regulator`]).
//! In bytes over the length of a typical packet (Zhao 2004, III.A.2). Cost per packet: that of RED, a few additions, and
//! 0.2 µs per sampling interval. Source: Zhao 2004, II and III.

use std::collections::VecDeque;

use estimator::{Config, Estimate, Estimator, Fixed, Float, LONGEST_GAP, Number, Reason, Sample};
use units::{Stream, Time};

use crate::base::{Discipline, Env, Nonresponsive};
use crate::packet::Packet;
use crate::red::{self, Detector};
use crate::regulator::{self, Regulator};
use crate::spec::{Family, OptionError, Options, Param, Spec, Value};

/// Ids of the estimator's methods.
const METHODS: [&str; estimator::methods().len()] = {
    let mut ids = [""; estimator::methods().len()];
    let mut at = 0;
    while at < ids.len() {
        ids[at] = estimator::methods()[at].id;
        at += 1;
    }
    ids
};

/// What the estimator must know.
const OWN: [Param; 5] = [
    Param {
        name: "rate",
        unit: "bit/s",
        about: "of the link, for the estimator; 0: measured from the first departures",
        value: Value::Number { default: 0.0, min: 0.0, max: 4e11 },
    },
    Param {
        name: "rtt",
        unit: "s",
        about: "round-trip time of the flows without queueing (T_p)",
        value: Value::Number { default: 0.1, min: 1e-4, max: 60.0 },
    },
    Param {
        name: "per_ack",
        unit: "packets",
        about: "of the flows that an acknowledgement tells of: 2 with delayed acknowledgements",
        value: Value::Number { default: 1.0, min: 1.0, max: 16.0 },
    },
    Param { name: "method", unit: "", about: "of the estimator", value: Value::Choice(&METHODS) },
    Param {
        name: "ticks",
        unit: "per second",
        about: "clock of the estimator, which calculates with integers as in a kernel; 0: floating point",
        value: Value::Whole { default: 1000, min: 0, max: 1_000_000 },
    },
];

/// Those of RED, of the estimator and of the regulator.
const PARAMS: [Param; red::PARAMS.len() + OWN.len() + regulator::PARAMS.len()] = {
    let mut all = [const { Param { name: "", unit: "", about: "", value: Value::Choice(&[]) } };
        red::PARAMS.len() + OWN.len() + regulator::PARAMS.len()];
    let parts: [&[Param]; 3] = [&red::PARAMS, &OWN, &regulator::PARAMS];
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

/// Gaps between departures from which the rate is taken.
const GAPS: u64 = 256;
/// Sampling intervals that are told one by one after an idle time; a longer one is a gap to the estimator.
const MOST_AT_ONCE: u64 = LONGEST_GAP as u64;
/// Ticks of the clock per second of the estimator in floating point.
const NANOSECONDS: u32 = 1_000_000_000;

/// Speed of the link as departures show it: bytes sent while packets waited behind them, and the time it took.
#[derive(Debug, Default)]
struct Meter {
    departed: Option<(Time, u32)>,
    gaps: u64,
    bytes: u64,
    time: u64,
}

impl Meter {
    fn depart(&mut self, len: u32, leaves_some: bool, now: Time) {
        if let Some((before, bytes)) = self.departed.filter(|_| self.gaps < GAPS) {
            self.gaps += 1;
            self.bytes += u64::from(bytes);
            self.time += now.saturating_sub(before).0;
        }
        self.departed = leaves_some.then_some((now, len));
    }

    /// Bytes per second, once it is known.
    fn rate(&self) -> Option<f64> {
        (self.gaps >= GAPS && self.time > 0).then(|| self.bytes as f64 * 1e9 / self.time as f64)
    }
}

/// The estimator in one of its arithmetics.
#[derive(Debug)]
enum Running {
    Float(Box<Estimator<Float>>),
    Fixed(Box<Estimator<Fixed>>),
}

/// What a sampling interval has seen so far.
#[derive(Debug)]
struct Watch {
    config: Config,
    method: &'static str,
    ticks: u32,
    mean_packet: f64,
    /// Bytes per second; 0 while it is measured.
    rate: f64,
    running: Option<Running>,
    meter: Meter,
    /// Length of a sampling interval, ns, and the end of this one.
    length: u64,
    end: Time,
    /// Until when the mean queue is known, and the bytes that waited in this interval, times ns.
    seen: Time,
    area: u128,
    /// Bytes that came and that were dropped in it.
    arrivals: u64,
    drops: u64,
    last: Option<Nonresponsive>,
    regulator: Regulator,
    is_tail: bool,
}

fn told<N: Number>(estimate: &Estimate<N>, now: Time) -> Nonresponsive {
    Nonresponsive {
        at: now,
        share: estimate.share.to_f64(),
        flows: estimate.flows.to_f64(),
        doubt: estimate.doubt.map(Reason::word),
    }
}

impl Watch {
    fn with_options(options: &Options) -> Result<Watch, OptionError> {
        let (rtt, mean_packet) = (options.number("rtt"), options.number("mean_packet"));
        let rate = options.number("rate") / 8.0;
        // A rate that is still to be measured cannot be out of the estimator's bounds by its option.
        let capacity = if rate > 0.0 { rate / mean_packet } else { 1.0 };
        let per_ack = options.number("per_ack");
        let config = Config::with_options(capacity, rtt, &[("per_ack", per_ack)]);
        let config = config.map_err(|error| options.refuse("rate", &format!("such that {error}")))?;
        let length = (config.sampling_s() * 1e9).round().max(1.0) as u64;
        Ok(Watch {
            config,
            method: options.choice("method"),
            ticks: options.whole("ticks") as u32,
            mean_packet,
            rate,
            running: None,
            meter: Meter::default(),
            length,
            end: Time(length),
            seen: Time::ZERO,
            area: 0,
            arrivals: 0,
            drops: 0,
            last: None,
            regulator: Regulator::with_options(options)?,
            is_tail: false,
        })
    }

    /// Begins as soon as the rate is known.
    #[cold]
    fn begin(&mut self) {
        if self.rate == 0.0 {
            let Some(rate) = self.meter.rate() else { return };
            let (rtt, options) = (self.config.propagation_s(), [("per_ack", self.config.value("per_ack"))]);
            let Ok(config) = Config::with_options((rate / self.mean_packet).clamp(0.1, 1e9), rtt, &options) else {
                return;
            };
            (self.rate, self.config) = (rate, config);
        }
        // The ids are those of the registry.
        self.running = match self.ticks {
            0 => Estimator::from_config(self.method, &self.config, NANOSECONDS).ok().map(Box::new).map(Running::Float),
            ticks => Estimator::from_config(self.method, &self.config, ticks).ok().map(Box::new).map(Running::Fixed),
        };
    }

    /// Brings the mean queue up to `now`, `backlog` bytes having waited since the last call, and tells the sampling
    /// intervals that have ended.
    #[inline]
    fn advance(&mut self, now: Time, backlog: u64) {
        if now >= self.end {
            self.tell(now, backlog);
        }
        self.area += u128::from(backlog) * u128::from(now.saturating_sub(self.seen).0);
        self.seen = now;
    }

    #[cold]
    fn tell(&mut self, now: Time, backlog: u64) {
        let ended = (now.0 - self.end.0) / self.length + 1;
        for _ in 0..ended.min(MOST_AT_ONCE) {
            self.area += u128::from(backlog) * u128::from(self.end.saturating_sub(self.seen).0);
            self.seen = self.end;
            self.sample((self.area / u128::from(self.length)) as u64);
            (self.area, self.arrivals, self.drops) = (0, 0, 0);
            self.end = Time(self.end.0.saturating_add(self.length));
        }
        let skipped = ended.saturating_sub(MOST_AT_ONCE).saturating_mul(self.length);
        (self.end, self.seen) = (Time(self.end.0.saturating_add(skipped)), Time(self.seen.0.saturating_add(skipped)));
    }

    /// A sampling interval ends, with a mean queue in bytes.
    fn sample(&mut self, queue: u64) {
        if self.running.is_none() {
            self.begin();
        }
        let (end, packet, arrivals, drops) = (self.end, self.mean_packet, self.arrivals, self.drops);
        let found = match &mut self.running {
            None => return,
            Some(Running::Float(estimator)) => {
                let of = |bytes: u64| Float(bytes as f64 / packet);
                let sample = Sample { ticks: end.0 as i64, queue: of(queue), arrivals: of(arrivals), drops: of(drops) };
                estimator.take(sample).map(|estimate| told(&estimate, end))
            }
            Some(Running::Fixed(estimator)) => {
                let of = |bytes: u64| Fixed::from_ratio(bytes as i64, packet as i64);
                let ticks = (u128::from(end.0) * u128::from(self.ticks) / u128::from(NANOSECONDS)) as i64;
                let sample = Sample { ticks, queue: of(queue), arrivals: of(arrivals), drops: of(drops) };
                estimator.take(sample).map(|estimate| told(&estimate, end))
            }
        };
        if let Some(found) = found {
            self.is_tail = self.regulator.told(found.share, found.doubt.is_some());
            self.last = Some(found);
        }
    }
}

/// RED with an estimator.
#[derive(Debug)]
pub struct EstmRed {
    queue: VecDeque<Packet>,
    detector: Detector,
    watch: Watch,
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
        params: &PARAMS,
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        let detector = Detector::with_options(options)?;
        Ok(EstmRed { queue: VecDeque::new(), detector, watch: Watch::with_options(options)? })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        self.watch.advance(env.now(), env.stats().backlog_bytes());
        self.detector.is_tail = self.watch.is_tail;
        let (len, before) = (u64::from(packet.len), env.stats().dropped_before_bytes);
        self.detector.arrive(env);
        self.queue.extend(self.detector.admit(packet, env));
        self.watch.arrivals += len;
        self.watch.drops += env.stats().dropped_before_bytes - before;
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        // The counters still have the packet among those that wait.
        self.watch.advance(env.now(), env.stats().backlog_bytes());
        self.watch.meter.depart(packet.len, !self.queue.is_empty(), env.now());
        self.detector.depart(packet.len, !self.queue.is_empty(), env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.front()
    }

    fn nonresponsive(&self) -> Option<Nonresponsive> {
        self.watch.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Limit;
    use crate::trial::{packet, queue};

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
    fn the_rate_is_that_of_departures_with_packets_behind_them() {
        let mut meter = Meter::default();
        for n in 0..GAPS - 1 {
            assert_eq!(meter.rate(), None);
            // Every third packet leaves nobody behind: the link idles then.
            meter.depart(1500, n % 3 != 2, Time(n * 2 * MS + n / 3 * 50 * MS));
        }
        for n in 0..=GAPS {
            meter.depart(1500, true, Time(60_000 * MS + n * 2 * MS));
        }
        assert_eq!(meter.rate(), Some(750_000.0));
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
        let (queue, red) = drive("estmred", &options, 30_000, 300_000, 330_000);
        assert!(queue.nonresponsive().is_some_and(|found| found.share > 0.0 && found.doubt.is_some()));
        let (_, bound) = drive("estmred", &[&options[..], &["above=0"]].concat(), 30_000, 300_000, 330_000);
        assert_eq!(red, bound);
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
