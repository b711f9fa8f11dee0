//! Connections of captures with their classes, from the capture to the file, without a table in Python.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::hosts::{Class, FoundBy, Networks, Sites, Tally, UNANSWERED, Unsited};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, RecordBatch, StringViewArray};
use arrow_schema::{Field, FieldRef, Schema};
use capture::{Connection, Leaving, State, read_files_to};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use runs::table_file::Groups;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use tables::Record;

use crate::capture::{Onlooker, ReadOptions, Told};
use crate::rows::{BATCH, FORM, Spill, addresses, of_system, rows_of};
use crate::shards::Shards;
use crate::table::{Table, as_json};

/// Connections that were read, before they are written.
#[pyclass]
pub struct CaptureListing {
    found: Found,
    rows: Rows,
}

/// What was counted of connections, and whose their hosts are.
pub(crate) struct Found {
    tally: Tally,
    pub(crate) sites: Sites,
    told: String,
}

/// Where the connections are.
enum Rows {
    /// In memory, with their numbers; those that left early in a file, and how many were given up and are not there.
    Held { serials: Vec<u64>, kept: Vec<Connection>, left: Option<PathBuf>, lost: u64 },
    /// In shards that were read.
    Shards(Shards),
}

/// Counts connections as they leave, and keeps them in a file.
struct Keeper<'a> {
    tally: Tally,
    spill: Spill,
    /// What the tally may hold, and the folder for the rest.
    limit: Option<(usize, &'a Path)>,
}

impl Leaving for Keeper<'_> {
    fn leaves(&mut self, serial: u64, connection: Connection) -> io::Result<()> {
        self.tally.add(&connection)?;
        self.spill.add(serial, connection)
    }

    fn forgets(&mut self) {
        self.tally = Tally::within(self.limit);
        self.spill.forgets();
    }
}

/// What a listing says beside its rows.
#[derive(Serialize)]
struct Answer {
    lost: u64,
    counts: Json,
    dataset: Map<String, Json>,
    site: Map<String, Json>,
}

/// Reads the captures at `paths` as one, as [`read_capture`](crate::capture::read_capture), and tells the class of each
/// connection; the site is that of the networks `internal`, else found. Connections that are given up wait in the file
/// `spill`, and of hosts beyond `most_hosts` what each did in files beside it.
///
/// # Errors
/// `ValueError` with one line as there, for what is no network, and when no host is in `internal`.
#[pyfunction]
#[pyo3(signature = (paths, options, look, internal, spill, most_hosts=None))]
pub fn list_capture(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: ReadOptions,
    look: Py<PyAny>,
    internal: Option<Vec<String>>,
    spill: PathBuf,
    most_hosts: Option<usize>,
) -> PyResult<CaptureListing> {
    let options = options.checked()?;
    let internal = networks(internal)?;
    let mut onlooker = Onlooker::of(&look);
    let limit = most_hosts.zip(spill.parent());
    let mut keeper = Keeper { tally: Tally::within(limit), spill: Spill::at(spill.clone()), limit };
    let outcome = py.detach(|| read_files_to(&paths, &options, &mut onlooker, Some(&mut keeper)));
    onlooker.raised()?;
    let read = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let told = as_json(&Told::of(&read.counts))?;
    let Keeper { mut tally, spill, .. } = keeper;
    // Of files that are merged, what is given up is not kept.
    let lost = read.counts.evicted - read.counts.unanswered.connections;
    let left = py
        .detach(|| {
            for connection in &read.connections {
                tally.add(connection)?;
            }
            spill.close()
        })
        .map_err(of_system)?;
    let rows = Rows::Held { serials: read.serials, kept: read.connections, left, lost };
    CaptureListing::of(tally, internal.as_ref(), told, rows)
}

/// The same of the folders of shards that were read; `told` is what was counted, as JSON.
///
/// # Errors
/// `ValueError` as [`list_capture`] where no host is in `internal`; `OSError` when a folder cannot be read.
#[pyfunction]
#[pyo3(signature = (folders, told, internal))]
pub fn list_shards(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    told: String,
    internal: Option<Vec<String>>,
) -> PyResult<CaptureListing> {
    let internal = networks(internal)?;
    let mut tally = Tally::default();
    let shards = py.detach(|| Shards::of(folders, |batch| counted(&mut tally, batch))).map_err(of_system)?;
    CaptureListing::of(tally, internal.as_ref(), told, Rows::Shards(shards))
}

