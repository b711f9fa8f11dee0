//! BBR, version 1: a model of the path, its bandwidth and its round-trip time, instead of losses.
//!
//! Principle: the largest delivery rate of the last ten round trips and the smallest round-trip time of the last ten
//! seconds say how fast to send and how much may be under way. The rate is probed in cycles of eight round trips, the
//! round-trip time by emptying the path for 200 ms when it has not been seen that small for ten seconds. State: O(1).
//! Cost per acknowledgement: O(1), ten comparisons once a round trip. Source: draft-cardwell-iccrg-bbr-congestion-control-00,
//! sections 4.1 to 4.3; the numbers of its sections stand at the lines.
//!
//! Rates are in segments per second, windows in segments. The send quantum is one segment, and losses beyond what RFC 6675
//! finds, a lost retransmission above all, cost a timeout here where Linux has RACK.

use units::Time;

use super::path::{Begin, PathModel};
use super::rule::{LinuxCode, Moment, Rule, Traits};
use crate::tcp::rate::Sample;

/// The window is that of the model: no rule moves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowsModel;

impl Rule for FollowsModel {
    /// Version 1 of BBR does not listen to marks.
    const TRAITS: Traits = Traits {
        hears_marks: false,
        paced: true,
        needs_sack: true,
        model: Some(|start| Box::new(Bbr::begin(start))),
        ..Traits::PLAIN
    };
    const MODULE: Option<&'static str> = Some("bbr");
    const LINUX_CODE: Option<LinuxCode> = Some(LinuxCode::Bbr);

    fn idle() -> FollowsModel {
        FollowsModel
    }

    fn grown(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window
    }
}

/// 2 / ln 2: the smallest gain that doubles the rate in a round trip (4.3.1.1, BBRHighGain).
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Gain of the window outside start-up: room for delayed and stretched acknowledgements (4.2.3.2).
const CWND_GAIN: f64 = 2.0;
/// Gains of the rate in one cycle of probing (4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Round trips over which the largest delivery rate counts (4.1.1.3, BtlBwFilterLen).
const ROUNDS: usize = 10;
/// How long the smallest round-trip time counts (4.1.2.3, RTpropFilterLen).
const RTT_LASTS: Time = Time::from_millis(10_000);
/// How long the path is kept empty to see its round-trip time (4.3.5, ProbeRTTDuration).
const PROBE_RTT: Time = Time::from_millis(200);
/// Smallest window that keeps delayed acknowledgements coming (4.2.3.3, BBRMinPipeCwnd).
const LEAST_WINDOW: f64 = 4.0;
/// Growth per round trip below which the pipe counts as full, and how often (4.3.2.1).
const GROWTH: f64 = 1.25;
const ROUNDS_WITHOUT_GROWTH: u32 = 3;
/// Three send quanta of a segment each: room for those under way in the end hosts (4.2.3.2).
const QUANTA: f64 = 3.0;
/// Round-trip time assumed before any sample (4.2.1).
const ASSUMED_RTT_S: f64 = 1e-3;

/// Where the model is (4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// State of BBR.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bbr {
    state: State,
    /// Segments per second: the pace.
    pacing_rate: f64,
    /// Segments: at most so many in flight.
    cwnd: f64,
    initial_window: f64,
    /// Largest delivery rate of each of the last rounds, by round modulo their number.
    rates: [f64; ROUNDS],
    round: u64,
    /// The last round with a rate. The filter moves with the rates it takes, so that an application's pauses do not
    /// make it forget the path (4.1.1.3, BBRUpdateBtlBw).
    rated: u64,
    round_start: bool,
    next_round_delivered: u64,
    rtt: Time,
    rtt_seen: Time,
    pacing_gain: f64,
    cwnd_gain: f64,
    full_rate: f64,
    rounds_without_growth: u32,
    filled: bool,
    phase: usize,
    phase_began: Time,
    /// End of the time with a small window; `NEVER` until the flight has shrunk.
    probe_done: Time,
    probe_round_done: bool,
    prior_cwnd: f64,
    recovering: bool,
    /// In the first round of a recovery one segment is sent for each delivered (4.2.3.4).
    conserving: bool,
    conserve_until: u64,
    /// The sender went on after a pause: what it sees next does not show the queue.
    restarted: bool,
}

