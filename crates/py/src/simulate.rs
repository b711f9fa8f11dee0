//! Runs of the simulator with flows and records as columns.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use netsim::config::{BackoffEnd, Congestion, LossWindow, Recovery, RecoveryExit, RtoRule};
use netsim::{Burst, Bursts, ConfigError, Counting, End, FlowSpec, Network, Recording, Run, Scripts, Side, Tcp};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use qdisc::Limit;
use units::{BitRate, Time};

use crate::graph::GraphSettings;
use crate::output::{as_dictionary, integers};
use crate::scripts::ScriptColumns;
use crate::wlan::WlanSettings;

/// Window rules by name, in the order of their numbers in the flags of a flow.
const RULES: [(&str, Congestion); 5] = [
    ("aimd", Congestion::Aimd),
    ("iiad", Congestion::Iiad),
    ("sqrt", Congestion::Sqrt),
    ("cubic", Congestion::Cubic),
    ("bbr", Congestion::Bbr),
];

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

/// Settings of a run; times in nanoseconds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    rate_bps: u64,
    reverse_rate_bps: Option<u64>,
    delay_ns: u64,
    access_rate_bps: u64,
    exit_rate_bps: Option<u64>,
    exit_rate_up_bps: Option<u64>,
    access_delay_ns: u64,
    exit_delay_ns: u64,
    limit: u64,
    limit_in_bytes: bool,
    reverse_limit: u64,
    reverse_limit_in_bytes: bool,
    loss: f64,
    discipline: Discipline,
    reverse_discipline: Discipline,
    graph: Option<GraphSettings>,
    wlan: Option<WlanSettings>,
    tcp: TcpSettings,
    duration_ns: u64,
    stop_when_idle: bool,
    seed: u64,
    sample_interval_ns: u64,
    watched: Vec<u32>,
    trace_drops: bool,
    warm_up_ns: u64,
    traced: Vec<u32>,
    trace_limit: u64,
    subflows: bool,
    recording: Option<RecordingSettings>,
}

/// File of a recorded run, `server` or `client`, and an IPv4 address and a port of the sender and the receiver of each
/// flow, four columns.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RecordingSettings {
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
            side: if self.side == "client" { Side::Client } else { Side::Server },
            ends: from?.into_iter().zip(to?).map(|(from, to)| [from, to]).collect(),
        })
    }
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct TcpSettings {
    mss: u32,
    header: u32,
    initial_window: u32,
    receiver_window: u32,
    initial_rto_ns: u64,
    min_rto_ns: u64,
    max_rto_ns: u64,
    tick_ns: u64,
    delayed_ack_ns: u64,
    fin: bool,
    fin_on_data: bool,
    close_acks: u32,
    handshake_ack: bool,
    limited_transmit: bool,
    ecn: bool,
    hystart: bool,
    byte_counting: bool,
    congestion: String,
    lax_duplicates: bool,
    impatient: bool,
    recovery_burst: u32,
    loss_window: String,
    recovery_exit: String,
    repair_end_opens: bool,
    backoff_ends: String,
    time_repeated_syn: bool,
    syn_loss_lowers_ssthresh: bool,
    recycled_senders: bool,
    recovery: String,
    timestamps: bool,
    rto_rule: String,
    pacing: bool,
    quick_acks: u32,
    syn_retries: Option<u32>,
    retries: Option<u32>,
    restart_after_idle: bool,
}

/// Columns of the flow list; `flags`: 1 up, 2 receiver opens, 4 UDP, 8 does not respond, 16 times (1 + number in
/// [`RULES`]) for a window rule of its own; `stage`, `after`: 2^32 - 1 for none.
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
    stage: PyBuffer<u32>,
    after: PyBuffer<u32>,
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

fn refused(error: ConfigError) -> PyErr {
    match error {
        ConfigError::Cancelled => PyKeyboardInterrupt::new_err("cancelled"),
        other => PyValueError::new_err(other.to_string()),
    }
}

