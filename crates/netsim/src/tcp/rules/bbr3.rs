//! BBR, version 3: a model of the path that heeds losses and marks.
//!
//! Principle: as version 1, the largest delivery rate and the smallest round-trip time say how fast to send and how much may
//! be under way. Beside them stand two bounds of what may be under way: a long-term one, found by probing until more than 2 %
//! of a flight are lost, and a short-term one, which losses between the probes lower by 0.7 at most per round trip. A cycle
//! goes down (drain), cruises (leave room for others), refills and goes up (probe); every 2 to 3 seconds, or as often as a
//! Reno flow of the same window would. The round-trip time is probed every 5 seconds with half a bandwidth-delay product
//! under way. State: O(1). Cost per acknowledgement: O(1), ten comparisons at most.
//!
//! Source: draft-ietf-ccwg-bbr as of 2026-08-03, sections 5.2 to 5.6; the names of its pseudocode stand at the lines. It has no
//! answer to marks but requires one: that of Google's `tcp_bbr.c` (branch v3) is taken, without its limit to round trips below
//! 5 ms, where acknowledgements count marks; the echo of RFC 3168 counts for all that is acknowledged until it ends.
//!
//! Where the two differ or leave something open: losses before the one that crosses 2 % count as the flight's (`tcp_bbr.c`);
//! the flight that ends a probe is that before the acknowledgement (`tcp_bbr.c`), since that after it never fills the bound.
//! Rates are in segments per second, windows in segments. The send quantum is that of the sender, one segment but in Linux.

use units::Time;

use super::path::{Begin, PathModel};
use super::rule::{Moment, Rule, Traits};
use crate::tcp::rate::{Loss, Sample};

/// The window is that of the model: no rule moves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowsModel3;

impl Rule for FollowsModel3 {
    const TRAITS: Traits =
        Traits { paced: true, needs_sack: true, model: Some(|start| Box::new(Bbr3::begin(start))), ..Traits::PLAIN };

    fn idle() -> FollowsModel3 {
        FollowsModel3
    }

    fn grown(&mut self, cwnd: f64, _: Moment) -> f64 {
        cwnd
    }

    fn reduced(&mut self, window: f64) -> f64 {
        window
    }
}

/// `StartupPacingGain`: 4 ln 2, and `DefaultCwndGain`.
const STARTUP_GAIN: f64 = 2.77;
const CWND_GAIN: f64 = 2.0;
/// `PacingMarginPercent`.
const MARGIN: f64 = 0.99;
/// `LossThresh`, `Beta`, `Headroom`, `MinPipeCwnd`.
const LOSS_THRESHOLD: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
const LEAST_WINDOW: f64 = 4.0;
/// Growth per round trip below which the pipe counts as full, and how often.
const GROWTH: f64 = 1.25;
const ROUNDS_WITHOUT_GROWTH: u32 = 3;
/// `StartupFullLossCnt`.
const STARTUP_LOSSES: u32 = 6;
/// Round trips after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;
/// `MinRTTFilterLen`, `ProbeRTTInterval`, `ProbeRTTDuration`, `ProbeRTTCwndGain`.
const RTT_LASTS: Time = Time::from_millis(10_000);
const PROBE_RTT_EVERY: Time = Time::from_millis(5000);
const PROBE_RTT: Time = Time::from_millis(200);
const PROBE_RTT_GAIN: f64 = 0.5;
/// `ExtraAckedFilterLen`, round trips.
const ACKED_ROUNDS: usize = 10;
/// Shortest wall-clock time between probes, and by how much it is spread.
const PROBE_WAIT_S: f64 = 2.0;
const PROBE_SPREAD_S: f64 = 1.0;
/// Most round trips between probes.
const MOST_ROUNDS: f64 = 63.0;
/// `offload_budget`, send quanta.
const QUANTA: f64 = 3.0;
/// Round-trip time assumed before any sample.
const ASSUMED_RTT_S: f64 = 1e-3;
/// `tcp_bbr.c`: weight of a round trip in the share of marks, what a share of 1 takes off, the share that is too much, for
/// how many round trips in Startup, and the part of the bound by which it is raised first when marks have ended.
const MARK_GAIN: f64 = 1.0 / 16.0;
const MARK_FACTOR: f64 = 1.0 / 3.0;
const MARK_THRESHOLD: f64 = 0.5;
const STARTUP_MARKED_ROUNDS: u32 = 2;
const REPROBE_GAIN: f64 = 0.5;

