//! Runs of plain lists, from files to files.

use std::path::PathBuf;
use std::sync::Arc;

use ::runs::{Labels, List, Seconds, Written};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use settings::Settings;

use crate::simulate::{Control, refused};
use crate::table::as_json;

/// What [`run_plain`] found.
#[pyclass(frozen)]
pub struct PlainRun {
    figures: String,
    tables: Written,
}

#[pymethods]
impl PlainRun {
    /// Figures of the summary, JSON.
    #[getter]
    fn figures(&self) -> &str {
        &self.figures
    }

    /// Writes flow records and samples into new files, with metadata, keys and values.
    ///
    /// # Errors
    /// `OSError` when one cannot be written.
    fn write(
        &self,
        py: Python<'_>,
        flows: (PathBuf, Vec<(String, String)>),
        samples: (PathBuf, Vec<(String, String)>),
    ) -> PyResult<()> {
        py.detach(|| {
            self.tables.write_flows(&flows.0, flows.1)?;
            self.tables.write_samples(&samples.0, samples.1)
        })
        .map_err(|error| match error.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        })
    }
}

/// Runs the flow list `text`, CSV, with `settings`, JSON, to `duration_s`; `rtt_s` is the round-trip time without
/// queueing, `labels` the label of the discipline and the number of the replication. `None` where the list is not plain.
///
/// # Errors
/// As [`crate::simulate::run`].
#[pyfunction]
pub fn run_plain(
    py: Python<'_>,
    settings: &str,
    text: &str,
    duration_s: f64,
    rtt_s: f64,
    labels: (String, i32),
    control: &Control,
) -> PyResult<Option<PlainRun>> {
    let run = settings::read::<Settings>(settings).map_err(refused)?.into_run().map_err(refused)?;
    let control = Arc::clone(&control.0);
    let labels = Labels { discipline: labels.0, replication: labels.1 };
    let seconds = Seconds { duration: duration_s, rtt: rtt_s };
    let ran = py.detach(move || {
        let list = List::read(text, run.tcp.mss).map(|list| list.starting_before(duration_s));
        match list.filter(|list| !list.is_empty()) {
            Some(list) => ::runs::run(run, &list, seconds, &labels, &control),
            None => Ok(None),
        }
    });
    let found = ran.map_err(refused)?;
    found.map(|ran| Ok(PlainRun { figures: as_json(&ran.figures)?, tables: ran.tables })).transpose()
}
