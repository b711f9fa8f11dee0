//! Applications in the loop: a check of their settings, and the rate controller of calls by itself.

use netsim::Application;
use netsim::app::gcc::{DelayBased, Usage};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tables::record;
use units::Time;

use crate::simulate::refused;
use crate::table::Table;

/// Whether the application that `settings` describe, JSON, sends datagrams.
///
/// # Errors
/// `ValueError` with one line for a word, a field or a value that is not taken.
#[pyfunction]
pub fn check_application(settings: &str) -> PyResult<bool> {
    let application: Application = settings::read(settings).map_err(refused)?;
    application.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(application.sends_datagrams())
}

record! {
    /// What Google congestion control estimates by the delay, after a packet.
    #[derive(Clone, Copy)]
    pub struct GccRow in "gcc" {
        /// The rate that it estimates now; null where it estimates none.
        pub bps: Option<u64> => "bps", "bit/s";
        /// What the delay says of the path: `normal`, `overuse` or `underuse`.
        pub usage: Usage => "usage", "", as |usage: &Usage| usage.word();
        /// Growth of the queue from group to group.
        pub offset_ms: f64 => "offset_ms", "ms";
        /// Threshold that it is compared with, times the number of groups.
        pub threshold_ms: f64 => "threshold_ms", "ms";
    }
}

/// What Google congestion control says after each of some packets: when they left, when they came, ns, and their
/// lengths, bytes, in order of arrival.
///
/// # Errors
/// `ValueError` when the columns differ in length.
#[pyfunction]
pub fn gcc_estimates(
    py: Python<'_>,
    sent_ns: PyBuffer<u64>,
    arrival_ns: PyBuffer<u64>,
    size_bytes: PyBuffer<u32>,
) -> PyResult<Table> {
    let (sent, arrival, size) = (sent_ns.to_vec(py)?, arrival_ns.to_vec(py)?, size_bytes.to_vec(py)?);
    if [arrival.len(), size.len()] != [sent.len(); 2] {
        return Err(PyValueError::new_err("columns of the packets differ in length"));
    }
    let mut estimate = DelayBased::default();
    let row = |i: usize| {
        let bps = estimate.add(Time(sent[i]), Time(arrival[i]), size[i]).map(|bps| bps as u64);
        let (offset_ms, threshold_ms) = estimate.offset_and_threshold();
        GccRow { bps, usage: estimate.usage(), offset_ms, threshold_ms }
    };
    Table::of(&(0..sent.len()).map(row).collect::<Vec<_>>())
}
