//! Round-trip times between the tap and one end: data seen on its way there, and the answer seen on its way back.
//!
//! Cost per segment: O(1) amortised; at most [`FLIGHT_MAX`] segments wait for their acknowledgement.

use std::collections::VecDeque;

/// Segments remembered per direction until acknowledged; further ones are not timed.
const FLIGHT_MAX: usize = 128;
/// Silence that is a pause where no round-trip time is known: the least retransmission timeout in use, Linux's.
pub(crate) const USUAL_PAUSE_NS: i64 = 200_000_000;
/// Room that a drained queue may keep.
const KEPT: usize = 4;

/// Summary of samples, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// How many.
    pub count: u32,
    /// Smallest; 0 without samples.
    pub min_ns: i64,
    /// Largest; 0 without samples.
    pub max_ns: i64,
    /// Sum of all.
    pub sum_ns: i64,
}

impl Samples {
    /// Arithmetic mean; None without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / f64::from(self.count))
    }

    /// Smallest sample; None without samples.
    pub fn least_ns(&self) -> Option<i64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Largest sample; None without samples.
    pub fn most_ns(&self) -> Option<i64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Times that went backwards are no samples.
    pub(crate) fn add(&mut self, sample_ns: i64) {
        if sample_ns < 0 {
            return;
        }
        self.min_ns = if self.count == 0 { sample_ns } else { self.min_ns.min(sample_ns) };
        self.max_ns = self.max_ns.max(sample_ns);
        self.sum_ns = self.sum_ns.saturating_add(sample_ns);
        self.count = self.count.saturating_add(1);
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    end: u32,
    clean: bool,
    time_ns: i64,
}

/// Timed segments of one direction, and what the other end's answers gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echoes {
    waiting: VecDeque<Waiting>,
    pub(crate) acknowledged: Samples,
    pub(crate) stamped: Samples,
    /// When the TSval that is being timed first passed.
    since_ns: i64,
    stamp: u32,
    last_stamp: u32,
    timing: bool,
    any_stamp: bool,
    /// Least of the samples since it was last taken and 1; 0 for none: half the room of an option.
    fresh_ns: i64,
}

impl Echoes {
    /// Data up to `end` passed for the first time, in order.
    pub(crate) fn sent(&mut self, end: u32, stamp: Option<u32>, time_ns: i64) {
        if self.waiting.len() < FLIGHT_MAX {
            self.waiting.push_back(Waiting { end, clean: true, time_ns });
        }
        self.stamped(stamp, time_ns);
    }

    /// Data was sent again or came out of order: what waits is not timed any more (Karn's algorithm, RFC 6298, 3), since
    /// its acknowledgement may answer either copy or have waited for the hole to be filled. A timestamp tells copies apart.
    pub(crate) fn repeated(&mut self, stamp: Option<u32>, time_ns: i64) {
        for waiting in &mut self.waiting {
            waiting.clean = false;
        }
        self.stamped(stamp, time_ns);
    }

    /// The clock of TSval may tick more slowly than segments pass: the first one with a value is timed (RFC 7323, 4.3).
    fn stamped(&mut self, stamp: Option<u32>, time_ns: i64) {
        let Some(value) = stamp else { return };
        let first = !self.any_stamp || self.last_stamp != value;
        (self.last_stamp, self.any_stamp) = (value, true);
        if first && !self.timing {
            (self.stamp, self.since_ns, self.timing) = (value, time_ns, true);
        }
    }

    /// The other end acknowledged everything before `ack`. A sample needs the acknowledgement of exactly one segment's
    /// end: in the middle of a super-segment it answers a packet whose time is unknown.
    pub(crate) fn acknowledge(&mut self, ack: u32, time_ns: i64) {
        let mut clean = true;
        let mut last = None;
        while let Some(waiting) = self.waiting.front()
            && ack.wrapping_sub(waiting.end) as i32 >= 0
        {
            clean &= waiting.clean;
            last = self.waiting.pop_front();
        }
        if let Some(last) = last
            && clean
            && last.end == ack
        {
            let sample_ns = time_ns.saturating_sub(last.time_ns);
            self.acknowledged.add(sample_ns);
            self.note(sample_ns);
        }
        if self.waiting.is_empty() && self.waiting.capacity() > KEPT {
            self.waiting = VecDeque::new();
        }
    }

    /// A message of this number passed; one that passes again is not timed, since its answer may be that of either.
    pub(crate) fn ask(&mut self, number: u32, time_ns: i64) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.end == number) {
            waiting.clean = false;
            return;
        }
        if self.waiting.len() == FLIGHT_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting { end: number, clean: true, time_ns });
    }

    /// The other end answered the message of this number: the round trip.
    pub(crate) fn answer(&mut self, number: u32, time_ns: i64) -> Option<i64> {
        let place = self.waiting.iter().position(|waiting| waiting.end == number)?;
        let asked = self.waiting.drain(..=place).next_back().filter(|asked| asked.clean)?;
        let sample_ns = Some(time_ns.saturating_sub(asked.time_ns)).filter(|sample_ns| *sample_ns >= 0)?;
        self.acknowledged.add(sample_ns);
        Some(sample_ns)
    }

    fn note(&mut self, sample_ns: i64) {
        let held_ns = if self.fresh_ns == 0 { i64::MAX } else { self.fresh_ns };
        if sample_ns >= 0 {
            self.fresh_ns = held_ns.min(sample_ns.saturating_add(1));
        }
    }

    /// The least sample since the last call.
    pub(crate) fn take_fresh(&mut self) -> Option<i64> {
        let fresh_ns = std::mem::take(&mut self.fresh_ns);
        (fresh_ns > 0).then(|| fresh_ns - 1)
    }

    /// The other end echoed `echo` as TSecr.
    pub(crate) fn echo(&mut self, echo: u32, time_ns: i64) {
        if !self.timing {
            return;
        }
        if echo == self.stamp {
            let sample_ns = time_ns.saturating_sub(self.since_ns);
            self.stamped.add(sample_ns);
            self.note(sample_ns);
        }
        // A later echo says that this one was never sent.
        self.timing = (echo.wrapping_sub(self.stamp) as i32) < 0;
    }
}
