//! Several captures as one, in the order of time.
//!
//! Files that were recorded at the same time are merged: each may be out of order by the reordering window, and a packet
//! is let go when every file has been read that far beyond it. Cost per packet: O(log held + files); at most [`HELD_MAX`]
//! packets are held. Files that follow one another, as a program writes that begins a new one every minute, are one
//! source, of which one file is open at a time ([`Source::followed_by`]).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::Read;

use account::{Amount, Reason};
use hashbrown::HashMap;

use crate::counts::{Counts, Tap};
use crate::decode::decoder::Decoder;
use crate::decode::segment::Segment;
use crate::decode::skip::Skip;
use crate::decode::tunnel::Tunnel;
use crate::error::CaptureError;
use crate::read::reader::{Item, Reader, Record};
use crate::read::sieve::{Sieve, Sieving};

const HELD_MAX: usize = 1 << 16;

/// A decoded packet.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) time_ns: i64,
    pub(crate) tap: u32,
    pub(crate) segment: Segment,
}

impl Arrival {
    /// Where one is written into.
    pub(crate) const NONE: Arrival = Arrival { time_ns: 0, tap: 0, segment: Segment::NONE };
}

/// What one step came to.
pub(crate) enum Step {
    /// A packet, which was written to where the caller wants it.
    Arrival,
    Nothing,
    /// A file of a series goes on when the next one has begun: it is none.
    Overlap,
    End,
}

/// The next file of a series, its name, and when the one behind it begins.
pub(crate) type Next<R> = (Reader<R>, String, Option<i64>);
type Following<'a, R> = Box<dyn FnMut() -> Option<Result<Next<R>, CaptureError>> + 'a>;

/// One file.
pub(crate) struct Source<'a, R: Read> {
    reader: Reader<R>,
    decoder: Decoder,
    sieving: Option<Box<Sieving>>,
    file: u32,
    name: String,
    /// Its clock is ahead by this.
    ahead_ns: i64,
    newest_ns: Option<i64>,
    /// Interface and number of the tap; the last one used first.
    taps: HashMap<u32, u32>,
    last: Option<(u32, u32)>,
    following: Option<Following<'a, R>>,
    /// When the file is over at the latest, of one that another follows.
    until_ns: i64,
}

/// What a file of a series may reach into the next one: packets of several queues are written out of order.
const SLACK_NS: i64 = 10_000_000;

impl<'a, R: Read> Source<'a, R> {
    pub(crate) fn of(reader: Reader<R>, decoder: Decoder, file: u32, name: String, ahead_ns: i64) -> Self {
        let (newest_ns, last, following, until_ns) = (None, None, None, i64::MAX);
        let sieving = None;
        Source {
            reader,
            decoder,
            sieving,
            file,
            name,
            ahead_ns,
            newest_ns,
            taps: HashMap::new(),
            last,
            following,
            until_ns,
        }
    }

    /// The same with a sieve behind the decoder.
    pub(crate) fn through(mut self, sieve: &Sieve) -> Self {
        self.sieving = Sieving::with(sieve);
        self
    }

    /// The same with files that go on where it ends: fragments and interfaces are those of one file. `begins_ns` is when the
    /// second begins.
    pub(crate) fn followed_by(
        mut self,
        begins_ns: Option<i64>,
        following: impl FnMut() -> Option<Result<Next<R>, CaptureError>> + 'a,
    ) -> Self {
        self.following = Some(Box::new(following));
        self.begin_before(begins_ns);
        self
    }

    fn begin_before(&mut self, next_ns: Option<i64>) {
        self.until_ns = next_ns.map_or(i64::MAX, |next_ns| next_ns.saturating_add(SLACK_NS));
    }

    #[cold]
    fn end(&mut self, truncated: bool, counts: &mut Counts) -> Result<Step, CaptureError> {
        counts.truncated |= truncated;
        counts.dropped = counts.dropped.saturating_add(self.reader.dropped());
        for (&interface, &tap) in &self.taps {
            let name = &mut counts.names[tap as usize];
            *name = name.take().or_else(|| self.reader.interface_name(interface).map(str::to_owned));
        }
        if let Some(next) = self.following.as_mut().and_then(|following| following()) {
            let (reader, name, after_ns) = next?;
            (self.reader, self.name) = (reader, name);
            self.begin_before(after_ns);
            return Ok(Step::Nothing);
        }
        for (tunnel, _) in Tunnel::NAMES {
            counts.tunnelled[tunnel as usize] += self.decoder.entered(tunnel);
        }
        counts.around_tcp = counts.around_tcp.and(self.decoder.entered_so_far().tcp);
        for (&bytes, packets) in self.decoder.framed() {
            *counts.framed.entry(bytes).or_default() += packets;
        }
        Ok(Step::End)
    }

