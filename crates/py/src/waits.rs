//! Waiting times as columns.

use netsim::Waits;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{floats, integers};

/// Number, mean, standard deviation and maximum of each; NaN means there are none.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    waits: impl Iterator<Item = Waits> + Clone,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("packets", integers(py, waits.clone().map(|each| each.packets)))?;
    columns.set_item("mean_s", floats(py, waits.clone().map(|each| each.mean_s())))?;
    columns.set_item("deviation_s", floats(py, waits.clone().map(|each| each.deviation_s())))?;
    columns.set_item("max_s", floats(py, waits.map(|each| each.max_s())))?;
    Ok(columns)
}
