//! The engine of `mayfly explore` for its local server.

use std::sync::RwLock;

use ::explore::{Engine, ExploreError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Workloads at hand, and runs of them; several threads may run at a time.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Explorer(RwLock<Engine>);

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

    /// Takes a capture; `options` is JSON. Returns what it is, JSON.
    ///
    /// # Errors
    /// `ValueError` with one line for no capture, or one without anything to replay.
    fn open(&self, py: Python<'_>, name: &str, capture: &[u8], options: &str) -> PyResult<String> {
        py.detach(|| self.0.write().map_err(poisoned)?.open(name, capture, options).map_err(refused))
    }

    /// Runs what is asked for, JSON; returns what came of it, JSON.
    ///
    /// # Errors
    /// `ValueError` with one line for a request that makes no run.
    fn run(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        py.detach(|| self.0.read().map_err(poisoned)?.run(request).map_err(refused))
    }
}

/// What runs over the same link come to: `questions` is a list of the key `asked` of their outcomes, JSON. Returns the
/// recommendation, JSON; `null` where there is none.
///
/// # Errors
/// `ValueError` with one line for no such list.
#[pyfunction]
pub fn advise(questions: &str) -> PyResult<String> {
    ::explore::advise(questions).map_err(refused)
}
