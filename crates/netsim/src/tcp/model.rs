//! A sender with a model of its path: what it sends and what arrives goes into the model, which sets window and pace.

use units::Time;

use crate::net::Net;
use crate::tcp::bbr::Bbr;
use crate::tcp::rate::Rate;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sender::Sender;

/// Measurements and model of one connection.
#[derive(Debug)]
pub(crate) struct Model {
    pub(super) rate: Rate,
    pub(super) bbr: Bbr,
    /// Below this number it is known what was lost.
    judged_below: u32,
}

impl Model {
    /// At the start of connection `flow`, when the handshake has given the round-trip time `srtt_s`, seconds.
    pub(crate) fn begin(initial_window: f64, srtt_s: f64, flow: u32, now: Time) -> Model {
        // Where the cycle of probing begins must differ between flows, whatever the seed: SplitMix64 of flow and time.
        let mut draw = (u64::from(flow) << 32 ^ now.0).wrapping_add(0x9e37_79b9_7f4a_7c15);
        draw = (draw ^ draw >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        draw = (draw ^ draw >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Model {
            rate: Rate::unknown(),
            bbr: Bbr::begin(initial_window, srtt_s, now, draw ^ draw >> 31),
            judged_below: 1,
        }
    }

    /// Holes that the scoreboard has come to take for lost, of those from `una` on.
    fn newly_lost(&mut self, board: &Scoreboard, una: u32) -> u32 {
        let from = self.judged_below.max(una);
        self.judged_below = from.max(board.lost_below());
        (from..self.judged_below).filter(|&seq| !board.is_sacked(seq)).count() as u32
    }
}

impl Sender {
    /// An acknowledgement up to `ack` goes into the model, whose window counts from then on: how many segments it SACKs
    /// that were not.
    pub(in crate::tcp) fn learn(&mut self, ack: u32, options: u32, net: &mut Net) -> u32 {
        let Some(mut model) = self.model.take() else { return 0 };
        let (now, prior_in_flight) = (net.now, self.board.pipe(self.una, self.max));
        let mut fresh = 0;
        if let Some(options) = net.options.of(options) {
            for &block in options.blocks() {
                fresh += self.board.update(block, self.una, self.max, |seq| model.rate.deliver(seq, now));
            }
        }
        (self.una..ack).filter(|&seq| !self.board.is_sacked(seq)).for_each(|seq| model.rate.deliver(seq, now));
        let lost = model.newly_lost(&self.board, self.una.max(ack));
        let in_flight = prior_in_flight.saturating_sub(model.rate.acked() + lost);
        if model.bbr.is_recovering() && !self.recovering && ack >= self.recover {
            model.bbr.on_recovered();
        }
        if let Some(sample) = model.rate.sample(lost, prior_in_flight, in_flight) {
            model.bbr.on_ack(&sample, now);
            if model.bbr.is_probing_rtt() {
                model.rate.on_idle(in_flight);
            }
        }
        self.control.follow(model.bbr.cwnd);
        self.model = Some(model);
        fresh
    }

    /// A loss is found: the model keeps its rate, and one segment leaves for each that arrives.
    pub(super) fn model_recovers(&mut self) {
        if let Some(model) = &mut self.model {
            model.bbr.on_recovery(self.board.pipe(self.una, self.max), model.rate.delivered());
            self.control.follow(model.bbr.cwnd);
        }
    }

    /// The loss is repaired.
    pub(super) fn model_recovered(&mut self) {
        if let Some(model) = &mut self.model {
            model.bbr.on_recovered();
            self.control.follow(model.bbr.cwnd);
        }
    }

    /// Segment `seq` leaves, before it is counted as sent.
    #[inline]
    pub(super) fn note_departure(&mut self, seq: u32, now: Time) {
        if let Some(model) = &mut self.model {
            let in_flight = self.board.pipe(self.una, self.max);
            if in_flight == 0 && model.rate.is_app_limited() {
                model.bbr.on_restart();
            }
            model.rate.on_send(seq, self.una, in_flight, seq < self.max, now);
        }
    }

    /// Nothing is left to send while the window is open.
    #[inline]
    pub(super) fn note_idle(&mut self) {
        if let Some(model) = &mut self.model {
            let in_flight = self.board.pipe(self.una, self.max);
            if f64::from(in_flight) < self.control.cwnd {
                model.rate.on_idle(in_flight);
            }
        }
    }
}
