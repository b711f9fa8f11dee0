//! The estimator of non-responsive traffic as columns.

use std::collections::BTreeMap;

use estimator::{
    Config, Estimate, Estimator, Faults, Fixed, Float, MethodSpec, Number, PARAMS, Param, Reason, Sample, methods,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use tables::record;

use crate::table::{Table, as_json};

/// What the estimator knows.
#[derive(Serialize)]
struct Lists {
    methods: &'static [MethodSpec],
    params: &'static [Param],
    /// The meaning of each reason by its word.
    reasons: BTreeMap<&'static str, &'static str>,
}

/// Methods, parameters and reasons of doubt, as JSON.
///
/// # Errors
/// `RuntimeError` when they cannot be written as JSON.
#[pyfunction]
pub fn estimator_lists() -> PyResult<String> {
    let reasons = Reason::ALL.iter().map(|&(_, word, meaning)| (word, meaning)).collect();
    as_json(&Lists { methods: methods(), params: &PARAMS, reasons })
}

record! {
    /// An estimate.
    #[derive(Clone, Copy)]
    pub struct Row in "estimates" {
        /// End of the interval.
        pub time_s: f64 => "time_s", "s";
        /// Share of the arriving packets that does not respond (Zhao 2004: psi, PONRT), 0 to 1.
        pub share: f64 => "share";
        /// Responsive packets in a round trip (z).
        pub responsive: f64 => "responsive_pkts", "packets";
        /// Other packets in a round trip (D).
        pub other: f64 => "other_pkts", "packets";
        /// Responsive flows (N_s); 0 while unknown.
        pub flows: f64 => "flows", "flows";
        /// Round-trip time with the queue (R_0).
        pub rtt: f64 => "rtt_s", "s";
        /// Drops over arrivals of the interval.
        pub drop_share: f64 => "drop_share";
        /// Why it should not be relied on, in a word; null when it may be.
        pub doubt: Option<&'static str> => "doubt";
    }
}

/// Columns of samples, `float64` each.
struct Columns {
    times: Vec<f64>,
    queue: Vec<f64>,
    arrivals: Vec<f64>,
    drops: Vec<f64>,
}

/// What became of samples: those that were not used, ascending, and how many the estimates are of.
type Taken = (Vec<usize>, usize);

/// Everything `columns` makes an estimator with a clock of `per_second` ticks say.
fn run<N: Number>(
    method: &str,
    config: &Config,
    columns: &Columns,
    per_second: u32,
) -> Result<(Vec<Estimate<N>>, Faults, Taken), String> {
    let mut estimator = Estimator::<N>::from_config(method, config, per_second).map_err(|error| error.to_string())?;
    let (mut estimates, mut refused, mut taken) = (Vec::new(), Vec::new(), 0);
    let mut ticks = 0;
    // Floating point may be anything here; the integers of a kernel cannot be NaN.
    let of = |value: f64| if value.is_finite() { N::from_f64(value) } else { -N::ONE };
    for (i, &time) in columns.times.iter().enumerate() {
        if time.is_finite() {
            ticks = (time * f64::from(per_second)).round() as i64;
        }
        let queue = if time.is_finite() { of(columns.queue[i]) } else { -N::ONE };
        let sample = Sample { ticks, queue, arrivals: of(columns.arrivals[i]), drops: of(columns.drops[i]) };
        let faults = estimator.faults().total();
        if let Some(estimate) = estimator.take(sample) {
            estimates.push(estimate);
            taken = i + 1;
        }
        if estimator.faults().total() > faults {
            refused.push(i);
        }
    }
    Ok((estimates, estimator.faults(), (refused, taken)))
}

fn table<N: Number>(
    (estimates, faults, taken): (Vec<Estimate<N>>, Faults, Taken),
    per_second: u32,
) -> PyResult<(Table, String, Taken)> {
    let row = |estimate: &Estimate<N>| Row {
        time_s: estimate.ticks as f64 / f64::from(per_second),
        share: estimate.share.to_f64(),
        responsive: estimate.responsive.to_f64(),
        other: estimate.other.to_f64(),
        flows: estimate.flows.to_f64(),
        rtt: estimate.rtt.to_f64(),
        drop_share: estimate.drop_share.to_f64(),
        doubt: estimate.doubt.map(Reason::word),
    };
    Ok((Table::of(&estimates.iter().map(row).collect::<Vec<_>>())?, as_json(&faults)?, taken))
}

/// Estimates from columns of samples (`float64` each: clock in s, mean queue, arrivals and drops in packets), on a link
/// of `capacity` packets/s and paths of `propagation` s. `ticks` per second make it calculate with integers. The table of
/// estimates, as JSON how many samples it could not use, by fault, and which these are, with how many samples the estimates are of.
///
/// # Errors
/// `ValueError` with one line for an unknown method, an unknown parameter or a value out of its bounds.
#[pyfunction]
#[pyo3(signature = (method, capacity, propagation, options, times, queue, arrivals, drops, ticks=None))]
#[allow(clippy::too_many_arguments)]
pub fn estimate(
    py: Python<'_>,
    method: &str,
    capacity: f64,
    propagation: f64,
    options: Vec<(String, f64)>,
    times: PyBuffer<f64>,
    queue: PyBuffer<f64>,
    arrivals: PyBuffer<f64>,
    drops: PyBuffer<f64>,
    ticks: Option<u32>,
) -> PyResult<(Table, String, Taken)> {
    let refuse = |text: String| PyValueError::new_err(text);
    let options: Vec<_> = options.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let config = Config::with_options(capacity, propagation, &options).map_err(|error| refuse(error.to_string()))?;
    let columns = Columns {
        times: times.to_vec(py)?,
        queue: queue.to_vec(py)?,
        arrivals: arrivals.to_vec(py)?,
        drops: drops.to_vec(py)?,
    };
    let lengths = [columns.queue.len(), columns.arrivals.len(), columns.drops.len()];
    if lengths.iter().any(|&length| length != columns.times.len()) {
        return Err(refuse("columns of the samples differ in length".to_owned()));
    }
    match ticks {
        None => {
            let nanoseconds = 1_000_000_000;
            let found = py.detach(|| run::<Float>(method, &config, &columns, nanoseconds)).map_err(refuse)?;
            table(found, nanoseconds)
        }
        Some(ticks) => {
            let found = py.detach(|| run::<Fixed>(method, &config, &columns, ticks)).map_err(refuse)?;
            table(found, ticks)
        }
    }
}
