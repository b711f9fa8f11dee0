//! A table as a Parquet file.

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves};
use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;

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
        let properties = schema.fields().iter().fold(properties, encoded);
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

/// How the numbers of a column are stored. Hardly two times or means are alike, and whole numbers take little by their
/// differences: a dictionary of them takes most of the time of writing, and saves no space.
fn encoded(properties: WriterPropertiesBuilder, field: &FieldRef) -> WriterPropertiesBuilder {
    let column = ColumnPath::from(field.name().as_str());
    match field.data_type() {
        DataType::Float64 => properties.set_column_dictionary_enabled(column, false),
        DataType::Int64 => properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
        _ => properties,
    }
}

/// A Parquet file that is written group by group, of rows or of groups of another file.
pub struct Groups {
    file: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    written: usize,
}

impl Groups {
    /// A new file, as [`TableFile::create`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path, schema: SchemaRef, metadata: Vec<(String, String)>, form: Form) -> io::Result<Groups> {
        let table = TableFile::create(path, SchemaRef::clone(&schema), metadata, form)?;
        let (file, factory) = table.0.into_serialized_writer().map_err(failed)?;
        Ok(Groups { file, factory, schema, written: 0 })
    }

    /// Adds the rows of `batch` as a group.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.group(|name, writer, group| match batch.column_by_name(name) {
            Some(column) => encode(batch.schema_ref(), name, column, writer, group),
            None => Err(ParquetError::General(format!("{name} is missing"))),
        })
    }

    /// Adds a group of `source` as it stands, and the columns of `own`, which has as many rows and what the group lacks.
    ///
    /// # Errors
    /// The file cannot be written, or the group not be read.
    pub fn take_over(&mut self, source: &File, taken: &RowGroupMetaData, own: &RecordBatch) -> io::Result<()> {
        self.group(|name, writer, group| {
            if let Some(column) = own.column_by_name(name) {
                return encode(own.schema_ref(), name, column, writer, group);
            }
            // Of a list, the path goes on to its items.
            let of_field =
                |column: &&ColumnChunkMetaData| column.column_path().parts().first().is_some_and(|part| part == name);
            let column = taken.columns().iter().find(of_field);
            let column = column.ok_or_else(|| ParquetError::General(format!("{name} is missing")))?;
            let close = ColumnCloseResult {
                bytes_written: column.compressed_size() as u64,
                rows_written: taken.num_rows() as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(source, close)
        })
    }

    fn group(
        &mut self,
        mut add: impl FnMut(&str, ArrowColumnWriter, &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError>,
    ) -> io::Result<()> {
        let writers = self.factory.create_column_writers(self.written).map_err(failed)?;
        let mut group = self.file.next_row_group().map_err(failed)?;
        for (field, writer) in self.schema.fields().iter().zip(writers) {
            add(field.name(), writer, &mut group).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.written += 1;
        Ok(())
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(self) -> io::Result<()> {
        self.file.close().map(|_| ()).map_err(failed)
    }
}

/// Adds a column of single values or of a list of them.
fn encode(
    schema: &SchemaRef,
    name: &str,
    column: &ArrayRef,
    mut writer: ArrowColumnWriter,
    group: &mut SerializedRowGroupWriter<'_, File>,
) -> Result<(), ParquetError> {
    for leaf in compute_leaves(schema.field_with_name(name)?, column)? {
        writer.write(&leaf)?;
    }
    writer.close()?.append_to_row_group(group)
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
