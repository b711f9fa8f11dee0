//! Connections as rows of files that are read back.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use capture::{Connection, Leaving, State};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use runs::table_file::{Form, TableFile};

use crate::table::Table;

/// Rows that are written at once.
pub(crate) const BATCH: usize = 1 << 16;
/// Rows that are held until they are written, 12 MB, and as much again while they are.
const SPILT: usize = 1 << 14;
/// Rows that left early are read back.
pub(crate) const FORM: Form = Form { group: None, arrow_types: true };

/// Connections with their numbers that go to a file.
pub(crate) struct Spill {
    path: PathBuf,
    serials: Vec<u64>,
    held: Vec<Connection>,
    writer: Option<TableFile>,
    rows: u64,
}

impl Leaving for Spill {
    fn leaves(&mut self, serial: u64, connection: Connection) -> io::Result<()> {
        self.add(serial, connection)
    }

    fn forgets(&mut self) {
        *self = Spill::at(std::mem::take(&mut self.path));
    }
}

impl Spill {
    /// To a new file at `path`, which is there as soon as there is a row.
    pub(crate) fn at(path: PathBuf) -> Spill {
        Spill { path, serials: Vec::new(), held: Vec::new(), writer: None, rows: 0 }
    }

    pub(crate) fn add(&mut self, serial: u64, connection: Connection) -> io::Result<()> {
        self.rows += 1;
        self.serials.push(serial);
        self.held.push(connection);
        if self.held.len() >= SPILT { self.flush() } else { Ok(()) }
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let batch = rows_of(&std::mem::take(&mut self.serials), &std::mem::take(&mut self.held))?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert(TableFile::create(&self.path, batch.schema(), Vec::new(), FORM)?),
        };
        writer.write(&batch)?;
        writer.flush()
    }

    /// Writes the end of the file; where it is, if there is a row.
    pub(crate) fn close(mut self) -> io::Result<Option<PathBuf>> {
        self.flush()?;
        self.writer.take().map_or(Ok(()), TableFile::close)?;
        Ok((self.rows > 0).then_some(self.path))
    }
}

/// An error of the system as Python has it.
pub(crate) fn of_system(error: io::Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Addresses of a column.
pub(crate) fn addresses(batch: &RecordBatch, name: &str) -> io::Result<Vec<IpAddr>> {
    let texts = batch.column_by_name(name).and_then(|column| column.as_string_view_opt());
    let texts = texts.ok_or_else(|| io::Error::other(format!("{name} is missing in what was kept")))?;
    texts.iter().map(|text| text.unwrap_or_default().parse().map_err(io::Error::other)).collect()
}

/// Number, columns of a connection, and what both directions have together.
pub(crate) fn rows_of(serials: &[u64], rows: &[Connection]) -> io::Result<RecordBatch> {
    let connections = Table::of(rows).map_err(|_| io::Error::other("arrow refuses the columns"))?.batch();
    let both = |of: fn(&capture::Side) -> u64| -> ArrayRef {
        let sum = |row: &Connection| (of(&row.from_opener) + of(&row.from_responder)) as i64;
        Arc::new(Int64Array::from_iter_values(rows.iter().map(sum)))
    };
    let mature = |row: &Connection| {
        let data = row.from_opener.distinct_bytes + row.from_responder.distinct_bytes > 0;
        data && !matches!(row.state, State::HalfOpen | State::Rejected)
    };
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(serials.iter().map(|serial| *serial as i64)));
    let mature: ArrayRef = Arc::new(rows.iter().map(|row| Some(mature(row))).collect::<BooleanArray>());
    let mut fields = vec![Arc::new(Field::new("connection_id", DataType::Int64, false))];
    fields.extend(connections.schema().fields().iter().cloned());
    let mut columns = vec![ids];
    columns.extend(connections.columns().iter().cloned());
    for (name, column) in
        [("bytes", both(|side| side.wire_bytes)), ("packets", both(|side| side.packets)), ("mature", mature)]
    {
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), false)));
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(io::Error::other)
}
