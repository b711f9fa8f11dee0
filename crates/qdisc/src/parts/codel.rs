//! The law of CoDel, for one queue or many: when the packet at the head is dropped or marked. RFC 8289, section 5.

use units::Time;

use crate::base::{DropReason, Env};
use crate::packet::Packet;
use crate::spec::{Options, Param, Value};

/// Parameter: acceptable standing delay.
pub(crate) const TARGET: Param = Param {
    name: "target",
    unit: "s",
    about: "time in the queue that is acceptable (TARGET)",
    value: Value::Number { default: 0.005, min: 1e-6, max: 1e3 },
};

/// Parameter: how long the delay may exceed the target.
pub(crate) const INTERVAL: Param = Param {
    name: "interval",
    unit: "s",
    about: "how long it may be exceeded before the first drop; a worst-case round-trip time (INTERVAL)",
    value: Value::Number { default: 0.1, min: 1e-6, max: 1e3 },
};

/// Parameter: backlog that is never too much.
pub(crate) const MTU: Param = Param {
    name: "mtu",
    unit: "bytes",
    about: "nothing is dropped while no more than this waits behind (MTU)",
    value: Value::Whole { default: 1514, min: 1, max: 1 << 30 },
};

/// Parameter: marks instead of drops.
pub(crate) const ECN: Param = Param {
    name: "ecn",
    unit: "",
    about: "mark packets of ECN-capable transports instead of dropping them",
    value: Value::Choice(&["on", "off"]),
};

/// Constants of RFC 8289, section 5.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    target: Time,
    interval: Time,
    mtu: u64,
    ecn: bool,
}

impl Law {
    /// From [`TARGET`], [`INTERVAL`], [`MTU`] and [`ECN`].
    pub(crate) fn with_options(options: &Options) -> Law {
        Law {
            target: options.time(TARGET.name),
            interval: options.time(INTERVAL.name),
            mtu: options.whole(MTU.name),
            ecn: options.choice(ECN.name) == "on",
        }
    }
}

/// Section 5.6, `control_law`: interval / sqrt(count), rounded down. In integers, so that it is the same everywhere, the kernel
/// included.
pub(crate) fn control_law(time: Time, interval: Time, count: u32) -> Time {
    let square = u128::from(interval.0) * u128::from(interval.0) / u128::from(count);
    let span = u64::try_from(square).map_or_else(|_| square.isqrt() as u64, u64::isqrt);
    later(time, Time(span))
}

fn later(time: Time, span: Time) -> Time {
    Time(time.0.saturating_add(span.0))
}

/// State of one queue: RFC 8289, section 5.2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// When the queue will have been above the target for an interval; zero when it is not above.
    first_above: Time,
    /// Next drop, or the one that would have been next when the last dropping state ended.
    drop_next: Time,
    /// Drops in the present or last dropping state, on top of what it began with.
    count: u32,
    /// What `count` began with.
    last_count: u32,
    dropping: bool,
}

/// A queue under controlled delay.
pub(crate) trait Queue {
    /// When the packet at the head came, and the bytes behind it.
    fn head(&self, env: &Env) -> Option<(Time, u64)>;

    /// Takes the packet at the head.
    fn take(&mut self) -> Option<Packet>;
}

impl Control {
    /// Section 5.5, `deque`: the packet to send, if any. The packet at the head is looked at before it is
    /// taken, so that one that is sent is copied once.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, law: &Law, env: &mut Env, queue: &mut impl Queue) -> Option<Packet> {
        if !self.may_drop(law, env, queue) {
            self.dropping = false;
        } else if !self.dropping {
            return self.begin(law, env, queue);
        } else if env.now() >= self.drop_next {
            return self.go_on(law, env, queue);
        }
        queue.take()
    }

    /// The same where nothing waits behind the packet at the head, which is sent then.
    #[inline(always)]
    pub(crate) fn last_is_sent(&mut self) {
        (self.first_above, self.dropping) = (Time::ZERO, false);
    }

    /// Section 5.6, `dodequeue`: whether the packet at the head may be dropped.
    #[inline(always)]
    fn may_drop(&mut self, law: &Law, env: &Env, queue: &impl Queue) -> bool {
        let now = env.now();
        let above = |(arrival, behind)| now.saturating_sub(arrival) >= law.target && behind > law.mtu;
        if !queue.head(env).is_some_and(above) {
            self.first_above = Time::ZERO;
            return false;
        }
        if self.first_above == Time::ZERO {
            self.first_above = later(now, law.interval);
            return false;
        }
        now >= self.first_above
    }

    /// The `while` of section 5.5: a long backlog may call for several drops at once. A mark is a drop
    /// that leaves nothing to drop in its place, so it ends the loop.
    #[cold]
    fn go_on(&mut self, law: &Law, env: &mut Env, queue: &mut impl Queue) -> Option<Packet> {
        while env.now() >= self.drop_next {
            self.count = self.count.saturating_add(1);
            let mut packet = queue.take()?;
            if law.ecn && env.mark(&mut packet) {
                self.drop_next = control_law(self.drop_next, law.interval, self.count);
                return Some(packet);
            }
            env.discard(packet, DropReason::Early);
            if !self.may_drop(law, env, queue) {
                self.dropping = false;
                break;
            }
            self.drop_next = control_law(self.drop_next, law.interval, self.count);
        }
        queue.take()
    }

    /// The last branch of section 5.5: dropping begins.
    #[cold]
    fn begin(&mut self, law: &Law, env: &mut Env, queue: &mut impl Queue) -> Option<Packet> {
        let now = env.now();
        self.dropping = true;
        let delta = self.count - self.last_count;
        let recent = now.saturating_sub(self.drop_next).0 < law.interval.0.saturating_mul(16);
        let goes_on = delta > 1 && recent;
        self.count = if goes_on { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, law.interval, self.count);
        let mut packet = queue.take()?;
        if law.ecn && env.mark(&mut packet) {
            return Some(packet);
        }
        env.discard(packet, DropReason::Early);
        self.may_drop(law, env, queue);
        queue.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_law_in_integers_is_that_of_floating_point() {
        for interval in [100_000_000, 1_000_000, 20_000_000, 333_333_333, 4_000_000_000] {
            for count in 1..200_000_u32 {
                let expected = (interval as f64 / f64::from(count).sqrt()) as u64;
                assert_eq!(control_law(Time(5), Time(interval), count), Time(5 + expected), "{interval} {count}");
            }
        }
        assert_eq!(control_law(Time::ZERO, Time(u64::MAX), 1), Time(u64::MAX));
        assert_eq!(control_law(Time(1), Time(u64::MAX), 4), Time(1 + u64::MAX / 2));
    }
}
