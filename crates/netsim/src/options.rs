//! Options of the segments under way: selective acknowledgements (RFC 2018), timestamps (RFC 7323), counts of marks
//! (RFC 9768); and what packets of QUIC carry.
//!
//! Principle: a packet is copied often and most carry none, so it has an index into a slab. Who takes the packet
//! from the network gives the place back: the host it reaches, the queue that drops it, or the port that finds
//! its connection gone. Cost: O(1), no allocation once the slab holds as many as are ever under way.

use qdisc::Ecn;
use units::Time;

use crate::slab::Slab;
use crate::tcp::accurate::report::AccEcnReport;
use crate::wire::frames::Frames;

/// SACK blocks of one segment at most: 40 bytes of options hold 4, beside timestamps 3 (RFC 2018, 3).
pub(crate) const MOST_BLOCKS: usize = 4;

/// No window: the one that all settings of a transport have.
pub(crate) const UNTOLD: u32 = u32::MAX;

/// Sequence numbers from the first to before the second.
pub(crate) type Block = (u32, u32);

/// Options of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentOptions {
    /// SACK blocks, the most recent first; the first `count` are in use.
    blocks: [Block; MOST_BLOCKS],
    count: u8,
    /// ECE of an acknowledgement that rides on data (RFC 8257, 3.2).
    pub(crate) echo: bool,
    /// PSH: the sender had no more to send at once, as far as it goes.
    pub(crate) pushed: bool,
    /// The answer to a SYN.
    pub(crate) syn: bool,
    /// Window of the end that acknowledges, bytes; [`UNTOLD`] where it is constant.
    pub(crate) window: u32,
    /// Acknowledgement that rides on data; 0 for none.
    pub(crate) ack: u32,
    /// The payload before it, bytes.
    pub(crate) ack_bytes: u64,
    /// TSval: when the segment was sent.
    pub(crate) stamp: Time,
    /// TSecr: the TSval the receiver answers.
    pub(crate) echoed: Time,
    /// Marked segments that have come in, in all (RFC 9768, 3.2: the counter behind the ACE field).
    pub(crate) marks: u32,
    /// What accurate ECN tells, and how the segment came (RFC 9768).
    pub(crate) told: Option<AccEcnReport>,
}

impl Default for SegmentOptions {
    #[inline]
    fn default() -> SegmentOptions {
        SegmentOptions {
            blocks: [(0, 0); MOST_BLOCKS],
            count: 0,
            echo: false,
            pushed: false,
            syn: false,
            window: UNTOLD,
            ack: 0,
            ack_bytes: 0,
            stamp: Time::ZERO,
            echoed: Time::ZERO,
            marks: 0,
            told: None,
        }
    }
}

impl SegmentOptions {
    /// Of a segment sent at `stamp`.
    #[inline]
    pub(crate) fn stamped(stamp: Time) -> SegmentOptions {
        SegmentOptions { stamp, ..SegmentOptions::default() }
    }

    /// Of an acknowledgement that answers `stamp`.
    #[inline]
    pub(crate) fn echoing(stamp: Time) -> SegmentOptions {
        SegmentOptions { echoed: stamp, ..SegmentOptions::default() }
    }

    /// These, and what accurate ECN tells.
    #[inline]
    pub(crate) fn telling(self, told: Option<AccEcnReport>) -> SegmentOptions {
        SegmentOptions { told, ..self }
    }

    /// Adds a block; false when there is no room.
    #[inline]
    pub(crate) fn push(&mut self, block: Block) -> bool {
        let room = (self.count as usize) < MOST_BLOCKS;
        if room {
            self.blocks[self.count as usize] = block;
            self.count += 1;
        }
        room
    }

    #[inline]
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[..self.count as usize]
    }
}

/// Contents of a packet that its header does not hold: options of a segment, or frames of QUIC.
#[derive(Clone, Copy)]
pub(crate) struct Contents<'a> {
    pub(crate) options: Option<&'a SegmentOptions>,
    pub(crate) frames: Option<&'a Frames>,
}

/// Options of all segments under way.
#[derive(Debug)]
pub(crate) struct Options {
    /// `Packet::options` is the slot plus one.
    slab: Slab<SegmentOptions>,
    /// Of QUIC: `Packet::options` is the slot with [`QUIC`].
    frames: Slab<Frames>,
    held: u32,
}

