//! Why a run cannot start.

use std::fmt;

use qdisc::OptionError;

/// Why a run cannot start, or has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigError {
    /// A value out of its bounds: name, value, bound.
    Value(&'static str, String, &'static str),
    /// A transport of some flows: its name, and what is wrong with it.
    Transport(String, Box<ConfigError>),
    /// Discipline or its options.
    Discipline(OptionError),
    /// A network that makes no sense.
    Graph(String),
    /// A flow that makes no sense: index and reason.
    Flow(usize, &'static str),
    /// The recording could not be written: reason.
    Recording(String),
    /// The flows of a stream could not be read, or their records not be taken: reason.
    Stream(String),
    /// The caller asked the run to stop.
    Cancelled,
    /// Packets came from nowhere or went there: which and how many. It is a mistake of the simulator.
    Unbalanced(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Value(name, value, bound) => write!(f, "{name} = {value}: must be {bound}"),
            ConfigError::Transport(name, error) => write!(f, "{name}: {error}"),
            ConfigError::Discipline(error) => write!(f, "{error}"),
            ConfigError::Graph(reason) => write!(f, "network: {reason}"),
            ConfigError::Flow(index, reason) => write!(f, "flow {index}: {reason}"),
            ConfigError::Recording(reason) => write!(f, "recording: {reason}"),
            ConfigError::Stream(reason) => write!(f, "{reason}"),
            ConfigError::Cancelled => write!(f, "cancelled"),
            ConfigError::Unbalanced(reason) => write!(f, "packets are not conserved, a mistake in Mayfly: {reason}"),
        }
    }
}

impl std::error::Error for ConfigError {}

impl From<OptionError> for ConfigError {
    fn from(error: OptionError) -> Self {
        ConfigError::Discipline(error)
    }
}
