//! Captures in shards by connection: split here, read anywhere, put together here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::account::Amount;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{Field, Schema};
use arrow_select::interleave::interleave_record_batch;
use capture::{Counts, Reason, Shown, Unanswered, Volume, Volumes, split_files};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use runs::table_file::TableFile;
use serde::{Deserialize, Serialize};

use crate::capture::{Onlooker, ReadOptions, Told};
use crate::rows::{BATCH, FORM, Spill, of_system};
use crate::table::{Table, as_json};

/// Rows of all shards that are held while they are put together.
const HELD_ROWS: usize = 1 << 16;
/// Rows that are passed on at once.
const PASSED_ROWS: usize = 1 << 15;
const ID: &str = "connection_id";

/// Splits the captures at `paths` into new files `shards`, by connection: what was read as JSON, and the time of the first
/// packet in nanoseconds since 1970. `look` as for [`read_capture`](crate::capture::read_capture).
///
/// # Errors
/// `ValueError` with one line when a capture cannot be read or a shard not be written, and when captures must be merged;
/// whatever `look` or a signal handler raises.
#[pyfunction]
pub fn split_capture(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: ReadOptions,
    look: Py<PyAny>,
    shards: Vec<PathBuf>,
) -> PyResult<(SplitCounts, Option<i64>)> {
    let options = options.checked()?;
    let mut onlooker = Onlooker::of(&look);
    let outcome = py.detach(|| split_files(&paths, &options, &mut onlooker, &shards));
    onlooker.raised()?;
    let counts = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let first_ns = counts.first_ns;
    Ok((SplitCounts(counts), first_ns))
}

/// What was read while captures were split.
#[pyclass(frozen)]
pub struct SplitCounts(Counts);

#[pymethods]
impl SplitCounts {
    /// What was counted, with what was found in the shards, which `read_shard` answered with, as JSON.
    ///
    /// # Errors
    /// `ValueError` for what is no such answer.
    fn told(&self, shards: Vec<String>) -> PyResult<String> {
        let mut counts = self.0.clone();
        for shard in &shards {
            let shard: ShardTold =
                serde_json::from_str(shard).map_err(|error| PyValueError::new_err(error.to_string()))?;
            counts.add_shard(&shard.counts());
        }
        as_json(&Told::of(&counts))
    }
}

/// Names of the files of a shard that was read.
const ROWS: &str = "rows.parquet";
const LEFT: &str = "left.parquet";
const TRAINS: &str = "trains.parquet";
const VOLUMES: &str = "volumes.parquet";

/// What was read of a shard, beside its files.
#[derive(Serialize, Deserialize)]
struct ShardTold {
    packets: u64,
    rows: u64,
    left: u64,
    evicted: u64,
    unanswered: [u64; 3],
    /// Packets of connections that were given up and did not leave: too many open, too many in all.
    lost: [Amount; 2],
    /// TCP connections with payload, those of one direction, and those with a round-trip time; payload that passed, and that
    /// the tap lost.
    shown: [u64; 5],
    trains_left_out: u64,
    volumes_left_out: u64,
    volume_width_ns: i64,
}

/// Reasons for which connections of a shard are given up.
const LOST: [Reason; 2] = [Reason::Evicted, Reason::Budget];

impl ShardTold {
    /// What [`Counts::add_shard`] takes of it.
    fn counts(&self) -> Counts {
        let [connections, packets, bytes] = self.unanswered;
        let [tcp, one_way, timed, passed_bytes, lost_bytes] = self.shown;
        let mut counts = Counts::default();
        counts.evicted = self.evicted;
        counts.unanswered = Unanswered { connections, packets, bytes };
        counts.shown = Shown { tcp, one_way, timed, passed_bytes, lost_bytes };
        for (reason, amount) in LOST.into_iter().zip(self.lost) {
            counts.account.see(amount);
            counts.account.leave_out(reason, amount);
        }
        counts
    }
}

