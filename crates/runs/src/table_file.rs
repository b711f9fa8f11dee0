//! A table as a Parquet file.

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// How a table stands in its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Rows of a group at most; as many as the library chooses without.
    pub group: Option<usize>,
    /// Whether the file has the types of Arrow beside those of Parquet: what reads it back gets the very columns.
    pub arrow_types: bool,
}

/// A Parquet file that is written batch by batch, compressed with Snappy.
pub struct TableFile(ArrowWriter<File>);

impl TableFile {
    /// A new file at `path` with the columns of `schema`, and `metadata`, keys and values.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(
        path: &Path,
        schema: SchemaRef,
        metadata: Vec<(String, String)>,
        form: Form,
    ) -> io::Result<TableFile> {
        let told = metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(told));
        let properties = match form.group {
            Some(rows) => properties.set_max_row_group_row_count(Some(rows)).build(),
            None => properties.build(),
        };
        let options = ArrowWriterOptions::new().with_properties(properties);
        let options = options.with_skip_arrow_metadata(!form.arrow_types);
        ArrowWriter::try_new_with_options(File::create(path)?, schema, options).map(TableFile).map_err(failed)
    }

    /// Adds the rows of `batch`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.0.write(batch).map_err(failed)
    }

    /// Ends the group of rows, so that nothing of them is kept in memory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(failed)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(self) -> io::Result<()> {
        self.0.close().map(|_| ()).map_err(failed)
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(other.to_string()),
    }
}
