//! Reads packet captures (pcap, pcapng, plain, in gzip or Zstandard; several as one) into a table of TCP connections, UDP
//! flows and ICMP exchanges, and takes each TCP transfer apart.
//!
//! One pass, bounded memory: one record is held at a time (at most [`MAX_BLOCK_BYTES`]) and at most
//! [`Options::max_flows`] connections. Nothing in a file can make the reader panic; whatever it does
//! not decode is counted under a [`Skip`] reason.

mod connections;
mod counts;
mod decode;
mod error;
mod read;
mod watch;

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use connections::connection::{Connection, HandshakeTimes, OpenerFrom, Protocol, Side, State, ZeekState};
pub use connections::entry::QUIET_NS;
pub use connections::rtt::Samples;
pub use connections::table::{Finished, Packet, Table};
pub use connections::transfer::{Ideal, Train};
pub use connections::volumes::Volume;
pub use counts::{Counts, Tap, Unanswered};
pub use decode::decoder::Decoder;
pub use decode::options::TcpOptions;
pub use decode::segment::{Endpoint, Segment, TcpHeader, Transport};
pub use decode::skip::Skip;
pub use decode::tunnel::Tunnel;
pub use error::CaptureError;
pub use read::clocks::Clock;
pub use read::duplicates::Duplicates;
pub use read::reader::{Item, MAX_BLOCK_BYTES, Reader, Record};
pub use watch::{Go, Seen, Watch};

use read::clocks;
use read::duplicates::Sightings;
use read::merge::{Merge, Source, Step};

/// Records between two calls of the caller's `watch`.
const POLL_EVERY: u64 = 16_384;
/// Name of the standard input among files.
const STDIN: &str = "-";

/// Limits and choices of one reading.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Connections held at once, at least 1, less than 1 kB each;
    /// beyond, the one silent for longest is evicted and counted.
    pub max_flows: usize,
    /// The packet inside a tunnel counts instead of the one outside.
    pub tunnels: bool,
    /// A file may be out of the order of time by this, in nanoseconds; 0 for a single file keeps its order.
    pub window_ns: u64,
    /// Which copies of a packet are left out.
    pub duplicates: Duplicates,
    /// Copies are no further apart than this, in nanoseconds.
    pub duplicate_ns: u64,
    /// The clocks of several files are estimated, in a pass of its own over each, and corrected.
    pub clocks: bool,
    /// Several files that follow one another are read as one file, in the order of their first packets, whatever
    /// `window_ns`, `duplicates` and `clocks` say; where one goes on when the next has begun, they are merged as these say.
    pub series: bool,
    /// Trains kept, see [`Capture::trains`].
    pub max_trains: usize,
    /// A train ends also where its side, all of its data being acknowledged, sends nothing for a round-trip time.
    pub pauses: bool,
    /// Packets kept, see [`Capture::packets`].
    pub max_packets: usize,
    /// Rows kept of what was carried when, see [`Capture::volumes`].
    pub max_volumes: usize,
    /// What a transfer is compared with.
    pub ideal: Ideal,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_flows: 1_000_000,
            tunnels: false,
            window_ns: 0,
            duplicates: Duplicates::Keep,
            duplicate_ns: 100_000_000,
            clocks: false,
            series: false,
            max_trains: 0,
            pauses: false,
            max_packets: 0,
            max_volumes: 0,
            ideal: Ideal::default(),
        }
    }
}

/// What one capture contains.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Connections and flows in the order of their first packets.
    pub connections: Vec<Connection>,
    /// Their numbers among all that were begun: those that were given up have numbers, too.
    pub serials: Vec<u64>,
    /// Trains of the TCP connections, by connection and time.
    pub trains: Vec<Train>,
    /// Packets of UDP flows, and data packets of TCP with new bytes, by connection and time.
    pub packets: Vec<Packet>,
    /// What each direction of a connection carried in each window with traffic, by connection and time.
    pub volumes: Vec<Volume>,
    /// Packets read, skipped and evicted, and the time range.
    pub counts: Counts,
}

/// Who takes connections that are given up since there are too many; those that nobody answered are only summed up
/// ([`Counts::unanswered`]).
pub trait Leaving {
    /// Takes one as it stands, with its number among all that were begun.
    ///
    /// # Errors
    /// As whatever keeps it: the reading ends there.
    fn leaves(&mut self, serial: u64, connection: Connection) -> io::Result<()>;
}

type Bytes = Box<dyn Read + Send>;