impl Settings {
    fn into_run(self) -> PyResult<Run> {
        let rate = |name: &'static str, bps| {
            BitRate::from_bps(bps).ok_or_else(|| refused(ConfigError::Value(name, "0".into(), "at least 1 bit/s")))
        };
        let other = |name, bps: Option<u64>| bps.map(|bps| rate(name, bps)).transpose();
        let limit = |limit, in_bytes| {
            let packets = || u32::try_from(limit).map_err(|_| refused(too_large(limit)));
            PyResult::Ok(if in_bytes { Limit::Bytes(limit) } else { Limit::Packets(packets()?) })
        };
        let tcp = self.tcp;
        Ok(Run {
            network: Network {
                rate: rate("network.rate", self.rate_bps)?,
                reverse_rate: other("network.reverse_rate", self.reverse_rate_bps)?,
                delay: Time(self.delay_ns),
                access_rate: rate("network.access_rate", self.access_rate_bps)?,
                exit_rate: other("network.exit_rate", self.exit_rate_bps)?,
                exit_rate_up: other("network.exit_rate_up", self.exit_rate_up_bps)?,
                access_delay: Time(self.access_delay_ns),
                exit_delay: Time(self.exit_delay_ns),
                limit: limit(self.limit, self.limit_in_bytes)?,
                reverse_limit: limit(self.reverse_limit, self.reverse_limit_in_bytes)?,
                loss: self.loss,
                discipline: self.discipline,
                reverse_discipline: self.reverse_discipline,
            },
            graph: self.graph.map(GraphSettings::into_graph).transpose().map_err(refused)?,
            wlan: self.wlan.map(WlanSettings::into_wlan).transpose()?,
            tcp: Tcp {
                mss: tcp.mss,
                header: tcp.header,
                initial_window: tcp.initial_window,
                receiver_window: tcp.receiver_window,
                initial_rto: Time(tcp.initial_rto_ns),
                min_rto: Time(tcp.min_rto_ns),
                max_rto: Time(tcp.max_rto_ns),
                tick: Time(tcp.tick_ns),
                delayed_ack: Time(tcp.delayed_ack_ns),
                fin: tcp.fin,
                fin_on_data: tcp.fin_on_data,
                close_acks: tcp.close_acks,
                handshake_ack: tcp.handshake_ack,
                limited_transmit: tcp.limited_transmit,
                ecn: tcp.ecn,
                hystart: tcp.hystart,
                byte_counting: tcp.byte_counting,
                congestion: RULES.iter().find(|row| row.0 == tcp.congestion).map_or(Congestion::Aimd, |row| row.1),
                lax_duplicates: tcp.lax_duplicates,
                impatient: tcp.impatient,
                recovery_burst: tcp.recovery_burst,
                loss_window: match tcp.loss_window.as_str() {
                    "cwnd" => LossWindow::Cwnd,
                    _ => LossWindow::Flight,
                },
                recovery_exit: match tcp.recovery_exit.as_str() {
                    "as-is" => RecoveryExit::AsIs,
                    _ => RecoveryExit::Deflate,
                },
                repair_end_opens: tcp.repair_end_opens,
                backoff_ends: if tcp.backoff_ends == "ack" { BackoffEnd::Ack } else { BackoffEnd::Sample },
                time_repeated_syn: tcp.time_repeated_syn,
                syn_loss_lowers_ssthresh: tcp.syn_loss_lowers_ssthresh,
                recycled_senders: tcp.recycled_senders,
                recovery: match tcp.recovery.as_str() {
                    "reno" => Recovery::Reno,
                    "sack" => Recovery::Sack,
                    _ => Recovery::NewReno,
                },
                timestamps: tcp.timestamps,
                rto_rule: if tcp.rto_rule == "linux" { RtoRule::Linux } else { RtoRule::Rfc6298 },
                pacing: tcp.pacing,
                quick_acks: tcp.quick_acks,
                syn_retries: tcp.syn_retries,
                retries: tcp.retries,
            },
            duration: Time(self.duration_ns),
            stop_when_idle: self.stop_when_idle,
            seed: self.seed,
            sample_interval: Time(self.sample_interval_ns),
            watched: self.watched,
            trace_drops: self.trace_drops,
            counting: Counting { warm_up: Time(self.warm_up_ns), ..Counting::default() },
            traced: self.traced,
            trace_limit: self.trace_limit,
            subflows: self.subflows,
            scripts: Scripts { restart_after_idle: tcp.restart_after_idle, ..Scripts::default() },
            bursts: Bursts::default(),
        })
    }
}

