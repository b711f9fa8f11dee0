//! What users feel, as criteria: each with the change that is noticed.

use std::sync::LazyLock;

use crate::measures::{Better, In, MEASURES, Measure, Noticed};
use crate::recommendation::asked::Row;
use crate::recommendation::words;

/// Durations that differ by less than a fifth are not told apart (Seow 2008, ch. 2).
const NOTICED_RATIO: f64 = 1.2;

/// What one criterion can weigh at most: ten times worse or a thousand times, both are unusable.
const MOST_DOUBLINGS: f64 = 4.0;

/// A wait that is half as bad as one that never ends, s: two disciplines of which the baseline ends nothing still
/// differ by what they take.
const HALF_OF_NEVER_S: f64 = 60.0;

/// Values of which the largest is above the 95th percentile with 95 %: 0.95^59 < 0.05.
const BOUND_A_P95: f64 = 59.0;
/// Values of which one is below the median and one above with 95 %: 2 / 2^6 < 0.05.
const BOUND_A_MEDIAN: f64 = 6.0;

/// A measure by which disciplines are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Criterion {
    pub measure: &'static Measure,
    noticed: Noticed,
}

/// In the order in which a sentence names them.
pub(crate) static CRITERIA: LazyLock<Vec<Criterion>> = LazyLock::new(|| {
    let mut found: Vec<Criterion> =
        MEASURES.iter().filter_map(|measure| Some(Criterion { measure, noticed: measure.noticed? })).collect();
    found.sort_by_key(|one| one.noticed.place);
    found
});