/// Reads the shard at `path` into the folder `into`: connections and trains, `connection_id` being the number of the first
/// packet of each connection in the capture, connections that left early in a file of their own, and volumes. `first_ns` is
/// the time of the first packet of the capture. Answers with what was counted, as JSON.
///
/// # Errors
/// `ValueError` with one line when the shard is not whole or cannot be read; `OSError` when a file cannot be written;
/// whatever `look` or a signal handler raises.
#[pyfunction]
pub fn read_shard(
    py: Python<'_>,
    path: PathBuf,
    options: ReadOptions,
    look: Py<PyAny>,
    first_ns: Option<i64>,
    into: PathBuf,
) -> PyResult<String> {
    let options = options.checked()?;
    let mut onlooker = Onlooker::of(&look);
    let mut left = Spill::at(into.join(LEFT));
    let outcome = py.detach(|| capture::read_shard(&path, &options, first_ns, &mut onlooker, Some(&mut left)));
    onlooker.raised()?;
    let mut read = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
    for train in &mut read.trains {
        train.connection = read.serials[train.connection as usize];
    }
    let trains = Table::of(&read.trains)?.batch();
    let shown = read.counts.shown;
    let told = ShardTold {
        packets: read.counts.packets,
        rows: read.connections.len() as u64,
        left: left.rows(),
        evicted: read.counts.evicted,
        unanswered: {
            let unanswered = read.counts.unanswered;
            [unanswered.connections, unanswered.packets, unanswered.bytes]
        },
        lost: LOST.map(|reason| read.counts.account.left_out(reason)),
        shown: [shown.tcp, shown.one_way, shown.timed, shown.passed_bytes, shown.lost_bytes],
        trains_left_out: read.counts.trains_left_out,
        volumes_left_out: read.counts.volumes_left_out,
        volume_width_ns: read.counts.volume_width_ns,
    };
    py.detach(|| {
        left.close()?;
        let written = |name: &str, batch: &RecordBatch| {
            let mut file = TableFile::create(&into.join(name), batch.schema(), Vec::new(), FORM)?;
            file.write(batch)?;
            file.close()
        };
        written(VOLUMES, &volumes_of(&read.volumes, &read.serials, told.volume_width_ns, first_ns.unwrap_or(0))?)?;
        written(TRAINS, &trains)?;
        let mut rows = Spill::at(into.join(ROWS));
        for (serial, connection) in read.serials.into_iter().zip(read.connections) {
            rows.add(serial, connection)?;
        }
        rows.close().map(|_| ())
    })
    .map_err(of_system)?;
    as_json(&told)
}

/// Volumes in whole numbers, with the number of the window and of the first packet of the connection.
fn volumes_of(volumes: &[Volume], serials: &[u64], width_ns: i64, first_ns: i64) -> io::Result<RecordBatch> {
    let whole = |of: &dyn Fn(&Volume) -> u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(volumes.iter().map(|row| of(row) as i64)))
    };
    let window = |row: &Volume| row.start_ns.saturating_add(first_ns).div_euclid(width_ns.max(1)) as u64;
    let flag = |of: fn(&Volume) -> bool| -> ArrayRef {
        Arc::new(volumes.iter().map(|row| Some(of(row))).collect::<BooleanArray>())
    };
    let columns: [(&str, ArrayRef, bool); 8] = [
        (ID, whole(&|row| serials[row.connection as usize]), false),
        ("window", whole(&window), false),
        ("wire_bytes", whole(&|row| row.wire_bytes), false),
        ("packets", whole(&|row| row.packets), false),
        ("acked_bytes", whole(&|row| row.acked_bytes), false),
        ("from_opener", flag(|row| row.from_opener), false),
        ("from_lower", flag(|row| row.from_lower), false),
        ("rtt_ns", Arc::new(volumes.iter().map(|row| row.rtt_ns).collect::<Int64Array>()), true),
    ];
    let field = |(name, column, null): &(&str, ArrayRef, bool)| Field::new(*name, column.data_type().clone(), *null);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let columns = columns.into_iter().map(|(_, column, _)| column).collect();
    RecordBatch::try_new(Arc::new(schema), columns).map_err(io::Error::other)
}

fn damaged() -> io::Error {
    io::Error::other("a shard that was read is damaged")
}

