//! A set of numbers as ranges in order: bytes of a stream, numbers of packets.
//!
//! Cost: O(log n) to find a range, O(n) to put one in the middle; n is small but after losses.

/// Numbers, as ranges from the first to before the second, ascending and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    list: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds all from `start` to before `end`: how many of them are new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // Most come in order.
        if let Some(last) = self.list.last_mut()
            && last.1 == start
        {
            last.1 = end;
            return end - start;
        }
        // Those that touch or overlap become one.
        let first = self.list.partition_point(|range| range.1 < start);
        let behind = self.list.partition_point(|range| range.0 <= end);
        let before: u64 = self.list[first..behind].iter().map(|range| range.1 - range.0).sum();
        let merged = match (self.list.get(first), behind > first) {
            (Some(left), true) => (left.0.min(start), self.list[behind - 1].1.max(end)),
            _ => (start, end),
        };
        self.list.splice(first..behind, [merged]);
        merged.1 - merged.0 - before
    }

    /// Whether `number` is in it.
    pub(super) fn holds(&self, number: u64) -> bool {
        let place = self.list.partition_point(|range| range.1 <= number);
        self.list.get(place).is_some_and(|range| range.0 <= number)
    }

    /// How many there are from 0 on without a gap.
    pub(super) fn in_order(&self) -> u64 {
        self.list.first().filter(|range| range.0 == 0).map_or(0, |range| range.1)
    }

    /// What lies between `start` and `end` and is not in it.
    pub(super) fn gaps(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let place = self.list.partition_point(|range| range.1 <= start);
        let mut from = start;
        let inside = self.list[place..].iter().take_while(move |range| range.0 < end);
        let bounds = inside.copied().chain([(end, end)]);
        bounds.filter_map(move |(left, right)| {
            let gap = (from, left.min(end));
            from = right;
            (gap.0 < gap.1).then_some(gap)
        })
    }

    /// The ranges, ascending.
    pub(super) fn list(&self) -> &[(u64, u64)] {
        &self.list
    }

    /// Leaves the `most` highest ranges: the lowest number that is left, if any had to go.
    pub(super) fn keep_highest(&mut self, most: usize) -> Option<u64> {
        let gone = self.list.len().checked_sub(most).filter(|&gone| gone > 0)?;
        self.list.drain(..gone);
        self.list.first().map(|range| range.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Stream;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut ranges = Ranges::default();
        assert_eq!([ranges.insert(10, 20), ranges.insert(30, 40), ranges.insert(20, 30)], [10, 10, 10]);
        assert_eq!(ranges.list(), [(10, 40)]);
        assert_eq!((ranges.insert(0, 50), ranges.in_order()), (20, 50));
    }

    /// Against a set of bits.
    #[test]
    fn random_ranges_agree_with_a_list_of_all_numbers() {
        let mut draws = Stream::named(7, "ranges");
        let mut draw = |below: u64| (draws.uniform() * below as f64) as u64;
        for _ in 0..200 {
            let (mut ranges, mut all) = (Ranges::default(), [false; 100]);
            for _ in 0..12 {
                let start = draw(90);
                let end = start + draw(12);
                let fresh = (start..end.min(100)).filter(|&n| !std::mem::replace(&mut all[n as usize], true)).count();
                assert_eq!(ranges.insert(start, end.min(100)), fresh as u64);
                let (from, to) = (draw(50), 50 + draw(50));
                let gaps: u64 = ranges.gaps(from, to).map(|(left, right)| right - left).sum();
                assert_eq!(gaps, (from..to).filter(|&n| !all[n as usize]).count() as u64);
                assert!((0..100).all(|n| ranges.holds(n) == all[n as usize]));
                assert_eq!(ranges.in_order(), all.iter().take_while(|&&held| held).count() as u64);
                assert!(ranges.list().windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
