//! Hours drawn from the sessions of a flow list, and runs of them.

use std::sync::Arc;

use ::metrics::{CaptureFacts, Facts};
use arrow_array::{ArrayRef, Float64Array};
use netsim::Run;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use replay::{Numbering, Origins, ProbeRows, Specs, Starts};
use settings::{FlowList, Settings};

use crate::captured::no_replay;
use crate::flow_data::{table, texts, whole};
use crate::observed::probe_names;
use crate::simulate::{Control, FlowArrays, Seen, refused, seen};
use crate::table::Table;

/// Starts, s, ranks of the users and connections of a flow list; with those that are missing each flow is one.
struct StartColumns {
    start_s: Vec<f64>,
    users: Vec<u32>,
    connections: Option<Vec<i64>>,
}

impl StartColumns {
    fn of(
        py: Python<'_>,
        start_s: &PyBuffer<f64>,
        users: &PyBuffer<u32>,
        connections: Option<&PyBuffer<i64>>,
    ) -> PyResult<StartColumns> {
        let connections = connections.map(|column| column.to_vec(py)).transpose()?;
        let found = StartColumns { start_s: start_s.to_vec(py)?, users: users.to_vec(py)?, connections };
        let rows = found.start_s.len();
        if found.users.len() != rows || found.connections.as_ref().is_some_and(|column| column.len() != rows) {
            return Err(PyValueError::new_err("start_s, users, connections: must be of one length"));
        }
        Ok(found)
    }

    fn starts(&self) -> Starts<'_> {
        let StartColumns { start_s, users, connections } = self;
        Starts { start_s, users, connections: connections.as_deref() }
    }
}

/// The session of each flow of a list: [`replay::Starts::sessions`].
///
/// # Errors
/// `ValueError` for columns of different lengths.
#[pyfunction]
#[pyo3(signature = (start_s, users, connections, gap_s))]
pub fn sessions(
    py: Python<'_>,
    start_s: PyBuffer<f64>,
    users: PyBuffer<u32>,
    connections: Option<PyBuffer<i64>>,
    gap_s: f64,
) -> PyResult<Table> {
    let columns = StartColumns::of(py, &start_s, &users, connections.as_ref())?;
    let sessions = py.detach(|| columns.starts().sessions(gap_s));
    table(vec![("session", whole(sessions.into_iter().map(u64::from)))]).map_err(|error| failed(&error))
}

fn failed(error: &impl ToString) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Another list drawn from the sessions of one: `row` there, `start_s`, `copy` and `connection_id` of each flow
/// ([`replay::Starts::another`]).
///
/// # Errors
/// `ValueError` for columns of different lengths, or too few sessions.
#[pyfunction]
#[pyo3(signature = (start_s, users, connections, gap_s, seed, replication))]
pub fn another_hour(
    py: Python<'_>,
    start_s: PyBuffer<f64>,
    users: PyBuffer<u32>,
    connections: Option<PyBuffer<i64>>,
    gap_s: f64,
    seed: u64,
    replication: &str,
) -> PyResult<Table> {
    let columns = StartColumns::of(py, &start_s, &users, connections.as_ref())?;
    let flows = py.detach(|| columns.starts().another(seed, replication, gap_s)).map_err(no_replay)?.flows;
    let start_s: ArrayRef = Arc::new(Float64Array::from_iter_values(flows.iter().map(|flow| flow.start_s)));
    table(vec![
        ("row", whole(flows.iter().map(|flow| flow.row.into()))),
        ("start_s", start_s),
        ("copy", whole(flows.iter().map(|flow| flow.copy.into()))),
        ("connection_id", whole(flows.iter().map(|flow| flow.connection.into()))),
    ])
    .map_err(|error| failed(&error))
}

/// What the flow list of a capture has next to the columns of the simulator: start, s, hosts, tables of one column of text,
/// and connection of each flow; how long somebody may wait for it, s, NaN for nobody; packets that it had as a direction
/// of a call, below 0 for none.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct OriginArrays {
    start_s: PyBuffer<f64>,
    src: Py<PyAny>,
    dst: Py<PyAny>,
    connections: PyBuffer<i64>,
    lasted_s: Option<PyBuffer<f64>>,
    call_packets: Option<PyBuffer<i64>>,
}

impl OriginArrays {
    fn origins(&self, py: Python<'_>) -> PyResult<Origins> {
        let names = |table: &Py<PyAny>| -> PyResult<Vec<String>> {
            Ok(texts(table.bind(py))?.into_iter().map(Option::unwrap_or_default).collect())
        };
        let start_s = self.start_s.to_vec(py)?;
        let lasted_s = self.lasted_s.as_ref().map(|column| column.to_vec(py)).transpose()?;
        let lasted = |lasted_s: f64| Some(lasted_s).filter(|lasted_s| lasted_s.is_finite());
        let calls = self.call_packets.as_ref().map(|column| column.to_vec(py)).transpose()?;
        let calls = calls.map(|calls| calls.into_iter().map(|packets| u64::try_from(packets).ok()).collect());
        Ok(Origins {
            src: names(&self.src)?,
            dst: names(&self.dst)?,
            connections: self.connections.to_vec(py)?,
            lasted_s: lasted_s.unwrap_or_default().into_iter().map(lasted).collect(),
            call_packets: calls.unwrap_or_else(|| vec![None; start_s.len()]),
            start_s,
        })
    }
}

