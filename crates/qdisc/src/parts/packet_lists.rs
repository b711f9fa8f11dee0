//! Packets of many queues in one slab: what the disciplines with a queue per flow have in common.
//!
//! Principle: packets of all queues are in one vector, linked both ways; a queue is the numbers of
//! its first and last packet. Nothing is allocated once the slab has been at its longest.
//! Cost per packet: O(1) at either end.

use crate::packet::Packet;

/// End of a list.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Waiting {
    packet: Packet,
    before: u32,
    after: u32,
}

/// Packets that wait in any of the lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slab {
    waiting: Vec<Waiting>,
    free: Vec<u32>,
}

/// A queue of packets in a [`Slab`], always the same one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    first: u32,
    last: u32,
    packets: u32,
    bytes: u64,
}

impl Default for List {
    fn default() -> Self {
        List { first: NONE, last: NONE, packets: 0, bytes: 0 }
    }
}

impl List {
    /// Whether no packet waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// Packets waiting.
    #[inline]
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes waiting, on the wire.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Slab {
    /// Appends `packet` to `list`.
    // Inlined, with its counterparts, so that the fields of the packet stay in registers: see
    // `Order::push`.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, list: &mut List, packet: Packet) {
        let waiting = Waiting { packet, before: list.last, after: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.waiting[slot as usize] = waiting;
                slot
            }
            None => {
                self.waiting.push(waiting);
                self.waiting.len() as u32 - 1
            }
        };
        match self.waiting.get_mut(list.last as usize) {
            Some(last) => last.after = slot,
            None => list.first = slot,
        }
        list.last = slot;
        list.packets += 1;
        list.bytes += u64::from(packet.len);
    }

    /// Takes the first packet of `list`.
    #[inline(always)]
    pub(crate) fn pop_front(&mut self, list: &mut List) -> Option<Packet> {
        let slot = list.first;
        let &Waiting { packet, after, .. } = self.waiting.get(slot as usize)?;
        list.first = after;
        match self.waiting.get_mut(after as usize) {
            Some(next) => next.before = NONE,
            None => list.last = NONE,
        }
        Some(self.release(list, slot, packet))
    }

    /// Takes the packet of `list`, which has one.
    #[inline(always)]
    pub(crate) fn pop_only(&mut self, list: &mut List) -> Packet {
        let slot = list.first;
        let packet = self.waiting[slot as usize].packet;
        *list = List::default();
        self.free.push(slot);
        packet
    }

    /// Takes the last packet of `list`.
    pub(crate) fn pop_back(&mut self, list: &mut List) -> Option<Packet> {
        let slot = list.last;
        let &Waiting { packet, before, .. } = self.waiting.get(slot as usize)?;
        list.last = before;
        match self.waiting.get_mut(before as usize) {
            Some(previous) => previous.after = NONE,
            None => list.first = NONE,
        }
        Some(self.release(list, slot, packet))
    }

    #[inline(always)]
    fn release(&mut self, list: &mut List, slot: u32, packet: Packet) -> Packet {
        self.free.push(slot);
        list.packets -= 1;
        list.bytes -= u64::from(packet.len);
        packet
    }

    /// The first packet of `list`.
    #[inline]
    pub(crate) fn front(&self, list: &List) -> Option<&Packet> {
        self.waiting.get(list.first as usize).map(|waiting| &waiting.packet)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::test_queue::packet;

    proptest! {
        /// Three lists in one slab against three queues of their own.
        #[test]
        fn lists_in_one_slab_are_queues_of_their_own(steps in prop::collection::vec((0..3_usize, 0..5_u32), 0..300)) {
            let mut slab = Slab::default();
            let mut lists = [List::default(); 3];
            let mut expected = [const { VecDeque::new() }; 3];
            for (handle, (at, what)) in (0..).zip(steps) {
                let (list, queue) = (&mut lists[at], &mut expected[at]);
                match what {
                    0 if list.packets() == 1 => prop_assert_eq!(Some(slab.pop_only(list)), queue.pop_front()),
                    0 => prop_assert_eq!(slab.pop_front(list), queue.pop_front()),
                    1 => prop_assert_eq!(slab.pop_back(list), queue.pop_back()),
                    _ => {
                        let packet = Packet { len: what * 100, ..packet(at as u64, handle) };
                        slab.push_back(list, packet);
                        queue.push_back(packet);
                    }
                }
                prop_assert_eq!(slab.front(list), queue.front());
                prop_assert_eq!((list.packets() as usize, list.is_empty()), (queue.len(), queue.is_empty()));
                prop_assert_eq!(list.bytes(), queue.iter().map(|p| u64::from(p.len)).sum::<u64>());
            }
        }
    }
}
