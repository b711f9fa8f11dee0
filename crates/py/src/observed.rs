//! What one run has for its users to feel, and what the run does not know of its flows.

use ::metrics::{CaptureFacts, Facts, FactsError, ProbeName, Ran};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::value::Error as NameError;
use serde::de::{Deserialize, IntoDeserializer};

/// What one run has for its users to feel, for the figures of several runs together.
#[pyclass(frozen)]
pub struct Observed(pub(crate) ::metrics::Observed);

pub(crate) fn unfit(error: FactsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Observed {
    /// # Errors
    /// `ValueError` for facts that do not fit the flows.
    pub(crate) fn of(ran: &Ran<'_>) -> PyResult<Observed> {
        ::metrics::Observed::of(ran).map(Observed).map_err(unfit)
    }
}

/// What a run does not know of its flows, by the names of [`metrics::Facts`]; a stage below 0 is none.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FactArrays {
    probes: Vec<String>,
    ids: PyBuffer<i64>,
    starts: PyBuffer<f64>,
    groups: PyBuffer<u32>,
    stages: PyBuffer<i64>,
    capture: Option<CaptureArrays>,
}

/// The same of the flows of a capture: [`metrics::CaptureFacts`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct CaptureArrays {
    clients: PyBuffer<u32>,
    connections: PyBuffer<u32>,
    begun_s: PyBuffer<f64>,
    /// Not a number where that is not known.
    lasted_s: PyBuffer<f64>,
    calls: Vec<u32>,
}

/// # Errors
/// `ValueError` for the name of a probe that is none.
pub(crate) fn probe_names(names: &[String]) -> PyResult<Vec<ProbeName>> {
    let name = |name: &String| {
        ProbeName::deserialize(name.as_str().into_deserializer())
            .map_err(|error: NameError| PyValueError::new_err(error.to_string()))
    };
    names.iter().map(name).collect()
}

impl FactArrays {
    /// # Errors
    /// `ValueError` for the name of a probe that is none; an array that is not contiguous.
    pub(crate) fn facts(&self, py: Python<'_>) -> PyResult<Facts> {
        let capture = |capture: &CaptureArrays| {
            Ok::<_, PyErr>(CaptureFacts {
                clients: capture.clients.to_vec(py)?,
                connections: capture.connections.to_vec(py)?,
                begun_s: capture.begun_s.to_vec(py)?,
                lasted_s: capture
                    .lasted_s
                    .to_vec(py)?
                    .into_iter()
                    .map(|one| Some(one).filter(|one| one.is_finite()))
                    .collect(),
                calls: capture.calls.clone(),
            })
        };
        Ok(Facts {
            probes: probe_names(&self.probes)?,
            ids: self.ids.to_vec(py)?,
            starts: self.starts.to_vec(py)?,
            groups: self.groups.to_vec(py)?,
            stages: self.stages.to_vec(py)?.into_iter().map(|stage| u32::try_from(stage).ok()).collect(),
            capture: self.capture.as_ref().map(capture).transpose()?,
        })
    }
}
