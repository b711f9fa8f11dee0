//! Captures as a profile reads them: columns of connections as arrays, and what crossed the link when.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use ::hosts::Tally;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow_schema::{DataType, Field, Schema};
use capture::{Connection, Leaving, StoredVolumes, Volume, read_files_to};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use runs::table_file::TableFile;
use traffic::{Measure, Row, Rows, Traffic};

use crate::capture::{Onlooker, ReadOptions, Told};
use crate::listing::{Found, batch_of, networks, write_batch};
use crate::rows::{FORM, Spill, of_system};
use crate::stored::Stored;
use crate::table::{Table, as_json};

/// Captures that were read, with the classes of their connections.
#[pyclass]
pub struct CaptureProfile {
    found: Found,
    rows: Connections,
    volumes: Carried,
}

/// What each direction carried when.
enum Carried {
    Held(Arc<Vec<Volume>>),
    Stored(Arc<StoredVolumes>),
}

/// Where the connections are.
enum Connections {
    Held(RecordBatch),
    Stored(Stored),
}

/// Counts connections as they leave, and puts them into a file.
struct ToFile {
    tally: Tally,
    spill: Spill,
    all: bool,
}

impl Leaving for ToFile {
    fn all(&self) -> bool {
        self.all
    }

    fn wants_volumes(&self) -> bool {
        true
    }

    fn leaves(&mut self, serial: u64, connection: Connection) -> io::Result<()> {
        self.tally.add(&connection)?;
        self.spill.add(serial, connection)
    }

    fn forgets(&mut self) {
        self.tally = Tally::default();
        self.spill.forgets();
    }
}

/// Reads the captures at `paths` as one, as [`read_capture`](crate::capture::read_capture), and tells the class of each
/// connection, as [`list_capture`](crate::listing::list_capture) does. Where not all connections can be held, those that are
/// over leave first, and all of them wait in the new file `spill`; those that nobody answered are summed up when they leave,
/// unless `all` are wanted. Volumes of more directions of connections than the options allow wait in a file of that name with
/// the ending `volumes`.
///
/// # Errors
/// `ValueError` as there; `OSError` when the file cannot be written or read.
#[pyfunction]
#[pyo3(signature = (paths, options, look, internal, spill, all))]
pub fn profile_capture(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: ReadOptions,
    look: Py<PyAny>,
    internal: Option<Vec<String>>,
    spill: PathBuf,
    all: bool,
) -> PyResult<CaptureProfile> {
    let volumes_to = Some(spill.with_extension("volumes"));
    let options = capture::Options { volumes_in_time: true, volumes_to, ..options.checked()? };
    let internal = networks(internal)?;
    let mut onlooker = Onlooker::of(&look);
    let mut to_file = ToFile { tally: Tally::default(), spill: Spill::at(spill), all };
    let outcome = py.detach(|| read_files_to(&paths, &options, &mut onlooker, Some(&mut to_file)));
    onlooker.raised()?;
    let read = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let told = as_json(&Told::of(&read.counts))?;
    let ToFile { mut tally, mut spill, .. } = to_file;
    let capture::Capture { connections, serials, mut volumes, mut stored_volumes, .. } = read;
    let counted = py.detach(|| connections.iter().try_for_each(|connection| tally.add(connection)));
    counted.map_err(of_system)?;
    let found = Found::of(tally, internal.as_ref(), told)?;
    let rows = py.detach(|| {
        if spill.rows() == 0 {
            with_rows(&mut volumes, &serials);
            stored_volumes = stored_volumes.take().map(|stored| stored.with_rows(&serials));
            let numbers: Vec<u64> = (0..connections.len() as u64).collect();
            return batch_of(&found.sites, &numbers, &connections).map(Connections::Held);
        }
        for (serial, connection) in serials.into_iter().zip(connections) {
            spill.add(serial, connection)?;
        }
        let path = spill.close()?.ok_or_else(|| io::Error::other("no file"))?;
        let (stored, serials) = Stored::of(path)?;
        with_rows(&mut volumes, &serials);
        stored_volumes = stored_volumes.take().map(|stored| stored.with_rows(&serials));
        Ok(Connections::Stored(stored))
    });
    let rows = rows.map_err(of_system)?;
    let volumes = match stored_volumes {
        Some(stored) => Carried::Stored(Arc::new(stored)),
        None => Carried::Held(Arc::new(volumes)),
    };
    Ok(CaptureProfile { found, rows, volumes })
}

