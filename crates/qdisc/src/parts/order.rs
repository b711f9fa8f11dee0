//! Waiting packets sorted by a key: the queue of LAS and its kin, of LARS and of SCFQ.
//!
//! Principle: a list of sorted rings of at most [`BLOCK`] entries (key, slot), packets apart in a
//! slab, so that an insertion moves 16 bytes per entry and a few cache lines in all. Up to `BLOCK`
//! packets it is one sorted ring; beyond, a search over the first keys of the rings comes first.
//! A packet goes behind those of equal key: ties are served in order of arrival.
//! Cost per packet: O(log n) comparisons, at most `BLOCK` / 2 entries moved, one split per
//! `BLOCK` / 2 insertions; nothing is allocated once the queue has been at its longest.

use std::collections::VecDeque;

use crate::base::{DropReason, Env};
use crate::packet::Packet;

/// Entries per ring.
const BLOCK: usize = 512;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: u64,
    slot: u32,
}

#[derive(Debug)]
struct Block {
    /// Key of the first entry, beside the ring: the search over the rings does not touch them.
    first: u64,
    entries: VecDeque<Waiting>,
}

/// Packets in ascending order of key, first come first among equals.
#[derive(Debug, Default)]
pub(crate) struct Order {
    // No block is empty. Only the outermost blocks shrink, so that the inner ones stay half full.
    blocks: VecDeque<Block>,
    spare: Vec<VecDeque<Waiting>>,
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Order {
    /// Inserts `packet` behind every packet of the same or a smaller key.
    // Inlined, with its counterpart, so that the fields of the packet stay in registers: a packet
    // written field by field and copied as a block at once costs a store-forwarding stall per copy.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, packet: Packet) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.packets[slot as usize] = packet;
                slot
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        };
        self.place(Waiting { key, slot });
    }

    #[inline]
    fn place(&mut self, entry: Waiting) {
        let tail = self.blocks.len().wrapping_sub(1);
        let Some(last) = self.blocks.back_mut() else {
            let mut entries = self.spare.pop().unwrap_or_default();
            entries.push_back(entry);
            self.blocks.push_back(Block { first: entry.key, entries });
            return;
        };
        // Both ends first: with many flows most packets go there, and a search costs as much as the
        // look-up of the flow.
        let mut at = tail;
        if last.entries.back().is_some_and(|other| other.key <= entry.key) {
            last.entries.push_back(entry);
        } else if entry.key < self.blocks[0].first {
            at = 0;
            self.blocks[0].first = entry.key;
            self.blocks[0].entries.push_front(entry);
        } else {
            at = self.blocks.partition_point(|block| block.first <= entry.key) - 1;
            let entries = &mut self.blocks[at].entries;
            entries.insert(entries.partition_point(|other| other.key <= entry.key), entry);
        }
        if self.blocks[at].entries.len() > BLOCK {
            self.split(at);
        }
    }

    #[cold]
    fn split(&mut self, at: usize) {
        let mut tail = self.spare.pop().unwrap_or_default();
        tail.extend(self.blocks[at].entries.drain(BLOCK / 2..));
        self.blocks.insert(at + 1, Block { first: tail[0].key, entries: tail });
    }

    /// Takes the packet of smallest key, with its key.
    #[inline(always)]
    pub(crate) fn pop_first(&mut self) -> Option<(u64, Packet)> {
        let block = self.blocks.front_mut()?;
        let entry = block.entries.pop_front().expect("no block is empty");
        match block.entries.front() {
            Some(next) => block.first = next.key,
            None => self.spare.extend(self.blocks.pop_front().map(|block| block.entries)),
        }
        Some(self.release(entry))
    }

    /// Takes the packet of largest key, the last one among equals, with its key.
    pub(crate) fn pop_last(&mut self) -> Option<(u64, Packet)> {
        let block = self.blocks.back_mut()?;
        let entry = block.entries.pop_back().expect("no block is empty");
        if block.entries.is_empty() {
            self.spare.extend(self.blocks.pop_back().map(|block| block.entries));
        }
        Some(self.release(entry))
    }

    #[inline(always)]
    fn release(&mut self, entry: Waiting) -> (u64, Packet) {
        self.free.push(entry.slot);
        (entry.key, self.packets[entry.slot as usize])
    }

    /// Makes room for an arriving packet of `len` bytes that would go in with `key`: discards from
    /// the tail, telling `forget` of each victim and its key. Discards nothing and returns false when
    /// the arriving packet itself is among those that have to go.
    pub(crate) fn make_room(
        &mut self,
        key: u64,
        len: u32,
        env: &mut Env,
        mut forget: impl FnMut(&Packet, u64),
    ) -> bool {
        let Some(victims) = victims(self.behind(Some(key)), len, env) else { return false };
        for _ in 0..victims {
            let (key, victim) = self.pop_last().expect("victims are queued");
            forget(&victim, key);
            env.discard(victim, DropReason::PushedOut);
        }
        true
    }

    /// Packets of larger key, or all packets, from the tail.
    pub(crate) fn behind(&self, key: Option<u64>) -> impl Iterator<Item = &Packet> {
        let tail_first = self.blocks.iter().rev().flat_map(|block| block.entries.iter().rev());
        tail_first.take_while(move |entry| Some(entry.key) > key).map(|entry| &self.packets[entry.slot as usize])
    }

    /// Packets waiting.
    pub(crate) fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// The packet `pop_first` would take.
    pub(crate) fn first(&self) -> Option<&Packet> {
        let entry = self.blocks.front()?.entries.front()?;
        Some(&self.packets[entry.slot as usize])
    }

    /// Applies `map`, which must not decrease, to every key.
    pub(crate) fn rescale(&mut self, map: impl Fn(u64) -> u64) {
        for block in &mut self.blocks {
            block.entries.iter_mut().for_each(|entry| entry.key = map(entry.key));
            block.first = block.entries[0].key;
        }
    }
}