/// Bit of [`qdisc::Packet::options`] that says what it is an index of.
const QUIC: u32 = 1 << 31;

impl Options {
    pub(crate) fn none() -> Options {
        Options { slab: Slab::empty(), frames: Slab::empty(), held: 0 }
    }

    /// Keeps `options` and gives the index for [`qdisc::Packet::options`].
    #[inline]
    pub(crate) fn keep(&mut self, options: SegmentOptions) -> u32 {
        let slot = self.slab.claim(SegmentOptions::default);
        *self.slab.at(slot) = options;
        self.held += 1;
        slot as u32 + 1
    }

    /// The options of a packet with index `index`, if it has any.
    #[inline]
    pub(crate) fn of(&mut self, index: u32) -> Option<&mut SegmentOptions> {
        (index > 0 && index & QUIC == 0).then(|| self.slab.at(index as usize - 1))
    }

    /// Keeps what a packet of QUIC carries, and gives the index for [`qdisc::Packet::options`].
    pub(crate) fn keep_frames(&mut self, frames: Frames) -> u32 {
        let slot = self.frames.claim(Frames::default);
        *self.frames.at(slot) = frames;
        self.held += 1;
        slot as u32 | QUIC
    }

    /// Options or frames of the packet with index `index`.
    pub(crate) fn contents(&mut self, index: u32) -> Contents<'_> {
        let (options, frames) = (&mut self.slab, &mut self.frames);
        let place = (index & !QUIC) as usize;
        match (index, index & QUIC > 0) {
            (0, _) => Contents { options: None, frames: None },
            (_, true) => Contents { options: None, frames: Some(&*frames.at(place)) },
            (_, false) => Contents { options: Some(&*options.at(place - 1)), frames: None },
        }
    }

    /// Takes what the packet of QUIC with index `index` carries, and with it its place.
    pub(crate) fn take_frames(&mut self, index: u32) -> Option<Frames> {
        (index & QUIC > 0).then(|| {
            let frames = std::mem::take(self.frames.at((index & !QUIC) as usize));
            self.release(index);
            frames
        })
    }

    /// The network marked the packet with index `index`.
    #[inline]
    pub(crate) fn mark(&mut self, index: u32) {
        if let Some(told) = self.of(index).and_then(|options| options.told.as_mut()) {
            told.ecn = Ecn::Ce;
        }
    }

    /// What accurate ECN tells with the packet with index `index`.
    #[inline]
    pub(crate) fn told(&mut self, index: u32) -> Option<AccEcnReport> {
        self.of(index).and_then(|options| options.told)
    }

    /// Takes the options out of the network, with their packet.
    #[inline]
    pub(crate) fn release(&mut self, index: u32) {
        if index & QUIC > 0 {
            self.frames.release((index & !QUIC) as usize);
            self.held -= 1;
        } else if index > 0 {
            self.slab.release(index as usize - 1);
            self.held -= 1;
        }
    }

    /// Segments under way that have options.
    pub(crate) fn held(&self) -> u32 {
        self.held
    }

    /// Places in memory, used or not.
    #[cfg(test)]
    pub(crate) fn places(&mut self) -> usize {
        self.slab.iter_mut().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_given_back_is_used_again() {
        let mut options = Options::none();
        let stamped = |ms| SegmentOptions { stamp: Time::from_millis(ms), ..SegmentOptions::default() };
        let (first, second) = (options.keep(stamped(1)), options.keep(stamped(2)));
        assert_eq!((options.of(first).copied(), options.of(0)), (Some(stamped(1)), None));
        options.release(first);
        options.release(0);
        let third = options.keep(stamped(3));
        assert_eq!((third, options.held(), options.places()), (first, 2, 2));
        assert_eq!(options.of(second).copied(), Some(stamped(2)));
    }

    /// They are copied with every segment that has any: a line and a half of the cache, of which accurate ECN takes 24 bytes.
    #[test]
    fn options_take_96_bytes() {
        assert_eq!(size_of::<SegmentOptions>(), 96);
    }

    #[test]
    fn a_segment_has_room_for_four_blocks() {
        let mut options = SegmentOptions::default();
        for n in 0..4 {
            assert!(options.push((n, n + 1)));
        }
        assert!(!options.push((9, 10)));
        assert_eq!(options.blocks(), [(0, 1), (1, 2), (2, 3), (3, 4)]);
    }
}
