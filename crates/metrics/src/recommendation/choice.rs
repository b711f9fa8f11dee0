//! Which discipline is chosen.

use qdisc::RunsOn;

use crate::recommendation::asked::{Place, Row};
use crate::recommendation::difference::{Difference, differences};

/// Doublings by which a module has to do better than what the kernel has where there is a single run of each.
///
/// With one run every difference of a fifth counts, a quarter of a doubling in each criterion, and chance makes some.
const MODULE_OF_ONE_RUN: f64 = 1.0;

/// The same with resampled hours or several runs: twice the least that counts, as one in three comparisons of seven
/// criteria at 95 % has a difference that counts by chance.
const MODULE_OF_SEVERAL: f64 = 0.5;

/// Doublings by which a discipline of Linux has to do better than fq_codel: less than the least difference that counts, 0.2 of
/// a MOS, so that it decides between those that are as good.
const NO_DEFAULT: f64 = 0.15;

/// The same of a module where only the fastest is asked for.
const MODULE_OF_A_WORKLOAD: f64 = 2.0 * NO_DEFAULT;

/// Disciplines of Linux by what they ask of an administrator; fq_codel is the default of most distributions.
const SIMPLE: [&str; 5] = ["fifo", "fq_codel", "codel", "pie", "cake"];

/// What Linux and its distributions take without being asked.
const DEFAULTS: [&str; 2] = ["fifo", "fq_codel"];

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
    /// Those that do better by less than they have to: modules, and what Linux does not take without being asked.
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
/// Each discipline has one number: its gain over the baseline, less what it asks of an administrator. The largest number
/// wins. So the answer to a longer list is the old one or one of those that were added. Comparisons of pairs need not be
/// transitive, and no rule that goes by them has that property.
pub(crate) fn choose(rows: &[&Row], by: By) -> Option<Choice> {
    let at = baseline(rows)?;
    let found: Vec<Vec<Difference>> = rows.iter().map(|row| differences(row, rows[at])).collect();
    let gains: Vec<f64> = found.iter().map(|found| gain(found, false)).collect();
    // What is there asks for nothing.
    let asks = |place: usize| if place == at { 0.0 } else { handicap(rows[place], by) };
    let worth: Vec<f64> =
        (0..rows.len()).map(|place| gain(&found[place], is_module(rows[place]) && by.to_use) - asks(place)).collect();
    let best = (0..rows.len()).min_by(|&one, &two| {
        worth[two].total_cmp(&worth[one]).then_with(|| simplicity(rows[one]).cmp(&simplicity(rows[two])))
    })?;
    let others = || (0..rows.len()).filter(|&at| at != best);
    let alike = |at: &usize| !differences(rows[*at], rows[best]).iter().any(Difference::counts);
    let too_little = |at: &usize| asks(*at) > asks(best) && gains[*at] > gains[best] && !alike(at);
    Some(Choice { best, equal: others().filter(alike).collect(), near: others().filter(too_little).collect() })
}

/// The place of the discipline to choose among rows with their differences from what is there, by the same number. `None`
/// without any.
pub(crate) fn best(all: &[(&Row, Vec<Difference>)], by: By) -> Option<usize> {
    let worth: Vec<f64> =
        all.iter().map(|(row, found)| gain(found, is_module(row) && by.to_use) - handicap(row, by)).collect();
    (0..all.len()).min_by(|&one, &two| {
        worth[two].total_cmp(&worth[one]).then_with(|| simplicity(all[one].0).cmp(&simplicity(all[two].0)))
    })
}

/// Places of rows in the order in which they are preferred where they are as good.
pub(crate) fn by_simplicity(rows: &[&Row]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by(|&one, &two| simplicity(rows[one]).cmp(&simplicity(rows[two])));
    places
}

fn is_module(row: &Row) -> bool {
    row.place() != Some(Place::Kernel)
}

/// Doublings by which a discipline is better than the baseline, of the differences from it that are more than chance.
/// `bounded` leaves out what percentiles of too few values gain, and leaves in what they cost.
fn gain(found: &[Difference], bounded: bool) -> f64 {
    let worse = |one: &Difference| {
        let worse_by = one.least_worse_by();
        if bounded && one.is_of_too_few() { worse_by.max(0.0) } else { worse_by }
    };
    // Without the sign of an empty sum.
    0.0 - found.iter().map(worse).sum::<f64>()
}

/// Doublings that a discipline has to gain more than what Linux takes without being asked.
fn handicap(row: &Row, by: By) -> f64 {
    match (is_module(row), by.to_use, by.single) {
        (true, true, true) => MODULE_OF_ONE_RUN,
        (true, true, false) => MODULE_OF_SEVERAL,
        (true, false, _) => MODULE_OF_A_WORKLOAD,
        _ if DEFAULTS.contains(&row.id.as_str()) => 0.0,
        _ => NO_DEFAULT,
    }
}

/// In Linux before a module, then the simplest; options cost a decision more.
fn simplicity(row: &Row) -> (Option<Place>, usize, usize) {
    let simple = SIMPLE.iter().position(|&id| id == row.id).unwrap_or(SIMPLE.len());
    (row.place(), simple, row.options.len())
}
