//! The job-level simulation as columns.

use jobs::{Finished, Level, Order, Server};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Names of the orders in which a level can serve.
#[pyfunction]
pub fn job_orders() -> Vec<&'static str> {
    Order::NAMES.iter().map(|&(name, _)| name).collect()
}

/// A server of rate 1 with levels of priority; jobs are given to it in stretches.
#[pyclass]
pub struct JobServer(Server);

#[pymethods]
impl JobServer {
    /// Levels as pairs of order and the age at which the level ends.
    #[new]
    fn make(levels: Vec<(String, f64)>) -> PyResult<JobServer> {
        let level = |(name, upto): &(String, f64)| {
            let order = Order::named(name).ok_or_else(|| PyValueError::new_err(format!("order = {name}: unknown")))?;
            Ok(Level { order, upto: *upto })
        };
        let levels = levels.iter().map(level).collect::<PyResult<Vec<_>>>()?;
        Server::new(&levels).map(JobServer).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Takes jobs in order of arrival (`float64` each) and returns the columns of those that have left before the last
    /// of them came, in the order in which they left.
    #[pyo3(signature = (arrivals, sizes, weights=None))]
    fn offer<'py>(
        &mut self,
        py: Python<'py>,
        arrivals: PyBuffer<f64>,
        sizes: PyBuffer<f64>,
        weights: Option<PyBuffer<f64>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (arrivals, sizes) = (arrivals.to_vec(py)?, sizes.to_vec(py)?);
        let weights = weights.map(|column| column.to_vec(py)).transpose()?;
        if sizes.len() != arrivals.len() || weights.as_ref().is_some_and(|column| column.len() != arrivals.len()) {
            return Err(PyValueError::new_err("columns of the jobs differ in length"));
        }
        let server = &mut self.0;
        let left = py.detach(move || {
            let mut left = Vec::with_capacity(arrivals.len() + 1024);
            for (i, (&arrival, &size)) in arrivals.iter().zip(&sizes).enumerate() {
                let weight = weights.as_ref().map_or(1.0, |column| column[i]);
                server.arrive(arrival, size, weight, &mut |job| left.push(job));
            }
            left
        });
        columns(py, &left)
    }

    /// Serves until `time`, to the end when it is infinite, and returns those who leave.
    fn finish<'py>(&mut self, py: Python<'py>, time: f64) -> PyResult<Bound<'py, PyDict>> {
        let server = &mut self.0;
        let left = py.detach(move || {
            let mut left = Vec::with_capacity(server.present());
            server.serve_until(time, &mut |job| left.push(job));
            left
        });
        columns(py, &left)
    }

    /// Jobs in the system.
    #[getter]
    fn present(&self) -> usize {
        self.0.present()
    }
}

fn columns<'py>(py: Python<'py>, left: &[Finished]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("job", column(py, left, |each| each.job)?)?;
    columns.set_item("cycle", column(py, left, |each| each.cycle)?)?;
    columns.set_item("size", column(py, left, |each| each.size.to_bits())?)?;
    columns.set_item("response_time", column(py, left, |each| each.response_time.to_bits())?)?;
    Ok(columns)
}

/// Little-endian words of 64 bits, written in place: the jobs are many.
fn column<'py>(py: Python<'py>, left: &[Finished], of: impl Fn(&Finished) -> u64) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * left.len(), |bytes| {
        for (word, each) in bytes.chunks_exact_mut(8).zip(left) {
            word.copy_from_slice(&of(each).to_le_bytes());
        }
        Ok(())
    })
}
