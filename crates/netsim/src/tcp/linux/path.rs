//! A rule with a model of the path under the sender of Linux.
//!
//! The model is that of the other senders, fed by the same meter of rates and losses, segment by segment. What differs is what
//! the sender is: it finds losses by time, repairs a lost repair without a timeout, takes reductions back, and lets
//! several segments leave together, which the model counts as its send quantum.

use units::Time;

use super::burst::goal;
use super::ca_state::State;
use super::ops::{CongestionOps, Left};
use super::rate::RateSample;
use super::view::{Opening, View};
use crate::tcp::rate::Sample;
use crate::tcp::rules::path::{Begin, Model, PathModel};

/// A model of the path, with the meter that it reads.
#[derive(Debug)]
pub(super) struct Path {
    make: fn(Begin) -> Box<dyn PathModel>,
    model: Model,
}

impl Path {
    /// Before the connection has begun.
    pub(super) fn idle(make: fn(Begin) -> Box<dyn PathModel>) -> Path {
        Path { make, model: Model::begin(make, 1.0, 0.0, 0, Time::ZERO) }
    }

    /// Segments from `first` to before `end` leave now, `fresh` or again, while `una` is the first not acknowledged and
    /// `in_flight` are in the network.
    #[inline(never)]
    pub(super) fn depart(&mut self, (first, end): (u32, u32), una: u32, in_flight: u32, fresh: bool, now: Time) {
        for seq in first..end {
            // What is sent again counts itself; what is fresh is counted by the meter.
            let before = in_flight + (seq - first) + u32::from(!fresh);
            self.model.rate.on_send(seq, una, before, !fresh, now);
        }
    }

    /// `seq` has arrived.
    #[inline(never)]
    pub(super) fn deliver(&mut self, seq: u32, now: Time) {
        self.model.rate.deliver(seq, now);
    }

    /// The application hands over data after it had none, while `in_flight` are in the network.
    pub(super) fn on_write(&mut self, in_flight: u32) {
        self.model.rate.on_idle(in_flight);
    }

    /// `seq` is taken for lost.
    #[inline(never)]
    pub(super) fn lose(&mut self, seq: u32, now: Time) {
        let loss = self.model.rate.lose(seq);
        self.model.path.on_loss(&loss, now);
    }

    /// The sender takes window and pace; the threshold is not of a model.
    fn set(&self, view: &mut View) {
        view.cwnd = (self.model.path.cwnd() as u32).max(1);
        view.pacing_rate = (self.model.path.pacing_rate() * f64::from(view.mss)) as u64;
    }
}

impl CongestionOps for Path {
    fn has_model(&self) -> bool {
        true
    }

    fn begin(&mut self, opening: Opening, view: &mut View) {
        let (window, srtt_s) = (f64::from(view.cwnd), f64::from(view.srtt_us) / 8e6);
        self.model = Model::begin(self.make, window, srtt_s, opening.flow, view.now);
        self.set(view);
    }

    /// The model has the losses one by one, and marks with its sample: the threshold stays.
    fn reduced(&mut self, _: u32, _: u32, ssthresh: u32) -> Left {
        Left::whole(ssthresh)
    }

    fn model_ack(&mut self, sample: &RateSample, view: &mut View) {
        let Model { rate, path, .. } = &mut self.model;
        if path.is_recovering() && view.state < State::Recovery {
            path.on_recovered();
        }
        let flights = (sample.prior_in_flight, view.in_flight);
        if let Some(found) = rate.sample((sample.losses, sample.marks), flights, view.window_limited) {
            path.on_ack(&Sample { quantum: goal(view.pacing_rate, view.mss), ..found }, view.now);
            if path.is_probing_rtt() {
                rate.on_idle(view.in_flight);
            }
        }
        self.set(view);
    }

    fn model_recovers(&mut self, view: &mut View) {
        self.model.path.on_recovery(view.in_flight, self.model.rate.delivered());
        self.set(view);
    }

    fn model_times_out(&mut self, view: &mut View) {
        self.model.path.on_timeout(view.in_flight);
        self.set(view);
    }

    fn model_undoes(&mut self, view: &mut View) {
        self.model.path.on_undo(view.now);
        self.set(view);
    }

    fn model_restarts(&mut self, view: &mut View) {
        self.model.path.on_restart(view.now);
        self.set(view);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::linux::clock::Clock;
    use crate::tcp::rules::Congestion;

    const RTT: Time = Time::from_millis(40);

    /// A path of 40 ms that delivers all that left a round trip ago.
    struct Bench {
        path: Path,
        view: View,
        una: u32,
    }

    impl Bench {
        fn begun() -> Bench {
            let now = Time::from_millis(1000);
            let mut view = View {
                now,
                clock: Clock::of(Time::from_millis(1), Time::ZERO),
                state: State::Open,
                mss: 1448,
                srtt_us: 8 * 40_000,
                in_flight: 0,
                delivered: 1,
                lost: 0,
                delivered_us: 1_000_000,
                next_departure: Time::ZERO,
                cwnd: 10,
                ssthresh: u32::MAX,
                pacing_rate: 0,
                app_limited: 0,
                window_limited: true,
            };
            let mut path = Path::idle(Congestion::Bbr3.traits().model.expect("has one"));
            path.begin(Opening { flow: 0, nxt: 1, least_us: 40_000 }, &mut view);
            Bench { path, view, una: 1 }
        }

        /// A window leaves, 40 segments at most, of which the first `lost` are taken for lost; the others arrive.
        fn round(&mut self, lost: u32) {
            let (first, end) = (self.una, self.una + self.view.cwnd.min(40));
            self.path.depart((first, end), self.una, 0, true, self.view.now);
            self.view.now += RTT;
            (first..first + lost).for_each(|seq| self.path.lose(seq, self.view.now));
            if lost > 0 {
                (self.view.state, self.view.in_flight) = (State::Recovery, end - first - lost);
                self.path.model_recovers(&mut self.view);
            }
            (first + lost..end).for_each(|seq| self.path.deliver(seq, self.view.now));
            (self.una, self.view.in_flight) = (end, 0);
            let sample = RateSample { losses: lost, prior_in_flight: end - first, ..RateSample::default() };
            self.path.model_ack(&sample, &mut self.view);
        }
    }

    /// 40 segments in 40 ms, less the margin of 1 %: what the meter finds sets the pace, and the model the window.
    #[test]
    fn window_and_pace_are_those_of_the_model() {
        let mut bench = Bench::begun();
        (0..40).for_each(|_| bench.round(0));
        let (pace, link) = (bench.view.pacing_rate as f64, 40.0 / 0.040 * 1448.0);
        assert!((0.85 * link..1.3 * link).contains(&pace), "{pace} of {link}");
        assert!((40..=120).contains(&bench.view.cwnd), "{}", bench.view.cwnd);
        assert_eq!(bench.view.ssthresh, u32::MAX, "the threshold is not of a model");
    }

    /// Draft, 5.5.11.2: losses that were none leave nothing behind.
    #[test]
    fn what_losses_took_comes_back_when_they_were_none() {
        let (mut lost, mut undone) = (Bench::begun(), Bench::begun());
        for bench in [&mut lost, &mut undone] {
            (0..40).for_each(|_| bench.round(0));
        }
        let before = lost.view.cwnd;
        for bench in [&mut lost, &mut undone] {
            bench.round(20);
        }
        assert!(lost.view.cwnd < before, "{} of {before}", lost.view.cwnd);
        undone.view.state = State::Open;
        undone.path.model_undoes(&mut undone.view);
        assert_eq!(undone.view.cwnd, before);
    }
}
