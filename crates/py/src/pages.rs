//! Tables as pages of a file: what the system takes back when it needs memory, and reads again when it is asked for.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;
use memmap2::Mmap;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::flow_data::batches;

/// Buffers begin at multiples of this, as Arrow recommends.
const ALIGNMENT: usize = 64;

/// Parts of a table whose values are pages of a file.
#[pyclass(frozen)]
pub struct Pages {
    parts: Vec<RecordBatch>,
    schema: SchemaRef,
}

#[pymethods]
impl Pages {
    /// Writes the values of a table to a new file at `path`, which may be removed as soon as this is made.
    ///
    /// # Errors
    /// `OSError` when the file cannot be written; `TypeError` for what is no table with rows.
    #[new]
    fn new(py: Python<'_>, table: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<Pages> {
        let given = batches(table)?;
        let schema = given.first().map(RecordBatch::schema).ok_or_else(|| crate::flow_data::other("no rows"))?;
        let parts = py.detach(|| paged(&given, &path)).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Pages { parts, schema })
    }

    /// The table as a stream of its parts.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts by itself: the table has one schema.
        drop(requested_schema);
        let parts: Vec<Result<RecordBatch, ArrowError>> = self.parts.iter().cloned().map(Ok).collect();
        let parts = RecordBatchIterator::new(parts, SchemaRef::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(parts)), c"arrow_array_stream")
    }
}

/// A file that buffers are written to, one behind the other.
struct Written {
    out: BufWriter<File>,
    bytes: usize,
    /// Begin and length of each buffer.
    places: Vec<(usize, usize)>,
}

impl Written {
    fn buffer(&mut self, values: &[u8]) -> io::Result<()> {
        let begin = self.bytes.next_multiple_of(ALIGNMENT);
        self.out.write_all(&[0; ALIGNMENT][..begin - self.bytes])?;
        self.out.write_all(values)?;
        self.places.push((begin, values.len()));
        self.bytes = begin + values.len();
        Ok(())
    }

    fn array(&mut self, data: &ArrayData) -> io::Result<()> {
        if let Some(nulls) = data.nulls() {
            self.buffer(nulls.buffer())?;
        }
        data.buffers().iter().try_for_each(|buffer| self.buffer(buffer))?;
        data.child_data().iter().try_for_each(|child| self.array(child))
    }
}

/// Buffers of a mapped file, in the order in which they were written.
struct Mapped {
    file: Arc<Mmap>,
    places: std::vec::IntoIter<(usize, usize)>,
}

impl Mapped {
    fn buffer(&mut self) -> Option<Buffer> {
        let (begin, length) = self.places.next()?;
        let values = self.file.get(begin..begin + length)?;
        let first = NonNull::from(values).cast::<u8>();
        #[expect(unsafe_code, reason = "the range lies in the mapping, which the buffer holds and nobody writes to")]
        Some(unsafe { Buffer::from_custom_allocation(first, length, Arc::clone(&self.file) as _) })
    }

    /// An array of this shape with its values in the file.
    fn array(&mut self, shape: &Shape) -> Option<ArrayData> {
        let nulls = match shape.nulls {
            None => None,
            Some((offset, length)) => Some(NullBuffer::new(BooleanBuffer::new(self.buffer()?, offset, length))),
        };
        let buffers = (0..shape.buffers).map(|_| self.buffer()).collect::<Option<Vec<_>>>()?;
        let children = shape.children.iter().map(|child| self.array(child)).collect::<Option<Vec<_>>>()?;
        let made = ArrayData::builder(shape.kind.clone())
            .len(shape.length)
            .offset(shape.offset)
            .nulls(nulls)
            .buffers(buffers)
            .child_data(children);
        #[expect(unsafe_code, reason = "the buffers are those of an array that was one")]
        Some(unsafe { made.build_unchecked() })
    }
}

/// An array without its values.
struct Shape {
    kind: DataType,
    length: usize,
    offset: usize,
    /// Offset and length.
    nulls: Option<(usize, usize)>,
    buffers: usize,
    children: Vec<Shape>,
}

impl Shape {
    fn of(data: &ArrayData) -> Shape {
        Shape {
            kind: data.data_type().clone(),
            length: data.len(),
            offset: data.offset(),
            nulls: data.nulls().map(|nulls| (nulls.offset(), nulls.len())),
            buffers: data.buffers().len(),
            children: data.child_data().iter().map(Shape::of).collect(),
        }
    }
}

fn paged(given: &[RecordBatch], path: &PathBuf) -> io::Result<Vec<RecordBatch>> {
    let mut written = Written {
        out: BufWriter::with_capacity(1 << 20, File::options().read(true).write(true).create_new(true).open(path)?),
        bytes: 0,
        places: Vec::new(),
    };
    // What was cut out of a longer array goes alone.
    let whole = |array: &dyn Array| concat(&[array]).map(|array| array.to_data()).map_err(io::Error::other);
    let mut shapes = Vec::new();
    for batch in given {
        let mut own = Vec::new();
        for column in batch.columns() {
            let data = whole(column.as_ref())?;
            written.array(&data)?;
            own.push(Shape::of(&data));
        }
        shapes.push(own);
    }
    written.out.flush()?;
    let file = written.out.into_inner().map_err(io::Error::other)?;
    #[expect(unsafe_code, reason = "the file was just made, and nobody else knows it")]
    let file = Arc::new(unsafe { Mmap::map(&file)? });
    let mut mapped = Mapped { file, places: written.places.into_iter() };
    let lost = || io::Error::other("pages of a table are not those that were written");
    let mut parts = Vec::new();
    for (batch, shapes) in given.iter().zip(&shapes) {
        let columns = shapes.iter().map(|shape| mapped.array(shape).map(make_array)).collect::<Option<Vec<_>>>();
        parts.push(RecordBatch::try_new(batch.schema(), columns.ok_or_else(lost)?).map_err(io::Error::other)?);
    }
    Ok(parts)
}
