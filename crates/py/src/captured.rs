//! Captures that were read for a replay, and the flow lists of each form of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat_batches;
use capture::{Protocol, read_files};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use replay::{Exchange, Flow, Form, Has, Networks, Options, Rates, Refused, Sent, Start, Transfer, What, closed};

use crate::capture::{Onlooker, ReadOptions, Told};
use crate::flow_data::{batches, burst_column, script_column, table, whole, whole_or_null};
use crate::table::{Table, as_json};

fn failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

pub(crate) fn no_replay(refused: Refused) -> PyErr {
    PyValueError::new_err(refused.to_string())
}

/// Captures, read as one, without tables; nothing when a replay has taken them over.
#[pyclass(frozen)]
pub struct CaptureReading(Mutex<Option<replay::Reading>>);

impl CaptureReading {
    fn held(&self) -> MutexGuard<'_, Option<replay::Reading>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, of: impl FnOnce(&replay::Reading) -> PyResult<T>) -> PyResult<T> {
        self.held().as_ref().map_or_else(|| Err(taken_over()), of)
    }
}

fn taken_over() -> PyErr {
    PyValueError::new_err("the reading was taken over by a replay: read the capture again")
}

#[pymethods]
impl CaptureReading {
    /// Reads the captures at `paths`, which messages call `name`; `options` and `look` as `read_capture` takes them.
    ///
    /// # Errors
    /// As `read_capture`.
    #[new]
    fn new(py: Python<'_>, name: &str, paths: Vec<PathBuf>, options: ReadOptions, look: Py<PyAny>) -> PyResult<Self> {
        let options = options.checked()?;
        let mut onlooker = Onlooker::of(&look);
        let outcome = py.detach(|| read_files(&paths, &options, &mut onlooker));
        onlooker.raised()?;
        let read = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(CaptureReading(Mutex::new(Some(replay::Reading::of(name, read)))))
    }

    /// What was counted, as JSON.
    fn counts(&self) -> PyResult<String> {
        self.with(|reading| as_json(&Told::of(&reading.capture().counts)))
    }

    /// The table of connections, or columns of it by name.
    #[pyo3(signature = (names=None))]
    fn connections(&self, names: Option<Vec<String>>) -> PyResult<Table> {
        self.with(|reading| {
            let connections = &reading.capture().connections;
            names.map_or_else(|| Table::of(connections), |names| Table::of_columns(connections, &names))
        })
    }
}

/// A capture, ready to be replayed in one form over any link.
#[pyclass(frozen)]
pub struct Replay(replay::Replay);

