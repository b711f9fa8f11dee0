//! COBALT: CoDel and BLUE side by side, the queue management of CAKE, as Linux has it (`sch_cake.c`, 6.1).
//!
//! Principle: CoDel signals, by a mark or else a drop, while packets wait longer than `target`: the
//! n-th signal comes interval / sqrt(n) after the one before. In calm the count runs down at the same
//! pace, so that the next spell goes on where this one would be by then. BLUE drops at random, for
//! flows that heed no signal: its probability rises when the buffer overflows with this queue the
//! longest, and falls while the queue is empty. It never marks, since marks did not help.
//! Cost per packet: O(1); a step down of the count was paid by the signal that made it go up.
//! Source: Høiland-Jørgensen 2018; Nichols and Jacobson, RFC 8289; Feng 2002, section 3.

use units::{Stream, Time};

use crate::base::Env;
use crate::packet::Packet;
use crate::parts::codel::{INTERVAL, TARGET};
use crate::spec::Options;

/// BLUE's steps up and down (d1 and d2 of Feng 2002), in units of 2^-32: 1/256 and 1/4096.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

/// 1 / sqrt(count) of small counts, which one Newton step would miss by far, in units of 2^-32. Of 0 as of 1 it is as near to
/// 1 as can be: `interval` is also what passes before the first signal.
const SMALL: [u32; 16] = {
    let mut small = [u32::MAX; 16];
    let (mut count, mut inverse) = (1, u32::MAX);
    while count < small.len() {
        let mut step = 0;
        while step < 4 {
            inverse = newton_step(inverse, count as u32);
            step += 1;
        }
        small[count] = inverse;
        count += 1;
    }
    small
};

/// A Newton step from `inverse` towards 1 / sqrt(count), both in units of 2^-32: y (3 - count y^2) / 2.
const fn newton_step(inverse: u32, count: u32) -> u32 {
    let y = inverse as u64;
    let rest = (3_u64 << 32).wrapping_sub((count as u64).wrapping_mul((y * y) >> 32));
    ((rest >> 2).wrapping_mul(y) >> 31) as u32
}

/// What all queues of one discipline have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    target: Time,
    interval: Time,
}

impl Law {
    /// From the parameters [`TARGET`] and [`INTERVAL`] of CoDel. As in Linux the interval is two targets at least.
    pub(crate) fn with_options(options: &Options) -> Law {
        let target = options.time(TARGET.name);
        let interval = options.time(INTERVAL.name).0.max(2 * target.0);
        Law { target, interval: Time(interval) }
    }

    /// `time` + interval / sqrt(count). Linux takes 32 bits of the interval, which is less than it should be from 4.3 s on.
    #[inline]
    fn following(&self, time: Time, inverse: u32) -> Time {
        let span = (u64::from(self.interval.0 as u32) * u64::from(inverse)) >> 32;
        Time(time.0.saturating_add(span))
    }
}

/// State of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cobalt {
    /// Signals of this spell of delay, and what calm has left of those before.
    count: u32,
    /// 1 / sqrt(count) in units of 2^-32, reckoned when the count changes: 0 before it ever has, so that the first signal
    /// of a queue does not wait for an interval.
    inverse: u32,
    /// Probability of BLUE, in units of 2^-32.
    blue: u32,
    /// Whether the delay was above target at the last look.
    delayed: bool,
    /// When the next signal is due, or in calm the next step down of `count`; at rest, an interval after the last packet.
    next: Time,
    /// When BLUE took its last step (freeze_time of Feng 2002 runs from here).
    stepped: Time,
}

