//! RED in integers, as in a kernel: what [`crate::parts::red::Detector`] decides, with the same options and its own random numbers.
//!
//! Principle: the average is times 2^20, probabilities and the weight times 2^31, times to send a byte times 2^16. Where a
//! product would be too long for 64 bits both sides of a ratio give up low bits first. Only shifts, 64-bit divisions and
//! products of 64 and 32 bits are used, so that each line is one of C: `kernel/core/red.c` decides the same.
//! Cost per packet: that of RED, one 64-bit division where drops are due. Source: as [`crate::parts::red`]; Zhao 2004, III.A.2.

use units::{Stream, Time};

use crate::base::{DropReason, Env, Limit};
use crate::packet::Packet;
use crate::spec::{OptionError, Options};

/// Bits of the average behind the point.
const AVERAGE_BITS: u32 = 20;
/// Bits of probabilities and weights.
const SHARE_BITS: u32 = 31;
const ONE: u64 = 1 << SHARE_BITS;
/// Bits of the time to send a byte, ns.
const BYTE_BITS: u32 = 16;
/// Longest time that is measured, 39 hours: with [`BYTE_BITS`] it fits.
const LONGEST: u64 = (1 << 47) - 1;
/// Largest queue that thresholds go by, packets or bytes.
const LARGEST: u64 = 1 << 41;

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug)]
struct Random(u64);

impl Random {
    /// 31 random bits.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) >> (64 - SHARE_BITS)
    }
}

/// `value` times `share`, a part of [`ONE`], rounded down.
#[inline]
fn part(value: u64, share: u64) -> u64 {
    ((u128::from(value) * u128::from(share)) >> SHARE_BITS) as u64
}

