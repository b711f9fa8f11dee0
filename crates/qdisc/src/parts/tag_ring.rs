//! Entries in ascending order of a tag, to within the width of a bucket: the two orders of LFQ.
//!
//! Principle: a ring of buckets, each a list in order of arrival, and a word with a bit per bucket; the lowest bucket in
//! use is found by counting zeros. Tags that are beyond the ring wait in its last bucket: who takes an entry out compares its
//! tag with the bucket and puts it back when it is not due. So an entry may also be charged where it is, and is found out
//! when its turn comes.
//! Cost: O(1). Source: Saeed et al., "Eiffel: Efficient and Flexible Software Packet Scheduling", NSDI 2019, III.

/// Where an entry is in a ring: behind and before others of its bucket, and the slot of that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    after: u16,
    before: u16,
    slot: u8,
}

/// Where the places of entries are kept.
pub(crate) trait Places {
    /// That of `entry`.
    fn of(&self, entry: u16) -> &Place;

    /// That of `entry`, to be changed.
    fn of_mut(&mut self, entry: u16) -> &mut Place;
}

/// A ring of `N` buckets: 64, or a power of two up to 32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagRing<const N: usize> {
    first: [u16; N],
    last: [u16; N],
    used: u64,
    /// Number of the lowest bucket that may be in use; buckets are numbered by tag.
    base: i64,
}

impl<const N: usize> Default for TagRing<N> {
    fn default() -> Self {
        TagRing { first: [0; N], last: [0; N], used: 0, base: 0 }
    }
}

impl<const N: usize> TagRing<N> {
    const ROUND: () = assert!(N == 64 || (N <= 32 && N.is_power_of_two()));

    #[inline]
    fn slot(bucket: i64) -> usize {
        let () = Self::ROUND;
        (bucket as usize) & (N - 1)
    }

    /// Puts `entry` at the end of `bucket`. Later ones may come as low as `floor`.
    #[inline]
    pub(crate) fn push(&mut self, entry: u16, bucket: i64, floor: i64, places: &mut (impl Places + ?Sized)) {
        if self.used == 0 {
            self.base = floor.min(bucket);
        }
        let at = Self::slot(bucket.clamp(self.base, self.base + N as i64 - 1));
        let place = places.of_mut(entry);
        (place.before, place.slot) = (self.last[at], at as u8);
        if self.used >> at & 1 == 1 {
            places.of_mut(self.last[at]).after = entry;
        } else {
            self.first[at] = entry;
            self.used |= 1 << at;
        }
        self.last[at] = entry;
    }

    /// The lowest bucket in use.
    #[inline]
    pub(crate) fn lowest(&self) -> Option<i64> {
        if self.used == 0 {
            return None;
        }
        let start = Self::slot(self.base) as u32;
        let turned = if N == 64 { self.used.rotate_right(start) } else { (self.used | self.used << (N % 64)) >> start };
        Some(self.base + i64::from(turned.trailing_zeros()))
    }

    /// Takes the first entry of the lowest bucket, with the number of that.
    #[inline]
    pub(crate) fn pop(&mut self, floor: i64, places: &(impl Places + ?Sized)) -> Option<(u16, i64)> {
        let bucket = self.lowest()?;
        self.base = self.base.max(floor.min(bucket));
        Some((self.take(Self::slot(bucket), places), bucket))
    }

    /// Takes the first entry of the highest bucket, with the number of that.
    pub(crate) fn pop_highest(&mut self, places: &(impl Places + ?Sized)) -> Option<(u16, i64)> {
        let bucket = (0..N as i64).rev().map(|n| self.base + n).find(|&n| self.used >> Self::slot(n) & 1 == 1)?;
        Some((self.take(Self::slot(bucket), places), bucket))
    }

    #[inline]
    fn take(&mut self, at: usize, places: &(impl Places + ?Sized)) -> u16 {
        let entry = self.first[at];
        if entry == self.last[at] {
            self.used &= !(1 << at);
        } else {
            self.first[at] = places.of(entry).after;
        }
        entry
    }

    /// Takes out `entry`, wherever it is.
    pub(crate) fn remove(&mut self, entry: u16, places: &mut (impl Places + ?Sized)) {
        let Place { after, before, slot } = *places.of(entry);
        let at = usize::from(slot);
        if self.first[at] == entry {
            self.take(at, places);
        } else if self.last[at] == entry {
            self.last[at] = before;
        } else {
            places.of_mut(before).after = after;
            places.of_mut(after).before = before;
        }
    }

    /// Puts back `entry`, which came out of bucket `popped` and is due in the later `bucket`. A ring that does not reach there
    /// moves on as far as it has to, by half its length at most: what comes below it later loses its order.
    pub(crate) fn defer(&mut self, entry: u16, bucket: i64, popped: i64, places: &mut (impl Places + ?Sized)) {
        self.base = self.base.max(Self::reaching(bucket, popped));
        self.push(entry, bucket, self.base, places);
    }

    /// The base with which a ring has a place for `bucket`, or half a ring beyond `popped` if that comes first.
    #[inline]
    fn reaching(bucket: i64, popped: i64) -> i64 {
        (bucket + 1 - N as i64).min(popped - N as i64 / 2)
    }

