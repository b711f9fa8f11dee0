//! One criterion of one discipline next to that of another, on the same runs.

use crate::recommendation::asked::Row;
use crate::recommendation::criteria::{CRITERIA, Criterion};
use crate::recommendation::words;
use crate::resampling::{Varies, hour_ci95};

/// Runs that have to agree for their sign to be no chance: 2 / 2^6 < 0.05.
const LEAST_SIGNS: usize = 6;

/// One criterion of two disciplines.
pub(crate) struct Difference {
    criterion: Criterion,
    value: f64,
    other: f64,
    /// 95 % interval of `value / other`, or of `value - other` for MOS and shares.
    ci95: Option<[f64; 2]>,
    /// The least different `value` that the interval holds; `value` where there is none.
    least: f64,
    /// Whether it is more than chance; `None` when nothing can tell, as there was one run only.
    sure: Option<bool>,
    /// Whether both have enough values for the percentile.
    bounded: bool,
    /// Share of the time that the other figure is of, where it is of the busy seconds.
    busy_share: Option<f64>,
    /// Whether it is a ping over the whole time, as the link is in no second busy.
    calm: bool,
}

impl Difference {
    /// `None` where one of the two has no such figure.
    fn of(criterion: Criterion, row: &Row, other: &Row) -> Option<Difference> {
        let (value, reference) = (criterion.value(row)?, criterion.value(other)?);
        let ((draws, runs), (others, _)) = (draws(&criterion, row), draws(&criterion, other));
        let bounded = criterion.is_bounded(row) && criterion.is_bounded(other);
        let (busy_share, calm) = (criterion.busy_share(other), criterion.is_calm(other));
        let made = |ci95, least, sure| {
            Some(Difference { criterion, value, other: reference, ci95, least, sure, bounded, busy_share, calm })
        };
        if draws.len() < 2 || draws.len() != others.len() {
            // Where other criteria have values of hours, one that too few of them have may be chance.
            return made(None, value, has_draws(row).then_some(false));
        }
        let pairs = || draws.iter().copied().zip(others.iter().copied());
        let all = || [value, reference].into_iter().chain(draws.iter().copied()).chain(others.iter().copied());
        if all().all(f64::is_finite) {
            let in_proportion = criterion.is_ratio() && all().all(|one| one > 0.0);
            let (interval, neutral) = if in_proportion {
                let ratios: Vec<f64> = pairs().map(|(one, two)| one / two).collect();
                (hour_ci95(value / reference, &ratios, Varies::InProportion, runs), 1.0)
            } else {
                let apart: Vec<f64> = pairs().map(|(one, two)| one - two).collect();
                (hour_ci95(value - reference, &apart, Varies::ByDifference, runs), 0.0)
            };
            if let Some([low, high]) = interval {
                let nearest = f64::min(f64::max(neutral, low), high);
                let least = if in_proportion { reference * nearest } else { reference + nearest };
                return made(Some([low, high]), least, Some(nearest != neutral));
            }
        }
        // Where some never finish there is no interval: all hours that differ must agree with the run, and be enough.
        let worse = criterion.worse_by(value, reference) > 0.0;
        let signs: Vec<bool> = pairs()
            .filter(|(one, two)| one != two)
            .map(|(one, two)| (criterion.worse_by(one, two) > 0.0) == worse)
            .collect();
        made(None, value, Some(signs.len() >= LEAST_SIGNS && signs.iter().all(|&agrees| agrees)))
    }

    /// The same criterion of two rows of one run each, with the spread from hour to hour that it has here: the interval of the
    /// difference is moved to that of the two rows.
    fn moved_to(&self, value: f64, other: f64) -> Difference {
        let made = |least, sure| Difference { value, other, ci95: None, least, sure, ..*self };
        let in_proportion = self.criterion.is_ratio();
        let known = [value, other, self.value, self.other];
        let movable = known.iter().all(|&one| one.is_finite() && (!in_proportion || one > 0.0));
        let Some([low, high]) = self.ci95.filter(|_| movable) else { return made(value, self.sure) };
        let (ends, neutral) = if in_proportion {
            let by = (value / other) / (self.value / self.other);
            ([low * by, high * by], 1.0)
        } else {
            let by = (value - other) - (self.value - self.other);
            ([low + by, high + by], 0.0)
        };
        let nearest = f64::min(f64::max(neutral, ends[0]), ends[1]);
        made(if in_proportion { other * nearest } else { other + nearest }, Some(nearest != neutral))
    }

