//! What the published methods share: where β begins, the load it stands for, the doubt.
//!
//! The normalised step of Eq. 2.16 depends on the unit of p: with p in the regressor times s, and β₁ = z₀²/(s N_s), it
//! turns s times as far towards β₁. The paper does not tell its unit (`drop_scale`).

use crate::config::Settings;
use crate::kaczmarz::{Adaptation, Excitation, SETTLED};
use crate::methods::Loads;
use crate::number::Number;
use crate::reason::Reason;
use crate::signals::Signals;

/// β whose first two elements are N_s and z₀²/N_s, with K regressors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responsive<N, const K: usize> {
    adaptation: Option<Adaptation<N, K>>,
    /// Sampling intervals since the first drop, what came in them and what was dropped, until β begins.
    seen: (i64, N, N),
    excitation: Excitation<N>,
    settled: N,
}

impl<N: Number, const K: usize> Responsive<N, K> {
    pub(super) fn new() -> Self {
        Responsive {
            adaptation: None,
            seen: (0, N::ZERO, N::ZERO),
            excitation: Excitation::none(),
            settled: N::from_f64(SETTLED),
        }
    }

    /// Begins an estimation interval after the first drop: the share of the arrivals that is left by `start_share`, in
    /// equilibrium, 2 N_s² = z₀² p (Zhao 2004, II.B). The paper does not describe the start.
    fn begin(&mut self, signals: &Signals<N>, settings: &Settings<N>, rest: [N; K]) -> Option<Adaptation<N, K>> {
        let (intervals, arrivals, drops) = self.seen;
        if intervals == 0 && signals.drops <= N::ZERO {
            return None;
        }
        self.seen = (intervals + 1, arrivals + signals.arrivals, drops + signals.drops);
        let (intervals, arrivals, drops) = self.seen;
        if intervals < settings.per_estimate || arrivals <= N::ZERO {
            return None;
        }
        let load = (N::ONE - settings.start_share) * signals.round_arrivals();
        let root = (drops / arrivals).at_most(N::ONE).per(2).sqrt();
        if root <= N::ZERO {
            // Too few for the arithmetic.
            self.seen = (0, N::ZERO, N::ZERO);
            return None;
        }
        let mut beta = rest;
        (beta[0], beta[1]) = (load * root, load / root);
        if let Some(scale) = settings.drop_scale {
            beta[1] = beta[1] / scale;
        }
        Some(Adaptation::from(beta))
    }

    /// Moves β by a sampling interval, once it has begun; `rest` is where the other elements begin.
    #[inline]
    pub(super) fn update(
        &mut self,
        signals: &Signals<N>,
        settings: &Settings<N>,
        regressor: &[N; K],
        output: N,
        rest: [N; K],
    ) -> Option<&[N; K]> {
        if self.adaptation.is_none() {
            self.adaptation = self.begin(signals, settings, rest);
        }
        let adaptation = self.adaptation.as_mut()?;
        if signals.is_whole {
            adaptation.update(regressor, output, settings);
            self.excitation.take(signals.drop_probability, signals.mean_probability, signals.inverse_rtt, settings);
        }
        Some(&adaptation.beta)
    }

    /// N_s and z₀ = sqrt(β₀ β₁), of a scaled β₁ times the root of the scale.
    #[inline]
    pub(super) fn loads(&self, signals: &Signals<N>, settings: &Settings<N>) -> Option<Loads<N>> {
        let adaptation = self.adaptation.as_ref()?;
        let [flows, ratio] = [adaptation.beta[0], adaptation.beta[1]];
        let ratio = settings.drop_scale.map_or(ratio, |scale| ratio * scale);
        let responsive = (flows * ratio).sqrt();
        let doubt = if adaptation.is_bounded() {
            Some(Reason::Bounded)
        } else if !self.excitation.reaches(self.settled, signals.inverse_rtt, settings) {
            Some(Reason::Start)
        } else {
            None
        };
        Some(Loads { responsive, flows, share: None, doubt })
    }
}

/// 1/R_0 and -p(t - R_0) / (2 R_0), p on its scale.
#[inline]
pub(super) fn regressor<N: Number>(signals: &Signals<N>, settings: &Settings<N>) -> [N; 2] {
    let (inverse, p) = (signals.inverse_rtt, signals.drop_probability);
    let p = settings.drop_scale.map_or(p, |scale| p * scale);
    [inverse, -(p * inverse).per(2)]
}
