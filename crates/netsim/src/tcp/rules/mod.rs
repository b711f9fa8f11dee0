//! Rules of congestion control, one file each: what an acknowledgement adds to the window in congestion avoidance, and
//! what a reduction leaves. Slow start is common to all of them and stands in [`control`](super::control); loss recovery
//! is a matter of its own. Windows are in segments.
//!
//! Every sender runs every rule: that of the RFCs, that of QUIC and that of Linux. Where Linux computes something else than the
//! RFC or draft says, its sender runs [`LinuxCode`] in place of the rule.
//!
//! Only sums, products, quotients and square roots, which IEEE 754 rounds correctly: one result on every platform.

mod aimd;
mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod iiad;
mod marks;
pub(crate) mod path;
mod prague;
mod rule;
mod sqrt;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use rule::{Feedback, LinuxCode, Moment};
use rule::{Rule, Traits};

/// Declares the rules: the words of the settings, what readers call each, and what runs behind it.
macro_rules! rules {
    ($($(#[$meta:meta])+ $name:ident, $word:literal, $title:literal, $rule:ty;)+) => {
        /// How the congestion window grows and shrinks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum Congestion {
            $($(#[$meta])+ $name,)+
        }

        impl Congestion {
            /// Every rule, in the order of the table.
            pub const ALL: &[Congestion] = &[$(Congestion::$name),+];

            /// Name in the settings.
            pub fn word(self) -> &'static str {
                match self {
                    $(Congestion::$name => $word,)+
                }
            }

            /// What readers call it.
            pub fn title(self) -> &'static str {
                match self {
                    $(Congestion::$name => $title,)+
                }
            }

            /// The kernel module that is the same control, of those that hosts of the kernel engine have.
            pub fn module(self) -> Option<&'static str> {
                match self {
                    $(Congestion::$name => <$rule as Rule>::MODULE,)+
                }
            }

            /// The code that the sender of Linux runs in place of the rule.
            pub(crate) fn linux_code(self) -> Option<LinuxCode> {
                match self {
                    $(Congestion::$name => <$rule as Rule>::LINUX_CODE,)+
                }
            }

            /// What the rule asks of the rest of the transport.
            #[inline]
            pub(crate) fn traits(self) -> Traits {
                match self {
                    $(Congestion::$name => <$rule as Rule>::TRAITS,)+
                }
            }
        }

        /// A rule and its state.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum State {
            $($name($rule),)+
        }

        impl State {
            /// At the start of a connection.
            pub(crate) fn of(rule: Congestion) -> State {
                match rule {
                    $(Congestion::$name => State::$name(<$rule as Rule>::idle()),)+
                }
            }

            /// As [`Rule::TRAITS`].
            #[inline]
            pub(crate) fn traits(&self) -> Traits {
                match self {
                    $(State::$name(_) => <$rule as Rule>::TRAITS,)+
                }
            }

            /// As [`Rule::grown`].
            #[inline]
            pub(crate) fn grown(&mut self, cwnd: f64, at: Moment) -> f64 {
                match self {
                    $(State::$name(rule) => rule.grown(cwnd, at),)+
                }
            }

            /// As [`Rule::reduced`].
            pub(crate) fn reduced(&mut self, window: f64) -> f64 {
                match self {
                    $(State::$name(rule) => rule.reduced(window),)+
                }
            }

            /// As [`Rule::marked`].
            pub(crate) fn marked(&mut self, window: f64, at: Moment) -> Option<f64> {
                match self {
                    $(State::$name(rule) => rule.marked(window, at),)+
                }
            }

            /// As [`Rule::on_feedback`].
            pub(crate) fn on_feedback(&mut self, feedback: &Feedback) {
                match self {
                    $(State::$name(rule) => rule.on_feedback(feedback),)+
                }
            }

            /// As [`Rule::on_timeout`].
            pub(crate) fn on_timeout(&mut self) {
                match self {
                    $(State::$name(rule) => rule.on_timeout(),)+
                }
            }

            /// As [`Rule::on_recovered`].
            pub(crate) fn on_recovered(&mut self) {
                match self {
                    $(State::$name(rule) => rule.on_recovered(),)+
                }
            }

            /// As [`Rule::acks_per_segment`].
            pub(crate) fn acks_per_segment(&mut self, cwnd: f64, at: Moment) -> f64 {
                match self {
                    $(State::$name(rule) => rule.acks_per_segment(cwnd, at),)+
                }
            }

            /// As [`Rule::on_undo`].
            pub(crate) fn on_undo(&mut self) {
                match self {
                    $(State::$name(rule) => rule.on_undo(),)+
                }
            }

            /// As [`Rule::on_restart`].
            pub(crate) fn on_restart(&mut self) {
                match self {
                    $(State::$name(rule) => rule.on_restart(),)+
                }
            }
        }
    };
}

rules! {
    /// Additive increase, multiplicative decrease: a segment per round trip, a half (RFC 5681).
    Aimd, "aimd", "Reno", aimd::Aimd;
    /// Inverse increase, additive decrease: binomial with k = 1, l = 0 (Bansal and Balakrishnan 2001).
    Iiad, "iiad", "IIAD", iiad::Iiad;
    /// Binomial with k = l = 1/2 (Bansal and Balakrishnan 2001).
    Sqrt, "sqrt", "SQRT", sqrt::Sqrt;
    /// CUBIC (RFC 9438); with `recovery = linux` that of Linux.
    Cubic, "cubic", "CUBIC", cubic::Cubic;
    /// DCTCP (RFC 8257): Reno without a count of marks.
    Dctcp, "dctcp", "DCTCP", dctcp::Dctcp;
    /// Prague (draft-briscoe-iccrg-prague-congestion-control); needs `ecn = l4s`, or is Reno, and is paced.
    Prague, "prague", "Prague", prague::Prague;
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with `recovery = linux` that of Linux; needs
    /// selective acknowledgements but in Linux, and is paced.
    Bbr, "bbr", "BBR", bbr::FollowsModel;
    /// BBR, version 3 (draft-ietf-ccwg-bbr); needs selective acknowledgements, and is paced.
    Bbr3, "bbr3", "BBRv3", bbr3::FollowsModel3;
}
