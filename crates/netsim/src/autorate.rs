//! A controller that follows a link whose rate varies: the rules of cake-autorate, from its documentation
//! (<https://github.com/lynxthecat/cake-autorate>: README, comments of `defaults.sh`, CHANGELOG up to 3.5).
//!
//! Per direction, of a ping that returns, the delay above a baseline is a sample; where enough of the last samples are
//! above a threshold, the queue of the link has filled, and the rate of the shaper falls, the more, the longer the mean
//! of the samples is. Without that, and while the load is high, the rate rises whenever the load is measured anew, the
//! less, the nearer the mean is to the threshold. While the load is low it returns to a base rate. After a change no
//! other of its kind is made for a refractory period.
//!
//! What is not here: reflectors that fail or are far apart and are replaced (all pings take one path), and pingers that
//! sleep while the link is idle.

use std::collections::VecDeque;

use units::{BitRate, Time};

use crate::error::ConfigError;

/// Rates that a shaper is kept within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Never below.
    pub min: BitRate,
    /// At low load.
    pub base: BitRate,
    /// Never above.
    pub max: BitRate,
}

/// Settings of the controller. Factors are per change.
#[derive(Clone, Debug, PartialEq)]
pub struct Autorate {
    /// The flow whose packets are its pings, by index in the list: a probe that is sent back.
    pub pings: u32,
    /// Reflectors that take turns, each with a baseline of its own.
    pub reflectors: u32,
    /// The ping tells the delay of each direction; otherwise half the round-trip time counts for either.
    pub one_way: bool,
    /// Of the forward and of the reverse shaper; without them that shaper keeps its rate.
    pub bounds: [Option<Bounds>; 2],
    /// Time between two measurements of the load.
    pub load_interval: Time,
    /// Share of the rate above which the load is high.
    pub high_load: f64,
    /// A sample above it is delayed, seconds; a full packet's time at the rate of the shaper is added.
    pub delay_threshold: f64,
    /// Mean of the samples up to which the rate rises most, seconds.
    pub rise_threshold: f64,
    /// Mean of the samples from which on the rate falls most, seconds.
    pub fall_threshold: f64,
    /// Samples that are looked at, and how many of them must be delayed.
    pub window: u32,
    /// See `window`.
    pub delayed: u32,
    /// Weight of a sample above the baseline in the new one, and of one below.
    pub baseline_rise: f64,
    /// See `baseline_rise`.
    pub baseline_fall: f64,
    /// Factors at the threshold and at its end: of a fall.
    pub fall: [f64; 2],
    /// Of a rise: at the threshold, and where the mean is small.
    pub rise: [f64; 2],
    /// Towards the base rate, from above and from below.
    pub decay: [f64; 2],
    /// Time after a fall without another change.
    pub fall_refractory: Time,
    /// Time between two steps towards the base rate.
    pub decay_refractory: Time,
    /// Time without an answer after which the rates are the least.
    pub silence: Time,
    /// Full packet, bytes.
    pub packet: u32,
}