/// Where the model is (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// What acknowledgements say of the probe (`ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// State of BBRv3, by the names of the draft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bbr3 {
    state: State,
    pacing_rate: f64,
    cwnd: f64,
    initial_window: f64,
    /// `send_quantum`, segments.
    quantum: f64,
    /// `max_bw_filter`: the largest rate of the cycle before and of this one.
    rates: [f64; 2],
    /// `bw`: the smaller of `max_bw` and `bw_shortterm`.
    bw: f64,
    bw_shortterm: f64,
    bw_latest: f64,
    inflight_longterm: f64,
    inflight_shortterm: f64,
    inflight_latest: u64,
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    /// Acknowledgements of this round that found losses (`tcp_bbr.c`: `loss_events_in_round`).
    loss_events: u32,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u64,
    min_rtt: Time,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Time,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    /// `NEVER` until the flight has shrunk.
    probe_rtt_done_stamp: Time,
    probe_rtt_round_done: bool,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    probe_up_acked_per_inc: f64,
    bw_probe_up_acked: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Time,
    cycle_stamp: Time,
    idle_restart: bool,
    /// `extra_acked_filter`: the most of each of the last rounds, by round modulo their number.
    extra_acked: [f64; ACKED_ROUNDS],
    extra_acked_delivered: f64,
    extra_acked_interval_start: Time,
    prior_cwnd: f64,
    recovering: bool,
    /// What an undo brings back is saved.
    saved: bool,
    undo_state: Option<State>,
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
    /// `tcp_bbr.c`: `ecn_alpha`, what was delivered and marked at its last update and now, marks in this round and cycle,
    /// rounds of many marks in Startup, losses in this cycle.
    marked_share: f64,
    share_delivered: u64,
    share_marked: u64,
    marked: u64,
    is_mark_in_round: bool,
    is_mark_in_cycle: bool,
    is_loss_in_cycle: bool,
    marked_rounds: u32,
    /// What had been delivered at the last mark: beyond it marks have ended.
    marks_end: u64,
    random: u64,
}

impl PathModel for Bbr3 {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn pacing_rate(&self) -> f64 {
        self.pacing_rate
    }

    /// `UpdateOnACK` (5.2.3).
    fn on_ack(&mut self, rs: &Sample, now: Time) {
        self.marked += u64::from(rs.marked);
        self.quantum = f64::from(rs.quantum);
        self.update_latest_delivery_signals(rs);
        self.update_congestion_signals(rs);
        self.update_ack_aggregation(rs, now);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(rs, now);
        self.update_probe_bw_cycle_phase(rs, now);
        self.update_min_rtt(rs, now);
        self.check_probe_rtt(rs, now);
        if self.loss_round_start {
            // AdvanceLatestDeliverySignals.
            self.bw_latest = rs.rate.unwrap_or(0.0);
            self.inflight_latest = rs.delivered - rs.prior_delivered;
        }
        self.bw = self.max_bw().min(self.bw_shortterm);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(rs);
        self.is_loss_in_cycle |= rs.lost > 0;
        self.is_mark_in_cycle |= rs.marked > 0;
    }

    /// `HandleLostPacket` (5.5.10.2).
    fn on_loss(&mut self, loss: &Loss, now: Time) {
        self.note_loss(loss.delivered);
        self.is_loss_in_cycle = true;
        if self.is_bw_probe_sample && exceeds(loss.lost_since, loss.sent_in_flight) {
            self.handle_inflight_too_high(inflight_at_loss(loss), loss.app_limited, loss.delivered, now);
        }
    }

    /// `HandleRestartFromIdle` (5.4.1).
    fn on_restart(&mut self, now: Time) {
        self.idle_restart = true;
        self.extra_acked_interval_start = now;
        if self.is_probing_states() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, self.next_round_delivered);
        }
    }

    /// `OnEnterFastRecovery` (5.6.4.4). The losses that set it off have been noted.
    fn on_recovery(&mut self, _: u32, _: u64) {
        self.begin_episode();
        self.recovering = true;
    }

    /// `RestoreCwnd` (5.6.4.4), within the bounds of the model.
    fn on_recovered(&mut self) {
        (self.recovering, self.saved) = (false, false);
        self.restore_cwnd();
        self.bound_cwnd();
    }

    /// `HandleSpuriousLossDetection` (5.5.11.2).
    fn on_undo(&mut self, _: Time) {
        (self.recovering, self.saved) = (false, false);
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        let elsewhere = self.state != State::ProbeRtt;
        match self.undo_state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if elsewhere {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && elsewhere => {
                self.start_refill(self.next_round_delivered, 0);
            }
            _ => {}
        }
        self.bound_cwnd();
    }

    /// `OnEnterRTO` (5.6.4.4).
    fn on_timeout(&mut self, in_flight: u32) {
        self.begin_episode();
        self.recovering = true;
        self.cwnd = f64::from(in_flight) + 1.0;
    }

    fn is_probing_rtt(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }
}

/// Whether `lost` of a flight are more than is tolerated (`IsInflightTooHigh`).
fn exceeds(lost: u64, sent_in_flight: u32) -> bool {
    lost as f64 > f64::from(sent_in_flight) * LOSS_THRESHOLD
}

/// `InflightAtLoss`: where in the flight losses crossed the threshold, for segments one by one.
fn inflight_at_loss(loss: &Loss) -> f64 {
    let (before, lost_before) = (f64::from(loss.sent_in_flight) - 1.0, loss.lost_since as f64 - 1.0);
    let prefix = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    before + prefix.max(0.0)
}

impl Bbr3 {
    /// `OnInit` (5.2.1). `draw` seeds the lengths of cycles.
    fn begin(start: Begin) -> Bbr3 {
        let Begin { initial_window, srtt_s, now, draw } = start;
        let rtt_s = if srtt_s > 0.0 { srtt_s } else { ASSUMED_RTT_S };
        let rtt = if srtt_s > 0.0 { Time((srtt_s * 1e9) as u64) } else { Time::NEVER };
        Bbr3 {
            state: State::Startup,
            pacing_rate: STARTUP_GAIN * initial_window / rtt_s,
            cwnd: initial_window,
            initial_window,
            quantum: 1.0,
            rates: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_latest: 0,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            loss_events: 0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            min_rtt: rtt,
            min_rtt_stamp: now,
            probe_rtt_min_delay: rtt,
            probe_rtt_min_stamp: now,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: Time::NEVER,
            probe_rtt_round_done: false,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_acked: 0.0,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Time::ZERO,
            cycle_stamp: Time::ZERO,
            idle_restart: false,
            extra_acked: [0.0; ACKED_ROUNDS],
            extra_acked_delivered: 0.0,
            extra_acked_interval_start: now,
            prior_cwnd: 0.0,
            recovering: false,
            saved: false,
            undo_state: None,
            undo_bw_shortterm: 0.0,
            undo_inflight_shortterm: 0.0,
            undo_inflight_longterm: 0.0,
            marked_share: 1.0,
            share_delivered: 0,
            share_marked: 0,
            marked: 0,
            is_mark_in_round: false,
            is_mark_in_cycle: false,
            is_loss_in_cycle: false,
            marked_rounds: 0,
            marks_end: 0,
            random: draw,
        }
    }

