use std::fmt;
use std::io;

/// Why a capture could not be read at all; each message is one line.
#[derive(Debug)]
pub enum CaptureError {
    /// The operating system refused.
    Io(io::Error),
    /// The file holds no byte.
    Empty,
    /// The file starts with something else than pcap or pcapng, plain, in gzip, Zstandard or LZ4.
    NotCapture {
        /// What it starts with.
        found: String,
    },
    /// `max_flows` is 0.
    MaxFlows,
    /// The standard input is named twice, or together with an estimate of clocks, which reads every file twice.
    StdinTwice,
    /// Captures of the same time, or the standard input beside others, are to be split into shards.
    NoSeries,
    /// A shard ends too early, is of another version or holds what no splitter writes.
    Shard,
    /// The caller asked to stop.
    Cancelled,
    /// In one of several files.
    In {
        /// Its name.
        file: String,
        /// What happened.
        error: Box<CaptureError>,
    },
}

impl CaptureError {
    /// Names the file; a wish to stop has none.
    pub(crate) fn inside(self, file: &str) -> Self {
        match self {
            CaptureError::Cancelled => self,
            _ if file.is_empty() => self,
            _ => CaptureError::In { file: file.to_owned(), error: Box::new(self) },
        }
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureError::Io(error) => {
                // The number of the system's error says nothing to users.
                let text = error.to_string();
                write!(f, "{}", text.split(" (os error ").next().unwrap_or(&text))
            }
            CaptureError::Empty => write!(f, "empty file, not a capture"),
            CaptureError::NotCapture { found } => {
                write!(f, "not a capture: found {found}, expected pcap or pcapng, plain or in gzip, Zstandard or LZ4")
            }
            CaptureError::MaxFlows => write!(f, "max_flows is 0, must be at least 1"),
            CaptureError::StdinTwice => {
                write!(f, "standard input (-) can be read only once: name it once, and not with an estimate of clocks")
            }
            CaptureError::NoSeries => write!(
                f,
                "captures of the same time, or the standard input beside others, cannot be split into shards, since their \
                 packets are merged in one order: read them in one process"
            ),
            CaptureError::Shard => write!(f, "no whole shard of this version of Mayfly"),
            CaptureError::In { file, error } => write!(f, "{file}: {error}"),
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
