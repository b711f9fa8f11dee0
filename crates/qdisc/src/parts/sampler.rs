//! A queue as the estimator of traffic that does not respond sees it: mean backlog, arrivals and drops per sampling
//! interval, in bytes over the length of a typical packet (Zhao 2004, III.A.2), and the rate of the link where it is not
//! told.

use estimator::{Config, Estimate, Estimator, Fixed, Float, LONGEST_GAP, Number, Reason, Sample};
use units::Time;

use crate::base::Nonresponsive;
use crate::parts::regulator::Regulator;
use crate::spec::{OptionError, Options, Param, Value};

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

/// What the estimator must know of the link and its clock.
const OWN: [Param; 7] = [
    Param { name: "estimate", unit: "", about: "off: RED alone", value: Value::Choice(&["on", "off"]) },
    Param {
        name: "arithmetic",
        unit: "",
        about: "of RED; integers: what the kernel module decides, packet for packet",
        value: Value::Choice(&["float", "integers"]),
    },
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
    Param { name: "method", unit: "", about: "of the estimator", value: Value::Choice(&METHODS) },
    Param {
        name: "ticks",
        unit: "per second",
        about: "clock of the estimator, which calculates with integers as in a kernel; 0: floating point",
        value: Value::Whole { default: 1000, min: 0, max: 1_000_000 },
    },
    Param {
        name: "queued_rtt",
        unit: "s",
        about: "round-trip time with the queue (R_0); 0: the propagation delay and the mean queue",
        value: Value::Number { default: 0.0, min: 0.0, max: 100.0 },
    },
];

/// Gains, filters and the like: those of the estimator, but for the first, which has the name of another here.
pub(crate) const PARAMS: [Param; OWN.len() + estimator::PARAMS.len() - 1] = {
    let mut all = [OWN[0]; OWN.len() + estimator::PARAMS.len() - 1];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < OWN.len() {
            OWN[at]
        } else {
            let estimator::Param { name, unit, about, default, min, max } = estimator::PARAMS[at - OWN.len() + 1];
            let unit = if unit.is_empty() { "gain" } else { unit };
            Param { name, unit, about, value: Value::Number { default, min, max } }
        };
        at += 1;
    }
    all
};

/// Gaps between departures from which the rate is taken.
const GAPS: u64 = 256;
/// Sampling intervals that are told one by one after an idle time; a longer one is a gap to the estimator.
const MOST_AT_ONCE: u64 = LONGEST_GAP as u64;
/// Ticks of the clock per second of the estimator in floating point.
pub(crate) const NANOSECONDS: u32 = 1_000_000_000;

/// Speed of the link as departures show it: bytes sent while packets waited behind them, and the time it took.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    departed: Option<(Time, u32)>,
    gaps: u64,
    bytes: u64,
    time: u64,
}

impl Meter {
    pub(crate) fn depart(&mut self, len: u32, leaves_some: bool, now: Time) {
        if let Some((before, bytes)) = self.departed.filter(|_| self.gaps < GAPS) {
            self.gaps += 1;
            self.bytes += u64::from(bytes);
            self.time += now.saturating_sub(before).0;
        }
        self.departed = leaves_some.then_some((now, len));
    }

    /// Whole bytes per second, once it is known.
    fn rate(&self) -> Option<f64> {
        let rate = || u128::from(self.bytes) * u128::from(NANOSECONDS) / u128::from(self.time);
        (self.gaps >= GAPS && self.time > 0).then(|| rate() as f64)
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
pub(crate) struct Sampler {
    config: Config,
    /// What of its parameters is given.
    given: Vec<(&'static str, f64)>,
    method: &'static str,
    ticks: u32,
    mean_packet: f64,
    /// It is still to be measured.
    is_measured: bool,
    running: Option<Running>,
    pub(crate) meter: Meter,
    /// Length of a sampling interval, ns, and the end of this one.
    length: u64,
    end: Time,
    /// Until when the mean queue is known, and the bytes that waited in this interval, times ns.
    seen: Time,
    area: u64,
    /// Longest queue whose product with an interval fits, bytes.
    longest: u64,
    /// Bytes that came and that were dropped in it.
    pub(crate) arrivals: u64,
    pub(crate) drops: u64,
    pub(crate) last: Option<Nonresponsive>,
    regulator: Regulator,
    pub(crate) is_tail: bool,
}

/// Packets per second of a link of `rate` bytes per second: in integers for both, it is a number of 14 bits.
fn capacity(rate: f64, mean_packet: f64, in_integers: bool) -> f64 {
    if in_integers { Fixed::from_ratio(rate as i64, mean_packet as i64).to_f64() } else { rate / mean_packet }
}

fn told<N: Number>(estimate: &Estimate<N>, now: Time) -> Nonresponsive {
    Nonresponsive {
        at: now,
        share: estimate.share.to_f64(),
        flows: estimate.flows.to_f64(),
        doubt: estimate.doubt.map(Reason::word),
    }
}

impl Sampler {
    /// Nothing when no estimate is asked for.
    pub(crate) fn with_options(options: &Options) -> Result<Option<Sampler>, OptionError> {
        let regulator = Regulator::with_options(options)?;
        let (rtt, mean_packet, ticks) = (options.number("rtt"), options.number("mean_packet"), options.whole("ticks"));
        // The integer form has a typical packet of whole bytes.
        let mean_packet = if ticks > 0 { mean_packet.round().max(1.0) } else { mean_packet };
        let rate = options.number("rate") / 8.0;
        let own = estimator::PARAMS[1..].iter().map(|param| (param.name, options.number(param.name)));
        let given: Vec<_> = own.chain([("rtt", options.number("queued_rtt"))]).collect();
        // A rate that is still to be measured cannot be out of the estimator's bounds by its option.
        let capacity = if rate > 0.0 { capacity(rate, mean_packet, ticks > 0) } else { 1.0 };
        let config = Config::with_options(capacity, rtt, &given);
        let config = config.map_err(|error| options.refuse("rate", &format!("such that {error}")))?;
        let length = (config.sampling_s() * 1e9).round().max(1.0) as u64;
        Ok((options.choice("estimate") == "on").then(|| Sampler {
            config,
            given,
            method: options.choice("method"),
            ticks: ticks as u32,
            mean_packet,
            is_measured: rate == 0.0,
            running: None,
            meter: Meter::default(),
            length,
            end: Time(length),
            seen: Time::ZERO,
            area: 0,
            longest: i64::MAX as u64 / length,
            arrivals: 0,
            drops: 0,
            last: None,
            regulator,
            is_tail: false,
        }))
    }

    /// Begins as soon as the rate is known.
    #[cold]
    fn begin(&mut self) {
        if self.is_measured {
            let Some(rate) = self.meter.rate() else { return };
            let capacity = capacity(rate, self.mean_packet, self.ticks > 0).clamp(0.125, 1e9);
            let Ok(config) = Config::with_options(capacity, self.config.propagation_s(), &self.given) else { return };
            (self.is_measured, self.config) = (false, config);
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
    pub(crate) fn advance(&mut self, now: Time, backlog: u64) {
        if now >= self.end {
            self.tell(now, backlog);
        }
        self.area += backlog.min(self.longest) * now.saturating_sub(self.seen).0;
        self.seen = now;
    }

    #[cold]
    fn tell(&mut self, now: Time, backlog: u64) {
        let ended = (now.0 - self.end.0) / self.length + 1;
        for _ in 0..ended.min(MOST_AT_ONCE) {
            self.area += backlog.min(self.longest) * self.end.saturating_sub(self.seen).0;
            self.seen = self.end;
            self.sample(self.area / self.length);
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

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
}
