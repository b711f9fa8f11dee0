//! Rows of volumes that wait in a file: of more directions of connections than memory is meant for.
//!
//! Parts are written one after the other, each in the order of time, and are merged while they are read. Cost: 48 bytes a
//! row on disk, and a few kilobytes for each part while it is read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::connections::volume::Volume;

/// Bytes of a row.
const ROW: usize = 48;
/// Stands for no round-trip time.
const NO_TIME: i64 = i64::MIN;

/// What is said of a file at `path` that cannot be written or read.
fn named(path: &Path, error: &io::Error) -> io::Error {
    let folder = path.parent().unwrap_or(path).display();
    let line = format!("{folder}: has no room for loads beyond memory, set TMPDIR to another folder: {error}");
    io::Error::new(error.kind(), line)
}

/// A file of rows; `connection` is a serial number, `start_ns` the number of a window.
#[derive(Debug)]
pub(crate) struct VolumeFile {
    path: PathBuf,
    out: BufWriter<File>,
    /// Rows of each part.
    parts: Vec<u64>,
}

fn written(row: &Volume) -> [u8; ROW] {
    let fields = [
        row.connection << 2 | u64::from(row.from_opener) << 1 | u64::from(row.from_lower),
        row.start_ns as u64,
        row.wire_bytes,
        row.packets,
        row.acked_bytes,
        row.rtt_ns.unwrap_or(NO_TIME) as u64,
    ];
    let mut bytes = [0; ROW];
    for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
        place.copy_from_slice(&field.to_le_bytes());
    }
    bytes
}

fn read(bytes: &[u8; ROW]) -> Volume {
    let field = |at: usize| {
        let mut field = [0; 8];
        field.copy_from_slice(&bytes[8 * at..8 * at + 8]);
        u64::from_le_bytes(field)
    };
    Volume {
        connection: field(0) >> 2,
        from_opener: field(0) & 2 != 0,
        from_lower: field(0) & 1 == 1,
        start_ns: field(1) as i64,
        wire_bytes: field(2),
        packets: field(3),
        acked_bytes: field(4),
        rtt_ns: Some(field(5) as i64).filter(|&ns| ns != NO_TIME),
    }
}

impl VolumeFile {
    /// A new file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn create(path: &Path) -> io::Result<VolumeFile> {
        let file = File::create(path).map_err(|error| named(path, &error))?;
        Ok(VolumeFile { path: path.to_owned(), out: BufWriter::new(file), parts: Vec::new() })
    }

    /// Adds rows as a part.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(&mut self, rows: &mut [Volume]) -> io::Result<()> {
        rows.sort_by_key(|row| row.start_ns);
        let all = rows.iter().try_for_each(|row| self.out.write_all(&written(row)));
        all.map_err(|error| named(&self.path, &error))?;
        self.parts.push(rows.len() as u64);
        Ok(())
    }

    /// The parts, when all is written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn close(mut self) -> io::Result<Parts> {
        self.out.flush().map_err(|error| named(&self.path, &error))?;
        Ok(Parts { path: self.path, rows: self.parts })
    }
}

/// Parts of a file, each in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    path: PathBuf,
    rows: Vec<u64>,
}

/// Rows of a part that are not read yet.
struct Rest {
    from: BufReader<File>,
    rows: u64,
}

impl Rest {
    fn next(&mut self) -> io::Result<Option<Volume>> {
        if self.rows == 0 {
            return Ok(None);
        }
        self.rows -= 1;
        let mut bytes = [0; ROW];
        self.from.read_exact(&mut bytes)?;
        Ok(Some(read(&bytes)))
    }
}

