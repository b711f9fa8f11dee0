//! Reads packet captures (pcap, pcapng, gzip of either) into a table of TCP connections and UDP
//! flows.
//!
//! One pass, bounded memory: one record is held at a time (at most [`MAX_BLOCK_BYTES`]) and at most
//! [`Options::max_flows`] connections. Nothing in a file can make the reader panic; whatever it does
//! not decode is counted under a [`Skip`] reason.

mod connection;
mod counts;
mod decode;
mod error;
mod reader;
mod sequence;
mod table;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use connection::{Connection, OpenerFrom, Protocol, Side, State};
pub use counts::{Counts, Skip};
pub use decode::{Endpoint, Segment, Transport, decode};
pub use error::CaptureError;
pub use reader::{Item, MAX_BLOCK_BYTES, Reader, Record};
pub use table::{QUIET_NS, Table};

/// Records between two calls of the caller's `proceed`.
const POLL_EVERY: u64 = 16_384;

/// Limits of one reading.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Connections held at once, at least 1, about 0.7 kB each and 0.3 kB more at the end;
    /// beyond, the one silent for longest is evicted and counted.
    pub max_flows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_flows: 1_000_000 }
    }
}

/// What one capture contains.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Connections and UDP flows in the order of their first packets in the file.
    pub connections: Vec<Connection>,
    /// Packets read, skipped and evicted, and the time range.
    pub counts: Counts,
}

/// Reads the capture at `path`; `proceed` is asked every few thousand records whether to go on.
///
/// # Errors
/// [`CaptureError`] when the file cannot be read, is empty or is no capture, when `max_flows` is 0,
/// and when `proceed` answers `false`.
pub fn read_file(path: &Path, options: &Options, proceed: &mut dyn FnMut() -> bool) -> Result<Capture, CaptureError> {
    read(File::open(path)?, options, proceed)
}

/// Reads a capture from `source`, as [`read_file`] does.
///
/// # Errors
/// As [`read_file`].
pub fn read<R: Read>(source: R, options: &Options, proceed: &mut dyn FnMut() -> bool) -> Result<Capture, CaptureError> {
    if options.max_flows == 0 {
        return Err(CaptureError::MaxFlows);
    }
    let mut reader = Reader::open(source)?;
    let mut table = Table::with_limit(options.max_flows);
    let mut counts = Counts::default();
    let mut blocks = 0_u64;
    loop {
        if blocks.is_multiple_of(POLL_EVERY) && !proceed() {
            return Err(CaptureError::Cancelled);
        }
        blocks += 1;
        match reader.read_item()? {
            Item::Packet(record) => {
                counts.see(record.time_ns);
                match decode(&record) {
                    Ok(segment) => {
                        counts.decoded += 1;
                        table.add(&segment, record.time_ns);
                    }
                    Err(skip) => counts.skip(skip),
                }
            }
            Item::Undated(skip) => {
                counts.packets += 1;
                counts.skip(skip);
            }
            Item::Other => {}
            Item::End { truncated } => {
                counts.truncated = truncated;
                break;
            }
        }
    }
    counts.evicted = table.evicted();
    let first_ns = counts.first_ns.unwrap_or(0);
    Ok(Capture { connections: table.finish(first_ns), counts })
}