/// How many of the packets `behind` the place of an arriving one of `len` bytes have to go, first ones first, until
/// it fits; none when all of them would not be enough.
pub(crate) fn victims<'a>(behind: impl Iterator<Item = &'a Packet>, len: u32, env: &Env) -> Option<u64> {
    let (mut packets, mut bytes) = (0, 0);
    for packet in behind {
        packets += 1;
        bytes += u64::from(packet.len);
        if !env.is_full_without(len, packets, bytes) {
            return Some(packets);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::test_queue::packet;

    /// Runs `steps` (a key to insert, or which end to take) beside a tree ordered by (key, arrival).
    fn agrees_with_a_tree(steps: &[Result<u64, bool>]) {
        let mut order = Order::default();
        let mut tree = BTreeMap::new();
        for (handle, step) in (0..).zip(steps) {
            match *step {
                Ok(key) => {
                    order.push(key, packet(key, handle));
                    tree.insert((key, handle), ());
                }
                Err(first) => {
                    let taken = if first { order.pop_first() } else { order.pop_last() };
                    let expected = if first { tree.pop_first() } else { tree.pop_last() };
                    assert_eq!(taken.map(|(key, packet)| (key, packet.handle)), expected.map(|(entry, ())| entry));
                }
            }
            assert_eq!(order.first().map(|p| p.handle), tree.keys().next().map(|&(_, handle)| handle));
        }
        let rest: Vec<_> = std::iter::from_fn(|| order.pop_first()).map(|(key, p)| (key, p.handle)).collect();
        assert_eq!(rest, tree.into_keys().collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn any_sequence_agrees_with_a_tree(
            steps in prop::collection::vec(prop_oneof![3 => (0..40_u64).prop_map(Ok), 2 => any::<bool>().prop_map(Err)], 0..400)
        ) {
            agrees_with_a_tree(&steps);
        }
    }

    #[test]
    fn many_blocks_agree_with_a_tree() {
        let mut state = 1_u64;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let steps: Vec<_> = (0..60_000)
            .map(|i| match (draw() % 8, i < 40_000) {
                (0, true) | (0..6, false) => Err(draw() % 2 == 0),
                _ => Ok(draw() % 5000),
            })
            .collect();
        agrees_with_a_tree(&steps);
    }

    #[test]
    fn equal_keys_leave_in_order_of_arrival_across_blocks() {
        agrees_with_a_tree(&vec![Ok(7); 5 * BLOCK]);
    }
}
