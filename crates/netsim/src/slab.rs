//! Slots that are reused, the last freed first, so that live state stays together in the cache.

#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn empty() -> Slab<T> {
        Slab { slots: Vec::new(), free: Vec::new() }
    }

    /// A free slot: one used before, still holding its last value, or a fresh one.
    pub(crate) fn claim(&mut self, fresh: impl FnOnce() -> T) -> usize {
        match self.free.pop() {
            Some(slot) => slot as usize,
            None => {
                self.slots.push(fresh());
                self.slots.len() - 1
            }
        }
    }

    pub(crate) fn release(&mut self, slot: usize) {
        self.free.push(slot as u32);
    }

    #[inline]
    pub(crate) fn at(&mut self, slot: usize) -> &mut T {
        &mut self.slots[slot]
    }

    pub(crate) fn get(&self, slot: usize) -> Option<&T> {
        self.slots.get(slot)
    }

    /// Places there are, free ones too.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut()
    }
}
