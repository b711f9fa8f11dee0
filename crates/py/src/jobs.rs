//! The job-level simulation as columns.

use jobs::{Finished, Lagged, Lags, Level, Order, Passage, Server};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

/// Names of the orders in which a level can serve.
#[pyfunction]
pub fn job_orders() -> Vec<&'static str> {
    Order::NAMES.iter().map(|&(name, _)| name).collect()
}

/// A server with levels as pairs of order and the age at which the level ends.
///
/// # Errors
/// `ValueError` with one line for what is not taken.
pub(crate) fn server(levels: &[(String, f64)]) -> PyResult<Server> {
    let level = |(name, upto): &(String, f64)| {
        let order = Order::named(name).ok_or_else(|| PyValueError::new_err(format!("order = {name}: unknown")))?;
        Ok(Level { order, upto: *upto })
    };
    let levels = levels.iter().map(level).collect::<PyResult<Vec<_>>>()?;
    Server::new(&levels).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A server of rate 1 with levels of priority; jobs are given to it in stretches.
#[pyclass]
pub struct JobServer(Server);

#[pymethods]
impl JobServer {
    /// Levels as pairs of order and the age at which the level ends.
    #[new]
    fn make(levels: Vec<(String, f64)>) -> PyResult<JobServer> {
        server(&levels).map(JobServer)
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

/// A server of rate 1 under lagged fair queueing; jobs of users are given to it in stretches.
#[pyclass]
pub struct LaggedServer(Lagged);

#[pymethods]
impl LaggedServer {
    /// Lags of users and of their jobs, the pace of clocks, and attained services that are told, ascending.
    #[new]
    fn make(user_lag: f64, job_lag: f64, pace: f64, marks: Vec<f64>) -> PyResult<LaggedServer> {
        let lags = Lags { user: user_lag, job: job_lag, pace };
        Lagged::new(lags, &marks).map(LaggedServer).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Takes jobs in order of arrival (`float64`, users `uint32`; each a user of its own when there are none) and returns
    /// the tables of those that have left, and of those that came to a mark, before the last of them came.
    #[pyo3(signature = (arrivals, sizes, users=None))]
    fn offer(
        &mut self,
        py: Python<'_>,
        arrivals: PyBuffer<f64>,
        sizes: PyBuffer<f64>,
        users: Option<PyBuffer<u32>>,
    ) -> PyResult<(Table, Table)> {
        let (arrivals, sizes) = (arrivals.to_vec(py)?, sizes.to_vec(py)?);
        let users = users.map(|column| column.to_vec(py)).transpose()?;
        if sizes.len() != arrivals.len() || users.as_ref().is_some_and(|column| column.len() != arrivals.len()) {
            return Err(PyValueError::new_err("columns of the jobs differ in length"));
        }
        let server = &mut self.0;
        told(py, move |left, passed| {
            for (i, (&arrival, &size)) in arrivals.iter().zip(&sizes).enumerate() {
                let user = users.as_ref().map(|column| column[i]);
                server.arrive(arrival, size, user, &mut |job| left.push(job), &mut |job| passed.push(job));
            }
        })
    }

    /// Serves until `time`, to the end when it is infinite, and returns both tables.
    fn finish(&mut self, py: Python<'_>, time: f64) -> PyResult<(Table, Table)> {
        let server = &mut self.0;
        told(py, move |left, passed| {
            server.serve_until(time, &mut |job| left.push(job), &mut |job| passed.push(job));
        })
    }

    /// Jobs in the system.
    #[getter]
    fn present(&self) -> usize {
        self.0.present()
    }
}

/// Tables of what `serve` tells.
fn told(py: Python<'_>, serve: impl FnOnce(&mut Vec<Finished>, &mut Vec<Passage>) + Send) -> PyResult<(Table, Table)> {
    let (left, passed) = py.detach(move || {
        let (mut left, mut passed) = (Vec::new(), Vec::new());
        serve(&mut left, &mut passed);
        (left, passed)
    });
    Ok((Table::of(&left)?, Table::of(&passed)?))
}
