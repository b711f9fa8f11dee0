//! Runs of plain lists, from files to files.

use std::path::PathBuf;
use std::sync::Arc;

use ::account::{Account, Amount, Reason, Unit};
use ::runs::{Labels, List, Numbers, Seconds, Written};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use settings::Settings;

use crate::simulate::{Control, refused};
use crate::table::as_json;

/// What [`run_plain`] found.
#[pyclass(frozen)]
pub struct PlainRun {
    figures: String,
    account: String,
    tables: Written,
}

#[pymethods]
impl PlainRun {
    /// How much of the list was run, JSON: what an `Account` takes.
    #[getter]
    fn account(&self) -> &str {
        &self.account
    }

    /// Figures of the summary, JSON.
    #[getter]
    fn figures(&self) -> &str {
        &self.figures
    }

    /// The column `name` of the flow records, or of the samples: its type as numpy has it, and its values. Where one is
    /// missing all are floating-point numbers, and NaN stands for it. `None` where there is no such column.
    #[pyo3(signature = (name, samples = false))]
    fn column<'py>(&self, py: Python<'py>, name: &str, samples: bool) -> Option<(&'static str, Bound<'py, PyBytes>)> {
        let found = if samples { self.tables.of_samples(name) } else { self.tables.of_flows(name) };
        Some(match found? {
            Numbers::Whole(values) => ("<i8", bytes(py, values.iter().flat_map(|value| value.to_le_bytes()))),
            Numbers::Real(values) => ("<f8", bytes(py, values.iter().flat_map(|value| value.to_le_bytes()))),
        })
    }
}

fn bytes(py: Python<'_>, values: impl Iterator<Item = u8>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &values.collect::<Vec<u8>>())
}

/// Writes flow records and samples of `runs`, one after another, into new files, with metadata, keys and values.
///
/// # Errors
/// `OSError` when one cannot be written.
#[pyfunction]
pub fn write_plain(
    py: Python<'_>,
    runs: Vec<Py<PlainRun>>,
    flows: (PathBuf, Vec<(String, String)>),
    samples: (PathBuf, Vec<(String, String)>),
) -> PyResult<()> {
    let runs: Vec<&Written> = runs.iter().map(|run| &run.get().tables).collect();
    py.detach(|| {
        Written::write_flows(&runs, &flows.0, flows.1)?;
        Written::write_samples(&runs, &samples.0, samples.1)
    })
    .map_err(|error| match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    })
}

/// Transfers as CSV, or as columns: starts in seconds, senders, receivers, sizes in bytes.
#[derive(FromPyObject)]
pub enum Transfers {
    Text(PyBackedStr),
    Columns(PyBuffer<f64>, PyBuffer<i64>, PyBuffer<i64>, PyBuffer<i64>),
}

impl Transfers {
    fn list(self, py: Python<'_>, mss: u32) -> PyResult<Option<List>> {
        Ok(match self {
            Transfers::Text(text) => py.detach(|| List::read(&text, mss)),
            Transfers::Columns(start_s, src, dst, size_bytes) => {
                List::of_columns(start_s.to_vec(py)?, src.to_vec(py)?, dst.to_vec(py)?, size_bytes.to_vec(py)?)
            }
        })
    }
}

/// Runs the transfers `given` with `settings`, JSON, to `duration_s`; `rtt_s` is the round-trip time without
/// queueing, `labels` the label of the discipline and the number of the replication. `None` where the list is not plain.
///
/// # Errors
/// As [`crate::simulate::run`].
#[pyfunction]
pub fn run_plain(
    py: Python<'_>,
    settings: &str,
    given: Transfers,
    duration_s: f64,
    rtt_s: f64,
    labels: (String, i32),
    control: &Control,
) -> PyResult<Option<PlainRun>> {
    let run = settings::read::<Settings>(settings).map_err(refused)?.into_run().map_err(refused)?;
    let control = Arc::clone(&control.0);
    let labels = Labels { discipline: labels.0, replication: labels.1 };
    let seconds = Seconds { duration: duration_s, rtt: rtt_s };
    let Some(list) = given.list(py, run.tcp.mss)? else { return Ok(None) };
    let mut account = Account::of(Unit::Rows);
    let amount = |list: &List| Amount::of(list.amount().0, list.amount().1);
    account.see(amount(&list));
    account.take(amount(&list));
    let whole = amount(&list);
    let list = list.starting_before(duration_s);
    account.withdraw(Reason::Aside, whole.without(amount(&list)));
    if list.is_empty() {
        return Ok(None);
    }
    let account = as_json(&account.sums())?;
    let ran = py.detach(move || ::runs::run(run, &list, seconds, &labels, &control));
    let found = ran.map_err(refused)?;
    found.map(|ran| Ok(PlainRun { figures: as_json(&ran.figures)?, account, tables: ran.tables })).transpose()
}