    /// A number from 0 to 1: SplitMix64.
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut draw = self.random;
        draw = (draw ^ draw >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        draw = (draw ^ draw >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((draw ^ draw >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn max_bw(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// Table of 5.6.1.
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_GAIN,
            State::Drain => 0.5,
            State::Down => 0.90,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => 2.25,
            State::ProbeRtt => PROBE_RTT_GAIN,
            _ => CWND_GAIN,
        }
    }

    /// `IsInAProbeBWState`.
    fn is_probing_states(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// `IsProbingBW`.
    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// `BDPMultiple` with `bw`.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == Time::NEVER { self.initial_window } else { gain * bw * self.min_rtt.as_secs_f64() }
    }

    /// `QuantizationBudget`.
    fn quantized(&self, inflight: f64) -> f64 {
        inflight.max(QUANTA * self.quantum).max(LEAST_WINDOW) + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    /// `TargetInflight`.
    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw, 1.0).min(self.cwnd)
    }

    /// `InflightWithHeadroom`.
    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(LEAST_WINDOW)
    }

    /// `UpdateLatestDeliverySignals` (5.5.10.3).
    fn update_latest_delivery_signals(&mut self, rs: &Sample) {
        self.bw_latest = self.bw_latest.max(rs.rate.unwrap_or(0.0));
        self.inflight_latest = self.inflight_latest.max(rs.delivered - rs.prior_delivered);
        self.loss_round_start = rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = rs.delivered;
        }
    }

    /// `UpdateCongestionSignals` (5.5.10.3).
    fn update_congestion_signals(&mut self, rs: &Sample) {
        self.update_max_bw(rs);
        self.is_mark_in_round |= rs.marked > 0;
        if rs.marked > 0 {
            self.marks_end = rs.delivered;
        }
        if !self.loss_round_start {
            return;
        }
        self.adapt_lower_bounds();
        (self.is_loss_in_round, self.is_mark_in_round) = (false, false);
    }

