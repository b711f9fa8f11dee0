//! The estimator of non-responsive traffic as columns.

use estimator::{Config, Estimate, Estimator, Faults, Fixed, Float, Number, PARAMS, Reason, Sample, methods};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Methods, parameters and reasons of doubt.
#[pyfunction]
pub fn estimator_lists(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let lists = PyDict::new(py);
    let rows = PyList::empty(py);
    for spec in methods() {
        let row = PyDict::new(py);
        row.set_item("id", spec.id)?;
        row.set_item("about", spec.about)?;
        row.set_item("source", spec.source)?;
        rows.append(row)?;
    }
    lists.set_item("methods", rows)?;
    let rows = PyList::empty(py);
    for param in &PARAMS {
        let row = PyDict::new(py);
        row.set_item("name", param.name)?;
        row.set_item("unit", param.unit)?;
        row.set_item("about", param.about)?;
        row.set_item("default", param.default)?;
        row.set_item("min", param.min)?;
        row.set_item("max", param.max)?;
        rows.append(row)?;
    }
    lists.set_item("params", rows)?;
    let reasons = PyDict::new(py);
    for (_, word, meaning) in Reason::ALL {
        reasons.set_item(word, meaning)?;
    }
    lists.set_item("reasons", reasons)?;
    Ok(lists)
}

/// Columns of samples, `float64` each.
struct Columns {
    times: Vec<f64>,
    queue: Vec<f64>,
    arrivals: Vec<f64>,
    drops: Vec<f64>,
}

/// Everything `columns` makes an estimator with a clock of `per_second` ticks say.
fn run<N: Number>(
    method: &str,
    config: &Config,
    columns: &Columns,
    per_second: u32,
) -> Result<(Vec<Estimate<N>>, Faults), String> {
    let mut estimator = Estimator::<N>::from_config(method, config, per_second).map_err(|error| error.to_string())?;
    let mut estimates = Vec::new();
    let mut ticks = 0;
    // Floating point may be anything here; the integers of a kernel cannot be NaN.
    let of = |value: f64| if value.is_finite() { N::from_f64(value) } else { -N::ONE };
    for (i, &time) in columns.times.iter().enumerate() {
        if time.is_finite() {
            ticks = (time * f64::from(per_second)).round() as i64;
        }
        let queue = if time.is_finite() { of(columns.queue[i]) } else { -N::ONE };
        let sample = Sample { ticks, queue, arrivals: of(columns.arrivals[i]), drops: of(columns.drops[i]) };
        estimates.extend(estimator.take(sample));
    }
    Ok((estimates, estimator.faults()))
}

fn table<'py, N: Number>(
    py: Python<'py>,
    estimates: &[Estimate<N>],
    faults: Faults,
    per_second: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let column = |of: fn(&Estimate<N>) -> N| estimates.iter().map(|row| of(row).to_f64()).collect::<Vec<_>>();
    let time_s: Vec<_> = estimates.iter().map(|row| row.ticks as f64 / f64::from(per_second)).collect();
    table.set_item("time_s", time_s)?;
    table.set_item("share", column(|row| row.share))?;
    table.set_item("responsive_pkts", column(|row| row.responsive))?;
    table.set_item("other_pkts", column(|row| row.other))?;
    table.set_item("flows", column(|row| row.flows))?;
    table.set_item("rtt_s", column(|row| row.rtt))?;
    table.set_item("drop_share", column(|row| row.drop_share))?;
    let doubts: Vec<_> = estimates.iter().map(|row| row.doubt.map(Reason::word)).collect();
    table.set_item("doubt", doubts)?;
    let counts = PyDict::new(py);
    counts.set_item("numbers", faults.numbers)?;
    counts.set_item("clock", faults.clock)?;
    counts.set_item("gaps", faults.gaps)?;
    table.set_item("faults", counts)?;
    Ok(table)
}

/// Estimates from columns of samples (`float64` each: clock in s, mean queue, arrivals and drops in packets), on a link
/// of `capacity` packets/s and paths of `propagation` s. `ticks` per second make it calculate with integers.
///
/// # Errors
/// `ValueError` with one line for an unknown method, an unknown parameter or a value out of its bounds.
#[pyfunction]
#[pyo3(signature = (method, capacity, propagation, options, times, queue, arrivals, drops, ticks=None))]
#[allow(clippy::too_many_arguments)]
pub fn estimate<'py>(
    py: Python<'py>,
    method: &str,
    capacity: f64,
    propagation: f64,
    options: Vec<(String, f64)>,
    times: PyBuffer<f64>,
    queue: PyBuffer<f64>,
    arrivals: PyBuffer<f64>,
    drops: PyBuffer<f64>,
    ticks: Option<u32>,
) -> PyResult<Bound<'py, PyDict>> {
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
            let (estimates, faults) =
                py.detach(|| run::<Float>(method, &config, &columns, nanoseconds)).map_err(refuse)?;
            table(py, &estimates, faults, nanoseconds)
        }
        Some(ticks) => {
            let (estimates, faults) = py.detach(|| run::<Fixed>(method, &config, &columns, ticks)).map_err(refuse)?;
            table(py, &estimates, faults, ticks)
        }
    }
}