/// `base` to the power `exponent` by squaring, both parts of [`ONE`], rounded to the nearest.
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let times = |a: u64, b: u64| (a * b + ONE / 2) >> SHARE_BITS;
    let mut power = ONE;
    while exponent > 0 && power > 0 {
        if exponent & 1 == 1 {
            power = times(power, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    power
}

/// What the average says of an arriving packet.
enum Verdict {
    Pass,
    /// It was drawn, at this p_b.
    Drawn(u64),
    Forced,
}

/// The average queue, and the decision by it.
#[derive(Debug)]
pub(crate) struct FixedDetector {
    in_bytes: bool,
    gentle: bool,
    wait: bool,
    ecn: bool,
    /// Thresholds times 2^20; zero until the limit is known when they go by it.
    min_th: u64,
    max_th: u64,
    /// Bits that averages give up in ratios.
    cut: u32,
    max_p: u64,
    mark_max: u64,
    weight: u64,
    /// Bytes.
    mean_packet: u64,
    average: u64,
    /// Packets, in bytes mode bytes, since the last drop or mark, or since the average came above `min_th`.
    since: u64,
    /// Nothing is dropped early, as with both thresholds at the end of the buffer.
    pub(crate) is_tail: bool,
    /// Time to send a byte, ns times 2^16; zero while it is not known.
    per_byte: u64,
    is_measured: bool,
    departed: Time,
    left_some: bool,
    length: u64,
    random: Random,
}

impl FixedDetector {
    /// An empty queue with options of [`crate::parts::red::PARAMS`].
    pub(crate) fn with_options(options: &Options, rng: &mut Stream) -> Result<Self, OptionError> {
        let given = |name| options.number(name);
        let (min_th, max_th) = (given("min_th"), given("max_th"));
        if max_th > 0.0 && min_th > max_th {
            return Err(options.refuse("min_th", &format!("at most max_th, {max_th}")));
        }
        let scaled = |value: f64, bits: u32| (value * (1_u64 << bits) as f64).round() as u64;
        let (lower, upper) = (scaled(min_th, AVERAGE_BITS), scaled(max_th, AVERAGE_BITS));
        let mean_packet = (given("mean_packet").round() as u64).max(1);
        let transmission = ((given("transmission") * 1e9).round() as u64).min(LONGEST);
        let mut red = FixedDetector {
            in_bytes: options.choice("mode") == "bytes",
            gentle: options.choice("gentle") == "on",
            wait: options.choice("spacing") == "wait",
            ecn: options.choice("ecn") == "on",
            min_th: 0,
            max_th: 0,
            cut: 0,
            max_p: scaled(given("max_p"), SHARE_BITS),
            mark_max: scaled(given("mark_max"), SHARE_BITS),
            weight: scaled(given("weight"), SHARE_BITS),
            mean_packet,
            average: 0,
            since: 0,
            is_tail: false,
            per_byte: (transmission << BYTE_BITS) / mean_packet,
            is_measured: transmission == 0,
            departed: Time::ZERO,
            left_some: false,
            length: 0,
            random: Random(rng.bits()),
        };
        red.bound(if lower > 0 { lower } else { upper / 3 }, if upper > 0 { upper } else { 3 * lower });
        Ok(red)
    }

    fn bound(&mut self, min_th: u64, max_th: u64) {
        (self.min_th, self.max_th) = (min_th, max_th);
        self.cut = (64 - (2 * max_th).leading_zeros()).saturating_sub(32);
    }

    /// Thresholds by the limit: a quarter and three quarters of it.
    #[cold]
    fn settle(&mut self, limit: Limit) {
        let limit = match (limit, self.in_bytes) {
            (Limit::Packets(packets), false) => u64::from(packets) << AVERAGE_BITS,
            (Limit::Packets(packets), true) => (u64::from(packets) * self.mean_packet).min(LARGEST) << AVERAGE_BITS,
            (Limit::Bytes(bytes), false) => (bytes.min(LARGEST) << AVERAGE_BITS) / self.mean_packet,
            (Limit::Bytes(bytes), true) => bytes.min(LARGEST) << AVERAGE_BITS,
        };
        self.bound(limit / 4, 3 * (limit / 4));
    }

    /// Moves the average. Called first for every arrival, whatever becomes of it.
    #[inline]
    pub(crate) fn arrive(&mut self, env: &Env) {
        if self.max_th == 0 {
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
        let waiting = waiting.min(LARGEST) << AVERAGE_BITS;
        if waiting >= self.average {
            self.average += part(waiting - self.average, self.weight);
        } else {
            self.average -= part(self.average - waiting, self.weight);
        }
    }

    /// avg <- (1 - w_q)^m avg, m being the typical packets that the link could have sent since it finished the last one.
    fn idle(&mut self, now: Time) {
        if self.per_byte > 0 {
            let busy = self.length.saturating_mul(self.per_byte) >> BYTE_BITS;
            let idle = now.saturating_sub(self.departed).0.saturating_sub(busy);
            let packet = (self.per_byte.saturating_mul(self.mean_packet) >> BYTE_BITS).max(1);
            self.average = part(self.average, power(ONE - self.weight, idle / packet));
        }
    }

    #[inline]
    fn is_congested(&self, env: &Env) -> bool {
        self.average >= self.min_th && env.stats().backlog() > 1 && !self.is_tail
    }

    /// p_b: Floyd and Jacobson 1993, Equation 2, and Floyd 2000 beyond `max_th`.
    #[inline]
    fn probability(&self) -> u64 {
        let ratio = |whole: u64, over: u64, under: u64| whole * (over >> self.cut) / (under >> self.cut).max(1);
        if self.average < self.max_th {
            ratio(self.max_p, self.average - self.min_th, self.max_th - self.min_th)
        } else if self.gentle && self.average < 2 * self.max_th {
            self.max_p + ratio(ONE - self.max_p, self.average - self.max_th, self.max_th)
        } else {
            ONE
        }
    }

    #[inline]
    fn judge(&mut self, len: u32, env: &Env) -> Verdict {
        if !self.is_congested(env) {
            self.since = 0;
            return Verdict::Pass;
        }
        let before = self.probability();
        if before >= ONE {
            self.since = 0;
            return Verdict::Forced;
        }
        let size = if self.in_bytes { u64::from(len) } else { 1 };
        let is_drawn = self.is_drawn(before, size);
        self.since = if is_drawn { 0 } else { self.since.saturating_add(size) };
        if is_drawn { Verdict::Drawn(before) } else { Verdict::Pass }
    }

    /// With p_a = p_b size / (1 - since p_b), or as ns-2 waits ([`crate::parts::red`]); both sides times the typical packet.
    #[inline]
    fn is_drawn(&mut self, before: u64, size: u64) -> bool {
        let whole = if self.in_bytes { self.mean_packet } else { 1 } << SHARE_BITS;
        let over = before * size;
        let rest = if self.wait {
            let passed = self.since.saturating_add(size).saturating_mul(before);
            if passed < whole {
                return false;
            }
            (2 * whole).saturating_sub(passed)
        } else {
            whole.saturating_sub(self.since.saturating_mul(before))
        };
        if over >= rest || over == 0 {
            return over > 0 || rest == 0;
        }
        let cut = (64 - rest.leading_zeros()).saturating_sub(32);
        self.random.next() * (rest >> cut) < (over >> cut) << SHARE_BITS
    }

    /// Passes an arriving packet to `env`, and hands it back, perhaps marked, when it enters.
    #[inline]
    pub(crate) fn admit(&mut self, mut packet: Packet, env: &mut Env) -> Option<Packet> {
        if env.is_full(packet.len) {
            self.since = 0;
            env.refuse(packet, DropReason::Full);
            return None;
        }
        let enters = match self.judge(packet.len, env) {
            Verdict::Pass => true,
            Verdict::Drawn(before) => self.ecn && before <= self.mark_max && env.mark(&mut packet),
            Verdict::Forced => false,
        };
        if !enters {
            env.refuse(packet, DropReason::Early);
            return None;
        }
        env.accept(&packet);
        Some(packet)
    }

    /// A packet of `len` bytes leaves, and others wait behind it or not.
    #[inline]
    pub(crate) fn depart(&mut self, len: u32, leaves_some: bool, now: Time) {
        let gap = now.saturating_sub(self.departed).0.min(LONGEST);
        if self.is_measured && self.left_some && gap > 0 {
            let per_byte = ((gap << BYTE_BITS) / self.length).max(1);
            self.per_byte = match self.per_byte {
                0 => per_byte,
                old if per_byte >= old => old + (per_byte - old) / 8,
                old => old - (old - per_byte) / 8,
            };
        }
        self.departed = now;
        self.left_some = leaves_some;
        self.length = u64::from(len.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Discipline as _;
    use crate::disciplines::estmred::EstmRed;
    use crate::spec::Spec;

    static SPEC: Spec = EstmRed::SPEC;

    fn detector(options: &[(&str, &str)]) -> FixedDetector {
        let given: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let options = Options::parse(&SPEC, &given).expect("valid options");
        FixedDetector::with_options(&options, &mut Stream::named(1, "fixed")).expect("they go together")
    }

    fn packets(value: f64) -> u64 {
        (value * f64::from(1 << AVERAGE_BITS)) as u64
    }

    #[test]
    fn the_average_moves_by_its_weight_towards_the_queue_at_each_arrival() {
        let mut red = detector(&[("weight", "0.5")]);
        let averages = [1, 2, 3, 4, 4].map(|waiting| {
            red.observe(waiting, Time::ZERO);
            red.average
        });
        assert_eq!(averages, [0.5, 1.25, 2.125, 3.0625, 3.53125].map(packets));
    }

    #[test]
    fn idle_time_counts_as_the_packets_the_link_could_have_sent() {
        let mut red = detector(&[("weight", "0.5")]);
        red.depart(1000, true, Time(0));
        red.depart(1000, false, Time(1_000_000));
        red.average = packets(8.0);
        red.observe(0, Time(5_000_000));
        assert_eq!(red.average, packets(8.0 * 0.125 * 0.5), "three packets and the one that arrives");
    }

    #[test]
    fn the_probability_rises_to_max_p_and_then_to_one() {
        let at = |gentle, average| {
            let mut red = detector(&[("min_th", "10"), ("max_th", "30"), ("max_p", "0.5"), ("gentle", gentle)]);
            red.average = packets(average);
            red.probability() as f64 / ONE as f64
        };
        assert_eq!([10.0, 20.0, 30.0, 45.0, 60.0, 61.0].map(|avg| at("on", avg)), [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]);
        assert_eq!([20.0, 30.0, 45.0].map(|avg| at("off", avg)), [0.25, 1.0, 1.0]);
    }

    #[test]
    fn powers_are_those_of_repeated_multiplication() {
        assert_eq!([0, 1, 2, 5].map(|n| power(ONE / 2, n)), [ONE, ONE / 2, ONE / 4, ONE / 32]);
        let (found, exact) = (power((0.998 * ONE as f64) as u64, 1000) as f64 / ONE as f64, 0.998_f64.powi(1000));
        assert!((found - exact).abs() < 1e-6, "{found} {exact}");
        assert_eq!((power(0, 0), power(0, 3), power(ONE - 4_294_967, u64::MAX)), (ONE, 0, 0));
    }

    #[test]
    fn the_spacing_of_drops_is_uniform_on_1_to_1_over_p() {
        // p_b = 1/20: a drop after 1 to 20 packets, 10.5 on average.
        let mut red = detector(&[]);
        let mut spacings = vec![0_u32; 21];
        let (mut count, mut drawn) = (0, 0);
        while drawn < 20_000 {
            count += 1;
            let is_drawn = red.is_drawn(ONE / 20, 1);
            red.since = if is_drawn { 0 } else { red.since + 1 };
            if is_drawn {
                spacings[count] += 1;
                (count, drawn) = (0, drawn + 1);
            }
        }
        // 1000 expected in each: a standard deviation of 31.
        assert!(spacings[1..].iter().all(|&n| (850..1150).contains(&n)), "{spacings:?}");
    }
}
