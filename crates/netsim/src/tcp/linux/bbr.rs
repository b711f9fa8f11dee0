//! BBR, version 1, as Linux has it: a model of the path, its bandwidth and its round-trip time, sets window and pace.
//!
//! Principle: the largest delivery rate of ten round trips and the least round-trip time of ten seconds say how fast to send
//! and how much may be under way. All is in whole numbers: rates in segments per microsecond times 2^24, gains in 1/256, time
//! in microseconds and jiffies. Losses count in two places only: in the first round trip of a recovery one segment leaves for
//! each that arrives, and where two intervals with many losses give the same rate that rate is taken for a policer's.
//! Source: Linux 6.1, net/ipv4/tcp_bbr.c; Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016.
//! State: O(1). Cost per acknowledgement: O(1).
//!
//! What is not as in [the rule of the draft](crate::tcp::rules): the policer's rate; what acknowledgements bring beyond the
//! bandwidth opens the window; the window is rounded up to pairs and has room for three times what leaves together; the pace is
//! 1 % lower; what will be in the network when the next segment may leave is what phases of a probe end by.

use super::burst::goal;
use super::ca_state::State;
use super::clock::{Jiffies, us};
use super::ops::{CongestionOps, Left};
use super::rate::RateSample;
use super::rtt::Least;
use super::view::{Opening, View};
use crate::tcp::rules::path::draw;

/// Bits of the fraction of a rate, and of a gain.
const RATE_BITS: u32 = 24;
const GAIN_BITS: u32 = 8;
const ONE: u32 = 1 << GAIN_BITS;
/// 2 / ln 2, the smallest gain that doubles the rate in a round trip, and its inverse, which drains what that built up.
const HIGH_GAIN: u32 = ONE * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = ONE * 1000 / 2885;
/// Gain of the window while bandwidth is probed.
const WINDOW_GAIN: u32 = 2 * ONE;
/// Gains of the pace in a cycle of probing: more, less, and as much as the path gives.
const CYCLE: [u32; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// A cycle begins in one of so many of its phases.
const BEGINNINGS: u64 = 7;
/// Round trips over which the largest rate counts, and milliseconds over which the least round-trip time does.
const RATE_LASTS: u64 = 10;
const RTT_LASTS_US: u64 = 10_000_000;
/// The window is least for so long when the round-trip time is probed, and so many segments then.
const PROBE_US: u64 = 200_000;
const LEAST_WINDOW: u32 = 4;
/// The pipe is full when the rate has not grown by a quarter in three round trips.
const GROWTH: u64 = (ONE * 5 / 4) as u64;
const WITHOUT_GROWTH: u32 = 3;
/// The pace is below the bandwidth by a hundredth, so that the queue is short.
const PACE_PERCENT: u64 = 99;
/// Initial window of Linux.
const INITIAL_WINDOW: u32 = 10;
/// Round trips of an interval in which a policer's rate is looked for; with losses of 50/256 at least.
const POLICED_ROUNDS: u32 = 4;
const POLICED_LOSSES: u32 = 50;
/// Two such rates are the same within an eighth, or 4 kbit/s; the rate is then used for so many round trips.
const SAME_RATE: u64 = (ONE / 8) as u64;
const SAME_BYTES: u64 = 4000 / 8;
const POLICED_LASTS: u32 = 48;
/// Round trips over which the aggregation of acknowledgements counts; the window grows for 100 ms of it at most.
const AGGREGATION_LASTS: u32 = 5;
const AGGREGATION_US: u64 = 100_000;
/// Segments after which its count begins again, and the most that it holds.
const AGGREGATION_RESET: u32 = 1 << 20;

/// What BBR does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// State of BBR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bbr {
    flow: u32,
    mode: Mode,
    /// State of the sender at the last acknowledgement.
    prior_state: State,
    /// Largest rate: the complement of it is the least.
    rates: Least,
    /// Round trips, and how much is delivered when this one ends.
    rounds: u64,
    round_end: u32,
    round_start: bool,
    /// Least round-trip time, and when it was seen.
    rtt_us: u32,
    rtt_stamp: Jiffies,
    /// End of the time with the least window; 0 until the flight has shrunk.
    probe_end: Jiffies,
    probe_round_done: bool,
    pacing_gain: u32,
    window_gain: u32,
    phase: usize,
    phase_us: u64,
    full_rate: u64,
    without_growth: u32,
    filled: bool,
    seen_rtt: bool,
    conserving: bool,
    restarted: bool,
    prior_cwnd: u32,
    policer: Policer,
    aggregation: Aggregation,
}

