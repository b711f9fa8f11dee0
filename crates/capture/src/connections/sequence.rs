//! Distinct payload of one direction of a TCP connection.
//!
//! Sequence numbers are unwrapped to 64 bits around the highest one seen; bytes below it are new
//! only where a gap was left. Cost per segment: O(1) without gaps, O(gaps) <= [`GAPS_MAX`] with.

/// Gaps remembered per direction; the oldest is given up for lost beyond that.
const GAPS_MAX: usize = 64;
/// Largest scaled receive window (RFC 7323, 2.3): nothing valid is further from the highest byte.
const WINDOW_BYTES: i64 = 1 << 30;

/// Which bytes of a direction have been captured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    span: Span,
    known: bool,
    /// The first byte is known from a SYN: nothing below it is data.
    anchored: bool,
    distinct_bytes: u64,
    /// What most directions never need.
    rare: Option<Box<Rare>>,
}

#[derive(Clone, Debug, Default)]
struct Rare {
    gaps: Vec<Gap>,
    /// Of spans before the numbers jumped.
    span_bytes: u64,
    stray_end: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    from: i64,
    to: i64,
    /// When the segment behind it passed.
    since_ns: i64,
}

/// What a segment brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Bytes that had not passed before.
    pub(crate) fresh: u64,
    /// It filled a gap that was there since this time; the oldest, where it filled several.
    pub(crate) filled_since_ns: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: i64,
    end: i64,
}

impl Sequence {
    /// `seq` is the number of the first payload byte: the initial sequence number plus one.
    pub(crate) fn anchor(&mut self, seq: u32) {
        self.anchored = true;
        if !self.known {
            let at = i64::from(seq) + (1 << 32);
            (self.span, self.known) = (Span { start: at, end: at }, true);
        }
    }

    /// Sequence number of the first payload byte known.
    pub(crate) fn first(&self) -> Option<u32> {
        self.known.then_some(self.span.start as u32)
    }

    /// Sequence number behind the highest payload byte.
    pub(crate) fn next(&self) -> Option<u32> {
        self.known.then_some(self.span.end as u32)
    }

    /// Payload bytes captured, each once.
    pub(crate) fn distinct_bytes(&self) -> u64 {
        self.distinct_bytes
    }

    /// Bytes between the first and the highest that were never captured.
    pub(crate) fn missing_bytes(&self) -> u64 {
        let before = self.rare.as_ref().map_or(0, |rare| rare.span_bytes);
        (before + (self.span.end - self.span.start) as u64).saturating_sub(self.distinct_bytes)
    }

    /// Bytes below `ack` that were never captured: acknowledged, so the tap lost them and not the network.
    pub(crate) fn missing_below(&self, ack: u32) -> u64 {
        if !self.known {
            return 0;
        }
        let span = self.span;
        let ack = span.end + i64::from(ack.wrapping_sub(span.end as u32) as i32);
        // Further ahead it acknowledges what was never sent.
        let behind = if ack - span.end > WINDOW_BYTES { 0 } else { (ack - span.end).max(0) };
        let gaps = self.rare.iter().flat_map(|rare| &rare.gaps);
        let within: i64 = gaps.map(|gap| (gap.to.min(ack) - gap.from).max(0)).sum();
        (within + behind) as u64
    }

    /// Takes `bytes` of payload that start at `seq` and passed at `time_ns`.
    pub(crate) fn add(&mut self, seq: u32, bytes: u64, time_ns: i64) -> Brought {
        let bytes = bytes.min(WINDOW_BYTES as u64) as i64;
        if !self.known {
            let at = i64::from(seq) + (1 << 32);
            (self.span, self.known) = (Span { start: at, end: at }, true);
        }
        let span = self.span;
        let start = span.end + i64::from(seq.wrapping_sub(span.end as u32) as i32);
        if (start - span.end).abs() > WINDOW_BYTES {
            return self.add_stray(seq, bytes, time_ns);
        }
        if let Some(rare) = &mut self.rare {
            rare.stray_end = None;
        }
        let end = start + bytes;
        let start = if self.anchored { start.max(span.start) } else { start };
        self.cover(span, start, end.max(start), time_ns)
    }

    /// A number out of every window is noise, unless the next segment continues it: then the
    /// connection was reused without a SYN in the capture, and counting goes on from there.
    fn add_stray(&mut self, seq: u32, bytes: i64, time_ns: i64) -> Brought {
        let rare = self.rare.get_or_insert_default();
        if rare.stray_end != Some(seq) {
            rare.stray_end = Some(seq.wrapping_add(bytes as u32));
            return Brought::default();
        }
        rare.span_bytes += (self.span.end - self.span.start) as u64;
        rare.gaps.clear();
        rare.stray_end = None;
        self.anchored = false;
        let at = i64::from(seq) + (1 << 32);
        self.cover(Span { start: at, end: at }, at, at + bytes, time_ns)
    }

