//! The sender and the model of its path: what a model reads, and what it sets.

use units::Time;

use super::control::Controller;
use super::ops::CongestionOps;
use super::sender::Sender;
use super::view::View;

impl Sender {
    /// Lets the controller act on the connection, and takes what it sets.
    #[inline]
    pub(super) fn with_view(&mut self, now: Time, act: impl FnOnce(&mut Controller, &mut View)) {
        let mut view = View {
            now,
            clock: self.clock,
            state: self.state,
            mss: self.mss,
            srtt_us: self.estimator.srtt_us,
            in_flight: self.in_flight(),
            delivered: self.delivered,
            lost: self.lost,
            delivered_us: self.rate.delivered_us,
            next_departure: self.next_departure,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: self.pacing_rate,
            app_limited: self.rate.app_limited,
            window_limited: self.cwnd_limited,
        };
        act(&mut self.controller, &mut view);
        (self.cwnd, self.ssthresh, self.pacing_rate) = (view.cwnd, view.ssthresh, view.pacing_rate);
        self.rate.app_limited = view.app_limited;
    }

    /// The same, where a model of the path is the controller.
    #[inline]
    pub(super) fn with_model(&mut self, now: Time, act: impl FnOnce(&mut Controller, &mut View)) {
        if self.controller.has_model() {
            self.with_view(now, act);
        }
    }

    /// Segments from `first` to before `end` leave now, `fresh` or again, before they count as sent.
    #[inline]
    pub(super) fn note_model_departures(&mut self, first: u32, end: u32, fresh: bool, now: Time) {
        if self.controller.path().is_none() {
            return;
        }
        let (una, in_flight) = (self.una, self.in_flight());
        if let Some(path) = self.controller.path() {
            path.depart((first, end), una, in_flight, fresh, now);
        }
    }

    /// The application hands over data after it had none, while less than the window is under way.
    pub(super) fn note_write(&mut self) {
        let in_flight = self.in_flight();
        self.rate.on_write(self.delivered, in_flight);
        if let Some(path) = self.controller.path() {
            path.on_write(in_flight);
        }
    }
}
