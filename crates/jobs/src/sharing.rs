//! Processor sharing: virtual time runs at the rate of one job, so that each job has a fixed virtual end.

use std::cmp::{Ordering, Reverse};

use dary_heap::QuaternaryHeap;

use super::serve::{Part, Serve};

#[derive(Clone, Copy, Debug)]
struct End {
    at: f64,
    came: u64,
    slot: u32,
}

impl Ord for End {
    #[inline]
    fn cmp(&self, other: &End) -> Ordering {
        self.at.total_cmp(&other.at).then(self.came.cmp(&other.came))
    }
}

impl PartialOrd for End {
    #[inline]
    fn partial_cmp(&self, other: &End) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for End {
    fn eq(&self, other: &End) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for End {}

/// Jobs by the virtual time at which they end.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// Work each job has been given since the station was last empty.
    virtual_time: f64,
    ends: QuaternaryHeap<Reverse<End>>,
}

impl Serve for Sharing {
    #[inline]
    fn insert(&mut self, part: Part) {
        self.ends.push(Reverse(End { at: self.virtual_time + part.work(), came: part.came, slot: part.slot }));
    }

    #[inline]
    fn due(&self) -> f64 {
        self.ends
            .peek()
            .map_or(f64::INFINITY, |Reverse(first)| (first.at - self.virtual_time).max(0.0) * self.ends.len() as f64)
    }

    #[inline]
    fn serve(&mut self, work: f64) {
        self.virtual_time += work / self.ends.len() as f64;
    }

    #[inline]
    fn step(&mut self) -> Option<u32> {
        let Reverse(first) = self.ends.pop()?;
        // Rounding of the virtual time ends here: it does not add up over a busy period.
        self.virtual_time = if self.ends.is_empty() { 0.0 } else { first.at };
        Some(first.slot)
    }
}
