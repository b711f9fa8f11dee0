//! An access link: FIFO, never full, so that a packet's arrival at the far end is known when it
//! enters. Only the arrival of the first packet is in the event queue.

use std::collections::VecDeque;

use qdisc::Packet;
use units::{BitRate, Time};

use crate::event::{Events, Key, Kind};

/// Where a pipe ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// In the queue of a port.
    Port(usize),
    /// At a host.
    Host,
}

/// Serialisation time per byte as a 32.32 fixed-point number of nanoseconds, so that a packet costs
/// a multiplication: off by less than 1e-5 ns for 64 kB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial(u64);

impl Serial {
    pub(crate) fn of(rate: BitRate) -> Serial {
        let per_byte = (8_000_000_000_u128 << 32) / u128::from(rate.bps());
        Serial(u64::try_from(per_byte).unwrap_or(u64::MAX))
    }

    #[inline]
    pub(crate) fn time(self, len: u32) -> Time {
        Time(((u128::from(self.0) * u128::from(len) + (1 << 31)) >> 32) as u64)
    }
}

#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) end: End,
    serial: Serial,
    delay: Time,
    free_at: Time,
    flying: VecDeque<(Key, Packet)>,
}

impl Pipe {
    pub(crate) fn to(end: End, rate: BitRate, delay: Time) -> Pipe {
        Pipe { end, serial: Serial::of(rate), delay, free_at: Time::ZERO, flying: VecDeque::new() }
    }

    /// Gives the ring of a pipe that is no longer used to another end and delay.
    pub(crate) fn reuse(&mut self, end: End, delay: Time) {
        debug_assert!(self.is_empty());
        self.end = end;
        self.delay = delay;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// Sends `packet` at `at`, which must not lie before the previous call's.
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet, at: Time, index: usize, events: &mut Events) {
        self.free_at = self.free_at.max(at) + self.serial.time(packet.len);
        let key = events.key(self.free_at + self.delay, Kind::Pipe, index);
        if self.flying.is_empty() {
            events.push(key);
        }
        self.flying.push_back((key, packet));
    }

    /// Takes the packet that has arrived; its event is the first of the queue and gives way to the
    /// next packet's.
    #[inline]
    pub(crate) fn pop(&mut self, events: &mut Events) -> Option<Packet> {
        let (_, packet) = self.flying.pop_front()?;
        match self.flying.front() {
            Some(&(key, _)) => events.replace_first(key),
            None => events.pop(),
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_time_equals_exact_division() {
        for bps in [9_600, 1_000_000, 28_000_000, 100_000_000, 40_000_000_000] {
            let rate = BitRate::from_bps(bps).expect("non-zero");
            for len in [1, 40, 576, 1000, 1500, 65_535] {
                let (fixed, exact) = (Serial::of(rate).time(len).0, rate.transmission(len.into()).0);
                assert!(fixed.abs_diff(exact) <= 1, "{bps} {len}: {fixed} {exact}");
            }
        }
    }
}
