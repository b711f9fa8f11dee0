//! CUBIC as Linux has it (RFC 9438; Ha, Rhee and Xu 2008), with HyStart (Ha and Rhee 2011): whole numbers, time in
//! 1/1024 s, a cube root by table and one step of Newton, which decides when the window grows by a segment.
//!
//! What is not as in [the rule of the RFC](crate::tcp::rules): the window is whole, and the curve is looked at once a jiffy at most;
//! it aims at where the curve is a least delay ahead, not a smoothed round-trip time; the share of Reno grows at the same pace
//! after it has passed the window before the reduction; before the first loss a round trip adds a twentieth at least, and
//! HyStart is of the rule.

use units::Time;

use super::clock::{Clock, Jiffies, us};
use super::ops::{CongestionOps, Left};
use super::view::{Opening, View};

/// What a reduction leaves, of 1024.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// C = 0.4 in units of 1/1024 (`bic_scale`), times ten.
const C_SCALE: u64 = 410;
/// Bits of a second in the clock of the cube.
const HZ_BITS: u32 = 10;
/// 2^40 / 410: what a distance of one segment is in the cube of time.
const CUBE_FACTOR: u64 = (1 << (10 + 3 * HZ_BITS)) / C_SCALE;
/// 8 (1024 + beta) / (3 (1024 - beta)): acknowledgements per segment and eighth of a window for the share of Reno.
const RENO_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// HyStart looks at windows from so many segments on, and at so many round-trip times.
const LOW_WINDOW: u32 = 16;
const SAMPLES: u8 = 8;
/// Acknowledgements further apart end a train, microseconds.
const TRAIN_GAP_US: u64 = 2000;
/// Bounds of the delay that ends slow start, microseconds.
const LEAST_DELAY_US: u32 = 4000;
const MOST_DELAY_US: u32 = 16_000;

/// State of CUBIC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cubic {
    hystart: bool,
    /// Acknowledgements per segment of growth.
    per_segment: u32,
    last_max: u32,
    last_cwnd: u32,
    last_time: Jiffies,
    /// Window that the cube returns to, and when, in 1/1024 s since the epoch.
    origin: u32,
    k: u64,
    /// Least delay seen, microseconds; 0 for none.
    delay_min: u32,
    /// Beginning of the epoch; 0 for none.
    epoch_start: Jiffies,
    acked: u32,
    /// The window that Reno would have.
    reno_cwnd: u32,
    /// HyStart has ended slow start.
    found: bool,
    samples: u8,
    round_start_us: u64,
    round_end: u32,
    last_ack_us: u64,
    round_least: u32,
}

impl CongestionOps for Cubic {
    fn begin(&mut self, opening: Opening, view: &mut View) {
        *self = Cubic::new(self.hystart);
        self.begin_round(opening.nxt, us(view.now));
    }

    #[inline]
    fn per_segment(&mut self, cwnd: u32, acked: u32, clock: Clock, now: Time) -> u32 {
        self.update(cwnd, acked, clock, now)
    }

    /// With fast convergence: who had less than before gives up more.
    fn reduced(&mut self, cwnd: u32, _: u32, _: u32) -> Left {
        self.epoch_start = 0;
        self.last_max =
            if cwnd < self.last_max { (u64::from(cwnd) * (BETA_SCALE + BETA) / (2 * BETA_SCALE)) as u32 } else { cwnd };
        Left::whole(((u64::from(cwnd) * BETA / BETA_SCALE) as u32).max(2))
    }

    #[inline]
    fn on_delivered(
        &mut self,
        rtt_us: Option<u32>,
        una: u32,
        nxt: u32,
        cwnd: u32,
        ssthresh: &mut u32,
        clock: Clock,
        now: Time,
    ) {
        if let Some(rtt_us) = rtt_us {
            self.take_delay(rtt_us.max(1), una, nxt, cwnd, ssthresh, clock, now);
        }
    }

    /// Time in which nothing was under way does not count for the cube.
    fn on_start(&mut self, idle: Jiffies, now: Jiffies) {
        if self.epoch_start > 0 && idle > 0 {
            self.epoch_start = (self.epoch_start + idle).min(now);
        }
    }

    /// All but the round under way is forgotten.
    fn on_loss_state(&mut self, nxt: u32, now: Time) {
        *self = Cubic::new(self.hystart);
        self.begin_round(nxt, us(now));
    }
}

impl Cubic {
    pub(super) fn new(hystart: bool) -> Cubic {
        Cubic {
            hystart,
            per_segment: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min: 0,
            epoch_start: 0,
            acked: 0,
            reno_cwnd: 0,
            found: false,
            samples: 0,
            round_start_us: 0,
            round_end: 0,
            last_ack_us: 0,
            round_least: u32::MAX,
        }
    }

    fn begin_round(&mut self, nxt: u32, now_us: u64) {
        (self.round_start_us, self.last_ack_us) = (now_us, now_us);
        self.round_end = nxt;
        (self.round_least, self.samples) = (u32::MAX, 0);
    }

