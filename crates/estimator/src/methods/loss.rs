//! For many drops: what is dropped does not come into the queue.
//!
//! Source: Zhao 2004, Eq. 2.18 and 2.19. l(t) is there "the number of packet drops at time t"; beside the loads of a
//! round trip in Eq. 2.18 it can only be that of a round trip. Its difference is taken after the filter of the queue,
//! so that both sides of the balance are filtered alike.

use super::p0::WithoutDrops;
use super::responsive::{Responsive, regressor};
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::signals::Signals;

/// χ + l' in place of χ.
#[derive(Debug)]
pub(crate) struct WithLoss<N> {
    responsive: Responsive<N, 2>,
}

impl<N: Number> Method<N> for WithLoss<N> {
    const SPEC: MethodSpec = Loss::<N>::SPEC;

    fn with(_: &Settings<N>) -> Self {
        WithLoss { responsive: Responsive::new() }
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        let output = signals.output(settings.capacity) + signals.drops_slope;
        self.responsive.update(signals, settings, &regressor(signals, settings), output, [N::ZERO; 2])?;
        self.responsive.loads(signals, settings)
    }
}

/// [`WithLoss`] while packets are dropped.
#[derive(Debug)]
pub(crate) struct Loss<N>(WithoutDrops<N, WithLoss<N>>);

impl<N: Number> Method<N> for Loss<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "loss",
        about: "p0 with the drops in the balance of the queue, for many drops",
        source: "Zhao 2004, Eq. 2.18, 2.19",
    };

    fn with(settings: &Settings<N>) -> Self {
        Loss(WithoutDrops::beside(WithLoss::with(settings)))
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        self.0.take(signals, settings, signals.drops_slope)
    }
}