/// The rate over intervals that end with losses.
#[derive(Clone, Copy, Debug)]
struct Policer {
    sampling: bool,
    used: bool,
    rounds: u32,
    rate: u64,
    delivered: u32,
    lost: u32,
    since_ms: u64,
}

/// Acknowledgements beyond what the bandwidth explains.
#[derive(Clone, Copy, Debug)]
struct Aggregation {
    since_us: u64,
    acked: u32,
    most: [u32; 2],
    rounds: u32,
    place: usize,
}

impl CongestionOps for Bbr {
    fn has_model(&self) -> bool {
        true
    }

    fn begin(&mut self, opening: Opening, view: &mut View) {
        let Opening { flow, least_us: rtt_us, .. } = opening;
        *self = Bbr { flow, rtt_us, rtt_stamp: view.jiffies(), round_end: view.delivered, ..Bbr::idle() };
        self.set_first_pace(view);
        self.policer.reset(view);
        self.aggregation.since_us = us(view.now);
    }

    /// `bbr_main`.
    fn model_ack(&mut self, sample: &RateSample, view: &mut View) {
        self.take_rate(sample, view);
        self.take_aggregation(sample, view);
        if self.mode == Mode::ProbeBandwidth && self.is_phase_over(sample, view) {
            self.next_phase(view);
        }
        self.check_full(sample);
        self.check_drained(view);
        self.take_rtt(sample, view);
        self.set_gains();
        self.set_pace(self.pacing_gain, view);
        self.set_window(sample, view);
    }

    /// The model answers to losses itself: the threshold stays.
    fn reduced(&mut self, cwnd: u32, _: u32, ssthresh: u32) -> Left {
        self.save_window(cwnd);
        Left::whole(ssthresh)
    }

    fn model_undoes(&mut self, view: &mut View) {
        (self.full_rate, self.without_growth) = (0, 0);
        self.policer.reset(view);
    }

    fn model_times_out(&mut self, view: &mut View) {
        self.prior_state = State::Loss;
        self.full_rate = 0;
        self.round_start = true;
        self.look_for_policer(true, false, view);
    }

    fn model_restarts(&mut self, view: &mut View) {
        self.restarted = true;
        (self.aggregation.since_us, self.aggregation.acked) = (us(view.now), 0);
        match self.mode {
            Mode::ProbeBandwidth => self.set_pace(ONE, view),
            Mode::ProbeRtt => self.check_probe_done(view),
            _ => {}
        }
    }
}

impl Bbr {
    /// Before the connection has begun.
    pub(super) fn idle() -> Bbr {
        Bbr {
            flow: 0,
            mode: Mode::Startup,
            prior_state: State::Open,
            rates: Least::NONE,
            rounds: 0,
            round_end: 0,
            round_start: false,
            rtt_us: u32::MAX,
            rtt_stamp: 0,
            probe_end: 0,
            probe_round_done: false,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            phase: 0,
            phase_us: 0,
            full_rate: 0,
            without_growth: 0,
            filled: false,
            seen_rtt: false,
            conserving: false,
            restarted: false,
            prior_cwnd: 0,
            policer: Policer { sampling: false, used: false, rounds: 0, rate: 0, delivered: 0, lost: 0, since_ms: 0 },
            aggregation: Aggregation { since_us: 0, acked: 0, most: [0; 2], rounds: 0, place: 0 },
        }
    }

    fn most_rate(&self) -> u64 {
        u64::from(!self.rates.get())
    }

    /// The bandwidth: the largest rate, or a policer's.
    fn bandwidth(&self) -> u64 {
        if self.policer.used { self.policer.rate } else { self.most_rate() }
    }

