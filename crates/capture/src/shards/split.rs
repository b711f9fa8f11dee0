//! From captures to shards.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::wire::{Before, LONGEST, MAGIC, put, put_end};
use crate::can_be_read_again;
use crate::counts::Counts;
use crate::decode::decoder::Decoder;
use crate::decode::key::Key;
use crate::error::CaptureError;
use crate::files::{STDIN, name_of, open, series};
use crate::options::Options;
use crate::progress::Watch;
use crate::read::clocks::Clock;
use crate::read::copies::Translations;
use crate::read::duplicates::{Duplicates, Sightings};
use crate::read::merge::{Arrival, Merge, Source};
use crate::read::pass::{Taker, pass, translations};

/// Bytes of a shard that wait in memory.
const HELD_BYTES: usize = 1 << 16;

/// A shard that is written.
struct Shard {
    file: File,
    held: Vec<u8>,
    before: Before,
    packets: u64,
}

impl Shard {
    fn create(path: &Path) -> io::Result<Self> {
        let mut held = Vec::with_capacity(HELD_BYTES);
        held.extend(MAGIC);
        Ok(Shard { file: File::create(path)?, held, before: Before::default(), packets: 0 })
    }

    #[inline]
    fn put(&mut self, number: u64, arrival: &Arrival) -> io::Result<()> {
        put(&mut self.held, &mut self.before, number, arrival);
        self.packets += 1;
        if self.held.len() + LONGEST > HELD_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        put_end(&mut self.held, self.packets);
        self.flush()
    }
}

/// Every packet to the shard of its connection.
struct Shards {
    keys: RandomState,
    shards: Vec<Shard>,
}

impl Taker for Shards {
    #[inline]
    fn take(&mut self, arrival: &Arrival, counts: &Counts) -> io::Result<()> {
        let (key, _) = Key::of(&arrival.segment);
        // The upper half of a hash times a number is below the number, and as even as the hash.
        let place = (u128::from(self.keys.hash_one(key)) * self.shards.len() as u128) >> u64::BITS;
        self.shards[place as usize].put(counts.packets, arrival)
    }

    fn copy(&mut self, _: &Arrival) {}

    fn connections(&self) -> u64 {
        0
    }
}

/// Reads the captures at `paths` as one, in one pass, and writes the packets of each connection to one of `shards`, new
/// files of which there is at least one; returns what was read, for [`read_shard`](crate::read_shard) and whoever puts the
/// tables together. At most 64 kB of a shard are held in memory. Of `options` only `tunnels`, `duplicates` and `sieve` count; copies by tap are none here.
///
/// # Errors
/// [`CaptureError`] as [`read_files`](crate::read_files); [`CaptureError::NoSeries`] of several files that do not follow
/// one another; when a shard cannot be written.
pub fn split_files(
    paths: &[impl AsRef<Path>],
    options: &Options,
    watch: &mut dyn Watch,
    shards: &[impl AsRef<Path>],
) -> Result<Counts, CaptureError> {
    let read = Arc::new(AtomicU64::new(0));
    let several = paths.len() > 1;
    if several && paths.iter().any(|path| path.as_ref() == Path::new(STDIN)) {
        return Err(CaptureError::NoSeries);
    }
    let mut duplicates = match options.duplicates {
        Duplicates::Taps | Duplicates::All => Duplicates::Keep,
        other => other,
    };
    let created = |path: &_| {
        let path: &Path = AsRef::as_ref(path);
        Shard::create(path).map_err(|error| CaptureError::Io(error).inside(&name_of(path)))
    };
    let again = can_be_read_again(paths);
    let merge = |identities| -> Result<_, CaptureError> {
        let source = match paths {
            [path] => {
                let (path, decoder) = (path.as_ref(), Decoder::identifying(options.tunnels, identities));
                let reader = open(path, &read).map_err(|error| error.inside(&name_of(path)))?;
                Source::of(reader, decoder, 0, name_of(path), 0).through(&options.sieve)
            }
            _ => series(paths, options, identities, &read)?,
        };
        Ok(Merge::of(vec![source], 0))
    };
    let mut counts = loop {
        let identities = duplicates.identities();
        let mut known = Translations::default();
        if duplicates == Duplicates::Places && again {
            let found = translations(&mut merge(identities.clone())?, &read, watch)?;
            known = found.ok_or(CaptureError::NoSeries)?;
            read.store(0, Ordering::Relaxed);
        }
        let mut merge = merge(identities)?;
        let shards = shards.iter().map(created).collect::<Result<Vec<_>, _>>()?;
        let mut taker = Shards { keys: RandomState::new(), shards };
        let mut counts = Counts::looking(options.tunnels);
        let mut sightings = Sightings::with(duplicates, 0, again, known);
        if !pass(&mut merge, &mut sightings, &read, watch, &mut counts, &mut taker)? {
            return Err(CaptureError::NoSeries);
        }
        if again && sightings.are_too_many(counts.decoded) && !counts.stopped {
            duplicates = Duplicates::Places;
            read.store(0, Ordering::Relaxed);
            continue;
        }
        for shard in &mut taker.shards {
            shard.end()?;
        }
        (counts.copies, counts.translated) = (sightings.copies(), sightings.translated());
        break counts;
    };
    counts.clocks = vec![Clock::default(); paths.len()];
    Ok(counts)
}
