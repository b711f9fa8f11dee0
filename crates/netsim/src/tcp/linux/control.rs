//! Which congestion control moves the window.
//!
//! Every rule of [`rules`] runs here: one of the window by [`Window`], one with a model of the path by [`Path`], and where Linux
//! has its own form of a rule that form ([`LinuxCode`]).

use units::Time;

use super::bbr::Bbr;
use super::clock::{Clock, Jiffies};
use super::cubic::Cubic;
use super::ops::{CongestionOps, Left};
use super::path::Path;
use super::rate::RateSample;
use super::view::{Opening, View};
use super::window_rule::Window;
use crate::tcp::rules::{Feedback, LinuxCode};
use crate::tcp::settings::{Hystart, Tcp};

/// What moves the window.
#[derive(Debug)]
pub(super) enum Controller {
    Window(Window),
    Cubic(Cubic),
    Bbr(Box<Bbr>),
    Path(Box<Path>),
}

/// Calls a method of whatever control it is.
macro_rules! ops {
    ($controller:expr, $method:ident($($argument:expr),*)) => {
        match $controller {
            Controller::Window(control) => control.$method($($argument),*),
            Controller::Cubic(control) => control.$method($($argument),*),
            Controller::Bbr(control) => control.$method($($argument),*),
            Controller::Path(control) => control.$method($($argument),*),
        }
    };
}

impl Controller {
    pub(super) fn of(tcp: &Tcp) -> Controller {
        match tcp.congestion.linux_code() {
            Some(LinuxCode::Cubic) => Controller::Cubic(Cubic::new(tcp.hystart == Hystart::Linux)),
            Some(LinuxCode::Bbr) => Controller::Bbr(Box::new(Bbr::idle())),
            None => match tcp.congestion.traits().model {
                Some(make) => Controller::Path(Box::new(Path::idle(make))),
                None => Controller::Window(Window::of(tcp)),
            },
        }
    }

    /// The model that hears of every segment, if there is one.
    #[inline]
    pub(super) fn path(&mut self) -> Option<&mut Path> {
        match self {
            Controller::Path(path) => Some(path),
            Controller::Window(_) | Controller::Cubic(_) | Controller::Bbr(_) => None,
        }
    }
}

impl CongestionOps for Controller {
    #[inline]
    fn has_model(&self) -> bool {
        ops!(self, has_model())
    }

    #[inline]
    fn pace_percent(&self) -> u64 {
        ops!(self, pace_percent())
    }

    #[inline]
    fn reduces_at_once(&self) -> bool {
        ops!(self, reduces_at_once())
    }

    fn begin(&mut self, opening: Opening, view: &mut View) {
        ops!(self, begin(opening, view));
    }

    #[inline]
    fn per_segment(&mut self, cwnd: u32, acked: u32, clock: Clock, now: Time) -> u32 {
        ops!(self, per_segment(cwnd, acked, clock, now))
    }

    fn reduced(&mut self, cwnd: u32, more: u32, ssthresh: u32) -> Left {
        ops!(self, reduced(cwnd, more, ssthresh))
    }

    fn marked(&mut self, cwnd: u32, more: u32, ssthresh: u32) -> Option<Left> {
        ops!(self, marked(cwnd, more, ssthresh))
    }

    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback) {
        ops!(self, on_feedback(feedback));
    }

    #[inline]
    fn on_delivered(
        &mut self,
        rtt_us: Option<u32>,
        una: u32,
        nxt: u32,
        cwnd: u32,
        ssthresh: &mut u32,
        clock: Clock,
        now: Time,
    ) {
        ops!(self, on_delivered(rtt_us, una, nxt, cwnd, ssthresh, clock, now));
    }

    fn on_start(&mut self, idle: Jiffies, now: Jiffies) {
        ops!(self, on_start(idle, now));
    }

    fn on_loss_state(&mut self, nxt: u32, now: Time) {
        ops!(self, on_loss_state(nxt, now));
    }

    fn on_recovered(&mut self) {
        ops!(self, on_recovered());
    }

    fn on_undo(&mut self) {
        ops!(self, on_undo());
    }

    #[inline]
    fn model_ack(&mut self, sample: &RateSample, view: &mut View) {
        ops!(self, model_ack(sample, view));
    }

    fn model_recovers(&mut self, view: &mut View) {
        ops!(self, model_recovers(view));
    }

    fn model_times_out(&mut self, view: &mut View) {
        ops!(self, model_times_out(view));
    }

    fn model_undoes(&mut self, view: &mut View) {
        ops!(self, model_undoes(view));
    }

    fn model_restarts(&mut self, view: &mut View) {
        ops!(self, model_restarts(view));
    }
}
