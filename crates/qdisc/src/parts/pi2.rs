//! The law of PI2: a base probability p' that is steered by delay and trend, and squared for classic senders. RFC 9332, Figures
//! 4 and 8, Appendix A.
//!
//! Nothing wakes a queue: each call first makes up for the updates since the last one. Between two calls only the heads grow
//! older, so they come out as a timer would have made them.

use std::collections::VecDeque;

use units::Time;

use crate::packet::Packet;
use crate::spec::{Options, Param, Value};

/// Parameter: delay to steer to.
pub(crate) const TARGET: Param = Param {
    name: "target",
    unit: "s",
    about: "queueing delay to steer the C queue to (target)",
    value: Value::Number { default: 0.015, min: 1e-6, max: 1e3 },
};

/// Parameter: interval of the updates.
pub(crate) const UPDATE: Param = Param {
    name: "update",
    unit: "s",
    about: "interval at which the base probability is updated (Tupdate)",
    value: Value::Number { default: 0.016, min: 1e-4, max: 1e3 },
};

/// Parameter: integral gain.
pub(crate) const ALPHA: Param = Param {
    name: "alpha",
    unit: "1/s",
    about: "change of the base probability by distance from the target (alpha)",
    value: Value::Number { default: 0.16, min: 0.0, max: 1e3 },
};

/// Parameter: proportional gain.
pub(crate) const BETA: Param = Param {
    name: "beta",
    unit: "1/s",
    about: "change of the base probability by trend of the delay (beta)",
    value: Value::Number { default: 3.2, min: 0.0, max: 1e3 },
};

/// Updates made up for in one call: a queue in which nothing moved for longer, 160 s at the default,
/// is taken as one of 160 s.
const MOST_UPDATES: u64 = 10_000;

/// A queue, with what RFC 9332 calls its count.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub(crate) packets: VecDeque<Packet>,
    /// Likelihoods since the last packet that was chosen, summed.
    count: f64,
}

impl Lane {
    /// `recur` of RFC 9332, Figure 4: true with that likelihood, at most 1, evenly spaced.
    pub(crate) fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let recurs = self.count > 1.0;
        self.count -= f64::from(recurs);
        recurs
    }

    /// When the packet to leave next arrived.
    pub(crate) fn head(&self) -> Option<Time> {
        self.packets.front().map(|packet| packet.arrival)
    }
}

/// The base probability.
#[derive(Debug)]
pub(crate) struct Law {
    target: f64,
    update: u64,
    alpha: f64,
    beta: f64,
    /// p', and prevq: the delay at the last update.
    base: f64,
    last_delay: Time,
    next_update: u64,
}

impl Law {
    /// From [`TARGET`], [`UPDATE`], [`ALPHA`] and [`BETA`].
    pub(crate) fn with_options(options: &Options) -> Law {
        let update = options.time(UPDATE.name).0;
        Law {
            target: options.number(TARGET.name),
            update,
            alpha: options.number(ALPHA.name),
            beta: options.number(BETA.name),
            base: 0.0,
            last_delay: Time::ZERO,
            next_update: update,
        }
    }

    /// p'.
    #[inline]
    pub(crate) fn base(&self) -> f64 {
        self.base
    }

    /// Makes the updates due up to `now`; `oldest` tells when the packet came that has waited longest.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, oldest: impl Fn() -> Option<Time>) {
        if now.0 >= self.next_update {
            self.update_until(now, oldest());
        }
    }

    #[cold]
    fn update_until(&mut self, now: Time, oldest: Option<Time>) {
        let delay_at = |instant| oldest.map_or(Time::ZERO, |arrival| Time(instant).saturating_sub(arrival));
        let due = (now.0 - self.next_update) / self.update;
        for n in 0..=due.min(MOST_UPDATES) {
            let delay = delay_at(self.next_update + n * self.update);
            self.step(delay);
            let is_settled = match oldest {
                None => self.base == 0.0,
                Some(_) => self.base == 1.0 && delay.as_secs_f64() >= self.target,
            };
            if is_settled {
                // The updates that follow leave it at the bound.
                break;
            }
        }
        let last = self.next_update + due * self.update;
        self.last_delay = delay_at(last);
        self.next_update = last.saturating_add(self.update);
    }

    /// RFC 9332, Figure 8, lines 3 and 6.
    fn step(&mut self, delay: Time) {
        let (present, last) = (delay.as_secs_f64(), self.last_delay.as_secs_f64());
        let step = self.alpha * (present - self.target) + self.beta * (present - last);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.last_delay = delay;
    }
}

#[cfg(test)]
mod tests {
    use units::Stream;

    use super::*;
    use crate::base::Discipline as _;
    use crate::disciplines::dualpi2::Dualpi2;
    use crate::spec::Spec;

    static SPEC: Spec = Dualpi2::SPEC;

    const MS: u64 = 1_000_000;

    fn law(options: &[(&str, &str)]) -> Law {
        let given: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Law::with_options(&Options::parse(&SPEC, &given).expect("valid options"))
    }

    #[test]
    fn the_base_probability_moves_by_distance_and_trend_of_the_delay() {
        let mut law = law(&[]);
        law.catch_up(Time(32 * MS), || Some(Time::ZERO));
        // RFC 9332, Figure 8: 0.16 (16 - 15) ms + 3.2 (16 - 0) ms, then 0.16 (32 - 15) ms + 3.2 * 16 ms.
        assert!((law.base - (0.000_16 + 0.0512 + 0.002_72 + 0.0512)).abs() < 1e-12, "{}", law.base);
        assert_eq!(law.last_delay, Time(32 * MS));
        law.catch_up(Time(48 * MS), || Some(Time(6 * MS)));
        // The head is 42 ms old: 0.16 * 27 ms + 3.2 * 10 ms.
        assert!((law.base - (0.105_28 + 0.004_32 + 0.032)).abs() < 1e-12, "{}", law.base);
    }

    #[test]
    fn updates_made_up_for_at_once_are_those_of_a_timer() {
        let mut rng = Stream::named(1, "timer");
        let (mut lazy, mut timer) = (law(&[]), law(&[]));
        let (mut now, mut head) = (0, None);
        for n in 0..2000 {
            let until = now + rng.bits() % if n % 10 == 0 { 3000 * MS } else { 60 * MS };
            lazy.catch_up(Time(until), || head);
            (now..=until).step_by(MS as usize).for_each(|at| timer.catch_up(Time(at), || head));
            timer.catch_up(Time(until), || head);
            now = until;
            head = (n % 3 > 0).then_some(Time(now));
            assert_eq!(format!("{lazy:?}"), format!("{timer:?}"));
        }
    }

    #[test]
    fn an_eternity_is_made_up_for_soon() {
        let mut law = law(&[("update", "0.0001"), ("alpha", "0"), ("beta", "0")]);
        law.catch_up(Time(u64::MAX), || Some(Time::ZERO));
        law.catch_up(Time(u64::MAX), || Some(Time::ZERO));
        assert_eq!((law.base, law.next_update), (0.0, u64::MAX));
    }

    #[test]
    fn likelihoods_recur_evenly() {
        let mut lane = Lane::default();
        let recurs: Vec<_> = (1..=14).filter(|_| lane.recur(0.25)).collect();
        // The count has to exceed 1: 1.25 at the fifth.
        assert_eq!(recurs, [5, 9, 13]);
    }
}
