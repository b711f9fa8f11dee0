//! The basic algorithm: drops halve windows, time opens them, what is left over does not respond.
//!
//! Source: Zhao 2004, Eq. 2.13 to 2.16.

use super::responsive::{Responsive, regressor};
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::signals::Signals;

/// N_s and z₀²/N_s from χ = N_s/R_0 - p z₀²/(2 N_s R_0).
#[derive(Debug)]
pub(crate) struct Basic<N> {
    responsive: Responsive<N, 2>,
}

impl<N: Number> Method<N> for Basic<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "basic",
        about: "flows and load from slope and curvature of the queue and from drops",
        source: "Zhao 2004, Eq. 2.13 to 2.16",
    };

    fn with(_: &Settings<N>) -> Self {
        Basic { responsive: Responsive::new() }
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        let output = signals.output(settings.capacity);
        self.responsive.update(signals, settings, &regressor(signals, settings), output, [N::ZERO; 2])?;
        self.responsive.loads(signals, settings)
    }
}
