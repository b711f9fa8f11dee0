//! Google Congestion Control: the rate of real-time media from the times and losses that a receiver reports.
//!
//! Principle: two estimates, the smaller of which is the target.
//!
//! - *By the delay* (draft-ietf-rmcat-gcc-02, 5): packets that left within 5 ms, or came as a burst, are a group; a Kalman
//!   filter tells from by how much later each group came than the one before, and from how much larger it was, whether a
//!   queue grows; a detector compares that with a threshold that adapts itself, so that a transfer beside the call does
//!   not starve it. The rate grows by 8 % a second, or by some packets a second near the rate at which the link was last
//!   found full, falls to 0.85 of what arrives when the queue grows, and stays while it shrinks.
//! - *By the loss* (6): it grows by 5 % where less than 2 % is lost, and falls by half of the loss where more than 10 % is.
//!
//! Cost: some fifty instructions per packet reported, and 24 kB.
//!
//! Source: the first is that of libwebrtc as `rate.py` of aiortc 1.16.0 has it, with its clocks in whole milliseconds,
//! its constants and its roundings: both give the same rates for the same packets (`tests/simulate/test_gcc.py`). It differs
//! from the draft in that the filter has two states, slope and offset, in the place of one; that the offset counts times
//! the number of groups, 60 at most; and in the gains of the threshold (0.0087 and 0.039). A round trip counts as 200 ms.
//! aiortc has no estimate by the loss: that is of the draft alone, which leaves open how often it is made; here it is each
//! 200 ms, and never above the estimate by the delay. There is no probing by clusters of packets, nor a fall of the rate
//! when reports stay away, which libwebrtc has.

use std::collections::VecDeque;

use units::Time;

/// Packets whose arrivals are no further apart are a burst if they were sent further apart, ms.
const BURST_MS: i64 = 5;
/// Send times of a group are no further apart, in units of a timestamp.
const GROUP: u32 = ((5_u64 << 26) / 1000) as u32;
/// A timestamp has 6 bits of seconds and 26 of their parts, the lower 8 being 0 (abs-send-time).
const TICK_MS: f64 = 1000.0 / (1_u64 << 26) as f64;
/// Groups by which the offset is multiplied, at most; groups of which the shortest distance is known.
const MOST_GROUPS: u32 = 60;
/// Noise of slope and offset.
const NOISE: [f64; 2] = [1e-13, 1e-3];
/// Bounds of the threshold, its gains where the offset is above and below it, and how far above it does not follow, ms.
const THRESHOLDS: (f64, f64) = (6.0, 600.0);
const GAINS: (f64, f64) = (0.0087, 0.039);
const FAR_MS: f64 = 15.0;
/// For so long there must be too much before the signal says so, ms.
const OVERUSE_MS: f64 = 10.0;
/// Time between two estimates while no queue grows, ms.
const EVERY_MS: i64 = 500;
/// The first estimate is what arrived for so long, ms.
const FIRST_MS: i64 = 3000;
/// Share of the arriving rate that a decrease leaves, and growth of an increase per second.
const BETA: f64 = 0.85;
const ETA: f64 = 1.08;
/// Weight of the newest in the average of rates at which the link was full.
const FULL_WEIGHT: f64 = 0.05;
/// Round-trip time that an increase near the full link reckons with, and what is added to it, ms.
const RESPONSE_MS: i64 = 200 + 100;
/// Span by which the arriving rate is taken, ms.
const WINDOW_MS: usize = 1000;
/// Time between two steps of the rate by the loss.
const LOSS_STEP: Time = Time::from_millis(200);

/// What became of one packet, as its receiver reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it left.
    pub sent: Time,
    /// Its length without IP and UDP headers, bytes.
    pub size: u32,
    /// When it came; `None` where it had not when the report was made.
    pub arrival: Option<Time>,
}

/// What the delay says of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// A queue grows.
    Over,
    /// A queue shrinks.
    Under,
    /// Neither.
    Normal,
}

impl Usage {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Usage::Over => "overuse",
            Usage::Under => "underuse",
            Usage::Normal => "normal",
        }
    }
}

/// A group of packets.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    last: u32,
    arrival_ms: i64,
    size: i64,
}

