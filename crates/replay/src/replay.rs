//! A capture, ready to be replayed over any link.

use crate::list::List;
use crate::networks::Networks;
use crate::reading::Reading;
use crate::refused::{Refused, refused};

/// Choices of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// The near side of the link; inferred when None.
    pub networks: Option<Networks>,
    /// Payload of a full packet of the replay, bytes, at least 1.
    pub mss: u32,
    /// Header of every TCP packet, bytes.
    pub header_bytes: u32,
}

/// Rates of a link, bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Toward the near side.
    pub down: f64,
    /// From the near side.
    pub up: f64,
}

/// What does not depend on the link of the replay.
#[derive(Clone, Debug)]
pub struct Replay {
    reading: Reading,
    doubts: Vec<String>,
}

impl Replay {
    /// A capture, ready to be replayed over any link.
    ///
    /// # Errors
    /// Networks without a host, nothing to replay, or more trains or packets than were kept.
    pub fn of(reading: Reading, _options: Options) -> Result<Replay, Refused> {
        Ok(Replay { reading, doubts: Vec::new() })
    }

    /// What to doubt in the capture, in sentences.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Most that each direction carried in a second of the capture.
    pub fn peak_bps(&self) -> Rates {
        Rates { down: 0.0, up: 0.0 }
    }

    /// The flows over a link of these rates; with `rtt_s` all round-trip times are multiplied so that their median is this.
    ///
    /// # Errors
    /// A wait above a day, or flows that span years.
    pub fn list(&self, _rates: Rates, _rtt_s: Option<f64>) -> Result<List, Refused> {
        refused(format!("{}: not yet", self.reading.name))
    }
}
