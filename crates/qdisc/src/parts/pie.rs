//! The law of PIE, for one queue or many: the drop probability of a queue, and when it is updated. RFC 8033, sections 4
//! and 5, Appendix A.

use units::{Stream, Time};

use crate::base::{DropReason, Env};
use crate::packet::Packet;
use crate::spec::{Options, Param, Value};

/// Parameter: delay to steer to.
pub(crate) const TARGET: Param = Param {
    name: "target",
    unit: "s",
    about: "queueing delay to steer to (QDELAY_REF)",
    value: Value::Number { default: 0.015, min: 1e-6, max: 1e3 },
};

/// Parameter: interval of the updates.
pub(crate) const UPDATE: Param = Param {
    name: "update",
    unit: "s",
    about: "interval at which the drop probability is updated (T_UPDATE)",
    value: Value::Number { default: 0.015, min: 1e-4, max: 1e3 },
};

/// Parameter: integral gain.
pub(crate) const ALPHA: Param = Param {
    name: "alpha",
    unit: "1/s",
    about: "change of the probability by distance from the target (alpha)",
    value: Value::Number { default: 0.125, min: 0.0, max: 1e3 },
};

/// Parameter: proportional gain.
pub(crate) const BETA: Param = Param {
    name: "beta",
    unit: "1/s",
    about: "change of the probability by trend of the delay (beta)",
    value: Value::Number { default: 1.25, min: 0.0, max: 1e3 },
};

/// Parameter: burst allowance.
pub(crate) const BURST: Param = Param {
    name: "burst",
    unit: "s",
    about: "time without early drops when congestion begins (MAX_BURST)",
    value: Value::Number { default: 0.15, min: 0.0, max: 1e6 },
};

/// Parameter: whether packets are marked.
pub(crate) const ECN: Param = Param {
    name: "ecn",
    unit: "",
    about: "on: packets that understand ECN are marked instead of dropped below ecn_max",
    value: Value::Choice(&["on", "off"]),
};

/// Parameter: highest probability of marks.
pub(crate) const ECN_MAX: Param = Param {
    name: "ecn_max",
    unit: "probability",
    about: "drop probability from which such packets are dropped too (mark_ecnth)",
    value: Value::Number { default: 0.1, min: 0.0, max: 1.0 },
};

/// Parameter: length of a typical packet.
pub(crate) const MEAN_PACKET: Param = Param {
    name: "mean_packet",
    unit: "bytes",
    about: "no early drop while at most two packets of this length wait (MEAN_PKTSIZE)",
    value: Value::Number { default: 1500.0, min: 1.0, max: 1e9 },
};

/// Parameter: whether drops are spread.
pub(crate) const DERANDOMIZE: Param = Param {
    name: "derandomize",
    unit: "",
    about: "on: drops are neither too close nor too far apart (RFC 8033, 5.4)",
    value: Value::Choice(&["on", "off"]),
};

/// Parameter: delay that is out of control.
pub(crate) const HIGH_DELAY: Param = Param {
    name: "high_delay",
    unit: "s",
    about: "delay above which every update adds another 2 % to the probability, as in Linux",
    value: Value::Number { default: 0.25, min: 1e-6, max: 1e6 },
};

/// Updates made up for in one call: a queue in which nothing moved for longer, 150 s at the default,
/// is taken as one of 150 s.
const MOST_UPDATES: u64 = 10_000;

/// What all queues of one discipline have in common.
#[derive(Debug)]
pub(crate) struct Rules {
    target: f64,
    half_target: Time,
    update: u64,
    alpha: f64,
    beta: f64,
    burst: u64,
    ecn: bool,
    ecn_max: f64,
    couple: u64,
    derandomize: bool,
    high_delay: f64,
}

