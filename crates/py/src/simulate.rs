//! Runs of the simulator with flows and records as columns.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::metrics::{Counts, Facts, Ran};
use netsim::tcp::settings::Congestion;
use netsim::{ConfigError, End, FlowSpec, Recording, Run, Side, Tcp};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use settings::{BurstColumns, FlowColumns, ScriptColumns, Settings, SettingsError};
use tables::record;
use units::Time;

use crate::flow_data::{burst_columns, script_columns};
use crate::observed::{FactArrays, Observed};
use crate::output::as_dictionary;
use crate::table::{Table, as_json};

/// Lets another thread see how far a run is, and stop it.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Control(pub(crate) Arc<netsim::Control>);

#[pymethods]
impl Control {
    #[new]
    fn make() -> Control {
        Control::default()
    }

    /// Ends the run soon, with KeyboardInterrupt in its thread.
    fn cancel(&self) {
        self.0.cancel.store(true, Ordering::Relaxed);
    }

    /// Simulated time reached, seconds.
    #[getter]
    fn reached_s(&self) -> f64 {
        Time(self.0.reached_ns.load(Ordering::Relaxed)).as_secs_f64()
    }
}

/// File of a recorded run, `server` or `client`, and an IPv4 address and a port of the sender and the receiver of each
/// flow, four columns.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RecordingSettings {
    path: PathBuf,
    side: String,
    addresses: [PyBuffer<u32>; 2],
    ports: [PyBuffer<u16>; 2],
}

impl RecordingSettings {
    fn into_recording(self, py: Python<'_>) -> PyResult<Recording> {
        let failed = |error: std::io::Error| PyValueError::new_err(error.to_string());
        let [from, to] = [0, 1].map(|end| -> PyResult<Vec<End>> {
            let (addresses, ports) = (self.addresses[end].to_vec(py)?, self.ports[end].to_vec(py)?);
            let end = |(address, port): (u32, u16)| End { address: address.to_be_bytes(), port };
            Ok(addresses.into_iter().zip(ports).map(end).collect())
        });
        Ok(Recording {
            sink: Box::new(File::create(&self.path).map_err(failed)?),
            side: match self.side.as_str() {
                "client" => Side::Client,
                "server" => Side::Server,
                other => return Err(PyValueError::new_err(format!("side = {other}: must be client or server"))),
            },
            ends: from?.into_iter().zip(to?).map(|(from, to)| [from, to]).collect(),
        })
    }
}

/// Arrays by the names of [`settings::FlowColumns`], which documents them; scripts and bursts as tables of one
/// column, lists of structs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FlowArrays {
    start_ns: PyBuffer<u64>,
    size_bytes: PyBuffer<u64>,
    rtt_ns: PyBuffer<u64>,
    src: PyBuffer<u32>,
    dst: PyBuffer<u32>,
    flags: PyBuffer<u8>,
    packet_bytes: PyBuffer<u32>,
    gap_ns: PyBuffer<u64>,
    class: PyBuffer<u16>,
    transport: PyBuffer<u16>,
    application: PyBuffer<u16>,
    stage: PyBuffer<u32>,
    after: PyBuffer<u32>,
    mark: PyBuffer<u32>,
    bursts: Option<Py<PyAny>>,
    scripts: Option<Py<PyAny>>,
}

impl FlowArrays {
    /// # Errors
    /// An array that is not contiguous.
    pub(crate) fn columns(&self, py: Python<'_>) -> PyResult<FlowColumns> {
        let flags = self.flags.to_vec(py)?;
        let (bursts, scripts) = self.data(py, &flags)?;
        Ok(FlowColumns {
            start_ns: self.start_ns.to_vec(py)?,
            size_bytes: self.size_bytes.to_vec(py)?,
            rtt_ns: self.rtt_ns.to_vec(py)?,
            src: self.src.to_vec(py)?,
            dst: self.dst.to_vec(py)?,
            flags,
            packet_bytes: self.packet_bytes.to_vec(py)?,
            gap_ns: self.gap_ns.to_vec(py)?,
            class: self.class.to_vec(py)?,
            transport: self.transport.to_vec(py)?,
            application: self.application.to_vec(py)?,
            stage: self.stage.to_vec(py)?,
            after: self.after.to_vec(py)?,
            mark: self.mark.to_vec(py)?,
            bursts,
            scripts,
        })
    }