/// A capture whose sessions hours are drawn from.
#[pyclass(frozen)]
pub struct Hours(Arc<replay::Hours>);

#[pymethods]
impl Hours {
    /// Of the flows of a capture; `probes` are those of an hour in which the first probe goes down, and up.
    ///
    /// # Errors
    /// `ValueError` for columns that are not taken.
    #[new]
    fn new(
        py: Python<'_>,
        flows: FlowArrays,
        origins: OriginArrays,
        probes: (FlowArrays, FlowArrays),
    ) -> PyResult<Self> {
        let list = |flows: &FlowArrays| flows.columns(py)?.list().map_err(refused);
        let rows = |FlowList { flows, bursts, .. }: FlowList| ProbeRows { flows, bursts };
        let FlowList { flows, scripts, bursts, .. } = list(&flows)?;
        let probes = [rows(list(&probes.0)?), rows(list(&probes.1)?)];
        let found = replay::Hours::of(Specs { flows, scripts, bursts }, origins.origins(py)?, probes);
        Ok(Hours(Arc::new(found.map_err(no_replay)?)))
    }

    /// The hour that `seed` and `number` draw, up to `end_s`; `None` where nothing starts before that. Hosts are numbered
    /// by rank among all where `together`, else among those on their side of the link.
    ///
    /// # Errors
    /// `ValueError` for too few sessions.
    fn draw(
        &self,
        py: Python<'_>,
        seed: u64,
        number: u64,
        gap_s: f64,
        end_s: f64,
        together: bool,
    ) -> PyResult<Option<Hour>> {
        let numbering = if together { Numbering::Together } else { Numbering::Sides };
        let hour = py.detach(|| self.0.draw(seed, number, gap_s, end_s, numbering)).map_err(no_replay)?;
        Ok(hour.map(|hour| Hour { hour, of: Arc::clone(&self.0) }))
    }
}

/// Settings of a run, read once.
#[pyclass(frozen)]
pub struct RunSettings(Run);

#[pymethods]
impl RunSettings {
    /// From JSON.
    ///
    /// # Errors
    /// `ValueError` with one line for what is not taken.
    #[new]
    fn new(settings: &str) -> PyResult<RunSettings> {
        let settings = ::settings::read::<Settings>(settings).map_err(refused)?;
        settings.into_run().map(RunSettings).map_err(refused)
    }
}

/// An hour, ready to run.
#[pyclass(frozen)]
pub struct Hour {
    hour: replay::Hour,
    of: Arc<replay::Hours>,
}

#[pymethods]
impl Hour {
    /// Whether its first probe goes up.
    #[getter]
    fn first_up(&self) -> bool {
        self.hour.first_up
    }

    /// Runs it, and gives what its users feel without tables: the [`Observed`](crate::observed::Observed), how many flows
    /// ended (JSON, by the names of a row of the summary), the mean response times of short and long ones, s, and the end
    /// of the warm-up and of the run, s. `probes` are the names of its probes.
    ///
    /// # Errors
    /// As [`run`](crate::simulate::run).
    fn observe(
        &self,
        py: Python<'_>,
        settings: &RunSettings,
        probes: Vec<String>,
        control: &Control,
    ) -> PyResult<Seen> {
        let Hour { hour, of } = self;
        let facts = Facts {
            probes: probe_names(&probes)?,
            ids: (0..hour.starts_s.len() as i64).collect(),
            starts: hour.starts_s.clone(),
            groups: Vec::new(),
            stages: hour.stages.clone(),
            capture: Some(CaptureFacts {
                clients: hour.clients.clone(),
                connections: hour.connections.clone(),
                calls: hour.calls.clone(),
                begun_s: hour.begun_s.clone(),
                lasted_s: hour.lasted_s.clone(),
            }),
        };
        let control = Arc::clone(&control.0);
        py.detach(|| {
            let mut run = settings.0.clone();
            run.counting.nonresponsive = hour.flows.iter().map(|flow| flow.udp.is_some()).collect();
            run.scripts = of.scripts();
            run.bursts = hour.bursts.clone();
            run.traced = hour.calls.iter().map(|row| row + hour.probes as u32).collect();
            run.trace_limit = run.trace_limit.saturating_add(hour.call_packets);
            run.heard = ::metrics::heard(&run, &hour.flows, &facts);
            seen(&run, &hour.flows, &facts, &control)
        })
    }
}