/// What lies between two groups.
#[derive(Clone, Copy, Debug)]
struct Step {
    sent_ms: f64,
    arrived_ms: i64,
    size: i64,
}

#[derive(Clone, Debug, Default)]
struct Groups {
    open: Option<Group>,
    before: Option<Group>,
}

impl Groups {
    /// Takes a packet; the step to the group that it ends.
    fn add(&mut self, stamp: u32, arrival_ms: i64, size: i64) -> Option<Step> {
        let fresh = Group { first: stamp, last: stamp, arrival_ms, size };
        let Some(open) = &mut self.open else {
            self.open = Some(fresh);
            return None;
        };
        let since_first = stamp.wrapping_sub(open.first);
        if since_first >= 1 << 31 {
            return None;
        }
        let sent_ms = (TICK_MS * f64::from(stamp.wrapping_sub(open.last))).round_ties_even() as i64;
        let arrived_ms = arrival_ms - open.arrival_ms;
        let in_burst = sent_ms == 0 || arrived_ms - sent_ms < 0 && arrived_ms <= BURST_MS;
        if in_burst || since_first <= GROUP {
            // A stamp is later when it is less than half a turn ahead.
            if (1..1 << 31).contains(&stamp.wrapping_sub(open.last)) {
                open.last = stamp;
            }
            open.size += size;
            open.arrival_ms = arrival_ms;
            return None;
        }
        let whole = std::mem::replace(open, fresh);
        let before = self.before.replace(whole)?;
        Some(Step {
            sent_ms: f64::from(whole.last.wrapping_sub(before.last)) * TICK_MS,
            arrived_ms: whole.arrival_ms - before.arrival_ms,
            size: whole.size - before.size,
        })
    }
}

/// Kalman filter for the slope (time per byte) and the offset (growth of the queue) of the delay.
#[derive(Clone, Debug)]
struct Filter {
    error: [[f64; 2]; 2],
    groups: u32,
    slope: f64,
    offset: f64,
    offset_before: f64,
    /// Distances of the last groups, ms.
    distances: VecDeque<f64>,
    noise_mean: f64,
    noise_variance: f64,
}

impl Filter {
    fn update(&mut self, step: Step, usage: Usage) {
        let shortest_ms = self.distances.iter().fold(step.sent_ms, |least, &own| own.min(least));
        if self.distances.len() >= MOST_GROUPS as usize {
            self.distances.pop_front();
        }
        self.distances.push_back(step.sent_ms);
        self.groups = (self.groups + 1).min(1000);
        let later_ms = step.arrived_ms as f64 - step.sent_ms;
        let size = step.size as f64;
        let turned = match usage {
            Usage::Over => self.offset < self.offset_before,
            Usage::Under => self.offset > self.offset_before,
            Usage::Normal => false,
        };
        let error = &mut self.error;
        error[0][0] += NOISE[0];
        error[1][1] += NOISE[1];
        if turned {
            error[1][1] += 10.0 * NOISE[1];
        }
        let spread = [error[0][0] * size + error[0][1], error[1][0] * size + error[1][1]];
        let residual = later_ms - self.slope * size - self.offset;
        if usage == Usage::Normal {
            let most = 3.0 * self.noise_variance.sqrt();
            let seen = if residual.abs() < most { residual } else { most.copysign(residual) };
            self.note_noise(seen, shortest_ms);
        }
        let sum = self.noise_variance + size * spread[0] + spread[1];
        let gain = [spread[0] / sum, spread[1] / sum];
        let keep = [[1.0 - gain[0] * size, -gain[0]], [-gain[1] * size, 1.0 - gain[1]]];
        let old = self.error;
        self.error = keep.map(|[own, other]| [0, 1].map(|column| old[0][column] * own + old[1][column] * other));
        self.offset_before = self.offset;
        self.slope += gain[0] * residual;
        self.offset += gain[1] * residual;
    }

    fn note_noise(&mut self, residual: f64, distance_ms: f64) {
        let weight = if self.groups > 300 { 0.002 } else { 0.01 };
        let keep = libm::pow(1.0 - weight, distance_ms * 30.0 / 1000.0);
        self.noise_mean = keep * self.noise_mean + (1.0 - keep) * residual;
        let off = self.noise_mean - residual;
        self.noise_variance = (keep * self.noise_variance + (1.0 - keep) * (off * off)).max(1.0);
    }
}