#[pymethods]
impl Replay {
    /// Names of the forms.
    #[classattr]
    #[pyo3(name = "FORMS")]
    fn forms() -> Vec<&'static str> {
        Form::NAMES.map(|(_, name)| name).to_vec()
    }

    /// Of a reading, in the form of this name; `internal` are the networks of the near side, found when None. With `last`
    /// the reading is taken over: its memory is given back, and it holds nothing any more.
    ///
    /// # Errors
    /// `ValueError` with one line: another form, networks without a host, nothing to replay, or more trains or packets
    /// than were read.
    #[new]
    #[pyo3(signature = (reading, form, internal, mss, header_bytes, tcp_only=false, last=false))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        reading: &CaptureReading,
        form: &str,
        internal: Option<Vec<String>>,
        mss: u32,
        header_bytes: u32,
        tcp_only: bool,
        last: bool,
    ) -> PyResult<Self> {
        let known = Form::NAMES.into_iter().find(|&(_, name)| name == form);
        let (form, _) = known.ok_or_else(|| PyValueError::new_err(format!("replay = {form:?}: is no form")))?;
        let networks =
            internal.map(Networks::parse).transpose().map_err(|none| PyValueError::new_err(none.to_string()))?;
        let options = Options { networks, mss, header_bytes, form, tcp_only };
        let of = || match last {
            true => reading.held().take().map(|reading| replay::Replay::of_all(reading, options)),
            false => reading.held().as_ref().map(|reading| replay::Replay::of(reading, options)),
        };
        py.detach(of).ok_or_else(taken_over)?.map(Replay).map_err(no_replay)
    }

    /// What to doubt in the capture, in sentences.
    #[getter]
    fn doubts(&self) -> Vec<String> {
        self.0.doubts().to_vec()
    }

    /// What of the capture no list has, in sentences.
    #[getter]
    fn missing(&self) -> Vec<String> {
        self.0.missing().to_vec()
    }

    /// From the first packet of the connections to the last one, s.
    #[getter]
    fn lasted_s(&self) -> f64 {
        self.0.lasted_s()
    }

    /// Shares of the bytes: QUIC, of that what is so probably, other UDP, of that at port 443, calls, video calls and games, and other IP protocols.
    #[getter]
    fn udp(&self) -> (f64, f64, f64, f64, f64, f64, f64) {
        let udp = self.0.udp();
        (udp.quic, udp.probably, udp.other, udp.at_443, udp.calls, udp.media, udp.opaque)
    }

    /// Payload of the datagrams that carry most of the bytes of QUIC; None without any.
    #[getter]
    fn quic_datagram_bytes(&self) -> Option<u16> {
        self.0.quic_datagram_bytes()
    }

    /// What the capture shows of its link: bytes around each packet of IP, 0 of plain Ethernet, and whether addresses of
    /// the near side may be translated.
    #[getter]
    fn framing(&self) -> (u64, bool) {
        let framing = self.0.framing();
        (framing.overhead_bytes, framing.translated)
    }

    /// Share of the packets of the capture that are in no connection.
    #[getter]
    fn left_out_share(&self) -> f64 {
        self.0.left_out_share()
    }

    /// Flows at their times in the capture, over a link of these rates; what they lack, in sentences; the round-trip time of
    /// the path, s; and what is left aside. With `rtt_s` all round-trip times are multiplied so that the path has it; where `scaled`,
    /// their times will be multiplied and may span years.
    ///
    /// # Errors
    /// `ValueError` with one line: a value that a flow list cannot hold, or flows that span years.
    fn flows(
        &self,
        py: Python<'_>,
        down_bps: f64,
        up_bps: f64,
        rtt_s: Option<f64>,
        scaled: bool,
    ) -> PyResult<(Table, Vec<String>, Option<f64>, Asides)> {
        let rates = Rates { down: down_bps, up: up_bps };
        let (parts, missing, rtt_s, asides) = py
            .detach(|| {
                let captured = self.0.flows(rates, rtt_s, scaled)?;
                let (addresses, mut parts, mut first) = (captured.addresses(), Vec::new(), 0);
                captured.flows_in_parts(AT_ONCE, |flows, has| {
                    let rows = flows.len() as u64;
                    parts.push(flow_table(self.0.form(), first, flows, has, &addresses));
                    first += rows;
                })?;
                let asides = Asides(captured.asides.clone());
                Ok((parts, captured.missing.clone(), captured.rtt_s, asides))
            })
            .map_err(no_replay)?;
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let table = match parts.as_slice() {
            [one] => one.clone(),
            several => concat_batches(&several[0].schema(), several).map_err(failed)?,
        };
        Ok((table.into(), missing, rtt_s, asides))
    }

    /// Trains of the connections over a link of these rates: connection, side, payload, first and last packet, and what
    /// the side adds before it to the time that the path takes.
    fn trains(&self, down_bps: f64, up_bps: f64) -> PyResult<Table> {
        let steps = self.0.steps(Rates { down: down_bps, up: up_bps });
        let side = |from_opener: bool| Some(if from_opener { "opener" } else { "responder" });
        let seconds = |of: fn(&replay::Step) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(steps.iter().map(of)))
        };
        table(vec![
            ("connection_id", whole(steps.iter().map(|step| u64::from(step.connection)))),
            ("side", Arc::new(steps.iter().map(|step| side(step.from_opener)).collect::<StringViewArray>())),
            ("bytes", whole(steps.iter().map(|step| step.bytes))),
            ("start_s", seconds(|step| step.start_s)),
            ("end_s", seconds(|step| step.end_s)),
            ("wait_ns", whole(steps.iter().map(|step| step.wait_ns))),
            ("pace_ns", whole(steps.iter().map(|step| step.pace_ns))),
        ])
        .map_err(failed)
    }
}

