use std::fmt;
use std::io;

/// Why a capture could not be read at all; each message is one line.
#[derive(Debug)]
pub enum CaptureError {
    /// The operating system refused.
    Io(io::Error),
    /// The file holds no byte.
    Empty,
    /// The file starts with something else than pcap, pcapng or gzip of either.
    NotCapture {
        /// What it starts with.
        found: String,
    },
    /// `max_flows` is 0.
    MaxFlows,
    /// The caller asked to stop.
    Cancelled,
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureError::Io(error) => write!(f, "{error}"),
            CaptureError::Empty => write!(f, "empty file, not a capture"),
            CaptureError::NotCapture { found } => {
                write!(f, "not a capture: found {found}, expected pcap, pcapng or gzip of either")
            }
            CaptureError::MaxFlows => write!(f, "max_flows is 0, must be at least 1"),
            CaptureError::Cancelled => write!(f, "reading was cancelled"),
        }
    }
}

impl std::error::Error for CaptureError {}

impl From<io::Error> for CaptureError {
    fn from(error: io::Error) -> Self {
        CaptureError::Io(error)
    }
}
