//! Tables that cross to Python by the Arrow C data interface.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tables::Record;

/// A table that knows its columns; `polars.DataFrame` takes it, as all that speak the Arrow C data interface do.
#[pyclass(frozen)]
pub struct Table(RecordBatch);

impl Table {
    /// The table of `rows`. Every column carries its unit, its meaning and its age as metadata.
    ///
    /// # Errors
    /// `RuntimeError` when arrow refuses the columns.
    pub(crate) fn of<R: Record>(rows: &[R]) -> PyResult<Table> {
        runs::batch(rows).map(Table).map_err(failed)
    }
}

impl Table {
    /// The same of some columns alone, by name.
    ///
    /// # Errors
    /// As [`Table::of`].
    pub(crate) fn of_columns<R: Record>(rows: &[R], names: &[String]) -> PyResult<Table> {
        runs::batch_of(rows, names).map(Table).map_err(failed)
    }

    /// Its columns.
    pub(crate) fn batch(self) -> RecordBatch {
        self.0
    }
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Table(batch)
    }
}

fn failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// The table as a stream of one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts by itself: the table has one schema.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

/// `value` as JSON.
///
/// # Errors
/// `RuntimeError` when it cannot be written as JSON.
pub(crate) fn as_json(value: &(impl serde::Serialize + ?Sized)) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