/// What of a capture a flow list leaves aside: whole connections, and messages of others.
#[pyclass(frozen)]
pub struct Asides(replay::Asides);

#[pymethods]
impl Asides {
    /// Packets and IP bytes by reason, where these rows of the table of connections are in the answer.
    ///
    /// # Errors
    /// `TypeError` for another buffer than one of unsigned 64-bit integers.
    fn of(&self, py: Python<'_>, used: PyBuffer<u64>) -> PyResult<Vec<(&'static str, (u64, u64))>> {
        let mut used = used.to_vec(py)?;
        used.sort_unstable();
        let found = self.0.of(|connection| used.binary_search(&connection.into()).is_ok());
        let named = found.into_iter().filter(|(_, amount)| !amount.is_none());
        Ok(named.map(|(reason, amount)| (reason.name(), (amount.count, amount.bytes))).collect())
    }
}

/// Preset of the transport of QUIC flows.
const QUIC: &str = "quic";

/// Rows of a flow list that are made at once.
const AT_ONCE: usize = 1 << 16;

/// The columns of a normalised flow list from row `first` on, then the row of the connection, how long it lasted where users wait, and packets
/// of calls where there are some.
fn flow_table(
    form: Form,
    first: u64,
    mut flows: Vec<Flow>,
    has: Has,
    addresses: &[String],
) -> Result<RecordBatch, ArrowError> {
    let height = flows.len();
    let word = |of: &dyn Fn(&Flow) -> &'static str| -> ArrayRef {
        Arc::new(flows.iter().map(|flow| Some(of(flow))).collect::<StringViewArray>())
    };
    let host = |of: fn(&Flow) -> u32| -> ArrayRef {
        Arc::new(flows.iter().map(|flow| Some(addresses[of(flow) as usize].as_str())).collect::<StringViewArray>())
    };
    let times = |of: fn(&Flow) -> Option<f64>| -> ArrayRef { Arc::new(flows.iter().map(of).collect::<Float64Array>()) };
    let udp = |flow: &Flow| match flow.what {
        What::Rate(packet_bytes, rate_bps) | What::Bursts(_, packet_bytes, rate_bps) => Some((packet_bytes, rate_bps)),
        What::Script(_) | What::Transfer => None,
    };
    let null = |kind: &DataType| new_null_array(kind, height);
    let rates = flows.iter().map(|flow| udp(flow).map(|(_, rate_bps)| rate_bps)).collect::<Float64Array>();
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("flow_id", whole(first..first + height as u64)),
        ("start_s", times(|flow| Some(flow.start_s))),
        ("src", host(|flow| flow.src)),
        ("dst", host(|flow| flow.dst)),
        ("direction", word(&|flow| if flow.up { "up" } else { "down" })),
        ("protocol", word(&|flow| if udp(flow).is_some() { "udp" } else { "tcp" })),
        ("size_bytes", whole(flows.iter().map(|flow| flow.size_bytes))),
        ("rtt_s", times(|flow| flow.rtt_s)),
        ("opened_by", word(&|flow| if flow.from_opener { "sender" } else { "receiver" })),
        ("packet_bytes", whole_or_null(flows.iter().map(|flow| udp(flow).map(|(bytes, _)| u64::from(bytes))))),
        ("rate_bps", Arc::new(rates)),
    ];
    if form != Form::Transfers {
        columns.push(("group", null(&DataType::Utf8View)));
        columns.push(("stage", null(&DataType::Int64)));
        columns.push(("after", null(&DataType::Int64)));
    }
    let connections = whole(flows.iter().map(|flow| u64::from(flow.connection)));
    let lasted = times(|flow| flow.lasted_s);
    let calls = whole_or_null(flows.iter().map(|flow| flow.call_packets));
    let transports = flows.iter().map(|flow| flow.quic.then_some(QUIC)).collect::<StringViewArray>();
    let (mut bursts, mut scripts) = (Vec::with_capacity(height), Vec::with_capacity(height));
    for flow in flows.drain(..) {
        let (own_bursts, own_script) = match flow.what {
            What::Bursts(own, ..) => (Some(own), None),
            What::Script(script) => (None, Some(script)),
            What::Rate(..) | What::Transfer => (None, None),
        };
        bursts.push(own_bursts);
        scripts.push(own_script);
    }
    if has.bursts {
        columns.push(("bursts", burst_column(&bursts)?));
    }
    if has.quic {
        columns.push(("transport", Arc::new(transports)));
    }
    if has.scripts {
        columns.push(("script", script_column(&scripts)?));
    }
    columns.push(("connection_id", connections));
    if form == Form::Users {
        columns.push(("lasted_s", lasted));
    }
    if has.calls {
        columns.push(("call_packets", calls));
    }
    table(columns).map(Table::batch)
}