impl Parts {
    fn len(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Every row in the order of time, until `see` says no; whether it never did.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn each_while(&self, mut see: impl FnMut(Volume) -> bool) -> io::Result<bool> {
        let mut begin = 0;
        let mut rests = Vec::with_capacity(self.rows.len());
        let mut next: Vec<Option<Volume>> = Vec::with_capacity(self.rows.len());
        let mut order = BinaryHeap::new();
        for (place, &rows) in self.rows.iter().enumerate() {
            let mut file = File::open(&self.path).map_err(|error| named(&self.path, &error))?;
            file.seek(SeekFrom::Start(begin * ROW as u64))?;
            begin += rows;
            let mut rest = Rest { from: BufReader::with_capacity(1 << 16, file), rows };
            let first = rest.next()?;
            order.extend(first.map(|row| Reverse((row.start_ns, place))));
            rests.push(rest);
            next.push(first);
        }
        while let Some(Reverse((_, place))) = order.pop() {
            // Parts mostly follow each other: one goes on as long as no other is earlier.
            let until = order.peek().map_or((i64::MAX, usize::MAX), |&Reverse(other)| other);
            while let Some(row) = next[place].take() {
                if (row.start_ns, place) > until {
                    order.push(Reverse((row.start_ns, place)));
                    next[place] = Some(row);
                    break;
                }
                if !see(row) {
                    return Ok(false);
                }
                next[place] = rests[place].next()?;
            }
        }
        Ok(true)
    }
}

/// Volumes that wait in a file, of captures with more directions of connections than there are rows in memory.
#[derive(Clone, Debug)]
pub struct StoredVolumes {
    parts: Parts,
    width_ns: i64,
    first_ns: i64,
    /// The end of its key that opened each connection, by serial number; another number where nothing is asked of it.
    openers: Vec<u8>,
    /// Serial number of each row of the table, where some have no row.
    serials: Option<Arc<[u64]>>,
}

impl StoredVolumes {
    pub(crate) fn of(parts: Parts, width_ns: i64, first_ns: i64, openers: Vec<u8>) -> StoredVolumes {
        StoredVolumes { parts, width_ns, first_ns, openers, serials: None }
    }

    /// The same in which connections are rows of a table with these serial numbers, ascending.
    #[must_use]
    pub fn with_rows(self, serials: &[u64]) -> StoredVolumes {
        let whole = serials.last().is_none_or(|&last| last + 1 == serials.len() as u64);
        StoredVolumes { serials: (!whole).then(|| serials.into()), ..self }
    }

    /// Rows in the file, those of connections that were summed up among them.
    pub fn len(&self) -> usize {
        self.parts.len() as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every row in the order of time, until `see` says no; whether it never did.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn each_while(&self, mut see: impl FnMut(&Volume) -> bool) -> io::Result<bool> {
        self.parts.each_while(|mut row| {
            let opener = self.openers.get(row.connection as usize).copied().unwrap_or(u8::MAX);
            if opener > 1 {
                return true;
            }
            row.from_opener = opener == u8::from(!row.from_lower);
            if let Some(serials) = &self.serials {
                match serials.binary_search(&row.connection) {
                    Ok(place) => row.connection = place as u64,
                    Err(_) => return true,
                }
            }
            row.start_ns = row.start_ns.saturating_mul(self.width_ns).saturating_sub(self.first_ns);
            see(&row)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_in_the_order_of_time() {
        let path = std::env::temp_dir().join(format!("mayfly-volumes-{}", std::process::id()));
        let row = |connection: u64, start_ns: i64| Volume {
            connection,
            from_opener: false,
            from_lower: connection % 2 == 1,
            start_ns,
            wire_bytes: 40 + connection,
            packets: 3,
            acked_bytes: 7,
            rtt_ns: connection.is_multiple_of(3).then_some(-5),
        };
        let mut rows: Vec<Volume> = (0..1000).map(|at| row(at, (at as i64 * 7919) % 101 - 50)).collect();
        let mut file = VolumeFile::create(&path).expect("a file");
        rows.chunks_mut(130).for_each(|part| file.add(part).expect("a part"));
        let parts = file.close().expect("closed");
        let mut found = Vec::new();
        assert!(
            parts
                .each_while(|row| {
                    found.push(row);
                    true
                })
                .expect("read")
        );
        assert!(found.is_sorted_by_key(|row| row.start_ns) && parts.len() == 1000);
        let by_place = |rows: &mut Vec<Volume>| rows.sort_by_key(|row| row.connection);
        by_place(&mut rows);
        by_place(&mut found);
        assert_eq!(found, rows);
        let mut seen = 0;
        assert!(
            !parts
                .each_while(|_| {
                    seen += 1;
                    seen < 10
                })
                .expect("read")
        );
        assert_eq!(seen, 10);
        std::fs::remove_file(path).expect("removed");
    }
}
