//! Reads packet captures (pcap, pcapng, plain, in gzip, Zstandard or LZ4; several as one) into a table of TCP connections, UDP
//! flows and ICMP exchanges, and takes each TCP transfer apart.
//!
//! One pass: one record is held at a time (at most [`MAX_BLOCK_BYTES`]), and of connections at most [`Options::max_flows`]
//! that are open and [`Options::max_held`] in all. Nothing in a file can make the reader panic; whatever it does
//! not decode is counted under a [`Skip`] reason.

mod anonymize;
mod connections;
mod counts;
mod decode;
mod error;
mod files;
mod filter;
mod options;
mod pass_table;
mod prefix;
mod progress;
mod read;
mod shards;

use std::collections::hash_map::RandomState;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use account::{Account, Amount, Reason, Unit};
pub use anonymize::{Anonymizer, KEY_BYTES};
pub use connections::connection::{Connection, HandshakeTimes, OpenerFrom, Protocol, Side, State, ZeekState};
pub use connections::entry::QUIET_NS;
pub use connections::quic::Quic;
pub use connections::rtt::Samples;
pub use connections::table::{Finished, Packet, Table};
pub use connections::transfer::{Ideal, Train};
pub use connections::volume_file::StoredVolumes;
pub use connections::volumes::{Volume, Volumes};
pub use counts::{Carried, Counts, SET_BACK_NS, Shown, Tap, Unanswered};
pub use decode::decoder::Decoder;
pub use decode::options::TcpOptions;
pub use decode::quic::{Asked, Datagram, LongHeader};
pub use decode::segment::{Endpoint, FRAGMENT, Segment, TcpHeader, Transport};
pub use decode::skip::{Skip, TUNNEL_PROTOCOLS};
pub use decode::tunnel::Tunnel;
pub use error::CaptureError;
pub use files::begins_ns;
pub use filter::{Filter, NotFilter};
pub use options::Options;
pub use pass_table::{Capture, Leaving};
pub use prefix::number_of;
pub use progress::{Go, Seen, Watch};
pub use read::clocks::Clock;
pub use read::duplicates::Duplicates;
pub use read::reader::{Item, MAX_BLOCK_BYTES, Reader, Record};
pub use read::sieve::Sieve;
pub use read::stops::Stop;
pub use shards::read::read_shard;
pub use shards::split::split_files;

use decode::decoder::Identities;
use files::{STDIN, name_of, open, series};
use pass_table::Tabled;
use read::clocks;
use read::copies::Translations;
use read::duplicates::Sightings;
use read::merge::{Merge, Source};
use read::pass::{pass, translations};

/// Reads the captures at `paths` as one, `-` being the standard input; `watch` is asked every few thousand records
/// whether to go on.
///
/// # Errors
/// [`CaptureError`] when a file cannot be read, is empty or is no capture, when `max_flows` is 0, when the standard input
/// is to be read twice, and when `watch` answers [`Go::Cancel`].
pub fn read_files(
    paths: &[impl AsRef<Path>],
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Capture, CaptureError> {
    read_files_to(paths, options, watch, None)
}

/// The same; `leaving` takes connections that are given up. Times of those are in order only where packets are read in the
/// order of the file: of merged files, it gets none.
///
/// # Errors
/// As [`read_files`], and as `leaving` has them.
pub fn read_files_to(
    paths: &[impl AsRef<Path>],
    options: &Options,
    watch: &mut dyn Watch,
    mut leaving: Option<&mut dyn Leaving>,
) -> Result<Capture, CaptureError> {
    let inputs = paths.iter().filter(|path| path.as_ref() == Path::new(STDIN)).count();
    if options.series && paths.len() > 1 && inputs == 0 {
        if let Some(capture) = read_series(paths, options, watch, &mut leaving)? {
            return Ok(capture);
        }
        if let Some(leaving) = &mut leaving {
            leaving.forgets();
        }
    }
    let clocks = options.clocks && paths.len() > 1;
    if inputs > usize::from(!clocks) {
        return Err(CaptureError::StdinTwice);
    }
    let read = Arc::new(AtomicU64::new(0));
    let open = |path: &Path| open(path, &read);
    let mut ahead = vec![Clock::default(); paths.len()];
    if clocks {
        let keys = RandomState::new();
        let mut samples = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let sample = open(path).and_then(|reader| clocks::Sample::of(reader, paths.len(), keys.clone(), watch));
            samples.push(sample.map_err(|error| error.inside(&name_of(path)))?);
        }
        ahead = clocks::align(&samples);
        read.store(0, Ordering::Relaxed);
    }
    let readers = || {
        let reader = |(path, clock): (&_, &Clock)| {
            let path: &Path = AsRef::as_ref(path);
            let reader = open(path).map_err(|error| error.inside(&name_of(path)))?;
            Ok((reader, name_of(path), clock.ahead_ns))
        };
        paths.iter().zip(&ahead).map(reader).collect()
    };
    let again = can_be_read_again(paths);
    let mut capture = read_all(readers, again, &for_several(options, paths.len()), &read, watch, &mut leaving)?;
    capture.counts.clocks = ahead;
    Ok(capture)
}

/// Files in the order of their first packets as one; None where they do not follow one another.
fn read_series(
    paths: &[impl AsRef<Path>],
    options: &Options,
    watch: &mut dyn Watch,
    leaving: &mut Option<&mut dyn Leaving>,
) -> Result<Option<Capture>, CaptureError> {
    let read = Arc::new(AtomicU64::new(0));
    let duplicates = match options.duplicates {
        Duplicates::Taps | Duplicates::All => Duplicates::Keep,
        other => other,
    };
    let options = Options { window_ns: 0, duplicates, ..options.clone() };
    let source = |identities| Ok(vec![series(paths, &options, identities, &read)?]);
    let again = can_be_read_again(paths);
    let mut found = read_sources(source, again, &options, &read, watch, leaving)?;
    if let Some(capture) = &mut found {
        capture.counts.clocks = vec![Clock::default(); paths.len()];
    }
    Ok(found)
}

