//! Captures as tables for Python.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::account::Sums;
use capture::{
    Anonymizer, Counts, Duplicates, Filter, Go, Ideal, KEY_BYTES, Options, Seen, Sieve, Skip, Tunnel, Watch, begins_ns,
    read_files,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::table::{Table, as_json};

/// Items of a dictionary, as [`Options`]; `duplicates` is `auto`, `keep`, `leave-out`, `taps` or `all`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReadOptions {
    max_flows: usize,
    max_held: usize,
    tunnels: bool,
    window_ns: u64,
    duplicates: String,
    duplicate_ns: u64,
    clocks: bool,
    series: bool,
    max_trains: usize,
    pauses: bool,
    max_packets: usize,
    packets_of_tcp: bool,
    max_volumes: usize,
    initial_window: u32,
    delayed_ack: bool,
    filter: Option<String>,
    key: Option<Vec<u8>>,
    span_ns: Option<[i64; 2]>,
}

/// Time between two calls of `look`.
const LOOK: Duration = Duration::from_millis(50);

/// Signals, and who looks on from Python.
pub(crate) struct Onlooker<'a> {
    look: &'a Py<PyAny>,
    looked: Instant,
    raised: Option<PyErr>,
}

impl<'a> Onlooker<'a> {
    pub(crate) fn of(look: &'a Py<PyAny>) -> Self {
        Onlooker { look, looked: Instant::now(), raised: None }
    }

    /// What Python raised.
    pub(crate) fn raised(&mut self) -> PyResult<()> {
        self.raised.take().map_or(Ok(()), Err)
    }

    fn ask(&mut self, seen: Seen) -> PyResult<Go> {
        Python::attach(|py| {
            py.check_signals()?;
            if self.looked.elapsed() < LOOK {
                return Ok(Go::On);
            }
            self.looked = Instant::now();
            let goes_on: Option<bool> =
                self.look.call1(py, (seen.packets, seen.connections, seen.bytes))?.extract(py)?;
            Ok(match goes_on {
                Some(true) => Go::On,
                Some(false) => Go::Stop,
                None => Go::Tighter,
            })
        })
    }
}

impl Watch for Onlooker<'_> {
    fn look(&mut self, seen: Seen) -> Go {
        self.ask(seen).unwrap_or_else(|error| {
            self.raised = Some(error);
            Go::Cancel
        })
    }
}

/// Reads the captures at `paths` as one: the tables of connections, trains, packets and volumes, and as JSON what was counted.
///
/// `look` is called every now and then with the packets and connections found and the bytes read so far; the capture ends
/// there when it answers `False`; fewer connections are held from then on when it answers `None`, and the capture ends where
/// they are few already.
///
/// # Errors
/// `ValueError` with one line when a file cannot be read or is no capture; whatever `look` or a signal
/// handler raises (`KeyboardInterrupt`).
#[pyfunction]
pub fn read_capture(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: ReadOptions,
    look: Py<PyAny>,
) -> PyResult<(Table, Table, Table, Table, String)> {
    let options = options.checked()?;
    let mut onlooker = Onlooker::of(&look);
    let outcome = py.detach(|| read_files(&paths, &options, &mut onlooker));
    onlooker.raised()?;
    let read = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (connections, trains) = (Table::of(&read.connections)?, Table::of(&read.trains)?);
    let (packets, volumes) = (Table::of(&read.packets)?, Table::of(&read.volumes)?);
    Ok((connections, trains, packets, volumes, as_json(&Told::of(&read.counts))?))
}