/// Rows of a table of connections: `udp`, `start_s`, `rtt_s`, and of each end `first_s`, `last_s`, `first_data_s`,
/// `packets`, `wire_bytes` and `distinct_bytes`.
fn exchanges(batch: &RecordBatch) -> PyResult<Vec<Exchange>> {
    let column = |name: &str| {
        batch.column_by_name(name).ok_or_else(|| PyTypeError::new_err(format!("column {name} is missing")))
    };
    let other = |name: &str| PyTypeError::new_err(format!("column {name}: must be another type"));
    let times = |name: &str| column(name)?.as_primitive_opt::<Float64Type>().ok_or_else(|| other(name));
    let counts = |name: &str| column(name)?.as_primitive_opt::<Int64Type>().ok_or_else(|| other(name));
    let time = |array: &Float64Array, row: usize| array.is_valid(row).then(|| array.value(row));
    let count = |array: &Int64Array, row: usize| u64::try_from(array.value(row)).ok().filter(|_| array.is_valid(row));
    let udp = column("udp")?.as_boolean_opt().ok_or_else(|| other("udp"))?;
    let (start_s, rtt_s) = (times("start_s")?, times("rtt_s")?);
    let mut rows: Vec<Exchange> = (0..batch.num_rows())
        .map(|row| Exchange {
            protocol: if udp.value(row) { Protocol::Udp } else { Protocol::Tcp },
            start_s: start_s.value(row),
            rtt_s: time(rtt_s, row),
            sent: [Sent::default(); 2],
        })
        .collect();
    for (place, end) in ["opener", "responder"].into_iter().enumerate() {
        let named = |name: &str| format!("{end}_{name}");
        let [first_s, last_s, first_data_s] =
            [times(&named("first_s"))?, times(&named("last_s"))?, times(&named("first_data_s"))?];
        let [packets, wire_bytes, distinct_bytes] =
            [counts(&named("packets"))?, counts(&named("wire_bytes"))?, counts(&named("distinct_bytes"))?];
        for (row, exchange) in rows.iter_mut().enumerate() {
            exchange.sent[place] = Sent {
                first_s: time(first_s, row),
                last_s: time(last_s, row),
                first_data_s: time(first_data_s, row),
                packets: count(packets, row).unwrap_or(0),
                wire_bytes: count(wire_bytes, row).unwrap_or(0),
                distinct_bytes: count(distinct_bytes, row).unwrap_or(0),
            };
        }
    }
    Ok(rows)
}

