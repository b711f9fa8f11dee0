//! The sender with a model of its path: what BBR is told, and what it sets.

use units::Time;

use super::bbr::{Bbr, View};
use super::control::Controller;
use super::sender::Sender;

impl Sender {
    /// Lets BBR act, where it is the controller, and takes what it sets.
    #[inline]
    pub(super) fn with_model(&mut self, now: Time, act: impl FnOnce(&mut Bbr, &mut View)) {
        if !self.controller.has_model() {
            return;
        }
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
        };
        if let Controller::Bbr(bbr) = &mut self.controller {
            act(bbr, &mut view);
        }
        (self.cwnd, self.ssthresh, self.pacing_rate) = (view.cwnd, view.ssthresh, view.pacing_rate);
        self.rate.app_limited = view.app_limited;
    }
}
