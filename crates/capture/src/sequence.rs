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
    span: Option<Span>,
    /// The first byte is known from a SYN: nothing below it is data.
    anchored: bool,
    gaps: Vec<(i64, i64)>,
    distinct_bytes: u64,
    span_bytes: u64,
    stray_end: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: i64,
    end: i64,
}

impl Sequence {
    /// `seq` is the number of the first payload byte: the initial sequence number plus one.
    pub(crate) fn anchor(&mut self, seq: u32) {
        self.anchored = true;
        if self.span.is_none() {
            let at = i64::from(seq) + (1 << 32);
            self.span = Some(Span { start: at, end: at });
        }
    }

    /// Sequence number of the first payload byte known.
    pub(crate) fn first(&self) -> Option<u32> {
        self.span.map(|span| span.start as u32)
    }

    /// Sequence number behind the highest payload byte.
    pub(crate) fn next(&self) -> Option<u32> {
        self.span.map(|span| span.end as u32)
    }

    /// Payload bytes captured, each once.
    pub(crate) fn distinct_bytes(&self) -> u64 {
        self.distinct_bytes
    }

    /// Bytes between the first and the highest that were never captured.
    pub(crate) fn missing_bytes(&self) -> u64 {
        let current = self.span.map_or(0, |span| (span.end - span.start) as u64);
        (self.span_bytes + current).saturating_sub(self.distinct_bytes)
    }

    /// Takes `bytes` of payload that start at `seq`.
    pub(crate) fn add(&mut self, seq: u32, bytes: u64) {
        let bytes = bytes.min(WINDOW_BYTES as u64) as i64;
        let fresh = Span { start: i64::from(seq) + (1 << 32), end: i64::from(seq) + (1 << 32) };
        let span = *self.span.get_or_insert(fresh);
        let start = span.end + i64::from(seq.wrapping_sub(span.end as u32) as i32);
        if (start - span.end).abs() > WINDOW_BYTES {
            self.add_stray(seq, bytes);
            return;
        }
        self.stray_end = None;
        let end = start + bytes;
        let start = if self.anchored { start.max(span.start) } else { start };
        self.cover(span, start, end.max(start));
    }

    /// A number out of every window is noise, unless the next segment continues it: then the
    /// connection was reused without a SYN in the capture, and counting goes on from there.
    fn add_stray(&mut self, seq: u32, bytes: i64) {
        if self.stray_end != Some(seq) {
            self.stray_end = Some(seq.wrapping_add(bytes as u32));
            return;
        }
        if let Some(span) = self.span.take() {
            self.span_bytes += (span.end - span.start) as u64;
        }
        self.gaps.clear();
        self.stray_end = None;
        self.anchored = false;
        let at = i64::from(seq) + (1 << 32);
        self.cover(Span { start: at, end: at }, at, at + bytes);
    }

    fn cover(&mut self, span: Span, start: i64, end: i64) {
        let mut fresh = 0;
        for index in (0..self.gaps.len()).rev() {
            let (from, to) = self.gaps[index];
            let (low, high) = (start.max(from), end.min(to));
            if low >= high {
                continue;
            }
            fresh += high - low;
            self.gaps.remove(index);
            self.gaps.extend([(from, low), (high, to)].into_iter().filter(|(a, b)| a < b));
        }
        if start > span.end {
            self.gaps.push((span.end, start));
        }
        if end < span.start {
            self.gaps.push((end, span.start));
        }
        fresh += (end - start.max(span.end)).max(0) + (end.min(span.start) - start).max(0);
        if self.gaps.len() > GAPS_MAX {
            self.gaps.remove(0);
        }
        self.distinct_bytes += fresh as u64;
        self.span = Some(Span { start: span.start.min(start), end: span.end.max(end) });
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
            sequence.add(seq, bytes);
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
            sequence.add((7 + index * 1_000_000) as u32, 1_000_000);
        }
        assert_eq!(sequence.distinct_bytes(), 6_000_000_000);
    }

    #[test]
    fn a_gap_is_missing_until_it_is_filled() {
        let mut sequence = after(Some(1), &[(1, 10), (31, 10)]);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (20, 20));
        sequence.add(5, 30);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (40, 0));
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
            sequence.add(index * 20 + 10, 10);
        }
        assert!(sequence.gaps.len() <= GAPS_MAX);
        assert_eq!((sequence.distinct_bytes(), sequence.missing_bytes()), (100_000, 100_000));
    }
}
