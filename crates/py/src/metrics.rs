//! What users feel, measured by the crate `metrics`: for tests that hold it and the package's own figures together.

use ::metrics::{Facts, FactsError, Kind, Mechanism, ProbeName, Ran, Waits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use serde::Serialize;

use crate::simulate::{FlowArrays, refused, run_and_list};
use crate::table::as_json;

/// Runs `flows`, sorted by start, with `settings`, JSON, and measures what users feel with `facts`, JSON, which the run
/// does not know: the key `users` of a summary, as JSON.
///
/// # Errors
/// `ValueError` as [`run`](crate::simulate::run), and for facts that do not fit the flows.
#[pyfunction]
pub fn users_figures(py: Python<'_>, settings: &str, flows: FlowArrays, facts: &str) -> PyResult<String> {
    let facts: Facts = ::settings::read(facts).map_err(refused)?;
    let (run, rows) = run_and_list(py, settings, flows)?;
    let unfit = |error: FactsError| PyValueError::new_err(error.to_string());
    facts.check(&run, &rows).map_err(unfit)?;
    let found = py.detach(|| {
        let output = netsim::run(&run, &rows, &netsim::Control::default()).map_err(refused)?;
        let idle = match facts.probes.first() {
            Some(ProbeName::Ping) => ::metrics::idle_rtt(&run, &rows[0]).map_err(refused)?,
            _ => None,
        };
        let ran = Ran { run: &run, flows: &rows, output: &output, facts: &facts };
        ::metrics::figures(&ran, idle).map_err(unfit)
    });
    as_json(&found?)
}

/// What the queues of a run did.
#[derive(Serialize)]
struct Explained {
    kinds: Vec<Kind>,
    waits: Waits,
    mechanisms: Vec<Mechanism>,
}

/// Runs `flows`, those that `settings` name traced both ways, and says what the queues did to them: kinds of the flows, who waits for whom in
/// the downward queue, and mechanisms, as JSON.
///
/// # Errors
/// As [`users_figures`].
#[pyfunction]
pub fn queues_explained(py: Python<'_>, settings: &str, flows: FlowArrays, facts: &str) -> PyResult<String> {
    let facts: Facts = ::settings::read(facts).map_err(refused)?;
    let (run, rows) = run_and_list(py, settings, flows)?;
    let unfit = |error: FactsError| PyValueError::new_err(error.to_string());
    facts.check(&run, &rows).map_err(unfit)?;
    let found = py.detach(|| {
        let output = netsim::run_both_ways(&run, &rows, &netsim::Control::default()).map_err(refused)?;
        let ran = Ran { run: &run, flows: &rows, output: &output, facts: &facts };
        let kinds = ::metrics::kinds(&ran, &[]).map_err(unfit)?;
        let mechanisms = ::metrics::mechanisms(&ran, &kinds).map_err(unfit)?;
        Ok::<_, PyErr>(Explained { waits: ::metrics::waits(&ran, &kinds, false), kinds, mechanisms })
    });
    as_json(&found?)
}