/// Transfers of a table of connections of TCP and UDP, those from openers first: the `row` of each, whether it is
/// `from_opener`, and the columns of a flow list that do not depend on the near side. Of a part of the connections
/// `usual_rtt_s` is the median of the round-trip times of all.
///
/// # Errors
/// `TypeError` for other columns.
#[pyfunction]
#[pyo3(signature = (connections, usual_rtt_s=None))]
pub fn transfers(connections: &Bound<'_, PyAny>, usual_rtt_s: Option<f64>) -> PyResult<Table> {
    let batches = batches(connections)?;
    let mut rows = Vec::new();
    for batch in &batches {
        rows.extend(exchanges(batch)?);
    }
    let found = match usual_rtt_s {
        Some(usual_rtt_s) => replay::transfers_of_part(&rows, Some(usual_rtt_s)),
        None => replay::transfers(&rows),
    };
    let times =
        |of: fn(&Transfer) -> Option<f64>| -> ArrayRef { Arc::new(found.iter().map(of).collect::<Float64Array>()) };
    let from_opener = found.iter().map(|one| Some(one.from_opener)).collect::<BooleanArray>();
    table(vec![
        ("row", whole(found.iter().map(|one| u64::from(one.connection)))),
        ("from_opener", Arc::new(from_opener)),
        ("start_s", times(|one| Some(one.start_s))),
        ("size_bytes", whole(found.iter().map(|one| one.size_bytes))),
        ("rtt_s", times(|one| one.rtt_s)),
        ("packet_bytes", whole_or_null(found.iter().map(|one| one.udp.map(|(bytes, _)| u64::from(bytes))))),
        ("rate_bps", times(|one| one.udp.map(|(_, rate_bps)| rate_bps))),
    ])
    .map_err(failed)
}

/// When flows start whose users wait for what they had before: `start_s`, since the end of stage `after` where there is one,
/// and the `stage` of each, in the order of the list. Of each flow its start, s, its user by number, and how long it
/// lasted, s; not a number for those that nobody waits for.
///
/// # Errors
/// `ValueError` for arrays of different lengths.
#[pyfunction]
pub fn closed_loop(
    py: Python<'_>,
    begun_s: PyBuffer<f64>,
    users: PyBuffer<u32>,
    lasted_s: PyBuffer<f64>,
) -> PyResult<Table> {
    let (begun_s, users, lasted_s) = (begun_s.to_vec(py)?, users.to_vec(py)?, lasted_s.to_vec(py)?);
    if begun_s.len() != users.len() || begun_s.len() != lasted_s.len() {
        return Err(PyValueError::new_err("begun_s, users, lasted_s: must be of one length"));
    }
    let mut order: Vec<usize> = (0..begun_s.len()).collect();
    order.sort_by(|&one, &other| begun_s[one].total_cmp(&begun_s[other]));
    let flow = |&row: &usize| (begun_s[row], users[row], Some(lasted_s[row]).filter(|lasted_s| lasted_s.is_finite()));
    let mut starts = vec![Start::default(); order.len()];
    for (&row, start) in order.iter().zip(closed(order.iter().map(flow))) {
        starts[row] = start;
    }
    let number = |of: fn(&Start) -> Option<u32>| whole_or_null(starts.iter().map(|start| of(start).map(u64::from)));
    table(vec![
        ("start_s", Arc::new(Float64Array::from_iter_values(starts.iter().map(|start| start.start_s)))),
        ("stage", number(|start| start.stage)),
        ("after", number(|start| start.after)),
    ])
    .map_err(failed)
}

/// Refuses flows that span years, from their starts and how long their packets came, s; where `scaled`, decades.
///
/// # Errors
/// `ValueError` with one line that calls them `source`.
#[pyfunction]
pub fn refuse_clock_jump(
    py: Python<'_>,
    starts_s: PyBuffer<f64>,
    source: &str,
    lasted_s: f64,
    scaled: bool,
) -> PyResult<()> {
    let mut starts_s = starts_s.to_vec(py)?;
    starts_s.sort_unstable_by(f64::total_cmp);
    let found = if scaled {
        replay::refuse_beyond_a_list(&starts_s, source)
    } else {
        replay::refuse_clock_jump(&starts_s, source, lasted_s)
    };
    found.map_err(no_replay)
}
