//! Least attained recent service: LAS with a memory that fades.
//!
//! Principle: as LAS, but the attained service of a flow decays, A(t) = A(s) beta^(t - s), with
//! beta = 2^(-1/half_life). All flows fade by the same factor, so the order of waiting packets does
//! not change with time if attained service is written in inflated bytes, A(t) beta^-(t - epoch);
//! before those grow out of range, all of them are scaled to a later epoch.
//! Cost per packet: as LAS and one power of two; every 512 half-lives O(flows + packets).
//! Source: Heusse 2010, 2011 as described in Chen 2012, 2.1 and 4.2.

use units::{Stream, Time};

use crate::base::{Discipline, DropReason, Env};
use crate::flow_table::{FlowTable, TIMEOUT, VISIT};
use crate::order::Order;
use crate::packet::Packet;
use crate::spec::{Family, OptionError, Options, Param, Spec, Value};

/// Half-lives between two epochs: 2^512 times 2^64 bytes is far below the largest f64, 2^1024.
const EPOCH: f64 = 512.0;

/// Least attained recent service.
#[derive(Debug)]
pub struct Lars {
    queue: Order,
    /// Inflated bytes of each flow that entered the queue and were not pushed out.
    flows: FlowTable<f64>,
    half_life: Time,
    per_half_life: f64,
    epoch: Time,
    powers: [f64; 16],
}

/// 2^(i/16) for i < 16 by square roots, which IEEE 754 rounds correctly: the same on every platform,
/// unlike `exp2` of the system.
fn powers_of_two() -> [f64; 16] {
    let mut powers = [1.0; 16];
    let mut root = 2.0_f64;
    for bit in [8, 4, 2, 1] {
        root = root.sqrt();
        (0..16).filter(|i| i & bit != 0).for_each(|i| powers[i] *= root);
    }
    powers
}

/// `value` 2^-`k`; zero when that is below the smallest f64.
fn scaled_down(value: f64, k: u64) -> f64 {
    let half = |k: u64| f64::from_bits((1023 - k) << 52);
    if k > 2000 { 0.0 } else { value * half(k / 2) * half(k - k / 2) }
}

impl Lars {
    /// beta^-(now - epoch): inflated bytes per byte sent now. Moves the epoch when it is due.
    #[inline]
    fn inflation(&mut self, now: Time) -> f64 {
        let mut age = now.saturating_sub(self.epoch).0 as f64 * self.per_half_life;
        if age >= EPOCH {
            self.move_epoch(now);
            age = now.saturating_sub(self.epoch).0 as f64 * self.per_half_life;
        }
        let steps = (age * 16.0) as u32;
        let rest = (age - f64::from(steps) / 16.0) * std::f64::consts::LN_2;
        // e^rest for rest < 0.044: the first term left out is below 1e-11.
        let series = (1.0 + rest)
            + rest * rest * ((0.5 + rest * (1.0 / 6.0)) + rest * rest * (1.0 / 24.0 + rest * (1.0 / 120.0)));
        self.powers[(steps % 16) as usize] * series * f64::from_bits(u64::from(1023 + steps / 16) << 52)
    }

    /// Moves the epoch by whole half-lives, so that the factor is an exact power of two. What falls
    /// below the smallest f64 becomes zero and ties, first come first served.
    #[cold]
    fn move_epoch(&mut self, now: Time) {
        let half_lives = (now - self.epoch).0 / self.half_life.0;
        self.epoch += Time(half_lives * self.half_life.0);
        self.flows.rescale(|attained| scaled_down(attained, half_lives));
        self.queue.rescale(|key| scaled_down(f64::from_bits(key), half_lives).to_bits());
    }

    fn make_room(&mut self, packet: &Packet, env: &mut Env) -> bool {
        let key = self.flows.attained(packet.flow).to_bits();
        // As in LAS the victim is the last packet of its flow.
        self.queue.make_room(key, packet.len, env, |flow, key| self.flows.push_out(flow, f64::from_bits(key)))
    }
}