fn whole_numbers<'a>(batch: &'a RecordBatch, name: &str) -> io::Result<&'a Int64Array> {
    batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>()).ok_or_else(damaged)
}

fn flags<'a>(batch: &'a RecordBatch, name: &str) -> io::Result<&'a BooleanArray> {
    batch.column_by_name(name).and_then(|column| column.as_boolean_opt()).ok_or_else(damaged)
}

/// Connections of shards that were read, in the folders of these.
pub(crate) struct Shards {
    folders: Vec<PathBuf>,
    /// Of the first packets of all rows, in order.
    numbers: Vec<i64>,
}

impl Shards {
    /// Those of `folders`; `see` sees all of their rows.
    pub(crate) fn of(folders: Vec<PathBuf>, mut see: impl FnMut(&RecordBatch) -> io::Result<()>) -> io::Result<Shards> {
        let mut numbers = Vec::new();
        for folder in &folders {
            for name in [LEFT, ROWS] {
                for batch in batches(&folder.join(name), BATCH)? {
                    let batch = batch.map_err(io::Error::other)?;
                    numbers.extend(whole_numbers(&batch, ID)?.values());
                    see(&batch)?;
                }
            }
        }
        numbers.sort_unstable();
        Ok(Shards { folders, numbers })
    }

    /// Row of the connection whose first packet has this number.
    fn row_of(&self, number: i64) -> io::Result<i64> {
        self.numbers.binary_search(&number).map(|row| row as i64).map_err(|_| damaged())
    }

    fn numbered(&self, batch: &RecordBatch) -> io::Result<RecordBatch> {
        let numbers = whole_numbers(batch, ID)?;
        let rows = numbers.values().iter().map(|number| self.row_of(*number)).collect::<io::Result<Vec<_>>>()?;
        let place = batch.schema().index_of(ID).map_err(io::Error::other)?;
        let mut columns = batch.columns().to_vec();
        columns[place] = Arc::new(Int64Array::from(rows));
        RecordBatch::try_new(batch.schema(), columns).map_err(io::Error::other)
    }

    /// Passes on all rows by batches: those that left early, then the others in the order of their first packets. Either
    /// have the numbers of that order.
    pub(crate) fn each(&self, mut take: impl FnMut(&RecordBatch) -> io::Result<()>) -> io::Result<()> {
        for folder in &self.folders {
            for batch in batches(&folder.join(LEFT), BATCH)? {
                take(&self.numbered(&batch.map_err(io::Error::other)?)?)?;
            }
        }
        let each = (HELD_ROWS / self.folders.len().max(1)).clamp(256, BATCH);
        let mut merged =
            Merged::of(self.folders.iter().map(|folder| batches(&folder.join(ROWS), each)).collect::<Result<_, _>>()?)?;
        while let Some(batch) = merged.next(PASSED_ROWS)? {
            take(&self.numbered(&batch)?)?;
        }
        Ok(())
    }

    /// Trains of all shards by connection and time.
    pub(crate) fn trains(&self) -> io::Result<Vec<RecordBatch>> {
        let mut all = Vec::new();
        for folder in &self.folders {
            for batch in batches(&folder.join(TRAINS), BATCH)? {
                all.push(self.numbered(&batch.map_err(io::Error::other)?)?);
            }
        }
        Ok(all)
    }

