//! Wireless standards and the lengths of their frames.

use netsim::wlan::phy::Standard;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use settings::AirSettings;

use crate::simulate::refused;
use crate::table::as_json;

/// Time of frames, nanoseconds: of data frames with PSDUs of `lengths` bytes, of the control frames that belong to
/// them, and of the gaps between frames; JSON.
///
/// # Errors
/// `ValueError` with one line for a standard, rate or channel there is not.
#[pyfunction]
#[pyo3(signature = (standard, rate, width, streams, short_guard, short_preamble, ack_rate, lengths, long_slot=false))]
#[expect(clippy::too_many_arguments, reason = "the arguments are a table's row, given by name")]
pub fn wlan_airtimes(
    standard: String,
    rate: String,
    width: u32,
    streams: u32,
    short_guard: bool,
    short_preamble: bool,
    ack_rate: Option<String>,
    lengths: Vec<u32>,
    long_slot: bool,
) -> PyResult<String> {
    let air = AirSettings { standard, width, streams, short_guard, short_preamble, long_slot };
    let airtimes = air.airtimes(&rate, ack_rate.as_deref(), &lengths);
    as_json(&airtimes.map_err(refused)?)
}

/// What a standard has to offer.
#[derive(Serialize)]
struct Offer {
    rates: Vec<&'static str>,
    cw_min: u32,
    cw_max: u32,
    aggregates: bool,
    symbol_ns: u64,
}

/// The standards there are by name, and of each the rates, the highest last; JSON.
///
/// # Errors
/// `RuntimeError` when they cannot be written as JSON.
#[pyfunction]
pub fn wlan_standards() -> PyResult<String> {
    let offer = |standard: &'static Standard| Offer {
        rates: standard.rates.iter().map(|(name, _)| *name).collect(),
        cw_min: standard.windows[0],
        cw_max: standard.windows[1],
        aggregates: standard.aggregate_bytes.is_some(),
        symbol_ns: standard.data.symbol.0,
    };
    let mut standards = serde_json::Map::new();
    for standard in &netsim::wlan::phy::STANDARDS {
        let row = serde_json::to_value(offer(standard)).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        standards.insert(standard.id.to_owned(), row);
    }
    as_json(&standards)
}
