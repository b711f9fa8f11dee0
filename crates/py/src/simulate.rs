//! Runs of the simulator with flows and records as columns.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use netsim::{
    Application, Burst, Bursts, ConfigError, Counting, End, FlowSpec, Impairment, Network, OwnTransport, Probe,
    Recording, Run, Scripts, Side, Tcp,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use qdisc::Limit;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tables::record;
use units::{BitRate, Time};

use crate::graph::GraphSettings;
use crate::output::as_dictionary;
use crate::scripts::ScriptColumns;
use crate::shaping::{ShapingSettings, TraceSettings};
use crate::table::Table;
use crate::tree::TreeSettings;
use crate::wlan::WlanSettings;

/// Lets another thread see how far a run is, and stop it.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Control(Arc<netsim::Control>);

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

type Discipline = (String, Vec<(String, String)>);

/// Settings of a run; times in nanoseconds. They come as JSON: unknown words, unknown fields and missing ones are refused
/// by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    rate_bps: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    reverse_rate_bps: Option<u64>,
    delay_ns: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    reverse_delay_ns: Option<u64>,
    access_rate_bps: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    exit_rate_bps: Option<u64>,
    #[serde(deserialize_with = "Option::deserialize")]
    exit_rate_up_bps: Option<u64>,
    access_delay_ns: u64,
    exit_delay_ns: u64,
    limit: Limit,
    reverse_limit: Limit,
    loss: f64,
    impairments: Vec<Impairment>,
    /// Whether both sides of the dumbbell are alike.
    symmetric: bool,
    discipline: Discipline,
    reverse_discipline: Discipline,
    traces: [Option<TraceSettings>; 2],
    #[serde(deserialize_with = "Option::deserialize")]
    shaping: Option<ShapingSettings>,
    #[serde(deserialize_with = "Option::deserialize")]
    graph: Option<GraphSettings>,
    #[serde(deserialize_with = "Option::deserialize")]
    wlan: Option<WlanSettings>,
    #[serde(deserialize_with = "Option::deserialize")]
    tree: Option<TreeSettings>,
    tcp: Tcp,
    /// Transports that some flows have in place of `tcp`, by the numbers in their column.
    transports: Vec<OwnTransport>,
    /// Applications in the loop, by the numbers in the column of the flows.
    applications: Vec<Application>,
    duration_ns: u64,
    stop_when_idle: bool,
    seed: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    clock_phase_ns: Option<u64>,
    sample_interval_ns: u64,
    watched: Vec<u32>,
    trace_drops: bool,
    warm_up_ns: u64,
    traced: Vec<u32>,
    trace_limit: u64,
    subflows: bool,
    /// Rows of the flow list that are probes, and of those, the ones whose packets are sent back.
    probes: Vec<u32>,
    echoes: Vec<u32>,
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

/// Columns of the flow list; `flags`: 1 up, 2 receiver opens, 4 UDP, 8 does not respond; `transport`: 0 for `tcp`,
/// else 1 + place in `transports`; `application`: 0 for none,
/// else 1 + place in `applications`; `stage`, `after`: 2^32 - 1 for none.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FlowColumns {
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
    bursts: BurstColumns,
    scripts: ScriptColumns,
}

/// Columns of the bursts of UDP flows, ascending by `flow`, the index in the flow list, and `at_ns`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct BurstColumns {
    flow: PyBuffer<u32>,
    at_ns: PyBuffer<u64>,
    gap_ns: PyBuffer<u64>,
    packets: PyBuffer<u64>,
    packet_bytes: PyBuffer<u32>,
}

