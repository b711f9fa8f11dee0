//! The job-level simulation as columns.

use jobs::{Level, Order, Server};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

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

    /// Takes jobs in order of arrival (`float64` each) and returns the table of those that have left before the last
    /// of them came, in the order in which they left.
    #[pyo3(signature = (arrivals, sizes, weights=None))]
    fn offer(
        &mut self,
        py: Python<'_>,
        arrivals: PyBuffer<f64>,
        sizes: PyBuffer<f64>,
        weights: Option<PyBuffer<f64>>,
    ) -> PyResult<Table> {
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
        Table::of(&left)
    }

    /// Serves until `time`, to the end when it is infinite, and returns those who leave.
    fn finish(&mut self, py: Python<'_>, time: f64) -> PyResult<Table> {
        let server = &mut self.0;
        let left = py.detach(move || {
            let mut left = Vec::with_capacity(server.present());
            server.serve_until(time, &mut |job| left.push(job));
            left
        });
        Table::of(&left)
    }

    /// Jobs in the system.
    #[getter]
    fn present(&self) -> usize {
        self.0.present()
    }
}