    /// `acked` segments arrived: how many of them the window `cwnd` takes to grow by one.
    fn update(&mut self, cwnd: u32, acked: u32, clock: Clock, now: Time) -> u32 {
        let jiffies = clock.jiffies(now);
        self.acked += acked;
        let recent = clock.in_us(jiffies - self.last_time.min(jiffies)) <= 1_000_000 / 32;
        if self.last_cwnd == cwnd && recent {
            return self.per_segment;
        }
        if !(self.epoch_start > 0 && jiffies == self.last_time) {
            self.last_cwnd = cwnd;
            self.last_time = jiffies;
            self.follow_cube(cwnd, acked, clock, jiffies);
        }
        // No slower than Reno would be.
        let per_segment = (u64::from(cwnd) * RENO_SCALE) >> 3;
        while u64::from(self.acked) > per_segment {
            self.acked -= per_segment as u32;
            self.reno_cwnd += 1;
        }
        if self.reno_cwnd > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (self.reno_cwnd - cwnd));
        }
        self.per_segment = self.per_segment.max(2);
        self.per_segment
    }

    fn follow_cube(&mut self, cwnd: u32, acked: u32, clock: Clock, now: Jiffies) {
        if self.epoch_start == 0 {
            self.epoch_start = now;
            self.acked = acked;
            self.reno_cwnd = cwnd;
            if self.last_max <= cwnd {
                (self.k, self.origin) = (0, cwnd);
            } else {
                self.k = cube_root(CUBE_FACTOR * u64::from(self.last_max - cwnd));
                self.origin = self.last_max;
            }
        }
        let since = now - self.epoch_start + clock.in_jiffies(self.delay_min.into());
        let t = (clock.in_us(since) << HZ_BITS) / 1_000_000;
        let offset = t.abs_diff(self.k);
        let delta = (C_SCALE * offset * offset * offset) >> (10 + 3 * HZ_BITS);
        let origin = i64::from(self.origin);
        let target = if t < self.k { origin - delta as i64 } else { origin + delta as i64 };
        self.per_segment = if target > i64::from(cwnd) { cwnd / (target - i64::from(cwnd)) as u32 } else { 100 * cwnd };
        if self.last_max == 0 && self.per_segment > 20 {
            // A twentieth per round trip while nothing is known of the path.
            self.per_segment = 20;
        }
    }

    /// A segment was delivered after `delay` microseconds.
    #[allow(clippy::too_many_arguments)]
    fn take_delay(&mut self, delay: u32, una: u32, nxt: u32, cwnd: u32, ssthresh: &mut u32, clock: Clock, now: Time) {
        // Not in the first second after a reduction.
        let jiffies = clock.jiffies(now);
        if self.epoch_start > 0 && clock.in_us(jiffies - self.epoch_start) < 1_000_000 {
            return;
        }
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        if !self.found && cwnd < *ssthresh && self.hystart {
            self.look_for_the_queue(delay, una, nxt, cwnd, ssthresh, us(now));
        }
    }

    /// HyStart: ends slow start when a train of acknowledgements lasts for half the least delay, or when the delay of a round
    /// trip has grown by an eighth.
    fn look_for_the_queue(&mut self, delay: u32, una: u32, nxt: u32, cwnd: u32, ssthresh: &mut u32, now_us: u64) {
        if una > self.round_end {
            self.begin_round(nxt, now_us);
        }
        if cwnd < LOW_WINDOW {
            return;
        }
        if now_us - self.last_ack_us <= TRAIN_GAP_US {
            self.last_ack_us = now_us;
            if now_us - self.round_start_us > u64::from(self.delay_min >> 1) {
                self.found = true;
                *ssthresh = cwnd;
            }
        }
        self.round_least = self.round_least.min(delay);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.round_least > self.delay_min + (self.delay_min >> 3).clamp(LEAST_DELAY_US, MOST_DELAY_US) {
            self.found = true;
            *ssthresh = cwnd;
        }
    }
}

/// Cube root to a fifth of a percent, as Linux finds it: from the highest bits, then one step of Newton.
fn cube_root(a: u64) -> u64 {
    /// `64 cbrt(x)`, rounded, for the numbers of six bits.
    const ROOTS: [u8; 64] = [
        0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176,
        179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224,
        225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
    ];
    let bits = u64::from(u64::BITS - a.leading_zeros());
    if bits < 7 {
        return (u64::from(ROOTS[a as usize]) + 35) >> 6;
    }
    let third = ((bits * 84) >> 8) - 1;
    let high = a >> (third * 3);
    let x = ((u64::from(ROOTS[high as usize]) + 10) << third) >> 6;
    let x = 2 * x + a / (x * (x - 1));
    (x * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_near() {
        for a in [7_u64, 64, 1000, 123_456, 1 << 30, 1 << 40, (1 << 40) / 410 * 37] {
            let exact = (a as f64).cbrt();
            let ours = cube_root(a) as f64;
            assert!((ours - exact).abs() <= 1.0 + 0.004 * exact, "{a}: {ours} for {exact}");
        }
    }

    /// From a reduction at 100 segments 70 are left, and the cube is at 100 after K = cbrt(30 / 0.4) = 4.2 s; since whole numbers
    /// are counted, from where less than a segment is missing, cbrt(1 / 0.4) = 1.36 s before.
    #[test]
    fn the_window_is_back_after_k() {
        let mut cubic = Cubic::new(false);
        let clock = Clock::of(Time::from_millis(1), Time::ZERO);
        let mut cwnd = cubic.reduced(100, 0, 0).cwnd;
        assert_eq!(cwnd, 70);
        let (mut now, mut count) = (Time::from_millis(1000), 0);
        // Round trips of 200 ms, in which Reno adds less.
        while cwnd < 100 {
            now += Time(200_000_000 / u64::from(cwnd));
            let per_segment = cubic.update(cwnd, 1, clock, now);
            count += 1;
            if count >= per_segment {
                (cwnd, count) = (cwnd + 1, 0);
            }
        }
        let took = now.as_secs_f64() - 1.0;
        assert!((took - (4.21 - 1.36)).abs() < 0.2, "{took}");
    }
}
