//! The rule of the recommendation, and the intervals that it goes by.

use ::metrics::{Hour, Question, Row, Statistic, Varies};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::simulate::refused;
use crate::table::as_json;

/// What the disciplines of a summary come to: `question` is JSON with what the rule reads of it. Returns the
/// recommendation, JSON; `null` where there is none.
///
/// # Errors
/// `ValueError` with one line for rows that are none of a summary.
#[pyfunction]
pub fn recommendation(question: &str) -> PyResult<String> {
    let question: Question = ::settings::read(question).map_err(refused)?;
    as_json(&::metrics::recommendation(&question))
}

/// The place of the discipline that the rule takes of `rows`, JSON, and the places of those that are as good; `None`
/// where none can be switched on.
///
/// # Errors
/// `ValueError` with one line for rows that are none of a summary.
#[pyfunction]
pub fn chosen(rows: &str) -> PyResult<Option<(usize, Vec<usize>)>> {
    let rows: Vec<Row> = ::settings::read(rows).map_err(refused)?;
    Ok(::metrics::chosen(&rows).map(|choice| (choice.best, choice.equal)))
}

/// Values of the criteria of each of `rows`, JSON, by id; infinite where they fall on what never ends.
///
/// # Errors
/// `ValueError` with one line for rows that are none of a summary.
#[pyfunction]
pub fn criteria(rows: &str) -> PyResult<Vec<Vec<(&'static str, f64)>>> {
    let rows: Vec<Row> = ::settings::read(rows).map_err(refused)?;
    Ok(rows.iter().map(::metrics::criteria).collect())
}

/// Whether so many resampled hours are looked at, of `most` at most: [`metrics::is_a_look`].
#[pyfunction]
pub fn is_a_look(hours: usize, most: usize) -> bool {
    ::metrics::is_a_look(hours, most)
}

/// Whether more resampled hours than `hours`, values of the criteria by row and hour, would leave what is recommended as it
/// is: [`metrics::settled`]. `None` where nothing is chosen.
///
/// # Errors
/// `ValueError` with one line for rows that are none of a summary.
#[pyfunction]
pub fn settled(rows: &str, hours: Vec<Vec<Hour>>, most: usize, seed: u64) -> PyResult<Option<bool>> {
    let rows: Vec<Row> = ::settings::read(rows).map_err(refused)?;
    Ok(::metrics::settled(&rows, &hours, most, seed))
}

/// 95 % interval of `value` from its values in resampled hours: [`metrics::hour_ci95`].
#[pyfunction]
#[pyo3(signature = (value, others, ratio, runs))]
pub fn hour_ci95(value: f64, others: Vec<f64>, ratio: bool, runs: usize) -> Option<[f64; 2]> {
    let varies = if ratio { Varies::InProportion } else { Varies::ByDifference };
    ::metrics::hour_ci95(value, &others, varies, runs)
}

/// How much wider than their range the interval of a capture and its resampled hours is: [`metrics::range_factor`].
#[pyfunction]
pub fn range_factor(hours: usize) -> f64 {
    ::metrics::range_factor(hours)
}

/// The random numbers that numpy draws: [`units::NumpyStream`].
#[pyclass]
pub struct NumpyStream(units::NumpyStream);

#[pymethods]
impl NumpyStream {
    #[new]
    fn of(seed: u64) -> NumpyStream {
        NumpyStream(units::NumpyStream::of(seed))
    }

    /// Logarithms of the ratio of the medians, or of the means, of resampled pairs: [`metrics::resampled_log_ratios`].
    ///
    /// # Errors
    /// `ValueError` for columns of different lengths.
    fn log_ratios(
        &mut self,
        py: Python<'_>,
        above: PyBuffer<f64>,
        below: PyBuffer<f64>,
        medians: bool,
        resamples: usize,
        draws: usize,
    ) -> PyResult<Vec<f64>> {
        let (above, below) = (above.to_vec(py)?, below.to_vec(py)?);
        if above.len() != below.len() {
            return Err(PyValueError::new_err(format!("{} and {} values: must be pairs", above.len(), below.len())));
        }
        let pairs: Vec<(f64, f64)> = above.into_iter().zip(below).collect();
        let statistic = if medians { Statistic::Median } else { Statistic::Mean };
        Ok(py.detach(|| ::metrics::resampled_log_ratios(&pairs, statistic, resamples, draws, &mut self.0)))
    }
}
