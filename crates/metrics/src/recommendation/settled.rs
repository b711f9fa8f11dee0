//! Whether more resampled hours could change the choice.
//!
//! The hours to come are predicted from those that ran, and the rule is asked about many such futures (stochastic
//! curtailment: Lan, Simon and Halperin 1982). Each look at the hours has its share of the error that is allowed over all
//! looks, so that they need no further correction (Bonferroni; alpha spending with equal shares).

use std::collections::BTreeMap;

use units::Stream;

use crate::recommendation::asked::{Draws, Row};
use crate::recommendation::choice::{self, By};
use crate::recommendation::criteria::CRITERIA;
use crate::recommendation::difference::differences;
use crate::recommendation::may_be_chosen;

/// Hours of the first look. Where a figure is infinite the signs of six hours decide (`LEAST_SIGNS`).
pub const FIRST_LOOK: usize = 6;

/// Hours between two looks.
pub const BETWEEN_LOOKS: usize = 2;

/// Chance that an answer of fewer hours is another than that of all of them, over all looks.
pub const ALL_LOOKS: f64 = 0.05;

/// Futures that are looked at.
const FUTURES: usize = 199;

/// Values of the criteria in an hour, by id; infinite where they fall on what never ends.
pub type Hour = BTreeMap<String, f64>;

/// Whether so many hours are looked at, of `most` at most.
pub fn is_a_look(hours: usize, most: usize) -> bool {
    hours >= FIRST_LOOK && hours < most && (hours - FIRST_LOOK).is_multiple_of(BETWEEN_LOOKS)
}

/// Chance with which one look may stop too early: the same for each look.
pub fn chance_of_a_look(most: usize) -> f64 {
    let looks = (FIRST_LOOK..most).filter(|&hours| is_a_look(hours, most)).count();
    ALL_LOOKS / looks.max(1) as f64
}

/// Whether the answer of all hours is the one of those that ran, but for a chance of [`chance_of_a_look`].
///
/// `rows` are the capture's own runs; `hours` holds for each row the same hours in the same order; `most` is the number of
/// hours when none is left out. `None` where the rule has nothing to choose: hours serve the intervals alone then.
pub fn settled(rows: &[Row], hours: &[Vec<Hour>], most: usize, seed: u64) -> Option<bool> {
    let ran = hours.iter().map(Vec::len).min().unwrap_or(0);
    let candidates = rows.iter().filter(|row| may_be_chosen(row, true)).count();
    if candidates < 2 || ran < 2 {
        return None;
    }
    let figures = Figures::of(rows, hours, ran);
    let mut asked = rows.to_vec();
    figures.put(&mut asked, &[]);
    let now = answer(&asked)?;
    // (others + 1) / (futures + 1) is at most the chance of a look: a Monte Carlo test (Davison and Hinkley 1997, 4.2).
    let bearable = (chance_of_a_look(most) * (FUTURES as f64 + 1.0)) as usize;
    let mut stream = Stream::named(seed, "settled");
    let mut others = 0;
    for _ in 0..FUTURES {
        figures.put(&mut asked, &figures.future(most.saturating_sub(ran), &mut stream));
        others += usize::from(answer(&asked)? != now);
        if others + 1 > bearable {
            return Some(false);
        }
    }
    Some(true)
}

/// What a user acts on: what is chosen, whether the baseline is as good, and whether the choice has a price.
fn answer(rows: &[Row]) -> Option<(usize, bool, bool)> {
    let known: Vec<&Row> = rows.iter().filter(|row| may_be_chosen(row, true)).collect();
    let (at, choice) = (choice::baseline(&known)?, choice::choose(&known, By { single: false, to_use: true })?);
    let costs = differences(known[choice.best], known[at]).iter().any(|one| one.worse_by() > 0.0);
    Some((choice.best, choice.best == at || choice.equal.contains(&at), costs))
}

/// An hour to come: each figure lies around its mean as the deviations of the hours that ran, mixed at random, but further or
/// nearer, and the mean itself is known from so many hours only.
struct Predicted {
    /// The hour that it is like in what figures it has, and which of them never end.
    like: usize,
    /// Weight of the deviations of each hour: standard normal values, so that the sum is normal with the covariances of the
    /// hours that ran; those of the error of the mean, and the wider spread, are in it.
    weights: Vec<f64>,
}

