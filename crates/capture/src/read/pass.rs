//! One pass over files: packets in their order, to whoever takes them.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::counts::Counts;
use crate::decode::skip::Skip;
use crate::error::CaptureError;
use crate::read::duplicates::Sightings;
use crate::read::merge::{Arrival, Merge, Step};
use crate::watch::{Go, POLL_EVERY, Seen, Watch};

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

/// Reads to the end, or as far as `watch` wants; whether the files could be read so: false where what was taken for a
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
    let (mut steps, mut arrival) = (0_u64, Arrival::NONE);
    loop {
        if steps.is_multiple_of(POLL_EVERY) {
            let bytes = read.load(Ordering::Relaxed);
            match watch.look(Seen { packets: counts.packets, connections: taker.connections(), bytes }) {
                Go::On => {}
                Go::Tighter if taker.tighten(counts)? => {}
                Go::Stop | Go::Tighter => {
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
            Step::End => return Ok(true),
        };
        if sightings.repeats(arrival.segment.identity, arrival.tap, arrival.time_ns) {
            counts.skip(Skip::Duplicate);
            counts.taps[arrival.tap as usize].duplicates += 1;
            taker.copy(&arrival);
            continue;
        }
        counts.decoded += 1;
        counts.fragments += u64::from(arrival.segment.fragment);
        taker.take(&arrival, counts)?;
    }
}
