//! The retransmission queue: what was sent and is not acknowledged, by number and in the order of its last departure.
//!
//! Segments that left together are one buffer (`sk_buff`), until a loss or an acknowledgement of a part of it splits it: what is
//! sent again is sent by buffers. Memory: 48 bytes per segment of the largest flight. Cost: O(1) per segment sent, tagged or
//! taken out.

use units::Time;

use super::clock::us;

/// No segment.
const NONE: u32 = u32::MAX;

/// What is known of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// When it last left, microseconds.
    pub(super) sent_us: u64,
    /// When the oldest segment of the rate sample that it may close left, microseconds.
    pub(super) first_sent_us: u64,
    /// When the last delivery before its departure was seen, microseconds; 0 once its own delivery has been taken.
    pub(super) delivered_us: u64,
    /// Segments delivered before it left.
    pub(super) delivered: u32,
    /// Neighbours in order of departure; `NONE` at the ends, and for both where it is not in the list.
    older: u32,
    newer: u32,
    pub(super) app_limited: bool,
    /// A selective acknowledgement covers it.
    pub(super) sacked: bool,
    pub(super) lost: bool,
    /// A retransmission of it is taken to be under way.
    pub(super) retrans: bool,
    /// It was sent more than once.
    pub(super) ever_retrans: bool,
    /// It is the first of its buffer.
    begins: bool,
    /// It has PSH.
    pub(super) pushed: bool,
    listed: bool,
}

const FRESH: Segment = Segment {
    sent_us: 0,
    first_sent_us: 0,
    delivered_us: 0,
    delivered: 0,
    older: NONE,
    newer: NONE,
    app_limited: false,
    sacked: false,
    lost: false,
    retrans: false,
    ever_retrans: false,
    begins: false,
    pushed: false,
    listed: false,
};

/// Ring by number, grown to the largest flight, with a list in order of departure.
#[derive(Debug)]
pub(super) struct Queue {
    ring: Vec<Segment>,
    oldest: u32,
    newest: u32,
}

impl Queue {
    pub(super) fn empty() -> Queue {
        Queue { ring: vec![FRESH; 16], oldest: NONE, newest: NONE }
    }

    pub(super) fn clear(&mut self) {
        (self.oldest, self.newest) = (NONE, NONE);
    }

    #[inline]
    pub(super) fn at(&mut self, seq: u32) -> &mut Segment {
        let mask = self.ring.len() - 1;
        &mut self.ring[seq as usize & mask]
    }

    #[inline]
    pub(super) fn get(&self, seq: u32) -> &Segment {
        &self.ring[seq as usize & (self.ring.len() - 1)]
    }

    /// Adds `seq`, sent for the first time while `una` is the first not acknowledged.
    #[inline]
    pub(super) fn add(&mut self, seq: u32, una: u32) {
        while (seq - una) as usize >= self.ring.len() {
            let old = std::mem::take(&mut self.ring);
            self.ring = vec![FRESH; 2 * old.len()];
            for number in una..seq {
                *self.at(number) = old[number as usize & (old.len() - 1)];
            }
        }
        *self.at(seq) = FRESH;
    }

    /// A buffer begins with `seq`, which was sent or is about to be.
    #[inline]
    pub(super) fn split(&mut self, seq: u32) {
        self.at(seq).begins = true;
    }

    /// The number after the buffer that holds `seq`, at most `nxt`.
    #[inline]
    pub(super) fn buffer_end(&self, seq: u32, nxt: u32) -> u32 {
        let mut end = seq + 1;
        while end < nxt && !self.get(end).begins {
            end += 1;
        }
        end
    }

    /// `seq` leaves now: it is the newest from here on.
    #[inline]
    pub(super) fn departs(&mut self, seq: u32, now: Time) {
        self.unlist(seq);
        let newest = self.newest;
        let segment = self.at(seq);
        (segment.sent_us, segment.older, segment.newer, segment.listed) = (us(now), newest, NONE, true);
        if newest == NONE {
            self.oldest = seq;
        } else {
            self.at(newest).newer = seq;
        }
        self.newest = seq;
    }

    /// Takes `seq` out of the order of departure.
    #[inline]
    pub(super) fn unlist(&mut self, seq: u32) {
        let Segment { older, newer, listed, .. } = *self.get(seq);
        if !listed {
            return;
        }
        self.at(seq).listed = false;
        if older == NONE {
            self.oldest = newer;
        } else {
            self.at(older).newer = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            self.at(newer).older = older;
        }
    }

    /// The segment that left first of those in the list.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The one that left next after `seq`.
    #[inline]
    pub(super) fn newer(&self, seq: u32) -> Option<u32> {
        Some(self.get(seq).newer).filter(|&newer| newer != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_departure_survives_repeats_removals_and_growth() {
        let mut queue = Queue::empty();
        for seq in 0..40 {
            queue.add(seq, 0);
            queue.departs(seq, Time::from_millis(u64::from(seq)));
        }
        queue.departs(3, Time::from_millis(50));
        queue.unlist(0);
        queue.unlist(39);
        let mut order = Vec::new();
        let mut next = queue.oldest();
        while let Some(seq) = next {
            order.push(seq);
            next = queue.newer(seq);
        }
        let expected: Vec<u32> = [1, 2].into_iter().chain(4..39).chain([3]).collect();
        assert_eq!(order, expected);
        assert_eq!(queue.get(3).sent_us, 50_000);
    }
}
