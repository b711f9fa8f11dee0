//! Files that are opened, one or several that follow one another.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::decode::decoder::{Decoder, Identities};
use crate::error::CaptureError;
use crate::options::Options;
use crate::read::merge::Source;
use crate::read::reader::{Item, Reader};

/// Name of the standard input among files.
pub(crate) const STDIN: &str = "-";

pub(crate) type Bytes = Box<dyn Read + Send>;

/// Bytes, and how many of them were read.
pub(crate) struct Counted<R> {
    bytes: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

pub(crate) fn name_of(path: &Path) -> String {
    path.display().to_string()
}

pub(crate) fn open(path: &Path, read: &Arc<AtomicU64>) -> Result<Reader<Bytes>, CaptureError> {
    let bytes: Bytes = if path == Path::new(STDIN) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    Reader::open_ahead(Box::new(Counted { bytes, read: Arc::clone(read) }) as Bytes)
}

/// One source of files, in the order of their first packets; `read` counts their bytes.
pub(crate) fn series(
    paths: &[impl AsRef<Path>],
    options: &Options,
    identities: Identities,
    read: &Arc<AtomicU64>,
) -> Result<Source<'static, Bytes>, CaptureError> {
    let ignored = Arc::new(AtomicU64::new(0));
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let first = open(path, &ignored).and_then(|mut reader| first_ns(&mut reader));
        // A file without packets is no time: it comes first.
        files.push((first.map_err(|error| error.inside(&name_of(path)))?, path.to_owned()));
    }
    files.sort_by_key(|(first_ns, _)| *first_ns);
    let read = Arc::clone(read);
    let at_place = move |place: usize| {
        let (_, path) = files.get(place)?;
        let reader = open(path, &read).map_err(|error| error.inside(&name_of(path)));
        let next_ns = files.get(place + 1).and_then(|(first_ns, _)| *first_ns);
        Some(reader.map(|reader| (reader, name_of(path), next_ns)))
    };
    let (reader, name, next_ns) = at_place(0).unwrap_or(Err(CaptureError::Empty))?;
    let mut place = 0;
    let following = move || {
        place += 1;
        at_place(place)
    };
    let decoder = Decoder::identifying(options.tunnels, identities);
    Ok(Source::of(reader, decoder, 0, name, 0).through(&options.sieve).followed_by(next_ns, following))
}

/// Time of the first packet of files, nanoseconds since 1970; None without any.
///
/// # Errors
/// A file cannot be read, or is no capture.
pub fn begins_ns(paths: &[impl AsRef<Path>]) -> Result<Option<i64>, CaptureError> {
    let ignored = Arc::new(AtomicU64::new(0));
    let mut found = None;
    for path in paths {
        let first = open(path.as_ref(), &ignored).and_then(|mut reader| first_ns(&mut reader));
        let first = first.map_err(|error| error.inside(&name_of(path.as_ref())))?;
        found = found.into_iter().chain(first).min();
    }
    Ok(found)
}

/// Time of the first packet that has one.
fn first_ns(reader: &mut Reader<Bytes>) -> Result<Option<i64>, CaptureError> {
    loop {
        match reader.read_item()? {
            Item::Packet(record) => return Ok(Some(record.time_ns)),
            Item::End { .. } => return Ok(None),
            Item::Undated(..) | Item::Other => {}
        }
    }
}
