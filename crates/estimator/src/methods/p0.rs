//! While nothing is dropped the responsive load grows as the queue tells; otherwise another method.
//!
//! Source: Zhao 2004, Eq. 2.17 and III.A.1 (PZTHD).

use super::basic::Basic;
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::reason::Reason;
use crate::signals::Signals;

/// `Other` with Eq. 2.17 in place of it once there were PZTHD sampling intervals without drops.
#[derive(Debug)]
pub(crate) struct WithoutDrops<N, Other> {
    other: Other,
    /// z, once `other` has said something.
    load: Option<N>,
    flows: N,
}

impl<N: Number, Other: Method<N>> WithoutDrops<N, Other> {
    pub(crate) fn beside(other: Other) -> Self {
        WithoutDrops { other, load: None, flows: N::ZERO }
    }

    /// z' = χ + `added` while p = 0 (Eq. 2.17); else what the other method says.
    #[inline]
    pub(crate) fn take(&mut self, signals: &Signals<N>, settings: &Settings<N>, added: N) -> Option<Loads<N>> {
        match self.load {
            Some(load) if signals.without_drops >= settings.zero_intervals => {
                let growth = if signals.is_whole { signals.output(settings.capacity) + added } else { N::ZERO };
                // More than all that comes it cannot be, nor less than nothing.
                let load = (load + growth * signals.length).at_least(N::ZERO).at_most(signals.round_arrivals());
                self.load = Some(load);
                Some(Loads { responsive: load, flows: self.flows, share: None, doubt: Some(Reason::NoDrops) })
            }
            _ => {
                let loads = self.other.update(signals, settings)?;
                (self.load, self.flows) = (Some(loads.responsive), loads.flows);
                Some(loads)
            }
        }
    }
}

/// [`Basic`] while packets are dropped.
#[derive(Debug)]
pub(crate) struct P0<N>(WithoutDrops<N, Basic<N>>);

impl<N: Number> Method<N> for P0<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "p0",
        about: "basic; while nothing is dropped, the load grows as the queue tells",
        source: "Zhao 2004, Eq. 2.17",
    };

    fn with(settings: &Settings<N>) -> Self {
        P0(WithoutDrops::beside(Basic::with(settings)))
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        self.0.take(signals, settings, N::ZERO)
    }
}
