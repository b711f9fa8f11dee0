//! Tables as Arrow arrays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow_schema::{ArrowError, Field, Schema};
use tables::{Column, Meaning, Record, Values};

/// The table of `rows`. Every column carries its unit, its meaning and its age as metadata.
///
/// # Errors
/// Arrow refuses the columns.
pub fn batch<R: Record>(rows: &[R]) -> Result<RecordBatch, ArrowError> {
    made(R::columns().iter(), rows)
}

/// The same with some columns alone, by name.
///
/// # Errors
/// As [`batch`].
pub fn batch_of<R: Record>(rows: &[R], names: &[String]) -> Result<RecordBatch, ArrowError> {
    made(R::columns().iter().filter(|column| names.iter().any(|name| *name == column.meaning.name)), rows)
}

fn made<'a, R: Record>(columns: impl Iterator<Item = &'a Column<R>>, rows: &[R]) -> Result<RecordBatch, ArrowError> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.map(|column| told(column, rows)).unzip();
    let version = [("mayfly.table", R::TABLE.to_owned()), ("mayfly.schema", R::VERSION.to_string())];
    let metadata: HashMap<_, _> = version.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    RecordBatch::try_new(schema, arrays)
}

/// A column of `rows`, and what is told of it.
pub(crate) fn told<R: 'static>(column: &Column<R>, rows: &[R]) -> (Field, ArrayRef) {
    let array = array(column.values(rows), column.meaning.nullable);
    (field(&column.meaning, &array), array)
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