impl ReadOptions {
    pub(crate) fn checked(&self) -> PyResult<Options> {
        let duplicates = match self.duplicates.as_str() {
            "auto" => Duplicates::Auto,
            "keep" => Duplicates::Keep,
            "leave-out" => Duplicates::Places,
            "taps" => Duplicates::Taps,
            "all" => Duplicates::All,
            other => {
                return Err(PyValueError::new_err(format!(
                    "duplicates = {other:?}: must be auto, keep, leave-out, taps or all"
                )));
            }
        };
        let filter = self.filter.as_deref().map(parsed).transpose()?.map(Arc::new);
        let anonymizer = self.key.as_deref().map(anonymizer).transpose()?.map(Arc::new);
        Ok(Options {
            max_flows: self.max_flows,
            max_held: self.max_held,
            tunnels: self.tunnels,
            window_ns: self.window_ns,
            duplicates,
            duplicate_ns: self.duplicate_ns,
            clocks: self.clocks,
            series: self.series,
            max_trains: self.max_trains,
            pauses: self.pauses,
            max_packets: self.max_packets,
            packets_of_tcp: self.packets_of_tcp,
            volumes_to: None,
            max_volumes: self.max_volumes,
            volumes_in_time: false,
            ideal: Ideal { initial_window: self.initial_window, delayed_ack: self.delayed_ack },
            sieve: Sieve { span_ns: self.span_ns, filter, anonymizer },
        })
    }
}

fn parsed(expression: &str) -> PyResult<Filter> {
    Filter::parse(expression).map_err(|refused| PyValueError::new_err(refused.to_string()))
}

fn anonymizer(key: &[u8]) -> PyResult<Anonymizer> {
    let refused = |_| PyValueError::new_err(format!("key = {} bytes: must be {KEY_BYTES}", key.len()));
    Ok(Anonymizer::with(<&[u8; KEY_BYTES]>::try_from(key).map_err(refused)?))
}