impl PathModel for Bbr {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn pacing_rate(&self) -> f64 {
        self.pacing_rate
    }

    /// Takes an acknowledgement into the model and sets pace and window (4.1.1 to 4.2.3).
    fn on_ack(&mut self, sample: &Sample, now: Time) {
        self.count_round(sample);
        self.take_rate(sample);
        self.move_phase(sample, now);
        self.check_full(sample);
        self.check_drained(sample, now);
        self.take_rtt(sample, now);
        self.set_pace();
        self.set_window(sample);
        self.restarted = false;
    }

    /// The sender goes on after its application paused: at the rate of the path, not above (4.3.4.4).
    fn on_restart(&mut self, _: Time) {
        self.restarted = true;
        if self.state == State::ProbeBw && self.bandwidth() > 0.0 {
            self.pacing_rate = self.bandwidth();
        }
    }

    /// Loss recovery begins: one segment leaves for each that arrives (4.2.3.4).
    fn on_recovery(&mut self, in_flight: u32, delivered: u64) {
        self.save_window();
        self.recovering = true;
        self.conserving = true;
        self.conserve_until = delivered;
        self.cwnd = f64::from(in_flight.max(1));
    }

    /// Loss recovery is over: the window of before (4.2.3.4, BBRRestoreCwnd).
    fn on_recovered(&mut self) {
        self.recovering = false;
        self.conserving = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// The retransmission timer went off: one segment until the path answers (4.2.3.4).
    fn on_timeout(&mut self, _: u32) {
        self.save_window();
        self.recovering = true;
        self.conserving = false;
        self.cwnd = 1.0;
    }

    /// Whether the window is small to see the round-trip time: the rates of that time say nothing of the path (4.3.5,
    /// BBRHandleProbeRTT).
    fn is_probing_rtt(&self) -> bool {
        self.state == State::ProbeRtt
    }

    /// Whether a loss is being repaired.
    fn is_recovering(&self) -> bool {
        self.recovering
    }
}

impl Bbr {
    /// At the start of a connection (4.3.1, BBRInit). `draw` says where the cycle of probing begins: the phase of the
    /// lower rate is left out (4.3.4.3).
    fn begin(start: Begin) -> Bbr {
        let Begin { initial_window, srtt_s, now, draw } = start;
        let rtt_s = if srtt_s > 0.0 { srtt_s } else { ASSUMED_RTT_S };
        let phase = [0, 2, 3, 4, 5, 6, 7][(draw % 7) as usize];
        Bbr {
            state: State::Startup,
            pacing_rate: HIGH_GAIN * initial_window / rtt_s,
            cwnd: initial_window,
            initial_window,
            rates: [0.0; ROUNDS],
            round: 0,
            rated: 0,
            round_start: false,
            next_round_delivered: 0,
            rtt: Time::NEVER,
            rtt_seen: now,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            full_rate: 0.0,
            rounds_without_growth: 0,
            filled: false,
            phase,
            phase_began: now,
            probe_done: Time::NEVER,
            probe_round_done: false,
            prior_cwnd: 0.0,
            recovering: false,
            conserving: false,
            conserve_until: 0,
            restarted: false,
        }
    }

    /// Segments per second: the largest delivery rate of the last rounds; 0 before any.
    fn bandwidth(&self) -> f64 {
        self.rates.iter().fold(0.0, |most: f64, &rate| most.max(rate))
    }

    /// Segments under way at `gain` times the bandwidth-delay product (4.2.3.2, BBRInflight).
    fn target(&self, gain: f64) -> f64 {
        if self.rtt == Time::NEVER {
            return self.initial_window;
        }
        gain * self.bandwidth() * self.rtt.as_secs_f64() + QUANTA
    }

    /// A round is over when something sent after its start is delivered (4.1.1.2).
    fn count_round(&mut self, sample: &Sample) {
        self.round_start = sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = sample.delivered;
            self.round += 1;
        }
        if self.conserving && sample.prior_delivered >= self.conserve_until {
            self.conserving = false;
        }
    }

