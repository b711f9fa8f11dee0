//! One pass over files: packets in their order, to whoever takes them.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use account::Amount;

use crate::counts::Counts;
use crate::decode::segment::Transport;
use crate::decode::skip::Skip;
use crate::error::CaptureError;
use crate::progress::{Go, POLL_EVERY, Seen, Watch};
use crate::read::copies::Translations;
use crate::read::duplicates::{Duplicates, HOLD_BACK, Sightings};
use crate::read::merge::{Arrival, Merge, Step};
use crate::read::stops::Stops;

/// Who takes packets.
pub(crate) trait Taker {
    /// Takes a decoded packet; `counts` has it already.
    ///
    /// # Errors
    /// As whatever keeps it: the pass ends there.
    fn take(&mut self, arrival: &Arrival, counts: &Counts) -> io::Result<()>;

    /// A copy of a packet that was taken, which is left out.
    fn copy(&mut self, arrival: &Arrival);

    /// Connections and flows found so far.
    fn connections(&self) -> u64;

    /// Holds less from now on; false where it cannot.
    ///
    /// # Errors
    /// As [`Taker::take`].
    fn tighten(&mut self, _counts: &Counts) -> io::Result<bool> {
        Ok(false)
    }
}

/// Reads to the end, or as far as `watch` wants, or as far as copies are [too many](Sightings::are_too_many); whether the files could be read so: false where what was taken for a
/// series is none.
///
/// # Errors
/// [`CaptureError`] when a file cannot be read, when `watch` answers [`Go::Cancel`], and as the taker has them.
pub(crate) fn pass<R: Read>(
    merge: &mut Merge<'_, R>,
    sightings: &mut Sightings,
    read: &AtomicU64,
    watch: &mut dyn Watch,
    counts: &mut Counts,
    taker: &mut impl Taker,
) -> Result<bool, CaptureError> {
    let mut stops = Stops::new();
    let is_series = pass_on(merge, sightings, read, watch, (counts, &mut stops), taker)?;
    counts.stops = stops.end();
    Ok(is_series)
}

fn pass_on<R: Read>(
    merge: &mut Merge<'_, R>,
    sightings: &mut Sightings,
    read: &AtomicU64,
    watch: &mut dyn Watch,
    (counts, stops): (&mut Counts, &mut Stops),
    taker: &mut impl Taker,
) -> Result<bool, CaptureError> {
    let (mut steps, mut arrival) = (0_u64, Arrival::NONE);
    let mut held = Vec::new();
    loop {
        if steps.is_multiple_of(POLL_EVERY) {
            // The rest need not be read with them.
            if sightings.are_too_many(counts.decoded) {
                return Ok(true);
            }
            let bytes = read.load(Ordering::Relaxed);
            match watch.look(Seen { packets: counts.packets, connections: taker.connections(), bytes }) {
                Go::On => {}
                Go::Tighter if taker.tighten(counts)? => {}
                Go::Stop | Go::Tighter => {
                    if sightings.hold_back() {
                        let leaves_out = sightings.decide(held.len() as u64);
                        let_go(&mut held, leaves_out, counts, stops, taker)?;
                    }
                    merge.give_up(counts);
                    counts.stopped = true;
                    return Ok(true);
                }
                Go::Cancel => return Err(CaptureError::Cancelled),
            }
        }
        steps += 1;
        match merge.step(counts, &mut arrival)? {
            Step::Arrival => {}
            Step::Nothing => continue,
            Step::Overlap => return Ok(false),
            Step::End => {
                if sightings.hold_back() {
                    let leaves_out = sightings.decide(held.len() as u64);
                    let_go(&mut held, leaves_out, counts, stops, taker)?;
                }
                return Ok(true);
            }
        };
        let left_out = sightings.repeats(&arrival);
        if left_out || sightings.hold_back() {
            // Of files that are merged the latest packet that was read is another one.
            if left_out && !merge.is_sorted() {
                counts.unsee(arrival.time_ns);
            }
            aside(&arrival, left_out, sightings, &mut held, (counts, stops), taker)?;
            continue;
        }
        count(&arrival, counts, stops);
        taker.take(&arrival, counts)?;
    }
}

/// Takes nothing.
struct Nobody;

impl Taker for Nobody {
    fn take(&mut self, _: &Arrival, _: &Counts) -> io::Result<()> {
        Ok(())
    }

    fn copy(&mut self, _: &Arrival) {}

    fn connections(&self) -> u64 {
        0
    }

    fn tighten(&mut self, _: &Counts) -> io::Result<bool> {
        Ok(true)
    }
}

/// The translations of addresses in files, in a pass of its own; None where what was taken for a series is none.
///
/// # Errors
/// As [`pass`].
pub(crate) fn translations<R: Read>(
    merge: &mut Merge<'_, R>,
    read: &AtomicU64,
    watch: &mut dyn Watch,
) -> Result<Option<Translations>, CaptureError> {
    let mut sightings = Sightings::with(Duplicates::Places, 0, true, Translations::default());
    let is_series = pass(merge, &mut sightings, read, watch, &mut Counts::default(), &mut Nobody)?;
    Ok(is_series.then(|| sightings.into_translations()))
}

/// Counts a packet that is taken.
#[inline]
fn count(arrival: &Arrival, counts: &mut Counts, stops: &mut Stops) {
    stops.see(arrival.time_ns, &arrival.segment);
    counts.decoded += 1;
    counts.fragments += u64::from(arrival.segment.fragment);
    counts.account.take(Amount::one(arrival.segment.wire_bytes));
    if let Transport::Other { protocol } = arrival.segment.transport {
        counts.carry(protocol, arrival.segment.wire_bytes);
    }
}

/// Holds a packet back, or leaves it out.
#[inline(never)]
fn aside(
    arrival: &Arrival,
    left_out: bool,
    sightings: &mut Sightings,
    held: &mut Vec<(u64, Arrival, bool)>,
    (counts, stops): (&mut Counts, &mut Stops),
    taker: &mut impl Taker,
) -> io::Result<()> {
    if !sightings.hold_back() {
        return put(arrival, left_out, counts, stops, taker);
    }
    held.push((counts.packets, *arrival, left_out));
    if held.len() < HOLD_BACK {
        return Ok(());
    }
    let leaves_out = sightings.decide(held.len() as u64);
    let_go(held, leaves_out, counts, stops, taker)
}

/// Takes a packet, or counts it as left out.
fn put(
    arrival: &Arrival,
    left_out: bool,
    counts: &mut Counts,
    stops: &mut Stops,
    taker: &mut impl Taker,
) -> io::Result<()> {
    if left_out {
        counts.skip(Skip::Duplicate, arrival.segment.wire_bytes);
        counts.taps[arrival.tap as usize].duplicates += 1;
        taker.copy(arrival);
        return Ok(());
    }
    count(arrival, counts, stops);
    taker.take(arrival, counts)
}

/// Takes packets that were held back, each with its number.
#[cold]
fn let_go(
    held: &mut Vec<(u64, Arrival, bool)>,
    leaves_out: bool,
    counts: &mut Counts,
    stops: &mut Stops,
    taker: &mut impl Taker,
) -> io::Result<()> {
    let packets = counts.packets;
    for (number, arrival, copy) in std::mem::take(held) {
        counts.packets = number;
        if copy && !leaves_out {
            counts.reach(arrival.time_ns);
        }
        put(&arrival, copy && leaves_out, counts, stops, taker)?;
    }
    counts.packets = packets;
    Ok(())
}
