//! The methods, one file each; `registry.rs` lists them.

pub(crate) mod basic;
pub(crate) mod cbr;
pub(crate) mod default;
pub(crate) mod loss;
pub(crate) mod multihop;
pub(crate) mod p0;
pub(crate) mod response;
mod responsive;

use serde::Serialize;

use crate::config::Settings;
use crate::number::Number;
use crate::reason::Reason;
use crate::signals::Signals;

/// What the lists say of a method.
#[derive(Debug, Serialize)]
pub struct MethodSpec {
    /// Id on the command line.
    pub id: &'static str,
    /// One line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// What a method knows after a sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct Loads<N> {
    /// Packets of responsive flows in a round trip R_0 (z), at least 0.
    pub responsive: N,
    /// Responsive flows (N_s).
    pub flows: N,
    /// Share of what came in this sampling interval that does not respond, from a method that finds it without the
    /// load; it then goes before the load.
    pub share: Option<N>,
    /// Why it should not be relied on.
    pub doubt: Option<Reason>,
}

/// A way to tell responsive from other traffic.
pub(crate) trait Method<N: Number>: Sized {
    /// Id and description.
    const SPEC: MethodSpec;

    /// Before the first sample.
    fn with(settings: &Settings<N>) -> Self;

    /// Takes the signals of a sampling interval; `None` as long as nothing can be said.
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>>;
}