    #[inline]
    fn step(&mut self, counts: &mut Counts, arrival: &mut Arrival) -> Result<Step, CaptureError> {
        counts.nanoseconds |= self.reader.has_nanoseconds();
        let record = match self.reader.held_record() {
            Some(record) => record,
            None => match self.reader.read_item().map_err(|error| error.inside(&self.name))? {
                Item::Packet(record) => record,
                Item::Undated(_, bytes) if self.sieving.as_ref().is_some_and(|sieving| sieving.filters()) => {
                    counts.filter(bytes);
                    return Ok(Step::Nothing);
                }
                Item::Undated(skip, bytes) => {
                    counts.packets += 1;
                    counts.account.see(Amount::one(bytes));
                    counts.skip(skip, bytes);
                    return Ok(Step::Nothing);
                }
                Item::Other => return Ok(Step::Nothing),
                Item::End { truncated } => return self.end(truncated, counts),
            },
        };
        let time_ns = record.time_ns.saturating_sub(self.ahead_ns);
        if time_ns > self.until_ns {
            return Ok(Step::Overlap);
        }
        self.newest_ns = Some(self.newest_ns.map_or(time_ns, |newest| newest.max(time_ns)));
        let decoded = match &mut self.sieving {
            None => self.decoder.decode_into(&record, &mut arrival.segment),
            Some(sieving) => match sieved(sieving, &mut self.decoder, &record, &mut arrival.segment) {
                Some(decoded) => decoded,
                None => {
                    counts.filter(self.decoder.wire_bytes());
                    return Ok(Step::Nothing);
                }
            },
        };
        counts.see(time_ns);
        let tap = match self.last {
            Some((interface, tap)) if interface == record.interface => tap,
            _ => {
                let (interface, file) = (record.interface, self.file);
                let tap = *self.taps.entry(interface).or_insert_with(|| counts.add_tap(Tap::at(file, interface)));
                self.last = Some((interface, tap));
                tap
            }
        };
        counts.taps[tap as usize].packets += 1;
        match decoded {
            Ok(()) => {
                counts.account.see(Amount::one(arrival.segment.wire_bytes));
                (arrival.time_ns, arrival.tap) = (time_ns, tap);
                Ok(Step::Arrival)
            }
            Err(skip) => {
                let bytes = self.decoder.wire_bytes();
                counts.account.see(Amount::one(bytes));
                counts.skip_frame(skip, bytes, record.link_type);
                Ok(Step::Nothing)
            }
        }
    }
}

/// Decodes a packet and gives it its addresses; None where it is left out.
#[inline(never)]
fn sieved(
    sieving: &mut Sieving,
    decoder: &mut Decoder,
    record: &Record<'_>,
    segment: &mut Segment,
) -> Option<Result<(), Skip>> {
    let before = decoder.entered_so_far();
    let decoded = decoder.decode_into(record, segment);
    if sieving.filters() && !(decoded.is_ok() && sieving.passes(record, segment)) {
        decoder.forget(record, decoded.is_ok(), before);
        return None;
    }
    if decoded.is_ok() {
        sieving.rename(segment);
    }
    Some(decoded)
}

/// All files together.
pub(crate) struct Merge<'a, R: Read> {
    live: Vec<Source<'a, R>>,
    /// None: the order of a single file is kept as it is.
    window_ns: Option<i64>,
    held: BinaryHeap<Reverse<Held>>,
    serial: u64,
    released_ns: i64,
}

struct Held {
    serial: u64,
    arrival: Arrival,
}

impl<'a, R: Read> Merge<'a, R> {
    /// `window_ns` 0 for a single file keeps its order.
    pub(crate) fn of(live: Vec<Source<'a, R>>, window_ns: u64) -> Self {
        let sorted = live.len() > 1 || window_ns > 0;
        let window_ns = i64::try_from(window_ns).unwrap_or(i64::MAX);
        let window_ns = sorted.then_some(window_ns);
        Merge { live, window_ns, held: BinaryHeap::new(), serial: 0, released_ns: i64::MIN }
    }

    /// Whether packets are put into the order of time.
    pub(crate) fn is_sorted(&self) -> bool {
        self.window_ns.is_some()
    }

    /// One step: a packet, if one may go, into `arrival`.
    #[inline]
    pub(crate) fn step(&mut self, counts: &mut Counts, arrival: &mut Arrival) -> Result<Step, CaptureError> {
        match (self.window_ns, self.live.first_mut()) {
            (None, Some(source)) => source.step(counts, arrival),
            (None, None) => Ok(Step::End),
            (Some(window_ns), _) => self.sorted(window_ns, counts, arrival),
        }
    }

    #[inline(never)]
    fn sorted(&mut self, window_ns: i64, counts: &mut Counts, arrival: &mut Arrival) -> Result<Step, CaptureError> {
        let behind = self.live.iter().enumerate().min_by_key(|(_, source)| source.newest_ns);
        let horizon_ns = match behind {
            Some((_, source)) => source.newest_ns.map_or(i64::MIN, |newest| newest.saturating_sub(window_ns)),
            None => i64::MAX,
        };
        let due = self.held.peek().is_some_and(|Reverse(held)| held.arrival.time_ns <= horizon_ns);
        if due || self.held.len() >= HELD_MAX {
            return Ok(self.release(counts, arrival));
        }
        let Some(index) = behind.map(|(index, _)| index) else { return Ok(Step::End) };
        match self.live[index].step(counts, arrival)? {
            Step::Arrival => {
                self.held.push(Reverse(Held { serial: self.serial, arrival: *arrival }));
                self.serial += 1;
            }
            Step::Nothing => {}
            Step::Overlap => return Ok(Step::Overlap),
            Step::End => {
                self.live.remove(index);
            }
        }
        Ok(Step::Nothing)
    }

    /// Leaves out what was read and has not been let go: the reading ends here.
    pub(crate) fn give_up(&mut self, counts: &mut Counts) {
        for Reverse(held) in self.held.drain() {
            counts.account.leave_out(Reason::Budget, Amount::one(held.arrival.segment.wire_bytes));
        }
    }

    fn release(&mut self, counts: &mut Counts, into: &mut Arrival) -> Step {
        let Some(Reverse(Held { arrival, .. })) = self.held.pop() else { return Step::End };
        counts.late += u64::from(arrival.time_ns < self.released_ns);
        self.released_ns = self.released_ns.max(arrival.time_ns);
        *into = arrival;
        Step::Arrival
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.arrival.time_ns, self.serial).cmp(&(other.arrival.time_ns, other.serial))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Held {}
