//! Records and samples as Parquet.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringViewArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use netsim::{FlowRecord, Sample};
use tables::Record;

use crate::arrays::told;
use crate::list::List;
use crate::table_file::{Form, TableFile};

/// What tells a run from others in its tables.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Label of the discipline.
    pub discipline: String,
    /// Number of the replication.
    pub replication: i32,
}

/// Columns of the simulator's records that are not those of the tables: when a flow started, which the list tells; what
/// only scripts and flows in a cell have.
const LEFT_OUT: [&str; 4] = ["begun_s", "back_bytes", "presence_s", "warm_up_bytes"];

/// Columns that a discipline with one class has no values of, and the one that tells whether it has.
const OF_CLASSES: [(&str, &str); 3] =
    [("high_packets", "sorted_packets"), ("sorted_packets", "sorted_packets"), ("fragments", "fragments")];

/// Tables of a run.
#[derive(Clone, Debug)]
pub struct Written {
    /// Flow records.
    pub flows: RecordBatch,
    /// Time series.
    pub samples: RecordBatch,
}

#[derive(Default)]
struct Columns(Vec<Field>, Vec<ArrayRef>);

impl Columns {
    fn push(&mut self, name: &str, array: ArrayRef) {
        self.0.push(Field::new(name, array.data_type().clone(), true));
        self.1.push(array);
    }

    fn whole(&mut self, name: &str, values: &[i64]) {
        self.push(name, Arc::new(Int64Array::from(values.to_vec())));
    }

    /// NaN stands for null.
    fn numbers(&mut self, name: &str, values: &[f64]) {
        let known = |&value: &f64| (!value.is_nan()).then_some(value);
        self.push(name, Arc::new(values.iter().map(known).collect::<Float64Array>()));
    }

    fn nothing(&mut self, name: &str, kind: &DataType, rows: usize) {
        self.push(name, new_null_array(kind, rows));
    }

    fn word(&mut self, name: &str, word: &str, rows: usize) {
        self.push(name, Arc::new(StringViewArray::from_iter_values(std::iter::repeat_n(word, rows))));
    }

    fn labels(&mut self, labels: &Labels, rows: usize) {
        self.word("discipline", &labels.discipline, rows);
        self.push("replication", Arc::new(Int32Array::from(vec![labels.replication; rows])));
    }

    fn batch(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.0)), self.1)
    }
}

/// Flow records as `mayfly.simulate.tables` declares them.
pub(crate) fn flows(
    list: &List,
    records: &[FlowRecord],
    [response_s, slowdown]: [&[f64]; 2],
    mss: i64,
    labels: &Labels,
) -> Result<RecordBatch, ArrowError> {
    let (mut columns, rows) = (Columns::default(), list.len());
    columns.whole("flow_id", &list.flow_id);
    columns.numbers("start_s", &list.start_s);
    columns.whole("src", &list.src);
    columns.whole("dst", &list.dst);
    columns.word("direction", "down", rows);
    columns.word("protocol", "tcp", rows);
    columns.whole("size_bytes", &list.size_bytes);
    columns.nothing("rtt_s", &DataType::Float64, rows);
    columns.word("opened_by", "sender", rows);
    columns.nothing("packet_bytes", &DataType::Int64, rows);
    columns.nothing("rate_bps", &DataType::Float64, rows);
    columns.nothing("group", &DataType::Utf8View, rows);
    columns.nothing("stage", &DataType::Int64, rows);
    columns.nothing("after", &DataType::Int64, rows);
    let packets: Vec<i64> = list.size_bytes.iter().map(|bytes| (bytes + mss - 1) / mss).collect();
    columns.whole("size_packets", &packets);
    let own: Vec<_> = FlowRecord::columns().iter().map(|column| told(column, records)).collect();
    let has = |name: &str| {
        own.iter().find(|(field, _)| field.name() == name).is_some_and(|(_, array)| {
            let values = array.as_any().downcast_ref::<Int64Array>();
            values.is_some_and(|values| values.iter().flatten().any(|value| value != 0))
        })
    };
    let kept = |field: &&(Field, ArrayRef)| !LEFT_OUT.contains(&field.0.name().as_str());
    let of_queue = |field: &&(Field, ArrayRef)| field.0.name().starts_with("queue_");
    for (field, array) in own.iter().filter(kept).filter(|field| !of_queue(field)) {
        let silent = OF_CLASSES.iter().any(|&(name, tell)| name == field.name() && !has(tell));
        let array = if silent { new_null_array(array.data_type(), rows) } else { array.clone() };
        columns.push(field.name(), array);
    }
    columns.numbers("response_time_s", response_s);
    for (field, array) in own.iter().filter(of_queue) {
        columns.push(field.name(), array.clone());
    }
    columns.numbers("slowdown", slowdown);
    columns.labels(labels, rows);
    columns.batch()
}

/// Samples as `mayfly.simulate.tables` declares them.
pub(crate) fn samples(samples: &[Sample], labels: &Labels) -> Result<RecordBatch, ArrowError> {
    let mut columns = Columns::default();
    for column in Sample::columns() {
        let (field, array) = told(&column, samples);
        columns.push(field.name(), array);
    }
    columns.labels(labels, samples.len());
    columns.batch()
}

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Whole numbers, none of which is missing.
    Whole(Vec<i64>),
    /// NaN stands for one that is missing.
    Real(Vec<f64>),
}

/// The column `name` of `batch`. `None` where there is none, or none of numbers.
fn numbers(batch: &RecordBatch, name: &str) -> Option<Numbers> {
    let column = batch.column_by_name(name)?;
    if let Some(values) = column.as_any().downcast_ref::<Float64Array>() {
        return Some(Numbers::Real(values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()));
    }
    let values = column.as_any().downcast_ref::<Int64Array>()?;
    Some(if values.null_count() == 0 {
        Numbers::Whole(values.values().to_vec())
    } else {
        Numbers::Real(values.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect())
    })
}

/// Writes the batches, of which there is one or more, into a new file at `path` with `metadata`, keys and values.
fn write<'a>(
    batches: impl Iterator<Item = &'a RecordBatch>,
    path: &Path,
    metadata: Vec<(String, String)>,
) -> io::Result<()> {
    let mut batches = batches.peekable();
    let Some(first) = batches.peek() else { return Err(io::Error::other("no table to write")) };
    let mut file = TableFile::create(path, first.schema(), metadata, Form::default())?;
    for batch in batches {
        file.write(batch)?;
    }
    file.close()
}

impl Written {
    /// The column `name` of the flow records. `None` where there is none, or none of numbers.
    pub fn of_flows(&self, name: &str) -> Option<Numbers> {
        numbers(&self.flows, name)
    }

    /// The same of the samples.
    pub fn of_samples(&self, name: &str) -> Option<Numbers> {
        numbers(&self.samples, name)
    }

    /// Writes the flow records of runs, one after another, into a new file at `path` with `metadata`, keys and values.
    ///
    /// # Errors
    /// The file cannot be written, or there is no run.
    pub fn write_flows(runs: &[&Written], path: &Path, metadata: Vec<(String, String)>) -> io::Result<()> {
        write(runs.iter().map(|run| &run.flows), path, metadata)
    }

    /// The same with the samples.
    ///
    /// # Errors
    /// The file cannot be written, or there is no run.
    pub fn write_samples(runs: &[&Written], path: &Path, metadata: Vec<(String, String)>) -> io::Result<()> {
        write(runs.iter().map(|run| &run.samples), path, metadata)
    }
}
