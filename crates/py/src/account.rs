//! Accounts of what Python reads: lists and logs, and captures of which an answer uses a part.

use ::account::{Account as Inner, Amount, Reason, Sums, Unit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::as_json;

/// What became of an input: seen, used, and left out by reason.
#[pyclass]
#[derive(Default)]
pub struct Account(Inner);

fn reason_of(name: &str) -> PyResult<Reason> {
    Reason::named(name).ok_or_else(|| PyValueError::new_err(format!("reason = {name:?}: is no reason")))
}

#[pymethods]
impl Account {
    /// Names of the reasons for which something is left out.
    #[classattr]
    #[pyo3(name = "REASONS")]
    fn reasons() -> Vec<&'static str> {
        Reason::NAMES.map(|(_, name)| name).to_vec()
    }

    /// An empty one of `rows`, or one of these sums, as [`Account::sums`] gives them.
    ///
    /// # Errors
    /// `ValueError` for what are no sums.
    #[new]
    #[pyo3(signature = (sums=None))]
    fn new(sums: Option<&str>) -> PyResult<Self> {
        let Some(sums) = sums else { return Ok(Account(Inner::of(Unit::Rows))) };
        let sums: Sums = serde_json::from_str(sums).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut account = Inner::of(sums.unit);
        account.see(sums.seen);
        account.take(sums.used);
        for (name, &amount) in &sums.left_out {
            account.leave_out(reason_of(name)?, amount);
        }
        Ok(Account(account))
    }

    /// Counts rows that are read, and their bytes.
    fn see(&mut self, count: u64, bytes: u64) {
        self.0.see(Amount::of(count, bytes));
    }

    /// Counts what is used of them.
    fn take(&mut self, count: u64, bytes: u64) {
        self.0.take(Amount::of(count, bytes));
    }

    /// Counts what is left out of them.
    ///
    /// # Errors
    /// `ValueError` for another reason.
    fn leave_out(&mut self, reason: &str, count: u64, bytes: u64) -> PyResult<()> {
        self.0.leave_out(reason_of(reason)?, Amount::of(count, bytes));
        Ok(())
    }

    /// Leaves out what had been used.
    ///
    /// # Errors
    /// `ValueError` for another reason.
    fn withdraw(&mut self, reason: &str, count: u64, bytes: u64) -> PyResult<()> {
        self.0.withdraw(reason_of(reason)?, Amount::of(count, bytes));
        Ok(())
    }

    /// Whether what was seen is what was used and what was left out.
    #[getter]
    fn is_exact(&self) -> bool {
        self.0.is_exact()
    }

    /// `unit`, `seen`, `used` and `left_out` by reason, as JSON.
    fn sums(&self) -> PyResult<String> {
        as_json(&self.0.sums())
    }
}
