//! Who is due in which round: the old queues of CAKE.
//!
//! Principle: entries in ascending order of round, first come first within one. What is entered no
//! earlier than the last in line goes to its end, the rest to a heap: where all wait equally long, as
//! flows of equal hosts do, nothing is ever sorted.
//! Cost: O(1) in line, O(log entries) in the heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Round, number of the entry, queue, from the highest bits down.
type Entry = u128;

/// Queues, by number below 2^16, in the order of their rounds.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    line: VecDeque<Entry>,
    strays: BinaryHeap<Reverse<Entry>>,
    entered: u64,
}

impl Agenda {
    /// `queue` is due in `round`.
    #[inline]
    pub(crate) fn enter(&mut self, round: u64, queue: u16) {
        self.entered += 1;
        let entry = u128::from(round) << 64 | u128::from(self.entered) << 16 | u128::from(queue);
        if self.line.back().is_none_or(|&last| last < entry) {
            self.line.push_back(entry);
        } else {
            self.strays.push(Reverse(entry));
        }
    }

    /// Takes the queue that is due first, with its round.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, u16)> {
        let entry = match (self.line.front(), self.strays.peek()) {
            (Some(&first), Some(&Reverse(stray))) if stray < first => self.strays.pop().map(|Reverse(stray)| stray),
            (None, Some(_)) => self.strays.pop().map(|Reverse(stray)| stray),
            _ => self.line.pop_front(),
        }?;
        Some(((entry >> 64) as u64, entry as u16))
    }

    /// Of the queues that `counts`, the one due first.
    pub(crate) fn first(&self, counts: impl Fn(u16) -> bool) -> Option<u16> {
        let entries = self.line.iter().chain(self.strays.iter().map(|Reverse(entry)| entry));
        entries.filter(|&&entry| counts(entry as u16)).min().map(|&entry| entry as u16)
    }

    /// Memory as it is allocated, bytes.
    pub(crate) fn bytes(&self) -> usize {
        (self.line.capacity() + self.strays.capacity()) * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Beside a list that is searched for the first of the smallest.
        #[test]
        fn the_earliest_round_goes_first_and_the_earliest_entry_of_it(
            steps in prop::collection::vec((0..12_u64, 0..3_u32), 0..300)
        ) {
            let (mut agenda, mut list) = (Agenda::default(), Vec::new());
            for (queue, (round, what)) in (0..).zip(steps) {
                if what > 0 {
                    agenda.enter(round, queue);
                    list.push((round, queue));
                    continue;
                }
                let odd = list.iter().filter(|&&(_, queue)| queue % 2 == 1).min_by_key(|&&(round, _)| round);
                prop_assert_eq!(agenda.first(|queue| queue % 2 == 1), odd.map(|&(_, queue)| queue));
                let first = (0..list.len()).min_by_key(|&at| list[at].0);
                prop_assert_eq!(agenda.pop(), first.map(|at| list.remove(at)));
            }
        }
    }

    #[test]
    fn rounds_beyond_counting_keep_the_order_of_entry() {
        let mut agenda = Agenda::default();
        [3, 1, 2].into_iter().for_each(|queue| agenda.enter(u64::MAX, queue));
        assert_eq!([(); 3].map(|()| agenda.pop()), [3, 1, 2].map(|queue| Some((u64::MAX, queue))));
    }
}
