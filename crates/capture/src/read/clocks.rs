//! How far apart the clocks of several taps are, from packets that both captured.
//!
//! A packet that passes tap A and then tap B has time `t_B - t_A = offset + delay` on their clocks, one on its way back
//! `offset - delay`; no delay is negative, so the offset lies between the largest difference one way and the smallest
//! the other way. Like NTP (RFC 5905, 8) the middle is taken; half the width bounds the error of clocks that do not
//! drift. Memory: at most [`HELD_MAX`] packets of all files together, the same ones in all of them.

use std::collections::hash_map::RandomState;
use std::io::Read;
use std::net::IpAddr;

use hashbrown::HashMap;

use crate::decode::decoder::Decoder;
use crate::decode::segment::Transport;
use crate::error::CaptureError;
use crate::progress::{Go, POLL_EVERY, Watch};
use crate::read::reader::{Item, Reader};

const HELD_MAX: usize = 1 << 20;
/// Packets in common below which two files are taken for pieces of one capture or strangers.
const COMMON_MIN: usize = 8;
/// Differences of true copies lie together; those of packets that only look alike do not.
const SPREAD_NS: u64 = 1_000_000_000;

/// Clock of a file beside that of the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Ahead by this, in nanoseconds.
    pub ahead_ns: i64,
    /// The true value is within this of it; None with packets in one direction only, or without any in common.
    pub bound_ns: Option<i64>,
    /// Packets in common.
    pub common: u64,
}

/// TCP data packets of one file: identity to time and direction, those that occur once.
pub(crate) struct Sample {
    held: HashMap<u64, Seen>,
    /// Identities with any of these bits are left out.
    mask: u64,
    limit: usize,
}

#[derive(Clone, Copy)]
struct Seen {
    time_ns: i64,
    ends: [IpAddr; 2],
    forth: bool,
    once: bool,
}

impl Sample {
    pub(crate) fn of<R: Read>(
        mut reader: Reader<R>,
        files: usize,
        keys: RandomState,
        watch: &mut dyn Watch,
    ) -> Result<Self, CaptureError> {
        let mut decoder = Decoder::with(false, Some(keys));
        // Few of many would find no packets in common: 64 at least.
        let limit = (HELD_MAX / files.max(1)).max(64);
        let mut sample = Sample { held: HashMap::new(), mask: 0, limit };
        let mut steps = 0_u64;
        loop {
            if steps.is_multiple_of(POLL_EVERY) {
                match watch.look(crate::Seen::default()) {
                    Go::On | Go::Tighter => {}
                    Go::Stop => return Ok(sample),
                    Go::Cancel => return Err(CaptureError::Cancelled),
                }
            }
            steps += 1;
            let record = match reader.read_item()? {
                Item::Packet(record) => record,
                Item::End { .. } => return Ok(sample),
                _ => continue,
            };
            let Ok(segment) = decoder.decode(&record) else { continue };
            if !matches!(segment.transport, Transport::Tcp(_)) || segment.payload_bytes == 0 {
                continue;
            }
            let [one, two] = [segment.source.address, segment.destination.address];
            let forth = one < two;
            let ends = if forth { [one, two] } else { [two, one] };
            sample.see(segment.identity, Seen { time_ns: record.time_ns, ends, forth, once: true });
        }
    }

    fn see(&mut self, identity: u64, seen: Seen) {
        if identity & self.mask != 0 {
            return;
        }
        self.held.entry(identity).and_modify(|held| held.once = false).or_insert(seen);
        if self.held.len() > self.limit {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.held.retain(|identity, _| identity & mask == 0);
        }
    }

    /// Clock of `self` beside that of `other`; None without enough in common.
    fn beside(&self, other: &Sample) -> Option<Clock> {
        let mut pairs: HashMap<[IpAddr; 2], [Vec<i64>; 2]> = HashMap::new();
        let mut all = Vec::new();
        for (identity, mine) in &self.held {
            let Some(theirs) = other.held.get(identity).filter(|theirs| theirs.once && mine.once) else { continue };
            let Some(ahead_ns) = mine.time_ns.checked_sub(theirs.time_ns) else { continue };
            pairs.entry(mine.ends).or_default()[usize::from(mine.forth)].push(ahead_ns);
            all.push(ahead_ns);
        }
        let middle = median(&mut all)?;
        let near = |ahead: &i64| ahead.abs_diff(middle) <= SPREAD_NS;
        let common = all.iter().filter(|ahead| near(ahead)).count();
        if common < COMMON_MIN || common * 2 < all.len() {
            return None;
        }
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        for directions in pairs.values_mut() {
            let [one, two] = directions;
            one.retain(near);
            two.retain(near);
            let (Some(first), Some(second)) = (median(one), median(two)) else { continue };
            let (early, late) = if first < second { (one, two) } else { (two, one) };
            low = early.iter().copied().fold(low, i64::max);
            high = late.iter().copied().fold(high, i64::min);
        }
        let clock = Clock { ahead_ns: middle, bound_ns: None, common: common as u64 };
        if low == i64::MIN || high == i64::MAX {
            return Some(clock);
        }
        let ahead_ns = low / 2 + high / 2;
        Some(Clock { ahead_ns, bound_ns: Some((high / 2).abs_diff(low / 2) as i64), ..clock })
    }
}

/// Clock of each file beside that of the first; those with nothing in common with any other keep theirs.
pub(crate) fn align(samples: &[Sample]) -> Vec<Clock> {
    let mut clocks: Vec<Option<Clock>> = vec![None; samples.len()];
    for root in 0..samples.len() {
        if clocks[root].is_some() {
            continue;
        }
        clocks[root] = Some(Clock::default());
        let mut known = vec![root];
        while let Some(reference) = known.pop() {
            let base = clocks[reference].unwrap_or_default();
            for index in 0..samples.len() {
                if clocks[index].is_some() {
                    continue;
                }
                let Some(clock) = samples[index].beside(&samples[reference]) else { continue };
                let bound_ns = match reference == root {
                    true => clock.bound_ns,
                    false => clock.bound_ns.zip(base.bound_ns).map(|(one, two)| one.saturating_add(two)),
                };
                clocks[index] =
                    Some(Clock { ahead_ns: clock.ahead_ns.saturating_add(base.ahead_ns), bound_ns, ..clock });
                known.push(index);
            }
        }
    }
    clocks.into_iter().map(Option::unwrap_or_default).collect()
}

fn median(values: &mut [i64]) -> Option<i64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable(middle).1)
}