impl Autorate {
    /// # Errors
    /// The first value out of its bounds.
    pub(crate) fn check(&self, probes: &[crate::out::probes::Probe]) -> Result<(), ConfigError> {
        let refused = |name: &'static str, value: String, bound| Err(ConfigError::Value(name, value, bound));
        if !probes.iter().any(|probe| probe.flow == self.pings && probe.echo) {
            return refused("autorate.pings", self.pings.to_string(), "a probe that is sent back");
        }
        if !(1..=1000).contains(&self.reflectors) {
            return refused("autorate.reflectors", self.reflectors.to_string(), "from 1 to 1000");
        }
        if !(1..=1000).contains(&self.window) || !(1..=self.window).contains(&self.delayed) {
            return refused("autorate.window", format!("{} of {}", self.delayed, self.window), "1 to all of 1 to 1000");
        }
        if self.load_interval < Time::from_millis(1) {
            return refused("autorate.load_interval_ns", self.load_interval.0.to_string(), "at least 1 ms");
        }
        let ordered = |low: f64, high: f64| low >= 0.0 && low < high && high <= 60.0;
        if !ordered(self.rise_threshold, self.delay_threshold) || !ordered(self.delay_threshold, self.fall_threshold) {
            let all = [self.rise_threshold, self.delay_threshold, self.fall_threshold];
            return refused("autorate.thresholds", format!("{all:?}"), "in ascending order, from 0 to 60 s");
        }
        let factors = [self.fall[0], self.fall[1], self.decay[0]];
        let rises = [self.rise[0], self.rise[1], self.decay[1]];
        if !factors.iter().all(|factor| (0.01..=1.0).contains(factor)) {
            return refused("autorate.fall", format!("{factors:?}"), "from 0.01 to 1");
        }
        if !rises.iter().all(|factor| (1.0..=10.0).contains(factor)) {
            return refused("autorate.rise", format!("{rises:?}"), "from 1 to 10");
        }
        for weight in [self.baseline_rise, self.baseline_fall, self.high_load] {
            if !(0.0..=1.0).contains(&weight) {
                return refused("autorate.baseline", weight.to_string(), "from 0 to 1");
            }
        }
        let ascending = |bounds: &Bounds| bounds.min <= bounds.base && bounds.base <= bounds.max;
        match self.bounds.iter().flatten().find(|bounds| !ascending(bounds)) {
            Some(bounds) => refused("autorate.base", bounds.base.bps().to_string(), "between min and max"),
            None => Ok(()),
        }
    }
}

/// State of one direction.
#[derive(Debug)]
struct Way {
    bounds: Bounds,
    rate: f64,
    /// By reflector, seconds.
    baselines: Vec<Option<f64>>,
    /// Samples, seconds, oldest first.
    samples: VecDeque<f64>,
    /// What the shaper has sent until the load was measured last, bytes.
    sent_bytes: u64,
    load_bps: f64,
    fell: Option<Time>,
    decayed: Option<Time>,
}

/// A direction whose rate is to change.
pub(crate) type Change = (usize, BitRate);

/// The controller in a run.
#[derive(Debug)]
pub(crate) struct Controller {
    settings: Autorate,
    ways: [Option<Way>; 2],
    heard: Time,
}

impl Controller {
    pub(crate) fn of(settings: &Autorate, rates: [Option<BitRate>; 2]) -> Controller {
        let way = |index: usize| {
            let (bounds, rate) = (settings.bounds[index]?, rates[index]?.bps() as f64);
            let baselines = vec![None; settings.reflectors as usize];
            let (samples, sent_bytes, load_bps) = (VecDeque::new(), 0, 0.0);
            Some(Way { bounds, rate, baselines, samples, sent_bytes, load_bps, fell: None, decayed: None })
        };
        Controller { settings: settings.clone(), ways: [way(0), way(1)], heard: Time::ZERO }
    }

    /// Whether packets of flow `flow` are its pings.
    #[inline]
    pub(crate) fn listens_to(&self, flow: u32) -> bool {
        self.settings.pings == flow
    }

    pub(crate) fn load_interval(&self) -> Time {
        self.settings.load_interval
    }

    /// Ping `number` returned: the delays there and back, of which the first belongs to direction `first`.
    pub(crate) fn on_ping(&mut self, number: u32, delays: [Time; 2], first: usize, now: Time) -> [Option<Change>; 2] {
        self.heard = now;
        let round_trip = (delays[0] + delays[1]).as_secs_f64();
        let reflector = (number % self.settings.reflectors) as usize;
        [0, 1].map(|index| {
            let own = delays[usize::from(index != first)].as_secs_f64();
            let delay = if self.settings.one_way { own } else { round_trip / 2.0 };
            let way = self.ways[index].as_mut()?;
            way.sample(reflector, delay, &self.settings);
            way.react(&self.settings, now, false).map(|rate| (index, rate))
        })
    }