/// The networks of a site.
///
/// # Errors
/// `ValueError` with one line for what is none.
pub(crate) fn networks(texts: Option<Vec<String>>) -> PyResult<Option<Networks>> {
    texts.map(Networks::parse).transpose().map_err(|none| PyValueError::new_err(none.to_string()))
}

/// Counts the rows of a batch.
fn counted(tally: &mut Tally, batch: &RecordBatch) -> io::Result<()> {
    let missing = |name: &str| io::Error::other(format!("{name} is missing in what was kept"));
    let word = |name: &'static str| {
        batch.column_by_name(name).and_then(|column| column.as_string_view_opt()).ok_or_else(|| missing(name))
    };
    let number = |name: &'static str| {
        let column = batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
        column.ok_or_else(|| missing(name))
    };
    let (protocols, states) = (word("protocol")?, word("state")?);
    let (answers, bytes, packets) = (number("responder_packets")?, number("bytes")?, number("packets")?);
    let ends = addresses(batch, "opener")?.into_iter().zip(addresses(batch, "responder")?);
    for (row, (opener, responder)) in ends.enumerate() {
        let known = |names: &[&str], word: &str| names.iter().position(|name| *name == word);
        let protocol = known(&capture::Protocol::NAMES, protocols.value(row)).ok_or_else(|| missing("protocol"))?;
        let state = known(&State::NAMES, states.value(row)).ok_or_else(|| missing("state"))?;
        let unanswered = UNANSWERED.iter().any(|unanswered| *unanswered as usize == state);
        let (bytes, packets) = (bytes.value(row) as u64, packets.value(row) as u64);
        tally.add_ends([opener, responder], answers.value(row) > 0 && !unanswered, protocol, bytes, packets)?;
    }
    Ok(())
}

impl CaptureListing {
    fn of(tally: Tally, internal: Option<&Networks>, told: String, rows: Rows) -> PyResult<CaptureListing> {
        Ok(CaptureListing { found: Found::of(tally, internal, told)?, rows })
    }
}

impl Found {
    /// Of connections that were counted; `told` is what was read, as JSON.
    ///
    /// # Errors
    /// `ValueError` as [`list_capture`].
    pub(crate) fn of(tally: Tally, internal: Option<&Networks>, told: String) -> PyResult<Found> {
        let sites = Sites::of(&tally, internal).map_err(|none| match none {
            Unsited::File(error) => of_system(error),
            Unsited::NoHost(none) => PyValueError::new_err(none.to_string()),
        })?;
        Ok(Found { tally, sites, told })
    }

    /// See [`CaptureListing::answer`].
    pub(crate) fn answer(&self, lost: u64) -> PyResult<String> {
        let number = |name: &str, value: u64| (name.to_owned(), Json::from(value));
        let mut dataset = Map::new();
        let connections: u64 = self.tally.by_protocol.iter().sum();
        dataset.extend([number("connections", connections)]);
        let names = capture::Protocol::NAMES.iter().zip(self.tally.by_protocol);
        dataset.extend(names.map(|(name, count)| number(name, count)));
        dataset.extend([
            number("bytes", self.tally.bytes),
            number("packets", self.tally.packets),
            number("local_hosts", self.sites.local()),
            number("remote_hosts", self.sites.remote),
        ]);
        let networks: Vec<Json> = self.sites.networks.iter().map(|network| network.to_string().into()).collect();
        let mut site = Map::new();
        site.insert("found_by".into(), FoundBy::NAMES[self.sites.found_by as usize].into());
        site.insert("networks".into(), networks.into());
        site.insert("roles_from".into(), "balance".into());
        let roles = self.sites.roles;
        site.extend([number("server", roles.server), number("client", roles.client), number("unknown", roles.unknown)]);
        let counts = serde_json::from_str(&self.told).map_err(|error| PyValueError::new_err(error.to_string()))?;
        as_json(&Answer { lost, counts, dataset, site })
    }
}