    fn take_rate(&mut self, sample: &RateSample, view: &View) {
        self.round_start = false;
        let Some(delivered) = sample.valid_delivered() else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = view.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        self.look_for_policer(sample.losses > 0, sample.app_limited, view);
        let rate = (u64::from(delivered) << RATE_BITS) / sample.interval_us;
        if !sample.app_limited || rate >= self.most_rate() {
            self.rates.add(!(rate as u32), self.rounds, RATE_LASTS);
        }
    }

    /// Looks for a rate that holds over intervals with many losses (`bbr_lt_bw_sampling`).
    fn look_for_policer(&mut self, losses: bool, app_limited: bool, view: &View) {
        let policer = &mut self.policer;
        if policer.used {
            if self.mode == Mode::ProbeBandwidth && self.round_start {
                policer.rounds += 1;
                if policer.rounds >= POLICED_LASTS {
                    policer.reset(view);
                    self.begin_probing(view);
                }
            }
            return;
        }
        if !policer.sampling {
            if !losses {
                return;
            }
            policer.begin_interval(view);
            policer.sampling = true;
        }
        if app_limited {
            policer.reset(view);
            return;
        }
        policer.rounds += u32::from(self.round_start);
        if policer.rounds < POLICED_ROUNDS {
            return;
        }
        if policer.rounds > 4 * POLICED_ROUNDS {
            policer.reset(view);
            return;
        }
        if !losses {
            return;
        }
        let (lost, delivered) = (view.lost - policer.lost, view.delivered - policer.delivered);
        if delivered == 0 || lost << GAIN_BITS < POLICED_LOSSES * delivered {
            return;
        }
        let ms = view.delivered_us / 1000 - policer.since_ms;
        if ms < 1 {
            return;
        }
        let rate = (u64::from(delivered) << RATE_BITS) / (ms * 1000);
        if policer.rate > 0 {
            let apart = rate.abs_diff(policer.rate);
            if apart << GAIN_BITS <= SAME_RATE * policer.rate || bytes_per_s(apart, ONE, view.mss) <= SAME_BYTES {
                policer.rate = (rate + policer.rate) >> 1;
                policer.used = true;
                policer.rounds = 0;
                self.pacing_gain = ONE;
                return;
            }
        }
        policer.rate = rate;
        policer.begin_interval(view);
    }

    /// How much more is acknowledged at a time than the bandwidth explains (`bbr_update_ack_aggregation`).
    fn take_aggregation(&mut self, sample: &RateSample, view: &View) {
        if sample.acked == 0 || sample.valid_delivered().is_none() {
            return;
        }
        let bandwidth = self.bandwidth();
        let of = &mut self.aggregation;
        if self.round_start {
            of.rounds += 1;
            if of.rounds >= AGGREGATION_LASTS {
                of.rounds = 0;
                of.place = 1 - of.place;
                of.most[of.place] = 0;
            }
        }
        let passed_us = view.delivered_us.saturating_sub(of.since_us);
        let mut expected = ((bandwidth * passed_us) >> RATE_BITS) as u32;
        if of.acked <= expected || of.acked + sample.acked >= AGGREGATION_RESET {
            (of.acked, of.since_us, expected) = (0, view.delivered_us, 0);
        }
        of.acked = (of.acked + sample.acked).min(AGGREGATION_RESET - 1);
        let more = (of.acked - expected).min(view.cwnd);
        of.most[of.place] = of.most[of.place].max(more);
    }

    fn is_phase_over(&self, sample: &RateSample, view: &View) -> bool {
        let passed = view.delivered_us.saturating_sub(self.phase_us) > self.rtt_us.into();
        if self.pacing_gain == ONE {
            return passed;
        }
        let in_flight = self.in_network(sample.prior_in_flight, view);
        if self.pacing_gain > ONE {
            let reached = in_flight >= self.flight(self.most_rate(), self.pacing_gain, view);
            return passed && (sample.losses > 0 || reached);
        }
        passed || in_flight <= self.flight(self.most_rate(), ONE, view)
    }

