//! The engine of `mayfly explore` for its local server.

use std::sync::RwLock;

use explore::{Engine, ExploreError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Workloads at hand, and runs of them; several threads may run at a time.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Explorer(RwLock<Engine>);

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn refused(error: ExploreError) -> PyErr {
    PyValueError::new_err(error.0)
}

/// A thread that panicked left the engine as it was: nothing in it is half done.
fn poisoned<T>(_: T) -> PyErr {
    PyRuntimeError::new_err("the engine stopped in another thread")
}

#[pymethods]
impl Explorer {
    #[new]
    fn make() -> Explorer {
        Explorer::default()
    }

    /// Takes a workload document; returns what it is, JSON.
    ///
    /// # Errors
    /// `ValueError` with one line for a document that makes no run.
    fn load(&self, py: Python<'_>, document: &str) -> PyResult<String> {
        py.detach(|| self.0.write().map_err(poisoned)?.load(document).map_err(refused))
    }

    /// Runs what is asked for, JSON; returns what came of it, JSON.
    ///
    /// # Errors
    /// `ValueError` with one line for a request that makes no run.
    fn run(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        py.detach(|| self.0.read().map_err(poisoned)?.run(request).map_err(refused))
    }
}
