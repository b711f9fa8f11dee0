//! Why settings are refused.

use std::fmt;

use netsim::ConfigError;

/// A document of settings that makes no run.
#[derive(Debug)]
pub enum SettingsError {
    /// A value that the simulator refuses.
    Config(ConfigError),
    /// Anything else, in one line.
    Text(String),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Config(error) => error.fmt(f),
            SettingsError::Text(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SettingsError {}

impl From<ConfigError> for SettingsError {
    fn from(error: ConfigError) -> Self {
        SettingsError::Config(error)
    }
}

pub(crate) fn text(line: impl Into<String>) -> SettingsError {
    SettingsError::Text(line.into())
}