impl Discipline for Lars {
    const SPEC: Spec = Spec {
        id: "lars",
        family: Family::SizeBased,
        about: "least attained recent service: LAS with a memory that fades",
        source: "Heusse 2010; Chen 2012, 4.2",
        when_full: "the packet whose flow has sent most of late, last of its class; may be the arriving one",
        time_driven: false,
        // Inflated bytes of a flow never decrease, as in LAS.
        keeps_flow_order: true,
        params: &[
            Param {
                name: "half_life",
                unit: "s",
                about: "time in which attained service halves, and the longest lock-out: ln 2 / |ln beta|",
                value: Value::Number { default: 1.0, min: 1e-3, max: 1e6 },
            },
            VISIT,
            TIMEOUT,
        ],
    };

    fn with_options(options: &Options, _: &mut Stream) -> Result<Self, OptionError> {
        let half_life = options.time("half_life");
        Ok(Lars {
            queue: Order::default(),
            flows: FlowTable::with_options(options),
            half_life,
            per_half_life: 1.0 / half_life.0 as f64,
            epoch: Time::ZERO,
            powers: powers_of_two(),
        })
    }

    #[inline]
    fn enqueue(&mut self, packet: Packet, env: &mut Env) {
        let inflation = self.inflation(env.now());
        self.flows.visit(env.now());
        if env.is_full(packet.len) && !self.make_room(&packet, env) {
            env.refuse(packet, DropReason::Full);
            return;
        }
        env.accept(&packet);
        let attained = self.flows.enter(packet.flow, env.now());
        // Never negative, so that the bits of the number sort as the number does.
        self.queue.push(attained.to_bits(), packet);
        *attained += f64::from(packet.len) * inflation;
    }

