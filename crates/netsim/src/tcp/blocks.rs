//! Blocks of a receiver's selective acknowledgements (RFC 2018, section 4).
//!
//! Principle: the block of the segment that caused the acknowledgement comes first, then the others reported last,
//! so that each is repeated in several acknowledgements and the loss of one does no harm. Cost: O(1) per segment.

use crate::options::{Block, MOST_BLOCKS, SegmentOptions};

/// Blocks reported last, the most recent first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    recent: [Block; MOST_BLOCKS],
    count: usize,
}

impl Blocks {
    /// A segment came that is, with what the receiver holds around it, `block`.
    pub(crate) fn on_segment(&mut self, block: Block) {
        let mut kept = 0;
        let mut recent = [block; MOST_BLOCKS];
        for &other in &self.recent[..self.count] {
            let inside = block.0 <= other.0 && other.1 <= block.1;
            if !inside && kept + 1 < MOST_BLOCKS {
                kept += 1;
                recent[kept] = other;
            }
        }
        (self.recent, self.count) = (recent, kept + 1);
    }

    /// The block that holds `seq`, or ends before it.
    #[inline]
    pub(crate) fn around(&self, seq: u32) -> Option<Block> {
        self.recent[..self.count].iter().find(|&&(from, to)| from <= seq && seq <= to).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Blocks there are to report.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// How many blocks were reported more recently than one that `block` touches; all of them where it touches none.
    pub(crate) fn newer_than(&self, block: Block) -> usize {
        let touches = |&(from, to): &Block| from <= block.1 && block.0 <= to;
        self.recent[..self.count].iter().position(touches).unwrap_or(self.count)
    }

    /// All before `next` has come.
    #[inline]
    pub(crate) fn on_progress(&mut self, next: u32) {
        let mut kept = 0;
        for index in 0..self.count {
            if self.recent[index].0 >= next {
                self.recent[kept] = self.recent[index];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Puts as many as `room` into `options`: how many those are.
    pub(crate) fn report(&self, room: usize, options: &mut SegmentOptions) -> u32 {
        let reported = &self.recent[..self.count.min(room)];
        reported.iter().filter(|&&block| options.push(block)).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(blocks: &Blocks, room: usize) -> Vec<Block> {
        let mut options = SegmentOptions::default();
        assert_eq!(blocks.report(room, &mut options) as usize, options.blocks().len());
        options.blocks().to_vec()
    }

    #[test]
    fn the_block_of_the_last_segment_comes_first_and_swallows_those_it_joins() {
        let mut blocks = Blocks::default();
        for block in [(5, 6), (8, 9), (11, 12), (14, 15), (17, 18)] {
            blocks.on_segment(block);
        }
        assert_eq!(reported(&blocks, 4), [(17, 18), (14, 15), (11, 12), (8, 9)]);
        assert_eq!(reported(&blocks, 3), [(17, 18), (14, 15), (11, 12)]);
        blocks.on_segment((11, 15));
        assert_eq!(reported(&blocks, 4), [(11, 15), (17, 18), (8, 9)]);
        blocks.on_progress(10);
        assert_eq!(reported(&blocks, 4), [(11, 15), (17, 18)]);
        blocks.on_progress(18);
        assert_eq!(reported(&blocks, 4), []);
    }
}