/// Gives volumes the rows of their connections, whose numbers are `serials`, ascending.
fn with_rows(volumes: &mut [Volume], serials: &[u64]) {
    if serials.last().is_none_or(|&last| last + 1 == serials.len() as u64) {
        return;
    }
    for volume in volumes {
        volume.connection = serials.partition_point(|&serial| serial < volume.connection) as u64;
    }
}

#[pymethods]
impl CaptureProfile {
    /// What was read and found, as JSON, as that of a `CaptureListing`.
    fn answer(&self) -> PyResult<String> {
        self.found.answer(0)
    }

    /// Names of its columns.
    fn names(&self) -> Vec<String> {
        match &self.rows {
            Connections::Held(batch) => batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect(),
            Connections::Stored(stored) => stored.names(),
        }
    }

    /// Whether its connections wait in a file: columns are then written to files, not answered with.
    fn is_stored(&self) -> bool {
        matches!(self.rows, Connections::Stored(_))
    }

    /// Writes the values of a column of numbers or flags to a new file as [`CaptureProfile::numbers`] has them; its kind.
    ///
    /// # Errors
    /// `OSError` when a file cannot be read or written, or there is no such column.
    fn numbers_to(&self, py: Python<'_>, name: &str, path: PathBuf) -> PyResult<&'static str> {
        let Connections::Stored(stored) = &self.rows else { return Err(held()) };
        py.detach(|| {
            let (kind, bytes) = stored.numbers(name)?;
            std::fs::write(path, bytes)?;
            Ok(kind)
        })
        .map_err(of_system)
    }

    /// Writes the places of words to a new file as [`CaptureProfile::words`] has them; the words.
    ///
    /// # Errors
    /// As [`CaptureProfile::numbers_to`].
    fn words_to(&self, py: Python<'_>, name: &str, path: PathBuf) -> PyResult<Vec<String>> {
        let Connections::Stored(stored) = &self.rows else { return Err(held()) };
        py.detach(|| {
            let (names, codes) = stored.words(&self.found.sites, name)?;
            let mut out = io::BufWriter::new(std::fs::File::create(path)?);
            codes.iter().try_for_each(|code| out.write_all(&code.to_ne_bytes()))?;
            out.flush()?;
            Ok(names)
        })
        .map_err(of_system)
    }

    /// A column of numbers or flags: `f`, `i` or `b`, and its values; NaN stands for what is not known.
    ///
    /// # Errors
    /// `ValueError` when there is no such column.
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<(&'static str, Bound<'py, PyBytes>)> {
        let column = self.column(name)?;
        Ok(match column.data_type() {
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>();
                ("f", bytes_of(py, values.iter().map(|value| value.unwrap_or(f64::NAN).to_ne_bytes()))?)
            }
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>();
                ("i", bytes_of(py, values.iter().map(|value| value.unwrap_or_default().to_ne_bytes()))?)
            }
            DataType::Boolean => {
                let values = column.as_boolean();
                ("b", bytes_of(py, values.iter().map(|value| [u8::from(value.unwrap_or_default())]))?)
            }
            other => return Err(PyValueError::new_err(format!("{name}: {other} is no number"))),
        })
    }

    /// A column of words: those there are, in the order they come, and the place of each row's among them, 32 bits; -1 stands
    /// for what is not known.
    ///
    /// # Errors
    /// `ValueError` when there is no such column.
    fn words<'py>(&self, py: Python<'py>, name: &str) -> PyResult<(Vec<String>, Bound<'py, PyBytes>)> {
        let column = self.column(name)?;
        let Some(texts) = column.as_string_view_opt() else {
            return Err(PyValueError::new_err(format!("{name}: no words")));
        };
        let mut places = std::collections::HashMap::new();
        let mut names = Vec::new();
        let codes: Vec<[u8; 4]> = texts
            .iter()
            .map(|text| {
                let code = text.map_or(-1, |text| {
                    *places.entry(text).or_insert_with(|| {
                        names.push(text.to_owned());
                        names.len() as i32 - 1
                    })
                });
                code.to_ne_bytes()
            })
            .collect();
        Ok((names, bytes_of(py, codes.into_iter())?))
    }

    /// What addresses are: 0 beyond the site, 1 multicast, broadcast or unspecified, 2 a server of the site, 3 a client, 4 of
    /// the site and of no role.
    ///
    /// # Errors
    /// `ValueError` for what is no address.
    fn kinds<'py>(&self, py: Python<'py>, hosts: Vec<String>) -> PyResult<Bound<'py, PyBytes>> {
        let mut kinds = Vec::with_capacity(hosts.len());
        for host in &hosts {
            let address = host.parse().map_err(|_| PyValueError::new_err(format!("{host}: no address")))?;
            kinds.push([self.found.sites.kind_of(address) as u8]);
        }
        bytes_of(py, kinds.into_iter())
    }

    /// The table of connections with their classes.
    ///
    /// # Errors
    /// `OSError` when they wait in a file that cannot be read.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        match &self.rows {
            Connections::Held(batch) => Ok(batch.clone().into()),
            Connections::Stored(stored) => Ok(py.detach(|| stored.table(&self.found.sites)).map_err(of_system)?.into()),
        }
    }

    /// What each direction carried when, by connection and time.
    ///
    /// # Errors
    /// `RuntimeError` when arrow refuses the columns; `OSError` when they wait in a file that cannot be read.
    fn volumes(&self, py: Python<'_>) -> PyResult<Table> {
        let ordered = py.detach(|| {
            let mut ordered = match &self.volumes {
                Carried::Held(volumes) => volumes.to_vec(),
                Carried::Stored(stored) => {
                    let mut volumes = Vec::with_capacity(stored.len());
                    stored.each_while(|volume| {
                        volumes.push(*volume);
                        true
                    })?;
                    volumes
                }
            };
            ordered.sort_by_key(|volume| (volume.connection, volume.start_ns, volume.from_lower));
            Ok(ordered)
        });
        Table::of(&ordered.map_err(of_system)?)
    }

    /// What crossed the link; `opener_near` says of each connection whether its opener is on the near side, and `pairs` has a
    /// number of the two hosts that it is between.
    fn traffic(
        &self,
        py: Python<'_>,
        opener_near: PyBuffer<u8>,
        pairs: PyBuffer<u32>,
        width_s: f64,
        duration_s: f64,
    ) -> PyResult<LinkTraffic> {
        let opener_near: Vec<bool> = opener_near.to_vec(py)?.into_iter().map(|near| near != 0).collect();
        let pairs = pairs.to_vec(py)?;
        if opener_near.len().min(pairs.len()) < self.rows.height() {
            return Err(PyValueError::new_err("opener_near, pairs: fewer than connections"));
        }
        let rows = match &self.volumes {
            Carried::Held(volumes) => Rows::Read(Arc::clone(volumes), opener_near),
            Carried::Stored(stored) => Rows::Stored(Arc::clone(stored), opener_near),
        };
        py.detach(|| Traffic::of(rows, &pairs, width_s, duration_s)).map(LinkTraffic).map_err(of_system)
    }

    /// Writes the table of connections as Parquet, `counts` (JSON) with it.
    ///
    /// # Errors
    /// `OSError` when the file cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf, counts: &str) -> PyResult<()> {
        py.detach(|| match &self.rows {
            Connections::Held(batch) => write_batch(&path, batch, counts),
            Connections::Stored(stored) => stored.write(&self.found.sites, &path, counts),
        })
        .map_err(of_system)
    }
}