impl Rules {
    /// The rules that `options` ask for.
    pub(crate) fn with_options(options: &Options) -> Rules {
        Rules {
            target: options.number("target"),
            half_target: Time(options.time("target").0 / 2),
            update: options.time("update").0,
            alpha: options.number("alpha"),
            beta: options.number("beta"),
            burst: options.time("burst").0,
            ecn: options.choice("ecn") == "on",
            ecn_max: options.number("ecn_max"),
            couple: (2.0 * options.number("mean_packet")) as u64,
            derandomize: options.choice("derandomize") == "on",
            high_delay: options.number("high_delay"),
        }
    }
}

/// Counts the updates that are due, the same for all queues of one discipline.
///
/// Nothing wakes a queue: each call first makes up for the updates since the last one. Between two calls the queue does
/// not change, so they come out as a timer would have made them.
#[derive(Debug)]
pub(crate) struct Clock {
    interval: u64,
    next: u64,
    made: u64,
}

impl Clock {
    /// A clock with the interval of `rules`.
    pub(crate) fn of(rules: &Rules) -> Clock {
        Clock { interval: rules.update, next: rules.update, made: 0 }
    }

    /// Updates due by `now` since the beginning.
    #[inline]
    pub(crate) fn made(&mut self, now: Time) -> u64 {
        if now.0 >= self.next {
            let due = (now.0 - self.next) / self.interval + 1;
            self.made += due;
            self.next = self.next.saturating_add(due.saturating_mul(self.interval));
        }
        self.made
    }
}

/// The drop probability of one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    probability: f64,
    /// Delay of the last packet that left, and its value at the last update.
    delay: Time,
    last_delay: Time,
    /// Burst allowance left, ns.
    burst: u64,
    /// Probability since the last drop or mark, summed.
    accumulated: f64,
    /// Updates made since the beginning.
    made: u64,
}

/// RFC 8033, 4.2: small probabilities move in small steps.
#[inline]
fn scale(probability: f64) -> f64 {
    const BANDS: [(f64, f64); 6] = [
        (0.000_001, 1.0 / 2048.0),
        (0.000_01, 1.0 / 512.0),
        (0.000_1, 1.0 / 128.0),
        (0.001, 1.0 / 32.0),
        (0.01, 1.0 / 8.0),
        (0.1, 1.0 / 2.0),
    ];
    BANDS.iter().find(|&&(below, _)| probability < below).map_or(1.0, |&(_, scale)| scale)
}

impl Control {
    /// A queue that was never congested.
    pub(crate) fn calm(rules: &Rules) -> Control {
        let (delay, last_delay) = (Time::ZERO, Time::ZERO);
        Control { probability: 0.0, delay, last_delay, burst: rules.burst, accumulated: 0.0, made: 0 }
    }

    /// Makes the updates of a queue that was empty, or was not, since the last call: `made` are due by
    /// now since the beginning. Called first by every enqueue and dequeue.
    #[inline]
    pub(crate) fn catch_up(&mut self, rules: &Rules, is_empty: bool, made: u64) {
        if made > self.made {
            self.update_until(rules, is_empty, made);
        }
    }

    #[cold]
    fn update_until(&mut self, rules: &Rules, is_empty: bool, made: u64) {
        let due = made - std::mem::replace(&mut self.made, made);
        // 4.4: the allowance shrinks by T_UPDATE at each update.
        self.burst = self.burst.saturating_sub(due.saturating_mul(rules.update));
        if is_empty {
            // 4.3: the delay goes by the length of the queue, which was zero. No packet that leaves
            // could have told.
            self.delay = Time::ZERO;
        }
        if is_empty && self.probability == 0.0 {
            self.last_delay = Time::ZERO;
            return;
        }
        for _ in 0..due.min(MOST_UPDATES) {
            let before = (self.probability, self.last_delay);
            self.update(rules);
            if before == (self.probability, self.last_delay) {
                // The ones that follow do not change anything either.
                break;
            }
        }
    }