/// Reads the capture at `path`, as [`read_files`] does.
///
/// # Errors
/// As [`read_files`].
pub fn read_file(path: &Path, options: &Options, watch: &mut dyn Watch) -> Result<Capture, CaptureError> {
    read_files(&[path], options, watch)
}

/// Reads a capture from `source`, as [`read_files`] does.
///
/// # Errors
/// As [`read_files`].
pub fn read<R: Read>(source: R, options: &Options, watch: &mut dyn Watch) -> Result<Capture, CaptureError> {
    let mut readers = Some(vec![(Reader::open(source)?, String::new(), 0)]);
    let readers = || Ok(readers.take().unwrap_or_default());
    read_all(readers, false, options, &AtomicU64::new(0), watch, &mut None)
}

/// Reads a capture that is in memory, as [`read_files`] does.
///
/// # Errors
/// As [`read_files`].
pub fn read_bytes(bytes: &[u8], options: &Options, watch: &mut dyn Watch) -> Result<Capture, CaptureError> {
    let readers = || Ok(vec![(Reader::open(bytes)?, String::new(), 0)]);
    read_all(readers, true, options, &AtomicU64::new(0), watch, &mut None)
}

/// Reads several captures as one, as [`read_files`] does; clocks are taken as they are.
///
/// # Errors
/// As [`read_files`].
pub fn read_merged<R: Read>(
    sources: Vec<R>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Capture, CaptureError> {
    let mut readers = Vec::new();
    for source in sources {
        readers.push((Reader::open(source)?, String::new(), 0));
    }
    let options = for_several(options, readers.len());
    let mut readers = Some(readers);
    let readers = || Ok(readers.take().unwrap_or_default());
    read_all(readers, false, &options, &AtomicU64::new(0), watch, &mut None)
}

/// Options of files that are merged: packets that two of them have are left out without being counted before.
fn for_several(options: &Options, files: usize) -> Options {
    match options.duplicates {
        Duplicates::Auto if files > 1 => Options { duplicates: Duplicates::Taps, ..options.clone() },
        _ => options.clone(),
    }
}

/// Whether the files are there when they are opened once more; a pipe is not.
pub(crate) fn can_be_read_again(paths: &[impl AsRef<Path>]) -> bool {
    let is_file = |path: &Path| path != Path::new(STDIN) && fs::metadata(path).is_ok_and(|found| found.is_file());
    paths.iter().all(|path| is_file(path.as_ref()))
}

/// `readers` opens the files, with their names and what their clocks are ahead, for each pass.
fn read_all<R: Read>(
    mut readers: impl FnMut() -> Result<Vec<(Reader<R>, String, i64)>, CaptureError>,
    again: bool,
    options: &Options,
    read: &AtomicU64,
    watch: &mut dyn Watch,
    leaving: &mut Option<&mut dyn Leaving>,
) -> Result<Capture, CaptureError> {
    let sources = |identities: Identities| {
        let source = |(file, (reader, name, ahead_ns))| {
            let decoder = Decoder::identifying(options.tunnels, identities.clone());
            Source::of(reader, decoder, file, name, ahead_ns).through(&options.sieve)
        };
        Ok((0..).zip(readers()?).map(source).collect())
    };
    // Only a series overlaps.
    read_sources(sources, again, options, read, watch, leaving).map(Option::unwrap_or_default)
}

/// None where what was taken for a series is none. `again`: `sources` gives the same packets once more.
fn read_sources<R: Read>(
    mut sources: impl FnMut(Identities) -> Result<Vec<Source<'static, R>>, CaptureError>,
    again: bool,
    options: &Options,
    read: &AtomicU64,
    watch: &mut dyn Watch,
    leaving: &mut Option<&mut dyn Leaving>,
) -> Result<Option<Capture>, CaptureError> {
    if options.max_flows == 0 {
        return Err(CaptureError::MaxFlows);
    }
    let identities = options.duplicates.identities();
    let mut known = Translations::default();
    if options.duplicates == Duplicates::Places && again {
        let mut merge = Merge::of(sources(identities.clone())?, options.window_ns);
        match translations(&mut merge, read, watch)? {
            Some(found) => known = found,
            None => return Ok(None),
        }
        read.store(0, Ordering::Relaxed);
    }
    let mut merge = Merge::of(sources(identities.clone())?, options.window_ns);
    let mut sightings = Sightings::with(options.duplicates, options.duplicate_ns, again, known);
    // Of files that are merged, times of what leaves early are not known: the first packet may come late.
    let mut tabled = Tabled::of(options, leaving.as_deref_mut().filter(|_| !merge.is_sorted()));
    let mut counts = Counts::looking(options.tunnels);
    if !pass(&mut merge, &mut sightings, read, watch, &mut counts, &mut tabled)? {
        return Ok(None);
    }
    if again && sightings.are_too_many(counts.decoded) && !counts.stopped {
        drop(tabled);
        if let Some(leaving) = leaving {
            leaving.forgets();
        }
        read.store(0, Ordering::Relaxed);
        let options = Options { duplicates: Duplicates::Places, ..options.clone() };
        return read_sources(sources, again, &options, read, watch, leaving);
    }
    (counts.copies, counts.translated) = (sightings.copies(), sightings.translated());
    counts.number_from(merge.is_sorted());
    Ok(Some(tabled.finish(counts)?))
}
