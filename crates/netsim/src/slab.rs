//! Slots that are reused, the last freed first, so that live state stays together in the cache.
//!
//! Slots are in blocks of a fixed size. None but those of the first block ever move, so that growing copies next to nothing,
//! and no more than a block is held beyond what is used.

/// Slots of a block.
const BLOCK: usize = 256;

#[derive(Debug)]
pub(crate) struct Slab<T> {
    /// All but the last are full.
    blocks: Vec<Vec<T>>,
    /// Slots that ever were claimed.
    len: usize,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn empty() -> Slab<T> {
        Slab { blocks: Vec::new(), len: 0, free: Vec::new() }
    }

    /// A free slot: one used before, still holding its last value, or a fresh one.
    pub(crate) fn claim(&mut self, fresh: impl FnOnce() -> T) -> usize {
        match self.free.pop() {
            Some(slot) => slot as usize,
            None => self.grow(fresh()),
        }
    }

    fn grow(&mut self, fresh: T) -> usize {
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(fresh),
            // The first one grows, for runs with few flows.
            None => self.blocks.push(vec![fresh]),
            Some(_) => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(fresh);
                self.blocks.push(block);
            }
        }
        self.len += 1;
        self.len - 1
    }

    pub(crate) fn release(&mut self, slot: usize) {
        self.free.push(slot as u32);
    }

    #[inline]
    pub(crate) fn at(&mut self, slot: usize) -> &mut T {
        &mut self.blocks[slot / BLOCK][slot % BLOCK]
    }

    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<&T> {
        self.blocks.get(slot / BLOCK)?.get(slot % BLOCK)
    }

    /// Places there are, free ones too.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.blocks.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_stay_where_they_are_and_are_given_out_in_order() {
        let mut slab = Slab::empty();
        for number in 0..BLOCK {
            assert_eq!(slab.claim(|| number), number);
        }
        let at = std::ptr::from_ref(slab.at(0));
        for number in BLOCK..1000 {
            assert_eq!(slab.claim(|| number), number);
        }
        assert_eq!(std::ptr::from_ref(slab.at(0)), at);
        assert!((0..1000).all(|slot| slab.get(slot) == Some(&slot)));
        assert_eq!((slab.get(1000), slab.len()), (None, 1000));
        assert!(slab.iter().copied().eq(0..1000));
        slab.release(7);
        slab.release(900);
        assert_eq!([slab.claim(|| 0), slab.claim(|| 0), slab.claim(|| 1000)], [900, 7, 1000]);
    }
}