/// Bytes, and how many of them were read.
struct Counted<R> {
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
    if options.series
        && paths.len() > 1
        && inputs == 0
        && let Some(capture) = read_series(paths, options, watch, &mut leaving)?
    {
        return Ok(capture);
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
    let mut readers = Vec::new();
    for (path, clock) in paths.iter().zip(&ahead) {
        let path = path.as_ref();
        let reader = open(path).map_err(|error| error.inside(&name_of(path)))?;
        readers.push((reader, name_of(path), clock.ahead_ns));
    }
    let mut capture = read_all(readers, options, &read, watch, &mut leaving)?;
    capture.counts.clocks = ahead;
    Ok(capture)
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

fn open(path: &Path, read: &Arc<AtomicU64>) -> Result<Reader<Bytes>, CaptureError> {
    let bytes: Bytes = if path == Path::new(STDIN) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    Reader::open(Box::new(Counted { bytes, read: Arc::clone(read) }) as Bytes)
}

/// Files in the order of their first packets as one; None where they do not follow one another.
fn read_series(
    paths: &[impl AsRef<Path>],
    options: &Options,
    watch: &mut dyn Watch,
    leaving: &mut Option<&mut dyn Leaving>,
) -> Result<Option<Capture>, CaptureError> {
    let ignored = Arc::new(AtomicU64::new(0));
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let first = open(path, &ignored).and_then(|mut reader| first_ns(&mut reader));
        // A file without packets is no time: it comes first.
        files.push((first.map_err(|error| error.inside(&name_of(path)))?, path));
    }
    files.sort_by_key(|(first_ns, _)| *first_ns);
    let begins = |at: usize| files.get(at).and_then(|(first_ns, _)| *first_ns);
    let read = Arc::new(AtomicU64::new(0));
    let at_place = |place: usize| {
        let (_, path) = files.get(place)?;
        let reader = open(path, &read).map_err(|error| error.inside(&name_of(path)));
        Some(reader.map(|reader| (reader, name_of(path), begins(place + 1))))
    };
    let Some(first) = at_place(0) else { return Ok(None) };
    let (reader, name, next_ns) = first?;
    let mut place = 0;
    let following = || {
        place += 1;
        at_place(place)
    };
    let options = Options { window_ns: 0, duplicates: Duplicates::Keep, ..*options };
    let source = Source::of(reader, Decoder::with(options.tunnels, None), 0, name, 0).followed_by(next_ns, following);
    let mut found = read_sources(vec![source], &options, &read, watch, leaving)?;
    if let Some(capture) = &mut found {
        capture.counts.clocks = vec![Clock::default(); paths.len()];
    }
    Ok(found)
}

/// Time of the first packet that has one.
fn first_ns(reader: &mut Reader<Bytes>) -> Result<Option<i64>, CaptureError> {
    loop {
        match reader.read_item()? {
            Item::Packet(record) => return Ok(Some(record.time_ns)),
            Item::End { .. } => return Ok(None),
            Item::Undated(_) | Item::Other => {}
        }
    }
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
    read_all(vec![(Reader::open(source)?, String::new(), 0)], options, &AtomicU64::new(0), watch, &mut None)
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
    read_all(readers, options, &AtomicU64::new(0), watch, &mut None)
}

fn read_all<R: Read>(
    readers: Vec<(Reader<R>, String, i64)>,
    options: &Options,
    read: &AtomicU64,
    watch: &mut dyn Watch,
    leaving: &mut Option<&mut dyn Leaving>,
) -> Result<Capture, CaptureError> {
    let identities = (options.duplicates != Duplicates::Keep).then(RandomState::new);
    let source = |(file, (reader, name, ahead_ns))| {
        Source::of(reader, Decoder::with(options.tunnels, identities.clone()), file, name, ahead_ns)
    };
    let sources = (0..).zip(readers).map(source).collect();
    // Only a series overlaps.
    read_sources(sources, options, read, watch, leaving).map(Option::unwrap_or_default)
}

/// None where what was taken for a series is none.
fn read_sources<R: Read>(
    sources: Vec<Source<'_, R>>,
    options: &Options,
    read: &AtomicU64,
    watch: &mut dyn Watch,
    leaving: &mut Option<&mut dyn Leaving>,
) -> Result<Option<Capture>, CaptureError> {
    if options.max_flows == 0 {
        return Err(CaptureError::MaxFlows);
    }
    let mut merge = Merge::of(sources, options.window_ns);
    let mut sightings = Sightings::with(options.duplicates, options.duplicate_ns);
    let table = Table::with_limits(options.max_flows, options.max_trains);
    let table = table.for_replay(options.pauses, options.max_packets).with_volumes(options.max_volumes);
    let mut table = table.leaving(leaving.is_some() && !merge.is_sorted());
    let mut counts = Counts::default();
    let mut steps = 0_u64;
    loop {
        if steps.is_multiple_of(POLL_EVERY) {
            let bytes = read.load(Ordering::Relaxed);
            match watch.look(Seen { packets: counts.packets, connections: table.seen(), bytes }) {
                Go::On => {}
                Go::Stop => {
                    counts.stopped = true;
                    break;
                }
                Go::Cancel => return Err(CaptureError::Cancelled),
            }
        }
        steps += 1;
        let arrival = match merge.step(&mut counts)? {
            Step::Arrival(arrival) => arrival,
            Step::Nothing => continue,
            Step::Overlap => return Ok(None),
            Step::End => break,
        };
        if sightings.repeats(arrival.segment.identity, arrival.tap, arrival.time_ns) {
            counts.skip(Skip::Duplicate);
            counts.taps[arrival.tap as usize].duplicates += 1;
            table.add_copy(&arrival.segment, arrival.tap);
            continue;
        }
        counts.decoded += 1;
        counts.fragments += u64::from(arrival.segment.fragment);
        table.add(&arrival.segment, arrival.tap, arrival.time_ns);
        while let (Some(entry), Some(leaving)) = (table.left(), leaving.as_mut()) {
            leaving.leaves(entry.serial, entry.connection(counts.first_ns.unwrap_or(0), &options.ideal))?;
        }
    }
    (counts.evicted, counts.unanswered) = (table.evicted(), table.unanswered());
    counts.number_from(merge.is_sorted());
    let finished = table.finish(counts.first_ns.unwrap_or(0), &options.ideal);
    counts.trains_left_out = finished.trains_left_out;
    counts.packets_left_out = finished.packets_left_out;
    counts.volume_width_ns = finished.volume_width_ns;
    counts.volumes_left_out = finished.volumes_left_out;
    let Finished { connections, serials, trains, packets, volumes, .. } = finished;
    Ok(Some(Capture { connections, serials, trains, packets, volumes, counts }))
}
