//! The event queue: 128-bit keys, so that a comparison is two instructions and equal times run in insertion order.
//!
//! Key, from the top: time 56 bits (2.2 years of nanoseconds), order of insertion 40 bits, kind 4 bits,
//! index 28 bits.
//!
//! Principle: time only moves on, so that what is far away need not be in order yet. The events that come next are a short
//! sorted row; those up to a horizon a heap, which is empty as long as they fit in the row; those beyond it lie unsorted in a
//! wheel whose slots widen with the distance, 64 to a level (a radix heap of base 64). When the row runs out, the next
//! slots go into it, and the horizon behind them; a slot with more events than that is spread over narrower ones first. A run
//! with few events never gets as far as the wheel. Cost: an event is moved once per level, whatever the number of others, and
//! the caches see the row only. Sources: Ahuja, Mehlhorn, Orlin and Tarjan 1990 (radix heaps); Varghese and Lauck 1987
//! (hierarchical wheels). Beside the heap of all events that it replaced: benchmarks/scale.py.

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
    /// A packet reaches the end of a link that only its flow uses.
    Flight,
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
            10 => Kind::Load,
            _ => Kind::Flight,
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

/// Events of the row that pop takes from: as many as a refill gives, and at most.
const REFILL: usize = 16;
const ROW: usize = 32;
/// The row is refilled while it still has so many, so that a run can look ahead.
const LOW: usize = 8;
/// Events in the heap that make the horizon come nearer.
const HEAP: usize = 128;
/// Bits of a digit: slots of a level are told by one. The slots of the lowest level are as many nanoseconds wide.
const DIGIT: u32 = 6;
const SLOTS: usize = 1 << DIGIT;
/// So that they hold all times of a key.
const LEVELS: usize = 9;
/// Keys that an empty slot keeps the memory of.
const KEPT: usize = 64;

/// Pending events.
#[derive(Debug)]
pub(crate) struct Events {
    /// The next ones, the last first.
    row: Vec<Key>,
    /// The others before the horizon: all of them come after those of the row.
    near: QuaternaryHeap<Reverse<Key>>,
    /// Time from which on events are in the wheel.
    horizon: u64,
    /// Size of the heap at which the horizon moves.
    most_near: usize,
    wheel: Wheel,
    inserted: u64,
}

/// Events in no order, by the highest digit in which their time differs from `base`, and that digit.
#[derive(Debug, Default)]
struct Wheel {
    /// At or before all that is in the wheel.
    base: u64,
    /// By level; empty before the first event.
    slots: Vec<Vec<Key>>,
    /// Slots in use of each level, a bit each.
    used: [u64; LEVELS],
}

impl Wheel {
    #[inline]
    fn level(&self, time: u64) -> usize {
        let bits = u64::BITS - (time ^ self.base).leading_zeros();
        (bits.saturating_sub(DIGIT + 1) / DIGIT) as usize
    }

    #[inline]
    fn store(&mut self, key: Key) {
        if self.slots.is_empty() {
            self.slots.resize_with(LEVELS * SLOTS, Vec::new);
        }
        let time = key.time().0;
        let level = self.level(time);
        let digit = (time >> (DIGIT * (level as u32 + 1))) as usize % SLOTS;
        self.used[level] |= 1 << digit;
        self.slots[level * SLOTS + digit].push(key);
    }

    /// Level and digit of the slot that comes next.
    fn first(&self) -> Option<(usize, usize)> {
        let level = self.used.iter().position(|&used| used != 0)?;
        Some((level, self.used[level].trailing_zeros() as usize))
    }

    /// Takes the events of a slot out, and moves `base` there: the end of the slot, and the events.
    fn take(&mut self, (level, digit): (usize, usize)) -> (u64, Vec<Key>) {
        let width = DIGIT * (level as u32 + 1);
        self.used[level] &= !(1 << digit);
        self.base = (self.base >> (width + DIGIT) << (width + DIGIT)) | (digit as u64) << width;
        (self.base + (1 << width), std::mem::take(&mut self.slots[level * SLOTS + digit]))
    }

    /// Gives a slot that is empty its memory back, unless it was very full.
    fn keep(&mut self, (level, digit): (usize, usize), mut memory: Vec<Key>) {
        memory.clear();
        let slot = &mut self.slots[level * SLOTS + digit];
        if memory.capacity() <= KEPT && slot.capacity() == 0 {
            *slot = memory;
        }
    }
}