impl Cobalt {
    /// Whether `packet`, which has just left the queue, is to be dropped instead of sent. Marks it when
    /// a signal is due and can be a mark. The last packet of a queue is never dropped.
    #[inline(always)]
    pub(crate) fn drops(&mut self, packet: &mut Packet, last: bool, env: &mut Env, law: &Law) -> bool {
        let now = env.now();
        if now.saturating_sub(packet.arrival) <= law.target && self.count == 0 && self.blue == 0 {
            self.delayed = false;
            self.next = Time(now.0.saturating_add(law.interval.0));
            return false;
        }
        // A copy, so that the packet stays in registers above: see `Order::push`.
        let mut copy = *packet;
        let drops = self.decides(&mut copy, last, env, law);
        packet.ecn = copy.ecn;
        drops
    }

    fn decides(&mut self, packet: &mut Packet, last: bool, env: &mut Env, law: &Law) -> bool {
        let now = env.now();
        let was_due = self.count > 0 && now >= self.next;
        // Before an interval begins below: of a queue that was at rest for an interval, and whose first packet is late
        // already, the next is due.
        let mut is_late = now > self.next;
        let is_over = now.saturating_sub(packet.arrival) > law.target;
        if is_over && !self.delayed {
            self.next = law.following(now, self.inverse);
        }
        if is_over {
            self.count = self.count.max(1);
        }
        self.delayed = is_over;
        let signal = was_due && is_over;
        if signal {
            // Saturates: a count that wrapped would let an unresponsive flow off.
            self.recount(self.count.saturating_add(1), law);
            is_late = now > self.next;
        } else if was_due {
            while self.count > 0 && now >= self.next {
                self.recount(self.count - 1, law);
            }
            is_late = now > self.next;
        }
        let blue = self.blue_drops(&mut env.rng);
        // What BLUE drops is not marked before, so that marks are of packets that are sent.
        let unmarked = signal && (last || !blue) && !env.mark(packet);
        let drop = blue || unmarked;
        if self.count == 0 {
            self.next = Time(now.0.saturating_add(law.interval.0));
        } else if is_late && !drop {
            // Behind with its signals: a mark stands for all of them, drops are made up for at once.
            self.next = now;
        }
        drop && !last
    }

    fn blue_drops(&self, rng: &mut Stream) -> bool {
        self.blue > 0 && ((rng.bits() >> 32) as u32) < self.blue
    }

    /// The count goes up or down by one, and the next step is due accordingly.
    #[inline]
    fn recount(&mut self, count: u32, law: &Law) {
        self.count = count;
        self.inverse = SMALL.get(count as usize).copied().unwrap_or_else(|| newton_step(self.inverse, count));
        self.next = law.following(self.next, self.inverse);
    }

    /// The buffer overflows, and this queue is the one that has to give way.
    pub(crate) fn overflowed(&mut self, now: Time, law: &Law) {
        if now.saturating_sub(self.stepped) > law.target {
            self.blue = self.blue.saturating_add(UP);
            self.stepped = now;
        }
        self.delayed = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue was found empty when its turn came: one step down at most. True when nothing is left to run down, an
    /// interval has passed since the last packet, and so another flow may have the queue.
    #[inline]
    pub(crate) fn emptied(&mut self, now: Time, law: &Law) -> bool {
        if self.blue > 0 && now.saturating_sub(self.stepped) > law.target {
            self.blue = self.blue.saturating_sub(DOWN);
            self.stepped = now;
        }
        self.delayed = false;
        if self.count > 0 && now >= self.next {
            self.recount(self.count - 1, law);
        }
        self.blue == 0 && self.count == 0 && now >= self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four steps from 1 are too few for 1 / sqrt(2): the second signal comes 40 us early of 71 ms.
    #[test]
    fn small_inverse_roots_are_exact_but_for_that_of_2() {
        for (count, &inverse) in SMALL.iter().enumerate().skip(1) {
            let ratio = f64::from(inverse) / 4_294_967_296.0 * (count as f64).sqrt();
            let bound = if count == 2 { 6e-4 } else { 1e-7 };
            assert!((ratio - 1.0).abs() < bound, "{count}: {ratio}");
        }
        assert_eq!((SMALL[0], SMALL[1]), (u32::MAX, u32::MAX));
    }
}