    /// RFC 8033, 4.2 and `calculate_drop_prob` of Appendix A.
    fn update(&mut self, rules: &Rules) {
        let (delay, last_delay) = (self.delay.as_secs_f64(), self.last_delay.as_secs_f64());
        let mut step = rules.alpha * (delay - rules.target) + rules.beta * (delay - last_delay);
        step *= scale(self.probability);
        if self.probability >= 0.1 {
            // 5.5: no more than 2 % at a time.
            step = step.min(0.02);
        }
        if delay > rules.high_delay {
            // Not in RFC 8033: Linux, and RFC 8034 in its own form.
            step += 0.02;
        }
        self.probability += step;
        if self.delay == Time::ZERO && self.last_delay == Time::ZERO {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_delay = self.delay;
    }

    /// Passes a packet that arrives at `bytes` of its queue to `env`, and hands it back, perhaps
    /// marked, when it enters.
    #[inline]
    pub(crate) fn admit(&mut self, rules: &Rules, mut packet: Packet, bytes: u64, env: &mut Env) -> Option<Packet> {
        if env.is_full(packet.len) {
            self.accumulated = 0.0;
            env.refuse(packet, DropReason::Full);
            return None;
        }
        if self.is_drawn(rules, bytes, &mut env.rng) {
            self.accumulated = 0.0;
            // 5.1: marks only while the probability is low.
            if !(rules.ecn && self.probability < rules.ecn_max && env.mark(&mut packet)) {
                env.refuse(packet, DropReason::Early);
                return None;
            }
        }
        env.accept(&packet);
        Some(packet)
    }

    /// RFC 8033, `enque` and `drop_early` of Appendix A.
    #[inline]
    fn is_drawn(&mut self, rules: &Rules, bytes: u64, rng: &mut Stream) -> bool {
        let was_low = self.last_delay < rules.half_target;
        if self.probability == 0.0 && self.delay < rules.half_target && was_low {
            // 4.4: the congestion is over.
            self.burst = rules.burst;
        }
        // 4.1: the link is not to fall idle.
        let is_safe = (was_low && self.probability < 0.2) || bytes <= rules.couple;
        if self.burst > 0 || is_safe {
            return false;
        }
        if rules.derandomize { self.is_due(rng) } else { rng.uniform() < self.probability }
    }

    /// RFC 8033, 5.4.
    fn is_due(&mut self, rng: &mut Stream) -> bool {
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        self.accumulated >= 0.85 && (self.accumulated >= 8.5 || rng.uniform() < self.probability)
    }

    /// A packet leaves that came at `arrival`.
    #[inline]
    pub(crate) fn depart(&mut self, arrival: Time, now: Time) {
        self.delay = now.saturating_sub(arrival);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Discipline as _;
    use crate::disciplines::pie::Pie;
    use crate::spec::Spec;

    static SPEC: Spec = Pie::SPEC;

    const MS: u64 = 1_000_000;

    fn rules(options: &[(&str, &str)]) -> Rules {
        let given: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Rules::with_options(&Options::parse(&SPEC, &given).expect("valid options"))
    }

    /// The probability after one update from `probability` with these delays, ms.
    fn updated(rules: &Rules, probability: f64, delay: u64, last_delay: u64) -> f64 {
        let mut control = Control::calm(rules);
        control.probability = probability;
        (control.delay, control.last_delay) = (Time(delay * MS), Time(last_delay * MS));
        control.update(rules);
        control.probability
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn small_probabilities_move_in_small_steps() {
        // RFC 8033, 4.2: alpha (95 ms - 15 ms) = 0.125 * 0.08 = 0.01, then divided.
        let by = [(5e-7, 2048.0), (1e-6, 512.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0)];
        for (probability, divisor) in by {
            let moved = updated(&rules(&[]), probability, 95, 95);
            assert!(close(moved, probability + 0.01 / divisor), "{probability}: {moved}");
        }
        assert!(close(updated(&rules(&[]), 0.5, 95, 95), 0.51));
    }

    #[test]
    fn the_trend_of_the_delay_counts_with_beta() {
        // 0.125 * (35 ms - 15 ms) + 1.25 * (35 ms - 25 ms) = 0.0025 + 0.0125.
        assert!(close(updated(&rules(&[]), 0.5, 35, 25), 0.515));
        assert!(close(updated(&rules(&[]), 0.5, 25, 35), 0.5 + 0.00125 - 0.0125));
    }

    #[test]
    fn from_ten_percent_the_probability_rises_by_two_at_most() {
        // 5.5; 1.25 * 200 ms = 0.25 and 0.125 * 185 ms more. Below, half of it.
        assert!(close(updated(&rules(&[]), 0.1, 200, 0), 0.12));
        assert!(close(updated(&rules(&[]), 0.09, 200, 0), 0.09 + (0.25 + 0.023_125) / 2.0));
        assert!(close(updated(&rules(&[]), 0.5, 0, 200), 0.5 - 0.25 - 0.001_875), "falls are not capped");
    }

    #[test]
    fn a_delay_out_of_control_adds_two_percent() {
        assert!(close(updated(&rules(&[]), 0.5, 251, 251), 0.5 + 0.02 + 0.02), "beyond the cap");
        assert!(close(updated(&rules(&[]), 0.5, 250, 250), 0.5 + 0.02));
    }

    #[test]
    fn without_delay_the_probability_decays_by_two_percent() {
        assert!(close(updated(&rules(&[]), 0.5, 0, 0), (0.5 - 0.001_875) * 0.98));
        assert!(close(updated(&rules(&[("beta", "0")]), 0.5, 0, 1), 0.5 - 0.001_875), "not yet for two updates");
    }

    #[test]
    fn the_probability_is_one() {
        assert_eq!(updated(&rules(&[]), 0.99, 100, 0), 1.0);
        assert_eq!(updated(&rules(&[]), 0.01, 0, 300), 0.0);
    }

    #[test]
    fn the_burst_allowance_shrinks_by_whole_updates() {
        let left = |burst, until| {
            let rules = rules(&[("burst", burst)]);
            let mut control = Control::calm(&rules);
            control.catch_up(&rules, false, Clock::of(&rules).made(Time(until * MS)));
            control.burst
        };
        assert_eq!([14, 15, 149, 150].map(|until| left("0.15", until)), [150 * MS, 135 * MS, 15 * MS, 0]);
        assert_eq!([149, 150].map(|until| left("0.14", until)), [5 * MS, 0], "rounded up");
    }

    #[test]
    fn updates_made_up_for_at_once_are_those_of_a_timer() {
        let rules = rules(&[("alpha", "3"), ("burst", "1")]);
        let mut rng = Stream::named(1, "timer");
        let (mut lazy, mut timer) = (Control::calm(&rules), Control::calm(&rules));
        let mut clock = Clock::of(&rules);
        let (mut now, mut ticks) = (0, 0);
        for _ in 0..2000 {
            let (is_empty, until) = (rng.bits().is_multiple_of(2), now + rng.bits() % (400 * MS));
            lazy.catch_up(&rules, is_empty, clock.made(Time(until)));
            // What a timer would do, at every multiple of 15 ms.
            while (ticks + 1) * 15 * MS <= until {
                ticks += 1;
                timer.catch_up(&rules, is_empty, ticks);
            }
            now = until;
            let delay = Time(rng.bits() % (60 * MS));
            (lazy.delay, timer.delay) = (delay, delay);
            assert_eq!(format!("{lazy:?}"), format!("{timer:?}"));
        }
    }

    #[test]
    fn an_eternity_is_made_up_for_soon() {
        let rules = rules(&[("update", "0.0001"), ("alpha", "0"), ("beta", "0")]);
        let (mut clock, mut control) = (Clock::of(&rules), Control::calm(&rules));
        control.probability = 1.0;
        control.catch_up(&rules, true, clock.made(Time(u64::MAX)));
        control.catch_up(&rules, true, clock.made(Time(u64::MAX)));
        assert!(control.probability < 1e-80 && control.burst == 0, "{control:?}");
    }
}
