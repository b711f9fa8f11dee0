//! From a shard to its connections.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use account::Amount;

use super::wire::{Before, LONGEST, MAGIC, Next, take};
use crate::counts::Counts;
use crate::error::CaptureError;
use crate::options::Options;
use crate::pass_table::{Capture, Leaving, Tabled};
use crate::progress::{Go, POLL_EVERY, Seen, Watch};
use crate::read::pass::Taker;

/// Read at once.
const BLOCK_BYTES: usize = 1 << 18;

/// Bytes of a shard, by blocks.
struct Blocks {
    file: File,
    buffer: Vec<u8>,
    at: usize,
    held: usize,
    read: u64,
}

impl Blocks {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Blocks { file: File::open(path)?, buffer: vec![0; BLOCK_BYTES], at: 0, held: 0, read: 0 })
    }

    /// What comes next: at least the longest packet, unless the file ends before.
    #[inline]
    fn next(&mut self) -> io::Result<&[u8]> {
        if self.held - self.at < LONGEST {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..self.held])
    }

    #[cold]
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.held, 0);
        (self.at, self.held) = (0, self.held - self.at);
        while self.held < LONGEST {
            match self.file.read(&mut self.buffer[self.held..]) {
                Ok(0) => break,
                Ok(count) => {
                    self.held += count;
                    self.read += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Reads the connections of a shard of [`split_files`](crate::split_files), in the order of their first packets; their
/// serial numbers are those of these packets among all of the capture, from 1 on. `first_ns` is the time of its first
/// packet, which counts as 0. Limits of `options` are those of the shard; of the counts only those of them are there.
///
/// # Errors
/// [`CaptureError::Shard`] when the shard is not whole; [`CaptureError`] when it cannot be read, when `max_flows` is 0,
/// when `watch` does not want to go on, and as `leaving` has them.
pub fn read_shard(
    path: &Path,
    options: &Options,
    first_ns: Option<i64>,
    watch: &mut dyn Watch,
    leaving: Option<&mut dyn Leaving>,
) -> Result<Capture, CaptureError> {
    if options.max_flows == 0 {
        return Err(CaptureError::MaxFlows);
    }
    let mut tabled = Tabled::of(options, leaving);
    let mut counts = Counts::default();
    counts.first_ns = first_ns;
    let mut blocks = Blocks::open(path)?;
    if !blocks.next()?.starts_with(&MAGIC) {
        return Err(CaptureError::Shard);
    }
    blocks.at += MAGIC.len();
    let mut before = Before::default();
    loop {
        if counts.packets.is_multiple_of(POLL_EVERY) {
            let seen = Seen { packets: counts.packets, connections: tabled.connections(), bytes: blocks.read };
            // Part of a shard is no part of a capture that was read so far.
            match watch.look(seen) {
                Go::On => {}
                Go::Tighter if tabled.tighten(&counts)? => {}
                Go::Tighter | Go::Stop | Go::Cancel => return Err(CaptureError::Cancelled),
            }
        }
        let mut bytes = blocks.next()?;
        let there = bytes.len();
        let next = take(&mut bytes, &mut before);
        let taken = there - bytes.len();
        blocks.at += taken;
        match next {
            Some(Next::Packet { number, arrival }) => {
                counts.packets += 1;
                counts.account.see(Amount::one(arrival.segment.wire_bytes));
                counts.account.take(Amount::one(arrival.segment.wire_bytes));
                tabled.table.number_next(number);
                tabled.take(&arrival, &counts)?;
            }
            Some(Next::End { packets }) if packets == counts.packets => return Ok(tabled.finish(counts)?),
            Some(Next::End { .. }) | None => return Err(CaptureError::Shard),
        }
    }
}