/// One criterion in the hours that have it under all disciplines.
struct Figure {
    id: &'static str,
    /// Values by row, then by hour; `None` in an hour that some discipline lacks.
    values: Vec<Vec<Option<f64>>>,
    /// Whether it varies in proportion: deviations are those of the logarithm.
    in_proportion: bool,
    /// What a value cannot be below or above.
    within: [f64; 2],
    /// Mean of the finite values of a row, scaled.
    means: Vec<f64>,
    /// What each hour of a row deviates by from it; 0 where it has no finite value.
    deviations: Vec<Vec<f64>>,
}

struct Figures {
    hours: usize,
    all: Vec<Figure>,
}

impl Figures {
    fn of(rows: &[Row], hours: &[Vec<Hour>], ran: usize) -> Figures {
        let all = CRITERIA.iter().filter_map(|criterion| {
            let id = criterion.measure.id;
            let of_hour = |hour: usize| -> Vec<Option<f64>> {
                hours.iter().map(|of_row| of_row[hour].get(id).copied()).collect()
            };
            let known: Vec<Option<Vec<f64>>> = (0..ran).map(|hour| of_hour(hour).into_iter().collect()).collect();
            if known.iter().flatten().count() < 2 {
                return None; // counts for nothing
            }
            let values: Vec<Vec<Option<f64>>> =
                (0..rows.len()).map(|row| known.iter().map(|hour| Some(hour.as_ref()?[row])).collect()).collect();
            let in_proportion = criterion.is_ratio() && values.iter().flatten().flatten().all(|&value| value > 0.0);
            let within = match criterion.measure.unit {
                _ if criterion.is_ratio() => [0.0, f64::INFINITY],
                crate::measures::In::Mos => [1.0, 4.5],
                crate::measures::In::Share => [0.0, 1.0],
                _ => [f64::NEG_INFINITY, f64::INFINITY],
            };
            let mut figure = Figure { id, values, in_proportion, within, means: Vec::new(), deviations: Vec::new() };
            figure.means =
                figure.values.iter().map(|row| mean(row.iter().flatten().map(|&one| figure.scaled(one)))).collect();
            let deviation = |value: Option<f64>, mean: f64| {
                value.filter(|one| one.is_finite()).map_or(0.0, |one| figure.scaled(one) - mean)
            };
            figure.deviations = (figure.values.iter().zip(&figure.means))
                .map(|(row, &mean)| row.iter().map(|&value| deviation(value, mean)).collect())
                .collect();
            Some(figure)
        });
        Figures { hours: ran, all: all.collect() }
    }

    /// So many hours to come.
    fn future(&self, more: usize, stream: &mut Stream) -> Vec<Predicted> {
        let ran = self.hours;
        let freedom = (ran - 1) as f64;
        // The spread is known from so many hours only: Student's law in place of the normal one.
        let squares: f64 = (1..ran).map(|_| normal(stream)).map(|one| one * one).sum();
        let spread = (freedom / squares.max(f64::MIN_POSITIVE)).sqrt();
        let mut weights = |by: f64| -> Vec<f64> { (0..ran).map(|_| by * normal(stream)).collect() };
        // Of the mean, which all hours share.
        let shift = weights(spread / (freedom * ran as f64).sqrt());
        let hours: Vec<Vec<f64>> = (0..more).map(|_| weights(spread / freedom.sqrt())).collect();
        let sum = |own: Vec<f64>| own.iter().zip(&shift).map(|(one, two)| one + two).collect();
        hours.into_iter().map(|own| Predicted { like: below(ran, stream), weights: sum(own) }).collect()
    }

    /// Writes the hours that ran and those to come into the rows.
    fn put(&self, rows: &mut [Row], future: &[Predicted]) {
        for (at, row) in rows.iter_mut().enumerate() {
            let draws = row.resampled.get_or_insert_with(Draws::new);
            for figure in &self.all {
                let series = draws.entry(figure.id.to_owned()).or_default();
                series.clear();
                series.extend(figure.values[at].iter().flatten().copied().map(finite));
                series.extend(future.iter().filter_map(|hour| figure.predicted(at, hour)).map(finite));
            }
        }
    }
}

