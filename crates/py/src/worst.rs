//! Who suffers, measured by the crate `metrics`.

use ::metrics::Chosen;
use ::settings::Settings;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::observed::Observed;
use crate::simulate::{Flows, refused, run_and_list};
use crate::table::as_json;

/// Rows of the flows, ascending, of which [`worst_exchanges`] looks for the `most` delayed exchanges of the run `before`,
/// whose settings are JSON.
///
/// # Errors
/// `ValueError` with one line for settings that are not taken.
#[pyfunction]
pub fn likely_rows(py: Python<'_>, settings: &str, before: PyRef<'_, Observed>, most: usize) -> PyResult<Vec<u32>> {
    let run = ::settings::read::<Settings>(settings).map_err(refused)?.into_run().map_err(refused)?;
    let before = &before.0;
    Ok(py.detach(|| ::metrics::likely(&run, before, most)))
}

/// The `most` exchanges of the run `before` that were delayed most, and what they take in the run `after` of the same list:
/// [`metrics::Delayed`] as JSON. `flows` are those of [`likely_rows`], whose `rows` in the list these are; the first
/// `probes` of the list are no workload. Connections that may be among the delayed run alone once more.
///
/// # Errors
/// `ValueError` as [`run`](crate::simulate::run), and for flows that are not as many as their rows.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn worst_exchanges(
    py: Python<'_>,
    settings: &str,
    flows: Flows,
    rows: Vec<u32>,
    probes: usize,
    before: PyRef<'_, Observed>,
    after: PyRef<'_, Observed>,
    most: usize,
) -> PyResult<String> {
    let (run, list) = run_and_list(py, settings, flows)?;
    if list.flows.len() != rows.len() || rows.first().is_some_and(|&row| (row as usize) < probes) {
        return Err(PyValueError::new_err("rows: must be those of the flows, behind the probes"));
    }
    let chosen = Chosen { rows: &rows, flows: &list.flows };
    let (before, after) = (&before.0, &after.0);
    as_json(&py.detach(|| ::metrics::worst(&run, chosen, probes, [before, after], most)).map_err(refused)?)
}

/// A run in bins up to `until_s`, seconds: [`metrics::OverTime`] as JSON; `null` of a link that varies.
///
/// # Errors
/// `RuntimeError` when it cannot be written as JSON.
#[pyfunction]
pub fn over_time(observed: PyRef<'_, Observed>, until_s: f64) -> PyResult<String> {
    as_json(&observed.0.over_time(until_s))
}
