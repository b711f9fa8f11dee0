//! What selective acknowledgements have told the sender (RFC 6675).
//!
//! Principle: segments stand for the RFC's octets, and the third-highest SACKed one bounds the lost ones, since
//! everything below it that is not SACKed has three SACKed segments above it (`IsLost`). That bound and two counts
//! give `pipe` without a walk. Runs that were walked once are not walked again: those of the blocks that came last, and the
//! one before the next hole. Cost: O(1) per segment over its life, O(flight / 64) to look for the last hole; no memory
//! before the first hole, and then a bit per segment of the largest flight that had one. Source: RFC 6675, sections 3 to 5.

use crate::options::{Block, MOST_BLOCKS};
use crate::prefetch;
use crate::tcp::ring::Ring;

/// SACKed segments above a hole that mean it is lost (RFC 6675, 2: `DupThresh`).
pub(crate) const DUP_THRESH: usize = 3;

/// What every acknowledgement reads comes first.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    /// Segments in `sacked`.
    count: u32,
    /// Segments below `repeated_below`, neither acknowledged nor SACKed.
    repeated: u32,
    /// The highest SACKed numbers, falling; those already acknowledged in full may be among them.
    highest: [u32; DUP_THRESH],
    /// One above `HighRxt`, the highest number repeated in this recovery.
    repeated_below: u32,
    /// None before the first block.
    runs: Option<Box<Runs>>,
}

/// What a sender that was told of holes remembers.
#[derive(Debug, Default)]
struct Runs {
    sacked: Ring,
    /// The run that ends at the hole found last.
    walked: Block,
    /// One above `RescueRxt`, in a recovery.
    rescued_below: u32,
    /// Runs in `sacked`, or acknowledged since: those that blocks told of last, the most recent first.
    told: [Block; MOST_BLOCKS],
}

/// What [`Scoreboard::next`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Rules 1 and 3: a hole to fill.
    Hole(u32),
    /// Rule 2: data that was never sent.
    Fresh,
    /// Rule 4: the last hole, in case the retransmission of what is above the others was lost.
    Rescue(u32),
    /// None of the rules.
    Nothing,
}

impl Scoreboard {
    /// Forgets everything but its memory: a timeout (RFC 6675, 5.1).
    pub(crate) fn clear(&mut self) {
        let mut runs = self.runs.take();
        // Where nothing is SACKed, what is remembered is of what was acknowledged.
        if let Some(runs) = runs.as_mut().filter(|_| self.count > 0) {
            runs.sacked.clear();
            **runs = Runs { sacked: std::mem::take(&mut runs.sacked), ..Runs::default() };
        }
        *self = Scoreboard { runs, ..Scoreboard::default() };
    }

    /// `Update()` with one block: how many segments from `una` to before `max` it SACKs that were not yet.
    /// Each of them is given to `found`.
    pub(crate) fn update(&mut self, (left, right): Block, una: u32, max: u32, mut found: impl FnMut(u32)) -> u32 {
        let (mut seq, end) = (left.max(una), right.min(max));
        if seq >= end {
            return 0;
        }
        let before = self.count;
        let mut runs = self.runs.take().unwrap_or_default();
        let place = runs.told.iter().position(|&(from, to)| from <= seq && seq <= to);
        let (from, to) = place.map_or((seq, seq), |place| runs.told[place]);
        seq = to;
        while seq < end {
            seq = runs.sacked.run_end(seq, end);
            if seq < end {
                runs.sacked.add(seq, una);
                self.repeated -= u32::from(seq < self.repeated_below);
                self.add(seq);
                found(seq);
                seq += 1;
            }
        }
        runs.told[..=place.unwrap_or(MOST_BLOCKS - 1)].rotate_right(1);
        runs.told[0] = (from, seq);
        self.runs = Some(runs);
        self.count - before
    }

    fn add(&mut self, seq: u32) {
        self.count += 1;
        let place = self.highest.iter().position(|&other| other < seq).unwrap_or(DUP_THRESH);
        if place < DUP_THRESH {
            self.highest[place..].rotate_right(1);
            self.highest[place] = seq;
        }
    }

