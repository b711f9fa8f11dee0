//! A set of sequence numbers from a window, as a ring of bits.

/// Sequence numbers of which the highest and the lowest are less than a window apart.
#[derive(Debug)]
pub(crate) struct Ring {
    words: Vec<u64>,
}

impl Ring {
    /// Room for windows of up to `window` segments and the two control segments around the data.
    pub(crate) fn of(window: u32) -> Ring {
        Ring { words: vec![0; (window as usize + 2).next_power_of_two().max(64) / 64] }
    }

    /// Without memory: holds nothing, and must not be given anything to hold.
    pub(crate) fn none() -> Ring {
        Ring { words: Vec::new() }
    }

    #[inline]
    fn word(&self, seq: u32) -> usize {
        (seq as usize / 64) & (self.words.len() - 1)
    }

    #[inline]
    pub(crate) fn holds(&self, seq: u32) -> bool {
        self.words[self.word(seq)] >> (seq % 64) & 1 == 1
    }

    /// Adds `seq`; whether it is new.
    #[inline]
    pub(crate) fn add(&mut self, seq: u32) -> bool {
        let (word, bit) = (self.word(seq), 1 << (seq % 64));
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        fresh
    }

    /// Takes `seq` out; whether it was held.
    #[inline]
    pub(crate) fn take(&mut self, seq: u32) -> bool {
        let (word, bit) = (self.word(seq), 1 << (seq % 64));
        let held = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        held
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// First number from `seq` on that is not held, at most `end`.
    #[inline]
    pub(crate) fn run_end(&self, mut seq: u32, end: u32) -> u32 {
        while seq < end {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_across_words_and_around_the_end_of_the_ring() {
        let mut ring = Ring::of(200);
        for seq in 1000..1180 {
            assert!(ring.add(seq));
            assert!(!ring.add(seq));
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
}
