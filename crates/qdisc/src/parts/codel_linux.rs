//! The law of CoDel as Linux has it (`include/net/codel_impl.h`, 6.1), for the disciplines that follow Linux.
//!
//! Against RFC 8289 (`codel.rs`): times are whole units of 1024 ns in 32 bits, so that they wrap after 73 minutes; the first drop
//! comes later than an interval after the target was exceeded, not at its end; 1 / sqrt(count) has 16 binary digits and is
//! brought nearer by one Newton step for each change of the count, so that it is far off for a while after the count has
//! jumped, and 0 until the queue has first dropped; what is spared is told by the caller. Not built in: marks above
//! `ce_threshold`, which Linux, where it is off, gives to packets that waited for more than 36 minutes.

use units::Time;

use crate::base::{DropReason, Env};
use crate::packet::Packet;
use crate::parts::codel::{ECN, INTERVAL, MTU, Queue, TARGET};
use crate::parts::codel_queues;
use crate::spec::Options;

/// Binary digits of a nanosecond count that Linux leaves out (`CODEL_SHIFT`).
const SHIFT: u32 = 10;

/// Time as CoDel of Linux counts it.
#[inline(always)]
fn units(time: Time) -> u32 {
    (time.0 >> SHIFT) as u32
}

/// Whether `a` is later than `b`, as serial numbers (RFC 1982).
#[inline(always)]
fn after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// Whether `a` is later than `b`, or the same.
#[inline(always)]
fn not_before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 >= 0
}

/// What all queues of one discipline have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    target: u32,
    interval: u32,
    mtu: u64,
    ecn: bool,
}

impl Law {
    /// From [`TARGET`], [`INTERVAL`], [`MTU`] and [`ECN`].
    pub(crate) fn with_options(options: &Options) -> Law {
        Law {
            target: units(options.time(TARGET.name)),
            interval: units(options.time(INTERVAL.name)),
            mtu: options.whole(MTU.name),
            ecn: options.choice(ECN.name) == "on",
        }
    }
}

/// A Newton step from `inverse` towards 1 / sqrt(count), both in units of 2^-16: y (3 - count y^2) / 2. It overflows as it does
/// in Linux where `inverse` is too large by more than sqrt(3).
fn newton_step(inverse: u16, count: u32) -> u16 {
    let y = u64::from(inverse) << 16;
    let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul((y * y) >> 32));
    ((rest >> 2).wrapping_mul(y) >> 47) as u16
}

/// State of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// Drops in the present or last dropping state, on top of what it began with.
    count: u32,
    /// What `count` began with.
    last_count: u32,
    /// When the queue will have been above the target for an interval; zero when it is not above.
    first_above: u32,
    /// Next drop, or the one that would have been next when the last dropping state ended.
    drop_next: u32,
    /// 1 / sqrt(count) in units of 2^-16, as Newton steps have come to it.
    inverse: u16,
    dropping: bool,
}

impl codel_queues::Control for Control {
    type Law = Law;

    fn law(options: &Options) -> Law {
        Law::with_options(options)
    }

    /// Of the backlog that spares Linux has one for all queues.
    const SPARES_BY_TOTAL: bool = true;

    const ARRIVING_LOSES_TIES: bool = false;

    #[inline(always)]
    fn dequeue(&mut self, law: &Law, env: &mut Env, queue: &mut impl Queue) -> Option<Packet> {
        if !self.may_drop(law, env, queue) {
            self.dropping = false;
        } else if !self.dropping {
            return self.begin(law, env, queue);
        } else if not_before(units(env.now()), self.drop_next) {
            return self.go_on(law, env, queue);
        }
        queue.take()
    }

    /// They count as drops of CoDel.
    fn overflowed(&mut self, packets: u32) {
        self.count = self.count.wrapping_add(packets);
    }
}

impl Control {
    /// Whether the packet at the head may be dropped.
    #[inline(always)]
    fn may_drop(&mut self, law: &Law, env: &Env, queue: &impl Queue) -> bool {
        let now = units(env.now());
        let above = |(arrival, behind)| !after(law.target, now.wrapping_sub(units(arrival))) && behind > law.mtu;
        if !queue.head(env).is_some_and(above) {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(law.interval);
            return false;
        }
        after(now, self.first_above)
    }

    /// Drops that are due, several at once where the queue is behind with them, or one mark in their place.
    #[cold]
    fn go_on(&mut self, law: &Law, env: &mut Env, queue: &mut impl Queue) -> Option<Packet> {
        let now = units(env.now());
        while not_before(now, self.drop_next) {
            self.count = self.count.wrapping_add(1);
            self.inverse = newton_step(self.inverse, self.count);
            let mut packet = queue.take()?;
            if law.ecn && env.mark(&mut packet) {
                self.drop_next = self.following(law, self.drop_next);
                return Some(packet);
            }
            env.discard(packet, DropReason::Early);
            if !self.may_drop(law, env, queue) {
                self.dropping = false;
                break;
            }
            self.drop_next = self.following(law, self.drop_next);
        }
        queue.take()
    }

    /// `time` + interval / sqrt(count).
    fn following(&self, law: &Law, time: u32) -> u32 {
        time.wrapping_add(((u64::from(law.interval) * u64::from(self.inverse)) >> 16) as u32)
    }

    /// Dropping begins, near the rate at which it ended where that is not long ago.
    #[cold]
    fn begin(&mut self, law: &Law, env: &mut Env, queue: &mut impl Queue) -> Option<Packet> {
        let now = units(env.now());
        let mut packet = queue.take()?;
        let marked = law.ecn && env.mark(&mut packet);
        if !marked {
            env.discard(packet, DropReason::Early);
            self.may_drop(law, env, queue);
        }
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let since = now.wrapping_sub(self.drop_next);
        if delta > 1 && after(law.interval.wrapping_mul(16), since) {
            self.count = delta;
            self.inverse = newton_step(self.inverse, delta);
        } else {
            self.count = 1;
            self.inverse = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.following(law, now);
        if marked { Some(packet) } else { queue.take() }
    }
}
