//! Which discipline is chosen.

use qdisc::RunsOn;

use crate::recommendation::asked::{Place, Row};
use crate::recommendation::difference::differences;

/// Doublings by which a module has to do better than what the kernel has where nothing but a single run tells.
///
/// With one run every difference of a fifth counts, a quarter of a doubling in each criterion, and chance makes some.
const MODULE_OF_ONE_RUN: f64 = 1.0;

/// The same with resampled hours or several runs: twice the least that counts, as one in three comparisons of seven
/// criteria at 95 % has a difference that counts by chance.
const MODULE_OF_SEVERAL: f64 = 0.5;

/// Disciplines of Linux by what they ask of an administrator; fq_codel is the default of most distributions.
const SIMPLE: [&str; 5] = ["fifo", "fq_codel", "codel", "pie", "cake"];

/// Disciplines that remember every flow: bounds of what others can reach, and no candidates
/// (`docs/how-to/choose.md`).
const REMEMBER_EVERY_FLOW: [&str; 3] = ["las", "lasack", "lars"];

/// What is chosen, as places in the rows that were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The chosen one.
    pub best: usize,
    /// Those that do not differ from it in anything that counts.
    pub equal: Vec<usize>,
    /// Modules that do better by less than a module has to.
    pub near: Vec<usize>,
}

/// By what the choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct By {
    /// A single run of each discipline.
    pub single: bool,
    /// What to use, not only what is fastest.
    pub to_use: bool,
}

/// Whether a row is a bound of what others can reach, which no link should depend on.
pub(crate) fn is_bound(row: &Row) -> bool {
    REMEMBER_EVERY_FLOW.contains(&row.id.as_str()) || matches!(row.runs_on(), Some(RunsOn::Bound))
}

/// The place of the discipline that the others are compared with: fifo where there is one, else the first.
pub(crate) fn baseline(rows: &[&Row]) -> Option<usize> {
    rows.iter().position(|row| row.id == "fifo").or((!rows.is_empty()).then_some(0))
}

/// The discipline to choose of rows that can be switched on; `None` without any.
///
/// From the simplest on, each takes the place of the one before it if it is better, all criteria taken together. So only
/// the two that are compared decide which of them is better, and not a third.
pub(crate) fn choose(rows: &[&Row], by: By) -> Option<Choice> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&at| simplicity(rows[at]));
    let mut best = *order.first()?;
    for &at in &order[1..] {
        let (gain, wanted) = gain_and_wanted(rows[at], rows[best], by);
        if gain > 0.0 && gain >= wanted {
            best = at;
        }
    }
    let others = || (0..rows.len()).filter(|&at| at != best);
    let alike = |at: &usize| !differences(rows[*at], rows[best]).iter().any(|one| one.counts());
    // Of those that make no difference the simplest, which may have lost to one that is not chosen either.
    let simplest = others().filter(alike).min_by_key(|&at| simplicity(rows[at]));
    if let Some(at) = simplest.filter(|&at| simplicity(rows[at]) < simplicity(rows[best])) {
        best = at;
    }
    let others = || (0..rows.len()).filter(|&at| at != best);
    let alike = |at: &usize| !differences(rows[*at], rows[best]).iter().any(|one| one.counts());
    let near = others().filter(|&at| {
        let (gain, wanted) = gain_and_wanted(rows[at], rows[best], by);
        (gain > 0.0 || net_worse(rows[at], rows[best]) < 0.0) && gain < wanted
    });
    Some(Choice { best, equal: others().filter(alike).collect(), near: near.collect() })
}

/// Doublings by which a discipline is worse than another over all criteria in which they differ by more than chance.
fn net_worse(row: &Row, other: &Row) -> f64 {
    differences(row, other).iter().map(|one| one.worse_by()).sum()
}

/// Doublings by which a discipline is better than another, and by which it has to be to take its place.
fn gain_and_wanted(row: &Row, other: &Row, by: By) -> (f64, f64) {
    let needs_module = row.place() > Some(Place::Kernel) && other.place() == Some(Place::Kernel);
    if !(needs_module && by.to_use) {
        return (-net_worse(row, other), 0.0);
    }
    let gain = -differences(row, other).iter().map(|one| one.surely_worse_by()).sum::<f64>();
    (gain, if by.single { MODULE_OF_ONE_RUN } else { MODULE_OF_SEVERAL })
}

/// In Linux before a module, then the simplest; options cost a decision more.
fn simplicity(row: &Row) -> (Option<Place>, usize, usize) {
    let simple = SIMPLE.iter().position(|&id| id == row.id).unwrap_or(SIMPLE.len());
    (row.place(), simple, row.options.len())
}