    /// All before `ack` is acknowledged, of which `una` was the first that was not.
    #[inline]
    pub(crate) fn advance(&mut self, una: u32, ack: u32) {
        if (self.count > 0 || self.repeated > 0)
            && let Some(runs) = &mut self.runs
        {
            let split = self.repeated_below.clamp(una, ack);
            let below = runs.sacked.take_all(una, split);
            self.repeated -= split - una - below;
            self.count -= below + runs.sacked.take_all(split, ack);
        }
    }

    /// Whether `seq`, not yet acknowledged, is SACKed.
    #[inline]
    pub(crate) fn is_sacked(&self, seq: u32) -> bool {
        self.count > 0 && self.runs.as_ref().is_some_and(|runs| runs.sacked.holds(seq))
    }

    /// Segments from `una` to before `ack` that are not SACKed.
    #[inline]
    pub(crate) fn missing(&self, una: u32, ack: u32) -> u32 {
        let span = ack.saturating_sub(una);
        let sacked = self.runs.as_ref().filter(|_| self.count > 0).map_or(0, |runs| runs.sacked.count(una, una + span));
        span - sacked
    }

    /// `IsLost()` of the first segment that is not acknowledged.
    #[inline]
    pub(crate) fn is_first_lost(&self, una: u32) -> bool {
        self.highest[DUP_THRESH - 1] > una
    }

    /// What is below this number and not SACKed is lost (`IsLost()`).
    #[inline]
    pub(crate) fn lost_below(&self) -> u32 {
        self.highest[DUP_THRESH - 1]
    }

    /// Asks for what is remembered of gaps.
    #[inline]
    pub(crate) fn ask_for_runs(&self) {
        self.runs.as_deref().into_iter().for_each(prefetch::value);
    }

    /// `SetPipe()`: segments in the network, of those from `una` to before `max`.
    #[inline]
    pub(crate) fn pipe(&self, una: u32, max: u32) -> u32 {
        let lost_below = self.highest[DUP_THRESH - 1];
        let not_lost = if lost_below > una { max - lost_below - DUP_THRESH as u32 } else { max - una - self.count };
        not_lost + self.repeated
    }

    /// Recovery begins with the retransmission of `una` (RFC 6675, 5, step 4.3).
    pub(crate) fn begin_recovery(&mut self, una: u32) {
        (self.repeated_below, self.repeated) = (una + 1, 1);
        self.runs.get_or_insert_default().rescued_below = una + 1;
    }

    /// Outside recovery nothing counts as repeated (RFC 6675, 5, steps 3.1 and A).
    pub(crate) fn end_recovery(&mut self) {
        (self.repeated_below, self.repeated) = (0, 0);
    }

    /// `NextSeg()` while `una` is the first segment not acknowledged and `max` the first never sent; `fresh`
    /// whether it may be.
    pub(crate) fn next(&mut self, una: u32, max: u32, fresh: bool) -> Next {
        let runs = self.runs.get_or_insert_default();
        let from = self.repeated_below.max(una);
        let walked = runs.walked.0 <= from && from <= runs.walked.1;
        let begin = if walked { runs.walked.1 } else { from };
        let hole = runs.sacked.run_end(begin, max);
        runs.walked = (from, hole);
        if hole < self.highest[DUP_THRESH - 1] {
            Next::Hole(hole)
        } else if fresh {
            Next::Fresh
        } else if hole < self.highest[0] {
            Next::Hole(hole)
        } else if una > runs.rescued_below && una < max {
            Next::Rescue(runs.sacked.run_start(max, una) - 1)
        } else {
            Next::Nothing
        }
    }

    /// `seq`, a hole that [`Scoreboard::next`] named, is sent again.
    pub(crate) fn on_repeat(&mut self, seq: u32) {
        self.repeated_below = seq + 1;
        self.repeated += 1;
    }