    /// The entry that comes out first when those that do not `count` are thrown away, and those whose `bucket` is a later
    /// one are deferred.
    pub(crate) fn first(
        &self,
        floor: i64,
        places: &(impl Places + ?Sized),
        counts: impl Fn(u16) -> bool,
        bucket: impl Fn(u16) -> i64,
    ) -> Option<u16> {
        let mut deferred: Vec<(i64, u16)> = Vec::new();
        let (mut base, mut from) = (self.base, self.base);
        loop {
            let own = (from..self.base + N as i64).find(|&n| self.used >> Self::slot(n) & 1 == 1);
            let at = own.into_iter().chain(deferred.iter().map(|&(at, _)| at)).min()?;
            let mut list = Vec::new();
            if own == Some(at) {
                let slot = Self::slot(at);
                let mut entry = self.first[slot];
                list.push(entry);
                while entry != self.last[slot] {
                    entry = places.of(entry).after;
                    list.push(entry);
                }
            }
            list.extend(deferred.iter().filter(|&&(n, _)| n == at).map(|&(_, entry)| entry));
            deferred.retain(|&(n, _)| n != at);
            base = base.max(floor.min(at));
            for entry in list.into_iter().filter(|&entry| counts(entry)) {
                if bucket(entry) <= at {
                    return Some(entry);
                }
                base = base.max(Self::reaching(bucket(entry), at));
                deferred.push((bucket(entry).min(base + N as i64 - 1), entry));
            }
            from = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Places for [Place] {
        fn of(&self, entry: u16) -> &Place {
            &self[entry as usize]
        }

        fn of_mut(&mut self, entry: u16) -> &mut Place {
            &mut self[entry as usize]
        }
    }

    /// Entries that come, go and are taken out beside a list that is searched: they come no lower than eight buckets below the
    /// last that went, some of them beyond the ring.
    fn agrees_with_a_search<const N: usize>(steps: &[(i64, u8)]) {
        let (mut ring, mut places) = (TagRing::<N>::default(), vec![Place::default(); steps.len()]);
        let (mut list, mut low): (Vec<(i64, u16)>, i64) = (Vec::new(), 0);
        let mut tags = vec![0; steps.len()];
        for (entry, &(ahead, what)) in (0..).zip(steps) {
            if what == 2 && !list.is_empty() {
                let (_, entry) = list.remove(ahead as usize % list.len());
                ring.remove(entry, &mut places[..]);
            } else if what == 1 {
                let expected = list.iter().map(|&(tag, _)| tag).min();
                let told = ring.first(low, &places[..], |_| true, |entry| tags[entry as usize]);
                let taken = loop {
                    let Some((entry, bucket)) = ring.pop(low, &places[..]) else { break None };
                    let tag = tags[entry as usize];
                    if tag <= bucket {
                        break Some(entry);
                    }
                    ring.defer(entry, tag, bucket, &mut places[..]);
                };
                assert_eq!(taken.map(|entry| tags[entry as usize]), expected);
                assert_eq!(taken, told);
                list.retain(|&(_, entry)| Some(entry) != taken);
                low = low.max(expected.unwrap_or(0) - 8);
            } else {
                let tag = low + ahead;
                tags[entry as usize] = tag;
                ring.push(entry, tag, low, &mut places[..]);
                list.push((tag, entry));
            }
        }
    }

    proptest! {
        #[test]
        fn the_lowest_tag_comes_out_as_a_search_would_find_it(
            steps in prop::collection::vec((prop_oneof![8 => 0..12_i64, 1 => 0..300_i64], 0..4_u8), 0..300)
        ) {
            agrees_with_a_search::<16>(&steps);
            agrees_with_a_search::<64>(&steps);
        }
    }

    /// One entry was charged where it is; those that come behind it, one lower than the other, are in order all the same.
    #[test]
    fn who_comes_as_low_as_the_floor_keeps_its_order_after_an_entry_was_deferred() {
        let (mut ring, mut places) = (TagRing::<64>::default(), [Place::default(); 3]);
        let (floor, tags) = (40, [101, 60, 45]);
        ring.push(0, 100, floor, &mut places[..]);
        assert_eq!(ring.pop(floor, &places[..]), Some((0, 100)));
        ring.defer(0, tags[0], 100, &mut places[..]);
        (1..3).for_each(|entry| ring.push(entry, tags[usize::from(entry)], floor, &mut places[..]));
        let taken: Vec<_> = std::iter::from_fn(|| ring.pop(floor, &places[..])).collect();
        assert_eq!(taken, [(2, 45), (1, 60), (0, 101)]);
    }

    #[test]
    fn the_highest_bucket_gives_its_first_entry() {
        let (mut ring, mut places) = (TagRing::<16>::default(), [Place::default(); 8]);
        for (entry, bucket) in [(0, 5), (1, 9), (2, 9), (3, 40)] {
            ring.push(entry, bucket, 0, &mut places[..]);
        }
        let taken: Vec<_> = std::iter::from_fn(|| ring.pop_highest(&places[..])).map(|(entry, _)| entry).collect();
        assert_eq!(taken, [3, 1, 2, 0]);
    }
}
