//! What the sender of Linux asks of a congestion control: what `struct tcp_congestion_ops` has, with the names of its members
//! at the methods. Windows are whole segments.

use units::Time;

use super::clock::{Clock, Jiffies};
use super::rate::RateSample;
use super::view::{Opening, View};
use crate::tcp::rules::Feedback;

/// What a reduction leaves: segments, and acknowledgements towards the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) cwnd: u32,
    pub(super) more: u32,
}

impl Left {
    /// Whole segments.
    pub(super) fn whole(cwnd: u32) -> Left {
        Left { cwnd, more: 0 }
    }
}

/// A congestion control as the sender of Linux calls it. The defaults are those of a control of the window that hears losses
/// only, and of one without a model.
pub(super) trait CongestionOps {
    /// Whether a model of the path sets window and pace (`cong_control`).
    fn has_model(&self) -> bool {
        false
    }

    /// Percent of a window per round trip that is the pace beyond slow start (`tcp_pacing_ca_ratio`).
    fn pace_percent(&self) -> u64 {
        120
    }

    /// Whether marks take effect at once, and the window goes on growing meanwhile: where segments are paced there is no
    /// need to spread the reduction over a round trip.
    fn reduces_at_once(&self) -> bool {
        false
    }

    /// The connection begins (`init`).
    fn begin(&mut self, _: Opening, _: &mut View) {}

    /// Segments that have to arrive for the window to grow by one, beyond slow start (`cong_avoid`). A model is not asked.
    fn per_segment(&mut self, cwnd: u32, _acked: u32, _: Clock, _: Time) -> u32 {
        cwnd
    }

    /// The threshold after a loss, of `cwnd` and the part of a segment by which the window has grown beyond, `more`
    /// acknowledgements of those that one takes (`ssthresh`).
    fn reduced(&mut self, cwnd: u32, more: u32, ssthresh: u32) -> Left;

    /// The window after marks, as [`CongestionOps::reduced`]; `None` where the control has answered to them already.
    fn marked(&mut self, cwnd: u32, more: u32, ssthresh: u32) -> Option<Left> {
        Some(self.reduced(cwnd, more, ssthresh))
    }

    /// An acknowledgement, with what it reports of marks, before it moves the window (`in_ack_event`).
    fn on_feedback(&mut self, _: &Feedback) {}

    /// An acknowledgement gave a round-trip time of `rtt_us`, microseconds, or none (`pkts_acked`).
    #[allow(clippy::too_many_arguments)]
    fn on_delivered(
        &mut self,
        _rtt_us: Option<u32>,
        _una: u32,
        _nxt: u32,
        _cwnd: u32,
        _ssthresh: &mut u32,
        _: Clock,
        _: Time,
    ) {
    }

    /// Data is sent after `idle` jiffies in which nothing was under way (`CA_EVENT_TX_START`).
    fn on_start(&mut self, _idle: Jiffies, _now: Jiffies) {}

    /// The state becomes that after a timeout (`set_state`).
    fn on_loss_state(&mut self, _nxt: u32, _now: Time) {}

    /// A loss is repaired.
    fn on_recovered(&mut self) {}

    /// The last reduction was for nothing: the sender restores window and threshold (`undo_cwnd`).
    fn on_undo(&mut self) {}

    /// An acknowledgement moves a model (`cong_control`).
    fn model_ack(&mut self, _: &RateSample, _: &mut View) {}

    /// A loss begins to be repaired by a sender with a model.
    fn model_recovers(&mut self, _: &mut View) {}

    /// As [`CongestionOps::on_loss_state`], of a model.
    fn model_times_out(&mut self, _: &mut View) {}

    /// As [`CongestionOps::on_undo`], of a model.
    fn model_undoes(&mut self, _: &mut View) {}

    /// The sender with a model goes on after its application had nothing to send.
    fn model_restarts(&mut self, _: &mut View) {}
}
