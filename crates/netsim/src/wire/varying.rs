//! A link whose rate and delay follow a trace: when a packet may begin, when its transmission ends, when it arrives.
//!
//! Nothing is polled: the integral of the rate is inverted when a packet begins. A place in the trace moves on with the
//! packets, so that a step or an opportunity is looked at once, and time that nobody used is skipped by a binary search.
//!
//! No packet overtakes another: where the delay falls, those that are sent after arrive with the last one that was sent
//! before, until the smaller delay has caught up.

use std::sync::Arc;

use units::Time;

use crate::link_trace::{Law, LinkTrace, PARTS_PER_BYTE};

#[derive(Debug)]
pub(crate) struct Varying {
    trace: Arc<LinkTrace>,
    /// What a period sends, in parts of a bit; 0 of a trace that does not begin anew.
    whole: u128,
    /// Begin of the period that `index` is in, in the time of the trace.
    base: u64,
    /// The step that holds, or the next opportunity.
    index: usize,
    /// What the transmission before took too much, in parts of a bit; negative: too little.
    owed: i128,
    /// Bytes left of the opportunity at `at`, in the time of the trace.
    left: u32,
    at: u64,
    /// The opportunity that a packet waits for.
    awaited: Option<u64>,
    /// End of the transmission before, and the last arrival, in the time of the run.
    ended: Time,
    arrived: Time,
}

impl Varying {
    pub(crate) fn of(trace: Arc<LinkTrace>) -> Varying {
        let whole = if trace.period == Time::NEVER { 0 } else { trace.parts_per_period() };
        Varying {
            trace,
            whole,
            base: 0,
            index: 0,
            owed: 0,
            left: 0,
            at: u64::MAX,
            awaited: None,
            ended: Time::ZERO,
            arrived: Time::ZERO,
        }
    }

    /// Whether a packet may begin now.
    ///
    /// # Errors
    /// The time at which one may.
    pub(crate) fn begin(&mut self, now: Time) -> Result<(), Time> {
        let at = now.0 + self.trace.offset.0;
        let trace = Arc::clone(&self.trace);
        let from = match &trace.law {
            Law::Steps(steps) => {
                self.seek(at, |position| steps.partition_point(|step| step.at.0 <= position).saturating_sub(1));
                // The place is ahead of the time when this was asked before, in the same outage.
                let begun = self.base + steps[self.index].at.0 <= at;
                if begun && steps[self.index].bps > 0 {
                    return Ok(());
                }
                // One of a period is above 0, and the last one where there is no other period.
                while steps[self.index].bps == 0 {
                    self.advance(steps.len());
                }
                self.base + steps[self.index].at.0
            }
            Law::Opportunities(times, bytes) => {
                if self.at == at && self.left > 0 {
                    return Ok(());
                }
                let at_once = self.at == at || self.awaited == Some(at);
                self.seek(at, |position| times.partition_point(|time| time.0 < position));
                if !at_once {
                    // Those of this instant are over: nobody waited for them.
                    while self.base + times[self.index].0 <= at {
                        self.advance(times.len());
                    }
                }
                let next = self.base + times[self.index].0;
                if next == at {
                    self.advance(times.len());
                    (self.at, self.left, self.awaited) = (at, *bytes, None);
                    return Ok(());
                }
                self.awaited = Some(next);
                next
            }
        };
        Err(Time(from - trace.offset.0))
    }

    /// End of the transmission of `len` bytes that begins now, as [`Varying::begin`] allowed, and the arrival at the end
    /// of the link, which has the propagation delay `delay` of its own.
    pub(crate) fn send(&mut self, len: u32, now: Time, delay: Time) -> (Time, Time) {
        let trace = Arc::clone(&self.trace);
        let at = now.0 + trace.offset.0;
        let (ended, added) = match &trace.law {
            Law::Steps(steps) => {
                if now > self.ended {
                    self.owed = 0;
                }
                let bits = PARTS_PER_BYTE * u128::from(len);
                // A rate that rounds by more than a packet has nothing left to send of a very small one.
                let mut need = (bits as i128 + self.owed).max(0) as u128;
                let mut from = at;
                loop {
                    let step = steps[self.index];
                    let end = steps.get(self.index + 1).map_or(trace.period, |next| next.at);
                    let until = if end == Time::NEVER { u64::MAX } else { self.base + end.0 };
                    let room = u128::from(step.bps) * u128::from(until - from);
                    if step.bps > 0 && need <= room {
                        let rate = u128::from(step.bps);
                        let span = (need + rate / 2) / rate;
                        self.owed = need as i128 - (span * rate) as i128;
                        break (Time(from + span as u64), step.added_delay);
                    }
                    need -= room;
                    from = until;
                    self.advance(steps.len());
                    if self.index == 0 {
                        // What a number of whole periods sends ends within the last of them.
                        let periods = ((need - 1) / self.whole) as u64;
                        need -= u128::from(periods) * self.whole;
                        (self.base, from) = (self.base + periods * trace.period.0, from + periods * trace.period.0);
                    }
                }
            }
            Law::Opportunities(times, bytes) => {
                let mut need = len;
                while need > self.left {
                    need -= self.left;
                    self.at = self.base + times[self.index].0;
                    self.left = *bytes;
                    self.advance(times.len());
                }
                self.left -= need;
                (Time(self.at), Time::ZERO)
            }
        };
        self.ended = Time(ended.0 - trace.offset.0);
        self.arrived = self.arrived.max(self.ended + delay + added);
        (self.ended, self.arrived)
    }

    /// Mean rate that the link offered between two times of the run, bit/s.
    pub(crate) fn mean_bps(&self, from: Time, to: Time) -> f64 {
        let offset = self.trace.offset;
        let parts = self.trace.parts_between(from + offset, to + offset);
        parts as f64 / (to - from).0.max(1) as f64
    }

    /// Goes on to the period and the entry of the time `at`, which is not before the place reached: `find` gives the
    /// entry for a position in a period.
    fn seek(&mut self, at: u64, find: impl Fn(u64) -> usize) {
        let period = self.trace.period.0;
        let entries = self.trace.entries();
        let (base, index) = if self.trace.period == Time::NEVER {
            (0, find(at))
        } else {
            let base = at / period * period;
            let index = find(at - base);
            if index == entries { (base + period, 0) } else { (base, index) }
        };
        if (base, index) > (self.base, self.index) {
            (self.base, self.index) = (base, index);
        }
    }

    fn advance(&mut self, entries: usize) {
        self.index += 1;
        if self.index == entries && self.trace.period != Time::NEVER {
            (self.index, self.base) = (0, self.base + self.trace.period.0);
        }
        self.index = self.index.min(entries - 1);
    }
}