pub(crate) fn too_large(limit: u64) -> ConfigError {
    ConfigError::Value("network.buffer", limit.to_string(), "at most 4294967295 packets")
}

impl FlowColumns {
    fn rows(&self, py: Python<'_>) -> PyResult<Vec<FlowSpec>> {
        let (start, size) = (self.start_ns.to_vec(py)?, self.size_bytes.to_vec(py)?);
        let (rtt, gap) = (self.rtt_ns.to_vec(py)?, self.gap_ns.to_vec(py)?);
        let (src, dst) = (self.src.to_vec(py)?, self.dst.to_vec(py)?);
        let (flags, len) = (self.flags.to_vec(py)?, self.packet_bytes.to_vec(py)?);
        let (stage, after) = (self.stage.to_vec(py)?, self.after.to_vec(py)?);
        let rows = start.len();
        let others =
            [size.len(), rtt.len(), gap.len(), src.len(), dst.len(), flags.len(), len.len(), stage.len(), after.len()];
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
            congestion: usize::from(flags[i] >> 4).checked_sub(1).and_then(|rule| RULES.get(rule)).map(|row| row.1),
        };
        Ok((0..rows).map(flow).collect())
    }
}

/// Runs `flows`, sorted by start, with `settings`: dictionaries `records`, `samples`, `counters`, `drops`,
/// `packets`, `timeouts`, `subflows`.
///
/// Columns come back as bytes of little-endian `uint64` or `float64`; times in nanoseconds with
/// 2^64 - 1 for never.
///
/// # Errors
/// `ValueError` with one line for a value out of its bounds; `KeyboardInterrupt` when cancelled.
#[pyfunction]
pub fn run<'py>(
    py: Python<'py>,
    settings: Settings,
    flows: FlowColumns,
    control: &Control,
) -> PyResult<Bound<'py, PyDict>> {
    let mut settings = settings;
    let recording = settings.recording.take().map(|recording| recording.into_recording(py)).transpose()?;
    let mut run = settings.into_run()?;
    run.counting.classes = flows.class.to_vec(py)?;
    run.counting.nonresponsive = flows.flags.to_vec(py)?.iter().map(|flags| flags & 8 != 0).collect();
    run.bursts = flows.bursts.rows(py)?;
    let mut rows = flows.rows(py)?;
    flows.scripts.hand_out(&mut run.scripts, &mut rows, py)?;
    drop(flows);
    let control = Arc::clone(&control.0);
    let output = py.detach(move || match recording {
        Some(recording) => netsim::run_recorded(&run, &rows, &control, recording),
        None => netsim::run(&run, &rows, &control),
    });
    let output = output.map_err(refused)?;
    as_dictionary(py, &output)
}

/// Response of each flow of `flows` alone on its path: arrival times of its data segments and FIN since its
/// start (all flows one after the other), their number per flow, and the end of each flow; nanoseconds as bytes of
/// `uint64`.
///
/// # Errors
/// As [`run`].
#[pyfunction]
pub fn alone<'py>(
    py: Python<'py>,
    settings: Settings,
    flows: FlowColumns,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let run = settings.into_run()?;
    let rows = flows.rows(py)?;
    drop(flows);
    let responses: Vec<netsim::Alone> =
        py.detach(|| rows.iter().map(|flow| netsim::alone(&run, flow)).collect::<Result<_, _>>()).map_err(refused)?;
    Ok((
        integers(py, responses.iter().flat_map(|r| &r.arrivals).map(|time| time.0)),
        integers(py, responses.iter().map(|r| r.arrivals.len() as u64)),
        integers(py, responses.iter().map(|r| r.finish.0)),
    ))
}