impl BurstColumns {
    fn rows(&self, py: Python<'_>) -> PyResult<Bursts> {
        let (flow, len) = (self.flow.to_vec(py)?, self.packet_bytes.to_vec(py)?);
        let (at, gap, packets) = (self.at_ns.to_vec(py)?, self.gap_ns.to_vec(py)?, self.packets.to_vec(py)?);
        if [len.len(), at.len(), gap.len(), packets.len()] != [flow.len(); 4] {
            return Err(PyValueError::new_err("columns of the bursts differ in length"));
        }
        let burst = |i: usize| Burst { at: Time(at[i]), gap: Time(gap[i]), packets: packets[i], len: len[i] };
        let mut bursts = Bursts { of: Vec::new(), list: (0..flow.len()).map(burst).collect() };
        for part in flow.chunk_by(|a, b| a == b) {
            let first = bursts.of.last().map_or(0, |(_, before)| before.end);
            bursts.of.push((part[0], first..first + part.len()));
        }
        Ok(bursts)
    }
}

pub(crate) fn refused(error: ConfigError) -> PyErr {
    match error {
        ConfigError::Cancelled => PyKeyboardInterrupt::new_err("cancelled"),
        ConfigError::Unbalanced(_) => PyRuntimeError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Settings from JSON.
///
/// # Errors
/// JSON that is none, a word, a field or a value that is not taken, a field that is missing: each with its place.
pub fn read_settings<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = error.path().to_string();
        let reason = error.inner().to_string();
        // The line of the JSON text does not help whoever set the field.
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason).to_owned();
        PyValueError::new_err(if place == "." { reason } else { format!("{place}: {reason}") })
    })
}

impl Settings {
    fn into_run(self) -> PyResult<Run> {
        let rate = |name: &'static str, bps| {
            BitRate::from_bps(bps).ok_or_else(|| refused(ConfigError::Value(name, "0".into(), "at least 1 bit/s")))
        };
        let other = |name, bps: Option<u64>| bps.map(|bps| rate(name, bps)).transpose();
        Ok(Run {
            network: Network {
                rate: rate("network.rate", self.rate_bps)?,
                reverse_rate: other("network.reverse_rate", self.reverse_rate_bps)?,
                delay: Time(self.delay_ns),
                reverse_delay: self.reverse_delay_ns.map(Time),
                access_rate: rate("network.access_rate", self.access_rate_bps)?,
                exit_rate: other("network.exit_rate", self.exit_rate_bps)?,
                exit_rate_up: other("network.exit_rate_up", self.exit_rate_up_bps)?,
                access_delay: Time(self.access_delay_ns),
                exit_delay: Time(self.exit_delay_ns),
                limit: self.limit,
                reverse_limit: self.reverse_limit,
                loss: self.loss,
                impairments: self.impairments,
                symmetric: self.symmetric,
                discipline: self.discipline,
                reverse_discipline: self.reverse_discipline,
                traces: self.traces.map(|trace| trace.map(|trace| Arc::new(trace.into_trace()))),
                shaping: self
                    .shaping
                    .map(ShapingSettings::into_shaping)
                    .transpose()
                    .map_err(refused)?
                    .unwrap_or_default(),
            },
            graph: self.graph.map(GraphSettings::into_graph).transpose().map_err(refused)?,
            wlan: self.wlan.map(WlanSettings::into_wlan).transpose()?,
            tree: self.tree.map(TreeSettings::into_tree).transpose().map_err(refused)?,
            tcp: self.tcp,
            transports: self.transports,
            applications: self.applications,
            duration: Time(self.duration_ns),
            stop_when_idle: self.stop_when_idle,
            seed: self.seed,
            clock_phase: self.clock_phase_ns.map(Time),
            sample_interval: Time(self.sample_interval_ns),
            watched: self.watched,
            trace_drops: self.trace_drops,
            counting: Counting { warm_up: Time(self.warm_up_ns), ..Counting::default() },
            traced: self.traced,
            trace_limit: self.trace_limit,
            subflows: self.subflows,
            probes: self.probes.iter().map(|&flow| Probe { flow, echo: self.echoes.contains(&flow) }).collect(),
            scripts: Scripts::default(),
            bursts: Bursts::default(),
        })
    }
}