    fn next_phase(&mut self, view: &View) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_us = view.delivered_us;
    }

    fn begin_probing(&mut self, view: &View) {
        self.mode = Mode::ProbeBandwidth;
        self.phase = CYCLE.len() - 1 - (draw(self.flow, view.now) % BEGINNINGS) as usize;
        self.next_phase(view);
    }

    fn check_full(&mut self, sample: &RateSample) {
        if self.filled || !self.round_start || sample.app_limited {
            return;
        }
        if self.most_rate() >= (self.full_rate * GROWTH) >> GAIN_BITS {
            self.full_rate = self.most_rate();
            self.without_growth = 0;
            return;
        }
        self.without_growth += 1;
        self.filled = self.without_growth >= WITHOUT_GROWTH;
    }

    fn check_drained(&mut self, view: &mut View) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
            view.ssthresh = self.flight(self.most_rate(), ONE, view);
        }
        if self.mode == Mode::Drain && self.in_network(view.in_flight, view) <= self.flight(self.most_rate(), ONE, view)
        {
            self.begin_probing(view);
        }
    }

    fn take_rtt(&mut self, sample: &RateSample, view: &mut View) {
        let now = view.jiffies();
        let expired = now > self.rtt_stamp + view.clock.in_jiffies(RTT_LASTS_US);
        if let Some(rtt_us) = sample.rtt_us.filter(|&rtt_us| rtt_us < self.rtt_us || expired) {
            (self.rtt_us, self.rtt_stamp) = (rtt_us, now);
        }
        if expired && !self.restarted && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(view.cwnd);
            self.probe_end = 0;
        }
        if self.mode == Mode::ProbeRtt {
            view.app_limited = (view.delivered + view.in_flight).max(1);
            if self.probe_end == 0 && view.in_flight <= LEAST_WINDOW {
                self.probe_end = now + view.clock.in_jiffies(PROBE_US);
                self.probe_round_done = false;
                self.round_end = view.delivered;
            } else if self.probe_end > 0 {
                self.probe_round_done |= self.round_start;
                if self.probe_round_done {
                    self.check_probe_done(view);
                }
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarted = false;
        }
    }

    fn check_probe_done(&mut self, view: &mut View) {
        let now = view.jiffies();
        if self.probe_end == 0 || now <= self.probe_end {
            return;
        }
        self.rtt_stamp = now;
        view.cwnd = view.cwnd.max(self.prior_cwnd);
        if self.filled {
            self.begin_probing(view);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth => (if self.policer.used { ONE } else { CYCLE[self.phase] }, WINDOW_GAIN),
            Mode::ProbeRtt => (ONE, ONE),
        };
    }

    /// The pace of the initial window in a round trip.
    fn set_first_pace(&mut self, view: &mut View) {
        let rtt_us = if view.srtt_us > 0 { (view.srtt_us >> 3).max(1) } else { 1000 };
        self.seen_rtt = view.srtt_us > 0;
        let rate = (u64::from(view.cwnd) << RATE_BITS) / u64::from(rtt_us);
        view.pacing_rate = bytes_per_s(rate, HIGH_GAIN, view.mss);
    }

    /// The pace follows the bandwidth; before the pipe is full it only grows.
    fn set_pace(&mut self, gain: u32, view: &mut View) {
        let rate = bytes_per_s(self.bandwidth(), gain, view.mss);
        if !self.seen_rtt && view.srtt_us > 0 {
            self.set_first_pace(view);
        }
        if self.filled || rate > view.pacing_rate {
            view.pacing_rate = rate;
        }
    }

    /// Bandwidth times round-trip time times `gain`, rounded up, segments.
    fn product(&self, rate: u64, gain: u32) -> u32 {
        if self.rtt_us == u32::MAX {
            return INITIAL_WINDOW;
        }
        let scaled = (rate * u64::from(self.rtt_us) * u64::from(gain)) >> GAIN_BITS;
        scaled.div_ceil(1 << RATE_BITS) as u32
    }

    /// Room for what leaves together at both hosts, and whole pairs.
    fn with_quanta(&self, segments: u32, view: &View) -> u32 {
        let pairs = (segments + 3 * goal(view.pacing_rate, view.mss) + 1) & !1;
        pairs + 2 * u32::from(self.mode == Mode::ProbeBandwidth && self.phase == 0)
    }

    fn flight(&self, rate: u64, gain: u32, view: &View) -> u32 {
        self.with_quanta(self.product(rate, gain), view)
    }

    /// What will be in the network when the next segment may leave, with `in_flight` now.
    fn in_network(&self, in_flight: u32, view: &View) -> u32 {
        let wait_us = us(view.next_departure.saturating_sub(view.now));
        let delivered = ((self.bandwidth() * wait_us) >> RATE_BITS) as u32;
        let more = if self.pacing_gain > ONE { goal(view.pacing_rate, view.mss) } else { 0 };
        (in_flight + more).saturating_sub(delivered)
    }

    fn set_window(&mut self, sample: &RateSample, view: &mut View) {
        if sample.acked > 0 && !self.conserve_or_restore(sample, view) {
            let bandwidth = self.bandwidth();
            let mut target = self.product(bandwidth, self.window_gain);
            if self.filled {
                let most = ((bandwidth * AGGREGATION_US) >> RATE_BITS) as u32;
                target += self.aggregation.most[0].max(self.aggregation.most[1]).min(most);
            }
            let target = self.with_quanta(target, view);
            if self.filled {
                view.cwnd = (view.cwnd + sample.acked).min(target);
            } else if view.cwnd < target || view.delivered < INITIAL_WINDOW {
                view.cwnd += sample.acked;
            }
            view.cwnd = view.cwnd.max(LEAST_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            view.cwnd = view.cwnd.min(LEAST_WINDOW);
        }
    }

    /// The window in a recovery and behind it: in the first round trip a segment leaves for each that arrives, at the end
    /// the window is what it was (`bbr_set_cwnd_to_recover_or_restore`). Whether that is all.
    fn conserve_or_restore(&mut self, sample: &RateSample, view: &mut View) -> bool {
        let mut cwnd = view.cwnd;
        if sample.losses > 0 {
            cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        if view.state == State::Recovery && self.prior_state != State::Recovery {
            self.conserving = true;
            self.round_end = view.delivered;
            cwnd = view.in_flight + sample.acked;
        } else if self.prior_state >= State::Recovery && view.state < State::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        self.prior_state = view.state;
        if self.conserving {
            cwnd = cwnd.max(view.in_flight + sample.acked);
        }
        view.cwnd = cwnd;
        self.conserving
    }

    /// Keeps the window that a recovery or a probe is going to cut.
    fn save_window(&mut self, cwnd: u32) {
        let cut = self.prior_state >= State::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}

impl Policer {
    fn begin_interval(&mut self, view: &View) {
        self.since_ms = view.delivered_us / 1000;
        (self.delivered, self.lost, self.rounds) = (view.delivered, view.lost, 0);
    }

    fn reset(&mut self, view: &View) {
        (self.rate, self.used, self.sampling) = (0, false, false);
        self.begin_interval(view);
    }
}

/// Bytes per second of a rate of segments, with a gain and a hundredth below.
fn bytes_per_s(rate: u64, gain: u32, mss: u32) -> u64 {
    let scaled = (rate * u64::from(mss) * u64::from(gain)) >> GAIN_BITS;
    (scaled * (1_000_000 / 100 * PACE_PERCENT)) >> RATE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    use crate::tcp::linux::clock::Clock;

    /// A path that delivers a segment each millisecond, 40 ms away.
    struct Path {
        bbr: Bbr,
        view: View,
    }

    const RTT_US: u32 = 40_000;

    impl Path {
        fn begun() -> Path {
            let mut view = View {
                now: Time::from_millis(1000),
                clock: Clock::of(Time::from_millis(1), Time::ZERO),
                state: State::Open,
                mss: 1000,
                srtt_us: 8 * RTT_US,
                in_flight: 0,
                delivered: 1,
                lost: 0,
                delivered_us: 1_000_000,
                next_departure: Time::ZERO,
                cwnd: 10,
                ssthresh: u32::MAX,
                pacing_rate: 0,
                app_limited: 0,
                window_limited: false,
            };
            let mut bbr = Bbr::idle();
            bbr.begin(Opening { flow: 0, nxt: 1, least_us: RTT_US }, &mut view);
            Path { bbr, view }
        }

        /// A round trip later `segments` more have come, and `lost` were found lost.
        fn round(&mut self, segments: u32, lost: u32) {
            let prior_delivered = self.view.delivered;
            self.view.now += Time(u64::from(RTT_US) * 1000);
            self.view.delivered_us += u64::from(RTT_US);
            self.view.delivered += segments;
            self.view.lost += lost;
            let sample = RateSample {
                prior_us: 1,
                prior_delivered,
                delivered: Some(segments),
                interval_us: RTT_US.into(),
                rtt_us: Some(RTT_US),
                losses: lost,
                acked: segments,
                prior_in_flight: self.view.in_flight,
                ..RateSample::default()
            };
            self.bbr.model_ack(&sample, &mut self.view);
        }
    }

    /// 40 segments in 40 ms are 0.001 per us, 16777 of 2^24, and 99 % of a megabyte per second; the round trip holds 40 of
    /// them, and the window twice that and three buffers of two.
    #[test]
    fn a_pipe_is_full_after_three_rounds_without_growth_and_its_numbers_are_those_of_linux() {
        let mut path = Path::begun();
        // 10 segments in 40 ms, times 739/256, less a hundredth.
        assert_eq!(path.view.pacing_rate, ((10 << 24) / 40_000 * 1000 * 739 / 256 * 990_000) >> 24);
        path.view.in_flight = 80;
        for _ in 0..3 {
            path.round(40, 0);
            assert_eq!((path.bbr.mode, path.bbr.filled), (Mode::Startup, false));
        }
        path.round(40, 0);
        assert_eq!((path.bbr.mode, path.view.ssthresh), (Mode::Drain, 46));
        assert_eq!(path.view.pacing_rate, (16_777 * 1000 * 88 / 256 * 990_000) >> 24);
        path.view.in_flight = 40;
        path.round(40, 0);
        assert_eq!(path.bbr.mode, Mode::ProbeBandwidth);
        assert!(path.bbr.phase != 1, "no cycle begins with its second phase");
        for _ in 0..16 {
            path.round(40, 0);
        }
        let bunched = path.bbr.aggregation.most[0].max(path.bbr.aggregation.most[1]);
        let probing = 2 * u32::from(path.bbr.phase == 0);
        assert_eq!(path.view.cwnd, (80 + bunched + 6).next_multiple_of(2) + probing);
    }

    /// Two intervals of four round trips with a quarter lost and the same rate: that of a policer, for 48 round trips.
    #[test]
    fn losses_at_a_constant_rate_are_those_of_a_policer() {
        let mut path = Path::begun();
        for _ in 0..4 {
            path.round(80, 0);
        }
        for round in 0..8 {
            assert!(!path.bbr.policer.used, "{round}");
            path.round(40, 10);
        }
        assert!(path.bbr.policer.used);
        assert_eq!(path.bbr.bandwidth(), 16_777);
        assert!(path.bbr.most_rate() > 2 * 16_777 - 10, "the largest rate was twice that");
        path.view.in_flight = 0;
        for _ in 0..60 {
            path.round(40, 0);
        }
        assert!(!path.bbr.policer.used);
    }

    /// The first round trip of a recovery sends a segment for each that arrives; behind it the window is what it was.
    #[test]
    fn a_recovery_conserves_packets_and_gives_the_window_back() {
        let mut path = Path::begun();
        for _ in 0..6 {
            path.round(40, 0);
        }
        let before = path.view.cwnd;
        path.bbr.reduced(before, 0, 0);
        (path.view.state, path.view.in_flight) = (State::Recovery, 12);
        path.round(5, 3);
        assert_eq!(path.view.cwnd, 17);
        path.view.state = State::Open;
        path.round(20, 0);
        assert!(path.view.cwnd >= before, "{} of {before}", path.view.cwnd);
    }

    /// What was not seen for ten seconds is sought with four segments for 200 ms.
    #[test]
    fn the_round_trip_time_is_probed_every_ten_seconds() {
        let mut path = Path::begun();
        let mut least = Vec::new();
        for round in 0..300 {
            path.view.in_flight = path.view.cwnd;
            path.view.srtt_us = 8 * RTT_US;
            path.round(40, 0);
            if path.view.cwnd == LEAST_WINDOW {
                least.push(round);
            }
        }
        // 10 s are 250 round trips of 40 ms, 200 ms and the one that ends them six or seven.
        assert_eq!(least.first(), Some(&250));
        assert!((6..=8).contains(&least.len()), "{least:?}");
    }
}
