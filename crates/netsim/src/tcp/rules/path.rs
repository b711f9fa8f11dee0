//! A sender with a model of its path: what it sends and what arrives goes into the model, which sets window and pace.

use units::Time;

use crate::tcp::rate::{Loss, Rate, Sample};
use crate::tcp::scoreboard::Scoreboard;

/// The start of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    /// Segments.
    pub(crate) initial_window: f64,
    /// Smoothed round-trip time that the handshake has given, seconds; 0 for none.
    pub(crate) srtt_s: f64,
    pub(crate) now: Time,
    /// A number that differs between connections.
    pub(crate) draw: u64,
}

/// A model of the path, which sets window and pace.
pub(crate) trait PathModel: std::fmt::Debug + Send {
    /// Segments: at most so many in flight.
    fn cwnd(&self) -> f64;

    /// Segments per second: the pace.
    fn pacing_rate(&self) -> f64;

    /// Takes an acknowledgement and sets pace and window. What it finds to be lost has gone to [`PathModel::on_loss`].
    fn on_ack(&mut self, sample: &Sample, now: Time);

    /// A segment is found to be lost.
    fn on_loss(&mut self, _: &Loss, _: Time) {}

    /// The sender goes on after its application paused.
    fn on_restart(&mut self, now: Time);

    /// Loss recovery begins with `in_flight` segments under way, when `delivered` have been.
    fn on_recovery(&mut self, in_flight: u32, delivered: u64);

    /// Loss recovery is over.
    fn on_recovered(&mut self);

    /// The loss recovery that ended, or is under way, was without need: nothing was lost.
    fn on_undo(&mut self, _: Time) {}

    /// The retransmission timer went off with `in_flight` segments under way.
    fn on_timeout(&mut self, in_flight: u32);

    /// Whether the window is kept small for a time, so that rates say nothing of the path.
    fn is_probing_rtt(&self) -> bool;

    /// Whether a loss is being repaired.
    fn is_recovering(&self) -> bool;
}

/// Measurements and model of one connection.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) rate: Rate,
    pub(crate) path: Box<dyn PathModel>,
    /// Below this number it is known what was lost.
    judged_below: u32,
    /// While something below this number is not acknowledged, the window has held the sender back in the last round trip.
    pub(crate) full_below: u32,
}

impl Model {
    /// At the start of connection `flow`, when the handshake has given the round-trip time `srtt_s`, seconds.
    pub(crate) fn begin(
        make: fn(Begin) -> Box<dyn PathModel>,
        initial_window: f64,
        srtt_s: f64,
        flow: u32,
        now: Time,
    ) -> Model {
        Model {
            rate: Rate::unknown(),
            path: make(Begin { initial_window, srtt_s, now, draw: draw(flow, now) }),
            judged_below: 1,
            full_below: 0,
        }
    }

    /// The retransmission timer went off: all from `una` to before `max` that is not known to have arrived is lost.
    pub(in crate::tcp) fn timed_out(&mut self, una: u32, max: u32, now: Time) {
        for seq in self.judged_below.max(una)..max {
            if !self.rate.has_arrived(seq) {
                let loss = self.rate.lose(seq);
                self.path.on_loss(&loss, now);
            }
        }
        self.judged_below = self.judged_below.max(max);
        self.path.on_timeout(0);
    }

    /// Tells the model of the holes that the scoreboard has come to take for lost, of those from `una` on: how many.
    pub(in crate::tcp) fn newly_lost(&mut self, board: &Scoreboard, una: u32, now: Time) -> u32 {
        let from = self.judged_below.max(una);
        self.judged_below = from.max(board.lost_below());
        let mut lost = 0;
        for seq in (from..self.judged_below).filter(|&seq| !board.is_sacked(seq)) {
            let loss = self.rate.lose(seq);
            self.path.on_loss(&loss, now);
            lost += 1;
        }
        lost
    }
}

/// A number for [`Begin::draw`]: where a cycle of probing begins must differ between flows, whatever the seed (SplitMix64 of
/// flow and time).
pub(in crate::tcp) fn draw(flow: u32, now: Time) -> u64 {
    let mut draw = (u64::from(flow) << 32 ^ now.0).wrapping_add(0x9e37_79b9_7f4a_7c15);
    draw = (draw ^ draw >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    draw = (draw ^ draw >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    draw ^ draw >> 31
}