    fn take_rate(&mut self, sample: &Sample) {
        if let Some(rate) = sample.rate
            && (!sample.app_limited || rate >= self.bandwidth())
        {
            let gone = (self.round - self.rated).min(ROUNDS as u64);
            (0..gone).for_each(|ago| self.rates[(self.round - ago) as usize % ROUNDS] = 0.0);
            self.rated = self.round;
            let best = &mut self.rates[self.round as usize % ROUNDS];
            *best = best.max(rate);
        }
    }

    /// The cycle of probing (4.3.4.3).
    fn move_phase(&mut self, sample: &Sample, now: Time) {
        if self.state != State::ProbeBw {
            return;
        }
        let full_length = now.saturating_sub(self.phase_began) > self.rtt;
        let next = if self.pacing_gain > 1.0 {
            full_length && (sample.lost > 0 || f64::from(sample.prior_in_flight) >= self.target(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            full_length || f64::from(sample.prior_in_flight) <= self.target(1.0)
        } else {
            full_length
        };
        if next {
            self.set_phase((self.phase + 1) % CYCLE.len(), now);
        }
    }

    fn set_phase(&mut self, phase: usize, now: Time) {
        self.phase = phase;
        self.phase_began = now;
        self.pacing_gain = CYCLE[phase];
    }

    /// Three rounds that did not bring a quarter more: the pipe is full (4.3.2.2).
    fn check_full(&mut self, sample: &Sample) {
        if self.filled || !self.round_start || sample.app_limited {
            return;
        }
        let rate = self.bandwidth();
        if rate >= self.full_rate * GROWTH {
            self.full_rate = rate;
            self.rounds_without_growth = 0;
            return;
        }
        self.rounds_without_growth += 1;
        self.filled = self.rounds_without_growth >= ROUNDS_WITHOUT_GROWTH;
    }

    /// Drain what start-up queued, then probe (4.3.3).
    fn check_drained(&mut self, sample: &Sample, now: Time) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
        if self.state == State::Drain && f64::from(sample.in_flight) <= self.target(1.0) {
            self.probe_bandwidth(now);
        }
    }

    fn probe_bandwidth(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cwnd_gain = CWND_GAIN;
        self.set_phase(self.phase, now);
    }

    /// The smallest round-trip time, and the visit to ProbeRTT when it has grown old (4.1.2.3, 4.3.5).
    fn take_rtt(&mut self, sample: &Sample, now: Time) {
        let expired = now > self.rtt_seen + RTT_LASTS;
        if let Some(rtt) = sample.rtt
            && (rtt <= self.rtt || expired)
        {
            self.rtt = rtt;
            self.rtt_seen = now;
        }
        if expired && !self.restarted && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, 1.0);
            self.save_window();
            self.probe_done = Time::NEVER;
        }
        if self.state != State::ProbeRtt {
            return;
        }
        if self.probe_done == Time::NEVER {
            if f64::from(sample.in_flight) <= LEAST_WINDOW {
                self.probe_done = now + PROBE_RTT;
                self.probe_round_done = false;
                self.next_round_delivered = sample.delivered;
            }
            return;
        }
        self.probe_round_done |= self.round_start;
        if self.probe_round_done && now > self.probe_done {
            self.rtt_seen = now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.leave_probe_rtt(now);
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        if self.filled {
            self.probe_bandwidth(now);
        } else {
            self.state = State::Startup;
            (self.pacing_gain, self.cwnd_gain) = (HIGH_GAIN, HIGH_GAIN);
        }
    }

    /// The pace is not lowered before the pipe was full once (4.2.1).
    fn set_pace(&mut self) {
        let rate = self.pacing_gain * self.bandwidth();
        if rate > 0.0 && (self.filled || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    fn set_window(&mut self, sample: &Sample) {
        let acked = f64::from(sample.acked);
        if self.recovering {
            self.cwnd = (self.cwnd - f64::from(sample.lost)).max(1.0);
        }
        if self.conserving {
            self.cwnd = self.cwnd.max(f64::from(sample.in_flight) + acked);
        } else {
            let target = self.target(self.cwnd_gain);
            if self.filled {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || (sample.delivered as f64) < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(LEAST_WINDOW);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(LEAST_WINDOW);
        }
    }

    /// Remembers the window, the larger one when it is small for a reason already (4.2.3.4, BBRSaveCwnd).
    fn save_window(&mut self) {
        self.prior_cwnd =
            if self.recovering || self.state == State::ProbeRtt { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }
}
