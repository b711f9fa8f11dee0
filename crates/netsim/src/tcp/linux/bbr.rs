//! A model of the path behind the sender: hands it the samples of the delivery rate.

use units::Time;

use super::rate::RateSample;
use crate::tcp::rate::Sample;
use crate::tcp::rules::path::{Begin, PathModel, draw};

/// A model, once the connection has begun.
#[derive(Debug)]
pub(super) struct Model {
    make: fn(Begin) -> Box<dyn PathModel>,
    path: Option<Box<dyn PathModel>>,
    delivered: u32,
}

impl Model {
    pub(super) fn of(make: fn(Begin) -> Box<dyn PathModel>) -> Model {
        Model { make, path: None, delivered: 0 }
    }

    pub(super) fn begin(&mut self, cwnd: u32, srtt_s: f64, flow: u32, now: Time) {
        let begin = Begin { initial_window: f64::from(cwnd), srtt_s, now, draw: draw(flow, now) };
        self.path = Some((self.make)(begin));
    }

    /// Takes an acknowledgement; `quantum` segments leave together.
    pub(super) fn on_ack(
        &mut self,
        sample: &RateSample,
        (delivered, in_flight, quantum): (u32, u32, u32),
        repairing: bool,
        now: Time,
    ) {
        self.delivered = delivered;
        let Some(path) = &mut self.path else { return };
        path.set_quantum(quantum);
        if path.is_recovering() && !repairing {
            path.on_recovered();
        }
        if sample.prior_us == 0 || sample.acked == 0 {
            return;
        }
        let rate = sample.delivered.map(|segments| f64::from(segments) * 1e6 / sample.interval_us.max(1) as f64);
        path.on_ack(
            &Sample {
                delivered: delivered.into(),
                prior_delivered: sample.prior_delivered.into(),
                rate,
                app_limited: sample.app_limited,
                rtt: sample.rtt_us.map(|us| Time(u64::from(us) * 1000)),
                acked: sample.acked,
                lost: sample.losses,
                // What models ask for that listen to losses and marks: none of those runs on this sender.
                marked: 0,
                sent_in_flight: 0,
                lost_since: 0,
                marked_since: 0,
                window_limited: false,
                prior_in_flight: sample.prior_in_flight,
                in_flight,
            },
            now,
        );
    }

    /// Segments; before the connection has begun one.
    pub(super) fn cwnd(&self) -> u32 {
        self.path.as_ref().map_or(1, |path| path.cwnd() as u32).max(1)
    }

    /// Segments per second, a hundredth below the model's (`bbr_pacing_margin_percent`).
    pub(super) fn pacing_rate(&self) -> f64 {
        self.path.as_ref().map_or(0.0, |path| 0.99 * path.pacing_rate())
    }

    pub(super) fn on_reduction(&mut self, in_flight: u32) {
        if let Some(path) = &mut self.path {
            path.on_recovery(in_flight, self.delivered.into());
        }
    }

    pub(super) fn on_recovered(&mut self) {
        if let Some(path) = &mut self.path {
            path.on_recovered();
        }
    }

    pub(super) fn on_timeout(&mut self, in_flight: u32) {
        if let Some(path) = &mut self.path {
            path.on_timeout(in_flight);
        }
    }

    pub(super) fn on_restart(&mut self, now: Time) {
        if let Some(path) = &mut self.path {
            path.on_restart(now);
        }
    }
}