    #[inline]
    fn dequeue(&mut self, env: &mut Env) -> Option<Packet> {
        self.flows.visit(env.now());
        let (_, packet) = self.queue.pop_first()?;
        self.flows.leave(packet.flow, env.now());
        Some(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.queue.first()
    }

    #[inline]
    fn flow_table_len(&self) -> usize {
        self.flows.len()
    }

    fn flow_table_bytes(&self) -> usize {
        self.flows.bytes()
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::{Lars, scaled_down};
    use crate::spec::Options;
    use crate::trial::{arrive, drain, packet, queue};
    use crate::{Discipline, Limit, Packet};

    fn lars(half_life: &str) -> Lars {
        let given = [("half_life".to_owned(), half_life.to_owned())];
        let options = Options::parse(&Lars::SPEC, &given).expect("valid");
        Lars::with_options(&options, &mut units::Stream::named(1, "lars")).expect("valid")
    }

    #[test]
    fn attained_service_halves_in_a_half_life() {
        let mut half_second = lars("0.5");
        for (ms, expected) in [(0, 1.0), (500, 2.0), (250, 2_f64.sqrt()), (100, 2_f64.powf(0.2)), (5000, 1024.0)] {
            let inflation = half_second.inflation(Time::from_millis(ms));
            assert!((inflation / expected - 1.0).abs() < 2e-11, "{ms} ms: {inflation}, not {expected}");
        }
    }

    #[test]
    fn powers_of_two_scale_exactly_and_fade_to_zero() {
        assert_eq!(scaled_down(1500.0 * 2_f64.powi(600), 601), 750.0);
        assert_eq!(scaled_down(1500.0, 0), 1500.0);
        assert_eq!(scaled_down(1500.0, 1_000_000_000_000), 0.0);
    }

    #[test]
    fn a_flow_that_rested_goes_before_one_that_sent_less_but_lately() {
        let mut lars = queue("lars", &["half_life=1"], Limit::Packets(100));
        arrive(&mut lars, &[1; 8], 0, Time::ZERO);
        drain(&mut lars, Time::ZERO);
        let later = Time::from_millis(4000);
        arrive(&mut lars, &[2], 20, later);
        lars.dequeue(later);
        // 8 packets, 4 half-lives ago: half a packet. One packet just now: one packet.
        arrive(&mut lars, &[2, 1], 30, later);
        assert_eq!(drain(&mut lars, later), [31, 30]);
    }

    /// Two greedy flows on a link of rate C: the older one, with A = C / |ln beta|, waits until the
    /// newer one has caught up, one half-life at most.
    #[test]
    fn the_lock_out_of_an_older_flow_lasts_one_half_life() {
        let mut lars = queue("lars", &["half_life=0.5"], Limit::Packets(100));
        let transmission = 1_200_000;
        let (mut last_of_1, mut longest, mut now) = (Time::ZERO, Time::ZERO, Time::ZERO);
        arrive(&mut lars, &[1, 1], 0, now);
        for n in 0..20_000 {
            if n == 10_000 {
                arrive(&mut lars, &[2, 2], 0, now);
            }
            let sent = lars.dequeue(now).expect("greedy");
            if sent.flow.0 == 1 {
                longest = longest.max(now - last_of_1);
                last_of_1 = now;
            }
            now += Time(transmission);
            lars.enqueue(packet(sent.flow.0, 0), now);
        }
        // Two packets of each flow wait: the stamps lag by that much.
        let (least, most) = (Time::from_millis(490), Time(500_000_000 + 4 * transmission));
        assert!((least..=most).contains(&longest), "{longest:?}");
    }

    /// Against the logarithm of inflated bytes kept per flow, over 10^6 s and thousands of epochs.
    #[test]
    fn the_order_is_right_over_a_million_seconds() {
        let mut lars = queue("lars", &["half_life=0.7", "timeout=1000000"], Limit::Packets(100));
        let mut attained = [f64::NEG_INFINITY; 10];
        let mut waiting: Vec<(f64, u64)> = Vec::new();
        let mut draw = units::Stream::named(1, "million");
        let mut now = 0.0;
        for handle in 0..200_000_u64 {
            // Short gaps for close contests, 1 in 100 long enough to reach 10^6 s in all.
            now += if draw.uniform() < 0.01 { 1000.0 * draw.uniform() } else { 0.5 * draw.uniform() };
            let at = Time::from_secs_f64(now).expect("positive");
            let flow = (draw.uniform() * 10.0) as usize;
            waiting.push((attained[flow], handle));
            let sent = 1500_f64.log2() + now / 0.7;
            attained[flow] = sent + (1.0 + (attained[flow] - sent).exp2()).log2();
            lars.enqueue(packet(flow as u64, handle), at);
            while waiting.len() > 5 {
                let sent = lars.dequeue(at).expect("waiting");
                let least = waiting.iter().map(|&(rank, _)| rank).fold(f64::INFINITY, f64::min);
                let place = waiting.iter().position(|&(_, h)| h == sent.handle).expect("waiting");
                let (rank, _) = waiting.swap_remove(place);
                // 1e-6: rounding of ranks that grow to 1.4e6. Below 2^-1000 bytes all count as none.
                assert!(rank <= least + 1e-6 || rank < now / 0.7 - 1000.0, "at {now} s: {rank}, least {least}");
            }
        }
        assert!(now > 1e6, "{now}");
    }

    #[test]
    fn a_jump_of_a_million_seconds_keeps_the_packets() {
        let mut lars = queue("lars", &["half_life=0.001"], Limit::Packets(100));
        arrive(&mut lars, &[1, 1, 2, 1], 0, Time::ZERO);
        let later = Time::from_millis(1_000_000_000);
        lars.enqueue(Packet { len: u32::MAX, ..packet(2, 9) }, later);
        assert_eq!(drain(&mut lars, later), [0, 2, 1, 3, 9]);
    }
}