#[pymethods]
impl CaptureListing {
    /// What was read and found, as JSON: `lost` connections, which were answered and are in no row; `counts`; of `dataset` and `site` what a profile has.
    fn answer(&self) -> PyResult<String> {
        let lost = if let Rows::Held { lost, .. } = self.rows { lost } else { 0 };
        self.found.answer(lost)
    }

    /// Writes the table of connections as Parquet, `counts` (JSON) with it; the rows that left early come first.
    ///
    /// # Errors
    /// `OSError` when the file cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf, counts: &str) -> PyResult<()> {
        py.detach(|| self.written(path, counts)).map_err(of_system)
    }

    /// Trains of connections in shards, by connection and time: a table for each shard and part of it.
    ///
    /// # Errors
    /// `OSError` when they cannot be read.
    fn trains(&self, py: Python<'_>) -> PyResult<Vec<Table>> {
        let Rows::Shards(shards) = &self.rows else { return Ok(Vec::new()) };
        let trains = py.detach(|| shards.trains()).map_err(of_system)?;
        Ok(trains.into_iter().map(Table::from).collect())
    }

    /// Volumes of connections in shards, at most `limit`, the width of their windows in nanoseconds, and packets that are in
    /// none; of each shard `told` has the width and these packets, `first_ns` is the time of the first packet.
    ///
    /// # Errors
    /// `OSError` when they cannot be read.
    fn volumes(
        &self,
        py: Python<'_>,
        told: Vec<(i64, u64)>,
        limit: usize,
        first_ns: Option<i64>,
    ) -> PyResult<(Table, i64, u64)> {
        let Rows::Shards(shards) = &self.rows else { return Ok((Table::of::<capture::Volume>(&[])?, 0, 0)) };
        let found = py.detach(|| shards.volumes(&told, limit, first_ns.unwrap_or(0))).map_err(of_system)?;
        Ok((Table::of(&found.0)?, found.1, found.2))
    }
}

impl CaptureListing {
    fn written(&self, path: PathBuf, counts: &str) -> io::Result<()> {
        let schema = self.batch(&[], &[])?.schema();
        let mut out = Groups::create(&path, schema, metadata(counts)?, FORM)?;
        match &self.rows {
            Rows::Shards(shards) => shards.each(|batch| out.write(&with_classes_of(&self.found.sites, batch)?))?,
            Rows::Held { serials, kept, left, .. } => {
                if let Some(left) = left {
                    take_over(&self.found.sites, left, &mut out)?;
                }
                for (serials, rows) in serials.chunks(BATCH).zip(kept.chunks(BATCH)) {
                    out.write(&self.batch(serials, rows)?)?;
                }
            }
        }
        out.close()
    }

    fn batch(&self, serials: &[u64], rows: &[Connection]) -> io::Result<RecordBatch> {
        batch_of(&self.found.sites, serials, rows)
    }
}

/// Groups of rows that left early, as they stand in the file at `left`, with their classes.
fn take_over(sites: &Sites, left: &Path, out: &mut Groups) -> io::Result<()> {
    let file = File::open(left)?;
    let options = ArrowReaderOptions::default();
    let metadata = ArrowReaderMetadata::load(&file, options).map_err(io::Error::other)?;
    for (place, group) in metadata.metadata().row_groups().iter().enumerate() {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone());
        let ends = ProjectionMask::columns(reader.parquet_schema(), ["opener", "responder"]);
        let reader = reader.with_projection(ends).with_row_groups(vec![place]).with_batch_size(BATCH);
        let mut classes = Vec::new();
        for batch in reader.build().map_err(io::Error::other)? {
            classes.extend(classes_of(sites, &batch.map_err(io::Error::other)?)?);
        }
        let (fields, columns): (Vec<_>, Vec<_>) = columns_of(&classes).into_iter().unzip();
        let own = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(io::Error::other)?;
        out.take_over(&file, group, &own)?;
    }
    Ok(())
}

