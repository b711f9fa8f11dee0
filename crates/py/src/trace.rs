//! Traces of chosen flows and sub-flows as columns.

use netsim::Output;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::integers;

/// Packets of the traced flows, one row each.
pub(crate) fn packets<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let packets = PyDict::new(py);
    let of = || output.packets.iter();
    packets.set_item("flow", integers(py, of().map(|row| row.flow.into())))?;
    packets.set_item("number", integers(py, of().map(|row| row.number.into())))?;
    packets.set_item("wire_bytes", integers(py, of().map(|row| row.len.into())))?;
    packets.set_item("sent_ns", integers(py, of().map(|row| row.sent.0)))?;
    packets.set_item("queued_ns", integers(py, of().map(|row| row.queued.0)))?;
    packets.set_item("departed_ns", integers(py, of().map(|row| row.departed.0)))?;
    packets.set_item("received_ns", integers(py, of().map(|row| row.received.0)))?;
    packets.set_item("dropped_ns", integers(py, of().map(|row| row.dropped.0)))?;
    Ok(packets)
}

/// Expiries of the retransmission timer of the traced flows.
pub(crate) fn timeouts<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let timeouts = PyDict::new(py);
    timeouts.set_item("time_ns", integers(py, output.timeouts.iter().map(|(time, _)| time.0)))?;
    timeouts.set_item("flow", integers(py, output.timeouts.iter().map(|&(_, flow)| flow.into())))?;
    Ok(timeouts)
}

/// Sub-flows in the forward queue.
pub(crate) fn subflows<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let subflows = PyDict::new(py);
    let of = || output.subflows.iter();
    subflows.set_item("flow", integers(py, of().map(|row| row.flow.into())))?;
    subflows.set_item("queued_ns", integers(py, of().map(|row| row.queued.0)))?;
    subflows.set_item("left_ns", integers(py, of().map(|row| row.left.0)))?;
    subflows.set_item("last_wire_bytes", integers(py, of().map(|row| row.last_len.into())))?;
    subflows.set_item("high_packets", integers(py, of().map(|row| row.high.packets.into())))?;
    subflows.set_item("high_data_packets", integers(py, of().map(|row| row.high.data.into())))?;
    subflows.set_item("high_wire_bytes", integers(py, of().map(|row| row.high.bytes)))?;
    subflows.set_item("low_packets", integers(py, of().map(|row| row.low.packets.into())))?;
    subflows.set_item("low_data_packets", integers(py, of().map(|row| row.low.data.into())))?;
    subflows.set_item("low_wire_bytes", integers(py, of().map(|row| row.low.bytes)))?;
    Ok(subflows)
}
