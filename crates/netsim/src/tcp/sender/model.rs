//! What a sender tells the model of its path: see [`crate::tcp::rules::path`].

use units::Time;

use crate::tcp::sender::Sender;
use crate::wire::net::Net;

impl Sender {
    /// An acknowledgement up to `ack` goes into the model, whose window counts from then on: how many segments it SACKs
    /// that were not.
    pub(in crate::tcp) fn learn(&mut self, ack: u32, options: u32, marked: u32, net: &mut Net) -> u32 {
        let Some(mut model) = self.model.take() else { return 0 };
        let (now, prior_in_flight) = (net.now, self.board.pipe(self.una, self.max));
        let mut fresh = 0;
        if let Some(options) = net.options.of(options) {
            for &block in options.blocks() {
                fresh += self.board.update(block, self.una, self.max, |seq| model.rate.deliver(seq, now));
            }
        }
        (self.una..ack).filter(|&seq| !self.board.is_sacked(seq)).for_each(|seq| model.rate.deliver(seq, now));
        let lost = model.newly_lost(&self.board, self.una.max(ack), now);
        let in_flight = prior_in_flight.saturating_sub(model.rate.acked() + lost);
        if model.path.is_recovering() && !self.recovering && ack >= self.recover {
            model.path.on_recovered();
        }
        let window_limited = self.una < model.full_below;
        let sample = model.rate.sample((lost, marked), (prior_in_flight, in_flight), window_limited);
        if let Some(sample) = sample {
            model.path.on_ack(&sample, now);
            if model.path.is_probing_rtt() {
                model.rate.on_idle(in_flight);
            }
        }
        self.control.follow(model.path.cwnd());
        self.model = Some(model);
        fresh
    }

    /// A loss is found: the model keeps its rate, and one segment leaves for each that arrives.
    pub(in crate::tcp) fn model_recovers(&mut self) {
        if let Some(model) = &mut self.model {
            model.path.on_recovery(self.board.pipe(self.una, self.max), model.rate.delivered());
            self.control.follow(model.path.cwnd());
        }
    }

    /// The loss is repaired.
    pub(in crate::tcp) fn model_recovered(&mut self) {
        if let Some(model) = &mut self.model {
            model.path.on_recovered();
            self.control.follow(model.path.cwnd());
        }
    }

    /// The retransmission timer went off.
    pub(in crate::tcp) fn model_timed_out(&mut self, now: Time) {
        if let Some(model) = &mut self.model {
            model.timed_out(self.una, self.max, now);
        }
    }

    /// Segment `seq` leaves, before it is counted as sent.
    #[inline]
    pub(in crate::tcp) fn note_departure(&mut self, seq: u32, now: Time) {
        if let Some(model) = &mut self.model {
            let in_flight = self.board.pipe(self.una, self.max);
            if in_flight == 0 && model.rate.is_app_limited() {
                model.path.on_restart(now);
            }
            let repeated = seq < self.max;
            model.rate.on_send(seq, self.una, in_flight, repeated, now);
            if f64::from(in_flight + 1 + u32::from(!repeated)) > self.control.cwnd {
                model.full_below = self.max + u32::from(!repeated);
            }
        }
    }

    /// Nothing is left to send while the window is open.
    #[inline]
    pub(in crate::tcp) fn note_idle(&mut self) {
        if let Some(model) = &mut self.model {
            let in_flight = self.board.pipe(self.una, self.max);
            if f64::from(in_flight) < self.control.cwnd {
                model.rate.on_idle(in_flight);
            }
        }
    }
}
