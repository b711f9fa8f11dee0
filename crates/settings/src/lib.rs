//! Runs as documents: settings as JSON and flow lists as columns, as Python and the browser hand them over.
//!
//! Words, fields and values that are not taken are refused by name, with their place in the document.

mod error;
mod flows;
mod graph;
mod run;
mod shaping;
mod tree;
mod wlan;

pub use error::SettingsError;
pub use flows::{BurstColumns, FlowColumns, FlowList, PartColumns, ScriptColumns, StreamColumns};
pub use run::{DisciplineSettings, Settings};
pub use wlan::{AirSettings, Airtimes};

use serde::de::DeserializeOwned;

/// Settings from JSON.
///
/// # Errors
/// JSON that is none, a word, a field or a value that is not taken, a field that is missing: each with its place.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, SettingsError> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = error.path().to_string();
        let reason = error.inner().to_string();
        // The line of the JSON text does not help whoever set the field.
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason).to_owned();
        error::text(if place == "." { reason } else { format!("{place}: {reason}") })
    })
}
