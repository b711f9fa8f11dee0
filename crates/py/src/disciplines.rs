//! The registry of disciplines.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use qdisc::{Limit, Qdisc};
use units::Stream;

use crate::table::as_json;

/// The disciplines in the order of the registry, as JSON.
///
/// # Errors
/// `RuntimeError` when they cannot be written as JSON.
#[pyfunction]
pub fn disciplines() -> PyResult<String> {
    as_json(&qdisc::disciplines::specs().iter().collect::<Vec<_>>())
}

/// Checks a discipline and its options without running anything.
///
/// # Errors
/// `ValueError` with one line for an unknown id, an unknown option or a value out of its bounds.
#[pyfunction]
pub fn check_discipline(id: &str, options: Vec<(String, String)>) -> PyResult<()> {
    Qdisc::from_options(id, &options, Limit::Packets(1), Stream::named(0, "check"))
        .map(|_| ())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
