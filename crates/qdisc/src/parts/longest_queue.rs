//! The longest of many queues: the victim when the buffer is full.
//!
//! Principle: a heap with one entry per queue whose key is at least its length. A queue that grows
//! beyond its key gets a new entry, a queue that shrinks keeps its key until it comes to the top, where
//! the key is put right. So a queue that never overflows the buffer costs a comparison per packet.
//! Cost: O(log queues) per entry that is made or put right, at most one for each packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Queues, by number, by their length in any unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct LongestQueue {
    /// Of equals the smallest number is on top.
    heap: BinaryHeap<(u64, Reverse<u32>)>,
    /// Key of the entry of each queue that counts; entries with another key are left over.
    keys: Vec<u64>,
}

impl LongestQueue {
    /// Queue number `queue` has grown to `length`.
    #[inline]
    pub(crate) fn grew(&mut self, queue: u32, length: u64) {
        match self.keys.get(queue as usize) {
            Some(&key) if length <= key => {}
            _ => self.raise(queue, length),
        }
    }

    fn raise(&mut self, queue: u32, length: u64) {
        if queue as usize >= self.keys.len() {
            self.keys.resize(queue as usize + 1, 0);
        }
        self.keys[queue as usize] = length;
        // As many pushes as there are queues pay for sorting out the entries left over.
        if self.heap.len() > 2 * self.keys.len() + 64 {
            let keys = (0..).zip(&self.keys).filter(|&(_, &key)| key > 0);
            self.heap = keys.map(|(queue, &key)| (key, Reverse(queue))).collect();
        } else {
            self.heap.push((length, Reverse(queue)));
        }
    }

    /// The longest queue, of equals the one of smallest number, and its length, which is above zero;
    /// `length` tells the present length of each.
    pub(crate) fn find(&mut self, length: impl Fn(u32) -> u64) -> Option<(u32, u64)> {
        while let Some(mut top) = self.heap.peek_mut() {
            let (key, Reverse(queue)) = *top;
            let present = length(queue);
            let counts = self.keys[queue as usize] == key;
            if counts && present == key {
                return Some((queue, key));
            }
            if counts {
                self.keys[queue as usize] = present;
            }
            if counts && present > 0 {
                top.0 = present;
            } else {
                PeekMut::pop(top);
            }
        }
        None
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.heap.capacity() * size_of::<(u64, Reverse<u32>)>() + self.keys.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Four queues that grow and shrink, and now and then are looked over.
        #[test]
        fn it_finds_the_longest_as_a_search_would(steps in prop::collection::vec((0..4_u32, 0..6_u64), 0..500)) {
            let (mut longest, mut lengths) = (LongestQueue::default(), [0_u64; 4]);
            for (queue, what) in steps {
                let length = &mut lengths[queue as usize];
                match what {
                    0 => {
                        let expected = (0..4).map(|q| (lengths[q as usize], Reverse(q))).max().filter(|&(n, _)| n > 0);
                        let found = longest.find(|queue| lengths[queue as usize]);
                        prop_assert_eq!(found, expected.map(|(length, Reverse(queue))| (queue, length)));
                    }
                    1..=2 => *length = length.saturating_sub(2 * what),
                    _ => {
                        *length += what;
                        longest.grew(queue, *length);
                    }
                }
            }
        }
    }

    #[test]
    fn entries_left_over_are_cleared_away() {
        let mut longest = LongestQueue::default();
        (1..100_000).for_each(|length| longest.grew((length % 3) as u32, length));
        assert!(longest.heap.len() <= 2 * 3 + 65);
        assert_eq!(longest.find(|queue| [99_999, 99_997, 99_998][queue as usize]), Some((0, 99_999)));
    }
}
