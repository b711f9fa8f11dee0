//! Connections that wait in a file: a column at a time, in the order of their first packets.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use ::hosts::Sites;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use crate::listing::{CLASSES, classes_of, with_classes_of, write_stored};
use crate::rows::BATCH;

/// Words of a column, once each in the order in which they come, and the place of each row's among them; -1 for none.
pub(crate) type Words = (Vec<String>, Vec<i32>);

/// Rows of a [`Spill`](crate::rows::Spill) that has all connections of a capture.
pub(crate) struct Stored {
    path: PathBuf,
    file: File,
    metadata: ArrowReaderMetadata,
    /// For each row of the file, its place in the order of first packets.
    places: Vec<u32>,
}

impl Stored {
    /// The connections in the file at `path`, and their numbers, ascending.
    ///
    /// # Errors
    /// The file cannot be read, or has a number twice.
    pub(crate) fn of(path: PathBuf) -> io::Result<(Stored, Vec<u64>)> {
        let file = File::open(&path)?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).map_err(io::Error::other)?;
        let mut stored = Stored { path, file, metadata, places: Vec::new() };
        let mut serials = Vec::with_capacity(stored.height());
        stored.each(&["connection_id"], |batch| {
            let ids = batch.column(0).as_primitive_opt::<Int64Type>();
            let ids = ids.ok_or_else(|| io::Error::other("connection_id is no number"))?;
            serials.extend(ids.values().iter().map(|&id| id as u64));
            Ok(())
        })?;
        let mut ordered = serials.clone();
        ordered.sort_unstable();
        if ordered.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(io::Error::other("connection_id: a number twice"));
        }
        stored.places = serials.iter().map(|serial| ordered.partition_point(|other| other < serial) as u32).collect();
        Ok((stored, ordered))
    }

    /// Rows.
    pub(crate) fn height(&self) -> usize {
        self.metadata.metadata().file_metadata().num_rows() as usize
    }

    /// Names of the columns, those of the classes among them.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.schema().fields().iter().map(|field| field.name().clone()).collect();
        names.extend(CLASSES.map(str::to_owned));
        names
    }

    fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// A column of numbers or flags: `f`, `i` or `b`, and its values as bytes of the machine; NaN for what is not known.
    ///
    /// # Errors
    /// The file cannot be read, or there is no such column.
    pub(crate) fn numbers(&self, name: &str) -> io::Result<(&'static str, Vec<u8>)> {
        let field = self.schema().field_with_name(name).map_err(io::Error::other)?;
        match field.data_type() {
            DataType::Float64 => {
                let of = |batch: &RecordBatch| -> Vec<[u8; 8]> {
                    let values = batch.column(0).as_primitive::<Float64Type>();
                    values.iter().map(|value| value.unwrap_or(f64::NAN).to_ne_bytes()).collect()
                };
                Ok(("f", self.placed(name, of)?))
            }
            // Rows are counted anew: those that are summed up have numbers, too.
            DataType::Int64 if name == "connection_id" => {
                Ok(("i", (0..self.height() as i64).flat_map(i64::to_ne_bytes).collect()))
            }
            DataType::Int64 => {
                let of = |batch: &RecordBatch| -> Vec<[u8; 8]> {
                    let values = batch.column(0).as_primitive::<Int64Type>();
                    values.iter().map(|value| value.unwrap_or_default().to_ne_bytes()).collect()
                };
                Ok(("i", self.placed(name, of)?))
            }
            DataType::Boolean => {
                let of = |batch: &RecordBatch| -> Vec<[u8; 1]> {
                    batch.column(0).as_boolean().iter().map(|value| [u8::from(value.unwrap_or_default())]).collect()
                };
                Ok(("b", self.placed(name, of)?))
            }
            other => Err(io::Error::other(format!("{name}: {other} is no number"))),
        }
    }

    /// A column of words.
    ///
    /// # Errors
    /// As [`Stored::numbers`].
    pub(crate) fn words(&self, sites: &Sites, name: &str) -> io::Result<Words> {
        if let Some(at) = CLASSES.iter().position(|class| *class == name) {
            return self.classes(sites, at);
        }
        let (mut known, mut names) = (HashMap::new(), Vec::new());
        let mut codes = vec![-1_i32; self.height()];
        let mut row = 0;
        self.each(&[name], |batch| {
            let texts = batch.column(0).as_string_view_opt();
            let texts = texts.ok_or_else(|| io::Error::other(format!("{name}: no words")))?;
            for text in texts {
                if let Some(text) = text {
                    codes[self.places[row] as usize] = code_of(&mut known, &mut names, text);
                }
                row += 1;
            }
            Ok(())
        })?;
        Ok(as_they_come(names, codes))
    }

    fn classes(&self, sites: &Sites, at: usize) -> io::Result<Words> {
        let (mut known, mut names) = (HashMap::new(), Vec::new());
        let mut codes = vec![-1_i32; self.height()];
        let mut row = 0;
        self.each(&["opener", "responder"], |batch| {
            for class in classes_of(sites, batch)? {
                let word = [Some(class.class), Some(class.side), class.reason][at];
                if let Some(word) = word {
                    codes[self.places[row] as usize] = code_of(&mut known, &mut names, word);
                }
                row += 1;
            }
            Ok(())
        })?;
        Ok(as_they_come(names, codes))
    }

    /// Values of a column, each at its place.
    fn placed<const WIDTH: usize>(
        &self,
        name: &str,
        of: impl Fn(&RecordBatch) -> Vec<[u8; WIDTH]>,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; WIDTH * self.height()];
        let mut row = 0;
        self.each(&[name], |batch| {
            for value in of(batch) {
                let at = WIDTH * self.places[row] as usize;
                bytes[at..at + WIDTH].copy_from_slice(&value);
                row += 1;
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Some columns, batch by batch as they stand in the file.
    fn each(&self, names: &[&str], mut see: impl FnMut(&RecordBatch) -> io::Result<()>) -> io::Result<()> {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone());
        let mask = ProjectionMask::columns(reader.parquet_schema(), names.iter().copied());
        let reader = reader.with_projection(mask).with_batch_size(BATCH).build().map_err(io::Error::other)?;
        for batch in reader {
            see(&batch.map_err(io::Error::other)?)?;
        }
        Ok(())
    }

    /// All rows with their classes in the order of first packets: as large as they are.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn table(&self, sites: &Sites) -> io::Result<RecordBatch> {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone());
        let reader = reader.with_batch_size(BATCH).build().map_err(io::Error::other)?;
        let batches = reader
            .map(|batch| with_classes_of(sites, &batch.map_err(io::Error::other)?))
            .collect::<io::Result<Vec<_>>>()?;
        let Some(first) = batches.first() else { return Err(io::Error::other("no row")) };
        let all = concat_batches(&first.schema(), &batches).map_err(io::Error::other)?;
        let mut rows = vec![0; self.places.len()];
        for (row, &place) in (0..).zip(&self.places) {
            rows[place as usize] = row;
        }
        take_record_batch(&all, &UInt32Array::from(rows)).map_err(io::Error::other)
    }

    /// Writes the table of connections, rows that left early first.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn write(&self, sites: &Sites, path: &Path, counts: &str) -> io::Result<()> {
        write_stored(sites, &self.path, path, counts)
    }
}

fn code_of(known: &mut HashMap<Box<str>, i32>, names: &mut Vec<String>, word: &str) -> i32 {
    if let Some(&code) = known.get(word) {
        return code;
    }
    let code = names.len() as i32;
    known.insert(word.into(), code);
    names.push(word.to_owned());
    code
}

/// Words in the order of rows: they were numbered in that of the file.
fn as_they_come(names: Vec<String>, mut codes: Vec<i32>) -> Words {
    let mut anew = vec![-1; names.len()];
    let mut ordered = Vec::with_capacity(names.len());
    for code in codes.iter_mut().filter(|code| **code >= 0) {
        let new = &mut anew[*code as usize];
        if *new < 0 {
            *new = ordered.len() as i32;
            ordered.push(names[*code as usize].clone());
        }
        *code = *new;
    }
    (ordered, codes)
}
