//! Why there is no answer.

use std::fmt;

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

impl From<hosts::NotNetwork> for ExploreError {
    fn from(error: hosts::NotNetwork) -> Self {
        ExploreError(error.to_string())
    }
}

impl From<capture::NotFilter> for ExploreError {
    fn from(error: capture::NotFilter) -> Self {
        ExploreError(error.to_string())
    }
}

impl From<replay::Refused> for ExploreError {
    fn from(error: replay::Refused) -> Self {
        ExploreError(error.to_string())
    }
}

impl From<metrics::FactsError> for ExploreError {
    fn from(error: metrics::FactsError) -> Self {
        ExploreError(error.to_string())
    }
}