    fn data(&self, py: Python<'_>, flags: &[u8]) -> PyResult<(BurstColumns, ScriptColumns)> {
        let up: Vec<bool> = flags.iter().map(|flags| flags & 1 != 0).collect();
        let bursts = self.bursts.as_ref().map(|table| burst_columns(table.bind(py))).transpose()?;
        let scripts = self.scripts.as_ref().map(|table| script_columns(table.bind(py), &up)).transpose()?;
        Ok((bursts.unwrap_or_default(), scripts.unwrap_or_default()))
    }
}

/// Bursts and scripts of a flow list as [`settings::FlowColumns`] has them in JSON.
///
/// # Errors
/// `TypeError` for other columns.
#[pyfunction]
pub fn flow_data(py: Python<'_>, flows: FlowArrays) -> PyResult<String> {
    let (bursts, scripts) = flows.data(py, &flows.flags.to_vec(py)?)?;
    as_json(&serde_json::json!({ "bursts": bursts, "scripts": scripts }))
}

/// What Python raises.
pub(crate) fn refused(error: impl Into<SettingsError>) -> PyErr {
    match error.into() {
        SettingsError::Config(ConfigError::Cancelled) => PyKeyboardInterrupt::new_err("cancelled"),
        SettingsError::Config(error @ ConfigError::Unbalanced(_)) => PyRuntimeError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// A flow list that several runs share.
#[pyclass(frozen)]
pub struct FlowList(Arc<settings::FlowList>);

#[pymethods]
impl FlowList {
    /// # Errors
    /// `ValueError` with one line for columns that do not fit each other.
    #[new]
    fn new(py: Python<'_>, columns: FlowArrays) -> PyResult<FlowList> {
        let columns = columns.columns(py)?;
        py.detach(move || columns.list()).map_err(refused).map(|list| FlowList(Arc::new(list)))
    }

    fn __len__(&self) -> usize {
        self.0.flows.len()
    }
}

/// A flow list as it is made for one run, or for several.
pub enum Flows {
    /// Of several runs.
    Shared(Arc<settings::FlowList>),
    /// Of one.
    Own(Box<FlowArrays>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Flows {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Flows> {
        match given.cast::<FlowList>() {
            Ok(list) => Ok(Flows::Shared(Arc::clone(&list.get().0))),
            Err(_) => Ok(Flows::Own(Box::new(given.extract()?))),
        }
    }
}

/// What runs: settings, JSON, and the flow list.
///
/// # Errors
/// `ValueError` with one line for what is not taken.
pub(crate) fn run_and_list(py: Python<'_>, settings: &str, flows: Flows) -> PyResult<(Run, Arc<settings::FlowList>)> {
    let mut run = settings::read::<Settings>(settings).map_err(refused)?.into_run().map_err(refused)?;
    let list = match flows {
        Flows::Shared(list) => list,
        Flows::Own(arrays) => Arc::new(arrays.columns(py)?.list().map_err(refused)?),
    };
    list.lend_to(&mut run);
    Ok((run, list))
}

/// Runs `flows`, sorted by start, with `settings`, JSON. Returns a dictionary of tables; `cell` and `nodes` are `None`
/// without a wireless cell. With `facts` it has `observed` too, an [`Observed`], and `counts`, how many
/// flows ended (JSON, by the names of a row of the summary).
///
/// # Errors
/// `ValueError` with one line for a value out of its bounds; `KeyboardInterrupt` when cancelled; `RuntimeError` when
/// packets are not conserved, a mistake in Mayfly.
#[pyfunction]
#[pyo3(signature = (settings, flows, control, recording=None, facts=None))]
pub fn run<'py>(
    py: Python<'py>,
    settings: &str,
    flows: Flows,
    control: &Control,
    recording: Option<RecordingSettings>,
    facts: Option<FactArrays>,
) -> PyResult<Bound<'py, PyDict>> {
    let recording = recording.map(|recording| recording.into_recording(py)).transpose()?;
    let facts = facts.map(|facts| facts.facts(py)).transpose()?;
    let (mut run, list) = run_and_list(py, settings, flows)?;
    run.heard = facts.iter().flat_map(|facts| ::metrics::heard(&run, &list.flows, facts)).collect();
    let control = Arc::clone(&control.0);
    let (output, observed) = py.detach(move || {
        let rows = list.flows.as_slice();
        let output = match recording {
            Some(recording) => netsim::run_recorded(&run, rows, &control, recording),
            None => netsim::run(&run, rows, &control),
        };
        let output = output.map_err(refused)?;
        let seen = |facts: Facts| {
            let ran = Ran { run: &run, flows: rows, output: &output, facts: &facts };
            Ok::<_, PyErr>((Observed::of(&ran)?, as_json(&Counts::of(&ran))?))
        };
        let observed = facts.map(seen).transpose()?;
        Ok::<_, PyErr>((output, observed))
    })?;
    let found = as_dictionary(py, output)?;
    if let Some((observed, counts)) = observed {
        found.set_item("observed", Bound::new(py, observed)?)?;
        found.set_item("counts", counts)?;
    }
    Ok(found)
}

/// Of a run of which the figures of its users are all that is asked for: the [`Observed`], how many flows ended (JSON, by
/// the names of a row of the summary), the mean response times of short and long ones, s, and the end of the warm-up and of
/// the run, s.
pub(crate) type Seen = (Observed, String, (Option<f64>, Option<f64>), (f64, f64));

/// Runs `flows`, and gives what its users feel without tables.
///
/// # Errors
/// As [`run`].
pub(crate) fn seen(run: &Run, flows: &[FlowSpec], facts: &Facts, control: &netsim::Control) -> PyResult<Seen> {
    let output = netsim::run(run, flows, control).map_err(refused)?;
    let ran = Ran { run, flows, output: &output, facts };
    let observed = Observed::of(&ran)?;
    let [begin_s, end_s] = [output.counters.begin, output.counters.end].map(|time| time.0 as f64 * 1e-9);
    let [short_s, long_s] = ::metrics::class_means_s(&ran);
    Ok((observed, as_json(&Counts::of(&ran))?, (short_s, long_s), (begin_s, end_s)))
}

record! {
    /// Arrival of a data segment, or of the FIN, of a flow that is alone on its path.
    #[derive(Clone, Copy)]
    pub struct Arrival in "alone_arrivals" {
        /// Since the start of the flow.
        pub time: Time => "time_ns", "ns", as |time: &Time| time.0;
    }
}

record! {
    /// A flow that is alone on its path.
    #[derive(Clone, Copy)]
    pub struct Alone in "alone" {
        /// Rows of the arrivals that are its own; flows follow each other there.
        pub arrivals: u64 => "arrivals";
        /// End of the flow.
        pub finish: Time => "finish_ns", "ns", as |&time: &Time| (time != Time::NEVER).then_some(time.0);
    }
}

/// Response of each flow of `flows` alone on its path: the table of arrivals, and that of the flows.
///
/// # Errors
/// As [`run`].
#[pyfunction]
pub fn alone(py: Python<'_>, settings: &str, flows: FlowArrays) -> PyResult<(Table, Table)> {
    let settings = settings::read::<Settings>(settings).map_err(refused)?;
    let run = settings.into_run().map_err(refused)?;
    let rows = flows.columns(py)?.list().map_err(refused)?.flows;
    drop(flows);
    let responses: Vec<netsim::Alone> =
        py.detach(|| rows.iter().map(|flow| netsim::alone(&run, flow)).collect::<Result<_, _>>()).map_err(refused)?;
    let arrivals: Vec<_> = responses.iter().flat_map(|one| &one.arrivals).map(|&time| Arrival { time }).collect();
    let row = |one: &netsim::Alone| Alone { arrivals: one.arrivals.len() as u64, finish: one.finish };
    Ok((Table::of(&arrivals)?, Table::of(&responses.iter().map(row).collect::<Vec<_>>())?))
}

/// JSON schema of the transport's settings: names, types, words and meaning of each.
#[pyfunction]
pub fn transport_schema() -> String {
    schemars::schema_for!(Tcp).to_value().to_string()
}

/// Congestion controls in the order of the registry: name in the settings, title, and the kernel module that is the same.
#[pyfunction]
pub fn congestion_controls() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    Congestion::ALL.iter().map(|control| (control.word(), control.title(), control.module())).collect()
}
