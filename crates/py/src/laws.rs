//! Laws of positive values as the crate `laws` fits and tests them.

use ::laws::{Kind, Law, NotFitted};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn kind_of(name: &str) -> PyResult<Kind> {
    Kind::named(name).ok_or_else(|| PyValueError::new_err(format!("law = {name}: unknown")))
}

fn refused(error: NotFitted) -> PyErr {
    PyValueError::new_err(error.0)
}

/// The law `name` that is likeliest for ordered values above 0, of mean 1: names and values of its parameters.
///
/// # Errors
/// `ValueError` with one line where its likelihood has no maximum.
#[pyfunction]
pub fn fit_law(py: Python<'_>, name: &str, values: PyBuffer<f64>) -> PyResult<Vec<(&'static str, f64)>> {
    let kind = kind_of(name)?;
    let values = checked(values.to_vec(py)?)?;
    let law = py.detach(|| ::laws::fit(kind, &values, None)).map_err(refused)?;
    Ok(kind.parameters().iter().copied().zip(law.parameters().iter().copied()).collect())
}

/// Distances of Kolmogorov and Smirnov and of Anderson and Darling between a law with these parameters, in the order of
/// [`fit_law`], and ordered values.
///
/// # Errors
/// `ValueError` for another number of parameters.
#[pyfunction]
pub fn law_distances(py: Python<'_>, name: &str, parameters: Vec<f64>, values: PyBuffer<f64>) -> PyResult<(f64, f64)> {
    let law = Law::of(kind_of(name)?, &parameters);
    let law = law.ok_or_else(|| PyValueError::new_err(format!("{name}: {} parameters", parameters.len())))?;
    let values = checked(values.to_vec(py)?)?;
    Ok(py.detach(|| ::laws::distances(&law, &values)))
}

/// Their probabilities when the law `name` holds, by `samples` samples of as many values from its fit.
///
/// # Errors
/// `ValueError` with one line where the law cannot be fitted to the values or a sample.
#[pyfunction]
pub fn bootstrap_law(
    py: Python<'_>,
    name: &str,
    values: PyBuffer<f64>,
    samples: u32,
    seed: u64,
) -> PyResult<(f64, f64)> {
    let kind = kind_of(name)?;
    let values = checked(values.to_vec(py)?)?;
    py.detach(|| ::laws::bootstrap_p(kind, &values, samples, seed)).map_err(refused)
}

/// Quantiles of the normal law at the probabilities `p`.
#[pyfunction]
pub fn normal_quantiles(py: Python<'_>, p: PyBuffer<f64>) -> PyResult<Vec<f64>> {
    Ok(p.to_vec(py)?.into_iter().map(::laws::normal_quantile).collect())
}

/// Probabilities of the normal law at most at `z`.
#[pyfunction]
pub fn normal_probabilities(py: Python<'_>, z: PyBuffer<f64>) -> PyResult<Vec<f64>> {
    Ok(z.to_vec(py)?.into_iter().map(::laws::normal_cdf).collect())
}

fn checked(values: Vec<f64>) -> PyResult<Vec<f64>> {
    if values.len() < 2 {
        return Err(PyValueError::new_err(format!("{} values: must be at least two", values.len())));
    }
    Ok(values)
}