    /// `UpdateMaxBw` with `UpdateRound` (5.5.1, 5.5.5).
    fn update_max_bw(&mut self, rs: &Sample) {
        self.round_start = rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = rs.delivered;
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.extra_acked[self.round_count as usize % ACKED_ROUNDS] = 0.0;
            self.update_marked_share(rs);
        }
        if let Some(rate) = rs.rate
            && (rate >= self.max_bw() || !rs.app_limited)
        {
            self.rates[1] = self.rates[1].max(rate);
        }
    }

    /// `tcp_bbr.c`: `bbr_update_ecn_alpha`, once per round trip.
    fn update_marked_share(&mut self, rs: &Sample) {
        let (delivered, marked) = (rs.delivered - self.share_delivered, self.marked - self.share_marked);
        (self.share_delivered, self.share_marked) = (rs.delivered, self.marked);
        if delivered == 0 {
            return;
        }
        let share = (marked as f64 / delivered as f64).min(1.0);
        self.marked_share += MARK_GAIN * (share - self.marked_share);
        self.marked_rounds = if share >= MARK_THRESHOLD { self.marked_rounds + 1 } else { 0 };
        if !self.full_bw_reached && self.marked_rounds >= STARTUP_MARKED_ROUNDS {
            self.leave_startup_congested();
        }
    }

    /// `AdaptLowerBoundsFromCongestion` (5.5.10.3), with the marks of `tcp_bbr.c`.
    fn adapt_lower_bounds(&mut self) {
        if self.is_probing_bw() || !(self.is_loss_in_round || self.is_mark_in_round) {
            return;
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = self.cwnd;
        }
        let marked = if self.is_mark_in_round {
            self.inflight_shortterm * (1.0 - self.marked_share * MARK_FACTOR)
        } else {
            f64::INFINITY
        };
        if self.is_loss_in_round {
            if self.bw_shortterm == f64::INFINITY {
                self.bw_shortterm = self.max_bw();
            }
            self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
            self.inflight_shortterm = (self.inflight_latest as f64).max(BETA * self.inflight_shortterm);
        }
        self.inflight_shortterm = self.inflight_shortterm.min(marked);
    }

    /// `UpdateACKAggregation` (5.5.9).
    fn update_ack_aggregation(&mut self, rs: &Sample, now: Time) {
        let interval_s = now.saturating_sub(self.extra_acked_interval_start).as_secs_f64();
        let mut expected = self.bw * interval_s;
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, expected) = (0.0, 0.0);
            self.extra_acked_interval_start = now;
        }
        self.extra_acked_delivered += f64::from(rs.acked);
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let slot = &mut self.extra_acked[self.round_count as usize % ACKED_ROUNDS];
        *slot = slot.max(extra);
    }

    /// The largest of the last ten rounds, in Startup of this one.
    fn most_extra_acked(&self) -> f64 {
        if self.full_bw_reached {
            self.extra_acked.iter().fold(0.0, |most: f64, &extra| most.max(extra))
        } else {
            self.extra_acked[self.round_count as usize % ACKED_ROUNDS]
        }
    }

    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0.0, 0, false);
    }

    /// `CheckFullBWReached` (5.3.1.2).
    fn check_full_bw_reached(&mut self, rs: &Sample) {
        if self.full_bw_now || !self.round_start || rs.app_limited {
            return;
        }
        let rate = rs.rate.unwrap_or(0.0);
        if rate >= self.full_bw * GROWTH {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= ROUNDS_WITHOUT_GROWTH;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `CheckStartupDone` with `CheckStartupHighLoss` (5.3.1.3).
    fn check_startup_done(&mut self, rs: &Sample) {
        self.loss_events += u32::from(rs.lost > 0);
        let lossy = self.recovering && self.loss_round_start && self.loss_events >= STARTUP_LOSSES;
        if !self.full_bw_reached && lossy && exceeds(rs.lost_since, rs.sent_in_flight) {
            self.undo_state = Some(State::Startup);
            self.leave_startup_congested();
        }
        if self.loss_round_start {
            self.loss_events = 0;
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round_count;
        }
    }

    fn leave_startup_congested(&mut self) {
        self.full_bw_reached = true;
        self.inflight_longterm =
            self.bdp(self.max_bw(), 1.0).max(self.inflight_latest as f64).floor().max(LEAST_WINDOW);
    }

    /// `CheckDrainDone` (5.3.2).
    fn check_drain_done(&mut self, rs: &Sample, now: Time) {
        let drained = f64::from(rs.in_flight) <= self.quantized(self.bdp(self.bw, 1.0));
        if self.state == State::Drain && (drained || self.round_count > self.drain_start_round + DRAIN_ROUNDS) {
            self.start_down(rs.delivered, now);
        }
    }

    /// `UpdateProbeBWCyclePhase` (5.3.3.6).
    fn update_probe_bw_cycle_phase(&mut self, rs: &Sample, now: Time) {
        if !self.full_bw_reached || self.adapt_long_term_model(rs, now) {
            return;
        }
        let state = self.state;
        if matches!(state, State::Down | State::Cruise) && self.is_time_to_probe_bw(rs, now) {
            return;
        }
        if state == State::Down && self.is_time_to_cruise(rs) {
            self.state = State::Cruise;
        } else if state == State::Refill && self.round_start {
            self.is_bw_probe_sample = true;
            self.start_up(rs);
        } else if state == State::Up && self.is_time_to_go_down(rs) {
            self.prev_probe_too_high = false;
            self.start_down(rs.delivered, now);
        }
    }

    /// `AdaptLongTermModel` (5.3.3.6): whether it has decided a transition.
    fn adapt_long_term_model(&mut self, rs: &Sample, now: Time) -> bool {
        if self.ack_phase == AckPhase::Starting && self.round_start {
            self.ack_phase = AckPhase::Feedback;
        }
        if self.ack_phase == AckPhase::Stopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_probing_states() {
                if !rs.app_limited && self.rates[1] > 0.0 {
                    // AdvanceMaxBwFilter.
                    self.rates = [self.rates[1], 0.0];
                }
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_refill(rs.delivered, 0);
                    return true;
                }
            }
        }
        let delivered = (rs.delivered - rs.prior_delivered) as f64;
        if rs.marked_since as f64 > MARK_THRESHOLD * delivered {
            if self.is_bw_probe_sample {
                self.handle_inflight_too_high(f64::from(rs.sent_in_flight), rs.app_limited, rs.delivered, now);
            }
        } else if !exceeds(rs.lost_since, rs.sent_in_flight) && self.inflight_longterm < f64::INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(f64::from(rs.sent_in_flight));
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(rs);
            }
        }
        false
    }

    /// `HandleInflightTooHigh` (5.5.10.2).
    fn handle_inflight_too_high(&mut self, inflight: f64, app_limited: bool, delivered: u64, now: Time) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !app_limited {
            self.inflight_longterm = inflight.max(self.target_inflight() * BETA).floor();
        }
        if self.state == State::Up {
            self.undo_state = Some(State::Up);
            self.start_down(delivered, now);
        }
    }

    /// `IsTimeToProbeBW`; and when marks have ended without a loss (`tcp_bbr.c`).
    fn is_time_to_probe_bw(&mut self, rs: &Sample, now: Time) -> bool {
        let open = !self.recovering && rs.prior_delivered >= self.marks_end;
        if self.is_mark_in_cycle && !self.is_loss_in_cycle && open {
            let goal = self.inflight_longterm * REPROBE_GAIN;
            let doublings = if goal < f64::INFINITY { (goal as u32).max(1).ilog2() } else { 0 };
            self.start_refill(rs.delivered, doublings);
            return true;
        }
        let rounds = self.target_inflight().min(MOST_ROUNDS);
        let due = now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds;
        if due {
            self.start_refill(rs.delivered, 0);
        }
        due
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, rs: &Sample) -> bool {
        let inflight = f64::from(rs.prior_in_flight);
        inflight <= self.inflight_with_headroom() && inflight <= self.quantized(self.bdp(self.max_bw(), 1.0))
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, rs: &Sample) -> bool {
        if self.prev_probe_too_high && f64::from(rs.prior_in_flight) >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if rs.window_limited && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = rs.rate.unwrap_or(0.0);
            return false;
        }
        self.full_bw_now
    }

    /// `StartProbeBW_DOWN`.
    fn start_down(&mut self, delivered: u64, now: Time) {
        // ResetCongestionSignals.
        (self.is_loss_in_round, self.is_mark_in_round) = (false, false);
        (self.is_loss_in_cycle, self.is_mark_in_cycle) = (false, false);
        (self.bw_latest, self.inflight_latest) = (0.0, 0);
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait.
        self.rounds_since_probe_up = u64::from(self.uniform() < 0.5);
        self.bw_probe_wait = Time(((PROBE_WAIT_S + PROBE_SPREAD_S * self.uniform()) * 1e9) as u64);
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::Stopping;
        self.next_round_delivered = delivered;
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`. `doublings`: of the first step by which the bound is raised.
    fn start_refill(&mut self, delivered: u64, doublings: u32) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (doublings, 0.0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.next_round_delivered = delivered;
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, rs: &Sample) {
        self.ack_phase = AckPhase::Starting;
        self.next_round_delivered = rs.delivered;
        self.reset_full_bw();
        self.full_bw = rs.rate.unwrap_or(0.0);
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1_u32 << self.bw_probe_up_rounds.min(30));
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(1.0);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_inflight_longterm_upward(&mut self, rs: &Sample) {
        if !rs.window_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += f64::from(rs.acked);
        let steps = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
        if steps >= 1.0 {
            self.bw_probe_up_acked -= steps * self.probe_up_acked_per_inc;
            self.inflight_longterm += steps;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// `UpdateMinRTT` (5.3.4.3).
    fn update_min_rtt(&mut self, rs: &Sample, now: Time) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + PROBE_RTT_EVERY;
        if let Some(rtt) = rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, now);
        }
        if self.probe_rtt_min_delay < self.min_rtt || now > self.min_rtt_stamp + RTT_LASTS {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
    }

    /// `CheckProbeRTT` and `HandleProbeRTT` (5.3.4.3). The sender marks samples of this state as limited by the application.
    fn check_probe_rtt(&mut self, rs: &Sample, now: Time) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_done_stamp = Time::NEVER;
            self.ack_phase = AckPhase::Stopping;
            self.next_round_delivered = rs.delivered;
        }
        self.idle_restart = false;
        if self.state != State::ProbeRtt {
            return;
        }
        if self.probe_rtt_done_stamp == Time::NEVER {
            if f64::from(rs.in_flight) <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = now + PROBE_RTT;
                self.probe_rtt_round_done = false;
                self.next_round_delivered = rs.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(now, rs.delivered);
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT` (5.3.4.4).
    fn check_probe_rtt_done(&mut self, now: Time, delivered: u64) {
        if self.probe_rtt_done_stamp == Time::NEVER || now <= self.probe_rtt_done_stamp {
            return;
        }
        self.probe_rtt_min_stamp = now;
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_down(delivered, now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bw, PROBE_RTT_GAIN).max(LEAST_WINDOW)
    }

    /// `SetPacingRateWithGain` (5.6.2): not lowered before the pipe was full once.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * MARGIN;
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `SetCwnd` (5.6.4.6).
    fn set_cwnd(&mut self, rs: &Sample) {
        let acked = f64::from(rs.acked);
        let most = self.quantized(self.bdp(self.bw, self.cwnd_gain()) + self.most_extra_acked());
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + acked).min(most);
        } else if self.cwnd < most || (rs.delivered as f64) < self.initial_window {
            self.cwnd += acked;
        }
        self.bound_cwnd();
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel` (5.6.4.5, 5.6.4.7).
    fn bound_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(LEAST_WINDOW);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(bound.min(self.inflight_shortterm).max(LEAST_WINDOW));
    }

    /// `NoteLoss` (5.5.10.2).
    fn note_loss(&mut self, delivered: u64) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = delivered;
        }
        self.begin_episode();
        self.is_loss_in_round = true;
    }

    /// `SaveCwnd` and `SaveStateUponLoss` (5.5.11.1), once per loss recovery: with the first loss that sets it off, before the
    /// model answers to that.
    fn begin_episode(&mut self) {
        if self.recovering || !self.saved {
            self.save_cwnd();
        }
        if std::mem::replace(&mut self.saved, true) {
            return;
        }
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    fn save_cwnd(&mut self) {
        let modulated = self.recovering || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

/// The example test cases of the draft's appendix, and the laws of its sections, acknowledgement by acknowledgement.
#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Time = Time::from_millis(100);
    /// Segments per second: a bandwidth-delay product of 100 segments.
    const LINK: f64 = 1000.0;

    struct Bench {
        model: Bbr3,
        now: Time,
        delivered: u64,
        /// Delivered when the round trip began.
        round: u64,
        /// The smallest round-trip time is seen all the time.
        quiet: bool,
    }

    /// An acknowledgement of ten segments, the first of a round trip: the path gives `LINK`.
    fn plain() -> Sample {
        Sample {
            delivered: 0,
            prior_delivered: 0,
            rate: Some(LINK),
            app_limited: false,
            rtt: Some(RTT),
            acked: 10,
            lost: 0,
            marked: 0,
            sent_in_flight: 100,
            lost_since: 0,
            marked_since: 0,
            window_limited: false,
            prior_in_flight: 110,
            in_flight: 90,
            quantum: 1,
        }
    }

    impl Bench {
        fn begin() -> Bench {
            let begin = Begin { initial_window: 10.0, srtt_s: 0.1, now: Time::ZERO, draw: 7 };
            Bench { model: Bbr3::begin(begin), now: Time::ZERO, delivered: 0, round: 0, quiet: true }
        }

        /// A round trip passes, and one acknowledgement ends it.
        fn round(&mut self, sample: Sample) -> State {
            self.now += RTT;
            if self.quiet {
                self.model.probe_rtt_min_stamp = self.now;
            }
            self.ack(sample, true)
        }

        fn ack(&mut self, sample: Sample, new_round: bool) -> State {
            let prior_delivered = if new_round { self.delivered } else { self.round - 1 };
            self.delivered += u64::from(sample.acked);
            self.round = if new_round { self.delivered } else { self.round };
            let sample = Sample { delivered: self.delivered, prior_delivered, ..sample };
            self.model.on_ack(&sample, self.now);
            self.model.state
        }

        fn lose(&mut self, lost_since: u64, sent_in_flight: u32) {
            let loss = Loss { sent_in_flight, lost_since, app_limited: false, delivered: self.delivered };
            self.model.on_loss(&loss, self.now);
        }

        /// Through Startup and Drain.
        fn steady() -> Bench {
            let mut bench = Bench::begin();
            while bench.round(plain()) == State::Startup {}
            assert_eq!(bench.model.state, State::Down, "Drain ends with 90 of 100 in flight");
            bench
        }

        /// Rounds like `sample` until `state`.
        fn until(&mut self, state: State, sample: Sample) {
            for _ in 0..100 {
                if self.round(sample) == state {
                    return;
                }
            }
            panic!("{:?} for a hundred rounds", self.model.state);
        }
    }

    #[test]
    fn startup_ends_after_three_rounds_of_less_than_a_quarter_more() {
        let mut bench = Bench::begin();
        let mut rate = 100.0;
        while rate < LINK {
            assert_eq!(bench.round(Sample { rate: Some(rate), ..plain() }), State::Startup);
            assert!((bench.model.pacing_rate() / (2.77 * rate * 0.99).max(277.0) - 1.0).abs() < 1e-9);
            rate *= 2.0;
        }
        let full = Sample { rate: Some(LINK), in_flight: 300, ..plain() };
        for flat in 0..4 {
            // The first is a quarter more than the 800 before it.
            assert_eq!(bench.model.state, State::Startup, "{flat}");
            assert_eq!(bench.model.full_bw_count, [0, 0, 1, 2][flat]);
            bench.round(full);
        }
        assert!(bench.model.full_bw_now && bench.model.full_bw_reached);
        assert_eq!((bench.model.state, bench.model.max_bw()), (State::Drain, LINK));
        assert!((bench.model.pacing_rate() - 0.5 * LINK * 0.99).abs() < 1e-9);
    }

    #[test]
    fn startup_and_up_never_end_while_the_application_limits_and_nothing_is_lost() {
        let mut bench = Bench::begin();
        let idle = Sample { app_limited: true, rate: Some(300.0), rtt: Some(Time(RTT.0 - 1)), ..plain() };
        for _ in 0..40 {
            assert_eq!(bench.round(idle), State::Startup);
        }
        let mut bench = Bench::steady();
        bench.until(State::Up, plain());
        for _ in 0..8 {
            assert_eq!(bench.round(Sample { app_limited: true, rate: Some(300.0), ..plain() }), State::Up);
        }
    }

    #[test]
    fn startup_ends_by_losses_in_six_places_of_a_round_in_recovery_even_if_the_application_limits() {
        for (places, lost_since, ends) in [(6, 3, true), (5, 3, false), (6, 2, false)] {
            let mut bench = Bench::begin();
            let limited = Sample { app_limited: true, ..plain() };
            (0..3).for_each(|_| assert_eq!(bench.round(limited), State::Startup));
            bench.lose(1, 100);
            bench.model.on_recovery(90, bench.delivered);
            for _ in 0..places - 1 {
                bench.ack(Sample { lost: 1, ..limited }, false);
            }
            let state = bench.round(Sample { lost: 1, lost_since, in_flight: 200, ..limited });
            assert_eq!(state == State::Drain, ends, "{places} places, {lost_since} of 100 lost: {state:?}");
            if ends {
                assert_eq!((bench.model.full_bw_reached, bench.model.inflight_longterm), (true, 100.0), "the BDP");
                // Undone, it is back in Startup.
                bench.model.on_undo(bench.now);
                assert_eq!((bench.model.state, bench.model.inflight_longterm), (State::Startup, f64::INFINITY));
            }
        }
    }

    #[test]
    fn drain_ends_with_the_flight_or_after_three_rounds() {
        let mut bench = Bench::begin();
        while bench.round(Sample { in_flight: 150, ..plain() }) == State::Startup {}
        for _ in 0..3 {
            assert_eq!(bench.model.state, State::Drain);
            bench.round(Sample { in_flight: 101, ..plain() });
        }
        assert_eq!(bench.model.state, State::Drain);
        assert_eq!(bench.round(Sample { in_flight: 101, ..plain() }), State::Down);
        assert!((bench.model.pacing_rate() - 0.9 * LINK * 0.99).abs() < 1e-9);
    }

    #[test]
    fn down_ends_with_headroom_or_after_its_time() {
        let mut bench = Bench::steady();
        bench.model.inflight_longterm = 110.0;
        // 93.5 leave 15 %: 94 are too many.
        let flight = |prior_in_flight| Sample { prior_in_flight, sent_in_flight: 100, ..plain() };
        assert_eq!(bench.round(flight(94)), State::Down);
        assert_eq!(bench.round(flight(93)), State::Cruise);
        let mut bench = Bench::steady();
        let began = bench.model.cycle_stamp;
        bench.until(State::Refill, Sample { prior_in_flight: 120, ..plain() });
        let took = bench.now.saturating_sub(began);
        assert!(took > Time::from_millis(2000) && took <= Time::from_millis(3100), "2 to 3 s: {took:?}");
    }

    #[test]
    fn a_small_flow_probes_as_often_as_reno_would() {
        let mut bench = Bench::begin();
        let small = Sample { rate: Some(80.0), prior_in_flight: 9, in_flight: 4, sent_in_flight: 8, ..plain() };
        while bench.round(small) == State::Startup {}
        let start = bench.model.round_count;
        bench.until(State::Refill, small);
        // A bandwidth-delay product of 8 segments: 8 rounds less a drawn 0 or 1.
        let rounds = bench.model.round_count - start;
        assert!((7..=8).contains(&rounds), "{rounds}");
    }

    #[test]
    fn a_cycle_refills_for_a_round_and_goes_up_until_the_rate_is_flat() {
        let mut bench = Bench::steady();
        bench.until(State::Refill, Sample { prior_in_flight: 90, ..plain() });
        assert!((bench.model.pacing_rate() - LINK * 0.99).abs() < 1e-9);
        assert_eq!(bench.round(plain()), State::Up);
        assert!((bench.model.pacing_rate() - 1.25 * LINK * 0.99).abs() < 1e-9);
        assert_eq!(
            [bench.round(plain()), bench.round(plain()), bench.round(plain())],
            [State::Up, State::Up, State::Down]
        );
    }

    /// 1, 2, 4 and 8 segments more in successive rounds.
    #[test]
    fn the_long_term_bound_grows_twice_as_fast_each_round_of_up() {
        let mut bench = Bench::steady();
        bench.until(State::Refill, Sample { prior_in_flight: 90, ..plain() });
        (bench.model.inflight_longterm, bench.model.cwnd) = (100.0, 100.0);
        bench.round(plain());
        let mut bounds = vec![bench.model.inflight_longterm];
        for growing in [2000.0, 3000.0, 4500.0, 7000.0] {
            let acked = bench.model.cwnd as u32;
            let full = Sample { window_limited: true, acked, rate: Some(growing), ..plain() };
            assert_eq!(bench.round(full), State::Up);
            bounds.push(bench.model.inflight_longterm);
        }
        let steps: Vec<f64> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(steps, [1.0, 2.0, 4.0, 8.0], "{bounds:?}");
    }

    #[test]
    fn a_probe_that_loses_more_than_two_percent_ends_and_the_next_is_short() {
        let mut bench = Bench::steady();
        bench.until(State::Up, plain());
        bench.lose(2, 120);
        assert_eq!(bench.model.state, State::Up, "2 of 120 are tolerated");
        bench.lose(3, 120);
        assert_eq!(bench.model.state, State::Down);
        // 119 before it, 2 of them lost: 0.38 of the next segment would be 2 %, counted as none.
        assert_eq!(bench.model.inflight_longterm, 119.0);
        bench.lose(40, 120);
        assert_eq!(bench.model.inflight_longterm, 119.0, "once per probe");
        bench.until(State::Up, Sample { prior_in_flight: 90, in_flight: 90, ..plain() });
        assert_eq!(bench.round(Sample { prior_in_flight: 118, ..plain() }), State::Up);
        assert_eq!(bench.round(Sample { prior_in_flight: 119, ..plain() }), State::Down, "as far as it went before");
        assert!(bench.model.prev_probe_precautionary);
        // A round without losses: probe again at once, and stay.
        assert_eq!(bench.round(plain()), State::Refill);
    }

    #[test]
    fn an_undone_probe_starts_again() {
        let mut bench = Bench::steady();
        bench.until(State::Up, plain());
        bench.lose(3, 100);
        bench.model.on_recovery(90, bench.delivered);
        assert_eq!(bench.model.state, State::Down);
        bench.model.on_undo(bench.now);
        assert_eq!((bench.model.state, bench.model.inflight_longterm), (State::Refill, f64::INFINITY));
    }

    /// 5.5.10.3: max(latest, 0.7 of before) once per round with losses, for both short-term bounds; Refill forgets them.
    #[test]
    fn losses_outside_probes_lower_the_short_term_bounds_by_three_tenths_per_round_at_most() {
        let mut bench = Bench::steady();
        bench.until(State::Cruise, Sample { prior_in_flight: 80, ..plain() });
        let slow = Sample { rate: Some(500.0), acked: 40, prior_in_flight: 80, ..plain() };
        bench.round(slow);
        let before = bench.model.cwnd;
        for rounds in 1..=3 {
            bench.lose(1, 100);
            // The round of the loss ends with what is sent after it.
            bench.round(slow);
            let bound = (LINK * 0.7_f64.powi(rounds)).max(500.0);
            assert!((bench.model.bw - bound).abs() < 1e-9, "{rounds}: {}", bench.model.bw);
            let bound = (before * 0.7_f64.powi(rounds)).max(40.0);
            assert!(
                (bench.model.inflight_shortterm - bound).abs() < 1e-9,
                "{rounds}: {}",
                bench.model.inflight_shortterm
            );
        }
        bench.until(State::Refill, slow);
        assert_eq!(bench.model.bw, bench.model.max_bw());
    }

    #[test]
    fn what_the_cycle_before_last_delivered_is_forgotten() {
        let mut bench = Bench::steady();
        let slow = Sample { rate: Some(100.0), prior_in_flight: 5, in_flight: 5, sent_in_flight: 5, ..plain() };
        bench.until(State::Up, slow);
        bench.until(State::Down, slow);
        assert_eq!(bench.model.max_bw(), LINK, "of the cycle before");
        bench.round(slow);
        assert_eq!(bench.model.max_bw(), 100.0);
    }

    #[test]
    fn the_round_trip_time_is_probed_after_five_seconds_without_a_smaller_one() {
        let mut bench = Bench { quiet: false, ..Bench::steady() };
        bench.model.probe_rtt_min_stamp = Time::ZERO;
        let late = Sample { rtt: Some(RTT + Time(1)), ..plain() };
        bench.until(State::ProbeRtt, late);
        let since = bench.now.saturating_sub(Time::ZERO);
        assert!(since > PROBE_RTT_EVERY && since <= PROBE_RTT_EVERY + RTT, "{since:?}");
        assert_eq!(bench.model.cwnd(), 50.0, "half a bandwidth-delay product");
        bench.round(Sample { in_flight: 60, ..late });
        assert_eq!(bench.model.probe_rtt_done_stamp, Time::NEVER, "the flight has not shrunk");
        let shrunk = Sample { in_flight: 50, prior_in_flight: 50, ..late };
        bench.round(shrunk);
        let began = bench.now;
        bench.until(State::Cruise, shrunk);
        assert!(bench.now.saturating_sub(began) > PROBE_RTT && bench.now.saturating_sub(began) <= PROBE_RTT + RTT);
        assert!(bench.model.cwnd() > 100.0, "the window of before");
    }

    #[test]
    fn a_probe_of_the_round_trip_time_in_startup_ends_in_startup() {
        let mut bench = Bench { quiet: false, ..Bench::begin() };
        let limited = Sample { app_limited: true, rtt: Some(RTT + Time(1)), in_flight: 2, ..plain() };
        bench.until(State::ProbeRtt, limited);
        bench.until(State::Startup, limited);
    }

    #[test]
    fn a_pause_takes_the_place_of_the_probe() {
        let mut bench = Bench { quiet: false, ..Bench::steady() };
        bench.until(State::Cruise, Sample { prior_in_flight: 80, ..plain() });
        bench.now += PROBE_RTT_EVERY + PROBE_RTT_EVERY;
        bench.model.on_restart(bench.now);
        assert!((bench.model.pacing_rate() - bench.model.bw * 0.99).abs() < 1e-9);
        assert_ne!(bench.round(plain()), State::ProbeRtt);
        assert!(!bench.model.idle_restart);
    }

    #[test]
    fn four_segments_are_the_least_window() {
        let mut bench = Bench::begin();
        let tiny =
            Sample { rate: Some(10.0), acked: 1, in_flight: 3, prior_in_flight: 4, sent_in_flight: 4, ..plain() };
        for _ in 0..60 {
            bench.round(tiny);
            assert!(bench.model.cwnd() >= LEAST_WINDOW);
        }
        assert!(bench.model.full_bw_reached && bench.model.cwnd() < 8.0, "{}", bench.model.cwnd());
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_its_end_the_window_of_before() {
        let mut bench = Bench::steady();
        let before = bench.model.cwnd();
        bench.lose(1, 100);
        bench.model.on_timeout(0);
        assert_eq!(bench.model.cwnd(), 1.0);
        bench.model.on_recovered();
        assert_eq!(bench.model.cwnd(), before);
    }

    /// `tcp_bbr.c`: a third of the smoothed share, once per round, and no lower bound of the bandwidth.
    #[test]
    fn marks_lower_the_short_term_flight_by_a_third_of_their_share() {
        let mut bench = Bench::steady();
        bench.until(State::Cruise, Sample { prior_in_flight: 80, ..plain() });
        let (mut bound, mut share) = (bench.model.cwnd, bench.model.marked_share);
        for round in 0..3 {
            bench.round(Sample { marked: 2, marked_since: 2, prior_in_flight: 80, ..plain() });
            share += (0.2 - share) / 16.0;
            bound *= 1.0 - share / 3.0;
            assert!(
                (bench.model.inflight_shortterm - bound).abs() < 1e-9,
                "{round}: {}",
                bench.model.inflight_shortterm
            );
        }
        assert_eq!(bench.model.bw, LINK);
        // Without marks for a round it probes at once, with a first step of half its bound.
        assert_eq!(bench.round(Sample { prior_in_flight: 80, ..plain() }), State::Refill);
    }

    #[test]
    fn a_probe_with_half_its_flight_marked_went_too_high() {
        let mut bench = Bench::steady();
        bench.until(State::Up, plain());
        bench.round(Sample { marked: 5, marked_since: 5, ..plain() });
        assert_eq!(bench.model.state, State::Up, "5 of 10 are tolerated");
        bench.round(Sample { marked: 6, marked_since: 6, ..plain() });
        assert_eq!((bench.model.state, bench.model.inflight_longterm), (State::Down, 100.0));
    }
}
