//! Traffic that sends at a rate, not by a window: the rate is a third element of β, and the results are projected on
//! the line of a full link.
//!
//! Source: Zhao 2004, appendix A. Eq. A.6 prints q(t)/C as the third regressor; Eq. A.5, which it is taken from, has
//! q'(t)/C, as the derivation wants.

use super::responsive::{Responsive, regressor};
use super::{Loads, Method, MethodSpec};
use crate::config::Settings;
use crate::number::Number;
use crate::signals::Signals;

/// N_s, z₀²/N_s and d_u.
#[derive(Debug)]
pub(crate) struct Cbr<N> {
    responsive: Responsive<N, 3>,
}

/// Point of the line z/R_0 + d_u = C nearest to (`load`, `rate`), as z (Eq. A.8 times R_0² above and below, which
/// spares a short round trip's square).
fn projected<N: Number>(load: N, rate: N, rtt: N, capacity: N) -> N {
    (rtt * (capacity - rate) + rtt * rtt * load) / (N::ONE + rtt * rtt)
}

impl<N: Number> Method<N> for Cbr<N> {
    const SPEC: MethodSpec = MethodSpec {
        id: "cbr",
        about: "basic with the rate of constant-rate flows as a third unknown, on the line of a full link",
        source: "Zhao 2004, appendix A",
    };

    fn with(_: &Settings<N>) -> Self {
        Cbr { responsive: Responsive::new() }
    }

    #[inline]
    fn update(&mut self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        let output = signals.output(settings.capacity);
        let [inverse, drops] = regressor(signals, settings);
        let regressor = [inverse, drops, signals.slope / settings.capacity];
        let rest = [N::ZERO, N::ZERO, settings.start_share * settings.capacity];
        let rate = self.responsive.update(signals, settings, &regressor, output, rest)?[2];
        let loads = self.responsive.loads(signals, settings)?;
        let responsive = projected(loads.responsive, rate, signals.rtt, settings.capacity).at_least(N::ZERO);
        Some(Loads { responsive, ..loads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Float;

    #[test]
    fn the_projection_lies_on_the_line_and_is_perpendicular_to_it() {
        let (load, rate, rtt, capacity) = (200.0, 1700.0, 0.1, 3500.0);
        let z = projected(Float(load), Float(rate), Float(rtt), Float(capacity)).0;
        let d = capacity - z / rtt;
        // Eq. A.8 with m = -1/R_0.
        let m = -1.0 / rtt;
        assert!((z - (m * rate + load - m * capacity) / (m * m + 1.0)).abs() < 1e-9);
        // The way there is perpendicular to (1, m).
        assert!(((z - load) + m * (d - rate)).abs() < 1e-9);
    }
}
