//! What users feel, measured by the crate `metrics`.

use std::collections::HashMap;
use std::sync::Arc;

use ::metrics::{Facts, Heard, Kind, Listed, Mechanism, Origin, Ran, Rule, Segment, Waits};
use arrow_array::{ArrayRef, BooleanArray, Float64Array};
use netsim::{FlowRecord, Output, PacketTrace, ProbePacket, TrainRecord};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use units::Time;

use crate::flow_data::{other, script_trains, table, whole, whole_or_null};
use crate::observed::{FactArrays, Observed, unfit};
use crate::simulate::{Flows, refused, run_and_list};
use crate::table::{Table, as_json};

/// Columns of the tables of a run that is none of the simulator's, by their names in these; NaN is null. Rows of the
/// workload alone, `flow_id` being a place in its list; those of `probes` are places of the probes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TableArrays {
    flows: FlowTable,
    trains: TrainTable,
    probes: PacketTable,
    calls: PacketTable,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct FlowTable {
    begun_s: PyBuffer<f64>,
    finish_s: PyBuffer<f64>,
    packets_sent: PyBuffer<f64>,
    drops: PyBuffer<f64>,
    lost: PyBuffer<f64>,
    back_bytes: PyBuffer<f64>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TrainTable {
    flow_id: PyBuffer<f64>,
    train: PyBuffer<f64>,
    start_s: PyBuffer<f64>,
    end_s: PyBuffer<f64>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PacketTable {
    flow_id: PyBuffer<f64>,
    number: PyBuffer<f64>,
    sent_s: PyBuffer<f64>,
    received_s: PyBuffer<f64>,
    returned_s: PyBuffer<f64>,
}

fn time(seconds: f64) -> Time {
    if seconds.is_nan() { Time::NEVER } else { Time((seconds * 1e9).round() as u64) }
}

fn seconds(seconds: f64) -> Option<f64> {
    (!seconds.is_nan()).then_some(seconds)
}

/// The rows of some columns of one table.
fn rows<const N: usize>(py: Python<'_>, columns: [&PyBuffer<f64>; N]) -> PyResult<Vec<[f64; N]>> {
    let mut columns = columns.iter().map(|column| column.to_vec(py)).collect::<PyResult<Vec<_>>>()?.into_iter();
    let columns: [Vec<f64>; N] = std::array::from_fn(|_| columns.next().unwrap_or_default());
    let length = columns.first().map_or(0, Vec::len);
    if columns.iter().any(|column| column.len() != length) {
        return Err(PyValueError::new_err("columns of a table: must have the same length"));
    }
    Ok((0..length).map(|row| std::array::from_fn(|column| columns[column][row])).collect())
}

impl PacketTable {
    fn packets(&self, py: Python<'_>) -> PyResult<Vec<ProbePacket>> {
        let table = [&self.flow_id, &self.number, &self.sent_s, &self.received_s, &self.returned_s];
        let packet = |[flow, number, sent, received, returned]: [f64; 5]| ProbePacket {
            flow: flow as u32,
            number: number as u32,
            sent: time(sent),
            received: time(received),
            returned: time(returned),
        };
        Ok(rows(py, table)?.into_iter().map(packet).collect())
    }
}

impl TableArrays {
    /// What the simulator would have returned of them, `before` probes being the first rows of the list.
    fn output(&self, py: Python<'_>, before: usize) -> PyResult<Output> {
        let FlowTable { begun_s, finish_s, packets_sent, drops, lost, back_bytes } = &self.flows;
        let record = |[start, finish, packets_sent, drops, lost, back_bytes]: [f64; 6]| FlowRecord {
            start: time(start),
            finish: time(finish),
            packets_sent: packets_sent as u64,
            drops: drops as u64,
            lost: lost as u64,
            back_bytes: back_bytes as u64,
            ..FlowRecord::default()
        };
        let own = rows(py, [begun_s, finish_s, packets_sent, drops, lost, back_bytes])?.into_iter().map(record);
        let TrainTable { flow_id, start_s, end_s, .. } = &self.trains;
        let train = |[flow, train, start, end]: [f64; 4]| TrainRecord {
            flow: (before + flow as usize) as u32,
            train: train as u32,
            part: 0,
            forward: true,
            start: time(start),
            end: time(end),
        };
        let call = |packet: ProbePacket| PacketTrace {
            flow: before as u32 + packet.flow,
            number: packet.number,
            len: 0,
            back: false,
            ack: false,
            sent: packet.sent,
            queued: Time::NEVER,
            departed: Time::NEVER,
            received: packet.received,
            dropped: Time::NEVER,
            marked: false,
        };
        Ok(Output {
            records: (0..before).map(|_| FlowRecord::default()).chain(own).collect(),
            trains: rows(py, [flow_id, &self.trains.train, start_s, end_s])?.into_iter().map(train).collect(),
            probes: self.probes.packets(py)?,
            packets: self.calls.packets(py)?.into_iter().map(call).collect(),
            ..Output::default()
        })
    }
}

/// What a run of `flows` with `settings`, JSON, has for its users to feel, where its `tables` come from somewhere else
/// than the simulator.
///
/// # Errors
/// `ValueError` with one line for settings, flows, facts or tables that do not fit each other.
#[pyfunction]
pub fn observed(
    py: Python<'_>,
    settings: &str,
    flows: Flows,
    facts: FactArrays,
    tables: TableArrays,
) -> PyResult<Observed> {
    let (run, list) = run_and_list(py, settings, flows)?;
    let facts = facts.facts(py)?;
    facts.check(&run, &list.flows).map_err(unfit)?;
    let output = tables.output(py, facts.before())?;
    if let Some(train) = output.trains.iter().find(|train| train.flow as usize >= list.flows.len()) {
        let (row, flows) = (train.flow as usize - facts.before(), list.flows.len() - facts.before());
        return Err(PyValueError::new_err(format!("trains: flow_id = {row}: must be below {flows}")));
    }
    Observed::of(&Ran { run: &run, flows: &list.flows, output: &output, facts: &facts })
}

/// What users feel in runs of one discipline together: the key `users` of a summary, JSON. `idle_s` is the round-trip
/// time of a ping on the idle link, `span_s` the end of the warm-up and that of the runs; the last three are the fields
/// of [`metrics::Rule`].
#[pyfunction]
pub fn users_of_runs(
    py: Python<'_>,
    runs: Vec<PyRef<'_, Observed>>,
    idle_s: Option<f64>,
    span_s: (f64, f64),
    above: Option<bool>,
    least_bytes: Option<u64>,
    while_busy: Option<bool>,
) -> PyResult<String> {
    let runs: Vec<&::metrics::Observed> = runs.iter().map(|one| &one.0).collect();
    as_json(&py.detach(|| ::metrics::pooled(&runs, idle_s, span_s, Rule { above, least_bytes, while_busy })))
}

/// Columns of a table of flows, `float64` but for `flags`: 1 of those that go up, 2 of those that the receiver opens, 4 of
/// datagrams, as [`settings::FlowColumns`] has them. NaN is null; `scripts` is a table of one column.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ListedArrays {
    flags: PyBuffer<u8>,
    size_bytes: PyBuffer<f64>,
    start_s: PyBuffer<f64>,
    response_s: PyBuffer<f64>,
    scripts: Option<Py<PyAny>>,
}

/// The transfers of a table of flows: the row of each in it as `flow`, the place of its first train in the script as
/// `train`, whether it goes `up`, `size_bytes`, and of those that began or finished `start_s` and `response_s`. `trains`
/// are those that began, `flow_id` being rows of `flows`. With `every` all that the list brings count, whether they began
/// or not; else those that users felt.
///
/// # Errors
/// `ValueError` for columns of different lengths; `TypeError` for a column of scripts that is none.
#[pyfunction]
pub fn listed_transfers(py: Python<'_>, flows: ListedArrays, trains: TrainTable, every: bool) -> PyResult<Table> {
    let flags = flows.flags.to_vec(py)?;
    let times = rows(py, [&flows.size_bytes, &flows.start_s, &flows.response_s])?;
    let up: Vec<bool> = flags.iter().map(|flags| flags & 1 != 0).collect();
    let scripts = flows.scripts.as_ref().map(|scripts| script_trains(scripts.bind(py), &up)).transpose()?;
    let scripts = scripts.unwrap_or_else(|| vec![None; flags.len()]);
    if [times.len(), scripts.len()].iter().any(|&length| length != flags.len()) {
        return Err(PyValueError::new_err("columns of a table: must have the same length"));
    }
    let flow = |(row, [size_bytes, start_s, response_s]): (usize, &[f64; 3])| Listed {
        udp: flags[row] & 4 != 0,
        size_bytes: *size_bytes as u64,
        script: scripts[row].as_deref(),
        up: up[row],
        receiver_opens: flags[row] & 2 != 0,
        start_s: *start_s,
        response_s: seconds(*response_s),
    };
    let list: Vec<Listed<'_>> = times.iter().enumerate().map(flow).collect();
    let began: HashMap<_, _> = rows(py, [&trains.flow_id, &trains.train, &trains.start_s, &trains.end_s])?
        .into_iter()
        .map(|[flow, train, start_s, end_s]| ((flow as u32, train as u32), (start_s, seconds(end_s))))
        .collect();
    let found = py.detach(|| ::metrics::listed(&list, &began, every));
    let times = |of: fn(&::metrics::ListedTransfer) -> Option<f64>| -> ArrayRef {
        Arc::new(found.iter().map(of).collect::<Float64Array>())
    };
    table(vec![
        ("flow", whole(found.iter().map(|one| one.row as u64))),
        ("train", whole_or_null(found.iter().map(|one| one.train.map(|train| train as u64)))),
        ("up", Arc::new(found.iter().map(|one| Some(one.up)).collect::<BooleanArray>())),
        ("size_bytes", whole(found.iter().map(|one| one.size_bytes))),
        ("start_s", times(|one| one.start_s)),
        ("response_s", times(|one| one.response_s)),
    ])
    .map_err(other)
}

/// The list of users' measures, JSON: [`metrics::MEASURES`].
///
/// # Errors
/// `RuntimeError` when it cannot be written as JSON.
#[pyfunction]
pub fn measures() -> PyResult<String> {
    as_json(::metrics::MEASURES.as_slice())
}

/// Round-trip times of pings, `ping` under `users` of a summary, JSON; `null` without any that counts. `returned_s` is
/// NaN for those lost, `end_s` the end of the run.
///
/// # Errors
/// `ValueError` for columns of different lengths.
#[pyfunction]
pub fn ping_figures(
    py: Python<'_>,
    sent_s: PyBuffer<f64>,
    returned_s: PyBuffer<f64>,
    idle_s: f64,
    end_s: f64,
) -> PyResult<String> {
    let packet = |[sent, returned]: [f64; 2]| ProbePacket {
        flow: 0,
        number: 0,
        sent: time(sent),
        received: Time::NEVER,
        returned: time(returned),
    };
    let packets: Vec<ProbePacket> = rows(py, [&sent_s, &returned_s])?.into_iter().map(packet).collect();
    as_json(&::metrics::pings(&packets, idle_s, end_s))
}

/// Packets of a direction of a call in order of sending.
fn heard(py: Python<'_>, sent_s: &PyBuffer<f64>, received_s: &PyBuffer<f64>) -> PyResult<Vec<Heard>> {
    let packet = |[sent_s, received]: [f64; 2]| Heard { sent_s, received_s: seconds(received) };
    let mut found: Vec<Heard> = rows(py, [sent_s, received_s])?.into_iter().map(packet).collect();
    found.sort_by(|a, b| a.sent_s.total_cmp(&b.sent_s));
    Ok(found)
}

/// A call in one direction, `down` of `call` under `users` of a summary, JSON; `null` without packets. `received_s` is NaN
/// for those lost.
///
/// # Errors
/// `ValueError` for columns of different lengths.
#[pyfunction]
pub fn direction_figures(py: Python<'_>, sent_s: PyBuffer<f64>, received_s: PyBuffer<f64>) -> PyResult<String> {
    as_json(&::metrics::direction(&[heard(py, &sent_s, &received_s)?]))
}

/// A call in both directions, `call` under `users` of a summary, JSON; `null` without packets in one of them. Each is a
/// pair of columns as of [`direction_figures`].
///
/// # Errors
/// `ValueError` for columns of different lengths.
#[pyfunction]
pub fn call_figures(
    py: Python<'_>,
    down: (PyBuffer<f64>, PyBuffer<f64>),
    up: (PyBuffer<f64>, PyBuffer<f64>),
) -> PyResult<String> {
    let [down, up] = [heard(py, &down.0, &down.1)?, heard(py, &up.0, &up.1)?];
    as_json(&::metrics::call(Origin::Synthetic, &[down], &[up]))
}

/// How often a film stood still up to `end_s`, for how long, and how long it was watched, seconds, `None` when it did not
/// begin. `received_s` is NaN for segments that did not come, `dry_s` while the film does not play.
///
/// # Errors
/// `ValueError` for columns of different lengths.
#[pyfunction]
pub fn film_watched(
    py: Python<'_>,
    received_s: PyBuffer<f64>,
    dry_s: PyBuffer<f64>,
    last: bool,
    end_s: f64,
) -> PyResult<(u64, f64, Option<f64>)> {
    let segment =
        |[received, dry]: [f64; 2]| Segment { received_s: seconds(received), dry_s: seconds(dry), last: false };
    let mut segments: Vec<Segment> = rows(py, [&received_s, &dry_s])?.into_iter().map(segment).collect();
    if let Some(end) = segments.last_mut() {
        end.last = last;
    }
    let watched = ::metrics::Watched::of(&segments, end_s);
    Ok((watched.stalls, watched.stalled_s, watched.watched_s))
}

/// What the queues of a run did.
#[derive(Serialize)]
struct Explained {
    kinds: Vec<Kind>,
    waits: Waits,
    mechanisms: Vec<Mechanism>,
}

/// Runs `flows`, those that `settings` name traced both ways, and says what the queues did to them: kinds of the flows, who
/// waits for whom in the downward queue, and mechanisms, as JSON. `facts`, JSON, is what the run does not know.
///
/// # Errors
/// `ValueError` as [`run`](crate::simulate::run), and for facts that do not fit the flows.
#[pyfunction]
pub fn queues_explained(py: Python<'_>, settings: &str, flows: Flows, facts: &str) -> PyResult<String> {
    let facts: Facts = ::settings::read(facts).map_err(refused)?;
    let (run, list) = run_and_list(py, settings, flows)?;
    let rows = list.flows.as_slice();
    facts.check(&run, rows).map_err(unfit)?;
    let found = py.detach(|| {
        let output = netsim::run_both_ways(&run, rows, &netsim::Control::default()).map_err(refused)?;
        let ran = Ran { run: &run, flows: rows, output: &output, facts: &facts };
        let kinds = ::metrics::kinds(&ran, &[]).map_err(unfit)?;
        let mechanisms = ::metrics::mechanisms(&ran, &kinds).map_err(unfit)?;
        Ok::<_, PyErr>(Explained { waits: ::metrics::waits(&ran, &kinds, false), kinds, mechanisms })
    });
    as_json(&found?)
}
