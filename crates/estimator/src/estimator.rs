//! The frame around a method: samples in, estimates out.

use std::fmt;

use crate::config::{Config, Settings};
use crate::intake::{Faults, Intake, Sample};
use crate::number::Number;
use crate::reason::Reason;
use crate::registry::{AnyMethod, methods};
use crate::signals::{Filters, Signals};

/// The estimate of an estimation interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<N> {
    /// Clock at the end of the interval, ticks.
    pub ticks: i64,
    /// Share of the arriving packets that does not respond (ψ, PONRT), 0 to 1.
    pub share: N,
    /// Responsive packets in a round trip (z).
    pub responsive: N,
    /// Other packets in a round trip (D).
    pub other: N,
    /// Responsive flows (N_s); 0 while unknown.
    pub flows: N,
    /// R_0, s.
    pub rtt: N,
    /// Drops over arrivals of the interval.
    pub drop_share: N,
    /// Why it should not be relied on; `None` when it may be.
    pub doubt: Option<Reason>,
}

/// No method has this id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod(pub String);

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = methods().iter().map(|spec| spec.id).collect();
        write!(f, "unknown method '{}': choose from {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownMethod {}

/// Sums over the estimation interval.
#[derive(Clone, Copy, Debug)]
struct Sums<N> {
    intervals: i64,
    length: N,
    arrivals: N,
    drops: N,
    /// Loads, each of a round trip.
    responsive: N,
    /// Responsive packets that came, of a method that gives shares, and all that came with them.
    by_share: (N, N),
    flows: N,
    /// Sampling intervals for which the method had an answer.
    answers: i64,
    doubt: Option<Reason>,
    faults: u64,
}

impl<N: Number> Sums<N> {
    fn from_faults(faults: u64) -> Self {
        let (zero, doubt) = (N::ZERO, None);
        Sums {
            intervals: 0,
            length: zero,
            arrivals: zero,
            drops: zero,
            responsive: zero,
            by_share: (zero, zero),
            flows: zero,
            answers: 0,
            doubt,
            faults,
        }
    }
}

/// Estimates the share of traffic that does not respond to drops. Memory and time per sample are constant.
#[derive(Debug)]
pub struct Estimator<N> {
    settings: Settings<N>,
    intake: Intake<N>,
    filters: Filters<N>,
    method: AnyMethod<N>,
    sums: Sums<N>,
    /// Ticks before which only the filters run.
    start: i64,
    smoothed: Option<N>,
}

impl<N: Number> Estimator<N> {
    /// An estimator with a clock of `per_second` ticks a second, 1 at least.
    ///
    /// # Errors
    /// No method has the id `method`.
    pub fn from_config(method: &str, config: &Config, per_second: u32) -> Result<Self, UnknownMethod> {
        let settings = config.settings();
        let method = AnyMethod::from_id(method, &settings).ok_or_else(|| UnknownMethod(method.to_owned()))?;
        let per_second = i64::from(per_second.max(1));
        let ticks = |seconds: f64| (seconds * per_second as f64).ceil() as i64;
        // A clock that was rounded to ticks may end an interval one tick early.
        let wanted = (config.sampling_s() * per_second as f64 * (1.0 - 1e-6)).ceil() as i64;
        Ok(Estimator {
            intake: Intake::every(wanted, per_second),
            filters: Filters::new(),
            method,
            sums: Sums::from_faults(0),
            start: ticks(config.value("start")),
            settings,
            smoothed: None,
        })
    }

    /// Takes a sample, and returns the estimate of the estimation interval that it completes.
    #[inline]
    pub fn take(&mut self, sample: Sample<N>) -> Option<Estimate<N>> {
        let interval = self.intake.take(&sample)?;
        let signals = self.filters.take(&interval, &self.settings);
        if interval.ticks < self.start {
            self.sums.faults = self.intake.faults.total();
            return None;
        }
        let loads = self.method.update(&signals, &self.settings);
        let sums = &mut self.sums;
        sums.intervals += 1;
        sums.length = sums.length + signals.length;
        sums.arrivals = sums.arrivals + signals.arrivals;
        sums.drops = sums.drops + signals.drops;
        if let Some(loads) = loads {
            sums.responsive = sums.responsive + loads.responsive;
            if let Some(share) = loads.share {
                let (responsive, all) = sums.by_share;
                sums.by_share = (responsive + (N::ONE - share) * signals.arrivals, all + signals.arrivals);
            }
            sums.flows = sums.flows + loads.flows;
            sums.answers += 1;
            sums.doubt = loads.doubt;
        }
        (sums.intervals >= self.settings.per_estimate).then(|| self.conclude(interval.ticks, &signals))
    }

    /// ψ = 1 - z/(z + D), z + D being what came, as counted (Zhao 2004, Eq. 2.10).
    fn conclude(&mut self, ticks: i64, signals: &Signals<N>) -> Estimate<N> {
        let faults = self.intake.faults.total();
        let sums = std::mem::replace(&mut self.sums, Sums::from_faults(faults));
        let came = sums.arrivals / sums.length * signals.rtt;
        let mean = |sum: N| if sums.answers > 0 { sum.per(sums.answers) } else { N::ZERO };
        let (responsive, all) = sums.by_share;
        let load = if all > N::ZERO { responsive / all * came } else { mean(sums.responsive) };
        let doubt = if sums.arrivals <= N::ZERO {
            Some(Reason::NoArrivals)
        } else if faults > sums.faults {
            Some(Reason::Faulty)
        } else if sums.answers == 0 {
            Some(Reason::NeverDropped)
        } else if signals.length > signals.rtt {
            Some(Reason::Coarse)
        } else if load > came {
            sums.doubt.or(Some(Reason::Bounded))
        } else {
            sums.doubt
        };
        let responsive = load.at_least(N::ZERO).at_most(came);
        let share = if sums.answers == 0 || came <= N::ZERO {
            // Nothing is known: what was assumed at the start.
            self.smoothed.unwrap_or(self.settings.start_share)
        } else {
            (N::ONE - responsive / came).at_least(N::ZERO).at_most(N::ONE)
        };
        let before = self.smoothed.unwrap_or(share);
        let factor = self.settings.smoothing;
        let share = factor * before + (N::ONE - factor) * share;
        self.smoothed = Some(share);
        let drop_share = if sums.arrivals > N::ZERO { sums.drops / sums.arrivals } else { N::ZERO };
        Estimate {
            ticks,
            share,
            responsive,
            other: came - responsive,
            flows: mean(sums.flows),
            rtt: signals.rtt,
            drop_share: drop_share.at_most(N::ONE),
            doubt,
        }
    }

    /// Samples that were not used, by reason.
    pub fn faults(&self) -> Faults {
        self.intake.faults
    }
}
