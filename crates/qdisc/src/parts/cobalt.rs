//! COBALT: CoDel and BLUE side by side, the queue management of CAKE.
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
use crate::parts::codel::{INTERVAL, TARGET, control_law};
use crate::spec::Options;

/// BLUE's steps up and down (d1 and d2 of Feng 2002), in units of 2^-32: 1/256 and 1/4096, as in Linux.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

/// What all queues of one discipline have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    target: Time,
    interval: Time,
}

impl Law {
    /// From the parameters [`TARGET`] and [`INTERVAL`] of CoDel.
    pub(crate) fn with_options(options: &Options) -> Law {
        Law { target: options.time(TARGET.name), interval: options.time(INTERVAL.name) }
    }

    #[inline]
    fn following(&self, time: Time, count: u32) -> Time {
        control_law(time, self.interval, count.max(1))
    }
}

/// State of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cobalt {
    /// Signals of this spell of delay, and what calm has left of those before.
    count: u32,
    /// Probability of BLUE, in units of 2^-32.
    blue: u32,
    /// When the next signal is due, or in calm the next step down of `count`.
    next: Time,
    /// When BLUE took its last step (freeze_time of Feng 2002 runs from here).
    stepped: Time,
    /// Whether the delay was above target at the last look.
    delayed: bool,
    /// Whether the count has ever changed by a signal or by calm. Before that Linux has no interval yet (the inverse square
    /// root is 0): the first signal does not wait for one.
    has_stepped: bool,
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
        let is_over = now.saturating_sub(packet.arrival) > law.target;
        // As in Linux: of a queue that was at rest for an interval, and whose first packet is late already, the next is due.
        let is_late = self.count == 0 && now > self.next;
        if is_over && !self.delayed {
            self.next = if self.has_stepped { law.following(now, self.count) } else { now };
        }
        if is_over {
            self.count = self.count.max(1);
        }
        self.delayed = is_over;
        let signal = was_due && is_over;
        if signal {
            // Saturates: a count that wrapped would let an unresponsive flow off.
            self.count = self.count.saturating_add(1);
            self.has_stepped = true;
            self.next = law.following(self.next, self.count);
        } else if !is_over {
            self.count_down(now, law);
        }
        // What BLUE drops is not marked before.
        let lost = self.blue_drops(&mut env.rng) && !last;
        let unmarked = signal && !lost && !env.mark(packet);
        if self.count == 0 {
            self.next = Time(now.0.saturating_add(law.interval.0));
        } else if (is_late || now > self.next) && !lost && !unmarked {
            // Behind with its signals: a mark stands for all of them, drops are made up for at once.
            self.next = now;
        }
        lost || (unmarked && !last)
    }

    fn blue_drops(&self, rng: &mut Stream) -> bool {
        self.blue > 0 && (rng.bits() >> 32) < u64::from(self.blue)
    }

    #[inline]
    fn count_down(&mut self, now: Time, law: &Law) {
        while self.count > 0 && now >= self.next {
            self.count -= 1;
            self.has_stepped = true;
            self.next = law.following(self.next, self.count);
        }
    }

    /// Another flow takes over the queue: all but what is told of it there is forgotten.
    pub(crate) fn handed_on(&mut self) {
        *self = Cobalt { has_stepped: self.has_stepped, ..Cobalt::default() };
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

    /// The queue was found empty when its turn came: at most one step down of BLUE.
    #[inline]
    pub(crate) fn emptied(&mut self, now: Time, law: &Law) {
        self.delayed = false;
        self.calm(now, law, 1);
    }

    /// A packet comes to the queue, which has been empty since [`Cobalt::emptied`]. Linux looks at empty
    /// queues again and again until their state has run down; here it runs down when they are used.
    #[inline]
    pub(crate) fn resumed(&mut self, now: Time, law: &Law) {
        self.calm(now, law, u64::MAX);
    }

    #[inline]
    fn calm(&mut self, now: Time, law: &Law, most: u64) {
        self.count_down(now, law);
        let waited = now.saturating_sub(self.stepped);
        if self.blue > 0 && waited > law.target {
            let down = (waited.0 / law.target.0).min(most).saturating_mul(u64::from(DOWN));
            self.blue = self.blue.saturating_sub(down.min(u64::from(u32::MAX)) as u32);
            self.stepped = now;
        }
    }
}