impl Criterion {
    /// Name in a sentence.
    pub fn name(&self) -> &'static str {
        self.noticed.name
    }

    /// The figure of a row, in the unit. A percentile is infinite where it falls on what never ends; `None` where the run
    /// has no such traffic.
    pub fn value(&self, row: &Row) -> Option<f64> {
        let Measure { part, field, .. } = self.measure;
        if part.is_empty() {
            return row.unfinished_share();
        }
        let part = row.part(part)?;
        let never_ends = || (self.is_ratio() && part.count()? > 0.0).then_some(f64::INFINITY);
        part.get(field).or_else(never_ends)
    }

    /// Share of the time that the figure of a row is of, where it is a ping of the busy seconds; `None` of what is over the
    /// whole time.
    pub fn busy_share(&self, row: &Row) -> Option<f64> {
        let part = row.part(self.measure.part)?;
        part.get("busy_share").filter(|_| part.get("while_busy") == Some(1.0))
    }

    /// Whether the figure of a row is a ping over the whole time, as the link is in no second busy.
    pub fn is_calm(&self, row: &Row) -> bool {
        let ping = row.part(self.measure.part).filter(|_| self.measure.part == "ping");
        ping.and_then(|ping| ping.get("while_busy")) == Some(0.0)
    }

    /// Whether the row has enough values to say anything of the percentile: 10 transfers have no 95th percentile.
    pub fn is_bounded(&self, row: &Row) -> bool {
        let least = match self.measure.field.split_once('_') {
            Some(("p95", _)) => BOUND_A_P95,
            Some(("p50", _)) => BOUND_A_MEDIAN,
            _ => return true,
        };
        row.part(self.measure.part).and_then(|part| part.count()).is_none_or(|count| count >= least)
    }

    /// Whether it is a duration, compared by its ratio.
    pub fn is_ratio(&self) -> bool {
        matches!(self.measure.unit, In::S | In::Ms)
    }

    /// How much worse `value` is than `other`, in doublings; negative when it is better.
    ///
    /// A point of MOS counts as a doubling, and so does twice as large a share, from one in a hundred on.
    pub fn worse_by(&self, value: f64, other: f64) -> f64 {
        if value == other {
            return 0.0;
        }
        if self.measure.better == Better::More {
            return other - value;
        }
        if value.is_infinite() {
            return MOST_DOUBLINGS;
        }
        if other.is_infinite() {
            let half = HALF_OF_NEVER_S * if self.measure.unit == In::Ms { 1e3 } else { 1.0 };
            return -MOST_DOUBLINGS * half / (half + value);
        }
        let least = if self.measure.unit == In::Share { self.noticed.change } else { 1e-12 };
        libm::log2((value + least) / (other + least)).clamp(-MOST_DOUBLINGS, MOST_DOUBLINGS)
    }

    /// Whether the two are far enough apart for users to notice.
    pub fn is_noticed(&self, value: f64, other: f64) -> bool {
        if value == other {
            return false;
        }
        if value.is_infinite() || other.is_infinite() {
            return true;
        }
        let apart = (value - other).abs() > self.noticed.change;
        apart && (!self.is_ratio() || value.max(other) > NOTICED_RATIO * value.min(other))
    }

    /// The figure with its unit.
    fn text(&self, value: f64) -> String {
        if value.is_infinite() {
            return "never".to_owned();
        }
        match self.measure.unit {
            In::Mos | In::Mbps => format!("{value:.1}"),
            In::Share => words::percent(value),
            In::Ms => words::time(value / 1e3),
            In::S => words::time(value),
        }
    }

    /// Both figures, the unit once where it is the same: `508 -> 189 ms`.
    pub fn change(&self, before: f64, after: f64) -> String {
        let (first, last) = (self.text(before), self.text(after));
        match first.split_once(' ') {
            Some((number, unit)) if last.ends_with(&format!(" {unit}")) => format!("{number} -> {last}"),
            _ => format!("{first} -> {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recommendation::asked::{Part, Users};

    fn of(id: &str) -> &'static Criterion {
        CRITERIA.iter().find(|criterion| criterion.measure.id == id).expect("it is there")
    }

    #[test]
    fn a_change_has_its_unit_once() {
        assert_eq!(of("short_p95").change(0.508, 0.189), "508 -> 189 ms");
        assert_eq!(of("short_p95").change(1.2, 0.189), "1.20 s -> 189 ms");
        assert_eq!(of("ping_p95").change(f64::INFINITY, 13.3), "never -> 13.3 ms");
        assert_eq!(of("call_mos").change(4.02, 4.39), "4.0 -> 4.4");
        assert_eq!(of("stream_missing").change(0.031, 0.0), "3.1 -> 0.0 %");
    }

    #[test]
    fn a_duration_is_noticed_from_a_fifth_and_its_least_on() {
        let ping = of("ping_p95");
        assert!(ping.is_noticed(61.0, 50.0) && !ping.is_noticed(59.0, 50.0) && !ping.is_noticed(19.0, 10.0));
        assert!(of("stream_missing").is_noticed(0.0, 0.02) && !of("stream_missing").is_noticed(0.0, 0.01));
    }

    #[test]
    fn one_criterion_weighs_four_doublings_at_most() {
        let short = of("short_p95");
        assert_eq!(short.worse_by(100.0, 0.1), 4.0);
        assert!((short.worse_by(60.0, f64::INFINITY) + 2.0).abs() < 1e-12);
        assert!(short.worse_by(4.0, f64::INFINITY) < short.worse_by(40.0, f64::INFINITY));
        assert!((short.worse_by(0.4, 0.1) - 2.0).abs() < 1e-9);
        assert!((of("call_mos").worse_by(3.0, 4.0) - 1.0).abs() < 1e-12);
        // Three in a hundred against one: (0.03 + 0.01) / (0.01 + 0.01).
        assert!((of("unfinished").worse_by(0.03, 0.01) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_longer_wait_is_never_better() {
        let waits = [0.001, 0.1, 1.0, 30.0, 60.0, 480.0, 1e6, f64::INFINITY];
        for criterion in CRITERIA.iter().filter(|criterion| criterion.is_ratio()) {
            for other in waits {
                let worse = waits.map(|value| criterion.worse_by(value, other));
                assert!(worse.is_sorted(), "{} next to {other}: {worse:?}", criterion.measure.id);
            }
        }
    }

    #[test]
    fn few_values_bound_no_percentile() {
        let row =
            |flows| Row { users: Some(Users::from([("long", Part::from([("flows", flows)]))])), ..Row::default() };
        assert!(of("long_p50").is_bounded(&row(6.0)) && !of("long_p50").is_bounded(&row(5.0)));
        assert!(of("long_p95").is_bounded(&row(59.0)) && !of("long_p95").is_bounded(&row(58.0)));
        assert!(of("unfinished").is_bounded(&row(1.0)) && of("short_p95").is_bounded(&row(1.0)));
    }

    #[test]
    fn a_percentile_among_what_never_ends_is_infinite_and_without_traffic_none() {
        let row = |flows| Row {
            users: Some(Users::from([("short", Part::from([("flows", flows)])), ("streams", Part::default())])),
            ..Row::default()
        };
        assert_eq!(of("short_p95").value(&row(3.0)), Some(f64::INFINITY));
        assert_eq!(of("short_p95").value(&row(0.0)), None);
        assert_eq!(of("stream_missing").value(&row(3.0)), None);
    }
}
