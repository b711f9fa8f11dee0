//! Captures as columns for Python.

use std::path::PathBuf;

use capture::{Connection, OpenerFrom, Options, Protocol, Side, Skip, State, read_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Name and value of a column of one direction.
type Column<T> = (&'static str, fn(&Side) -> T);

/// Reads the capture at `path` into `(columns, counts)`.
///
/// `columns` maps a name to its values: little-endian `int64` or `float64` as bytes (float NaN for
/// null), one byte per row for booleans and for indices into `names`, lists of strings for
/// addresses. `counts` is a dictionary of numbers; `skipped` inside it counts packets by reason.
///
/// # Errors
/// `ValueError` with one line when the file cannot be read or is no capture; whatever a signal
/// handler raises (`KeyboardInterrupt`).
#[pyfunction]
pub fn read_capture<'py>(
    py: Python<'py>,
    path: PathBuf,
    max_flows: usize,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let mut interrupted = None;
    let outcome = py.detach(|| {
        read_file(&path, &Options { max_flows }, &mut || match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(error) => {
                interrupted = Some(error);
                false
            }
        })
    });
    if let Some(error) = interrupted {
        return Err(error);
    }
    let read = outcome.map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?;
    Ok((columns(py, &read.connections)?, counts(py, &read.counts)?))
}

fn counts<'py>(py: Python<'py>, counts: &capture::Counts) -> PyResult<Bound<'py, PyDict>> {
    let skipped = PyDict::new(py);
    for (reason, name) in Skip::NAMES {
        skipped.set_item(name, counts.skipped(reason))?;
    }
    let dict = PyDict::new(py);
    dict.set_item("packets", counts.packets)?;
    dict.set_item("decoded", counts.decoded)?;
    dict.set_item("skipped", skipped)?;
    dict.set_item("evicted", counts.evicted)?;
    dict.set_item("truncated", counts.truncated)?;
    dict.set_item("duration_s", counts.duration_ns() as f64 * 1e-9)?;
    dict.set_item("first_epoch_s", counts.first_ns.map(|ns| ns as f64 * 1e-9))?;
    Ok(dict)
}

fn columns<'py>(py: Python<'py>, rows: &[Connection]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names = PyDict::new(py);
    names.set_item("protocol", ["tcp", "udp"])?;
    names.set_item("opener_from", OpenerFrom::NAMES)?;
    names.set_item("state", State::NAMES)?;
    dict.set_item("names", names)?;
    let codes = |code: fn(&Connection) -> u8| PyBytes::new(py, &rows.iter().map(code).collect::<Vec<u8>>());
    dict.set_item("protocol", codes(|row| u8::from(row.protocol == Protocol::Udp)))?;
    dict.set_item("opener_from", codes(|row| row.opener_from as u8))?;
    dict.set_item("state", codes(|row| row.state as u8))?;
    dict.set_item("opener", PyList::new(py, rows.iter().map(|row| row.opener.address.to_string()))?)?;
    dict.set_item("responder", PyList::new(py, rows.iter().map(|row| row.responder.address.to_string()))?)?;
    let numbers = |number: fn(&Connection) -> i64| int64(py, rows.iter().map(number));
    dict.set_item("opener_port", numbers(|row| i64::from(row.opener.port)))?;
    dict.set_item("responder_port", numbers(|row| i64::from(row.responder.port)))?;
    let times = |time: fn(&Connection) -> Option<i64>| seconds(py, rows.iter().map(time));
    dict.set_item("start_s", times(|row| Some(row.start_ns)))?;
    dict.set_item("end_s", times(|row| Some(row.end_ns)))?;
    dict.set_item("rtt_s", times(|row| row.rtt_ns))?;
    side_columns(&dict, "opener", rows, |row| &row.from_opener)?;
    side_columns(&dict, "responder", rows, |row| &row.from_responder)?;
    Ok(dict)
}

fn side_columns(
    dict: &Bound<'_, PyDict>,
    prefix: &str,
    rows: &[Connection],
    side: fn(&Connection) -> &Side,
) -> PyResult<()> {
    let py = dict.py();
    let numbers: [Column<u64>; 5] = [
        ("packets", |side| side.packets),
        ("wire_bytes", |side| side.wire_bytes),
        ("payload_bytes", |side| side.payload_bytes),
        ("distinct_bytes", |side| side.distinct_bytes),
        ("missing_bytes", |side| side.missing_bytes),
    ];
    for (name, number) in numbers {
        let values = rows.iter().map(|row| i64::try_from(number(side(row))).unwrap_or(i64::MAX));
        dict.set_item(format!("{prefix}_{name}"), int64(py, values))?;
    }
    let times: [Column<Option<i64>>; 4] = [
        ("first_s", |side| side.first_ns),
        ("last_s", |side| side.last_ns),
        ("first_data_s", |side| side.first_data_ns),
        ("last_data_s", |side| side.last_data_ns),
    ];
    for (name, time) in times {
        dict.set_item(format!("{prefix}_{name}"), seconds(py, rows.iter().map(|row| time(side(row)))))?;
    }
    let flags: [Column<bool>; 2] = [("fin", |side| side.fin), ("rst", |side| side.rst)];
    for (name, flag) in flags {
        let values: Vec<u8> = rows.iter().map(|row| u8::from(flag(side(row)))).collect();
        dict.set_item(format!("{prefix}_{name}"), PyBytes::new(py, &values))?;
    }
    Ok(())
}

fn int64<'py>(py: Python<'py>, values: impl Iterator<Item = i64>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flat_map(i64::to_le_bytes).collect::<Vec<u8>>())
}

fn seconds<'py>(py: Python<'py>, values: impl Iterator<Item = Option<i64>>) -> Bound<'py, PyBytes> {
    let bytes = values.flat_map(|ns| ns.map_or(f64::NAN, |ns| ns as f64 * 1e-9).to_le_bytes());
    PyBytes::new(py, &bytes.collect::<Vec<u8>>())
}
