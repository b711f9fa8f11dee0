//! A sender with a model of its path: what it sends and what arrives goes into the model, which sets window and pace.

use units::Time;

use crate::tcp::bbr::Bbr;
use crate::tcp::rate::Rate;
use crate::tcp::scoreboard::Scoreboard;

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
    pub(super) fn newly_lost(&mut self, board: &Scoreboard, una: u32) -> u32 {
        let from = self.judged_below.max(una);
        self.judged_below = from.max(board.lost_below());
        (from..self.judged_below).filter(|&seq| !board.is_sacked(seq)).count() as u32
    }
}