/// Time of the first packet of captures, nanoseconds since 1970; None without any.
///
/// # Errors
/// `ValueError` with one line when a file cannot be read or is no capture.
#[pyfunction]
pub fn first_packet_ns(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Option<i64>> {
    py.detach(|| begins_ns(&paths)).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Whether an expression is a filter of packets.
///
/// # Errors
/// `ValueError` with the reason, which does not repeat the expression, and the tests that are allowed.
#[pyfunction]
pub fn check_filter(expression: &str) -> PyResult<()> {
    Filter::parse(expression).map(|_| ()).map_err(|refused| PyValueError::new_err(refused.reason()))
}

/// Addresses and networks (`10.0.0.0/8`) under a key of 32 bytes, each as its image.
///
/// # Errors
/// `ValueError` with one line for a text that is none, and for another length of the key.
#[pyfunction]
pub fn anonymized(key: Vec<u8>, texts: Vec<String>) -> PyResult<Vec<String>> {
    let anonymizer = anonymizer(&key)?;
    let image = |text: &String| {
        let refused = || PyValueError::new_err(format!("{text}: must be an address or a network"));
        let (address, bits) = text.split_once('/').map_or((text.as_str(), None), |(one, bits)| (one, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let Some(bits) = bits else { return Ok(anonymizer.address(address).to_string()) };
        let bits = bits.parse().ok().filter(|&bits| bits <= width).ok_or_else(refused)?;
        Ok(format!("{}/{bits}", anonymizer.network(address, bits)))
    };
    texts.iter().map(image).collect()
}

/// What was read, and what became of it; `skipped` by reason, `tunnelled` by kind, `other_protocols` by number.
#[derive(Serialize)]
pub(crate) struct Told {
    account: Sums,
    cannot_answer: Option<String>,
    packets: u64,
    #[serde(skip_serializing_if = "none")]
    filtered: u64,
    decoded: u64,
    copies: u64,
    #[serde(skip_serializing_if = "none")]
    translated: u64,
    skipped: Map<String, Json>,
    fragments: u64,
    tunnelled: Map<String, Json>,
    /// What headers of tunnels add to a TCP packet in the mean, bytes.
    #[serde(skip_serializing_if = "none")]
    tunnel_bytes: u64,
    late: u64,
    evicted: u64,
    #[serde(skip_serializing_if = "none")]
    parted: u64,
    unanswered: Unanswered,
    trains_left_out: u64,
    packets_left_out: u64,
    volume_width_s: f64,
    volumes_left_out: u64,
    link_types: Map<String, Json>,
    other_protocols: Map<String, Json>,
    taps: Vec<Tap>,
    clocks: Vec<Clock>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stops: Vec<Stop>,
    #[serde(skip_serializing_if = "none")]
    dropped: u64,
    truncated: bool,
    nanoseconds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_back_s: Option<f64>,
    stopped: bool,
    duration_s: f64,
    first_epoch_s: Option<f64>,
}

/// Of the evicted connections those that nobody answered.
#[derive(Serialize)]
struct Unanswered {
    connections: u64,
    packets: u64,
    bytes: u64,
}

/// A place where packets were captured.
#[derive(Serialize)]
struct Tap {
    file: u32,
    interface: u32,
    name: Option<String>,
    packets: u64,
    duplicates: u64,
}

/// The clock of a file against that of the first.
#[derive(Serialize)]
struct Clock {
    ahead_s: f64,
    bound_s: Option<f64>,
    common: u64,
}

/// A silence in which all traffic that was under way stopped.
#[derive(Serialize)]
struct Stop {
    from_s: f64,
    lasted_s: f64,
    pairs: u64,
}

impl Stop {
    fn of(stop: &capture::Stop, counts: &Counts) -> Stop {
        let from_ns = stop.from_ns.saturating_sub(counts.first_ns.unwrap_or(stop.from_ns));
        Stop { from_s: from_ns as f64 * 1e-9, lasted_s: stop.lasted_ns as f64 * 1e-9, pairs: stop.pairs }
    }
}

/// Nothing was left out.
fn none(count: &u64) -> bool {
    *count == 0
}

impl Told {
    pub(crate) fn of(counts: &Counts) -> Told {
        let count = |name: &str, value: u64| (name.to_owned(), Json::from(value));
        let protocol = |(number, of): (&u8, &capture::Carried)| {
            (number.to_string(), json!({"packets": of.packets, "bytes": of.bytes}))
        };
        let tap = |(tap, name): (&capture::Tap, &Option<String>)| Tap {
            file: tap.file,
            interface: tap.interface,
            name: name.clone(),
            packets: tap.packets,
            duplicates: tap.duplicates,
        };
        let clock = |clock: &capture::Clock| Clock {
            ahead_s: clock.ahead_ns as f64 * 1e-9,
            bound_s: clock.bound_ns.map(|ns| ns as f64 * 1e-9),
            common: clock.common,
        };
        Told {
            account: counts.account.sums(),
            cannot_answer: replay::cannot_answer(counts),
            packets: counts.packets,
            filtered: counts.filtered,
            decoded: counts.decoded,
            copies: counts.copies,
            translated: counts.translated,
            skipped: Skip::NAMES.iter().map(|&(reason, name)| count(name, counts.skipped(reason))).collect(),
            fragments: counts.fragments,
            tunnelled: Tunnel::NAMES.iter().map(|&(kind, name)| count(name, counts.tunnelled[kind as usize])).collect(),
            tunnel_bytes: replay::tunnel_bytes(counts).into(),
            late: counts.late,
            evicted: counts.evicted,
            parted: counts.parted,
            unanswered: Unanswered {
                connections: counts.unanswered.connections,
                packets: counts.unanswered.packets,
                bytes: counts.unanswered.bytes,
            },
            trains_left_out: counts.trains_left_out,
            packets_left_out: counts.packets_left_out,
            volume_width_s: counts.volume_width_ns as f64 * 1e-9,
            volumes_left_out: counts.volumes_left_out,
            link_types: counts.link_types.iter().map(|(kind, &value)| count(&kind.to_string(), value)).collect(),
            other_protocols: counts.other_protocols.iter().map(protocol).collect(),
            taps: counts.taps.iter().zip(&counts.names).map(tap).collect(),
            clocks: counts.clocks.iter().map(clock).collect(),
            stops: counts.stops.iter().map(|stop| Stop::of(stop, counts)).collect(),
            dropped: counts.dropped,
            truncated: counts.truncated,
            nanoseconds: counts.nanoseconds,
            set_back_s: (counts.set_back_ns > 0).then_some(counts.set_back_ns as f64 * 1e-9),
            stopped: counts.stopped,
            duration_s: counts.duration_ns() as f64 * 1e-9,
            first_epoch_s: counts.first_ns.map(|ns| ns as f64 * 1e-9),
        }
    }
}
