//! Runs of streams: batches of flows come from a Python iterator, records go to a Python callable.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use metrics::Streamed;
use netsim::{ConfigError, FlowRecord, FlowSpec};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator};
use settings::Settings;
use tables::record;

use crate::output::as_dictionary;
use crate::simulate::{Control, FlowArrays, refused};
use crate::table::{Table, as_json};

/// Records that go to Python at once, and rows of a group in a Parquet file.
const BATCH: usize = 1 << 16;

record! {
    /// Which flow of a stream a record is of.
    #[derive(Clone, Copy)]
    pub struct Place in "places" {
        /// Place of the flow in the stream, from 0.
        pub place: u32 => "place";
    }
}

/// What Python raised while the run asked it; the run is told a line.
type Raised = Mutex<Option<PyErr>>;

fn keep(raised: &Raised, error: PyErr) -> String {
    let line = error.to_string();
    if let Ok(mut raised) = raised.lock() {
        *raised = Some(error);
    }
    line
}

/// Flows of an iterator over dictionaries of columns.
struct Feed<'r> {
    batches: Py<PyIterator>,
    batch: std::vec::IntoIter<FlowSpec>,
    raised: &'r Raised,
}

impl Feed<'_> {
    /// The next batch that is not empty.
    fn asked(&mut self) -> PyResult<bool> {
        Python::attach(|py| {
            for batch in self.batches.bind(py).clone() {
                let flows = batch?.extract::<FlowArrays>()?.columns(py)?.list().map_err(refused)?.flows;
                if !flows.is_empty() {
                    self.batch = flows.into_iter();
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

impl netsim::Feed for Feed<'_> {
    fn next(&mut self) -> Result<Option<FlowSpec>, String> {
        if let Some(flow) = self.batch.next() {
            return Ok(Some(flow));
        }
        match self.asked() {
            Ok(true) => Ok(self.batch.next()),
            Ok(false) => Ok(None),
            Err(error) => Err(keep(self.raised, error)),
        }
    }
}

/// Figures of all records, and the records themselves for who wants them.
struct Sink<'r> {
    figures: Streamed,
    taken: Option<Py<PyAny>>,
    places: Vec<Place>,
    records: Vec<FlowRecord>,
    raised: &'r Raised,
}

impl Sink<'_> {
    fn pass_on(&mut self) -> Result<(), String> {
        let (places, records) = (std::mem::take(&mut self.places), std::mem::take(&mut self.records));
        let Some(taken) = self.taken.as_ref().filter(|_| !records.is_empty()) else { return Ok(()) };
        let told = Python::attach(|py| taken.call1(py, (Table::of(&places)?, Table::of(&records)?)).map(|_| ()));
        told.map_err(|error| keep(self.raised, error))
    }
}

impl netsim::Sink for Sink<'_> {
    fn take(&mut self, place: u32, flow: &FlowSpec, record: &FlowRecord) -> Result<(), String> {
        netsim::Sink::take(&mut self.figures, place, flow, record)?;
        if self.taken.is_none() {
            return Ok(());
        }
        self.places.push(Place { place });
        self.records.push(*record);
        if self.records.len() == BATCH { self.pass_on() } else { Ok(()) }
    }
}

/// Runs a stream with `settings`, JSON, between so many senders and receivers. `batches` gives dictionaries of columns,
/// ascending by start; `taken` is called with two tables, places in the stream and records, of flows of which nothing is
/// under way any more. Returns tables as [`crate::simulate::run`] does, without records, and the figures, JSON.
///
/// # Errors
/// As of [`crate::simulate::run`]; what `batches` and `taken` raise.
#[pyfunction]
#[pyo3(signature = (settings, hosts, batches, control, taken=None))]
pub fn run_streamed<'py>(
    py: Python<'py>,
    settings: &str,
    hosts: [u32; 2],
    batches: &Bound<'py, PyAny>,
    control: &Control,
    taken: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, String)> {
    let run = settings::read::<Settings>(settings).map_err(refused)?.into_run().map_err(refused)?;
    let (control, raised) = (Arc::clone(&control.0), Raised::default());
    let mut feed = Feed { batches: batches.try_iter()?.unbind(), batch: Vec::new().into_iter(), raised: &raised };
    let figures = Streamed::new(run.tcp.mss);
    let mut sink = Sink { figures, taken, places: Vec::new(), records: Vec::new(), raised: &raised };
    let output = py.detach(|| {
        let output = netsim::run_streamed(&run, hosts, &mut feed, &mut sink, &control)?;
        sink.pass_on().map_err(ConfigError::Stream)?;
        Ok(output)
    });
    let told = raised.lock().ok().and_then(|mut raised| raised.take());
    let output = match (output, told) {
        (Ok(output), _) => output,
        (Err(_), Some(error)) => return Err(error),
        (Err(error), None) => return Err(refused(error)),
    };
    Ok((as_dictionary(py, &output)?, as_json(&sink.figures.figures())?))
}

/// A Parquet file that is written table by table.
#[pyclass]
pub struct ParquetBatches {
    path: PathBuf,
    metadata: Vec<(String, String)>,
    writer: Option<ArrowWriter<File>>,
}

impl ParquetBatches {
    fn failed(error: impl std::fmt::Display) -> PyErr {
        PyOSError::new_err(error.to_string())
    }
}

#[pymethods]
impl ParquetBatches {
    /// The file has these pairs as its metadata, and the columns of the first table.
    #[new]
    fn make(path: PathBuf, metadata: Vec<(String, String)>) -> ParquetBatches {
        ParquetBatches { path, metadata, writer: None }
    }

    /// Writes the rows of a table that speaks the Arrow C data interface.
    fn write(&mut self, py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<()> {
        let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
        #[expect(unsafe_code, reason = "the capsule holds such a stream, which nobody else takes")]
        let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
        let mut reader = reader.map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.detach(move || {
            if self.writer.is_none() {
                let pair = |(key, value): &(String, String)| KeyValue::new(key.clone(), value.clone());
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_max_row_group_row_count(Some(BATCH))
                    .set_key_value_metadata(Some(self.metadata.iter().map(pair).collect()))
                    .build();
                let file = File::create(&self.path).map_err(Self::failed)?;
                self.writer =
                    Some(ArrowWriter::try_new(file, reader.schema(), Some(properties)).map_err(Self::failed)?);
            }
            let Some(writer) = &mut self.writer else { return Ok(()) };
            reader.try_for_each(|batch| writer.write(&batch.map_err(Self::failed)?).map_err(Self::failed))
        })
    }

    /// Writes the end of the file.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let writer = self.writer.take();
        py.detach(|| writer.map_or(Ok(()), |writer| writer.close().map(|_| ()).map_err(Self::failed)))
    }
}