    fn cover(&mut self, span: Span, start: i64, end: i64, time_ns: i64) -> Brought {
        let mut fresh = (end - start.max(span.end)).max(0) + (end.min(span.start) - start).max(0);
        let mut filled_since_ns = None;
        let apart = start > span.end || end < span.start;
        if let Some(rare) = self.rare_if(apart) {
            let (filled, since_ns) = rare.fill(start, end);
            (fresh, filled_since_ns) = (fresh + filled, since_ns);
            if start > span.end {
                rare.gaps.push(Gap { from: span.end, to: start, since_ns: time_ns });
            }
            if end < span.start {
                rare.gaps.push(Gap { from: end, to: span.start, since_ns: time_ns });
            }
            if rare.gaps.len() > GAPS_MAX {
                rare.gaps.remove(0);
            }
        }
        self.distinct_bytes += fresh as u64;
        self.span = Span { start: span.start.min(start), end: span.end.max(end) };
        Brought { fresh: fresh as u64, filled_since_ns }
    }

    fn rare_if(&mut self, needed: bool) -> Option<&mut Rare> {
        if needed {
            return Some(self.rare.get_or_insert_default());
        }
        self.rare.as_deref_mut()
    }
}

impl Rare {
    /// Closes gaps between `start` and `end`: bytes filled, and since when the oldest of these gaps was there.
    fn fill(&mut self, start: i64, end: i64) -> (i64, Option<i64>) {
        let (mut filled, mut filled_since_ns) = (0, None);
        for index in (0..self.gaps.len()).rev() {
            let Gap { from, to, since_ns } = self.gaps[index];
            let (low, high) = (start.max(from), end.min(to));
            if low >= high {
                continue;
            }
            filled += high - low;
            filled_since_ns = Some(filled_since_ns.map_or(since_ns, |since: i64| since.min(since_ns)));
            self.gaps.remove(index);
            let rest = [(from, low), (high, to)].into_iter().filter(|(a, b)| a < b);
            self.gaps.extend(rest.map(|(from, to)| Gap { from, to, since_ns }));
        }
        (filled, filled_since_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(first: Option<u32>, segments: &[(u32, u64)]) -> Sequence {
        let mut sequence = Sequence::default();
        if let Some(seq) = first {
            sequence.anchor(seq);
        }
        for &(seq, bytes) in segments {
            sequence.add(seq, bytes, 0);
        }
        sequence
    }

    #[test]
    fn retransmitted_bytes_count_once() {
        let sequence = after(Some(1), &[(1, 100), (101, 100), (51, 100), (101, 150)]);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (250, 0));
    }

    #[test]
    fn numbers_wrap_around() {
        let start = u32::MAX - 99;
        let sequence = after(Some(start), &[(start, 100), (0, 100), (100, 50), (start, 200)]);
        assert_eq!(sequence.distinct_bytes(), 250);
        assert_eq!(sequence.next(), Some(150));
    }

    #[test]
    fn more_than_four_gigabytes_are_counted() {
        let mut sequence = after(Some(7), &[]);
        for index in 0..6_000_u64 {
            sequence.add((7 + index * 1_000_000) as u32, 1_000_000, 0);
        }
        assert_eq!(sequence.distinct_bytes(), 6_000_000_000);
    }

    #[test]
    fn a_gap_is_missing_until_it_is_filled() {
        let mut sequence = after(Some(1), &[(1, 10), (31, 10)]);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (20, 20));
        sequence.add(5, 30, 0);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (40, 0));
    }

    #[test]
    fn what_a_segment_brings_is_told() {
        let mut sequence = after(Some(1), &[(1, 10)]);
        let brought = |fresh, filled_since_ns| Brought { fresh, filled_since_ns };
        assert_eq!(sequence.add(21, 10, 5), brought(10, None));
        assert_eq!(sequence.add(41, 10, 7), brought(10, None));
        assert_eq!(sequence.missing_below(36), 15);
        assert_eq!(sequence.missing_below(60), 20 + 9);
        assert_eq!(sequence.add(21, 10, 8), brought(0, None));
        assert_eq!(sequence.add(11, 25, 9), brought(15, Some(5)));
        assert_eq!(sequence.add(46, 10, 9), brought(5, None));
    }

    #[test]
    fn a_late_early_segment_moves_an_unanchored_start() {
        let sequence = after(None, &[(1000, 10), (900, 50)]);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (60, 50));
        assert_eq!(sequence.first(), Some(900));
        assert_eq!(after(Some(1000), &[(1000, 10), (900, 50)]).distinct_bytes(), 10);
    }

    #[test]
    fn a_wild_number_is_noise_unless_continued() {
        let wild = 1 + (1 << 31);
        assert_eq!(after(Some(1), &[(1, 10), (wild, 50), (11, 10)]).distinct_bytes(), 20);
        let reused = after(Some(1), &[(1, 10), (wild, 50), (wild + 50, 50), (wild + 100, 50)]);
        assert_eq!(reused.distinct_bytes(), 110);
    }

    #[test]
    fn gaps_stay_bounded() {
        let mut sequence = after(Some(0), &[]);
        for index in 0..10_000 {
            sequence.add(index * 20 + 10, 10, 0);
        }
        assert!(sequence.rare.as_ref().is_some_and(|rare| rare.gaps.len() <= GAPS_MAX));
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (100_000, 100_000));
    }
}