impl Connections {
    fn height(&self) -> usize {
        match self {
            Connections::Held(batch) => batch.num_rows(),
            Connections::Stored(stored) => stored.height(),
        }
    }
}

fn held() -> PyErr {
    PyValueError::new_err("connections are in memory: numbers, words")
}

impl CaptureProfile {
    fn column(&self, name: &str) -> PyResult<&dyn Array> {
        let Connections::Held(batch) = &self.rows else {
            return Err(PyValueError::new_err("connections are in a file: numbers_to, words_to"));
        };
        let column = batch.column_by_name(name);
        column.map(AsRef::as_ref).ok_or_else(|| PyValueError::new_err(format!("{name}: no column")))
    }
}

fn bytes_of<'py, const WIDTH: usize>(
    py: Python<'py>,
    values: impl ExactSizeIterator<Item = [u8; WIDTH]>,
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, WIDTH * values.len(), |bytes| {
        for (place, value) in bytes.chunks_exact_mut(WIDTH).zip(values) {
            place.copy_from_slice(&value);
        }
        Ok(())
    })
}

/// A column that Python made.
#[derive(FromPyObject)]
pub enum Made {
    /// Words, some of them missing.
    Words(Vec<Option<String>>),
    /// Whole numbers.
    Integers(PyBuffer<i64>),
    /// Numbers; NaN is missing.
    Floats(PyBuffer<f64>),
}

