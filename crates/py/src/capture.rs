//! Captures as columns for Python.

use std::path::PathBuf;

use capture::{
    Connection, Counts, Duplicates, Ideal, OpenerFrom, Options, Packet, Protocol, Samples, Side, Skip, State, Train,
    Tunnel, ZeekState, read_files,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Name and value of a column.
type Field<R, T> = (&'static str, fn(&R) -> T);
/// Name and value of a column of one direction.
type Column<T> = Field<Side, T>;
type Dict<'py> = Bound<'py, PyDict>;

/// Items of a dictionary, as [`Options`]; `duplicates` is `keep`, `taps` or `all`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReadOptions {
    max_flows: usize,
    tunnels: bool,
    window_ns: u64,
    duplicates: String,
    duplicate_ns: u64,
    clocks: bool,
    max_trains: usize,
    pauses: bool,
    max_packets: usize,
    initial_window: u32,
    delayed_ack: bool,
}

/// Reads the captures at `paths` as one into `(columns, trains, packets, counts)`.
///
/// `columns` maps a name to its values: little-endian `int64` or `float64` as bytes (float NaN for
/// null), one byte per row for booleans and for indices into `names`, lists of strings for
/// addresses. `taps` is a mask, `mss_bytes` 0 for null. `trains` and `packets` have columns of the same kinds. `counts` is a dictionary
/// of numbers; `skipped` inside it counts packets by reason.
///
/// # Errors
/// `ValueError` with one line when a file cannot be read or is no capture; whatever a signal
/// handler raises (`KeyboardInterrupt`).
#[pyfunction]
pub fn read_capture<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    options: ReadOptions,
) -> PyResult<(Dict<'py>, Dict<'py>, Dict<'py>, Dict<'py>)> {
    let options = options.checked()?;
    let mut interrupted = None;
    let outcome = py.detach(|| {
        read_files(&paths, &options, &mut || match Python::attach(|py| py.check_signals()) {
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
    let read = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (connections, trains) = (columns(py, &read.connections)?, trains(py, &read.trains)?);
    Ok((connections, trains, packets(py, &read.packets)?, counts(py, &read.counts)?))
}

impl ReadOptions {
    fn checked(&self) -> PyResult<Options> {
        let duplicates = match self.duplicates.as_str() {
            "keep" => Duplicates::Keep,
            "taps" => Duplicates::Taps,
            "all" => Duplicates::All,
            other => return Err(PyValueError::new_err(format!("duplicates = {other:?}: must be keep, taps or all"))),
        };
        Ok(Options {
            max_flows: self.max_flows,
            tunnels: self.tunnels,
            window_ns: self.window_ns,
            duplicates,
            duplicate_ns: self.duplicate_ns,
            clocks: self.clocks,
            max_trains: self.max_trains,
            pauses: self.pauses,
            max_packets: self.max_packets,
            ideal: Ideal { initial_window: self.initial_window, delayed_ack: self.delayed_ack },
        })
    }
}

fn counts<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let skipped = PyDict::new(py);
    for (reason, name) in Skip::NAMES {
        skipped.set_item(name, counts.skipped(reason))?;
    }
    let tunnelled = PyDict::new(py);
    for (tunnel, name) in Tunnel::NAMES {
        tunnelled.set_item(name, counts.tunnelled[tunnel as usize])?;
    }
    let taps = PyList::empty(py);
    for tap in &counts.taps {
        let dict = PyDict::new(py);
        dict.set_item("file", tap.file)?;
        dict.set_item("interface", tap.interface)?;
        dict.set_item("packets", tap.packets)?;
        dict.set_item("duplicates", tap.duplicates)?;
        taps.append(dict)?;
    }
    let clocks = PyList::empty(py);
    for clock in &counts.clocks {
        let dict = PyDict::new(py);
        dict.set_item("ahead_s", clock.ahead_ns as f64 * 1e-9)?;
        dict.set_item("bound_s", clock.bound_ns.map(|ns| ns as f64 * 1e-9))?;
        dict.set_item("common", clock.common)?;
        clocks.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("packets", counts.packets)?;
    dict.set_item("decoded", counts.decoded)?;
    dict.set_item("skipped", skipped)?;
    dict.set_item("fragments", counts.fragments)?;
    dict.set_item("tunnelled", tunnelled)?;
    dict.set_item("late", counts.late)?;
    dict.set_item("evicted", counts.evicted)?;
    dict.set_item("trains_left_out", counts.trains_left_out)?;
    dict.set_item("packets_left_out", counts.packets_left_out)?;
    dict.set_item("taps", taps)?;
    dict.set_item("clocks", clocks)?;
    dict.set_item("truncated", counts.truncated)?;
    dict.set_item("duration_s", counts.duration_ns() as f64 * 1e-9)?;
    dict.set_item("first_epoch_s", counts.first_ns.map(|ns| ns as f64 * 1e-9))?;
    Ok(dict)
}

fn columns<'py>(py: Python<'py>, rows: &[Connection]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names = PyDict::new(py);
    names.set_item("protocol", Protocol::NAMES)?;
    names.set_item("opener_from", OpenerFrom::NAMES)?;
    names.set_item("state", State::NAMES)?;
    names.set_item("zeek_state", ZeekState::NAMES)?;
    dict.set_item("names", names)?;
    let codes = |code: fn(&Connection) -> u8| PyBytes::new(py, &rows.iter().map(code).collect::<Vec<u8>>());
    dict.set_item("protocol", codes(|row| row.protocol as u8))?;
    dict.set_item("opener_from", codes(|row| row.opener_from as u8))?;
    dict.set_item("state", codes(|row| row.state as u8))?;
    dict.set_item("zeek_state", codes(|row| row.zeek_state as u8))?;
    dict.set_item("opener", PyList::new(py, rows.iter().map(|row| row.opener.address.to_string()))?)?;
    dict.set_item("responder", PyList::new(py, rows.iter().map(|row| row.responder.address.to_string()))?)?;
    let numbers = |number: fn(&Connection) -> i64| int64(py, rows.iter().map(number));
    dict.set_item("opener_port", numbers(|row| i64::from(row.opener.port)))?;
    dict.set_item("responder_port", numbers(|row| i64::from(row.responder.port)))?;
    dict.set_item("taps", numbers(|row| row.taps as i64))?;
    dict.set_item("mss_bytes", numbers(|row| i64::from(row.mss_bytes.unwrap_or(0))))?;
    let times: [Field<Connection, Option<i64>>; 8] = [
        ("start_s", |row| Some(row.start_ns)),
        ("end_s", |row| Some(row.end_ns)),
        ("rtt_s", |row| row.rtt_ns),
        ("handshake_to_opener_s", |row| row.handshake.map(|times| times.to_opener_ns)),
        ("handshake_to_responder_s", |row| row.handshake.map(|times| times.to_responder_ns)),
        ("setup_s", |row| row.setup_ns),
        ("data_s", |row| row.data_ns),
        ("teardown_s", |row| row.teardown_ns),
    ];
    for (name, time) in times {
        dict.set_item(name, seconds(py, rows.iter().map(time)))?;
    }
    // Data of the opener passes the tap on its way to the responder.
    samples(&dict, "data_ack_to_responder", rows, |row| &row.from_opener.data_ack)?;
    samples(&dict, "data_ack_to_opener", rows, |row| &row.from_responder.data_ack)?;
    samples(&dict, "timestamp_to_responder", rows, |row| &row.from_opener.timestamp)?;
    samples(&dict, "timestamp_to_opener", rows, |row| &row.from_responder.timestamp)?;
    side_columns(&dict, "opener", rows, |row| &row.from_opener)?;
    side_columns(&dict, "responder", rows, |row| &row.from_responder)?;
    Ok(dict)
}

fn samples(
    dict: &Bound<'_, PyDict>,
    prefix: &str,
    rows: &[Connection],
    of: fn(&Connection) -> &Samples,
) -> PyResult<()> {
    let py = dict.py();
    dict.set_item(format!("{prefix}_samples"), int64(py, rows.iter().map(|row| i64::from(of(row).count))))?;
    dict.set_item(format!("{prefix}_min_s"), seconds(py, rows.iter().map(|row| of(row).least_ns())))?;
    dict.set_item(format!("{prefix}_max_s"), seconds(py, rows.iter().map(|row| of(row).most_ns())))?;
    let means = rows.iter().map(|row| of(row).mean_ns().map_or(f64::NAN, |mean| mean * 1e-9));
    dict.set_item(format!("{prefix}_mean_s"), float64(py, means))
}

const NUMBERS: [Column<u64>; 18] = [
    ("packets", |side| side.packets),
    ("wire_bytes", |side| side.wire_bytes),
    ("payload_bytes", |side| side.payload_bytes),
    ("distinct_bytes", |side| side.distinct_bytes),
    ("missing_bytes", |side| side.missing_bytes),
    ("unseen_bytes", |side| side.unseen_bytes),
    ("retransmitted_bytes", |side| side.retransmitted_bytes),
    ("data_packets", |side| side.data_packets),
    ("distinct_packets", |side| side.distinct_packets),
    ("super_segments", |side| side.super_segments.into()),
    ("acks", |side| side.acks.into()),
    ("keep_alives", |side| side.keep_alives.into()),
    ("zero_windows", |side| side.zero_windows.into()),
    ("retransmits", |side| side.retransmits.into()),
    ("spurious", |side| side.spurious.into()),
    ("lost_before", |side| side.lost_before.into()),
    ("reordered", |side| side.reordered.into()),
    ("trains", |side| side.trains.into()),
];

/// The parts of the data phase are unknown where there is none.
const TIMES: [Column<Option<i64>>; 8] = [
    ("first_s", |side| side.first_ns),
    ("last_s", |side| side.last_ns),
    ("first_data_s", |side| side.first_data_ns),
    ("last_data_s", |side| side.last_data_ns),
    ("warm_up_s", |side| Some(side.warm_up_ns)),
    ("transfer_s", |side| Some(side.transfer_ns)),
    ("theoretical_s", |side| side.theoretical_ns),
    ("pacing_s", Side::pacing_ns),
];

fn side_columns(
    dict: &Bound<'_, PyDict>,
    prefix: &str,
    rows: &[Connection],
    side: fn(&Connection) -> &Side,
) -> PyResult<()> {
    let py = dict.py();
    for (name, number) in NUMBERS {
        let values = rows.iter().map(|row| i64::try_from(number(side(row))).unwrap_or(i64::MAX));
        dict.set_item(format!("{prefix}_{name}"), int64(py, values))?;
    }
    for (name, time) in TIMES {
        let phase = matches!(name, "warm_up_s" | "transfer_s");
        let values = rows.iter().map(|row| time(side(row)).filter(|_| !phase || row.data_ns.is_some()));
        dict.set_item(format!("{prefix}_{name}"), seconds(py, values))?;
    }
    let per_packet = |side: &Side| match (side.pacing_ns(), side.distinct_packets) {
        (Some(pacing_ns), packets @ 1..) => pacing_ns as f64 * 1e-9 / packets as f64,
        _ => f64::NAN,
    };
    let paced = float64(py, rows.iter().map(|row| per_packet(side(row))));
    dict.set_item(format!("{prefix}_pacing_per_packet_s"), paced)?;
    let flags: [Column<bool>; 2] = [("fin", |side| side.fin), ("rst", |side| side.rst)];
    for (name, flag) in flags {
        let values: Vec<u8> = rows.iter().map(|row| u8::from(flag(side(row)))).collect();
        dict.set_item(format!("{prefix}_{name}"), PyBytes::new(py, &values))?;
    }
    Ok(())
}

fn trains<'py>(py: Python<'py>, rows: &[Train]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names = PyDict::new(py);
    names.set_item("side", ["responder", "opener"])?;
    dict.set_item("names", names)?;
    dict.set_item("side", PyBytes::new(py, &rows.iter().map(|row| u8::from(row.from_opener)).collect::<Vec<u8>>()))?;
    let numbers: [Field<Train, u64>; 3] =
        [("connection_id", |row| row.connection), ("packets", |row| row.packets), ("bytes", |row| row.bytes)];
    for (name, number) in numbers {
        let values = rows.iter().map(|row| i64::try_from(number(row)).unwrap_or(i64::MAX));
        dict.set_item(name, int64(py, values))?;
    }
    let times: [Field<Train, i64>; 3] =
        [("start_s", |row| row.start_ns), ("end_s", |row| row.end_ns), ("warm_up_s", |row| row.warm_up_ns)];
    for (name, time) in times {
        dict.set_item(name, seconds(py, rows.iter().map(|row| Some(time(row)))))?;
    }
    dict.set_item("theoretical_s", seconds(py, rows.iter().map(|row| row.theoretical_ns)))?;
    Ok(dict)
}

fn packets<'py>(py: Python<'py>, rows: &[Packet]) -> PyResult<Dict<'py>> {
    let dict = PyDict::new(py);
    let names = PyDict::new(py);
    names.set_item("side", ["responder", "opener"])?;
    dict.set_item("names", names)?;
    dict.set_item("side", PyBytes::new(py, &rows.iter().map(|row| u8::from(row.from_opener)).collect::<Vec<u8>>()))?;
    let numbers: [Field<Packet, u64>; 3] = [
        ("connection_id", |row| row.connection),
        ("wire_bytes", |row| row.wire_bytes),
        ("packets", |row| row.packets.into()),
    ];
    for (name, number) in numbers {
        let values = rows.iter().map(|row| i64::try_from(number(row)).unwrap_or(i64::MAX));
        dict.set_item(name, int64(py, values))?;
    }
    dict.set_item("time_s", seconds(py, rows.iter().map(|row| Some(row.time_ns))))?;
    Ok(dict)
}

fn int64<'py>(py: Python<'py>, values: impl Iterator<Item = i64>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flat_map(i64::to_le_bytes).collect::<Vec<u8>>())
}

fn float64<'py>(py: Python<'py>, values: impl Iterator<Item = f64>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

fn seconds<'py>(py: Python<'py>, values: impl Iterator<Item = Option<i64>>) -> Bound<'py, PyBytes> {
    float64(py, values.map(|ns| ns.map_or(f64::NAN, |ns| ns as f64 * 1e-9)))
}
