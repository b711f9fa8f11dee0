//! Who suffers, measured by the crate `metrics`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::observed::{FactArrays, Observed, unfit};
use crate::simulate::{Flows, refused, run_and_list};
use crate::table::as_json;

/// The `most` exchanges of the run `before` that were delayed most, and what they take in the run `after` of the same
/// `flows`: [`metrics::Delayed`] as JSON. Connections that may be among them run alone once more.
///
/// # Errors
/// `ValueError` as [`run`](crate::simulate::run), and for facts that do not fit the flows.
#[pyfunction]
pub fn worst_exchanges(
    py: Python<'_>,
    settings: &str,
    flows: Flows,
    facts: FactArrays,
    before: PyRef<'_, Observed>,
    after: PyRef<'_, Observed>,
    most: usize,
) -> PyResult<String> {
    let (run, list) = run_and_list(py, settings, flows)?;
    let facts = facts.facts(py)?;
    if list.flows.len() < facts.before() {
        return Err(PyValueError::new_err("facts: probes: must be at most the flows"));
    }
    facts.check(&run, &list.flows).map_err(unfit)?;
    let (before, after) = (&before.0, &after.0);
    as_json(&py.detach(|| ::metrics::worst(&run, &list.flows, &facts, [before, after], most)).map_err(refused)?)
}

/// A run in bins up to `until_s`, seconds: [`metrics::OverTime`] as JSON; `null` of a link that varies.
///
/// # Errors
/// `RuntimeError` when it cannot be written as JSON.
#[pyfunction]
pub fn over_time(observed: PyRef<'_, Observed>, until_s: f64) -> PyResult<String> {
    as_json(&observed.0.over_time(until_s))
}