    /// Volumes of all shards, at most `limit`; the widths of their windows, and the packets that are in none, were told
    /// when the shards were read.
    pub(crate) fn volumes(
        &self,
        told: &[(i64, u64)],
        limit: usize,
        first_ns: i64,
    ) -> io::Result<(Vec<Volume>, i64, u64)> {
        let mut volumes = Volumes::with_limit(limit);
        for (folder, &(width_ns, left_out)) in self.folders.iter().zip(told) {
            volumes.add_rows(width_ns, [], left_out);
            for batch in batches(&folder.join(VOLUMES), BATCH)? {
                let batch = self.numbered(&batch.map_err(io::Error::other)?)?;
                let [ids, windows, wire_bytes, packets, acked_bytes, rtts] =
                    [ID, "window", "wire_bytes", "packets", "acked_bytes", "rtt_ns"]
                        .map(|name| whole_numbers(&batch, name));
                let (ids, windows, wire_bytes, packets) = (ids?, windows?, wire_bytes?, packets?);
                let (acked_bytes, rtts) = (acked_bytes?, rtts?);
                let (from_opener, from_lower) = (flags(&batch, "from_opener")?, flags(&batch, "from_lower")?);
                let row = |at: usize| Volume {
                    connection: ids.value(at) as u64,
                    from_opener: from_opener.value(at),
                    from_lower: from_lower.value(at),
                    start_ns: windows.value(at),
                    wire_bytes: wire_bytes.value(at) as u64,
                    packets: packets.value(at) as u64,
                    acked_bytes: acked_bytes.value(at) as u64,
                    rtt_ns: arrow_array::Array::is_valid(rtts, at).then(|| rtts.value(at)),
                };
                volumes.add_rows(width_ns, (0..batch.num_rows()).map(row), 0);
            }
        }
        let (mut rows, width_ns, left_out) = volumes.finish();
        for row in &mut rows {
            row.start_ns = row.start_ns.saturating_mul(width_ns).saturating_sub(first_ns);
        }
        Ok((rows, width_ns, left_out))
    }
}

/// Batches of a file; none of one that is not there.
fn batches(path: &Path, rows: usize) -> io::Result<Batches> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Batches(None)),
        Err(error) => return Err(error),
    };
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(io::Error::other)?;
    reader.with_batch_size(rows).build().map(|reader| Batches(Some(reader))).map_err(io::Error::other)
}

struct Batches(Option<ParquetRecordBatchReader>);

impl Iterator for Batches {
    type Item = <ParquetRecordBatchReader as Iterator>::Item;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.as_mut()?.next()
    }
}

/// Rows of several files, each in the order of its ids, in the order of all of them.
struct Merged {
    sources: Vec<Batches>,
    /// Of each source the batch that is read, and the row in it.
    current: Vec<Option<(RecordBatch, usize)>>,
    next: BinaryHeap<Reverse<(i64, usize)>>,
}

impl Merged {
    fn of(sources: Vec<Batches>) -> io::Result<Merged> {
        let current = sources.iter().map(|_| None).collect();
        let mut merged = Merged { sources, current, next: BinaryHeap::new() };
        for source in 0..merged.sources.len() {
            merged.load(source)?;
        }
        Ok(merged)
    }

    fn load(&mut self, source: usize) -> io::Result<()> {
        self.current[source] = None;
        for batch in self.sources[source].by_ref() {
            let batch = batch.map_err(io::Error::other)?;
            if batch.num_rows() > 0 {
                self.next.push(Reverse((whole_numbers(&batch, ID)?.value(0), source)));
                self.current[source] = Some((batch, 0));
                break;
            }
        }
        Ok(())
    }

    /// Up to `most` rows; None at the end.
    fn next(&mut self, most: usize) -> io::Result<Option<RecordBatch>> {
        // Batches that rows are taken of, and where the current one of each source is among them.
        let mut used: Vec<RecordBatch> = Vec::new();
        let mut places: Vec<Option<usize>> = vec![None; self.sources.len()];
        let mut taken: Vec<(usize, usize)> = Vec::new();
        while taken.len() < most
            && let Some(Reverse((_, source))) = self.next.pop()
        {
            let Some((batch, row)) = &mut self.current[source] else { continue };
            let place = *places[source].get_or_insert_with(|| {
                used.push(batch.clone());
                used.len() - 1
            });
            taken.push((place, *row));
            *row += 1;
            if *row < batch.num_rows() {
                self.next.push(Reverse((whole_numbers(batch, ID)?.value(*row), source)));
            } else {
                places[source] = None;
                self.load(source)?;
            }
        }
        if taken.is_empty() {
            return Ok(None);
        }
        let used: Vec<&RecordBatch> = used.iter().collect();
        interleave_record_batch(&used, &taken).map(Some).map_err(io::Error::other)
    }
}
