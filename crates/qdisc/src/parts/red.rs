//! The law of RED: the average queue, and the decision by it. Floyd and Jacobson 1993; Floyd 2000 (gentle); RFC 3168,
//! section 7; Zhao 2004, IV.

use units::Time;

use crate::base::{DropReason, Env, Limit};
use crate::packet::Packet;
use crate::spec::{OptionError, Options, Param, Value};

/// Parameters of RED, and of CHOKe.
pub(crate) const PARAMS: [Param; 11] = [
    Param {
        name: "min_th",
        unit: "packets or bytes",
        about: "average from which packets are dropped early, in the unit of mode; 0: a third of max_th, a quarter of the limit without",
        value: Value::Number { default: 0.0, min: 0.0, max: 1e12 },
    },
    Param {
        name: "max_th",
        unit: "packets or bytes",
        about: "average at which the probability is max_p, in the unit of mode; 0: three times min_th",
        value: Value::Number { default: 0.0, min: 0.0, max: 1e12 },
    },
    Param {
        name: "mode",
        unit: "",
        about: "unit of the average; in bytes the probability of a packet goes with its length",
        value: Value::Choice(&["packets", "bytes"]),
    },
    Param {
        name: "max_p",
        unit: "probability",
        about: "drop probability at max_th",
        value: Value::Number { default: 0.1, min: 1e-6, max: 1.0 },
    },
    Param {
        name: "weight",
        unit: "share of the new value",
        about: "weight of the present queue in the average (w_q)",
        value: Value::Number { default: 0.002, min: 1e-6, max: 1.0 },
    },
    Param {
        name: "gentle",
        unit: "",
        about: "beyond max_th: on: the probability rises to 1 at twice max_th; off: every packet is dropped",
        value: Value::Choice(&["on", "off"]),
    },
    Param {
        name: "spacing",
        unit: "",
        about: "packets from one drop to the next at probability p: uniform on 1 to 1/p, or (wait, as ns-2) on 1/p to 2/p",
        value: Value::Choice(&["uniform", "wait"]),
    },
    Param {
        name: "ecn",
        unit: "",
        about: "on: packets that understand ECN are marked instead of dropped while the probability is below 1 (RED-ECN)",
        value: Value::Choice(&["off", "on"]),
    },
    Param {
        name: "mark_max",
        unit: "probability",
        about: "with ecn: drop probability, before spacing, above which packets are dropped and no more marked; ns-2: 0.1",
        value: Value::Number { default: 1.0, min: 0.0, max: 1.0 },
    },
    Param {
        name: "mean_packet",
        unit: "bytes",
        about: "length of a typical packet: the unit of idle time, and of probability when mode is bytes",
        value: Value::Number { default: 1000.0, min: 1.0, max: 1e9 },
    },
    Param {
        name: "transmission",
        unit: "s",
        about: "time to send a typical packet (s), for idle time; 0: measured from departures",
        value: Value::Number { default: 0.0, min: 0.0, max: 1e6 },
    },
];

/// What the average says of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// It enters.
    Pass,
    /// It was drawn, at this p_b: to be marked or dropped.
    Drawn(f64),
    /// The average is beyond the upper threshold: to be dropped.
    Forced,
}

/// The average queue, and the decision by it.
#[derive(Debug)]
pub(crate) struct Detector {
    in_bytes: bool,
    gentle: bool,
    wait: bool,
    ecn: bool,
    /// Thresholds; zero until the limit is known when they go by it.
    min_th: f64,
    max_th: f64,
    max_p: f64,
    mark_max: f64,
    weight: f64,
    mean_packet: f64,
    average: f64,
    /// Typical packets since the last drop or mark, or since the average came above `min_th`.
    since: f64,
    /// Nothing is dropped early, as with both thresholds at the end of the buffer.
    pub(crate) is_tail: bool,
    /// Time to send a byte, ns; zero while it is not known.
    per_byte: f64,
    is_measured: bool,
    /// The last departure, whether packets waited behind it, and its length.
    departed: Time,
    left_some: bool,
    length: f64,
}