    /// The load is measured: what either shaper has sent since the begin of the run, bytes.
    pub(crate) fn on_load(&mut self, sent_bytes: [u64; 2], now: Time) -> [Option<Change>; 2] {
        let silent = now.saturating_sub(self.heard) >= self.settings.silence;
        [0, 1].map(|index| {
            let way = self.ways[index].as_mut()?;
            let bytes = sent_bytes[index] - way.sent_bytes;
            way.sent_bytes = sent_bytes[index];
            way.load_bps = bytes as f64 * 8.0 / self.settings.load_interval.as_secs_f64();
            let changed = if silent { way.set(0.0) } else { way.react(&self.settings, now, true) };
            changed.map(|rate| (index, rate))
        })
    }
}

impl Way {
    fn sample(&mut self, reflector: usize, delay: f64, settings: &Autorate) {
        let baseline = self.baselines[reflector].get_or_insert(delay);
        let weight = if delay > *baseline { settings.baseline_rise } else { settings.baseline_fall };
        *baseline += weight * (delay - *baseline);
        let above = delay - *baseline;
        if self.samples.len() == settings.window as usize {
            self.samples.pop_front();
        }
        self.samples.push_back(above);
    }

    /// The rate that follows from what is known; `measured` when the load is new.
    fn react(&mut self, settings: &Autorate, now: Time, measured: bool) -> Option<BitRate> {
        let since = |event: Option<Time>| event.map_or(Time::NEVER, |at| now - at);
        let recovering = since(self.fell) < settings.fall_refractory;
        let packet = f64::from(settings.packet) * 8.0 / self.rate;
        let [rise, delay, fall] =
            [settings.rise_threshold, settings.delay_threshold, settings.fall_threshold].map(|limit| limit + packet);
        let delayed = self.samples.iter().filter(|&&sample| sample > delay).count();
        let mean = self.samples.iter().sum::<f64>() / self.samples.len().max(1) as f64;
        if delayed >= settings.delayed as usize {
            if recovering || measured {
                return None;
            }
            self.fell = Some(now);
            self.decayed = Some(now);
            return self.set(self.rate * between(settings.fall, (mean - delay) / (fall - delay)));
        }
        if self.load_bps > settings.high_load * self.rate {
            if recovering || !measured {
                return None;
            }
            return self.set(self.rate * between(settings.rise, (delay - mean) / (delay - rise)));
        }
        if recovering || since(self.decayed) < settings.decay_refractory {
            return None;
        }
        // Low load, and no load at all, have one rule.
        self.decayed = Some(now);
        let base = self.bounds.base.bps() as f64;
        let [down, up] = settings.decay;
        self.set(if self.rate > base { (self.rate * down).max(base) } else { (self.rate * up).min(base) })
    }

    /// Takes a rate within the bounds.
    fn set(&mut self, rate: f64) -> Option<BitRate> {
        let within = rate.clamp(self.bounds.min.bps() as f64, self.bounds.max.bps() as f64);
        if within == self.rate {
            return None;
        }
        self.rate = within;
        BitRate::from_bps(within as u64)
    }
}

