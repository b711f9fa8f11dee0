//! A congested link to play with: workloads, runs over any link under any discipline, and what to show of them.
//!
//! The engine behind `mayfly explore`. Python serves it from `mayfly._native`, the page has it as WebAssembly (crate
//! `web`): the same text goes in and the same text comes out, byte for byte. Nothing here depends on a clock, on a
//! random state of the process or on the order of requests. docs/how-to/explore.md describes requests and outcomes.

mod attack;
mod document;
mod engine;
mod inside;
mod model;
mod outcome;
mod request;
mod workload;

use std::fmt;

pub use engine::Engine;
pub use request::{Attack, AttackKind, Discipline, Inside, LinkRequest, Request};
pub use workload::Kind;

/// Why there is no answer, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploreError(pub String);

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExploreError {}

impl From<settings::SettingsError> for ExploreError {
    fn from(error: settings::SettingsError) -> Self {
        ExploreError(error.to_string())
    }
}

impl From<netsim::ConfigError> for ExploreError {
    fn from(error: netsim::ConfigError) -> Self {
        ExploreError(error.to_string())
    }
}
