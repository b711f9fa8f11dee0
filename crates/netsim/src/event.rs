//! The event queue: a 4-ary heap of 128-bit keys, so that a comparison is two instructions and
//! equal times run in insertion order.
//!
//! Key, from the top: time 56 bits (2.2 years of nanoseconds), order of insertion 40 bits, kind 4 bits,
//! index 28 bits.

use std::cmp::Reverse;

use dary_heap::QuaternaryHeap;
use units::Time;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The first packet of a lane reaches its end.
    Lane,
    /// A port has sent its packet, or wants to be polled.
    Port,
    /// Retransmission timer of a connection's sender.
    Retransmit,
    /// Delayed-acknowledgement or control timer of a connection's receiver.
    Receiver,
    /// The next flow of the list starts.
    Start,
    /// Sampling instant.
    Sample,
    /// A UDP source sends.
    Udp,
    /// A paced sender may send its next segment.
    Pace,
    /// The script of a connection acts.
    Script,
    /// The medium of a wireless cell: an access begins, data or an exchange ends.
    Air,
    /// A controller of shapers measures the load.
    Load,
}

impl Kind {
    fn of(bits: u32) -> Kind {
        match bits {
            0 => Kind::Lane,
            1 => Kind::Port,
            2 => Kind::Retransmit,
            3 => Kind::Receiver,
            4 => Kind::Start,
            5 => Kind::Sample,
            6 => Kind::Udp,
            7 => Kind::Pace,
            8 => Kind::Script,
            9 => Kind::Air,
            _ => Kind::Load,
        }
    }
}

/// Time, order and subject of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u128);

const INDEX_BITS: u32 = 28;

impl Key {
    #[inline]
    pub(crate) fn time(self) -> Time {
        Time((self.0 >> 72) as u64)
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        Kind::of(self.0 as u32 >> INDEX_BITS)
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        (self.0 as u32 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// Pending events.
///
/// A popped event stays on top of the heap as a hole: the first one scheduled while it is handled
/// takes its place, one sift instead of two.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: QuaternaryHeap<Reverse<Key>>,
    hole: bool,
    inserted: u64,
}

impl Events {
    /// The next key in order for an event at `time`, without scheduling it.
    #[inline]
    pub(crate) fn key(&mut self, time: Time, kind: Kind, index: usize) -> Key {
        debug_assert!(index < 1 << INDEX_BITS);
        self.inserted = (self.inserted + 1) & ((1 << 40) - 1);
        let subject = (kind as u32) << INDEX_BITS | index as u32;
        Key(u128::from(time.0) << 72 | u128::from(self.inserted) << 32 | u128::from(subject))
    }

    /// Schedules `key`, which must not come before the event popped last.
    #[inline]
    pub(crate) fn push(&mut self, key: Key) {
        if self.hole {
            self.hole = false;
            if let Some(mut top) = self.heap.peek_mut() {
                top.0 = key;
            }
        } else {
            self.heap.push(Reverse(key));
        }
    }

    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, kind: Kind, index: usize) {
        let key = self.key(time, kind, index);
        self.push(key);
    }

    /// Takes the first event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Key> {
        if self.hole {
            self.heap.pop();
        }
        let first = self.heap.peek().map(|top| top.0);
        self.hole = first.is_some();
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_run_in_insertion_order() {
        let mut events = Events::default();
        for index in [3, 1, 2] {
            events.schedule(Time(5), Kind::Lane, index);
        }
        events.schedule(Time(4), Kind::Udp, 9);
        let mut order = Vec::new();
        while let Some(key) = events.pop() {
            order.push((key.time().0, key.kind(), key.index()));
        }
        let pipe = |index| (5, Kind::Lane, index);
        assert_eq!(order, [(4, Kind::Udp, 9), pipe(3), pipe(1), pipe(2)]);
    }

    #[test]
    fn an_event_scheduled_while_another_is_handled_finds_its_place() {
        let mut events = Events::default();
        for time in [1, 5, 3, 9] {
            events.schedule(Time(time), Kind::Lane, 0);
        }
        let mut times = Vec::new();
        while let Some(key) = events.pop() {
            times.push(key.time().0);
            if times.len() == 2 {
                for later in [7, 4, 3] {
                    events.schedule(Time(later), Kind::Lane, 0);
                }
            }
        }
        assert_eq!(times, [1, 3, 3, 4, 5, 7, 9]);
    }
}