    /// Whether it is noticed and, as far as can be told, no chance.
    pub fn counts(&self) -> bool {
        self.sure != Some(false) && self.criterion.is_noticed(self.value, self.other)
    }

    /// Whether users would notice that `value` is worse, be it by chance or not.
    pub fn is_noticed_as_worse(&self) -> bool {
        let Difference { criterion, value, other, .. } = *self;
        criterion.is_noticed(value, other) && criterion.worse_by(value, other) > 0.0
    }

    /// Whether users would notice that `value` is better, be it by chance or not.
    pub fn is_noticed_as_better(&self) -> bool {
        let Difference { criterion, value, other, .. } = *self;
        criterion.is_noticed(value, other) && criterion.worse_by(value, other) < 0.0
    }

    /// Doublings by which `value` is worse than `other`; 0 where the difference does not count.
    pub fn worse_by(&self) -> f64 {
        if self.counts() { self.criterion.worse_by(self.value, self.other) } else { 0.0 }
    }

    /// Doublings by which `value` is worse at least: those of the end of the interval that is nearest to no difference, so
    /// that one which is just more than chance weighs next to nothing. Where there was one run only, those of the value.
    pub fn least_worse_by(&self) -> f64 {
        if self.counts() { self.criterion.worse_by(self.least, self.other) } else { 0.0 }
    }

    /// Whether one run has too few values for the percentile.
    pub fn is_of_too_few(&self) -> bool {
        self.sure.is_none() && !self.bounded
    }

    /// Name and figures, the interval of the change where there is one.
    pub fn text(&self) -> String {
        let when = self.busy_share.map_or(String::new(), |share| format!(" ({} of the time)", words::share(share)));
        // Of a link that is in no second busy it is no ping under load.
        let name = if self.calm { "ping over the whole time" } else { self.criterion.name() };
        let text = format!("{name}{when} {}", self.criterion.change(self.other, self.value));
        match self.ci95 {
            Some(ends) if self.criterion.is_ratio() => {
                let [low, high] = ends.map(|end| 100.0 * (end - 1.0));
                format!("{text} [{low:+.0}, {high:+.0} %]")
            }
            _ => text,
        }
    }
}

/// Differences of a row from another in all criteria that both have.
pub(crate) fn differences(row: &Row, other: &Row) -> Vec<Difference> {
    CRITERIA.iter().filter_map(|&criterion| Difference::of(criterion, row, other)).collect()
}

/// Differences of a row of one run from another of one run, each with its discipline at the link, whose hours say what is
/// chance.
pub(crate) fn moved_differences((row, at_link): (&Row, &Row), (other, other_at_link): (&Row, &Row)) -> Vec<Difference> {
    let moved = |criterion: Criterion| {
        let found = Difference::of(criterion, at_link, other_at_link)?;
        Some(found.moved_to(criterion.value(row)?, criterion.value(other)?))
    };
    CRITERIA.iter().filter_map(|&criterion| moved(criterion)).collect()
}

/// Whether a row has values of other runs, of whatever criterion.
fn has_draws(row: &Row) -> bool {
    [&row.resampled, &row.replicated].into_iter().flatten().any(|draws| !draws.is_empty())
}

/// Values of the other runs, and how many runs the row's own figure is of.
///
/// Resampled hours stand next to the capture's own run; replications are themselves what the row is made of.
fn draws(criterion: &Criterion, row: &Row) -> (Vec<f64>, usize) {
    let hours = row.resampled.as_ref().filter(|draws| !draws.is_empty());
    let given = hours.or(row.replicated.as_ref()).and_then(|draws| draws.get(criterion.measure.id));
    let found: Vec<f64> = given.into_iter().flatten().map(|value| value.unwrap_or(f64::INFINITY)).collect();
    let runs = if hours.is_some() { 1 } else { found.len().max(1) };
    (found, runs)
}
