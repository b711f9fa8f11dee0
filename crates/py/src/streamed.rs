//! Runs of streams: batches of flows come from a Python iterator, records go to a Python callable.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use jobs::{Lagged, Lags};
use metrics::{Service, Streamed};
use netsim::{ConfigError, FlowRecord, FlowSpec};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator};
use runs::table_file::{Form, TableFile};
use settings::Settings;
use tables::record;
use units::Time;

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
    fn next_flow(&mut self) -> Result<Option<FlowSpec>, String> {
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
        Ok::<_, ConfigError>(output)
    });
    let told = raised.lock().ok().and_then(|mut raised| raised.take());
    let output = match (output, told) {
        (Ok(output), _) => output,
        (Err(_), Some(error)) => return Err(error),
        (Err(error), None) => return Err(refused(error)),
    };
    Ok((as_dictionary(py, output)?, as_json(&sink.figures.figures())?))
}

/// Serves the transfers of `batches`, as of [`run_streamed`], by the fluid engine: `levels` as of
/// [`crate::jobs::JobServer`], or the lags of users, of flows and the pace of `lfq` with whether pairs of hosts are users;
/// `with_path` adds what each takes alone. Returns the figures, JSON.
///
/// # Errors
/// As of [`run_streamed`].
#[pyfunction]
pub fn run_fluid(
    py: Python<'_>,
    settings: &str,
    levels: Vec<(String, f64)>,
    lags: Option<(f64, f64, f64, bool)>,
    with_path: bool,
    batches: &Bound<'_, PyAny>,
    control: &Control,
) -> PyResult<String> {
    let run = settings::read::<Settings>(settings).map_err(refused)?.into_run().map_err(refused)?;
    let told = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let service = || match lags {
        Some((user, job, pace, of_pairs)) => {
            let server = Lagged::new(Lags { user, job, pace }, &[]).map_err(|error| told(&error))?;
            Ok(Service::Lagged { server: Box::new(server), of_pairs })
        }
        None => crate::jobs::server(&levels).map(|server| Service::Levels(Box::new(server))),
    };
    let services = [service()?, service()?];
    let (control, raised) = (Arc::clone(&control.0), Raised::default());
    let mut feed = Feed { batches: batches.try_iter()?.unbind(), batch: Vec::new().into_iter(), raised: &raised };
    let look = |now: Time| {
        control.reached_ns.store(now.0, Ordering::Relaxed);
        control.cancel.load(Ordering::Relaxed)
    };
    let found = py.detach(|| metrics::fluid(&run, services, with_path, &mut feed, &look));
    let raised = raised.lock().ok().and_then(|mut raised| raised.take());
    match (found, raised) {
        (Ok(figures), _) => as_json(&figures),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(refused(error)),
    }
}

/// A Parquet file that is written table by table.
#[pyclass]
pub struct ParquetBatches {
    path: PathBuf,
    metadata: Vec<(String, String)>,
    writer: Mutex<Option<TableFile>>,
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
        ParquetBatches { path, metadata, writer: Mutex::new(None) }
    }

    /// Writes the rows of a table that speaks the Arrow C data interface.
    fn write(&self, py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<()> {
        let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
        #[expect(unsafe_code, reason = "the capsule holds such a stream, which nobody else takes")]
        let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
        let mut reader = reader.map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.detach(move || {
            let mut open = self.writer.lock().map_err(Self::failed)?;
            if open.is_none() {
                let form = Form { group: Some(BATCH), ..Form::default() };
                let file = TableFile::create(&self.path, reader.schema(), self.metadata.clone(), form);
                *open = Some(file.map_err(Self::failed)?);
            }
            let Some(writer) = open.as_mut() else { return Ok(()) };
            reader.try_for_each(|batch| writer.write(&batch.map_err(Self::failed)?).map_err(Self::failed))
        })
    }

    /// Writes the end of the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.writer.lock().map_err(Self::failed)?.take();
        py.detach(|| writer.map_or(Ok(()), |writer| writer.close().map_err(Self::failed)))
    }
}