/// Over-use detector with its adaptive threshold.
#[derive(Clone, Debug)]
struct Detector {
    usage: Usage,
    threshold: f64,
    adapted_ms: Option<i64>,
    over_count: u32,
    over_ms: Option<f64>,
    offset_before: f64,
}

impl Detector {
    fn detect(&mut self, offset: f64, sent_ms: f64, groups: u32, now_ms: i64) {
        if groups < 2 {
            return;
        }
        let compared = f64::from(groups.min(MOST_GROUPS)) * offset;
        if compared > self.threshold {
            let over_ms = self.over_ms.map_or(sent_ms / 2.0, |before| before + sent_ms);
            self.over_ms = Some(over_ms);
            self.over_count += 1;
            if over_ms > OVERUSE_MS && self.over_count > 1 && offset >= self.offset_before {
                (self.over_count, self.over_ms, self.usage) = (0, Some(0.0), Usage::Over);
            }
        } else {
            (self.over_count, self.over_ms) = (0, None);
            self.usage = if compared < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.offset_before = offset;
        self.adapt(compared.abs(), now_ms);
    }

    fn adapt(&mut self, size: f64, now_ms: i64) {
        let passed_ms = (now_ms - self.adapted_ms.unwrap_or(now_ms)).min(100);
        self.adapted_ms = Some(now_ms);
        if size > self.threshold + FAR_MS {
            return;
        }
        let gain = if size < self.threshold { GAINS.1 } else { GAINS.0 };
        self.threshold += gain * (size - self.threshold) * passed_ms as f64;
        self.threshold = self.threshold.clamp(THRESHOLDS.0, THRESHOLDS.1);
    }
}

/// What arrived in the last second, by the millisecond.
#[derive(Clone, Debug, Default)]
struct Arriving {
    /// The millisecond of the first bucket.
    first_ms: Option<i64>,
    /// Bytes by millisecond; fewer than the window where nothing came later.
    buckets: VecDeque<i64>,
    bytes: i64,
    packets: i64,
    counts: VecDeque<i64>,
    begun: bool,
}

impl Arriving {
    /// bit/s over the window that ends at `now_ms`; `None` before two milliseconds have something in them.
    fn bps(&mut self, now_ms: i64) -> Option<i64> {
        self.forget(now_ms);
        let span_ms = now_ms - self.first_ms? + 1;
        (self.packets > 0 && span_ms > 1)
            .then(|| ((8000 * self.bytes) as f64 / span_ms as f64).round_ties_even() as i64)
    }

    fn add(&mut self, size: i64, now_ms: i64) {
        if self.bps(now_ms).is_some() {
            self.begun = true;
        } else if self.begun {
            *self = Arriving::default();
        }
        self.forget(now_ms);
        let first_ms = *self.first_ms.get_or_insert(now_ms);
        // What came before the window counts as its first.
        let place = (now_ms - first_ms).max(0) as usize;
        if self.buckets.len() <= place {
            self.buckets.resize(place + 1, 0);
            self.counts.resize(place + 1, 0);
        }
        self.buckets[place] += size;
        self.counts[place] += 1;
        self.bytes += size;
        self.packets += 1;
    }

