//! Tables that cross to Python by the Arrow C data interface.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringViewArray,
};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tables::{Meaning, Record, Values};

/// A table that knows its columns; `polars.DataFrame` takes it, as all that speak the Arrow C data interface do.
#[pyclass(frozen)]
pub struct Table(RecordBatch);

impl Table {
    /// The table of `rows`. Every column carries its unit, its meaning and its age as metadata.
    ///
    /// # Errors
    /// `RuntimeError` when arrow refuses the columns.
    pub(crate) fn of<R: Record>(rows: &[R]) -> PyResult<Table> {
        let columns = R::columns();
        let (fields, arrays): (Vec<_>, Vec<_>) = columns
            .iter()
            .map(|column| {
                let array = array(column.values(rows), column.meaning.nullable);
                (field(&column.meaning, &array), array)
            })
            .unzip();
        let version = [("mayfly.table", R::TABLE.to_owned()), ("mayfly.schema", R::VERSION.to_string())];
        let metadata: HashMap<_, _> = version.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        RecordBatch::try_new(schema, arrays).map(Table).map_err(failed)
    }
}

impl Table {
    /// Its columns.
    pub(crate) fn batch(self) -> RecordBatch {
        self.0
    }
}

fn failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn field(meaning: &Meaning, array: &ArrayRef) -> Field {
    let told = [("unit", meaning.unit.to_owned()), ("meaning", meaning.meaning.to_string())];
    let since = ("since", meaning.since.to_string());
    let metadata: HashMap<_, _> = told.into_iter().chain([since]).map(|(key, value)| (key.to_owned(), value)).collect();
    Field::new(meaning.name.clone(), array.data_type().clone(), meaning.nullable).with_metadata(metadata)
}

fn array(values: Values, nullable: bool) -> ArrayRef {
    match values {
        Values::Int64(values) => Arc::new(Int64Array::from(values)),
        Values::Int64OrNull(values) => Arc::new(Int64Array::from(values)),
        Values::Float64(values) => {
            let nulls = nullable.then(|| values.iter().map(|value| !value.is_nan()).collect());
            Arc::new(Float64Array::new(values.into(), nulls))
        }
        Values::Bool(values) => Arc::new(BooleanArray::from(values)),
        Values::Words(values) => Arc::new(StringViewArray::from_iter(values)),
        Values::Text(values) => Arc::new(StringViewArray::from_iter_values(values)),
        Values::SetBits(masks) => {
            let mut lists = ListBuilder::new(Int64Builder::new());
            for mask in masks {
                for bit in (0..64).filter(|bit| mask >> bit & 1 == 1) {
                    lists.values().append_value(bit);
                }
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
    }
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
