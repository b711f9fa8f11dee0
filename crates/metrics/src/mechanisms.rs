//! Which mechanism made the difference: stubs.

use serde::Serialize;

use crate::facts::FactsError;
use crate::figures::Ran;
use crate::kinds::Kind;

/// A mechanism at work in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mechanism {
    /// Its name.
    pub id: &'static str,
    /// Page of the documentation that explains it, and the place there: `mechanisms#links-and-queues`.
    pub page: String,
    /// Figures by name, with their units, in the order of the sentence.
    #[serde(serialize_with = "as_object")]
    pub values: Vec<(&'static str, f64)>,
    /// What happened, in one sentence with these figures.
    pub sentence: String,
}

fn as_object<S: serde::Serializer>(values: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().copied())
}

/// The mechanisms at work in `ran`.
///
/// # Errors
/// Facts that do not fit the flows.
pub fn mechanisms(ran: &Ran<'_>, _kinds: &[Kind]) -> Result<Vec<Mechanism>, FactsError> {
    ran.check()?;
    Ok(Vec::new())
}
