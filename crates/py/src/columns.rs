//! Columns as bytes: little-endian 64-bit numbers.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// As `uint64`.
pub(crate) fn integers<'py>(py: Python<'py>, values: impl Iterator<Item = u64>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

/// As `float64`.
pub(crate) fn floats<'py>(py: Python<'py>, values: impl Iterator<Item = f64>) -> Bound<'py, PyBytes> {
    integers(py, values.map(f64::to_bits))
}
