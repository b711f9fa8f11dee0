//! The victim of CAKE when the buffer is full, as Linux finds it: nearly always the longest queue.
//!
//! Principle: a heap over all queues that the buffer could overflow for, eight classes of 1024 as in Linux, of which one is used
//! here. It is made when the buffer overflows and kept in order until 65535 packets have left without another overflow.
//! *It is not quite a heap*: a queue that sinks is compared, after its first step, by the length of the one it changed places
//! with and not by its own, so it may stay above a longer one, and that one is passed over until its place is put right. Which of equals
//! loses follows from places too.
//! Cost: O(log queues) per packet while it is kept, nothing else. Source: Linux `sch_cake.c`, 6.1.

/// Classes of service that there are places for, and queues of each.
const CLASSES: usize = 8;
const QUEUES: usize = 1024;

/// How many packets leave before the heap is given up.
const KEPT: u32 = 65_535;

/// Queues by number, those of the first class.
#[derive(Clone, Debug)]
pub(crate) struct OverflowHeap {
    /// Queue, times [`CLASSES`], plus class, by place.
    entries: Vec<u16>,
    /// Place by queue, of the first class.
    places: Vec<u16>,
    /// Packets that may yet leave; zero while the heap is not kept.
    kept: u32,
}

/// What `entry` weighs: queues of the other classes are always empty.
#[inline]
fn weight(entry: u16, length: &impl Fn(u32) -> u64) -> u64 {
    if usize::from(entry) % CLASSES == 0 { length(u32::from(entry) / CLASSES as u32) } else { 0 }
}

impl OverflowHeap {
    /// All queues are empty.
    pub(crate) fn of_empty() -> OverflowHeap {
        OverflowHeap {
            entries: (0..(QUEUES * CLASSES) as u16).collect(),
            places: (0..QUEUES).map(|queue| (queue * CLASSES) as u16).collect(),
            kept: 0,
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.entries.swap(a, b);
        for place in [a, b] {
            let entry = usize::from(self.entries[place]);
            if entry % CLASSES == 0 {
                self.places[entry / CLASSES] = place as u16;
            }
        }
    }

    fn sink(&mut self, mut at: usize, length: &impl Fn(u32) -> u64) {
        let mut most = weight(self.entries[at], length);
        loop {
            let mut to = at;
            for child in [2 * at + 1, 2 * at + 2] {
                match self.entries.get(child) {
                    Some(&entry) if weight(entry, length) > most => (to, most) = (child, weight(entry, length)),
                    _ => {}
                }
            }
            if to == at {
                return;
            }
            // `most` stays that of the one that has risen.
            self.swap(at, to);
            at = to;
        }
    }

    /// Queue number `queue` has grown.
    #[inline]
    pub(crate) fn grew(&mut self, queue: usize, length: &impl Fn(u32) -> u64) {
        if self.kept == 0 {
            return;
        }
        let mut at = usize::from(self.places[queue]);
        while at > 0 {
            let parent = (at - 1) / 2;
            if weight(self.entries[at], length) <= weight(self.entries[parent], length) {
                break;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    /// Queue number `queue` has become shorter.
    #[inline]
    pub(crate) fn shrank(&mut self, queue: usize, length: &impl Fn(u32) -> u64) {
        if self.kept > 0 {
            self.sink(usize::from(self.places[queue]), length);
        }
    }

    /// A packet was sent.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.kept = self.kept.saturating_sub(1);
    }

    /// The queue that has to give way; the caller tells when it [`shrank`](OverflowHeap::shrank). Some queue has packets.
    pub(crate) fn victim(&mut self, length: &impl Fn(u32) -> u64) -> usize {
        // With an empty queue on top the heap has gone wrong, and is made anew: then the longest is there.
        if self.kept == 0 || weight(self.entries[0], length) == 0 {
            (0..=self.entries.len() / 2).rev().for_each(|at| self.sink(at, length));
        }
        self.kept = KEPT;
        usize::from(self.entries[0]) / CLASSES
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        (self.entries.capacity() + self.places.capacity()) * size_of::<u16>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_found_when_the_heap_is_made_and_one_that_sinks_may_hide_a_longer_one() {
        let mut heap = OverflowHeap::of_empty();
        let mut lengths = [0_u64; QUEUES];
        (lengths[0], lengths[1], lengths[2], lengths[500]) = (50, 40, 45, 60);
        assert_eq!(heap.victim(&|queue| lengths[queue as usize]), 500);
        // The queue on top is the shortest of four now: it sinks by one place, and stays above a longer one or not as places are.
        lengths[500] = 10;
        heap.shrank(500, &|queue| lengths[queue as usize]);
        assert_eq!(heap.victim(&|queue| lengths[queue as usize]), 0);
        // Emptied one by one, all are found in the end.
        let mut found = Vec::new();
        while lengths.iter().any(|&length| length > 0) {
            let queue = heap.victim(&|queue| lengths[queue as usize]);
            found.push(lengths[queue]);
            lengths[queue] = 0;
            heap.shrank(queue, &|queue| lengths[queue as usize]);
        }
        found.sort_unstable();
        assert_eq!(found, [10, 40, 45, 50]);
    }
}