impl Default for Events {
    fn default() -> Events {
        Events {
            row: Vec::with_capacity(ROW),
            near: QuaternaryHeap::new(),
            horizon: u64::MAX,
            most_near: HEAP,
            wheel: Wheel::default(),
            inserted: 0,
        }
    }
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
        if key.time().0 >= self.horizon {
            self.wheel.store(key);
        } else if self.row.len() < ROW && self.near.is_empty() {
            self.insert(key);
        } else {
            self.push_near(key);
        }
    }

    /// Puts `key` into the row, which has room.
    #[inline]
    fn insert(&mut self, key: Key) {
        self.row.push(key);
        let mut place = self.row.len() - 1;
        while place > 0 && self.row[place - 1] < key {
            self.row[place] = self.row[place - 1];
            place -= 1;
        }
        self.row[place] = key;
    }

    /// Puts `key` into row or heap.
    #[inline(never)]
    fn push_near(&mut self, key: Key) {
        if self.near.peek().is_some_and(|first| first.0 < key) {
            self.near.push(Reverse(key));
            if self.near.len() > self.most_near {
                self.narrow();
            }
            return;
        }
        if self.row.len() == ROW {
            self.near.extend(self.row.drain(..ROW / 2).map(Reverse));
            if self.row[0] < key {
                self.near.push(Reverse(key));
                return;
            }
        }
        self.insert(key);
    }

    /// Brings the horizon to the end of the row, or nearly: most of the heap goes into the wheel.
    #[cold]
    fn narrow(&mut self) {
        let last = self.row.first().or(self.near.peek().map(|first| &first.0)).map_or(0, |key| key.time().0);
        let base = last >> DIGIT << DIGIT;
        let horizon = base + (1 << DIGIT);
        if horizon < self.horizon {
            let mut moved: Vec<Key> = std::mem::take(&mut self.near).into_iter().map(|near| near.0).collect();
            // Where these are in the wheel depends on the part of its base that changes.
            for level in 0..=self.wheel.level(base) {
                for digit in 0..SLOTS {
                    if self.wheel.used[level] >> digit & 1 == 1 {
                        moved.append(&mut self.wheel.slots[level * SLOTS + digit]);
                    }
                }
                self.wheel.used[level] = 0;
            }
            (self.wheel.base, self.horizon) = (base, horizon);
            for key in moved {
                if key.time().0 < horizon { self.near.push(Reverse(key)) } else { self.wheel.store(key) }
            }
        }
        self.most_near = HEAP.max(2 * self.near.len());
    }

    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, kind: Kind, index: usize) {
        let key = self.key(time, kind, index);
        self.push(key);
    }

    /// Takes the first event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Key> {
        if self.row.len() <= LOW {
            self.refill();
        }
        self.row.pop()
    }

    /// The event that is the next but `distance`, if it is known yet.
    #[inline]
    pub(crate) fn ahead(&self, distance: usize) -> Option<Key> {
        self.row.len().checked_sub(distance + 1).map(|place| self.row[place])
    }

    /// Gives a row that runs out the next events of heap or wheel.
    #[inline]
    fn refill(&mut self) {
        if !self.near.is_empty() {
            self.refill_from_heap();
        } else if self.horizon < u64::MAX {
            self.refill_from_wheel();
        }
    }

    #[inline(never)]
    fn refill_from_heap(&mut self) {
        let left = self.row.len();
        while self.row.len() < left + REFILL
            && let Some(first) = self.near.pop()
        {
            self.row.push(first.0);
        }
        self.put_before(left);
    }

    /// Of the row the first `left` events, the last of them first, go behind the others, which are in order.
    fn put_before(&mut self, left: usize) {
        self.row.reverse();
        let others = self.row.len() - left;
        self.row[others..].reverse();
    }

    #[inline(never)]
    fn refill_from_wheel(&mut self) {
        let left = self.row.len();
        loop {
            let Some(slot) = self.wheel.first() else {
                // All events are in the row: what comes is near.
                self.horizon = u64::MAX;
                break;
            };
            let (found, count) = (self.row.len() - left, self.wheel.slots[slot.0 * SLOTS + slot.1].len());
            if found > 0 && found + count > REFILL {
                break;
            }
            let (end, mut keys) = self.wheel.take(slot);
            if slot.0 > 0 && count > REFILL {
                keys.drain(..).for_each(|key| self.wheel.store(key));
            } else {
                self.horizon = end;
                self.row.append(&mut keys);
            }
            self.wheel.keep(slot, keys);
        }
        self.row[left..].sort_unstable();
        if self.row.len() > left + REFILL {
            self.near.extend(self.row.drain(left + REFILL..).map(Reverse));
        }
        self.most_near = HEAP.max(2 * self.near.len());
        self.put_before(left);
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

    /// Against a sorted set, event by event: few and many, all at one time, in bursts, and timers far away.
    #[test]
    fn events_come_in_the_order_of_their_keys_whatever_their_distances() {
        let mut state = 11_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) % below.max(1)
        };
        for (most, distances) in [
            (10, &[1_000, 200_000_000][..]),
            (5_000, &[1_200, 50_000_000, 200_000_000, 60_000_000_000]),
            (20_000, &[1]),
            (3_000, &[1, 64, 4096, 1 << 40]),
            (1_000, &[1 << 20]),
        ] {
            let (mut events, mut model, mut now) = (Events::default(), std::collections::BTreeSet::new(), 0);
            for step in 0..60_000_u64 {
                // It fills up, empties, and fills up again.
                let rises = step / 10_000 % 2 == 0;
                let pushes = if model.len() < most && (rises || draw(4) == 0) { 1 + draw(3) } else { 0 };
                for _ in 0..pushes {
                    let distance = distances[draw(distances.len() as u64) as usize];
                    let away = draw(2 * distance);
                    let key = events.key(Time(now + away), Kind::Pace, step as usize);
                    events.push(key);
                    model.insert(key);
                }
                let first = model.pop_first();
                if let (Some(ahead), Some(next)) = (events.ahead(1), model.first()) {
                    assert_eq!(ahead, *next, "step {step}");
                }
                assert_eq!(events.pop(), first, "step {step} of at most {most}");
                now = first.map_or(now, |key| key.time().0);
            }
            while let Some(key) = model.pop_first() {
                assert_eq!(events.pop(), Some(key));
            }
            assert_eq!(events.pop(), None);
        }
    }

    #[test]
    fn an_event_that_is_put_back_comes_again() {
        let mut events = Events::default();
        for time in 0..400 {
            events.schedule(Time(1000 * time), Kind::Lane, 0);
        }
        for time in 0..400 {
            let key = events.pop().expect("scheduled");
            events.push(key);
            assert_eq!(events.pop(), Some(key));
            assert_eq!(key.time(), Time(1000 * time));
        }
    }
}