impl FlowColumns {
    fn rows(&self, py: Python<'_>) -> PyResult<Vec<FlowSpec>> {
        let (start, size) = (self.start_ns.to_vec(py)?, self.size_bytes.to_vec(py)?);
        let (rtt, gap) = (self.rtt_ns.to_vec(py)?, self.gap_ns.to_vec(py)?);
        let (src, dst) = (self.src.to_vec(py)?, self.dst.to_vec(py)?);
        let (flags, len) = (self.flags.to_vec(py)?, self.packet_bytes.to_vec(py)?);
        let (stage, after) = (self.stage.to_vec(py)?, self.after.to_vec(py)?);
        let transport = self.transport.to_vec(py)?;
        let application = self.application.to_vec(py)?;
        let mark = self.mark.to_vec(py)?;
        let rows = start.len();
        let others = [
            size.len(),
            rtt.len(),
            gap.len(),
            src.len(),
            dst.len(),
            flags.len(),
            len.len(),
            stage.len(),
            after.len(),
            transport.len(),
            application.len(),
            mark.len(),
        ];
        if others.iter().any(|&len| len != rows) {
            return Err(PyValueError::new_err("columns of the flow list differ in length"));
        }
        let flow = |i: usize| FlowSpec {
            start: Time(start[i]),
            size_bytes: size[i],
            rtt: (rtt[i] != u64::MAX).then_some(Time(rtt[i])),
            src: src[i],
            dst: dst[i],
            up: flags[i] & 1 != 0,
            receiver_opens: flags[i] & 2 != 0,
            udp: (flags[i] & 4 != 0).then_some((len[i], Time(gap[i]))),
            stage: (stage[i] != u32::MAX).then_some(stage[i]),
            after: (after[i] != u32::MAX).then_some(after[i]),
            script: None,
            transport: transport[i],
            application: application[i],
            mark: mark[i],
        };
        Ok((0..rows).map(flow).collect())
    }
}

/// The run of `settings`, JSON, and the list of `flows`.
///
/// # Errors
/// `ValueError` with one line for settings or columns that are not taken.
pub(crate) fn run_and_list(py: Python<'_>, settings: &str, flows: FlowColumns) -> PyResult<(Run, Vec<FlowSpec>)> {
    let mut run = read_settings::<Settings>(settings)?.into_run()?;
    run.counting.classes = flows.class.to_vec(py)?;
    run.counting.nonresponsive = flows.flags.to_vec(py)?.iter().map(|flags| flags & 8 != 0).collect();
    run.bursts = flows.bursts.rows(py)?;
    let mut rows = flows.rows(py)?;
    flows.scripts.hand_out(&mut run.scripts, &mut rows, py)?;
    Ok((run, rows))
}

/// Runs `flows`, sorted by start, with `settings`, JSON. Returns a dictionary of tables; `cell` and `nodes` are `None`
/// without a wireless cell.
///
/// # Errors
/// `ValueError` with one line for a value out of its bounds; `KeyboardInterrupt` when cancelled; `RuntimeError` when
/// packets are not conserved, a mistake in Mayfly.
#[pyfunction]
#[pyo3(signature = (settings, flows, control, recording=None))]
pub fn run<'py>(
    py: Python<'py>,
    settings: &str,
    flows: FlowColumns,
    control: &Control,
    recording: Option<RecordingSettings>,
) -> PyResult<Bound<'py, PyDict>> {
    let (run, rows) = run_and_list(py, settings, flows)?;
    let recording = recording.map(|recording| recording.into_recording(py)).transpose()?;
    let control = Arc::clone(&control.0);
    let output = py.detach(move || match recording {
        Some(recording) => netsim::run_recorded(&run, &rows, &control, recording),
        None => netsim::run(&run, &rows, &control),
    });
    let output = output.map_err(refused)?;
    as_dictionary(py, &output)
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
pub fn alone(py: Python<'_>, settings: &str, flows: FlowColumns) -> PyResult<(Table, Table)> {
    let settings = read_settings::<Settings>(settings)?;
    let run = settings.into_run()?;
    let rows = flows.rows(py)?;
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