/// The first value at 0 and below, the second at 1 and above, and what lies between.
fn between([from, to]: [f64; 2], share: f64) -> f64 {
    from + (to - from) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(bps: u64) -> BitRate {
        BitRate::from_bps(bps).expect("non-zero")
    }

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn settings() -> Autorate {
        let bounds = Bounds { min: rate(1_000_000), base: rate(10_000_000), max: rate(50_000_000) };
        Autorate {
            pings: 0,
            reflectors: 6,
            one_way: true,
            bounds: [Some(bounds), None],
            load_interval: ms(200),
            high_load: 0.75,
            delay_threshold: 0.030,
            rise_threshold: 0.010,
            fall_threshold: 0.060,
            window: 6,
            delayed: 3,
            baseline_rise: 0.001,
            baseline_fall: 0.9,
            fall: [0.99, 0.75],
            rise: [1.0, 1.04],
            decay: [0.99, 1.01],
            fall_refractory: ms(300),
            decay_refractory: ms(1000),
            silence: ms(10_000),
            packet: 1500,
        }
    }

    fn controller() -> Controller {
        Controller::of(&settings(), [Some(rate(10_000_000)), None])
    }

    /// Pings of one delay every 50 ms from `from` on; the rate after each change.
    fn pings(controller: &mut Controller, from: u64, count: u64, delay: u64) -> Vec<u64> {
        let changes = (0..count).flat_map(|n| {
            let number = (from / 50 + n) as u32;
            controller
                .on_ping(number, [ms(delay), ms(5)], 0, ms(from + 50 * n))
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        });
        changes
            .map(|(way, rate)| {
                assert_eq!(way, 0);
                rate.bps()
            })
            .collect()
    }

    #[test]
    fn three_delayed_samples_of_six_lower_the_rate_once_per_refractory_period() {
        let mut controller = controller();
        // A load of 8 Mb/s is high: the rate rises to 10.4 Mb/s, and does not return to its base.
        controller.on_load([200_000, 0], ms(0));
        assert!(pings(&mut controller, 0, 20, 10).is_empty());
        // The baselines are 10 ms: 200 ms above it is more than the whole range. Each has risen by 0.2 ms at most.
        let falls = pings(&mut controller, 1000, 8, 210);
        // Samples 3 (at 1100 ms) and, 300 ms later, at 1400 ms: 1000 + 8 * 50 is not reached.
        assert_eq!(falls.len(), 1, "{falls:?}");
        // Mean of three samples of 199.8 and three of 0 ms: above the range of 60 + 1.2 ms.
        assert_eq!(falls[0], 7_800_000);
        assert_eq!(pings(&mut controller, 1400, 1, 210), [5_850_000]);
    }

    #[test]
    fn a_small_excess_lowers_the_rate_less() {
        let mut controller = controller();
        controller.on_load([200_000, 0], ms(0));
        pings(&mut controller, 0, 20, 10);
        // All six samples 45 ms above 10 ms, less what the baseline takes: 0.045 once per reflector.
        let mut found = Vec::new();
        for n in 0..8 {
            found.extend(pings(&mut controller, 1000 + 50 * n, 1, 55));
        }
        // The first fall comes with three of six: mean 22.5 ms, below the threshold: the least factor.
        assert_eq!(found, [10_296_000]);
        // 300 ms later all six are at 44.95: (44.95 - 31.21) / 30 of the way from 0.99 to 0.75.
        let next = pings(&mut controller, 1400, 1, 55)[0] as f64;
        let rate = 10.296e6;
        let expected = rate * (0.99 - 0.24 * (44.955 - 30.0 - 12_000.0 / rate * 1e3) / 30.0);
        assert!((next / expected - 1.0).abs() < 1e-3, "{next}, not {expected}");
    }

    #[test]
    fn a_high_load_raises_the_rate_with_each_measurement_and_a_low_one_brings_it_back() {
        let mut controller = controller();
        pings(&mut controller, 0, 6, 10);
        let mut sent = 0;
        let mut rates = Vec::new();
        for n in 1..=5_u64 {
            sent += 300_000;
            rates.extend(controller.on_load([sent, 0], ms(1000 + 200 * n)).into_iter().flatten().map(|(_, r)| r.bps()));
        }
        // 12 Mb/s are above 75 % of the rate until it is 16 Mb/s.
        let expected: Vec<u64> = (1..=5).map(|n| (1e7 * 1.04_f64.powi(n)) as u64).collect();
        assert_eq!(rates, expected);
        let back: Vec<u64> = (0..5_u64)
            .flat_map(|n| controller.on_load([sent, 0], ms(3000 + 500 * n)).into_iter().flatten().map(|(_, r)| r.bps()))
            .collect();
        // Once a second.
        assert_eq!(back.len(), 3);
        assert_eq!(back[0], (1e7 * 1.04_f64.powi(5) * 0.99) as u64);
    }

    #[test]
    fn without_answers_the_rate_is_the_least() {
        let mut controller = controller();
        assert_eq!(controller.on_load([0, 0], ms(9_999))[0], None);
        assert_eq!(controller.on_load([0, 0], ms(10_000))[0], Some((0, rate(1_000_000))));
    }
}