    fn forget(&mut self, now_ms: i64) {
        let oldest = now_ms - WINDOW_MS as i64 + 1;
        let Some(first_ms) = &mut self.first_ms else { return };
        while *first_ms < oldest {
            *first_ms += 1;
            if let (Some(bytes), Some(packets)) = (self.buckets.pop_front(), self.counts.pop_front()) {
                self.bytes -= bytes;
                self.packets -= packets;
            } else {
                *first_ms = oldest;
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
}

/// Rate by the delay: additive or multiplicative increase, multiplicative decrease.
#[derive(Clone, Debug)]
struct Aimd {
    bps: i64,
    known: bool,
    first_ms: Option<i64>,
    changed_ms: Option<i64>,
    state: State,
    arriving_bps: i64,
    /// Rates at which the link was full, kbit/s: average, and variance over it.
    full_mean: Option<f64>,
    full_variance: f64,
    near_full: bool,
}

impl Aimd {
    /// The rate after what the detector says and what arrives; `None` before the first.
    fn update(&mut self, usage: Usage, arriving_bps: Option<i64>, now_ms: i64) -> Option<i64> {
        if let Some(bps) = arriving_bps.filter(|_| !self.known) {
            let first_ms = *self.first_ms.get_or_insert(now_ms);
            if now_ms - first_ms > FIRST_MS {
                (self.bps, self.known) = (bps, true);
            }
        }
        if !self.known && usage != Usage::Over {
            return None;
        }
        match usage {
            Usage::Normal if self.state == State::Hold => {
                (self.changed_ms, self.state) = (Some(now_ms), State::Increase)
            }
            Usage::Under => self.state = State::Hold,
            _ => {}
        }
        let arriving = arriving_bps.unwrap_or(self.arriving_bps);
        self.arriving_bps = arriving;
        let arriving_kbps = arriving as f64 / 1000.0;
        let mut next = self.bps;
        if usage == Usage::Over {
            if self.far_from_full(arriving_kbps).is_some_and(|below| below < 0.0) {
                self.full_mean = None;
            }
            self.note_full(arriving_kbps);
            self.near_full = true;
            next = (BETA * arriving as f64).round_ties_even() as i64;
            (self.changed_ms, self.state) = (Some(now_ms), State::Hold);
        } else if self.state == State::Increase {
            if self.far_from_full(arriving_kbps).is_some_and(|above| above > 0.0) {
                (self.near_full, self.full_mean) = (false, None);
            }
            next += if self.near_full { self.additive(now_ms) } else { self.multiplicative(now_ms) };
            self.changed_ms = Some(now_ms);
        }
        let most = ((1.5 * arriving as f64) as i64 + 10_000).max(self.bps);
        self.bps = next.min(most);
        Some(self.bps)
    }

    /// 1 where the arriving rate is three deviations above those of the full link, -1 where below, 0 between.
    fn far_from_full(&self, kbps: f64) -> Option<f64> {
        let mean = self.full_mean?;
        let reach = 3.0 * (self.full_variance * mean).sqrt();
        Some(if kbps >= mean + reach {
            1.0
        } else if kbps < mean - reach {
            -1.0
        } else {
            0.0
        })
    }

    fn note_full(&mut self, kbps: f64) {
        let mean = self.full_mean.map_or(kbps, |mean| (1.0 - FULL_WEIGHT) * mean + FULL_WEIGHT * kbps);
        self.full_mean = Some(mean);
        let off = mean - kbps;
        let variance = (1.0 - FULL_WEIGHT) * self.full_variance + FULL_WEIGHT * (off * off) / mean.max(1.0);
        self.full_variance = variance.clamp(0.4, 2.5);
    }

    fn additive(&self, now_ms: i64) -> i64 {
        let frame = self.bps as f64 / 30.0;
        let packet = frame / (frame / (8.0 * 1200.0)).ceil();
        let per_s = (((packet * 1000.0) / RESPONSE_MS as f64) as i64).max(4000);
        let passed_ms = now_ms - self.changed_ms.unwrap_or(now_ms);
        ((passed_ms * per_s) as f64 / 1000.0) as i64
    }

    fn multiplicative(&self, now_ms: i64) -> i64 {
        let passed_ms = self.changed_ms.map_or(1000, |last| (now_ms - last).min(1000));
        let growth = libm::pow(ETA, passed_ms as f64 / 1000.0);
        (((growth - 1.0) * self.bps as f64).max(1000.0)) as i64
    }
}

/// The estimate by the delay.
#[derive(Clone, Debug)]
pub struct DelayBased {
    groups: Groups,
    filter: Filter,
    detector: Detector,
    arriving: Arriving,
    aimd: Aimd,
    updated_ms: Option<i64>,
}

impl Default for DelayBased {
    fn default() -> DelayBased {
        DelayBased {
            groups: Groups::default(),
            filter: Filter {
                error: [[100.0, 0.0], [0.0, 0.1]],
                groups: 0,
                slope: 1.0 / 64.0,
                offset: 0.0,
                offset_before: 0.0,
                distances: VecDeque::new(),
                noise_mean: 0.0,
                noise_variance: 50.0,
            },
            detector: Detector {
                usage: Usage::Normal,
                threshold: 12.5,
                adapted_ms: None,
                over_count: 0,
                over_ms: None,
                offset_before: 0.0,
            },
            arriving: Arriving { begun: true, ..Arriving::default() },
            aimd: Aimd {
                bps: 30_000_000,
                known: false,
                first_ms: None,
                changed_ms: None,
                state: State::Hold,
                arriving_bps: 30_000_000,
                full_mean: None,
                full_variance: 0.4,
                near_full: false,
            },
            updated_ms: None,
        }
    }
}

impl DelayBased {
    /// A packet of `size` bytes came that left at `sent`: the estimate when there is another, bit/s.
    pub fn add(&mut self, sent: Time, arrival: Time, size: u32) -> Option<i64> {
        let (now_ms, size) = ((arrival.0 / 1_000_000) as i64, i64::from(size));
        self.arriving.add(size, now_ms);
        if let Some(step) = self.groups.add(stamp(sent), now_ms, size) {
            self.filter.update(step, self.detector.usage);
            self.detector.detect(self.filter.offset, step.sent_ms, self.filter.groups, now_ms);
        }
        let due = self.updated_ms.is_none_or(|last| now_ms - last > EVERY_MS);
        if !due && self.detector.usage != Usage::Over {
            return None;
        }
        let bps = self.aimd.update(self.detector.usage, self.arriving.bps(now_ms), now_ms)?;
        self.updated_ms = Some(now_ms);
        Some(bps)
    }

    /// What the delay says of the path.
    pub fn usage(&self) -> Usage {
        self.detector.usage
    }

    /// Growth of the queue from group to group, and the threshold of the detector, ms.
    pub fn offset_and_threshold(&self) -> (f64, f64) {
        (self.filter.offset, self.detector.threshold)
    }
}

/// A send time as its packet carries it.
fn stamp(sent: Time) -> u32 {
    (((u128::from(sent.0) << 18) / 1_000_000_000) as u32) << 8
}

/// Rate by the loss.
#[derive(Clone, Debug)]
struct LossBased {
    bps: f64,
    reported: u64,
    lost: u64,
    stepped: Time,
}

impl LossBased {
    fn update(&mut self, acks: &[Ack], now: Time) {
        self.reported += acks.len() as u64;
        self.lost += acks.iter().filter(|ack| ack.arrival.is_none()).count() as u64;
        if self.reported == 0 || now.saturating_sub(self.stepped) < LOSS_STEP {
            return;
        }
        let share = self.lost as f64 / self.reported as f64;
        (self.reported, self.lost, self.stepped) = (0, 0, now);
        if share > 0.1 {
            self.bps *= 1.0 - 0.5 * share;
        } else if share < 0.02 {
            self.bps *= 1.05;
        }
    }
}

/// The controller of one sender.
#[derive(Clone, Debug)]
pub struct Controller {
    /// Least and largest rate, bit/s.
    bounds: (f64, f64),
    delay: DelayBased,
    delay_bps: Option<i64>,
    loss: LossBased,
    target_bps: f64,
}

impl Controller {
    /// A controller that begins at `start_bps` at `now`, and stays between `min_bps` and `max_bps`.
    pub fn new(start_bps: u64, min_bps: u64, max_bps: u64, now: Time) -> Controller {
        Controller {
            bounds: (min_bps as f64, max_bps as f64),
            delay: DelayBased::default(),
            delay_bps: None,
            loss: LossBased { bps: start_bps as f64, reported: 0, lost: 0, stepped: now },
            target_bps: start_bps as f64,
        }
    }

    /// A report came at `now`: the packets it tells of, in order of their numbers.
    pub fn on_feedback(&mut self, acks: &[Ack], now: Time) {
        for ack in acks {
            if let Some(arrival) = ack.arrival {
                self.delay_bps = self.delay.add(ack.sent, arrival, ack.size).or(self.delay_bps);
            }
        }
        let start = self.loss.bps;
        self.loss.update(acks, now);
        // Before the delay tells a rate, the loss may lower the one it began with.
        let most = self.delay_bps.map_or(start, |bps| bps as f64);
        self.loss.bps = self.loss.bps.min(most).clamp(self.bounds.0, self.bounds.1);
        self.target_bps = self.loss.bps;
    }

    /// The rate to send at, bit/s.
    pub fn target_bps(&self) -> u64 {
        self.target_bps as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports each 100 ms of packets of 1200 bytes sent 10 ms apart from `from_ms` on: each is `way_us` on its way, or lost.
    fn feed(controller: &mut Controller, from_ms: u64, reports: u64, way_us: impl Fn(u64) -> Option<u64>) {
        for report in 0..reports {
            let base = from_ms + 100 * report;
            let ack = |n: u64| {
                let sent = base + 10 * n;
                let arrival = way_us(sent).map(|way| Time(1_000_000 * sent + 1000 * way));
                Ack { sent: Time::from_millis(sent), size: 1200, arrival }
            };
            let acks: Vec<Ack> = (0..10).map(ack).collect();
            controller.on_feedback(&acks, Time::from_millis(base + 150));
        }
    }

    #[test]
    fn an_idle_path_lets_the_rate_grow_by_8_percent_a_second() {
        let mut delay = DelayBased::default();
        let mut told = Vec::new();
        for n in 0..1000 {
            let sent = Time::from_millis(10 * n);
            told.extend(delay.add(sent, sent + Time::from_millis(20), 1200).map(|bps| (10 * n, bps)));
        }
        // 960 kbit/s arrive; the first estimate is that and the least increase, and half as much again the most.
        assert_eq!(told[0].1, 960_000 + 1000);
        let (before, after) = (told[1], told[7]);
        let growth = after.1 as f64 / before.1 as f64;
        let expected = ETA.powf((after.0 - before.0) as f64 / 1000.0);
        assert!((growth / expected - 1.0).abs() < 1e-4, "{growth} {expected}");
        assert_eq!(told.last().expect("some").1, 1_440_000 + 10_000);
    }

    #[test]
    fn a_growing_queue_cuts_the_rate_to_85_percent_of_what_arrives() {
        let mut controller = Controller::new(960_000, 100_000, 10_000_000, Time::ZERO);
        feed(&mut controller, 1000, 60, |_| Some(20_000));
        // Each packet takes 2 ms longer than the one before: of 10 ms, 12 are needed.
        feed(&mut controller, 7000, 15, |sent| Some(20_000 + (sent - 7000) * 200));
        assert_eq!(controller.delay.usage(), Usage::Over);
        let arriving = 1200.0 * 8.0 / 0.012;
        let told = controller.delay_bps.expect("a rate") as f64;
        assert!((told / (BETA * arriving) - 1.0).abs() < 0.03, "{told}");
    }

    #[test]
    fn loss_leaves_the_rate_alone_between_2_and_10_percent() {
        let steps = |lost_of_100: u64| {
            let mut loss = LossBased { bps: 1e6, reported: 0, lost: 0, stepped: Time::ZERO };
            for step in 1..=10 {
                let ack =
                    |n: u64| Ack { sent: Time::ZERO, size: 1200, arrival: (n >= lost_of_100).then_some(Time::ZERO) };
                loss.update(&(0..100).map(ack).collect::<Vec<_>>(), Time::from_millis(200 * step));
            }
            loss.bps
        };
        assert_eq!((steps(2), steps(10)), (1e6, 1e6));
        assert!((steps(1) / (1e6 * 1.05_f64.powi(10)) - 1.0).abs() < 1e-12);
        assert!((steps(20) / (1e6 * 0.9_f64.powi(10)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_rate_stays_inside_its_bounds() {
        let mut controller = Controller::new(300_000, 250_000, 400_000, Time::ZERO);
        feed(&mut controller, 1000, 100, |_| Some(20_000));
        assert_eq!(controller.target_bps(), 400_000);
        feed(&mut controller, 11_000, 100, |sent| (sent % 20 == 0).then_some(20_000));
        assert_eq!(controller.target_bps(), 250_000);
    }

    #[test]
    fn a_stamp_turns_round_each_64_seconds() {
        assert_eq!(stamp(Time::from_millis(1000)), 1 << 26);
        assert_eq!(stamp(Time::from_millis(65_000)), 1 << 26);
        let mut delay = DelayBased::default();
        let mut told = None;
        for n in 0..10_000 {
            let sent = Time::from_millis(10 * n);
            told = delay.add(sent, sent + Time::from_millis(20), 1200).or(told);
        }
        assert_eq!((told, delay.usage()), (Some(1_450_000), Usage::Normal));
    }
}