    /// The rescue of this recovery is sent, which ends when `recover` is reached.
    pub(crate) fn on_rescue(&mut self, recover: u32) {
        self.runs.get_or_insert_default().rescued_below = recover;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The RFC's definitions, word for word over segments.
    #[derive(Default)]
    struct Literal {
        sacked: BTreeSet<u32>,
        una: u32,
        max: u32,
        /// `HighRxt` and `RescueRxt`.
        high_rxt: Option<u32>,
        rescue_rxt: u32,
    }

    impl Literal {
        fn is_lost(&self, seq: u32) -> bool {
            self.sacked.range(seq + 1..).count() >= DUP_THRESH
        }

        fn holes(&self) -> impl Iterator<Item = u32> + '_ {
            (self.una..self.max).filter(|seq| !self.sacked.contains(seq))
        }

        fn pipe(&self) -> u32 {
            let repeated = |seq| self.high_rxt.is_some_and(|high| seq <= high);
            self.holes().map(|seq| u32::from(!self.is_lost(seq)) + u32::from(repeated(seq))).sum()
        }

        fn next(&self, fresh: bool) -> Next {
            let highest = self.sacked.last().copied().unwrap_or(0);
            let above = |&seq: &u32| self.high_rxt.is_none_or(|high| seq > high) && seq < highest;
            if let Some(seq) = self.holes().find(|seq| above(seq) && self.is_lost(*seq)) {
                Next::Hole(seq)
            } else if fresh {
                Next::Fresh
            } else if let Some(seq) = self.holes().find(above) {
                Next::Hole(seq)
            } else if self.una > self.rescue_rxt + 1 {
                self.holes().last().map_or(Next::Nothing, Next::Rescue)
            } else {
                Next::Nothing
            }
        }
    }

    /// Random traffic: a window of up to 200 segments, of which any may come, in any order.
    #[test]
    fn pipe_and_next_segment_are_those_of_the_rfc() {
        let mut state = 1_u64;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(below.max(1))) as u32
        };
        let (mut board, mut rfc) = (Scoreboard::default(), Literal { una: 1, max: 1, ..Literal::default() });
        let mut recover = None;
        let (mut holes, mut rescues) = (0, 0);
        for step in 0..50_000 {
            match draw(4) {
                0 | 1 => rfc.max += draw(8).min(rfc.una + 200 - rfc.max),
                2 if rfc.max > rfc.una + 1 => {
                    let left = rfc.una + 1 + draw(rfc.max - rfc.una - 1);
                    let right = (left + 1 + draw(6)).min(rfc.max);
                    board.update((left, right), rfc.una, rfc.max, |seq| {
                        assert!(!rfc.sacked.contains(&seq), "{seq} twice")
                    });
                    rfc.sacked.extend(left..right);
                }
                3 if draw(3) == 0 && rfc.max > rfc.una => {
                    // The receiver acknowledges up to its first gap.
                    let to = rfc.una + 1 + draw((rfc.max - rfc.una).min(10));
                    let ack = (to..=rfc.max).find(|seq| !rfc.sacked.contains(seq)).unwrap_or(rfc.max);
                    board.advance(rfc.una, ack);
                    rfc.una = ack;
                    rfc.sacked = rfc.sacked.split_off(&ack);
                    if recover.is_some_and(|recover| ack >= recover) {
                        recover = None;
                        board.end_recovery();
                        rfc.high_rxt = None;
                    }
                }
                _ => {}
            }
            assert_eq!(board.is_first_lost(rfc.una), rfc.una < rfc.max && rfc.is_lost(rfc.una), "step {step}");
            if recover.is_none() && board.is_first_lost(rfc.una) {
                recover = Some(rfc.max);
                board.begin_recovery(rfc.una);
                (rfc.high_rxt, rfc.rescue_rxt) = (Some(rfc.una), rfc.una);
            }
            assert_eq!(board.pipe(rfc.una, rfc.max), rfc.pipe(), "step {step}");
            let Some(recover) = recover else { continue };
            let next = board.next(rfc.una, rfc.max, draw(3) == 0);
            if next != Next::Fresh {
                assert_eq!(next, rfc.next(false), "step {step}");
            }
            match next {
                Next::Hole(seq) => {
                    board.on_repeat(seq);
                    rfc.high_rxt = Some(seq);
                    holes += 1;
                }
                Next::Rescue(_) => {
                    board.on_rescue(recover);
                    rfc.rescue_rxt = recover - 1;
                    rescues += 1;
                }
                Next::Fresh | Next::Nothing => {}
            }
            assert_eq!(board.pipe(rfc.una, rfc.max), rfc.pipe(), "step {step}, after {next:?}");
        }
        assert!(holes > 1000 && rescues > 10, "{holes} holes filled, {rescues} rescues");
    }
}
