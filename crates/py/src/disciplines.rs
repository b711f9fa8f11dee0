//! The registry of disciplines as Python dictionaries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use qdisc::{Limit, Qdisc, Value};
use units::Stream;

/// One dictionary per discipline, in the order of the registry.
#[pyfunction]
pub fn disciplines(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    for spec in qdisc::disciplines::specs() {
        let row = PyDict::new(py);
        row.set_item("id", spec.id)?;
        row.set_item("family", spec.family.name())?;
        row.set_item("about", spec.about)?;
        row.set_item("source", spec.source)?;
        row.set_item("when_full", spec.when_full)?;
        row.set_item("time_driven", spec.time_driven)?;
        row.set_item("keeps_flow_order", spec.keeps_flow_order)?;
        let params = PyList::empty(py);
        for param in spec.params {
            let entry = PyDict::new(py);
            entry.set_item("name", param.name)?;
            entry.set_item("unit", param.unit)?;
            entry.set_item("about", param.about)?;
            match param.value {
                Value::Number { default, min, max } => {
                    entry.set_item("default", default)?;
                    entry.set_item("min", min)?;
                    entry.set_item("max", max)?;
                }
                Value::Whole { default, min, max } => {
                    entry.set_item("default", default)?;
                    entry.set_item("min", min)?;
                    entry.set_item("max", max)?;
                }
                Value::Numbers { default, min, max, most } => {
                    entry.set_item("default", default.to_vec())?;
                    entry.set_item("min", min)?;
                    entry.set_item("max", max)?;
                    entry.set_item("most", most)?;
                }
                Value::Choice(words) => {
                    entry.set_item("default", words[0])?;
                    entry.set_item("choices", words)?;
                }
            }
            params.append(entry)?;
        }
        row.set_item("params", params)?;
        rows.append(row)?;
    }
    Ok(rows)
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
