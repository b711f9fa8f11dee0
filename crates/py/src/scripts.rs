//! Scripts of connections and their trains as columns.

use netsim::{FlowSpec, Part, Scripts, Train};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use units::Time;

/// Columns of the trains of scripted flows, ascending by `flow`, the index in the flow list, and place in the script;
/// `forward` is 1 for data from the sender to the receiver of the flow.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ScriptColumns {
    flow: PyBuffer<u32>,
    forward: PyBuffer<u8>,
    bytes: PyBuffer<u64>,
    wait_ns: PyBuffer<u64>,
    pace_ns: PyBuffer<u64>,
    parts: PartColumns,
    streams: StreamColumns,
    /// Flows that are over for others with their last train.
    done: PyBuffer<u32>,
}

/// Columns of the trains whose parts are streams, ascending by `flow` and `train`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct StreamColumns {
    flow: PyBuffer<u32>,
    train: PyBuffer<u32>,
}

impl StreamColumns {
    fn hand_out(&self, scripts: &mut Scripts, flows: &[FlowSpec], py: Python<'_>) -> PyResult<()> {
        let (flow, train) = (self.flow.to_vec(py)?, self.train.to_vec(py)?);
        if train.len() != flow.len() {
            return Err(PyValueError::new_err("columns of the streams differ in length"));
        }
        if !flow.is_empty() {
            scripts.streams.resize(scripts.list.len(), Vec::new());
        }
        for (&flow, &train) in flow.iter().zip(&train) {
            let script = flows.get(flow as usize).and_then(|spec| spec.script);
            let script = script.ok_or_else(|| PyValueError::new_err("streams of a flow without a script"))?;
            scripts.streams[script as usize].push(train);
        }
        Ok(())
    }
}

/// Columns of the parts of trains, ascending by `flow`, `train` and `end`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PartColumns {
    flow: PyBuffer<u32>,
    train: PyBuffer<u32>,
    end: PyBuffer<u64>,
    number: PyBuffer<u32>,
}

impl PartColumns {
    fn hand_out(&self, scripts: &mut Scripts, flows: &[FlowSpec], py: Python<'_>) -> PyResult<()> {
        let (flow, train) = (self.flow.to_vec(py)?, self.train.to_vec(py)?);
        let (end, number) = (self.end.to_vec(py)?, self.number.to_vec(py)?);
        if [train.len(), end.len(), number.len()] != [flow.len(); 3] {
            return Err(PyValueError::new_err("columns of the parts differ in length"));
        }
        if !flow.is_empty() {
            scripts.parts.resize(scripts.list.len(), Vec::new());
        }
        for (i, &flow) in flow.iter().enumerate() {
            let script = flows.get(flow as usize).and_then(|spec| spec.script);
            let script = script.ok_or_else(|| PyValueError::new_err("parts of a flow without a script"))?;
            scripts.parts[script as usize].push(Part { train: train[i], end: end[i], number: number[i] });
        }
        Ok(())
    }
}

impl ScriptColumns {
    /// Gives each flow its script.
    pub(crate) fn hand_out(&self, scripts: &mut Scripts, flows: &mut [FlowSpec], py: Python<'_>) -> PyResult<()> {
        let (flow, forward, bytes) = (self.flow.to_vec(py)?, self.forward.to_vec(py)?, self.bytes.to_vec(py)?);
        let (wait, pace) = (self.wait_ns.to_vec(py)?, self.pace_ns.to_vec(py)?);
        if [forward.len(), bytes.len(), wait.len(), pace.len()] != [flow.len(); 4] {
            return Err(PyValueError::new_err("columns of the scripts differ in length"));
        }
        let train =
            |i: usize| Train { forward: forward[i] == 1, bytes: bytes[i], wait: Time(wait[i]), pace: Time(pace[i]) };
        let mut first = 0;
        for part in flow.chunk_by(|a, b| a == b) {
            let spec = flows.get_mut(part[0] as usize);
            let spec = spec.ok_or_else(|| PyValueError::new_err("script of a flow that is not listed"))?;
            spec.script = Some(scripts.list.len() as u32);
            scripts.list.push((first..first + part.len()).map(train).collect());
            first += part.len();
        }
        for flow in self.done.to_vec(py)? {
            let script = flows.get(flow as usize).and_then(|spec| spec.script);
            let script = script.ok_or_else(|| PyValueError::new_err("done of a flow without a script"))? as usize;
            scripts.done.resize(scripts.done.len().max(script + 1), false);
            scripts.done[script] = true;
        }
        self.parts.hand_out(scripts, flows, py)?;
        self.streams.hand_out(scripts, flows, py)
    }
}
