//! Drops at other queues: a third element of β for them.
//!
//! Its regressor, -1/(2 R_0), is that of N_s times a constant: whatever the samples, they tell β₀ - β₂/2 and not the two
//! of them. The adaptation splits every change 4 to 1 in favour of β₀, from where it began, and says so.
//! Source: Zhao 2004, Eq. 2.23.

use super::p0::WithoutDrops;
use super::responsive::{Responsive, regressor};
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::reason::Reason;
use crate::signals::Signals;

/// N_s, z₀²/N_s and z₀² S_P / N_s².
#[derive(Debug)]
pub(crate) struct Elsewhere<N> {
    responsive: Responsive<N, 3>,
}

impl<N: Number> Method<N> for Elsewhere<N> {
    const SPEC: MethodSpec = Multihop::<N>::SPEC;

    fn with(_: &Settings<N>) -> Self {
        Elsewhere { responsive: Responsive::new() }
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        let output = signals.output(settings.capacity) + signals.drops_slope;
        let [inverse, drops] = regressor(signals, settings);
        let rest = [N::ZERO; 3];
        self.responsive.update(signals, settings, &[inverse, drops, -inverse.per(2)], output, rest)?;
        let loads = self.responsive.loads(signals, settings)?;
        Some(Loads { doubt: Some(Reason::Collinear), ..loads })
    }
}

/// [`Elsewhere`] while packets are dropped here.
#[derive(Debug)]
pub(crate) struct Multihop<N>(WithoutDrops<N, Elsewhere<N>>);

impl<N: Number> Method<N> for Multihop<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "multihop",
        about: "loss with drops at other queues as a third unknown",
        source: "Zhao 2004, Eq. 2.20 to 2.23",
    };

    fn with(settings: &Settings<N>) -> Self {
        Multihop(WithoutDrops::beside(Elsewhere::with(settings)))
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        self.0.take(signals, settings, signals.drops_slope)
    }
}