/// Writes columns of one length as a Parquet file.
///
/// # Errors
/// `OSError` when it cannot be written, or their lengths differ.
#[pyfunction]
pub fn write_columns(py: Python<'_>, path: PathBuf, columns: Vec<(String, Made)>) -> PyResult<()> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (name, made) in columns {
        let array: ArrayRef = match made {
            Made::Words(words) => Arc::new(words.into_iter().collect::<StringViewArray>()),
            Made::Integers(values) => Arc::new(Int64Array::from(values.to_vec(py)?)),
            Made::Floats(values) => {
                let known = |value: f64| (!value.is_nan()).then_some(value);
                Arc::new(values.to_vec(py)?.into_iter().map(known).collect::<Float64Array>())
            }
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let written = || {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(io::Error::other)?;
        let mut file = TableFile::create(&path, batch.schema(), Vec::new(), FORM)?;
        file.write(&batch)?;
        file.close()
    };
    py.detach(written).map_err(of_system)
}

/// What crossed a link when.
#[pyclass]
pub struct LinkTraffic(Traffic);

#[pymethods]
impl LinkTraffic {
    /// Of rows of a table; `pairs` as for [`CaptureProfile::traffic`].
    ///
    /// # Errors
    /// `ValueError` for columns of several lengths, and connections beyond.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "columns of a table")]
    fn of(
        py: Python<'_>,
        connection: PyBuffer<i64>,
        up: PyBuffer<u8>,
        start_s: PyBuffer<f64>,
        wire_bytes: PyBuffer<i64>,
        acked_bytes: PyBuffer<i64>,
        rtt_s: PyBuffer<f64>,
        pairs: PyBuffer<u32>,
        width_s: f64,
        duration_s: f64,
    ) -> PyResult<LinkTraffic> {
        let (connection, up, start_s) = (connection.to_vec(py)?, up.to_vec(py)?, start_s.to_vec(py)?);
        let (wire_bytes, acked_bytes, rtt_s) = (wire_bytes.to_vec(py)?, acked_bytes.to_vec(py)?, rtt_s.to_vec(py)?);
        let pairs = pairs.to_vec(py)?;
        let rows = connection.len();
        let lengths = [up.len(), start_s.len(), wire_bytes.len(), acked_bytes.len(), rtt_s.len()];
        let beyond = |connection: &i64| usize::try_from(*connection).map_or(true, |place| place >= pairs.len());
        if lengths.iter().any(|length| *length != rows) || connection.iter().any(beyond) {
            return Err(PyValueError::new_err("columns of several lengths, or a connection beyond the last"));
        }
        let row = |at: usize| Row {
            connection: connection[at] as usize,
            up: up[at] != 0,
            start_s: start_s[at],
            wire_bytes: wire_bytes[at],
            acked_bytes: acked_bytes[at],
            rtt_s: rtt_s[at],
        };
        let rows = (0..rows).map(row).collect();
        let found = py.detach(|| Traffic::of(Rows::Table(rows), &pairs, width_s, duration_s));
        found.map(LinkTraffic).map_err(of_system)
    }

    /// Rows of a direction.
    fn rows(&self, up: bool) -> usize {
        self.0.rows(up)
    }

    /// Bytes of IP packets that passed in a direction.
    fn carried(&self, up: bool) -> i64 {
        self.0.carried(up)
    }

    /// Windows of a direction, 64-bit integers, and their loads in bit/s.
    fn loads<'py>(&self, py: Python<'py>, up: bool, width_s: f64) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        self.summed(py, up, Measure::Passed, width_s)
    }

    /// The same of the payload that acknowledgements in a direction acknowledge.
    fn acknowledged<'py>(&self, py: Python<'py>, up: bool, width_s: f64) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        self.summed(py, up, Measure::Acknowledged, width_s)
    }

    /// Bytes of each connection in a direction, 64-bit integers, and whether it has a row there, bytes; in a window of a
    /// width where they are given.
    #[pyo3(signature = (up, window=None))]
    fn by_connection<'py>(
        &self,
        py: Python<'py>,
        up: bool,
        window: Option<(i64, f64)>,
    ) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let (sums, there) = py.detach(|| self.0.by_connection(up, window)).map_err(of_system)?;
        let sums = bytes_of(py, sums.into_iter().map(i64::to_ne_bytes))?;
        Ok([sums, bytes_of(py, there.into_iter().map(|there| [u8::from(there)]))?])
    }

    /// Waits down and up, as [`Traffic::waits`].
    fn waits<'py>(
        &self,
        py: Python<'py>,
        width_s: f64,
        wide: PyBuffer<i64>,
        wide_s: f64,
    ) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let wide = wide.to_vec(py)?;
        let [down, up] = py.detach(|| self.0.waits(width_s, &wide, wide_s)).map_err(of_system)?;
        Ok([bytes_of(py, down.into_iter().map(f64::to_ne_bytes))?, bytes_of(py, up.into_iter().map(f64::to_ne_bytes))?])
    }

    /// Longest time between one row and the next, s.
    fn longest_silence_s(&self) -> Option<f64> {
        self.0.longest_silence_s()
    }

    /// The largest of the loads of a direction in windows of a width, bit/s; of what is acknowledged where `acknowledged`.
    fn largest_load(&self, py: Python<'_>, up: bool, width_s: f64, acknowledged: bool) -> f64 {
        let measure = if acknowledged { Measure::Acknowledged } else { Measure::Passed };
        py.detach(|| self.0.largest_load(up, measure, width_s))
    }
}

impl LinkTraffic {
    fn summed<'py>(
        &self,
        py: Python<'py>,
        up: bool,
        measure: Measure,
        width_s: f64,
    ) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let (windows, loads) = py.detach(|| self.0.loads(up, measure, width_s));
        Ok([
            bytes_of(py, windows.into_iter().map(i64::to_ne_bytes))?,
            bytes_of(py, loads.into_iter().map(f64::to_ne_bytes))?,
        ])
    }
}