/// Writes the connections in the file at `left` as [`CaptureListing::write`] does.
pub(crate) fn write_stored(sites: &Sites, left: &Path, path: &Path, counts: &str) -> io::Result<()> {
    let schema = batch_of(sites, &[], &[])?.schema();
    let mut out = Groups::create(path, schema, metadata(counts)?, FORM)?;
    take_over(sites, left, &mut out)?;
    out.close()
}

/// The classes of the rows of a batch.
pub(crate) fn classes_of(sites: &Sites, batch: &RecordBatch) -> io::Result<Vec<Class>> {
    let (openers, responders) = (addresses(batch, "opener")?, addresses(batch, "responder")?);
    Ok(openers.into_iter().zip(responders).map(|(one, two)| sites.class_of(one, two)).collect())
}

/// Rows that were stored, with their classes.
pub(crate) fn with_classes_of(sites: &Sites, batch: &RecordBatch) -> io::Result<RecordBatch> {
    with_classes(batch, &classes_of(sites, batch)?)
}

/// Connections with their numbers and classes.
pub(crate) fn batch_of(sites: &Sites, serials: &[u64], rows: &[Connection]) -> io::Result<RecordBatch> {
    let class = |row: &Connection| sites.class_of(row.opener.address, row.responder.address);
    let classes: Vec<Class> = rows.iter().map(class).collect();
    with_classes(&rows_of(serials, rows)?, &classes)
}

/// Writes connections as [`CaptureListing::write`] does.
pub(crate) fn write_batch(path: &Path, rows: &RecordBatch, counts: &str) -> io::Result<()> {
    let mut out = Groups::create(path, rows.schema(), metadata(counts)?, FORM)?;
    for at in (0..rows.num_rows()).step_by(BATCH) {
        out.write(&rows.slice(at, BATCH.min(rows.num_rows() - at)))?;
    }
    out.close()
}

/// Rows with the classes before what both directions have together.
fn with_classes(batch: &RecordBatch, classes: &[Class]) -> io::Result<RecordBatch> {
    const BEHIND: usize = 3;
    let at = batch.num_columns() - BEHIND;
    let mut fields = batch.schema().fields().to_vec();
    let mut columns = batch.columns().to_vec();
    for (place, (field, column)) in columns_of(classes).into_iter().enumerate() {
        fields.insert(at + place, field);
        columns.insert(at + place, column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(io::Error::other)
}

/// Names of the columns of classes.
pub(crate) const CLASSES: [&str; 3] = ["class", "side", "reason"];

/// The columns of classes.
fn columns_of(classes: &[Class]) -> [(FieldRef, ArrayRef); 3] {
    let words = |of: fn(&Class) -> Option<&'static str>| -> ArrayRef {
        Arc::new(classes.iter().map(of).collect::<StringViewArray>())
    };
    let [class, side, reason] = CLASSES;
    [
        (class, words(|class| Some(class.class))),
        (side, words(|class| Some(class.side))),
        (reason, words(|class| class.reason)),
    ]
    .map(|(name, column)| (Arc::new(Field::new(name, column.data_type().clone(), name == reason)), column))
}

/// What `mayfly.tables.Table.metadata` says of the table of connections.
fn metadata(counts: &str) -> io::Result<Vec<(String, String)>> {
    let mut columns = Map::new();
    let told =
        |unit: &str, meaning: &str, since: u32| serde_json::json!({"unit": unit, "meaning": meaning, "since": since});
    columns.insert("connection_id".into(), told("", "Number of the row.", 1));
    for column in tables::Table::of::<Connection>().columns {
        columns.insert(column.name.to_string(), told(column.unit, &column.meaning, column.since));
    }
    let columns = serde_json::to_string(&columns).map_err(io::Error::other)?;
    let version = Connection::VERSION.to_string();
    let pairs = [
        ("mayfly.table", Connection::TABLE.to_owned()),
        ("mayfly.schema", version),
        ("mayfly.columns", columns),
        ("mayfly.counts", counts.to_owned()),
    ];
    Ok(pairs.map(|(key, value)| (key.to_owned(), value)).into())
}
