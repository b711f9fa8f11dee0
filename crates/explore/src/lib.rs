//! A congested link to play with: workloads, runs over any link under any discipline, and what to show of them.
//!
//! The engine behind `mayfly explore`. Python serves it from `mayfly._native`, the page has it as WebAssembly (crate
//! `web`): the same text goes in and the same text comes out, byte for byte. Nothing here depends on a clock, on a
//! random state of the process or on the order of requests. docs/how-to/explore.md describes requests and outcomes.

mod advice;
mod attack;
mod captured;
mod document;
mod drawn;
mod engine;
mod error;
mod inside;
mod model;
mod outcome;
mod request;
mod workload;

pub use engine::{Engine, advise};
pub use error::ExploreError;
pub use request::{Attack, Discipline, Inside, LinkRequest, Request};

/// JSON Schema of what an engine answers: definitions by name, `Outcome` and `Recommendation` among them.
#[cfg(feature = "schema")]
pub fn schema() -> serde_json::Value {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<outcome::Outcome<'static>>();
    generator.subschema_for::<metrics::Recommendation>();
    serde_json::Value::Object(generator.take_definitions(true))
}