/// `base` to the power `exponent` by squaring: the same on every platform, unlike `powf` of the
/// system.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut power = 1.0;
    while exponent > 0 && power > 0.0 {
        if exponent & 1 == 1 {
            power *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    power
}

impl Detector {
    /// An empty queue with options of [`PARAMS`].
    pub(crate) fn with_options(options: &Options) -> Result<Self, OptionError> {
        let (min_th, max_th) = (options.number("min_th"), options.number("max_th"));
        if max_th > 0.0 && min_th > max_th {
            return Err(options.refuse("min_th", &format!("at most max_th, {max_th}")));
        }
        let mean_packet = options.number("mean_packet");
        let transmission = options.number("transmission");
        Ok(Detector {
            in_bytes: options.choice("mode") == "bytes",
            gentle: options.choice("gentle") == "on",
            wait: options.choice("spacing") == "wait",
            ecn: options.choice("ecn") == "on",
            min_th: if min_th > 0.0 { min_th } else { max_th / 3.0 },
            max_th: if max_th > 0.0 { max_th } else { 3.0 * min_th },
            max_p: options.number("max_p"),
            mark_max: options.number("mark_max"),
            weight: options.number("weight"),
            mean_packet,
            average: 0.0,
            since: 0.0,
            is_tail: false,
            per_byte: transmission * 1e9 / mean_packet,
            is_measured: transmission == 0.0,
            departed: Time::ZERO,
            left_some: false,
            length: 0.0,
        })
    }

    /// Thresholds by the limit: a quarter and three quarters of it, as 15 and 45 of 60 packets in
    /// Zhao 2004, II.C, and three times as far apart as IV asks.
    #[cold]
    fn settle(&mut self, limit: Limit) {
        let limit = match (limit, self.in_bytes) {
            (Limit::Packets(packets), false) => f64::from(packets),
            (Limit::Packets(packets), true) => f64::from(packets) * self.mean_packet,
            (Limit::Bytes(bytes), false) => bytes as f64 / self.mean_packet,
            (Limit::Bytes(bytes), true) => bytes as f64,
        };
        self.min_th = limit / 4.0;
        self.max_th = 3.0 * self.min_th;
    }

    /// Moves the average: Floyd and Jacobson 1993, Figure 2. Called first for every arrival, whatever
    /// becomes of it.
    #[inline]
    pub(crate) fn arrive(&mut self, env: &Env) {
        if self.max_th == 0.0 {
            self.settle(env.limit());
        }
        let stats = env.stats();
        self.observe(if self.in_bytes { stats.backlog_bytes() } else { stats.backlog() }, env.now());
    }

    #[inline]
    fn observe(&mut self, waiting: u64, now: Time) {
        if waiting == 0 {
            self.idle(now);
        }
        self.average += self.weight * (waiting as f64 - self.average);
    }

    /// avg <- (1 - w_q)^m avg, m being the typical packets that the link could have sent since it
    /// finished the last one. Figure 2 leaves it at that; here the arriving packet, which finds the
    /// queue empty too, counts as in ns-2.
    fn idle(&mut self, now: Time) {
        if self.per_byte > 0.0 {
            let idle = (now.saturating_sub(self.departed).0 as f64 - self.length * self.per_byte).max(0.0);
            self.average *= power(1.0 - self.weight, (idle / (self.per_byte * self.mean_packet)) as u64);
        }
    }

    /// Whether early drops are due at all. A packet that finds at most one other is never dropped
    /// early, as in ns-2: an average that outlives the queue would make the link idle.
    #[inline]
    pub(crate) fn is_congested(&self, env: &Env) -> bool {
        self.average >= self.min_th && env.stats().backlog() > 1 && !self.is_tail
    }

    /// p_b: Floyd and Jacobson 1993, Equation 2, and Floyd 2000 beyond `max_th`.
    #[inline]
    fn probability(&self) -> f64 {
        if self.average < self.max_th {
            self.max_p * (self.average - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle && self.average < 2.0 * self.max_th {
            self.max_p + (1.0 - self.max_p) * (self.average - self.max_th) / self.max_th
        } else {
            1.0
        }
    }

    #[inline]
    fn judge(&mut self, len: u32, env: &mut Env) -> Verdict {
        if !self.is_congested(env) {
            self.since = 0.0;
            return Verdict::Pass;
        }
        let before = self.probability();
        if before >= 1.0 {
            self.since = 0.0;
            return Verdict::Forced;
        }
        let size = if self.in_bytes { f64::from(len) / self.mean_packet } else { 1.0 };
        let chance = self.spread(before, size);
        self.since += size;
        if chance >= 1.0 || (chance > 0.0 && env.rng.uniform() < chance) {
            self.since = 0.0;
            return Verdict::Drawn(before);
        }
        Verdict::Pass
    }

    /// p_a: spreads the drops. Floyd and Jacobson 1993, section 7, method 2: the interval from one to
    /// the next is uniform on 1 to 1/p_b packets. Their Figure 2 counts one packet too many after a
    /// drop, which makes it 1 to 1/p_b - 1; here what section 7 says. `wait` as in ns-2.
    #[inline]
    fn spread(&self, before: f64, size: f64) -> f64 {
        let rest = if self.wait {
            let passed = (self.since + size) * before;
            if passed < 1.0 {
                return 0.0;
            }
            2.0 - passed
        } else {
            1.0 - self.since * before
        };
        if rest > 0.0 { before * size / rest } else { 1.0 }
    }

    /// Passes an arriving packet to `env`, and hands it back, perhaps marked, when it enters.
    #[inline]
    pub(crate) fn admit(&mut self, mut packet: Packet, env: &mut Env) -> Option<Packet> {
        if env.is_full(packet.len) {
            // A drop is a drop: the count starts anew, as in ns-2.
            self.since = 0.0;
            env.refuse(packet, DropReason::Full);
            return None;
        }
        let enters = match self.judge(packet.len, env) {
            Verdict::Pass => true,
            Verdict::Drawn(before) => self.ecn && before <= self.mark_max && env.mark(&mut packet),
            // RFC 3168, section 7: beyond the upper threshold packets are dropped, not marked.
            Verdict::Forced => false,
        };
        if !enters {
            env.refuse(packet, DropReason::Early);
            return None;
        }
        env.accept(&packet);
        Some(packet)
    }

    /// A packet of `len` bytes leaves, and others wait behind it or not. From one departure to the
    /// next while packets wait is what the transmission of the first took: a queue is not told the
    /// speed of its link.
    #[inline]
    pub(crate) fn depart(&mut self, len: u32, leaves_some: bool, now: Time) {
        let gap = now.saturating_sub(self.departed).0 as f64;
        if self.is_measured && self.left_some && gap > 0.0 {
            let per_byte = gap / self.length;
            let share = if self.per_byte > 0.0 { 0.125 } else { 1.0 };
            self.per_byte += share * (per_byte - self.per_byte);
        }
        self.departed = now;
        self.left_some = leaves_some;
        self.length = f64::from(len.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Discipline as _;
    use crate::disciplines::red::Red;
    use crate::spec::Spec;

    static SPEC: Spec = Red::SPEC;

    fn detector(options: &[(&str, &str)]) -> Detector {
        let given: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let options = Options::parse(&SPEC, &given).expect("valid options");
        Detector::with_options(&options).expect("they go together")
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn the_average_moves_by_its_weight_towards_the_queue_at_each_arrival() {
        let mut red = detector(&[("weight", "0.5")]);
        let averages = [1, 2, 3, 4, 4].map(|waiting| {
            red.observe(waiting, Time::ZERO);
            red.average
        });
        assert_eq!(averages, [0.5, 1.25, 2.125, 3.0625, 3.53125]);
    }

    #[test]
    fn idle_time_counts_as_the_packets_the_link_could_have_sent() {
        let mut red = detector(&[("weight", "0.5")]);
        // Two departures of 1000 bytes, 1 ms apart: the link is busy until 2 ms, idle for 3 ms then.
        red.depart(1000, true, Time(0));
        red.depart(1000, false, Time(MS));
        red.average = 8.0;
        red.observe(0, Time(5 * MS));
        assert_eq!(red.average, 8.0 * 0.125 * 0.5, "three packets and the one that arrives");
    }

    #[test]
    fn a_link_that_still_sends_is_not_idle() {
        let mut red = detector(&[("weight", "0.5")]);
        red.depart(1000, true, Time(0));
        red.depart(3000, false, Time(MS));
        red.average = 8.0;
        red.observe(0, Time(4 * MS));
        assert_eq!(red.average, 4.0);
    }

    #[test]
    fn the_time_of_a_typical_packet_can_be_given() {
        let mut red = detector(&[("weight", "0.5"), ("transmission", "0.002"), ("mean_packet", "500")]);
        red.depart(500, true, Time(0));
        red.depart(500, false, Time(MS));
        red.average = 8.0;
        red.observe(0, Time(7 * MS));
        assert_eq!(red.average, 8.0 * 0.25 * 0.5, "busy until 3 ms, two packets of 2 ms");
    }

    #[test]
    fn only_gaps_between_packets_of_one_backlog_tell_the_speed_of_the_link() {
        let mut red = detector(&[]);
        red.depart(1000, false, Time(0));
        red.depart(1000, true, Time(50 * MS));
        assert_eq!(red.per_byte, 0.0, "idle in between");
        red.depart(1500, true, Time(51 * MS));
        assert_eq!(red.per_byte, 1000.0);
        red.depart(1000, true, Time(54 * MS));
        assert_eq!(red.per_byte, 1000.0 + 0.125 * 1000.0, "1500 bytes took 3 ms");
    }

    #[test]
    fn powers_are_those_of_repeated_multiplication() {
        assert_eq!([0, 1, 2, 5, 11].map(|n| power(0.5, n)), [1.0, 0.5, 0.25, 0.03125, 0.000_488_281_25]);
        assert_eq!((power(0.0, 0), power(0.0, 3), power(0.998, u64::MAX)), (1.0, 0.0, 0.0));
    }

    #[test]
    fn thresholds_that_are_not_given_go_by_the_limit_or_by_each_other() {
        let settled = |options: &[(&str, &str)], limit| {
            let mut red = detector(options);
            if red.max_th == 0.0 {
                red.settle(limit);
            }
            (red.min_th, red.max_th)
        };
        assert_eq!(settled(&[], Limit::Packets(60)), (15.0, 45.0), "Zhao 2004, II.C");
        assert_eq!(settled(&[], Limit::Bytes(60_000)), (15.0, 45.0));
        assert_eq!(settled(&[("mode", "bytes")], Limit::Packets(60)), (15_000.0, 45_000.0));
        assert_eq!(settled(&[("mode", "bytes")], Limit::Bytes(6000)), (1500.0, 4500.0));
        assert_eq!(settled(&[("min_th", "5")], Limit::Packets(300)), (5.0, 15.0));
        assert_eq!(settled(&[("max_th", "30")], Limit::Packets(300)), (10.0, 30.0));
    }

    #[test]
    fn a_lower_threshold_above_the_upper_one_is_refused() {
        let given = [("min_th", "31"), ("max_th", "30")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let options = Options::parse(&SPEC, &given).expect("each within its bounds");
        let error = Detector::with_options(&options).expect_err("refused").to_string();
        assert_eq!(error, "min_th = '31': must be at most max_th, 30");
    }

    #[test]
    fn the_probability_rises_to_max_p_and_then_to_one() {
        let at = |gentle, average| {
            let mut red = detector(&[("min_th", "10"), ("max_th", "30"), ("max_p", "0.5"), ("gentle", gentle)]);
            red.average = average;
            red.probability()
        };
        assert_eq!([10.0, 20.0, 30.0, 45.0, 60.0, 61.0].map(|avg| at("on", avg)), [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]);
        assert_eq!([20.0, 30.0, 45.0].map(|avg| at("off", avg)), [0.25, 1.0, 1.0]);
    }
}
