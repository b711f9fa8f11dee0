//! A set of sequence numbers from a window, as a ring of bits.

/// Sequence numbers of which the highest and the lowest are less than a window apart.
///
/// It has as much memory as the numbers held were ever apart, a bit each, and none before the first is added.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    words: Vec<u64>,
    /// One above the highest number added since the ring was empty; numbers from here on share their bits with others.
    beyond: u32,
}

/// Words of a ring of the widest window there is, and more.
const MOST_WORDS: usize = 1 << 20;

impl Ring {
    #[inline]
    fn word(&self, seq: u32) -> usize {
        (seq as usize / 64) & (self.words.len() - 1)
    }

    #[inline]
    pub(crate) fn holds(&self, seq: u32) -> bool {
        seq < self.beyond && self.words[self.word(seq)] >> (seq % 64) & 1 == 1
    }

    /// Adds `seq`, while no number below `lowest` is held or will be added: whether it is new.
    #[inline]
    pub(crate) fn add(&mut self, seq: u32, lowest: u32) -> bool {
        let span = seq as usize / 64 - lowest as usize / 64 + 1;
        if span > self.words.len() {
            self.grow(span, lowest);
        }
        self.beyond = self.beyond.max(seq + 1);
        let (word, bit) = (self.word(seq), 1 << (seq % 64));
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        fresh
    }

    /// Makes room for `span` words from that of `lowest` on.
    #[cold]
    fn grow(&mut self, span: usize, lowest: u32) {
        let old = std::mem::take(&mut self.words);
        let first = lowest as usize / 64;
        let end = (self.beyond as usize).div_ceil(64).min(first + old.len());
        self.words = vec![0; span.next_power_of_two().min(MOST_WORDS).max(old.len())];
        let mask = self.words.len() - 1;
        for word in first..end {
            self.words[word & mask] = old[word & (old.len() - 1)];
        }
    }

    /// Takes `seq` out; whether it was held.
    #[inline]
    pub(crate) fn take(&mut self, seq: u32) -> bool {
        if seq >= self.beyond {
            return false;
        }
        let (word, bit) = (self.word(seq), 1 << (seq % 64));
        let held = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        held
    }

    /// Takes those from `start` to before `end` out: how many were held.
    #[inline]
    pub(crate) fn take_all(&mut self, start: u32, end: u32) -> u32 {
        let mut taken = 0;
        for (seq, bits) in parts(start, end.min(self.beyond)) {
            let word = self.word(seq);
            taken += (self.words[word] & bits).count_ones();
            self.words[word] &= !bits;
        }
        taken
    }

    /// How many are held of those from `start` to before `end`.
    pub(crate) fn count(&self, start: u32, end: u32) -> u32 {
        let held = |(seq, bits): (u32, u64)| (self.words[self.word(seq)] & bits).count_ones();
        parts(start, end.min(self.beyond)).map(held).sum()
    }

    pub(crate) fn clear(&mut self) {
        if self.beyond > 0 {
            self.words.fill(0);
            self.beyond = 0;
        }
    }

    /// First number from `seq` on that is not held, at most `end`.
    #[inline]
    pub(crate) fn run_end(&self, mut seq: u32, end: u32) -> u32 {
        let last = end.min(self.beyond);
        while seq < last {
            let ones = (self.words[self.word(seq)] >> (seq % 64)).trailing_ones();
            seq += ones;
            // The run goes on in the next word only if it filled this one to its end.
            if ones == 0 || !seq.is_multiple_of(64) {
                break;
            }
        }
        seq.min(end)
    }

    /// First number of the run that ends before `seq`, at least `start`: `seq` itself if the one before it is not
    /// held.
    #[inline]
    pub(crate) fn run_start(&self, mut seq: u32, start: u32) -> u32 {
        if seq > self.beyond {
            return seq.max(start);
        }
        while seq > start {
            let last = seq - 1;
            let ones = (self.words[self.word(last)] << (63 - last % 64)).leading_ones();
            seq -= ones;
            if ones == 0 || !seq.is_multiple_of(64) {
                break;
            }
        }
        seq.max(start)
    }
}

/// The numbers from `start` to before `end` by words: the first of each, and the bits that are among them.
#[inline]
fn parts(start: u32, end: u32) -> impl Iterator<Item = (u32, u64)> {
    let mut seq = start;
    std::iter::from_fn(move || {
        (seq < end).then(|| {
            let first = seq;
            let count = (64 - first % 64).min(end - first);
            seq += count;
            (first, (u64::MAX >> (64 - count)) << (first % 64))
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn runs_are_found_across_words_and_around_the_end_of_the_ring() {
        let mut ring = Ring::default();
        for seq in 1000..1180 {
            assert!(ring.add(seq, 1000));
            assert!(!ring.add(seq, 1000));
        }
        assert_eq!((ring.run_end(1000, 2000), ring.run_end(1010, 1100), ring.run_end(999, 1100)), (1180, 1100, 999));
        assert_eq!((ring.run_start(1180, 0), ring.run_start(1150, 1064), ring.run_start(1181, 0)), (1000, 1064, 1181));
        assert!(ring.take(1100) && !ring.take(1100) && !ring.holds(1100) && ring.holds(1101));
        assert_eq!((ring.run_end(1000, 2000), ring.run_start(1180, 0)), (1100, 1101));
        // One bit at a time agrees.
        for seq in 1000..1180 {
            let slow_end = (seq..1180).find(|&s| !ring.holds(s)).unwrap_or(1180);
            let slow_start = (1000..seq).rev().find(|&s| !ring.holds(s)).map_or(1000, |s| s + 1);
            assert_eq!((ring.run_end(seq, 1180), ring.run_start(seq, 1000)), (slow_end, slow_start), "{seq}");
        }
    }

    /// Windows that move and widen, at random, against a set: what is held, runs and counts, also beyond all that was added.
    #[test]
    fn a_ring_that_grows_holds_what_a_set_holds() {
        let mut state = 7_u64;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(below.max(1))) as u32
        };
        let (mut ring, mut held, mut lowest) = (Ring::default(), BTreeSet::new(), 0);
        for step in 0..20_000_u32 {
            let window = 1 + step / 20;
            match draw(8) {
                0 => {
                    let to = lowest + draw(window / 2 + 2);
                    let gone = held.range(lowest..to).count() as u32;
                    assert_eq!((ring.count(lowest, to), ring.take_all(lowest, to)), (gone, gone), "step {step}");
                    held = held.split_off(&to);
                    lowest = to;
                }
                1 if draw(200) == 0 => {
                    ring.clear();
                    held.clear();
                }
                2 => {
                    let seq = lowest + draw(window);
                    assert_eq!(ring.take(seq), held.remove(&seq), "step {step}");
                }
                _ => {
                    let seq = lowest + draw(window);
                    assert_eq!(ring.add(seq, lowest), held.insert(seq), "step {step}");
                }
            }
            let seq = lowest + draw(2 * window);
            let end = seq + draw(window);
            assert_eq!(ring.holds(seq), held.contains(&seq), "step {step}");
            assert_eq!(ring.run_end(seq, end), (seq..end).find(|s| !held.contains(s)).unwrap_or(end), "step {step}");
            let start = (lowest..end).rev().find(|s| !held.contains(s)).map_or(lowest, |s| s + 1);
            assert_eq!(ring.run_start(end, lowest), start, "step {step}");
        }
        // Twice the words that the widest window spans, at most.
        assert!(ring.words.len() <= 32, "{} words", ring.words.len());
    }
}