impl Figure {
    fn scaled(&self, value: f64) -> f64 {
        if self.in_proportion { libm::log(value) } else { value }
    }

    /// The value of a row in an hour to come; `None` where the hour that it is like has none.
    fn predicted(&self, row: usize, hour: &Predicted) -> Option<f64> {
        let value = self.values[row][hour.like]?;
        if value.is_infinite() {
            return Some(value);
        }
        let deviations = self.deviations[row].iter().zip(&hour.weights).map(|(one, weight)| one * weight);
        let scaled = self.means[row] + deviations.sum::<f64>();
        let back = if self.in_proportion { libm::exp(scaled) } else { scaled };
        Some(back.clamp(self.within[0], self.within[1]))
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Mean of the finite values; 0 without any.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.filter(|one| one.is_finite()).fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// A place below `count`.
fn below(count: usize, stream: &mut Stream) -> usize {
    ((stream.uniform() * count as f64) as usize).min(count - 1)
}

/// A value of the standard normal law (Box and Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    let (one, two) = (1.0 - stream.uniform(), stream.uniform());
    (-2.0 * libm::log(one)).sqrt() * libm::cos(std::f64::consts::TAU * two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recommendation::asked::{Part, Users};

    const MOST: usize = 16;

    fn row(id: &str, short_s: f64, ping_ms: f64, long_s: f64) -> Row {
        let transfers = |flows: f64, time_s: f64| Part::from([("flows", flows), ("p50_s", time_s), ("p95_s", time_s)]);
        Row {
            id: id.into(),
            label: id.into(),
            flows_completed: Some(100),
            in_kernel: true,
            users: Some(Users::from([
                ("short", transfers(90.0, short_s)),
                ("long", transfers(10.0, long_s)),
                ("ping", Part::from([("probes", 100.0), ("p95_ms", ping_ms)])),
            ])),
            ..Row::default()
        }
    }

    /// Hours of rows whose figures vary by `by`, in doublings, one factor for each figure and hour of each row.
    fn hours(rows: &[Row], count: usize, mut by: impl FnMut() -> f64) -> Vec<Vec<Hour>> {
        let mut of_row = |row: &Row| -> Vec<Hour> {
            let own = crate::recommendation::criteria(row);
            (0..count)
                .map(|_| own.iter().map(|&(id, value)| (id.to_owned(), value * libm::exp2(by()))).collect())
                .collect()
        };
        rows.iter().map(&mut of_row).collect()
    }

    fn cut(hours: &[Vec<Hour>], count: usize) -> Vec<Vec<Hour>> {
        hours.iter().map(|row| row[..count].to_vec()).collect()
    }

    fn answer_after(rows: &[Row], hours: &[Vec<Hour>]) -> Option<(usize, bool, bool)> {
        let mut asked = rows.to_vec();
        Figures::of(rows, hours, hours[0].len()).put(&mut asked, &[]);
        answer(&asked)
    }

    #[test]
    fn looks_are_at_pairs_of_hours_from_the_sixth_on_and_share_the_error() {
        let looks: Vec<usize> = (0..=MOST).filter(|&hours| is_a_look(hours, MOST)).collect();
        assert_eq!(looks, [6, 8, 10, 12, 14]);
        assert!((chance_of_a_look(MOST) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn a_large_and_steady_difference_is_settled_at_the_first_look() {
        let rows = [row("fifo", 0.4, 200.0, 5.0), row("fq_codel", 0.1, 12.0, 5.0)];
        let mut sign = 1.0;
        let steady = hours(&rows, 6, || {
            sign = -sign;
            0.02 * sign
        });
        assert_eq!(settled(&rows, &steady, MOST, 1), Some(true));
    }

    #[test]
    fn a_difference_that_turns_with_the_hour_is_not() {
        let rows = [row("fifo", 0.4, 30.0, 5.0), row("fq_codel", 0.25, 28.0, 5.0)];
        let mut stream = Stream::named(3, "hours");
        let noisy = hours(&rows, 6, || 0.15 * normal(&mut stream));
        assert_eq!(settled(&rows, &noisy, MOST, 1), Some(false));
    }

    #[test]
    fn without_a_choice_nothing_is_settled() {
        let rows = [row("fifo", 0.4, 30.0, 5.0)];
        assert_eq!(settled(&rows, &hours(&rows, 6, || 0.0), MOST, 1), None);
        // A bound is never chosen.
        let rows = [row("fifo", 0.4, 30.0, 5.0), row("srpt", 0.1, 3.0, 5.0)];
        assert_eq!(settled(&rows, &hours(&rows, 6, || 0.0), MOST, 1), None);
    }

    #[test]
    fn an_hour_that_never_ends_is_like_one_to_come() {
        let rows = [row("fifo", 0.4, 200.0, 5.0), row("fq_codel", 0.1, 12.0, 5.0)];
        let mut never = hours(&rows, 6, || 0.0);
        never[0][2].insert("long_p95".to_owned(), f64::INFINITY);
        never[1][4].remove("long_p50");
        let figures = Figures::of(&rows, &never, 6);
        let mut asked = rows.to_vec();
        figures.put(&mut asked, &figures.future(10, &mut Stream::named(1, "futures")));
        let lengths = |id: &str| {
            asked.iter().map(|row| row.resampled.as_ref().expect("they are put")[id].len()).collect::<Vec<_>>()
        };
        assert_eq!(lengths("short_p95"), [16, 16]);
        let known = lengths("long_p50");
        assert!(known[0] == known[1] && (5..16).contains(&known[0]), "{known:?}");
        let infinite = |row: usize| {
            asked[row].resampled.as_ref().expect("they are put")["long_p95"].iter().filter(|one| one.is_none()).count()
        };
        assert!(infinite(0) > 1 && infinite(1) == 0, "{} {}", infinite(0), infinite(1));
    }

    /// Captures in which fq_codel and lfq are anything from worse to better than fifo, each with hours of its own.
    /// How many early answers are another one, how many are early, and how many would be another one after six hours.
    fn another_answer(captures: u64, deviation: fn(&mut Stream) -> f64) -> (usize, usize, usize) {
        let (mut others, mut early, mut at_once) = (0, 0, 0);
        for capture in 0..captures {
            let mut stream = Stream::named(capture, "captures");
            let mut factor = |at_most: f64| libm::exp2(at_most * (2.0 * stream.uniform() - 1.5));
            let rows = [
                row("fifo", 0.4, 100.0, 5.0),
                row("fq_codel", 0.4 * factor(1.0), 100.0 * factor(1.0), 5.0 * factor(0.5)),
                row("lfq", 0.4 * factor(1.0), 100.0 * factor(1.0), 5.0 * factor(0.5)),
            ];
            let size = 0.02 + 0.4 * stream.uniform();
            let all = hours(&rows, MOST, || size * deviation(&mut stream));
            let stopped =
                (6..MOST).step_by(2).find(|&ran| settled(&rows, &cut(&all, ran), MOST, capture) == Some(true));
            let is_other = |ran| usize::from(answer_after(&rows, &cut(&all, ran)) != answer_after(&rows, &all));
            if let Some(ran) = stopped {
                early += 1;
                others += is_other(ran);
            }
            at_once += is_other(FIRST_LOOK);
        }
        (others, early, at_once)
    }

    #[test]
    fn an_early_answer_is_that_of_all_hours_but_for_the_stated_chance() {
        // Normal deviations, and those with one long side.
        let skewed = |stream: &mut Stream| -libm::log(1.0 - stream.uniform()) - 1.0;
        for deviation in [normal as fn(&mut Stream) -> f64, skewed] {
            let (others, early, at_once) = another_answer(60, deviation);
            assert!(early > 20, "{early}");
            // 60 captures with the stated chance have at most 6 in 97 of 100 cases (binomial law); without a look at what is to
            // come there are more.
            assert!(others <= 6 && at_once > 6, "{others} of {early}, {at_once} without looking");
        }
    }
}
